"""Bright spots that diffuse, 50 pictures a second, for driftscope run nats:camera.beads --objects; their tracks are printed."""

import contextlib
import sys
import time

import numpy as np

import driftscope
from driftscope import Objects

SIDE, SPOTS, STEP, WIDTH = 256, 12, 0.5, 1.5  # pixels; spots; the walk's and a spot's standard deviation, pixels

rng = np.random.default_rng(1)
at = rng.uniform(20, SIDE - 20, (SPOTS, 2))
pixels = np.arange(SIDE)

with contextlib.suppress(KeyboardInterrupt), driftscope.connect(sys.argv[1] if len(sys.argv) > 1 else driftscope.LOCAL) as server, server.frames("camera.beads") as frames:
    results = server.stream("camera-beads").results(Objects)
    begun = time.monotonic()
    while True:
        at = np.clip(at + rng.normal(0, STEP, at.shape), 5, SIDE - 6)
        light = sum(np.outer(np.exp(-((pixels - y) ** 2) / 2 / WIDTH**2), np.exp(-((pixels - x) ** 2) / 2 / WIDTH**2)) for y, x in at)
        frames.publish(rng.poisson(100 + 800 * light).astype(np.uint16))
        for message in results.waiting():
            if message.seq % 50 == 0:
                print(f"frame {message.seq}: " + " ".join(f"{n} ({x:.1f}, {y:.1f})" for n, x, y in zip(message.id, message.x_px, message.y_px)))
        time.sleep(max(0.0, begun + frames.next / 50 - time.monotonic()))

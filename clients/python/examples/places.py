"""Objects that diffuse, 100 frames a second, as a tracker of yours has them, for driftscope run nats:camera.tracks --places; their law is printed."""

import contextlib
import sys
import time

import numpy as np

import driftscope
from driftscope import Population

SIDE, OBJECTS, D, RATE, SD = 512, 200, 2.0, 100, 0.05  # px; objects; px²/s; frames a second; standard deviation of a place, px

rng = np.random.default_rng(1)
at = rng.uniform(50, SIDE - 50, (OBJECTS, 2))

with contextlib.suppress(KeyboardInterrupt), driftscope.connect(sys.argv[1] if len(sys.argv) > 1 else driftscope.LOCAL) as server, server.frames("camera.tracks") as frames:
    results = server.stream("camera-tracks").results(Population)
    begun, first = time.monotonic(), time.time_ns()
    while True:
        at += rng.normal(0, np.sqrt(2 * D / RATE), at.shape)
        seen = at + rng.normal(0, SD, at.shape)
        taken = first + frames.next * 1_000_000_000 // RATE
        frames.publish_places(seen[:, 0], seen[:, 1], (SIDE, SIDE), id=np.arange(1, OBJECTS + 1), sd=np.full(OBJECTS, SD), time_ns=taken)
        for message in results.waiting():
            print(f"frame {message.seq}: {message.law.says if message.law else 'no law yet'}")
        time.sleep(max(0.0, begun + frames.next / RATE - time.monotonic()))

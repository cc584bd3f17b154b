"""A frame from the camera to its latents in Python: OpenCV and PyTorch in one loop, as a tracker's processor has it.

python3 frames.py SIDE BITS SECONDS RATE

SIDE x SIDE pictures of BITS bits are copied, brought to 8 bits, equalised (CLAHE), resized to 64x64 and encoded by the paper's
encoder, RATE times a second or, where that is 0, as fast as it goes. Prints one JSON object: frames a second and the milliseconds
from a picture's time to its latents. There is no law of motion, no account of lost frames, and nothing is published.
"""
import json
import sys
import time

import cv2
import numpy as np
import torch
from torch import nn

SIDE, BITS, SECONDS, RATE = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4])
WARMUP, LATENT = 0.5, 2
LOW, HIGH = (20, 230) if BITS == 8 else (400, 4000)


def encoder():
    layers = []
    for k, (inputs, outputs) in enumerate([(1, 8), (8, 16), (16, 32), (32, 64)]):
        layers.append(nn.Conv2d(inputs, outputs, kernel_size=5, padding=2))
        if k > 0:
            layers.append(nn.BatchNorm2d(outputs))
        layers.append(nn.LeakyReLU())
        if k < 3:
            layers.append(nn.MaxPool2d(2))
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(64 * 8 * 8, 2 * LATENT)).eval()


def pictures(count=8):
    """A spot on a noisy ground, a little further on its circle in each."""
    noise = np.random.default_rng(1)
    y, x = np.mgrid[:SIDE, :SIDE]
    for i in range(count):
        angle, middle, radius, sd = 2 * np.pi * i / count, SIDE / 2, SIDE / 6, SIDE / 16
        spot = np.exp(-((x - middle - radius * np.cos(angle)) ** 2 + (y - middle - radius * np.sin(angle)) ** 2) / (2 * sd**2))
        grey = LOW + (HIGH - LOW) * (0.1 + 0.8 * spot + 0.03 * noise.standard_normal((SIDE, SIDE)))
        yield np.clip(grey, 0, 2**BITS - 1).astype(np.uint8 if BITS == 8 else np.uint16)


@torch.inference_mode()
def loop():
    ring, net, clahe = list(pictures()), encoder(), cv2.createCLAHE(7.68, (8, 8))
    scale, latencies, begun, i = 255 / (HIGH - LOW), [], time.perf_counter(), 0
    while True:
        taken = time.perf_counter()
        if RATE > 0:
            taken = begun + i / RATE
            time.sleep(max(taken - time.perf_counter(), 0))
        if taken - begun > WARMUP + SECONDS:
            return latencies, time.perf_counter() - begun - WARMUP
        picture = ring[i % len(ring)].copy()
        grey = cv2.convertScaleAbs(picture, alpha=scale, beta=-LOW * scale)
        small = cv2.resize(clahe.apply(grey), (64, 64), interpolation=cv2.INTER_AREA)
        z = net(torch.from_numpy(small).to(torch.float32).mul_(1 / 255)[None, None]).numpy()
        assert z.shape == (1, 2 * LATENT)
        if taken - begun > WARMUP:
            latencies.append(1e3 * (time.perf_counter() - taken))
        i += 1


measured, seconds = loop()
print(json.dumps({
    "fps": len(measured) / seconds,
    **{f"p{p}_ms": float(np.percentile(measured, p)) for p in (50, 95, 99)},
    "version": f"OpenCV {cv2.__version__}, PyTorch {torch.__version__}",
}))

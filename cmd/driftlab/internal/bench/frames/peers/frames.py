"""A frame in Python: from the camera to its latents in one loop of OpenCV and PyTorch, as a tracker's processor has it, or single calls.

python3 frames.py SIDE BITS SECONDS loop RATE
python3 frames.py SIDE BITS SECONDS calls

loop: SIDE x SIDE pictures of BITS bits are copied, brought to 8 bits, equalised (CLAHE), resized to 64x64 and encoded by the paper's
encoder, RATE times a second or, where that is 0, as fast as it goes. Prints one JSON object: frames a second and the milliseconds
from a picture's time to its latents. There is no law of motion, no account of lost frames, and nothing is published.

calls: the median milliseconds of scikit-image's equalize_adapthist, which the paper's code used, and of finding the spot without a
model: trackpy.locate where that is installed, otherwise what it does in calls of scikit-image and scipy: a band of scales, local
maxima, their centres of mass. Camera, encoder, law and publishing are left out; trajectories are not linked.
"""
import json
import sys
import time

import numpy as np

SIDE, BITS, SECONDS, WHAT = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
WARMUP, LATENT = 0.5, 2
LOW, HIGH = (20, 230) if BITS == 8 else (400, 4000)


def encoder():
    from torch import nn

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


def loop(rate):
    import cv2
    import torch

    ring, net, clahe = list(pictures()), encoder(), cv2.createCLAHE(7.68, (8, 8))
    scale, latencies, begun, i = 255 / (HIGH - LOW), [], time.perf_counter(), 0
    with torch.inference_mode():
        while True:
            taken = time.perf_counter()
            if rate > 0:
                taken = begun + i / rate
                time.sleep(max(taken - time.perf_counter(), 0))
            if taken - begun > WARMUP + SECONDS:
                break
            picture = ring[i % len(ring)].copy()
            grey = cv2.convertScaleAbs(picture, alpha=scale, beta=-LOW * scale)
            small = cv2.resize(clahe.apply(grey), (64, 64), interpolation=cv2.INTER_AREA)
            z = net(torch.from_numpy(small).to(torch.float32).mul_(1 / 255)[None, None]).numpy()
            assert z.shape == (1, 2 * LATENT)
            if taken - begun > WARMUP:
                latencies.append(1e3 * (time.perf_counter() - taken))
            i += 1
    if not latencies:
        sys.exit(f"no frame within {SECONDS} s: measure longer")
    return {
        "fps": len(latencies) / (time.perf_counter() - begun - WARMUP),
        **{f"p{p}_ms": float(np.percentile(latencies, p)) for p in (50, 95, 99)},
        "version": f"OpenCV {cv2.__version__}, PyTorch {torch.__version__}",
    }


def locator():
    """A function that finds the spots of a picture, and what it is called."""
    diameter = SIDE // 8 | 1
    try:
        import trackpy

        trackpy.quiet()
        return lambda picture: trackpy.locate(picture, diameter), f"trackpy.locate {trackpy.__version__}"
    except ModuleNotFoundError:
        from scipy.ndimage import center_of_mass, gaussian_filter, uniform_filter
        from skimage.feature import peak_local_max

    def locate(picture):
        grey = picture.astype(np.float32)
        band = np.maximum(gaussian_filter(grey, 1) - uniform_filter(grey, diameter), 0)
        half = diameter // 2
        places = []
        for y, x in peak_local_max(band, min_distance=half, threshold_rel=0.5):
            top, left = max(y - half, 0), max(x - half, 0)
            dy, dx = center_of_mass(band[top : y + half + 1, left : x + half + 1])
            places.append((top + dy, left + dx))
        return places

    return locate, "band, maxima, centres of mass"


def calls():
    import skimage
    from skimage.exposure import equalize_adapthist

    ring, (locate, name) = list(pictures()), locator()

    def median_ms(call):
        spent, begun = [], time.perf_counter()
        while len(spent) < 3 or time.perf_counter() - begun < SECONDS:
            start = time.perf_counter()
            found = call(ring[len(spent) % len(ring)])
            spent.append(1e3 * (time.perf_counter() - start))
            assert len(found) > 0
        return float(np.median(spent))

    return {
        "equalize_adapthist_ms": median_ms(lambda picture: equalize_adapthist(picture, clip_limit=0.03)),
        "locate_ms": median_ms(locate),
        "locator": name,
        "version": f"scikit-image {skimage.__version__}",
    }


print(json.dumps(loop(float(sys.argv[5])) if WHAT == "loop" else calls()))

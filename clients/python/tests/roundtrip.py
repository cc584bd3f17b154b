"""Frames to a real run, and what it says of them: run by cmd/driftscope/clients_test.go with the url of its server.

Three spots go round; each picture takes several messages. Prints what came back as JSON.
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np

import driftscope
from driftscope import Objects, Track
from driftscope.window import Window

ROWS, COLUMNS, WIDTH, RADIUS = 190, 210, 1.5, 30.0  # pixels; a spot's standard deviation; the circles'
FRAMES = 120  # that have to be tracked
AHEAD = 4  # frames published beyond the last that is known to be tracked
PATIENCE = 120.0  # seconds

MIDDLES = np.array([[50.0, 50.0], [60.0, 140.0], [145.0, 90.0]])  # x, y
rows, columns = np.arange(ROWS), np.arange(COLUMNS)


def places(k: int) -> np.ndarray:
    angle = k / 20 + np.arange(3)
    return MIDDLES + RADIUS * np.stack([np.cos(angle), np.sin(angle)], axis=1)


def picture(k: int, rng: np.random.Generator) -> np.ndarray:
    light = sum(np.outer(np.exp(-((rows - y) ** 2) / 2 / WIDTH**2), np.exp(-((columns - x) ** 2) / 2 / WIDTH**2)) for x, y in places(k))
    return rng.poisson(100 + 1000 * light).astype(np.uint16)


def main(url: str) -> None:
    rng, end = np.random.default_rng(1), time.monotonic() + PATIENCE
    taken: dict[int, int] = {}  # the time of a frame: which
    came: list[Objects] = []
    table = Window()
    with driftscope.connect(url) as server, server.frames("camera.beads", live=False) as frames:
        stream = server.stream("camera-beads")
        results, tracks = stream.results(Objects), stream.results(Track)
        k = 0
        while len(came) < FRAMES and time.monotonic() < end:
            now = time.time_ns()
            taken[now] = k
            frames.publish(picture(k, rng), time_ns=now)
            k += 1
            time.sleep(0.01)
            last = -1 if not came else taken[came[-1].time_ns]
            if last < 0 or k - last > AHEAD:  # until somebody listens a picture now and then
                first = results.get(0.1 if last < 0 else 30)
                came += [first] if first else []
            came += results.waiting()
        for message in came:
            table.add(message)
        worst, seen = 0.0, 0
        for message in came:
            truth = places(taken[message.time_ns])
            for x, y, marks in zip(message.x_px, message.y_px, message.marks):
                if not marks & 3:
                    worst, seen = max(worst, float(np.hypot(*(truth - [x, y]).T).min())), seen + 1
        info = stream.info()
        refused = 0
        try:
            stream.model("none")
        except driftscope.Refused as refusal:
            refused = refusal.code
        stream.pause()
        stream.resume()
        stream.stop()
        changes = []
        while (track := tracks.get(10)) is not None and changes.count("ended") < 3:
            changes.append(track.change)
            if changes.count("ended") == 3:
                break
        found = table.shown().rows
        print(json.dumps({
            "frames": len(came), "lost": sum(b.seq - a.seq - 1 for a, b in zip(came, came[1:])), "seen": seen, "worst_px": worst,
            "numbers": len(np.unique(found[:, 0])), "rows": len(found), "source": info.source, "refused": refused, "born": changes.count("born"),
            "ended": changes.count("ended"), "unreadable": results.unreadable + tracks.unreadable + table.unusable,
        }))  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1])

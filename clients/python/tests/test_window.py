from __future__ import annotations

import math
import random
import tracemalloc
from typing import Any

import numpy as np
import pytest
import samples

from driftscope import decoding
from driftscope.messages import KINDS, Latent, Law, Objects, Track
from driftscope.window import UNKNOWN, Window


def message(kind: str, whole: bool = False, **changes: Any) -> Any:
    return decoding.decode(KINDS, samples.message(kind, whole=whole, **changes))


def objects(seq: int, **columns: Any) -> Objects:
    found: Objects = message("objects", seq=seq, **{"id": [], "x_px": [], "y_px": [], "marks": [], "diffusion_px2_s": [], "doubt": [], "sd_px": []} | columns)
    return found


def many(seq: int, numbers: list[int], **columns: Any) -> Objects:
    n = len(numbers)
    return objects(seq, id=numbers, x_px=[1.0] * n, y_px=[2.0] * n, marks=[0] * n, **columns)


def test_places_and_their_law() -> None:
    window = Window(frames=10)
    window.add(objects(
        4, id=[7, 2, 9, 3], x_px=[1.5, 10, 20, None], y_px=[2.5, 11, 21, 5], marks=[0, 16, 1, 0], diffusion_px2_s=[0.5, None, 1, 1],
        p_link=[0.9, None, None, 1], doubt=[0.1, 0.2, 0, 0], sd_px=[0.3, 0.4, 1, 1], state=[[0.2, 0, 1, 1], [0.8, None, 0, 0]],
    ))  # fmt: skip
    shown = window.shown()
    assert shown.rows.tolist() == [[0, 4, 2.5, 1.5], [1, 4, 11, 10]], "slot, frame, y, x; no predicted place, none without coordinates"
    found = {name: column.tolist() for name, column in shown.features.items()}
    assert found["particle"] == [7, 2] and found["diffusion_px2_s"] == [0.5, UNKNOWN] and found["p_link"] == [0.9, UNKNOWN]
    assert found["state"] == [1, UNKNOWN] and found["doubt"] == [0.1, 0.2] and found["sd_px"] == [0.3, 0.4] and found["marks"] == [0, 16]
    assert window.unusable == 1 and window.objects == 2 and window.frames == 1
    motion = samples.value(samples.schema("track"))["motion"] | {"class": "confined", "alpha": 0.5}
    window.judge(message("track", whole=True, id=7, diffusion_px2_s_low=0.25, diffusion_px2_s_high=1.0, motion=motion))
    window.judge(message("track", id=99))  # not in the window
    found = {name: column.tolist() for name, column in window.shown().features.items()}
    assert found["diffusion_low_px2_s"] == [0.25, UNKNOWN] and found["diffusion_high_px2_s"] == [1.0, UNKNOWN]
    assert found["alpha"] == [0.5, UNKNOWN] and found["motion"] == [2, UNKNOWN]


def test_earlier_places_and_the_last_frames() -> None:
    window = Window(frames=10)
    window.add(many(4, [7]))
    earlier = {"seq": [3, 4], "id": [7, 7], "x_px": [1.0, 9.0], "y_px": [2.0, 8.0], "sd_px": [0.1, 0.2], "filled": [False, True]}
    window.add(objects(5, id=[7], x_px=[1.75], y_px=[2.75], marks=[0], earlier=earlier))
    shown = window.shown()
    assert shown.rows.tolist() == [[0, 3, 2, 1], [0, 4, 8, 9], [0, 5, 2.75, 1.75]], "what is known later replaces what was there"
    assert shown.features["filled"].tolist() == [0, 1, 0] and shown.features["sd_px"].tolist()[:2] == [0.1, 0.2]
    window.add(many(14, [7]))
    assert window.shown().rows[:, 1].tolist() == [5, 14] and window.frames == 10, "frames 5 to 14"


def test_a_scene_has_one_object() -> None:
    window = Window()
    for seq, place in ((1, [3, 4]), (2, []), (3, [5, 6])):
        latent: Latent = message("latent", seq=seq, trajectory=2, centroid_px=place)
        window.add(latent)
        law: Law = message("sde", diffusion_px2_s=0.5)
        window.see(law)
    shown = window.shown()
    assert shown.rows.tolist() == [[0, 1, 4, 3], [0, 3, 6, 5]] and shown.features["particle"].tolist() == [2, 2]
    assert shown.features["diffusion_px2_s"].tolist() == [UNKNOWN, 0.5]
    window.add(many(3, [2]))  # it is a field, and the latents are those of an object that is followed
    window.add(message("latent", seq=4, trajectory=2, centroid_px=[9, 9]))
    assert window.shown().rows.tolist() == [[0, 3, 2, 1]]


def test_nothing_to_show() -> None:
    shown = Window().shown()
    assert shown.rows.shape == (0, 4) and shown.rows.dtype == np.float64 and Window().frames == 0
    with pytest.raises(ValueError, match="at least 1"):
        Window(frames=0)


def test_a_stream_that_begins_again() -> None:
    window = Window(frames=100)
    for seq in range(50):
        window.add(many(seq, [1]))
    window.add(many(0, [1]))  # another object with the same number
    assert window.shown().rows[:, 1].tolist() == [0] and window.restarts == 1


def test_too_many_places() -> None:
    window = Window(frames=1000, places=100)
    for seq in range(50):
        window.add(many(seq, list(range(seq, seq + 30))))
    assert window.places <= 100 and window.frames == 3 and window.cut == 47 and window.left_out == 0
    assert set(window.shown().rows[:, 0]) <= set(range(100)), "slots are used again"


def test_a_million_objects() -> None:
    window = Window(places=1000)
    n = 1_000_000
    window.add(objects(1, id=[1], x_px=[1], y_px=[1], marks=[0]))
    huge = Objects(
        stream="a", seq=2, time="", diffusion_px2_s=[], doubt=[], height_px=1, width_px=1, id=list(range(n)), latency_ms=0.0, left_out=0, marks=[0] * n,
        pixel_um=0.0, sd_px=[], x_px=[1.0] * n, y_px=[1.0] * n,
    )  # fmt: skip
    window.add(huge)
    assert window.places == 1000 and window.left_out == n - 1000 and window.cut == 1 and len(window.shown().rows) == 1000


EARLIER = {"seq": [99, -1, 1 << 70], "id": [3, 3, 3], "x_px": [1, 1, 1], "y_px": [1, 1], "sd_px": [], "filled": []}


@pytest.mark.parametrize(("columns", "rows", "unusable"), [
    ({"id": [1, 2], "x_px": [1.0], "y_px": [1.0, 2.0], "marks": []}, 1, 1),
    ({"id": [1 << 80, -5, 1 << 62], "x_px": [1, 1, 1], "y_px": [1, 1, 1], "marks": [0, 0, 0]}, 1, 2),
    ({"id": [1], "x_px": [1], "y_px": [1], "marks": [1 << 70]}, 1, 0),
    ({"id": [1, 1], "x_px": [1, 2], "y_px": [1, 2], "marks": [0, 0]}, 1, 0),
    ({"id": [1, 2], "x_px": [1, 1], "y_px": [1, 1], "marks": [0, 0], "state": [[1.0], []], "p_link": [0.5]}, 2, 0),
    ({"id": [1], "x_px": [1], "y_px": [1], "marks": [0], "earlier": EARLIER}, 1, 3),
])  # fmt: skip
def test_broken_columns(columns: dict[str, Any], rows: int, unusable: int) -> None:
    window = Window()
    window.add(objects(5, **columns))
    assert len(window.shown().rows) == rows and window.unusable == unusable


@pytest.mark.parametrize("seq", [-1, 1 << 53, 1 << 80])
def test_broken_frames(seq: int) -> None:
    window = Window()
    window.add(many(3, [1]))
    window.add(many(seq, [1, 2]))
    assert window.newest == 3 and window.unusable == 2 and len(window.shown().rows) == 1


def test_memory_is_bounded() -> None:
    """Twenty windows of frames, each said twice, with numbers that jump."""
    rng = random.Random(1)
    window = Window(frames=50, places=500)
    template = many(0, [0] * 20)
    tracemalloc.start()
    early = 0
    for seq in range(1001):
        numbers = [rng.randrange(1 << 40) if rng.random() < 0.2 else k for k in range(20)]
        window.add(Objects(**{**template.__dict__, "seq": seq, "id": numbers}))
        window.add(Objects(**{**template.__dict__, "seq": seq, "id": [], "x_px": [], "y_px": [], "marks": []}))  # the frame again, empty
        if seq == 250:
            early = tracemalloc.get_traced_memory()[0]
    late = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert late < early + 5_000, f"{early} bytes after 250 frames, {late} after 1000"
    # 750 frames that leaked a number of 8 bytes each would take 6 kB
    assert window.places <= 500 and window.objects <= 500 and window.shown().rows[:, 0].max() < 500


def test_any_message() -> None:
    """Random messages of the right types raise nothing, and what is shown is finite and in order."""
    rng = random.Random(2)
    wild: list[Any] = [0, 1, -1, 1 << 31, 1 << 63, 1 << 80, 5, 5, 7]
    places: list[Any] = [0.0, 1.5, -3.0, None, 1e308, 10**400]

    def some(values: list[Any]) -> list[Any]:
        return [rng.choice(values) for _ in range(rng.randrange(6))]

    window = Window(frames=5, places=20)
    for _ in range(1000):
        earlier = {"seq": some(wild), "id": some(wild), "x_px": some(places), "y_px": some(places), "sd_px": some(places), "filled": some([True, False])}
        window.add(objects(
            rng.choice([*wild, *range(20)]), id=some(wild), x_px=some(places), y_px=some(places), marks=some(wild), sd_px=some(places), doubt=some(places),
            diffusion_px2_s=some(places), p_link=some(places), state=[some(places) for _ in range(rng.randrange(4))], unsent=3,
            **({"earlier": earlier} if rng.random() < 0.5 else {}),
        ))  # fmt: skip
        shown = window.shown()
        assert np.isfinite(shown.rows).all() and all(np.isfinite(column).all() and len(column) == len(shown.rows) for column in shown.features.values())
        steps = np.diff(shown.rows[:, :2], axis=0)
        assert ((steps[:, 0] > 0) | ((steps[:, 0] == 0) & (steps[:, 1] > 0))).all()
        assert window.places <= 20 and len(shown.rows) <= 20 and window.objects <= 20
    assert window.unsent == 3000 and window.unusable > 0 and window.restarts > 0 and math.isfinite(shown.rows.sum())

"""Against stand-ins for napari that refuse what napari refuses (viewers.py), and for a timer of Qt."""

from __future__ import annotations

import base64
import io
import json
import sys
import types
from typing import Any

import pytest
import samples
from standins import StandIn
from viewers import Viewer

from driftscope import live as living
from driftscope.background import Background
from driftscope.client import Stream
from driftscope.live import Live
from driftscope.tracks import Layers, show

NAME = "driftscope.local.beads"


@pytest.fixture
def stream(background: Background, connection: StandIn) -> Stream:
    return Stream(background, connection, NAME)


def publish(connection: StandIn, kind: str, **changes: Any) -> None:
    connection.deliver(f"{NAME}.{kind}", samples.message(kind, whole=False, **changes))


def objects(connection: StandIn, seq: int, *places: tuple[int, float, float], **columns: Any) -> None:
    n = len(places)
    filled = {"diffusion_px2_s": [0.5] * n, "doubt": [0] * n, "sd_px": [0.1] * n, "marks": [0] * n} | columns
    publish(connection, "objects", seq=seq, id=[p[0] for p in places], x_px=[p[1] for p in places], y_px=[p[2] for p in places], **filled)


class Seen:
    """A stream in a viewer."""

    def __init__(self, stream: Stream, **options: Any) -> None:
        self.viewer, self.live = Viewer(), Live(stream, **options)
        self.layers = Layers(self.viewer, self.live)

    def refresh(self) -> bool:
        changed = self.live.refresh()
        if changed:
            self.layers.refresh()
        return changed


def test_layers_follow(stream: Stream, connection: StandIn) -> None:
    seen = Seen(stream, frames=10)
    assert not seen.refresh() and seen.viewer.layers == []
    objects(connection, 4, (7_000_000_000_000, 1.5, 2.5), (2, 10, 11))
    assert seen.refresh()
    tracks, points = seen.viewer.layers
    assert tracks.name == f"{NAME} tracks" and points.name == f"{NAME} objects"
    assert tracks.data.tolist() == [[0, 4, 2.5, 1.5], [1, 4, 11, 10]] and points.data.tolist() == [[4, 2.5, 1.5], [4, 11, 10]]
    assert tracks.features["particle"].tolist() == [7_000_000_000_000, 2] == points.features["particle"].tolist()
    tracks.color_by = "diffusion_px2_s"
    points.selected_data = {1}
    objects(connection, 5, (2, 12, 13))
    assert seen.refresh() and seen.viewer.dims.point == (5, 0, 0) and len(seen.viewer.layers) == 2
    assert tracks.color_by == "diffusion_px2_s", "the colours that a person chose stay"
    assert points.selected_data == {2} and seen.layers.selected() == 2, "the object that a person selected, in the newest frame"
    objects(connection, 14, (2, 1, 1))
    assert seen.refresh() and tracks.data.tolist() == [[1, 5, 13, 12], [1, 14, 1, 1]], "the last ten frames; a slot stays that of its object"
    points.selected_data = {0, 1}
    assert seen.layers.selected() == 2, "both are object 2"
    objects(connection, 15, (2, 1, 1), (3, 1, 1))
    assert seen.refresh()
    points.selected_data = {1, 2}
    assert seen.layers.selected() in (None, 2)
    seen.live.close()
    assert connection.subscriptions == {}


def test_a_person_looks_back(stream: Stream, connection: StandIn) -> None:
    seen = Seen(stream)
    for seq in (1, 2):
        objects(connection, seq, (1, 1, 1))
        seen.refresh()
    seen.viewer.dims.set_point(0, 1)
    objects(connection, 3, (1, 1, 1))
    seen.refresh()
    assert seen.viewer.dims.point[0] == 1, "the slider stays where it was put"
    seen.viewer.dims.set_point(0, 3)
    objects(connection, 4, (1, 1, 1))
    seen.refresh()
    assert seen.viewer.dims.point[0] == 4, "and follows again from the end"
    objects(connection, 0, (1, 1, 1))
    seen.refresh()
    assert seen.viewer.dims.point[0] == 0, "the stream began again"


def test_a_layer_that_was_removed(stream: Stream, connection: StandIn) -> None:
    seen = Seen(stream)
    objects(connection, 1, (1, 1, 1))
    seen.refresh()
    seen.viewer.layers.remove(seen.layers.points)
    objects(connection, 2, (1, 1, 1))
    assert seen.refresh() and seen.viewer.layers == [seen.layers.tracks] and len(seen.layers.tracks.data) == 2
    assert seen.layers.selected() is None


def test_a_burst_takes_turns(stream: Stream, connection: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(living, "TURN", 0.0)
    seen = Seen(stream)
    for seq in range(3):
        objects(connection, seq, (1, 1, 1))
    assert [seen.refresh() for _ in range(4)] == [True, True, True, False] and seen.live.window.newest == 2


def jpeg(width: int, height: int, grey: int = 90) -> str:
    image = pytest.importorskip("PIL.Image")
    out = io.BytesIO()
    image.new("L", (width, height), grey).save(out, "JPEG")
    return base64.b64encode(out.getvalue()).decode()


def test_pictures(stream: Stream, connection: StandIn) -> None:
    seen = Seen(stream)
    objects(connection, 1, width_px=1600, height_px=1201)
    publish(connection, "view", seq=1, preview_jpeg=jpeg(533, 400))  # of a field: blocks of 3x3 pixels
    assert seen.refresh()
    (image,) = seen.viewer.layers
    assert image.data.shape == (400, 533) and abs(int(image.data[0, 0]) - 90) < 3 and image.scale == (3, 3) and image.translate == (1, 1)
    region = {"x_px": 100, "y_px": 40, "width_px": 64, "height_px": 32, "whole_width_px": 512, "whole_height_px": 512}
    publish(connection, "view", seq=2, preview_jpeg=jpeg(16, 16), region=region)  # of a model: pixels of 2x4
    assert seen.refresh() and image.scale == (2, 4) and image.translate == (40.5, 101.5)
    for broken in ("", "no base64!", base64.b64encode(b"no picture").decode(), jpeg(16, 16)[:60]):
        publish(connection, "view", seq=3, preview_jpeg=broken)
        seen.refresh()
    assert seen.live.pictures_lost == 4 and "4 pictures unreadable" in seen.live.lines() and image.scale == (2, 4)


def test_a_picture_too_large(stream: Stream, connection: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(living, "MOST_PIXELS", 100)
    seen = Seen(stream)
    publish(connection, "view", seq=1, preview_jpeg=jpeg(11, 10))
    assert seen.refresh() and seen.live.picture is None and seen.live.pictures_lost == 1
    publish(connection, "view", seq=2, preview_jpeg=jpeg(10, 10))
    assert seen.refresh() and seen.live.picture is not None and any("size of a frame is unknown" in line for line in seen.live.lines())


def test_all_that_is_missing_is_said(stream: Stream, connection: StandIn) -> None:
    seen = Seen(stream, frames=100, places=3)
    objects(connection, 1, (1, 1, 1), (2, 2, 2))
    objects(connection, 2, (1, 1, 1), (2, 2, 2), unsent=9)
    objects(connection, 3, (1, 1, 1), (2, 2, 2), (3, 3, 3), (4, 4, 4), epoch=5)
    objects(connection, 4, (1, 1, 1), epoch=4)
    objects(connection, 3, (-1, 1, 1), epoch=5)
    objects(connection, 2, epoch=5)
    connection.deliver(f"{NAME}.objects", b"no JSON")
    connection.deliver(f"{NAME}.objects", b"[" * 100_000)
    publish(connection, "health", fps=25.0, state="tracking", frames_dropped={"queue_full": 3, "paused": 0}, epoch=5)
    publish(connection, "population", law=samples.value(samples.schema("population")["properties"]["law"]) | {"says": "two states"}, epoch=5)
    assert seen.refresh()
    said = "\n".join(seen.live.lines())
    for part in (
        "frames 2 to 2: 1 of at most 100, 0 places of at most 3, 0 objects", "two states", "run: tracking, 25.0 frames/s, dropped: 3 queue_full", "2 messages unreadable",
        "1 messages of a former worker", "2 frames left the window early", "1 places left out", "1 places without a number",
        "9 entries that the run did not send", "1 restarts",
    ):  # fmt: skip
        assert part in said, said


def test_shown_by_a_timer(stream: Stream, connection: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    class Timer:
        def __init__(self) -> None:
            self.every: int | None = None
            self.slots: Any = None
            self.timeout = types.SimpleNamespace(connect=lambda slot: setattr(self, "slots", slot))
            timers.append(self)

        def start(self, ms: int) -> None:
            self.every = ms

        def setInterval(self, ms: int) -> None:
            self.every = ms

        def stop(self) -> None:
            self.every = None

    timers: list[Any] = []
    monkeypatch.setitem(sys.modules, "qtpy", types.SimpleNamespace())
    monkeypatch.setitem(sys.modules, "qtpy.QtCore", types.SimpleNamespace(QTimer=Timer))
    viewer = Viewer()
    stop = show(viewer, stream, every_ms=50)
    objects(connection, 1, (1, 1, 2))
    assert timers[0].every == 50
    timers[0].slots()
    assert len(viewer.layers) == 2 and timers[0].every >= 50
    stop()
    assert timers[0].every is None and connection.subscriptions == {}
    assert json.dumps(viewer.layers[0].data.tolist()) == "[[0.0, 1.0, 2.0, 1.0]]"

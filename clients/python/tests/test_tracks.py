"""Against stand-ins for napari and Qt, of the form that their documentation gives."""

from __future__ import annotations

import json
import sys
import types
from typing import Any

import numpy as np
import pytest
import samples
from standins import StandIn

from driftscope.background import Background
from driftscope.client import Stream
from driftscope.tracks import LiveTracks, TrackTable, show


def objects(seq: int, **columns: Any) -> bytes:
    return samples.message("objects", whole=False, seq=seq, **columns)


class Viewer:
    def __init__(self) -> None:
        self.layers: list[Any] = []
        self.point: tuple[int, float] = (-1, -1)
        self.dims = types.SimpleNamespace(set_point=lambda axis, value: setattr(self, "point", (axis, value)))

    def add_tracks(self, data: Any, *, name: str, tail_length: int) -> Any:
        self.layers.append(types.SimpleNamespace(data=data, name=name, tail_length=tail_length))
        return self.layers[-1]


@pytest.fixture
def stream(background: Background, connection: StandIn) -> Stream:
    return Stream(background, connection, "driftscope.local.beads")


def publish(connection: StandIn, data: bytes) -> None:
    connection.deliver(f"driftscope.local.beads.{json.loads(data)['kind']}", data)


def test_a_layer_follows(stream: Stream, connection: StandIn) -> None:
    viewer = Viewer()
    tracks = LiveTracks(viewer, stream, tail=10)
    assert not tracks.refresh() and viewer.layers == []
    publish(connection, objects(4, id=[7, 2, 9, 3], x_px=[1.5, 10, 20, None], y_px=[2.5, 11, 21, 5], marks=[0, 16, 1, 0]))
    assert tracks.refresh()
    (layer,) = viewer.layers
    assert layer.name == "driftscope.local.beads" and layer.data.tolist() == [[2, 4, 11, 10], [7, 4, 2.5, 1.5]], "number, frame, y, x; no guesses"
    earlier = {"seq": [3], "id": [7], "x_px": [1.0], "y_px": [2.0], "sd_px": [0.1], "filled": [False]}
    publish(connection, objects(5, id=[7], x_px=[1.75], y_px=[2.75], marks=[0], earlier=earlier))
    assert tracks.refresh() and layer.data.tolist() == [[2, 4, 11, 10], [7, 3, 2, 1], [7, 4, 2.5, 1.5], [7, 5, 2.75, 1.75]]
    assert viewer.point == (0, 5) and len(viewer.layers) == 1
    assert not tracks.refresh()
    publish(connection, objects(14, id=[7], x_px=[3], y_px=[4], marks=[2]))
    assert tracks.refresh() and layer.data.tolist() == [[7, 5, 2.75, 1.75]], "the last ten frames"
    tracks.close()
    assert connection.subscriptions == {}


def test_a_single_object_is_its_centroid(stream: Stream, connection: StandIn) -> None:
    viewer = Viewer()
    tracks = LiveTracks(viewer, stream)
    for seq, place in ((1, [3, 4]), (2, []), (3, [5, 6])):
        publish(connection, samples.message("latent", seq=seq, trajectory=2, centroid_px=place))
    assert tracks.refresh() and viewer.layers[0].data.tolist() == [[2, 1, 4, 3], [2, 3, 6, 5]]


def test_a_table_without_places() -> None:
    assert TrackTable().rows().shape == (0, 4) and TrackTable().rows().dtype == np.float64


def test_shown_by_a_timer(stream: Stream, connection: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    class Timer:
        def __init__(self) -> None:
            self.every = self.slots = None
            self.timeout = types.SimpleNamespace(connect=lambda slot: setattr(self, "slots", slot))
            timers.append(self)

        def start(self, ms: int) -> None:
            self.every = ms

        def stop(self) -> None:
            self.every = None

    timers: list[Any] = []
    monkeypatch.setitem(sys.modules, "qtpy", types.SimpleNamespace())
    monkeypatch.setitem(sys.modules, "qtpy.QtCore", types.SimpleNamespace(QTimer=Timer))
    viewer = Viewer()
    stop = show(viewer, stream, every_ms=50)
    publish(connection, objects(1, id=[1], x_px=[1], y_px=[2], marks=[0]))
    assert timers[0].every == 50
    timers[0].slots()
    assert len(viewer.layers) == 1
    stop()
    assert timers[0].every is None and connection.subscriptions == {}

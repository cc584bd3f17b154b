"""Live tracks in napari, which is not imported before it is used."""

from __future__ import annotations

import math
from typing import Any, Callable, Protocol

import numpy as np
from numpy.typing import NDArray

from .client import Stream
from .messages import Latent, Objects
from .results import Results

PREDICTED, MERGED = 1, 2  # marks of an object that was not located by itself in its frame


class TrackTable:
    """Places of objects by number and frame; of a stream with a single object its centroid, a trajectory for a number. It holds the last tail frames."""

    def __init__(self, tail: int = 1000) -> None:
        self.tail = tail
        self.newest = 0  # the last frame's number
        self._places: dict[tuple[int, int], tuple[float, float]] = {}  # (number, frame): (y, x)

    def add(self, message: Objects | Latent) -> None:
        """Adds what a message says of where objects are, and were."""
        self.newest = max(self.newest, message.seq)
        if isinstance(message, Latent):
            if message.centroid_px:
                self._put(message.trajectory, message.seq, *message.centroid_px)
            return
        for number, x, y, marks in zip(message.id, message.x_px, message.y_px, message.marks):
            if not marks & (PREDICTED | MERGED):
                self._put(number, message.seq, x, y)
        if message.earlier:
            earlier = message.earlier
            for number, seq, x, y in zip(earlier.id, earlier.seq, earlier.x_px, earlier.y_px):
                self._put(number, seq, x, y)

    def _put(self, number: int, seq: int, x: float, y: float) -> None:
        if math.isfinite(x) and math.isfinite(y):
            self._places[number, seq] = y, x

    def rows(self) -> NDArray[np.float64]:
        """What a Tracks layer takes: number, frame, y and x, ordered by number and frame."""
        first = self.newest - self.tail
        self._places = {key: place for key, place in self._places.items() if key[1] > first}
        return np.array([[*key, *place] for key, place in sorted(self._places.items())], dtype=np.float64).reshape(-1, 4)


class Dims(Protocol):
    """What of napari's dims is used."""

    def set_point(self, axis: int, value: float) -> Any: ...


class Viewer(Protocol):
    """What of napari.Viewer is used."""

    @property
    def dims(self) -> Dims: ...

    def add_tracks(self, data: NDArray[np.float64], *, name: str, tail_length: int) -> Any: ...


class LiveTracks:
    """A Tracks layer that follows a stream. refresh belongs to the thread of the viewer."""

    def __init__(self, viewer: Viewer, stream: Stream, tail: int = 1000) -> None:
        self.layer: Any = None
        self._viewer, self._name = viewer, stream.subject
        self._table = TrackTable(tail)
        self._results: Results[Objects | Latent] = stream.results(Objects, Latent)

    def refresh(self) -> bool:
        """Shows what has come since the last time, if anything; the layer is made with the first place."""
        messages = self._results.waiting()
        for message in messages:
            self._table.add(message)
        rows = self._table.rows() if messages else np.empty((0, 4))
        if not len(rows):
            return False
        if self.layer is None:
            self.layer = self._viewer.add_tracks(rows, name=self._name, tail_length=min(self._table.tail, 100))
        else:
            self.layer.data = rows
        self._viewer.dims.set_point(0, self._table.newest)
        return True

    def close(self) -> None:
        """Ends the subscription; the layer stays."""
        self._results.close()


def show(viewer: Viewer, stream: Stream, tail: int = 1000, every_ms: int = 100) -> Callable[[], None]:
    """Adds live tracks to a napari viewer, refreshed by a timer of Qt; what is returned ends that. Call it before napari.run()."""
    from qtpy.QtCore import QTimer

    tracks = LiveTracks(viewer, stream, tail)
    timer = QTimer()
    timer.timeout.connect(tracks.refresh)
    timer.start(every_ms)

    def stop() -> None:
        timer.stop()
        tracks.close()

    return stop

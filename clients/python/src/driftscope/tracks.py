"""Live tracks in napari, which this module does not import."""

from __future__ import annotations

import time
from typing import Any, Callable, Iterable, Protocol

import numpy as np

from .client import Stream
from .live import Live
from .window import FRAMES


class Dims(Protocol):
    """What of napari's dims is used."""

    @property
    def ndim(self) -> int: ...

    @property
    def point(self) -> tuple[float, ...]: ...

    def set_point(self, axis: int, value: float) -> Any: ...


class Viewer(Protocol):
    """What of napari.Viewer is used."""

    @property
    def dims(self) -> Dims: ...

    @property
    def layers(self) -> Iterable[Any]: ...

    def add_tracks(self, data: Any, **options: Any) -> Any: ...

    def add_points(self, data: Any, **options: Any) -> Any: ...

    def add_image(self, data: Any, **options: Any) -> Any: ...


class Layers:
    """The layers of a stream in a viewer: tracks, points and the picture. All methods belong to the viewer's thread.

    A layer is added with the first data. One that the user removes stays away. The frame slider follows the newest frame until the user moves it
    back, and again from the end on.
    """

    def __init__(self, viewer: Viewer, live: Live) -> None:
        self.tracks: Any = None
        self.points: Any = None
        self.image: Any = None
        self._viewer, self._live = viewer, live
        self._at = -1  # the frame that the slider was put on

    def refresh(self) -> None:
        """Draws what the window and the picture hold."""
        if self._live.picture:
            self._draw_picture()
        shown = self._live.window.shown()
        if not len(shown.rows):  # a Tracks layer needs a row
            return
        if self.tracks is None:
            tail = min(self._live.window.most_frames, 100)
            self.tracks = self._viewer.add_tracks(shown.rows, name=f"{self._live.name} tracks", features=shown.features, tail_length=tail)
            self.points = self._viewer.add_points(shown.rows[:, 1:], name=f"{self._live.name} objects", features=shown.features, size=6, opacity=0.5)
        if self.tracks in self._viewer.layers:
            colour = self.tracks.color_by
            self.tracks.color_by = "track_id"  # napari drops the features with the old data, and warns of a colour that needs one
            self.tracks.data = shown.rows
            self.tracks.features = shown.features
            self.tracks.color_by = colour
        if self.points in self._viewer.layers:
            chosen = set(self._chosen())
            self.points.selected_data = set()  # rows move
            self.points.data = shown.rows[:, 1:]
            self.points.features = shown.features
            newest = shown.rows[:, 1] == self._live.window.newest
            self.points.selected_data = {int(k) for k in newest.nonzero()[0] if int(shown.features["particle"][k]) in chosen}
        self._follow()

    def selected(self) -> int | None:
        """Returns the number of the object whose point is selected, if it is one object."""
        chosen = set(self._chosen()) if self.points is not None and self.points in self._viewer.layers else set()
        return chosen.pop() if len(chosen) == 1 else None

    def _chosen(self) -> list[int]:
        particle = np.asarray(self.points.features["particle"])
        return [int(particle[k]) for k in self.points.selected_data]

    def _follow(self) -> None:
        dims, newest = self._viewer.dims, self._live.window.newest
        axis = dims.ndim - 3  # time, y and x are the last axes
        if axis >= 0 and (self._at < 0 or round(dims.point[axis]) >= self._at or newest < self._at):
            dims.set_point(axis, newest)
            self._at = newest

    def _draw_picture(self) -> None:
        picture = self._live.picture
        assert picture
        if self.image is None:
            self.image = self._viewer.add_image(
                picture.grey, name=f"{self._live.name} picture", colormap="gray", contrast_limits=(0, 255), scale=picture.scale, translate=picture.translate
            )
        elif self.image in self._viewer.layers and self.image.data is not picture.grey:
            self.image.data, self.image.scale, self.image.translate = picture.grey, picture.scale, picture.translate


def show(viewer: Viewer, stream: Stream, tail: int = FRAMES, every_ms: int = 100) -> Callable[[], None]:
    """Adds a stream's layers to a napari viewer, with the last tail frames. The function that it returns ends that. Call it before napari.run()."""
    from qtpy.QtCore import QTimer

    live = Live(stream, tail)
    layers = Layers(viewer, live)
    timer = QTimer()
    paced(timer, every_ms, lambda: layers.refresh() if live.refresh() else None)

    def stop() -> None:
        timer.stop()
        live.close()

    return stop


def paced(timer: Any, every_ms: int, work: Callable[[], None]) -> None:
    """Starts a timer of Qt that does work, and leaves the viewer at least half of the time."""

    def tick() -> None:
        begun = time.monotonic()
        work()
        timer.setInterval(max(every_ms, round(2000 * (time.monotonic() - begun))))

    timer.timeout.connect(tick)
    timer.start(every_ms)

"""What of napari is used, as its sources of 2026 have it (napari/layers/tracks, layers/points, layers/image, components/dims.py).

These classes refuse what napari refuses, warns of, or cannot draw.
"""

from __future__ import annotations

from typing import Any

import numpy as np

MOST_SLOTS = 1 << 20  # napari allocates a row of a sparse matrix for each track number up to the largest

BASE = {"name", "metadata", "scale", "translate", "rotate", "shear", "affine", "opacity", "blending", "visible", "units", "axis_labels"}
TRACKS = BASE | {"features", "properties", "graph", "tail_width", "tail_length", "head_length", "colormap", "color_by", "colormaps_dict", "cache"}
POINTS = BASE | {"features", "properties", "feature_defaults", "ndim", "size", "symbol", "face_color", "border_color", "border_width", "text", "shown"}
IMAGE = BASE | {"rgb", "colormap", "contrast_limits", "gamma", "multiscale", "interpolation2d", "rendering", "channel_axis", "cache"}


def columns(features: Any, rows: int) -> dict[str, np.ndarray]:
    """A table of features: every column has a value a row."""
    table = {str(name): np.asarray(column) for name, column in (features or {}).items()}
    for name, column in table.items():
        assert column.shape == (rows,), f"feature {name} of {column.shape} for {rows} rows"
    return table


class Layer:
    published: set[str] = BASE

    def __init__(self, data: Any, **options: Any) -> None:
        assert set(options) <= self.published, f"napari has no {set(options) - self.published}"
        self.options = options
        self.name = options.get("name", "")
        self.scale, self.translate = options.get("scale"), options.get("translate")


class Tracks(Layer):
    published = TRACKS

    def __init__(self, data: Any, **options: Any) -> None:
        super().__init__(data, **options)
        self._color_by = "track_id"
        self.data = data
        self.features = options.get("features")

    @property
    def ndim(self) -> int:
        return self._data.shape[1] - 1

    @property
    def data(self) -> np.ndarray:
        return self._data

    @data.setter
    def data(self, data: Any) -> None:
        data = np.asarray(data)
        assert data.ndim == 2 and data.shape[1] in (4, 5), "NxD array of number, time, (z,) y, x"
        assert len(data), "build_tracks takes the last row"
        assert np.isfinite(data).all(), "a k-d tree takes finite numbers"
        assert (np.floor(data[:, 0]) == data[:, 0]).all() and (data[:, 0] >= 0).all() and (data[:, 1] >= 0).all()
        assert data[:, 0].max() < MOST_SLOTS, "gigabytes"
        self._order = np.lexsort((data[:, 1], data[:, 0]))
        self._data = data[self._order]
        twice = (np.diff(self._data[:, :2], axis=0) == 0).all(axis=1)
        assert not twice.any(), "two places of a track at one time"
        self.features = {}

    @property
    def features(self) -> dict[str, np.ndarray]:
        return self._features

    @features.setter
    def features(self, features: Any) -> None:
        self._features = {name: column[self._order] for name, column in columns(features, len(self._data)).items()}
        self._features.setdefault("track_id", self._data[:, 0].astype(np.uint32))
        assert self._color_by in self._features, "napari warns, ten times a second"

    @property
    def color_by(self) -> str:
        return self._color_by

    @color_by.setter
    def color_by(self, name: str) -> None:
        if name not in self._features:
            raise ValueError(f"{name} is not a valid property key")
        assert np.isfinite(self._features[name].astype(float)).all(), "the colours are NaN"
        self._color_by = name


class Points(Layer):
    published = POINTS

    def __init__(self, data: Any, **options: Any) -> None:
        super().__init__(data, **options)
        self.selected_data: set[int] = set()
        self._data = np.empty((0, np.shape(data)[1]))
        self.data = data
        self.features = options.get("features")

    @property
    def ndim(self) -> int:
        return self._data.shape[1]

    @property
    def data(self) -> np.ndarray:
        return self._data

    @data.setter
    def data(self, data: Any) -> None:
        data = np.asarray(data)
        assert data.ndim == 2 and data.shape[1] == self._data.shape[1] and np.isfinite(data).all()
        assert not self.selected_data or max(self.selected_data) < len(data), "a selected point that is not there"
        self._data = data

    @property
    def features(self) -> dict[str, np.ndarray]:
        return self._features

    @features.setter
    def features(self, features: Any) -> None:
        self._features = columns(features, len(self._data))


class Image(Layer):
    published = IMAGE

    def __init__(self, data: Any, **options: Any) -> None:
        super().__init__(data, **options)
        for name in ("shape", "dtype", "__getitem__"):
            assert hasattr(data, name), f"napari's LayerDataProtocol has {name}"
        self.rgb = bool(options.get("rgb"))
        self.data = data
        low, high = options.get("contrast_limits", (0, 1))
        assert low < high
        for name in ("scale", "translate"):
            assert options.get(name) is None or len(options[name]) == self.ndim

    @property
    def ndim(self) -> int:
        return len(self.data.shape) - self.rgb


class Dims:
    def __init__(self, layers: list[Layer]) -> None:
        self._layers = layers
        self._point: dict[int, float] = {}

    @property
    def ndim(self) -> int:
        return max([2, *(layer.ndim for layer in self._layers)])  # type: ignore[attr-defined]

    @property
    def point(self) -> tuple[float, ...]:
        return tuple(self._point.get(axis, 0.0) for axis in range(self.ndim))

    def set_point(self, axis: int, value: float) -> None:
        assert 0 <= axis < self.ndim
        times = [layer.data[:, -3] for layer in self._layers if isinstance(layer, (Tracks, Points)) and len(layer.data)]
        self._point[axis] = float(np.clip(value, min(t.min() for t in times), max(t.max() for t in times)))


class Viewer:
    def __init__(self) -> None:
        self.layers: list[Layer] = []
        self.dims = Dims(self.layers)

    def _add(self, layer: Layer) -> Any:
        self.layers.append(layer)
        return layer

    def add_tracks(self, data: Any, **options: Any) -> Any:
        return self._add(Tracks(data, **options))

    def add_points(self, data: Any, **options: Any) -> Any:
        return self._add(Points(data, **options))

    def add_image(self, data: Any, **options: Any) -> Any:
        return self._add(Image(data, **options))

    def add(self, layer: Any) -> Any:
        """What napari does with a layer of a reader: a tuple of data, options and type."""
        data, options, kind = layer
        return getattr(self, f"add_{kind}")(data, **options)

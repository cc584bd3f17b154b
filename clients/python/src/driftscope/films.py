"""Recordings of driftscope run --record as arrays that read a frame when it is shown."""

from __future__ import annotations

import csv
import json
import re
import warnings
from pathlib import Path
from typing import Any, Callable

import numpy as np
from numpy.typing import NDArray

MOST_FRAMES = 1 << 24
MOST_BYTES = 1 << 30  # of an array, of a frame, or of a document's text times 1024
MOST_SPAN = 4  # frame numbers for each recorded frame: of more gaps the film is shown without

Shape = tuple[int, ...]
Place = tuple[str, int]  # a row's file, and its page from 1


class Film:
    """Frames by number: an array of (frame, row, column) or (frame, row, column, colour). What was not recorded is black."""

    def __init__(self, numbers: list[int], shape: Shape, dtype: np.dtype[Any], load: Callable[[int], NDArray[Any]]) -> None:
        self.first = numbers[0]
        self._at = {number - self.first: k for k, number in enumerate(numbers)}
        self.shape: Shape = (numbers[-1] - self.first + 1, *shape)
        self.dtype = dtype
        self._load = load

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        n = 1
        for side in self.shape:
            n *= side
        return n

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> NDArray[Any]:
        """The frames of an index along the first axis, then what NumPy makes of the others."""
        which, *rest = key if isinstance(key, tuple) else (key,)
        if which is Ellipsis:
            which, rest = slice(None), [Ellipsis, *rest]
        if isinstance(which, slice):
            frames = np.array([self._frame(k) for k in range(*which.indices(len(self)))], self.dtype).reshape(-1, *self.shape[1:])
            return np.asarray(frames[(slice(None), *rest)])
        return np.asarray(self._frame(int(which))[tuple(rest)])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self[:], dtype)

    def _frame(self, k: int) -> NDArray[Any]:
        if not -len(self) <= k < len(self):
            raise IndexError(f"frame {k} of {len(self)}")
        at = self._at.get(k % len(self))
        return np.zeros(self.shape[1:], self.dtype) if at is None else self._load(at)


def is_film(folder: Path) -> bool:
    """Whether a folder is a recording."""
    try:
        with (folder / "recording.csv").open("rb") as file:
            return file.read(14) == b"file,page,seq,"
    except OSError:
        return False


def open_film(folder: Path) -> Film:
    """Opens a folder of TIFFs, or a Zarr store, that has a recording.csv."""
    numbers: list[int] = []
    places: list[Place] = []
    with (folder / "recording.csv").open(newline="", encoding="utf-8") as file:
        for line in csv.DictReader(file):
            try:
                number, place = int(line["seq"]), (line["file"], int(line["page"]))
            except (KeyError, TypeError, ValueError):
                break  # a kill may tear the last line
            if number < 0 or numbers and number <= numbers[-1] or len(numbers) == MOST_FRAMES or place[1] < 1:
                at = f"{folder}/recording.csv: row {len(numbers) + 2}"
                raise ValueError(f"{at}: found frame {number} on page {place[1]}, expected rising numbers of at most {MOST_FRAMES} frames, and pages from 1")
            numbers.append(number)
            places.append(place)
    if not numbers:
        raise ValueError(f"{folder}/recording.csv: found no frame, expected the recording of driftscope run --record")
    missing = numbers[-1] - numbers[0] + 1 - len(numbers)
    if missing > (MOST_SPAN - 1) * len(numbers):
        warnings.warn(f"{folder}: {missing} frames are missing: the {len(numbers)} recorded ones are shown one after the other", stacklevel=2)
        numbers = list(range(len(numbers)))
    elif missing:
        warnings.warn(f"{folder}: {missing} frames are missing, and are black", stacklevel=2)
    return (_zarr if (folder / ".zgroup").is_file() else _tiffs)(folder, numbers, places)


def _zarr(folder: Path, numbers: list[int], places: list[Place]) -> Film:
    meta = _Meta(folder / "0")
    colours, height, width = (0, 0, 0) if len(meta.shape) != 5 else (meta.shape[1], meta.shape[3], meta.shape[4])
    if meta.chunks != (1, colours, 1, height, width) or colours not in (1, 3):
        raise ValueError(f"{folder}/0: found chunks of {meta.chunks}, expected a frame each, of 1 or 3 channels: napari-ome-zarr opens other stores")

    def load(k: int) -> NDArray[Any]:
        at = (places[k][1] - 1, 0, 0, 0, 0)
        if not meta.path(at).is_file():
            raise ValueError(f"{meta.path(at)}: not found, expected frame {numbers[k]}: was the recording copied whole?")
        planes = meta.chunk(at)[0, :, 0]
        return np.asarray(planes[0] if colours == 1 else np.moveaxis(planes, 0, -1))

    return Film(numbers, (height, width) if colours == 1 else (height, width, 3), meta.dtype, load)


def _tiffs(folder: Path, numbers: list[int], places: list[Place]) -> Film:
    try:
        import tifffile
    except ImportError as error:
        raise ImportError(f"{folder}: a recording in TIFFs takes tifffile: pip install tifffile") from error

    def load(k: int) -> NDArray[Any]:
        name, page = places[k]
        if not re.fullmatch(r"frames-\d{1,9}\.tif", name):
            raise ValueError(f"{folder}/recording.csv: found the file {name!r:.80}, expected one such as frames-0001.tif")
        with tifffile.TiffFile(folder / name) as file:
            return np.asarray(file.pages[page - 1].asarray())

    first = load(0)
    return Film(numbers, first.shape, first.dtype, load)


def document(path: Path) -> dict[str, Any]:
    """Reads an object of JSON of at most a mebibyte."""
    with path.open("rb") as file:
        text = file.read(MOST_BYTES // 1024 + 1)
    if len(text) > MOST_BYTES // 1024:
        raise ValueError(f"{path}: found more than {MOST_BYTES // 1024} bytes, expected a short document")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: not JSON: {error}") from error
    if not isinstance(found, dict):
        raise ValueError(f"{path}: found {found!r:.80}, expected an object")
    return found


class _Meta:
    """An array of Zarr v2 without compression, as Driftscope writes it."""

    def __init__(self, folder: Path) -> None:
        found = document(folder / ".zarray")
        self.folder, self.separator = folder, str(found.get("dimension_separator", "."))
        wanted = {"zarr_format": 2, "order": "C", "compressor": None, "filters": None}
        for key, value in wanted.items():
            if found.get(key) != value:
                raise ValueError(f"{folder}: found {key} {found.get(key)!r:.80}, expected {value!r}, as Driftscope writes: zarr-python reads others")
        self.shape, self.chunks = (_shape(folder, found.get(key)) for key in ("shape", "chunks"))
        kind = str(found.get("dtype"))
        self.dtype: np.dtype[Any] = np.dtype(kind if re.fullmatch(r"[<>|][biuf][1248]", kind) else "O")
        size = self.dtype.itemsize * int(np.prod([float(n) for n in self.chunks]))
        if len(self.shape) != len(self.chunks) or self.dtype.kind not in "biuf" or 0 in self.chunks or size > MOST_BYTES or self.separator not in ("/", "."):
            at = f"found the shape {self.shape}, chunks {self.chunks} of {kind:.20}"
            raise ValueError(f"{folder}: {at}, expected chunks of numbers, of at most {MOST_BYTES} bytes")
        self.bytes = size

    def path(self, at: Shape) -> Path:
        return self.folder / self.separator.join(map(str, at))

    def chunk(self, at: Shape) -> NDArray[Any]:
        """Reads a chunk; one that was not written is 0."""
        path = self.path(at)
        try:
            with path.open("rb") as file:
                data = file.read(self.bytes + 1)
        except FileNotFoundError:
            return np.zeros(self.chunks, self.dtype)
        if len(data) != self.bytes:
            raise ValueError(f"{path}: found {len(data)} bytes, expected {self.bytes}: was it cut off?")
        return np.asarray(np.frombuffer(data, self.dtype).reshape(self.chunks))


def array(folder: Path, most: int) -> NDArray[Any]:
    """Reads an array of Zarr v2 that grows along its first axis. Rows beyond most are left out."""
    meta = _Meta(folder)
    if meta.shape[1:] != meta.chunks[1:]:
        raise ValueError(f"{folder}: found chunks of {meta.chunks}, expected whole rows")
    rows = min(meta.shape[0], most + 1)
    if rows * meta.bytes / meta.chunks[0] > MOST_BYTES:
        raise ValueError(f"{folder}: found {rows} rows of {meta.bytes / meta.chunks[0]:.0f} bytes, at most {MOST_BYTES} bytes expected")
    zeros = (0,) * (len(meta.shape) - 1)
    parts = [meta.chunk((k, *zeros)) for k in range(-(-rows // meta.chunks[0]))]
    return np.asarray(np.concatenate(parts or [np.zeros(meta.chunks, meta.dtype)])[:rows])


def _shape(folder: Path, found: Any) -> Shape:
    if not isinstance(found, list) or not 1 <= len(found) <= 8 or not all(type(n) is int and 0 <= n < 1 << 40 for n in found):
        raise ValueError(f"{folder}: found the shape {found!r:.80}, expected whole numbers")
    return tuple(found)

"""Tables and films of Driftscope as layers: the reader of the napari plug-in. This module imports no viewer.

A layer is (data, options, type), as napari's readers return it.
"""

from __future__ import annotations

import csv
import math
import re
import warnings
from pathlib import Path
from typing import Any, Callable, Iterator, Sequence
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from .decoding import Unreadable, decode
from .films import Film, array, document, is_film, open_film
from .messages import KINDS, Latent, Law, Objects, Track
from .window import LAST_FRAME, UNKNOWN, Columns, Window

MOST_ROWS = 4_000_000  # as many as Driftscope writes into a TrackMate file
MOST_COLUMNS = 256
PEEK = 4096  # bytes that tell what a file is
LONGEST_LINE = 1 << 24  # characters of JSON Lines: those have pictures

Layer = tuple[Any, dict[str, Any], str]
Paths = str | Sequence[str]


def get_reader(path: Paths) -> Callable[[Paths], list[Layer]] | None:
    """Returns what reads a path, or None if it is no table and no film of Driftscope: then napari asks the next plug-in."""
    paths = [path] if isinstance(path, str) else list(path)
    if paths and all(_kind(Path(one)) for one in paths):
        return read
    return None


def read(path: Paths) -> list[Layer]:
    """Returns the layers of one path or of several. Raises ValueError with the file, what was found, what was expected, and what to do."""
    layers: list[Layer] = []
    for one in [path] if isinstance(path, str) else path:
        kind = _kind(Path(one))
        if kind is None:
            raise ValueError(f"{one}: expected a table or a film of Driftscope: .csv with frame, x and y, .parquet, .jsonl, .xml, .geff, or a recording")
        found = kind(Path(one))
        layers += _film(Path(one).name, found) if isinstance(found, Film) else _tracks(one, found)
    return layers


def _kind(path: Path) -> Callable[[Path], Columns | Film] | None:
    """Returns what reads a file, by its ending and its beginning."""
    try:
        if path.is_dir():
            if is_film(path):
                return open_film
            return _geff if path.suffix.lower() == ".geff" and "geff" in document(path / ".zattrs") else None
        with path.open("rb") as file:
            start = file.read(PEEK)
    except (OSError, ValueError):
        return None
    ending = path.suffix.lower()
    if ending == ".csv":
        return _csv if _places(start.decode("utf-8", "replace").partition("\n")[0].strip().split(",")) else None
    if ending == ".parquet":
        return _parquet if start.startswith(b"PAR1") else None
    if ending == ".jsonl":
        return _jsonl if start.startswith(b'{"v":1,') else None
    return _trackmate if ending == ".xml" and b"<TrackMate" in start else None


def _places(header: Sequence[str]) -> dict[str, str] | None:
    """Returns the columns of number, frame, x and y: those of the table objects, or of latent."""
    for number, frame, x, y in (("particle", "frame", "x", "y"), ("trajectory", "seq", "centroid_px_0", "centroid_px_1")):
        if {frame, x, y} <= set(header):
            return {"particle": number, "frame": frame, "x": x, "y": y}
    return None


def _tracks(path: str, columns: Columns) -> list[Layer]:
    """Returns a table as tracks and points. What a layer cannot hold is left out, and said."""
    names = _places(list(columns))
    if names is None:
        raise ValueError(f"{path}: found the columns {', '.join(list(columns)[:10])}, expected frame, x and y: open the table objects")
    rows = len(columns[names["x"]])
    if rows > MOST_ROWS:
        _warn(path, f"{rows - MOST_ROWS} or more rows after the first {MOST_ROWS} are left out")
    columns = {name: column[:MOST_ROWS] for name, column in columns.items()}
    frame, x, y = (columns[names[name]] for name in ("frame", "x", "y"))
    number = columns.get(names["particle"], np.zeros(len(x)))
    usable = np.isfinite(x) & np.isfinite(y) & (frame >= 0) & (frame < LAST_FRAME) & (number >= 0)
    if left := len(usable) - int(usable.sum()):
        _warn(path, f"{left} of {len(usable)} rows have no number, frame or finite coordinates, and are left out")
    if not usable.any():
        raise ValueError(f"{path}: found no row that can be drawn, expected a table with rows: was the run too short to find an object?")
    number, frame = number[usable], frame[usable]
    features = {"particle": number}
    for name, column in columns.items():
        if name not in names.values() and name not in features:
            features[name] = np.where(np.isfinite(column[usable]), column[usable], UNKNOWN)
    # napari allocates memory for each number up to the largest, so the tracks are numbered from 0.
    slots = np.unique(number, return_inverse=True)[1]
    data = np.column_stack([slots, frame, y[usable], x[usable]])
    name = Path(path).name
    return [
        (data, {"name": f"{name} tracks", "features": features, "tail_length": 100}, "tracks"),
        (data[:, 1:], {"name": f"{name} objects", "features": features, "size": 6, "opacity": 0.5}, "points"),
    ]


def _film(name: str, film: Film) -> list[Layer]:
    first = np.asarray(film[0])
    low, high = np.quantile(first, [0.005, 0.998])
    options = {"name": name, "contrast_limits": (float(low), float(max(high, low + 1))), "translate": (film.first, 0, 0), "rgb": first.ndim == 3}
    return [(film, options, "image")]


def _warn(path: object, what: str) -> None:
    warnings.warn(f"{path}: {what}", stacklevel=2)  # napari shows it


def _numbers(cells: Sequence[str]) -> NDArray[np.float64] | None:
    """Returns a column of numbers, or None if it is text. Empty is NaN."""
    words = {"": math.nan, "null": math.nan, "true": 1.0, "false": 0.0}
    try:
        return np.array([words[cell] if cell in words else float(cell) for cell in cells])
    except ValueError:
        return None


def _csv(path: Path) -> Columns:
    with path.open(newline="", encoding="utf-8", errors="replace") as file:
        lines = csv.reader(file)
        header: list[str] = []
        cells: list[list[Any]] = []
        text: set[int] = set()
        part: list[list[str]] = []

        def convert() -> None:
            for k in set(range(len(header))) - text:
                numbers = _numbers([line[k] if k < len(line) else "" for line in part])
                if numbers is None:
                    text.add(k)
                else:
                    cells[k].append(numbers)
            part.clear()

        try:
            header = next(lines)[:MOST_COLUMNS]
            cells = [[] for _ in header]
            for n, line in enumerate(lines):
                if n > MOST_ROWS:
                    break
                part.append(line)
                if len(part) == 1 << 16:
                    convert()
        except csv.Error as error:
            raise ValueError(f"{path}: line {lines.line_num}: {error}") from error
        convert()
    return {name: np.concatenate(cells[k]) for k, name in enumerate(header) if k not in text}


def _parquet(path: Path) -> Columns:
    try:
        import pandas
    except ImportError as error:
        raise ImportError(f"{path}: a Parquet table takes pandas and pyarrow: pip install pandas pyarrow") from error
    try:
        table = pandas.read_parquet(path)
    except ImportError as error:
        raise ImportError(f"{path}: a Parquet table takes pyarrow: pip install pyarrow ({error})") from error
    return {str(name): np.asarray(table[name], np.float64) for name in list(table)[:MOST_COLUMNS] if table[name].dtype.kind in "biuf"}


def _jsonl(path: Path) -> Columns:
    """Reads the messages of a run, by the same code as live ones."""
    window, left = Window(LAST_FRAME, MOST_ROWS), 0
    kinds = {kind: KINDS[kind] for kind in ("objects", "latent", "sde", "track")}
    for line in _lines(path):
        if not line.startswith(tuple(f'{{"v":1,"kind":"{kind}"' for kind in kinds)):
            continue  # events, health, pictures
        try:
            message = decode(kinds, line)
        except Unreadable:  # a kill may tear the last line
            left += 1
            continue
        if isinstance(message, (Objects, Latent)):
            window.add(message)
        elif isinstance(message, Track):
            window.judge(message)
        elif isinstance(message, Law):
            window.see(message)
    for count, what in (
        (left, "lines are unreadable"),
        (window.cut, "frames are left out: the file has too many places"),
        (window.left_out, "places are left out: a frame had too many"),
        (window.unusable, "places have no number, frame or finite coordinates"),
        (window.restarts, "times the run began again: only its last part is shown"),
    ):
        if count:
            _warn(path, f"{count} {what}")
    shown = window.shown()
    return {"frame": shown.rows[:, 1], "y": shown.rows[:, 2], "x": shown.rows[:, 3], **shown.features}


def _lines(path: Path) -> Iterator[str]:
    with path.open(encoding="utf-8", errors="replace") as file:
        while line := file.readline(LONGEST_LINE):
            yield line


def _geff(path: Path) -> Columns:
    """Reads a graph that Driftscope wrote: docs/howto/recordings-out.md."""
    meta = document(path / ".zattrs")["geff"]
    if not isinstance(meta, dict) or not all(isinstance(meta.get(key, {}), dict) for key in ("track_node_props", "node_props_metadata")):
        raise ValueError(f"{path}/.zattrs: found {meta!r:.80}, expected the metadata of a GEFF")
    tracklet = meta.get("track_node_props", {}).get("tracklet")
    if not isinstance(tracklet, str):
        raise ValueError(f"{path}: found a graph without tracklets, expected one of driftscope run --out tracks.geff: napari-geff opens others")
    columns: Columns = {}
    ids = array(path / "nodes/ids", MOST_ROWS)
    for name in list(meta.get("node_props_metadata", {}))[:MOST_COLUMNS]:
        if re.fullmatch(r"\w{1,64}", name) and (path / "nodes/props" / name).is_dir():
            values = _property(path / "nodes/props" / name, len(ids))
            if values.ndim == 1:
                columns[{"t": "frame", tracklet: "particle"}.get(name, name)] = values
    if (path / "edges/props/p_link").is_dir() and len(ids):
        ends = array(path / "edges/ids", MOST_ROWS)
        if ends.shape[1:] != (2,):
            raise ValueError(f"{path}/edges/ids: found the shape {ends.shape}, expected pairs of nodes")
        link = _property(path / "edges/props/p_link", len(ends))
        order = np.argsort(ids)
        at = np.searchsorted(ids[order], ends[:, 1]).clip(0, len(ids) - 1)
        known = ids[order][at] == ends[:, 1]
        columns["p_link"] = np.full(len(ids), math.nan)
        columns["p_link"][order[at[known]]] = link[known]
    laws = path / "tracks/props"
    if "particle" in columns and (laws / "particle").is_dir():
        numbers = array(laws / "particle/values", MOST_ROWS)
        order = np.argsort(numbers)
        at = np.searchsorted(numbers[order], columns["particle"]).clip(0, max(0, len(numbers) - 1))
        for name in ("diffusion_low", "diffusion_high"):
            if len(numbers):
                columns[name] = np.where(numbers[order][at] == columns["particle"], _property(laws / name, len(numbers))[order][at], math.nan)
    return columns


def _property(path: Path, rows: int) -> NDArray[np.float64]:
    values = array(path / "values", MOST_ROWS).astype(np.float64)
    missing = array(path / "missing", MOST_ROWS).astype(bool) if (path / "missing").is_dir() else np.zeros(rows, bool)
    if len(values) != rows or missing.shape != (rows,):
        raise ValueError(f"{path}: found {len(values)} values and {len(missing)} flags, expected {rows}: was the writer stopped?")
    values[missing] = math.nan
    return values


def _trackmate(path: Path) -> Columns:
    """Reads spots and tracks of TrackMate's XML. A spot without a track is a track of its own."""
    spots: list[tuple[float, ...]] = []
    index: dict[str, int] = {}
    track_of: dict[str, int] = {}
    laws: dict[int, tuple[float, ...]] = {}
    link: dict[str, float] = {}
    pixel, track, left = 1.0, 0, 0

    def number(element: ElementTree.Element, name: str) -> float:
        try:
            return float(element.get(name, "nan"))
        except ValueError:
            return math.nan

    try:
        for event, element in ElementTree.iterparse(path, ("start", "end")):
            if event == "start" and element.tag == "Track":
                track += 1
                laws[track] = tuple(number(element, name) for name in ("DIFFUSION", "DIFFUSION_LOW", "DIFFUSION_HIGH"))
            elif event == "start" and element.tag == "Edge":
                source, target = element.get("SPOT_SOURCE_ID", ""), element.get("SPOT_TARGET_ID", "")
                if len(link) >= MOST_ROWS:
                    left += 1
                else:
                    track_of[source] = track_of[target] = track
                    link[target] = 1 - number(element, "LINK_COST")
            elif event == "start" and element.tag == "Spot":
                if len(spots) >= MOST_ROWS:
                    left += 1
                else:
                    index[element.get("ID", "")] = len(spots)
                    spots.append(tuple(number(element, name) for name in ("FRAME", "POSITION_X", "POSITION_Y", "PLACE_SD", "QUALITY", "DETECTED")))
            elif event == "start" and element.tag == "ImageData":
                pixel = number(element, "pixelwidth")
            elif event == "end":
                element.clear()
    except ElementTree.ParseError as error:
        raise ValueError(f"{path}: found {error}, expected TrackMate's XML: was it cut off?") from error
    if left:
        _warn(path, f"{left} spots and edges after the first {MOST_ROWS} are left out")
    if not spots or not pixel > 0:
        raise ValueError(f"{path}: found {len(spots)} spots and a pixel of {pixel}, expected spots, and the size of a pixel in ImageData")
    table = np.array(spots)
    columns = dict(zip(("frame", "x", "y", "sd_px", "quality", "detected"), table.T))
    for name in ("x", "y", "sd_px"):
        columns[name] = columns[name] / pixel
    alone = iter(range(track + 1, track + 1 + len(spots)))
    columns["particle"] = np.array([track_of[key] if key in track_of else next(alone) for key in index], float)
    columns["p_link"] = np.array([link.get(key, math.nan) for key in index])
    law = np.array([laws.get(int(k), (math.nan,) * 3) for k in columns["particle"]]) / pixel**2
    return columns | dict(zip(("diffusion_px2_s", "diffusion_low_px2_s", "diffusion_high_px2_s"), law.T))

"""Tables and films as layers that napari takes (viewers.py). tables.py reads those that the real program wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import samples
from viewers import Viewer

from driftscope import films, reading
from driftscope.reading import get_reader, read
from driftscope.window import UNKNOWN


def tracks(path: Path) -> dict[str, np.ndarray]:
    """Opens a table as napari does. Returns its rows by column."""
    reader = get_reader(str(path))
    assert reader
    viewer = Viewer()
    layers = [viewer.add(layer) for layer in reader(str(path))]
    assert [type(layer).__name__ for layer in layers] == ["Tracks", "Points"]
    rows = layers[0].data
    for name in layers[0].features:
        layers[0].color_by = name  # napari can colour by each
    return {"slot": rows[:, 0], "frame": rows[:, 1], "y": rows[:, 2], "x": rows[:, 3], **layers[0].features}


CSV = "frame,particle,x,y,sd,diffusion_px2_s,marks,filled,p_link,time\n"


def test_csv(tmp_path: Path) -> None:
    path = tmp_path / "tracks.csv"
    path.write_text(CSV + "3,9000000000,1.5,2.5,0.1,,0,false,,2026-11-27T00:00:00Z\n4,9000000000,1.75,2.75,0.1,0.5,0,true,0.875,2026-11-27T00:00:01Z\n3,2,10,11,,,8,false,,\n")
    found = tracks(path)
    assert found["slot"].tolist() == [0, 1, 1] and found["particle"].tolist() == [2, 9e9, 9e9] and found["frame"].tolist() == [3, 3, 4]
    assert found["x"].tolist() == [10, 1.5, 1.75] and found["p_link"].tolist() == [UNKNOWN, UNKNOWN, 0.875] and found["filled"].tolist() == [0, 0, 1]
    assert "time" not in found, "text is no feature"


def test_csv_of_a_scene(tmp_path: Path) -> None:
    path = tmp_path / "results.latent.CSV"
    path.write_text("seq,time,trajectory,centroid_px_0,centroid_px_1,z_0\n5,,0,1,2,0.25\n6,,0,,,0.5\n7,,1,3,4,0.5\n")
    with pytest.warns(UserWarning, match="1 of 3 rows"):
        found = tracks(path)
    assert found["frame"].tolist() == [5, 7] and found["particle"].tolist() == [0, 1] and found["z_0"].tolist() == [0.25, 0.5]


@pytest.mark.parametrize("rows", ["", "1,1,nan,1,,,,,,\n-1,1,1,1,,,,,,\n1,-5,1,1,,,,,,\n1e300,1,1,1,,,,,,\ninf,1,1,1,,,,,,\n1\n"])
def test_nothing_that_can_be_drawn(tmp_path: Path, rows: str, recwarn: pytest.WarningsRecorder) -> None:
    path = tmp_path / "tracks.csv"
    path.write_text(CSV + rows)
    with pytest.raises(ValueError, match="tracks.csv: found no row that can be drawn"):
        read(str(path))
    assert len(recwarn) == (1 if rows else 0)


def test_too_many_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST_ROWS", 3)
    path = tmp_path / "tracks.csv"
    path.write_text(CSV + "".join(f"{k},1,1,1,,,,,,\n" for k in range(9)))
    with pytest.warns(UserWarning, match="rows after the first 3 are left out"):
        assert len(tracks(path)["frame"]) == 3


@pytest.mark.parametrize(("name", "text"), [
    ("other.csv", "a,b\n1,2\n"), ("empty.csv", ""), ("a.parquet", "no"), ("a.jsonl", "{}\n"), ("a.xml", "<html/>"), ("a.txt", CSV), ("binary.csv", "\0\0\0"),
])  # fmt: skip
def test_not_ours(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    assert get_reader(str(path)) is None
    with pytest.raises(ValueError, match="expected a table or a film of Driftscope"):
        read(str(path))


def test_folders_not_ours(tmp_path: Path) -> None:
    (tmp_path / "a.geff").mkdir()
    assert get_reader(str(tmp_path)) is None and get_reader(str(tmp_path / "a.geff")) is None and get_reader(str(tmp_path / "none.csv")) is None and get_reader([]) is None
    for text in ("no JSON", "[]", "{}", "[" * 100_000):
        (tmp_path / "a.geff/.zattrs").write_text(text)
        assert get_reader(str(tmp_path / "a.geff")) is None


def test_several_files(tmp_path: Path) -> None:
    paths = [str(tmp_path / name) for name in ("a.csv", "b.csv")]
    for path in paths:
        Path(path).write_text(CSV + "1,1,1,1,,,,,,\n")
    reader = get_reader(paths)
    assert reader and len(reader(paths)) == 4
    Path(paths[1]).write_text("a\n")
    assert get_reader(paths) is None


def test_jsonl(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    lines = [
        samples.message("event"), samples.message("objects", whole=False, seq=1, id=[5], x_px=[1.5], y_px=[2.5], marks=[0], diffusion_px2_s=[0.5]),
        samples.message("track", id=5, diffusion_px2_s_low=0.25), samples.message("objects", whole=False, seq=2, id=[5], x_px=[1.75], y_px=[2.75], marks=[0]),
    ]  # fmt: skip
    found = [json.loads(line) for line in lines]
    text = b"\n".join(json.dumps({"v": 1, "kind": one["kind"]} | one, separators=(",", ":")).encode() for one in found)
    path.write_bytes(text + b'\n{"v":1,"kind":"objects","stre')
    with pytest.warns(UserWarning, match="1 lines are unreadable"):
        rows = tracks(path)
    assert rows["frame"].tolist() == [1, 2] and rows["x"].tolist() == [1.5, 1.75] and rows["particle"].tolist() == [5, 5] and rows["diffusion_low_px2_s"].tolist() == [0.25, 0.25]


XML = """<?xml version="1.0"?><TrackMate version="7.11.1"><Model spatialunits="micron" timeunits="sec"><AllSpots nspots="4">
<SpotsInFrame frame="0"><Spot ID="0" name="7" QUALITY="1" POSITION_X="0.5" POSITION_Y="1" FRAME="0" PLACE_SD="0.25" DETECTED="1"/>
<Spot ID="1" name="8" QUALITY="1" POSITION_X="5" POSITION_Y="6" FRAME="0" PLACE_SD="NaN" DETECTED="1"/></SpotsInFrame>
<SpotsInFrame frame="1"><Spot ID="2" name="7" QUALITY="1" POSITION_X="1" POSITION_Y="1.5" FRAME="1" PLACE_SD="0.25" DETECTED="0"/></SpotsInFrame></AllSpots>
<AllTracks><Track name="Track_7" TRACK_ID="0" DIFFUSION="0.5" DIFFUSION_LOW="0.25" DIFFUSION_HIGH="1"><Edge SPOT_SOURCE_ID="0" SPOT_TARGET_ID="2" LINK_COST="0.125"/></Track></AllTracks>
</Model><Settings><ImageData pixelwidth="0.5"/></Settings></TrackMate>"""


def test_trackmate(tmp_path: Path) -> None:
    path = tmp_path / "tracks.xml"
    path.write_text(XML)
    found = tracks(path)
    assert found["particle"].tolist() == [1, 1, 2], "a spot without an edge is a track of its own"
    assert found["frame"].tolist() == [0, 1, 0] and found["x"].tolist() == [1, 2, 10] and found["y"].tolist() == [2, 3, 12], "pixels"
    assert found["p_link"].tolist() == [UNKNOWN, 0.875, UNKNOWN] and found["diffusion_px2_s"].tolist() == [2, 2, UNKNOWN] and found["sd_px"].tolist() == [0.5, 0.5, UNKNOWN]


@pytest.mark.parametrize(("old", "new", "match"), [
    (XML[-60:], "", "was it cut off"), ('pixelwidth="0.5"', 'pixelwidth="no"', "size of a pixel"), ('pixelwidth="0.5"', 'pixelwidth="-1"', "size of a pixel"),
    ("<Spot ", "<Stop ", "found 0 spots"),
])  # fmt: skip
def test_broken_trackmate(tmp_path: Path, old: str, new: str, match: str) -> None:
    path = tmp_path / "tracks.xml"
    path.write_text(XML.replace(old, new))
    with pytest.raises(ValueError, match=match):
        read(str(path))


def test_entities_do_not_grow(tmp_path: Path) -> None:
    path = tmp_path / "tracks.xml"
    bomb = "".join(f'<!ENTITY a{k} "{f"&a{k - 1};" * 10}">' for k in range(1, 12))
    path.write_text(f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a0 "aaaaaaaaaa">{bomb}]><TrackMate><Model>&a11;</Model></TrackMate>')
    with pytest.raises(ValueError, match="tracks.xml: found"):
        read(str(path))


def store(folder: Path, values: Any, chunk: int | None = None, separator: str = ".", **meta: Any) -> None:
    """Writes an array as Driftscope does."""
    values = np.asarray(values)
    rows = chunk or len(values)
    folder.mkdir(parents=True)
    found = {"zarr_format": 2, "shape": values.shape, "chunks": (rows, *values.shape[1:]), "dtype": values.dtype.str, "compressor": None, "filters": None}
    (folder / ".zarray").write_text(json.dumps(found | {"fill_value": 0, "order": "C", "dimension_separator": separator} | meta))
    for k in range(-(-len(values) // rows)):
        part = np.zeros((rows, *values.shape[1:]), values.dtype)
        part[: len(values) - k * rows] = values[k * rows : (k + 1) * rows]
        name = folder / separator.join(["%d" % k] + ["0"] * (values.ndim - 1))
        name.parent.mkdir(parents=True, exist_ok=True)
        name.write_bytes(part.tobytes())


def geff(path: Path) -> Path:
    nodes = {"t": np.array([0, 1, 0], np.uint64), "y": [2.5, 2.75, 9.0], "x": [1.5, 1.75, 8.0], "particle": np.array([7, 7, 3], np.uint64), "diffusion": [0.5, 0.25, 0]}
    store(path / "nodes/ids", np.array([10, 11, 12], np.uint64), chunk=2)
    for name, values in nodes.items():
        store(path / f"nodes/props/{name}/values", values, chunk=2)
    store(path / "nodes/props/diffusion/missing", np.array([False, False, True]), chunk=2)
    store(path / "edges/ids", np.array([[10, 11]], np.uint64))
    store(path / "edges/props/p_link/values", [0.875])
    for name, values in {"particle": np.array([7, 99], np.uint64), "diffusion_low": [0.125, 9], "diffusion_high": [1.0, 9]}.items():
        store(path / f"tracks/props/{name}/values", values)
    meta = {"geff_version": "1.2.0", "track_node_props": {"tracklet": "particle"}, "node_props_metadata": {name: {} for name in [*nodes, "../../secret"]}}
    (path / ".zattrs").write_text(json.dumps({"geff": meta}))
    return path


def test_geff(tmp_path: Path) -> None:
    found = tracks(geff(tmp_path / "tracks.geff"))
    assert found["particle"].tolist() == [3, 7, 7] and found["frame"].tolist() == [0, 0, 1] and found["x"].tolist() == [8, 1.5, 1.75]
    assert found["p_link"].tolist() == [UNKNOWN, UNKNOWN, 0.875] and found["diffusion"].tolist() == [UNKNOWN, 0.5, 0.25]
    assert found["diffusion_low"].tolist() == [UNKNOWN, 0.125, 0.125] and found["diffusion_high"].tolist() == [UNKNOWN, 1, 1]


@pytest.mark.parametrize(("meta", "match"), [
    ({"compressor": {"id": "blosc"}}, "found compressor"), ({"zarr_format": 3}, "found zarr_format"), ({"shape": [1 << 39]}, "at most"), ({"shape": "no"}, "whole numbers"),
    ({"chunks": [0]}, "expected chunks"), ({"chunks": [1 << 39]}, "expected chunks"), ({"dtype": "|O"}, "expected chunks"), ({"dtype": "no"}, "expected chunks"),
    ({"dimension_separator": "/../"}, "expected chunks"), ({"shape": [2]}, "was the writer stopped"),
])  # fmt: skip
def test_broken_geff(tmp_path: Path, meta: dict[str, Any], match: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(films, "MOST_BYTES", 1 << 20)
    path = geff(tmp_path / "tracks.geff")
    array = path / "nodes/props/x/values/.zarray"
    array.write_text(json.dumps(json.loads(array.read_text()) | meta))
    with pytest.raises(ValueError, match=match):
        read(str(path))


@pytest.mark.parametrize("meta", [[], {"track_node_props": []}, {"track_node_props": {"tracklet": "particle"}, "node_props_metadata": 3}])
def test_geff_with_other_metadata(tmp_path: Path, meta: Any) -> None:
    path = geff(tmp_path / "tracks.geff")
    (path / ".zattrs").write_text(json.dumps({"geff": meta}))
    with pytest.raises(ValueError, match="expected the metadata of a GEFF"):
        read(str(path))


def test_long_cells_and_other_letters(tmp_path: Path) -> None:
    path = tmp_path / "tracks.csv"
    path.write_bytes(CSV.encode() + b"1,1,1,1,,,,,,\xff\n")
    assert len(tracks(path)["frame"]) == 1
    path.write_bytes(CSV.encode() + b"1,1,1,1,,,,,," + b"a" * (1 << 18) + b"\n")
    with pytest.raises(ValueError, match="tracks.csv: line 2: field larger"):
        read(str(path))


def test_geff_without_tracklets(tmp_path: Path) -> None:
    path = geff(tmp_path / "tracks.geff")
    (path / ".zattrs").write_text(json.dumps({"geff": {"geff_version": "1.2.0"}}))
    with pytest.raises(ValueError, match="napari-geff opens others"):
        read(str(path))


def recording(path: Path, seqs: list[int], file: str = "0") -> None:
    path.mkdir()
    rows = [f"{file},{k + 1},{seq},{seq * 1000},0,0" for k, seq in enumerate(seqs)]
    (path / "recording.csv").write_text("\n".join(["file,page,seq,time_ns,trajectory,dropped", *rows]) + "\n" + f"{file},{len(seqs)}")  # a torn last line


def zarr(path: Path, seqs: list[int], colours: int = 1) -> np.ndarray:
    recording(path, seqs)
    frames = np.random.default_rng(1).integers(0, 1000, (len(seqs), colours, 1, 6, 8)).astype("<u2")
    store(path / "0", frames, chunk=1, separator="/")
    (path / ".zgroup").write_text('{"zarr_format": 2}')
    return frames


@pytest.mark.parametrize("colours", [1, 3])
def test_film_in_zarr(tmp_path: Path, colours: int) -> None:
    frames = zarr(tmp_path / "run.zarr", [5, 6, 8], colours)
    with pytest.warns(UserWarning, match="1 frames are missing, and are black"):
        (layer,) = read(str(tmp_path / "run.zarr"))
    image = Viewer().add(layer)
    film, options, _ = layer
    assert film.shape == ((4, 6, 8) if colours == 1 else (4, 6, 8, 3)) and film.dtype == np.uint16 and options["translate"] == (5, 0, 0) and image.rgb == (colours == 3)
    picture = frames[0, 0, 0] if colours == 1 else np.moveaxis(frames[0, :, 0], 0, -1)
    assert (film[0] == picture).all() and (film[-4, 1:3] == picture[1:3]).all() and (film[(0, slice(2), 3)] == picture[:2, 3]).all()
    assert not film[2].any() and film[1:3].shape == (2, *film.shape[1:]) and np.asarray(film).shape == film.shape and film[..., 0].shape == film.shape[:-1]
    with pytest.raises(IndexError):
        film[4]
    (tmp_path / "run.zarr/0/1/0/0/0/0").write_bytes(b"short")
    with pytest.raises(ValueError, match="was it cut off"):
        film[1]
    (tmp_path / "run.zarr/0/1/0/0/0/0").unlink()
    with pytest.raises(ValueError, match="expected frame 6"):
        film[1]


def test_film_in_tiffs(tmp_path: Path) -> None:
    tifffile = pytest.importorskip("tifffile")
    recording(tmp_path / "run", [0, 1], "frames-0001.tif")
    frames = np.arange(2 * 6 * 8, dtype=np.uint16).reshape(2, 6, 8)
    tifffile.imwrite(tmp_path / "run/frames-0001.tif", frames, photometric="minisblack")
    (layer,) = read(str(tmp_path / "run"))
    Viewer().add(layer)
    assert (np.asarray(layer[0]) == frames).all()
    recording(tmp_path / "bad", [0, 1], "../run/frames-0001.tif")
    with pytest.raises(ValueError, match="expected one such as frames-0001.tif"):
        read(str(tmp_path / "bad"))


def test_films_of_few_frames(tmp_path: Path) -> None:
    zarr(tmp_path / "a.zarr", [0, 1 << 40])
    with pytest.warns(UserWarning, match="one after the other"):
        (layer,) = read(str(tmp_path / "a.zarr"))
    assert layer[0].shape == (2, 6, 8)
    recording(tmp_path / "b.zarr", [3, 3])
    with pytest.raises(ValueError, match="expected rising numbers"):
        read(str(tmp_path / "b.zarr"))
    (tmp_path / "d").mkdir()
    (tmp_path / "d/recording.csv").write_text("time,place\n1,2\n")  # another program's
    assert get_reader(str(tmp_path / "d")) is None
    (tmp_path / "d/recording.csv").write_text("file,page,seq,time_ns,trajectory,dropped\nframes-0001.tif,0,1,0,0,0\n")
    with pytest.raises(ValueError, match="pages from 1"):
        read(str(tmp_path / "d"))
    recording(tmp_path / "c.zarr", [])
    with pytest.raises(ValueError, match="found no frame"):
        read(str(tmp_path / "c.zarr"))


def test_parquet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Through pyarrow where it is there, else from the table that pandas would return."""
    path = tmp_path / "results-00001.objects.parquet"
    path.write_bytes(b"PAR1 and no more")
    assert get_reader(str(path)) is read
    with pytest.raises((ImportError, ValueError)):
        read(str(path))
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"frame": [1, 2], "particle": [7, 7], "x": [1.5, 2], "y": [2.5, 3], "p_link": [None, 0.5], "located": [True, False], "text": ["a", "b"]})
    try:
        table.to_parquet(path)
    except ImportError:
        monkeypatch.setattr(pandas, "read_parquet", lambda _: table)
    found = tracks(path)
    assert found["frame"].tolist() == [1, 2] and found["p_link"].tolist() == [UNKNOWN, 0.5] and found["located"].tolist() == [1, 0] and "text" not in found

"""The tables and the recording of one film by the real program, as napari's layers: run by cmd/driftscope/clients_test.go with their folder.

Prints as JSON what each has, and how far it is from the table in csv.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
from viewers import Viewer

from driftscope.reading import read


def main(folder: Path) -> None:
    rows, links, said = {}, {}, {}
    for name in ("tracks.csv", "tracks.geff", "tracks.xml", "tracks.jsonl"):
        viewer = Viewer()
        table, points = [viewer.add(layer) for layer in read(str(folder / name))]
        data, features = table.data, table.features
        order = np.lexsort((data[:, 2], data[:, 1]))
        # The first place of each object says which tracks are the same: their numbers differ from format to format.
        first = {slot: data[data[:, 0] == slot][0, 1:] for slot in np.unique(data[:, 0])}
        rows[name] = np.column_stack([data[order, 1:], [first[slot] for slot in data[order, 0]]])
        links[name] = features["p_link"][order]
        said[name] = {"rows": len(data), "points": len(points.data), "tracks": len(first), "links": int((features["p_link"] >= 0).sum())}
    (film,) = [Viewer().add(layer) for layer in read(str(folder / "film.zarr"))]
    places, chances = rows["tracks.csv"], links["tracks.csv"]
    off = {name: float(np.abs(found - places).max()) for name, found in rows.items() if found.shape == places.shape}
    off_links = {name: float(np.abs(found - chances)[(found >= 0) & (chances >= 0)].max()) for name, found in links.items() if found.shape == chances.shape}
    print(json.dumps({"tables": said, "off": off, "off_links": off_links, "frames": len(film.data), "lit": float(np.mean(np.asarray(film.data[0]) > 0))}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))

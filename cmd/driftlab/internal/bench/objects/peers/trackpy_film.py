"""trackpy on a film: located once, linked with every setting of a grid.

python3 trackpy_film.py FILM SIDE BRIGHTEST PREDICT LINKS

FILM: SIDE x SIDE pictures of little-endian 16-bit counts, one after another. Features are 7 px wide and brighter than BRIGHTEST per
cent of the pixels. The grid: features of the least mass are left out, by percentiles of the film's; reaches in px; where PREDICT is 1,
each also with the velocity of the nearest feature. A feature may be away for one frame; tracks of fewer than 3 places are dropped.
LINKS: one JSON object a setting and line, with its tracks as lists of [frame, x, y] in px. A setting that trackpy refuses is left out.
Prints one JSON object: trackpy's version and the milliseconds that locating a frame takes, alone.
"""
import json
import logging
import sys
import time
import warnings

import numpy as np
import pandas as pd
import trackpy

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)

SIDE, BRIGHTEST, PREDICT = int(sys.argv[2]), float(sys.argv[3]), sys.argv[4] == "1"
WIDTH, MEMORY, FEWEST = 7, 1, 3
PERCENTILES, REACHES = (0, 20, 40, 60, 75, 85, 92), (4, 6, 8)


def locate(picture):
    return trackpy.locate(picture, WIDTH, percentile=BRIGHTEST, minmass=0)


def link(features, reach, predict):
    linker = trackpy.predict.NearestVelocityPredict().link_df if predict else trackpy.link
    return linker(features, reach, memory=MEMORY)


def tracks(linked):
    rows = linked.sort_values(["particle", "frame"])
    ends = np.flatnonzero(np.diff(rows["particle"])) + 1
    places = rows[["frame", "x", "y"]].to_numpy().round(3)
    return [track.tolist() for track in np.split(places, ends) if len(track) >= FEWEST]


def main():
    film = np.fromfile(sys.argv[1], dtype="<u2").reshape(-1, SIDE, SIDE)
    locate(film[0])  # compiles
    begun = time.perf_counter()
    frames = [locate(picture) for picture in film]
    ms = (time.perf_counter() - begun) / len(film) * 1e3
    for i, features in enumerate(frames):
        features["frame"] = i
    features = pd.concat([f for f in frames if len(f)], ignore_index=True)
    try:
        link(features[features["frame"] < 10].copy(), max(REACHES), False)  # compiles
    except Exception:
        pass
    with open(sys.argv[5], "w") as out:
        for percentile in PERCENTILES:
            some = features[features["mass"] >= np.percentile(features["mass"], percentile)]
            for reach in REACHES:
                for predict in (False, True)[: 1 + PREDICT]:
                    kept = some.copy()
                    begun = time.perf_counter()
                    try:
                        linked = link(kept, reach, predict)
                    except Exception:  # more neighbours than trackpy solves for
                        continue
                    took = (time.perf_counter() - begun) / len(film) * 1e3
                    setting = {"percentile": percentile, "search_range": reach, "predict": predict, "link_ms": took}
                    print(json.dumps({**setting, "tracks": tracks(linked)}), file=out)
    print(json.dumps({"version": trackpy.__version__, "locate_ms": ms}))


main()

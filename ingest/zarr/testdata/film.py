# Writes 100 frames a second of 512x512 pixels of 16 bits with zarr-python, and prints when each was whole: python3 film.py STORE FRAMES
import sys, time
import numpy as np, zarr

store, frames, side = sys.argv[1], int(sys.argv[2]), 512
film = zarr.create(shape=(0, side, side), chunks=(1, side, side), dtype="<u2", store=zarr.NestedDirectoryStore(store), dimension_separator="/")
at = ((np.arange(side * side, dtype=np.int64) * 2654435761 >> 16) & 0xF).astype(np.uint16).reshape(side, side) << 12
begun = time.monotonic()
for n in range(frames):
    time.sleep(max(0, begun + 0.01 * n - time.monotonic()))
    film.resize(n + 1, side, side)
    film[n] = at | ((n + 1) & 0xFFF)
    print(time.time_ns(), flush=True)

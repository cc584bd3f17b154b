"""Live tracks in napari, beside driftscope run sim:vesicle --objects or sim:molecule: pip install 'driftscope[napari]'."""

import sys

import napari

import driftscope
from driftscope.tracks import show

with driftscope.connect() as server:
    viewer = napari.Viewer()
    stop = show(viewer, server.stream(sys.argv[1] if len(sys.argv) > 1 else "vesicle"))
    napari.run()
    stop()

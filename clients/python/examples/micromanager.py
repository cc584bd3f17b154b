"""Micro-Manager's demo camera, or that of your .cfg, for driftscope run nats:camera.bead: pip install 'driftscope[micromanager]'."""

import sys

from pymmcore_plus import CMMCorePlus
from useq import MDASequence

import driftscope
from driftscope.mda import publish_mda

core = CMMCorePlus.instance()
core.loadSystemConfiguration(*sys.argv[1:2])

with driftscope.connect() as server, server.frames("camera.bead") as frames:
    stop = publish_mda(core.mda, frames, only={"c": 0, "z": 0})
    core.run_mda(MDASequence(time_plan={"interval": 0, "loops": 1000})).join()
    stop()
    frames.flush()
    print(f"{frames.sent} frames sent, {frames.lost} lost")

"""A picture of another channel whenever the trigger edge begins: beside driftscope run FILE.yaml, whose triggers have a rule edge."""

import sys

from pymmcore_plus import CMMCorePlus
from useq import MDAEvent

import driftscope
from driftscope import Trigger
from driftscope.mda import TriggerEvents, react

core = CMMCorePlus.instance()
core.loadSystemConfiguration(*sys.argv[1:2])


def picture(trigger: Trigger) -> MDAEvent | None:
    if trigger.name != "edge":
        return None
    print(f"frame {trigger.seq}: {trigger.name} at {trigger.centroid_px}")
    return MDAEvent(channel="DAPI", exposure=20, metadata={"seq": trigger.seq})


with driftscope.connect() as server:
    events: TriggerEvents[MDAEvent] = TriggerEvents(server.stream("molecule"), picture, within=0.5)
    acquisition = react(core, events)
    input("Enter ends\n")
    events.stop()
    acquisition.join()
    print(f"{events.made} pictures, {events.late} triggers were older than 0.5 s, {events.lost} lost")

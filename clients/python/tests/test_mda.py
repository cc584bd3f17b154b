"""Against stand-ins for pymmcore-plus and useq, of the form that their documentation gives."""

from __future__ import annotations

import queue
import sys
import threading
import time
import types
from typing import Any, Callable

import numpy as np
import pytest
import samples
from standins import StandIn

from driftscope.background import Background
from driftscope.client import Stream
from driftscope.frames import Frames
from driftscope.mda import TriggerEvents, publish_camera, publish_mda, snap
from driftscope.messages import Trigger


class Signal:
    def __init__(self) -> None:
        self.slots: list[Callable[..., Any]] = []

    def connect(self, slot: Callable[..., Any]) -> None:
        self.slots.append(slot)

    def disconnect(self, slot: Callable[..., Any]) -> None:
        self.slots.remove(slot)

    def emit(self, *args: Any) -> None:
        for slot in self.slots:
            slot(*args)


class Runner:
    def __init__(self) -> None:
        self.events = types.SimpleNamespace(sequenceStarted=Signal(), frameReady=Signal())

    def frame(self, runner_time_ms: float | None = None, **index: int) -> None:
        meta = {} if runner_time_ms is None else {"runner_time_ms": runner_time_ms}
        self.events.frameReady.emit(np.zeros((2, 2), np.uint8), types.SimpleNamespace(index=index), meta)


def headers(connection: StandIn, name: str) -> list[int]:
    return [int(h["Driftscope-" + name]) for _, _, h in connection.published]


def test_frames_of_an_acquisition(background: Background, connection: StandIn) -> None:
    runner, frames = Runner(), Frames(background, connection, "cam")
    stop = publish_mda(runner, frames, only={"c": 1})
    before = time.time_ns()
    runner.events.sequenceStarted.emit("sequence", {})
    for t in range(3):
        runner.frame(100.0 + 20 * t, t=t, c=0)
        runner.frame(110.0 + 20 * t, t=t, c=1)
    runner.frame(170.0, t=3, c=1, p=1)
    time.sleep(0.1)  # the frames took 60 ms
    second = time.time_ns()
    runner.events.sequenceStarted.emit("sequence")
    runner.frame(5.0, t=0, c=1)
    runner.frame(t=1, c=1)
    stop()
    runner.frame(t=2, c=1)
    frames.close()
    assert headers(connection, "Seq") == [0, 1, 2, 3, 4, 5]
    assert headers(connection, "Trajectory") == [1, 1, 1, 2, 3, 3]
    times = headers(connection, "Time-Ns")
    assert before <= times[0] <= time.time_ns() + 10**9
    assert [t - times[0] for t in times[:4]] == [0, 20_000_000, 40_000_000, 60_000_000], "by the runner's clock"
    assert times == sorted(times) and times[4] >= second, "each sequence's clock begins anew"


class Core:
    """A camera that lost its third picture."""

    def __init__(self, tags: bool) -> None:
        self.left: list[dict[str, str]] = [{"ImageNumber": str(k), "ElapsedTime-ms": str(10.5 * k)} if tags else {} for k in (0, 1, 3)]
        self.looks = 0

    def isSequenceRunning(self) -> bool:
        self.looks += 1
        return self.looks < 6

    def getRemainingImageCount(self) -> int:
        return len(self.left) if self.looks > 2 else 0

    def popNextImageAndMD(self) -> tuple[Any, dict[str, str]]:
        return np.zeros((2, 2), np.uint16), self.left.pop(0)


def test_frames_of_a_camera(background: Background, connection: StandIn) -> None:
    frames = Frames(background, connection, "cam")
    publish_camera(Core(True), frames)
    time.sleep(0.05)  # the pictures took as long
    publish_camera(Core(True), frames)  # the camera counts from 0 again
    time.sleep(0.05)
    publish_camera(Core(False), frames)
    frames.close()
    assert headers(connection, "Seq") == [0, 1, 3, 4, 5, 7, 8, 9, 10]
    times = headers(connection, "Time-Ns")
    assert [t - times[0] for t in times[:3]] == [0, 10_500_000, 31_500_000] and times == sorted(times)


def test_triggers_are_events(background: Background, connection: StandIn) -> None:
    stream = Stream(background, connection, "driftscope.local.bead")
    events = TriggerEvents(stream, lambda trigger: None if trigger.name == "other" else f"{trigger.name} {trigger.seq}")
    taken: queue.Queue[str] = queue.Queue()

    def run_mda() -> None:
        for event in events:
            taken.put(event)
        taken.put("end")

    acquisition = threading.Thread(target=run_mda)
    acquisition.start()
    for seq, name, on in ((1, "edge", True), (2, "edge", False), (3, "other", True), (4, "edge", True)):
        connection.deliver("driftscope.local.bead.trigger", samples.message("trigger", seq=seq, name=name, on=on))
    assert [taken.get(timeout=10) for _ in range(2)] == ["edge 1", "edge 4"]
    events.stop()
    assert taken.get(timeout=10) == "end"
    acquisition.join()


def test_snap_is_an_event_of_useq(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "useq", types.SimpleNamespace(MDAEvent=lambda **fields: fields))
    trigger = Trigger(stream="a", seq=1, time="", name="edge", rule="zone", on=True, value=1.0, threshold=0.0, unit="px", z_filtered=[], latency_ms=1.0)
    assert snap(trigger)["metadata"]["driftscope"]["name"] == "edge"

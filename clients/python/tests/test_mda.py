"""Against stand-ins for pymmcore-plus and useq, by their sources of 2026 (pymmcore_plus/mda/_runner.py, core/_sequencing.py, useq/_mda_event.py)."""

from __future__ import annotations

import logging
import queue
import sys
import threading
import time
import types
from typing import Any, Callable, Iterable, Iterator

import numpy as np
import pytest
import samples
from standins import StandIn

from driftscope.background import Background
from driftscope.client import Stream
from driftscope.frames import Frames
from driftscope.mda import TriggerEvents, publish_camera, publish_mda, react, snap
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


class MDAEvent:
    """useq.MDAEvent: frozen, with these fields and types. useq ignores other fields; here they are refused."""

    FIELDS: dict[str, tuple[type, ...]] = {
        "index": (dict,), "channel": (str,), "exposure": (int, float), "min_start_time": (int, float), "pos_name": (str,), "x_pos": (int, float), "y_pos": (int, float),
        "z_pos": (int, float), "slm_image": (object,), "sequence": (object,), "properties": (list,), "metadata": (dict,), "action": (object,),
        "keep_shutter_open": (bool,), "reset_event_timer": (bool,),
    }  # fmt: skip

    def __init__(self, **fields: Any) -> None:
        for name, value in fields.items():
            assert name in self.FIELDS, f"useq.MDAEvent has no {name}"
            assert isinstance(value, self.FIELDS[name]), f"{name}: found {value!r}"
        assert fields.get("exposure") is None or fields["exposure"] > 0
        object.__setattr__(self, "min_start_time", None)
        self.__dict__.update(fields)

    def __setattr__(self, name: str, value: Any) -> None:
        raise TypeError("frozen")


class Engine:
    """pymmcore_plus.mda.MDAEngine: with hardware sequencing, which is on by default, it has each event wait for the next one."""

    def __init__(self) -> None:
        self.use_hardware_sequencing = True
        self.done: queue.Queue[Any] = queue.Queue()
        self.busy = threading.Event()
        self.busy.set()

    def event_iterator(self, events: Iterable[MDAEvent]) -> Iterator[MDAEvent]:
        if not self.use_hardware_sequencing:
            yield from events
            return
        held: list[MDAEvent] = []
        for event in events:
            if held:
                yield held.pop()
            held.append(event)
        yield from held

    def exec_event(self, event: MDAEvent) -> None:
        self.done.put(event)
        assert self.busy.wait(20)


class CMMCorePlus:
    """CMMCorePlus.run_mda: an iterable of events, in a thread; one at a time."""

    def __init__(self) -> None:
        self.mda: Any = Runner()
        self.mda.engine = Engine()
        self.mda.events.sequenceFinished = Signal()
        self._thread: threading.Thread | None = None

    def run_mda(self, events: Iterable[MDAEvent]) -> threading.Thread:
        if self._thread and self._thread.is_alive():
            raise ValueError("Cannot start an MDA while the previous MDA is still running.")

        def run() -> None:
            self.mda.events.sequenceStarted.emit("sequence", {})
            for event in self.mda.engine.event_iterator(events):
                assert isinstance(event, MDAEvent) and not event.min_start_time  # type: ignore[attr-defined]
                self.mda.engine.exec_event(event)
            self.mda.events.sequenceFinished.emit("sequence")

        self._thread = threading.Thread(target=run)
        self._thread.start()
        return self._thread


@pytest.fixture
def stream(background: Background, connection: StandIn) -> Stream:
    return Stream(background, connection, "driftscope.local.bead")


def begins(connection: StandIn, seq: int, **changes: Any) -> None:
    connection.deliver("driftscope.local.bead.trigger", samples.message("trigger", **{"seq": seq, "name": "edge", "on": True, "latency_ms": 5.0} | changes))


def make(trigger: Trigger) -> MDAEvent | None:
    return None if trigger.name == "other" else MDAEvent(metadata={"seq": trigger.seq})


def numbers(engine: Engine, n: int) -> list[int]:
    return [engine.done.get(timeout=10).metadata["seq"] for _ in range(n)]


def test_triggers_are_events(stream: Stream, connection: StandIn) -> None:
    core, events = CMMCorePlus(), TriggerEvents(stream, make)
    acquisition = react(core, events)
    with pytest.raises(ValueError, match="still running"):
        react(core, events)
    assert not core.mda.engine.use_hardware_sequencing
    begins(connection, 1)
    assert numbers(core.mda.engine, 1) == [1], "at once, though no other trigger comes"
    for seq, changes in ((2, {"on": False}), (3, {"name": "other"}), (4, {})):
        begins(connection, seq, **changes)
    assert numbers(core.mda.engine, 1) == [4]
    events.stop()
    acquisition.join(10)
    assert core.mda.engine.use_hardware_sequencing, "as it was"
    assert (events.made, events.late, events.lost) == (2, 0, 0) and connection.subscriptions == {}
    core.mda.engine.use_hardware_sequencing = False
    core.mda.events.sequenceFinished.emit("another sequence")
    assert not core.mda.engine.use_hardware_sequencing, "later sequences are not touched"


def test_why_sequencing_is_off(stream: Stream, connection: StandIn) -> None:
    """What react prevents: the engine holds an event until the next trigger."""
    core, events = CMMCorePlus(), TriggerEvents(stream, make)
    acquisition = core.run_mda(events)
    begins(connection, 1)
    with pytest.raises(queue.Empty):
        core.mda.engine.done.get(timeout=0.2)
    begins(connection, 2)
    assert numbers(core.mda.engine, 1) == [1]
    events.stop()
    acquisition.join(10)


def test_an_acquisition_that_does_not_begin(stream: Stream) -> None:
    core = CMMCorePlus()
    core.run_mda = lambda events: (_ for _ in ()).throw(RuntimeError("no camera"))  # type: ignore[assignment]
    with pytest.raises(RuntimeError, match="no camera"):
        react(core, TriggerEvents(stream, make))
    assert core.mda.engine.use_hardware_sequencing


def test_late_triggers_are_dropped_and_said(stream: Stream, connection: StandIn, caplog: pytest.LogCaptureFixture) -> None:
    core, events = CMMCorePlus(), TriggerEvents(stream, make, within=0.3)
    engine = core.mda.engine
    acquisition = react(core, events)
    engine.busy.clear()
    begins(connection, 1)
    assert numbers(engine, 1) == [1]
    for seq in (2, 3, 4):  # while the engine is busy
        begins(connection, seq)
    time.sleep(0.4)
    begins(connection, 5)
    begins(connection, 6, latency_ms=400.0)  # late when it was published
    begins(connection, 7, latency_ms=None)
    with caplog.at_level(logging.WARNING, "driftscope"):
        engine.busy.set()
        assert numbers(engine, 2) == [5, 7]
        events.stop()
        acquisition.join(10)
    assert (events.made, events.late, events.lost) == (3, 4, 0)
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == 3 and "trigger edge of frame 2 is 0." in said[0] and "later than 0.3 s: dropped, 1 so far" in said[0], "for 1, 2 and 4 late ones"


def test_late_by_the_clock_of_the_frames(stream: Stream, connection: StandIn) -> None:
    def at(seconds: float) -> str:
        whole, nanoseconds = divmod(time.time_ns() + round(seconds * 1e9), 10**9)
        return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole)) + f".{nanoseconds:09d}Z"

    events = TriggerEvents(stream, make, within=5.0, clock=True)
    for seq, when in ((1, at(-60)), (2, at(0)), (3, "1970-01-01T00:00:00Z"), (4, "no time"), (5, at(-1))):
        begins(connection, seq, time=when)
    found = [next(events), next(events)]
    events.stop()
    assert [event.metadata["seq"] for event in found] == [2, 5] and list(events) == [] and events.late == 3  # type: ignore[attr-defined]


@pytest.mark.parametrize("within", [0, -1.0, float("nan"), float("inf")])
def test_wrong_deadlines(stream: Stream, within: float) -> None:
    with pytest.raises(ValueError, match="expected seconds above 0"):
        TriggerEvents(stream, make, within=within)


def test_snap_is_an_event_of_useq(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "useq", types.SimpleNamespace(MDAEvent=MDAEvent))
    trigger = Trigger(stream="a", seq=1, time="", name="edge", rule="zone", on=True, value=1.0, threshold=0.0, unit="px", z_filtered=[], latency_ms=1.0)
    assert snap(trigger).metadata["driftscope"]["name"] == "edge"

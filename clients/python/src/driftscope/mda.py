"""Micro-Manager, by pymmcore-plus: its frames to a run, a run's triggers to its acquisition engine. Neither pymmcore-plus nor useq is imported before it is used."""

from __future__ import annotations

import dataclasses
import math
import time
from typing import Any, Callable, Generic, Mapping, Protocol, TypeVar

from numpy.typing import NDArray

from .client import Stream
from .connection import log
from .frames import Frames
from .messages import Trigger

E = TypeVar("E")

EMPTY_PAUSE = 0.001  # seconds between looks into an empty buffer


class Signal(Protocol):
    """A signal of psygnal's, or of Qt's."""

    def connect(self, slot: Callable[..., Any], /) -> Any: ...

    def disconnect(self, slot: Callable[..., Any], /) -> Any: ...


class Signals(Protocol):
    """What of pymmcore_plus.mda.PMDASignaler is used."""

    @property
    def sequenceStarted(self) -> Signal: ...

    @property
    def frameReady(self) -> Signal: ...

    @property
    def sequenceFinished(self) -> Signal: ...


class Runner(Protocol):
    """What of pymmcore_plus.mda.MDARunner is used: core.mda."""

    @property
    def events(self) -> Signals: ...

    @property
    def engine(self) -> Any: ...


class Indexed(Protocol):
    """What of useq.MDAEvent is used: where in the sequence it is."""

    @property
    def index(self) -> Mapping[str, int]: ...


class Acquiring(Protocol):
    """What of CMMCorePlus is used for events."""

    @property
    def mda(self) -> Runner: ...

    def run_mda(self, events: Any, /) -> Any: ...


class Core(Protocol):
    """What of CMMCorePlus is used."""

    def isSequenceRunning(self) -> bool: ...

    def getRemainingImageCount(self) -> int: ...

    def popNextImageAndMD(self) -> tuple[NDArray[Any], Mapping[str, Any]]: ...


class _Clock:
    """Times since an unknown beginning, put on the computer's clock by the first of them."""

    def __init__(self) -> None:
        self._zero = self._last = 0
        self._set = False

    def restart(self) -> None:
        self._set = False

    def at(self, ms: float | None) -> int:
        """Nanoseconds since 1970, never less than before; None is now."""
        now = time.time_ns()
        if ms is not None:
            if not self._set:
                self._zero, self._set = now - round(ms * 1e6), True
            now = self._zero + round(ms * 1e6)
        self._last = max(now, self._last)
        return self._last


def publish_mda(runner: Runner, frames: Frames, only: Mapping[str, int] | None = None) -> Callable[[], None]:
    """Publishes each frame of core.mda; what is returned ends that.

    only chooses frames by their index, such as {"c": 0, "z": 0, "p": 2}: a stream is one channel, plane and position. A new sequence and another
    position begin a new trajectory, across which no step is formed.
    """
    clock = _Clock()
    trajectory, place = 0, None

    def started(*_: object) -> None:
        nonlocal place
        place = None
        clock.restart()

    def ready(image: NDArray[Any], event: Indexed, meta: Mapping[str, Any] | None = None) -> None:
        nonlocal trajectory, place
        index = event.index
        if any(index.get(axis, 0) != at for axis, at in (only or {}).items()):
            return
        here = index.get("p", 0), index.get("g", 0)
        if place != here:
            trajectory, place = trajectory + 1, here
        frames.publish(image, time_ns=clock.at((meta or {}).get("runner_time_ms")), trajectory=trajectory)

    signals = runner.events
    signals.sequenceStarted.connect(started)
    signals.frameReady.connect(ready)

    def stop() -> None:
        signals.sequenceStarted.disconnect(started)
        signals.frameReady.disconnect(ready)

    return stop


def publish_camera(core: Core, frames: Frames) -> None:
    """Publishes what core.startContinuousSequenceAcquisition takes, until that ends. Frames have the camera's numbers and times where it has any."""
    clock, first = _Clock(), None
    while core.isSequenceRunning() or core.getRemainingImageCount() > 0:
        if core.getRemainingImageCount() == 0:
            time.sleep(EMPTY_PAUSE)
            continue
        image, tags = core.popNextImageAndMD()
        number = int(tags["ImageNumber"]) if "ImageNumber" in tags else None
        if number is not None:
            first = frames.next - number if first is None else first
            number += first
        elapsed = float(tags["ElapsedTime-ms"]) if "ElapsedTime-ms" in tags else None
        frames.publish(image, seq=number, time_ns=clock.at(elapsed))


class TriggerEvents(Generic[E]):
    """Events for an acquisition engine: the next one comes with the next trigger that begins.

    make says what to do about a trigger: it returns a useq.MDAEvent, or None for nothing. A trigger that is older than within seconds is dropped,
    counted in late and logged; None waits for ever. The age counts from the arrival of the frame in the run: the time there (latency_ms) and the time
    that the trigger waited here, while the engine was busy. clock adds the way in between: with clock=True the age counts from the frame's own time,
    which has to be on this computer's clock, as publish_mda's are. The engine may pause after that check.
    """

    def __init__(self, stream: Stream, make: Callable[[Trigger], E | None], within: float | None = None, clock: bool = False) -> None:
        if within is not None and not 0 < within < math.inf:
            raise ValueError(f"within: found {within}, expected seconds above 0, or None")
        self.made = self.late = 0  # triggers
        self._triggers = stream.results(Trigger)
        self._make, self._within, self._clock = make, within, clock

    @property
    def lost(self) -> int:
        """How many triggers were lost here, because too many waited."""
        return self._triggers.lost

    def __iter__(self) -> TriggerEvents[E]:
        return self

    def __next__(self) -> E:
        for trigger in self._triggers:
            if not trigger.on or self._is_late(trigger):
                continue
            event = self._make(trigger)
            if event is not None:
                self.made += 1
                return event
        raise StopIteration

    def stop(self) -> None:
        """Ends the events. Any thread may."""
        self._triggers.close()

    def _is_late(self, trigger: Trigger) -> bool:
        if self._within is None:
            return False
        age = time.monotonic() - self._triggers.arrived + (trigger.latency_ms / 1000 if math.isfinite(trigger.latency_ms) else 0)
        if self._clock:
            try:
                age = (time.time_ns() - trigger.time_ns) / 1e9
            except ValueError:  # no time: too old, rather than too early
                age = math.inf
        if age <= self._within:
            return False
        self.late += 1
        if self.late & (self.late - 1) == 0:  # 1, 2, 4, ...: no flood
            log.warning("trigger %s of frame %d is %.3f s old, later than %g s: dropped, %d so far", trigger.name, trigger.seq, age, self._within, self.late)
        return True


def react(core: Acquiring, events: TriggerEvents[E]) -> Any:
    """Runs the events in core's engine, each as soon as its trigger comes. Returns what core.run_mda returns; events.stop() ends the acquisition.

    Until then the engine's hardware sequencing is off: with it pymmcore-plus holds each event until it has seen the next one.
    """
    engine, over = core.mda.engine, False
    before = getattr(engine, "use_hardware_sequencing", None)

    def restore(*_: object) -> None:
        nonlocal over
        if not over and before is not None:
            engine.use_hardware_sequencing = before
        over = True  # the signal keeps this function, and later sequences end, too

    if before is not None:
        engine.use_hardware_sequencing = False
    core.mda.events.sequenceFinished.connect(restore)
    try:
        return core.run_mda(events)
    except BaseException:
        restore()
        raise


def snap(trigger: Trigger) -> Any:
    """The plainest make: a useq.MDAEvent that takes a picture as the microscope stands, with the trigger in its metadata."""
    from useq import MDAEvent

    return MDAEvent(metadata={"driftscope": dataclasses.asdict(trigger)})

"""The last frames of a stream as the rows of a Tracks layer. This module imports no viewer."""

from __future__ import annotations

import heapq
import math
from collections import deque
from dataclasses import dataclass
from typing import Any, Sequence

import numpy as np
from numpy.typing import NDArray

from .messages import Latent, Law, Objects, Track

FRAMES, PLACES = 1000, 100_000  # what a window holds at most, unless told otherwise
LAST_FRAME = 1 << 53  # a float holds smaller numbers exactly
PREDICTED, MERGED = 1, 2  # marks of an object that was not located by itself in its frame

UNKNOWN = -1.0  # in a feature: napari cannot colour a Tracks layer by a column that has NaN
CLASSES = ("stuck", "free", "confined", "directed", "anomalous")  # the feature motion is an index into them

OF_PLACE = ("diffusion_px2_s", "p_link", "state", "doubt", "sd_px", "marks", "filled")
OF_OBJECT = ("diffusion_low_px2_s", "diffusion_high_px2_s", "alpha", "motion")  # known when the object ends

Columns = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Shown:
    """Rows of (number in the layer, frame, y, x), ordered by number and frame, and the features of each row."""

    rows: NDArray[np.float64]
    features: Columns


@dataclass(frozen=True)
class _Chunk:
    """The places of one message."""

    frame: int  # of the message
    frames: NDArray[np.int64]  # of each place
    slots: NDArray[np.int64]
    values: NDArray[np.float64]  # y, x, OF_PLACE


class Window:
    """Places of objects by number and frame. It holds the last frames, and the newest places if these are too many.

    In a Tracks layer an object has a slot, a number below PLACES, because napari allocates memory for each number up to the largest. The feature
    particle is the object's own number. A scene has one object, whose number is its trajectory.
    """

    def __init__(self, frames: int = FRAMES, places: int = PLACES) -> None:
        if frames < 1 or places < 1:
            raise ValueError(f"window: found {frames} frames and {places} places, at least 1 expected")
        self.most_frames, self.most_places = frames, places
        self.newest = -1  # the last frame
        self.places = 0  # that the window holds
        self.cut = 0  # frames that left early, because their places were too many
        self.left_out = 0  # places of a message beyond the most
        self.unusable = 0  # places without finite coordinates, a number or a frame
        self.unsent = 0  # entries that the run left out, because the server takes no larger message
        self.restarts = 0  # times that the stream began again: its objects are other ones
        self._d = UNKNOWN  # px²/s, of the object of a scene
        self._field = False
        self._chunks: deque[_Chunk] = deque()
        self._slot_of: dict[int, int] = {}
        self._free: list[int] = []  # slots that were used
        self._fresh = 0  # slots from here on were not
        self._particle = np.zeros(places, np.int64)
        self._count = np.zeros(places, np.int64)  # places of each slot
        self._law = np.zeros((places, len(OF_OBJECT)))

    @property
    def frames(self) -> int:
        """How many frames the window spans."""
        return self.newest - self._chunks[0].frame + 1 if self._chunks else 0

    @property
    def objects(self) -> int:
        """How many objects the window holds."""
        return len(self._slot_of)

    def add(self, message: Objects | Latent) -> None:
        """Adds the places of a message. Earlier places that it tells replace those of the window."""
        if isinstance(message, Objects):
            if not self._field:  # a latent of a field is that of a followed object
                self._field = True
                self._clear()
            self._place(message.seq, *_of_objects(message))
            self.unsent += message.unsent or 0
        elif not self._field:
            centroid = message.centroid_px or []
            one = np.full((min(1, len(centroid) // 2), 2 + len(OF_PLACE)), UNKNOWN)
            if len(one):
                one[0, :3] = centroid[1], centroid[0], self._d
            self._place(message.seq, _whole([message.trajectory] * len(one)), _whole([message.seq] * len(one)), one)

    def see(self, law: Law) -> None:
        """Keeps the law of a scene for the places that follow."""
        d = law.diffusion_px2_s
        self._d = UNKNOWN if d is None or not math.isfinite(d) else d

    def judge(self, track: Track) -> None:
        """Keeps the law of an object that the window holds."""
        slot = self._slot_of.get(track.id)
        if slot is None:
            return
        motion = track.motion
        kind = CLASSES.index(motion.class_) if motion and motion.class_ in CLASSES else UNKNOWN
        law = track.diffusion_px2_s_low, track.diffusion_px2_s_high, motion.alpha if motion else math.nan, kind
        self._law[slot] = [value if math.isfinite(value) else UNKNOWN for value in law]

    def shown(self) -> Shown:
        """Returns the rows of the window, in memory of their own."""
        empty = np.empty(0, np.int64)
        chunks = list(self._chunks)
        frames = np.concatenate([chunk.frames for chunk in chunks] or [empty])
        slots = np.concatenate([chunk.slots for chunk in chunks] or [empty])
        values = np.concatenate([chunk.values for chunk in chunks] or [np.empty((0, 2 + len(OF_PLACE)))])
        order = np.lexsort((frames, slots))  # stable: of two places of an object in a frame the later message is the second
        order = order[frames[order] > self.newest - self.most_frames]
        frames, slots, values = frames[order], slots[order], values[order]
        last = np.ones(len(slots), bool)
        last[:-1] = (np.diff(slots) != 0) | (np.diff(frames) != 0)
        frames, slots, values = frames[last], slots[last], values[last]
        features: Columns = {"particle": self._particle[slots]}
        features |= {name: values[:, 2 + k] for k, name in enumerate(OF_PLACE)}
        features |= {name: self._law[slots, k] for k, name in enumerate(OF_OBJECT)}
        return Shown(np.column_stack([slots, frames, values[:, :2]]).astype(np.float64), features)

    def _place(self, seq: int, numbers: NDArray[np.int64], frames: NDArray[np.int64], values: NDArray[np.float64]) -> None:
        """Adds places, after the frames that they push out have left."""
        if not 0 <= seq < LAST_FRAME:
            self.unusable += len(numbers)
            return
        if seq < self.newest:
            self.restarts += 1
            self._clear()
        self.newest = seq
        usable = (numbers >= 0) & (frames >= 0) & (frames <= seq) & np.isfinite(values[:, :2]).all(axis=1)
        self.unusable += len(numbers) - int(usable.sum())
        recent = usable & (frames > seq - self.most_frames)
        at = np.flatnonzero(recent)[: self.most_places]
        self.left_out += int(recent.sum()) - len(at)
        while self._chunks and self._chunks[0].frame <= seq - self.most_frames:
            self._drop()
        while self._chunks and self.places + len(at) > self.most_places:
            self._drop()
            self.cut += 1
        values = values[at]
        values[~np.isfinite(values)] = UNKNOWN
        slots = np.array([self._slot(number) for number in numbers[at].tolist()], np.int64)
        np.add.at(self._count, slots, 1)
        self.places += len(at)
        if len(at) or not self._chunks or self._chunks[-1].frame != seq:  # of one frame any number of empty messages may come
            self._chunks.append(_Chunk(seq, frames[at], slots, values))

    def _slot(self, number: int) -> int:
        slot = self._slot_of.get(number)
        if slot is None:
            if self._free:
                slot = heapq.heappop(self._free)
            else:
                slot = self._fresh
                self._fresh += 1
            self._slot_of[number] = slot
            self._particle[slot] = number
            self._law[slot] = UNKNOWN
        return slot

    def _drop(self) -> None:
        """Drops the oldest message's places, and the slots that nothing uses any more."""
        slots = self._chunks.popleft().slots
        self.places -= len(slots)
        np.subtract.at(self._count, slots, 1)
        for slot in np.unique(slots[self._count[slots] == 0]).tolist():
            del self._slot_of[int(self._particle[slot])]
            heapq.heappush(self._free, slot)

    def _clear(self) -> None:
        while self._chunks:
            self._drop()
        self.newest = -1


def _of_objects(message: Objects) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Numbers, frames, and y, x and OF_PLACE of what a message knows; a column that is too short has UNKNOWN."""
    n = max(len(message.id), len(message.x_px), len(message.y_px))
    number, marks = _column(_whole(message.id), n), _column(_whole(message.marks), n)
    states = [_column(column, n) for column in message.state or []]
    likeliest: NDArray[Any] = np.full(n, UNKNOWN)
    if states:
        chances = np.where(np.isfinite(states), states, UNKNOWN)
        likeliest = np.where(chances.max(axis=0) > 0, chances.argmax(axis=0), UNKNOWN)
    columns: list[Sequence[float] | NDArray[Any]] = [message.y_px, message.x_px]
    columns += [message.diffusion_px2_s, message.p_link or [], likeliest, message.doubt, message.sd_px, marks, np.zeros(n)]  # OF_PLACE
    values = np.column_stack([_column(column, n) for column in columns])
    here = (marks < 0) | (marks.astype(np.int64) & (PREDICTED | MERGED) == 0)
    number, values = number[here], values[here]
    frames = np.full(len(number), message.seq if 0 <= message.seq < LAST_FRAME else -1)
    if message.earlier:
        e = message.earlier
        m = max(len(e.id), len(e.seq), len(e.x_px), len(e.y_px))
        more = np.full((m, 2 + len(OF_PLACE)), UNKNOWN)
        for at, name in ((0, "y_px"), (1, "x_px"), (6, "sd_px"), (8, "filled")):
            more[:, at] = _column(getattr(e, name), m)
        number, frames = np.append(_column(_whole(e.id), m), number), np.append(_column(_whole(e.seq), m), frames)
        values = np.concatenate([more, values])
    return number.astype(np.int64), frames.astype(np.int64), values


def _whole(values: Sequence[int]) -> NDArray[np.int64]:
    """Whole numbers; what no int64 holds is -1."""
    try:
        return np.array(values, np.int64)
    except OverflowError:
        return np.array([value if 0 <= value < 1 << 63 else -1 for value in values], np.int64)


def _column(values: Sequence[float] | NDArray[Any], n: int) -> NDArray[Any]:
    """A column of n values. What is missing is -1 in a column of whole numbers, else NaN."""
    found = np.asarray(values)
    if len(found) == n and n > 0:
        return found
    column: NDArray[Any] = np.full(n, -1 if found.dtype == np.int64 else math.nan, found.dtype if found.dtype == np.int64 else np.float64)
    column[: len(found)] = found[:n]
    return column

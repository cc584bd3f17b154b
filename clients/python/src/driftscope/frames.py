"""Frames on their way to a run: docs/reference/frames.md has the form of a message."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .background import Background
from .connection import Away, Connection, log

MAX_SIDE = 16384  # pixels
MAX_BYTES = 64 << 20  # of a frame's pixels
MAX_CHUNKS = 4096  # messages of a frame
HEADER_ROOM = 1 << 10  # kept free in every message for its headers, which count towards max_payload
PIXEL_TYPES = ("uint8", "uint16", "float32")

WINDOW = 4 << 20  # bytes that may be on the way to the server unconfirmed
ROOM = 64 << 20  # bytes of frames that may wait in memory
AGAIN = 0.25  # seconds until a frame of a recording is tried again while the server is away


@dataclass(frozen=True)
class Frame:
    """A picture and what the run has to know of it."""

    session: str  # names this start of the publisher
    seq: int  # the camera's count, lost frames included
    time_ns: int  # when it was taken, since 1970
    trajectory: int  # another where the object is another one
    width: int
    height: int
    channels: int  # 1, or 3: red, green, blue
    pixel_type: str
    data: bytes  # rows from the top, little-endian
    encoding: str = "raw"

    @classmethod
    def of(cls, image: NDArray[Any], session: str, seq: int, time_ns: int, trajectory: int) -> Frame:
        """Copies an image of (rows, columns) or (rows, columns, 3)."""
        height, width, *colour = image.shape if image.ndim in (2, 3) else (0, 0, 0)
        if colour not in ([], [1], [3]):
            raise ValueError(f"frame {seq} has the shape {image.shape}, (rows, columns) or (rows, columns, 3) expected: give one channel, or red, green, blue")
        if image.dtype.name not in PIXEL_TYPES:
            raise ValueError(f"frame {seq} is of {image.dtype.name}, {', '.join(PIXEL_TYPES)} expected: convert it with astype")
        if not (1 <= width <= MAX_SIDE and 1 <= height <= MAX_SIDE) or image.nbytes > MAX_BYTES:
            raise ValueError(f"frame {seq} is {width}x{height} of {image.nbytes} bytes, 1 to {MAX_SIDE} a side and at most {MAX_BYTES} expected: crop or bin it")
        data = np.ascontiguousarray(image, image.dtype.newbyteorder("<")).tobytes()
        return cls(session, seq, time_ns, trajectory, width, height, colour[0] if colour else 1, image.dtype.name, data)

    @classmethod
    def of_places(cls, columns: dict[str, Any], size: tuple[int, int], session: str, seq: int, time_ns: int, trajectory: int) -> Frame:
        """Places of objects in a field of a width and a height, px, instead of a picture."""
        given = {name: np.asarray(column) for name, column in columns.items() if column is not None}
        if len({column.shape for column in given.values()}) > 1 or any(column.ndim != 1 or not np.isfinite(column).all() for column in given.values()):
            raise ValueError(f"frame {seq}: found columns of {[column.shape for column in given.values()]}, one length and only finite numbers expected")
        data = json.dumps({name: column.tolist() for name, column in given.items()}).encode()
        return cls(session, seq, time_ns, trajectory, *size, 1, "uint8", data, "places")

    def chunks(self, limit: int) -> int:
        """How many messages the frame takes, where each may have limit bytes."""
        each = limit - HEADER_ROOM
        chunks = max(1, -(-len(self.data) // each)) if each > 0 else MAX_CHUNKS + 1
        if chunks > MAX_CHUNKS:
            raise ValueError(f"frame {self.seq} of {len(self.data)} bytes takes more than {MAX_CHUNKS} messages of {limit}: raise the server's max_payload")
        return chunks

    def messages(self, limit: int) -> Iterator[tuple[dict[str, str], bytes]]:
        """Headers and data of those messages."""
        each, chunks = limit - HEADER_ROOM, self.chunks(limit)
        headers = {
            "Driftscope-Session": self.session, "Driftscope-Seq": str(self.seq), "Driftscope-Time-Ns": str(self.time_ns),
            "Driftscope-Trajectory": str(self.trajectory), "Driftscope-Width": str(self.width), "Driftscope-Height": str(self.height),
            "Driftscope-Channels": str(self.channels), "Driftscope-Pixel-Type": self.pixel_type, "Driftscope-Chunks": str(chunks),
        }  # fmt: skip
        if self.encoding != "raw":
            headers["Driftscope-Encoding"] = self.encoding
        for chunk in range(chunks):
            yield headers | {"Driftscope-Chunk": str(chunk)}, self.data[chunk * each : (chunk + 1) * each]


class Frames:
    """Publishes frames on a subject: made by Client.frames. One thread publishes.

    With live, publish never waits: what the network or the server cannot take is lost, counted in lost, and missing in the run's count of frames.
    Without, as for a recording, publish waits and nothing is lost.
    """

    def __init__(self, background: Background, connection: Connection, subject: str, live: bool = True) -> None:
        if not subject or any(c in subject for c in " *>\t\r\n") or "" in subject.split("."):
            raise ValueError(f"subject: found {subject!r}, expected words with dots between, such as camera.bead")
        self.subject, self.live = subject, live
        self.sent = self.lost = 0  # frames
        self._background, self._connection = background, connection
        self._session = format(time.time_ns(), "x")
        self.next = 0  # the least number that the next frame may have
        self._turn = asyncio.Lock()  # of the loop: frames go in order
        self._unconfirmed = 0  # bytes; the loop's
        self._changed = threading.Condition()
        self._waiting = 0  # bytes
        self._problem: Exception | None = None

    def publish(self, image: NDArray[Any], *, seq: int | None = None, time_ns: int | None = None, trajectory: int = 0) -> bool:
        """Copies image and sends it; False where it is already known to be lost.

        seq is the camera's own number, which has to rise; time_ns its time since 1970. Without them frames are counted, and taken now.
        """
        return self._put(Frame.of(image, *self._named(seq, time_ns), trajectory))

    def publish_places(
        self, x: ArrayLike, y: ArrayLike, size: tuple[int, int], *, id: ArrayLike | None = None, sd: ArrayLike | None = None, unit: str = "px",
        seq: int | None = None, time_ns: int | None = None, trajectory: int = 0,
    ) -> bool:  # fmt: skip
        """Sends places instead of a picture, to driftscope run --places. size is the field's width and height, px.

        id are your numbers of the objects, from 1; without them the run links the places. sd is the standard deviation of each place. x, y and
        sd are in px, or in µm with unit="um". seq, time_ns and trajectory are those of publish.
        """
        columns = {"id": id, f"x_{unit}": x, f"y_{unit}": y, f"sd_{unit}": sd}
        return self._put(Frame.of_places(columns, size, *self._named(seq, time_ns), trajectory))

    def _named(self, seq: int | None, time_ns: int | None) -> tuple[str, int, int]:
        """The session, the number and the time of the next frame."""
        seq = self.next if seq is None else seq
        if seq < self.next:
            raise ValueError(f"frame {seq} after frame {self.next - 1}: numbers have to rise")
        return self._session, seq, time.time_ns() if time_ns is None else time_ns

    def _put(self, frame: Frame) -> bool:
        """Sends a frame."""
        frame.chunks(self._connection.max_payload)  # raises where the server cannot take it
        self.next = frame.seq + 1
        with self._changed:
            self._raise()
            if self.live and not self._room(frame):
                self._lose(frame)
                return False
            self._changed.wait_for(lambda: self._room(frame) or self._problem is not None)
            self._raise()
            self._waiting += len(frame.data)
        self._background.begin(self._send(frame))
        return True

    def flush(self, timeout: float | None = None) -> bool:
        """Waits until every frame was sent and confirmed, or is lost; False where it took longer."""
        with self._changed:
            done = self._changed.wait_for(lambda: self._waiting == 0 or self._problem is not None, timeout)
            self._raise()
        if done and self._connection.connected:
            self._background.run(self._connection.flush())
        return done

    def close(self, timeout: float = 5.0) -> None:
        """Waits for what is on its way, a recording's for ever."""
        if not self.flush(timeout if self.live else None):
            log.warning("%s: %d bytes of frames were not sent within %g s", self.subject, self._waiting, timeout)

    def __enter__(self) -> Frames:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if kind is None:
            self.close()

    async def _send(self, frame: Frame) -> None:
        try:
            async with self._turn:
                while not await self._handed_over(frame):
                    if self.live:
                        with self._changed:
                            self._lose(frame)
                        return
                    await asyncio.sleep(AGAIN)
                self.sent += 1
        except Exception as error:
            with self._changed:
                self._problem = error
        finally:
            with self._changed:
                self._waiting -= len(frame.data)
                self._changed.notify_all()

    async def _handed_over(self, frame: Frame) -> bool:
        """Sends a frame's messages. A part that arrived before the connection was lost is replaced by the whole."""
        try:
            if self._unconfirmed >= WINDOW:
                await self._connection.flush()
                self._unconfirmed = 0
            for headers, data in frame.messages(self._connection.max_payload):
                await self._connection.publish(self.subject, data, headers)
                self._unconfirmed += len(data)
        except Away:
            self._unconfirmed = 0
            return False
        return True

    def _room(self, frame: Frame) -> bool:
        """Whether memory has room for a frame; one always has."""
        return self._waiting == 0 or self._waiting + len(frame.data) <= ROOM

    def _lose(self, frame: Frame) -> None:
        self.lost += 1
        if self.lost & (self.lost - 1) == 0:  # 1, 2, 4, ...: told, and no flood
            log.warning("%s: frame %d is lost, %d so far: the server is away or too slow", self.subject, frame.seq, self.lost)

    def _raise(self) -> None:
        if self._problem:
            raise RuntimeError(f"{self.subject}: frames cannot be sent: {self._problem}") from self._problem

"""What a stream publishes, as an iterator."""

from __future__ import annotations

import threading
import time
from collections import deque
from types import TracebackType
from typing import Callable, Generic, TypeVar

from .connection import Received, log
from .decoding import Message, Unreadable, decode

M = TypeVar("M", bound=Message)

WAITING = 65536  # messages: at 1000 frames a second, a minute
WAITING_BYTES = 64 << 20  # of JSON, of all that wait
LONGEST = 16 << 20  # bytes of a message: 100,000 objects take 10 MB
TURN = 0.5  # seconds; a wait without end cannot be interrupted by Ctrl-C on Windows


class Results(Generic[M]):
    """Messages, of each kind in the order of the stream: made by Stream.results. Used by one thread.

    If more than 65536 messages or 64 MiB of them wait, the oldest is dropped and counted in lost. A message that is unreadable, or longer than
    16 MiB, is counted in unreadable and logged.
    """

    def __init__(self, kinds: tuple[type[M], ...]) -> None:
        self.lost = self.unreadable = self.superseded = 0  # messages
        self.arrived = 0.0  # time.monotonic() when the last message that get returned came
        self._kinds: dict[str, type[Message]] = {kind.KIND: kind for kind in kinds}
        self._messages: deque[tuple[M, float, int]] = deque()  # with its arrival and its bytes
        self._bytes = 0
        self._changed = threading.Condition()
        self._epoch = 0
        self._closed = False
        self._cancel: Callable[[], None] = lambda: None

    def take(self, received: Received) -> None:
        """Adds a message; called by the connection."""
        arrived, size = time.monotonic(), len(received.data)
        try:
            if size > LONGEST:
                raise Unreadable(f"found {size} bytes, at most {LONGEST} expected: lower objects.max")
            message = decode(self._kinds, received.data)
        except Unreadable as error:
            self.unreadable += 1
            if self.unreadable & (self.unreadable - 1) == 0:  # 1, 2, 4, ...: no flood
                log.warning("%s: %s: message %d that is unreadable", received.subject, error, self.unreadable)
            return
        with self._changed:
            epoch = message.epoch or 0
            if epoch < self._epoch:  # of a worker that no longer has the stream
                self.superseded += 1
                return
            self._epoch = epoch
            while self._messages and (len(self._messages) >= WAITING or self._bytes + size > WAITING_BYTES):
                self._bytes -= self._messages.popleft()[2]
                self.lost += 1
            self._messages.append((message, arrived, size))  # type: ignore[arg-type]  # decode returns one of kinds
            self._bytes += size
            self._changed.notify()

    def get(self, timeout: float | None = None) -> M | None:
        """The next message; None where none comes within timeout seconds, or after close."""
        end = None if timeout is None else time.monotonic() + timeout
        with self._changed:
            while not self._messages and not self._closed:
                left = TURN if end is None else min(TURN, end - time.monotonic())
                if left <= 0:
                    return None
                self._changed.wait(left)
            if not self._messages:
                return None
            message, self.arrived, size = self._messages.popleft()
            self._bytes -= size
            return message

    def waiting(self) -> list[M]:
        """All messages that have come, without waiting."""
        with self._changed:
            found = [message for message, _, _ in self._messages]
            self._messages.clear()
            self._bytes = 0
        return found

    def __iter__(self) -> Results[M]:
        return self

    def __next__(self) -> M:
        message = self.get()
        if message is None:
            raise StopIteration
        return message

    def close(self) -> None:
        """Ends the subscription; iterators end once they have given what had come. Any thread may."""
        with self._changed:
            if self._closed:
                return
            self._closed = True
            self._changed.notify_all()
        self._cancel()

    def __enter__(self) -> Results[M]:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def on_close(self, cancel: Callable[[], None]) -> None:
        """Has cancel called when these results are closed."""
        self._cancel = cancel

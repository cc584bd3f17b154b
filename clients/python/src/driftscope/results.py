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
TURN = 0.5  # seconds; a wait without end cannot be interrupted by Ctrl-C on Windows


class Results(Generic[M]):
    """Messages, of each kind in the order of the stream: made by Stream.results. Used by one thread.

    Of more than 65536 that wait the oldest goes, counted in lost. What cannot be read is counted in unreadable, and logged.
    """

    def __init__(self, kinds: tuple[type[M], ...]) -> None:
        self.lost = self.unreadable = self.superseded = 0  # messages
        self._kinds: dict[str, type[Message]] = {kind.KIND: kind for kind in kinds}
        self._messages: deque[M] = deque()
        self._changed = threading.Condition()
        self._epoch = 0
        self._closed = False
        self._cancel: Callable[[], None] = lambda: None

    def take(self, received: Received) -> None:
        """Adds a message; called by the connection."""
        try:
            message = decode(self._kinds, received.data)
        except Unreadable as error:
            self.unreadable += 1
            log.warning("%s: %s", received.subject, error)
            return
        with self._changed:
            epoch = message.epoch or 0
            if epoch < self._epoch:  # of a worker that no longer has the stream
                self.superseded += 1
                return
            self._epoch = epoch
            if len(self._messages) == WAITING:
                self._messages.popleft()
                self.lost += 1
            self._messages.append(message)  # type: ignore[arg-type]  # decode gives one of kinds
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
            return self._messages.popleft() if self._messages else None

    def waiting(self) -> list[M]:
        """All messages that have come, without waiting."""
        with self._changed:
            found = list(self._messages)
            self._messages.clear()
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

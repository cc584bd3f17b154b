"""An event loop in a thread of its own, for programs that have none or another one's."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from typing import Any, Coroutine, TypeVar

T = TypeVar("T")


class Background:
    """Runs coroutines for other threads."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="driftscope", daemon=True)
        self._thread.start()

    @property
    def closed(self) -> bool:
        """Whether nothing runs any more."""
        return self._loop.is_closed()

    def begin(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Begins work, after what was begun before."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Does work and returns what it gives."""
        return self.begin(work).result()

    def close(self) -> None:
        """Ends the loop and all that still runs on it."""
        self.run(self._cancel())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _cancel(self) -> None:
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

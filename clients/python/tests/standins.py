"""A Connection without a server, which tests look into."""

from __future__ import annotations

import asyncio
import fnmatch
from typing import Iterator, Mapping

import pytest

from driftscope.background import Background
from driftscope.connection import Away, Cancel, Deliver, NoAnswer, Received


class StandIn:
    """Keeps what is published, delivers what a test says, and answers requests as told."""

    def __init__(self) -> None:
        self.connected = True
        self.max_payload = 1 << 20
        self.published: list[tuple[str, bytes, Mapping[str, str]]] = []
        self.asked: list[tuple[str, bytes]] = []
        self.answers: dict[str, Received] = {}
        self.subscriptions: dict[str, Deliver] = {}
        self.flushes = 0
        self.slow = 0.0  # seconds a message takes
        self.broken: Exception | None = None

    async def publish(self, subject: str, data: bytes, headers: Mapping[str, str] | None = None) -> None:
        await asyncio.sleep(self.slow)
        if self.broken:
            raise self.broken
        if not self.connected:
            raise Away("away")
        self.published.append((subject, data, dict(headers or {})))

    async def flush(self) -> None:
        if not self.connected:
            raise Away("away")
        self.flushes += 1

    async def subscribe(self, subject: str, deliver: Deliver) -> Cancel:
        self.subscriptions[subject] = deliver

        async def cancel() -> None:
            del self.subscriptions[subject]

        return cancel

    async def request(self, subject: str, data: bytes, timeout: float) -> Received:
        self.asked.append((subject, data))
        if subject not in self.answers:
            raise NoAnswer(subject)
        return self.answers[subject]

    async def close(self) -> None:
        self.connected = False

    def deliver(self, subject: str, data: bytes) -> None:
        for pattern, deliver in list(self.subscriptions.items()):
            if fnmatch.fnmatch(subject, pattern):
                deliver(Received(subject, data))


@pytest.fixture
def connection() -> StandIn:
    return StandIn()


@pytest.fixture
def background() -> Iterator[Background]:
    background = Background()
    yield background
    background.close()

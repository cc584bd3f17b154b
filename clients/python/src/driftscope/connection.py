"""What the client asks of NATS, and who gives it: nats-py, or where that is missing the plain connection of this package."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field
from typing import Any, Awaitable, Callable, Mapping, Protocol

log = logging.getLogger("driftscope")


class Away(ConnectionError):
    """The server cannot be reached now."""


class NoAnswer(TimeoutError):
    """Nobody answered a request."""


@dataclass(frozen=True)
class Received:
    """A message that came."""

    subject: str
    data: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


Deliver = Callable[[Received], None]
Cancel = Callable[[], Awaitable[None]]


class Connection(Protocol):
    """A connection that comes back by itself. All of it belongs to one event loop."""

    @property
    def connected(self) -> bool:
        """Whether the server is there now."""

    @property
    def max_payload(self) -> int:
        """The most bytes that headers and data of a message may have together."""

    async def publish(self, subject: str, data: bytes, headers: Mapping[str, str] | None = None) -> None:
        """Hands a message over, in order, and waits where the network is slow. Raises Away."""

    async def flush(self) -> None:
        """Returns once the server has all that was published. Raises Away."""

    async def subscribe(self, subject: str, deliver: Deliver) -> Cancel:
        """Has deliver called with what comes on subject, until cancelled."""

    async def request(self, subject: str, data: bytes, timeout: float) -> Received:
        """The answer to a request. Raises NoAnswer or Away."""

    async def close(self) -> None:
        """Ends the connection."""


async def connect(url: str, credentials: str | None = None, patience: float = 5.0) -> Connection:
    """Connects by nats-py where it is installed; credentials is the path of a .creds file, which only nats-py reads."""
    try:
        import nats
    except ImportError:
        from . import plain

        if credentials is not None:
            raise ValueError("credentials need nats-py: pip install nats-py") from None
        return await plain.connect(url, patience)
    return await ByNatsPy.connect(nats, url, credentials, patience)


class ByNatsPy:
    """nats-py as a Connection."""

    def __init__(self, nats: Any, client: Any) -> None:
        self._nats, self._client = nats, client

    @classmethod
    async def connect(cls, nats: Any, url: str, credentials: str | None, patience: float) -> ByNatsPy:
        async def failed(error: Exception) -> None:
            log.warning("NATS: %s", error or type(error).__name__)

        options = {} if credentials is None else {"user_credentials": credentials}
        connecting = nats.connect(url, name="driftscope python", max_reconnect_attempts=-1, reconnect_time_wait=0.25, error_cb=failed, **options)
        try:
            client = await asyncio.wait_for(connecting, patience)
        except (asyncio.TimeoutError, OSError) as error:
            raise Away(f"{url}: no NATS server answers: start it, or driftscope run, or give another url") from error
        return cls(nats, client)

    @property
    def connected(self) -> bool:
        return bool(self._client.is_connected)

    @property
    def max_payload(self) -> int:
        return int(self._client.max_payload)

    async def publish(self, subject: str, data: bytes, headers: Mapping[str, str] | None = None) -> None:
        if not self.connected:  # nats-py would keep it and send it late
            raise Away("the NATS server is away")
        try:
            await self._client.publish(subject, data, headers=None if headers is None else dict(headers))
        except (self._nats.errors.Error, OSError) as error:
            raise Away(f"the NATS server is away: {error}") from error

    async def flush(self) -> None:
        try:
            await self._client.flush()
        except (self._nats.errors.Error, OSError) as error:
            raise Away(f"the NATS server is away: {error}") from error

    async def subscribe(self, subject: str, deliver: Deliver) -> Cancel:
        async def came(message: Any) -> None:
            deliver(Received(message.subject, message.data, message.headers or {}))

        subscription = await self._client.subscribe(subject, cb=came)
        await self.flush()

        async def cancel() -> None:
            await subscription.unsubscribe()

        return cancel

    async def request(self, subject: str, data: bytes, timeout: float) -> Received:
        try:
            answer = await self._client.request(subject, data, timeout=timeout)
        except (self._nats.errors.NoRespondersError, self._nats.errors.TimeoutError) as error:
            raise NoAnswer(f"{subject}: no answer: does the stream run, and may this user command it?") from error
        return Received(answer.subject, answer.data, answer.headers or {})

    async def close(self) -> None:
        await self._client.close()

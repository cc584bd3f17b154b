"""A connection to a server, the streams that run there, and their commands."""

from __future__ import annotations

import asyncio
import json
import re
from types import TracebackType
from typing import Any, Awaitable, Callable, TypeVar

from . import connection as connections
from .background import Background
from .connection import Connection
from .decoding import Message, decode
from .frames import Frames
from .messages import KINDS, Info
from .results import Results

M = TypeVar("M", bound=Message)
Dial = Callable[[str], Awaitable[Connection]]

SUBJECT = re.compile(r"[\w-]{1,64}\.[\w-]{1,64}\.[\w-]{1,64}", re.ASCII)
LOCAL = "nats://127.0.0.1:4222"  # where a run's own server listens
ANSWER = 5.0  # seconds until a command is answered: between two frames


class Refused(RuntimeError):
    """A command that the stream refused: docs/reference/commands.md has the codes."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(f"refused ({code}): {reason}")
        self.code, self.reason = code, reason


def connect(url: str = LOCAL, credentials: str | None = None, dial: Dial | None = None) -> Client:
    """Connects to the server of a run; dial connects otherwise than by nats-py."""
    background = Background()
    try:
        return Client(background, background.run(_dialled(dial or (lambda to: connections.connect(to, credentials)), url)))
    except BaseException:
        background.close()
        raise


async def _dialled(dial: Dial, url: str) -> Connection:
    return await dial(url)


class Client:
    """A connection. Its methods block and may be called by any thread."""

    def __init__(self, background: Background, connection: Connection) -> None:
        self._background, self._connection = background, connection

    def frames(self, subject: str, live: bool = True) -> Frames:
        """What publishes frames for driftscope run nats:SUBJECT; live=False for recordings, of which nothing may be lost."""
        return Frames(self._background, self._connection, subject, live)

    def stream(self, name: str, site: str = "local", prefix: str = "driftscope") -> Stream:
        """The stream PREFIX.SITE.NAME."""
        return Stream(self._background, self._connection, f"{prefix}.{site}.{name}")

    def close(self) -> None:
        """Ends the connection."""
        if self._background.closed:
            return
        self._background.run(self._connection.close())
        self._background.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


class Stream:
    """A stream: what it publishes, and its commands."""

    def __init__(self, background: Background, connection: Connection, subject: str) -> None:
        if not SUBJECT.fullmatch(subject):
            raise ValueError(f"found the stream {subject!r}, expected PREFIX.SITE.NAME, each 1 to 64 letters, digits, - and _")
        self.subject = subject
        self._background, self._connection = background, connection

    def results(self, *kinds: type[M]) -> Results[M]:
        """The messages of some kinds from now on, such as results(Latent, Trigger)."""
        if not kinds:
            raise ValueError("results: no kind given, expected some, such as driftscope.Latent")
        results = Results(kinds)
        cancels = [self._background.run(self._connection.subscribe(f"{self.subject}.{kind.KIND}", results.take)) for kind in kinds]
        results.on_close(lambda: None if self._background.closed else self._background.run(_all(cancels)))
        return results

    def command(self, name: str, /, **payload: Any) -> str:
        """Sends a command and waits until it is applied. Raises Refused, NoAnswer or Away."""
        data = json.dumps(payload).encode() if payload else b""
        answer = self._background.run(self._connection.request(f"{self.subject}.cmd.{name}", data, ANSWER))
        text = answer.data.decode("utf-8", "replace")
        if "Nats-Service-Error-Code" in answer.headers:
            raise Refused(int(answer.headers["Nats-Service-Error-Code"]), text)
        return text

    def info(self) -> Info:
        """What runs."""
        found = decode(KINDS, self.command("info"))
        assert isinstance(found, Info)
        return found

    def pause(self) -> None:
        """Stops tracking, until resume."""
        self.command("pause")

    def resume(self) -> None:
        """Ends pause and freeze."""
        self.command("resume")

    def freeze(self) -> None:
        """Holds the law as it is."""
        self.command("freeze")

    def reset(self) -> None:
        """Has the law forget all it has learnt."""
        self.command("reset")

    def roi(self, x: int, y: int) -> None:
        """Moves the region that the model looks at: its upper left corner, pixels."""
        self.command("roi", x=x, y=y)

    def model(self, name: str, sha256: str | None = None) -> None:
        """Tracks by a model that the server keeps, from the next frame on; command("model", back=True) undoes it."""
        self.command("model", name=name, **({} if sha256 is None else {"sha256": sha256}))

    def follow(self, number: int) -> None:
        """Publishes one object of a field as latents, too; command("unfollow") ends that."""
        self.command("follow", id=number)

    def stop(self) -> None:
        """Ends the stream."""
        self.command("stop")


async def _all(cancels: list[connections.Cancel]) -> None:
    await asyncio.gather(*(cancel() for cancel in cancels))

"""NATS over a socket, in the standard library: no TLS, credentials or clusters, for which there is nats-py.

The protocol: https://docs.nats.io/reference/reference-protocols/nats-protocol
"""

from __future__ import annotations

import asyncio
import itertools
import json
import secrets
from collections import deque
from typing import Any, Mapping
from urllib.parse import unquote, urlsplit

from .connection import Away, Cancel, Deliver, NoAnswer, Received, log

AGAIN = 0.25  # seconds between attempts to come back
PATIENCE = 10.0  # seconds that a flush may take: 8 MB need 0.7 s over 100 Mbit/s
LONGEST_LINE = 1 << 20  # bytes of what the server says between messages
LARGEST = 1 << 26  # bytes of a message, the most that a server can be told to take


async def connect(url: str, patience: float = 5.0) -> Plain:
    """Connects to nats://[USER:PASSWORD@|TOKEN@]HOST[:PORT]."""
    connection = Plain(url)
    await connection.start(patience)
    return connection


class Plain:
    """A Connection that subscribes again after it was lost."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme != "nats" or not parts.hostname:
            raise ValueError(f"{url}: found {parts.scheme or 'no scheme'}, expected nats://HOST:PORT: for others install nats-py")
        self._url = f"nats://{parts.hostname}:{parts.port or 4222}"
        self._address = parts.hostname, parts.port or 4222
        self._login: dict[str, str] = {}
        if parts.password is not None:
            self._login = {"user": unquote(parts.username or ""), "pass": unquote(parts.password)}
        elif parts.username:
            self._login = {"auth_token": unquote(parts.username)}
        self._info: dict[str, Any] = {}
        self._reader: asyncio.StreamReader
        self._writer: asyncio.StreamWriter | None = None  # None while the server is away
        self._pongs: deque[asyncio.Future[None]] = deque()
        self._numbers = itertools.count(1)
        self._subscriptions: dict[int, tuple[str, Deliver]] = {}
        self._keeper: asyncio.Task[None] | None = None

    async def start(self, patience: float) -> None:
        try:
            await asyncio.wait_for(self._greet(), patience)
        except PermissionError:
            raise
        except (OSError, EOFError, asyncio.TimeoutError) as error:
            raise Away(f"{self._url}: no NATS server answers: start it, or driftscope run, or give another url ({str(error) or 'no answer'})") from error
        self._keeper = asyncio.create_task(self._keep())

    @property
    def connected(self) -> bool:
        return self._writer is not None

    @property
    def max_payload(self) -> int:
        return int(self._info["max_payload"])

    async def publish(self, subject: str, data: bytes, headers: Mapping[str, str] | None = None, reply: str = "") -> None:
        to = f"{subject} {reply}" if reply else subject
        if headers is None:
            await self._write(f"PUB {to} {len(data)}\r\n".encode(), data, b"\r\n")
            return
        head = ("NATS/1.0\r\n" + "".join(f"{name}: {value}\r\n" for name, value in headers.items()) + "\r\n").encode()
        await self._write(f"HPUB {to} {len(head)} {len(head) + len(data)}\r\n".encode(), head, data, b"\r\n")

    async def flush(self) -> None:
        if not self.connected:
            raise Away(f"{self._url} is away")
        pong: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._pongs.append(pong)
        await self._write(b"PING\r\n")
        try:
            await asyncio.wait_for(pong, PATIENCE)
        except asyncio.TimeoutError as error:
            raise Away(f"{self._url}: no answer within {PATIENCE:g} s") from error

    async def subscribe(self, subject: str, deliver: Deliver) -> Cancel:
        number = next(self._numbers)
        self._subscriptions[number] = subject, deliver
        await self._write(f"SUB {subject} {number}\r\n".encode())
        await self.flush()

        async def cancel() -> None:
            del self._subscriptions[number]
            if self.connected:
                await self._write(f"UNSUB {number}\r\n".encode())

        return cancel

    async def request(self, subject: str, data: bytes, timeout: float) -> Received:
        answer: asyncio.Future[Received] = asyncio.get_running_loop().create_future()
        inbox = "_INBOX." + secrets.token_hex(11)
        cancel = await self.subscribe(inbox, lambda m: None if answer.done() else answer.set_result(m))
        try:
            await self.publish(subject, data, reply=inbox)
            found = await asyncio.wait_for(answer, timeout)
        except asyncio.TimeoutError:
            found = None
        finally:
            await cancel()
        if found is None or found.headers.get("Status") == "503":
            raise NoAnswer(f"{subject}: no answer: does the stream run, and may this user command it?")
        return found

    async def close(self) -> None:
        if self._keeper:
            self._keeper.cancel()
        if self._writer:
            self._writer.close()
        self._lose()

    async def _write(self, *parts: bytes) -> None:
        writer = self._writer
        if writer is None:
            raise Away(f"{self._url} is away")
        writer.writelines(parts)
        try:
            await writer.drain()
        except OSError as error:
            raise Away(f"{self._url} went away: {error}") from error

    async def _greet(self) -> None:
        """Connects and logs in."""
        self._reader, writer = await asyncio.open_connection(*self._address, limit=LONGEST_LINE)
        try:
            word, _, rest = (await self._line()).partition(" ")
            if word != "INFO":
                raise ConnectionError(f"{self._url}: found {word:.40}, expected INFO: is it a NATS server?")
            self._info = json.loads(rest)
            if self._info.get("tls_required"):
                raise ValueError(f"{self._url} asks for TLS: pip install nats-py")
            hello = {"verbose": False, "headers": True, "no_responders": True, "lang": "python", "version": "0.1.0", "name": "driftscope python"}
            writer.write(b"CONNECT " + json.dumps(hello | self._login).encode() + b"\r\nPING\r\n")
            answer = await self._line()
            if answer != "PONG":
                raise PermissionError(f"{self._url}: {answer}: give a user and password in the url")
            for number, (subject, _) in self._subscriptions.items():
                writer.write(f"SUB {subject} {number}\r\n".encode())
        except BaseException:
            writer.close()
            raise
        self._writer = writer

    async def _keep(self) -> None:
        """Reads for ever, and comes back where the server went away."""
        while True:
            try:
                while True:
                    await self._take()
            except (OSError, EOFError, ValueError) as error:
                log.warning("%s went away: %s", self._url, str(error) or "it ended the connection")
            if self._writer:
                self._writer.close()
            self._lose()
            while not self.connected:
                await asyncio.sleep(AGAIN)
                try:
                    await asyncio.wait_for(self._greet(), PATIENCE)
                except (OSError, EOFError, ValueError, asyncio.TimeoutError):
                    continue
            log.warning("%s is back", self._url)

    def _lose(self) -> None:
        self._writer = None
        while self._pongs:
            pong = self._pongs.popleft()
            if not pong.done():
                pong.set_exception(Away(f"{self._url} went away"))

    async def _line(self) -> str:
        line = await self._reader.readline()
        if not line.endswith(b"\n"):
            raise EOFError
        return line.decode().strip()

    async def _take(self) -> None:
        """Takes what the server says next."""
        word, _, rest = (await self._line()).partition(" ")
        if word in ("MSG", "HMSG"):
            await self._message(rest.split(), word == "HMSG")
        elif word == "PING":
            await self._write(b"PONG\r\n")
        elif word == "PONG" and self._pongs:
            pong = self._pongs.popleft()
            if not pong.done():
                pong.set_result(None)
        elif word == "INFO":
            self._info |= json.loads(rest)
        elif word == "-ERR":
            log.warning("%s: %s", self._url, rest)

    async def _message(self, words: list[str], headed: bool) -> None:
        """SUBJECT NUMBER [REPLY] [BYTES OF HEADERS] BYTES, and as many bytes."""
        total = int(words[-1])
        head = int(words[-2]) if headed else 0
        if not 0 <= head <= total <= LARGEST:
            raise ValueError(f"a message of {total} bytes, {head} of them headers: at most {LARGEST} expected")
        body = await self._reader.readexactly(total + 2)
        subscription = self._subscriptions.get(int(words[1]))
        if subscription:
            subscription[1](Received(words[0], body[head:total], _headers(body[:head])))


def _headers(head: bytes) -> dict[str, str]:
    """The headers of a message; that of a status such as no responders is Status."""
    first, *lines = head.decode("utf-8", "replace").splitlines() or [""]
    headers = {"Status": first.split()[1]} if len(first.split()) > 1 else {}
    for line in lines:
        name, colon, value = line.partition(":")
        if colon:
            headers[name.strip()] = value.strip()
    return headers

"""The plain connection against a small server of ours; cmd/driftscope/clients_test.go has the real one."""

from __future__ import annotations

import asyncio
import json
from typing import Any, Awaitable, Callable

import pytest

from driftscope import plain
from driftscope.connection import Away, NoAnswer, Received


class Server:
    """Greets, answers pings, and gives each line and message to a test."""

    def __init__(self, **info: Any) -> None:
        self.info = {"max_payload": 5000, **info}
        self.lines: list[str] = []
        self.refuses = ""
        self.writers: list[asyncio.StreamWriter] = []
        self.on: Callable[[list[str], bytes, asyncio.StreamWriter], None] = lambda words, data, writer: None
        self.port = 0

    async def start(self) -> None:
        self.server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self.server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        self.server.close()
        for writer in self.writers:
            writer.close()
        await asyncio.sleep(0)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.writers.append(writer)
        writer.write(b"INFO " + json.dumps(self.info).encode() + b" \r\n")
        while line := (await reader.readline()).decode().strip():
            words, data = line.split(), b""
            self.lines.append(line)
            if words[0] in ("PUB", "HPUB"):
                data = await reader.readexactly(int(words[-1]) + 2)
            if words[0] == "PING":
                writer.write(f"-ERR '{self.refuses}'\r\n".encode() if self.refuses else b"PONG\r\n")
            self.on(words, data[:-2], writer)

    @property
    def url(self) -> str:
        return f"nats://127.0.0.1:{self.port}"


def run(test: Callable[[Server], Awaitable[None]], server: Server | None = None) -> None:
    async def all() -> None:
        s = server or Server()
        await s.start()
        await test(s)
        await s.stop()

    asyncio.run(asyncio.wait_for(all(), 30))


async def until(condition: Callable[[], Any]) -> None:
    while not condition():
        await asyncio.sleep(0.01)


def test_publish_and_subscribe() -> None:
    async def test(server: Server) -> None:
        got: list[tuple[list[str], bytes]] = []
        server.on = lambda words, data, writer: got.append((words, data)) if words[0] in ("PUB", "HPUB") else None
        c = await plain.connect(server.url.replace("//", "//us%40er:pass@"))
        assert json.loads(server.lines[0].removeprefix("CONNECT "))["user"] == "us@er" and c.connected and c.max_payload == 5000
        await c.publish("a.b", b"12\r\n3")
        await c.publish("a.c", b"xyz", {"H": "1", "K": "two"})
        await c.flush()
        assert got == [(["PUB", "a.b", "5"], b"12\r\n3"), (["HPUB", "a.c", "26", "29"], b"NATS/1.0\r\nH: 1\r\nK: two\r\n\r\nxyz")]
        came: list[Received] = []
        cancel = await c.subscribe("r.*", came.append)
        assert server.lines[-2] == "SUB r.* 1"
        server.writers[0].write(b"MSG r.1 1 2\r\n\r\n\r\nPING\r\nHMSG r.2 1 _INBOX.3 21 23\r\nNATS/1.0\r\nA: b: c\r\n\r\nhi\r\nMSG r.1 99 1\r\nx\r\n")
        await until(lambda: len(came) == 2 and server.lines[-1] == "PONG")
        assert came == [Received("r.1", b"\r\n", {}), Received("r.2", b"hi", {"A": "b: c"})]
        await cancel()
        await c.flush()
        assert server.lines[-2] == "UNSUB 1"
        await c.close()

    run(test)


def test_requests() -> None:
    async def test(server: Server) -> None:
        def answer(words: list[str], data: bytes, writer: asyncio.StreamWriter) -> None:
            if words[:2] == ["PUB", "cmd.freeze"]:
                writer.write(f"MSG {words[2]} 1 2\r\nok\r\n".encode())
            elif words[:2] == ["PUB", "cmd.none"]:
                writer.write(f"HMSG {words[2]} 2 16 16\r\nNATS/1.0 503\r\n\r\n\r\n".encode())

        server.on = answer
        c = await plain.connect(server.url)
        assert (await c.request("cmd.freeze", b"", 5)).data == b"ok"
        for subject, timeout in (("cmd.none", 5), ("cmd.late", 0.05)):
            with pytest.raises(NoAnswer, match=f"{subject}: no answer: does the stream run"):
                await c.request(subject, b"", timeout)
        await c.close()

    run(test)


def test_it_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain, "AGAIN", 0.02)

    async def test(server: Server) -> None:
        c = await plain.connect(server.url)
        came: list[Received] = []
        await c.subscribe("r", came.append)
        waiting = asyncio.create_task(c.flush())
        await server.stop()
        await asyncio.gather(waiting, return_exceptions=True)
        await until(lambda: not c.connected)
        for attempt in (c.publish("a", b""), c.flush()):
            with pytest.raises(Away):
                await attempt
        await server.start()
        await until(lambda: c.connected)
        await c.flush()
        assert server.lines.count("SUB r 1") == 2
        server.writers[-1].write(b"MSG r 1 1\r\nz\r\n")
        await until(lambda: came)
        assert came == [Received("r", b"z", {})]
        server.writers[-1].write(b"MSG r 1 999999999\r\n")  # more than any message has: this connection is given up
        await until(lambda: not c.connected)
        await until(lambda: c.connected)
        await c.close()

    run(test)


def test_what_cannot_be_used_is_told() -> None:
    async def refused(server: Server) -> None:
        server.refuses = "Authorization Violation"
        with pytest.raises(PermissionError, match="Authorization Violation.*give a user and password"):
            await plain.connect(server.url)

    async def tls(server: Server) -> None:
        with pytest.raises(ValueError, match="asks for TLS: pip install nats-py"):
            await plain.connect(server.url)

    run(refused)
    run(tls, Server(tls_required=True))
    for url in ("tls://127.0.0.1", "127.0.0.1:4222", "nats://"):
        with pytest.raises(ValueError, match="expected nats://HOST:PORT"):
            asyncio.run(plain.connect(url))

    async def other() -> None:
        async def http(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 400 Bad Request\r\n")
            writer.close()

        server = await asyncio.start_server(http, "127.0.0.1", 0)
        with pytest.raises(Away, match="found HTTP/1.1, expected INFO: is it a NATS server"):
            await plain.connect(f"nats://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        server.close()

    asyncio.run(other())

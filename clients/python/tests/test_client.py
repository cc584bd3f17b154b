import asyncio
import sys
import types
from typing import Any

import pytest
import samples
from standins import StandIn

import driftscope
from driftscope import connection as connections
from driftscope.client import Client, Stream
from driftscope.connection import Received
from driftscope.messages import Latent


@pytest.fixture
def client(connection: StandIn) -> Any:
    async def dial(url: str) -> StandIn:
        return connection

    client = driftscope.connect("nats://somewhere", dial=dial)
    yield client
    client.close()  # twice does nothing


def test_commands(client: Client, connection: StandIn) -> None:
    stream = client.stream("bead")
    names = ("pause", "resume", "freeze", "reset", "roi", "model", "follow", "stop", "checkpoint")
    connection.answers = {f"driftscope.local.bead.cmd.{name}": Received("_INBOX.1", b"ok") for name in names}
    stream.pause()
    stream.resume()
    stream.freeze()
    stream.reset()
    stream.roi(120, 80)
    stream.model("spot")
    stream.model("spot", "ab")
    stream.follow(17)
    stream.stop()
    assert stream.command("checkpoint") == "ok"
    assert [(subject.rpartition(".")[2], data) for subject, data in connection.asked] == [
        ("pause", b""), ("resume", b""), ("freeze", b""), ("reset", b""), ("roi", b'{"x": 120, "y": 80}'), ("model", b'{"name": "spot"}'),
        ("model", b'{"name": "spot", "sha256": "ab"}'), ("follow", b'{"id": 17}'), ("stop", b""), ("checkpoint", b""),
    ]  # fmt: skip


def test_what_runs(client: Client, connection: StandIn) -> None:
    connection.answers = {"lab.east.bead.cmd.info": Received("_INBOX.1", samples.message("info", stream="bead"))}
    assert client.stream("bead", site="east", prefix="lab").info().stream == "bead"


def test_refusals(client: Client, connection: StandIn) -> None:
    connection.answers = {"driftscope.local.bead.cmd.roi": Received("_INBOX.1", b"it has no region", {"Nats-Service-Error-Code": "409"})}
    with pytest.raises(driftscope.Refused, match=r"refused \(409\): it has no region") as refused:
        client.stream("bead").roi(1, 2)
    assert refused.value.code == 409
    with pytest.raises(driftscope.NoAnswer):
        client.stream("bead").pause()


@pytest.mark.parametrize("name", ["", "a.b", "a b", "*", "ä"])
def test_names(client: Client, name: str) -> None:
    with pytest.raises(ValueError, match="expected PREFIX.SITE.NAME"):
        client.stream(name)


class StandInNats:
    """What of nats-py is used, as its documentation has it: nats.connect, its client and its errors."""

    class Error(Exception):
        pass

    class TimeoutError(asyncio.TimeoutError, Error):
        pass

    class NoRespondersError(Error):
        pass

    def __init__(self) -> None:
        self.is_connected, self.max_payload, self.calls, self.options = True, 4096, list[Any](), dict[str, Any]()
        self.deliver: Any = None
        self.fails: Exception | None = None

    def module(self) -> Any:
        async def connect(url: str, **options: Any) -> StandInNats:
            self.options = {"url": url, **options}
            if "nowhere" in url:
                await asyncio.sleep(60)
            return self

        return types.SimpleNamespace(connect=connect, errors=StandInNats)

    async def _did(self, *call: Any) -> None:
        self.calls.append(call)
        if self.fails:
            raise self.fails

    async def publish(self, subject: str, payload: bytes, headers: Any = None) -> None:
        await self._did("publish", subject, payload, headers)

    async def flush(self) -> None:
        await self._did("flush")

    async def subscribe(self, subject: str, cb: Any) -> Any:
        await self._did("subscribe", subject)
        self.deliver = cb
        return types.SimpleNamespace(unsubscribe=lambda: self._did("unsubscribe"))

    async def request(self, subject: str, payload: bytes, timeout: float) -> Any:
        await self._did("request", subject, payload)
        return types.SimpleNamespace(subject="_INBOX.1", data=b"ok", headers=None)

    async def close(self) -> None:
        await self._did("close")


def test_over_nats_py(monkeypatch: pytest.MonkeyPatch) -> None:
    nats = StandInNats()
    monkeypatch.setitem(sys.modules, "nats", nats.module())

    async def way() -> None:
        c = await connections.connect("nats://host", "a.creds")
        assert nats.options["url"] == "nats://host" and nats.options["user_credentials"] == "a.creds" and nats.options["max_reconnect_attempts"] == -1
        assert c.connected and c.max_payload == 4096
        await c.publish("a", b"1", {"X": "y"})
        came: list[Received] = []
        cancel = await c.subscribe("b", came.append)
        await nats.deliver(types.SimpleNamespace(subject="b", data=b"2", headers=None))
        assert came == [Received("b", b"2", {})]
        await cancel()
        assert (await c.request("c", b"3", 1)).data == b"ok"
        assert nats.calls == [("publish", "a", b"1", {"X": "y"}), ("subscribe", "b"), ("flush",), ("unsubscribe",), ("request", "c", b"3")]
        nats.fails = StandInNats.NoRespondersError()
        with pytest.raises(driftscope.NoAnswer):
            await c.request("c", b"", 1)
        nats.fails = StandInNats.Error("closed")
        for attempt in (c.publish("a", b""), c.flush()):
            with pytest.raises(driftscope.Away, match="closed"):
                await attempt
        nats.fails, nats.is_connected = None, False
        with pytest.raises(driftscope.Away):
            await c.publish("a", b"")
        await c.close()

    asyncio.run(way())
    with pytest.raises(driftscope.Away, match="nowhere: no NATS server answers"):
        asyncio.run(connections.connect("nats://nowhere", patience=0.05))


def test_without_nats_py(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nats", None)
    with pytest.raises(ValueError, match="pip install nats-py"):
        driftscope.connect("nats://127.0.0.1:1", credentials="a.creds")
    with pytest.raises(driftscope.Away, match="nats://127.0.0.1:1: no NATS server answers"):
        driftscope.connect("nats://127.0.0.1:1")


def test_results_of_a_client(client: Client, connection: StandIn) -> None:
    stream = client.stream("bead")
    assert isinstance(stream, Stream)
    with stream.results(Latent) as results:
        connection.deliver("driftscope.local.bead.latent", samples.message("latent", seq=9))
        found = results.get(1)
    assert found and found.seq == 9
    late = stream.results(Latent)
    client.close()
    late.close()  # after its connection
    assert late.get() is None

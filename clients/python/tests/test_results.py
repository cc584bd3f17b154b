import threading
import time

import pytest
import samples
from standins import StandIn

from driftscope import results as receiving
from driftscope.background import Background
from driftscope.client import Stream
from driftscope.messages import Event, Latent, Trigger


@pytest.fixture
def stream(background: Background, connection: StandIn) -> Stream:
    return Stream(background, connection, "driftscope.local.bead")


def latent(connection: StandIn, seq: int, **changes: object) -> None:
    connection.deliver("driftscope.local.bead.latent", samples.message("latent", seq=seq, **changes))


def test_messages_come_in_order(stream: Stream, connection: StandIn) -> None:
    with stream.results(Latent, Event) as results:
        latent(connection, 1)
        connection.deliver("driftscope.local.bead.event", samples.message("event", seq=2))
        connection.deliver("driftscope.local.bead.trigger", samples.message("trigger", seq=3))
        latent(connection, 4)
        assert [(m.KIND, getattr(m, "seq")) for m in results.waiting()] == [("latent", 1), ("event", 2), ("latent", 4)]
        assert results.waiting() == [] and results.get(0.01) is None
    assert connection.subscriptions == {}
    with pytest.raises(ValueError, match="no kind given"):
        stream.results()


def test_iteration_ends_with_close(stream: Stream, connection: StandIn) -> None:
    results = stream.results(Latent)
    latent(connection, 1)
    latent(connection, 2)

    def later() -> None:
        time.sleep(0.1)
        results.close()

    closing = threading.Thread(target=later)
    closing.start()
    assert [m.seq for m in results] == [1, 2]
    closing.join()
    results.close()  # twice does nothing
    assert connection.subscriptions == {}


def test_memory_is_bounded(stream: Stream, connection: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    size = len(samples.message("latent", seq=1))
    monkeypatch.setattr(receiving, "WAITING_BYTES", 3 * size)
    monkeypatch.setattr(receiving, "LONGEST", 4 * size)
    results = stream.results(Latent)
    for seq in range(1, 6):
        latent(connection, seq)
    connection.deliver("driftscope.local.bead.latent", samples.message("latent", seq=6) + b" " * 4 * size)  # too long
    begun = time.monotonic()
    first = results.get(0)
    assert first and first.seq == 3 and results.lost == 2 and results.unreadable == 1
    assert begun - 10 < results.arrived <= begun
    latent(connection, 7)
    assert [m.seq for m in results.waiting()] == [4, 5, 7] and results.lost == 2
    connection.deliver("driftscope.local.bead.latent", samples.message("latent", seq=8) + b" " * 2 * size)
    connection.deliver("driftscope.local.bead.latent", samples.message("latent", seq=9) + b" " * 2 * size)
    assert [m.seq for m in results.waiting()] == [9] and results.lost == 3, "the last message always has room"


def test_the_oldest_is_lost(stream: Stream, connection: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receiving, "WAITING", 3)
    results = stream.results(Latent)
    for seq in range(5):
        latent(connection, seq)
    assert [m.seq for m in results.waiting()] == [2, 3, 4] and results.lost == 2


def test_the_unreadable_is_counted(stream: Stream, connection: StandIn, caplog: pytest.LogCaptureFixture) -> None:
    results = stream.results(Trigger)
    connection.deliver("driftscope.local.bead.trigger", b"{}")
    assert results.waiting() == [] and results.unreadable == 1
    assert "driftscope.local.bead.trigger: found {}, expected v 1 and kind one of trigger" in caplog.text


def test_an_old_worker_is_passed_over(stream: Stream, connection: StandIn) -> None:
    results = stream.results(Latent)
    for seq, epoch in ((1, 3), (2, 4), (3, 3), (4, 4)):
        latent(connection, seq, epoch=epoch)
    assert [m.seq for m in results.waiting()] == [1, 2, 4] and results.superseded == 1

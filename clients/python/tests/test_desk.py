"""Connecting and commands beside a viewer's thread, and the dock widget on them, where Qt is there (Debian: python3-qtpy python3-pyqt5)."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from typing import Any, Callable

import pytest
import samples
from standins import StandIn
from viewers import Viewer

from driftscope.connection import Away, Received
from driftscope.live import Desk


def until(done: Callable[[], Any], desk: Desk) -> None:
    end = time.monotonic() + 20
    while not done():
        desk.refresh()
        assert time.monotonic() < end, desk.said
        time.sleep(0.01)


def dialling(connection: StandIn, wait: threading.Event | None = None) -> Any:
    async def dial(url: str) -> StandIn:
        while wait and not wait.is_set():
            await asyncio.sleep(0.01)
        return connection

    return dial


def answers(connection: StandIn, *names: str, subject: str = "driftscope.local.beads") -> None:
    connection.answers |= {f"{subject}.cmd.{name}": Received("_INBOX.1", b"ok") for name in names}


def test_commands_beside_the_viewer(connection: StandIn) -> None:
    answers(connection, "freeze", "resume", "follow", "unfollow")
    desk = Desk("nats://somewhere", "beads", dial=dialling(connection))
    until(lambda: desk.live, desk)
    assert desk.lines()[:2] == ["connected to driftscope.local.beads", "no frame has come yet"]
    for act, says in (
        (desk.freeze, "the law is held"), (desk.resume, "the law goes on"),
        (lambda: desk.follow(17), "object 17 is followed"), (lambda: desk.follow(None), "no object is followed"),
    ):  # fmt: skip
        act()
        until(lambda says=says: desk.said == says, desk)  # type: ignore[misc]
    assert [(subject.rpartition(".")[2], data) for subject, data in connection.asked] == [("freeze", b""), ("resume", b""), ("follow", b'{"id": 17}'), ("unfollow", b"")]
    connection.deliver("driftscope.local.beads.objects", samples.message("objects", seq=1))
    assert desk.refresh() and desk.live and desk.live.window.newest == 1
    desk.close()
    desk.close()  # twice does nothing
    desk.freeze()
    assert desk.said == "freeze: not sent, because no stream is connected"


def test_refusals_are_said(connection: StandIn) -> None:
    connection.answers = {"lab.east.beads.cmd.follow": Received("_INBOX.1", b"there is no object 17", {"Nats-Service-Error-Code": "404"})}
    desk = Desk("nats://somewhere", "lab.east.beads", dial=dialling(connection))
    until(lambda: desk.live, desk)
    desk.follow(17)
    until(lambda: desk.said == "refused (404): there is no object 17", desk)
    desk.freeze()
    until(lambda: "lab.east.beads.cmd.freeze" in desk.said, desk)  # no answer
    desk.close()


def test_one_command_at_a_time(connection: StandIn) -> None:
    go = threading.Event()
    desk = Desk("nats://somewhere", "beads", dial=dialling(connection, go))
    begun = time.monotonic()
    desk.refresh()
    desk.freeze()
    assert time.monotonic() - begun < 1 and desk.said == "freeze: not sent, because no stream is connected" and not desk.failed
    go.set()
    until(lambda: desk.live, desk)
    answers(connection, "freeze")
    desk.freeze()
    desk.resume()
    assert desk.said == "resume: not sent, because the command before it is not answered yet"
    until(lambda: desk.said == "the law is held", desk)
    desk.close()


@pytest.mark.parametrize(("stream", "says"), [("", "expected PREFIX.SITE.NAME"), ("a b", "expected PREFIX.SITE.NAME"), ("east.beads", "expected PREFIX.SITE.NAME")])
def test_wrong_names(connection: StandIn, stream: str, says: str) -> None:
    desk = Desk("nats://somewhere", stream, dial=dialling(connection))
    until(lambda: desk.failed, desk)
    assert says in desk.said
    desk.close()


def test_no_server() -> None:
    async def dial(url: str) -> Any:
        raise Away(f"{url}: no NATS server answers")

    desk = Desk("nats://nowhere", "beads", dial=dial)
    until(lambda: desk.failed, desk)
    assert desk.lines() == ["nats://nowhere: no NATS server answers"]
    desk.close()


def test_the_dock_widget(connection: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "QT_QPA_PLATFORM", "offscreen")
    widgets = pytest.importorskip("qtpy.QtWidgets", exc_type=ImportError) if pytest.version_tuple >= (8, 2) else pytest.importorskip("qtpy.QtWidgets")
    from driftscope import client, widget

    app = widgets.QApplication.instance() or widgets.QApplication([])
    dial = client.connect
    monkeypatch.setattr(client, "connect", lambda url, **_: dial(url, dial=dialling(connection)))
    answers(connection, "freeze", "resume", "follow", "unfollow")
    viewer = Viewer()
    dock = widget.LiveTracks(napari_viewer=viewer)

    def wait(done: Callable[[], Any]) -> None:
        end = time.monotonic() + 20
        while not done():
            app.processEvents()
            assert time.monotonic() < end, dock.says.text()
            time.sleep(0.01)

    assert not dock.freeze.isEnabled() and dock.stream.isEnabled()
    dock.stream.setText("beads")
    dock.frames.setValue(5)
    dock.connect_.click()
    assert dock.connect_.text() == "Disconnect" and not dock.stream.isEnabled()
    wait(dock.freeze.isEnabled)
    for seq in range(8):
        connection.deliver("driftscope.local.beads.objects", samples.message(
            "objects", whole=False, seq=seq, id=[17, 18], x_px=[1, 2], y_px=[3, 4], marks=[0, 0], diffusion_px2_s=[1, 2], doubt=[0, 0], sd_px=[0, 0]))  # fmt: skip
    wait(lambda: len(viewer.layers) == 2 and "frames 3 to 7: 5 of at most 5" in dock.says.text())
    dock.freeze.click()
    wait(lambda: "the law is held" in dock.says.text())
    dock.follow.click()
    wait(lambda: "expected the number of an object" in dock.says.text())
    viewer.layers[1].selected_data = {9}  # type: ignore[attr-defined]  # of object 18 in the newest frame
    dock.follow.click()
    wait(lambda: "object 18 is followed" in dock.says.text())
    dock.number.setText("17")
    dock.follow.click()
    wait(lambda: "object 17 is followed" in dock.says.text())
    dock.number.setText("none")
    dock.follow.click()
    wait(lambda: "found none, expected the number" in dock.says.text())
    dock.unfollow.click()
    wait(lambda: "no object is followed" in dock.says.text())
    dock.resume.click()
    wait(lambda: "the law goes on" in dock.says.text())
    assert [subject.rpartition(".")[2] for subject, _ in connection.asked] == ["freeze", "follow", "follow", "unfollow", "resume"]
    dock.connect_.click()
    assert dock.connect_.text() == "Connect" and len(viewer.layers) == 2
    dock.stream.setText("a b")
    dock.connect_.click()
    wait(lambda: "expected PREFIX.SITE.NAME" in dock.says.text() and dock.connect_.text() == "Connect")
    dock.stream.setText("beads")
    connection.connected = True
    dock.connect_.click()
    wait(dock.freeze.isEnabled)
    viewer.layers.clear()
    monkeypatch.setattr(Viewer, "add_tracks", lambda *_, **__: 1 / 0)
    connection.deliver("driftscope.local.beads.objects", samples.message("objects", whole=False, seq=1, id=[17], x_px=[1], y_px=[3], marks=[0]))
    dock._timer.stop()
    with pytest.raises(ZeroDivisionError):
        dock.refresh()
    assert "cannot be drawn: division by zero" in dock.says.text() and dock.connect_.text() == "Connect"
    dock.refresh()  # says it once
    dock.close()
    wait(lambda: not connection.connected)
    connection.connected = True
    other = widget.LiveTracks(napari_viewer=viewer)
    other.stream.setText("beads")
    other.connect_.click()
    wait(other.freeze.isEnabled)
    other.deleteLater()  # as napari does with a dock that is closed
    app.sendPostedEvents(None, 52)  # QEvent.DeferredDelete
    del other
    end = time.monotonic() + 20
    while connection.connected and time.monotonic() < end:
        time.sleep(0.01)
    assert not connection.connected, "the connection outlived its dock"

import json
import re
import time
from pathlib import Path

import numpy as np
import pytest
from samples import schema
from standins import StandIn

from driftscope import frames as framing
from driftscope.background import Background
from driftscope.frames import Frame, Frames

PAGE = Path(__file__).parents[3] / "docs/reference/frames.md"


def frame(image: np.ndarray) -> Frame:
    return Frame.of(image, "s", 3, 1_000_000_007, 2)


@pytest.mark.parametrize(
    ("image", "width", "height", "channels", "kind"),
    [
        (np.arange(12, dtype=np.uint8).reshape(3, 4), 4, 3, 1, "uint8"),
        (np.arange(12, dtype=np.uint8).reshape(3, 4, 1), 4, 3, 1, "uint8"),
        (np.arange(12, dtype=">u2").reshape(3, 4), 4, 3, 1, "uint16"),
        (np.arange(12, dtype=np.float32).reshape(4, 3).T, 4, 3, 1, "float32"),
        (np.arange(36, dtype=np.uint16).reshape(3, 4, 3), 4, 3, 3, "uint16"),
        (np.arange(48, dtype=np.uint16).reshape(6, 8)[::2, ::2], 4, 3, 1, "uint16"),
    ],
)
def test_pixels_are_those_of_the_image(image: np.ndarray, width: int, height: int, channels: int, kind: str) -> None:
    f = frame(image)
    assert (f.width, f.height, f.channels, f.pixel_type) == (width, height, channels, kind)
    told = np.frombuffer(f.data, np.dtype(kind).newbyteorder("<"))
    assert told.tolist() == image.reshape(-1).tolist()


def test_headers_are_those_of_the_page() -> None:
    ((headers, _),) = frame(np.zeros((2, 3), np.uint8)).messages(1 << 20)
    assert headers == {
        "Driftscope-Session": "s", "Driftscope-Seq": "3", "Driftscope-Time-Ns": "1000000007", "Driftscope-Trajectory": "2", "Driftscope-Width": "3",
        "Driftscope-Height": "2", "Driftscope-Channels": "1", "Driftscope-Pixel-Type": "uint8", "Driftscope-Chunk": "0", "Driftscope-Chunks": "1",
    }  # fmt: skip
    said = set(re.findall(r"`(Driftscope-[\w-]+)`", PAGE.read_text("utf-8")))
    assert set(headers) == said - {"Driftscope-Encoding", "Driftscope-Filter"}, "the form of a message changed"


def test_chunks_make_the_frame() -> None:
    f = frame(np.arange(5000, dtype=np.uint16).reshape(50, 100))
    messages = list(f.messages(framing.HEADER_ROOM + 3000))
    assert [len(data) for _, data in messages] == [3000, 3000, 3000, 1000]
    assert b"".join(data for _, data in messages) == f.data
    assert [h["Driftscope-Chunk"] for h, _ in messages] == ["0", "1", "2", "3"] and {h["Driftscope-Chunks"] for h, _ in messages} == {"4"}
    for limit in (framing.HEADER_ROOM, framing.HEADER_ROOM + 2):
        with pytest.raises(ValueError, match="raise the server's max_payload"):
            next(f.messages(limit))


@pytest.mark.parametrize(
    ("image", "says"),
    [
        (np.zeros((2, 2), np.int32), "is of int32, uint8, uint16, float32 expected"),
        (np.zeros((2, 2, 4), np.uint8), r"shape \(2, 2, 4\)"),
        (np.zeros(2, np.uint8), r"shape \(2,\)"),
        (np.zeros((0, 2), np.uint8), "is 2x0"),
        (np.zeros((1, 16385), np.uint8), "is 16385x1"),
        (np.zeros((8192, 8193), np.uint8), "67117056 bytes"),
    ],
)
def test_what_no_run_takes_is_refused(image: np.ndarray, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        frame(image)


def test_places_are_those_of_the_schema(background: Background, connection: StandIn) -> None:
    with Frames(background, connection, "lab.tracks") as frames:
        frames.publish(np.zeros((2, 3), np.uint8))
        frames.publish_places(np.array([1.5, 2], np.float32), [3, 4], (640, 480), id=np.array([7, 3], np.uint64), sd=[0.1, 0.2], time_ns=5, trajectory=2)
        frames.publish_places([1.0], [2.0], (640, 480), unit="um")
        frames.publish_places([], [], (640, 480))
        for columns in ({"x": [1.0], "y": [1.0, 2.0]}, {"x": [np.nan], "y": [1.0]}, {"x": [1.0], "y": [1.0], "sd": [0.1, 0.1]}, {"x": [[1.0]], "y": [[1.0]]}):
            with pytest.raises(ValueError, match="one length and only finite"):
                frames.publish_places(size=(640, 480), **columns)
    (_, _, picture), *places = connection.published
    assert "Driftscope-Encoding" not in picture and len(places) == 3
    bodies = [json.loads(data) for _, data, _ in places]
    assert bodies == [{"id": [7, 3], "x_px": [1.5, 2.0], "y_px": [3, 4], "sd_px": [0.1, 0.2]}, {"x_um": [1.0], "y_um": [2.0]}, {"x_px": [], "y_px": []}]
    assert all(set(body) <= set(schema("places")["properties"]) for body in bodies)
    headers = [h for _, _, h in places]
    assert {h["Driftscope-Encoding"] for h in headers} == {"places"} and [h["Driftscope-Seq"] for h in headers] == ["1", "2", "3"]
    assert (headers[0]["Driftscope-Width"], headers[0]["Driftscope-Height"], headers[0]["Driftscope-Time-Ns"], headers[0]["Driftscope-Trajectory"]) == ("640", "480", "5", "2")


def test_frames_arrive_in_order(background: Background, connection: StandIn) -> None:
    connection.max_payload = framing.HEADER_ROOM + 100
    before = time.time_ns()
    with Frames(background, connection, "camera.bead") as frames:
        for k in range(20):
            assert frames.publish(np.full((10, 25), k, np.uint8))
        assert frames.publish(np.full((10, 25), 20, np.uint8), seq=30, time_ns=time.time_ns(), trajectory=1)
    assert frames.sent == 21 and frames.lost == 0 and connection.flushes == 1
    said = [(int(h["Driftscope-Seq"]), int(h["Driftscope-Chunk"]), data[0]) for _, data, h in connection.published]
    assert said == [(k if k < 20 else 30, chunk, k) for k in range(21) for chunk in range(3)]
    times = [int(h["Driftscope-Time-Ns"]) for _, _, h in connection.published]
    assert before <= times[0] and times == sorted(times) and times[-1] <= time.time_ns()
    assert {s for s, _, _ in connection.published} == {"camera.bead"} and len({h["Driftscope-Session"] for _, _, h in connection.published}) == 1
    with pytest.raises(ValueError, match="frame 30 after frame 30"):
        frames.publish(np.zeros((2, 2), np.uint8), seq=30)


def test_a_camera_does_not_wait(background: Background, connection: StandIn) -> None:
    with Frames(background, connection, "cam") as frames:
        frames.publish(np.zeros((2, 2), np.uint8))
        frames.flush()
        connection.connected = False
        for _ in range(3):
            frames.publish(np.zeros((2, 2), np.uint8))
        assert frames.flush(10)
        connection.connected = True
        frames.publish(np.zeros((2, 2), np.uint8))
    assert frames.sent == 2 and frames.lost == 3
    assert [h["Driftscope-Seq"] for _, _, h in connection.published] == ["0", "4"], "the gap tells the run what is lost"


def test_a_recording_waits(background: Background, connection: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(framing, "AGAIN", 0.01)
    connection.connected = False
    frames = Frames(background, connection, "film", live=False)
    for _ in range(3):
        frames.publish(np.zeros((2, 2), np.uint8))
    assert not frames.flush(0.05) and not connection.published
    connection.connected = True
    frames.close()
    assert frames.sent == 3 and frames.lost == 0 and len(connection.published) == 3


def test_memory_is_bounded(background: Background, connection: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(framing, "ROOM", 1000)
    connection.slow = 0.2  # far longer than ten calls take
    camera = Frames(background, connection, "cam")
    taken = [camera.publish(np.zeros((10, 40), np.uint8)) for _ in range(10)]
    camera.close()
    assert taken[:3] == [True, True, False] and camera.lost == taken.count(False) and camera.sent == taken.count(True)
    connection.slow = 0.01
    film = Frames(background, connection, "film", live=False)
    assert all(film.publish(np.zeros((10, 40), np.uint8)) for _ in range(6))
    film.close()
    assert film.sent == 6 and film.lost == 0
    large = Frames(background, connection, "cam")
    assert large.publish(np.zeros((50, 50), np.uint8)), "one frame always has room"
    large.close()


def test_confirmed_within_a_window(background: Background, connection: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(framing, "WINDOW", 1000)
    with Frames(background, connection, "cam", live=False) as frames:
        for _ in range(9):
            frames.publish(np.zeros((10, 40), np.uint8))
    assert connection.flushes == 2 + 1, "after each three frames, and at the end"


def test_what_cannot_be_sent_is_told(background: Background, connection: StandIn) -> None:
    frames = Frames(background, connection, "cam")
    connection.broken = RuntimeError("no such thing")
    frames.publish(np.zeros((2, 2), np.uint8))
    with pytest.raises(RuntimeError, match="cam: frames cannot be sent: no such thing"):
        frames.close()
    for subject in ("", "a b", "a.*", "a..b", ">"):
        with pytest.raises(ValueError, match="expected words with dots between"):
            Frames(background, connection, subject)

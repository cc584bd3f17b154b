"""A stream for a viewer: the last frames, the picture, the law, the counts, and commands. This module imports no viewer."""

from __future__ import annotations

import base64
import binascii
import io
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Callable

import numpy as np
from numpy.typing import NDArray

from . import client as clients
from .client import Client, Dial, Stream
from .connection import log
from .messages import Health, Latent, Law, Objects, Population, Track, View
from .results import Results
from .window import FRAMES, PLACES, Window

TURN = 0.05  # seconds that a refresh spends on messages; the others wait for the next one
MOST_PIXELS = 4096 * 4096  # of a picture

Published = Objects | Latent | Law | Track | Population | Health | View


@dataclass(frozen=True)
class Picture:
    """Grey values, and where their pixels lie in the frame: pixel (i, j) has its centre at translate + scale * (i, j), px."""

    grey: NDArray[np.uint8]
    scale: tuple[float, float]  # y, x
    translate: tuple[float, float]
    placed: bool  # False: the size of a frame is unknown, so scale and translate are 1 and 0


class Live:
    """What a stream has published lately. refresh belongs to one thread, and never waits."""

    def __init__(self, stream: Stream, frames: int = FRAMES, places: int = PLACES) -> None:
        self.name = stream.subject
        self.window = Window(frames, places)
        self.picture: Picture | None = None
        self.pictures_lost = 0  # that could not be decoded
        self.law = ""  # in words
        self.health: Health | None = None
        self._size = 0, 0  # of a frame: height and width, px; zeros where unknown
        self._results: Results[Published] = stream.results(Objects, Latent, Law, Track, Population, Health, View)

    def refresh(self) -> bool:
        """Takes what has come. Returns whether there was anything."""
        end = time.monotonic() + TURN
        view: View | None = None
        came = False
        while (message := self._results.get(0)) is not None:
            came = True
            if isinstance(message, View):
                view = message
            else:
                self._take(message)
            if time.monotonic() > end:
                break
        if view:
            self._see(view)
        return came

    def close(self) -> None:
        """Ends the subscription."""
        self._results.close()

    def lines(self) -> list[str]:
        """Says what the window holds, the law, and everything that is missing."""
        w, r = self.window, self._results
        held = f"{w.frames} of at most {w.most_frames}, {w.places} places of at most {w.most_places}, {w.objects} objects"
        said = [f"frames {w.newest - w.frames + 1} to {w.newest}: {held}" if w.frames else "no frame has come yet"]
        if self.law:
            said.append(self.law)
        if self.health:
            dropped = ", ".join(f"{n} {cause}" for cause, n in sorted(self.health.frames_dropped.items()) if n)
            said.append(f"run: {self.health.state}, {self.health.fps:.1f} frames/s, dropped: {dropped or 'none'}")
        missing = {
            "messages lost here (the viewer is too slow)": r.lost, "messages unreadable": r.unreadable, "messages of a former worker": r.superseded,
            "frames left the window early (too many places)": w.cut, "places left out (a message had too many)": w.left_out,
            "places without a number, frame or finite coordinates": w.unusable, "entries that the run did not send": w.unsent,
            "pictures unreadable": self.pictures_lost, "restarts of the stream": w.restarts,
        }  # fmt: skip
        if self.picture and not self.picture.placed:
            said.append("the picture does not lie under the tracks, because the size of a frame is unknown")
        return said + [f"{n} {what}" for what, n in missing.items() if n]

    def _take(self, message: Published) -> None:
        if isinstance(message, (Objects, Latent)):
            self.window.add(message)
            if isinstance(message, Objects):
                self._size = message.height_px, message.width_px
        elif isinstance(message, Track):
            self.window.judge(message)
        elif isinstance(message, Law):
            self.window.see(message)
        elif isinstance(message, Population):
            self.law = message.law.says if message.law else ""
        elif isinstance(message, Health):
            self.health = message

    def _see(self, view: View) -> None:
        try:
            grey = decode_jpeg(view.preview_jpeg)
        except ValueError as error:
            self.pictures_lost += 1
            if self.pictures_lost & (self.pictures_lost - 1) == 0:
                log.warning("%s: frame %d: the picture is unreadable: %s", self.name, view.seq, error)
            return
        self.picture = _placed(grey, view, self._size)


def _placed(grey: NDArray[np.uint8], view: View, size: tuple[int, int]) -> Picture:
    """Places a picture in the frame, whose height and width are size."""
    region = view.region
    if region:  # a model's picture: the region, resized
        y, x = region.height_px / grey.shape[0], region.width_px / grey.shape[1]
        return Picture(grey, (y, x), (region.y_px + (y - 1) / 2, region.x_px + (x - 1) / 2), True)
    # A field's picture averages square blocks of pixels and leaves out a rest smaller than a block, at the right and at the bottom.
    block = max(whole // (n + 1) + 1 for whole, n in zip(size, grey.shape))
    return Picture(grey, (block, block), ((block - 1) / 2, (block - 1) / 2), size != (0, 0))


def decode_jpeg(text: str) -> NDArray[np.uint8]:
    """Returns the grey values of a JPEG in base64. Raises ValueError."""
    try:
        from PIL import Image
    except ImportError as error:
        raise ValueError("it takes Pillow: pip install pillow") from error
    try:
        picture = Image.open(io.BytesIO(base64.b64decode(text, validate=True)), formats=["JPEG"])
        if picture.width * picture.height > MOST_PIXELS:
            raise ValueError(f"found {picture.width}x{picture.height} pixels, at most {MOST_PIXELS} expected")
        return np.asarray(picture.convert("L"))
    except (OSError, binascii.Error, Image.DecompressionBombError) as error:
        raise ValueError(str(error) or "it is cut off") from error


class Desk:
    """Connects to a stream and sends it commands, one after the other in a thread of its own: the viewer's thread never waits.

    stream is a name, or PREFIX.SITE.NAME. said is the answer to the last command. All methods belong to the viewer's thread.
    """

    def __init__(self, url: str = clients.LOCAL, stream: str = "", frames: int = FRAMES, dial: Dial | None = None) -> None:
        prefix, site, name = stream.split(".") if stream.count(".") == 2 else ("driftscope", "local", stream)
        self.live: Live | None = None
        self.said = f"connecting to {url}"
        self._stream: Stream | None = None
        self._client: Client | None = None
        self._pool = ThreadPoolExecutor(1, "driftscope desk")
        self._closed = False

        def begin() -> Live:
            self._client = clients.connect(url, dial=dial)
            self._stream = self._client.stream(name, site, prefix)
            return Live(self._stream, frames)

        def begun(live: Live) -> None:
            self.live, self.said = live, f"connected to {self._stream.subject if self._stream else url}"

        self._work: tuple[Future[Any], Callable[[Any], None]] | None = (self._pool.submit(begin), begun)

    @property
    def failed(self) -> bool:
        """Whether there is no connection, and none is on its way."""
        return self.live is None and self._work is None

    def refresh(self) -> bool:
        """Takes what has come. Returns whether the window or the picture changed."""
        if self._work and self._work[0].done():
            (future, done), self._work = self._work, None
            try:
                done(future.result())
            except Exception as error:  # refused, no answer, away, a wrong name: each says what to do
                self.said = str(error) or type(error).__name__
        return self.live is not None and self.live.refresh()

    def freeze(self) -> None:
        """Holds the law as it is."""
        self._command("freeze", "the law is held")

    def resume(self) -> None:
        """Ends freeze."""
        self._command("resume", "the law goes on")

    def follow(self, number: int | None) -> None:
        """Has the run publish the latents and the law of one object of a field; None ends that."""
        if number is None:
            self._command("unfollow", "no object is followed")
        else:
            self._command("follow", f"object {number} is followed", id=number)

    def close(self) -> None:
        """Ends the connection. The thread ends once the command that it waits for is answered."""
        if self._closed:
            return
        self._closed = True
        self.live, self._work = None, None
        self._pool.submit(lambda: self._client.close() if self._client else None)
        self._pool.shutdown(wait=False)

    def lines(self) -> list[str]:
        """Says what the desk did last, and what the stream published."""
        return [self.said, *(self.live.lines() if self.live else [])]

    def _command(self, name: str, says: str, **payload: Any) -> None:
        stream = self._stream
        if self.live is None or stream is None:
            self.said = f"{name}: not sent, because no stream is connected"
        elif self._work:
            self.said = f"{name}: not sent, because the command before it is not answered yet"
        else:

            def done(_: Any) -> None:
                self.said = says

            self.said = f"{name}: sent"
            self._work = self._pool.submit(stream.command, name, **payload), done

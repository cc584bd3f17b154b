"""The dock widget of the napari plug-in; only this module needs Qt when it is imported. live.py has what the widget shows."""

from __future__ import annotations

from qtpy.QtCore import Qt, QTimer
from qtpy.QtGui import QCloseEvent
from qtpy.QtWidgets import QFormLayout, QHBoxLayout, QLabel, QLineEdit, QPushButton, QSpinBox, QVBoxLayout, QWidget

from .client import LOCAL
from .live import Desk
from .tracks import Layers, Viewer, paced
from .window import FRAMES

EVERY_MS = 100
MOST_FRAMES = 100_000  # that a window may have


class LiveTracks(QWidget):  # type: ignore[misc]  # qtpy has no types
    """Live tracks of a stream, its law and counts, and its commands."""

    def __init__(self, napari_viewer: Viewer) -> None:  # napari passes its viewer to a parameter of this name
        super().__init__()
        self._viewer = napari_viewer
        self._desk: Desk | None = None
        self._open = opened = list[Desk]()  # at most the desk; it outlives the widget

        def end(*_: object) -> None:
            for desk in opened:
                desk.close()

        self.destroyed.connect(end)
        self._layers: Layers | None = None
        self.server, self.stream, self.number = QLineEdit(LOCAL), QLineEdit(), QLineEdit()
        self.stream.setPlaceholderText("vesicle, or PREFIX.SITE.NAME")
        self.number.setPlaceholderText("the selected point")
        self.frames = QSpinBox()
        self.frames.setRange(1, MOST_FRAMES)
        self.frames.setValue(FRAMES)
        self.connect_ = self._button("Connect", self._toggle)
        self.freeze = self._button("Freeze", lambda: self._desk and self._desk.freeze())
        self.resume = self._button("Resume", lambda: self._desk and self._desk.resume())
        self.follow = self._button("Follow", self._follow)
        self.unfollow = self._button("Unfollow", lambda: self._desk and self._desk.follow(None))
        self.says = QLabel()
        self.says.setWordWrap(True)
        self.says.setTextFormat(Qt.PlainText)  # a server's text is no HTML
        form = QFormLayout()
        for name, field in (("Server", self.server), ("Stream", self.stream), ("Frames kept", self.frames), ("Object", self.number)):
            form.addRow(name, field)
        whole = QVBoxLayout(self)
        whole.addLayout(form)
        whole.addWidget(self.connect_)
        for pair in ((self.freeze, self.resume), (self.follow, self.unfollow)):
            row = QHBoxLayout()
            for button in pair:
                row.addWidget(button)
            whole.addLayout(row)
        whole.addWidget(self.says)
        whole.addStretch()
        self._timer = QTimer(self)
        self._enable()
        paced(self._timer, EVERY_MS, self.refresh)

    def refresh(self) -> None:
        """Draws what has come."""
        if self._desk is None:
            return
        try:
            changed = self._desk.refresh()
            if self._layers is None and self._desk.live:
                self._layers = Layers(self._viewer, self._desk.live)
            if changed and self._layers:
                self._layers.refresh()
        except Exception as error:
            self.says.setText(f"disconnected, because the layers cannot be drawn: {error}")
            self._end()
            raise  # napari shows it, once
        self.says.setText("\n".join(self._desk.lines()))
        if self._desk.failed:
            self._end()
        self._enable()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Ends the connection with the widget."""
        self._end()
        self._timer.stop()
        super().closeEvent(event)

    def _button(self, name: str, slot: object) -> QPushButton:
        button = QPushButton(name)
        button.clicked.connect(slot)
        return button

    def _toggle(self) -> None:
        if self._desk:
            self._end()
            self.says.setText("disconnected; the layers stay")
        else:
            self._desk = Desk(self.server.text().strip(), self.stream.text().strip(), self.frames.value())
            self._open[:] = [self._desk]
        self._enable()

    def _follow(self) -> None:
        if self._desk is None:
            return
        text = self.number.text().strip()
        number = int(text) if text.isascii() and text.isdigit() and len(text) < 20 else None
        if not text and self._layers:
            number = self._layers.selected()
        if number is None:
            self._desk.said = f"found {text or 'no selected point'}, expected the number of an object: type it, or select one point of the objects"
        else:
            self._desk.follow(number)

    def _end(self) -> None:
        if self._desk:
            self._desk.close()
        self._desk = self._layers = None
        self._enable()

    def _enable(self) -> None:
        self.connect_.setText("Disconnect" if self._desk else "Connect")
        for field in (self.server, self.stream, self.frames):
            field.setEnabled(self._desk is None)
        for button in (self.freeze, self.resume, self.follow, self.unfollow):
            button.setEnabled(bool(self._desk and self._desk.live))

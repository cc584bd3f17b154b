"""Frames to Driftscope, and its latents, laws, tracks and triggers, from Python.

    with driftscope.connect() as server:
        for law in server.stream("molecule").results(driftscope.Law):
            print(law.sigma)
"""

from .client import LOCAL, Client, Refused, Stream, connect
from .connection import Away, Connection, NoAnswer
from .decoding import Message, Unreadable
from .frames import Frames
from .messages import Event, Health, Info, Latent, Law, Objects, Population, Track, Trigger, View
from .results import Results

__all__ = [
    "LOCAL", "Away", "Client", "Connection", "Event", "Frames", "Health", "Info", "Latent", "Law", "Message", "NoAnswer", "Objects",
    "Population", "Refused", "Results", "Stream", "Track", "Trigger", "Unreadable", "View", "connect",
]  # fmt: skip

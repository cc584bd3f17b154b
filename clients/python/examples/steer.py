"""A control loop beside driftscope run sim:molecule: it freezes the law while the pictures are unlike the training, and steers by each fresh latent."""

import contextlib
import sys
import time

import driftscope
from driftscope import Event, Latent

FRESH, YEAR = 200_000_000, 31_536_000_000_000_000  # ns; simulations begin in 1970

with contextlib.suppress(KeyboardInterrupt), driftscope.connect(sys.argv[1] if len(sys.argv) > 1 else driftscope.LOCAL) as server:
    stream = server.stream("molecule")
    for message in stream.results(Event, Latent):
        if isinstance(message, Event):
            if message.code == "unlike_training":
                stream.freeze() if message.level == "warning" else stream.resume()
        elif isinstance(message, Latent) and (time.time_ns() - message.time_ns < FRESH or message.time_ns < YEAR):
            print("steer by", message.z_filtered)

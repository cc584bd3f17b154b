"""What moves, and by which law: beside driftscope run sim:molecule."""

import contextlib
import sys

import driftscope
from driftscope import Event, Law

with contextlib.suppress(KeyboardInterrupt), driftscope.connect(sys.argv[1] if len(sys.argv) > 1 else driftscope.LOCAL) as server:
    for message in server.stream("molecule").results(Law, Event):
        if isinstance(message, Law):
            limits = zip(message.sigma, message.sigma_low, message.sigma_high)
            print(f"frame {message.seq}: {message.active_count} dimensions move, σ " + ", ".join(f"{s:.3f} ({low:.3f} to {high:.3f})" for s, low, high in limits))
        elif isinstance(message, Event):
            print(f"{message.level}: {message.code}: {message.text}")

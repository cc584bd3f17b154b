"""What moves, and by which law: beside driftscope run sim:molecule."""

import sys

import driftscope
from driftscope import Event, Law

with driftscope.connect(sys.argv[1] if len(sys.argv) > 1 else driftscope.LOCAL) as server:
    for message in server.stream("molecule").results(Law, Event):
        if isinstance(message, Law):
            print(f"frame {message.seq}: {message.active_count} dimensions move, σ is {message.sigma} in {message.sigma_low} to {message.sigma_high}")
        elif isinstance(message, Event):
            print(f"{message.level}: {message.code}: {message.text}")

"""What a run of sim:molecule says, and commands to it: run by cmd/driftscope/clients_test.go with the url of its server. Prints it as JSON."""

from __future__ import annotations

import json
import sys
import time

import driftscope
from driftscope import Event, Latent, Law, Trigger
from driftscope.mda import TriggerEvents

PATIENCE = 120.0  # seconds


def main(url: str) -> None:
    end = time.monotonic() + PATIENCE
    with driftscope.connect(url) as server:
        stream = server.stream("molecule")
        latents, laws, events = stream.results(Latent), stream.results(Law), stream.results(Event)
        acts = TriggerEvents(stream, lambda trigger: trigger if isinstance(trigger, Trigger) else None)
        while time.monotonic() < end:
            try:
                info = stream.info()
                break
            except (driftscope.NoAnswer, driftscope.Refused):  # it is starting
                time.sleep(0.05)
        begun = next(acts)
        law = next(laws)
        stream.freeze()
        stream.resume()
        stream.stop()
        codes = []
        for event in events:
            codes.append(event.code)
            if event.code in ("stream_ended", "command_stop"):
                break
        acts.stop()
        found = latents.waiting()
        print(json.dumps({
            "latents": len(found), "lost": sum(b.seq - a.seq - 1 for a, b in zip(found, found[1:])), "dimensions": len(found[0].z),
            "info": info.latents, "triggers": info.triggers, "trigger": begun.name, "on": begun.on, "sigma": law.sigma, "codes": codes,
            "unreadable": latents.unreadable + laws.unreadable + events.unreadable,
        }))  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1])

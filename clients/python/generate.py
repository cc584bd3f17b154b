#!/usr/bin/env python3
"""Writes src/driftscope/messages.py from docs/schemas; make schemas runs it."""

from __future__ import annotations

import json
import keyword
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SCHEMAS = HERE / "../../docs/schemas"
TARGET = HERE / "src/driftscope/messages.py"

# The kinds of message of a stream, and what their classes are called.
CLASSES = {
    "latent": "Latent", "sde": "Law", "event": "Event", "trigger": "Trigger", "objects": "Objects", "track": "Track",
    "population": "Population", "health": "Health", "view": "View", "info": "Info",
}  # fmt: skip

HEAD = '''"""The messages of a stream. Written by generate.py from docs/schemas: change nothing here.

A number that is not finite is nan, a list that has nothing is empty, and what a message does not have is None.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from .decoding import Message, Record, Timed
'''

PLAIN = {"string": "str", "integer": "int", "boolean": "bool", "number": "float"}


def camel(name: str) -> str:
    return "".join(word.title() for word in name.split("_"))


class Writer:
    """The classes of one kind, those of its parts first."""

    def __init__(self) -> None:
        self.classes: list[str] = []

    def hint(self, schema: dict[str, Any], name: str) -> str:
        """The type of a value; name is that of its class, where it is an object."""
        if "enum" in schema:
            return "Literal[%s]" % ", ".join(json.dumps(value) for value in schema["enum"])
        kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        kind = next(k for k in kinds if k != "null")
        if kind == "array":
            return "list[%s]" % self.hint(schema["items"], name)
        if kind == "object" and "properties" not in schema:
            return "dict[str, %s]" % (self.hint(schema["additionalProperties"], name) if "additionalProperties" in schema else "object")
        if kind == "object":
            self.write(schema, name, "Record", schema.get("description"))
            return name
        return PLAIN[kind]

    def write(self, schema: dict[str, Any], name: str, base: str, says: str | None) -> None:
        """Adds the class of an object."""
        lines = []
        for field, value in schema["properties"].items():
            if field in ("v", "kind"):
                continue
            hint = self.hint(value, name + camel(field))
            if field not in schema.get("required", []):
                hint += " | None = None"
            said = " ".join(filter(None, [value.get("description"), "(%s)" % value["x-unit"] if "x-unit" in value else None]))
            lines += ["    #: " + said] if said else []
            lines.append(f"    {field}_: {hint}" if keyword.iskeyword(field) else f"    {field}: {hint}")
        head = ["@dataclass(frozen=True, kw_only=True)", f"class {name}({base}):"]
        head += [f'    """{says[0].upper() + says[1:]}."""', ""] if says else []
        if "kind" in schema["properties"]:
            head += [f'    KIND: ClassVar[str] = "{schema["properties"]["kind"]["const"]}"', ""]
        self.classes.append("\n".join(head + lines))


def generate() -> str:
    writer = Writer()
    for kind, name in CLASSES.items():
        schema = json.loads((SCHEMAS / f"{kind}.schema.json").read_text("utf-8"))
        writer.write(schema, name, "Timed" if "time" in schema["properties"] else "Message", schema["description"])
    kinds = "\n".join(f'    "{kind}": {name},' for kind, name in CLASSES.items())
    tail = "#: The class of each kind.\nKINDS: dict[str, type[Message]] = {\n" + kinds + "\n}\n"
    return "\n\n".join([HEAD, *(c + "\n" for c in writer.classes), tail])


if __name__ == "__main__":
    TARGET.write_text(generate(), "utf-8")

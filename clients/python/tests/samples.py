"""Messages made of their schemas."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SCHEMAS = Path(__file__).parents[3] / "docs/schemas"


def schema(kind: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((SCHEMAS / f"{kind}.schema.json").read_text("utf-8"))
    return found


def value(of: dict[str, Any], whole: bool = True) -> Any:
    """A value that a schema allows; without whole only what is required is there."""
    if "const" in of:
        return of["const"]
    if "enum" in of:
        return of["enum"][0]
    kinds = of["type"] if isinstance(of["type"], list) else [of["type"]]
    kind = next(k for k in kinds if k != "null")
    if kind == "object" and "properties" in of:
        return {name: value(part, whole) for name, part in of["properties"].items() if whole or name in of["required"]}
    if kind == "object" and "additionalProperties" in of:
        return {"a": value(of["additionalProperties"], whole)}
    if kind == "object":
        return {"zone": {"name": "edge", "box": {"z1": [0, 1.5]}}}
    if kind == "array":
        return [value(of["items"], whole)] * 2
    if of.get("format") == "date-time":
        return "2026-11-26T04:05:06.123456789Z"
    return {"string": "a", "integer": 7, "number": 2.5, "boolean": True}[kind]


def message(kind: str, whole: bool = True, **changes: Any) -> bytes:
    return json.dumps(value(schema(kind), whole) | changes).encode()

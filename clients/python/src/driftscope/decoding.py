"""From a message's JSON to its class."""

from __future__ import annotations

import dataclasses
import json
import math
import types
import typing
from datetime import datetime, timezone
from typing import Any, Callable, ClassVar, TypeVar

R = TypeVar("R", bound="Record")


class Unreadable(ValueError):
    """A message that is not what its schema says."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Record:
    """A part of a message."""

    @classmethod
    def read(cls: type[R], found: Any, where: str = "") -> R:
        """The record in an object of JSON. Fields that are not known here are passed over: messages only ever gain some."""
        if not isinstance(found, dict):
            raise Unreadable(f"{where or cls.__name__}: found {found!r:.80}, expected an object")
        values = {}
        for name, key, reader, required in _fields(cls):
            if key in found:
                values[name] = reader(found[key], f"{where}.{key}")
            elif required:
                raise Unreadable(f"{where}.{key} is missing: is the server's Driftscope older than this client?")
        return cls(**values)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Message(Record):
    """A message of a stream."""

    KIND: ClassVar[str]

    stream: str
    epoch: int | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Timed(Message):
    """A message that has a time."""

    time: str

    @property
    def time_ns(self) -> int:
        """Nanoseconds since 1970: of a frame's message what its publisher said."""
        return time_ns(self.time)


def time_ns(text: str) -> int:
    """RFC 3339 in UTC, to the nanosecond, which datetime does not keep."""
    whole, _, fraction = text.removesuffix("Z").partition(".")
    seconds = datetime.fromisoformat(whole).replace(tzinfo=timezone.utc) - datetime(1970, 1, 1, tzinfo=timezone.utc)
    return (seconds.days * 86400 + seconds.seconds) * 10**9 + int((fraction + "0" * 9)[:9])


def decode(kinds: dict[str, type[Message]], data: bytes | str) -> Message:
    """The message in data, of one of kinds."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"not JSON: {error}") from error
    if not isinstance(found, dict) or found.get("v") != 1 or found.get("kind") not in kinds:
        raise Unreadable(f"found {found!r:.80}, expected v 1 and kind one of {', '.join(kinds)}")
    return kinds[found["kind"]].read(found, found["kind"])


Reader = Callable[[Any, str], Any]


Field = tuple[str, str, Reader, bool]  # a record's: name, key in JSON, reader, and whether it must be there

_known: dict[type[Record], list[Field]] = {}


def _fields(cls: type[Record]) -> list[Field]:
    if cls not in _known:
        hints = typing.get_type_hints(cls)
        _known[cls] = [(f.name, f.name.rstrip("_"), _reader(hints[f.name]), f.default is dataclasses.MISSING) for f in dataclasses.fields(cls)]
    return _known[cls]


def _reader(hint: Any) -> Reader:
    """What reads a value of a type."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return _reader(next(a for a in arguments if a is not type(None)))
    if origin is typing.Literal:
        return _exactly(str)  # a word that is not known here is passed on
    if origin is list:
        return _list(_reader(arguments[0]))
    if origin is dict:
        return _dict(_reader(arguments[1]))
    if hint is float:
        return _float
    if hint is object:
        return lambda found, where: found  # options as they were written
    if issubclass(hint, Record):
        record: type[Record] = hint
        return lambda found, where: record.read(found, where)
    return _exactly(hint)


def _exactly(kind: type) -> Reader:
    def read(found: Any, where: str) -> Any:
        if type(found) is not kind:
            raise Unreadable(f"{where}: found {found!r:.80}, expected {kind.__name__}")
        return found

    return read


def _float(found: Any, where: str) -> float:
    if found is None:
        return math.nan
    if isinstance(found, bool) or not isinstance(found, (int, float)):
        raise Unreadable(f"{where}: found {found!r:.80}, expected a number")
    try:
        return float(found)
    except OverflowError:  # a whole number of more than 308 digits
        return math.nan


def _list(item: Reader) -> Reader:
    def read(found: Any, where: str) -> list[Any]:
        if not isinstance(found, list | None):
            raise Unreadable(f"{where}: found {found!r:.80}, expected a list")
        return [item(value, where) for value in found or []]

    return read


def _dict(item: Reader) -> Reader:
    def read(found: Any, where: str) -> dict[str, Any]:
        if not isinstance(found, dict | None):
            raise Unreadable(f"{where}: found {found!r:.80}, expected an object")
        return {key: item(value, f"{where}.{key}") for key, value in (found or {}).items()}

    return read

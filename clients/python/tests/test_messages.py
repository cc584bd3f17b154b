import dataclasses
import json
import math

import pytest
import samples

import generate
from driftscope.decoding import Unreadable, decode, time_ns
from driftscope.messages import KINDS, Event, Latent, Law, Objects, Population, Track


def test_written_from_the_schemas() -> None:
    assert generate.TARGET.read_text("utf-8") == generate.generate(), "docs/schemas changed: run make schemas"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("whole", [True, False])
def test_every_field_is_read(kind: str, whole: bool) -> None:
    def same(record: object, found: dict[str, object]) -> None:
        fields = {f.name.rstrip("_"): getattr(record, f.name) for f in dataclasses.fields(record)}  # type: ignore[arg-type]
        assert set(found) - {"v", "kind"} <= set(fields)
        for name, value in fields.items():
            if dataclasses.is_dataclass(value):
                same(value, found[name])  # type: ignore[arg-type]
            elif isinstance(value, list) and value and dataclasses.is_dataclass(value[0]):
                for part, of in zip(value, found[name], strict=True):  # type: ignore[call-overload]
                    same(part, of)
            else:
                assert value == found.get(name), name

    data = samples.message(kind, whole)
    same(decode(KINDS, data), json.loads(data))


def test_what_is_not_finite_is_nan() -> None:
    law = decode(KINDS, samples.message("sde", sigma=[1, None], drift_crlb=None, activity=None))
    assert isinstance(law, Law)
    assert law.sigma[0] == 1 and math.isnan(law.sigma[1]) and math.isnan(law.drift_crlb) and law.activity == []


def test_a_number_beyond_floats_is_nan() -> None:
    latent = decode(KINDS, samples.message("latent", light=10**400))
    assert isinstance(latent, Latent) and math.isnan(latent.light)


def test_parts_have_types() -> None:
    track, objects, population = (decode(KINDS, samples.message(kind)) for kind in ("track", "objects", "population"))
    assert isinstance(track, Track) and track.motion and track.motion.class_ == "a"
    assert isinstance(objects, Objects) and objects.earlier and objects.earlier.filled == [True, True]
    assert isinstance(population, Population) and population.law and population.law.says == "a"


def test_newer_messages_are_read() -> None:
    event = decode(KINDS, samples.message("event", level="fatal", whereabouts={"x": 1}))
    assert isinstance(event, Event) and event.level == "fatal"


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"{", "not JSON"),
        (b"[]", "expected v 1"),
        (b"[" * 100_000, "not JSON: maximum recursion"),
        (samples.message("latent", v=2), "expected v 1"),
        (b'{"v": 1, "kind": "latents"}', "expected v 1 and kind one of"),
        (samples.message("latent", seq="1"), "latent.seq: found '1', expected int"),
        (samples.message("latent", seq=True), "latent.seq: found True, expected int"),
        (samples.message("latent", z=3), "latent.z: found 3, expected a list"),
        (samples.message("latent", z=[True]), "latent.z: found True, expected a number"),
        (samples.message("track", motion=3), "track.motion: found 3, expected an object"),
        (samples.message("health", alarms=[1]), "health.alarms: found \\[1\\], expected an object"),
        (b'{"v": 1, "kind": "latent", "stream": "a"}', "latent.time is missing"),
    ],
)
def test_others_are_refused(data: bytes, says: str) -> None:
    with pytest.raises(Unreadable, match=says):
        decode(KINDS, data)


def test_times_are_exact() -> None:
    latent = decode(KINDS, samples.message("latent", time="2026-11-26T04:05:06.123456789Z"))
    assert isinstance(latent, Latent) and latent.time_ns == 1795665906123456789
    assert time_ns("1970-01-01T00:00:00Z") == 0
    assert time_ns("1969-12-31T23:59:59.5Z") == -500_000_000

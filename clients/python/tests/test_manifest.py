"""The plug-in's manifest, by the rules of npe2's sources (npe2/manifest/schema.py, _validators.py, contributions/): npe2 itself is on PyPI only."""

from __future__ import annotations

import importlib
import inspect
import re
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parents[1]

PACKAGE = re.compile(r"[A-Z0-9]([A-Z0-9._-]*[A-Z0-9])?", re.IGNORECASE)
COMMAND = re.compile(r"([A-Z0-9][A-Z0-9._-]*\.)*[A-Z_]\w*", re.IGNORECASE | re.ASCII)
PYTHON = re.compile(r"([A-Z_][\w-]+\.)*[A-Z_][\w-]+:[A-Z_][\w-]+", re.IGNORECASE | re.ASCII)
DISPLAY = re.compile(r"[^\W_][\w -~:.'\"]{1,88}[^\W_]")
CATEGORIES = {
    "Acquisition", "Annotation", "Dataset", "Image Processing", "IO", "Measurement", "Registration", "Segmentation", "Simulation", "Themes",
    "Transformations", "Utilities", "Visualization",
}  # fmt: skip
FIELDS = {  # required, and allowed besides
    "manifest": ({"name"}, {"display_name", "visibility", "icon", "categories", "schema_version", "on_activate", "on_deactivate", "contributions"}),
    "commands": ({"id", "title"}, {"python_name", "short_title", "category", "icon", "enablement"}),
    "widgets": ({"command", "display_name"}, {"autogenerate"}),
    "readers": ({"command", "filename_patterns"}, {"accepts_directories"}),
}


@pytest.fixture(scope="module")
def manifest() -> dict[str, Any]:
    yaml = pytest.importorskip("yaml")
    found: dict[str, Any] = yaml.safe_load((HERE / "src/driftscope/napari.yaml").read_text("utf-8"))
    return found


def fields(found: dict[str, Any], kind: str) -> None:
    required, more = FIELDS[kind]
    assert required <= set(found) <= required | more, f"{kind}: {set(found)}"


def test_manifest(manifest: dict[str, Any]) -> None:
    fields(manifest, "manifest")
    assert PACKAGE.fullmatch(manifest["name"]) and DISPLAY.fullmatch(manifest["display_name"]) and set(manifest["categories"]) <= CATEGORIES
    assert tuple(map(int, manifest["schema_version"].split("."))) <= (0, 3, 0), "npe2 0.8 knows no later version"
    assert set(manifest["contributions"]) <= {"commands", "widgets", "readers"}


def test_commands(manifest: dict[str, Any]) -> None:
    commands = manifest["contributions"]["commands"]
    for command in commands:
        fields(command, "commands")
        assert command["id"].startswith(manifest["name"] + ".") and COMMAND.fullmatch(command["id"])
        assert PYTHON.fullmatch(command["python_name"])
        module, _, name = command["python_name"].partition(":")
        if module.endswith("widget"):
            pytest.importorskip("qtpy")
        assert callable(getattr(importlib.import_module(module), name))
    for kind in ("widgets", "readers"):
        for item in manifest["contributions"][kind]:
            fields(item, kind)
            assert item["command"] in [command["id"] for command in commands]


def test_widget_takes_the_viewer() -> None:
    """napari passes its viewer to a QWidget's parameter napari_viewer, and has no other argument for it."""
    pytest.importorskip("qtpy.QtWidgets")
    from driftscope.widget import LiveTracks

    assert list(inspect.signature(LiveTracks).parameters) == ["napari_viewer"]


@pytest.mark.parametrize("name", ["tracks.csv", "results.objects.csv", "a.parquet", "run.jsonl", "tracks.xml"])
def test_patterns(manifest: dict[str, Any], name: str) -> None:
    (reader,) = manifest["contributions"]["readers"]
    assert any(fnmatch(name, pattern) for pattern in reader["filename_patterns"])
    assert reader["accepts_directories"], "a .geff and a recording are folders"


def test_entry_point_and_data() -> None:
    toml = pytest.importorskip("tomllib")
    project = toml.loads((HERE / "pyproject.toml").read_text("utf-8"))
    assert project["project"]["entry-points"]["napari.manifest"] == {"driftscope": "driftscope:napari.yaml"}
    assert "napari.yaml" in project["tool"]["setuptools"]["package-data"]["driftscope"]
    assert f"\nname: {project['project']['name']}\n" in (HERE / "src/driftscope/napari.yaml").read_text("utf-8"), "npe2 wants the package's name"

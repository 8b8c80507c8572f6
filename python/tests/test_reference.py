"""The reference of the package on the site is that of the package."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

from conftest import ROOT

import candor


def tool(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / f"python/tools/{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_reference_is_current() -> None:
    """If not: python python/tools/reference.py."""
    page = (ROOT / "docs/reference/python-api.md").read_text()
    assert page == tool("reference").text(Path(candor.__file__).parent)


def test_all_that_is_exported_is_in_the_reference() -> None:
    page = (ROOT / "docs/reference/python-api.md").read_text()
    errors = {
        name
        for name in candor.__all__
        if isinstance(getattr(candor, name), type) and issubclass(getattr(candor, name), candor.Error)
    }
    for name in set(candor.__all__) - errors - {"__version__", "front"}:
        assert f"### {name}\n" in page, name

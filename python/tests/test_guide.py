"""What the guide shows, runs."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

GUIDE = Path(__file__).resolve().parents[2] / "docs/guide/python.md"


@pytest.mark.filterwarnings("ignore::candor.Caution")
def test_the_guide(people_path, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(people_path, "people.csv")
    blocks = re.findall(r"^```python\n(.*?)^```", GUIDE.read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 5
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, str(GUIDE), "exec"), names)
    assert (tmp_path / "report.html").exists() and (tmp_path / "sheet.html").exists()

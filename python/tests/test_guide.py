"""What the guide shows, runs."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
#: The second goes on where the first ends.
GUIDES = [DOCS / "tutorials/python.md", DOCS / "how-to/python-frames.md"]


@pytest.mark.filterwarnings("ignore::candor.Caution")
def test_the_guide(people_path, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(people_path, "people.csv")
    names: dict[str, object] = {}
    blocks = 0
    for guide in GUIDES:
        for block in re.findall(r"^```python\n(.*?)^```", guide.read_text(), re.MULTILINE | re.DOTALL):
            exec(compile(block, str(guide), "exec"), names)
            blocks += 1
    assert blocks >= 5
    assert (tmp_path / "report.html").exists() and (tmp_path / "sheet.html").exists()

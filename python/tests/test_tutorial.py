"""The tutorial runs from its first cell to its last, and every cell that shows something shows it."""

from __future__ import annotations

import ast
import shutil
from pathlib import Path

import pytest

TUTORIAL = Path(__file__).resolve().parents[1] / "tutorial/survey.py"


@pytest.mark.filterwarnings("ignore::candor.Caution")
def test_the_tutorial(people_path, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(people_path, "people.csv")
    names: dict[str, object] = {}
    shown = 0
    for cell in TUTORIAL.read_text().split("# %%")[1:]:
        body = ast.parse("#" + cell).body
        last = body[-1]
        exec(compile(ast.Module(body[:-1], []), str(TUTORIAL), "exec"), names)
        if not isinstance(last, ast.Expr):
            exec(compile(ast.Module([last], []), str(TUTORIAL), "exec"), names)
            continue
        value = eval(compile(ast.Expression(last.value), str(TUTORIAL), "eval"), names)
        assert len(repr(value)) > 20
        assert "<" in value._repr_html_()
        shown += 1
    assert shown >= 9
    assert (tmp_path / "report.html").stat().st_size > 10_000

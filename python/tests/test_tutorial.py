"""The tutorial runs from its first cell to its last, and every cell that shows something shows it."""

from __future__ import annotations

import ast
import json
import shutil
from pathlib import Path

import matplotlib
import matplotlib.pyplot
import pytest
from test_reference import tool

matplotlib.use("Agg")

TUTORIAL = Path(__file__).resolve().parents[1] / "tutorial/survey.py"


@pytest.mark.filterwarnings("ignore::candor.Caution")
def test_the_tutorial(people_path, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(people_path, "people.csv")
    names: dict[str, object] = {}
    shown = 0
    for cell in TUTORIAL.read_text().split("\n# %% ")[1:]:
        body = ast.parse("# " + cell).body
        last = body[-1]
        exec(compile(ast.Module(body[:-1], []), str(TUTORIAL), "exec"), names)
        if not isinstance(last, ast.Expr):
            exec(compile(ast.Module([last], []), str(TUTORIAL), "exec"), names)
            continue
        value = eval(compile(ast.Expression(last.value), str(TUTORIAL), "eval"), names)
        axes = value[0] if isinstance(value, list) else value
        assert axes.has_data() if hasattr(axes, "has_data") else len(repr(value)) > 20 and "<" in value._repr_html_()
        shown += 1
    matplotlib.pyplot.close("all")
    assert shown >= 12
    assert (tmp_path / "report.html").stat().st_size > 10_000


def test_the_notebook_is_the_tutorial() -> None:
    """With what its cells show. If not: python python/tools/notebook.py."""
    written = json.loads(TUTORIAL.with_suffix(".ipynb").read_text())
    assert written["nbformat"] == 4
    assert [(cell["cell_type"], "".join(cell["source"])) for cell in written["cells"]] == tool("notebook").cells()
    code = [cell for cell in written["cells"] if cell["cell_type"] == "code"]
    assert sum(bool(cell["outputs"]) for cell in code) >= 12
    shown = {kind for cell in code for output in cell["outputs"] for kind in output["data"]}
    assert shown == {"text/plain", "text/html", "image/png"}

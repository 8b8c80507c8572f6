"""Writes tutorial/survey.ipynb: tutorial/survey.py as a notebook, with what its cells show.

    python python/tools/notebook.py

It runs in a folder of its own, which holds people.csv. Needs pandas, pyarrow and matplotlib.
"""

from __future__ import annotations

import ast
import base64
import gzip
import hashlib
import io
import json
import os
import shutil
import tempfile
import warnings
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "python/tutorial/survey.py"
TARGET = ROOT / "python/tutorial/survey.ipynb"

#: Pages longer than this are shown as text.
LONGEST_HTML = 30_000


def cells() -> list[tuple[str, str]]:
    """The introduction and the titles as text, each followed by its code."""
    intro, *rest = SCRIPT.read_text(encoding="utf-8").split("\n# %% ")
    words = [line.removeprefix("#").strip() for line in intro.splitlines()]
    found = [("markdown", "# " + "\n".join(words).strip())]
    for cell in rest:
        title, code = cell.split("\n", 1)
        found += [("markdown", f"## {title}"), ("code", code.strip())]
    return found


def ran(code: str, names: dict[str, Any]) -> list[dict[str, Any]]:
    """Runs a cell; what it shows."""
    body = ast.parse(code).body
    last = body.pop() if isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), SCRIPT.name, "exec"), names)
    if last is None:
        return []
    return shown(eval(compile(ast.Expression(last.value), SCRIPT.name, "eval"), names))


def shown(value: Any) -> list[dict[str, Any]]:
    axes = value[0] if isinstance(value, list) else value
    if hasattr(axes, "figure"):
        picture = io.BytesIO()
        axes.figure.savefig(picture, format="png", dpi=70)
        data = {"image/png": base64.b64encode(picture.getvalue()).decode()}
        return [{"output_type": "display_data", "metadata": {}, "data": data}]
    data = {"text/plain": repr(value).splitlines(keepends=True)}
    html = value._repr_html_() if hasattr(value, "_repr_html_") else ""
    if 0 < len(html) <= LONGEST_HTML:
        data["text/html"] = html.splitlines(keepends=True)
    return [{"output_type": "execute_result", "execution_count": None, "metadata": {}, "data": data}]


def notebook() -> dict[str, Any]:
    names: dict[str, Any] = {}
    written: list[dict[str, Any]] = []
    for number, (kind, source) in enumerate(cells()):
        name = hashlib.sha256(f"{number}{source}".encode()).hexdigest()[:8]
        cell: dict[str, Any] = {
            "cell_type": kind,
            "id": name,
            "metadata": {},
            "source": source.splitlines(keepends=True),
        }
        if kind == "code":
            cell |= {"execution_count": None, "outputs": ran(source, names)}
        written.append(cell)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {
        "cells": written,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    import matplotlib

    matplotlib.use("Agg")
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with gzip.open(ROOT / "data/people/people.csv.gz") as packed, open("people.csv", "wb") as table:
            shutil.copyfileobj(packed, table)
        made = notebook()
        os.chdir(here)
    TARGET.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

"""Writes docs/reference/python-api.md from the signatures and docstrings of the package:

    python python/tools/reference.py

`tests/test_reference.py` fails until it was run.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "candor"
TARGET = Path(__file__).resolve().parents[2] / "docs/reference/python-api.md"

TOP = """# Python API

<!-- Made by python/tools/reference.py from the docstrings of the package; run that instead of editing this. -->

All functions, classes and results of the package `candor`.
[candor in Python](../tutorials/python.md) shows how they go together.
A parameter that is left out has the default of the command.
"""

#: Sections, with what of which module is in them.
SECTIONS = [
    ("Before there is a plan", [
        ("verbs", "choose"), ("signatures", "design"), ("verbs", "methods"), ("verbs", "compare"), ("signatures", "pareto"), ("verbs", "device"),
        ("verbs", "combine"),
    ]),
    ("Schemas", [("schema", "Schema")]),
    ("Plans", [("plan", "Plan"), ("analysis", "Analysis"), ("signatures", "Refining")]),
    ("Responses and counts", [("frames", "Responses"), ("counts", "Counts")]),
    ("Signatures", [("signing", "PrivateKey"), ("signing", "Signature")]),
    ("Parties", [("parties", "PartySession"), ("parties", "PartyMessage")]),
    ("Any mechanism", [("mechanism", "audit_program"), ("mechanism", "audit_function")]),
    ("scikit-learn: `candor.sklearn`", [("sklearn", "Randomizer")]),
    ("Spark: `candor.spark`", [("spark", "randomize"), ("spark", "write"), ("spark", "tally"), ("spark", "estimate")]),
    ("Warnings and progress", [("warned", "Caution"), ("progress", "show_progress")]),
    ("Results", [("result", "Result"), ("results", None), ("estimates", None)]),
]  # fmt: skip

#: Classes whose methods are those of plans.
OF_PLANS = {"Analysis", "Refining"}


def text(package: Path = PACKAGE) -> str:
    """The page."""
    parts = [TOP]
    for title, members in SECTIONS:
        parts.append(f"## {title}")
        for module, name in members:
            source = (package / f"{module}.py").read_text(encoding="utf-8")
            for one in ast.parse(source).body:
                is_shown = isinstance(one, (ast.FunctionDef, ast.ClassDef)) and not decorated(one, "overload")
                if is_shown and (one.name == name or name is None and not one.name.startswith("_")):
                    parts += described(one, source.splitlines())
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def decorated(one: ast.FunctionDef | ast.ClassDef, name: str) -> bool:
    return any(isinstance(by, ast.Name) and by.id == name for by in one.decorator_list)


def described(one: ast.FunctionDef | ast.ClassDef, lines: list[str]) -> Iterator[str]:
    if isinstance(one, ast.FunctionDef):
        yield from function(one, "", "###")
        return
    if one.name not in OF_PLANS:
        yield f"### {one.name}"
        yield documented(one)
        yield from fields(one, lines)
    owner = "Plan" if one.name in OF_PLANS else one.name
    for member in one.body:
        if isinstance(member, ast.FunctionDef) and not decorated(member, "overload"):
            if not member.name.startswith("_") and ast.get_docstring(member):
                yield from function(member, f"{owner}.", "####")


def function(one: ast.FunctionDef, owner: str, level: str) -> Iterator[str]:
    yield f"{level} {owner}{one.name}"
    if decorated(one, "property"):
        yield f"```python\n{owner}{one.name}: {given(one.returns)}\n```"
    else:
        yield f"```python\n{signature(one, owner)}\n```"
    yield documented(one)


def given(annotation: ast.expr | None) -> str:
    return "Any" if annotation is None else ast.unparse(annotation).replace("'", '"')


def signature(one: ast.FunctionDef, owner: str) -> str:
    """A call, on several lines if it is long."""
    parameters = []
    rest = one.args
    positional = [*rest.posonlyargs, *rest.args]
    defaults = [None] * (len(positional) - len(rest.defaults)) + list(rest.defaults)
    parameters += [parameter(arg, default) for arg, default in zip(positional, defaults) if arg.arg != "self"]
    if rest.vararg is not None:
        parameters.append("*" + parameter(rest.vararg, None))
    elif rest.kwonlyargs:
        parameters.append("*")
    parameters += [parameter(arg, default) for arg, default in zip(rest.kwonlyargs, rest.kw_defaults)]
    if rest.kwarg is not None:
        parameters.append("**" + parameter(rest.kwarg, None))
    gives = f" -> {given(one.returns)}"
    line = f"{owner}{one.name}({', '.join(parameters)}){gives}"
    if len(line) <= 110:
        return line
    inner = "".join(f"    {one},\n" for one in parameters)
    return f"{owner}{one.name}(\n{inner}){gives}"


def parameter(arg: ast.arg, default: ast.expr | None) -> str:
    typed = arg.arg if arg.annotation is None else f"{arg.arg}: {given(arg.annotation)}"
    return typed if default is None else f"{typed} = {ast.unparse(default)}"


def documented(one: ast.FunctionDef | ast.ClassDef) -> str:
    """A docstring as Markdown: examples in blocks, arguments as lists, the rest as it is."""
    said = re.sub(r"``(.+?)``", r"`\1`", ast.get_docstring(one) or "")
    said = re.sub(r":meth:`(\w+)`", r"`\1`", said)
    blocks = []
    for block in said.split("\n\n"):
        if ">>>" in block:
            before, example = block[: block.index(">>>")], block[block.index(">>>") :]
            blocks += [before, f"```python\n{example}\n```"]
        elif match := re.match(r"(Args|Attributes):\n", block):
            items = re.split(r"\n(?=    \S)", "\n" + block[match.end() :])[1:]
            blocks.append("\n".join("- " + re.sub(r"^(\w+):", r"`\1`:", " ".join(item.split())) for item in items))
        else:
            blocks.append(" ".join(block.split()).replace(" <", " \\<"))
    return "\n\n".join(block.strip("\n") for block in blocks if block.strip())


def fields(one: ast.ClassDef, lines: list[str]) -> Iterator[str]:
    """The fields of a result, each with the remark above it."""
    rows = []
    for member in one.body:
        if (
            isinstance(member, ast.AnnAssign)
            and isinstance(member.target, ast.Name)
            and not member.target.id.startswith("_")
        ):
            remark = []
            at = member.lineno - 2
            while lines[at].strip().startswith("#:"):
                remark.insert(0, lines[at].strip().removeprefix("#:").strip())
                at -= 1
            said = re.sub(r"``(.+?)``", r"`\1`", " ".join(remark)).replace("|", "\\|")
            kind = given(member.annotation).replace("|", "\\|")
            rows.append(f"| `{member.target.id}` | `{kind}` | {said} |".replace("  |", " |"))
    if rows:
        yield "\n".join(["| field | type | |", "|---|---|---|", *rows])


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")

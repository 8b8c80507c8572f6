"""Writes candor/signatures.py: `design`, `pareto` and `Plan.refine` with every parameter by name and type.

What there is comes from where it is defined: names and types from the methods' own parameters (`_candor.methods`,
`_candor.parameters`), descriptions from the command's help (crates/candor-cli/tests/help).
So a new parameter needs nothing here but this, with the package built:

    python python/tools/signatures.py

`tests/test_signatures.py` fails until it was run.
"""

from __future__ import annotations

import keyword
import re
import textwrap
from collections.abc import Iterable
from pathlib import Path

from candor import _candor
from candor.parameters import OLD_NAMES

HELP = Path(__file__).resolve().parents[2] / "crates/candor-cli/tests/help"
TARGET = Path(__file__).resolve().parents[1] / "candor/signatures.py"

#: Parameters that take more in Python than JSON has, or a table.
RICHER = {
    "bins": "str",
    "clusters": "ClusterNames",
    "expected_shares": "Tables",
    "from_": "Tables",
    "loss": "str | os.PathLike[str] | Iterable[Iterable[str | float]]",
    "matrix": "str | os.PathLike[str] | Iterable[Iterable[str | float]]",
    "cross_with": "str",
    "only": "str | Iterable[str]",
    "prior": "Iterable[float]",
    "tables": "TableNames",
}

#: What goes with every method, and is no parameter of a request.
OF_ALL = ("only", "cross_with", "expected_shares")

#: What the command has no option for.
DESCRIBED = {
    "only": "Design for these attributes only; `combine` joins plans",
    "cross_with": "Cross every attribute with this one: one attribute SNP*Disease for each SNP; `Plan.scan` tests them",
    "expected_shares": "A table of expected shares (attribute, category, share), or pilot records: errors are told for them, too",
    "from_": "A table in which shares are counted",
    "loss": "Loss of a wrong guess: \"ordinal\" (the number of categories between guess and truth), or a matrix: a CSV file, or rows; "
    "rows are guesses, columns are true categories. Privacy is then the expected loss of the best guess as a share of the largest loss",
    "matrix": "Transition matrix: a CSV file, or rows; columns are inputs and sum to 1, rows are outputs",
    "clusters": 'Attribute clusters to randomize together: the result of `associations`, "a,b;c", or lists of names',
    "spent": "Epsilon that finding the clusters has spent",
}

TOP = '''"""`design`, `pareto` and `Plan.refine` with every parameter by name. Made by tools/signatures.py: run that."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, overload

from .parameters import checked

if TYPE_CHECKING:
    from .analysis import TableNames, Tables
    from .plan import Plan
    from .results import Front
    from .schema import Schema
    from .verbs import ClusterNames

__all__ = ["MethodName", "Refining", "design", "pareto"]
'''

DESIGN = """Makes a plan by a method. Without one: by `workload` if a total `epsilon` is given, else by `independent`.

`schema` may be numbers of categories instead. What there is to know of the plan is its `design`.
`methods` lists the methods.

>>> plan = design([9, 16, 7], "independent", epsilon=3)
>>> plan.design.method, plan.guarantee.epsilon <= 3
('independent', True)
>>> design([2], "joint")
Traceback (most recent call last):
candor.ParameterError: this method requires `epsilon`
>>> design([2], "joint", eps=1)
Traceback (most recent call last):
candor.ParameterError: `design` has no parameter `eps`; did you mean `epsilon`?
"""

PARETO = """One attribute: every trade-off of privacy and error for what is known beforehand.

>>> found = pareto([0.5, 0.3, 0.2], method="exact", points=3)
>>> len(found.points)
3
"""

REFINE = """A plan that is as private for the prior and tells more; what it gives is its `refinement`.

What is known beforehand is by default that which the plan was made for.
"""


def text() -> str:
    """The module."""
    parts = [TOP, names(), *overloads(), whole_design(), pareto(), refining()]
    return "\n\n\n".join(part.strip("\n") for part in parts) + "\n"


def names() -> str:
    listed = "".join(f'    "{name}",\n' for name, _, _ in _candor.methods())
    return f"#: The methods of `design`.\nMethodName = Literal[\n{listed}]"


def python(name: str) -> str:
    """A name as Python allows it."""
    return f"{name}_" if keyword.iskeyword(name) else name


def typed(name: str, kind: str, needed: bool) -> str:
    kind = RICHER.get(name, kind)
    return f"{name}: {kind}" if needed else f"{name}: {kind} | None = None"


def of_method(name: str, fields: list[tuple[str, str, bool]]) -> dict[str, tuple[str, bool]]:
    """The parameters of a method: their types, and whether each is needed."""
    shared = _candor.parameters()
    limited = any(field == "epsilon" for field, _, _ in fields) or name == "minimax"
    counted = name in ("front", "matrix")
    found = {python(field): (kind, needed) for field, kind, needed in fields if field not in OLD_NAMES}
    if limited:
        # Limits stand for an epsilon.
        found = {field: (kind, needed and field != "epsilon") for field, (kind, needed) in found.items()}
        found |= {field: (kind, False) for field, kind in shared["limit"].items()}
    if counted:
        found |= {field: (kind, False) for field, kind in shared["prior"].items()} | {"from_": ("Tables", False)}
    return (
        found
        | {field: (kind, False) for field, kind in shared["design"].items() if field not in found}
        | {field: ("", False) for field in OF_ALL}
    )


def overloads() -> Iterable[str]:
    methods = {name: of_method(name, fields) for name, _, fields in _candor.methods()}
    by_default = {**methods["independent"], **methods["workload"]}
    yield one_overload("method: None = None", {field: (kind, False) for field, (kind, _) in by_default.items()})
    for name, fields in methods.items():
        yield one_overload(f'method: Literal["{name}"]', fields)


def one_overload(method: str, fields: dict[str, tuple[str, bool]]) -> str:
    written = [typed(name, kind, needed) for name, (kind, needed) in fields.items()]
    return (
        signature("@overload\ndef design", ["schema: Schema | Iterable[int]", method, "*", *written], "Plan") + " ..."
    )


def signature(head: str, parameters: list[str], gives: str) -> str:
    inner = "".join(f"    {one},\n" for one in parameters)
    return f"{head}(\n{inner}) -> {gives}:"


def whole_design() -> str:
    every: dict[str, str] = {}
    for name, _, fields in _candor.methods():
        for field, (kind, _) in of_method(name, fields).items():
            every.setdefault(field, kind)
    parameters = [typed(name, kind, False) for name, kind in every.items()]
    given = ["schema: Schema | Iterable[int]", "method: str | None = None", "*", *parameters]
    return verb("design", given, "Plan", DESIGN, every, "candor-design", "designed(schema, method, {given})")


def pareto() -> str:
    kinds = {python(name): kind for name, kind in _candor.parameters()["pareto"].items() if name not in OLD_NAMES}
    every = {"from_": "Tables", **{name: kind for name, kind in kinds.items() if name != "prior"}}
    parameters = [
        "prior: Iterable[float] | None = None",
        "*",
        *(typed(name, kind, False) for name, kind in every.items()),
    ]
    return verb(
        "pareto", parameters, "Front", PARETO, {"prior": "", **every}, "candor-pareto", "fronts(prior, {given})"
    )


def refining() -> str:
    kinds = {python(name): kind for name, kind in _candor.parameters()["refine"].items() if name not in OLD_NAMES}
    every = {"from_": "Tables", **{name: kind for name, kind in kinds.items() if name != "prior"}}
    given = [
        "self",
        "prior: Iterable[float] | None = None",
        "*",
        *(typed(name, kind, False) for name, kind in every.items()),
    ]
    method = verb(
        "refine", given, "Plan", REFINE, {"prior": "", **every}, "candor-refine", "refined(self, prior, {given})"
    )
    head = 'class Refining:\n    """What makes a plan better."""\n\n'
    return head + textwrap.indent(method, "    ")


def verb(name: str, parameters: list[str], gives: str, about: str, every: dict[str, str], help: str, body: str) -> str:
    """A function that hands on what was given, described by the command's help."""
    said = described((HELP / f"{help}.txt").read_text())
    lines = [f"    {one}: {DESCRIBED.get(one) or said[one]}." for one in every]
    wrapped = "\n".join(textwrap.fill(line, 116, subsequent_indent=" " * 8) for line in lines)
    doc = textwrap.indent(f'"""{about}\nArgs:\n{wrapped}\n"""', "    ", lambda line: bool(line.strip()))
    handed_on = ",\n".join(
        f'            "{one.rstrip("_")}": {one}' for one in every if one != "prior" or name == "design"
    )
    call = body.replace("{given}", "{\n" + handed_on + ",\n        }")
    function = body.split("(")[0]
    return (
        signature(f"@checked\ndef {name}", parameters, gives)
        + f"\n{doc}\n    from .verbs import {function}\n\n    return {function}(\n        {call.split('(', 1)[1][:-1]}\n    )"
    )


def described(help: str) -> dict[str, str]:
    """What the help says of each option, about parameters instead of options."""
    found = {}
    body = help.split("\nExamples:")[0]
    for option in re.split(r"\n(?= {2,6}(?:-\w, )?--[a-z])", body)[1:]:
        head, *rest = re.split(r"\s{2,}|\n", option.strip(), maxsplit=1)
        name = re.match(r"(?:-\w, )?--([a-z-]+)", head)
        assert name is not None
        words = " ".join(re.split(r"\n\s*\n(?=\S)|\n\s*\n\s*Possible values:", rest[0] if rest else "")[0].split())
        found[python(name[1].replace("-", "_"))] = spoken(words)
    return found


def spoken(words: str) -> str:
    """Options as parameters."""
    words = re.sub(r"--([a-z-]+)", lambda option: f"`{python(option[1].replace('-', '_'))}`", words)
    words = re.sub(r"\[possible values: [^]]*\]", "", words).strip()
    return words.replace("candor combine", "`combine`").replace("candor compliance", "`compliance`").rstrip(".")


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")

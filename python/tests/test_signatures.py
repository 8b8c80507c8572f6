"""Signatures are those of the methods and the command; type checkers know them, and mistakes are named."""

from __future__ import annotations

import importlib.util
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import candor
from candor import _candor, signatures

HERE = Path(__file__).resolve().parent


def test_signatures_are_current() -> None:
    """If not: python python/tools/signatures.py, with the package built."""
    spec = importlib.util.spec_from_file_location("tool", HERE.parent / "tools/signatures.py")
    assert spec is not None and spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert Path(signatures.__file__).read_text() == tool.text()


def public() -> list[tuple[str, object]]:
    """All functions and methods that users call."""
    found: list[tuple[str, object]] = [(name, getattr(candor, name)) for name in candor.__all__]
    functions = [(name, one) for name, one in found if inspect.isfunction(one)]
    for owner in (candor.Plan, candor.Schema, candor.Counts):
        functions += [
            (f"{owner.__name__}.{name}", one)
            for name, one in inspect.getmembers(owner, inspect.isfunction)
            if not name.startswith("_")
        ]
    return functions


@pytest.mark.parametrize(("name", "function"), public(), ids=[name for name, _ in public()])
def test_every_parameter_has_a_name_and_a_type(name, function) -> None:
    """So that completion, which reads signatures, knows them."""
    for one in inspect.signature(function).parameters.values():
        assert one.kind is not one.VAR_KEYWORD, one.name
        assert one.name == "self" or one.annotation is not one.empty, one.name


def test_design_has_the_parameters_of_its_methods() -> None:
    named = set(inspect.signature(candor.design).parameters)
    for method in candor.methods():
        assert {one if one != "lambda" else "lambda_" for one in method.parameters} <= named
    assert "parity" not in named and {"rho", "from_", "exact_prior", "max_epsilon"} <= named
    for name in named:
        assert f"        {name}: " in (candor.design.__doc__ or "") or name in ("schema", "method"), name


def test_mypy(tmp_path) -> None:
    """`mypy --strict` accepts what is right, and complains of what is wrong, line by line."""
    environment = {**os.environ, "MYPYPATH": ""}
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--no-error-summary",
        "--cache-dir",
        str(tmp_path),
        "--disable-error-code",
        "unused-ignore",
    ]
    done = subprocess.run(
        [*command, "right.py", "wrong.py"],
        cwd=HERE / "typed",
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    told = set(re.findall(r"^(\w+\.py):(\d+): error", done.stdout, re.MULTILINE))
    lines = (HERE / "typed/wrong.py").read_text().splitlines()
    assert told == {("wrong.py", str(number)) for number, line in enumerate(lines, 1) if "  # " in line}, (
        done.stdout + done.stderr
    )


def refused(call) -> str:
    with pytest.raises(candor.ParameterError) as error:
        call()
    return str(error.value)


def test_what_may_have_been_meant(simple) -> None:
    assert (
        refused(lambda: candor.design([2], "joint", eps=1))
        == "`design` has no parameter `eps`; did you mean `epsilon`?"
    )
    assert (
        refused(lambda: candor.design([2], "joint", epsilonn=1))
        == "`design` has no parameter `epsilonn`; did you mean `epsilon`?"
    )
    assert (
        refused(lambda: simple.estimate("x", tabels="a"))
        == "`estimate` has no parameter `tabels`; did you mean `tables`?"
    )
    assert refused(lambda: simple.randomize("x", colour=1)) == "`randomize` has no parameter `colour`"
    assert (
        refused(lambda: candor.design([2], "worklod", epsilon=1))
        == 'unknown method "worklod"; did you mean "workload"?'
    )
    assert refused(lambda: candor.design([2], "joint", epsilon=1, p=0.5)) == (
        '`p` cannot be used with `method="joint"`; it requires `method="independent" or "clusters" or "warner"`'
    )
    assert candor.design([2], "frapp", **{"lambda": 2.0}) == candor.design([2], "frapp", lambda_=2.0)
    assert candor.design([2], "minimax", parity=[2]) == candor.design([2], "minimax", likelihood_ratio=[2])


def test_wrong_types_name_the_parameter(simple) -> None:
    assert refused(lambda: candor.design([2], "joint", epsilon="2")) == '`epsilon` is "2"; it must be a number'
    assert refused(lambda: candor.design([2], "joint", epsilon=True)) == "`epsilon` is true; it must be a number"
    assert refused(lambda: candor.design([2, 3], "l-diversity", l=2)) == "`l` is 2; it must be a list of integers"
    assert refused(lambda: simple.estimate("x", confidence="0.9")) == '`confidence` is "0.9"; it must be a number'
    assert refused(lambda: simple.sample_size(margin="3%")) == '`margin` is "3%"; it must be a number'
    assert refused(lambda: candor.pareto([0.5, 0.5], points=2.5)) == "`points` is 2.5; it must be an integer, 0 or more"


#: What no parameter takes.
WEIRD = (object(), 3 + 4j, b"x", {1: object()}, [object()])


def test_whatever_is_given_the_parameter_is_named(simple, schema, responses, people_path) -> None:
    """Each parameter of each verb, with what it cannot take: the error names it, and speaks Python."""
    calls = {
        candor.design: [[2], "joint"], candor.pareto: [[0.5, 0.5]], candor.compare: [[2, 3]], candor.device: [[2]],
        simple.estimate: [responses], simple.test: [responses, "Sex", "Income"], simple.query: [responses, "Sex = Male"],
        simple.regress: [responses, "Income ~ Sex"], simple.report: [responses], simple.scan: [responses, "Sex"],
        simple.rake: [responses], simple.synthesize: [responses], simple.associations: [responses], simple.compliance: [responses],
        simple.sample_size: [], simple.tally: [responses], simple.randomize: [people_path], simple.matrix: [], simple.sql: [],
        simple.audit: [], simple.refine: [], simple.import_: [people_path, "out.csv"], schema.check: [people_path],
        candor.Schema.infer: [people_path],
    }  # fmt: skip
    needed = {candor.design: {"epsilon": 1}, candor.compare: {"epsilon": 1}}
    tables = {"counts", "baseline", "baseline_plan", "expected_shares", "simulate", "from_", "predict"}
    wrong = []
    for function, positional in calls.items():
        for one in inspect.signature(function).parameters.values():
            if one.kind is not one.KEYWORD_ONLY or one.name in tables:
                continue
            for value in WEIRD:
                message = "taken"
                try:
                    function(*positional, **{**needed.get(function, {}), one.name: value})
                except Exception as error:
                    message = str(error) if isinstance(error, candor.Error) else repr(error)
                if "--" in message or f"`{one.name}" not in message:
                    wrong.append(f"{function.__name__}({one.name}={value!r}): {message}")
    assert not wrong, "\n".join(wrong)


def test_stubs_of_classes_are_what_is_compiled() -> None:
    import ast

    stubs = ast.parse((Path(_candor.__file__).parent / "_candor.pyi").read_text())
    for one in stubs.body:
        if isinstance(one, ast.ClassDef) and not one.name.endswith("Error"):
            named = {member.name for member in one.body if isinstance(member, ast.FunctionDef)} - {"__init__"}
            there = {
                name for name in vars(getattr(_candor, one.name)) if name not in ("__doc__", "__module__", "__new__")
            }
            assert named == there, one.name

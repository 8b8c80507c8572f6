"""Types that are written down are those that there are."""

from __future__ import annotations

import ast
import inspect
import typing
from pathlib import Path

import candor
from candor import _candor, estimates, results

FOLDER = Path(candor.__file__).parent


def test_stubs_list_what_is_compiled() -> None:
    stubs = ast.parse((FOLDER / "_candor.pyi").read_text())
    named = {one.name for one in stubs.body if isinstance(one, (ast.ClassDef, ast.FunctionDef))}
    named |= {one.target.id for one in stubs.body if isinstance(one, ast.AnnAssign)}
    there = {name for name in dir(_candor) if not name.startswith("__")} | {"__version__"}
    assert named == there
    for one in stubs.body:
        if isinstance(one, ast.FunctionDef):
            written = [argument.arg for argument in one.args.args]
            assert written == list(inspect.signature(getattr(_candor, one.name)).parameters), one.name
    assert (FOLDER / "py.typed").exists()


def test_results_have_the_fields_that_are_written_down(simple, people) -> None:
    """Every field of a result is annotated, and every annotation is a field (or is set beside them)."""
    responses = simple.randomize(people)
    made = [
        simple.estimate(responses), simple.estimate(responses).tables[0], simple.test(responses, "Sex", "Income"),
        simple.query(responses, "Sex = Male"), simple.associations(responses), simple.sample_size(0.02), simple.design, simple.guarantee,
        simple.report(responses), simple.rake(responses), simple.synthesize(responses, records=5),
        simple.schema.check(people), simple.columns[0], simple.schema["Sex"], simple.audit()["ldp"],
        candor.pareto([0.6, 0.4], method="exact", points=2), simple.informativeness(simple),
        simple.sample_size(detect_difference=[0.1, 0.2]), simple.sample_size(model="Income ~ Region", effect="Region=south=0.5", expected_shares=people), simple.compliance(responses), candor.device([2], epsilon=1.61).devices,
        simple.matrix("Sex"), simple.scan(responses, "Income"), simple.regress(responses, "Income ~ Region"), simple.regress(responses, "Income ~ Region").coefficients[0],
    ]  # fmt: skip
    beside = {"note", "summary", "weighted", "people", "html", "csv", "matrices"}
    for result in made:
        written = {name.removesuffix("_") for name in typing.get_type_hints(type(result))} - beside - {"_parts"}
        fields = set(result.to_dict())
        assert fields <= written, type(result).__name__
        # What is left out where there is none has a default.
        assert all(hasattr(type(result), name) for name in written - fields), type(result).__name__


def test_what_is_exported_is_documented() -> None:
    for name in candor.__all__:
        value = getattr(candor, name)
        if name == "__version__":
            continue
        assert value.__doc__, name
        for method, function in inspect.getmembers(value, inspect.isfunction):
            assert method.startswith("_") or function.__doc__, f"{name}.{method}"
    for module in (results, estimates):
        for name in module.__all__:
            assert getattr(module, name).__doc__, name


def test_importing_brings_nothing_else() -> None:
    """No frame, no plot, nothing that takes long."""
    import subprocess
    import sys

    code = "import sys, candor; print([name for name in ('pandas', 'polars', 'pyarrow', 'numpy', 'matplotlib', 'tqdm', 'sklearn') if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_a_compiled_part_of_another_version_is_told(tmp_path) -> None:
    import shutil
    import subprocess
    import sys

    shutil.copytree(FOLDER, tmp_path / "candor", ignore=shutil.ignore_patterns("_candor*", "__pycache__"))
    (tmp_path / "candor/_candor.py").write_text("class Error(Exception): ...\n")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import candor"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode != 0 and "install both anew: pip install --force-reinstall candor-privacy" in done.stderr

"""Every verb of the command is there, with the same names for its parameters. The command's pinned help is the list."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import candor

HELP = Path(__file__).resolve().parents[2] / "crates/candor-cli/tests/help"

#: Each verb, and what does it here.
VERBS: dict[str, list[Callable[..., Any]]] = {
    "schema-infer": [candor.Schema.infer],
    "schema-check": [candor.Schema.check],
    "design": [candor.design],
    "combine": [candor.combine],
    "device": [candor.device],
    "import": [candor.Plan.import_],
    "compliance": [candor.Plan.compliance],
    "sample-size": [candor.Plan.sample_size],
    "choose": [candor.choose],
    "compare": [candor.compare],
    "sign": [candor.Plan.sign, candor.PrivateKey.generate],
    "verify": [candor.Plan.verify],
    "audit": [candor.Plan.audit, candor.Plan.informativeness, candor.audit_program],
    "explain": [candor.Plan.explain],
    "evidence": [candor.Plan.evidence],
    "randomize": [candor.Plan.randomize, candor.Plan.randomize_one],
    "sql": [candor.Plan.sql],
    "estimate": [candor.Plan.estimate],
    "test": [candor.Plan.test, candor.Plan.scan],
    "query": [candor.Plan.query],
    "regress": [candor.Plan.regress],
    "associations": [candor.Schema.associations, candor.Plan.associations],
    "party-init": [candor.PartySession.start],
    "party-share": [candor.PartySession.share],
    "party-sum": [candor.PartySession.sum],
    "party-finish": [candor.PartySession.finish],
    "party-check": [candor.PartySession.check],
    "rake": [candor.Plan.rake],
    "synthesize": [candor.Plan.synthesize],
    "pareto": [candor.pareto],
    "matrix": [candor.Plan.matrix],
    "refine": [candor.Plan.refine],
    "report": [candor.Plan.report],
    **{f"experiment-{name}": [candor.Schema.experiment] for name in ("multidimensional", "optimized-rr", "optrr", "l-diversity")},
}

#: What belongs to a shell, is a tour of the command itself, or starts a program of its own.
OF_THE_COMMAND = {"completions", "man", "demo", "reproduce", "help", "studio", "collect"}

#: Flags that are no parameters: how results are shown, and what is said otherwise in Python.
OTHERWISE = {
    "": {"json", "help", "allow-costly-plan", "verbose"},
    "schema-infer": {"output", "force"},
    "design": {"output", "force", "categories", "method", "from-clusters"},
    "choose": {"categories"},
    "compare": {"categories", "plot"},
    "device": {"output", "force", "categories"},
    "audit": {"informativeness", "restate"},
    "explain": {"format"},
    "evidence": {"output"},
    "randomize": {"stream", "format", "output-delimiter"},
    "estimate": {"format", "escape-formulas", "output", "single-cell-column"},
    "associations": {"output"},
    "party-init": {"output"},
    "party-share": {"output"},
    "party-sum": {"output"},
    "party-finish": {"output"},
    "pareto": {"plot", "output", "matrices"},
    "combine": {"output", "force"},
    "matrix": {"format", "output"},
    "refine": {"output", "force"},
    "sign": {"key", "new-key", "output"},
    **{f"experiment-{name}": {"schema", "drop", "bins", "output"} for name in ("multidimensional", "optimized-rr", "optrr", "l-diversity")},
}

#: Names that Python has for itself.
RENAMED = {"from": "from_", "for": "for_", "lambda": "lambda_", "with": "with_", "as": "as_"}


def verbs() -> list[str]:
    listed = re.findall(r"^  ([a-z-]+) {2,}\S", (HELP / "candor.txt").read_text(), re.MULTILINE)
    assert len(listed) > 20
    return [verb for verb in listed if verb not in OF_THE_COMMAND]


def test_verbs() -> None:
    """A verb that is new in the command needs a function here: CONTRIBUTING.md says how."""
    known = {verb.split("-")[0] if verb.startswith(("schema-", "party-", "experiment-")) else verb for verb in VERBS}
    assert known >= set(verbs())


@pytest.mark.parametrize("verb", [verb for verb in VERBS if (HELP / f"candor-{verb}.txt").exists()])
def test_parameters(verb: str) -> None:
    text = (HELP / f"candor-{verb}.txt").read_text()
    flags = set(re.findall(r"^\s+(?:-\w, )?--([a-z-]+)", text, re.MULTILINE))
    parameters = {name for function in VERBS[verb] for name in inspect.signature(function).parameters}
    for flag in sorted(flags - OTHERWISE[""] - OTHERWISE.get(verb, set())):
        name = flag.replace("-", "_")
        assert RENAMED.get(name, name) in parameters, f"--{flag} of candor {verb} is no parameter"

"""What is accepted and rejected, as crates/candor-base/tests/plans/verdicts.json says for every implementation."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import candor

FOLDER = Path(__file__).resolve().parents[2] / "crates/candor-base/tests/plans"
VERDICTS = json.loads((FOLDER / "verdicts.json").read_text(encoding="utf-8"))


def test_every_file_has_a_verdict() -> None:
    for kind in ("good", "bad"):
        assert {path.name for path in (FOLDER / kind).iterdir()} == set(VERDICTS[kind])


@pytest.mark.parametrize("name", VERDICTS["good"])
def test_good_plans_are_accepted(name: str) -> None:
    path = FOLDER / "good" / name
    stated = json.loads(path.read_text(encoding="utf-8"))
    assert candor.Plan.load(path).fingerprint == stated["fingerprint"]


@pytest.mark.parametrize(("name", "message"), VERDICTS["bad"].items())
def test_bad_plans_are_rejected(name: str, message: str) -> None:
    with pytest.raises(candor.PlanError) as rejected:
        candor.Plan.load(FOLDER / "bad" / name)
    assert message in str(rejected.value)

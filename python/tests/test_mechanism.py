"""Audits of programs and functions of others, and the evidence for approvals."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import candor


def test_functions_are_audited() -> None:
    numbers = random.Random(1)

    def unary(truth: int) -> list[int]:
        return [int(numbers.random() < (0.75 if bit == truth else 0.25)) for bit in range(4)]

    # Two bits, each with a ratio of 3.
    audit = candor.audit_function(unary, [0, 1], draws=40_000, claimed=1)
    assert 1.9 < audit.lower_bound < 2.1973 and audit.exceeds_claim
    assert audit.pair is not None and len(audit.pairs) == 2 and audit.draws == 40_000
    assert "no guarantee" in audit.sentences[1]


def test_programs_are_audited_and_failures_are_told() -> None:
    assert candor.audit_program("cat", "yes,no", draws=4_000).lower_bound > 5
    with pytest.raises(candor.Error, match="7 of 4000 answers"):
        candor.audit_program("head -n 7", ["yes", "no"], draws=4_000)
    with pytest.raises(candor.Error, match="confidence"):
        candor.audit_function(lambda truth: truth, [0, 1], draws=100, confidence=2)
    with pytest.raises(candor.Error, match="invalid `draws`: 10"):
        candor.audit_function(lambda truth: truth, [0, 1], draws=10)


def test_evidence_names_the_facts_it_rests_on(tmp_path: Path) -> None:
    plan = candor.design([2, 4], "independent", epsilon=2)
    evidence = plan.evidence()
    assert evidence.fingerprint == plan.fingerprint and "NIST SP 800-226" in evidence.html
    assert evidence.markdown.startswith("# Evidence")
    assert evidence.registry.startswith("url_slug: candor_")
    assert any(fact.name == "epsilon" for fact in evidence.facts)
    with pytest.raises(candor.Error, match="cannot read"):
        plan.evidence(survey=tmp_path)

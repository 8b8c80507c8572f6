"""Signatures of plans, against the vectors that Rust and JavaScript are tested with."""

from __future__ import annotations

import json
import stat

import pytest
from conftest import ROOT

import candor

VECTORS = json.loads((ROOT / "crates/candor/tests/signatures.json").read_text())


def plan_of(case: dict) -> candor.Plan:
    return candor.Plan.load(ROOT / "crates/candor-base/tests/plans/good" / case["plan"])


@pytest.fixture(scope="module")
def key(tmp_path_factory) -> candor.PrivateKey:
    """The key of the vectors."""
    path = tmp_path_factory.mktemp("key") / "survey.key"
    pair = {"private_key": VECTORS["private_key"], "public_key": VECTORS["cases"][0]["public_key"]}
    path.write_text(json.dumps({"format": "candor private key", "version": 1, **pair}))
    return candor.PrivateKey.load(path)


@pytest.mark.parametrize("case", VECTORS["cases"], ids=[case["name"] for case in VECTORS["cases"]])
def test_vectors(case, key) -> None:
    def verify() -> None:
        plan_of(case).verify(candor.Signature.loads(case["signature"]), public_key=case["public_key"])

    if case["error"] is None:
        verify()
        assert plan_of(case).sign(key).to_json() == case["signature"]
        return
    with pytest.raises((candor.SignatureError, FileNotFoundError)) as refused:
        verify()
    assert case["error"] in str(refused.value) or len(case["public_key"]) != 64


def test_there_are_vectors() -> None:
    assert len(VECTORS["cases"]) >= 17


def test_files(simple, plan, tmp_path, command) -> None:
    """Of keys and signatures; the command reads them, and the other way round."""
    key = candor.PrivateKey.generate()
    key.save(tmp_path / "survey.key")
    assert stat.S_IMODE((tmp_path / "survey.key").stat().st_mode) == 0o600
    with pytest.raises(candor.SignatureError, match="exists"):
        key.save(tmp_path / "survey.key")
    again = candor.PrivateKey.load(tmp_path / "survey.key")
    assert again.public_key == key.public_key and simple.sign(again) == simple.sign(key)
    simple.sign(key).save(tmp_path / "plan.json.sig")
    simple.verify(tmp_path / "plan.json.sig", public_key=key.public_key)
    command.run("verify", "plan.json", "--public-key", key.public_key, "--signature", tmp_path / "plan.json.sig")
    command.run("sign", "plan.json", "--key", tmp_path / "survey.key", "--output", tmp_path / "other.sig")
    simple.verify(tmp_path / "other.sig", public_key=key.public_key)
    (tmp_path / "survey.pub").write_text(key.public_key + "\n")
    simple.verify(tmp_path / "other.sig", public_key=tmp_path / "survey.pub")
    with pytest.raises(candor.SignatureError):
        plan.verify(simple.sign(key), public_key=key.public_key)
    with pytest.raises(candor.SignatureError):
        simple.verify(simple.sign(key), public_key=candor.PrivateKey.generate().public_key)
    with pytest.raises(candor.SignatureError):
        candor.PrivateKey.load(tmp_path / "survey.pub")

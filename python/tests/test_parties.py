"""Parties who exchange messages only, with the command among them."""

from __future__ import annotations

import json

import pandas
import pytest

import candor

PARTIES = ["North", "South", "West"]


@pytest.fixture(scope="module")
def people() -> pandas.DataFrame:
    return pandas.DataFrame({"a": [i % 3 for i in range(90)], "b": [(i % 3 + (i % 10 == 0)) % 3 for i in range(90)]}).astype(str)


@pytest.fixture(scope="module")
def schema(people) -> candor.Schema:
    return candor.Schema.infer(people)


def own(people: pandas.DataFrame, place: int) -> pandas.DataFrame:
    return people.iloc[30 * place : 30 * place + 30]


def test_totals_are_those_of_all_records(schema, people, tmp_path) -> None:
    session = candor.PartySession.start(schema, PARTIES, collectors=2)
    assert (session.parties, session.collectors, session.protocol, session.epsilon) == (PARTIES, PARTIES[:2], "secure-sum", None)
    session.save(tmp_path / "session.json")
    with pytest.raises(FileExistsError):
        session.save(tmp_path / "session.json")
    # Each party has the session as a file.
    assert candor.PartySession.load(tmp_path / "session.json") == session
    sent = [message for place, name in enumerate(PARTIES) for message in session.share(own(people, place), name)]
    files = {message: message.save(tmp_path) for message in sent}
    with pytest.raises(FileExistsError):
        sent[0].save(tmp_path)
    shares = {name: [files[one] for one in sent if one.recipient == name] for name in session.collectors}
    sums = [session.sum(shares[name], name) for name in session.collectors]
    published = [one for one in sent if one.recipient is None] + sums
    totals = session.finish(published, max_cells=9, min_dependence=0.1)
    truth = schema.associations(people, max_cells=9, min_dependence=0.1)
    assert totals.to_dict()["dependences"] == truth.to_dict()["dependences"]
    assert (totals.clusters, totals.records) == (truth.clusters, 90)
    assert totals.totals[0].counts == pandas.crosstab(people.a, people.b).to_numpy().tolist()
    assert "exact pair tables are public" in totals.summary
    assert session.check([*published, *shares["North"]]).checked == ["North"]
    with pytest.raises(candor.Error, match="no share from West"):
        session.sum(shares["North"][:2], "North")
    with pytest.raises(candor.Error, match="no sums of South"):
        session.finish(published[:-1])
    with pytest.raises(candor.Error, match="belongs to session"):
        candor.PartySession.start(schema, PARTIES, collectors=2).sum(shares["North"], "North")
    changed = json.loads(sums[0].to_json()) | {"from": "South"}
    (tmp_path / "changed.json").write_text(json.dumps(changed))
    with pytest.raises(candor.Error, match="actually the sums of North"):
        session.finish([*published[:3], tmp_path / "changed.json", sums[1]])


def test_randomized_pairs_have_an_epsilon(schema, people) -> None:
    session = candor.PartySession.start(schema, "North,South", epsilon=8)
    assert session.protocol == "randomized-pairs"
    assert 7.9999 < session.epsilon <= 8
    sent = session.share(own(people, 0), "North") + session.share(own(people, 1), "South")
    sums = [session.sum([one for one in sent if one.recipient == name], name) for name in session.collectors]
    totals = session.finish([one for one in sent if one.recipient is None] + sums, measure="covariance")
    assert totals.epsilon == session.epsilon
    assert totals.dependences[0].measure == "covariance"
    with pytest.raises(candor.Error, match="2 to 10000"):
        candor.PartySession.start(schema, ["North"])

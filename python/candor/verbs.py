"""Verbs that come before there is a plan: compare, device, and what `signatures` hands on."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from . import _candor, frames
from ._candor import ParameterError
from .parameters import OLD_NAMES, checked, file_text, names, path, several, written
from .parameters import text as words
from .plan import Plan, TableNames, Tables
from .progress import Bar
from .result import Result
from .results import Clusters, Combination, Comparison, Design, Devices, EpsilonChoice, Front, Refinement
from .schema import Schema
from .warned import tell

__all__ = ["choose", "combine", "compare", "device", "methods"]

#: Clusters as a result, as ``a,b;c``, or as lists of names.
ClusterNames = Clusters | str | Iterable[Iterable[str]]


def methods() -> list[Result]:
    """The methods of `design`, with what each is and its parameters.

    >>> "epsilon" in next(one for one in methods() if one.name == "joint").parameters
    True
    """
    return [
        Result({"name": name, "about": about, "parameters": [one for one, _, _ in parameters if one not in OLD_NAMES]})
        for name, about, parameters in _candor.methods()
    ]


def designed(schema: Schema | Iterable[int], method: str | None, given: dict[str, Any]) -> Plan:
    """What `design` does with what it was given."""
    parameters = {name: value for name, value in given.items() if value is not None}
    clusters, matrix, counted_in, anticipated = (parameters.pop(name, None) for name in ("clusters", "matrix", "from", "expected_shares"))
    if clusters is not None:
        parameters["clusters"] = _clusters(clusters)
        if isinstance(clusters, Clusters) and clusters.epsilon is not None:
            parameters.setdefault("spent", clusters.epsilon)
    if matrix is not None:
        parameters["matrix"] = _cells("matrix", matrix)
    parameters |= _loss(parameters.pop("loss", None))
    if "only" in parameters:
        parameters["only"] = several("only", parameters["only"])
    if method is not None and not isinstance(method, str):
        raise ParameterError(f"`method` is {method!r}; it must be the name of a method, such as \"joint\"")
    with Bar() as bar:
        native, text = _candor.design(
            _schema(schema)._native,
            method,
            None if counted_in is None else frames.given(counted_in),
            None if anticipated is None else frames.given(anticipated),
            written(**parameters),
            bar,
        )
    plan = Plan(native, Design.loads(text))
    tell(plan.design.notes if counted_in is not None and plan.design is not None else [])
    return plan


def _loss(loss: Any) -> dict[str, Any]:
    """The loss of a wrong guess: ordinal, or a matrix."""
    if loss is None:
        return {}
    return {"loss": loss if isinstance(loss, str) and loss == "ordinal" else _cells("loss", loss)}


def _cells(name: str, matrix: Any) -> list[list[str]]:
    """The cells of a matrix."""
    if isinstance(matrix, (str, os.PathLike)):
        return _candor.matrix_cells(os.fsdecode(matrix))
    try:
        return [[cell if isinstance(cell, str) else repr(float(cell)) for cell in row] for row in matrix]
    except (TypeError, ValueError):
        raise ParameterError(f"`{name}` is no matrix; it must be a CSV file, or rows of numbers or of texts such as \"1/3\"") from None


@checked
def combine(*plans: Plan, max_epsilon: float | None = None) -> Plan:
    """Plans over disjoint attributes as one: every attribute is answered as its own plan does. What it is stands in its `combination`.

    >>> import candor
    >>> plan = combine(candor.design([3], "warner", p=0.6), max_epsilon=9)
    Traceback (most recent call last):
    candor.DesignError: it takes two plans or more
    """
    native, text = _candor.combine_plans([plan._native for plan in plans], written(max_epsilon=max_epsilon))
    plan = Plan(native)
    plan.combination = Combination.loads(text)
    tell(plan.combination.notes)
    return plan


@checked
def device(
    schema: Schema | Iterable[int],
    *,
    epsilon: float | None = None,
    device: str | None = None,
    compliance_check: bool | None = None,
    margin: float | None = None,
    confidence: float | None = None,
    card: str | os.PathLike[str] | None = None,
    language: str | None = None,
    texts: str | os.PathLike[str] | None = None,
) -> Plan:
    """The plan of a survey without computers: dice, coins, cards or wheels that lose `epsilon` an answer at most, or a `device` of
    one's own. What they are is its `devices`; the page of instruction cards is written to `card`, in English or another `language`,
    with questions and labels of a file of `texts` (TOML).

    >>> plan = device([2], epsilon=1.61)
    >>> plan.guarantee.epsilon <= 1.61, plan.devices.questions[0].attribute
    (True, 'a1')
    """
    options = written(epsilon=epsilon, device=device, compliance_check=compliance_check, margin=margin, confidence=confidence)
    page_to = path("card", card)
    for name, value in (("language", language), ("texts", texts)):
        if card is None and value is not None:
            raise ParameterError(f"`{name}` goes with `card`")
    own = file_text("texts", texts)
    native, text, page, notes = _candor.device_plan(_schema(schema)._native, card is not None, words("language", language), own, options)
    tell(notes)
    if page_to is not None and page is not None:
        Path(page_to).write_text(page, encoding="utf-8")
    plan = Plan(native)
    plan.devices = Devices.loads(text)
    return plan


@checked
def choose(
    schema: Schema | Iterable[int],
    respondents: float,
    *,
    tables: TableNames | None = None,
    margin: float | None = None,
    max_guess: float | None = None,
) -> EpsilonChoice:
    """The smallest epsilon that gives the `margin` of error wanted (a share; 0.05 if it is not given) in all `tables`, within what a
    guess may gain: `max_guess` is the largest probability that a guess about one answer is right, after the most revealing reply.

    What it tells of an epsilon is what `design` makes of it, with the same tables and respondents.

    >>> choose([2], 5000).recommended
    0.6
    >>> choose([2], 1000, max_guess=0.75).verdict
    'imprecise'
    """
    options = written(respondents=respondents, tables=tables, margin=margin, max_guess=max_guess)
    with Bar() as bar:
        return EpsilonChoice.loads(_candor.choose_epsilon(_schema(schema)._native, options, bar))


@checked
def compare(
    schema: Schema | Iterable[int],
    *,
    epsilon: float | None = None,
    tables: TableNames | None = None,
    for_: str | None = None,
    clusters: ClusterNames | None = None,
    added_variance: float | None = None,
    l: int | None = None,  # noqa: E741
    respondents: float | None = None,
    expected_shares: Tables | None = None,
    simulate: Tables | None = None,
    missing: str | Iterable[str] | None = None,
    repeats: int | None = None,
    seed: int | None = None,
    time_limit: float | None = None,
) -> Comparison:
    """The methods side by side: at the same record `epsilon`, or for one attribute at the same `added_variance` (or that of `l`).

    With `for_`, such as ``"mean:Age"``, grids for the mean of an attribute are compared at `epsilon`.
    With `expected_shares`, a table of what is anticipated, errors are told for it, too, and the best method is the best for it.
    With `simulate`, a table of true records is randomized under every plan, and estimates are compared with the truth.
    Each method may search for `time_limit` seconds (10 unless it is said); `out_of_time` says of each whether that was too short.

    >>> compare([3, 2], epsilon=2, tables="marginals").recommended in [one.name for one in methods()]
    True
    """
    if epsilon is None:
        sizes = None if isinstance(schema, Schema) else list(schema)
        if sizes is None or len(sizes) != 1:
            raise ParameterError("`epsilon` is needed; `added_variance` and `l` are about one attribute: compare([20], ..)")
        text = _candor.compare_variance(sizes[0], written(added_variance=added_variance, l=l, respondents=respondents))
        return Comparison.loads(text)
    if added_variance is not None or l is not None:
        raise ParameterError("either `epsilon`, or `added_variance`, or `l`")
    if for_ is not None:
        if tables is not None or clusters is not None or simulate is not None or expected_shares is not None:
            raise ParameterError("`for_` goes with neither `tables` nor `clusters` nor `simulate` nor `expected_shares`")
        asked = written(epsilon=epsilon, respondents=respondents)
        return Comparison.loads(_candor.compare_for(_schema(schema)._native, words("for_", for_) or "", asked))
    options = written(
        epsilon=epsilon, tables=tables, clusters=None if clusters is None else _clusters(clusters),
        respondents=respondents, missing=names("missing", missing), repeats=repeats, seed=seed, time_limit=time_limit,
    )  # fmt: skip
    records = None if simulate is None else frames.given(simulate)
    with Bar() as bar:
        anticipated = None if expected_shares is None else frames.given(expected_shares)
        text = _candor.compare_methods(_schema(schema)._native, records, anticipated, options, bar)
        return Comparison.loads(text)


def fronts(prior: Iterable[float] | None, given: dict[str, Any]) -> Front:
    """What `pareto` does with what it was given."""
    counted_in = given.pop("from")
    options = written(prior=prior, **given | _loss(given.pop("loss", None)))
    with Bar() as bar:
        text, csv, matrices, notes = _candor.front_of(None if counted_in is None else frames.given(counted_in), options, bar)
    tell(notes)
    found = Front.loads(text)
    found.csv = csv
    found.matrices = dict(matrices)
    return found


def refined(plan: Any, prior: Iterable[float] | None, given: dict[str, Any]) -> Plan:
    """What `Plan.refine` does with what it was given."""
    counted_in = given.pop("from")
    options = written(prior=prior, **given | _loss(given.pop("loss", None)))
    native, text, caution = _candor.refine_plan(plan._native, None if counted_in is None else frames.given(counted_in), options)
    tell([caution] if caution else [])
    better = Plan(native)
    better.refinement = Refinement.loads(text)
    return better


def _schema(schema: Schema | Iterable[int]) -> Schema:
    if isinstance(schema, Schema):
        return schema
    if isinstance(schema, (list, tuple)) and all(isinstance(size, int) for size in schema):
        return Schema.of_sizes(list(schema))
    raise ParameterError(f"a schema is a candor.Schema, or a list of numbers of categories; this is a {type(schema).__name__}")


def _clusters(clusters: ClusterNames) -> list[list[str]]:
    if isinstance(clusters, Clusters):
        return clusters.clusters
    if isinstance(clusters, str):
        return [[name.strip() for name in cluster.split(",")] for cluster in clusters.split(";")]
    return [names("clusters", cluster) or [] for cluster in several("clusters", clusters) or []]

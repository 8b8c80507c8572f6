"""What verbs say of schemas and plans, field by field as in the command's JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from . import shown
from .result import Result
from .shown import Grid, Line

__all__ = [
    "Attribute",
    "Audit",
    "CertifiedAttribute",
    "Checked",
    "Clusters",
    "Combination",
    "Column",
    "Comparison",
    "Criterion",
    "Design",
    "Devices",
    "EffectPowers",
    "EpsilonChoice",
    "Evidence",
    "Experiment",
    "Front",
    "Guarantee",
    "MechanismAudit",
    "Page",
    "PartyCheck",
    "PartyTotals",
    "PlanComparison",
    "Powers",
    "Refinement",
    "Sizes",
    "TransitionMatrix",
]


class Attribute(Result):
    """An attribute of a schema."""

    name: str
    #: Its labels, in order.
    categories: list[str]
    #: ``nominal`` or ``ordinal``.
    kind: str
    #: Whether it is published unchanged.
    public: bool
    #: The edges of its bins; empty if its values are no numbers.
    edges: list[float]
    #: The points of its grid; empty if numbers are not dithered.
    grid: list[float]
    #: Whom it is asked, as in ``Smokes = yes``; ``None`` if everybody.
    asked_if: str | None


class Column(Result):
    """A column of responses."""

    name: str
    #: ``answer``, ``public``, ``tag`` or ``cells``.
    content: str
    #: Whether it names a set of labels.
    set: bool
    #: What it can name, in order; None for tags and cells.
    labels: list[str] | None


class CertifiedAttribute(Result):
    """What is certified of one attribute."""

    name: str
    categories: int
    requested: float | None
    #: For a reader of its answer alone; None if unbounded, or if it has no answer of its own.
    marginal_epsilon: float | None
    #: For somebody who knows all answers that are not tied to it; None if unbounded.
    conditional_epsilon: float | None
    keep_probability: float | None
    #: How often the best guess from everything that is sent is right, if nothing is known beforehand.
    guess_probability: float
    #: How likely somebody can then come to think one category, at most.
    worst_posterior: float


class Guarantee(Result):
    """What a plan provably gives."""

    _parts = {"attributes": CertifiedAttribute, "for_prior": Result}

    #: Of the record; None if unbounded.
    epsilon: float | None
    attributes: list[CertifiedAttribute]
    for_prior: Any
    #: How the plan was made, as far as it says so.
    method: str


class Design(Result):
    """A plan's certificate, and what to expect of it."""

    #: A code such as ``ok`` or ``imprecise``, and the same in a sentence.
    verdict: str
    verdict_text: str
    worst_reply: str | None
    #: ``verdict`` (``near-optimal`` or ``far-from-optimal``) and ``verdict_text``, where the least possible error is known.
    optimality: Any
    method: str
    epsilon: Any
    attributes: list[Any]
    expected: list[Any]
    workload: Any
    alternatives: list[Any]
    altered: list[Any]
    out_of_time: bool
    interrupted: bool
    pairs: Any
    for_prior: Any
    #: The request that made it; also in the plan.
    made_by: Any
    notes: list[str]
    fingerprint: str
    seconds: float | None


class Criterion(Result):
    """What one criterion says."""

    name: str
    #: None if unbounded or not applicable.
    value: float | None
    required: float | str | None
    holds: bool | None
    #: What it means, in one plain sentence.
    sentence: str
    details: list[Any]
    warning: str | None
    closest_breaking_prior: Any


class Audit(Result):
    """What a plan guarantees, by every criterion; one of them by its name: ``audit["ldp"]``."""

    _parts = {"criteria": Criterion, "attributes": CertifiedAttribute, "shuffled": Criterion}

    #: A code such as ``ok`` or ``imprecise``, and the same in a sentence.
    verdict: str
    verdict_text: str
    worst_reply: str | None
    epsilon: float | None
    attributes: list[Any]
    criteria: list[Criterion]

    def __getitem__(self, name: str) -> Criterion:
        shuffled = getattr(self, "shuffled", None)
        for one in [*self.criteria, *([shuffled] if shuffled is not None else [])]:
            if one.name == name:
                return one
        raise KeyError(name)

    def rows(self) -> list[dict[str, Any]]:
        """One row per criterion."""
        return [{name: getattr(one, name) for name in ("name", "value", "required", "holds", "sentence")} for one in self.criteria]

    def _shown(self) -> Iterator[Line | Grid]:
        epsilon = "no finite epsilon" if self.epsilon is None else f"epsilon {self.epsilon:g}"
        yield Line(f"What is guaranteed: {epsilon}", heading=True)
        names = ["name", *(name for name in ("marginal_epsilon", "conditional_epsilon") if hasattr(self.attributes[0], name))]
        header = [name.replace("_", " ") for name in names]
        yield Grid(header, [[getattr(one, name) for name in names] for one in self.attributes])
        for one in self.criteria:
            required = "" if one.holds is None else f" ({one.required} required: {'holds' if one.holds else 'DOES NOT HOLD'})"
            yield Line(f"{one.name} {shown.cell(one.value)}{required}: {one.sentence}")


class Evidence(Result):
    """What whoever approves a survey asks for; `html` and `markdown` are the whole document."""

    fingerprint: str
    language: str
    facts: list[Any]
    #: Documents with their points; each statement has the numbers of the facts it rests on.
    sections: list[Any]
    #: What computes every guarantee anew.
    commands: list[str]
    #: The form of the Differential Privacy Deployments Registry, filled in (YAML, in English).
    registry: str
    html: str
    markdown: str


class MechanismAudit(Result):
    """A lower bound on the epsilon of a mechanism."""

    #: Epsilon is at least this, with the confidence; 0 if nothing was found.
    lower_bound: float
    confidence: float
    claimed: float | None
    #: Whether the bound is above what was claimed.
    exceeds_claim: bool | None
    #: The true values that show the bound; the event is likely under the first.
    pair: list[str] | None
    event: str | None
    draws: int
    different_answers: int
    events: int
    #: What is less likely than this under every true value has most likely not been seen.
    unseen_below: float
    #: Each ordered pair of true values.
    pairs: list[Any]
    sentences: list[str]


class PlanComparison(Result):
    """What one plan is to another."""

    first: str
    second: str
    #: ``equivalent``, ``first-better``, ``second-better`` or ``incomparable``.
    relation: str
    blocks: list[Any]


class Page(NamedTuple):
    """A page for people: as text, and as HTML."""

    text: str
    html: str

    def written(self, output: str | os.PathLike[str] | None) -> Page:
        """Writes it to a file: HTML by the ending of its name, else text."""
        if output is not None:
            is_html = os.fsdecode(output).lower().endswith((".html", ".htm"))
            Path(output).write_text(self.html if is_html else self.text, encoding="utf-8")
        return self

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return self.html


class Sizes(Result):
    """How many respondents each table takes."""

    #: A code such as ``ok`` or ``imprecise``, and the same in a sentence.
    verdict: str
    verdict_text: str
    margin: float
    confidence: float
    tables: list[Any]


class Powers(Result):
    """How many respondents finding something takes, question by question; or which power so many have."""

    finding: str
    alpha: float
    questions: list[Any]


class EffectPowers(Result):
    """How many respondents finding the coefficients of a model takes; or which power so many have."""

    model: str
    response: str
    family: str
    method: str
    alpha: float
    effects: list[Any]
    shares: list[Any]
    notes: list[str]


class Devices(Result):
    """What dice, coins, cards and wheels can do for each question."""

    epsilon: float | None
    margin: float
    confidence: float
    questions: list[Any]
    record_epsilon: float | None
    fingerprint: str
    warnings: list[str]


class Combination(Result):
    """Plans over disjoint attributes as one."""

    #: Its record-level epsilon; None if unbounded.
    epsilon: float | None
    attributes: list[CertifiedAttribute]
    #: The plans: each with ``method``, ``attributes``, ``epsilon``, ``fingerprint``.
    parts: list[Any]
    #: What it gives for the prior that one of them was made for.
    for_prior: Any
    notes: list[str]
    fingerprint: str
    _parts = {"attributes": CertifiedAttribute}


class TransitionMatrix(Result):
    """The probability of each answer (rows) under each true value (columns)."""

    #: The attributes it is about.
    attributes: list[str]
    #: The truths.
    inputs: list[str]
    #: The answers.
    outputs: list[str]
    #: ``matrix[answer][truth]``.
    matrix: list[list[float]]
    #: The same as text, such as ``"3/4"``; None unless ``exact``.
    fractions: list[list[str]] | None
    #: Each with ``real`` and ``imaginary``, the largest absolute value first; None unless answers are truths.
    eigenvalues: list[Any] | None
    #: The largest absolute eigenvalue over the smallest; None if that is 0, or there are none.
    largest_over_smallest: float | None
    #: How likely answers are by their misses; None unless all with two or more are alike.
    misses: Any
    fingerprint: str
    #: With labels, as ``design`` reads it.
    csv: str

    def to_numpy(self) -> Any:
        """The matrix as an array of numpy: answers by truths."""
        import numpy

        return numpy.array(self.matrix, dtype=float)


class Refinement(Result):
    """A plan before and after."""

    before: Any
    after: Any
    #: The largest loss, if guesses are measured by one: privacy times this is the expected loss of the best guess.
    largest_loss: float | None = None
    fingerprint: str


class Experiment(Result):
    """A paper's experiment on one's own data."""

    records: int
    #: Each with ``name``, ``columns`` and ``rows``, whose cells are text.
    tables: list[Any]
    #: Each with ``name``, ``title``, the axes ``x`` and ``y``, and ``series`` of points.
    plots: list[Any]
    #: What came out, in words.
    verdict: str

    def rows(self) -> list[dict[str, Any]]:
        """One row per plotted point: ``plot``, ``series``, ``x``, ``y``."""
        return [
            {"plot": plot["name"], "series": series["name"], "x": x, "y": y}
            for plot in self._fields["plots"]
            for series in plot["series"]
            for x, y in series["points"]
        ]

    def _shown(self) -> Iterator[Line | Grid]:
        for table in self._fields["tables"]:
            yield Line(table["name"], heading=True)
            yield Grid(table["columns"], table["rows"])
        for sentence in self.verdict.splitlines():
            yield Line(sentence)


class Clusters(Result):
    """Which attributes belong together."""

    protocol: str
    records: int
    #: What learning cost those who took part.
    epsilon: float | None
    simulation: int | None
    bytes: Any
    dependences: list[Any]
    clusters: list[list[str]]
    steps: list[Any]
    #: How dependences were learned, and what that disclosed, in words.
    summary: str

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes what the command's `--from-clusters` reads."""
        Path(path).write_text(json.dumps(self._fields, indent=2) + "\n", encoding="utf-8")

    def _shown(self) -> Iterator[Line | Grid]:
        for sentence in self.summary.splitlines():
            yield Line(sentence)
        yield Grid(["cluster"], [[", ".join(cluster)] for cluster in self.clusters])
        strongest = sorted(self.dependences, key=lambda one: -one.value)
        header = ["attributes", "measure", "dependence", "standard error"]
        yield Grid(header, [[f"{one.a} x {one.b}", one.measure, one.value, one.standard_error] for one in strongest])

    def plot(self, ax: Any = None) -> Any:
        """How strongly attributes depend on each other, by matplotlib."""
        from .plots import dependences

        return dependences(self.dependences, ax)


class PartyTotals(Clusters):
    """What parties learned together, showing their records to nobody."""

    session: str
    parties: list[str]
    collectors: list[str]
    #: The totals of each pair: `a`, `b` and `counts`, a row for each category of `a`.
    totals: list[Any]


class PartyCheck(Result):
    """The collectors whose sums are those of the shares they received."""

    session: str
    checked: list[str]


class EpsilonChoice(Result):
    """A recommended epsilon, and what others would give."""

    #: A code such as ``ok``, ``weak`` or ``imprecise``, and the same in a sentence.
    verdict: str
    verdict_text: str
    #: The smallest epsilon that does what is wanted, to one tenth; None if none up to 8 does.
    recommended: float | None
    reason: str
    #: The smallest with small enough margins; the largest at which a guess gains no more than it may.
    for_margin: float | None
    for_guess: float | None
    respondents: float
    margin: float
    max_guess: float | None
    #: Each ``epsilon``, ``margin``, ``widest`` (a table), ``respondents_needed``, ``attribute``, ``worst_posterior``,
    #: ``guess_probability``, ``by_luck`` and ``fingerprint`` (of the plan).
    epsilons: list[Any]
    #: Epsilons that others used: ``what``, ``epsilon``, ``model``, ``covers``, ``source``.
    deployments: list[Any]
    #: Written by the command only.
    command: str | None

    def rows(self) -> list[dict[str, Any]]:
        """One row per epsilon."""
        return [dict(one._fields) for one in self.epsilons]

    def _shown(self) -> Iterator[Line | Grid]:
        yield Line(self.verdict_text)
        yield Line(self.reason)
        left_out = ("fingerprint", "attribute", "widest")
        yield from shown.listed([{key: value for key, value in row.items() if key not in left_out} for row in self.rows()])


class Comparison(Result):
    """The methods side by side."""

    #: A code such as ``ok`` or ``imprecise``, and the same in a sentence.
    verdict: str
    verdict_text: str
    respondents: float
    methods: list[Any]
    #: The one with the least error; None if none can answer, or they promise different things.
    recommended: str | None
    #: ``verdict`` (``near-optimal`` or ``far-from-optimal``) and ``verdict_text`` of that one, where the least possible error is known.
    optimality: Any
    #: What the other randomized attributes cost each: `attribute`, `error` of its tables, and `alone`, if no other were randomized.
    attributes: list[Any]

    def __getitem__(self, method: str) -> Any:
        for one in self.methods:
            if one.method == method:
                return one
        raise KeyError(method)

    def rows(self) -> list[dict[str, Any]]:
        """One row per method."""
        left_out = ("request", "simulation", "told", "command")
        return [{key: value for key, value in one._fields.items() if key not in left_out} for one in self.methods]

    def _shown(self) -> Iterator[Line | Grid]:
        yield Line(f"recommended: {self.recommended or 'none'} ({shown.cell(self.respondents)} respondents)")
        wanted = ("method", "epsilon", "one_way", "two_way", "error", "times_the_bound", "answer_size", "parity", "guessing", "reason")
        yield from shown.listed([{name: one._fields.get(name) for name in wanted} for one in self.methods])


class Front(Result):
    """Privacy and mean squared error of one attribute, by method."""

    points: list[Any] | None
    warner: list[Any]
    evolved: list[Any] | None
    hypervolume: float | None
    warner_hypervolume: float
    evolved_hypervolume: float | None
    prior: list[float]
    posterior_bound: float
    respondents: float
    #: The largest loss, if guesses are measured by one: privacy times this is the expected loss of the best guess.
    largest_loss: float | None = None
    out_of_time: bool
    interrupted: bool
    #: All methods at each privacy, as CSV.
    csv: str
    #: The matrices of all points as CSV by the name of a file, and ``index.csv`` with privacy and mean squared error of each.
    matrices: dict[str, str]

    def rows(self) -> list[dict[str, Any]]:
        """One row per point."""
        return [shown.current(point.to_dict()) for point in self.points or self.warner]

    def _shown(self) -> Iterator[Line | Grid]:
        yield Line(
            f"{len(self.prior)} categories, posterior bound {self.posterior_bound:g}, {shown.cell(self.respondents)} respondents; "
            "mse: mean squared error of the shares"
        )
        yield from shown.listed(self.rows())

    def plot(self, ax: Any = None) -> Any:
        """The fronts, by matplotlib."""
        from .plots import front

        return front(self, ax)


class Checked(Result):
    """What does not fit a schema: true if nothing."""

    #: ``meets`` or ``violates``, and the same in a sentence.
    verdict: str
    verdict_text: str
    attributes: list[Any]
    records: int
    problems: list[Any]

    def __bool__(self) -> bool:
        return not self.problems

    def _shown(self) -> Iterator[Line | Grid]:
        if self:
            yield Line(f"Meets the schema: all {self.records:,} records fit.")
        else:
            yield Grid(["row", "column", "value", "message"], [[one.row, one.column, one.value, one.message] for one in self.problems])

"""What verbs make and say of responses, field by field as in the command's JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from .result import Result
from .results import CertifiedAttribute
from .shown import Grid, Line, cell, listed

__all__ = [
    "Adjustment",
    "Answers",
    "Cell",
    "Coefficient",
    "Compliance",
    "Differences",
    "Entered",
    "Estimates",
    "Groups",
    "Independence",
    "Randomized",
    "Regression",
    "Report",
    "Scan",
    "Synthesis",
    "Table",
    "Wave",
]


class Randomized(Result):
    """What was done."""

    records: int
    fingerprint: str
    #: Whether the plan has no finite epsilon.
    unbounded: bool
    #: A code such as ``meets``, ``weak`` or ``simulation``, and the same in a sentence.
    verdict: str
    verdict_text: str
    #: The seed, if it was a simulation.
    simulation: int | None
    seconds: float | None


class Entered(Result):
    """What was entered."""

    records: int
    fingerprint: str


class Compliance(Result):
    """What the answers tell about whether people followed their cards."""

    #: A code such as ``ok`` or ``imprecise``, and the same in a sentence.
    verdict: str | None = None
    verdict_text: str | None = None
    respondents: int
    alpha: float
    ignoring_share: float
    confidence: float
    #: By a question whose true answer is known, how many attended; None without one.
    attentive: Any
    questions: list[Any]


class Cell(Result):
    """A cell of an estimated table."""

    categories: list[str]
    estimate: float
    standard_error: float | None
    low: float | None
    high: float | None
    shown_estimate: float | None
    reliability: str | None
    #: How many independent respondents with equal weights would tell as much.
    effective_sample_size: float | None
    #: With how many direct answers the standard error would be the same.
    directly_asked: float | None
    relative_standard_error: float | None
    #: By the NCHS: whether the share of all others is precise, too.
    complement_reliable: bool | None = None


class Table(Result):
    """An estimated table, of everybody or of one group."""

    _parts = {"cells": Cell}

    attributes: list[str]
    #: Among whom shares are told: those with the same categories of these.
    conditioning_attributes: list[str]
    #: Old name of ``conditioning_attributes``.
    given: list[str]
    #: Names and categories of the attributes of ``by``; empty for everybody.
    group: dict[str, str]
    #: The number of responses, or the sum of their weights.
    respondents: float
    #: The number of responses, whatever their weights.
    sample_size: int
    #: Of the sampling design.
    degrees_of_freedom: float | None
    condition: float | None
    implausible: bool
    identifiable: bool
    #: Why there are no cells, if there are none.
    reason: str | None
    cells: list[Cell]

    @property
    def name(self) -> str:
        """The attributes, joined by commas."""
        return ",".join(self.attributes)

    def rows(self) -> list[dict[str, Any]]:
        """One row per cell: a column for each attribute of the group and of the table, then the numbers."""
        group = dict(self._fields["group"])
        numbers = ("estimate", "standard_error", "low", "high")
        return [
            {**group, **dict(zip(self.attributes, cell.categories)), **{name: getattr(cell, name) for name in numbers}}
            for cell in self.cells
        ]

    def to_numpy(self) -> Any:
        """The estimated shares as an array with one axis per attribute."""
        import numpy

        sizes = [len(dict.fromkeys(cell.categories[axis] for cell in self.cells)) for axis in range(len(self.attributes))]
        return numpy.array([cell.estimate for cell in self.cells]).reshape(sizes)

    def crosstab(self, value: str = "estimate") -> Any:
        """A pandas frame with the last attribute across and the others down."""
        import pandas

        frame = pandas.DataFrame(self.rows())
        for name in self.attributes:
            frame[name] = pandas.Categorical(frame[name], categories=list(dict.fromkeys(frame[name])))
        down, across = self.attributes[:-1], self.attributes[-1]
        if not down:
            return frame.set_index(across)[value]
        return frame.pivot(index=down, columns=across, values=value)

    def plot(self, ax: Any = None) -> Any:
        """Bars with their intervals, by matplotlib."""
        from .plots import table

        return table(self, ax)

    def _shown(self) -> Iterator[Line | Grid]:
        group = self._fields["group"]
        where = " where " + ", ".join(f"{name} = {category}" for name, category in group.items()) if group else ""
        yield Line(" x ".join(self.attributes) + where, heading=True)
        if self.reason is not None:
            yield Line(self.reason)
            return
        certain = any(cell.standard_error is not None for cell in self.cells)
        numbers = ["estimate", "standard_error", "low", "high"][: 4 if certain else 1]
        header = [" x ".join(self.attributes), *(name.replace("_", " ") for name in numbers)]
        rows = [
            [" x ".join(label or '""' for label in cell.categories), *(getattr(cell, name) for name in numbers)]
            for cell in self.cells
        ]
        yield Grid(header, rows)


class Estimates(Result):
    """Estimated tables; one of them by its name: ``estimates["Education,Income"]``."""

    _parts = {"tables": Table}
    #: The columns of its file, by name.
    _columns: list[Any] | None = None

    #: A code such as ``ok`` or ``imprecise``, and the same in a sentence.
    verdict: str | None = None
    verdict_text: str | None = None
    respondents: int
    method: str
    target: str
    interval: str
    confidence: float
    #: By which rule shares may be published: ``candor`` or ``nchs``.
    standards: str
    tables: list[Table]
    #: Groups, or earlier responses, side by side.
    comparisons: Sequence[Any] = ()
    #: Of whom the tables are and how those were drawn, in words, unless they are everybody and a simple random sample.
    sampling_note: str | None = None
    #: Old name of ``sampling_note``.
    design: str | None = None
    #: Means and quantiles.
    numbers: Sequence[Any] = ()
    #: Whether answers fit the plan, question by question.
    compliance: Sequence[Any] = ()

    def __getitem__(self, table: str | int | tuple[str, ...] | list[str]) -> Table:
        if isinstance(table, int):
            return self.tables[table]
        name = table if isinstance(table, str) else ",".join(table)
        wanted = sorted(one.strip() for one in name.split(","))
        for one in self.tables:
            if sorted(one.attributes) == wanted:
                return one
        raise KeyError(f'"{name}" was not estimated; there are {", ".join(dict.fromkeys(one.name for one in self.tables))}')

    def __iter__(self) -> Iterator[Table]:
        return iter(self.tables)

    def __len__(self) -> int:
        return len(self.tables)

    @classmethod
    def of(cls, text: str, columns: str) -> Estimates:
        """Of JSON, with the columns of its file."""
        made = cls(json.loads(text))
        made._columns = json.loads(columns)
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return Estimates.of, (json.dumps(self._fields), json.dumps(self._columns))

    def rows(self) -> list[dict[str, Any]]:
        """One row per number, as the command's CSV has them: a column for each attribute, then the numbers.

        What a table does not have is None, and so are quantiles, which are categories: see `numbers`.
        """
        if self._columns is None:
            # Those on a report.
            return [{"table": table.name, **row} for table in self.tables for row in table.rows()]
        names = [name for name, _ in self._columns]
        return [dict(zip(names, row)) for row in zip(*(values for _, values in self._columns))]

    def plot(self, ax: Any = None) -> list[Any]:
        """All tables, one below the other, by matplotlib: the axes of each."""
        from .plots import tables

        return tables(self.tables, ax)

    def _shown(self) -> Iterator[Line | Grid]:
        yield Line(
            f"{self.respondents:,} responses, {self.method} estimate, {100 * self.confidence:g}% {self.interval} intervals "
            f"for the {self.target}"
        )
        for table in self.tables:
            yield from table._shown()
        for name in ("numbers", "comparisons"):
            if self._fields.get(name):
                yield Line(name, heading=True)
                yield from listed(self._fields[name])


class Scan(Result):
    """One outcome against every other attribute, the most surprising first."""

    respondents: int
    #: None if the parts of crossed attributes were tested.
    outcome: str | None
    #: ``holm`` or ``bh``.
    adjust: str
    tested: int
    #: How many are selected.
    top: int
    #: Each with ``attribute``, ``statistic``, ``degrees``, ``p_value``, ``adjusted_p_value``, ``selected_again``, ``naive``.
    tests: list[Any]
    #: Each with ``attribute`` and ``reason``.
    untested: list[Any]

    def rows(self) -> list[dict[str, Any]]:
        """One row per attribute."""
        return [test.to_dict() for test in self.tests]


class Independence(Result):
    """Whether two attributes are independent."""

    respondents: int
    statistic: float
    degrees: int
    p_value: float
    cramers_v: float
    cramers_v_standard_error: float | None
    cramers_v_low: float | None
    cramers_v_high: float | None
    #: Categories too rare to be distinguished, merged for V: each with ``attribute`` and ``categories``.
    merged: list[Any]
    odds_ratio: Any
    #: What taking the answers for the truth would have said.
    naive: Any
    #: Of whom it is and how those were drawn, in words, unless they are everybody and a simple random sample.
    sampling_note: str | None = None
    #: Old name of ``sampling_note``.
    design: str | None = None


class Differences(Result):
    """Differences of shares or means between groups, or between two waves, each with the test that it is none."""

    respondents: int
    confidence: float
    #: Each ``quantity``, ``attributes``, ``categories``, ``group``, ``compared``, ``first``, ``second``, ``first_number``, ``second_number``, ``difference``,
    #: ``statistic``, ``degrees``, ``p_value``, ``reason``.
    differences: list[Any]
    #: Of whom it is and how those were drawn, in words, unless they are everybody and a simple random sample.
    sampling_note: str | None = None
    #: Old name of ``sampling_note``.
    design: str | None = None

    def plot(self, ax: Any = None) -> Any:
        """The differences with their intervals, by matplotlib."""
        from .plots import forest

        rows = []
        for one in self.differences:
            place = " x ".join([*(one.categories or one.attributes), *one.to_dict()["group"].values()])
            found = one.difference
            numbers = (None, None, None) if found is None else (found.estimate, found.low, found.high)
            rows.append((f"{place}: {one.second} - {one.first}", *numbers))
        return forest(rows, 0.0, "difference", ax)


class Answers(Result):
    """The share of people for whom a condition holds; that of one method by its name: ``answers["joint"]``."""

    where: str
    respondents: int
    confidence: float
    answers: list[Any]
    #: Among whom, if not everybody.
    given: str | None = None
    #: The attribute whose mean it is; None for a share.
    mean: str | None = None
    #: The groups of the attribute that is compared, if any.
    compared: Sequence[Any] = ()
    #: Of whom it is and how those were drawn, in words, unless they are everybody and a simple random sample.
    sampling_note: str | None = None
    #: Old name of ``sampling_note``.
    design: str | None = None
    #: Of the unbiased share, a code such as ``ok``, ``imprecise`` or ``out-of-range``, and the same in a sentence.
    verdict: str | None = None
    verdict_text: str | None = None
    #: What the methods assume, where they differ.
    note: str | None

    def __getitem__(self, method: str) -> Any:
        for one in self.answers:
            if one.method == method:
                return one
        raise KeyError(method)

    def plot(self, ax: Any = None) -> Any:
        """The answers of all methods with their intervals, by matplotlib."""
        from .plots import forest

        rows = [(one.method, one.estimate, one.low, one.high) for one in self.answers]
        return forest(rows, 0.0, self.where if self.mean is None else f"mean of {self.mean}", ax)


class Groups(Result):
    """What was found in every group: of each its ``group``, names and categories, beside the fields of the result."""

    groups: list[Any]


class Coefficient(Result):
    """A coefficient of a regression."""

    #: ``age``, ``Sex=Male``, ``age:Sex=Male``, ``(constant)`` or ``(threshold)``.
    term: str
    #: The response's category that it is about; of a threshold, those that it lies between.
    category: str | None
    estimate: float
    #: ``ml``, ``corrected`` or ``penalized``.
    estimate_kind: str
    #: None where a limit is missing.
    standard_error: float | None
    #: None: no limit.
    low: float | None
    high: float | None
    #: Chi-square with one degree of freedom.
    statistic: float | None
    #: Of Student's t that the statistic was taken from.
    df: float | None
    #: Of the hypothesis that it is zero; it agrees with the interval.
    p_value: float | None
    #: ``score``, ``one-step-cr2``, ``fieller``, ``wald-replicates`` or ``wald`` (thresholds).
    test: str
    odds_ratio: float | None
    odds_ratio_low: float | None
    odds_ratio_high: float | None
    rate_ratio: float | None
    rate_ratio_low: float | None
    rate_ratio_high: float | None
    #: How many times as many respondents it took as direct questions would have.
    variance_inflation: float | None
    #: Old name of ``variance_inflation``.
    design_effect: float | None
    #: Number of direct answers that would be as precise.
    directly_asked: float | None
    #: What taking the answers for the truth would have given, if asked for.
    naive: float | None


class GroupRegression(Result):
    """A model in one group."""

    #: Names and categories of the attributes of ``by``.
    group: dict[str, str]
    #: Why there is no fit, if there is none.
    reason: str | None
    regression: Regression | None


class Regression(Result):
    """A fitted model; a coefficient by its term: ``regression["Sex=Male"]``, or by term and category of the response."""

    _parts = {"coefficients": Coefficient, "contrasts": Coefficient, "groups": GroupRegression}

    model: str
    response: str
    #: The categories whose log odds are modeled; of an ordinal response the highest.
    modeled: list[str]
    #: The category that they are compared with.
    reference: str | None
    #: The randomized attributes of the model.
    randomized: list[str]
    #: The record-level epsilon of the plan; ``None`` without a bound.
    epsilon: float | None
    #: The category that those of each predictor are compared with.
    references: dict[str, str]
    #: ``binary``, ``multinomial``, ``ordinal``, ``linear``, ``poisson`` or ``quasi-poisson``.
    family: str
    #: ``ml``, ``jeffreys`` or ``corrected``.
    method: str
    respondents: int
    #: Without those outside of the subpopulation and those without an answer.
    people_modeled: float
    #: Attributes of which people without an answer are left out.
    left_out: list[str]
    #: The condition of the subpopulation.
    subpopulation: str | None
    #: How many of them differ in what the model sees.
    rows_: int
    #: How respondents were drawn and weighted, in words.
    sampling_note: str | None
    #: Old name of ``sampling_note``.
    design: str | None
    #: What p-values and limits come from: ``score``, ``one-step-cr2``, ``fieller`` (linear models), or ``wald-replicates``.
    test: str
    confidence: float
    converged: bool
    #: Whether the likelihood, or the corrected score, has no finite solution.
    boundary: bool
    log_likelihood: float | None
    #: The randomized attributes whose answers it is about.
    log_likelihood_of: list[str]
    null_log_likelihood: float | None
    #: To compare models of the same answers by maximum likelihood.
    aic: float | None
    #: Tjur's R2 of the truth, for binary responses.
    tjur_r2: float | None
    #: The standard deviation of what a linear model leaves.
    residual_deviation: float | None
    #: Of counts, their variance over their mean, given the predictors.
    dispersion: float | None
    #: What had to be assumed of randomized predictors.
    assumption: str | None
    #: How far maximum likelihood and the corrected score differ.
    hausman: Any
    #: How many ignore the device, if that was asked for.
    ignoring: Any
    coefficients: list[Coefficient]
    #: What coefficients are called, each of them once.
    terms: list[str]
    #: The covariance of the coefficients, in their order.
    covariance: list[list[float]]
    #: The average predicted share of each category, or the average predicted number.
    shares: list[Any]
    #: By how much shares change, on average, with each predictor, all else equal.
    effects: list[Any]
    #: Joint tests of the terms that have several coefficients.
    joint_tests: list[Any]
    #: The contrasts that were asked for.
    contrasts: list[Coefficient]
    #: The predictions for the profiles that were asked for.
    predictions: list[Any]
    #: By how much numeric predictors were moved and divided.
    standardized: list[Any]
    #: The same model in each group of ``by``; all else is about everybody.
    groups: list[GroupRegression] = []
    notes: list[str]

    def __getitem__(self, term: str | tuple[str, str]) -> Coefficient:
        name, category = (term, None) if isinstance(term, str) else term
        found = [one for one in self.coefficients if one.term == name and category in (None, one.category)]
        if len(found) == 1:
            return found[0]
        if found:
            raise KeyError(f'there is a "{name}" of each of {", ".join(str(one.category) for one in found)}: say which, after a comma')
        raise KeyError(f'there is no "{name}"; there are {", ".join(dict.fromkeys(one.term for one in self.coefficients))}')

    def rows(self) -> list[dict[str, Any]]:
        """One row per coefficient."""
        return [one.to_dict() for one in self.coefficients]

    def plot(self, ax: Any = None) -> Any:
        """The coefficients but constants and thresholds with their intervals, by matplotlib; odds and rate ratios on a scale of their logarithms."""
        from .plots import forest

        shown = [one for one in self.coefficients if not one.term.startswith("(")]
        several = len({one.category for one in shown}) > 1
        names = [f"{one.term} ({one.category})" if several else one.term for one in shown]
        ratio = next((kind for kind in ("odds_ratio", "rate_ratio") if any(one.to_dict()[kind] is not None for one in shown)), None)
        if ratio is None:
            return forest([(name, one.estimate, one.low, one.high) for name, one in zip(names, shown)], 0.0, "coefficient", ax)
        fields = [one.to_dict() for one in shown]
        rows = [(name, one[ratio], one[f"{ratio}_low"], one[f"{ratio}_high"]) for name, one in zip(names, fields)]
        drawn = forest(rows, 1.0, ratio.replace("_", " "), ax)
        drawn.set_xscale("log")
        return drawn

    def _shown(self) -> Iterator[Line | Grid]:
        yield Line(self.model, heading=True)
        yield Line(f"{self.respondents:,} responses, {self.family} regression, method {self.method}, {100 * self.confidence:g}% intervals")
        if self.reference is not None:
            yield Line(f"log odds of {', '.join(self.modeled)} against {self.reference}")
        elif self.modeled:
            yield Line(f"positive coefficients mean higher categories, up to {', '.join(self.modeled)}")
        parts = [f"randomized: {', '.join(self.randomized)}"] if self.randomized else []
        if references := ", ".join(f"{name} = {category}" for name, category in self._fields["references"].items()):
            parts.append(f"reference categories: {references}")
        if parts:
            yield Line("; ".join(parts))
        if self.sampling_note is not None:
            yield Line(self.sampling_note)
        for note in self.notes:
            yield Line(note)
        absent = "odds_ratio" if self.family in ("poisson", "quasi-poisson") else "rate_ratio"
        left_out = ("odds_ratio_low", "odds_ratio_high", "rate_ratio_low", "rate_ratio_high", "directly_asked", absent)
        yield from listed([{name: value for name, value in row.items() if name not in left_out} for row in self.rows()])
        for name, heading in {"joint_tests": "joint tests: all coefficients of the term are zero", "contrasts": "contrasts"}.items():
            if self._fields[name]:
                yield Line(heading, heading=True)
                yield from listed([{key: value for key, value in row.items() if key not in left_out} for row in self._fields[name]])
        if self.predictions:
            yield Line("predictions", heading=True)
            yield from listed([{**row["profile"], **{key: value for key, value in row.items() if key != "profile"}} for row in self._fields["predictions"]])
        averages = {"shares": "average prediction", "effects": "average change of it with each predictor, all else equal"}
        for name, heading in averages.items():
            if self._fields[name]:
                yield Line(heading, heading=True)
                yield from listed(self._fields[name])
        for name in ("log_likelihood", "aic", "tjur_r2", "residual_deviation", "dispersion", "ignoring", "hausman"):
            if self._fields[name] is not None:
                yield Line(f"{name}: {cell(self._fields[name])}")


GroupRegression._parts = {"regression": Regression}


class Adjustment(Result):
    """Weights, and how they were found."""

    #: Which records have them: ``answers``, or those of ``tree`` or ``entropy``.
    method: str
    respondents: int
    #: How many different answer records there are.
    records: int
    iterations: int
    converged: bool
    reason: str | None
    largest_margin_error: float
    largest_weight_change: float
    distance: float | None
    margins: list[list[str]]
    unattainable: list[Any]
    fingerprint: str
    simulation: int | None
    seconds: float | None
    #: The records with their weights; None if they went to a file.
    weighted: Any


class Synthesis(Result):
    """Synthetic records, and what they are made from."""

    records: int
    respondents: int
    method: str
    converged: bool | None
    #: The dependences of pairs that the records keep, each with `attributes` and `information`.
    links: list[Any]
    #: Those that they do not keep, but for what the others imply.
    left_out: list[Any]
    #: Pairs of which the responses tell nothing.
    untold: list[list[str]]
    largest_margin_error: float | None
    seed: int | None
    fingerprint: str
    seconds: float | None
    #: The records; None if they went to a file.
    people: Any


class Wave(Result):
    """An earlier wave of a report."""

    _parts = {"estimates": Estimates}

    name: str
    fingerprint: str
    estimates: Estimates

    def _shown(self) -> Iterator[Line | Grid]:
        yield Line(self.name)
        yield from self.estimates._shown()


class Report(Result):
    """What responses tell, and what a reader must know before believing it."""

    _parts = {"attributes": CertifiedAttribute, "estimates": Estimates, "regressions": Regression, "waves": Wave}

    respondents: int
    epsilon: float | None
    attributes: list[CertifiedAttribute]
    warnings: list[str]
    estimates: Estimates
    dependences: list[Any]
    regressions: list[Regression]
    #: Earlier waves, if there are any, and each table now less the same in the first of them.
    waves: Sequence[Wave] = ()
    changes: Sequence[Any] = ()
    fingerprint: str
    #: The page.
    html: str

    def plot(self, table: str | None = None, ax: Any = None) -> Any:
        """By matplotlib: a table from wave to wave (the first, if none is named); without earlier waves, all tables, as of estimates."""
        from .plots import waves

        if not self.waves:
            return self.estimates.plot(ax) if table is None else self.estimates[table].plot(ax)
        now = self.estimates[table] if table is not None else self.estimates[0]
        earlier = [(wave.name, wave.estimates[now.name]) for wave in self.waves]
        return waves([*earlier, (self.changes[0].second if self.changes else "now", now)], ax)

    def plot_associations(self, ax: Any = None) -> Any:
        """How strongly attributes depend on each other, by matplotlib."""
        from .plots import dependences

        return dependences(self.dependences, ax)

    def _shown(self) -> Iterator[Line | Grid]:
        for warning in self.warnings:
            yield Line(warning)
        yield from self.estimates._shown()
        for regression in self.regressions:
            yield from regression._shown()

    def _repr_html_(self) -> str:
        return self.html

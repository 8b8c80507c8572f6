"""Plans: the public contract between those who ask, those who answer and those who analyse."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from . import _candor, frames
from ._candor import OtherPlanError, ParameterError, RequirementError
from .analysis import Analysis, TableNames, Tables
from .counts import Counts
from .estimates import Entered, Estimates, Randomized
from .parameters import margins, names, written
from .progress import Bar
from .results import Audit, Column, Design, Devices, EffectPowers, Guarantee, Page, PlanComparison, Powers, Refinement, Sizes
from .schema import Schema
from .warned import tell

__all__ = ["Plan"]


class Plan(Analysis):
    """A schema, channels that randomize it, and what they guarantee. Holds nothing secret.

    >>> import candor
    >>> plan = candor.design(candor.Schema.of_sizes([2, 3]), "joint", epsilon=2)
    >>> plan.guarantee.epsilon <= 2
    True
    >>> Plan.loads(plan.to_json()) == plan
    True
    """

    def __init__(self, native: _candor.Plan, design: Design | None = None) -> None:
        self._native = native
        #: What was said of it when it was designed here; None if it was read.
        self.design = design
        #: Which devices it is of, if it was made of some here; else None.
        self.devices: Devices | None = None
        #: What was said of it when it was refined here; else None.
        self.refinement: Refinement | None = None

    # --- Reading and writing

    @staticmethod
    def loads(text: str | bytes, *, allow_costly_plan: bool = False, restate: bool = False) -> Plan:
        """Reads JSON. Everything is checked: an edited file, a false guarantee, a version from the future are errors.

        An older candor stated too small an epsilon of attributes that are tied to others. ``restate`` reads such a plan
        with its true guarantee; its fingerprint, and so the responses that belong to it, stay the same.
        """
        json = text if isinstance(text, str) else text.decode("utf-8")
        return Plan(_candor.Plan.loads(json, allow_costly_plan, restate))

    @staticmethod
    def load(path: str | os.PathLike[str], *, allow_costly_plan: bool = False, restate: bool = False) -> Plan:
        """Reads a file of JSON; see :meth:`loads`."""
        text = Path(path).read_text(encoding="utf-8")
        return Plan.loads(text, allow_costly_plan=allow_costly_plan, restate=restate)

    def to_json(self) -> str:
        """The plan as JSON."""
        return self._native.to_json()

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Writes a file of JSON. Another plan at this path is an error, because its responses need it; `force` replaces it."""
        self._native.save(os.fsdecode(path), force)

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (self.to_json(),)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plan) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    # --- What it is

    @property
    def fingerprint(self) -> str:
        """What travels with responses, so that nobody takes them for those of another plan."""
        return self._native.fingerprint

    @property
    def schema(self) -> Schema:
        """What is asked."""
        return Schema(self._native.schema)

    @property
    def guarantee(self) -> Guarantee:
        """What it provably gives."""
        return Guarantee.loads(self._native.guarantee())

    @property
    def columns(self) -> list[Column]:
        """The columns of responses, in order."""
        return [Column(one) for one in json.loads(self._native.columns())]

    # --- Responses

    def randomize(
        self,
        tables: Tables,
        *,
        output: str | os.PathLike[str] | None = None,
        keep: str | Iterable[str] | None = None,
        seed: int | None = None,
        simulation: bool | None = None,
        missing: str | Iterable[str] | None = None,
        delimiter: str | None = None,
        safe_cells: bool | None = None,
        force: bool | None = None,
    ) -> Any:
        """Randomizes tables of true records; gives responses as the same kind of frame, in the same order of rows.

        Randomness is that of the operating system. All columns are dropped but those of the plan and those to `keep`.
        Words that stand for what is `missing` in the tables are named as for `Schema.infer`.
        With `output`, responses are written to a file (.parquet, .csv, ..) instead, whole or not at all, and what was done is given.
        Existing responses are an error: a second release of the same people adds epsilon. `force` replaces them.
        A pyarrow RecordBatchReader gives one back, whose batches are made as they are read.

        >>> import candor, polars
        >>> plan = candor.design(candor.Schema.of_sizes([2]), "warner", p=0.75)
        >>> plan.randomize(polars.DataFrame({"a1": ["0", "1"]})).frame.columns
        ['a1']
        """
        tell([caution] if (caution := _candor.caution(self._native)) else [])
        given = frames.given(tables)
        options = {
            "keep": names(keep), "seed": seed, "simulation": simulation, "missing": names(missing), "delimiter": delimiter,
        }  # fmt: skip
        if output is not None:
            to = os.fsdecode(output)
            with Bar() as bar:
                text = _candor.randomize_to(self._native, given, to, written(**options, safe_cells=safe_cells, force=force), bar)
            return Randomized.loads(text)
        if safe_cells is not None:
            raise ParameterError("`safe_cells` is about CSV files; say `output`")
        if force is not None:
            raise ParameterError("`force` is about files; say `output`")
        if type(tables).__name__ == "RecordBatchReader":
            stream = _candor.randomize_stream(self._native, given, written(**options))
            return frames.given_back(stream, tables, self, {})
        with Bar() as bar:
            made, text = _candor.randomize(self._native, given, written(**options), bar)
        return frames.given_back(made, tables, self, json.loads(text))

    def randomize_one(
        self, record: Mapping[str, Any], *, seed: int | None = None, simulation: bool | None = None
    ) -> dict[str, Any]:
        """The response to one record, with the plan's fingerprint, as a respondent's own device sends it.

        >>> import candor
        >>> plan = candor.design(candor.Schema.of_sizes([2]), "warner", p=0.75)
        >>> sorted(plan.randomize_one({"a1": "0"}))
        ['a1', 'candor_fingerprint']
        """
        text = _candor.randomize_one(self._native, json.dumps(dict(record)), written(seed=seed, simulation=simulation))
        return json.loads(text)

    def enter(
        self,
        answers: Tables,
        output: str | os.PathLike[str],
        *,
        cards: str | Iterable[str] | None = None,
        keep: str | Iterable[str] | None = None,
        delimiter: str | None = None,
    ) -> Entered:
        """Writes what interviewers wrote down (answers, and letters or numbers of cards) as responses to a file."""
        options = written(cards=names(cards), keep=names(keep), delimiter=delimiter)
        return Entered.loads(_candor.enter_answers(self._native, frames.given(answers), os.fsdecode(output), options))

    def tally(
        self,
        responses: Tables,
        *,
        tables: TableNames | None = None,
        by: str | Iterable[str] | None = None,
        weights: str | None = None,
        keep_sets: bool | None = None,
        delimiter: str | None = None,
        unmarked: bool | None = None,
    ) -> Counts:
        """Counts responses for tables. Counts of parts add up, and can be estimated from."""
        options = written(tables=tables, by=names(by), weights=weights, keep_sets=keep_sets, delimiter=delimiter, unmarked=unmarked)
        with Bar() as bar:
            return Counts(self, _candor.tally(self._native, frames.given(responses), options, bar))

    def counts(
        self,
        counts: Tables,
        *,
        tables: TableNames | None = None,
        delimiter: str | None = None,
        unmarked: bool | None = None,
    ) -> Counts:
        """Reads counts made elsewhere, such as by the query of `sql` in a database; those that do not tell their plan only if `unmarked`."""
        options = written(tables=tables, delimiter=delimiter, unmarked=unmarked)
        return Counts(self, _candor.counts_made_elsewhere(self._native, frames.given(counts), options))

    def estimate(
        self,
        responses: Tables | Counts | None = None,
        *,
        counts: Tables | None = None,
        tables: TableNames | None = None,
        without_missing: bool | None = None,
        compare: str | None = None,
        against: Tables | Counts | None = None,
        against_plan: Plan | None = None,
        mean: str | None = None,
        quantile: str | None = None,
        values: str | None = None,
        method: str | None = None,
        interval: str | None = None,
        confidence: float | None = None,
        target: str | None = None,
        covariance: bool | None = None,
        where: str | None = None,
        by: str | Iterable[str] | None = None,
        weights: str | None = None,
        strata: str | None = None,
        sampling_clusters: str | None = None,
        fpc: str | None = None,
        replicates: str | None = None,
        replicate_method: str | None = None,
        calibrate: str | os.PathLike[str] | Mapping[str, Mapping[str, float]] | None = None,
        delimiter: str | None = None,
        unmarked: bool | None = None,
    ) -> Estimates:
        """Estimates tables of the population, with intervals, from responses or from their counts.

        In `tables`, ``"a | b"`` are the shares of a among those with the same b. `compare` puts the groups of an attribute side by
        side, `against` earlier responses (to another plan, if `against_plan` says so); `mean`, `quantile` and `values` ask for numbers.
        `where` takes those for whom a condition on public attributes holds. `weights`, `strata`, `sampling_clusters`, `fpc`, `replicates` and
        `replicate_method` say how respondents were drawn; `calibrate` has margins that the weights shall agree with: a file, or shares by
        attribute and category.
        """
        given, counted = self._source(responses, counts)
        options = written(
            tables=tables, without_missing=without_missing, compare=compare, mean=mean, quantile=quantile, values=values,
            method=method, interval=interval, confidence=confidence, target=target, covariance=covariance, where=where,
            by=names(by), weights=weights, strata=strata,
            sampling_clusters=sampling_clusters, fpc=fpc, replicates=replicates, replicate_method=replicate_method,
            calibrate=margins(calibrate), counted=counted, delimiter=delimiter, unmarked=unmarked,
        )  # fmt: skip
        earlier = None if against is None else (against_plan or self)._given(against)
        before = None if against_plan is None else against_plan._native
        with Bar() as bar:
            text, notes = _candor.estimate(self._native, given, earlier, before, options, bar)
        tell(notes)
        return Estimates.loads(text)

    # --- What it guarantees

    def audit(
        self,
        *others: Plan,
        require: Mapping[str, Any] | Iterable[str] | None = None,
        prior: Mapping[str, Iterable[float]] | None = None,
        respondents: int | None = None,
        delta: float | None = None,
        colluding: int | None = None,
        tables: TableNames | None = None,
    ) -> Audit:
        """What it guarantees by every criterion; with `others`, what holds for people who answer all of them.

        What is required and does not hold is a `RequirementError`, which has the whole `audit`.

        >>> import candor
        >>> plan = candor.design(candor.Schema.of_sizes([2]), "warner", p=0.75)
        >>> plan.audit(require={"ldp": 1.2})["ldp"].holds
        True
        """
        required = [f"{name}={value}" for name, value in require.items()] if isinstance(require, Mapping) else require
        options = written(
            require=required if required is None else list(required),
            prior=None if prior is None else {name: list(shares) for name, shares in prior.items()},
            respondents=respondents, delta=delta, colluding=colluding, tables=tables,
        )  # fmt: skip
        plans = [("the plan", self._native)] if not others else [
            (f"plan {number}", plan._native) for number, plan in enumerate((self, *others), 1)
        ]  # fmt: skip
        text, broken = _candor.audit(plans, options)
        audit = Audit.loads(text)
        if broken is not None:
            error = RequirementError(broken)
            error.audit = audit  # type: ignore[attr-defined]
            raise error
        return audit

    def compare(self, other: Plan) -> PlanComparison:
        """Whether one of two plans is at least as informative as the other, with a proof either way.

        >>> import candor
        >>> weak, strong = (candor.design(candor.Schema.of_sizes([2]), "warner", p=p) for p in (0.6, 0.9))
        >>> weak.compare(strong).relation
        'second-better'
        """
        text = _candor.compare_plans(("the plan", self._native), ("the other", other._native))
        return PlanComparison.loads(text)

    def explain(
        self,
        output: str | os.PathLike[str] | None = None,
        *,
        language: str | None = None,
        texts: str | os.PathLike[str] | None = None,
    ) -> Page:
        """The page that tells a participant what is sent, and what it reveals at most.

        ``texts`` is a file of texts (TOML): questions as they are asked, labels of categories, texts of your own.
        """
        own = None if texts is None else Path(texts).read_text(encoding="utf-8")
        return Page(*_candor.explain_plan(self._native, language, own)).written(output)

    def size(
        self,
        margin: float | None = None,
        *,
        tables: TableNames | None = None,
        confidence: float | None = None,
        simultaneous: bool | None = None,
        detect: float | Iterable[float] | None = None,
        null: float | None = None,
        ignoring: float | None = None,
        model: str | None = None,
        effect: str | Iterable[str] | None = None,
        shares: Tables | None = None,
        numbers: str | Iterable[str] | None = None,
        family: str | None = None,
        reference: Mapping[str, str] | None = None,
        power: float | None = None,
        alpha: float | None = None,
        respondents: float | None = None,
    ) -> Sizes | Powers | EffectPowers:
        """How many respondents a margin of error takes (with `shares`, a table, also if they are as anticipated); or telling two shares apart (`detect`, or one share and `null`), finding
        people who ignore their device (`ignoring`), or finding a coefficient of a `model` (`effect="TERM=0.7"`, with the anticipated
        `shares`, a table, and the names of `numbers` in it of which these say nothing). With `respondents`, which power so many have.

        >>> import candor
        >>> plan = candor.design(candor.Schema.of_sizes([2]), "warner", p=0.75)
        >>> round(plan.size(0.02).tables[0].respondents)
        9604
        """
        told_apart = None if detect is None else [detect] if isinstance(detect, (int, float)) else list(detect)
        effects = None if effect is None else [effect] if isinstance(effect, str) else list(effect)
        numeric = None if numbers is None else [numbers] if isinstance(numbers, str) else list(numbers)
        options = written(
            margin=margin, tables=tables, confidence=confidence, simultaneous=simultaneous, detect=told_apart, null=null,
            ignoring=ignoring, model=model, effect=effects, numbers=numeric, family=family,
            reference=None if reference is None else list(reference.items()),
            power=power, alpha=alpha, respondents=respondents,
        )  # fmt: skip
        text = _candor.size_of(self._native, None if shares is None else frames.given(shares), options)
        if model is None:
            return (Sizes if margin is not None else Powers).loads(text)
        found = EffectPowers.loads(text)
        tell(found.notes)
        return found

    def refine(
        self,
        prior: Iterable[float] | None = None,
        *,
        from_: Tables | None = None,
        posterior_bound: float | None = None,
        allow_unbounded: bool | None = None,
        respondents: float | None = None,
        **known: Any,
    ) -> Plan:
        """A plan that is as private for the prior and tells more; what it gives is its `refinement`.

        The prior is given, counted in a table (`from_`), or one of `normal_prior`, `gamma_prior` (with `shape`, `scale`),
        `uniform_prior`; by default that which the plan was made for.
        """
        options = written(
            prior=None if prior is None else list(prior), posterior_bound=posterior_bound,
            allow_unbounded=allow_unbounded, respondents=respondents, **known,
        )  # fmt: skip
        counted_in = None if from_ is None else frames.given(from_)
        native, text, caution = _candor.refine_plan(self._native, counted_in, options)
        tell([caution] if caution else [])
        plan = Plan(native)
        plan.refinement = Refinement.loads(text)
        return plan

    # --- Databases

    def sql(
        self,
        *,
        tables: TableNames | None = None,
        from_: str | None = None,
        dialect: str | None = None,
        sets: str | None = None,
    ) -> str:
        """The query that counts responses in a database; `estimate` takes what it gives as `counts`.

        >>> import candor
        >>> plan = candor.design(candor.Schema.of_sizes([2]), "warner", p=0.75)
        >>> "GROUP BY" in plan.sql(from_="responses")
        True
        """
        options = written(**{"tables": tables, "from": from_, "dialect": dialect, "sets": sets})
        return _candor.sql_query(self._native, options)

    def _given(self, responses: Any) -> Any:
        """Responses, or counts of responses to this plan."""
        if not isinstance(responses, Counts):
            return frames.given(responses)
        if responses.plan.fingerprint != self.fingerprint:
            raise OtherPlanError("these counts were made under another plan")
        return responses._native

    def _repr_html_(self) -> str:
        return self.guarantee._repr_html_()

    def __repr__(self) -> str:
        guarantee = self.guarantee
        epsilon = "no finite epsilon" if guarantee.epsilon is None else f"epsilon {guarantee.epsilon:g}"
        asked = ", ".join(one.name for one in self.schema)
        return f"plan {self.fingerprint}: {epsilon}, about {asked}"


def _unpickled(text: str) -> Plan:
    """A plan that was at hand elsewhere: what it costs to read was paid before."""
    return Plan.loads(text, allow_costly_plan=True)



"""Plans: the public contract between those who ask, those who answer and those who analyse."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, overload

from . import _candor, frames
from ._candor import OtherPlanError, ParameterError, RequirementError
from .analysis import Analysis, TableNames, Tables
from .counts import Counts
from .estimates import Entered, Estimates, Randomized
from .frames import Responses
from .parameters import checked, file_text, margins, names, pairs, path, several, text, written
from .progress import Bar
from .results import Audit, Column, Combination, Design, Devices, EffectPowers, Evidence, Guarantee, Page
from .results import PlanComparison, Powers, Refinement, Sizes, TransitionMatrix
from .schema import Schema
from .signatures import Refining
from .signing import PrivateKey, Signature
from .warned import tell

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    Arrow = TypeVar("Arrow", pyarrow.Table, pyarrow.RecordBatch, pyarrow.RecordBatchReader)

__all__ = ["Plan"]


class Plan(Analysis, Refining):
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
        #: What was said of it when it was combined here; else None.
        self.combination: Combination | None = None
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

    @overload
    def randomize(
        self,
        tables: Tables,
        *,
        output: str | os.PathLike[str],
        keep: str | Iterable[str] | None = None,
        seed: int | None = None,
        simulation: bool | None = None,
        missing: str | Iterable[str] | None = None,
        delimiter: str | None = None,
        escape_formulas: bool | None = None,
        force: bool | None = None,
    ) -> Randomized: ...

    @overload
    def randomize(
        self,
        tables: polars.DataFrame | list[polars.DataFrame],
        *,
        keep: str | Iterable[str] | None = None,
        seed: int | None = None,
        simulation: bool | None = None,
        missing: str | Iterable[str] | None = None,
        delimiter: str | None = None,
    ) -> Responses[polars.DataFrame]: ...

    @overload
    def randomize(
        self,
        tables: polars.LazyFrame,
        *,
        keep: str | Iterable[str] | None = None,
        seed: int | None = None,
        simulation: bool | None = None,
        missing: str | Iterable[str] | None = None,
        delimiter: str | None = None,
    ) -> Responses[polars.LazyFrame]: ...

    @overload
    def randomize(
        self,
        tables: Arrow,
        *,
        keep: str | Iterable[str] | None = None,
        seed: int | None = None,
        simulation: bool | None = None,
        missing: str | Iterable[str] | None = None,
        delimiter: str | None = None,
    ) -> Arrow: ...

    @overload
    def randomize(
        self,
        tables: pandas.DataFrame | list[pandas.DataFrame],
        *,
        keep: str | Iterable[str] | None = None,
        seed: int | None = None,
        simulation: bool | None = None,
        missing: str | Iterable[str] | None = None,
        delimiter: str | None = None,
    ) -> pandas.DataFrame: ...

    @overload
    def randomize(
        self,
        tables: Tables,
        *,
        keep: str | Iterable[str] | None = None,
        seed: int | None = None,
        simulation: bool | None = None,
        missing: str | Iterable[str] | None = None,
        delimiter: str | None = None,
    ) -> Any: ...

    @checked
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
        escape_formulas: bool | None = None,
        force: bool | None = None,
    ) -> Any:
        """Randomizes tables of true records; gives responses as the same kind of frame, in the same order of rows.

        Randomness is that of the operating system. All columns are dropped but those of the plan and those to `keep`.
        Words that stand for what is `missing` in the tables are named as for `Schema.infer`.
        With `output`, responses are written to a file (.parquet, .csv, ..) instead, whole or not at all, and what was done is given.
        Existing responses are an error: a second release of the same people adds epsilon. `force` replaces them.
        A pyarrow RecordBatchReader, a polars LazyFrame or a generator of frames gives one back, whose answers are drawn as they are read;
        of a LazyFrame only once, because answers drawn anew are a second release of the same people.

        >>> import candor, polars
        >>> plan = candor.design(candor.Schema.of_sizes([2]), "warner", p=0.75)
        >>> plan.randomize(polars.DataFrame({"a1": ["0", "1"]})).frame.columns
        ['a1']
        """
        tell([caution] if (caution := _candor.caution(self._native)) else [])
        options: dict[str, Any] = {
            "keep": names("keep", keep), "seed": seed, "simulation": simulation, "missing": names("missing", missing), "delimiter": delimiter,
        }  # fmt: skip
        is_lazy = type(tables).__name__ == "LazyFrame"
        if seed is not None and (is_lazy or frames.is_batches(tables)):
            raise ParameterError("`seed` goes with whole tables: what is drawn depends on how batches are cut. Collect them first")
        to = path("output", output)
        if to is not None:
            asked = written(**options, escape_formulas=escape_formulas, force=force)
            with Bar() as bar:
                return Randomized.loads(_candor.randomize_to(self._native, frames.given(tables), to, asked, bar))
        if escape_formulas is not None:
            raise ParameterError("`escape_formulas` is about CSV files; say `output`")
        if force is not None:
            raise ParameterError("`force` is about files; say `output`")
        if frames.is_batches(tables):
            return (self.randomize(batch, keep=keep, missing=missing, delimiter=delimiter) for batch in tables)
        asked = written(**options)
        if is_lazy:

            def draw(table: Any) -> Any:
                return _candor.randomize_stream(self._native, frames.given(table), asked)

            return Responses(frames.lazily(tables, draw, self, options["keep"] or ()), self.fingerprint)
        given = frames.given(tables)
        if type(tables).__name__ == "RecordBatchReader":
            return frames.given_back(_candor.randomize_stream(self._native, given, asked), tables, self, {})
        with Bar() as bar:
            made, text = _candor.randomize(self._native, given, asked, bar)
        return frames.given_back(made, tables, self, json.loads(text))

    @checked
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

    @checked
    def import_(
        self,
        answers: Tables,
        output: str | os.PathLike[str],
        *,
        cards: str | Iterable[str] | None = None,
        card_labels: str | Iterable[str] | None = None,
        answer_columns: str | Iterable[str] | None = None,
        keep: str | Iterable[str] | None = None,
        delimiter: str | None = None,
        force: bool | None = None,
    ) -> Entered:
        """Writes what interviewers wrote down (answers, and letters or numbers of cards) as responses to a file.

        `cards` and `answer_columns` name the columns of cards and answers, if they are not named as in responses; `card_labels` are
        what stands for cards A, B and so on: for a list experiment the values of the control and the treatment group.

        An existing file is an error; `force` replaces it.
        """
        columns = {"card_labels": names("card_labels", card_labels), "answer_columns": names("answer_columns", answer_columns)}
        options = written(cards=names("cards", cards), keep=names("keep", keep), delimiter=delimiter, force=force, **columns)
        return Entered.loads(_candor.enter_answers(self._native, frames.given(answers), path("output", output) or "", options))

    @checked
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
        options = written(tables=tables, by=names("by", by), weights=weights, keep_sets=keep_sets, delimiter=delimiter, unmarked=unmarked)
        with Bar() as bar:
            return Counts(self, _candor.tally(self._native, frames.given(responses), options, bar))

    @checked
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

    @checked
    def estimate(
        self,
        responses: Tables | Counts | None = None,
        *,
        counts: Tables | None = None,
        tables: TableNames | None = None,
        complete_cases: bool | None = None,
        compare_groups: str | None = None,
        baseline: Tables | Counts | None = None,
        baseline_plan: Plan | None = None,
        mean: str | None = None,
        quantile: str | None = None,
        scores: str | None = None,
        method: str | None = None,
        interval: str | None = None,
        confidence: float | None = None,
        target: str | None = None,
        standards: str | None = None,
        covariance: bool | None = None,
        where: str | None = None,
        by: str | Iterable[str] | None = None,
        weights: str | None = None,
        strata: str | None = None,
        psu: str | None = None,
        fpc: str | None = None,
        replicate_weights: str | None = None,
        replicate_method: str | None = None,
        fay: float | None = None,
        replicate_scale: float | None = None,
        replicate_rscales: Sequence[float] | None = None,
        replicate_about: str | None = None,
        lonely_psu: str | None = None,
        benchmarks: str | os.PathLike[str] | Mapping[str, Mapping[str, float]] | None = None,
        delimiter: str | None = None,
        unmarked: bool | None = None,
    ) -> Estimates:
        """Estimates tables of the population, with intervals, from responses or from their counts.

        In `tables`, ``"a | b"`` are the shares of a among those with the same b. `compare_groups` puts the groups of an attribute side by
        side, `baseline` earlier responses (to another plan, if `baseline_plan` says so); `mean`, `quantile` and `scores` ask for numbers.
        `standards` is the rule by which shares may be published, ``candor`` or ``nchs``.
        `where` takes those for whom a condition on public attributes holds. `weights`, `strata`, `psu`, `fpc`, `replicate_weights` and
        `replicate_method` (``jk1``, ``jkn``, ``jk2``, ``brr``, ``fay``, ``bootstrap``, ``sdr``; with `fay`, `replicate_scale`,
        `replicate_rscales` and `replicate_about`) say how respondents were drawn, `lonely_psu` what strata with one sampling unit add; `benchmarks` has margins that the weights shall agree with: a file, or shares by
        attribute and category.
        """
        given, counted = self._source(responses, counts)
        options = written(
            tables=tables, complete_cases=complete_cases, compare_groups=compare_groups, mean=mean, quantile=quantile, scores=scores,
            method=method, interval=interval, confidence=confidence, target=target, standards=standards, covariance=covariance, where=where,
            by=names("by", by), weights=weights, strata=strata,
            psu=psu, fpc=fpc, replicate_weights=replicate_weights, replicate_method=replicate_method,
            fay=fay, replicate_scale=replicate_scale, replicate_rscales=replicate_rscales, replicate_about=replicate_about,
            lonely_psu=lonely_psu,
            benchmarks=margins(benchmarks), counted=counted, delimiter=delimiter, unmarked=unmarked,
        )  # fmt: skip
        earlier = None if baseline is None else (baseline_plan or self)._given(baseline)
        before = None if baseline_plan is None else baseline_plan._native
        with Bar() as bar:
            text, columns, notes = _candor.estimate(self._native, given, earlier, before, options, bar)
        tell(notes)
        return Estimates.of(text, columns)

    # --- Who made it

    def sign(self, key: PrivateKey) -> Signature:
        """A signature with a private key. The same key gives the same plan the same signature.

        >>> import candor
        >>> plan, key = candor.design([2], "warner", p=0.75), candor.PrivateKey.generate()
        >>> plan.verify(plan.sign(key), public_key=key.public_key)
        """
        return Signature(key._native.sign(self._native))

    @checked
    def verify(self, signature: Signature | str | os.PathLike[str], *, public_key: str | os.PathLike[str]) -> None:
        """Checks that the key signed this plan: a `SignatureError` if not. Files may be given for both.

        Do not take the public key from where the plan came from: take it from the signers, or from the client that pins it.
        """
        signed = signature if isinstance(signature, Signature) else Signature.load(signature)
        is_key = isinstance(public_key, str) and len(public_key.strip()) == 64
        key = str(public_key) if is_key else file_text("public_key", public_key) or ""
        signed._native.verify(self._native, key)

    # --- What it guarantees

    @checked
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
        required = [f"{name}={value}" for name, value in require.items()] if isinstance(require, Mapping) else several("require", require)
        options = written(
            require=required,
            prior=None if prior is None else dict(pairs("prior", prior) or []),
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

    @checked
    def informativeness(self, other: Plan) -> PlanComparison:
        """Whether one of two plans is at least as informative as the other, with a proof either way.

        >>> import candor
        >>> weak, strong = (candor.design(candor.Schema.of_sizes([2]), "warner", p=p) for p in (0.6, 0.9))
        >>> weak.informativeness(strong).relation
        'second-better'
        """
        text = _candor.compare_plans(("the plan", self._native), ("the other", other._native))
        return PlanComparison.loads(text)

    @checked
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
        own = file_text("texts", texts)
        return Page(*_candor.explain_plan(self._native, text("language", language), own)).written(output)

    @checked
    def evidence(
        self,
        *,
        survey: str | os.PathLike[str] | None = None,
        language: str | None = None,
        texts: str | os.PathLike[str] | None = None,
    ) -> Evidence:
        """What data-protection officers, ethics boards and funders ask for; `survey` is a folder of candor-collect.

        >>> import candor
        >>> candor.design([3], "joint", epsilon=1).evidence(language="de").commands[0]
        'candor audit plan.json --require ldp=1.0000'
        """
        own = file_text("texts", texts)
        found_text, html, markdown = _candor.evidence_of(self._native, path("survey", survey), text("language", language), own)
        found = Evidence.loads(found_text)
        found.html, found.markdown = html, markdown
        return found

    @checked
    def sample_size(
        self,
        margin: float | None = None,
        *,
        tables: TableNames | None = None,
        confidence: float | None = None,
        simultaneous: bool | None = None,
        detect_difference: float | Iterable[float] | None = None,
        null_share: float | None = None,
        noncompliance: float | None = None,
        model: str | None = None,
        effect: str | Iterable[str] | None = None,
        expected_shares: Tables | None = None,
        numeric_columns: str | Iterable[str] | None = None,
        family: str | None = None,
        reference: Mapping[str, str] | None = None,
        power: float | None = None,
        alpha: float | None = None,
        respondents: float | None = None,
    ) -> Sizes | Powers | EffectPowers:
        """How many respondents a margin of error takes (with `expected_shares`, a table, also if they are as anticipated); or telling two shares apart (`detect_difference`, or one share and `null_share`), finding
        people who ignore their device (`noncompliance`), or finding a coefficient of a `model` (`effect="TERM=0.7"`, with the anticipated
        `expected_shares`, a table, and the names of `numeric_columns` in it of which these say nothing). With `respondents`, which power so many have.

        >>> import candor
        >>> plan = candor.design(candor.Schema.of_sizes([2]), "warner", p=0.75)
        >>> round(plan.sample_size(0.02).tables[0].respondents)
        9604
        """
        told_apart = several("detect_difference", detect_difference, (int, float))
        effects, numeric = several("effect", effect), several("numeric_columns", numeric_columns)
        options = written(
            margin=margin, tables=tables, confidence=confidence, simultaneous=simultaneous, detect_difference=told_apart, null_share=null_share,
            noncompliance=noncompliance, model=model, effect=effects, numeric_columns=numeric, family=family,
            reference=pairs("reference", reference),
            power=power, alpha=alpha, respondents=respondents,
        )  # fmt: skip
        text = _candor.size_of(self._native, None if expected_shares is None else frames.given(expected_shares), options)
        if model is None:
            return (Sizes if margin is not None else Powers).loads(text)
        found = EffectPowers.loads(text)
        tell(found.notes)
        return found

    @checked
    def matrix(self, attribute: str | None = None, *, exact: bool | None = None, misses: bool | None = None) -> TransitionMatrix:
        """The transition matrix: columns are truths, rows are answers; of whole records, or of the answers about one attribute.

        With ``misses`` none, but `x_k0` to `x_kk` of the heuristic's plans, as logarithms.

        >>> import candor
        >>> found = candor.design([3], "warner", p=0.5).matrix()
        >>> round(found.largest_over_smallest, 9)
        4.0
        """
        text, csv = _candor.matrix_of(self._native, written(attribute=attribute, exact=exact, misses=misses))
        found = TransitionMatrix.loads(text)
        found.csv = csv
        return found

    # --- Databases

    @checked
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

    # The old names, which stay.
    enter = import_
    compare = informativeness
    size = sample_size

    def _given(self, responses: Any) -> Any:
        """Responses, or counts of responses to this plan."""
        if not isinstance(responses, Counts):
            return frames.given(responses)
        if responses.plan.fingerprint != self.fingerprint:
            found = responses.plan.fingerprint
            raise OtherPlanError(f"Wrong plan: the counts were made with {found}, and the plan given is {self.fingerprint}")
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



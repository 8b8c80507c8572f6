"""What responses tell, beside tables: the verbs of a plan that analyse them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _candor, frames
from ._candor import ParameterError
from .estimates import Adjustment, Answers, Compliance, Differences, Groups, Independence, Regression, Report, Scan, Synthesis
from .parameters import checked, file_text, joined, margins, names, pairs, path, several, written
from .parameters import margins as known_margins
from .parameters import text as words
from .progress import Bar
from .results import Clusters
from .warned import tell

if TYPE_CHECKING:
    from .counts import Counts

__all__ = ["Analysis", "TableNames", "Tables"]

#: A path, a frame, or anything that gives Arrow streams; or several.
Tables = Any
#: A list of tables: ``"pairs"``, ``"a,b;c"`` or ``["a,b", "c"]``.
TableNames = str | Iterable[str | Iterable[str]]


class Analysis:
    """The verbs that analyse responses to a plan.

    Responses tell the plan they were made under. Reading some that do not is an error, unless you vouch for them with `unmarked=True`.
    """

    _native: _candor.Plan

    def _given(self, responses: Any) -> Any:
        """Responses, or counts of responses to this plan."""
        raise NotImplementedError

    @checked
    def compliance(
        self,
        responses: Tables | Counts,
        *,
        self_protective: str | None = None,
        anchor: str | None = None,
        noncompliance: float | None = None,
        alpha: float | None = None,
        confidence: float | None = None,
        delimiter: str | None = None,
        unmarked: bool | None = None,
    ) -> Compliance:
        """Whether people followed their cards, as far as the answers tell."""
        options = written(
            self_protective=self_protective, anchor=anchor, noncompliance=noncompliance, alpha=alpha, confidence=confidence, delimiter=delimiter, unmarked=unmarked
        )
        with Bar() as bar:
            text, notes = _candor.comply_with(self._native, self._given(responses), options, bar)
        tell(notes)
        return Compliance.loads(text)

    def _source(self, responses: Tables | Counts | None, counts: Tables | Counts | None) -> tuple[Any, bool | None]:
        """Responses or counts of them, and whether they are files of counts made elsewhere."""
        if (responses is None) == (counts is None):
            raise ParameterError("either responses or `counts`")
        given = self._given(responses if counts is None else counts)
        return given, True if counts is not None and isinstance(given, list) else None

    @checked
    def test(
        self,
        responses: Tables | Counts | None = None,
        a: str | None = None,
        b: str | None = None,
        *,
        counts: Tables | Counts | None = None,
        independence: str | None = None,
        tables: TableNames | None = None,
        mean: str | None = None,
        scores: str | None = None,
        complete_cases: bool | None = None,
        compare_groups: str | None = None,
        baseline: Tables | Counts | None = None,
        baseline_plan: Any = None,
        confidence: float | None = None,
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
    ) -> Independence | Groups | Differences:
        """Whether two attributes are independent, corrected for the randomization and for how respondents were drawn; with `by`, in every group.

        Or whether shares of `tables` or a `mean` differ: between the groups of the attribute `compare_groups`, or from earlier responses, `baseline`
        (to another plan, if `baseline_plan` says so). `scores` say what categories stand for.
        """
        given, counted = self._source(responses, counts)
        survey = {
            "confidence": confidence, "where": where, "by": names("by", by), "weights": weights, "strata": strata,
            "psu": psu, "fpc": fpc, "replicate_weights": replicate_weights, "replicate_method": replicate_method,
            "fay": fay, "replicate_scale": replicate_scale, "replicate_rscales": replicate_rscales,
            "replicate_about": replicate_about, "lonely_psu": lonely_psu,
            "benchmarks": margins(benchmarks), "counted": counted, "delimiter": delimiter, "unmarked": unmarked,
        }  # fmt: skip
        if tables is not None or mean is not None:
            if independence is not None or a is not None:
                raise ParameterError("either the independence of two attributes, or differences of `tables` or `mean`")
            options = written(
                tables=tables, mean=mean, scores=scores, complete_cases=complete_cases, compare_groups=compare_groups, **survey
            )
            earlier = None if baseline is None else (baseline_plan or self)._given(baseline)
            before = None if baseline_plan is None else baseline_plan._native
            with Bar() as bar:
                text, notes = _candor.test_differences(self._native, given, earlier, before, options, bar)
            tell(notes)
            return Differences.loads(text)
        if any(one is not None for one in (scores, complete_cases, compare_groups, baseline, baseline_plan)):
            raise ParameterError("`scores`, `complete_cases`, `compare_groups` and `baseline` go with `tables` or `mean`")
        asked = independence if independence is not None else ",".join(name for name in (a, b) if name is not None)
        options = written(independence=asked, **survey)
        with Bar() as bar:
            text, notes = _candor.test_independence(self._native, given, options, bar)
        tell(notes)
        return Independence.loads(text) if by is None else Groups.loads(text)

    @checked
    def scan(
        self,
        responses: Tables | Counts | None = None,
        with_: str | None = None,
        *,
        crossed: bool | None = None,
        counts: Tables | Counts | None = None,
        adjust: str | None = None,
        top: int | None = None,
        where: str | None = None,
        weights: str | None = None,
        delimiter: str | None = None,
        unmarked: bool | None = None,
    ) -> Scan:
        """Whether an attribute is independent of each of the others: p-values adjusted for their number (`adjust`: ``"holm"`` or ``"bh"``),
        the most surprising first, and of the `top` ones how often each would be selected again. With `crossed` instead, whether the two
        parts of each crossed attribute, such as ``SNP*Disease``, are independent.
        """
        given, counted = self._source(responses, counts)
        options = written(
            adjust=adjust, top=top, where=where, weights=weights, counted=counted, delimiter=delimiter, unmarked=unmarked,
            crossed=crossed, **{"with": with_},
        )  # fmt: skip
        with Bar() as bar:
            text, notes = _candor.scan_attributes(self._native, given, options, bar)
        tell(notes)
        return Scan.loads(text)

    @checked
    def query(
        self,
        responses: Tables | Counts | None = None,
        where: str = "",
        *,
        counts: Tables | Counts | None = None,
        given: str | None = None,
        mean: str | None = None,
        scores: str | None = None,
        compare_groups: str | None = None,
        method: str | None = None,
        confidence: float | None = None,
        target: str | None = None,
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
    ) -> Answers | Groups:
        """The share of people for whom a condition holds, with its interval (`method="all"`: by all methods side by side); among those with `given`, or the `mean` of an
        attribute among them; with `compare_groups`, in the groups of another, side by side; with `by`, in every group."""
        source, counted = self._source(responses, counts)
        options = written(
            given=given, mean=mean, scores=scores, compare_groups=compare_groups, method=method, confidence=confidence, target=target,
            by=names("by", by), weights=weights, strata=strata,
            psu=psu, fpc=fpc, replicate_weights=replicate_weights, replicate_method=replicate_method,
            fay=fay, replicate_scale=replicate_scale, replicate_rscales=replicate_rscales, replicate_about=replicate_about,
            lonely_psu=lonely_psu,
            benchmarks=margins(benchmarks), counted=counted, delimiter=delimiter, unmarked=unmarked,
        )  # fmt: skip
        with Bar() as bar:
            text, notes, note = _candor.query_share(self._native, source, words("where", where) or "", options, bar)
        tell(notes)
        if by is not None:
            return Groups.loads(text)
        answers = Answers.loads(text)
        answers.note = note
        return answers

    @checked
    def regress(
        self,
        responses: Tables,
        model: str,
        *,
        family: str | None = None,
        method: str | None = None,
        reference: Mapping[str, str] | None = None,
        standardize: bool | None = None,
        confidence: float | None = None,
        where: str | None = None,
        by: str | Iterable[str] | None = None,
        missing: str | None = None,
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
        df: str | None = None,
        benchmarks: str | os.PathLike[str] | Mapping[str, Mapping[str, float]] | None = None,
        self_protective: str | None = None,
        self_protective_if: str | None = None,
        contrast: str | Iterable[str] | None = None,
        predict: Tables | None = None,
        show_uncorrected: bool | None = None,
        delimiter: str | None = None,
        unmarked: bool | None = None,
    ) -> Regression:
        """A regression, corrected for the randomization of the response, of predictors, or of both.

        The model is written as ``"Income ~ Sex + age + Sex:age"``: of attributes of the plan and numeric columns that were kept.
        People without an answer are left out unless `missing` is ``"category"``; `where` names a subpopulation, by public or randomized
        attributes; with `by` the model is fitted in each group of public attributes, too: see `groups` of the result.
        `weights`, `strata`, `psu`, `fpc`, `replicate_weights` and `benchmarks` say how people were drawn, as in :meth:`estimate`;
        with `psu`, `df` is ``"satterthwaite"`` (CR2, Bell and McCaffrey) or ``"design"``.
        `contrast` names sums of coefficients (``"School=much - School=some"``); `predict` is a table of profiles, with a column for each
        predictor that is given: see `contrasts`, `predictions` and `joint_tests` of the result.

        >>> import candor, polars
        >>> people = polars.DataFrame({"Sex": ["f", "m"] * 500, "Ill": ["no", "no", "no", "yes", "yes"] * 200})
        >>> plan = candor.design(candor.Schema.infer(people, public="Sex"), "independent", epsilon=3)
        >>> fitted = plan.regress(plan.randomize(people), "Ill ~ Sex", reference={"Sex": "m"})
        >>> fitted.family, fitted.method, [one.term for one in fitted.coefficients]
        ('binary', 'ml', ['(constant)', 'Sex=f'])
        """
        options = written(
            family=family, method=method, reference=pairs("reference", reference),
            standardize=standardize, confidence=confidence, where=where, by=names("by", by), missing=missing, df=df, weights=weights, strata=strata,
            psu=psu, fpc=fpc, replicate_weights=replicate_weights, replicate_method=replicate_method,
            fay=fay, replicate_scale=replicate_scale, replicate_rscales=replicate_rscales, replicate_about=replicate_about,
            lonely_psu=lonely_psu,
            benchmarks=margins(benchmarks), self_protective=self_protective, self_protective_if=self_protective_if, contrast=several("contrast", contrast), show_uncorrected=show_uncorrected, delimiter=delimiter, unmarked=unmarked,
        )  # fmt: skip
        profiles = None if predict is None else frames.given(predict)
        with Bar() as bar:
            text, notes = _candor.fit_regression(
                self._native, self._given(responses), words("model", model) or "", profiles, options, bar
            )
        regression = Regression.loads(text)
        tell([*notes, *regression.notes])
        return regression

    @checked
    def associations(
        self,
        responses: Tables | Counts,
        *,
        measure: str | None = None,
        max_cells: int | None = None,
        min_dependence: float | None = None,
        uncorrected: bool | None = None,
        delimiter: str | None = None,
        unmarked: bool | None = None,
    ) -> Clusters:
        """Which attributes belong together, from responses (the command's protocol `attribute`)."""
        options = written(
            measure=measure, max_cells=max_cells, min_dependence=min_dependence, uncorrected=uncorrected, delimiter=delimiter, unmarked=unmarked
        )
        with Bar() as bar:
            text, summary, notes = _candor.cluster_responses(self._native, self._given(responses), options, bar)
        tell(notes)
        clusters = Clusters.loads(text)
        clusters.summary = summary
        return clusters

    @checked
    def rake(
        self,
        responses: Tables,
        *,
        output: str | os.PathLike[str] | None = None,
        force: bool | None = None,
        method: str | None = None,
        margins: TableNames | None = None,
        benchmarks: str | os.PathLike[str] | Mapping[str, Mapping[str, float]] | None = None,
        targets: str | None = None,
        tolerance: float | None = None,
        max_iterations: int | None = None,
        escape_formulas: bool | None = None,
        delimiter: str | None = None,
        unmarked: bool | None = None,
    ) -> Adjustment:
        """Answer records with weights that agree with the estimated tables; they are its `records`, unless there is an `output`.

        ``method`` is ``"answers"``, or ``"tree"`` or ``"entropy"`` for records drawn from pair tables, which any plan tells.
        Known margins, ``benchmarks``, take the place of estimates; ``targets="clipped"`` cuts negative estimates off and rescales the
        others, as in the paper of RR-Adjustment.
        An existing ``output`` is an error; ``force`` replaces it, unless it holds responses or a plan.
        """
        options = written(
            method=method, margins=None if margins is None else joined(margins, "margins"), benchmarks=known_margins(benchmarks),
            targets=targets, tolerance=tolerance, max_iterations=max_iterations, escape_formulas=escape_formulas, delimiter=delimiter, unmarked=unmarked, force=force,
        )  # fmt: skip
        to = path("output", output)
        with Bar() as bar:
            made, text, notes = _candor.adjust_weights(self._native, frames.given(responses), to, options, bar)
        tell(notes)
        adjustment = Adjustment.loads(text)
        adjustment.weighted = None if made is None else frames.as_frame(made, responses, self)
        return adjustment

    @checked
    def synthesize(
        self,
        responses: Tables | Counts,
        *,
        output: str | os.PathLike[str] | None = None,
        force: bool | None = None,
        method: str | None = None,
        records: int | None = None,
        seed: int | None = None,
        margins: TableNames | None = None,
        benchmarks: str | os.PathLike[str] | Mapping[str, Mapping[str, float]] | None = None,
        targets: str | None = None,
        tolerance: float | None = None,
        max_iterations: int | None = None,
        escape_formulas: bool | None = None,
        delimiter: str | None = None,
        unmarked: bool | None = None,
    ) -> Synthesis:
        """Records of people who do not exist, as the responses tell of those who do; they are its `people`, unless there is an `output`.

        An existing ``output`` is an error; ``force`` replaces it, unless it holds responses or a plan.
        """
        options = written(
            method=method, records=records, seed=seed, margins=None if margins is None else joined(margins, "margins"),
            benchmarks=known_margins(benchmarks), targets=targets, tolerance=tolerance, max_iterations=max_iterations, escape_formulas=escape_formulas,
            delimiter=delimiter, unmarked=unmarked, force=force,
        )  # fmt: skip
        to = path("output", output)
        with Bar() as bar:
            made, text, notes = _candor.synthesize_records(self._native, self._given(responses), to, options, bar)
        tell(notes)
        synthesis = Synthesis.loads(text)
        synthesis.people = None if made is None else frames.as_frame(made, responses, self)
        return synthesis

    @checked
    def report(
        self,
        responses: Tables | Counts | None = None,
        output: str | os.PathLike[str] | None = None,
        *,
        counts: Tables | Counts | None = None,
        tables: TableNames | None = None,
        complete_cases: bool | None = None,
        compare_groups: str | None = None,
        mean: str | None = None,
        quantile: str | None = None,
        scores: str | None = None,
        confidence: float | None = None,
        standards: str | None = None,
        title: str | None = None,
        model: str | Iterable[str] | None = None,
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
        baseline: Mapping[str, Tables | Counts] | None = None,
        baseline_plan: Plan | Mapping[str, Plan] | None = None,
        wave: str | None = None,
        language: str | None = None,
        texts: str | os.PathLike[str] | None = None,
        delimiter: str | None = None,
        unmarked: bool | None = None,
    ) -> Report:
        """One page that can be published; it is written to `output`, and its `html`. It may have regressions, each a `model`.

        ``baseline`` are earlier waves by their names, in the order of time, to another plan if `baseline_plan` says so (one for all, or one by
        name); ``wave`` is what these responses are called beside them. ``texts`` is a file of texts (TOML) with questions as they are
        asked, labels of categories and texts of one's own. `standards` is the rule by which shares may be published, as in :meth:`estimate`.
        """
        plans = baseline_plan if isinstance(baseline_plan, Mapping) else {name: baseline_plan for name in baseline or {}}
        if baseline is None and (baseline_plan is not None or wave is not None):
            raise ParameterError("`baseline_plan` and `wave` go with `baseline`")
        waves = [
            (name, (plans.get(name) or self)._given(earlier), None if plans.get(name) is None else plans[name]._native)
            for name, earlier in (baseline or {}).items()
        ]
        given, counted = self._source(responses, counts)
        own = file_text("texts", texts)
        models, to = several("model", model), path("output", output)
        if models and type(responses).__name__ == "RecordBatchReader":
            raise ParameterError("`model` reads the responses again, which a reader cannot; read_all() them first")
        options = written(
            tables=tables, complete_cases=complete_cases, compare_groups=compare_groups, mean=mean, quantile=quantile, scores=scores,
            confidence=confidence, standards=standards, title=title, model=models, where=where, by=names("by", by), weights=weights, strata=strata,
            psu=psu, fpc=fpc, replicate_weights=replicate_weights, replicate_method=replicate_method,
            fay=fay, replicate_scale=replicate_scale, replicate_rscales=replicate_rscales, replicate_about=replicate_about,
            lonely_psu=lonely_psu,
            benchmarks=margins(benchmarks), wave=wave, language=language, texts=own, counted=counted, delimiter=delimiter, unmarked=unmarked,
        )  # fmt: skip
        with Bar() as bar:
            text, page, notes = _candor.report_page(self._native, given, waves, options, bar)
        tell(notes)
        if to is not None:
            Path(to).write_text(page, encoding="utf-8")
        report = Report.loads(text)
        report.html = page
        return report

    # The old names, which stay.
    comply = compliance
    cluster = associations
    adjust = rake

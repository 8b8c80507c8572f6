"""`design`, `pareto` and `Plan.refine` with every parameter by name. Made by tools/signatures.py: run that."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, overload

from .parameters import checked

if TYPE_CHECKING:
    from .analysis import TableNames, Tables
    from .plan import Plan
    from .results import Front
    from .schema import Schema
    from .verbs import ClusterNames

__all__ = ["MethodName", "Refining", "design", "pareto"]


#: The methods of `design`.
MethodName = Literal[
    "independent",
    "minimax",
    "joint",
    "clusters",
    "heuristic",
    "optimal",
    "sampling",
    "workload",
    "reduced",
    "two-attribute",
    "warner",
    "up",
    "frapp",
    "l-diversity",
    "list",
    "matrix",
    "front",
]


@overload
def design(
    schema: Schema | Iterable[int],
    method: None = None,
    *,
    epsilon: float | None = None,
    budget_split: Iterable[float] | None = None,
    attribute_epsilon: Iterable[float] | None = None,
    p: float | None = None,
    q: float | None = None,
    compliance_check: bool | None = None,
    beta: float | None = None,
    rho: Iterable[float] | None = None,
    allow_unbounded: bool | None = None,
    max_epsilon: float | None = None,
    respondents: float | None = None,
    tables: TableNames | None = None,
    only: str | Iterable[str] | None = None,
    cross_with: str | None = None,
    expected_shares: Tables | None = None,
    one_channel: bool | None = None,
    time_limit: float | None = None,
) -> Plan: ...


@overload
def design(
    schema: Schema | Iterable[int],
    method: Literal["independent"],
    *,
    epsilon: float | None = None,
    budget_split: Iterable[float] | None = None,
    attribute_epsilon: Iterable[float] | None = None,
    p: float | None = None,
    q: float | None = None,
    compliance_check: bool | None = None,
    beta: float | None = None,
    rho: Iterable[float] | None = None,
    allow_unbounded: bool | None = None,
    max_epsilon: float | None = None,
    respondents: float | None = None,
    tables: TableNames | None = None,
    only: str | Iterable[str] | None = None,
    cross_with: str | None = None,
    expected_shares: Tables | None = None,
) -> Plan: ...


@overload
def design(
    schema: Schema | Iterable[int],
    method: Literal["minimax"],
    *,
    likelihood_ratio: Iterable[float] | None = None,
    attribute_epsilon: Iterable[float] | None = None,
    cross: Iterable[str] | None = None,
    beta: float | None = None,
    rho: Iterable[float] | None = None,
    allow_unbounded: bool | None = None,
    max_epsilon: float | None = None,
    respondents: float | None = None,
    tables: TableNames | None = None,
    only: str | Iterable[str] | None = None,
    cross_with: str | None = None,
    expected_shares: Tables | None = None,
) -> Plan: ...


@overload
def design(
    schema: Schema | Iterable[int],
    method: Literal["joint"],
    *,
    epsilon: float | None = None,
    compliance_check: bool | None = None,
    beta: float | None = None,
    rho: Iterable[float] | None = None,
    allow_unbounded: bool | None = None,
    max_epsilon: float | None = None,
    respondents: float | None = None,
    tables: TableNames | None = None,
    only: str | Iterable[str] | None = None,
    cross_with: str | None = None,
    expected_shares: Tables | None = None,
) -> Plan: ...


@overload
def design(
    schema: Schema | Iterable[int],
    method: Literal["clusters"],
    *,
    clusters: ClusterNames,
    epsilon: float | None = None,
    budget_split: Iterable[float] | None = None,
    attribute_epsilon: Iterable[float] | None = None,
    p: float | None = None,
    q: float | None = None,
    cluster_method: Literal["joint", "optimal", "workload"] | None = None,
    spent: float | None = None,
    time_limit: float | None = None,
    beta: float | None = None,
    rho: Iterable[float] | None = None,
    allow_unbounded: bool | None = None,
    max_epsilon: float | None = None,
    respondents: float | None = None,
    tables: TableNames | None = None,
    only: str | Iterable[str] | None = None,
    cross_with: str | None = None,
    expected_shares: Tables | None = None,
) -> Plan: ...


@overload
def design(
    schema: Schema | Iterable[int],
    method: Literal["heuristic"],
    *,
    epsilon: float | None = None,
    budget_split: Iterable[float] | None = None,
    attribute_epsilon: Iterable[float] | None = None,
    order: Iterable[str] | None = None,
    allow_larger_epsilon: bool | None = None,
    beta: float | None = None,
    rho: Iterable[float] | None = None,
    allow_unbounded: bool | None = None,
    max_epsilon: float | None = None,
    respondents: float | None = None,
    tables: TableNames | None = None,
    only: str | Iterable[str] | None = None,
    cross_with: str | None = None,
    expected_shares: Tables | None = None,
) -> Plan: ...


@overload
def design(
    schema: Schema | Iterable[int],
    method: Literal["optimal"],
    *,
    attribute_epsilon: Iterable[float] | None = None,
    epsilon: float | None = None,
    budget_split: Iterable[float] | None = None,
    time_limit: float | None = None,
    beta: float | None = None,
    rho: Iterable[float] | None = None,
    allow_unbounded: bool | None = None,
    max_epsilon: float | None = None,
    respondents: float | None = None,
    tables: TableNames | None = None,
    only: str | Iterable[str] | None = None,
    cross_with: str | None = None,
    expected_shares: Tables | None = None,
) -> Plan: ...


@overload
def design(
    schema: Schema | Iterable[int],
    method: Literal["sampling"],
    *,
    epsilon: float | None = None,
    tables: TableNames | None = None,
    beta: float | None = None,
    rho: Iterable[float] | None = None,
    allow_unbounded: bool | None = None,
    max_epsilon: float | None = None,
    respondents: float | None = None,
    only: str | Iterable[str] | None = None,
    cross_with: str | None = None,
    expected_shares: Tables | None = None,
) -> Plan: ...


@overload
def design(
    schema: Schema | Iterable[int],
    method: Literal["workload"],
    *,
    epsilon: float | None = None,
    tables: TableNames | None = None,
    one_channel: bool | None = None,
    time_limit: float | None = None,
    respondents: float | None = None,
    beta: float | None = None,
    rho: Iterable[float] | None = None,
    allow_unbounded: bool | None = None,
    max_epsilon: float | None = None,
    only: str | Iterable[str] | None = None,
    cross_with: str | None = None,
    expected_shares: Tables | None = None,
) -> Plan: ...


@overload
def design(
    schema: Schema | Iterable[int],
    method: Literal["reduced"],
    *,
    attribute_epsilon: Iterable[float],
    allow_unbounded: bool | None = None,
    max_epsilon: float | None = None,
    respondents: float | None = None,
    tables: TableNames | None = None,
    only: str | Iterable[str] | None = None,
    cross_with: str | None = None,
    expected_shares: Tables | None = None,
) -> Plan: ...


@overload
def design(
    schema: Schema | Iterable[int],
    method: Literal["two-attribute"],
    *,
    attribute_epsilon: Iterable[float],
    allow_unbounded: bool | None = None,
    max_epsilon: float | None = None,
    respondents: float | None = None,
    tables: TableNames | None = None,
    only: str | Iterable[str] | None = None,
    cross_with: str | None = None,
    expected_shares: Tables | None = None,
) -> Plan: ...


@overload
def design(
    schema: Schema | Iterable[int],
    method: Literal["warner"],
    *,
    p: float,
    allow_unbounded: bool | None = None,
    max_epsilon: float | None = None,
    respondents: float | None = None,
    tables: TableNames | None = None,
    only: str | Iterable[str] | None = None,
    cross_with: str | None = None,
    expected_shares: Tables | None = None,
) -> Plan: ...


@overload
def design(
    schema: Schema | Iterable[int],
    method: Literal["up"],
    *,
    q: float,
    allow_unbounded: bool | None = None,
    max_epsilon: float | None = None,
    respondents: float | None = None,
    tables: TableNames | None = None,
    only: str | Iterable[str] | None = None,
    cross_with: str | None = None,
    expected_shares: Tables | None = None,
) -> Plan: ...


@overload
def design(
    schema: Schema | Iterable[int],
    method: Literal["frapp"],
    *,
    lambda_: float,
    allow_unbounded: bool | None = None,
    max_epsilon: float | None = None,
    respondents: float | None = None,
    tables: TableNames | None = None,
    only: str | Iterable[str] | None = None,
    cross_with: str | None = None,
    expected_shares: Tables | None = None,
) -> Plan: ...


@overload
def design(
    schema: Schema | Iterable[int],
    method: Literal["l-diversity"],
    *,
    l: Iterable[int],
    cross: Iterable[str] | None = None,
    allow_unbounded: bool | None = None,
    max_epsilon: float | None = None,
    respondents: float | None = None,
    tables: TableNames | None = None,
    only: str | Iterable[str] | None = None,
    cross_with: str | None = None,
    expected_shares: Tables | None = None,
) -> Plan: ...


@overload
def design(
    schema: Schema | Iterable[int],
    method: Literal["list"],
    *,
    control_items: int,
    group_sizes: Iterable[int] | None = None,
    allow_unbounded: bool | None = None,
    max_epsilon: float | None = None,
    respondents: float | None = None,
    tables: TableNames | None = None,
    only: str | Iterable[str] | None = None,
    cross_with: str | None = None,
    expected_shares: Tables | None = None,
) -> Plan: ...


@overload
def design(
    schema: Schema | Iterable[int],
    method: Literal["matrix"],
    *,
    matrix: str | os.PathLike[str] | Iterable[Iterable[str | float]],
    matrix_inputs: Literal["columns", "rows"] | None = None,
    prior: Iterable[float] | None = None,
    attribute: str | None = None,
    bins: str | None = None,
    exact_prior: bool | None = None,
    gamma_prior: int | None = None,
    normal_prior: int | None = None,
    scale: float | None = None,
    shape: float | None = None,
    uniform_prior: int | None = None,
    from_: Tables | None = None,
    allow_unbounded: bool | None = None,
    max_epsilon: float | None = None,
    respondents: float | None = None,
    tables: TableNames | None = None,
    only: str | Iterable[str] | None = None,
    cross_with: str | None = None,
    expected_shares: Tables | None = None,
) -> Plan: ...


@overload
def design(
    schema: Schema | Iterable[int],
    method: Literal["front"],
    *,
    prior: Iterable[float] | None = None,
    map_privacy: float | None = None,
    max_mse: float | None = None,
    respondents: float | None = None,
    posterior_bound: float | None = None,
    outputs: int | None = None,
    loss: str | os.PathLike[str] | Iterable[Iterable[str | float]] | None = None,
    cross: Iterable[str] | None = None,
    attribute: str | None = None,
    bins: str | None = None,
    exact_prior: bool | None = None,
    gamma_prior: int | None = None,
    normal_prior: int | None = None,
    scale: float | None = None,
    shape: float | None = None,
    uniform_prior: int | None = None,
    from_: Tables | None = None,
    allow_unbounded: bool | None = None,
    max_epsilon: float | None = None,
    tables: TableNames | None = None,
    only: str | Iterable[str] | None = None,
    cross_with: str | None = None,
    expected_shares: Tables | None = None,
) -> Plan: ...


@checked
def design(
    schema: Schema | Iterable[int],
    method: str | None = None,
    *,
    epsilon: float | None = None,
    budget_split: Iterable[float] | None = None,
    attribute_epsilon: Iterable[float] | None = None,
    p: float | None = None,
    q: float | None = None,
    compliance_check: bool | None = None,
    beta: float | None = None,
    rho: Iterable[float] | None = None,
    allow_unbounded: bool | None = None,
    max_epsilon: float | None = None,
    respondents: float | None = None,
    tables: TableNames | None = None,
    only: str | Iterable[str] | None = None,
    cross_with: str | None = None,
    expected_shares: Tables | None = None,
    likelihood_ratio: Iterable[float] | None = None,
    cross: Iterable[str] | None = None,
    clusters: ClusterNames | None = None,
    cluster_method: Literal["joint", "optimal", "workload"] | None = None,
    spent: float | None = None,
    time_limit: float | None = None,
    order: Iterable[str] | None = None,
    allow_larger_epsilon: bool | None = None,
    one_channel: bool | None = None,
    lambda_: float | None = None,
    l: Iterable[int] | None = None,
    control_items: int | None = None,
    group_sizes: Iterable[int] | None = None,
    matrix: str | os.PathLike[str] | Iterable[Iterable[str | float]] | None = None,
    matrix_inputs: Literal["columns", "rows"] | None = None,
    prior: Iterable[float] | None = None,
    attribute: str | None = None,
    bins: str | None = None,
    exact_prior: bool | None = None,
    gamma_prior: int | None = None,
    normal_prior: int | None = None,
    scale: float | None = None,
    shape: float | None = None,
    uniform_prior: int | None = None,
    from_: Tables | None = None,
    map_privacy: float | None = None,
    max_mse: float | None = None,
    posterior_bound: float | None = None,
    outputs: int | None = None,
    loss: str | os.PathLike[str] | Iterable[Iterable[str | float]] | None = None,
) -> Plan:
    """Makes a plan by a method. Without one: by `workload` if a total `epsilon` is given, else by `independent`.

    `schema` may be numbers of categories instead. What there is to know of the plan is its `design`.
    `methods` lists the methods.

    >>> plan = design([9, 16, 7], "independent", epsilon=3)
    >>> plan.design.method, plan.guarantee.epsilon <= 3
    ('independent', True)
    >>> design([2], "joint")
    Traceback (most recent call last):
    candor.ParameterError: this method requires `epsilon`
    >>> design([2], "joint", eps=1)
    Traceback (most recent call last):
    candor.ParameterError: `design` has no parameter `eps`; did you mean `epsilon`?

    Args:
        epsilon: Record-level epsilon [independent, joint, clusters, optimal, heuristic, workload, sampling].
        budget_split: Allocation of the privacy budget to the attributes, as ratios [default: equal] [independent,
            clusters, optimal, heuristic].
        attribute_epsilon: Epsilon of each attribute instead of a record-level epsilon [independent, clusters, optimal,
            heuristic, reduced, two-attribute; minimax: or one for all].
        p: Retention probability [warner; independent: of each attribute; clusters: of each attribute, before its
            cluster is randomized together].
        q: Probability of reporting the true category, before uniform replacement [up; independent and clusters: of each
            attribute, instead of epsilons].
        compliance_check: Add channels with shifted labels, so that noncompliance can be detected (see `compliance`)
            [independent, joint].
        beta: Instead of an epsilon, the largest factor by which a probability may grow or shrink [as `rho`].
        rho: Instead of an epsilon, two probabilities, the smaller one first: nothing as likely as the first becomes
            likelier than the second, and nothing as likely as the second falls below the first [methods with `epsilon`;
            minimax of one attribute].
        allow_unbounded: Accept an unbounded plan, without a finite epsilon [not needed for front and l-diversity, which
            guarantee something else].
        max_epsilon: Largest accepted record-level epsilon; a larger one protects nobody [default: 50].
        respondents: Sample size for the expected standard errors.
        tables: Tables: marginals, pairs, triples, joint, or names such as "a,b;c"; for workload also with weights, such
            as "a,b:2;c". Adds the optimality gap for these tables [default: marginals; for workload and sampling:
            pairs].
        only: Design for these attributes only; `combine` joins plans.
        cross_with: Cross every attribute with this one: one attribute SNP*Disease for each SNP; `Plan.scan` tests them.
        expected_shares: A table of expected shares (attribute, category, share), or pilot records: errors are told for
            them, too.
        likelihood_ratio: Largest likelihood ratio, at least 1: one per attribute, or one for all [minimax].
        cross: Attributes to cross into one with all combinations as categories [l-diversity, minimax, front].
        clusters: Attribute clusters to randomize together: the result of `associations`, "a,b;c", or lists of names.
        cluster_method: Method within a cluster [default: joint] [clusters].
        spent: Epsilon that finding the clusters has spent.
        time_limit: Search time limit in seconds; returns the best plan found [default: 30] [optimal, workload,
            clusters].
        order: Order in which the heuristic takes the attributes [default: largest need first] [heuristic].
        allow_larger_epsilon: Accept attribute epsilons larger than requested [heuristic].
        one_channel: One channel for all respondents, instead of randomly assigned channels [workload].
        lambda_: Likelihood ratio of the true category to any other [frapp].
        l: Number of reported categories, at least 2: one per attribute, or one for all [l-diversity].
        control_items: Number of control items on the list, 1 to 20 [list].
        group_sizes: Sizes of the control and the treatment group, or their ratio [default: equal] [list].
        matrix: Transition matrix: a CSV file, or rows; columns are inputs and sum to 1, rows are outputs.
        matrix_inputs: Orientation of the matrix, if its sums do not determine it [matrix].
        prior: Share of each category, in order.
        attribute: Column to count in that file.
        bins: Bins of a numeric column: quantile:5, width:10 or edges:18,65.
        exact_prior: Store the shares counted by `from_` exactly in the plan; the plan is public, so by default they are
            rounded to two digits.
        gamma_prior: Gamma distribution in N bins of equal width, from 0 to its mean plus three standard deviations.
        normal_prior: Standard normal distribution in N bins of equal width on [-3, 3].
        scale: Scale of the gamma distribution; does not change the shares [default: 2].
        shape: Shape of the gamma distribution [default: 1].
        uniform_prior: Equal shares of N categories.
        from_: A table in which shares are counted.
        map_privacy: Probability that the best guess is wrong, for the stated prior [front].
        max_mse: Largest mean squared error of a share with `respondents`; the plan is the most private one [front].
        posterior_bound: Largest posterior of any category given any answer, for the stated prior [front].
        outputs: Maximum number of distinct answers; a heuristic [front].
        loss: Loss of a wrong guess: "ordinal" (the number of categories between guess and truth), or a matrix: a CSV
            file, or rows; rows are guesses, columns are true categories. Privacy is then the expected loss of the best
            guess as a share of the largest loss.
    """
    from .verbs import designed

    return designed(
        schema, method, {
            "epsilon": epsilon,
            "budget_split": budget_split,
            "attribute_epsilon": attribute_epsilon,
            "p": p,
            "q": q,
            "compliance_check": compliance_check,
            "beta": beta,
            "rho": rho,
            "allow_unbounded": allow_unbounded,
            "max_epsilon": max_epsilon,
            "respondents": respondents,
            "tables": tables,
            "only": only,
            "cross_with": cross_with,
            "expected_shares": expected_shares,
            "likelihood_ratio": likelihood_ratio,
            "cross": cross,
            "clusters": clusters,
            "cluster_method": cluster_method,
            "spent": spent,
            "time_limit": time_limit,
            "order": order,
            "allow_larger_epsilon": allow_larger_epsilon,
            "one_channel": one_channel,
            "lambda": lambda_,
            "l": l,
            "control_items": control_items,
            "group_sizes": group_sizes,
            "matrix": matrix,
            "matrix_inputs": matrix_inputs,
            "prior": prior,
            "attribute": attribute,
            "bins": bins,
            "exact_prior": exact_prior,
            "gamma_prior": gamma_prior,
            "normal_prior": normal_prior,
            "scale": scale,
            "shape": shape,
            "uniform_prior": uniform_prior,
            "from": from_,
            "map_privacy": map_privacy,
            "max_mse": max_mse,
            "posterior_bound": posterior_bound,
            "outputs": outputs,
            "loss": loss,
        }
    )


@checked
def pareto(
    prior: Iterable[float] | None = None,
    *,
    from_: Tables | None = None,
    archive: int | None = None,
    attribute: str | None = None,
    bins: str | None = None,
    crossover: float | None = None,
    gamma_prior: int | None = None,
    generations: int | None = None,
    islands: int | None = None,
    loss: str | os.PathLike[str] | Iterable[Iterable[str | float]] | None = None,
    map_privacy: Iterable[float] | None = None,
    method: Literal["all", "exact", "evolve"] | None = None,
    mutation: float | None = None,
    neighbour: int | None = None,
    normal_prior: int | None = None,
    omega: int | None = None,
    outputs: int | None = None,
    patience: int | None = None,
    points: int | None = None,
    polish: bool | None = None,
    population: int | None = None,
    posterior_bound: float | None = None,
    respondents: float | None = None,
    rounds: int | None = None,
    scale: float | None = None,
    seed: int | None = None,
    shape: float | None = None,
    step: float | None = None,
    time_limit: float | None = None,
    uniform_prior: int | None = None,
) -> Front:
    """One attribute: every trade-off of privacy and error for what is known beforehand.

    >>> found = pareto([0.5, 0.3, 0.2], method="exact", points=3)
    >>> len(found.points)
    3

    Args:
        prior: Share of each category, in order.
        from_: A table in which shares are counted.
        archive: Archive size (N_V) [default: 100].
        attribute: Column to count in that file.
        bins: Bins of a numeric column: quantile:5, width:10 or edges:18,65.
        crossover: Crossover probability [default: 0.9].
        gamma_prior: Gamma distribution in N bins of equal width, from 0 to its mean plus three standard deviations.
        generations: Maximum number of generations (L) [default: 3000].
        islands: Number of populations; 1 is the algorithm of the paper [default: 2].
        loss: Loss of a wrong guess: "ordinal" (the number of categories between guess and truth), or a matrix: a CSV
            file, or rows; rows are guesses, columns are true categories. Privacy is then the expected loss of the best
            guess as a share of the largest loss.
        map_privacy: Privacy levels instead: probabilities that the best guess is wrong.
        method: Fronts to compute besides those of Warner, UP and FRAPP.
        mutation: Mutation probability [default: 0.8].
        neighbour: Rank of the nearest neighbor that measures density [default: 1].
        normal_prior: Standard normal distribution in N bins of equal width on [-3, 3].
        omega: Size of the optimal set (N_Omega) [default: 1000].
        outputs: Maximum number of outputs of a channel; a heuristic, shown with the bound for any number [exact].
        patience: Number of generations without change of Omega after which the search stops.
        points: Number of privacy levels, spread over the reachable range [default: 50].
        polish: Improve every kept matrix by local optimization [default: true].
        population: Population size (N_Q) [default: 100].
        posterior_bound: Largest posterior of any category given any answer (delta in the paper) [default: 1].
        respondents: Sample size [default: 10000].
        rounds: Rounds of local optimization [default: 6].
        scale: Scale of the gamma distribution; does not change the shares [default: 2].
        seed: Seed; gives the same front on any number of cores [default: 1].
        shape: Shape of the gamma distribution [default: 1].
        step: Largest step of a mutation [default: 0.5].
        time_limit: Search time limit in seconds; prints the channels found so far [default: 30].
        uniform_prior: Equal shares of N categories.
    """
    from .verbs import fronts

    return fronts(
        prior, {
            "from": from_,
            "archive": archive,
            "attribute": attribute,
            "bins": bins,
            "crossover": crossover,
            "gamma_prior": gamma_prior,
            "generations": generations,
            "islands": islands,
            "loss": loss,
            "map_privacy": map_privacy,
            "method": method,
            "mutation": mutation,
            "neighbour": neighbour,
            "normal_prior": normal_prior,
            "omega": omega,
            "outputs": outputs,
            "patience": patience,
            "points": points,
            "polish": polish,
            "population": population,
            "posterior_bound": posterior_bound,
            "respondents": respondents,
            "rounds": rounds,
            "scale": scale,
            "seed": seed,
            "shape": shape,
            "step": step,
            "time_limit": time_limit,
            "uniform_prior": uniform_prior,
        }
    )


class Refining:
    """What makes a plan better."""

    @checked
    def refine(
        self,
        prior: Iterable[float] | None = None,
        *,
        from_: Tables | None = None,
        allow_unbounded: bool | None = None,
        attribute: str | None = None,
        bins: str | None = None,
        exact_prior: bool | None = None,
        gamma_prior: int | None = None,
        loss: str | os.PathLike[str] | Iterable[Iterable[str | float]] | None = None,
        normal_prior: int | None = None,
        posterior_bound: float | None = None,
        respondents: float | None = None,
        scale: float | None = None,
        shape: float | None = None,
        uniform_prior: int | None = None,
    ) -> Plan:
        """A plan that is as private for the prior and tells more; what it gives is its `refinement`.

        What is known beforehand is by default that which the plan was made for.

        Args:
            prior: Share of each category, in order.
            from_: A table in which shares are counted.
            allow_unbounded: Accept an unbounded plan in place of one with a finite epsilon.
            attribute: Column to count in that file.
            bins: Bins of a numeric column: quantile:5, width:10 or edges:18,65.
            exact_prior: Store the shares counted by `from_` exactly in the plan; the plan is public, so by default they are
                rounded to two digits.
            gamma_prior: Gamma distribution in N bins of equal width, from 0 to its mean plus three standard deviations.
            loss: Loss of a wrong guess: "ordinal" (the number of categories between guess and truth), or a matrix: a CSV
                file, or rows; rows are guesses, columns are true categories. Privacy is then the expected loss of the best
                guess as a share of the largest loss.
            normal_prior: Standard normal distribution in N bins of equal width on [-3, 3].
            posterior_bound: Largest posterior of any category given any answer [default: that of the plan].
            respondents: Sample size for the mean squared error [default: 10000].
            scale: Scale of the gamma distribution; does not change the shares [default: 2].
            shape: Shape of the gamma distribution [default: 1].
            uniform_prior: Equal shares of N categories.
        """
        from .verbs import refined

        return refined(
            self, prior, {
                "from": from_,
                "allow_unbounded": allow_unbounded,
                "attribute": attribute,
                "bins": bins,
                "exact_prior": exact_prior,
                "gamma_prior": gamma_prior,
                "loss": loss,
                "normal_prior": normal_prior,
                "posterior_bound": posterior_bound,
                "respondents": respondents,
                "scale": scale,
                "shape": shape,
                "uniform_prior": uniform_prior,
            }
        )

"""What is right: no complaint of mypy --strict."""

from __future__ import annotations

from collections.abc import Iterable

import polars

import candor

schema = candor.Schema.of_sizes([9, 16, 7])
plan: candor.Plan = candor.design(schema, epsilon=2, tables=["a1,a2", "a3"], time_limit=5)
candor.design(schema, "independent", epsilon=2.5, budget_split=[1, 2, 3])
candor.design([4], "warner", p=0.7)
candor.design([4], "frapp", lambda_=3)
candor.design([20], "l-diversity", l=[5], only="a1")
candor.design([2], "matrix", matrix=[[0.75, 0.25], [0.25, 0.75]])
candor.design([4], "front", prior=[0.4, 0.3, 0.2, 0.1], map_privacy=0.5)
candor.design(schema, "clusters", clusters=[["a1", "a2"]], epsilon=4, cluster_method="workload")
epsilon: float | None = plan.guarantee.epsilon
front = candor.pareto([0.5, 0.5], method="exact", points=3)
better: candor.Plan = plan.refine(uniform_prior=9, posterior_bound=0.8)

people = polars.DataFrame({"a1": ["0"], "a2": ["1"], "a3": ["2"]})
answers: candor.Responses[polars.DataFrame] = plan.randomize(people, keep="weight")
lazy: candor.Responses[polars.LazyFrame] = plan.randomize(people.lazy())
rows: int = plan.randomize(people, output="responses.parquet").records
heights: Iterable[int] = (answers.frame.height, lazy.frame.collect().height)
estimates = plan.estimate(answers, tables="pairs", by=["a1"])
shares: list[float] = [cell.estimate for table in estimates for cell in table.cells]
key = candor.PrivateKey.generate()
plan.verify(plan.sign(key), public_key=key.public_key)

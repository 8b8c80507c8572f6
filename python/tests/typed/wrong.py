"""What is wrong: mypy --strict complains of every line with a remark, and of no other."""

from __future__ import annotations

import polars

import candor

schema = candor.Schema.of_sizes([9, 16, 7])
candor.design(schema, "joint", epsilonn=2)  # no overload
candor.design(schema, "joint", epsilon="2")  # no overload
candor.design([4], "warner", q=0.7)  # a parameter of another method
candor.design([4], "warner")  # p is missing
candor.design(schema, "join", epsilon=2)  # no such method
candor.design(schema, "clusters", clusters=[["a1"]], cluster_method="all", epsilon=1)  # no such way
candor.design(3, "joint", epsilon=2)  # no schema
candor.pareto([0.5, 0.5], point=3)  # no such parameter
plan = candor.design(schema, "joint", epsilon=2)
plan.refine(prior="all")  # no shares
plan.estimate("responses.parquet", confidance=0.9)  # no such parameter
plan.estimate("responses.parquet", confidence="0.9")  # no number
people = polars.DataFrame({"a1": ["0"], "a2": ["1"], "a3": ["2"]})
plan.randomize(people, simulate=True)  # no such parameter
plan.randomize(people).collect()  # responses that are no lazy frame
plan.guarantee.epsilonn  # no such field

"""Uses the installed Python package without anything else: design, audit, and a mechanism of somebody else."""

import random

import candor

plan = candor.design([2, 4], "independent", epsilon=2)
assert plan.guarantee.epsilon <= 2
assert candor.Plan.loads(plan.to_json()) == plan
audit = candor.audit_function(lambda truth: truth if random.random() < 0.75 else 1 - truth, [0, 1], draws=20_000)
assert 0.8 < audit.lower_bound < 1.25, audit.lower_bound
print("candor", candor.__version__, "works in an empty environment")

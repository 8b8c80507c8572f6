# A survey in a notebook: from a table of people to estimates that can be published.
#
# The tests run it as it is, in a folder that holds people.csv (20,000 real records of the Adult data; data/people/README.md says where
# they are from). The script survey.py and the notebook survey.ipynb are the same; tools/notebook.py makes the one of the other.

# %% The table, and what is asked
import pandas

import candor

people = pandas.read_csv("people.csv")
schema = candor.Schema.infer(people, public="Region", drop="weight")
schema

# %% Which method? All of them at the same privacy, by the errors to expect
candor.compare(schema, epsilon=2, tables="pairs", respondents=len(people))

# %% A plan: public, certified, with a fingerprint
plan = candor.design(schema, "workload", epsilon=2, tables="pairs")
assert plan.guarantee.epsilon <= 2
plan.audit(require={"ldp": 2})

# %% What respondents are told
plan.explain()

# %% Randomize; only this leaves the machine. The weight is no secret, and is passed on
responses = plan.randomize(people, keep="weight")
responses.head()

# %% What the responses tell
estimates = plan.estimate(responses, tables=["Education,Income", "Sex"])
estimates["Education,Income"].crosstab()

# %% A picture, with intervals
estimates.plot()

# %% How far off is that? Here, and only here, the truth is known
truth = pandas.crosstab(people["Education"], people["Income"], normalize=True)
error = (estimates["Education,Income"].crosstab() - truth).abs()
assert error.to_numpy().max() < 0.1
error

# %% Groups that are public, and survey weights
plan.estimate(responses, tables="Sex", by="Region", weights="weight")

# %% Do education and income depend on each other?
test = plan.test(responses, "Education", "Income")
assert test.p_value < 0.01
test

# %% How many people are women with a high income?
plan.query(responses, "Income = '>50K' and Sex = 'Female'", method="joint")

# %% What goes with a high income, all else equal? Corrected for the randomization of the outcome and of predictors
fitted = plan.regress(responses, "Income ~ Sex + Region", reference={"Sex": "Female"})
fitted

# %% The same as a picture
fitted.plot()

# %% Two halves, counted apart: what is estimated from both is what is estimated from all
halves = [plan.tally(half, tables="pairs") for half in (responses.iloc[::2], responses.iloc[1::2])]
assert plan.estimate(halves[0] + halves[1]) == plan.estimate(responses, tables="pairs")

# %% A page to publish
plan.report(responses, "report.html", tables="marginals;Education,Income", title="Education and income")

"""The generic parts of the field: scikit-learn and matplotlib."""

from __future__ import annotations

import matplotlib
import numpy
import pandas
import polars
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import candor
from candor.sklearn import Randomizer

matplotlib.use("Agg")

COLUMNS = ["Education", "Sex", "Income"]


def test_parameters_and_clones(simple) -> None:
    one = Randomizer("independent", parameters={"epsilon": 3.0})
    assert one.get_params() == {"method": "independent", "parameters": {"epsilon": 3.0}, "plan": None}
    assert clone(one).get_params() == one.get_params()
    assert one.set_params(plan=simple).plan is simple
    with pytest.raises(ValueError, match="colour"):
        one.set_params(colour=1)


def test_in_a_pipeline(people) -> None:
    pipeline = make_pipeline(Randomizer(parameters={"epsilon": 3.0}), OneHotEncoder(sparse_output=False))
    encoded = pipeline.fit_transform(people[COLUMNS])
    assert encoded.shape == (len(people), 5 + 2 + 2)
    randomizer = pipeline[0]
    assert randomizer.plan_.guarantee.epsilon <= 3
    assert list(randomizer.get_feature_names_out()) == COLUMNS
    assert randomizer.n_features_in_ == 3
    both = ColumnTransformer([("random", Randomizer(parameters={"epsilon": 1.0}), COLUMNS)], remainder="drop")
    assert both.fit_transform(people).shape == (len(people), 3)


def test_every_transform_is_drawn_anew(people) -> None:
    randomizer = Randomizer(parameters={"epsilon": 2.0}).fit(people[COLUMNS])
    one, other = randomizer.transform(people[COLUMNS]), randomizer.transform(people[COLUMNS])
    assert not one.equals(other)
    assert isinstance(randomizer.transform(polars.from_pandas(people[COLUMNS])), polars.DataFrame)
    assert randomizer.plan_.estimate(one).respondents == len(people)


def test_what_is_refused(people) -> None:
    with pytest.raises(NotFittedError):
        Randomizer().transform(people)
    with pytest.raises(ValueError, match="names of columns"):
        Randomizer().fit(numpy.zeros((2, 2)))
    with pytest.raises(candor.ParameterError, match="requires `epsilon`"):
        Randomizer().fit(people[COLUMNS])
    with pytest.raises(candor.InputError, match="no column"):
        Randomizer(parameters={"epsilon": 1.0}).fit(people[COLUMNS]).transform(people[["Sex"]])


#: The checks of scikit-learn that can apply to a transformer that takes frames of categories and draws at random. The others hand it
#: arrays of numbers without names, or compare two runs.
CHECKS = [
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_get_params_invariance",
    "check_set_params",
    "check_valid_tag_types",
    "check_estimator_tags_renamed",
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_mixin_order",
]


@pytest.mark.parametrize("check", CHECKS)
def test_checks_of_scikit_learn(check) -> None:
    from sklearn.utils import estimator_checks

    getattr(estimator_checks, check)("Randomizer", Randomizer(parameters={"epsilon": 1.0}))


def test_plots(people, simple) -> None:
    estimates = simple.estimate(simple.randomize(people), tables="Education;Sex,Income")
    axes = estimates.plot()
    assert [ax.get_title() for ax in axes] == ["Education", "Sex x Income"]
    assert len(axes[0].patches) == 5
    assert estimates["Education"].plot(axes[0]) is axes[0] and estimates.plot(axes) == axes
    with pytest.raises(candor.ParameterError, match="1 axes for 2 tables"):
        estimates.plot(axes[0])
    drawn = candor.pareto([0.5, 0.3, 0.2], posterior_bound=0.8, method="exact", points=4).plot()
    assert [text.get_text() for text in drawn.get_legend().get_texts()] == ["Warner, UP, FRAPP", "exact: the best there is"]
    square = simple.associations(simple.randomize(people)).plot()
    assert square.images[0].get_array().shape == (3, 3)
    matplotlib.pyplot.close("all")


def test_plots_of_the_report(people, simple) -> None:
    """Each with `ax=`, and giving it back."""
    responses = simple.randomize(people)
    ax = matplotlib.pyplot.subplots()[1]
    fitted = simple.regress(responses, "Income ~ Sex + Region")
    assert fitted.plot(ax) is ax and ax.get_xscale() == "log" and ax.get_xlabel() == "odds ratio"
    assert [label.get_text() for label in ax.get_yticklabels()] == ["Sex=Male", "Region=south"]
    differences = simple.test(responses, tables="Sex", compare_groups="Region").plot()
    assert [label.get_text() for label in differences.get_yticklabels()] == ["Female: south - north", "Male: south - north"]
    assert simple.query(responses, "Sex = Male", method="all").plot().get_xlabel() == "Sex = Male"
    report = simple.report(responses, tables="Sex;Income", baseline={"2023": simple.randomize(people)}, wave="2024")
    waves = report.plot("Income", matplotlib.pyplot.subplots()[1])
    assert [label.get_text() for label in waves.get_xticklabels()] == ["2023", "2024"]
    assert [text.get_text() for text in waves.get_legend().get_texts()] == ["<=50K", ">50K"]
    plain = simple.report(responses, tables="Sex;Income")
    assert [one.get_title() for one in plain.plot()] == ["Sex", "Income"]
    assert plain.plot_associations().images[0].get_array().shape == (4, 4)
    matplotlib.pyplot.close("all")


def test_a_pipeline_with_regression(people, simple) -> None:
    """Records are cleaned and randomized in a pipeline of scikit-learn; models are fitted to what comes out of it."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    clean = FunctionTransformer(lambda frame: frame.drop(columns="weight"), feature_names_out=None)
    pipeline = make_pipeline(clean, Randomizer(plan=simple))
    answers = pipeline.fit(people).transform(people)
    fitted = simple.regress(answers, "Income ~ Sex + Region")
    assert fitted["Sex=Male"].low > 0
    assert list(fitted.to_pandas()["term"]) == ["(constant)", "Sex=Male", "Region=south"]


def test_metadata_is_routed(people) -> None:
    """The randomizer takes no metadata: weights that others ask for pass it by, and handing it some is scikit-learn's error."""
    import sklearn
    from sklearn.base import BaseEstimator
    from sklearn.pipeline import make_pipeline
    from sklearn.utils.metadata_routing import get_routing_for_object

    class Last(BaseEstimator):
        def fit(self, X, y=None, sample_weight=None):  # noqa: N803
            self.fitted_ = (list(X.columns), None if sample_weight is None else float(sample_weight.sum()))
            return self

    with sklearn.config_context(enable_metadata_routing=True):
        randomizer = Randomizer(parameters={"epsilon": 2.0})
        routed = get_routing_for_object(randomizer)
        assert not any(routed.consumes(method, ["sample_weight"]) for method in ("fit", "transform"))
        pipeline = make_pipeline(randomizer, Last().set_fit_request(sample_weight=True))
        pipeline.fit(people[COLUMNS], sample_weight=people["weight"])
        assert pipeline[-1].fitted_ == (COLUMNS, float(people["weight"].sum()))
        with pytest.raises(ValueError, match="sample_weight"):
            make_pipeline(Randomizer(parameters={"epsilon": 2.0}), Last()).fit(people[COLUMNS], sample_weight=people["weight"])


def test_matrices_are_arrays(people, simple) -> None:
    estimates = simple.estimate(simple.randomize(pandas.DataFrame(people)), tables="Sex,Income")
    assert numpy.isclose(estimates[0].to_numpy().sum(), 1)

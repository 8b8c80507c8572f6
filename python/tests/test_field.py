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
    with pytest.raises(candor.ParameterError, match="needs `epsilon`"):
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
    figure = estimates.plot()
    assert [ax.get_title() for ax in figure.axes] == ["Education", "Sex x Income"]
    assert len(figure.axes[0].patches) == 5
    assert estimates["Education"].plot(figure.axes[0]) is figure.axes[0]
    drawn = candor.pareto([0.5, 0.3, 0.2], posterior_bound=0.8, method="exact", points=4).plot()
    assert [text.get_text() for text in drawn.get_legend().get_texts()] == ["Warner, UP, FRAPP", "exact: the best there is"]
    square = simple.associations(simple.randomize(people)).plot()
    assert square.images[0].get_array().shape == (3, 3)
    matplotlib.pyplot.close("all")


def test_matrices_are_arrays(people, simple) -> None:
    estimates = simple.estimate(simple.randomize(pandas.DataFrame(people)), tables="Sex,Income")
    assert numpy.isclose(estimates[0].to_numpy().sum(), 1)

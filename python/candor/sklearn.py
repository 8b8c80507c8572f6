"""A transformer for scikit-learn: randomizes the columns of a frame within a pipeline."""

from __future__ import annotations

from typing import Any

try:
    from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
    from sklearn.utils.validation import check_is_fitted
except ImportError as error:  # pragma: no cover
    raise ImportError("candor.sklearn needs scikit-learn: pip install scikit-learn") from error

from .frames import Responses
from .plan import Plan
from .schema import Schema
from .signatures import design

__all__ = ["Randomizer"]


class Randomizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Randomizes records as a plan says.

    `fit` learns the schema of the columns and designs a plan for it by `method` and `parameters`, unless a `plan` is given; it is
    then `plan_`. `transform` draws an answer for every record, each time anew: what it gives is random, and never the same twice.
    Only frames have names, so `X` is a pandas or polars frame.

    >>> import pandas
    >>> X = pandas.DataFrame({"smokes": ["yes", "no", "no", "yes"]})
    >>> randomizer = Randomizer("joint", parameters={"epsilon": 1.0}).fit(X)
    >>> list(randomizer.transform(X).columns)
    ['smokes']
    """

    def __init__(self, method: str = "joint", *, parameters: dict[str, Any] | None = None, plan: Plan | None = None) -> None:
        self.method = method
        self.parameters = parameters
        self.plan = plan

    def fit(self, X: Any, y: Any = None) -> Randomizer:  # noqa: N803
        """Designs the plan, unless one is given."""
        self.feature_names_in_ = _names(X)
        self.n_features_in_ = len(self.feature_names_in_)
        designed: Any = design
        self.plan_ = self.plan if self.plan is not None else designed(Schema.infer(X), self.method, **(self.parameters or {}))
        return self

    def transform(self, X: Any) -> Any:  # noqa: N803
        """An answer for every record, as the same kind of frame; its columns are those of the plan's responses."""
        check_is_fitted(self, "plan_")
        answers = self.plan_.randomize(X)
        return answers.frame if isinstance(answers, Responses) else answers

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """The columns of responses."""
        import numpy

        check_is_fitted(self, "plan_")
        return numpy.asarray([column.name for column in self.plan_.columns], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        tags.input_tags.two_d_array = False
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags


def _names(frame: Any) -> Any:
    import numpy

    columns = getattr(frame, "columns", None)
    if columns is None:
        raise ValueError(f"X is a frame with names of columns, such as pandas'; this is a {type(frame).__name__}")
    return numpy.asarray(list(columns), dtype=object)

"""Randomized response with exact, certified privacy: design, randomize, audit, estimate."""

from ._candor import (
    CategoryError,
    DesignError,
    Error,
    EstimateError,
    InputError,
    OtherPlanError,
    ParameterError,
    PlanError,
    RequirementError,
    SchemaError,
    __version__,
)
from .counts import Counts
from .frames import Responses
from .mechanism import audit_function, audit_program
from .plan import Plan
from .progress import show_progress
from .schema import Schema
from .verbs import choose, combine, compare, design, device, front, methods, pareto
from .warned import Caution

__all__ = [
    "CategoryError",
    "Caution",
    "Counts",
    "DesignError",
    "Error",
    "EstimateError",
    "InputError",
    "OtherPlanError",
    "ParameterError",
    "Plan",
    "PlanError",
    "RequirementError",
    "Responses",
    "Schema",
    "SchemaError",
    "__version__",
    "audit_function",
    "audit_program",
    "choose",
    "combine",
    "compare",
    "design",
    "device",
    "front",
    "methods",
    "pareto",
    "show_progress",
]

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
    SignatureError,
    __version__,
)
from .counts import Counts
from .frames import Responses
from .mechanism import audit_function, audit_program
from .plan import Plan
from .progress import show_progress
from .schema import Schema
from .signatures import design, pareto
from .signing import PrivateKey, Signature
from .verbs import combine, compare, device, methods
from .warned import Caution

#: The old name, which stays.
front = pareto

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
    "PrivateKey",
    "RequirementError",
    "Responses",
    "Schema",
    "SchemaError",
    "Signature",
    "SignatureError",
    "__version__",
    "audit_function",
    "audit_program",
    "combine",
    "compare",
    "design",
    "device",
    "front",
    "methods",
    "pareto",
    "show_progress",
]

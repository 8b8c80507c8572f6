"""Randomized response with exact, certified privacy: design, randomize, audit, estimate."""

try:
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
except ImportError as error:
    # Files of one version beside the compiled part of another, or none.
    raise ImportError(
        f"the compiled part of candor does not belong to this package ({error}); install both anew: "
        "pip install --force-reinstall candor-privacy"
    ) from error
from .counts import Counts
from .frames import Responses
from .mechanism import audit_function, audit_program
from .parties import PartyMessage, PartySession
from .plan import Plan
from .progress import show_progress
from .schema import Schema
from .signatures import design, pareto
from .signing import PrivateKey, Signature
from .verbs import choose, combine, compare, device, methods
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
    "PartyMessage",
    "PartySession",
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

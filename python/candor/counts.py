"""Counts of responses, which add up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _candor
from ._candor import OtherPlanError

if TYPE_CHECKING:
    from .plan import Plan

__all__ = ["Counts"]


class Counts:
    """Counts of responses for some tables. Those of parts of the responses add up: ``sum(parts[1:], parts[0])``."""

    def __init__(self, plan: Plan, native: _candor.Counts) -> None:
        self.plan = plan
        self._native = native

    @property
    def responses(self) -> int:
        """How many responses were counted."""
        return self._native.responses

    @property
    def tables(self) -> list[str]:
        """The tables that were counted."""
        return [",".join(table) for table in self._native.tables(self.plan._native)]

    @staticmethod
    def from_bytes(plan: Plan, data: bytes) -> Counts:
        """Reads what `to_bytes` gave elsewhere, of responses to the same plan; of another plan is an error."""
        return Counts(plan, _candor.Counts.from_json(plan._native, data.decode("utf-8")))

    def to_bytes(self) -> bytes:
        """The counts, to be sent to where they are added up."""
        return self._native.to_json(self.plan._native).encode("utf-8")

    def __add__(self, other: Counts) -> Counts:
        if not isinstance(other, Counts):
            return NotImplemented
        if self.plan.fingerprint != other.plan.fingerprint:
            raise OtherPlanError("counts of responses to different plans do not add up")
        return Counts(self.plan, self._native.merged(other._native))

    def __reduce__(self) -> tuple[Any, ...]:
        return Counts.from_bytes, (self.plan, self.to_bytes())

    def __repr__(self) -> str:
        return f"counts of {self.responses:,} responses for {len(self.tables)} tables"

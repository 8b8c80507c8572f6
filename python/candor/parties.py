"""Associations between parties who show their records to nobody: rounds of messages, in the files of the command."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from . import _candor, frames
from .parameters import checked, file_text, names, path, several, written
from .results import PartyCheck, PartyTotals
from .schema import Schema

__all__ = ["PartyMessage", "PartySession"]


class PartyMessage:
    """A message of a round. A share is confidential: only its `recipient` may read it. Announcements and sums are for everybody."""

    __slots__ = ("_text", "file_name", "kind", "recipient", "sender")

    def __init__(self, file_name: str, text: str) -> None:
        fields = json.loads(text)
        self._text = text
        #: The name of its file.
        self.file_name = file_name
        #: ``share``, ``announcement`` or ``sums``.
        self.kind: str = fields["kind"]
        #: Who sends it.
        self.sender: str = fields["from"]
        #: Who alone may read it; None if everybody may.
        self.recipient: str | None = fields.get("to")

    def to_json(self) -> str:
        """The message as JSON."""
        return self._text

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Writes a new file into a folder; a share can be read by its owner only. No file is replaced."""
        target = Path(path("folder", folder) or "") / self.file_name
        private = self.kind == "share"
        with open(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if private else 0o666), "w", encoding="utf-8") as file:
            file.write(self._text)
        return target

    def __repr__(self) -> str:
        return f"{self.kind} from {self.sender}" + (f" to {self.recipient}" if self.recipient else "")


#: Messages, or paths of their files.
Messages = Iterable[PartyMessage | str | os.PathLike[str]]


class PartySession:
    """A round between parties: who takes part and what is added up. All parties hold the same.

    >>> import polars
    >>> schema = Schema.of_sizes([2, 2])
    >>> session = PartySession.start(schema, ["North", "South"])
    >>> people = polars.DataFrame({"a1": ["0", "1"], "a2": ["0", "1"]})
    >>> sent = session.share(people, "North") + session.share(people, "South")
    >>> sums = [session.sum([one for one in sent if one.recipient == name], name) for name in session.collectors]
    >>> session.finish([one for one in sent if one.recipient is None] + sums).totals[0].counts
    [[2, 0], [0, 2]]
    """

    __slots__ = ("_native",)

    def __init__(self, native: _candor.PartySession) -> None:
        self._native = native

    @staticmethod
    @checked
    def start(
        schema: Schema, parties: str | Iterable[str], *, collectors: int | None = None, epsilon: float | None = None
    ) -> PartySession:
        """A new session. The first `collectors` of the `parties` collect secret shares, all of them unless it is said. With an
        `epsilon` each record randomizes each of its pairs first, and spends so much in all; without one the totals are exact.
        """
        options = written(collectors=collectors, epsilon=epsilon)
        return PartySession(_candor.PartySession.start(schema._native, names("parties", parties) or [], options))

    @staticmethod
    def loads(text: str) -> PartySession:
        """Reads JSON."""
        return PartySession(_candor.PartySession.loads(text))

    @staticmethod
    def load(file: str | os.PathLike[str]) -> PartySession:
        """Reads a file of JSON."""
        return PartySession.loads(file_text("file", file) or "")

    def to_json(self) -> str:
        """The session as JSON."""
        return self._native.to_json()

    def save(self, file: str | os.PathLike[str]) -> None:
        """Writes a new file of JSON. No file is replaced: others may hold the session that is in it."""
        with open(path("file", file) or "", "x", encoding="utf-8") as target:
            target.write(self.to_json())

    @property
    def id(self) -> str:
        """What tells this session from every other."""
        return self._native.id

    @property
    def parties(self) -> list[str]:
        """All parties, in order."""
        return self._native.parties

    @property
    def collectors(self) -> list[str]:
        """The parties that collect secret shares."""
        return self._native.collectors

    @property
    def protocol(self) -> str:
        """``secure-sum``, or ``randomized-pairs`` with an epsilon."""
        return self._native.protocol

    @property
    def epsilon(self) -> float | None:
        """What a record spends; None if the totals are exact."""
        return self._native.epsilon

    @checked
    def share(
        self, tables: Any, as_: str, *, missing: str | Iterable[str] | None = None, delimiter: str | None = None
    ) -> list[PartyMessage]:
        """A party's messages: a share for each collector, and an announcement. Call it once only in a session: every call draws
        anew, and with an epsilon spends it again.
        """
        options = written(missing=names("missing", missing), delimiter=delimiter)
        return [PartyMessage(name, text) for name, text in self._native.share(frames.given(tables), as_, options)]

    @checked
    def sum(self, messages: Messages, as_: str) -> PartyMessage:
        """The sums of a collector, from the shares of all parties for it."""
        return PartyMessage(*self._native.sum(_texts(messages), as_))

    @checked
    def finish(
        self,
        messages: Messages,
        *,
        measure: str | None = None,
        max_cells: int | None = None,
        min_dependence: float | None = None,
    ) -> PartyTotals:
        """The totals of all pairs, the associations and the clusters, from all announcements and sums."""
        options = written(measure=measure, max_cells=max_cells, min_dependence=min_dependence)
        text, summary = self._native.finish(_texts(messages), options)
        totals = PartyTotals.loads(text)
        totals.summary = summary
        return totals

    @checked
    def check(self, messages: Messages) -> PartyCheck:
        """Checks the sums of a collector who shows its shares, beside all announcements and sums. Who checks must be no collector:
        shares of all collectors together reveal everybody's counts.
        """
        return PartyCheck.loads(self._native.check(_texts(messages)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PartySession) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __reduce__(self) -> tuple[Any, ...]:
        return PartySession.loads, (self.to_json(),)

    def __repr__(self) -> str:
        return f"session {self.id} of {', '.join(self.parties)} ({self.protocol})"


def _texts(messages: Messages) -> list[str]:
    given = several("messages", messages, (PartyMessage, str, os.PathLike)) or []
    return [one.to_json() if isinstance(one, PartyMessage) else file_text("messages", one) or "" for one in given]

"""Signatures of plans, in the files of the command and of the JavaScript client."""

from __future__ import annotations

import os
from typing import Any

from . import _candor
from .parameters import file_text, path

__all__ = ["PrivateKey", "Signature"]


class PrivateKey:
    """A key that signs plans. Nothing shows it; only its file holds it: keep that secret and backed up.

    >>> key = PrivateKey.generate()
    >>> len(key.public_key)
    64
    """

    __slots__ = ("_native",)

    def __init__(self, native: _candor.PrivateKey) -> None:
        self._native = native

    @staticmethod
    def generate() -> PrivateKey:
        """A new key, by randomness of the operating system."""
        return PrivateKey(_candor.PrivateKey.generate())

    @staticmethod
    def load(file: str | os.PathLike[str]) -> PrivateKey:
        """Reads the file of a key."""
        return PrivateKey(_candor.PrivateKey.loads(file_text("file", file) or ""))

    def save(self, file: str | os.PathLike[str]) -> None:
        """Writes it to a new file, which only its owner can read. No file is replaced."""
        self._native.save(path("file", file) or "")

    @property
    def public_key(self) -> str:
        """What clients pin: 64 hexadecimal digits."""
        return self._native.public_key

    def __repr__(self) -> str:
        return f"private key of {self.public_key}"

    def __reduce__(self) -> Any:
        raise TypeError("a private key is not pickled: save it to a file that only its owner can read")


class Signature:
    """A signature of a plan. Whether it is valid, `Plan.verify` says."""

    __slots__ = ("_native",)

    def __init__(self, native: _candor.Signature) -> None:
        self._native = native

    @staticmethod
    def loads(text: str) -> Signature:
        """Reads JSON."""
        return Signature(_candor.Signature.loads(text))

    @staticmethod
    def load(file: str | os.PathLike[str]) -> Signature:
        """Reads a file of JSON."""
        return Signature.loads(file_text("file", file) or "")

    def to_json(self) -> str:
        """The signature as JSON."""
        return self._native.to_json()

    def save(self, file: str | os.PathLike[str]) -> None:
        """Writes a new file of JSON. A file that holds anything else is not replaced."""
        self._native.save(path("file", file) or "")

    @property
    def public_key(self) -> str:
        """The key that it says it is of; compare it with one from elsewhere, as `Plan.verify` does."""
        return self._native.public_key

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Signature) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __reduce__(self) -> tuple[Any, ...]:
        return Signature.loads, (self.to_json(),)

    def __repr__(self) -> str:
        return f"signature with the key {self.public_key}"

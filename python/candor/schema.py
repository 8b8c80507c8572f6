"""Schemas: what is asked."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from . import _candor, frames, shown
from .parameters import checked, names, several, text, written
from .progress import Bar
from .results import Attribute, Checked, Clusters, Experiment
from .shown import Grid
from .warned import tell

__all__ = ["Schema"]


class Schema:
    """Attributes with labelled categories.

    >>> schema = Schema.loads('''
    ... [[attribute]]
    ... name = "smokes"
    ... categories = ["no", "yes"]
    ... ''')
    >>> schema["smokes"].categories
    ['no', 'yes']
    """

    def __init__(self, native: _candor.Schema) -> None:
        self._native = native
        #: How many records it was inferred from; None if it was not.
        self.records: int | None = None
        self.attributes: list[Attribute] = [Attribute(one) for one in json.loads(native.describe())]

    @staticmethod
    def loads(toml: str) -> Schema:
        """Reads TOML."""
        return Schema(_candor.Schema.from_toml(toml))

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Schema:
        """Reads a file of TOML."""
        return Schema.loads(Path(path).read_text(encoding="utf-8"))

    @staticmethod
    def of_sizes(sizes: list[int]) -> Schema:
        """Attributes ``a1``, ``a2``, .. with so many categories each.

        >>> [len(one.categories) for one in Schema.of_sizes([2, 3])]
        [2, 3]
        """
        return Schema(_candor.Schema.of_sizes(list(sizes)))

    @staticmethod
    @checked
    def infer(
        table: Any,
        *,
        bins: Mapping[str, str] | str | Iterable[str] | None = None,
        public: str | Iterable[str] | None = None,
        drop: str | Iterable[str] | None = None,
        max_categories: int | None = None,
        missing: str | Iterable[str] | None = None,
        delimiter: str | None = None,
    ) -> Schema:
        """Describes the columns of a table: a path, or a frame.

        The categories are those that occur, so a published schema tells that somebody gave each of them; columns of a type that
        lists its categories (pandas categoricals, polars Enums, Arrow dictionaries) keep these, in their order. Numbers are put into
        bins by ``{"age": "quantile:5"}``, ``"width:10"`` or ``"edges:18,65"``; a single text is for all that need it.
        Words that stand for what is ``missing``, such as ``"NA,-9"``, take the place of the usual ones.

        >>> import polars
        >>> Schema.infer(polars.DataFrame({"smokes": ["yes", "no", "no"]}))["smokes"].categories
        ['no', 'yes']
        """
        asked = [f"{name}={how}" for name, how in bins.items()] if isinstance(bins, Mapping) else bins
        options = written(
            bins=[asked] if isinstance(asked, str) else asked, public=names("public", public), drop=names("drop", drop),
            max_categories=max_categories, missing=names("missing", missing), delimiter=delimiter, known=frames.known_categories(table),
        )  # fmt: skip
        native, described, notes = _candor.infer_schema(frames.given(table), options)
        tell(notes)
        schema = Schema(native)
        schema.records = json.loads(described)["records"]
        return schema

    @checked
    def check(
        self, tables: Any, *, missing: str | Iterable[str] | None = None, delimiter: str | None = None
    ) -> Checked:
        """Every row, column and value of tables that does not fit: the result is true if there is none.

        >>> import polars
        >>> schema = Schema.loads('[[attribute]]\\nname = "smokes"\\ncategories = ["no", "yes"]')
        >>> schema.check(polars.DataFrame({"smokes": ["yes", "maybe"]})).problems[0].row
        2
        """
        options = written(missing=names("missing", missing), delimiter=delimiter)
        return Checked.loads(_candor.check_schema(self._native, frames.given(tables), options))

    @checked
    def associations(
        self,
        tables: Any,
        *,
        protocol: str | None = None,
        measure: str | None = None,
        max_cells: int | None = None,
        min_dependence: float | None = None,
        collectors: int | None = None,
        epsilon: float | None = None,
        seed: int | None = None,
        simulation: bool | None = None,
        missing: str | Iterable[str] | None = None,
        delimiter: str | None = None,
    ) -> Clusters:
        """Which attributes of true records belong together; `Plan.associations` learns it from responses."""
        options = written(
            protocol=protocol, measure=measure, max_cells=max_cells, min_dependence=min_dependence, collectors=collectors,
            epsilon=epsilon, seed=seed, simulation=simulation, missing=names("missing", missing), delimiter=delimiter,
        )  # fmt: skip
        with Bar() as bar:
            found, summary, notes = _candor.cluster_records(self._native, frames.given(tables), options, bar)
        tell(notes)
        clusters = Clusters.loads(found)
        clusters.summary = summary
        return clusters

    @checked
    def experiment(
        self,
        name: str,
        tables: Any,
        *,
        p: float | Iterable[float] | None = None,
        max_cells: int | Iterable[int] | None = None,
        min_dependence: float | Iterable[float] | None = None,
        coverage: float | Iterable[float] | None = None,
        epsilon_i: Iterable[float] | None = None,
        with_: str | None = None,
        snps: int | Iterable[int] | None = None,
        attributes: str | Iterable[str] | None = None,
        delta: float | None = None,
        generations: int | None = None,
        gamma: float | Iterable[float] | None = None,
        l: int | Iterable[int] | None = None,  # noqa: E741
        repeats: int | None = None,
        seed: int | None = None,
        missing: str | Iterable[str] | None = None,
        delimiter: str | None = None,
    ) -> Experiment:
        """A paper's experiment on true records, with its parameters under the paper's symbols. It is a simulation and protects nobody.

        `name` is ``"multidimensional"`` (`p`, `max_cells`, `min_dependence`, `coverage`, `repeats`), ``"optimized-rr"`` (`epsilon_i`,
        `with_`, `snps`, `repeats`), ``"optrr"`` (`attributes`, `delta`, `generations`) or ``"l-diversity"`` (`attributes`, `gamma`, `l`).

        >>> import polars
        >>> people = polars.DataFrame({"a": ["x", "y", "z", "x"], "b": ["u", "v", "v", "u"]})
        >>> made = Schema.infer(people).experiment("l-diversity", people, attributes="a", gamma=20, l=2)
        >>> made.records, made.tables[0].name
        (4, 'variance')
        """
        number = (int, float)
        options = written(
            p=several("p", p, number), max_cells=several("max_cells", max_cells, number),
            min_dependence=several("min_dependence", min_dependence, number), coverage=several("coverage", coverage, number),
            epsilon_i=several("epsilon_i", epsilon_i, number), snps=several("snps", snps, number),
            attributes=names("attributes", attributes), delta=delta, generations=generations, gamma=several("gamma", gamma, number),
            l=several("l", l, number), repeats=repeats, seed=seed, missing=names("missing", missing), delimiter=delimiter,
            **{"with": text("with_", with_)},
        )  # fmt: skip
        records, made = _candor.run_experiment(self._native, text("name", name) or "", frames.given(tables), options)
        return Experiment({"records": records, **json.loads(made)})

    #: The old name, which stays.
    cluster = associations

    def to_toml(self) -> str:
        """The schema as TOML, to edit by hand."""
        return self._native.to_toml()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a file of TOML."""
        Path(path).write_text(self.to_toml(), encoding="utf-8")

    def __getitem__(self, name: str) -> Attribute:
        for one in self.attributes:
            if one.name == name:
                return one
        raise KeyError(name)

    def __iter__(self) -> Iterator[Attribute]:
        return iter(self.attributes)

    def __len__(self) -> int:
        return len(self.attributes)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schema) and self.to_toml() == other.to_toml()

    def __hash__(self) -> int:
        return hash(self.to_toml())

    def __reduce__(self) -> tuple[Any, ...]:
        return Schema.loads, (self.to_toml(),)

    def _grid(self) -> Grid:
        header = ["attribute", "kind", "public", "categories"]
        return Grid(header, [[one.name, one.kind, one.public, one.categories] for one in self])

    def __repr__(self) -> str:
        return shown.text([self._grid()])

    def _repr_html_(self) -> str:
        return shown.html([self._grid()])

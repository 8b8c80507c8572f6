"""Results for people: the same parts as text and as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Any, NamedTuple

__all__ = ["Grid", "Line", "cell", "current", "html", "listed", "text"]

#: Fields with a new name, which results have under the old one, too, until the next release.
_OLD_NAMES = {
    "conditioning_attributes": "given",
    "lower_scenario": "if_none",
    "lower_scenario_standard_error": "if_none_standard_error",
    "mse": "utility",
    "quantity": "of",
    "sampling_note": "design",
    "self_protective_answer": "says",
    "upper_scenario": "if_all",
    "upper_scenario_standard_error": "if_all_standard_error",
    "variance_inflation": "design_effect",
}

#: With more rows than this, the rest of a table is only counted.
MOST_ROWS = 40


class Line(NamedTuple):
    """A sentence, or a heading."""

    words: str
    heading: bool = False


class Grid(NamedTuple):
    """A table; its first column is text, the others are numbers."""

    header: Sequence[str]
    rows: Sequence[Sequence[Any]]


Part = Line | Grid


def current(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields without those that are there under a new name, too.

    >>> current({"mse": 1, "utility": 1, "privacy": 2})
    {'mse': 1, 'privacy': 2}
    """
    old = {_OLD_NAMES[name] for name in fields if name in _OLD_NAMES}
    return {name: value for name, value in fields.items() if name not in old}


def listed(rows: Sequence[dict[str, Any]]) -> Iterator[Part]:
    """Rows as a table of the columns that hold something, and below it why some hold nothing.

    >>> print(text(listed([{"a": "x", "b": 1, "reason": None}, {"a": "y", "b": None, "reason": "nobody asked"}])))
      a  b
      x  1
      y  -
    y: nobody asked
    """
    told = [name for name in current(rows[0]) if name != "reason" and any(row.get(name) is not None for row in rows)]
    columns = [name for name in told if not any(_nested(row.get(name)) for row in rows)]
    yield Grid([name.replace("_", " ") for name in columns], [[row.get(name) for name in columns] for row in rows])
    for row in rows:
        if row.get("reason") is not None:
            yield Line(f"{cell(row[columns[0]])}: {row['reason']}")


def _nested(value: Any) -> bool:
    """Whether it has parts of its own, which no cell can show."""
    return isinstance(value, dict) or (isinstance(value, list) and any(isinstance(one, dict) for one in value))


def cell(value: Any) -> str:
    """A value as it is shown: floats with four decimals, or three digits where these would hide it.

    >>> [cell(value) for value in (0.25, 1e-7, 12345.678, None, 3, "x", True)]
    ['0.2500', '1.00e-07', '12,345.7', '-', '3', 'x', 'yes']
    """
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        size = abs(value)
        if size >= 1000:
            return f"{value:,.0f}" if value.is_integer() else f"{value:,.1f}"
        return f"{value:.4f}" if size >= 0.001 or size == 0 else f"{value:.2e}"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, dict):
        return ", ".join(f"{name.replace('_', ' ')} {cell(one)}" for name, one in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(cell(one) for one in value)
    return str(value)


def text(parts: Iterable[Part]) -> str:
    """Parts as text."""
    return "\n".join(part.words if isinstance(part, Line) else _text_grid(part) for part in parts)


def html(parts: Iterable[Part]) -> str:
    """Parts as HTML."""
    return "\n".join(_html_line(part) if isinstance(part, Line) else _html_grid(part) for part in parts)


def _cut(grid: Grid) -> tuple[list[list[str]], int]:
    """The rows that are shown, and how many are not."""
    shown = [[cell(value).replace("\n", "\\n") for value in row] for row in grid.rows[:MOST_ROWS]]
    return shown, max(0, len(grid.rows) - MOST_ROWS)


def _text_grid(grid: Grid) -> str:
    rows, more = _cut(grid)
    table = [list(grid.header), *rows]
    widths = [max(len(row[column]) for row in table) for column in range(len(grid.header))]
    lines = [
        "  ".join(word.ljust(width) if at == 0 else word.rjust(width) for at, (word, width) in enumerate(zip(row, widths)))
        for row in table
    ]
    if more:
        lines.append(f"and {more:,} more")
    return "\n".join(f"  {line.rstrip()}" for line in lines)


def _html_line(line: Line) -> str:
    tag = "h4" if line.heading else "p"
    return f"<{tag}>{escape(line.words)}</{tag}>"


def _html_grid(grid: Grid) -> str:
    rows, more = _cut(grid)
    head = "".join(f"<th>{escape(name)}</th>" for name in grid.header)
    body = "".join("<tr>" + "".join(f"<td>{escape(word)}</td>" for word in row) + "</tr>" for row in rows)
    rest = f"<caption>and {more:,} more</caption>" if more else ""
    return f"<table>{rest}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

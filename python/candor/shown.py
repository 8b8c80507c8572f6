"""Results for people: the same parts as text and as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

__all__ = ["Grid", "Line", "cell", "html", "text"]

#: With more rows than this, the rest of a table is only counted.
MOST_ROWS = 40


@dataclass
class Line:
    """A sentence, or a heading."""

    words: str
    heading: bool = False


@dataclass
class Grid:
    """A table; its first column is text, the others are numbers."""

    header: Sequence[str]
    rows: Sequence[Sequence[Any]]


Part = Line | Grid


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
            return f"{value:,.1f}"
        return f"{value:.4f}" if size >= 0.001 or size == 0 else f"{value:.2e}"
    if isinstance(value, int):
        return f"{value:,}"
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

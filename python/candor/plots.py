"""Plots by matplotlib, which is needed for them only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._candor import ParameterError

__all__ = ["dependences", "forest", "front", "table", "tables", "waves"]

#: With more bars than this, labels are left out.
MOST_LABELS = 60


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots()[1]


def table(estimated: Any, ax: Any = None) -> Any:
    """Bars of shares with their intervals; an estimate beyond its interval is drawn at its end."""
    ax = _axes(ax)
    cells = estimated.cells
    known = bool(cells) and cells[0].low is not None
    shares = [min(max(cell.estimate, cell.low), cell.high) if known else cell.estimate for cell in cells]
    places = range(len(cells))
    ax.barh(places, shares, color="#7a9cc6")
    if known:
        ends = list(zip(shares, cells))
        reach = [[share - cell.low for share, cell in ends], [cell.high - share for share, cell in ends]]
        ax.errorbar(shares, places, xerr=reach, fmt="none", ecolor="#333333", capsize=2)
    if len(cells) <= MOST_LABELS:
        ax.set_yticks(places, [" x ".join(label or "(missing)" for label in cell.categories) for cell in cells])
    ax.invert_yaxis()
    ax.axvline(0, color="#333333", linewidth=0.8)
    group = estimated.to_dict()["group"]
    where = " where " + ", ".join(f"{name} = {category}" for name, category in group.items()) if group else ""
    ax.set_title(" x ".join(estimated.attributes) + where)
    ax.set_xlabel("estimated share")
    return ax


def tables(estimated: Sequence[Any], ax: Any = None) -> list[Any]:
    """Tables one below the other; the axes of each. As many `ax` may be given."""
    import matplotlib.pyplot as plt

    known = [one for one in estimated if one.cells]
    if ax is None:
        heights = [0.6 + 0.25 * min(len(one.cells), MOST_LABELS) for one in known] or [1]
        _, square = plt.subplots(
            len(heights), 1, figsize=(7, sum(heights) + 0.5), height_ratios=heights, squeeze=False, layout="constrained"
        )
        places = list(square[:, 0])
    else:
        places = list(ax) if hasattr(ax, "__len__") else [ax]
    if len(places) < len(known):
        raise ParameterError(
            f"`ax` has {len(places)} axes for {len(known)} tables; give one for each, or plot one table"
        )
    return [table(one, place) for one, place in zip(known, places)]


def forest(
    rows: Sequence[tuple[str, float | None, float | None, float | None]], none: float, label: str, ax: Any = None
) -> Any:
    """Estimates with their intervals, one below the other, and a line where there is no effect; open ends have an arrow."""
    ax = _axes(ax)
    known = [(name, value, low, high) for name, value, low, high in rows if value is not None]
    for place, (_, value, low, high) in enumerate(known):
        if low is not None and high is not None:
            ax.plot([low, high], [place, place], color="#333333", linewidth=1.2)
        elif low is not None or high is not None:
            end, marker = (low, ">") if high is None else (high, "<")
            ax.plot([end, value], [place, place], color="#333333", linewidth=1.2)
            ax.plot([value], [place], marker=marker, markersize=10, color="#333333")
        ax.plot([value], [place], "o", color="#7a9cc6")
    ax.set_yticks(range(len(known)), [name for name, *_ in known])
    ax.invert_yaxis()
    ax.axvline(none, color="#333333", linewidth=0.8)
    ax.set_xlabel(label)
    return ax


def waves(named: Sequence[tuple[str, Any]], ax: Any = None) -> Any:
    """The shares of a table from wave to wave, with their intervals."""
    ax = _axes(ax)
    places = range(len(named))
    for at, cell in enumerate(named[0][1].cells):
        cells = [estimated.cells[at] for _, estimated in named]
        shares = [one.estimate for one in cells]
        label = " x ".join(one or "(missing)" for one in cell.categories)
        if all(one.low is not None for one in cells):
            reach = [[one.estimate - one.low for one in cells], [one.high - one.estimate for one in cells]]
            ax.errorbar(places, shares, yerr=reach, label=label, marker="o", capsize=2)
        else:
            ax.plot(places, shares, label=label, marker="o")
    ax.set_xticks(places, [name for name, _ in named])
    ax.set_ylabel("estimated share")
    ax.set_title(" x ".join(named[0][1].attributes))
    ax.legend()
    return ax


def dependences(pairs: Sequence[Any], ax: Any = None) -> Any:
    """A square of how strongly attributes depend on each other."""
    ax = _axes(ax)
    names = list(dict.fromkeys(name for pair in pairs for name in (pair.a, pair.b)))
    square = [[float("nan")] * len(names) for _ in names]
    for pair in pairs:
        a, b = names.index(pair.a), names.index(pair.b)
        square[a][b] = square[b][a] = pair.cramers_v if hasattr(pair, "cramers_v") else pair.value
    image = ax.imshow(square, vmin=0, vmax=1, cmap="Blues")
    ax.set_xticks(range(len(names)), names, rotation=90)
    ax.set_yticks(range(len(names)), names)
    ax.figure.colorbar(image, ax=ax, label="dependence")
    return ax


def front(fronts: Any, ax: Any = None) -> Any:
    """Utility against privacy, by method."""
    ax = _axes(ax)
    exact = fronts.points is not None and any(point.lower_bound is not None for point in fronts.points)
    lines = [
        ("Warner, UP, FRAPP", fronts.warner),
        ("evolutionary search (square matrices)", fronts.evolved),
        ("exact: the best there is", fronts.points if exact else None),
    ]
    for name, points in lines:
        if points:
            ordered = sorted(points, key=lambda point: point.privacy)
            ax.plot([point.privacy for point in ordered], [point.mse for point in ordered], label=name)
    ax.set_yscale("log")
    ax.set_xlabel("privacy: how often the best guess is wrong")
    ax.set_ylabel("mean squared error of shares")
    ax.legend()
    return ax

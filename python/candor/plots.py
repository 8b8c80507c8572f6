"""Plots by matplotlib, which is needed for them only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["dependences", "front", "table", "tables"]

#: With more bars than this, labels are left out.
MOST_LABELS = 60


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots()[1]


def table(estimated: Any, ax: Any = None) -> Any:
    """Bars of shares with their intervals."""
    ax = _axes(ax)
    cells = estimated.cells
    shares = [cell.estimate for cell in cells]
    places = range(len(cells))
    ax.barh(places, shares, color="#7a9cc6")
    if cells and cells[0].low is not None:
        reach = [[cell.estimate - cell.low for cell in cells], [cell.high - cell.estimate for cell in cells]]
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


def tables(estimated: Sequence[Any], axes: Any = None) -> Any:
    """A figure with a table below the other."""
    import matplotlib.pyplot as plt

    known = [one for one in estimated if one.cells]
    if axes is None:
        heights = [0.6 + 0.25 * min(len(one.cells), MOST_LABELS) for one in known]
        figure, axes = plt.subplots(
            len(known), 1, figsize=(7, sum(heights) + 0.5), height_ratios=heights, squeeze=False, layout="constrained"
        )
        axes = axes[:, 0]
    else:
        figure = axes[0].figure
    for one, ax in zip(known, axes):
        table(one, ax)
    return figure


def dependences(pairs: Sequence[Any], ax: Any = None) -> Any:
    """A square of how strongly attributes depend on each other."""
    ax = _axes(ax)
    names = list(dict.fromkeys(name for pair in pairs for name in (pair.a, pair.b)))
    square = [[float("nan")] * len(names) for _ in names]
    for pair in pairs:
        a, b = names.index(pair.a), names.index(pair.b)
        square[a][b] = square[b][a] = pair.value
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
            ax.plot([point.privacy for point in ordered], [point.utility for point in ordered], label=name)
    ax.set_yscale("log")
    ax.set_xlabel("privacy: how often the best guess is wrong")
    ax.set_ylabel("utility: mean squared error of shares")
    ax.legend()
    return ax

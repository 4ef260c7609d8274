"""Plots the measures of a sentence word by word (needs the extra `plot`)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from rerank_adapters.report.plots import new_figure, save_figure
from rerank_plugins.hhmm.language_model import Complexity


def plot_complexity(words: tuple[str, ...], measures: Complexity, path: Path) -> None:
    """Plot surprisal, entropy and depth, a panel for each of them that the model defines."""
    series = [
        ("surprisal (bits)", measures.surprisal[:-1]),
        ("entropy (bits)", measures.entropy[1:]),
        ("depth", measures.depth[1:]),
    ]
    shown = [(name, values) for name, values in series if np.isfinite(values).all()]
    figure, panels = new_figure(len(shown))
    figure.set_figwidth(max(6.4, 0.5 * len(words) + 1))
    for axes, (name, values) in zip(panels, shown, strict=True):
        axes.plot(range(len(words)), values, marker="o")
        axes.set_ylabel(name)
        axes.set_xticks(range(len(words)), words if axes is panels[-1] else [""] * len(words), rotation=45, ha="right")
    save_figure(figure, path)

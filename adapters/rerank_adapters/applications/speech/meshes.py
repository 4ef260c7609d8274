"""Writes confusion networks in the format of SRILM's word meshes (`wlat-format(5)`, the section on word meshes)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rerank_plugins.lists.confusion_network import ConfusionNetwork

EMPTY = "*DELETE*"


def mesh_lines(name: str, network: ConfusionNetwork) -> Iterator[str]:
    """Yield the lines of a network: a slot on each line, with its words by descending posterior."""
    yield f"name {name}\n"
    yield f"numaligns {len(network.posteriors)}\n"
    yield "posterior 1\n"
    words = (*network.words, EMPTY)
    for slot, row in enumerate(network.posteriors):
        by_posterior = [number for number in np.argsort(-row, kind="stable").tolist() if row[number] > 0]
        yield f"align {slot} " + " ".join(f"{words[number]} {row[number]:.6g}" for number in by_posterior) + "\n"

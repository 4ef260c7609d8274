"""What the concepts of a category are about: their most probable headwords (Wu & Schuler 2011, Figure 2)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.errors import ConfigError
from rerank_plugins.models.svs.model import SvsModel
from rerank_plugins.trees.cleaning import category


class ClusterHead(NamedTuple):
    """A headword of a cluster: P_H(headword | category, concept), and P(concept | headword, category)."""

    headword: str
    p: float
    of_headword: float


class Cluster(NamedTuple):
    """A concept within a category: its number from 1, P(concept | category), its headwords, most probable first."""

    concept: int
    share: float
    heads: tuple[ClusterHead, ...]


def clusters(model: SvsModel, wanted: str, top: int = 10) -> list[Cluster]:
    """The clusters of a category, those of the greatest shares first, each with its `top` headwords.

    `wanted` is a treebank's category (VBD: however it is annotated), an annotated one (VBD-argNP), or a symbol
    (VBD-argNP/ID). Symbols are weighed by their priors. Raises ConfigError where the model has none of that name.
    """
    chosen = _symbols(model, wanted)
    counts = np.zeros((len(model.heads.headwords), model.concepts))
    for symbol in chosen.tolist():
        span = slice(model.heads.starts[symbol], model.heads.starts[symbol + 1])
        np.add.at(counts, model.heads.heads[span], model.heads.p[span] * model.prior[symbol])
    totals, of_head = counts.sum(axis=0), counts.sum(axis=1)
    found = []
    for concept in np.argsort(-totals, kind="stable").tolist():
        if totals[concept] > 0:
            best = np.argsort(-counts[:, concept], kind="stable")[:top].tolist()
            heads = tuple(
                ClusterHead(
                    model.heads.headwords[head],
                    float(counts[head, concept] / totals[concept]),
                    float(counts[head, concept] / of_head[head]),
                )
                for head in best
                if counts[head, concept] > 0
            )
            found.append(Cluster(concept + 1, float(totals[concept] / totals.sum()), heads))
    return found


def _symbols(model: SvsModel, wanted: str) -> NDArray[np.intp]:
    """Numbers of the symbols that are meant."""
    categories = np.array(model.categories)[model.category]
    plain = np.array([category(name) for name in model.categories])[model.category]
    for names in (plain, categories, np.array(model.symbols)):
        if len(found := np.flatnonzero(names == wanted)):
            return found
    tags = sorted(set(plain[model.preterminals]))
    raise ConfigError(f"no category {wanted!r} in the model; its tags are {', '.join(tags)}")

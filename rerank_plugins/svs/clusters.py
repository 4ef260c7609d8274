"""The clusters of a category: the most probable headwords of each of its concepts (Wu & Schuler 2011, Figure 2)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rerank_plugins import ConfigError
from rerank_plugins.kit.trees.treebank_cleaning import category
from rerank_plugins.svs.concept_model import UNKNOWN_FORM, ConceptModel
from rerank_plugins.svs.model import SvsModel

TINY = 1e-300


class ClusterHead(NamedTuple):
    """A headword of a cluster: P_H(headword | category, concept), and P(concept | headword, category)."""

    headword: str
    p: float
    of_headword: float


class Cluster(NamedTuple):
    """A concept within a category: its number (from 1), P(concept | category), and its headwords by falling P_H."""

    concept: int
    proportion: float
    heads: tuple[ClusterHead, ...]


def clusters(model: SvsModel, wanted: str, top: int = 10) -> list[Cluster]:
    """The clusters of a category by falling P(concept | category), each with its `top` headwords.

    `wanted` is a category of the treebank (VBD, with any annotation), an annotated category (VBD-argNP), or a symbol
    (VBD-argNP/ID). Symbols are weighted by their priors. Raises ConfigError if the model has none of that name.
    """
    chosen = _symbols(model, wanted)
    counts = np.zeros((len(model.heads.headwords), model.concepts))
    for symbol in chosen.tolist():
        span = slice(model.heads.starts[symbol], model.heads.starts[symbol + 1])
        np.add.at(counts, model.heads.heads[span], model.heads.p[span] * model.prior[symbol])
    totals, of_head = counts.sum(axis=0), counts.sum(axis=1)
    shown = []
    for concept in np.argsort(-totals, kind="stable").tolist():
        if totals[concept] > 0:
            most_probable = np.argsort(-counts[:, concept], kind="stable")[:top].tolist()
            heads = tuple(
                ClusterHead(
                    model.heads.headwords[head],
                    float(counts[head, concept] / totals[concept]),
                    float(counts[head, concept] / of_head[head]),
                )
                for head in most_probable
                if counts[head, concept] > 0
            )
            shown.append(Cluster(concept + 1, float(totals[concept] / totals.sum()), heads))
    return shown


def concept_clusters(model: ConceptModel, wanted: str, top: int = 10) -> list[Cluster]:
    """The clusters of a part of speech in a model of concepts, by falling P(concept | part of speech).

    Each has its `top` words. Raises ConfigError if the model has no content words of this part of speech.
    """
    names = [name.rpartition("/") for name in model.heads]
    mine = np.flatnonzero([part == wanted and count > 0 for (_, _, part), count in zip(names, model.used, strict=True)])
    if not len(mine):
        parts = sorted({part for (_, _, part), count in zip(names, model.used, strict=True) if count > 0})
        raise ConfigError(f"no part of speech {wanted!r} in the model; it has {', '.join(parts)}")
    joint = model.emission[mine].astype(np.float64) * model.used[mine, None]
    p = joint / np.maximum(joint.sum(axis=0), TINY)
    of_concept = p * model.prior
    of_word = of_concept / np.maximum(of_concept.sum(axis=1, keepdims=True), TINY)
    proportion = model.used[mine] @ of_word / model.used[mine].sum()
    shown = []
    for concept in np.argsort(-proportion, kind="stable").tolist():
        words = [word for word in np.argsort(-p[:, concept], kind="stable") if names[mine[word]][0] != UNKNOWN_FORM]
        heads = tuple(
            ClusterHead(names[mine[word]][0], float(p[word, concept]), float(of_word[word, concept]))
            for word in words[:top]
        )
        shown.append(Cluster(concept + 1, float(proportion[concept]), heads))
    return shown


def _symbols(model: SvsModel, wanted: str) -> NDArray[np.intp]:
    """The numbers of the symbols with this category, annotated category or name."""
    categories = np.array(model.categories)[model.category]
    plain = np.array([category(name) for name in model.categories])[model.category]
    for names in (plain, categories, np.array(model.symbols)):
        if len(numbers := np.flatnonzero(names == wanted)):
            return numbers
    tags = sorted(set(plain[model.preterminals]))
    raise ConfigError(f"no category {wanted!r} in the model; its tags are {', '.join(tags)}")

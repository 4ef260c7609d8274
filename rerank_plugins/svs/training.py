"""Training of structured vectorial semantics: states, headwords, clusters, and the five models estimated from them.

Words enter through P_H and back-off (Wu & Schuler 2011, §3.2): with ĥ(w) the class of a word, a kept headword or unk,
P(w | lci) = P_H(ĥ(w) | lci) · P(w | ĥ(w), lc), where P(w | lc) is the smoothed lexicon of the treebank grammar of the
same trees. A word that has a preterminal by smoothing alone has the concepts of unk there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from rerank_plugins import FloatArray, IntArray, Tree, __version__
from rerank_plugins.constituency.grammar import numbered
from rerank_plugins.constituency.lexicon import Lexicon, Smoothing, Tagged, with_unknown
from rerank_plugins.constituency.training import KEPT
from rerank_plugins.constituency.treebank_grammar import CountedTrees, grammar_of_counts, productions
from rerank_plugins.kit.trees.treebank_cleaning import CRAFT_LABELS, clean
from rerank_plugins.kit.vocabulary.signatures import UnknownWords
from rerank_plugins.svs.clustering import Clustering, EmStep, Expected, Parameters, cluster
from rerank_plugins.svs.model import HeadTable, SvsModel, VectorLexicon
from rerank_plugins.svs.observed_trees import Observed, headword, observe
from rerank_plugins.svs.states import category_and_relation, named, state_forest


def model_of(
    observed: Observed, parameters: Parameters, expected: Expected, lexicon: VectorLexicon,
    chains: Mapping[tuple[str, str], str], settings: Mapping[str, Any],
) -> SvsModel:  # fmt: skip
    """The model with these parameters and the expected counts under them; `chains` are those of states.py."""
    labels, rules = observed.forest.labels, observed.rewritings
    phrases, all_ = len(rules.binary), len(rules.binary) + len(rules.unary)
    return SvsModel(
        labels, *categories(labels), observed.relations, observed.relation, rules.binary, parameters.p[:phrases],
        rules.unary, parameters.p[phrases:all_],
        tuple(chains[labels[above], labels[below]] for above, below in rules.unary), parameters.transfer,
        prior(observed, expected), parameters.root, lexicon, head_table(observed, expected), settings,
    )  # fmt: skip


def categories(symbols: Sequence[str]) -> tuple[tuple[str, ...], IntArray]:
    """The distinct categories of symbols, and (S) the number of each symbol's category."""
    return numbered([category_and_relation(symbol)[0] for symbol in symbols])


def prior(observed: Observed, expected: Expected) -> FloatArray:
    """(S, K) π(lci), eq. 13: the proportion of all constituents that are an lc with this concept."""
    totals = np.zeros((len(observed.forest.labels), expected.posterior.shape[1]))
    np.add.at(totals, observed.forest.label, expected.posterior * observed.forest.node_weights[:, None])
    return np.asarray(totals / totals.sum(), np.float64)


def head_table(observed: Observed, expected: Expected) -> HeadTable:
    """P_H of every symbol, eq. 10: among its constituents with a concept, the proportion of each headword."""
    label, head = observed.forest.label.astype(np.int64), observed.head
    symbols, size = len(observed.forest.labels), len(observed.headwords)
    pairs, which = np.unique(label * size + head, return_inverse=True)
    counts = np.zeros((len(pairs), expected.posterior.shape[1]))
    np.add.at(counts, which.ravel(), expected.posterior * observed.forest.node_weights[:, None])
    owner, heads = np.divmod(pairs, size)
    totals = np.zeros((symbols, counts.shape[1]))
    np.add.at(totals, owner, counts)
    starts = np.searchsorted(owner, np.arange(symbols + 1))
    p = counts / np.maximum(totals, np.finfo(float).tiny)[owner]
    return HeadTable(observed.headwords, starts.astype(np.int32), heads.astype(np.int32), p)


def vector_lexicon(observed: Observed, parameters: Parameters, lexicon: Lexicon) -> VectorLexicon:
    """P(word | lci) from P_H and the lexicon of the treebank grammar, normalised.

    Each entry of the lexicon is multiplied by P_H(ĥ | lci) / P_H(ĥ | lc). If the preterminal was not seen with the
    class ĥ of the word, the ratio of unk takes its position, or 1 if it was not seen with unk either.
    """
    rules = observed.rewritings
    first = len(rules.binary) + len(rules.unary)
    ratio = np.concatenate([parameters.p[first:] / rules.p[first:, None], np.ones((1, parameters.p.shape[1]))])
    size = len(observed.headwords)
    keys = rules.emission[:, 0].astype(np.int64) * size + rules.emission[:, 1]
    rows = np.full(len(lexicon.symbols), len(keys))
    word_class = word_classes(lexicon.words, observed.headwords)[lexicon.word_of]
    for classes in (np.full_like(word_class, size - 1), word_class):
        wanted = lexicon.symbols.astype(np.int64) * size + classes
        position = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        rows = np.where(keys[position] == wanted, position, rows)
    p = np.exp(lexicon.logp)[:, None] * ratio[rows]
    totals = np.zeros((int(lexicon.symbols.max()) + 1, p.shape[1]))
    np.add.at(totals, lexicon.symbols, p)
    totals[totals == 0] = 1
    p /= totals[lexicon.symbols]
    return VectorLexicon(lexicon.words, lexicon.starts, lexicon.symbols, p, unknown_types=lexicon.unknown_types)


def word_classes(words: Sequence[str], headwords: Sequence[str]) -> IntArray:
    """(words) the class of each word: its position among the headwords, the last of which is unk."""
    number = {name: i for i, name in enumerate(headwords[:-1])}
    return np.array([number.get(headword(word), len(headwords) - 1) for word in words], np.int32)


@dataclass(frozen=True)
class SvsSettings:
    """The settings of training."""

    language: str
    annotations: tuple[str, ...] = ("klein-manning",)  # names of the annotations of categories (states.py)
    rare: int = 20  # categories, relations and symbols with a lower count are replaced by less annotated ones
    headwords: int = 1000  # number of headwords to keep
    clustering: Clustering = field(default_factory=Clustering)  # how the headwords are clustered
    unknown: UnknownWords = field(default_factory=UnknownWords)  # the words of the treebank that become signatures
    smoothing: Smoothing = field(default_factory=Smoothing)  # how the lexicon is smoothed


def train_svs(
    trees: Sequence[Iterable[Tree]],
    weights: Sequence[float],
    settings: SvsSettings,
    report: Callable[[EmStep], None] = lambda step: None,
    tagged: Tagged | None = None,
) -> SvsModel:
    """A model of several treebanks, each with the weight of its trees.

    `tagged` words (constituency/lexicon.py) are added to the lexicon, together with the words that occur once in a
    treebank. Raises FormatError where there are no trees, ConfigError for an annotation that does not exist.
    """
    annotations = named(settings.annotations)
    streams = [(kept for tree in bank if (kept := clean(tree, CRAFT_LABELS, KEPT))) for bank in trees]
    counted = CountedTrees(streams, weights, tags=tagged is not None)
    forest, chains = state_forest(
        counted, annotations, settings.rare, settings.unknown, lambda _: counted.tree_weights()
    )
    provenance = {**asdict(settings), "trees": counted.sizes, "version": __version__}
    if tagged:
        tagged = with_unknown(tagged, counted.tagged, forest.words)
    names, smoothing = categories(forest.labels), settings.smoothing
    grammar = grammar_of_counts(forest.labels, *names, forest, productions(forest), smoothing, provenance, tagged)
    observed = observe(forest, settings.headwords)
    parameters, expected = cluster(observed, settings.clustering, report)
    words = vector_lexicon(observed, parameters, grammar.lexicon)
    return model_of(observed, parameters, expected, words, chains, provenance)

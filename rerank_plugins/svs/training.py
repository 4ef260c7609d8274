"""Training of structured vectorial semantics on treebank trees: states, headwords, clusters and models."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field

from rerank_plugins import __version__
from rerank_plugins.constituency.counted_trees import CountedTrees
from rerank_plugins.constituency.lexicon_smoothing import Smoothing
from rerank_plugins.constituency.tagged_words import Tagged, with_unknown
from rerank_plugins.constituency.training import KEPT
from rerank_plugins.constituency.treebank_grammar import grammar_of_counts, productions
from rerank_plugins.core.constituency_tree import Tree
from rerank_plugins.kit.trees.treebank_cleaning import CRAFT_LABELS, clean
from rerank_plugins.kit.vocabulary.signatures import UnknownWords
from rerank_plugins.svs import headword_concepts as lexicalised
from rerank_plugins.svs.clustering import Clustering, EmStep, cluster
from rerank_plugins.svs.estimation import categories, clustered_lexicon, model_of
from rerank_plugins.svs.model import SvsModel
from rerank_plugins.svs.observed_trees import observe
from rerank_plugins.svs.states import state_forest
from rerank_plugins.svs.subcategorisation import named


@dataclass(frozen=True)
class SvsSettings:
    """The settings of training.

    `annotations`  names of the annotations of categories (subcategorisation.py)
    `rare`         categories, relations and symbols with a lower count are replaced by less annotated ones
    `headwords`    number of headwords to keep
    `lexicalised`  whether the headwords themselves are the concepts, instead of clusters
    `clustering`   how the headwords are clustered
    `unknown`      the words of the treebank that become signatures
    `smoothing`    how the lexicon is smoothed
    """

    language: str
    annotations: tuple[str, ...] = ("klein-manning",)
    rare: int = 20
    headwords: int = 1000
    lexicalised: bool = False
    clustering: Clustering = field(default_factory=Clustering)
    unknown: UnknownWords = field(default_factory=UnknownWords)
    smoothing: Smoothing = field(default_factory=Smoothing)


def train_svs(
    trees: Sequence[Iterable[Tree]],
    weights: Sequence[float],
    settings: SvsSettings,
    report: Callable[[EmStep], None] = lambda step: None,
    tagged: Tagged | None = None,
) -> SvsModel:
    """A model of several treebanks, each with the weight of its trees.

    `tagged` words (constituency/tagged_words.py) are added to the lexicon, together with the words that occur once in a
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
    grammar = grammar_of_counts(forest.labels, *names, forest.words, productions(forest), smoothing, provenance, tagged)
    observed = observe(forest, settings.headwords)
    if settings.lexicalised:
        parameters, expected = lexicalised.count(observed)
        words = lexicalised.headword_lexicon(observed, grammar.lexicon)
    else:
        parameters, expected = cluster(observed, settings.clustering, report)
        words = clustered_lexicon(observed, parameters, grammar.lexicon)
    return model_of(observed, parameters, expected, words, chains, provenance)

"""What is done with a model of each kind: a few sentences are scored, parsed or compared, by its plugin if it has one."""

from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

import numpy as np

from rerank_adapters.applications.similarity.model import read_similarity
from rerank_plugins import Hypothesis, NBestList
from rerank_plugins.core.constituency_tree import read_trees
from rerank_plugins.core.dependency_tree import DependencyTree
from rerank_plugins.dependency.model import read_model as read_dependency
from rerank_plugins.missing_words.model import METHODS
from rerank_plugins.missing_words.model import read_model as read_missing_words
from rerank_plugins.similarity.esa_model import read_model as read_esa
from rerank_plugins.similarity.meaning import meanings
from rerank_plugins.similarity.sentence_meanings import read_concepts
from rerank_plugins.substitutes.fastsubs import FastSubs
from rerank_plugins.substitutes.queues import FILE as QUEUES
from rerank_plugins.svs.given_trees import ConceptsOnTrees
from rerank_plugins.svs.model import read_model as read_svs
from rerank_plugins.translation.alignment.model import read_model as read_alignment
from rerank_plugins.translation.translation_memory import read_model as read_memory
from rerank_plugins.treelet.headlex import read_model as read_headlex
from rerank_plugins.treelet.model import read_model as read_treelets
from tests.fuzz_targets import CLASS_TREES, LINES, PAIRS, REGISTRY, ngrams
from tests.test_contracts import BRACKETS

Value = tuple[np.ndarray, bool]  # numbers, and whether they are ln p
Use = Callable[[Path], Iterator[Value]]
PARSED = [("the", "cat", "sat"), ("a", "dog"), ("a", "zzz", "sat", "slowly")]
PLAIN = [tuple(LINES[0].split()), tuple(LINES[2].split()), ("a", "zzz", "ran")]
SOURCES = ("der Hund lief heim", "eine Katze", "wir sahen zzz")
TARGETS = ("the dog ran home", "a cat", "we zzz")
TREES = list(read_trees(BRACKETS.splitlines()))
DEPENDENCIES = [
    DependencyTree(("a", "dog"), (1, -1), ("det", "root")), DependencyTree(("ran",), (-1,), ("root",)),
    DependencyTree(("zzz", "c"), (1, -1), ("x", "root")), *CLASS_TREES[:3],
]  # fmt: skip


def plugin(kind: str, name: str, **options: object):
    """A built-in plugin with these options."""
    return REGISTRY.entries[kind][name].factory(**options)


def nbest(texts, source: str | None = None) -> NBestList:
    """A list of these hypotheses."""
    return NBestList("0", tuple(map(Hypothesis, texts)), source=source)


def language_model(name: str, sentences, **options: object) -> Use:
    """Scores of words and sentences, and unigram scores."""

    def use(path: Path) -> Iterator[Value]:
        model = plugin("language_model", name, model=path, **options)
        scores = [*model.score(sentences), model.totals(sentences), *model.unigram_scores(sentences)]
        yield from ((values, True) for values in scores)
        yield model.values(sentences), False

    return use


def parser(name: str, sentences, **options: object) -> Use:
    """Trees with their ln p."""

    def use(path: Path) -> Iterator[Value]:
        for parse in plugin("parser", name, model=path, **options).parse(sentences):
            yield np.array([tree.log_probability for tree in parse.constituents]), True
            parse.to_brackets()

    return use


def feature(name: str, lists, **options: object) -> Use:
    """Values of lists."""

    def use(path: Path) -> Iterator[Value]:
        extractor = plugin("feature", name, model=path, **options)
        yield from ((extractor.extract(each), False) for each in lists)

    return use


def all_of(*uses: Use) -> Use:
    """Several uses."""
    return lambda path: chain.from_iterable(use(path) for use in uses)


def treelets(read) -> Use:
    """Scores of trees."""

    def use(path: Path) -> Iterator[Value]:
        model = read(path)
        for values in (
            model.score_trees(TREES),
            model.floor(PARSED),
            model.score_sentences([[tree] for tree in TREES]),
        ):
            yield values, True
        for values in model.vocabulary.unigram_scores(PARSED):
            yield values, True

    return use


def of_dependencies(path: Path) -> Iterator[Value]:
    """Scores of trees, and floors of words."""
    model = read_dependency(path)
    for values in (*model.score(DEPENDENCIES), model.totals(DEPENDENCIES), model.floor(("a", "dog", "zzz"))):
        yield values, True


def of_hhmm(path: Path) -> Iterator[Value]:
    """Scores, and measures of complexity."""
    yield from language_model("hhmm-lm", PARSED, depth=3)(path)
    for values in plugin("language_model", "hhmm-lm", model=path, depth=3).complexity(PARSED):
        yield np.concatenate([values.entropy, values.depth]), False
    yield from parser("hhmm", PARSED[:2], depth=3)(path)


def of_vectors(path: Path) -> Iterator[Value]:
    """Trees by both decoders, similarities, and concepts on given trees."""
    sentences = [("a", "b", "c"), ("b", "a"), ("c", "c", "zzz")]
    yield from parser("svs", sentences)(path)
    yield from parser("svs", sentences, decoder="vector", threshold=0.0)(path)
    yield from feature("svs-similarity", [nbest(["a b c", "b a"])], to=("list",))(path)
    concepts = ConceptsOnTrees(read_svs(path))
    for values in (concepts.of_words(TREES), concepts.information(["a", "zzz"]), concepts.mean):
        yield values, False


def of_concepts(path: Path) -> Iterator[Value]:
    """Posteriors and information of words."""
    concepts = read_concepts(path)
    yield concepts.mean, False
    yield concepts.information(["cat", "zzz", "a"]), False
    for each in meanings(concepts, TREES):
        yield from ((values, False) for values in (each.posteriors, each.ratios, each.information))


def of_queues(path: Path) -> Iterator[Value]:
    """Substitutes by these queues."""
    substitutes = FastSubs(ngrams())
    substitutes.__dict__["queues"] = QUEUES.read(path)
    for words in PLAIN:
        yield from ((substitutes.top(words, place, 3)[1], True) for place in range(len(words)))


def of_index(path: Path) -> Iterator[Value]:
    """Cosines of sentences and words."""
    model = read_esa(path)
    yield model.cosines([(("the", "cat"), ("a", "dog", "cat")), (("the", "dog"), ("zzz",))]), False
    yield model.word_similarities(("the", "cat", "dog"), ("sat", "cat", "ran", "a")), False


def of_missing_words(path: Path) -> Iterator[Value]:
    """The place of a missing word, and the word."""
    model = read_missing_words(path)
    for values in chain.from_iterable(model.locate(PLAIN, method) for method in METHODS):
        yield values, True
    filled = model.fill(model.neighbours(PLAIN, [0, 0, 0]), 3)
    yield np.log(np.maximum(filled.p, 1e-9)), True
    yield filled.parts, False


def of_memory(path: Path) -> Iterator[Value]:
    """The nearest pairs and their translations."""
    yield from feature("translation-memory", [nbest(TARGETS, source) for source in SOURCES])(path)
    model = read_memory(path)
    for source in SOURCES:
        found = model.nearest(source, 3)
        yield found.similarities, False
        assert all(isinstance(model.target.text(pair), str) for pair in found.pairs.tolist())


def of_alignment(path: Path) -> Iterator[Value]:
    """Values of lists, and ln p and links of pairs."""
    yield from feature("word-translation", [nbest(TARGETS, source) for source in SOURCES])(path)
    model = read_alignment(path)
    for source, target in PAIRS[:3]:
        aligned = model.align(source.split(), [target.split()])
        yield aligned.ln_p, True
        assert all(word < len(source.split()) for word in aligned.links.tolist())


def of_similarity(path: Path) -> Iterator[Value]:
    """Scores of measures, and vectors of sentences."""
    model = read_similarity(path)
    yield model.scores(np.arange(6.0).reshape(3, 2)), False
    for weighting in ("none", "idf", "sif") if model.vectors else ():
        yield model.vectors.sentence_vectors(PLAIN, "document", weighting), False


def of_parser(path: Path) -> Iterator[Value]:
    """Trees of dependencies."""
    for parse in plugin("parser", "biaffine", model=path).parse(PARSED):
        yield np.array(parse.dependencies.heads), False


TEXT = [nbest([" ".join(words) for words in PLAIN])]
OF_WORDS = all_of(language_model("ngram-lm", PLAIN), language_model("unigram", PLAIN))
USES: dict[str, Use] = {
    "biaffine parser": of_parser,
    "dependency": of_dependencies,
    "dependency with classes": of_dependencies,
    "n-grams": OF_WORDS,
    "compact n-grams": OF_WORDS,
    "substitute queues": of_queues,
    "treelets": treelets(read_treelets),
    "treelets with numbers": treelets(read_treelets),
    "hhmm": of_hhmm,
    "pcfg": all_of(language_model("pcfg", PARSED), parser("pcfg", PARSED), parser("hhmm", PARSED[:2], depth=3)),
    "svs": of_vectors,
    "concepts": of_concepts,
    "headlex": treelets(read_headlex),
    "random indexing": all_of(
        *(
            feature("random-indexing", TEXT, to=("list",), weight=weight, space=space)
            for weight in ("none", "idf", "sif")
            for space in ("document", "window")
        )
    ),
    "esa": of_index,
    "missing words": of_missing_words,
    "translation memory": of_memory,
    "word lexicon": feature("word-lexicon", [nbest(TARGETS, source) for source in SOURCES]),
    "word alignment": of_alignment,
    "similarity": of_similarity,
    "similarity with a forest": of_similarity,
}

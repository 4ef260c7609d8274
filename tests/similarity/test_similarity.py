"""Textual similarity: measures beside their twins and by hand, formats, selection, mixing, the commands."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rerank_adapters.applications.similarity.correlation import correlate, pearson, ranks
from rerank_adapters.applications.similarity.folds import FOLDS, folds_of
from rerank_adapters.applications.similarity.forest import train_forest
from rerank_adapters.applications.similarity.learning import (
    SimilaritySettings,
    Training,
    fit,
    left_out,
    train_similarity,
)
from rerank_adapters.applications.similarity.model import read_similarity, write_similarity
from rerank_adapters.applications.similarity.pairs_file import read_sentence_pairs
from rerank_adapters.applications.similarity.scores import similarity_records, similarity_table
from rerank_adapters.applications.similarity.selection import select
from rerank_adapters.applications.similarity.shrinkage import centred, shrink
from rerank_adapters.applications.similarity.train import by_source
from rerank_plugins import ConfigError, FormatError, ModelError
from rerank_plugins.similarity import esa_training as esa_training
from rerank_plugins.similarity import random_indexing_training as vector_training
from rerank_plugins.similarity.esa_training import Document
from rerank_plugins.similarity.measures import pair_measures, strings, tfidf
from rerank_plugins.similarity.measures.sentence_parts import Lexicon, named_entities
from rerank_plugins.similarity.measures.strings import greedy_string_tiling, longest_common_substring
from rerank_plugins.similarity.measures.table import DKPRO, MAYO, PAPER, TAKELAB, Measures
from rerank_plugins.similarity.random_indexing import write_model
from rerank_plugins.similarity.wordnet import MEASURES as WORDNET_MEASURES
from rerank_plugins.similarity.wordnet import WordNet
from tests.command_line import done, refused
from tests.conftest import ROOT
from tests.model_files import check_damage_is_seen
from tests.similarity import naive_sentence_similarity as twins
from tests.similarity import naive_string_similarity as naive
from tests.similarity.small_wordnet import write_wordnet

PAIRS = ROOT / "example_nbest" / "similarity" / "pairs.tsv"
LEXICON = Lexicon()
SEQUENCE = st.lists(st.integers(0, 2), max_size=9)


@settings(max_examples=60)
@given(SEQUENCE, SEQUENCE, st.integers(1, 3))
def test_kernels_agree_with_their_twins(a, b, shortest):
    x, y = np.array(a, np.int64), np.array(b, np.int64)
    assert longest_common_substring(x, y) == naive.longest_common_substring(a, b)
    assert greedy_string_tiling(x, y, shortest) == naive.greedy_string_tiling(a, b, shortest)


@settings(max_examples=50)
@given(st.text("abc ", max_size=8), st.text("abc ", max_size=8))
def test_subsequences(a, b):
    wanted = naive.longest_common_subsequence(a, b)
    assert strings.subsequence(a, b) * (len(a) + len(b)) == pytest.approx(2 * wanted if a or b else 0)


def text(sentence):
    return LEXICON.text(sentence.split())


def test_overlaps_by_hand():
    a, b = text("the old cat sat ."), text("the cat slept")
    values = dict(zip(pair_measures.OVERLAP, pair_measures.overlap(a, b, LEXICON), strict=True))
    assert values["unigram"] == pytest.approx(2 * 2 / (4 + 3))
    assert values["bigram"] == 0
    assert values["content_unigram"] == pytest.approx(2 * 1 / (len(a.content) + len(b.content)))
    info = LEXICON.information
    in_second = (info("the") + info("cat")) / (info("the") + info("cat") + info("slept"))
    assert values["weighted_in_second"] == pytest.approx(in_second)
    assert info("the") < info("cat")


def test_names_by_their_capitals():
    def found(sentence):
        return named_entities(sentence.split())

    assert found("We met Anna Berg of the Bank of England in Oslo .") == ("anna berg of the bank of england", "oslo")
    assert found("Yesterday it rained in Rome and then") == ("rome",)
    assert found("Rome Paris fell") == ("rome paris",)
    assert found("HEADLINES LIKE TO SHOUT") == ()
    assert found("all lower case") == ()
    assert found("") == ()


def test_names_aligned_by_hand():
    """The pair that is most alike comes first; what is left over counts as unlike (equation 2)."""
    same = lambda x, y: {("a", "x"): 0.9, ("a", "y"): 0.8, ("b", "x"): 0.85, ("b", "y"): 0.1}[x, y]  # noqa: E731
    assert pair_measures.aligned_entities(["a", "b"], ["x", "y"], same) == pytest.approx((0.9 + 0.1) / 2)
    assert pair_measures.aligned_entities(["a", "b"], ["x"], same) == pytest.approx(0.9 / 2)
    left, right = text("he met Ann Lee in Rome"), text("she saw Ann Lee in Oslo")
    values = dict(zip(pair_measures.ENTITIES, pair_measures.entities(left, right, LEXICON), strict=True))
    assert values["overlap"] == pytest.approx(2 * 1 / 4)
    assert 0.5 < values["aligned_subsequence"] < 1


def test_numbers_and_lengths():
    values = dict(
        zip(pair_measures.SHAPE, pair_measures.shape(text("in 1,890 or 12"), text("in 1890"), LEXICON), strict=True)
    )
    assert values["numbers_overlap"] == pytest.approx(2 / 3)
    assert values["numbers_subset"] == 1
    assert values["length"] == 0.5


def test_weights_come_from_the_pairs():
    pairs = [
        (text("the act of sailing"), text("the act of sleeping")),
        (text("the act of war"), text("the act of ice")),
    ]
    bags, idf = tfidf.bags_of(pairs, tfidf.words)
    assert idf["act"] == pytest.approx(np.log(5 / 5))
    assert idf["war"] == pytest.approx(np.log(5 / 2))
    assert tfidf.cosine(*bags[0], idf) == 0
    values = tfidf.columns(pairs)
    assert values.shape == (2, len(tfidf.NAMES))


@pytest.fixture(scope="module")
def vectors():
    lines = [part for line in PAIRS.read_text(encoding="utf-8").splitlines() for part in line.split("\t")[1:]]
    lines = [line.replace(".", " .") for line in lines]
    return vector_training.train([("pairs", lines)], vector_training.Settings(min_count=1))


@pytest.fixture(scope="module")
def wordnet(tmp_path_factory):
    return WordNet(write_wordnet(tmp_path_factory.mktemp("wordnet")), {"dog": 0.4, "cat": 0.2, "the": 0.4})


@pytest.fixture(scope="module")
def documents():
    texts = ("the cat sat on a puppy", "a dog and a cat", "12 dogs in Rome", "the dog sat", "Rome and the UN")
    collection = [Document(str(i), (text.lower(),)) for i, text in enumerate(texts)]
    return esa_training.train(collection, esa_training.Settings(shortest=1, min_count=1))


WORDS = [
    "a",
    "the",
    "cat",
    "dog",
    "puppy",
    "Rome",
    "UN",
    "Oslo",
    "12",
    "1,200",
    ".",
    "?",
    ".DJI",
    "ünheard",
    "sat",
    "sofa",
]
SENTENCES = st.lists(st.sampled_from(WORDS), max_size=6)
PAIRS_DRAWN = st.lists(st.tuples(SENTENCES, SENTENCES), min_size=1, max_size=4)
SYMBOL, FUNCTION, ONE = ["."], ["the", "a"], ["sofa"]
NO_LIKENESS = {
    "shape.size", "shape.short", "shape.numbers_size", "shape.stocks_size", "entities.none", "wordnet.greedy_lemmas",
}  # fmt: skip
ONE_SIDED = {
    "ngrams.containment_1", "ngrams.containment_1_content", "ngrams.containment_2_content", "overlap.weighted_in_second",
}  # fmt: skip


@pytest.fixture(scope="module")
def every_measure(vectors, wordnet, documents):
    return Measures(vectors, LEXICON, wordnet=wordnet, esa=documents)


@pytest.fixture(scope="module")
def tables(vectors):
    """By space the vectors of the drawn words that have one."""
    return {
        space: {
            word: vectors.vectors(space)[vectors.number[word]].astype(float).tolist()
            for word in map(str.lower, WORDS)
            if word in vectors.number
        }
        for space in vectors.spaces
    }


def values_of_twins(measures, tables, a, b, pairs):
    """By name, those of the families that have a twin for sentences; cosines of ESA have theirs in test_esa.py."""
    told = LEXICON.information
    names = [named_entities(side) for side in (a, b)]
    by_word = {
        name: lambda w, u, i=i: measures.wordnet.similarities([w], [u])[i, 0, 0]
        for i, name in enumerate(WORDNET_MEASURES)
    }
    families = {
        "overlap": twins.overlap(a, b, told), "ngrams": twins.ngrams(a, b, told), "strings": twins.strings(a, b, told),
        "entities": twins.entities(*names), "shape": twins.shape(a, b, told), "tfidf": twins.tfidf(a, b, pairs),
        "wordnet": twins.wordnet(a, b, by_word, told, pairs),
    }  # fmt: skip
    for space, table in tables.items():
        found = twins.vectors(a, b, table, told, pairs)
        families.setdefault("vectors", {}).update({f"{space}_{name}": value for name, value in found.items()})
    alike = lambda w, u: measures.esa.word_similarities([w], [u])[0, 0]  # noqa: E731
    families["esa"] = {"aligned": twins.aligned(twins.words(a), twins.words(b), alike, twins.idf(twins.words, pairs))}
    return {f"{family}.{name}": value for family, values in families.items() for name, value in values.items()}


@pytest.mark.slow
@settings(max_examples=12)
@given(pairs=PAIRS_DRAWN)
@example(pairs=[(SYMBOL, SYMBOL), (SYMBOL, ["?"]), (FUNCTION, FUNCTION), (ONE, ONE)])
@example(pairs=[([], []), ([], ["cat"]), (["the", "dog", "sat"], ["the", "cat", "sat"]), (["UN"], ["UN", "12"])])
def test_measures_are_finite_and_bounded_and_those_of_their_twins(every_measure, tables, pairs):
    check_against_the_twins(every_measure, tables, pairs)


def test_measures_of_an_example_are_those_of_their_twins(every_measure, tables):
    pairs = [([], ["cat"]), (["the", "dog", "sat", "a", "cat", "."], ["the", "cat", "sat", "12", "puppy"])]
    check_against_the_twins(every_measure, tables, [*pairs, (["UN"], ["UN", "12"]), (["the", "dog"], ["the", "dog"])])


def check_against_the_twins(every_measure, tables, pairs):
    """Where both sentences are the same and not empty, 1 stands in place of what the definition gives."""
    measures = every_measure
    values = measures.columns(pairs)
    assert values.shape == (len(pairs), len(measures.names))
    assert np.isfinite(values).all()
    for (a, b), row in zip(pairs, values, strict=True):
        found = dict(zip(measures.names, row.tolist(), strict=True))
        for name, value in found.items():
            greatest = 1 + 1e-9 if name not in NO_LIKENESS or name in ("shape.short", "entities.none") else np.inf
            assert (-1 if name.startswith("vectors") else 0) - 1e-9 <= value <= greatest, name
        wanted = values_of_twins(measures, tables, a, b, pairs)
        assert set(found) - set(wanted) == {"esa.cosine", "esa.cosine_idf"}
        for name, value in wanted.items():
            equal = a and a == b and name not in NO_LIKENESS
            assert found[name] == pytest.approx(1 if equal else value, abs=1e-6), (name, a, b)


@settings(max_examples=40)
@given(sentence=SENTENCES.filter(bool), others=st.lists(st.tuples(SENTENCES, SENTENCES), max_size=2))
@example(sentence=SYMBOL, others=[])
@example(sentence=["?"], others=[([], [])])
@example(sentence=FUNCTION, others=[])
@example(sentence=ONE, others=[])
def test_equal_sentences_are_as_alike_as_can_be(every_measure, sentence, others):
    """Whatever is left of them when punctuation, function words or unknown words are out."""
    values = every_measure.columns([(sentence, list(sentence)), *others])[0]
    found = dict(zip(every_measure.names, values.tolist(), strict=True))
    assert {name for name, value in found.items() if value != pytest.approx(1)} <= NO_LIKENESS


@settings(max_examples=40)
@given(pairs=PAIRS_DRAWN)
def test_measures_are_symmetric(every_measure, pairs):
    values, swapped = every_measure.columns(pairs), every_measure.columns([(b, a) for a, b in pairs])
    sided = [i for i, name in enumerate(every_measure.names) if name in ONE_SIDED]
    np.testing.assert_allclose(np.delete(values, sided, axis=1), np.delete(swapped, sided, axis=1), atol=1e-9)
    assert len(sided) == len(ONE_SIDED)


@settings(max_examples=60)
@given(st.text("ab ", min_size=1, max_size=12), st.text("ab ", min_size=1, max_size=12))
def test_tilings_are_symmetric(a, b):
    assert strings.tiling(a, b, 1) == strings.tiling(b, a, 1)
    assert strings.tiling(a, a) == 1


def test_equal_sentences_have_one_and_empty_ones_nothing(vectors):
    measures = Measures(vectors, LEXICON)
    sentence = ["A", "cat", "is", "sleeping", "on", "the", "sofa", "in", "Rome", "with", "3", "dogs"]
    equal, empty = measures.columns([(sentence, sentence), ([], [])])
    named = dict(zip(measures.names, equal, strict=True))
    free = {"shape.size", "shape.short", "shape.numbers_size", "shape.stocks_size", "entities.none"}
    assert {name for name, value in named.items() if abs(value - 1) > 1e-6} == free
    by_definition = [
        family.columns(measures._texts([(sentence, sentence), ([], [])])) for family in measures.families.values()
    ]
    np.testing.assert_allclose(np.concatenate([values[0] for values in by_definition]), equal, atol=1e-6)
    nothing = {name: value for name, value in zip(measures.names, empty, strict=True) if value}
    assert nothing == {
        "entities.none": 1, "shape.length": 1, "shape.information": 1, "shape.short": 1, "shape.numbers_overlap": 1,
        "shape.numbers_subset": 1, "shape.stocks_overlap": 1,
    }  # fmt: skip
    assert Measures(None, LEXICON).columns([]).shape == (0, len(Measures(None, LEXICON).names))


def test_no_word_is_left_by_hand(every_measure):
    """`.` beside `?` has nothing in common but what both lack: names, numbers, stock symbols."""
    equal, other = every_measure.columns([(["."], ["."]), (["."], ["?"])])
    found = dict(zip(every_measure.names, zip(equal, other, strict=True), strict=True))
    assert found["overlap.unigram"] == found["tfidf.words"] == found["esa.cosine"] == (1, 0)
    assert found["wordnet.path"] == found["vectors.document_none"] == found["strings.words_edits"] == (1, 0)
    assert {name for name, (_, value) in found.items() if value} == {
        "shape.length", "shape.information", "shape.short", "shape.numbers_overlap", "shape.numbers_subset",
        "shape.stocks_overlap", "entities.none",
    }  # fmt: skip


def test_content_trigrams_and_stock_symbols_by_hand():
    a, b = text("the sofa slept beside the puppy"), text("a sofa slept beside puppies")
    assert a.content == ("sofa", "slept", "beside", "puppy")
    assert dict(zip(pair_measures.OVERLAP, pair_measures.overlap(a, b, LEXICON), strict=True))[
        "content_trigram"
    ] == pytest.approx(2 / 4)
    a, b = text("gains : .DJI and .IXIC rose ."), text(".DJI fell to .5 .")
    values = dict(zip(pair_measures.SHAPE, pair_measures.shape(a, b, LEXICON), strict=True))
    assert values["stocks_size"] == pytest.approx(np.log(1 + 2 + 1))
    assert values["stocks_overlap"] == pytest.approx(2 / (2 / 1 + 1 / 1))


FORMS = {
    "scored.tsv": "4.5\ta b\tc d\n0\te\t\n",
    "plain.tsv": "a b\tc d\ne\t\n",
    "last.tsv": "a b\tc d\t4.5\ne\t\t0\n",
    "benchmark.csv": 'a b,c d,4.5\n"e","",0\n',
    "original.csv.tsv": "news\tx\t2012\t1\t4.5\ta b\tc d\tlicence\nnews\tx\t2012\t2\t0\te\t\n",
}


@pytest.mark.parametrize("name", FORMS)
def test_forms_of_pairs(name, tmp_path):
    name = name.replace(".csv.tsv", ".tsv")
    (tmp_path / name).write_text(FORMS.get(name, FORMS["original.csv.tsv"]), encoding="utf-8")
    found = read_sentence_pairs(tmp_path / name)
    assert found.pairs == (("a b", "c d"), ("e", ""))
    assert (found.scores is None) == (name == "plain.tsv")
    if found.scores is not None:
        assert found.scores.tolist() == [4.5, 0.0]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a\tb\n5\ta\tb\n", r"x.tsv:2: 3 columns, the first row has 2"),
        ("only one\n", r"x.tsv:1: 1 columns, wanted score"),
        ("5\ta\tb\nfive\ta\tb\n", r"x.tsv:2: the score is 'five', wanted a number"),
        ("nan\ta\tb\n", r"x.tsv:1: the score is 'b', wanted a number"),
        ("", "no pairs"),
    ],
)
def test_pairs_that_cannot_be_read(content, message, tmp_path):
    (tmp_path / "x.tsv").write_text(content, encoding="utf-8")
    with pytest.raises(FormatError, match=message):
        read_sentence_pairs(tmp_path / "x.tsv")


def test_correlations_by_hand():
    """Fisher's intervals: of r = 0.8 and n = 5, tanh(atanh(0.8) ± 1.96 / √2); of ρ = 0.8, ± 1.96 √(1.32 / 2)."""
    found = correlate(np.array([1.0, 2, 3, 4, 5]), np.array([2.0, 1, 4, 3, 5]))
    assert (found.pearson, found.spearman, found.pairs) == (pytest.approx(0.8), pytest.approx(0.8), 5)
    assert found.pearson_interval == pytest.approx((-0.2796, 0.9862), abs=1e-4)
    assert found.spearman_interval == pytest.approx((-0.4571, 0.9908), abs=1e-4)
    assert ranks(np.array([3.0, 1, 1, 2])).tolist() == [3, 0.5, 0.5, 2]
    line = np.arange(4.0)
    assert correlate(line, 2 * line + 1).pearson_interval == (1, 1)
    assert correlate(line[:3], -line[:3]).pearson_interval == (-1, 1)
    assert correlate(line, -line).pearson == pearson(line[:2], -line[:2]) == -1
    assert pearson(line, np.full(4, 0.1)) == pearson(line[:1], line[:1]) == 0


def test_the_mean_correlation_of_files_is_weighted_by_their_pairs(tmp_path):
    files = {"five": ("abcde", [2, 1, 4, 3, 5]), "three": ("abc", [3, 2, 1])}
    for name, (texts, scores) in files.items():
        lines = [f"{score}\t{text}\t{text}\n" for text, score in zip(texts, scores, strict=True)]
        (tmp_path / name).write_text("".join(lines), encoding="utf-8")
    found = similarity_records(lambda pairs: np.arange(float(len(pairs.pairs))), [tmp_path / name for name in files])
    assert [record["pairs"] for record in found] == [5, 3, 8]
    assert [record["pearson"] for record in found] == pytest.approx([0.8, -1, (5 * 0.8 - 3) / 8])
    assert [record["spearman"] for record in found] == pytest.approx([0.8, -1, (5 * 0.8 - 3) / 8])
    assert [record.get("pearson_low") for record in found] == [pytest.approx(-0.2796, abs=1e-4), -1, None]
    assert [row[2] for row in similarity_table(found).rows] == [
        "0.800 [-0.280, 0.986]",
        "-1.000 [-1.000, 1.000]",
        "0.125",
    ]


@pytest.mark.slow
def test_correlations_and_their_intervals():
    rng = np.random.default_rng(1)
    a = rng.normal(size=50)
    b = np.round(a + rng.normal(size=50), 1)
    found = correlate(a, b)
    assert found.pearson == pytest.approx(np.corrcoef(a, b)[0, 1])
    stats = pytest.importorskip("scipy.stats")
    assert found.spearman == pytest.approx(stats.spearmanr(a, b).statistic)
    np.testing.assert_allclose(ranks(b) + 1, stats.rankdata(b))
    interval = stats.pearsonr(a, b).confidence_interval()
    np.testing.assert_allclose(found.pearson_interval, interval, atol=1e-9)
    assert pearson(a, np.ones(50)) == 0
    assert correlate(a[:3], b[:3]).pearson_interval == (-1, 1)


def made(rng, n=200):
    """Two informative columns, one copy of a source's level, noise; sources with other means."""
    source = np.repeat([0, 1], n // 2)
    values = rng.normal(size=(n, 5))
    values[:, 2] = source
    scores = 2 * values[:, 0] + values[:, 3] + 3 * source + 0.5 * rng.normal(size=n)
    return values, scores, source


def naive_selection(values, scores, folds):
    """The order of the columns and the correlations: least squares with a constant, all pairs alike, every subset anew."""
    chosen, reached = [], []
    while len(chosen) < values.shape[1]:
        found = []
        for column in set(range(values.shape[1])) - set(chosen):
            design = np.column_stack([np.ones(len(scores)), values[:, [*chosen, column]]])
            predicted = np.empty(len(scores))
            for fold in range(FOLDS):
                rest = folds != fold
                predicted[~rest] = design[~rest] @ np.linalg.lstsq(design[rest], scores[rest], rcond=None)[0]
            found.append((np.corrcoef(predicted, scores)[0, 1], column))
        best, column = max(found)
        chosen.append(column)
        reached.append(best)
    return chosen, reached


def test_the_selection_of_the_paper_agrees_with_its_twin():
    """Pooled: the column that tells sources apart comes in, which selection within sources never takes."""
    rng = np.random.default_rng(9)
    values, scores, _ = made(rng, 120)
    scores += 0.7 * values[:, 1]
    found = select(values, scores, list("abcde"), rng=np.random.default_rng(1))
    chosen, reached = naive_selection(values, scores, folds_of(120, np.random.default_rng(1)))
    assert [name for name, _ in found.curve] == ["abcde"[i] for i in chosen]
    np.testing.assert_allclose([value for _, value in found.curve], reached, atol=1e-7)
    size = 1 + int(np.argmax(reached))
    assert found.columns == tuple("abcde"[i] for i in chosen[:size])
    assert {"a", "b", "c", "d"} <= set(found.columns)
    assert found.correlation == pytest.approx(max(reached))
    design = np.column_stack([np.ones(120), values[:, chosen[:size]]])
    wanted = np.linalg.lstsq(design, scores, rcond=None)[0]
    np.testing.assert_allclose([found.constant, *found.weights], wanted, atol=1e-6)
    level = np.column_stack(
        [values[:, 0], np.ones(120), values[:, 0]]
    )  # a constant column stays out, a copy does no harm
    assert select(level, scores, list("abc"), rng=rng).columns[0] == "a"
    assert select(level[:, 1:2], scores, ["b"], rng=rng).scores(level[:3, 1:2], ["b"]) == pytest.approx(scores.mean())


def test_the_measures_that_the_paper_selects_from(vectors, wordnet, documents):
    assert [len(DKPRO), len(TAKELAB), len(MAYO), len(set(PAPER))] == [17 - 1, 21 - 1, 9, 47 - 2]
    spaces = {**vectors.spaces, "lsa": vectors.spaces["window"]}
    every = Measures(replace(vectors, spaces=spaces), LEXICON, wordnet=wordnet, esa=documents).names
    assert set(PAPER) - set(every) == {"svs.top", "svs.phrase"}
    rng = np.random.default_rng(10)
    training = Training(every, rng.normal(size=(40, len(every))), rng.normal(size=40), np.repeat([0, 1], 20))
    assert set(training.of(SimilaritySettings(learner="paper")).names) == set(PAPER) & set(every)
    run3 = training.of(SimilaritySettings("mixed", "paper", ("takelab",)))
    assert set(run3.names) == (set(DKPRO) | set(MAYO)) & set(every)
    assert run3.values.shape == (40, len(run3.names))
    model = fit(run3, ["p", "q"], SimilaritySettings("one", "paper", ("takelab",)))
    assert not set(model.names) & set(TAKELAB)
    left = training.of(SimilaritySettings("one", "shrunk", ("takelab", "shape"))).names
    assert "tfidf.stems" in left
    assert not (set(left) & set(TAKELAB)) | {name for name in left if name.startswith("shape")}


def test_shrinkage_minimises_what_it_says():
    """Least squares on the pairs, each source as heavy as the other, and on a row a measure for its penalty."""
    rng = np.random.default_rng(6)
    values, scores, source = made(rng)
    values[:, 4] -= scores  # goes against the scores: out
    keep = rng.random(len(scores)) < np.where(source == 0, 0.3, 1)
    values, scores, source = values[keep], scores[keep], source[keep]
    found = shrink(values, scores, source, list("abcde"), penalty=20.0, rng=np.random.default_rng(1))
    own, target = centred(values, source), centred(scores, source)
    own /= np.where(own.std(axis=0) > 0, own.std(axis=0), 1)
    sizes = np.bincount(source)
    r = np.array(
        [
            np.mean([pearson(own[source == s, i], target[source == s]) for s in (0, 1)]) if i != 2 else 0
            for i in range(5)
        ]
    )
    columns = [i for i in range(5) if r[i] > 0]
    assert set(found.columns) == {"abcde"[i] for i in columns} >= {"a", "d"}
    assert not {"c", "e"} & set(found.columns)
    trust = (r / r.max())[columns]
    pairs = 4 / (1 / sizes[0] + 1 / sizes[1])
    heavy = np.sqrt(pairs / 2 / sizes[source])
    rows = np.vstack([own[:, columns] * heavy[:, None], np.diag(np.sqrt(20.0) / trust)])
    wanted = np.linalg.lstsq(rows, np.append(target * heavy, np.zeros(len(columns))), rcond=None)[0]
    weights = dict(zip(found.columns, found.weights, strict=True))
    spread = centred(values, source).std(axis=0)
    np.testing.assert_allclose([weights["abcde"[i]] * spread[i] for i in columns], wanted, atol=1e-9)
    assert found.columns[:2] == ("a", "d")
    assert found.constant == pytest.approx(np.mean(scores - values[:, columns] @ (wanted / spread[columns])))


def test_shrinkage_trusts_what_holds_in_all_sources():
    """Two measures tell the scores of a large source as well; in a small one only the first does."""
    rng = np.random.default_rng(7)
    source = np.repeat([0, 1], [400, 60])
    truth = rng.normal(size=460)
    values = truth[:, None] + 0.7 * rng.normal(size=(460, 2))
    values[source == 1, 1] = rng.normal(size=60)

    def ratio(rows):
        found = shrink(values[rows], truth[rows], source[rows], "ab", penalty=100.0, rng=np.random.default_rng(1))
        weights = dict(zip(found.columns, found.weights, strict=True))
        return weights["a"] / weights["b"]

    assert 0.5 < ratio(source == 0) < 2
    assert ratio(source >= 0) > 4


def test_nothing_goes_along_with_the_scores():
    source, scores = np.zeros(40, int), np.linspace(0, 5, 40)
    found = shrink(-scores[:, None], scores, source, ["a"], penalty=1.0, rng=np.random.default_rng(1))
    assert found.columns == ()
    assert found.scores(-scores[:, None], ["a"]) == pytest.approx(np.full(40, 2.5))


@pytest.mark.parametrize("mode", ["one", pytest.param("mixed", marks=pytest.mark.slow)])
def test_sources_left_out(mode):
    """What is learnt from the others is what `fit` learns from them alone."""
    rng = np.random.default_rng(8)
    values, scores, source = made(rng, 300)
    source[200:] = 2
    training = Training(tuple(f"x.{c}" for c in "abcde"), values, scores, source)
    chosen = SimilaritySettings(mode=mode)
    found = left_out(training, ["p", "q", "r"], chosen)
    rest = source != 1
    others = Training(training.names, values[rest], scores[rest], np.where(source[rest] == 2, 1, 0))
    wanted = pearson(fit(others, ["p", "r"], chosen).scores(values[~rest]), scores[~rest])
    assert set(found) == {"p", "q", "r"}
    assert found["q"] == pytest.approx(wanted)
    assert left_out(training, ["p"], chosen) == {}


@pytest.mark.slow
def test_a_forest_gives_what_scikit_learn_gives():
    ensemble = pytest.importorskip("sklearn.ensemble")
    values, _, source = made(np.random.default_rng(3))
    values[:, 2] = values[:, 1] + source
    forest = train_forest(values, source, 4)
    theirs = ensemble.RandomForestClassifier(200, min_samples_leaf=5, random_state=4).fit(values, source)
    np.testing.assert_allclose(forest.probabilities(values), theirs.predict_proba(values), atol=1e-9)


@pytest.mark.parametrize(
    ("mode", "learner"),
    [
        pytest.param(mode, learner, marks=[pytest.mark.slow] * (i != j), id=f"{mode}-{learner}")
        for i, mode in enumerate(["one", "mixed", "best"])
        for j, learner in enumerate(["shrunk", "paper"])
    ],
)
def test_systems_learn_and_are_kept(mode, learner, vectors, tmp_path):
    lines = PAIRS.read_text(encoding="utf-8").splitlines(keepends=True)
    for source in ("x", "y"):
        kept = lines if source == "x" else [line.replace("The", "A") for line in lines]
        (tmp_path / f"{source}.tsv").write_text("".join(kept), encoding="utf-8")
    sources = by_source([f"x={tmp_path / 'x.tsv'}", str(tmp_path / "y.tsv")])
    assert list(sources) == ["x", "y"]
    model = train_similarity(sources, Measures(vectors), SimilaritySettings(mode, learner))
    assert list(model.provenance["left_out"]) == (["x", "y"] if mode == "one" else [])
    assert len(model.regressions) == (1 if mode == "one" else 2)
    size = write_similarity(model, tmp_path / "model.sim")
    again = read_similarity(tmp_path / "model.sim")
    values = np.random.default_rng(5).random((40, len(model.names)))
    np.testing.assert_array_equal(again.scores(values), model.scores(values))
    assert 0 <= model.scores(values).min() <= model.scores(values).max() <= 5
    if model.forest is not None:
        shares = model.forest.probabilities(values)
        every = np.column_stack([each.scores(values, model.names) for each in model.regressions.values()])
        wanted = (every * shares).sum(axis=1) if mode == "mixed" else every[np.arange(40), shares.argmax(axis=1)]
        np.testing.assert_allclose(model.scores(values), np.clip(wanted, 0, 5))
    check_damage_is_seen(tmp_path / "model.sim", read_similarity, ModelError, flips=10)
    (tmp_path / "short.sim").write_bytes((tmp_path / "model.sim").read_bytes()[: size - 99])
    with pytest.raises(ModelError, match="cut short"):
        read_similarity(tmp_path / "short.sim")


def test_systems_that_cannot_be_learnt(tmp_path):
    few = tmp_path / "few.tsv"
    few.write_text("1\ta\tb\n" * 5, encoding="utf-8")
    plain = tmp_path / "plain.tsv"
    plain.write_text("a\tb\n", encoding="utf-8")
    for paths, options, error, message in [
        ([PAIRS], {"without": ("strnigs",)}, ConfigError, "no family of measures is named 'strnigs'.*strings"),
        ([PAIRS], {"mode": "mixed"}, ConfigError, "two sources or more"),
        ([few], {}, ConfigError, "5 pairs of source 'all' are too few"),
        ([plain], {}, FormatError, "no scores to learn from"),
    ]:
        with pytest.raises(error, match=message):
            train_similarity({"one": paths}, Measures(), SimilaritySettings(**options))


@pytest.mark.slow
def test_the_commands(vectors, tmp_path):
    write_model(vectors, tmp_path / "pairs.ri")
    model = tmp_path / "pairs.sim"
    ran = done("similarity", "train", PAIRS, "-o", model, "--vectors", tmp_path / "pairs.ri")
    assert "in ten-fold cross-validation" in ran.err
    assert "more" in ran.err
    two = done("similarity", "train", f"a={PAIRS}", f"b={PAIRS}", "-o", tmp_path / "two.sim")
    assert re.search(r"^for a source left out: a r 0\.\d+, b r 0\.\d+$", two.err, re.MULTILINE)
    paper = done(
        "similarity", "train", PAIRS, "-o", tmp_path / "paper.sim", "--learner", "paper", "--without", "takelab"
    )
    absent = re.search("measures of the paper whose data are not given: (.*)", paper.err).group(1).split(", ")
    assert {"esa.cosine", "wordnet.resnik", "svs.top"} < set(absent)
    assert not set(read_similarity(tmp_path / "paper.sim").names) - set(DKPRO) - set(MAYO)
    new = PAIRS.with_name("new.tsv")
    scores = [float(line) for line in done("similarity", "apply", new, "-M", model).lines]
    assert len(scores) == 3
    assert all(0 <= score <= 5 for score in scores)
    lines = done("similarity", "apply", new, "-M", model, "--with-pairs").lines
    assert lines[1].split("\t")[1:] == new.read_text(encoding="utf-8").splitlines()[1].split("\t")
    records = json.loads(done("similarity", "evaluate", PAIRS, PAIRS, "-M", model, "--as", "json").out)
    assert records[0]["pearson"] > 0.5
    assert records[2] == {"pairs_file": "weighted mean", "pairs": 60} | {
        key: pytest.approx(records[0][key]) for key in ("pearson", "spearman")
    }
    untrained = json.loads(done("similarity", "evaluate", PAIRS, "--measure", "tfidf.stems", "--as", "json").out)
    assert 0.3 < untrained[0]["pearson"] < 1
    assert "no measure is named 'tfidf.stem'" in refused("similarity", "apply", new, "--measure", "tfidf.stem")
    assert "give them by --vectors" in refused("similarity", "apply", new, "--measure", "vectors.window_idf")
    assert "give a model" in refused("similarity", "apply", new)
    assert "no scores to compare with" in refused("similarity", "evaluate", new, "-M", model)
    assert "the model has its own" in refused(
        "similarity", "apply", new, "-M", model, "--vectors", tmp_path / "pairs.ri"
    )
    wanted = "holds a random-indexing model, wanted a similarity model"
    assert wanted in refused("similarity", "apply", new, "-M", tmp_path / "pairs.ri")

"""Word alignment: EM against sums over all alignments, likelihoods that never fall, files and the feature."""

import math
from itertools import pairwise
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rerank_plugins import NBestList
from rerank_plugins.core.errors import ConfigError, ModelError
from rerank_plugins.core.nbest import Hypothesis
from rerank_plugins.kit.files.model_file import read_model as read_container
from rerank_plugins.kit.files.model_file import write_model as write_container
from rerank_plugins.translation.alignment.bitext import cooccurrence, read_bitext
from rerank_plugins.translation.alignment.em import digamma
from rerank_plugins.translation.alignment.feature import WordTranslationFeature
from rerank_plugins.translation.alignment.model import read_model, write_model
from rerank_plugins.translation.alignment.training import Direction, Settings, train
from tests.command_line import done, refused
from tests.translation.naive_word_alignment import NULL, all_alignments, expected_counts

PAIRS = [
    ("das haus", "the house"), ("das Buch ist klein", "the book is small"), ("ein Buch", "a book"),
    ("das Haus ist ja klein", "the house is small"), ("ja", "yes"), ("klein ist das", "that is small"),
]  # fmt: skip
WORDS = st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map(" ".join)


def split(pairs):
    return [(source.lower().split(), target.lower().split()) for source, target in pairs]


def trained(pairs=PAIRS, iterations=4, **options):
    steps = []
    model = train(pairs, Settings(iterations, **options), report=steps.append)
    return model, steps


def direction_of(pairs, *, given_is_source, jobs=1):
    bitext = read_bitext(pairs, lowercase=True, longest=100)
    return Direction(bitext, cooccurrence(bitext), given_is_source=given_is_source, null=0.08, jobs=jobs), bitext


def t_of(model, *, forward):
    """t as a function of a generated and a given word, of a model's direction."""

    def t(generated, given):
        source, target = ([given], [generated]) if forward else ([generated], [given])
        words = model.look_up([word or "?" for word in source], [[word or "?" for word in target]])
        if given is NULL:
            return float((words.forward_null if forward else words.backward_null)[0])
        return float((words.forward if forward else words.backward)[0, 0])

    return t


@pytest.mark.parametrize("forward", [True, False])
def test_ln_p_and_links_are_those_of_all_alignments(forward):
    model, _ = trained()
    source, targets = ["das", "buch", "neu", "ist"], [["the", "book"], ["is", "small", "old"]]
    aligned = model.align(source, targets)
    tension = (model.forward if forward else model.backward).tension
    at = 0
    for h, target in enumerate(targets):
        given, generated = (source, target) if forward else (target, source)
        p_of = dict(all_alignments(given, generated, t_of(model, forward=forward), 0.08, tension))
        assert aligned.ln_p[h, 0 if forward else 1] == pytest.approx(log(sum(p_of.values())), rel=1e-9)
        if forward:
            links = aligned.links[at : at + len(target)]
            assert p_of[tuple((links + 1).tolist())] == pytest.approx(max(p_of.values()), rel=1e-9)
        at += len(target)


@pytest.mark.parametrize("given_is_source", [True, False])
def test_an_iteration_counts_what_all_alignments_count(given_is_source):
    direction, bitext = direction_of(PAIRS, given_is_source=given_is_source)
    direction.iterate(0.0)
    t, null, tension = direction.t.copy(), direction.t_null.copy(), direction.tension
    likelihood = direction.iterate(0.0)
    given, side = (bitext.source, bitext.target) if given_is_source else (bitext.target, bitext.source)
    pairs = cooccurrence(bitext)
    of_given, of_generated = (pairs.sources, pairs.targets) if given_is_source else (pairs.targets, pairs.sources)
    names = [(side.words[g], given.words[w]) for g, w in zip(of_generated, of_given, strict=True)]
    table = dict(zip(names, t.tolist(), strict=True)) | {(w, NULL): v for w, v in zip(side.words, null, strict=True)}
    sentences = [pair if given_is_source else pair[::-1] for pair in split(PAIRS)]
    counts, wanted = expected_counts(sentences, lambda word, other: table[word, other], 0.08, tension)
    assert likelihood == pytest.approx(wanted, rel=1e-9)
    totals = {other: sum(c for (_, g), c in counts.items() if g == other) for _, other in counts}
    for name, value in zip(names, direction.t, strict=True):
        assert value == pytest.approx(counts[name] / totals[name[1]], abs=1e-9)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=6), st.sampled_from([0.0, 0.1]))
def test_the_likelihood_and_its_bound_never_fall(pairs, alpha):
    _, steps = trained(pairs, 6, alpha=alpha)
    for before, after in pairwise(steps):
        first_of_bayes = alpha > 0 and before.number == 1  # the bound of the start has no posterior
        if before.direction == after.direction and not first_of_bayes:
            assert after.bound >= before.bound - 1e-7


def test_with_one_word_a_side_t_is_the_relative_frequency():
    pairs = [("a", "x")] * 3 + [("a", "y")] + [("b", "y")] * 2
    direction, _ = direction_of(pairs, given_is_source=True)
    direction.t_null[:] = 0.0  # without NULL, as if its probability were 0
    direction.iterate(0.0)
    assert direction.t.tolist() == pytest.approx([0.75, 0.25, 1.0], abs=1e-9)


def test_threads_do_not_change_the_model(tmp_path):
    pairs = [
        (" ".join("abcdefg"[i % k : i % k + 4]), " ".join("tuvwxyz"[i % 4 : i % 4 + k]))
        for i in range(40)
        for k in (2, 3)
    ]
    for jobs in (1, 3):
        write_model(train(pairs, Settings(3), jobs=jobs), tmp_path / f"by-{jobs}")
    assert (tmp_path / "by-1").read_bytes() == (tmp_path / "by-3").read_bytes()


def test_links_of_the_example():
    model, _ = trained(PAIRS * 3, 8)
    assert model.align(["das", "buch"], [["the", "book"]]).links.tolist() == [0, 1]


def test_distances_are_those_of_their_definition():
    for given_is_source in (True, False):
        positions = direction_of(PAIRS, given_is_source=given_is_source)[0].positions
        shapes = list(zip(positions.given.tolist(), positions.generated.tolist(), strict=True))
        assert len(shapes) > 2
        for (length, generated), start in zip(shapes, positions.starts.tolist(), strict=True):
            rows = [[abs((i + 1) / length - (j + 1) / generated) for i in range(length)] for j in range(generated)]
            found = positions.distances[start : start + length * generated].reshape(generated, length)
            np.testing.assert_allclose(found, rows, rtol=1e-12)


def test_the_feature(tmp_path):
    model, _ = trained()
    write_model(model, tmp_path / "m")
    source, texts = "das Buch ist", ["the book is", "small yes yes", "the qqq", "", "book the"]
    nbest = NBestList("0", tuple(map(Hypothesis, texts)), source=source)
    feature = WordTranslationFeature(tmp_path / "m", bound=0.2)
    values = dict(zip(feature.components, feature.extract(nbest).T, strict=True))
    words = source.lower().split()
    t, back = t_of(model, forward=True), t_of(model, forward=False)
    weights = model.source_weights(words)
    for row, text in enumerate(texts):
        target = text.split() or ["?"]
        aligned = model.align(words, [target])
        np.testing.assert_allclose([values["forward"][row], values["backward"][row]], aligned.ln_p[0], rtol=1e-9)
        assert values["forward_per_word"][row] == pytest.approx(values["forward"][row] / len(target))
        assert values["backward_per_word"][row] == pytest.approx(values["backward"][row] / 3)
        assert values["unlinked_target"][row] == -sum(max(t(e, f) for f in words) < 0.2 for e in target)
        linked = [max(back(f, e) for e in target) >= 0.2 for f in words]
        assert values["unlinked_source"][row] == sum(linked) - 3
        assert values["coverage"][row] == pytest.approx(weights @ linked / weights.sum())
        away = [abs((i + 1) / 3 - j / len(target)) for j, i in enumerate(aligned.links.tolist(), 1) if i >= 0]
        assert values["distance"][row] == pytest.approx(-sum(away) / len(away) if away else -1)
    with pytest.raises(ConfigError, match="segment 0 has none"):
        feature.extract(NBestList("0", (Hypothesis("a"),)))


def test_the_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, side in zip(("de", "en"), zip(*PAIRS, strict=True), strict=True):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in (*side, "")), encoding="utf-8")
    (tmp_path / "both").write_text("".join(f"{a} ||| {b}\n" for a, b in (*PAIRS, ("", "x"))), encoding="utf-8")
    said = done("train", "word-alignment", "de", "en", "-o", "two.align", "--held-out", "both", "-j", 1).err
    assert "6 sentence pairs, 17 source and 16 target words (left out: 1 with an empty side" in said
    assert said.count("iteration 5: ln p -") == 2
    assert "held out: 6 pairs, ln p -" in said
    done("train", "word-alignment", "both", "-o", "one.align", "-j", 2)
    two, one = read_model(tmp_path / "two.align"), read_model(tmp_path / "one.align")
    np.testing.assert_array_equal(two.lexicon.forward, one.lexicon.forward)
    (tmp_path / "en").write_text("the house\n", encoding="utf-8")
    wrong = refused("train", "word-alignment", "de", "en", "-o", "x.align")
    assert "en: 1 lines, but 7 in de; expected a line for each sentence pair in both" in wrong
    (tmp_path / "both").write_text("a ||| b\nc\n", encoding="utf-8")
    assert "both:2: found 1 parts" in refused("train", "word-alignment", "both", "-o", "x.align")
    (tmp_path / "en").write_text("", encoding="utf-8")
    assert "no sentence pair" in refused("train", "word-alignment", "en", "en", "-o", "x.align")
    assert not (tmp_path / "x.align").exists()
    (tmp_path / "cut").write_bytes((tmp_path / "one.align").read_bytes()[:-100])
    with pytest.raises(ModelError, match="model file is cut short"):
        read_model(tmp_path / "cut")


@pytest.mark.parametrize("number", [1, 2, 5, 8, 9, 40, 1000])
def test_digamma_of_whole_numbers_and_halves(number):
    """Ψ(n) = Σ_{k<n} 1/k - γ, and Ψ(n - 1/2) = Σ_{k<n} 2/(2k - 1) - γ - 2 ln 2."""
    gamma = 0.5772156649015329
    wholes = math.fsum(1 / k for k in range(1, number)) - gamma
    halves = math.fsum(2 / (2 * k - 1) for k in range(1, number)) - gamma - 2 * math.log(2)
    assert digamma(float(number)) == pytest.approx(wholes, abs=2e-12)
    assert digamma(number - 0.5) == pytest.approx(halves, abs=2e-12)


def test_numbers_that_are_no_probabilities_are_refused(tmp_path):
    write_model(train([("a b", "x y"), ("b", "y")], Settings(1)), tmp_path / "good.align")
    settings, arrays = read_container(tmp_path / "good.align", "word-alignment")
    for name in ("forward.t", "backward.null"):
        forged = np.full_like(arrays[name], np.nan)
        write_container(tmp_path / "bad.align", "word-alignment", settings, {**arrays, name: forged})
        with pytest.raises(ModelError, match=f"bad.align: damaged word alignment model: {name} has nan at 0"):
            read_model(tmp_path / "bad.align")


def test_pairs_that_are_left_out_are_counted():
    pairs = [("a b", "x"), ("", "x"), ("a", " "), ("a b c d", "x"), ("a b c", "x y z"), ("a", "x y z x")]
    bitext = read_bitext(pairs, lowercase=False, longest=3)
    assert (len(bitext), bitext.empty, bitext.too_long) == (2, 2, 2)
    with pytest.raises(ModelError, match="of 3 lines, 2 have an empty side, 1 more than 3 words"):
        read_bitext(pairs[1:4], lowercase=False, longest=3)

"""The project's own parser: network, gradient, spanning trees and training against twins that are slow and obvious."""

import dataclasses
import re
from types import SimpleNamespace

import numpy as np
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rerank_plugins import ModelError, Parse
from rerank_plugins.core.dependency_tree import tree_fault
from rerank_plugins.dependency.biaffine import network, training
from rerank_plugins.dependency.biaffine.gradient import loss_and_gradient
from rerank_plugins.dependency.biaffine.lstm import Packing, bilstm, halved, lower_states, upper_states
from rerank_plugins.dependency.biaffine.network import Sizes, initial
from rerank_plugins.dependency.biaffine.parser_file import BiaffineModel, read_model
from rerank_plugins.dependency.biaffine.parsing import best_tree, best_trees, parse_all
from rerank_plugins.dependency.biaffine.pieces import WordInputs, frequent_pieces, pieces, word_inputs
from rerank_plugins.dependency.biaffine.training import Adam, Schedule, train
from rerank_plugins.dependency.biaffine.training_batches import Batch, Batches, Dropout, Example
from rerank_plugins.dependency.biaffine.word_vectors import word_vectors
from rerank_plugins.dependency.language_model import DependencyLanguageModel
from rerank_plugins.dependency.parsers import EMBEDDED, LONGEST, BiaffineParser, EnglishParser
from rerank_plugins.kit.files.cached_parser import parser_of_model
from rerank_plugins.kit.trees.dependency_constituents import lift, to_dependencies
from rerank_plugins.kit.trees.parseval import Attachment
from rerank_plugins.testing import check_parser
from tests.dependency import naive_parsing
from tests.model_files import check_damage_is_seen

SIZES = Sizes(piece=5, vector=3, lstm=4, arc=6, label=3)
LENGTHS = [5, 3, 3, 1]


def random_params(rng, kind=np.float64):
    made = initial(SIZES, 11, 4, 3, rng)
    return {name: (value + rng.normal(0, 0.4, value.shape)).astype(kind) for name, value in made.items()}


def in_double(monkeypatch):
    """Gradients are checked in double precision: what the modules call float32 is float64 for the time."""
    monkeypatch.setattr(np, "float32", np.float64)


def test_bilstm_over_packed_sentences_is_that_of_each_alone():
    rng = np.random.default_rng(0)
    params, packing = random_params(rng), Packing.of(LENGTHS)
    x = rng.normal(size=(sum(LENGTHS), 8))
    states, _ = bilstm(x, params, "lstm1", packing)
    for rows, n in zip(packing.grid(), LENGTHS, strict=True):
        np.testing.assert_allclose(states[rows[:n]], naive_parsing.bilstm(x[rows[:n]], params, "lstm1"), 1e-5, 1e-5)


def test_parsing_has_the_states_of_training():
    """Words and beginnings that recur, which parsing computes once, and sentences of several lengths."""
    rng = np.random.default_rng(2)
    params, packing = random_params(rng, np.float32), Packing.of(LENGTHS)
    words = rng.normal(size=(3, 8)).astype(np.float32)
    for ids in (rng.integers(0, 3, sum(LENGTHS)), np.zeros(sum(LENGTHS), np.int64)):
        lower, upper, _ = network.encode(words[ids], params, packing)
        layers = halved(params)
        np.testing.assert_allclose(lower_states(words, ids, layers[0], packing), lower, 1e-5, 1e-6)
        np.testing.assert_allclose(upper_states(lower, layers[1], packing), upper, 1e-5, 1e-6)


def test_scores_are_those_of_the_equations():
    rng = np.random.default_rng(1)
    params, packing = random_params(rng), Packing.of(LENGTHS)
    x = rng.normal(size=(sum(LENGTHS), 8))
    lower, upper, _ = network.encode(x, params, packing)
    _, parts = network.roles(upper, params)
    arcs = network.arc_scores(parts, params, packing)
    for s, (rows, n) in enumerate(zip(packing.grid(), LENGTHS, strict=True)):
        rows = rows[:n]
        tags, wanted, labels = naive_parsing.scores(x[rows], params)
        np.testing.assert_allclose((lower @ params["tag.w"] + params["tag.b"])[rows], tags, 1e-4, 1e-4)
        np.testing.assert_allclose(arcs[s, :n, : n + 1], wanted, 1e-4, 1e-4)
        assert (arcs[s, :, n + 1 :] == network.NEVER).all()
        for position in range(n + 1):  # every word with the same head
            heads = np.full(len(x), -1 if position == 0 else rows[position - 1])
            found, _ = network.label_scores(*network.label_inputs(parts, params, heads), params)
            np.testing.assert_allclose(found[rows], labels[:, position], 1e-4, 1e-4)


def random_batch(rng):
    packing = Packing.of(LENGTHS)
    grid, total = packing.grid(), sum(LENGTHS)
    heads, positions = np.zeros(total, np.int64), np.zeros(total, np.int64)
    for rows, n in zip(grid, LENGTHS, strict=True):
        positions[rows[:n]] = rng.integers(0, n + 1, n)
        heads[rows[:n]] = np.append(-1, rows)[positions[rows[:n]]]
    words, tags, relations = rng.integers(0, 6, total), rng.integers(0, 4, total), rng.integers(0, 3, total)
    pieces_of, owners = rng.integers(0, 11, 20), np.sort(rng.integers(0, 6, 20))
    for column in (tags, relations, positions):  # words that do not count
        column[rng.integers(0, total, 2)] = -1
    vectors, treebanks = rng.normal(size=(6, 3)), rng.integers(0, 2, total)
    return Batch(packing, words, tags, heads, positions, relations, pieces_of, owners, vectors, treebanks)


def test_gradient_is_the_slope_of_the_loss(monkeypatch):
    rng = np.random.default_rng(2)
    params, batch = random_params(rng), random_batch(rng)
    params["treebanks"] = rng.normal(size=(2, SIZES.piece)) * np.array([[0], [1]])
    widths = (8, 8, 8, 2 * (SIZES.arc + SIZES.label))
    drop = Dropout(*(rng.integers(0, 2, (sum(LENGTHS), width)) * 2.0 for width in widths))
    in_double(monkeypatch)

    def loss():
        return sum(loss_and_gradient(params, batch, drop)[0].values())

    found = loss_and_gradient(params, batch, drop)[1]
    assert found.keys() == params.keys()
    step = 1e-5
    for name, value in params.items():
        for _ in range(5):
            place = tuple(rng.integers(0, size) for size in value.shape)
            if name == "treebanks":
                place = 1, place[1]  # the offset of the first treebank is always 0
            before = value[place]
            value[place] = before + step
            above = loss()
            value[place] = before - step
            slope = (above - loss()) / (2 * step)
            value[place] = before
            ours = found[name][batch.rows == place[0]].sum(axis=0)[place[1]] if name == "pieces" else found[name][place]
            assert slope == pytest.approx(ours, abs=1e-6), (name, place)


@given(st.integers(1, 4).flatmap(lambda n: arrays(np.float64, (n, n + 1), elements=st.integers(-6, 6))))
def test_best_tree_is_the_best_of_all_trees(scores):
    wanted = naive_parsing.best_tree_value(scores.tolist())
    batch = best_trees(scores[None].copy(), np.array([len(scores)]))[0]
    for heads in (best_tree(scores), batch):
        assert naive_parsing.is_tree(heads.tolist())
        assert sum(scores[i, h] for i, h in enumerate(heads)) == wanted


def test_best_trees_of_longer_sentences():
    """Five words, random scores; and long ones, where the result must at least be a tree above greedy repairs."""
    rng = np.random.default_rng(3)
    for _ in range(10):
        scores = rng.normal(size=(5, 6))
        heads = best_tree(scores)
        assert sum(scores[i, h] for i, h in enumerate(heads)) == pytest.approx(
            naive_parsing.best_tree_value(scores.tolist())
        )
    scores = rng.normal(size=(3, 200, 201)).astype(np.float32)
    lengths = np.array([200, 120, 1])
    scores[np.arange(201) > lengths[:, None, None] + np.zeros((1, 200, 1), int)] = network.NEVER
    for heads, n in zip(best_trees(scores, lengths), lengths, strict=True):
        assert naive_parsing.is_tree(heads[:n].tolist())


def test_words_are_bags_of_pieces():
    assert pieces("dogs")[:-1] == pieces("Dogs")[:-1]  # all but the shape
    assert pieces("-LRB-") == pieces("(")
    assert pieces("1984")[0] == "0000"
    assert frequent_pieces(["ab", "ab", "Ab"]) == ["ab"]  # affixes and shapes need five


def test_word_vectors_put_words_of_the_same_places_together():
    rng = np.random.default_rng(4)
    nouns, verbs = [f"n{i}" for i in "abcdefgh"], [f"v{i}" for i in "abcdefgh"]
    text = [["the", rng.choice(nouns), rng.choice(verbs), "a", rng.choice(nouns)] for _ in range(3000)]
    vectors = word_vectors(text, 8, rng)
    assert all(np.linalg.norm(vector) == pytest.approx(1, abs=1e-4) for vector in vectors.values())
    inside = np.mean([vectors[a] @ vectors[b] for a in nouns for b in nouns if a != b])
    across = np.mean([vectors[a] @ vectors[b] for a in nouns for b in verbs])
    assert inside > across + 0.3


SMALL = Sizes(piece=24, vector=4, lstm=24, arc=24, label=12)
QUICK = Schedule(epochs=40, batch=60, rate=1e-2, warm=5, dropout=0.1, average=0.9, lower_case=0)


def test_small_treebanks_get_as_many_steps_as_large_ones():
    assert Schedule.of_treebank(334_382) == Schedule.of_treebank(10**7) == Schedule()  # that of the embedded model
    steps = {}
    for words in (100, 3_000, 12_480, 31_363, 100_000):
        schedule = Schedule.of_treebank(words)
        steps[words] = schedule.epochs * max(1, words // schedule.batch)
        assert schedule.epochs >= 20
        assert 150 <= schedule.batch <= 1_500
    assert all(3_800 <= number <= 6_000 for number in steps.values()), steps
    assert Schedule.of_treebank(12_480, 3).epochs == 3


def naive_adam(params, steps, schedule, number):
    """Weights and their running average after steps of gradients (Kingma & Ba 2015), one number at a time."""
    params = {(name, *place): float(value) for name in params for place, value in np.ndenumerate(params[name])}
    first, second, averaged = dict.fromkeys(params, 0.0), dict.fromkeys(params, 0.0), dict(params)
    for t, (grads, rows) in enumerate(steps, 1):
        slopes = {("w", *place): float(slope) for place, slope in np.ndenumerate(grads["w"])}
        for (i, column), slope in np.ndenumerate(grads["pieces"]):
            slopes["pieces", rows[i], column] = slopes.get(("pieces", rows[i], column), 0.0) + float(slope)
        norm = sum(slope**2 for slope in slopes.values()) ** 0.5
        rate = schedule.rate * min(t / schedule.warm, 1 - (t - 1) / number)
        for place, slope in slopes.items():
            slope *= min(1.0, 5 / norm)
            first[place] = 0.9 * first[place] + 0.1 * slope
            second[place] = schedule.decay * second[place] + (1 - schedule.decay) * slope**2
            mean, square = first[place] / (1 - 0.9**t), second[place] / (1 - schedule.decay**t)
            params[place] -= rate * mean / square**0.5
        keep = min(schedule.average, t / (t + 10))
        averaged = {place: keep * value + (1 - keep) * params[place] for place, value in averaged.items()}
    return params, averaged


def test_steps_are_those_of_adam():
    """Warmed up, decaying, clipped in the steps of large gradients; rows of pieces that recur, and one that never does."""
    rng = np.random.default_rng(3)
    schedule = Schedule(epochs=2, rate=0.1, warm=3, decay=0.9, average=0.2)
    params = {"pieces": rng.normal(size=(4, 2)).astype(np.float32), "w": rng.normal(size=3).astype(np.float32)}
    steps = []
    for size in (0.5, 20.0, 0.5, 3.0, 0.5):
        grads = {
            "pieces": rng.normal(0, size, (5, 2)).astype(np.float32),
            "w": rng.normal(0, size, 3).astype(np.float32),
        }
        steps.append((grads, rng.choice([0, 1, 3], 5)))
    weights, averages = naive_adam(params, steps, schedule, 8)
    learner = Adam(params, schedule, 4)
    for grads, rows in steps:
        learner.step(dict(grads), rows)
    for found, wanted in ((learner.params, weights), (learner.averaged, averages)):
        for (name, *place), value in wanted.items():
            assert found[name][tuple(place)] == pytest.approx(value, rel=1e-4, abs=1e-5)


def test_reported_losses_are_means_over_words(monkeypatch):
    """Two batches an epoch, of 2 words with a loss of 1 and of 4 words with one of 4: (2 + 16) / 6."""
    batches = {2: 1.0, 4: 4.0}
    maker = SimpleNamespace(
        number=lambda examples, size: 2,
        shuffled=lambda examples, size: iter(batches),
        batch=lambda words: SimpleNamespace(words=range(words), rows=np.zeros(1, np.int64), packing=None),
        dropout=lambda *_: None,
    )
    slopes = {"pieces": np.zeros((1, 2), np.float32)}
    monkeypatch.setattr(
        training, "loss_and_gradient", lambda params, batch, drop: ({"heads": batches[len(batch.words)]}, dict(slopes))
    )
    reports = []
    made = training._learn(
        {"pieces": np.ones((1, 2), np.float32)},
        maker,
        [],
        SMALL,
        Schedule(epochs=2),
        lambda *values: reports.append(values),
    )
    assert reports == [(0, {"heads": 3.0}), (1, {"heads": 3.0})]
    assert (made["pieces"] == 1).all()


BRIEF = dataclasses.replace(QUICK, epochs=2)


@pytest.fixture(scope="module")
def trained(treebank):
    """A model whose parses are poor."""
    return train([treebank], {}, "en", np.random.default_rng(5), SMALL, BRIEF)


@pytest.mark.slow
def test_training_learns_its_treebank(treebank):
    losses = []
    rng = np.random.default_rng(5)
    model = train([treebank], {}, "en", rng, SMALL, QUICK, lambda epoch, loss: losses.append(loss))
    assert sum(losses[-1].values()) < 0.4 * sum(losses[0].values())
    scores = Attachment()
    for gold, found in zip(treebank, parse_all(model, [tree.words for tree in treebank]), strict=True):
        scores.add(gold, found)
    assert scores.percent()["UAS"] > 85
    assert scores.percent()["LAS"] > 75


def test_constituents_are_made_from_the_dependencies(trained, treebank, tmp_path):
    """They come back as the same dependencies, lifted where these are not projective."""
    trained.save(tmp_path / "small.biaffine")
    plain, both = (BiaffineParser(tmp_path / "small.biaffine", constituents=wanted) for wanted in (False, True))
    assert (plain.trained_on.labels, both.trained_on.labels) == ("", "upos")
    sentences = [tree.words for tree in treebank[:20]]
    for one, other in zip(plain.parse(sentences), both.parse(sentences), strict=True):
        assert (one.dependencies, one.constituents) == (other.dependencies, ())
        (scored,) = other.constituents
        assert scored.log_probability == 0.0
        assert to_dependencies(scored.tree).heads == lift(one.dependencies.heads)
    check_parser(both, sentences)


def test_a_model_of_dependencies_takes_a_parser_that_gives_constituents_too():
    """Labels of constituents do not matter to a model that reads none of them."""
    both = BiaffineParser(EMBEDDED, constituents=True)
    assert parser_of_model(None, both, EnglishParser(), constituents=False) is both
    assert DependencyLanguageModel(parser=both).totals([("it", "rains", ".")])[0] < 0
    with pytest.raises(ModelError, match="labels of a treebank in brackets, those of the parser labels made from"):
        parser_of_model(None, both, EnglishParser())


def test_a_model_that_is_saved_and_read_parses_the_same(trained, treebank, tmp_path):
    path = tmp_path / "small.biaffine"
    trained.save(path)
    again = read_model(path)
    again.save(tmp_path / "again.biaffine")
    assert (tmp_path / "again.biaffine").read_bytes() == path.read_bytes()
    assert (again.tags, again.relations, again.language) == (trained.tags, trained.relations, "en")
    assert again.settings["schedule"] == dataclasses.asdict(BRIEF)
    parser = BiaffineParser(path, "en")
    sentences = [tree.words for tree in treebank] + [(), ("a",) * (LONGEST + 1)]
    check_parser(parser, sentences)
    assert parser.parse(sentences)[-2:] == [Parse(), Parse()]


def test_batches_have_the_inputs_of_parsing(trained, treebank):
    """The pieces and vectors of words in training are those that the trained model reads."""
    batch = Batches(trained, 0.0, 0.0, np.random.default_rng(0)).batch([Example(treebank[0])])
    embedded = network.sum_pieces(trained.params["pieces"], batch.rows, batch.owners, len(batch.vectors))
    distinct = list(dict.fromkeys(treebank[0].words))
    np.testing.assert_array_equal(np.hstack([embedded, batch.vectors]), word_inputs(trained, distinct))


def test_training_again_gives_the_same_model(treebank):
    schedule = dataclasses.replace(QUICK, epochs=1, lower_case=0.3)
    made = [train([treebank[:20]], {}, "en", np.random.default_rng(6), SMALL, schedule) for _ in range(2)]
    for name, value in made[0].params.items():
        np.testing.assert_allclose(made[1].params[name], value, 1e-4, 1e-5, err_msg=name)


ENGLISH = EnglishParser()


def test_english_parser_agrees_with_the_hand_made_treebank(treebank):
    scores = Attachment()
    for gold, parse in zip(treebank, ENGLISH.parse([tree.words for tree in treebank]), strict=True):
        scores.add(gold, parse.dependencies)
    assert scores.percent()["UAS"] > 90
    assert scores.percent()["UPOS"] > 92


def test_english_parser_knows_subject_from_object():
    for words, subject in (("the dog ate the man", 1), ("the man ate the dog", 1)):
        tree = ENGLISH.parse([words.split()])[0].dependencies
        assert tree.relations[subject] == "nsubj"
        assert tree.relations[4] == "obj"
        assert tree.heads == (1, 2, -1, 4, 2)


@pytest.mark.slow
@settings(max_examples=25)
@given(st.lists(st.lists(st.text("abcDE'.,-0é😀\u2028", min_size=1, max_size=12), max_size=30), max_size=8))
def test_any_words_get_a_tree_over_them(sentences):
    check_parser(ENGLISH, sentences)
    for sentence, parse in zip(sentences, ENGLISH.parse(sentences), strict=True):
        if sentence:
            assert tree_fault(parse.dependencies.heads) is None
            roots = [r == "root" for r in parse.dependencies.relations]
            assert roots == [h == -1 for h in parse.dependencies.heads]


def test_trees_do_not_depend_on_the_company(treebank):
    sentences = [tree.words for tree in treebank]
    together = ENGLISH.parse(sentences)
    assert ENGLISH.parse(sentences[::-1]) == together[::-1]
    assert [ENGLISH.parse([sentence])[0] for sentence in sentences] == together


def test_inputs_of_words_that_are_kept_are_those_computed_anew(monkeypatch):
    monkeypatch.setattr("rerank_plugins.dependency.biaffine.pieces.KEPT", 4)
    inputs = WordInputs(ENGLISH._parser._model)
    for words in (["the", "dog"], ["dog", "cat"], ["a", "the", "bird"], ["one", "two", "three", "four", "the"], ["a"]):
        np.testing.assert_array_equal(inputs(words), word_inputs(ENGLISH._parser._model, words))


def test_odd_text_is_parsed_or_has_no_parse():
    odd = [["a\x00b", "c"], ["x"] * 10_000, ["\ud800", "is", "alone"], ["w" * 100_000]]
    parses = ENGLISH.parse(odd)
    assert parses[1] == Parse()
    assert [parse.dependencies.words for parse in parses if parse.dependencies] == [tuple(odd[i]) for i in (0, 2, 3)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot be read"),
        (b"", "not a model file of this program"),
        (b"no model", "not a model file of this program"),
        (b"PK\x03\x04 not an archive", "not a model file of this program"),
        (EMBEDDED.read_bytes()[:100_000], "compressed model file is cut short or damaged"),
    ],
)
def test_files_that_are_no_models(tmp_path, content, message):
    path = tmp_path / "model"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ModelError, match=message) as caught:
        BiaffineParser(path).parse([["a"]])
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_an_interrupted_save_leaves_the_older_model_and_nothing_else(tmp_path, monkeypatch):
    model = BiaffineModel(random_params(np.random.default_rng(0)), (), (), np.zeros((1, 3)), (), (), "en")
    path = tmp_path / "model"
    path.write_bytes(b"older")

    def interrupted(source, target):
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.save(path)
    assert [file.name for file in tmp_path.iterdir()] == ["model"]
    assert path.read_bytes() == b"older"


def test_damage_to_a_model_is_seen(trained, tmp_path):
    path = tmp_path / "model"
    trained.save(path)
    check_damage_is_seen(path, read_model, ModelError)


def check_equal(one, other):
    """That two models are the same."""
    for name in ("pieces", "forms", "tags", "relations", "language", "settings"):
        assert getattr(one, name) == getattr(other, name), name
    np.testing.assert_array_equal(one.vectors, other.vectors)
    assert list(one.params) == list(other.params)
    for name, value in one.params.items():
        np.testing.assert_array_equal(value, other.params[name])


def test_a_model_that_was_read_is_written_as_it_is(trained, tmp_path):
    trained.save(tmp_path / "one")
    model = read_model(tmp_path / "one")
    model.save(tmp_path / "two")
    check_equal(read_model(tmp_path / "two"), model)


@pytest.mark.parametrize("name", ["pieces", "vectors", "label.w", "lstm2.backward.b", "tag.w"])
def test_arrays_that_do_not_fit_the_lists_are_refused(name, trained, tmp_path):
    """With one row too few, as a file may have whose checksums fit."""
    if name == "vectors":
        changes = {"forms": (*trained.forms, "more")}
    else:
        changes = {"params": trained.params | {name: trained.params[name][1:]}}
    path = tmp_path / "model"
    dataclasses.replace(trained, **changes).save(path)
    with pytest.raises(ModelError, match=f"{re.escape(name)} has the shape .*, wanted ") as caught:
        read_model(path)
    assert str(caught.value).startswith(f"{path}: damaged model of a parser")


def test_models_of_another_version_or_language(trained, tmp_path):
    model = trained
    path = tmp_path / "model"
    model.save(path)
    plain = bytearray(zstandard.ZstdDecompressor().decompress(path.read_bytes()))
    plain[8:12] = (99).to_bytes(4, "little")
    path.write_bytes(plain)
    with pytest.raises(ModelError, match="model file of version 99, wanted version 2"):
        BiaffineParser(path).parse([["a"]])
    dataclasses.replace(model, language="de").save(path)
    with pytest.raises(ModelError, match="a model for 'de', wanted 'en'"):
        BiaffineParser(path, "en").parse([["a"]])
    assert BiaffineParser(path).parse([["a"]])[0].dependencies is not None


@pytest.mark.slow
def test_english_parser_reaches_its_figures_on_the_web_treebank(shared_data):
    """What the documentation says of the embedded model, within a rounding."""
    import lzma

    from rerank_plugins.core.dependency_tree import read_conllu

    with lzma.open(shared_data / "treebank_ewt" / "ewt-dev.conllu.xz", "rt", encoding="utf-8") as lines:
        trees = list(read_conllu(lines))
    scores = Attachment()
    for gold, parse in zip(trees, ENGLISH.parse([tree.words for tree in trees]), strict=True):
        scores.add(gold, parse.dependencies)
    assert scores.percent()["UAS"] > 87
    assert scores.percent()["LAS"] > 83.5

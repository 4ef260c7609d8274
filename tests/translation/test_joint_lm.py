"""The neural network joint model: contexts and ln p against the obvious twin, gradients, training, file, feature."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerank_plugins import ConfigError, ModelError
from rerank_plugins.core.nbest import Hypothesis, NBestList
from rerank_plugins.translation.alignment.model import write_model as write_alignment
from rerank_plugins.translation.alignment.training import Settings as AlignmentSettings
from rerank_plugins.translation.alignment.training import train as train_alignment
from rerank_plugins.translation.joint_model import ARRAYS, affiliations, filled, read_model, write_model
from rerank_plugins.translation.joint_model_training import Gradient, Optimiser, Sampling, Settings, gradient, train
from rerank_plugins.translation.model_features import JointLMFeature
from tests.command_line import done, refused
from tests.translation.naive_joint_lm import naive_affiliations, naive_context, naive_ln_p, naive_sentence, symbol

GENERATOR = np.random.default_rng(3)
WORDS = {"haus": "house", "hund": "dog", "katze": "cat", "baum": "tree", "sieht": "sees", "rot": "red"}
SETTINGS = Settings(window=1, history=2, embedding=8, hidden=16, epochs=12, batch=32, draws=8)


def translated(words):
    """Word by word, but an adjective comes first: `haus rot` is `red house`."""
    words = list(words)
    for i in range(1, len(words)):
        if words[i] == "rot" and words[i - 1] not in ("rot", "sieht"):
            words[i - 1 : i + 1] = words[i], words[i - 1]
    return " ".join(WORDS[word] for word in words)


SOURCES = [list(GENERATOR.choice(list(WORDS), GENERATOR.integers(2, 6))) for _ in range(300)]
PAIRS = [(" ".join(words), translated(words)) for words in SOURCES]


@pytest.fixture(scope="module")
def alignment():
    return train_alignment(PAIRS, AlignmentSettings(model="diagonal", iterations=3))


@pytest.fixture(scope="module")
def trained(alignment):
    epochs = []
    return train(PAIRS, alignment, SETTINGS, report=epochs.append), epochs


@given(st.lists(st.integers(-1, 4), max_size=8), st.integers(5, 7))
def test_words_without_links_are_affiliated_with_the_nearest(links, length):
    assert filled(np.array(links, np.int64), length).tolist() == naive_affiliations(links, length)


def test_texts_without_words_have_affiliations(alignment):
    texts = ["", "dog sees tree"]
    assert [places.tolist() for places in affiliations(alignment, "Hund sieht Baum", texts)] == [[], [0, 1, 2]]
    assert [places.tolist() for places in affiliations(alignment, "", texts)] == [[], [0, 0, 0]]


def test_contexts_and_probabilities_are_those_of_the_twin(trained, alignment):
    """Known and unknown words, equal contexts, an empty text and an empty source."""
    model = trained[0]
    for source, targets in [
        ("HUND sieht haus rot", ["dog sees red house", "dog tree", "dog sees new house sees", ""]),
        ("", ["dog"]),
    ]:
        places = affiliations(alignment, source, targets)
        contexts = model.numbering.contexts([(source, targets, places)])
        spots = [(i, j) for i, target in enumerate(targets) for j in range(len(target.split()) + 1)]
        expected = [
            [
                symbol(model.numbering, *seen)
                for seen in naive_context(model.numbering, source, targets[i], places[i], j)
            ]
            for i, j in spots
        ]
        assert contexts.symbols().tolist() == expected
        ln_p = [value for i, target in enumerate(targets) for value in naive_sentence(model, source, target, places[i])]
        assert model.ln_p(contexts) == pytest.approx(ln_p, abs=1e-4)


def test_probabilities_sum_to_one(trained):
    context = naive_context(trained[0].numbering, "hund sieht", "dog sees", [0, 1], 1)
    assert sum(math.exp(value) for value in naive_ln_p(trained[0], context).values()) == pytest.approx(1)


def test_gradients_are_those_of_finite_differences(trained):
    """Of the sampled loss, by each array; the outputs sampled and the units dropped out are held fixed."""
    generator = np.random.default_rng(1)
    model = trained[0]
    symbols = generator.integers(0, model.numbering.symbols, (6, 5)).astype(np.int32)
    outputs = generator.integers(0, model.numbering.outputs, 6).astype(np.int32)
    chosen = np.union1d(outputs, [0, 3])
    ln_pi = np.log(generator.uniform(0.2, 1, len(chosen))).astype(np.float32)
    kept = (generator.random((6, 16)) > 0.3).astype(np.float32) / np.float32(0.7)
    arrays = {
        "hidden": model.hidden, "hidden_bias": model.hidden_bias, "output": model.output,
        "output_bias": model.output_bias, "inputs": model.embeddings,
    }  # fmt: skip
    slopes = gradient(model, symbols, outputs, chosen, ln_pi, kept)
    for name, array in arrays.items():
        direction = generator.standard_normal(array.shape).astype(np.float32)
        before, losses = array.copy(), []
        for step in (-1e-3, 1e-3):
            array += np.float32(step) * direction
            losses.append(gradient(model, symbols, outputs, chosen, ln_pi, kept).loss)
            array[:] = before
        part = direction[symbols] if name == "inputs" else direction[chosen] if "output" in name else direction
        assert (getattr(slopes, name) * part).sum() == pytest.approx((losses[1] - losses[0]) / 2e-3, rel=0.02, abs=0.02)


def test_sampled_sums_are_without_bias():
    """The mean of the estimated sums of exp(s) over many batches is the sum over all outputs."""
    generator = np.random.default_rng(2)
    p = generator.dirichlet(np.ones(30))
    q = p**0.75 / (p**0.75).sum()
    scores, sampling = generator.standard_normal(30), Sampling(q, p, 10)
    sums = []
    for _ in range(4000):
        chosen, ln_pi = sampling.draw(generator.choice(30, 5, p=p).astype(np.int32), generator)
        sums.append(np.exp(scores[chosen] - ln_pi).sum())
    assert np.mean(sums) == pytest.approx(np.exp(scores).sum(), abs=4 * np.std(sums) / 4000**0.5)


def test_steps_are_those_of_adagrad_and_adam(trained):
    """Two steps; a symbol that stands twice in a batch moves twice, as each gradient comes."""
    generator = np.random.default_rng(4)
    model = replace(trained[0], **{name: getattr(trained[0], name).copy() for name in ARRAYS})
    expected = {name: getattr(model, name).astype(float) for name in ARRAYS}
    optimiser, squares = Optimiser(model), {"embeddings": {}, "output": {}}
    moments = dict.fromkeys(("hidden", "hidden_bias"), (0.0, 0.0))
    symbols, chosen = np.array([[1, 2], [2, 3]], np.int32), np.array([0, 4])
    for number in (1, 2):
        shapes = (2, 2, 8), model.hidden.shape, (16,), (2, 16), (2,)
        change = Gradient(0.0, *(generator.standard_normal(shape).astype(np.float32) for shape in shapes))
        optimiser.move(symbols, chosen, change, 0.5, 0.1)
        for row, slope in zip(symbols.ravel(), change.inputs.reshape(-1, 8), strict=True):
            total = squares["embeddings"][row] = squares["embeddings"].get(row, 1e-6) + (slope**2).mean()
            expected["embeddings"][row] -= 0.5 / total**0.5 * slope
        for row, slope, of_bias in zip(chosen, change.output, change.output_bias, strict=True):
            mean_square = np.append(slope, of_bias).astype(float) ** 2
            total = squares["output"][row] = squares["output"].get(row, 1e-6) + mean_square.mean()
            expected["output"][row] -= 0.5 / total**0.5 * slope
            expected["output_bias"][row] -= 0.5 / total**0.5 * of_bias
        for name, (mean, square) in moments.items():
            slope = getattr(change, name).astype(float)
            mean, square = 0.9 * mean + 0.1 * slope, 0.999 * square + 0.001 * slope**2
            moments[name] = mean, square
            root = np.sqrt(square / (1 - 0.999**number))
            expected[name] -= 0.1 * (mean / (1 - 0.9**number)) / (root + 1e-8)
    for name in ARRAYS:
        assert getattr(model, name) == pytest.approx(expected[name], abs=1e-4), name


def test_training_learns_to_translate(trained, alignment):
    """The next word follows from the source where the history alone cannot tell it."""
    model, epochs = trained
    assert [epoch.number for epoch in epochs] == list(range(1, 13))
    assert epochs[-1].held_out < 0.7 * epochs[0].held_out
    assert epochs[-1].held_out < 2
    source, targets = "hund sieht baum", ["dog sees tree", "dog sees cat", "dog tree sees"]
    places = affiliations(alignment, source, targets)
    right, wrong, reordered = (naive_sentence(model, source, t, p) for t, p in zip(targets, places, strict=True))
    assert right[2] > wrong[2] + 1
    assert sum(right) > sum(reordered)


def test_the_same_seed_gives_the_same_model(alignment):
    short = Settings(window=1, history=2, embedding=8, hidden=16, epochs=1, draws=8)
    first, second = (train(PAIRS, alignment, short) for _ in range(2))
    assert (first.embeddings == second.embeddings).all()
    assert (first.output == second.output).all()


def test_the_feature(trained, alignment, tmp_path):
    write_model(trained[0], tmp_path / "joint")
    write_alignment(alignment, tmp_path / "align")
    feature = JointLMFeature(tmp_path / "joint", tmp_path / "align")
    texts = ["dog sees red house", "red red red", "", "dog sees red house"]
    nbest = NBestList("0", tuple(Hypothesis(text) for text in texts), source="Hund sieht Haus rot")
    values, scores = feature.extract(nbest), feature.word_scores(nbest)
    for row, text, places in zip(values, texts, affiliations(alignment, nbest.source, texts), strict=True):
        ln_p = naive_sentence(trained[0], nbest.source, text, places)
        expected = [sum(ln_p), sum(ln_p) / len(ln_p), -sum(value < math.log(0.01) for value in ln_p)]
        assert row == pytest.approx(expected, abs=1e-3)
        assert scores[texts.index(text)] == pytest.approx(ln_p, abs=1e-4)
    assert values[0, 1] > values[1, 1]
    whole, share = (
        JointLMFeature(tmp_path / "joint", tmp_path / "align", types).word_scores(nbest) for types in (1, 50)
    )
    assert whole[0][2] == pytest.approx(share[0][2])  # `red` is known
    other = NBestList("0", (Hypothesis("dog sees zebra"),), source="Hund sieht Haus rot")
    whole, share, own = (
        JointLMFeature(tmp_path / "joint", tmp_path / "align", types).word_scores(other)[0] for types in (1, 50, None)
    )
    assert whole - share == pytest.approx([0, 0, math.log(50), 0])
    assert whole - own == pytest.approx([0, 0, math.log(trained[0].unknown_types), 0])
    with pytest.raises(ConfigError, match="joint-lm compares with the source sentence"):
        feature.extract(NBestList("0", nbest.hypotheses))


def test_files(trained, tmp_path):
    size = write_model(trained[0], tmp_path / "m")
    again = read_model(tmp_path / "m")
    assert size == (tmp_path / "m").stat().st_size
    assert again.numbering == trained[0].numbering
    assert (again.hidden == trained[0].hidden).all()
    (tmp_path / "m").write_bytes((tmp_path / "m").read_bytes()[:-100])
    with pytest.raises(ModelError):
        read_model(tmp_path / "m")


def test_the_command(alignment, tmp_path):
    write_alignment(alignment, tmp_path / "a")
    (tmp_path / "pairs").write_text("".join(f"{f} ||| {e}\n" for f, e in PAIRS))
    train_it = ("train", "joint-lm", tmp_path / "pairs", "--alignment", tmp_path / "a", "-o", tmp_path / "m")
    ran = done(*train_it, "--epochs", 2, "--embedding", 8, "--hidden", 16)
    assert "epoch 2: perplexity " in ran.err
    assert "300 sentence pairs, 6 source and 6 target words" in ran.err
    (tmp_path / "pairs").write_text("haus ||| house\n")
    assert "1 sentence pairs with words on both sides" in refused(*train_it)

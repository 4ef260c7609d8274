"""The Transformer of example_nbest/neural: training, search, sampling and forced scores, by tiny models."""

import itertools
import sys
from pathlib import Path

import numpy as np
import pytest

from rerank_adapters.job.specs import Names, Spec
from tests.command_line import rerank

torch = pytest.importorskip("torch", reason="torch is not installed: it comes with the extra `neural`")

from example_nbest.neural import decode, score, train  # noqa: E402
from example_nbest.neural.model import END, START, Shape, Transformer, padded  # noqa: E402

TINY = {"width": 32, "inner": 64, "heads": 2, "encoder": 1, "decoder": 1}
SOURCE = [5, 7, 6, 9, END]


@pytest.fixture
def model():
    """A model with random weights that differ enough to make some pieces probable."""
    return random_model(Shape(12, **TINY))


def random_model(shape):
    torch.manual_seed(3)
    model = Transformer(shape).eval()
    model.embedding.weight.data *= 3
    return model


def log_p(model, source, target):
    """(pieces) ln p of each piece after the target pieces, from scratch."""
    with torch.no_grad():
        states, _ = model.decode(padded([[START, *target]]), *model.encode(padded([source])))
        return model.logits(states[0, -1]).log_softmax(-1).numpy().astype(float)


def total(model, source, target):
    """Ln p of the target pieces and their end."""
    return sum(log_p(model, source, target[:at])[piece] for at, piece in enumerate([*target, END]))


def every_target(pieces, longest):
    inner = [piece for piece in range(pieces) if piece != END]
    return [list(target) for length in range(longest + 1) for target in itertools.product(inner, repeat=length)]


def made_sentences():
    """Sentences of two to seven words of eight, and the same reversed, as pieces."""
    rng = np.random.default_rng(5)
    sentences = [rng.integers(4, 12, rng.integers(2, 8)).tolist() for _ in range(51)]
    return [([*sentence, END], [*sentence[::-1], END]) for sentence in sentences]


@pytest.mark.release
def test_it_learns_to_reverse_sentences(tmp_path: Path) -> None:
    examples = made_sentences()
    model = train.train(
        tmp_path, examples, Shape(12, **TINY, dropout=0.0), steps=600, rate=5e-3, warm_up=50, tokens=800, smoothing=0.0
    )
    found = [decode.beam_search(model, source, 4, 20)[0].pieces for source, _ in examples[1:]]
    right = sum(pieces == target[:-1] for pieces, (_, target) in zip(found, examples[1:], strict=True))
    assert right >= 47, f"{right} of 50"
    again = train.load_model(tmp_path)
    np.testing.assert_array_equal(score.forced_scores(again, examples), score.forced_scores(model, examples))


@pytest.mark.parametrize("encoder", [1, 0])
def test_forced_scores_are_those_of_the_search(encoder) -> None:
    model = random_model(Shape(12, **TINY | {"encoder": encoder}))
    found = decode.beam_search(model, SOURCE, 8, 6)
    assert len(found) == 8
    forced = score.forced_scores(model, [(SOURCE, [*one.pieces, END]) for one in found], tokens=30)
    np.testing.assert_allclose(forced, [one.log_p for one in found], rtol=1e-5)
    np.testing.assert_allclose(forced, [total(model, SOURCE, one.pieces) for one in found], rtol=1e-5)
    scores = [one.log_p / (len(one.pieces) + 1) for one in found]
    assert scores == sorted(scores, reverse=True)


def test_a_language_model_heeds_no_source() -> None:
    model = random_model(Shape(12, **TINY | {"encoder": 0}))
    assert log_p(model, SOURCE, [5, 4]).tolist() == log_p(model, [END], [5, 4]).tolist()
    assert not any("source" in name for name, _ in model.named_parameters())


def test_padding_changes_no_score(model) -> None:
    examples = [(SOURCE, [4, END]), ([8, END], [4, 9, 9, 5, END]), ([*SOURCE[:-1], *SOURCE], [END])]
    together = score.forced_scores(model, examples)
    alone = [score.forced_scores(model, [example])[0] for example in examples]
    np.testing.assert_allclose(together, alone, rtol=1e-5)


def test_a_beam_of_one_is_greedy_search(model) -> None:
    for source in (SOURCE, [4, END], [11, 10, 4, END]):
        greedy: list[int] = []
        while len(greedy) < 9 and (best := int(np.argmax(log_p(model, source, greedy)))) != END:
            greedy.append(best)
        assert decode.beam_search(model, source, 1, 9)[0].pieces == greedy


def test_a_wide_beam_is_exhaustive_search() -> None:
    """Of the pieces 0, 1, 2 and the end there are 40 hypotheses of at most three pieces."""
    model = random_model(Shape(4, **TINY))
    source = [1, END]
    wanted = {tuple(target): total(model, source, target) for target in every_target(4, 3)}
    found = decode.beam_search(model, source, 64, 3)
    assert [one.pieces for one in found] == sorted(
        map(list, wanted), key=lambda target: -wanted[tuple(target)] / (len(target) + 1)
    )
    np.testing.assert_allclose([one.log_p for one in found], [wanted[tuple(one.pieces)] for one in found], rtol=1e-5)


def test_samples_have_the_frequencies_of_their_probabilities() -> None:
    model = random_model(Shape(4, **TINY))
    number, source = 4000, [1, END]
    drawn = decode.samples(model, source, number, 3, torch.Generator().manual_seed(1))
    counts = {tuple(target): 0 for target in every_target(4, 3)}
    for one in drawn:
        counts[tuple(one.pieces)] += 1
    for target, count in counts.items():
        ending = log_p(model, source, target)[END] if len(target) == 3 else 0.0  # the longest end in any case
        p = np.exp(total(model, source, target) - ending)
        assert count / number == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / number) + 1e-3), target
    np.testing.assert_allclose(drawn[0].log_p, total(model, source, drawn[0].pieces), rtol=1e-5)
    assert drawn == decode.samples(model, source, number, 3, torch.Generator().manual_seed(1))


@pytest.mark.release
def test_an_interrupted_training_comes_to_the_same_losses(tmp_path: Path) -> None:
    def run(name: str, **options):
        (tmp_path / name).mkdir(exist_ok=True)
        options = {"steps": 20, "warm_up": 5, "tokens": 120, "every": 5} | options
        return train.train(tmp_path / name, made_sentences(), Shape(12, **TINY), **options)

    whole = run("whole")
    run("interrupted", stop=13)  # its last checkpoint is that of step 10
    resumed = run("interrupted")
    for name, weights in whole.state_dict().items():
        assert torch.equal(weights, resumed.state_dict()[name]), name
    rows = [
        [line.split("\t")[:4] for line in (tmp_path / name / "losses.tsv").read_text().splitlines()]
        for name in ("whole", "interrupted")
    ]
    assert rows[0] == rows[1]
    assert [row[0] for row in rows[0]] == ["step", "5", "10", "15", "20"]
    assert sorted(path.name for path in (tmp_path / "whole").iterdir()) == ["checkpoint.pt", "losses.tsv", "model.pt"]


@pytest.mark.release
def test_commands_from_pairs_to_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
    pytest.importorskip("sentencepiece", reason="sentencepiece is not installed: it comes with the extra `neural`")
    mt = root / "example_nbest/mt"
    sides = [(mt / f"train.{side}").read_text(encoding="utf-8").splitlines()[:400] for side in ("de", "en")]
    (tmp_path / "pairs").write_text("".join(f"{de} ||| {en}\n" for de, en in zip(*sides, strict=True)))
    (tmp_path / "de").write_text("".join(f"{de}\n" for de in sides[0][:3]))

    def run(module, *words):
        monkeypatch.setattr(sys, "argv", ["it", *map(str, words)])
        module.main()

    small = ["--pieces", 300, "--width", 32, "--inner", 64, "--heads", 2, "--encoder", 1, "--decoder", 1, "--steps", 30]
    for direction in ("forward", "reverse", "lm"):
        run(train, tmp_path / direction, tmp_path / "pairs", "--direction", direction, "--every", 30, *small)
    lists = tmp_path / "lists.nbest"
    run(decode, tmp_path / "forward", tmp_path / "de", "--beam", 4, "-o", lists)
    rows = [line.split(" ||| ") for line in lists.read_text().splitlines()]
    assert {row[0] for row in rows} == {"0", "1", "2"}
    assert len({(row[0], row[1]) for row in rows}) == len(rows)
    for direction in ("forward", "reverse", "lm"):
        source = ["--source", tmp_path / "de"] if direction != "lm" else []
        run(score, tmp_path / direction, lists, "--direction", direction, *source, "-o", tmp_path / f"{direction}.gz")
    ran = rerank(
        "extract", lists, "-f", f"column,file={tmp_path}/reverse.gz,label=reverse",
        "-f", f"column,file={tmp_path}/lm.gz,label=lm", "-o", tmp_path / "scores.npz",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    (tmp_path / "texts").write_text("".join(f"{row[1]}\n" for row in rows))
    run(score, tmp_path / "lm", tmp_path / "texts", "--direction", "lm", "--sentences", "-o", tmp_path / "sentences.gz")
    from rerank_plugins import open_text

    def numbers(name):
        with open_text(tmp_path / name) as lines:
            return [float(line) for line in lines]

    assert numbers("sentences.gz") == numbers("lm.gz")
    pieces = train.open_pieces(tmp_path / "forward")
    checked = 0
    for row, forced in zip(rows, numbers("forward.gz"), strict=True):
        name, log_p, _, count = row[2].split()
        if name == "NMT=" and len(pieces.encode(row[1])) == int(count):  # the text has the pieces that were found
            assert forced == pytest.approx(float(log_p), abs=2e-3)
            checked += 1
    assert checked
    run(decode, tmp_path / "forward", tmp_path / "de", "--samples", 5, "-o", tmp_path / "samples.nbest")
    assert len((tmp_path / "samples.nbest").read_text().splitlines()) == 15


@pytest.mark.release
def test_neural_causal_gives_forced_scores(tmp_path: Path, root: Path) -> None:
    """A language model of random weights, written as a GPT-2 and read by `neural-causal`."""
    pytest.importorskip("sentencepiece", reason="sentencepiece is not installed: it comes with the extra `neural`")
    pytest.importorskip("transformers", reason="not installed: pip install transformers")
    from example_nbest.neural.gpt2 import write_gpt2
    from example_nbest.neural.text import encoded, learn_pieces, open_pieces
    from rerank_plugins.core.loader import load_plugins

    texts = (root / "example_nbest/mt/train.en").read_text(encoding="utf-8").splitlines()[:300]
    learn_pieces(tmp_path / "pieces.model", texts, 400)
    pieces = open_pieces(tmp_path)
    model = random_model(Shape(len(pieces), **TINY | {"encoder": 0, "decoder": 2}))
    write_gpt2(model, pieces, tmp_path / "gpt2")
    texts = [*texts[:20], "Wörds ж ж and no words", "a"]
    plugin = Spec.read(
        "language_model", {"use": "neural-causal", "model": tmp_path / "gpt2"}, Names(load_plugins(installed=False))
    ).make()
    forced = score.forced_scores(model, [([END], target) for target in encoded(pieces, texts)])
    np.testing.assert_allclose(plugin.totals([text.split() for text in texts]), forced, rtol=1e-5)

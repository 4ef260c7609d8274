"""Small files of n-gram models, and the embedded English model."""

import numpy as np
import pytest

from rerank_plugins.core.errors import ModelError
from rerank_plugins.core.trained_on import TrainedOn
from rerank_plugins.kit.backoff.scoring import score_steps
from rerank_plugins.kit.files.model_file import read_trained_on
from rerank_plugins.ngram.language_model import EMBEDDED, NgramLanguageModel
from rerank_plugins.ngram.model import NgramModel
from rerank_plugins.ngram.training import NgramSettings, train
from rerank_plugins.ngram.unigram_model import UnigramLanguageModel
from rerank_plugins.testing import check_language_model
from tests.command_line import done


@pytest.mark.parametrize("order", [1, 2, 4])
@pytest.mark.parametrize("smoothing", ["kneser-ney", "stupid-backoff"])
@pytest.mark.parametrize("prune", [(), (0, 1)])
def test_writing_and_reading_are_identities_but_for_rounding(tmp_path, order, smoothing, prune):
    rng = np.random.default_rng(order)
    lines = [" ".join(f"w{x}" for x in np.minimum(rng.zipf(1.5, 9), 400)) for _ in range(300)]
    ngrams = train([("text", lines)], NgramSettings(order, smoothing, prune[:order])).ngrams
    links = ngrams.tables.events["next"].copy()
    assert ngrams.save(tmp_path / "small", compact=True) == (tmp_path / "small").stat().st_size
    assert (tmp_path / "small").stat().st_size < ngrams.save(tmp_path / "exact") / 2
    np.testing.assert_array_equal(ngrams.tables.events["next"], links)
    again = NgramModel.load(tmp_path / "small")
    again.tables.check("it")
    assert again.vocabulary == ngrams.vocabulary
    assert again.tables.unseen == ngrams.tables.unseen
    assert sorted(path.name for path in tmp_path.iterdir()) == ["exact", "small"]
    for array, names in (("contexts", ("parent", "symbol", "events")), ("events", ("symbol", "next"))):
        left, right = getattr(ngrams.tables, array), getattr(again.tables, array)
        for name in names:
            np.testing.assert_array_equal(left[name], right[name], name)
        value = "backoff" if array == "contexts" else "log10"
        np.testing.assert_allclose(left[value], right[value], atol=1 / 128 + 1e-6)


def test_rounded_probabilities_nearly_sum_to_one(tmp_path):
    rng = np.random.default_rng(1)
    lines = [" ".join(f"w{x}" for x in np.minimum(rng.zipf(1.6, 6), 6)) for _ in range(80)]
    train([("text", lines)], NgramSettings(3)).ngrams.save(tmp_path / "small", compact=True)
    tables = NgramModel.load(tmp_path / "small").tables
    size, contexts = tables.sizes[0], len(tables.contexts) - 1
    symbols = np.tile(np.arange(size), contexts)
    ln_p, _, _ = score_steps(tables, np.repeat(np.arange(contexts), size), 0 * symbols, symbols)
    np.testing.assert_allclose(np.exp(ln_p).reshape(-1, size).sum(axis=1), 1, atol=0.03)


def test_a_damaged_file_is_one_clear_line(tmp_path):
    (tmp_path / "small").write_bytes(b"\x28\xb5\x2f\xfdxxxx")
    with pytest.raises(ModelError, match="small"):
        NgramModel.load(tmp_path / "small")


def test_the_command_writes_them_and_their_counts_are_unigrams(tmp_path):
    text, exact, small = tmp_path / "text.de", tmp_path / "exact.ngram", tmp_path / "small.ngram"
    text.write_text("der Hund schläft\ndie Katze schläft nicht\nder Hund bellt\n")
    done("train", "ngram", text, "--order", "3", "--min-count", "2", "--language", "de", "-o", exact)
    done("train", "ngram", text, "--order", "3", "--min-count", "2", "--language", "de", "--compact", "-o", small)
    assert read_trained_on(small) == read_trained_on(exact) == TrainedOn("de", text="none")
    sentences = [("der", "Hund", "schläft"), ("die", "Katze"), ()]
    np.testing.assert_allclose(
        NgramLanguageModel(small).totals(sentences), NgramLanguageModel(exact).totals(sentences), atol=0.05
    )
    assert "ppl=" in done("lm", "score", text, "-M", small).out
    words = UnigramLanguageModel(small, case="exact")
    check_language_model(words)
    assert words.ln("Hund") == words.ln("der") == pytest.approx(np.log(2 / 13))  # 10 words, and 3 ends of sentences
    # `die`, `Katze`, `nicht` and `bellt` occur once, three words twice; there are 1 1/2 or 2 more of them beyond the text.
    assert words.ln("Katze") == pytest.approx(np.log(4 / 13 / 6))
    assert "Katze" not in words
    assert UnigramLanguageModel(exact, case="exact").ln("bellt") == words.ln("bellt")


@pytest.mark.slow
def test_the_embedded_model():
    lm = NgramLanguageModel()
    assert lm.resources == (EMBEDDED,)
    assert EMBEDDED.stat().st_size <= 12_500_000
    good, bad = lm.totals(
        [["The", "dog", "barked", "at", "the", "man", "."], ["Dog", "the", "at", "man", "barked", "."]]
    )
    assert good > bad + 10
    brackets = lm.score([["(", "a", ")", "``", "yes", "''"], ["-LRB-", "a", "-rrb-", '"', "yes", '"']])
    assert brackets[0].tolist()[:4] == brackets[1].tolist()[:4] or "``" in lm.ngrams.vocabulary
    assert "-LRB-" in lm
    state = lm.start()
    total = 0.0
    for word in ("-LRB-", "we", "saw"):
        score, state = lm.advance(state, word)
        total += score
    assert total + lm.finish(state) == pytest.approx(lm.totals([["(", "we", "saw"]])[0])
    # Every word of the vocabulary after a context.
    for context in (["I", "do", "n't"],):
        state = lm.start()
        for word in context:
            state = lm.advance(state, word)[1]
        words = [*lm.ngrams.vocabulary.words[:1], *lm.ngrams.vocabulary.words[3:]]
        ln_p, _ = lm.advance_all([state] * len(words), words)
        assert np.exp(ln_p).sum() + np.exp(lm.finish(state)) == pytest.approx(1, abs=0.02)

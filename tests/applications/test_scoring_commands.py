"""`rerank lm score` and `rerank lm mix`: the layouts of others, perplexities, mixtures and their weights."""

import math
import re
import tomllib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerank_adapters.applications.language_models.score import kenlm_layout, srilm_layout
from rerank_adapters.applications.language_models.scoring import Scored, Totals, perplexity, score_lines
from rerank_plugins.core.logarithms import LN10
from rerank_plugins.ngram.kenlm_binary import KenlmBinary
from rerank_plugins.ngram.language_model import NgramLanguageModel
from rerank_plugins.ngram.mixture import MixtureLanguageModel, fit_weights, mixed
from rerank_plugins.ngram.training import NgramSettings, train
from rerank_plugins.ngram.unigram_model import UnigramLanguageModel
from rerank_plugins.testing import check_incremental_lm, check_language_model
from tests.command_line import done, refused, says_what_it_wrote
from tests.ngram.naive_features import CORPUS

LINES = [" ".join(sentence) for sentence in CORPUS]
HELD_OUT = "the dog sat\nzebra cat\n\nthe the on\n"


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    train([("", LINES)], NgramSettings(3)).ngrams.save(folder / "a.ngram")
    train([("", LINES[::-3])], NgramSettings(1)).ngrams.save(folder / "b.ngram")
    (folder / "text").write_text(HELD_OUT)
    return folder


def test_srilm_layout_by_hand():
    """Unknown words have no probability, and count for neither perplexity."""
    words = ("the", "zebra", "sat", "</s>")
    ln = np.array([-1.0, -9.0, -2.0, -0.5]) * LN10
    scored = [Scored(words, ln, (False, True, False, False), [2, 1, 3, 2])]
    sums = "1 sentences, 3 words, 1 OOVs\n0 zeroprobs, logprob= -3.5 ppl= 14.678 ppl1= 56.2341\n"
    assert pytest.approx(14.678, abs=1e-4) == 10 ** (3.5 / 3)
    assert pytest.approx(56.2341, abs=1e-4) == 10 ** (3.5 / 2)
    lines = (
        "the zebra sat\n"
        "\tp( the | <s> ) \t= [2gram] 0.1 [ -1 ]\n"
        "\tp( zebra | the ...) \t= [OOV] 0 [ -inf ]\n"
        "\tp( sat | zebra ...) \t= [3gram] 0.01 [ -2 ]\n"
        "\tp( </s> | sat ...) \t= [2gram] 0.316228 [ -0.5 ]\n"
    )
    assert "".join(srilm_layout(scored, 2, "x.txt")) == f"{lines}{sums}\nfile x.txt: {sums}"
    assert "".join(srilm_layout(scored, 1, "x.txt")) == f"the zebra sat\n{sums}\nfile x.txt: {sums}"
    assert "".join(srilm_layout(scored, 0, "x.txt")) == f"file x.txt: {sums}"


def test_kenlm_layout_by_hand():
    words = ("the", "zebra", "</s>")
    scored = [Scored(words, np.array([-1.0, -9.0, -2.0]) * LN10, (False, True, False), [2, 1, 3])]
    assert "".join(kenlm_layout(scored, 2)) == (
        "the=1 2 -1\tzebra=0 1 -9\t</s>=1 3 -2\tTotal: -12 OOV: 1\n"
        "Perplexity including OOVs:\t10000\nPerplexity excluding OOVs:\t31.6228\nOOVs:\t1\nTokens:\t3\n"
    )


def test_impossible_words_are_zeroprobs():
    scored = [Scored(("a", "</s>"), np.array([-99.0 * LN10, -LN10]), (False, False), None)]
    assert "".join(srilm_layout(scored, 2, "x")) == (
        "a\n\tp( a | <s> ) \t= 0 [ -inf ]\n\tp( </s> | a ...) \t= 0.1 [ -1 ]\n"
        "1 sentences, 1 words, 0 OOVs\n1 zeroprobs, logprob= -1 ppl= 10 ppl1= undefined\n\n"
        "file x: 1 sentences, 1 words, 0 OOVs\n1 zeroprobs, logprob= -1 ppl= 10 ppl1= undefined\n"
    )
    assert math.isnan(Totals().excluding)


def test_sums_are_those_of_kenlm(kenlm, models, tmp_path):
    done("train", "ngram", models / "text", "-o", tmp_path / "lm", "--order", 2, "--arpa", tmp_path / "lm.arpa")
    lm = KenlmBinary(tmp_path / "lm.arpa")
    for lines in (LINES, HELD_OUT.splitlines()):
        sums = perplexity(NgramLanguageModel(tmp_path / "lm"), lines)
        words = [line.split() for line in lines]
        unknown = [(i, j) for i, line in enumerate(words) for j, word in enumerate(line) if word not in lm]
        scores = lm.score(words)
        total = sum(values.sum() for values in scores)
        without = total - sum(scores[i][j] for i, j in unknown)
        tokens = sum(map(len, scores))
        assert sums.including == pytest.approx(math.exp(-total / tokens), rel=1e-5)
        assert sums.excluding == pytest.approx(math.exp(-without / (tokens - len(unknown))), rel=1e-5)
        assert (sums.oovs, sums.words, sums.sentences) == (len(unknown), tokens - len(lines), len(lines))


@pytest.mark.parametrize("layout", ["srilm", "kenlm", "tsv"])
@pytest.mark.parametrize("detail", [None, 0, 1, 2])
def test_the_score_command(models, layout, detail):
    flags = [] if detail is None else ["-d", detail]
    ran = done("lm", "score", models / "text", "-M", models / "a.ngram", "--as", layout, *flags)
    piped = done("lm", "score", "-M", models / "a.ngram", "--as", layout, *flags, stdin=HELD_OUT)
    assert piped.out == ran.out.replace(str(models / "text"), "<stdin>")
    sums = perplexity(NgramLanguageModel(models / "a.ngram"), HELD_OUT.splitlines())
    if layout == "srilm":
        assert ran.lines[-2] == f"file {models / 'text'}: 4 sentences, 8 words, {sums.oovs} OOVs"
        assert f" ppl= {sums.excluding:g} ppl1= " in ran.lines[-1]
        assert ran.out.count("\tp( ") == (12 if detail == 2 else 0)
    elif layout == "kenlm":
        assert ran.lines[-4:-2] == [
            f"Perplexity including OOVs:\t{sums.including:.6g}", f"Perplexity excluding OOVs:\t{sums.excluding:.6g}"
        ]  # fmt: skip
        assert ran.out.count("Total: ") == (4 if detail else 0)
    else:
        rows = [line.split("\t") for line in ran.lines]
        values = NgramLanguageModel(models / "a.ngram").score([line.split() for line in HELD_OUT.splitlines()])
        if detail == 2:
            assert rows[0] == ["sentence", "word", "ln", "log10", "oov"]
            found = [float(row[2]) for row in rows[1:]]
            np.testing.assert_allclose(found, np.concatenate(values), rtol=1e-8)
        else:
            assert rows[0] == ["sentence", "words", "oovs", "ln", "log10"]
            np.testing.assert_allclose([float(row[3]) for row in rows[1:]], [v.sum() for v in values], rtol=1e-8)
        for row in rows[1:]:
            ln, log10 = (float(row[rows[0].index(name)]) for name in ("ln", "log10"))
            assert ln == pytest.approx(log10 * LN10, rel=1e-8)


def test_score_takes_any_language_model(models, tmp_path):
    (tmp_path / "c.toml").write_text(f'[language_model.own]\nuse = "ngram-lm"\nmodel = "{models}/a.ngram"\n')
    by_name = done("lm", "score", models / "text", "-c", tmp_path / "c.toml", "-M", "own").out
    assert by_name == done("lm", "score", models / "text", "-M", models / "a.ngram").out
    assert by_name == done("lm", "score", models / "text", "-M", f"ngram-lm,model={models}/a.ngram").out
    unigram = done("lm", "score", models / "text", "-M", "unigram", "-d", 2).out
    assert "[1gram]" not in unigram
    assert re.search(r"p\( the \| <s> \) \t= 0\.0\d+ \[ -1\.\d+ \]", unigram)
    assert "missing option '-M' / '--model'" in refused("lm", "score", models / "text")
    assert "no language model named 'unigrm'" in refused("lm", "score", models / "text", "-M", "unigrm")
    assert "none.ngram" in refused("lm", "score", models / "text", "-M", "none.ngram")


@pytest.mark.parametrize("command", ["score", "surprisal"])
def test_text_is_tokenised(models, command):
    """As by `acceptability`; unknown words are marked."""
    flags = ("-M", models / "a.ngram", *(["--as", "tsv", "-d", "2"] if command == "score" else []))
    plain, tokenised, untouched = (
        [dict(zip(lines[0].split("\t"), line.split("\t"), strict=True)) for line in lines[1:]]
        for lines in (
            done("lm", command, *flags, stdin="(the cat sat zebra.)\n").lines,
            done("lm", command, *flags, "--text", "none", stdin="-LRB- the cat sat zebra . -RRB-\n").lines,
            done("lm", command, *flags, "--text", "none", stdin="(the cat sat zebra.)\n").lines,
        )
    )
    assert plain == tokenised
    column, unknown = ("oov", "1") if command == "score" else ("known", "0")
    marked = {row["word"]: row[column] == unknown for row in plain}
    assert marked == {
        "-LRB-": True, "the": False, "cat": False, "sat": False, "zebra": True, ".": False, "-RRB-": True, "</s>": False
    }  # fmt: skip
    assert [row["word"] for row in untouched] == ["(the", "cat", "sat", "zebra.)", "</s>"]


PROBABILITIES = st.lists(
    st.tuples(*[st.floats(-30, -0.01)] * 3), min_size=1, max_size=30
).map(np.array)  # fmt: skip


@given(PROBABILITIES)
def test_em_never_falls_and_ends_at_the_best(ln_p):
    means, weights = [], []
    best = fit_weights(ln_p, report=lambda w, mean: (weights.append(w), means.append(mean)))
    assert (np.diff(means) >= -1e-12).all()
    assert best.sum() == pytest.approx(1)
    assert (best >= 0).all()
    assert means[0] == pytest.approx(mixed(ln_p, np.full(3, 1 / 3)).mean())
    grid = [np.array([a, b, 20 - a - b]) / 20 for a in range(21) for b in range(21 - a)]
    assert means[-1] >= max(mixed(ln_p, w).mean() for w in grid) - 1e-3


def test_weights_of_a_known_mixture():
    """Words drawn from 0.7 p + 0.3 q give the weights back."""
    rng = np.random.default_rng(1)
    p, q = rng.dirichlet(np.full(50, 0.3), 2)
    words = rng.choice(50, 40_000, p=0.7 * p + 0.3 * q)
    with np.errstate(divide="ignore"):
        weights = fit_weights(np.log(np.stack([p, q], 1))[words])
    np.testing.assert_allclose(weights, [0.7, 0.3], atol=0.02)
    assert fit_weights(np.zeros((0, 2))).tolist() == [0.5, 0.5]


def test_a_mixture_is_the_weighted_mean(models):
    parts = NgramLanguageModel(models / "a.ngram"), NgramLanguageModel(models / "b.ngram")
    lm = MixtureLanguageModel(parts, (0.75, 0.25))
    check_language_model(lm, CORPUS)
    check_incremental_lm(lm, CORPUS, atol=1e-9)
    sentence = [["the", "zebra", "sat"]]
    left, right = (np.exp(part.score(sentence)[0]) for part in parts)
    np.testing.assert_allclose(np.exp(lm.score(sentence)[0]), 0.75 * left + 0.25 * right)
    np.testing.assert_allclose(MixtureLanguageModel(parts, (1.0, 0.0)).score(sentence)[0], parts[0].score(sentence)[0])
    assert "zebra" not in lm
    assert "garden" not in parts[0]
    assert "garden" in MixtureLanguageModel((parts[0], UnigramLanguageModel()), (0.5, 0.5))
    for weights in ((0.5,), (0.5, 0.6), (1.5, -0.5)):
        with pytest.raises(ValueError, match="weights"):
            MixtureLanguageModel(parts, weights)


def test_the_mix_command(models, tmp_path):
    out = tmp_path / "mix.toml"
    command = ("lm", "mix", models / "text", "-M", models / "a.ngram", "-M", models / "b.ngram")
    ran = done(*command, "-M", "unigram", "-o", out)
    config = tomllib.loads(out.read_text())["language_model"]
    assert list(config) == ["lm1", "lm2", "unigram", "mixture"]
    assert config["mixture"]["models"] == ["lm1", "lm2", "unigram"]
    assert sum(config["mixture"]["weights"]) == pytest.approx(1, abs=1e-5)
    single = [float(value) for value in re.findall(r"^\S+: weight .* perplexity ([\d.]+) with OOVs", ran.err, re.M)]
    (together,) = re.findall(r"^mixture: perplexity ([\d.]+) with OOVs", ran.err, re.M)
    assert len(single) == 3
    assert float(together) <= min(single)
    sums = done("lm", "score", models / "text", "-c", out, "-M", "mixture", "--as", "kenlm").lines
    assert float(sums[0].split("\t")[1]) == pytest.approx(float(together), abs=0.01)
    assert done(*command, "-M", "unigram").out == out.read_text()
    again = done("lm", "mix", models / "text", "-c", out, "-M", "lm1", "-M", "mixture", "-M", "unigram,case=exact")
    assert 'models = [\n    "lm1",\n    "mixture-2",\n    "unigram-2",\n]' in again.out, "the result is `mixture`"
    out.write_text(again.out)
    assert done("lm", "score", models / "text", "-c", out, "-M", "mixture", "--as", "kenlm").lines


def test_mix_refuses(models, tmp_path):
    (tmp_path / "empty").write_text("")
    one = ("-M", models / "a.ngram")
    wanted = "wanted two or more to mix (-M LM, repeated)"
    assert refused("lm", "mix", models / "text", *one) == f"found 1 language model, {wanted}"
    assert refused("lm", "mix", models / "text") == f"found 0 language models, {wanted}"
    assert "-M: no language model named 'a'" in refused("lm", "mix", models / "text", "-M", "a")
    (tmp_path / "c.toml").write_text('[language_model.a]\nuse = "unigram"\n[language_model.b]\nuse = "unigram"\n')
    named = ("lm", "mix", models / "text", "-c", tmp_path / "c.toml", "-M", "a", "-M", "b", "-M", "a")
    assert refused(*named) == "the language model 'a' is given twice, wanted models that differ (-M LM, repeated)"
    assert "held-out text is empty" in refused("lm", "mix", tmp_path / "empty", *one, *one)


def test_scored_lines_come_in_order(models):
    lines = [f"the cat w{i}" for i in range(5000)]
    found = list(score_lines(NgramLanguageModel(models / "a.ngram"), lines, lengths=True))
    assert [sentence.words[2] for sentence in found] == [f"w{i}" for i in range(5000)]
    assert all(sentence.unknown == (False, False, True, False) for sentence in found)


def test_commands_say_what_they_wrote(models, tmp_path):
    """The last line on stderr names what was written, where, and the wall time."""
    model = ("-M", models / "a.ngram")
    assert says_what_it_wrote(done("lm", "score", models / "text", *model), "the scores of 4 sentences")
    ran = done("lm", "score", models / "text", *model, "-o", tmp_path / "scores")
    assert says_what_it_wrote(ran, "the scores of 4 sentences", tmp_path / "scores")
    assert says_what_it_wrote(done("lm", "surprisal", models / "text", *model), "the measures of 4 sentences")
    mixed_up = done("lm", "mix", models / "text", *model, "-M", "unigram", "-o", tmp_path / "mix.toml")
    assert says_what_it_wrote(mixed_up, "the config of the mixture", tmp_path / "mix.toml")
    drawn = done("lm", "sample", f"ngram-lm,model={models}/a.ngram", "-n", 1)
    assert says_what_it_wrote(drawn, "1 sentence")


@pytest.mark.parametrize("command", ["score", "surprisal"])
def test_a_bar_counts_sentences_as_they_are_measured(models, monkeypatch, command):
    """The first blocks are small, so that a slow model shows progress early; the bar ends at all sentences."""
    from rerank_adapters.runtime.progress import CountingBar

    asked, counts = [], []

    def score(self, sentences, score=NgramLanguageModel.score):
        asked.append(len(sentences))
        return score(self, sentences)

    def add(self, count, add=CountingBar.add):
        add(self, count)
        counts.append((len(asked), self.done))

    monkeypatch.setattr(NgramLanguageModel, "score", score)
    monkeypatch.setattr(CountingBar, "add", add)
    done("lm", command, "-M", models / "a.ngram", stdin="the cat sat\n" * 50)
    assert asked[0] <= 8
    assert counts[0] == (1, 1)
    assert counts[-1] == (len(asked), 50)

import bz2
import gzip
import lzma
import math
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rerank_plugins.core.errors import FormatError, ModelError
from rerank_plugins.kit.vocabulary.unigrams import read_embedded
from rerank_plugins.kit.vocabulary.unknown_types import unseen_types
from rerank_plugins.ngram.arpa_reader import read_unigrams
from rerank_plugins.ngram.kenlm_binary import KenlmBinary
from rerank_plugins.ngram.language_model import NgramLanguageModel
from rerank_plugins.ngram.unigram_model import UnigramLanguageModel
from rerank_plugins.resources.en import build_unigrams
from rerank_plugins.testing import check_incremental_lm, check_language_model, sample_nbest
from tests.command_line import refused
from tests.conftest import ROOT
from tests.model_files import check_damage_is_seen
from tests.ngram.matched_ngrams import matches
from tests.ngram.naive_features import CORPUS, arpa_scores, write_arpa

BINARY = (
    ROOT / "tests" / "golden" / "corpus.kenlm"
)  # what KenLM's `build_binary trie` makes of the file of `write_arpa`
WORDS = [*sorted({word for sentence in CORPUS for word in sentence}), "zebra", "ünknown"]


@pytest.fixture(scope="module")
def arpa(tmp_path_factory):
    return write_arpa(tmp_path_factory.mktemp("lm") / "small.arpa")


@pytest.fixture(scope="module", params=["arpa", "binary"])
def model(request, arpa):
    """The same model from both kinds of files; the binary one is skipped where KenLM is not installed."""
    if request.param == "binary":
        request.getfixturevalue("kenlm")
    return NgramLanguageModel({"arpa": arpa, "binary": BINARY}[request.param])


def test_kenlm_keeps_the_contract(model):
    check_language_model(model, CORPUS)
    check_incremental_lm(model, CORPUS)


@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_kenlm_agrees_with_the_back_off_recursion(kenlm, tmp_path, order):
    path = write_arpa(tmp_path / "x.arpa", order=max(order, 2))
    model = KenlmBinary(path)
    assert model.order == max(order, 2)
    rng = np.random.default_rng(order)
    for _ in range(50):
        sentence = list(rng.choice(WORDS, rng.integers(0, 12)))
        np.testing.assert_allclose(model.score([sentence])[0], arpa_scores(path, sentence), atol=1e-4)


@settings(deadline=None)  # the model loads in the first example
@given(sentences=st.lists(st.lists(st.sampled_from(WORDS), max_size=10), max_size=5))
def test_totals_are_sums_and_steps_agree(model, sentences):
    np.testing.assert_allclose(model.totals(sentences), [s.sum() for s in model.score(sentences)], atol=1e-4)
    for sentence in sentences:
        state, total = model.start(), 0.0
        for word in sentence:
            step, state = model.advance(state, word)
            total += step
        assert total + model.finish(state) == pytest.approx(model.totals([sentence])[0], abs=1e-4)


def test_states_are_values_that_compare(model):
    left = model.advance(model.advance(model.start(), "the")[1], "cat")[1]
    right = model.advance(model.advance(model.start(), "the")[1], "cat")[1]
    other = model.advance(model.start(), "dog")[1]
    assert left == right
    assert left != other


def test_pickles_by_path_and_loads_quietly(model, capfd):
    model.score([["the"]])
    assert len(pickle.dumps(model)) < 500 + len(str(model.model))
    assert capfd.readouterr() == ("", "")


def test_a_binary_is_read_as_the_arpa_file_that_it_was_built_from(kenlm, arpa):
    read, built = NgramLanguageModel(arpa), NgramLanguageModel(BINARY)
    sentences = [[], ["zebra"], *CORPUS, WORDS]
    for left, right in zip(built.score(sentences), read.score(sentences), strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-6)
    assert matches(built, sentences) == matches(read, sentences)
    assert built.order == read.order
    np.testing.assert_allclose(built.totals(sentences), read.totals(sentences), rtol=1e-6)
    assert [word in built for word in WORDS] == [word in read for word in WORDS]
    for case in ("exact", "fallback"):
        of_binary, of_arpa = UnigramLanguageModel(BINARY, case), UnigramLanguageModel(arpa, case)
        assert [of_binary.ln(word) for word in WORDS] == pytest.approx([of_arpa.ln(word) for word in WORDS])
    with pytest.raises(ModelError, match="cannot list its words"):
        of_binary.frequencies()
    states = [built.start()] * len(WORDS)
    ln_p, after = built.advance_all(states, WORDS)
    assert list(ln_p) == [built.advance(state, word)[0] for state, word in zip(states, WORDS, strict=True)]
    assert list(built.finish_all(after)) == [built.finish(state) for state in after]
    with pytest.raises(ModelError, match="does not list the n-grams of its binaries"):
        built.sampler(1, 5)


def test_a_binary_without_kenlm(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "kenlm", None)
    (tmp_path / "x.nbest").write_text("0 ||| the cat ||| lm= -1 ||| -1\n")
    for lm in (NgramLanguageModel(BINARY), UnigramLanguageModel(BINARY)):
        with pytest.raises(
            ModelError, match=r"corpus\.kenlm: a KenLM binary needs KenLM: pip install 'rerank-plugins\[kenlm\]'"
        ):
            lm.score([["the"]])
    for feature in (f"ngram-lm,model={BINARY}", f"unigram,model={BINARY}"):
        assert "a KenLM binary needs KenLM" in refused(
            "extract", tmp_path / "x.nbest", "-f", feature, "-o", tmp_path / "x"
        )
    assert "a KenLM binary needs KenLM" in refused("lm", "score", tmp_path / "x.nbest", "-M", BINARY)


def test_an_arpa_file_needs_no_kenlm(arpa, monkeypatch):
    monkeypatch.setitem(sys.modules, "kenlm", None)
    wanted = arpa_scores(arpa, CORPUS[0])
    np.testing.assert_allclose(NgramLanguageModel(arpa).score([CORPUS[0]])[0], wanted, rtol=1e-6)


@pytest.mark.parametrize(("pack", "ending"), [(gzip.compress, ".gz"), (bz2.compress, ".bz2"), (lzma.compress, ".xz")])
def test_compressed_arpa(arpa, tmp_path, pack, ending):
    packed = tmp_path / ("lm.arpa" + ending)
    packed.write_bytes(pack(arpa.read_bytes()))
    for kind in (NgramLanguageModel, UnigramLanguageModel):
        np.testing.assert_array_equal(kind(packed).score([CORPUS[0]])[0], kind(arpa).score([CORPUS[0]])[0])


def _broken(arpa: Path) -> dict[str, bytes]:
    text = arpa.read_bytes()
    return {
        "empty": b"",
        "text": b"hello world\n" * 9,
        "bytes": bytes(range(256)) * 4,
        "cut": text[: text.index(b"\\2-grams") - 40],
        "header": text[:30],
        "number": text.replace(b"\tcat\t", b"x\tcat\t", 1),
        "gzip": gzip.compress(text)[:100],
        "binary": b"mmap lm http://kheafield.com/code format version 5\n\0" + bytes(200),
        "count": text.replace(b"ngram 1=", b"ngram 1=9", 1),
    }


@pytest.mark.parametrize("case", ["empty", "text", "bytes", "cut", "header", "number", "gzip", "binary", "count"])
@pytest.mark.parametrize("kind", [NgramLanguageModel, UnigramLanguageModel])
def test_a_broken_model_is_one_clear_line(arpa, tmp_path, case, kind):
    path = tmp_path / "broken"
    path.write_bytes(_broken(arpa)[case])
    with pytest.raises(ModelError) as caught:
        kind(path).score([["the"]])
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", [NgramLanguageModel, UnigramLanguageModel])
def test_a_missing_model_or_a_folder(tmp_path, kind):
    for path in (tmp_path / "no.arpa", tmp_path):
        with pytest.raises(ModelError, match=str(path)):
            kind(path).score([["the"]])


def ln_1_grams(path):
    lines = path.read_text().split("\\1-grams:\n")[1].split("\n\n")[0].split("\n")
    return {word: float(log10_p) * math.log(10) for log10_p, word, *_ in (line.split("\t") for line in lines)}


def test_unigram_model_reads_the_first_section_alone(arpa, tmp_path):
    table = read_unigrams(arpa)
    text = arpa.read_text()
    (tmp_path / "head.arpa").write_text(text[: text.index("\\3-grams")])
    assert read_unigrams(tmp_path / "head.arpa") == table
    model = UnigramLanguageModel(arpa, case="exact")
    check_language_model(model)
    for word in WORDS:
        assert model.ln(word) == pytest.approx(ln_1_grams(arpa).get(word, ln_1_grams(arpa)["<unk>"]))
        assert (word in model) == (word in NgramLanguageModel(arpa))


def test_unigram_model_without_unk(arpa, tmp_path):
    lines = [line for line in arpa.read_text().split("\n") if "<unk>" not in line]
    size = next(line for line in lines if line.startswith("ngram 1="))
    lines[lines.index(size)] = f"ngram 1={int(size[8:]) - 1}"
    (tmp_path / "x.arpa").write_text("\n".join(lines))
    assert UnigramLanguageModel(tmp_path / "x.arpa").ln("zebra") == pytest.approx(-100 * math.log(10))


def test_embedded_unigrams_are_a_distribution():
    model = UnigramLanguageModel(case="exact")
    check_language_model(model)
    probabilities = [math.exp(ln) for word, ln in model._unigrams.table.items() if word != "<unk>"]
    unknown = math.exp(model.ln("zzyzx-never-seen"))
    twice = min(probabilities)  # the rarest kept words were seen twice
    seen_once = round(2 * (1 - sum(probabilities)) / twice)
    assert seen_once == 95_655 - 55_503
    types = seen_once + unseen_types(seen_once, sum(p < 1.1 * twice for p in probabilities))
    assert sum(probabilities) + types * unknown == pytest.approx(1)
    assert 1 < types / seen_once < 4
    assert "the" in model
    assert "zzyzx-never-seen" not in model
    assert model.ln("the") > model.ln("cat") > math.log(unknown)


def test_case_of_unigrams():
    exact, fallback, ignore = (UnigramLanguageModel(case=case) for case in ("exact", "fallback", "ignore"))
    assert "LONDON" not in exact
    assert "london" not in exact
    assert "london" in fallback
    assert fallback.ln("london") == fallback.ln("lOnDoN") == ignore.ln("London")
    assert fallback.ln("the") == exact.ln("the") < ignore.ln("the")
    summed = math.exp(exact.ln("the")) + math.exp(exact.ln("The")) + math.exp(exact.ln("THE"))
    assert math.exp(ignore.ln("the")) == pytest.approx(summed, rel=1e-3)


def test_unigrams_of_a_table(tmp_path, monkeypatch, capsys):
    (tmp_path / "a.txt").write_text("b a a\n\na c b é\n")
    (tmp_path / "b.txt.xz").write_bytes(lzma.compress("é a\n".encode()))
    monkeypatch.setattr(build_unigrams, "__file__", str(tmp_path / "build_unigrams.py"))
    build_unigrams.main([str(tmp_path / "a.txt"), str(tmp_path / "b.txt.xz")])
    check_damage_is_seen(tmp_path / "unigrams.tsv.xz", read_embedded, ModelError)
    made = lzma.decompress((tmp_path / "unigrams.tsv.xz").read_bytes()).decode()
    assert made == "# tokens 12 types 5 kept 4\na\t4\n</s>\t3\nb\t2\né\t2\n"
    assert "kept 4" in capsys.readouterr().out
    (tmp_path / "a.txt").write_text("( a -LRB- -lrb-\n")
    assert build_unigrams.count_words([tmp_path / "a.txt"]) == {"(": 3, "a": 1, "</s>": 1}
    (tmp_path / "a.txt").write_text("a\na </s> b\n")
    with pytest.raises(FormatError, match=r"a\.txt:2: </s> may not be a word of the text"):
        build_unigrams.count_words([tmp_path / "a.txt"])


def test_brackets_and_quotation_marks_of_a_model_file(tmp_path):
    """Each spelling that the file has keeps its own probability; one that it lacks has that of another spelling."""
    ln_p = {"<unk>": -3, "<s>": -99, "</s>": -1, "-LRB-": -2, "-RRB-": -1.5, ")": -1.25, "``": -1, "''": -1}
    entries = "".join(f"{value}\t{word}\n" for word, value in ln_p.items())
    (tmp_path / "x.arpa").write_text(f"\\data\\\nngram 1={len(ln_p)}\n\n\\1-grams:\n{entries}\n\\end\\\n")
    model = UnigramLanguageModel(tmp_path / "x.arpa")
    words = ["(", "-LRB-", "-lrb-", ")", "-RRB-", "``", '"', "[", "</s>"]
    found = [model.ln(word) / math.log(10) for word in words]
    assert found == pytest.approx([-2, -2, -2, -1.25, -1.5, -1, math.log10(0.2), -3, -3])
    assert [word in model for word in words] == [True] * 7 + [False] * 2


@pytest.mark.slow
def test_the_embedded_table_can_be_made_again(shared_data):
    names = ("novels.txt.xz", "presidential.txt.xz", "textbooks.txt.xz")
    counts = build_unigrams.count_words([shared_data / "text_en" / name for name in names])
    embedded = Path(build_unigrams.__file__).with_name("unigrams.tsv.xz")
    assert build_unigrams.table(counts) == lzma.decompress(embedded.read_bytes()).decode()
    assert embedded.stat().st_size < 1_000_000


def test_ngram_lm_feature(arpa):
    nbest = sample_nbest()
    values = NgramLanguageModel(arpa).extract(nbest)
    for row, hypothesis in enumerate(nbest):
        scores = arpa_scores(arpa, hypothesis.words)
        unknown = [word for word in hypothesis.words if word not in NgramLanguageModel(arpa)]
        wanted = [sum(scores), sum(scores) / len(scores), -len(unknown)]
        np.testing.assert_allclose(values[row], wanted, atol=1e-4)


def test_registering_models_does_not_import_kenlm():
    code = (
        "import sys; from rerank_plugins.core.loader import load_plugins; load_plugins(installed=False);"
        "assert not {'kenlm', 'numba', 'sacremoses'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)

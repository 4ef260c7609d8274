"""Model files and ARPA files: in, out, against KenLM, and what is said of broken ones."""

import gzip
import lzma
import os
import pickle
import re
import time
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rerank_plugins.core import files as core_files
from rerank_plugins.core.errors import ModelError
from rerank_plugins.core.logarithms import LN10
from rerank_plugins.kit.files.model_file import read_model, write_model
from rerank_plugins.kit.vocabulary.word_hash import find_words, hash_table
from rerank_plugins.kit.vocabulary.word_ids import Vocabulary
from rerank_plugins.ngram import arpa_reader
from rerank_plugins.ngram.arpa_lines import BLANKS, fill_lines
from rerank_plugins.ngram.arpa_reader import parse_line, read_unigrams
from rerank_plugins.ngram.arpa_writer import arpa_text, format_number
from rerank_plugins.ngram.kenlm_binary import KenlmBinary
from rerank_plugins.ngram.language_model import NgramLanguageModel
from rerank_plugins.ngram.model import KIND, NgramModel
from rerank_plugins.ngram.training import NgramSettings, train
from rerank_plugins.testing import check_incremental_lm, check_language_model
from tests.model_files import check_damage_is_seen, content_of, write_content
from tests.ngram.matched_ngrams import matches
from tests.ngram.naive_features import CORPUS, arpa_scores, write_arpa

LINES = [" ".join(sentence) for sentence in CORPUS] * 2 + ["ein ünusual 文 line", "", "the cat sat"]
WORDS = [*sorted({word for line in LINES for word in line.split()}), "zebra"]
SENTENCES = st.lists(st.lists(st.sampled_from(WORDS), max_size=9), max_size=6)


def trained(order=4, **settings):
    return train([("x", LINES)], NgramSettings(order, **settings)).ngrams


def arpa_bytes(ngrams):
    return b"".join(arpa_text(ngrams.tables, ngrams.vocabulary.words))


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("ngram") / "lm.ngram"
    trained().save(path)
    return path


@pytest.fixture(scope="module")
def arpa(model):
    path = model.with_name("lm.arpa")
    path.write_bytes(arpa_bytes(NgramModel.load(model)))
    return path


def same(left, right):
    assert left.vocabulary.words == right.vocabulary.words
    for name in ("contexts", "events", "context_levels", "event_levels"):
        assert getattr(left.tables, name).tobytes() == getattr(right.tables, name).tobytes(), name


def test_the_contract_is_kept(model, arpa):
    for path in (model, arpa):
        check_language_model(NgramLanguageModel(path), CORPUS)
        check_incremental_lm(NgramLanguageModel(path), CORPUS, atol=1e-9)


@pytest.mark.parametrize("order", [1, 2, 3, 6])
@pytest.mark.parametrize("prune", [(), (0, 1)])
def test_saving_and_loading_are_identities(tmp_path, order, prune):
    made = trained(order, prune=prune[:order])
    size = made.save(tmp_path / "lm")
    assert (tmp_path / "lm").stat().st_size == size
    again = NgramModel.load(tmp_path / "lm")
    same(made, again)
    assert again.settings["order"] == order
    (tmp_path / "lm.arpa").write_bytes(arpa_bytes(made))
    imported = NgramModel.load(tmp_path / "lm.arpa")
    same(made, imported)
    assert arpa_bytes(imported) == arpa_bytes(made)


@pytest.mark.parametrize("smoothing", ["kneser-ney", "stupid-backoff"])
def test_states_are_values(tmp_path, smoothing):
    trained(3, smoothing=smoothing).save(tmp_path / "lm")
    check_incremental_lm(NgramLanguageModel(tmp_path / "lm"), CORPUS, atol=1e-9)
    lm = NgramLanguageModel(tmp_path / "lm")
    left = lm.advance(lm.advance(lm.start(), "the")[1], "cat")[1]
    assert left == lm.advance(lm.advance(lm.start(), "the")[1], "cat")[1]
    assert hash(left) is not None


@given(SENTENCES)
@settings(max_examples=40)
def test_kenlm_reads_the_same_from_our_arpa(kenlm, model, arpa, sentences):
    ours, theirs = NgramLanguageModel(model), KenlmBinary(arpa)
    for left, right in zip(ours.score(sentences), theirs.score(sentences), strict=True):
        np.testing.assert_allclose(left, right, atol=1e-5)
    assert matches(ours, sentences) == matches(theirs, sentences)
    np.testing.assert_allclose(ours.totals(sentences), theirs.totals(sentences), atol=1e-4)
    assert all((word in ours) == (word in theirs) for word in WORDS)


@pytest.mark.parametrize("order", [2, 3, 5])
def test_any_arpa_is_read_exactly(tmp_path, order):
    """Against the recursion on the file's own numbers, in double precision."""
    path = write_arpa(tmp_path / "x.arpa", order=order)
    model = NgramLanguageModel(path)
    rng = np.random.default_rng(order)
    for _ in range(40):
        sentence = list(rng.choice(WORDS, rng.integers(0, 12)))
        np.testing.assert_allclose(model.score([sentence])[0], arpa_scores(path, sentence), atol=2e-6)


def test_unigrams_alone(tmp_path):
    text = "\\data\\\nngram 1=4\n\n\\1-grams:\n-1 <unk>\n-1.25\t</s>\n-99\t<s>\n-0.5 cat\n\n\\end\\\n"
    (tmp_path / "u.arpa").write_text(text)
    scores = NgramLanguageModel(tmp_path / "u.arpa").score([["cat", "dog"]])[0]
    np.testing.assert_allclose(scores / LN10, [-0.5, -1, -1.25])


PRUNED = """
ignored text

\\data\\
ngram 1=7
ngram  2 = 4
ngram 3=2

\\1-grams:
-1.0\t</s>
-99 <s> -0.5
-inf a\t-0.25
-1.5 b -0.125
-0.5 c 0.25
-2   d
-1e-05 e -inf

\\2-grams:
-0.5 <s> a -0.1
-0.25 a b
-0.125 c d -0.75
-0.3 c c

\\3-grams:
-0.1 <s> a b
-0.2 c c b

\\end\\
"""


def test_missing_pieces_spaces_and_infinities(tmp_path):
    """`c b` is missing where `c c b` is there; weights are missing; a weight above 0; no `<unk>`."""
    (tmp_path / "x.arpa").write_text(PRUNED)
    model = NgramLanguageModel(tmp_path / "x.arpa")

    def log10(text):
        return (model.score([text.split()])[0] / LN10).tolist()

    assert log10("a b") == pytest.approx([-0.5, -0.1, -0.125 - 1.0])
    assert log10("c c b") == pytest.approx([-0.5 - 0.5, -0.3, -0.2, -0.125 - 1.0])
    assert log10("d c d x") == pytest.approx([-0.5 - 2, -0.5, -0.125, -0.75 - 100, -1])
    assert log10("a a") == pytest.approx([-0.5, -0.1 - 0.25 - 99, -0.25 - 1])
    assert log10("c b") == pytest.approx([-1, 0.25 - 1.5, -0.125 - 1])
    assert "x" not in model
    assert matches(model, [["c", "c", "b"]])[0] == [1, 2, 3, 1]


def pruned_ngrams(rng):
    """log10 p and back-off weight of random n-grams; all begin with n-grams that are there, many end with none."""
    words = ["<unk>", "<s>", "</s>", *"abcd"]
    ngrams = {(word,): None for word in words}
    for _ in range(60):
        beginning = list(ngrams)[rng.integers(len(ngrams))]
        if len(beginning) < 4 and beginning[-1] != "</s>":
            ngrams[*beginning, words[rng.integers(2, len(words))]] = None
    for ngram in ngrams:
        weight = rng.choice([0, *rng.uniform(-2, 0.3, 2).round(5)]) if len(ngram) < 4 else 0
        ngrams[ngram] = round(rng.uniform(-5, 0), 4), float(weight)
    return ngrams


def arpa_of(ngrams, order):
    """The file with the lines of each section in this order; weights of 0 are left out."""
    sizes = np.bincount([len(ngram) for ngram in ngrams])[1:]
    lines = ["\\data\\", *(f"ngram {n}={size}" for n, size in enumerate(sizes, 1))]
    for n in range(1, len(sizes) + 1):
        lines.append(f"\n\\{n}-grams:")
        for ngram in (ngram for ngram in order if len(ngram) == n):
            log10, weight = ngrams[ngram]
            lines.append(f"{log10}\t{' '.join(ngram)}" + (f"\t{weight}" if weight else ""))
    return "\n".join([*lines, "", "\\end\\"])


def log10_of(ngrams, words):
    """By the recursion of back-off models."""
    if tuple(words) in ngrams:
        return ngrams[tuple(words)][0]
    return ngrams.get(tuple(words[:-1]), (0, 0))[1] + log10_of(ngrams, words[1:])


@pytest.mark.parametrize("seed", range(8))
def test_n_grams_without_their_suffixes_in_any_order(tmp_path, seed):
    rng = np.random.default_rng(seed)
    ngrams = pruned_ngrams(rng)
    orders = {"sorted": sorted(ngrams), "suffix": sorted(ngrams, key=lambda ngram: ngram[::-1])}
    orders["random"] = [list(ngrams)[i] for i in rng.permutation(len(ngrams))]
    for name, order in orders.items():
        path = tmp_path / name
        path.write_text(arpa_of(ngrams, order))
        model = NgramLanguageModel(path)
        model.ngrams.tables.check(name)
        for _ in range(20):
            sentence = rng.choice(["a", "b", "c", "d", "zebra"], rng.integers(0, 9)).tolist()
            words = ["<s>", *(word if word in "abcd" else "<unk>" for word in sentence), "</s>"]
            wanted = [log10_of(ngrams, words[max(0, end - 4) : end]) for end in range(2, len(words) + 1)]
            np.testing.assert_allclose(model.score([sentence])[0] / LN10, wanted, atol=1e-6)
        again = tmp_path / "again"
        again.write_bytes(arpa_bytes(model.ngrams))
        same(NgramModel.load(again), model.ngrams)


def test_pieces_of_the_text_and_uncommon_lines(arpa, tmp_path, monkeypatch):
    """Wherever a piece or a block ends, and whichever lines the compiled parser leaves, the model is the same."""
    whole = NgramModel.load(arpa)
    text = arpa.read_text().replace("\t0\n", "\t0.0000000000000000\n").replace("\n\\3", "\n \r\n\n\\3")
    (tmp_path / "x.arpa").write_bytes(text.strip().encode())
    for piece, block, plain in ((1, 1, 1), (50, 7, 2), (1000, 3, 5)):
        monkeypatch.setattr(arpa_reader, "PIECE", piece)
        monkeypatch.setattr(arpa_reader, "LINES_A_BLOCK", block)
        monkeypatch.setattr(arpa_reader, "PLAIN_LINES", plain)
        same(NgramModel.load(tmp_path / "x.arpa"), whole)


def test_the_unknown_word_in_capitals(arpa, tmp_path):
    """As in KenLM, `<UNK>` is `<unk>`, also inside n-grams."""
    grown = (
        arpa.read_text().replace("ngram 2=", "ngram 2=1").replace("\\2-grams:\n", "\\2-grams:\n-0.25\tthe <unk>\t0\n")
    )
    size = len(NgramModel.load(arpa).tables.events)
    text = re.sub(r"ngram 2=1(\d+)", lambda found: f"ngram 2={int(found[1]) + 1}", grown)
    for name, content in (("small", text), ("capital", text.replace("<unk>", "<UNK>"))):
        (tmp_path / name).write_text(content)
        model = NgramLanguageModel(tmp_path / name)
        assert len(model.ngrams.tables.events) == size + 1
        assert model.score([["zebra", "the", "zebra"]])[0][2] == pytest.approx(-0.25 * LN10)
        assert "<UNK>" not in model
        unigrams = read_unigrams(tmp_path / name)
        assert unigrams["<unk>"] == pytest.approx(float(re.search(r"(?i)^(\S+)\t<unk>", content, re.M)[1]) * LN10)
    same(NgramModel.load(tmp_path / "small"), NgramModel.load(tmp_path / "capital"))


BROKEN = {
    "cut": (r"\-0\.1 <s> a b[\s\S]*", "", r"x\.arpa:\d+: cut short: 0 3-grams found, 2 promised"),
    "end": (r"\\end\\", "", "cut short: expected '.*end"),
    "more": ("ngram 3=2", "ngram 3=3", r"x\.arpa:28: fewer 3-grams than promised"),
    "fewer": ("ngram 3=2", "ngram 3=1", r"expected '\\\\end\\\\', found '-0.2 c c b'"),
    "word": ("c d -0.75", "c z -0.75", "x.arpa:21: 'z' is not among the 1-grams"),
    "positive": ("-0.3 c c", "0.3 c c", "x.arpa:22: expected 'log10 word word"),
    "number": ("-0.3 c c", "x c c", "x.arpa:22: expected 'log10 word word"),
    "nan": ("-0.3 c c", "nan c c", "x.arpa:22: expected"),
    "fields": ("-0.3 c c", "-0.3 c c c -1", "x.arpa:22: expected"),
    "twice": ("-0.3 c c", "-0.3 c d", "has the n-gram 'c d' twice"),
    "prefix": ("-0.2 c c b", "-0.2 b c b", "has n-grams that begin with 'b c', but not that n-gram"),
    "header": ("ngram 1=7", "ngrams", "expected 'ngram 1=…'"),
    "order": ("ngram  2 = 4\n", "", "expected 'ngram 2=…'"),
    "data": (r"\\data\\", "", "not an ARPA file"),
    "too many": (
        "ngram 3=2",
        "ngram 3=99999999999",
        "the header promises 100000000010 n-grams, wanted at most 2147483647",
    ),
    "unigram twice": ("-2   d", "-2   c", "x.arpa: has the 1-gram 'c' twice"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_arpa_is_one_clear_line(tmp_path, case):
    wrong, right, message = BROKEN[case]
    changed = re.sub(wrong, lambda _: right, PRUNED, count=1)
    assert changed != PRUNED
    (tmp_path / "x.arpa").write_text(changed)
    with pytest.raises(ModelError, match=message) as caught:
        NgramLanguageModel(tmp_path / "x.arpa").ngrams  # noqa: B018
    assert "\n" not in str(caught.value)
    assert str(tmp_path / "x.arpa") in str(caught.value)


NUMBERS = st.sampled_from(
    ["-1", "-0.5", "-0.30103", "-1.2345678", "-99", "0", "-0", "-1e-05", "-2.5E+1", "-.5", "-3.", "-inf", "-1e-40",
     "-123456789012345", "-0.1234567890123456", "-1.00000000000000000", "-1e", "x", "--1", "-1-", "0.5", "-5e22", "nan"]
) | st.floats(-99, 0, width=32).map(repr)  # fmt: skip
WHITE = st.sampled_from([" ", "\t", "  ", " \t "])


def parse_lines(lines, order, table):
    """What the compiled parser reads; None if one of the lines is uncommon."""
    text = np.frombuffer(b"".join(line + b"\n" for line in lines).translate(BLANKS), np.uint8)
    made = np.empty((len(lines), order), np.int32), *(np.empty(len(lines), np.float32) for _ in range(2))
    rows, at, read = fill_lines(text, 0, table, *made)
    assert rows == read
    return made if at == len(text) else None


@given(st.lists(st.tuples(NUMBERS, WHITE, WHITE, st.just("") | NUMBERS, st.sampled_from(["cat", "dog", "zebra"]))))
def test_the_compiled_parser_reads_what_the_plain_one_does(rows):
    lines = [f"{p}{s}the{t}{word}{s}{weight}".strip().encode() for p, s, t, weight, word in rows]
    words = ("<unk>", "the", "cat", "dog")
    numbers = {word.encode(): number for number, word in enumerate(words)}
    made = [parse_lines([line], 2, hash_table(words, 0)) for line in lines]
    for line, found in zip(lines, made, strict=True):
        if found is not None:
            row, p, weight = parse_line(line, 2, numbers)
            assert (found[0][0].tolist(), *found[1], *found[2]) == (row, np.float32(p), np.float32(weight)), line
    if lines and all(found is not None for found in made):
        together = parse_lines(lines, 2, hash_table(words, 0))
        for left, right in zip(together, zip(*made, strict=True), strict=True):
            assert left.tobytes() == np.concatenate(right).tobytes()
    common = parse_lines([b"-1.2345678\tthe cat\t-0.5", b"-1e-05 the dog"], 2, hash_table(words, 0))
    assert common is not None


@pytest.mark.parametrize("forge", [
    lambda table: table[:-1], lambda table: table[:, :1], lambda table: table.astype(np.int32),
    lambda table: table - np.array([0, 1]), lambda table: table + np.array([0, 9]), lambda table: table | np.array([1, 0]),
], ids=["shorter", "narrower", "of another type", "below 0", "too large", "full"])  # fmt: skip
def test_forged_hash_tables_are_refused(forge, tmp_path):
    """A search in them would leave the arrays, or never end."""
    model = train([("text", LINES)], NgramSettings(2)).ngrams
    model.save(tmp_path / "good")
    settings, arrays = read_model(tmp_path / "good", KIND)
    write_model(tmp_path / "bad", KIND, settings, {**arrays, "hashes": forge(arrays["hashes"])})
    with pytest.raises(ModelError, match=f"bad: damaged model .*no hash table of {len(model.vocabulary)} words"):
        NgramModel.load(tmp_path / "bad")


@pytest.mark.parametrize("count", [3, 8, 9, 16, 17, 500])
def test_a_hash_table_is_at_most_half_full_and_its_size_a_power_of_two(count):
    words = [f"w{i}" for i in range(count)]
    table = hash_table(words, 3)
    assert len(table) in (16, 32, 64, 1024)
    assert 2 * count <= len(table) <= max(16, 4 * count - 1)
    assert sorted(table[table[:, 0] != 0, 1]) == list(range(3, count))


def test_words_are_found_by_their_bytes_unless_one_has_a_space_in_it():
    table = hash_table(["<unk>", "<s>", "</s>", "the", "cat"], 3)
    assert find_words([["the", "cat"], [], ["cat", "dog", "the"]], table, 2).tolist() == [3, 4, 2, 2, 4, 0, 3, 2]
    for sentence in (["the", "the cat"], ["the cat"], ["the\ncat"]):
        assert find_words([["cat"], sentence], table, 2) is None
    assert find_words([], table, 2).tolist() == []


def test_compressed_missing_and_foreign_files(arpa, tmp_path):
    for name, pack in (("a.gz", gzip.compress), ("a.xz", lzma.compress)):
        (tmp_path / name).write_bytes(pack(arpa.read_bytes()))
        same(NgramModel.load(tmp_path / name), NgramModel.load(arpa))
        (tmp_path / "cut").write_bytes(pack(arpa.read_bytes())[:-40])
        with pytest.raises(ModelError, match="cut: cannot be read"):
            NgramModel.load(tmp_path / "cut")
    (tmp_path / "binary").write_bytes(b"mmap lm http://kheafield.com/code format version 5\n\0" + bytes(99))
    (tmp_path / "bytes").write_bytes(bytes(range(256)) * 9)
    (tmp_path / "empty").write_bytes(b"")
    for name, message in (
        ("no", "cannot be read"),
        ("binary", "KenLM"),
        ("bytes", "not an ARPA file"),
        ("empty", "not an ARPA file"),
        ("", "cannot be read"),
    ):
        with pytest.raises(ModelError, match=message):
            NgramLanguageModel(tmp_path / name).score([["the"]])


def test_words_that_are_not_utf_8_match_no_text(arpa, tmp_path, caplog):
    """As in KenLM, which says nothing of them."""
    path = tmp_path / "latin.arpa"
    path.write_bytes(re.sub("ünusual".encode(), b"\xfcnusual", arpa.read_bytes()))
    latin, whole = NgramLanguageModel(path), NgramLanguageModel(arpa)
    sentences = [["ein", "ünusual", "文", "line"], ["ein", "zebra", "文", "line"], ["the", "cat"]]
    for left, right in zip(latin.score(sentences[:2]), whole.score(sentences[1:2] * 2), strict=True):
        np.testing.assert_array_equal(left, right)
    np.testing.assert_array_equal(latin.score(sentences[2:])[0], whole.score(sentences[2:])[0])
    assert f"{path}: 1 words are not UTF-8 and match no text, b'\\xfcnusual' first" in caplog.text


def test_broken_model_files_are_one_clear_line(model, tmp_path):
    whole = content_of(model)
    write_model(tmp_path / "other", "treelet", {}, {"x": np.zeros(3)})
    header = whole.index(b"{")
    broken = {
        "version": (whole[:8] + b"\7\0\0\0" + whole[12:], "model file of version 7, wanted version 2"),
        "start": (whole[:11], "cut short"),
        "header": (whole[: header + 30], "cut short"),
        "arrays": (whole[:-70], r"cut short: \d+ bytes, wanted \d+"),
        "json": (whole[:header] + b"}" + whole[header + 1 :], "header cannot be read"),
        "kind": (content_of(tmp_path / "other"), "holds a treelet model, wanted a ngram model"),
        "name": (whole.replace(b'"children"', b'"childrun"'), "has no children"),
        "words": (whole.replace(b'"words"', b'"wards"'), "has no words"),
    }
    for name, (content, message) in broken.items():
        write_content(tmp_path / name, content)
        with pytest.raises(ModelError, match=message) as caught:
            NgramLanguageModel(tmp_path / name).score([["the"]])
        assert str(tmp_path / name) in str(caught.value)
        assert "\n" not in str(caught.value)
    made = trained()
    made.tables.event_levels[-1] += 1
    made.save(tmp_path / "fit")
    with pytest.raises(ModelError, match="do not fit together"):
        NgramModel.load(tmp_path / "fit")


def test_a_failed_save_leaves_the_old_file(model, tmp_path, monkeypatch):
    (tmp_path / "lm").write_text("old")
    monkeypatch.setattr(np, "ascontiguousarray", lambda array: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_model(tmp_path / "lm", "x", {}, {"a": np.zeros(2)})
    assert [path.name for path in tmp_path.iterdir()] == ["lm"]
    assert (tmp_path / "lm").read_text() == "old"


def test_a_model_is_mapped_not_read(tmp_path):
    """A file of 100 MB: opening checks it in a moment, keeps nothing of it in memory, writes nothing back."""
    path = tmp_path / "large"
    first = np.zeros(12_500_000)
    write_model(path, "ngram", {"a": "ü"}, {"first": first, "second": np.zeros((0, 3), np.float32)})
    tracemalloc.start()
    start = time.process_time()
    _, arrays = read_model(path, "ngram")
    assert time.process_time() - start < 1
    assert tracemalloc.get_traced_memory()[1] < 1_000_000
    tracemalloc.stop()
    arrays["first"][0] = 7  # on a copy of the page
    settings, arrays = read_model(path, "ngram")
    assert settings == {"a": "ü"}
    assert arrays["first"][0] == 0
    assert arrays["second"].shape == (0, 3)


def test_damage_to_a_model_file_is_seen(model, tmp_path):
    (tmp_path / "lm").write_bytes(model.read_bytes())
    check_damage_is_seen(tmp_path / "lm", NgramModel.load, ModelError, flips=150)


def test_a_checksum_for_every_16_mib(tmp_path):
    path = tmp_path / "large"
    write_model(path, "x", {}, {"a": np.zeros(3 << 21)})
    settings, arrays = read_model(path, "x")
    assert (settings, arrays["a"].shape) == ({}, (3 << 21,))
    with open(path, "r+b") as stream:
        stream.seek(40 << 20)
        stream.write(b"1")
    with pytest.raises(ModelError, match=r"the checksum of bytes 33554432 to 5\d+ is \w{8}, wanted \w{8}"):
        read_model(path, "x")


def test_what_this_process_has_checked_is_not_checked_again(model, tmp_path, monkeypatch):
    path = tmp_path / "lm"
    path.write_bytes(model.read_bytes())
    os.utime(path, (1, 1))  # long ago: a file of this moment may change without its time showing it
    NgramModel.load(path)
    monkeypatch.setattr(core_files, "checked", lambda whole: pytest.fail("the file is checked again"))
    same(NgramModel.load(path), NgramModel.load(path))
    monkeypatch.undo()
    check_damage_is_seen(path, NgramModel.load, ModelError, flips=2)


def test_a_pickled_copy_carries_the_path(model):
    lm = NgramLanguageModel(model)
    before = lm.score([["the", "cat"]])[0]
    packed = pickle.dumps(lm)
    assert len(packed) < 500 + len(str(model))
    np.testing.assert_array_equal(pickle.loads(packed).score([["the", "cat"]])[0], before)


@given(st.floats(-99, 0, width=32) | st.sampled_from([0.0, -1.0, -10.0, -99.0, -0.1, -1e-7, -9.999999, 0.25, 1.5]))
def test_numbers_are_the_shortest_that_come_back(value):
    out = np.zeros(64, np.uint8)
    text = out[: format_number(np.float32(value), out, 0)].tobytes().decode()
    if abs(value) > 1e-9:
        assert np.float32(float(text)) == np.float32(value)
        shortest = np.format_float_positional(np.float32(value), trim="-")
        assert len(text) <= len(shortest)
    else:
        assert abs(float(text) - value) < 1e-16


@given(
    st.lists(st.lists(st.sampled_from([*WORDS, "", "the cat", "a\nb", "<s>", "</s>", "<unk>", "\ud800"]), max_size=5))
)
def test_words_are_numbered_as_by_a_dictionary(sentences):
    vocabulary = Vocabulary(("<unk>", "<s>", "</s>", *WORDS[:-1]))
    numbers = {word: number for number, word in enumerate(vocabulary.words) if number > 2}
    wanted = [n for sentence in sentences for n in (*(numbers.get(word, 0) for word in sentence), 2)]
    assert vocabulary.encode(sentences).tolist() == wanted
    with pytest.raises(ModelError, match="twice"):
        Vocabulary(("<unk>", "<s>", "</s>", "a", "a")).table  # noqa: B018


def test_kenlm_sums_to_one_over_our_vocabulary(kenlm, arpa, model):
    lm = kenlm.Model(str(arpa))
    words = [word for word in NgramModel.load(model).vocabulary.words if word != "<s>"]
    for context in ([], ["the"], ["the", "cat"], ["zebra", "zebra"], ["the", "cat", "sat"]):
        state = kenlm.State()
        lm.BeginSentenceWrite(state)
        for word in context:
            after = kenlm.State()
            lm.BaseScore(state, word, after)
            state = after
        total = sum(10 ** lm.BaseScore(state, word, kenlm.State()) for word in words)
        assert total == pytest.approx(1, abs=1e-5)

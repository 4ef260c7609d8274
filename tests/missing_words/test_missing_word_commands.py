"""Restoration: forms of incomplete sentences, the commands, n-best lists of insertions, accuracies, edit distances."""

import json
import random
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerank_adapters.applications.missing_words import options as sharing
from rerank_adapters.applications.missing_words.accuracy import TOPS, chance, top_accuracies
from rerank_adapters.applications.missing_words.expected_edits import least_edits
from rerank_adapters.applications.missing_words.filling import ContextFilling, SubstituteFilling
from rerank_adapters.applications.missing_words.incomplete import Incomplete, incomplete_lines, parse_incomplete
from rerank_adapters.applications.missing_words.insertions import Inserting, Insertions
from rerank_adapters.applications.missing_words.locate import Locating
from rerank_adapters.applications.missing_words.restore import LAYOUT, chosen
from rerank_plugins import FormatError, Hypothesis, NBestList
from rerank_plugins.kit.files.text import open_text
from rerank_plugins.missing_words.model import read_model
from rerank_plugins.missing_words.tuning import remove_words
from tests.command_line import done, one_line, refused, rerank, says_what_it_wrote
from tests.conftest import ROOT

WORDS = st.text(st.characters(exclude_categories=["Z", "C"]), min_size=1, max_size=5).filter(
    lambda word: "_" not in word
)
SENTENCES = st.lists(WORDS, min_size=3, max_size=8)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Texts of a small language, a model of missing words and an n-gram model."""
    folder = tmp_path_factory.mktemp("restoration")
    rng = random.Random(7)
    lines = []
    for _ in range(1200):
        subject, verb, thing = (
            rng.choice(some) for some in (["dogs", "cats"], ["see", "hear", "eat"], ["birds", "mice"])
        )
        place = rng.choice(["in the garden", "under a tree", "", ""])
        lines.append(" ".join(f"the {subject} often {verb} the small {thing} {place} .".split()))
    (folder / "train.txt").write_text("\n".join(lines[:1000]) + "\n", encoding="utf-8")
    (folder / "test.txt").write_text("\n".join(lines[1000:]) + "\n", encoding="utf-8")
    done("train", "missing-words", folder / "train.txt", "-o", folder / "m.mw")
    done("train", "ngram", folder / "train.txt", "--order", "3", "-o", folder / "lm.ngram")
    done(
        "words",
        "remove",
        folder / "test.txt",
        "-o",
        folder / "test.tsv",
        "--complete",
        folder / "test.ref",
        "--seed",
        "3",
    )
    return folder


def parsed(text, **options):
    return list(parse_incomplete(text.splitlines(keepends=True), "f", **options))


@given(st.lists(SENTENCES, min_size=1, max_size=5), st.integers(0, 9))
def test_what_is_written_is_read_again(sentences, seed):
    removed = remove_words(sentences, seed)
    wanted = [Incomplete(str(i), one.words, i + 2, one.gap, one.word) for i, one in enumerate(removed)]
    assert list(parse_incomplete(incomplete_lines(wanted), "f")) == wanted
    assert [one.complete for one in wanted] == [" ".join(words) for words in sentences]
    blanks = "".join(f"{one.restored(one.gap, '____')}\n" for one in wanted)
    assert [(one.words, one.gap) for one in parsed(blanks)] == [(one.words, one.gap) for one in wanted]


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        ("a b\n\n", {}, "f:2: an empty line, wanted a sentence that lacks a word"),
        ("____ a b\n", {}, "f:1: the blank is the first word, wanted it between two words"),
        ("a b ____\n", {}, "f:1: the blank is the last word, wanted it between two words"),
        ("____\n", {}, "f:1: the blank is the first word, wanted it between two words"),
        ("a ____ b ___ c\n", {}, "f:1: 2 blanks in the sentence, wanted one (____)"),
        ("a b\n", {"gaps": True}, "f:1: no blank in the sentence, wanted one (____)"),
        ("incomplete\tposition\tword\na b\t2\n", {}, "f:2: 2 columns, wanted 3: incomplete, position, word"),
        ("incomplete\tposition\tword\na b\t3\tc\n", {}, "f:2: position '3', wanted a number from 2 to 2"),
        ("incomplete\tposition\tword\na b\tx\tc\n", {}, "f:2: position 'x', wanted a number from 2 to 2"),
        ("incomplete\tposition\tword\na b\t2\tc d\n", {}, "f:2: the missing word is 'c d', wanted one word"),
        ("incomplete\tposition\tword\n\t2\tc\n", {}, "f:2: an empty line, wanted a sentence that lacks a word"),
        ("incomplete\tposition\tword\na\t2\tc\n", {}, "f:2: a sentence of one word cannot lack an inner word"),
        ("word\n", {"gaps": True}, "f:1: no blank in the sentence, wanted one (____)"),
    ],
)  # fmt: skip
def test_lines_that_do_not_do(text, options, said):
    with pytest.raises(FormatError) as error:
        parsed(text, **options)
    assert str(error.value) == said


def test_an_empty_file_has_no_sentences():
    assert parsed("") == []


def test_shares_of_the_first_places():
    assert top_accuracies([0, 1, 4, 9, 10, None]).tolist() == pytest.approx([n / 6 for n in (1, 2, 2, 3, 4)])
    assert chance([1, 4]).tolist() == pytest.approx([(1 + 1 / 4) / 2, 0.75, 0.875, 1, 1])
    assert top_accuracies([]).tolist() == chance([]).tolist() == [0.0] * 5
    assert len(TOPS) == 5


def levenshtein(first, second):
    row = list(range(len(second) + 1))
    for i, a in enumerate(first, 1):
        above, row = row, [i]
        for j, b in enumerate(second, 1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (a != b)))
    return row[-1]


@given(
    st.text("ab ", max_size=6),
    st.lists(st.text("ab ", max_size=8), min_size=1, max_size=5),
    st.lists(st.floats(-5, 0), min_size=5, max_size=5),
    st.floats(0, 0.9),
)
def test_the_fewest_edits_are_expected(incomplete, restored, scores, rest):
    p = np.exp(scores[: len(restored)])
    p *= (1 - rest) / p.sum()

    def expected(choice):
        risk = sum(q * levenshtein(choice, other) for q, other in zip(p, restored, strict=True))
        return risk + rest * (len(choice) - len(incomplete))

    row = least_edits(incomplete, restored, np.array(scores[: len(restored)]), rest)
    chosen = incomplete if row < 0 else restored[row]
    assert expected(chosen) <= min(map(expected, [*restored, incomplete])) + 1e-9


def test_an_unlikely_restoration_is_left_out():
    assert least_edits("so it", ["so was it", "so extraordinarily it"], np.log([0.5, 0.5]), 0.0) >= 0
    assert least_edits("so it", ["so was it", "so extraordinarily it"], np.log([0.5, 0.5]), 0.9) == -1
    assert least_edits("so it", ["so was it"], np.zeros(1), 0.1) == 0


def test_a_sentence_that_is_left_as_it_is_has_no_position():
    incomplete = Incomplete("0", ("so", "it"), 1)
    nbest = NBestList("0", (Hypothesis("so was it", (), -3.0), Hypothesis("so is it", (), -4.0)))
    insertions = Insertions(nbest, ((0, "was"), (0, "is")))
    left, filled = (chosen(incomplete, insertions, None, fewest_edits=fewest) for fewest in (True, False))
    assert left[3:] == (None, None, None, "so it")
    assert filled[3:] == (2, "was", -3.0, "so was it")
    for form, wanted in (("tsv", "0\t\t\t\tso it\n"), ("text", "so it\n")):
        assert list(LAYOUT.lines([(incomplete, left)], form))[-1] == wanted


def test_words_are_removed_from_a_text(tmp_path):
    text = "one two three\nso it\n\nfour five six seven\n"
    ran = done("words", "remove", "--seed", "5", "--complete", tmp_path / "ref", stdin=text)
    assert ran.lines[0] == "incomplete\tposition\tword"
    assert ran.lines[1] == "one three\t2\ttwo"
    assert len(ran.lines) == 3
    assert says_what_it_wrote(ran, r"2 incomplete sentences \(2 sentences left out\)")
    assert (tmp_path / "ref").read_text() == "one two three\nfour five six seven\n"
    assert ran.out == done("words", "remove", "--seed", "5", stdin=text).out
    assert done("words", "remove", "--as", "text", "--seed", "5", stdin=text).lines[0] == "one three"


def test_training_says_what_was_counted(folder, tmp_path):
    ran = done(
        "train", "missing-words", folder / "train.txt", "-o", tmp_path / "m.mw", "--window", "6", "--gamma", "0.01",
        "--max-words", "8", "--held-out", folder / "test.txt", "--seed", "2",
    )  # fmt: skip
    assert "1,000 sentences" in ran.err
    assert "8 distinct known words" in ran.err
    assert "weights tuned on 200 sentences" in ran.err
    assert "location by distance: votes with 0.01" in ran.err
    model = read_model(tmp_path / "m.mw")
    assert model.pairs.window == 6
    assert model.settings["texts"] == [str(folder / "train.txt")]
    assert "even number" in refused(
        "train", "missing-words", folder / "train.txt", "-o", tmp_path / "x", "--window", "5"
    )
    assert "no word occurs" in refused("train", "missing-words", "-", "-o", tmp_path / "x", stdin="a b c\n")
    assert not (tmp_path / "x").exists()


def test_places(folder):
    ran = done(
        "words",
        "locate",
        "-M",
        folder / "m.mw",
        "--top",
        "2",
        stdin="the dogs see the small mice .\nthe often see the small mice .\n",
    )
    assert ran.lines[0] == "sentence\trank\tposition\tbefore\tafter\tln_p"
    rows = [line.split("\t") for line in ran.lines[1:]]
    assert [row[:5] for row in rows if row[1] == "1"] == [
        ["0", "1", "3", "dogs", "see"],
        ["1", "1", "2", "the", "often"],
    ]
    assert len(rows) == 4
    records = [
        json.loads(line)
        for line in done(
            "words", "locate", "-M", folder / "m.mw", "--as", "json", "--top", "99", stdin="the dogs see the mice\n"
        ).lines
    ]
    assert np.exp([place["ln_p"] for place in records[0]["places"]]).sum() == pytest.approx(1.0)
    for method in ("ngram", "distance"):
        assert (
            done("words", "locate", "-M", folder / "m.mw", "--method", method, stdin="the dogs see the small mice .\n")
            .lines[1]
            .startswith("0\t1\t3")
        )


def test_words_for_a_blank(folder):
    ran = done("words", "fill", "-M", folder / "m.mw", "--top", "2", stdin="the ____ often see the small mice .\n")
    assert [line.split("\t")[:3] for line in ran.lines[1:]] == [["0", "1", "2"], ["0", "2", "2"]]
    assert {line.split("\t")[3] for line in ran.lines[1:]} == {"cats", "dogs"}
    (record,) = map(
        json.loads,
        done("words", "fill", "-M", folder / "m.mw", "--as", "json", stdin="cats often see ____ small mice\n").lines,
    )
    assert record["position"] == 4
    assert record["words"][0]["word"] == "the"
    assert {"ln_p", "around", "left2"} < record["words"][0].keys()
    for source in (("-M", folder / "m.mw"), ("--ngram", folder / "lm.ngram")):
        assert (
            done("words", "fill", *source, "--as", "text", stdin="the cats ____ see the small mice .\n").out
            == "the cats often see the small mice .\n"
        )
    one = done(
        "words", "fill", "-M", folder / "m.mw", "--max-candidates", "2", "--top", "2", stdin="the ____ often\n"
    ).lines
    assert len(one) == 3


def test_substitutes_are_normalised_over_what_is_printed(folder):
    ran = done(
        "words", "fill", "--ngram", folder / "lm.ngram", "--top", "4", stdin="the ____ often see the small mice .\n"
    )
    assert np.exp([float(line.split("\t")[4]) for line in ran.lines[1:]]).sum() == pytest.approx(1.0, abs=1e-4)


def test_accuracies_are_those_of_the_answers(folder):
    records = {
        record["system"]: record
        for record in json.loads(
            done("words", "locate", folder / "test.tsv", "-M", folder / "m.mw", "--accuracy", "--as", "json").out
        )
    }
    assert list(records) == ["chance", "ngram", "distance", "odds"]
    sentences = parsed((folder / "test.tsv").read_text())
    rows = [line.split("\t") for line in done("words", "locate", folder / "test.tsv", "-M", folder / "m.mw").lines[1:]]
    right = [int(row[2]) == sentence.gap + 2 for row, sentence in zip(rows, sentences, strict=True)]
    assert records["odds"]["top1"] == pytest.approx(np.mean(right))
    assert records["odds"]["top1"] > records["chance"]["top1"] + 0.3
    rows = [line.split("\t") for line in done("words", "fill", folder / "test.tsv", "-M", folder / "m.mw").lines[1:]]
    (record,) = json.loads(
        done("words", "fill", folder / "test.tsv", "-M", folder / "m.mw", "--accuracy", "--as", "json").out
    )
    assert record["top1"] == pytest.approx(
        np.mean([row[3] == one.word for row, one in zip(rows, sentences, strict=True)])
    )
    restored = done("words", "restore", folder / "test.tsv", "-M", folder / "m.mw").lines
    (record,) = json.loads(
        done("words", "restore", folder / "test.tsv", "-M", folder / "m.mw", "--accuracy", "--as", "json").out
    )
    assert record["top1"] == pytest.approx(
        np.mean([text == one.complete for text, one in zip(restored, sentences, strict=True)])
    )
    assert record["top10"] >= record["top1"] > 0.5
    assert "substitutes" in done("words", "fill", folder / "test.tsv", "--ngram", folder / "lm.ngram", "--accuracy").out


def test_layouts_of_restored_sentences(folder, tmp_path):
    stdin = "the dogs see the small mice .\n"
    ran = done("words", "restore", "-M", folder / "m.mw", stdin=stdin)
    assert ran.out == "the dogs often see the small mice .\n"
    assert says_what_it_wrote(ran, "1 restored sentence")
    table = done("words", "restore", "-M", folder / "m.mw", "--as", "tsv", stdin=stdin).lines
    assert table[0].split("\t") == ["sentence", "position", "word", "score", "restored"]
    assert table[1].split("\t")[:3] == ["0", "3", "often"]
    (record,) = map(json.loads, done("words", "restore", "-M", folder / "m.mw", "--as", "json", stdin=stdin).lines)
    assert record["restored"] == "the dogs often see the small mice ."
    by_ngram = done("words", "restore", "-M", folder / "m.mw", "--ngram", folder / "lm.ngram", stdin=stdin).out
    assert by_ngram == "the dogs often see the small mice .\n"


def test_insertions_are_lists_that_the_chain_reads(folder, tmp_path):
    lists = tmp_path / "test.nbest"
    first = done(
        "words",
        "restore",
        folder / "test.tsv",
        "-M",
        folder / "m.mw",
        "--nbest-out",
        lists,
        "--max-gaps",
        "3",
        "--top",
        "4",
    ).out
    weights = tmp_path / "weights.toml"
    features = ("-f", f"ngram-lm,model={folder / 'lm.ngram'}")
    done("tune", lists, "-r", folder / "test.ref", "-m", "accuracy", *features, "-o", weights)
    best = done("apply", lists, "-w", weights).out
    again = done(
        "words", "restore", folder / "test.tsv", "-M", folder / "m.mw", "-w", weights, "--max-gaps", "3", "--top", "4"
    ).out
    assert again == best
    complete = (folder / "test.ref").read_text().splitlines()
    right = [sum(a == b for a, b in zip(out.splitlines(), complete, strict=True)) for out in (first, best)]
    assert right[1] >= right[0]
    names = [f"location-{method}=" for method in ("odds", "ngram", "distance")]
    names += [f"{name}=" for name in ("filling", "left2", "around", "right2", "left1", "right1", "unigram")]
    line = lists.read_text().splitlines()[0].split(" ||| ")
    assert [word for word in line[2].split() if word.endswith("=")] == names
    total = float(line[3])
    values = dict(zip(names, map(float, line[2].split()[1::2]), strict=True))
    assert total == pytest.approx(values["location-odds="] + values["filling="], abs=1e-5)


def test_lists_have_the_best_words_of_the_best_gaps(folder):
    sentences = parsed((folder / "test.tsv").read_text())[:20]
    locating, filling = Locating(folder / "m.mw", "odds", 0), ContextFilling(folder / "m.mw", None)
    places = locating(sentences)
    for gaps in (2, 0):
        for sentence, (nbest, inserted), found in zip(
            sentences, Inserting(locating, filling, gaps, 3)(sentences), places, strict=True
        ):
            chosen = [place.gap for place in found[: gaps or None]]
            wanted = {}
            for gap, place in zip(chosen, found, strict=False):
                for candidate in filling.fill([sentence], [gap], 3)[0]:
                    text = sentence.restored(gap, candidate.word)
                    wanted[text] = np.logaddexp(wanted.get(text, -np.inf), place.ln_p + candidate.ln_p)
            assert len(nbest) == len(wanted)
            scores = {hypothesis.text: hypothesis.score for hypothesis in nbest}
            assert scores == {text: pytest.approx(score, abs=1e-6) for text, score in wanted.items()}
            assert [h.score for h in nbest] == sorted((h.score for h in nbest), reverse=True)
            assert [sentence.restored(*place) for place in inserted] == list(nbest.texts)
    known = Inserting(locating, filling, 1, 3, at_known_gaps=True)(sentences)
    for sentence, (nbest, _) in zip(sentences, known, strict=True):
        assert set(nbest.texts) == {
            sentence.restored(sentence.gap, candidate.word)
            for candidate in filling.fill([sentence], [sentence.gap], 3)[0]
        }


@pytest.mark.slow
def test_workers_give_the_same_results(folder, monkeypatch):
    monkeypatch.setattr(sharing, "SENTENCES_OF_BATCH", 40)
    arguments = ("words", "restore", folder / "test.tsv", "-M", folder / "m.mw")
    assert done(*arguments, "-j", "2").out == done(*arguments, "-j", "1").out


def test_sentences_come_out_as_they_are_read(folder):
    """In bounded memory: no more than a few batches are read before the first result."""
    read = 0

    def endless():
        nonlocal read
        while True:
            read += 1
            yield Incomplete(str(read), ("the", "dogs", "see"), read)

    located = sharing.in_batches(Locating(folder / "m.mw", "odds", 1), endless(), 1)
    next(located)
    assert read == sharing.SENTENCES_OF_BATCH
    located.close()


@pytest.mark.parametrize(
    ("command", "stdin", "said"),
    [
        ("words locate -M {m}", "a b\n\n", "<stdin>:2: an empty line, wanted a sentence that lacks a word"),
        ("words restore -M {m}", "\n", "<stdin>:1: an empty line, wanted a sentence that lacks a word"),
        ("words fill -M {m}", "____ dogs\n", "<stdin>:1: the blank is the first word, wanted it between two words"),
        ("words locate -M {lm}", "a b\n", "{lm}: holds a ngram model, wanted a missing-words model"),
        ("words restore -M {lm}", "a b\n", "{lm}: holds a ngram model, wanted a missing-words model"),
        ("words fill -M {lm}", "a ____ b\n", "{lm}: holds a ngram model, wanted a missing-words model"),
        ("words fill --ngram {m}", "a ____ b\n", "{m}: holds a missing-words model, wanted a ngram model"),
        ("words fill -M {m} --max-candidates 1000", "a ____ b\n", "1,000 candidates are more than the 16 words of the model"),
        ("words restore -M {m} --max-candidates 1000", "a b\n", "1,000 candidates are more than the 16 words of the model"),
        ("words fill -M {m} --top 1000", "a ____ b\n", "--top 1000: there are only 16 words to fill with"),
        ("words fill -M {m} --max-candidates 5 --top 6", "a ____ b\n", "--top 6: there are only 5 words to fill with"),
        ("words fill --ngram {lm} --top 1000", "a ____ b\n", "--top 1000: there are only 16 words to fill with"),
        ("words restore --ngram {lm} -M {m} --top 17", "a b\n", "--top 17: there are only 16 words to fill with"),
        ("words fill --ngram {lm} --max-candidates 5", "a ____ b\n", "--max-candidates limits the words of a model of missing words (-M), not of --ngram"),
        ("words fill", "a ____ b\n", "give one of -M (a model of missing words) and --ngram (an n-gram model)"),
        ("words fill -M {m} --ngram {lm}", "a ____ b\n", "give one of -M (a model of missing words) and --ngram (an n-gram model)"),
        ("words locate -M none.mw", "a b\n", "none.mw: cannot be read (No such file or directory)"),
        ("words locate -M {m} --accuracy", "a b\n", "<stdin>:1: the missing word is not known: accuracies need a file of `rerank words remove`"),
        ("words locate -M {m} --accuracy", "", "<stdin>: there is no sentence to measure accuracies on"),
        ("words fill -M {m} --accuracy", "a ____ b\n", "<stdin>:1: the missing word is not known: accuracies need a file of `rerank words remove`"),
    ],
)  # fmt: skip
def test_wrong_input_ends_in_one_line(folder, command, stdin, said):
    names = {"m": folder / "m.mw", "lm": folder / "lm.ngram"}
    ran = rerank(*command.format_map(names).split(), stdin=stdin)
    assert one_line(ran, 2) == said.format_map(names)


def test_nothing_half_written_is_left(folder, tmp_path):
    output, lists = tmp_path / "out", tmp_path / "out.nbest"
    refused("words", "restore", "-M", folder / "m.mw", "-o", output, "--nbest-out", lists, stdin="the dogs see\n\n")
    assert list(tmp_path.iterdir()) == []


def test_substitutes_at_a_gap_are_those_of_fastsubs(folder):
    filling = SubstituteFilling(folder / "lm.ngram")
    sentences = [Incomplete("0", ("the", "often", "see"), 1, 0), Incomplete("1", ("see", "the", "mice"), 2, 1)]
    filled = filling.fill(sentences, [0, 1], 3)
    model = filling.substitutes
    for sentence, candidates in zip(sentences, filled, strict=True):
        words, ln_p = model.top(sentence.restored(sentence.gap, "____").split(), sentence.gap + 1, 3)
        assert [candidate.word for candidate in candidates] == [model.ngrams.vocabulary.words[word] for word in words]
        assert [candidate.parts[0] for candidate in candidates] == pytest.approx(ln_p.tolist())


@pytest.mark.slow
def test_the_example_is_made_by_the_commands_of_its_readme(tmp_path):
    """All but the bytes of compression: texts and lists."""
    example = ROOT / "example_nbest"
    model = tmp_path / "train.mw"
    done("train", "missing-words", example / "mt" / "train.en", "--min-count", "1", "-o", model)
    for part in ("tune", "test"):
        removed = ("-o", tmp_path / f"{part}.incomplete", "--complete", tmp_path / f"{part}.complete")
        done("words", "remove", example / "mt" / f"{part}.en", "--seed", "1", *removed)
        lists = ("--max-gaps", "4", "--top", "8", "--nbest-out", tmp_path / f"{part}.nbest.xz")
        done("words", "restore", tmp_path / f"{part}.incomplete", "-M", model, *lists)
    made = [path for path in tmp_path.iterdir() if path != model]
    kept = example / "missing-words"
    assert {path.name for path in made} | {"README.md"} == {path.name for path in kept.iterdir()}
    for path in made:
        if path.suffix != ".xz":
            assert path.read_bytes() == (kept / path.name).read_bytes()
            continue
        with open_text(path) as ours, open_text(kept / path.name) as theirs:
            for line, wanted in zip(ours, theirs, strict=True):  # other processors, other roundings
                assert re.sub(r"-?\d+\.\d+", "#", line) == re.sub(r"-?\d+\.\d+", "#", wanted)

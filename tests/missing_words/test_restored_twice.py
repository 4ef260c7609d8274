"""Restorations to which two gaps lead, where the word equals its neighbour, and sentences of one word, which have no gap."""

import json
import math
from collections import defaultdict

import pytest

from rerank_adapters import fill, locate
from tests.command_line import done, says_what_it_wrote

SENTENCE = "she said that dog barks ."
LINES = ["she said that that dog barks .", "she saw that dog .", "look at that dog .", "the dog barks ."]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A model of a text that often doubles a word."""
    folder = tmp_path_factory.mktemp("doubled")
    (folder / "text").write_text("".join(f"{line}\n" for line in LINES * 30))
    done("train", "missing-words", folder / "text", "-o", folder / "news.mw", "--held-out", folder / "text")
    return folder / "news.mw"


def naive_restorations(sentence, model, words):
    """By text ln p of the restoration, summed over the gaps that lead to it, and the gap that contributes most."""
    tokens = sentence.split()
    insertions = defaultdict(list)
    for place in locate([sentence], model, top=99):
        before, after = tokens[: place["position"] - 1], tokens[place["position"] - 1 :]
        for row in fill([" ".join([*before, "____", *after])], model, top=words):
            text = " ".join([*before, row["word"], *after])
            insertions[text].append((place["ln_p"] + row["ln_p"], -place["position"], row["word"]))
    return {
        text: (math.log(sum(math.exp(ln_p) for ln_p, _, _ in found)), -max(found)[1], max(found)[2])
        for text, found in insertions.items()
    }


def test_gaps_that_lead_to_one_sentence_add_up(model, tmp_path):
    wanted = naive_restorations(SENTENCE, model, 5)
    lists = tmp_path / "out.nbest"
    options = ("--max-gaps", 0, "--top", 5, "--nbest-out", lists)
    ran = done("words", "restore", "-M", model, *options, "--as", "json", stdin=f"{SENTENCE}\n")
    columns = [line.split(" ||| ") for line in lists.read_text().splitlines()]
    found = {text: float(total) for _, text, _, total in columns}
    assert len(columns) == len(found) == len(wanted)  # none is listed twice
    assert found == {text: pytest.approx(ln_p, abs=1e-5) for text, (ln_p, _, _) in wanted.items()}
    assert list(found.values()) == sorted(found.values(), reverse=True)
    for _, _, features, total in columns:
        values = dict(zip(features.split()[::2], map(float, features.split()[1::2]), strict=True))
        assert values["location-odds="] + values["filling="] == pytest.approx(float(total), abs=1e-5)
    best = json.loads(ran.out)
    assert best["restored"] == "she said that that dog barks ."
    assert [best["position"], best["word"]] == [*wanted[best["restored"]][1:]]
    assert best["score"] == pytest.approx(wanted[best["restored"]][0], abs=1e-5)


def test_the_position_is_that_of_the_gap(model):
    """Also where the word equals the word after the gap: the sentence does not show where it was inserted."""
    options = ("-M", model, "--max-gaps", 1, "--as", "tsv")
    (row,) = done("words", "restore", *options, stdin=f"{SENTENCE}\n").lines[1:]
    (gap,) = done("words", "locate", "-M", model, stdin=f"{SENTENCE}\n").lines[1:]
    _, position, word, _, restored = row.split("\t")
    assert gap.split("\t")[2:5] == ["3", "said", "that"]
    assert (position, word, restored) == ("3", "that", "she said that that dog barks .")


ONE_WORD = f"{SENTENCE}\nyes\n{SENTENCE}\n"


def test_a_sentence_of_one_word_is_left_as_it_is(model, tmp_path):
    lists = tmp_path / "out.nbest"
    ran = done("words", "restore", "-M", model, "--nbest-out", lists, stdin=ONE_WORD)
    assert ran.lines == ["she said that that dog barks .", "yes", "she said that that dog barks ."]
    assert says_what_it_wrote(ran, r"3 restored sentences \(1 of one word, without a gap\)")
    assert sorted({line.split(" ||| ")[0] for line in lists.read_text().splitlines()}) == ["0", "2"]
    assert "wrote 2 n-best lists" in ran.err
    table = done("words", "restore", "-M", model, "--as", "tsv", stdin=ONE_WORD).lines
    assert table[2] == "1\t\t\t\tyes"
    records = [json.loads(line) for line in done("words", "restore", "-M", model, "--as", "json", stdin=ONE_WORD).lines]
    assert records[1] == {"sentence": "1", "position": None, "word": None, "score": None, "restored": "yes"}
    for decision in ("likeliest", "fewest-edits"):
        assert done("words", "restore", "-M", model, "--decision", decision, stdin="yes\n").out == "yes\n"


def test_weights_leave_a_sentence_of_one_word_as_it_is(model, tmp_path):
    lists, references, weights = tmp_path / "dev.nbest", tmp_path / "dev.ref", tmp_path / "weights.toml"
    done("words", "restore", "-M", model, "--nbest-out", lists, stdin=f"{SENTENCE}\n" * 3)
    references.write_text("she said that that dog barks .\n" * 3)
    done("tune", lists, "-r", references, "-m", "accuracy", "-f", "length", "-o", weights)
    ran = done("words", "restore", "-M", model, "-w", weights, stdin=f"yes\n{ONE_WORD}no\n")
    assert ran.lines == ["yes", "she said that that dog barks .", "yes", "she said that that dog barks .", "no"]


def test_a_sentence_of_one_word_has_no_position(model):
    ran = done("words", "locate", "-M", model, stdin=ONE_WORD)
    assert [line.split("\t")[0] for line in ran.lines[1:]] == ["0", "2"]
    assert says_what_it_wrote(ran, r"the positions of 3 sentences \(1 of one word, without a gap\)")
    records = [json.loads(line) for line in done("words", "locate", "-M", model, "--as", "json", stdin=ONE_WORD).lines]
    assert records[1] == {"sentence": "1", "places": []}
    assert locate([SENTENCE, "yes", SENTENCE], model)["text"] == [1, 3]

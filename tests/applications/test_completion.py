"""Sentence completion: question files, answers, accuracy and its tests, the command."""

import json
from itertools import product
from math import comb
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerank_adapters.applications.completion.questions import Question, answer_lines, read_answers, read_questions
from rerank_adapters.evaluation.proportions import Z, binomial_p_value, mcnemar, wilson_interval
from rerank_adapters.metrics.accuracy import Accuracy
from rerank_plugins import FormatError
from tests.command_line import done, one_line, refused, rerank

EXAMPLE = Path(__file__).resolve().parents[2] / "example_nbest" / "completion" / "questions.tsv"
HEADER = "id\tquestion\ta\tb\tc\tanswer\n"
TSV = HEADER + '1\tthe _____ barks\tdog\tcat\t"fish\tA\n7\ta _____ .\tx\ty y\tz\tc\n'
CSV = 'id,question,a),b),c)\n1,"the _____, it barks",dog,cat,"a ""fish"""\n7,a ___ .,x,y y,z\n'


@pytest.fixture
def written(tmp_path):
    def write(text, name="questions.tsv"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return write


def test_tab_separated_questions(written):
    first, second = read_questions(written(TSV))
    assert first == Question("1", "the _____ barks", ("dog", "cat", '"fish'), 0, 2)
    assert second.completions() == ["a x .", "a y y .", "a z ."]
    nbest = second.nbest()
    assert (nbest.segment_id, nbest.line, nbest.texts) == ("7", 3, second.completions())


def test_the_challenge_has_questions_and_answers_in_two_files(written):
    questions, answers = written(CSV, "testing_data.csv"), written("id,answer\n7,b\n1,a\n", "test_answer.csv")
    first, second = read_questions(questions, answers)
    assert (first.options[2], first.answer, second.answer) == ('a "fish"', 0, 1)
    assert first.completions()[0] == "the dog, it barks"
    assert [q.answer for q in read_questions(questions)] == [None, None]


def test_compressed_and_windows_line_ends(tmp_path):
    import gzip

    path = tmp_path / "q.tsv.gz"
    path.write_bytes(gzip.compress(TSV.replace("\n", "\r\n").encode()))
    assert [q.answer for q in read_questions(path)] == [0, 2]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 1, "wanted the columns id, question, a, b"),
        ("id\tsentence\ta\tb\n", 1, "not a file of questions"),
        ("id\tquestion\ta\n", 1, "not a file of questions"),
        (HEADER, None, "no question after the header"),
        (HEADER + "1\tthe _____\tx\ty\ta\n", 2, "5 columns, but the header has 6"),
        (HEADER + "1\tno blank\tx\ty\tz\ta\n", 2, "0 blanks in the sentence"),
        (HEADER + "1\t___ and ___\tx\ty\tz\ta\n", 2, "2 blanks in the sentence"),
        (HEADER + "1\t___\tx\ty\tz\ta\n1\t___\tx\ty\tz\ta\n", 3, "question 1 is on line 2 too"),
        (HEADER + "1\t___\tx\ty\tz\td\n", 2, "the answer is 'd', wanted a letter from a to c"),
        (HEADER + "1\t___\tx\ty\tz\t\n", 2, "the answer is '', wanted a letter"),
        ('id,question,a),b)\n1,"___ open,x,y\n', 2, "not CSV"),
    ],
)
def test_questions_of_another_form_are_one_clear_line(written, text, line, message):
    path = written(text)
    with pytest.raises(FormatError, match=message) as caught:
        read_questions(path)
    assert caught.value.line == line
    assert caught.value.path == str(path)


def test_answers_of_another_form(written):
    questions = written(CSV)
    for text, message in [
        ("id,reply\n", "wanted the columns id and answer"),
        ("id,answer\n1,a\n", "no answer to question 7"),
        ("id,answer\n1,a\n1,b\n", "question 1 has an answer already"),
        ("id,answer\n1\n", "1 columns, wanted id and answer"),
    ]:
        with pytest.raises(FormatError, match=message):
            read_questions(questions, written(text, "answers.csv"))


def test_answers_are_read_as_they_were_written(written):
    questions = read_questions(written(TSV))
    path = written("".join(answer_lines(questions, [2, 1])), "answers.tsv")
    assert read_answers(path, 3) == {"1": 2, "7": 1}


def test_accuracy_is_the_share_of_exact_matches():
    rows = Accuracy().statistics([["a b", "a  b ", "A b"], ["c"]], [["x", "a b"], ["c d"]])
    assert rows.tolist() == [[1, 1], [1, 1], [0, 1], [0, 1]]
    assert Accuracy().score(rows.sum(axis=0)) == 50.0
    assert Accuracy(lowercase=True).statistics([["A b"]], [["a B"]]).tolist() == [[1, 1]]


@given(st.integers(0, 60), st.integers(0, 60))
def test_wilson_interval_holds_the_shares_that_a_score_test_keeps(successes, failures):
    trials = successes + failures
    low, high = wilson_interval(successes, trials)
    assert 0 <= low <= high <= 1
    for p in np.linspace(0.001, 0.999, 200):
        distance = abs(successes - trials * p) - Z * (trials * p * (1 - p)) ** 0.5
        if abs(distance) > 1e-6:
            assert (distance < 0) == (low < p < high) or trials == 0


@given(st.integers(0, 9), st.integers(0, 9))
def test_mcnemar_counts_the_throws_of_a_coin(heads, tails):
    """By brute force: all outcomes of as many throws that are at least as uneven."""
    size = heads + tails
    uneven = sum(abs(2 * sum(coins) - size) >= abs(heads - tails) for coins in product((0, 1), repeat=min(size, 10)))
    if size <= 10:
        assert binomial_p_value(heads, tails) == pytest.approx(uneven / 2**size)
    assert binomial_p_value(heads, tails) == binomial_p_value(tails, heads) <= 1


def test_mcnemar_looks_only_where_systems_differ():
    first = np.array([True] * 10 + [False] * 10)
    second = np.array([True] * 8 + [False] * 9 + [True] * 3)
    test = mcnemar(first, second)
    assert (test.first_only, test.second_only) == (2, 3)
    assert test.p_value == pytest.approx(min(1.0, 2 * sum(comb(5, k) for k in range(3)) / 32))
    assert binomial_p_value(3000, 3300) == pytest.approx(0.000164, rel=0.05)  # many throws: exact integers


def test_the_example_is_in_order():
    questions = read_questions(EXAMPLE)
    assert len(questions) >= 36
    assert all(len(set(q.options)) == len(q.options) == 5 for q in questions)
    counts = np.bincount([q.answer for q in questions], minlength=5)
    assert counts.min() >= len(questions) // 10, "every place is right now and then"


def table_rows(out: str) -> dict[str, list[str]]:
    """Cells by the first one of their row; the rows of a later table count."""
    rows = [[cell.strip() for cell in line.strip("│").split("│")] for line in out.splitlines() if line.startswith("│")]
    return {row[0]: row[1:] for row in rows}


def test_complete_says_how_often_each_system_is_right(written):
    """Length in characters finds the longest option: right in all but the last of these questions."""
    lines = [f"{i}\ta _____ b\t{'x' * 9}\ty\tz\ta\n" for i in range(19)] + ["19\ta _____ b\txxx\ty\tz\tc\n"]
    ran = done(
        "words", "complete", written(HEADER + "".join(lines)), "-f", "character-length", "-f", "length", "-f", "unigram"
    )
    rows = table_rows(ran.out)
    assert rows["character-length"][:3] == ["95.0 %", "76.4 to 99.1", "19 of 20"]
    assert "length" not in rows, "it tells no options apart"
    assert set(rows) == {"character-length", "unigram.total", "unigram.per_word", "all, 10-fold"}
    assert "Guessing would reach 33.3 %" in ran.out
    assert rows["all, 10-fold"][2].endswith("of 20")


def test_weights_answers_and_other_systems(written, tmp_path):
    questions = written(HEADER + "".join(f"{i}\ta _____ b\txx\ty\tzzz\t{'abc'[i % 3]}\n" for i in range(9)))
    shortest = written("[dense]\ncharacter-length = -1.0\n", "w.toml")
    out = tmp_path / "answers.tsv"
    ran = done("words", "complete", questions, "-f", "character-length", "-w", shortest, "-o", out)
    assert out.read_text().splitlines() == ["id\tanswer", *(f"{i}\tb" for i in range(9))]
    assert table_rows(ran.out)["weighted"][:1] == ["33.3 %"]
    ran = done(
        "words", "complete", questions, "-f", "character-length", "--system", f"short={out}", "--baseline", "short"
    )
    rows = table_rows(ran.out)
    assert rows["short"][2] == "3 of 9"
    assert rows["character-length"] == ["33.3 %", "12.1 to 64.6", "3 of 9"]
    compared = table_rows(ran.out.partition("Sentence completion")[0])
    assert compared["character-length"] == ["+0.0", "3", "3", "1"]


def test_questions_become_lists_for_the_other_commands(written, tmp_path):
    questions, prefix = written(TSV), tmp_path / "lists"
    done("words", "complete", questions, "-f", "unigram", "--folds", "2", "--lists", prefix, "--text", "none")
    assert Path(f"{prefix}.ref").read_text() == "the dog barks\na z .\n"
    lines = Path(f"{prefix}.nbest").read_text().splitlines()
    assert [line.split(" ||| ")[:2] for line in lines[:4]] == [
        ["0", "the dog barks"], ["0", "the cat barks"], ["0", 'the "fish barks'], ["1", "a x ."],
    ]  # fmt: skip
    table = tmp_path / "table.npz"
    done("extract", f"{prefix}.nbest", "-f", "unigram", "-o", table)
    answers = written("the dog barks\na x .\n", "answers")
    ran = done("evaluate", "-r", f"{prefix}.ref", "-m", "accuracy", f"answers={answers}", "--as", "json")
    assert json.loads(ran.out)["metrics"][0]["systems"][0]["score"] == 50.0


def test_questions_without_answers_are_answered(written, tmp_path):
    questions, out = written(CSV, "testing_data.csv"), tmp_path / "a.tsv"
    ran = done("words", "complete", questions, "-f", "character-length", "-o", out)
    assert ran.out == ""
    assert read_answers(out, 3) == {"1": 2, "7": 1}
    assert "give --answers" in refused("words", "complete", questions, "-f", "unigram")


def test_what_complete_refuses(written):
    questions = written(TSV)

    def late(*arguments):
        """What is found once features are there."""
        return one_line(rerank("words", "complete", questions, *arguments), 2, after=True)

    assert "nothing to answer with" in refused("words", "complete", questions)
    assert "no such file" in refused("words", "complete", "absent.tsv", "-f", "unigram")
    assert "wanted NAME=FILE" in refused("words", "complete", questions, "-f", "unigram", "--system", "x")
    assert "did you mean 'unigram.total'?" in late("-f", "unigram", "--folds", "2", "--baseline", "unigram.totl")
    assert "3 folds of 2 segments" in late("-f", "unigram", "--folds", "3")
    equal = written(HEADER + "1\ta _____\tx\ty\tz\ta\n", "equal.tsv")
    assert "no feature gives the options" in one_line(rerank("words", "complete", equal, "-f", "length"), 2, after=True)

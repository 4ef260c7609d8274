"""A header is no pair, whatever it calls its columns, and the shape of a file decides how it is read, not its name."""

import json

import pytest

from rerank_adapters.applications.similarity.pairs_file import read_sentence_pairs
from rerank_adapters.data.minimal_pairs import read_pairs
from tests.command_line import done, refused

GOOD, BAD = "The lamps on the table are new.", "The lamps on the table is new."
PAIRS = [("A dog runs.", "A dog is running.", 4.8), ("He sings.", 'She "hums", too.', 2.0), ("It rains.", "Go!", 0.2)]


@pytest.mark.parametrize(
    ("names", "groups"),
    [
        ("good\tbad\tphenomenon", {"phenomenon": "agr"}),
        ("sentence_good\tsentence_bad\tphenomenon", {"phenomenon": "agr"}),
        ("Good_sentence\tBad_sentence\tUID", {"paradigm": "agr"}),
        ("grammatical\tungrammatical\tterm", {"term": "agr"}),
        ("acceptable\tunacceptable\tlinguistics_term", {"phenomenon": "agr"}),
    ],
)
def test_a_header_of_minimal_pairs(names, groups, tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text(f"{names}\n{GOOD}\t{BAD}\tagr\n")
    (pair,) = read_pairs(path)
    assert (pair.good, pair.bad, dict(pair.groups), pair.line) == (GOOD, BAD, groups, 2)
    result = json.loads(done("acceptability", "pairs", path, "-M", "ngram-lm", "--as", "json").out)
    assert {row["pairs"] for row in result if "pairs" in row} == {1}
    assert {row["group"] for row in result if "group" in row} <= {"agr", "all", None, ""}
    path.write_text(f"agr\t{BAD}\t{GOOD}\n")
    assert len(read_pairs(path)) == 1


def test_the_header_says_which_column_is_good(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text(f"id\tsentence_bad\tsentence_good\n7\t{BAD}\t{GOOD}\n")
    (pair,) = read_pairs(path)
    assert (pair.good, pair.bad, dict(pair.groups)) == (GOOD, BAD, {"id": "7"})
    path.write_text("sentence_good\tsentence_bad\n")
    assert "no pairs" in refused("acceptability", "pairs", path, "-M", "ngram-lm")


@pytest.mark.parametrize(
    ("header", "order"),
    [
        ("", "12s"),
        ("", "s12"),
        ("sentence1 sentence2 score", "12s"),
        ("pair_ID sentence_A sentence_B relatedness_score", "n12s"),
        ("split genre dataset year sid score sentence1 sentence2", "nnnnns12"),
        ("Text1 Text2 Label", "12s"),
    ],
)
@pytest.mark.parametrize("name", ["sts-dev.csv", "sts-dev.tsv", "sts.txt", "sts.csv.gz"])
@pytest.mark.parametrize("comma", [True, False])
def test_pairs_with_scores(header, order, name, comma, tmp_path):
    import csv
    import gzip
    import io

    text = io.StringIO()
    rows = [header.split()] if header else []
    rows += [[{"1": a, "2": b, "s": str(score), "n": "7"}[kind] for kind in order] for a, b, score in PAIRS]
    if comma:
        csv.writer(text).writerows(rows)
    else:
        text.write("".join("\t".join(row) + "\n" for row in rows))
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.getvalue().encode()) if name.endswith(".gz") else text.getvalue().encode())
    found = read_sentence_pairs(path)
    assert found.pairs == tuple((a, b) for a, b, _ in PAIRS)
    assert found.scores is not None
    assert found.scores.tolist() == [score for _, _, score in PAIRS]


def test_a_file_of_the_benchmark_is_read_under_any_name(tmp_path):
    rows = "".join(f"news\tx\t2012\t{n}\t{score}\t{a}\t{b}\n" for n, (a, b, score) in enumerate(PAIRS))
    results = []
    for name in ("sts-dev.csv", "sts-dev.tsv"):
        (tmp_path / name).write_text(rows)
        found = json.loads(
            done("similarity", "evaluate", tmp_path / name, "--measure", "strings.edits", "--as", "json").out
        )
        results.append(json.loads(json.dumps(found).replace(name, "FILE")))
    assert results[0] == results[1]


def test_a_header_without_scores_and_a_header_alone(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("sentence1\tsentence2\nA dog runs.\tIt rains.\n")
    assert (read_sentence_pairs(path).pairs, read_sentence_pairs(path).scores) == (
        (("A dog runs.", "It rains."),),
        None,
    )
    path.write_text("sentence1\tsentence2\n")
    assert "no pairs" in refused("similarity", "evaluate", path, "--measure", "strings.edits")

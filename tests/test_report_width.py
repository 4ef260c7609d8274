"""Tables of the applications fit a terminal of 80 columns, with long names of systems and many of them."""

from rerank_adapters.report.tables import Table
from rerank_adapters.report.width import fitted
from tests.command_line import done
from tests.conftest import ROOT

EXAMPLES = ROOT / "example_nbest"
FEATURES = ("-f", "unigram,label=a-feature-with-a-very-long-label", "-f", "length", "-f", "character-length")


def test_tables_of_the_applications_are_at_most_80_columns_wide():
    grammar, completion = EXAMPLES / "grammaticality", EXAMPLES / "completion"
    outputs = [
        done("acceptability", "pairs", grammar / "pairs.tsv", *FEATURES).out,
        done("acceptability", "sentences", grammar / "dev.tsv", grammar / "test.tsv", *FEATURES).out,
        done("complete", completion / "questions.tsv", *FEATURES).out,
        done("similarity", "evaluate", EXAMPLES / "similarity" / "pairs.tsv", "--measure", "tfidf.stems").out,
    ]
    for output in outputs:
        assert [line for line in output.splitlines() if len(line.rstrip()) > 80] == []


def test_columns_that_do_not_fit_are_numbered_and_go_to_further_tables():
    names = [f"a-long-name-of-system-{i}" for i in range(12)]
    table = Table("T", ("group", *names), (("g", *["100.0"] * 12),), ("A note.",))
    parts = fitted(table)
    assert [number for part in parts for number in part.header[1:]] == [str(i) for i in range(1, 13)]
    assert all(sum(map(len, part.rows[0])) + 3 * len(part.header) + 1 <= 80 for part in parts)
    assert parts[0].notes == ()
    assert parts[-1].notes[0] == "1: a-long-name-of-system-0"
    assert parts[-1].notes[-1] == "A note."

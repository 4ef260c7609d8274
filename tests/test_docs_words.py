"""The counter of phrasings: prose only, each pattern, and its command."""

import pytest
from click.testing import CliRunner

from tests.docs_words import PATTERNS, counts, main, prose, sentences

PAGE = """# Where it stands

Where lists have totals; that of the decoder counts.
A line goes on here, with `code; that of` in it.

    rerank run beside.toml

| a table; | with those of cells |
| --- | --- |

- An item, alone.
- Another one
  goes on.

```sh
echo "made; so many"
```
"""


def test_only_prose_counts():
    assert prose(PAGE).splitlines() == [
        "Where lists have totals; that of the decoder counts. A line goes on here, with CODE in it.",
        "An item, alone.",
        "Another one goes on.",
    ]
    found = counts(PAGE)
    assert {name: n for name, n in found.items() if n} == {
        "words": 25, "semicolon": 1, "that of": 1, "where": 1, "alone": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("It does what peers do; by what decoders have", "what"),
        ("Stored beside it.", "beside"),
        ("Syntax has +0.4 BLEU.", "has +N"),
        ("It takes so many runs.", "so many"),
        ("A page of its own.", "of its own"),
        ("300 words a line", "a line"),
        ("The former model lost.", "former"),
    ],
)
def test_patterns_are_found(text, pattern):
    assert counts(text)[pattern] == 1


@pytest.mark.parametrize("text", ["The page where it is.", "Say what it is?", "It is in the folder that offers it."])
def test_good_english_is_left_alone(text):
    assert sum(counts(text)[name] for name in PATTERNS) == 0


def test_sentences_end_at_full_stops_but_not_at_abbreviations():
    assert sentences("So did Wu et al. They were (see there). Then 3.5 BLEU.") == [
        "So did Wu et al. They were (see there).",
        "Then 3.5 BLEU.",
    ]


def test_the_command(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(PAGE + "\nA table of numbers.\n", encoding="utf-8")
    table = CliRunner().invoke(main, [str(page)]).output.splitlines()
    assert table[0].startswith("page\twords\tper 1000\tsemicolon")
    assert table[1].startswith("page.md\t29\t")
    shown = CliRunner().invoke(main, [str(page), "--show", "that of"]).output
    assert shown == "page.md: Where lists have totals; that of the decoder counts.\n"
    assert "A table of numbers." in CliRunner().invoke(main, [str(page), "--show", "no verb"]).output

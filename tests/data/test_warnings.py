"""Warnings about several data sets, metrics or models that have one remedy are one line."""

import pytest

from tests.command_line import done

CONFIG = """
metric = [{ use = "bleu", tokenize = "none" }, { use = "wer" }]
feature = [{ use = "length" }]
[tune]
nbest = ["tune.nbest"]
references = ["tune.ref"]
[[test]]
name = "held"
nbest = ["held.nbest"]
references = ["held.ref"]
[evaluation]
bootstrap = 9
randomisation = 9
"""


@pytest.fixture
def two_sets(tmp_path):
    """A config with two sets of lists in capitals, beside references that are not."""
    texts = ["The cat sat on the mat .", "It rained all day .", "We stayed at home .", "Nobody came ."] * 5
    for name in ("tune", "held"):
        lines = [f"{n} ||| {text.upper()} ||| LM= -1 ||| -1\n" for n, text in enumerate(texts)]
        (tmp_path / f"{name}.nbest").write_text("".join(lines))
        (tmp_path / f"{name}.ref").write_text("".join(f"{text}\n" for text in texts))
    (tmp_path / "job.toml").write_text(CONFIG)
    return tmp_path / "job.toml"


def test_a_check_names_it_once_for_all_sets_metrics_and_models(two_sets):
    two_sets.write_text(CONFIG.replace("length", "treelet-lm"))
    warnings = [line for line in done("check", two_sets, "--no-estimate").lines if line.startswith("warning")]
    (unknown,) = (line for line in warnings if "words are unknown" in line)
    assert unknown.startswith("warning tune, held: ")
    assert "unknown to the model of 'treelet-lm'" in unknown
    assert "% to the parser of 'treelet-lm'" in unknown
    (style,) = (line for line in warnings if "hypotheses look" in line)
    assert style.startswith("warning tune, held: ")
    assert style.endswith("as 'bleu', 'wer' see them: give each of these metrics text = ['lowercase']")


def test_a_run_names_it_once_for_all_sets(two_sets):
    said = done("run", two_sets, "--work", two_sets.parent / "work").err
    assert said.count("hypotheses look") == 1


def test_a_run_names_foreign_words_once_for_all_sets(two_sets):
    for name in ("tune", "held"):
        texts = ["der Hund bellt laut heute .", "wir bleiben lieber zuhause .", "niemand kam gestern abend ."] * 5
        texts += ["Frau Holle schläft ."] * (name == "held")
        lines = [f"{n} ||| {text} ||| LM= -1 ||| -1\n" for n, text in enumerate(texts)]
        (two_sets.parent / f"{name}.nbest").write_text("".join(lines))
        (two_sets.parent / f"{name}.ref").write_text("".join(f"{text}\n" for text in texts))
    two_sets.write_text(CONFIG.replace("length", "treelet-lm"))
    said = done("run", two_sets, "--work", two_sets.parent / "work").err
    assert said.count("words are unknown to the model of 'treelet-lm'") == 1

"""Case, punctuation and tokenisation of hypotheses, references and sources: what differs is said with the step to type."""

import pytest

from rerank_adapters.text import looks_like, steps_between, steps_towards
from tests.command_line import done

WORDS = ["so", "the", "old", "doctor", "didn't", "see", "that", "river", "again"]
PLAIN = [" ".join([*WORDS[place:], *WORDS[:place]]) for place in range(len(WORDS))] * 30
WRITTEN = [f"{text[0].upper()}{text[1:]}, he said." for text in PLAIN]
SPACED = [text.replace(",", " ,").replace(".", " .") for text in WRITTEN]
LOWER = [text.lower() for text in WRITTEN]
NUMBERED = ["He is 40 now.", "She saw 23 of them.", "They came at 7 and left.", "So it was."] * 3
SPELT = ["He is forty now.", "She saw twenty-three of them.", "They came at seven and left.", "So it was."] * 3
TITLED = ["Dr. Lee saw Mr. Kay in town.", "Mrs. Lee did not go.", "So it was."] * 3
SPOKEN = ["doctor lee saw mister kay in town", "missus lee did not go", "so it was"] * 3
FAST = ("--bootstrap", "0", "--randomisation", "0")


@pytest.mark.parametrize(
    ("texts", "references", "steps"),
    [
        (LOWER, WRITTEN, ("lowercase",)),
        ([text.upper() for text in WRITTEN], WRITTEN, ("lowercase",)),
        (SPACED, WRITTEN, ("tokenize:en",)),
        ([text.lower() for text in SPACED], WRITTEN, ("lowercase", "tokenize:en")),
        (PLAIN, LOWER, ("no-punctuation",)),
        (PLAIN, WRITTEN, ("lowercase", "no-punctuation")),
        ([text.replace("doctor", "doc@@ tor") for text in WRITTEN], WRITTEN, ("undo-bpe",)),
        ([text.replace("'", "&apos;") for text in WRITTEN], WRITTEN, ("unescape",)),
        (WRITTEN, WRITTEN, ()),
        (NUMBERED, SPELT, ("numbers-to-words",)),
        ([text.lower() for text in SPELT], NUMBERED, ("lowercase", "numbers-to-words")),
        (TITLED, SPOKEN, ("whisper",)),
        (NUMBERED, NUMBERED, ()),
        (SPELT, SPELT, ()),
        (LOWER, [""] * 9, ()),
        (PLAIN, ["我们 今天 去 公园"] * 9, ()),
        (PLAIN, PLAIN, ()),
    ],
)
def test_the_steps_that_make_both_sides_alike(texts, references, steps):
    assert steps_between(texts, references, "en") == steps
    assert steps_between(references, texts, "en") == steps


def test_a_stray_mark_or_capital_in_a_transcript_is_no_style():
    stray = [*PLAIN, "so , the old doctor", "the <UNK> again"]
    assert looks_like(stray) == {"lower-case"}
    assert steps_between(PLAIN, stray) == ()


def test_sources_get_the_style_of_hypotheses_and_not_the_other_way_round():
    assert steps_towards(WRITTEN, LOWER) == ("lowercase",)
    assert steps_towards(WRITTEN, SPACED, "de") == ("tokenize:de",)
    assert steps_towards(LOWER, WRITTEN) == ()
    assert steps_towards(["我们 今天 去 公园"] * 9, LOWER) == ()
    assert steps_towards(WRITTEN, PLAIN) == ("lowercase", "no-punctuation")


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = {"plain": PLAIN, "written": WRITTEN, "spaced": SPACED, "lower": LOWER}
    for name, lines in texts.items():
        (tmp_path / name).write_text("\n".join(lines) + "\n")
        rows = (f"{number} ||| {text} ||| LM= -1 ||| -1\n" for number, text in enumerate(lines))
        (tmp_path / f"{name}.nbest").write_text("".join(rows))
    return tmp_path


def test_evaluate_names_the_step_and_the_step_ends_the_warning(files):
    ran = done("evaluate", "-r", "written", "lower", "-m", "bleu", *FAST)
    assert (
        "rerank: warning: outputs of 'lower' look detokenised and lower-case, references detokenised, as 'bleu' sees "
        "them: give the metric text = ['lowercase']\n"
    ) in ran.err
    assert "warning" not in done("evaluate", "-r", "written", "lower", "-m", "bleu,text=lowercase", *FAST).err


@pytest.mark.parametrize("metric", ["bleu,lowercase=true", "wer,lowercase=true", "chrf,lowercase=true", "ter"])
def test_a_metric_that_ignores_case_sees_no_other_style(files, metric):
    assert "warning" not in done("evaluate", "-r", "written", "lower", "-m", metric, *FAST).err
    said = done("evaluate", "-r", "spaced", "lower", "-m", metric, *FAST).err
    assert "give the metric text = ['tokenize:en']" in said


def test_check_names_it_and_keeps_the_steps_that_are_there(files):
    ran = done("check", "--nbest", "plain.nbest", "-r", "written", "-m", "wer,text=lowercase", "--no-estimate")
    assert "as 'wer' sees them: give the metric text = ['lowercase', 'no-punctuation']" in ran.out


def test_plain_speech_is_left_alone(files):
    """One stray comma made transcripts "tokenised" once."""
    (files / "stray").write_text("\n".join(["so , the old doctor didn't see that river again", *PLAIN[1:]]) + "\n")
    ran = done("check", "--nbest", "plain.nbest", "-r", "stray", "-m", "wer", "--no-estimate")
    assert "look" not in ran.out


def test_check_names_the_step_of_sources_that_are_searched_for_copied_words(files):
    (files / "job.toml").write_text(
        '[[test]]\nnbest = ["lower.nbest"]\nreferences = ["lower"]\nsource = "written"\n'
        '[[metric]]\nuse = "bleu"\n[[feature]]\nuse = "untranslated"\n'
    )
    ran = done("check", "job.toml", "--no-estimate")
    assert (
        "sources look detokenised, hypotheses detokenised and lower-case, as 'untranslated' sees them: give the "
        "feature source_text = ['lowercase']"
    ) in ran.out
    text = (files / "job.toml").read_text()
    (files / "job.toml").write_text(f'{text}source_text = ["lowercase"]\n')
    assert "sources look" not in done("check", "job.toml", "--no-estimate").out


@pytest.mark.parametrize(
    ("references", "output", "looks", "steps"),
    [
        (
            NUMBERED,
            SPELT,
            "look detokenised and with numbers in words, references detokenised and with numerals",
            "numbers-to-words",
        ),
        (TITLED, SPOKEN, "with titles in full", "whisper"),
    ],
)
def test_numbers_and_titles_in_another_style_are_named_with_the_step(references, output, looks, steps, files):
    pytest.importorskip("num2words")
    pytest.importorskip("whisper_normalizer")
    (files / "ref").write_text("\n".join(references) + "\n")
    (files / "out").write_text("\n".join(output) + "\n")
    ran = done("evaluate", "-r", "ref", "out", "-m", "wer", *FAST)
    assert looks in ran.err
    assert f"give the metric text = ['{steps}']" in ran.err
    said = done("evaluate", "-r", "ref", "out", "-m", f"wer,text={steps}", *FAST)
    assert "warning" not in said.err

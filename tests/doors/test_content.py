"""Hypotheses are compared with references of the same segments: what shares too few words with them is refused."""

import random
import re

import pytest

from rerank_adapters import Pipeline, evaluate, read_nbest
from rerank_adapters.data.content import doubts
from rerank_adapters.text import TextPipeline
from rerank_plugins import ConfigError
from tests.command_line import done, refused, rerank

NOUNS = [
    "river",
    "doctor",
    "garden",
    "window",
    "teacher",
    "island",
    "bottle",
    "engine",
    "winter",
    "letter",
    "market",
    "forest",
    "singer",
    "mirror",
    "candle",
]
VERBS = ["sees", "paints", "sells", "hides", "finds", "breaks", "keeps", "visits"]
GERMAN = {"the": "der", "near": "bei", "with": "mit"} | {word: f"{word[::-1]}e" for word in (*NOUNS, *VERBS)}
N = 40
FAST = ("--bootstrap", "9", "--randomisation", "9")


def translated(text):
    return " ".join(GERMAN.get(word, word) for word in text.split())


@pytest.fixture
def job(tmp_path, monkeypatch):
    """Lists of forty segments, their references and sources, and references that are wrong in one way each."""
    monkeypatch.chdir(tmp_path)
    rng = random.Random(7)
    references = [
        f"the {rng.choice(NOUNS)} {rng.choice(VERBS)} the {rng.choice(NOUNS)} near {rng.choice(NOUNS)} {number} ."
        for number in range(N)
    ]
    rows = []
    for number, text in enumerate(references):
        words = text.split()
        worse = " ".join([*words[:2], rng.choice(VERBS), *words[3:]])
        rows += [f"{number} ||| {worse} ||| LM= -{len(worse)} ||| -1\n", f"{number} ||| {text} ||| LM= -3 ||| -2\n"]
    shuffled = rng.sample(references, N)
    files = {
        "right": references,
        "shifted": [*references[1:], references[0]],
        "lost": [*references[:20], *references[21:], "the end ."],
        "shuffled": shuffled,
        "reversed": references[::-1],
        "half": [*references[:10], *shuffled[10:]],
        "source": [translated(text) for text in references],
        "other": [f"a {rng.choice(NOUNS)} with {rng.choice(NOUNS)} {rng.choice(VERBS)} !" for _ in range(N)],
    }
    for name, lines in files.items():
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    (tmp_path / "lists").write_text("".join(rows))
    return tmp_path


WRONG = {
    "shifted": "the segments from '0' on share more words with the reference of the segment before than with their own",
    "lost": "the segments from '2[01]' on share more words with the reference of the segment before than with their "
    "own: a line is missing in the references near '2[01]'",
    "shuffled": r"they share \d+ % of their words with their own references and \d+ % with those of other segments",
    "reversed": r"they share \d+ % of their words with their own references and \d+ % with those of other segments",
    "half": r"share \d+ % of their words with their own references",
    "source": r"they have \d+ % of their words in common, as texts of two languages have",
    "other": r"they share \d+ % of their words with their own references and \d+ % with those of other segments",
}


@pytest.mark.parametrize(("references", "said"), WRONG.items(), ids=WRONG)
def test_wrong_references_are_refused_with_what_was_found(job, references, said):
    message = refused("evaluate", "-r", references, "--nbest", "lists", "-m", "bleu,tokenize=none", *FAST)
    assert re.search(said, message)
    assert message.startswith(f"outputs of '1-best' and {references}: ")
    assert message.endswith(
        "pass `--trust-pairs` to continue (in a config `trust_pairs = true`, in Python `trust_pairs=True`)"
    )


def test_right_references_are_taken_without_a_word(job):
    ran = done("evaluate", "-r", "right", "--nbest", "lists", "--source", "source", "-m", "bleu,tokenize=none", *FAST)
    assert "warning" not in ran.err


CONFIG = """\
[tune]
nbest = ["lists"]
references = ["shifted"]
[[test]]
nbest = ["lists"]
references = ["right"]
[[feature]]
use = "length"
"""
COMMANDS = {
    "tune": "tune lists -r shifted -f length -o w.toml",
    "run": "run job.toml --work work",
    "cross-validate": "cross-validate lists -r shifted -f length -t mira --seeds 1",
    "ablate": "ablate lists -r shifted -f length",
    "ablate a config": "ablate job.toml",
    "table pairs": "table pairs lists -r shifted",
    "negatives nbest": "negatives nbest lists -r shifted",
    "init": "init lists -r shifted shifted --tune lists --language fi",
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_every_command_that_pairs_files_refuses_them(job, command):
    (job / "job.toml").write_text(CONFIG)
    before = set(job.iterdir())
    ran = rerank(*command.split())
    assert ran.code == 2
    assert "share more words with the reference of the segment before" in ran.err
    assert not ran.out
    assert set(job.iterdir()) == before  # nothing is half written


def test_check_has_an_error_for_them(job):
    ran = rerank("check", "--nbest", "lists", "-r", "shifted", "-m", "bleu,tokenize=none", "--no-estimate")
    assert ran.code == 2
    assert re.search(r"^error +lists: hypotheses and .*shifted: the segments from '0' on", ran.out, re.MULTILINE)


def test_a_test_set_of_a_config_is_refused_before_any_work(job):
    (job / "job.toml").write_text(CONFIG.replace("shifted", "x").replace("right", "shifted").replace('"x"', '"right"'))
    assert "hypotheses and shifted: the segments from '0' on" in refused("run", "job.toml", "--work", "work")
    assert not (job / "work").exists()


def test_explain_refuses_them(job):
    done("tune", "lists", "-r", "right", "-f", "length", "-o", "w.toml")
    explain = ("explain", "3", "lists", "-w", "w.toml", "-r", "shifted", "-p", "none")
    assert "share more words with the reference of the segment before" in refused(*explain)
    assert "warning" in done(*explain, "--trust-pairs").err


def test_an_option_goes_on_with_a_warning_and_so_does_a_key_of_the_config(job):
    known = ("-r", "shifted", "--nbest", "lists", "-m", "bleu,tokenize=none", *FAST)
    assert done("evaluate", *known, "--trust-pairs").err.startswith("rerank: warning: outputs of '1-best' and shifted:")
    (job / "job.toml").write_text(f"trust_pairs = true\n{CONFIG}")
    assert "rerank: warning: hypotheses and shifted: " in done("run", "job.toml", "--work", "work").err
    ran = done("check", "job.toml", "--no-estimate")
    assert "warning tune: hypotheses and shifted: the segments from '0' on" in ran.out


def test_each_file_of_references_is_looked_at(job):
    """The first file would hide a second one that is wrong, since metrics take the better one of each segment."""
    message = refused("evaluate", "-r", "right", "-r", "lost", "--nbest", "lists", "-m", "bleu,tokenize=none", *FAST)
    assert message.startswith("outputs of '1-best' and lost: the segments from '2")


def test_each_system_is_looked_at(job):
    (job / "same").write_text((job / "right").read_text())
    message = refused("evaluate", "-r", "right", "a=same", "b=shuffled", "-m", "bleu,tokenize=none", *FAST)
    assert message.startswith("outputs of 'b' and right: they share")


def test_the_source_as_reference_is_recognised_by_the_source(job):
    same = refused("evaluate", "-r", "source", "--source", "source", "a=right", "-m", "bleu,tokenize=none", *FAST)
    assert "40 of 40 references are the sources themselves: one file was given as both" in same
    swapped = refused("evaluate", "-r", "source", "--source", "right", "a=right", "-m", "bleu,tokenize=none", *FAST)
    assert "and 100 % with the sources: these are the references, it seems" in swapped


def test_python_raises_the_same_error(job):
    nbests = read_nbest("lists")
    with pytest.raises(ConfigError, match="the reference of the segment before"):
        Pipeline("length").fit(nbests, "shifted")
    firsts = {"1-best": [nbest[0].text for nbest in nbests]}
    with pytest.raises(ConfigError, match="outputs of '1-best' and shifted"):
        evaluate(firsts, "shifted", metrics=["bleu"])
    assert evaluate(firsts, "shifted", metrics=["bleu"], trust_pairs=True).metrics[0].systems[0].score < 10


def test_subword_pieces_are_joined_before_words_are_compared(job):
    pieces = [re.sub(r"\b(\w\w)(\w{2,})", r"\1@@ \2", line) for line in (job / "right").read_text().splitlines()]
    (job / "pieces").write_text("\n".join(pieces) + "\n")
    ran = done("evaluate", "-r", "right", "pieces", "-m", "bleu,tokenize=none", *FAST)
    assert "give the metric text = ['undo-bpe']" in ran.err
    assert "pieces and right" not in ran.err


@pytest.mark.parametrize(
    "texts",
    [
        ["so it was"] * 30,  # the same everywhere
        ["yes", "no"] * 15,
        [*["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "oh"]] * 3,
        ["我喜欢读书", "他昨天去北京了", "天气很好", "你吃饭了吗", "这本书很有意思"] * 6,
        ["so it was"],
        ["it is", "it was"],
        ["", *["so it was", "he saw a bird"] * 10],
    ],
    ids=["one", "yes or no", "digits", "Chinese", "a segment", "two segments", "empty"],
)
def test_short_and_repeated_texts_are_taken_as_they_are(texts):
    rng = random.Random(1)
    recognised = [text if rng.random() < 0.9 else rng.choice(texts) for text in texts]
    assert [doubt for doubt in doubts(recognised, texts) if doubt.certain] == []


def test_references_without_words_are_refused_unless_some_have_them(job):
    assert [doubt.text for doubt in doubts(["a b", "c", "", "d"], [""] * 4)] == ["all references are empty"]
    assert doubts(["a b", "c", "d"], [""] * 3) == []  # as in an excerpt of silence
    assert doubts(["a b", "c", "", "d"], ["", "", "", "d"]) == []


def test_chinese_is_compared_by_characters():
    characters = "我喜欢读书他昨天去北京了气很好你吃饭吗这本有意思人民中国大家学生老师"
    rng = random.Random(1)
    texts = ["".join(rng.sample(characters, 12)) for _ in range(50)]
    recognised = [text[:8] + text[9:] for text in texts]
    assert doubts(recognised, texts) == []
    (doubt,) = doubts(recognised, texts[::-1])
    assert doubt.certain
    (doubt,) = doubts(recognised, [*texts[:25], *texts[26:], "了"])
    assert "a line is missing in the references near '2" in doubt.text


def test_a_line_that_is_lost_late_in_many_is_seen():
    rng = random.Random(1)
    vocabulary = [f"w{number}" for number in range(3000)]
    texts = [" ".join(rng.choices(vocabulary, k=9)) for _ in range(30_000)]
    assert doubts(texts, texts) == []
    (doubt,) = doubts(texts, [*texts[:29_960], *texts[29_961:], "the end"])
    assert "from '29960' on" in doubt.text


def test_words_that_only_the_metric_makes_alike_are_no_doubt(job):
    """Numerals on one side, words on the other: the pipeline of the metric spells them out."""
    pytest.importorskip("num2words")
    numbers = [f"{n} {n + 7} {n * 3} {n + 40}" for n in range(60)]
    (job / "digits").write_text("\n".join(numbers) + "\n")
    (job / "spelt").write_text("\n".join(TextPipeline(["numbers-to-words:en"]).apply(numbers)) + "\n")
    known = ("-r", "spelt", "digits", "--reference-form", "lines")
    assert "words in common" in refused("evaluate", *known, "-m", "wer", *FAST)
    done("evaluate", *known, "-m", "wer,text=numbers-to-words:en", *FAST)

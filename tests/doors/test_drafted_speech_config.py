"""A drafted config measures plain word errors, and all its features read words that are made in one way."""

import json
import random
import re
import shutil
import subprocess

import pytest

from tests.command_line import done

WORDS = [
    "it's",
    "don't",
    "we're",
    *[
        "so",
        "the",
        "doctor",
        "saw",
        "a",
        "river",
        "and",
        "then",
        "nobody",
        "came",
        "back",
        "to",
        "that",
        "old",
        "house",
        "again",
    ],
]
WRONG = ["its", "dont", *["ace", "saw", "never", "hose", "rever"]]
PLUGINLESS = ("--language", "fi")  # no models, which would take the time of the test


def spoken(seed, segments=60):
    """Lists of three hypotheses and a transcript each; one transcript has a stray mark."""
    rng = random.Random(seed)
    for number in range(segments):
        words = [rng.choice(WORDS) for _ in range(rng.randint(4, 12))]
        hyps = [
            " ".join(rng.choice(WRONG) if rng.random() < rate else word for word in words) for rate in (0.2, 0.3, 0.1)
        ]
        yield {"hyps": hyps, "ref": " ".join(words) + (" , oh" if number == 3 else "")}


@pytest.fixture
def speech(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for seed, name in enumerate(("dev.jsonl", "test.jsonl")):
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in spoken(seed)))
    return tmp_path


def metrics_of(text):
    return re.findall(r"\[\[metric\]\]\n((?:\w+ = .*\n)+)", text)


def test_the_metrics_of_speech_are_the_plain_ones(speech):
    ran = done("init", "dev.jsonl", "test.jsonl", *PLUGINLESS)
    text = (speech / "rerank.toml").read_text()
    assert [metric.splitlines()[0] for metric in metrics_of(text)] == ['use = "wer"', 'use = "cer"', 'use = "ser"']
    assert "tokenize" not in text
    assert "compared" not in text
    assert "look" not in ran.err  # and the check has nothing to say of styles


def word_errors(path):
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return [row["hyps"][0] for row in rows], [row["ref"] for row in rows]


def drafted_wer(speech):
    done("init", "dev.jsonl", "test.jsonl", *PLUGINLESS)
    arguments = ("-c", "rerank.toml", "-r", "test.jsonl", "--nbest", "test.jsonl", "--as", "json")
    ran = done("evaluate", *arguments, "--bootstrap", "0", "--randomisation", "0")
    return json.loads(ran.out)["metrics"][0]["systems"][0]["score"]


def test_its_report_agrees_with_jiwer(speech):
    jiwer = pytest.importorskip("jiwer")
    hypotheses, references = word_errors(speech / "test.jsonl")
    assert drafted_wer(speech) == pytest.approx(100 * jiwer.wer(references, hypotheses))


def test_its_report_agrees_with_sclite(speech):
    sctk = shutil.which("sctk") or shutil.which("sclite")
    if sctk is None:
        pytest.skip("sclite (sctk) is not installed")
    for name, texts in zip(("hyp.trn", "ref.trn"), word_errors(speech / "test.jsonl"), strict=True):
        (speech / name).write_text("".join(f"{text} (a-{number})\n" for number, text in enumerate(texts)))
    command = [sctk, *(["sclite"] if sctk.endswith("sctk") else [])]
    command += ["-r", "ref.trn", "trn", "-h", "hyp.trn", "trn", "-i", "rm", "-o", "sum", "stdout"]
    summary = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    (row,) = re.findall(r"Sum/Avg *\|[^|]*\|([^|]*)\|", summary)
    assert float(row.split()[4]) == pytest.approx(drafted_wer(speech), abs=0.05)


def test_transcripts_of_another_style_get_the_steps_that_make_them_alike_but_no_tokeniser(speech):
    for name in ("dev", "test"):
        rows = [json.loads(line) for line in (speech / f"{name}.jsonl").read_text().splitlines()]
        written = ({**row, "ref": f"{row['ref'].capitalize()}, he said."} for row in rows)
        (speech / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in written))
    done("init", "dev.jsonl", "test.jsonl", "-m", "wer", *PLUGINLESS)
    text = (speech / "rerank.toml").read_text()
    assert 'compared = ["lowercase", "no-punctuation"]' in text
    assert all('text = "compared"' in metric for metric in metrics_of(text))


def test_all_features_that_read_words_read_the_same_ones(tmp_path, monkeypatch):
    """Raw translations: `lexical-overlap` and `untranslated` took `house.` for another word than `house` once."""
    monkeypatch.chdir(tmp_path)
    rng = random.Random(3)
    for name in ("dev", "test"):
        texts = [f"{' '.join(rng.sample(WORDS[3:], 6)).capitalize()}, he said." for _ in range(30)]
        rows = (f"{n} ||| {text} ||| LM= -{rank} ||| -{rank}\n" for n, text in enumerate(texts) for rank in (1, 2))
        (tmp_path / f"{name}.nbest").write_text("".join(rows))
        (tmp_path / f"{name}.en").write_text("\n".join(texts) + "\n")
        sources = (f"Und {text[::-1].strip('.').lower()} ist das, der Mann." for text in texts)
        (tmp_path / f"{name}.de").write_text("\n".join(sources) + "\n")
    done("init", *(f"{name}.{kind}" for name in ("dev", "test") for kind in ("nbest", "en", "de")), *PLUGINLESS)
    text = (tmp_path / "rerank.toml").read_text()
    features = re.findall(r"\[\[feature\]\].*\nuse = \"([\w-]+)\"\n((?:\w+ = .*\n)*)", text)
    assert {"length", "consensus", "lexical-overlap", "untranslated"} <= {name for name, _ in features}
    assert all('text = "written"' in options for name, options in features if name != "decoder-score")
    assert 'written = ["tokenize:fi"]' in text
    assert 'source = ["tokenize:de"]' in text
    assert all(
        'source_text = "source"' in options for name, options in features if name in ("lexical-overlap", "untranslated")
    )

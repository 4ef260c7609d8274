"""A reader that goes away, as `head` does, is no error: every command that prints ends with exit code 0, silently."""

import os
import subprocess
import sys
from unittest import mock

import pytest

from rerank_adapters.cli.commands import CHAIN
from rerank_adapters.cli.main import main
from tests.command_line import RERANK, Captured, done

OF_THE_CHAIN = [name for name, place in CHAIN.items() if not place.startswith("applications.")]
EXAMPLE = "example_nbest"
NBEST, REFERENCES, COPY = f"{EXAMPLE}/mt/few.nbest", f"{EXAMPLE}/mt/few.en", f"{EXAMPLE}/mt/copy.en"
SYSTEMS = ("-r", REFERENCES, "-m", "bleu,tokenize=none", "--nbest", NBEST, f"copy={COPY}")
EVALUATE = ("evaluate", *SYSTEMS, "--bootstrap", "20", "--randomisation", "20")
PAIRS = f"{EXAMPLE}/acceptability/pairs.tsv"
QUESTIONS = f"{EXAMPLE}/completion/questions.tsv"
SIMILARITY = f"{EXAMPLE}/similarity/pairs.tsv"
PRINTING = {
    "rerank --help": ("--help",),
    "rerank --version": ("--version",),
    **{f"{name} --help": (name, "--help") for name in OF_THE_CHAIN},
    "train ngram --help": ("train", "ngram", "--help"),
    **{f"evaluate --as {style}": (*EVALUATE, "--as", style) for style in ("table", "tsv", "json", "markdown", "latex")},
    "evaluate --as html": (*EVALUATE, "--as", "html"),
    "cross-validate": (
        *("cross-validate", NBEST, "-r", REFERENCES, "-m", "bleu,tokenize=none"),
        *("-t", "mira,passes=1", "--folds", "2", "--seeds", "1"),
    ),
    "init": ("init", NBEST, REFERENCES, "--language", "fi", "-o", "-"),
    "run": ("run", "few.toml", "--work", "work"),
    "run --dry-run": ("run", "few.toml", "--work", "work", "--dry-run"),
    "check": ("check", "--nbest", NBEST, "-r", REFERENCES),
    "tune": ("tune", NBEST, "-r", REFERENCES, "-m", "wer", "-t", "mira,passes=1", "-o", "-"),
    "ablate": ("ablate", NBEST, "-r", REFERENCES, "-m", "wer", "-f", "length", "--part", "correlations"),
    "explain": ("explain", "0", NBEST, "-w", f"{EXAMPLE}/mt/moses.ini", "--hypothesis", "2"),
    "apply": ("apply", NBEST, "-w", f"{EXAMPLE}/mt/moses.ini"),
    "lists merge": ("lists", "merge", NBEST),
    "tools weights": ("tools", "weights", f"{EXAMPLE}/mt/moses.ini", "--as", "toml"),
    "plugins": ("plugins",),
    "tools cache": (
        "tools",
        "cache",
    ),
    "tools text": ("tools", "text", "lowercase"),
    "lm score": ("lm", "score", REFERENCES, "-M", "unigram", "--detail", "2"),
    "lm surprisal": ("lm", "surprisal", REFERENCES, "-M", f"{EXAMPLE}/mt/lm.arpa"),
    "lm mix": ("lm", "mix", REFERENCES, "-M", f"{EXAMPLE}/mt/lm.arpa", "-M", "unigram"),
    "words complete": ("words", "complete", QUESTIONS, "-f", "unigram"),
    "similarity evaluate": ("similarity", "evaluate", SIMILARITY, "--measure", "tfidf.stems"),
    "acceptability pairs": ("acceptability", "pairs", PAIRS, "-M", "unigram"),
    "acceptability pairs --as tsv": ("acceptability", "pairs", PAIRS, "-M", "unigram", "--as", "tsv"),
    "trees parse": ("trees", "parse", REFERENCES),
    "lm sample": ("lm", "sample", f"ngram-lm,model={EXAMPLE}/mt/lm.arpa", "-n", "2"),
    "lm clusters": ("lm", "clusters", "--category", "VBD"),
    "negatives nbest": ("negatives", "nbest", NBEST, "-r", REFERENCES),
}


@pytest.fixture(scope="module")
def place(root, small, tmp_path_factory):
    """A folder with the example's small files, and the first lists of the translation example."""
    folder = tmp_path_factory.mktemp("pipes")
    (folder / EXAMPLE / "mt").mkdir(parents=True)
    for name in ("acceptability/pairs.tsv", "completion/questions.tsv", "similarity/pairs.tsv"):
        (folder / EXAMPLE / name).parent.mkdir()
        (folder / EXAMPLE / name).write_bytes((root / EXAMPLE / name).read_bytes())
    (folder / NBEST).write_bytes((small / "tune.nbest").read_bytes())
    for name in (REFERENCES, COPY):
        (folder / name).write_bytes((small / "tune.en").read_bytes())
    for name in ("moses.ini", "lm.arpa"):
        (folder / EXAMPLE / "mt" / name).write_bytes((root / EXAMPLE / "mt" / name).read_bytes())
    (folder / "few.toml").write_text(
        f'[tune]\nnbest = ["{NBEST}"]\nreferences = ["{REFERENCES}"]\n[[test]]\nnbest = ["{NBEST}"]\n'
        f'references = ["{REFERENCES}"]\n[[metric]]\nuse = "wer"\n[tuner]\nuse = "mira"\npasses = 1\n'
        "[evaluation]\nbootstrap = 20\nrandomisation = 20\n"
    )
    return folder


def into_a_closed_pipe(*arguments: str, stdin: bytes = b"") -> tuple[object, str]:
    """Exit code and stderr of a command whose stdout is a pipe that nobody reads."""
    reader, writer = os.pipe()
    os.close(reader)
    err = Captured()
    out = open(writer, "w", encoding="utf-8")  # noqa: SIM115  closed below
    with out, mock.patch.multiple(sys, stdin=Captured(stdin), stdout=out, stderr=err):
        try:
            main(list(arguments))
        except SystemExit as ended:
            code = ended.code
    return code, err.text()


@pytest.mark.parametrize("arguments", PRINTING.values(), ids=PRINTING)
def test_no_command_minds_a_closed_pipe(arguments, place, monkeypatch):
    monkeypatch.chdir(place)
    code, said = into_a_closed_pipe(*arguments, stdin=b"A sentence\n")
    assert code == 0, said
    assert "rerank:" not in said
    assert "Error" not in said


def test_every_command_that_prints_is_tried():
    tried = {arguments[0] for arguments in PRINTING.values() if "--help" not in arguments}
    files_only, of_runs = {"demo", "extract", "prepare"}, {"ablate", "explain"}
    assert set(OF_THE_CHAIN) - files_only - of_runs <= tried


def test_no_command_prints_into_the_void_what_others_read(place, monkeypatch):
    monkeypatch.chdir(place)
    assert done(*PRINTING["lists merge"]).out == (place / NBEST).read_text()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rerank --help", "evaluate --as table"])
def test_the_first_line_of_a_process_of_its_own(name, place):
    with subprocess.Popen(
        [*RERANK, *PRINTING[name]], cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait(60) == 0

"""SIGKILL and a full disk in every command that writes for long: nothing is half written, and the rerun is the same.

The command runs in a fork of this process, which kills itself where its first or its last file would get its name, or
may write files of half the size of the output only.
"""

import json
import os
import re
import resource
import shutil
import signal
import sys
from pathlib import Path

import pytest

from rerank_adapters.builtin import BUILTIN
from rerank_plugins.core.loader import load_plugins
from tests.command_line import Ran, done, one_line, rerank
from tests.test_contracts import BRACKETS

ROOT = Path(__file__).resolve().parent.parent
LISTS = "".join(
    f"{i} ||| the dog {word} ||| D= {n} ||| 1\n" for i in range(6) for n, word in enumerate(("ran", "saw it", "a"))
)
TEXT = (
    "".join(f"the dog saw {word} cat\na cat ran\nit ran home with the dog\n" for word in ("a", "the", "one", "no")) * 2
)
PAIRS = "der Hund lief heim ||| the dog ran home\neine Katze lief ||| a cat ran\nwir sahen ||| we saw\n" * 4
CONFIG = """
seed = 1
jobs = 1
[tune]
nbest = ["lists"]
references = ["refs"]
[[test]]
nbest = ["lists"]
references = ["refs"]
[[feature]]
use = "length"
[tuner]
use = "mira"
passes = 2
[evaluation]
bootstrap = 5
randomisation = 5
contribution_folds = 0
"""
RUNS = {
    "extract": "extract lists -f length -f unigram -j 1 -o OUT",
    "tune": "tune lists -f length -r refs -j 1 -o OUT",
    "parse": "trees parse text -p english -j 1 -o OUT",
    "run": "run job.toml --work OUT",
    "train ngram": "train ngram text --order 2 -j 1 -o OUT",
    "train dependency-lm": "train dependency-lm trees.conllu --order 2 -j 1 -o OUT",
    "train treelet-lm": "train treelet-lm bank -j 1 -o OUT",
    "train grammar": "train grammar bank --language en --splits 0 -o OUT",
    "train hhmm": "train hhmm bank --language en -o OUT",
    "train svs": "train svs bank --language en --concepts 2 -o OUT",
    "train svs-concepts": "train svs-concepts bank --language en --concepts 2 -o OUT",
    "train treebank": "train treebank trees.conllu -o OUT",
    "train word-classes": "train word-classes trees.conllu -o OUT",
    "train random-indexing": "train random-indexing text --min-count 1 --dimensions 16 -o OUT",
    "train esa": "train esa text --documents 4 --min-count 1 --min-length 1 -o OUT",
    "train missing-words": "train missing-words text --min-count 1 --held-out text -j 1 -o OUT",
    "train dependency-parser": "train dependency-parser trees.conllu --language en --epochs 1 -o OUT",
    "train word-alignment": "train word-alignment pairs --iterations 1 -o OUT",
    "train translation-memory": "train translation-memory pairs -o OUT",
    "train word-lexicon": "train word-lexicon pairs --epochs 1 -o OUT",
}


@pytest.fixture
def place(request, tmp_path, monkeypatch, treebank_path):
    """A folder with the inputs of all commands, and a cache of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RERANK_CACHE", str(tmp_path / "cache"))
    trees = "\n\n".join(treebank_path.read_text(encoding="utf-8").split("\n\n")[:10]) + "\n\n"
    files = {"lists": LISTS, "refs": "the dog saw it\n" * 6, "text": TEXT, "pairs": PAIRS, "bank": BRACKETS * 4}
    for name, content in {**files, "trees.conllu": trees, "job.toml": CONFIG}.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    return tmp_path


MADE = re.compile(rb'^made = "[^"]*"$', re.MULTILINE)  # when weights were tuned


def bytes_of(path: Path) -> dict[str, bytes]:
    """The files of an output, a file or a folder, without the times that they say and the records of times."""
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    wanted = [file for file in files if file.suffix not in (".json", ".html", ".tmp")]
    return {str(file.relative_to(path)): MADE.sub(b"", file.read_bytes()) for file in wanted}


def in_a_fork(command: list[str], prepare) -> Ran:
    """How a command ends in a fork of this process, after `prepare()`; the code of a killed one is negative."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        sys.dont_write_bytecode = True  # where a limit on the size of files cuts it, Python leaves it so
        try:
            prepare()
            ran = rerank(*command)
            os.write(write, json.dumps([ran.code, ran.out[-1000:], ran.err[-1000:]]).encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as stream:
        said = stream.read()
    _, status = os.waitpid(child, 0)
    return Ran(*json.loads(said)) if said else Ran(-os.WTERMSIG(status) if os.WIFSIGNALED(status) else 99, "", "")


def noting(monkeypatch, place: Path, at: int | None = None) -> list[str]:
    """The names that files under `place` get from now on; the process is killed in place of giving number `at`."""
    rename, names = os.replace, []

    def replace(source, target, **options):
        if Path(target).resolve().is_relative_to(place):
            if len(names) == at:
                os.kill(os.getpid(), signal.SIGKILL)
            names.append(str(target))
        return rename(source, target, **options)

    monkeypatch.setattr(os, "replace", replace)
    return names


def clean(place: Path) -> None:
    """Remove the output, the unfinished files that a killed process leaves beside it, and the cache."""
    for path in (place / "cache", *place.glob("*out.toml*")):
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def command_for(name: str) -> list[str]:
    return RUNS[name].replace("OUT", "out.toml").split()


QUICK = {"train word-lexicon", "train translation-memory"}  # of half a second


@pytest.mark.parametrize("name", [pytest.param(n, marks=() if n in QUICK else pytest.mark.slow) for n in RUNS])
def test_killed_at_a_file_or_on_a_full_disk(place, name, monkeypatch):
    with monkeypatch.context() as patch:
        names = noting(patch, place)
        done(*command_for(name))
    wanted = bytes_of(place / "out.toml")
    limit = max(map(len, wanted.values())) // 2
    clean(place)
    before = {path.name for path in place.iterdir()}
    for number in sorted({0, len(names) - 1}):
        ran = in_a_fork(command_for(name), lambda at=number: noting(monkeypatch, place, at))
        assert ran.code == -signal.SIGKILL, ran
        assert name == "run" or not (place / "out.toml").exists()
        done(*command_for(name))
        assert bytes_of(place / "out.toml") == wanted
        assert not list(place.glob(".out.toml*.tmp")), "what the killed process left is removed"
        clean(place)
    ran = in_a_fork(command_for(name), lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    said = one_line(ran, 2, after=True)
    assert re.search("File too large|no space|disk is full", said), said
    left = {path.name for path in place.iterdir()} - before - {"cache"}
    assert left <= ({"out.toml"} if name == "run" else set()), left
    assert not list(place.rglob("*.tmp"))


def test_every_training_command_is_killed():
    models = load_plugins(BUILTIN, installed=False).entries["trainer"]
    assert {name.removeprefix("train ") for name in RUNS if name.startswith("train ")} == set(models)

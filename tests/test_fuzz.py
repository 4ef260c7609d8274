"""Every reader of files and every loader of models, on files that are damaged at random.

A reader may accept such a file or refuse it in one line, and has bounded time and memory for it. `RERANK_FUZZ_SECONDS`
divides so many seconds among the readers in place of a fixed number of files, and `RERANK_FUZZ_SEED` chooses others.
"""

import ast
import lzma
import os
import re
import shutil
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from rerank_adapters.texts import FORMS
from tests.fuzz_targets import REGISTRY, TARGETS
from tests.fuzzing import forged, mutated, said

ROOT = Path(__file__).resolve().parent.parent
FILES = 12  # of each target
SEED = int(os.environ.get("RERANK_FUZZ_SEED", "1"))
SHARE = float(os.environ.get("RERANK_FUZZ_SECONDS", "0")) / len(TARGETS)


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """The good file of each target, written once, in a folder of its own."""
    folders = {}

    def path_of(target):
        if target.name not in folders:
            folders[target.name] = tmp_path_factory.mktemp("good")
            target.write(folders[target.name] / target.file)
        return folders[target.name] / target.file

    return path_of


@pytest.fixture(autouse=True)
def no_cache(monkeypatch):
    monkeypatch.setenv("RERANK_CACHE", "")


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_damaged_files_are_read_or_refused_in_one_line(target, good, tmp_path):
    shutil.copytree(good(target).parent, tmp_path, dirs_exist_ok=True)
    path = tmp_path / target.file
    whole, rng = path.read_bytes(), np.random.default_rng([SEED, *target.name.encode()])
    target.read(path)
    end = time.monotonic() + SHARE
    number = 0
    while number < FILES or time.monotonic() < end:
        number += 1
        is_forged = target.is_container and number % 3
        content = forged(whole, rng, tmp_path) if is_forged else mutated(whole, rng)
        path.write_bytes(content)
        try:
            said(lambda: target.read(path))
        except BaseException as error:
            kept = tmp_path / "refused"
            kept.write_bytes(content)
            error.add_note(f"{target.name}: file {number} of seed {SEED}, kept as {kept}: {content[:300]!r}")
            raise


BY_NAME = {target.name: target for target in TARGETS}
MANY = b"9" * 5000  # digits: more than Python converts to an integer
LONG = b"x" * 20_000
REFUSED = {
    "nested JSON": ("references json", b'{"id": ' + b"[" * 30_000, "no id|not JSON|expected"),
    "nested JSON of pairs": ("BLiMP", b'{"sentence_good": ' + b"[" * 30_000, "1: not JSON: nested too deeply"),
    "an integer in JSON": ("BLiMP", b'{"sentence_good": ' + MANY + b"}", "1: not JSON: an integer has too many digits"),
    "nested TOML": ("weights.toml", b"x = " + b"[" * 30_000, "not valid TOML: nested too deeply"),
    "an integer in TOML": ("weights.toml", b"scale = " + MANY, "not valid TOML: an integer has too many digits"),
    "a key in TOML": ("config", b"a." * 30_000 + b"b = 1", "not valid TOML: a key has more than 100 parts"),
    "a position": ("incomplete", b"incomplete\tposition\tword\na b c\t" + MANY + b"\td\n", "2: position '9999"),
    "the head of a word": ("CoNLL-U", b"1\ta\ta\tDET\t_\t_\t" + MANY + b"\tdet\t_\t_\n\n", ":1: the head of a word is 9999"),
    "trees that are not UTF-8": ("parser treebank CoNLL-U", b"\xff", "not UTF-8 text"),
    "nested brackets": ("referential grammar", b"NP -> " + b"(" * 30_000, "1: .*nested too deeply"),
    "the numbers of an ARPA file": ("ARPA", b"\\data\\\nngram 1=" + MANY, ":2: expected 'ngram 1="),
    "damage in gzip": ("ARPA", b"\x1f\x8b\x08" + bytes(7) + b"\xff" * 90, "cannot be read"),
    "a header of a table": ("world csv", b'"a\nb"\n', "columns a b, wanted parent"),
    "a long field of a table": ("world csv", b"x" * 200_000, "not CSV: field larger than"),
    "a name in a message": ("format moses moses.nbest", b"0 ||| a ||| x= 1 ||| 1\n0 ||| a ||| " + LONG + b"= 1 ||| 1\n", " … "),
    "unigrams that are no text": ("unigrams", lzma.compress(b"\xfd\xff"), "damaged"),
    "unigrams without counts": ("unigrams", lzma.compress(b"# tokens 3\nthe\n"), "damaged"),
    "pointers of WordNet": ("WordNet", b"00000000 05 n 01 a 0 99999999 @\n", "not a WordNet database that NLTK can read"),
}  # fmt: skip
READ = {
    "the id of a segment": ("format moses moses.nbest", MANY + b" ||| a ||| x= 1 ||| 1\n"),
    "the nodes of a lattice": ("format julius julius.out", b"sentence" + MANY + b": a\n"),
    "an integer beyond floats": (
        "format transformers transformers.jsonl",
        b'{"id": "0", "sequences": ["a"], "sequences_scores": [1' + b"0" * 400 + b"]}\n",
    ),
    "trees without ids": ("parser treebank k-best", b" ||| (X (A the) (B cat) (C sat)) ||| -1\n"),
    "a word of SRILM": ("format srilm srilm1.nbest", b"NBestList1.0\n(1) " + b"(" * 100_000 + b"\n"),
}


@pytest.mark.parametrize(("name", "content", "wanted"), REFUSED.values(), ids=REFUSED)
def test_what_was_a_fault_is_refused(name, content, wanted, tmp_path):
    path = tmp_path / BY_NAME[name].file
    path.write_bytes(content)
    message = said(lambda: BY_NAME[name].read(path))
    assert message is not None
    assert re.search(wanted, message), message


@pytest.mark.parametrize(("name", "content"), READ.values(), ids=READ)
def test_what_was_a_fault_has_an_end(name, content, tmp_path):
    path = tmp_path / BY_NAME[name].file
    path.write_bytes(content)
    said(lambda: BY_NAME[name].read(path))


CALLERS = {  # they only call readers that have targets, or read what the program has written and hashed
    "rerank_adapters.api:read_nbest",
    "rerank_adapters.texts.one_bests:OneBestFile.read",  # of the lines that it has written
    "rerank_adapters.run.run:Results.read",  # of the files of a run, which its keys have
    "rerank_adapters.run.writing:read_contributions",  # of a file of a run, made again where its hash is another
    "rerank_adapters.run.writing:read_intervals",  # as that of the contributions
}


def readers() -> set[str]:
    """`module:name` of every function that reads a file: one named `read…` or `load` that takes a path or lines."""
    found = set()
    for base, package in ((ROOT, "rerank_plugins"), (ROOT / "adapters", "rerank_adapters")):
        for file in (base / package).rglob("*.py"):
            module = ".".join(file.relative_to(base).with_suffix("").parts).removesuffix(".__init__")
            body = ast.parse(file.read_text(encoding="utf-8")).body
            classes = [(f"{each.name}.", each.body) for each in body if isinstance(each, ast.ClassDef)]
            for prefix, functions in (("", body), *classes):
                named = [f for f in functions if isinstance(f, ast.FunctionDef) and NAMED.match(f.name)]
                taking = [f.name for f in named if TAKEN & {argument.arg for argument in f.args.args}]
                found |= {f"{module}:{prefix}{name}" for name in taking if "Format" not in prefix}
    return found - CALLERS


NAMED = re.compile("(?:read|load)(?:_|$)|parse_(?:rows|pairs|incomplete)$")
TAKEN = {"path", "paths", "lines", "folder", "stream"}


@pytest.mark.slow
def test_every_reader_has_a_target(good):
    """A new reader needs a target; the formats come from the registry."""
    called: set[str] = set()

    def note(frame, event, argument):
        if event == "call":
            called.add(f"{frame.f_globals.get('__name__')}:{frame.f_code.co_qualname}")

    for target in TARGETS:
        path = good(target)
        sys.setprofile(note)
        try:
            target.read(path)
        finally:
            sys.setprofile(None)
    assert len(readers()) > 50
    assert not sorted(readers() - called), "add targets to tests/fuzz_targets.py"


def test_every_format_and_form_has_a_target():
    with_targets = {target.name.split()[1] for target in TARGETS if target.name.startswith("format ")}
    assert with_targets == set(REGISTRY.entries["format"])
    forms = {target.name.split()[1] for target in TARGETS if target.name.startswith("references ")}
    assert forms == set(FORMS)

"""Wrong input: one line on stderr that says what, where and what was expected; exit code 2; nothing written or lost."""

import errno
import gzip
import os
import re
import resource
import shutil
import traceback
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

from rerank_plugins import FeatureTable, RerankError
from tests.command_line import Ran, done, in_process_of_its_own, one_line, refused, rerank, start

GOOD = "0 ||| a b ||| LM0= -1 TM0= -1 -2 ||| -3\n0 ||| a ||| LM0= -2 TM0= -1 -2 ||| -4\n1 ||| c ||| LM0= -2 TM0= 0 -2 ||| -4\n"
REFERENCES = "a b\nc\n"


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder to work in, with small lists and references, weights of other features, and an output from before."""
    monkeypatch.chdir(tmp_path)
    write = {
        "good": GOOD,
        "good.en": REFERENCES,
        "other.toml": "[dense]\nLM0 = 1.0\nOther = 2.0\n",
        "good.toml": "[dense]\nLM0 = 1.0\nTM0 = [0.5, 0.25]\n",
        "old": "from before\n",
    }
    for name, text in write.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def everything(folder: Path) -> dict[str, bytes]:
    """The files of the folder and their content, without what Python compiles from plugin files."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.parent.name != "__pycache__")
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def refused_leaving_all(folder: Path, *arguments: object, after: bool = False) -> str:
    """What is said; no file is new, gone or changed. With `after`, lines about the work so far may come before."""
    before = everything(folder)
    said = one_line(rerank(*arguments), 2, after=after)
    assert everything(folder) == before
    return said


# --- n-best lists

LINES = {
    "too few fields": (b"1 ||| c\n", "found 2 columns, expected id ||| text ||| features"),
    "not a number": (b"1 ||| c ||| LM0= x TM0= -1 -2 ||| -4\n", "feature 'LM0' is 'x', expected a number"),
    "nan": (b"1 ||| c ||| LM0= nan TM0= -1 -2 ||| -4\n", "feature 'LM0' is 'nan', expected a finite number"),
    "inf": (b"1 ||| c ||| LM0= -1 TM0= -inf -2 ||| -4\n", "feature 'TM0_0' is '-inf', expected a finite number"),
    "total nan": (b"1 ||| c ||| LM0= -1 TM0= 1 -2 ||| nan\n", "the total score is 'nan', expected a finite number"),
    "missing group": (
        b"1 ||| c ||| LM0= -1 ||| -4\n",
        "the hypothesis lacks features 'TM0_0', 'TM0_1', unlike line 1",
    ),
    "short group": (
        b"1 ||| c ||| LM0= -1 TM0= 1 ||| -4\n",
        "the hypothesis lacks features 'TM0_0', 'TM0_1' and has the unexpected feature 'TM0', unlike line 1",
    ),
    "other features": (
        b"1 ||| c ||| LM0= -1 TM0= 1 2 New= 1 ||| -4\n",
        "the hypothesis has the unexpected feature 'New', unlike line 1",
    ),
    "broken UTF-8": (b"1 ||| c\xe9 ||| LM0= -1 TM0= 1 2 ||| -4\n", "byte 8 of the line is 0xe9, which is not UTF-8"),
    "empty line": (b"\n", "found an empty line, expected id ||| text"),
}
READERS = {
    "extract": ("extract", "bad", "-f", "length", "-o", "old"),
    "tune": ("tune", "bad", "-r", "good.en", "-o", "old"),
    "apply": ("apply", "bad", "-w", "good.toml", "-o", "old"),
    "apply to lists": ("apply", "bad", "-w", "good.toml", "-o", "new", "--nbest-out", "old"),
    "evaluate": ("evaluate", "-r", "good.en", "--nbest", "bad", "-o", "old"),
    "merge": ("lists", "merge", "bad", "good", "-o", "old"),
    "cross-validate": ("cross-validate", "bad", "-r", "good.en"),
}


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
@pytest.mark.parametrize(("line", "said"), LINES.values(), ids=LINES)
def test_wrong_lines_of_a_list(place, line, said, reader):
    (place / "bad").write_bytes(GOOD.encode() + line + GOOD.encode())
    assert refused_leaving_all(place, *reader).startswith(f"bad:4: {said}")


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
def test_files_that_are_no_lists(place, reader):
    assert refused_leaving_all(place, *reader) == "bad: no such file"
    (place / "bad").write_bytes(b"")
    assert refused_leaving_all(place, *reader) == "bad: the file holds no n-best list"
    (place / "bad").write_bytes(
        gzip.compress("".join(f"{i} ||| a ||| LM0= -1 TM0= {i} 2 ||| 3\n" for i in range(99)).encode())[:-20]
    )
    assert refused_leaving_all(place, *reader) == "bad: gzip file is cut short: its end is missing"
    (place / "bad").unlink()
    (place / "bad").mkdir()
    assert refused_leaving_all(place, *reader) == "bad: is a folder, expected a file"


@pytest.mark.parametrize("reader", [READERS["tune"], READERS["apply"], READERS["merge"]])
def test_files_whose_features_differ(place, reader):
    (place / "bad").write_text("7 ||| c ||| LM0= -1 ||| -4\n")
    place_of_bad = reader.index("bad")
    said = refused_leaving_all(place, *reader[:place_of_bad], "good", *reader[place_of_bad:])
    assert "the features of segment 7 differ from those of segment 0: lacks features 'TM0_0', 'TM0_1'" in said
    assert said.startswith("bad:1: ")


def test_segments_that_come_again_are_to_be_merged_first(place):
    (place / "bad").write_text(GOOD + GOOD)
    said = refused_leaving_all(place, *READERS["apply"])
    assert said == "bad:4: segment 0 appears twice; merge the lists first (`rerank lists merge`)"
    assert done("lists", "merge", "bad").out == GOOD


def test_standard_input_has_a_name(place):
    assert refused("apply", "-", "-w", "good.toml", stdin="0 ||| a\n").startswith("<stdin>:1: reads as score ||| text")


# --- references, sources, systems


def test_references_that_do_not_fit(place):
    tune = ("tune", "good", "-o", "old", "-r")
    (place / "short").write_text("a b\n")
    (place / "empty").write_text("")
    (place / "bytes").write_bytes(b"a b\n\xff\n")
    wanted = (
        "short: segment 1 is not in the file, which has 1 line, for the segments 0 to 0; `--unpaired leave-out` takes"
    )
    assert refused_leaving_all(place, *tune, "short").startswith(wanted)
    assert (
        refused_leaving_all(place, *tune, "good.en", "-r", "short")
        == "short: has 1 line but good.en has 2; they must match"
    )
    assert refused_leaving_all(place, *tune, "empty") == "empty: the file is empty, expected one line per segment"
    assert refused_leaving_all(place, *tune, "bytes").startswith("bytes:2: byte 1 of the line is 0xff")
    assert refused_leaving_all(place, *tune, "none") == "none: no such file"
    assert refused_leaving_all(place, "tune", "good", "-o", "old").startswith("missing option '-r'")
    assert refused_leaving_all(place, *tune, "good.en", "--source", "short").startswith(
        "short: segment 1 is not in the file"
    )


def test_an_id_without_reference(place):
    (place / "bad").write_text(GOOD.replace("\n1 |||", "\nx |||"))
    said = refused_leaving_all(place, *READERS["tune"])
    assert said.startswith("good.en: the segments have ids, such as 'x', and the file has none; wanted `x word word")


def test_systems_that_do_not_fit(place):
    (place / "short").write_text("a b\n")
    (place / "same.en").write_text((place / "good.en").read_text())
    evaluate = ("evaluate", "-r", "good.en", "-o", "old")
    assert refused_leaving_all(place, *evaluate, "short") == "short: has 1 line but good.en has 2; they must match"
    assert refused_leaving_all(place, *evaluate, "good.en", "good.en").startswith("two systems have the same name")
    assert (
        refused_leaving_all(place, *evaluate, "x=same.en", "--baseline", "y")
        == "no system named 'y' to compare with (known: x)"
    )
    assert refused_leaving_all(place, *evaluate).startswith("there is nothing to evaluate: name at least one SYSTEM")


def test_a_feature_that_needs_the_source(place):
    said = refused_leaving_all(place, "extract", "good", "-f", "lexical-overlap", "-o", "old")
    assert said.startswith("lexical-overlap compares with the source sentence, and segment 0 has none")


# --- weights, tables


def test_weights_that_do_not_fit(place):
    apply = ("apply", "good", "-o", "old", "-w")
    said = refused_leaving_all(place, *apply, "other.toml")
    assert said.startswith("other.toml: not the weights for these lists: segment 0: ")
    assert "lacks feature 'Other'" in said
    assert "unexpected features 'TM0_0', 'TM0_1'" in said
    assert refused_leaving_all(place, *apply, "none.toml") == "none.toml: no such file"
    (place / "nan.toml").write_text("decision = 'map'\n[dense]\nLM0 = nan\n")
    assert (
        refused_leaving_all(place, *apply, "nan.toml")
        == "nan.toml:3: the weight of 'LM0' is nan, expected a finite number"
    )
    (place / "not.toml").write_text("[dense\n")
    assert refused_leaving_all(place, *apply, "not.toml").startswith("not.toml:1: not valid TOML: ")
    (place / "key.toml").write_text("[dens]\nLM0 = 1\n")
    assert refused_leaving_all(place, *apply, "key.toml") == "key.toml:1: unknown key 'dens'; did you mean 'dense'?"
    (place / "record.toml").write_text("[dense]\nLM0 = 1\n[provenance.job]\nfeature = 3\n")
    assert refused_leaving_all(place, *apply, "record.toml").startswith("record.toml: provenance.job.feature: ")
    start_from = ("tune", "good", "-r", "good.en", "-o", "old", "--start")
    assert "lacks features 'TM0_0', 'TM0_1'" in refused_leaving_all(place, *start_from, "other.toml")
    (place / "good").write_text(
        GOOD.replace("||| -3\n", "||| -3\n" + GOOD.partition("\n")[0].replace("-3", "-9") + "\n")
    )
    said = refused_leaving_all(place, *start_from, "decoder", "-f", "length")
    assert said.startswith("no weights of the decoder's features reproduce its totals: the best ones miss a total by ")


def test_tables_that_do_not_fit(place):
    done("extract", "good", "-f", "length", "-o", "t.npz")
    (place / "texts").write_text(GOOD.replace("a b", "a a"))
    (place / "values").write_text(GOOD.replace("LM0= -1 ", "LM0= -3 "))
    (place / "sizes").write_text(GOOD + "1 ||| d ||| LM0= -2 TM0= 0 -2 ||| -4\n")
    (place / "fewer").write_text(GOOD[: GOOD.index("1 |||")])
    (place / "one.en").write_text("a b\n")
    commands = [
        ("tune", "-r", "good.en", "-o", "old"),
        ("cross-validate", "-r", "good.en", "--folds", "2", "-t", "mira"),
        ("apply", "-w", "good.toml", "-o", "old"),
    ]
    for command, *options in commands:
        use = (command, *options, "--table", "t.npz")
        for lists in ("texts", "values"):
            assert refused_leaving_all(place, *use, lists).startswith(
                "the feature table was extracted from other lists"
            )
        said = refused_leaving_all(place, *use, "sizes")
        assert said.startswith(
            "the lists have segment 1 with 2 hypotheses where the feature table has segment 1 with 1"
        )
        one = [option.replace("good.en", "one.en") for option in use]
        assert refused_leaving_all(place, *one, "fewer").startswith(
            "1 n-best lists, but 2 segments in the feature table"
        )
        assert (
            refused_leaving_all(place, command, *options, "good", "--table", "none.npz")
            == "none.npz: no such feature table"
        )
        said = refused_leaving_all(place, command, *options, "good", "--table", "good.en")
        assert said.startswith("good.en: not a feature table, or cut short")
    (place / "cut.npz").write_bytes((place / "t.npz").read_bytes()[:-30])
    tune = ("tune", "good", "-r", "good.en", "-o", "old", "--table")
    assert refused_leaving_all(place, *tune, "cut.npz").startswith("cut.npz: not a feature table, or cut short")
    said = refused_leaving_all(
        place, "tune", "texts", "-r", "good.en", "-o", "old", "--table", "t.npz", "-f", "unigram"
    )
    assert said.startswith("the feature table was extracted from other lists")


# --- configs, plugins by name, models

CONFIG = """\
[tune]
nbest = ["good"]
references = ["good.en"]

[[test]]
nbest = ["good"]
references = ["good.en"]

[[feature]]
use = "length"

[tuner]
use = "mira"
passes = 2
"""
CHANGES = {
    "unknown key": ("references", "refrences", "mt.toml:3: unknown key 'tune.refrences'; did you mean 'references'?"),
    "unknown table": ("[tuner]", "[tunr]", "mt.toml:12: unknown key 'tunr'; did you mean 'tuner'?"),
    "missing key": ('nbest = ["good"]\nreferences', "references", "mt.toml:1: missing key 'tune.nbest'"),
    "kind of value": (
        'nbest = ["good"]',
        "nbest = 3",
        "mt.toml:2: key 'tune.nbest' is 3: Input should be a valid list",
    ),
    "plugin name": ('"length"', '"lenght"', "[[feature]] lenght: no feature named 'lenght'; did you mean 'length'?"),
    "tuner name": ('"mira"', '"mirra"', "[tuner]: no tuner named 'mirra'; did you mean 'mira'?"),
    "option": ("passes", "pases", "[tuner]: mira has no option 'pases'; did you mean 'passes'?"),
    "value of an option": ("passes = 2", 'passes = "two"', "[tuner]: option 'passes' is 'two'; wanted int: "),
    "value out of range": ("passes = 2", "passes = -2", "[tuner]: mira: passes is -2; wanted 1 or more"),
    "no use": ('use = "length"', "doc = 1", "[[feature]] : missing key 'use'"),
    "text pipeline": (
        'use = "length"',
        'use = "length"\ntext = "nix"',
        "[[feature]] length: no text pipeline or step named 'nix'",
    ),
    "missing file": ('["good"]', '["none"]', "none: no such file"),
    "no TOML": ("[tune]", "[tune", "mt.toml: not valid TOML: "),
    "required option": (
        'use = "length"',
        'use = "random-indexing"',
        "[[feature]] random-indexing: random-indexing needs the option 'model'",
    ),
    "missing model": (
        '"length"',
        '"ngram-lm"\nmodel = "none.arpa"',
        "none.arpa: cannot be read (No such file or directory)",
    ),
    "no ARPA": ('"length"', '"ngram-lm"\nmodel = "good"', "good:3: not an ARPA file"),
    "variable": (
        '["good"]',
        '["$RERANK_NO_SUCH/x"]',
        "$RERANK_NO_SUCH/x: the environment variable RERANK_NO_SUCH is not set",
    ),
    "no tuning set": ("[tune]", "[[test]]\nname = 'x'", "the config has no [tune] table"),
    "sets of the same name": (
        "[tuner]",
        '[[test]]\nnbest = ["good"]\n[tuner]',
        "mt.toml:12: 2 data sets are called 'test'",
    ),
    "no references": (
        'references = ["good.en"]\n\n[[test]]',
        "[[test]]",
        "the tuning set has no references, without which",
    ),
    "metrics of the same name": (
        "[tuner]",
        '[[metric]]\nuse = "bleu"\n[[metric]]\nuse = "ter"\n[[metric]]\nuse = "ter"\n[tuner]',
        "[[metric]] 3: another metric has the label 'ter'",
    ),
}


@pytest.mark.parametrize(("old", "new", "said"), CHANGES.values(), ids=CHANGES)
def test_wrong_configs(place, old, new, said):
    assert old in CONFIG
    (place / "mt.toml").write_text(CONFIG.replace(old, new, 1))
    found = refused_leaving_all(
        place,
        "run",
        "mt.toml",
        "--work",
        "work",
        after="model" in said or "arpa" in said.lower() or "references" in said,
    )
    assert found.startswith(said) or f"/{said}" in found, found
    checked = rerank("check", "mt.toml")
    assert (checked.code == 2) == ("no [tune]" not in said), "`check` finds it before a run does"


def test_the_config_that_these_are_changes_of_is_good(place):
    (place / "mt.toml").write_text(CONFIG)
    done("run", "mt.toml", "--work", "work")


def test_a_test_set_with_other_features_is_found_before_the_tuning(place):
    (place / "other").write_text(GOOD.replace("LM0=", "NN0="))
    (place / "mt.toml").write_text(CONFIG.replace('[[test]]\nnbest = ["good"]', '[[test]]\nnbest = ["other"]'))
    said = refused_leaving_all(place, "run", "mt.toml", "--work", "work", after=True)
    wanted = (
        "test: other decoder features than the tuning lists: lacks feature 'LM0' and has the unexpected feature 'NN0'"
    )
    assert said == wanted
    assert rerank("check", "mt.toml").code == 2


def test_configs_that_are_no_files(place):
    assert refused_leaving_all(place, "run", "none.toml") == "none.toml: no such config file"
    assert refused_leaving_all(place, "run", ".") == ".: is a folder, not a config file"


MISTAKES = {
    "command": (("tuen",), "no such command 'tuen'"),
    "option": (("tune", "good", "--formt", "x"), "no such option '--formt'; did you mean '--format'?"),
    "value": (("tune", "good", "-j", "x"), "invalid value for '-j'"),
    "range": (("evaluate", "-r", "x", "--bootstrap", "-1"), "invalid value for '--bootstrap': -1 is not in the range"),
    "choice": (("evaluate", "-r", "x", "--as", "pdf"), "invalid value for '--as': 'pdf' is not one of"),
    "missing": (("apply", "good"), "missing option '-w' / '--weights'"),
    "nothing": (("extract",), "missing argument 'NBEST...'; see `rerank extract --help`"),
    "feature": (("extract", "good", "-o", "x", "-f", "lenght"), "[[feature]] lenght: no feature named 'lenght'; did you mean"),
    "metric": (("tune", "good", "-r", "good.en", "-o", "x", "-m", "blue"), "[[metric]] 1: no metric named 'blue'; did you mean 'bleu'?"),
    "tokenizer": (("tune", "good", "-r", "good.en", "-o", "x", "-m", "bleu,tokenize=nix"), "sacrebleu has no tokenizer 'nix'"),
    "format": (("extract", "good", "-o", "x", "--format", "mose"), "[nbest]: no format named 'mose'; did you mean 'moses'?"),
    "fixed": (("tune", "good", "-r", "good.en", "-o", "x", "--fix", "LM"), "fixed: no feature named 'LM'; did you mean 'LM0'?"),
    "twice": (("extract", "good", "-o", "x", "-f", "length", "-f", "length"), "[[feature]] 2: another feature has the label 'length'"),
    "taken": (("extract", "good", "-o", "x", "-f", "length,label=LM0"), "the decoder has a feature 'LM0' too"),
    "plugin file": (("--plugin", "none.py", "plugins"), "plugin none.py: no such Python file"),
    "table to stdout": (("extract", "good", "-o", "-"), "a feature table is written to a file, not to stdout"),
    "folds": (("cross-validate", "good", "-r", "good.en", "--folds", "3"), "3 folds of 2 segments"),
    "template": (("tools", "weights", "good.toml", "--as", "moses-ini"), "--as moses-ini needs --template"),
}  # fmt: skip


@pytest.mark.parametrize(("arguments", "said"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_on_the_command_line(place, arguments, said):
    assert refused_leaving_all(place, *arguments).startswith(said)


# --- plugins that break their promises

PLUGIN = """
import numpy as np
from dataclasses import dataclass
from rerank_plugins import FeatureExtractor, hookimpl

@dataclass
class Wrong(FeatureExtractor):
    '''A feature that is wrong somewhere.'''

    def extract(self, nbest):
        values = np.zeros((len(nbest), 1))
        if nbest.segment_id == "1":
            {fault}
        return values

@hookimpl
def register_feature_extractors(register):
    register("wrong", Wrong)
"""
FAULTS = {
    "nan": (
        "values[0] = np.nan",
        r"feature 'wrong' \(.*Wrong of wrong\.py\), segment 1, row 0: is nan, expected a finite number \(text: 'c'\)",
    ),
    "shape": (
        "values = values.ravel()",
        r"feature 'wrong' \(.*Wrong of wrong\.py\), segment 1: expected shape \(1, 1\) \(hypotheses, components\), got \(1,\)",
    ),
    "type": (
        "values = [0.0]",
        r"feature 'wrong' \(.*Wrong of wrong\.py\), segment 1: expected a numpy array of float64, got list",
    ),
    "exception": ("{}['x']", r"feature 'wrong' \(.*Wrong of wrong\.py\), segment 1: KeyError: 'x'"),
}


@pytest.mark.parametrize(("fault", "said"), FAULTS.values(), ids=FAULTS)
def test_a_plugin_that_breaks_its_promise_is_named(place, fault, said):
    (place / "wrong.py").write_text(PLUGIN.replace("{fault}", fault))
    extract = ("--plugin", "wrong.py", "extract", "good", "-f", "wrong", "-o", "old")
    assert re.match(said, refused_leaving_all(place, *extract))


def test_debug_shows_the_traceback(place):
    (place / "wrong.py").write_text(PLUGIN.replace("{fault}", "{}['x']"))
    with pytest.raises(RerankError) as raised:  # Python prints all of it, and ends with exit code 1
        rerank("--debug", "--plugin", "wrong.py", "extract", "good", "-f", "wrong", "-o", "new")
    said = "".join(traceback.format_exception(raised.value))
    assert 'wrong.py", line 13, in extract' in said
    assert "KeyError: 'x'" in said
    assert not (place / "new").exists()


def test_a_fault_of_the_program_says_so(place, monkeypatch):
    monkeypatch.setattr("rerank_adapters.text.TextPipeline.apply", lambda self, texts: 1 // 0)
    said = refused("tools", "text", "lowercase", stdin="a\n", code=1)
    assert said.startswith("internal error: ZeroDivisionError: ")
    assert "--debug" in said


# --- disks, folders, pipes

WRITERS = {
    "extract": ("extract", "big", "-f", "length", "-o", "OUT"),
    "merge": ("lists", "merge", "big", "-o", "OUT"),
    "apply": ("apply", "big", "-w", "good.toml", "--nbest-out", "OUT"),
    "gz": ("apply", "big", "-w", "good.toml", "--nbest-out", "OUT.gz"),
}


@pytest.fixture
def big(place):
    line = "{i} ||| {text} ||| LM0= -{i}.5 TM0= -1.{i} -2 ||| -3\n"
    rng = np.random.default_rng(0)
    text = [line.format(i=i, text=" ".join(map(str, rng.integers(0, 10**6, 10)))) for i in range(3000)]
    (place / "big").write_text("".join(text))
    return place


def on_a_full_disk(folder: Path, *arguments: str) -> Ran:
    """How a process ends in which a limit on the size of files stands for the disk: the same calls fail.

    It writes no byte code, for Python would leave that cut, in the folders of the product.
    """

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    with mock.patch.dict(os.environ, PYTHONDONTWRITEBYTECODE="1"):
        return in_process_of_its_own(*arguments, cwd=folder, preexec_fn=limit)


@pytest.mark.parametrize(
    "writer", [pytest.param(WRITERS[name], marks=[pytest.mark.slow] * (name != "gz"), id=name) for name in WRITERS]
)
def test_a_full_disk(big, writer):
    arguments = [argument.replace("OUT", "old") for argument in writer]
    if "old.gz" in arguments:
        shutil.copy(big / "old", big / "old.gz")
    before = everything(big)
    said = one_line(on_a_full_disk(big, *arguments), 2, after=True)
    assert re.match(r"old(\.gz)?: .*File too large", said), said
    assert everything(big) == before


def test_a_full_disk_cuts_no_byte_code(place, monkeypatch):
    """Python leaves byte code where it was cut, and whatever imports it later fails."""
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", str(place / "byte code"))
    assert on_a_full_disk(place, "--version").code == 0
    assert in_process_of_its_own("--version").code == 0


def test_no_space_left_is_said_in_words(place, monkeypatch, caplog):
    rename = os.replace

    def full(source: str | Path, destination: str | Path, **options: object) -> None:
        if not Path(destination).resolve().is_relative_to(place.resolve()):  # compiled kernels are renamed too
            return rename(source, destination, **options)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "replace", full)
    for writer in (
        ("lists", "merge", "good"),
        ("apply", "good", "-w", "good.toml"),
        ("evaluate", "-r", "good.en", "--nbest", "good"),
    ):
        assert refused_leaving_all(place, *writer, "-o", "old") == "old: the disk is full; nothing was written"
    assert refused_leaving_all(place, "extract", "good", "-o", "old") == "old: the disk is full; nothing was written"
    monkeypatch.setenv("RERANK_CACHE", str(place / "cache"))
    monkeypatch.setattr("rerank_plugins.kit.cache.SCHEMA", ("PRAGMA max_page_count = 1", "CREATE TABLE t (a)"))
    ran = rerank("extract", "good", "-f", "length", "-o", "old")
    assert one_line(ran, 2, after=True) == "old: the disk is full; nothing was written"
    assert "the cache is not used (database or disk is full)" in caplog.text


@pytest.mark.slow
def test_a_full_standard_output(place):
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full")
    with open("/dev/full", "wb") as full:
        ran = in_process_of_its_own("lists", "merge", "good", cwd=place, stdout=full)
    assert one_line(ran, 2) == "<stdout>: the disk is full; nothing was written"
    assert refused("lists", "merge", "good", "-o", "/dev/full") == "/dev/full: the disk is full; nothing was written"


OUTPUTS = {
    "extract": ("extract", "good", "-o"),
    "tune": ("tune", "good", "-r", "good.en", "-o"),
    "apply": ("apply", "good", "-w", "good.toml", "-o"),
    "nbest-out": ("apply", "good", "-w", "good.toml", "--nbest-out"),
    "evaluate": ("evaluate", "-r", "good.en", "good.en", "-o"),
    "merge": ("lists", "merge", "good", "-o"),
    "weights": ("tools", "weights", "good.toml", "-o"),
    "text": ("tools", "text", "lowercase", "-i", "good", "-o"),
}


@pytest.mark.parametrize("command", OUTPUTS.values(), ids=OUTPUTS)
def test_where_nothing_can_be_written_is_said_before_any_work(place, command):
    assert refused_leaving_all(place, *command, "none/out") == "none/out: there is no folder none to write it in"
    assert refused_leaving_all(place, *command, "good/out") == "good/out: there is no folder good to write it in"
    assert refused_leaving_all(place, *command, ".") == ".: is a folder, expected a file to write"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
@pytest.mark.parametrize("command", OUTPUTS.values(), ids=OUTPUTS)
def test_a_folder_that_may_not_be_written(place, command):
    (place / "locked").mkdir(mode=0o500)
    said = refused_leaving_all(place, *command, "locked/out")
    assert said == "locked/out: the folder locked may not be written (permission denied)"


def test_a_folder_that_may_not_be_written_by_anyone(place, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode, access=os.access: path != Path() and access(path, mode))
    for command in OUTPUTS.values():
        said = refused_leaving_all(place, *command, "out")
        assert said == "out: the folder . may not be written (permission denied)"


def test_a_reader_that_goes_away_is_no_error(big):
    with start("apply", "big", "-w", "good.toml", cwd=big) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().count(b" ") == 9
        process.stdout.close()
        assert process.wait(60) == 0
        assert process.stderr.read() == b""


def test_old_outputs_stay_until_the_new_ones_are_whole(place):
    done("apply", "good", "-w", "good.toml", "-o", "old")
    assert (place / "old").read_text() == "a b\nc\n"
    done("extract", "good", "-o", "old")
    assert FeatureTable.load(place / "old").names == ("LM0", "TM0_0", "TM0_1")

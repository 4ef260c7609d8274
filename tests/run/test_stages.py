"""`rerank run` repeats the stages whose inputs or files have changed, those that need them, and no others."""

import json
import os
import re
import shutil

import pytest

from rerank_adapters.data import dataset
from rerank_adapters.run.workdir import Workdir
from tests.command_line import done, rerank

CONFIG = """
[nbest]
use = "moses"
[tune]
nbest = ["tune.nbest"]
references = ["tune.en"]
source = "tune.de"
[[test]]
name = "held"
nbest = ["test.nbest"]
references = ["test.en"]
source = "test.de"
[[metric]]
use = "bleu"
tokenize = "none"
[tuner]
use = "mira"
passes = 3
[[feature]]
use = "length"
[[feature]]
use = "untranslated"
[evaluation]
bootstrap = 20
randomisation = 20
"""
TABLES, WEIGHTS = {"tune.npz", "held.npz"}, {"weights.toml", "contributions.json", "intervals.json"}
RERANKED, REPORT = {"held.1best", "held.nbest.gz"}, {"held.report.json", "held.report.html"}
ALL = TABLES | WEIGHTS | RERANKED | REPORT


@pytest.fixture(scope="module")
def after_first_run(small, tmp_path_factory):
    """A folder with data and a config, and what a first run of it writes."""
    folder = tmp_path_factory.mktemp("first") / "run"
    folder.mkdir()
    for name in ("tune.nbest", "tune.en", "tune.de", "test.nbest", "test.en", "test.de"):
        (folder / name).write_bytes((small / name).read_bytes())
    (folder / "job.toml").write_text(CONFIG)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RERANK_CACHE", str(folder / "cache"))
        assert written(folder) == ALL
    return folder


@pytest.fixture
def place(after_first_run, tmp_path, monkeypatch):
    """A copy of that folder."""
    shutil.copytree(after_first_run, tmp_path, dirs_exist_ok=True)
    said = tmp_path / "err"
    said.write_text(said.read_text().replace(str(after_first_run), str(tmp_path)))
    monkeypatch.setenv("RERANK_CACHE", str(tmp_path / "cache"))
    return tmp_path


def written(place, *options):
    """The files that a run says it has written; those are the ones that have changed."""
    before = {path.name: path.stat().st_mtime_ns for path in (place / "work").glob("*")}
    ran = done("run", place / "job.toml", "--work", place / "work", *options)
    (place / "out").write_text(ran.out)
    (place / "err").write_text(ran.err)
    last = ran.err.splitlines()[-1]
    names = set(re.findall(r"[\w.]+\.\w+(?=,| to)", last)) if last.startswith("wrote") else set()
    changed = {p.name for p in (place / "work").glob("*") if before.get(p.name) != p.stat().st_mtime_ns}
    assert names == changed
    return names - {"made.json"}


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_a_second_run_does_nothing_and_says_the_same(place, monkeypatch):
    out, err = (place / "out").read_text(), (place / "err").read_text().splitlines()

    def read(*arguments, **options):
        raise AssertionError("lists are read")

    monkeypatch.setattr(dataset, "read_nbest", read)
    for name in ("tune.nbest", "test.en", "job.toml"):
        os.utime(place / name, (1, 1))
    assert written(place) == set()
    assert (place / "out").read_text() == out
    said = (place / "err").read_text().splitlines()
    assert "tune: unchanged, so not made again: features, weights, contributions, weight intervals" in said
    assert "held: unchanged, so not made again: features, reranked lists, report" in said
    assert re.fullmatch(r"nothing to do: found all files in .*/work up to date in \d\.\d s", said[-1])
    of_steps = ("tune: 20", "held: 20", "bleu on", "the report")
    assert [line for line in said if line.startswith(of_steps)] == [line for line in err if line.startswith(of_steps)]


@pytest.mark.slow
def test_force_repeats_everything(place):
    assert written(place, "--force") == ALL


TUNER = ("job.toml", "passes = 3", "passes = 3\nC = 0.5")
FEATURE = ("job.toml", 'use = "length"', 'use = "length"\n[[feature]]\nuse = "consensus"')
METRIC = ("job.toml", "[[metric]]", '[[metric]]\nuse = "wer"\n[[metric]]')


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "old", "new", "again"),
    [
        ("job.toml", "bootstrap = 20", "bootstrap = 30", REPORT),
        ("job.toml", "[evaluation]", "[evaluation]\nchanges = 2", set()),
        ("job.toml", "[nbest]", "# a comment\n[nbest]", set()),
        (*TUNER, WEIGHTS | RERANKED | REPORT),
        (*FEATURE, ALL),
        (
            "job.toml",
            'use = "length"',
            'use = "length"\nlabel = "words"',
            ALL,
        ),  # the same 1-bests, but other names in the report
        ("job.toml", 'name = "held"', 'name = "held"\nreference_form = "lines"', {"held.npz"} | RERANKED | REPORT),
        ("test.en", " ", "  ", RERANKED | REPORT),  # which says how many lines there are
        ("test.de", " ", " Haus ", {"held.npz"} | RERANKED | REPORT),
        ("tune.en", " ", "  ", WEIGHTS | RERANKED | REPORT),  # though the weights are the same
        ("tune.nbest", " ||| ", " ||| ein ", {"tune.npz"} | WEIGHTS | RERANKED | REPORT),
    ],
)
def test_what_a_change_makes_necessary_is_done_again(place, file, old, new, again):
    edit(place / file, old, new)
    assert written(place) == again
    assert written(place) == set()


def test_another_metric_does_not_extract_again(place):
    edit(place / METRIC[0], *METRIC[1:])
    assert written(place) == WEIGHTS | RERANKED | REPORT


@pytest.mark.slow
def test_an_added_feature_alone_is_extracted(place):
    edit(place / FEATURE[0], *FEATURE[1:])
    written(place)
    said = (place / "err").read_text()
    assert said.count("features in the cache: length, untranslated of 200 hypotheses") == 2
    assert len(re.findall(r"summed over processes: consensus \d+\.\d\d\n", said)) == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "content", "again"),
    [
        ("held.1best", b"foreign", RERANKED),
        ("held.report.html", None, REPORT),
        ("held.npz", b"PK\3\4 cut short", {"held.npz"}),  # the same table as before
        ("weights.toml", b"[dense]\nLM0 = 1.0\n", {"weights.toml"}),  # and the same as before
        ("contributions.json", b"{", {"contributions.json"}),
        ("made.json", b"{", ALL),
        ("made.json", b"[]", ALL),
        ("made.json", b'{"tune: features": {"key": 1, "files": ["x"]}}', ALL),
        ("made.json", None, ALL),
    ],
)
def test_damaged_and_foreign_files_are_made_again(place, file, content, again):
    path = place / "work" / file
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content)
    assert written(place) == again
    assert written(place) == set()


def test_a_record_with_other_hashes_is_not_believed(place):
    record = place / "work" / "made.json"
    steps = json.loads(record.read_text())
    assert steps.keys() == {
        *(f"tune: {step}" for step in ("features", "weights", "contributions", "weight intervals")),
    } | {f"held: {step}" for step in ("features", "reranked lists", "report")}
    steps["held: report"]["key"] = "0" * 64
    record.write_text(json.dumps(steps))
    assert written(place) == REPORT


PLUGIN = """
from dataclasses import dataclass
from rerank_plugins import hookimpl
from rerank_plugins.lists.length import LengthFeature

@dataclass(frozen=True)
class OfFile(LengthFeature):
    "Number of words."

@hookimpl
def register_feature_extractors(register):
    register("of-file", OfFile)
"""


@pytest.mark.slow
def test_features_of_a_plugin_file_are_extracted_again_where_it_has_changed(place):
    (place / "plugin.py").write_text(PLUGIN)
    edit(place / "job.toml", "[nbest]", 'plugins = ["plugin.py"]\n[nbest]')
    edit(place / "job.toml", 'use = "length"', 'use = "of-file"')
    assert written(place) == ALL
    assert written(place) == set()
    (place / "plugin.py").write_text(PLUGIN + "# another remark\n")
    assert written(place) == ALL


@pytest.mark.slow
def test_features_that_depend_on_more_are_extracted_in_each_run(place):
    """`cached = False` says so; and all that is made of the tables follows."""
    (place / "plugin.py").write_text(PLUGIN.replace('words."\n', 'words."\n    cached = False\n'))
    edit(place / "job.toml", "[nbest]", 'plugins = ["plugin.py"]\n[nbest]')
    edit(place / "job.toml", 'use = "length"', 'use = "of-file"')
    assert written(place) == ALL
    assert written(place) == ALL


def planned(place, *options):
    """The steps of a dry run by what it would do; it writes nothing."""
    before = {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}
    ran = done("run", place / "job.toml", "--work", place / "work", "--dry-run", *options)
    assert before == {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}
    steps = [line.split(maxsplit=1) for line in ran.lines]
    return {verdict: {step.partition(" (")[0] for v, step in steps if v == verdict} for verdict in ("do", "skip")}


STEPS = {
    *("tune: features", "tune: weights", "tune: contributions", "tune: weight intervals"),
    *("held: features", "held: reranked lists", "held: report"),
}


def test_a_dry_run_says_what_a_run_would_do(place):
    assert planned(place) == {"do": set(), "skip": STEPS}
    assert planned(place, "--force") == {"do": STEPS, "skip": set()}
    edit(place / "job.toml", "passes = 3", "passes = 4")
    assert planned(place)["skip"] == {"tune: features", "held: features"}
    edit(place / "job.toml", "passes = 4", "passes = 3")
    (place / "work" / "held.report.html").unlink()
    assert planned(place)["do"] == {"held: report"}
    (place / "work" / "held.npz").unlink()
    assert planned(place)["do"] == {"held: features", "held: report"}
    shutil.rmtree(place / "work")
    assert planned(place)["do"] == STEPS


def test_a_dry_run_reads_no_lists(place, monkeypatch):
    def read(*arguments, **options):
        raise AssertionError("lists are read")

    monkeypatch.setattr(dataset, "read_nbest", read)
    shutil.rmtree(place / "work")
    assert planned(place)["do"] == STEPS


def test_stages_of_a_folder(tmp_path):
    """A stage says its lines again where it is not done again; where an earlier one is, its key is another one."""
    said = []

    def write(*paths):
        for path in paths:
            yield f"writing {path.name}"
            path.parent.mkdir(exist_ok=True)
            path.write_text("a")

    def run(first, second, **settings):
        folder = Workdir(tmp_path / "work", said.append, **settings)
        key = folder.make("one", ["a", "b"], first, write)
        folder.make("two", ["c"], key + second, write)
        return [stage.unchanged for stage in folder.stages]

    assert run("1", "1", dry=True) == [False, False]
    assert not (tmp_path / "work").exists()
    assert [run("1", "1"), run("1", "1"), run("1", "1", dry=True)] == [[False] * 2, [True] * 2, [True] * 2]
    assert said == ["writing a", "writing b", "writing c"] * 2
    assert json.loads((tmp_path / "work" / "made.json").read_text()).keys() == {"one", "two"}
    assert [run("1", "2"), run("2", "2"), run("2", "2", force=True)] == [[True, False], [False] * 2, [False] * 2]
    (tmp_path / "work" / "b").write_text("other")
    assert run("2", "2") == [False, True]


STOPPED = """
from dataclasses import dataclass
from pathlib import Path
import numpy as np
from rerank_plugins import ConfigError, FeatureExtractor, hookimpl

@dataclass(frozen=True)
class Stopped(FeatureExtractor):
    "The length, unless the segment is the one that a file names."

    def extract(self, nbest):
        if Path("stop").exists() and nbest.source == Path("stop").read_text():
            raise ConfigError("stopped")
        return np.array([[float(len(text))] for text in nbest.texts])

@hookimpl
def register_feature_extractors(register):
    register("stopped", Stopped)
"""


def test_a_forced_run_that_is_interrupted_keeps_the_record_of_what_it_had_not_reached(place, monkeypatch):
    (place / "plugin.py").write_text(STOPPED)
    edit(place / "job.toml", "[nbest]", 'plugins = ["plugin.py"]\n[nbest]')
    edit(place / "job.toml", 'use = "length"', 'use = "stopped"')
    monkeypatch.chdir(place)
    monkeypatch.setenv("RERANK_CACHE", "")
    assert written(place) == ALL
    (place / "stop").write_text((place / "test.de").read_text().splitlines()[3])
    stopped = rerank("run", place / "job.toml", "--work", place / "work", "--force")
    assert (stopped.code, stopped.err.splitlines()[-1]) == (2, "rerank: stopped")
    (place / "stop").unlink()
    assert written(place) == set()

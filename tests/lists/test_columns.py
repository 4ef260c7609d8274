"""The feature and the metric `column`: lines meet their hypotheses, pairs their scores, and faults are one line."""

import gzip
from collections import Counter

import numpy as np
import pytest

from rerank_adapters.features.extract import extract
from rerank_adapters.features.extraction import Extraction
from rerank_adapters.features.feature import Feature
from rerank_adapters.features.processes import Processes
from rerank_adapters.formats.catalogue import FORMATS
from rerank_adapters.formats.reading import read_nbest
from rerank_adapters.metrics.column import ColumnMetric, read_scored_pairs
from rerank_plugins import ConfigError, FeatureTable, FormatError, Hypothesis, NBestList
from rerank_plugins.lists.column import ColumnFeature, read_columns
from tests.command_line import done, refused, rerank

A = "1 ||| b a ||| LM= 1 ||| 1\n1 ||| b b ||| LM= 1 ||| 2\n0 ||| a a ||| LM= 1 ||| 3\n"
B = "0 ||| a a ||| LM= 1 ||| 3\n0 ||| a b ||| LM= 1 ||| 4\n1 ||| b a ||| LM= 1 ||| 1\n1 ||| b c ||| LM= 1 ||| 0\n"


@pytest.fixture
def files(tmp_path):
    for name, text in (("a.nbest", A), ("b.nbest", B)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    return [tmp_path / "a.nbest", tmp_path / "b.nbest"]


def scores(folder, *numbers, name="scores.txt"):
    path = folder / name
    path.write_text("".join(f"{number}\n" for number in numbers), encoding="utf-8")
    return path


def test_rows_follow_sorting_and_merging(files):
    one = read_nbest(files[:1], FORMATS["moses"]())
    assert [(nbest.segment_id, list(nbest.rows)) for nbest in one] == [("0", [2]), ("1", [0, 1])]
    merged = read_nbest(files, FORMATS["moses"]())
    assert [nbest.texts for nbest in merged] == [["a a", "a b"], ["b a", "b b", "b c"]]
    assert [list(nbest.rows) for nbest in merged] == [[2, 4], [0, 1, 6]]
    assert list(merged[1].select([2, 0]).rows) == [6, 0]
    assert merged[0] == NBestList("0", merged[0].hypotheses, ("LM",), line=3)  # rows do not make lists differ


@pytest.mark.parametrize("jobs", [1, 2])
def test_values_are_those_of_the_lines(files, tmp_path, jobs):
    path = scores(tmp_path, *range(7))
    merged = read_nbest(files, FORMATS["moses"]())
    table = Extraction([Feature("s", ColumnFeature(path))], processes=Processes(jobs)).table(merged)
    assert table.names == ("LM", "s")
    assert table.values[:, 1].tolist() == [2, 4, 0, 1, 6]
    two = scores(tmp_path, *(f"{row} -{row}e1" for row in range(7)), name="two")
    table = Extraction([Feature("s", ColumnFeature(two, ("x", "y")))], processes=Processes(jobs)).table(merged)
    assert table.names == ("LM", "s.x", "s.y")
    assert table.values[:, 2].tolist() == [-20, -40, 0, -10, -60]


def test_a_name_may_have_a_dollar(files, tmp_path):
    path = scores(tmp_path, "1 2", "3 4", "5 6")
    done("extract", files[0], "-f", f'column,file={path},names=["$lm","b"],label=s', "-o", tmp_path / "table.npz")
    assert FeatureTable.load(tmp_path / "table.npz").names == ("LM", "s.$lm", "s.b")


def test_the_cache_confuses_neither_files_nor_lists(files, tmp_path, monkeypatch):
    """Other scores under the same name, and the same lists in another order of the file, have other values."""
    monkeypatch.setenv("RERANK_CACHE", str(tmp_path / "cache"))
    cached = Counter()

    def values(path, lists):
        return extract(lists, [Feature("s", ColumnFeature(path))], cached=cached)[:, 0].tolist()

    lists = read_nbest(files[:1], FORMATS["moses"]())
    assert values(scores(tmp_path, 1, 2, 3), lists) == [3, 1, 2]
    assert values(scores(tmp_path, 4, 5, 6), lists) == [6, 4, 5]
    assert not cached
    assert values(scores(tmp_path, 1, 2, 3, name="copy"), lists) == [3, 1, 2]
    assert cached == {"s": 3}
    files[0].write_text("".join(sorted(A.splitlines(keepends=True))), encoding="utf-8")
    assert values(tmp_path / "copy", read_nbest(files[:1], FORMATS["moses"]())) == [1, 2, 3]


@pytest.mark.parametrize(
    ("numbers", "names", "message"),
    [
        ([1, 2], (), r":2: the file ends after 2 lines; wanted a line for hypothesis 3, which belongs to segment 0"),
        ([1, 2, 3, 4], (), r":4: a surplus line: the lists have 3 hypotheses, the file has 4 lines"),
        ([1, "two", 3], (), r":2: the line is 'two', expected a number"),
        ([1, 2, "nan"], (), r":3: the line is 'nan', expected a finite number"),
        ([1, "1_0", 3], (), r":2: the line is '1_0', expected a number"),
        ([1, "", 3], (), r":2: found '', wanted 1 number"),
        ([1, "2 3", 3], (), r":2: found '2 3', wanted 1 number"),
        (["1 2", "1 x", "1 2"], ("a", "b"), r":2: number 2 is 'x', expected a number"),
        (["1 2", "1", "1 2"], ("a", "b"), r":2: found '1', wanted 2 numbers between white space"),
        ([], (), r": the file is empty, wanted a line of numbers for each hypothesis"),
    ],
)
def test_faults_name_file_and_line(files, tmp_path, numbers, names, message):
    path = scores(tmp_path, *numbers)
    feature = ColumnFeature(path, names)
    with pytest.raises(FormatError, match=r"scores\.txt" + message):
        feature.check_lists(read_nbest(files[:1], FORMATS["moses"]()))


def test_lists_without_files_and_equal_names_are_refused(tmp_path):
    with pytest.raises(ConfigError, match="was not read from an n-best file"):
        ColumnFeature(scores(tmp_path, 1)).extract(NBestList("7", (Hypothesis("a"),)))
    with pytest.raises(ValueError, match="names of the columns must differ"):
        ColumnFeature(tmp_path, ("a", "a"))


def test_compressed_numbers(tmp_path):
    with gzip.open(tmp_path / "s.gz", "wt") as stream:
        stream.write("1 2\n-3e2\t.5\n")
    assert read_columns(tmp_path / "s.gz").tolist() == [[1, 2], [-300, 0.5]]


def pairs(folder, *lines):
    path = folder / "pairs.tsv"
    path.write_text("".join("\t".join(map(str, line)) + "\n" for line in lines), encoding="utf-8")
    return path


def test_scores_of_pairs(tmp_path):
    path = pairs(
        tmp_path,
        ("a b", "r", 0.5),
        ("a  b ", "s", "ein Quelltext", 0.25),
        ("c", "r", "eins", 0.0),
        ("c", "r", "zwei", 0.3),
        ("c", "r", "drei", 0.6),
    )
    assert read_scored_pairs(path)["r"]["c"] == pytest.approx(0.3)
    metric = ColumnMetric(path, 100)
    rows = metric.statistics([["a b", "c"], ["a b"]], [["r"], [" r", "s"]])
    np.testing.assert_allclose(rows, [[50, 1], [30, 1], [37.5, 1]])
    assert metric.score(rows.sum(axis=0)) == pytest.approx(39.166667)
    assert metric.signature().startswith("scores:pairs.tsv|sha256:")
    with pytest.raises(
        ConfigError, match=r"pairs\.tsv: there is no score for the hypothesis 'd' with the reference 'r'"
    ):
        metric.statistics([["c", "d"]], [["r"]])
    with pytest.raises(FormatError, match=r"pairs\.tsv:1: found 1 tab-separated columns.* or `hypothesis TAB score`"):
        read_scored_pairs(pairs(tmp_path, ("a",)))
    with pytest.raises(FormatError, match=r"pairs\.tsv:1: the score is 'x', expected a number"):
        read_scored_pairs(pairs(tmp_path, ("a", "b", "x")))


def test_scores_without_references(tmp_path):
    """A score is found by the hypothesis alone; MBR then chooses the hypothesis of the highest score."""
    metric = ColumnMetric(pairs(tmp_path, ("a  b", 0.5), ("c", 0.0), ("c", 0.3)), -100)
    rows = metric.statistics([["a b", "c"], ["c "]], [["r"], ["any", "text"]])
    np.testing.assert_allclose(rows, [[-50, 1], [-15, 1], [-15, 1]])
    np.testing.assert_allclose(metric.pairwise(["a b", "c"]), [[-50, -50], [-15, -15]])
    with pytest.raises(ConfigError, match=r"there is no score for the hypothesis 'd'; `rerank table pairs`"):
        metric.statistics([["d"]], [["r"]])
    for lines, wanted in (
        ((("a", 1), ("a", "r", 1)), "found 3 tab-separated columns, wanted `hypothesis TAB score`"),
        ((("a", "r", 1), ("a", 1)), "found 2 tab-separated columns, wanted `hypothesis TAB reference TAB score`"),
        ((("a", "r"),), "the score is 'r', expected a number"),
    ):
        with pytest.raises(FormatError, match=wanted):
            read_scored_pairs(pairs(tmp_path, *lines))


def test_tuning_towards_scores_without_references(tmp_path):
    lists = [f"{s} ||| {text} ||| good= {good} bad= {3 - good} ||| 0\n"
             for s in range(6) for text, good in ((f"a{s}", 1), (f"b{s}", 2))]  # fmt: skip
    (tmp_path / "tune.nbest").write_text("".join(lists), encoding="utf-8")
    (tmp_path / "tune.src").write_text("".join(f"Quelle a{s}\n" for s in range(6)), encoding="utf-8")
    file = pairs(tmp_path, *((f"{kind}{s}", score) for s in range(6) for kind, score in (("a", 0.2), ("b", 0.8))))
    done("tune", tmp_path / "tune.nbest", "--reference", tmp_path / "tune.src", "-m", f"column,file={file}",
         "-t", "mert", "-o", tmp_path / "weights.toml")  # fmt: skip
    chosen = done("apply", tmp_path / "tune.nbest", "-w", tmp_path / "weights.toml").out.split()
    assert chosen == [f"b{s}" for s in range(6)]


CONFIG = """
jobs = 1
[tune]
nbest = ["a.nbest"]
references = ["refs"]
[[test]]
name = "dev"
nbest = ["b.nbest"]
references = ["refs"]
[[feature]]
use = "column"
label = "nmt"
file = "{set}.scores"
[[metric]]
use = "column"
label = "human"
file = "pairs.tsv"
[evaluation]
contribution_folds = 0
bootstrap = 10
randomisation = 10
"""


@pytest.fixture
def job(files, tmp_path):
    """Scores that always prefer the second hypothesis of a list, and people who agree with them."""
    (tmp_path / "job.toml").write_text(CONFIG, encoding="utf-8")
    (tmp_path / "refs").write_text("x\ny\n", encoding="utf-8")
    scores(tmp_path, 0, 1, 0, name="tune.scores")
    scores(tmp_path, 0, 1, 0, 1, name="dev.scores")
    good = [("b b", "y", 1), ("a b", "x", 1), ("b c", "y", 1)]
    pairs(tmp_path, *good, ("b a", "y", 0), ("a a", "x", 0))
    return tmp_path / "job.toml"


def test_a_job_with_scores_for_each_set(job, tmp_path):
    assert "extracted now" not in done("run", job, "--work", tmp_path / "work").err
    assert (tmp_path / "work" / "dev.1best").read_text() == "a b\nb c\n"
    assert "up to date" in done("run", job, "--work", tmp_path / "work").err
    ran = rerank("apply", tmp_path / "b.nbest", "-w", tmp_path / "work" / "weights.toml", "--set", "dev")
    assert ran.out == "a b\nb c\n"
    refusal = refused("apply", tmp_path / "b.nbest", "-w", tmp_path / "work" / "weights.toml")
    assert "it is not known which data set {set} stands for: name it by --set NAME" in refusal
    scores(tmp_path, 1, 0, 1, 0, name="dev.scores")
    done("run", job, "--work", tmp_path / "work")
    assert (tmp_path / "work" / "dev.1best").read_text() == "a a\nb a\n"


def test_check_measures_the_scores_of_the_first_set(job, tmp_path):
    said = done("check", job).out
    assert "nmt" in next(line for line in said.splitlines() if "milliseconds a text" in line)
    job.write_text(CONFIG.replace('[tune]\nnbest = ["a.nbest"]\nreferences = ["refs"]\n', ""), encoding="utf-8")
    (tmp_path / "tune.scores").unlink()
    assert "milliseconds a text: nmt" in done("check", job).out


def test_a_wrong_number_of_lines_is_found_by_check_and_run(job, tmp_path):
    scores(tmp_path, 0, 1, 0, 1, 1, name="dev.scores")
    assert "a surplus line: the lists have 4 hypotheses" in rerank("check", job).out
    ran = rerank("run", job, "--work", tmp_path / "work")
    assert ran.code == 2
    assert "dev.scores:5: a surplus line: the lists have 4 hypotheses, the file has 5 lines" in ran.err

"""`rerank check`: every fault is reported, not only the first, and looks that differ are noticed."""

import re
import shutil
from typing import ClassVar

import pytest

from rerank_adapters.features.feature import Feature
from rerank_adapters.run.costs import Cost, Costs
from rerank_plugins import Hypothesis, NBestList
from rerank_plugins.lists.length import LengthFeature
from tests.command_line import Ran, done, rerank

CONFIG = """\
[tune]
nbest = ["tune.nbest"]
references = ["tune.en"]
source = "tune.de"
[[test]]
nbest = ["test.nbest"]
references = ["test.en"]
source = "test.de"
[[metric]]
use = "bleu"
tokenize = "none"
[[feature]]
use = "ngram-lm"
label = "lm"
model = "lm.arpa"
[[feature]]
use = "length"
"""


@pytest.fixture
def place(small, tmp_path):
    shutil.copytree(small, tmp_path / "job")
    (tmp_path / "job" / "mt.toml").write_text(CONFIG)
    return tmp_path / "job"


def change(path, old, new, count=-1):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, count))


def check(place) -> tuple[Ran, set[tuple[str, str]], str]:
    """How the check ended; the (level, place) of each finding; all that was found."""
    ran = rerank("check", place / "mt.toml")
    return ran, {(line[:8].strip(), line[8:].partition(": ")[0]) for line in ran.lines}, ran.out


def test_a_good_job(place):
    ran, findings, text = check(place)
    assert ran.code == 0
    assert re.fullmatch(r"found 0 errors and 0 warnings in [\d.]+ s\n", ran.err)
    assert findings == {("ok", subject) for subject in ("plugins", "tune", "test", "time")}
    assert "20 segments, 200 hypotheses (200 distinct texts), 8 features" in text


def test_all_faults_are_reported(place):
    change(place / "mt.toml", '"length"', '"lenght"')
    change(place / "mt.toml", '"lm.arpa"', '"none.arpa"')
    change(place / "mt.toml", '"bleu"', '"blue"')
    (place / "mt.toml").write_text(
        (place / "mt.toml").read_text() + '[tuner]\nuse = "mra"\n[[feature]]\nuse = "consensus"\nscle = 1\n'
    )
    change(place / "tune.nbest", "LM0= -64.0955", "LM0= nan")
    (place / "test.en").write_text("only one line\n")
    ran, findings, text = check(place)
    assert ran.code == 2
    assert {
        ("error", "[[feature]] lenght"),
        ("error", "[[feature]] lm"),
        ("error", "[[feature]] consensus"),
        ("error", "[[metric]] 1"),
        ("error", "[tuner]"),
        ("error", "tune"),
        ("error", "test"),
    } <= findings
    for said in (
        "no feature named 'lenght'; did you mean 'length'?",
        "none.arpa: cannot be read (No such file or directory)",
        "consensus has no option 'scle'; did you mean 'scale'?",
        "no metric named 'blue'; did you mean 'bleu'?",
        "no tuner named 'mra'; did you mean 'mira'?",
        "tune.nbest:1: feature 'LM0' is 'nan', expected a finite number",
        "test.en: segment 1 is not in the file, which has 1 line",
    ):
        assert said in text
    assert text.count("error") == 7  # each once


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('[tuning]\nfixed = ["LM"]\n', "fixed: no feature named 'LM'; did you mean 'LM0'?"),
        ("[tuning.lower]\nLM1 = 0\n", "lower: no feature named 'LM1'; did you mean 'LM0'?"),
        (
            "[tuning.lower]\nLM0 = 2\n[tuning.upper]\nLM0 = 1\n",
            "weight of LM0: lower bound 2 and upper bound 1 allow no value",
        ),
        ('[tuning]\nstart = "none.toml"\n', "none.toml: no such file"),
        ("[tuning.start]\nLM0 = 2\n", "start weights: none for Distortion0, "),
    ],
)
def test_settings_of_the_tuning(place, table, said):
    (place / "mt.toml").write_text((place / "mt.toml").read_text() + table)
    ran, findings, text = check(place)
    assert ran.code == 2
    assert ("error", "[tuning]") in findings
    assert said in text


def test_lists_with_other_features(place):
    for path in [place / "test.nbest"]:
        change(path, "Distortion0=", "Reordering0=")
    ran, findings, text = check(place)
    assert ran.code == 2
    assert ("error", "test") in findings
    difference = "lacks feature 'Distortion0' and has the unexpected feature 'Reordering0'"
    assert f"other decoder features than the tuning lists: {difference}" in text


def test_odd_lists(place):
    lines = (place / "tune.nbest").read_text().splitlines(keepends=True)
    lines[0], lines[1] = lines[1], lines[0]  # the better total second
    id_, _, *rest = lines[15].split(" ||| ")
    lines[15] = " ||| ".join([id_, "", *rest])
    del lines[-9:]
    (place / "tune.nbest").write_text("".join(lines))
    (place / "tune.en").write_text((place / "tune.en").read_text() + "one more line\n")
    ran, findings, text = check(place)
    assert ran.code == 0  # warnings are no errors
    assert ("warning", "tune") in findings
    assert "1 hypothesis is empty" in text
    assert "1 list has a single hypothesis" in text
    assert "1 list is not sorted by the totals" in text
    assert "gains are over that of the highest total where it is better" in text
    assert "no list for 1 of 21 segments (20): left out" in text


def test_references_are_missing(place):
    change(place / "mt.toml", 'references = ["test.en"]\n', "")
    ran, findings, text = check(place)
    assert ran.code == 0
    assert ("warning", "test") in findings
    change(place / "mt.toml", 'references = ["tune.en"]\n', "")
    ran, findings, text = check(place)
    assert ran.code == 2
    assert ("error", "tune") in findings
    assert text.count("no references") == 2


def broken(word: str) -> str:
    """A word cut as BPE cuts it."""
    return f"{word[:2]}@@ {word[2:]}" if len(word) > 4 else word


LOOKS = {
    "upper case": (str.upper, "upper-case", "lowercase", "lowercase"),
    "BPE": (lambda text: " ".join(map(broken, text.split(" "))), "bpe", "undo-bpe", "undo-bpe"),
    "glued punctuation": (lambda text: text.replace(" .", ".").replace(" ,", ","), "detokenised", "penn-tokenize",
                          "tokenize:en"),
}  # fmt: skip


@pytest.mark.parametrize(("changed", "look", "remedy", "step"), LOOKS.values(), ids=LOOKS)
def test_lists_that_look_otherwise_than_references_and_models(place, changed, look, remedy, step):
    path = place / "tune.nbest"
    columns = [line.split(" ||| ") for line in path.read_text().splitlines(keepends=True)]
    path.write_text("".join(" ||| ".join([id_, changed(text), *rest]) for id_, text, *rest in columns))
    ran, findings, _ = check(place)
    assert ran.code == 0
    assert ("warning", "tune") in findings
    vocabulary, style = (line for line in ran.lines if line.startswith("warning"))
    assert "of the words are unknown to the model of 'lm'" in vocabulary
    assert f"would be with text = ['{remedy}'" in vocabulary or look == "detokenised"
    assert f"hypotheses look {look}" in style or f" and {look}" in style
    assert f"as 'bleu' sees them: give the metric text = ['{step}']" in style


def test_lists_are_judged_by_the_metric_that_is_named(place):
    path = place / "tune.nbest"
    columns = [line.split(" ||| ") for line in path.read_text().splitlines(keepends=True)]
    path.write_text("".join(" ||| ".join([id_, text.upper(), *rest]) for id_, text, *rest in columns))
    alone = ("check", "--nbest", path, "-r", place / "tune.en")
    assert "as 'wer' sees them: give" in done(*alone, "-m", "wer").out
    assert "as 'bleu', the default metric, sees them: give" in done(*alone).out
    change(place / "mt.toml", 'use = "bleu"', 'use = "ter"')
    change(place / "mt.toml", 'tokenize = "none"', "")
    assert "sees them" not in done("check", place / "mt.toml", "--nbest", path, "-r", place / "tune.en").out
    change(place / "mt.toml", 'use = "ter"', 'use = "ter"\ncase_sensitive = true')  # by default, TER ignores case
    assert "as 'ter' sees them" in done("check", place / "mt.toml", "--nbest", path, "-r", place / "tune.en").out
    assert "as 'CER' sees them" in done("check", place / "mt.toml", "-m", "cer,label=CER").out
    assert "no metric named 'wre'; did you mean 'wer'?" in rerank("check", place / "mt.toml", "-m", "wre").out


def test_tune_and_evaluate_warn_in_one_line(place):
    """Lists in capitals: `tune` warns, and `evaluate` of the first system that looks otherwise than its references."""
    path = place / "tune.nbest"
    columns = [line.split(" ||| ") for line in path.read_text().splitlines(keepends=True)]
    path.write_text("".join(" ||| ".join([id_, text.upper(), *rest]) for id_, text, *rest in columns))
    known = ("-r", place / "tune.en", "-m", "bleu,tokenize=none")
    ran = done("tune", path, *known, "-t", "mira,passes=1", "-o", place / "w.toml")
    assert warnings(ran) == [warning("hypotheses")]
    (place / "same.en").write_text((place / "tune.en").read_text())
    plain = f"plain={place / 'same.en'}"
    ran = done("evaluate", *known, "-m", "ter", "--nbest", path, plain, "--bootstrap", "9", "--randomisation", "9")
    assert warnings(ran) == [warning("outputs of '1-best'")]
    assert warnings(done("evaluate", *known, plain, "--bootstrap", "9", "--randomisation", "9")) == []


def warnings(ran: Ran) -> list[str]:
    return [line for line in ran.err.splitlines() if "warning: " in line]


def warning(texts: str) -> str:
    looks = f"{texts} look tokenised and upper-case, references tokenised"
    return f"rerank: warning: {looks}, as 'bleu' sees them: give the metric text = ['lowercase']"


def test_a_text_pipeline_takes_the_warning_away(place):
    path = place / "tune.nbest"
    columns = [line.split(" ||| ") for line in path.read_text().splitlines(keepends=True)]
    path.write_text("".join(" ||| ".join([id_, text.upper(), *rest]) for id_, text, *rest in columns))
    change(place / "mt.toml", 'tokenize = "none"', 'tokenize = "none"\ntext = "low"')
    change(place / "mt.toml", 'label = "lm"', 'label = "lm"\ntext = "low"')
    (place / "mt.toml").write_text((place / "mt.toml").read_text() + '[text]\nlow = ["lowercase"]\n')
    assert "warning" not in done("check", place / "mt.toml").out


def test_lists_without_a_config(small):
    ran = rerank("check", "--nbest", small / "tune.nbest", "-r", small / "tune.en", "--source", small / "tune.de")
    assert ran.code == 0
    assert ran.out.count("\n") == 2
    assert rerank("check", "--nbest", small / "tune.en").code == 2
    assert rerank("check", "--nbest", small / "none").code == 2


def test_the_estimate_follows_from_the_sample_and_takes_nothing_from_the_cache(place, monkeypatch, tmp_path):
    monkeypatch.setenv("RERANK_CACHE", str(tmp_path / "kept"))
    _, _, text = check(place)
    assert "no value of the 400 distinct texts is in the cache" in text
    assert re.search(r"CPU milliseconds a text: .*\blm [\d.]+.* \(measured on \d+ texts\)", text)
    assert not (tmp_path / "kept").exists()
    without = rerank("check", place / "mt.toml", "--no-estimate")
    assert without.code == 0
    assert "time:" not in without.out


def test_costs_scale_with_the_lists():
    cost = Cost("a", seconds=0.01, loading=2.0, texts=10)
    costs = Costs((cost, cost), texts=1000, processes=4)
    assert costs.cpu_seconds == pytest.approx(24)
    assert costs.seconds == pytest.approx(4 + 5)


class Counting(LengthFeature):
    """Keeps the sizes of the lists that it extracts."""

    sizes: ClassVar[list[int]] = []

    def extract_all(self, nbests):
        self.sizes += [len(nbest) for nbest in nbests]
        return super().extract_all(nbests)


def test_features_are_measured_on_lists_of_all_lengths():
    """On the first hypotheses of five lists, after two hypotheses of the shortest one."""
    lists = [NBestList(str(n), tuple(Hypothesis(f"{'w' * n} {i}") for i in range(300))) for n in range(1, 101)]
    costs = Costs.of([Feature("length", Counting())], [lists, lists[:10]], 1)
    assert costs.texts == 110 * 300
    assert Counting.sizes == [2, 100, 100, 100, 100, 100]  # of the lists 1, and 51, 31, 71, 11, 91
    assert costs.costs[0].texts == 500

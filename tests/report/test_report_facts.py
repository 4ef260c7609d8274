"""The facts of a page: lists cut short by brute force, weights with intervals, explanations, surprisal as colour."""

import base64
import gzip
import itertools
import json
import re

import numpy as np
import pytest

from rerank_adapters.data.dataset import Dataset
from rerank_adapters.evaluation.measure import Measure
from rerank_adapters.run.page_facts import facts_of_tuning, lengths_up_to, list_lengths
from rerank_adapters.run.writing import read_intervals
from rerank_adapters.text import TextPipeline
from rerank_adapters.weights import Weights
from rerank_plugins import Hypothesis, NBestList
from tests.command_line import done
from tests.evaluation import naive_evaluation as naive

CONFIG = """
[tune]
nbest = ["tune.nbest"]
references = ["tune.en"]
[[test]]
name = "dev"
nbest = ["test.nbest"]
references = ["test.en"]
[tuner]
use = "mira"
passes = 2
[evaluation]
bootstrap = 0
randomisation = 0
contribution_folds = 0
weight_samples = 3
explained = 2
[[metric]]
use = "wer"
[[feature]]
use = "length"
[[feature]]
use = "ngram-lm"
model = "lm.arpa"
label = "lm"
"""


MEASURE = Measure("f", naive.WordErrors(), TextPipeline(()))
LISTS = [["a x", "a b", "b"], ["c", "c d"], ["e f", "e", "e f g", "x"]]
REFERENCES = [("a b",), ("c d",), ("e f g",)]


def test_scores_of_cut_lists_are_those_of_all_choices():
    nbests = [NBestList(str(i), [Hypothesis(text) for text in texts]) for i, texts in enumerate(LISTS)]
    orders = [[2, 1, 0], [1, 0], [3, 2, 1, 0]]
    found = list_lengths(MEASURE, Dataset("dev", nbests, REFERENCES), orders)
    assert found.lengths == (1, 2, 4)
    metric = MEASURE.metric
    for place, length in enumerate(found.lengths):
        cut = [texts[:length] for texts in LISTS]
        scores = [
            float(metric.score(metric.statistics([[t] for t in choice], REFERENCES).sum(0)))
            for choice in itertools.product(*cut)
        ]
        assert found.oracle[place] == pytest.approx(min(scores))  # errors: fewer are better
        chosen = [next(texts[i] for i in order if i < length) for texts, order in zip(LISTS, orders, strict=True)]
        expected = float(metric.score(metric.statistics([[t] for t in chosen], REFERENCES).sum(0)))
        assert found.reranked[place] == pytest.approx(expected)
    assert list_lengths(MEASURE, Dataset("dev", nbests, REFERENCES), []).reranked == ()
    assert lengths_up_to(1) == (1,)
    assert lengths_up_to(100) == (1, 2, 5, 10, 20, 50, 100)


def test_curves_are_divided_by_restart():
    provenance = {
        "trace": [1.0, 2.0, 3.0],
        "trace_restarts": [0, 0, 1],
        "score": 3,
        "made": "2026-01-02T03:04:05+00:00",
    }
    facts = facts_of_tuning(Weights({"a": 1.0}, provenance=provenance), "job", "mira")
    assert facts.curve == ((1.0, 2.0), (3.0,))
    assert (facts.tuning_score, facts.tuned_at) == (3.0, "2026-01-02 03:04")
    assert facts_of_tuning(Weights({"a": 1.0}), "job", "mira").curve == ()


@pytest.fixture(scope="module")
def job(small, tmp_path_factory):
    folder = tmp_path_factory.mktemp("facts")
    for file in small.iterdir():
        (folder / file.name).symlink_to(file)
    (folder / "job.toml").write_text(CONFIG)
    done("run", folder / "job.toml", "--work", folder / "work")
    return folder


def test_the_page_of_a_run_explains_its_segments(job):
    page = (job / "work" / "dev.report.html").read_text()
    assert "job · dev" in page
    assert re.search(
        r"<h1>[+-][\d.]+ wer over the decoder&#39;s 1-best; \d+ of \d+ segments changed(\. No gain is shown.*)?</h1>",
        page,
    )
    data = re.search(r'id="explanations">([^<]*)<', page)[1]
    explanations = json.loads(gzip.decompress(base64.b64decode(data)))
    assert len(explanations) == 2
    for segment, record in explanations.items():
        assert f'data-segment="{segment}"' in page
        lead = sum(row["lead"] for row in record["contributions"])
        assert lead == pytest.approx(record["a"]["score"] - record["b"]["score"], abs=1e-3)
        assert [row["models"] for row in record["words"]] == [["lm"]]
    intervals = read_intervals(job / "work" / "intervals.json")
    assert intervals.samples == 3
    assert {row.feature for row in intervals.rows} >= {"length", "lm.total"}
    assert all(row.interval.low <= row.interval.high for row in intervals.rows)


def test_words_are_coloured_by_surprisal(tmp_path, small):
    (tmp_path / "text").write_text("the house <b>\n\n")
    page, table = tmp_path / "page.html", tmp_path / "table.tsv"
    ran = done(
        "lm", "surprisal", tmp_path / "text", "-M", small / "lm.arpa", "--html", page, "-o", table, "--text", "none"
    )
    assert f"wrote a page of the text, for a browser, to {page}" in ran.err
    written = page.read_text()
    rows = [line.split("\t") for line in table.read_text().splitlines()[1:]]
    bits = [float(row[3]) for row in rows]
    assert f"<h1>3 words, {np.mean(bits):.2f} bits a word</h1>" in written
    shown = re.findall(r"<sub>([\d.]+)</sub>", written)
    assert shown == [f"{value:.1f}" for value in bits]
    assert re.findall(r'<span class="unknown" [^>]*unknown word">([^<]*)<', written) == ["&lt;b&gt;"]
    heats = [float(value) for value in re.findall(r"--h:([\d.]+)", written)]
    darkest = max(np.quantile(bits, 0.95), 1.0)
    np.testing.assert_allclose(heats, np.minimum(1.0, np.array(bits) / darkest), atol=0.006)

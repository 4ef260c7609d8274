"""Tuners on real lists: MERT against random search, and every tuner from equal weights against the decoder's own."""

import time

import numpy as np
import pytest

from rerank_adapters.formats.catalogue import FORMATS
from rerank_adapters.formats.decoder_features import decoder_table
from rerank_adapters.formats.reading import read_nbest
from rerank_adapters.metrics.bleu import Bleu
from rerank_adapters.tuners.expected_risk import ExpectedRisk
from rerank_adapters.tuners.mbr import Mbr
from rerank_adapters.tuners.mert import Mert
from rerank_adapters.tuners.mira import Mira
from rerank_adapters.tuners.pro import Pro
from rerank_adapters.tuners.within_lists import one_best
from rerank_adapters.tuning.problem import prepare, run_tuner, score_of
from rerank_adapters.tuning.start import start_vector

pytestmark = pytest.mark.slow
FEW = Mert(restarts=5)  # a quarter of the usual number, and of the time


def read(nbest, reference):
    """Tuning data of Moses lists, and the decoder's totals."""
    lists = read_nbest([nbest], FORMATS["moses"]())
    references = [[line] for line in reference.read_text("utf-8").splitlines()]
    texts = [nbest.texts for nbest in lists]
    metric = Bleu(tokenize="none")
    table = decoder_table(lists)
    data = prepare(table, metric.statistics(texts, references), metric, hypotheses=texts)
    return data, [hypothesis.score for nbest in lists for hypothesis in nbest]


@pytest.fixture(scope="module")
def lists(real_lists):
    return [read(*real_lists[part]) for part in ("tune", "test")]


@pytest.mark.release  # a race, which a machine at full load may decide
@pytest.mark.parametrize("name", ["example", "europarl"])
def test_mert_beats_random_search_with_ten_times_its_time(request, root, name):
    nbest, reference = (root / "example_nbest" / "mt" / f"tune.{ending}" for ending in ("nbest", "en"))
    if name == "europarl":
        folder = request.getfixturevalue("shared_data") / "mt_nbest_moses_europarl"
        nbest, reference = folder / "nbest.txt", folder / "ref.lc.txt"
    data, _ = read(nbest, reference)
    start = start_vector(data.table, "uniform")
    run_tuner(data, Mert(restarts=1, rounds=1), start)  # compiled
    begin = time.process_time()
    found = run_tuner(data, FEW, start).score
    budget = 10 * (time.process_time() - begin)
    values, offsets = data.table.values, data.table.offsets
    deviations = values - np.repeat(
        np.add.reduceat(values, offsets[:-1]) / np.diff(offsets)[:, None], np.diff(offsets), 0
    )
    deviations /= np.maximum(deviations.std(axis=0), 1e-9)  # random search is given standardised features too
    rng, best, tries = np.random.default_rng(0), 0.0, 0
    begin = time.process_time()
    while time.process_time() - begin < budget:
        chosen = one_best(deviations @ rng.normal(size=values.shape[1]), offsets)
        best = max(best, float(data.metric.score(data.statistics[chosen].sum(axis=0))))
        tries += 1
    assert tries > 1000
    assert found >= best


@pytest.mark.parametrize("tuner", [FEW, Pro(), Mira(), ExpectedRisk()], ids=lambda tuner: type(tuner).__name__)
def test_from_equal_weights_each_tuner_comes_near_the_decoders_own(lists, tuner):
    (tuning, totals), (test, _) = lists
    start = start_vector(tuning.table, "uniform")
    decoder = start_vector(tuning.table, "decoder", totals)
    own = test.metric.score(test.statistics[one_best(test.table.scores(decoder), test.table.offsets)].sum(axis=0))
    assert any(own == pytest.approx(bleu, abs=0.01) for bleu in (45.66, 42.61))
    scores = [score_of(test, run_tuner(tuning, tuner, start, seed)) for seed in range(3)]
    assert np.mean(scores) >= own - 0.3


def test_mbr_over_the_decoders_weights_does_no_harm(lists):
    (tuning, totals), (test, _) = lists
    decoder = start_vector(tuning.table, "decoder", totals)
    result = run_tuner(tuning, Mbr(), decoder)
    assert result.score >= max(step.score for step in result.trace) - 1e-9
    own = test.metric.score(test.statistics[one_best(test.table.scores(decoder), test.table.offsets)].sum(axis=0))
    assert score_of(test, result) >= own - 0.3

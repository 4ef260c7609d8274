"""Which methods of which interface are wrapped, and what checks the values that they return."""

from __future__ import annotations

from rerank_plugins.core.guests import features, formats, language_models, metrics, parsers, trainers, tuners
from rerank_plugins.core.guests.arguments import State, state
from rerank_plugins.core.guests.calls import Contract, declare
from rerank_plugins.core.interfaces import FeatureExtractor, Parser, SentenceFeature, SentenceModel
from rerank_plugins.core.metrics_and_tuners import Metric, NBestFormat, Tuner, TuningData
from rerank_plugins.core.trainer import Trainer

UNCHECKED = Contract(None)
CONTRACTS: dict[type, dict[str, Contract]] = {
    FeatureExtractor: {
        "components": Contract(features.components),
        "vocabulary": Contract(features.vocabulary),
        "parsers": Contract(features.parsers),
        "word_scores": Contract(features.word_scores),
        **dict.fromkeys(("reads_totals", "resources", "engines", "check_lists", "extract", "extract_all"), UNCHECKED),
    },
    SentenceFeature: {
        "values": Contract(language_models.values, sentences=True),
        "word_values": Contract(language_models.word_values, sentences=True),
    },
    SentenceModel: {
        "totals": Contract(language_models.totals, sentences=True),
        "score": Contract(language_models.score, sentences=True),
        "unigram_scores": Contract(language_models.score, sentences=True),
        "advance": Contract(language_models.advance, often=True),
        "finish": Contract(language_models.finish, often=True),
        "advance_all": Contract(language_models.advance_all),
        "finish_all": Contract(language_models.finish_all),
        **dict.fromkeys(("__contains__", "start"), Contract(None, often=True)),
        **dict.fromkeys(("sampler", "matches"), UNCHECKED),
    },
    Parser: {
        "parse": Contract(parsers.parse, sentences=True),
        "vocabulary": Contract(features.vocabulary),
        "trained_on": Contract(features.trained_on),
        **dict.fromkeys(("resources", "engines"), UNCHECKED),
    },
    Metric: {
        "statistics": Contract(metrics.statistics),
        "score": Contract(metrics.score),
        "sentence_scores": Contract(metrics.sentence_scores),
        "pairwise": Contract(metrics.pairwise),
        "signature": Contract(metrics.signature),
        "with_sources": UNCHECKED,
    },
    Tuner: {"tune": Contract(tuners.tune), "quick": Contract(tuners.quick)},
    NBestFormat: {
        "read": Contract(formats.read, streams=True),
        "read_folder": Contract(formats.read, streams=True),
        "write": Contract(formats.write, streams=True),
        "spelling": Contract(formats.spelling),
        "guessed_name": UNCHECKED,
    },
    Trainer: {"train": Contract(trainers.train)},
}
declare(CONTRACTS)


@state.register
def _tuning_data(data: TuningData) -> State:
    return state((data.table, data.statistics, data.fixed, data.lower, data.upper, list(data.hypotheses)))

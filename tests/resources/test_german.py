"""The embedded German models: every family works under `language = "de"`, with no model named."""

import pytest

from rerank_adapters.cli.first_config import OF_LANGUAGE
from rerank_adapters.job.config import Config
from rerank_adapters.job.job import Job
from rerank_plugins import Hypothesis, NBestList
from rerank_plugins.kit.files.languages import FILES, embedded, has_defaults, models_of
from rerank_plugins.kit.files.model_file import read_trained_on
from rerank_plugins.testing import check_language_model
from tests.test_documentation import REGISTRY

GOOD = "ich habe gestern ein neues Buch gekauft ."
BAD = "ich gekauft gestern habe ein neues Buch ."
MODELS = ("ngram-lm", "dependency-lm", "treelet-lm", "hhmm-lm", "pcfg")
FAMILIES = (*MODELS, "unigram", "oov-count", "slr", "svs-similarity", "meaning-in-context")


def test_the_files_are_all_there_and_small():
    assert set(models_of("de")) == set(FILES)
    assert all(has_defaults(name, models_of("de")) for name in OF_LANGUAGE)  # what `rerank init` drafts
    folder = embedded("parser.biaffine", "de").parent
    assert sum(path.stat().st_size for path in folder.iterdir() if path.name in FILES.values()) <= 12_200_000
    for name in set(FILES.values()) - {"parser.biaffine"}:
        assert read_trained_on(folder / name).language == "de"


@pytest.fixture(scope="module")
def job():
    return Job.of(Config(language="de", feature=[{"use": name} for name in FAMILIES]), REGISTRY)


@pytest.mark.release
@pytest.mark.parametrize(
    ("good", "bad"),
    [("die Autoren lachen .", "die Autoren lacht ."), ("der Autor lacht .", "der Autor lachen .")],
)
def test_the_dependency_model_knows_agreement(job, good, bad):
    values = job.feature("dependency-lm").extractor.extract(NBestList("0", (Hypothesis(good), Hypothesis(bad))))
    assert values[0][0] > values[1][0]


@pytest.mark.release
@pytest.mark.parametrize("name", ["hhmm-lm", "pcfg"])
@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ("die Senatoren lachen", "die Senatoren lacht"),
        ("der Senator lacht", "der Senator lachen"),
        ("die Senatoren sind klein .", "die Senatoren ist klein ."),
        ("der Pilot neben den Bauern ist alt", "der Pilot neben den Bauern sind alt"),
    ],
)
def test_models_of_trees_know_agreement(job, name, good, bad):
    values = job.feature(name).extractor.extract(NBestList("0", (Hypothesis(good), Hypothesis(bad))))
    assert values[0][0] > values[1][0]


@pytest.mark.release
@pytest.mark.parametrize("name", FAMILIES)
def test_a_config_without_paths_prefers_german_in_its_order(job, name):
    extractor = job.feature(name).extractor
    nbest = NBestList("0", (Hypothesis(GOOD), Hypothesis(BAD), Hypothesis("xyzzy das")))
    good, bad, unknown = extractor.extract(nbest)
    if name == "dependency-lm":  # both have the same tree, whose order the model does not see
        assert good[0] == pytest.approx(bad[0])
    elif name in MODELS:
        assert good[0] > bad[0]
    else:
        assert good.shape == bad.shape
    if name in ("unigram", "oov-count"):
        assert unknown[-1] < good[-1] == pytest.approx(bad[-1])
    for parser in extractor.parsers:
        assert parser.trained_on.language == "de"


def test_they_are_language_models(job):
    check_language_model(job.feature("ngram-lm").extractor)
    assert "Buch" in job.feature("oov-count").extractor.vocabulary
    assert "xyzzy" not in job.feature("unigram").extractor

"""The example plugin for translation: its values, its model file, its command, its errors, its packaging."""

import gzip
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rerank_adapters.job.specs import Names, Spec
from rerank_plugins import ConfigError, Hypothesis, ModelError, NBestList
from rerank_plugins.core.loader import load_plugins
from rerank_plugins.testing import check_feature_extractor
from tests.command_line import rerank

NAME = "source-coverage"
GERMAN = "das Haus\ndas Auto\nein Auto\n"
ENGLISH = "the house\nthe car\na car\n"


@pytest.fixture(scope="module")
def file(root: Path) -> Path:
    return root / "example_nbest/plugin_translation/source_coverage.py"


@pytest.fixture
def model(file: Path, tmp_path: Path) -> Path:
    """A model trained by the command, from compressed text and from plain text."""
    with gzip.open(tmp_path / "train.de.gz", "wt", encoding="utf-8") as stream:
        stream.write(GERMAN)
    (tmp_path / "train.en").write_text(ENGLISH, encoding="utf-8")
    path = tmp_path / "coverage.model"
    texts = (tmp_path / "train.de.gz", tmp_path / "train.en")
    ran = rerank("--plugin", file, "train", NAME, *texts, "--keep", 1, "-o", path)
    assert (ran.code, ran.out) == (0, "")
    assert ran.err.startswith(f"4 word pairs\nwrote the model (0.00 MB) to {path} in ")
    return path


def extractor(file: Path, model: Path):
    return Spec.read("feature", {"use": NAME, "model": str(model)}, Names(load_plugins(files=[file]))).make()


def test_values(file: Path, model: Path) -> None:
    nbest = NBestList("0", tuple(Hypothesis(text) for text in ("the car", "the red car", "a", "")), source="das Auto")
    values = extractor(file, model).extract(nbest)
    np.testing.assert_allclose(values, [[1, 1], [1, 2 / 3], [0, 0], [0, 0]])


def test_contract(file: Path, model: Path) -> None:
    check_feature_extractor(extractor(file, model), [NBestList("7", (Hypothesis("the car"),), source="das Auto")])


def test_errors(file: Path, model: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="segment 3 has no source sentence"):
        extractor(file, model).extract(NBestList("3", (Hypothesis("the car"),)))
    damaged = tmp_path / "damaged.model"
    damaged.write_bytes(model.read_bytes()[:-9])
    with pytest.raises(ModelError, match=r"damaged\.model"):
        extractor(file, damaged).extract(NBestList("3", (Hypothesis("the car"),), source="das Auto"))
    short = tmp_path / "short.en"
    short.write_text("the house\n", encoding="utf-8")
    ran = rerank("--plugin", file, "train", NAME, tmp_path / "train.de.gz", short, "-o", tmp_path / "none.model")
    longer = f"3 in {tmp_path / 'train.de.gz'}"
    assert ran.code == 2
    assert ran.err.startswith(f"rerank: {short}: 1 lines, but {longer}; expected a line for each sentence pair")


@pytest.mark.slow
def test_it_installs_though_the_project_has_another_name(file: Path, tmp_path: Path, monkeypatch) -> None:
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*install, "--target", tmp_path, file.parent], check=True, capture_output=True, text=True)
    assert (tmp_path / "source_coverage.py").is_file()
    monkeypatch.syspath_prepend(tmp_path)
    try:
        entry = load_plugins().get("feature", NAME)
        assert entry.owner == "source_coverage (my-translation-features)"
    finally:
        sys.modules.pop("source_coverage", None)

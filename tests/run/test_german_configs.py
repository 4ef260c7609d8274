"""The config of German is complete: its inputs are made by the commands in its head, or by models before them."""

import re

import pytest

from rerank_adapters.applications.training.model_tables import check_trained
from rerank_adapters.job.config import read_config
from rerank_plugins import ConfigError
from tests.conftest import ROOT


def test_every_file_is_made_before_it_is_read(monkeypatch):
    path = ROOT / "configs" / "german.toml"
    monkeypatch.setenv("DATA", "data")
    text = path.read_text(encoding="utf-8")
    config = read_config(path)
    folders = set(re.findall(r"^#     python example_nbest/larger_corpus.py \S+ (\S+)", text, re.M)) | {"work/en-de"}
    made = {f"../{folder}/{file}" for folder in folders for file in ("train.de", "train.en")}
    made |= {f"../{file}" for file in re.findall(r"-o (\S+)$", text, re.M)}
    for model in config.model:
        assert set(model.inputs) <= made, model.output
        made.add(str(model.output))
    read = {value for table in config.feature for key, value in table.items() if key in ("model", "alignment")}
    assert read <= made
    with pytest.raises(ConfigError, match="this model is missing"):
        check_trained(config.model_copy(update={"base": ROOT / "no" / "such"}), path)

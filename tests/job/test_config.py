"""Configs: what is read, and what a wrong one says: file, line, key, found, wanted."""

from pathlib import Path

import pytest

from rerank_adapters.job.config import Config, line_of_key, read_config
from rerank_plugins import ConfigError
from tests.command_line import refused

GOOD = """
seed = 3
[nbest]
use = "moses"
[tune]
nbest = ["tune.nbest"]
references = ["tune.ref"]
[[test]]
name = "news"
nbest = ["a.nbest", "b.nbest"]
[[metric]]
use = "bleu"
tokenize = "none"
[tuner]
use = "mert"
restarts = 5
[tuning]
start = "decoder"
[tuning.lower]
LM0 = 0.0
[[feature]]
use = "length"
"""


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "job.toml"
    path.write_text(text)
    return path


def test_a_good_config(tmp_path):
    config = read_config(write(tmp_path, GOOD))
    assert config.tuner == {"use": "mert", "restarts": 5}
    assert config.test[0].name == "news"
    assert config.tuning.lower == {"LM0": 0.0}
    assert config.path(config.test[0].nbest[1]) == tmp_path / "b.nbest"


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("seed = 3", "sede = 3", 2, "unknown key 'sede'; did you mean 'seed'"),
        ("references =", "refrences =", 7, "unknown key 'tune.refrences'; did you mean 'references'"),
        ("seed = 3", "seed = 'three'", 2, "key 'seed' is 'three': Input should be a valid integer"),
        ('nbest = ["tune.nbest"]\n', "", 5, "missing key 'tune.nbest'"),
        (
            "[tuning]\n",
            "[tuning]\nselect_folds = 1\n",
            18,
            "key 'tuning.select_folds' is 1: Input should be greater than or equal to 2",
        ),
        ("seed = 3", "seed = -3", 2, "key 'seed' is -3: Input should be greater than or equal to 0"),
        ("[[feature]]", "[[features]]", 21, "unknown key 'features'; did you mean 'feature'"),
        ("[[test]]", "[test]", 8, "key 'test' is .*Input should be a valid list"),
    ],
)
def test_wrong_keys_name_file_and_line(tmp_path, old, new, line, message):
    path = write(tmp_path, GOOD.replace(old, new))
    with pytest.raises(ConfigError, match=message) as caught:
        read_config(path)
    assert str(caught.value).startswith(f"{path}:{line}: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"), [(b"seed = = 1", "not valid TOML.*line 1"), (b"seed = 1 # \xff", "not UTF-8 text")]
)
def test_files_that_are_no_configs(tmp_path, content, message):
    path = tmp_path / "job.toml"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=message):
        read_config(path)


def test_missing_file_and_folder(tmp_path):
    with pytest.raises(ConfigError, match="no such config file"):
        read_config(tmp_path / "none.toml")
    with pytest.raises(ConfigError, match="is a folder"):
        read_config(tmp_path)


def test_an_empty_config_has_the_defaults(tmp_path):
    assert read_config(write(tmp_path, "")) == Config(base=tmp_path)


def test_line_of_key_under_its_table():
    text = "a = 1\n[x]\nb = 1\n[y]\nb = 2\n"
    assert line_of_key(text, ["y", "b"]) == 5
    assert line_of_key(text, ["y", "missing"]) == 4


def test_a_fault_in_the_second_of_two_tables_is_named_by_its_line(tmp_path):
    tests = (
        '[[test]]\nname = "a"\nnbest = ["a"]\nunpaired = "empty"\n[[test]]\nname = "b"\nnbest = ["b"]\nunpaired = "x"\n'
    )
    said = refused("check", write(tmp_path, f'[tune]\nnbest = ["t"]\n{tests}'))
    assert said.startswith(f"{tmp_path / 'job.toml'}:10: key 'test.1.unpaired' is 'x'")

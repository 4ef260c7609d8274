"""`train` from Python makes the same files as the command, and says what is wrong in one line."""

import pytest

from rerank_adapters import load, train
from rerank_plugins import ConfigError
from tests.command_line import done


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "news.en"
    path.write_text("The dog barks .\nThe cat sleeps .\n")
    return path


def test_it_trains_what_the_command_trains(text, tmp_path):
    lines = []
    held_out = [text]
    model = train(
        "ngram", text, tmp_path / "new" / "own.ngram", order=2, text="lowercase", held_out=held_out, report=lines.append
    )
    ran = done(
        "train", "ngram", text, "--order", 2, "--text", "lowercase", "--held-out", text, "-o", tmp_path / "other.ngram"
    )
    assert model.read_bytes() == (tmp_path / "other.ngram").read_bytes()
    said = [line for line in ran.err.splitlines() if not line.startswith(("wrote", "news.en: "))]
    assert lines == said
    assert any("news.en: " in line for line in lines)
    assert load(model).totals("The cat barks .") == pytest.approx(load(model).totals([["the", "cat", "barks", "."]])[0])


def test_nothing_is_printed(text, tmp_path, capsys):
    train("ngram", [text, str(text)], tmp_path / "own.ngram")
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("ngrm", {}, r"train\('ngrm'\): train: no model named 'ngrm' to train; did you mean 'ngram'"),
        ("ngram", {"ordr": 3}, r"train\('ngram'\): ngram has no option 'ordr'; did you mean 'order'"),
        ("ngram", {"order": 99}, r"option 'order' is 99; wanted int: Input should be less than or equal to 6"),
        ("ngram", {"order": "two"}, r"option 'order' is 'two'; wanted int"),
        ("random-indexing", {"seed": -1}, r"option 'seed' is -1; wanted 0 or more"),
        ("word-lexicon", {"jobs": 0}, r"option 'jobs' is 0; wanted 1 or more"),
        ("hhmm", {}, r"hhmm needs the option|language"),
    ],
)
def test_wrong_calls(text, tmp_path, name, options, message):
    with pytest.raises(ConfigError, match=message):
        train(name, text, tmp_path / "model", **options)
    with pytest.raises(ConfigError, match=r"no\.en: no such file"):
        train("ngram", tmp_path / "no.en", tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_an_output_that_cannot_be_written_is_said_before_any_work(text, tmp_path):
    (tmp_path / "model").mkdir()
    with pytest.raises(ConfigError, match="model: is a folder, expected a file to write"):
        train("ngram", text, tmp_path / "model")


def test_a_trainer_is_a_name_with_options_a_table_or_an_object(text, tmp_path):
    wanted = train("ngram", text, tmp_path / "a", order=2, text="none").read_bytes()
    given = ["ngram,order=2", {"use": "ngram", "order": 2}, load("ngram", kind="trainer", order=2)]
    for place, trainer in enumerate(given):
        assert train(trainer, text, tmp_path / f"b{place}", text="none").read_bytes() == wanted
    with pytest.raises(TypeError, match="wanted a trainer by its name or as an object of a registered class, found 3"):
        train(3, text, tmp_path / "c")
    with pytest.raises(ConfigError, match="a table of a plugin wants its name under 'use'"):
        train({"order": 2}, text, tmp_path / "c")

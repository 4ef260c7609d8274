"""`rerank prepare` trains the models of a config, and again only what has changed; wrong tables are errors beforehand."""

from pathlib import Path

import pytest

from rerank_plugins.core.dependency_tree import read_conllu
from tests.command_line import done, refused

CONFIG = """
[[model]]
train = "ngram"
inputs = ["$PAIRS/pairs.de-en", "more.en"]
output = "models/en.ngram"
options = { order = 2, text = "side:target", held-out = ["more.en"] }
[[model]]
train = "word-classes"
inputs = ["bank.conllu"]
output = "models/classes.tsv"
[[model]]
train = "ngram"
inputs = ["more.en"]
output = "models/classes.ngram"
options = { order = 2, text = "classes:models/classes.tsv" }
[nbest]
use = "moses"
[tune]
nbest = ["tune.nbest"]
references = ["tune.en"]
[[feature]]
use = "ngram-lm"
model = "models/en.ngram"
"""
BANK = "1\tsie\tsie\tPRON\tPRP\t_\t0\troot\t_\t_\n\n"


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with a config, its data and no models."""
    monkeypatch.setenv("PAIRS", str(tmp_path))
    (tmp_path / "pairs.de-en").write_text("das Haus ||| the house\nder Hund ||| the dog\n")
    (tmp_path / "more.en").write_text("the cat\n")
    (tmp_path / "bank.conllu").write_text(BANK)
    (tmp_path / "job.toml").write_text(CONFIG)
    return tmp_path


def test_models_are_trained_once(place):
    first = done("prepare", place / "job.toml").err
    assert "9 words, 4 distinct" not in first
    assert "3 sentences, 6 words, 4 distinct known words" in first
    assert "trained 3 models of 3" in first
    again = done("prepare", place / "job.toml").err
    assert again.count("unchanged, so not trained again") == 3
    assert "trained 0 models of 3" in again
    (place / "more.en").write_text("the cat sleeps\n")
    changed = done("prepare", place / "job.toml").err
    assert "7 words" in changed
    assert "classes.tsv: unchanged" in changed
    assert "trained 2 models of 3" in changed
    (place / "models" / "classes.tsv").write_text("damaged\n")
    assert "en.ngram: unchanged" in (repaired := done("prepare", place / "job.toml").err)
    assert "trained 1 model of 3" in repaired
    only = done("prepare", place / "job.toml", "--force", "--only", "classes.tsv").err
    assert "trained 1 model of 1" in only


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"ngram"', '"ngrm"', r"[[model]] en.ngram: train: no model named 'ngrm' to train; did you mean 'ngram'"),
        ("order = 2", "ordr = 2", "[[model]] en.ngram: ngram has no option 'ordr'; did you mean 'order'?"),
        ("order = 2", "order = 'two'", "[[model]] en.ngram: option 'order' is 'two'; wanted int"),
        ("order = 2", "order = 2, seed = -1", "[[model]] en.ngram: ngram has no option 'seed'"),
        (
            "order = 2",
            "order = 9",
            "[[model]] en.ngram: option 'order' is 9; wanted int: Input should be less than or equal to 6",
        ),
        ('"more.en"]\n', '"less.en"]\n', "less.en: no such file"),
        ("models/classes.tsv", "models/en.ngram", "two [[model]] tables have the output 'en.ngram'"),
        ("order = 2", "order = 2 }\nwords = { a = 1", "job.toml:7: unknown key 'model.0.words'"),
    ],
)
def test_wrong_models_are_reported_before_any_work(place, old, new, message):
    (place / "job.toml").write_text(CONFIG.replace(old, new, 1))
    error = refused("prepare", place / "job.toml")
    assert message in error
    assert not (place / "models" / "classes.tsv").exists()


def test_an_output_that_cannot_be_written_is_said_before_any_work(place):
    (place / "models" / "classes.tsv").mkdir(parents=True)
    assert "classes.tsv: is a folder, expected a file to write" in refused("prepare", place / "job.toml")
    assert not (place / "models" / "en.ngram").exists()


def test_a_run_says_how_a_missing_model_is_trained(place):
    error = refused("run", place / "job.toml")
    assert "en.ngram: this model is missing; `rerank prepare" in error


@pytest.mark.parametrize("relative", [False, True])
def test_an_option_may_name_a_file_that_is_made_before(place, relative, monkeypatch):
    """Its path begins at the config, by whatever path the config is named."""
    monkeypatch.chdir(place.parent)
    config = Path(place.name if relative else place, "job.toml")
    (place / "job.toml").write_text(
        """
        nbest = { use = "moses" }
        [[model]]
        train = "treebank"
        inputs = ["bank.conllu"]
        output = "models/bank.conllu"
        [[model]]
        train = "grammar"
        inputs = ["gold.ptb"]
        output = "models/own.pcfg"
        options = { language = "en", splits = 0, tagged = ["models/bank.conllu"] }
        """
    )
    (place / "gold.ptb").write_text("(S (NP (N dogs)) (VP (V bark)))\n")
    assert "trained 2 models of 2" in done("prepare", config).err
    assert "trained 0 models of 2" in done("prepare", config).err


def test_the_parser_of_a_training_may_be_a_table_of_the_config(place):
    """Its paths are relative to the config, and a model is trained again when the files of its parser change."""
    (place / "job.toml").write_text(
        """
        nbest = { use = "moses" }
        [parser.ours]
        use = "treebank"
        path = "bank.conllu"
        [[model]]
        train = "dependency-lm"
        inputs = ["words.en"]
        output = "models/words.deplm"
        options = { parser = "ours", language = "en", order = 2 }
        """
    )
    (place / "words.en").write_text("sie\n")
    assert "1 word, " in done("prepare", place / "job.toml").err
    assert "trained 0 models of 1" in done("prepare", place / "job.toml").err
    (place / "bank.conllu").write_text(BANK + BANK.replace("sie", "er"))
    assert "trained 1 model of 1" in done("prepare", place / "job.toml").err


def test_weights_name_files_as_the_config_does(place):
    """A treebank of parsed text counts less than that of people, in a grammar of both."""
    (place / "job.toml").write_text(
        """
        nbest = { use = "moses" }
        [[model]]
        train = "grammar"
        inputs = ["gold.ptb", "models/parsed.ptb"]
        output = "models/own.pcfg"
        options = { language = "en", splits = 0, weight = ["models/parsed.ptb=0.25"] }
        """
    )
    (place / "models").mkdir()
    (place / "gold.ptb").write_text("(S (NP (N dogs)) (VP (V bark)))\n")
    (place / "models" / "parsed.ptb").write_text("(S (NP (N cats)) (VP (V bark)))\n")
    assert "trained 1 model of 1" in done("prepare", place / "job.toml").err


def test_a_treebank_of_parsed_text_is_a_model(place):
    """Its trees are those of treebanks and of parsed text, without those of too many words."""
    (place / "words.en").write_text("sie\ner\n")
    long = BANK.replace("\n\n", "\n2\tda\tda\tADV\tRB\t_\t1\tadvmod\t_\t_\n\n")
    (place / "more.conllu").write_text(BANK.replace("sie", "er") + long)
    ran = done("train", "treebank", place / "bank.conllu", place / "words.en", place / "more.conllu", "--max-length", "1",
               "-p", f"treebank,path={place}/bank.conllu,second={place}/more.conllu", "-o", place / "out.conllu")  # fmt: skip
    trees = list(read_conllu((place / "out.conllu").read_text().splitlines()))
    assert [tree.words for tree in trees] == [("sie",), ("sie",), ("er",), ("er",)]
    assert "4 trees" in ran.err
    assert "4 words" in ran.err


def test_the_text_of_word_classes_is_a_file_and_no_text_steps(place):
    """The trainer has an option of that name, in the place of the common one."""
    (place / "job.toml").write_text(
        """
        nbest = { use = "moses" }
        [[model]]
        train = "word-classes"
        inputs = ["bank.conllu"]
        output = "models/classes.tsv"
        options = { text = ["more.en"], max_words = 1 }
        """
    )
    assert "trained 1 model of 1" in done("prepare", place / "job.toml").err
    assert "trained 0 models of 1" in done("prepare", place / "job.toml").err
    (place / "more.en").write_text("the dog\n")
    assert "trained 1 model of 1" in done("prepare", place / "job.toml").err

"""`rerank init`: which file is what, and a config that passes the check and runs."""

import re
import shutil
import tomllib

import numpy as np
import pytest

from rerank_adapters.cli.first_config import steps_of
from rerank_adapters.cli.job_set import shared_words
from rerank_adapters.text.languages import language_of
from tests.command_line import done, refused, rerank
from tests.conftest import ROOT

FILES = ("tune.nbest", "tune.en", "tune.de", "test.nbest", "test.en", "test.de")


@pytest.fixture
def place(small, tmp_path, monkeypatch):
    shutil.copytree(small, tmp_path / "job")
    monkeypatch.chdir(tmp_path / "job")
    return tmp_path / "job"


@pytest.mark.slow
def test_the_config_of_translations_passes_the_check_and_runs(place):
    """`--language fi` leaves out the models of English, which would take the time of the test."""
    ran = done("init", *FILES, "lm.arpa", "--language", "fi", "-o", "work.toml")
    assert "tune: tune.nbest; references tune.en; source tune.de\n" in ran.err
    assert "test: test.nbest; references test.en; source test.de\n" in ran.err
    text = (place / "work.toml").read_text()
    assert '[[feature]]\nuse = "hhmm-lm"' not in text
    assert "#   hhmm-lm: no model of fi: there are models of de, en, and a package such as rerank-models-fi can" in text
    assert " ms a text, " in text
    assert 'use = "untranslated"' in text
    assert 'use = "ngram-lm"\nmodel = "lm.arpa"' in text
    assert 'tokenize = "none"' in text
    assert "found 0 errors" in done("check", "work.toml", "--no-estimate").err
    assert "reranked" in done("run", "work.toml", "--work", "w").out


def test_a_config_is_not_overwritten(place):
    (place / "rerank.toml").write_text("seed = 2\n")
    assert refused("init", *FILES) == (
        "rerank.toml: exists already; overwrite it with --force, or name another file with -o"
    )
    assert (place / "rerank.toml").read_text() == "seed = 2\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["tune.nbest", "tune.de"], "tune.nbest: weights need a reference for each list to tune on; name the file too"),
        (["tune.en"], "name it with --format"),
        (["a.nbest", "b.nbest"], "a.nbest: are these lists tuned on, or tested? Name them with --tune or --test"),
        (["tune.nbest", "short.en"], "short.en: has no line for each segment of any lists"),
        (["tune.nbest", "--source", "x.de"], "'x.de' does not exist"),
    ],
)
def test_what_cannot_be_seen_is_refused_in_one_line(place, arguments, said):
    shutil.copy("tune.nbest", "a.nbest")
    shutil.copy("test.nbest", "b.nbest")
    (place / "short.en").write_text("one line\n")
    assert said in refused("init", *arguments)
    assert not (place / "rerank.toml").exists()


def write_lists(path, texts):
    """Lists of two hypotheses for each text."""
    rows = (f"{number} ||| {text}{end} ||| LM= -1 ||| -1\n" for number, text in enumerate(texts) for end in ("", " x"))
    path.write_text("".join(rows))


def test_texts_of_one_length_go_to_the_lists_that_share_their_words(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first = ["so" + f" w{n}" * (n % 5 + 1) + " ." for n in range(20)]
    second = ["so" + f" v{n}" * (n % 7 + 1) + " ." for n in range(20)]
    texts = {"a": second, "b": first, "c": [line.replace("v", "q") for line in second]}
    for name, lines in texts.items():
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    write_lists(tmp_path / "dev.x", first)
    write_lists(tmp_path / "test.x", second)
    _, _, said = drafted(tmp_path / "job.toml", "dev.x", "test.x", *texts)
    assert "\ntune: dev.x; references b\ntest: test.x; references a; source c\n" in said


def test_lists_of_the_same_segments_are_merged_and_others_are_sets_of_their_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first, second = [f"so a{n} b c" for n in range(9)], [f"so z{n} b c" for n in range(9)]
    for name, texts in {"dev.nbest": first, "test.1": first, "test.2": first, "test.3": second}.items():
        write_lists(tmp_path / name, texts)
    (tmp_path / "dev.ref").write_text("\n".join(first) + "\n")
    _, config, _ = drafted(tmp_path / "job.toml", *("dev.nbest", "test.1", "test.2", "test.3"), "-r", "dev.ref")
    assert config["tune"]["nbest"] == ["dev.nbest"]
    assert [(test["name"], test["nbest"]) for test in config["test"]] == [
        ("test", ["test.1", "test.2"]),
        ("test-2", ["test.3"]),
    ]


def test_roles_that_no_name_shows_are_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("x", "y", "z"):
        write_lists(tmp_path / name, [f"so {name}{n} b c" for n in range(9)])
    (tmp_path / "x.ref").write_text("".join(f"so x{n} b c\n" for n in range(9)))
    _, config, _ = drafted(tmp_path / "job.toml", "--tune", "x", "--test", "y", "--test", "z", "-r", "x.ref")
    assert config["tune"]["nbest"] == ["x"]
    assert [(test["name"], test["nbest"]) for test in config["test"]] == [("y", ["y"]), ("z", ["z"])]


@pytest.mark.parametrize(
    ("hypotheses", "references", "models", "metric"),
    [
        (["the cat sat .", "a dog ran ."], ["The cat sat .", "A dog ran ."], (), ("lowercase",)),
        (["The c@@ at sat ."] * 3, ["The cat sat ."] * 3, ("undo-bpe",), ("undo-bpe",)),
        (["The cat, it sat."] * 3, ["The cat, it sat."] * 3, ("penn-tokenize",), ()),
        (
            ["▁The ▁c at ▁sat ."] * 3,
            ["The cat sat."] * 3,
            ("undo-sentencepiece", "penn-tokenize"),
            ("undo-sentencepiece",),
        ),
        (["The cat , it sat ."] * 3, ["The cat, it sat."] * 3, (), ("tokenize:en",)),
        (["the cat sat"] * 3, ["the cat sat"] * 3, ("restore-sentence", "penn-tokenize"), ()),
        (["THE CAT SAT"] * 3, ["THE CAT SAT"] * 3, ("lowercase", "restore-sentence", "penn-tokenize"), ()),
    ],
)
def test_the_steps_of_texts(hypotheses, references, models, metric):
    assert steps_of(hypotheses, references, "en", "bleu") == (models, metric)


def test_languages_are_told_by_their_function_words():
    assert language_of(["der Hund und die Katze sind nicht im Haus", "es ist ein Buch"]) == "de"
    assert language_of(["le chat est dans la maison et il ne dort pas"]) == "fr"
    assert language_of(["xyzzy plugh"]) is None
    assert shared_words(["a b", "c d"], ["a b", "c d"]) == 1.0
    assert 0 < shared_words(["a b", "c d"], ["a b", "c x"]) < 1


WORDS = re.findall(r"\w+", "the old house stands near a quiet green river where nobody ever comes to swim before noon")


def pieces(text):
    return " ".join(word if len(word) < 4 else f"{word[:2]}@@ {word[2:]}" for word in text.split())


def write_set(folder, seed, bpe=pieces):
    """Lists of twelve segments, two hypotheses each, with all that may belong to them; a folder also holds other files."""
    folder.mkdir(parents=True)
    rng = np.random.default_rng(seed)
    texts = [" ".join(rng.choice(WORDS, size=4 + number % 5)) for number in range(12)]
    rows = [(number, bpe(text + end)) for number, text in enumerate(texts) for end in ("", " now")]
    (folder / "lists").write_text("".join(f"{number} ||| {text} ||| LM= -1 ||| -1\n" for number, text in rows))
    (folder / "reference").write_text("\n".join(texts) + "\n")
    (folder / "german").write_text("".join(bpe(f"{text[::-1]} und das") + "\n" for text in texts))
    (folder / "utt2dur").write_text("".join(f"{number} 3.5\n" for number in range(12)))
    (folder / "comet.txt").write_text("".join(f"{score}\n" for score in rng.random(24)))
    (folder / "README").write_text("Made by hand.\n")
    (folder / "old.toml").write_text("seed = 1\n")
    (folder / "model.bin").write_bytes(b"\xff\xfe\x00")


def drafted(output, *arguments):
    """What `init` writes and says, without the models of English, which would take the time of the test."""
    ran = done("init", *arguments, "--language", "fi", "--force", "-o", output)
    return output.read_text(), tomllib.loads(output.read_text()), ran.err


def test_folders_are_sets_and_a_config_of_all_that_is_in_them_passes_the_check(tmp_path):
    for seed, name in enumerate(("dev", "test")):
        write_set(tmp_path / "data" / name, seed)
    output = tmp_path / "job.toml"
    text, config, said = drafted(output, tmp_path / "data", "--scores", tmp_path / "data" / "{set}" / "comet.txt")
    for name, one in (("dev", config["tune"]), ("test", config["test"][0])):
        assert one["name"] == name
        assert (one["nbest"], one["references"]) == ([f"data/{name}/lists"], [f"data/{name}/reference"])
        assert one["source"] == f"data/{name}/german"
    (unused,) = re.findall("not used: (.*)", said)
    unused_names = {path.rpartition("/")[2] for path in unused.split(", ")}
    assert unused_names == {"utt2dur", "README", "old.toml", "model.bin", "comet.txt"}
    assert '[[test]]                                          # 12 segments, 24 hypotheses\nname = "test"\n' in text
    assert 'label = "comet"\nfile = "data/{set}/comet.txt"' in text
    assert 'use = "untranslated"\ntext = "written"\nsource_text = "source"' in text
    assert "found 0 errors" in done("check", output, "--no-estimate").err


def test_scores_are_columns_and_those_that_a_set_lacks_are_an_error(tmp_path):
    for seed, name in enumerate(("dev", "test")):
        write_set(tmp_path / name, seed)
        (tmp_path / f"{name}.pair").write_text("1 2\n" * 24)
    sets = (tmp_path / "dev", tmp_path / "test")
    text, _, _ = drafted(tmp_path / "job.toml", *sets, "--scores", tmp_path / "{set}.pair")
    assert 'label = "pair"\nfile = "{set}.pair"\nnames = ["1", "2"]' in text
    (tmp_path / "dev.comet").write_text("1\n" * 24)
    wrong = ("init", *sets, "--scores", tmp_path / "{set}.comet", "--language", "fi", "-o", tmp_path / "wrong.toml")
    assert rerank(*wrong).err.endswith("test.comet: no such file\n")
    (tmp_path / "test.comet").write_text("1\n" * 23)
    assert "23" in rerank(*wrong).err.splitlines()[-1]


def test_the_decoders_weights_start_the_tuning(place):
    shutil.copy(ROOT / "example_nbest" / "mt" / "moses.ini", "moses.ini")
    _, config, _ = drafted(place / "job.toml", *FILES[:3], "--weights", "moses.ini")
    assert config["tuning"] == {"start": "moses.ini"}
    (place / "moses.ini").write_text("[weight]\nOther0= 0.5\n")
    assert "Other0" in refused("init", *FILES[:3], "--weights", "moses.ini", "--language", "fi", "-o", "x.toml")


ROWS = ["id,text,score", *(f"{n},{text},-{rank}.5" for n in range(9) for rank, text in enumerate((
    f"the dog barks at the moon {n} .", f"the dog bark at moon {n} ."), 2))]  # fmt: skip


@pytest.mark.parametrize("more", [False, True])
def test_totals_are_features_whatever_else_the_lists_have(tmp_path, monkeypatch, more):
    monkeypatch.chdir(tmp_path)
    for name in ("tune", "test"):
        rows = [f"{row},{'tokens' if not n else 3 + n % 4}" if more else row for n, row in enumerate(ROWS)]
        (tmp_path / f"{name}.csv").write_text("\n".join(rows) + "\n")
        (tmp_path / f"{name}.ref").write_text("".join(f"the dog barks at the moon {n} .\n" for n in range(9)))
    text, _, _ = drafted(tmp_path / "a.toml", "tune.csv", "tune.ref", "test.csv", "test.ref")
    assert 'use = "decoder-score"' in text
    assert 'use = "word-posteriors"' in text
    assert "#   ngram-lm: no n-gram model is among the files" in text


def test_a_model_of_ours_is_a_feature_as_its_arpa_file_is(place):
    done("train", "ngram", "tune.en", "-o", "lm.ngram", "--order", "2")
    _, config, _ = drafted(place / "job.toml", *FILES[:3], "lm.ngram")
    assert {"use": "ngram-lm", "model": "lm.ngram"} in config["feature"]


def test_a_recognisers_lists_are_tuned_for_word_errors_and_in_lower_case(tmp_path, monkeypatch):
    """ESPnet's folders of upper-case words, with transcripts as they are written."""
    monkeypatch.chdir(tmp_path)
    said = ["THE DOG BARKS AT THE MOON", "MY SISTER READS A LONG BOOK", "IT RAINS IN THE OLD TOWN"]
    for name in ("dev", "tst"):
        for rank in (1, 2):
            folder = tmp_path / name / f"{rank}best_recog"
            folder.mkdir(parents=True)
            words = [text.replace("THE ", "") if rank == 2 else text for text in said]
            (folder / "text").write_text("".join(f"utt_{n} {text}\n" for n, text in enumerate(words)))
            (folder / "score").write_text("".join(f"utt_{n} tensor(-{rank}.{n})\n" for n in range(3)))
        (tmp_path / f"{name}.text").write_text("".join(f"utt_{n} {t.capitalize()}.\n" for n, t in enumerate(said)))
    _, config, _ = drafted(tmp_path / "asr.toml", "dev", "dev.text", "tst", "tst.text")
    assert [metric["use"] for metric in config["metric"]] == ["wer", "cer", "ser"]
    assert config["text"]["compared"] == ["lowercase", "no-punctuation"]


def test_sources_in_the_lists_and_sentence_pieces(tmp_path):
    def bpe(text):
        return " ".join(f"▁{word[:2]} {word[2:]}".strip() for word in text.split())

    write_set(tmp_path / "plain", 1, bpe)
    rows = [line.split(" ||| ")[:2] for line in (tmp_path / "plain" / "lists").read_text().splitlines()]
    sources = (tmp_path / "plain" / "german").read_text().splitlines()
    blocks = (f"S-{number}\t{sources[int(number)]}\nH-{number}\t-0.5\t{text}\n" for number, text in rows)
    (tmp_path / "generate-valid.txt").write_text("".join(blocks))
    files = (tmp_path / "generate-valid.txt", tmp_path / "plain" / "reference")
    text, config, said = drafted(tmp_path / "job.toml", *files)
    assert config["tune"]["references"] == ["plain/reference"]
    assert "source in the lists" in said
    assert config["text"]["source"] == config["text"]["compared"] == ["undo-sentencepiece"]
    assert 'use = "lexical-overlap"\ntext = "written"\nsource_text = "source"' in text
    assert "not all lists have a source" not in text

"""`rerank init`: which file is what, and a config that passes the check and runs."""

import shutil

import pytest

from rerank_adapters.pipeline.starting.assignment import assign, sets_of, shared_words
from rerank_adapters.pipeline.starting.languages import language_of
from rerank_adapters.pipeline.starting.recognition import Lists, recognise
from rerank_adapters.pipeline.starting.texts import look_of
from rerank_plugins import FormatError, Hypothesis, NBestList
from tests.command_line import done, refused
from tests.test_documentation import REGISTRY

FILES = ("tune.nbest", "tune.en", "tune.de", "test.nbest", "test.en", "test.de")


@pytest.fixture
def place(small, tmp_path, monkeypatch):
    shutil.copytree(small, tmp_path / "job")
    monkeypatch.chdir(tmp_path / "job")
    return tmp_path / "job"


@pytest.mark.slow
def test_the_config_of_translations_passes_the_check_and_runs(place):
    """`--language de` leaves out the models of English, which would take the time of the test."""
    ran = done("init", *FILES, "lm.arpa", "--language", "de", "--yes", "-o", "work.toml")
    assert "tune: tune.nbest; references tune.en; source tune.de\n" in ran.err
    assert "test: test.nbest; references test.en; source test.de\n" in ran.err
    text = (place / "work.toml").read_text()
    assert '[[feature]]\nuse = "hhmm-lm"' not in text
    assert "#   hhmm-lm: the embedded model reads English, and the hypotheses are in de" in text
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
        (["tune.nbest", "--source", "x.de"], "x.de: an option says what this file is, but it is not among the FILES"),
    ],
)
def test_what_cannot_be_seen_is_refused_in_one_line(place, arguments, said):
    shutil.copy("tune.nbest", "a.nbest")
    shutil.copy("test.nbest", "b.nbest")
    (place / "short.en").write_text("one line\n")
    assert said in refused("init", *arguments, "--yes")
    assert not (place / "rerank.toml").exists()


def lists(path, texts):
    nbests = [NBestList(str(n), (Hypothesis(text), Hypothesis(f"{text} x"))) for n, text in enumerate(texts)]
    return Lists(path, "moses", nbests)


def nobody(question, answers):
    return None


def test_texts_of_one_length_go_to_the_lists_that_share_their_words(tmp_path):
    first = [f"w{n} " * (n % 5 + 1) + "." for n in range(20)]
    second = [f"v{n} " * (n % 7 + 1) + "." for n in range(20)]
    texts = {"a": second, "b": first, "c": [line.replace("v", "q") for line in second]}
    for name, lines in texts.items():
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    sets = sets_of([lists(tmp_path / "dev.x", first), lists(tmp_path / "test.x", second)], (), (), nobody)
    assign([tmp_path / name for name in texts], sets, (), ())
    assert [(one.role, one.name, one.references, one.source) for one in sets] == [
        ("tune", "", [tmp_path / "b"], None),
        ("test", "test", [tmp_path / "a"], tmp_path / "c"),
    ]


def test_lists_of_the_same_segments_are_merged_and_others_are_sets_of_their_own(tmp_path):
    first, second = [f"a{n} b c" for n in range(9)], [f"z{n} b c" for n in range(9)]
    files = [
        *(lists(tmp_path / "dev.nbest", first), lists(tmp_path / "test.1", first)),
        *(lists(tmp_path / "test.2", first), lists(tmp_path / "test.3", second)),
    ]
    sets = sets_of(files, (), (), nobody)
    assert [[file.path.name for file in one.lists] for one in sets] == [["dev.nbest"], ["test.1", "test.2"], ["test.3"]]
    assert [one.name for one in sets] == ["", "test", "test-2"]


def test_roles_that_no_name_shows_are_asked(tmp_path):
    files = [lists(tmp_path / name, [f"{name}{n} b c" for n in range(9)]) for name in ("x", "y", "z")]
    asked = []

    def answer(question, answers):
        asked.append((question, tuple(answers)))
        return "tune" if "x" in question.rpartition("/")[2] else "test"

    sets = sets_of(files, (), [tmp_path / "z"], answer)
    assert [(one.role, one.name) for one in sets] == [("tune", ""), ("test", "y"), ("test", "z")]
    assert asked == [(f"Are the lists of {tmp_path / n} tuned on, or tested?", ("tune", "test")) for n in ("x", "y")]


def test_files_are_told_apart_by_what_they_hold(place):
    (place / "gaps.txt").write_text("a\n\nb\n")  # alone, it could be lists in groups of lines
    (place / "dense").write_text("LM0= 0.5\nTM0= 0.1 0.2\n")
    found = recognise([place / name for name in ("gaps.txt", "tune.nbest", "lm.arpa", "dense")], REGISTRY)
    assert [(one.path.name, one.format) for one in found.lists] == [("tune.nbest", "moses")]
    assert [path.name for path in (*found.texts, *found.language_models, *found.weights)] == [
        *("gaps.txt", "lm.arpa", "dense")
    ]
    with pytest.raises(FormatError):
        recognise([place / "tune.en"], REGISTRY)


@pytest.mark.parametrize(
    ("hypotheses", "references", "models", "metric"),
    [
        (["the cat sat .", "a dog ran ."], ["The cat sat .", "A dog ran ."], (), ("lowercase",)),
        (["The c@@ at sat ."] * 3, ["The cat sat ."] * 3, ("undo-bpe",), ("undo-bpe",)),
        (["The cat, it sat."] * 3, ["The cat, it sat."] * 3, ("penn-tokenize",), ()),
        (["The cat , it sat ."] * 3, ["The cat, it sat."] * 3, (), ("tokenize:en",)),
        (["the cat sat"] * 3, ["the cat sat"] * 3, ("restore-sentence", "penn-tokenize"), ()),
    ],
)
def test_the_steps_of_texts(hypotheses, references, models, metric):
    look = look_of(hypotheses, references, "en")
    assert (look.models, look.metric) == (models, metric)
    assert look.spoken == (models[:1] == ("restore-sentence",))


def test_languages_are_told_by_their_function_words():
    assert language_of(["der Hund und die Katze sind nicht im Haus", "es ist ein Buch"]) == "de"
    assert language_of(["le chat est dans la maison et il ne dort pas"]) == "fr"
    assert language_of(["xyzzy plugh"]) is None
    assert shared_words(["a b", "c d"], ["a b", "c x"]) == pytest.approx(0.75)

"""`rerank init`: which file is what, and a config that passes the check and runs."""

import gzip
import re
import shutil

import numpy as np
import pytest

from rerank_adapters.chain.config_draft.assignment import (
    assign,
    assign_scores,
    columns_of,
    lines_of,
    sets_of,
    shared_words,
)
from rerank_adapters.chain.config_draft.draft import Draft
from rerank_adapters.chain.config_draft.recognition import Lists, recognise
from rerank_adapters.chain.config_draft.texts import look_of
from rerank_adapters.job.config import read_config
from rerank_adapters.job.job import Job
from rerank_adapters.run.check import check
from rerank_adapters.text.languages import language_of
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
    """`--language fi` leaves out the models of English, which would take the time of the test."""
    ran = done("init", *FILES, "lm.arpa", "--language", "fi", "--yes", "-o", "work.toml")
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
        (["tune.nbest", "--source", "x.de"], "x.de: an option names this file, but it is not among the FILES"),
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
        ("tune", "dev", [tmp_path / "b"], None),
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
    assert [one.name for one in sets] == ["dev", "test", "test-2"]


def test_roles_that_no_name_shows_are_asked(tmp_path):
    files = [lists(tmp_path / name, [f"{name}{n} b c" for n in range(9)]) for name in ("x", "y", "z")]
    asked = []

    def answer(question, answers):
        asked.append((question, tuple(answers)))
        return "tune" if "x" in question.rpartition("/")[2] else "test"

    sets = sets_of(files, (), [tmp_path / "z"], answer)
    assert [(one.role, one.name) for one in sets] == [("tune", "x"), ("test", "y"), ("test", "z")]
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
        (
            ["▁The ▁c at ▁sat ."] * 3,
            ["The cat sat."] * 3,
            ("undo-sentencepiece", "penn-tokenize"),
            ("undo-sentencepiece",),
        ),
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
    (folder / "utt2spk").write_text("".join(f"{number} anna{number // 4}\n" for number in range(12)))
    (folder / "utt2dur").write_text("".join(f"{number} 3.5\n" for number in range(12)))
    (folder / "comet.txt").write_text("".join(f"{score}\n" for score in rng.random(24)))
    (folder / "README").write_text("Made by hand.\n")
    (folder / "old.toml").write_text("seed = 1\n")
    (folder / "model.bin").write_bytes(b"\xff\xfe\x00")


def drafted(paths, output):
    """The draft of a config from paths, as text, its sets and the files that it does not use."""
    recognised = recognise(paths, REGISTRY)
    sets = sets_of(recognised.lists, (), (), nobody)
    unused = [*recognised.unused, *assign(recognised.texts, sets, (), (), recognised.of_folders)]
    unused += assign_scores(recognised.scores, sets, recognised.of_folders)
    columns, unmatched = columns_of(sets)
    firsts = sets[0].lists[0].firsts
    look = look_of(firsts, lines_of(sets[0].references[0], sets[0].lists[0].ids), "en")
    draft = Draft(sets, "bleu", "xx", "de", look, columns=columns)
    return draft.write(output), sets, [*unused, *unmatched]


def test_folders_are_sets_and_a_config_of_all_that_is_in_them_passes_the_check(tmp_path):
    for seed, name in enumerate(("dev", "test")):
        write_set(tmp_path / "data" / name, seed)
    text, sets, unused = drafted([tmp_path / "data"], tmp_path / "job.toml")
    for one in sets:
        folder = tmp_path / "data" / one.name
        assert (one.references, one.source) == ([folder / "reference"], folder / "german")
        assert (one.groups, one.scores) == (folder / "utt2spk", [folder / "comet.txt"])
    assert [(one.role, one.name) for one in sets] == [("tune", "dev"), ("test", "test")]
    assert {path.name for path in unused} == {"utt2dur", "README", "old.toml", "model.bin"}
    assert '[[test]]                                          # 12 segments, 24 hypotheses\nname = "test"\n' in text
    assert 'label = "comet"\nfile = "data/{set}/comet.txt"' in text
    assert 'use = "untranslated"\ntext = "written"\nsource_text = "source"' in text
    (tmp_path / "job.toml").write_text(text)
    job = Job.of(read_config(tmp_path / "job.toml"), REGISTRY)
    assert not check(job).failed()
    config = job.config
    assert config.test[0].groups.name == "utt2spk"
    assert not config.evaluation.resample_groups  # three speakers are too few
    assert job.feature("comet", "tune").extractor.file == tmp_path / "data" / "dev" / "comet.txt"


def test_scores_belong_to_the_lists_with_as_many_hypotheses(tmp_path):
    for seed, name in enumerate(("dev", "test")):
        write_set(tmp_path / name, seed)
        for file in ("lists", "reference", "comet.txt"):
            shutil.copy(tmp_path / name / file, tmp_path / f"{name}.{file}")
        (tmp_path / f"{name}.pair.gz").write_bytes(gzip.compress(b"1 2\n" * 24))
    files = [tmp_path / f"{name}.{file}" for name in ("dev", "test") for file in ("lists", "reference", "pair.gz")]
    text, _, unused = drafted([*files, tmp_path / "dev.comet.txt"], tmp_path / "job.toml")
    assert 'label = "pair"\nnames = ["1", "2"]\nfile = "{set}.pair.gz"' in text
    assert 'name = "dev"' in text  # which {set} stands for
    assert unused == [tmp_path / "dev.comet.txt"]  # the test set has no such scores
    shutil.copy(tmp_path / "dev.comet.txt", tmp_path / "comet")
    with pytest.raises(
        FormatError, match=r"24 lines of scores, expected a line .*: 24 for dev and 24 for test, whose name"
    ):
        drafted([*files, tmp_path / "comet"], tmp_path / "job.toml")


def test_sources_in_the_lists_and_sentence_pieces(tmp_path):
    def bpe(text):
        return " ".join(f"▁{word[:2]} {word[2:]}".strip() for word in text.split())

    write_set(tmp_path / "plain", 1, bpe)
    rows = [line.split(" ||| ")[:2] for line in (tmp_path / "plain" / "lists").read_text().splitlines()]
    sources = (tmp_path / "plain" / "german").read_text().splitlines()
    blocks = (f"S-{number}\t{sources[int(number)]}\nH-{number}\t-0.5\t{text}\n" for number, text in rows)
    (tmp_path / "generate-valid.txt").write_text("".join(blocks))
    text, (one,), _ = drafted(
        [tmp_path / "generate-valid.txt", tmp_path / "plain" / "reference"], tmp_path / "job.toml"
    )
    assert one.references == [tmp_path / "plain" / "reference"]
    assert one.sources == sources
    assert 'source = ["undo-sentencepiece"] ' in text
    assert 'compared = ["undo-sentencepiece"] ' in text
    assert 'use = "lexical-overlap"\ntext = "written"\nsource_text = "source"' in text
    assert "not all lists have a source" not in text


def test_speakers_are_told_from_other_tables_and_from_references(tmp_path):
    write_set(tmp_path / "dev", 1)
    ids = [f"u{number}" for number in range(12)]
    one_word = [Lists(tmp_path / "dev" / "nbest", "kaldi", [NBestList(id_, (Hypothesis(word),)) for id_, word in
                zip(ids, ["yes", "no", "stop"] * 4, strict=True)])]  # fmt: skip
    for name, values in {
        "text": ["yes", "no", "stop"] * 4,
        "utt2gender": ["f", "m"] * 6,
        "utt2spk": "abcd" * 3,
    }.items():
        (tmp_path / "dev" / name).write_text(
            "".join(f"{id_} {value}\n" for id_, value in zip(ids, values, strict=True))
        )
    sets = sets_of(one_word, (), (), nobody)
    assign([tmp_path / "dev" / name for name in ("utt2spk", "utt2gender", "text")], sets, (), ())
    assert (sets[0].groups.name, [path.name for path in sets[0].references]) == ("utt2spk", ["text"])

"""One config makes a language: models of all families from a made treebank in a made language, and a job with them.

The config has the tables of configs/german.toml; nothing but the names of its files changes.
"""

import random
import tomllib
from pathlib import Path

import pytest

from tests.command_line import done

CONFIGS = Path(__file__).parents[2] / "configs"
NOUNS = {"kato": "cat", "hundo": "dog", "birdo": "bird", "viro": "man"}
VERBS = {"dormas": "sleeps", "kuras": "runs"}
SEEING = {"vidas": "sees", "amas": "loves"}
SMALL = {  # options of trainers that make the test fast
    "dependency-parser": {"epochs": 1},
    "grammar": {"splits": 1},
    "hhmm": {},
    "svs": {"max_headwords": 8, "iterations": 2},
    "word-lexicon": {"epochs": 1},
    "ngram": {"order": 2},
    "word-alignment": {},
}

QUICK = "randomisation = 100\nbootstrap = 100\ncontribution_folds = 0\nweight_samples = 0\nexplained = 0"


def sentence(rng):
    """A sentence with its tree, verbs last, and its translation; `lahundon` is a contraction of two words."""
    subject, verb = rng.choice(list(NOUNS)), rng.choice(list(VERBS))
    if rng.random() < 0.4:
        rows = [("la", "DET", 2, "det"), (subject, "NOUN", 3, "nsubj"), (verb, "VERB", 0, "root")]
        return rows, f"the {NOUNS[subject]} {VERBS[verb]} ."
    object_, verb = rng.choice(list(NOUNS)), rng.choice(list(SEEING))
    rows = [("la", "DET", 2, "det"), (subject, "NOUN", 5, "nsubj"), ("la", "DET", 4, "det")]
    rows += [(f"{object_}n", "NOUN", 5, "obj"), (verb, "VERB", 0, "root")]
    return rows, f"the {NOUNS[subject]} {SEEING[verb]} the {NOUNS[object_]} ."


def conllu(rows):
    """The tree, whose object and determiner are a multiword token."""
    rows = [*rows, (".", "PUNCT", len(rows), "punct")]
    lines = [f"{i}\t{form}\t{form}\t{tag}\t_\t_\t{head}\t{relation}\t_\t_"
             for i, (form, tag, head, relation) in enumerate(rows, 1)]  # fmt: skip
    if len(rows) == 6:
        lines.insert(2, f"3-4\tla{rows[3][0]}" + "\t_" * 8)
    return "\n".join(lines) + "\n\n"


def surface(rows):
    words = [form for form, *_ in rows]
    return " ".join(words if len(words) < 5 else [*words[:2], words[2] + words[3], words[4]]) + " ."


def lists(references, rng):
    """An n-best list for each reference: itself, and others with exchanged words and the verb elsewhere."""
    lines = []
    for segment, reference in enumerate(references):
        *words, end = reference.split()
        for hypothesis in dict.fromkeys([" ".join(words[::-1]), " ".join(words), " ".join([words[-1], *words[:-1]])]):
            lines.append(f"{segment} ||| {hypothesis} {end} ||| LM0= {rng.uniform(-9, -3):.3f} ||| {-len(lines)}\n")
    return "".join(lines)


@pytest.fixture
def place(tmp_path):
    """A folder with a treebank of 50 sentences, pairs, lists, and the config, which works in `work`."""
    rng = random.Random(5)
    work = tmp_path / "work" / "en-de"
    work.mkdir(parents=True)
    (tmp_path / "configs").mkdir()
    (tmp_path / "work" / "german").mkdir()
    (work / "lists").mkdir()
    made = [sentence(rng) for _ in range(50)]
    (tmp_path / "bank.conllu").write_text("".join(conllu(rows) for rows, _ in made))
    pairs = [sentence(rng) for _ in range(80)]
    parts = {"train": pairs, "tune": pairs[:12], "test": [sentence(rng) for _ in range(12)]}
    for part, both in parts.items():
        (work / f"{part}.de").write_text("".join(f"{surface(rows)}\n" for rows, _ in both))
        (work / f"{part}.en").write_text("".join(f"{english}\n" for _, english in both))
    for part, name in (("tune", "plain.tune.3"), ("test", "n-grams.test")):
        (work / f"lists/{name}.nbest").write_text(lists((work / f"{part}.de").read_text().splitlines(), rng))
    text = (CONFIGS / "german.toml").read_text(encoding="utf-8")
    text = text.replace("randomisation = 100_000", QUICK).replace("seed = 1", "seed = 1\njobs = 1")
    (tmp_path / "configs/made.toml").write_text(with_options(text).replace('"de"', '"eo"'), encoding="utf-8")
    done("trees", "surface", tmp_path / "bank.conllu", "-o", tmp_path / "work/german/trees.conllu")
    return tmp_path


def with_options(text):
    """The config with options that make its models small."""
    head, *models = text.split("[[model]]")
    for number, model in enumerate(models):
        kind = tomllib.loads(model.partition("\n[[")[0])["train"]
        options = {name: value for name, value in SMALL.get(kind, {}).items() if f"{name} =" not in model}
        more = ", ".join(f"{name} = {value}" for name, value in options.items())
        if more and "options = {" in model:
            models[number] = model.replace("options = {", f"options = {{ {more},", 1)
        elif more:
            models[number] = model.replace("\noutput", f"\noptions = {{ {more} }}\noutput", 1)
    return "[[model]]".join([head, *models])


@pytest.mark.release
def test_a_made_language_runs_to_the_end(place):
    """Every model is trained from the treebank and the pairs; lists are reranked with features of all families."""
    config = place / "configs/made.toml"
    models = config.read_text(encoding="utf-8").count("[[model]]")
    assert f"trained {models} models of {models}" in done("prepare", config).err
    report = done("run", config, "--work", place / "out").out
    assert "without syntax" in report
    assert "reranked" in report
    weights = (place / "out/weights.toml").read_text()
    for label in ("dependency-lm", "treelet-lm", "hhmm-lm", "svs-similarity"):
        assert label in weights

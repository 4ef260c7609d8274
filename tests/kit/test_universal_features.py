"""Features of constituents made from dependencies: marks on German trees made by hand, and grammars of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from rerank_adapters.cli.commands import program
from rerank_plugins import ConfigError, Tree
from rerank_plugins.constituency.language_model import PcfgLanguageModel
from rerank_plugins.constituency.model_file import read_grammar
from rerank_plugins.hhmm.language_model import HhmmLanguageModel
from rerank_plugins.kit.trees.dependency_constituents import Conversion
from rerank_plugins.kit.trees.features import universal_features
from rerank_plugins.kit.trees.inflection import Inflection, learn_inflection
from rerank_plugins.kit.trees.treebank_cleaning import category, clean, relabel

# Features, and the words of a sentence: form, UPOS, relation, head and FEATS. Then the marked tree.
MARKED = [
    # Number goes from words to the subject, and to the verb.
    (
        "number",
        "die/DET/det/2/Number=Plur Senatoren/NOUN/nsubj/3/Number=Plur lachen/VERB/root/0/Number=Plur",
        "(VERB.root=pl (NOUN.nsubj-pl (DET.det-pl (DET-pl die)) (NOUN-pl Senatoren)) (VERB-pl lachen))",
    ),
    # The auxiliary says the number of the clause, whatever its place.
    (
        "number",
        "er/PRON/nsubj/3/Number=Sing|Person=3 ist/AUX/aux/3/Number=Sing gekommen/VERB/root/0",
        "(VERB.root=sg (PRON.nsubj-sg (PRON-sg er)) (AUX.aux-sg (AUX-sg ist)) (VERB gekommen))",
    ),
    # Verbs show the first and the second person.
    (
        "number",
        "ich/PRON/nsubj/2/Number=Sing|Person=1 lache/VERB/root/0/Number=Sing|Person=1",
        "(VERB.root=1 (PRON.nsubj-1 (PRON-1 ich)) (VERB-1 lache))",
    ),
    # Two joined subjects are plural.
    (
        "number",
        "Ann/PROPN/nsubj/4/Number=Sing und/CCONJ/cc/3 Bo/PROPN/conj/1/Number=Sing singen/VERB/root/0/Number=Plur",
        "(VERB.root=pl (PROPN.nsubj-pl (PROPN-sg Ann) (PROPN.conj=sg (CCONJ.cc (CCONJ und)) (PROPN-sg Bo))) (VERB-pl singen))",
    ),
    # Coordinated verbs share the subject, so that the second one hands its number to the clause of the first.
    (
        "number",
        "er/PRON/nsubj/2/Number=Sing|Person=3 singt/VERB/root/0/Number=Sing und/CCONJ/cc/4 lacht/VERB/conj/2/Number=Sing",
        "(VERB.root=sg (PRON.nsubj-sg (PRON-sg er)) (VERB-sg singt) (VERB.conj-sg (CCONJ.cc (CCONJ und)) (VERB-sg lacht)))",
    ),
    # A relative clause whose pronoun is its subject stands beside a noun of its number.
    (
        "number,relative",
        "Leute/NOUN/root/0/Number=Plur die/PRON/nsubj/3/Number=Plur|PronType=Rel lachen/VERB/acl:relcl/1/Number=Plur",
        "(NOUN.root=pl (NOUN-pl Leute) (VERB.acl-pl (PRON.nsubj-rel-pl (PRON-rel-pl die)) (VERB-pl lachen)))",
    ),
    # The number of any other relative clause is a matter of its own, also where the verb is last.
    (
        "number,relative",
        "Leute/NOUN/root/0/Number=Plur die/PRON/obj/4/Number=Plur|PronType=Rel er/PRON/nsubj/4/Number=Sing "
        "mag/VERB/acl:relcl/1/Number=Sing",
        "(NOUN.root=pl (NOUN-pl Leute) (VERB.acl=sg (PRON.obj-rel=pl (PRON-rel-pl die)) (PRON.nsubj-sg (PRON-sg er)) (VERB-sg mag)))",
    ),
    # So is that of an object; determiner and noun agree in gender.
    (
        "number,gender",
        "sie/PRON/nsubj/2/Number=Plur sehen/VERB/root/0/Number=Plur den/DET/det/4/Gender=Masc|Number=Sing "
        "Vater/NOUN/obj/2/Gender=Masc|Number=Sing",
        "(VERB.root=pl (PRON.nsubj-pl (PRON-pl sie)) (VERB-pl sehen) "
        "(NOUN.obj=masc=sg (DET.det-masc-sg (DET-masc-sg den)) (NOUN-masc-sg Vater)))",
    ),
    # A determiner shows its case, and whoever owns the thing has no part in its number.
    (
        "number,case",
        "mein/DET/det:poss/2/Case=Nom|Number=Sing|Person=1 Hund/NOUN/nsubj/3/Case=Nom|Number=Sing "
        "bellt/VERB/root/0/Number=Sing",
        "(VERB.root=sg (NOUN.nsubj-sg (DET.det-nom-sg (DET-nom-sg mein)) (NOUN-sg Hund)) (VERB-sg bellt))",
    ),
    # The plural has no gender. A predicate agrees by its copula.
    (
        "number,gender",
        "die/DET/det/2/Gender=Masc|Number=Plur Väter/NOUN/nsubj/4/Gender=Masc|Number=Plur "
        "sind/AUX/cop/4/Number=Plur alt/ADJ/root/0",
        "(ADJ.root=pl (NOUN.nsubj-pl (DET.det-pl (DET-pl die)) (NOUN-pl Väter)) (AUX.cop-pl (AUX-pl sind)) (ADJ alt))",
    ),
]


def conllu(text: str) -> str:
    """A sentence as CoNLL-U."""
    rows = []
    for number, word in enumerate(text.split(), 1):
        form, tag, relation, head, *feats = word.split("/")
        rows.append("\t".join([str(number), form, "_", tag, "_", *(feats or ["_"]), head, relation, "_", "_"]))
    return "\n".join(rows) + "\n\n"


def constituents(text: str, inflection: Inflection | None = None) -> Tree:
    """The constituents of a sentence, whose words bear FEATS."""
    known = learn_inflection([]) if inflection is None else inflection
    (tree,) = Conversion(inflection=known).read(conllu(text).splitlines())
    cleaned = clean(tree)
    assert cleaned is not None
    return cleaned.subtrees[0]


@pytest.mark.parametrize(("features", "text", "marked"), MARKED)
def test_marks_of_german_trees_made_by_hand(features: str, text: str, marked: str) -> None:
    rules = universal_features().chosen(features.split(","))
    tree = constituents(text)
    assert str(rules.mark(tree)) == marked
    assert relabel(rules.mark(tree), category) == relabel(tree, category)


NOUNS = [("Hund", "Hunde"), ("Freund", "Freunde"), ("König", "Könige"), ("Brief", "Briefe"), ("Stein", "Steine")]
VERBS = [("bellt", "bellen"), ("singt", "singen"), ("lacht", "lachen"), ("fällt", "fallen"), ("steht", "stehen")]


def written(folder: Path, *, with_feats: bool = True) -> tuple[Path, Path]:
    """A treebank of subjects that agree with their verbs, and trees of a parser without FEATS."""
    sentences, parsed = [], []
    for plural in (False, True):
        feats = ("/Number=Plur" if plural else "/Number=Sing") if with_feats else ""
        for noun in NOUNS:
            for verb in VERBS:
                words = f"{'die' if plural else 'der'}/DET/det/2{{0}} {noun[plural]}/NOUN/nsubj/3{{0}} {verb[plural]}/VERB/root/0{{0}}"
                sentences.append(conllu(words.format(feats) + " ./PUNCT/punct/3"))
                parsed.append(conllu(words.format("").replace(noun[plural], "Wagen") + " ./PUNCT/punct/3"))
    gold, text = folder / "gold.conllu", folder / "parsed.conllu"
    gold.write_text("".join(sentences), encoding="utf-8")
    text.write_text("".join(parsed), encoding="utf-8")
    return gold, text


@pytest.mark.parametrize(
    ("kind", "model", "features"),
    [
        ("hhmm", HhmmLanguageModel, "all"),
        ("grammar", PcfgLanguageModel, "number"),
        ("grammar", PcfgLanguageModel, "all"),
    ],
)
def test_models_of_marked_dependencies_agree(tmp_path: Path, kind: str, model, features: str) -> None:  # type: ignore[no-untyped-def]
    gold, text = written(tmp_path)
    out = tmp_path / "model.pcfg"
    arguments = ["train", kind, str(gold), str(text), "--language", "de", "--splits", "1", "--features", features]
    result = CliRunner().invoke(program(), [*arguments, "-o", str(out)])
    assert result.exit_code == 0, result.output
    grammar = read_grammar(out)
    assert grammar.totals() == pytest.approx(1.0)
    assert {"NOUN.nsubj-pl", "NOUN.nsubj-sg"} <= {name.partition("^")[0] for name in grammar.symbols}
    pairs = [
        ((*subject, verb[plural], "."), (*subject, verb[not plural], "."))
        for plural in (False, True)
        for verb in VERBS
        for subject in (("die" if plural else "der", NOUNS[0][plural]), ("die" if plural else "der", "Wagen"))
    ]
    good, bad = (model(model=out).totals([pair[side] for pair in pairs]) for side in (0, 1))
    assert (good > bad).all()


def test_features_of_dependencies_without_feats_are_an_error(tmp_path: Path) -> None:
    gold, _ = written(tmp_path, with_feats=False)
    arguments = ["train", "grammar", str(gold), "--language", "de", "--features", "number", "-o", str(tmp_path / "x")]
    result = CliRunner().invoke(program(), arguments)
    assert isinstance(result.exception, ConfigError)
    assert "no noun or pronoun has any" in str(result.exception)

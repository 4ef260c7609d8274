"""Classes in the dependency language model: what they are learnt from, the twin, sums, the paper's model, files."""

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rerank_plugins import ConfigError, ModelError
from rerank_plugins.core.dependency_tree import DependencyTree
from rerank_plugins.core.logarithms import LN10
from rerank_plugins.dependency.ancestor_paths import TreeCollector
from rerank_plugins.dependency.form_features import joined_features, read_features
from rerank_plugins.dependency.model import Settings, read_model, train, write_model
from rerank_plugins.dependency.word_classes import learn_classes
from rerank_plugins.kit.backoff.tables import LOG_ZERO
from tests.command_line import done, refused
from tests.dependency.naive_class_model import NaiveClassModel
from tests.dependency.test_dependency_lm import random_trees, tree

TAGS = {"a": "NOUN", "b": "NOUN", "c": "VERB", "d": "DET", "e": "AUX", "f": "NOUN"}
FEATURES = {
    ("a", "NOUN"): Counter({"Number=Sing": 30}), ("b", "NOUN"): Counter({"Number=Plur": 30}),
    ("c", "VERB"): Counter({"VerbForm=Fin": 30}),
}  # fmt: skip
LABELS = ("nsubj", "aux", "det", "obj")


def tagged(each):
    return replace(each, tags=tuple(TAGS.get(word, "_") for word in each.words))


labelled_trees = random_trees("abcde", LABELS)
forests = st.lists(st.builds(tagged, labelled_trees), min_size=1, max_size=10)


def trained(trees, features=FEATURES, **options):
    collector = TreeCollector(tagged=True)
    collector.add(trees)
    options = {"order": 3, "smoothing": "kneser-ney", "min_count": 1, "classes": True, **options}
    return train(collector, Settings(**options), features=features, jobs=1)


def class_name(model, word):
    return model.classes.lexicon.names[model.classes.class_of[model._word_number[word]]]


def twin(model, trees, words):
    class_of = {word: class_name(model, word) for word in words}
    lexicon = model.classes.lexicon
    types = dict(zip(lexicon.names, model.classes.unknown_types.tolist(), strict=True))
    return NaiveClassModel(trees, model.settings.order, class_of, set(model.vocabulary.words[1:]), types, lexicon.names)


@pytest.mark.slow
@given(trees=forests, asked=random_trees("abcdef", LABELS), order=st.integers(2, 5), cut=st.integers(1, 3))
def test_probabilities_agree_with_the_twin(trees, asked, order, cut):
    check_against_the_twin(trees, asked, order, cut)


@pytest.mark.parametrize(("order", "cut"), [(2, 1), (3, 2), (4, 1)])
def test_an_example_agrees_with_the_twin(order, cut):
    """Auxiliaries before and after the subject, two of one head, words below others than the root, a new word."""
    trees = [
        tagged(tree(text))
        for text in (
            "d/2/det a/4/nsubj e/4/aux c/0/root b/4/obj",
            "e/4/aux d/3/det b/4/nsubj c/0/root",
            "a/2/nsubj c/0/root d/4/det b/2/obj a/4/obj",
            "b/4/nsubj e/4/aux e/4/aux c/0/root a/4/obj",
            "c/0/root d/3/det a/1/obj",
        )
    ]
    check_against_the_twin(trees, tree("d/2/det f/4/nsubj e/4/aux c/0/root a/4/obj b/5/obj"), order, cut)


def check_against_the_twin(trees, asked, order, cut):
    model = trained(trees, order=order, min_count=cut)
    naive = twin(model, trees, "abcdef")
    for each in [*trees[:5], asked]:
        for p, ln_p in zip(naive.word_probabilities(each), model.score([each])[0], strict=True):
            if p > 0:
                assert ln_p == pytest.approx(math.log(p), abs=1e-5)
            else:  # where the discounts of few events are 0, nothing is left for others
                assert ln_p < LN10 * (LOG_ZERO + 1)


@given(forests, st.integers(2, 4), st.integers(1, 3))
@settings(max_examples=30)
def test_words_and_the_unknown_words_of_classes_sum_to_one_at_every_node(trees, order, cut):
    model = trained(trees, order=order, min_count=cut)
    forest = model._forest(trees)
    symbols, types = len(model.classes.class_of), np.exp(model._ln_types)
    for i in range(len(forest.words)):
        total = 0.0
        for symbol in range(symbols):
            words = forest.words.copy()
            words[i] = symbol
            total += types[symbol] * math.exp(model._scores(replace(forest, words=words))[i])
        assert total == pytest.approx(1, abs=1e-5)


@given(st.lists(random_trees("abcde", "x"), min_size=1, max_size=10), st.integers(2, 5))
def test_without_classes_it_is_the_model_of_the_paper(trees, order):
    """All words in one class, and one label: the chain is that of the paper, and so is every ln p."""
    plain = [replace(each, tags=("X",) * len(each.words)) for each in trees]
    model = trained(plain, features={}, order=order)
    collector = TreeCollector()
    collector.add(trees)
    paper = train(collector, Settings(order=order, smoothing="kneser-ney", min_count=1), jobs=1)
    assert len(model.classes.lexicon) == 1
    for with_class, without in zip(model.score(trees), paper.score(trees), strict=True):
        np.testing.assert_allclose(with_class, without, rtol=0, atol=1e-6)


@given(trees=forests, asked=random_trees("abcdef", LABELS), prune=st.sampled_from([(), (0, 1), (0, 0, 1)]))
@settings(max_examples=50)
def test_no_tree_scores_below_the_floor_of_its_words(trees, asked, prune):
    model = trained(trees, prune=prune, min_count=2)
    for each in [*trees[:3], asked]:
        assert (model.score([each])[0] >= model.floor(each.words) - 1e-9).all()


def sentence(text):
    """`the/DET/2/det dog/NOUN/3/nsubj …`: word, tag, head from 1, label."""
    words, tags, heads, labels = zip(*(token.split("/") for token in text.split()), strict=True)
    return DependencyTree(words, tuple(int(head) - 1 for head in heads), labels, tags)


NOUNS = [("dog", "dogs"), ("girl", "girls"), ("king", "kings"), ("author", "authors")]
VERBS = [("barks", "bark"), ("sings", "sing"), ("waits", "wait"), ("laughs", "laugh")]
INFLECTED = [
    sentence(f"the/DET/2/det {noun}/NOUN/3/nsubj {verb}/VERB/0/root")
    for i, nouns in enumerate(NOUNS)
    for j, verbs in enumerate(VERBS)
    if i + j < 6  # authors never laugh
    for noun, verb in zip(nouns, verbs, strict=True)
] + [sentence(f"to/PART/2/mark {verb}/VERB/0/root") for _, verb in VERBS]
NUMBER = {
    **{(word, "NOUN"): Counter({f"Number={n}": 9}) for pair in NOUNS for word, n in zip(pair, ("Sing", "Plur"), strict=True)},
    **{(word, "VERB"): Counter({"Number=Sing|Person=3": 9}) for word, _ in VERBS},
    **{(word, "VERB"): Counter({"Number=Plur|Person=3": 5, "VerbForm=Inf": 5}) for _, word in VERBS},
}  # fmt: skip


def of(subject, verb):
    return sentence(f"the/DET/2/det {subject}/NOUN/3/nsubj {verb}/VERB/0/root")


def test_agreement_of_words_that_were_never_seen_together():
    model = trained(INFLECTED, NUMBER)
    paper = trained(INFLECTED, classes=False)

    def gain(model, good, bad):
        return model.totals([of(*good)])[0] - model.totals([of(*bad)])[0]

    for good, bad in [
        (("authors", "laugh"), ("author", "laugh")), (("author", "laughs"), ("authors", "laughs")),
    ]:  # fmt: skip
        assert gain(model, good, bad) > 0.5
        assert gain(paper, good, bad) == pytest.approx(0, abs=0.5)


def test_the_auxiliary_is_inflected_for_its_verb():
    """*has arrived* and *have arrived*: the subject sees the class of the auxiliary."""
    trees = [
        sentence(f"the/DET/2/det {noun}/NOUN/4/nsubj {aux}/AUX/4/aux arrived/VERB/0/root")
        for nouns in NOUNS[:3]
        for noun, aux in zip(nouns, ("has", "have"), strict=True)
    ]
    model = trained([*trees, *trees, *INFLECTED], NUMBER)
    assert class_name(model, "has") == "has"

    def total(noun, aux):
        return model.totals([sentence(f"the/DET/2/det {noun}/NOUN/4/nsubj {aux}/AUX/4/aux arrived/VERB/0/root")])[0]

    assert total("author", "has") - total("authors", "has") > 0.5
    assert total("authors", "have") - total("author", "have") > 0.5


def test_classes_are_those_of_forms():
    model = trained(INFLECTED, NUMBER)
    assert class_name(model, "author") == class_name(model, "dog") == "NOUN Number=Sing"
    assert class_name(model, "authors") == "NOUN Number=Plur"
    assert class_name(model, "laughs") == "VERB Number=Sing|Person=3"
    assert class_name(model, "laugh") == class_name(model, "bark")  # plural and infinitive are one
    assert class_name(model, "the") == "the"
    assert "queens" not in model


def test_a_form_that_the_trees_lack_has_the_class_of_its_ending():
    tags = {f"{stem}{end}": {"NOUN": 1} for stem in ("Mot", "Fakt", "Dokt", "Rekt") for end in ("or", "oren")}
    number = {(w, "NOUN"): Counter({f"Number={'Plur' if w.endswith('en') else 'Sing'}": 40}) for w in tags}
    lexicon = learn_classes(tags, number, ("<unk>", "Motor"))
    assert lexicon.names[lexicon.of_unknown("Senatoren")] == "NOUN Number=Plur"
    assert lexicon.names[lexicon.of_unknown("Senator")] == "NOUN Number=Sing"


def test_a_rare_form_has_its_own_class_where_its_ending_has_another():
    tags = {f"{letter}ats": {"NOUN": 2} for letter in "bchmr"} | {"news": {"NOUN": 2}, "is": {"AUX": 9}}
    number = {(w, "NOUN"): Counter({f"Number={'Sing' if w == 'news' else 'Plur'}": 40}) for w in tags}
    lexicon = learn_classes(tags, number, ("<unk>", "is"))
    assert lexicon.names[lexicon.of_unknown("news")] == "NOUN Number=Sing"
    assert lexicon.names[lexicon.of_unknown("gnats")] == "NOUN Number=Plur"
    assert lexicon.rare == ("<unk>", "news")


def test_every_form_counts_alike_in_its_endings():
    """One frequent singular, with three rarer plurals beside it: *-ats* is the ending of plurals."""
    seen = {"lats": ("Sing", 999), "bats": ("Plur", 20), "cats": ("Plur", 30), "hats": ("Plur", 20)}
    features = {(form, "NOUN"): Counter({f"Number={number}": count}) for form, (number, count) in seen.items()}
    tags = {form: {"NOUN": 1} for form in (*seen, "rats")}
    lexicon = learn_classes(tags, features, ("<unk>", "rats", "lats"))
    assert [lexicon.names[number] for number in lexicon.of_word[1:]] == ["NOUN Number=Plur", "NOUN Number=Sing"]


def test_features_that_forms_do_not_distinguish_are_joined():
    joined = joined_features(NUMBER)
    assert (
        joined["VERB", "VerbForm=Inf"]
        == joined["VERB", "Number=Plur|Person=3"]
        != joined["VERB", "Number=Sing|Person=3"]
    )
    assert joined["NOUN", "Number=Sing"] != joined["NOUN", "Number=Plur"]


def test_features_are_read_from_feats_or_xpos(tmp_path):
    rows = [
        "1\tThey\tthey\tPRON\tPRP\tCase=Nom|Number=Plur|PronType=Prs\t2\tnsubj\t_\t_",
        "2\twent\tgo\tVERB\tVBD\t_\t0\troot\t_\t_", "3\tby\t_\tADP\t_\t_\t2\tadvmod\t_\t_",
    ]  # fmt: skip
    (tmp_path / "bank.conllu").write_text("\n".join(rows) + "\n\n", encoding="utf-8")
    assert read_features([tmp_path / "bank.conllu"], str.lower) == {
        ("they", "PRON"): {"Case=Nom|Number=Plur": 1}, ("went", "VERB"): {"VBD": 1},
    }  # fmt: skip


@pytest.mark.parametrize("compact", [False, True])
def test_save_and_load_are_identities(tmp_path, compact):
    model = trained(INFLECTED, NUMBER)
    write_model(model, tmp_path / "a.deplm", compact=compact)
    found = read_model(tmp_path / "a.deplm")
    assert found.settings == model.settings
    asked = [*INFLECTED, of("queens", "dances")]
    np.testing.assert_allclose(found.totals(asked), model.totals(asked), atol=0.5 if compact else 0)
    again = tmp_path / "b.deplm"
    write_model(found, again, compact=compact)
    assert again.read_bytes() == (tmp_path / "a.deplm").read_bytes()


def test_tables_of_another_vocabulary_are_damage(tmp_path):
    model, other = trained(INFLECTED, NUMBER), trained(INFLECTED[:2], NUMBER)
    write_model(replace(model, tables=other.tables), tmp_path / "a.deplm")
    with pytest.raises(ModelError, match="damaged dependency language model"):
        read_model(tmp_path / "a.deplm")


def test_unknown_types_of_a_model_are_divided_in_proportion():
    model = trained(INFLECTED, NUMBER, min_count=7)
    assert model.unknown_types == model.classes.unknown_types.sum()
    undivided = replace(model, unknown_types=1)
    assert undivided.totals([of("queens", "laugh")])[0] >= model.totals([of("queens", "laugh")])[0]
    assert (undivided._ln_types == 0).all()


def test_settings_that_classes_do_not_go_with():
    for options, message in [
        ({"smoothing": "stupid-backoff"}, "kneser-ney"), ({"labelled": False}, "labelled"), ({"order": 1}, "order 2 or more"),
    ]:  # fmt: skip
        with pytest.raises(ConfigError, match=message):
            Settings(**{"order": 3, "smoothing": "kneser-ney", "classes": True, **options})


BANK = """1	dogs	dog	NOUN	NNS	Number=Plur	2	nsubj	_	_
2	bark	bark	VERB	VBP	Number=Plur|Person=3|VerbForm=Fin	0	root	_	_

1	dog	dog	NOUN	NN	Number=Sing	2	nsubj	_	_
2	barks	bark	VERB	VBZ	Number=Sing|Person=3|VerbForm=Fin	0	root	_	_

"""


def test_training_by_command(tmp_path):
    """The features are those of the treebanks among the files, or of --tagged."""
    gold, parsed = tmp_path / "gold.conllu", tmp_path / "parsed.conllu"
    gold.write_text(BANK * 40, encoding="utf-8")
    bare = [
        "\t".join([*row.split("\t")[:4], "_", "_", *row.split("\t")[6:]]) if row else "" for row in BANK.split("\n")
    ]
    parsed.write_text("\n".join(bare), encoding="utf-8")
    options = ("--classes", "--smoothing", "kneser-ney", "--order", "3", "--language", "en", "-o", tmp_path / "m.deplm")
    said = done("train", "dependency-lm", gold, "--min-count", "1", *options).err
    assert "4 classes" in said
    with_features = read_model(tmp_path / "m.deplm")
    done("train", "dependency-lm", parsed, "--min-count", "1", "--tagged", gold, *options)
    assert read_model(tmp_path / "m.deplm").classes.lexicon.names == with_features.classes.lexicon.names
    assert "no treebank among the files has features" in refused("train", "dependency-lm", parsed, *options)
    assert "a model with classes has kneser-ney" in refused("train", "dependency-lm", gold, "--classes", *options[-4:])
    assert "only a model with --classes" in refused("train", "dependency-lm", gold, "--tagged", gold, *options[-4:])


def test_trees_by_heads_alone_still_train():
    """Trees without tags have one class of open words."""
    bare = [tree("the/2/det dog/3/nsubj barks/0/root"), tree("it/2/nsubj barks/0/root")]
    model = trained(bare, features={})
    assert model.classes.lexicon.names == ("_",)
    assert np.isfinite(model.totals(bare)).all()

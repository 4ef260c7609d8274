"""Pseudo-negative examples: forms of words, one error in a sentence, samples, decoder output, the commands."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerank_adapters.applications.negatives.errors import error_inserter, noisy_pairs, parse_kinds
from rerank_adapters.applications.negatives.inserted_errors import (
    KINDS,
    Edit,
    ErrorInserter,
    disagreements,
    one_edit_away,
)
from rerank_adapters.applications.negatives.samples import samples_of_lengths
from rerank_adapters.applications.negatives.word_forms import WordForms, s_form, suffixed
from rerank_adapters.data.minimal_pairs import read_pairs
from rerank_plugins import ConfigError
from rerank_plugins.core.dependency_tree import DependencyTree
from tests.applications import naive_acceptability as naive
from tests.command_line import done, refused
from tests.conftest import ROOT

MT = ROOT / "example_nbest" / "mt"
TEXT = (
    2
    * """\
the dog barks and the dogs bark ; a dog barked while dogs were barking
one child plays , two children play , the child played and was playing
he sees this house and those houses ; she saw it ; we see them ; they have seen it and are seeing it
the cat stops ; cats stop ; it stopped ; stopping cats ; a man and men try , tries , tried , trying
the news is new ; each box is in boxes ; they hurt himself themselves ; I was there""".splitlines()
)


FORMS = WordForms.of_text(line.split() for line in TEXT)


@pytest.fixture(scope="module")
def forms():
    return FORMS


@pytest.mark.parametrize(
    ("base", "third", "past", "present"),
    [
        ("walk", "walks", "walked", "walking"), ("try", "tries", "tried", "trying"), ("play", "plays", "played", "playing"),
        ("stop", "stops", "stopped", "stopping"), ("make", "makes", None, "making"), ("agree", "agrees", "agreed", "agreeing"),
        ("die", "dies", "died", "dying"), ("wash", "washes", "washed", "washing"), ("fix", "fixes", "fixed", "fixing"),
        ("hope", "hopes", "hoped", "hoping"),
    ],
)  # fmt: skip
def test_spelling_before_endings(base, third, past, present):
    assert s_form(base) == third
    assert past is None or past in suffixed(base, "ed")
    assert present in suffixed(base, "ing")


def test_forms_are_those_that_the_text_attests(forms):
    assert forms.others("dog", "NOUN") == ("dogs",)
    assert forms.others("children", "NOUN") == ("child",)
    assert forms.others("bark", "VERB") == ("barked", "barking", "barks")
    assert forms.others("saw", "VERB") == ("see", "seeing", "seen", "sees")
    assert forms.others("stopped", "VERB") == ("stop", "stopping", "stops")
    assert forms.others("house", "VERB") == (), "no `housed` in the text"
    assert forms.others("the") == ()
    assert forms.others("plays") == ("play", "played", "playing")
    assert forms.plural["man"] == "men"
    assert forms.plural["box"] == "boxes"
    assert "woman" not in forms.plural, "not in the text"
    once = WordForms.of_text([["dog", "dogs", "dogs"]])
    assert not once.attested("dog"), "seen once"


@pytest.mark.parametrize("word", ["a", "at", "aqt", "tat"])
def test_one_edit_away(word):
    near, letters = naive.one_edit_away(word)
    assert {other for other in one_edit_away(word) if set(other) <= letters} == near


def tree(*rows):
    """Words with their heads (from 1; 0: the root), relations and tags."""
    words, heads, relations, tags = zip(*(row.split() for row in rows), strict=True)
    return DependencyTree(words, tuple(int(head) - 1 for head in heads), relations, tags)


def test_agreement_of_verb_determiner_and_reflexive(forms):
    dogs = tree("Dogs 2 nsubj NOUN", "bark 0 root VERB")
    assert disagreements(dogs, forms) == [(1, ("barks",))]
    he = tree("He 2 nsubj PRON", "sees 0 root VERB", "this 4 det DET", "house 2 obj NOUN")
    assert disagreements(he, forms) == [(1, ("see",)), (2, ("these",))]
    aux = tree("The 2 det DET", "men 4 nsubj NOUN", "were 4 aux AUX", "trying 0 root VERB")
    assert disagreements(aux, forms) == [(2, ("was",))]
    modal = tree("He 3 nsubj PRON", "can 3 aux AUX", "see 0 root VERB")
    assert disagreements(modal, forms) == [], "after a modal no verb agrees"
    past = tree("He 2 nsubj PRON", "tried 0 root VERB")
    assert disagreements(past, forms) == []
    mine = tree("I 2 nsubj PRON", "was 3 cop AUX", "there 0 root ADV")
    assert disagreements(mine, forms) == [], "`I were` would do"
    each = tree("each 2 det DET", "box 0 root NOUN")
    assert disagreements(each, forms) == [(1, ("boxes",))]
    two = tree("two 2 nummod NUM", "children 0 root NOUN")
    assert disagreements(two, forms) == [(1, ("child",))]
    ((place, others),) = disagreements(tree("They 2 nsubj PRON", "hurt 0 root VERB", "himself 2 obj PRON"), forms)
    assert place == 2
    assert "themselves" in others
    assert "himself" not in others


sentences = st.lists(
    st.sampled_from(sorted({word for line in TEXT for word in line.split()} | {",", "X1"})), max_size=9
)


@given(sentences, st.sampled_from([*KINDS, None]), st.integers(0, 2**32))
def test_an_error_is_one_edit_and_says_which(sentence, kind, seed):
    inserter = ErrorInserter(FORMS, {kind: 1.0} if kind else dict.fromkeys(KINDS, 1.0))
    edit = inserter.insert(sentence, np.random.default_rng(seed))
    if edit is None:
        assert kind is not None or not any(word.isalpha() for word in sentence)
        return
    assert edit == inserter.insert(sentence, np.random.default_rng(seed)), "the same error for the same seed"
    made = edit.apply(sentence)
    assert made != tuple(sentence)
    assert kind in (None, edit.kind)
    if edit.kind == "missing":
        assert edit.position > 0
        assert (*made[: edit.position], edit.before, *made[edit.position :]) == tuple(sentence)
    elif edit.kind == "extra":
        assert edit.position > 0
        assert [*made[: edit.position], *made[edit.position + 1 :]] == sentence
        assert FORMS.counts[edit.after.lower()]
    else:
        assert sentence[edit.position] == edit.before
        assert made[edit.position] == edit.after
        assert [w for i, w in enumerate(made) if i != edit.position] == [
            w for i, w in enumerate(sentence) if i != edit.position
        ]
        assert edit.before[:1].isupper() == edit.after[:1].isupper()
        assert FORMS.attested(edit.after.lower()) == (edit.kind != "non-word")


def test_kinds_come_in_the_shares_that_are_asked_for(forms):
    inserter = error_inserter([line.split() for line in TEXT], ["missing=3", "non-word"])
    rng = np.random.default_rng(5)
    kinds = Counter(edit.kind for _ in range(2000) if (edit := inserter.insert(TEXT[0].split(), rng)))
    assert kinds["missing"] / 2000 == pytest.approx(0.75, abs=0.04)
    assert set(kinds) == {"missing", "non-word"}


def test_misspellings_of_real_words_follow_their_counts():
    forms_ = WordForms.of_text([["cat"] * 2, ["cot"] * 30, ["cut"] * 10])
    inserter = ErrorInserter(forms_, {"real-word": 1})
    rng = np.random.default_rng(1)
    found = Counter(edit.after for _ in range(2000) if (edit := inserter.insert(["Cat"], rng)))
    assert found["Cot"] / found["Cut"] == pytest.approx(3, rel=0.15)


def test_a_kind_without_a_place_is_drawn_again(forms):
    inserter = ErrorInserter(forms, {"agreement": 1000.0, "missing": 1.0})
    edit = inserter.insert(["the", "dog"], np.random.default_rng(1))
    assert edit == Edit("missing", 1, "dog", "")
    assert inserter.insert([",", "!"], np.random.default_rng(1)) is None


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        (["mising"], "kinds of errors {'mising': 1.0}: wanted proportions above 0 of missing, extra"),
        (["missing=x"], "--kind 'missing=x': wanted KIND or KIND=SHARE"),
        (["missing=0"], "wanted proportions above 0"),
        (["missing=2", "extra=-1"], "wanted proportions above 0"),
    ],
)
def test_unknown_kinds(given_, message):
    with pytest.raises(ConfigError) as caught:
        error_inserter([["a"]], given_)
    assert message in str(caught.value)
    assert parse_kinds(["missing", "extra=0.5"]) == {"missing": 1.0, "extra": 0.5}


def test_pairs_remember_line_and_error(forms):
    made = list(
        noisy_pairs([(["the", "dog", "barks"], None), ([","], None)], ErrorInserter(forms), np.random.default_rng(3))
    )
    assert len(made) == 1, "nothing to do for a comma"
    assert (made[0].good, made[0].line) == ("the dog barks", 1)
    assert set(made[0].groups) == {"kind", "position", "before", "after"}
    assert int(made[0].groups["position"]) >= 1


def test_errors_on_the_command_line(tmp_path):
    text, out, again = tmp_path / "text.txt", tmp_path / "a.tsv", tmp_path / "b.tsv"
    text.write_text("\n".join(TEXT) + "\n\n")
    done("negatives", "errors", text, "--seed", "3", "-o", out)
    done("negatives", "errors", text, "--seed", "3", "-o", again)
    assert out.read_bytes() == again.read_bytes()
    pairs = read_pairs(out)
    assert [pair.good for pair in pairs] == TEXT
    assert "agreement" in {pair.groups["kind"] for pair in pairs}, "the parser gives agreement"
    done("negatives", "errors", text, "--seed", "4", "-o", again, "--parser", "none", "--kind", "wrong-form")
    assert {pair.groups["kind"] for pair in read_pairs(again)} == {"wrong-form"}
    assert "--kind: kinds of errors" in refused("negatives", "errors", text, "--kind", "typo", "-o", again)
    ran = done("acceptability", "pairs", out, "-f", "unigram", "--by", "kind")
    assert "by kind" in ran.out


def test_samples_have_the_lengths_of_the_text(tmp_path):
    out, text = tmp_path / "s.tsv", MT / "test.en"
    done("negatives", "samples", text, "-M", MT / "lm.arpa", "-o", out, "--seed", "2")
    pairs = read_pairs(out)
    lines = [line.split() for line in text.read_text().splitlines()]
    assert len(pairs) >= 0.95 * len(lines)
    assert all(len(pair.good.split()) == len(pair.bad.split()) == int(pair.groups["words"]) for pair in pairs)
    assert "300 words" in refused("negatives", "samples", "-M", MT / "lm.arpa", stdin="x " * 300)


def test_samples_of_a_length_have_the_distribution_of_the_model():
    """Sentences sorted by length, against those that the sampler makes of that length alone."""
    from rerank_plugins.ngram.model import NgramModel
    from rerank_plugins.ngram.sampling import NgramSampler

    found = samples_of_lengths({3: 3000, 4: 10}, MT / "lm.arpa", np.random.default_rng(1))
    assert (len(found[3]), len(found[4])) == (3000, 10)
    free = NgramSampler(NgramModel.load(MT / "lm.arpa"), 3, 3).sample(3000, np.random.default_rng(9))
    first, other = Counter(words[0] for words in found[3]), Counter(words[0] for words in free)
    for word, count in other.most_common(5):
        assert first[word] == pytest.approx(count, abs=5 * count**0.5)


def test_decoder_output_beside_references(tmp_path):
    out = tmp_path / "d.tsv"
    done("negatives", "nbest", MT / "test.nbest", "-r", MT / "test.en", "-o", out)
    references = MT.joinpath("test.en").read_text().splitlines()
    pairs = read_pairs(out)
    assert 0 < len(pairs) <= len(references)
    for pair in pairs:
        assert pair.good == references[int(pair.groups["segment"])]
        assert pair.bad != pair.good

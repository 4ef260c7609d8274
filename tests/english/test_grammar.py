"""Rules of grammar over dependency trees, on sentences that they must and must not find fault with."""

import numpy as np
import pytest

from rerank_adapters.formats.pairs import read_pairs
from rerank_plugins.core.dependency_tree import DependencyTree, write_conllu
from rerank_plugins.core.interfaces import Parse, Parser
from rerank_plugins.english.english_lexicon import english
from rerank_plugins.english.frame_counts import VERB_COUNTS, Counts
from rerank_plugins.english.grammar_violations import GrammarViolationsFeature
from rerank_plugins.english.minimal_pairs import KINDS, PairMaker
from rerank_plugins.english.rules.violations import VALUES, grammar_values
from rerank_plugins.english.word_forms import VerbForms, noun_numbers, verb_paradigms
from tests.command_line import done, refused


def tree(text):
    """A tree written as `word/TAG/relation/head …`, heads from 1 (0: the root); a full stop is added."""
    words, tags, relations, heads = zip(*(token.rsplit("/", 3) for token in text.split()), strict=True)
    words, tags, relations, heads = (
        (*words, "."),
        (*tags, "PUNCT"),
        (*relations, "punct"),
        (*heads, heads.index("0") + 1),
    )
    return DependencyTree(words, tuple(int(head) - 1 for head in heads), relations, tags)


def values(text):
    return dict(zip(VALUES, grammar_values(tree(text), english()), strict=True))


JUDGED = {
    "subject_verb": (
        "The/DET/det/2 sketch/NOUN/nsubj/6 of/ADP/case/4 lights/NOUN/nmod/2 does/AUX/aux/6 appear/VERB/root/0",
        "The/DET/det/2 sketch/NOUN/nsubj/6 of/ADP/case/4 lights/NOUN/nmod/2 do/AUX/aux/6 appear/VERB/root/0",
    ),
    "determiner_noun": (
        "these/DET/det/3 old/ADJ/amod/3 houses/NOUN/root/0",
        "this/DET/det/3 old/ADJ/amod/3 houses/NOUN/root/0",
    ),
    "reflexive_agreement": (
        "Mary/PROPN/nsubj/2 said/VERB/root/0 that/SCONJ/mark/5 Tom/PROPN/nsubj/5 hurt/VERB/ccomp/2 himself/PRON/obj/5",
        "Mary/PROPN/nsubj/2 said/VERB/root/0 that/SCONJ/mark/5 Tom/PROPN/nsubj/5 hurt/VERB/ccomp/2 herself/PRON/obj/5",
    ),
    "reflexive_place": (
        "Tom/PROPN/nsubj/2 said/VERB/root/0 that/SCONJ/mark/6 he/PRON/nsubj/6 was/AUX/aux/6 leaving/VERB/ccomp/2",
        "Tom/PROPN/nsubj/2 said/VERB/root/0 that/SCONJ/mark/6 himself/PRON/nsubj/6 was/AUX/aux/6 leaving/VERB/ccomp/2",
    ),
    "case": (
        "She/PRON/nsubj/3 has/AUX/aux/3 seen/VERB/root/0 them/PRON/obj/3",
        "She/PRON/nsubj/3 has/AUX/aux/3 seen/VERB/root/0 they/PRON/obj/3",
    ),
    "verb_form": (
        "He/PRON/nsubj/3 has/AUX/aux/3 hidden/VERB/root/0 it/PRON/obj/3",
        "He/PRON/nsubj/3 has/AUX/aux/3 hid/VERB/root/0 it/PRON/obj/3",
    ),
    "polarity": (
        "No/DET/det/2 man/NOUN/nsubj/5 has/AUX/aux/5 ever/ADV/advmod/5 come/VERB/root/0",
        "The/DET/det/2 man/NOUN/nsubj/8 that/PRON/obj/6 no/DET/det/5 girls/NOUN/nsubj/6 like/VERB/acl:relcl/2 "
        "ever/ADV/advmod/8 came/VERB/root/0",
    ),
    "existential": (
        "There/PRON/expl/2 was/VERB/root/0 a/DET/det/4 book/NOUN/nsubj/2",
        "There/PRON/expl/2 was/VERB/root/0 each/DET/det/4 book/NOUN/nsubj/2",
    ),
    "superlative": (
        "No/DET/det/2 girl/NOUN/nsubj/3 saw/VERB/root/0 more/ADJ/advmod/6 than/ADP/fixed/4 two/NUM/nummod/7 cats/NOUN/obj/3",
        "No/DET/det/2 girl/NOUN/nsubj/3 saw/VERB/root/0 at/ADP/case/5 least/ADJ/advmod/6 two/NUM/nummod/7 cats/NOUN/obj/3",
    ),
    "ellipsis": (
        "Ann/PROPN/nsubj/2 has/VERB/root/0 old/ADJ/amod/4 books/NOUN/obj/2 and/CCONJ/cc/7 he/PRON/nsubj/7 "
        "has/VERB/conj/2 two/NUM/obj/7",
        "Ann/PROPN/nsubj/2 has/VERB/root/0 books/NOUN/obj/2 and/CCONJ/cc/6 he/PRON/nsubj/6 "
        "has/VERB/conj/2 two/NUM/nummod/8 old/ADJ/obj/6",
    ),
    "expletive": (
        "There/PRON/expl/2 seemed/VERB/root/0 to/PART/mark/4 be/VERB/xcomp/2 a/DET/det/6 fish/NOUN/nsubj/4",
        "There/PRON/expl/2 tried/VERB/root/0 to/PART/mark/4 be/VERB/xcomp/2 a/DET/det/6 fish/NOUN/nsubj/4",
    ),
    "tough": (
        "Ann/PROPN/nsubj/3 is/AUX/cop/3 easy/ADJ/root/0 to/PART/mark/5 kiss/VERB/advcl/3",
        "Ann/PROPN/nsubj/3 is/AUX/cop/3 likely/ADJ/root/0 to/PART/mark/5 kiss/VERB/xcomp/3",
    ),
    "left_branch": (
        "Whose/PRON/nmod:poss/2 hat/NOUN/obj/5 did/AUX/aux/5 he/PRON/nsubj/5 wear/VERB/root/0",
        "Whose/PRON/obj/4 did/AUX/aux/4 he/PRON/nsubj/4 wear/VERB/root/0 hat/NOUN/obj/4",
    ),
    "islands": (
        "Who/PRON/obj/4 did/AUX/aux/4 he/PRON/nsubj/4 kiss/VERB/root/0 before/SCONJ/mark/6 leaving/VERB/advcl/4",
        "Who/PRON/obj/4 did/AUX/aux/4 he/PRON/nsubj/4 kiss/VERB/root/0 Ann/PROPN/obj/4 before/SCONJ/mark/7 "
        "criticizing/VERB/advcl/4",
    ),
    "stranded": (
        "Who/PRON/obl/4 did/AUX/aux/4 he/PRON/nsubj/4 talk/VERB/root/0 with/ADP/case/1",
        "He/PRON/nsubj/3 did/AUX/aux/3 talk/VERB/root/0 with/ADP/advmod/3",
    ),
    "fillers": (
        "I/PRON/nsubj/2 know/VERB/root/0 what/PRON/obj/5 he/PRON/nsubj/5 bought/VERB/ccomp/2",
        "I/PRON/nsubj/2 know/VERB/root/0 what/PRON/obj/5 he/PRON/nsubj/5 bought/VERB/ccomp/2 it/PRON/obj/5",
    ),
    "frames": (
        "Ann/PROPN/nsubj/2 kissed/VERB/root/0 him/PRON/obj/2",
        "Ann/PROPN/nsubj/2 vanished/VERB/root/0 him/PRON/obj/2",
    ),
    "animacy": (
        "The/DET/det/2 woman/NOUN/nsubj/3 said/VERB/root/0 so/ADV/advmod/3",
        "The/DET/det/2 window/NOUN/nsubj/3 said/VERB/root/0 so/ADV/advmod/3",
    ),
    "bare_nouns": (
        "He/PRON/nsubj/2 saw/VERB/root/0 water/NOUN/obj/2",
        "He/PRON/nsubj/2 saw/VERB/root/0 house/NOUN/obj/2",
    ),
}  # fmt: skip


@pytest.mark.parametrize("rule", VALUES)
def test_each_rule_tells_a_good_sentence_from_a_bad_one(rule):
    good, bad = (values(text) for text in JUDGED[rule])
    assert good[rule] > bad[rule]
    assert max(good.values()) <= 0
    assert max(bad.values()) <= 0
    if rule not in ("fillers", "frames", "animacy", "bare_nouns"):
        assert (good[rule], bad[rule]) == (0, -1)
        assert [name for name in VALUES[:15] if good[name]] == [], "nothing else is wrong with the good sentence"


@pytest.mark.parametrize(
    "text",
    [
        "I/PRON/nsubj/3 was/AUX/cop/3 there/ADV/root/0",
        "They/PRON/nsubj/2 made/VERB/root/0 him/PRON/nsubj/4 go/VERB/ccomp/2",
        "every/DET/det/3 three/NUM/nummod/3 days/NOUN/root/0",
        "The/DET/det/2 king/NOUN/nsubj/4 himself/PRON/nmod/2 left/VERB/root/0",
        "Everyone/PRON/nsubj/2 enjoyed/VERB/root/0 themselves/PRON/obj/2",
        "Have/AUX/aux/4 you/PRON/nsubj/4 ever/ADV/advmod/4 slept/VERB/root/0",
        "You/PRON/nsubj/3 can/AUX/aux/3 buy/VERB/root/0 anything/PRON/obj/3",
        "It/PRON/expl/3 is/AUX/cop/3 easy/ADJ/root/0 to/PART/mark/5 kiss/VERB/csubj/3 Ann/PROPN/obj/5",
        "A/DET/det/2 lot/NOUN/nsubj/6 of/ADP/case/4 cats/NOUN/nmod/2 are/AUX/aux/6 sleeping/VERB/root/0",
        "Go/VERB/root/0",
    ],
)
def test_sentences_that_rules_must_leave_alone(text):
    assert not [name for name, value in values(text).items() if name in VALUES[:15] and value]


def test_forms_of_verbs_and_nouns():
    tagged = {("walk", "VERB"): 3, ("walks", "VERB"): 1, ("walked", "VERB"): 1, ("stop", "VERB"): 2, ("stopped", "VERB"): 1,
              ("stopping", "VERB"): 1, ("put", "VERB"): 2, ("dog", "NOUN"): 2, ("dogs", "NOUN"): 2, ("men", "NOUN"): 1,
              ("news", "NOUN"): 4, ("glass", "NOUN"): 1, ("hop", "VERB"): 3}  # fmt: skip
    assert verb_paradigms(tagged) == [
        VerbForms("put", "puts", "put", "put", "putting"),
        VerbForms("stop", "stops", "stopped", "stopped", "stopping"),
        VerbForms("walk", "walks", "walked", "walked", "walking"),
    ]
    numbers = {noun: (number, other) for noun, number, other in noun_numbers(tagged)}
    assert numbers == {
        "dog": ("s", "dogs"),
        "dogs": ("p", "dog"),
        "men": ("p", "man"),
        "news": ("-", ""),
        "glass": ("s", ""),
    }


def test_counts_of_frames_gender_and_animacy():
    counts = Counts({"kissed": "kiss", "slept": "sleep", "met": "meet"}.get)
    him = tree("Ann/PROPN/nsubj/2 kissed/VERB/root/0 her/PRON/nmod:poss/4 dog/NOUN/obj/2")
    was = tree("The/DET/det/2 dog/NOUN/nsubj:pass/4 was/AUX/aux:pass/4 met/VERB/root/0")
    relative = tree("A/DET/det/2 man/NOUN/nsubj/5 who/PRON/nsubj/4 slept/VERB/acl:relcl/2 slept/VERB/root/0")
    counts.add([him, him, was, relative, relative])
    animate = counts.finish()
    assert counts.verbs["kiss"]["transitive"] == 2
    assert counts.verbs["meet"]["passive"] == 1
    assert counts.verbs["sleep"]["intransitive"] == 2, "the relative clause does not count"
    assert counts.nouns["Ann"]["she"] == 2
    assert counts.nouns["man"]["who"] == 2
    assert (animate["Ann"], animate["man"]) == (True, True)
    assert counts.verbs["sleep"]["subject_animate"] == 2


def test_the_embedded_lexicon():
    lexicon = english()
    assert lexicon.verbs["see"] == ("see", "sees", "saw", "seen", "seeing")
    assert lexicon.slots("hurt") == {"base", "past", "participle"}
    assert (
        lexicon.frame_proportion("vanish", "intransitive")
        > 0.8
        > 0.2
        > lexicon.frame_proportion("kiss", "intransitive")
    )
    assert sum(
        lexicon.frame_proportion("see", frame) for frame in ("transitive", "intransitive", "clausal", "passive")
    ) == pytest.approx(1)
    totals = [sum(counts[frame] for counts in lexicon.frames.values()) for frame in VERB_COUNTS[:4]]
    assert lexicon.frame_proportion("unknown", "passive") == pytest.approx(totals[3] / sum(totals), rel=1e-4)
    assert (lexicon.gender("mary", name=True), lexicon.gender("lady", name=False)) == ("f", "f")
    assert (lexicon.animate("teacher"), lexicon.animate("house")) == (True, False)
    assert (lexicon.noun_number("children"), lexicon.other_number("children")) == ("p", "child")


class HandMade(Parser):
    """A parser that knows two trees."""

    def parse(self, sentences):
        trees = [tree(text) for text in JUDGED["case"]]
        known = {each.words: Parse(each) for each in trees}
        return [known.get(tuple(sentence), Parse()) for sentence in sentences]


def test_the_feature():
    feature = GrammarViolationsFeature(HandMade())
    assert feature.components == VALUES
    good, bad, unparsed, empty = feature.values(
        [text.split() for text in ("She has seen them .", "She has seen they .", "They has seen", "")]
    )
    assert (good[VALUES.index("case")], bad[VALUES.index("case")]) == (0, -1)
    assert not unparsed.any()
    assert not empty.any()


SEEDS = {
    "agreement": "The/DET/det/2 cat/NOUN/nsubj/3 sees/VERB/root/0 these/DET/det/5 dogs/NOUN/obj/3",
    "anaphors": "The/DET/det/2 king/NOUN/nsubj/3 saw/VERB/root/0 himself/PRON/obj/3",
    "binding": "He/PRON/nsubj/2 slept/VERB/root/0 well/ADV/advmod/2",
    "case": "They/PRON/nsubj/3 have/AUX/aux/3 met/VERB/root/0 him/PRON/obj/3",
    "arguments": "The/DET/det/2 man/NOUN/nsubj/3 avoided/VERB/root/0 it/PRON/obj/3",
    "selection": "The/DET/det/2 teacher/NOUN/nsubj/3 thought/VERB/root/0 so/ADV/advmod/3",
    "verb-forms": "He/PRON/nsubj/3 has/AUX/aux/3 taken/VERB/root/0 it/PRON/obj/3",
    "polarity": "The/DET/det/2 man/NOUN/nsubj/4 has/AUX/aux/4 slept/VERB/root/0",
    "quantifiers": "There/PRON/expl/2 was/VERB/root/0 a/DET/det/4 book/NOUN/nsubj/2",
    "ellipsis": "She/PRON/nsubj/2 bought/VERB/root/0 old/ADJ/amod/4 books/NOUN/obj/2",
    "control": "There/PRON/expl/2 was/VERB/root/0 a/DET/det/4 book/NOUN/nsubj/2",
    "islands": "She/PRON/nsubj/2 bought/VERB/root/0 the/DET/det/4 book/NOUN/obj/2 after/SCONJ/mark/6 "
    "avoiding/VERB/advcl/2 it/PRON/obj/6",
    "filler-gap": "The/DET/det/2 man/NOUN/nsubj/3 bought/VERB/root/0 the/DET/det/5 book/NOUN/obj/3",
}


@pytest.mark.parametrize("kind", KINDS)
def test_pairs_of_each_kind(kind):
    maker = PairMaker(english(), (kind,))
    rng, seed = np.random.default_rng(1), tree(SEEDS[kind])
    pairs = [pair for _ in range(12) if (pair := maker.pair(seed, rng))]
    assert len(pairs) == 12
    assert len({pair.rule for pair in pairs}) == len(maker.counts)
    for pair in pairs:
        assert pair.good != pair.bad
        assert pair.good[0][0].isupper()
        assert pair.bad[0][0].isupper()
    assert {pair.good for pair in pairs}.isdisjoint(pair.bad for pair in pairs)


def pairs_of(kind, text, each=None):
    maker, rng = PairMaker(english(), (kind,), each), np.random.default_rng(3)
    made = {}
    for _ in range(20):
        if pair := maker.pair(tree(text), rng):
            made[pair.rule] = (" ".join(pair.good), " ".join(pair.bad))
    return made


def test_the_words_of_pairs():
    made = pairs_of("islands", SEEDS["islands"])
    assert made["adjunct-island"] == (
        "What did she buy after avoiding it ?",
        "What did she buy the book after avoiding ?",
    )
    assert made["left-branch"][0].endswith("book did she buy after avoiding it ?")
    assert made["left-branch"][1].endswith("did she buy book after avoiding it ?")
    assert pairs_of("binding", SEEDS["binding"])["reflexive-subject"][1].endswith("that himself slept well .")
    assert pairs_of("agreement", SEEDS["agreement"])["verb-number"][1] == "The cat see these dogs ."
    there = pairs_of("control", SEEDS["control"])["there-as-object"]
    assert all(side.endswith("there to be a book .") for side in there)
    assert pairs_of("polarity", SEEDS["polarity"])["negative-determiner"][0] == "No man has ever slept ."
    assert len(pairs_of("islands", SEEDS["islands"], each=1)) == 2, "each rule stops after one pair"


def test_pairs_on_the_command_line(tmp_path):
    text, out, trees = (tmp_path / name for name in ("text.txt", "pairs.tsv", "trees.conllu"))
    seeds = [tree(SEEDS[kind]) for kind in ("polarity", "islands")]
    trees.write_text("".join(map(write_conllu, seeds)))
    text.write_text("".join(" ".join(seed.words) + "\n" for seed in seeds) + "Not parsed .\n")
    command = ("negatives", "phenomena", text, "--parser", f"treebank,path={trees}", "-o", out)
    ran = done(*command, "--kind", "polarity,islands", "--seed", "2")
    assert "2 pairs by 2 rules" in ran.err
    pairs = read_pairs(out)
    assert [pair.groups["phenomenon"] for pair in pairs] == ["npi_licensing", "island_effects"]
    assert set(pairs[0].groups) == {"phenomenon", "rule"}
    assert "kinds of pairs typo: wanted some of agreement" in refused(*command, "--kind", "typo")
    assert "no rule applies to any sentence; none has 2 to 2 words" in refused(*command, "--max-length", "2")

"""Closed classes of English words that the grammar rules use, in lower case, and the works that list them."""

from __future__ import annotations

from typing import NamedTuple


def word_set(text: str) -> frozenset[str]:
    """The words of a text with spaces between them."""
    return frozenset(text.split())


class Pronoun(NamedTuple):
    """Person (1-3), number (`s`, `p`, or `-` for both), gender (`m`, `f`, `n`, or `-`)."""

    person: int
    number: str
    gender: str


NOMINATIVE = {
    "i": Pronoun(1, "s", "-"), "he": Pronoun(3, "s", "m"), "she": Pronoun(3, "s", "f"), "we": Pronoun(1, "p", "-"),
    "they": Pronoun(3, "p", "-"),
}  # fmt: skip
ACCUSATIVE = {
    "me": Pronoun(1, "s", "-"), "him": Pronoun(3, "s", "m"), "us": Pronoun(1, "p", "-"), "them": Pronoun(3, "p", "-"),
}  # fmt: skip
EITHER_CASE = {"you": Pronoun(2, "-", "-"), "it": Pronoun(3, "s", "n"), "her": Pronoun(3, "s", "f")}
INDEFINITE = {
    form: Pronoun(3, "s", gender)
    for head, gender in (("one", "-"), ("body", "-"), ("thing", "n"))
    for form in (f"every{head}", f"some{head}", f"any{head}", f"no{head}")
}
INDEFINITE_PERSONS = word_set(
    "everyone everybody someone somebody anyone anybody nobody one each person child anyone who"
)  # `themselves` may refer to these
PERSONAL = NOMINATIVE | ACCUSATIVE | EITHER_CASE
REFLEXIVES = {
    "myself": Pronoun(1, "s", "-"), "yourself": Pronoun(2, "s", "-"), "himself": Pronoun(3, "s", "m"),
    "herself": Pronoun(3, "s", "f"), "itself": Pronoun(3, "s", "n"), "ourselves": Pronoun(1, "p", "-"),
    "yourselves": Pronoun(2, "p", "-"), "themselves": Pronoun(3, "p", "-"),
}  # fmt: skip
ACCUSATIVE_OF = {"i": "me", "he": "him", "she": "her", "we": "us", "they": "them"}
NOMINATIVE_OF = {"me": "i", "him": "he", "us": "we", "them": "they"}

FINITE = {
    "is": "s", "was": "s", "has": "s", "does": "s", "'s": "s", "are": "p", "were": "p", "have": "p", "do": "p",
    "'re": "p", "'ve": "p", "am": "1", "'m": "1",
}  # fmt: skip
OTHER_NUMBER = {"is": "are", "was": "were", "has": "have", "does": "do"}
OTHER_NUMBER |= {plural: singular for singular, plural in OTHER_NUMBER.items()}
MODALS = word_set("can could will would shall should may might must ca wo sha 'll 'd")
FINITE_AUXILIARIES = MODALS | frozenset(FINITE) | {"had", "did"}

SINGULAR_DETERMINERS = word_set("a an this that each every another either neither")
PLURAL_DETERMINERS = word_set(
    "these those many several few both two three four five six seven eight nine ten eleven twelve twenty thirty "
    "forty fifty sixty hundred"
)
QUANTITY_NOUNS = word_set("lot lots number couple majority plenty variety handful dozens hundreds thousands")

# Negative polarity items and what licenses them: Ladusaw (1979), for `only` Atlas (1996).
POLARITY = word_set("ever any anybody anyone anything anywhere")
FREE_CHOICE = POLARITY - {"ever"}  # may stand without a licensor beside modals and before modifiers (Ladusaw 1979)
NEGATION = word_set(
    "not n't never no nobody nothing nowhere none neither nor without hardly scarcely barely rarely seldom few little"
)
OTHER_LICENSORS = word_set(
    "if whether unless before than only too doubt doubts doubted deny denies denied refuse refuses refused every "
    "all most least first lest forbid forbade prevent prevented"
)
LICENSORS = NEGATION | OTHER_LICENSORS

# Strong determiners, which do not stand in existential sentences (Milsark 1974).
STRONG = frozenset(["each", "every", "most", "all", "both"])

# Predicates that give their subject or object a role of its own, so that an expletive cannot stand there (Rosenbaum
# 1967; Postal 1974), and predicates that do not.
SUBJECT_CONTROL = word_set(
    "try attempt manage hope plan intend decide refuse agree promise learn forget remember strive struggle "
    "hesitate choose aim offer swear vow wish desire endeavor endeavour dare care consent demand prepare resolve "
    "scheme seek volunteer yearn long pretend want love hate prefer able unable eager willing unwilling reluctant "
    "anxious keen happy glad afraid determined prepared hesitant ashamed proud careful content ready delighted "
    "desperate"
)
RAISING = word_set(
    "seem appear happen turn tend prove chance continue begin start likely unlikely certain sure bound about "
    "going set due apt liable supposed used"
)
OBJECT_CONTROL = word_set(
    "persuade convince force compel ask order urge tell advise encourage instruct oblige obligate induce tempt "
    "pressure coax beg command challenge dare invite warn teach train press push remind motivate inspire "
    "influence entice provoke prompt counsel implore bully lure sway pester help assist direct hire recruit "
    "summon"
)
OBJECT_RAISING = word_set(
    "believe expect consider declare judge imagine prove suppose assume presume find report show know understand "
    "acknowledge want need think reveal"
)
# Adjectives whose infinitive has a gap for their subject (`easy to please`: Chomsky 1964; Lasnik and Fiengo 1974), and
# those whose infinitive has none (`eager to please`, `likely to come`).
TOUGH = word_set(
    "easy hard difficult tough impossible simple fun pleasant unpleasant dangerous boring enjoyable painful "
    "awkward annoying convenient inconvenient exciting tedious tiring amusing entertaining interesting"
)
NOT_TOUGH = word_set(
    "likely unlikely certain sure bound about going set due apt liable supposed eager able unable willing "
    "unwilling reluctant anxious keen happy glad afraid determined prepared"
)

# Verbs of belief and speech whose complement is `that` + clause or a question (Grimshaw 1979).
THAT_OR_QUESTION = word_set(
    "know remember forget discover learn notice realize realise see say tell hear find reveal understand explain "
    "remember guess figure recall prove show"
)
MANDATIVE = word_set("suggest demand insist recommend request require propose ask order command desire wish")
BARE_INFINITIVE = word_set("make let have see hear watch help feel bid notice observe")

SUBORDINATORS = word_set("after before while because since when if until although though unless without")

# Nouns of one gender (Quirk et al. 1985, §5.105).
MASCULINE_NOUNS = word_set(
    "man boy gentleman father son brother uncle nephew grandfather grandson king prince duke lord husband widower "
    "bridegroom monk waiter actor host hero policeman fireman businessman salesman congressman guy bachelor "
    "wizard sir stepfather godfather"
)
FEMININE_NOUNS = word_set(
    "woman girl lady mother daughter sister aunt niece grandmother granddaughter queen princess duchess wife "
    "widow bride nun waitress actress hostess heroine policewoman businesswoman saleswoman congresswoman witch "
    "madam maid governess stepmother godmother"
)

"""Rules of agreement, of reflexives and of case: whether a word of a dependency tree violates them.

Only clear cases count: where person, number or gender of one side is unknown or may be several, nothing is violated.
Agreement is with the head of the subject, not with the nearest noun (Quirk et al. 1985, §10.34); a noun of quantity (a
lot of cats) passes on the number of what it measures. A reflexive needs an antecedent that c-commands it in its own
clause (principle A: Chomsky 1981), so that it cannot be the subject of a finite clause, nor a possessor. A pronoun is
in the nominative as subject of a finite clause and in the accusative elsewhere; after `be` and in coordinations English
has both.
"""

from __future__ import annotations

from rerank_plugins.english.english_lexicon import Lexicon
from rerank_plugins.english.tree_view import BE, TreeView
from rerank_plugins.english.word_lists import (
    ACCUSATIVE,
    BARE_INFINITIVE,
    FINITE,
    FINITE_AUXILIARIES,
    INDEFINITE,
    INDEFINITE_PERSONS,
    MANDATIVE,
    MODALS,
    NOMINATIVE,
    PERSONAL,
    PLURAL_DETERMINERS,
    QUANTITY_NOUNS,
    REFLEXIVES,
    SINGULAR_DETERMINERS,
    Pronoun,
)

UNKNOWN_PRONOUN = Pronoun(3, "-", "-")
RELATIVE = frozenset(["who", "which", "that", "whom"])


def is_unbound_reflexive(view: TreeView, lexicon: Lexicon, word: int) -> bool:
    """Whether the word is a reflexive that is the subject of a finite clause, or a possessor."""
    if view.words[word] not in REFLEXIVES:
        return False
    following = view.words[word + 1] if word + 1 < len(view) else ""
    before = view.tags[word - 1] if word else "START"
    if before in ("NOUN", "PROPN", "PRON", "PUNCT") and not (before == "PRON" and view.words[word - 1] == "that"):
        return False  # emphatic: the king himself was …
    if following in FINITE_AUXILIARIES:
        return True
    head = view.heads[word]
    if view.relations[word] != "nsubj" or head < word or view.is_infinitive(head):
        return False
    return following == "n't" or bool(lexicon.slots(view.words[head]) & {"third", "past", "base"})


def has_wrong_case(view: TreeView, lexicon: Lexicon, word: int) -> bool:
    """Whether the word is a pronoun whose case is not that of its position."""
    form, relation, head = view.words[word], view.relations[word], view.heads[word]
    if head < 0 or (form not in NOMINATIVE and form not in ACCUSATIVE):
        return False
    if view.dependents(word, "conj") or relation == "conj":
        return False
    if form in NOMINATIVE:
        after_preposition = word > 0 and view.tags[word - 1] == "ADP" and view.first(word, "case") == word - 1
        return (relation in ("obj", "iobj") and head < word and view.words[head] not in BE) or after_preposition
    if relation != "nsubj" or head < word:
        return False
    auxiliaries = view.auxiliaries(head)
    if auxiliaries:
        return any(view.words[i] in FINITE_AUXILIARIES for i in auxiliaries)
    above = view.heads[head]
    if above >= 0 and lexicon.base(view.words[above]) in BARE_INFINITIVE:
        return False
    return view.tags[head] == "VERB" and bool(lexicon.slots(view.words[head]) & {"past", "third"})


def features(view: TreeView, lexicon: Lexicon, nominal: int) -> Pronoun:
    """Person, number and gender of a nominal; `-` where they are unknown or may be several."""
    word, tag = view.words[nominal], view.tags[nominal]
    if view.dependents(nominal, "conj"):
        coordinators = {
            view.words[i] for child in view.dependents(nominal, "conj") for i in view.dependents(child, "cc")
        }
        return Pronoun(3, "p" if "and" in coordinators and "or" not in coordinators else "-", "-")
    if word in PERSONAL:
        return PERSONAL[word]
    if word in INDEFINITE:
        return INDEFINITE[word]
    if word in QUANTITY_NOUNS:
        measured = next((i for i in view.dependents(nominal, "nmod") if i > nominal), None)
        return features(view, lexicon, measured) if measured is not None and word != "number" else UNKNOWN_PRONOUN
    if tag == "PROPN":
        plural = word.endswith("s") and (word in lexicon.nouns or word[:-1].capitalize() in lexicon.nouns)
        named = word.endswith("s") and any(view.words[i] == "the" for i in view.dependents(nominal, "det"))
        return Pronoun(3, "-" if plural or named else "s", lexicon.gender(word, name=True))
    if tag != "NOUN":
        return UNKNOWN_PRONOUN
    determiners = {view.words[i] for i in view.dependents(nominal, "det", "nummod", "amod") if i < nominal}
    number = lexicon.noun_number(word)
    if number == "-" and determiners & SINGULAR_DETERMINERS - {"this", "that"}:
        number = "s"
    elif number == "-" and determiners & PLURAL_DETERMINERS:
        number = "p"
    return Pronoun(3, number, lexicon.gender(word, name=False) if number == "s" else "-")


def antecedent(view: TreeView, nominal: int) -> int:
    """The noun that a relative pronoun stands for, or the nominal itself."""
    if view.words[nominal] in RELATIVE:
        for above in view.ancestors(nominal):
            if view.relations[above] == "acl":
                return view.heads[above]
    return nominal


def finite_word(view: TreeView, predicate: int) -> int | None:
    """The finite auxiliary or copula of a predicate, or the predicate itself; None for modals and infinitives."""
    auxiliaries = view.auxiliaries(predicate)
    if auxiliaries:
        return auxiliaries[0] if view.words[auxiliaries[0]] in FINITE else None
    if view.is_infinitive(predicate) or view.tags[predicate] not in ("VERB", "AUX"):
        return None
    return predicate


def number_of_verb(view: TreeView, lexicon: Lexicon, word: int) -> str:
    """`s`, `p` or `1` (am) for a finite verb in the present, or `was` and `were`; `-` for other forms."""
    form = view.words[word]
    if form in FINITE:
        return FINITE[form]
    slots = lexicon.slots(form)
    if "past" in slots or "participle" in slots:
        return "-"
    return "s" if "third" in slots else "p" if "base" in slots else "-"


def disagrees_with_verb(view: TreeView, lexicon: Lexicon, subject: int) -> bool:
    """Whether the word is a subject with which the finite verb does not agree."""
    predicate = view.heads[subject]
    if view.relations[subject] != "nsubj" or predicate < 0:
        return False
    finite = finite_word(view, predicate)
    if finite is None or (finite == predicate and view.tags[predicate] == "VERB" and subject > predicate):
        return False
    number = number_of_verb(view, lexicon, finite)
    if number == "-" or _not_indicative(view, lexicon, predicate, finite):
        return False
    if any(view.words[i] == "there" for i in view.children[predicate]) and view.dependents(subject, "conj"):
        return False
    word = view.words[subject]
    subject_is = features(view, lexicon, antecedent(view, subject))
    if word == "i":
        return number == "s" and view.words[finite] != "was"
    if number == "1":
        return subject_is.number in ("s", "p")
    if word == "you":
        return number == "s"
    return subject_is.number not in ("-", number)


def _not_indicative(view: TreeView, lexicon: Lexicon, predicate: int, finite: int) -> bool:
    """Whether the form of the verb may be a subjunctive or an infinitive without `to`."""
    if view.words[finite] == "were":
        return view.first(predicate, "mark") is not None
    head = view.heads[predicate]
    governor = lexicon.base(view.words[head]) if head >= 0 else None
    if view.relations[predicate] in ("ccomp", "xcomp", "conj") and governor in MANDATIVE | BARE_INFINITIVE:
        return True
    before = view.words[predicate - 1] if predicate else ""
    return finite == predicate and before in MODALS | {"to", "do", "does", "did"}


def disagrees_with_noun(view: TreeView, lexicon: Lexicon, word: int) -> bool:
    """Whether the word is a determiner or numeral that does not agree with its noun."""
    noun, form = view.heads[word], view.words[word]
    singular = form in SINGULAR_DETERMINERS
    if noun <= word or view.tags[noun] != "NOUN" or not (singular or form in PLURAL_DETERMINERS):
        return False
    if view.relations[word] not in ("det", "nummod", "amod") or (form == "that" and view.relations[word] != "det"):
        return False
    number = lexicon.noun_number(view.words[noun])
    between = view.words[word + 1 : noun]
    if singular and any(view.tags[i] == "NUM" for i in range(word + 1, noun)):
        return False
    if singular and set(between) & {"few", "couple", "hundred", "thousand", "million", "dozen", "great", "good"}:
        return False
    if not singular and set(between) & {"a", "of", "and", "-"} | ({form} & {"both", "hundred"}):
        return False
    return number not in ("-", "s" if singular else "p")


def disagrees_with_antecedent(view: TreeView, lexicon: Lexicon, word: int) -> bool:
    """Whether the word is a reflexive that does not agree with the subject of its own clause."""
    subject = local_subject(view, word) if view.words[word] in REFLEXIVES else None
    return subject is not None and clash(view, lexicon, word, subject)


def clash(view: TreeView, lexicon: Lexicon, reflexive: int, subject: int) -> bool:
    """Whether a reflexive and its subject differ in person, number or gender."""
    subject = antecedent(view, subject)
    wanted, is_ = REFLEXIVES[view.words[reflexive]], features(view, lexicon, subject)
    if view.tags[subject] not in ("NOUN", "PROPN", "PRON") or view.words[subject] in RELATIVE | {"one", "what"}:
        return False
    if wanted.person != is_.person:
        return is_.number != "-" or is_.person != 3
    if wanted.number == "p" and view.words[subject] in INDEFINITE_PERSONS:
        return False
    if "-" not in (wanted.number, is_.number) and wanted.number != is_.number:
        return True
    if wanted.gender == "n" and is_.gender == "-" and view.tags[subject] == "NOUN" and wanted.number == is_.number:
        return lexicon.animate(view.words[subject]) is True
    if wanted.gender in ("m", "f") and is_.gender == "-" and view.tags[subject] == "NOUN" and is_.number == "s":
        return lexicon.animate(view.words[subject]) is False
    return "-" not in (wanted.gender, is_.gender) and wanted.gender != is_.gender


def local_subject(view: TreeView, word: int) -> int | None:
    """The subject of the clause that a word stands in: that of the governor controls an infinitive; None if unknown."""
    for above in view.ancestors(word):
        subject = view.subject(above)
        if subject is not None:
            return subject if subject != word else None
        if view.relations[above] == "xcomp":
            controller = view.first(view.heads[above], "obj", "iobj")
            if controller is not None and controller != word:
                return controller
        elif view.relations[above] in ("root", "ccomp"):
            return None
        elif view.relations[above] == "acl" and view.tags[above] == "VERB":
            return view.heads[above]
    return None

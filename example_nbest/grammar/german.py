"""A clause in German: inflected noun phrases, the verb second, first or last, separable prefixes."""

from __future__ import annotations

from grammar.clause import Argument, Clause, NounPhrase, Pronoun
from grammar.lexicon import MODALS, Verb

CASES = ("nominative", "accusative", "dative")
DEFINITE = {
    "m": ("der", "den", "dem"),
    "f": ("die", "die", "der"),
    "n": ("das", "das", "dem"),
    "p": ("die", "die", "den"),
}
STRONG = {"m": ("er", "en", "em"), "f": ("e", "e", "er"), "n": ("es", "es", "em"), "p": ("e", "e", "en")}
MIXED = {"m": ("", "en", "em"), "f": ("e", "e", "er"), "n": ("", "", "em"), "p": ("e", "e", "en")}
HAVE = ("habe", "hast", "hat", "haben", "habt", "haben")
SEIN = ("bin", "bist", "ist", "sind", "seid", "sind")
WERDEN = ("werde", "wirst", "wird", "werden", "werdet", "werden")
WURDE = ("wurde", "wurdest", "wurde", "wurden", "wurdet", "wurden")


def main(clause: Clause, front: str = "") -> str:
    """Verb second: the subject, or `front`, or (front="time") the time before it."""
    subject, middle = argument(clause.subject, "nominative"), _middle(clause, front)
    finite, tail = _verbs(clause)
    if front == "time" and clause.time:
        front = clause.time.german
    order = [front, finite, subject] if front else [subject, finite]
    return " ".join([*order, *middle, tail]).strip()


def question(clause: Clause, word: str = "") -> str:
    """Verb first, or after a question word."""
    finite, tail = _verbs(clause)
    return " ".join([word, finite, argument(clause.subject, "nominative"), *_middle(clause), tail]).strip()


def subordinate(clause: Clause, conjunction: str, gap: str = "") -> str:
    """Verb last; a relative clause leaves out the argument that `gap` names."""
    subject = "" if gap == "subject" else argument(clause.subject, "nominative")
    finite, tail = _verbs(clause)
    if clause.form == "present":
        tail, finite = "", tail + finite  # a separable prefix comes together with its verb again
    return " ".join(word for word in [conjunction, subject, *_middle(clause, gap=gap), tail, finite] if word)


def infinitive(clause: Clause) -> str:
    """The clause without its subject, with zu: `das Fenster aufzumachen`."""
    verb = clause.verb
    return " ".join([*_middle(clause), f"{verb.prefix}zu{verb.stem}" if verb.prefix else f"zu {verb.stem}"])


def argument(phrase: Argument, case: str) -> str:
    """A noun phrase or pronoun in that case, with its relative clause between commas."""
    number = CASES.index(case)
    if isinstance(phrase, Pronoun):
        return phrase.german[number]
    noun, row = phrase.noun, "p" if phrase.plural else phrase.noun.gender
    determiner, ending = _determiner(phrase, row, number)
    name = noun.german_plural if phrase.plural else noun.german
    if phrase.plural and case == "dative" and name[-1] not in "ns":
        name += "n"
    adjective = _adjective(phrase.adjective[0]) + ending if phrase.adjective else ""
    relative = ""
    if phrase.relative:
        role = "nominative" if phrase.gap == "subject" else _object_case(phrase.relative)
        pronoun = "denen" if row == "p" and role == "dative" else DEFINITE[row][CASES.index(role)]
        relative = f", {subordinate(phrase.relative, pronoun, phrase.gap)} ,"
    return " ".join(word for word in [determiner, adjective, name, relative] if word)


def _determiner(phrase: NounPhrase, row: str, number: int) -> tuple[str, str]:
    """The determiner and the ending that an adjective takes after it."""
    weak = "e" if row != "p" and (number == 0 or (number == 1 and row != "m")) else "en"
    if phrase.determiner == "der":
        return DEFINITE[row][number], weak
    if phrase.determiner == "dies":
        return "dies" + STRONG[row][number], weak
    if phrase.determiner == "ein" and phrase.plural:
        return "", STRONG[row][number]
    shows_case = MIXED[row][number] != ""
    return phrase.determiner + MIXED[row][number], weak if shows_case else STRONG[row][number]


def _adjective(stem: str) -> str:
    return "teur" if stem == "teuer" else stem


def _object_case(clause: Clause) -> str:
    return "dative" if clause.verb.case == "dat" else "accusative"


def _middle(clause: Clause, front: str = "", gap: str = "") -> list[str]:
    """The middle field: pronouns, time, recipient, object, nicht, place."""
    case = _object_case(clause)
    object_ = None if gap == "object" else clause.object
    passive = clause.form.startswith("passive")
    time = clause.time.german if clause.time and front != "time" else ""
    negated = clause.negated and not (isinstance(object_, NounPhrase) and object_.determiner == "kein")
    not_ = "nicht" if negated else ""
    place = clause.place[0] if clause.place else ""
    if passive:
        agent = f"von {argument(object_, 'dative')}".replace("von dem ", "vom ") if object_ else ""
        return [word for word in [time, not_, agent, place] if word]
    pronouns = [argument(object_, case)] if isinstance(object_, Pronoun) else []
    nouns = [argument(object_, case)] if isinstance(object_, NounPhrase) else []
    if clause.recipient:
        recipient = argument(clause.recipient, "dative")
        if isinstance(clause.recipient, Pronoun):
            pronouns.append(recipient)  # accusative before dative among pronouns
        else:
            nouns.insert(0, recipient)  # dative before accusative among nouns
    return [word for word in [*pronouns, time, *nouns, not_, place] if word]


def _verbs(clause: Clause) -> tuple[str, str]:
    """The finite verb, and what stands at the end of the sentence bracket."""
    verb, index = clause.verb, clause.subject.person - 1 + 3 * clause.subject.plural
    if clause.form == "perfect":
        return (SEIN if verb.auxiliary == "sein" else HAVE)[index], verb.participle
    if clause.form == "passive present":
        return WERDEN[index], verb.participle
    if clause.form == "passive past":
        return WURDE[index], verb.participle
    if clause.form == "modal":
        singular, second, _ = MODALS[clause.modal]
        infinitive_ = clause.modal
        forms = (singular, second, singular, infinitive_, infinitive_.removesuffix("en") + "t", infinitive_)
        return forms[index], verb.prefix + verb.stem
    return _present(verb)[index], verb.prefix


def _present(verb: Verb) -> tuple[str, str, str, str, str, str]:
    """Six forms from the infinitive and the third person, where a vowel may change: lesen, liest."""
    root = verb.stem.removesuffix("n").removesuffix("e")
    third_root = verb.third.removesuffix("t")
    second = third_root + ("t" if third_root[-1] in "sßz" else "st")
    if verb.third.endswith("et"):  # arbeitet, findet
        return root + "e", third_root + "st", verb.third, verb.stem, root + "et", verb.stem
    return root + "e", second, verb.third, verb.stem, root + ("et" if root[-1] in "td" else "t"), verb.stem

"""A clause in English: verb after the subject, do-support, the progressive, object before place before time."""

from __future__ import annotations

from grammar.clause import Argument, Clause, Pronoun
from grammar.lexicon import MODALS

DETERMINERS = {
    "der": "the", "dies": "this", "mein": "my", "dein": "your", "sein": "his", "ihr": "her", "unser": "our",
}  # fmt: skip


def main(clause: Clause, time_first: bool = False) -> str:
    """A statement."""
    words = [argument(clause.subject, "subject"), predicate(clause, "time" if time_first else "")]
    return " ".join([clause.time.english, *words] if time_first and clause.time else words)


def question(clause: Clause, word: str = "") -> str:
    """The auxiliary before the subject, after a question word if there is one."""
    auxiliary, verb, _ = _verbs(clause)
    return " ".join([word, auxiliary, argument(clause.subject, "subject"), *_after(clause, verb)]).strip()


def subordinate(clause: Clause, conjunction: str, gap: str = "") -> str:
    """As a main clause; a relative clause leaves out the argument that `gap` names."""
    subject = [] if gap == "subject" else [argument(clause.subject, "subject")]
    return " ".join([conjunction, *subject, predicate(clause, gap)])


def infinitive(clause: Clause) -> str:
    """`to open the window`."""
    return " ".join(["to", *_after(clause, clause.verb.english)])


def predicate(clause: Clause, gap: str = "") -> str:
    """All but the subject."""
    auxiliary, verb, plain = _verbs(clause)
    if clause.negated:
        auxiliary = "cannot" if auxiliary == "can" else f"{auxiliary} not"
    elif plain:
        auxiliary, verb = "", plain
    return " ".join(word for word in [auxiliary, *_after(clause, verb, gap)] if word)


def argument(phrase: Argument, role: str) -> str:
    """A noun phrase or pronoun, with its relative clause."""
    if isinstance(phrase, Pronoun):
        return phrase.english[role != "subject"]
    name = phrase.noun.english_plural if phrase.plural else phrase.noun.english
    words = [phrase.adjective[1], name] if phrase.adjective else [name]
    determiner = DETERMINERS.get(phrase.determiner, "")
    if phrase.determiner == "dies" and phrase.plural:
        determiner = "these"
    if phrase.determiner in ("ein", "kein"):
        article = "an" if words[0][0] in "aeiou" else "a"
        determiner = article if not phrase.plural else "any" if phrase.determiner == "kein" else ""
    if phrase.relative:
        person = phrase.noun.kind in ("person", "family")
        words.append(subordinate(phrase.relative, "who" if person and phrase.gap == "subject" else "that", phrase.gap))
    return " ".join(word for word in [determiner, *words] if word)


def _after(clause: Clause, verb: str, gap: str = "") -> list[str]:
    """The verb and what follows it: recipient, object, place, time; often and always come before the verb."""
    object_ = None if gap == "object" else clause.object
    by = "by " if clause.form.startswith("passive") else ""
    words = [verb]
    if clause.recipient:
        words.append(argument(clause.recipient, "object"))
    if object_:
        words.append(by + argument(object_, "object"))
    if clause.place:
        words.append(clause.place[1])
    if clause.time and gap != "time":
        words.insert(0 if clause.time.medial else len(words), clause.time.english)
    return words


def _verbs(clause: Clause) -> tuple[str, str, str]:
    """Auxiliary and main verb for questions and negation, and the plain verb of a statement ("" if the same)."""
    verb, subject, time = clause.verb, clause.subject, clause.time.time if clause.time else ""
    third = subject.person == 3 and not subject.plural
    do = "does" if third else "do"
    if clause.form == "perfect":
        return "did", verb.english, verb.english_past
    if clause.form.startswith("passive"):
        return _be(clause, past=clause.form == "passive past"), verb.english_participle, ""
    if clause.form == "modal":
        modal = MODALS[clause.modal][2]
        if modal == "want to":
            return do, f"want to {verb.english}", f"{'wants' if third else 'want'} to {verb.english}"
        if modal == "must" and clause.negated:  # muss nicht is not `must not`
            return do, f"have to {verb.english}", ""
        return modal, verb.english, ""
    if time == "future":
        return "will", verb.english, ""
    if verb.stative or time == "habit":
        return do, verb.english, verb.english_third if third else verb.english
    return _be(clause, past=False), verb.english_ing, ""


def _be(clause: Clause, past: bool) -> str:
    subject = clause.subject
    singular = not subject.plural and subject.person != 2
    if past:
        return "was" if singular else "were"
    return ("am" if subject.person == 1 else "is") if singular else "are"

"""The example lists: what their files promise, that they can be made again, and the decoder against enumeration."""

import math
import subprocess
import sys
from collections.abc import Iterator
from decimal import Decimal
from itertools import groupby, islice
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU

from tests.examples import naive_example

NAMES = ["Distortion0=", "LM0=", "WordPenalty0=", "PhrasePenalty0=", "TranslationModel0="]
LISTS = {"tune": 50, "test": 50, "test.monotone": 10}
FOLDER = Path(__file__).parents[2] / "example_nbest"


@pytest.fixture(scope="module", autouse=True)
def example_on_path() -> Iterator[None]:
    """The decoder and grammar are no installed packages: they are imported as `python example_nbest/make.py` does."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(FOLDER)
        yield


def lines(name: str) -> list[str]:
    return (FOLDER / "mt" / name).read_text(encoding="utf-8").splitlines()


def nbest(name: str) -> list[list[list[str]]]:
    """The lists of a file, each line as its fields."""
    rows = (line.split(" ||| ") for line in lines(f"{name}.nbest"))
    return [list(group) for _, group in groupby(rows, key=lambda row: row[0])]


# ---------------------------------------------------------------- the files


@pytest.mark.parametrize("name", LISTS)
def test_lists_are_whole(name: str) -> None:
    lists = nbest(name)
    assert [rows[0][0] for rows in lists] == [str(segment) for segment in range(100)]
    for rows in lists:
        texts = [row[1] for row in rows]
        assert len(set(texts)) == len(texts) <= LISTS[name]
        totals = [float(row[3]) for row in rows]
        assert totals == sorted(totals, reverse=True)


@pytest.mark.parametrize("name", LISTS)
def test_total_is_exactly_weights_times_features(name: str) -> None:
    section = "\n".join(lines("moses.ini")).partition("[weight]\n")[2]
    weights = [Decimal(value) for line in section.splitlines() for value in line.partition("=")[2].split()]
    for text, dense, total in (row[1:] for rows in nbest(name) for row in rows):
        columns = dense.split()
        assert [column for column in columns if column.endswith("=")] == NAMES
        values = [Decimal(column) for column in columns if not column.endswith("=")]
        assert sum(w * value for w, value in zip(weights, values, strict=True)) == Decimal(total)
        assert values[2] == -len(text.split())


def test_language_model_feature_is_that_of_kenlm(kenlm) -> None:
    model = kenlm.Model(str(FOLDER / "mt/lm.arpa"))
    for rows in nbest("test")[::7]:
        for row in rows[::5]:
            assert float(row[2].split()[3]) == pytest.approx(model.score(row[1]) * math.log(10), abs=1e-3)


def test_tune_and_test_are_new_sentences() -> None:
    parts = {f"{name}.{suffix}": lines(f"{name}.{suffix}") for name in ("tune", "test") for suffix in ("de", "en")}
    train = {"de": lines("train.de"), "en": lines("train.en")}
    assert len(train["de"]) == len(train["en"]) > 1000
    for name, texts in parts.items():
        assert len(texts) == len(set(texts)) == 100
        assert not set(texts) & set(train[name.partition(".")[2]]), f"{name} shares sentences with the training text"
        assert all(5 <= len(text.split()) <= 20 for text in texts)
    assert not set(parts["tune.de"]) & set(parts["test.de"])
    assert len(lines("test.en.ref2")) == 100
    known = {word for text in train["de"] for word in text.split()}
    unknown = [word for text in parts["test.de"] for word in text.split() if word not in known]
    assert 10 <= len(unknown) <= 60


@pytest.mark.parametrize("name", LISTS)
def test_lists_hold_much_better_translations_than_the_first(name: str) -> None:
    references, lists = lines(f"{name.partition('.')[0]}.en"), nbest(name)
    metric, sentence = BLEU(tokenize="none"), BLEU(tokenize="none", effective_order=True)
    oracle = [
        max((row[1] for row in rows), key=lambda text: sentence.sentence_score(text, [reference]).score)
        for rows, reference in zip(lists, references, strict=True)
    ]
    best, first = (metric.corpus_score(texts, [references]).score for texts in (oracle, [r[0][1] for r in lists]))
    assert 30 <= first <= 60
    assert best >= first + (8 if LISTS[name] == 50 else 4)
    assert f"| `{name}.nbest` | {first:.1f} | {best:.1f} |" in lines("README.md")


def test_project_size() -> None:
    assert sum(path.stat().st_size for path in (FOLDER / "mt").iterdir()) < 3.1e6


# ---------------------------------------------------------------- made again


@pytest.mark.release
def test_everything_is_made_again_byte_for_byte(tmp_path: Path) -> None:
    subprocess.run([sys.executable, FOLDER / "make.py", tmp_path], check=True)
    made = sorted(path.name for path in tmp_path.iterdir())
    kept = sorted(path.name for path in (FOLDER / "mt").iterdir())
    assert [name for name in kept if name not in ("README.md", "moses.ini")] == made
    for name in made:
        assert (tmp_path / name).read_bytes() == (FOLDER / "mt" / name).read_bytes(), name


@pytest.mark.slow
@pytest.mark.parametrize("name", LISTS)
def test_first_lists_are_decoded_again(name: str) -> None:
    import make

    sources = lines(f"{name.partition('.')[0]}.de")[:5]
    again = list(make.decode(FOLDER / "mt", sources, LISTS[name], monotone=name == "test.monotone"))
    assert [line.rstrip("\n") for line in again] == lines(f"{name}.nbest")[: len(again)]


def test_language_model_is_estimated_again() -> None:
    from decoder.kneser_ney import estimate, write_arpa

    arpa = "".join(write_arpa(estimate([text.split() for text in lines("train.en")], 3)))
    assert arpa == (FOLDER / "mt/lm.arpa").read_text(encoding="utf-8")


# ---------------------------------------------------------------- the parts of the decoder

SMALL = [["a", "b", "a"], ["b", "a", "c", "b"], ["a", "b"], ["c"]]


@pytest.mark.parametrize("history", [(), ("a",), ("b", "a"), ("<s>",), ("<s>", "a"), ("c", "c")])
def test_kneser_ney_is_its_definition_and_sums_to_one(history: tuple[str, ...]) -> None:
    from decoder.kneser_ney import estimate

    grams = {gram: values for level in estimate(SMALL, 3) for gram, values in level.items()}

    def p(h: tuple[str, ...], word: str) -> float:
        if (*h, word) in grams:
            return grams[*h, word][0]
        return (grams[h][1] if h in grams else 1.0) * p(h[1:], word)

    words = ["a", "b", "c", "</s>", "<unk>"]
    found = [p(history, word) for word in words]
    np.testing.assert_allclose(found, [naive_example.kneser_ney(SMALL, history, word, 3) for word in words])
    assert math.fsum(found) == pytest.approx(1)


def test_arpa_sums_to_one_in_kenlm(kenlm) -> None:
    from decoder.kneser_ney import read_arpa

    grams = read_arpa(lines("lm.arpa"))
    words = [gram[0] for gram in grams if len(gram) == 1 and gram != ("<s>",)]
    model = kenlm.Model(str(FOLDER / "mt/lm.arpa"))
    before, now = kenlm.State(), kenlm.State()
    for history in ("", "the", "of the", "I am", "xyz", "! ."):
        model.NullContextWrite(before)
        for word in history.split():
            model.BaseScore(before, word, now)
            before, now = now, before
        assert math.fsum(10 ** model.BaseScore(before, word, now) for word in words) == pytest.approx(1, abs=1e-4)


@given(st.integers(1, 3), st.integers(1, 3), st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=30)
def test_alignment_posteriors_equal_those_by_enumeration(f: int, e: int, seed: int) -> None:
    from decoder.alignment import P_NULL, _forward_backward, _transitions

    rng = np.random.default_rng(seed)
    emission, transition = rng.random((f, e + 1)), _transitions(rng.random(7), e)
    other = rng.random((f, e + 1))
    posteriors, expected = _forward_backward(np.stack([emission, other]), transition)
    naive = [naive_example.alignment_posteriors(each, transition, P_NULL) for each in (emission, other)]
    np.testing.assert_allclose(posteriors, naive)
    words = sum(each[:, 1:].sum() for each in naive)
    np.testing.assert_allclose(expected.sum(), words, err_msg="one jump to each word that has one")


def test_alignment_finds_a_reordering() -> None:
    from decoder.alignment import align

    pairs = [("he sees the dog", "er den Hund sieht"), ("he sees", "er sieht"), ("the dog", "den Hund")]
    pairs += [
        ("he sees the cat", "er die Katze sieht"),
        ("the cat", "die Katze"),
        ("dog", "Hund"),
        ("he sleeps", "er schläft"),
    ]
    pairs += [("she sleeps", "sie schläft"), ("she sees the dog", "sie den Hund sieht")]
    links = align([(e.split(), f.split()) for e, f in pairs], iterations=8)
    assert links[0] == [0, 2, 3, 1]
    assert links[3] == [0, 2, 3, 1]


LINKS = st.sets(st.tuples(st.integers(0, 4), st.integers(0, 5)))


@given(LINKS)
def test_extracted_phrases_are_all_consistent_boxes(links: set[tuple[int, int]]) -> None:
    from decoder.phrase_table import MAX_LENGTH, extract

    found = list(extract(5, 6, links))
    assert len(found) == len(set(found))
    assert set(found) == naive_example.phrase_pairs(5, 6, links, MAX_LENGTH)


@given(st.lists(st.integers(-1, 4), min_size=5, max_size=5), st.lists(st.integers(-1, 4), min_size=5, max_size=5))
def test_symmetrised_links_lie_between_intersection_and_union(there: list[int], back: list[int]) -> None:
    from decoder.symmetrise import grow_diag_final_and

    forward = {(i, j) for i, j in enumerate(there) if j >= 0}
    backward = {(i, j) for j, i in enumerate(back) if i >= 0}
    links = grow_diag_final_and(there, back)
    assert forward & backward <= links <= forward | backward


def test_phrase_scores() -> None:
    from decoder.phrase_table import estimate, read, write

    one = (["das", "Haus"], ["the", "house"], {(0, 0), (1, 1)})
    two = (["das", "Auto"], ["that", "car"], {(0, 0), (1, 1)})
    table = estimate([one, two, (["Haus", "ja"], ["house"], {(0, 0)})])
    das = dict(table["das",])
    assert das["the",] == (1.0, 1.0, 0.5, 0.5)
    houses = dict(table["Haus", "ja"])["house",]
    assert houses == (1 / 3, 1.0 * 1.0, 1.0, 1.0)  # ja comes from the empty word, which has no other
    assert read(write(table)) == {f: [(e, pytest.approx(s, rel=1e-5)) for e, s in found] for f, found in table.items()}


WORDS = ("a", "b", "c")


@given(st.integers(0, 2**32 - 1), st.integers(0, 4))
@settings(deadline=None, max_examples=40)
def test_search_and_nbest_equal_enumeration(seed: int, limit: int) -> None:
    """Four words, no pruning: the same distinct texts with the same totals in the same order."""
    from decoder.beam import Decoder
    from decoder.kneser_ney import estimate, write_arpa
    from decoder.language_model import LanguageModel
    from decoder.nbest import nbest as decoder_nbest
    from decoder.weights import Weights

    random, source = Random(seed), ["w", "x", "y", "z"]
    model = LanguageModel("".join(write_arpa(estimate(SMALL, 3))).splitlines())
    table = {}
    for start in range(4):
        for end in range(start + 1, min(start + 2, 4) + 1):
            targets = {tuple(random.choices(WORDS, k=random.randint(1, 2))) for _ in range(random.randint(1, 2))}
            scores = [(target, tuple(random.uniform(0.01, 1) for _ in range(4))) for target in sorted(targets)]
            table[tuple(source[start:end])] = scores
    weights = Weights(0.3, 0.5, -0.4, 0.2, (0.2, 0.1, 0.3, 0.2))
    decoder = Decoder(table, model, weights, stack_size=10**9, distortion_limit=limit)
    found = decoder_nbest(decoder.search(source), weights, 40)

    options = [
        (start, start + len(f), e, tuple(round(math.log(p), 4) for p in s))
        for f, targets in table.items()
        for start in [source.index(f[0])]
        for e, s in targets
    ]
    best: dict[tuple[str, ...], float] = {}
    for derivation in naive_example.derivations(source, options, limit):
        words = tuple(word for step in derivation for word in step[2])
        ln_p = round(model.extend(model.START, (*words, "</s>"))[0], 4)
        total = weights.total(naive_example.features(derivation, {words: ln_p}))
        best[words] = max(total, best.get(words, -math.inf))
    np.testing.assert_allclose([t.total for t in found], sorted(best.values(), reverse=True)[:40], atol=1e-6)
    for translation in found:
        assert translation.total == pytest.approx(best[translation.words], abs=1e-6)
        assert translation.total == weights.total(translation.features)
    assert len({translation.words for translation in found}) == len(found) == min(40, len(best))


def test_unknown_word_is_passed_through() -> None:
    import make

    texts = [line.split(" ||| ")[1] for line in make.decode(FOLDER / "mt", ["das ist Xyzzy ."], 5)]
    assert all("Xyzzy" in text.split() for text in texts)


# ---------------------------------------------------------------- the grammar


def test_generated_sentences_repeat_themselves() -> None:
    from grammar.generate import sentences

    assert list(islice(sentences(Random(3)), 50)) == list(islice(sentences(Random(3)), 50))


def test_generated_sentences_are_well_formed() -> None:
    from grammar.generate import sentences

    for pair in islice(sentences(Random(4)), 500):
        for text in pair:
            assert text == " ".join(text.split())
            assert text[-2:] in (" .", " ?")
            assert ", ." not in text
            assert ", ," not in text


def _clauses() -> dict[str, tuple[str, str]]:
    """One clause in many shapes, with what must come out."""
    from dataclasses import replace

    from grammar import english, german
    from grammar.clause import PRONOUNS, Clause, NounPhrase
    from grammar.lexicon import NOUNS, TIMES, VERBS

    nouns, verbs = {noun.german: noun for noun in NOUNS}, {verb.prefix + verb.stem: verb for verb in VERBS}
    window = NounPhrase(nouns["Fenster"], "ein", ("alt", "old"))
    base = Clause(NounPhrase(nouns["Frau"], "der"), verbs["aufmachen"], window)
    perfect = replace(base, form="perfect", time=next(time for time in TIMES if time.german == "gestern"))
    key = NounPhrase(nouns["Schlüssel"], "der")
    lost = Clause(PRONOUNS[1], verbs["verlieren"], key, form="perfect")
    looked = Clause(PRONOUNS[0], verbs["suchen"], replace(key, relative=lost, gap="object"))
    passive = Clause(key, verbs["finden"], NounPhrase(nouns["Kind"], "dies", plural=True), form="passive past")
    helps = Clause(PRONOUNS[2], verbs["helfen"], NounPhrase(nouns["Gast"], "ein", ("müd", "tired")))
    both = {
        "present": (german.main(base), english.main(base)),
        "question": (german.question(perfect, "warum"), english.question(perfect, "why")),
        "time first": (german.main(perfect, "time"), english.main(perfect, True)),
        "subordinate": (german.subordinate(base, "weil"), english.subordinate(base, "because")),
        "infinitive": (german.infinitive(base), english.infinitive(base)),
        "relative": (german.main(looked), english.main(looked)),
        "passive": (german.main(passive), english.main(passive)),
        "dative": (german.main(helps), english.main(helps)),
    }
    cannot = replace(base, form="modal", modal="können", negated=True, object=replace(window, determiner="der"))
    both["negation"] = (german.main(cannot), english.main(cannot))
    return both


@pytest.mark.parametrize(
    ("shape", "german", "english"),
    [
        ("present", "die Frau macht ein altes Fenster auf", "the woman is opening an old window"),
        (
            "question",
            "warum hat die Frau gestern ein altes Fenster aufgemacht",
            "why did the woman open an old window yesterday",
        ),
        (
            "time first",
            "gestern hat die Frau ein altes Fenster aufgemacht",
            "yesterday the woman opened an old window",
        ),
        (
            "subordinate",
            "weil die Frau ein altes Fenster aufmacht",
            "because the woman is opening an old window",
        ),
        ("infinitive", "ein altes Fenster aufzumachen", "to open an old window"),
        (
            "relative",
            "ich suche den Schlüssel , den du verloren hast ,",
            "I am looking for the key that you lost",
        ),
        ("passive", "der Schlüssel wurde von diesen Kindern gefunden", "the key was found by these children"),
        ("dative", "er hilft einem müden Gast", "he is helping a tired guest"),
        ("negation", "die Frau kann das alte Fenster nicht aufmachen", "the woman cannot open the old window"),
    ],
)
def test_one_clause_in_two_languages(shape: str, german: str, english: str) -> None:
    assert _clauses()[shape] == (german, english)

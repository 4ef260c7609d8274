"""NIST's formats are scored by NIST's rules: every case beside sclite where it is installed, and as literal counts."""

import json
import pickle
import random
import re
import shutil
import subprocess
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pytest

from rerank_adapters.metrics.accuracy import Accuracy, SentenceErrorRate
from rerank_adapters.metrics.edit_rate import CER, WER
from rerank_adapters.metrics.word_networks import Network, NetworkAligner
from rerank_adapters.texts.transcript import (
    Transcript,
    change_words,
    first_alternative,
    hypothesis_text,
    reference_text,
)
from tests.command_line import done, refused

SCLITE = [shutil.which("sctk"), "sclite"] if shutil.which("sctk") else [shutil.which("sclite")]
needs_sclite = pytest.mark.skipif(not SCLITE[0], reason="NIST's sclite (Debian package sctk) is not installed")


@dataclass(frozen=True)
class Pair:
    """Files of references and of a system's output."""

    reference: Path
    hypothesis: Path

    def counts(self, metric="wer,costs=sclite"):
        """(#C #S #D #I) in all, by `rerank evaluate`."""
        return self.counts_and_score(metric)[0]

    def counts_and_score(self, metric="wer,costs=sclite"):
        """The same, and the score."""
        tests = ("--bootstrap", 0, "--randomisation", 0, "--as", "json")
        (result,) = json.loads(done(*self.evaluate, "-m", metric, *tests).out)["metrics"]
        (errors,) = result["errors"]
        kinds = ("correct", "substitutions", "deletions", "insertions")
        return tuple(errors[kind] for kind in kinds), result["systems"][0]["score"]

    def refused(self, metric="wer"):
        """The line with which `rerank evaluate` refuses the pair."""
        return refused(*self.evaluate, "-m", metric)

    @property
    def evaluate(self):
        return ("evaluate", "-r", self.reference, self.hypothesis)

    def by_sclite(self, *options):
        """(#C #S #D #I) of each utterance, by `sclite -s -D`."""
        forms = [path.suffix.removeprefix(".") for path in (self.reference, self.hypothesis)]
        pair = ("-r", self.reference, forms[0], "-h", self.hypothesis, forms[1])
        command = [*SCLITE, "-s", "-D", *options, "-i", "rm", *pair]
        ran = subprocess.run(
            [*command, "-O", self.reference.parent, "-o", "pralign", "stdout"],
            capture_output=True, text=True, check=True, timeout=60,
        )  # fmt: skip
        return counts_of(ran.stdout)


@pytest.fixture
def written(tmp_path):
    """Writes files, whose names have `_` for the point."""

    def write(**texts):
        paths = [tmp_path / name.replace("_", ".") for name in texts]
        for path, text in zip(paths, texts.values(), strict=True):
            path.write_text(text)
        return paths

    return write


@pytest.fixture
def pair(written):
    """Writes references and an output."""
    return lambda **texts: Pair(*written(**texts))


def counts_of(report):
    """(#C #S #D #I) of each utterance in a report of alignments."""
    rows = re.findall(r"id: \((\S+)\)\n(?:\w+:.*\n)*?Scores: \(#C #S #D #I\) (\d+) (\d+) (\d+) (\d+)", report)
    return {row[0]: tuple(map(int, row[1:])) for row in rows}


def totals(counts):
    return tuple(map(sum, zip(*counts.values(), strict=True)))


ONE_CHANNEL = "call 1 jane 0 2 so it is\ncall 1 jane 2 4 oh no\n"
CASES = {
    "channels are scored apart": (
        "call 1 jane 0 5 so it is\ncall 2 john 0 5 oh no\n",
        "so it is (jane-000)\noh no (john-000)\n",
        (5, 0, 0, 0),
    ),
    "speakers of a channel": (
        "call 1 jane 0 2 so it is\ncall 1 john 2 4 oh no\n",
        "so it oh (jane-000)\nno (john-000)\n",
        (3, 1, 1, 0),
    ),
    "times that do not count": (
        "call 1 jane 0 2 so it is\ncall 1 x 2 4 IGNORE_TIME_SEGMENT_IN_SCORING\ncall 1 jane 4 6 oh no\n",
        "so it is (jane-000)\noh no (jane-001)\n",
        (5, 0, 0, 0),
    ),
    "alternatives": (
        "call 1 jane 0 9 { um / uh / @ } so { it is / it's {{ a / the } / @ } } not\n",
        "so it's the not (jane-000)\n",
        (4, 0, 0, 0),
    ),
    "the length is that of the alternative": (
        "call 1 jane 0 9 { so it is / oh } no\n",
        "ah no (jane-000)\n",
        (1, 1, 0, 0),
    ),
    "optional words": (
        "call 1 jane 0 9 so (uh) it (uh) is (uh)\n",
        "so uh it is ah (jane-000)\n",
        (5, 1, 0, 0),
    ),
    "optional words of the output": (
        "call 1 jane 0 9 so uh it is\n",
        "so (uh) it is (hm) (jane-000)\n",
        (5, 0, 0, 0),
    ),
    "labels, comments, tags and asterisks": (
        ';; LABEL "o" "x" "y"\n\ncall 1 jane 0 9 <o,f> so;tag it* is\n;; the end\n',
        "so it is* (jane-000)\n",
        (3, 0, 0, 0),
    ),
    "a segment without words": (
        "call 1 jane 0 2\ncall 1 jane 2 4 oh no\n",
        "so (jane-000)\noh (jane-001)\n",
        (1, 0, 1, 1),
    ),
}


@pytest.mark.parametrize(("stm", "trn", "counts"), CASES.values(), ids=CASES)
def test_stm_is_scored_as_by_sclite(pair, stm, trn, counts):
    files = pair(ref_stm=stm, hyp_trn=trn)
    assert files.counts_and_score() == (counts, pytest.approx(100 * sum(counts[1:]) / sum(counts[:3])))


TRN = "so { um / uh / @ } it (uh) is (u-1)\nhello there (u-2)\n"


def test_trn_has_the_same_markup(pair):
    files = pair(ref_trn=TRN, hyp_trn="so it is (u-1)\nhello her now (u-2)\n")
    assert files.counts_and_score() == ((5, 1, 0, 1), pytest.approx(100 / 3))
    assert files.counts("cer,whitespace=false,costs=sclite") == (16, 1, 1, 2)
    if SCLITE[0]:
        assert totals(files.by_sclite()) == (5, 1, 0, 1)
        assert totals(files.by_sclite("-c")) == (16, 1, 1, 2)


def test_any_part_of_an_alternation_may_be_written_without_spaces():
    assert str(reference_text("a {b/{c/@}d} e")) == "a { b / { c / @ } d } e"


# --- what is not done is refused --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stm", "said"),
    [
        ("call 1 jane 0 2 { so / it\n", "{ref}:1: found { without } after it"),
        ("call 1 jane 0 2 so } it\n", "{ref}:1: found } without { before it"),
        ("call 1 jane 0 2 a{ so / it }\n", "{ref}:1: found 'a{{': a space is wanted before a brace"),
        ("call 1 jane 0 2 { so / }\n", "{ref}:1: found an alternative without words"),
        ("call 1 jane 0 x so\n", "{ref}:1: the end is 'x', expected a number"),
        ("call 1 jane 0\n", "{ref}:1: found 4 columns, expected file, channel, speaker"),
    ],
)
def test_what_sclite_does_not_score_is_refused(pair, stm, said):
    files = pair(ref_stm=stm, hyp_trn="so (jane-000)\n")
    assert said.replace("{{", "{").replace("{ref}", str(files.reference)) in files.refused()


@pytest.mark.parametrize(
    ("metric", "said"),
    [
        *((m, f"{m}: found alternatives or optional words, as in `so {{ um / uh / @ }} it (uh) is`: wer, cer, ser") for m in
          ("bleu", "chrf", "ter")),
        ("cer", "the references have alternatives or optional words: spaces between them cannot be counted; give -m cer,"
                "whitespace=false"),
        ("wer,text=restore-sentence", "the text steps restore-sentence: a text step changes words by their context"),
    ],
)  # fmt: skip
def test_metrics_that_do_not_know_alternatives_refuse_them(pair, metric, said):
    files = pair(ref_trn=TRN, hyp_trn="so it is (u-1)\nhello her now (u-2)\n")
    assert said in files.refused(metric)


def test_alternatives_of_an_output_are_refused(pair):
    files = pair(ref_trn=TRN, hyp_trn="so { it / is } (u-1)\nhello (u-2)\n")
    assert f"{files.hypothesis}:1: found alternatives {{ / }} in the output of a system" in files.refused()


def test_lines_whose_first_words_are_sorted_may_have_ids(pair):
    lines = "".join(f"{letter} some words of a reference\n" for letter in "abcdef")
    files = pair(text_ref=lines, text_hyp=lines.replace("of a", "of"))
    assert "each line begins with what may be an id, as a: name the form" in files.refused()
    files.hypothesis.write_text(lines.replace("some", "sum"))
    tests = ("--bootstrap", 0, "--randomisation", 0, "--as", "tsv", "--reference-form", "kaldi")
    assert "\t20\t" in done(*files.evaluate, "-m", "wer", *tests).out


# --- ids --------------------------------------------------------------------------------------------------------------

MEETING = """\
call 1 jane 0 2 so { it is / it's }
call 1 john 2 4 oh no
call 2 john 0 2 yes
other 1 ann 0 1 hello
"""


@pytest.mark.parametrize(
    "ids",
    [("jane-000", "john-000", "john-001", "ann-000"), ("call-1", "call-2", "other-1")],
    ids=["segments", "channels"],
)
def test_lists_have_ids_of_segments_or_of_channels(written, tmp_path, ids):
    texts = {"jane-000": "so it's", "john-000": "oh no", "john-001": "yes", "ann-000": "hello",
             "call-1": "so it's oh no", "call-2": "yes", "other-1": "hello"}  # fmt: skip
    lists = "".join(
        f"{id_} ||| {text} ||| x= 1 ||| 1\n{id_} ||| so ||| x= 2 ||| 0\n" for id_, text in texts.items() if id_ in ids
    )
    ref, nbest = written(ref_stm=MEETING, lists=lists)
    tests = ("--bootstrap", 0, "--randomisation", 0, "--as", "tsv")
    rows = done("evaluate", "-r", ref, "-m", "wer", "-m", "ser", "--nbest", nbest, *tests).lines
    assert rows[1].split("\t")[:3] == ["wer", "1-best", "0"]
    done("tune", nbest, "-r", ref, "-m", "wer", "-o", tmp_path / "weights.toml")


@pytest.mark.parametrize(
    ("id_", "said"),
    [
        ("call", "call has several channels: expected ids of channels, such as call-2"),
        ("x", "segment 'x' is not in the file (1 segment: other)"),
    ],
)
def test_ids_that_references_lack_are_named(written, tmp_path, id_, said):
    ref, nbest = written(ref_stm=MEETING, lists=f"other ||| so ||| x= 1\n{id_} ||| so ||| x= 1\n")
    assert refused("tune", nbest, "-r", ref, "-m", "wer", "-o", tmp_path / "w").startswith(f"{ref}: {said}")


def test_outputs_of_stm_references_may_have_ids(pair):
    files = pair(ref_stm=MEETING, hyp="john-001 yes\njane-000 so it's\njohn-000 oh\nann-000 hello\n")
    assert files.counts() == (5, 0, 1, 0)


def test_an_stm_of_outputs_has_the_segments_of_the_references(pair):
    own = MEETING.replace("{ it is / it's }", "its").replace("jane", "spk1")
    files = pair(ref_stm=MEETING, hyp_stm=own)
    assert files.counts() == (5, 1, 0, 0)
    files.hypothesis.write_text(own.replace("other 1 ann 0", "other 1 ann 0.5"))
    assert "the segments of an STM of outputs must be those of the references" in files.refused()


# --- random pairs -----------------------------------------------------------------------------------------------------

WORDS = "abcd"


def transcript(rng, depth=0):
    pieces = []
    for _ in range(rng.randint(1, 5 - depth)):
        kind = rng.random()
        if kind < 0.2 and depth < 3:
            count = rng.randint(2, 3)
            several = [transcript(rng, depth + 1) if rng.random() > 0.2 else "@" for _ in range(count)]
            pieces.append(f"{{ {' / '.join(several)} }}")
        else:
            word = rng.choice(WORDS)
            pieces.append(f"({word})" if kind > 0.9 else word)
    return " ".join(pieces)


@needs_sclite
def test_random_transcripts_are_aligned_as_by_sclite(pair):
    rng = random.Random(5)
    texts = [transcript(rng) for _ in range(300)]
    outputs = [" ".join(rng.choice(WORDS) for _ in range(rng.randint(0, 8))) for _ in texts]
    names = [f"u-{number:04d}" for number in range(len(texts))]
    files = pair(
        ref_trn="".join(f"{text} ({name})\n" for text, name in zip(texts, names, strict=True)),
        hyp_trn="".join(f"{text} ({name})\n" for text, name in zip(outputs, names, strict=True)),
    )
    theirs = files.by_sclite()
    for name, text, output in zip(names, texts, outputs, strict=True):
        alignment = NetworkAligner(Network.of(reference_text(text)), "sclite").align(Network.of(output))
        assert tuple(alignment.count(kind) for kind in "CSDI") == theirs[name], (text, output)


# --- networks against all ways through them ---------------------------------------------------------------------------


def ways(text):
    """Every way through a marked text: its words, and how many optional ones are left out."""
    network = Network.of(text)

    def following(arc):
        return [a for a in range(1, len(network.units)) if arc in network.before[a]]

    def paths(arc):
        rest = [tail for a in following(arc) for tail in paths(a)]
        rest += [[]] if arc in network.final else []
        own = [] if network.kinds[arc] == 2 else [(network.units[arc], network.kinds[arc] == 1)]
        return [own + tail for tail in rest]

    for path in paths(0):
        places = [i for i, (_, optional) in enumerate(path) if optional]
        for left_out in product([False, True], repeat=len(places)):
            gone = {place for place, out in zip(places, left_out, strict=True) if out}
            yield [word for i, (word, _) in enumerate(path) if i not in gone], len(gone)


def test_the_fewest_errors_are_those_of_the_closest_way():
    rng = random.Random(1)
    for _ in range(150):
        text = reference_text(transcript(rng))
        output = " ".join(rng.choice(WORDS) for _ in range(rng.randint(0, 6)))
        plain = WER()
        each = [(plain.statistics([[output]], [[" ".join(way)]])[0], gone) for way, gone in ways(text)]
        errors, length = plain.statistics([[output]], [[text]])[0]
        assert errors == min(edits for (edits, _), _ in each)
        assert length in {own + gone for (edits, own), gone in each if edits == errors}
        assert SentenceErrorRate().statistics([[output]], [[text]])[0, 0] == (errors == 0)
        assert Accuracy().statistics([["a b", output]], [[text]])[1, 0] == (errors == 0)


def test_segments_with_and_without_alternatives_are_scored_together():
    metric, marked = WER(), reference_text("so { it is / it's } not")
    lists, references = [["so it's not", "so it"], ["oh no", "oh"], ["so"]], [[marked], ["oh no"], [marked, "so so"]]
    assert metric.statistics(lists, references).tolist() == [[0, 3], [2, 3], [0, 2], [1, 2], [1, 2.5]]
    assert CER(whitespace=False).statistics([["so its not"]], [[marked]]).tolist() == [[1, 9]]


def test_a_transcript_is_another_type_and_spelt_as_nist_does():
    text = reference_text("{ um / @ } so (uh) and/or (it (x")
    assert isinstance(text, Transcript)
    assert type(reference_text("and/or (it x;y")) is str
    assert str(text) == "{ um / @ } so (uh) and/or (it (x"
    assert text not in {str(text)}
    assert pickle.loads(pickle.dumps(text)) == text
    assert first_alternative(text) == "um so uh and/or (it (x"
    assert hypothesis_text("so @ it") == "so it"
    (upper,) = change_words([text], lambda texts: [t.upper() for t in texts])
    assert str(upper) == "{ UM / @ } SO (UH) AND/OR (IT (X"
    with pytest.raises(ValueError, match="a text step changes words by their context"):
        change_words([text], lambda texts: [t[:1].upper() + t[1:] for t in texts])


@pytest.mark.parametrize(
    ("form", "sign"), [*(("text", sign) for sign in "(){}/@"), *(("trn", sign) for sign in "()/@"), ("trn", "")]
)
def test_a_noncharacter_of_unicode_is_a_character_of_a_word(pair, form, sign):
    """No character of a text is a sign of the markup, whatever program wrote it."""
    end = " (u-1)" * (form == "trn")
    files = pair(**{f"ref_{form}": f"so it is{end}\n", f"hyp_{form}": f"so \ufdd0{sign} it is{end}\n"})
    assert files.counts("wer") == (3, 0, 0, 1)

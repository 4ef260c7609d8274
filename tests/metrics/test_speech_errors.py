"""Kinds of word errors, alignments and the matched-pairs test: agreement with jiwer and sclite, and hand-made cases."""

import json
import math
import re
import shutil
import subprocess
from itertools import product

import jiwer
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerank_adapters.evaluation import Evaluation, Resampling, SegmentFacts, evaluate
from rerank_adapters.evaluation.errors import matched_pairs
from rerank_adapters.metrics.accuracy import SentenceErrorRate
from rerank_adapters.metrics.bleu import Bleu
from rerank_adapters.metrics.edit_rate import CER, WER
from rerank_adapters.metrics.word_networks import Network, NetworkAligner
from rerank_adapters.report.tables import alignment_report, error_table, group_table
from rerank_adapters.texts.transcript import reference_text
from rerank_plugins.core.errors import ConfigError
from rerank_plugins.testing import check_metric
from tests.command_line import done, refused
from tests.conftest import SHARED_DATA

SCLITE = [shutil.which("sctk"), "sclite"] if shutil.which("sctk") else [shutil.which("sclite")]
needs_sclite = pytest.mark.skipif(not SCLITE[0], reason="NIST's sclite (Debian package sctk) is not installed")
COSTS = {"levenshtein": (1, 1), "sclite": (4, 3)}  # of a substitution; of an insertion or deletion
WORDS = st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=7)


def align(hypothesis, reference, costs="levenshtein"):
    return NetworkAligner(Network.line(reference), costs).align(Network.line(hypothesis))


def cheapest(hypothesis, reference, substitution, gap):
    """The lowest cost of an alignment, by plain recursion."""
    if not hypothesis or not reference:
        return gap * (len(hypothesis) + len(reference))
    same = 0 if hypothesis[0] == reference[0] else substitution
    return min(
        cheapest(hypothesis[1:], reference[1:], substitution, gap) + same,
        cheapest(hypothesis[1:], reference, substitution, gap) + gap,
        cheapest(hypothesis, reference[1:], substitution, gap) + gap,
    )


@given(WORDS, WORDS, st.sampled_from(list(COSTS)))
def test_alignments_are_cheapest_and_hold_both_texts(hypothesis, reference, costs):
    alignment = align(hypothesis, reference, costs)
    assert [word for word in alignment.reference if word is not None] == reference
    assert [word for word in alignment.hypothesis if word is not None] == hypothesis
    for operation, ref, hyp in zip(alignment.operations, alignment.reference, alignment.hypothesis, strict=True):
        kind = "I" if ref is None else "D" if hyp is None else "C" if ref == hyp else "S"
        assert operation == kind
    substitution, gap = COSTS[costs]
    price = substitution * alignment.count("S") + gap * (alignment.count("I") + alignment.count("D"))
    assert price == cheapest(hypothesis, reference, substitution, gap)


@given(WORDS, WORDS)
def test_errors_are_jiwers(hypothesis, reference):
    reference = reference or ["a"]
    theirs = jiwer.process_words(" ".join(reference), " ".join(hypothesis))
    ours = align(hypothesis, reference)
    assert ours.errors == theirs.substitutions + theirs.deletions + theirs.insertions


def test_costs_of_sclite_can_count_more_errors():
    """Five substitutions and an insertion (6 errors) cost 23 with sclite; two matches and 7 gaps (7 errors) cost 21."""
    reference, hypothesis = ["b", "e", "c", "d", "d"], ["d", "d", "a", "b", "a", "e"]
    assert align(hypothesis, reference).errors == 6
    assert align(hypothesis, reference, "sclite").errors == 7
    texts = [[" ".join(hypothesis)]], [[" ".join(reference)]]
    assert WER().statistics(*texts).tolist() == [[6.0, 5.0]]
    assert WER(costs="sclite").statistics(*texts).tolist() == [[7.0, 5.0]]


def test_wrong_costs_are_refused():
    with pytest.raises(ValueError, match="costs is 'nist'; wanted one of levenshtein, sclite"):
        WER(costs="nist")


@pytest.mark.parametrize("metric", [WER(costs="sclite"), SentenceErrorRate()], ids=["sclite", "ser"])
def test_contract(metric):
    check_metric(metric)


# --- sclite -----------------------------------------------------------------------------------------------------------


def sclite_counts(folder, references, outputs):
    """(#C #S #D #I) of each utterance, by sclite, and its file of alignments."""
    for name, texts in (("ref", references), ("hyp", outputs)):
        (folder / name).write_text("".join(f"{text} (a-{i:05d})\n" for i, text in enumerate(texts)))
    command = [*SCLITE, "-s", "-i", "rm", "-r", folder / "ref", "trn", "-h", folder / "hyp", "trn"]
    ran = subprocess.run([*command, "-o", "pralign", "stdout"], capture_output=True, text=True, check=True)
    counts = re.findall(r"id: \(a-(\d+)\)\nScores: \(#C #S #D #I\) (\d+) (\d+) (\d+) (\d+)", ran.stdout)
    return [tuple(map(int, row[1:])) for row in sorted(counts, key=lambda row: int(row[0]))], ran.stdout


def our_counts(references, outputs):
    alignments = [align(o.split(), r.split(), "sclite") for o, r in zip(outputs, references, strict=True)]
    return [tuple(alignment.count(kind) for kind in "CSDI") for alignment in alignments]


@needs_sclite
def test_hand_cases_agree_with_sclite(tmp_path):
    texts = ["a b c", "b", "x y a z", "a c b", "d d a b c", "c b a", "a a a a", "b c d"]
    references, outputs = zip(*product(texts, texts), strict=True)
    theirs, report = sclite_counts(tmp_path, references, outputs)
    assert our_counts(references, outputs) == theirs
    ours = [align(o.split(), r.split(), "sclite") for o, r in zip(outputs, references, strict=True)]
    written = "".join(alignment_report("hyp", [f"a-{i:05d}" for i in range(len(ours))], ours))
    wanted = [line.rstrip() for line in report.splitlines() if line.startswith(("REF:", "HYP:", "Eval:"))]
    shown = [line for line in written.splitlines() if line.startswith(("REF:", "HYP:", "Eval:"))]
    assert [" ".join(line.split()) for line in shown] == [" ".join(line.split()) for line in wanted]


@needs_sclite
@pytest.mark.slow
def test_a_whole_set_agrees_with_sclite(tmp_path):
    path = SHARED_DATA / "asr_nbest_hyporadise" / "commonvoice_test.jsonl"
    if not path.is_file():
        pytest.skip(f"{path} is not there")
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    references, outputs = [row["ref"] for row in rows], [row["hyps"][-1] for row in rows]
    theirs, _ = sclite_counts(tmp_path, references, outputs)
    assert our_counts(references, outputs) == theirs
    statistics = WER(costs="sclite").statistics([[o] for o in outputs], [[r] for r in references])
    assert statistics[:, 0].sum() == sum(sum(row[1:]) for row in theirs)


# --- matched pairs ----------------------------------------------------------------------------------------------------


def pairs(reference, first, second):
    return align(first.split(), reference.split(), "sclite"), align(second.split(), reference.split(), "sclite")


def test_two_correct_words_of_both_systems_end_a_stretch():
    """Gillick & Cox 1989, figure 1 in small: stretches with (1, 0), (1, 1) and (0, 2) errors."""
    reference = "a b c d e f g h i j"
    result = matched_pairs([pairs(reference, "x b c y e f g h i j", "a b c z e f g x y j")])
    assert result.segments == 3
    assert result.mean == pytest.approx((1 + 0 - 2) / 3)
    deviation = np.std([1, 0, -2], ddof=1)
    assert result.z == pytest.approx(result.mean / (deviation / np.sqrt(3)))
    joined = matched_pairs([pairs(reference, "x b y d e f g h i j", "a b c d e f g h i j")])
    assert (joined.segments, joined.mean) == (1, 2.0)  # one correct word alone does not end a stretch


def test_an_insertion_ends_the_run_of_correct_words():
    apart = matched_pairs([pairs("a b c d", "x b c d y", "a b c d")])
    assert apart.segments == 2
    near = matched_pairs([pairs("a b c d", "x b y c d", "a b c d")])
    assert near.segments == 1


def test_equal_systems_do_not_differ():
    same = [pairs("a b c", "a x c", "a x c")] * 5
    assert (matched_pairs(same).z, matched_pairs(same).p) == (0.0, 1.0)
    assert matched_pairs([]).p == 1.0


@pytest.mark.parametrize("utterances", [1, 2, 40])
def test_equal_differences_have_no_p(utterances):
    result = matched_pairs([pairs("a b c d", "x b c d", "a b c d")] * utterances)
    assert (result.segments, result.mean, result.z, result.p) == (utterances, 1.0, None, None)


def test_the_report_warns_of_few_stretches_and_has_no_p_without_spread():
    def table(first, second, utterances):
        systems = {"one": [first] * utterances, "two": [*[second] * (utterances - 1), second + " x"]}
        result = evaluate(systems, [["a b c d"]] * utterances, {"wer": WER()}, Resampling(bootstrap=0, randomisation=0))
        assert Evaluation.from_json(result.to_json()) == result
        return error_table(result, result.metrics[0])

    same = table("x b c d", "a b c d", 2)  # stretches with (1, 0), (1, 0) and (0, 1) errors
    assert same.rows[1][-1] not in ("", "none")
    assert any("Warning: it takes Z to be normal; 3 stretches with errors" in note for note in same.notes)
    assert not any("Warning" in note for note in table("x b c d", "a b c d", 40).notes)
    equal = table("a b c d", "x b c d", 1)
    assert equal.rows[1][-1] == "none"
    assert any("no p where all stretches" in note for note in equal.notes)


@needs_sclite
@pytest.mark.skipif(len(SCLITE) < 2, reason="sc_stats is called through sctk")
def test_stretches_are_those_of_sc_stats(tmp_path):
    rng = np.random.default_rng(0)

    def noisy(words):
        return " ".join(w if rng.random() > 0.25 else str(rng.choice(["", "x", "y z", "a"])) for w in words)

    references = [" ".join(rng.choice(list("abcdefg"), 12)) for _ in range(60)]
    systems = [[" ".join(noisy(r.split()).split()) or "x" for r in references] for _ in range(2)]
    (tmp_path / "ref").write_text("".join(f"{r} (a-{i:03d})\n" for i, r in enumerate(references)))
    sgml = ""
    for number, outputs in enumerate(systems):
        path = tmp_path / f"system{number}"
        path.write_text("".join(f"{o} (a-{i:03d})\n" for i, o in enumerate(outputs)))
        command = [*SCLITE, "-s", "-i", "rm", "-r", tmp_path / "ref", "trn", "-h", path, "trn", "-o", "sgml", "stdout"]
        sgml += subprocess.run(command, capture_output=True, text=True, check=True).stdout
    command = [SCLITE[0], "sc_stats", "-p", "-t", "mapsswe", "-v", "-n", "-"]
    report = subprocess.run(command, input=sgml, capture_output=True, text=True, cwd=tmp_path, check=False).stdout
    theirs = int(re.search(r"Number of Segments\s+(\d+)", report)[1])
    ours = matched_pairs([pairs(r, a, b) for r, a, b in zip(references, *systems, strict=True)])
    assert ours.segments == theirs


# --- reports ----------------------------------------------------------------------------------------------------------

REFERENCES = [["a b c"], ["d e"], ["f g h i"]]
SYSTEMS = {"first": ["a b", "d e", "f x h i j"], "second": ["a b c", "d", "f g h i"]}


def compared(groups=None, *, resample_groups=False):
    metrics = {"WER": WER(), "CER": CER(), "BLEU": Bleu()}
    return evaluate(SYSTEMS, REFERENCES, metrics, Resampling(groups=resample_groups), SegmentFacts(groups=groups))


def test_kinds_of_errors_are_counted():
    words, _, bleu = compared().metrics
    first, second = words.errors
    assert (first.correct, first.substitutions, first.deletions, first.insertions) == (7, 1, 1, 1)
    assert (first.wrong_segments, first.reference_units) == (2, 9)
    assert (second.errors, second.wrong_segments) == (1, 1)
    assert second.matched_pairs is not None
    assert first.matched_pairs is None
    assert bleu.errors == ()
    assert 100 * first.errors / first.reference_units == pytest.approx(words.of("first").score)
    table = error_table(compared(), words)
    assert table.rows[0][:7] == ("first", "77.78", "11.11", "11.11", "11.11", "33.33", "66.67")


def test_several_references_have_no_matched_pairs():
    references = [[*refs, "z"] for refs in REFERENCES]
    result = evaluate(SYSTEMS, references, {"WER": WER()})
    assert [counts.matched_pairs for counts in result.metrics[0].errors] == [None, None]


def test_scores_by_group_and_resampling_of_groups():
    result = compared(groups=["eve", "adam", "eve"])
    assert [group.name for group in result.groups] == ["adam", "eve"]
    assert result.metrics[0].of("first").group_scores == pytest.approx((0.0, 100 * 3 / 7))
    assert group_table(result, result.metrics[0]).rows[1][:2] == ("eve", "2")
    whole = compared(groups=["eve", "adam", "eve"], resample_groups=True)
    single = compared(groups=["a", "b", "c"], resample_groups=True)
    assert whole.unit == "groups"
    assert whole.metrics[0].systems != result.metrics[0].systems
    scores = [(s.score, s.interval, s.comparison) for s in single.metrics[0].systems]
    assert scores == [(s.score, s.interval, s.comparison) for s in compared().metrics[0].systems]
    assert Evaluation.from_json(whole.to_json()) == whole
    with pytest.raises(ConfigError, match="the segments have no groups"):
        compared(resample_groups=True)


@pytest.fixture
def files(tmp_path):
    ids = ["u1", "u2", "u3"]
    (tmp_path / "ref.trn").write_text("".join(f"{r[0]} ({i})\n" for i, r in zip(ids, REFERENCES, strict=True)))
    for name, outputs in SYSTEMS.items():
        (tmp_path / name).write_text("".join(f"{o} ({i})\n" for i, o in zip(ids, outputs, strict=True)))
    (tmp_path / "utt2spk").write_text("u1 eve\nu2 adam\nu3 eve\n")
    systems = [tmp_path / name for name in SYSTEMS]
    return ("evaluate", "-r", tmp_path / "ref.trn", "--reference-form", "trn", "-m", "wer", *systems)


def test_the_command_shows_errors_groups_and_alignments(files, tmp_path):
    ran = done(*files, "--groups", tmp_path / "utt2spk", "--resample-groups", "--alignments", tmp_path / "pra")
    assert "wer: kinds of errors" in ran.out
    assert "wer by group" in ran.out
    assert "Resamples are drawn of whole groups" in ran.out
    written = (tmp_path / "pra").read_text()
    assert "id: (u3)\nScores: (#C #S #D #I) 3 1 0 1\nREF:  f g h i *\nHYP:  f x h i j\nEval:   S     I\n" in written
    page = done(*files, "--groups", tmp_path / "utt2spk", "--as", "html").out
    assert "kinds of errors" in page


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--resample-groups"], "the segments have no groups"),
        (["--groups", "{folder}/few"], "few: no group for segment 'u3'; the file has 2 segments"),
        (["--groups", "{folder}/wide"], "wide:2: found 3 columns, expected an id and its group"),
        (["--groups", "{folder}/twice"], "twice:2: the id 'u1' has a group already"),
    ],
)
def test_wrong_flags_are_refused(files, tmp_path, flags, message):
    (tmp_path / "few").write_text("u1 eve\nu2 adam\n")
    (tmp_path / "wide").write_text("u1 eve\nu2 adam smith\nu3 eve\n")
    (tmp_path / "twice").write_text("u1 eve\nu1 adam\nu3 eve\n")
    assert message in refused(*files, *(flag.format(folder=tmp_path) for flag in flags))


def test_alignments_need_a_metric_that_aligns(files, tmp_path):
    others = [flag if flag != "wer" else "bleu" for flag in files]
    assert "no metric aligns words" in refused(*others, "--alignments", tmp_path / "pra")


def test_two_stretches_are_enough_for_a_deviation():
    """One and three errors more than the other system: mean 2, deviation √2, so that Z = 2."""
    found = matched_pairs([pairs("a b c d", worse, "a b c d") for worse in ("x b c d", "x y z d")])
    assert (found.segments, found.mean) == (2, 2.0)
    assert found.z == pytest.approx(2.0)
    assert found.p == pytest.approx(math.erfc(2 / math.sqrt(2)))


def test_a_sentence_is_right_by_one_way_through_its_alternatives():
    """Only the reference has them, or only one of two references."""
    marked = reference_text("so { it is / it's } not")
    texts = ["so it's not", "so it is not", "so not"]
    for references in ([marked], ["so it", marked]):
        assert SentenceErrorRate().statistics([texts], [references]).tolist() == [[1, 1], [1, 1], [0, 1]]

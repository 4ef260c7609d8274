"""Every command of `rerank` on a small part of the example, as a user gives it."""

import gzip
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import click
import numpy as np
import pytest

from rerank_adapters.cli import cli
from rerank_adapters.commands import COMMANDS as CHAIN
from rerank_adapters.commands import ORDER
from rerank_adapters.commands.options import PLUGIN_HELP
from rerank_adapters.evaluation import Evaluation
from rerank_adapters.formats.dialects import MosesFormat
from rerank_adapters.formats.reading import read_nbest
from rerank_adapters.weights import read_weights
from rerank_plugins import FeatureTable
from tests.command_line import RERANK, done, in_process_of_its_own, refused, rerank

COMMANDS = [name.replace("_", "-") for name in ORDER]
OWN = ("Distortion0", "LM0", "WordPenalty0", "PhrasePenalty0", *(f"TranslationModel0_{i}" for i in range(4)))
BLEU = ("-m", "bleu,tokenize=none")


@pytest.fixture(scope="module")
def tuned(small, tmp_path_factory):
    """A table of the tuning lists, and weights tuned on it."""
    folder = tmp_path_factory.mktemp("tuned")
    features = (
        "-f",
        "length",
        "-f",
        "consensus,max_order=2,length=false",
        "-f",
        f"ngram-lm,label=lm,model={small}/lm.arpa",
    )
    done("extract", small / "tune.nbest", "--source", small / "tune.de", *features, "-o", folder / "tune.npz")
    done(
        *("tune", small / "tune.nbest", "--table", folder / "tune.npz", "-r", small / "tune.en", *BLEU),
        *("-t", "mira,passes=10", "-o", folder / "weights.toml"),
    )
    return folder


def names(folder):
    return {path.name for path in folder.iterdir()}


# --- the steps


def test_extract_gives_the_decoders_features_and_the_new_ones(small, tuned):
    table = FeatureTable.load(tuned / "tune.npz")
    assert table.names == (*OWN, "length", "consensus.1", "consensus.2", "lm.total", "lm.per_word", "lm.oovs")
    assert (table.segments, len(table.values)) == (20, 200)
    first = read_nbest([small / "tune.nbest"], MosesFormat())[0]
    assert table.values[0, : len(OWN)].tolist() == list(first[0].features)
    assert table.values[0, len(OWN)] == len(first[0].words)
    assert names(tuned) == {"tune.npz", "weights.toml"}  # no parts of the extraction


def test_one_process_or_two_give_the_same_bytes(small, tmp_path):
    for jobs in (1, 2):
        done(
            "extract",
            small / "tune.nbest",
            "-j",
            jobs,
            "-f",
            "unigram",
            "-f",
            "consensus",
            "-o",
            tmp_path / f"{jobs}.npz",
        )
    assert (tmp_path / "1.npz").read_bytes() == (tmp_path / "2.npz").read_bytes()


def test_weights_say_how_they_were_made(tuned):
    weights = read_weights(tuned / "weights.toml")
    assert tuple(weights.dense) == FeatureTable.load(tuned / "tune.npz").names
    made = weights.provenance
    assert made["seed"] == 1
    assert made["options"]["passes"] == 10
    assert "tok:none" in made["metric"]
    assert [feature["use"] for feature in made["job"]["feature"]] == ["length", "consensus", "ngram-lm"]


def test_tuning_at_once_and_on_a_table_give_the_same_weights(small, tuned, tmp_path):
    features = (
        "-f",
        "length",
        "-f",
        "consensus,max_order=2,length=false",
        "-f",
        f"ngram-lm,label=lm,model={small}/lm.arpa",
    )
    done(
        *("tune", small / "tune.nbest", "--source", small / "tune.de", "-r", small / "tune.en", *BLEU, *features),
        *("-t", "mira,passes=10", "-o", tmp_path / "weights.toml"),
    )
    one, other = read_weights(tmp_path / "weights.toml"), read_weights(tuned / "weights.toml")
    assert one.dense == other.dense
    assert names(tmp_path) == {"weights.toml"}


CONSENSUS = ("-f", "consensus,max_order=2,length=false")


def features_of(weights: Path) -> list[str]:
    return [name for name in read_weights(weights).dense if name not in OWN]


def test_features_named_beside_a_table_choose_its_columns(small, tuned, tmp_path):
    tune = ("tune", small / "tune.nbest", "-r", small / "tune.en", *BLEU, "-t", "mira,passes=3", "-o")
    table = ("--table", tuned / "tune.npz")
    for number, names in enumerate([("-f", "length"), (*CONSENSUS, "-f", "length"), ("-f", "lm")]):
        ran = done(*tune, tmp_path / f"{number}.toml", *table, *names)
        assert "extracted" not in ran.err
    assert features_of(tmp_path / "0.toml") == ["length"]
    assert features_of(tmp_path / "1.toml") == ["consensus.1", "consensus.2", "length"]
    assert features_of(tmp_path / "2.toml") == ["lm.total", "lm.per_word", "lm.oovs"]  # a label of the table
    done(*tune, tmp_path / "without.toml", *CONSENSUS, "-f", "length")
    assert read_weights(tmp_path / "1.toml").dense == read_weights(tmp_path / "without.toml").dense
    assert done("apply", small / "test.nbest", "-w", tmp_path / "2.toml").out  # weights know the chosen features alone


def test_what_a_table_lacks_or_has_with_other_options_is_extracted(small, tuned, tmp_path):
    tune = ("tune", small / "tune.nbest", "-r", small / "tune.en", *BLEU, "-t", "mira,passes=3", "-o")
    asked = ("-f", "length", "-f", "consensus,max_order=2", "-f", "unigram")
    ran = done(*tune, tmp_path / "table.toml", "--table", tuned / "tune.npz", *asked)
    said = [line for line in ran.err.splitlines() if "extracted" in line]
    assert said == [
        f"{tuned}/tune.npz: the feature 'consensus' was made with other options, files or code: it is extracted now",
        f"{tuned}/tune.npz: the feature 'unigram' is not in the table: it is extracted now",
    ]
    done(*tune, tmp_path / "now.toml", *asked)
    assert read_weights(tmp_path / "table.toml").dense == read_weights(tmp_path / "now.toml").dense
    assert names(tmp_path) == {"table.toml", "now.toml"}


def test_a_model_that_changed_since_its_column_was_made_is_read_again(small, tmp_path):
    (tmp_path / "lm.arpa").write_bytes((small / "lm.arpa").read_bytes())
    lm = ("-f", f"ngram-lm,model={tmp_path}/lm.arpa")
    done("extract", small / "tune.nbest", *lm, "-o", tmp_path / "t.npz")
    tune = ("tune", small / "tune.nbest", "-r", small / "tune.en", "-t", "mira,passes=1", "-o", tmp_path / "w.toml")
    assert "extracted" not in done(*tune, "--table", tmp_path / "t.npz", *lm).err
    with open(tmp_path / "lm.arpa", "a", encoding="utf-8") as model:
        model.write("\n")
    assert "other options, files or code" in done(*tune, "--table", tmp_path / "t.npz", *lm).err


def test_cross_validation_of_chosen_columns_is_that_of_the_features(small, tuned):
    validate = (
        *("cross-validate", small / "tune.nbest", "-r", small / "tune.en", *BLEU),
        *("-t", "mira,passes=3", "--folds", "2", "--seeds", "1"),
    )
    table = ("--table", tuned / "tune.npz")
    without = done(*validate, "-f", "length").out
    assert done(*validate, *table, "-f", "length").out == without
    assert done(*validate, *table).out != without


def test_apply_takes_of_a_table_what_the_weights_need(small, tuned, tmp_path):
    done(
        *("tune", small / "tune.nbest", "-r", small / "tune.en", "-t", "mira,passes=3", "-f", "length"),
        *("-o", tmp_path / "w.toml"),
    )
    apply = ("apply", small / "tune.nbest", "-w", tmp_path / "w.toml")
    assert done(*apply, "--table", tuned / "tune.npz").out == done(*apply).out


def test_apply_from_a_table_streaming_and_from_stdin_agree(small, tuned, tmp_path):
    apply = ("apply", "-w", tuned / "weights.toml", "--source", small / "tune.de")
    streamed = done(*apply, small / "tune.nbest").out
    assert done(*apply, small / "tune.nbest", "--table", tuned / "tune.npz").out == streamed
    assert done(*apply, "-", stdin=(small / "tune.nbest").read_bytes()).out == streamed
    done(*apply, small / "tune.nbest", "-j", "1", "-o", tmp_path / "best")
    assert (tmp_path / "best").read_text() == streamed
    first = [nbest[0].text for nbest in read_nbest([small / "tune.nbest"], MosesFormat())]
    assert len(streamed.splitlines()) == 20
    assert streamed.splitlines() != first  # the weights do something


def test_the_reranked_lists_hold_new_features_and_totals_in_order(small, tuned, tmp_path):
    weights = tuned / "weights.toml"
    ran = done(
        "apply", small / "test.nbest", "-w", weights, "--source", small / "test.de", "--nbest-out", tmp_path / "out.gz"
    )
    before = {nbest.segment_id: nbest for nbest in read_nbest([small / "test.nbest"], MosesFormat())}
    after = read_nbest([tmp_path / "out.gz"], MosesFormat(dense=("*",)))
    assert (tmp_path / "out.gz").read_bytes()[:2] == b"\x1f\x8b"
    assert [nbest[0].text for nbest in after] == ran.lines
    dense = read_weights(weights).dense
    for nbest in after:
        assert sorted(nbest.texts) == sorted(before[nbest.segment_id].texts)
        totals = [h.score for h in nbest]
        assert totals == sorted(totals, reverse=True)
        for h in nbest:
            values = dict(zip(nbest.feature_names, h.features, strict=True))
            assert values.keys() == dense.keys()
            assert values["length"] == len(h.words)
            assert h.score == pytest.approx(sum(dense[name] * value for name, value in values.items()), abs=1e-9)


def test_weights_and_tables_may_be_moved_with_their_models(small, tmp_path, monkeypatch):
    here = tmp_path / "here"
    shutil.copytree(small, here)
    monkeypatch.chdir(here)
    done("extract", "tune.nbest", "-f", "ngram-lm,model=lm.arpa", "-o", "tune.npz")
    done("tune", "tune.nbest", "--table", "tune.npz", "-r", "tune.en", "-t", "mira,passes=2", "-o", "w.toml")
    best = done("apply", "test.nbest", "-w", "w.toml").out
    monkeypatch.chdir(tmp_path)
    here.rename(tmp_path / "there")
    assert done("apply", "there/test.nbest", "-w", "there/w.toml").out == best
    done(
        "tune",
        "there/tune.nbest",
        "--table",
        "there/tune.npz",
        "-r",
        "there/tune.en",
        "-t",
        "mira,passes=2",
        "-o",
        "w.toml",
    )
    assert done("apply", "there/test.nbest", "-w", "w.toml").out == best


def test_weights_of_the_decoder_apply_to_its_lists(root, small):
    best = done("apply", small / "test.nbest", "-w", root / "example_nbest" / "mt" / "moses.ini").lines
    assert best == [nbest[0].text for nbest in read_nbest([small / "test.nbest"], MosesFormat())]


def test_start_and_fixed_weights(small, tmp_path):
    tune = (
        "tune",
        small / "tune.nbest",
        "-r",
        small / "tune.en",
        *BLEU,
        "-t",
        "mira,passes=3",
        "-o",
        tmp_path / "w.toml",
    )
    done(*tune, "--start", "decoder", "--fix", "LM0", "--fix", "TranslationModel0_2")
    weights = read_weights(tmp_path / "w.toml").dense
    assert weights["LM0"] == pytest.approx(0.5, abs=1e-4)  # as in the decoder's moses.ini
    assert weights["TranslationModel0_2"] == pytest.approx(0.2, abs=1e-4)
    assert weights["WordPenalty0"] != pytest.approx(-1.0, abs=1e-6)
    done(*tune, "--start", tmp_path / "w.toml", "--fix", "LM0")
    assert read_weights(tmp_path / "w.toml").dense["LM0"] == weights["LM0"]


def test_a_decoders_weights_are_a_start_for_more_features(root, small, tmp_path):
    template = root / "example_nbest" / "mt" / "moses.ini"
    tune = ("tune", small / "tune.nbest", "-r", small / "tune.en", *BLEU, "-t", "mira,passes=3", "-o", "-")
    made = done(*tune, "-f", "length", "--start", template, "--fix", "LM0", "--fix", "length").out
    (tmp_path / "w.toml").write_text(made)  # weights may go to stdout
    weights = read_weights(tmp_path / "w.toml").dense
    assert (weights["LM0"], weights["length"]) == (0.5, 0.0)
    assert weights["WordPenalty0"] != -1.0


def test_the_same_seed_gives_the_same_weights_another_seed_others(small, tmp_path):
    found = []
    for seed in (1, 1, 2):
        tune = ("tune", small / "tune.nbest", "-r", small / "tune.en", "-t", "mert,restarts=2", "--seed", seed)
        done(*tune, "-o", tmp_path / "w.toml")
        found.append(read_weights(tmp_path / "w.toml").dense)
    assert found[0] == found[1] != found[2]


def test_mbr_decisions_are_tuned_and_applied(small, tmp_path):
    done(
        "tune",
        small / "tune.nbest",
        "-r",
        small / "tune.en",
        *BLEU,
        "-t",
        "mbr,evidence=5,scales=9",
        "-o",
        tmp_path / "w.toml",
    )
    weights = read_weights(tmp_path / "w.toml")
    assert (weights.decision, weights.evidence) == ("mbr", 5)
    ran = done("apply", small / "test.nbest", "-w", tmp_path / "w.toml", "--nbest-out", tmp_path / "out")
    assert len(ran.lines) == 20
    for nbest in read_nbest([tmp_path / "out"], MosesFormat()):
        totals = [h.score for h in nbest]
        assert totals == sorted(totals, reverse=True)
        assert 0 <= totals[-1] <= totals[0] <= 100  # expected BLEU


# --- sparse features, other formats


SPARSE = """\
0 ||| good one ||| LM0= -2 W0= -2 wt_a~good= 1 ||| -2
0 ||| bad one ||| LM0= -1 W0= -2 wt_a~bad= 1 ||| -1
1 ||| good two here ||| LM0= -3 W0= -3 wt_a~good= 1 pp_x= 2 ||| -3
1 ||| bad two here ||| LM0= -1 W0= -3 wt_a~bad= 1 pp_x= 2 ||| -1
2 ||| bad three there now ||| LM0= -1 W0= -4 wt_a~bad= 1 ||| -1
2 ||| good three there now ||| LM0= -4 W0= -4 wt_a~good= 1 ||| -4
"""
SPARSE_REFERENCES = "good one\ngood two here\ngood three there now\n"
OTHER_NAMES = """\
5 ||| bad five ||| LM0= -1 W0= -2 wt_a~bad= 1 wt_new= 7 ||| -1
5 ||| good five ||| LM0= -2 W0= -2 wt_a~good= 1 ||| -2
"""


@pytest.fixture
def sparse(tmp_path):
    (tmp_path / "tune.nbest").write_text(SPARSE)
    (tmp_path / "tune.en").write_text(SPARSE_REFERENCES)
    (tmp_path / "test.nbest").write_text(OTHER_NAMES)
    return tmp_path


def test_mira_tunes_sparse_features_and_unknown_ones_weigh_nothing(sparse):
    done(
        "tune",
        sparse / "tune.nbest",
        "-r",
        sparse / "tune.en",
        "-t",
        "mira,C=0.1",
        "-m",
        "wer",
        "-o",
        sparse / "w.toml",
    )
    weights = read_weights(sparse / "w.toml")
    assert set(weights.dense) == {"LM0", "W0"}
    assert weights.sparse["wt_a~good"] > 0 > weights.sparse["wt_a~bad"]
    assert done("apply", sparse / "test.nbest", "-w", sparse / "w.toml").lines == ["good five"]
    assert done("apply", sparse / "tune.nbest", "-w", sparse / "w.toml").out == SPARSE_REFERENCES


def test_sparse_features_of_a_table_and_of_streaming_lists_count_alike(sparse):
    (sparse / "w.toml").write_text('[dense]\nLM0 = 1.0\nW0 = 0.5\n[sparse]\n"wt_a~good" = 5.0\npp_x = -9\nunseen = 1\n')
    done("extract", sparse / "tune.nbest", "-o", sparse / "t.npz")
    apply = ("apply", sparse / "tune.nbest", "-w", sparse / "w.toml", "--nbest-out")
    best = done(*apply, sparse / "a").lines
    assert done(*apply, sparse / "b", "--table", sparse / "t.npz").lines == best
    assert (sparse / "a").read_text() == (sparse / "b").read_text()
    assert best == ["good one", "good two here", "good three there now"]
    totals = [h.score for nbest in read_nbest([sparse / "a"], MosesFormat()) for h in nbest]
    assert totals == [-2 - 1 + 5, -1 - 1, -3 - 1.5 + 5 - 18, -1 - 1.5 - 18, -4 - 2 + 5, -1 - 2]


def test_weights_that_kbmira_wrote_without_names_apply_by_position(sparse):
    (sparse / "w").write_text("F0 -1.0\nF1 0.0\nwt_a~bad 0.5\n")
    assert done("apply", sparse / "tune.nbest", "-w", sparse / "w").out == SPARSE_REFERENCES
    (sparse / "w").write_text("F0 1.0\nF1 0.0\n")
    assert done("apply", sparse / "tune.nbest", "-w", sparse / "w").lines[0] == "bad one"


def test_mert_leaves_sparse_features_fixed_and_says_so(sparse):
    tune = ("tune", sparse / "tune.nbest", "-r", sparse / "tune.en", "-m", "wer", "-o", sparse / "w.toml")
    ran = done(*tune, "-t", "mert,restarts=2")
    assert re.search(r"sparse features? .*(fixed|start)", ran.err), ran.err
    assert not any(read_weights(sparse / "w.toml").sparse.values())
    done("apply", sparse / "test.nbest", "-w", sparse / "w.toml")


SPEECH = """\
{"id": "atis_0001", "hyps": ["two words", "to words"], "scores": [-2, -1]}
{"id": "atis_0000", "hyps": ["so it is", "so it was"], "scores": [-1, -2]}
"""


@pytest.mark.parametrize(
    "references", ["atis_0000 so it was\natis_0001 two words\n", "so it was (atis_0000)\ntwo words (atis_0001)\n"]
)
def test_utterances_and_transcripts_are_matched_by_id(references, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("lists").write_text(SPEECH)
    Path("refs").write_text(references)
    speech = ("--format", "hyporadise,id_key=id", "-r", "refs", "-m", "wer")
    report = json.loads(done("evaluate", "--nbest", "lists", *speech, "--as", "json").out)
    assert report["metrics"][0]["systems"][0]["score"] == pytest.approx(100 * 1 / 5)
    assert [(s["segment_id"], s["references"]) for s in report["segments"]] == [
        ("atis_0001", ["two words"]),
        ("atis_0000", ["so it was"]),
    ]
    done(
        "tune", "lists", *speech, "-t", "mira,passes=2", "-f", "decoder-score", "-f", "reciprocal-rank", "-o", "w.toml"
    )
    assert "error" not in done("check", "--nbest", "lists", *speech).out
    said = refused("evaluate", "--nbest", "lists", *speech, "--reference-form", "lines")
    assert said == "refs: segment id 'atis_0001' is not a number: it names no line of this file"
    Path("refs").write_text("atis_0000 so it was\n")
    said = refused("tune", "lists", *speech, "-o", "w.toml")
    assert said.startswith("refs: no reference for segment id 'atis_0001' among the 1 ids (atis_0000")


def test_systems_with_ids_beside_references_with_ids(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("ref").write_text("so it was (u0)\ntwo words (u1)\n")
    Path("by_id").write_text("to words (u1)\nso it was (u0)\n")
    Path("by_line").write_text("so it was\nto words\n")
    Path("less").write_text("so it was (u0)\n")
    evaluate = ("evaluate", "-r", "ref", "-m", "wer", "--as", "json")
    ran = done(*evaluate, "--reference-form", "trn", "by_id", "by_line")
    systems = json.loads(ran.out)["metrics"][0]["systems"]
    assert [system["score"] for system in systems] == [20.0, 20.0]
    assert (
        refused(*evaluate, "--reference-form", "trn", "less") == "less: no output for segment id 'u1' among the 1 ids"
    )
    said = refused(*evaluate, "by_id")
    assert said.startswith("ref: each line ends with what may be an id, as (u0): name the reference form")
    done(*evaluate, "--reference-form", "lines", "by_id")


CDEC = """\
0 ||| good one ||| LM=-2 Glue=1 ||| -2
0 ||| bad one ||| LM=-1 OOV=1 ||| -1
1 ||| bad two here ||| LM=-1 OOV=1 Glue=2 ||| -3
1 ||| good two here ||| LM=-3 ||| -1
2 ||| bad three there now ||| OOV=2 ||| -1
2 ||| good three there now ||| LM=-4 Glue=3 ||| -4
"""


def test_cdec_lists_without_their_zeros(tmp_path):
    (tmp_path / "tune").write_text(CDEC)
    (tmp_path / "tune.en").write_text(SPARSE_REFERENCES)
    (tmp_path / "test").write_text(
        "0 ||| bad x ||| LM=-1 OOV=1 ||| 0\n0 ||| good x ||| LM=-1 ||| 0\n1 ||| y ||| Other=1 ||| 0\n"
    )
    done(
        "tune",
        tmp_path / "tune",
        "--format",
        "cdec",
        "-r",
        tmp_path / "tune.en",
        "-m",
        "wer",
        "-t",
        "mira,C=0.1",
        "-o",
        tmp_path / "w.toml",
    )
    weights = read_weights(tmp_path / "w.toml")
    assert set(weights.dense) == {"LM", "Glue", "OOV"}
    assert weights.dense["OOV"] < 0
    ran = done(
        "apply", tmp_path / "test", "-w", tmp_path / "w.toml", "--nbest-out", tmp_path / "out"
    )  # the format is recorded
    assert ran.lines == ["good x", "y"]
    assert (tmp_path / "out").read_text().startswith("0 ||| good x ||| LM=-1 ||| ")


def test_compressed_and_piped_everything(small, tuned, tmp_path):
    packed = gzip.compress((small / "test.nbest").read_bytes())
    (tmp_path / "test.nbest.gz").write_bytes(packed)
    source = ("--source", small / "test.de")
    plain = done("apply", small / "test.nbest", "-w", tuned / "weights.toml", *source).out
    assert done("apply", tmp_path / "test.nbest.gz", "-w", tuned / "weights.toml", *source).out == plain
    assert done("apply", "-", "-w", tuned / "weights.toml", *source, stdin=packed).out == plain
    done("apply", small / "test.nbest", "-w", tuned / "weights.toml", *source, "-o", tmp_path / "best.gz")
    assert gzip.decompress((tmp_path / "best.gz").read_bytes()).decode() == plain
    assert done("evaluate", "-r", small / "test.en", f"x={tmp_path / 'best.gz'}", "--as", "tsv").out.count("\n") >= 2


# --- text pipelines


def test_text_pipelines_reach_features_and_metrics(small, tmp_path):
    pieces = (small / "tune.nbest").read_text().replace(" the ", " th@@ e ")
    (tmp_path / "tune.nbest").write_text(pieces)
    (tmp_path / "tune.en").write_text((small / "tune.en").read_text().upper())
    (tmp_path / "mt.toml").write_text(
        '[text]\nwhole = ["undo-bpe"]\nloud = ["undo-bpe", "uppercase"]\n'
        '[[feature]]\nuse = "length"\ntext = "whole"\n'
        '[[feature]]\nuse = "length"\nlabel = "pieces"\n'
        '[[metric]]\nuse = "bleu"\ntokenize = "none"\ntext = "loud"\n'
    )
    config = ("-c", tmp_path / "mt.toml")
    done("extract", tmp_path / "tune.nbest", *config, "-o", tmp_path / "t.npz")
    table = FeatureTable.load(tmp_path / "t.npz")
    whole, subwords = (table.values[:, table.names.index(name)] for name in ("length", "pieces"))
    assert (whole <= subwords).all()
    assert whole.tolist() == [
        len(h.words) for nbest in read_nbest([small / "tune.nbest"], MosesFormat()) for h in nbest
    ]
    tune = (
        "tune",
        tmp_path / "tune.nbest",
        "-r",
        tmp_path / "tune.en",
        "-t",
        "mira,passes=2",
        "-o",
        tmp_path / "w.toml",
    )
    done(*tune, *config, "--table", tmp_path / "t.npz")
    assert read_weights(tmp_path / "w.toml").provenance["text"] == "undo-bpe+uppercase"
    assert read_weights(tmp_path / "w.toml").provenance["score"] > 20  # of texts that look nothing like the references
    evaluated = done(
        "evaluate", *config, "-r", tmp_path / "tune.en", "--nbest", tmp_path / "tune.nbest", "--as", "json"
    ).out
    assert Evaluation.from_json(evaluated).metrics[0].systems[0].score > 20
    (tmp_path / "plain.toml").write_text('[text]\nwhole = ["uppercase"]\n')
    said = refused(*tune, "-c", tmp_path / "plain.toml", "--table", tmp_path / "t.npz")
    assert said.startswith("text pipeline 'whole' is another one than that of the feature table ")


def test_text_as_a_filter(tmp_path):
    assert done("text", "undo-bpe", "uppercase", stdin="a b@@ c\n\nd\n").out == "A BC\n\nD\n"
    (tmp_path / "in").write_text("Hello , world .\n")
    done("text", "detokenize:en", "-i", tmp_path / "in", "-o", tmp_path / "out")
    assert (tmp_path / "out").read_text() == "Hello, world.\n"
    assert refused("text", "undo-bp", stdin="a\n") == "unknown text step 'undo-bp'; did you mean 'undo-bpe'?"


# --- evaluate


@pytest.fixture(scope="module")
def systems(small, tuned):
    best = tuned.parent / "best"
    done("apply", small / "test.nbest", "-w", tuned / "weights.toml", "--source", small / "test.de", "-o", best)
    first = tuned.parent / "first"
    first.write_text("".join(nbest[0].text + "\n" for nbest in read_nbest([small / "test.nbest"], MosesFormat())))
    return (
        f"first={first}",
        f"best={best}",
        "-r",
        small / "test.en",
        "--nbest",
        small / "test.nbest",
        *BLEU,
        "-m",
        "ter,label=TER",
    )


def test_evaluation_as_json_reads_back(systems, small):
    text = done("evaluate", *systems, "--source", small / "test.de", "--as", "json").out
    evaluation = Evaluation.from_json(text)
    assert evaluation.to_json() == text
    assert evaluation.systems == ("first", "best")
    bleu, ter = evaluation.metrics
    assert (bleu.name, ter.name) == ("bleu", "TER")
    assert "nrefs:1" in bleu.signature
    assert json.loads(text)


def test_evaluation_in_every_other_form(systems, tmp_path):
    evaluation = Evaluation.from_json(done("evaluate", *systems, "--as", "json").out)
    first, best = (f"{system.score:.2f}" for system in evaluation.metrics[0].systems)
    table = done("evaluate", *systems, "--changes", "3").out
    markdown = done("evaluate", *systems, "--as", "markdown").out
    latex = done("evaluate", *systems, "--as", "latex").out
    tsv = done("evaluate", *systems, "--as", "tsv").out
    for text in (table, markdown, latex):
        assert first in text
        assert best in text
        assert "oracle" in text
    assert re.search(r"^\| *first *\|.*\|$", markdown, re.M)
    assert re.search(r"^\| *:?-+", markdown, re.M)
    assert latex.count(r"\begin{tabular}") == latex.count(r"\end{tabular}") == 1
    header, *rows = [line.split("\t") for line in tsv.splitlines()]
    assert {"metric", "system", "score"} <= set(header)
    assert {len(row) for row in rows} == {len(header)}
    score, metric, system = (header.index(name) for name in ("score", "metric", "system"))
    found = {(row[metric], row[system]): float(row[score]) for row in rows}
    for result in evaluation.metrics:
        for one in result.systems:
            assert found[result.name, one.system] == pytest.approx(one.score, abs=1e-3)
    done("evaluate", *systems, "--as", "html", "-o", tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert page.lower().startswith("<!doctype html>")
    assert first in page
    assert "http" not in re.sub(r"http://www\.w3\.org/[^\"' ]*", "", page)  # self-contained


def test_evaluating_lists_alone_and_several_references(root, small):
    both = ("-r", small / "test.en", "-r", small / "tune.en")
    row, *_ = Evaluation.from_json(done("evaluate", *both, "--nbest", small / "test.nbest", "--as", "json").out).metrics
    assert "nrefs:2" in row.signature


def test_settings_of_the_tests_reach_the_evaluation(systems):
    few = done("evaluate", *systems, "--bootstrap", "20", "--randomisation", "30", "--seed", "7", "--as", "json").out
    assert "bs:20|ar:30|seed:7" in Evaluation.from_json(few).metrics[0].signature


# --- the whole job


@pytest.fixture
def config(small, tmp_path):
    shutil.copytree(small, tmp_path / "data")
    (tmp_path / "mt.toml").write_text(
        """
seed = 3
[tune]
nbest = ["data/tune.nbest"]
references = ["data/tune.en"]
source = "data/tune.de"
[[test]]
name = "held"
nbest = ["data/test.nbest"]
references = ["data/test.en"]
source = "data/test.de"
[tuner]
use = "mira"
passes = 5
[evaluation]
bootstrap = 50
randomisation = 50
[[metric]]
use = "bleu"
tokenize = "none"
[[metric]]
use = "chrf"
[language_model.target]
use = "kenlm"
model = "data/lm.arpa"
[[feature]]
use = "length"
[[feature]]
use = "ngram-lm"
lm = "target"
[[feature]]
use = "untranslated"
"""
    )
    return tmp_path / "mt.toml"


def test_run_does_the_whole_job(config, small):
    work = config.parent / "work"
    ran = done("run", config, "--work", work)
    kept = {
        "tune.npz",
        "weights.toml",
        "held.npz",
        "held.1best",
        "held.nbest.gz",
        "held.report.json",
        "held.report.html",
        "contributions.json",
        "intervals.json",
        "steps.json",
    }
    assert names(work) == kept
    assert "BLEU" in ran.out.upper()
    assert "reranked" in ran.out
    assert "oracle" in ran.out
    evaluation = Evaluation.from_json((work / "held.report.json").read_text())
    assert evaluation.systems == ("1-best", "reranked")
    best = (work / "held.1best").read_text()
    again = done("apply", small / "test.nbest", "-w", work / "weights.toml", "--source", small / "test.de").out
    assert again == best
    table = (work / "tune.npz").read_bytes()
    assert done("run", config, "--work", work).out == ran.out
    assert (work / "tune.npz").read_bytes() == table


def test_run_names_its_files_and_takes_jobs(config, monkeypatch):
    monkeypatch.setenv("RERANK_CACHE", "")
    work = config.parent / "work"
    ran = done("run", config, "--work", work, "-j", "1")
    *_, page, last = ran.err.splitlines()
    assert page.endswith(f"for a browser: {work}/held.report.html")
    assert re.fullmatch(rf"wrote (.*) to {re.escape(str(work))} in [\d.]+ s", last)
    assert set(re.findall(r"[\w.]+\.\w+(?=,| to)", last)) == names(work)
    assert "CPU seconds, summed over processes: " in ran.err
    assert "jobs" in refused("run", config, "-j", "0")


def test_commands_say_what_they_wrote_and_where(small, tuned, tmp_path):
    weights = tuned / "weights.toml"
    wanted = {
        ("weights", weights): "wrote 14 weights (section) to stdout",
        ("weights", weights, "--to", "toml", "-o", tmp_path / "w"): f"wrote 14 weights (toml) to {tmp_path / 'w'}",
        ("apply", small / "test.nbest", "-w", weights, "--source", small / "test.de"): "wrote 20 1-bests to stdout",
        ("extract", small / "tune.nbest", "-f", "length", "-o", tmp_path / "t.npz"): (
            f"wrote 9 features of 20 segments, 200 hypotheses to {tmp_path / 't.npz'}"
        ),
        ("evaluate", "-r", small / "test.en", *BLEU, f"same={small / 'test.en'}", "--bootstrap", "9"): (
            "wrote an evaluation of 1 system by 1 metric to stdout"
        ),
        ("tune", small / "tune.nbest", "-r", small / "tune.en", *BLEU, "-t", "mira,passes=1", "-o", tmp_path / "v"): (
            f"wrote 8 weights to {tmp_path / 'v'}"
        ),
    }
    for arguments, said in wanted.items():
        assert re.fullmatch(rf"{re.escape(said)} in \d\.\d s", done(*arguments).err.splitlines()[-1])


def test_the_decoders_1_best_is_reported(small, tmp_path):
    """By `tune` and `cross-validate` beside equal weights, by `evaluate --nbest` as a row."""
    lists, known = small / "tune.nbest", ("-r", small / "tune.en", *BLEU)
    first = tmp_path / "first"
    first.write_text("".join(nbest[0].text + "\n" for nbest in read_nbest([lists], MosesFormat())))
    evaluate = ("evaluate", *known, "--nbest", lists, "--as", "json")
    evaluation = Evaluation.from_json(done(*evaluate, f"gold={small / 'tune.en'}").out)
    assert (evaluation.systems, evaluation.baseline) == (("1-best", "gold"), "1-best")
    assert Evaluation.from_json(done(*evaluate, f"first={first}").out).systems == ("first",)  # it is there already
    assert Evaluation.from_json(done(*evaluate, f"1-best={small / 'tune.en'}").out).systems == (
        "decoder's 1-best",
        "1-best",
    )
    score = f"{evaluation.metrics[0].systems[0].score:.2f}"
    tuned = done("tune", lists, *known, "-t", "mira,passes=1", "-o", tmp_path / "w.toml").err
    assert f"bleu on the tuning set: 1-best {score}, equal weights " in tuned
    table = done("cross-validate", lists, *known, "-t", "mira,passes=1", "--folds", "2", "--seeds", "1")
    assert re.search(rf"│ 1-best(?: \*)? +│ +{score} │", table.out)
    assert "±" not in table.out
    assert re.fullmatch(r"compared 1 tuner on 2 folds and 1 seed in \d\.\d s", table.err.splitlines()[-1])


def test_run_equals_its_steps(config, tmp_path):
    data = tmp_path / "data"
    done("run", config, "--work", tmp_path / "work")
    done("extract", data / "tune.nbest", "--source", data / "tune.de", "-c", config, "-o", tmp_path / "t.npz")
    table, whole = FeatureTable.load(tmp_path / "t.npz"), FeatureTable.load(tmp_path / "work" / "tune.npz")
    np.testing.assert_array_equal(table.values, whole.values)
    done(
        "tune",
        data / "tune.nbest",
        "-r",
        data / "tune.en",
        "-c",
        config,
        "--table",
        tmp_path / "t.npz",
        "-o",
        tmp_path / "w.toml",
    )
    assert read_weights(tmp_path / "w.toml").dense == read_weights(tmp_path / "work" / "weights.toml").dense


def test_work_goes_where_the_config_says(config, monkeypatch, tmp_path):
    config.write_text('work = "there"\n' + config.read_text())
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    done("run", config)
    assert (tmp_path / "there" / "weights.toml").exists()
    assert names(elsewhere) == set()


def test_check_finds_a_good_job_good(config, small):
    ran = done("check", config)
    assert "error" not in ran.out
    assert "20 segments, 200 hypotheses" in ran.out
    assert done("check", "--nbest", small / "tune.nbest", "-r", small / "tune.en").out.startswith("ok")


def test_cross_validation(small, tuned):
    ran = done(
        *("cross-validate", small / "tune.nbest", "-r", small / "tune.en", "--table", tuned / "tune.npz", *BLEU),
        *("-t", "mira,passes=3", "-t", "mert,restarts=1", "--folds", "2", "--seeds", "1"),
    )
    for name in ("mira,passes=3", "mert,restarts=1", "equal weights", "decoder's weights"):
        assert name in ran.out


# --- the smaller commands


def test_merge(small, tmp_path):
    lines = (small / "tune.nbest").read_text().splitlines(keepends=True)
    (tmp_path / "a").write_text("".join(lines[:15]))
    (tmp_path / "b").write_text("".join(lines[5:30]))
    ran = done("merge", tmp_path / "a", tmp_path / "b")
    assert ran.out == "".join(lines[:30])
    assert re.fullmatch(r"wrote 3 segments, 30 hypotheses to stdout in \d\.\d s\n", ran.err)
    done("merge", tmp_path / "b", tmp_path / "a", "-o", tmp_path / "c.gz")
    merged = gzip.decompress((tmp_path / "c.gz").read_bytes()).decode()
    assert sorted(merged.splitlines()) == sorted(ran.lines)


def test_weights_in_every_form_and_back(root, tmp_path):
    template = root / "example_nbest" / "mt" / "moses.ini"
    given = read_weights(template).dense
    done("weights", template, "--to", "toml", "-o", tmp_path / "w.toml")
    assert read_weights(tmp_path / "w.toml").dense == given
    section = done("weights", tmp_path / "w.toml").out
    assert section.startswith("[weight]\n")
    assert "TranslationModel0= 0.2 0.2 0.2 0.2\n" in section
    done("weights", tmp_path / "w.toml", "--to", "dense", "-o", tmp_path / "dense")
    assert read_weights(tmp_path / "dense").dense == given
    done("weights", tmp_path / "w.toml", "--to", "moses-ini", "--template", template, "-o", tmp_path / "new.ini")
    assert read_weights(tmp_path / "new.ini").dense == given
    head = template.read_text().partition("[weight]")[0]
    assert (tmp_path / "new.ini").read_text().startswith(head)
    text = done("weights", tmp_path / "w.toml", "--to", "moses-ini", "--template", template).out
    assert text == (tmp_path / "new.ini").read_text()


def test_weights_of_a_reranker_go_into_a_decoder_without_its_features(root, tuned, tmp_path):
    template = root / "example_nbest" / "mt" / "moses.ini"
    give = ("weights", tuned / "weights.toml", "--to", "moses-ini", "--template", template)
    said = refused(*give)
    assert "'length'" in said
    assert said.endswith("--decoder-only leaves out the features that the decoder lacks")
    done(*give, "--decoder-only", "-o", tmp_path / "new.ini")
    dense = read_weights(tuned / "weights.toml").dense
    assert read_weights(tmp_path / "new.ini").dense == {name: dense[name] for name in OWN}


def test_sparse_weights_have_a_file_of_their_own(sparse):
    done("tune", sparse / "tune.nbest", "-r", sparse / "tune.en", "-m", "wer", "-o", sparse / "w.toml")
    text = done("weights", sparse / "w.toml", "--to", "sparse").out
    assert {line.split()[0] for line in text.splitlines()} <= {"wt_a~good", "wt_a~bad", "pp_x"}
    assert "wt_a~good" in text


# --- plugins


def test_plugins_as_text_and_json():
    text = done("plugins").out
    for name in ("consensus", "kenlm", "treebank", "bleu", "mert", "fairseq"):
        assert re.search(rf"^\w+ {name} ", text, re.M)
    entries = json.loads(done("plugins", "--json").out)
    found = {(entry["kind"], entry["name"]): entry for entry in entries}
    (option,) = [o for o in found["tuner", "mira"]["options"] if o["name"] == "C"]
    assert option == {"name": "C", "type": "float", "default": 0.01, "doc": option["doc"], "required": False}
    assert [entry["name"] for entry in json.loads(done("plugins", "--kind", "tuner", "--json").out)] == [
        name for kind, name in found if kind == "tuner"
    ]
    assert done("plugins", "bleu").lines[0].startswith("metric bleu ")
    assert refused("plugins", "bleo") == "no plugin named 'bleo'; did you mean 'bleu'?"
    assert refused("plugins", "bleu", "mra") == "no plugin named 'mra'; did you mean 'mira'?"


PLUGIN = """
import click
import numpy as np
from dataclasses import dataclass
from rerank_plugins import FeatureExtractor, hookimpl, option

@dataclass
class Vowels(FeatureExtractor):
    '''Number of vowels of the hypothesis.'''
    letters: str = option("aeiou", doc="what counts as a vowel")

    def extract(self, nbest):
        return np.array([[float(sum(text.count(v) for v in self.letters))] for text in nbest.texts]).reshape(-1, 1)

@hookimpl
def register_feature_extractors(register):
    register("vowels", Vowels)

@hookimpl
def register_commands(cli):
    @click.command("hello")
    @click.argument("name")
    def hello(name):
        '''Say hello.'''
        click.echo(f"hello {name}")
    cli.add_command(hello)
"""


def test_a_plugin_file_adds_features_and_commands(small, tmp_path):
    (tmp_path / "vowels.py").write_text(PLUGIN)
    plugin = ("--plugin", tmp_path / "vowels.py")
    assert done(*plugin, "hello", "you").out == "hello you\n"
    assert "hello" in done(*plugin, "--help").out
    assert "hello" not in done("--help").out
    assert refused("hello", "you").startswith("no such command 'hello'")
    assert "letters: str = 'aeiou'" in done(*plugin, "plugins", "vowels").out
    extract = ("extract", small / "tune.nbest", "-f", "vowels,letters=ae", "-o", tmp_path / "t.npz")
    done(*plugin, *extract)
    table = FeatureTable.load(tmp_path / "t.npz")
    texts = [text for nbest in read_nbest([small / "tune.nbest"], MosesFormat()) for text in nbest.texts]
    assert table.values[:, -1].tolist() == [text.count("a") + text.count("e") for text in texts]
    tune = (
        "tune",
        small / "tune.nbest",
        "--table",
        tmp_path / "t.npz",
        "-r",
        small / "tune.en",
        "-o",
        tmp_path / "w.toml",
    )
    done(*tune, "-t", "mira,passes=2")
    best = done("apply", small / "test.nbest", "-w", tmp_path / "w.toml").out  # weights remember the plugin
    assert done(*plugin, "apply", small / "test.nbest", "-w", tmp_path / "w.toml").out == best


# --- help


@pytest.mark.parametrize("command", [(), *((name,) for name in COMMANDS)], ids=["rerank", *COMMANDS])
def test_help_shows_an_example(command):
    text = done(*command, "--help").out
    assert text.startswith(f"Usage: rerank {' '.join(command)}".rstrip())
    assert re.search(rf"^ +(.*  )?rerank {command[0] if command else 'run'} \S", text, re.M), "no example"
    assert done(*command, "-h").out == text


def test_rerank_alone_shows_its_help():
    ran = rerank()
    assert ran.code == 2
    assert ran.err.startswith("Usage: rerank")
    assert set(COMMANDS) <= set(ran.err.split())


def test_version():
    assert re.fullmatch(r"rerank, version \d+\.\d+\S*\n", done("--version").out)


def sections(text: str) -> dict[str, str]:
    """The lines below each heading of a help text."""
    return dict(re.findall(r"^(\S[^\n]*):\n((?:  [^\n]*\n)+)", text, re.M))


def test_help_lists_whole_summaries_under_headings(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = done("--help").out
    assert max(map(len, text.splitlines())) <= 80
    assert text.count("...") == 1  # that of [ARGS]...: no summary is cut short
    headings = ["The chain", "Language models", "Applications", "Tools"]
    listed = sections(text)
    assert list(listed) == ["Options", *headings]
    lines = [line for heading in headings for line in listed[heading].splitlines()]
    assert all(re.fullmatch(r"  [a-z-]+ +[A-Z].*\.", line) for line in lines)  # none is wrapped
    chain = len(CHAIN["The chain"])
    assert [line.split()[0] for line in listed["The chain"].splitlines()] == COMMANDS[:chain]
    assert [line.split()[0] for line in listed["Tools"].splitlines()] == [*COMMANDS[chain:], "table", "new-plugin"]


def test_summaries_are_the_first_lines_of_the_commands_docstrings():
    context = cli.make_context("rerank", ["run", "never"])
    names = cli.list_commands(context)
    assert {"run", "cache", "score", "parse"} <= cli.modules.keys() == cli.summaries.keys() < set(names)
    for name in cli.modules:
        command = cli.get_command(context, name)
        assert command.name == name
        assert command.help.splitlines()[0] == cli.summaries[name]


def commands_of(group, context, path=""):
    """The names and commands of a group, with those of its subgroups."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        yield f"{path}{name}", command
        if isinstance(command, click.Group):
            yield from commands_of(command, click.Context(command, parent=context), f"{path}{name} ")


def test_each_option_that_names_a_plugin_is_completed():
    options = {
        (name, parameter.name): parameter
        for name, command in commands_of(cli, click.Context(cli))
        for parameter in command.params
        if PLUGIN_HELP in (getattr(parameter, "help", None) or "")
    }
    assert {("score", "lm"), ("train treelet-lm", "parser")} <= options.keys()
    assert [where for where, option in options.items() if option._custom_shell_complete is None] == []


def test_commands_of_plugins_have_a_heading(tmp_path):
    file = tmp_path / "hello.py"
    file.write_text(
        "import click\nfrom rerank_plugins import hookimpl\n@click.command('hello')\ndef hello():\n    'Say hello.'\n"
        "@hookimpl\ndef register_commands(cli):\n    cli.add_command(hello)\n"
    )
    text = done("--plugin", file, "--help").out
    assert re.fullmatch(r"  hello +Say hello\.\n", sections(text)["Commands of plugins"])
    assert "hello" not in done("--help").out


HEAVY = ("numba", "kenlm", "sacrebleu", "torch", "stanza", "matplotlib", "rich", "pydantic", "rerank_plugins.features")


def test_help_is_fast_and_loads_nothing_heavy():
    script = (
        "import sys, time\nfrom rerank_adapters.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "print(time.process_time(), *sys.modules, file=sys.stderr)"
    )
    seconds = []
    for _ in range(2):  # the first may write byte code
        ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        taken, *modules = ran.stderr.split()
        seconds.append(float(taken))
    assert set(HEAVY) & set(modules) == set()
    assert min(seconds) < 0.4


def test_in_a_process_of_its_own(small):
    ran = in_process_of_its_own("merge", "-", stdin=(small / "tune.nbest").read_bytes())
    assert ran.code == 0
    assert ran.out == (small / "tune.nbest").read_text()
    assert ran.err.startswith("wrote 20 segments, 200 hypotheses to stdout in ")
    assert RERANK[0] == sys.executable
    assert Path(RERANK[0]).exists()

"""Extraction, tuning and reranking step by step, as a user gives the commands."""

import shutil
from pathlib import Path

import pytest

from rerank_adapters.formats.catalogue import FORMATS
from rerank_adapters.formats.reading import read_nbest
from rerank_adapters.weights import read_weights
from rerank_plugins import FeatureTable
from tests.command_line import BLEU, done, file_names, refused
from tests.conftest import DECODER_FEATURES


def test_extract_gives_the_decoders_features_and_the_new_ones(small, tuned):
    table = FeatureTable.load(tuned / "tune.npz")
    assert table.names == (
        *DECODER_FEATURES,
        "length",
        *(f"consensus.{part}" for part in (1, 2, 3, 4, "length")),
        "lm.total",
        "lm.per_word",
        "lm.oovs",
    )
    assert (table.segments, len(table.values)) == (20, 200)
    first = read_nbest([small / "tune.nbest"], FORMATS["moses"]())[0]
    assert table.values[0, : len(DECODER_FEATURES)].tolist() == list(first[0].features)
    assert table.values[0, len(DECODER_FEATURES)] == len(first[0].words)
    assert file_names(tuned) == {"tune.npz", "weights.toml"}  # no parts of the extraction


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
        "consensus",
        "-f",
        f"ngram-lm,label=lm,model={small}/lm.arpa",
    )
    done(
        *("tune", small / "tune.nbest", "--source", small / "tune.de", "-r", small / "tune.en", *BLEU, *features),
        *("-t", "mira,passes=10", "-o", tmp_path / "weights.toml"),
    )
    one, other = read_weights(tmp_path / "weights.toml"), read_weights(tuned / "weights.toml")
    assert one.dense == other.dense
    assert file_names(tmp_path) == {"weights.toml"}


CONSENSUS = ("-f", "consensus")


def features_of(weights: Path) -> list[str]:
    return [name for name in read_weights(weights).dense if name not in DECODER_FEATURES]


def test_features_named_beside_a_table_choose_its_columns(small, tuned, tmp_path):
    tune = ("tune", small / "tune.nbest", "-r", small / "tune.en", *BLEU, "-t", "mira,passes=3", "-o")
    table = ("--table", tuned / "tune.npz")
    for number, names in enumerate([("-f", "length"), (*CONSENSUS, "-f", "length"), ("-f", "lm")]):
        ran = done(*tune, tmp_path / f"{number}.toml", *table, *names)
        assert "extracted" not in ran.err
    assert features_of(tmp_path / "0.toml") == ["length"]
    assert features_of(tmp_path / "1.toml") == [*(f"consensus.{part}" for part in (1, 2, 3, 4, "length")), "length"]
    assert features_of(tmp_path / "2.toml") == ["lm.total", "lm.per_word", "lm.oovs"]  # a label of the table
    done(*tune, tmp_path / "without.toml", *CONSENSUS, "-f", "length")
    assert read_weights(tmp_path / "1.toml").dense == read_weights(tmp_path / "without.toml").dense
    assert done("apply", small / "test.nbest", "-w", tmp_path / "2.toml").out  # weights know the chosen features alone


def test_what_a_table_lacks_or_has_with_other_options_is_extracted(small, tuned, tmp_path):
    tune = ("tune", small / "tune.nbest", "-r", small / "tune.en", *BLEU, "-t", "mira,passes=3", "-o")
    asked = ("-f", "length", "-f", "consensus,scale=1.0", "-f", "unigram")
    ran = done(*tune, tmp_path / "table.toml", "--table", tuned / "tune.npz", *asked)
    said = [line for line in ran.err.splitlines() if "extracted" in line]
    assert said == [
        f"{tuned}/tune.npz: the feature 'consensus' was made with other options, files or code: it is extracted now",
        f"{tuned}/tune.npz: the feature 'unigram' is not in the table: it is extracted now",
    ]
    done(*tune, tmp_path / "now.toml", *asked)
    assert read_weights(tmp_path / "table.toml").dense == read_weights(tmp_path / "now.toml").dense
    assert file_names(tmp_path) == {"table.toml", "now.toml"}


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
    first = [nbest[0].text for nbest in read_nbest([small / "tune.nbest"], FORMATS["moses"]())]
    assert len(streamed.splitlines()) == 20
    assert streamed.splitlines() != first  # the weights do something


def test_the_reranked_lists_hold_new_features_and_totals_in_order(small, tuned, tmp_path):
    weights = tuned / "weights.toml"
    ran = done(
        "apply", small / "test.nbest", "-w", weights, "--source", small / "test.de", "--nbest-out", tmp_path / "out.gz"
    )
    before = {nbest.segment_id: nbest for nbest in read_nbest([small / "test.nbest"], FORMATS["moses"]())}
    after = read_nbest([tmp_path / "out.gz"], FORMATS["moses"](dense=("*",)))
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


def test_language_models_with_options_are_features(small, tmp_path):
    """By their own name, and as the option of another feature; weights find their files again from elsewhere."""
    (tmp_path / "text").write_text((small / "tune.en").read_text().lower())
    done("train", "ngram", tmp_path / "text", "--order", 2, "-o", tmp_path / "own.ngram")
    model = f"model={tmp_path}/own.ngram"
    features = ("-f", f"ngram-lm,{model}", "-f", f"ngram-lm,{model},label=loud,text=uppercase", "-f",
                f"slr,lm={{ngram-lm,{model}}},unigram={{unigram,case=ignore}},label=ratio")  # fmt: skip
    done("extract", small / "tune.nbest", *features, "-o", tmp_path / "t.npz")
    table = FeatureTable.load(tmp_path / "t.npz")
    columns = dict(zip(table.names, table.values.T.tolist(), strict=True))
    for component in ("total", "per_word", "oovs"):
        assert columns[f"ngram-lm.{component}"] != columns[f"loud.{component}"]
    assert "ratio" in columns
    (tmp_path / "deep").mkdir()
    weights = tmp_path / "deep" / "w.toml"
    done("tune", small / "tune.nbest", "-r", small / "tune.en", *BLEU, *features, "-t", "mira,passes=2", "-o", weights)
    assert 'model = "../own.ngram"' in weights.read_text()
    done("apply", small / "test.nbest", "-w", weights)
    again = done("tune", small / "tune.nbest", "-r", small / "tune.en", *BLEU, "--table", tmp_path / "t.npz", "-f",
                 "loud", "-f", "ratio", "-o", weights)  # fmt: skip
    assert "extracted now" not in again.err
    said = refused("extract", small / "tune.nbest", "-f", "slr,lm={ngram-lm,modl=x}", "-o", tmp_path / "t.npz")
    assert said == "[[feature]] slr: lm: ngram-lm has no option 'modl'; did you mean 'model'?"


def test_a_language_model_of_the_config_is_a_feature(small, tmp_path):
    """By its name there, which other features use as well; weights record its table."""
    done("train", "ngram", small / "tune.en", "--order", 2, "-o", tmp_path / "own.ngram")
    config = tmp_path / "c.toml"
    config.write_text(
        '[language_model.own]\nuse = "ngram-lm"\nmodel = "own.ngram"\n[[feature]]\nuse = "own"\n'
        '[[feature]]\nuse = "oov-count"\nlm = "own"\n'
    )
    done("extract", small / "tune.nbest", "-c", config, "-o", tmp_path / "t.npz")
    table = FeatureTable.load(tmp_path / "t.npz")
    columns = dict(zip(table.names, table.values.T.tolist(), strict=True))
    assert columns["own.oovs"] == columns["oov-count"]
    weights = tmp_path / "deep" / "w.toml"
    weights.parent.mkdir()
    lists = (small / "tune.nbest", "-r", small / "tune.en", "-c", config)
    done("tune", *lists, *BLEU, "-t", "mira,passes=2", "-o", weights)
    assert 'model = "../own.ngram"' in weights.read_text()
    done("apply", small / "test.nbest", "-w", weights)
    config.write_text('[language_model.own]\nuse = "ngram-lm"\n[[feature]]\nuse = "own"\nmodel = "x"\n')
    said = refused("extract", small / "tune.nbest", "-c", config, "-o", tmp_path / "t.npz")
    assert "no feature named 'own'" in said


def test_weights_of_the_decoder_apply_to_its_lists(root, small):
    best = done("apply", small / "test.nbest", "-w", root / "example_nbest" / "mt" / "moses.ini").lines
    assert best == [nbest[0].text for nbest in read_nbest([small / "test.nbest"], FORMATS["moses"]())]


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
    for nbest in read_nbest([tmp_path / "out"], FORMATS["moses"]()):
        totals = [h.score for h in nbest]
        assert totals == sorted(totals, reverse=True)
        assert 0 <= totals[-1] <= totals[0] <= 100  # expected BLEU

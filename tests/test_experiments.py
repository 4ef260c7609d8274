"""Every experiment explains itself, runs on tiny made data, and says in one line what is wrong with its data."""

import importlib
import io
import json
import lzma
import pkgutil
import re
import sys
import tarfile

import click
import pytest

from rerank_adapters.builtin import BUILTIN
from rerank_adapters.chain.job import Job
from rerank_adapters.config import Config
from rerank_plugins import RerankError
from rerank_plugins.core.loader import load_plugins
from tests import experiments
from tests.command_line import done
from tests.conftest import ROOT
from tests.experiments import added_features_table, tatoeba_table
from tests.experiments.experiment import Experiment
from tests.treelet.test_treelet import BANK

EXAMPLE = ROOT / "example_nbest"
MODULES = sorted(module.name for module in pkgutil.iter_modules(experiments.__path__))
PARTS = {"experiment", "similarity_sets", "spoken_text", "texts"}  # of several experiments
OTHER_WORDS = (
    {"dog": "horse", "cat": "bird", "man": "girl"},
    {"dog": "house", "cat": "tree", "saw": "heard", "it": "he"},
)
NAMED = """1\tWe\t_\tPRON\tPRP\t_\t2\tnsubj\t_\t_
2\tsaw\t_\tVERB\tVBD\t_\t0\troot\t_\t_
3\tMary\t_\tPROPN\tNNP\t_\t2\tobj\t_\t_
"""
NEEDED = {
    "comet_throughput": "transformers",
    "neural_throughput": "transformers",
    "ngram_speed": "kenlm",
    "cluster_speed": "distributed",
    "reading_times": "statsmodels",
    "serve_load": "uvicorn",
    "similarity_learners": "scipy",
    "similarity_table": "sklearn",
}  # packages of extras

# The arguments of a run on the tiny data, and what the table has then. {data}, {bank}, … are files of `made`.
RUNS = {
    "acceptability_table": (
        "pairs {root}/acceptability/pairs.tsv --by phenomenon --fit {root}/acceptability/pairs.tsv "
        "--rules grammar-violations lengths=length lm=ngram-lm,model={root}/mt/lm.arpa",
        r"\| phenomenon \| pairs \| lengths \| lm \| models \| rules \| all together \|",
    ),
    "added_features_table": (
        "{lists} lm=ngram-lm,model={root}/mt/lm.arpa --base length --changes 1",
        r"\| lm \| [\d.]+ ± [\d.]+ \| [\d.]+ \|",
    ),
    "agreement_errors": (
        "right={lists}/test.ref wrong={lists}/test.ref --text none --show 1",
        r"\| right \| \d+ \| \d+ \| [\d.]+ \|(?s:.*)\| wrong \| \d+ \| \d+ \| [\d.]+ \|",
    ),
    "closed_trees": ("{grammar} {bank}", r"\(ROOT \(S \(NP \(DT the\) \(NN dog\)\)"),
    "content_table": (
        "{root}/mt/test.nbest:{root}/mt/test.en:{root}/mt/test.de --sizes 1,20 --parts 1 --noise 0.1",
        r"\| 1 \| 1 \| 0.0 \|(?s:.*)\| 20 \| 1 \| 0.0 \| 100.0 \|",
    ),
    "converted_trees": (
        "{data} {root}/mt --trees 20 --splits 0 --sentences 4 --most 2",
        r"\| converted \| treelets \|( [\d.]+ \|){2}(?s:.*)\| converted, all \| [\d.]+ \|",
    ),
    "cluster_speed": (
        "{text} --words 200 --sentences 0 --workers 1 --jobs 1 --tasks 20",
        r"\| counting \| a cluster of 1 \| [\d.]+ \| [\d.]+ \| yes \|(?s:.*)\| 1 \| [\d.]+ \|",
    ),
    "corridor_counts": (
        "--lists 2 --repeats 1 --show frames",
        r"\| modules loaded by a run \| \d+ \|(?s:.*)cli.py: main\n(?s:.*)lists/length.py: extract",
    ),
    "completion_table": (
        "{text} {root}/completion/questions.tsv --min-count 1 --jobs 1",
        r"\| 5 \|( [\d.]+ \[[\d.]+, [\d.]+\] \|){6}",
    ),
    "constituency_speed": ("--grammar {grammar} --trees {bank} --lengths 5 --lines 40", r"\| 5 \|( +[\d.]+ \|){2} "),
    "ctc_decoding": (
        "{data} --sentences 2 --beam 5 --stores 5",
        r"\| no model \|  \| [\d.]+ \| [\d.]+ \|(?s:.*)\| n-grams \+ HHMM inside \| [\d., -]+ \|",
    ),
    "depth_table": ("{data}", r"\| CRAFT \| 27 \| head \|( [\d.]+ % \|){4} \d \|"),
    "esa_documents": (
        "{data} {root}/mt/train.en --sizes 5,10 --shortest 5 --min-count 1",
        r"\| 10 \|( -?\d\.\d{3} \|){6}",
    ),
    "feature_cost": (
        "{root}/mt/tune.nbest --count 1 -f dependency-lm",
        r"\| dependency-lm \| [\d.]+ \| [\d.]+ \| [\d.]+ \|",
    ),
    "fastsubs_scaling": (
        "{text} {text} --sizes 20 --splits 3 --counts 1,5 --places 9 --order 3",
        r"\| synthetic \| [\d,]+ \| \d+ \| \d+ \| [\d.]+ \|(?s:.*)\| synthetic \|( [\d,.]+ \|){6}",
    ),
    "grammar_table": ("{data} {grammar} --every 9", r"\| small.pcfg \| \d+ \| \d+ \| Natural Stories \|"),
    "first_use": (
        "{root}/mt/tune.nbest --count 1 --dearest 1 -f consensus -f length",
        r"\| all together \| \d+ \|( [\d.]+ \|){2}(?s:.*)\| lists.consensus_kernels.add_posteriors \| [\d.]+ \|",
    ),
    "hhmm_grammars": ("{data} {grammar} --sentences 6 --parsed 3", r"\| small.pcfg \| \d+ \| \d+ \|"),
    "hhmm_parsing": ("{data} {grammar} --every 5", r"\| small.pcfg \| [\d.]+ \| [\d.]+ \|"),
    "hhmm_table": (
        "{data} {grammar} --beams 20 --sentences 6 --lines 50",
        r"\| 5-gram \+ HHMM, beam 500 \|( [\d.]+ \|){3}(?s:.*)400 words: [\d.]+ ms per word\n\d+-best list",
    ),
    "known_utterances": (
        "{transcripts} --text {text} --shortest 4 --words 3",
        r"\| transcripts.jsonl \| 2 \| 1 \| 1 \|",
    ),
    "lexical_substitution": ("{data} {root}/mt/lm.arpa", r"\| substitutes \|( [\d.]+ \|){3}"),
    "list_kinds": (
        "{job} beam={lists}/{{set}}.nbest.xz both={lists}/{{set}}.nbest.xz+{lists}/tune.nbest.xz --features no-syntax "
        "--samples {lists}/{{set}}.nbest.xz",
        r"\| lists \| hypotheses \| 1-best \| .*MBR, chrF(?s:.*)\| both \|( [\d.]+ \|){7} [+-][\d.]+ \|",
    ),
    "long_sentences": ("{data}/treebank_gum/gum-dev.ptb --longest 40 --start 0", r"\| 40 \|( [\d.]+ \|){3}"),
    "margin_table": (
        "half={lists}/tune.nbest.xz,{lists}/tune.ref,{lists}/tune.src other={lists}/test.nbest.xz,{lists}/test.ref "
        "-m bleu,tokenize=none -f length",
        r"\| half \| other \| [\d.]+ \|( [+-][\d.]+ \[[+-][\d.]+, [+-][\d.]+\](, \d+ %)? \|){4} no \|",
    ),
    "missing_words_table": (
        "{root}/mt/test.en {root}/mt/train.en --min-count 1 --tuned 12 --most 15 --listed 8 --words 3 "
        "--feature length=length",
        r"\| odds, contexts, n-gram \|( [\d.]+ \|){5}(?s:.*)\| n-gram \+ length \|( [\d.]+ \|){5} \d+, \d+, [\d.]+ \|",
    ),
    "embedded_ngram": ("{root}/mt/train.en --held-out {root}/mt/test.en", r"\| all n-grams \| [\d,]+ \| [\d.]+ \| [\d.]+% \|"),
    "comet_throughput": (
        "{root}/mt/tune.nbest --source {root}/mt/tune.de --most 3 --layers 1 --width 16",
        r"\| loop \| 9 \| 24 \|(?s:.*)\| each text once \| 9 \| 4 \|",
    ),
    "neural_throughput": (
        "{root}/mt/tune.nbest --source {root}/mt/tune.de --number 2 --layers 1 --width 16",
        r"\| causal \| shared prefixes \|(?s:.*)\| translation \| batches \|",
    ),
    "ngram_speed": ("{root}/mt/train.en --most 100 --order 3 --memory 1G", r"\| KenLM \|( [\d.]+ \|){3}(?s:.*)\| KenLM \| [\d,]+ \|"),
    "espnet_job": (
        "{espnet}/lists {espnet}/texts {espnet}/job",
        r"wrote 1 utterances to (?s:.*)wrote 2 sentences of unread books",
    ),
    "mqm_table": (
        "{wmt} {ratings} de-en",
        r"the system chosen on the other half \| -[\d.]+ \|(?s:.*)\| agreement with the systems, chrf \| [\d.]+ \|",
    ),
    "wmt_table": ("{wmt} de-en", r"\| de-en \| 3 \| combined \| [+-][\d.]+ \|"),
    "nonwords": (
        "{root}/mt/train.en lm=ngram-lm,model={root}/mt/lm.arpa --number 5 --sentences 20",
        r"\| lm \| [\d.]+ \[[\d.]+, [\d.]+\] \| \d+ \| [\d.]+ \| [\d.]+ \| [\d.]+% \|",
    ),
    "packed_ngrams": (
        "{root}/mt/lm.arpa {root}/mt/train.en --bits 8 --most 50 --repeats 1",
        r"\| records \|( [\d.,]+ \|){3}(?s:.*)\| 8 bits \|( [\d.,]+ \|){3}",
    ),
    "small_treebank": (
        "{data}/treebank_ewt/ewt-train.conllu.xz {data}/treebank_gum/gum-train.conllu.xz --text {root}/mt/train.en "
        "--silver {data}/treebank_gum/gum-dev.conllu.xz --silver-words 100 --steps one,own,silver --epochs 1",
        r"\| silver \| held out \|( [\d.]+ \|){4}",
    ),
    "treebank_sizes": (
        "{data} --text {root}/mt/train.en --sizes 20 --epochs 1 --splits 0 --sentences 4 --lists {root}/mt --most 2",
        r"\| 20 \| \d+ \| 1 \|( [\d.]+ \|){5}\n(?s:.*)\| 20 \|( [\d.]+ \|){4}\n(?s:.*)\| 20-trees, all \| [\d.]+ \|",
    ),
    "agreement_pairs": ("--each 3", r"(?m)^The \w+ laughs \.\tThe \w+ laugh \.\tsimple$"),
    "memory_table": ("--lists 2,4 --hypotheses 50", r"\| 200 \|( \d+ \| -?\d+ \|){2}"),
    "parser_table": ("{data} --most 20", r"\| arc-eager, GUM \|( [\d.]+ \|){3}"),
    "random_indexing_weights": (
        "{data} {root}/mt/train.en --min-count 1",
        r"\| sif, centred \| idf \| window \|( -?\d\.\d{3} \|){2}",
    ),
    "reading_times": ("{data} --beam 20 --model {grammar}", r"Closed-class words: \d+ words(?s:.*)surprisal_before"),
    "referential_table": (
        "--grammar {root}/referential/grammars/directives.grammar --directives 1 --levels 0.2 --sizes 240 --timed 1 --n 5 "
        "--beam 100 --beams 10",
        r"\| 240 \| 158 \+ 82 \| 231 \| 16\.77 \|(?s:.*)\| 0\.2 \| LM-NoSem, 240 \| [\d.]+ \|(?s:.*)\| 240 \| 10 \|",
    ),
    "scorer_speed": ("{root}/mt/lm.arpa {text} --beams 4 --words 2 --stores 5 --repeats 1", r"\| n-grams \|( [\d.]+ \|){4}"),
    "serve_load": (
        "{cheap} {root}/mt/test.nbest --requests 6 --more 0 --damaged 9 --hanging 1 --jobs 1 --soak 2000",
        r"\| 100 \| 6 \|( [\d.]+ \|){5}(?s:.*)20 of 20 × 200(?s:.*)\| 2,000 \| \d+ \+ \d+ \+ \d+ \|(?s:.*)left after the stop: 0",
    ),
    "similarity_learners": ("{data}", r"\| the best measure \|( -?\d\.\d{3} \|){6}"),
    "meaning_table": ("{data}", r"\| `svs.meaning` \|( -?\d\.\d{3} \|){6}"),
    "meaning_weights": (
        "{data} --stem 0.5,1 --shared 1 --role 0",
        r"\| [\d.]+ \| 1 \| 0 \|( -?\d\.\d{3} \|){4}",
    ),
    "role_triples": ("{bank} --most 2", r"\| passive \| \d \| [\d.]+ % \|"),
    "similarity_table": ("{data}", r"\| shrunk, one for all \|( -?\d\.\d{3} \|){8}"),
    "speech_table": (
        "{root}/asr/tune.jsonl --train {root}/mt/test.en --train-characters {root}/mt/test.en --families unigram",
        r"\| chosen \| [\d.]+ \| \d+, \d+, \d+ \| [+-][\d.]+ \|(?s:.*)\| oracle \| [\d.]+ \|",
    ),
    "speed_table": ("{lists} --generated 10,20,3", r"MERT, 20 restarts, generated 10 × 20 × 3"),
    "svs_table": (
        "{data} parsing --rows baseline,20hw-2 --seeds 1,2 --iterations 2 --rare 2 --decoders vector --every 3",
        r"\| 20hw-2 \| vector \| [\d.]+ \| [\d.]+ \| [\d.]+ ± [\d.]+ \| [\d.]+ \| 2 \|",
    ),
    "tatoeba_table": (
        "{job} --seeds 1 --halves",
        r"\| everything \| \d+ \| [\d.]+ \| [\d.]+ \| [+-][\d.]+ \|(?s:.*)\| everything, MBR \|(?s:.*)\| oracle \|",
    ),
    "treebank_names": ("{named}", r"precision 1.000, recall 1.000, F1 1.000"),
    "treelet_perplexity": (
        "{grammar} --latent {grammar} -k 3 --training trees={bank} --test dev={bank} --test text={text} --most 5",
        r"9 trees, \d+ words \| 5-gram \| \| [\d.]+ \| \| [\d.]+ \|",
    ),
    "tuner_settings": (
        "{lists} {table} mira,passes=2 mira,passes=2,start=decoder,select=true,metric=chrf --folds 2 --seeds 1 --noise 2 --jobs 1",
        r"\| mira,passes=2,start=decoder,select=true,metric=chrf \| [\d.]+ \| [\d.]+ \| [+-][\d.]+ ± [\d.]+ \|",
    ),
    "tuner_table": ("{lists} length --tuners mira,mbr --seeds 1", r"\| mira \| [\d.]+ \| [\d.]+ \|"),
    "tuning_set_size": ("{job} --sizes 2,3", r"\| 2 \| \d \|( [\d.]+( ± [\d.]+)? \|){2} [+-][\d.]+"),
}  # fmt: skip


JOB = """
jobs = 1
[tune]
nbest = ["{lists}/tune.nbest.xz"]
references = ["{lists}/tune.ref"]
source = "{lists}/tune.src"
[[test]]
nbest = ["{lists}/test.nbest.xz"]
references = ["{lists}/test.ref"]
source = "{lists}/test.src"
[tuner]
use = "mira"
passes = 2
[[feature]]
use = "length"
[[feature]]
use = "untranslated"
[[feature]]
use = "hhmm-lm"
beam = 5
[evaluation]
bootstrap = 40
randomisation = 40
"""


def changed(tree, words):
    """The tree with some words exchanged."""
    return re.sub(r"(?<= )\w+(?=\))", lambda match: words.get(match[0], match[0]), tree)


def espnet_folders(folder):
    """A folder with `lists`, archives of two-best lists of two speakers, and `texts`, two texts of two books each."""
    (folder / "lists").mkdir(parents=True)
    (folder / "texts").mkdir()
    for name in ("dev_other", "test_clean"):
        files = {f"{name}/ref.text": "1-2-0 IT RAINS\n3-4-0 WE SAW IT\n"}
        for rank, text in ((1, "IT RAIN"), (2, "IT RAINS")):
            place = f"{name}/logdir/output.1/{rank}best_recog"
            files[f"{place}/text"] = f"1-2-0 {text}\n3-4-0 WE SAW IT\n"
            files[f"{place}/score"] = f"1-2-0 tensor(-{rank}.5)\n3-4-0 tensor(-{rank}.0)\n"
        write_archive(folder / "lists" / f"{name}.tar.xz", files)
    (folder / "lists" / "books_read.tsv").write_text("file\tbook\ttitle\tutterances\nnovels.txt.xz\tONE\tOne\t3\n")
    for name in ("novels", "novels-more"):
        text = "This is read .\nSo is this .\nThis is not !\n"
        (folder / "texts" / f"{name}.txt.xz").write_bytes(lzma.compress(text.encode()))
        index = "file\ttitle\tfirst_line\tlast_line\nONE\tOne\t1\t2\nTWO\tTwo\t3\t3\n"
        (folder / "texts" / f"{name}.index.tsv").write_text(index)
    return folder


def write_archive(path, files):
    """A compressed tar of these texts by name."""
    with tarfile.open(path, "w:xz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))


def wmt_archive(folder):
    """A tar of the sources, references and outputs of three systems, each of which has other words in some segments."""
    words = ["the cat sat", "a dog ran", "birds sing", "we saw it"]
    right = [f"{words[s % 4]} in room {s} ." for s in range(12)]
    texts = {"sources/t.de-en.src.de": [f"Satz {s} ." for s in range(12)], "references/t.de-en.ref.A.en": right}
    for number, name in enumerate("ABC"):
        outputs = [text.replace(" in ", " at the ") if (s + number) % 3 else text for s, text in enumerate(right)]
        texts[f"system-outputs/t.de-en.hyp.{name}.en"] = outputs
    path = folder / "wmt.tar.xz"
    write_archive(path, {name: "".join(line + "\n" for line in lines) for name, lines in texts.items()})
    return path


@pytest.fixture(scope="module")
def made(small, treebank_path, tmp_path_factory):
    """A folder of tiny data as the experiments want them, and files beside it."""
    folder = tmp_path_factory.mktemp("made")
    data = folder / "data"

    def write(name, text):
        path = data / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(lzma.compress(text.encode()) if path.suffix == ".xz" else text.encode())
        return path

    trees = BANK.strip().splitlines()
    more = [*trees, *(changed(tree, words) for words in OTHER_WORDS for tree in trees)]
    for name in ("treebank_gum/gum-train.ptb", "treebank_gum/gum-dev.ptb", "treebank_craft/craft-train.ptb.xz",
                 "treebank_craft/craft-dev.ptb.xz", "eval_only/naturalstories/parses/penn/all-parses.txt.penn"):  # fmt: skip
        write(name, "\n".join(more) + "\n")
    sentences = [" ".join(re.findall(r" (\w+)\)", tree)) for tree in more]
    for name in ("textbooks", "novels", "presidential"):
        write(f"text_en/{name}.txt.xz", "\n".join(sentences * 8) + "\n")
    dependencies = treebank_path.read_text(encoding="utf-8")
    for name in ("ewt", "gum"):
        for part in ("train", "dev"):
            write(f"treebank_{name}/{name}-{part}.conllu.xz", dependencies)
    lists = data / "mt_nbest_tatoeba_de_en"
    for part in ("tune", "test"):
        write(f"{lists.name}/{part}.nbest.xz", (small / f"{part}.nbest").read_text(encoding="utf-8"))
        for language, ending in (("de", "src"), ("en", "ref")):
            write(f"{lists.name}/{part}.{ending}", (small / f"{part}.{language}").read_text(encoding="utf-8"))
    write("eval_only/lexsub/lst_all.preprocessed", "dog.n\t1\t1\tthe dog saw a cat\nsee.v\t2\t2\tthe dog saw a cat\n")
    write("eval_only/lexsub/lst_all.gold", "dog.n 1 :: animal 2;cat 1;\nsee.v 2 :: watch 1;look at 2;\n")
    write("eval_only/lexsub/lst.gold.candidates", "dog.n::animal;cat;pet\nsee.v::watch;look at;hear\n")
    pairs = "".join((EXAMPLE / "similarity/pairs.tsv").read_text(encoding="utf-8").splitlines(True)[:24])
    for name in ("2012.SMTeuroparl.train", "2012.SMTeuroparl.test", "2012.OnWN.test", "2013.headlines.test",
                 "2013.OnWN.test", "2013.FNWN.test", "2014.images.test", "2015.headlines.test"):  # fmt: skip
        write(f"sts/{name}.tsv", pairs)
    times, aligned = ["word\tzone\titem\tmeanItemRT"], []
    for story in (1, 2):
        zones = iter(range(1, 1000))
        for tree in more:
            zone = {"": 0}

            def numbered(match, zone=zone, story=story, zones=zones):
                zone[""] = next(zones)
                times.append(f"{match[1]}\t{zone['']}\t{story}\t{250 + 7 * len(match[1]) + zone[''] % 13}")
                return f" {match[1]}/{story}.{zone['']})"

            aligned.append(re.sub(r" (\w+)\)", numbered, tree))
    write("eval_only/naturalstories/parses/penn/all-parses-aligned.txt.penn", "\n".join(aligned) + "\n")
    write("eval_only/naturalstories/processed_wordinfo.tsv", "\n".join(times) + "\n")
    bank, text, named, grammar = (folder / name for name in ("bank.ptb", "text.txt", "named.conllu", "small.pcfg"))
    bank.write_text("\n".join(trees) + "\n")
    text.write_text("\n".join(sentences[:40]) + "\n")
    named.write_text(NAMED)
    done("train", "hhmm", data / "treebank_gum/gum-train.ptb", "--language", "en", "--splits", "0", "-o", grammar)
    transcripts = folder / "transcripts.jsonl"
    known = sentences[0].lower()
    transcripts.write_text(
        "".join(json.dumps({"ref": words}) + "\n" for words in (known, "no such words at all", "short"))
    )
    table = folder / "features.npz"
    done("extract", lists / "tune.nbest.xz", "--source", lists / "tune.src", "-f", "length", "-o", table)
    job = folder / "job.toml"
    job.write_text(JOB.format(lists=lists), encoding="utf-8")
    espnet = espnet_folders(folder / "espnet")
    ratings = folder / "ratings.tsv"
    ratings.write_text(
        "system mqm_avg_score seg_id\n"
        + "".join(f"{name}\t{-float((s * k) % 5)} {s}\n" for s in range(1, 13) for k, name in enumerate("ABC", 1))
    )
    cheap = folder / "cheap.toml"
    cheap.write_text('[[feature]]\nuse = "length"\n')
    return {
        "espnet": espnet,
        "ratings": ratings,
        "wmt": wmt_archive(folder),
        "cheap": cheap,
        "data": data,
        "table": table,
        "lists": lists,
        "job": job,
        "bank": bank,
        "text": text,
        "transcripts": transcripts,
        "named": named,
        "grammar": grammar,
        "root": EXAMPLE,
    }


def command(name):
    return importlib.import_module(f"{experiments.__name__}.{name}").main


def test_every_experiment_is_run():
    assert {*RUNS, *PARTS} == set(MODULES)


@pytest.mark.parametrize("name", RUNS)
def test_help(name, capsys):
    """In whole sentences, with the data that are wanted."""
    assert isinstance(command(name), Experiment)
    assert command(name).name == name
    command(name)(["--help"])
    shown = capsys.readouterr().out
    assert shown.startswith(f"Usage: python -m tests.experiments.{name}")
    usage, _, rest = shown.partition("\n\n")
    explained, _, options = rest.partition("\nOptions:")
    assert "." in explained
    for option in re.split(r"\n(?=  -)", options.strip("\n")):
        assert re.search(r"[.\]]$", option.rstrip()), option  # sentences, and defaults after them
    for argument in re.findall(r"\b[A-Z]{4,}(?:\.\.\.)?(?= |\]|$)", usage.partition("[OPTIONS]")[2]):
        assert re.search(rf"\b{argument.rstrip('.')}\b", explained), argument


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS)
def test_run(name, made, capsys):
    if name in NEEDED:
        pytest.importorskip(NEEDED[name])
    arguments, wanted = RUNS[name]
    command(name)([part.format_map(made) for part in arguments.split(" ")])
    assert re.search(wanted, capsys.readouterr().out)


OF_OWN_DATA = {"agreement_pairs", "corridor_counts", "memory_table"}  # they need no files


@pytest.mark.parametrize("name", RUNS)
def test_what_is_missing_is_said_in_one_line(name, tmp_path, capsys):
    """Whatever lacks: arguments, a folder, a file in it."""
    arguments = [re.sub(r"{\w+}", str(tmp_path / "none"), part) for part in RUNS[name][0].split(" ")]
    for given in (["--nonsense"], *([arguments] if name not in OF_OWN_DATA else [])):
        with pytest.raises(SystemExit) as ended:
            command(name)(given)
        shown = capsys.readouterr()
        assert ended.value.code == 2
        assert shown.err.startswith(f"{name}: ")
        assert shown.err.count("\n") == 1, shown.err
        assert not shown.out


@pytest.mark.parametrize(
    "name", [name for name, (arguments, _) in RUNS.items() if "{data} " in arguments + " " or "{lists}" in arguments]
)
def test_a_file_that_lacks_in_the_folder_is_named(name, made, tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    arguments = [
        part.format_map({**made, "data": tmp_path / "empty", "lists": tmp_path / "empty"})
        for part in RUNS[name][0].split(" ")
    ]
    with pytest.raises(SystemExit) as ended:
        command(name)(arguments)
    assert ended.value.code == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert re.match(rf"{name}: .*: no such file", last), last


@pytest.mark.slow
def test_added_features_have_rows_of_their_own(made, capsys):
    added = ("--add", "lexical-overlap", "--add", "oov-count,label=oovs")
    command("tatoeba_table")([str(made["job"]), "--seeds", "0", *added])
    shown = capsys.readouterr().out
    assert re.search(
        r"\| everything, lexical-overlap \| \d+ \|(?s:.*)\| everything, lexical-overlap and oovs \| \d+ \|", shown
    )
    assert re.search(
        r"\| everything without syntax, lexical-overlap and oovs \| .* \| everything, lexical-overlap and oovs", shown
    )
    assert "MBR" not in shown


def test_recognition_lists_go_to_the_sets_in_turns_whatever_their_ids(tmp_path):
    file = tmp_path / "lists.jsonl"
    records = [{"id": f"utt-{number:03}", "hyps": ["a", "b"], "ref": f"r{number}"} for number in range(60)]
    file.write_text("".join(json.dumps(record) + "\n" for record in records))
    job = Job.create(Config(nbest={"use": "hyporadise"}), load_plugins(BUILTIN))
    tune, test = (added_features_table.recognitions(file, name, job) for name in ("tune", "test"))
    assert [references[0] for references in test.references] == [f"r{number}" for number in range(25, 50)]
    assert [nbest.segment_id for nbest in test.nbests][:2] == ["utt-025", "utt-026"]
    assert len(tune.nbests) == 35


def test_added_features_stand_beside_their_base():
    system, base = tatoeba_table.System, frozenset({"a"})
    systems = [
        system("decoder's features", frozenset(), "1-best"),
        system("+ treelets", base, "decoder's features"),
        system("everything", base, "everything without syntax"),
    ]
    rows = [(row.name, sorted(row.labels), row.over) for row in tatoeba_table.with_added(systems, ("b", "c"))]
    assert rows == [
        ("decoder's features", [], "1-best"),
        ("decoder's features, b", ["b"], "decoder's features"),
        ("decoder's features, c", ["c"], "decoder's features"),
        ("decoder's features, b and c", ["b", "c"], "decoder's features"),
        ("everything", ["a"], "decoder's features"),
        ("everything, b", ["a", "b"], "everything"),
        ("everything, c", ["a", "c"], "everything"),
        ("everything, b and c", ["a", "b", "c"], "everything"),
    ]


def test_a_package_that_lacks_is_named(made, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(SystemExit):
        command("reading_times")([str(made["data"])])
    assert capsys.readouterr().err == "reading_times: needs the package pandas: install 'rerank-plugins[all]'\n"


def test_values_with_commas():
    from tests.experiments.experiment import Listed, named_values, weighted_files

    assert Listed(int)("1, 2,3") == (1, 2, 3)
    with pytest.raises(click.BadParameter, match=r"found '1,x', expected values of the kind int"):
        Listed(int)("1,x")
    with pytest.raises(click.BadParameter, match=r"unknown 'c', expected some of a, b"):
        Listed(str, "ab")("a,c")
    assert named_values(["a=b=c"], "NAME=FEATURE") == {"a": "b=c"}
    with pytest.raises(RerankError, match=r"found 'a', expected NAME=FEATURE"):
        named_values(["a"], "NAME=FEATURE")
    with pytest.raises(RerankError, match=r"found 'a=b', expected FILE=WEIGHT with a number"):
        weighted_files(["a=b"])

"""Compare models of constituents with those of constituents made from dependencies (docs/results/parsing.md).

The treebanks have the same sentences. From each, a grammar, a grammar for the HHMM (binarised to the left) and a
treelet model are trained. Perplexities are those of sentences of up to 40 words, that of the treelet model over the ten
best parses of its grammar, which is an upper bound. UAS is that of the heads of the grammar's parses against gold
dependencies: by the English head rules, or by the tags of phrases. BLEU is that of the decoder's features, length and
consensus with each model, and with all three, tuned by MIRA on the lists of the example.

DATA is a folder with treebank_gum/gum-{train,dev}.ptb and .conllu.xz, and mt_nbest_tatoeba_de_en/test.ref; LISTS is one
with {tune,test}.nbest, .de and .en.

\b
    python -m docs.results.scripts.converted_trees DATA example_nbest/mt
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import click
import numpy as np

from docs.results.scripts.added_features_table import Lists
from docs.results.scripts.experiment import FOLDER, experiment, file_of, say
from docs.results.scripts.texts import SHORT, TATOEBA, Words, sentences_of_text
from rerank_adapters.builtin import BUILTIN
from rerank_adapters.data.dataset import Dataset
from rerank_adapters.evaluation import evaluate
from rerank_adapters.formats.reading import read_nbest
from rerank_adapters.job.config import Config
from rerank_adapters.job.job import Job
from rerank_adapters.run.learn import start_of
from rerank_adapters.texts.pairing import for_segments
from rerank_adapters.texts.reading import read_texts
from rerank_adapters.texts.sources import Sources
from rerank_adapters.tuning.problem import chosen_rows, problem_of
from rerank_plugins import SentenceModel, Tree
from rerank_plugins.constituency.language_model import PcfgLanguageModel
from rerank_plugins.constituency.model_file import write_grammar
from rerank_plugins.constituency.parser import PcfgParser
from rerank_plugins.constituency.split_merge import Schedule
from rerank_plugins.constituency.training import GrammarSettings, train_grammar
from rerank_plugins.constituency.treebank_files import read_treebank
from rerank_plugins.core.loader import load_plugins
from rerank_plugins.hhmm.language_model import HhmmLanguageModel
from rerank_plugins.kit.trees.dependency_constituents import to_dependencies
from rerank_plugins.kit.trees.parseval import Attachment
from rerank_plugins.kit.trees.treebank_cleaning import clean
from rerank_plugins.treelet.language_model import TreeletLanguageModel
from rerank_plugins.treelet.model import Settings, write_model
from rerank_plugins.treelet.training import collect, train

BANKS = {"constituents": "treebank_gum/gum-{}.ptb", "converted": "treebank_gum/gum-{}.conllu.xz"}
BASE: list[dict[str, Any]] = [{"use": "length"}, {"use": "consensus"}]
BEAM = 50


def trained(name: str, bank: list[Tree], splits: int, folder: Path) -> dict[str, Path]:
    """The files of the three models of the trees of a bank."""
    files = {kind: folder / f"{name}.{kind}" for kind in ("pcfg", "hhmm", "treelet")}
    directions: dict[str, Literal["right", "left"]] = {"pcfg": "right", "hhmm": "left"}
    for kind, direction in directions.items():
        say(f"{name}: {kind}")
        grammar = train_grammar([bank], [1.0], GrammarSettings("en", direction, schedule=Schedule(rounds=splits)))
        print(f"{name}, {kind}: {len(bank):,} trees, {grammar.size:,} symbols, {len(grammar.binary):,} binary rules")
        write_grammar(grammar, files[kind])
    settings = Settings()
    write_model(train(collect([tree for tree in map(clean, bank) if tree], settings), settings), files["treelet"])
    return files


def perplexity(model: SentenceModel, sentences: list[Words]) -> float:
    """Per word, ends of sentences included; signatures are words."""
    return float(np.exp(-np.sum(model.totals(sentences)) / sum(len(words) + 1 for words in sentences)))


def data_of(folder: Path, name: str, job: Job, most: int) -> Dataset:
    """The first lists of a set of the example, with their references."""
    nbests = read_nbest([file_of(folder, f"{name}.nbest")], job.format, Sources(file_of(folder, f"{name}.de")).of)[
        :most
    ]
    references = for_segments([read_texts(file_of(folder, f"{name}.en"), "reference")], [n.segment_id for n in nbests])
    return Dataset(name, nbests, references)


def bleu_table(folder: Path, models: dict[str, dict[str, Path]], most: int) -> None:
    """Extract the features, tune each system, and print the scores of the test set."""
    features = [{**feature, "label": feature["use"]} for feature in BASE]
    parsers: dict[str, dict[str, Any]] = {}
    for name, files in models.items():
        parsers[name] = {"use": "pcfg", "model": str(files["pcfg"]), "k": 10}
        added: list[dict[str, Any]] = [
            {"use": "pcfg", "model": str(files["pcfg"])},
            {"use": "hhmm-lm", "model": str(files["hhmm"]), "beam": BEAM},
            {"use": "treelet-lm", "model": str(files["treelet"]), "parser": name},
        ]
        features += [{**feature, "label": f"{name}-{feature['use']}"} for feature in added]
    metric = {"use": "bleu", "tokenize": "none"}
    config = Config(nbest={"use": "moses"}, metric=[metric], feature=features, parser=parsers, tuner={"use": "mira"})
    job = Job.of(config, load_plugins(BUILTIN))
    sets = {part: Lists(data_of(folder, part, job, most), job) for part in ("tune", "test")}
    base = {feature["use"] for feature in BASE}
    labels = [feature["label"] for feature in features[len(BASE) :]]
    systems = {"base": base} | {label: {*base, label} for label in labels}
    systems |= {f"{name}, all": {*base, *(label for label in labels if label.startswith(name))} for name in models}
    outputs = {}
    for system, wanted in systems.items():
        tables = {part: part_lists.table(wanted, set()) for part, part_lists in sets.items()}
        problem = problem_of(
            sets["tune"].data.lists, sets["tune"].data.references, tables["tune"], job.measures[0], job.config.tuning
        )
        start = start_of(job, sets["tune"].data.lists, tables["tune"])
        tuned = job.tuner.tune(problem, start, np.random.default_rng(1))
        data = sets["test"].data
        test = problem_of(data.lists, data.references, tables["test"], job.measures[0], job.config.tuning)
        outputs[system] = sets["test"].texts(chosen_rows(test, tuned))
    result = evaluate(outputs, sets["test"].data.references, {"bleu": job.measures[0].metric})
    print("\n| system | BLEU | p |\n| --- | ---: | ---: |")
    for score in result.metrics[0].systems:
        p = f"{score.comparison.bootstrap_p:.3f}" if score.comparison else ""
        print(f"| {score.system} | {score.score:.2f} | {p} |")


@experiment("converted_trees", __doc__)
@click.argument("data", type=FOLDER)
@click.argument("lists", type=FOLDER)
@click.option("--trees", default=0, help="Train on this many trees of each treebank; 0: on all.")
@click.option("--splits", default=3, help="Rounds of latent splitting.")
@click.option("--sentences", default=300, help="Score this many sentences of each text.")
@click.option("--most", default=100, help="Rerank this many lists of each set.")
def main(data: Path, lists: Path, trees: int, splits: int, sentences: int, most: int) -> None:
    """Train and measure the models of both treebanks and print the tables."""
    gold = [to_dependencies(tree) for tree in read_treebank(file_of(data, BANKS["converted"].format("dev")))]
    gold = [tree for tree in gold if len(tree.words) <= SHORT]
    gold = gold[:: max(1, len(gold) // sentences)][:sentences]
    texts = {"GUM dev": [tree.words for tree in gold], "Tatoeba": sentences_of_text(file_of(data, TATOEBA), sentences)}
    banks = {name: read_treebank(file_of(data, path.format("train"))) for name, path in BANKS.items()}
    banks = {name: bank[:: max(1, len(bank) // trees)] if trees else bank for name, bank in banks.items()}
    with TemporaryDirectory() as folder:
        models = {name: trained(name, bank, splits, Path(folder)) for name, bank in banks.items()}
        print("\n| trees | model | " + " | ".join(texts) + " | UAS | LAS |\n| --- | --- " + "| ---: " * 4 + "|")
        for name, files in models.items():
            parser, attachment = PcfgParser(files["pcfg"]), Attachment()
            for tree, parse in zip(gold, parser.parse([tree.words for tree in gold]), strict=True):
                attachment.add(tree, to_dependencies(parse.tree) if parse.tree else None)
            percent = attachment.percent()
            measured: dict[str, tuple[SentenceModel, str]] = {
                "grammar": (
                    PcfgLanguageModel(model=files["pcfg"], unknown_types=1),
                    f"{percent['UAS']:.1f} | {percent['LAS']:.1f}",
                ),
                "HHMM": (HhmmLanguageModel(model=files["hhmm"], unknown_types=1), " | "),
                "treelets": (
                    TreeletLanguageModel(
                        model=files["treelet"], parser=PcfgParser(files["pcfg"], k=10), unknown_types=1
                    ),
                    " | ",
                ),
            }
            for kind, (model, heads) in measured.items():
                cells = " | ".join(f"{perplexity(model, words):.1f}" for words in texts.values())
                print(f"| {name} | {kind} | {cells} | {heads} |", flush=True)
        bleu_table(lists, models, most)


if __name__ == "__main__":
    main()

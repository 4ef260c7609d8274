"""What is fuzzed: every reader of files, with a good file for it. `test_fuzz.py` finds readers that have no target."""

import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from rerank_adapters.api.pipeline import Pipeline
from rerank_adapters.applications.acceptability.classifier_file import read_classifier
from rerank_adapters.applications.acceptability.judgements import read_judgements
from rerank_adapters.applications.acceptability.sentence_classifier import SentenceClassifier
from rerank_adapters.applications.acceptability.suite_file import read_suite
from rerank_adapters.applications.completion.questions import read_answers, read_questions
from rerank_adapters.applications.missing_words.incomplete import parse_incomplete
from rerank_adapters.applications.negatives.treebank import read_sentences as read_annotated
from rerank_adapters.applications.parsing.surface_trees import surface_sentences
from rerank_adapters.applications.similarity import model as similarity
from rerank_adapters.applications.similarity.forest import RandomForest
from rerank_adapters.applications.similarity.pairs_file import read_sentence_pairs as read_rated_pairs
from rerank_adapters.applications.tables.join import load as load_table
from rerank_adapters.applications.training.parallel_text import read_sentence_pairs
from rerank_adapters.builtin import BUILTIN
from rerank_adapters.data.minimal_pairs import read_pairs
from rerank_adapters.formats.folders import read_costs, read_symbols
from rerank_adapters.formats.reading import read_nbest
from rerank_adapters.formats.writing import is_written
from rerank_adapters.job.config import read_config
from rerank_adapters.metrics.column import read_scored_pairs
from rerank_adapters.reranker import Reranker
from rerank_adapters.texts.one_bests import read_segments
from rerank_adapters.texts.pairing import pair
from rerank_adapters.texts.reading import read_groups, read_texts
from rerank_adapters.texts.texts import Texts
from rerank_adapters.weights import read_weights
from rerank_plugins import FeatureTable
from rerank_plugins.constituency.model_file import read_grammar as read_pcfg
from rerank_plugins.constituency.model_file import write_grammar
from rerank_plugins.constituency.treebank_files import read_inflection, read_treebank, treebank
from rerank_plugins.core.constituency_tree import read_trees
from rerank_plugins.core.dependency_tree import DependencyTree, read_conllu
from rerank_plugins.core.feature_table import SparseBlock
from rerank_plugins.core.loader import load_plugins
from rerank_plugins.dependency import model as dependency
from rerank_plugins.dependency import model as dependency_file
from rerank_plugins.dependency.ancestor_paths import TreeCollector
from rerank_plugins.dependency.biaffine import parser_file as biaffine
from rerank_plugins.dependency.form_features import read_features
from rerank_plugins.dependency.parsers import TreebankParser
from rerank_plugins.hhmm.event_counts import counting_settings, train_empirical
from rerank_plugins.hhmm.model_file import read_hhmm, write_empirical
from rerank_plugins.kit.files.model_file import read_trained_on
from rerank_plugins.kit.files.text import open_text
from rerank_plugins.kit.trees.dependency_constituents import Conversion
from rerank_plugins.kit.trees.feature_table import read_table
from rerank_plugins.kit.trees.features import universal_features
from rerank_plugins.kit.trees.head_rules import read_head_rules
from rerank_plugins.kit.trees.k_best_file import read_scored
from rerank_plugins.kit.vocabulary import unigrams
from rerank_plugins.lists.column import read_columns
from rerank_plugins.missing_words import model as missing_file
from rerank_plugins.missing_words import training as missing
from rerank_plugins.neural.comet_settings import read_settings
from rerank_plugins.ngram import training as ngram
from rerank_plugins.ngram.arpa_reader import read_unigrams
from rerank_plugins.ngram.features import read_words
from rerank_plugins.ngram.model import NgramModel
from rerank_plugins.ngram.word_classes import read_classes
from rerank_plugins.referential.grammar import read_grammar
from rerank_plugins.referential.world_file import read_world
from rerank_plugins.similarity import esa_model as esa_file
from rerank_plugins.similarity import esa_training as esa
from rerank_plugins.similarity import random_indexing as vectors_file
from rerank_plugins.similarity import random_indexing_training as vectors
from rerank_plugins.similarity.esa_training import Document
from rerank_plugins.similarity.sentence_meanings import read_concepts
from rerank_plugins.similarity.wordnet import WordNet
from rerank_plugins.substitutes.fastsubs import FastSubs
from rerank_plugins.substitutes.queues import FILE as queues_file
from rerank_plugins.substitutes.queues import Queues
from rerank_plugins.svs import concept_model as concept_file
from rerank_plugins.svs import model as svs_file
from rerank_plugins.translation import translation_memory as memory
from rerank_plugins.translation import word_lexicon as lexicon
from rerank_plugins.translation.alignment import model as alignment_file
from rerank_plugins.translation.alignment import training as alignment
from rerank_plugins.treelet import headlex
from rerank_plugins.treelet import model as treelet_file
from rerank_plugins.treelet import training as treelet
from rerank_plugins.treelet.form_numbers import FormNumbers
from rerank_plugins.treelet.model import Settings as TreeletSettings
from rerank_plugins.treelet.model import TreeletModel
from tests.dependency.test_parsers_biaffine import random_params
from tests.neural.tiny_comet import as_yaml, hparams
from tests.similarity.small_wordnet import write_wordnet
from tests.test_contracts import BRACKETS, CASES, FORMAT_OPTIONS, GOLDEN, K_BEST, TREES

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "example_nbest"
HEADS = ROOT / "rerank_plugins" / "kit" / "trees" / "english_heads.tsv"
FEATURES = HEADS.with_name("english_features.tsv")
REGISTRY = load_plugins(BUILTIN, installed=False)
LINES = ["the dog ran home", "a cat ran", "the cat saw the dog", "we saw a dog at home"] * 3
PAIRS = [("der Hund lief heim", "the dog ran home"), ("eine Katze lief", "a cat ran"), ("wir sahen", "we saw")] * 2


@dataclass(frozen=True)
class Target:
    """A reader: `name` says of what, `file` is the name that its files have, `write` puts a good one there."""

    name: str
    file: str
    write: Callable[[Path], object]
    read: Callable[[Path], object]
    is_container: bool = False


def text(name: str, content: str | bytes, read: Callable[[Path], object], file: str = "file") -> Target:
    """A target whose good file is this text."""
    whole = content.encode() if isinstance(content, str) else content
    return Target(name, file, lambda path: path.write_bytes(whole), read)


def model(name: str, write: Callable[[Path], object], read: Callable[[Path], object]) -> Target:
    """A target whose good file is a container (kit/files/model_file.py)."""
    return Target(name, "model", write, read, is_container=True)


def head(path: Path, lines: int = 12) -> bytes:
    """The first lines of a file."""
    return b"".join(path.read_bytes().splitlines(keepends=True)[:lines])


def of_lines(read: Callable[..., Iterable[Any]]) -> Callable[[Path], object]:
    """A reader of a path from a reader of lines and a name."""

    def read_all(path: Path) -> object:
        with open_text(path) as lines:
            return list(read(lines, str(path)))

    return read_all


def formats() -> Iterable[Target]:
    """Every registered format with each of its golden files."""
    for name, entry in REGISTRY.entries["format"].items():
        for file in CASES["format"].get(name, ()):
            read = reader_of_lists(entry.factory(**FORMAT_OPTIONS.get(name, {})))
            yield text(f"format {name} {file}", head(GOLDEN / file, 40), read, file)


def columnar() -> Iterable[Target]:
    """A table of hypotheses in each of the forms that pyarrow writes."""
    import pyarrow

    rows = [{"id": f"u{i // 3}", "text": f"so it is {i}", "score": -i / 2, "by": [None, "x"][i % 2]} for i in range(12)]
    table = pyarrow.Table.from_pylist(rows)
    writers: dict[str, Callable[[Path], object]] = {
        "parquet": partial(import_module("pyarrow.parquet").write_table, table),
        "feather": partial(import_module("pyarrow.feather").write_feather, table),
    }
    for ending, write in writers.items():
        yield Target(
            f"rows of {ending}", f"x.{ending}", write, reader_of_lists(REGISTRY.entries["format"]["rows"].factory())
        )


def reader_of_lists(form: Any) -> Callable[[Path], object]:
    """A reader of n-best lists, which are also written if that is done in their format."""

    def read_and_write(path: Path) -> None:
        for nbest in read_nbest([path], form, repeated=True):
            if is_written(form):
                list(form.write(nbest))

    return read_and_write


OUTPUTS = {
    "nemo": '{"audio_filepath": "wav/utt-1.wav", "text": "so it is", "pred_text": "so is it"}\n'
    '{"audio_filepath": "wav/utt-2.wav", "text": "oh no", "pred_text": "oh no"}\n',
    "array": '[{"id": "utt-1", "input": ["so is it"], "output": "so it is"}, {"id": "utt-2", "input": ["oh no"]}]\n',
    "icefall": "utt-1:\tref=['so', 'it']\nutt-1:\thyp=['so']\nutt-2:\tref=['no']\nutt-2:\thyp=['no']\n",
    "lists": "utt-1 ||| so is it ||| F= 1 ||| -1\nutt-2 ||| oh no ||| F= 1 ||| -1\n",
}


READ = Texts("read", {"utt-1": ("so it is",), "utt-2": ("oh no",)}, "kaldi")  # references of these outputs


def reader_of_references(form: Any) -> Callable[[Path], object]:
    """A reader of references in a form, by the ids that the file has."""

    def read(path: Path) -> None:
        references = read_texts(path, "reference", form)
        again = replace(references, path="", role="output")
        pair([references, references], {"again": again}, unpaired="leave-out")

    return read


def marked_dependencies(path: Path) -> object:
    """The trees of CoNLL-U with marks, whose words get the inflection that the file's own words teach."""
    inflection = read_inflection([path])
    return [universal_features().mark(tree) for tree in treebank(path, str, inflection=inflection)]


def treebank_parse(path: Path) -> object:
    """What the parser `treebank` finds in a file."""
    return TreebankParser(path).parse([("the", "cat", "sat")])


ICEFALL = "utt-1:\tref=['a', 'b']\nutt-1:\thyp=['a', 'c']\nutt-2:\tref=['d']\nutt-2:\thyp=['d']\n"
STM = ";; comment\ncall 1 speaker 0.5 2.25 <o,f0> so it is\ncall 1 speaker 2.25 4 then\n"
REFERENCES = {
    "auto": "so it is\nthen\n",
    "lines": "so it is\n\nthen\n",
    "lines-from-1": "so it is\n\nthen\n",
    "kaldi": "utt-1 so it is\nutt-2 then\n",
    "trn": "so it is (utt-1)\nthen (utt-2)\n",
    "json": '{"id": "utt-1", "text": "so it is"}\n{"id": "utt-2", "text": "then"}\n',
    "icefall": ICEFALL,
    "fairseq": "T-0\tso it is\nH-0\t-0.5\tso is it\nT-1\toh no\nH-1\t-0.5\toh no\n",
    "stm": STM,
    "sgm": '<refset>\n<doc docid="a" sysid="x">\n<seg id="1">so it is</seg>\n<seg id="2">oh &amp; no</seg>\n</doc></refset>\n',
}
SUITE = json.dumps(
    {
        "meta": {"name": "agreement", "metric": "sum"},
        "predictions": [
            {"type": "formula", "formula": "((2;%a%) + 1.5 < (2;%b%)) & ((*;%a%) > (*;%b%) | (1;%a%) = 0)"}
        ],
        "items": [
            {
                "item_number": 1,
                "conditions": [
                    {
                        "condition_name": name,
                        "regions": [
                            {"region_number": 1, "content": "the dog"},
                            {"region_number": 2, "content": content},
                        ],
                    }
                    for name, content in (("a", "runs"), ("b", "run"))
                ],
            }
        ],
    },
    indent=1,
)
CLASSIFIER = 'kind = "logistic"\nthreshold = 0.25\nconstant = -0.5\n[weights]\nlength = -0.5\nlm = 1.5\n[provenance]\nversion = "1"\n'
WEIGHTS = 'decision = "mbr"\nscale = 0.5\nevidence = 3\n[dense]\nTM = [0.2, 0.1]\nLM = 0.5\n[sparse]\n"wt_a~b" = 0.01\n[provenance]\nversion = "1"\n'
FITTED = """\
seed = 3
tuner = "rerank_adapters.tuners.mira.Mira"
objects = []
[provenance.options]
passes = 2
[provenance.job]
language = "en"
[[provenance.job.feature]]
use = "length"
text = ["lowercase"]
[[provenance.job.metric]]
use = "bleu"
"""
CONFIG = """\
seed = 2
[tune]
nbest = ["lists"]
references = ["refs"]
[[test]]
name = "news"
nbest = ["other"]
[text]
words = ["lowercase"]
[[metric]]
use = "bleu"
[[feature]]
use = "big"
[language_model.big]
use = "ngram-lm"
model = "lm.arpa"
[tuner]
use = "mira"
passes = 2
[evaluation]
bootstrap = 10
[[model]]
train = "ngram"
inputs = ["text"]
output = "lm"
options = { order = 3 }
"""
ARPA = """\
\\data\\
ngram 1=4
ngram 2=2

\\1-grams:
-1.0\t<unk>
-99\t<s>\t-0.3
-0.5\t</s>
-0.4\ta\t-0.2

\\2-grams:
-0.2\t<s> a
-0.3\ta </s>

\\end\\
"""


def lists_by_hooks() -> Iterable[Target]:
    """What a format gives to other programs: the lists of lines, and those of a folder."""
    moses = REGISTRY.entries["format"]["moses"].factory()
    yield text("lists of lines", head(GOLDEN / "moses.nbest", 40), of_lines(moses.read), "moses.nbest")
    nested = REGISTRY.entries["format"]["json"].factory()
    records = head(GOLDEN / "json.jsonl", 40)
    yield text("lists of a folder", records, lambda path: list(nested.read_folder(str(path.parent))), "json.jsonl")


def texts() -> Iterable[Target]:
    """Readers of text files."""
    yield text("config", CONFIG, read_config, "job.toml")
    yield text("weights.toml", WEIGHTS, read_weights, "weights.toml")
    yield text("weights of a reranker", WEIGHTS, Reranker.load, "weights.toml")
    yield text("weights of a pipeline", WEIGHTS + FITTED, Pipeline.load, "weights.toml")
    yield text("numbers", "1.5 2\n-3 4e5\n", read_columns, "numbers")
    yield text("scores of hypotheses", "a cat\t0.5\nthe dog\t-1\n", read_scored_pairs, "pairs")
    yield text("scores of pairs", "a cat\tthe cat\t0.5\nthe dog\tthe cat\t-1\n", read_scored_pairs, "pairs")
    yield text("moses.ini", (EXAMPLE / "mt" / "moses.ini").read_bytes(), read_weights, "moses.ini")
    yield text("moses weights", "TM0= 0.2 0.1\nLM0= 0.5\nwt_a~b 0.01\n", read_weights, "weights")
    for form, content in REFERENCES.items():
        yield text(f"references {form}", content, reader_of_references(form))
    yield text("references json table", 'id,reference\n1,"so, it is"\n2,then\n', reader_of_references("auto"))
    yield text("references auto stm", STM, reader_of_references("auto"), "refs.stm")
    for name, content in OUTPUTS.items():
        yield text(
            f"outputs {name}",
            content,
            lambda path: pair([READ], {"system": read_texts(path, "output")}, unpaired="leave-out"),
        )
    yield text("costs", "utt-1 0.5\nutt-2 3\n", of_lines(read_costs))
    yield text("groups", "0 anna\n1 bert\n", lambda path: read_groups(path, ["0", "1"]))
    yield text("segments", "utt-1 call 0.5 2.25\nutt-2 call 2.25 4\n", read_segments)
    yield text("symbols", "<eps> 0\na 1\nb 2\n", read_symbols)
    yield text("sentence pairs", "a b ||| c\nd ||| e f\n", lambda path: list(read_sentence_pairs([str(path)])))
    yield text("minimal pairs", head(EXAMPLE / "acceptability" / "pairs.tsv"), read_pairs)
    blimp = (
        '{"sentence_good": "a b", "sentence_bad": "b a", "field": "syntax", "linguistics_term": "order", "UID": "x"}\n'
    )
    yield text("BLiMP", blimp * 2, read_pairs)
    yield text("judgements", head(EXAMPLE / "acceptability" / "dev.tsv"), read_judgements)
    yield text("suite", SUITE, read_suite)
    yield text("classifier", CLASSIFIER, read_classifier)
    yield text("classifier with its features", CLASSIFIER, SentenceClassifier.load)
    yield text("questions", head(EXAMPLE / "completion" / "questions.tsv"), read_questions)
    csv = "id,question,a),b)\n1,the _____ barks,dog,cat\n"
    yield text("questions csv", csv, read_questions)
    yield text("answers", "id,answer\n1,a\n2,b\n", lambda path: read_answers(path, 2))
    yield text("scored pairs", head(EXAMPLE / "similarity" / "pairs.tsv"), read_rated_pairs)
    yield text("scored pairs csv", '1.5,"a, b",c d\n2,e,f\n', read_rated_pairs, "pairs.csv")
    yield text("incomplete", head(EXAMPLE / "missing-words" / "test.incomplete"), of_lines(parse_incomplete))
    yield text("incomplete plain", "he went ____ the house\nso it is\n", of_lines(parse_incomplete))
    yield text("word classes", "dog\t3\ncat\t3\nran\t4\n", of_lines(lambda lines, path: [read_classes(lines, path)]))
    yield text("word list", "dog 3\ncat\n", read_words)
    yield text(
        "head rules", HEADS.read_bytes(), of_lines(lambda lines, path: read_head_rules(lines, path).rules.items())
    )
    yield text("features of trees", FEATURES.read_bytes(), of_lines(read_table))
    universal = FEATURES.with_name("universal_features.tsv")
    yield text("features of dependencies", universal.read_bytes(), of_lines(read_table))
    yield text("CoNLL-U", TREES, of_lines(read_conllu))
    yield text("features of forms", TREES, lambda path: read_features([path], str.lower))
    inflected = TREES.replace("\t_\t_\t", "\t_\tNumber=Sing\t")
    yield text("CoNLL-U with inflection", inflected, marked_dependencies)
    yield text("CoNLL-U as constituents", TREES, of_lines(lambda lines, path: Conversion().read(lines, path)))
    yield text("CoNLL-U with features", TREES, of_lines(read_annotated))
    yield text("CoNLL-U with surface tokens", TREES, of_lines(surface_sentences))
    yield text("brackets", BRACKETS, of_lines(read_trees))
    yield text("treebank", BRACKETS, read_treebank)
    yield text("k-best trees", K_BEST, of_lines(read_scored))
    for name, content in (("CoNLL-U", TREES), ("brackets", BRACKETS), ("k-best", K_BEST)):
        yield text(f"parser treebank {name}", content, treebank_parse)
    worlds = EXAMPLE / "referential" / "worlds"
    yield text("world toml", (worlds / "files.toml").read_bytes(), read_world, "world.toml")
    yield text("world csv", head(worlds / "activities.csv"), read_world, "world.csv")
    yield text(
        "referential grammar", (EXAMPLE / "referential" / "grammars" / "files.grammar").read_bytes(), read_grammar
    )
    yield text("ARPA", ARPA, NgramModel.load)
    yield text("ARPA substitutes", ARPA, FastSubs.load)
    yield text("ARPA unigrams", ARPA, read_unigrams)
    yield Target(
        "WordNet",
        "data.noun",
        lambda path: write_wordnet(path.parent),
        lambda path: WordNet(path.parent, {"dogs": 1.0}),
    )


def feature_table(path: Path) -> None:
    """A small table with sparse features."""
    sparse = SparseBlock(("x", "y"), np.array([0, 1, 1, 2]), np.array([0, 1], np.int32), np.array([1.0, 2.0]))
    values = np.arange(6.0).reshape(3, 2)
    FeatureTable(("a", "b"), values, np.array([0, 2, 3]), ("0", "1"), sparse, {"n": [1]}).save(path)


def dependency_model(path: Path) -> None:
    """Trees of a few sentences."""
    collector = TreeCollector()
    collector.add([DependencyTree(("a", "dog"), (1, -1), ("det", "root")), DependencyTree(("ran",), (-1,), ("root",))])
    dependency_file.write_model(dependency.train(collector, dependency.Settings(order=2, min_count=1), jobs=1), path)


def ngrams() -> NgramModel:
    """A small n-gram model."""
    return ngram.train([("text", LINES)], ngram.NgramSettings(2)).ngrams


CLASS_TREES = [
    DependencyTree(("a", "c", "b"), (1, -1, 1), ("nsubj", "root", "obj"), ("NOUN", "VERB", "NOUN")),
    DependencyTree(("d", "a"), (1, -1), ("det", "root"), ("DET", "NOUN")),
    DependencyTree(("e", "c", "d", "b"), (1, -1, 3, 1), ("aux", "root", "det", "obj"), ("AUX", "VERB", "DET", "NOUN")),
] * 3


def class_model(path: Path) -> None:
    """A dependency model with classes."""
    collector = TreeCollector(tagged=True)
    collector.add(CLASS_TREES)
    settings = dependency.Settings(order=3, smoothing="kneser-ney", min_count=1, classes=True)
    features = {("a", "NOUN"): Counter({"Number=Sing": 30}), ("c", "VERB"): Counter({"VerbForm=Fin": 30})}
    dependency_file.write_model(dependency.train(collector, settings, features=features, jobs=1), path)


def trained_treelets() -> TreeletModel:
    """A treelet model of two trees."""
    settings = TreeletSettings()
    return treelet.train(treelet.collect(list(read_trees(BRACKETS.splitlines())), settings), settings, jobs=1)


def treelet_model(path: Path) -> None:
    """A treelet model."""
    treelet_file.write_model(trained_treelets(), path)


def number_model(path: Path) -> None:
    """A treelet model with the numbers of forms."""
    numbers = FormNumbers(("_", "pl", "sg"), ("NOUN", "NOUN-s", "VERB"), np.array([2, 1, 0], np.int32))
    treelet_file.write_model(replace(trained_treelets(), numbers=numbers), path)


def write_queues(path: Path) -> None:
    """The queues of substitutes of the n-gram model."""
    queues_file.write(Queues.build(ngrams().tables), path)


def hhmm_model(path: Path) -> None:
    """An empirical model of two trees."""
    write_empirical(
        train_empirical([list(read_trees(BRACKETS.splitlines()))], [1.0], counting_settings("en"), 3, 2.0), path
    )


def pcfg_model(path: Path) -> None:
    """The grammar of an empirical model of two trees."""
    write_grammar(
        train_empirical([list(read_trees(BRACKETS.splitlines()))], [1.0], counting_settings("en"), 3, 2.0).grammar, path
    )


def similarity_model(path: Path) -> None:
    """A model of two measures."""
    regression = similarity.Regression(("a", "b"), np.array([1.0, 2.0]), 0.5, 0.9, (("a", 0.5),))
    known = vectors.train([("text", LINES)], vectors.Settings(min_count=1))
    trained = similarity.SimilarityModel("one", ("a", "b"), {"all": regression}, (0.0, 5.0), (), None, known)
    similarity.write_similarity(trained, path)


def forest_model(path: Path) -> None:
    """A model of two measures that mixes the scores of two sources by a forest of two trees."""
    leaf, stop = [-1, -1], [0.5, 0.5]
    forest = RandomForest(
        np.array([0, 3]), np.array([[1, 2], leaf, leaf, [4, 5], leaf, leaf]), np.array([0, 0, 0, 1, 0, 0]),
        np.array([1.5, 0, 0, 2.5, 0, 0]), np.array([stop, [1, 0], [0, 1], stop, [0.25, 0.75], [1, 0]]),
    )  # fmt: skip
    regressions = {
        source: similarity.Regression(("a", "b"), np.array([1.0, 2.0]), constant, 0.9, (("a", 0.5),))
        for source, constant in (("x", 0.5), ("y", 1.0))
    }
    trained = similarity.SimilarityModel("mixed", ("a", "b"), regressions, (0.0, 5.0), (), forest)
    similarity.write_similarity(trained, path)


def svs_model(path: Path) -> None:
    """A random model."""
    from tests.svs.naive_svs_parsing import random_model

    svs_file.write_model(random_model(1, concepts=3), path)


def concept_model(path: Path) -> None:
    """A model of the concepts of some trees."""
    from rerank_plugins.svs.concept_training import ConceptSettings, train_concepts

    settings = ConceptSettings("en", concepts=2, least=0.01, dimensions=2, iterations=1)
    concept_file.write_model(train_concepts([read_trees(BRACKETS.splitlines())], [1.0], settings), path)


def biaffine_model(path: Path) -> None:
    """An untrained parser."""
    lists = tuple("abcdefghijk"), ("a",), np.zeros((1, 3)), tuple("TUVW"), ("det", "obj", "root")
    biaffine.BiaffineModel(random_params(np.random.default_rng(0)), *lists, "en").save(path)


def models() -> Iterable[Target]:
    """Loaders of models and of other binary files.

    Models whose links are followed while they are read are damaged, but not forged: their checksums are all they have.
    """
    yield Target("feature table", "t.npz", feature_table, FeatureTable.load)
    yield Target("recorded table", "t.npz", feature_table, lambda path: load_table(path, REGISTRY, path.parent))
    yield model("biaffine parser", biaffine_model, biaffine.read_model)
    yield model("dependency", dependency_model, dependency_file.read_model)
    yield model("dependency with classes", class_model, dependency_file.read_model)
    yield model("what a model was trained on", dependency_model, read_trained_on)
    yield model("n-grams", lambda path: ngrams().save(path), NgramModel.load)
    yield Target("compact n-grams", "model", lambda path: ngrams().save(path, compact=True), NgramModel.load)
    yield Target("substitutes", "model", lambda path: ngrams().save(path), FastSubs.load)
    yield model("substitute queues", write_queues, queues_file.read)
    yield model("treelets", treelet_model, treelet_file.read_model)
    yield model("treelets with numbers", number_model, treelet_file.read_model)
    yield model("hhmm", hhmm_model, read_hhmm)
    yield model("pcfg", pcfg_model, read_pcfg)
    yield model("svs", svs_model, svs_file.read_model)
    yield model("concepts", concept_model, concept_file.read_model)
    yield model("concepts of sentences", concept_model, read_concepts)
    micro = headlex.Settings()
    yield model(
        "headlex",
        lambda path: headlex.write_model(
            headlex.train(headlex.collect(read_trees(BRACKETS.splitlines())), micro), path
        ),
        headlex.read_model,
    )
    yield model(
        "random indexing",
        lambda path: vectors_file.write_model(
            vectors.train([("text", LINES)], vectors.Settings(min_count=1, dimensions=16)), path
        ),
        vectors_file.read_model,
    )
    documents = [Document("0", ("the cat sat",)), Document("1", ("a dog and a cat",)), Document("2", ("the dog ran",))]
    yield model(
        "esa",
        lambda path: esa_file.write_model(esa.train(documents, esa.Settings(shortest=1, min_count=1)), path),
        esa_file.read_model,
    )
    yield model(
        "missing words",
        lambda path: missing_file.write_model(
            missing.train([("text", LINES)], missing.Settings(1, None, 4, (0.01,)), held_out=[tuple(LINES[0].split())]),
            path,
        ),
        missing_file.read_model,
    )
    yield model(
        "translation memory",
        lambda path: memory.write_model(memory.train(PAIRS, memory.Settings()), path),
        memory.read_model,
    )
    yield model(
        "word lexicon",
        lambda path: lexicon.write_model(lexicon.train(PAIRS, lexicon.Settings(source_count=1, target_count=1)), path),
        lexicon.read_model,
    )
    yield model(
        "word alignment",
        lambda path: alignment_file.write_model(alignment.train(PAIRS, alignment.Settings(2)), path),
        alignment_file.read_model,
    )
    yield model("similarity", similarity_model, similarity.read_similarity)
    yield model("similarity with a forest", forest_model, similarity.read_similarity)
    yield Target("unigrams", "u.tsv.xz", write_unigrams, unigrams.read_embedded)
    for kind in ("regression_metric", "unified_metric"):
        yield Target(f"settings of COMET, {kind}", "hparams.yaml", partial(write_hparams, kind), read_settings)


def write_unigrams(path: Path) -> None:
    """A small file of the form of the embedded one."""
    import lzma

    path.write_bytes(lzma.compress(b"# tokens 10 types 3 kept 3\nthe\t5\na\t3\n</s>\t2\n"))


def write_hparams(kind: str, path: Path) -> None:
    """The settings of an estimator."""
    path.write_text(as_yaml(hparams(kind)), encoding="utf-8")


TARGETS = [
    *formats(),
    *(columnar() if find_spec("pyarrow") else ()),
    *lists_by_hooks(),
    *texts(),
    *models(),
]

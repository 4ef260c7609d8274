"""Micro models of Stanza, trained in seconds on the project's own treebank: they load, run, and err."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

from rerank_plugins.core.constituency_tree import Tree, write_tree
from rerank_plugins.core.dependency_tree import DependencyTree, read_conllu

STANZA_SIZES = (
    *("--hidden_dim", "40", "--deep_biaff_hidden_dim", "40", "--word_emb_dim", "20"),
    *("--transformed_dim", "20", "--tag_emb_dim", "10", "--dropout", "0", "--word_dropout", "0"),
)


def run_python(folder: Path, *arguments: object) -> None:
    """Run Python there, on one core."""
    command, environment = [sys.executable, *map(str, arguments)], {**os.environ, "OMP_NUM_THREADS": "1"}
    ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-2000:]


TRAIN_STANZA = """
import importlib, json, sys
from types import SimpleNamespace
from stanza.models.common.pretrain import Pretrain
from stanza.models.constituency import parser_training

class NoEvaluation:  # Stanza's own asks a Java program
    def __init__(self, **given): pass
    def __enter__(self): return self
    def __exit__(self, *given): pass
    def process(self, results):
        return SimpleNamespace(f1=0.5, kbestF1=0.5, treeF1=[0.5] * len(results), HasField=lambda name: False)

Pretrain("vectors.pt", "vectors.txt").load()
parser_training.EvaluateParser = NoEvaluation
for module, arguments in json.loads(sys.argv[1]):
    importlib.import_module(f"stanza.models.{module}").main(arguments)
"""


def train_stanza(treebank: Path, folder: Path) -> tuple[Path, Path, Path, Path]:
    """A tagger, a dependency parser and a constituency parser of Stanza, and the word vectors that the last one needs.

    One process trains all of them, which takes some 9 seconds, a few of them to import Stanza.
    """
    _write_constituents(treebank, folder)
    trainings = [("constituency_parser", ["--mode", "train", *CONSTITUENCY_FILES, *CONSTITUENCY_SIZES])]
    for name, batch, steps in (("tagger", 32, 140), ("parser", 500, 80)):
        files = ["--train_file", treebank, "--eval_file", treebank, "--output_file", folder / "out.conllu"]
        where = ["--save_dir", folder, "--save_name", f"{name}.pt", "--lang", "en", "--shorthand", "en_own"]
        sizes = [*STANZA_SIZES, "--no_char", "--no_pretrain", "--cpu", "--batch_size", batch]
        length = ["--max_steps", steps, "--eval_interval", steps]
        trainings.append((name, ["--mode", "train", *map(str, [*files, *where, *sizes, *length])]))
    run_python(folder, "-c", TRAIN_STANZA, json.dumps(trainings))
    return folder / "tagger.pt", folder / "parser.pt", folder / "constituency.pt", folder / "vectors.pt"


PHRASES = {"VERB": "VP", "AUX": "VP", "NOUN": "NP", "PROPN": "NP", "PRON": "NP", "ADJ": "AP"}
CONSTITUENCY_SIZES = (
    *("--hidden_size", "32", "--transition_hidden_size", "20", "--tag_embedding_dim", "10"),
    *("--transition_embedding_dim", "10", "--delta_embedding_dim", "20"),
    *("--pattn_num_layers", "0", "--no_use_lattn", "--no_check_valid_states", "--no_retag"),
)
CONSTITUENCY_FILES = (
    *("--train_file", "trees.mrg", "--eval_file", "trees.mrg", "--wordvec_pretrain_file", "vectors.pt"),
    *("--save_dir", ".", "--save_name", "constituency.pt", "--lang", "en", "--shorthand", "en_own"),
    *(
        "--epochs",
        "1",
        "--epoch_size",
        "100",
        "--train_batch_size",
        "10",
        "--cpu",
        "--no_checkpoint",
    ),  # the first epoch is kept: all are rated alike
)


def phrases(tree: DependencyTree) -> Tree:
    """Brackets of a projective dependency tree: a phrase for each head with its dependents, and for each noun or verb."""

    def below(i: int) -> Tree:
        tag = Tree(tree.tags[i], (tree.words[i],))
        children = tree.children(i)
        if not children and tree.tags[i] not in PHRASES:
            return tag
        left, right = ([below(child) for child in children if (child < i) == side] for side in (True, False))
        return Tree(PHRASES.get(tree.tags[i], "XP"), (*left, tag, *right))

    return Tree("ROOT", (below(tree.heads.index(-1)),))


def _write_constituents(treebank: Path, folder: Path) -> None:
    """Write the trees of the constituency parser, and random word vectors."""
    with open(treebank, encoding="utf-8") as lines:
        trees = [phrases(tree) for tree in read_conllu(lines)]
    (folder / "trees.mrg").write_text("".join(f"{write_tree(tree)}\n" for tree in trees), encoding="utf-8")
    words = sorted({word.lower() for tree in trees for word in tree.words()})
    draw = random.Random(0)
    rows = [f"{word} {' '.join(f'{draw.gauss(0, 1):.4f}' for _ in range(16))}\n" for word in words]
    (folder / "vectors.txt").write_text(f"{len(words)} 16\n{''.join(rows)}", encoding="utf-8")

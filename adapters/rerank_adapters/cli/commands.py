"""The commands of `rerank` as data: those of the chain, and groups by task. Plugins add theirs by a hook.

Each command has the place where it is defined, `module` or `module:name` of this package.
"""

from __future__ import annotations

import click

from rerank_adapters.cli.groups import LazyGroup, Program, TrainGroup
from rerank_plugins import __version__

CHAIN = {
    "init": "cli.init",
    "demo": "cli.demo",
    "check": "cli.check",
    "prepare": "cli.prepare",
    "run": "cli.run",
    "extract": "cli.extract",
    "tune": "cli.tune",
    "apply": "cli.apply",
    "evaluate": "cli.evaluate",
    "cross-validate": "cli.cross_validate",
    "ablate": "cli.ablate",
    "explain": "cli.explain",
    "serve": "applications.serving.serve",
    "plugins": "cli.plugins",
}
GROUPS: dict[str, dict[str, str]] = {
    "train": {},  # a command for each trainer
    "lists": {
        "merge": "cli.merge",
        "mbr": "applications.mbr",
    },
    "table": {
        "show": "applications.tables.show",
        "join": "applications.tables.join",
        "pairs": "applications.tables.pairs",
    },
    "lm": {
        "score": "applications.language_models.score",
        "surprisal": "applications.language_models.surprisal",
        "mix": "applications.language_models.mix",
        "sample": "applications.language_models.sample",
        "ground": "applications.referential",
        "clusters": "applications.svs",
    },
    "trees": {
        "parse": "applications.parsing.parse",
        "surface": "applications.parsing.surface_trees",
    },
    "words": {
        "substitutes": "applications.substitutes",
        "complete": "applications.completion",
        "remove": "applications.missing_words.remove",
        "locate": "applications.missing_words.locate",
        "fill": "applications.missing_words.fill",
        "restore": "applications.missing_words.restore",
    },
    "similarity": {
        "train": "applications.similarity.train",
        "apply": "applications.similarity.scores:apply",
        "evaluate": "applications.similarity.scores:evaluate",
    },
    "acceptability": {
        "pairs": "applications.acceptability.pairs",
        "suites": "applications.acceptability.suites",
        "sentences": "applications.acceptability.sentences",
        "classify": "applications.acceptability.classify",
    },
    "negatives": {
        "errors": "applications.negatives.errors",
        "treebank": "applications.negatives.treebank",
        "samples": "applications.negatives.samples",
        "nbest": "applications.negatives.nbest",
    },
    "tools": {
        "text": "cli.text",
        "weights": "cli.weights",
        "cache": "cli.cache",
        "new-plugin": "applications.new_plugin",
    },
}
HELP = {
    "train": """Train a model from text, treebanks or sentence pairs.

    Each trainer reads one or more files, which may be compressed, and writes its model to the file of -o. Text is
    tokenised, with one sentence per line. Treebanks are bracketed trees or CoNLL-U. Sentence pairs are two files with
    equal numbers of lines, or one file of `source ||| target`. The trainers read:

    \b
    Text:                         ngram, missing-words, random-indexing, esa
    Treebanks:                    word-classes, grammar, hhmm, svs
    Treebanks and text:           dependency-parser, svs-concepts
    Treebanks, or text to parse:  dependency-lm, treelet-lm, treebank
    Sentence pairs:               word-alignment, word-lexicon, translation-memory

    \b
    rerank train ngram news.en.gz novels.en -o lm.ngram --held-out dev.en
    """,
    "lists": """Merge and convert n-best lists, and decide without tuning.

    The commands read lists in all formats. `mbr` chooses by expected utility.

    \b
    rerank lists merge baseline.nbest other.nbest -o both.nbest
    rerank lists mbr samples.nbest -m chrf -o samples.mbr
    """,
    "table": """Show and join feature tables, or write pairs of texts.

    `rerank extract` makes a table; `tune`, `cross-validate`, `ablate` and `apply` take it by --table.

    \b
    rerank extract tune.nbest -f column,file=tune.comet,label=comet -o comet.npz
    rerank table join tune.npz comet.npz -o all.npz
    rerank tune tune.nbest -r tune.en --table all.npz -o all.toml
    """,
    "lm": """Score text by language models, mix them, and look into them.

    A language model is a file, or the name of a plugin (`rerank plugins --kind language_model`).

    \b
    rerank lm score novel.txt -M news.arpa
    rerank lm surprisal novel.txt > surprisal.tsv
    """,
    "trees": """Parse text and n-best lists, and make treebanks.

    Trees are written as CoNLL-U (dependencies) or in brackets (constituents).

    \b
    rerank trees parse novel.txt -o novel.conllu
    rerank trees parse --evaluate gold.conllu -p biaffine
    """,
    "words": """Substitute, complete and restore words.

    `remove`, `locate`, `fill` and `restore` treat sentences that lack a word; `complete` answers questions of a blank
    and its choices.

    \b
    rerank words substitutes novel.txt -M news.arpa
    rerank words restore incomplete.txt -M news.missing > restored.txt
    """,
    "similarity": """Score how alike in meaning two sentences are.

    Scores are those that people would give (0 to 5 in the STS tasks).

    Files of pairs: score<TAB>sentence<TAB>sentence, sentence<TAB>sentence[<TAB>score], or CSV as the STS benchmark has.

    \b
    rerank similarity train onwn=OnWN.tsv news=SMTnews.tsv \\
        --vectors news.ri -o model.sim
    rerank similarity apply pairs.tsv -M model.sim
    rerank similarity evaluate headlines.tsv --measure tfidf.stems
    """,
    "acceptability": """Judge whether sentences are acceptable.

    Language models and features judge them.

    \b
    pairs      prefer one of two sentences (BLiMP, or good<TAB>bad)
    suites     test predictions about surprisal (SyntaxGym)
    sentences  train and test a classifier (CoLA, or label<TAB>sentence)
    classify   judge new sentences with a trained classifier

    `rerank negatives` derives unacceptable sentences from acceptable text, for training and tests.

    \b
    rerank acceptability pairs blimp.jsonl -M news.arpa -f unigram --by phenomenon
    """,
    "negatives": """Make unacceptable sentences from good text.

    They are pseudo-negative examples, to train and test models of acceptability.

    \b
    errors     insert one error: a missing, extra, misspelt or wrong word …
    treebank   break a rule that a treebank of any language shows: case, order …
    samples    sentences of the same lengths, drawn from an n-gram model
    nbest      1-best translations of a decoder, paired with references

    All write pairs, good<TAB>bad and details of the change, in a format that `rerank acceptability` reads.

    \b
    rerank negatives errors novel.txt --seed 7 > made.tsv
    rerank acceptability pairs made.tsv -M lm.arpa --by kind
    """,
    "tools": """Prepare text, convert weights, clear the cache.

    \b
    rerank tools text undo-bpe detokenize:en < system.bpe > system.txt
    rerank tools cache --prune 2GB
    """,
}


def program() -> Program:
    """The commands of `rerank`, to which those of plugins are added when they are asked for."""
    groups = {
        name: (TrainGroup if name == "train" else LazyGroup)(name, help=HELP[name], lazy=places)
        for name, places in GROUPS.items()
    }

    @click.group(
        "rerank", cls=Program, lazy=CHAIN, groups=groups,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    )  # fmt: skip
    @click.option(
        "--plugin", multiple=True, metavar="FILE", is_eager=True, type=click.Path(),
        help="Load a plugin from this Python file. Repeatable.",
    )  # fmt: skip
    @click.option("--debug", is_flag=True, help="Show the traceback of an error.")
    @click.version_option(__version__, prog_name="rerank")
    def rerank(plugin: tuple[str, ...], debug: bool) -> None:
        """\b
        Rerank n-best lists: extract features, tune weights, apply them, evaluate.
          rerank init tune.nbest tune.en test.nbest test.en && rerank run rerank.toml
        """  # noqa: D301, D400

    return rerank

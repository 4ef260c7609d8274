"""The commands of `rerank` as data: those of the chain, and groups by task. Plugins add theirs by a hook.

Each command has the place where it is defined, `module` or `module:name` of this package, and its summary, the first
line of its docstring, so that the help of a group imports none of its commands.
"""

from __future__ import annotations

from rerank_adapters.cli.groups import LazyGroup, TrainGroup

CHAIN = {
    "init": ("cli.init", "Write a commented config for the FILES of a job."),
    "demo": ("cli.demo", "Write the example's lists and their config to a FOLDER."),
    "check": ("cli.check", "Check a CONFIG, or only n-best lists, before any long work."),
    "prepare": ("cli.prepare", "Train the models that CONFIG describes."),
    "run": ("cli.run", "Extract, tune, rerank and evaluate by a CONFIG."),
    "extract": ("cli.extract", "Extract the features of n-best lists into a feature table."),
    "tune": ("cli.tune", "Tune weights for the first metric (BLEU by default)."),
    "apply": ("cli.apply", "Rerank n-best lists, and write the new 1-best of each."),
    "evaluate": ("cli.evaluate", "Compare systems by metrics, with two significance tests."),
    "cross-validate": ("cli.cross_validate", "Compare tuners by k-fold cross-validation on the tuning set."),
    "ablate": ("cli.ablate", "Measure what each family of features contributes."),
    "explain": ("cli.explain", "Explain why a hypothesis of a segment beats another."),
    "serve": ("applications.serving.serve", "Serve reranking over HTTP, with models loaded once."),
    "plugins": ("cli.plugins", "List all plugins (features, metrics, …) and their options."),
}
GROUPS: dict[str, dict[str, tuple[str, str]]] = {
    "train": {},  # a command for each trainer
    "lists": {
        "merge": ("cli.merge", "Merge n-best lists, or combine the lists of different decoders."),
        "mbr": ("applications.mbr", "Choose the sample of highest expected utility in each list."),
    },
    "table": {
        "show": ("applications.tables.show", "Show the features of a TABLE, or the rows of a segment."),
        "join": ("applications.tables.join", "Join feature tables of the same lists."),
        "pairs": ("applications.tables.pairs", "Write pairs of texts to be scored elsewhere."),
    },
    "lm": {
        "score": ("applications.language_models.score", "Score sentences: log probabilities and perplexity."),
        "surprisal": ("applications.language_models.surprisal", "Measure the surprisal of each word of a TEXT."),
        "mix": ("applications.language_models.mix", "Fit the weights of a mixture of language models by EM."),
        "sample": ("applications.language_models.sample", "Draw sentences at random from a language model."),
        "ground": ("applications.referential", "Show the referents of the words of a TEXT."),
        "clusters": ("applications.svs", "Show the concepts of a category, and their most probable headwords."),
    },
    "trees": {
        "parse": ("applications.parsing.parse", "Parse a TEXT, or the hypotheses of n-best lists."),
        "surface": ("applications.parsing.surface_trees", "Write the trees of a treebank over the tokens of text."),
    },
    "words": {
        "substitutes": ("applications.substitutes", "Find the most probable substitutes of words."),
        "complete": ("applications.completion", "Answer QUESTIONS: choose the word for the blank."),
        "remove": ("applications.missing_words.remove", "Remove an inner word from each sentence of a TEXT."),
        "locate": ("applications.missing_words.locate", "Locate the missing word of each sentence of a TEXT."),
        "fill": ("applications.missing_words.fill", "Fill the blank of each sentence of a TEXT."),
        "restore": ("applications.missing_words.restore", "Restore the missing word of each sentence of a TEXT."),
    },
    "similarity": {
        "train": ("applications.similarity.train", "Learn from FILEs of scored pairs how to combine measures."),
        "apply": (
            "applications.similarity.scores:apply",
            "Score the similarity of PAIRS of sentences, one pair per line.",
        ),
        "evaluate": (
            "applications.similarity.scores:evaluate",
            "Correlate scores with human scores (Pearson and Spearman), for each FILE of scored pairs and on average.",
        ),
    },
    "acceptability": {
        "pairs": (
            "applications.acceptability.pairs",
            "Count how often the good sentence of a minimal pair is preferred.",
        ),
        "suites": (
            "applications.acceptability.suites",
            "Count the predictions of test suites that language models meet.",
        ),
        "sentences": (
            "applications.acceptability.sentences",
            "Train classifiers of sentences on DEV and measure them on TEST.",
        ),
        "classify": (
            "applications.acceptability.classify",
            "Accept or reject each sentence of TEXT, which has one sentence per line.",
        ),
    },
    "negatives": {
        "errors": (
            "applications.negatives.errors",
            "Insert one error into each sentence of TEXT (one per line, tokenised, English).",
        ),
        "treebank": (
            "applications.negatives.treebank",
            "Make minimal pairs of the sentences of treebanks (CoNLL-U with lemmas and features), of any language.",
        ),
        "samples": (
            "applications.negatives.samples",
            "Pair each sentence of TEXT with one of as many words that is drawn from an n-gram model.",
        ),
        "nbest": (
            "applications.negatives.nbest",
            "Pair each reference with the 1-best of its n-best list, where they differ.",
        ),
    },
    "tools": {
        "text": ("cli.text", "Apply text pipeline STEPS, in order, to each line."),
        "weights": ("cli.weights", "Convert weights, so that tuned ones go back into a decoder."),
        "cache": ("cli.cache", "Show the size of the cache, or clear it."),
        "new-plugin": ("applications.new_plugin", "Write a package for a feature of your own."),
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

    \b
    show    the features of a table, or the rows of a segment
    join    several tables of the same lists in one
    pairs   hypotheses and references, to be scored elsewhere

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

    \b
    train     learn from scored pairs how to combine measures
    apply     score pairs
    evaluate  correlation of the scores with people's

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


def groups() -> dict[str, LazyGroup]:
    """New groups, to which plugins may add commands."""
    return {
        name: (TrainGroup if name == "train" else LazyGroup)(name, help=HELP[name], lazy=commands)
        for name, commands in GROUPS.items()
    }

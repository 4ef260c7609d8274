r"""Builds the training data of `hhmm.pcfg`, the embedded grammar of incremental parsing: trees by the embedded grammar.

    python -m rerank_plugins.resources.en.build_hhmm ewt-train.conllu.xz > ewt.txt
    rerank parse ewt.txt -p pcfg,tags=true -o ewt.ptb
    # and textbooks.ptb, presidential.ptb, tatoeba-more.ptb and nv.00.ptb as in build_treelet_lm.py
    rerank train hhmm gum-train.ptb ewt.ptb textbooks.ptb presidential.ptb tatoeba-more.ptb nv.00.ptb \
        --weight gum-train.ptb=2 --splits 4 --split-on 4000 --language en --compact -o hhmm.pcfg

The module prints the sentences of a CoNLL-U treebank of at most 60 words as word/TAG, with the tags of GUM.
"""

from __future__ import annotations

import lzma
import sys
from collections.abc import Iterator

from rerank_plugins.trees.penn import BRACKETS

LONGEST = 60  # words
TAGS = {"NFP": ":", "ADD": "NN", "GW": "NN", "AFX": "JJ", "XX": "FW"}  # tags of EWT that GUM's trees do not have
NAMES = {character: name for name, character in BRACKETS.items()}


def tagged(name: str) -> Iterator[str]:
    """The sentences of an xz-compressed CoNLL-U file, one per line, with tokens as word/TAG by the treebank's tags."""
    tokens: list[str] = []
    with lzma.open(name, "rt", encoding="utf-8") as lines:
        for line in lines:
            columns = line.split("\t")
            if len(columns) == 10 and columns[0].isdigit():
                word, tag = columns[1].replace(" ", ""), columns[4]
                tokens.append(f"{NAMES.get(word, word)}/{TAGS.get(tag, tag)}")
            elif not line.strip():
                if 1 <= len(tokens) <= LONGEST:
                    yield " ".join(tokens)
                tokens = []


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print(*tagged(sys.argv[1]), sep="\n")

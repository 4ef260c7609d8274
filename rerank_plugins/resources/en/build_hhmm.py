r"""Builds the training data of `hhmm.pcfg` and `grammar.pcfg`: trees that a grammar of GUM, `gum.pcfg`, gives to texts.

    rerank train grammar gum-train.ptb --tagged ewt-train.conllu.xz --weight ewt-train.conllu.xz=0.5 \
        --language en --compact -o gum.pcfg
    python -m rerank_plugins.resources.en.build_hhmm ewt-train.conllu.xz > ewt.txt
    rerank trees parse ewt.txt --text none -p pcfg,model=gum.pcfg,tags=true -o ewt.ptb
    # and, as README.md selects their sentences, with -p pcfg,model=gum.pcfg,threshold=0.003: textbooks.ptb,
    # presidential.ptb, tatoeba-more.ptb, and the parts of the novels
    awk 'FNR % 3 == 1' nv.00.ptb nv.01.ptb nv.02.ptb > novels.ptb
    awk 'FNR % 15 == 1' nm.00.ptb nm.01.ptb nm.02.ptb nm.03.ptb nm.04.ptb nm.05.ptb > novels-more.ptb
    for text in textbooks presidential tatoeba-more novels novels-more; do
        python -m rerank_plugins.resources.en.agreeing_trees $text.ptb > agreeing/$text.ptb
    done
    options="--weight gum-train.ptb=4 --weight ewt.ptb=2 --splits 4 --max-split-trees 6000 --language en --compact"
    rerank train hhmm gum-train.ptb ewt.ptb agreeing/{textbooks,presidential,tatoeba-more,novels,novels-more}.ptb \
        $options -o hhmm.pcfg
    rerank train grammar gum-train.ptb ewt.ptb agreeing/{textbooks,presidential,tatoeba-more,novels}.ptb \
        $options --features all --min-mark-count 400 -o grammar.pcfg

The module prints the sentences of a CoNLL-U treebank of at most 60 words as word/TAG, with the tags of GUM.
"""

from __future__ import annotations

import lzma
import sys
from collections.abc import Iterator

from rerank_plugins.core.brackets_and_quotes import BRACKETS

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

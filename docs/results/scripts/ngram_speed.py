"""Print the speed of n-gram models, beside KenLM: training, reading ARPA, scoring (docs/results/language-models.md).

Training, from the plain text to the model file, and reading the ARPA file of the same model are timed in processes of
their own, with CPU and wall seconds and peak memory, imports included. Scoring is timed in CPU seconds on the first
sentences of the text, after the models are loaded; KenLM has read the ARPA file.

TEXTS are tokenised, with one sentence per line. lmplz is a program of KenLM (https://kheafield.com/code/kenlm); its row
is left out without --lmplz.

\b
    python -m docs.results.scripts.ngram_speed tatoeba.txt.xz novels.txt.xz --lmplz kenlm/build/bin/lmplz
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import click
import numpy as np

from docs.results.scripts.experiment import FILE, experiment, say
from rerank_plugins import LanguageModel, RerankError
from rerank_plugins.kit.files.text import open_text
from rerank_plugins.ngram.kenlm_binary import KenlmBinary
from rerank_plugins.ngram.language_model import NgramLanguageModel

RULE = "| --- | ---: | ---: | ---: |"
RERANK = (sys.executable, "-c", "from rerank_adapters.cli.main import main; main()")
READERS = {"ours": "language_model import NgramLanguageModel", "KenLM": "kenlm_binary import KenlmBinary"}
READ = "import pathlib, sys; from rerank_plugins.ngram.{} as Model; Model(pathlib.Path(sys.argv[1])).totals([[]])"
WARM = "a b c\nb c a\n" * 5  # training on this, and reading its model, compiles the kernels first


def timed(command: Sequence[str | Path]) -> tuple[float, float, float]:
    """The CPU seconds, wall seconds and peak GiB of a program. Raises RerankError where it fails."""
    started = time.perf_counter()
    process = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RerankError(f"{command[0]} ended with code {process.returncode}, expected 0")
    return used.ru_utime + used.ru_stime, time.perf_counter() - started, used.ru_maxrss / 2**20


def plain_text(texts: Sequence[Path], path: Path, most: int | None) -> tuple[int, int]:
    """Write the sentences of all files as plain text; return the numbers of sentences and words."""
    sentences = words = 0
    with open(path, "w", encoding="utf-8") as plain:
        for text in texts:
            with open_text(text) as lines:
                for line in islice(lines, most):
                    sentences, words = sentences + 1, words + len(line.split())
                    plain.write(line if line.endswith("\n") else f"{line}\n")
    return sentences, words


def words_a_second(model: LanguageModel, sentences: Sequence[Sequence[str]]) -> float:
    """The words scored per CPU second, with `</s>` counted as a word; the model is already loaded."""
    totals = getattr(model, "totals", model.score)
    totals(sentences[:2])
    started = time.process_time()
    totals(sentences)
    return sum(len(words) + 1 for words in sentences) / (time.process_time() - started)


@experiment("ngram_speed", __doc__)
@click.argument("texts", type=FILE, nargs=-1, required=True)
@click.option("--order", default=5, help="The order of the models.")
@click.option("--lmplz", type=FILE, help="Compare with this program lmplz.")
@click.option("--most", type=int, help="Read only this many sentences of each text.  [default: all]")
@click.option("--asked", default=100_000, help="Score this many sentences; with 0, time only the training.")
def main(texts: tuple[Path, ...], order: int, lmplz: Path | None, most: int | None, asked: int) -> None:
    """Train and score with each program and print the tables."""
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        text, model, arpa = scratch / "text", scratch / "lm.ngram", scratch / "lm.arpa"
        sentences, words = plain_text(texts, text, most)
        (scratch / "warm").write_text(WARM, encoding="utf-8")
        train: list[str | Path] = [*RERANK, "train", "ngram", "--order", str(order)]
        timed([*train, scratch / "warm", "-o", scratch / "warm.ngram", "--arpa", scratch / "warm.arpa"])
        programs: dict[str, list[str | Path]] = {"rerank train ngram": [*train, text, "-o", model]}
        if lmplz:
            options: list[str | Path] = [
                "-o",
                str(order),
                "-T",
                scratch,
                "--text",
                text,
                "--arpa",
                scratch / "lmplz.arpa",
            ]
            programs["lmplz"] = [lmplz, *options]
        print(f"{sentences:,} sentences, {words:,} words, order {order}")
        print(f"\n| training | CPU s | wall s | peak GiB |\n{RULE}")
        for name, command in programs.items():
            say(f"training with {name}")
            cpu, wall, peak = timed(command)
            print(f"| {name} | {cpu:.1f} | {wall:.1f} | {peak:.2f} |", flush=True)
        if not asked:
            return
        say("writing ARPA for KenLM")
        timed([*train, text, "-o", model, "--arpa", arpa])
        print(f"\n| reading ARPA, {arpa.stat().st_size / 1e9:.2f} GB | CPU s | wall s | peak GiB |\n{RULE}")
        for name, reader in READERS.items():
            read = (sys.executable, "-c", READ.format(reader))
            timed([*read, scratch / "warm.arpa"])
            cpu, wall, peak = timed([*read, arpa])
            print(f"| {name} | {cpu:.1f} | {wall:.1f} | {peak:.2f} |", flush=True)
        with open_text(text) as lines:
            some = [line.split() for line in islice(lines, asked)]
        own, kenlm = NgramLanguageModel(model), KenlmBinary(arpa)
        if not np.allclose(own.totals(some[:100]), kenlm.totals(some[:100]), atol=1e-2):
            raise RerankError("the scores of KenLM by the same model differ")
        print(f"\n| scoring, {sum(own.ngrams.tables.sizes):,} n-grams | words/s |\n| --- | ---: |")
        loaded: dict[str, LanguageModel] = {"ours": own, "KenLM": kenlm}
        for name, language_model in loaded.items():
            print(f"| {name} | {words_a_second(language_model, some):,.0f} |", flush=True)


if __name__ == "__main__":
    main()

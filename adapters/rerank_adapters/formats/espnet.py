"""ESPnet2's n-best folders (espnet2/bin/asr_inference.py, ESPnet 202308): `1best_recog`, `2best_recog`, ….

    logdir/output.1/1best_recog/text     utt-07 so it is
    logdir/output.1/1best_recog/score    utt-07 tensor(-3.2718)       or a number alone
    logdir/output.1/2best_recog/…

Give the folder that holds these folders, or one above it: the parts `output.1`, `output.2` … of a job are read in the
order of their numbers. The file `text` of one of the folders stands for all of them. The feature `score`, the total, is
a natural logarithm as the beam search of ESPnet adds it up. A single file with lines `utterance words` is read too: the
lines of one utterance that follow each other are a list, best first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count, groupby
from operator import itemgetter
from pathlib import Path

from rerank_plugins import FormatError, Hypothesis, NBestFormat, NBestList, open_text
from rerank_plugins.kit.files.text import finite_value

RANKED = re.compile(r"[1-9][0-9]*best_recog")
TENSOR = re.compile(r"tensor\(([^,()]+).*\)")
Texts = Mapping[str, tuple[str, int]]  # the text of an utterance and the number of its line


@dataclass(frozen=True)
class EspnetFormat(NBestFormat):
    """ESPnet n-best folders (1best_recog, 2best_recog, …), or lines `utterance words`, best first."""

    def read_folder(self, folder: str) -> Iterator[NBestList]:
        """Yield the lists of all parts of a decoding, each utterance at its place in `1best_recog/text`."""
        parts = [path.parent for path in Path(folder).glob("**/1best_recog") if (path / "text").is_file()]
        if not parts:
            raise FormatError("the folder holds no 1best_recog/text", path=folder)
        for part in sorted(parts, key=_numbered):
            yield from _part(part)

    def read(self, lines: Iterable[str], path: str) -> Iterator[NBestList]:
        """Yield one list per utterance. Raises FormatError with the path and the line."""
        if RANKED.fullmatch(Path(path).parent.name) and (Path(path).parent.parent / "1best_recog" / "text").is_file():
            yield from _part(Path(path).parent.parent)
            return
        utterances = ((*_utterance(line, path, number), number) for number, line in enumerate(lines, 1))
        for utterance, run in groupby(utterances, key=itemgetter(0)):
            ranked = list(run)
            hypotheses = tuple(Hypothesis(text) for _, text, _ in ranked)
            yield NBestList(utterance, hypotheses, line=ranked[0][2])


def _numbered(path: Path) -> list[tuple[int, str]]:
    """A key under which output.2 comes before output.10."""
    return [(int(piece), "") if piece.isdigit() else (0, piece) for piece in re.split(r"([0-9]+)", str(path))]


def _utterance(line: str, path: str, number: int) -> tuple[str, str]:
    fields = line.split(maxsplit=1)
    if not fields:
        raise FormatError("found an empty line, expected an utterance and its words", path=path, line=number)
    return fields[0], fields[1].rstrip() if len(fields) > 1 else ""


def _part(folder: Path) -> Iterator[NBestList]:
    """The lists of one folder that holds 1best_recog, 2best_recog and so on."""
    ranks: list[tuple[Path, Texts, Texts | None]] = []
    for rank in count(1):
        recognised = folder / f"{rank}best_recog"
        if not (recognised / "text").is_file():
            break
        scores = _texts(recognised / "score") if (recognised / "score").is_file() else None
        if rank > 1 and (scores is None) != (ranks[0][2] is None):
            missing = recognised if scores is None else ranks[0][0]
            raise FormatError("the score file is missing, but other ranks have one", path=str(missing / "score"))
        ranks.append((recognised, _texts(recognised / "text"), scores))
    scored = ranks[0][2] is not None
    for utterance, (_, line) in ranks[0][1].items():
        hypotheses = []
        for recognised, texts, scores in ranks:
            if utterance not in texts:
                break  # the beam of this utterance ended with fewer hypotheses
            score = _score(utterance, scores, recognised / "score") if scores is not None else None
            values = () if score is None else (score,)
            hypotheses.append(Hypothesis(texts[utterance][0], values, score))
        yield NBestList(utterance, tuple(hypotheses), ("score",) if scored else (), line=line)


def _texts(path: Path) -> Texts:
    texts: dict[str, tuple[str, int]] = {}
    with open_text(path) as lines:
        for number, line in enumerate(lines, 1):
            utterance, text = _utterance(line, str(path), number)
            if utterance in texts:
                raise FormatError(f"the utterance {utterance!r} occurs twice", path=str(path), line=number)
            texts[utterance] = text, number
    return texts


def _score(utterance: str, scores: Texts, path: Path) -> float:
    if utterance not in scores:
        raise FormatError(f"no score for utterance {utterance!r}", path=str(path))
    text, line = scores[utterance]
    tensor = TENSOR.fullmatch(text)
    return finite_value(tensor[1] if tensor else text, f"the score of {utterance!r}", str(path), line)

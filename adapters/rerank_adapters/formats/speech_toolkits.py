r"""The n-best output of toolkits of neural recognisers: ESPnet2, NeMo, WeNet and icefall.

ESPnet2's n-best folders (espnet2/bin/asr_inference.py, ESPnet 202308): `1best_recog`, `2best_recog`, ….

    logdir/output.1/1best_recog/text     utt-07 so it is
    logdir/output.1/1best_recog/score    utt-07 tensor(-3.2718)       or a number alone
    logdir/output.1/2best_recog/…

Give the folder that holds these folders, or one above it: the parts `output.1`, `output.2` … of a job are read in the
order of their numbers. The file `text` of one of the folders stands for all of them. The feature `score`, the total, is
a natural logarithm as the beam search of ESPnet adds it up. A single file with lines `utterance words` is read too: the
lines of one utterance that follow each other are a list, best first. A rescored list is written in that form.

NeMo's beams as tab-separated values (scripts/asr_language_modeling/ngram_lm/eval_beamsearch_ngram*.py, NeMo 1.23).

    so it is\t-12.71          `beam` lines for each utterance, in the order of the manifest
    so is it\t-13.05

The file does not show where the beam of one utterance ends, so the option `beam`, the beam size of the decoding, is
needed. The id of a list is its number, from 0. The score of the beam search, a natural logarithm with its language
model, is the total and the feature `score`. A rescored line has the new total, and a third column with all features.

The n-best output of WeNet's runtime (`decoder_main --output_nbest`, runtime/core/bin/decoder_main.cc, WeNet 3).

    wav utt-07
    candidate -8.21 so it is
    candidate -9.87 so is it

The score after `candidate`, a natural logarithm, is the total and the feature `score`. A rescored list has its new
totals there; there is no place for new features.

The recognition files of icefall (`recogs-*.txt`, icefall/utils.py: store_transcripts, 2021 to 2024).

    utt-07:\tref=['so', 'it', 'is']
    utt-07:\thyp=['so', 'it', 'is']        one `hyp` line, or several, best first
    utt-07:\thyp=['so', 'is', 'it']

Lists of words are read; so are plain texts, which older versions wrote. There are no scores. The references are those
of the same file: name it with -r too. Time stamps (`timestamp_hyp=…`) are kept with their hypothesis.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import ClassVar

from rerank_adapters.formats.delimited import reordered
from rerank_adapters.formats.feature_field import FeatureField, spell
from rerank_adapters.formats.line_lists import LineFormat, OrderFormat, check_size, grouped, line_end
from rerank_plugins import FormatError, Hypothesis, NBestList, Rescored, open_text, option
from rerank_plugins.core.nbest import NO_SPARSE
from rerank_plugins.kit.files.text import finite_value, shortest

LINE = re.compile(r"(\S+):\t(\w+)=(.*)")
RANKED = re.compile(r"[1-9][0-9]*best_recog")
TENSOR = re.compile(r"tensor\(([^,()]+).*\)")
Texts = Mapping[str, tuple[str, int]]  # the text of an utterance and the number of its line


@dataclass(frozen=True)
class IcefallFormat(OrderFormat):
    """icefall recognition files, `utterance:<TAB>hyp=[words]`; a run of hypotheses of one utterance is a list."""

    ids_are_words: ClassVar[bool] = True

    def read(self, lines: Iterable[str], path: str) -> Iterator[NBestList]:
        """Yield one list per run of lines of one utterance. Raises FormatError with the path and the line."""
        utterance, start, lead = "", 0, ""
        hypotheses: list[Hypothesis] = []
        number = 0
        for number, line in enumerate(lines, 1):
            match = LINE.fullmatch(line.rstrip("\r\n"))
            if match is None:
                wanted = "utterance:<TAB>ref=… or utterance:<TAB>hyp=…"
                raise FormatError(f"found {line.strip()!r}, expected {wanted}", path=path, line=number)
            if match[1] != utterance or match[2] == "ref":
                if hypotheses:
                    yield NBestList(utterance, tuple(hypotheses), line=start)
                elif utterance:
                    raise FormatError(f"no hyp= line for utterance {utterance!r}", path=path, line=number)
                utterance, start, lead, hypotheses = match[1], number, "", []
            if match[2] == "hyp":
                hypotheses.append(Hypothesis(words_of(match[3], path, number), raw=lead + line))
                lead = ""
            elif hypotheses:
                hypotheses[-1] = hypotheses[-1]._replace(raw=hypotheses[-1].raw + line)
            else:
                lead += line
        if hypotheses:
            yield NBestList(utterance, tuple(hypotheses), line=start)
        elif utterance:
            raise FormatError(f"no hyp= line for utterance {utterance!r}", path=path, line=number)

    def compose(self, nbest: NBestList, hypotheses: Iterable[Hypothesis]) -> Iterator[str]:
        """Yield the reference, where there is one, and a line for each hypothesis."""
        end = line_end(nbest)
        for line in nbest[0].raw.split("\n"):
            match = LINE.fullmatch(line.rstrip("\r"))
            if match is not None and match[2] == "ref":
                yield f"{nbest.segment_id}:\tref={match[3]}{end}"
        for hypothesis in hypotheses:
            yield f"{nbest.segment_id}:\thyp={hypothesis.words!r}{end}"


def words_of(text: str, path: str, line: int) -> str:
    """The words of a Python list of texts, or the text itself. Raises FormatError for a list that cannot be read."""
    if not text.startswith("["):
        return text.strip()
    try:
        words = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        words = None
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise FormatError(f"found {text!r}, expected a list of words, as ['so', 'it', 'is']", path=path, line=line)
    return " ".join(words)


@dataclass(frozen=True)
class WenetFormat(LineFormat):
    """WeNet n-best output: a line `wav utterance`, then lines `candidate score words`."""

    keeps_features: ClassVar[bool] = False
    ids_are_words: ClassVar[bool] = True

    def read(self, lines: Iterable[str], path: str) -> Iterator[NBestList]:
        """Yield one list per `wav` line. Raises FormatError with the path and the line."""
        utterance, start, lead = "", 0, ""
        hypotheses: list[Hypothesis] = []
        number = 0
        for number, line in enumerate(lines, 1):
            fields = line.split(maxsplit=2)
            if fields[:1] == ["wav"] and len(fields) == 2:
                if start:
                    yield _list(utterance, hypotheses, start, path)
                utterance, start, lead, hypotheses = fields[1], number, line, []
            elif fields[:1] == ["candidate"] and len(fields) > 1 and start:
                score = finite_value(fields[1], "the score", path, number)
                text = fields[2].rstrip() if len(fields) > 2 else ""
                hypotheses.append(Hypothesis(text, (score,), score, NO_SPARSE, lead + line))
                lead = ""
            else:
                wanted = "`wav utterance`, then `candidate score words`"
                raise FormatError(f"found {line.strip()!r}, expected {wanted}", path=path, line=number)
        if start:
            yield _list(utterance, hypotheses, start, path)

    def written(self, nbest: NBestList, rescored: Rescored | None) -> Iterator[str]:
        """Yield the lines of a list in its new order, with its totals."""
        end = line_end(nbest)
        totals = [h.score or 0.0 for h in nbest] if rescored is None else rescored.scores
        yield f"wav {nbest.segment_id}{end}"
        for row in range(len(nbest)) if rescored is None else rescored.order:
            yield f"candidate {shortest(totals[row])} {nbest[row].text}".rstrip(" ") + end


def _list(utterance: str, hypotheses: list[Hypothesis], line: int, path: str) -> NBestList:
    if not hypotheses:
        raise FormatError(f"no candidate for utterance {utterance!r}", path=path, line=line)
    return NBestList(utterance, tuple(hypotheses), ("score",), line=line)


@dataclass(frozen=True)
class NemoFormat(LineFormat):
    """NeMo beams as `text<TAB>score`: `beam` lines for each utterance."""

    beam: int = option(0, doc="the beam size, that is, the number of lines for each utterance (required)")

    keeps_ids: ClassVar[bool] = False

    def read(self, lines: Iterable[str], path: str) -> Iterator[NBestList]:
        """Yield a list for each `beam` lines. Raises FormatError with the path and the line."""
        if self.beam < 1:
            wanted = "the number of lines for each utterance is not known: name the beam size, --format nemo,beam=128"
            raise FormatError(wanted, path=path)
        parser = FeatureField(lambda label: False, path)
        hypotheses: list[Hypothesis] = []
        number = 0
        for number, line in enumerate(lines, 1):
            columns = line.rstrip("\r\n").split("\t")
            if len(columns) not in (2, 3):
                found = f"{len(columns)} column{'s' if len(columns) > 1 else ''}"
                raise FormatError(f"found {found}, expected text<TAB>score", path=path, line=number)
            total = finite_value(columns[1], "the score", path, number)
            values, _ = parser.parse(columns[2] if len(columns) > 2 else f"score= {columns[1]}", number)
            hypotheses.append(Hypothesis(columns[0].strip(), values, total, NO_SPARSE, line))
            if len(hypotheses) == self.beam:
                first = number - self.beam + 1
                yield NBestList(str(number // self.beam - 1), tuple(hypotheses), parser.names, line=first)
                hypotheses = []
        if hypotheses:
            message = f"the file has {number} lines, expected a multiple of the beam size {self.beam}"
            raise FormatError(message, path=path, line=number)

    def written(self, nbest: NBestList, rescored: Rescored | None) -> Iterator[str]:
        """Yield the lines of a list in its new order, with totals and features.

        Raises ConfigError for a list of another size than `beam`.
        """
        check_size(nbest, self.beam, "beam")
        end = line_end(nbest)
        written = nbest if rescored is None else reordered(nbest, rescored)
        for hypothesis in written:
            features = spell(written.feature_names, hypothesis.features, "= ")
            yield f"{hypothesis.text}\t{shortest(hypothesis.score or 0.0)}\t{features}{end}"


@dataclass(frozen=True)
class EspnetFormat(OrderFormat):
    """ESPnet n-best folders (1best_recog, 2best_recog, …), or lines `utterance words`, best first."""

    ids_are_words: ClassVar[bool] = True

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
        yield from grouped(
            (_utterance(line, path, number)[0], Hypothesis(_utterance(line, path, number)[1], raw=line), number)
            for number, line in enumerate(lines, 1)
        )

    def compose(self, nbest: NBestList, hypotheses: Iterable[Hypothesis]) -> Iterator[str]:
        """Yield a line with the utterance and the words for each hypothesis."""
        for hypothesis in hypotheses:
            yield f"{nbest.segment_id} {hypothesis.text}".rstrip(" ") + line_end(nbest)


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
            text = texts[utterance][0]
            raw = f"{utterance} {text}".rstrip(" ") + "\n"
            hypotheses.append(Hypothesis(text, values, score, NO_SPARSE, raw))
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

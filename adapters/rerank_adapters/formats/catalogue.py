r"""The formats of n-best lists by name: what their first lines show, and how they are read.

    "wenet": Row(Tagged(…), "WeNet's n-best output", sign=r"\Awav \S+\ncandidate ")

A format is a row of `FORMATS`. A third-party plugin adds a row, too, by the hook `register_nbest_formats`: its class
has the sign. Where no format is named, the lists are read in the first one whose sign the first lines of their file
have. A sign by which a text may be taken for lists, `doubt`, counts where there is no other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from rerank_adapters.formats.columnar import ENDINGS as TABLE_ENDINGS
from rerank_adapters.formats.columns import Columns
from rerank_adapters.formats.folders import KeyedRanks, PlainText, Ranked
from rerank_adapters.formats.json_programs import (
    ALTERNATIVES,
    COMPLETIONS,
    CTRANSLATE2,
    HYPORADISE,
    JSON,
    SOCKEYE,
    TRANSFORMERS,
    WHISPER,
)
from rerank_adapters.formats.lattices.kaldi import KaldiLattices
from rerank_adapters.formats.lattices.slf import HtkLattices
from rerank_adapters.formats.shapes import HYPS
from rerank_adapters.formats.splicing import BarColumns
from rerank_adapters.formats.tables import Tables
from rerank_adapters.formats.tagged import FAIRSEQ, ICEFALL, JULIUS, SRILM, WENET
from rerank_plugins import NBestFormat
from rerank_plugins.core.plugins import Variant


@dataclass(frozen=True)
class Row(Variant):
    """A format: how lists are read, and what shows it.

    `sign` and `doubt` are regular expressions, searched in the first lines without empty ones, `doubt` for lines that
    may be those of a text; `folder` is searched in the names of the files of a folder. `per_file` says that a folder of
    such files, each with the list of an utterance, is read as a whole.
    """

    sign: str = ""
    doubt: str = ""
    folder: str = ""
    per_file: bool = False


NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
BAR = r"\|\|\|"
CELL = r"(?:(?!\|\|\|)[^\n])*"  # what stands between two |||
BARS = rf"\A{CELL}\|\|\|{CELL}\|\|\|[ \t]*"  # an id and a text
JOINED = rf"\S*[^\s=]={NUMBER}(?=\s)[ \t]*"  # name=value, as cdec, Joshua and Travatar write
END = r"(?:\|\|\||\n)"
ARC = rf"\d+\s+\d+\s+\S+(?:\s+\S+)?(?:\s+{NUMBER},{NUMBER}(?:,\S*)?)?"
SLF = r"(?:V|VERSION|U|UTTERANCE|base|lmscale)=|(?:N|NODES)=\d+\s+(?:L|LINKS)=\d"

TOKENS = r"\[\s*"  # opens an array of tokens
SILENT = r'\A\s*[\[{][\s\S]*"segments"\s*:\s*\[\s*\]'  # a result of Whisper in which it heard no speech
ID_LINE = r"(?=\S*\d)\S+(?:[ \t](?!\|\|\|).*)?\n"
MARIAN = "id ||| text [||| ...] ||| features ||| score"
TRAVATAR = "id ||| text ||| score ||| features [||| ...]"
VLLM_KEYS = "cumulative_logprob|token_ids"
ROW = r'(?=[^\n]*"text"\s*:\s*")\{[^\n]*"(?:segment_)?id"\s*:\s*("[^"\n]*"|\d+)'
ROW_OF_SAME_ID = r'(?=[^\n]*"text"\s*:\s*")\{[^\n]*"(?:segment_)?id"\s*:\s*\1\s*[,}]'


def has(*keys: str) -> str:
    """The sign of JSON that has all of these keys; `|` parts those of which it has one."""
    return r"\A\s*[\[{]" + "".join(rf'(?=[\s\S]*"(?:{key})"\s*:)' for key in keys)


def has_texts(key: str, before: str = "") -> str:
    """The sign of JSON with an array of texts under a key; `before` stands before the first text."""
    return rf'\A\s*[\[{{][\s\S]*"{key}"\s*:\s*\[\s*{before}"'


def _column(name: str) -> str:
    """The sign of a first line that has a column of this name."""
    return rf'(?=(?:[^\n]*[\t,;])?"?{name}"?\s*[\t,;\n])'


FORMATS: Mapping[str, Row] = {
    "srilm": Row(
        SRILM,
        "SRILM n-best lists: NBestList1.0, or `acoustic lm words text` without a header; one file for each utterance.",
        "drop",
        sign=r"\ANBestList",
        doubt=rf"\A(?:\s*{NUMBER}\s+{NUMBER}\s+\d{{1,9}}(?:\s.*)?\n)+\Z",
        per_file=True,
    ),
    "htk-slf": Row(
        HtkLattices(),
        "HTK lattices (SLF), one file for each utterance: the n best distinct word sequences of each.",
        "n drop acoustic_scale lm_scale word_penalty",
        sign=rf"\A(?:#.*\n)*(?:{SLF})",
        folder=r"(?m)\.(?:lat|slf)(?:\.gz)?$",
    ),
    "rows": Row(
        Tables(),
        "Rows of a table, one for each hypothesis: CSV or TSV with a line of names, JSON lines, Parquet or Arrow.",
        "id text score source features",
        sign=rf"\A\ufeff?{_column('text')}{_column('(?:segment_)?id')}[^\n]*\n.|\A{ROW}[^\n]*\n{ROW_OF_SAME_ID}",
        folder=rf"\A(?:[^\n]*(?:{'|'.join(map(re.escape, TABLE_ENDINGS))})\n)+\Z",
    ),
    "hyporadise": Row(
        HYPORADISE,
        "JSON lines, each with the hypotheses of one utterance, best first.",
        "id_key",
        sign=f"{has_texts('hyps')}|{has('input', 'output')}",
    ),
    "completions": Row(
        COMPLETIONS,
        "Responses of language models with several texts: OpenAI's choices, vLLM's outputs, Gemini's candidates.",
        "id_key",
        sign="|".join((has("choices", "message|text"), has("candidates", "parts"), has("outputs", VLLM_KEYS))),
    ),
    "alternatives": Row(
        ALTERNATIVES,
        "Alternatives of speech services and of Vosk, with their confidences.",
        "id_key text",
        sign="|".join((has("NBest"), has("alternatives", "transcript"), has("alternatives", "confidence", "text"))),
        per_file=True,
    ),
    "whisper": Row(
        WHISPER,
        "Whisper results as JSON, with avg_logprob and no_speech_prob; an array of results is a list.",
        "id_key",
        sign="|".join((has("avg_logprob|no_speech_prob|word_segments"), has("transcription", "offsets"), SILENT)),
        per_file=True,
    ),
    "sockeye": Row(
        SOCKEYE,
        "Sockeye's translations as JSON lines, with their scores.",
        "id_key",
        sign=f"{has_texts('translations')}|{has('sentence_id', 'translation')}",
    ),
    "transformers": Row(
        TRANSFORMERS,
        "Sequences of Hugging Face's transformers with their scores, or a pipeline's output.",
        "id_key n",
        sign=f"{has_texts('sequences')}|{has('translation_text|generated_text|summary_text')}",
    ),
    "ctranslate2": Row(
        CTRANSLATE2,
        "CTranslate2's results as JSON lines: hypotheses as tokens, with their scores.",
        "id_key",
        sign=f"{has_texts('hypotheses')}|{has_texts('hypotheses', TOKENS)}",
    ),
    "json": Row(
        JSON,
        "Anybody's records in JSON: paths lead to the hypotheses of each, to their texts, totals and features.",
        "hyps text total features at id_key",
        sign=rf'\A\s*[\[{{][\s\S]*"(?:{"|".join(HYPS)})"\s*:\s*\[\s*[\[{{"]',
    ),
    "fairseq": Row(
        FAIRSEQ,
        "fairseq-generate output: S-, H- and P- lines of each segment, log lines between them.",
        sign=rf"(?m)^H-\d+\t{NUMBER}\t|\A(?:[STHDP]-\d+\t.*\n)+\Z|^S-\d+\t.*\n(?:T-\d+\t.*\n)?\Z",
    ),
    "marian": Row(
        BarColumns(features=-2, total=-1, least=4, separator="= ", layout=MARIAN),
        "Marian n-best lists: model scores F0, F1 … and the normalised total; alignment and word scores before them.",
        "dense sparse",
        sign=rf"\A(?:{CELL}\|\|\|){{3,}}[ \t]*F0={CELL}\|\|\|[ \t]*{NUMBER}\n",
    ),
    "travatar": Row(
        BarColumns(features=3, total=2, least=4, zeros_absent=True, layout=TRAVATAR),
        "Travatar n-best lists: the total precedes the features, which are `name=value`; zeros are left out.",
        "dense sparse",
        sign=rf"{BARS}{NUMBER}[ \t]*\|\|\|[ \t]*(?:{JOINED})*{END}",
    ),
    "joshua": Row(
        BarColumns(zeros_absent=True),
        "Joshua n-best lists: `name=value`, or values without labels (old versions), named feature_0, feature_1 ….",
        "dense sparse",
        sign=rf"{BARS}(?!F0=)(?:{JOINED})*?(?:tm_\w+_\d+|lm_\d+|OOVPenalty)={NUMBER}\s",
    ),
    "cdec": Row(
        BarColumns(zeros_absent=True),
        "cdec k-best lists: `name=value`, where features that are 0 are left out.",
        "dense sparse",
        sign=rf"{BARS}(?!F0=)(?:{JOINED})+{END}",
    ),
    "moses": Row(
        BarColumns(separator="= ", underscore=True),
        "Moses n-best lists: dense groups `X= a b`, sparse features `name_x= v`, total, alignments.",
        "dense sparse",
        sign=BARS,
    ),
    "julius": Row(
        JULIUS,
        "Julius's output of n sentences with their scores, among its log lines.",
        "drop",
        sign=r"(?m)^sentence1:|\A(?:STAT: |### (?:read waveform input|Recognition: ))",
    ),
    "wenet": Row(
        WENET,
        "WeNet's n-best output: `wav utterance`, then `candidate score text`, best first.",
        sign=rf"\Awav \S+\ncandidate {NUMBER}",
    ),
    "icefall": Row(
        ICEFALL,
        "icefall recognition files, `utterance:<TAB>hyp=[words]`; a run of hypotheses of one utterance is a list.",
        sign=r"\A(?:\S+:\t(?:ref|hyp|timestamp_\w+)=.*\n)+\Z",
    ),
    "kaldi-lattice": Row(
        KaldiLattices(),
        "Kaldi lattices as text archives, compact or not: the n best distinct word sequences of each.",
        "n drop acoustic_scale lm_scale word_penalty words",
        doubt=rf"\A\S+[ \t]*\n\s*{ARC}[ \t]*\n",
    ),
    "kaldi": Row(
        KeyedRanks(),
        "Kaldi n-best lists as text, keyed `utterance-rank`; archives of costs beside the file are features.",
        "costs words",
        doubt=r"\A(?:(\S+)-1(?:[ \t].*)?\n(?:\1-[1-9]\d{0,8}(?:[ \t].*)?\n)*+)++\Z",
    ),
    "nemo": Row(
        Columns("\t", id=None, text=0, features=None, total=1, least=2, layout="text<TAB>score"),
        "NeMo's text<TAB>score lines, `beam` lines for each utterance.",
        "beam",
        doubt=rf"\A(?:[^\t\n]*\t{NUMBER}\n)+\Z",
    ),
    "espnet": Row(
        Ranked(),
        "ESPnet n-best folders (1best_recog, 2best_recog, …), or lines `utterance words`, best first.",
        doubt=rf"\A(?=(?:{ID_LINE})+\Z)[\s\S]*(?m:^(\S+)(?:[ \t].*)?\n\1\s)",
        folder=r"(?m)^(?:.*/)?1best_recog/text(?:\.\w+)?$",
    ),
    "plain": Row(
        PlainText(),
        "Plain text: n lines for each segment; scores and features in files beside it.",
        "n prefix scores features",
    ),
}
MOSES: NBestFormat = FORMATS["moses"].made

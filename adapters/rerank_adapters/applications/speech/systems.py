"""Reads the outputs of systems that vote: files of transcripts, CTMs with confidences and times, or n-best lists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rerank_adapters.formats.outputs import OutputForm
from rerank_adapters.formats.reading import read_nbest
from rerank_adapters.formats.reference_forms import TimedWord, read_ctm, shown_form
from rerank_adapters.formats.references import ReferenceForm, References, read_references, settled
from rerank_plugins import ConfigError, FloatArray, NBestFormat
from rerank_plugins.kit.files.text import display_name, open_text
from rerank_plugins.kit.nbest_lists import Posterior, posteriors
from rerank_plugins.lists.confusion_network import ConfusionNetwork


@dataclass(frozen=True, eq=False)
class Output:
    """What a system recognised: words, and their confidences (words) and times where it has them."""

    words: Sequence[str] = ()
    confidences: FloatArray | None = None
    times: Sequence[TimedWord] = ()


@dataclass(frozen=True)
class System:
    """The outputs of a system by utterance; `form` is the one of its file, `name` its path."""

    name: str
    form: OutputForm
    outputs: Mapping[str, Output]

    @property
    def confident(self) -> bool:
        """Whether all words have confidences."""
        return all(output.confidences is not None for output in self.outputs.values())

    def output(self, utterance: str) -> Output:
        """The output of an utterance; a CTM has no line for one in which nothing was recognised."""
        return self.outputs.get(utterance, Output(confidences=np.zeros(0)))


def read_systems(paths: Sequence[Path], form: ReferenceForm) -> list[System]:
    """The outputs in files of transcripts and CTMs. Raises FormatError."""
    timed = [form == "ctm" or shown_form(str(path), ()) == "ctm" for path in paths]
    texts = iter(settled([read_references([path], form) for path, ctm in zip(paths, timed, strict=True) if not ctm]))
    return [_read_ctm(path) if ctm else _outputs(next(texts)) for path, ctm in zip(paths, timed, strict=True)]


def _outputs(lines: References) -> System:
    ids = lines.ids
    outputs = {id_: Output(text.split()) for id_, (text,) in zip(ids, lines.for_segments(ids), strict=True)}
    return System(lines.names[0], lines.form if lines.form in ("kaldi", "trn") else "lines", outputs)


def _read_ctm(path: Path) -> System:
    name = display_name(path)
    with open_text(path) as lines:
        files = read_ctm(lines, name)
    outputs = {}
    for file, timed in files.items():
        confidences = [word.confidence for word in timed if word.confidence is not None]
        all_confident = len(confidences) == len(timed)
        outputs[file] = Output([part.word for part in timed], np.array(confidences) if all_confident else None, timed)
    return System(name, "ctm", outputs)


def read_lists(path: Path, form: NBestFormat, posterior: Posterior, scale: float) -> System:
    """The words of highest posterior in the lists of a file, with their posteriors as confidences. Raises FormatError.

    The posteriors are those of the confusion network of each list, and those of its hypotheses are of a kind and scale
    that `posteriors` describes.
    """
    outputs = {}
    for segment in read_nbest([path], form):
        network = ConfusionNetwork.build([t.split() for t in segment.texts], posteriors(segment, posterior, scale))
        outputs[segment.segment_id] = Output(*network.best_with_posteriors())
    return System(str(path), "lines", outputs)


def utterances(systems: Sequence[System]) -> list[str]:
    """The utterances of all systems, in the order of the first one; CTMs may lack some.

    Raises ConfigError for an utterance that a system of another form lacks.
    """
    complete = [system for system in systems if system.form != "ctm"]
    timed = dict.fromkeys(id_ for system in systems if system.form == "ctm" for id_ in system.outputs)
    ids = dict.fromkeys(complete[0].outputs) if complete else timed
    for system in complete:
        if missing := [id_ for id_ in (*ids, *timed) if id_ not in system.outputs]:
            raise ConfigError(f"{system.name}: no output of utterance {missing[0]!r}")
        if len(system.outputs) != len(ids):
            message = f"{len(system.outputs)} outputs, but {complete[0].name} has {len(ids)}"
            raise ConfigError(f"{system.name}: {message}")
    return list(ids)


def check_confidences(systems: Iterable[System]) -> None:
    """Raise ConfigError for a system whose words have no confidences."""
    for system in systems:
        if not system.confident:
            wanted = "wanted CTMs that have a sixth column, n-best lists (--nbest), or --alpha 1"
            raise ConfigError(f"{system.name}: its words have no confidences; {wanted}")

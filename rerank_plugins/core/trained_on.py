"""What a model was trained on: the language of its text, the parser of its trees, and the text steps before both.

Every model file may hold this record (kit/files/model_file.py), so that a model is read with the parser of its own
trees, and never with one of another language (kit/files/cached_parser.py).
"""

from __future__ import annotations

import locale
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rerank_plugins.core.errors import ModelError

UNDETERMINED = "und"  # the language of a text that is of no known one (ISO 639-2)


@dataclass(frozen=True)
class TrainedOn:
    """What a model was trained on.

    `language`  its code, such as "de"; "und" for text of no known language; "" where none is recorded
    `parser`    the parser of its trees, as kit/files/cached_parser.py records it; empty where no text was parsed
    `text`      the text steps before training, with the versions of their tokenisers
    `labels`    "upos" or "xpos", the tags of the words, where its constituents were made from dependencies; else ""
    """

    language: str = ""
    parser: Mapping[str, Any] = field(default_factory=dict)
    text: str = ""
    labels: str = ""

    def __post_init__(self) -> None:
        texts = self.language, self.text, self.labels
        if not (all(isinstance(text, str) for text in texts) and isinstance(self.parser, Mapping)):
            raise TypeError("a record of other types")

    def recorded(self) -> dict[str, Any]:
        """The record for a file, without labels that are those of a treebank in brackets."""
        return {name: value for name, value in asdict(self).items() if value or name != "labels"}

    @property
    def known(self) -> bool:
        """Whether the language is recorded, and is a known one."""
        return self.language not in ("", UNDETERMINED)

    def differs(self, other: TrainedOn) -> bool:
        """Whether both languages are known, and are not the same; `en` and `en-GB` are."""
        return self.known and other.known and _code(self.language) != _code(other.language)

    def has_other_labels(self, other: TrainedOn) -> bool:
        """Whether both languages are known, and the labels of constituents are not of the same kind."""
        return self.known and other.known and self.labels != other.labels

    @property
    def described_labels(self) -> str:
        """What kind the labels of constituents are, in words."""
        tags = self.labels.upper()
        return f"labels made from dependencies with {tags} tags" if tags else "labels of a treebank in brackets"

    @property
    def may_be_english(self) -> bool:
        """Whether the language is English, or not known."""
        return not self.differs(TrainedOn("en"))

    def check_language(self, language: str, path: Path) -> None:
        """Raise ModelError if the model of a file is not for `language`, unless that is empty."""
        if language and _code(self.language) != _code(language):
            raise ModelError(f"{path}: a model for {self.language!r}, wanted {language!r}")


def _code(language: str) -> str:
    """The code without the country, `en` for `en_GB`, also of a language given by its name."""
    return re.split(r"[-_.]", locale.normalize(language))[0].lower()

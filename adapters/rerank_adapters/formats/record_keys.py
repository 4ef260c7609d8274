"""The keys of JSON records: which of them hold the id of a segment, its reference, and a system's output.

All formats in JSON take them from here, for n-best lists, references and outputs alike.

The id is the value, a text or a whole number, of the first of `ID_KEYS` that a record has. Otherwise it is the name of
the audio file, without folder and ending, under the first of `FILE_KEYS`: NeMo's `wav/utt-7.flac` is `utt-7`.
Sockeye's `sentence_id` is none of them: it counts the sentences from 1, as others count lines from 0.

A file is read in the role that it is given in. A source is under one of `SOURCE_KEYS`, a reference under one of
`REFERENCE_KEYS`, the output of a system under one of `OUTPUT_KEYS`; `TEXT_KEYS` hold whichever the file was given as,
where it has no key of that role. NeMo's manifests with `text` and `pred_text` are thus references by the first key and
outputs by the second. A file in which any record has a key of the role is read by such keys alone: in a manifest with
`pred_text`, a record without one has no output, and its transcript is not one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from rerank_adapters.formats.list_files import stem
from rerank_plugins import ConfigError

Role = Literal["source", "reference", "output"]

ID_KEYS = (
    "id", "utt_id", "utterance_id", "uttid", "utt", "key", "segment_id", "seg_id", "sent_id", "audio_id", "sample_id",
    "example_id", "custom_id", "uid", "uuid", "ID", "segment",
)  # fmt: skip
MAX_FILE_NAME = 1000  # characters of a file name; the audio itself is longer
ADDED = "rerank"  # the key of the values that reranking adds to a record, its id among them
FILE_KEYS = (
    "audio_filepath", "audio_file", "audio_path", "audio", "wav", "wav_path", "wav_file", "wav_filename", "file",
    "file_name", "filename", "path",
)  # fmt: skip
REFERENCE_KEYS = ("ref", "reference", "ref_text", "reference_text", "target", "target_text", "ground_truth", "gold")
OUTPUT_KEYS = (
    "hyp", "hypothesis", "hyp_text", "pred", "pred_text", "prediction", "predicted_text", "mt", "generated_text",
    "translation_text", "completion", "response",
)  # fmt: skip
TEXT_KEYS = (
    "text", "txt", "transcript", "transcription", "sentence", "raw_text", "normalized_text", "output", "translation",
)  # fmt: skip
SOURCE_KEYS = ("source", "src", "source_text", "src_text", "source_sentence", "input")
OF_ROLE: Mapping[Role, tuple[str, ...]] = {
    "source": SOURCE_KEYS, "reference": REFERENCE_KEYS, "output": OUTPUT_KEYS,
}  # fmt: skip
NO_IDS = "none"  # the `id_key` under which ids are not read


def form_option(role: Role) -> str:
    """The option of the commands that names the form of texts of a role, and the keys of their records."""
    return "--system-form" if role == "output" else "--reference-form"


class KeysError(ValueError):
    """A record lacks the key that is wanted, or has several that may be it; the text says which."""


class JsonKeys(NamedTuple):
    """The keys that were named: of the text, and of the id, where "none" means none; "" means those of the tables."""

    key: str = ""
    id_key: str = ""

    @classmethod
    def named(cls, options: Sequence[str]) -> JsonKeys:
        """The keys of options such as `key=ref` and `id_key=uid`. Raises ConfigError for any other."""
        pairs = [option.partition("=") for option in options]
        if wrong := next((option for option, (name, _, key) in zip(options, pairs, strict=True)
                          if name not in cls._fields or not key), None):  # fmt: skip
            raise ConfigError(f"{wrong!r}; wanted key=KEY or id_key=KEY after `json,`")
        return cls(**{name: key for name, _, key in pairs})

    def id_of(self, record: Any) -> str:
        """The id of a record; "" for a record without one, and for a value that is not an object."""
        if not isinstance(record, dict) or self.id_key == NO_IDS:
            return ""
        added = record.get(ADDED)
        if isinstance(added, dict) and "segment" in added:
            return str(added["segment"])
        if self.id_key:
            return _id(record.get(self.id_key))
        for key in ID_KEYS:
            if id_ := _id(record.get(key)):
                return id_
        for key in FILE_KEYS:
            file = record.get(key)
            if isinstance(file, dict):  # Hugging Face's audio: {"path": …, "array": …}
                file = file.get("path")
            if isinstance(file, str) and 0 < len(file.strip()) < MAX_FILE_NAME:
                return stem(file.strip())
        return ""

    def checked_id(self, id_: str, record: Any) -> str:
        """The id that was read from a record. Raises KeysError where there is none under the key that was named."""
        if not id_ and self.id_key not in ("", NO_IDS):
            raise KeysError(f"no id under {self.id_key!r}, which id_key names{_keys(record)}")
        return id_

    def text_of(self, record: Mapping[str, Any], role: Role, own: Sequence[str] = ()) -> str:
        """The reference or the output that a record holds.

        `own` are the keys of the role that the records of the file have (`own_keys`); with any, `TEXT_KEYS` do not
        count. Raises KeysError where there is none, and where several keys hold different texts.
        """
        if self.key:
            if not isinstance(record.get(self.key), str):
                raise KeysError(f"no text under {self.key!r}, which key names{_keys(record)}")
            return str(record[self.key])
        for keys in (OF_ROLE[role], () if own else TEXT_KEYS):
            texts = {key: record[key] for key in keys if isinstance(record.get(key), str)}
            if len(set(texts.values())) > 1:
                some = " and ".join(f"{key!r}" for key in texts)
                named = f"name the one that holds the {role}: {form_option(role)} json,key={next(iter(texts))}"
                raise KeysError(f"{some} hold different texts; {named}")
            if texts:
                return str(next(iter(texts.values())))
        if own:
            under = " or ".join(map(repr, own))
            raise KeysError(f"no {role}: wanted a text under {under}, as other records have it{_keys(record)}")
        wanted = ", ".join((*OF_ROLE[role], *TEXT_KEYS))
        raise KeysError(f"no {role}: expected one of {wanted}{_keys(record)}")


def own_keys(records: Iterable[Mapping[str, Any]], role: Role) -> list[str]:
    """The keys of a role under which any of the records has a text or null."""
    found = {key for record in records for key in OF_ROLE[role] if key in record and _is_text_or_null(record[key])}
    return [key for key in OF_ROLE[role] if key in found]


def _is_text_or_null(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _id(value: Any) -> str:
    """A text or a whole number as an id (1.0, as tables write numbers, is 1); "" for any other value."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _keys(record: Any) -> str:
    """The keys of a record, as the end of an error message."""
    return f" (keys found: {', '.join(map(str, record))})" if isinstance(record, dict) else ""

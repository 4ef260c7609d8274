"""The keys of JSON records which hold a source, a reference or a system's output (`records.py` has those of ids).

A file is read in the role that it is given in. A source is under one of `SOURCE_KEYS`, a reference under one of
`REFERENCE_KEYS`, the output of a system under one of `OUTPUT_KEYS`; `TEXT_KEYS` hold whichever the file was given as,
where it has no key of that role. NeMo's manifests with `text` and `pred_text` are thus references by the first key and
outputs by the second. A file in which any record has a key of the role is read by such keys alone: in a manifest with
`pred_text`, a record without one has no output, and its transcript is not one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from rerank_adapters.formats.records import OF_ROLE, TEXT_KEYS, Role, keys_found
from rerank_plugins import ConfigError


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

    def text_of(self, record: Mapping[str, Any], role: Role, own: Sequence[str] = ()) -> str:
        """The reference or the output that a record holds.

        `own` are the keys of the role that the records of the file have (`own_keys`); with any, `TEXT_KEYS` do not
        count. Raises KeysError where there is none, and where several keys hold different texts.
        """
        if self.key:
            if not isinstance(record.get(self.key), str):
                raise KeysError(f"no text under {self.key!r}, which key names{keys_found(record)}")
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
            raise KeysError(f"no {role}: wanted a text under {under}, as other records have it{keys_found(record)}")
        wanted = ", ".join((*OF_ROLE[role], *TEXT_KEYS))
        raise KeysError(f"no {role}: expected one of {wanted}{keys_found(record)}")


def own_keys(records: Iterable[Mapping[str, Any]], role: Role) -> list[str]:
    """The keys of a role under which any of the records has a text or null."""
    found = {key for record in records for key in OF_ROLE[role] if key in record and _is_text_or_null(record[key])}
    return [key for key in OF_ROLE[role] if key in found]


def _is_text_or_null(value: Any) -> bool:
    return value is None or isinstance(value, str)

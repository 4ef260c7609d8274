"""Records the steps of a job in its work folder: what each was made from, and what it wrote.

A step is unchanged if a hash of everything that it depends on is the recorded one and its files have the recorded
content. Times of files do not count. A step that depends on something that cannot be told, such as the code of a plugin
file, is never unchanged.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rerank_plugins.core.identity import plain_hash
from rerank_plugins.kit.files.text import open_atomic

RECORD = "steps.json"

Inputs = Mapping[str, Any] | None  # plain values, which JSON can hold; None where they cannot be told
Say = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class Step:
    """A step of a job: what it makes for a data set (`set`, if it is for one), from what, and by which action.

    `inputs` tells what the step depends on; it is called when the step's turn comes, as the files of the steps before
    it may belong to that. `needs` are those files, and `files` what the step writes. `action` writes them, and may
    yield lines about its progress.
    """

    set: str
    name: str
    inputs: Callable[[], Inputs]
    files: Sequence[Path]
    action: Callable[[], Iterable[str] | None]
    needs: Sequence[Path] = ()

    @property
    def key(self) -> str:
        """The name of the step in the record."""
        return f"{self.set}: {self.name}" if self.set else self.name


@dataclass
class Steps:
    """The steps recorded in a work folder; with `force`, none of them counts."""

    folder: Path
    force: bool = False
    _recorded: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        with suppress(OSError, ValueError):
            recorded = json.loads((self.folder / RECORD).read_text(encoding="utf-8"))
            self._recorded = recorded if isinstance(recorded, dict) and not self.force else {}

    def do(self, step: Step, say: Say) -> bool:
        """Do and record a step, or repeat its recorded lines if it is unchanged; return whether it was done."""
        inputs = step.inputs()
        lines = self._unchanged(step.key, inputs)
        said = []
        for line in (step.action() or ()) if lines is None else lines:
            said.append(line)
            say(line)
        if lines is None:
            self._record(step.key, inputs, step.files, said)
        return lines is None

    def plan(self, steps: Iterable[Step]) -> Iterator[tuple[Step, bool]]:
        """Yield each step with whether it would be skipped as unchanged, without doing any.

        A step that needs the files of one that would be done is planned to be done too; `do` skips it nevertheless if
        those files come out as they were.
        """
        new: set[Path] = set()
        for step in steps:
            unchanged = new.isdisjoint(step.needs) and self._unchanged(step.key, step.inputs()) is not None
            if not unchanged:
                new.update(step.files)
            yield step, unchanged

    def _unchanged(self, name: str, inputs: Inputs) -> list[str] | None:
        """The recorded output of the step if its inputs and files have not changed since; otherwise None."""
        step: Any = self._recorded.get(name)
        try:
            if inputs is None or step["inputs"] != plain_hash(inputs) or not step["files"]:
                return None
            files = {file: file_hash(self.folder / file) for file in step["files"]}
            return [str(line) for line in step["said"]] if files == step["files"] else None
        except (LookupError, TypeError, AttributeError):  # the record was edited
            return None

    def _record(self, name: str, inputs: Inputs, files: Sequence[Path], said: Sequence[str]) -> None:
        """Record that the step has been done. Raises RerankError where the record cannot be written."""
        hashes = {file.name: file_hash(file) for file in files}
        self._recorded[name] = {"inputs": plain_hash(inputs), "files": hashes, "said": list(said)}
        with open_atomic(self.folder / RECORD) as stream:
            stream.write(json.dumps(self._recorded, ensure_ascii=False, indent=1) + "\n")

    def recall(self, name: str, inputs: Inputs) -> Any:
        """The value that was remembered for these inputs; None if there is none."""
        step: Any = self._recorded.get(name)
        try:
            return step["value"] if inputs is not None and step["inputs"] == plain_hash(inputs) else None
        except (LookupError, TypeError, AttributeError):  # the record was edited
            return None

    def remember(self, name: str, inputs: Inputs, value: Any) -> None:
        """Remember a value that JSON can hold; it is written with the next step that is recorded."""
        self._recorded[name] = {"inputs": plain_hash(inputs), "value": value}


def file_hash(path: Path) -> str | None:
    """The SHA-256 of a file; None if it is no plain file or cannot be read."""
    try:
        if not path.is_file():  # a pipe could be read only once
            return None
        with open(path, "rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError:
        return None

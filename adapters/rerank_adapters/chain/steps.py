"""Steps of a job, and the record of them in its folder: what each was made from, and what it wrote.

A step is unchanged if the identity of its inputs is the recorded one and its files have the recorded content. Times of
files do not count.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rerank_plugins import open_atomic
from rerank_plugins.core.identity import path_hash

RECORD = "steps.json"

Print = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class Step:
    """A step of a job: what it makes for a data set (`set`, if it is for one), from what, and by which action.

    `inputs` tells what the step depends on; it is called when the step's turn comes, as the files of the steps before
    it may belong to that. `needs` are those files, and `files` what the step writes. `action` writes them, and may
    yield lines about its progress.
    """

    set: str
    name: str
    inputs: Callable[[], str]
    files: Sequence[Path]
    action: Callable[[], Iterable[str] | None]
    needs: Sequence[Path] = ()

    @property
    def key(self) -> str:
        """The name of the step in the record."""
        return f"{self.set}: {self.name}" if self.set else self.name


@dataclass
class Record:
    """What is recorded of the steps in a folder; with `force`, nothing of it counts."""

    folder: Path
    force: bool = False
    _recorded: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        with suppress(OSError, ValueError):
            recorded = json.loads(self.file.read_text(encoding="utf-8"))
            self._recorded = recorded if isinstance(recorded, dict) and not self.force else {}

    @property
    def file(self) -> Path:
        """The file of the record."""
        return self.folder / RECORD

    def do(self, step: Step, show: Print) -> bool:
        """Do and record a step, or repeat its recorded lines if it is unchanged; return whether it was done."""
        inputs = step.inputs()
        lines = self._unchanged(step.key, inputs)
        shown = []
        for line in (step.action() or ()) if lines is None else lines:
            shown.append(line)
            show(line)
        if lines is None:
            self._record(step.key, inputs, step.files, shown)
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

    def _unchanged(self, name: str, inputs: str) -> list[str] | None:
        """The recorded output of the step if its inputs and files have not changed since; otherwise None."""
        step: Any = self._recorded.get(name)
        try:
            if step["inputs"] != inputs or not step["files"]:
                return None
            files = {file: path_hash(self.folder / file) for file in step["files"]}
            return [str(line) for line in step["said"]] if files == step["files"] else None
        except (LookupError, TypeError, AttributeError):  # the record was edited
            return None

    def _record(self, name: str, inputs: str, files: Sequence[Path], shown: Sequence[str]) -> None:
        """Record that the step has been done. Raises RerankError where the record cannot be written."""
        hashes = {file.name: path_hash(file) for file in files}
        self._recorded[name] = {"inputs": inputs, "files": hashes, "said": list(shown)}
        with open_atomic(self.file) as stream:
            stream.write(json.dumps(self._recorded, ensure_ascii=False, indent=1) + "\n")

    def recall(self, name: str, inputs: str) -> Any:
        """The value that was remembered for these inputs; None if there is none."""
        step: Any = self._recorded.get(name)
        try:
            return step["value"] if step["inputs"] == inputs else None
        except (LookupError, TypeError, AttributeError):  # the record was edited
            return None

    def remember(self, name: str, inputs: str, value: Any) -> None:
        """Remember a value that JSON can hold; it is written with the next step that is recorded."""
        self._recorded[name] = {"inputs": inputs, "value": value}

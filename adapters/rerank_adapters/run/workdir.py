"""A folder of files, each of which is made again only if something that it depends on has changed.

What the files of a stage depend on is its key, a hash that contains the keys of the stages before it: a change runs
through, and a plan of what would be done reads no data. A stage counts as done if its files were made from its key, and
their content is as it was then; times of files do not count.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rerank_plugins import open_atomic
from rerank_plugins.core.identity import path_hash

RECORD = "made.json"  # the file with the keys of stages, hashes of their files, and the lines that they said


@dataclass(frozen=True)
class StageDone:
    """What became of a stage with these outputs; `unchanged` if it has not been done again, or would not be."""

    name: str
    outputs: tuple[Path, ...]
    unchanged: bool


@dataclass
class Workdir:
    """A folder in which stages write files; with `force` all are done, with `dry` none.

    `say` is called with each line for the user.
    """

    folder: Path
    say: Callable[[str], None]
    force: bool = False
    dry: bool = False
    stages: list[StageDone] = field(default_factory=list)
    _made: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        with suppress(OSError, ValueError):
            made = json.loads(self.record_file.read_text(encoding="utf-8"))
            self._made = made if isinstance(made, dict) else {}

    @property
    def record_file(self) -> Path:
        """The file that records what was made."""
        return self.folder / RECORD

    def make(self, stage: str, outputs: Sequence[str], key: str, write: Callable[..., Iterable[str] | None]) -> str:
        """Let `write` make the files of a stage, unless they are there as they were made from this key; return the key.

        `write` gets the path of each file, and may yield lines for the user, which are said again where the files stay.
        The first stage of a new folder makes the folder, so that nothing is there before its inputs are known to be
        right. Raises RerankError where the record cannot be written.
        """
        paths = [self.folder / name for name in outputs]
        made: Any = self._made.get(stage)
        known = {"key": key, "files": {path.name: path_hash(path) for path in paths}}
        unchanged = isinstance(made, dict) and known.items() <= made.items() and not self.force
        self.stages.append(StageDone(stage, tuple(paths), unchanged))
        if self.dry:
            return key
        if unchanged:
            for line in made.get("output", ()):
                self.say(str(line))
            return key
        output = []
        for line in write(*paths) or ():
            output.append(line)
            self.say(line)
        self._made[stage] = {"key": key, "files": {path.name: path_hash(path) for path in paths}, "output": output}
        with open_atomic(self.record_file) as stream:
            stream.write(json.dumps(self._made, ensure_ascii=False, indent=1) + "\n")
        return key

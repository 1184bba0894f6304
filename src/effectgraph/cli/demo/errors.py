"""What keeps the demo from telling anything: a folder that it cannot use, a process that does not do its part."""

from __future__ import annotations

import attrs

from effectgraph import GraphError


@attrs.define(slots=False, eq=False)
class FolderUnfit(GraphError, ValueError):
    """The demo cannot use this folder. Nothing was changed in it."""

    folder: str
    why: str
    way_out: str

    def __str__(self) -> str:
        return f"folder {self.folder}: {self.why}; {self.way_out}"


@attrs.define(slots=False, eq=False)
class ChildFailed(GraphError, RuntimeError):
    """A process of the demo did not say what it should. `last_words` is the last line that the log of all has."""

    child: str
    why: str
    last_words: str

    def __str__(self) -> str:
        return f"the demo's {self.child} {self.why} ({self.last_words or 'nothing on stderr'}); read demo.log"

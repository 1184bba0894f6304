"""What is wrong with a tool's declaration, or with the arguments of a call."""

from __future__ import annotations

import attrs

from effectgraph.errors import GraphError


class ToolError(GraphError):
    """Anything a tool refuses before its effect is thought of."""


@attrs.define(slots=False, eq=False)
class ToolInvalid(ToolError, TypeError):
    """A tool was declared in a way that cannot work. Raised where it is declared."""

    tool: str
    why: str

    def __str__(self) -> str:
        return f"tool {self.tool}: {self.why}"


@attrs.define(slots=False, eq=False)
class BadArguments(ToolError, TypeError):
    """The arguments do not fit the tool's signature or types. Nothing was run, nothing written."""

    tool: str
    why: str

    def __str__(self) -> str:
        return f"tool {self.tool}: {self.why}; nothing was run; call it with arguments that fit its signature"

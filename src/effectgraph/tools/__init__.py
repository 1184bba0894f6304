"""Tools: one function each, and how its replay is settled."""

from effectgraph.tools.declare import Declarations, Declare, tool
from effectgraph.tools.errors import BadArguments, ToolError, ToolInvalid
from effectgraph.tools.hints import ReplaySupport, ToolHints
from effectgraph.tools.tool import Prepared, Tool

__all__ = [
    "BadArguments",
    "Declarations",
    "Declare",
    "Prepared",
    "ReplaySupport",
    "Tool",
    "ToolError",
    "ToolHints",
    "ToolInvalid",
    "tool",
]

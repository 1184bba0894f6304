"""The root of every error this package raises."""

from __future__ import annotations


class GraphError(Exception):
    """Anything that effectgraph raises on purpose.

    Each floor has its own errors in its `errors` module; each of them derives from this class and from the
    nearest builtin, holds what it knows as fields, names the object, its state and the way out in its message,
    and comes back whole from pickle.
    """

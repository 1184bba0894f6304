"""How much more than usual a test is to do."""

from __future__ import annotations

import os
from typing import Final

TIMES: Final = int(os.environ.get("EFFECTGRAPH_TEST_TIMES", "1"))
"""Tests that look for what happens seldom do this many times as many rounds."""

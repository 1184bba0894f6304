"""Which tests of targets can run here."""

from __future__ import annotations

import shutil
import subprocess


def can_trace() -> bool:
    """Whether strace is there and may trace: it counts syncs and makes system calls fail."""
    strace = shutil.which("strace")
    return strace is not None and subprocess.run([strace, "-o", "/dev/null", "true"], check=False).returncode == 0


collect_ignore = [] if can_trace() else ["test_with_strace.py"]

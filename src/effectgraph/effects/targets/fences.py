"""The newest token that a target has seen of each scope."""

from __future__ import annotations

import hashlib
import os
from typing import Final

import attrs

from effectgraph.effects.errors import TargetFenced
from effectgraph.effects.targets.errors import TargetUnusable

TOKEN_DIGITS: Final = 19
"""A token is a 64-bit number at most; longer digits in a token file are not ours."""


@attrs.frozen
class Fence:
    """Keeps tokens beside a target's lock, one small file for each scope. Use it only while that lock is held.

    A token is recorded by a rename and not synced: it stops processes that are still alive, and whatever loses an
    unsynced file (a power cut, a kernel that stops) ends all of those.
    """

    target: str
    stem: str

    def admit(self, scope: str, token: int) -> None:
        """Record a token, or raise `TargetFenced` if a newer one of the scope was seen. Token 0 always passes."""
        if token == 0:
            return
        path = f"{self.stem}.{hashlib.sha256(os.fsencode(scope)).hexdigest()}.token"
        try:
            newest = self._read(path)
            if newest < token:
                self._write(path, f"{token}\n{scope}\n{self.target}\n")
        except OSError as error:
            raise TargetUnusable(
                self.target, f"its newest token cannot be kept: {error}", "make room, and let the user write there"
            ) from error
        if newest > token:
            raise TargetFenced(self.target, scope, token, newest)

    def _read(self, path: str) -> int:
        try:
            fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            return 0
        try:
            data = os.read(fd, TOKEN_DIGITS + 1)
        finally:
            os.close(fd)
        # A power cut may leave a renamed file empty or zeroed; then no process that was fenced is left.
        if not data.strip(b"\0"):
            return 0
        number = data.partition(b"\n")[0]
        if not number.isdigit() or len(number) > TOKEN_DIGITS:
            raise TargetUnusable(
                self.target, f"its token file {path} is not ours", "remove that file once no older run is alive"
            )
        return int(number)

    def _write(self, path: str, text: str) -> None:
        fresh = f"{path}.new"
        fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with open(fd, "wb") as file:
            file.write(os.fsencode(text))
        os.replace(fresh, path)

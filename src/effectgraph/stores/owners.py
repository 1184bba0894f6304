"""Owners: who holds claims, and how others see that he is gone."""

from __future__ import annotations

import contextlib
import fcntl
import os
import uuid
from pathlib import Path
from typing import Final, Self

import attrs
from filelock import FileLock, Timeout

from effectgraph.stores.errors import StoreUnusable
from effectgraph.stores.limits import BUSY_S
from effectgraph.stores.records import Claim, OwnerId

LOCK_SUFFIX: Final = ".lock"

POLL_S: Final = 0.005
"""Seconds between two tries for our own lock: only somebody who clears up can be in the way, for a moment."""


@attrs.define(eq=False)
class Owner:
    """One open store of this process: alive from here until `let_go`, or until the kernel ends the process.

    Its lock file lies in `<store file>-owners/` and is held for life. Ids are never used twice, so a lock file
    that is absent, or that anybody can lock, belongs to an owner that is gone.
    """

    id: OwnerId
    folder: Path | None
    """Where the lock files of all owners lie; None in memory."""
    _lock: FileLock | None = attrs.field(alias="lock")
    runs: dict[int, Claim] = attrs.field(init=False, factory=dict[int, Claim])
    """The claims whose runs go on in this process, by their tokens."""
    unreleased: set[str] = attrs.field(init=False, factory=set[str])
    """Threads whose runs are over in this process although their release may not have been written."""

    @classmethod
    def in_memory(cls) -> Self:
        """The owner of a store that nobody else can open."""
        return cls(id=OwnerId(uuid.uuid4().hex), folder=None, lock=None)

    @classmethod
    def nobody(cls, store: Path) -> Self:
        """Who only looks at the store file `store`: holds no lock, and is never alive. Makes nothing."""
        return cls(id=OwnerId(uuid.uuid4().hex), folder=_folder(store), lock=None)

    @classmethod
    def beside(cls, store: Path) -> Self:
        """A new owner with its lock beside the store file `store`.

        Raises `StoreUnusable` where the folder cannot be written, or where file locks do nothing.
        """
        owner = OwnerId(uuid.uuid4().hex)
        folder = _folder(store)
        lock = FileLock(
            _lock_file(folder, owner),
            mode=0o600,
            thread_local=False,
            fallback_to_soft=False,
            preserve_lock_file=True,
            poll_interval=POLL_S,
        )
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            lock.acquire(timeout=BUSY_S)
            # A mount can take the call and lock nothing; then every living owner would look dead.
            locks_nothing = _nobody_holds(_lock_file(folder, owner))
        except (OSError, Timeout) as error:
            with contextlib.suppress(OSError):
                lock.release()
            raise StoreUnusable(
                str(store), f"no owner's lock can be had in {folder} ({error})", "make that folder writable"
            ) from error
        if locks_nothing:
            lock.release()
            raise StoreUnusable(
                str(store), f"file locks do nothing in {folder}", "put the store on a local file system of this host"
            )
        return cls(id=owner, folder=folder, lock=lock)

    @property
    def lock_files(self) -> tuple[str, ...]:
        """The file whose lock says that this owner is alive, if it has one."""
        return () if self.folder is None or self._lock is None else (_lock_file(self.folder, self.id),)

    def alive(self, owner: OwnerId) -> bool:
        """Whether `owner` still holds its lock. Asked of the kernel each time; no timer decides it.

        Raises `StoreUnusable` where that cannot be asked: then nobody knows.
        """
        if owner == self.id:
            return self.folder is None or self._lock is not None
        if self.folder is None:
            return False
        try:
            return not _nobody_holds(_lock_file(self.folder, owner))
        except OSError as error:
            raise StoreUnusable(
                str(self.folder), f"whether owner {owner} lives cannot be seen ({error})", "look at who may read it"
            ) from error

    def runs_on(self, owner: OwnerId, token: int) -> bool:
        """Whether the run that claimed `token` for `owner` goes on, as far as can be seen from here."""
        return token in self.runs if owner == self.id else self.alive(owner)

    def clear_up(self) -> tuple[OwnerId, ...]:
        """Remove the lock files of owners that are gone; returns their ids. What cannot be removed stays."""
        gone: list[OwnerId] = []
        with contextlib.suppress(OSError):
            for file in () if self.folder is None else self.folder.glob("*" + LOCK_SUFFIX):
                owner = OwnerId(file.name.removesuffix(LOCK_SUFFIX))
                with contextlib.suppress(OSError):
                    if owner != self.id and _nobody_holds(str(file), remove=True):
                        gone.append(owner)
        return tuple(gone)

    def let_go(self) -> None:
        """Die as an owner: what is still claimed becomes claimable. A second call does nothing.

        A file that cannot be removed is left to the next one who opens the store.
        """
        if self.folder is None or self._lock is None:
            return
        lock, self._lock = self._lock, None
        with contextlib.suppress(OSError):
            Path(_lock_file(self.folder, self.id)).unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            lock.release()


def _folder(store: Path) -> Path:
    return store.with_name(store.name + "-owners")


def _lock_file(folder: Path, owner: OwnerId) -> str:
    return str(folder / (owner + LOCK_SUFFIX))


def _nobody_holds(file: str, *, remove: bool = False) -> bool:
    try:
        # Not blocking: whatever has such a name in the folder must not hold us up.
        descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return True
    try:
        # Shared, so that two who ask at once do not take each other for the owner.
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    else:
        if remove:
            # Under the lock: an owner that is just being born cannot lock the file that goes, and makes a new one.
            Path(file).unlink(missing_ok=True)
        return True
    finally:
        os.close(descriptor)

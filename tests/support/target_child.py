"""Processes that work on targets, and may be killed at a chosen moment. A script: name a command first."""

from __future__ import annotations

import os
import resource
import signal
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing, suppress
from functools import partial

from effectgraph.effects.errors import NotApplied, TargetMoved
from effectgraph.effects.targets.errors import TargetUnusable
from effectgraph.effects.targets.file import FileTarget
from effectgraph.effects.targets.locks import LockFolder
from effectgraph.effects.targets.sqlite import SqliteTarget
from target_calls import at, effect

KILL_POINTS: dict[str, tuple[Callable[..., object], int]] = {
    "temporary written": (os.fsync, 1),
    "temporary synced": (os.replace, 1),
    "file replaced": (os.fsync, 2),
}
"""Where `write` can be killed: before which call of which function."""


def die() -> None:
    """End as a power cut would have it: at once."""
    os.kill(os.getpid(), signal.SIGKILL)


def say(text: str) -> None:
    """Tell the parent something at once."""
    print(text, flush=True)


def append(path: str, name: str, count: str) -> None:
    """Append numbered lines, each as one effect that plans anew until it lands."""
    target = FileTarget(path)
    for number in range(int(count)):
        line = f"{name} {number}\n".encode()
        while True:
            planned = target.plan(effect(scope=name), partial(with_line, line))
            with suppress(TargetMoved):
                planned.effect(1)
                break


def with_line(line: bytes, old: bytes | None) -> bytes:
    """A content with one more line."""
    return (old or b"") + line


def write(path: str, line: str, point: str) -> None:
    """Append one line, and be killed at a point on the way."""
    target = FileTarget(path)
    planned = target.plan(effect(), partial(with_line, line.encode()))
    say(f"{planned.before} {planned.after}")
    if point == "returned":
        planned.effect(1)
        die()
    function, number = KILL_POINTS[point]
    with at(function, number, die):
        planned.effect(1)


def write_on_full_disk(path: str, size_bytes: str, limit_bytes: str, then: str) -> None:
    """Plan a large write where only small files can be written: refused, or killed in the middle of it."""
    planned = FileTarget(path).plan(effect(), lambda old: b"x" * int(size_bytes))
    if then == "killed":
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit_bytes), int(limit_bytes)))
    try:
        planned.effect(1)
    except NotApplied as error:
        say(str(error))


def create(path: str, umask: str) -> None:
    """Create a file under a umask."""
    os.umask(int(umask, 8))
    FileTarget(path).plan(effect(), lambda old: b"new").effect(1)


def hold(path: str) -> None:
    """Hold a lock until killed."""
    with LockFolder.of_user().hold(path):
        say("held")
        signal.pause()


def hold_and_fork(path: str, then: str) -> None:
    """Hold a lock until killed, and fork a child that stays, leaves the `with` block, or exits; say its number."""
    with LockFolder.of_user().hold(path):
        child = os.fork()
        if child and then != "stays":
            os.waitpid(child, 0)
            say(str(child))
        if child:
            signal.pause()
        elif then == "stays":
            say(str(os.getpid()))
            signal.pause()
        elif then == "exits":
            os._exit(0)


def take_turns(path: str, mark: str, rounds: str) -> None:
    """Take a lock many times, and fail if somebody else is inside."""
    locks = LockFolder.of_user()
    for _ in range(int(rounds)):
        with locks.hold(path):
            os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
            os.unlink(mark)


def lock_once(path: str) -> None:
    """Take and release one lock, or say why not."""
    try:
        with LockFolder.of_user().hold(path):
            say("held")
    except TargetUnusable as error:
        say(str(error))


def apply(path: str, call: str, value: str) -> None:
    """Insert a value once the parent says so."""
    with SqliteTarget(path) as target:
        say("ready")
        sys.stdin.readline()
        say(target.apply(effect(call), lambda connection: insert(connection, value)).decode())


def apply_and_die(path: str, value: str, point: str) -> None:
    """Insert a value, and be killed in the transaction or after its commit."""

    def run(connection: sqlite3.Connection) -> bytes:
        outcome = insert(connection, value)
        if point == "in the transaction":
            die()
        return outcome

    SqliteTarget(path).apply(effect(), run)
    die()


def apply_or_say(path: str, call: str) -> None:
    """Insert a large value, and say what became of it."""
    with SqliteTarget(path) as target:
        try:
            target.apply(effect(call), lambda connection: insert(connection, "x" * 100_000))
        except (NotApplied, sqlite3.Error) as error:
            say(f"{type(error).__name__}: {error}")
        else:
            say("applied")


def work_with_marks(path: str, what: str) -> None:
    """Do one thing to a database between two marks that a trace shows: reads of the files `begin` and `end`."""
    with SqliteTarget(path) as target:
        target.forget(effect("other"))
        if what == "apply again":
            target.apply(effect(), lambda connection: insert(connection, "1"))
        mark("begin")
        if what == "forget":
            target.forget(effect())
        elif what == "forget without token":
            target.forget(effect(token=0))
        else:
            target.apply(effect(), lambda connection: insert(connection, "1"))
        mark("end")


def mark(name: str) -> None:
    """Leave a line in a trace."""
    with suppress(FileNotFoundError):
        os.close(os.open(f"/{name}", os.O_RDONLY))


def use_after_fork(path: str) -> None:
    """Use a target in a forked child, then in the parent."""
    with SqliteTarget(path) as target:
        child = os.fork()
        if not child:
            try:
                target.apply(effect(), lambda connection: insert(connection, "child"))
            except NotApplied as error:
                say(str(error))
            target.close()
            os._exit(0)
        os.waitpid(child, 0)
        say(target.apply(effect(), lambda connection: insert(connection, "parent")).decode())


def insert(connection: sqlite3.Connection, value: str) -> bytes:
    """The user's own work: one row, and its value as the outcome."""
    connection.execute("INSERT INTO numbers VALUES (?)", (value,))
    return value.encode()


def make_numbers(path: str, journal_mode: str) -> None:
    """A database as a user would have it, in one of SQLite's journal modes."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA journal_mode = {journal_mode}")
        connection.execute("CREATE TABLE numbers (value TEXT)")


COMMANDS: dict[str, Callable[..., None]] = {
    command.__name__: command
    for command in (
        append,
        apply,
        apply_and_die,
        apply_or_say,
        create,
        hold,
        hold_and_fork,
        lock_once,
        take_turns,
        use_after_fork,
        work_with_marks,
        write,
        write_on_full_disk,
    )
}

if __name__ == "__main__":
    COMMANDS[sys.argv[1]](*sys.argv[2:])

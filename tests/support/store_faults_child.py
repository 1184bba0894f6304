"""What child processes do with a store that is looked at, opened by many, or hurt: see `store_processes.run`."""

from __future__ import annotations

import os
import resource
import signal
import sqlite3
import sys
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import TypeVar

from effectgraph.stores import Receipt, SqliteStore, StoreError, open_store
from effectgraph.stores.records import Piece, Sync
from store_records import THREAD, commit, created, intent, key, new_thread, outcome, piece

T = TypeVar("T")


def say(text: object) -> None:
    """Tell the parent something at once."""
    print(text, flush=True)


def said_or_failed(ask: Callable[[], object]) -> None:
    """Say what came of something: its result, or the name and text of the store's error."""
    try:
        say(ask())
    except StoreError as error:
        say(f"{type(error).__name__}: {error}")


def become_nobody() -> None:
    """Be a user who may only do what everybody may, where this is root."""
    if os.getuid() == 0:
        # He may not be able to read what Python loads late, as for a new store.
        open_store(":memory:").__exit__(None, None, None)
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)


def open_as_nobody(path: str) -> None:
    """Open a store, and then open it for reading, as a user who may only do what everybody may; or say why not."""
    become_nobody()
    for read_only in (False, True):
        said_or_failed(partial(opened_and_closed, path, read_only=read_only))


def opened_and_closed(path: str, *, read_only: bool) -> str:
    """The namespace of a store."""
    with open_store(path, read_only=read_only) as store:
        return store.namespace


def look_as_nobody(path: str) -> None:
    """Read a store as a user who may only read its files; or say why not."""
    become_nobody()
    try:
        store = open_store(path, read_only=True)
    except StoreError as error:
        say(f"{type(error).__name__}: {error}")
        return
    with store:
        said_or_failed(lambda: store.read(THREAD).wait().step)
        said_or_failed(lambda: len(store.history(THREAD).wait()))
        said_or_failed(lambda: store.evidence(key(thread="script"), 0).wait() is not None)
        said_or_failed(lambda: store.runnable("shop").wait())


def write_as_nobody(path: str) -> None:
    """Open a store as a user who may only do what everybody may; say when; write on demand; close."""
    become_nobody()
    with open_store(path) as store:
        claim = created(store).claim
        say("ready")
        sys.stdin.readline()
        said_or_failed(lambda: store.commit(claim, commit(1)).wait())
        said_or_failed(lambda: store.read(THREAD).wait().step)


def count_up(path: str, sessions: str, rounds: str) -> None:
    """Open a store, commit some steps of one thread whose state says which step it is, close; many times."""
    say("ready")
    sys.stdin.readline()
    for _ in range(int(sessions)):
        with open_store(path) as store:
            claimed = store.claim(THREAD).wait()
            for step in range(claimed.thread.step + 1, claimed.thread.step + int(rounds) + 1):
                store.commit(claimed.claim, commit(step, piece("total", str(step).encode()))).wait()
            store.release(claimed.claim).wait()


def open_each(*paths: str) -> None:
    """Open each store at the same moment as others do, say its namespace, close it when all have."""
    say("ready")
    sys.stdin.readline()
    for path in paths:
        try:
            store = open_store(path)
        except StoreError as error:
            say(f"{type(error).__name__}: {error}")
            sys.stdin.readline()
            continue
        with store:
            say(store.namespace)
            sys.stdin.readline()


def come_and_go(path: str, rounds: str) -> None:
    """Open a store, make a thread, close it; many times."""
    say("ready")
    sys.stdin.readline()
    for number in range(int(rounds)):
        with open_store(path) as store:
            store.release(created(store, f"order-{os.getpid()}-{number}").claim).wait()


def hold_lock(path: str) -> None:
    """Take the file's write lock, say so, and keep it until killed."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    say("held")
    signal.pause()


def hold_often(path: str) -> None:
    """Take the file's write lock, write, and leave it again, until told to stop; say how often."""
    open_store(path).__exit__(None, None, None)
    stop = threading.Event()

    def wait_for_the_end() -> None:
        sys.stdin.readline()
        stop.set()

    threading.Thread(target=wait_for_the_end, daemon=True).start()
    times = 0
    with closing(sqlite3.connect(path, isolation_level=None, timeout=60.0)) as connection:
        while not stop.is_set():
            connection.execute("BEGIN IMMEDIATE")
            if not times:
                say("held")
            connection.execute("UPDATE store SET syncs = syncs + 1")
            connection.execute("COMMIT")
            times += 1
    say(times)


def acknowledge(text: str) -> None:
    """Tell the parent what has been acknowledged, by a system call that no fault is put into."""
    os.writev(1, [text.encode() + b"\n"])


def work(path: str, large_bytes: str) -> None:
    """A run of each kind of write, in which any system call may fail: say what was acknowledged and what failed.

    The second thread's state is so many bytes large.
    """
    threading.excepthook = fail_at_once
    work_on(path, int(large_bytes))


def work_in_little_room(folder: str, *limits_bytes: str) -> None:
    """The same, once for each limit to what a file may have; in a folder each."""
    threading.excepthook = fail_at_once
    open_store(":memory:").__exit__(None, None, None)
    for limit in limits_bytes:
        acknowledge(f"limit {limit}")
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), resource.RLIM_INFINITY))
        work_on(f"{folder}/{limit}/store.db", 10_000)
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def work_on(path: str, large_bytes: int) -> None:
    """Open a store, work on three threads, close it."""
    try:
        with open_store(path) as store:
            acknowledge("opened")
            for number, size_bytes in enumerate((10, large_bytes, 10)):
                with suppress(StopWork):
                    work_on_thread(store, f"work-{number}", piece("total", b"x" * size_bytes))
    except StoreError as error:
        acknowledge(f"! {type(error).__name__}: {error}")
    else:
        acknowledge("closed")


class StopWork(Exception):
    """A write of a thread has failed, so those behind it make no sense."""


def work_on_thread(store: SqliteStore, thread: str, state: Piece) -> None:
    """Make a thread, run an effect, commit, sync; stop at the first failure."""
    claim = step_of_work(f"{thread} created", partial(store.create, new_thread(thread))).claim
    name = key(thread=thread)
    step_of_work(f"{thread} begun", partial(store.begin, claim, name, intent(), seen=None))
    step_of_work(f"{thread} settled", partial(store.settle, claim, name, outcome(), seen=1, sync=Sync.LATER))
    step_of_work(f"{thread} committed", partial(store.commit, claim, commit(1, state)))
    step_of_work(f"{thread} synced", store.flush)
    step_of_work(f"{thread} released", partial(store.release, claim))


def step_of_work(what: str, write: Callable[[], Receipt[T]]) -> T:
    """Make a write and say that it was acknowledged, or why not."""
    try:
        result = write().wait()
    except StoreError as error:
        acknowledge(f"! {what}: {type(error).__name__}: {error}")
        raise StopWork from error
    acknowledge(what)
    return result


def fail_at_once(failure: threading.ExceptHookArgs) -> None:
    """End the process badly when one of its threads does."""
    sys.__excepthook__(failure.exc_type, failure.exc_value or failure.exc_type(), failure.exc_traceback)
    os._exit(70)


COMMANDS: dict[str, Callable[..., None]] = {
    command.__name__: command
    for command in (
        come_and_go,
        count_up,
        hold_lock,
        hold_often,
        look_as_nobody,
        open_as_nobody,
        open_each,
        work,
        work_in_little_room,
        write_as_nobody,
    )
}

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    COMMANDS[sys.argv[1]](*sys.argv[2:])

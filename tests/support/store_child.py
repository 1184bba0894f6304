"""What child processes do with a store: `python store_child.py COMMAND ARGUMENT...`."""

from __future__ import annotations

import os
import resource
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import attrs

from effectgraph.stores import ClaimHeld, Receipt, SqliteStore, StoreError, open_store
from effectgraph.stores.records import Begun, Sync
from store_records import TASK, THREAD, commit, created, intent, key, new_thread, outcome, outside
from store_writer import held_up


def say(text: object) -> None:
    """Tell the parent something at once."""
    print(text, flush=True)


def said_or_failed(ask: Callable[[], object]) -> None:
    """Say what came of something: its result, or the name and text of the store's error."""
    try:
        say(ask())
    except StoreError as error:
        say(f"{type(error).__name__}: {error}")


def hold(path: str) -> None:
    """Claim a new thread, begin an effect outside a runtime, say who we are, and stay until killed."""
    store = open_store(path)
    claim = created(store).claim
    store.begin(outside(store), key(thread="script"), intent(), seen=None).wait()
    say(f"{store.owner} {claim.token}")
    signal.pause()


def hold_and_fork(path: str) -> None:
    """Hold a thread; leave a forked child behind that outlives us."""
    store = open_store(path)
    created(store)
    child = os.fork()
    if not child:
        # The parent's pipes are its own affair: without this its reader would wait for us.
        for descriptor in (0, 1, 2):
            os.close(descriptor)
        signal.pause()
    say(child)
    signal.pause()


def use_after_fork(path: str) -> None:
    """Use a store in a forked child, which then ends like any program; then go on in the parent."""
    store = open_store(path)
    claim = created(store).claim
    with held_up(store):
        waiting = store.flush()
        child = os.fork()
        if not child:
            said_or_failed(lambda: store.read(THREAD).wait())
            said_or_failed(lambda: store.commit(claim, commit(1)).wait())
            said_or_failed(waiting.wait)
            said_or_failed(lambda: store.__exit__(None, None, None))
            with suppress(SystemExit):
                sys.exit(0)
            return
        os.waitpid(child, 0)
    with store:
        store.commit(claim, commit(1)).wait()
        say(store.read(THREAD).wait().step)


def add_up(path: str, rounds: str) -> None:
    """Many times: look at one effect, and take its intent over if nobody did in between; commit a step of our own."""
    with open_store(path) as store:
        say("ready")
        sys.stdin.readline()
        claim = created(store, f"order-{os.getpid()}").claim
        for step in range(1, int(rounds) + 1):
            mine = False
            while not mine:
                found = store.evidence(key(thread="script"), 0).wait()
                seen = None if found is None else found.version
                mine = store.begin(outside(store), key(thread="script"), intent(), seen=seen).wait().mine
            store.commit(claim, commit(step), sync=Sync.NOW).wait()


def claim_in_turn(path: str, rounds: str) -> None:
    """Claim one thread as often as it takes, and do one step of it each time."""
    with open_store(path) as store:
        say("ready")
        sys.stdin.readline()
        done = 0
        while done < int(rounds):
            with suppress(ClaimHeld):
                claimed = store.claim(THREAD).wait()
                _ = store.commit(claimed.claim, commit(claimed.thread.step + 1))
                store.release(claimed.claim).wait()
                done += 1


def mark(name: str) -> None:
    """Leave a line in a trace."""
    with suppress(FileNotFoundError):
        os.close(os.open(f"/{name}", os.O_RDONLY))


def rely(store: SqliteStore) -> None:
    """One of each write that others rely on, each waited for."""
    claim = created(store, "order-2").claim
    store.attempt(claim, TASK).wait()
    store.begin(claim, key(thread="order-2"), intent(), seen=None).wait()
    store.withdraw(claim, key(thread="order-2"), seen=1).wait()
    store.take("order-2", "stuck", at_us=1).wait()
    again = store.claim("order-2").wait().claim
    store.release(again).wait()
    store.delete("order-2").wait()


def write_between_marks(path: str, what: str, count: str) -> None:
    """Write between two marks that a trace shows: opens of the files `begin` and `end`."""
    with open_store(path) as store:
        claim = created(store).claim
        store.flush().wait()
        mark("begin")
        for number in range(int(count)):
            if what == "relied on":
                rely(store)
            elif what == "not synced":
                store.commit(claim, commit(number + 1)).wait()
            else:
                store.begin(claim, key(str(number)), intent(), seen=None).wait()
            if what == "settled":
                _ = store.settle(claim, key(str(number)), outcome(), seen=1, sync=Sync.LATER)
        mark("end")


def mine(receipt: Receipt[Begun]) -> bool:
    """Whether an intent was written."""
    return receipt.wait().mine


def made(store: SqliteStore, thread: str) -> str:
    """The name of a thread that was made."""
    return store.create(new_thread(thread)).wait().claim.thread


def write_a_large_one(path: str, limit_bytes: str) -> None:
    """Write a small, a large and a small intent together where no file may grow by more than a limit; then go on."""
    with open_store(path) as store:
        claim = outside(store)
        created(store)
        most = os.stat(f"{path}-wal").st_size + int(limit_bytes)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))
        large = attrs.evolve(intent(), request=b"x" * 2 * int(limit_bytes))
        with held_up(store):
            written = [
                store.begin(claim, key("first", "script"), intent(), seen=None),
                store.begin(claim, key("large", "script"), large, seen=None),
                store.begin(claim, key("last", "script"), intent(), seen=None),
            ]
        for receipt in written:
            said_or_failed(partial(mine, receipt))
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        said_or_failed(partial(mine, store.begin(claim, key("large", "script"), large, seen=None)))


def write_to_a_bad_disk(path: str) -> None:
    """Write until the disk fails, as a tracer makes it, and go on after that."""
    store = SqliteStore(path)
    for number in range(3):
        said_or_failed(partial(made, store, f"order-{number}"))
    said_or_failed(lambda: store.__exit__(None, None, None))


COMMANDS: dict[str, Callable[..., None]] = {
    command.__name__: command
    for command in (
        add_up,
        claim_in_turn,
        hold,
        hold_and_fork,
        use_after_fork,
        write_a_large_one,
        write_between_marks,
        write_to_a_bad_disk,
    )
}

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    COMMANDS[sys.argv[1]](*sys.argv[2:])

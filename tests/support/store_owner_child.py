"""What child processes do that own claims, and how they end: see `store_processes.run`."""

from __future__ import annotations

import atexit
import ctypes
import json
import multiprocessing
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.synchronize import Barrier, Event
from pathlib import Path
from typing import Final

import sqlite_utils

from effectgraph.stores import ClaimHeld, SqliteStore, StoreError, open_store
from effectgraph.stores.records import Claim, OwnerId, Sync
from effectgraph.stores.sqlite.turns import Turns
from store_records import THREAD, closing, commit, created, failure, intent, key, outcome
from store_writer import held_up

KEPT: Final[list[SqliteStore]] = []
"""Stores that are open when the interpreter ends."""

PROGRAMS: Final[list[subprocess.Popen[bytes]]] = []
"""Programs that were started, and are not waited for."""

CONTEXTS: Final = {
    "fork": multiprocessing.get_context("fork"),
    "spawn": multiprocessing.get_context("spawn"),
    "forkserver": multiprocessing.get_context("forkserver"),
}

LINGER: Final = [sys.executable, "-c", "import signal; signal.pause()"]


def say(text: object) -> None:
    """Tell the parent something at once."""
    print(text, flush=True)


def told() -> str:
    """What the parent says next."""
    return sys.stdin.readline().rstrip("\n")


def barrier(number: int, *, when_told: bool = False) -> Barrier:
    """Where forked processes wait for each other, and for the parent's word if they are to."""

    def ask() -> None:
        say("ready")
        told()

    return CONTEXTS["fork"].Barrier(number, ask if when_told else None, 60)


def leave_pipes() -> None:
    """Close what the parent reads: it would wait for us as well."""
    for descriptor in (0, 1, 2):
        os.close(descriptor)


def linger(here: Event | None = None) -> None:
    """Live on without a pipe to anybody, until killed."""
    leave_pipes()
    if here is not None:
        here.set()
    signal.pause()


def open_and_claim(path: str, thread: str = THREAD) -> tuple[SqliteStore, Claim]:
    """A store that stays open, and a new thread that is claimed."""
    store = open_store(path)
    KEPT.append(store)
    return store, created(store, thread).claim


def execute_another() -> None:
    """Become another program under the same process id."""
    os.execv(sys.executable, [sys.executable, "-c", "import sys; print('gone', flush=True); sys.stdin.readline()"])


def abort() -> None:
    """Crash, without leaving a file of it."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.abort()


def close_all() -> None:
    """Close every store."""
    while KEPT:
        KEPT.pop().__exit__(None, None, None)


def close_and_stay() -> None:
    """Close every store and live on."""
    close_all()
    say("gone")
    told()


def forget_and_stay() -> None:
    """Drop every store without closing it and live on; its threads end by themselves."""
    writers = [each for each in threading.enumerate() if each.name == "effectgraph-writer"]
    KEPT.clear()
    for each in writers:
        each.join()
    say("gone")
    told()


ENDS: Final[dict[str, Callable[[], object]]] = {
    "returns": lambda: None,
    "raises": lambda: 1 // 0,
    "sys.exit": lambda: sys.exit(3),
    "os._exit": lambda: os._exit(4),
    "aborts": abort,
    "SIGTERM": lambda: os.kill(os.getpid(), signal.SIGTERM),
    "SIGKILL": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "exec": execute_another,
    "closes": close_and_stay,
    "forgets": forget_and_stay,
}


def end(path: str, way: str) -> None:
    """Hold a thread, say who we are, and end in some way once told."""
    store, claim = open_and_claim(path)
    say(f"{store.owner} {claim.token}")
    del store
    told()
    ENDS[way]()


def by_fork() -> int:
    """A forked child that lives on. It is fully there on return: Python closes what it must not have when it begins."""
    here, is_here = os.pipe()
    child = os.fork()
    if not child:
        os.close(is_here)
        linger()
    os.close(is_here)
    assert os.read(here, 1) == b""
    os.close(here)
    return child


def as_daemon() -> int:
    """A grandchild in a session of its own, whose parent has ended."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.setsid()
        grandchild = os.fork()
        if grandchild:
            os.write(writing, str(grandchild).encode())
            os._exit(0)
        os.close(writing)
        linger()
    os.close(writing)
    os.waitpid(child, 0)
    return int(os.read(reading, 20))


def by_multiprocessing(method: str) -> int:
    """A process of multiprocessing that lives on."""
    context = CONTEXTS[method]
    here = context.Event()
    process = context.Process(target=linger, args=(here,))
    process.start()
    assert here.wait(60)
    assert process.pid is not None
    return process.pid


def by_subprocess(*, handed: tuple[int, ...] = ()) -> int:
    """Another program that lives on; without `handed` it is given every descriptor that can be inherited."""
    nothing = subprocess.DEVNULL
    child = subprocess.Popen(
        LINGER, stdin=nothing, stdout=nothing, stderr=nothing, close_fds=bool(handed), pass_fds=handed
    )
    PROGRAMS.append(child)
    return child.pid


def by_spawn(*, handed: tuple[int, ...] = ()) -> int:
    """Another program that lives on, started without Python's own machinery."""
    closed = [(os.POSIX_SPAWN_CLOSE, each) for each in (0, 1, 2)]
    copied = [(os.POSIX_SPAWN_DUP2, each, 100 + place) for place, each in enumerate(handed)]
    return os.posix_spawn(sys.executable, LINGER, os.environ, file_actions=[*closed, *copied])


def by_c_fork() -> int:
    """A child that was forked behind Python's back and lives on."""
    library = ctypes.PyDLL(None)
    child: int = library.fork()
    if not child:
        for each in (0, 1, 2):
            library.close(each)
        while True:
            library.pause()
    return child


CHILDREN: Final[dict[str, Callable[[], int]]] = {
    "fork": by_fork,
    "daemon": as_daemon,
    "multiprocessing fork": lambda: by_multiprocessing("fork"),
    "multiprocessing spawn": lambda: by_multiprocessing("spawn"),
    "multiprocessing forkserver": lambda: by_multiprocessing("forkserver"),
    "subprocess": by_subprocess,
    "posix_spawn": by_spawn,
}


def leave_a_child(path: str, how: str) -> None:
    """Hold a thread, start a child that lives on, say its process id, and stay until killed."""
    if how == "fork before opening":
        child = by_fork()
        open_and_claim(path)
    else:
        open_and_claim(path)
        child = CHILDREN[how]()
    say(child)
    signal.pause()


def lock_descriptors(path: str, owner: OwnerId) -> tuple[int, ...]:
    """The descriptors of this process that are an owner's lock file."""
    lock = os.stat(f"{path}-owners/{owner}.lock")
    found: list[int] = []
    for descriptor in range(3, 256):
        with suppress(OSError):
            if os.path.samestat(os.fstat(descriptor), lock):
                found.append(descriptor)
    return tuple(found)


def hand_the_lock_on(path: str, how: str) -> None:
    """Hold a thread, and start a child that has the owner's lock open as well; say its process id and the owner."""
    store, _ = open_and_claim(path)
    handed = lock_descriptors(path, store.owner)
    assert handed
    match how:
        case "fork in C":
            child = by_c_fork()
        case "subprocess":
            child = by_subprocess(handed=handed)
        case _:
            child = by_spawn(handed=handed)
    say(f"{child} {store.owner}")
    signal.pause()


def open_in_a_child(path: str, method: str) -> None:
    """Open a store, then open its file in a child of multiprocessing; say what came of it."""
    open_and_claim(path)
    process = CONTEXTS[method].Process(target=open_and_write, args=(path,))
    process.start()
    process.join()
    assert process.exitcode == 0


def open_and_write(path: str) -> None:
    """Open a store, make a thread, say what came of it."""
    try:
        with open_store(path) as store:
            say(created(store, "order-2").claim.thread)
    except StoreError as error:
        say(f"{type(error).__name__}: {error}")


def fork_then_open(path: str) -> None:
    """Open and close a store, fork, then open it in both, at once; say what both of them wrote."""
    open_store(path).__exit__(None, None, None)
    child = os.fork()
    if not child:
        open_and_claim(path, "order-3")
        close_all()
        os._exit(0)
    open_and_write(path)
    os.waitpid(child, 0)


def crash_a_thread(path: str) -> None:
    """Hold a thread of the store in a thread of ours that fails; live on."""
    store = open_store(path)
    KEPT.append(store)
    threading.excepthook = lambda _: None

    def fail() -> None:
        created(store)
        raise ZeroDivisionError

    crashing = threading.Thread(target=fail)
    crashing.start()
    crashing.join()
    say(store.owner)
    told()


def close_at_exit(path: str) -> None:
    """Queue writes that nobody waits for, and close the store when the interpreter ends."""
    store = SqliteStore(path, busy_s=0.1)
    atexit.register(store.__exit__, None, None, None)
    claim = created(store).claim
    say("ready")
    told()
    with held_up(store):
        for step in range(1, 50):
            _ = store.commit(claim, commit(step))


def forked(number: int, work: Callable[[int], None]) -> None:
    """Do something in forked processes, all at once: `work` waits by itself for the others. Fails if one does."""
    children: list[int] = []
    for place in range(number):
        child = os.fork()
        if not child:
            try:
                work(place)
            except BaseException:
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        children.append(child)
    assert [0] * number == [os.waitpid(child, 0)[1] for child in children]


def ask_who_lives(path: str, processes: str, rounds: str, living: str, dead: str) -> None:
    """Ask in many processes at once whether owners live; say how many answers were wrong in each, and of how many."""
    gate = barrier(int(processes), when_told=True)
    done = barrier(int(processes))

    def ask(_: int) -> None:
        with open_store(path) as store:
            gate.wait()
            answers = [
                store.alive(OwnerId(owner)).wait() is lives
                for _ in range(int(rounds))
                for owners, lives in ((living, True), (dead, False))
                for owner in owners.split(",")
            ]
            say(f"{answers.count(False)} {len(answers)}")
            # Nobody closes before all have asked.
            done.wait()

    forked(int(processes), ask)


def own(path: str, number: str) -> None:
    """Be several owners, each with a thread; say who we are, and stay until killed."""
    stores = [open_and_claim(path, f"{os.getpid()}-{each}")[0] for each in range(int(number))]
    say(",".join(store.owner for store in stores))
    signal.pause()


def hold(path: str, *threads: str) -> None:
    """Hold new threads until killed."""
    store = open_store(path)
    KEPT.append(store)
    for thread in threads:
        created(store, thread)
    say(store.owner)
    signal.pause()


def grab(path: str, processes: str, *threads: str) -> None:
    """Try in many processes at once to claim each of some threads; say in each which were had."""
    gate = barrier(int(processes), when_told=True)
    done = barrier(int(processes))

    def claim_all(_: int) -> None:
        with open_store(path) as store:
            gate.wait()
            mine: list[str] = []
            for thread in threads:
                with suppress(ClaimHeld):
                    mine.append(store.claim(thread).wait().claim.thread)
            say(" ".join(mine))
            # Nobody lets go before all have tried.
            done.wait()

    forked(int(processes), claim_all)


def write_when_woken(path: str) -> None:
    """Work on a thread, stop, and once woken try every kind of write; say what came of each."""
    store, claim = open_and_claim(path)
    store.begin(claim, key(), intent(), seen=None).wait()
    say(claim.token)
    os.kill(os.getpid(), signal.SIGSTOP)
    for write in (
        store.begin(claim, key("another"), intent(), seen=None),
        store.settle(claim, key(), outcome(), seen=1, sync=Sync.NOW),
        store.trouble(claim, key(), "timed out", seen=1),
        store.withdraw(claim, key(), seen=1),
        store.attempt(claim, "1.pay"),
        store.fail(claim, "1.pay", failure()),
        store.commit(claim, commit(1)),
        store.close(claim, closing(1)),
        store.release(claim),
    ):
        try:
            say(write.wait())
        except StoreError as error:
            say(type(error).__name__)


def take_part(path: str, processes: str, rounds: str) -> None:
    """Many processes at once read a thread of their own, then commit a step of it, synced, and so on.

    All of them go on until each has done it often enough; says how often each has.
    """
    ready = barrier(int(processes))
    done = CONTEXTS["fork"].Array("l", int(processes))

    def work(place: int) -> None:
        with open_store(path) as store:
            claim = created(store, f"order-{place}").claim
            ready.wait()
            while min(done) < int(rounds):
                step = store.read(claim.thread).wait().step
                store.commit(claim, commit(step + 1), sync=Sync.NOW).wait()
                done[place] = step + 1

    forked(int(processes), work)
    say(" ".join(str(each) for each in done))


def die_in_turn(path: str) -> None:
    """Have a turn at writing, fork a child that lives on, say its process id, and stay until killed."""
    open_store(path).__exit__(None, None, None)
    turns = Turns(Path(f"{path}-owners"), 60)
    turns.begin(sqlite3.connect(path, isolation_level=None))
    say(by_fork())
    signal.pause()


def nursery() -> None:
    """Fork a child for each command that we are told; say its process id, and how it ended."""
    # Every child would import it again, to make its store.
    assert sqlite_utils.Migrations
    while line := told():
        child = os.fork()
        if not child:
            command, *arguments = json.loads(line)
            COMMANDS[command](*arguments)
            # This is the end of a whole interpreter.
            return
        say(child)
        _, status = os.waitpid(child, 0)
        say(f"ended {os.waitstatus_to_exitcode(status)}")


COMMANDS: Final[dict[str, Callable[..., None]]] = {
    command.__name__: command
    for command in (
        ask_who_lives,
        close_at_exit,
        crash_a_thread,
        die_in_turn,
        end,
        fork_then_open,
        grab,
        hand_the_lock_on,
        hold,
        leave_a_child,
        nursery,
        open_in_a_child,
        own,
        take_part,
        write_when_woken,
    )
}

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    COMMANDS[sys.argv[1]](*sys.argv[2:])

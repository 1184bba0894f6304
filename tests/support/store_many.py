"""What many processes do with one store at once: commands of `store_owner_child.py` that fork."""

from __future__ import annotations

import multiprocessing
import os
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from multiprocessing.synchronize import Barrier
from typing import Final

from child_talk import say, told
from effectgraph.stores import ClaimHeld, open_store
from effectgraph.stores.records import OwnerId, Sync
from store_records import THREAD, commit, created, intent, key, outside

FORK: Final = multiprocessing.get_context("fork")


def barrier(number: int, *, when_told: bool = False) -> Barrier:
    """Where forked processes wait for each other, and for the parent's word if they are to."""

    def ask() -> None:
        say("ready")
        told()

    return FORK.Barrier(number, ask if when_told else None, 60)


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


def take_turns(path: str, mark: str, processes: str, rounds: str) -> None:
    """Claim one thread in many processes, do a step of it and let it go, again and again; nobody else has it then."""

    def work(_: int) -> None:
        with open_store(path) as store:
            done = 0
            while done < int(rounds):
                with suppress(ClaimHeld):
                    claimed = store.claim(THREAD).wait()
                    os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
                    store.commit(claimed.claim, commit(claimed.thread.step + 1)).wait()
                    os.unlink(mark)
                    store.release(claimed.claim).wait()
                    done += 1

    forked(int(processes), work)
    say("done")


def take_part(path: str, processes: str, rounds: str) -> None:
    """Many processes at once read a thread of their own, then commit a step of it, synced, and so on.

    All of them go on until each has done it often enough; says how often each has.
    """
    ready = barrier(int(processes))
    done = FORK.Array("l", int(processes))

    def work(place: int) -> None:
        with open_store(path) as store:
            claim = created(store, f"order-{place}").claim
            ready.wait()
            while min(done[:]) < int(rounds):
                step = store.read(claim.thread).wait().step
                store.commit(claim, commit(step + 1), sync=Sync.NOW).wait()
                done[place] = step + 1

    forked(int(processes), work)
    say(" ".join(str(each) for each in done[:]))


def add_up(path: str, processes: str, rounds: str) -> None:
    """Many times: look at one effect, and take its intent over if nobody did in between; commit a step of our own."""
    ready = barrier(int(processes))

    def work(place: int) -> None:
        with open_store(path) as store:
            claim = created(store, f"order-{place}").claim
            ready.wait()
            for step in range(1, int(rounds) + 1):
                mine = False
                while not mine:
                    found = store.evidence(key(thread="script"), 0).wait()
                    seen = None if found is None else found.version
                    mine = store.begin(outside(store), key(thread="script"), intent(), seen=seen).wait().mine
                store.commit(claim, commit(step), sync=Sync.NOW).wait()

    forked(int(processes), work)
    say("done")


def write_until_synced(path: str, processes: str) -> None:
    """Commit without a sync and without a pause in many processes, until in each a write of its own is on disk."""
    ready = barrier(int(processes))
    done = FORK.Array("b", int(processes))

    def work(place: int) -> None:
        with open_store(path) as store:
            claim = created(store, f"order-{place}").claim
            store.flush().wait()
            ready.wait()
            synced = threading.Event()
            step = 1
            store.commit(claim, commit(step)).when_synced(synced.set)
            while not synced.is_set():
                step += 1
                store.commit(claim, commit(step)).wait()
            done[place] = 1
            # All go on for as long as one of them needs it.
            while not all(done[:]):
                step += 1
                store.commit(claim, commit(step)).wait()

    forked(int(processes), work)
    say("done")


def sync_all(path: str, processes: str, rounds: str) -> None:
    """Commit in many processes that sync everything: what hangs on a sync is done once a write is acknowledged."""
    ready = barrier(int(processes))

    def work(place: int) -> None:
        with open_store(path, sync="all") as store:
            claim = created(store, f"order-{place}").claim
            ready.wait()
            for step in range(1, int(rounds) + 1):
                called: list[int] = []
                receipt = store.commit(claim, commit(step))
                receipt.wait()
                receipt.when_synced(partial(called.append, step))
                assert called == [step]
            assert store.counts.synced_transactions == store.counts.transactions

    forked(int(processes), work)
    say("done")

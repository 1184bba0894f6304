"""Claims of many processes, and what threads leave in the file. What a claim may do is in `test_contract.py`."""

from __future__ import annotations

import os
import signal
import sqlite3
from pathlib import Path

import pytest

from effectgraph.stores import ClaimHeld, SqliteStore
from effectgraph.stores.testing.remarks import remark
from more_rounds import TIMES
from store_nursery import Nursery, opened
from store_processes import OWNERS, finish, said, start
from store_records import THREAD, begun, commit, created, key, piece, question, settled


def rows(path: Path) -> dict[str, int]:
    """How many rows each table of a store file has, of those that have any; the owners' table aside."""
    connection = sqlite3.connect(path)
    tables = [
        str(name)
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        if not str(name).startswith(("_", "sqlite_", "owners"))
    ]
    counts = {name: int(connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0]) for name in tables}
    connection.close()
    return {name: count for name, count in counts.items() if count}


def test_a_deleted_thread_leaves_no_row(path: Path) -> None:
    """Nothing of a deleted thread stays in the file."""

    with SqliteStore(path) as store:
        claim = created(store).claim
        settled(store, claim)
        store.commit(claim, commit(1, piece(), piece("notes", b"1", appended=True))).wait()
        begun(store, claim, key("second", task="2.pay"))
        store.ask(claim, "2.pay", (question(),)).wait()
        store.remark(remark(claim)).wait()
        store.take(THREAD, "stuck", at_us=1).wait()
        store.delete(THREAD, drop_unresolved=True).wait()

    assert {"store": 1} == rows(path)


def test_L02_one_of_eight_gets_what_a_dead_owner_had(nursery: Nursery, path: Path) -> None:
    """When the owner of many threads is killed, and eight processes claim all of them at once, each has one owner."""

    threads = [f"order-{number:02}" for number in range(25)]
    with opened() as another:
        another.start("hold", path, *threads)
        another.said()
        nursery.start("grab", path, 8, *threads)
        assert nursery.said() == "ready"
        another.kill()
        nursery.tell("go")
        got = [nursery.said().split() for _ in range(8)]

    assert threads == sorted(thread for mine in got for thread in mine)
    assert nursery.ended() == 0


def test_L02_never_two_hold_one_thread(nursery: Nursery, path: Path, tmp_path: Path) -> None:
    """Three processes claim and release one thread again and again: while one has it no other one does."""

    with SqliteStore(path) as store:
        store.release(created(store).claim).wait()
        assert nursery.run("take_turns", path, tmp_path / "mark", 3, 30 * TIMES) == "done"

        assert store.read(THREAD).wait().step == 90 * TIMES


def test_E20_E21_who_wakes_is_refused_everywhere(path: Path) -> None:
    """A process that was stopped while it ran a thread, and is woken after another took it, changes nothing."""

    child = start("write_when_woken", path, child=OWNERS)
    token = int(said(child))
    os.waitpid(child.pid, os.WUNTRACED)
    with SqliteStore(path) as store:
        with pytest.raises(ClaimHeld):
            store.claim(THREAD).wait()
        assert store.take(THREAD, "stopped", at_us=1).wait() > token
        mine = store.claim(THREAD).wait()
        before = store.read(THREAD).wait(), store.evidence(key(), mine.claim.incarnation).wait()

        os.kill(child.pid, signal.SIGCONT)
        answers = finish(child).split()

        assert ["ClaimLost"] * 10 == answers
        assert before == (store.read(THREAD).wait(), store.evidence(key(), mine.claim.incarnation).wait())
        store.commit(mine.claim, commit(1)).wait()


def test_tokens_grow_as_long_as_the_file_lives(nursery: Nursery, path: Path) -> None:
    """Every token is greater than all before it: over takes, deletions, reopenings and the deaths of owners."""

    tokens: list[int] = []
    for _ in range(3):
        with SqliteStore(path) as store:
            first = created(store).claim
            tokens += [first.token, store.take(THREAD, "stuck", at_us=1).wait(), store.claim(THREAD).wait().claim.token]
        with SqliteStore(path) as store:
            # Closing the store before has let go of it.
            tokens.append(store.claim(THREAD).wait().claim.token)
        nursery.start("claim_and_die", path)
        tokens.append(int(nursery.said()))
        assert nursery.ended() == -signal.SIGKILL
        with SqliteStore(path) as store:
            store.delete(THREAD).wait()

    assert sorted(set(tokens)) == tokens

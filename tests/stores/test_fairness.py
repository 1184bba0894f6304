"""Many who write to one file: each has his turn, and all of them wait only for each other."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from effectgraph.stores import SqliteStore, StoreBusy
from effectgraph.stores.records import Sync
from effectgraph.stores.sqlite.turns import TURN_S, Turns
from more_rounds import TIMES
from store_nursery import Nursery
from store_records import THREAD, commit, created, new_thread
from store_writer import PATIENCE_S, held_up, locked

PROCESSES = 20
ROUNDS = 50 * TIMES


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """The two files of a line: the door, where all others wait, and the turn."""
    door, turn = tmp_path / "door", tmp_path / "turn"
    door.touch()
    turn.touch()
    return door, turn


def log_of(path: Path) -> Path:
    """The file of a store that the locks of turns are on."""
    return Path(f"{path}-wal")


def note_commits(path: Path) -> None:
    """Have a store's file note the order of all commits from now on."""
    SqliteStore(path).__exit__(None, None, None)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("CREATE TABLE noted (place INTEGER PRIMARY KEY, thread INTEGER NOT NULL)")
        connection.execute(
            "CREATE TRIGGER note AFTER INSERT ON history BEGIN INSERT INTO noted (thread) VALUES (NEW.thread); END"
        )


def order_of_commits(path: Path) -> list[int]:
    """Whose commit each was, from the first to the last one."""
    with closing(sqlite3.connect(path)) as connection:
        return [thread for (thread,) in connection.execute("SELECT thread FROM noted ORDER BY place")]


@contextmanager
def turn_of_another(turn: Path) -> Generator[None]:
    """Somebody has a turn, and does nothing with it."""
    descriptor = os.open(turn, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(descriptor)


def doormen() -> int:
    """How many threads wait for turns in this process, or have waited."""
    return sum(thread.name == "effectgraph-doorman" for thread in threading.enumerate())


def shares(order: list[int]) -> Counter[int]:
    """How many commits each thread has had since all of them have had one."""
    return Counter(order[max(order.index(thread) for thread in set(order)) :])


def test_S01_twenty_processes_have_their_share(nursery: Nursery, tmp_path: Path) -> None:
    """Twenty processes read, then commit, until each has done it 50 times: all is there, and nobody is left behind.

    While the fastest makes 100 commits, the slowest makes at least 50; and nobody ever finds a lock. Other programs can
    keep a process from running, which is none of our affair, so one of eight times will do for that.
    """

    found: list[Counter[int]] = []
    for place in range(8):
        path = tmp_path / f"{place}.db"
        note_commits(path)

        done = [int(each) for each in nursery.run("take_part", path, PROCESSES, ROUNDS).split()]

        assert min(done) >= ROUNDS
        with SqliteStore(path) as store:
            for number, last in enumerate(done):
                entries = store.history(f"order-{number}").wait()
                assert list(range(1, last + 1)) == [entry.step for entry in entries]
        found.append(shares(order_of_commits(path)))
        if 2 * min(found[-1].values()) >= max(found[-1].values()):
            return
    raise AssertionError(found)


def test_who_writes_alone_waits_for_nobody(path: Path) -> None:
    """One writer has every turn at once: nobody else is asked, no thread is made for it."""

    before = doormen()
    with SqliteStore(path) as store:
        claim = created(store).claim
        for step in range(1, 20):
            store.commit(claim, commit(step), sync=Sync.NOW).wait()

        assert doormen() <= before


def test_who_waits_has_the_next_turn(files: tuple[Path, Path]) -> None:
    """Whoever waits for a turn has it as soon as it is over; meanwhile nobody else has it."""

    one, two = (Turns((str(files[0]), str(files[1])), 60) for _ in range(2))
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        begun, go_on = threading.Event(), threading.Event()

        def wait_for_turn() -> None:
            with closing(sqlite3.connect(":memory:", isolation_level=None)) as other:
                two.begin(other)
                begun.set()
                assert go_on.wait(PATIENCE_S)
                two.end()

        one.begin(connection)
        waiting = threading.Thread(target=wait_for_turn)
        waiting.start()
        # He stands at the door as long as he waits, and all others behind it.
        while is_free(files[0]):
            time.sleep(0.001)
        assert not begun.is_set()

        one.end()

        assert begun.wait(PATIENCE_S)
        assert not is_free(files[1])
        assert is_free(files[0])
        go_on.set()
        waiting.join()
        assert is_free(files[1])
    one.close()
    two.close()


def is_free(turn: Path) -> bool:
    """Whether nobody has a turn now."""
    descriptor = os.open(turn, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True


def becomes_free(turn: Path) -> bool:
    """Whether the turn that somebody has is given back before long."""
    descriptor = os.open(turn, os.O_RDONLY)
    waiting = threading.Thread(target=lambda: fcntl.flock(descriptor, fcntl.LOCK_EX), daemon=True)
    waiting.start()
    waiting.join(PATIENCE_S)
    os.close(descriptor)
    return not waiting.is_alive()


def test_without_a_turn_a_write_is_made_all_the_same(path: Path) -> None:
    """Turns decide nothing: who cannot have one writes without, and one that comes too late is given back at once."""

    with SqliteStore(path, busy_s=0.1) as store:
        claim = created(store).claim
        with turn_of_another(log_of(path)):
            for step in range(1, 4):
                store.commit(claim, commit(step), sync=Sync.NOW).wait()
        assert becomes_free(log_of(path))

        store.commit(claim, commit(4), sync=Sync.NOW).wait()

        assert store.read(THREAD).wait().step == 4
        assert is_free(log_of(path))


def test_a_turn_that_does_not_come_is_waited_for_once(
    files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """While somebody keeps a turn for ever, only the first write waits for it."""

    turns = Turns((str(files[0]), str(files[1])), 600)
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection, turn_of_another(files[1]):
        for patience_s in (0.05, 600, 600):
            monkeypatch.setattr("effectgraph.stores.sqlite.turns.TURN_S", patience_s)
            turns.begin(connection)
            turns.end()
            connection.execute("COMMIT")
    turns.close()


def test_a_busy_file_is_given_up_in_time(path: Path) -> None:
    """Neither a turn that does not come nor SQLite's lock is waited for longer than the store waits in all."""

    with SqliteStore(path, busy_s=0.1) as store:
        claim = created(store).claim
        with turn_of_another(log_of(path)), locked(path):
            receipt = store.commit(claim, commit(1))
            with pytest.raises(StoreBusy) as refused:
                receipt.wait()

    assert 0.1 <= refused.value.waited_s < 0.1 + TURN_S


@pytest.mark.parametrize("while_in_line", [False, True])
def test_closing_leaves_the_line(path: Path, while_in_line: bool) -> None:
    """A store that is closed does not wait for a turn, and does not keep one that comes later."""

    # While somebody has the file open its log stays.
    with SqliteStore(path) as other:
        store = SqliteStore(path, busy_s=0.1)
        claim = created(store).claim
        with turn_of_another(log_of(path)):
            if while_in_line:
                store.commit(claim, commit(1)).wait()
            store.__exit__(None, None, None)

        assert becomes_free(Path(f"{path}-owners"))
        assert becomes_free(log_of(path))
        created(other, "order-2")


def test_a_turn_ends_with_its_process(nursery: Nursery, path: Path) -> None:
    """A process that is killed in its turn leaves it to the next one, although a child that it forked lives on."""

    nursery.start("die_in_turn", path)
    child = int(nursery.said())
    try:
        assert not is_free(log_of(path))

        nursery.kill()

        assert is_free(log_of(path))
    finally:
        os.kill(child, 9)


def test_a_group_is_one_turn(path: Path) -> None:
    """Whatever waits together is written in one turn, which is over before anybody hears of it."""

    free: list[bool] = []
    with SqliteStore(path) as store:
        with held_up(store):
            receipts = [store.create(new_thread(f"order-{number}")) for number in range(10)]
            receipts[0].when_synced(lambda: free.append(is_free(log_of(path))))
        for receipt in receipts:
            receipt.wait()

    assert free == [True]

"""Reading a store beside others, after others, and without the right to write: nothing is passed over or touched."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from effectgraph.stores import SqliteStore, StoreBusy, StoreUnusable, open_store
from effectgraph.stores.sqlite.read_only import ReadOnlyFile
from store_files import contents, found_in
from store_looks import look, make
from store_processes import FAULTS, finish, kill, run, said, start, start_together
from store_records import THREAD, commit, piece
from store_writer import held_up, locked


def for_all_to_read(folder: Path) -> None:
    """Let everybody read what lies in a folder, and nobody write it."""
    for each in sorted(folder.rglob("*"), reverse=True):
        each.chmod(0o555 if each.is_dir() else 0o444)
    folder.chmod(0o555)


def test_a_store_is_read_while_a_writer_is_at_work(path: Path) -> None:
    """Beside a writer each reading shows what was written before it, holds nobody up, and leaves nothing behind."""

    make(path)
    with SqliteStore(path, read_only=True) as onlooker:
        assert onlooker.runnable("shop").wait() == (THREAD,)
        with SqliteStore(path) as writer:
            claim = writer.claim(THREAD).wait().claim
            assert onlooker.runnable("shop").wait() == ()
            assert onlooker.alive(writer.owner).wait()
            with locked(path):
                assert onlooker.read(THREAD).wait().step == 1
            writer.commit(claim, commit(2)).wait()
            assert onlooker.read(THREAD).wait().step == 2
            assert look(onlooker) == look(writer)
        assert onlooker.read(THREAD).wait().step == 2
        assert onlooker.runnable("shop").wait() == (THREAD,)
        assert not onlooker.alive(writer.owner).wait()

    assert {"store.db"} == set(contents(path.parent))


def test_what_is_read_belongs_together_while_others_come_and_go(path: Path) -> None:
    """While another process opens the store, writes and closes it again and again, each reading is of one moment."""

    make(path)
    (child,) = start_together(1, "count_up", path, 12, 25, child=FAULTS)
    seen: list[int] = []
    with SqliteStore(path, read_only=True) as onlooker:
        while child.poll() is None:
            view = onlooker.read(THREAD).wait()
            (total,) = view.pieces[-1:]
            assert (str(view.step).encode() if view.step > 1 else b"2") == total.value
            assert [task.step for task in view.tasks] == [view.step + 1]
            seen.append(view.step)
        seen.append(onlooker.read(THREAD).wait().step)
    finish(child)

    assert seen == sorted(seen)
    assert seen[-1] == 1 + 12 * 25
    assert len(set(seen)) > 12
    # Who closes while it is read leaves the log to the next one.
    SqliteStore(path).__exit__(None, None, None)
    assert {"store.db"} == set(contents(path.parent))


def test_a_store_can_be_opened_for_both_in_one_process(path: Path) -> None:
    """Who looks does not disturb who writes in the same process, in whatever order they come and go."""

    make(path)
    with SqliteStore(path, read_only=True) as onlooker:
        for step in range(2, 6):
            with SqliteStore(path) as writer:
                claim = writer.claim(THREAD).wait().claim
                with held_up(writer):
                    waiting = writer.commit(claim, commit(step))
                    assert onlooker.read(THREAD).wait().step == step - 1
                waiting.wait()
                assert onlooker.read(THREAD).wait().step == step
                # Closing a second descriptor of a file would drop the locks that keep others out.
                with (
                    closing(sqlite3.connect(path, isolation_level=None, timeout=0.0)) as stranger,
                    pytest.raises(sqlite3.OperationalError, match="locked"),
                ):
                    stranger.execute("PRAGMA journal_mode = DELETE")
            assert onlooker.read(THREAD).wait().step == step


@pytest.mark.parametrize("fails", [False, True])
def test_a_reading_between_which_somebody_wrote_is_made_again(path: Path, fails: bool) -> None:
    """What was read of a closed store while somebody opened it and wrote does not count, not even an error."""

    make(path)
    seen: list[list[object]] = []

    def steps(connection: sqlite3.Connection) -> list[object]:
        return connection.execute(
            "SELECT step FROM threads WHERE id = ? UNION ALL SELECT max(step) FROM fields", (THREAD,)
        ).fetchall()

    def perform(connection: sqlite3.Connection) -> None:
        seen.append(steps(connection))
        if len(seen) == 1:
            with SqliteStore(path) as writer:
                writer.commit(writer.claim(THREAD).wait().claim, commit(2, piece("total", b"3"))).wait()
            if fails:
                raise sqlite3.DatabaseError("database disk image is malformed")

    ReadOnlyFile(path, 1.0).read(perform)

    assert seen == [[(1,), (1,)], [(2,), (2,)]]


def test_a_file_that_stays_locked_is_given_up_in_time(path: Path) -> None:
    """A file that another program holds for itself alone is waited for, and the error says how long."""

    make(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("PRAGMA journal_mode = DELETE")
        other.execute("BEGIN EXCLUSIVE")
        other.execute("CREATE TABLE notes (text TEXT)")

        with pytest.raises(StoreBusy) as refused:
            SqliteStore(path, read_only=True, busy_s=0.05)

    assert refused.value.waited_s >= 0.05


def test_who_may_only_read_reads_a_closed_store(open_folder: Path) -> None:
    """A user who may write neither the file nor its folder reads a closed store, and makes nothing."""

    path = open_folder / "store.db"
    make(path)
    for_all_to_read(open_folder)
    before = found_in(open_folder)

    answer = run("look_as_nobody", path, child=FAULTS).splitlines()

    assert ["1", "1", "True", f"('{THREAD}',)"] == answer
    assert before == found_in(open_folder)


def test_who_may_only_read_reads_beside_a_writer(open_folder: Path) -> None:
    """A user who may write nothing reads what a writer has just written, also what is in the log alone."""

    path = open_folder / "store.db"
    make(path)
    with SqliteStore(path) as store:
        claim = store.claim(THREAD).wait().claim
        for_all_to_read(open_folder)
        store.commit(claim, commit(2)).wait()

        answer = run("look_as_nobody", path, child=FAULTS).splitlines()

        assert ["2", "2", "True", "()"] == answer


def test_who_may_only_read_reads_what_a_killed_one_left(open_folder: Path) -> None:
    """What a killed process had written is read from its log, by a user who may write nothing; nothing is touched."""

    path = open_folder / "store.db"
    kill_after_writing(path)
    for_all_to_read(open_folder)
    before = found_in(open_folder)

    answer = run("look_as_nobody", path, child=FAULTS).splitlines()

    assert ["0", "0", "True", f"('{THREAD}',)"] == answer
    assert before == found_in(open_folder)


def kill_after_writing(path: Path) -> None:
    """A store as a killed process left it: with a thread and an effect that are in its log alone."""
    SqliteStore(path).__exit__(None, None, None)
    child = start("hold", path)
    said(child)
    kill(child)


def test_a_log_that_cannot_be_read_is_not_passed_over(open_folder: Path) -> None:
    """A log without its index, as a copy can be, is refused, not left out; opening once for writing takes it in."""

    path = open_folder / "store.db"
    kill_after_writing(path)
    Path(f"{path}-shm").unlink()
    before = found_in(open_folder)

    with pytest.raises(StoreUnusable, match=r"a log lies beside it.*open it once for writing"):
        open_store(path, read_only=True)

    assert before == found_in(open_folder)
    SqliteStore(path).__exit__(None, None, None)
    with open_store(path, read_only=True) as store:
        assert store.runnable("shop").wait() == (THREAD,)


def test_a_change_that_was_cut_off_is_not_passed_over(path: Path, tmp_path: Path) -> None:
    """A file with half of a change in it, as a crash of another program leaves it, is refused, not read as it is."""

    original = tmp_path / "original.db"
    make(original)
    with closing(sqlite3.connect(original, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("PRAGMA cache_size = 2")
        connection.execute("BEGIN")
        connection.execute("CREATE TABLE large (content BLOB)")
        connection.execute("INSERT INTO large VALUES (zeroblob(1000000))")
        connection.execute("UPDATE store SET syncs = 77")
        for end in ("", "-journal"):
            shutil.copy(f"{original}{end}", f"{path}{end}")
        connection.execute("ROLLBACK")
    before = contents(path.parent)

    with pytest.raises(StoreUnusable, match=r"a log lies beside it.*open it once for writing"):
        open_store(path, read_only=True)

    assert before == contents(path.parent)
    SqliteStore(path).__exit__(None, None, None)
    with open_store(path, read_only=True) as store:
        assert store.read(THREAD).wait().step == 1


def test_what_cannot_be_known_of_owners_is_not_guessed(open_folder: Path) -> None:
    """A user who may not see the owners' locks reads the rest, and is told that nobody knows who is alive."""

    path = open_folder / "store.db"
    kill_after_writing(path)
    for_all_to_read(open_folder)
    open_folder.joinpath("store.db-owners").chmod(0o000)

    step, history, evidence, runnable = run("look_as_nobody", path, child=FAULTS).splitlines()

    assert ("0", "0", "True") == (step, history, evidence)
    assert runnable.startswith("StoreUnusable: ")
    assert "cannot be seen" in runnable

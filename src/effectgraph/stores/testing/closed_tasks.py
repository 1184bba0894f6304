"""Tasks that are not open: nothing is written for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

import attrs

from effectgraph.stores.errors import TaskClosed
from effectgraph.stores.protocol import Store
from effectgraph.stores.receipt import Receipt
from effectgraph.stores.records import Claim, Sync
from effectgraph.stores.testing.expect import equal, true
from effectgraph.stores.testing.place import Checks, on_store
from effectgraph.stores.testing.samples import (
    TASK,
    THREAD,
    begun,
    commit,
    created,
    failure,
    intent,
    key,
    outcome,
    question,
    task_commit,
    two_tasks,
)
from effectgraph.stores.testing.seen import changes_nothing, found
from effectgraph.stores.testing.steps import again

Write = Callable[[Store, Claim], Receipt[object]]

OF_AN_OPEN_TASK: Final[Mapping[str, Write]] = {
    "commit": lambda store, claim: store.commit(claim, task_commit(1, "pay")),
    "commit with its step": lambda store, claim: store.commit(claim, commit(1)),
    "ask": lambda store, claim: store.ask(claim, TASK, (question("q-2"),)),
    "begin": lambda store, claim: store.begin(claim, key("new"), intent(), seen=None),
    "begin again": lambda store, claim: store.begin(claim, key(), intent(), seen=1),
    "begin again what has ended": lambda store, claim: store.begin(claim, key(), intent(), seen=2),
    "settle": lambda store, claim: store.settle(claim, key(), outcome(), seen=1, sync=Sync.NOW),
    "settle what has ended": lambda store, claim: store.settle(claim, key(), outcome(), seen=2, sync=Sync.NOW),
    "withdraw": lambda store, claim: store.withdraw(claim, key(), seen=1),
    "withdraw what has ended": lambda store, claim: store.withdraw(claim, key(), seen=2),
    "trouble": lambda store, claim: store.trouble(claim, key(), "late", seen=1),
    "trouble with what has ended": lambda store, claim: store.trouble(claim, key(), "late", seen=2),
    "uncertain": lambda store, claim: store.uncertain(claim, key(), seen=1),
    "uncertain about what has ended": lambda store, claim: store.uncertain(claim, key(), seen=2),
}
"""Writes that only an open task takes. `charge` of `TASK` is an intent at version 1, at 2 once its task has ended."""


class ClosedTaskChecks(Checks):
    """Nothing is written for a task that is not open."""

    @on_store
    def test_a_task_commits_once(self, store: Store) -> None:
        """Nothing is written for a task that has committed (`TaskClosed`): it has happened, once."""
        claim = two_tasks(store)
        begun(store, claim)
        store.commit(claim, task_commit(1, "pay")).wait()
        equal(2, found(store, key(), claim.incarnation).version, "the version of an effect once its task has ended")
        writes: Mapping[str, Write] = {**OF_AN_OPEN_TASK, "attempt": lambda store, claim: store.attempt(claim, TASK)}
        for what, write in writes.items():
            error = changes_nothing(store, TaskClosed, partial(write, store, claim), f"{what} after the commit")
            equal(THREAD, error.thread, f"the thread that the error of {what} names")
            claim = again(store)

    @on_store
    def test_a_failed_task_takes_nothing(self, store: Store) -> None:
        """Nothing is written for a task that has failed (`TaskClosed`), until it is tried again."""
        claim = two_tasks(store)
        begun(store, claim)
        store.fail(claim, TASK, failure()).wait()
        more: Mapping[str, Write] = {"fail": lambda store, claim: store.fail(claim, TASK, failure("again"))}
        for what, write in {**OF_AN_OPEN_TASK, **more}.items():
            changes_nothing(store, TaskClosed, partial(write, store, claim), f"{what} after the failure")
            claim = again(store)

        store.attempt(claim, TASK).wait()
        true(store.begin(claim, key(), intent(), seen=1).wait().mine, "the task goes on once it is tried again")

    @on_store
    def test_a_task_that_was_never_scheduled_takes_nothing(self, store: Store) -> None:
        """Nothing is written for a task that the thread has not got (`TaskClosed` names it)."""
        claim = created(store).claim
        writes: Mapping[str, Write] = {
            "commit": lambda store, claim: store.commit(claim, task_commit(1, "unheard")),
            "commit with its step": lambda store, claim: store.commit(claim, attrs.evolve(commit(1), task="1.unheard")),
            "attempt": lambda store, claim: store.attempt(claim, "1.unheard"),
            "fail": lambda store, claim: store.fail(claim, "1.unheard", failure()),
            "ask": lambda store, claim: store.ask(claim, "1.unheard", (question(),)),
            "begin": lambda store, claim: store.begin(claim, key(task="1.unheard"), intent(), seen=None),
            "begin over nothing": lambda store, claim: store.begin(claim, key(task="1.unheard"), intent(), seen=1),
            "settle": lambda store, claim: store.settle(
                claim, key(task="1.unheard"), outcome(), seen=1, sync=Sync.LATER
            ),
            "withdraw": lambda store, claim: store.withdraw(claim, key(task="1.unheard"), seen=1),
            "trouble": lambda store, claim: store.trouble(claim, key(task="1.unheard"), "late", seen=1),
            "uncertain": lambda store, claim: store.uncertain(claim, key(task="1.unheard"), seen=1),
        }
        for what, write in writes.items():
            error = changes_nothing(store, TaskClosed, partial(write, store, claim), f"{what} of no task")
            equal("1.unheard", error.task, f"the task that the error of {what} names")
            claim = again(store)

    @on_store
    def test_a_task_of_an_earlier_step_takes_nothing(self, store: Store) -> None:
        """Once a step has closed its tasks are gone: none of them is tried, failed or committed again."""
        claim = created(store).claim
        store.commit(claim, commit(1)).wait()
        writes: Mapping[str, Write] = {
            "commit": lambda store, claim: store.commit(claim, task_commit(1, "pay")),
            "attempt": lambda store, claim: store.attempt(claim, TASK),
            "fail": lambda store, claim: store.fail(claim, TASK, failure()),
            "ask": lambda store, claim: store.ask(claim, TASK, (question(),)),
            "begin": lambda store, claim: store.begin(claim, key(), intent(), seen=None),
        }
        for what, write in writes.items():
            changes_nothing(store, TaskClosed, partial(write, store, claim), f"{what} after its step")
            claim = again(store)

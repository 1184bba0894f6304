"""Owners that have closed their store, or have died; and everything still there."""

from __future__ import annotations

from effectgraph.stores.errors import ClaimLost, QuestionClosed
from effectgraph.stores.protocol import Store
from effectgraph.stores.records import Claim, OwnerId, QuestionId, Ruling, Sync
from effectgraph.stores.testing.expect import equal, refused, true
from effectgraph.stores.testing.pages import by_page
from effectgraph.stores.testing.place import Checks, Needs, Place, all_fits, closed, on_place, opened
from effectgraph.stores.testing.remarks import remark
from effectgraph.stores.testing.samples import (
    TASK,
    THREAD,
    answer,
    begun,
    commit,
    created,
    decision,
    failure,
    fork,
    intent,
    key,
    new_thread,
    outcome,
    outside,
    piece,
    question,
    settled,
    task_commit,
)
from effectgraph.stores.testing.seen import everything, found


def hold(store: Store) -> None:
    """What an owner does before he dies: runs a thread, is at work on an effect in it, and on one outside a runtime."""
    claim = created(store).claim
    begun(store, claim)
    settled(store, claim, key("other"))
    begun(store, outside(store))


class GoneOwnerChecks(Checks):
    """Owners that have closed their store, or have died."""

    @on_place(Needs.SEVERAL)
    def test_everything_is_there_when_it_is_opened_again(self, place: Place) -> None:
        """What was written is read again, all of it, by who opens the data when all have closed it."""
        with opened(place) as store:
            self_made = created(store).claim
            store.commit(self_made, commit(1, piece("notes", b"a", appended=True))).wait()
            settled(store, self_made, key("charge", task="2.pay"))
            begun(store, self_made, key("other", task="2.pay"))
            store.trouble(self_made, key("other", task="2.pay"), "timed out", seen=1).wait()
            store.ask(self_made, "2.pay", (question("q-1", expires_us=5), question("q-2"))).wait()
            store.answer(QuestionId("q-2"), answer()).wait()
            store.fork(fork(self_made, 0)).wait()
            seen = found(store, key("other", task="2.pay"), self_made.incarnation)
            store.decide(decision(seen, Ruling.RETRY)).wait()
            failed = created(store, "order-3").claim
            settled(store, failed)
            store.fail(failed, TASK, failure()).wait()
            store.remark(remark(failed)).wait()
            committed = created(store, "order-4").claim
            begun(store, committed)
            store.commit(committed, task_commit(1, "pay")).wait()
            for claim in (self_made, failed, committed):
                store.release(claim).wait()
            settled(store, outside(store, THREAD))
            threads = (THREAD, "order-2", "order-3", "order-4")
            before = everything(store, *threads)
            remarks = store.remarks(key(thread="order-3"), failed.incarnation).wait()
            namespace = store.namespace

        with opened(place) as store:
            equal(before, everything(store, *threads), "what can be read when it is opened again")
            equal(remarks, store.remarks(key(thread="order-3"), failed.incarnation).wait(), "the remarks")
            equal(1, len(remarks), "the number of remarks")
            equal((namespace, 0), (store.namespace, len(store.at_work)), "namespace, and how much is at work")
            all_fits(store)

    @on_place(Needs.SEVERAL)
    def test_counts_go_on_when_it_is_opened_again(self, place: Place) -> None:
        """Tokens, incarnations, versions and numbers of decisions are greater than all before, over closings."""
        tokens: list[int] = []
        incarnations: list[int] = []
        versions: list[int] = []
        numbers: list[int] = []
        for round_number in range(3):
            with opened(place) as store:
                claim = created(store).claim
                tokens += [claim.token, store.take(THREAD, "to be deleted", at_us=1).wait()]
                incarnations.append(claim.incarnation)
                store.delete(THREAD).wait()
                script = outside(store)
                name = key(thread="script")
                versions.append(store.begin(script, name, intent(), seen=None).wait().evidence.version)
                store.withdraw(script, name, seen=versions[-1]).wait()
                other = key("other", "script")
                version = store.begin(script, other, intent(), seen=None).wait().evidence.version
                store.trouble(script, other, "late", seen=version).wait()
                ruled = decision(found(store, other, 0), Ruling.ABANDON, f"d-{round_number}")
                store.decide(ruled).wait()
                store.drop(script, other).wait()
                numbers.append(store.decisions().wait()[-1].number)
        for what, given in {
            "tokens": tokens,
            "incarnations": incarnations,
            "versions of a withdrawn key": versions,
            "numbers of decisions": numbers,
        }.items():
            equal(sorted(set(given)), given, f"{what} in the order in which they were given")

    @on_place(Needs.SEVERAL)
    def test_a_closed_owner_is_gone_at_once(self, place: Place) -> None:
        """Once a store is closed its owner is not alive: its threads can be claimed, its effects are unresolved."""
        with opened(place) as here:
            there = place.open()
            hold(there)
            closed(there)
            self.check_that_he_is_gone(here, there.owner)

    @on_place(Needs.KILLED)
    def test_L07_a_killed_owner_is_gone_at_once(self, place: Place) -> None:
        """An owner that died without closing is not alive: what was acknowledged to it is there, and can be claimed."""
        if place.killed is None:
            return
        with opened(place) as here:
            place.killed(hold)
            view = here.read(THREAD).wait()
            self.check_that_he_is_gone(here, OwnerId(view.owner or ""))

    def check_that_he_is_gone(self, here: Store, owner: OwnerId) -> None:
        """What holds of an owner that is gone, who did what `hold` does."""
        true(not here.alive(owner).wait(), "an owner that is gone is not alive")
        equal((THREAD,), here.runnable("shop").wait(), "what can be run")
        equal(
            [(THREAD, "charge"), ("script", "charge")],
            [(each.key.scope, each.key.call) for each in here.unresolved().wait()],
            "what is unresolved",
        )
        old = here.read(THREAD).wait().token
        seen = found(here, key(thread="script"), 0)
        equal(owner, seen.owner, "the owner of the intent that he left")
        here.decide(decision(seen, Ruling.COMPLETE)).wait()

        won = here.claim(THREAD).wait()

        true(won.claim.token > old, "the token is higher than that of the owner that is gone")
        equal([1, 2], sorted(each.version for each in won.evidence), "the versions of the evidence that he left")
        true(here.begin(won.claim, key(), intent(), seen=1).wait().mine, "his intent is taken over")
        lost = Claim(thread=THREAD, incarnation=won.claim.incarnation, token=old, owner=owner)
        refused(ClaimLost, lambda: here.commit(lost, commit(1)), "a write under the claim that he had")
        here.settle(won.claim, key(), outcome(), seen=2, sync=Sync.LATER).wait()
        here.commit(won.claim, commit(1)).wait()
        all_fits(here)

    @on_place(Needs.SEVERAL)
    def test_a_thread_of_a_gone_owner_can_be_deleted(self, place: Place) -> None:
        """A thread whose owner is gone is not held: it is deleted, and what waited in it is gone."""
        with opened(place) as here:
            there = place.open()
            claim = created(there).claim
            there.ask(claim, TASK, (question(),)).wait()
            closed(there)

            here.delete(THREAD).wait()

            equal((), here.pending().wait(), "the questions that are pending")
            here.create(new_thread()).wait()

    @on_place(Needs.SEVERAL)
    def test_an_answer_stays_when_its_asker_is_gone(self, place: Place) -> None:
        """A question is answered while nobody runs its thread, and the answer is there for who claims it."""
        with opened(place) as there:
            there.ask(created(there).claim, TASK, (question("q-1"), question("q-2"))).wait()
        with opened(place) as here:
            here.answer(QuestionId("q-1"), answer()).wait()
            here.answer(QuestionId("q-2"), answer(b"false")).wait()
        with opened(place) as last:
            equal((THREAD,), last.runnable("shop").wait(), "what can be run")
            questions = last.claim(THREAD).wait().thread.questions
            equal([answer(), answer(b"false")], [each.answer for each in questions], "the answers")
            refused(QuestionClosed, lambda: last.answer(QuestionId("q-1"), answer()), "a second answer")

    @on_place(Needs.SEVERAL)
    def test_runnable_pages_over_all_owners(self, place: Place) -> None:
        """Pages come in the order of ids, whoever held the threads, and no thread is left out or listed twice."""
        names = [f"order-{number:02}" for number in range(16)]
        with opened(place) as store:
            living = place.open()
            created(living, "order-00.5")
            for group in range(3):
                with opened(place) as gone:
                    for name in names[group::4]:
                        created(gone, name)
            for name in names[3::4]:
                store.release(created(store, name).claim).wait()

            def listed(limit: int) -> list[str]:
                first = store.runnable("shop", limit=limit)
                return by_page(first, lambda last: store.runnable("shop", limit=limit, after=last), most=limit)

            for limit in (1, 3, 5, 16):
                equal(names, listed(limit), f"ids by pages of {limit}")
            closed(living)

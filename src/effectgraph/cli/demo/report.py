"""What the demo shows: one order after another as it is seen, then what came of all of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Final

import attrs
from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from effectgraph.cli.demo import words
from effectgraph.cli.demo.effect import Effect
from effectgraph.cli.demo.job import Told
from effectgraph.cli.demo.observed import Act, Charge, Counts, Mishap, Observed, OrderSeen
from effectgraph.cli.demo.verdict import order_problems
from effectgraph.stores.records import ThreadStatus

WIDTH: Final = 88
"""Columns that are used at most: longer lines are hard to read."""


@attrs.frozen(kw_only=True)
class Signs:
    """The few signs that are no letters."""

    yes: str
    no: str
    then: str
    killed: str


_DRAWN: Final = Signs(
    yes="\N{CHECK MARK}", no="\N{BALLOT X}", then="\N{RIGHTWARDS ARROW}", killed="\N{SKULL AND CROSSBONES}"
)
_PLAIN: Final = Signs(yes="ok", no="NO", then="->", killed="")


class Report:
    """Shows a demo on a console: without a terminal no colours and no spinner, without UTF-8 no special signs."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._signs = _PLAIN if console.options.ascii_only else _DRAWN

    def open(self) -> None:
        """Say what is going to happen."""
        self._print(Text(words.OPENING), Text())

    def playing(self, act: Act) -> AbstractContextManager[object]:
        """Show that an order is being played, for the time of a `with` block."""
        return self._console.status(f"{act.order} ...")

    def show(self, seen: OrderSeen) -> None:
        """Show one order, and at once what is wrong with it."""
        self._print(Text(f"{seen.act.order}: {_title(seen.act)}", style="bold"))
        rows = Table.grid(padding=(0, 2))
        for name, told in self._rows(seen):
            rows.add_row(f"  {name}", told)
        self._print(rows)
        for problem in order_problems(seen):
            self._print(Text(f"  {self._signs.no} {problem}", style="bold red"))
        self._print(Text())

    def close(self, observed: Observed, problems: tuple[str, ...], seconds: float) -> None:
        """Show all orders in a table, what was refused and what a person does about it, and the verdict."""
        self._print(self._table(observed), Text())
        for seen in observed.orders:
            if seen.told.is_unknown:
                self._print(self._refusal(seen.act.order, seen.told.failure or "", observed.charges), Text())
        if problems:
            self._print(Text(f"{self._signs.no} WRONG, after {seconds:.0f} s:", style="bold red"))
            self._print(*(Text(f"  - {problem}") for problem in problems))
        else:
            self._print(
                Text.assemble(
                    (f"{self._signs.yes} ", "bold green"),
                    ("Every effect that ran was counted exactly once", "bold"),
                    "; the one that nobody can check was refused, not repeated. ",
                    f"({seconds:.0f} s)",
                )
            )

    def kept(self, folder: str) -> None:
        """Say where the files are. A path is never broken into lines, so that it can be copied."""
        self._console.print(Text(f"Its files are in {folder}"), soft_wrap=True)

    def _rows(self, seen: OrderSeen) -> Iterator[tuple[str, Text]]:
        effect = seen.act.effect
        match seen.act.mishap:
            case Mishap.KILLED if effect is not None:
                yield "worker", self._killed(effect, seen)
                yield "recovery", Text(_recovery(effect, seen.told))
                if seen.retried is not None:
                    yield "retry", Text(_retry(seen.retried, seen.counts))
            case Mishap.STOPPED if effect is not None:
                yield "worker", self._stopped(effect, seen)
                yield "recovery", Text(_takeover(seen))
                yield "woken", Text(_refused(seen))
            case _:
                yield "worker", self._line([(effect.value, seen.told.of(effect) is not None) for effect in Effect])
        yield "counted", _counted(seen.counts)

    def _killed(self, effect: Effect, seen: OrderSeen) -> Text:
        intent = effect in seen.told.unsettled
        changed = seen.counts_then is not None and seen.counts_then.of(effect) == 1
        line = self._line([("intent stored", intent), (words.CHANGED[effect], changed)])
        line.append(f" {self._signs.then} ")
        line.append(f"{self._signs.killed} SIGKILL".lstrip(), style="bold red")
        return line.append(", outcome not stored" if intent else ", no intent found")

    def _stopped(self, effect: Effect, seen: OrderSeen) -> Text:
        settled = seen.told.of(effect)
        line = self._line([("intent stored", settled is not None and settled.attempt > 1)])
        line.append(f" {self._signs.then} ")
        line.append("SIGSTOP", style="bold yellow")
        changed = seen.counts_then is not None and seen.counts_then.of(effect) != 0
        return line.append(", file replaced" if changed else ", file not replaced yet")

    def _line(self, parts: list[tuple[str, bool]]) -> Text:
        shown = [Text.assemble(f"{name} ", self._sign(good=good)) for name, good in parts]
        return Text(f" {self._signs.then} ").join(shown)

    def _sign(self, *, good: bool) -> tuple[str, str]:
        return (self._signs.yes, "green") if good else (self._signs.no, "bold red")

    def _table(self, observed: Observed) -> Table:
        table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
        table.add_column("effect", no_wrap=True)
        table.add_column("who can tell")
        table.add_column("worker", no_wrap=True)
        table.add_column("counted", justify="right", no_wrap=True)
        table.add_column("result")
        for seen in observed.orders:
            if seen.act.effect is not None:
                table.add_row(*self._table_row(seen.act.effect, seen))
        return table

    def _table_row(self, effect: Effect, seen: OrderSeen) -> tuple[RenderableType, ...]:
        stopped = seen.act.mishap is Mishap.STOPPED
        good = not order_problems(seen)
        return (
            effect.value,
            "the file: newest token" if stopped else words.SETTLED_BY[effect],
            "stopped" if stopped else "killed",
            str(seen.counts.of(effect)),
            Text.assemble(self._sign(good=good), " ", _result(seen)),
        )

    def _refusal(self, order: str, failure: str, charges: tuple[Charge, ...]) -> Panel:
        found = [charge for charge in charges if charge.order == order]
        listed = Table.grid(padding=(0, 2))
        for charge in found:
            listed.add_row(charge.id, charge.order, f"{charge.amount / 100:.2f}", charge.card)
        parts: list[RenderableType] = [
            Text(failure, style="bold"),
            Text(),
            Text(words.NOT_KNOWN),
            Text(),
            Text(f"What a person does now: look at the server's own list. For {order} it has {len(found)}:"),
            Padding(listed, (0, 0, 0, 2)),
            Text(),
            Text(words.LATER),
        ]
        return Panel(Group(*parts), title=f"{order} was refused", title_align="left")

    def _print(self, *parts: RenderableType) -> None:
        width = min(WIDTH, self._console.width)
        for part in parts:
            if self._console.is_terminal:
                self._console.print(part, width=width)
                continue
            # Nobody wants blanks at the ends of lines in a file.
            with self._console.capture() as captured:
                self._console.print(part, width=width)
            for line in captured.get().splitlines():
                self._console.out(line.rstrip(), highlight=False)


def _title(act: Act) -> str:
    match act.mishap:
        case Mishap.NONE:
            return "nothing happens to its worker"
        case Mishap.KILLED:
            return f"its worker is killed in {act.effect}"
        case Mishap.STOPPED:
            return f"its worker is stopped in {act.effect}, and wakes when it is too late"


def _recovery(effect: Effect, told: Told) -> str:
    if told.is_unknown:
        return "refused: nobody can tell whether it happened, so nothing is guessed."
    return words.recovery_of(effect, told.of(effect)) if told.failure is None else f"failed: {told.failure}"


def _retry(retried: Told, counts: Counts) -> str:
    answer = "refused as well" if retried.is_unknown else f"is {retried.status}"
    return f"{answer}; the server has seen {counts.charge_requests} request for this charge."


def _takeover(seen: OrderSeen) -> str:
    found = seen.told.recovered_before or "nothing"
    finished = "finished" if seen.told.status == ThreadStatus.DONE.value else "not finished"
    return f"found {found}: the worker is alive. The order was taken from it, and {finished} under a newer token."


def _refused(seen: OrderSeen) -> str:
    fenced = None if seen.woken is None else seen.woken.fenced
    if fenced is None:
        return "it went on, and the file did not refuse it."
    return f"it went on to write, and the file refused its token {fenced.token}, having seen {fenced.newest}."


def _counted(counts: Counts) -> Text:
    shown = ", ".join(f"{effect} {counts.of(effect)}" for effect in Effect)
    if counts.reward_requests > counts.reward:
        shown += f" (of {counts.reward_requests} requests for reward)"
    return Text(shown, style="bold")


def _result(seen: OrderSeen) -> str:
    if seen.told.is_unknown:
        return "refused, not repeated"
    if seen.act.mishap is Mishap.STOPPED:
        return "late worker refused"
    return "recovered" if seen.told.status == ThreadStatus.DONE.value else seen.told.status

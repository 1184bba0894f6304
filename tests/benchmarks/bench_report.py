"""The report: medians, paired ratios, and what an operation's parts cost, as tables and as JSON."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

import attrs
import msgspec
from rich.table import Table

from bench_lineup import Comparison, Contender, Group, Part
from bench_measure import Result

MICROSECONDS = 1e6


@attrs.frozen(kw_only=True)
class Machine:
    """What the figures depend on; `versions` are those of the distributions that were measured."""

    python: str
    sqlite: str
    system: str
    cpus: int | None
    file_system: str | None
    versions: dict[str, str]


@attrs.frozen(kw_only=True)
class Row:
    """One contender's figures: medians over the rounds, and the slowest and fastest round."""

    name: str
    group: str
    title: str
    rounds: tuple[float, ...]
    """Microseconds of one operation, a figure per round."""
    each_us: float
    per_second: float
    slowest_per_second: float
    fastest_per_second: float
    syncs: float | None
    """Syncs of one operation, counted at the kernel; None if nobody could."""
    transactions: float | None
    """Transactions of one operation, as the contender counts them itself; None if it does not."""
    synced: float | None
    """Those of them that were synced."""


@attrs.frozen(kw_only=True)
class Absent:
    """A contender that did not run, and the distribution that is not installed."""

    name: str
    group: str
    title: str
    needs: str


@attrs.frozen(kw_only=True)
class Ratio:
    """How many times as fast `name` is as `against`: the median of the rounds' own ratios."""

    name: str
    against: str
    ratio: float
    floor: float | None
    aim: float | None


@attrs.frozen(kw_only=True)
class PartCost:
    """One part of an operation's cost, in microseconds."""

    title: str
    us: float


@attrs.frozen(kw_only=True)
class Report:
    """All that one run of the benchmark found."""

    machine: Machine
    rounds: int
    rows: list[Row]
    absent: list[Absent]
    ratios: list[Ratio]
    parts: list[PartCost]


def row(result: Result) -> Row:
    """A result's medians."""
    contender = result.contender
    each_s = statistics.median(result.seconds)
    return Row(
        name=contender.name,
        group=contender.group.value,
        title=contender.title,
        rounds=tuple(seconds * MICROSECONDS for seconds in result.seconds),
        each_us=each_s * MICROSECONDS,
        per_second=1 / each_s,
        slowest_per_second=1 / max(result.seconds),
        fastest_per_second=1 / min(result.seconds),
        syncs=result.syncs,
        transactions=_median(result.transactions),
        synced=_median(result.synced),
    )


def absent(contender: Contender, needs: str) -> Absent:
    """The row of a contender that cannot run."""
    return Absent(name=contender.name, group=contender.group.value, title=contender.title, needs=needs)


def ratios(comparisons: Sequence[Comparison], results: Sequence[Result]) -> list[Ratio]:
    """One ratio for each comparison of which both sides ran.

    Each round gives a ratio of its own, and the median of those is taken: what slowed the machine in one
    round slowed both sides of that round's ratio.
    """
    seconds = {result.contender.name: result.seconds for result in results}
    found: list[Ratio] = []
    for comparison in comparisons:
        ours, theirs = seconds.get(comparison.name), seconds.get(comparison.against)
        if ours is None or theirs is None:
            continue
        pairs = [other / own for own, other in zip(ours, theirs, strict=True)]
        found.append(
            Ratio(
                name=comparison.name,
                against=comparison.against,
                ratio=statistics.median(pairs),
                floor=comparison.floor,
                aim=comparison.aim,
            )
        )
    return found


def parts(wanted: Sequence[Part], results: Sequence[Result]) -> list[PartCost]:
    """The cost of each part of which all that it takes ran; differences are taken round by round."""
    seconds = {result.contender.name: result.seconds for result in results}
    found: list[PartCost] = []
    for part in wanted:
        whole = seconds.get(part.of)
        less = [seconds[name] for name in part.less if name in seconds]
        if whole is None or len(less) < len(part.less):
            continue
        each_s = statistics.median(all_of_it - sum(rest) for all_of_it, *rest in zip(whole, *less, strict=True))
        found.append(PartCost(title=part.title, us=each_s * MICROSECONDS))
    return found


def to_json(report: Report) -> bytes:
    """The report as indented JSON, ending in a newline."""
    return msgspec.json.format(msgspec.json.encode(report), indent=2) + b"\n"


def figures_table(report: Report) -> Table:
    """What ran, grouped by what an operation is."""
    table = Table(
        title=f"Medians of {report.rounds} round{'s' if report.rounds > 1 else ''}",
        caption="For one operation: syncs as the kernel sees them; commits, and those synced, as the store counts them",
    )
    table.add_column("operation")
    for heading in ("per second", "slowest - fastest", "us each", "syncs", "commits", "synced"):
        table.add_column(heading, justify="right", no_wrap=True)
    present = {line.group for line in report.rows} | {gap.group for gap in report.absent}
    for group in (group.value for group in Group if group.value in present):
        table.add_row(f"[bold]{group}[/bold]")
        for line in report.rows:
            if line.group == group:
                table.add_row(
                    f"  {line.title}",
                    f"{line.per_second:,.0f}",
                    f"{line.slowest_per_second:,.0f} - {line.fastest_per_second:,.0f}",
                    f"{line.each_us:,.1f}",
                    "not counted" if line.syncs is None else f"{line.syncs:.3f}",
                    _counted(line.transactions),
                    _counted(line.synced),
                )
        for gap in report.absent:
            if gap.group == group:
                table.add_row(f"  {gap.title}: {gap.needs} is not installed")
        table.add_section()
    return table


def ratios_table(report: Report) -> Table:
    """Who is how many times as fast as whom, beside the floors and aims."""
    table = Table(title="Speed as a multiple of another's, median of the rounds' ratios")
    table.add_column("contender")
    table.add_column("against")
    for heading in ("ratio", "floor", "aim"):
        table.add_column(heading, justify="right")
    table.add_column("")
    for line in report.ratios:
        table.add_row(line.name, line.against, f"{line.ratio:.2f}x", _goal(line.floor), _goal(line.aim), verdict(line))
    return table


def parts_table(report: Report) -> Table:
    """What the parts of one operation cost."""
    table = Table(title="Where the time goes")
    table.add_column("part")
    table.add_column("us", justify="right")
    for line in report.parts:
        table.add_row(line.title, f"{line.us:,.1f}")
    return table


def verdict(ratio: Ratio) -> str:
    """Where a ratio stands to its floor and aim, in words, and how far below; empty if it has neither."""
    if ratio.floor is not None and ratio.ratio < ratio.floor:
        return f"below the floor: {ratio.ratio / ratio.floor:.2f} of it"
    if ratio.aim is not None and ratio.ratio >= ratio.aim:
        return "aim reached"
    if ratio.aim is not None:
        reached = "below the aim" if ratio.floor is None else "floor reached; aim"
        return f"{reached}: {ratio.ratio / ratio.aim:.2f} of it"
    return "" if ratio.floor is None else "floor reached"


def _median(figures: Sequence[float]) -> float | None:
    return statistics.median(figures) if figures else None


def _counted(figure: float | None) -> str:
    return "" if figure is None else f"{figure:.3f}"


def _goal(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}x"

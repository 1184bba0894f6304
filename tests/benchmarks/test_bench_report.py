"""The benchmark's arithmetic, its look at the disk, and one short run of it."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

from bench_child import Timing
from bench_disk import NotADisk, file_system_of
from bench_lineup import COMPARISONS, LINEUP, PARTS, Comparison, Contender, Group, NobodyByThatName, Part, chosen
from bench_measure import Plan, Result, measure, missing, syncs_in
from bench_report import Machine, PartCost, Ratio, Report, absent, figures_table, parts, ratios, row, to_json, verdict

MOUNTS = """\
/dev/vda / ext4 rw,relatime 0 0
tmpfs /tmp tmpfs rw 0 0
/dev/vdb /tmp/with\\040space xfs rw 0 0
/dev/vdc /data ext4 rw 0 0
tmpfs /data tmpfs rw 0 0
"""


def contender(name: str, *, needs: tuple[str, ...] = ()) -> Contender:
    """A contender that can run: ten synced commits."""
    return Contender(
        name=name, title=name, group=Group.EFFECTS, script="raw_sqlite.py", case="full", count=10, needs=needs
    )


def result(name: str, *seconds: float, syncs: float | None = None, synced: tuple[float, ...] = ()) -> Result:
    """What was measured of it, in seconds of one operation; every transaction that it counted was synced."""
    return Result(contender=contender(name), seconds=seconds, syncs=syncs, transactions=synced, synced=synced)


def report(*results: Result) -> Report:
    """A report on these, with one contender that could not run."""
    return Report(
        machine=Machine(
            python="3.11.7",
            sqlite="3.40.1",
            system="Linux",
            cpus=2,
            file_system="ext4",
            versions={"a-peer": "1.2"},
        ),
        rounds=3,
        rows=[row(one) for one in results],
        absent=[absent(contender("peer", needs=("a-peer",)), "a-peer")],
        ratios=ratios([Comparison(name="ours", against="theirs", floor=2.0)], results),
        parts=[PartCost(title="sync", us=150.0)],
    )


def cells(line: str) -> list[str]:
    """What stands in a line of a table."""
    return [cell.strip() for cell in line.split("│")[1:-1]]


def test_a_row_holds_the_median_round_and_the_extremes() -> None:
    """One slow round moves the slowest figure and nothing else."""

    found = row(result("ours", 0.001, 0.5, 0.002, syncs=1.0, synced=(1.5, 9.0, 2.0)))

    assert (2000.0, 500.0, 2.0, 1000.0) == (
        found.each_us,
        found.per_second,
        found.slowest_per_second,
        found.fastest_per_second,
    )
    assert (1.0, 2.0, 2.0) == (found.syncs, found.transactions, found.synced)


def test_a_ratio_is_taken_round_by_round() -> None:
    """A machine that is ten times slower in one round leaves the ratio as it is; that of the medians would differ."""

    found = ratios(
        [Comparison(name="ours", against="theirs", floor=2.0, aim=4.0)],
        [result("ours", 1.0, 10.0, 2.0), result("theirs", 3.0, 30.0, 4.0)],
    )

    assert [Ratio(name="ours", against="theirs", ratio=3.0, floor=2.0, aim=4.0)] == found


def test_no_ratio_without_both_sides() -> None:
    """A side that did not run gives no ratio, not a guess."""

    assert [] == ratios([Comparison(name="ours", against="theirs")], [result("ours", 1.0)])


def test_rounds_that_do_not_pair_are_an_error() -> None:
    """Figures of different numbers of rounds are not compared."""

    with pytest.raises(ValueError, match="shorter"):
        ratios([Comparison(name="ours", against="theirs")], [result("ours", 1.0, 2.0), result("theirs", 1.0)])


def test_a_part_is_a_difference_taken_round_by_round() -> None:
    """A part that is what one case takes longer than another is the median of the rounds' differences."""

    measured = [
        result("synced", 3e-6, 8e-6, 5e-6),
        result("unsynced", 2e-6, 1e-6, 4e-6),
        result("hop", 3e-6, 3e-6, 0.5e-6),
    ]
    wanted = [
        Part(title="sync", of="synced", less=("unsynced",)),
        Part(title="all", of="synced"),
        Part(title="rest", of="synced", less=("unsynced", "hop")),
    ]

    found = [(part.title, round(part.us, 6)) for part in parts(wanted, measured)]

    assert [("sync", 1.0), ("all", 5.0), ("rest", 0.5)] == found


def test_no_part_without_all_that_it_takes() -> None:
    """A difference of which one side is missing is left out."""

    assert [] == parts([Part(title="sync", of="synced", less=("unsynced",))], [result("synced", 1.0)])


@pytest.mark.parametrize(
    ("ratio", "floor", "aim", "expected"),
    [
        (1.9, 2.0, 4.0, "below the floor: 0.95 of it"),
        (2.0, 2.0, 4.0, "floor reached; aim: 0.50 of it"),
        (4.0, 2.0, 4.0, "aim reached"),
        (9.0, 2.0, None, "floor reached"),
        (0.5, None, 0.667, "below the aim: 0.75 of it"),
        (0.7, None, 0.667, "aim reached"),
        (1.0, None, None, ""),
    ],
)
def test_the_verdict_names_floor_and_aim(ratio: float, floor: float | None, aim: float | None, expected: str) -> None:
    """Reaching a figure exactly counts as reaching it; a ratio that does not says how far it has come."""

    assert expected == verdict(Ratio(name="ours", against="theirs", ratio=ratio, floor=floor, aim=aim))


def test_json_gives_the_report_back() -> None:
    """The JSON has every figure of the report, rounds included."""

    whole = report(
        result("ours", 0.001, 0.002, 0.003, syncs=2.0, synced=(1.0, 2.0, 3.0)), result("theirs", 0.004, 0.004, 0.009)
    )

    assert whole == msgspec.json.decode(to_json(whole), type=Report)


def test_the_table_says_what_was_not_counted_and_what_is_not_installed() -> None:
    """A gap is written out, never left blank or zero."""

    out = Console(file=io.StringIO(), width=120)
    counts = (1.0, 2.0, 3.0)
    with out.capture() as shown:
        out.print(
            figures_table(report(result("ours", 0.001, 0.002, 0.003), result("theirs", 1.0, 1.0, 1.0, synced=counts)))
        )
    lines = shown.get().splitlines()

    (ours,) = (line for line in lines if "ours" in line)
    (theirs,) = (line for line in lines if "theirs" in line)
    (peer,) = (line for line in lines if "peer:" in line)
    assert ["ours", "500", "333 - 1,000", "2,000.0", "not counted", "", ""] == cells(ours)
    assert ["theirs", "1", "1 - 1", "1,000,000.0", "not counted", "2.000", "2.000"] == cells(theirs)
    assert ["peer: a-peer is not installed", "", "", "", "", "", ""] == cells(peer)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/home/x", "ext4"),
        ("/tmp", "tmpfs"),
        ("/tmp/x/y", "tmpfs"),
        ("/tmpfs", "ext4"),
        ("/tmp/with space/x", "xfs"),
        ("/data/x", "tmpfs"),
    ],
)
def test_the_innermost_and_newest_mount_decides(path: str, expected: str) -> None:
    """A mount inside a mount hides the outer one, and a later one at the same point hides the earlier."""

    assert expected == file_system_of(Path(path), MOUNTS)


def test_the_refusal_of_memory_names_folder_and_way_out() -> None:
    """Whoever is refused reads which folder, why, and what to do."""

    assert (
        "/tmp is on tmpfs, which is memory: a sync costs nothing there. Name a folder on a real disk with --dir."
        == str(NotADisk(Path("/tmp"), "tmpfs"))
    )


def test_only_the_sync_calls_of_the_summary_count() -> None:
    """Calls of several kinds are added up, with and without a column of errors; totals and headings are not."""

    summary = """\
% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 99.00    0.400000         100      4000         1 fdatasync
  1.00    0.001000          10         7           fsync
------ ----------- ----------- --------- --------- ----------------
100.00    0.401000         100      4007         1 total
"""

    assert 4007 == syncs_in(summary)


def test_only_picks_by_a_part_of_the_name() -> None:
    """A part of a name picks all that have it; one that nobody has is refused with the list of names."""

    assert ["raw-full", "raw-normal"] == [one.name for one in chosen(("raw",))]
    assert LINEUP == chosen(())
    with pytest.raises(NobodyByThatName, match="raw-full"):
        chosen(("raw", "nobody"))


def test_the_line_up_is_whole() -> None:
    """Names are used once, comparisons and parts speak of contenders that exist, and so do the scripts."""

    names = [one.name for one in LINEUP]
    spoken_of = {name for line in COMPARISONS for name in (line.name, line.against)}
    spoken_of |= {name for part in PARTS for name in (part.of, *part.less)}

    assert sorted(set(names)) == sorted(names)
    assert set() == spoken_of - set(names)
    assert all(Path(__file__).with_name(one.script).is_file() for one in LINEUP)


def test_a_peer_that_is_not_installed_is_named() -> None:
    """The first distribution that is missing is what the row says."""

    assert "no-such-peer" == missing(contender("peer", needs=("msgspec", "no-such-peer")))
    assert None is missing(contender("ours", needs=("msgspec",)))


def test_every_second_round_runs_backwards(tmp_path: Path) -> None:
    """Nobody always runs first, and every contender has one figure a round."""

    heard: list[str] = []
    pair = [contender("a"), contender("b")]

    found = measure(pair, Plan(rounds=2, folder=tmp_path), heard.append)

    assert ["round 1 of 2: a", "round 1 of 2: b", "round 2 of 2: b", "round 2 of 2: a"] == heard[:4]
    assert [("a", 2), ("b", 2)] == [(one.contender.name, len(one.seconds)) for one in found]
    assert [] == list(tmp_path.iterdir())


def test_a_contender_that_fails_is_named_and_gives_no_figure(tmp_path: Path) -> None:
    """A failure ends the benchmark with the contender's own words."""

    broken = Contender(
        name="broken", title="", group=Group.EFFECTS, script="raw_sqlite.py", case="no-such-case", count=1
    )

    with pytest.raises(RuntimeError, match=r"(?s)broken ended with exit code 2; .*no-such-case"):
        measure([broken], Plan(rounds=1, folder=tmp_path), lambda _text: None)


def test_a_short_run_prints_a_table_and_writes_json(tmp_path: Path) -> None:
    """The command runs what it is told to, and a synced commit costs one sync where syncs can be counted."""

    target = tmp_path / "report.json"
    command = [sys.executable, str(Path(__file__).with_name("run.py"))]
    arguments = ["--rounds", "1", "--only", "raw", "--scale", "0.005", "--json", str(target)]

    done = subprocess.run([*command, *arguments], capture_output=True, text=True, timeout=60, check=False)

    assert (0, "") == (done.returncode, done.stderr)
    assert "WAL, synchronous=FULL" in done.stdout
    written = msgspec.json.decode(target.read_bytes(), type=Report)
    syncs = {one.name: one.syncs for one in written.rows}
    assert syncs in ({"raw-full": 1.0, "raw-normal": 0.0}, {"raw-full": None, "raw-normal": None})
    assert ["a sync alone: a raw commit synced, less one that is not"] == [part.title for part in written.parts]
    assert "effectgraph" in written.machine.versions


@pytest.mark.parametrize(
    ("script", "case", "expected"),
    [
        ("ours_effects.py", "unchecked", 2 * 50 + 2),
        ("ours_effects.py", "idempotent", 50 + 2),
        ("ours_effects.py", "verifiable", 50 + 2),
        ("ours_effects.py", "applied-keys", 50 + 2),
    ],
)
def test_the_store_counts_what_an_effect_syncs(tmp_path: Path, script: str, case: str, expected: int) -> None:
    """The clock holds 50 effects with the syncs of their kind, and the run's own two: the claim and its release."""

    timing = child(script, case, 50, tmp_path)

    assert (50, expected) == (timing.count, timing.synced)


@pytest.mark.parametrize(
    ("script", "case"),
    [
        ("ours_effects.py", "unchecked-many"),
        ("ours_effects.py", "idempotent-many"),
        ("ours_steps.py", "default"),
        ("ours_steps.py", "default-plain"),
        ("ours_steps.py", "all"),
        ("ours_steps.py", "all-many"),
        ("ours_parts.py", "codec"),
        ("ours_parts.py", "effect"),
        ("ours_parts.py", "effect-synced"),
        ("ours_parts.py", "step"),
        ("thread_hop.py", "writer"),
    ],
)
def test_each_of_our_cases_does_its_work(tmp_path: Path, script: str, case: str) -> None:
    """A case checks itself what it has done, and reports a time for it."""

    timing = child(script, case, 100, tmp_path)

    assert (100, True) == (timing.count, timing.seconds > 0)


def child(script: str, case: str, count: int, folder: Path) -> Timing:
    """What a case reports, run as the benchmark runs it."""
    command = [sys.executable, str(Path(__file__).with_name(script)), case, str(count), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (0, "") == (done.returncode, done.stderr)
    return msgspec.json.decode(done.stdout, type=Timing)


def test_the_command_refuses_what_makes_no_sense() -> None:
    """A wrong command line ends with a reason before anything runs."""

    command = [sys.executable, str(Path(__file__).with_name("run.py"))]

    done = subprocess.run([*command, "--rounds", "0"], capture_output=True, text=True, timeout=60, check=False)

    assert 2 == done.returncode
    assert "--rounds 0: at least 1 is needed" in done.stderr

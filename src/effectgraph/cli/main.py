"""The commands of `effectgraph`."""

from __future__ import annotations

from pathlib import Path

import click


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, invoke_without_command=True)
@click.version_option(package_name="effectgraph", prog_name="effectgraph", message="%(prog)s %(version)s")
@click.pass_context
def main(context: click.Context) -> None:
    """Typed task graphs whose work survives crashes, and whose effects are never repeated or lost on a guess."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@main.command()
@click.option(
    "--dir",
    "folder",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Keep the demo's files in this folder, which must be empty or not be there yet.",
)
@click.option("--json", "as_json", is_flag=True, help="Print what was observed as one JSON document.")
@click.pass_context
def demo(context: click.Context, folder: Path | None, *, as_json: bool) -> None:
    """Kill an order's worker in the middle of each effect, recover it, and count what really happened.

    It takes some seconds, uses real files, databases and processes on this machine only, and checks itself: the exit
    code is 1 if any count is wrong. Without --dir its files are removed at the end, unless something was wrong.
    """
    # The demo's own processes import this package too, and start faster without what only the front end needs.
    from effectgraph.cli.demo.command import run_demo

    context.exit(run_demo(folder, as_json=as_json))

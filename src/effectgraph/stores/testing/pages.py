"""Listings that are read page by page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from effectgraph.stores.receipt import Receipt
from effectgraph.stores.testing.expect import PromiseBroken, true

T = TypeVar("T")

MOST: Final = 1_000
"""Rows after which a listing is taken to be without end: no check makes as many."""


def by_page(
    first: Receipt[tuple[T, ...]], behind: Callable[[T], Receipt[tuple[T, ...]]], *, most: int | None
) -> list[T]:
    """All rows of a listing: its first page, and then those behind the last row of the page before.

    Raises `PromiseBroken` for a page of more than `most` rows, and for a listing that does not end.
    """
    listed: list[T] = []
    page = first.wait()
    while page:
        true(most is None or len(page) <= most, f"a page that is told to has at most {most} rows")
        listed += page
        if len(listed) > MOST:
            raise PromiseBroken("the pages of a listing", "an end", f"more than {MOST} rows")
        page = behind(page[-1]).wait()
    return listed

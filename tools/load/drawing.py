"""Which item each request asks for: independent draws, with caps and cover.

Every request takes one 64-bit word and compares it with whole-numbered shares, so no
rounding can differ between platforms. An item at its cap leaves the draw, and the rest
keep their proportions, which is the law of drawing again until a free item comes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from registry.documents.findings import Finding, RegistryError, Severity, code, finding
from tools.load.streams import Floats, Integers, Stream

__all__ = ["cover", "draw", "refuse_impossible"]

_SCALE: Final = 2.0**60
"""Shares become whole numbers of this part; a product with it is exact."""

Q007 = code(
    "Q007",
    Severity.ERROR,
    "A plan cannot have so many requests under its limits.",
    "Ask for fewer requests with --max-per-item, or for more with --cover.",
)


def refuse_impossible(
    shares: Floats, requests: int, cap: int | None, *, covering: bool
) -> None:
    """Refuse what no sequence of draws can fulfil.

    Raises:
        RegistryError: Q007, with every problem.
    """
    problems: list[Finding] = []
    weighty = sum(1 for share in _whole(shares) if share)
    if cap is not None and cap * weighty < requests:
        what = (
            f"{weighty} items with a weight, {cap} times each, make"
            f" {cap * weighty} requests at most, not {requests}"
        )
        problems.append(finding(Q007, "--max-per-item", what))
    if covering and requests < len(shares):
        what = f"{requests} requests cannot ask for each of {len(shares)} items"
        problems.append(finding(Q007, "--cover", what))
    if problems:
        raise RegistryError(problems)


def draw(shares: Floats, requests: int, stream: Stream, cap: int | None) -> Integers:
    """The items' indices of so many requests.

    Args:
        shares: the items' shares of all requests.
        requests: how many; `refuse_impossible` has agreed.
        stream: where words come from, one a request.
        cap: the most requests of one item, if there is such a limit.
    """
    whole = _whole(shares)
    if cap is not None and cap < requests:
        return _capped(whole, requests, stream, cap)
    total = sum(whole)
    ends, end = [], 0
    last = max(item for item, share in enumerate(whole) if share)
    for share in whole[:last]:
        end += share
        # The first word whose product with the total reaches the end of the share.
        ends.append(-(-(end << 64) // total))
    edges = np.array(ends, dtype=np.uint64)
    words = stream.raw(requests)
    return np.searchsorted(edges, words, side="right").astype(np.int64)


def cover(drawn: Integers, items: int, stream: Stream) -> int:
    """Give every item that nobody drew one request of an item that has several.

    Args:
        drawn: the items' indices, changed in place; at least as many as items.
        items: how many items there are.
        stream: chooses the requests that change, uniformly.

    Returns:
        How many requests were changed.
    """
    counts = np.bincount(drawn, minlength=items)
    missing = np.flatnonzero(counts == 0).tolist()
    if not missing:
        return 0
    places = iter(stream.permutation(len(drawn)))
    for item in missing:
        place = next(place for place in places if counts[drawn[place]] > 1)
        counts[drawn[place]] -= 1
        counts[item] += 1
        drawn[place] = item
    return len(missing)


def _whole(shares: Floats) -> list[int]:
    return [int(share * _SCALE) for share in shares.tolist()]


def _capped(whole: Sequence[int], requests: int, stream: Stream, cap: int) -> Integers:
    """Draw from sums that are kept in a binary indexed tree (Fenwick, 1994)."""
    size = len(whole)
    tree = [0, *whole]
    for place in range(1, size + 1):
        parent = place + (place & -place)
        if parent <= size:
            tree[parent] += tree[place]
    total = sum(whole)
    left = [cap] * size
    top = 1 << size.bit_length() - 1
    drawn = np.empty(requests, dtype=np.int64)
    for number, word in enumerate(stream.raw(requests).tolist()):
        aim, item, step = (word * total) >> 64, 0, top
        while step:
            if item + step <= size and tree[item + step] <= aim:
                item += step
                aim -= tree[item]
            step >>= 1
        drawn[number] = item
        left[item] -= 1
        if not left[item]:
            total -= whole[item]
            place = item + 1
            while place <= size:
                tree[place] -= whole[item]
                place += place & -place
    return drawn

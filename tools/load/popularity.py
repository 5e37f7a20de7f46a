"""How often each item is asked for: weights from a distribution, apart from arrivals.

Three ways lead from a distribution to the weights of n items:

- by quantile (the default): the item of rank i weighs as much as the value that the
  distribution exceeds with probability (i - 0.5) / n. Nothing is random, and no seed
  moves the hottest item.
- drawn: n values are drawn and sorted, the largest first, so the item of rank 1 is the
  hottest under every seed; how hot it is depends on the seed.
- drawn unsorted: as TRIMS does it, see `tools.load.trims`.

`zipf` is a law of ranks, w(i) = i**-s, and `equal` gives every item the same; neither
has a value to draw. `none` draws no item either: each is asked for so many times, one
after the other, which is what TRIMS does without a distribution.

Scale parameters (xm, rate, Weibull's lambda, mu) cancel when weights are normalised;
they are read since TRIMS's experiments name them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist
from typing import Final

import numpy as np

from registry.documents.findings import RegistryError, Severity, code, finding
from tools.load.parameters import Q002, Parameter, parse_choice, split_name
from tools.load.streams import Floats, Stream

__all__ = [
    "KINDS",
    "OPTION",
    "Popularity",
    "effective_items",
    "entropy",
    "parse_popularity",
    "shares",
    "weights_at",
]

OPTION: Final = "--popularity"

Q003 = code(
    "Q003",
    Severity.ERROR,
    "The weights of the items cannot be normalised.",
    "Choose parameters under which an item has a weight and no weight is infinite.",
)

KINDS: Final[Mapping[str, tuple[Parameter, ...]]] = {
    "zipf": (Parameter("s", 1.0, exclusive=False, most=100.0),),
    "pareto": (Parameter("xm", 1.0), Parameter("alpha", 1.5)),
    "uniform": (Parameter("min", 0.0, exclusive=False), Parameter("max", 1.0)),
    "exponential": (Parameter("rate", 0.5),),
    "weibull": (Parameter("k", 1.5), Parameter("lambda", 1.0)),
    "poisson": (Parameter("lambda", 1.0, most=1e9),),
    "lognormal": (
        Parameter("mu", 0.0, least=-100.0, exclusive=False, most=100.0),
        Parameter("sigma", 1.0, most=100.0),
    ),
    "equal": (),
    "none": (
        Parameter("times", 1.0, least=1.0, exclusive=False, whole=True, most=1e6),
    ),
}
"""The parameters of every distribution, in TRIMS's order, with their defaults."""

_ALIASES: Final = {"exp": "exponential"}
_BY_RANK: Final = ("zipf", "equal", "none")


@dataclass(frozen=True, slots=True)
class Popularity:
    """A distribution of popularity.

    Attributes:
        kind: its name.
        values: its parameters.
        file: where the weights stand, if they come from a file.

    """

    kind: str
    values: dict[str, float]
    file: Path | None = None

    @property
    def random(self) -> bool:
        """Whether weights can be drawn from it."""
        return self.file is None and self.kind not in _BY_RANK


def parse_popularity(text: str) -> Popularity:
    """Read ``NAME[:PARAMETERS]`` or ``weights:FILE``.

    Raises:
        RegistryError: Q001 or Q002, with every problem of the text.
    """
    name, colon, rest = text.strip().partition(":")
    name = _ALIASES.get(name.strip().lower(), name)
    kind, _ = split_name(name, OPTION, (*KINDS, "weights"))
    if kind == "weights":
        if not rest.strip():
            raise RegistryError(finding(Q002, OPTION, "weights needs a file"))
        return Popularity(kind, {}, Path(rest.strip()))
    choice = parse_choice(f"{kind}{colon}{rest}", OPTION, KINDS)
    low, high = choice.values.get("min", 0.0), choice.values.get("max", 1.0)
    if kind == "uniform" and low > high:
        what = f"min is more than max: {low:g} and {high:g}"
        raise RegistryError(finding(Q002, OPTION, what))
    return Popularity(kind, choice.values)


def weights_at(popularity: Popularity, count: int, draws: Stream | None) -> Floats:
    """The weights of the ranks from 1 to `count`, not normalised.

    Args:
        popularity: a distribution, not a file.
        count: how many items there are.
        draws: where values are drawn from, one an item, unsorted; quantiles if None.

    Raises:
        RegistryError: Q002, nothing can be drawn from a law of ranks.
    """
    if popularity.kind in _BY_RANK:
        if draws is not None:
            what = f"{popularity.kind} weighs by rank: nothing is drawn from it"
            raise RegistryError(finding(Q002, OPTION, what))
        ranks = np.arange(1, count + 1, dtype=np.float64)
        return ranks ** -popularity.values.get("s", 0.0)
    if draws is not None:
        tail = 1.0 - draws.uniforms(count)
    else:
        tail = (np.arange(1, count + 1) - 0.5) / count
    with np.errstate(over="ignore", divide="ignore"):
        return _EXCEEDED[popularity.kind](popularity.values, tail)


def shares(weights: Floats, where: str = OPTION) -> Floats:
    """Weights as shares of all, of twelve significant digits.

    Raises:
        RegistryError: Q003, they are infinite, negative or all zero.
    """
    bad = int(np.count_nonzero(~np.isfinite(weights) | (weights < 0)))
    if bad:
        what = f"{bad} of {len(weights)} weights are infinite, negative or no number"
        raise RegistryError(finding(Q003, where, what))
    largest = float(weights.max(initial=0.0))
    if largest == 0.0:
        what = f"all {len(weights)} weights are 0: no item would ever be asked for"
        raise RegistryError(finding(Q003, where, what))
    scaled = weights / largest
    # Twelve digits hide the last bits, in which mathematical libraries differ.
    total = math.fsum(scaled.tolist())
    return np.array([float(f"{one / total:.12g}") for one in scaled.tolist()])


def entropy(weights: Floats) -> float:
    """Shannon's entropy of normalised weights, in nats."""
    some = weights[weights > 0]
    some = some / some.sum()
    return max(0.0, -math.fsum((some * np.log(some)).tolist()))


def effective_items(weights: Floats) -> float:
    """The number of equally popular items that would have the same entropy."""
    return math.exp(entropy(weights))


def _pareto(values: Mapping[str, float], tail: Floats) -> Floats:
    return values["xm"] * tail ** (-1.0 / values["alpha"])


def _uniform(values: Mapping[str, float], tail: Floats) -> Floats:
    return values["max"] - tail * (values["max"] - values["min"])


def _exponential(values: Mapping[str, float], tail: Floats) -> Floats:
    return -np.log(tail) / values["rate"]


def _weibull(values: Mapping[str, float], tail: Floats) -> Floats:
    scale: Floats = values["lambda"] * (-np.log(tail)) ** (1.0 / values["k"])
    return scale


def _lognormal(values: Mapping[str, float], tail: Floats) -> Floats:
    normal = NormalDist(0.0, values["sigma"])
    return np.exp(values["mu"] - np.array([normal.inv_cdf(p) for p in tail.tolist()]))


def _poisson(values: Mapping[str, float], tail: Floats) -> Floats:
    """The smallest k with P(X > k) <= tail."""
    from scipy.special import pdtrc, pdtrik  # noqa: PLC0415 - only poisson needs it

    mean = values["lambda"]
    high = np.ceil(pdtrik(1.0 - tail, mean))
    low = np.maximum(high - 1.0, 0.0)
    # The inverse is continuous and inexact; the step below may be the right one.
    exact: Floats = np.where(pdtrc(low, mean) <= tail, low, high)
    return exact


_EXCEEDED: Final[Mapping[str, Callable[[Mapping[str, float], Floats], Floats]]] = {
    "pareto": _pareto,
    "uniform": _uniform,
    "exponential": _exponential,
    "weibull": _weibull,
    "poisson": _poisson,
    "lognormal": _lognormal,
}
"""The value that each distribution exceeds with a given probability."""

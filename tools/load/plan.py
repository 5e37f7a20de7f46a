"""Load plans: what is asked for, how often and when; of a seed, kept in a file.

    plan = make_plan(["a", "b"], "zipf:s=1.1", "poisson:rate=20", requests=500, seed=7)
    write_plan(plan, Path("plan.jsonl"))
    for number, t_ns, item in read_plan(Path("plan.jsonl")).requests:
        ...

What is guaranteed: on one machine, the same arguments give the same bytes, with every
version of NumPy. Elsewhere the draws are exact as well, given the weights; weights have
twelve digits and times whole nanoseconds, so that mathematical libraries, which differ
in the last of sixteen digits, hardly ever show. A plan's file is what counts.
"""

from __future__ import annotations

from tools.load.making import make_plan
from tools.load.plan_file import read_plan, read_plan_and_digest, write_plan
from tools.load.requests import Header, Plan, PlanItem, Request, Requests

__all__ = [
    "Header",
    "Plan",
    "PlanItem",
    "Request",
    "Requests",
    "make_plan",
    "read_plan",
    "read_plan_and_digest",
    "write_plan",
]

"""Whose approvals count, and whose do not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.documents.findings import RegistryError
from registry.gate.github.approvals import Review, approvals, objections, reviews
from tests.simulators.mainlines import Record

HEAD, OLD = "a" * 40, "b" * 40
MAINTAINERS = {1: "one", 2: "two", 3: "three"}


def said(
    user: int, state: str = "APPROVED", commit: str = HEAD, at: int = 0, **more: bool
) -> Review:
    return Review(
        user, f"login-{user}", state, commit, f"2026-05-01T00:00:{at:02}Z", **more
    )


def given_by(*found: Review, author: int = 42) -> tuple[int, ...]:
    return approvals(found, author=author, head=HEAD, maintainers=MAINTAINERS)


def against(*found: Review, author: int = 42) -> tuple[int, ...]:
    return objections(found, author=author, maintainers=MAINTAINERS)


def test_maintainers_other_than_the_author_approve_the_head() -> None:
    assert given_by() == ()
    assert given_by(said(2), said(1)) == (1, 2)
    assert given_by(said(1), said(2), author=1) == (2,)
    assert given_by(said(1), said(2, commit=OLD)) == (1,)
    assert given_by(said(1), said(9), said(42), said(0)) == (1,)
    assert given_by(said(1), said(2, bot=True)) == (1,)


def test_one_maintainer_is_one_approval() -> None:
    assert given_by(said(1), said(1, at=1), said(1, at=2)) == (1,)


@pytest.mark.parametrize(
    ("later", "count"),
    [
        (said(1, "COMMENTED", at=5), (1, 2)),
        (said(1, "PENDING", at=5), (1, 2)),
        (said(1, "DISMISSED", at=5), (2,)),
        (said(1, "APPROVED", OLD, at=5), (2,)),
        (said(1, "CHANGES_REQUESTED", at=5), ()),
        (said(1, "CHANGES_REQUESTED", OLD, at=5), ()),
        (said(3, "CHANGES_REQUESTED", at=5), ()),
        (said(9, "CHANGES_REQUESTED", at=5), (1, 2)),
        (said(42, "CHANGES_REQUESTED", at=5), (1, 2)),
    ],
)
def test_the_last_word_counts(later: Review, count: tuple[int, ...]) -> None:
    assert given_by(said(1), said(2), later) == count
    assert given_by(later, said(1), said(2)) == count


def test_an_objection_is_lifted_by_who_raised_it() -> None:
    no = said(1, "CHANGES_REQUESTED")
    assert against(no) == (1,)
    assert against(no, author=1) == ()
    assert against(no, said(2, at=1), said(3, at=1)) == (1,)
    assert given_by(no, said(1, at=1), said(2)) == (1, 2)
    lifted = said(1, "DISMISSED")
    assert against(lifted) == ()
    assert given_by(lifted, said(2), said(3)) == (2, 3)


@pytest.mark.parametrize("user", ["x", 7, [1], {"login": "no id"}, {"id": "x"}])
def test_an_account_that_is_none_is_no_answer(user: object) -> None:
    record = Record()
    review = {"user": user, "state": "APPROVED", "commit_id": HEAD}
    record.reviews[1] = [review]
    with pytest.raises(RegistryError) as refused:
        reviews(record.connection, 1)
    assert [one.code for one in refused.value.findings] == ["N001"]
    record.reviews[1] = [review | {"user": None}]
    assert reviews(record.connection, 1)[0].user_id == 0


@given(
    st.lists(
        st.builds(
            said,
            st.integers(0, 5),
            st.sampled_from(
                ["APPROVED", "CHANGES_REQUESTED", "COMMENTED", "DISMISSED", "PENDING"]
            ),
            st.sampled_from([HEAD, OLD]),
            st.integers(0, 59),
        ),
        max_size=12,
    ),
    st.integers(0, 5),
)
def test_nobody_counts_who_may_not(found: list[Review], author: int) -> None:
    counted = given_by(*found, author=author)
    named = set(counted)
    assert named <= set(MAINTAINERS) - {author}
    assert len(named) == len(counted)
    heads = {
        one.user_id for one in found if (one.state, one.commit_id) == ("APPROVED", HEAD)
    }
    assert named <= heads
    assert not (counted and against(*found, author=author))

"""Rows W11, P2 and P4 of the threat model where releases are on GitHub."""

from __future__ import annotations

import itertools
import random
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import requests
from requests.adapters import HTTPAdapter

from registry.client.downloading import download
from registry.documents.findings import RegistryError
from tests.publish.conftest import contents
from tests.publish.github_places import Place, opened, tag_at
from tests.simulators.releases import SERIAL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

RUNS = 100
RATE = 0.12


class Killed(BaseException):
    """The process dies: nothing catches this."""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """A repository on a fake GitHub, to publish there."""
    with opened(tmp_path, monkeypatch) as made:
        yield made


def forget(place: Place, tag: str) -> None:
    """Take a release out of the fake, so that it can be published anew."""
    (one,) = place.stored(tag)
    place.hub.releases.remove(one)
    place.git.set_ref(f"refs/tags/{tag}", None)


def ending(step: int, how: Callable[[], BaseException]) -> Any:
    """Let the answer of the n-th request be the last thing that is not heard."""
    send, count = HTTPAdapter.send, itertools.count(1)

    def counted(self: Any, request: Any, **options: Any) -> Any:
        answer = send(self, request, **options)
        if next(count) == step:
            answer.close()
            raise how()
        return answer

    return counted


def until_done(place: Place, release: Path) -> int:
    """Publish until it is done; gives how often it gave up with a finding."""
    for given_up in range(60):
        try:
            place.publish(release)
        except RegistryError:
            continue
        return given_up
    raise AssertionError("it never came to an end")


def test_w11_killed_after_each_request_it_goes_on(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed before the next request is the same: what counts is what GitHub has."""
    place.publish(place.build(SERIAL))
    release = place.build(SERIAL + 1)
    tag = tag_at(release)
    for step in itertools.count(1):
        killed = False
        with monkeypatch.context() as patch:
            patch.setattr(HTTPAdapter, "send", ending(step, Killed))
            try:
                place.publish(release)
            except Killed:
                killed = True
        sent = {asset.id for one in place.stored(tag) for asset in one.assets}
        done = place.publish(release)
        one = place.assert_published(release)
        assert sent <= {asset.id for asset in one.assets}
        assert (done.latest, place.latest) == (True, tag)
        if not killed:
            break
        forget(place, tag)
    assert step > 25


def test_w11_a_lost_answer_after_each_request_does_no_harm(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.publish(place.build(SERIAL))
    release = place.build(SERIAL + 1)
    tag = tag_at(release)
    for step in itertools.count(1):
        before = len(place.hub.requests)
        with monkeypatch.context() as patch:
            lost = ending(step, requests.ConnectionError)
            patch.setattr(HTTPAdapter, "send", lost)
            until_done(place, release)
        place.assert_published(release)
        assert place.latest == tag
        if len(place.hub.requests) - before < step:
            break
        forget(place, tag)
    assert step > 25


def test_w11_a_hundred_runs_with_random_failures(place: Place) -> None:
    place.publish(place.build(SERIAL))
    release = place.build(SERIAL + 1)
    tag = tag_at(release)
    met = given_up = 0
    for seed in range(RUNS):
        place.hub.misbehave(random.Random(seed), RATE)
        given_up += until_done(place, release)
        place.hub.behave()
        met += place.hub.faults.met
        place.hub.faults.met = 0
        place.assert_published(release)
        assert place.latest == tag
        forget(place, tag)
    assert met > 2 * RUNS
    assert given_up > 0


def test_w11_downloads_with_random_failures(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = place.build()
    place.publish(release)
    for name, value in place.hub.environment().items():
        monkeypatch.setenv(name, value)
    whole = contents(release)
    got = 0
    for seed in range(20):
        place.hub.misbehave(random.Random(seed), 0.15)
        out = tmp_path / "out" / f"{seed}"
        try:
            download("github:", out)
        except RegistryError:
            assert not out.exists()
        else:
            got += 1
            assert contents(out) == whole
    assert 0 < got < 20


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("same", [True, False])
def test_w11_two_publishers_at_once(place: Place, seed: int, same: bool) -> None:
    first = place.build(SERIAL)
    second = first if same else place.build(SERIAL + 1)
    place.hub.misbehave(random.Random(seed), 0.03)
    start = threading.Barrier(2)
    gave_up: list[int] = []

    def send(release: Path) -> None:
        start.wait()
        gave_up.append(until_done(place, release))

    threads = [threading.Thread(target=send, args=(one,)) for one in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(gave_up) == 2
    place.hub.behave()
    place.publish(first)
    place.assert_published(first)
    place.assert_published(second)
    assert place.latest == tag_at(second)

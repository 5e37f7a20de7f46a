"""A GitHub on loopback for tests: it remembers, and git is real.

``with FakeGitHub(folder) as hub:`` gives an empty public repository; ``hub.add_user``,
``hub.fork``, ``hub.open_pull``, ``hub.review`` and ``hub.merge`` do what people do.
"""

from tests.simulators.github.hub import FakeGitHub
from tests.simulators.github.merging import CannotMerge
from tests.simulators.github.state import MergeGroup, Request

__all__ = ["CannotMerge", "FakeGitHub", "MergeGroup", "Request"]

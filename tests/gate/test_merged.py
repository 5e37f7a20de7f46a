"""What a change is compared with is found without parsing the rest of the registry."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.documents import limits
from registry.documents.canonical import sha256
from registry.documents.manifest import Manifest, manifest_bytes
from registry.documents.trust import read_trust
from registry.gate import merged_manifests, merged_trust
from registry.gate.duplicates import check_duplicates
from registry.gate.git import BlobReader
from registry.gate.git_tree import git_tree
from registry.gate.identity import read_keyring
from registry.gate.merged_manifests import related_manifests
from registry.gate.merged_trust import joined_by, merged_keyring
from tests.simulators.bundles import levels_bundle
from tests.simulators.gate import Proposals, found
from tests.simulators.people import Person
from tests.simulators.registry import MemoryTree, Simulator, run_git, small

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from registry.gate.tree import Entry

TEMPLATE = levels_bundle().manifest


@dataclass
class Effort:
    """What a verification asked for.

    Attributes:
        parsed: paths of documents of the base that were parsed.
        objects: paths of what git was asked for.
        asked: how often git was asked.
    """

    parsed: list[str] = field(default_factory=list)
    objects: list[str] = field(default_factory=list)
    asked: int = 0


@pytest.fixture
def effort(monkeypatch: pytest.MonkeyPatch) -> Effort:
    made = Effort()
    read = BlobReader.read

    def counted(self: BlobReader, entries: Iterable[Entry]) -> Iterator[bytes]:
        listed = list(entries)
        made.asked += 1
        made.objects += [entry.path for entry in listed]
        return read(self, listed)

    def parse(module: Any, name: str) -> None:
        original = getattr(module, name)

        def parsed(data: bytes, path: str) -> Any:
            made.parsed.append(path)
            return original(data, path)

        monkeypatch.setattr(module, name, parsed)

    monkeypatch.setattr(BlobReader, "read", counted)
    parse(merged_manifests, "read_manifest")
    parse(merged_trust, "read_trust")
    return made


@pytest.mark.parametrize("others", [1, 30])
def test_the_effort_is_one_look_at_the_others(
    others: int, effort: Effort, tmp_path: Path
) -> None:
    merged = Simulator()
    for number in range(others + 1):
        merged.enrol(100 + number)
        if number:
            merged.add_levels(f"server-{number}", 100 + number)
    changed = merged.copy()
    changed.add_levels("new", 100)
    report = Proposals(tmp_path / "repo", merged).check(changed, author=100)
    assert report.findings == ()
    assert effort.parsed == ["registry/trust/100.yaml"]
    # The trust files and the manifests of the base, each in one go; then the new
    # bundle's folder and its spec.
    assert effort.asked == 4
    assert len(effort.objects) == (others + 1) + others + (4 + 1)


def test_an_earlier_version_and_a_copy_are_read(effort: Effort, tmp_path: Path) -> None:
    merged = small()
    changed = merged.copy()
    for name in ("levels.csv", "runs.csv"):
        content = merged.files[f"datasets/server-c/{name}"]
        changed.files[f"datasets/server-b/{name}"] = content
    changed.bump("server-b")
    changed.reseal("server-b")
    report = Proposals(tmp_path / "repo", merged).check(changed)
    assert found(report) == [("D001", "datasets/server-b/levels.csv")]
    assert sorted(effort.parsed) == [
        "datasets/server-b/manifest.json",
        "datasets/server-c/manifest.json",
        "registry/trust/42.yaml",
    ]


def manifests(tree: MemoryTree, *proposed: Manifest, spec: str = "") -> list[str]:
    return sorted(related_manifests(tree, proposed, {spec} if spec else ()))


def described(dataset: str, sketch: Iterable[int], table: int = 0) -> Manifest:
    """A manifest whose table has rows and bytes by number."""
    entry, plan = TEMPLATE.file("levels.csv"), TEMPLATE.file("runs.csv")
    assert entry is not None
    rows = tuple(sorted(sha256(f"{row}".encode())[:16] for row in sketch))
    digest = sha256(f"{table or dataset}".encode())
    levels = entry.model_copy(update={"sha256": digest, "sketch": rows})
    update = {"dataset": dataset, "files": (levels, plan)}
    return TEMPLATE.model_copy(update=update)


def tree_of(*known: Manifest) -> MemoryTree:
    return MemoryTree(
        {f"datasets/{one.dataset}/manifest.json": manifest_bytes(one) for one in known}
    )


ROWS = st.frozensets(st.integers(0, 24), min_size=1, max_size=20)
SHELF = st.lists(st.tuples(ROWS, st.integers(0, 4)), min_size=1, max_size=9)


@settings(max_examples=80, deadline=None)
@given(SHELF, ROWS, st.integers(0, 4))
def test_nothing_that_counts_is_passed_over(
    shelf: list[tuple[frozenset[int], int]], rows: frozenset[int], table: int
) -> None:
    new = described("new", rows, table)
    known = {
        f"d{number}": described(f"d{number}", *one) for number, one in enumerate(shelf)
    }
    few = {
        name: one
        for name, (one, _) in related_manifests(
            tree_of(*known.values()), [new], ()
        ).items()
    }
    whole = check_duplicates(known | {"new": new}, ["new"])
    assert check_duplicates(few | {"new": new}, ["new"]) == whole


def test_users_of_an_altered_spec_are_found() -> None:
    mine, other = described("mine", range(9)), described("other", range(20, 30))
    tree = tree_of(mine, other)
    assert manifests(tree, mine) == ["mine"]
    assert manifests(tree, mine, spec=other.spec.path) == ["mine", "other"]
    assert manifests(tree, mine, spec="specs/\udcff.yaml") == ["mine"]


def test_broken_manifests_are_others_business(monkeypatch: pytest.MonkeyPatch) -> None:
    mine, other = described("mine", range(9)), described("other", range(9))
    tree = tree_of(mine, other)
    assert manifests(tree, mine) == ["mine", "other"]
    data = manifest_bytes(other)
    for broken in (b"", b"\xff", data[:-1], data.replace(b'"version"', b'"x"')):
        files = {"datasets/other/manifest.json": broken}
        assert manifests(MemoryTree(files), mine) == []
    # A manifest in the folder of another dataset speaks for neither of the two.
    assert manifests(MemoryTree({"datasets/mine/manifest.json": data}), mine) == []
    assert manifests(MemoryTree({"datasets/a/b/manifest.json": data}), mine) == []
    monkeypatch.setattr(limits, "MANIFEST_BYTES", len(data) - 1)
    assert manifests(tree, mine) == ["mine"]


def test_a_link_in_place_of_a_manifest_is_not_read(tmp_path: Path) -> None:
    mine = described("mine", range(9))
    folder = tmp_path / "datasets/mine"
    folder.mkdir(parents=True)
    (folder / "manifest.json").symlink_to("/etc/passwd")
    run_git(tmp_path, "init", "-q", "-b", "main")
    run_git(tmp_path, "add", "-A")
    run_git(tmp_path, "commit", "-q", "-m", "link")
    assert related_manifests(git_tree(tmp_path, "main"), [mine], ()) == {}


@pytest.mark.parametrize(
    "path", ["datasets/server-c/manifest.json", "registry/trust/43.yaml"]
)
def test_what_cannot_be_compared_is_not_accepted(path: str, tmp_path: Path) -> None:
    small().commit(tmp_path)
    changed = small()
    changed.add_levels("server-d", 42)
    changed.record(tmp_path, "change", "main")
    oid = run_git(tmp_path, "rev-parse", f"main:{path}").strip()
    (tmp_path / ".git/objects" / oid[:2] / oid[2:]).unlink()
    proposals = Proposals.__new__(Proposals)
    proposals.repo = tmp_path
    assert found(proposals.check_branch()) == [("T001", path)]


def people() -> Simulator:
    """Contributors of whom two share a key, and files that nobody can read."""
    simulated = small()
    simulated.enrol(Person(44, "twin").with_key(simulated.people[42].key))
    simulated.enrol(7)
    files = simulated.files
    files["registry/trust/8.yaml"] = files["registry/trust/7.yaml"]
    files["registry/trust/9.yaml"] = files["registry/trust/43.yaml"][:-9]
    files["registry/trust/README.md"] = b"# Trust\n"
    files["registry/trust/Odd.yaml"] = files["registry/trust/42.yaml"]
    return simulated


def test_the_keyring_of_a_branch_is_the_whole_keyring() -> None:
    tree = people().tree()
    whole, problems = read_keyring(tree)
    assert problems
    lazy = merged_keyring(tree)
    assert dict(lazy.contributors) == whole.contributors
    assert dict(lazy.owners) == whole.owners
    assert (len(lazy.contributors), len(lazy.owners)) == (4, 3)
    lazy = merged_keyring(tree)
    for number in (7, 8, 9, 42, 43, 44, -1):
        assert lazy.contributors.get(number) == whole.contributors.get(number)
        for blob in (*whole.owners, b"", b"key"):
            assert lazy.key(number, blob) == whole.key(number, blob)


def test_a_contributor_joins_without_taking_anothers_key() -> None:
    simulated = people()
    keyring = merged_keyring(simulated.tree())
    own, other = Person.new(5), Person(6, "thief").with_key(simulated.people[43].key)
    for person in (own, other):
        new = read_trust(person.trust_file(), person.path)
        keyring = joined_by(keyring, new)
    assert sorted(keyring.contributors) == [5, 6, 7, 42, 43, 44]
    assert len(keyring.contributors) == 6
    (blob,) = (key.public_key.blob for key in keyring.contributors[5].keys)
    (taken,) = (key.public_key.blob for key in keyring.contributors[6].keys)
    assert keyring.key(5, blob) is not None
    assert keyring.key(6, taken) is None
    assert keyring.owners[taken] == 43
    assert len(keyring.owners) == 4

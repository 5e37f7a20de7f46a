"""What a packet says of each kind of change."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from registry.documents.yaml_writer import write_yaml
from registry.gate.withdrawal import Withdrawal, withdrawal_bytes
from registry.review.as_html import as_html
from registry.review.as_json import as_json
from registry.review.as_markdown import as_markdown
from registry.review.page import Code, Figure, Packet, Section, Table, plain
from tests.simulators.machines import Machine, level_tables
from tests.simulators.people import private_key
from tests.simulators.registry import Simulator, small

if TYPE_CHECKING:
    from tests.review.conftest import Review


def ids(packet: Packet) -> list[str]:
    return [one.id for one in packet.sections]


def part(packet: Packet, name: str) -> Section:
    found = packet.section(name)
    assert found is not None, ids(packet)
    return found


def table(section: Section, caption: str) -> list[dict[str, str]]:
    """Rows of a table as dictionaries."""
    found = [
        one
        for one in section.blocks
        if isinstance(one, Table) and one.caption.startswith(caption)
    ]
    assert len(found) == 1, section
    return [
        dict(zip(found[0].columns, (plain((cell,)) for cell in row), strict=True))
        for row in found[0].rows
    ]


def notes(packet: Packet) -> str:
    return "\n".join(plain(note) for one in packet.sections for note in one.notes)


def with_new_bundle() -> Simulator:
    changed = small()
    changed.add_levels("server-d", 42, Machine("server-d", seed=4))
    return changed


def test_a_good_bundle_is_shown_from_every_side(review: Review) -> None:
    packet = review(with_new_bundle(), expectations=True, models=True)
    assert packet.kind == "bundle"
    assert ids(packet) == [
        "glance",
        "contributor",
        "data",
        "hardware",
        "power",
        "expectations",
        "class",
        "copies",
        "texts",
        "prediction",
        "models",
        "files",
    ]
    assert not any("failed" in one.facts for one in packet.sections)
    assert part(packet, "glance").facts["refused"] is False
    who = part(packet, "contributor")
    assert who.facts["id"] == 42
    assert who.facts["new"] is False
    keys = table(who, "Keys")
    assert [row["signs"] for row in keys] == ["this bundle"]
    rows = table(part(packet, "expectations"), "Expectations")
    assert {"met"} == {row["result"] for row in rows}
    assert {"node-watts", "idle-present"} <= {row["expectation"] for row in rows}
    figures = [b for b in part(packet, "power").blocks if isinstance(b, Figure)]
    assert "other servers of its class, 3" in figures[0].caption
    assert figures[0].chart.startswith("xychart-beta")
    likeness = part(packet, "class").facts
    assert likeness["others_of_class"] == 3
    texts = {row["text"] for row in table(part(packet, "texts"), "Texts")}
    assert {"Example Systems", "R740", "server-d"} <= texts


def test_models_have_their_errors_before_and_after(review: Review) -> None:
    packet = review(with_new_bundle(), models=True)
    changed = {one["id"]: one for one in part(packet, "models").facts["changed"]}
    generic = changed["acpi/AbsPower/BPFOnly/SGDRegressorTrainer_0"]
    assert generic["kind"] == "changed"
    assert generic["before"]["mae"] != generic["after"]["mae"]
    assert min(generic["before"]["mae"], generic["after"]["mae"]) > 0
    missed = {one["id"]: one for one in part(packet, "prediction").facts["models"]}
    curve = missed["acpi/AbsPower/BPFOnly/PowerCurve_0"]
    assert curve["rows"] == 11
    assert 0 < curve["mape"] < 20
    assert part(packet, "copies").facts["copies"] == []


def test_only_affected_models_are_fitted(review: Review) -> None:
    """A bundle of another class leaves the models of the others alone."""
    changed = small()
    machine = Machine("server-e", "Intel Xeon Gold 6130", cores=32, gib=192, seed=2)
    changed.add_levels("server-e", 42, machine)
    packet = review(changed, models=True)
    facts = part(packet, "models").facts
    classes = {one["class"] for one in facts["changed"]}
    assert classes <= {"generic", "xeon-gold-6130-2s-32c-192g"}
    assert "generic" in classes
    assert "The server class xeon-gold-6130-2s-32c-192g is new." in notes(packet)


def test_a_second_version_is_judged_without_the_first(review: Review) -> None:
    changed = small()
    changed.bump("server-a")
    machine = Machine("server-a", seed=77)
    changed.files |= {
        f"datasets/server-a/{name}": data
        for name, data in level_tables(machine).items()
    }
    changed.reseal("server-a")
    packet = review(changed, models=True)
    assert part(packet, "data").facts["version"] == 2
    assert part(packet, "glance").facts["refused"] is False
    # the first version is no neighbour, no copy, and no part of what predicts it
    nearest = {one["dataset"] for one in part(packet, "class").facts["nearest"]}
    assert nearest == {"server-b", "server-c"}
    assert part(packet, "prediction").facts["models"]


def test_a_bundle_that_its_class_cannot_predict_is_noted(review: Review) -> None:
    changed = small()
    machine = Machine("server-d", seed=4)
    tables = level_tables(machine)
    head, *rows = tables["levels.csv"].decode().splitlines()
    doubled = [
        f"{run},{2 * float(watts):.1f}" for run, watts in (r.split(",") for r in rows)
    ]
    tables["levels.csv"] = ("\n".join([head, *doubled]) + "\n").encode()
    usual: dict[str, Any] = {"profile": "load-levels", "workloads": ["idle", "ssj2008"]}
    changed.add_bundle("server-d", 42, machine, tables, **usual)
    said = notes(review(changed, models=True))
    assert "is off by" in said
    assert "gets worse" in said


def test_a_withdrawal_shows_which_models_lose_it(review: Review) -> None:
    changed = small()
    gone = Withdrawal.model_validate(
        {"schema": "withdrawn/1", "day": "2026-09-01", "reason": "measurement-error"}
    )
    changed.files["datasets/server-a/WITHDRAWN.yaml"] = withdrawal_bytes(gone)
    packet = review(changed, models=True)
    assert packet.kind == "withdrawal"
    assert part(packet, "withdrawal").facts["reason"] == "measurement-error"
    found = part(packet, "models").facts["changed"]
    assert found
    assert {one["kind"] for one in found} <= {"changed", "withheld", "published"}
    assert all(one["before"] for one in found)


def test_withdrawing_the_last_bundle_of_a_class_ends_its_models(
    review: Review,
) -> None:
    merged = small()
    machine = Machine("server-e", "Intel Xeon Gold 6130", cores=32, gib=192, seed=2)
    merged.add_levels("server-e", 42, machine)
    changed = merged.copy()
    gone = Withdrawal.model_validate(
        {"schema": "withdrawn/1", "day": "2026-09-01", "reason": "request"}
    )
    changed.files["datasets/server-e/WITHDRAWN.yaml"] = withdrawal_bytes(gone)
    packet = review(changed, merged, models=True)
    found = part(packet, "models").facts["changed"]
    assert "gone" in {one["kind"] for one in found if one["number"]}
    assert "is gone" in notes(packet)


def test_a_change_of_trust_shows_keys_and_models(review: Review) -> None:
    changed = small()
    person = changed.people[43].with_key(
        private_key("new"), added="2026-09-20T00:00:00Z"
    )
    revoked = person.revoked(0, "2026-05-01T00:00:00Z")
    changed.files[revoked.path] = revoked.trust_file()
    packet = review(changed, author=43, models=True)
    assert packet.kind == "trust"
    said = notes(packet)
    assert "Key added to contributor 43" in said
    assert "endorsed by an older key" in said
    assert "Key revoked of contributor 43" in said
    assert "2026-05-01T00:00:00Z on: compromised" in said
    # server-c was signed with it after that moment, so no model may use it
    assert {one["class"] for one in part(packet, "models").facts["changed"]} >= {
        "generic"
    }
    markdown = as_markdown(packet)
    assert "no approval is asked for" in markdown
    assert part(packet, "glance").facts["approvals"] == {}


def test_the_approvals_that_main_asks_for_are_named(review: Review) -> None:
    merged = small()
    named = {
        "schema": "maintainers/1",
        "approvals": 2,
        "maintainers": [
            {"id": 7, "login": "ada"},
            {"id": 8, "login": "bob"},
            {"id": 43, "login": "person-43"},
        ],
    }
    merged.files["registry/trust/maintainers.yaml"] = write_yaml(named)
    changed = merged.copy()
    person = changed.people[43].revoked(0, "2026-09-01T00:00:00Z", "lost")
    changed.files[person.path] = person.trust_file()
    packet = review(changed, merged, author=43)
    assert part(packet, "glance").facts["approvals"] == {"needed": 2, "given": None}
    said = as_markdown(packet)
    assert "It needs 2 approvals of maintainers.\n" in said
    line = next(line for line in said.splitlines() if "approvals of the com" in line)
    assert "`ada` (7)" in line
    assert "`bob` (8)" in line
    assert "person-43" not in line


def test_a_broken_bundle_still_gives_a_packet(review: Review) -> None:
    changed = with_new_bundle()
    changed.files["datasets/server-d/manifest.json.sig"] = b"no signature\n"
    packet = review(changed, models=True)
    assert part(packet, "glance").facts["refused"] is True
    findings = part(packet, "findings").facts["findings"]
    assert {"S"} == {one["code"][0] for one in findings if one["severity"] == "error"}
    # what can be read is shown; what needs a sound bundle says why it is missing
    assert part(packet, "data").facts["dataset"] == "server-d"
    assert part(packet, "power").facts["curves"]
    assert "failed" in part(packet, "models").facts
    assert part(packet, "expectations").facts == {"run": False}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("manifest.json", b"{"),
        ("levels.csv", b"run,wall_watts\n0,=cmd()\n"),
        ("levels.csv", b"\x00\xff"),
        ("runs.csv", b"run\n"),
    ],
)
def test_whatever_the_bytes_the_packet_appears(
    review: Review, name: str, content: bytes
) -> None:
    changed = with_new_bundle()
    changed.files[f"datasets/server-d/{name}"] = content
    packet = review(changed, models=True)
    assert part(packet, "findings").facts["findings"]
    assert "failed" in part(packet, "models").facts
    for form in (as_markdown, as_html, as_json):
        assert "server-d" in form(packet)


def test_a_part_that_fails_leaves_the_others(
    review: Review, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> Section:
        raise ZeroDivisionError

    monkeypatch.setattr("registry.review.parts.class_section", broken)
    packet = review(with_new_bundle())
    failed = part(packet, "class").facts["failed"]
    assert len(failed) == 1
    assert failed[0].startswith("R081")
    assert "ZeroDivisionError" in failed[0]
    assert part(packet, "copies").facts["closest"]


def test_an_author_who_is_another_is_noted(review: Review) -> None:
    packet = review(with_new_bundle(), author=43)
    assert "Account 43 login-43 proposes what contributor 42 signed." in notes(packet)
    assert part(packet, "glance").facts["refused"] is True


def test_a_new_contributor_is_noted(review: Review) -> None:
    changed = small()
    changed.enrol(99)
    changed.add_levels("server-d", 99)
    packet = review(changed, author=None)
    assert "This contributor is new" in notes(packet)
    assert part(packet, "contributor").facts["new"] is True


def test_a_change_of_code_says_that_there_is_nothing_to_show(review: Review) -> None:
    changed = small()
    changed.files["registry/new.py"] = b"print(1)\n"
    packet = review(changed)
    assert packet.kind == "code"
    assert ids(packet) == ["glance", "files"]
    assert "read this change as code" in as_markdown(packet)


def test_code_beside_data_is_listed(review: Review) -> None:
    changed = with_new_bundle()
    changed.files["registry/evil.py"] = b"print(1)\n"
    packet = review(changed)
    rows = table(part(packet, "files"), "Files")
    kinds = {row["file"]: row["kind"] for row in rows}
    assert kinds["registry/evil.py"] == "code or other"
    assert part(packet, "glance").facts["refused"] is True


def test_the_same_change_gives_the_same_packet(review: Review) -> None:
    changed = small()
    changed.add_samples("server-d", 42, Machine("server-d", seed=4), seconds=10)
    first = review(changed)
    second = review(changed)
    for form in (as_markdown, as_html, as_json):
        assert form(first) == form(second)
    recorded = [one for one in part(first, "power").blocks if isinstance(one, Figure)]
    assert [one.name for one in recorded] == ["power-over-load", "power-over-time"]


def test_json_is_a_document_of_facts(review: Review) -> None:
    packet = review(with_new_bundle())
    value = json.loads(as_json(packet))
    assert value["schema"] == "review/1"
    assert value["kind"] == "bundle"
    assert set(value["sections"]) == set(ids(packet))
    assert Code("server-d") in packet.title

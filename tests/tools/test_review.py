"""What a contributor sees before publishing, and names that never get there."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.documents.findings import RegistryError
from registry.documents.spec import HardwareSpec
from tests.simulators.machines import Machine
from tests.tools.drafts import draft
from tools.bundles.draft import files
from tools.bundles.identities import local_identities
from tools.bundles.review import check_leaks, published_texts, review


def test_every_text_is_shown_with_its_place() -> None:
    texts = published_texts(files(draft()))
    assert texts["Intel Xeon Gold 6248R"] == ["spec cpu.model"]
    assert texts["ssj2008"] == ["manifest.json workloads[1]", "runs.csv workload"]
    assert texts["wall_watts"] == ["levels.csv header"]
    assert not any(len(text) == 64 for text in texts)


def test_the_list_names_files_and_sizes() -> None:
    content = files(draft())
    shown = review(content)
    for path, data in content.items():
        assert f"{len(data):,} bytes  {path}" in shown
    assert "'R740': spec system.model" in shown


def test_the_machines_own_names_are_found_in_the_very_bytes() -> None:
    value = Machine("server-a").spec()
    value["system"] = {
        "vendor": "Example Systems",
        "model": "R740 of Lab-Seven",
        "form_factor": "rack-2u",
    }
    content = files(draft(spec=HardwareSpec.model_validate(value)))
    with pytest.raises(RegistryError) as caught:
        check_leaks(content, {"lab-seven", "10.1.2.3", "Gold6"})
    assert [(one.code, one.path, one.what) for one in caught.value.findings] == [
        (
            "L051",
            "specs/server-a.yaml",
            '"lab-seven" is a name of this machine or its users',
        )
    ]
    check_leaks(content, {"10.1.2.3"})


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """The system files of an imagined machine."""
    texts = {
        "etc/hostname": "lab7.example.org\n",
        "etc/machine-id": "0123456789abcdef0123456789abcdef\n",
        "etc/resolv.conf": "nameserver 10.0.0.1\nsearch example.org corp .\n",
        "sys/class/net/eth0/address": "02:fc:00:00:00:01\n",
        "sys/class/dmi/id/product_serial": "CZ12345ABC\n",
        "sys/class/dmi/id/board_serial": "To be filled by O.E.M.\n",
        "sys/class/dmi/id/chassis_serial": "Default string\n",
        "proc/net/fib_trie": "  |-- 10.0.0.7\n     /32 host LOCAL\n"
        "  |-- 10.0.0.0\n     /24 link UNICAST\n",
        "proc/net/if_inet6": f"fd{'0' * 29}2 02 40 00 80 eth0\nbroken line\n",
    }
    for name, text in texts.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_names_of_a_machine_are_collected(machine: Path) -> None:
    names = local_identities(machine, {"USER": "ann", "HOME": "/home/ann.smith"})
    assert {
        "lab7.example.org",
        "lab7",
        "example.org",
        "0123456789abcdef0123456789abcdef",
        "02:fc:00:00:00:01",
        "CZ12345ABC",
        "10.0.0.7",
        "fd00::2",
        "ann",
        "ann.smith",
    } <= names
    assert names.isdisjoint(
        {"", "corp", "10.0.0.0", "To be filled by O.E.M.", "Default string"}
    )


def test_a_machine_without_those_files_still_has_a_name(tmp_path: Path) -> None:
    assert local_identities(tmp_path, {})


def test_an_account_without_an_entry_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown() -> str:
        raise KeyError("uid not found")

    monkeypatch.setattr("getpass.getuser", unknown)
    assert local_identities(tmp_path, {"LOGNAME": "ann"}) >= {"ann"}

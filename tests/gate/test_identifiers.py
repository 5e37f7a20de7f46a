"""What names someone is found; what only looks like it passes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.gate.identifiers import identifiers

NAMES = {
    "address": [
        "10.1.2.3",
        "8.8.8.8",
        "server 192.168.4.17 rack",
        "172.16.0.1/24",
        "ip-10-0-0-12",
        "192-168-1-17",
        "2001:db8::42",
        "fe80::1ff:fe23:4567:890a",
        "[2001:db8:0:1:2:3:4:5]",
    ],
    "hardware": [
        "00:1a:2b:3c:4d:5e",
        "00-1A-2B-3C-4D-5E",
        "00_1a_2b_3c_4d_5e",
        "host-00-1a-2b-3c-4d-5e",
        "001a.2b3c.4d5e",
    ],
    "email": ["alice@example.org", "a.b+c@mail.example.co.uk", "root@node7"],
    "uuid": [
        "123e4567-e89b-12d3-a456-426614174000",
        "4C4C4544-0044-4710-8052-B4C04F564433",
    ],
    "serial": [
        "S/N: ABC1234567",
        "Serial Number AB12-34CD",
        "service tag 7XK3PM2",
        "asset-tag=00123",
        "CZJ8390K2M",
        "mxq84301qf-node",
        "S123456X1234567",
        "2102359876AB12",
        "001a2b3c4d5e",
        "server-001a2b3c4d5e",
        "0123456789abcdef0123456789abcdef",
    ],
    "host": [
        "node7.lab.example.org",
        "srv01.local",
        "db.corp",
        "hostname=frodo",
        "i-0abcdef1234567890",
        "i-0abcdef1",
        "gke-prod-pool-1-1a2b3c4d-x7k2",
    ],
    "account": [
        "/home/alice/run.sh",
        "home/alice/run",
        "/Users/bob",
        "/var/lib/kubelet",
        r"C:\Users\alice",
        r"\\fileserver\share",
        "~alice",
        "user=alice",
    ],
    "pod": [
        "web-7d9c8b5f6d-x2k9p",
        "kepler-exporter-x7k2p",
        "docker://abcd",
        "containerd://1a2b",
        "cri-containerd-0123abcd0123",
        "k8s_POD_web",
        "kubepods-burstable",
    ],
}

PASSES = [
    "Xeon E5-2650 v4 @ 2.20GHz",
    "CPU@2.50GHz",
    "Intel Xeon Gold 6248R",
    "7.00.00.171",
    "version 11.0.9.1",
    "kernel 2.6.16.60-0.21",
    "BIOS 10.4.2.0",
    "999.1.2.3",
    "SYS-1029U-TR4",
    "PRIMERGY RX300 S7",
    "PRIMERGY BX920S4",
    "UCSB-B200-M5",
    "2.50GHz",
    "2021-07-15",
    "20210715",
    "21-07-15-12-30-45",
    "12:30:45",
    "0.0.0.0",  # noqa: S104 - nothing binds to it
    "::1",
    "::",
    "intel-xeon-x5472",
    "intel-xeon-e5-5462z",
    "xeon-gold-6248r-2s-48c-384g",
    "server-2x48c",
    "big-server-2x48c",
    "thinksystem-sr650-v2",
    "power_ssj2008-20071128-00001",
    "w_abcdefgh2345",
    "deadbeefcafe",
    "0xb000040",
    "Serial Attached SCSI",
    "Serial ATA",
    "8 cores, 2 chips, 4 cores/chip",
    "N/A",
    "BIOS/UEFI",
    "registry/documents",
]


@pytest.mark.parametrize(
    ("kind", "text"), [(kind, text) for kind, texts in NAMES.items() for text in texts]
)
def test_an_identifier_is_found(kind: str, text: str) -> None:
    assert [found.kind for found in identifiers(text)] == [kind]
    assert kind in [found.kind for found in identifiers(f"made at {text}, we think")]


@pytest.mark.parametrize("text", PASSES)
def test_what_names_no_one_passes(text: str) -> None:
    assert identifiers(text) == ()


def test_four_numbers_are_a_version_where_versions_stand() -> None:
    assert identifiers("7.2.1.0")
    assert identifiers("7.2.1.0", version=True) == ()
    assert identifiers("192.168.1.7", version=True)
    assert identifiers("10.20.30.40", version=True)
    assert identifiers("1.0.dev", version=True) == ()


def test_each_stretch_of_text_is_named_once() -> None:
    text = "root@10.1.2.3 and 10.1.2.4"
    assert [(found.kind, found.text) for found in identifiers(text)] == [
        ("email", "root@10.1.2.3"),
        ("address", "10.1.2.4"),
    ]


@given(st.ip_addresses(v=4))
def test_every_dotted_address_is_found(address: object) -> None:
    text = str(address)
    if text != "0.0.0.0":  # noqa: S104 - nothing binds to it
        assert [found.text for found in identifiers(f"at {text}")] == [text]


@given(st.ip_addresses(v=6))
def test_every_address_of_the_new_kind_is_found(address: object) -> None:
    text = str(address)
    if text not in ("::", "::1"):
        assert {found.kind for found in identifiers(f"at {text} there")} == {"address"}


@given(st.uuids())
def test_every_uuid_is_found(uuid: object) -> None:
    assert [found.kind for found in identifiers(f"id {uuid}")] == ["uuid"]


@given(st.text(max_size=200))
def test_no_text_is_too_odd(text: str) -> None:
    for found in identifiers(text):
        assert text[found.start :].startswith(found.text)

"""Signatures: ours and OpenSSH's agree both ways, and nothing else is accepted."""

from __future__ import annotations

import base64
import functools
from typing import TYPE_CHECKING

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.documents.findings import RegistryError
from registry.documents.names import NAMESPACE_BUNDLE
from registry.documents.sshkey import parse_public_key
from registry.gate import sshsig
from registry.gate.signing import load_private_key, public_blob, sign
from registry.gate.ssh_wire import WireReader, pack_mpint, pack_string
from registry.gate.sshsig_parse import Signature, armour, covered_bytes, parse
from tests.gate import ssh_keygen
from tests.gate.software_token import P256, SoftwareToken
from tests.simulators.people import private_key

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DATA = b'{"schema":"bundle/1"}\n'
NAMESPACE = NAMESPACE_BUNDLE


def refusal(text: bytes, data: bytes = DATA, namespace: str = NAMESPACE) -> str:
    """The code of the one finding with which a signature is refused."""
    with pytest.raises(RegistryError) as caught:
        sshsig.verify(text, data, namespace, "manifest.json.sig")
    (one,) = caught.value.findings
    assert one.path == "manifest.json.sig"
    return one.code


@pytest.fixture(scope="module", params=ssh_keygen.KINDS)
def key(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[bytes, str]:
    return ssh_keygen.make_key(tmp_path_factory.mktemp("keys"), request.param)


def test_we_accept_what_ssh_keygen_signs(
    tmp_path: Path, key: tuple[bytes, str]
) -> None:
    text = ssh_keygen.sign(tmp_path, key[0], DATA, NAMESPACE)
    blob = sshsig.verify(text, DATA, NAMESPACE, "sig")
    assert blob == parse_public_key(key[1]).blob
    assert refusal(text, DATA + b" ") == "S004"


def test_ssh_keygen_accepts_what_we_sign(
    tmp_path: Path, key: tuple[bytes, str]
) -> None:
    text = sign(key[0], DATA, NAMESPACE).encode()
    allowed = f'42 namespaces="{NAMESPACE}" {key[1]}\n'
    assert ssh_keygen.accepts(tmp_path, allowed, text, DATA, NAMESPACE)
    assert not ssh_keygen.accepts(tmp_path, allowed, text, DATA + b" ", NAMESPACE)
    assert sshsig.verify(text, DATA, NAMESPACE, "sig") == parse_public_key(key[1]).blob


def test_many_ecdsa_signatures_agree(tmp_path: Path) -> None:
    """Numbers whose first bit is set need a leading zero: about half of them."""
    private, line = ssh_keygen.make_key(tmp_path, "p256")
    loaded = load_private_key(private)
    for number in range(20):
        data = bytes([number])
        text = sign(loaded, data, NAMESPACE).encode()
        assert sshsig.verify(text, data, NAMESPACE, "x") == parse_public_key(line).blob


@pytest.mark.parametrize("kind", ["ed25519", "p256"])
def test_tokens_agree_with_ssh_keygen(tmp_path: Path, kind: str) -> None:
    token = (
        SoftwareToken()
        if kind == "ed25519"
        else SoftwareToken(P256, secret=ec.generate_private_key(ec.SECP256R1()))
    )
    text = token.sign(DATA, NAMESPACE)
    allowed = f'42 namespaces="{NAMESPACE}" {token.line}\n'
    assert ssh_keygen.accepts(tmp_path, allowed, text, DATA, NAMESPACE)
    blob = sshsig.verify(text, DATA, NAMESPACE, "sig")
    assert blob == parse_public_key(token.line).blob
    assert not ssh_keygen.accepts(tmp_path, allowed, text, DATA + b"x", NAMESPACE)
    assert refusal(text, DATA + b"x") == "S004"


@pytest.mark.parametrize("flags", [0, 4])
def test_token_without_touch_is_refused(tmp_path: Path, flags: int) -> None:
    """Here alone we are stricter than ssh-keygen, which leaves touch to sshd."""
    token = SoftwareToken(flags=flags)
    text = token.sign(DATA, NAMESPACE)
    assert refusal(text) == "S005"
    allowed = f'42 namespaces="{NAMESPACE}" {token.line}\n'
    assert ssh_keygen.accepts(tmp_path, allowed, text, DATA, NAMESPACE)


@pytest.mark.parametrize("flags", [5, 0x1D])
def test_token_with_further_flags_is_accepted(flags: int) -> None:
    token = SoftwareToken(flags=flags)
    assert (
        sshsig.verify(token.sign(DATA, NAMESPACE), DATA, NAMESPACE, "s") == token.blob
    )


def test_token_for_the_web_is_refused() -> None:
    token = SoftwareToken(application="example.org")
    assert refusal(token.sign(DATA, NAMESPACE)) == "S005"


def test_password_protected_key(tmp_path: Path) -> None:
    private, line = ssh_keygen.make_key(tmp_path, "ed25519", "correct horse")
    text = sign(private, DATA, NAMESPACE, b"correct horse").encode()
    assert sshsig.verify(text, DATA, NAMESPACE, "s") == parse_public_key(line).blob
    for wrong in (None, b"battery staple"):
        with pytest.raises(RegistryError) as caught:
            sign(private, DATA, NAMESPACE, wrong)
        assert [one.code for one in caught.value.findings] == ["L001"]


def _openssh(key: rsa.RSAPrivateKey) -> bytes:
    form = serialization.Encoding.PEM, serialization.PrivateFormat.OpenSSH
    return key.private_bytes(*form, serialization.NoEncryption())


def test_unusable_private_keys() -> None:
    short = rsa.generate_private_key(public_exponent=65537, key_size=1024)  # noqa: S505
    for content in (b"", b"junk", _openssh(short)):
        with pytest.raises(RegistryError) as caught:
            sign(content, DATA, NAMESPACE)
        assert [one.code for one in caught.value.findings] == ["L001"]


def rsa_signature(bits: int, algorithm: bytes, digest: hashes.HashAlgorithm) -> bytes:
    private = rsa.generate_private_key(public_exponent=65537, key_size=bits)
    numbers = private.public_key().public_numbers()
    parts = pack_string(b"ssh-rsa"), pack_mpint(numbers.e), pack_mpint(numbers.n)
    covered = covered_bytes(NAMESPACE, "sha512", DATA)
    raw = private.sign(covered, padding.PKCS1v15(), digest)
    signed = pack_string(algorithm) + pack_string(raw)
    return armour(Signature(b"".join(parts), NAMESPACE, "sha512", signed)).encode()


def test_rsa_needs_sha2_and_length() -> None:
    sha512, sha256, sha1 = hashes.SHA512(), hashes.SHA256(), hashes.SHA1()  # noqa: S303
    good = rsa_signature(2048, b"rsa-sha2-512", sha512)
    assert sshsig.verify(good, DATA, NAMESPACE, "s")
    good = rsa_signature(2048, b"rsa-sha2-256", sha256)
    assert sshsig.verify(good, DATA, NAMESPACE, "s")
    assert refusal(rsa_signature(2048, b"ssh-rsa", sha1)) == "S005"
    assert refusal(rsa_signature(1024, b"rsa-sha2-512", sha512)) == "S005"
    assert refusal(rsa_signature(2048, b"rsa-sha2-512", sha256)) == "S004"


KEY = private_key("anyone")
GOOD = sign(KEY, DATA, NAMESPACE).encode()


def altered(**fields: object) -> bytes:
    """The good signature with fields changed, written canonically."""
    found = parse(GOOD, "s")
    values = {name: getattr(found, name) for name in Signature.__slots__}
    return armour(Signature(**values | fields)).encode()  # type: ignore[arg-type]


def blob_of(text: bytes) -> bytes:
    return base64.b64decode(b"".join(text.splitlines()[1:-1]))


def rearmoured(blob: bytes) -> bytes:
    text = base64.b64encode(blob).decode()
    lines = [text[at : at + 70] for at in range(0, len(text), 70)]
    marks = "-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----"
    return "\n".join([marks[0], *lines, marks[1], ""]).encode()


MALFORMED: dict[str, Callable[[], bytes]] = {
    "empty": lambda: b"",
    "one line": lambda: GOOD.replace(b"\n", b" "),
    "space before": lambda: b" " + GOOD,
    "line after": lambda: GOOD + b"\n",
    "no last line feed": lambda: GOOD[:-1],
    "carriage returns": lambda: GOOD.replace(b"\n", b"\r\n"),
    "other wrapping": lambda: GOOD[:60] + b"\n" + GOOD[60:],
    "no wrapping": lambda: (
        GOOD[:30] + b"".join(GOOD[30:-30].splitlines()) + b"\n" + GOOD[-29:]
    ),
    "other mark": lambda: GOOD.replace(b"SSH SIGNATURE", b"TLS SIGNATURE"),
    "not base64": lambda: GOOD[:40] + b"*" + GOOD[41:],
    "byte left over": lambda: rearmoured(blob_of(GOOD) + b"\0"),
    "byte missing": lambda: rearmoured(blob_of(GOOD)[:-1]),
    "magic": lambda: rearmoured(b"SSHSIC" + blob_of(GOOD)[6:]),
    "version": lambda: rearmoured(b"SSHSIG\0\0\0\2" + blob_of(GOOD)[10:]),
    "huge": lambda: GOOD + b"\n" * 20_000,
    "length": lambda: rearmoured(blob_of(GOOD)[:10] + b"\xff" * 4 + blob_of(GOOD)[14:]),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_signatures(name: str) -> None:
    assert refusal(MALFORMED[name]()) in ("S001", "S002")


def test_reserved_field_and_digest_names() -> None:
    blob = blob_of(GOOD)
    name = pack_string(NAMESPACE.encode())
    reserved = blob.replace(name + pack_string(b""), name + pack_string(b"x"))
    assert refusal(rearmoured(reserved)) == "S002"
    assert refusal(rearmoured(blob.replace(b"sha512", b"sha384"))) == "S005"


def test_other_keys_and_algorithms() -> None:
    ed = parse(GOOD, "s").key
    dss = pack_string(b"ssh-dss") + ed
    certificate = pack_string(b"ssh-ed25519-cert-v01@openssh.com") + ed
    junk = pack_string(b"ssh-ed25519") + pack_string(b"short")
    trailing = ed + b"\0"
    for key in (dss, certificate, junk, trailing, b"", b"\0\0"):
        assert refusal(altered(key=key)) == "S005"
    raw = parse(GOOD, "s").signature
    for signature in (b"", raw + b"\0", raw.replace(b"ssh-ed25519", b"ssh-ed25518")):
        assert refusal(altered(signature=signature)) == "S005"


def test_another_key_of_the_same_kind_does_not_verify() -> None:
    assert refusal(altered(key=public_blob(private_key("another")))) == "S004"


def test_curve_points_and_numbers_must_be_canonical() -> None:
    private = ec.generate_private_key(ec.SECP256R1())
    good = parse(sign(private, DATA, NAMESPACE).encode(), "s")
    kind = b"ecdsa-sha2-nistp256"
    point = good.key[-65:]
    head = pack_string(kind) + pack_string(b"nistp256")
    bad_keys = [
        head + pack_string(b"\x02" + point[1:33]),
        head + pack_string(b"\x04" + b"\1" * 64),
        pack_string(kind) + pack_string(b"nistp384") + pack_string(point),
        pack_string(kind) + pack_string(b"nistp999") + pack_string(point),
    ]
    zero = pack_string(b"") * 2
    padded = pack_string(b"\0\0\1") * 2
    bad_raw = [pack_string(kind) + pack_string(raw) for raw in (zero, padded, b"")]
    texts = [Signature(key, NAMESPACE, "sha512", good.signature) for key in bad_keys]
    texts += [Signature(good.key, NAMESPACE, "sha512", raw) for raw in bad_raw]
    for signature in texts:
        assert refusal(armour(signature).encode()) == "S005"


def test_rsa_numbers_that_make_no_key() -> None:
    good = parse(rsa_signature(2048, b"rsa-sha2-512", hashes.SHA512()), "s")
    modulus = WireReader(good.key)
    modulus.string()
    modulus.string()
    for exponent in (1, 2):
        parts = pack_string(b"ssh-rsa"), pack_mpint(exponent)
        key = b"".join(parts) + good.key[modulus.at :]
        bad = Signature(key, NAMESPACE, "sha512", good.signature)
        assert refusal(armour(bad).encode()) == "S005"


def test_token_points_must_be_whole() -> None:
    token = SoftwareToken(P256, secret=ec.generate_private_key(ec.SECP256R1()))
    good = parse(token.sign(DATA, NAMESPACE), "s")
    head, application = token.blob[:-77], pack_string(b"ssh:")
    assert token.blob == head + pack_string(token.blob[-73:-8]) + application
    short = head + pack_string(token.blob[-73:-40]) + application
    curve = head.replace(b"\x08nistp256", b"\x08nistp257") + token.blob[-77:]
    for key in (short, curve):
        assert key != token.blob
        bad = Signature(key, NAMESPACE, "sha512", good.signature)
        assert refusal(armour(bad).encode()) == "S005"


@pytest.mark.parametrize("kind", ["ed25519", "p256", "p521", "rsa", "token"])
@settings(max_examples=150, deadline=None)
@given(
    field=st.sampled_from(["key", "signature"]),
    at=st.integers(0, 600),
    cut=st.integers(0, 8),
    inserted=st.binary(max_size=8),
)
def test_no_field_raises_anything_but_a_refusal(
    kind: str, field: str, at: int, cut: int, inserted: bytes
) -> None:
    good = parse(_signed(kind), "s")
    old: bytes = getattr(good, field)
    start = at % len(old)
    new = old[:start] + inserted + old[start + cut :]
    values = {name: getattr(good, name) for name in Signature.__slots__}
    text = armour(Signature(**values | {field: new})).encode()
    if new == old:
        assert sshsig.verify(text, DATA, NAMESPACE, "s") == good.key
    else:
        assert refusal(text) in ("S004", "S005")


@functools.cache
def _signed(kind: str) -> bytes:
    match kind:
        case "ed25519":
            return GOOD
        case "token":
            return SoftwareToken().sign(DATA, NAMESPACE)
        case "rsa":
            return rsa_signature(2048, b"rsa-sha2-512", hashes.SHA512())
    curve = ec.SECP256R1() if kind == "p256" else ec.SECP521R1()
    return sign(ec.generate_private_key(curve), DATA, NAMESPACE).encode()

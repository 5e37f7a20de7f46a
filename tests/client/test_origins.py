"""Where releases are read from: folders and web servers, within bounds."""

from __future__ import annotations

import io
import shutil
import urllib.request
from pathlib import Path

import pytest

from registry.client import open_release
from registry.client.origins import open_origin
from registry.documents.findings import RegistryError
from registry.publish import web
from registry.publish.channels import publish
from registry.publish.index import index_bytes
from registry.publish.staging import sums_bytes
from tests.simulators.releases import SERIAL, make_release
from tests.simulators.web import Answer, served, serving


def refusal(place: str) -> tuple[str, str]:
    with pytest.raises(RegistryError) as caught:
        open_release(place)
    first = caught.value.findings[0]
    return first.code, first.what


def test_a_folder(release: Path) -> None:
    opened = open_release(str(release))
    assert opened.tag.startswith("r-")
    assert opened.origin.url("index.json") is None
    assert opened.warnings == ()


def test_a_file_url(release: Path) -> None:
    assert open_release(release.as_uri()).origin.folder == release
    assert open_release(f"file://localhost{release}").origin.folder == release
    assert refusal(f"file://elsewhere{release}")[0] == "R040"


def test_a_channel_stays_with_the_release_that_latest_named(
    release: Path, tmp_path: Path
) -> None:
    done = publish(release, f"dir:{tmp_path / 'channel'}")
    origin = open_origin(str(tmp_path / "channel"))
    assert origin.folder == done.folder
    assert origin.name == str(tmp_path / "channel")


def test_a_web_server(release: Path) -> None:
    with served(release) as url:
        opened = open_release(f"{url}/")
        assert opened.origin.url("a.json") == f"{url}/a.json"
        name = "acpi-AbsPower-BPFOnly-SGDRegressorTrainer_0.json"
        assert opened.read(name) == (release / name).read_bytes()


def test_a_channel_on_a_web_server(release: Path, tmp_path: Path) -> None:
    publish(release, f"dir:{tmp_path / 'channel'}")
    with served(tmp_path / "channel") as url:
        opened = open_release(url)
        assert opened.origin.base == f"{url}/latest"
        assert opened.origin.name == url


def test_redirects_to_another_server_are_followed(release: Path) -> None:
    def store(path: str) -> Answer:
        file = release / path.lstrip("/").partition("?")[0]
        return 200, {}, file.read_bytes()

    with serving(store) as url:

        def redirect(path: str) -> Answer:
            return 302, {"Location": f"{url}{path}?token=signed"}, b""

        with serving(redirect) as front:
            assert open_release(front).index.serial == SERIAL


@pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://h/x", "data:,x"])
def test_redirects_elsewhere_are_not(target: str) -> None:
    with serving(lambda _: (302, {"Location": target}, b"")) as url:
        assert refusal(url)[0] == "R040"


def test_p2_no_redirect_leads_from_https_to_http() -> None:
    """Whoever sits on the way could answer in the server's place."""
    follow, asked = (
        web._WebOnly().redirect_request,
        urllib.request.Request("https://example.org/x"),
    )
    for target in ("http://example.org/x", "file:///x", "//example.org/x"):
        with pytest.raises(ValueError, match="redirects from https"):
            follow(asked, io.BytesIO(), 302, "Found", {}, target)
    found = follow(asked, io.BytesIO(), 302, "Found", {}, "https://example.com/y")
    assert found is not None
    assert found.full_url == "https://example.com/y"


def test_endless_redirects_end() -> None:
    with serving(lambda path: (302, {"Location": path}, b"")) as url:
        assert refusal(url)[0] == "R040"


@pytest.mark.parametrize("status", [401, 500, 503])
def test_an_error_is_told(status: int) -> None:
    with serving(lambda _: (status, {}, b"oops")) as url:
        assert refusal(url) == ("R040", f"the server answered {status}")


def test_nothing_there_is_told(tmp_path: Path) -> None:
    with serving(lambda _: (404, {}, b"")) as url:
        code, what = refusal(url)
        assert code == "R040"
        assert "latest/" in what
    assert refusal(str(tmp_path))[0] == "R040"
    assert refusal(str(tmp_path / "none"))[0] == "R040"


def test_a_closed_port_is_told() -> None:
    with serving(lambda _: (404, {}, b"")) as url:
        pass
    code, what = refusal(url)
    assert code == "R040"
    assert "refused" in what


@pytest.mark.parametrize(
    "place",
    [
        "ftp://example.org/x",
        "https://",
        "https://user:secret@example.org/x",
        "https://example.org/x?token=1",
        "https://example.org/x#y",
        "javascript://x",
    ],
)
def test_odd_addresses_are_refused(place: str) -> None:
    assert refusal(place)[0] == "R040"


def test_a_flood_is_cut_off(release: Path) -> None:
    with serving(lambda _: (200, {}, b"x" * 5000)) as url:
        origin = open_origin(url)
        with pytest.raises(RegistryError) as caught:
            origin.read("index.json", 4096)
    assert caught.value.findings[0].code == "R041"
    with pytest.raises(RegistryError) as caught:
        open_origin(str(release)).read("index.json", 10)
    assert caught.value.findings[0].code == "R041"


def test_an_answer_that_breaks_off_is_told(release: Path) -> None:
    half = (release / "index.json").read_bytes()[:500]
    with serving(lambda _: (200, {"Content-Length": "9999"}, half)) as url:
        code, what = refusal(url)
    assert code == "R040"
    assert what == "it broke off after 500 of 9999 bytes"


def test_https_is_not_left() -> None:
    request = urllib.request.Request("https://example.org/x")
    handler = web._WebOnly()
    for target in ("http://example.org/x", "//example.org"):
        with pytest.raises(ValueError, match="redirects from https"):
            handler.redirect_request(request, io.BytesIO(), 302, "", {}, target)
    target = "https://elsewhere.example/x"
    followed = handler.redirect_request(request, io.BytesIO(), 302, "", {}, target)
    assert followed is not None
    assert followed.full_url == target


def test_a_web_release_with_other_sums_is_refused(
    release: Path, tmp_path: Path
) -> None:
    shutil.copytree(release, tmp_path / "copy")
    (tmp_path / "copy" / "SHA256SUMS").write_bytes(b"")
    with served(tmp_path / "copy") as url:
        assert refusal(url)[0] == "R013"


def test_a_web_release_with_other_provenance_is_refused(
    release: Path, tmp_path: Path
) -> None:
    shutil.copytree(release, tmp_path / "copy")
    path = tmp_path / "copy" / "provenance.jsonl"
    path.write_bytes(path.read_bytes().replace(b":42", b":43"))
    with served(tmp_path / "copy") as url:
        assert refusal(url)[0] == "R013"


def test_a_web_release_without_provenance_is_refused(tmp_path: Path) -> None:
    index = make_release(tmp_path / "release")
    assets = tuple(a for a in index.assets if a.path != "provenance.jsonl")
    data = index_bytes(index.model_copy(update={"assets": assets}))
    (tmp_path / "release" / "index.json").write_bytes(data)
    sums = sums_bytes(assets)
    (tmp_path / "release" / "SHA256SUMS").write_bytes(sums)
    with served(tmp_path / "release") as url:
        assert refusal(url)[0] == "R013"  # the sums lack the index itself


@pytest.mark.parametrize(
    ("place", "where"),
    [
        ("github:x", "github:x"),
        ("ftp://h.test/a", "ftp://h.test/a"),
        ("https://me:secret@h.test/a?key=secret", "https://h.test/a"),
        ("file://elsewhere/a", "file://elsewhere/a"),
        ("no/such/folder", "no/such/folder"),
    ],
)
def test_a_finding_names_the_place_itself(place: str, where: str) -> None:
    with pytest.raises(RegistryError) as caught:
        open_origin(place)
    (found,) = caught.value.findings
    assert found.path == where
    assert "secret" not in f"{found.path} {found.what}"

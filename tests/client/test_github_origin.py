"""Releases on GitHub as a client without a token sees them: through redirects."""

from __future__ import annotations

import http.server
import io
import json
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from registry.client import as_lines, fetch, open_release
from registry.client.downloading import download
from registry.client.github_places import github_place
from registry.client.origins import NoRelease, open_origin
from registry.documents.findings import RegistryError
from registry.publish.integrity import open_folder, tag_of
from registry.publish.transport import PACKED, pack, packed
from registry.publish.web import read_url
from tests.publish.conftest import contents
from tests.simulators.releases import SERIAL, make_release
from tests.simulators.web import Answer, serving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NAME = "Power/registry"
FILE = "acpi-AbsPower-BPFOnly-SGDRegressorTrainer_0.json"


@dataclass
class Site:
    """What GitHub's web server shows of releases; files lie on another host."""

    url: str = ""
    latest: str | None = None
    assets: dict[str, dict[str, bytes]] = field(default_factory=dict)
    blobs: str = ""
    elsewhere: str | None = None
    after: Callable[[str], None] = lambda _: None

    def add(self, folder: Path, tag: str | None = None) -> str:
        """Publish a release, perhaps under a tag that is not its own."""
        index, data = open_folder(folder)
        chosen = tag or tag_of(data)
        inside = packed(index.assets)
        zipped = io.BytesIO()
        pack(folder, inside, zipped)
        flat = {p: d for p, d in contents(folder).items() if "/" not in p}
        self.assets[chosen] = flat | {PACKED: zipped.getvalue()}
        self.latest = chosen
        return chosen

    def front(self, path: str) -> Answer:
        if self.elsewhere is not None:
            return 302, {"Location": self.elsewhere}, b""
        owner, name, releases, *rest = path.lstrip("/").split("/")
        if f"{owner}/{name}".lower() != NAME.lower() or releases != "releases":
            return 404, {}, b""
        base = f"{self.url}/{owner}/{name}/releases/download"
        match rest:
            case ["latest", "download", file] if self.latest is not None:
                return 302, {"Location": f"{base}/{self.latest}/{file}"}, b""
            case ["download", tag, file] if file in self.assets.get(tag, {}):
                place = self.blobs.replace("127.0.0.1", "localhost")
                return 302, {"Location": f"{place}/{tag}/{file}?sig=1"}, b""
        return 404, {}, b""

    def blob(self, path: str) -> Answer:
        tag, _, file = path.partition("?")[0].lstrip("/").partition("/")
        data = self.assets[tag][file]
        self.after(file)
        return 200, {}, data


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    made = Site()
    with serving(made.blob) as blobs, serving(made.front) as url:
        made.url, made.blobs = url, blobs
        monkeypatch.setenv("GITHUB_SERVER_URL", url)
        monkeypatch.setenv("GITHUB_REPOSITORY", NAME)
        yield made


def spellings(site: Site) -> list[str]:
    return [
        "github:",
        f"github:{NAME}",
        f"github:{NAME.lower()}",
        f"{site.url}/{NAME}",
        f"{site.url}/{NAME}/",
        f"{site.url}/{NAME}.git",
        f"{site.url}/{NAME}/releases",
        f"{site.url}/{NAME}/releases/latest",
        f"{site.url}/{NAME}/releases/latest/download",
        f"{site.url}/{NAME.upper()}/releases/latest/download/",
    ]


def refusal(place: str) -> tuple[str, str]:
    with pytest.raises(RegistryError) as caught:
        open_release(place)
    first = caught.value.findings[0]
    return first.code, first.what


@pytest.fixture(scope="module")
def newer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("client") / "newer"
    make_release(out, serial=SERIAL + 1)
    return out


def test_every_spelling_is_one_origin(site: Site, release: Path, state: Path) -> None:
    tag = site.add(release)
    for place in [
        *spellings(site),
        f"github:{NAME}@{tag}",
        f"{site.url}/{NAME}/releases/download/{tag}",
        f"{site.url}/{NAME}/releases/tag/{tag}/",
    ]:
        opened = open_release(place)
        assert opened.tag == tag
        assert opened.origin.base.endswith(f"/releases/download/{tag}")
    (seen,) = json.loads(state.read_bytes())["seen"]
    assert seen[0] == f"{site.url}/{NAME}".lower()


def test_githubs_own_address_needs_no_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_SERVER_URL", raising=False)
    short = github_place("github:a/b")
    assert short is not None
    assert short.latest == "https://github.com/a/b/releases/latest/download"
    long = github_place("https://GitHub.com/A/B/releases/latest/download")
    assert long is not None
    assert long.name == short.name


@pytest.mark.parametrize(
    "place",
    [
        "https://github.com/a/b/releases/download/v1.0",
        "https://github.com/a/b/releases/latest/download/index.json",
        "https://github.com/a/b/releases/latest/download?x=1",
        "https://github.com.example.org/a/b",
        "https://user@github.com/a/b",
        "https://example.org/github.com/a/b",
        "githubs/a/b",
    ],
)
def test_other_addresses_are_no_places_on_github(place: str) -> None:
    assert github_place(place) is None


@pytest.mark.parametrize(
    "place",
    [
        "github:a",
        "github:a/b/c",
        "github:a/b@v1",
        "github:a/b@",
        "github:../b",
        "github:a/b@r-0123456789ABCDEF",
        "github:a/b@r-0123456789abcdef/../..",
        "github://a/b",
    ],
)
def test_an_unclear_place_is_refused(place: str) -> None:
    assert refusal(place)[0] == "R073"


def test_github_alone_needs_a_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_REPOSITORY", raising=False)
    assert refusal("github:")[0] == "R073"


def test_what_is_published_meanwhile_does_not_mix(
    site: Site, release: Path, newer: Path
) -> None:
    """The newest release changes right after the index was read."""
    tag = site.add(release)

    def publish_another(_: str) -> None:
        site.after = lambda _: None
        site.add(newer)

    site.after = publish_another
    opened = open_release(f"github:{NAME}")
    assert (opened.tag, opened.index.serial) == (tag, SERIAL)
    assert opened.read(FILE) == (release / FILE).read_bytes()
    assert open_release(f"github:{NAME}").index.serial == SERIAL + 1


def test_settings_name_the_pinned_address_and_a_step_the_newest(
    site: Site, release: Path
) -> None:
    tag = site.add(release)
    for estimator in (False, True):
        fetched = fetch(f"github:{NAME}", number=0, source="acpi", estimator=estimator)
        (offer,) = fetched.offers
        pinned = f"{site.url}/{NAME}/releases/download/{tag}/acpi-AbsPower-BPFOnly-"
        assert f"_INIT_URL={pinned}" in offer.settings.lines[1]
        newest = f"{site.url}/{NAME}/releases/latest/download/acpi-AbsPower-BPFOnly-"
        assert newest in offer.settings.steps[-1]
        pipeline = f"INITIAL_PIPELINE_URL={site.url}/{NAME}/releases/download/{tag}/"
        assert any(pipeline in line for line in as_lines(fetched))


def test_a_file_that_was_written_needs_no_address(
    site: Site, release: Path, tmp_path: Path
) -> None:
    site.add(release)
    fetched = fetch(f"github:{NAME}", number=0, source="acpi", out=tmp_path / "out")
    assert all(site.url not in step for step in fetched.offers[0].settings.steps)


def test_the_published_folder_comes_out(
    site: Site, release: Path, tmp_path: Path
) -> None:
    site.add(release)
    got = download("github:", tmp_path / "copy")
    assert contents(got.out) == contents(release)


def test_an_older_release_by_its_tag_is_no_rollback(
    site: Site, release: Path, newer: Path, state: Path
) -> None:
    old = site.add(release)
    site.add(newer)
    open_release(f"github:{NAME}")
    assert open_release(f"github:{NAME}@{old}").index.serial == SERIAL
    site.latest = old
    assert refusal(f"github:{NAME}")[0] == "R042"


def test_a_newer_release_by_its_tag_is_remembered(
    site: Site, release: Path, newer: Path
) -> None:
    tag = site.add(newer)
    site.add(release)
    open_release(f"github:{NAME}@{tag}")
    assert refusal(f"{site.url}/{NAME}/releases/latest/download")[0] == "R042"


def test_p2_an_old_index_is_refused_under_every_spelling(
    site: Site, release: Path, newer: Path
) -> None:
    site.add(newer)
    open_release(f"github:{NAME}")
    site.add(release)
    for place in spellings(site):
        assert refusal(place)[0] == "R042"


def test_p4_a_release_under_another_tag_is_refused(
    site: Site, release: Path, newer: Path
) -> None:
    own = site.add(release)
    site.add(newer, tag="r-0123456789abcdef")
    code, what = refusal(f"github:{NAME}")
    assert code == "R072"
    assert what.endswith(f"not called {tag_of((newer / 'index.json').read_bytes())}")
    assert refusal(f"github:{NAME}@r-0123456789abcdef")[0] == "R072"
    assert open_release(f"github:{NAME}@{own}").tag == own


def test_no_release_is_told(site: Site, release: Path) -> None:
    with pytest.raises(NoRelease):
        open_origin(f"github:{NAME}")
    site.add(release)
    code, what = refusal(f"github:{NAME}@r-0123456789abcdef")
    assert (code, "no published release r-0" in what) == ("R040", True)
    assert refusal("github:nobody/there")[0] == "R040"


@pytest.mark.parametrize("file", [PACKED, FILE, "held_out.jsonl"])
@pytest.mark.parametrize("how", ["cut", "swapped", "longer", "gone"])
def test_p2_a_changed_file_is_refused_and_nothing_is_left(
    site: Site, release: Path, tmp_path: Path, file: str, how: str
) -> None:
    tag = site.add(release)
    data = site.assets[tag].pop(file)
    if how != "gone":
        changed = {"cut": data[:-1], "longer": data + b"x", "swapped": b"y" + data[1:]}
        site.assets[tag][file] = changed[how]
    with pytest.raises(RegistryError) as caught:
        download(f"github:{NAME}", tmp_path / "new" / "copy")
    (found,) = caught.value.findings
    assert found.code in {"R012", "R013", "R041", "R071"}
    assert list((tmp_path / "new").iterdir()) == []


@pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://h/x", "//h:bad/x"])
def test_redirects_elsewhere_are_refused(
    site: Site, release: Path, target: str
) -> None:
    site.add(release)
    site.elsewhere = target
    assert refusal("github:")[0] == "R040"


def test_no_header_of_ours_goes_to_another_host() -> None:
    heard: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            heard.append(self.headers.get("Authorization", "none"))
            self.send_response(200 if self.path == "/blob" else 302)
            self.send_header("Location", f"http://localhost:{port}/blob")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Say nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        port = server.server_port
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        read_url(f"http://127.0.0.1:{port}/asset", 10, {"Authorization": "Bearer x"})
        server.shutdown()
        thread.join()
    assert heard == ["Bearer x", "none"]


def test_the_copy_is_opened_like_the_original(
    site: Site, release: Path, tmp_path: Path
) -> None:
    tag = site.add(release)
    download("github:", tmp_path / "copy", digest=tag)
    assert open_release(str(tmp_path / "copy")).tag == tag

"""What comes back of what was published: whole, agreed upon, or not at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import fsspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.documents.findings import RegistryError
from tests.assets.contents import DIGEST, findings_of, held
from tests.assets.waiting import quick
from tests.simulators.file_server import FileServer
from tools.assets.downloading import Outcome
from tools.assets.fetching import fetch
from tools.assets.published import SUFFIX, read_sidecar
from tools.assets.publishing import publish


def test_a_fetched_file_agrees_with_all_who_name_its_digest(
    trace: Path, tmp_path: Path, store: str
) -> None:
    (thing,) = publish([trace], store).things
    out = tmp_path / "back"
    assert fetch(thing.url, out, sha256=DIGEST).sha256 == DIGEST
    (one,) = findings_of(lambda: fetch(thing.url, out, sha256="0" * 64))
    assert one.code == "A017"
    assert one.what.startswith("--sha256 says 000000000000…, the URL says ")
    (one,) = findings_of(lambda: fetch(thing.url, out, sha256="abc"))[:1]
    assert one.what == "abc is no SHA-256 in small letters"
    fs, path = fsspec.core.url_to_fs(thing.url)
    elsewhere = path.replace(DIGEST, "0" * 64)
    fs.pipe_file(elsewhere, b"a trace")
    fs.pipe_file(elsewhere + SUFFIX, fs.cat_file(path + SUFFIX))
    (one,) = findings_of(lambda: fetch(f"memory://{elsewhere}", out))
    assert "the URL says 000000000000…, the description says " in one.what
    renamed = path.replace("trace.json.gz", "run.json")
    fs.pipe_file(renamed + SUFFIX, fs.cat_file(path + SUFFIX))
    (one,) = findings_of(lambda: fetch(f"memory://{renamed}", out))
    assert one.what == 'its description is of "trace.json.gz"'


def test_a_file_of_the_web_needs_a_digest_from_somewhere(
    web: FileServer, tmp_path: Path
) -> None:
    web.files["/plain/t.json"] = b"a trace"
    (one,) = findings_of(
        lambda: fetch(web.url("/plain/t.json"), tmp_path, patience=quick())
    )
    assert one.code == "A016"
    web.files["/plain/t.json?token=1"] = b"a trace"
    got = fetch(
        web.url("/plain/t.json?token=1"), tmp_path, sha256=DIGEST, patience=quick()
    )
    assert (got.path.name, got.sidecar) == ("t.json", None)
    web.status[f"/plain/t.json{SUFFIX}"] = [500] * 4
    there = web.url("/plain/t.json")
    got = fetch(there, tmp_path / "b", sha256=DIGEST, patience=quick())
    assert got.outcome is Outcome.FETCHED
    web.status[f"/plain/t.json{SUFFIX}"] = [500] * 4
    (one,) = findings_of(lambda: fetch(there, tmp_path, patience=quick()))
    assert (one.code, one.what) == ("A018", "HTTP 500 Internal Server Error")
    web.files[f"/{DIGEST}/x.json"] = b"a trace"
    assert fetch(web.url(f"/{DIGEST}/x.json"), tmp_path, patience=quick()).bytes == 7


@pytest.mark.parametrize("name", [".profile", "-rf", "a:b", "x" * 201])
def test_names_that_mislead_are_not_fetched(
    name: str, web: FileServer, tmp_path: Path
) -> None:
    web.files[f"/{DIGEST}/{name}"] = b"a trace"
    found = findings_of(
        lambda: fetch(web.url(f"/{DIGEST}/{name}"), tmp_path / "out", patience=quick())
    )
    assert [one.code for one in found] == ["A017"]
    assert not (tmp_path / "out").exists()


def test_what_is_left_of_another_attempt_does_not_get_in(
    run: Path, store: str, tmp_path: Path
) -> None:
    (thing,) = publish([run], store).things
    part = tmp_path / "back" / f".r-1.{thing.sidecar.sha256[:12]}.part"
    part.mkdir(parents=True)
    (part / "extra").touch()
    (one,) = findings_of(lambda: fetch(thing.url, tmp_path / "back"))
    assert (one.code, one.what) == (
        "A014",
        "it holds other files; it was removed, so repeat",
    )
    assert fetch(thing.url, tmp_path / "back").files == 3
    assert not part.exists()


def test_a_published_folder_over_the_web(
    run: Path, tmp_path: Path, web: FileServer
) -> None:
    (run / "two words.txt").write_bytes(b"2")
    (thing,) = publish([run], str(tmp_path / "www")).things
    key = thing.url.removeprefix(str(tmp_path / "www"))
    web.files = {
        name.replace(" ", "%20"): data
        for name, data in held(str(tmp_path / "www")).items()
    }
    web.status[f"{key}/run.json"] = [404]
    found = findings_of(
        lambda: fetch(web.url(key), tmp_path / "back", patience=quick())
    )
    assert [one.code for one in found] == ["A015"]
    assert not (tmp_path / "back" / "r-1").exists()
    web.requests.clear()
    got = fetch(web.url(key), tmp_path / "back", patience=quick())
    assert (got.path / "two words.txt").read_bytes() == b"2"
    assert [path for path, *_ in web.requests] == [key + SUFFIX, f"{key}/run.json"]


def test_a_sidecar_that_lies_is_refused(run: Path, store: str, tmp_path: Path) -> None:
    (thing,) = publish([run], store).things
    fs, path = fsspec.core.url_to_fs(thing.url)
    good = json.loads(fs.cat_file(path + SUFFIX))

    def refusal(**changes: Any) -> list[str]:
        fs.pipe_file(path + SUFFIX, json.dumps(good | changes).encode())
        found = findings_of(lambda: fetch(thing.url, tmp_path / "back"))
        assert not (tmp_path / "back").exists()
        return [f"{one.code} {one.what}" for one in found]

    first, *others = good["files"]
    up = first | {"path": "../up"}
    assert refusal(files=[up, *others]) == [
        "A010 files[0]: its name: it begins with a dot, and hidden files are private"
    ]
    assert refusal(files=[first, first, *others]) == [
        "A010 files: they are not sorted, or one is there twice",
        "A010 sha256: the list of files has another digest",
    ]
    assert refusal(bytes=9) == ["A010 bytes: the files together have another size"]
    assert refusal(name="/etc/passwd")[0].startswith("A010 name: its name: it has one")
    assert refusal(host="rack7") == ["A007 host: no such field"]
    del good["id"]
    assert refusal() == ["A008 id: the field is missing"]


@settings(max_examples=60)
@given(
    st.binary(max_size=200)
    | st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["schema", "files", "path", "bytes", "sha256", "name", "x"]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=8,
    ).map(lambda value: json.dumps(value).encode())
)
def test_no_bytes_break_the_reader_of_sidecars(data: bytes) -> None:
    with pytest.raises(RegistryError):
        read_sidecar(data, "x.published.json")

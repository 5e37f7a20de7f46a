"""Index, provenance, notes and drawing: what people and programs read of a release."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.documents.canonical import encode_numbers
from registry.documents.findings import RegistryError
from registry.modelling.model import LINEAR, Curve, Point
from registry.publish.comparison import compare
from registry.publish.escape import code_span, markdown
from registry.publish.index import Withdrawal, index_bytes, read_index
from registry.publish.integrity import check_folder, open_folder
from registry.publish.notes import notes_bytes
from registry.publish.plot import power_curves_svg, settled
from registry.publish.provenance import check_provenance, provenance_bytes
from tests.simulators import models as made
from tests.simulators.releases import KEY, NUMBER, head, make_release, usual_models

if TYPE_CHECKING:
    from collections.abc import Callable

    from registry.publish.index import Index


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("papers") / "release"
    make_release(out)
    return out


@pytest.fixture(scope="module")
def index(release: Path) -> Index:
    return open_folder(release)[0]


def codes(error: RegistryError) -> set[str]:
    return {finding.code for finding in error.findings}


def test_an_index_is_read_back_as_it_was(index: Index) -> None:
    data = index_bytes(index)
    assert read_index(data, "index.json") == index
    assert index_bytes(read_index(data, "index.json")) == data


@pytest.mark.parametrize(
    "change",
    [
        lambda v: v.update(extra=1),
        lambda v: v.update(schema="release/2"),
        lambda v: v.update(registry="another"),
        lambda v: v.update(serial=-1),
        lambda v: v.update(serial="7"),
        lambda v: v.update(commit="main"),
        lambda v: v["assets"].append(v["assets"][0]),
        lambda v: v["assets"][0].update(path="../../etc/passwd"),
        lambda v: v["assets"][0].update(path="/etc/passwd"),
        lambda v: v["assets"][0].update(path="a//b"),
        lambda v: v["assets"][0].update(path="index.json"),
        lambda v: v["assets"][0].update(sha256="0"),
        lambda v: v["models"][0].update(files=["not-an-asset.zip"]),
        lambda v: v["models"][0].update(files=[]),
        lambda v: v["models"][0].update(status="withheld"),
        lambda v: v["models"][0].update({"class": "no-such-class"}),
        lambda v: v["models"][0].update(bundles=["no-such-bundle"]),
        lambda v: v["models"][0]["error"].update(mae="small"),
        lambda v: v.pop("models"),
        lambda v: v["bundles"][0].update(fingerprint="MD5:xyz"),
    ],
)
def test_a_strange_index_is_refused(
    index: Index, change: Callable[[Any], object]
) -> None:
    value = json.loads(index_bytes(index))
    change(value)
    with pytest.raises(RegistryError) as caught:
        read_index(encode_numbers(value), "index.json")
    assert codes(caught.value) == {"R010"}


def test_an_index_in_another_form_is_refused(index: Index) -> None:
    pretty = json.dumps(json.loads(index_bytes(index)), indent=1).encode()
    with pytest.raises(RegistryError) as caught:
        read_index(pretty, "index.json")
    assert codes(caught.value) == {"R010"}


@given(st.binary(max_size=300))
def test_no_bytes_leave_the_reader_otherwise(data: bytes) -> None:
    with pytest.raises(RegistryError):
        read_index(data, "index.json")


def test_provenance_is_a_statement_for_each_published_model(
    release: Path, index: Index
) -> None:
    data = (release / "provenance.jsonl").read_bytes()
    lines = [json.loads(line) for line in data.splitlines()]
    published = [m for m in index.models if m.status == "published"]
    assert len(lines) == len(published)
    digests = {asset.path: asset.sha256 for asset in index.assets}
    for line, model in zip(lines, published, strict=True):
        assert line["_type"] == "https://in-toto.io/Statement/v1"
        assert line["predicateType"] == "https://slsa.dev/provenance/v1"
        assert {s["name"] for s in line["subject"]} == set(model.files)
        for subject in line["subject"]:
            assert subject["digest"] == {"sha256": digests[subject["name"]]}
        definition = line["predicate"]["buildDefinition"]
        assert definition["externalParameters"]["model"] == model.id
        source, bundle, *libraries = definition["resolvedDependencies"]
        assert source == {"name": "source", "digest": {"gitCommit": index.commit}}
        assert bundle["digest"] == {"sha256": "a" * 64}
        assert bundle["annotations"]["contributor"] == 42
        assert bundle["annotations"]["key"].startswith("SHA256:")
        assert bundle["annotations"]["arrived"] == index.serial
        assert all(re.match(r"pkg:pypi/[a-z-]+@\d", lib["uri"]) for lib in libraries)


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data.replace(b'"contributor":42', b'"contributor":43', 1),
        lambda data: data.partition(b"\n")[2],
        lambda data: data + data.partition(b"\n")[0] + b"\n",
        lambda data: data + b"{}\n",
        lambda data: data + b'{"predicate":{"buildDefinition":[]}}\n',
        lambda data: data + b"\xff\n",
        lambda data: data.rstrip(b"\n"),
    ],
)
def test_other_statements_are_told(
    index: Index, damage: Callable[[bytes], bytes]
) -> None:
    data = provenance_bytes(index)
    assert check_provenance(data, index) == []
    found = check_provenance(damage(data), index)
    assert {one.code for one in found} == {"R011"}


def test_a_folder_is_checked_file_by_file(release: Path, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(release, folder)
    (folder / "stray.txt").write_bytes(b"")
    (folder / "node_type_index.json").unlink()
    (folder / "held_out.jsonl").write_bytes(b"")
    (folder / "models" / "link").symlink_to("/etc/passwd")
    notes = folder / "RELEASE_NOTES.md"
    notes.write_bytes(notes.read_bytes()[:-1] + b"!")
    index, data = open_folder(folder)
    found = {one.path: one.code for one in check_folder(folder, index, data)}
    assert found == {
        "RELEASE_NOTES.md": "R013",
        "held_out.jsonl": "R013",
        "models/link (no ordinary file)": "R014",
        "node_type_index.json": "R012",
        "stray.txt": "R014",
    }
    (folder / "SHA256SUMS").unlink()
    found = {one.path: one.code for one in check_folder(folder, index, data)}
    assert found["SHA256SUMS"] == "R012"


def test_an_empty_folder_is_no_release(tmp_path: Path) -> None:
    with pytest.raises(RegistryError) as caught:
        open_folder(tmp_path)
    assert codes(caught.value) == {"R012"}


def test_a_withheld_model_has_no_file_and_a_reason(tmp_path: Path) -> None:
    models = usual_models()
    models[0] = made.withheld(models[0], "it is | <no> better")
    index = make_release(tmp_path / "release", models)
    entry = next(m for m in index.models if m.id == str(models[0].id))
    assert (entry.status, entry.files) == ("withheld", ())
    notes = (tmp_path / "release" / "RELEASE_NOTES.md").read_text("utf-8")
    assert "it is &#124; &#60;no&#62; better" in notes
    assert not (
        tmp_path / "release" / "acpi-AbsPower-BPFOnly-SGDRegressorTrainer_0.json"
    ).exists()


def test_what_a_client_would_misread_is_withheld(tmp_path: Path) -> None:
    bad = made.model(part=made.linear(bias=-4.0))
    index = make_release(tmp_path / "release", [bad])
    assert index.models[0].status == "withheld"
    assert "the bias is negative" in index.models[0].why


def test_a_model_that_the_generic_one_surpasses_is_set_apart(tmp_path: Path) -> None:
    generic = made.model(mae=2.0)
    own = made.model(number=NUMBER, key=KEY, mae=50.0)
    rows = tuple(replace(p, watts={"platform": 185.25}) for p in own.points)
    own = replace(own, points=rows)
    index = make_release(tmp_path / "release", [generic, own])
    entry = next(m for m in index.models if m.class_key == KEY)
    assert entry.status == "withheld"
    assert entry.comparison is not None
    assert entry.comparison.generic_mae == 0.0
    assert all(path.startswith("withheld/") for path in entry.files)
    assert all((tmp_path / "release" / path).is_file() for path in entry.files)
    notes = (tmp_path / "release" / "RELEASE_NOTES.md").read_text("utf-8")
    assert "the generic one by 0.0 W on the same rows" in notes
    blocks = replace(generic.error, protocol="workload")
    seen = replace(generic, error=blocks)
    index = make_release(tmp_path / "seen", [seen, own])
    assert all(m.status == "published" for m in index.models)  # no server was held out
    still = replace(own, error=made.error(1.0, ("platform",)))
    index = make_release(tmp_path / "closer", [generic, still])
    entry = next(m for m in index.models if m.class_key == KEY)
    assert entry.status == "published"  # on other servers the generic one is worse


def test_rows_are_compared_by_component_and_form() -> None:
    point = Point({"load_ratio": 0.5}, {"platform": 100.0}, {"platform": 104.0})
    bare = Point({}, {"platform": 100.0}, {"platform": 101.0})
    curve = {"platform": Curve(((0.0, 50.0), (1.0, 170.0)))}
    found = compare(curve, {"one": [point, bare], "none": [bare]})
    assert set(found) == {"one"}
    assert found["one"].rows == 1
    assert found["one"].mae == 4.0
    assert found["one"].generic_mae == 10.0
    linear = {"platform": made.linear()}
    found = compare(linear, {"one": [bare]})
    assert found["one"].generic_mae == 40.0
    assert compare({"dram": made.linear()}, {"one": [bare]}) == {}


def test_notes_tell_of_withdrawn_data(index: Index) -> None:
    gone = Withdrawal(dataset="server-z", day="2026-05-01", reason="privacy")
    text = notes_bytes(index.model_copy(update={"withdrawn": (gone,)}), drawing=False)
    assert b"| `server-z` | 2026-05-01 | privacy |" in text
    assert b"power_curves.svg" not in text


def test_notes_stay_readable_with_many_models(index: Index) -> None:
    many = tuple(index.models[0] for _ in range(600))
    text = notes_bytes(index.model_copy(update={"models": many}), drawing=False)
    assert b"100 more are in `index.json`." in text


def test_notes_list_at_most_twenty_new_classes(index: Index) -> None:
    many = tuple(
        index.bundles[0].model_copy(update={"class_key": f"class-{number:02}"})
        for number in range(25)
    )
    text = notes_bytes(index.model_copy(update={"bundles": many}), drawing=False)
    assert b"`class-19` and 5 more." in text


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "](javascript:alert(1))",
        "| cell | cell |",
        "@all look at #123",
        "https://evil.example and www.evil.example",
        "`code` *bold* _it_ ~no~",
        "a\nb\r\n# head",
        "\u202eright to left",
        "![x](y)",
        "&lt;",
        "- item",
        "1. item",
        "GH-12",
        "=cmd()",
    ],
)
def test_foreign_text_is_never_markup(text: str) -> None:
    shown = markdown(text)
    assert not set("<>[]|@`*_~!=\n\r\u202e") & set(shown)
    assert "://" not in shown
    assert "www." not in shown
    assert "GH-" not in shown
    assert not re.match(r"[-+#]|\d+[.)]", shown)
    assert "&lt;" not in shown


def test_plain_text_stays_plain() -> None:
    assert markdown("93 % less, at 75.2 W (server)") == "93 % less, at 75.2 W (server)"
    assert code_span("xeon-gold-6248r") == "`xeon-gold-6248r`"
    assert code_span("a`b") == "a&#96;b"
    assert markdown("") == ""


def test_the_drawing_is_the_same_twice_and_holds_no_date() -> None:
    curves = {"generic": [(0.0, 1.0), (1.0, 2.0)], "a$b": [(0.0, 2.0), (1.0, 5.0)]}
    one = power_curves_svg(curves, "Power")
    assert one == power_curves_svg(dict(reversed(curves.items())), "Power")
    assert b"generic" in one
    assert b"Matplotlib v" not in one
    assert b"<dc:date>" not in one
    many = {f"class-{number:02}": curves["generic"] for number in range(61)}
    drawn = power_curves_svg(many, "Power")
    assert b"class-59" in drawn
    assert b"class-60" not in drawn
    assert b"the first 60" in drawn


def test_an_empty_registry_gives_an_empty_release(tmp_path: Path) -> None:
    bare = head().model_copy(update={"bundles": (), "classes": ()})
    index = make_release(tmp_path / "release", [], start=bare)
    assert index.models == ()
    assert not (tmp_path / "release" / "power_curves.svg").exists()
    found, data = open_folder(tmp_path / "release")
    assert check_folder(tmp_path / "release", found, data) == []


def test_linear_is_the_default_of_the_simulator() -> None:
    assert made.model().id.trainer == LINEAR


def test_a_drawing_does_not_show_the_last_bits_of_a_processor() -> None:
    """As drawn on two processors: digests of the bits, and bits that show."""
    one, other = (
        f'<g>\n<path id="m{mark}" d="M {x} 1\nL 0.5 -{x}"/><use href="#m{mark}"/>'
        f'<path clip-path="url(#p{mark})"/></g><text>p{"a" * 10} 1.23456</text>'
        f'<clipPath id="p{mark}"/>'
        for mark, x in (("78ae1e987c", "38.254064"), ("5e7fed1151", "38.254065"))
    )
    assert one != other
    assert settled(one) == settled(other)
    assert f"<text>p{'a' * 10} 1.23456</text>" in settled(one)
    assert settled(one).count("part_1") == settled(one).count("part_2") == 2
    assert 'd="M 38.25 1\nL 0.5 -38.25"' in settled(one)
    drawn = power_curves_svg({"generic": [(0.0, 50.0), (1.0, 200.0)]}, "Power").decode()
    assert re.search(r'["#][a-z][0-9a-f]{10}["\)]', drawn) is None
    names = re.findall(r'\bid="([^"]+)"', drawn)
    assert len(names) == len(set(names))
    referred = re.findall(r'(?:url\(|href=")#([^")]+)', drawn)
    assert referred
    assert set(referred) <= set(names)

"""What the text of a release says of the release before it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from registry.publish.changed import changed
from registry.publish.difference import BODY_CHARACTERS, change_notes
from registry.publish.index import Withdrawal, index_bytes
from registry.publish.integrity import tag_of
from tests.simulators import models as made
from tests.simulators.releases import KEY, NUMBER, head, make_release, usual_models

if TYPE_CHECKING:
    from registry.publish.index import Index

LATER = 1_780_100_000
LINEAR = f"acpi/AbsPower/BPFOnly/SGDRegressorTrainer_{NUMBER}"


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return make_release(tmp_path_factory.mktemp("first") / "release")


@pytest.fixture(scope="module")
def second(tmp_path_factory: pytest.TempPathFactory) -> Index:
    """One model refitted and closer, one withheld, one gone, one new."""
    models = {str(model.id): model for model in usual_models()}
    closer = made.model("SGDRegressorTrainer", "acpi", NUMBER, key=KEY, mae=4.0)
    models[LINEAR] = replace(closer, components={"platform": made.linear(61.5)})
    curve = f"acpi/AbsPower/BPFOnly/PowerCurve_{NUMBER}"
    models[curve] = made.withheld(models[curve])
    del models[f"rapl-sysfs/AbsPower/BPFOnly/SGDRegressorTrainer_{NUMBER}"]
    fresh = made.model("SGDRegressorTrainer", output="DynPower", mae=2.0)
    models[str(fresh.id)] = fresh
    start = head(LATER)
    bundle = start.bundles[0].model_copy(
        update={"version": 2, "manifest_sha256": "b" * 64}
    )
    other = bundle.model_copy(update={"dataset": "server-z", "version": 1})
    start = start.model_copy(update={"bundles": (bundle, other)})
    out = tmp_path_factory.mktemp("second") / "release"
    return make_release(out, list(models.values()), start=start)


def kinds(previous: Index | None, index: Index) -> dict[str, str]:
    return {one.id: one.kind for one in changed(previous, index).models}


def test_each_kind_of_change_is_told_apart(first: Index, second: Index) -> None:
    assert kinds(first, second) == {
        LINEAR: "changed",
        f"acpi/AbsPower/BPFOnly/PowerCurve_{NUMBER}": "withheld",
        f"rapl-sysfs/AbsPower/BPFOnly/SGDRegressorTrainer_{NUMBER}": "gone",
        "acpi/DynPower/BPFOnly/SGDRegressorTrainer_0": "new",
    }
    back = kinds(second, first)
    assert back[f"acpi/AbsPower/BPFOnly/PowerCurve_{NUMBER}"] == "published"
    assert back["acpi/DynPower/BPFOnly/SGDRegressorTrainer_0"] == "gone"
    found = changed(first, second)
    published = [m for m in second.models if m.status == "published"]
    assert found.same == len(published) - 2  # all but the changed and the new one


def test_a_release_does_not_differ_from_itself(first: Index) -> None:
    found = changed(first, first)
    assert not any(
        (
            found.models,
            found.new_classes,
            found.gone_classes,
            found.added,
            found.updated,
            found.gone,
            found.withdrawn,
            found.causes,
        )
    )
    text = change_notes(first, first)
    assert "Signed bundles: none changed" in text
    assert "## For whom" not in text


def test_errors_stand_before_and_after_with_the_change(
    first: Index, second: Index
) -> None:
    text = change_notes(first, second)
    row = next(
        line
        for line in text.splitlines()
        if "| changed |" in line and "AbsPower/BPFOnly/SGDRegressorTrainer" in line
    )
    assert re.search(
        r"\| 5\.0 W \(.*\) *, .* % \| 4\.0 W \(.*, .* % \| −20\.0 % \|", row
    )
    assert f"`{KEY}` ({NUMBER})" in row


def test_operators_find_their_class_by_its_number(first: Index, second: Index) -> None:
    lines = change_notes(first, second).splitlines()
    rows = [line for line in lines if line.startswith(f"| `{KEY}` | {NUMBER} |")]
    assert len(rows) == 1
    assert "1 changed, 1 withheld now, 1 gone" in rows[0]
    assert "| update |" in rows[0]


def test_it_names_the_release_before_and_how_to_verify_this_one(
    first: Index, second: Index
) -> None:
    text = change_notes(first, second, repository="power/registry")
    assert tag_of(index_bytes(first)) in text
    tag = tag_of(index_bytes(second))
    assert f"registry fetch --from github:power/registry@{tag}" in text
    assert f"registry rebuild --compare github:power/registry@{tag}" in text
    assert "sha256sum --check" in text
    command = text[text.index("gh attestation verify") :].split("```")[0]
    assert "--repo power/registry" in command
    workflow = "power/registry/.github/workflows/publish.yml"
    assert f"--signer-workflow {workflow}" in command
    assert "--source-ref refs/heads/main" in command
    assert f"--source-digest {second.commit}" in command


def test_bundles_and_their_withdrawals_are_told(first: Index, second: Index) -> None:
    text = change_notes(first, second)
    assert "| `server-z` | added |" in text
    assert "| `server-a` | version 2, was 1 |" in text
    gone = Withdrawal(dataset="server-z", day="2026-06-01", reason="privacy")
    third = first.model_copy(update={"withdrawn": (gone,)})
    text = change_notes(second, third)
    row = next(line for line in text.splitlines() if line.startswith("| `server-z`"))
    assert "withdrawn on 2026-06-01: privacy" in row


def test_the_first_release_says_so(first: Index) -> None:
    text = change_notes(None, first)
    assert "The first release" in text
    assert set(kinds(None, first).values()) == {"new"}
    assert "a new class" in text


def test_a_class_that_lost_its_data_is_sent_to_the_generic_one(first: Index) -> None:
    generic = [m for m in first.models if m.class_key == "generic"]
    without = first.model_copy(
        update={"models": tuple(generic), "classes": first.classes[:1]}
    )
    text = change_notes(first, without)
    row = next(line for line in text.splitlines() if f"| {NUMBER} |" in line)
    assert "use class 0 instead" in row


def test_other_code_and_libraries_are_causes(first: Index) -> None:
    libraries = {**first.libraries, "numpy": "1.0<script>"}
    other = first.model_copy(
        update={"libraries": libraries, "code": {"artifacts": "0" * 64, "fits": "1"}}
    )
    found = changed(first, other)
    assert len(found.causes) == 3
    text = change_notes(first, other)
    assert "the library numpy" in text
    assert "<script>" not in text


STRANGE = "x`|](javascript:a)<img src=x onerror=1>@all\n# =cmd()"


def test_foreign_texts_are_never_markup(first: Index) -> None:
    gone = Withdrawal(dataset="server-q", day="2026-06-01", reason=STRANGE)
    bundle = first.bundles[0].model_copy(
        update={"dataset": "server-q", "licence": STRANGE}
    )
    later = first.model_copy(update={"withdrawn": (gone,), "bundles": (bundle,)})
    text = change_notes(first, later)
    for piece in ("](javascript", "<img", "@all", "\n# ", "x`|"):
        assert piece not in text
    # and an id that is none, from an index that somebody else wrote
    model: Any = first.models[0].model_copy(update={"id": STRANGE})
    odd = first.model_copy(update={"models": (model,)})
    assert "](javascript" not in change_notes(odd, first)


def test_the_text_fits_into_a_release_however_much_changed(first: Index) -> None:
    bundles = tuple(
        first.bundles[0].model_copy(update={"dataset": f"server-{at:05}"})
        for at in range(5_000)
    )
    model = next(m for m in first.models if m.class_key == KEY)
    models = tuple(
        model.model_copy(update={"id": f"{model.id}{at}", "why": "w" * 600})
        for at in range(2_000)
    )
    many = first.model_copy(update={"bundles": bundles, "models": models})
    text = change_notes(None, many)
    assert len(text) <= BODY_CHARACTERS
    assert "more are in `index.json`" in text
    assert "gh attestation verify" in text
    assert change_notes(None, many) == text

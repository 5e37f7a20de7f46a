"""Choosing a model and saying how to use it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import registry.client
from registry.client import as_json, as_lines, fetch
from registry.documents.findings import RegistryError
from registry.documents.spec import write_spec
from registry.publish.kepler import go_reader
from tests.simulators import models as made
from tests.simulators.releases import (
    KEY,
    NUMBER,
    SERIAL,
    SPEC,
    make_release,
    poison,
    usual_models,
)
from tests.simulators.web import served


def codes(place: object, **named: Any) -> set[str]:
    with pytest.raises(RegistryError) as caught:
        fetch(str(place), **named)
    return {finding.code for finding in caught.value.findings}


def test_the_servers_own_class_wins(release: Path, spec: Path) -> None:
    found = fetch(str(release), spec=spec)
    assert found.server.key == KEY
    assert found.server.measured
    assert [offer.model.id for offer in found.offers] == [
        f"acpi/AbsPower/BPFOnly/SGDRegressorTrainer_{NUMBER}",
        f"rapl-sysfs/AbsPower/BPFOnly/SGDRegressorTrainer_{NUMBER}",
    ]


def test_predictions_are_what_kepler_computes(release: Path, spec: Path) -> None:
    offer = fetch(str(release), spec=spec, source="acpi").offers[0]
    assert offer.watts == {
        0: {"platform": 60.0},
        50: {"platform": 185.25},
        100: {"platform": 310.5},
    }


def test_a_server_never_measured_gets_the_generic_model(
    release: Path, tmp_path: Path
) -> None:
    memory = SPEC.memory.model_copy(update={"bytes": 2**40})
    other = SPEC.model_copy(update={"machine": "other", "memory": memory})
    path = tmp_path / "other.yaml"
    path.write_bytes(write_spec(other))
    found = fetch(str(release), spec=path)
    assert not found.server.measured
    assert found.server.key == "xeon-gold-6248r-2s-48c-1024g"
    assert found.offers[0].model.id == "acpi/AbsPower/BPFOnly/SGDRegressorTrainer_0"
    assert found.offers[0].model.error.mae == 30.0
    lines = as_lines(found)
    assert any("never measured" in line for line in lines)
    assert any("30.0 W on average" in line for line in lines)


def test_a_class_by_number(release: Path) -> None:
    own = fetch(str(release), number=NUMBER)
    assert own.server.key == KEY
    assert own.offers[0].watts[100] == {"platform": 310.5}
    generic = fetch(str(release), number=0)
    assert generic.offers[0].watts == {}
    assert any("give --spec" in line for line in as_lines(generic))
    assert codes(release, number=1) == {"R050"}


def test_one_of_spec_and_class_is_needed(release: Path, spec: Path) -> None:
    assert codes(release) == {"R055"}
    assert codes(release, spec=spec, number=0) == {"R055"}


def test_a_spec_that_cannot_be_read_is_told(release: Path, tmp_path: Path) -> None:
    assert codes(release, spec=tmp_path / "none.yaml") == {"R052"}
    (tmp_path / "bad.yaml").write_bytes(b"a: &x 1\n")
    assert all(
        code.startswith("Y") for code in codes(release, spec=tmp_path / "bad.yaml")
    )


def test_a_use_without_a_model_is_told(release: Path) -> None:
    assert codes(release, number=0, output="DynPower") == {"R051"}
    assert codes(release, number=0, source="hmc") == {"R051"}


def test_a_class_whose_models_were_withheld_gets_the_generic_one(
    tmp_path: Path, spec: Path
) -> None:
    models = [
        model if model.class_key == "generic" else made.withheld(model)
        for model in usual_models()
    ]
    make_release(tmp_path / "release", models)
    found = fetch(str(tmp_path / "release"), spec=spec)
    assert found.server.measured
    assert found.offers[0].model.class_key == "generic"
    assert found.offers[0].watts[0] == {"platform": 60.0}
    assert any("closer than the generic" in line for line in as_lines(found))


def test_settings_for_a_web_server(release: Path, spec: Path) -> None:
    name = f"acpi-AbsPower-BPFOnly-SGDRegressorTrainer_{NUMBER}.json"
    with served(release) as url:
        found = fetch(url, spec=spec)
        total, parts = found.offers
        assert total.settings.lines == (
            "NODE_TOTAL_LOCAL_REGRESSOR=true",
            f"NODE_TOTAL_INIT_URL={url}/{name}",
        )
        assert parts.settings.lines[0] == "NODE_COMPONENTS_LOCAL_REGRESSOR=true"
        lines = as_lines(found)
        assert "MODEL_CONFIG:" in lines
        assert lines[2].endswith(f"INITIAL_PIPELINE_URL={url}/std_v0.7.11.zip")


def test_settings_for_a_folder_need_a_file(release: Path, spec: Path) -> None:
    offer = fetch(str(release), spec=spec, source="acpi").offers[0]
    assert offer.settings.lines == ()
    assert "--out" in offer.settings.steps[0]


def test_the_file_lies_under_the_name_that_kepler_reads(
    release: Path, spec: Path, tmp_path: Path
) -> None:
    out = tmp_path / "models"
    offers = fetch(str(release), spec=spec, out=out).offers
    assert sorted(path.name for path in out.iterdir()) == [
        "acpi_AbsPowerModel.json",
        "intel_rapl_AbsPowerModel.json",
    ]
    total = offers[0]
    assert total.file == out / "acpi_AbsPowerModel.json"
    assert total.settings.lines == ("NODE_TOTAL_LOCAL_REGRESSOR=true",)
    steps = " ".join(total.settings.steps)
    assert "/var/lib/kepler/data/model_weight/acpi_AbsPowerModel.json" in steps
    assert "NODE_TOTAL_INIT_URL" in steps
    model = go_reader.load(total.file.read_bytes())
    assert go_reader.watts(model, "platform", {}) == 60.0


def test_settings_for_the_estimator(release: Path, spec: Path, tmp_path: Path) -> None:
    name = f"acpi-AbsPower-BPFOnly-GradientBoostingRegressorTrainer_{NUMBER}.zip"
    local = fetch(str(release), spec=spec, source="acpi", estimator=True).offers[0]
    chosen = local.model.id.rpartition("/")[2]
    assert chosen.startswith("GradientBoostingRegressorTrainer_")
    assert local.settings.lines == (
        "NODE_TOTAL_ESTIMATOR=true",
        f"NODE_TOTAL_INIT_URL={(release / name).as_uri()}",
    )
    assert local.watts[100]["platform"] == pytest.approx(410, rel=0.1)
    with served(release) as url:
        web = fetch(url, spec=spec, source="acpi", estimator=True).offers[0]
        assert web.settings.lines[1] == f"NODE_TOTAL_INIT_URL={url}/{name}"
        out = tmp_path / "models"
        kept = fetch(url, spec=spec, source="acpi", estimator=True, out=out).offers[0]
        assert kept.settings.lines[1].endswith((out / name).as_uri())


def test_a_path_with_odd_characters_reaches_kepler(spec: Path, tmp_path: Path) -> None:
    folder = tmp_path / "a=b c"
    make_release(folder)
    offer = fetch(str(folder), spec=spec, source="acpi", estimator=True).offers[0]
    assert "/a%3Db%20c/" in offer.settings.lines[1]
    assert offer.settings.lines[1].count("=") == 1


def test_counters_are_not_guessed_from_load(tmp_path: Path, spec: Path) -> None:
    counters = made.model(
        number=NUMBER,
        key=KEY,
        features=made.COUNTERS,
        part=made.linear(features=made.COUNTERS),
        group="CounterOnly",
    )
    make_release(tmp_path / "release", [counters])
    offer = fetch(str(tmp_path / "release"), spec=spec).offers[0]
    assert offer.model.id.split("/")[2] == "CounterOnly"
    assert offer.watts == {}
    assert not any(
        "watts" in line
        for line in as_lines(fetch(str(tmp_path / "release"), spec=spec))
    )


def test_a_file_that_cannot_be_written_is_told(
    release: Path, spec: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").write_bytes(b"")
    assert codes(release, spec=spec, out=tmp_path / "file") == {"R058"}


def test_weights_that_kepler_misreads_are_refused_even_with_right_digests(
    tmp_path: Path, spec: Path
) -> None:
    folder = tmp_path / "release"
    index = make_release(folder)
    name = f"acpi-AbsPower-BPFOnly-SGDRegressorTrainer_{NUMBER}.json"
    data = (folder / name).read_bytes().replace(b"60.0", b"-6.0")
    poison(folder, index, {name: data})
    assert codes(folder, spec=spec, source="acpi") == {"R057"}


def test_the_report_for_programs(release: Path, spec: Path) -> None:
    value = as_json(fetch(str(release), spec=spec))
    again: Any = json.loads(json.dumps(value))
    assert again["class"] == KEY
    assert again["measured"] is True
    assert again["offers"][0]["watts"]["50"] == {"platform": 185.25}
    assert again["offers"][1]["watts"]["0"] == {"dram": 60.0, "package": 60.0}
    assert again["offers"][0]["error"]["mae"] == 5.0


def test_the_report_for_people(release: Path, spec: Path) -> None:
    text = "\n".join(as_lines(fetch(str(release), spec=spec)))
    for part in (
        f"class   {KEY} (number {NUMBER}), measured on 1 server of 1 contributor",
        "5.0 W on average (95 % interval 2.5 to 10.0 W, 4.0 %)",
        "0 %: 60.0 W, 50 %: 185.2 W, 100 %: 310.5 W",
        "dram 60.0 W + package 60.0 W",
    ):
        assert part in text


def test_the_report_warns_of_an_old_release(release: Path) -> None:
    found = fetch(str(release), number=0, now=SERIAL + 10**9)
    assert any(line.startswith("warning R045") for line in as_lines(found))
    value: Any = as_json(found)
    assert value["warnings"][0]["code"] == "R045"


def test_the_facade_has_no_other_names() -> None:
    assert set(registry.client.__all__) >= {"fetch", "open_release"}
    with pytest.raises(AttributeError):
        _ = registry.client.nothing


def test_the_estimator_takes_a_linear_model_too(tmp_path: Path, spec: Path) -> None:
    folder = tmp_path / "release"
    make_release(folder, [made.model(number=NUMBER, key=KEY)])
    offer = fetch(str(folder), spec=spec, source="acpi", estimator=True).offers[0]
    assert "/SGDRegressorTrainer_" in offer.model.id
    go = fetch(str(folder), spec=spec, source="acpi").offers[0]
    for load in (0, 50, 100):
        assert offer.watts[load] == pytest.approx(go.watts[load], rel=1e-6)
    assert "at this very path" in offer.settings.steps[0]


def test_a_digest_that_is_not_this_releases_is_told(release: Path, spec: Path) -> None:
    with pytest.raises(RegistryError) as caught:
        fetch(str(release), spec=spec, digest="abc")
    found = caught.value.findings[0]
    assert found.code == "R046"
    assert found.what.startswith("abc was asked for, but it is ")

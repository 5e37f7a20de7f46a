"""The traps of kepler-clients.md section d: our artifacts cannot trigger them."""

from __future__ import annotations

import io
import json
import pickletools
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from registry.client.fetching import fetch
from registry.client.settings import checked_url, for_url
from registry.documents.findings import RegistryError
from registry.modelling.model import LINEAR, Linear, parse_id
from registry.publish.assets import model_forms
from registry.publish.index import Index, read_index
from registry.publish.kepler import go_reader
from registry.publish.kepler.node_types import machine_of
from registry.publish.kepler.weights import misreadings, weight_file
from tests.conformance.model_server import ModelServer, covers, similarity
from tests.simulators import models as made
from tests.simulators.releases import (
    KEY,
    NUMBER,
    SPEC,
    make_release,
    usual_models,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conformance.estimator import Estimator

ZEROS = dict.fromkeys(go_reader.CLIENT_FEATURES, 0.0)
FULL = {"bpf_cpu_time_ms": 96_000.0}


def index_of(release: Path) -> Index:
    return read_index((release / "index.json").read_bytes(), "index.json")


def weight_files(release: Path) -> list[Path]:
    files = list(release.rglob("SGDRegressorTrainer_*.json"))
    files += release.glob("*SGDRegressorTrainer_*.json")
    assert files
    return files


def zips(release: Path) -> list[Path]:
    found = [path for path in release.rglob("*.zip") if "Trainer_" in path.name]
    assert found
    return found


def refused(**changes: Any) -> list[str]:
    """Say what the guard finds in a weight file with one thing changed."""
    body: dict[str, Any] = {
        "model_name": "SGDRegressorTrainer_0",
        "platform": {
            "All_Weights": {
                "Bias_Weight": 60.0,
                "Categorical_Variables": {},
                "Numerical_Variables": {
                    "bpf_cpu_time_ms": {"scale": 96000.0, "weight": 250.0}
                },
            }
        },
    }
    weights = body["platform"]["All_Weights"]
    for name, value in changes.items():
        place = weights if name in weights or name == "CurveFit_Weights" else body
        place[name] = value
    return misreadings(json.dumps(body).encode(), "acpi")


def test_the_guard_accepts_a_sound_file() -> None:
    assert refused() == []


def test_trap_1_flat_names_cannot_kill_kepler(release: Path) -> None:
    for path in weight_files(release):
        body = path.read_bytes()
        assert go_reader.load(body, f"http://x/{path.name}").trainer == LINEAR
        anonymous = json.loads(body)
        del anonymous["model_name"]
        nameless = json.dumps(anonymous).encode()
        model = go_reader.load(nameless, f"http://x/{path.name}")
        named = go_reader.load(body)
        for part in named.components:
            assert go_reader.watts(model, part, FULL) == go_reader.watts(
                named, part, FULL
            )
    assert refused(CurveFit_Weights=[1.0, 2.0, 3.0])
    assert refused(model_name="XgboostFitTrainer_0")


def test_trap_1_power_curves_are_refused_whole_by_kepler(release: Path) -> None:
    curves = list(release.glob("*PowerCurve_*.json"))
    assert curves
    for path in curves:
        with pytest.raises(go_reader.GoRejectsError):
            go_reader.load(path.read_bytes(), f"http://x/{path.name}")


def test_trap_2_no_curve_fit_is_published_for_go(release: Path) -> None:
    for path in weight_files(release):
        model = go_reader.load(path.read_bytes())
        assert all(not weights.curve for weights in model.components.values())
    with pytest.raises(RegistryError) as caught:
        weight_file(made.model("PowerCurve"), None)
    assert caught.value.findings[0].code == "R001"
    assert refused(model_name="ExponentialRegressionTrainer_0")


def test_trap_3_power_is_never_negative(release: Path) -> None:
    for path in weight_files(release):
        model = go_reader.load(path.read_bytes())
        for features in (ZEROS, dict.fromkeys(ZEROS, 1.0), FULL):
            power = go_reader.component_milliwatts(model, features)
            power["platform"] = go_reader.platform_milliwatts(model, features)
            assert all(value < 10_000_000 for value in power.values())
    assert refused(Bias_Weight=-0.001)
    assert refused(
        Numerical_Variables={"bpf_cpu_time_ms": {"scale": 1.0, "weight": -1.0}}
    )
    with pytest.raises(RegistryError):
        weight_file(made.model(part=made.linear(bias=-1.0)), None)


def test_trap_4_every_feature_counts_with_a_positive_scale(release: Path) -> None:
    for path in weight_files(release):
        model = go_reader.load(path.read_bytes())
        for weights in model.components.values():
            for feature, (scale, weight) in weights.numerical.items():
                assert feature in go_reader.CLIENT_FEATURES
                assert scale > 0
                assert weight >= 0
    for broken in (
        {"bpf_cpu_time_ms": {"scale": 0, "weight": 1.0}},
        {"bpf_cpu_time_ms": {"weight": 1.0}},
        {"bpf_cpu_time_us": {"scale": 1.0, "weight": 1.0}},
        {"cpu_ref_cycles": {"scale": 1.0, "weight": 1.0}},
    ):
        assert refused(Numerical_Variables=broken)


def test_trap_5_an_empty_model_is_never_published(release: Path) -> None:
    for path in weight_files(release):
        model = go_reader.load(path.read_bytes())
        busy = dict.fromkeys(ZEROS, 1e6)
        assert any(go_reader.watts(model, part, busy) > 0 for part in model.components)
    assert misreadings(b"{}", "acpi")
    assert misreadings(b'{"model_name":"SGDRegressorTrainer_0","platform":{}}', "acpi")
    package = json.dumps(
        {
            "model_name": "SGDRegressorTrainer_0",
            "package": {"All_Weights": {"Bias_Weight": 3.0}},
        }
    ).encode()
    assert misreadings(package, "acpi")
    assert misreadings(package, "rapl-sysfs") == []
    assert misreadings(package.replace(b"package", b"platform"), "rapl-sysfs")


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
def test_trap_6_no_nan_reaches_a_file(release: Path, bad: float) -> None:
    for path in release.rglob("*.json"):
        json.loads(path.read_bytes(), parse_constant=pytest.fail)
    for part in (
        Linear(bad, {"bpf_cpu_time_ms": (1.0, 1.0)}),
        Linear(1.0, {"bpf_cpu_time_ms": (bad, 1.0)}),
        Linear(1.0, {"bpf_cpu_time_ms": (1.0, bad)}),
    ):
        with pytest.raises(RegistryError):
            weight_file(made.model(part=part), None)


def test_trap_7_numbers_of_machines_are_integers(release: Path) -> None:
    own = release / f"acpi-AbsPower-BPFOnly-SGDRegressorTrainer_{NUMBER}.json"
    spec = go_reader.load(own.read_bytes()).spec
    assert spec == go_reader.GoSpec(
        vendor="example",
        processor="intel_xeon_gold_6248r",
        cores=96,
        chips=2,
        memory=384,
        frequency=4000,
        threads_per_core=2,
    )
    index = json.loads((release / "node_type_index.json").read_bytes())
    for entry in index.values():
        for name, value in entry["attrs"].items():
            assert isinstance(value, str if name == "processor" else int)
    assert refused(machine_spec={"cores": 4.0})


def test_trap_8_an_error_page_is_refused_by_our_client() -> None:
    page = b'{"message": "Not Found", "status": "404"}'
    assert go_reader.load(page).components == {}  # Kepler would take it
    assert misreadings(page, "acpi")


def test_trap_9_files_are_small_enough_to_come_at_once(release: Path) -> None:
    """Kepler has no timeout: what it waits for must be small and need one request."""
    for path in weight_files(release):
        assert path.stat().st_size < 16 * 1024


@pytest.mark.parametrize(
    "url",
    [
        "http://x/y?token=abc",
        "http://x/a b.json",
        "http://x/a\tb.json",
        "http://x/a#b.json",
        "http://x/é.json",
        "http://x/a;b.json",
        "x/y.json",
    ],
)
def test_trap_10_urls_that_kepler_would_drop_are_refused(url: str) -> None:
    with pytest.raises(RegistryError) as caught:
        checked_url(url)
    assert caught.value.findings[0].code == "R053"
    assert "--out" in caught.value.findings[0].fix


def test_trap_10_our_lines_survive_both_parsers(release: Path) -> None:
    for model in index_of(release).models:
        identity = parse_id(model.id)
        settings = for_url(identity, "https://h:8/x/y_1.json", estimator=False)
        assert [item.count("=") for item in settings.lines] == [1, 1]
        assert " ".join(settings.lines).split() == list(settings.lines)


def test_trap_11_only_idle_depends_on_the_cores(release: Path) -> None:
    """A generic model has no machine, so nothing of it is scaled."""
    generic = release / "acpi-AbsPower-BPFOnly-SGDRegressorTrainer_0.json"
    model = go_reader.load(generic.read_bytes())
    assert model.spec is None
    idle = go_reader.platform_milliwatts(model, {}, idle=True, cores=2)
    assert idle == go_reader.platform_milliwatts(model, {})
    own = release / f"acpi-AbsPower-BPFOnly-SGDRegressorTrainer_{NUMBER}.json"
    model = go_reader.load(own.read_bytes())
    busy = {"bpf_cpu_time_ms": 1000.0}
    assert go_reader.platform_milliwatts(
        model, busy, cores=96
    ) == go_reader.platform_milliwatts(model, busy, cores=2)
    whole = go_reader.platform_milliwatts(model, {}, idle=True, cores=96)
    assert whole == go_reader.platform_milliwatts(model, {})


def test_trap_12_the_server_finds_a_model_of_type_0(model_server: ModelServer) -> None:
    for source in ("acpi", "rapl-sysfs"):
        weights = model_server.choose(source, 0, weight=True)
        assert weights["model_name"] == "SGDRegressorTrainer_0"
        assert misreadings(json.dumps(weights).encode(), source) == []


def test_trap_13_cpu_time_is_of_all_processors_and_idle_is_the_bias(
    release: Path,
) -> None:
    """With pid 0 counted every server looks full; without it, idle is at zero."""
    own = release / f"acpi-AbsPower-BPFOnly-SGDRegressorTrainer_{NUMBER}.json"
    model = go_reader.load(own.read_bytes())
    scale = model.components["platform"].numerical["bpf_cpu_time_ms"][0]
    assert model.spec is not None
    assert scale == 1000.0 * model.spec.cores
    assert go_reader.watts(model, "platform", {}) == 60.0
    assert go_reader.watts(model, "platform", FULL) == 310.5


def test_traps_14_and_15_nothing_is_pickled(release: Path) -> None:
    for path in zips(release):
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                assert name.endswith(".json")
                data = archive.read(name)
                json.loads(data)
                with pytest.raises(Exception, match=r"opcode|pickle|exhausted"):
                    list(pickletools.genops(data))


def test_trap_16_what_is_named_zip_is_a_zip(release: Path) -> None:
    for path in release.rglob("*.zip"):
        with zipfile.ZipFile(path) as archive:
            assert archive.testzip() is None


def test_trap_18_no_number_is_part_of_another(release: Path) -> None:
    numbers = [str(entry.number) for entry in index_of(release).classes]
    for one in numbers:
        for other in numbers:
            assert one == other or f"_{one}" not in f"_{other}"
    assert all(number == "0" or len(number) == 9 for number in numbers)


def test_trap_19_one_pipeline_holds_both_sources(model_server: ModelServer) -> None:
    assert (model_server.root / "acpi").is_dir()
    assert (model_server.root / "rapl-sysfs").is_dir()


def test_trap_20_mape_is_the_largest_of_the_components(
    estimate: Callable[[str], Estimator],
) -> None:
    name = "rapl-sysfs-AbsPower-BPFOnly-GradientBoostingRegressorTrainer_0.zip"
    metadata = estimate(name).metadata
    assert metadata["mape"] == max(metadata["package_mape"], metadata["dram_mape"])
    assert metadata["mae"] == max(metadata["package_mae"], metadata["dram_mae"])


def test_trap_21_metadata_holds_no_object(release: Path) -> None:
    for path in zips(release):
        with zipfile.ZipFile(path) as archive:
            metadata = json.loads(archive.read("metadata.json"))
        assert not any(isinstance(value, dict) for value in metadata.values())
        assert isinstance(metadata["mae"], float)
        assert isinstance(metadata["mape"], float)
        assert metadata["fe_files"] == []


def test_trap_22_dynamic_models_are_not_offered_to_the_estimator(
    release: Path, tmp_path: Path
) -> None:
    with pytest.raises(RegistryError) as caught:
        fetch(
            str(release),
            number=0,
            output="DynPower",
            estimator=True,
            state=tmp_path / "seen.json",
        )
    assert caught.value.findings[0].code == "R056"


def test_trap_25_the_default_path_of_the_estimator_is_served(release: Path) -> None:
    group = release / "models/std_v0.7.11/acpi/AbsPower/BPFOnly"
    assert (group / "GradientBoostingRegressorTrainer_0.zip").is_file()
    assert (release / "std_v0.7.11.zip").is_file()
    assert (release / "models" / "std_v0.7.11.zip").is_file()


def test_type_0_matches_no_machine_by_accident(model_server: ModelServer) -> None:
    generic = model_server.types[0]
    machine = machine_of(SPEC)
    real = {
        name: getattr(machine, name)
        for name in ("processor", "cores", "chips", "memory", "frequency")
    }
    assert not covers(generic, real)
    assert similarity(generic, real) == 0
    assert model_server.node_type(real) == NUMBER
    other = {"processor": "amd_epyc_7763_64_core", "cores": 256, "memory": 1000}
    assert model_server.node_type(other) == NUMBER  # the only real one
    assert model_server.node_type({"processor": "", "cores": None}) == 0


def test_the_server_chooses_by_mae_within_a_type(model_server: ModelServer) -> None:
    chosen = model_server.choose("acpi", NUMBER, weight=False)
    assert chosen["model_name"].endswith(f"_{NUMBER}")
    assert chosen["mae"] == 5.0


def test_a_class_without_models_is_no_node_type(tmp_path: Path) -> None:
    generic = [model for model in usual_models() if model.class_key != KEY]
    make_release(tmp_path / "release", generic)
    index = json.loads((tmp_path / "release/node_type_index.json").read_bytes())
    assert set(index) == {"0"}
    assert index["0"]["members"]


def test_every_form_is_the_same_twice() -> None:
    for trainer in ("SGDRegressorTrainer", "GradientBoostingRegressorTrainer"):
        one = model_forms(made.model(trainer), None)
        assert one == model_forms(made.model(trainer), None)
        for form, data in one.items():
            if form == "zip":
                with zipfile.ZipFile(io.BytesIO(data)) as archive:
                    for entry in archive.infolist():
                        assert entry.date_time == (1980, 1, 1, 0, 0, 0)
                        assert entry.external_attr == 0o100644 << 16
                        assert entry.compress_type == zipfile.ZIP_STORED

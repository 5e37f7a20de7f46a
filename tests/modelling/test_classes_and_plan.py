"""Plans: which models a change affects, and why, from manifests alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from registry.documents.findings import RegistryError
from registry.modelling.catalogue import Catalogue, PreviousRelease, read_catalogue
from registry.modelling.classes import class_rule, members, reviewed_classes
from registry.modelling.plan import Plan, plan
from registry.modelling.targets import feature_groups, features, target_quantities
from tests.simulators.machines import Machine
from tests.simulators.registry import ARRIVED, NOW, MemoryTree, Simulator, registry_of

GENERIC = "acpi/AbsPower/BPFOnly/SGDRegressorTrainer_0"


def catalogue_of(
    simulated: Simulator, before: PreviousRelease | None = None
) -> Catalogue:
    arrived = simulated.arrivals()
    return read_catalogue(simulated.tree(), before, arrivals=arrived, now=NOW)


def released(catalogue: Catalogue, made: Plan) -> PreviousRelease:
    orders = (*made.fit, *made.reuse)
    return PreviousRelease(
        models={str(o.id): o.input_digest for o in orders},
        classes=catalogue.classes,
        class_rule=catalogue.class_rule,
        bundles={
            str(o.id): {b.dataset: b.manifest_sha256 for b in o.bundles} for o in orders
        },
    )


@pytest.fixture(scope="module")
def three() -> Simulator:
    return registry_of(3)


def test_everything_is_new_without_an_earlier_release(three: Simulator) -> None:
    made = plan(catalogue_of(three))
    assert len(made.fit) == 4 * 5
    assert GENERIC in {str(order.id) for order in made.fit}
    assert {reason.why for reason in made.reasons} == {"there is no earlier release"}
    assert not made.reuse
    assert not made.drop


def test_nothing_changes_where_nothing_changed(three: Simulator) -> None:
    catalogue = catalogue_of(three)
    before = released(catalogue, plan(catalogue))
    again = plan(catalogue_of(three, before), before)
    assert not again.fit
    assert not again.reasons
    assert len(again.reuse) == 20


def test_one_more_bundle_affects_its_class_and_the_generic_one(
    three: Simulator,
) -> None:
    catalogue = catalogue_of(three)
    before = released(catalogue, plan(catalogue))
    more = three.copy()
    model = "Intel Xeon Gold 6200R"
    more.add_levels("server-new", 1000, Machine("server-new", model, seed=77))
    made = plan(catalogue_of(more, before), before)
    key = "xeon-gold-6200r-2s-48c-384g"
    assert {order.class_key for order in made.fit} == {key, "generic"}
    assert len(made.reuse) == 10
    whys = {reason.class_key: reason.why for reason in made.reasons}
    assert whys[key] == f"class {key} gains bundle server-new (11 rows)"
    assert whys["generic"] == "class generic gains bundle server-new (11 rows)"


def test_a_bundle_of_load_levels_leaves_models_of_processor_zones_alone() -> None:
    simulated = registry_of(1)
    simulated.add_samples("recorded", 1000, seconds=4)
    catalogue = catalogue_of(simulated)
    first = plan(catalogue)
    assert {o.id.source for o in first.fit} == {"acpi", "rapl-sysfs"}
    before = released(catalogue, first)
    simulated.add_levels("later", 1000)
    made = plan(catalogue_of(simulated, before), before)
    assert {(o.id.source, o.id.group) for o in made.fit} == {("acpi", "BPFOnly")}


def test_a_withdrawn_bundle_drops_what_it_alone_supported(three: Simulator) -> None:
    catalogue = catalogue_of(three)
    before = released(catalogue, plan(catalogue))
    fewer = three.copy()
    fewer.files["datasets/server-0001/WITHDRAWN.yaml"] = b"reason: other\n"
    made = plan(catalogue_of(fewer, before), before)
    assert {order.class_key for order in made.fit} == {"generic"}
    assert len(made.drop) == 5
    whys = {reason.class_key: reason.why for reason in made.reasons}
    assert whys["generic"] == "class generic loses bundle server-0001"
    key = "xeon-gold-6201r-2s-48c-384g"
    assert whys[key] == "no bundle supports it any more"


def test_a_new_version_is_named(three: Simulator) -> None:
    catalogue = catalogue_of(three)
    before = released(catalogue, plan(catalogue))
    newer = three.copy()
    newer.bump("server-0002")
    newer.sign("server-0002")
    made = plan(catalogue_of(newer, before), before)
    assert "has a new version of bundle server-0002" in made.reasons[0].why


def test_other_code_refits_everything(three: Simulator) -> None:
    catalogue = catalogue_of(three)
    before = released(catalogue, plan(catalogue))
    other = replace(before, models=dict.fromkeys(before.models, "0" * 64))
    made = plan(catalogue, other)
    assert len(made.fit) == 20
    assert "the code of the fits" in made.reasons[0].why
    blind = replace(other, bundles={})
    assert "the code of the fits" in plan(catalogue, blind).reasons[0].why


def test_known_specs_are_not_read_again(three: Simulator) -> None:
    catalogue = catalogue_of(three)
    before = released(catalogue, plan(catalogue))

    class Blind(MemoryTree):
        def read(self, path: str) -> bytes:
            assert not path.startswith("specs/")
            return super().read(path)

    tree = Blind(three.files)
    found = read_catalogue(tree, before, arrivals=three.arrivals(), now=NOW)
    assert found == catalogue
    stale = replace(before, class_rule="class-key/0")
    with pytest.raises(AssertionError):
        read_catalogue(tree, stale, arrivals=three.arrivals(), now=NOW)


def test_every_bad_signature_is_reported_at_once(three: Simulator) -> None:
    bad = three.copy()
    for name in ("server-0000", "server-0002"):
        bad.files[f"datasets/{name}/manifest.json.sig"] = b"nothing\n"
    with pytest.raises(RegistryError) as caught:
        catalogue_of(bad)
    assert {f.path.split("/")[1] for f in caught.value.findings} == {
        "server-0000",
        "server-0002",
    }


def test_a_spec_that_was_not_signed_is_refused(three: Simulator) -> None:
    bad = three.copy()
    bad.files["specs/server-0000.yaml"] += b"\n"
    with pytest.raises(RegistryError) as caught:
        catalogue_of(bad)
    assert caught.value.findings[0].path == "specs/server-0000.yaml"


def test_a_damaged_trust_file_is_refused(three: Simulator) -> None:
    bad = three.copy()
    bad.files["registry/trust/1000.yaml"] += b"x"
    with pytest.raises(RegistryError):
        catalogue_of(bad)


def test_a_key_must_have_been_valid_on_arrival(three: Simulator) -> None:
    with pytest.raises(RegistryError):
        read_catalogue(three.tree(), arrivals={}, now=1_000_000_000)
    assert ARRIVED < NOW


def review(key: str, *machines: str) -> bytes:
    lines = [f"schema: server-class/1\nkey: {key}\nmachines:\n"]
    return "".join([*lines, *(f"  - {name}\n" for name in machines)]).encode()


def test_a_reviewed_file_puts_machines_together(three: Simulator) -> None:
    joined = three.copy()
    joined.files["specs/classes/alike.yaml"] = review(
        "alike", "server-0000", "server-0001"
    )
    catalogue = catalogue_of(joined)
    keys = [ref.class_key for ref in catalogue.bundles]
    assert keys == ["alike", "alike", "xeon-gold-6202r-2s-48c-384g"]
    assert catalogue.class_rule.startswith("class-key/1+")
    assert catalogue_of(three).class_rule == "class-key/1"


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (review("other", "server-0000"), "G001"),
        (b"schema: server-class/1\nkey: alike\nmachines: x\n", "G001"),
        (b"schema: server-class/2\nkey: alike\nmachines:\n  - a\n", "G001"),
        (review("alike", "server-0000", "server-0000"), "G002"),
    ],
)
def test_bad_reviewed_files_are_refused(content: bytes, code: str) -> None:
    with pytest.raises(RegistryError) as caught:
        reviewed_classes(MemoryTree({"specs/classes/alike.yaml": content}))
    assert {found.code for found in caught.value.findings} == {code}


def test_membership_does_not_depend_on_order() -> None:
    pairs = [("b", "x"), ("a", "x"), ("c", "y")]
    expected = {"generic": ("a", "b", "c"), "x": ("a", "b"), "y": ("c",)}
    assert members(pairs) == members(reversed(pairs)) == expected
    assert members([]) == {}
    assert class_rule({}) == "class-key/1"


def test_meters_in_order_of_trust() -> None:
    meters = ["acpi_watts", "redfish_watts", "ipmi_watts", "pdu_watts", "wall_watts"]
    while meters:
        found = target_quantities(meters, "samples")["acpi:platform"]
        assert [column.name for column in found.columns] == [meters.pop()]


def test_counters_win_over_gauges_and_scheduler_events_over_accounting() -> None:
    found = target_quantities(["acpi_watts", "acpi_joules_total"], "samples")
    assert found["acpi:platform"].columns[0].name == "acpi_joules_total"
    zones = target_quantities(
        ["hsmp_socket_0_watts", "amd_socket_0_joules_total"], "samples"
    )
    assert zones["rapl-sysfs:package"].columns[0].name == "amd_socket_0_joules_total"


def test_feature_groups_follow_the_columns() -> None:
    names = ["cpu_seconds_total", "softirq_block_total", "softirq_net_rx_total"]
    assert feature_groups(features(names, "samples")) == ("BPFOnly",)
    names += ["softirq_net_tx_total"]
    assert feature_groups(features(names, "samples")) == ("BPFIRQ", "BPFOnly")
    names += ["cpu_cycles_total", "cpu_instructions_total", "cache_misses_total"]
    assert set(feature_groups(features(names, "samples"))) == {
        "BPFIRQ", "BPFOnly", "Basic", "CounterIRQCombined", "CounterOnly",
    }  # fmt: skip
    assert feature_groups(features(["wall_watts"], "levels")) == ("BPFOnly",)

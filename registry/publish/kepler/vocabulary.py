"""Names that Kepler's clients fix: features, components, trainers and file names."""

from __future__ import annotations

from typing import Final

__all__ = [
    "BAKED_IN",
    "BAKED_IN_FOLDER",
    "CLIENT_FEATURES",
    "COMPONENTS",
    "CONFIG_PREFIX",
    "PIPELINES",
    "STANDARD_PIPELINE",
    "WEIGHT_TRAINERS",
]

CLIENT_FEATURES: Final = (
    "cpu_cycles",
    "cpu_instructions",
    "cache_miss",
    "cpu_ref_cycles",
    "bpf_cpu_time_ms",
    "bpf_net_tx_irq",
    "bpf_net_rx_irq",
    "bpf_block_irq",
    "bpf_page_cache_hit",
    "gpu_compute_util",
    "gpu_mem_util",
)
"""Kepler 0.8 and 0.9 evaluate features in this order; no other name is ever used."""

COMPONENTS: Final = {
    "acpi": ("platform",),
    "rapl-sysfs": ("package", "core", "uncore", "dram"),
}
"""What a model of each energy source may predict."""

WEIGHT_TRAINERS: Final = (
    "SGDRegressorTrainer",
    "LogarithmicRegressionTrainer",
    "LogisticRegressionTrainer",
    "ExponentialRegressionTrainer",
)
"""Trainers that Kepler Go knows by name; it evaluates only the first one rightly."""

STANDARD_PIPELINE: Final = "std_v0.7.11"
"""The pipeline that the model server looks for under its own top URL."""
PIPELINES: Final = (STANDARD_PIPELINE, "power-dataset-registry")
"""Names under which the same pipeline is published."""

CONFIG_PREFIX: Final = {
    ("acpi", "AbsPower"): "NODE_TOTAL",
    ("rapl-sysfs", "AbsPower"): "NODE_COMPONENTS",
    ("acpi", "DynPower"): "PROCESS_TOTAL",
    ("rapl-sysfs", "DynPower"): "PROCESS_COMPONENTS",
}
"""How Kepler's MODEL_CONFIG names each use of a model."""

BAKED_IN_FOLDER: Final = "/var/lib/kepler/data/model_weight/"
"""Where Kepler Go looks for weights when no URL is set."""
BAKED_IN: Final = {
    ("acpi", "AbsPower"): "acpi_AbsPowerModel.json",
    ("rapl-sysfs", "AbsPower"): "intel_rapl_AbsPowerModel.json",
    ("acpi", "DynPower"): "acpi_DynPowerModel.json",
    ("rapl-sysfs", "DynPower"): "intel_rapl_DynPowerModel.json",
}
"""The file that it reads there."""

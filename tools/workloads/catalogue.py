"""The workloads that come with the kit: names, parameters, and what they need.

chosen = read_workload("numpy:matmul:size=256")
print(chosen.builtin.name, chosen.values)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Final

from registry.documents.findings import RegistryError, Severity, code, finding, shown
from tools.workloads.parameters import Parameter, read_values
from tools.workloads.requirements import INSTALL, lacking, required
from tools.workloads.work import Conditions, Value, Work

__all__ = ["BUILTINS", "Builtin", "Chosen", "read_workload"]

NAME_CHARACTERS: Final = 4200

W002 = code(
    "W002",
    Severity.ERROR,
    "There is no workload of a name.",
    "Choose one that `powerkit workload list` names.",
)


@dataclass(frozen=True, slots=True)
class Builtin:
    """A workload that comes with the kit.

    Attributes:
        name: what it is called.
        about: what runs.
        unit: what performance counts.
        parameters: what stands behind its name.
        module: where it is.
        kind: its class there.
        needs: packages that it computes with.
        label: the workload of the registry's tables that it is like.
        loads: parts of those packages, which are loaded with them.
    """

    name: str
    about: str
    unit: str
    parameters: tuple[Parameter, ...]
    module: str
    kind: str
    needs: tuple[str, ...]
    label: str = "other"
    loads: tuple[str, ...] = ()

    @property
    def missing(self) -> tuple[str, ...]:
        """Packages that are not installed."""
        return lacking(self.needs)

    def install(self) -> str:
        """How to get what is missing; "" if nothing is."""
        return "; ".join(dict.fromkeys(INSTALL.get(one, one) for one in self.missing))

    def load(self) -> Callable[[Mapping[str, Value], Conditions], Work]:
        """Import the workload with all that it needs.

        Raises:
            RegistryError: W001, a package is missing.
        """
        for package in (*self.needs, *self.loads):
            required(package)
        found: type[Work] = getattr(import_module(self.module), self.kind)
        return found


@dataclass(frozen=True, slots=True)
class Chosen:
    """A workload with its parameters."""

    builtin: Builtin
    values: Mapping[str, Value]


_NUMERIC: Final = "tools.workloads.numeric"
_LEARNING: Final = "tools.workloads.learning"
_TORCH: Final = "tools.workloads.torch_kernels"
_NUMPY: Final = ("numpy",)
_SKLEARN: Final = ("numpy", "sklearn")
_SIZE: Final = Parameter("size", 1 << 20, 2, 1 << 30)
_ROWS: Final = Parameter("rows", 2000, 64, 10_000_000)
_FEATURES: Final = Parameter("features", 20, 1, 10_000)

_ENTRIES: Final = (
    Builtin(
        "numpy:matmul",
        "a product of two square matrices",
        "flops",
        (
            Parameter("size", 512, 8, 32_768),
            Parameter("type", "float64", choices=("float32", "float64")),
        ),
        _NUMERIC,
        "Product",
        _NUMPY,
        "vec",
    ),
    Builtin(
        "numpy:fft",
        "a Fourier transform of complex numbers",
        "flops",
        (Parameter("size", 1 << 16, 2, 1 << 28),),
        _NUMERIC,
        "Transform",
        _NUMPY,
    ),
    Builtin(
        "numpy:sort",
        "sorting of random numbers; an operation is a number",
        "operations",
        (_SIZE,),
        _NUMERIC,
        "Sorting",
        _NUMPY,
    ),
    Builtin(
        "numpy:random",
        "numbers of a normal distribution; an operation is a number",
        "operations",
        (_SIZE,),
        _NUMERIC,
        "Drawing",
        _NUMPY,
    ),
    Builtin(
        "memory:copy",
        "a copy from memory to memory, read and written bytes",
        "bytes",
        (Parameter("mebibytes", 64, 1, 1 << 20),),
        _NUMERIC,
        "Copying",
        _NUMPY,
        "membw",
    ),
    Builtin(
        "sklearn:hist-gradient-boosting",
        "fit and predict; an operation is both",
        "operations",
        (_ROWS, _FEATURES, Parameter("trees", 20, 1, 10_000)),
        _LEARNING,
        "Boosting",
        _SKLEARN,
        loads=("sklearn.ensemble",),
    ),
    Builtin(
        "sklearn:kmeans",
        "fit and predict; an operation is both",
        "operations",
        (_ROWS, _FEATURES, Parameter("clusters", 8, 1, 64)),
        _LEARNING,
        "Clustering",
        _SKLEARN,
        loads=("sklearn.cluster",),
    ),
    Builtin(
        "sklearn:ridge",
        "fit and predict; an operation is both",
        "operations",
        (_ROWS, _FEATURES),
        _LEARNING,
        "RidgeRegression",
        _SKLEARN,
        loads=("sklearn.linear_model",),
    ),
    Builtin(
        "onnx",
        "inference of an ONNX model on the processor, with random inputs",
        "images or requests",
        (Parameter("file", None, path=True),),
        "tools.workloads.inference",
        "Inference",
        ("numpy", "onnx", "onnxruntime"),
    ),
    Builtin(
        "torch:matmul",
        "a product of two square matrices, on a GPU if there is one",
        "flops",
        (Parameter("size", 512, 8, 65_536),),
        _TORCH,
        "TorchProduct",
        ("torch",),
    ),
    Builtin(
        "torch:conv",
        "a convolution of images with 3 x 3 kernels, on a GPU if there is one",
        "flops",
        (
            Parameter("side", 56, 3, 4096),
            Parameter("channels", 64, 1, 4096),
            Parameter("batch", 1, 1, 4096),
        ),
        _TORCH,
        "Convolution",
        ("torch",),
    ),
    Builtin(
        "sleep",
        "nothing for a while: a dry trial; an operation is one sleep",
        "operations",
        (Parameter("seconds", 0.1, 0, 86_400, whole=False),),
        _NUMERIC,
        "Sleep",
        _NUMPY,
        "idle",
    ),
)
BUILTINS: Final = {one.name: one for one in _ENTRIES}
"""Every workload of the kit by its name."""


def read_workload(text: str) -> Chosen:
    """Read a workload with its parameters: ``numpy:matmul:512`` or ``onnx:FILE``.

    Raises:
        RegistryError: W002, there is none of the name; W003, for each parameter.
    """
    found = [
        one
        for one in BUILTINS.values()
        if text == one.name or text.startswith(f"{one.name}:")
    ]
    if not found or len(text) > NAME_CHARACTERS:
        what = f"there are {', '.join(BUILTINS)}"
        raise RegistryError(finding(W002, shown(text), what))
    builtin = max(found, key=lambda one: len(one.name))
    rest = text[len(builtin.name) + 1 :]
    return Chosen(builtin, read_values(builtin.name, builtin.parameters, rest))

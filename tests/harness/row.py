"""What a row of the operator table can say: samples of calls, an oracle, dtypes, gradients, tolerances."""
import dataclasses
from typing import Any, Callable, Optional, Sequence, Tuple, Union

HALVES = ("float16", "bfloat16")
SINGLES = ("float32", "float64")
FLOATING = ("float32", "float64", "float16", "bfloat16")
INTEGER = ("int64", "int32", "int16", "int8", "uint8")
COMPLEX = ("complex128", "complex64")
REAL = FLOATING + INTEGER
INEXACT = FLOATING + COMPLEX
NUMERIC = FLOATING + INTEGER + COMPLEX
ALL = NUMERIC + ("bool",)


@dataclasses.dataclass(frozen=True)
class Given:
    """One tensor of a sample, when its shape alone does not say enough."""

    shape: Tuple[int, ...] = ()
    dtype: Optional[str] = None  # the tested one
    low: Optional[float] = None  # with `high`: uniform in [low, high), for integers too
    high: Optional[float] = None
    values: Any = None  # the very numbers, e.g. a nested list
    distinct: bool = False  # no two equal, in random order: for sorting and extrema
    make: Optional[Callable] = None  # make(np, rng, shape) -> float64 or complex128 array
    grad: bool = True  # False: never differentiated, e.g. a target


@dataclasses.dataclass(frozen=True)
class Sample:
    """One call: positional and named arguments, shapes standing for tensors."""

    args: Tuple
    kwargs: dict

    def __init__(self, *args, **kwargs):
        object.__setattr__(self, "args", args)
        object.__setattr__(self, "kwargs", kwargs)

    def __str__(self):
        words = [str(arg) for arg in self.args] + [f"{name}={value!r}" for name, value in self.kwargs.items()]
        return f"({', '.join(words)})"


@dataclasses.dataclass(frozen=True)
class Wrong(Sample):
    """A call that must fail: the class of its error, and words its message must have besides the operator's name."""

    error: Any = ValueError
    says: Union[str, Sequence[str]] = ()

    def __init__(self, *args, error=ValueError, says=(), **kwargs):
        super().__init__(*args, **kwargs)
        object.__setattr__(self, "error", error)
        object.__setattr__(self, "says", (says,) if isinstance(says, str) else tuple(says))


@dataclasses.dataclass
class Row:
    """All that the tests know about one operator; see the package's docstring."""

    name: str
    samples: Sequence[Sample]
    torch: Optional[Callable] = None
    numpy: Optional[Callable] = None
    dtypes: Tuple[str, ...] = FLOATING
    gradient: Union[bool, str] = True
    second: Union[bool, str] = True
    domain: Optional[Tuple[float, float]] = None
    tolerance: dict = dataclasses.field(default_factory=dict)
    outputs: Optional[Tuple[int, ...]] = None
    canonical: Optional[Callable] = None
    random: bool = False
    special: Union[bool, str] = True  # pointwise only: NaN, infinities, zeros against PyTorch
    strided: Union[bool, str] = True  # inputs of any strides
    out: Union[bool, str] = True  # `out=` and writing over the first input
    meta: Union[bool, str] = True
    exact: bool = False  # 16-bit floats are compared with PyTorch's own 16-bit results, not with wider ones
    errors: Sequence[Wrong] = ()
    call: Optional[Callable] = None  # call(dragon, *args) instead of dragon.ops.<name>
    family: str = ""

    def __str__(self):
        return f"{self.family}/{self.name}"

    @property
    def differentiable(self):
        """Whether gradients are to be tested."""
        return self.gradient is True

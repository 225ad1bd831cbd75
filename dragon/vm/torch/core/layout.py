"""Objects that PyTorch passes to say how elements lie in memory."""
import reprlib


class _Named:
    """A constant with a name, one object each."""

    __slots__ = ("_name",)
    _made = {}

    def __new__(cls, name):
        key = cls, name
        if key not in _Named._made:
            self = object.__new__(cls)
            self._name = name
            _Named._made[key] = self
        return _Named._made[key]

    def __repr__(self):
        return f"torch.{self._name}"

    def __reduce__(self):
        return self._name  # the attribute of `torch` that a pickle names


class layout(_Named):
    """The way a tensor is held: `torch.strided`, or a sparse one."""

    __slots__ = ()

    def __reduce__(self):
        return _get_layout, (repr(self),)


def _get_layout(name):
    """Return a layout by its name."""
    made = layout._made.get((layout, name.removeprefix("torch."))) if isinstance(name, str) else None
    if made is None:
        came = reprlib.repr(name) if type(name) in (str, bytes, int, float) else f"a {type(name).__name__}"
        raise ValueError(f"layout: got {came}, expected one that torch has")
    return made


_get_layout.__module__ = __name__.replace("core.layout", "serialization")  # where PyTorch has it, and files look for it


class memory_format(_Named):
    """The order of axes in memory."""

    __slots__ = ()


class qscheme(_Named):
    """The way a quantized tensor's numbers are scaled."""

    __slots__ = ()


strided = layout("strided")
sparse_coo, sparse_csr, sparse_csc = layout("sparse_coo"), layout("sparse_csr"), layout("sparse_csc")
sparse_bsr, sparse_bsc, jagged = layout("sparse_bsr"), layout("sparse_bsc"), layout("jagged")
contiguous_format, preserve_format = memory_format("contiguous_format"), memory_format("preserve_format")
channels_last, channels_last_3d = memory_format("channels_last"), memory_format("channels_last_3d")
per_tensor_affine, per_channel_affine = qscheme("per_tensor_affine"), qscheme("per_channel_affine")
per_tensor_symmetric, per_channel_symmetric = qscheme("per_tensor_symmetric"), qscheme("per_channel_symmetric")
per_channel_affine_float_qparams = qscheme("per_channel_affine_float_qparams")


def require_memory_format(who, wanted):
    """Raise TypeError unless a `memory_format=` argument is one, or None."""
    if wanted is not None and type(wanted) is not memory_format:
        raise TypeError(f"{who}: got '{type(wanted).__name__}' for argument 'memory_format', expected a "
                        "torch.memory_format")


# What makes a tensor without any values, by layout: a function of (who, size, layout, dtype, device, requires_grad).
EMPTY = {}


def require_strided(who, wanted):
    """Raise unless a `layout=` argument asks for what the function makes."""
    if wanted is not None and wanted is not strided:
        raise NotImplementedError(f"{who}: got layout={wanted!r}, expected torch.strided")

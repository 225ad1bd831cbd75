"""What the answer should be: PyTorch (imported once, skipped with a reason where absent) or NumPy in float64."""
import functools
import warnings

import numpy
import pytest

RENAMED = {"axis": "dim", "keepdims": "keepdim", "x": "input"}


@functools.lru_cache(maxsize=None)
def load_torch():
    """Return PyTorch with two threads, or None."""
    try:
        import torch
    except ImportError:
        return None
    torch.set_num_threads(2)
    return torch


def need_torch():
    """Return PyTorch, or skip the running test."""
    torch = load_torch()
    if torch is None:
        pytest.skip("PyTorch, the oracle of this row, is not installed")
    return torch


def find_torch(torch, name):
    """Return PyTorch's function of an operator's name, or None."""
    functional = torch.nn.functional
    places = [(torch, name), (functional, name), (torch.special, name), (torch.Tensor, name)]
    for prefix, module in (("linalg_", torch.linalg), ("fft_", torch.fft), ("special_", torch.special)):
        if name.startswith(prefix):
            places.insert(0, (module, name[len(prefix):]))
    return next((getattr(place, key) for place, key in places if hasattr(place, key)), None)


def torch_function(row):
    """Return the oracle as function(*args, **kwargs) on torch tensors."""
    torch = need_torch()
    if row.torch is not None:
        return functools.partial(row.torch, torch)
    found = find_torch(torch, row.name)
    if found is None:
        pytest.fail(f"{row.name}: PyTorch has no function of this name; the row needs `torch=` or `numpy=`")
    return lambda *args, **kwargs: found(*args, **{RENAMED.get(name, name): value for name, value in kwargs.items()})


def torch_tensor(item, dtype=None, requires_grad=False):
    """Return a torch tensor with an Input's numbers."""
    torch = load_torch()
    made = torch.from_numpy(numpy.array(item.array, order="C"))
    made = made.to(getattr(torch, dtype or item.dtype))
    return made.requires_grad_(requires_grad)


def dtype_name(tensor):
    """Return the NumPy name of a torch dtype."""
    return str(tensor.dtype).removeprefix("torch.")


def torch_array(tensor):
    """Return a torch result as a NumPy array; bfloat16 comes as float32."""
    torch = load_torch()
    if not isinstance(tensor, torch.Tensor):
        return numpy.asarray(tensor)
    tensor = tensor.detach().resolve_conj().resolve_neg()
    return (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy(force=True)


def run_torch(row, arguments, dtype):
    """Return (results as arrays, names of their dtypes) by PyTorch; of 16-bit floats by float32, unless `exact`."""
    torch = need_torch()
    function = torch_function(row)

    def run(widen):
        args, kwargs = arguments.map(
            lambda item: torch_tensor(item, "float32" if widen and item.dtype in ("float16", "bfloat16") else None))
        torch.manual_seed(0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return as_tuple(function(*args, **kwargs))

    if dtype not in ("float16", "bfloat16") or row.exact:
        results = run(widen=False)
        return [torch_array(result) for result in results], [dtype_name(result) if hasattr(result, "dtype") else None
                                                             for result in results]
    try:
        names = [dtype_name(result) for result in run(widen=False)]
    except RuntimeError:  # not implemented in 16 bits: then only the values are known
        names = None
    return [torch_array(result) for result in run(widen=True)], names


def run_numpy(row, arguments):
    """Return the results by NumPy in double precision, as arrays."""
    wide = {"f": numpy.float64, "c": numpy.complex128}

    def widen(item):
        return item.array.astype(wide.get(item.array.dtype.kind, item.array.dtype))
    args, kwargs = arguments.map(widen)
    with numpy.errstate(all="ignore"):
        return [numpy.asarray(result) for result in as_tuple(row.numpy(numpy, *args, **kwargs))]


def as_tuple(results):
    """Return one or many results as a tuple."""
    return tuple(results) if isinstance(results, (tuple, list)) else (results,)

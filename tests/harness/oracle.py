"""What the answer should be: PyTorch's, as it is recorded, or NumPy's in float64.

PyTorch is imported where an answer is not recorded; where it is absent then, the test is skipped with a reason.
"""
import functools
import warnings

import numpy
import pytest

from harness import answers

LARGEST = 4096  # bytes of an answer: the few that are larger would make most of the file
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


def asked(row, arguments, *more):
    """Return what an answer is a function of: a row, its oracle's text, the numbers of a call."""
    return [row.name, row.torch, arguments.map(lambda item: [item.dtype, item.array]), *more]


def answer(row, parts, compute):
    """Return PyTorch's recorded answer, or raise the error that it is, as Python's own class."""
    def compute_or_tell():
        try:
            return compute()
        except Exception as error:  # whatever PyTorch raises is its answer
            return error
    found = answers.ask("operators", parts, compute_or_tell, title=f"{row} {parts[3:]}", largest=LARGEST)
    if isinstance(found, answers.Raised):
        raise found.builtin()
    return found


def call_torch(row, arguments, widen):
    """Return PyTorch's results as tensors."""
    function = torch_function(row)
    args, kwargs = arguments.map(
        lambda item: torch_tensor(item, "float32" if widen and item.dtype in ("float16", "bfloat16") else None))
    load_torch().manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return as_tuple(function(*args, **kwargs))


def run_torch(row, arguments, dtype):
    """Return (results as arrays, names of their dtypes) by PyTorch; of 16-bit floats by float32, unless `exact`."""
    def compute():
        if dtype not in ("float16", "bfloat16") or row.exact:
            results = call_torch(row, arguments, widen=False)
            return ([torch_array(result) for result in results],
                    [dtype_name(result) if hasattr(result, "dtype") else None for result in results])
        try:
            names = [dtype_name(result) for result in call_torch(row, arguments, widen=False)]
        except RuntimeError:  # not implemented in 16 bits: then only the values are known
            names = None
        return [torch_array(result) for result in call_torch(row, arguments, widen=True)], names
    return answer(row, asked(row, arguments, "values", dtype, row.exact), compute)


def run_torch_narrow(row, arguments):
    """Return PyTorch's results as arrays, computed in the dtypes of the inputs."""
    return answer(row, asked(row, arguments, "narrow"), lambda: [
        torch_array(result) for result in call_torch(row, arguments, widen=False)])


def torch_gradients(row, arguments, cotangents, wants_grad):
    """Return (how many of a row's chosen results carry gradients, their gradients as arrays) by PyTorch.

    There are no gradients if the results that carry some are not as many as the cotangents.
    """
    def compute():
        torch = need_torch()
        mirrors = [torch_tensor(item, requires_grad=wants_grad(item)) for item in arguments.inputs()]
        queue = iter(mirrors)
        args, kwargs = arguments.map(lambda _: next(queue))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results = as_tuple(torch_function(row)(*args, **kwargs))
        chosen = results if row.outputs is None else [results[place] for place in row.outputs]
        results = [y for y in chosen if isinstance(y, torch.Tensor) and y.requires_grad]
        leaves = [x for x in mirrors if x.requires_grad]
        if not results or len(results) != len(cotangents):
            return len(results), []
        found = torch.autograd.grad(results, leaves, [torch_tensor(item) for item in cotangents], allow_unused=True)
        return len(results), [numpy.zeros(tuple(leaf.shape)) if grad is None else torch_array(grad)
                              for grad, leaf in zip(found, leaves)]
    marks = [bool(wants_grad(item)) for item in arguments.inputs()]
    return answer(row, asked(row, arguments, "gradients", marks, row.outputs,
                             [[item.dtype, item.array] for item in cotangents]), compute)


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

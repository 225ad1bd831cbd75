"""Right calls of PyTorch's functions, from the table that its own tests walk, as a file of plain values and arrays.

    python samples.py FILE
"""
import pickle
import sys
import types
import unittest
import warnings

import numpy

EACH = 6  # calls of a name
LARGEST = 2000  # elements of a tensor
DTYPES = ("float32", "int64", "complex64")


class CannotTell(Exception):
    """An argument that a file cannot hold."""


def keep(torch, value):
    """Return an argument as a file holds it; lists carry what they are as their first item."""
    if isinstance(value, torch.Tensor):
        if value.layout is not torch.strided or value.numel() > LARGEST:
            raise CannotTell
        array = value.detach().resolve_conj().resolve_neg().contiguous()
        if array.dtype is torch.bfloat16:
            raise CannotTell
        return ["tensor", numpy.array(array.numpy()), value.requires_grad]
    if isinstance(value, torch.dtype):
        return ["dtype", str(value).rpartition(".")[2]]
    if isinstance(value, (list, tuple)):
        return ["list", *(keep(torch, item) for item in value)]
    if value is None or isinstance(value, (bool, int, float, complex, str)):
        return value
    raise CannotTell


def places(info):
    """Return the names under which PyTorch has an operator: functions, and the method."""
    names = ["torch." + info.name.replace("_refs.", "")]
    if info.method_variant is not None:
        names.append("torch.Tensor." + info.name.rpartition(".")[2])
    if info.inplace_variant is not None:
        names.append("torch.Tensor." + info.name.rpartition(".")[2] + "_")
    return names


def collect(torch, infos):
    """Return {name: [(args, kwargs)]}."""
    found = {}
    for info in infos:
        calls = []
        for dtype in DTYPES:
            dtype = getattr(torch, dtype)
            if not info.supports_dtype(dtype, "cpu"):
                continue
            try:
                for count, sample in enumerate(info.sample_inputs("cpu", dtype, requires_grad=dtype.is_floating_point)):
                    if count == 4 * EACH:
                        break
                    args = [keep(torch, value) for value in (sample.input, *sample.args)]
                    calls.append((args, {key: keep(torch, value) for key, value in sample.kwargs.items()}))
            except Exception:  # a table of another's making: what it cannot give is left out
                continue
        for name in places(info) if calls else ():
            found[name] = calls[::max(len(calls) // EACH, 1)]
    return found


def main():
    """Write the file, or an empty one where PyTorch is not installed."""
    warnings.simplefilter("ignore")
    # The table stands in PyTorch's test tools, which want this package for classes that are not used here.
    sys.modules.setdefault("expecttest", types.ModuleType("expecttest")).TestCase = unittest.TestCase
    try:
        import torch
        from torch.testing._internal.common_methods_invocations import op_db
    except ImportError:
        calls = {}
    else:
        torch.manual_seed(0)
        calls = collect(torch, op_db)
    with open(sys.argv[1], "wb") as file:
        pickle.dump(calls, file)
    print(f"{sum(map(len, calls.values()))} right calls of {len(calls)} names")


if __name__ == "__main__":
    main()

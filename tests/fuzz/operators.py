"""Hostile calls of the engine's operators: from the rows of the operator table, and from their schemas alone."""
import functools
import importlib.util
import os
import pathlib

import hostile
import kits
from tricks import Spite

import dragon
from harness import engine, inputs

TESTS = pathlib.Path(__file__).resolve().parents[1]
ALLOWED = (ValueError, TypeError, IndexError, NotImplementedError, RuntimeError, MemoryError, OverflowError)


def load_rows():
    """Return {operator: row} of the operator table."""
    rows = {}
    for path in sorted((TESTS / "ops").glob("*/rows*.py")):
        spec = importlib.util.spec_from_file_location(f"rows_of_{path.parent.name}_{path.stem}", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        rows.update({row.name: row for row in module.ROWS if row.call is None})
    return rows


def right_call(row, index):
    """Return (args, kwargs) of one of a row's samples, or None."""
    if row is None or not row.samples:
        return None
    sample = row.samples[index % len(row.samples)]
    dtype = row.dtypes[index // len(row.samples) % len(row.dtypes)]
    try:
        return inputs.bind(row, sample, dtype, index).map(
            functools.partial(engine.tensor, requires_grad=index % 5 == 0 and dtype.startswith("float")))
    except (TypeError, ValueError, RuntimeError):
        return None


class Operators:
    """The operators themselves, as `dragon.ops` has them."""

    def __init__(self):
        self.kit, self.rows, self.names = kits.Native(dragon), load_rows(), sorted(dragon._C.op_names())

    def attempt(self, name, seed, index):
        """Return [(what is called, args, kwargs)] of one attempt, each made when it is its turn."""
        base = right_call(self.rows.get(name), index) if index % 3 else None
        arguments = dragon._C.schema(name)["arguments"]
        rng = hostile.generator(seed, index, name)
        args, kwargs = hostile.arguments_of_call(self.kit, rng, arguments, base, takes_out=True)
        yield name, getattr(dragon.ops, name), args, kwargs

    def judge(self, name, error):
        """Return what is wrong with an error, or None."""
        text = str(error)
        if isinstance(error, Spite):
            return None  # what an argument's own methods raise is the caller's
        if not isinstance(error, ALLOWED) or isinstance(error, RecursionError):
            return "class"
        if not text:
            return "empty message"
        if name in text or any(text.startswith((known + ":", known + "_:")) for known in self.names):
            return None
        return "does not say who speaks"


class DeviceKit(kits.Native):
    """Dragon's own tensors, whose results are read from a CUDA device."""

    def use(self, results):
        super().use(results)
        for result in results if isinstance(results, (tuple, list)) else (results,):
            if not isinstance(result, self.module.Tensor) or result.device.type != "cuda":
                continue
            if max((result.size, *result.shape)) > 100000:
                continue
            host = self.module.ops.to_device(result.detach(), self.module.Device("cpu"))
            host.tolist()
            if result.requires_grad and result.grad_fn is not None:
                self.module.backward(result, self.module.ops.to_row_major(result.detach()))
        self.module.synchronize("cuda")  # where a kernel's own finding is told


class DeviceOperators(Operators):
    """The operators on a CUDA device, or on the machine that stands for one; now and then an operand is left behind."""

    LEFT_BEHIND = 20
    MEMORY = 64 << 20  # fibres take a minute for more

    def __init__(self):
        super().__init__()
        self.kit = DeviceKit(dragon)
        if dragon._C.device_count("cuda") == 0:
            dragon.load_library(os.environ["DRAGON_SIMT"])
        dragon.set_memory_limit(self.MEMORY, "cuda")

    def bring(self, value, rng):
        """Return a tensor on the device, anything else as it is."""
        if not isinstance(value, dragon.Tensor) or value.device.type != "cpu" or rng.integers(self.LEFT_BEHIND) == 0:
            return value
        brought = dragon.ops.to_device(value.detach(), dragon.Device("cuda"))
        brought.requires_grad = value.requires_grad
        return brought

    def attempt(self, name, seed, index):
        for told, found, args, kwargs in super().attempt(name, seed, index):
            rng = hostile.generator(seed, index, f"{name} on cuda")

            def bring(value, rng=rng):
                whole = type(value) in (list, tuple)
                return type(value)(self.bring(item, rng) for item in value) if whole else self.bring(value, rng)
            yield told, found, [bring(arg) for arg in args], {key: bring(arg) for key, arg in kwargs.items()}

    def judge(self, name, error):
        if isinstance(error, MemoryError) and "CUDA out of memory" in str(error):
            return None  # PyTorch's words, which programs look for, name no operator
        return super().judge(name, error)

"""Hostile calls of the engine's operators: from the rows of the operator table, and from their schemas alone."""
import functools
import importlib.util
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

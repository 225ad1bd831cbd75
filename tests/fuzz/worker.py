"""Call operators with hostile arguments in this process; a crash leaves behind which call it was.

    python worker.py --seed 0 --count 200 --status FILE name [name ...]
    python worker.py --seed 0 --only 17 name        # make one call again, telling its arguments

Each line of output is a JSON object: an error of the wrong class, or one whose message does not say who speaks.
"""
import argparse
import faulthandler
import functools
import importlib.util
import json
import os
import pathlib
import resource
import signal
import sys
import warnings

os.environ.setdefault("DRAGON_ALLOCATOR", "naive")
TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "fuzz")]

import hostile  # noqa: E402  (the allocator must be chosen, and the path set, before)

import dragon  # noqa: E402
from harness import inputs  # noqa: E402
from harness import engine  # noqa: E402

ALLOWED = (ValueError, TypeError, IndexError, NotImplementedError, RuntimeError, MemoryError, OverflowError)
LIMIT = 1 << 30
ADDRESSES = 64 << 30
SECONDS = 20


def load_rows():
    """Return {operator: row} of the operator table."""
    rows = {}
    for path in sorted((TESTS / "ops").glob("*/rows*.py")):
        spec = importlib.util.spec_from_file_location(f"rows_of_{path.parent.name}_{path.stem}", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        rows.update({row.name: row for row in module.ROWS if row.call is None})
    return rows


def right_calls(row):
    """Return bases(index) -> (args, kwargs) from a row's samples, or None."""
    def bases(index):
        if row is None or not row.samples:
            return None
        sample = row.samples[index % len(row.samples)]
        dtype = row.dtypes[index // len(row.samples) % len(row.dtypes)]
        try:
            return inputs.bind(row, sample, dtype, index).map(
                functools.partial(engine.tensor, requires_grad=index % 5 == 0 and dtype.startswith("float")))
        except (TypeError, ValueError, RuntimeError):
            return None
    return bases


def tell(value):
    """Return an argument as text, numbers of large tensors left out."""
    if isinstance(value, dragon.Tensor):
        return (f"tensor(shape={tuple(value.shape)}, strides={tuple(value.strides)}, dtype={value.dtype.name}, "
                f"device={value.device}, requires_grad={value.requires_grad})")
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(tell, value))}]"
    return repr(value)[:200]


def tell_call(name, args, kwargs):
    """Return a call as text."""
    words = [tell(arg) for arg in args] + [f"{key}={tell(value)}" for key, value in kwargs.items()]
    return f"{name}({', '.join(words)})"


def use(results):
    """Read what came, and differentiate it where it asks for that."""
    for result in results if isinstance(results, tuple) else (results,):
        if not isinstance(result, dragon.Tensor) or result.device.type != "cpu":
            continue
        if result.size > 100000 or max(result.shape, default=0) > 100000:
            continue
        result.detach().tolist()
        if result.requires_grad and result.grad_fn is not None:
            dragon.backward(result, dragon.ops.to_row_major(result.detach()))


def judge(name, error, names):
    """Return what is wrong with an error, or None."""
    text = str(error)
    if not isinstance(error, ALLOWED):
        # What an argument's own methods raise is the caller's.
        return None if isinstance(error, ZeroDivisionError) and text in ("index", "float", "len") else "class"
    if not text:
        return "empty message"
    if name in text or any(text.startswith((known + ":", known + "_:")) for known in names):
        return None
    return "does not say who speaks"


def attempt(name, index, args, kwargs, names):
    """Make one call; print what is wrong with its error."""
    try:
        use(getattr(dragon.ops, name)(*args, **kwargs))
    except BaseException as error:
        trouble = judge(name, error, names)
        if trouble:
            print(json.dumps({"operator": name, "index": index, "trouble": trouble, "class": type(error).__name__,
                              "message": str(error)[:300], "call": tell_call(name, args, kwargs)[:1500]}), flush=True)


def main():
    """Walk the operators named on the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--status", default=os.devnull)
    parser.add_argument("--only", type=int)
    parser.add_argument("names", nargs="+")
    options = parser.parse_args()
    faulthandler.enable()
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    dragon.set_memory_limit(LIMIT)
    rows, names = load_rows(), dragon._C.op_names()
    with open(options.status, "w+b", buffering=0) as status:
        for name in options.names:
            count = options.count if options.only is None else options.only + 1
            for index, args, kwargs in hostile.calls(name, right_calls(rows.get(name)), options.seed, count):
                if options.only is not None:
                    if index < options.only:
                        continue
                    print(tell_call(name, args, kwargs), flush=True)
                os.pwrite(status.fileno(), f"{name} {index}".ljust(100).encode(), 0)
                signal.alarm(SECONDS)  # its default action ends the process: kernels cannot be interrupted
                attempt(name, index, args, kwargs, names)
                signal.alarm(0)


if __name__ == "__main__":
    main()

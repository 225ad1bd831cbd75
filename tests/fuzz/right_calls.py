"""Right calls of a face's functions, as the genuine guest takes them: from tables, and found by asking it.

    python right_calls.py FACE FILE [--samples FILE] [--tables] [--only PATTERN]

The file holds {name: [(args, kwargs, [(dtype, shape) of each result] or None)]} in the plain values of `nearly.py`.
"""
import argparse
import inspect
import os
import pathlib
import pickle
import re
import sys
import warnings

import numpy

os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", KERAS_BACKEND="tensorflow", CUDA_VISIBLE_DEVICES="")
TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "fuzz")]

import guesses  # noqa: E402  (the path must be set before)
import hostile  # noqa: E402
import paired  # noqa: E402
import raw_calls  # noqa: E402
import sandbox  # noqa: E402

EACH = 8  # calls of a name
TRIES = 25
RAW_TRIES = 60
LARGEST = 3000
# Modules of which functions are looked for by asking, per face.
MODULES = {
    "torch": ("", "nn.functional", "linalg", "fft", "special", "Tensor"),
    "torchvision": ("ops",),
    "tensorflow": ("", "math", "linalg", "nn", "image", "signal", "sparse", "ragged", "strings", "random", "bitwise",
                   "sets", "raw_ops"),
    "keras": ("ops",),
}
# Switches of the process, files, or what never ends.
LEFT_OUT = """set_ use_ enable_ save load seed manual_seed get_ is_ import_ fork wait compile init_scope while_loop
    device cond map_fn py_function numpy_function function custom_gradient recompute print Print WriteFile write_file
    ReadFile read_file MatchingFiles matching_files from_file fill_uninitialized_memory_ vmap scan share_memory
    pin_memory data_ptr type storage untyped_storage backward register set_rng_state fori_loop switch map
    associative_scan vectorized_map While If Case PartitionedCall Stateful Save Restore MergeV2 Shard Print Assert
    TensorArray TensorList Lookup Table Iterator Dataset Queue Stack Barrier Collective Variable Assign Read
    Exit Enter Merge Send Recv PyFunc saveable no_gradient Module Tensor cuda xpu mps apply_ map_ resize_ set""".split()


class Plain:
    """A kit whose tensors are plain values."""

    def make(self, numbers):
        """Return a plain tensor."""
        return ["tensor", numpy.array(numbers), False]

    def learn(self, tensor):
        """Return a plain tensor that wants a gradient."""
        return ["tensor", tensor[1], tensor[1].dtype.kind in "fc"]

    def dtype(self, name):
        """Return a plain dtype."""
        return ["dtype", name]


def plain(value):
    """Return a guess in plain values; raise where it holds what cannot be told, as a function."""
    if isinstance(value, numpy.ndarray):
        return ["tensor", value, False]
    if isinstance(value, list) and value and isinstance(value[0], str) and value[0] in ("tensor", "dtype", "list"):
        return value
    if isinstance(value, numpy.generic):
        return value.item()
    if isinstance(value, (list, tuple)):
        return ["list", *map(plain, value)]
    if value is None or isinstance(value, (bool, int, float, complex, str)):
        return value
    raise TypeError(f"right_calls: got {type(value).__name__}, expected a plain value")


def left_out(name):
    """Return whether a function is not asked."""
    last = name.rpartition(".")[2]
    return last.startswith("_") or any(last == word or word.endswith("_") and last.startswith(word) or
                                       word[0].isupper() and last.startswith(word) for word in LEFT_OUT)


def names_of(face, side):
    """Yield the functions of a face that both guests have."""
    for module in MODULES[face]:
        ours = paired.resolve(side.mine, module)
        theirs = paired.resolve(side.guest, module)
        for name in sorted(set(dir(ours)) & set(dir(theirs))):
            path = f"{module}.{name}" if module else name
            found = getattr(theirs, name)
            if callable(found) and not isinstance(found, type) and not left_out(path) and not inspect.ismodule(found):
                yield path


def of_tables(face, samples):
    """Return {name: [(args, kwargs)]} from tables of right calls."""
    found = {}
    if face == "torch" and samples:
        for name, calls in pickle.loads(pathlib.Path(samples).read_bytes()).items():
            found[name.removeprefix("torch.")] = list(calls)
    if face == "keras":
        from harness.keras_ops import nn_rows, numpy_rows
        for row in [*nn_rows.ROWS, *numpy_rows.ROWS]:
            try:
                call = [plain(value) for value in row.args], {key: plain(value) for key, value in row.kwargs.items()}
            except TypeError:
                continue
            found.setdefault(f"ops.{row.name}", []).append(call)
    if face == "tensorflow":
        for name, calls in raw_calls.CALLS.items():
            found[f"raw_ops.{name}"] = [([], {key: plain(value) for key, value in call.items()}) for call in calls]
    return found


def guessed(face, side, name):
    """Yield guesses of calls of a function."""
    target = paired.resolve(side.guest, name)
    if name.startswith("raw_ops."):
        for index in range(RAW_TRIES):
            yield raw_calls.guess(side.guest, target, name, hostile.generator(1, index, name))
        return
    arguments = guesses.describe_callable(paired.resolve(side.mine, name), False, face == "torch")
    arguments = [argument for argument in arguments if argument["name"] not in ("out", "name", "generator")]
    for index in range(TRIES):
        yield guesses.right_call(Plain(), hostile.generator(1, index, name), arguments)


def ask(side, name, calls, count):
    """Return those of the calls that the guest takes, with what their results look like."""
    taken, seen = [], set()
    for args, kwargs in calls:
        try:
            args, kwargs = [plain(value) for value in args], {key: plain(value) for key, value in kwargs.items()}
        except (TypeError, OverflowError):
            continue
        answer = side.make(name, args, kwargs)
        if answer[0] != "results" or sum(leaf[2].size for leaf in answer[1] if leaf[0] == "tensor"
                                         and leaf[2] is not None) > LARGEST:
            continue
        looks = [(leaf[1], leaf[3]) for leaf in answer[1] if leaf[0] == "tensor"]
        words = repr([(value[1].shape, str(value[1].dtype)) if isinstance(value, list) and value[:1] == ["tensor"]
                      else value for value in [*args, *kwargs.values()]])
        if words not in seen:
            seen.add(words)
            taken.append((args, kwargs, looks or None))
        if len(taken) == count:
            break
    return taken


def main():
    """Write the file."""
    parser = argparse.ArgumentParser()
    parser.add_argument("face")
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--samples", help="a file of right calls, as samples.py writes it")
    parser.add_argument("--tables", action="store_true", help="take what tables have, ask for nothing else")
    parser.add_argument("--only", default="", help="a pattern of names")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    face, output = options.face, sandbox.private_output()
    side = paired.Side(face, genuine=True)
    tables, found = of_tables(face, options.samples), {}
    paired.limit_memory()
    names = [] if options.tables else list(names_of(face, side))
    for name in sorted({*names, *(key for key in tables if not left_out(key))}):
        if not re.search(options.only, name):
            continue
        try:
            calls = ask(side, name, tables.get(name, []), 3 * EACH)
            calls += ask(side, name, guessed(face, side, name), EACH) if name in names and len(calls) < 3 else []
        except (TypeError, ValueError, AttributeError) as error:
            print(f"{name}: {type(error).__name__}: {error}", file=output, flush=True)
            continue
        if calls:
            found[name] = calls
    options.file.write_bytes(pickle.dumps(found))
    print(f"{face}: {sum(map(len, found.values()))} right calls of {len(found)} names, none found of "
          f"{' '.join(sorted(set(names) - set(found)))}", file=output, flush=True)


if __name__ == "__main__":
    main()

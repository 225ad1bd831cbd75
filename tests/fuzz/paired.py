"""Make nearly right calls of one guest, genuine or Dragon's, and write down how each ends.

    python paired.py --face torch --calls FILE --seed 0 --count 20 --answers FILE [--genuine] name [name ...]

Each answer is ("error", class, words), ("results", [leaf ...]), or ("crash", signal), which the caller enters.
"""
import argparse
import copy
import importlib
import os
import pathlib
import pickle
import resource
import signal
import sys
import threading
import warnings

import numpy

os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", KERAS_BACKEND="tensorflow", CUDA_VISIBLE_DEVICES="")
TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "fuzz")]

import hostile  # noqa: E402  (the path must be set before)
import nearly  # noqa: E402

ADDRESSES = 10 << 30
TENSORS = 1 << 30
SHOWN = 4000  # elements of a result that are compared
SECONDS = 5
GUESTS = {"torch": "torch", "torchvision": "torchvision", "tensorflow": "tensorflow", "keras": "keras"}


class TooLong(BaseException):
    """A call that takes longer than it should, and could be interrupted."""


def resolve(module, path):
    """Return what stands at a path with dots."""
    for part in path.split(".") if path else ():
        module = getattr(module, part)
    return module


def limit_memory():
    """Let no call take the machine's memory."""
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Side:
    """One of two guests that are asked the same.

    Parameters
    ----------
    face : str
        One of GUESTS.
    genuine : bool
        Whether it is the genuine one.

    """

    def __init__(self, face, genuine):
        name = GUESTS[face]
        self.mine_name = f"dragon.vm.{name}"
        if genuine and face == "torchvision":
            from harness import genuine_torchvision
            self.guest = genuine_torchvision.load()
        else:
            self.guest = importlib.import_module(name) if genuine else self.mine
        self.in_torch = face.startswith("torch")
        path = "torch" if self.in_torch else "tensorflow"
        self.tensors = importlib.import_module(path if genuine else f"dragon.vm.{path}")
        self.genuine = genuine
        if not genuine:
            import dragon
            dragon.set_memory_limit(TENSORS)

    @property
    def mine(self):
        """Dragon's side."""
        return importlib.import_module(self.mine_name)

    def revive(self, value, args=()):
        """Return an argument from its plain value."""
        if not isinstance(value, list):
            return value
        kind = value[0]
        if kind == "dtype":
            return getattr(self.tensors, value[1])
        if kind == "list":
            return [self.revive(item) for item in value[1:]]
        if kind == "argument":
            return args[value[1]]
        if kind == "cast":
            tensor = self.revive(value[1])
            return tensor.to(getattr(self.tensors, value[2])) if self.in_torch else self.tensors.cast(tensor, value[2])
        if kind == "shared":
            return self.revive(value[1]).expand(value[2])
        if not self.in_torch:
            return self.tensors.constant(value[1])
        made = self.tensors.from_numpy(numpy.array(value[1]))
        return made.requires_grad_() if value[2] else made

    def make(self, name, args, kwargs):
        """Return how a call ends."""
        self.settle()
        try:
            args = [self.revive(value) for value in copy.deepcopy(args)]
            kwargs = {key: self.revive(value, args) for key, value in copy.deepcopy(kwargs).items()}
        except BaseException as error:
            return "unmade", type(error).__name__, str(error)[:300]
        try:
            return "results", self.read(resolve(self.guest, name)(*args, **kwargs))
        except TooLong:
            return "slow", f"interrupted after {SECONDS} s"
        except BaseException as error:
            return "error", type(error).__name__, words_of(error)

    def settle(self):
        """Begin each call with the same numbers drawn."""
        if self.in_torch:
            self.tensors.manual_seed(0)
        else:
            self.tensors.random.set_seed(0)

    def read(self, value):
        """Return the leaves of a result."""
        if isinstance(value, (list, tuple)):
            return [leaf for item in value for leaf in self.read(item)]
        if isinstance(value, dict):
            return [leaf for key in sorted(value) for leaf in self.read(value[key])]
        if value.__class__.__name__ == "RaggedTensor":
            return self.read(value.flat_values) + self.read(list(value.nested_row_splits))
        if value.__class__.__name__ == "SparseTensor":
            return self.read([value.indices, value.values, value.dense_shape])
        if isinstance(value, self.tensors.Tensor):
            shape = tuple(int(size) for size in value.shape)
            return [("tensor", self.name_of(value), self.numbers(value, shape), shape)]
        if isinstance(value, numpy.ndarray):
            return [("tensor", value.dtype.name, value, value.shape)]
        if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
            return [("value", value)]
        return [("object", type(value).__name__)]

    def name_of(self, tensor):
        """Return the name of a tensor's dtype."""
        return str(tensor.dtype).rpartition(".")[2] if self.in_torch else tensor.dtype.name

    def numbers(self, tensor, shape):
        """Return a tensor's numbers, or None where there are too many or NumPy has no such dtype."""
        if numpy.prod(shape, dtype=float) > SHOWN:
            return None
        if not self.in_torch:
            if tensor.dtype.name in ("bfloat16", "half"):
                tensor = self.tensors.cast(tensor, "float32")
            return numpy.array(tensor.numpy())
        tensor = tensor.detach()
        if tensor.is_quantized or tensor.layout != self.tensors.strided or tensor.device.type != "cpu":
            return None
        tensor = tensor.resolve_conj().resolve_neg()
        if self.name_of(tensor) in ("bfloat16", "float8_e5m2", "float8_e4m3fn", "complex32"):
            tensor = tensor.to(self.tensors.float32)
        return numpy.array(tensor.numpy())


def words_of(error):
    """Return an error's words."""
    try:
        return str(error)[:400]
    except BaseException:
        return "?"


def stop(*_):
    """Interrupt a call that takes too long, as Ctrl-C would; the second time the process ends."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(3 * SECONDS)
    raise TooLong


def changed_call(calls, name, seed, index, takes_out):
    """Return (args, kwargs, what was changed) of one nearly right call."""
    rng = hostile.generator(seed, index, name)
    return nearly.nearly(rng, calls[index % len(calls)], takes_out)


def takes_out(face, name):
    """Return whether calls may be given an `out`."""
    return face == "torch" and not name.startswith("Tensor.") and not name.endswith("_")


def main():
    """Walk the names of the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--face", choices=GUESTS)
    parser.add_argument("--calls")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--start", type=int, default=0, help="the first index of the first name")
    parser.add_argument("--only", type=int)
    parser.add_argument("--answers")
    parser.add_argument("--genuine", action="store_true")
    parser.add_argument("names", nargs="+")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    with open(options.calls, "rb") as file:
        calls = pickle.load(file)
    side = Side(options.face, options.genuine)
    side.make(options.names[0], *calls[options.names[0]][0][:2])  # what it loads late is loaded before the limit
    if options.genuine:
        limit_memory()
    if options.only is not None:
        args, kwargs, words = changed_call(calls[options.names[0]], options.names[0], options.seed, options.only,
                                           takes_out(options.face, options.names[0]))
        print(options.names[0], args, kwargs, words, sep="\n")
        print(side.make(options.names[0], args, kwargs))
        return
    start = options.start
    with open(options.answers, "ab", buffering=0) as answers:
        for name in options.names:
            for index in range(start, options.count):
                args, kwargs, words = changed_call(calls[name], name, options.seed, index,
                                                   takes_out(options.face, name))
                answers.write(pickle.dumps((name, index, "begun", words)))
                signal.signal(signal.SIGALRM, stop)
                signal.alarm(SECONDS)
                try:
                    answer = side.make(name, args, kwargs)
                except TooLong:
                    answer = ("slow", "interrupted")
                signal.alarm(0)
                answers.write(pickle.dumps((name, index, "ended", answer)))
            start = 0
    os._exit(0) if threading.active_count() > 1 else None


if __name__ == "__main__":
    main()

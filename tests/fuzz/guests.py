"""Hostile calls of the faces: of every public function, class and tensor method, as the guest's programs write them."""
import functools
import pickle
import struct
import zipfile

import faces
import guesses
import hostile
from tricks import Spite

ALLOWED = (ValueError, TypeError, IndexError, RuntimeError, MemoryError, OverflowError, OSError, ImportError, EOFError,
           pickle.PickleError, zipfile.BadZipFile, struct.error)
METHODS = 3  # of an instance, per attempt


def import_genuine(name):
    """Return the genuine guest of a name."""
    if name == "torchvision":
        from harness import genuine_torchvision
        genuine = genuine_torchvision.load()
        # Calls reach the operators' schemas, which refuse arguments of wrong kinds even where the kernels are missing.
        genuine.extension._has_ops = lambda: True
        return genuine
    import importlib
    return importlib.import_module(name)


def words_of(error):
    """Return the message of an error, also of one that shows an argument that cannot be shown."""
    try:
        return str(error)
    except BaseException:
        return "?"


def use(instance, method, *args, **kwargs):
    """Call a method, which may be a property that raises when it is asked."""
    return getattr(instance, method)(*args, **kwargs)


class Guest:
    """A face; or the genuine guest behind the same names, which answers the same calls.

    Parameters
    ----------
    face : str
        One of `faces.FACES`.
    samples : dict, optional
        {name: [call]} of right calls, as `samples.py` writes them.
    genuine : bool, optional, default=False
        Whether to call the genuine guest.

    """

    def __init__(self, face, samples=None, genuine=False):
        import importlib
        _, self.guest, kit, tensors = faces.FACES[face]
        self.targets, aliases = faces.targets(face)
        self.names = sorted(self.targets)
        self.samples = {aliases.get(name, name): calls for name, calls in (samples or {}).items()}
        self.in_torch = kit is faces.kits.Torch
        if genuine:
            tensors = tensors.rpartition(".")[2]
        self.genuine = import_genuine(self.guest) if genuine else None
        self.kit = kit(importlib.import_module(tensors))
        self.extra = (self.kit.module.errors.OpError,) if kit is faces.kits.Tensorflow else ()
        self.described = {}

    def arguments(self, name, found, skip_self=False):
        """Return what a callable expects, asked once."""
        if name not in self.described:
            self.described[name] = guesses.describe_callable(found, skip_self, self.in_torch)
        return self.described[name]

    def find(self, target):
        """Return what is called for a target: Dragon's, or the genuine one of that name."""
        return target.found if self.genuine is None else faces.resolve(self.genuine, target.name)

    def attempt(self, name, seed, index):
        """Yield (what is called, callable, args, kwargs) of one attempt, each made when it is its turn."""
        target, rng = self.targets[name], hostile.generator(seed, index, name)
        if target.kind == "property":
            def assign(tensor, value):
                setattr(tensor, target.found, value)
            argument = {"name": "value", "type": "any"}
            yield name + " =", assign, [guesses.tensor(self.kit, rng, "self"),
                                        hostile.value(self.kit, rng, argument)], {}
        elif target.kind == "class" and index % 3:
            yield from self.use_instance(target, rng)
        else:
            arguments = self.arguments(name, target.found)
            base = self.right_call(name, arguments, rng) if index % 2 else None
            args, kwargs = hostile.arguments_of_call(self.kit, rng, arguments, base)
            yield name, self.find(target), args, kwargs

    def right_call(self, name, arguments, rng):
        """Return (args, kwargs) of a call that is right, or may well be."""
        known = self.samples.get(name)
        if known and rng.integers(4):
            args, kwargs = hostile.pick(rng, known)
            return ([self.revive(value) for value in args],
                    {key: self.revive(value) for key, value in kwargs.items()})
        return guesses.right_call(self.kit, rng, arguments)

    def revive(self, value):
        """Return an argument from how a file of samples tells it."""
        if isinstance(value, list) and value and value[0] == "tensor":
            made = self.kit.make(value[1].copy())
            return self.kit.learn(made) if value[2] else made
        if isinstance(value, list) and value and value[0] == "dtype":
            return self.kit.dtype(value[1])
        return [self.revive(item) for item in value[1:]] if isinstance(value, list) else value

    def use_instance(self, target, rng):
        """Yield the making of an instance by a call that may be right, and hostile calls of its methods."""
        made, arguments = [], self.arguments(target.name, target.found)
        args, kwargs = guesses.right_call(self.kit, rng, arguments)
        if rng.integers(4) == 0:
            args, kwargs = hostile.scramble(self.kit, rng, arguments, args, kwargs)
        yield target.name, lambda *a, **k: made.append(self.find(target)(*a, **k)), args, kwargs
        if not made or isinstance(target.found, type) and not isinstance(made[0], self.find(target)):
            return  # a class that gives something else, as those that decorate functions too
        methods = target.methods()
        for _ in range(METHODS if methods else 0):
            method = hostile.pick(rng, methods)
            arguments = self.arguments(f"{target.name}.{method}", getattr(target.found, method), skip_self=True)
            base = guesses.right_call(self.kit, rng, arguments) if rng.integers(2) else None
            args, kwargs = hostile.arguments_of_call(self.kit, rng, arguments, base)
            yield f"{target.name}(...).{method}", functools.partial(use, made[0], method), args, kwargs

    def judge(self, name, error):
        """Return what is wrong with an error, or None."""
        if isinstance(error, Spite):
            return None  # what an argument's own methods raise is the caller's
        if isinstance(error, AttributeError) and name.endswith(" ="):
            return None  # Python's own answer where a property may not be set
        if isinstance(error, RecursionError) and "repr of an object" in words_of(error):
            return None  # an argument too deep to be shown, as a Silent one
        if isinstance(error, KeyError) and "expected" in words_of(error):
            return None  # a name that was looked up, and the message says which would do
        if not isinstance(error, ALLOWED + self.extra) or isinstance(error, RecursionError):
            ended = isinstance(error, StopIteration) and name.endswith(("__next__", "next"))
            return None if ended else "class"
        # Python itself says nothing where a sequence claims more items than memory holds.
        return None if words_of(error) or isinstance(error, MemoryError) else "empty message"

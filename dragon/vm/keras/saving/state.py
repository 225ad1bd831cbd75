"""The state of a model as a tree of paths: which objects have some, and under which names files keep it."""
import functools

from dragon.core import warnings
from dragon.core.interrupts import is_interrupt
from dragon.vm.keras.core.naming import to_snake_case
from dragon.vm.shared import strategies

CONTAINERS = (list, dict, tuple)


def is_saveable(value):
    """Return whether an object's state is kept in files: layers, optimizers, metrics and losses have some."""
    return hasattr(type(value), "_obj_type")


@functools.lru_cache(None)
def names_to_skip(kind):
    """Return the attributes that every object of a kind has, which hold no objects of its own."""
    if kind == "Metric":
        from dragon.vm.keras.metrics import Metric
        return frozenset(dir(Metric()))
    if kind == "Optimizer":
        from dragon.vm.keras.optimizers import Optimizer
        with strategies.unwatched():  # it is nobody's
            return frozenset(dir(Optimizer(1.0))) - {"variables"}
    if kind == "Loss":
        from dragon.vm.keras.losses import Loss
        return frozenset(dir(Loss()))
    if kind == "Operation":
        from dragon.vm.keras.core.operation import Operation
        return frozenset(dir(Operation()))
    if kind in ("Cross", "Feature"):
        return frozenset()
    from dragon.vm.keras.layers.layer import Layer
    return frozenset(dir(Layer())) | {"operations", "_operations", "_functional"}


def walk(saveable):
    """Yield (attribute, value) of what an object may keep state in, in the order of files."""
    kind = saveable._obj_type()
    skipped = names_to_skip(kind)
    if kind in ("Sequential", "Functional"):
        # First of all, whatever attributes a subclass has.
        yield "layers", saveable.layers
    for name in sorted(dir(saveable), key=lambda name: "~" + name if name.startswith("_") else name):
        if name.startswith("__") or name in skipped:
            continue
        try:
            value = getattr(saveable, name)
        except Exception as error:  # a property that does not hold yet has no state
            if is_interrupt(error):
                raise
            continue
        yield name, value


def _items(container):
    """Yield (name, value) of a container's objects and containers; names do not depend on the objects' own."""
    used = {}
    for value in container.values() if isinstance(container, dict) else container:
        if is_saveable(value):
            name = to_snake_case(type(value).__name__)
        elif isinstance(value, CONTAINERS):
            name = "container"
        else:
            continue
        number = used[name] = used.get(name, -1) + 1
        yield (f"{name}_{number}" if number else name), value


class Seen:
    """Objects by identity, kept alive: the number of one that is gone may be the next one's.

    Parameters
    ----------
    items : Iterable[Any], optional
        What has been seen from the start.

    """

    def __init__(self, items=()):
        self._items = {id(item): item for item in items}

    def add(self, item):
        """Note an object."""
        self._items[id(item)] = item

    def __contains__(self, item):
        return id(item) in self._items


def _join(path, name):
    return f"{path}/{name}" if path else name


class Writer:
    """Puts the state of a tree of objects into stores."""

    def __init__(self, weights, assets=None, skip=()):
        self.weights, self.assets = weights, assets
        self.visited, self.containers = Seen(skip), Seen()

    def write(self, saveable, path=""):
        """Write an object and all below it."""
        if saveable in self.visited:
            return
        if hasattr(saveable, "save_own_variables") and self.weights is not None:
            name = getattr(saveable, "name", None)
            saveable.save_own_variables(self.weights.make(path, name=name if isinstance(name, str) and name else None))
        if hasattr(saveable, "save_assets") and self.assets is not None:
            saveable.save_assets(self.assets.make(path))
        self.visited.add(saveable)
        for name, value in walk(saveable):
            self._write_any(value, _join(path, name))

    def _write_any(self, value, path):
        if is_saveable(value):
            self.write(value, path)
        elif isinstance(value, CONTAINERS) and value not in self.containers:
            self.containers.add(value)
            for name, item in _items(value):
                self._write_any(item, _join(path, name))


class Reader:
    """Takes the state of a tree of objects from stores; what fails is told at the end, all of it.

    Parameters
    ----------
    weights : Optional[WeightsStore]
        Where variables are; None for assets alone.
    assets : AssetsStore, optional
        Where assets are.
    skip_mismatch : bool, optional, default=False
        Whether failures are only warned of.
    skip : Sequence[Any], optional
        Objects to leave alone.

    """

    def __init__(self, weights, assets=None, skip_mismatch=False, skip=()):
        self.weights, self.assets, self.skip_mismatch = weights, assets, skip_mismatch
        self.visited, self.failed = Seen(skip), {}

    def read(self, saveable, path=""):
        """Read an object and all below it."""
        if saveable in self.visited:
            return
        failed_before = len(self.failed)
        is_read = self._read_own(saveable, path)
        containers = Seen()
        for name, value in walk(saveable):
            self._read_any(value, _join(path, name), containers)
        if is_read:
            # An object may fail under one name and be found under another.
            self.failed.pop(id(saveable), None)
            if len(self.failed) <= failed_before:
                self.visited.add(saveable)

    def _read_own(self, saveable, path):
        try:
            if hasattr(saveable, "load_own_variables") and self.weights is not None:
                saveable.load_own_variables(self.weights.get(path))
            if hasattr(saveable, "load_assets") and self.assets is not None:
                folder = self.assets.get(path)
                if folder is not None:
                    saveable.load_assets(folder)
        except Exception as error:
            if is_interrupt(error):
                raise
            self.failed[id(saveable)] = saveable, error
            return False
        return True

    def _read_any(self, value, path, containers):
        if is_saveable(value):
            self.read(value, path)
        elif isinstance(value, CONTAINERS) and value not in containers:
            containers.add(value)
            for name, item in _items(value):
                below = _join(path, name)
                kept = self.assets if self.weights is None else self.weights
                if name.startswith("container") and not kept.has_path(below):
                    continue  # files of older versions have no containers within containers
                self._read_any(item, below, containers)

    def tell(self):
        """Raise a ValueError, or warn, about what could not be read."""
        if not self.failed:
            return
        example, error = next(iter(self.failed.values()))
        message = (f"A total of {len(self.failed)} objects could not be loaded. Example error message for object "
                   f"{example}:\n\n{error}\n\nList of objects that could not be loaded:\n"
                   f"{[item for item, _ in self.failed.values()]}")
        if not self.skip_mismatch:
            raise ValueError(message)
        warnings.warn(message)

"""Variables of this process as copies of values that servers keep.

A function sees the values as they are when it begins, and its own writes; these go to the servers when it ends. Where
nobody else has written meanwhile, the servers take the numbers as they are; else what a function has added is added,
so that no worker's step is lost. What a function assigned is put in as it is.
"""
import threading

from dragon.core import modes
from dragon.core.scopes import ExitStack
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.host import host_array
from dragon.vm.shared.tensors.tensor import IdentityDictionary
from dragon.vm.shared.tensors.variable import write


class Shard:
    """Some rows of a variable.

    Parameters
    ----------
    task : int
        The number of the server that keeps them.
    first, last : int
        The rows; both None for all of a variable, whatever its shape.

    """

    def __init__(self, task, first=None, last=None):
        self.task, self.first, self.last, self.version = task, first, last, 0

    rows = property(lambda self: ... if self.first is None else slice(self.first, self.last),
                    doc="The rows as an index.")

    def __reduce__(self):
        return Shard, (self.task, self.first, self.last)


class Copy:
    """A variable, where its values are kept, and the numbers that were seen there last."""

    def __init__(self, variable, shards, seen):
        self.variable, self.shards, self.seen = variable, shards, seen


class Copies:
    """The variables of a process.

    Parameters
    ----------
    ask : Callable[..., Any]
        Called with the number of a server, a method of its shelf and its arguments; returns the answer.

    """

    def __init__(self, ask):
        self._ask, self._numbers, self.all = ask, IdentityDictionary(), {}
        self.lock = threading.RLock()

    def number_of(self, variable):
        """Return a variable's number, or None for one that is not kept on servers."""
        return self._numbers.get(variable)

    def make(self, variable, shards):
        """Have servers keep a new variable."""
        array = host_array(variable).copy()
        with self.lock:
            number = len(self.all)
            for part, shard in enumerate(shards):
                shard.version = self._ask(shard.task, "make", (number, part), array[shard.rows])
            self._add(number, variable, shards, array)

    def adopt(self, number, variable, shards):
        """Have a new variable be a copy of what servers keep; its numbers come with the next `pull`."""
        with self.lock:
            self._add(number, variable, shards, host_array(variable).copy())

    def _add(self, number, variable, shards, array):
        self._numbers.set(variable, number)
        if hasattr(type(variable), "_copies"):
            variable._copies = self
        self.all[number] = Copy(variable, shards, array)

    # --- fetching

    def pull(self, numbers=None):
        """Bring variables up to date; all of them by default."""
        with self.lock:
            numbers = list(self.all) if numbers is None else [number for number in numbers if number in self.all]
            known = {}
            for number in numbers:
                for part, shard in enumerate(self.all[number].shards):
                    known.setdefault(shard.task, {})[number, part] = shard.version
            changed = set()
            for task, versions in sorted(known.items()):
                for (number, part), (version, rows, array) in self._ask(task, "pull", versions).items():
                    self._take(self.all[number], part, version, rows, array)
                    changed.add(number)
            for number in changed:
                copy = self.all[number]
                self._show(copy.variable, copy.seen)

    @staticmethod
    def _take(copy, part, version, rows, array):
        """Note what a server has told of a shard."""
        shard = copy.shards[part]
        shard.version = version
        if rows is not None:
            copy.seen[rows + (shard.first or 0)] = array
        elif shard.first is None:
            copy.seen = array
        else:
            copy.seen[shard.first:shard.last] = array

    @staticmethod
    def _show(variable, array):
        """Give a variable numbers that were fetched."""
        with ExitStack() as exits:
            exits.switch(modes.set_recording, False)
            value = convert_to_tensor(array.copy(), getattr(variable, "_dtype", None) or variable.dtype)
            if tuple(value.shape) == tuple(variable.shape):
                write(variable, value)
            else:
                variable.data = value

    # --- sending

    def push(self, numbers=None, assigned=()):
        """Send what has changed here since it was fetched.

        Parameters
        ----------
        numbers : Iterable[int], optional
            The variables; all by default.
        assigned : Container[int], optional
            Those whose numbers are to be put in whatever others have written.

        """
        with self.lock:
            writes = {}
            for number in list(self.all) if numbers is None else numbers:
                copy = self.all[number]
                array = host_array(copy.variable)
                if _equal(array, copy.seen):
                    continue
                array, before = array.copy(), copy.seen
                for part, shard in enumerate(copy.shards):
                    written = _difference(before, array, shard)
                    if written is not None:
                        verb = "put" if number in assigned or array.dtype.kind == "b" else "replace"
                        writes.setdefault(shard.task, []).append(((number, part), verb, shard, written, before))
                copy.seen = array
            for task, sent in sorted(writes.items()):
                self._send(task, sent)

    def _send(self, task, sent):
        found = self._ask(task, "push", [(key, verb, shard.version, rows, array)
                                         for key, verb, shard, (rows, array), _ in sent])
        again = []
        for (key, verb, shard, (rows, array), before), version in zip(sent, found):
            if version is None:
                place = shard.rows if rows is None else rows + (shard.first or 0)
                again.append((key, "add", 0, rows, array - before[place]))
            elif version == shard.version + 1 or rows is None:
                shard.version = version
        if again:  # others have written meanwhile: what comes of both is fetched next time
            self._ask(task, "push", again)


def _equal(one, other):
    return one.shape == other.shape and one.tobytes() == other.tobytes()


def _difference(before, after, shard):
    """Return (rows within the shard or None for all, numbers) of what has changed of a shard, or None for nothing."""
    import numpy
    from dragon.distributed.serving.shelf import ROWS_BYTES
    old, new = before[shard.rows], after[shard.rows]
    if _equal(old, new):
        return None
    if old.shape != new.shape or new.ndim == 0 or new.nbytes < ROWS_BYTES or not new.size:
        return None, new
    changed = numpy.flatnonzero((old.reshape(len(old), -1) != new.reshape(len(new), -1)).any(1))
    return (None, new) if 2 * len(changed) > len(new) else (changed, new[changed])

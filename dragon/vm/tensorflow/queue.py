"""`tf.queue`: queues of tuples of tensors, in one process."""
import collections
import heapq
import itertools
import threading

from dragon.vm.shared import nest as _nest
from dragon.vm.shared.arrays.joining import stack as _stack, unstack as _unstack
from dragon.vm.shared.errors import CancelledError, OutOfRangeError, invalid_argument
from dragon.vm.shared.tensors.convert import convert_to_tensor as _convert
from dragon.vm.shared.tensors.dtypes import as_dtype as _as_dtype, int64 as _int64
from dragon.vm.shared.tensors.shape import TensorShape


class QueueBase:
    """The base of queues.

    Parameters
    ----------
    dtypes : Sequence[DType]
        Of the tensors of an element.
    shapes : Optional[Sequence[TensorShape]]
        Their shapes; None where they are not told.
    names : Optional[Sequence[str]]
        Their names; elements are dictionaries then.
    capacity : int
        How many elements there may be; below 0: any number.

    """

    def __init__(self, dtypes, shapes, names, capacity):
        self._dtypes = [_as_dtype(one) for one in (dtypes if isinstance(dtypes, (list, tuple)) else [dtypes])]
        if shapes is None:
            self._shapes = [TensorShape(None)] * len(self._dtypes)
        else:
            given = shapes if len(self._dtypes) > 1 or _nest.is_nested(shapes) and shapes and (
                _nest.is_nested(shapes[0]) or isinstance(shapes[0], TensorShape)) else [shapes]
            self._shapes = [TensorShape(one) for one in given]
        if len(self._shapes) != len(self._dtypes):
            raise ValueError("Queue shapes must have the same length as dtypes, received "
                             f"len(shapes)={len(self._shapes)}, len(dtypes)={len(self._dtypes)}")
        self._names = None if names is None else [names] if isinstance(names, str) else list(names)
        if self._names is not None and len(self._names) != len(self._dtypes):
            raise ValueError("Queue names must have the same length as the datatypes. Received: "
                             f"len(names)={len(self._names)}, len(dtypes)={len(self._dtypes)}")
        self._capacity, self._items = int(capacity), self._make_items()
        self._closed, self._changed = False, threading.Condition()

    dtypes = property(lambda self: self._dtypes, doc="List[DType]: of the tensors of an element.")
    shapes = property(lambda self: self._shapes, doc="List[TensorShape]: of the tensors of an element.")
    names = property(lambda self: self._names, doc="Optional[List[str]]: of the tensors of an element.")

    # --- how elements are kept

    def _make_items(self):
        return collections.deque()

    def _put(self, element):
        self._items.append(element)

    def _take(self):
        return self._items.popleft()

    def _ready(self):
        """Return how many elements may be taken."""
        return len(self._items)

    # --- elements

    def _check(self, values, batched):
        """Return the tensors of an element, or of several as rows."""
        if self._names is not None:
            if not isinstance(values, dict):
                raise ValueError("Cannot enqueue a non-dictionary to a queue with names. Received: "
                                 f"{values!r}")
            if sorted(values) != sorted(self._names):
                raise ValueError(f"Keys in dictionary to enqueue do not match names of Queue. Dictionary: "
                                 f"{sorted(values)}, Queue: {sorted(self._names)}")
            values = [values[name] for name in self._names]
        elif isinstance(values, dict):
            raise ValueError("Cannot enqueue a dictionary to a queue without names.")
        elif not isinstance(values, (list, tuple)):
            values = [values]
        if len(values) != len(self._dtypes):
            raise ValueError(f"Expected {len(self._dtypes)} tensors in an element. Received: {len(values)}")
        found = [_convert(value, dtype) for value, dtype in zip(values, self._dtypes)]
        for tensor, shape in zip(found, self._shapes):
            own = TensorShape(list(tensor.shape)[1:] if batched else list(tensor.shape))
            if not shape.is_compatible_with(own):
                raise ValueError(f"Shapes {shape} and {own} are incompatible")
        return found

    def _shown(self, tensors):
        if self._names is not None:
            return dict(zip(self._names, tensors))
        return tensors[0] if len(tensors) == 1 else list(tensors)

    def enqueue(self, vals, name=None):
        """Put an element in; waits while the queue is full."""
        self._enqueue(self._check(vals, False))

    def _enqueue(self, element):
        with self._changed:
            if self._closed:
                raise CancelledError(None, None, f"{type(self).__name__} is closed.")
            self._changed.wait_for(lambda: self._closed or self._capacity < 0 or len(self._items) < self._capacity)
            if self._closed:
                raise CancelledError(None, None, f"{type(self).__name__} is closed.")
            self._put(element)
            self._changed.notify_all()

    def enqueue_many(self, vals, name=None):
        """Put several elements in, which are the rows of tensors."""
        tensors = self._check(vals, True)
        counts = {tensor.shape[0] for tensor in tensors}
        if len(counts) != 1:
            raise invalid_argument(f"enqueue_many: all tensors must have as many rows. Received: {sorted(counts)}")
        for row in zip(*[_unstack(tensor) for tensor in tensors]):
            self._enqueue(list(row))

    def _dequeue(self):
        with self._changed:
            self._changed.wait_for(lambda: self._ready() or self._closed)
            if not self._ready() and not (self._closed and self._items):
                raise OutOfRangeError(None, None, f"{type(self).__name__} is closed and has insufficient elements "
                                      "(requested 1, current size 0)")
            element = self._take()
            self._changed.notify_all()
            return element

    def dequeue(self, name=None):
        """Take an element out; waits while there is none."""
        return self._shown(self._dequeue())

    def _join(self, rows):
        if rows and any(shape.rank is None or None in list(shape) for shape in self._shapes):
            raise ValueError("All the shapes of the queue must be known to dequeue several elements. Received: "
                             f"shapes={self._shapes}")
        return [_stack(column) for column in zip(*rows)]

    def dequeue_many(self, n, name=None):
        """Take several elements out, as the rows of tensors; a closed queue with fewer is an OutOfRangeError."""
        count = int(n)
        with self._changed:
            self._changed.wait_for(lambda: self._ready() >= count or self._closed)
            if len(self._items) < count:
                raise OutOfRangeError(None, None, f"{type(self).__name__} is closed and has insufficient elements "
                                      f"(requested {count}, current size {len(self._items)})")
            rows = [self._take() for _ in range(count)]
            self._changed.notify_all()
        return self._shown(self._join(rows))

    def dequeue_up_to(self, n, name=None):
        """Take several elements out, fewer where a closed queue has no more; see `dequeue_many`."""
        with self._changed:
            self._changed.wait_for(lambda: self._ready() >= int(n) or self._closed)
            count = min(int(n), len(self._items))
        if not count:
            raise OutOfRangeError(None, None, f"{type(self).__name__} is closed and has insufficient elements "
                                  f"(requested {int(n)}, current size 0)")
        return self.dequeue_many(count)

    def size(self, name=None):
        """Return how many elements there are."""
        return _convert(len(self._items), "int32")

    def close(self, cancel_pending_enqueues=False, name=None):
        """Take no more elements; those that are in may still be taken out."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def is_closed(self, name=None):
        """Return whether the queue takes no more elements."""
        return _convert(self._closed)

    @staticmethod
    def from_list(index, queues):
        """Return a queue of a list by its number."""
        if not queues or not isinstance(queues, list) or not all(isinstance(one, QueueBase) for one in queues):
            raise TypeError("A list of queues expected")
        return queues[int(index)]


class FIFOQueue(QueueBase):
    """A queue that gives first what came first.

    Parameters
    ----------
    capacity : int
        How many elements there may be.
    dtypes, shapes, names : Any
        See `QueueBase`.
    shared_name, name : str, optional
        Accepted.

    """

    def __init__(self, capacity, dtypes, shapes=None, names=None, shared_name=None, name="fifo_queue"):
        super().__init__(dtypes, shapes, names, capacity)


class PaddingFIFOQueue(QueueBase):
    """A queue that gives first what came first, and fills up with zeros what it gives several of; see `FIFOQueue`."""

    def __init__(self, capacity, dtypes, shapes, names=None, shared_name=None, name="padding_fifo_queue"):
        super().__init__(dtypes, shapes, names, capacity)
        if any(shape.rank is None for shape in self._shapes):
            raise ValueError(f"Shapes of a PaddingFIFOQueue must have known ranks. Received: {shapes}")

    def _join(self, rows):
        from dragon.vm.shared.arrays.array import pad
        joined = []
        for column in zip(*rows):
            sizes = [max(own) for own in zip(*[tuple(one.shape) for one in column])]
            joined.append(_stack([pad(one, [[0, size - own] for size, own in zip(sizes, one.shape)]) if sizes else one
                                  for one in column]))
        return joined


class RandomShuffleQueue(QueueBase):
    """A queue that gives any element; see `FIFOQueue`.

    Parameters
    ----------
    min_after_dequeue : int
        How many elements stay at least, so that there is a choice, until the queue is closed.
    seed : int, optional
        Of the choice.

    """

    def __init__(self, capacity, min_after_dequeue, dtypes, shapes=None, names=None, seed=None, shared_name=None,
                 name="random_shuffle_queue"):
        import random
        self._least, self._random = int(min_after_dequeue), random.Random(seed)
        super().__init__(dtypes, shapes, names, capacity)

    def _make_items(self):
        return []

    def _ready(self):
        return max(len(self._items) - (0 if self._closed else self._least), 0)

    def _take(self):
        place = self._random.randrange(len(self._items))
        self._items[place], self._items[-1] = self._items[-1], self._items[place]
        return self._items.pop()


class PriorityQueue(QueueBase):
    """A queue that gives the element of the lowest number first: its first tensor, an int64; see `FIFOQueue`."""

    def __init__(self, capacity, types, shapes=None, names=None, shared_name=None, name="priority_queue"):
        types = types if isinstance(types, (list, tuple)) else [types]
        shapes = shapes if shapes is None else [(), *shapes]
        self._order = itertools.count()
        super().__init__([_int64, *types], shapes, names, capacity)

    def _make_items(self):
        return []

    def _put(self, element):
        heapq.heappush(self._items, (int(element[0].numpy()), next(self._order), element))

    def _take(self):
        return heapq.heappop(self._items)[2]

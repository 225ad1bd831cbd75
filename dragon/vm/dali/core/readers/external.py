"""What the program itself gives a pipeline: `external_source`, from functions, iterables or `feed_input`."""
import collections
import inspect
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from dragon.vm.dali.core.execution import Values
from dragon.vm.dali.core.kinds import to_dali_type, to_numpy_type
from dragon.vm.dali.core.refusals import got
from dragon.vm.dali.core.schema import operator


def takes_argument(function):
    """Return whether a function takes one argument, besides those with defaults."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return True
    return any(one.kind is one.VAR_POSITIONAL or (
        one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD) and one.default is one.empty)
        for one in parameters)


def _count(arguments):
    return arguments.get("num_outputs") or 1


@operator("external_source", outputs=_count, kind="source")
class ExternalSource:
    """Take samples from the program: from a function, an iterable, or what `feed_input` brings."""

    def __init__(self, *, source=None, num_outputs=None, cycle=None, layout=None, dtype=None, ndim=None, batch=True,
                 repeat_last=False, parallel=False, batch_info=False, seed=0):
        if cycle not in (None, False, True, "no", "quiet", "raise"):
            raise ValueError(got("external_source", f"cycle={cycle!r}", "False, True, 'quiet' or 'raise'"))
        self.single, self.count = num_outputs is None, num_outputs or 1
        self.cycle = {True: "quiet", "no": None, False: None}.get(cycle, cycle)
        self.layouts, self.kinds, self.ndims = (self._spread(value) for value in (layout, dtype, ndim))
        self.batch, self.repeat, self.parallel, self.batch_info = batch, repeat_last, parallel, batch_info
        self.source, self.queue, self.last, self.pool = source, collections.deque(), None, None
        self.epoch, self.iteration, self.lock = 0, 0, threading.Lock()
        self._open()

    def _spread(self, value):
        return list(value) if isinstance(value, (list, tuple)) else [value] * self.count

    def _open(self):
        source = self.source
        self.walk, self.function = None, None
        if source is None:
            return
        if hasattr(source, "__iter__") or hasattr(source, "__next__") or inspect.isgeneratorfunction(source):
            if self.cycle is not None and hasattr(source, "__next__"):
                raise TypeError(got("external_source", f"cycle for {type(source).__name__}",
                                    "an iterable that can be walked again"))
            self.walk = iter(source() if inspect.isgeneratorfunction(source) else source)
        elif callable(source):
            if self.cycle is not None:
                raise ValueError(got("external_source", "cycle for a function", "an iterable"))
            self.function, self.argued = source, takes_argument(source)
        elif hasattr(source, "__getitem__"):
            self.walk = iter(source)
        else:
            raise TypeError(got("external_source", type(source).__name__, "a callable or an iterable"))

    def feed(self, data, layout=None):
        """Put a batch into the row of those that are waiting."""
        self.queue.append((data, layout))

    def next(self, size, infos):
        """Return the values of the next batch's samples."""
        if self.source is None:
            if not self.queue and not (self.repeat and self.last is not None):
                raise IndexError(got("external_source", "a run with nothing fed", "feed_input before each run"))
            if self.queue:
                self.last = self.queue.popleft()
            batch, layout = self.last
            return self._samples([batch] if self.single else batch, size, layout)
        rows = self._ask(size, infos)
        self.iteration += 1
        return rows

    def _ask(self, size, infos):
        if self.batch:
            info = infos.batch(self.iteration, self.epoch) if self.batch_info else self.iteration
            given = self._draw(info)
            return self._samples([given] if self.single else given, size)
        if self.function is not None and self.parallel:
            self.pool = self.pool or ThreadPoolExecutor(min(8, size))
            asked = [infos.sample(self.iteration * size + place, place, self.iteration, self.epoch)
                     for place in range(size)]
            answers = [self.pool.submit(self.function, one) for one in asked]
            rows = [answer.result() for answer in answers]
        else:
            rows = [self._draw(infos.sample(self.iteration * size + place, place, self.iteration, self.epoch))
                    for place in range(size)]
        columns = [rows] if self.single else list(zip(*rows))
        return self._samples(columns, size)

    def _draw(self, info):
        """Return what the function or the iterable gives next."""
        if self.function is not None:
            return self.function(info) if self.argued else self.function()
        try:
            return next(self.walk)
        except StopIteration:
            if self.cycle != "quiet":
                raise
            self._open()
            return next(self.walk)

    def _samples(self, columns, size, layout=None):
        if len(columns) != self.count:
            raise RuntimeError(got("external_source", f"{len(columns)} outputs", f"{self.count}"))
        columns = [[self._array(value, place) for value in _rows(column)] for place, column in enumerate(columns)]
        counts = {len(column) for column in columns}
        if len(counts) > 1:
            raise RuntimeError(got("external_source", f"batches of {sorted(counts)} samples", "equally many"))
        if counts and max(counts) > size:
            raise RuntimeError(got("external_source", f"a batch of {max(counts)} samples",
                                   f"{size} at the most, the pipeline's batch_size"))
        layouts = [layout or own or "" for own in self.layouts]
        for column, axes in zip(columns, layouts):
            if axes and column and len(axes) != column[0].ndim:
                raise RuntimeError(got("external_source", f"layout {axes!r} for {column[0].ndim} axes",
                                       "a letter for each axis"))
        return [Values(list(row), layouts) for row in zip(*columns)]

    def _array(self, value, place):
        array = as_array(value)
        kind, ndim = self.kinds[place], self.ndims[place]
        if kind is not None and array.dtype != to_numpy_type(kind):
            raise RuntimeError(got("external_source", f"data of type {array.dtype}", f"dtype={kind}"))
        if ndim is not None and array.ndim != ndim:
            raise RuntimeError(got("external_source", f"data of {array.ndim} axes", f"ndim={ndim}"))
        return array

    def meta(self):
        """Return nothing: nobody knows how much the program will give."""
        return None

    def reset(self):
        """Begin an epoch anew."""
        self.epoch, self.iteration = self.epoch + 1, 0
        if self.cycle == "raise":
            self._open()

    def state(self):
        """Return how far the source is."""
        return self.epoch, self.iteration

    def load(self, state, size):
        """Go on from where a source was, which only functions of what they are asked for can."""
        self.epoch, self.iteration = state
        for _ in range(self.iteration if self.walk is not None else 0):
            self._draw(None)


def _rows(batch):
    """Return a batch as a list of samples."""
    if isinstance(batch, (list, tuple)):
        return batch
    if hasattr(batch, "as_array") and not getattr(batch, "is_dense_tensor", lambda: True)():
        return list(batch)
    return list(as_array(batch))


def as_array(value):
    """Return numbers of any kind as an array; those of other frameworks are asked for it."""
    if isinstance(value, np.ndarray):
        array = value
    elif hasattr(value, "detach"):
        array = value.detach().cpu().numpy()
    else:
        array = np.asarray(value)
        if not hasattr(value, "__array__") and array.dtype == np.float64:
            array = array.astype(np.float32) if isinstance(value, float) else array
    if array.dtype.kind not in "biuf":
        raise TypeError(got("external_source", f"{type(value).__name__} of type {array.dtype}", "numbers"))
    to_dali_type(array.dtype)
    return array

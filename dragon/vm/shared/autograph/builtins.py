"""Python's own functions over tensors: `range`, `len`, `abs` and the like, in the code that was rewritten."""
from dragon import _C
from dragon.core.capture.control import is_open
from dragon.vm.shared.autograph.staging import is_tensor
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.tensor import ops

_NOTHING = object()
callers = []  # `converted_call`, which stands upon this: it enters itself


def limits(function, *args, **kwargs):
    """Return the first number, the limit and the step of a range of open tensors; None where Python may count itself.

    Parameters
    ----------
    function : Callable
        `range`, or that of TensorFlow.
    *args, **kwargs : Any
        Its arguments.

    Returns
    -------
    Optional[Tuple[Tensor, Tensor, Tensor]]
        Of one dtype.

    """
    given = [value for value in (*args, *kwargs.values()) if is_tensor(value)]
    if not any(map(is_open, given)) or set(kwargs) - {"start", "limit", "delta", "dtype", "name"} or not (
            1 <= len(args) + len(set(kwargs) & {"start", "limit", "delta"}) <= 5):
        return None
    values = dict(zip(("start", "limit", "delta", "dtype", "name"), args))
    values.update(kwargs)
    start, limit, delta = values.get("start", 0), values.get("limit"), values.get("delta", 1)
    if limit is None:
        start, limit = 0, start
    dtype = values.get("dtype") or next(value.dtype for value in given)
    if any(is_tensor(value) and value.ndim for value in (start, limit, delta)) or any(
            is_tensor(value) and value.dtype != dtype for value in (start, limit, delta)):
        return None  # whoever makes the range says what is wrong, or finds the dtype
    return tuple(convert_to_tensor(value, dtype) for value in (start, limit, delta))


def _range(start, stop=_NOTHING, step=_NOTHING):
    given = [start] + [value for value in (stop, step) if value is not _NOTHING]
    if not any(map(is_tensor, given)):
        return range(*given)
    from dragon.vm.shared.arrays.creation import range_
    if len(given) == 2:
        # as in Python, there is nothing between a number and a smaller one
        given[1] = ops.maximum(*map(convert_to_tensor, given))
    return range_(*given)


def _len(value):
    if isinstance(value, _C.Tensor):
        if not value.ndim:
            raise ValueError(f"len requires a non-scalar tensor, got one of shape {value.shape}")
        return _C.Tensor.shape.__get__(value)[0]
    if hasattr(value, "cardinality"):
        return value.cardinality()
    return len(value)


def _abs(x):
    return ops.abs(x) if is_tensor(x) else abs(x)


def _float(x=0.0):
    if not is_tensor(x) or not is_open(x):
        return float(x)
    return ops.cast(x, "float32")


def _int(x=0, base=_NOTHING):
    if not is_tensor(x) or not is_open(x) or base is not _NOTHING:
        return int(x) if base is _NOTHING else int(x, base)
    return ops.cast(x, "int32")


def _extreme(plain, reduce):
    def run(*args, **kwargs):
        if not kwargs and any(map(is_tensor, args)):
            if len(args) == 1:
                if args[0].ndim != 1:
                    raise ValueError(f"{plain.__name__} arg must be of rank 1, got shape {args[0].shape}")
                return reduce(args[0])
            return reduce(ops.stack([convert_to_tensor(item) for item in args]))
        return plain(*args, **kwargs)
    return run


def _is_dataset(value):
    return hasattr(value, "element_spec") and hasattr(value, "map")


def _enumerate(s, start=0):
    return s.enumerate(start) if _is_dataset(s) else enumerate(s, start)


def _zip(*iterables, **kwargs):
    if iterables and all(map(_is_dataset, iterables)):
        return type(iterables[0]).zip(iterables)
    return zip(*iterables, **kwargs)


def _map(function, *iterables):
    if iterables and all(map(_is_dataset, iterables)):
        together = type(iterables[0]).zip(iterables) if len(iterables) > 1 else iterables[0]
        return together.map(function)
    return map(lambda *items: callers[0](function, items, None), *iterables)


def _filter(function, iterable):
    if _is_dataset(iterable):
        return iterable.filter(function)
    if function is None:
        return filter(None, iterable)
    return filter(lambda item: callers[0](function, (item,), None), iterable)


def _next(iterator, default=_NOTHING):
    """Return the next element; of a dataset's iterator as graphs take it, whose end is an OutOfRangeError."""
    if not hasattr(iterator, "get_next_as_optional"):
        return next(iterator) if default is _NOTHING else next(iterator, default)
    if default is _NOTHING:
        return iterator.get_next()
    found = iterator.get_next_as_optional()
    return found.get_value() if found.has_value() else default


def _over_dataset(plain, name):
    def run(iterable):
        if not _is_dataset(iterable):
            return plain(iterable)
        spec = iterable.element_spec
        if getattr(getattr(spec, "dtype", None), "name", None) != "bool":
            raise ValueError(f"in graph mode, the \"{name}\" builtin only supports datasets that return bool scalars; "
                             f"got: {spec}")
        ends = iterable.filter((lambda x: x) if name == "any" else lambda x: ops.logical_not(x)).take(1)
        found = ends.reduce(convert_to_tensor(0), lambda count, _: count + 1)
        return found > 0 if name == "any" else ops.eq(found, 0)
    return run


def _sorted(iterable, key=_NOTHING, reverse=_NOTHING):
    if not is_tensor(iterable):
        named = {name: value for name, value in (("key", key), ("reverse", reverse)) if value is not _NOTHING}
        return sorted(iterable, **named)
    from dragon.vm.shared.arrays.array import argsort, sort
    direction = "DESCENDING" if reverse is not _NOTHING and reverse else "ASCENDING"
    if key is _NOTHING or key is None:
        if iterable.ndim != 1:
            raise ValueError(f"sort only supports only 1D tensors, got shape {iterable.shape}")
        return sort(iterable, direction=direction)
    mapped = ops.stack([convert_to_tensor(key(item)) for item in ops.unbind(iterable)])
    from dragon.vm.shared.arrays.gathering import gather
    return gather(iterable, argsort(mapped, direction=direction, stable=True))


OVERLOADS = {range: _range, len: _len, abs: _abs, float: _float, int: _int, min: _extreme(min, ops.amin),
             max: _extreme(max, ops.amax), enumerate: _enumerate, zip: _zip, map: _map, filter: _filter,
             any: _over_dataset(any, "any"), all: _over_dataset(all, "all"), sorted: _sorted, next: _next}

"""`for` and `while`: over tensors they become loops of graphs, over everything else they stay Python's."""
import itertools

from dragon import _C
from dragon.core.capture.control import PLAIN, NoGraph, give_up
from dragon.core.capture.settings import is_capturing
from dragon.core.scopes import contextmanager
from dragon.vm.shared import nest
from dragon.vm.shared.autograph import verifying
from dragon.vm.shared.autograph.hosting import assert_true, failed_assertion
from dragon.vm.shared.autograph.staging import attempt, condition, flow, guarded, is_staged, packed, unpacked
from dragon.vm.shared.autograph.undefined import Undefined, is_missing
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.tensor import ops

INCONSISTENT = ("break and return statements which depend on a TF condition are not supported in Python for loops. Did "
                "you intend to make it a TF loop?")
CHANGED = ("The condition of while loop started as non-Tensor, then changed to Tensor. This may happen either because "
           "variables changed type, or when a break or return statement inside the loop depends on a Tensor condition. "
           "In both cases, changing to a TF loop should remove the error.")
TROUBLE = (UnboundLocalError, TypeError, ValueError, KeyError)


class Range:
    """The numbers of `tf.range` whose limits are known when the graph runs; for `for` only.

    Parameters
    ----------
    start, limit, delta : Tensor
        Scalars of one dtype.

    """

    def __init__(self, start, limit, delta):
        self.start, self.limit, self.delta = start, limit, delta

    def goes_on(self, number):
        """Return whether a number is still within."""
        upwards = ops.logical_and(self.delta >= 0, number < self.limit)
        return ops.logical_or(upwards, ops.logical_and(self.delta < 0, number > self.limit))


def loop_options(parallel_iterations=None, swap_memory=None, maximum_iterations=None, shape_invariants=None):
    """Return the options of a loop that `tf.autograph.experimental.set_loop_options` names."""
    return {"maximum_iterations": maximum_iterations, "shape_invariants": shape_invariants}


class Numbers:
    """The numbers of `tf.range` whose limits are known; for `for` only.

    Parameters
    ----------
    items : Tensor
        The numbers.
    start : Any
        What the first one is, or would be: of this value is the loop's variable where there is none.

    """

    def __init__(self, items, start):
        self.items, self.start = items, start


class _Loop:
    """What a loop changes, and what it may become.

    Parameters
    ----------
    get_state, set_state : Callable
        They read and write what it changes.
    names : Tuple[str]
        What that is called.
    options : Callable, optional
        Returns those that `set_loop_options` names.

    """

    def __init__(self, get_state, set_state, names, options):
        self.get, self.set, self.names = get_state, set_state, names
        given = {} if options is None else options()
        self.limit = given.get("maximum_iterations")
        self.limit = None if self.limit is None else int(self.limit)
        self._given = [*(given.get("shape_invariants") or ())]  # whose values must live, to be told by their ids
        self._shapes = {id(value): shape for value, shape in self._given}
        self._kinds = []

    def begin(self, body, defaults=None):
        """Return the first state; names without a value get one of the kind that the first round gives them."""
        before = tuple(self.get())
        self.invariants = {place: self._shapes[id(value)] for place, value in enumerate(before)
                           if id(value) in self._shapes}
        if defaults:
            before = tuple(defaults.get(name, value) if isinstance(value, Undefined) else value
                           for name, value in zip(self.names, before))
        self.promised = [place for place, value in enumerate(before) if value is None or is_missing(value)]
        self._arrays = [place for place, value in enumerate(before) if hasattr(type(value), "_staged_parts")
                        and not value._staged_parts()]
        if self.promised or self._arrays:
            before = self._complete(before, body)
        verifying.require_loop_values(before, self.names)
        return before

    def _complete(self, before, body):
        """Run one round without numbers, to see of what kind its values are."""
        seen, hint = [], None

        def run(state):
            self.put(state)
            body()
            seen.extend(self.get())
        try:
            flow.rehearse(run, self.pack(before))
        except TROUBLE as error:
            hint = ("Note: AutoGraph tried to define it automatically, but ran into a "
                    f"{type(error).__name__}: {error}")
        finally:
            self.set(before)
        if seen:
            filled = tuple(_zero_like(seen[place], value) if place in self.promised
                           else value._like(seen[place]) if place in self._arrays else value
                           for place, value in enumerate(before))
        else:
            filled = before
        verifying.require_loop_values(filled, self.names, seen or None, hint)
        return filled

    def pack(self, values):
        """Return a state as a structure of tensors."""
        del self._kinds[:]
        return packed(tuple(values), self._kinds)

    def put(self, state):
        """Make a structure of tensors the state."""
        values = unpacked(state, iter(self._kinds))
        self.set(values)
        return values

    def round(self, body):
        """Return a function that makes the next state of one."""
        def run(state):
            before = self.put(state)
            body()
            after = tuple(self.get())
            verifying.compare_rounds(before, after, self.names, self.invariants)
            return self.pack(after)
        return run

    @contextmanager
    def restoring(self, before):
        """Have the state be what it was, if something goes wrong."""
        try:
            yield
        except BaseException:
            self.set(before)
            raise

    def require_a_round(self, ran):
        """Say, when the graph runs, that names have no value if there was no round that gave them one."""
        if not self.promised:
            return
        assert_true(ran, [self._missing(self.promised)])

    def _missing(self, places):
        names = ", ".join("the function return value" if self.names[place].startswith("retval_") else self.names[place]
                          for place in places)
        return f"loop must iterate at least once to initialize {names}"

    def refuse_no_round(self, start):
        """Raise for a loop that ran as Python, and had no round, if a round would have given names a value.

        Parameters
        ----------
        start : tuple
            The state before.

        """
        places = [place for place, value in enumerate(start) if isinstance(value, Undefined)]
        if places:
            raise failed_assertion(self._missing(places))


def _zero_like(found, missing):
    """Return nothing of the kind of a value."""
    if found is None or is_missing(found):
        return missing
    if isinstance(found, (bool, int, float)):
        return type(found)(0)
    if isinstance(found, _C.Tensor):
        return ops.zeros(tuple(found.shape), dtype=found.dtype)
    if nest.is_nested(found):
        return nest.map_structure(lambda item: _zero_like(item, missing), found)
    raise TypeError(f"Found an unsupported type '{type(found).__name__}' while creating placeholder for {found}. "
                    "Supported types include Tensor, int, float, bool, list, tuple or dict.")


# --- while

def while_stmt(test, body, get_state, set_state, symbol_names, opts):
    """Do what a function does as long as another one says so.

    Parameters
    ----------
    test, body : Callable
        Functions of nothing; the second writes names of the function around it.
    get_state, set_state : Callable
        They read and write what it may change.
    symbol_names : Tuple[str]
        What that is called.
    opts : Callable, optional
        Returns the options that `set_loop_options` names.

    """
    first = test()
    if is_staged(first):
        _staged_while(test, body, _Loop(get_state, set_state, symbol_names, opts))
        return
    if first:
        body()
        _python_while(test, body)


def _python_while(test, body, limit=None):
    while limit is None or limit > 0:
        found = test()
        if is_staged(found):
            raise NotImplementedError(CHANGED)
        if not found:
            break
        body()
        limit = None if limit is None else limit - 1


def _staged_while(test, body, loop, defaults=None):
    """Make a loop of the graph, or run it as Python where there is none."""
    start = tuple(loop.get())
    try:
        with loop.restoring(start):
            first = loop.pack(loop.begin(body, defaults))
    except NoGraph as error:
        give_up(f"while: {error}")
        return _fall_back(test, body, loop, start)
    turn = loop.round(body)

    def holds(state):
        loop.put(state[1])
        return condition(test(), "while loop")

    def after(state):
        made = turn(state[1])
        return True, made
    with loop.restoring(start):
        result = attempt(flow.while_loop, guarded(holds), guarded(after), (False, first), loop.limit,
                         "while")
    if result is PLAIN:
        return _fall_back(test, body, loop, start)
    loop.put(result[1])
    loop.require_a_round(result[0])


def _fall_back(test, body, loop, start):
    loop.set(start)
    rounds = 0
    while loop.limit is None or rounds < loop.limit:
        if not _truth(test()):
            break
        body()
        rounds += 1
    if not rounds:
        loop.refuse_no_round(start)


def _truth(value):
    return bool(convert_to_tensor(value)) if isinstance(value, _C.Tensor) else bool(value)


# --- for

def for_stmt(iter_, extra_test, body, get_state, set_state, symbol_names, opts, target=None):
    """Do what a function does with each item of something.

    Parameters
    ----------
    iter_ : Any
        A tensor, a range of a tensor, a dataset, or whatever Python goes through.
    extra_test : Callable, optional
        Whether to go on.
    body : Callable
        Called with an item; writes names of the function around it.
    get_state, set_state : Callable
        They read and write what it may change.
    symbol_names : Tuple[str]
        What that is called.
    opts : Callable, optional
        Returns the options that `set_loop_options` names.
    target : str, optional
        What the item is called.

    """
    defaults = None
    if isinstance(iter_, Numbers):
        defaults = {target: convert_to_tensor(iter_.start, iter_.items.dtype)}
        iter_ = iter_.items
    if isinstance(iter_, Range):
        _for_range(iter_, extra_test, body, _Loop(get_state, set_state, symbol_names, opts), target)
    elif is_staged(iter_):
        _for_tensor(iter_, extra_test, body, _Loop(get_state, set_state, symbol_names, opts), defaults)
    else:
        if hasattr(iter_, "element_spec") or hasattr(iter_, "get_next"):
            if is_capturing():
                give_up(f"for: it goes through a {type(iter_).__name__}, which graphs cannot")
            body = _comparing(body, get_state, symbol_names)
        _python_for(iter_, extra_test, body)


def _comparing(body, get_state, names):
    """Return a function that does a round, and requires of the first one what a round of a graph must do."""
    rounds = itertools.count()

    def turn(item):
        before = tuple(get_state())
        body(item)
        if next(rounds):
            return
        after = tuple(get_state())
        places = [place for place, value in enumerate(before)
                  if value is not None and not is_missing(value) and not is_missing(after[place])]
        verifying.compare_rounds(*([values[place] for place in places] for values in (before, after, names)))
    return turn


def _python_for(items, extra_test, body):
    if extra_test is None:
        for item in items:
            body(item)
        return
    for item in _while_wanted(items, extra_test):
        body(item)


def _while_wanted(items, extra_test):
    """Yield items as long as a test holds, which must be Python's."""
    items = iter(items)
    while True:
        found = extra_test()
        if is_staged(found):
            raise NotImplementedError(INCONSISTENT)
        if not found:
            return
        try:
            item = next(items)
        except StopIteration:
            return
        yield item


class _Counted:
    """A loop's state with a number before it, which counts rounds or is the item itself.

    Parameters
    ----------
    loop : _Loop
        The loop; its functions are replaced.
    first : Tensor
        The first number.

    """

    def __init__(self, loop, first):
        self.number = first
        inner_get, inner_set = loop.get, loop.set

        def put(values):
            self.number = values[0]
            inner_set(values[1:])
        loop.get = lambda: (self.number, *inner_get())
        loop.set = put
        loop.names = ("<internal iterate>", *loop.names)


def _for_range(numbers, extra_test, body, loop, target):
    counted = _Counted(loop, numbers.start)

    def test():
        inside = numbers.goes_on(counted.number)
        return inside if extra_test is None else ops.logical_and(inside, convert_to_tensor(extra_test(), "bool"))

    def turn():
        body(counted.number)
        counted.number = counted.number + numbers.delta
    _staged_while(test, turn, loop, defaults={target: numbers.start})


def _for_tensor(items, extra_test, body, loop, defaults=None):
    """Go through the first axis of a tensor: as a scan, or as a `while` where the loop may end before."""
    items = convert_to_tensor(items)
    if not items.ndim:
        raise ValueError("len requires a non-scalar tensor, got one of shape []")
    length = _C.Tensor.shape.__get__(items)[0]
    if extra_test is None and loop.limit is None:
        return _scan(items, length, body, loop, defaults)
    counted = _Counted(loop, convert_to_tensor(0))

    def test():
        inside = counted.number < length
        return inside if extra_test is None else ops.logical_and(inside, convert_to_tensor(extra_test(), "bool"))

    def turn():
        body(items[counted.number])
        counted.number = counted.number + 1
    if not length:  # a round is written down even so, which takes an item
        items = ops.zeros((1, *tuple(items.shape)[1:]), dtype=items.dtype)
    _staged_while(test, turn, loop, defaults)


def _scan(items, length, body, loop, defaults):
    start = tuple(loop.get())
    example = ops.zeros(tuple(items.shape)[1:], dtype=items.dtype)
    try:
        with loop.restoring(start):
            first = loop.pack(loop.begin(lambda: body(example), defaults))
    except NoGraph as error:
        give_up(f"for: {error}")
        return _each(items, body, loop, start)

    def step(state, item):
        return loop.round(lambda: body(item))(state), ()
    with loop.restoring(start):
        result = attempt(flow.scan, guarded(step), first, items, length, False, "for")
    if result is PLAIN:
        return _each(items, body, loop, start)
    loop.put(result[0])
    if loop.promised and not length:
        loop.require_a_round(convert_to_tensor(False))


def _each(items, body, loop, start):
    """Run a loop over a tensor as Python."""
    loop.set(start)
    rows = ops.unbind(items)
    for item in rows:
        body(item)
    if not rows:
        loop.refuse_no_round(start)

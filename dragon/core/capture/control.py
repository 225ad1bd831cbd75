"""Branches and loops in captures: where Python would have to look at numbers, both ways become graphs of one operator.

Whoever offers `cond` or `while_loop` asks here first. `PLAIN` says that Python may do it itself: nothing is captured,
the numbers are known, or there is no graph of it, which the capture in progress is told with the reason.
"""
from dragon import _C
from dragon.core import modes
from dragon.core.capture.source_lines import user_line
from dragon.core.capture.settings import begin_capture, captures, stages_every_loop
from dragon.core.capture.structure import Template
from dragon.core.graph import Graph
from dragon.core.interrupts import is_interrupt
from dragon.core.scopes import ExitStack

PLAIN = object()  # no result: the caller goes on in Python
LONGEST_UNROLLED = 16  # rounds of known number: more of them are a loop in the graph, not calls one after another


class NoGraph(Exception):
    """A branch or loop that cannot be an operator; says why."""


class PassedOn(Exception):
    """Carries an error of the user's function past all attempts to make a graph of it, to whoever asked for the graph.

    Parameters
    ----------
    error : Exception
        What the function raised.

    """

    def __init__(self, error):
        super().__init__(str(error))
        self.error = error


def is_refusal(error):
    """Return whether an error says that there is no graph, rather than that the function is wrong.

    Parameters
    ----------
    error : Exception
        What was raised while a branch or loop was written down.

    Returns
    -------
    bool
        True for the engine's own words.

    """
    return isinstance(error, (NoGraph, _C.InvalidValue, _C.InvalidType, _C.InvalidIndex, _C.Unsupported,
                              _C.EngineError))


class _Part:
    """Stands where captures in progress stand, while a branch or the round of a loop is written down."""

    is_trace = False

    def __init__(self, trace):
        self.trace = trace

    def symbol(self, value, container, key):
        raise NoGraph(f"it reads {key!r}, a number that graphs ask for before each run")


def is_open(value):
    """Return whether to look at a value would end the capture in progress.

    Parameters
    ----------
    value : Any
        A predicate, possibly a tensor.

    Returns
    -------
    bool
        False where nothing is captured, or the number does not depend on what may change. Where loops are captured
        whatever their length, for a file that serves all sizes, a number made of sizes may change as well.

    """
    return isinstance(value, _C.Tensor) and (_C.is_open(value) or stages_every_loop() and modes.is_tracing())


def give_up(reason):
    """Have the capture in progress be none: Python goes on, with numbers.

    Parameters
    ----------
    reason : str
        Why, for reports.

    """
    _C.give_up(reason)


def is_long(length):
    """Return whether a loop of so many rounds is captured as a loop."""
    return (length > LONGEST_UNROLLED or stages_every_loop()) and modes.is_tracing()


def _in_tensors(value, convert):
    """Return a structure in which numbers and arrays are tensors."""
    if isinstance(value, (bool, int, float, complex)) or type(value).__module__ == "numpy":
        return convert(value)
    if isinstance(value, dict):
        return type(value)((key, _in_tensors(item, convert)) for key, item in value.items())
    if isinstance(value, (list, tuple)):
        items = [_in_tensors(item, convert) for item in value]
        return value._make(items) if hasattr(value, "_make") else type(value)(items)
    return value


class _Body:
    """What a function does with arguments as a graph. They are its first inputs; what it found itself, the rest."""

    def __init__(self, function, arguments, face):
        follows = not face.waits_to_be_asked or modes.records()
        self.trace = trace = _C.Trace(branch=True, follows=follows)
        trace.set_place(user_line)
        for tensor in arguments:
            trace.add_input(tensor)
        self.given = len(arguments)
        with ExitStack() as stack:
            stack.switch(modes.set_phantom, True)
            stack.switch(modes.set_autocast_cache, False)  # casts without numbers are of no use to others
            begin_capture(stack, _Part(trace), trace)
            try:
                self.template = Template(_in_tensors(function(), face.convert), merge=False)
                outputs = [face.ops.clone(tensor) for tensor in self.template.tensors]  # each a value of its own
            except PassedOn:
                raise
            except Exception as error:
                if is_interrupt(error):
                    raise
                raise NoGraph(trace.failure or str(error)) from error
        if trace.failure:
            raise NoGraph(trace.failure)
        try:
            self.graph = Graph(trace.finish(outputs).graph)
        except RuntimeError as error:
            raise NoGraph(str(error)) from None
        self.forms = [(tuple(tensor.shape), tensor.dtype) for tensor in outputs]
        self.outside = [tensor for _, tensor in trace.outside_inputs]
        if not follows and modes.records(*self.outside):
            raise NoGraph("it uses tensors of another face, whose calls are recorded unasked")
        places = dict(trace.outside_inputs)
        self.devices = {id(tensor): self.graph.value(self.graph.inputs[position]).device
                        for position, tensor in places.items()}
        self.written = {id(places[position]): value for position, value in self.graph.updates if position in places}
        if len(self.written) < len(self.graph.updates):
            raise NoGraph("it writes into what it is given, expected a copy")
        self.graph.updates = []
        del self.template.tensors[:]

    is_random = property(lambda self: any(call.is_random for call in self.graph.calls))

    def writes(self):
        """Return the tensors from outside that are written."""
        return [tensor for tensor in self.outside if id(tensor) in self.written]

    def require_no_writes(self):
        """Refuse to be the condition of a loop if it writes: nobody carries that on."""
        if self.written:
            shape = tuple(self.writes()[0].shape)
            raise NoGraph(f"a write to a tensor {shape} from outside, by the condition of a loop")

    def taking(self, operands, written=(), carried=None):
        """Return the graph as an argument; the operands are those of `_operands`, those that are written first.

        Behind those that were given, its inputs are these operands; behind its results stands what becomes of some.
        In a scan, which carries so many tensors, what is written is carried with them, before slices and rows.
        """
        own = list(self.graph.inputs)
        places = {id(tensor): value for tensor, value in zip(self.outside, own[self.given:])}
        with self.graph.edit():
            others = [places.get(id(tensor)) for tensor in operands]
            inputs = own[:self.given]
            for tensor, value in zip(operands, others):
                device = operands.devices[id(tensor)]
                inputs.append(self.graph.add_input(tuple(tensor.shape), tensor.dtype, device=device)
                              if value is None else value)
            self.graph.inputs = inputs
            held = dict(zip(map(id, operands), inputs[self.given:]))
            made, outputs = len(written), self.graph.outputs
            became = [self.written.get(id(tensor), held[id(tensor)]) for tensor in written]
            place = len(outputs) if carried is None else carried
            self.graph.outputs = [*outputs[:place], *became, *outputs[place:]]
            if carried is not None:
                behind = inputs[self.given:]
                self.graph.inputs = [*own[:carried], *behind[:made], *own[carried:self.given], *behind[made:]]
        return _C.GraphBody(self.graph)


class _Operands(list):
    """Tensors, and in `devices` where they are as graphs say it: tensors say it as their face does."""

    devices = {}


def _operands(*bodies):
    """Return what any of the bodies found by itself, each tensor once."""
    found = _Operands({id(tensor): tensor for body in bodies for tensor in body.outside}.values())
    found.devices = {key: device for body in bodies for key, device in body.devices.items()}
    return found


def _written_first(operands, *bodies):
    """Return operands in the order in which loops take them, and those that rounds write, which stand first."""
    written = list({id(tensor): tensor for body in bodies for tensor in body.writes()}.values())
    places = set(map(id, written))
    ordered = _Operands([*written, *(tensor for tensor in operands if id(tensor) not in places)])
    ordered.devices = operands.devices
    return ordered, written


def _refuse_random(bodies, tensors):
    """A gradient runs bodies once more, and would draw other numbers."""
    if modes.is_recording() and any(body.is_random for body in bodies) and any(
            tensor.requires_grad for tensor in tensors):
        raise NoGraph("it draws random numbers, and its gradient would draw others")


def part():
    """Return what tells the branch or loop apart that is being written down, None outside of any.

    Objects that hold tensors and are changed in place must not be changed in another one than they were made in: see
    `refuse_change`.
    """
    running = captures()
    return running[-1] if running and isinstance(running[-1], _Part) else None


def refuse_change(made_in, what):
    """Say that a branch or loop is no graph, if it is about to change an object that was made elsewhere.

    Parameters
    ----------
    made_in : Any
        What `part()` was when the object was made.
    what : str
        What it is.

    """
    running = part()
    if running is not None and running is not made_in:
        raise NoGraph(f"it changes {what} from outside")


class Control:
    """Branches and loops of one face.

    Parameters
    ----------
    ops : dragon._C.Ops
        The face's operators.
    convert : Callable
        Makes a tensor of a number.
    waits_to_be_asked : bool, optional, default=False
        Whether its calls are recorded for gradients only where a scope asks for it.

    """

    def __init__(self, ops, convert, waits_to_be_asked=False):
        self.ops, self.convert, self.waits_to_be_asked = ops, convert, waits_to_be_asked

    def _attempt(self, who, make):
        """Return what is made, or PLAIN after the capture in progress was told why there is nothing."""
        try:
            return make()
        except (NoGraph, ValueError, TypeError, NotImplementedError) as error:
            give_up(f"{who}: {error}")
            return PLAIN

    def cond(self, predicate, then, otherwise, who="cond"):
        """Return the result of one of two functions, as a call that holds both; or PLAIN.

        Parameters
        ----------
        predicate : Any
            Which one.
        then, otherwise : Callable
            Functions of no arguments.
        who : str, optional, default="cond"
            How reports call it.

        Returns
        -------
        Any
            What both functions return in the same structure.

        """
        return self._attempt(who, lambda: self._cond(predicate, then, otherwise)) if is_open(predicate) else PLAIN

    def either(self, predicate, then, otherwise, who="cond"):
        """Return the result of one of two functions as `cond` does, whether or not the predicate is known; or PLAIN.

        Parameters
        ----------
        predicate : Tensor
            Which one.
        then, otherwise : Callable
            Functions of no arguments; both are called.
        who : str, optional, default="cond"
            How reports call it.

        Returns
        -------
        Any
            What both functions return in the same structure.

        """
        return self._attempt(who, lambda: self._cond(predicate, then, otherwise))

    def _cond(self, predicate, then, otherwise):
        bodies = [_Body(function, (), self) for function in (then, otherwise)]
        one, other = bodies
        if one.template.signature() != other.template.signature():
            raise NoGraph("got branches that return different structures, expected the same")
        operands = _operands(*bodies)
        _refuse_random(bodies, operands)
        written = list({id(tensor): tensor for body in bodies for tensor in body.writes()}.values())
        # What is about to be written is handed in as a copy, which gradients may keep.
        given = [self.ops.clone(tensor) if any(tensor is other for other in written) else tensor for tensor in operands]
        results = self.ops.cond(predicate, given, then=one.taking(operands, written),
                                otherwise=other.taking(operands, written))
        self._put_back(written, results[len(results) - len(written):])
        return one.template.fill(results)

    def _put_back(self, written, results):
        """Write behind a call what its bodies would have written."""
        with modes.no_grad():
            for tensor, made in zip(written, results):
                self.ops.copy(made, out=tensor)

    def switch(self, index, functions, otherwise, who="switch"):
        """Return the result of the function of a number, as calls that hold all; or PLAIN.

        Parameters
        ----------
        index : Any
            The number.
        functions : dict
            Functions of no arguments by number.
        otherwise : Callable
            Called for all other numbers.
        who : str, optional, default="switch"
            How reports call it.

        Returns
        -------
        Any
            What all functions return in the same structure.

        """
        if not is_open(index):
            return PLAIN
        keys = sorted(functions)
        return self._attempt(who, lambda: self._among(index, keys, functions, otherwise))

    def _among(self, index, keys, functions, otherwise):
        """Halve the numbers until one is left, and then see whether it is that one."""
        if len(keys) == 1:
            return self._cond(self.ops.eq(index, keys[0]), functions[keys[0]], otherwise)
        middle = len(keys) // 2
        return self._cond(self.ops.lt(index, keys[middle]),
                          lambda: self._among(index, keys[:middle], functions, otherwise),
                          lambda: self._among(index, keys[middle:], functions, otherwise))

    def while_loop(self, condition, body, state, limit=None, who="while_loop"):
        """Return what a loop leaves, as one call; or PLAIN. To be called where the condition is open.

        Parameters
        ----------
        condition, body : Callable
            Functions of the state; the second returns the next one, in the same structure.
        state : Any
            The first state: a structure of tensors.
        limit : int, optional
            The most rounds.
        who : str, optional, default="while_loop"
            How reports call it.

        Returns
        -------
        Any
            The last state.

        """
        return self._attempt(who, lambda: self._while(condition, body, state, limit))

    def rehearse(self, function, state):
        """Call a function of a state without numbers, and forget all that it did.

        Parameters
        ----------
        function : Callable
            Called with the state; `NoGraph` where it cannot be part of a graph, other errors are its own.
        state : Any
            A structure of tensors, and of what is none.

        """
        template = Template(_in_tensors(state, self.convert), merge=False)
        phantoms = self._phantoms(template.tensors, [tuple(tensor.shape) for tensor in template.tensors])
        failed = []

        def run():
            try:
                function(template.fill(phantoms))
            except Exception as error:
                failed.append(error)
                raise
            return ()
        try:
            _Body(run, phantoms, self)
        except NoGraph as error:
            if failed and not is_refusal(failed[0]) and str(error) == str(failed[0]):
                raise failed[0] from None
            raise

    def _phantoms(self, tensors, shapes):
        recorded = modes.is_recording()
        return [_C.phantom_like(tensor, shape, recorded) for tensor, shape in zip(tensors, shapes)]

    def _while(self, condition, body, state, limit):
        template = Template(_in_tensors(state, self.convert), merge=False)
        carried = template.tensors
        shapes = [tuple(tensor.shape) for tensor in carried]
        bodies = []
        for function in (condition, body):
            phantoms = self._phantoms(carried, shapes)
            filled = template.fill(phantoms)
            bodies.append(_Body(lambda function=function, filled=filled: function(filled), phantoms, self))
        if bodies[1].template.signature() != template.signature():
            raise NoGraph("got a body that returns another structure than it takes, expected the same")
        constants = _operands(*bodies)
        _refuse_random(bodies, [*carried, *constants])
        bodies[0].require_no_writes()
        constants, written = _written_first(constants, bodies[1])
        # What is about to be written is carried from a copy on, which gradients may keep.
        given = [*carried, *map(self.ops.clone, written)]
        results = self.ops.while_loop(given, constants[len(written):], condition=bodies[0].taking(constants),
                                      body=bodies[1].taking(constants, written), limit=limit)
        self._put_back(written, results[len(carried):])
        return template.fill(results)

    def scan(self, step, carried, xs, length, reverse=False, who="scan"):
        """Return what a loop along first axes leaves and makes, as one call; or PLAIN. To be called where it is long.

        Parameters
        ----------
        step : Callable
            Of what is carried and of the slices of `xs`; returns what is carried next, and what is stacked.
        carried, xs : Any
            Structures of tensors.
        length : int
            How many rounds.
        reverse : bool, optional, default=False
            Whether it begins at the end.
        who : str, optional, default="scan"
            How reports call it.

        Returns
        -------
        Tuple[Any, Any]
            What is carried in the end, and the stacked results.

        """
        return self._attempt(who, lambda: self._scan(step, carried, xs, length, reverse))

    def _scan(self, step, carried, xs, length, reverse):
        state, slices = (Template(_in_tensors(value, self.convert), merge=False) for value in (carried, xs))
        phantoms = self._phantoms(state.tensors, [tuple(tensor.shape) for tensor in state.tensors])
        places = self._phantoms(slices.tensors, [tuple(tensor.shape)[1:] for tensor in slices.tensors])
        filled = state.fill(phantoms), slices.fill(places)
        body = _Body(lambda: tuple(step(*filled)), [*phantoms, *places], self)
        constants, written = _written_first(_operands(body), body)
        _refuse_random([body], [*state.tensors, *slices.tensors, *constants])
        count, made = len(state.tensors), len(written)
        results = self.ops.scan([*state.tensors, *map(self.ops.clone, written)], slices.tensors, constants[made:],
                                body=body.taking(constants, written, count), length=length, reverse=bool(reverse))
        self._put_back(written, results[count:count + made])
        last, stacked = body.template.fill([*results[:count], *results[count + made:]])
        if Template(last, merge=False).signature() != state.signature():
            raise NoGraph("got a body that carries on another structure than it takes, expected the same")
        return last, stacked

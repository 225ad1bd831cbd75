"""Branches and loops of ONNX as TensorFlow's nodes, whose branches and rounds are functions of the file."""
from dragon.vm.shared.tensors.dtypes import as_dtype
from dragon.vm.tensorflow.core.saved_model.writing.builder import Builder, Called, End
from dragon.vm.tensorflow.core.saved_model.writing.translation import (
    DTYPES, STRING, Free, Translation, cast, handles, names_outside)

BOOL, INT32, INT64, VARIANT = (as_dtype(name) for name in ("bool", "int32", "int64", "variant"))

LOWERED = {"_lower_using_switch_merge": True}  # without it TensorFlow fails at branches within rounds


def scalar(b, x):
    """Return a value of one element as one without axes."""
    return b.reshape(x, []) if x.rank != 0 else x


class Inner:
    """A function that a branch or a loop calls: arguments of its own, then what it reads of the values around it.

    Parameters
    ----------
    b : Builder
        Of the function around.
    hint : str
        What it is.
    given : Sequence[End]
        What its arguments are at first: they tell the dtypes and ranks.
    read : Sequence[End]
        What it reads besides.

    """

    def __init__(self, b, hint, given, read=()):
        self.b = b.inner(hint)
        self.ends = [self._argument(f"argument_{place}", end) for place, end in enumerate(given)]
        self.read = [self._argument(f"read_{place}", end) for place, end in enumerate(read)]

    def _argument(self, name, end):
        return self.b.argument(name, end.dtype, end.rank)

    def returns(self, ends):
        """Have these values be the results, and end the function; returns it as an attribute."""
        for place, end in enumerate(ends):
            self.b.result(f"result_{place}", self.b.unary("Identity", end))
        return Called(self.b.name)


class Graph:
    """A graph among the attributes of a node of ONNX.

    Parameters
    ----------
    call : Call
        The node.
    name : str
        The attribute.
    tables : Dict[WrittenTable, End]
        The tables that it may read.

    """

    def __init__(self, call, name, tables):
        self.graph, self._tables = call.attributes[name], tables
        self._around = {one: call.around[one] for one in names_outside(self.graph)}
        self.kinds = [as_dtype(DTYPES[info.type.tensor_type.elem_type]) for info in self.graph.output]

    def read(self):
        """Return {name: value} of what it reads of values around it, but for constants."""
        found = {name: end for name, end in self._around.items() if end.number is None and not isinstance(end, Free)}
        return {**found, **self._tables}

    def results(self, b, ends, read):
        """Write its nodes.

        Parameters
        ----------
        b : Builder
            Where they go.
        ends : Sequence[End]
            Its inputs.
        read : Dict[str, End]
            What it reads of values around it, as the function has it.

        Returns
        -------
        List[End]
            Its outputs.

        """
        values = {"": None, **{name: end if isinstance(end, Free) else b.constant(end.number, end.dtype)
                               for name, end in self._around.items() if name not in read}}
        values.update((name, end) for name, end in read.items() if name not in self._tables)
        b.tables = {table: read[table] for table in self._tables}
        values.update((info.name, end) for info, end in zip(self.graph.input, ends))
        return [end if end.dtype is STRING else cast(b, end, dtype)
                for end, dtype in zip(Translation(b, self.graph, values).results(), self.kinds)]


def same_ranks(results):
    """Return the rank of each result where all ways to it agree."""
    return [ends[0].rank if len({end.rank for end in ends}) == 1 else None for ends in zip(*results)]


@handles("If")
def _if(b, call):
    graphs = [Graph(call, name, b.tables) for name in ("then_branch", "else_branch")]
    read = {**graphs[0].read(), **graphs[1].read()}
    made, results, has_effects = [], [], False
    for graph, hint in zip(graphs, ("then", "else")):
        inner = Inner(b, hint, [], list(read.values()))
        results.append(graph.results(inner.b, [], dict(zip(read, inner.read))))
        made.append(inner.returns(results[-1]))
        has_effects |= inner.b.has_effects
    kinds = [end.dtype for end in results[0]]
    return b.nodes("If" if has_effects else "StatelessIf", [scalar(b, call.end(0)), *read.values()],
                   list(zip(kinds, same_ranks(results))), Tcond=BOOL, Tin=[end.dtype for end in read.values()],
                   Tout=kinds, then_branch=made[0], else_branch=made[1], **LOWERED)


class Loop:
    """A `While`, in the form in which TensorFlow takes gradients of it: it counts rounds and knows their number.

    Parameters
    ----------
    b : Builder
        Where it goes.
    most : Optional[End]
        The number of rounds, or of rounds at most.
    state : Sequence[End]
        What rounds change.
    fixed : Sequence[End]
        What they read.

    """

    def __init__(self, b, most, state, fixed):
        self.b, self.is_bounded, self.state, self.fixed = b, most is not None, list(state), list(fixed)
        self.most = b.constant(-1, INT32) if most is None else cast(b, scalar(b, most), INT32)

    def write(self, step, holds=None):
        """Write it.

        Parameters
        ----------
        step : Callable[[Builder, End, List[End], List[End]], List[End]]
            Writes a round: given its number, the state and what is fixed, returns the state after it.
        holds : int, optional
            Which part of the state says whether there is another round.

        Returns
        -------
        List[End]
            The state in the end.

        """
        given = [self.b.constant(0, INT32), self.most, *self.state, *self.fixed]
        condition, body = Inner(self.b, "cond", given), Inner(self.b, "body", given)
        number, most = condition.ends[:2]
        goes_on = [condition.b.binary("Less", number, most, BOOL)] if self.is_bounded else []
        goes_on += [] if holds is None else [scalar(condition.b, condition.ends[2 + holds])]
        both = goes_on[0] if len(goes_on) == 1 else condition.b.node("LogicalAnd", goes_on, BOOL, 0)
        tested = condition.returns([both])
        count = len(self.state)
        number, most, state, fixed = body.ends[0], body.ends[1], body.ends[2:2 + count], body.ends[2 + count:]
        made = step(body.b, number, state, fixed)
        done = body.returns([body.b.binary("AddV2", number, body.b.constant(1, INT32)), most, *made, *fixed])
        kinds = [(end.dtype, end.rank) for end in given]
        found = self.b.nodes("While" if body.b.has_effects else "StatelessWhile", given, kinds,
                             T=[end.dtype for end in given], cond=tested, body=done, parallel_iterations=10,
                             **LOWERED)
        return found[2:2 + count]


class Lists:
    """Arrays of tensors, as loops fill and read them.

    Parameters
    ----------
    b : Builder
        Where their nodes go.

    """

    def __init__(self, b):
        self.b = b

    def reserve(self, count, dtype):
        """Return one of places."""
        count = cast(self.b, scalar(self.b, count), INT32)
        return self.b.node("TensorListReserve", [self.b.constant(-1, INT32), count], VARIANT, 0, element_dtype=dtype,
                           shape_type=INT32)

    def of(self, x):
        """Return one of what lies along the first axis of a tensor."""
        rest = self.b.StridedSlice(self.b.shape(x, INT32), [1], [0], [1], end_mask=1)
        return self.b.node("TensorListFromTensor", [x, rest], VARIANT, 0, element_dtype=x.dtype, shape_type=INT32)

    def item(self, array, place, dtype, rank):
        """Return what stands in a place."""
        return self.b.node("TensorListGetItem", [array, place, self.b.constant(-1, INT32)], dtype, rank,
                           element_dtype=dtype)

    def set(self, array, place, x):
        """Return an array with something in a place."""
        return self.b.node("TensorListSetItem", [array, place, x], VARIANT, 0, element_dtype=x.dtype)

    def stack(self, array, dtype, rank):
        """Return all places as a tensor."""
        return self.b.node("TensorListStack", [array, self.b.constant(-1, INT32)], dtype, rank, element_dtype=dtype,
                           num_elements=-1)


@handles("Loop")
def _loop(b, call):
    graph = Graph(call, "body", b.tables)
    read, most, holds, carried = graph.read(), call.end(0), call.end(1), call.ends[2:]
    if len(graph.kinds) != len(carried) + 1:
        raise call.refusal("that stacks what its rounds make is not supported")
    first = b.constant(True, BOOL) if holds is None else scalar(b, holds)

    def step(inner, number, state, fixed):
        ends = [cast(inner, number, INT64), state[0], *state[1:]]
        made = graph.results(inner, ends, dict(zip(read, fixed)))
        return [scalar(inner, made[0]), *made[1:]]
    return Loop(b, most, [first, *carried], list(read.values())).write(step, 0)[1:]


@handles("Scan")
def _scan(b, call):
    graph, count = Graph(call, "body", b.tables), call.get("num_scan_inputs")
    carried, along, read = call.ends[:-count], call.ends[-count:], graph.read()
    backwards = [set(call.get(name) or [0]) for name in ("scan_input_directions", "scan_output_directions")]
    if len(backwards[0] | backwards[1]) > 1 and len(graph.kinds) > len(carried) or len(backwards[0]) > 1:
        raise call.refusal("in two directions is not supported")
    length = b.GatherV2(b.shape(along[0], INT32), 0, 0, rank=0)
    return scan(b, length, carried, along, graph.kinds[len(carried):], list(read.values()),
                lambda inner, state, places, fixed: graph.results(inner, [*state, *places], dict(zip(read, fixed))),
                backwards[0] == {1})


def _kinds_of(b, carried, along, kinds, fixed, step):
    """Return the dtypes of what rounds make: strings where integers stand for them, which a round on trial shows."""
    trial = Builder("trial", notes=b.notes)
    given = [End(f"given_{place}", end.dtype, end.rank) for place, end in enumerate([*carried, *along, *fixed])]
    for end in given[len(carried):len(carried) + len(along)]:
        end.rank = None if end.rank is None else end.rank - 1
    first, second = len(carried), len(carried) + len(along)
    made = step(trial, given[:first], given[first:second], given[second:])
    return [end.dtype for end in made[first:]] if made[first:] else kinds


def scan(b, length, carried, along, kinds, fixed, step, reverse=False):
    """Write a loop along first axes.

    Parameters
    ----------
    b : Builder
        Where it goes.
    length : End
        How many rounds.
    carried, along : Sequence[End]
        What rounds change, and what they go along.
    kinds : Sequence[DType]
        Of what they make.
    fixed : Sequence[End]
        What they read.
    step : Callable[[Builder, List[End], List[End], List[End]], List[End]]
        Writes a round: given what is carried, the parts of what it goes along, and what is fixed, returns what is
        carried next and what is made.
    reverse : bool, optional, default=False
        Whether it begins at the end.

    Returns
    -------
    List[End]
        What is carried in the end, and what was made, stacked.

    """
    outer, ranks = Lists(b), []
    kinds = _kinds_of(b, carried, along, kinds, fixed, step) if b.notes else kinds
    arrays = [outer.reserve(length, kind) for kind in kinds]
    lists = [outer.of(x) for x in along]

    def body(inner, number, state, constants):
        arrays_in = Lists(inner)
        place = number
        if reverse:
            last = inner.binary("Sub", constants[0], inner.constant(1, INT32))
            place = inner.binary("Sub", last, number)
        parts = [arrays_in.item(array, place, x.dtype, None if x.rank is None else x.rank - 1)
                 for array, x in zip(constants[1:], along)]
        made = step(inner, state[:len(carried)], parts, constants[1 + len(along):])
        ranks.extend(None if end.rank is None else end.rank + 1 for end in made[len(carried):])
        return [*made[:len(carried)], *(arrays_in.set(array, place, end) for array, end in
                                        zip(state[len(carried):], made[len(carried):]))]
    found = Loop(b, length, [*carried, *arrays], [length, *lists, *fixed]).write(body)
    return found[:len(carried)] + [outer.stack(array, kind, rank) for array, kind, rank in
                                   zip(found[len(carried):], kinds, ranks)]

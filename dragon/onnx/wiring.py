"""Which tensors the calls of several captures of one function read: the same ones, whatever the sizes.

A slice that leaves nothing out gives its operand itself, so one capture reads the slice and another what it is of.
"""
PERHAPS_WHOLE = ("subview", "slice", "expand", "view")  # whose results are their operands where shapes are the same

COPIES = ("to_row_major", "clone", "stop_gradient")  # which give what they are given
LOOK_AT_MEMORY = ("write_view", "as_strided_of", "restride")  # for which it matters how what they read lies


def gives_operand(call, x):
    """Return whether the result of a call is its operand, since nothing is left out, repeated or moved."""
    if call.op not in (*PERHAPS_WHOLE, "transpose", "permute"):
        return False
    made = call.outputs[0]
    if call.op in PERHAPS_WHOLE:
        return x.shape == made.shape
    order = list(range(len(x.shape)))
    if call.op == "permute":
        order = [axis % len(order) for axis in call.arguments["axes"]]
    elif order:
        one, other = call.arguments["axis0"], call.arguments["axis1"]
        order[one], order[other] = order[other], order[one]
    moved = [axis for axis in order if x.shape[axis] != 1]  # axes of size 1 may lie anywhere
    return x.shape == made.shape and moved == sorted(moved)


def map_values(function, argument):
    """Return an argument of a call with its tensors replaced."""
    if isinstance(argument, (list, tuple)):
        return [map_values(function, item) for item in argument]
    return function(argument) if hasattr(argument, "strides") else argument


def without_copies(program):
    """Return a program without copies: whether there is one often depends on sizes, and models have none.

    Parameters
    ----------
    program : Program
        The program.

    Returns
    -------
    Program
        What copies are read by reads what they are of.

    """
    looked_at = {id(value) for call in program.calls if call.op in LOOK_AT_MEMORY for value in call.inputs}
    given, calls = {}, []

    def find(value):
        return given.get(id(value), value)
    for call in program.calls:
        arguments = {name: map_values(find, argument) for name, argument in call.arguments.items()}
        if call.op in COPIES and id(call.outputs[0]) not in looked_at:
            given[id(call.outputs[0])] = arguments["x"]
        else:
            calls.append(type(call)(call.op, arguments, call.outputs, call.scope))
    return type(program)(program.name, program.inputs, [find(value) for value in program.outputs], program.constants,
                         calls, [(place, find(value)) for place, value in program.updates], program.symbols)


def difference_of(one, other):
    """Return how the calls of two programs differ, but for what they read; empty where they do not."""
    for mine, theirs in zip(one.calls, other.calls):
        if mine.op != theirs.op or form_of(mine) != form_of(theirs):
            return f"other operators are called at other sizes: {mine.op} ({mine.scope or 'no scope'}) and {theirs.op}"
    if len(one.calls) != len(other.calls):
        return f"other operators are called at other sizes: {len(one.calls)} at one and {len(other.calls)} at another"
    return ""


def form_of(call):
    """Return what the results of a call are, whatever their sizes, and how many tensors it reads."""
    return len(list(call.inputs)), [output and (len(output.shape), output.dtype) for output in call.outputs]


class Wiring:
    """Says how a program reads what another one reads in its place."""

    def __init__(self, pattern, program):
        self.pattern, self.program = pattern, program
        self.partners, self.roots = {}, {}
        self._held = []

    def pair(self, mine, theirs):
        """Let a value of the pattern be one of the program."""
        if mine is not None:
            self.partners[id(mine)] = theirs

    def root(self, value):
        """Return the value that a whole slice is of."""
        while id(value) in self.roots:
            value = self.roots[id(value)]
        return value

    def find(self, mine, theirs):
        """Return what the program is to read where the pattern reads a value; None if that is something else."""
        wanted = self.partners.setdefault(id(mine), theirs)
        return wanted if self.root(wanted) is self.root(theirs) else None

    def calls(self):
        """Return the program's calls and outputs, reading as the pattern does, or None."""
        for mine, theirs in zip(self.pattern.inputs, self.program.inputs):
            self.pair(mine, theirs)
        made = []
        for mine, theirs in zip(self.pattern.calls, self.program.calls):
            found = [self.find(*values) for values in zip(mine.inputs, theirs.inputs)]
            if any(value is None for value in found):
                return None
            rest = iter(found)
            arguments = {name: map_values(lambda value: next(rest), argument)
                         for name, argument in theirs.arguments.items()}
            made.append(type(theirs)(theirs.op, arguments, theirs.outputs, theirs.scope))
            for output, other in zip(mine.outputs, theirs.outputs):
                self.pair(output, other)
            if found and gives_operand(theirs, found[0]):
                self.roots[id(theirs.outputs[0])] = found[0]
        outputs = [self.find(*values) for values in zip(self.pattern.outputs, self.program.outputs)]
        return None if any(value is None for value in outputs) else (made, outputs)


def rewired(pattern, program):
    """Return a program that reads what another one reads in its place, or None where that would be something else.

    Parameters
    ----------
    pattern, program : Program
        Two captures of one function, of the same calls.

    Returns
    -------
    Program or None
        The second with the first one's wiring.

    """
    found = Wiring(pattern, program).calls()
    if found is None:
        return None
    return type(program)(program.name, program.inputs, found[1], program.constants, found[0], program.updates,
                         program.symbols)


def take_in(programs, program):
    """Return programs and a further one, all of one wiring, or None where there is none.

    Parameters
    ----------
    programs : dict
        {key: Program} of one wiring.
    program : Program
        The further one.

    Returns
    -------
    tuple or None
        The programs as a dictionary, and the further one.

    """
    first = next(iter(programs.values()))
    made = rewired(first, program)
    if made is not None:
        return programs, made
    others = {key: rewired(program, other) for key, other in programs.items()}
    return None if any(other is None for other in others.values()) else (others, program)

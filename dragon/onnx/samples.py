"""Captures of a function at several sizes of dynamic axes, and the sizes at which one model holds."""
import random
import re
import types

import numpy

from dragon import _C
from dragon.core.capture.export import Sketch
from dragon.core.capture.probes import NO_LONGER, Bounds, Probes, phantoms_at
from dragon.core.capture.procedure import write_down
from dragon.core.capture.settings import captures, eager
from dragon.core.expressions import evaluate
from dragon.core.interrupts import is_interrupt
from dragon.core.scopes import ExitStack
from dragon.onnx.conditions import conditions_of
from dragon.onnx.capture import capture, fresh, modules_as_found, read_capture, structure_of, trace
from dragon.onnx.errors import ExportError, HardCodedError
from dragon.onnx.source import Plain, ops, overlay
from dragon.onnx.wiring import difference_of, take_in, without_copies

WORDS, EXPRESSION = re.compile(r"[A-Za-z_]\w*"), re.compile(r"\w+(\s*[-+*]\s*\w+)+")
TAKEN = re.compile(rf"^[^%]* == \d+ {NO_LONGER}")  # of a size that was taken for a plain number, or compared with one
FAILURES = (ExportError, IndexError, RuntimeError, TypeError, ValueError)
# Calls of operators, counted so that a program is the same model on each machine, however fast:
STEPS, STEPS_IN_PYTHON = 8_000, 10_000  # in further captures, and where the program runs anew at each size
MOST, FEWEST = 48, 6  # captures
# Sizes of all at once, and how far apart they are: where least is left of anything, all of them even or odd.
TOGETHER = ((2, 0), (5, 2), (16, 2), (11, 2), (23, 2), (2, 1))
FURTHER = 24  # captures for a model of fewer sizes
ENOUGH = 3  # captures, at least, for a model of fewer sizes
FAR = (23, 37, 50, 64, 101, 131, 257, 512, 640, 1023, 4099, 20011, 65537, 131074)
FAR_IN_PYTHON = (24, 37, 64, 96, 131, 200, 320)  # where the program runs anew, which may make what is large
LOOP = "; a loop of as many rounds as {name} is unrolled: leave {name} out, and the model is that of {size}"
UNHEARD = "the program takes {names} for plain numbers at {places}, and may decide by both in ways that nobody hears"
NEGATIVE = "a size that follows others is negative"
MOST_ELEMENTS = 2 ** 34  # the product of all dynamic sizes


def resize(tensor, sizes):
    """Return a tensor like another with some axes of other sizes, their places repeated in turn."""
    made = _C.as_class(tensor, Plain).detach()
    for axis, size in sizes.items():
        places = numpy.arange(size) % max(made.shape[axis], 1)
        made = ops.index_select(made, axis, _C.tensor(places.tolist(), "int64", made.device, Plain))
    return _C.as_class(made, type(tensor))


def take_following(given):
    """Take the sizes that follow others, as "past + 1" does, out of {symbol: size}; return their texts."""
    following = [text for text in given if EXPRESSION.fullmatch(text) and set(WORDS.findall(text)) <= given.keys()]
    sizes = {text: given.pop(text) for text in following}
    for text, size in sizes.items():
        if not set(WORDS.findall(text)) <= given.keys():
            raise ValueError(f"onnx.export: got size '{text}', expected names of sizes of inputs in it")
        if evaluate(text, given) != size:
            raise ValueError(f"onnx.export: got size {size} for '{text}', expected {evaluate(text, given)} where "
                             + ", ".join(f"{name} is {given[name]}" for name in WORDS.findall(text)))
    return following


def bases(given):
    """Yield sizes to begin at: those given where they are not special, then others, no two alike."""
    first = {name: max(size, 2) for name, size in given.items()}
    yield first
    yield {name: size + 3 * place + 1 for place, (name, size) in enumerate(first.items())}
    yield {name: size * (place + 2) for place, (name, size) in enumerate(first.items())}
    if first != given:
        yield dict(given)


def is_by_numbers(program):
    """Return whether a program holds for few sizes since it took some for plain numbers, which run anew may follow."""
    reasons = [reason for bounds in program.bounds.values() for reason in bounds.reasons if NO_LONGER in reason]
    return bool(reasons) and all(TAKEN.match(reason) for reason in reasons)


def is_same(one, other):
    """Return whether two graphs are the same to the last number; gradients are none of a model's business."""
    def facts(graph):
        calls = [(call.op, call.tensors, call.attrs, call.outputs) for call in graph.calls]
        return graph.inputs, graph.outputs, calls, [(face.shape, face.strides, face.dtype) for face in graph.values]
    return facts(one) == facts(other)


class Sampler:
    """A function at sizes around those at which it begins.

    Where the calls can be written down as the program makes them they are done again, which is fast and tells what the
    program decides by sizes; otherwise the program itself runs at each size.

    Parameters
    ----------
    function : callable
        What is captured.
    arguments : Template
        Its arguments: (args, kwargs).
    names : dict
        {memory: name} of parameters.
    axes : list of dict
        For each input {axis: symbol}.
    following : list of str
        Those symbols that follow others.
    base : dict
        {symbol: size} where it begins.

    """

    def __init__(self, function, arguments, names, axes, following, base):
        self.function, self.arguments, self.names, self.following = function, arguments, names, following
        self.places = {(place, axis): symbol for place, named in enumerate(axes) for axis, symbol in named.items()}
        self.base, self.programs, self.written = base, {}, None
        self.taken = {}  # {symbol that the program takes for a plain number: where}
        sizes = self.sizes_of(base)
        self.inputs = [resize(tensor, {axis: sizes[symbol] for axis, symbol in named.items()
                                       if tensor.shape[axis] != sizes[symbol]})
                       for tensor, named in zip(arguments.tensors, axes)]
        args, kwargs = arguments.fill(self.inputs)
        self.captured = trace(function, args, kwargs)
        self.programs[self.key(base)] = self.first = without_copies(read_capture(self.captured, names))

    def key(self, sizes):
        """Return the sizes as a tuple."""
        return tuple(sizes[name] for name in self.base)

    affordable = property(lambda self: STEPS // max(len(self.first.calls), 1), doc="int: how many captures.")

    def sizes_of(self, sizes):
        """Return the sizes of all symbols, of those that follow others, too."""
        return {**sizes, **{text: evaluate(text, sizes) for text in self.following}}

    def by_place(self, sizes):
        """Return {(input, axis): size}."""
        sizes = self.sizes_of(sizes)
        return {place: sizes[symbol] for place, symbol in self.places.items()}

    # --- the call, written down

    def procedure(self):
        """Return the calls as the program makes them, or None."""
        def call(*tensors):
            args, kwargs = self.arguments.fill(list(tensors))
            return fresh(structure_of(self.function(*args, **kwargs)).tensors)
        recording = types.SimpleNamespace(function=call, args=tuple(self.inputs), kwargs={}, inputs=self.inputs,
                                          met=None)
        axes = sorted(self.places)
        with ExitStack() as exits, modules_as_found(self.function), eager():
            exits.push(captures(), Sketch(_C.Trace(), exports=True))
            written = write_down(recording, axes, is_trace=True)
        if isinstance(written, str):
            return None
        taken = set(written[0].fixed_sizes).intersection(axes)
        where = ", ".join(dict.fromkeys(recording.fixed))
        self.taken = dict.fromkeys((self.places[place] for place in sorted(taken)), where)
        if taken:
            return None
        try:
            again = written[0].traced(self.inputs, self.captured)
        except Exception as error:  # what was not written down may be missing anywhere
            if is_interrupt(error):
                raise
            return None
        return written[0] if is_same(self.captured.graph, again.graph) else None

    def refusal_of_procedure(self, procedure, sizes):
        """Return what the program says to other sizes."""
        places = self.by_place(sizes)
        return NEGATIVE if min(places.values()) < 0 else procedure.refusal(phantoms_at(self.inputs, places))

    def take_from(self, procedure, sizes):
        """Note the program at other sizes; return how it differs."""
        phantoms = phantoms_at(self.inputs, self.by_place(sizes))
        program = read_capture(procedure.traced(phantoms, self.captured), self.names)
        return self.note(sizes, program)

    # --- the program itself

    def refusal_of_python(self, sizes):
        """Run the program at other sizes; return why it is another one there."""
        if self.key(sizes) in self.programs:
            return ""
        places = self.by_place(sizes)
        if min(places.values()) < 0:
            return NEGATIVE
        try:
            tensors = [resize(tensor, {axis: size for (other, axis), size in places.items() if other == place})
                       for place, tensor in enumerate(self.inputs)]
            args, kwargs = self.arguments.fill(tensors)
            return self.note(sizes, capture(self.function, args, kwargs, self.names))
        except FAILURES as error:
            return str(error) or type(error).__name__

    def note(self, sizes, program):
        """Keep a capture if it is like the first; return how it differs."""
        program = without_copies(program)
        difference = difference_of(self.first, program)
        found = None if difference else take_in(self.programs, program)
        if found:
            self.programs = {**found[0], self.key(sizes): found[1]}
        return difference or ("" if found else "other tensors are read at other sizes")

    # --- the whole

    def program(self, given):
        """Return the program for all sizes around the base.

        Parameters
        ----------
        given : dict
            {symbol: size} that must be among them, unless it is 0 or 1.

        Returns
        -------
        Program or str
            Why there is none.

        """
        procedure = self.procedure()
        if procedure is None:
            return self._from_python(given)
        self.written = procedure
        found = self._from_procedure(procedure, given)
        if not isinstance(found, str) and not is_by_numbers(found):
            return found
        kept, self.programs, self.written = self.programs, {self.key(self.base): self.first}, None
        wider = self._from_python(given)
        if isinstance(wider, str):
            self.programs, self.written = kept, procedure
        return found if isinstance(wider, str) else wider

    def _from_procedure(self, procedure, given):
        probes = Probes(lambda sizes: self.refusal_of_procedure(procedure, sizes), self.base, procedure.conditions,
                        calls=len(self.first.calls))
        doubt = self.doubt_of(probes, given)
        if doubt:
            return doubt
        bounds, captured = probes.bounds, 0
        most = max(self.affordable, FEWEST + 3 * len(bounds))
        for sizes in self.plans(bounds):
            if captured >= most or len(self.programs) >= MOST:
                break
            if any(sizes[name] not in bounds[name] for name in sizes) or probes.refusal(sizes):
                continue
            captured += 1
            difference = self.take_from(procedure, sizes)
            moved = [name for name in sizes if sizes[name] != self.base[name]]
            if difference and len(moved) == 1:
                self.narrow(procedure, moved[0], bounds[moved[0]], sizes[moved[0]], difference)
            elif difference:
                probes.joint.append(difference)
        return self.doubt_of(probes, given) or self.overlaid(probes)

    def _from_python(self, given):
        probes = Probes(self.refusal_of_python, self.base, steps=STEPS_IN_PYTHON, far=FAR_IN_PYTHON,
                        calls=len(self.first.calls))
        return self.doubt_of(probes, given) or self.overlaid(probes)

    def doubt_of(self, probes, given):
        """Return why a program is none for all sizes around the given ones; empty if it is."""
        for name, bounds in probes.bounds.items():
            reason = (bounds.reasons or ["it differs at each size"])[0]
            if bounds.is_fixed or given[name] > 1 and given[name] not in bounds:
                if name in self.taken:
                    reason += f"; it takes {name} for a plain number at {self.taken[name]}"
                return reason + (LOOP.format(name=name, size=given[name]) if ": for " in reason else "")
        return ""

    def narrow(self, procedure, name, bounds, bad, reason):
        """Leave out sizes of a symbol at which other operators are called."""
        base = self.base[name]
        place, others = list(self.base).index(name), {**self.base, name: None}
        alike = [key[place] for key in self.programs if self.key({**others, name: key[place]}) == key]
        step = bounds.multiple if bad > base else -bounds.multiple
        good = max((size for size in alike if (size - base) * step >= 0 and (bad - size) * step > 0),
                   key=lambda size: abs(size - base))
        while abs(bad - good) > abs(step):
            middle = good + (bad - good) // step // 2 * step
            if self.take_from(procedure, {**self.base, name: middle}):
                bad = middle
            else:
                good = middle
        if bad > base:
            bounds.high = good
        else:
            bounds.low = good
        if bad > 1:
            bounds.reasons.append(reason)

    def plans(self, bounds):
        """Yield sizes for captures: of each symbol alone, near and far, then of all together."""
        draw = random.Random(0)
        chosen = {name: self.chosen(name, bounds[name]) for name in bounds}
        for place in range(3):
            for name in bounds:
                yield {**self.base, name: chosen[name][place % len(chosen[name])]}
        for least, apart in TOGETHER:
            yield {name: bounds[name].snapped(least + apart * place) for place, name in enumerate(bounds)}
        for place in range(3, max(map(len, chosen.values()))):
            for name, sizes in chosen.items():
                if place < len(sizes):
                    yield {**self.base, name: sizes[place]}
            if len(chosen) > 1:
                yield self.joint(chosen, draw)

    def joint(self, chosen, draw):
        """Return other sizes of all symbols."""
        while True:
            sizes = {name: draw.choice(options) for name, options in chosen.items()}
            smallest = all(len(options) == 1 for options in chosen.values())
            if smallest or numpy.prod([float(size) for size in sizes.values()]) < MOST_ELEMENTS:
                return sizes
            chosen = {name: sorted(options)[:max(len(options) // 2, 1)] for name, options in chosen.items()}

    def chosen(self, name, bounds):
        """Return sizes of a symbol for captures: the next one, the farthest, and so on."""
        base, step = self.base[name], bounds.multiple
        near = [base + step * count for count in (1, 2, 3, 4, 5, 6, 7, 8, 9, -1, -2, -3)]
        small = [bounds.low + step * count for count in range(6)]
        far = [bounds.snapped(size) for size in FAR]
        ends = [bounds.snapped(FAR[-1]), bounds.low]
        mixed = [near[0], far[5], small[2], ends[0], near[4], *small[:2], *far[:8], *near, *far[8:], *ends, *small]
        return [size for size in dict.fromkeys(mixed) if size in bounds and size != base and size > 1] or [base]

    def overlaid(self, probes):
        """Return one program that is laid over all captures within the bounds; axes of size 1 lie anywhere."""
        keys = [key for key in self.programs
                if all(size in bounds and (size > 1 or size == base)
                       for size, base, bounds in zip(key, self.base.values(), probes.bounds.values()))]
        symbols = {name: tuple(key[place] for key in keys) for place, name in enumerate(self.base)}
        program = overlay([self.programs[key] for key in keys], symbols)
        program.bounds, program.joint = probes.bounds, probes.joint
        plans = [dict(zip(self.base, key)) for key in keys]
        program.following = {text: tuple(evaluate(text, plan) for plan in plans) for text in self.following}
        if self.written is not None and len(keys) > 1:
            program.conditions = conditions_of(self.written, [
                phantoms_at(self.inputs, self.by_place(sizes)) for sizes in plans])
        elif len(self.taken) > 1:
            program.unheard = UNHEARD.format(names=" and ".join(self.taken),
                                             places=", ".join(dict.fromkeys(self.taken.values())))
        program.nearer = lambda reason: self.nearer(probes, reason)
        return program

    def capture_within(self, bounds):
        """Capture the program at sizes within bounds, all of them others at once: few prove too little there."""
        draw = random.Random(len(self.programs))
        for _ in range(min(FURTHER, max(self.affordable, FEWEST))):
            sizes = {}
            for name, limits in bounds.items():
                most = 4 * self.base[name] + 3 if limits.high is None else limits.high
                sizes[name] = limits.snapped(draw.randint(max(limits.low, 2), max(limits.low, 2, most)))
            if self.key(sizes) in self.programs:
                continue
            if self.written is None:
                self.refusal_of_python(sizes)
            elif not self.refusal_of_procedure(self.written, sizes):
                self.take_from(self.written, sizes)

    def nearer(self, probes, reason):
        """Yield programs for fewer sizes: not far from where it begins, of one symbol, then of all.

        Parameters
        ----------
        probes : Probes
            Of all sizes.
        reason : str
            Why there is no program for all of them.

        Yields
        ------
        Program
            Its bounds tell the reason.

        """
        names = list(self.base)
        for chosen, part in [([name], 2) for name in names[:len(names) * (len(names) > 1)]] + [(names, 2), (names, 1)]:
            bounds = dict(probes.bounds)
            for name in chosen:
                least, most = max(self.base[name] // part, 2), 4 * self.base[name] + 3
                sizes = sorted({key[names.index(name)] for key in self.programs
                                if least <= key[names.index(name)] <= most})
                reasons = [*bounds[name].reasons, f"it {NO_LONGER} beyond: {reason}"]
                bounds[name] = Bounds(sizes[0], sizes[-1], bounds[name].multiple, reasons)
            self.capture_within(bounds)
            program = self.overlaid(types.SimpleNamespace(bounds=bounds, joint=probes.joint))
            if len(next(iter(program.symbols.values()))) >= ENOUGH:
                yield program


def capture_dynamic(function, args, kwargs, names, axes):
    """Return the program of a function whose inputs have dynamic axes.

    The function is captured at several sizes, without computing anything. What differs between the captures must
    follow the sizes; if it does not, a HardCodedError says what was hard-coded.

    Parameters
    ----------
    function : callable
        What is captured.
    args : tuple
        Its arguments.
    kwargs : dict
        Its named arguments.
    names : dict
        {memory: name} of parameters.
    axes : list of dict
        For each input {axis: symbol}.

    Returns
    -------
    Program
        With Sizes where the captures differ, and the bounds within which it holds.

    """
    arguments = structure_of((args, kwargs))
    inputs = arguments.tensors
    given = {symbol: inputs[place].shape[axis] for place, named in enumerate(axes) for axis, symbol in named.items()}
    if not given:
        return capture(function, *arguments.fill(inputs), names)
    following = take_following(given)
    error, said = None, set()
    for base in bases(given):
        try:
            found = Sampler(function, arguments, names, axes, following, base).program(given)
        except HardCodedError:
            raise
        except FAILURES as failure:
            error = error or failure
            continue
        if not isinstance(found, str):
            return found
        error = error or found
        if re.sub(r"\d+", "", found) in said:  # it says the same wherever it begins
            break
        said.add(re.sub(r"\d+", "", found))
    cause = error if isinstance(error, BaseException) else None
    raise HardCodedError(f"the function cannot be called at other sizes of {', '.join(given)}: {error}") from cause

"""Unbacked symbols u0, u1, ...: numbers that depend on tensors' data, known only by what the program checks."""
import itertools
import operator

from dragon import _C
from dragon.core import modes
from dragon.core.capture.sizes import is_followed
from dragon.core.scopes import ExitStack
from dragon.vm.torch.core.exporting.errors import (
    Differs, ExportError, FallBackToEngine, GuardOnDataDependentSymNode)
from dragon.vm.torch.core.exporting.symbols import OPEN, RELATIONS, Expression, ValueRanges, compute

POOL = 32  # more such numbers in one program are refused
USUAL = 3  # small enough for most slices, and neither 0 nor 1, which broadcast
TRIES = 8
# By (relation, whether it held): what is true, and what is true of the operands the other way round.
TRUE = {("eq", True): (operator.eq, operator.eq), ("eq", False): (operator.ne, operator.ne),
        ("lt", True): (operator.lt, operator.gt), ("lt", False): (operator.ge, operator.le),
        ("le", True): (operator.le, operator.ge), ("le", False): (operator.gt, operator.lt)}
SIGNS = {operator.eq: "==", operator.ne: "!=", operator.lt: "<", operator.gt: ">", operator.ge: ">=", operator.le: "<="}


class Refuted(Exception):
    """What the program checks does not hold for the numbers that were supposed."""


class UnbackedSymbols:
    """The unknown numbers of one trace: what is supposed of each, and what the program checks.

    Parameters
    ----------
    supposed : Optional[Dict[str, int]]
        By symbol, where another value than the usual one is taken.
    claims : Sequence[tuple]
        (relation, one side, the other, whether it holds), as Expressions, from traces before.
    opaque : Optional[Dict[str, int]]
        What other numbers in claims are.

    """

    def __init__(self, supposed=None, claims=(), opaque=None):
        self.supposed, self.claims, self.opaque = dict(supposed or {}), list(claims), dict(opaque or {})
        self.places = {}  # of open numbers that are sizes: (node, axis)
        self.pool, self.made, self.numbers, self.noted = [], {}, {}, []
        self.is_below = False  # whether the program does what cannot be heard

    names = property(lambda self: list(dict.fromkeys(name for name, _ in self.made.values())),
                     doc="List[str]: the symbols that the program has.")

    def hint(self, name):
        """Return what is supposed of a symbol."""
        return self.supposed.get(name, USUAL)

    def prepare(self, trace, shape_env, like):
        """Have numbers at hand: each is the size of a tensor that nobody sees."""
        for place in range(POOL):
            stand_in = _C.phantom_like(like, (max(self.hint(f"u{place}"), 0),))
            trace.add_input(stand_in)
            shape_env.add_argument(stand_in, [0])
            self.pool.append(stand_in)

    def mint(self, shape_env):
        """Return (symbol, number) of a fresh one."""
        place = len(set(self.numbers.values()))
        if place >= POOL:
            raise ExportError(f"torch.export: the program takes more than {POOL} numbers from tensors")
        made = self.pool[place].shape[0]
        if not is_followed(made):
            raise ExportError(f"torch.export: a number of a tensor cannot be followed: {shape_env.failure}")
        self.numbers[made.number] = name = f"u{place}"
        return name, made

    def is_truth(self, name):
        """Note that a number is 0 or 1; nobody needs to check that when the program runs."""
        symbol, one = Expression.symbol(name), Expression.of(1)
        for claim in (("le", symbol, one, True), ("lt", symbol, Expression.of(0), False)):
            if claim not in self.claims:
                self.claims.append(claim)
        if self.hint(name) not in (0, 1):
            raise Refuted

    # --- what the program checks

    def expression(self, shape_env, number):
        """Return a number of the program in terms of unknowns and of symbols for all else that is open."""
        if number in self.numbers:
            return Expression.symbol(self.numbers[number])
        origin = shape_env.origins.get(number)
        if origin is None or origin.how in ("size", "numel", "item"):
            name = f"n{number}"
            if origin is not None and origin.how == "size":
                name = f"{origin.parts[0].name}.size()[{origin.parts[1]}]"
                self.places[name] = origin.parts
            self.opaque[name] = origin.value if origin else 0
            return Expression.symbol(name)
        if origin.how == "constant":
            return Expression.of(origin.value) if isinstance(origin.value, int) else origin.value
        return compute(origin.how, *(self.expression(shape_env, part) for part in origin.parts))

    def claim(self, shape_env, decision):
        """Note what the program checks; return (operator, its operands as numbers), None where nothing is unknown."""
        plain, turned = TRUE[decision.relation, decision.held]
        try:
            sides = [self.expression(shape_env, number) for number in (decision.a, decision.b)]
        except ValueError:  # of real numbers, from which nothing is concluded
            return plain, decision.a, decision.b
        known = [isinstance(side, Expression) and bool(set(side.symbols()) & set(self.numbers.values()))
                 for side in sides]
        if not any(known):
            return None
        made = decision.relation, *sides, decision.held
        if made not in self.claims:
            self.claims.append(made)
        return (plain, decision.a, decision.b) if known[0] else (turned, decision.b, decision.a)

    def refute(self, shape_env, decisions):
        """Raise Refuted with what would do where a check failed by what was supposed."""
        for decision in decisions[:-1]:
            self.claim(shape_env, decision)
        *_, last = decisions
        if self.claim(shape_env, last._replace(held=not last.held)) is not None:
            raise Refuted

    def others(self):
        """Return the unbacked symbols of another trace: numbers for which all that is checked holds."""
        claimed = (name for claim in self.claims for name in _symbols(claim) if name not in self.opaque)
        found = self._search(list(dict.fromkeys((*self.numbers.values(), *claimed))), self.opaque)
        if found is None:
            raise ExportError("torch.export: no numbers were found for which all holds that the program checks: "
                              f"{', '.join(map(text_of, self.claims))}")
        return UnbackedSymbols(found, self.claims, self.opaque)

    def fitted(self, bindings, kept, sizes):
        """Return numbers for which all that is checked holds where some have other values than supposed.

        Parameters
        ----------
        bindings : Dict[str, int]
            By symbol.
        kept : Collection[str]
            Symbols whose values stay.
        sizes : Dict[tuple, int]
            {(placeholder, axis): size}.

        Returns
        -------
        Dict[str, int]
            By symbol, of those that are others.

        """
        opaque = {name: sizes.get(self.places.get(name), value) for name, value in self.opaque.items()}
        known = {**opaque, **{name: bindings[name] for name in self.names if name in bindings}}
        if all(_holds(claim, known) for claim in self.claims):
            return {}
        rest = [name for name in self.names if name not in kept]
        return self._search(rest, {**opaque, **{name: bindings[name] for name in kept if name in known}}) or {}

    def _search(self, names, opaque):
        """Return {symbol: number} such that all holds that is checked, None where nothing is found."""
        values = {USUAL, 2, 4, 1, 0}
        for _, one, another, _ in self.claims:
            for side in (one, another):
                for value in [side.constant] if isinstance(side, Expression) else []:
                    values |= {value - 1, value, value + 1} if value is not None else set()
        values |= {value + step for value in opaque.values() if isinstance(value, int) for step in (-1, 0, 1)}
        order = sorted((value for value in values if 0 <= value < 1 << 31), key=lambda value: (value < 2, value))
        open_claims = [(claim, set(_symbols(claim)) & set(names)) for claim in self.claims]
        choices, together = {}, set()
        for name in names:
            own = [claim for claim, symbols in open_claims if symbols == {name}]
            choices[name] = [value for value in order if all(_holds(claim, {**opaque, name: value}) for claim in own)]
            together |= {name for _, symbols in open_claims if name in symbols and len(symbols) > 1}
        if not all(choices.values()):
            return None
        alone = {name: values[0] for name, values in choices.items() if name not in together}
        joint = [name for name in names if name in together]
        for chosen in itertools.islice(itertools.product(*map(choices.get, joint)), 20000):
            found = {**alone, **dict(zip(joint, chosen))}
            if all(_holds(claim, {**opaque, **found}) for claim in self.claims):
                return found
        return None

    def ranges(self):
        """Return {symbol: ValueRanges} of what is checked of each alone."""
        found = {name: ValueRanges(0 if is_size else -OPEN, OPEN) for name, is_size in self.made.values()}
        for relation, one, another, held in self.claims:
            line = (one - another).linear() if isinstance(one, Expression) and isinstance(another, Expression) else None
            if line is None or len(line[0]) != 1:
                continue
            ((name, factor),), offset = line[0].items(), line[1]
            if name in found and factor in (1, -1):
                _narrow(found[name], relation, held, factor, -offset * factor)
        return found


def _narrow(known, relation, held, factor, bound):
    """Narrow a range by `factor * u <relation> factor * bound`."""
    if relation == "eq":
        if held:
            known.lower, known.upper = max(known.lower, bound), min(known.upper, bound)
        return
    open_end = (relation == "lt") == held  # the bound itself is left out
    if (factor == 1) == held:
        known.upper = min(known.upper, bound - open_end)
    else:
        known.lower = max(known.lower, bound + open_end)


def _holds(claim, bindings):
    relation, one, another, held = claim
    values = [side.value(bindings) if isinstance(side, Expression) else side for side in (one, another)]
    return RELATIONS[relation](*values) == held


def _symbols(claim):
    return [name for side in claim[1:3] if isinstance(side, Expression) for name in side.symbols()]


def text_of(claim):
    """Return what a claim says."""
    relation, one, another, held = claim
    plain, turned = TRUE[relation, held]
    is_turned = getattr(one, "constant", one) is not None
    return f"{another} {SIGNS[turned]} {one}" if is_turned else f"{one} {SIGNS[plain]} {another}"


def text_of_check(shape_env, operation, a, b):
    """Return what a comparison of two numbers of the program says."""
    try:
        first, second = (shape_env.unknowns.expression(shape_env, number) for number in (a, b))
    except ValueError:
        first, second = "a number", "another"
    return f"{first} {SIGNS[operation]} {second}"


def traced_with(make, unknowns=None):
    """Return what a trace finds, done again with other numbers while what the program checks does not hold.

    Parameters
    ----------
    make : Callable[[UnbackedSymbols], Tracing]
        Makes the tracing.
    unknowns : Optional[UnbackedSymbols]
        What is supposed first.

    Returns
    -------
    Tracing
        The tracing, run.

    """
    unknowns = UnbackedSymbols() if unknowns is None else unknowns
    for _ in range(TRIES):
        tracing = make(unknowns)
        try:
            tracing.run()
            return tracing
        except Refuted:
            unknowns = unknowns.others()
        except FallBackToEngine:
            unknowns.pool, unknowns.is_below = [], True
    raise ExportError(f"torch.export: after {TRIES} attempts no numbers were found for which all holds that the "
                      f"program checks: {', '.join(map(text_of, unknowns.claims))}")


def check_unknowns(ranges):
    """Raise where the program would go another way for other unknown numbers.

    Parameters
    ----------
    ranges : Ranges
        Of the program.

    """
    unknowns = ranges.traced.unknowns
    for name in unknowns.names:
        declared, hint = ranges.declared[name], ranges.hints[name]
        ends = [max(declared.lower, -8), min(declared.upper, 1 << 20)]
        for value in dict.fromkeys((hint + 1, hint - 1, hint + 2, 1, 0, *ends)):
            found = ranges.values({name: value}) if value in declared and name in ranges.roots else None
            if isinstance(found, Differs):
                raise GuardOnDataDependentSymNode(
                    f"Could not guard on data-dependent expression: the program goes one way where {name} is {hint} "
                    f"and another where it is {value}, and {name} depends on a tensor's numbers ({found}); expected "
                    f"torch._check of what {name} may be, torch.cond, or torch.where")


def check_is_open(name, value):
    """Raise where the program runs for one unknown number alone."""
    if value is not None:
        raise GuardOnDataDependentSymNode(
            f"Could not guard on data-dependent expression Eq({name}, {value}): the program runs where {name}, which "
            f"depends on a tensor's numbers, is {value}, and not where it is another; expected torch._check of what "
            f"{name} may be")


# --- operators whose results depend on numbers

def _counted(size, *shape):
    from dragon.vm import torch
    return torch.empty((size, *shape), dtype=torch.int64)


def _nonzero(size, self):
    return _counted(size, self.ndim)


def _nonzero_numpy(size, self):
    return tuple(_counted(size) for _ in range(max(self.ndim, 1)))


def _masked_select(size, self, mask):
    return self.new_empty((size,))


def _index(size, self, indices):
    """Return `self[indices]` where masks find `size` places."""
    places = []
    for index in indices:
        places += [_counted(size) for _ in range(index.ndim)] if _is_mask(index) else [index]
    return self[tuple(slice(None) if place is None else place for place in places)]


def _unique(size, self, sorted=True, return_inverse=False, return_counts=False):
    from dragon.vm import torch
    inverse = torch.empty(self.shape, dtype=torch.int64) if return_inverse else _counted(0)
    return self.new_empty((size,)), inverse, _counted(size) if return_counts else _counted(0)


def _written(self, *_):
    """Return a tensor that was written, nobody knows where: its numbers are none that the program could read."""
    return self.copy_(self.new_empty(self.shape))


MASKS = ("torch.bool", "torch.uint8")
# By operator: who makes the result for a size, and how large that may be.
MAKERS = {"nonzero": (_nonzero, lambda self: self.numel()),
          "nonzero_numpy": (_nonzero_numpy, lambda self: self.numel()),
          "where": (_nonzero_numpy, lambda self: self.numel()),
          "masked_select": (_masked_select, lambda self, mask: mask.numel()),
          "index": (_index, lambda self, indices: next(filter(_is_mask, indices)).numel()),
          "_unique2": (_unique, lambda self, *_: self.numel())}
# Writes at the places that masks find.
WRITES = {"index_put_": _written, "index_put": lambda self, *_: self.new_empty(self.shape),
          "_unsafe_index_put": lambda self, *_: self.new_empty(self.shape)}


def _is_mask(index):
    return index is not None and str(index.dtype) in MASKS


def maker_of(target, args):
    """Return who makes the result of an operator for a size that depends on numbers, None where none does.

    Parameters
    ----------
    target : OpOverload
        The operator.
    args : tuple
        Its arguments.

    Returns
    -------
    Optional[Tuple[Callable, Callable]]
        What makes the result of the size and the arguments; what tells of the arguments how large the size may be.

    """
    packet = getattr(target, "overloadpacket", None)
    name = packet.__name__ if packet is not None and packet._namespace == "aten" else ""
    if name == "index" and not any(map(_is_mask, args[1])) or name == "where" and len(args) > 1:
        return None
    return MAKERS.get(name)


def written_by(target, args):
    """Return what an operator gives that writes where masks find something, None where it does no such thing."""
    name = getattr(getattr(target, "overloadpacket", None), "__name__", "")
    return WRITES[name] if name in WRITES and any(map(_is_mask, args[1])) else None


def value_of(node, value, args, kwargs):
    """Return what a node gives where its unknown number is a value, over tensors without numbers."""
    name = node.target.overloadpacket.__name__
    if name in ("item", "_local_scalar_dense"):
        return float(value) if args[0].is_floating_point() else value
    with ExitStack() as exits:
        exits.switch(modes.set_phantom, True)
        return MAKERS[name][0](value, *args, **kwargs)

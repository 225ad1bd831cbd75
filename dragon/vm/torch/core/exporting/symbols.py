"""Sizes as expressions over symbols, and the ranges that symbols have."""
import math

from dragon.core.python_operators import ARITHMETIC, COMPARISONS

# Functions of `operator` that graphs call with numbers.
NUMBERS_OPERATORS = (*ARITHMETIC, "neg", *COMPARISONS, "and_", "or_")
OPEN = math.inf
RELATIONS = {"eq": lambda a, b: a == b, "lt": lambda a, b: a < b, "le": lambda a, b: a <= b}


def _bound(value):
    return "int_oo" if value == OPEN else "-int_oo" if value == -OPEN else str(value)


class ValueRanges:
    """The numbers from one to another, both included.

    Parameters
    ----------
    lower, upper : Union[int, float]
        The smallest and the largest; infinite where there is none.

    """

    def __init__(self, lower, upper):
        self.lower, self.upper = lower, upper

    def __repr__(self):
        return f"VR[{_bound(self.lower)}, {_bound(self.upper)}]"

    def __eq__(self, other):
        return isinstance(other, ValueRanges) and (self.lower, self.upper) == (other.lower, other.upper)

    def __hash__(self):
        return hash((self.lower, self.upper))

    def __contains__(self, value):
        return self.lower <= value <= self.upper


class Expression:
    """A whole number in terms of symbols: sums of products of symbols and of functions of such sums.

    Parameters
    ----------
    terms : Dict[tuple, int]
        {product: how often}; a product is a sorted tuple of atoms, each as often as it occurs.

    """

    __slots__ = ("terms",)

    def __init__(self, terms):
        self.terms = {product: count for product, count in terms.items() if count}

    @staticmethod
    def symbol(name):
        """Return the expression that is one symbol."""
        return Expression({((name,),): 1})

    @staticmethod
    def of(value):
        """Return a number, or an expression, as an expression."""
        return value if isinstance(value, Expression) else Expression({(): int(value)})

    @staticmethod
    def function(name, *parts):
        """Return a function of expressions that is no sum of products: "floordiv", "mod", "pow", "truediv", "trunc"."""
        return Expression({((name, *parts),): 1})

    def __hash__(self):
        return hash(frozenset(self.terms.items()))

    def __eq__(self, other):
        if isinstance(other, (int, Expression)):
            return self.terms == Expression.of(other).terms
        return NotImplemented

    @property
    def constant(self):
        """The number that this is whatever the symbols are, None where it depends on them."""
        if not self.terms:
            return 0
        return self.terms[()] if set(self.terms) == {()} else None

    def symbols(self):
        """Return the names of the symbols, in order."""
        found = []
        for product in self.terms:
            for head, *parts in product:
                found += [head] if not parts else [name for part in parts for name in part.symbols()]
        return sorted(set(found))

    def linear(self):
        """Return ({symbol: factor}, offset) where this is a line, else None."""
        factors, offset = {}, 0
        for product, count in self.terms.items():
            if not product:
                offset = count
            elif len(product) == 1 and len(product[0]) == 1:
                factors[product[0][0]] = count
            else:
                return None
        return factors, offset

    def value(self, bindings):
        """Return the number for these values of the symbols."""
        total = 0
        for product, count in self.terms.items():
            for head, *parts in product:
                if not parts:
                    count *= bindings[head]
                else:
                    count *= COMPUTED[head](*(part.value(bindings) for part in parts))
            total += count
        return total

    def replaced(self, known):
        """Return this with expressions in place of symbols.

        Parameters
        ----------
        known : Dict[str, Expression]
            By symbol; others stay.

        """
        total = Expression({})
        for product, count in self.terms.items():
            made = Expression.of(count)
            for head, *parts in product:
                if parts:
                    made = made * compute(head, *(part.replaced(known) for part in parts))
                else:
                    made = made * known.get(head, Expression.symbol(head))
            total = total + made
        return total

    def __add__(self, other):
        terms = dict(self.terms)
        for product, count in Expression.of(other).terms.items():
            terms[product] = terms.get(product, 0) + count
        return Expression(terms)

    def __mul__(self, other):
        terms = {}
        for one, count in self.terms.items():
            for another, times in Expression.of(other).terms.items():
                product = tuple(sorted(one + another, key=repr))
                terms[product] = terms.get(product, 0) + count * times
        return Expression(terms)

    def __neg__(self):
        return self * -1

    def __sub__(self, other):
        return self + -Expression.of(other)

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other):
        return -self + other

    def __str__(self):
        def word(head, *parts):
            if not parts:
                return head
            texts = [f"({part})" if len(part.terms) > 1 else str(part) for part in parts]
            return WRITTEN[head].format(*texts)
        parts = []
        for product, count in sorted(self.terms.items(), key=lambda item: (-len(item[0]), repr(item[0]))):
            words = "*".join(word(*atom) for atom in product)
            size = abs(count)
            text = str(size) if not words else words if size == 1 else f"{size}*{words}"
            parts.append(("-" if count < 0 else "+", text))
        if not parts:
            return "0"
        first = ("-" if parts[0][0] == "-" else "") + parts[0][1]
        return first + "".join(f" {sign} {text}" for sign, text in parts[1:])

    __repr__ = __str__


WRITTEN = {"floordiv": "({}//{})", "mod": "Mod({}, {})", "pow": "{}**{}", "truediv": "({}/{})", "whole": "trunc({})",
           "real": "{}"}
COMPUTED = {"floordiv": lambda a, b: a // b, "mod": lambda a, b: a % b, "pow": lambda a, b: a ** b,
            "truediv": lambda a, b: a / b, "whole": math.trunc, "real": float}


def compute(how, a, b=None):
    """Return what an operation of Python's makes of expressions.

    Parameters
    ----------
    how : str
        "add", "sub", "mul", "floordiv", "mod", "pow", "truediv", "whole" or "real".
    a, b : Union[Expression, float]
        The operands; `b` is None for the last two.

    Returns
    -------
    Union[Expression, float]
        The result.

    """
    if how == "add":
        return a + b
    if how == "sub":
        return a - b
    if how == "mul":
        return a * b
    first, second = _known(a), _known(b)
    if first is not None and (second is not None or b is None):
        made = COMPUTED[how](*(number for number in (first, second) if number is not None))
        return Expression.of(made) if isinstance(made, int) else made
    if not isinstance(a, Expression) or b is not None and not isinstance(b, Expression):
        raise ValueError(f"size: got {how} of {a} and {b}, expected whole numbers")
    if second is not None and how == "floordiv" and second and all(count % second == 0 for count in a.terms.values()):
        return Expression({product: count // second for product, count in a.terms.items()})
    if second is not None and how == "mod" and second and all(count % second == 0 for count in a.terms.values()):
        return Expression.of(0)
    if how == "pow" and second is not None and 0 <= second <= 8:
        return math.prod([a] * second, start=Expression.of(1))
    return Expression.function(how, a) if b is None else Expression.function(how, a, b)


def _known(value):
    """Return the number that something is, None where it is open."""
    if isinstance(value, Expression):
        return value.constant
    return value if isinstance(value, (int, float)) else None


class SymInt:
    """A size that a program does not know before it runs: an expression, and what it was in the example.

    Parameters
    ----------
    node : Union[Expression, SymInt]
        What it is in terms of symbols, or another one that is.
    hint : int, optional
        What it was; as that of the other one.

    """

    __slots__ = ("expression", "hint")

    def __init__(self, node, hint=None):
        self.expression = node.expression if isinstance(node, SymInt) else node
        self.hint = node.hint if hint is None else hint

    node = property(lambda self: self, doc="This, as who asks for its `expr` finds it.")
    expr = property(lambda self: self.expression, doc="The expression.")

    def __int__(self):
        return self.hint

    __index__ = __int__

    def __eq__(self, other):
        if isinstance(other, SymInt):
            return self.expression == other.expression
        return self.hint == other if isinstance(other, (int, float)) else NotImplemented

    def __hash__(self):
        return hash(self.expression)

    def __repr__(self):
        return str(self.expression)


def _arithmetic(name, swapped=False):
    def combine(self, other):
        if not isinstance(other, (int, SymInt)):
            return NotImplemented
        mine, theirs = self.expression, other.expression if isinstance(other, SymInt) else Expression.of(other)
        hints = (self.hint, int(other))
        parts = (theirs, mine) if swapped else (mine, theirs)
        hint = getattr(hints[swapped], f"__{name}__")(hints[not swapped])
        return SymInt(compute(name, *parts), hint)
    return combine


def _comparison(name):
    def compare(self, other):
        return getattr(self.hint, name)(int(other)) if isinstance(other, (int, SymInt)) else NotImplemented
    return compare


for _name in ("add", "sub", "mul", "floordiv", "mod"):
    setattr(SymInt, f"__{_name}__", _arithmetic(_name))
    setattr(SymInt, f"__r{_name}__", _arithmetic(_name, swapped=True))
for _name in ("__lt__", "__le__", "__gt__", "__ge__"):
    setattr(SymInt, _name, _comparison(_name))

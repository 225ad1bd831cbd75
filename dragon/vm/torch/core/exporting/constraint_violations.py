"""Errors about sizes that the program constrains more than `dynamic_shapes` says."""
from dragon.vm.torch._dynamo.exc import UserError, UserErrorType
from dragon.vm.torch.core.exporting.symbols import OPEN, Expression
from dragon.vm.torch.core.exporting.dims import _DimHint


def _name(dim, source):
    return source if isinstance(dim, _DimHint) else dim.__name__


class ConstraintViolations:
    """Gathers what was violated, and what would do.

    Parameters
    ----------
    dims : Dict[str, Any]
        By symbol, what the user said.
    sources : Dict[str, str]
        By symbol, where it is read off.

    """

    def __init__(self, dims, sources):
        self.dims, self.sources, self.names, self.lines, self.fixes = dims, sources, [], [], []

    def _add(self, symbol, line, fix=None):
        name = _name(self.dims[symbol], self.sources[symbol])
        if name not in self.names:
            self.names.append(name)
        self.lines.append(f"  - {line}")
        if fix:
            self.fixes.append(f"  {fix}")

    def fixed(self, symbol, value, why=""):
        """Note that a size is always the same."""
        name = _name(self.dims[symbol], self.sources[symbol])
        fix = None if isinstance(self.dims[symbol], _DimHint) else f"{name} = {value}"
        self._add(symbol, f"You marked {name} as dynamic but your code specialized it to be a constant ({value}). If "
                  "you're using Dim.DYNAMIC, replace it with either Dim.STATIC or Dim.AUTO." + why, fix)

    def follows(self, symbol, expression):
        """Note that a size follows another one."""
        (root,) = expression.symbols()
        text = str(expression.replaced({root: Expression.symbol(self.dims[root].__name__)}))
        name, other = self.dims[symbol].__name__, self.dims[root].__name__
        mine, theirs = f"{name} = {self.sources[symbol]}", f"{other} = {self.sources[root]}"
        if text == other:
            self._add(symbol, f"The values of {mine} and {theirs} must always be equal.", f"{name} = {other}")
        else:
            self._add(symbol, f"The values of {mine} must always be related to the values of {theirs} by {name} = "
                      f"{text}.", f"{name} = {text}")

    def narrower(self, symbol, declared, found):
        """Note that a size may not go as far as the user said."""
        name, source = self.dims[symbol].__name__, self.sources[symbol]
        upper = "IntInfinity()" if found.upper == OPEN else found.upper
        bounds = f"min={found.lower}" * (found.lower > max(declared.lower, 2) or declared.lower > 2)
        if found.upper != OPEN:
            bounds += f"{', ' if bounds else ''}max={found.upper}"
        self._add(symbol, f"Not all values of {name} = {source} in the specified range satisfy the generated guard "
                  f"{found.lower} <= {source} and {source} <= {upper}", f"{name} = Dim({name!r}, {bounds})")

    def stepped(self, symbol, step, rest):
        """Note that a size must leave a rest."""
        name, source = self.dims[symbol].__name__, self.sources[symbol]
        text = f"{step}*_{name}" + (f" + {rest}" if rest else "")
        self._add(symbol, f"Not all values of {name} = {source} in the specified range satisfy the generated guard "
                  f"({source} % {step}) == {rest}.", f"_{name} = Dim('_{name}')\n  {name} = {text}")

    def check(self):
        """Raise if anything was noted."""
        if self.lines:
            text = f"Constraints violated ({', '.join(self.names)})!\n" + "\n".join(self.lines)
            if self.fixes:
                text += "\nSuggested fixes:\n" + "\n".join(self.fixes)
            raise UserError(UserErrorType.CONSTRAINT_VIOLATION, text)

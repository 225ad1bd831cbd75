"""Random programs that look at the numbers of their tensors and go on by what they find, as text."""
from harness import size_programs
from harness.size_programs import SizeProgram, difference


class LookProgram(SizeProgram):
    """A function of one or two tensors of random rank, half of whose steps look at numbers; see `SizeProgram`."""

    def shapes(self, call):
        """Return the shapes of the arguments: most calls have those of the first."""
        return super().shapes(call if call % 4 == 3 else 0)

    def _size(self, name):
        pick, limit = self._random, self._random.randint(2, 5)
        if pick.random() < 0.6:
            return super()._size(name)
        return pick.choice((f"int({name}.sum().abs().clamp(max=1e4)) % {limit}", f"int(({name} > 0).sum())",
                            f"({name} > 0).sum().item() // 2", f"min((~({name} < 0)).sum().item(), {limit})"))

    def _line(self):
        pick, name, other = self._random, self._random.choice(self.names), self._random.choice(self.names)
        limit, size, number = pick.randint(-2, 2), self._size(name), f"{name}.sum().item()"
        if pick.random() < 0.5:
            return super()._line()
        return "y = " + pick.choice((
            f"{name}[{name} > 0]", f"torch.nonzero({name} > 0)[:, 0] * 1.0", f"{name}.masked_select({name} < {limit})",
            f"{name}[{name} > 0] * 2 + {name}.sum()", f"torch.unique({name}.round())", f"{name} * {number}",
            f"{name} / ({number} * {number} + 1)", f"torch.full_like({name}, {name}.numel() and {name}.mean().item())",
            f"({name} * 2 - 1 if {name}.sum() > {limit} else {name}.exp() - {other}.sum())",
            f"({name}.relu() if {number} > {limit} and {other}.sum().item() < 1 else {other}.abs() + 1)",
            f"({name}.tanh() if ({name} > {limit}).any() else {name}.flatten())",
            f"({name} + 1 if bool(torch.isfinite({name}).all()) else {name}.nan_to_num())",
            f"{name}.flatten()[:{size}] * 3 - 1", f"{name}.clone().add_({number} + 1)",
            f"torch.ones({size}, 2).cumsum(0)",
            f"F.one_hot({name}.abs().clamp(max=3).long()).float().sum(-1)", f"{name}.where({name} > 0, {number})",
            f"{name}.flatten().repeat_interleave(({name}.flatten() > 0).long() + 1)"))


def check(program, torch, calls, gradient):
    """Return what differs between eager calls of a program and compiled ones, and the compiled function.

    Parameters
    ----------
    program : LookProgram
        What is called.
    torch : module
        Dragon's face of PyTorch.
    calls : int
        How often; each time with other numbers.
    gradient : bool
        Whether gradients are compared.

    Returns
    -------
    Tuple[Optional[str], Function]
        The first difference, with the shapes.

    """
    plain = program.function(torch)
    compiled = torch.compile(program.function(torch))
    for call in range(calls):
        shapes = program.shapes(call)
        mine, wanted = (size_programs.outcome(function, torch, shapes, gradient, draw=call // 2)
                        for function in (compiled, plain))
        found = difference(mine, wanted)
        if found:
            return f"at call {call}, {shapes}: {found}\n{program.text}", compiled
    return None, compiled

"""`torch._foreach_*`: one call for lists of tensors, each put through the operator."""
from dragon import _C
from dragon.dialects.aten.signatures import foreach_lines
from dragon.vm.torch.core.functions.destination import write
from dragon.vm.torch.core.register import function
from dragon.vm.torch.core.tensor import Tensor, ops

NAMES = frozenset(_C.op_names())


def _each(value, count, who):
    """Return what stands for a value at each tensor: its items if it is a list."""
    if not isinstance(value, (list, tuple)):
        return [value] * count
    if len(value) != count:
        raise RuntimeError(f"{who}: got {len(value)} values for {count} tensors, expected one for each")
    return value


def _make(name, operator, bound, arity):
    """Make `_foreach_<name>` and its twin in place, of an operator with `arity` arguments after the tensor."""
    in_place = getattr(ops, operator + "_")
    plain = getattr(ops, operator)

    def run(act, who, self, others, options):
        columns = [[None] * len(self)] if bound == "max" else []
        columns += [_each(other, len(self), who) for other in others]
        scales = {word: _each(value, len(self), who) for word, value in options.items()}
        return [act(x, *items, **{word: values[place] for word, values in scales.items()})
                for place, (x, *items) in enumerate(zip(self, *columns))]

    def foreach(self, *others, **options):
        return tuple(run(plain, foreach.__name__, self, *_told(name, others, options, arity)))

    def foreach_(self, *others, **options):
        run(in_place, foreach_.__name__, self, *_told(name, others, options, arity))
        return self
    for made, ending in ((foreach, ""), (foreach_, "_")):
        made.__name__ = made.__qualname__ = f"_foreach_{name}{ending}"
        made.__doc__ = f"Put every tensor of a list through `{operator}`."
        function(made)


WORDS = ("other", "others", "scalar", "scalars", "exponent", "tensor", "tensors1", "weight", "weights", "tensor1",
         "tensor2")


def _told(name, others, options, arity):
    """Return the arguments and the options, after PyTorch's several names for them."""
    others, kept = list(others), {}
    for word, value in options.items():
        if word in WORDS and word not in ("scalars", "scalar") or len(others) < arity:
            others.append(value)
        else:
            kept["value" if name in ("addcmul", "addcdiv") else word] = value
    if len(others) > arity:  # addcmul(xs, ys, zs, value), add(xs, ys, alpha)
        kept["value" if name in ("addcmul", "addcdiv") else "alpha"] = others.pop()
    if "value" in kept and isinstance(kept["value"], Tensor):
        kept["value"] = kept["value"].tolist()
    return others, kept


def _make_all():
    """Make those of PyTorch's whose operator computes each element by itself."""
    known = foreach_lines()
    for name, lines in known.items():
        if lines[0].endswith("self_out"):  # in PyTorch's API it writes, and does nothing else
            continue
        bound = name[6:] if name.startswith("clamp_") else None  # which of `clamp`'s the argument is
        operator = "clamp" if bound else name
        if f"{name}_" in known and operator in NAMES and _C.schema(operator)["pointwise"]:
            needed = sum(not argument["has_default"] for argument in _C.schema(operator)["arguments"])
            _make(name, operator, bound, 1 if bound else needed - 1)


_make_all()


@function
def _foreach_pow(self, exponent):  # noqa: F811 (a number may be the base)
    """Raise every tensor, or one number, to powers."""
    if isinstance(self, (list, tuple)):
        return tuple(ops.pow(x, power) for x, power in zip(self, _each(exponent, len(self), "_foreach_pow")))
    return tuple(ops.pow(self, power) for power in exponent)


@function
def _foreach_clone(self, *, memory_format=None):
    """Return copies."""
    return tuple(ops.clone(x) for x in self)


@function
def _foreach_zero_(self):
    """Write zeros to every tensor."""
    for x in self:
        ops.fill_(x, 0)
    return self


@function
def _foreach_copy_(self, src, non_blocking=False):
    """Copy every tensor of one list into the other's."""
    for x, y in zip(self, _each(src, len(self), "_foreach_copy_")):
        write(x, y)
    return self


@function
def _foreach_norm(self, ord=2, dtype=None):
    """Return the norm of every tensor."""
    return tuple(ops.linalg_vector_norm(x, ord, dtype=dtype) for x in self)


@function
def _foreach_powsum(self, ord=2, dtype=None):
    """Return of every tensor the sum of the absolute values' powers."""
    wide = self if dtype is None else [ops.cast(x, dtype) for x in self]
    whole = next((x for x in wide if not (x.is_floating_point() or x.is_complex())), None)
    if whole is not None:
        raise NotImplementedError(f"_foreach_powsum: got {whole.dtype}, expected a floating or complex dtype")
    return tuple(ops.sum(ops.pow(ops.abs(x), ord)) for x in wide)


@function
def _amp_foreach_non_finite_check_and_unscale_(self, found_inf, inv_scale):
    """Multiply gradients by a factor; set `found_inf` to 1 if one has an element that is not finite."""
    for x in self:
        if not bool(ops.all(ops.isfinite(x))):
            ops.fill_(found_inf, 1)
        ops.mul_(x, inv_scale)


@function
def _amp_update_scale_(self, growth_tracker, found_inf, scale_growth_factor, scale_backoff_factor, growth_interval):
    """Shrink a scale after infinities, or grow it after so many steps without."""
    if bool(found_inf):
        ops.mul_(self, scale_backoff_factor)
        ops.fill_(growth_tracker, 0)
        return self
    steps = int(growth_tracker) + 1
    if steps == growth_interval:
        ops.mul_(self, scale_growth_factor)
        steps = 0
    ops.fill_(growth_tracker, steps)
    return self


@function
def _foreach_max(self):
    """Return the largest element of every tensor."""
    return tuple(ops.max(x) for x in self)


@function
def _foreach_mm(self, mat2):
    """Return the matrix product of every pair."""
    return tuple(ops.mm(x, y) for x, y in zip(self, mat2))

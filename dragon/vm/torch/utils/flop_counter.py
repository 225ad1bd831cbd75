"""Counts of floating-point operations: those of products and convolutions, by module and by operator."""
import functools
import math
from collections import defaultdict

from dragon.core.warnings import warn
from dragon.vm.torch._ops import OpOverloadPacket, namespace
from dragon.vm.torch.core.tensor import Tensor
from dragon.vm.torch.utils._python_dispatch import TorchDispatchMode
from dragon.vm.torch.utils._pytree import tree_map
from dragon.vm.torch.utils.module_tracker import ModuleTracker

aten = namespace("aten")
suffixes = ["", "K", "M", "B", "T"]
flop_registry = {}


def get_shape(i):
    """Return a tensor's shape; anything else as it is."""
    return i.shape if isinstance(i, Tensor) else i


def shape_wrapper(f):
    """Return a function that is called with shapes in the places of tensors."""
    @functools.wraps(f)
    def of_shapes(*args, out_val=None, **kwargs):
        args, kwargs, out_shape = tree_map(get_shape, (args, kwargs, out_val))
        return f(*args, out_shape=out_shape, **kwargs)
    return of_shapes


def register_flop_formula(targets, get_raw=False):
    """Return a decorator of functions that count the operations of operators.

    Parameters
    ----------
    targets : Union[OpOverloadPacket, Sequence[OpOverloadPacket]]
        The operators.
    get_raw : bool, optional, default=False
        Whether the function is given tensors, and the result as `out_val`; else shapes, and `out_shape`.

    Returns
    -------
    Callable
        The decorator.

    """
    def register(formula):
        for target in targets if isinstance(targets, (list, tuple)) else [targets]:
            if not isinstance(target, OpOverloadPacket):
                raise ValueError(f"register_flop_formula(targets): expected each target to be OpOverloadPacket (i.e. "
                                 f"torch.ops.mylib.foo), got {target} which is of type {type(target)}")
            if target in flop_registry:
                raise RuntimeError(f"register_flop_formula: got {target}, which has a formula, expected one without")
            flop_registry[target] = formula if get_raw else shape_wrapper(formula)
        return formula
    return register


@register_flop_formula(aten.mm)
def mm_flop(a_shape, b_shape, *args, out_shape=None, **kwargs):
    """Count those of a product of two matrices."""
    (rows, inner), (_, columns) = a_shape, b_shape
    return rows * columns * 2 * inner


@register_flop_formula(aten.addmm)
def addmm_flop(self_shape, a_shape, b_shape, out_shape=None, **kwargs):
    """Count those of a product of two matrices; sums are not counted."""
    return mm_flop(a_shape, b_shape)


@register_flop_formula(aten.bmm)
def bmm_flop(a_shape, b_shape, out_shape=None, **kwargs):
    """Count those of products of matrices, one for each of a batch."""
    return a_shape[0] * mm_flop(a_shape[1:], b_shape[1:])


@register_flop_formula(aten.baddbmm)
def baddbmm_flop(self_shape, a_shape, b_shape, out_shape=None, **kwargs):
    """Count those of products of matrices, one for each of a batch; sums are not counted."""
    return bmm_flop(a_shape, b_shape)


def conv_flop_count(x_shape, w_shape, out_shape, transposed=False):
    """Count those of a convolution.

    Parameters
    ----------
    x_shape : Sequence[int]
        That of the input.
    w_shape : Sequence[int]
        That of the weights.
    out_shape : Sequence[int]
        That of the result.
    transposed : bool, optional, default=False
        Whether the convolution is.

    Returns
    -------
    int
        Two for each product and its sum.

    """
    places = (x_shape if transposed else out_shape)[2:]
    return math.prod(places) * math.prod(w_shape) * x_shape[0] * 2


@register_flop_formula([aten.convolution, aten._convolution])
def conv_flop(x_shape, w_shape, _bias, _stride, _padding, _dilation, transposed, *args, out_shape=None, **kwargs):
    """Count those of a convolution."""
    return conv_flop_count(x_shape, w_shape, out_shape, transposed=transposed)


@register_flop_formula(aten.convolution_backward)
def conv_backward_flop(grad_out_shape, x_shape, w_shape, _bias, _stride, _padding, _dilation, transposed,
                       _output_padding, _groups, output_mask, out_shape):
    """Count those of a convolution's gradients: for each that is asked for as many as the convolution takes.

    With groups the gradient of the weights counts as PyTorch counts it, which is as if there were none.
    """
    def turned(shape):
        return [shape[1], shape[0], *shape[2:]]
    count = 0
    if output_mask[0]:
        count += conv_flop_count(grad_out_shape, w_shape, out_shape[0], not transposed)
    if output_mask[1] and transposed:
        count += conv_flop_count(turned(grad_out_shape), turned(x_shape), turned(out_shape[1]))
    elif output_mask[1]:
        count += conv_flop_count(turned(x_shape), turned(grad_out_shape), turned(out_shape[1]))
    return count


def sdpa_flop_count(query_shape, key_shape, value_shape):
    """Count those of attention: two products for each head."""
    batch, heads, queries, width = query_shape
    keys, values = key_shape[-2], value_shape[-1]
    return bmm_flop((batch * heads, queries, width), (batch * heads, width, keys)) + bmm_flop(
        (batch * heads, queries, keys), (batch * heads, keys, values))


@register_flop_formula(aten.scaled_dot_product_attention)
def sdpa_flop(query_shape, key_shape, value_shape, *args, out_shape=None, **kwargs):
    """Count those of attention, where it is one operator: with dropout."""
    return sdpa_flop_count(query_shape, key_shape, value_shape)


# --- numbers for people

def get_suffix_str(number):
    """Return the letter that fits a number: of thousands "K", of millions "M", and so on."""
    return suffixes[max(0, min(len(suffixes) - 1, (len(str(number)) - 2) // 3))]


def convert_num_with_suffix(number, suffix):
    """Return a number with a letter behind it."""
    return f"{number / 1000 ** suffixes.index(suffix):.3f}{suffix}"


def convert_to_percent_str(num, denom):
    """Return a part as a percentage."""
    return "0%" if denom == 0 else f"{num / denom:.2%}"


class FlopCounterMode:
    """Count the floating-point operations within a `with` block, backward passes included.

    Parameters
    ----------
    mods : Any, optional
        Of old; modules are found without it.
    depth : int, optional, default=2
        How deep the table of modules goes.
    display : bool, optional, default=True
        Whether the table is printed at the end.
    custom_mapping : Dict[OpOverloadPacket, Callable], optional
        Formulas of further operators: they are given shapes, or tensors where the function's `_get_raw` is true.

    Examples
    --------
    >>> from torch.utils.flop_counter import FlopCounterMode
    >>> with FlopCounterMode(display=False) as counter:
    ...     y = nn.Linear(3, 4)(torch.ones(2, 3))
    >>> counter.get_total_flops()
    48

    """

    def __init__(self, mods=None, depth=2, display=True, custom_mapping=None):
        if mods is not None:
            warn("mods argument is not needed anymore, you can stop passing it", UserWarning)
        self.depth, self.display, self.mode, self.mod_tracker = depth, display, None, ModuleTracker()
        self.flop_counts = defaultdict(lambda: defaultdict(int))
        own = {target: formula if getattr(formula, "_get_raw", False) else shape_wrapper(formula)
               for target, formula in (custom_mapping or {}).items()}
        self.flop_registry = {**flop_registry, **own}

    def get_total_flops(self):
        """Return how many were counted."""
        return sum(self.flop_counts["Global"].values())

    def get_flop_counts(self):
        """Return {module: {operator: count}}; "Global" counts everything."""
        return {name: dict(counts) for name, counts in self.flop_counts.items()}

    def get_table(self, depth=None):
        """Return the counts as a table.

        Parameters
        ----------
        depth : int, optional
            How deep it goes; that of the counter without it.

        Returns
        -------
        str
            A line for each module, and under it one for each operator.

        """
        depth = self.depth if depth is None else depth
        depth = math.inf if depth is None else depth
        total = self.get_total_flops()
        letter, lines = get_suffix_str(total), []

        def add(name, level):
            counts, lead = self.flop_counts[name], " " * level
            whole = sum(counts.values())
            lines.append((lead + name, convert_num_with_suffix(whole, letter), convert_to_percent_str(whole, total)))
            lines.extend((f"{lead} - {target}", convert_num_with_suffix(count, letter),
                          convert_to_percent_str(count, total)) for target, count in counts.items())
        names = sorted(name for name in self.flop_counts if name != "Global" and name.count(".") < depth)
        add("Global", 0)
        for name in names:
            add(name, name.count(".") + 1)
        lines = [("Module", "FLOP", "% Total"), *lines]
        wide = [max(len(line[column]) for line in lines) for column in range(3)]
        rows = [f"{line[0]:<{wide[0]}}  {line[1]:>{wide[1]}}  {line[2]:>{wide[2]}}".rstrip() for line in lines]
        return "\n".join([rows[0], "  ".join("-" * width for width in wide), *rows[1:]])

    def __enter__(self):
        self.flop_counts.clear()
        self.mod_tracker.__enter__()
        self.mode = _Counting(self)
        self.mode.__enter__()
        return self

    def __exit__(self, *args):
        self.mode.__exit__(*args)
        self.mode = None
        self.mod_tracker.__exit__()
        if self.display:
            print(self.get_table(self.depth))


class _Counting(TorchDispatchMode):
    """Hears operators for a counter."""

    def __init__(self, counter):
        super().__init__()
        self.counter = counter

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        formula = self.counter.flop_registry.get(func.overloadpacket)
        if formula is not None:
            count = formula(*args, **kwargs, out_val=result)
            for name in set(self.counter.mod_tracker.parents):
                self.counter.flop_counts[name][func.overloadpacket] += count
        return result

"""`torch._decomp`: what operators are made of, for `make_fx` and `run_decompositions`."""
from dragon.vm.torch.core.exporting.decompositions import default_table
from dragon.vm.torch.export.decomp_utils import CustomDecompTable

decomposition_table = default_table()


def _targets(ops):
    """Return operators' overloads; an operator stands for all of its own."""
    for one in ops:
        if hasattr(one, "overloads"):
            yield from (getattr(one, name) for name in one.overloads())
        else:
            yield one


def get_decompositions(aten_ops, type="post_autograd"):
    """Return what some operators are made of.

    Parameters
    ----------
    aten_ops : Sequence[Union[OpOverloadPacket, OpOverload]]
        The operators, all overloads of them or single ones.
    type : str, optional, default="post_autograd"
        "post_autograd" or "pre_autograd": one table serves both; "meta" has none.

    Returns
    -------
    Dict[OpOverload, Callable]
        By overload: a function of its arguments. An overload that is made of nothing else is not in it.

    Examples
    --------
    >>> from torch._decomp import get_decompositions
    >>> torch.ops.aten.silu.default in get_decompositions([torch.ops.aten.silu])
    True

    """
    if type not in ("post_autograd", "pre_autograd", "meta"):
        raise AssertionError(f"get_decompositions: got type={type!r}, expected post_autograd, pre_autograd or meta")
    known = {} if type == "meta" else decomposition_table
    return {target: known[target] for target in _targets(aten_ops) if target in known}


def remove_decompositions(decompositions, aten_ops):
    """Take operators out of a table.

    Parameters
    ----------
    decompositions : Dict[OpOverload, Callable]
        The table.
    aten_ops : Sequence[Union[OpOverloadPacket, OpOverload]]
        The operators.

    """
    for target in _targets(aten_ops):
        decompositions.pop(target, None)


def core_aten_decompositions():
    """Return what operators are made of that are not core ones.

    Returns
    -------
    CustomDecompTable
        By overload: a function of its arguments.

    """
    return CustomDecompTable()


def register_decomposition(aten_op, registry=None, *, type="post_autograd", unsafe=False):
    """Return a decorator that says what operators are made of.

    Parameters
    ----------
    aten_op : Union[OpOverload, OpOverloadPacket, Sequence]
        The operators.
    registry : Optional[Dict[OpOverload, Callable]]
        Where that is noted; by default in the table that `get_decompositions` reads.
    type : str, optional, default="post_autograd"
        "post_autograd" or "pre_autograd": one table serves both.
    unsafe : bool, optional, default=False
        Accepted: nothing is wrapped here.

    Returns
    -------
    Callable
        Returns the function as it is.

    """
    if type not in ("post_autograd", "pre_autograd", "meta"):
        raise AssertionError(f"register_decomposition: got type={type!r}, expected post_autograd, pre_autograd or meta")
    known = decomposition_table if registry is None else registry
    targets = list(_targets(aten_op if isinstance(aten_op, (list, tuple)) else [aten_op]))

    def register(function):
        if type != "meta":  # what shapes results have, operators say themselves here
            for target in targets:
                if target in known:
                    raise RuntimeError(f"duplicate registrations for {target}")
                known[target] = function
        return function
    return register

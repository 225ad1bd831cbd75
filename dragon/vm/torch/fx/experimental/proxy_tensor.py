"""`torch.fx.experimental.proxy_tensor`: functions as graphs of PyTorch's operators."""
import functools

from dragon.vm.torch.core.absent import fill


def make_fx(f, decomposition_table=None, tracing_mode="real", _allow_non_fake_inputs=False, *, pre_dispatch=False,
            record_module_stack=False, _allow_fake_constant=False, _error_on_data_dependent_ops=True,
            record_stack_traces=False):
    """Return a function that, called with examples, gives the graph of a function.

    Parameters
    ----------
    f : Callable
        The function, or a module.
    decomposition_table : Optional[Dict[OpOverload, Callable]]
        What operators are made of; `torch._decomp.get_decompositions` gives some.
    tracing_mode : str, optional, default="real"
        "symbolic" where sizes shall be symbols. The function runs over tensors without numbers in "real", too, and
        what it asks of numbers is told by name.
    pre_dispatch : bool, optional, default=False
        Whether composite operators such as `linear` stay whole.
    record_module_stack, record_stack_traces : bool, optional, default=False
        Accepted: nodes say in `meta` where they come from at all times.

    Returns
    -------
    Callable[..., GraphModule]
        What makes the graph: of the operators that the call comes to, written in place where the function writes;
        what the function found by itself are attributes.

    Examples
    --------
    >>> from torch.fx.experimental.proxy_tensor import make_fx
    >>> graph = make_fx(lambda x: torch.nn.functional.linear(x, x))(torch.ones(2, 2))
    >>> [str(node.target) for node in graph.graph.nodes if node.op == "call_function"]
    ['aten.t.default', 'aten.mm.default']

    """
    from dragon.vm.torch.core.exporting.make_fx import MODES, made_graph
    if tracing_mode not in MODES:
        raise AssertionError(f'tracing_mode should be one of "real", "fake", "symbolic", got {tracing_mode!r}')

    @functools.wraps(f)
    def traced(*args):
        return made_graph(f, args, tracing_mode, decomposition_table, pre_dispatch)
    return traced


fill(globals(), "fx.experimental.proxy_tensor")

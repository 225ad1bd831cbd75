"""Functions whose gradient is Python code: PyTorch's two forms of `Function` on the engine's one."""
import functools
import inspect

from dragon import _C
from dragon.core import modes
from dragon.core import custom_function as core
from dragon.core.scopes import ExitStack
from dragon.vm.torch.core.nodes import CONTEXTS
from dragon.vm.torch.core.overrides import beneath
from dragon.vm.torch.core.sparse.parts import is_sparse


class FunctionCtx(core.Context):
    """The things that a Function's forward leaves for its backward."""

    def save_for_backward(self, *tensors):
        for tensor in tensors:
            if tensor is not None and not isinstance(tensor, _C.Tensor):
                raise TypeError(f"save_for_backward can only save variables, but argument {tensors.index(tensor)} is "
                                f"of type {type(tensor).__name__}")
        self._kept = tensors

    def save_for_forward(self, *tensors):
        """Keep tensors for `jvp`, which the engine never calls."""
        self.saved_for_forward = tensors

    def mark_shared_storage(self, *pairs):
        """Do nothing, as in PyTorch: shared storage is noticed."""

    to_save = property(lambda self: self._kept, doc="The tensors given to `save_for_backward`.")


class BackwardCFunction(FunctionCtx):
    """The context that PyTorch also uses as the node."""


class Function(core.Function, FunctionCtx):
    """Subclass it with static methods `forward`, `backward` and, in the new form, `setup_context`; call `apply(*args)`.

    In the old form `forward(ctx, *args)` fills the context itself; in the new one `forward(*args)` computes, and
    `setup_context(ctx, inputs, output)` fills it. `backward(ctx, *grads)` returns one gradient per argument.

    Parameters
    ----------
    *args, **kwargs
        Nothing: it is used as a class, whose `apply` is called.

    Examples
    --------
    >>> class Double(torch.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         return x * 2
    ...     @staticmethod
    ...     def backward(ctx, grad):
    ...         return grad * 2
    >>> x = torch.tensor([3.0], requires_grad=True)
    >>> Double.apply(x).backward()
    >>> x.grad
    tensor([2.])

    """

    context_class = BackwardCFunction
    generate_vmap_rule = False

    def __init__(self, *args, **kwargs):
        super().__init__()

    def __call__(self, *args, **kwargs):
        raise RuntimeError("Legacy autograd function with non-static forward method is not supported: "
                           f"call {type(self).__name__}.apply(...), with static methods forward and backward")

    @staticmethod
    def forward(*args, **kwargs):
        raise NotImplementedError("You must implement the forward function for custom autograd.Function: "
                                  "a static method forward(ctx, *args), or forward(*args) with setup_context")

    @staticmethod
    def setup_context(ctx, inputs, output):
        """Keep for backward what it needs."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx, *grad_outputs):
        raise NotImplementedError("You must implement either the backward or vjp method for your custom "
                                  "autograd.Function to use it with backward mode AD.")

    vjp = backward

    @staticmethod
    def jvp(ctx, *grad_inputs):
        """Compute the tangents of the results."""
        raise NotImplementedError("You must implement the jvp function for custom autograd.Function to use it with "
                                  "forward mode AD.")

    @staticmethod
    def vmap(info, in_dims, *args):
        """Compute the results for a batch."""
        raise NotImplementedError("To use autograd.Function with vmap, you must either override the vmap staticmethod "
                                  "or set generate_vmap_rule=True.")

    @classmethod
    def apply(cls, *args, **kwargs):
        if cls.setup_context is not Function.setup_context:
            args = cls._bind(args, kwargs)
        elif kwargs:
            args = cls._bind((None, *args), kwargs)[1:]
        for arg in args:
            if is_sparse(arg) and arg.requires_grad and modes.is_recording():
                raise NotImplementedError(f"{cls.__name__}: got a sparse tensor that requires grad, expected one that "
                                          "does not: its history is that of its values; pass these, and make the "
                                          "sparse tensor in forward")
        results = super().apply(*args)
        if modes.is_recording() and any(isinstance(arg, _C.Tensor) and arg.requires_grad for arg in args):
            for result in results if isinstance(results, tuple) else (results,):
                if is_sparse(result) and not result.requires_grad and result.dtype.is_floating_point:
                    raise NotImplementedError(f"{cls.__name__}: got a sparse result of forward, expected strided ones: "
                                              "the history of a sparse tensor is that of its values; return these")
        return results

    @classmethod
    def _bind(cls, args, kwargs):
        """Return all arguments by position, with the defaults of those that are missing."""
        signature = cls.__dict__.get("_signature")
        if signature is None:  # kept, since finding it takes longer than most forwards
            cls._signature = signature = inspect.signature(cls.forward)
        if not kwargs and len(args) == len(signature.parameters):
            return args
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return bound.args

    @classmethod
    def _compute(cls, ctx, args, kwargs):
        if cls.setup_context is Function.setup_context:
            return cls.forward(ctx, *args)
        results = cls.forward(*args)
        cls.setup_context(ctx, args, results)
        return results

    @classmethod
    def _differentiate(cls, ctx, grads):
        for who in beneath:
            grads = who.revive(list(grads))
        if cls.vjp is not Function.vjp:
            if cls.backward is not Function.backward:
                raise RuntimeError("Implementing both 'backward' and 'vjp' for a custom Function is not allowed. "
                                   f"You should only implement one of them; {cls.__name__} has both.")
            return cls.vjp(ctx, *grads)
        return cls.backward(ctx, *grads)

    @classmethod
    def _record(cls, ctx, args, outputs, results):
        super()._record(ctx, args, outputs, results)
        for output in outputs:
            if _C.is_stand_in(output):
                raise RuntimeError("Function: got a stand-in for slices of a batch, expected the slices themselves")
            node = _node_of(output) if isinstance(output, _C.Tensor) else None
            if node is not None:
                CONTEXTS[hash(node)] = ctx
                break


_node_of = _C.Tensor.grad_fn.__get__
_SingleLevelFunction = Function


def _is_setup_context_defined(fn):
    """Return whether a function is a `setup_context` of somebody's own."""
    return fn is not Function.setup_context


def once_differentiable(fn):
    """Decorate a backward that cannot be differentiated itself: a second derivative through it is an error."""
    @functools.wraps(fn)
    def wrapper(ctx, *args):
        recording = modes.is_recording()
        with ExitStack() as exits:
            exits.switch(modes.set_recording, False)
            outputs = fn(ctx, *args)
        needing = [arg for arg in args if isinstance(arg, _C.Tensor) and arg.requires_grad]
        if not recording or not needing:
            return outputs
        alone = not isinstance(outputs, tuple)
        fresh = [item if item is None else item.detach() for item in ([outputs] if alone else outputs)]

        def fail(node, *grads):
            raise RuntimeError("trying to differentiate twice a function that was marked with @once_differentiable")
        _C.record("DelayedErrorBackward", fail, needing, fresh)
        return fresh[0] if alone else tuple(fresh)
    return wrapper


class InplaceFunction(Function):
    """A Function that may write to its arguments; kept for old code."""

    def __init__(self, inplace=False):
        super().__init__()
        self.inplace = inplace

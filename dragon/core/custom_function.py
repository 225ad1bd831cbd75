"""Functions whose gradient is Python code."""
from dragon import _C
from dragon.core import modes
from dragon.core.scopes import ExitStack

FREED = ("Trying to backward through the graph a second time (or directly access saved tensors after they have already "
         "been freed): an earlier backward pass freed them; pass retain_graph=True to that one")


class Context:
    """The things that a Function's forward leaves for its backward."""

    def __init__(self):
        self.needs_input_grad = ()
        self._kept = ()
        self._dirty = ()
        self._constant = ()
        self._materialize = True
        self._node = None

    def save_for_backward(self, *tensors):
        """Keep arguments or results; a later write to one of them makes the backward pass an error."""
        self._kept = tensors

    def mark_dirty(self, *tensors):
        """Say which arguments forward has written to. They must be among its results."""
        self._dirty = tensors

    def mark_non_differentiable(self, *tensors):
        """Say which results carry no gradient."""
        self._constant = tensors

    def set_materialize_grads(self, value):
        """Say whether backward sees zeros (True, the default) or None for results that nothing depended on."""
        self._materialize = value

    @property
    def saved_tensors(self):
        """The tensors given to `save_for_backward`."""
        if self._kept is None:
            raise RuntimeError(FREED)
        return tuple(kept.unpack(self._node) if isinstance(kept, _C.SavedTensor) else kept for kept in self._kept)

    def _release(self):
        """Let go of what was saved, once a backward pass has used it."""
        if self._kept:
            self._kept = None


def is_among(tensor, others):
    """Return whether a tensor is one of these objects."""
    return any(tensor is other for other in others)


def make_zeros(shape, dtype, device, tensor_class):
    """Return zeros that take the memory of one."""
    return _C.tensor(0, dtype.name, str(device), tensor_class).expand(tuple(shape))


class Function:
    """Subclass it with static methods `forward(ctx, *args)` and `backward(ctx, *grads)`, and call `apply(*args)`.

    `backward` gets one gradient for each result of `forward` and returns one for each of its arguments: None for those
    that are no tensors or need none.

    Examples
    --------
    >>> class Double(dragon.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         return x * 2
    ...     @staticmethod
    ...     def backward(ctx, dy):
    ...         return dy * 2
    >>> Double.apply(dragon.tensor(2.0))
    Tensor(4.)

    """

    context_class = Context

    @staticmethod
    def forward(ctx, *args, **kwargs):
        """Compute the results."""
        raise NotImplementedError("Function: got no forward, expected a static method forward(ctx, *args)")

    @staticmethod
    def backward(ctx, *grads):
        """Compute the gradients of the arguments."""
        raise NotImplementedError("Function: got no backward, expected a static method backward(ctx, *grads)")

    @classmethod
    def apply(cls, *args, **kwargs):
        """Return the results of `forward`, recorded for `backward`."""
        ctx = cls.context_class()
        ctx.needs_input_grad = tuple([isinstance(arg, _C.Tensor) and arg.requires_grad for arg in args])
        recording = modes.is_recording() and any(ctx.needs_input_grad)
        with ExitStack() as exits:
            exits.switch(modes.set_recording, False)
            results = cls._compute(ctx, args, kwargs)
        if not recording:
            return results
        if any(tensor.is_leaf and tensor.requires_grad for tensor in ctx._dirty):
            raise RuntimeError(f"{cls.__name__}: a leaf that requires grad was written in place; "
                               "expected no_grad() around it, or a tensor that was computed")
        alone = not isinstance(results, (tuple, list))
        # A result that is an untouched argument needs a history of its own.
        outputs = [result.detach() if isinstance(result, _C.Tensor) and is_among(result, args)
                   and not is_among(result, ctx._dirty) else result for result in ([results] if alone else results)]
        cls._record(ctx, args, outputs, [results] if alone else results)
        return outputs[0] if alone else tuple(outputs)

    @classmethod
    def _compute(cls, ctx, args, kwargs):
        """Run forward; frontends with another form of it have their own."""
        return cls.forward(ctx, *args, **kwargs)

    @classmethod
    def _differentiate(cls, ctx, grads):
        """Run backward; frontends with another form of it have their own."""
        return cls.backward(ctx, *grads)

    @classmethod
    def _record(cls, ctx, args, outputs, results):
        """Stand `backward` behind the outputs."""
        positions = [index for index, arg in enumerate(args) if isinstance(arg, _C.Tensor)]
        traced = [result if isinstance(result, _C.Tensor) and not is_among(original, ctx._constant) else None
                  for result, original in zip(outputs, results)]
        arguments = {id(kept): _C.SavedTensor(kept) for kept in ctx._kept
                     if isinstance(kept, _C.Tensor) and not is_among(kept, results)}
        likes = [(result.shape, result.dtype, result.device, type(result)) if isinstance(result, _C.Tensor) else None
                 for result in results]

        def backward(node, *grads):
            if ctx._materialize:
                grads = [make_zeros(*like) if grad is None and like is not None else grad
                         for grad, like in zip(grads, likes)]
            ctx._node = node
            try:
                found = cls._differentiate(ctx, grads)
            finally:
                ctx._node = None  # the node owns this function: holding it would keep both for ever
            return pick_gradients(cls.__name__, found, positions, len(args))

        backward.release = ctx._release
        _C.record(cls.__name__ + "Backward", backward, [args[index] for index in positions], traced)
        # Results are kept without their history, which is the node that keeps them.
        ctx._kept = tuple(arguments.get(id(kept)) or _C.SavedTensor(kept, True) if isinstance(kept, _C.Tensor) else kept
                          for kept in ctx._kept)


def pick_gradients(who, found, positions, count):
    """Return the gradients of the tensors among `count` arguments, from what a backward has returned."""
    found = found if isinstance(found, (tuple, list)) else (found,)
    if len(found) < count or any(extra is not None for extra in found[count:]):
        raise RuntimeError(f"{who}.backward: expected one gradient for each argument of forward: function "
                           f"{who}Backward returned an incorrect number of gradients (expected {count}, got "
                           f"{len(found)})")
    places = set(positions)
    for index, gradient in enumerate(found[:count]):
        if gradient is not None and index not in places:
            raise RuntimeError(f"{who}.backward: returned a gradient different from None at position {index + 1}, "
                               "where forward got no tensor")
    return [found[index] for index in positions]

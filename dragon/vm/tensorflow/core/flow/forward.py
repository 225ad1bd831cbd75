"""`tf.autodiff.ForwardAccumulator`: derivatives in a direction."""
from dragon import _C
from dragon.core import modes
from dragon.core.scopes import ExitStack, Scope
from dragon.vm.shared import nest
from dragon.vm.shared.recording.tape import GradientTape, UnconnectedGradients
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.tensor import as_tensor, ops


class ForwardAccumulator(Scope):
    """Derivatives of what is computed within a `with` block, in a direction.

    They are found by differentiating twice backwards: first with respect to the primals, then with respect to what
    that was multiplied with.

    Parameters
    ----------
    primals : Any
        Tensors or variables.
    tangents : Any
        The direction: tensors of their shapes.

    """

    def __init__(self, primals, tangents):
        nest.assert_same_structure(primals, tangents, check_types=False)
        self._primals = nest.flatten(primals)
        self._tangents = [convert_to_tensor(tangent) for tangent in nest.flatten(tangents)]
        for primal, tangent in zip(self._primals, self._tangents):
            if not hasattr(primal, "shape"):
                raise TypeError(f"ForwardAccumulator: got {primal!r} among primals, expected tensors and variables")
            if tuple(primal.shape) != tuple(tangent.shape) or primal.dtype != tangent.dtype:
                raise ValueError(f"Expected a tangent of the primal's shape and dtype. Received: {primal!r} and "
                                 f"{tangent!r}")
        self._tape = GradientTape(persistent=True)

    def _enter_scope(self, exits):
        """Record from now on."""
        exits.enter(self._tape)
        self._tape.watch(self._primals)
        return self

    def jvp(self, primals, unconnected_gradients=UnconnectedGradients.NONE):
        """Return the derivatives of tensors in the direction.

        Parameters
        ----------
        primals : Any
            What was computed within the block.
        unconnected_gradients : UnconnectedGradients, optional
            None or zeros, where nothing depends on the primals.

        Returns
        -------
        Any
            In the form of `primals`.

        """
        unconnected = UnconnectedGradients(unconnected_gradients)
        return nest.map_structure(lambda item: self._along(item, unconnected), primals)

    def _along(self, result, unconnected):
        found = None
        with ExitStack() as stack:
            self._tape.record_again(stack)
            stack.switch(modes.set_recording, True)
            if isinstance(result, _C.Tensor) and result.requires_grad:
                found = self._differentiate(result)
        if found is None and unconnected is UnconnectedGradients.ZERO:
            return ops.zeros_like(result.detach())
        return found

    def _differentiate(self, result):
        factor = ops.zeros_like(result.detach())
        factor.requires_grad = True
        backward = _C.grad([result], self._primals, [factor], True, True, True)
        pairs = [(grad, tangent) for grad, tangent in zip(backward, self._tangents)
                 if grad is not None and grad.requires_grad]
        if not pairs:
            return None
        grads, tangents = zip(*pairs)
        found, = _C.grad(list(grads), [factor], list(tangents), True, False, True)
        return None if found is None else as_tensor(found)

"""Gradients of whatever a tape has watched."""
import threading

from dragon import _C, ops
from dragon.core import modes
from dragon.core.refusals import refusing
from dragon.core.gradients import as_list
from dragon.core.scopes import Scope, scope

_local = threading.local()


class GradientTape(Scope):
    """Record what happens to watched tensors, and differentiate it.

    Parameters
    ----------
    persistent : bool, optional, default=False
        Whether `gradient` may be called more than once.

    Examples
    --------
    >>> x = dragon.tensor(3.0)
    >>> with dragon.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = x * x
    >>> tape.gradient(y, x)
    Tensor(6.)

    """

    def __init__(self, persistent=False):
        self.persistent = persistent
        self._used = False
        self._watched = []

    def _enter_scope(self, exits):
        """Record from now on."""
        exits.callback(_ask_no_more, self._watched)
        exits.switch(modes.set_recording, True)
        exits.push(_stack(), self)
        return self

    def watch(self, *tensors):
        """Record what happens to tensors that do not ask for gradients themselves."""
        for tensor in tensors:
            for item in as_list(tensor):
                if not item.requires_grad:
                    self._watched.append(item)
                    item.requires_grad = True

    @refusing
    def gradient(self, target, sources, output_gradients=None):
        """Return the gradients of a target with respect to sources: None where nothing flows.

        Parameters
        ----------
        target : Union[Tensor, Sequence[Tensor]]
            What is differentiated; of several, the sum.
        sources : Union[Tensor, Sequence[Tensor]]
            With respect to what.
        output_gradients : Union[Tensor, Sequence[Tensor]], optional
            Gradients of something with respect to the target; ones by default.

        Returns
        -------
        Union[Tensor, List[Optional[Tensor]]]
            In the form of `sources`.

        """
        if self._used and not self.persistent:
            raise RuntimeError("GradientTape: got a second call of gradient, expected persistent=True")
        self._used = True
        targets = as_list(target)
        grads = as_list(output_gradients) or [ops.ones_like(item.detach()) for item in targets]
        pairs = [(y, dy) for y, dy in zip(targets, grads, strict=True) if y.requires_grad]
        found = [None] * len(as_list(sources))
        if pairs:
            # Under another tape, the gradients themselves are part of what that tape records.
            nested = bool(_stack())
            ys, dys = zip(*pairs)
            with _asking(self._watched):
                known = [index for index, x in enumerate(as_list(sources)) if x.requires_grad]
                grads = _C.grad(ys, [as_list(sources)[index] for index in known], dys, self.persistent or nested,
                                nested, True)
            for index, dx in zip(known, grads):
                found[index] = dx
        return list(found) if isinstance(sources, (list, tuple)) else found[0]


@scope
def _asking(stack, tensors):
    """Have tensors ask for gradients within a block, as they did while the tape watched them."""
    changed = [tensor for tensor in tensors if not tensor.requires_grad]
    stack.callback(_ask_no_more, changed)
    for tensor in changed:
        tensor.requires_grad = True


def _ask_no_more(tensors):
    for tensor in tensors:
        tensor.requires_grad = False


def _stack():
    """Return this thread's tapes, the innermost last."""
    if not hasattr(_local, "stack"):
        _local.stack = []
    return _local.stack

"""Functions and modules whose forward and backward passes are graphs."""
from dragon.vm.torch.autograd.function import Function
from dragon.vm.torch.core.gradients import grad
from dragon.vm.torch.core.tensor import Tensor
from dragon.vm.torch.cuda.graphs import CUDAGraph, graph, graph_pool_handle
from dragon.vm.torch.cuda.streams import Stream, current_stream, stream
from dragon.vm.torch.nn.modules.module import Module


class Graphed:
    """The two graphs of a callable, and the tensors in fixed places that they read and write.

    Parameters
    ----------
    callable : Callable
        A function of tensors.
    args : tuple of Tensor
        What it is called with; they stay as the places of later arguments.
    parameters : tuple of Tensor
        What else it reads and differentiates by.
    allow_unused : bool
        Whether inputs may have no gradient.

    """

    def __init__(self, callable, args, parameters, allow_unused):
        self.callable, self.args, self.inputs = callable, args, (*args, *parameters)
        self.wanted = tuple(each for each in self.inputs if each.requires_grad)
        self.allow_unused = allow_unused
        self.forward, self.backward = CUDAGraph(), CUDAGraph()

    def call(self):
        """Run the callable; return its results as a tuple."""
        made = self.callable(*self.args)
        self.is_single = isinstance(made, Tensor)
        return (made,) if self.is_single else tuple(made)

    def differentiate(self, outputs, grads):
        """Return the gradients of what asks for them."""
        asked = [output for output in outputs if output.requires_grad]
        if not (asked and self.wanted):
            return ()
        return grad(asked, self.wanted, grads, allow_unused=self.allow_unused)

    def warm_up(self, count):
        """Run it some times without noting down, so that nothing is done for the first time later."""
        for _ in range(count):
            outputs = self.call()
            self.differentiate(outputs, [each.new_empty(each.shape) for each in outputs if each.requires_grad])

    def note(self, pool):
        """Note the forward pass down, and keep what comes out."""
        with graph(self.forward, pool=pool):
            self.outputs = self.call()

    def note_backward(self, pool):
        """Note the backward pass down."""
        self.given = [each.new_empty(each.shape) if each.requires_grad else None for each in self.outputs]
        with graph(self.backward, pool=pool):
            found = self.differentiate(self.outputs, [each for each in self.given if each is not None])
        found = iter(found)
        self.found = tuple(next(found, None) if each.requires_grad else None for each in self.inputs)
        self.outputs = tuple(each.detach() for each in self.outputs)

    def replaying(self):
        """Return a function of the arguments that replays."""
        whole = self

        class Replay(Function):
            @staticmethod
            def forward(ctx, *inputs):
                for place, given in zip(whole.args, inputs):
                    if place.data_ptr() != given.data_ptr():
                        place.detach().copy_(given)
                whole.forward.replay()
                return tuple(each.detach() for each in whole.outputs)

            @staticmethod
            def backward(ctx, *grads):
                for place, given in zip(whole.given, grads):
                    if place is not None and given is not None and place.data_ptr() != given.data_ptr():
                        place.copy_(given)
                whole.backward.replay()
                return tuple(None if each is None else each.detach() for each in whole.found)

        def replay(*args):
            made = Replay.apply(*args, *whole.inputs[len(whole.args):])
            return made[0] if whole.is_single else made
        return replay


def _refuse_unfit(callable):
    if isinstance(callable, Module):
        if callable._backward_hooks or callable._forward_hooks or callable._forward_pre_hooks:
            raise RuntimeError("Modules must not have hooks registered at the time they are passed. However, "
                               "registering hooks on modules after passing them through make_graphed_callables is "
                               "allowed.")
        if any(buffer.requires_grad for buffer in callable.buffers()):
            raise RuntimeError("In any module passed to make_graphed_callables, only parameters may be trainable. All "
                               "buffers must have requires_grad=False.")


def _installed(callable, replay):
    """Have a module replay while it is in the mode in which it was noted down; return what is to be called."""
    if not isinstance(callable, Module):
        return replay
    usual, mode = callable.forward, callable.training

    def forward(*args):
        return replay(*args) if callable.training == mode else usual(*args)
    callable.forward = forward
    return callable


def make_graphed_callables(callables, sample_args, num_warmup_iters=3, allow_unused_input=False, pool=None):
    """Return functions or modules whose forward and backward passes are replayed as graphs.

    Parameters
    ----------
    callables : Union[Callable, tuple]
        A function or module of tensors, or several in the order in which they will run.
    sample_args : tuple
        The tensors that it is called with, or a tuple of them for each one of several.
    num_warmup_iters : int, optional, default=3
        Runs before the capture.
    allow_unused_input : bool, optional, default=False
        Whether inputs may have no gradient.
    pool : tuple, optional
        The token of memory to share with another graph.

    Returns
    -------
    Union[Callable, tuple]
        What replays: modules are changed in place.

    """
    is_single = not isinstance(callables, tuple)
    if is_single:
        callables, sample_args = (callables,), (sample_args,)
    pool, parts, side = graph_pool_handle() if pool is None else pool, [], Stream()
    for each, args in zip(callables, sample_args, strict=True):
        _refuse_unfit(each)
        parameters = tuple(each.parameters()) if isinstance(each, Module) else ()
        parts.append(Graphed(each, tuple(args), parameters, allow_unused_input))
    side.wait_stream(current_stream())
    with stream(side):
        for part in parts:
            part.warm_up(num_warmup_iters)
    current_stream().wait_stream(side)
    for part in parts:
        part.note(pool)
    for part in reversed(parts):
        part.note_backward(pool)
    made = tuple(_installed(each, part.replaying()) for each, part in zip(callables, parts))
    return made[0] if is_single else made

"""Gradients that a program defines itself: `tf.custom_gradient` and what is built on it."""
import functools
import inspect

from dragon import _C
from dragon.core import modes
from dragon.vm.shared import nest
from dragon.vm.shared.recording.tape import GradientTape
from dragon.vm.shared.tensors.convert import brought, convert_to_tensor
from dragon.vm.shared.tensors.tensor import Tensor, as_tensor, ops


def _is_inexact(x):
    if not isinstance(x, _C.Tensor):
        return False
    dtype = _C.Tensor.dtype.__get__(x)  # a variable of Keras's says a name
    return dtype.is_floating_point or dtype.is_complex


def _variables_behind(outputs, arguments):
    """Return the leaves that recorded tensors were computed from other than through the arguments."""
    found, stack = [], [output.grad_fn for output in outputs if output.grad_fn is not None]
    seen = {item.grad_fn for item in arguments if _is_inexact(item) and item.grad_fn is not None}
    names = {id(item) for item in arguments}
    while stack:
        node = stack.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        leaf = getattr(node, "variable", None)
        if leaf is None:
            stack.extend(following for following, _ in node.next_functions)
        elif id(leaf) not in names:
            names.add(id(leaf))
            found.append(leaf)
    return found


def _alias(x):
    """Return a tensor that stands for an argument: what else is found behind a result is a variable.

    Variables stand for themselves, as code may ask for their class.
    """
    return ops.view(x, tuple(x.shape)) if type(x) is Tensor and x.requires_grad else x


def _detached(x):
    return x.detach() if type(x) is Tensor else x


class _Backward:
    """The entry on the tape for a function with its own gradient."""

    def __init__(self, name, grad_fn, inputs, variables, outputs, template):
        self.name, self.grad_fn, self.count, self.variables = name, grad_fn, len(inputs), variables
        self.outputs, self.template = [(tuple(y.shape), y.dtype) for y in outputs], template
        self.places = [x.device for x in (*inputs, *variables)]

    def __call__(self, node, *grads):
        grads = [ops.zeros(shape, dtype=dtype) if grad is None else as_tensor(grad)
                 for grad, (shape, dtype) in zip(grads, self.outputs)]
        if self.variables:
            found, of_variables = self.grad_fn(*grads, variables=self.variables)
        else:
            found, of_variables = self.grad_fn(*grads), []
        flat = [None] * self.count if found is None else nest.flatten(found)
        if len(flat) != self.count:
            raise ValueError(f"custom_gradient function expected to return {self.count} gradients, but returned "
                             f"{len(flat)} instead.")
        of_variables = nest.flatten(of_variables)
        if len(of_variables) != len(self.variables):
            raise ValueError(f"custom_gradient function expected to return {len(self.variables)} gradients of "
                             f"variables, but returned {len(of_variables)} instead.")
        return [None if grad is None else brought(convert_to_tensor(grad), place)
                for grad, place in zip((*flat, *of_variables), self.places)]


def custom_gradient(f=None):
    """Have a function say itself what its gradient is.

    Parameters
    ----------
    f : Callable
        Returns a result and a function: gradients with respect to the result's tensors in, gradients with respect to
        the function's arguments out. If `f` uses variables, that function takes `variables=` and returns their
        gradients as a second list.

    Returns
    -------
    Callable
        Called as `f`; gives the result alone.

    Examples
    --------
    >>> @tf.custom_gradient
    ... def clipped(x):
    ...     return x, lambda grad: tf.clip_by_value(grad, -1.0, 1.0)
    >>> x = tf.constant(2.0)
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = 100.0 * clipped(x)
    >>> tape.gradient(y, x).numpy()
    np.float32(1.0)

    """
    if f is None:
        return custom_gradient

    @functools.wraps(f)
    def decorated(*args, **kwargs):
        args = nest.map_structure(lambda item: item if isinstance(item, _C.Tensor) else convert_to_tensor(item),
                                  list(args), check_types=False)
        inputs = nest.flatten(args)
        recording = modes.records(*inputs)
        if not recording:
            return f(*args, **kwargs)[0]
        stand_ins = [_alias(item) for item in inputs]
        result, grad_fn = f(*nest.pack_sequence_as(args, stand_ins), **kwargs)
        outputs = [convert_to_tensor(item) for item in nest.flatten(result)]
        variables = _variables_behind(outputs, stand_ins)
        if not any(_is_inexact(item) and item.requires_grad for item in (*inputs, *variables)):
            return nest.pack_sequence_as(result, [as_tensor(item.detach()) for item in outputs])
        if variables and not _takes_variables(grad_fn):
            raise TypeError("If using @custom_gradient with a function that uses variables, then grad_fn must accept a "
                            f"'variables' keyword argument. Received: {grad_fn!r}")
        fresh = [as_tensor(item.detach()) for item in outputs]
        name = getattr(f, "__name__", "custom_gradient")
        backward = _Backward(name, grad_fn, inputs, variables, fresh, result)
        _C.record(name, backward, [*inputs, *variables], fresh)
        return nest.pack_sequence_as(result, fresh)
    return decorated


def _takes_variables(function):
    parameters = inspect.signature(function).parameters.values()
    return any(parameter.name == "variables" or parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)


def grad_pass_through(f):
    """Have gradients pass a function as if it returned its argument.

    Parameters
    ----------
    f : Callable
        Whose result has the shape of its argument.

    Returns
    -------
    Callable
        The same function with another gradient.

    """
    @custom_gradient
    def passing(*args, **kwargs):
        def grad(*dys, variables=None):
            grads = dys[0] if len(dys) == 1 else list(dys)
            return (grads, [None] * len(variables)) if variables is not None else grads
        return f(*args, **kwargs), grad

    @functools.wraps(f)
    def decorated(*args, **kwargs):
        return passing(*args, **kwargs)
    return decorated


def recompute_grad(f):
    """Have a function run again for its gradient, instead of keeping what that needs.

    Parameters
    ----------
    f : Callable
        A function that returns the same for the same arguments.

    Returns
    -------
    Callable
        Called as `f`.

    """
    @custom_gradient
    def recomputing(*args, **kwargs):
        result = f(*args, **kwargs)

        def grad(*dys, variables=None):
            variables = list(variables or ())
            # Where nobody records, a view has no history of its own that a tape could begin.
            alias = _alias if modes.is_recording() else _detached
            inputs = [alias(item) for item in nest.flatten(list(args))]
            floats = [item for item in inputs if _is_inexact(item)]
            with GradientTape() as tape:
                tape.watch(floats)
                again = f(*nest.pack_sequence_as(list(args), inputs), **kwargs)
            found = tape.gradient(again, floats + variables, output_gradients=list(dys))
            by_input = iter(found)
            of_inputs = [next(by_input) if _is_inexact(item) else None for item in inputs]
            return (of_inputs, list(by_input)) if variables else of_inputs
        return result, grad

    @functools.wraps(f)
    def decorated(*args, **kwargs):
        return recomputing(*args, **kwargs)
    return decorated

"""Jacobians, Hessians and their products with vectors, of functions of tensors."""
from dragon import _C
from dragon.vm.torch.autograd.grad_mode import enable_grad
from dragon.vm.torch.core.exporting.tracing_state import fall_back_to_engine
from dragon.vm.torch.core.tensor import Tensor, ops


def vjp(func, inputs, v=None, create_graph=False, strict=False):
    """Return (outputs, products of a vector with the Jacobian).

    Parameters
    ----------
    v : Union[Tensor, Tuple[Tensor, ...]], optional
        In the form of the outputs; 1 for a single output of one element.

    Returns
    -------
    Tuple[Union[Tensor, Tuple[Tensor, ...]], Union[Tensor, Tuple[Tensor, ...]]]
        The outputs, and the products in the form of the inputs.

    """
    with enable_grad():
        run = _Run("vjp", func, inputs, create_graph, strict)
        vector = run.check_vector(v, run.outputs, run.several_outputs, "the user-provided function returns")
        grads = run.grad(run.outputs, run.inputs, vector, create_graph)
        found = run.fill(grads, run.inputs, "vjp")
    return run.finish(run.outputs, run.several_outputs), run.finish(found, run.several_inputs)


def jvp(func, inputs, v=None, create_graph=False, strict=False):
    """Return (outputs, products of the Jacobian with a vector), by differentiating backward twice. ...

    Returns
    -------
    Tuple[Union[Tensor, Tuple[Tensor, ...]], Union[Tensor, Tuple[Tensor, ...]]]
        The outputs, and the products in their form.

    """
    with enable_grad():
        run = _Run("jvp", func, inputs, create_graph, strict)
        vector = run.check_vector(v, run.inputs, run.several_inputs, "the input to the user-provided function is")
        zeros = tuple(ops.zeros_like(item).requires_grad_() for item in run.outputs)
        grads = run.fill(run.grad(run.outputs, run.inputs, zeros, True), run.inputs, "jvp")
        found = run.fill(run.grad(grads, zeros, vector, create_graph), run.outputs, "jvp")
    return run.finish(run.outputs, run.several_outputs), run.finish(found, run.several_outputs)


def jacobian(func, inputs, create_graph=False, strict=False, vectorize=False, strategy="reverse-mode"):
    """Return the Jacobian of a function: for every output and input, a tensor with the axes of both.

    Parameters
    ----------
    strategy : str, optional, default="reverse-mode"
        "forward-mode" is accepted with `vectorize`; the numbers are the same.

    Returns
    -------
    Union[Tensor, Tuple]
        Nested by outputs, then by inputs, where there are several.

    """
    if strategy not in ("reverse-mode", "forward-mode"):
        raise AssertionError(f"jacobian: got strategy={strategy!r}, expected 'reverse-mode' or 'forward-mode'")
    if strategy == "forward-mode":
        if create_graph:
            raise NotImplementedError("jacobian: got create_graph=True with strategy='forward-mode', expected "
                                      "'reverse-mode'")
        if not vectorize:
            raise NotImplementedError("jacobian: got vectorize=False with strategy='forward-mode', expected True")
    if strict and vectorize:
        raise RuntimeError("jacobian: got strict=True and vectorize=True, expected one of them")
    with enable_grad():
        run = _Run("jacobian", func, inputs, create_graph, strict)
        rows = [_jacobian_of(run, output, create_graph) for output in run.outputs]
    rows = [run.finish(row, run.several_inputs) for row in rows]
    return tuple(rows) if run.several_outputs else rows[0]


def _jacobian_of(run, output, create_graph):
    """Return the Jacobian of one output: a tensor for each input."""
    parts = [[] for _ in run.inputs]
    flat = ops.reshape(output, (-1,))
    for index in range(flat.numel()):
        row = run.fill(run.grad((flat[index],), run.inputs, None, create_graph), run.inputs, "jacobian")
        for part, item in zip(parts, row):
            part.append(item)
    return [ops.reshape(ops.stack(part), (*output.shape, *item.shape)) if part
            else ops.zeros((*output.shape, *item.shape), dtype=output.dtype) for part, item in zip(parts, run.inputs)]


def hessian(func, inputs, create_graph=False, strict=False, vectorize=False, outer_jacobian_strategy="reverse-mode"):
    """Return the Hessian of a function with one output of one element.

    Parameters
    ----------
    func : Callable
        From tensors to a tensor of one element.
    outer_jacobian_strategy : str, optional, default="reverse-mode"
        As `strategy` of `jacobian`.

    Returns
    -------
    Union[Tensor, Tuple[Tuple[Tensor, ...], ...]]
        Nested by inputs twice, where there are several.

    """
    several = isinstance(inputs, (tuple, list))

    def gradients(*items):
        run = _Run("hessian", func, items, True, strict, own=False)
        _one_element("hessian", run)
        return tuple(run.fill(run.grad(run.outputs, items, None, True), items, "hessian"))
    found = jacobian(gradients, tuple(inputs) if several else (inputs,), create_graph, strict, vectorize,
                     outer_jacobian_strategy)
    return found if several else found[0][0]


def hvp(func, inputs, v=None, create_graph=False, strict=False):
    """Return (output, product of the Hessian with a vector), for a function with an output of one element. ..."""
    with enable_grad():
        run = _Run("hvp", func, inputs, True, strict)
        vector = run.check_vector(v, run.inputs, run.several_inputs, "the input to the user-provided function is")
        _one_element("hvp", run)
        first = run.fill(run.grad(run.outputs, run.inputs, None, True), run.inputs, "hvp")
        zeros = tuple(ops.zeros_like(item).requires_grad_() for item in run.inputs)
        second = run.fill(run.grad(first, run.inputs, zeros, True), run.inputs, "hvp")
        found = run.fill(run.grad(second, zeros, vector, create_graph), run.inputs, "hvp")
        run.create_graph = create_graph
    return run.finish(run.outputs, run.several_outputs), run.finish(found, run.several_inputs)


def vhp(func, inputs, v=None, create_graph=False, strict=False):
    """Return (output, product of a vector with the Hessian), for a function with an output of one element. ..."""
    with enable_grad():
        run = _Run("vhp", func, inputs, True, strict)
        vector = run.check_vector(v, run.inputs, run.several_inputs, "the input to the user-provided function is")
        _one_element("vhp", run)
        first = run.fill(run.grad(run.outputs, run.inputs, None, True), run.inputs, "vhp")
        found = run.fill(run.grad(first, run.inputs, vector, create_graph), run.inputs, "vhp")
        run.create_graph = create_graph
    return run.finish(run.outputs, run.several_outputs), run.finish(found, run.several_inputs)


def _one_element(who, run):
    """Raise unless the function has returned one tensor of one element."""
    if run.several_outputs:
        raise RuntimeError(f"The function given to {who} should return a single Tensor")
    if run.outputs[0].numel() != 1:
        raise RuntimeError(f"The Tensor returned by the function given to {who} should contain a single element")


class _Run:
    """A call of the function whose derivatives are wanted, with its inputs and outputs as tuples."""

    def __init__(self, who, func, inputs, create_graph, strict, own=True):
        fall_back_to_engine()
        self.who, self.create_graph, self.strict = who, create_graph, strict
        self.several_inputs = isinstance(inputs, (tuple, list))
        self.inputs = self.tensors(inputs if self.several_inputs else (inputs,), "inputs")
        if own:
            self.inputs = tuple(map(self.prepare, self.inputs))
        outputs = func(*self.inputs)
        self.several_outputs = isinstance(outputs, (tuple, list))
        self.outputs = self.tensors(outputs if self.several_outputs else (outputs,), "outputs of the function")
        if strict:
            for index, item in enumerate(self.outputs):
                if not item.requires_grad:
                    raise RuntimeError(f"{who}: output {index} of the function does not require gradients. The outputs "
                                       "must be computed in a differentiable manner from the input in strict mode.")

    def tensors(self, items, what):
        for item in items:
            if not isinstance(item, Tensor):
                raise TypeError(f"The {what} given to {self.who} must be either a Tensor or a tuple of Tensors but got "
                                f"{type(item).__name__}")
        return tuple(items)

    def prepare(self, item):
        """Return what the function gets for an input: part of the caller's graph only if that is wanted."""
        if self.create_graph and item.requires_grad:
            return item.view_as(item)
        return item.detach().requires_grad_()

    def check_vector(self, v, like, several, what):
        """Return the vector as a tuple; the only one there can be if there is one element."""
        if v is None:
            if several or like[0].numel() != 1:
                raise RuntimeError(f"The vector v can only be None if {what} a single Tensor with a single element.")
            return tuple(ops.ones_like(item) for item in like)
        vector = self.tensors(v if isinstance(v, (tuple, list)) else (v,), "v")
        if len(vector) != len(like):
            raise RuntimeError(f"{self.who}: got v with {len(vector)} tensors, expected {len(like)}")
        for index, (item, other) in enumerate(zip(vector, like)):
            if item.shape != other.shape:
                raise RuntimeError(f"v has invalid size: Entry {index} has shape {tuple(item.shape)} and should be "
                                   f"{tuple(other.shape)}")
        return vector if self.create_graph else tuple(item.detach() for item in vector)

    @staticmethod
    def grad(outputs, inputs, vector, create_graph):
        """Return gradients, None where nothing flows."""
        pairs = [(item, None if vector is None else vector[index]) for index, item in enumerate(outputs)
                 if item is not None and item.requires_grad]
        if not pairs:
            return (None,) * len(inputs)
        return _C.grad([item for item, _ in pairs], list(inputs), [given for _, given in pairs], True, create_graph,
                       True)

    def fill(self, grads, like, stage):
        """Put zeros where nothing flows, or raise in strict mode."""
        if self.strict:
            for index, item in enumerate(grads):
                if item is None or (self.create_graph and not item.requires_grad):
                    raise RuntimeError(f"{stage}: the results are independent of input {index}. "
                                       "This is not allowed in strict mode.")
        return tuple(ops.zeros_like(other) if item is None else item for item, other in zip(grads, like))

    def finish(self, items, several):
        """Return a tuple as the caller knows it."""
        done = tuple(items) if self.create_graph else tuple(item.detach() for item in items)
        return done if several else done[0]

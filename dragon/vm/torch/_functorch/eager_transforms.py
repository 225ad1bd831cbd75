"""Derivatives of functions, on the tape.

Every transform gives the function fresh tensors to differentiate by: leaves, or views of what an outer transform (or
the user) differentiates by, so that transforms nest. Results keep a history only if something outside is in it.
"""
import functools

from dragon import _C
from dragon.core import modes
from dragon.core.scopes import Scope
from dragon.vm.torch.core.exporting.tracing_state import fall_back_to_engine
from dragon.vm.torch.core.gradients import told_by_values
from dragon.vm.torch.core.kinds import exchanged, is_of_parts, values_of
from dragon.vm.torch.core.tensor import Tensor, ops
from dragon.vm.torch.utils._pytree import tree_flatten, tree_leaves, tree_map, tree_unflatten

_node_of = _C.Tensor.grad_fn.__get__


class _Level:
    """One transform at work: what it differentiates by, and whether its results are part of a larger graph."""

    def __init__(self, recording):
        self.recording = recording
        self.leaves = []

    def open(self, structure, who):
        """Return a structure with fresh tensors to differentiate by."""
        leaves, spec = tree_flatten(structure)
        return tree_unflatten([self._fresh(leaf, who) for leaf in leaves], spec)

    def _fresh(self, value, who):
        if not isinstance(value, Tensor):
            raise ValueError(f"{who}: Thing passed to transform API must be Tensor, got {type(value)}")
        if value.requires_grad:
            return value.view_as(value)
        if not (value.dtype.is_floating_point or value.dtype.is_complex):
            return value.detach()
        leaf = value.detach().requires_grad_()
        self.leaves.append(leaf)
        return leaf

    def reaches_outside(self, tensors):
        """Return whether the history of tensors has leaves other than this transform's own."""
        if not self.recording:
            return False
        own = {id(leaf) for leaf in self.leaves}
        seen, stack = set(), []
        for tensor in tensors:
            if isinstance(tensor, Tensor) and tensor.requires_grad:
                if tensor.is_leaf:
                    if id(tensor) not in own:
                        return True
                else:
                    stack.append(_node_of(tensor))
        while stack:
            node = stack.pop()
            if node in seen:
                continue
            seen.add(node)
            if node.name() == "accumulate_grad":
                if id(node.variable) not in own:
                    return True
            else:
                stack.extend(following for following, _ in node.next_functions if following is not None)
        return False


class _Transform(Scope):
    """Record within a `with` block; gives a `_Level` that knows whether that was so before."""

    def _enter_scope(self, exits):
        """Record from now on."""
        fall_back_to_engine()
        recorded = modes.is_recording()
        exits.switch(modes.set_recording, True)
        return _Level(recorded)


def _close(structure, outside):
    """Return results without their history, unless something outside is in it."""
    if outside:
        return structure
    return tree_map(lambda item: item.detach() if isinstance(item, Tensor) and item.requires_grad else item, structure)


def _pull(outputs, inputs, vectors, create_graph, retain_graph=True):
    """Return gradients of outputs with respect to inputs; zeros where nothing flows."""
    pairs = [(output, vector) for output, vector in zip(outputs, vectors) if output.requires_grad]
    places = [index for index, item in enumerate(inputs) if item.requires_grad]
    found = [None] * len(inputs)
    if pairs and places:
        wanted = [inputs[index] for index in places]
        told, vectors = told_by_values(*zip(*pairs))
        grads = _C.grad(told, [values_of(item) if is_of_parts(item) else item for item in wanted], vectors,
                        retain_graph, create_graph, True)
        for index, item, grad in zip(places, wanted, grads):
            found[index] = exchanged(item.detach(), grad) if is_of_parts(item) and grad is not None else grad
    return [ops.zeros_like(item.detach()) if grad is None else grad for item, grad in zip(inputs, found)]


def _split_aux(result, who):
    """Return (output, aux) of a function that has both."""
    if not isinstance(result, tuple) or len(result) != 2:
        raise RuntimeError(f"{who}: output of function f should be a tuple: (output, aux) if has_aux is True")
    return result


def _argnums(argnums, count):
    """Return positions of arguments as non-negative numbers; an int stays one."""
    if isinstance(argnums, int):
        if not -count <= argnums < count:
            raise RuntimeError(f"Got argnum={argnums}, but only {count} positional inputs")
        return argnums % count
    if not isinstance(argnums, tuple):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    if not argnums:
        raise RuntimeError("argnums must be non-empty")
    if any(not isinstance(item, int) for item in argnums):
        raise RuntimeError(f"argnum must be int, got: {argnums}")
    found = tuple(_argnums(item, count) for item in argnums)
    if len(set(found)) != len(found):
        raise RuntimeError(f"argnums elements must be unique, got {found}")
    return found


def _choose(args, argnums):
    """Return the chosen argument, or a tuple of the chosen ones."""
    return args[argnums] if isinstance(argnums, int) else tuple(args[index] for index in argnums)


def _replace(args, argnums, chosen):
    """Return arguments with the chosen ones replaced."""
    replaced = list(args)
    for index, value in [(argnums, chosen)] if isinstance(argnums, int) else zip(argnums, chosen):
        replaced[index] = value
    return replaced


def _check_outputs(leaves, who):
    """Raise unless all outputs are tensors."""
    if not leaves or (len(leaves) == 1 and leaves[0] is None):
        raise RuntimeError(f"{who}: Expected f to be a function that has non-empty output (got output = {leaves})")
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise RuntimeError(f"{who}: expected f(*primals) to return only tensors, got unsupported type {type(leaf)}")


def grad_and_value_impl(func, argnums, has_aux, args, kwargs):
    """Return (gradients, value or (value, aux)) of a function with a scalar output."""
    with _Transform() as level:
        argnums = _argnums(argnums, len(args))
        chosen = level.open(_choose(args, argnums), "grad_and_value(f)(*args)")
        output, aux = func(*_replace(args, argnums, chosen), **kwargs), None
        if has_aux:
            output, aux = _split_aux(output, "grad_and_value(f)(*args)")
        if not isinstance(output, Tensor):
            raise RuntimeError("grad_and_value(f)(*args): Expected f(*args) to return a Tensor, got "
                               f"{type(output)}")
        if output.ndim != 0:
            raise RuntimeError("grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got tensor "
                               f"with {output.ndim} dims. Maybe you wanted to use the vjp or jacrev APIs instead?")
        leaves, spec = tree_flatten(chosen)
        outside = level.reaches_outside([output, *tree_leaves(aux)])
        grads = _pull([output], leaves, [None], outside)
        results = tree_unflatten(grads, spec), (output, aux) if has_aux else output
    return _close(results, outside)


def vjp(func, *primals, has_aux=False):
    """Return the value of a function, and a function that multiplies vectors with its Jacobian.

    Parameters
    ----------
    *primals : Any
        Where: structures of tensors.

    Returns
    -------
    Tuple
        The output, a function of the output's structure that returns one result per argument, and aux if there is.

    """
    found = vjp_with_argnums(func, primals, None, has_aux)
    return found if has_aux else found[:2]


def vjp_with_argnums(func, args, argnums, has_aux):
    """Return (output, vjp function, aux), by all arguments or by chosen ones."""
    with _Transform() as level:
        chosen = level.open(args if argnums is None else _choose(args, argnums), "vjp(f, *primals)")
        output, aux = func(*(chosen if argnums is None else _replace(args, argnums, chosen))), None
        if has_aux:
            output, aux = _split_aux(output, "vjp(f, *primals)")
        outputs, output_spec = tree_flatten(output)
        _check_outputs(outputs, "vjp(f, *primals)")
        for item in outputs:
            if not (item.dtype.is_floating_point or item.dtype.is_complex):
                raise RuntimeError("vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got "
                                   f"Tensor with dtype {item.dtype}")
        inputs, input_spec = tree_flatten(chosen)
        outside = level.reaches_outside([*outputs, *tree_leaves(aux)])

    def pull(cotangents, retain_graph=True, create_graph=None):
        vectors, spec = tree_flatten(cotangents)
        if spec != output_spec:
            raise RuntimeError("Expected pytree structure of cotangents to be the same as pytree structure of outputs "
                               f"to the function: got {spec}, expected {output_spec}")
        for vector, item in zip(vectors, outputs):
            if vector.shape != item.shape:
                raise RuntimeError(f"vjp: got a cotangent of shape {tuple(vector.shape)}, expected "
                                   f"{tuple(item.shape)}")
        recording = modes.is_recording() if create_graph is None else create_graph
        recording = recording and (outside or any(vector.requires_grad for vector in vectors))
        with _Transform():
            grads = tree_unflatten(_pull(outputs, inputs, vectors, recording, retain_graph), input_spec)
        return _close(grads, recording)
    return _close(output, outside), pull, _close(aux, outside)


class _Tangents:
    """A function at a point, ready to be multiplied with vectors: its products with the Jacobian, by two pulls."""

    def __init__(self, func, primals, has_aux, level):
        self.level = level
        self.chosen = level.open(primals, "jvp(f, primals, tangents)")
        output, self.aux = func(*self.chosen), None
        if has_aux:
            output, self.aux = _split_aux(output, "jvp(f, primals, tangents)")
        self.output = output
        self.outputs, self.spec = tree_flatten(output)
        _check_outputs(self.outputs, "jvp(f, primals, tangents)")
        self.inputs = tree_leaves(self.chosen)
        # What is pulled is linear in the vectors it is pulled with: its derivative by them is the Jacobian itself.
        self.vectors = [ops.zeros_like(item.detach()).requires_grad_() if item.requires_grad else None
                        for item in self.outputs]
        self.pulled = _pull(self.outputs, self.inputs, self.vectors, True)
        self.outside = level.reaches_outside([*self.outputs, *tree_leaves(self.aux)])

    def push(self, tangents, create_graph):
        """Return the tangents of the outputs; None for constant ones."""
        pairs = [(item, tangent) for item, tangent in zip(self.pulled, tangents) if item.requires_grad]
        wanted = [vector for vector in self.vectors if vector is not None]
        found = [None] * len(wanted)
        if pairs and wanted:
            found = _C.grad([item for item, _ in pairs], wanted, [tangent for _, tangent in pairs], True, create_graph,
                            True)
        found = iter(found)
        return [None if vector is None else next(found) for vector in self.vectors]


def jvp(func, primals, tangents, *, strict=False, has_aux=False):
    """Return the value of a function, and the product of its Jacobian with a vector.

    Parameters
    ----------
    primals : tuple
        Where: the arguments.
    tangents : tuple
        The vector, in the form of the arguments.
    strict : bool, optional, default=False
        Whether an output that does not depend on the arguments is an error; otherwise its part is zero.

    Returns
    -------
    Tuple
        The output, its tangent in the same form, and aux if there is.

    """
    who = "jvp(f, primals, tangents)"
    if not isinstance(primals, tuple):
        raise RuntimeError(f"{who}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals).")
    vectors, spec = tree_flatten(tangents)
    leaves, expected = tree_flatten(primals)
    if spec != expected:
        raise RuntimeError(f"{who}: Expected primals and tangents to have the same python structure: got {spec}, "
                           f"expected {expected}")
    if not leaves:
        raise RuntimeError(f"{who}: Expected primals to contain at least one Tensor.")
    for vector in vectors:
        if not isinstance(vector, Tensor):
            raise RuntimeError(f"{who}: Expected tangents to only contain Tensors, got {type(vector)}")
    with _Transform() as level:
        run = _Tangents(func, primals, has_aux, level)
        outside = run.outside or (level.recording and any(vector.requires_grad for vector in vectors))
        found = run.push(vectors, outside)
        if strict and any(item is None for item in found):
            raise RuntimeError("jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. "
                               "This is not allowed with strict=True.")
        found = [ops.zeros_like(output.detach()) if item is None else item for output, item in zip(run.outputs, found)]
    results = run.output, tree_unflatten(found, run.spec), run.aux
    return _close(results if has_aux else results[:2], outside)


def linearize(func, *primals):
    """Return the value of a function, and a function that multiplies its Jacobian with vectors.

    Parameters
    ----------
    *primals : Any
        Where: structures of tensors.

    Returns
    -------
    Tuple
        The output, and a function of the arguments' tangents that returns the output's.

    """
    with _Transform() as level:
        run = _Tangents(func, primals, False, level)
    shapes, spec = [tuple(item.shape) for item in run.inputs], tree_flatten(primals)[1]

    def push(*tangents):
        vectors, given = tree_flatten(tangents)
        if given != spec:
            raise RuntimeError(f"linearize: Expected the tangents to have the structure of the primals: got {given}, "
                               f"expected {spec}")
        for vector, shape in zip(vectors, shapes):
            if tuple(vector.shape) != shape:
                raise RuntimeError(f"linearize: got a tangent of shape {tuple(vector.shape)}, expected {shape}")
        with _Transform():
            found = run.push(vectors, run.outside)
        found = [ops.zeros_like(output.detach()) if item is None else item for output, item in zip(run.outputs, found)]
        return _close(tree_unflatten(found, run.spec), run.outside)
    return _close(run.output, run.outside), push


def _refuse_complex(who, values, what):
    for value in values:
        if isinstance(value, Tensor) and value.dtype.is_complex:
            raise RuntimeError(f"{who}: Expected all {what} to be real but received complex tensor")


def jacrev(func, argnums=0, *, has_aux=False, chunk_size=None, _preallocate_and_copy=False):
    """Return a function that computes the Jacobian, row by row.

    Parameters
    ----------
    chunk_size : int, optional
        Accepted; rows are computed one by one.

    Returns
    -------
    Callable
        It returns, for every output and input, a tensor with the axes of both.

    """
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")
    return _jacobian_function(func, argnums, has_aux, "jacrev")


def jacfwd(func, argnums=0, has_aux=False, *, randomness="error"):
    """Return a function that computes the Jacobian; as `jacrev`, since the engine differentiates backward."""
    return _jacobian_function(func, argnums, has_aux, "jacfwd")


def _jacobian_function(func, argnums, has_aux, who):
    @functools.wraps(func)
    def jacobian(*args, **kwargs):
        _refuse_complex(who, tree_leaves(args), "inputs")
        places = _argnums(argnums, len(args))
        call = functools.partial(func, **kwargs) if kwargs else func
        output, pull, aux = vjp_with_argnums(call, args, places, has_aux)
        outputs, output_spec = tree_flatten(output)
        _refuse_complex(who, outputs, "outputs")
        inputs, input_spec = tree_flatten(_choose(args, places))
        zeros = [ops.zeros_like(item.detach()) for item in outputs]
        rows = [_rows(index, zeros, output_spec, pull) for index in range(len(outputs))]
        found = tree_unflatten([
            tree_unflatten([_stack_rows([row[at] for row in of_output], item, like)
                            for at, like in enumerate(inputs)], input_spec)
            for of_output, item in zip(rows, outputs)], output_spec)
        return (found, aux) if has_aux else found
    return jacobian


def _rows(index, zeros, spec, pull):
    """Return the gradients of every element of an output, as lists of leaves."""
    rows = []
    for place in range(zeros[index].numel()):
        vectors = list(zeros)
        vectors[index] = ops.clone(zeros[index])
        ops.reshape(vectors[index], (-1,))[place] = 1
        rows.append(tree_leaves(pull(tree_unflatten(vectors, spec))))
    return rows


def _stack_rows(rows, output, like):
    """Return the gradients of an output's elements as one tensor."""
    shape = (*output.shape, *like.shape)
    return ops.reshape(ops.stack(rows), shape) if rows else ops.zeros(shape, dtype=like.dtype)


def hessian(func, argnums=0):
    """Return a function that computes the Hessian: the Jacobian of the Jacobian."""
    return jacfwd(jacrev(func, argnums), argnums)


def functionalize(func, *, remove="mutations"):
    """Return a function of which `make_fx` writes a graph without writes; called, it is the function.

    Parameters
    ----------
    func : Callable
        Any function of tensors.
    remove : str, optional, default="mutations"
        What graphs shall not have. "mutations_and_views" asks for copies in place of views as well, which graphs
        here do not have.

    Returns
    -------
    Callable
        It gives what the function gives, and writes into arguments what the function writes into them.

    Examples
    --------
    >>> def write(x):
    ...     y = x.clone()
    ...     return y.add_(1)
    >>> torch.func.functionalize(write)(torch.zeros(2))
    tensor([1., 1.])

    """
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(f"functionalize: got remove={remove!r}, expected 'mutations' or 'mutations_and_views'")

    @functools.wraps(func)
    def call(*args, **kwargs):
        return func(*args, **kwargs)
    call._functionalized = func, remove
    return call


def debug_unwrap(tensor, *, recurse=True):
    """Return the tensor itself: transforms wrap nothing."""
    return tensor

"""Gradients beside finite differences."""
from dragon import _C
from dragon.vm.torch.autograd.grad_mode import enable_grad, no_grad
from dragon.vm.torch.core.gradients import grad
from dragon.vm.torch.core.tensor import Tensor, ops


class GradcheckError(RuntimeError):
    """A gradient is not what finite differences say."""


def gradcheck(func, inputs, *, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=True, nondet_tol=0.0,
              check_undefined_grad=True, check_grad_dtypes=False, check_batched_grad=False,
              check_batched_forward_grad=False, check_forward_ad=False, check_backward_ad=True, fast_mode=False,
              masked=None):
    """Return whether the gradients of a function agree with central differences.

    Parameters
    ----------
    func : Callable
        From tensors to a tensor or a tuple of them.
    inputs : Union[Tensor, Tuple]
        Its arguments; tensors that require grad should be float64 or complex128.
    eps : float, optional, default=1e-6
        How far to go to either side.
    atol : float, optional, default=1e-5
        The absolute tolerance.
    rtol : float, optional, default=1e-3
        The relative tolerance.
    raise_exception : bool, optional, default=True
        Raise GradcheckError rather than return False.
    nondet_tol : float, optional, default=0.0
        How much two backward passes may differ.
    check_undefined_grad : bool, optional, default=True
        Whether gradients that are missing must be taken for zeros.
    check_grad_dtypes : bool, optional, default=False
        Whether gradients must have the dtypes of the inputs.
    check_batched_grad : bool, optional, default=False
        Whether gradients of several vectors at once must agree with those one by one.
    check_batched_forward_grad : bool, optional, default=False
        Not supported.
    check_forward_ad : bool, optional, default=False
        Not supported: the engine differentiates backward only.
    check_backward_ad : bool, optional, default=True
        Whether to check the backward pass.
    fast_mode : bool, optional, default=False
        Compare in one random direction instead of all.
    masked : bool, optional
        For sparse tensors; without effect.

    Returns
    -------
    bool
        True, or False if they disagree and `raise_exception` is False.

    """
    if check_forward_ad or check_batched_forward_grad:
        raise NotImplementedError("gradcheck: got check_forward_ad=True, expected False: Dragon differentiates "
                                  "backward only")
    check = _Check(func, inputs, eps, atol, rtol, nondet_tol, check_grad_dtypes)
    try:
        if check_backward_ad:
            check.run(fast_mode)
            if check_undefined_grad:
                check.undefined_grads()
            if check_batched_grad:
                check.batched_grads()
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(func, inputs, grad_outputs=None, *, eps=1e-6, atol=1e-5, rtol=1e-3,
                  gen_non_contig_grad_outputs=False, raise_exception=True, nondet_tol=0.0, check_undefined_grad=True,
                  check_grad_dtypes=False, check_batched_grad=False, check_fwd_over_rev=False,
                  check_rev_over_rev=True, fast_mode=False, masked=False):
    """Return whether the gradients of a function's gradients agree with central differences.

    The arguments are those of `gradcheck`, and:

    Parameters
    ----------
    grad_outputs : Union[Tensor, Tuple[Tensor, ...]], optional
        Gradients with respect to the outputs; random by default.
    gen_non_contig_grad_outputs : bool, optional, default=False
        Whether the random ones are not contiguous.
    check_fwd_over_rev : bool, optional, default=False
        Not supported.
    check_rev_over_rev : bool, optional, default=True
        Whether to check the backward pass of the backward pass.

    """
    if check_fwd_over_rev:
        raise NotImplementedError("gradgradcheck: got check_fwd_over_rev=True, expected False: Dragon differentiates "
                                  "backward only")
    inputs = _as_tuple(inputs)
    if grad_outputs is None:
        outputs = [item for item in _as_tuple(func(*inputs)) if _inexact(item)]
        grad_outputs = tuple(_random_like(item, gen_non_contig_grad_outputs).requires_grad_() for item in outputs)
    else:
        grad_outputs = _as_tuple(grad_outputs)
    count = len(grad_outputs)

    def gradients(*args):
        args, grads = args[:-count], args[-count:]
        with enable_grad():
            outputs = [item for item in _as_tuple(func(*args)) if _inexact(item)]
            wanted = [item for item in args if isinstance(item, Tensor) and item.requires_grad]
            pairs = [(item, given) for item, given in zip(outputs, grads) if item.requires_grad]
            found = _C.grad([item for item, _ in pairs], wanted, [given for _, given in pairs], True, True, True)
        return tuple(item for item in found if item is not None)
    return gradcheck(gradients, inputs + grad_outputs, eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception,
                     nondet_tol=nondet_tol, check_undefined_grad=check_undefined_grad,
                     check_grad_dtypes=check_grad_dtypes, check_batched_grad=check_batched_grad, fast_mode=fast_mode)


def _as_tuple(value):
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def _inexact(item):
    return isinstance(item, Tensor) and (item.dtype.is_floating_point or item.dtype.is_complex)


def _random_like(item, scattered=False):
    """Return random numbers of a tensor's kind, with steps between them if asked."""
    shape = (*item.shape, 2) if scattered else tuple(item.shape)
    if item.dtype.is_complex:
        made = ops.view_as_complex(ops.normal(ops.zeros((*shape, 2), dtype=item.dtype.to_real())))
    else:
        made = ops.normal(ops.zeros(shape, dtype=item.dtype))
    return made[..., 0] if scattered else made


class _Check:
    """A function with its arguments, and the checks it has to pass."""

    def __init__(self, func, inputs, eps, atol, rtol, nondet_tol, check_dtypes):
        self.func, self.eps, self.atol, self.rtol = func, eps, atol, rtol
        self.nondet_tol, self.check_dtypes = nondet_tol, check_dtypes
        self.inputs = _as_tuple(inputs)
        self.wanted = [item for item in self.inputs if isinstance(item, Tensor) and item.requires_grad]
        if not self.wanted:
            raise ValueError("gradcheck expects at least one input tensor to require gradient, but none of them "
                             "have requires_grad=True.")
        for index, item in enumerate(self.wanted):
            if item.dtype.name not in ("float64", "complex128"):
                from dragon.core import warnings
                warnings.warn(f"Input #{index} requires gradient and is not a double precision floating point or "
                              "complex. This check will likely fail if all the inputs are not of double precision "
                              "floating point or complex. ")
            if not item.is_leaf:
                item.retain_grad()
        self.outputs = [item for item in _as_tuple(func(*self.inputs)) if _inexact(item)]

    def run(self, fast):
        """Compare every output's derivative with respect to every input."""
        if not any(item.requires_grad for item in self.outputs):
            self.expect_constant()
            return
        (self.compare_directions if fast else self.compare_jacobians)()

    def evaluate(self, place, moved):
        """Return the outputs with one of the wanted inputs replaced."""
        target = self.wanted[place]
        with no_grad():
            # The tensor itself is changed: the function may know it by another way than its arguments.
            before = ops.clone(target.detach())
            alias = target.data  # writes to it do not count, so what was saved stays valid
            alias[...] = moved
            try:
                found = _as_tuple(self.func(*self.inputs))
                return [ops.clone(item.detach()) for item in found if _inexact(item)]
            finally:
                alias[...] = before

    def difference(self, place, direction):
        """Return the derivatives of the outputs along a direction of one input, by central differences."""
        start = ops.clone(self.wanted[place].detach())
        ahead = self.evaluate(place, start + direction * self.eps)
        behind = self.evaluate(place, start - direction * self.eps)
        return [(one - other) / (2 * self.eps) for one, other in zip(ahead, behind)]

    def expect_constant(self):
        for place, item in enumerate(self.wanted):
            for direction in self.directions(item):
                for change in self.difference(place, direction):
                    if bool(ops.any(ops.abs(change) > self.atol)):
                        raise GradcheckError("Numerical gradient for function expected to be zero")

    @staticmethod
    def directions(item):
        """Yield unit steps along every element; for complex ones, along both parts."""
        for index in range(item.numel()):
            for unit in (1.0, 1j) if item.dtype.is_complex else (1.0,):
                step = ops.zeros(tuple(item.shape), dtype=item.dtype)
                step.view(-1)[index] = unit
                yield step

    def gradients(self, output, vector):
        """Return the gradients of one output, zeros where nothing flows."""
        with enable_grad():
            found = _C.grad([output], self.wanted, [vector], True, False, True)
        for index, (item, like) in enumerate(zip(found, self.wanted)):
            if item is not None and self.check_dtypes and item.dtype != like.dtype:
                raise GradcheckError("Gradient has dtype mismatch: got "
                                     f"{item.dtype} for input {index} of dtype {like.dtype}")
            if item is not None and item.shape != like.shape:
                raise GradcheckError(f"Analytical gradient has incorrect size: got {tuple(item.shape)} for input "
                                     f"{index} of shape {tuple(like.shape)}")
        return [ops.zeros_like(like.detach()) if item is None else item for item, like in zip(found, self.wanted)]

    def steady_gradients(self, output, vector):
        """Return the gradients after two passes have agreed on them."""
        found, again = self.gradients(output, vector), self.gradients(output, vector)
        for one, other in zip(found, again):
            if not bool(ops.all(ops.abs(one - other) <= self.nondet_tol)):
                raise GradcheckError("Backward is not reentrant: two passes over the same graph differ by more than "
                                     f"nondet_tol={self.nondet_tol}")
        return found

    def compare_jacobians(self):
        """Compare all elements of all Jacobians."""
        numeric = [[self.difference(place, step) for step in self.directions(item)]
                   for place, item in enumerate(self.wanted)]
        for number, output in enumerate(self.outputs):
            if not output.requires_grad:
                continue
            rows = [self.steady_gradients(output, step) for step in self.directions(output)]
            for place, item in enumerate(self.wanted):
                self.compare_one(number, place, output, rows, [steps[number] for steps in numeric[place]])

    def compare_one(self, number, place, output, rows, steps):
        """Compare Re<vector, derivative along step> = Re<gradient for vector, step> for all vectors and steps."""
        if not rows or not steps:
            return
        item = self.wanted[place]
        analytic = ops.stack([ops.reshape(ops.stack([self.dot(row[place], step) for step in self.directions(item)]),
                                          (-1,)) for row in rows])
        expected = ops.stack([ops.reshape(ops.stack([self.dot(vector, change) for change in steps]), (-1,))
                              for vector in self.directions(output)])
        self.expect_close(analytic, expected, number, place)

    @staticmethod
    def dot(one, other):
        """Return the real inner product."""
        product = ops.conj(one) * other if one.dtype.is_complex or other.dtype.is_complex else one * other
        total = ops.sum(product)
        return ops.real(total) if total.dtype.is_complex else total

    def expect_close(self, analytic, expected, number, place):
        expected = expected.to(analytic.dtype)
        if not bool(ops.all(ops.isclose(analytic, expected, self.rtol, self.atol))):
            raise GradcheckError(f"Jacobian mismatch for output {number} with respect to input {place},\n"
                                 f"numerical:{expected}\nanalytical:{analytic}\n")

    def compare_directions(self):
        """Compare one random combination per pair of output and input."""
        for place, item in enumerate(self.wanted):
            direction = _random_like(item.detach())
            direction = direction / max(float(ops.sqrt(self.dot(direction, direction))), 1e-30)
            changes = self.difference(place, direction)
            for number, output in enumerate(self.outputs):
                if not output.requires_grad:
                    continue
                vector = _random_like(output.detach())
                vector = vector / max(float(ops.sqrt(self.dot(vector, vector))), 1e-30)
                row = self.steady_gradients(output, vector)
                self.expect_close(self.dot(row[place], direction), self.dot(vector, changes[number]), number, place)

    def undefined_grads(self):
        """Check that a backward pass takes missing gradients for zeros."""
        differentiable = [item for item in self.outputs if item.requires_grad]
        if len(differentiable) < 2:
            return
        for output in differentiable:
            alone = self.gradients(output, ops.zeros_like(output.detach()))
            if not all(bool(ops.all(item == 0)) for item in alone):
                raise GradcheckError("Expected backward function to handle undefined output grads: the gradients of "
                                     "zeros are not zero")

    def batched_grads(self):
        """Check gradients of several vectors at once."""
        for output in self.outputs:
            if output.requires_grad:
                vectors = ops.stack([_random_like(output.detach()) for _ in range(2)])
                grad([output], self.wanted, [vectors], retain_graph=True, allow_unused=True, is_grads_batched=True)

"""Gradients of operators in PyTorch's own, as its backward passes call them: who answers hears the same calls.

A formula gets the call and the gradients of its results, and returns functions by name of an argument: each is called
if the gradient of that argument is asked for, in the order of PyTorch's passes.
`call.x` is the argument `x`, whose numbers are read: it may not have been written to since. `call.form.x` is the same
to look at how it lies, whatever was written.
"""
from dragon.vm.torch.core.dispatching.wrapper_subclass import stand_in
from dragon.vm.torch.core.exporting.tracer import aten
from dragon.vm.torch.core.tensor import Tensor

FORMULAS = {}


def formula(*names):
    """Register a function of (the operators, the call, gradients)."""
    def register(function):
        def found(call, *grads):
            if all(grad is None for grad in grads):
                return {}
            return NotImplemented if grads[0] is None else function(aten(), call, *grads)
        FORMULAS.update({name if "." in name else f"{name}.default": found for name in names})
        return function
    return register


def fitted(a, grad, like):
    """Return a gradient summed over the axes along which its tensor was repeated; of a real tensor it is real."""
    if not isinstance(like, Tensor):
        return None
    if grad.is_complex() and not like.is_complex():
        grad = a.real.default(grad)
    sizes = list(like.shape)
    if list(grad.shape) == sizes:
        return grad
    extra = grad.ndim - len(sizes)
    axes = [axis for axis in range(grad.ndim) if axis < extra or sizes[axis - extra] == 1 != grad.shape[axis]]
    grad = a.sum.dim_IntList(grad, axes, True) if axes else grad
    return a.view.default(grad, sizes) if extra else grad


def _scaled(a, grad, factor):
    return grad if isinstance(factor, (int, float)) and factor == 1 else a.mul.Tensor(grad, _plain(a, factor))


def _plain(a, value):
    """Return the conjugate of a factor."""
    if isinstance(value, complex):
        return value.conjugate()
    return a.conj.default(value) if isinstance(value, Tensor) and value.is_complex() else value


# --- arithmetic

@formula("add.Tensor", "add.Scalar", "add_.Tensor", "add_.Scalar")
def _add(a, c, g):
    return {"other": lambda: fitted(a, _scaled(a, g, c.alpha), c.form.other),
            "self": lambda: fitted(a, g, c.form.self_)}


@formula("sub.Tensor", "sub.Scalar", "sub_.Tensor", "sub_.Scalar")
def _sub(a, c, g):
    return {"other": lambda: fitted(a, _scaled(a, a.neg.default(g), c.alpha), c.form.other),
            "self": lambda: fitted(a, g, c.form.self_)}


@formula("rsub.Scalar", "rsub.Tensor")
def _rsub(a, c, g):
    return {"other": lambda: fitted(a, g, c.form.other),
            "self": lambda: fitted(a, _scaled(a, a.neg.default(g), c.alpha), c.form.self_)}


@formula("mul.Scalar")
def _mul_number(a, c, g):
    return {"self": lambda: fitted(a, a.mul.Scalar(g, _plain(a, c.other)), c.form.self_)}


@formula("mul.Tensor")
def _mul(a, c, g):
    return {"other": lambda: fitted(a, a.mul.Tensor(g, _plain(a, c.self_)), c.form.other),
            "self": lambda: fitted(a, a.mul.Tensor(g, _plain(a, c.other)), c.form.self_)}


@formula("div.Tensor", "div.Scalar")
def _div(a, c, g):
    def other():
        share = a.div.Tensor(a.div.Tensor(c.self_, c.other), c.other)
        return fitted(a, a.mul.Tensor(a.neg.default(g), _plain(a, share)), c.form.other)
    return {"other": other, "self": lambda: fitted(a, a.div.Tensor(g, _plain(a, c.other)), c.form.self_)}


@formula("pow.Tensor_Scalar")
def _pow(a, c, g):
    if c.exponent == 0:
        return {"self": lambda: a.zeros_like.default(c.form.self_)}
    if c.form.self_.is_complex():
        return NotImplemented
    return {"self": lambda: a.mul.Tensor(g, a.mul.Scalar(a.pow.Tensor_Scalar(c.self_, c.exponent - 1), c.exponent))}


def _pointwise(name, gradient):
    @formula(name)
    def found(a, c, g):
        if c.form.self_.is_complex():
            return NotImplemented
        return {"self": lambda: gradient(a, c, g)}


for _name, _gradient in {
        "neg": lambda a, c, g: a.neg.default(g),
        "exp": lambda a, c, g: a.mul.Tensor(g, c.result()),
        "log": lambda a, c, g: a.div.Tensor(g, c.self_),
        "sqrt": lambda a, c, g: a.div.Tensor(g, a.mul.Tensor(c.result(), 2)),
        "rsqrt": lambda a, c, g: a.mul.Tensor(a.mul.Scalar(g, -0.5), a.pow.Tensor_Scalar(c.result(), 3)),
        "sin": lambda a, c, g: a.mul.Tensor(g, a.cos.default(c.self_)),
        "cos": lambda a, c, g: a.mul.Tensor(g, a.neg.default(a.sin.default(c.self_))),
        "reciprocal": lambda a, c, g: a.mul.Tensor(a.neg.default(g), a.mul.Tensor(c.result(), c.result())),
        "abs": lambda a, c, g: a.mul.Tensor(g, a.sgn.default(c.self_)),
        "tanh": lambda a, c, g: a.tanh_backward.default(g, c.result()),
        "sigmoid": lambda a, c, g: a.sigmoid_backward.default(g, c.result()),
        "relu": lambda a, c, g: a.threshold_backward.default(g, c.result(), 0),
        "silu": lambda a, c, g: a.silu_backward.default(g, c.self_),
        "gelu": lambda a, c, g: a.gelu_backward.default(g, c.self_, **(
            {} if c.approximate == "none" else {"approximate": c.approximate})),
        }.items():
    _pointwise(_name, _gradient)


@formula("where.self")
def _where(a, c, g):
    zero = a.zeros.default([], dtype=g.dtype, device=g.device)
    return {"other": lambda: fitted(a, a.where.self(c.condition, zero, g), c.form.other),
            "self": lambda: fitted(a, a.where.self(c.condition, g, zero), c.form.self_)}


@formula("masked_fill.Scalar")
def _masked_fill(a, c, g):
    return {"self": lambda: fitted(a, a.masked_fill.Scalar(g, c.mask, 0), c.form.self_)}


# --- products

def _is_turned(x):
    """Return whether a matrix lies column by column."""
    strides = stand_in(x).strides
    return strides[0] == 1 and strides[1] == x.shape[0]


def _of_first(a, g, first, second):
    if _is_turned(first):
        return a.t.default(a.mm.default(_plain(a, second), a.t.default(g)))
    return a.mm.default(g, _plain(a, a.t.default(second)))


def _of_second(a, g, first, second):
    if _is_turned(second):
        return a.t.default(a.mm.default(a.t.default(g), _plain(a, first)))
    return a.mm.default(_plain(a, a.t.default(first)), g)


@formula("mm")
def _mm(a, c, g):
    return {"mat2": lambda: _of_second(a, g, c.self_, c.form.mat2),
            "self": lambda: _of_first(a, g, c.form.self_, c.mat2)}


@formula("addmm")
def _addmm(a, c, g):
    return {"mat1": lambda: _scaled(a, _of_first(a, g, c.form.mat1, c.mat2), c.alpha),
            "mat2": lambda: _scaled(a, _of_second(a, g, c.mat1, c.form.mat2), c.alpha),
            "self": lambda: fitted(a, _scaled(a, g, c.beta), c.form.self_)}


@formula("bmm")
def _bmm(a, c, g):
    return {"mat2": lambda: a.bmm.default(_plain(a, a.transpose.int(c.self_, 1, 2)), g),
            "self": lambda: a.bmm.default(g, _plain(a, a.transpose.int(c.mat2, 1, 2)))}


@formula("mv")
def _mv(a, c, g):
    return {"self": lambda: a.mul.Tensor(a.unsqueeze.default(g, 1), _plain(a, c.vec)),
            "vec": lambda: a.mv.default(_plain(a, a.t.default(c.self_)), g)}


@formula("dot")
def _dot(a, c, g):
    return {"self": lambda: a.mul.Tensor(g, _plain(a, c.tensor)),
            "tensor": lambda: a.mul.Tensor(g, _plain(a, c.self_))}


# --- shapes

@formula("t")
def _t(a, c, g):
    return {"self": lambda: a.t.default(g)}


@formula("transpose.int")
def _transpose(a, c, g):
    return {"self": lambda: a.transpose.int(g, c.dim0, c.dim1)}


@formula("permute")
def _permute(a, c, g):
    order = [axis % len(c.dims) for axis in c.dims]
    return {"self": lambda: a.permute.default(g, [order.index(axis) for axis in range(len(order))])}


@formula("view", "_unsafe_view", "squeeze", "squeeze.dim", "squeeze.dims", "unsqueeze")
def _view(a, c, g):
    return {"self": lambda: a.reshape.default(g, list(c.form.self_.shape))}


@formula("expand")
def _expand(a, c, g):
    return {"self": lambda: fitted(a, g, c.form.self_)}


@formula("clone", "alias")
def _clone(a, c, g):
    return {"self": lambda: g}


@formula("_to_copy")
def _to_copy(a, c, g):
    return {"self": lambda: a.to.device(g, c.form.self_.device, c.form.self_.dtype)}


@formula("select.int")
def _select(a, c, g):
    return {"self": lambda: a.select_backward.default(g, list(c.form.self_.shape), c.dim, c.index)}


@formula("slice.Tensor")
def _slice(a, c, g):
    stop = c.form.self_.shape[c.dim] if c.end is None else c.end
    return {"self": lambda: a.slice_backward.default(g, list(c.form.self_.shape), c.dim, c.start or 0, stop, c.step)}


@formula("cat")
def _cat(a, c, g):
    def parts():
        made, start = [], 0
        for part in c.form.tensors:
            size = part.shape[c.dim] if part.ndim == g.ndim else 0
            made.append(a.slice.Tensor(g, c.dim, start, start + size) if size else a.zeros_like.default(part))
            start += size
        return made
    return {"tensors": parts}


@formula("stack")
def _stack(a, c, g):
    return {"tensors": lambda: list(a.unbind.int(g, c.dim))}


# --- sums

def _spread(a, g, x, dims, keepdim):
    dims = range(x.ndim) if not dims and dims != 0 else dims if isinstance(dims, (list, tuple)) else [dims]
    axes = sorted(axis % x.ndim for axis in dims) if x.ndim else []
    if not keepdim:
        for axis in axes:
            g = a.unsqueeze.default(g, axis)
    return a.expand.default(g, list(x.shape))


@formula("sum")
def _sum(a, c, g):
    return {"self": lambda: a.expand.default(g, list(c.form.self_.shape))}


@formula("sum.dim_IntList")
def _sum_along(a, c, g):
    return {"self": lambda: _spread(a, g, c.form.self_, c.dim, c.keepdim)}


@formula("mean")
def _mean(a, c, g):
    count = stand_in(c.form.self_).numel()
    return {"self": lambda: a.div.Scalar(a.expand.default(g, list(c.form.self_.shape)), count)}


@formula("mean.dim")
def _mean_along(a, c, g):
    count = stand_in(c.form.self_).numel() // max(g.numel(), 1)
    return {"self": lambda: a.div.Scalar(_spread(a, g, c.form.self_, c.dim, c.keepdim), count)}


# --- layers

@formula("_softmax")
def _softmax(a, c, g):
    return {"self": lambda: a._softmax_backward_data.default(g, c.result(), c.dim, c.form.self_.dtype)}


@formula("_log_softmax")
def _log_softmax(a, c, g):
    return {"self": lambda: a._log_softmax_backward_data.default(g, c.result(), c.dim, c.form.self_.dtype)}


@formula("_softmax_backward_data")
def _softmax_backward(a, c, g):
    def output():
        inner = a.sum.dim_IntList(a.mul.Tensor(c.grad_output, c.output), [c.dim], True)
        along = a.sum.dim_IntList(a.mul.Tensor(g, c.output), [c.dim], True)
        return a.sub.Tensor(a.mul.Tensor(g, a.sub.Tensor(c.grad_output, inner)), a.mul.Tensor(c.grad_output, along))
    return {"grad_output": lambda: a._softmax_backward_data.default(g, c.output, c.dim, c.input_dtype),
            "output": output}


@formula("_log_softmax_backward_data")
def _log_softmax_backward(a, c, g):
    def shares():
        return a.mul.Tensor(g, a.exp.default(c.output))
    return {"grad_output": lambda: a.sub.Tensor(g, a.sum.dim_IntList(shares(), [c.dim], True)),
            "output": lambda: a.neg.default(a.mul.Tensor(shares(), a.sum.dim_IntList(c.grad_output, [c.dim], True)))}


@formula("nll_loss_forward")
def _nll_loss(a, c, g, *_):
    return {"self": lambda: a.nll_loss_backward.default(g, c.self_, c.values["target"], c.weight, c.reduction,
                                                        c.ignore_index, c.result(1))}


def _layers(name, make):
    """Register what gives the gradients of all tensors at once."""
    @formula(name)
    def found(a, c, g, *_):
        made = {}

        def part(place):
            if not made:
                made["all"] = make(a, c, g)
            return made["all"][place]
        return {word: lambda place=place: part(place) for place, word in enumerate(("input", "weight", "bias"))}


def _mask(c):
    return [c.wants(name) for name in ("input", "weight", "bias")]


_layers("native_layer_norm", lambda a, c, g: a.native_layer_norm_backward.default(
    g, c.input, c.normalized_shape, c.result(1), c.result(2), c.weight, c.bias, _mask(c)))
# Running statistics change at every call, and a backward pass has those of its batch.
_layers("native_batch_norm", lambda a, c, g: a.native_batch_norm_backward.default(
    g, c.input, c.weight, c.form.running_mean, c.form.running_var, c.result(1), c.result(2), c.training, c.eps,
    _mask(c)))
_layers("convolution", lambda a, c, g: a.convolution_backward.default(
    g, c.input, c.weight, None if c.form.bias is None else list(c.form.bias.shape), c.stride, c.padding, c.dilation,
    c.transposed, c.output_padding, c.groups, _mask(c)))


@formula("max_pool2d_with_indices")
def _max_pool(a, c, g, *_):
    return {"self": lambda: a.max_pool2d_with_indices_backward.default(
        g, c.self_, c.kernel_size, c.stride, c.padding, c.dilation, c.ceil_mode, c.result(1))}


@formula("embedding")
def _embedding(a, c, g):
    if c.sparse:
        return NotImplemented
    return {"weight": lambda: a.embedding_dense_backward.default(g, c.indices, c.form.weight.shape[0], c.padding_idx,
                                                                 c.scale_grad_by_freq)}


@formula("index_select")
def _index_select(a, c, g):
    zeros = a.new_zeros.default(g, list(c.form.self_.shape))
    return {"self": lambda: a.index_add.default(zeros, c.dim, c.index, g)}


@formula("gather")
def _gather(a, c, g):
    zeros = a.new_zeros.default(g, list(c.form.self_.shape))
    return {"self": lambda: a.scatter_add.default(zeros, c.dim, c.index, g)}


@formula("index.Tensor")
def _index(a, c, g):
    zeros = a.new_zeros.default(g, list(c.form.self_.shape))
    return {"self": lambda: a.index_put.default(zeros, c.indices, g, True)}

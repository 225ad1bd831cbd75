"""How the tensors and objects of a face are made: a kit per guest, the same draws whichever module stands behind it."""
import numpy

import hostile


class Native:
    """Dragon's own tensors."""

    dtypes = hostile.DTYPES
    things = ()

    def __init__(self, module):
        self.module = module

    def dtype(self, name):
        """Return what stands for a dtype in a call."""
        return name

    def look(self, value):
        """Return (dtype, shape) of a tensor, or None."""
        return (value.dtype.name, tuple(value.shape)) if isinstance(value, self.module.Tensor) else None

    def make(self, numbers):
        """Return a tensor with the numbers of an array, over its memory where that can be."""
        try:
            return self.module.from_numpy(numbers)
        except ValueError:  # negative strides are refused here already
            return self.module.tensor(numpy.array(numbers))

    def cast(self, tensor, dtype):
        """Return a tensor in another dtype."""
        return self.module.ops.cast(tensor, dtype)

    def learn(self, tensor):
        """Return a leaf that wants a gradient, if its dtype can have one."""
        tensor = tensor.detach()
        if tensor.dtype.is_floating_point:
            tensor.requires_grad = True
        return tensor

    def meta(self, tensor):
        """Return a tensor without numbers."""
        return self.module.ops.to_device(tensor.detach(), self.module.Device("meta"))

    def huge(self, dtype, sizes):
        """Return a tensor without numbers of any size."""
        return self.module.ops.expand(self.module.tensor(1.0, dtype, "meta"), sizes)

    def strange(self, rng, tensor):
        """Return a tensor whose elements share memory."""
        return tensor

    def overlapping(self, tensor):
        """Return two views of a tensor that overlap by all but one row, or None."""
        if self.look(tensor) is None or not tensor.ndim or tensor.shape[0] < 2:
            return None
        try:
            base = tensor.detach()
            return self.module.ops.slice(base, 0, 0, -1), self.module.ops.slice(base, 0, 1)
        except (ValueError, RuntimeError, TypeError, NotImplementedError):
            return None

    def restore(self):
        """Undo what calls may have switched."""
        self.module.set_grad_enabled(True)
        self.module.set_default_dtype("float32")
        self.module.manual_seed(0)

    def use(self, results):
        """Read what came, and differentiate it where it asks for that."""
        for result in results if isinstance(results, (tuple, list)) else (results,):
            if not isinstance(result, self.module.Tensor) or result.device.type != "cpu":
                continue
            if max((result.size, *result.shape)) > 100000:
                continue
            result.detach().tolist()
            if result.requires_grad and result.grad_fn is not None:
                self.module.backward(result, self.module.ops.to_row_major(result.detach()))

    def tell(self, value):
        """Return a tensor as text, its numbers left out, or None."""
        if not isinstance(value, self.module.Tensor):
            return None
        return (f"tensor(shape={tuple(value.shape)}, strides={tuple(value.strides)}, dtype={value.dtype.name}, "
                f"device={value.device}, requires_grad={value.requires_grad})")


def build_subclass(kit):
    """Return a tensor of a class of the caller's own."""
    return type("Mine", (kit.module.Tensor,), {})(kit.module.ones(2, 3))


def build_emptied(kit):
    """Return a tensor whose memory was taken away."""
    tensor = kit.module.ones(2, 3)
    tensor.untyped_storage().resize_(0)
    return tensor


def build_other(kit):
    """Return a tensor of another graph, made without recording."""
    with kit.module.inference_mode():
        return kit.module.ones(2, 3)


TORCH_THINGS = (
    build_subclass, build_emptied, build_other,
    lambda kit: kit.module.float32, lambda kit: kit.module.int64, lambda kit: kit.module.complex64,
    lambda kit: kit.module.device("cpu"), lambda kit: kit.module.device("meta"), lambda kit: kit.module.Size([2, 3]),
    lambda kit: kit.module.Generator(), lambda kit: kit.module.strided, lambda kit: kit.module.channels_last,
    lambda kit: kit.module.nn.Parameter(kit.module.ones(2)), lambda kit: kit.module.nn.Linear(2, 3),
    lambda kit: kit.module.ones(2, 3).untyped_storage(), lambda kit: kit.module.ones(4, requires_grad=True).sum(),
    lambda kit: kit.module.empty(0), lambda kit: kit.module.ones(1).expand(2, 3), lambda kit: kit.module.Tensor,
    lambda kit: [kit.module.ones(2), kit.module.ones(3)], lambda kit: (kit.module.ones(2), None),
    lambda kit: {"a": kit.module.ones(2)}, lambda kit: kit.module.ones(2, 3, 4, 4, 2).to("meta"),
    lambda kit: kit.module.nn.Sequential(kit.module.nn.ReLU()), lambda kit: kit.module.ones(2, 2).mT,
    lambda kit: kit.module.ones(3, dtype=kit.module.cfloat).conj(), lambda kit: kit.module.zeros(1, 0, 2))


class Torch(Native):
    """PyTorch's tensors, Dragon's or genuine ones."""

    things = TORCH_THINGS

    def dtype(self, name):
        return getattr(self.module, name, name)

    def look(self, value):
        if not isinstance(value, self.module.Tensor):
            return None
        return str(value.dtype).rpartition(".")[2], tuple(value.shape)

    def make(self, numbers):
        try:
            return self.module.from_numpy(numbers)
        except (ValueError, TypeError):
            return self.module.tensor(numpy.array(numbers))

    def cast(self, tensor, dtype):
        return tensor.to(getattr(self.module, dtype))

    def learn(self, tensor):
        tensor = tensor.detach()
        wanted = tensor.is_floating_point() or tensor.is_complex()
        return tensor.requires_grad_() if wanted else tensor

    def meta(self, tensor):
        return tensor.detach().to("meta")

    def huge(self, dtype, sizes):
        return self.module.ones((), dtype=getattr(self.module, dtype), device="meta").expand(sizes)

    def strange(self, rng, tensor):
        kind = rng.integers(4)
        if not tensor.numel() or kind == 0:
            return tensor
        if kind == 1:
            return tensor.reshape(-1)[:1].expand(3)
        if kind == 2:
            return tensor.detach().clone().reshape(-1).as_strided((2, 2), (0, 0))
        return self.learn(tensor).clone()  # has a history

    def overlapping(self, tensor):
        if self.look(tensor) is None or not tensor.dim() or tensor.shape[0] < 2:
            return None
        return tensor.detach()[:-1], tensor.detach()[1:]

    def restore(self):
        self.module.set_grad_enabled(True)
        self.module.set_default_dtype(self.module.float32)
        self.module.set_default_device(None)
        self.module.manual_seed(0)

    def use(self, results):
        for result in results if isinstance(results, (tuple, list)) else (results,):
            if not isinstance(result, self.module.Tensor) or result.device.type != "cpu" or result.numel() > 100000:
                continue
            if max(result.shape, default=0) > 100000:
                continue
            result.detach().tolist()
            if result.requires_grad and result.grad_fn is not None:
                result.backward(result.detach())

    def tell(self, value):
        if not isinstance(value, self.module.Tensor):
            return None
        return (f"{type(value).__name__}(shape={tuple(value.shape)}, strides={value.stride()}, dtype={value.dtype}, "
                f"device={value.device}, requires_grad={value.requires_grad}, leaf={value.is_leaf})")


TENSORFLOW_THINGS = (
    lambda kit: kit.module.float32, lambda kit: kit.module.int64, lambda kit: kit.module.TensorShape([2, None]),
    lambda kit: kit.module.Variable([1.0, 2.0]), lambda kit: kit.module.Variable([1, 2]),
    lambda kit: kit.module.constant("text"), lambda kit: kit.module.TensorSpec([None, 2]),
    lambda kit: kit.module.zeros((0, 3)), lambda kit: [kit.module.ones(2), kit.module.ones(3)],
    lambda kit: {"a": kit.module.ones(2)}, lambda kit: kit.module.keras.layers.Dense(2),
    lambda kit: kit.module.keras.Input((3,)), lambda kit: kit.module.keras.Sequential([]),
    lambda kit: kit.module.keras.ops.ones((2, 3)), lambda kit: kit.module.keras.KerasTensor((None, 3)))


class Tensorflow(Native):
    """TensorFlow's tensors, which are Keras's as well."""

    things = TENSORFLOW_THINGS

    def look(self, value):
        if not isinstance(value, self.module.Tensor):
            return None
        return value.dtype.name, tuple(size or 0 for size in value.shape)

    def make(self, numbers):
        return self.module.constant(numpy.ascontiguousarray(numbers))

    def cast(self, tensor, dtype):
        return self.module.cast(tensor, dtype)

    def learn(self, tensor):
        return self.module.Variable(tensor)

    def meta(self, tensor):
        return self.module.keras.KerasTensor(tuple(tensor.shape), tensor.dtype.name)

    def huge(self, dtype, sizes):
        return self.module.keras.KerasTensor(sizes, dtype)

    def strange(self, rng, tensor):
        return self.module.Variable(tensor) if rng.integers(2) else numpy.asarray(tensor)

    def overlapping(self, tensor):
        return None

    def restore(self):
        self.module.random.set_seed(0)
        self.module.keras.config.set_floatx("float32")

    def use(self, results):
        for result in results if isinstance(results, (tuple, list)) else (results,):
            if not isinstance(result, self.module.Tensor) or result.dtype == self.module.string:
                continue
            if max(numpy.prod(result.shape, dtype=float), *result.shape, 0) < 100000:
                result.numpy().tolist()

    def tell(self, value):
        if not isinstance(value, (self.module.Tensor, self.module.Variable)):
            return None
        return f"{type(value).__name__}(shape={tuple(value.shape)}, dtype={value.dtype})"

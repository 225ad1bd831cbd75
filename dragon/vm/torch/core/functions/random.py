"""Random numbers: PyTorch's own streams, so equal seeds give equal numbers."""
import struct

from dragon import _C
from dragon.core import accelerator
from dragon.core.capture.side_effects import note
from dragon.core.random import current_generator
from dragon.vm.torch.core.device import as_device
from dragon.vm.torch.core.dtypes import OBJECTS
from dragon.vm.torch.core.functions.creation import finish, in_format, shape_of, tensor
from dragon.vm.torch.core.functions.destination import deliver, require_dtype
from dragon.vm.torch.core.layout import preserve_format, require_strided
from dragon.vm.torch.core.register import function, method, overload
from dragon.vm.torch.core.sentences import named
from dragon.vm.torch.core.tensor import Tensor, ops


class Generator(_C.Generator):
    """A stream of random numbers of its own.

    Parameters
    ----------
    device : Union[device, str], optional, default="cpu"
        The CPU, or a CUDA device, where numbers follow from a seed and an offset, which every call raises.

    """

    def __init__(self, device="cpu"):
        place = as_device(device)
        if place.type not in ("cpu", "cuda"):
            raise NotImplementedError(f"Generator: got device {device!r}, expected 'cpu' or 'cuda'")
        super().__init__()
        if place.type == "cuda" and place.index is None:
            place = as_device(f"cuda:{accelerator.cuda_index()}")
        self._device = place
        self.manual_seed(DEFAULT_SEED)

    device = property(lambda self: self._device, doc="The device whose numbers it is for.")

    def manual_seed(self, seed):
        """Start the stream anew; returns the generator."""
        note("seeds a generator")
        if not hasattr(seed, "__index__"):
            raise RuntimeError(f"manual_seed expected a long, but got {type(seed).__name__}")
        return super().manual_seed(seed)

    def seed(self):
        """Seed the stream with a number nobody can foresee, and return it."""
        note("seeds a generator")
        return super().seed()

    def initial_seed(self):
        """Return the seed."""
        return super().initial_seed() if self._on_cpu else self._counter[0]

    def get_state(self):
        """Return the state as a tensor of bytes, in PyTorch's own form: a CUDA device's seed and offset are 16."""
        return state_tensor(super().get_state() if self._on_cpu else super().get_device_state(self._device.index))

    def set_state(self, new_state):
        """Continue from a saved state."""
        note("goes on from another state of a generator")
        if self._on_cpu:
            super().set_state(state_bytes(new_state))
        else:
            super().set_device_state(self._device.index, state_bytes(new_state))

    def get_offset(self):
        """Return the offset at which a CUDA device's numbers go on."""
        self._require_offset()
        return self._counter[1]

    def set_offset(self, offset):
        """Have a CUDA device's numbers go on at an offset.

        Parameters
        ----------
        offset : int
            A multiple of 4, at least 0 and below 2**64.

        """
        self._require_offset()
        note("goes on from another state of a generator")
        if not hasattr(offset, "__index__"):
            raise TypeError(f"set_offset: got {type(offset).__name__}, expected an int")
        offset = offset.__index__()
        if not 0 <= offset < 1 << 64:
            raise OverflowError(f"set_offset: got {offset}, expected 0 to 2**64 - 1")
        super().set_device_state(self._device.index, _COUNTER.pack(self._counter[0], offset))

    def __reduce__(self):
        """Return what a copy is made of: the device, the seed, a CUDA device's offset, and the state."""
        offset = None if self._on_cpu else self.get_offset()
        return type(self), (self._device,), (self.initial_seed(), offset, self.get_state())

    def __setstate__(self, parts):
        seed, _, state = parts  # the offset is also in the state
        self.manual_seed(seed)
        self.set_state(state)

    _on_cpu = property(lambda self: self._device.type == "cpu")
    _counter = property(lambda self: _COUNTER.unpack(super().get_device_state(self._device.index)))

    def _require_offset(self):
        if self._on_cpu:
            raise RuntimeError("CPU Generator does not use offset: only generators of CUDA devices have one")

    def graphsafe_get_state(self):
        """Return a generator that draws from the same stream."""
        other = Generator(self._device)
        other.share(self)
        return other

    def graphsafe_set_state(self, state):
        """Draw from another generator's stream from now on; graphs go on with the stream that they were given.

        Parameters
        ----------
        state : Generator
            The other generator, such as `graphsafe_get_state` returned.

        """
        note("goes on from another state of a generator")
        self.share(state)
        return self

    def clone_state(self):
        """Return a generator that goes on as this one would."""
        other = Generator(self._device)
        other.set_whole_state(self.get_whole_state())
        return other


DEFAULT_SEED = 67280421310721
_COUNTER = struct.Struct("=QQ")  # a device's seed and offset


def state_tensor(state):
    """Return a state as a tensor of bytes."""
    return tensor(list(state), dtype=OBJECTS["uint8"])


def state_bytes(state):
    """Return the bytes of a state's tensor."""
    if not isinstance(state, Tensor) or state.dtype.name != "uint8":
        raise TypeError("set_rng_state: got no tensor of bytes, expected one from get_rng_state()")
    return bytes(state.numpy())


@function
def manual_seed(seed):
    """Start the default stream anew; returns its generator."""
    note("seeds a generator")
    return current_generator().manual_seed(int(seed))


@function
def seed():
    """Seed the default stream with a number nobody can foresee, and return it."""
    note("seeds a generator")
    return current_generator().seed()


@function
def initial_seed():
    """Return the seed of the default stream."""
    note("reads a generator's seed")
    return current_generator().initial_seed()


@function
def get_rng_state():
    """Return the state of the default stream as a tensor of bytes."""
    return state_tensor(current_generator().get_state())


@function
def set_rng_state(new_state):
    """Continue the default stream from a saved state."""
    note("goes on from another state of a generator")
    current_generator().set_state(state_bytes(new_state))


def _of_shape(name):
    operator = getattr(ops, name)

    def draw(*size, generator=None, out=None, dtype=None, layout=None, device=None, requires_grad=False,
             pin_memory=False, **named):
        require_strided(name, layout)
        size = named.pop("size") if "size" in named else shape_of(size)
        if named:
            raise TypeError(f"{name}: got an unexpected keyword argument {next(iter(named))!r}")
        if out is not None:
            require_dtype(out, dtype)
            return operator(size, generator=generator, dtype=out.dtype, out=out.resize_(size))
        return finish(operator(size, generator=generator, dtype=dtype, device=as_device(device)), requires_grad,
                      pin_memory)
    return overload(name)(named(draw, name, f"Return a tensor of random numbers, as the operator `{name}` draws them."))


def _like(name):
    operator = getattr(ops, name)

    def draw(input, *bounds, generator=None, dtype=None, layout=None, device=None, requires_grad=False,
             memory_format=None, pin_memory=False, **named):
        require_strided(name, layout)
        if name == "randint_like":
            bounds = (named.pop("low"), *bounds) if "low" in named else bounds
            bounds = (*bounds, named.pop("high")) if "high" in named else bounds
            bounds = (0, *bounds) if len(bounds) == 1 else bounds
        if memory_format not in (None, preserve_format):  # numbers fall in the order of memory
            input = in_format(ops.empty_like(input), memory_format)
        made = operator(input, *bounds, generator=generator, dtype=dtype,
                        device=None if device is None else as_device(device), **named)
        return finish(made, requires_grad)
    return function(named(draw, name,
                          f"Return random numbers in another tensor's shape, as the operator `{name}` draws them."))


rand, randn = _of_shape("rand"), _of_shape("randn")
rand_like, randn_like, randint_like = _like("rand_like"), _like("randn_like"), _like("randint_like")


@overload("randint")
def randint(*args, generator=None, out=None, dtype=None, layout=None, device=None, requires_grad=False,
            pin_memory=False, low=None, high=None, size=None):
    """Return integers from `low`, 0 by default, up to, not including, `high`."""
    require_strided("randint", layout)
    args = list(args)
    if len(args) < (size is None) + (high is None):
        raise TypeError("randint() received an invalid combination of arguments - got "
                        f"({', '.join(type(value).__name__ for value in args)}), but expected (high, size) or "
                        "(low, high, size)")
    size = args.pop() if size is None else size
    if high is None:
        high = args.pop()
    if low is None:
        low = args.pop() if args else 0
    if args:
        raise TypeError("randint: got too many positional arguments, expected (low, high, size) or (high, size)")
    if out is not None:
        require_dtype(out, dtype)
        return ops.randint(low, high, size, generator=generator, dtype=out.dtype, out=out.resize_(size))
    return finish(ops.randint(low, high, size, generator=generator, dtype=dtype or OBJECTS["int64"],
                              device=as_device(device)), requires_grad, pin_memory)


@function
def randperm(n, *, generator=None, out=None, dtype=None, layout=None, device=None, requires_grad=False,
             pin_memory=False):
    """Return the integers below `n` in random order."""
    require_strided("randperm", layout)
    if out is not None:
        require_dtype(out, dtype)
        return ops.randperm(n, generator=generator, dtype=out.dtype, out=out.resize_((n,)))
    return finish(ops.randperm(n, generator=generator, dtype=dtype or OBJECTS["int64"], device=as_device(device)),
                  requires_grad, pin_memory)


@function
def normal(mean=0.0, std=1.0, size=None, *, generator=None, out=None, dtype=None, layout=None, device=None,
           requires_grad=False, pin_memory=False):
    """Return numbers drawn from normal distributions, of one mean and deviation or one for each."""
    if size is not None:
        if out is not None:
            require_dtype(out, dtype)
            dtype = out.dtype
        drawn = ops.normal(ops.empty(size, dtype=dtype, device=as_device(device)), mean, std, generator=generator)
    else:
        tensors = [value for value in (mean, std) if isinstance(value, Tensor)]
        shape = broadcast_shape(tensors)
        like = tensors[0]
        memory = ops.empty(shape, dtype=like.dtype, device=like.device)
        drawn = (ops.normal_of(memory, _plain(mean), std.detach(), generator=generator) if isinstance(std, Tensor) else
                 ops.add(ops.normal(memory, 0.0, std, generator=generator), mean.detach()))
        for value in tensors:
            if value.requires_grad:  # part of the history, with a gradient of zero, as in PyTorch
                drawn = ops.where(ops.zeros((), dtype=OBJECTS["bool"]), value, drawn)
    return deliver(drawn, out) if out is not None else finish(drawn, requires_grad)


def _plain(value):
    """Return a tensor without history, or a number."""
    return value.detach() if isinstance(value, Tensor) else value


def broadcast_shape(tensors):
    """Return the shape that tensors broadcast to."""
    return (tensors[0] if len(tensors) == 1 else tensors[0] + tensors[1]).shape


@function
def bernoulli(input, p=None, *, generator=None, out=None):
    """Return 0 or 1 for each probability of the input, or with one probability `p`."""
    drawn = (ops.bernoulli(input, generator=generator) if p is None
             else ops.bernoulli_like(input, p, generator=generator))
    return deliver(drawn, out)


@method
def bernoulli_(self, p=0.5, *, generator=None):
    """Fill the tensor with 0 or 1: one probability, or a tensor of them."""
    if isinstance(p, Tensor):
        return self.copy_(ops.bernoulli_of(self, p, generator=generator))
    return ops.bernoulli_like_(self, p, generator=generator)


@method
def random_(self, *bounds, generator=None, **named):
    """Fill the tensor with integers: below a bound, from a bound up to another one, or with all that its dtype counts.

    Parameters
    ----------
    bounds : int
        `to`, which does not occur; or `from`, the least, and `to`.
    generator : Generator, optional
        Whom to draw from; the default stream otherwise.

    Returns
    -------
    Tensor
        Itself.

    """
    least, beyond = bounds if len(bounds) == 2 else (None, *bounds) if len(bounds) == 1 else (None, None)
    least, beyond = named.pop("from", least), named.pop("to", beyond)
    if named or len(bounds) > 2:
        told = f"keyword {next(iter(named))!r}" if named else f"{len(bounds)} bounds"
        raise TypeError(f"random_: got {told}, expected from and to, to, or neither")
    return ops.random_(self, 0 if least is None and beyond is not None else least, beyond, generator=generator)


@method
def bernoulli(self, p=None, *, generator=None):  # noqa: F811 (as the function, without out=)
    """Return 0 or 1 for each probability in the tensor, or with one probability `p`."""
    return (ops.bernoulli(self, generator=generator) if p is None
            else ops.bernoulli_like(self, p, generator=generator))


@function
def poisson(input, generator=None):
    """Return counts drawn from Poisson distributions of these rates."""
    return ops.poisson(input, generator=generator)

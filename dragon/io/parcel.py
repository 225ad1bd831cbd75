"""Objects on their way to another process: structure is pickled, numbers go through shared memory.

Pickle protocol 5 hands buffers over beside its stream ("out of band"). Here each of them becomes a place in a block:
where it lies, if that is shared memory already, or in one block that the parcel takes for all others.
"""
import copyreg
import ctypes
import io
import os
import pickle
import sys
from collections import ChainMap
from multiprocessing.reduction import ForkingPickler

from dragon import _C
from dragon.core.dtypes import NATIVE
from dragon.core.operators import operators
from dragon.core.parts import parts_of
from dragon.io.block import SENT, align


def raw_memory(address, nbytes):
    """Return a view of memory at an address; whoever asks keeps its owner alive."""
    return memoryview((ctypes.c_ubyte * nbytes).from_address(address)).cast("B")


def span(shape, strides):
    """Return how many elements lie between the first and the last, both included."""
    return 1 + sum((size - 1) * step for size, step in zip(shape, strides))


class Packer(ForkingPickler):
    """A pickler that hands buffers over beside its stream."""

    def __init__(self, stream, arena):
        self.arena = arena
        self.buffers, self.kept, self.addresses = [], [], {}
        pickle.Pickler.__init__(self, stream, 5, buffer_callback=self.buffers.append)
        self.dispatch_table = ChainMap(self._extra_reducers, copyreg.dispatch_table)

    def reducer_override(self, value):
        """Take tensors and arrays apart so that their numbers stay out of the stream."""
        if isinstance(value, _C.Tensor):
            # One that is made of others has no numbers; it says itself how it is taken apart.
            return self._take_apart(value) if parts_of(value) is None else NotImplemented
        numpy = sys.modules.get("numpy")
        if numpy is not None and type(value) is numpy.ndarray and not value.dtype.hasobject and not (
                value.flags.c_contiguous or value.flags.f_contiguous):
            return numpy.ascontiguousarray(value).__reduce_ex__(5)
        return NotImplemented

    def _take_apart(self, tensor):
        if tensor.requires_grad and not tensor.is_leaf:
            raise RuntimeError("parcel: got a non-leaf tensor that requires grad, expected a leaf or a detached "
                               "tensor: histories do not cross processes; call detach() first")
        if tensor.device.type != "cpu":
            raise NotImplementedError(f"parcel: got a tensor on {tensor.device}, expected one on the CPU")
        plain = _C.as_class(tensor, _C.Tensor).detach()
        shape, strides = tuple(plain.shape), tuple(plain.strides)
        count = plain.size
        if count and span(shape, strides) != count and not self._is_shared(plain):
            plain = operators().contiguous(plain)
            strides = tuple(plain.strides)
        nbytes = span(shape, strides) * plain.itemsize if count else 0
        address = plain.data_ptr()
        buffer = pickle.PickleBuffer(raw_memory(address, nbytes)) if count else None
        self.kept.append(plain)
        if buffer is not None:
            self.addresses[id(buffer)] = address
            self.kept.append(buffer)
        attributes = dict(vars(tensor)) if hasattr(tensor, "__dict__") else None
        return make_tensor, (type(tensor), plain.dtype.name, shape, strides, tensor.requires_grad,
                             buffer, attributes or None)

    def _is_shared(self, plain):
        nbytes = span(plain.shape, plain.strides) * plain.itemsize
        return self.arena.find(plain.data_ptr(), nbytes) is not None


def make_tensor(kind, dtype, shape, strides, requires_grad, buffer, attributes):
    """Put a tensor together over memory that came out of band."""
    ops = operators()
    if buffer is None:
        made = ops.empty(shape, dtype=NATIVE[dtype])
    else:
        flat = ops.view_dtype(_C.from_buffer(buffer, _C.Tensor), NATIVE[dtype])
        made = ops.as_strided(flat, shape, strides, 0)
    made = _C.as_class(made, kind)
    if type(made) is not kind:  # a class of the user's own
        made.__class__ = kind
    if requires_grad:
        made.requires_grad = True
    if attributes:
        vars(made).update(attributes)
    return made


def pack(value, arena):
    """Return the bytes that stand for an object; its numbers lie in blocks of the arena."""
    stream = io.BytesIO()
    packer = Packer(stream, arena)
    packer.dump(value)
    places, loose = [], []
    for buffer in packer.buffers:
        view = buffer.raw()
        address = packer.addresses.get(id(buffer))
        found = None if address is None else arena.find(address, view.nbytes)
        if found is None:
            loose.append((len(places), view))
        else:
            found[0].counters[SENT] += 1
        places.append(None if found is None else (found[0].number, found[0].descriptor, found[1], view.nbytes))
    if loose:
        block, offset = arena.take(sum(align(view.nbytes) for _, view in loose)), 0
        for index, view in loose:
            block.data[offset:offset + view.nbytes] = view
            places[index] = block.number, block.descriptor, offset, view.nbytes
            offset += align(view.nbytes)
        block.counters[SENT] += len(loose)
    retired, arena.retired = arena.retired, []
    return pickle.dumps((os.getpid(), places, retired, stream.getvalue()), 5)


def unpack(message, mailbox):
    """Return the object that bytes stand for; its numbers are looked at where they lie."""
    mailbox.settle()
    process, places, retired, stream = pickle.loads(message)
    buffers = [mailbox.view(process, *place) for place in places]
    mailbox.forget(process, retired)
    return pickle.loads(stream, buffers=buffers)

"""Memory of CUDA devices that other libraries lend: through DLPack, or `__cuda_array_interface__`."""
from dragon import _C
from dragon.core import accelerator
from dragon.vm.torch.core.dtypes import OBJECTS

CUDA = 2  # DLPack's number of the kind of device
# NumPy's letters for kinds of numbers, and what dtypes are called here.
KINDS = {"b": "bool", "i": "int", "u": "uint", "f": "float", "c": "complex"}


def take(source, tensor_class):
    """Return a tensor over what an object lends through DLPack, ready for work that is queued here."""
    kind = getattr(source, "__dlpack_device__", lambda: (0, 0))()
    if kind[0] == CUDA:
        stream = accelerator.current_stream(kind[1]) or None
        try:
            source = source.__dlpack__(stream=stream, max_version=(1, 0))
        except TypeError:  # a lender from before DLPack 1.0
            source = source.__dlpack__(stream=stream)
    return _C.from_dlpack(source, tensor_class)


def borrow(source, tensor_class):
    """Return a tensor over the memory that an object's `__cuda_array_interface__` tells of."""
    told = source.__cuda_array_interface__
    kind, size = told["typestr"][1], int(told["typestr"][2:])
    if kind not in KINDS or told["typestr"][0] == ">" or told.get("mask") is not None:
        raise TypeError(f"as_tensor: got device memory of {told['typestr']!r}, expected plain numbers in the machine's "
                        "order of bytes")
    name = "bool" if kind == "b" else f"{KINDS[kind]}{8 * size}"
    steps, step = [], 1
    for length in reversed(told["shape"]):
        steps.insert(0, step)
        step *= length
    if told.get("strides") is not None:
        if any(stride % size or stride < 0 for stride in told["strides"]):
            raise ValueError(f"as_tensor: got strides of {told['strides']} bytes, expected multiples of {size}, none "
                             "below 0")
        steps = [stride // size for stride in told["strides"]]
    address, read_only = told["data"]
    index, stream = accelerator.cuda_index(), told.get("stream")
    if stream is not None and stream != accelerator.current_stream(index):
        event = _C.Event(False, False, False)
        event.record(index, stream)
        event.wait(index, accelerator.current_stream(index))
    made = accelerator.borrow_cuda(address, tuple(told["shape"]), tuple(steps), OBJECTS[name], index, source,
                                   tensor_class)
    return made.clone() if read_only else made

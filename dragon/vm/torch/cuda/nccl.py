"""NCCL among the CUDA devices of one process."""
import contextlib

from dragon.core import config, groups
from dragon.core import warnings as _warnings
from dragon.core.scopes import contextmanager

SUM = 0
_REDUCTIONS = {0: "sum", 1: "product", 2: "maximum", 3: "minimum", 4: "average"}


def is_available(tensors):
    """Return whether NCCL can do something with tensors: they are dense, without gaps, and each on its own device."""
    devices = set()
    for tensor in tensors:
        if tensor.is_sparse or not tensor.is_contiguous() or not tensor.is_cuda or tensor.get_device() in devices:
            return False
        devices.add(tensor.get_device())
    if not groups.collectives_version("cuda"):
        _warnings.warn("PyTorch is not compiled with NCCL support")
        return False
    return True


def version():
    """Return the version of NCCL, as (major, minor, patch)."""
    _require("version")
    found = groups.collectives_version("cuda")
    return found // 10000, found // 100 % 100, found % 100


def _require(name):
    if not config.device_count("cuda") or not groups.collectives_version("cuda"):
        raise RuntimeError(f"torch.cuda.nccl.{name} needs CUDA devices and NCCL: got none, expected libnccl.so.2 (`pip "
                           "install nvidia-nccl-cu13`, or DRAGON_CUDA_LIBRARIES=folder/that/holds/it)")


def unique_id():
    """Raise: processes meet in groups of `torch.distributed`."""
    _require("unique_id")
    raise NotImplementedError("torch.cuda.nccl.unique_id: got a call, expected torch.distributed: groups of processes "
                              "tell each other the ids of their communicators")


def init_rank(num_ranks, uid, rank):
    """Raise: processes meet in groups of `torch.distributed`."""
    _require("init_rank")
    raise NotImplementedError("torch.cuda.nccl.init_rank: got a call, expected torch.distributed.init_process_group("
                              "'nccl')")


def _check_list(inputs):
    if not isinstance(inputs, (list, tuple)):
        raise TypeError("Inputs should be a collection of tensors")


def _check(who, inputs, outputs, factors=(1, 1)):
    """Raise unless there are tensors of one dtype and shape, one on each device, and results that fit."""
    _require(who)
    if not inputs:
        raise RuntimeError(f"{who}: got no input tensor, expected one for each device")
    if len(inputs) != len(outputs):
        raise RuntimeError(f"{who}: got {len(inputs)} inputs and {len(outputs)} outputs, expected as many of both")
    first, seen = inputs[0], set()
    for tensor, output in zip(inputs, outputs):
        if not tensor.is_cuda or not output.is_cuda:
            raise RuntimeError(f"{who}: input and output elements have to be cuda dense Tensors: got tensors on "
                               f"{tensor.device} and {output.device}")
        if tensor.get_device() != output.get_device():
            raise RuntimeError(f"{who}: input and output must be on the same device: got {tensor.device} and "
                               f"{output.device}")
        if tensor.get_device() in seen:
            raise RuntimeError(f"{who}: inputs must be on unique devices: got {tensor.device} twice")
        seen.add(tensor.get_device())
        if tensor.dtype != first.dtype or output.dtype != first.dtype:
            raise RuntimeError(f"{who}: all inputs and outputs must be of the same Tensor dtype: got {tensor.dtype} "
                               f"and {output.dtype} beside {first.dtype}")
        if tensor.numel() != first.numel() or tensor.numel() * factors[0] != output.numel() * factors[1]:
            raise RuntimeError(f"{who}: tensor has incorrect number of elements: got {tensor.numel()} and an output of "
                               f"{output.numel()} beside {first.numel()}")
        if not tensor.is_contiguous() or not output.is_contiguous():
            raise RuntimeError(f"{who}: input and output elements must be contiguous")


@contextmanager
def _on(streams, tensors):
    """Have devices work on streams, one for each, within a `with` block; on their current ones where none is given."""
    from dragon.vm.torch import cuda
    if streams is None:
        yield
        return
    if len(streams) != len(tensors):
        raise RuntimeError(f"number of streams is not equal to number of inputs: got {len(streams)} and "
                           f"{len(tensors)}")
    with contextlib.ExitStack() as stack:
        for stream in streams:
            if stream is not None:
                stack.enter_context(cuda.stream(stream))
        yield


def _collect(who, inputs, outputs, op, root, streams, comms):
    if comms is not None:
        raise NotImplementedError(f"torch.cuda.nccl.{who}: got comms, expected None: communicators of this process's "
                                  "devices are made and kept by their list")
    if op not in _REDUCTIONS:
        raise RuntimeError(f"torch.cuda.nccl.{who}: got the operation {op}, expected one of {sorted(_REDUCTIONS)}")
    if not 0 <= root < len(inputs):
        raise RuntimeError(f"torch.cuda.nccl.{who}: invalid root: got {root}, expected 0 to {len(inputs) - 1}")
    with _on(streams, inputs):
        groups.collect_together(who, [tensor.detach() for tensor in inputs], [output.detach() for output in outputs],
                                _REDUCTIONS[op], root)


def all_reduce(inputs, outputs=None, op=SUM, streams=None, comms=None):
    """Reduce tensors of several devices, for all of them: into `outputs`, or in place."""
    _check_list(inputs)
    outputs = inputs if outputs is None else outputs
    _check_list(outputs)
    _check("all_reduce", inputs, outputs)
    _collect("all_reduce", inputs, outputs, op, 0, streams, comms)


def reduce(inputs, output=None, root=0, op=SUM, streams=None, comms=None, *, outputs=None):
    """Reduce tensors of several devices, for the one that `root` numbers: into `output`, or in place."""
    _check_list(inputs)
    if outputs is not None:
        if output is not None:
            raise ValueError("'output' and 'outputs' can not be both specified. 'outputs' is deprecated in favor of "
                             "'output', taking in a single output tensor. The signature of reduce is: reduce(inputs, "
                             "output=None, root=0, op=SUM, streams=None, comms=None).")
        _warnings.warn("`nccl.reduce` with an output tensor list is deprecated. Please specify a single output tensor "
                       "with argument 'output' instead instead.", FutureWarning)
        output = outputs[root]
    if not 0 <= root < len(inputs):
        raise RuntimeError(f"torch.cuda.nccl.reduce: invalid root: got {root}, expected 0 to {len(inputs) - 1}")
    places = list(inputs)
    places[root] = inputs[root] if output is None else output
    _check("reduce", inputs, places)
    _collect("reduce", inputs, places, op, root, streams, comms)


def broadcast(inputs, root=0, streams=None, comms=None):
    """Give the tensors of all devices the numbers of the one that `root` numbers."""
    _check_list(inputs)
    _check("broadcast", inputs, inputs)
    _collect("broadcast", inputs, inputs, SUM, root, streams, comms)


def all_gather(inputs, outputs, streams=None, comms=None):
    """Give each device the tensors of all, one after the other."""
    _check_list(inputs)
    _check_list(outputs)
    _check("all_gather", inputs, outputs, (len(inputs), 1))
    _collect("all_gather", inputs, outputs, SUM, 0, streams, comms)


def reduce_scatter(inputs, outputs, op=SUM, streams=None, comms=None):
    """Reduce tensors of several devices, and give each a part."""
    _check_list(inputs)
    _check_list(outputs)
    _check("reduce_scatter", inputs, outputs, (1, len(inputs)))
    _collect("reduce_scatter", inputs, outputs, op, 0, streams, comms)

"""The segments of devices' memory, in the form of PyTorch's snapshots."""
from dragon.core import accelerator
from dragon.vm.torch.core.nvidia.presence import device_count, require


def memory_snapshot(mempool_id=None, include_traces=True):
    """Return the segments of all devices' memory, and the blocks that each is cut into.

    Parameters
    ----------
    mempool_id : tuple, optional
        The token of a graph's memory, or of a `MemPool`, to be told of that alone.
    include_traces : bool, optional, default=True
        Whether what is remembered of allocations comes with it: see `_snapshot`, which has it.

    Returns
    -------
    list of dict
        A segment each, with a list of its blocks.

    """
    require("memory_snapshot")
    found = []
    for index in range(device_count()):
        for address, size, stream, pool, small, used, blocks, expands in accelerator.memory_snapshot(index):
            if mempool_id is None or tuple(mempool_id) == (0, pool):
                found.append({
                    "device": index, "address": address, "total_size": size, "stream": stream,
                    "segment_type": "small" if small else "large", "segment_pool_id": (0, pool),
                    "allocated_size": used, "active_size": used, "requested_size": used, "is_expandable": expands,
                    "frames": [], "blocks": [{"address": at, "size": part, "requested_size": part if busy else 0,
                                              "state": "active_allocated" if busy else "inactive", "frames": []}
                                             for at, part, busy in blocks]})
    return found

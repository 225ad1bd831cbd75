"""Hooks of `DistributedDataParallel` that step a `ZeroRedundancyOptimizer` within the backward pass."""
from dragon.vm.torch.distributed.optim import ZeroRedundancyOptimizer


def _overlap_of(ddp, zero, shard_buckets):
    """Return what an optimizer knows of a module's buckets."""
    if not isinstance(zero, ZeroRedundancyOptimizer) or not zero._overlap_with_ddp:
        raise ValueError(f"got {zero!r}, expected a ZeroRedundancyOptimizer with overlap_with_ddp=True: "
                         "ZeroRedundancyOptimizer must be constructed with `overlap_with_ddp=True` to use this hook "
                         "properly")
    overlap = zero._overlap
    overlap.cuts_buckets = bool(shard_buckets)
    overlap.warm_ups = 3 if ddp.static_graph else 2
    return overlap


def _hooked(hook, ddp, zero, shard_buckets, kept):
    """Return a hook that steps buckets once at most so many wait, and all of them at the last one."""
    overlap = _overlap_of(ddp, zero, shard_buckets)

    def hook_with_zero(state, bucket):
        future = hook(state, bucket)
        overlap.begin(bucket.index())
        if not overlap.steps:
            overlap.learn(bucket)
            return future
        overlap.send(bucket, future)
        overlap.settle(0 if bucket.is_last() else kept)
        if bucket.is_last():
            overlap.finish()
        return future
    return hook_with_zero


def hook_with_zero_step(hook, ddp, zero, shard_buckets=False):
    """Return a hook that steps an optimizer once all gradients are on their way, bucket by bucket.

    The first two backward passes, three with `static_graph`, step nothing: they tell what is in the buckets.

    Parameters
    ----------
    hook : Callable[[Any, GradBucket], torch.futures.Future]
        Averages a bucket.
    ddp : DistributedDataParallel
        The module.
    zero : ZeroRedundancyOptimizer
        The optimizer, made with `overlap_with_ddp=True`.
    shard_buckets : bool, optional, default=False
        Whether a bucket is stepped by several processes, so that all have about as much to do.

    Returns
    -------
    Callable[[Any, GradBucket], torch.futures.Future]
        The hook, for `register_comm_hook`.

    """
    return _hooked(hook, ddp, zero, shard_buckets, float("inf"))


def hook_with_zero_step_interleaved(hook, ddp, zero, shard_buckets=False):
    """Return a hook that steps each bucket while the next one's gradients are averaged.

    The first two backward passes, three with `static_graph`, step nothing: they tell what is in the buckets.

    Parameters
    ----------
    hook : Callable[[Any, GradBucket], torch.futures.Future]
        Averages a bucket.
    ddp : DistributedDataParallel
        The module.
    zero : ZeroRedundancyOptimizer
        The optimizer, made with `overlap_with_ddp=True`.
    shard_buckets : bool, optional, default=False
        Whether a bucket is stepped by several processes, so that all have about as much to do.

    Returns
    -------
    Callable[[Any, GradBucket], torch.futures.Future]
        The hook, for `register_comm_hook`.

    """
    return _hooked(hook, ddp, zero, shard_buckets, 1)  # all processes send in one order, whatever is ready first

"""A hook that sends nothing, to tell what sending costs."""
from dragon.vm.torch.futures import Future


def noop_hook(_, bucket):
    """Return a future of a bucket as it is: each process goes on with its own gradients."""
    future = Future()
    future.set_result(bucket.buffer())
    return future

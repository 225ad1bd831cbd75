"""What processes of tests run; a module of its own, so that spawned ones can import it."""


def put_tensors(rank, queue, shared, event):
    """Write into shared memory, send a tensor, and stay until it was received."""
    from dragon.vm import torch
    shared[rank] = rank + 5
    queue.put((rank, torch.full((3,), float(rank)), torch.zeros(0, 2)))
    event.wait(20)


def fail(rank):
    """Raise in the second process, leave with a code in the third."""
    if rank == 1:
        raise ValueError("no good")
    if rank == 2:
        raise SystemExit(3)


def die(rank):
    """Be killed."""
    import os
    import signal
    os.kill(os.getpid(), signal.SIGKILL)


def put_sums(rank, queue, parts):
    """Tell the sums of tensors, and whether the first two lie in the same memory."""
    sums = [part.sum().item() for part in parts]
    parts[0][1] = 100
    queue.put((sums, parts[1][0].item() == 100))

"""Tensors from one process to another."""
from dragon.vm.torch.distributed.collectives import _member, _require_tensor
from dragon.vm.torch.distributed.groups import P2POp
from dragon.vm.torch.distributed.making import get_group_rank, get_global_rank

ANYBODY = -1


class MessageWork:
    """A message on its way.

    Parameters
    ----------
    message : dragon._C.Message
        What tells whether it has come or gone.
    group : ProcessGroup
        Whose it is.
    deliver : Callable, optional
        Called once when it has come.

    """

    def __init__(self, message, group, deliver=None):
        self._message, self._group, self._deliver = message, group, deliver

    def wait(self, timeout=None):
        """Wait until it has come, or gone. Returns True."""
        seconds = timeout.total_seconds() if timeout else self._group._core.timeout
        self._message.wait(seconds)
        if self._deliver is not None:
            deliver, self._deliver = self._deliver, None
            deliver()
        return True

    def is_completed(self):
        """Return whether it has come, or gone."""
        return self._message.is_done()

    is_success = is_completed

    def synchronize(self):
        """Wait until it has come, or gone."""
        self.wait()

    def source_rank(self):
        """Return whose it is, as a rank in the world."""
        return get_global_rank(self._group, self._message.rank)


def _peer(group, rank, group_rank, name, who):
    if rank is not None and group_rank is not None:
        raise ValueError(f"Cannot specify both {name} and group_{name}")
    if rank is None and group_rank is None:
        if name == "src":
            return ANYBODY
        raise ValueError(f"Must specify {name} or group_{name}")
    peer = get_group_rank(group, rank) if group_rank is None else int(group_rank)
    if peer == group.rank():
        raise ValueError(f"Invalid {'destination' if name == 'dst' else 'source'} rank: {who} got this process's own, "
                         f"{group.rank()}, expected another's; a process does not send to itself")
    return peer


def _outgoing(tensor, dst, group, tag, group_dst):
    """Return what is told of a message that goes out, and what is to be done once it is gone."""
    return (tensor.detach().contiguous(), _peer(group, dst, group_dst, "dst", "isend"), tag, True), None


def _incoming(tensor, src, group, tag, group_src):
    """Return what is told of a message that comes in, and what is to be done once it is there."""
    peer, target = _peer(group, src, group_src, "src", "irecv"), tensor.detach()
    held = target if target.is_contiguous() else target.contiguous().clone()
    return (held, peer, tag, False), None if held is target else lambda: target.copy_(held)


def _noted(work):
    """Return the work of a message; a block that waits at its end waits for it."""
    begun = work._group._core.begun
    if begun is not None:
        begun.append(work)
    return work


def isend(tensor, dst=None, group=None, tag=0, group_dst=None):
    """Begin to send a tensor; return the work. NCCL knows no tags: messages of two processes keep their order."""
    _require_tensor(tensor)
    if (group := _member(group, "isend")) is None:
        return None
    told, _ = _outgoing(tensor, dst, group, tag, group_dst)
    return _noted(MessageWork(group._core.post(*told), group))


def irecv(tensor, src=None, group=None, tag=0, group_src=None):
    """Begin to receive a tensor; return the work."""
    _require_tensor(tensor)
    if (group := _member(group, "irecv")) is None:
        return None
    told, deliver = _incoming(tensor, src, group, tag, group_src)
    return _noted(MessageWork(group._core.post(*told), group, deliver))


def send(tensor, dst=None, group=None, tag=0, group_dst=None):
    """Send a tensor."""
    work = isend(tensor, dst, group, tag, group_dst)
    if work is not None:
        work.wait()


def recv(tensor, src=None, group=None, tag=0, group_src=None):
    """Receive a tensor, of anybody where no rank is named; return whose it was."""
    work = irecv(tensor, src, group, tag, group_src)
    if work is None:
        return -1
    work.wait()
    return work.source_rank()


def batch_isend_irecv(p2p_op_list):
    """Begin to send and receive several tensors; return the works."""
    if not isinstance(p2p_op_list, list) or not all(isinstance(one, P2POp) for one in p2p_op_list):
        raise ValueError("Invalid ``p2p_op_list``. Each op is expected to be of type ``torch.distributed.P2POp``.")
    works, parts = [], {}
    for one in p2p_op_list:  # those of one group and device go together: no order of theirs can leave anybody waiting
        _require_tensor(one.tensor)
        group = _member(one.group, "batch_isend_irecv")
        if group is not None:
            told = (_outgoing if one.op is isend else _incoming)(one.tensor, one.peer, group, one.tag, one.group_peer)
            parts.setdefault((group, str(one.tensor.device)), []).append(told)
    for (group, _), told in parts.items():
        begun = group._core.post_all([each for each, _ in told])
        works += [MessageWork(message, group, deliver) for message, (_, deliver) in zip(begun, told)]
    return works

"""Dragon's own names: the world that the environment tells of, groups within it, and what they do."""
import pytest
from harness.ranks import HEAD, run_ranks

from dragon import distributed
from dragon.distributed.errors import DistributedError

JOIN = HEAD + """
import os
os.environ.update(RANK=str(rank), WORLD_SIZE=str(size), MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
import numpy as np
import dragon
from dragon import distributed
world = distributed.join_world(30.0)
"""


def test_collectives_of_the_world_and_of_groups():
    run_ranks('''
    x = dragon.tensor([1.0 + rank, 2.0], requires_grad=True)
    y = distributed.all_reduce(x)
    y.sum().backward()
    assert np.asarray(y.detach()).tolist() == [3.0, 4.0] and np.asarray(x.grad).tolist() == [2.0, 2.0]
    x = x.detach()
    assert np.asarray(distributed.all_gather(x)).tolist() == [1.0, 2.0, 2.0, 2.0]
    assert np.asarray(distributed.reduce_scatter(x)).tolist() == [[3.0], [4.0]][rank]
    assert np.asarray(distributed.broadcast(x, 1)).tolist() == [2.0, 2.0]
    assert np.asarray(distributed.reduce(x, 0, "maximum")).tolist() == [2.0, 2.0]
    assert np.asarray(distributed.gather(x)).tolist() == ([1.0, 2.0, 2.0, 2.0] if rank == 0 else [])
    assert np.asarray(distributed.scatter(x, 0, [1])).tolist() == [[1.0], [2.0]][rank]
    assert np.asarray(distributed.all_to_all(x)).tolist() == [[1.0, 2.0], [2.0, 2.0]][rank]
    if rank == 0:
        distributed.send(x, 1)
    else:
        into = dragon.tensor([0.0, 0.0])
        assert distributed.receive(into) == 0 and np.asarray(into).tolist() == [1.0, 2.0]
    distributed.barrier()
    from dragon.distributed.stores.memory import MemoryStore
    alone = distributed.ProcessGroup(MemoryStore(), 0, 1)
    with alone.as_default():
        assert distributed.default_group() is alone
        assert np.asarray(distributed.all_reduce(x)).tolist() == [1.0 + rank, 2.0]
    assert distributed.default_group() is None and distributed.world() is world
    assert np.asarray(distributed.all_reduce(x, group=alone)).tolist() == [1.0 + rank, 2.0]
    distributed.barrier()
    distributed.leave_world()
    assert distributed.world() is None
    ''', 2, JOIN)


def test_a_process_that_was_told_nothing_is_alone(monkeypatch):
    for word in ("RANK", "WORLD_SIZE"):
        monkeypatch.delenv(word, raising=False)
    world = distributed.join_world()
    try:
        assert (world.rank, world.size, world.ranks) == (0, 1, [0])
        with pytest.raises(DistributedError, match="second call"):
            distributed.join_world()
    finally:
        distributed.leave_world()
    with pytest.raises(DistributedError, match="no group"):
        distributed.all_reduce(None)
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(DistributedError, match="nothing of RANK"):
        distributed.join_world()
    with pytest.raises(ValueError, match="rank 3 of 2"):
        distributed.ProcessGroup(None, 3, 2)

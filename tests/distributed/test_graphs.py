"""Collectives in graphs: each is made once and in its turn, whoever asks for the result."""
from harness.ranks import HEAD, run_ranks

JOIN = HEAD + """
import os
os.environ.update(RANK=str(rank), WORLD_SIZE=str(size), MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
import numpy as np
import dragon
from dragon import distributed, ops
world = distributed.join_world(30.0)
"""


def test_no_pass_leaves_one_out_or_makes_one_of_two():
    run_ranks('''
    def step(x):
        distributed.all_reduce(x)  # nobody asks for it, but the others may
        same = distributed.all_reduce(x * 2) * distributed.all_reduce(x * 2)
        known = distributed.all_reduce(ops.ones([3]))
        return same + known
    for level in (0, 1, 2, 3):
        compiled = dragon.function(step, level=level)
        for _ in range(3):
            assert np.asarray(compiled(ops.ones([3]) * (rank + 1))).tolist() == [38.0] * 3
        graph = compiled.graph
        assert sum(call.op == "all_reduce" for call in graph.calls) == 4, (level, graph)
    distributed.barrier()
    ''', 2, JOIN)


def test_ranks_whose_graphs_are_made_at_different_times_go_on_together():
    run_ranks('''
    compiled = dragon.function(lambda x: distributed.all_reduce(ops.ones([2])) + distributed.all_reduce(x))
    if rank == 0:  # the other one has no graph yet
        distributed.barrier()
        made = compiled(ops.ones([2]))
    else:
        distributed.barrier()
        made = distributed.all_reduce(ops.ones([2])) + distributed.all_reduce(ops.ones([2]))
    assert np.asarray(made).tolist() == [4.0, 4.0]
    distributed.barrier()
    ''', 2, JOIN)


def test_what_is_called_waits_for_what_was_begun_before():
    run_ranks('''
    import time
    from dragon.vm.torch import distributed as dist
    import dragon.vm.torch as torch
    from dragon.vm.torch.distributed.nn import functional as F
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port + 1}", rank=rank, world_size=size)
    compiled = torch.compile(lambda x: F.all_reduce(x * 2))
    for turn in range(30):
        begun = [torch.full((50_000,), float(rank + turn)) for _ in range(3)]
        works = [dist.all_reduce(each, async_op=True) for each in begun]
        if rank == 0 and turn % 3 == 0:
            time.sleep(0.01)  # one process is ahead of the other
        x = torch.ones(3, requires_grad=True)
        y = (F.all_reduce(x * (rank + 1)), F.all_gather(x)[1], compiled(x))[turn % 3]
        works.append(dist.all_reduce(torch.ones(2), async_op=True))
        y.sum().backward()  # whose collective comes in the same turn on both
        dist.barrier()
        assert [work.is_completed() for work in works] == [True] * 4
        assert begun[2][0].item() == 1 + 2 * turn
        assert y.tolist() == ([3.0] * 3, [1.0] * 3, [4.0] * 3)[turn % 3]
        assert x.grad.tolist() == ([2.0 * (rank + 1)] * 3, [2.0 * (rank == 1)] * 3, [4.0] * 3)[turn % 3], x.grad
    ''', 2, JOIN)

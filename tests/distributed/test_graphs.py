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

"""What programs take from inside of PyTorch's file of groups: blocks of calls, stores, timeouts, objects as bytes."""
from harness.worlds import run_beside, run_here

BLOCKS = '''
from torch.distributed.distributed_c10d import _coalescing_manager
others = dist.new_group([1, 0])
for group in (None, others):
    x, y = torch.arange(4.0) + rank, torch.arange(3.0) * (rank + 1)
    with _coalescing_manager(group):
        dist.all_reduce(x, group=group)
        dist.all_reduce(y, group=group)
    told(x, y)
x = torch.arange(4.0) + rank
with _coalescing_manager(async_ops=True) as manager:
    pass
manager.wait()
with dist._coalescing_manager() as manager:
    dist.all_reduce(x)
told(x, len(manager.works))
'''


def test_blocks_of_calls_are_waited_for_together():
    run_beside(BLOCKS, 2)


def test_blocks_take_what_gloo_has_no_blocks_of():
    run_here('''
from torch.distributed.distributed_c10d import _coalescing_manager
x, y = torch.arange(4.0) + rank, torch.arange(1.0) + 1
whole, part, got = torch.zeros(8), torch.zeros(2), torch.zeros(1)
with _coalescing_manager(async_ops=True) as manager:
    dist.all_gather_into_tensor(whole, x)
    dist.reduce_scatter_tensor(part, x)
    work = dist.all_reduce(x, async_op=True)
    dist.irecv(got, 1 - rank)
    dist.isend(y, 1 - rank)
    try:
        with _coalescing_manager():
            raise SystemExit("no error")
    except AssertionError as error:
        assert "within another one" in str(error)
assert len(manager.works) == 5
manager.wait()
assert work.is_completed() and got.item() == 1.0 and x.tolist() == [1.0, 3.0, 5.0, 7.0]
assert whole.tolist() == [0, 1, 2, 3, 1, 2, 3, 4] and part.tolist() == [[1.0, 3.0], [5.0, 7.0]][rank]
try:
    with _coalescing_manager():
        dist.all_reduce(torch.ones(2))
        raise KeyError("mine")
except KeyError:
    pass
dist.all_reduce(y)
assert y.item() == 2.0
''', 2)


def test_names():
    run_beside('''
from torch.distributed import distributed_c10d as inner
store = inner._get_default_store()
if rank == 0:
    store.set("mine", "words")
told(store.get("mine").decode(), inner._get_process_group_store(dist.group.WORLD).get("mine").decode())
told(inner._get_default_timeout("gloo").total_seconds(), inner._get_group_size(None))
told(inner._get_object_coll_device(), inner._get_process_group_name(dist.group.WORLD))
data, size_of = inner._object_to_tensor({"rank": 3, "words": [1.5, "x"]}, torch.device("cpu"), dist.group.WORLD)
told(data.dtype, size_of.dtype, size_of.shape, data.numel() == size_of.item())
told(str(inner._tensor_to_object(data, size_of, dist.group.WORLD)))
''', 2)


def test_a_timeout_may_be_changed_later():
    run_here('''
import time
from torch.distributed.distributed_c10d import _set_pg_timeout
group = dist.new_group([0, 1])
dist.all_reduce(torch.ones(2), group=group)
for wrong in (3, "1", None):
    try:
        _set_pg_timeout(wrong, group)
        raise SystemExit("no error")
    except TypeError as error:
        assert "timedelta" in str(error)
_set_pg_timeout(timedelta(seconds=0.5), group)
if rank == 0:
    begin = time.monotonic()
    try:
        dist.all_reduce(torch.ones(2), group=group)
        raise SystemExit("no error")
    except RuntimeError as error:
        assert "rank 1" in str(error) and time.monotonic() - begin < 20, error
else:
    time.sleep(1.5)
''', 2)

"""Senseless calls of `torch.distributed`: each ends at once or within its timeout, with words; no process dies."""
from harness.worlds import run_here

HOSTILE = '''
import os, random, threading, time
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor
nan, big = float("nan"), 2 ** 40
base = torch.arange(6.0).reshape(2, 3)
def expanded():
    return torch.ones(1).expand(4)  # elements that share memory
def overlapping():
    return torch.as_strided(torch.arange(6.0), (4, 3), (1, 1))
TENSORS = {
    "empty": lambda: torch.empty(0), "empty rows": lambda: torch.empty(0, 3), "scalar": lambda: torch.tensor(2.0),
    "nan": lambda: torch.tensor([nan, float("inf"), -0.0]), "turned": lambda: base.t(), "strided": lambda: base[:, ::2],
    "expanded": expanded, "overlapping": overlapping, "meta": lambda: torch.ones(2, device="meta"),
    "bool": lambda: torch.tensor([True, False]), "complex": lambda: torch.ones(2, dtype=torch.complex64),
    "half": lambda: torch.ones(2, dtype=torch.float16), "int8": lambda: torch.full((3,), 127, dtype=torch.int8),
    "learns": lambda: torch.ones(2, requires_grad=True), "sparse": lambda: torch.eye(2).to_sparse(),
    "quantized": lambda: torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8),
    "None": lambda: None, "number": lambda: 3, "text": lambda: "x", "list": lambda: [1.0],
    "array": lambda: [[torch.ones(2)]],
    "other size": lambda: torch.ones(2 + dist.get_rank()), "other dtype": lambda: torch.ones(2, dtype=(
        torch.float32, torch.float64)[dist.get_rank()]),
    "one is None": lambda: None if dist.get_rank() else torch.ones(2),
    "mesh": lambda: distribute_tensor(torch.ones(2, 2), MESH, [Shard(0)]),
}
MESH = init_device_mesh("cpu", (size,))
def calls(g, x, y):
    """Yield names and calls with a hostile tensor among their words."""
    yield "all_reduce", lambda: dist.all_reduce(x, group=g)
    yield "all_reduce max", lambda: dist.all_reduce(x, dist.ReduceOp.MAX, g)
    yield "broadcast", lambda: dist.broadcast(x, 0, g)
    yield "reduce", lambda: dist.reduce(x, 0, group=g)
    yield "all_gather", lambda: dist.all_gather([x, y], x, g)
    yield "all_gather short", lambda: dist.all_gather([x], x, g)
    yield "all_gather_into", lambda: dist.all_gather_into_tensor(x, y, g)
    yield "gather", lambda: dist.gather(x, [x, y] if rank == 0 else None, 0, g)
    yield "scatter", lambda: dist.scatter(x, [x, y] if rank == 0 else None, 0, g)
    yield "reduce_scatter", lambda: dist.reduce_scatter(x, [x, y], group=g)
    yield "reduce_scatter_tensor", lambda: dist.reduce_scatter_tensor(x, y, group=g)
    yield "all_to_all", lambda: dist.all_to_all([x, y], [y, x], g)
    yield "all_to_all_single", lambda: dist.all_to_all_single(x, y, [big, -1], [0, 0], g)
    yield "messages", lambda: dist.send(x, 1, g) if rank == 0 else dist.recv(x, 0, g)
    yield "batch", lambda: [work.wait() for work in dist.batch_isend_irecv([dist.P2POp(
        dist.isend if rank == 0 else dist.irecv, x, 1 - rank, g)])]
def words(g):
    """Yield names and calls with other hostile words."""
    x = torch.ones(2)
    for source in (-1, size, 2 ** 70, None, "0", 1.0, nan, True):
        yield f"broadcast of {source!r}", lambda source=source: dist.broadcast(x, source, g)
        yield f"send to {source!r}", lambda source=source: dist.send(x, source, g)
    for op in (None, "sum", 99, dist.ReduceOp.BAND, dist.ReduceOp.PRODUCT):
        yield f"reduce by {op!r}", lambda op=op: dist.all_reduce(x, op, g)
    for group in ("g", 3, object(), [], dist.GroupMember.NON_GROUP_MEMBER):
        yield f"group {group!r:.20}", lambda group=group: dist.all_reduce(x, group=group)
    yield "objects that cannot be pickled", lambda: dist.all_gather_object([None, None], lambda: 0, g)
    yield "objects of one", lambda: dist.all_gather_object([None], 1, g)
    yield "objects of none", lambda: dist.broadcast_object_list([], 0, g)
    yield "scattered objects", lambda: dist.scatter_object_list([None], [1, 2, 3] if rank == 0 else None, 0, g)
    yield "message to oneself", lambda: dist.send(x, rank, g)
    yield "splits", lambda: dist.all_to_all_single(torch.ones(4), torch.ones(4), [3, 3], [1, 3], g)
    yield "ranks of groups", lambda: dist.new_group([0, 5])
    yield "ranks twice", lambda: dist.new_group([0, 0])
    yield "no ranks", lambda: dist.get_rank(dist.new_group([]))
    yield "store", lambda: dist.TCPStore("256.256.256.256", -1, 1, False)
    yield "mesh too large", lambda: init_device_mesh("cpu", (big,))
    yield "mesh of nothing", lambda: init_device_mesh("cpu", (0,))
    yield "mesh of names", lambda: MESH["nowhere"]
    yield "mesh twice", lambda: DeviceMesh("cpu", [0, 0])
    yield "placements", lambda: distribute_tensor(torch.ones(2), MESH, [Shard(7)])
    yield "placed twice", lambda: distribute_tensor(torch.ones(2), MESH, [Shard(0), Replicate()])
    yield "placed wrongly", lambda: distribute_tensor(torch.ones(2), MESH, ["S(0)"])
    yield "parts", lambda: DTensor.from_local(torch.ones(2), MESH, [Shard(0)], shape=(big,), stride=(1,)).full_tensor()
    yield "parts of nothing", lambda: DTensor.from_local(None, MESH, [Shard(0)])
    yield "partial", lambda: DTensor.from_local(torch.ones(2), MESH, [Partial()]).redistribute(placements=[Shard(3)])
    yield "backend", lambda: dist.new_group(backend="nowhere")
    yield "timeout", lambda: dist.new_group(timeout="soon")
    yield "monitored", lambda: dist.monitored_barrier(g, timeout=timedelta(seconds=-1))
    yield "barrier of devices", lambda: dist.barrier(g, device_ids="all")
def attempt(name, call):
    begin = time.monotonic()
    try:
        call()
        said = "returned"
    except Exception as error:
        text = str(error)
        assert text.strip() and "INTERNAL" not in text, (name, repr(error))
        assert not isinstance(error, (SystemError, UnboundLocalError, NameError, RecursionError)), (name, repr(error))
        said = f"{type(error).__name__}: {text.splitlines()[0][:110]}"
    took = time.monotonic() - begin
    assert took < LIMIT, (name, took)
    if SHOWS:
        sys.stderr.write(f"{rank} {name}: {said} ({took:.1f} s)\\n")
def fresh():
    return dist.new_group(timeout=timedelta(seconds=1))
'''
TENSORS = HOSTILE + '''
names = list(TENSORS) if not CHOSEN else CHOSEN
for name in names:
    g = fresh()
    for which in range(99):
        x, y = TENSORS[name](), TENSORS[name]()
        found = list(calls(g, x, y))
        if which >= len(found):
            break
        attempt(f"{found[which][0]} of {name}", found[which][1])
        try:  # what failed here or elsewhere may have given the group up
            dist.all_reduce(torch.ones(1), group=g)
        except Exception:
            dist.barrier()
            g = fresh()
        dist.barrier()
assert torch.equal(torch.ones(2), torch.ones(2))
x = torch.full((2,), float(rank))
dist.all_reduce(x)
assert x.tolist() == [1.0, 1.0]
'''
WORDS = HOSTILE + '''
g = fresh()
for which in range(99):
    found = list(words(g))
    if which >= len(found):
        break
    attempt(*found[which])
    try:
        dist.all_reduce(torch.ones(1), group=g)
    except Exception:
        dist.barrier()
        g = fresh()
    dist.barrier()
x = torch.full((2,), float(rank))
dist.all_reduce(x)
assert x.tolist() == [1.0, 1.0]
'''
AFTER = HOSTILE + '''
def work(found, number):
    try:
        for _ in range(20):
            x = torch.full((3,), float(number))
            dist.all_reduce(x, group=groups[number])
            found.append(x.tolist() == [2.0 * number] * 3)
    except Exception as error:
        found.append(repr(error))
groups = [dist.new_group(timeout=timedelta(seconds=20)) for _ in range(4)]  # a thread each
found = []
threads = [threading.Thread(target=work, args=(found, number)) for number in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join(60)
assert found == [True] * 80, found
child = os.fork()
if child == 0:  # a fork is no member; it must say so, or answer what asks nobody, and end
    said = []
    for call in (lambda: dist.all_reduce(torch.ones(2)), lambda: dist.barrier(), lambda: dist.new_group(),
                 lambda: dist.send(torch.ones(2), 1 - rank), lambda: dist.broadcast_object_list([1], 0)):
        try:
            call()
        except Exception as error:
            said.append("fork" in str(error))
    os._exit(0 if said == [True] * 5 else 7)
deadline = time.monotonic() + 20
while True:
    ended, status = os.waitpid(child, os.WNOHANG)
    if ended or time.monotonic() > deadline:
        break
    time.sleep(0.05)
if not ended:
    os.kill(child, 9)
assert ended and os.waitstatus_to_exitcode(status) == 0, (ended, status)
dist.barrier()
mine, kept = torch.ones(2), groups[0]
pending = dist.all_reduce(mine, group=kept, async_op=True)
pending.wait()
dist.destroy_process_group()
gone = kept
attempt("wait again", pending.wait)
one = torch.ones(2)
for name, call in (*calls(gone, one, one), *calls(None, one, one), *words(gone)):
    attempt(f"{name} after the end", call)
attempt("twice", dist.destroy_process_group)
attempt("placed after the end", lambda: distribute_tensor(torch.ones(4), MESH, [Shard(0)]).full_tensor())
assert not dist.is_initialized()
os._exit(0)
'''


def _filled(code, chosen=(), shows=False):
    return code.replace("CHOSEN", repr(list(chosen))).replace("SHOWS", repr(shows)).replace("LIMIT", "30")


def test_senseless_tensors():
    run_here(_filled(TENSORS), 2)


def test_senseless_words():
    run_here(_filled(WORDS), 2)


def test_threads_forks_and_what_comes_after_the_end():
    run_here(_filled(AFTER), 2)

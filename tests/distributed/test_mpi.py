"""Groups over MPI, with whichever libraries there are: the same results as over shared memory, and letters."""
import importlib.util
import os
import pathlib
import subprocess
import sys
import textwrap

import pytest

import dragon
from dragon.distributed import launched, numbers
from dragon.distributed.errors import DistributedError
from dragon.distributed.mpi import library

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(dragon.__file__)))
# Pythons of environments with mpi4py and a library of MPI: this one, and those that are named, of other libraries.
PYTHONS = [path for path in [sys.executable, *os.environ.get("DRAGON_MPI_PYTHONS", "").split(os.pathsep)] if path]
PYTHONS = [path for path in PYTHONS if (pathlib.Path(path).parent / "mpirun").exists()]
GROUP = """
import numpy as np
import dragon
from dragon import ops
from dragon.distributed.group import ProcessGroup
from dragon.distributed.mpi.carrier import Carrier
from dragon.distributed.mpi.meeting import meet
rank, size, is_one = meet()
assert is_one
group = ProcessGroup(None, rank, size, 20.0, carry=Carrier)
g = group.number
"""


@pytest.fixture(params=PYTHONS or [None], ids=lambda path: path and pathlib.Path(path).parts[-3])
def mpirun(request, tmp_path):
    """Return a function that runs a program in several processes, and gives what came of it."""
    if request.param is None or importlib.util.find_spec("mpi4py") is None and request.param == sys.executable:
        pytest.skip("there is no mpi4py with a library of MPI in this environment, nor in those of DRAGON_MPI_PYTHONS")

    def call(code, size=2, run=()):
        (tmp_path / "program.py").write_text(textwrap.dedent(code))
        launcher = str(pathlib.Path(request.param).parent / "mpirun")
        command = [launcher, "-n", str(size), request.param, *run, "program.py"]
        # Each process says what it prints in one piece, at its end: pieces of several would be mixed.
        environment = {**os.environ, "PYTHONUNBUFFERED": "", "PYTHONPATH": ROOT, "OMP_NUM_THREADS": "1",
                       "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                       "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
    return call


def lines(done):
    """Return the lines that a program has printed, in order; it has to have ended well."""
    assert done.returncode == 0, done.stdout + done.stderr
    return sorted(done.stdout.splitlines())


COLLECTIVES = GROUP + """
import itertools
from dragon.core.groups import bytes_of

def mine(dtype, of=rank, count=5):
    x = (np.arange(count) * (of + 1) % 7 - 2 * of)
    return dragon.tensor(x.astype("float32") if "float" in dtype else x % 2 if dtype == "bool" else x, dtype=dtype)

def told(x):
    return dragon.ops.cast(x, "float64").numpy().tolist() if "complex" not in dtype else x.numpy().tolist()

memory = None
from dragon.distributed.stores.tcp import TCPStore
from dragon.distributed.mpi.meeting import share_port
host, port = share_port()
memory = ProcessGroup(TCPStore(host, port, rank == 0, 30.0), rank, size, 20.0)
dtypes = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128".split()
reductions = "sum average product minimum maximum and or xor".split()
for dtype, reduction in itertools.product(dtypes, reductions):
    for call in (lambda n: ops.all_reduce(mine(dtype), n, reduction),
                 lambda n: ops.reduce_to(mine(dtype), n, 1, reduction),
                 lambda n: ops.reduce_scatter(mine(dtype, count=2 * size), n, reduction)):
        found = []
        for number in (memory.number, g):
            try:
                found.append(told(call(number)))
            except TypeError as error:
                found.append(str(error))
        assert found[0] == found[1], (dtype, reduction, found)
for dtype in [*dtypes, "float8_e4m3fn", "uint16"]:
    calls = {
        "broadcast": lambda n: ops.broadcast_from(mine(dtype), n, 1),
        "gather": lambda n: ops.all_gather(mine(dtype), n), "gather to": lambda n: ops.gather_to(mine(dtype), n, 1),
        "empty": lambda n: ops.all_gather(mine(dtype, count=0), n),
        "number": lambda n: ops.all_gather(mine(dtype, count=1)[0], n),
        "scatter": lambda n: ops.scatter_from(mine(dtype, count=2 * size), n, 1, (2,)),
        "exchange": lambda n: ops.all_to_all(mine(dtype, count=2 * size), n),
        "uneven": lambda n: ops.all_to_all(mine(dtype, count=size + rank), n, [1] * (size - 1) + [1 + rank],
                                           [1] * size if rank < size - 1 else [1 + other for other in range(size)]),
    } if dtype in dtypes else {"broadcast": lambda n: ops.broadcast_from(dragon.ones((3,), dtype=dtype), n, 1)}
    for name, call in calls.items():
        assert told(call(memory.number)) == told(call(g)), (dtype, name)
dtype = "float32"
nan = dragon.tensor(np.array([np.nan, 1, -0.0, np.inf][::1 if rank else -1], "float32"))
for reduction in ("minimum", "maximum", "sum"):
    assert str(told(ops.all_reduce(nan, memory.number, reduction))) == str(told(ops.all_reduce(nan, g, reduction)))
x = dragon.tensor(np.ones((300, 1000), "float32") * rank)
assert ops.all_reduce(dragon.ops.permute(x, (1, 0)), g).numpy().sum() == 300000 * sum(range(size))
x = dragon.tensor(np.arange(4.0), requires_grad=True)
y = (ops.all_gather(x * (rank + 1), g) * dragon.tensor(np.arange(4.0 * size))).sum()
dragon.backward(y)
print("fine", x.grad.numpy().tolist())
group.close()
"""


@pytest.mark.parametrize("size", [2, 3])
def test_collectives_are_those_of_shared_memory(mpirun, size):
    gradients = [[(rank + 1) * size * (4.0 * rank + at) for at in range(4)] for rank in range(size)]
    assert lines(mpirun(COLLECTIVES, size)) == sorted(f"fine {gradient}" for gradient in gradients)


def test_messages(mpirun):
    found = lines(mpirun(GROUP + """
    from dragon.distributed import collectives
    other = 1 - rank
    big = dragon.tensor(np.full(1 << 20, rank, "float32"))
    out = group.post(big, other, 7, True)
    into = dragon.tensor(np.zeros(1 << 20, "float32"))
    came = group.post(into, -1, 7, False)
    came.wait(20.0)
    out.wait(20.0)
    assert out.is_done() and came.is_done() and came.rank == other and into.numpy().sum() == other << 20
    late = group.post(dragon.tensor(np.zeros(2)), other, 8, False)
    try:
        late.wait(0.1)
    except TimeoutError as error:
        print(error)
    del late
    group.barrier()
    if rank == 0:
        group.post(dragon.tensor(np.zeros(3)), 1, 9, True).wait(20.0)
    else:
        try:
            group.post(dragon.tensor(np.zeros(4)), 0, 9, False).wait(20.0)
        except RuntimeError as error:
            print(error)
    for tag, to in ((-1, other), (0, 5)):
        try:
            group.post(dragon.tensor(np.zeros(3)), to, tag, True)
        except ValueError as error:
            print(error)
    """.replace("\n    ", "\n")))
    assert sum("from rank" in line and "within 0.1 seconds" in line for line in found) == 2
    assert sum("24 bytes from rank 0 for a tensor of 32 bytes" in line for line in found) == 1
    assert sum("got the tag -1" in line for line in found) == sum("got rank 5" in line for line in found) == 2


def test_different_calls_are_told_and_the_group_goes_on(mpirun):
    found = lines(mpirun(GROUP + """
    for call in (lambda: ops.all_reduce(dragon.ones((rank + 1,)), g),
                 lambda: ops.broadcast_from(dragon.ones((1,)), g, rank),
                 lambda: group.barrier() if rank else ops.all_gather(dragon.ones((1,)), g),
                 lambda: ops.all_to_all(dragon.ones((4,)), g, [1, 3], [1, 3])):
        try:
            call()
        except RuntimeError as error:
            print(error)
    print(ops.all_reduce(dragon.ones((1,)), g).item())
    """.replace("\n    ", "\n")))
    assert found.count("2.0") == 2 and len(found) == 10
    assert sum("all_reduce(sum) of 1 element of float32" in line and "of 2 elements" in line for line in found) == 2
    assert sum("from rank 0" in line and "from rank 1" in line for line in found) == 2
    assert sum("barrier" in line and "all_gather" in line for line in found) == 2
    assert sum("got 12 bytes of rank 0 for rank 1, which wants 4" in line for line in found) == 2


def test_a_rank_that_is_late_is_told(mpirun):
    found = lines(mpirun(GROUP.replace("20.0", "0.5") + """
    import time
    time.sleep(rank * 3)
    for _ in range(2):
        try:
            ops.all_reduce(dragon.ones((1,)), g)
        except RuntimeError as error:
            print(error, flush=True)
    """.replace("\n    ", "\n")))
    late = "all_reduce: got not all of 2 ranks within 0.5 seconds"  # the one that comes late hears of it as well
    assert len(found) == 4 and sum(line.startswith(f"{late}, expected each to call it") for line in found) == 2
    assert sum(line.startswith(f"process group: {late}; the group is of no use") for line in found) == 2


TORCH = """
import torch
import torch.distributed as dist
from torch import nn
dist.init_process_group(BACKEND)
rank = dist.get_rank()
torch.manual_seed(rank)
model = nn.parallel.DistributedDataParallel(nn.Linear(10, 1))
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for _ in range(5):
    x = torch.randn(8, 10)
    loss = (model(x) - x.sum(1, keepdim=True)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
objects = [None] * 2
dist.all_gather_object(objects, {"rank": rank})
half = dist.new_group([1])
work = dist.all_reduce(torch.ones(3), async_op=True)
work.wait()
print(f"{rank} {dist.get_world_size()} {loss.item():.4g} {objects} {dist.is_mpi_available()}\\n", end="", flush=True)
dist.destroy_process_group()
"""


def test_what_there_is_is_told(monkeypatch):
    from dragon.vm.torch import distributed as dist
    for there in (True, False):
        monkeypatch.setattr(library, "is_there", lambda there=there: there)
        assert dist.is_mpi_available() is dist.is_backend_available("MPI") is there
    assert dist.is_backend_available("gloo") and not dist.is_backend_available("nccl")


def test_programs_of_torch(mpirun, tmp_path):
    found = lines(mpirun(TORCH.replace("BACKEND", "'mpi'"), run=("-m", "dragon", "run")))
    (tmp_path / "shared.py").write_text(TORCH.replace("BACKEND", "'gloo'"))
    command = [sys.executable, "-m", "dragon", "torchrun", "--standalone", "--nproc-per-node", "2", "shared.py"]
    done = subprocess.run(command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": ROOT}, capture_output=True, text=True,
                          timeout=300)
    expected = [line.replace("False", "True") for line in lines(done)]
    assert len(found) == 2 and found == expected


def test_the_world_of_mpirun_is_joined(mpirun):
    found = lines(mpirun("""
    from dragon import distributed, ones
    world = distributed.join_world(30.0)
    print(world.rank, world.size, world.carry, distributed.all_reduce(ones((2,))).numpy().tolist())
    distributed.leave_world()
    """))
    assert found == [f"{rank} 2 None [2.0, 2.0]" for rank in (0, 1)]


@pytest.mark.parametrize("environment, place", [
    ({}, None), ({"WORLD_SIZE": "1"}, ("torchrun", 0, 1)),
    ({"RANK": "1", "WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": "3", "OMPI_COMM_WORLD_SIZE": "4"}, ("torchrun", 1, 2)),
    ({"OMPI_COMM_WORLD_RANK": "3", "OMPI_COMM_WORLD_SIZE": "4"}, ("mpirun", 3, 4)),
    ({"PMI_RANK": "0", "PMI_SIZE": "4"}, ("mpirun", 0, 4)),
    ({"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "4", "SLURM_STEP_ID": "0"}, ("srun", 0, 4)),
    ({"SLURM_PROCID": "0", "SLURM_NTASKS": "4"}, None),
])
def test_launchers_are_known_by_their_words(environment, place):
    assert launched.find_place(environment) == place


def test_half_a_place_is_told():
    with pytest.raises(DistributedError, match="got WORLD_SIZE=2 and nothing of RANK, expected both"):
        launched.find_place({"WORLD_SIZE": "2"})
    with pytest.raises(DistributedError, match="nothing of MASTER_ADDR, MASTER_PORT"):
        launched.find_meeting(launched.Place("torchrun", 0, 2), {})


@pytest.mark.parametrize("nodes, first", [("node[03-07,9],login", "node03"), ("a,b", "a"), ("gpu7", "gpu7"),
                                          ("n[1-2]-ib,m", "n1-ib"), ("n[12]", "n12")])
def test_processes_of_srun_meet_on_the_first_machine(nodes, first):
    place = launched.Place("srun", 1, 2)
    assert launched.find_meeting(place, {"SLURM_STEP_NODELIST": nodes, "SLURM_JOB_ID": "40017"}) == (first, 20017)


def test_where_processes_may_be_on_several_machines():
    there = {"OMPI_COMM_WORLD_RANK": "3", "OMPI_COMM_WORLD_SIZE": "4"}
    assert library.spans_machines(there) and library.spans_machines({**there, "OMPI_COMM_WORLD_LOCAL_SIZE": "2"})
    assert not library.spans_machines({**there, "OMPI_COMM_WORLD_LOCAL_SIZE": "4"}) and not library.spans_machines({})


def test_bfloat16_is_rounded_as_the_engine_rounds():
    import numpy as np
    values = np.array([1, 1.00390625, 1.01171875, 3.4e38, -0.0, np.inf, np.nan, 1e-40], "float32")
    memory = bytearray(2 * len(values))
    numbers.write(values, memory, "bfloat16")
    theirs = dragon.ops.cast(dragon.ops.cast(dragon.tensor(values), "bfloat16"), "float32").numpy()
    np.testing.assert_array_equal(numbers.read(memory, "bfloat16"), theirs)

"""Processes on several machines that no `mpirun` has started: told their ranks by the environment, or by launchers."""
import importlib.util
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

import dragon
from dragon.distributed.carrying import are_together, find_carry
from dragon.distributed.errors import DistributedError
from dragon.distributed.mpi import introducing
from dragon.distributed.nodes import Nodes, is_here
from dragon.distributed.stores.memory import MemoryStore
from dragon.distributed.stores.prefix import PrefixStore

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(dragon.__file__)))
HAS_MPICH = importlib.util.find_spec("mpi4py") is not None and (
    pathlib.Path(sys.executable).parent.parent / "lib" / "libmpi.so.12").exists()
needs_mpich = pytest.mark.skipif(not HAS_MPICH, reason="needs mpi4py and the wheel of MPICH")
PROGRAM = """
import os, sys, time
import torch
import torch.distributed as dist
dist.init_process_group("gloo")
rank = dist.get_rank()
assert dist.group.WORLD._core._carrier is not None, "one machine"
"""


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Machines:
    """Programs that run as if each were on a machine of its own."""

    def __init__(self, folder):
        self.folder, self.port, self.running = folder, free_port(), []

    def start(self, machine, *command, **environment):
        words = {**os.environ, "PYTHONPATH": ROOT, "OMP_NUM_THREADS": "1", "DRAGON_MACHINE": machine, **environment}
        program = subprocess.Popen([sys.executable, "-m", "dragon", *command], cwd=self.folder, env=words, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.running.append(program)
        return program

    def ranks(self, count, code):
        """Start as many processes, one to a machine."""
        (self.folder / "program.py").write_text(PROGRAM + code)
        for rank in range(count):
            self.start(f"m{rank}", "run", "program.py", RANK=str(rank), WORLD_SIZE=str(count), MASTER_ADDR="127.0.0.1",
                       MASTER_PORT=str(self.port))
        return self

    def launchers(self, code, *words, counts=(1, 1)):
        """Start a launcher on each machine."""
        (self.folder / "program.py").write_text(PROGRAM + code)
        for node, count in enumerate(counts):
            where = ["--node-rank", str(node), "--master-addr", "127.0.0.1", "--master-port", str(self.port)]
            where = where if "c10d" not in words else ["--rdzv-endpoint", f"127.0.0.1:{self.port}"]
            self.start(f"m{node}", "torchrun", *where, "--nproc-per-node", str(count), *words, "program.py")
        return self

    def end(self):
        """Return (exit status, what was printed) of each."""
        ended = []
        for program in self.running:
            said = program.communicate(timeout=150)[0]
            ended.append((program.returncode, said))
        return ended


@pytest.fixture
def machines(tmp_path):
    made = Machines(tmp_path)
    yield made
    for program in made.running:
        if program.poll() is None:
            program.kill()
            program.wait()


@needs_mpich
def test_processes_of_three_machines(machines):
    ended = machines.ranks(3, """
x = torch.ones(4) * (rank + 1)
dist.all_reduce(x)
pair = dist.new_group([0, 2])
y = torch.full((2,), float(rank))
if rank != 1:
    dist.all_reduce(y, group=pair)
net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 1, bias=False))
net(torch.full((1, 2), float(rank))).sum().backward()
names = [None] * 3
dist.all_gather_object(names, f"r{rank}")
if rank == 0:
    dist.send(torch.arange(3.0), 1)
elif rank == 1:
    z = torch.zeros(3)
    dist.recv(z, 0)
    assert z.tolist() == [0, 1, 2]
assert not any(word.startswith("PMI_") for word in os.environ)  # children are none of MPI's
print(x.tolist(), y.tolist(), net.module.weight.grad.tolist(), names)
dist.destroy_process_group()
dist.init_process_group("gloo")  # once more, with MPI as it is
dist.barrier()
dist.destroy_process_group()
""").end()
    ys = [[2.0, 2.0], [1.0, 1.0], [2.0, 2.0]]
    expected = [(0, f"{[6.0] * 4} {y} {[[1.0, 1.0]]} {['r0', 'r1', 'r2']}\n") for y in ys]
    assert ended == expected


STRATEGY = """
import numpy as np
import keras
import tensorflow as tf
strategy = tf.distribute.MultiWorkerMirroredStrategy()
keras.utils.set_random_seed(0)
with strategy.scope():
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
x = np.arange(24.0).reshape(8, 3) / 24
history = model.fit(x, x.sum(1), batch_size=4, epochs=2, verbose=0, shuffle=False)
print([round(loss, 5) for loss in history.history["loss"]])
"""


@needs_mpich
def test_strategies_of_tensorflow(machines):
    """Two machines learn what two processes of one do."""
    (machines.folder / "program.py").write_text(STRATEGY)
    said = []
    for names in (("a", "b"), ("a", "a")):
        machines.running, port = [], free_port()
        for number, name in enumerate(names):
            words = {"cluster": {"worker": [f"127.0.0.1:{port}", "127.0.0.1:1"]},
                     "task": {"type": "worker", "index": number}}
            machines.start(name, "run", "program.py", TF_CONFIG=json.dumps(words))
        said.append(machines.end())
    assert said[0] == said[1] and {status for status, _ in said[0]} == {0}, said


@needs_mpich
def test_worlds_without_pytorch(machines):
    (machines.folder / "program.py").write_text(
        "import dragon\nfrom dragon import distributed\nworld = distributed.join_world()\n"
        "print(distributed.all_reduce(dragon.ones((2,))).numpy().tolist(), world.carry is not None)\n")
    for rank in range(2):
        machines.start(f"m{rank}", "run", "program.py", RANK=str(rank), WORLD_SIZE="2", MASTER_ADDR="127.0.0.1",
                       MASTER_PORT=str(machines.port))
    assert machines.end() == [(0, "[2.0, 2.0] True\n")] * 2


@needs_mpich
@pytest.mark.parametrize("victim", [0, 1])
def test_a_killed_process_is_named(machines, victim):
    """All others raise at once, and name it."""
    ended = machines.ranks(3, f"""
dist.barrier()
if rank == {victim}:
    os.kill(os.getpid(), 9)
begin = time.monotonic()
try:
    dist.all_reduce(torch.ones(1000))
except RuntimeError as error:
    print(error if time.monotonic() - begin < 60 else "late")
os._exit(0)
""").end()
    words = (f"all_reduce: rank {victim} has ended before it took part, expected each to; the group is of no use any "
             "more\n")
    assert [one for one in ended if one[0] == 0] == [(0, words)] * 2
    assert ended[victim][0] == -signal.SIGKILL


NO_LIBRARY = "raise ModuleNotFoundError(\"No module named 'mpi4py'\", name='mpi4py')"
SLOW = """
import os, time
from dragon.distributed.mpi import starting
begin = starting.begin
starting.begin = lambda *words: (time.sleep(2 * int(os.environ["RANK"])), begin(*words))[1]
"""


@needs_mpich
def test_who_comes_late_finds_the_store(machines):
    """The first process keeps it, and waits with MPI until all have read there how they begin it."""
    (machines.folder / "sitecustomize.py").write_text(SLOW)
    (machines.folder / "program.py").write_text(PROGRAM + "dist.barrier()\nprint('fine')\n")
    for rank in range(2):
        machines.start(f"m{rank}", "run", "program.py", RANK=str(rank), WORLD_SIZE="2", MASTER_ADDR="127.0.0.1",
                       MASTER_PORT=str(machines.port), PYTHONPATH=f"{machines.folder}:{ROOT}")
    assert machines.end() == [(0, "fine\n")] * 2


@needs_mpich
@pytest.mark.parametrize("without", [0, 1])
def test_one_without_a_library_is_told_to_all(machines, without):
    (machines.folder / "none").mkdir()
    (machines.folder / "none" / "mpi4py.py").write_text(NO_LIBRARY)
    (machines.folder / "program.py").write_text(PROGRAM)
    for rank in range(3):
        path = f"{machines.folder / 'none'}:{ROOT}" if rank == without else ROOT
        machines.start(f"m{rank}", "run", "program.py", RANK=str(rank), WORLD_SIZE="3", MASTER_ADDR="127.0.0.1",
                       MASTER_PORT=str(machines.port), PYTHONPATH=path)
    ended = machines.end()
    assert [status for status, _ in ended] == [1, 1, 1] and "[mpi]" in ended[without][1], ended
    # Who comes when rank 0 has left already finds neither its store nor what it has started.
    words = [f"rank {without} has ended, or cannot begin it", "TCPStore", "no connection to port"]
    others = [said for rank, (_, said) in enumerate(ended) if rank != without]
    assert all(any(word in said for word in words) for said in others), others
    assert any(words[0] in said for said in others) or without == 0, others


@needs_mpich
@pytest.mark.parametrize("ranks", ["[0, 1]", "[0, 1, 2]"])
def test_a_group_with_a_killed_process_is_told(machines, ranks):
    ended = machines.ranks(3, f"""
dist.barrier()
if rank == 1:
    os.kill(os.getpid(), 9)
time.sleep(0.5)
begin = time.monotonic()
try:
    dist.new_group({ranks})
    print("not mine")
except RuntimeError as error:
    print(error if time.monotonic() - begin < 60 else "late")
os._exit(0)
""").end()
    words = ("new group: rank 1 has ended before it took part, expected each to; the group is of no use any more\n")
    assert ended == [(0, words), (-signal.SIGKILL, ""), (0, words if "2" in ranks else "not mine\n")]


def test_no_library_is_a_letter(machines, tmp_path):
    (tmp_path / "mpi4py.py").write_text(NO_LIBRARY)
    (tmp_path / "program.py").write_text(PROGRAM)
    for rank in range(2):
        machines.start(f"m{rank}", "run", "program.py", RANK=str(rank), WORLD_SIZE="2", MASTER_ADDR="127.0.0.1",
                       MASTER_PORT=str(machines.port), PYTHONPATH=f"{tmp_path}:{ROOT}")
    ended = machines.end()  # one may hear no more than that the first one, which kept the store, has gone
    assert [status for status, _ in ended] == [1, 1], ended
    assert "on several machines" in ended[0][1] and "[mpi]" in ended[0][1], ended


@needs_mpich
@pytest.mark.parametrize("words", [(), ("--rdzv-backend", "c10d", "--rdzv-id", "mine")])
def test_launchers_of_two_machines(machines, words):
    """With different numbers of processes."""
    ended = machines.launchers("""
sum = torch.ones(())
dist.all_reduce(sum)
told = [os.environ[name] for name in ("LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK", "GROUP_WORLD_SIZE")]
os.write(1, f"{rank} {int(sum)} {' '.join(told)}\\n".encode())  # in one piece, beside what the others say
dist.destroy_process_group()
""", "--nnodes", "2", *words, counts=(2, 1)).end()
    lines = [sorted(said.splitlines()) for _, said in ended]
    assert [status for status, _ in ended] == [0, 0], ended
    one, other = (["0 3 0 2 0 2", "1 3 1 2 0 2"], ["2 3 0 1 1 2"])
    # By c10d either launcher of this one host may have the endpoint, and is the first then.
    swapped = [["1 3 0 2 1 2", "2 3 1 2 1 2"], ["0 3 0 1 0 2"]]
    assert lines == [one, other] or words and lines == swapped


@needs_mpich
def test_all_machines_start_anew(machines):
    """A process that ends badly on one machine has all be started anew, and everybody goes on from there."""
    ended = machines.launchers("""
again = os.environ["TORCHELASTIC_RESTART_COUNT"]
dist.barrier()
if rank == 1 and again == "0":
    os._exit(3)
dist.barrier()
print("done", rank, again, flush=True)
dist.destroy_process_group()
""", "--nnodes", "2", "--max-restarts", "1").end()
    assert [status for status, _ in ended] == [0, 0], ended
    assert "done 0 1" in ended[0][1] and "done 1 1" in ended[1][1]


def test_a_failure_elsewhere_is_told(machines):
    (machines.folder / "program.py").write_text("import os, sys, time\n"
                                                "sys.exit(7) if os.environ['RANK'] == '1' else time.sleep(100)\n")
    for node in range(2):
        machines.start(f"m{node}", "torchrun", "--nnodes", "2", "--node-rank", str(node), "--master-addr", "127.0.0.1",
                       "--master-port", str(machines.port), "program.py")
    (status, said), (other, own) = machines.end()
    assert status == other == 1 and "rank 1 on machine 1 ended with exit code 7" in said, said
    assert "rank 1" in own and "ended with exit code 7" in own


def test_a_launcher_that_dies_ends_the_others(machines):
    """The one that keeps the store: nobody hangs."""
    (machines.folder / "program.py").write_text("import time\nprint('up', flush=True)\ntime.sleep(100)\n")
    for node in range(2):
        machines.start(f"m{node}", "torchrun", "--nnodes", "2", "--node-rank", str(node), "--master-addr", "127.0.0.1",
                       "--master-port", str(machines.port), "--max-restarts", "3", "program.py")
    assert machines.running[1].stdout.readline() == "up\n"
    machines.running[0].kill()
    (_, _), (status, said) = machines.end()
    assert status == 1 and "the launcher that keeps the store has gone" in said, said


@pytest.mark.parametrize("words, told", [
    (("--nnodes", "0"), "expected a number of machines"), (("--nnodes", "3:2"), "expected a number of machines"),
    (("--nnodes", "two"), "expected a number of machines"), (("--nnodes", "2", "--standalone"), "it is alone"),
    (("--nnodes", "2", "--rdzv-conf", "join_timeout"), "expected key=value"),
    (("--nnodes", "2", "--node-rank", "5"), "expected 0 to 1"),
    (("--nnodes", "2", "--rdzv-conf", "join_timeout=1"), "expected each to start its launcher"),
])
def test_wrong_words(machines, words, told):
    machines.start("m0", "torchrun", "--master-port", str(machines.port), *words, "program.py")
    (status, said), = machines.end()
    assert status == 2 and told in said and "Traceback" not in said, said


def together(count, call):
    """Return what a function returns in as many threads, given its number and a store."""
    store, found = MemoryStore(), [None] * count

    def run(number):
        try:
            found[number] = call(number, PrefixStore("test", store))
        except DistributedError as error:
            found[number] = error
    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    return found


def test_machines_without_numbers_may_be_fewer():
    """Two of at most four come in time; one that comes too late is told so."""
    def gather(number, store):
        nodes = Nodes(store, number == 0, 2 + number, 2, 4, None, 20.0, 0.5)
        if number == 2:
            store.wait(["0/world"], 20)
        place = nodes.gather(0)
        return place.node, place.nodes, place.first_rank, place.world_size
    first, second, late = together(3, gather)
    assert (first, second) == ((0, 2, 0, 5), (1, 2, 2, 5))
    assert isinstance(late, DistributedError) and "runs on 2 machines already" in str(late)


def test_silence_of_a_machine(monkeypatch):
    monkeypatch.setattr("dragon.distributed.nodes.SILENCE_SECONDS", 0.2)
    monkeypatch.setattr("dragon.distributed.nodes.BEAT_SECONDS", 0.02)

    def gather(number, store):
        nodes = Nodes(store, number == 0, 1, 2, 2, number, 20.0)
        nodes.gather(0)
        end = time.monotonic() + 10
        while number == 0 and time.monotonic() < end:
            failure = nodes.look()
            if failure:
                return failure.who, failure.how
            time.sleep(0.03)
    assert together(2, gather)[0] == ("machine 1", "has given no sign for 0.2 seconds")


def test_who_is_together(monkeypatch):
    names = threading.local()
    monkeypatch.setattr("dragon.distributed.carrying.machine", lambda: names.value)

    def ask(words):
        def call(number, store):
            names.value = words[number]
            return are_together(store, number, len(words))
        return together(len(words), call)
    assert ask(["a", "a", "a"]) == [True] * 3 and ask(["a", "b", "a"]) == [False] * 3
    assert find_carry(MemoryStore(), 0, 1) is None


def test_addresses_of_this_machine():
    assert is_here("localhost") and is_here(socket.gethostname()) and not is_here("192.0.2.7")


@pytest.fixture
def introducer():
    process, port = introducing.start(2, "right")
    yield port
    process.kill()
    process.wait()


def test_strange_words_do_not_end_the_introducer(introducer):
    with pytest.raises(OSError, match="another program listens"):
        introducing.Watch("127.0.0.1", introducer, "wrong")
    with socket.create_connection(("127.0.0.1", introducer)) as strange:
        strange.sendall(b"\n\xff\xfe cmd=\ncmd=nothing\ncmd=initack pmiid=many\ncmd=put key= value=a b=c\n")
        strange.sendall(b"cmd=get key=\n")
        strange.settimeout(10)
        said = b""
        while b"get_result" not in said:
            came = strange.recv(4096)
            assert came, said
            said += came
        assert b"value=a b=c" in said
    with socket.create_connection(("127.0.0.1", introducer)) as endless:
        endless.settimeout(10)
        with pytest.raises(OSError):  # a line without an end is not waited for
            for _ in range(1000):
                endless.sendall(b"x" * 65536)
    watch = introducing.Watch("127.0.0.1", introducer, "right")
    with socket.create_connection(("127.0.0.1", introducer)) as member:
        member.sendall(b"cmd=initack pmiid=1\n")
        member.recv(100)
    end = time.monotonic() + 10
    while not watch.gone() and time.monotonic() < end:
        time.sleep(0.02)
    assert watch.gone() == [1]


def test_who_does_not_read_holds_nobody_up(introducer):
    """Answers that nobody takes fill the connection; others are still answered, and that one is dropped."""
    with socket.create_connection(("127.0.0.1", introducer)) as deaf:
        deaf.settimeout(30)
        with pytest.raises(OSError):
            for _ in range(100000):
                deaf.sendall(b"cmd=get_maxes\n" * 1000)
    assert introducing.Watch("127.0.0.1", introducer, "right", 10).gone() == []


def test_who_meets_is_told_of_those_who_do_not():
    process, port = introducing.start(2, "right")
    try:
        first = introducing.Watch("127.0.0.1", port, "right", rank=0)
        assert not first.meet(0.2) and first.gone() == []  # the other one is late
        second = introducing.Watch("127.0.0.1", port, "right", rank=1)
        assert second.meet(10) and first.meet(-1)
        second.close()
        end = time.monotonic() + 10
        while not first.gone() and time.monotonic() < end:
            time.sleep(0.02)
        assert first.gone() == [1]
    finally:
        process.kill()
        process.wait()
    assert first.gone() == [1, 0]  # with the introducer its rank has gone


def test_the_introducer_leaves_with_the_last():
    process, port = introducing.start(1, "right")
    with socket.create_connection(("127.0.0.1", port)) as member:
        member.sendall(b"cmd=initack pmiid=0\ncmd=finalize\n")
        member.recv(100)
    assert process.wait(20) == 0

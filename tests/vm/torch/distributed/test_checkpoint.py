"""Checkpoints: what several processes save is read by any number of them, here and under PyTorch."""
import os

import pytest
from harness import interpreter
from harness.ranks import Ranks, find_imports, run_ranks

HEAD = """
import sys
rank, size, port = (int(word) for word in sys.argv[1:4])
FOLDER = {folder!r}
if {ours}:
    import dragon.vm
    dragon.vm.install()
import os, warnings
warnings.simplefilter("ignore")
from datetime import timedelta
import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
if {together}:
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{{port}}", rank=rank, world_size=size,
                            timeout=timedelta(seconds=60))
def make_state(seed=0):
    model = torch.nn.Sequential(torch.nn.Linear(5, 3), torch.nn.BatchNorm1d(3))
    optimizer = torch.optim.SGD(model.parameters(), 0.5 + seed, momentum=0.5)
    for parameter in model.parameters():  # numbers without rounding, the same everywhere
        parameter.data = torch.arange(float(parameter.numel())).reshape(parameter.shape) * (seed + 1)
        parameter.grad = torch.ones_like(parameter) * seed
    optimizer.step()
    return dict(model=model.state_dict(), optimizer=optimizer.state_dict(), step=seed, text="hello",
                mixed=[1, (2, 3), torch.arange(4) + seed, dict(deep=torch.eye(2).half())], empty=torch.zeros(0, 3),
                number=torch.tensor(5.0), brain=torch.ones(2).bfloat16(), part=torch.arange(10.0)[2:5],
                across=torch.arange(6).reshape(2, 3).t(), scale=None, flag=torch.tensor([True, False]))
"""
SAVE = """
dcp.save(make_state(7), checkpoint_id=FOLDER)
"""
LOAD = """
state, saved = make_state(1), make_state(7)
dcp.load(state, checkpoint_id=FOLDER)
def compare(path, one, other):
    assert type(one) is type(other), (path, one, other)
    if isinstance(one, torch.Tensor):
        assert one.dtype == other.dtype and torch.equal(one, other), (path, one, other)
    elif isinstance(one, dict):
        assert list(one) == list(other), path
        [compare(f"{path}.{key}", one[key], other[key]) for key in one]
    elif isinstance(one, (list, tuple)):
        assert len(one) == len(other), path
        [compare(f"{path}.{place}", *pair) for place, pair in enumerate(zip(one, other))]
    else:
        assert one == other, (path, one, other)
# The state of one process is the oracle: dictionaries here have the order of the one that was filled.
compare("", dict(sorted(state.items())), dict(sorted(saved.items())))
print("loaded")
"""


@pytest.fixture
def run(tmp_path):
    def run(code, size=1, ours=True, together=True, folder="saved"):
        head = HEAD.format(folder=str(tmp_path / folder), ours=ours, together=together)
        theirs = "" if ours else "\nimport torch._dynamo"  # which genuine optimizers import when they are first used
        return run_ranks(code, size, head, preload=find_imports(head + theirs))
    return run


@pytest.mark.parametrize("ours", [True, False])
def test_checkpoints_go_between_us_and_pytorch(run, ours):
    run(SAVE, 2, ours)
    assert run(LOAD, 1, not ours, together=False) == ["loaded\n"]


def test_one_process_and_several_read_each_other(run):
    run(SAVE, 1, together=False)
    assert run(LOAD, 2) == ["loaded\n"] * 2
    run(SAVE, 3)
    assert run(LOAD, 1, together=False) == ["loaded\n"]


def test_what_all_have_is_written_once(run, tmp_path):
    run("""
    dcp.save({"large": torch.ones(1000, 1000), "other": torch.ones(1000, 1000)}, checkpoint_id=FOLDER)
    """, 2)
    sizes = {name: os.path.getsize(tmp_path / "saved" / name) for name in os.listdir(tmp_path / "saved")}
    assert sorted(sizes) == [".metadata", "__0_0.distcp", "__1_0.distcp"]
    assert 4_000_000 < sizes["__0_0.distcp"] < 4_010_000 and 4_000_000 < sizes["__1_0.distcp"] < 4_010_000


SHARDED = """
from torch.distributed.checkpoint.metadata import ChunkStorageMetadata, MetadataIndex, TensorProperties
from torch.distributed.checkpoint.planner import TensorWriteData, WriteItem, WriteItemType
class Sharded(torch.Tensor):
    # A matrix of which each process has some rows, or some columns, the last ones fewer; it tells its parts as
    # PyTorch's planners ask for them.
    @staticmethod
    def make(axis, fill):
        whole = (7, 5)
        step = -(-whole[axis] // size)
        begin, end = min(rank * step, whole[axis]), min((rank + 1) * step, whole[axis])
        numbers = torch.arange(35.0).reshape(7, 5).narrow(axis, begin, end - begin) * fill
        tensor = numbers.clone().as_subclass(Sharded)
        tensor.offsets = torch.Size([begin, 0] if axis == 0 else [0, begin])
        return tensor
    def chunk(self):
        return ChunkStorageMetadata(self.offsets, torch.Size(self.shape))
    def __create_write_items__(self, fqn, value):
        data = TensorWriteData(self.chunk(), TensorProperties(torch.float32), torch.Size((7, 5)))
        return [WriteItem(MetadataIndex(fqn, self.offsets), WriteItemType.SHARD, tensor_data=data)]
    def __create_chunk_list__(self):
        return [self.chunk()]
    def __get_tensor_shard__(self, index):
        return self.as_subclass(torch.Tensor)
    def size(self, *axis):
        return torch.Size((7, 5))
"""


@pytest.mark.parametrize("saves, reads", [(True, True), (True, False), (False, True)])
def test_parts_of_tensors_are_dealt_out_anew(run, saves, reads):
    run(SHARDED + """
dcp.save({"matrix": Sharded.make(0, 1), "plain": torch.arange(3)}, checkpoint_id=FOLDER)
""", 3, saves)
    assert run(SHARDED + """
for axis in (0, 1):
    state = {"matrix": Sharded.make(axis, 0), "plain": torch.zeros(3, dtype=torch.int64)}
    dcp.load(state, checkpoint_id=FOLDER)
    print(torch.equal(state["matrix"].as_subclass(torch.Tensor), Sharded.make(axis, 1).as_subclass(torch.Tensor)))
    assert state["plain"].tolist() == [0, 1, 2]
whole = {"matrix": torch.zeros(7, 5)}
dcp.load(whole, checkpoint_id=FOLDER)
print(torch.equal(whole["matrix"], torch.arange(35.0).reshape(7, 5)))
""", 2, reads) == ["True\nTrue\nTrue\n"] * 2


MISTAKES = """
def attempt(call):
    try:
        return call() and "no error" or "no error"
    except BaseException as error:
        failures = getattr(error, "failures", {})
        return type(error).__name__, sorted(failures), [type(one[0]).__name__ for one in failures.values()]
print(attempt(lambda: dcp.load({"missing": torch.ones(2)}, checkpoint_id=FOLDER)))
print(attempt(lambda: dcp.load({"number": torch.ones(2)}, checkpoint_id=FOLDER)))
print(attempt(lambda: dcp.load({"number": 3}, checkpoint_id=FOLDER)))
print(attempt(lambda: dcp.load({"number": torch.ones(())}, checkpoint_id=FOLDER + "-not-there")))
print(attempt(lambda: dcp.load({"number": torch.ones(())})))
print(attempt(lambda: dcp.save({"a": {"b": 1}, "a.b": 2}, checkpoint_id=FOLDER + "2")))
print(attempt(lambda: dcp.save({"a": 1} if rank == 0 else {"a": lambda: 0}, checkpoint_id=FOLDER + "3")))
print(attempt(lambda: dcp.save({"a": 1}, storage_writer=dcp.FileSystemWriter(FOLDER, overwrite=False))))
state = {"missing": torch.ones(2), "number": torch.zeros(())}
dcp.load(state, checkpoint_id=FOLDER, planner=dcp.DefaultLoadPlanner(allow_partial_load=True))
print(state)
"""


STATEFUL = """
torch.manual_seed(rank)
model = torch.nn.Linear(3, 2)
optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.5)
model(torch.ones(1, 3)).sum().backward(); optimizer.step()
class Counter:
    count = 0
    def state_dict(self):
        return {"count": self.count}
    def load_state_dict(self, state):
        self.count = state["count"]
counter = Counter(); counter.count = 5
dist.broadcast(model.weight.data, 0)
state = {"model": model, "optimizer": optimizer, "counter": counter}
dcp.save(state, checkpoint_id=FOLDER)
before = model.weight.detach().clone()
with torch.no_grad():
    model.weight.zero_()
counter.count = 0
dcp.load(state, checkpoint_id=FOLDER)
print(counter.count, torch.equal(model.weight, before))
print(optimizer.state_dict()["state"][0]["momentum_buffer"].tolist())
"""
LISTS = """
dcp.save({"mine": torch.full((3,), float(rank)), "rank": rank}, checkpoint_id=FOLDER, use_collectives=False)
print(sorted(os.listdir(FOLDER)) if dist.barrier() is None else None)
state = {"mine": torch.zeros(3), "rank": None}
dcp.load(state, checkpoint_id=FOLDER)
print(state)
"""
PLANS = """
from torch.distributed.checkpoint.default_planner import DefaultSavePlanner
for number, extra in enumerate(({}, {}, {"more": torch.ones(2)}, {})):
    state = {"a": torch.full((4,), float(number)), "b": torch.arange(3) + number, **extra}
    dcp.save(state, checkpoint_id=f"{FOLDER}{number}", planner=DefaultSavePlanner(enable_plan_caching=True))
    found = {key: torch.zeros_like(value) for key, value in state.items()}
    dcp.load(found, checkpoint_id=f"{FOLDER}{number}")
    print(found)
"""
FORMATS = """
from torch.distributed.checkpoint.format_utils import (BroadcastingTorchSaveReader, DynamicMetaLoadPlanner,
                                                       dcp_to_torch_save, torch_save_to_dcp)
state = {"model": {"w": torch.arange(6.0).reshape(2, 3)}, "n": torch.tensor(3)}
if rank == 0:
    torch.save(state, FOLDER + ".pt")
    torch_save_to_dcp(FOLDER + ".pt", FOLDER)
    dcp_to_torch_save(FOLDER, FOLDER + "-back.pt")
    print(torch.load(FOLDER + "-back.pt"))
dist.barrier()
found = {"model": {"w": torch.zeros(2, 3)}, "n": torch.tensor(0)}
dcp.load(found, storage_reader=BroadcastingTorchSaveReader(), planner=DynamicMetaLoadPlanner(),
         checkpoint_id=FOLDER + ".pt")
print(found)
"""
FIRST = """
from torch.distributed.checkpoint.state_dict import (StateDictOptions, get_model_state_dict, set_model_state_dict,
                                                     get_optimizer_state_dict, set_optimizer_state_dict)
torch.manual_seed(rank)
model = torch.nn.Linear(3, 2)
optimizer = torch.optim.Adam(model.parameters(), 0.1)
model(torch.randn(4, 3)).sum().backward(); optimizer.step()
options = StateDictOptions(full_state_dict=True, cpu_offload=True)
whole = get_model_state_dict(model, options=options)
learned = get_optimizer_state_dict(model, optimizer, options=options)
print(sorted(whole), sorted(learned))
options = StateDictOptions(full_state_dict=True, broadcast_from_rank0=True)
set_model_state_dict(model, whole, options=options)
set_optimizer_state_dict(model, optimizer, learned, options=options)
for tensor in (model.weight.detach(), optimizer.state_dict()["state"][0]["exp_avg"]):
    every = [torch.zeros_like(tensor) for _ in range(size)]
    dist.all_gather(every, tensor)
    print(torch.equal(every[0], every[1]))
"""
STAGER = """
from torch.distributed.checkpoint.staging import DefaultStager, StagingOptions
stager = DefaultStager(StagingOptions(False, False, True, False))
for number in range(2):
    response = dcp.async_save({"a": torch.full((2,), float(number))}, checkpoint_id=FOLDER,
                              async_stager=stager)
    print(response.staging_completion.result(), type(response.upload_completion.result()).__name__)
stager.close()
found = {"a": torch.zeros(2)}
dcp.load(found, checkpoint_id=FOLDER)
print(found)
"""


def test_programs_print_what_they_print_with_pytorch(run):
    """One program of many, since each start of PyTorch takes seconds."""
    parts = SAVE, MISTAKES, STATEFUL, LISTS, PLANS, FORMATS, FIRST, STAGER
    code = "".join(f"{part}\ndist.barrier()\nFOLDER += '-{number}' if {number} else ''\n"
                   for number, part in enumerate(parts))
    assert run(code, 2) == run(code, 2, False, folder="theirs")


OPTIONS = """
for options in ({"thread_count": 3}, {"single_file_per_rank": False}, {"sync_files": False}):
    writer = dcp.FileSystemWriter(FOLDER, **options)
    dcp.save(make_state(7), storage_writer=writer)
"""


def test_options_of_writers(run):
    run(OPTIONS, 2)
    assert run(LOAD, 2) == ["loaded\n"] * 2
    assert run(LOAD, 1, False, together=False) == ["loaded\n"]


ASYNC = """
state = {"a": torch.ones(1000) * rank if rank == 0 else torch.ones(1000), "n": 1}
saved = dcp.async_save(state, checkpoint_id=FOLDER)
state["a"].fill_(100.0)  # what was copied is saved
for _ in range(50):  # the program's own calls go on meanwhile
    x = torch.ones(3); dist.all_reduce(x)
print(type(saved.result()).__name__, x.tolist())
found = {"a": torch.zeros(1000), "n": 0}
dcp.load(found, checkpoint_id=FOLDER)
print(found["a"].unique().tolist(), found["n"])
"""


def test_saving_in_the_background(run):
    first, second = run(ASYNC, 2)
    assert first == second == "Metadata [2.0, 2.0, 2.0]\n[0.0] 1\n"


KILLED = """
dcp.save({"a": torch.zeros(1000), "n": 0}, checkpoint_id=FOLDER)
print("first", flush=True)
number = 0
while True:
    number += 1
    dcp.save({"a": torch.full((200_000,) if number % 2 else (1000,), float(number)), "n": number},
             checkpoint_id=FOLDER)
"""
READ = """
from torch.distributed.checkpoint.state_dict_loader import _load_state_dict_from_keys
state = _load_state_dict_from_keys(checkpoint_id=FOLDER)
assert state["a"].unique().tolist() == [float(state["n"])], state
print(state["n"])
"""


@pytest.mark.parametrize("seconds", [0.03, 0.2, 0.41])
def test_a_kill_leaves_a_checkpoint_that_is_whole(run, tmp_path, seconds):
    import time
    ranks = Ranks(KILLED, 2, HEAD.format(folder=str(tmp_path / "saved"), ours=True, together=True))
    victim = ranks.processes[1]
    assert victim.has_written("first\n")
    time.sleep(seconds)
    victim.kill()
    (first, _, errors), (second, _, _) = ranks.finish()
    assert second == -9 and first == 1 and "rank 1" in errors
    (said,) = run(READ, 1, together=False)
    assert int(said) >= 0
    run(SAVE, 1, together=False)  # whoever saves next takes away what the killed one left
    assert sorted(os.listdir(tmp_path / "saved"))[0] == ".metadata" and len(os.listdir(tmp_path / "saved")) == 2


FULL = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
dcp.save({"a": torch.zeros(1000), "n": 0}, checkpoint_id=FOLDER)
before = sorted(os.listdir(FOLDER))
if rank == size - 1:
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
try:
    dcp.save({"a": torch.ones(1_000_000), "b": torch.ones(1_000_000), "n": 1}, checkpoint_id=FOLDER)
except dcp.api.CheckpointException as error:
    print(sorted(error.failures), type(error.failures[size - 1][0]).__name__)
if size > 1:
    dist.barrier()
print(sorted(os.listdir(FOLDER)) == before)
state = {"a": torch.ones(1000), "n": 5}
dcp.load(state, checkpoint_id=FOLDER)
print(state["a"].abs().sum().item(), state["n"])
"""


@pytest.mark.parametrize("size", [1, 2])
def test_a_full_disk_leaves_the_checkpoint_before(run, size):
    assert run(FULL, size) == [f"[{size - 1}] OSError\nTrue\n0.0 0\n"] * size


def test_a_damaged_list_is_told(run, tmp_path):
    run(SAVE, 1, together=False)
    path = tmp_path / "saved" / ".metadata"
    path.write_bytes(path.read_bytes()[:-20])
    head = HEAD.format(folder=str(tmp_path / "saved"), ours=True, together=False)
    ((status, _, errors),) = Ranks(LOAD, 1, head).finish()
    assert status == 1 and "metadata is None" in errors and "cut off" in errors


def test_a_list_runs_no_code(run, tmp_path):
    import pickle

    class Evil:
        def __reduce__(self):
            return os.system, (f"touch {tmp_path / 'evil'}",)
    (tmp_path / "saved").mkdir()
    (tmp_path / "saved" / ".metadata").write_bytes(pickle.dumps(Evil()))
    head = HEAD.format(folder=str(tmp_path / "saved"), ours=True, together=False)
    ((status, _, errors),) = Ranks(LOAD, 1, head).finish()
    assert status == 1 and "system" in errors and not (tmp_path / "evil").exists()


def test_the_command_converts(tmp_path):
    def run(*words):
        return interpreter.run(words, tmp_path, check=True, timeout=60, preload=f"{interpreter.GUESTS}; import torch")
    run("-c", "import dragon.vm; dragon.vm.install(); import torch; torch.save({'a': torch.ones(2)}, 'a.pt')")
    command = ["-m", "dragon", "run", "-m", "torch.distributed.checkpoint.format_utils"]
    said = run(*command, "torch_to_dcp", "a.pt", "folder").stdout
    assert "Converting" in said and sorted(os.listdir(tmp_path / "folder")) == [".metadata", "__0_0.distcp"]
    said = run(*command, "dcp_to_torch", "nothing", "b.pt").stdout
    assert "No checkpoint found at nothing" in said


MESH = """
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor
numbers = torch.arange(35.0).reshape(7, 5)
def make(mesh, fill=1):
    places = [Shard(0), Shard(1), Replicate()]
    pairs = [(one,) if mesh.ndim == 1 else (one, other) for one in places
             for other in (places if mesh.ndim == 2 else [None])]
    state = {f"{index}": distribute_tensor(numbers * fill * (index + 1), mesh, pair)
             for index, pair in enumerate(pairs * (3 if mesh.ndim == 1 else 1))}
    row = distribute_tensor(torch.arange(2.0) * fill, mesh, [Shard(0)] + [Replicate()] * (mesh.ndim - 1))
    return {**state, "plain": torch.arange(3) * fill, "row": row}
def check(state):
    for key, value in state.items():
        if key.isdigit():
            assert torch.equal(value.full_tensor(), numbers * (int(key) + 1)), key
    assert state["row"].full_tensor().tolist() == [0.0, 1.0] and state["plain"].tolist() == [0, 1, 2]
    print("whole")
"""
SQUARE = MESH + """
dcp.save(make(init_device_mesh("cpu", (2, 2))), checkpoint_id=FOLDER)
"""
LINE = MESH + """
state = make(init_device_mesh("cpu", (size,)), 0)
dcp.load(state, checkpoint_id=FOLDER)
check(state)
dcp.async_save(state, checkpoint_id=FOLDER + "-again").result()
state = make(init_device_mesh("cpu", (size,)), 0)
dcp.load(state, checkpoint_id=FOLDER + "-again")
check(state)
"""


def test_tensors_over_a_mesh_are_read_over_another(run):
    run(SQUARE, 4)
    assert run(LINE, 3) == ["whole\nwhole\n"] * 3


def test_tensors_over_a_mesh_go_between_us_and_pytorch(run):
    run(SQUARE, 4)
    assert run(LINE, 2, False) == ["whole\nwhole\n"] * 2  # PyTorch reads ours and writes its own
    assert run(MESH + """
state = make(init_device_mesh("cpu", (2, 1)), 0)
dcp.load(state, checkpoint_id=FOLDER + "-again")
check(state)
""", 2) == ["whole\n"] * 2


WHOLE = MESH + """
from torch.distributed.checkpoint.state_dict import (StateDictOptions, get_model_state_dict, get_optimizer_state_dict,
                                                     set_model_state_dict, set_optimizer_state_dict)
mesh = init_device_mesh("cpu", (size,))
def build(fill):
    model = torch.nn.Linear(5, 7)
    model.weight = torch.nn.Parameter(distribute_tensor(numbers * fill, mesh, [Shard(0)]))
    model.bias = torch.nn.Parameter(distribute_tensor(torch.arange(7.0) * fill, mesh, [Replicate()]))
    optimizer = torch.optim.SGD(model.parameters(), 0.5, momentum=0.5)
    for parameter in model.parameters():
        parameter.grad = torch.ones_like(parameter)
    optimizer.step()
    return model, optimizer
model, optimizer = build(2)
options = StateDictOptions(full_state_dict=True, cpu_offload=True)
whole = get_model_state_dict(model, options=options)
learned = get_optimizer_state_dict(model, optimizer, options=options)
print(sorted(whole), type(whole["weight"]).__name__ if rank == 0 else None)
other, other_optimizer = build(0)
options = StateDictOptions(full_state_dict=True, broadcast_from_rank0=True)
set_model_state_dict(other, whole, options=options)
set_optimizer_state_dict(other, other_optimizer, learned, options=options)
print(type(other.weight.data).__name__, torch.equal(other.weight.full_tensor(), numbers * 2 - 0.5))
held = other_optimizer.state[other.weight]["momentum_buffer"]
print(type(held).__name__, held.full_tensor().sum().item())
"""


def test_whole_states_of_models_over_a_mesh(run):
    expected = ["['bias', 'weight'] Tensor\nDTensor True\nDTensor 35.0\n", "[] None\nDTensor True\nDTensor 35.0\n"]
    assert run(WHOLE, 2) == expected
    assert run(WHOLE, 2, False) == expected


HUGGING = MESH + """
mesh = init_device_mesh("cpu", (size,))
def build(fill):
    # PyTorch's consolidation refuses whole numbers, and makes zeros of tensors without an axis.
    more = {} if THEIRS else {"plain": torch.arange(3) * fill, "flag": torch.tensor([True, False]) & bool(fill),
                              "number": torch.tensor(5.0) * fill}
    return {"split": distribute_tensor(numbers * fill, mesh, [Shard(0)]), "half": torch.ones(2).bfloat16() * fill,
            "empty": torch.zeros(0, 3), **more}
def same(one, other):
    one, other = (value.full_tensor() if isinstance(value, DTensor) else value for value in (one, other))
    return one.dtype == other.dtype and torch.equal(one, other)
if WRITES:
    dcp.save(build(1), storage_writer=dcp.HuggingFaceStorageWriter(FOLDER, save_distributed=True))
    mapping = {name: 1 + (name in ("plain", "half", "flag")) for name in build(1)}
    writer = dcp.HuggingFaceStorageWriter(FOLDER + "-whole", mapping, save_distributed=True, enable_consolidation=True)
    dcp.save(build(1), storage_writer=writer)
else:
    for folder in (FOLDER, FOLDER + "-whole"):
        found = build(0)
        dcp.load(found, storage_reader=dcp.HuggingFaceStorageReader(folder))
        print([same(found[key], value) for key, value in build(1).items()])
    print(sorted(os.listdir(FOLDER)), sorted(os.listdir(FOLDER + "-whole")))
"""


@pytest.mark.parametrize("writes, reads", [(True, True), (True, False), (False, True)])
def test_files_of_hugging_face(run, writes, reads):
    code = HUGGING.replace("THEIRS", str(not writes))
    run(code.replace("WRITES", "True"), 2, writes)
    said = run(code.replace("WRITES", "False"), 3, reads)
    files = ("['shard-00001-model-00001-of-00001.safetensors', 'shard-00002-model-00001-of-00001.safetensors'] "
             "['model-00001-of-00002.safetensors', 'model-00002-of-00002.safetensors', "
             "'model.safetensors.index.json', 'sharded']\n")
    assert said == [f"{[True] * (6 if writes else 3)}\n" * 2 + files] * 3

"""`torch.cuda` beside a device: here the driver, the sensors and the engine's counts are stand-ins."""
import sys
import types

import pytest
import torch

from dragon.core import accelerator, config
from dragon.vm import torch as dt
from dragon.vm.torch.core.nvidia import driver
from harness.subresults import each

STATS = {"current": 8, "peak": 16, "reserved": 32, "peak_reserved": 64, "allocations": 3, "frees": 2, "system_calls": 1}
FREE, TOTAL = 3 * 2 ** 30, 80 * 2 ** 30
FACTS = {"name": "H100", "uuid": bytes(range(16)), "major": 9, "minor": 0, "multi_processor_count": 132,
         "warp_size": 32, "L2_cache_size": 50 * 2 ** 20, "total_memory": TOTAL}
ANSWERS = {"device_facts": lambda index: dict(FACTS), "device_memory": lambda index: (FREE, TOTAL),
           "device_reaches": lambda index, peer: index != peer, "memory_snapshot": lambda index: [],
           "memory_retries": lambda index: (0, 0), "set_cuda_index": lambda index: None}


@pytest.fixture
def device(monkeypatch):
    """Two devices, as far as Python asks."""
    said = []
    monkeypatch.setattr(config, "device_count", lambda kind: 2 if kind == "cuda" else 1)
    monkeypatch.setattr(config, "memory_stats", lambda where: dict(STATS) if where == "cuda:0" else {})
    for name in ("synchronize", "reset_peak_memory", "set_memory_limit"):
        monkeypatch.setattr(config, name, lambda *args, name=name: said.append((name, *args)))
    for name, answer in ANSWERS.items():
        monkeypatch.setattr(accelerator, name, answer)
    yield said
    driver._properties.cache_clear()


def test_what_a_device_is(device):
    cuda, found = dt.cuda, dt.cuda.get_device_properties(0)
    assert (cuda.get_device_name(), cuda.get_device_capability("cuda:1")) == ("H100", (9, 0))
    assert found.multi_processor_count == 132 and found.total_memory == TOTAL and found.warp_size == 32
    assert repr(found).startswith("_CudaDeviceProperties(name='H100', major=9, minor=0, total_memory=81920MB")
    assert cuda.mem_get_info() == (FREE, TOTAL)
    assert cuda.can_device_access_peer(0, 1) is True and cuda.can_device_access_peer(0, 0) is False
    with pytest.raises(AssertionError, match="Invalid device id: got 2, expected 0 to 1"):
        cuda.get_device_name(2)
    with pytest.raises(ValueError, match="Expected a cuda device"):
        cuda.get_device_name("cpu")


def test_memory(device):
    cuda = dt.cuda
    assert (cuda.memory_allocated(), cuda.max_memory_allocated(), cuda.memory_reserved(), cuda.max_memory_reserved()) \
        == (8, 16, 32, 64)
    assert cuda.memory_stats()["allocated_bytes.all.peak"] == 16
    assert cuda.memory_stats_as_nested_dict()["reserved_bytes"] == {"all": {"current": 32, "peak": 64}}
    table = cuda.memory_summary(abbreviated=True)
    assert len({len(line) for line in table.splitlines()}) == 1 and "allocation.all.freed" not in table
    assert "allocation.all.freed" in cuda.memory_summary()
    cuda.reset_peak_memory_stats(1)
    cuda.reset_max_memory_allocated()
    cuda.reset_max_memory_cached()
    assert device == [("reset_peak_memory", "cuda:1")] + 2 * [("reset_peak_memory", "cuda:0")]
    assert cuda.get_per_process_memory_fraction() == 1
    cuda.set_per_process_memory_fraction(0.5, 1)
    assert device[-1] == ("set_memory_limit", TOTAL // 2, "cuda:1") and cuda.get_per_process_memory_fraction(1) == 0.5
    for wrong, error in ((1, TypeError), (1.5, ValueError)):
        with pytest.raises(error, match="Invalid"):
            cuda.set_per_process_memory_fraction(wrong)


def test_devices_have_streams_of_their_own(device):
    dt.manual_seed(4)
    dt.cuda.manual_seed_all(5)
    assert dt.cuda.initial_seed() == 5 and len(dt.cuda.get_rng_state_all()) == 2 and dt.initial_seed() == 4
    state = dt.cuda.get_rng_state()
    assert state.tolist() == [5] + [0] * 15
    dt.cuda.set_rng_state(dt.tensor([6] + [0] * 7 + [8] + [0] * 7, dtype=dt.uint8), 1)
    first, second = dt.cuda.default_generators
    assert (first.initial_seed(), first.get_offset(), second.initial_seed(), second.get_offset()) == (5, 0, 6, 8)
    dt.cuda.manual_seed(-1)  # of the current device
    assert (first.initial_seed(), second.initial_seed()) == (2 ** 64 - 1, 6)
    dt.cuda.set_rng_state_all([state, state])
    assert (first.initial_seed(), second.initial_seed(), second.get_offset()) == (5, 5, 0)
    dt.cuda.seed_all()
    assert first.initial_seed() == second.initial_seed() != 5
    dt.manual_seed(4)
    assert first.initial_seed() == second.initial_seed() == 4
    with pytest.raises(AssertionError, match="Invalid device id"):
        dt.cuda.get_rng_state(2)


def test_sensors(device, monkeypatch):
    library = types.ModuleType("pynvml")
    library.nvmlInit = lambda: None
    library.nvmlDeviceGetHandleByIndex = lambda index: index
    library.nvmlDeviceGetUtilizationRates = lambda handle: types.SimpleNamespace(gpu=40, memory=20)
    library.nvmlDeviceGetMemoryInfo = lambda handle: types.SimpleNamespace(used=123)
    library.nvmlDeviceGetTemperature = lambda handle, which: 60 + which
    library.nvmlDeviceGetPowerUsage = lambda handle: 70000
    library.nvmlDeviceGetClockInfo = lambda handle, which: 1700 + which
    library.nvmlDeviceGetComputeRunningProcesses = lambda handle: [
        types.SimpleNamespace(pid=7, usedGpuMemory=2 ** 21)] * (1 - handle)
    monkeypatch.setitem(sys.modules, "pynvml", library)
    names = "utilization memory_usage device_memory_used temperature power_draw clock_rate".split()
    assert [getattr(dt.cuda, name)() for name in names] == [40, 20, 123, 60, 70000, 1701]
    assert dt.cuda.list_gpu_processes() == "GPU:0\nprocess          7 uses        2.000 MB GPU memory"
    assert dt.cuda.list_gpu_processes(1) == "GPU:1\nno processes are running"


def test_what_is_refused_beside_a_device(device):
    dt.cuda.set_sync_debug_mode("default")
    assert dt.cuda.get_sync_debug_mode() == 0 and dt.cuda.get_allocator_backend() == "native"
    for call in (dt.cuda.cudart, dt.cuda.host_memory_snapshot):
        with pytest.raises(NotImplementedError, match="Dragon does not"):
            call()
    with pytest.raises(RuntimeError, match="got address 5"):
        dt.cuda.caching_allocator_delete(5)
    with pytest.raises(dt.cuda.CudaError, match="700"):
        dt.cuda.check_error(700)
    dt.cuda.check_error(dt.cuda.cudaStatus.SUCCESS)


@pytest.mark.parametrize("name", "FloatTensor HalfTensor LongTensor BoolTensor BFloat16Tensor".split())
def test_old_classes(name):
    for face in (torch, dt):
        kind = getattr(face.cuda, name)
        assert not isinstance(face.ones(1), kind) and repr(kind) == f"<class 'torch.cuda.{name}'>"
        with pytest.raises(TypeError, match=f"type torch.cuda.{name} not available.*Torch not compiled with CUDA"):
            kind(2)


@each("name, args", [
    ("utilization", ()), ("temperature", ()), ("list_gpu_processes", ()), ("Stream", ()), ("current_stream", ()),
    ("get_rng_state", ()), ("can_device_access_peer", (0, 1)), ("caching_allocator_alloc", (3,)), ("ipc_collect", ()),
    ("set_per_process_memory_fraction", (0.5,)), ("get_per_process_memory_fraction", ()), ("get_sync_debug_mode", ()),
    ("mem_get_info", ()), ("max_memory_reserved", ()), ("memory_stats", ()), ("seed", ()),
    ("set_rng_state_all", ([],))])
def test_without_a_device_as_genuine(name, args):
    answers = []
    for face in (torch, dt):
        try:
            answers.append(getattr(face.cuda, name)(*args))
        except Exception as error:
            answers.append(type(error))
    assert answers[0] == answers[1]


def test_the_accelerator_is_the_cuda_device(device):
    accelerator = dt.accelerator
    assert accelerator.memory_allocated() == 8 and accelerator.get_memory_info("cuda:1") == (FREE, TOTAL)
    assert accelerator.get_device_capability() == (9, 0)
    accelerator.set_device_index(0)

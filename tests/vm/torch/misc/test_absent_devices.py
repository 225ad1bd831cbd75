"""Devices that are not there: the answers and the errors' classes of PyTorch's build for CPUs."""
import pytest
import torch

from dragon.vm import torch as dt
from harness.subresults import each

ASKED = """
cuda.is_available cuda.device_count cuda.is_initialized cuda.is_bf16_supported cuda.empty_cache cuda.memory_allocated
cuda.max_memory_allocated cuda.memory_reserved cuda.max_memory_reserved cuda.memory_stats cuda.get_rng_state_all
cuda.get_arch_list cuda.seed_all cuda.current_device cuda.synchronize cuda.current_stream cuda.get_device_name
cuda.get_device_capability cuda.get_device_properties cuda.mem_get_info cuda.get_rng_state cuda.init cuda.Stream
cuda.CUDAGraph cuda.ipc_collect cuda.initial_seed cuda.default_stream cuda._is_in_bad_fork
mps.is_available mps.device_count mps.empty_cache mps.synchronize mps.current_allocated_memory mps.Event
xpu.is_available xpu.device_count xpu.empty_cache xpu.memory_allocated xpu.synchronize xpu.current_device
xpu.get_device_name xpu.is_bf16_supported xpu.seed_all xpu.get_rng_state_all
mtia.is_available mtia.device_count mtia.current_device mtia.synchronize mtia.memory_allocated
cpu.is_available cpu.device_count cpu.current_device cpu.synchronize cpu.is_initialized
accelerator.is_available accelerator.device_count accelerator.current_accelerator accelerator.synchronize
accelerator.memory_allocated accelerator.current_device_index
backends.cudnn.is_available backends.cudnn.version backends.mps.is_available backends.mps.is_built
backends.cuda.is_built backends.openmp.is_available backends.mkldnn.is_available backends.cuda.flash_sdp_enabled
backends.cuda.math_sdp_enabled backends.cpu.get_cpu_capability
backends.cusparselt.is_available backends.mha.get_fastpath_enabled
""".split()


def ask(library, path):
    """Return what a function without arguments returns, or the class it raises."""
    try:
        found = library
        for name in path.split("."):
            found = getattr(found, name)
        return found()
    except Exception as error:
        return type(error)


@each("path", ASKED)
def test_asked_the_same_answer(path):
    assert ask(dt, path) == ask(torch, path)


def test_opt_einsum_is_not_asked():
    """PyTorch finds it where some other package has brought it; here products of many tensors go their own way."""
    assert dt.backends.opt_einsum.get_opt_einsum() is None and dt.backends.opt_einsum.is_available() is False


@pytest.mark.parametrize("path", ["cuda.manual_seed", "cuda.manual_seed_all", "xpu.manual_seed", "mps.manual_seed"])
def test_seeding_what_is_not_there(path):
    module, name = path.split(".")
    assert getattr(getattr(dt, module), name)(3) is None


def test_contexts_without_a_device():
    with dt.cuda.device(None), dt.cuda.stream(None), dt.cuda.device_of(dt.zeros(1)), dt.accelerator.device_index(None):
        pass
    with pytest.raises(AssertionError), dt.cuda.device(0):
        pass
    with dt.cpu.stream(dt.cpu.current_stream()):
        dt.cpu.Event().wait()
    assert not isinstance(1, dt.cuda.Stream)


def test_switches():
    cudnn = dt.backends.cudnn
    assert (cudnn.enabled, cudnn.benchmark, cudnn.deterministic) == (True, False, False)
    cudnn.benchmark = True
    with cudnn.flags(enabled=False, benchmark=False):
        assert (cudnn.enabled, cudnn.benchmark) == (False, False)
    assert (cudnn.enabled, cudnn.benchmark) == (True, True)
    assert cudnn.set_flags(_benchmark=False)[1] is True and cudnn.benchmark is False
    with pytest.raises(TypeError), cudnn.flags(nothing=1):
        pass
    dt.backends.cuda.matmul.allow_tf32 = False
    with pytest.raises(AttributeError):
        dt.backends.cuda.matmul.nothing = True
    with pytest.warns(FutureWarning), dt.backends.cuda.sdp_kernel(enable_flash=False):
        assert not dt.backends.cuda.flash_sdp_enabled()
    assert dt.backends.cuda.flash_sdp_enabled()


def test_fork_rng():
    drawn = []
    for library in (dt, torch):
        library.manual_seed(4)
        with library.random.fork_rng():
            first = library.rand(2).tolist()
        drawn.append((first, library.rand(2).tolist()))
    assert drawn[0] == drawn[1] and drawn[0][0] == drawn[0][1]


ABSENT = """
distributed.optim.DistributedOptimizer distributed.rpc.RRef distributed._composable.replicate ao.quantization.prepare
distributed.checkpoint.QuantizedHuggingFaceStorageReader
distributed.rpc.init_rpc
quantization.fuse_modules distributed.nn.RemoteModule utils.cpp_extension.load
utils.mobile_optimizer.optimize_for_mobile package.PackageImporter
""".split()


@each("path", ABSENT)
def test_what_libraries_only_name_says_so_when_used(path):
    found = dt
    for name in path.split("."):
        found = getattr(found, name)
    if isinstance(found, type):
        assert not isinstance(dt.zeros(1), found)
    with pytest.raises(NotImplementedError, match=path.rpartition(".")[2]):
        found()

"""The device as PyTorch's users see it: what a training script calls, memory, pinned memory, and errors."""
import copy
import io

import numpy
import pytest

import dragon  # noqa: F401
from dragon.vm import torch as dt


@pytest.fixture
def x(device):
    return dt.arange(12.0, device=device).reshape(3, 4)


def test_there_and_back(x):
    assert x.is_cuda and not x.is_cpu and x.get_device() == 0 and str(x.device) == "cuda:0"
    assert dt.equal(x.cpu(), dt.arange(12.0).reshape(3, 4)) and x.cpu().device.type == "cpu"
    assert dt.ones(3).cuda(0).device == dt.ones(3).to(x).device == dt.ones(3).to("cuda", dt.float16).device
    assert x.to("cuda") is x and x.cuda() is x
    assert x.sum().item() == 66 and float(x[1, 1]) == 5 and x[0].tolist() == [0, 1, 2, 3]
    assert repr(x[0]) == "tensor([0., 1., 2., 3.], device='cuda:0')"
    assert copy.deepcopy(x).is_cuda and x.clone().is_cuda and (x.type(), x.cpu().type()) == (
        "torch.cuda.FloatTensor", "torch.FloatTensor")
    assert dt.ones(2).type("torch.cuda.HalfTensor").type() == "torch.cuda.HalfTensor"


def test_cudnn_tells_of_itself(x, simt, monkeypatch):
    cudnn = dt.backends.cudnn
    if simt:
        monkeypatch.delenv("DRAGON_SIMT_DNN", raising=False)
        assert (cudnn.is_available(), cudnn.version(), cudnn.is_acceptable(x)) == (False, None, False)
        monkeypatch.setenv("DRAGON_SIMT_DNN", "1")
    assert cudnn.is_available() == (cudnn.version() is not None) and (cudnn.version() or 90000) >= 90000
    if cudnn.is_available():
        assert cudnn.is_acceptable(x) and not cudnn.is_acceptable(x.long()) and not cudnn.is_acceptable(x.cpu())
        with cudnn.flags(enabled=False):
            assert not cudnn.is_acceptable(x)


def test_numpy_refuses(x):
    for ask in (x.numpy, lambda: numpy.asarray(x)):
        with pytest.raises(TypeError, match="can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu()"):
            ask()


def test_writes_from_another_device(x):
    x[0] = 5
    x[1, 2] = dt.tensor(3.0)
    x[2] = dt.arange(4)
    assert x.tolist() == [[5] * 4, [4, 5, 3, 7], [0, 1, 2, 3]]
    host = dt.zeros(3, 4)
    assert host.copy_(x)[1].tolist() == [4, 5, 3, 7]
    host[:, 1] = x[:, 2]
    assert host[:, 1].tolist() == [5, 3, 2]
    assert x.copy_(dt.ones(4, dtype=dt.int64)).tolist() == [[1] * 4] * 3
    assert dt.zeros(4, 3, device="cuda").t().copy_(host).tolist() == host.tolist()
    leaf = dt.ones(3, requires_grad=True)
    moved = dt.zeros(3, device="cuda").copy_(leaf * 2)
    moved.sum().backward()
    assert leaf.grad.tolist() == [2, 2, 2] and leaf.grad.device.type == "cpu"


def test_numbers_go_anywhere(x):
    """A number on the host is read by kernels on the device, whether it is weak or a tensor."""
    assert (x * 2 + dt.tensor(1.0)).tolist() == (x.cpu() * 2 + 1).tolist()
    assert dt.where(x > 5, x, 0.5).sum().item() == dt.where(x.cpu() > 5, x.cpu(), 0.5).sum().item()
    for number in (3, 3.5, True):
        assert (x + number).cpu().equal(x.cpu() + number)
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        x + dt.ones(3, 4)


def test_factories_and_default_device(device):
    made = [dt.zeros(2, device=device), dt.ones(2, device=0), dt.full((2,), 3.0, device=device),
            dt.tensor([1], device="cuda:0"), dt.as_tensor(numpy.arange(3), device=device), dt.eye(2, device=device)]
    assert all(str(each.device) == "cuda:0" for each in made)
    with dt.device("cuda"):
        assert dt.zeros(2).is_cuda and dt.tensor([1]).is_cuda
    dt.set_default_device("cuda")
    try:
        assert dt.ones(2).is_cuda and not dt.ones(2, device="cpu").is_cuda
    finally:
        dt.set_default_device(None)
    assert not dt.ones(2).is_cuda


def test_saving(x):
    buffer = io.BytesIO()
    dt.save({"x": x}, buffer)
    for where, kind in ((None, "cuda"), ("cpu", "cpu"), (dt.device("cuda"), "cuda"), ({"cuda:0": "cpu"}, "cpu")):
        buffer.seek(0)
        loaded = dt.load(buffer, map_location=where)["x"]
        assert loaded.device.type == kind and loaded.tolist() == x.tolist()


def test_modules(device):
    layer = dt.nn.Linear(2, 3).to(device, non_blocking=True)
    assert all(value.is_cuda for value in layer.state_dict().values())
    assert not next(layer.cpu().parameters()).is_cuda and next(layer.cuda().parameters()).is_cuda


def test_pinned_memory(device):
    plain = dt.arange(6.0)
    pinned = plain.pin_memory()
    assert pinned.is_pinned() and not plain.is_pinned() and pinned.pin_memory() is pinned and pinned.equal(plain)
    assert pinned[2:].is_pinned() and dt.zeros(3, pin_memory=True).is_pinned()
    assert pinned.to(device, non_blocking=True).tolist() == plain.tolist()
    back = dt.empty(6, pin_memory=True).copy_(pinned.to(device) * 2, non_blocking=True)
    dt.cuda.synchronize()
    assert back.tolist() == (plain * 2).tolist()
    with pytest.raises(RuntimeError, match="cannot pin 'torch.cuda.FloatTensor' only dense CPU tensors can be pinned"):
        dt.ones(2, device=device).pin_memory()
    data = dt.utils.data.TensorDataset(dt.arange(8.0))
    batches = [batch for batch, in dt.utils.data.DataLoader(data, batch_size=4, pin_memory=True)]
    assert all(batch.is_pinned() for batch in batches) and batches[1].tolist() == [4, 5, 6, 7]


def test_memory_is_counted(device):
    cuda = dt.cuda
    before = cuda.memory_allocated()
    block = dt.empty(1000, 1000, device=device)
    assert cuda.memory_allocated() - before == 4000256 and cuda.max_memory_allocated() >= cuda.memory_allocated()
    assert cuda.memory_reserved() >= cuda.memory_allocated()
    pieces = [piece for segment in cuda.memory_snapshot() for piece in segment["blocks"]]
    assert any(piece["address"] == block.data_ptr() and piece["state"] == "active_allocated" for piece in pieces)
    del block
    assert cuda.memory_allocated() == before
    held = cuda.memory_reserved()
    cuda.empty_cache()
    assert cuda.memory_reserved() < held
    assert "allocated_bytes.all.current" in cuda.memory_summary() and cuda.mem_get_info()[1] > 0


def test_blocks_are_cut_and_joined(device):
    dt.cuda.empty_cache()
    blocks = [dt.empty(5 << 20, dtype=dt.uint8, device=device) for _ in range(4)]
    segments = {block.data_ptr() // (20 << 20) for block in blocks}
    held = dt.cuda.memory_reserved()
    del blocks[1:3]
    again = dt.empty(10 << 20 - 1, dtype=dt.uint8, device=device) if len(segments) > 4 else None
    middle = dt.empty(9 << 20, dtype=dt.uint8, device=device)
    assert dt.cuda.memory_reserved() == held and again is None and middle.numel() == 9 << 20


def test_out_of_memory_leaves_all_usable(device):
    kept = dt.ones(3, device=device)
    dt.cuda.empty_cache()
    total, room = dt.cuda.mem_get_info()[1], 64 << 20
    dt.cuda.set_per_process_memory_fraction((dt.cuda.memory_reserved() + room) / total)
    try:
        cached = dt.empty(room // 2, dtype=dt.uint8, device=device)
        del cached
        held = dt.empty(room // 4 * 3, dtype=dt.uint8, device=device)  # fits once the cache was emptied
        with pytest.raises(dt.cuda.OutOfMemoryError, match="CUDA out of memory. Tried to allocate .* GPU 0 has a tot"):
            dt.empty(room // 2, dtype=dt.uint8, device=device)
        assert dt.cuda.memory_stats()["num_ooms"] >= 1 and dt.cuda.memory_stats()["num_alloc_retries"] >= 1
        del held
        assert dt.empty(room // 2, dtype=dt.uint8, device=device).is_cuda and (kept + 1).tolist() == [2, 2, 2]
    finally:
        dt.cuda.set_per_process_memory_fraction(1.0)


def test_which_device(device):
    cuda = dt.cuda
    assert cuda.is_available() and cuda.current_device() == 0 and cuda.device_count() >= 1
    facts = cuda.get_device_properties(0)
    assert facts.total_memory > 0 and cuda.get_device_name() == facts.name and len(cuda.get_device_capability()) == 2
    cuda.set_device(0)
    with cuda.device(0):
        assert cuda.current_device() == 0
    with pytest.raises(RuntimeError, match="invalid device ordinal"):
        cuda.set_device(cuda.device_count())
    with pytest.raises((RuntimeError, ValueError), match="index below"):
        dt.ones(2, device=f"cuda:{cuda.device_count()}")
    assert dt.accelerator.current_accelerator() == dt.device("cuda") and dt.accelerator.current_device_index() == 0


def test_lending(x):
    borrowed = dt.from_dlpack(x)
    borrowed += 1
    assert x[0].tolist() == [1, 2, 3, 4] and x.__dlpack_device__() == (2, 0)
    assert dt.from_dlpack(x.__dlpack__(stream=1)).data_ptr() == x.data_ptr()
    told = x.t().__cuda_array_interface__
    assert told["shape"] == (4, 3) and told["strides"] == (4, 16) and told["typestr"] == "<f4"
    assert told["data"] == (x.data_ptr(), False)
    assert not hasattr(x.cpu(), "__cuda_array_interface__")


class Lent:
    """Another library's array on the device."""

    def __init__(self, told):
        self.__cuda_array_interface__ = told


def test_borrowing(x):
    lender = Lent(x.t().__cuda_array_interface__)
    made = dt.as_tensor(lender)
    assert made.data_ptr() == x.data_ptr() and made.tolist() == x.t().tolist() and dt.asarray(lender).is_cuda
    assert dt.tensor(lender).data_ptr() != x.data_ptr() and dt.as_tensor(lender, device="cpu").device.type == "cpu"
    with pytest.raises(TypeError, match="got device memory of '>f4'"):
        dt.as_tensor(Lent({"typestr": ">f4", "shape": (1,), "data": (0, False)}))


def test_modules_keep_their_parameters_when_they_move():
    """Shared weights stay shared, and an optimizer that was made before still updates them."""
    table, head = dt.nn.Embedding(7, 4), dt.nn.Linear(4, 7, bias=False)
    head.weight = table.weight
    model = dt.nn.Sequential(table, head)
    before, optimizer = table.weight, dt.optim.SGD(model.parameters(), lr=1.0)
    model.to("cuda")
    assert head.weight is table.weight is before and before.is_cuda and before.is_leaf
    found = before.detach().cpu().clone()
    model(dt.arange(7, device="cuda")).sum().backward()
    optimizer.step()
    wanted = dt.nn.Parameter(found.clone())
    dt.nn.functional.linear(wanted, wanted).sum().backward()
    assert dt.allclose(before.detach().cpu(), found - wanted.grad, atol=1e-6)
    model.cpu()
    assert head.weight is before and before.device.type == "cpu" and before.grad.device.type == "cpu"


@pytest.mark.parametrize("key", [lambda d: dt.tensor([1, 3], device=d), lambda d: slice(1, 3),
                                 lambda d: (slice(None), dt.tensor([2], device=d)), lambda d: (Ellipsis, 0),
                                 lambda d: (0, 1),
                                 lambda d: (dt.tensor([True, False, True, False], device=d), 1)])
@pytest.mark.parametrize("value", [5, 2.5, True, dt.tensor(3.0)])
def test_numbers_are_written_at_subscripts(key, value):
    found = []
    for device in ("cpu", "cuda"):
        x = dt.zeros(4, 3, device=device)
        x[key(device)] = value
        found.append(x.cpu().numpy())
    numpy.testing.assert_array_equal(*found)

"""Modules over processes and devices: a world of one, and no CUDA."""
import numpy
import pytest

from dragon.vm import torch as mine

torch = pytest.importorskip("torch")


@pytest.fixture
def world(tmp_path, monkeypatch):
    """Be a world of one process."""
    mine.distributed.init_process_group("gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    yield
    mine.distributed.destroy_process_group()


def test_distributed_data_parallel(world):
    """Train through the wrapper as without it."""
    nn = mine.nn
    mine.manual_seed(0)
    model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2)),
                                                find_unused_parameters=True)
    theirs = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2))
    assert list(model.state_dict()) == ["module." + name for name in theirs.state_dict()]
    theirs.load_state_dict({name[len("module."):]: torch.tensor(value.numpy())
                            for name, value in model.state_dict().items()})
    x = numpy.random.default_rng(0).standard_normal((5, 3)).astype("float32")
    (model(mine.tensor(x)) ** 2).sum().backward()
    (theirs(torch.tensor(x)) ** 2).sum().backward()
    with model.no_sync():
        assert not model.require_backward_grad_sync
    for ours, other in zip(model.parameters(), theirs.parameters()):
        numpy.testing.assert_allclose(ours.grad.numpy(), other.grad.numpy(), rtol=1e-4, atol=1e-5)
    with pytest.raises(TypeError):
        model.register_comm_hook(None, "hook")
    with pytest.raises(RuntimeError):
        nn.parallel.DistributedDataParallel(nn.ReLU())
    with pytest.raises(NotImplementedError):
        nn.parallel.DistributedDataParallel(nn.Linear(1, 1), mixed_precision=3)
    with pytest.raises(TypeError):
        nn.parallel.DistributedDataParallel(nn.Linear(1, 1), device_mesh=3)


def test_distributed_needs_a_world():
    """Refuse without a process group."""
    for guest in (mine, torch):
        with pytest.raises(ValueError):
            guest.nn.parallel.DistributedDataParallel(guest.nn.Linear(1, 1))


def test_sync_batch_norm():
    """Convert batch normalizations, with their state."""
    texts = []
    for guest in (mine, torch):
        model = guest.nn.Sequential(guest.nn.Linear(2, 3), guest.nn.BatchNorm1d(3, affine=False).eval())
        made = guest.nn.SyncBatchNorm.convert_sync_batchnorm(model)
        texts.append((repr(made), list(made.state_dict()), made[1].training))
    assert texts[0] == texts[1]
    layer = mine.nn.SyncBatchNorm(3)
    assert layer(mine.ones(4, 3)).shape == (4, 3)


def test_data_parallel():
    """Call the module alone where there is no CUDA; copy it where asked to."""
    texts = []
    for guest in (mine, torch):
        model = guest.nn.DataParallel(guest.nn.Linear(3, 2))
        texts.append((repr(model), list(model.state_dict()), model(guest.ones(4, 3)).shape == (4, 2)))
    assert texts[0] == texts[1]
    parallel, layer = mine.nn.parallel, mine.nn.Sequential(mine.nn.Linear(3, 2), mine.nn.BatchNorm1d(2))
    copies = parallel.replicate(layer, ["cpu", "cpu"])
    parts = parallel.scatter((mine.ones(4, 3), {"a": mine.ones(2)}), ["cpu", "cpu"])
    assert [part[0].shape for part in parts] == [(2, 3), (2, 3)] and parts[0][1]["a"].shape == (1,)
    results = parallel.parallel_apply(copies, [part[0] for part in parts])
    parallel.gather(results, "cpu").sum().backward()
    assert layer[0].weight.grad is not None
    assert parallel.data_parallel(layer, mine.ones(4, 3)).shape == (4, 2)
    gathered = parallel.gather([{"a": mine.ones(1)}, {"a": mine.ones(2)}], "cpu")
    assert gathered["a"].shape == (3,)

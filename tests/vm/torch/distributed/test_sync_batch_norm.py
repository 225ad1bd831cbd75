"""Batch normalization over several processes equals that of one which has the whole batch."""
import pytest
from harness.worlds import run_here

LAYERS = '''
def halves(x):
    sizes = [len(x) - 2 * (size - 1), *[2] * (size - 1)]
    return x.split(sizes)[rank]
def compare(make, shape, dtype=torch.float32, **options):
    torch.manual_seed(4)
    x, dy = torch.randn(shape).to(dtype) * 3 + 5, torch.randn(shape).to(dtype)
    whole, layer = make(shape[1], **options).to(dtype), make(shape[1], **options).to(dtype)
    for each in (whole, layer):
        if each.affine:
            torch.manual_seed(5)
            nn.init.normal_(each.weight)
            nn.init.normal_(each.bias)
    layer = nn.SyncBatchNorm.convert_sync_batchnorm(layer)
    assert type(layer) is nn.SyncBatchNorm
    for _ in range(2):
        whole.zero_grad(), layer.zero_grad()
        full, part = x.clone().requires_grad_(), halves(x).clone().requires_grad_()
        expected, made = whole(full), layer(part)
        expected.backward(dy), made.backward(halves(dy))
        close = {"rtol": 1e-2, "atol": 2e-2} if dtype is torch.bfloat16 else {"rtol": 1e-4, "atol": 1e-4}
        assert made.dtype is dtype
        torch.testing.assert_close(made, halves(expected), **close)
        torch.testing.assert_close(part.grad, halves(full.grad), **close)
        for one, two in zip(layer.parameters(), whole.parameters()):
            total = one.grad.clone()
            dist.all_reduce(total)
            torch.testing.assert_close(total, two.grad, **close)
        for one, two in zip(layer.buffers(), whole.buffers()):
            torch.testing.assert_close(one, two, **close)
    whole.eval(), layer.eval()
    torch.testing.assert_close(layer(part), halves(whole(full)), **close)
compare(nn.BatchNorm1d, (7, 3))
compare(nn.BatchNorm1d, (7, 3, 5), momentum=None)
compare(nn.BatchNorm2d, (6, 4, 3, 5), eps=1e-2)
compare(nn.BatchNorm2d, (6, 4, 3, 5), affine=False)
compare(nn.BatchNorm3d, (6, 2, 3, 2, 2), torch.float64)
compare(nn.BatchNorm2d, (6, 4, 3, 5), torch.bfloat16)
'''
CORNERS = '''
layer = nn.SyncBatchNorm(2, track_running_stats=False)
x = torch.arange(6.0).reshape(3, 2) if rank == 0 else torch.zeros(0, 2)  # a process may have nothing
x.requires_grad_()
y = layer(x)
y.square().sum().backward()
assert y.shape == x.shape and x.grad.shape == x.shape and not y.isnan().any()
if rank == 0:
    torch.testing.assert_close(y, nn.BatchNorm1d(2)(x))
try:
    layer(torch.ones(1 if rank == 0 else 0, 2))
    raise AssertionError("no error")
except ValueError as error:
    assert "more than 1 value per channel" in str(error)
for shape in ((3,), (2, 0)):
    try:
        layer(torch.ones(shape))
        raise AssertionError("no error")
    except ValueError as error:
        print(error)
alone = [dist.new_group([each]) for each in range(size)][rank]
one = nn.SyncBatchNorm(2, process_group=alone)
x = torch.randn(3, 2) + rank
torch.testing.assert_close(one(x), nn.BatchNorm1d(2)(x))
'''
TRAINING = '''
def make():
    torch.manual_seed(1)
    return nn.Sequential(nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Conv2d(4, 4, 3), nn.BatchNorm2d(4),
                         nn.Flatten(), nn.Linear(64, 3))
whole, ddp = make(), nn.parallel.DistributedDataParallel(nn.SyncBatchNorm.convert_sync_batchnorm(make()),
                                                         bucket_cap_mb=0.0001)
optimizers = [torch.optim.SGD(each.parameters(), 0.1, momentum=0.9) for each in (whole, ddp)]
torch.manual_seed(2)
for _ in range(5):
    x, y = torch.randn(4 * size, 2, 8, 8), torch.randint(0, 3, (4 * size,))
    for model, optimizer, part in zip((whole, ddp), optimizers, (slice(None), slice(4 * rank, 4 * rank + 4))):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x[part]), y[part]).backward()
        optimizer.step()
for one, two in zip(whole.state_dict().values(), ddp.module.state_dict().values()):
    torch.testing.assert_close(one, two, rtol=1e-4, atol=1e-5)
'''


@pytest.mark.parametrize("size", [2, 3])
def test_layers_equal_one_of_the_whole_batch(size):
    run_here(LAYERS, size)


def test_corners():
    for printed in run_here(CORNERS, 2):
        assert printed.splitlines() == ["expected at least 2D input (got 1D input)",
                                        "SyncBatchNorm number of input channels should be non-zero"]


def test_training_beside_gradients_on_their_way_equals_one_process():
    run_here(TRAINING, 2)

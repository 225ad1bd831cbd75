"""Memory that workers and their parent share: what batches say of it, and batches that workers write right into it."""
import pytest

from dragon.vm import torch as dt
from dragon.vm.torch.utils.data import DataLoader


def collate(parts):
    """Return a batch, put together where other processes see it."""
    count = sum(part.numel() for part in parts)
    storage = parts[0].untyped_storage()._new_shared(count * parts[0].element_size(), device=parts[0].device)
    out = parts[0].new(storage).resize_(len(parts), *parts[0].shape)
    assert out.is_shared() and out.untyped_storage().data_ptr() == storage.data_ptr()
    return dt.stack(parts, out=out)


@pytest.mark.parametrize("workers, how", [(0, None), (1, None), (1, collate)])
def test_batches_say_whether_others_see_them(workers, how):
    loader = DataLoader([dt.full((3,), number) for number in range(4)], batch_size=2, num_workers=workers,
                        collate_fn=how)
    batches = list(loader)
    assert [batch.tolist() for batch in batches] == [[[0] * 3, [1] * 3], [[2] * 3, [3] * 3]]
    assert [batch.is_shared() for batch in batches] == [batch.untyped_storage().is_shared() for batch in batches] == [
        workers > 0] * 2


def test_tensors_stand_over_storages():
    storage = dt.UntypedStorage._new_shared(16)
    assert storage.is_shared() and storage.nbytes() == 16
    made = dt.ones(1).new(storage)
    made.fill_(2.0)
    assert made.shape == (4,) and made.is_shared() and storage.tolist()[:4] == [0, 0, 0, 64]
    assert dt.UntypedStorage._new_shared(0).nbytes() == 0
    with pytest.raises(TypeError, match="float64"):
        dt.ones(1).new(dt.ones(2, dtype=dt.float64).storage())


def test_texts_of_others_stand_for_numbers():
    class Named(dt.Tensor):
        pass
    assert dt._tensor_str._str_intern(dt.ones(2), tensor_contents="...") == "tensor(...)"
    x = dt.ones(2, requires_grad=True).as_subclass(Named)
    assert dt._tensor_str._str_intern(x, tensor_contents="[one]").startswith("Named([one], ")


class Noted(dt.Tensor):
    """A tensor of the user's own class, with an attribute."""


class NotedSamples(dt.utils.data.Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        sample = dt.full((2, 3), float(index)).as_subclass(Noted)
        sample.note = index
        return sample


def with_notes(samples):
    batch = dt.utils.data.default_collate(samples)
    batch.note = [sample.note for sample in samples]
    return batch


@pytest.mark.parametrize("workers", [0, 2])
def test_batches_are_of_the_samples_own_class(workers):
    loader = dt.utils.data.DataLoader(NotedSamples(), batch_size=2, num_workers=workers, collate_fn=with_notes)
    assert [(type(batch), batch.note, batch.sum().item()) for batch in loader] == [
        (Noted, [0, 1], 6.0), (Noted, [2, 3], 30.0)]
    singles = dt.utils.data.DataLoader(NotedSamples(), batch_size=None, num_workers=workers)
    assert [(type(sample), sample.note) for sample in singles] == [(Noted, index) for index in range(4)]

"""Pipelines as iterators of PyTorch's tensors: Dragon's, where `import torch` finds Dragon's."""
from dragon.vm.dali.core.kinds import to_numpy_type as _to_numpy_type
from dragon.vm.dali.core.refusals import got as _got
from dragon.vm.dali.plugin.base_iterator import IteratorBase as _IteratorBase
from dragon.vm.dali.plugin.base_iterator import LastBatchPolicy


def _torch():
    import torch
    return torch


def to_torch_type(dali_type):
    """Return PyTorch's type for one of DALI's.

    Parameters
    ----------
    dali_type : DALIDataType
        The type.

    """
    import numpy as np
    return _torch().from_numpy(np.empty(0, _to_numpy_type(dali_type))).dtype


def feed_ndarray(dali_tensor, arr, cuda_stream=None, non_blocking=False):
    """Copy a tensor, or a batch of one shape, into a tensor of PyTorch's.

    Parameters
    ----------
    dali_tensor : Union[TensorCPU, TensorListCPU]
        What is copied.
    arr : torch.Tensor
        Where to; it must have the shape.
    cuda_stream, non_blocking : optional
        Of devices.

    """
    array = dali_tensor.as_array() if hasattr(dali_tensor, "as_array") else dali_tensor.__array__()
    if tuple(arr.shape) != array.shape:
        raise AssertionError(_got("feed_ndarray", f"a tensor of shape {tuple(arr.shape)}", f"{array.shape}"))
    arr.copy_(_tensor(array))
    return arr


def _tensor(array):
    import numpy as np
    # A batch is the pipeline's no more once it is given out, so it is copied only where PyTorch could not write.
    array = np.ascontiguousarray(array)
    return _torch().from_numpy(array if array.flags.writeable else array.copy())


class DALIGenericIterator(_IteratorBase):
    """Batches as dicts of tensors.

    Parameters
    ----------
    pipelines : Union[Pipeline, Sequence[Pipeline]]
        The pipelines.
    output_map : Sequence[str]
        What the outputs are called.
    size, reader_name, auto_reset, fill_last_batch, last_batch_padded, last_batch_policy, prepare_first_batch : optional
        As for `IteratorBase`.
    dynamic_shape : bool, optional, default=False
        Shapes may change from batch to batch anyhow.

    """

    def __init__(self, pipelines, output_map, size=-1, reader_name=None, auto_reset=False, fill_last_batch=None,
                 dynamic_shape=False, last_batch_padded=False, last_batch_policy=LastBatchPolicy.FILL,
                 prepare_first_batch=True):
        if len(set(output_map)) != len(output_map):
            raise AssertionError(_got("output_map", output_map, "names that differ"))
        self.output_map = list(output_map)
        super().__init__(pipelines, size, reader_name, auto_reset, fill_last_batch, last_batch_padded,
                         last_batch_policy, prepare_first_batch)
        for pipe in self._pipes:
            if pipe.num_outputs != len(self.output_map):
                raise AssertionError(_got("output_map", f"{len(self.output_map)} names", f"{pipe.num_outputs}, one for "
                                          "each output"))

    def _deliver(self, batches, left):
        return [{name: _tensor(output.as_array()[:count]) for name, output in zip(self.output_map, batch)}
                for batch, count in zip(batches, left) if count or self._reader_name]


class DALIClassificationIterator(DALIGenericIterator):
    """Batches as dicts of "data" and "label".

    Parameters
    ----------
    pipelines : Union[Pipeline, Sequence[Pipeline]]
        The pipelines, of two outputs.
    options : Any
        As for `DALIGenericIterator`.

    """

    def __init__(self, pipelines, size=-1, **options):
        super().__init__(pipelines, ["data", "label"], size, **options)


class DALIRaggedIterator(_IteratorBase):
    """Batches as dicts of tensors, or of lists of them where samples differ in shape.

    Parameters
    ----------
    pipelines : Union[Pipeline, Sequence[Pipeline]]
        The pipelines.
    output_map : Sequence[str]
        What the outputs are called.
    output_types : Sequence[str], optional
        "dense", "sparse_list" or "sparse_coo" for each output; dense by default.
    options : Any
        As for `IteratorBase`.

    """

    DENSE_TAG, SPARSE_LIST_TAG, SPARSE_COO_TAG = "dense", "sparse_list", "sparse_coo"

    def __init__(self, pipelines, output_map, size=-1, reader_name=None, output_types=None, auto_reset=False,
                 fill_last_batch=None, dynamic_shape=False, last_batch_padded=False,
                 last_batch_policy=LastBatchPolicy.FILL, prepare_first_batch=True):
        self.output_map = list(output_map)
        self.output_types = list(output_types or [self.DENSE_TAG] * len(self.output_map))
        if len(self.output_types) != len(self.output_map) or not set(self.output_types) <= {"dense", "sparse_list",
                                                                                            "sparse_coo"}:
            raise ValueError(_got("output_types", output_types, "dense, sparse_list or sparse_coo for each output"))
        super().__init__(pipelines, size, reader_name, auto_reset, fill_last_batch, last_batch_padded,
                         last_batch_policy, prepare_first_batch)

    def _deliver(self, batches, left):
        return [{name: self._one(output, kind, count)
                 for name, output, kind in zip(self.output_map, batch, self.output_types)}
                for batch, count in zip(batches, left)]

    def _one(self, output, kind, count):
        if kind == "dense":
            return _tensor(output.as_array()[:count])
        parts = [_tensor(output.at(place)) for place in range(count)]
        if kind == "sparse_list":
            return parts
        torch = _torch()
        rank = 1 + parts[0].ndim
        places = [[place, *index] for place, part in enumerate(parts)
                  for index in torch.ones_like(part).nonzero().tolist()]
        sizes = [len(parts)] + [max(part.shape[axis] for part in parts) for axis in range(rank - 1)]
        return torch.sparse_coo_tensor(torch.tensor(places).T.reshape(rank, -1), torch.cat([part.reshape(-1)
                                                                                            for part in parts]), sizes)

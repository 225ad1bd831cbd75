"""Pipelines as data sets of TensorFlow: Dragon's, where `import tensorflow` finds Dragon's."""
import numpy as np

from dragon.vm.dali.core.kinds import to_dali_type as _to_dali_type
from dragon.vm.dali.core.kinds import to_numpy_type as _to_numpy_type
from dragon.vm.dali.core.refusals import got as _got


def DALIDataset(pipeline, output_dtypes=None, output_shapes=None, fail_on_device_mismatch=True, *, input_datasets=None,
                batch_size=1, num_threads=4, device_id=0, exec_separated=False, prefetch_queue_depth=2,
                cpu_prefetch_queue_depth=2, gpu_prefetch_queue_depth=2, dtypes=None, shapes=None):
    """Return a `tf.data.Dataset` of a pipeline's batches, which goes on for ever or until a source ends.

    Parameters
    ----------
    pipeline : Pipeline
        The pipeline.
    output_dtypes : Union[tf.DType, Sequence[tf.DType]]
        The types of the outputs.
    output_shapes : optional
        Their shapes, with the batch in front.
    fail_on_device_mismatch, device_id, exec_separated : optional
        Of devices; all runs on the host.
    input_datasets : dict, optional
        Data sets that feed a pipeline's inputs; refused.
    batch_size, num_threads, prefetch_queue_depth, cpu_prefetch_queue_depth, gpu_prefetch_queue_depth : optional
        The pipeline knows these itself.
    dtypes, shapes : optional
        Older words for output_dtypes and output_shapes.

    Returns
    -------
    tf.data.Dataset
        Its elements are tuples, or single tensors where one type is told.

    """
    import tensorflow as tf
    if input_datasets is not None:
        raise NotImplementedError(_got("DALIDataset", "input_datasets", "fn.external_source with the data sets' "
                                       "as_numpy_iterator()"))
    kinds = dtypes if output_dtypes is None else output_dtypes
    sizes = shapes if output_shapes is None else output_shapes
    if kinds is None:
        raise ValueError(_got("DALIDataset", "no output_dtypes", "the types of the outputs"))
    single = not isinstance(kinds, (list, tuple))
    kinds = (kinds,) if single else tuple(kinds)
    sizes = [None] * len(kinds) if sizes is None else (sizes,) if single else tuple(sizes)

    def batches():
        pipeline.reset()
        while True:
            try:
                outputs = pipeline.run()
            except StopIteration:
                return
            if len(outputs) != len(kinds):
                raise ValueError(_got("DALIDataset", f"{len(kinds)} output_dtypes", f"{len(outputs)}"))
            arrays = []
            for output, kind in zip(outputs, kinds):
                wanted = np.dtype(tf.as_dtype(kind).as_numpy_dtype)
                if _to_dali_type(wanted) != output.dtype:
                    raise TypeError(_got("DALIDataset", f"an output of type {output.dtype}", f"{kind}"))
                arrays.append(np.asarray(output.as_array(), _to_numpy_type(output.dtype)))
            yield arrays[0] if single else tuple(arrays)
    signature = tuple(tf.TensorSpec(size, kind) for size, kind in zip(sizes, kinds))
    return tf.data.Dataset.from_generator(batches, output_signature=signature[0] if single else signature)


class DALIIterator:
    """Refuse: the operator of older TensorFlow's graphs is not there."""

    def __init__(self, *arguments, **options):
        raise NotImplementedError(_got("DALIIterator", "a call", "DALIDataset"))

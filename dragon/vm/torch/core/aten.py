"""Names under `torch.ops.aten` that no function or method has, and what they stand for."""
from dragon.vm.torch.core.absent import make_function
from dragon.vm.torch.core.dtypes import OBJECTS
from dragon.vm.torch.core.sparse import face as sparse_face
from dragon.vm.torch.core.tensor import Tensor, ops


def _to_copy(self, *, dtype=None, layout=None, device=None, pin_memory=None, non_blocking=False, memory_format=None):
    return Tensor.to(self, device=device, dtype=dtype or self.dtype, copy=True, memory_format=memory_format)


def _pin_memory(self, device=None):
    return self


def _unsafe_view(self, size):
    return ops.reshape(self, size)


def _local_scalar_dense(self):
    return self.item()


def sym_size(self, dim=None):
    """Return the shape or one of its sizes."""
    return self.size() if dim is None else self.size(dim)


def sym_stride(self, dim=None):
    """Return the steps of the axes, or one of them."""
    return self.stride() if dim is None else self.stride(dim)


def sym_numel(self):
    """Return the number of elements."""
    return self.numel()


def sym_storage_offset(self):
    """Return the place of the first element."""
    return self.storage_offset()


def alias(self):
    """Return a view of everything."""
    return ops.view(self, self.shape)


def lift_fresh(self):
    """Return the tensor."""
    return self


def slice(self, dim=0, start=None, end=None, step=1):
    """Return a slice of one axis."""
    return ops.slice(self, dim, start, end, step)


def index(self, indices):
    """Return elements by a list of index tensors and Nones."""
    return ops.index(self, indices)


def native_dropout_backward(grad_output, mask, scale):
    """Return the gradient of dropout."""
    return ops.mul(ops.mul(grad_output, mask), scale)


def max_pool2d_with_indices_backward(grad_output, self, kernel_size, stride, padding, dilation, ceil_mode, indices):
    """Return the gradient of max pooling."""
    return ops.max_pool_backward(grad_output, indices, self.shape[-2:])


def _upsample_bilinear2d_aa(input, output_size, align_corners, scale_factors=None):
    if output_size is None:
        return ops.interpolate(input, None, scale_factors, "bilinear", align_corners, antialias=True)
    return ops.interpolate(input, output_size, None, "bilinear", align_corners, antialias=True)


def _batch_norm_with_update(input, weight, bias, running_mean, running_var, momentum, eps):
    made = ops.native_batch_norm(input, weight, bias, running_mean, running_var, True, momentum, eps)
    return (*made, ops.empty((0,), dtype=input.dtype).byte())


def _version(self):
    return self._version


def convert_element_type(a, dtype):
    """Return the tensor in another dtype."""
    return a.to(dtype)


def _sparse_mm(sparse, dense, reduce=None):
    return sparse_face.mm(sparse, dense, reduce)


def _sparse_mm_reduce_impl(self, other, reduce):
    return sparse_face.mm(self, other, reduce), ops.empty((0,), dtype=OBJECTS["int64"])


def _sparse_addmm(self, mat1, mat2, *, beta=1, alpha=1):
    return sparse_face.addmm(self, mat1, mat2, beta=beta, alpha=alpha)


def _sparse_softmax(self, dim, dtype=None):
    return sparse_face.softmax(self, dim, dtype=dtype or None)


def _sparse_log_softmax(self, dim, dtype=None):
    return sparse_face.log_softmax(self, dim, dtype=dtype or None)


def sparse_sampled_addmm(self, mat1, mat2, *, beta=1, alpha=1):
    """Return the product of two matrices at the places of a sparse one, added to it."""
    return sparse_face.sampled_addmm(self, mat1, mat2, beta=beta, alpha=alpha)


# Named by libraries that dispatch on it, and never called: PyTorch has no operator of this name either.
REFUSED = ("_spmm",)
ADAPTED = {found.__name__: found for found in (
    _to_copy, _pin_memory, _unsafe_view, _local_scalar_dense, sym_size, sym_stride, sym_numel, sym_storage_offset,
    alias, lift_fresh, slice, index, native_dropout_backward, max_pool2d_with_indices_backward,
    _upsample_bilinear2d_aa, _batch_norm_with_update, _version, _sparse_mm, _sparse_mm_reduce_impl, _sparse_addmm,
    _sparse_softmax, _sparse_log_softmax, sparse_sampled_addmm)}
ADAPTED.update((name, make_function("ops.aten", name)) for name in REFUSED)
PRIMS = {"convert_element_type": convert_element_type}

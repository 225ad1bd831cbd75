"""The table: a letter of the engine's, and under it the sentence of PyTorch's users.

Letters are searched for within what the engine says, so who speaks need not be written; the first row that fits speaks.
"""
from dragon.core.sentences import Row, read
from dragon.vm.torch.core.known import names, rows_of_layers, rows_of_types, worked_out  # noqa: F401 (names of dtypes)

SHAPES = """
got dim {d}, expected {low} to {high} for {n} dim
-> Dimension out of range (expected to be in range of [{low}, {high}], but got {d})
got axis {d}, expected {low} to {high} for {n} axes
-> Dimension out of range (expected to be in range of [{low}, {high}], but got {d})
roll: got dim {d} of a 0-d tensor, expected no dim
-> IndexError | Dimension specified as {d} but tensor has no dimensions
unbind: got a 0-d tensor, expected at least one dim
-> IndexError | Dimension specified as 0 but tensor has no dimensions
narrow: got a 0-d tensor, expected at least one dim
-> narrow() cannot be applied to a 0-dim tensor.
diagonal: got a tensor of shape {a}, expected at least two dims
-> IndexError | Dimension out of range (expected to be in range of [-1, 0], but got 1)
got dims {dims}, expected each dim once
-> dim {dims:first} appears multiple times in the list of dims
got dim {d} twice, expected two different dims
-> diagonal dimensions cannot be identical {d}, {d}
flatten: got start_dim {a} after end_dim {b}, expected them in order
-> flatten() has invalid args: start_dim cannot come after end_dim
diag: got a tensor of shape {a}, expected a vector or a matrix
-> diag(): Supports 1D or 2D tensors. Got {a:rank}D
{who}: got shape {a}, expected at least two dims
-> {who}: input tensor must have at least 2 dimensions
t: got a tensor of shape {a}, expected at most two dims
-> t() expects a tensor with <= 2 dimensions, but self is {a:rank}D
trace: got a tensor of shape {a}, expected a matrix
-> trace: expected a matrix, but got tensor with dim {a:rank}
unfold: got size {size}, expected 0 to the {length} of dim {d}
-> maximum size for tensor at dimension {d} is {length} but size is {size}
unfold: got step {step}, expected a positive step
-> step is {step} but must be > 0
got a slice with step {step}, expected
-> step must be greater than zero
repeat: got repeats {a}, expected one for each of the
-> Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor
vander: got a tensor of shape
-> x must be a one-dimensional tensor.
fliplr: got a tensor of shape
-> Input must be >= 2-d.
flipud: got a 0-d tensor
-> Input must be >= 1-d.
rot90: got dims {dims} of shape {a}, expected two of
-> expected total rotation dims == 2, but got dims = {dims:rank}, and expected total dims >= 2, but got total dims = \
{a:rank}
roll: got shifts {a} and dims {b}, expected as many of each
-> shifts and dimensions must align. shifts: {a:rank}, dims:{b:rank}
combinations: got a tensor of shape {a}, expected a vector
-> Expect a 1D vector, but got shape {a:list}
meshgrid: got indexing '{how}', expected
-> torch.meshgrid: indexing must be one of "xy" or "ij", but received: {how}

unflatten: got shape {a} for {n} elements, expected sizes whose product
-> unflatten: Provided sizes {a:list} don't multiply up to the size of the dim ({n}) in the input tensor
got shape {a} for {n} elements, expected sizes whose product
-> shape '{a:list}' is invalid for input of size {n}
got shape {a}, expected at most one -1
-> only one dimension can be inferred
got shape {a}, expected no -1 beside a 0
-> cannot reshape tensor of 0 elements into shape {a:list} because the unspecified dimension size -1 can be any value
expected a shape that needs no copy
-> view size is not compatible with input tensor's size and stride. Use .reshape(...) instead.
got a destination of shape {a}, expected shape {b}
-> output with shape {a:list} doesn't match the broadcast shape {b:list}
expected memory apart, or the very same elements (clone it first)
-> unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory \
location. Please clone() the tensor before performing the operation.
expected one element per place (clone it first)
-> unsupported operation: more than one element of the written-to tensor refers to a single memory location.
randperm: got n = {n}, expected at least 0
-> Trying to create tensor with negative dimension {n}: [{n}]
as_strided: got strides {a}, expected none below 0
-> as_strided: Negative strides are not supported at the moment, got strides: {a:list}
as_strided: got shape {a} at strides {b} from {c}, expected places within the memory
-> setStorage: sizes {a:list}, strides {b:list}, storage offset {c} are out of bounds for storage

cat: got a 0-d tensor, expected tensors with at least one dim
-> zero-dimensional tensor (at position 0) cannot be concatenated
cat: got no tensors, expected at least one
-> torch.cat(): expected a non-empty list of Tensors
stack: got {a} and {b}, expected tensors of one shape
-> stack expects each tensor to be equal size, but got {a:list} at entry 0 and {b:list} at entry 1
stack: got no tensors, expected at least one
-> stack expects a non-empty TensorList
chunk: got {n} chunks, expected 1 to
-> chunk expects `chunks` to be greater than 0, got: {n}
split_with_sizes: got sizes {a}, expected sizes that sum to the {n} of dim {d}
-> split_with_sizes expects split_sizes to sum exactly to {n} (input tensor's size at dimension {d}), but got \
split_sizes={a:list}
split: got size {n}, expected a positive size
-> split expects split_size be non-negative, but got split_size={n}
topk: got k {k}, expected 0 to {n}
-> selected index k out of range
kthvalue: got k {k}, expected 1 to {n}
-> kthvalue(): selected number k out of range
got a dim of size 0, expected at least one element along dim {d}
-> IndexError | kthvalue(): Expected reduction dim {d} to have non-zero size.
repeat_interleave: got {m} repeats, expected one, or one for each of the {n} places
-> repeats must have the same size as input along dim, but got repeats.size(0) = {m} and input.size(0) = {n}
"""

INDICES = """
take: index: got index {i} for dim 0, expected {low} to {high} as it has size {n}
-> out of range: tried to access index {i} on a tensor of {n} elements.
embedding: got index {i} for dim
-> index out of range in self
index_select: got index {i} for dim
-> index out of range in self
one_hot: scatter_into: scatter: got index {i} for
-> Class values must be smaller than num_classes.
one_hot: got {i}, expected no class below 0
-> Class values must be non-negative.
multi_margin_loss: gather: got index
-> target out of range
embedding_bag: got index {i} for dim {d}, expected 0 to {high} as it has size {n}
-> Index of input takes value {i} which is not in the valid range [0, {n})
index_copy: got index {i} for dim {d}, expected {low} to {high} as it has size {n}
-> index_copy_(): index {i} is out of bounds for dimension {d} with size {n}
got index {i} for dim {d}, expected {low} to {high} as it has size {n}
-> index {i} is out of bounds for dimension {d} with size {n}
got index {i} for axis {d}, expected {low} to {high} as it has size {n}
-> index {i} is out of bounds for dimension {d} with size {n}
got subscripts for {m} axes, expected at most 0 for shape ()
-> invalid index of a 0-dim tensor. Use `tensor.item()` to convert a 0-dim tensor to a number
got subscripts for {m} axes, expected at most {n} for shape
-> too many indices for tensor of dimension {n}
got a mask of shape {a} at axis {d} of shape {b}, expected equal sizes
-> The shape of the mask {a:list} at index {d} does not match the shape of the indexed tensor {b:list} at index {d}
index: got a 'float', expected an integer, a slice
-> IndexError | only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices \
(got float)
gather: got an index of {dtype}, expected integers
-> gather(): Expected dtype int32/int64 for index
scatter: got an index of {dtype}, expected integers
-> scatter(): Expected dtype int32/int64 for index
index_select: got an index of {dtype}, expected integers
-> index_select(): Expected dtype int32 or int64 for index
take: index: got an index of {dtype}, expected integers
-> take(): Expected a long tensor for index, but got {dtype:Kind}
index: got an index of {dtype}, expected integers
-> IndexError | tensors used as indices must be long, int, byte or bool tensors
one_hot: got an index of {dtype}, expected integers
-> one_hot is only applicable to index tensor of type LongTensor.
embedding: got an index of {dtype}, expected integers
-> Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got \
torch.{dtype:Kind}Tensor instead
bincount: got an index of {dtype}, expected integers
-> NotImplementedError | "bincount_cpu" not implemented for '{dtype:Kind}'
index_select: got an index of shape {a}, expected a vector
-> IndexError | index_select(): Index is supposed to be a vector
gather: got an index of shape {a} for shape {b}, expected as many dims
-> Index tensor must have the same number of dimensions as input tensor, and be no larger than it apart from the \
dimension: index {a:list}, self {b:list}
scatter: got input {a}, index {b} and src {c}, expected as many dims
-> Index tensor must have the same number of dimensions as self tensor
got src {a} for index {b}, expected at least the size of index
-> Expected index {b:list} to be no larger size than src {a:list}
scatter: got src of {a}, expected the dtype of input
-> scatter(): Expected self.dtype to be equal to src.dtype
got reduce '{how}', expected add, multiply or None
-> reduce argument must be either add or multiply.
got reduce '{how}', expected sum, prod, mean, amax or amin
-> reduce argument must be either sum, prod, mean, amax or amin, got {how}
index_add: got src of shape {a} for {m} indices, expected shape {b}
-> index_add_(): Number of indices ({m}) should be equal to source.size(dim), and source tensor shape must match self \
tensor shape, excluding the specified dimension. Got source.shape = {a:list}
masked_select: got a mask of {dtype}, expected bool
-> masked_select: expected BoolTensor for mask
masked_fill: got a mask of {dtype}, expected bool
-> masked_fill_ only supports boolean masks, but got mask with dtype {dtype:c}
masked_fill: got a value of shape {a}, expected one number
-> masked_fill_ only supports a 0-dimensional value tensor, but got tensor with {a:rank} dimension(s).
masked_scatter: got {m} elements in src, expected at least
-> Number of elements of source < number of ones in mask
bucketize: got boundaries of shape {a}, expected a vector
-> boundaries tensor must be 1 dimension, but got dim({a:rank})
searchsorted: got a sorted sequence of shape
-> torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries tensor and \
input value tensor must match
searchsorted: got a sorter of shape {a}, expected shape {b} of the sorted sequence
-> torch.searchsorted(): boundary and sorter must have the same size, but got boundary tensor {b:list}and got sorter \
tensor {a:list}
searchsorted: got a sorter of {dtype}, expected int64
-> torch.searchsorted(): sorter must be a tensor of long dtype but got dtype {dtype:Kind}
searchsorted: got {i} in sorter, expected
-> torch.searchsorted(): sorter index out of range
bincount: got {i} in input, expected no number below 0
-> bincount only supports 1-d non-negative integral inputs.
histc: got {n} bins, expected at least 1
-> torch.histogram(): bins must be > 0, but got {n}
"""

ROWS = [*(Row(*row) for row in worked_out.ROWS), *read(SHAPES.replace("\\\n", "")),
        *read(INDICES.replace("\\\n", "")), *read(rows_of_types.TEXT.replace("\\\n", "")),
        *read(rows_of_layers.TEXT.replace("\\\n", ""))]

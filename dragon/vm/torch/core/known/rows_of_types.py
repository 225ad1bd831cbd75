"""The table's part about dtypes, devices, numbers, gradients and matrices; `rows` has the rest."""
TEXT = """
got cuda, for which nothing is loaded
-> AssertionError | Torch not compiled with CUDA enabled
tensor: got a tensor of shape {a}, expected something else
-> ValueError | only one element tensors can be converted to Python scalars
got tensors on {a} and {b}, expected tensors on one device
-> Expected all tensors to be on the same device, but found at least two devices, {a} and {b}!
bmm: got {a} and {b}, expected equal dtypes
-> expected scalar type {a:Kind} but found {b:Kind}
dot: got {a} and {b}, expected equal dtypes
-> dot : expected both vectors to have same dtype, but found {a:Kind} and {b:Kind}
linear: got {a} and {b}, expected equal dtypes
-> mat1 and mat2 must have the same dtype, but got {a:Kind} and {b:Kind}
conv_forward: got {a} and {b}, expected equal dtypes
-> Input type ({a:c}) and bias type ({b:c}) should be the same
attention: got {a} and {b}, expected equal dtypes
-> Expected query, key, and value to have the same dtype
got {a} and {b}, expected equal dtypes
-> expected m1 and m2 to have the same dtype, but got: {a:c} != {b:c}
isclose: got {a} and {b}, expected one dtype
-> {a:Kind} did not match {b:Kind}
allclose: got {a} and {b}, expected one dtype
-> {a:Kind} did not match {b:Kind}
linalg_solve: got {a} and {b}, expected one dtype
-> linalg.solve: Expected A and B to have the same dtype, but found A of type {a:Kind} and B of type {b:Kind} instead
linalg_{what}: got {a} and {b}, expected one dtype
-> linalg.{what}: Expected A and B to have the same dtype, but found A of type {a:Kind} and B of type {b:Kind} instead
cat: got a result of {a} for a destination of {b}, expected
-> TypeError | torch.cat(): input types can't be cast to the desired output type {b:Kind}
got a result of {a} for a destination of {b}, expected
-> result type {a:Kind} can't be cast to the desired output type {b:Kind}
bitwise_not on cpu: got {dtype}, expected one of
-> TypeError | ~ (operator.invert) is only implemented on integer and Boolean-type tensors
floor on cpu: got {dtype}, expected one of
-> floor is not supported for complex inputs
bitwise_left_shift on cpu: got {dtype}, expected one of
-> "lshift_cpu" not implemented for '{dtype:Kind}'
bitwise_right_shift on cpu: got {dtype}, expected one of
-> "rshift_cpu" not implemented for '{dtype:Kind}'
{who} on cpu: got {dtype}, expected one of
-> "{who}_cpu" not implemented for '{dtype:Kind}'
sub: got bool, expected a number
-> Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator \
instead.
neg: got bool, expected a number
-> Negation, the `-` operator, on a bool tensor is not supported.
mean: got {dtype}, expected a floating or complex dtype
-> mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: {dtype:Kind}
real_std: got {dtype}, expected a floating dtype
-> std and var only support floating point and complex dtypes
real_var: got {dtype}, expected a floating dtype
-> std and var only support floating point and complex dtypes
linalg_vector_norm: got {dtype}, expected a floating or complex dtype
-> linalg.vector_norm: Expected a floating point or complex tensor as input. Got {dtype:Kind}
softmax: got {dtype}, expected a floating dtype
-> NotImplementedError | "softmax_lastdim_kernel_impl" not implemented for '{dtype:Kind}'
cross_entropy: got input of {dtype}, expected a floating dtype
-> NotImplementedError | "log_softmax_lastdim_kernel_impl" not implemented for '{dtype:Kind}'
amax: got {dtype}, expected a dtype with an order
-> NotImplementedError | "max_all" not implemented for '{dtype:Kind}'
amin: got {dtype}, expected a dtype with an order
-> NotImplementedError | "min_all" not implemented for '{dtype:Kind}'
clamp: got {dtype}, expected a real dtype
-> NotImplementedError | clamp is not supported for complex types
normal: got {dtype}, expected a floating dtype
-> NotImplementedError | "normal_kernel_cpu" not implemented for '{dtype:Kind}'
sort: got {dtype}, expected numbers that have an order
-> Sort does not support complex dtypes on CPU
quantile: got input of {dtype}, expected float32 or float64
-> quantile() input tensor must be either float or double dtype
complex: got {a} and {b}, expected
-> Expected object of scalar type {a:Kind} but got scalar type {b:Kind} for second argument
view_as_real: got {dtype}, expected a complex dtype
-> view_as_real is only supported for complex tensors
view_as_complex: got shape {a} at strides
-> Tensor must have a last dimension of size 2
requires_grad: got {dtype}, expected a floating or complex dtype
-> only Tensors of floating point dtype can require gradients. Only Tensors of floating point and complex dtype can \
require gradients
fft_{what}: got input of dtype {dtype}, expected real numbers
-> {what} expects a real input tensor, but got {dtype:Kind}
got a zero among integer divisors, expected none
-> ZeroDivisionError

{who}: got '{came}' for argument 'tensors', expected a list or tuple of tensors
-> {who}(): argument 'tensors' (position 1) must be tuple of Tensors, not {came}
{who}: got '{came}' for argument 'size', expected int
-> {who}(): argument 'size' (position 1) must be tuple of ints, not {came}
{who}: got '{came}' for argument 'out', expected
-> {who}(): argument 'out' must be Tensor, not {came}
{who}: got no argument '{name}', expected
-> {who}() missing 1 required positional arguments: "{name}"
{who}: got {n} positional arguments, expected at most {m}
-> {who}() takes {m} positional arguments but {n} were given
{who}: got keyword '{name}', expected one of
-> {who}() got an unexpected keyword argument '{name}'
tensor: got None, expected a number
-> Could not infer dtype of NoneType
tensor: got '{came}', expected a number
-> new(): invalid data type '{came}'
tensor: got 'str', expected numbers, nested lists
-> new(): invalid data type 'str'
tensor: got '{came}', expected numbers, nested lists
-> Could not infer dtype of {came}
got an integer beyond 64 bits, expected
-> Overflow when unpacking long long
got {number}, expected {low} to {high}, which {dtype} can hold
-> value cannot be converted to type {dtype} without overflow
from_numpy: got an array of format
-> can't convert np.ndarray of that type. The only supported types are: float64, float32, float16, complex64, \
complex128, int64, int32, int16, int8, uint64, uint32, uint16, uint8, and bool.
index: elements of a tensor cannot be deleted
-> Tensor does not support deleting items
index: got a {dtype} tensor of shape {a}, expected one integer
-> only integer tensors of a single element can be converted to an index
iteration: got a 0-d tensor, expected at least one dim
-> iteration over a 0-d tensor
got a meta tensor, expected a tensor with numbers
-> Cannot copy out of meta tensor; no data!
data: got {came}, expected a tensor
-> Variable data has to be a tensor
grad: got '{came}', expected a tensor or None
-> assigned grad expected to be a Tensor or None but got grad of type {came}
grad: got a tensor of shape {a}, expected shape {b}
-> attempting to assign a gradient of size '{a:list}' to a tensor of size '{b:list}'.

arange: got step 0, expected
-> step must be nonzero
arange: got start {a}, stop {b} and step {c}, expected a step in the direction
-> upper bound and lower bound inconsistent with step sign
cauchy: got sigma = {a}, expected more than 0
-> cauchy_ expects sigma > 0.0, but found sigma={a}
geometric: got p = {a}, expected a probability
-> geometric_ expects p to be in (0, 1), but got p={a}
log_normal: got std = {a}, expected more than 0
-> log_normal_ expects std > 0.0, but found std={a}
multinomial: got {dtype}, expected a floating dtype
-> multinomial only supports floating-point dtypes for input, got: {dtype:Kind}
multinomial: got num_samples = {n}, expected
-> cannot sample n_sample <= 0 samples
multinomial: got {n} categories, expected
-> number of categories cannot exceed 2^24
arange: got {a}, expected finite numbers
-> unsupported range
logspace: got steps {n}, expected at least 0
-> number of steps must be non-negative
linspace: got steps {n}, expected at least 0
-> number of steps must be non-negative
randint: got low = {a}, high = {b}, expected low < high
-> random_ expects 'from' to be less than 'to', but got from={a} >= to={b}
normal_of: got a std below 0 or NaN, expected
-> normal expects all elements of std >= 0.0
normal: got std = {a}, expected at least 0
-> normal expects std >= 0.0, but found std {a}
bernoulli: got a probability of {a}, expected
-> Expected p_in >= 0 && p_in <= 1 to be true, but got false.
multinomial: got weights that sum to 0, expected
-> invalid multinomial distribution (sum of probabilities <= 0)
multinomial: got {n} samples of {m} categories without replacement, expected
-> cannot sample n_sample > prob_dist.size(-1) samples without replacement
multinomial: got a weight below 0, infinite or NaN, expected
-> probability tensor contains either `inf`, `nan` or element < 0
multinomial: got weights of shape {a}, expected one or two dims
-> prob_dist must be 1 or 2 dim
uniform: got low = {a}, high = {b}, expected
-> uniform_ expects to return a [from, to) range, but found from={a} > to={b}
exponential: got rate = {a}, expected
-> exponential_ expects lambda > 0.0, but found lambda={a}
quantile: got q from {a} to {b}, expected 0 to 1
-> quantile() q must be in the range [0, 1] but got {b}
clamp: got neither min nor max, expected
-> torch.clamp: At least one of 'min' or 'max' must not be None
polygamma: got n = {n}, expected
-> polygamma(n, x) does not support negative n.
argmax: got shape {a}, expected a size other than 0 along dim {d}
-> argmax(): Expected reduction dim to be specified for input.numel() == 0. Expected reduction dim {d} to have \
non-zero size.
argmin: got shape {a}, expected a size other than 0 along dim {d}
-> argmin(): Expected reduction dim to be specified for input.numel() == 0. Expected reduction dim {d} to have \
non-zero size.
max: amax: got shape {a}, expected a size other than 0
-> max(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' \
argument.
min: amin: got shape {a}, expected a size other than 0
-> min(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' \
argument.
max_axis: got shape {a}, expected a size other than 0 along dim {d}
-> max(): Expected reduction dim {d} to have non-zero size.
min_axis: got shape {a}, expected a size other than 0 along dim {d}
-> min(): Expected reduction dim {d} to have non-zero size.
{who}: got shape {a}, expected a size other than 0 along dim {d}
-> {who}(): Expected reduction dim {d} to have non-zero size.

its saved tensors were freed by an earlier backward pass
-> Trying to backward through the graph a second time (or directly access saved tensors after they have already been \
freed).
got a view of a leaf that requires grad to write in place
-> a view of a leaf Variable that requires grad is being used in an in-place operation.
got a leaf that requires grad to write in place
-> a leaf Variable that requires grad is being used in an in-place operation.
got a tensor of shape {a} that was written {n} time(s) since the forward call
-> one of the variables needed for gradient computation has been modified by an inplace operation: a tensor {a:list} \
is at version {n}; expected version 0 instead.
requires_grad: only leaf tensors can change it
-> you can only change requires_grad flags of leaf variables.
retain_grad: got a tensor that does not require grad
-> can't retain_grad on Tensor that has requires_grad=False
register_hook: got a tensor that does not require grad
-> cannot register a hook on a tensor that doesn't require gradient
grad: got input {n} that does not require grad
-> One of the differentiated Tensors does not require grad
grad: got input {n} that the results do not depend on
-> The differentiated Tensor at index {n} appears to not have been used in the graph. Set allow_unused=True if this is \
the desired behavior.
hook: got a gradient of shape {a}, expected shape {b}
-> hook has changed the size of value
hook: got '{came}', expected a tensor or None
-> expected Variable, but hook returned '{came}'
{who}Backward: got a gradient of shape {a}, expected shape {b}
-> Function {who}Backward returned an invalid gradient at index 0 - got {a:list} but expected shape compatible with \
{b:list}
{who}Backward: got '{came}', expected a tensor or None
-> expected Variable or None (got {came})
{who}: its backward returned NaN
-> Function '{who}' returned nan values in its 0th output.

linalg_matrix_power: got shape {a}, expected square matrices
-> linalg.matrix_power: A must be batches of square matrices, but they are {a:and} matrices
linalg_{what}: got {name} of shape {a}, expected square matrices
-> linalg.{what}: A must be batches of square matrices, but they are {a:and} matrices
got {name} of shape {a}, expected square matrices
-> A must be batches of square matrices, but they are {a:and} matrices
cholesky_solve: got input {a} and input2 {b}, expected as many rows
-> Incompatible matrix sizes for cholesky_solve: each A matrix is {b:and} but each b matrix is {a:and}
linalg_solve_triangular: got {a} and {b}, expected as many rows
-> Incompatible matrix sizes for triangular_solve: each A matrix is {a:and} but each b matrix is {b:and}
linalg_lstsq: got {a} and {b}, expected as many rows
-> torch.linalg.lstsq: input.size(-2) should match other.size(-2)
linalg_norm_name: got a tensor of shape {a} without dim
-> linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {a:rank}D.
linalg_{what}: got {name} of shape {a}, expected at least two dims
-> linalg.{what}: The input tensor A must have at least 2 dimensions.
linalg_inv: the matrix is singular
-> linalg.inv: the inversion could not be completed because the input matrix is singular.
linalg_solve: the matrix is singular
-> torch.linalg.solve: The solver failed because the input matrix is singular.
linalg_cholesky: the matrix is not positive-definite
-> linalg.cholesky: The factorization could not be completed because the input is not positive-definite
linalg_eig: the matrix has elements that are not finite
-> torch.linalg.eig: input tensor should not contain infs or NaNs.
linalg_{what}: the matrix has elements that are not finite
-> linalg.{what}: The algorithm failed to converge because the input matrix contained non-finite values.
linalg_{what}: got {name} of dtype {dtype}, expected float32, float64, complex64 or complex128
-> linalg.{what}: Expected a floating point or complex tensor as input. Got {dtype:Kind}
linalg_solve_matrices: got {a} and {b}, expected as many rows
-> linalg.solve: Incompatible shapes of A and B for the equation AX = B ({a:by} and {b:by})
linalg_matrix_norm_name: got ord '{how}', expected
-> linalg.matrix_norm: Order {how} not supported.
linalg_qr: got mode '{how}', expected
-> qr received unrecognized mode '{how}' but expected one of 'reduced' (default), 'r', or 'complete'
got a length of {n}, expected at least 1
-> Invalid number of data points ({n}) specified
got norm '{how}', expected backward, ortho or forward
-> Invalid normalization mode: "{how}"
cdist: got shapes {a} and {b}, expected
-> X1 and X2 must have the same number of columns. X1: {a:last} X2: {b:last}
cross: got {a} and {b}, expected as many dims on both sides
-> linalg.cross: inputs must have the same number of dimensions.
cross: got shapes {a} and {b}, expected size 3
-> linalg.cross: inputs dimension must have length 3. Got {a:last} and {b:last}
einsum: got sizes {n} and {m} for one subscript
-> einsum(): a subscript has size {m} which does not broadcast with previously seen size {n}
einsum: got subscripts {which} for shape {a}, expected a letter for each dim
-> einsum(): the number of subscripts in the equation does not match the number of dimensions ({a:rank}) for an \
operand and no ellipsis was given
einsum: got {n} terms for {m} operands
-> einsum(): fewer operands were provided than specified in the equation
tensordot: got sizes {n} and {m} of dims {a} and {b}, expected equal sizes
-> contracted dimensions need to match, but first has size {n} in dim {a} and second has size {m} in dim {b}
"""

"""The table's part about what layers and losses apply; `rows` has the rest."""
TEXT = """
got a window of {n} ({m} with dilation) on {size} padded elements
-> Calculated padded input size per channel: ({size}). Kernel size: ({n}). Kernel size can't be greater than actual \
input size
{who}_pool{n}d: got stride {a}, expected at least 1
-> stride should not be zero. {who}_pool{n}d() stride must be greater than zero, but got {a:first}
{who}_pool{n}d: got dilation {a}, expected at least 1
-> {who}_pool{n}d() dilation must be greater than zero, but got {a:first}
{who}_pool{n}d: got kernel_size {a}, expected at least 1
-> {who}_pool{n}d() kernel_size must be greater than zero, but got {a:first}
{what}_pool{n}: got padding {a}, expected at least 0
-> pad must be non-negative, but got pad: {a:first}
{who}: got stride {a}, expected at least 1
-> non-positive stride is not supported
got groups {n}, expected at least 1
-> non-positive groups is not supported
{who}: got dilation {a}, expected at least 1
-> dilation should be greater than zero, but got {a:list}
{who}: got padding {a}, expected at least 0
-> negative padding is not supported
got output_padding {a}, expected less than
-> output padding must be smaller than either stride or dilation
conv_forward: got bias {b}, expected shape ({n},)
-> expected bias to be 1-dimensional with {n} elements, but got bias of size {b:list} instead
{who}_pool3d: got shape {a}, expected 4 or 5 dims
-> non-empty 4D or 5D (batch mode) tensor expected for input. Input dimension should be at least 4
max_pool1d: got shape {a}, expected 2 or 3 dims
-> max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for input, but got:{a:list}
{who}_pool2d: got shape {a}, expected 3 or 4 dims
-> non-empty 3D or 4D (batch mode) tensor expected for input. Input dimension should be at least 3
{who}_pool{n}d: got shape {a} and kernel_size {k}, expected a window that fits
-> Given input size: {a:list}. Output size is too small
got padding {a}, expected at most half of kernel_size {k}
-> pad should be at most half of effective kernel size, but got pad={a:first}, kernel_size={k:first} and dilation=1
got divisor_override 0, expected
-> divisor must be not zero
native_batch_norm: got weight of shape {a} and dtype {b}, expected shape {c} and
-> running_mean should contain {c:first} elements not {a:first}
native_batch_norm: got {what} of shape {a}, expected shape {c}
-> {what} should contain {c:first} elements not {a:first}
native_layer_norm: got an input of shape {a}, expected one whose last dims are {b}
-> Given normalized_shape={b:list}, expected input with shape [*, {b:inner}], but got input of size{a:list}
native_rms_norm: got an input of shape {a}, expected one whose last dims are {b}
-> Given normalized_shape={b:list}, expected input with shape [*{b:inner}], but got input of size{a:list}
native_layer_norm: got {what} of shape {a} and dtype {d}, expected shape {b} and
-> Expected {what} to be of same shape as normalized_shape, but got {what} of shape {a:list} and normalized_shape = \
{b:list}
native_group_norm: got num_groups {n} for {m} channels
-> Expected number of channels in input to be divisible by num_groups, but got {m} channels and num_groups={n}
native_group_norm: got {what} of shape {a} and dtype {d}, expected
-> Expected {what} to be a vector of size equal to the number of channels in input, but got {what} of shape {a:list}
recurrent_layer: got {n} first states for {m} sequences
-> Input batch size {m} doesn't match hidden0 batch size {n}
recurrent_layer: got h0 {a}, expected shape {b}
-> hidden0 has inconsistent hidden_size: got {a:last}, expected {b:last}
scaled_dot_product_attention: got queries {a}, keys {b} and values {c}, expected equal ranks
-> Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: {a:rank} key.dim: {b:rank} and \
value.dim: {c:rank} instead.
got a mask and is_causal, expected one of them
-> _scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True
prelu: got a weight of shape {w} for input of shape {a}, expected
-> Mismatch of parameter numbers and input channel size. Found parameter numbers = {w:first}
glu: got size {n} along dim {d}, expected an even size
-> Halving dimension must be even, but dimension {d} is size {n}
gelu: got approximate '{how}', expected
-> approximate argument must be either none or tanh.
pixel_shuffle: got {n} channels, expected a multiple of
-> pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but \
input.size(-3)={n}
pixel_unshuffle: got images of {n}
-> pixel_unshuffle expects height to be divisible by downscale_factor
pad: got pad {a} in mode reflect for dim {d} of shape {b}, expected
-> Padding size should be less than the corresponding input dimension, but got: padding {a} at dimension {d} of input \
{b:list}
pad: got pad {a} for shape {b}, expected pairs
-> Padding length must be divisible by 2, and less than or equal to two times the input dimension but got padding \
length {a:rank} and input of dimension {b:rank}
interpolate: got sizes {a} from shape {b}, expected sizes of at least 1
-> Input and output sizes should be greater than 0
grid_sample: got input {a} and grid {b}, expected
-> grid_sampler(): expected grid and input to have same batch size, and grid to have the number of spatial dimensions \
in its last dimension, but got input with sizes {a:list} and grid with sizes {b:list}
col2im: got columns {a}, expected a multiple of {n} rows
-> Expected size of input's dimension 1 to be divisible by the product of kernel_size
rrelu: got lower {a} and upper {b}, expected
-> Lower bound should be less than or equal to the upper bound
hardtanh: got min_val {a}, expected at most
-> min_val cannot be greater than max_val
multi_margin_loss: got p {n}, expected
-> only p == 1 and p == 2 supported
huber_loss: got delta {n}, expected
-> huber_loss does not support non-positive values for delta.
smooth_l1_loss: got beta {n}, expected
-> smooth_l1_loss does not support negative values for beta.
binary_cross_entropy: got inputs outside [0, 1], expected
-> all elements of input should be between 0 and 1
got target {n}, expected {low} to {high}
-> Target {n} is out of bounds.
got target of shape ({m},), expected shape ({n},) for input
-> Expected input batch_size ({n}) to match target batch_size ({m}).
got target of shape {a}, expected shape ({n},) for input
-> Expected input batch_size ({n}) to match target batch_size ({a:first}). 0D or 1D target tensor expected, \
multi-target not supported
got target of shape {a}, expected shape {b} for input {c}
-> Expected target size {b:list}, got {a:list}. size mismatch (got input: {c:list} , target: {a:list})
got target of {dtype}, expected class indices of an integer dtype
-> expected target dtype to be Long or Byte, but got {dtype:Kind}
cross_entropy: got weight of shape {a}, expected shape ({n},)
-> weight tensor should be defined either for all {n} classes or no classes but got weight tensor of shape: {a:list}
cross_entropy: got label_smoothing {n}, expected
-> label_smoothing must be between 0.0 and 1.0. Got: {n}
cosine_embedding_loss: got {a}, {b} and {c}, expected
-> {c:rank}D target tensor expects other input tensors, but found inputs with sizes {a:list} and {b:list}.
multilabel_margin_loss: got input of shape {a} and target of shape {b}
-> inconsistent target size: {b:list} for input of size: {a:list}
ctc_loss: got input length {n}, expected 0 to {m}
-> Expected input_lengths to have value at most {m}, but got value {n}
"""

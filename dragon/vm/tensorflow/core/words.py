"""What arguments of one name mean, told once for a whole family: the words that complete docstrings, as Keras's do."""
WORDS = """
[tensorflow.core.checkpoint]
options : CheckpointOptions : Not used.
prefix : str : What the files' names begin with.
[tensorflow.core.flow]
back_prop : bool : Whether gradients flow through the results.
dtype : DType : Of the tensors.
dynamic_size : bool : Whether there may be more.
elems : Any : A tensor or a structure of them.
element_shape : TensorShape : The shape of the tensors.
[tensorflow.core.numbers]
fft_length : int : The length of the transforms; by default the next power of 2.
frame_length, frame_step : int : How long windows are, and how far apart they begin.
pad_end : bool : Whether windows that reach beyond the end are filled up.
[tensorflow.core.numbers.elementwise]
x : Tensor : The numbers.
y : Tensor : The second operand; the shapes are broadcast.
name : str : Accepted.
return : Tensor : Of the same shape, or of the one that both operands broadcast to.
[tensorflow.core.tables]
default_value : Any : The value of keys that are not in it.
key_dtype, value_dtype : DType : Of keys and values.
[tensorflow.core.text]
replacement_char : int : The character in their place.
who : str : Who speaks in errors.
[tensorflow.bitwise]
x : Tensor : The numbers.
y : Tensor : The second operand; the shapes are broadcast.
name : str : Accepted.
return : Tensor : Of the same shape, or of the one that both operands broadcast to.
[tensorflow.math]
x : Tensor : The numbers.
y : Tensor : The second operand; the shapes are broadcast.
name : str : Accepted.
return : Tensor : Of the same shape, or of the one that both operands broadcast to.
[tensorflow.nn.activations]
features : Tensor : The numbers.
x : Tensor : The numbers.
name : str : Accepted.
return : Tensor : Of the same shape.
[tensorflow.io]
contents : Tensor : The bytes of the file.
[tensorflow.nn]
dilations : Union[int, Sequence[int]] : Gaps in the filters.
padding : Union[str, Sequence[Sequence[int]]] : "VALID", "SAME", or pairs of numbers for all axes.
[tensorflow.strings]
input : Tensor : The strings.
"""

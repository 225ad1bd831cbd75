"""What arguments of one name mean, told once for a whole family: the words that complete docstrings.

A line is `name : type : meaning`, or `name, name : type : meaning` for what is told together; there may be no type.
Defaults are the signature's, `return` is the result. A package's words hold in all below it that has none of its own.
"""
WORDS = """
[keras]
aggregation : str : How replicas would be brought together.
axis : int : The axis.
config : dict : The arguments.
custom_objects : Dict[str, Any] : Classes and functions by name.
data_format : str : "channels_last" or "channels_first"; the configured one by default.
dtype : str : The default floating dtype by default.
expand_nested : bool : Whether the layers of inner models are shown.
filepath : str : The file.
from_logits : bool : The predictions are logits.
inputs : Any : Symbolic tensors, nested as calls shall be.
interpolation : str : "bilinear", "nearest", "bicubic", "lanczos3", "lanczos5" or "area".
layer_range : Sequence[str] : The names of the first and the last layer to show.
line_length : int : The width.
model : Model : The model.
name : str : What it is called in logs.
outputs : Any : Symbolic tensors that depend on them.
positions : Sequence[float] : Where columns end, as parts of the width.
print_fn : Callable : Takes the text in `print`'s place.
shape : Sequence[int] : The shape.
show_trainable : bool : Whether there is a column that says what is trained.
size : Tuple[int, int] : Height and width.
source_name : str : The policy of the layer before.
trainable : bool : Whether optimizers shall change the weights.
[keras.applications]
default_size : int : The size that the network was made for.
min_size : int : The least size.
[keras.callbacks]
min_delta : float : A smaller change is none.
mode : str : "min", "max" or "auto".
monitor : str : The metric's name.
patience : int : Epochs without getting better that are borne.
save_freq : Union[str, int] : "epoch", or a number of batches.
verbose : int : Whether it is said.
[keras.constraints]
axis : Union[int, Sequence[int]] : What norms are taken along.
max_value : float : The most a norm may be.
[keras.core]
aggregation : str : What becomes of values from several devices.
name : str : The name.
shape : Sequence[Optional[int]] : The sizes; None where a size is not known.
[keras.datasets]
path : str : Under which name the file is kept.
return : Tuple[Tuple[numpy.ndarray, numpy.ndarray], Tuple[numpy.ndarray, numpy.ndarray]] : (x, y) to train, and to test.
seed : int : Decides the order of the rows.
test_split : float : Which share is for tests.
[keras.distribution]
auto_shard_dataset : bool : Whether each process takes its part of a dataset.
device_type : str : "cpu" or "gpu"; GPUs if there are any, else CPUs, without it.
[keras.export]
name : str : The endpoint's name.
[keras.initializers]
seed : Optional[Union[int, SeedGenerator]] : What decides the numbers.
[keras.layers]
**kwargs :  : What all layers have, see `Layer`: `name`, `dtype`, `trainable`.
quantization_config : QuantizationConfig : What makes integers of the weight, where the dtype policy asks for them.
activation : Union[str, Callable] : Applied to the result.
activity_regularizer : Optional[Union[str, Regularizer]] : A penalty on the output.
batch_shape : Sequence[Optional[int]] : The sizes with the batch's.
batch_size : int : The size of the batch.
center, scale : bool : Whether there is a shift `beta` and a scale `gamma`.
data_format : Optional[str] : "channels_last" or "channels_first".
dropout : float : The fraction of scores that is dropped in training.
dtype : str : The dtype of the result.
epsilon : float : Added to the variance.
factor : Union[float, Sequence[float]] : The range of the probability.
filters : int : The channels of the result.
height, width : int : The size of the output.
kernel_size : Union[int, Sequence[int]] : The window.
layer : Layer : The layer.
lora_rank, lora_alpha : optional : As for `Dense`.
name : str : The name of the layer.
optional : bool : Whether the model may be called with None here.
output_mode : {"int", "one_hot", "multi_hot", "count"} : The form of the output.
ragged : bool : Whether inputs are ragged.
rate : float : The probability.
sampling_rate : int : Samples in a second.
seed : Optional[int] : Of the draws.
shape : Sequence[Optional[int]] : The sizes without the batch's.
sparse : bool : Return sparse tensors.
steps : Optional[int] : How many batches to take at most.
units : int : Size of output and state.
use_bias : bool : Add a bias.
value_range : Sequence[float] : The least and the greatest value of a pixel.
[keras.layers.attention]
seed : Optional[int] : Of the dropout.
[keras.layers.core]
dtype : str : The dtype; the default float without it.
sparse : bool : Whether inputs are sparse.
[keras.layers.convolutional]
activation, use_bias, kernel_initializer, bias_initializer : optional : As for `Dense`.
kernel_constraint, bias_constraint : optional : As for `Dense`.
kernel_regularizer, bias_regularizer, activity_regularizer : optional : As for `Dense`.
strides, padding, data_format, dilation_rate : optional : As for `Conv2D`.
[keras.layers.normalization]
axis : int : The axis of the channels.
beta_initializer, gamma_initializer : optional : What the weights start from.
beta_regularizer, gamma_regularizer, beta_constraint, gamma_constraint : optional : As for `Dense`.
[keras.layers.pooling]
data_format : str : "channels_last" or "channels_first"; `keras.config.image_data_format()` if None.
[keras.layers.preprocessing.image_preprocessing]
fill_mode : {"reflect", "wrap", "constant", "nearest"} : What is beyond the borders.
fill_value : float : What is beyond the borders in mode "constant".
interpolation : {"bilinear", "nearest"} : How pixels are mixed.
[keras.layers.regularization]
noise_shape : Sequence[Optional[int]] : The shape of what is drawn, broadcast to the input; None stands for its size.
seed : int : Of the draws.
[keras.layers.reshaping]
data_format : str : "channels_last" or "channels_first"; `keras.config.image_data_format()` if None.
[keras.layers.rnn]
kernel_constraint, recurrent_constraint, bias_constraint : Union[str, Constraint] : How updated weights are projected.
kernel_regularizer, recurrent_regularizer, bias_regularizer : Union[str, Regularizer] : Penalties on the weights.
return_sequences, return_state, go_backwards, stateful, unroll :  : See RNN.
dropout, recurrent_dropout : float : Fractions of the inputs and of the state that are dropped in training.
seed : Optional[int] : Of the dropout.
[keras.losses]
name : str : What it is called in logs.
dtype : str : What it computes in.
ignore_class : int : A class that does not count.
axis : int : Where the classes are.
label_smoothing : float : How much of the true probability is spread over all classes.
reduction : Optional[str] : As `Loss` has it.
y_pred : Any : The predicted ones, or logits.
y_true : Any : The number of the class of each sample.
[keras.metrics]
class_id : Optional[int] : The only class that counts.
dtype : str : What it computes in.
k : int : How many predictions may be right.
label_weights : Any : Weights of labels.
thresholds : Optional[Union[float, Sequence[float]]] : What predictions of yes are above; 0.5 by default.
top_k : Optional[int] : Only so many of the largest predictions can be yes.
y_pred : Any : Predictions.
y_true : Any : One for yes, zero for no.
[keras.models]
custom_objects : Dict[str, Any] : Classes and functions by name.
name : str : The name.
overwrite : bool : Whether a file of that name is replaced without a question.
[keras.ops]
antialias : bool : Whether images that shrink are smoothed.
axis : Union[int, Sequence[int]] : The axes to reduce; all by default.
dilation_rate : Union[int, Sequence[int]] : Distance of kernel elements.
fill_mode : str : What lies outside: "constant", "nearest", "wrap", "mirror" or "reflect".
fill_value : number : The constant.
from_logits : bool : Whether `output` are logits.
images : Tensor : One image or a batch.
indices : Tensor : Places: the last axis counts the axes.
inputs : Tensor : The elements.
interpolation : str : "nearest" or "bilinear".
k : int : How many.
keepdims : bool : Whether reduced axes stay, with size 1.
mask_index : int : The class that stands for no label.
output : Tensor : Probabilities, or logits.
padding : str : "valid" or "same".
sequence_length, sequence_stride : int : How long the pieces are, and how far apart they begin.
sparse : bool : Only False: there are no sparse tensors.
start_indices : Sequence[int] : Where the piece begins, along each axis; may be a tensor.
target_height, target_width : int : The sizes of the result; they stand for one side each.
x : Tensor : The numbers.
x1 : Union[Tensor, number] : The first operand.
x2 : Union[Tensor, number] : The second operand; the shapes are broadcast.
y : Union[Tensor, number] : The second operand; the shapes are broadcast.
return : Tensor : The result.
[keras.ops.core]
return : Tensor : A new tensor.
[keras.ops.core.control]
return : Any : What the function returns.
[keras.ops.image]
return : Tensor : Images of the same shape.
[keras.ops.linalg]
x : Tensor : Matrices.
[keras.ops.nn]
axis : Union[int, Sequence[int]] : The axes.
inputs : Tensor : Sequences, images or volumes.
num_classes : int : How many classes.
return : Tensor : Of the same shape.
[keras.ops.nn.convolution]
return : Tensor : Images of the same format.
[keras.ops.nn.losses]
return : Tensor : One number for each distribution.
[keras.ops.nn.pooling]
return : Tensor : Images of the same format.
[keras.ops.numpy]
x : Tensor : The elements.
[keras.ops.numpy.creation]
return : Tensor : A new tensor.
[keras.ops.numpy.indexing]
axis : int : The axis; by default the elements count as one row.
[keras.ops.numpy.pointwise]
x : Tensor : The numbers.
return : Tensor : Of the same dtype.
[keras.ops.numpy.reductions]
x : Tensor : The numbers.
[keras.optimizers]
*shared, **named :  : What all optimizers have, see `Optimizer`.
alpha : float : What share of the rate is left at the end.
beta_1 : float : What share of the first moment, the mean gradient, is kept.
beta_2 : float : What share of the second moment, the mean square, is kept.
custom_objects : Dict[str, Any] : More things that are known by name.
epsilon : float : What keeps the divisor from zero.
gradient : Tensor : Its gradient.
initial_accumulator_value : float : What squares start with.
initial_learning_rate : float : The rate at the first step.
initializer : Union[str, Initializer, Callable] : What it starts with.
learning_rate : Union[float, LearningRateSchedule, Callable] : The rate.
momentum : float : What share of the last change is made again.
name : str : Its name.
nesterov : bool : Look ahead along the momentum.
variable : Variable : The variable.
[keras.quantizers]
axis : int : What pairs are neighbours along.
dataset : Any : What the model is run on.
dtype : str : The dtype of the integers.
epsilon : float : What keeps the divisor from zero.
group_size : int : How many weights share a scale; -1 for all.
inputs : Any : The numbers.
quantization_layer_structure : Optional[dict] : The model's parts.
to_numpy : bool : Has no effect: the result is the same.
tokenizer : Any : What makes numbers of text.
value_range : Sequence[int] : The least and the largest integer.
[keras.random]
seed : Union[int, SeedGenerator] : As of `normal`.
x : Tensor : The elements.
return : Tensor : The numbers.
[keras.saving]
custom_objects : Dict[str, Any] : Classes and functions of the user by name.
mode : str : "r" or "w".
overwrite : bool : Whether a file of that name is replaced without a question.
thing : Union[type, Callable] : The class or function.
[keras.trainers]
callbacks : List[Callback] : Who is told of the events.
class_weight : Dict[int, float] : Weights of the classes.
data : Any : A batch.
output_names : List[str] : The outputs' names, where the model knows them.
return_dict : bool : Whether a dictionary is returned.
steps : int : How many batches.
training : bool : Whether it is a step of training.
verbose : Union[str, int] : 0: nothing; 1: a progress bar; 2: a line.
x, y, y_pred, sample_weight : Any : Inputs, targets, predictions and weights.
[keras.trainers.fitting]
x, y, sample_weight : Any : Inputs, targets and weights.
return : Union[float, List[float], Dict[str, float]] : The values.
[keras.utils]
batch_size : int : How many files make a batch; None for single ones.
boxes : Tensor : Four numbers each.
class_names : Sequence[str] : Which folders, in which order.
color_mode : str : "rgb", "rgba" or "grayscale".
directory : str : The directory, of which each folder is a class if labels are inferred.
expand_nested : bool : Whether models within stand for their layers.
follow_links : bool : Whether links are followed.
format : str : "tf" for a `tf.data.Dataset`, "grain" for a `grain.IterDataset`.
image_shape : Optional[Sequence[int]] : Height, width and channels; for relative formats.
label_mode : str : Labels are numbers ("int"), vectors ("categorical"), 0.0 or 1.0 ("binary"), or not there (None).
labels : Union[str, Sequence[int]] : "inferred", one for each file, or None.
scale : bool : Whether the numbers are scaled to 0 ... 255.
seed : int : Decides the order.
shuffle : bool : Bring the files in random order.
subset : str : "training", "validation" or "both".
validation_split : float : The share of files that is for validation.
verbose : bool : Tell how many files there are.
x : numpy.ndarray : One image.
[keras.utils.audio_dataset]
return : Union[Dataset, List[Dataset]] : Two for both subsets. They have `class_names`.
[keras.utils.bounding_boxes]
bounding_box_format : str : Nothing else.
[keras.utils.image]
return : PIL.Image.Image : The picture.
[keras.utils.text_dataset]
return : Union[Dataset, List[Dataset]] : Two for both subsets. They have `class_names`.
"""

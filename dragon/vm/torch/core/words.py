"""Arguments of one name, told once for a whole family: the words that complete docstrings, as `docstrings.py` says."""
WORDS = """
[torch.autograd]
retain_graph : bool : Keep what was saved for another backward pass; by default the value of `create_graph`.
create_graph : bool : Record the computation of the gradients, so that they can be differentiated.
[torch._functorch]
argnums : Union[int, Tuple[int, ...]] : By which arguments.
func : Callable : From tensors to a structure of tensors.
has_aux : bool : Whether the function returns (output, what is only handed on).
[torch.autograd.functional]
func : Callable : From tensors to a tensor or a tuple of them.
inputs : Union[Tensor, Tuple[Tensor, ...]] : Where.
v : Union[Tensor, Tuple[Tensor, ...]] : In the form of the inputs; 1 for a single input of one element.
create_graph : bool : Whether the results can be differentiated.
strict : bool : Whether an output that does not depend on the inputs is an error; otherwise its part is zero.
vectorize : bool : Accepted; rows are computed one by one.
[torch.serialization]
pickle_module : module : None or `pickle`: Dragon unpickles by itself.
**pickle_load_args : Any : `encoding` of old texts; `errors` is accepted.
[torch.nn]
device : Union[device, str] : Where the parameters live.
dtype : dtype : Their type.
batch_first : bool : Tensors are `(batch, sequence, feature)` in place of `(sequence, batch, feature)`.
[torch.nn.init]
tensor : Tensor : Is filled in place; two axes or more.
gain : float : A factor.
nonlinearity : str : What follows.
generator : Generator : The stream of random numbers.
return : Tensor : The tensor itself.
[torch.nn.modules.loss]
size_average, reduce : bool : Of old; `reduction` tells it now.
reduction : {"mean", "sum", "none"} : What becomes of the numbers of all elements.
[torch.nn.modules.rnn]
input_size, hidden_size : int : Features of the input and of the state.
bias : bool : Add biases.
[torch.nn.parameter]
requires_grad : bool : Whether gradients are wanted.
[torch.nn.utils]
module : Module : Whose it is.
tensor_name : str : Its name.
[torch.optim]
anneal_strategy : str : "cos" or "linear".
nesterov : bool : Whether to look ahead along the momentum.
cycle_momentum : bool : Whether the momentum moves too.
base_momentum : Union[float, List[float]] : The lowest momentum.
max_momentum : Union[float, List[float]] : The highest momentum.
momentum : float : How much of the last step is kept.
epoch : int : Of old: the number of the step.
params : Iterable[Union[Tensor, Tuple[str, Tensor], dict]] : Parameters, or groups of them.
lr : Union[float, Tensor] : The learning rate.
betas : Tuple[float, float] : How much of the running means is kept at each step.
eps : float : Added to the denominator.
weight_decay : float : How much of the parameter is added to its gradient.
decoupled_weight_decay : bool : Whether decay shrinks the parameter itself, as AdamW's does.
amsgrad : bool : Whether to scale by the largest mean square so far.
maximize : bool : Whether to step upwards.
differentiable : bool : Whether steps are recorded: gradients then flow through them.
foreach : bool : Accepted: the engine updates all parameters in one call.
fused : bool : Accepted, as `foreach`.
capturable : bool : Accepted, as `foreach`.
optimizer : Optimizer : Whose rates are set.
last_epoch : int : The number of the last step.
[torch.distributions]
probs : Tensor : Weights along the last axis; or
logits : Tensor : their logarithms.
scale : Union[float, Tensor] : The scale.
loc : Union[float, Tensor] : The mean.
precision_matrix : Tensor : their inverse; or
scale_tril : Tensor : their Cholesky factor.
[torch.utils.data]
data_source : Sized : The dataset.
replacement : bool : Whether an index may come again.
dataset : Dataset : The whole.
[torch.utils.tensorboard]
max_queue : int : How many events wait before they are written.
flush_secs : float : How long they wait.
"""

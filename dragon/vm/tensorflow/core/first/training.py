"""`tf.compat.v1.train`: the global step, learning rates that fall, and savers of variables by name."""
import os
import time

from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.host import host_array
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.shared.tensors.variable import Variable
from dragon.vm.tensorflow.core.checkpoint import checkpoint as _checkpoint
from dragon.vm.tensorflow.core.checkpoint.bundle import write_bundle

_steps = []  # the global step, if there is one


def get_global_step(graph=None):
    """Return the global step, or None if there is none yet."""
    return _steps[0] if _steps else None


def get_or_create_global_step(graph=None):
    """Return the global step, a variable that counts steps."""
    if not _steps:
        _steps.append(Variable(convert_to_tensor(0, "int64"), trainable=False, name="global_step"))
    return _steps[0]


def create_global_step(graph=None):
    """Return a new global step; one that is there already is an error."""
    if _steps:
        raise ValueError('"global_step" already exists.')
    return get_or_create_global_step()


def global_step(sess, global_step_tensor):
    """Return the global step as a Python number; the session is not used."""
    return int(global_step_tensor.numpy())


def assert_global_step(global_step_tensor):
    """Raise unless something is an integer scalar."""
    if not (hasattr(global_step_tensor, "dtype") and global_step_tensor.dtype.is_integer):
        raise TypeError(f"Existing \"global_step\" does not have integer type: {global_step_tensor!r}")
    if global_step_tensor.ndim:
        raise TypeError(f"Existing \"global_step\" is not scalar: {global_step_tensor.shape}")


# --- learning rates: functions of no arguments, so that a step which counts on is followed

def _later(name, words, compute):
    def decay(learning_rate, global_step, *args, **kwargs):
        if global_step is None:
            raise ValueError(f"Argument `global_step` must not be None for {name}.")

        def rate():
            start = convert_to_tensor(learning_rate)
            start = start if start.dtype.is_floating else ops.cast(start, "float32")
            return compute(start, ops.cast(convert_to_tensor(global_step), start.dtype), *args, **kwargs)
        rate()  # what is wrong with the arguments is told at once
        return rate
    decay.__name__ = decay.__qualname__ = name
    decay.__doc__ = f"Return a function of no arguments that returns the learning rate: {words}."
    return decay


def _share(step, decay_steps):
    return step / ops.cast(convert_to_tensor(decay_steps), step.dtype)


def _exponential(rate, step, decay_steps, decay_rate, staircase=False, name=None):
    share = _share(step, decay_steps)
    return rate * ops.pow(ops.cast(convert_to_tensor(decay_rate), rate.dtype), ops.floor(share) if staircase else share)


def _natural(rate, step, decay_steps, decay_rate, staircase=False, name=None):
    share = _share(step, decay_steps)
    return rate * ops.exp((ops.floor(share) if staircase else share) * (-decay_rate))


def _inverse(rate, step, decay_steps, decay_rate, staircase=False, name=None):
    share = _share(step, decay_steps)
    return rate / ((ops.floor(share) if staircase else share) * decay_rate + 1.0)


def _polynomial(rate, step, decay_steps, end_learning_rate=0.0001, power=1.0, cycle=False, name=None):
    total = ops.cast(convert_to_tensor(decay_steps), rate.dtype)
    if cycle:
        rounds = ops.ceil(step / total)
        total = total * ops.where(ops.eq(step, 0.0), ops.ones_like(rounds), rounds)
    else:
        step = ops.minimum(step, total)
    return (rate - end_learning_rate) * ops.pow(1.0 - step / total, float(power)) + end_learning_rate


def _cosine(rate, step, decay_steps, alpha=0.0, name=None):
    share = _share(ops.minimum(step, ops.cast(convert_to_tensor(decay_steps), step.dtype)), decay_steps)
    return rate * ((1 - alpha) * (0.5 * (1.0 + ops.cos(share * 3.141592653589793))) + alpha)


def _restarts(rate, step, first_decay_steps, t_mul=2.0, m_mul=1.0, alpha=0.0, name=None):
    share = _share(step, first_decay_steps)
    if t_mul == 1.0:
        rounds, within = ops.floor(share), share - ops.floor(share)
    else:
        # How often a geometric series of lengths has gone round.
        rounds = ops.floor(ops.log(1.0 - share * (1.0 - t_mul)) / ops.log(convert_to_tensor(t_mul, rate.dtype)))
        whole = (1.0 - ops.pow(convert_to_tensor(t_mul, rate.dtype), rounds)) / (1.0 - t_mul)
        within = (share - whole) / ops.pow(convert_to_tensor(t_mul, rate.dtype), rounds)
    height = ops.pow(convert_to_tensor(m_mul, rate.dtype), rounds)
    return rate * ((1 - alpha) * (0.5 * height * (1.0 + ops.cos(within * 3.141592653589793))) + alpha)


def _linear_cosine(rate, step, decay_steps, num_periods=0.5, alpha=0.0, beta=0.001, name=None):
    share = _share(ops.minimum(step, ops.cast(convert_to_tensor(decay_steps), step.dtype)), decay_steps)
    wave = 0.5 * (1.0 + ops.cos(share * (2.0 * num_periods * 3.141592653589793)))
    return rate * ((alpha + 1.0 - share) * wave + beta)


exponential_decay = _later("exponential_decay", "rate * decay_rate ** (step / decay_steps)", _exponential)
natural_exp_decay = _later("natural_exp_decay", "rate * exp(-decay_rate * step / decay_steps)", _natural)
inverse_time_decay = _later("inverse_time_decay", "rate / (1 + decay_rate * step / decay_steps)", _inverse)
polynomial_decay = _later("polynomial_decay", "from one number to another along a power of what is left", _polynomial)
cosine_decay = _later("cosine_decay", "half a wave down to a share of the rate", _cosine)
cosine_decay_restarts = _later("cosine_decay_restarts", "half waves, each longer than the last", _restarts)
linear_cosine_decay = _later("linear_cosine_decay", "a wave under a falling line", _linear_cosine)


def piecewise_constant(x, boundaries, values, name=None):
    """Return a function of no arguments that returns the value of the piece in which a step lies.

    Parameters
    ----------
    x : Tensor
        The step.
    boundaries : Sequence[number]
        Where pieces end; the step at which one ends belongs to it.
    values : Sequence[number]
        One more than there are boundaries.
    name : str, optional
        Accepted.

    """
    if len(boundaries) != len(values) - 1:
        raise ValueError("The length of boundaries should be 1 less than the length of values. Received: "
                         f"{len(boundaries)} and {len(values)}")

    def value():
        step, numbers = convert_to_tensor(x), convert_to_tensor(values)
        passed = ops.gt(step, convert_to_tensor(boundaries, step.dtype))
        return ops.index_select(numbers, 0, ops.reshape(ops.sum(ops.cast(passed, "int64")), (1,)))[0]
    value()
    return value


piecewise_constant_decay = piecewise_constant


# --- savers

class Saver:
    """Write variables by their names, and read them.

    Parameters
    ----------
    var_list : Union[Sequence[Variable], Dict[str, Variable]]
        The variables, or variables by the names that files have.
    reshape : bool, optional, default=False
        Whether values of other shapes are taken where they have as many numbers.
    sharded, name, restore_sequentially, saver_def, builder, defer_build, allow_empty, write_version, pad_step_number, \
save_relative_paths, filename : Any, optional
        `saver_def` and `builder` must be None; the others change nothing of one process's files.
    max_to_keep : int, optional, default=5
        How many checkpoints stay; 0 or None: all.
    keep_checkpoint_every_n_hours : float, optional, default=10000.0
        Beside those, one in so many hours stays.

    """

    def __init__(self, var_list=None, reshape=False, sharded=False, max_to_keep=5,
                 keep_checkpoint_every_n_hours=10000.0, name=None, restore_sequentially=False, saver_def=None,
                 builder=None, defer_build=False,
                 allow_empty=False, write_version=2, pad_step_number=False, save_relative_paths=False, filename=None):
        if var_list is None:
            raise RuntimeError("When eager execution is enabled, `var_list` must specify a list or dict of variables "
                               "to save")
        if saver_def is not None or builder is not None:
            raise NotImplementedError("Saver: savers of graphs are not read. Received: "
                                      f"saver_def={saver_def!r}, builder={builder!r}")
        pairs = var_list.items() if isinstance(var_list, dict) else [
            (variable.name.split(":")[0], variable) for variable in var_list]
        self._variables = dict(pairs)
        if not self._variables and not allow_empty:
            raise ValueError("No variables to save")
        self._reshape, self._limit, self._pad = reshape, max_to_keep, pad_step_number
        self._hours, self._kept_since, self._last = keep_checkpoint_every_n_hours, time.time(), []

    last_checkpoints = property(lambda self: [path for path, _ in self._last], doc="List[str]: the prefixes that stay.")

    def set_last_checkpoints_with_time(self, last_checkpoints_with_time):
        """Take over prefixes and the times at which they were written."""
        self._last = list(last_checkpoints_with_time)

    def recover_last_checkpoints(self, checkpoint_paths):
        """Take over prefixes whose files are there."""
        self._last = [(path, os.path.getmtime(f"{path}.index")) for path in checkpoint_paths
                      if os.path.exists(f"{path}.index")]

    def save(self, sess, save_path, global_step=None, latest_filename=None, meta_graph_suffix="meta",
             write_meta_graph=True, write_state=True, strip_default_attrs=False, save_debug_info=False):
        """Write the variables; returns the prefix of the files.

        Parameters
        ----------
        sess : Any
            Not used: values are in the variables.
        save_path : str
            What the files' names begin with.
        global_step : Union[int, Variable], optional
            Follows in the names.
        latest_filename : str, optional
            The file that tells of the checkpoints; "checkpoint" by default.
        meta_graph_suffix, write_meta_graph, strip_default_attrs, save_debug_info : Any, optional
            There is no graph to be written.
        write_state : bool, optional, default=True
            Whether older checkpoints are removed and that file is written.

        """
        prefix = os.fspath(save_path)
        if global_step is not None:
            number = int(global_step.numpy() if hasattr(global_step, "numpy") else global_step)
            prefix = f"{prefix}-{number:08d}" if self._pad else f"{prefix}-{number}"
        write_bundle(prefix, {name: host_array(variable.value()) for name, variable in self._variables.items()})
        if write_state:
            self._keep(prefix, latest_filename)
        return prefix

    def _keep(self, prefix, latest_filename):
        if latest_filename not in (None, _checkpoint.STATE):
            raise NotImplementedError("Saver.save: the file that tells of checkpoints is called 'checkpoint'. "
                                      f"Received: latest_filename={latest_filename!r}")
        self._last = [(path, when) for path, when in self._last if path != prefix] + [(prefix, time.time())]
        while self._limit and len(self._last) > self._limit:
            path, when = self._last.pop(0)
            if when > self._kept_since + self._hours * 3600:
                self._kept_since = when
            else:
                _checkpoint.remove_checkpoint(path)
        _checkpoint.update_state(os.path.dirname(prefix), prefix, self.last_checkpoints)

    def restore(self, sess, save_path):
        """Read the variables' values; the session is not used."""
        if save_path is None:
            raise ValueError("Can't load save_path when it is None.")
        reader = _checkpoint.load_checkpoint(save_path)
        for name, variable in self._variables.items():
            if not reader.has_tensor(name):
                from dragon.vm.shared.errors import NotFoundError
                raise NotFoundError(None, None, f"Key {name} not found in checkpoint")
            value = convert_to_tensor(reader.get_tensor(name), variable.dtype)
            variable.assign(ops.reshape(value, tuple(variable.shape)) if self._reshape else value)


def checkpoint_exists(checkpoint_prefix):
    """Return whether there is a checkpoint of a prefix."""
    return os.path.exists(f"{os.fspath(checkpoint_prefix)}.index")


def get_checkpoint_mtimes(checkpoint_prefixes):
    """Return the times at which checkpoints were written; those that are not there are left out."""
    return [os.path.getmtime(f"{prefix}.index") for prefix in checkpoint_prefixes if checkpoint_exists(prefix)]


def remove_checkpoint(checkpoint_prefix, checkpoint_format_version=2, meta_graph_suffix="meta"):
    """Remove the files of a checkpoint."""
    _checkpoint.remove_checkpoint(checkpoint_prefix)


def update_checkpoint_state(save_dir, model_checkpoint_path, all_model_checkpoint_paths=None, latest_filename=None,
                            all_model_checkpoint_timestamps=None, last_preserved_timestamp=None):
    """Write the file that tells of the checkpoints of a folder."""
    if latest_filename not in (None, _checkpoint.STATE):
        raise NotImplementedError(f"update_checkpoint_state: the file is called 'checkpoint'. Received: "
                                  f"latest_filename={latest_filename!r}")
    _checkpoint.update_state(save_dir, model_checkpoint_path, all_model_checkpoint_paths or [model_checkpoint_path],
                             all_model_checkpoint_timestamps or (), last_preserved_timestamp)


def NewCheckpointReader(filepattern):
    """Return what reads a checkpoint's tensors by name."""
    return _checkpoint.load_checkpoint(filepattern)


def summary_iterator(path):
    """Yield the events of a file of summaries."""
    from dragon.vm.shared.files.events import Event
    from dragon.vm.tensorflow.data import TFRecordDataset
    for record in TFRecordDataset(path):
        yield Event.FromString(record.numpy())

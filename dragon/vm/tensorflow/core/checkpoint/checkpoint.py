"""`tf.train.Checkpoint`: variables by the names of the objects that hold them, in TensorFlow's files."""
import os
import time

from dragon.core import warnings
from dragon.core import modes
from dragon.core import files
from dragon.core.scopes import ExitStack
from dragon.vm.shared.data.rows import array_of
from dragon.vm.shared.files.system_errors import translated
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.variable import Variable, pending, write
from dragon.vm.tensorflow.core.checkpoint import trackable
from dragon.vm.tensorflow.core.checkpoint.bundle import Bundle, write_bundle

STATE = "checkpoint"
LONGEST_LINE = 1 << 16  # of that file
KEPT = 8  # restorations that wait for further variables


class CheckpointOptions:
    """The way in which checkpoints are written; nothing can be chosen.

    Parameters
    ----------
    **options : Any
        Must be empty.

    """

    def __init__(self, **options):
        given = {name: value for name, value in options.items() if value}
        if given:
            raise NotImplementedError(f"CheckpointOptions: not supported. Received: {given}")


class Status:
    """The outcome of a restoration: which objects and which saved values found each other.

    Parameters
    ----------
    checkpoint : Checkpoint
        Whose objects they are.
    bundle : Bundle, optional
        What was read.

    """

    def __init__(self, checkpoint, bundle=None):
        self._checkpoint, self._bundle = checkpoint, bundle
        self._done = set()
        if bundle is not None:
            graph = bundle.read(trackable.GRAPH) if trackable.GRAPH in bundle else None
            if graph is None:
                raise NotImplementedError("Checkpoints of TensorFlow 1, which do not describe objects, are not read by "
                                          f"Checkpoint; use tf.train.load_checkpoint. Received: {bundle.prefix}")
            self._root = trackable.read_graph(graph[()])
            self.match()

    def match(self):
        """Give their values to all variables that exist by now and have none yet."""
        if self._bundle is None:
            return
        with ExitStack() as exits:
            exits.switch(modes.set_phantom, False)  # a layer may be building its weights while shapes are inferred
            self._walk()
        if self._left():
            if self not in pending:
                pending.append(self)
                del pending[:-KEPT]
        elif self in pending:
            pending.remove(self)

    def _walk(self):
        seen, later = set(), [(self._checkpoint, self._root)]
        while later:
            value, node = later.pop()
            if (id(value), id(node)) in seen:
                continue
            seen.add((id(value), id(node)))
            if node.key is not None and trackable.is_variable(value) and node.key not in self._done:
                self._give(value, node.key)
            parts = trackable.parts_of(value)
            later += [(parts[name], child) for name, child in node.children.items() if name in parts]

    def _give(self, variable, key):
        array = self._bundle.read(key)
        try:
            value = convert_to_tensor(array, variable.dtype)
            takes = (isinstance(variable, Variable) or hasattr(variable, "is_string_variable")
                     or getattr(type(variable), "reads_together", False))
            if tuple(value.shape) != tuple(variable.shape) and not takes:
                raise ValueError("shapes differ")
            if takes:
                variable.assign(value)
            else:
                write(variable, value)
        except ValueError as error:
            raise ValueError(f"A variable of shape {variable.shape} cannot take the value of {key}, which has shape "
                             f"{array.shape}: {error}") from None
        self._done.add(key)

    def _missing(self):
        """Return the keys of saved values that no object has taken."""
        if self._bundle is None:
            return []
        self.match()
        return self._left()

    def _left(self):
        return sorted(key for key in self._bundle.entries if key.endswith(trackable.SUFFIX) and key not in self._done
                      and not key.startswith("save_counter/"))

    def assert_consumed(self):
        """Raise an AssertionError unless all saved values and all objects found each other."""
        missing = self._missing()
        if missing:
            raise AssertionError(f"Some values of the checkpoint found no object: {missing}")
        return self.assert_existing_objects_matched()

    def assert_existing_objects_matched(self):
        """Raise an AssertionError if a variable found no saved value."""
        self._missing()
        known = set() if self._bundle is None else self._done
        lost = [key for _, _, key in trackable.walk(self._checkpoint) if key is not None and key not in known
                and not key.startswith("save_counter/")]
        if self._bundle is not None and lost:
            raise AssertionError(f"Some variables found no value in the checkpoint: {lost}")
        if self._bundle is None and lost:
            raise AssertionError(f"No checkpoint was given, and there are variables: {lost}")
        return self

    def assert_nontrivial_match(self):
        """Raise an AssertionError if no variable found a value."""
        self._missing()
        if not self._done:
            raise AssertionError("Nothing except the root object matched a checkpoint value.")
        return self

    def expect_partial(self):
        """Accept that values and objects are left over; returns the status."""
        return self

    def initialize_or_restore(self, session=None):
        """Do nothing: values were given at once."""

    run_restore_ops = initialize_or_restore


class Checkpoint:
    """Objects whose variables are saved together.

    Parameters
    ----------
    root : Any, optional
        An object whose parts are saved as if they were given by name.
    **kwargs : Any
        Variables, modules, layers, optimizers, lists and dictionaries of them.

    """

    def __init__(self, root=None, **kwargs):
        self._root, self._named = root, {}
        self._status = None
        for name, value in {**({} if root is None else {"root": root}), **kwargs}.items():
            if not trackable.is_trackable(value) and not isinstance(value, (dict, list, tuple)):
                raise ValueError(f"tf.train.Checkpoint: {name} must be a variable, or an object that holds some. "
                                 f"Received: {value!r}")
        for name, value in kwargs.items():
            setattr(self, name, value)

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)
        if not name.startswith("_"):
            self._named[name] = value

    def _checkpoint_parts(self):
        parts = {} if self._root is None else trackable.parts_of(self._root)
        return {**parts, **self._named}

    def _counter(self):
        if "save_counter" not in self._named:
            self.save_counter = Variable(0, dtype="int64", trainable=False, name="save_counter")
        return self._named["save_counter"]

    def write(self, file_prefix, options=None):
        """Write the variables; returns the prefix of the files."""
        if self._status is not None:
            self._status.match()
        objects = trackable.walk(self)
        arrays = {key: array_of(value) for value, _, key in objects if key is not None}
        import numpy as np
        graph = np.empty((), object)
        graph[()] = trackable.write_graph(objects)
        arrays[trackable.GRAPH] = graph
        prefix = os.fspath(file_prefix)
        with translated(prefix):
            write_bundle(prefix, arrays)
        return prefix

    def save(self, file_prefix, options=None):
        """Write the variables into numbered files, and note which are the latest; returns their prefix."""
        counter = self._counter()
        counter.assign_add(1)
        prefix = self.write(f"{os.fspath(file_prefix)}-{int(counter)}")
        update_state(os.path.dirname(prefix), prefix, [prefix])
        return prefix

    def read(self, save_path, options=None):
        """Give the variables the values of files that `write` wrote.

        Parameters
        ----------
        save_path : str
            The prefix of the files.

        Returns
        -------
        Status
            Which variables and values found each other. Variables that layers and optimizers make later get their
            values then; those of modules when the status is asked, or when the checkpoint is saved.

        """
        self._status = Status(self, Bundle(save_path))
        return self._status

    def restore(self, save_path, options=None):
        """Give the variables the values of files that `save` wrote; None stands for no files. See `read`."""
        if save_path is None:
            return Status(self)
        self._counter()
        return self.read(save_path)


# --- which files there are

def _quote(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def update_state(folder, latest, paths, times=(), kept_since=None):
    """Write the file that names the checkpoints of a folder."""
    lines = [f"model_checkpoint_path: {_quote(_relative(latest, folder))}"]
    lines += [f"all_model_checkpoint_paths: {_quote(_relative(path, folder))}" for path in paths]
    lines += [f"all_model_checkpoint_timestamps: {stamp!r}" for stamp in times]
    if kept_since is not None:
        lines.append(f"last_preserved_timestamp: {kept_since!r}")
    place = os.path.join(folder, STATE)
    files.write(place, "\n".join(lines) + "\n")


def _relative(path, folder):
    return os.path.relpath(path, folder) if not os.path.isabs(path) or os.path.dirname(path) == folder else path


class CheckpointState:
    """The contents of a folder's file: `model_checkpoint_path` and `all_model_checkpoint_paths`, latest last."""

    def __init__(self, folder, lines):
        import ast
        self.all_model_checkpoint_paths, self.all_model_checkpoint_timestamps = [], []
        self.model_checkpoint_path, self.last_preserved_timestamp = "", 0.0
        for line in lines:
            name, _, value = line.strip().partition(": ")
            if not name:
                continue
            if not hasattr(self, name) or name.startswith("_") or len(value) > LONGEST_LINE:
                raise ValueError(f"no field of the state of checkpoints: {name[:100]!r}")
            value = ast.literal_eval(value)
            if type(value) not in (str, int, float):
                raise ValueError(f"no value of the state of checkpoints: {type(value).__name__}")
            if isinstance(value, str) and not os.path.isabs(value):
                value = os.path.join(folder, value)
            if name.startswith("all_"):
                getattr(self, name).append(value)
            else:
                setattr(self, name, value)


def get_checkpoint_state(checkpoint_dir, latest_filename=None):
    """Return what the file of a folder says of its checkpoints, or None."""
    folder = os.fspath(checkpoint_dir)
    try:
        with open(os.path.join(folder, latest_filename or STATE), encoding="utf-8") as file:
            return CheckpointState(folder, file)
    except FileNotFoundError:
        return None
    except (ValueError, SyntaxError, RecursionError, MemoryError) as error:
        warnings.warn(f"{folder}: the file of checkpoints is damaged: {error}")
        return None


def latest_checkpoint(checkpoint_dir, latest_filename=None):
    """Return the prefix of a folder's latest checkpoint, or None."""
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    path = state.model_checkpoint_path if state else ""
    return path if path and os.path.exists(f"{path}.index") else None


class CheckpointReader:
    """A checkpoint's tensors by name. ..."""

    def __init__(self, prefix):
        self._bundle = Bundle(prefix)

    def has_tensor(self, name):
        """Return whether there is a tensor of a name."""
        return name in self._bundle

    def get_tensor(self, name):
        """Return a tensor as an array, or as bytes or a number if there are no axes."""
        array = self._bundle.read(name)
        return array if array.ndim else array[()]

    def get_variable_to_shape_map(self):
        """Return {name: shape}."""
        return {name: list(entry.shape) for name, entry in self._bundle.entries.items()}

    def get_variable_to_dtype_map(self):
        """Return {name: dtype}."""
        return {name: entry.dtype for name, entry in self._bundle.entries.items()}


def _prefix_of(path):
    path = os.fspath(path)
    if os.path.isdir(path):
        found = latest_checkpoint(path)
        if found is None:
            raise ValueError(f"Couldn't find 'checkpoint' file or checkpoints in given directory {path}")
        return found
    return path


def load_checkpoint(ckpt_dir_or_file):
    """Return a reader of a checkpoint, or of a folder's latest one."""
    return CheckpointReader(_prefix_of(ckpt_dir_or_file))


def list_variables(ckpt_dir_or_file):
    """Return [(name, shape)] of a checkpoint, or of a folder's latest one."""
    return sorted(load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map().items())


def load_variable(ckpt_dir_or_file, name):
    """Return a tensor of a checkpoint, or of a folder's latest one."""
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name.removesuffix(":0"))


def checkpoints_iterator(checkpoint_dir, min_interval_secs=0, timeout=None, timeout_fn=None):
    """Yield the prefixes of a folder's checkpoints as they appear.

    Parameters
    ----------
    checkpoint_dir : str
        The folder.
    min_interval_secs : float, optional, default=0
        The least time between two.
    timeout : float, optional
        How long to wait for the next one; by default for ever.
    timeout_fn : Callable, optional
        Says after a wait in vain whether to stop.

    Yields
    ------
    str
        A prefix.

    """
    before, since = None, time.monotonic()
    while True:
        found = latest_checkpoint(checkpoint_dir)
        if found is not None and found != before:
            before, begin = found, time.monotonic()
            yield found
            time.sleep(max(0.0, begin + min_interval_secs - time.monotonic()))
            since = time.monotonic()
        elif timeout is not None and time.monotonic() - since > timeout:
            if timeout_fn is None or timeout_fn():
                return
            since = time.monotonic()
        else:
            time.sleep(0.05)


def remove_checkpoint(prefix):
    """Remove the files of a checkpoint."""
    import glob
    for path in [f"{prefix}.index", *glob.glob(glob.escape(prefix) + ".data-*-of-*")]:
        try:
            os.remove(path)
        except FileNotFoundError:
            pass

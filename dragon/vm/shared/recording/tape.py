"""`tf.GradientTape`: calls are recorded within tapes; gradients of what they saw."""
import enum
import threading

from dragon.core import warnings
from dragon import _C
from dragon.core import modes
from dragon.core.scopes import ExitStack, contextmanager
from dragon.vm.shared import nest
from dragon.vm.shared.naming import known_as
from dragon.vm.shared.recording import lookups
from dragon.vm.shared.tensors.convert import brought, convert_to_tensor
from dragon.vm.shared.tensors.dtypes import as_dtype
from dragon.vm.shared.tensors.tensor import Base, Tensor, as_tensor, ops
from dragon.vm.shared.tensors.variable import living_variables

_local = threading.local()


@known_as("tensorflow")
class UnconnectedGradients(enum.Enum):
    """The gradient with respect to something that the target does not depend on."""

    NONE = "none"
    ZERO = "zero"


def tapes():
    """Return this thread's recording tapes, the innermost last."""
    if not hasattr(_local, "tapes"):
        _local.tapes = []
    return _local.tapes


def _leaves(structure):
    """Return the tensors of a structure; ragged and sparse ones by their parts."""
    return nest.flatten(structure, expand_composites=True)


def _note_end():
    """Remember where recording for tapes has ended."""
    if not tapes():
        _local.end = modes.next_sequence()


def _set_asking(tensors, asking):
    """Have tensors ask for gradients, or not."""
    for tensor in tensors:
        tensor.requires_grad = asking


@known_as("tensorflow")
class GradientTape(_C.Scope):
    """Record what happens to trainable variables and to watched tensors, and differentiate it.

    Parameters
    ----------
    persistent : bool, optional, default=False
        Whether gradients may be asked for more than once.
    watch_accessed_variables : bool, optional, default=True
        Whether trainable variables are watched without being named.

    Examples
    --------
    >>> x = tf.Variable(3.0)
    >>> with tf.GradientTape() as tape:
    ...     y = x ** 2
    >>> tape.gradient(y, x).numpy()
    np.float32(6.0)

    """

    def __init__(self, persistent=False, watch_accessed_variables=True):
        self._persistent, self._watches_variables = bool(persistent), bool(watch_accessed_variables)
        self._recording = self._used = False
        self._shared = False  # whether another tape may want the same history
        self._watched, self._asked, self._looked_up = {}, [], []
        self._floor = 0, 0  # what was recorded before is constant to it

    # --- recording

    def _enter_scope(self, exits):
        """Record from now on."""
        if self._recording:
            raise ValueError("Tape is still recording, This can happen if you try to re-enter an already-active tape.")
        others = tapes()
        if others:
            self._shared, self._floor = True, others[0]._floor
            for other in others:
                other._shared = True
        else:
            # PyTorch records outside of tapes too; what it did since the last tape may be differentiated with this one.
            self._floor = getattr(_local, "end", 0), modes.next_sequence()
        exits.callback(_note_end)
        exits.switch(modes.exchange_history_floor, self._floor)
        exits.callback(self._ask_no_more)
        exits.switch(modes.set_recording, True)
        lookups.open_book(exits, self._looked_up)
        exits.push(others, self)
        exits.set(self, "_recording", True)
        return self

    def _stop(self):
        """Leave the block before its end."""
        self.__exit__(None, None, None)

    def _ask_no_more(self):
        held = {id(tensor) for tape in tapes() for tensor in tape._asked}
        for tensor in self._asked:
            if id(tensor) not in held:
                tensor.requires_grad = False

    def watch(self, tensor):
        """Record what happens to a tensor, or to all tensors of a structure."""
        for item in _leaves(tensor):
            if not isinstance(item, _C.Tensor):
                raise ValueError("Passed in object {} of type {!r}, not tf.Tensor or tf.Variable or ExtensionType."
                                 .format(item, type(item).__name__))
            if not (as_dtype(item.dtype).is_floating or as_dtype(item.dtype).is_complex):  # Keras's are strings
                warnings.warn("The dtype of the watched tensor must be floating (e.g. tf.float32), got "
                              f"{item.dtype!r}")
                continue
            self._watched[id(item)] = item
            if not item.requires_grad:
                self._asked.append(item)
                item.requires_grad = True

    @contextmanager
    def stop_recording(self):
        """Record nothing within a `with` block."""
        if not self._recording:
            raise RuntimeError("Trying to stop recording a tape which is not recording.")
        with modes.no_grad():
            yield

    def reset(self):
        """Forget what was watched and recorded."""
        if self._recording and not self._shared:
            self._floor = (modes.next_sequence(),) * 2
            modes.exchange_history_floor(self._floor)
        for tensor in self._asked:
            tensor.requires_grad = False
        self._watched, self._asked, self._used = {}, [], False
        self._looked_up.clear()

    def watched_variables(self):
        """Return the variables that are part of a recorded computation, in order of their making."""
        used = [variable for variable in living_variables() if variable.requires_grad
                and _C.is_recorded(variable)] if self._watches_variables else []
        known = {id(variable) for variable in used}
        return tuple(used + [item for item in self._watched.values()
                             if type(item) is not Tensor and id(item) not in known])

    # --- differentiating

    def _check_use(self):
        if self._used and not self._persistent:
            raise RuntimeError("A non-persistent GradientTape can only be used to compute one set of gradients (or "
                               "jacobians)")
        if self._recording and not self._persistent:
            self._stop()
        self._used = True

    def _sees(self, source):
        """Return whether gradients with respect to a source are any of this tape's business."""
        if not isinstance(source, _C.Tensor) or not source.requires_grad:
            return False
        if not source.is_leaf or id(source) in self._watched:
            return True
        return self._watches_variables and type(source) is not Tensor

    def record_again(self, stack):
        """Have what was recorded be no constant, and watched tensors ask for gradients, until an ExitStack ends."""
        stack.switch(modes.exchange_history_floor, self._floor)
        changed = [tensor for tensor in self._asked if not tensor.requires_grad]
        stack.callback(_set_asking, changed, False)
        _set_asking(changed, True)

    def _differentiate(self, targets, sources, grads, retain):
        """Return the gradients, or None, of the targets with respect to all sources."""
        nested = bool(tapes())
        with ExitStack() as stack:
            self.record_again(stack)
            places = [place for place, source in enumerate(sources) if self._sees(source)]
            pairs = [(y, brought(dy, y.device)) for y, dy in zip(targets, grads) if y.requires_grad]
            found = [None] * len(sources)
            if pairs and places:
                ys, dys = zip(*pairs)
                known = _C.grad(ys, [sources[place] for place in places], dys, retain or nested, nested, True)
                for place, dx in zip(places, known):
                    found[place] = dx if dx is None or type(dx) is Tensor else as_tensor(dx)
        return found

    def gradient(self, target, sources, output_gradients=None, unconnected_gradients=UnconnectedGradients.NONE):
        """Return the gradients of a target with respect to sources.

        Parameters
        ----------
        target : Any
            A tensor or a structure of them; of several, the sum is differentiated.
        sources : Any
            A tensor, a variable or a structure of them.
        output_gradients : Any, optional
            Gradients of something with respect to the target; ones by default.
        unconnected_gradients : UnconnectedGradients, optional
            None or zeros, where the target does not depend on a source.

        Returns
        -------
        Any
            In the form of `sources`.

        """
        self._check_use()
        unconnected = UnconnectedGradients(unconnected_gradients)
        if target is None:
            raise TypeError("Argument `target` should be a list or nested structure of Tensors, Variables or "
                            "CompositeTensors to be differentiated, but received None.")
        targets = [item if isinstance(item, Base) else convert_to_tensor(item) for item in _leaves(target)]
        targets = [item for item in targets if isinstance(item, _C.Tensor)
                   and (item.dtype.is_floating_point or item.dtype.is_complex)]
        inputs = _leaves(sources)
        for source in inputs:
            if not isinstance(source, _C.Tensor) and not hasattr(source, "is_string_variable"):
                raise ValueError(f"Expected a tensor or a variable as source. Received: {source!r}")
        grads = self._output_gradients(targets, output_gradients)
        rows = [lookups.only_rows(targets, source, self._looked_up) if self._looked_up and (
            id(source) in self._watched or self._sees(source)) else None for source in inputs]
        places = [place for place, used in enumerate(rows) if used]
        inner = [row for place in places for _, row in rows[place]]
        wanted = [inputs[place] for place in range(len(inputs)) if place not in places]
        found = self._differentiate(targets, wanted + inner, grads, self._persistent or self._shared)
        if places:
            slopes = iter(found[len(wanted):])
            found = found[:len(wanted)]
            for place in places:
                found.insert(place, lookups.join(inputs[place], [(numbers, next(slopes)) for numbers, _ in
                                                                 rows[place]]))
        if unconnected is UnconnectedGradients.ZERO:
            found = [ops.zeros_like(source.detach()) if dx is None else dx for source, dx in zip(inputs, found)]
        if not self._persistent:
            self._watched = {} if not self._shared else self._watched
            self._looked_up.clear()
        return nest.pack_sequence_as(sources, found, expand_composites=True)

    @staticmethod
    def _output_gradients(targets, given):
        if given is None:
            return [ops.ones_like(target.detach()) for target in targets]
        grads = [None if grad is None else convert_to_tensor(grad) for grad in _leaves(given)]
        if len(grads) != len(targets):
            raise ValueError(f"Expected one output gradient for each of {len(targets)} targets. Received: {given!r}")
        grads = [ops.ones_like(target.detach()) if grad is None else grad for target, grad in zip(targets, grads)]
        return [grad if tuple(grad.shape) == tuple(target.shape) else ops.broadcast_to(grad, tuple(target.shape))
                for target, grad in zip(targets, grads)]

    def jacobian(self, target, sources, unconnected_gradients=UnconnectedGradients.NONE, parallel_iterations=None,
                 experimental_use_pfor=True):
        """Return the derivatives of each element of a target with respect to sources.

        Parameters
        ----------
        target : Tensor
            What is differentiated.
        sources : Any
            A tensor, a variable or a structure of them.
        unconnected_gradients : UnconnectedGradients, optional
            None or zeros, where the target does not depend on a source.
        parallel_iterations, experimental_use_pfor : Any, optional
            Not used: rows are differentiated one after the other.

        Returns
        -------
        Any
            In the form of `sources`; shapes are the target's followed by the source's.

        """
        self._check_use()
        unconnected = UnconnectedGradients(unconnected_gradients)
        inputs = _leaves(sources)
        flat = ops.reshape(target, (-1,))
        basis = ops.eye(_C.Tensor.size.__get__(flat), dtype=flat.dtype)
        rows = [self._differentiate([target], inputs, [ops.reshape(row, tuple(target.shape))], True)
                for row in ops.unbind(basis)]
        found = []
        for place, source in enumerate(inputs):
            column = [row[place] for row in rows]
            shape = (*target.shape, *source.shape)
            if column and column[0] is not None:
                found.append(ops.reshape(ops.stack(column), shape))
            else:
                zero = unconnected is UnconnectedGradients.ZERO
                found.append(ops.zeros(shape, dtype=source.dtype) if zero else None)
        return nest.pack_sequence_as(sources, found, expand_composites=True)

    def batch_jacobian(self, target, source, unconnected_gradients=UnconnectedGradients.NONE,
                       parallel_iterations=None, experimental_use_pfor=True):
        """Return a `jacobian` of the source's entry of the same batch entry alone.

        Parameters
        ----------
        target, source : Tensor
            Of shapes (batch, ...).

        Returns
        -------
        Tensor
            With the batch's axis, then the target's other axes, then the source's.

        """
        self._check_use()
        unconnected = UnconnectedGradients(unconnected_gradients)
        if not target.ndim or not source.ndim or target.shape[0] != source.shape[0]:
            raise ValueError(f"Need first dimension of target shape ({target.shape}) and source shape ({source.shape}) "
                             "to match.")
        batch, inner = target.shape[0], tuple(target.shape[1:])
        count = _C.Tensor.size.__get__(target) // max(batch, 1)
        columns = []
        for row in ops.unbind(ops.eye(count, dtype=target.dtype)):
            grad = ops.clone(ops.broadcast_to(ops.reshape(row, (1, *inner)), tuple(target.shape)))
            columns.append(self._differentiate([target], [source], [grad], True)[0])
        shape = (batch, *inner, *source.shape[1:])
        if not columns or columns[0] is None:
            zero = unconnected is UnconnectedGradients.ZERO
            return ops.zeros(shape, dtype=source.dtype) if zero else None
        return ops.reshape(ops.stack(columns, axis=1), shape)


def stop_gradient(input, name=None):
    """Return a tensor through which no gradient flows.

    Parameters
    ----------
    input : Tensor
        The tensor.

    Returns
    -------
    Tensor
        The same numbers.

    """
    def cut(item):
        item = convert_to_tensor(item)
        return as_tensor(item.detach()) if isinstance(item, _C.Tensor) else item
    return nest.map_structure(cut, input)


def gradients(ys, xs, grad_ys=None, name="gradients", unconnected_gradients=UnconnectedGradients.NONE, **options):
    """Refuse as TensorFlow does outside of graphs of TensorFlow 1: GradientTape is what there is."""
    raise RuntimeError("tf.gradients is not supported when eager execution is enabled. Use tf.GradientTape instead.")

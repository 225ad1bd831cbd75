"""Recurrent layers over whole sequences; their single steps stand in `_cells`."""
import numbers

from dragon.core import warnings
from dragon.vm.torch.core.tensor import ops
from dragon.vm.torch.nn.modules._cells import GRUCell, LSTMCell, RNNCell, RNNCellBase  # noqa: F401
from dragon.vm.torch.nn.modules.module import Module
from dragon.vm.torch.nn.modules.utils import empty
from dragon.vm.torch.nn.parameter import Parameter
from dragon.vm.torch.nn.utils.rnn import PackedSequence

GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


def _apply_permutation(tensor, permutation, dim=1):
    return ops.index_select(tensor, dim, permutation)


def apply_permutation(tensor, permutation, dim=1):
    """Return the tensor with an axis in another order: the old name of `index_select` here."""
    warnings.warn("`apply_permutation` is deprecated, please use `tensor.index_select(dim, permutation)` instead",
                  FutureWarning)
    return _apply_permutation(tensor, permutation, dim)


def _check_options(input_size, hidden_size, num_layers, bias, batch_first, dropout, proj_size):
    """Raise for what no recurrent layer can be made of."""
    if isinstance(dropout, bool) or not isinstance(dropout, numbers.Number) or not 0 <= dropout <= 1:
        raise ValueError("dropout should be a number in range [0, 1] representing the probability of an element being "
                         "zeroed")
    if dropout > 0 and num_layers == 1:
        warnings.warn("dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects "
                      f"num_layers greater than 1, but got dropout={dropout} and num_layers={num_layers}")
    for name, value, kind in (("bias", bias, bool), ("batch_first", batch_first, bool), ("input_size", input_size, int),
                              ("hidden_size", hidden_size, int)):
        if not isinstance(value, kind):
            raise TypeError(f"{name} should be of type {kind.__name__}, got: {type(value).__name__}")
    for name, value in (("input_size", input_size), ("hidden_size", hidden_size), ("num_layers", num_layers)):
        if value <= 0:
            raise ValueError(f"{name} must be greater than zero")
    if proj_size < 0:
        raise ValueError("proj_size should be a positive integer or zero to disable projections")
    if proj_size >= hidden_size:
        raise ValueError("proj_size has to be smaller than hidden_size")


class RNNBase(Module):
    """The base of recurrent layers.

    Parameters
    ----------
    mode : {"LSTM", "GRU", "RNN_TANH", "RNN_RELU"}
        Which one; the classes below set it.
    num_layers : int, optional, default=1
        How many layers stand on each other.
    dropout : float, optional, default=0.0
        Probability of dropping an output of all layers but the last.
    bidirectional : bool, optional, default=False
        Go backwards too, and put both results side by side.
    proj_size : int, optional, default=0
        Project the state to this size; LSTM only.

    """

    __constants__ = ["mode", "input_size", "hidden_size", "num_layers", "bias", "batch_first", "dropout",
                     "bidirectional", "proj_size"]
    __jit_unused_properties__ = ["all_weights"]

    def __init__(self, mode, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0,
                 bidirectional=False, proj_size=0, device=None, dtype=None):
        super().__init__()
        _check_options(input_size, hidden_size, num_layers, bias, batch_first, dropout, proj_size)
        if mode not in GATES:
            raise ValueError("Unrecognized RNN mode: " + mode)
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        self._all_weights = []
        state, gates = proj_size or hidden_size, GATES[mode] * hidden_size
        for layer in range(num_layers):
            features = input_size if layer == 0 else state * self._directions
            shapes = {"weight_ih": (gates, features), "weight_hh": (gates, state)}
            shapes.update({"bias_ih": (gates,), "bias_hh": (gates,)} if bias else {})
            shapes.update({"weight_hr": (proj_size, hidden_size)} if proj_size else {})
            for suffix in ("", "_reverse")[:self._directions]:
                named = {f"{name}_l{layer}{suffix}": shape for name, shape in shapes.items()}
                for name, shape in named.items():
                    setattr(self, name, Parameter(empty(*shape, device=device, dtype=dtype)))
                self._all_weights.append(list(named))
        self._flat_weights_names = [name for names in self._all_weights for name in names]
        self.reset_parameters()

    @property
    def _directions(self):
        return 2 if self.bidirectional else 1

    @property
    def _flat_weights(self):
        """The parameters in the order in which the engine takes them."""
        params = self._parameters
        return [params[name] if name in params else getattr(self, name) for name in self._flat_weights_names]

    all_weights = property(lambda self: [[getattr(self, name) for name in names] for names in self._all_weights],
                           doc="The parameters, one list for each layer and direction.")

    def flatten_parameters(self):
        """Do nothing: the engine takes the parameters as they are."""

    reset_parameters = RNNCellBase.reset_parameters

    def check_input(self, input, batch_sizes):
        """Raise unless the input suits the layer."""
        weight = self._flat_weights[0]
        if input.dtype != weight.dtype and not _autocast():
            raise ValueError(f"RNN input dtype ({input.dtype}) does not match weight dtype ({weight.dtype}). Convert "
                             f"input: input.to({weight.dtype}), or convert model: model.to({input.dtype})")
        axes = 3 if batch_sizes is None else 2
        if input.dim() != axes:
            raise RuntimeError(f"input must have {axes} dimensions, got {input.dim()}")
        if input.shape[-1] != self.input_size:
            raise RuntimeError(f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got "
                               f"{input.size(-1)}")

    def _state_shape(self, input, batch_sizes, features):
        batch = int(batch_sizes[0]) if batch_sizes is not None else input.shape[0 if self.batch_first else 1]
        return self.num_layers * self._directions, batch, features

    def get_expected_hidden_size(self, input, batch_sizes):
        """Return the shape of the state that goes with an input."""
        return self._state_shape(input, batch_sizes, self.proj_size or self.hidden_size)

    def check_hidden_size(self, hx, expected_hidden_size, msg="Expected hidden size {}, got {}"):
        """Raise unless a state has this shape."""
        if tuple(hx.shape) != tuple(expected_hidden_size):
            raise RuntimeError(msg.format(expected_hidden_size, list(hx.shape)))

    def check_forward_args(self, input, hidden, batch_sizes):
        """Raise unless input and state suit the layer."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def permute_hidden(self, hx, permutation):
        """Return the state with the batch in another order."""
        return hx if permutation is None else _apply_permutation(hx, permutation)

    def _new_hidden(self, input, batch_sizes):
        """Return the state that a sequence begins with."""
        return ops.zeros(self.get_expected_hidden_size(input, batch_sizes), dtype=input.dtype, device=input.device)

    def _each(self, hidden, function):
        """Return a state with a function applied to its tensors."""
        return function(hidden)

    def _call_engine(self, input, batch_sizes, hidden):
        """Return (output, state)."""
        options = (self._flat_weights, self.bias, self.num_layers, self.dropout, self.training, self.bidirectional)
        if batch_sizes is not None:
            return getattr(ops, self.mode.lower() + "_packed")(input, batch_sizes, hidden, *options)
        return getattr(ops, self.mode.lower())(input, hidden, *options, self.batch_first)

    def forward(self, input, hx=None):
        """Return the output of the last layer at all times, and the state of all layers at the end.

        Parameters
        ----------
        input : Union[Tensor, PackedSequence]
            The sequences; without a batch, of two axes.
        hx : Union[Tensor, Tuple[Tensor, Tensor]], optional
            The state at the beginning, zeros by default; an LSTM's is a pair.

        Returns
        -------
        Tuple[Union[Tensor, PackedSequence], Union[Tensor, Tuple[Tensor, Tensor]]]
            Output and state.

        """
        if isinstance(input, PackedSequence):
            return self._forward_packed(input, hx)
        if input.dim() not in (2, 3):
            raise ValueError(f"{type(self).__name__}: Expected input to be 2D or 3D, got {input.dim()}D instead")
        alone = input.dim() == 2
        batch_axis = 0 if self.batch_first else 1
        if hx is not None:
            self._check_axes(hx, input.dim())
        if alone:
            input = ops.unsqueeze(input, batch_axis)
            hx = hx if hx is None else self._each(hx, lambda state: ops.unsqueeze(state, 1))
        hidden = self._new_hidden(input, None) if hx is None else hx
        self.check_forward_args(input, hidden, None)
        output, hidden = self._call_engine(input, None, hidden)
        if alone:
            return ops.squeeze(output, batch_axis), self._each(hidden, lambda state: ops.squeeze(state, 1))
        return output, hidden

    def _check_axes(self, hx, axes):
        if hx.dim() != axes:
            kind = "batched" if axes == 3 else "unbatched"
            raise RuntimeError(f"For {kind} {axes}-D input, hx should also be {axes}-D but got {hx.dim()}-D tensor")

    def _forward_packed(self, packed, hx):
        input, batch_sizes, sorted_indices, unsorted_indices = packed
        hidden = (self._new_hidden(input, batch_sizes) if hx is None else self.permute_hidden(hx, sorted_indices))
        self.check_forward_args(input, hidden, batch_sizes)
        output, hidden = self._call_engine(input, batch_sizes, hidden)
        made = PackedSequence(output, batch_sizes, sorted_indices, unsorted_indices)
        return made, self.permute_hidden(hidden, unsorted_indices)

    def extra_repr(self):
        """Return sizes and what differs from the defaults as text."""
        text = f"{self.input_size}, {self.hidden_size}"
        for name, usual in (("proj_size", 0), ("num_layers", 1), ("bias", True), ("batch_first", False), ("dropout", 0),
                            ("bidirectional", False)):
            if getattr(self, name) != usual:
                text += f", {name}={getattr(self, name)}"
        return text

    def __getstate__(self):
        # PyTorch keeps the list too, and wants to find it.
        return {**super().__getstate__(), "_flat_weights": self._flat_weights}

    def __setstate__(self, d):
        super().__setstate__(d)
        self.__dict__.pop("_flat_weights", None)
        self.__dict__.setdefault("proj_size", 0)
        if "all_weights" in d:
            self._all_weights = self.__dict__.pop("all_weights")


def _autocast():
    from dragon.core import modes
    return modes.autocast_dtype() is not None


class RNN(RNNBase):
    """Elman's recurrent layer, `h' = tanh(W_ih x + b_ih + W_hh h + b_hh)`.

    Parameters
    ----------
    input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, device, dtype
        See RNNBase; the fourth positional argument is `nonlinearity`.
    nonlinearity : {"tanh", "relu"}, optional
        The activation.

    """

    def __init__(self, *args, **kwargs):
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        nonlinearity = args[3] if len(args) > 3 else kwargs.pop("nonlinearity", "tanh")
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__("RNN_" + nonlinearity.upper(), *args[:3], *args[4:], **kwargs)
        self.nonlinearity = nonlinearity


class LSTM(RNNBase):
    """Long short-term memory: of `(L, N, input_size)` comes `(L, N, hidden_size)`, and the last states.

    There are two, each `(num_layers, N, hidden_size)`; `batch_first` puts `N` before `L`.

    Parameters
    ----------
    *args : int
        `input_size`, `hidden_size`, and those of `RNNBase` that follow.
    **kwargs : Any
        The same by name: `num_layers`, `bias`, `batch_first`, `dropout`, `bidirectional`, `proj_size`.

    Examples
    --------
    >>> layer = nn.LSTM(10, 20, batch_first=True)
    >>> output, (h, c) = layer(torch.zeros(8, 5, 10))
    >>> output.shape, h.shape
    (torch.Size([8, 5, 20]), torch.Size([1, 8, 20]))

    """

    def __init__(self, *args, **kwargs):
        super().__init__("LSTM", *args, **kwargs)

    def get_expected_cell_size(self, input, batch_sizes):
        """Return the shape of the cells that go with an input."""
        return self._state_shape(input, batch_sizes, self.hidden_size)

    def check_forward_args(self, input, hidden, batch_sizes):
        """Raise unless input, state and cells suit the layer."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden[0], self.get_expected_hidden_size(input, batch_sizes),
                               "Expected hidden[0] size {}, got {}")
        self.check_hidden_size(hidden[1], self.get_expected_cell_size(input, batch_sizes),
                               "Expected hidden[1] size {}, got {}")

    def permute_hidden(self, hx, permutation):
        """Return state and cells with the batch in another order."""
        if permutation is None:
            return hx
        return _apply_permutation(hx[0], permutation), _apply_permutation(hx[1], permutation)

    def _new_hidden(self, input, batch_sizes):
        state = super()._new_hidden(input, batch_sizes)
        return state, ops.zeros(self.get_expected_cell_size(input, batch_sizes), dtype=input.dtype, device=input.device)

    def _each(self, hidden, function):
        return function(hidden[0]), function(hidden[1])

    def _check_axes(self, hx, axes):
        if hx[0].dim() != axes or hx[1].dim() != axes:
            kind, these = ("batched 3-D", "3-D") if axes == 3 else ("unbatched 2-D", "2-D")
            raise RuntimeError(f"For {kind} input, hx and cx should also be {these} but got ({hx[0].dim()}-D, "
                               f"{hx[1].dim()}-D) tensors")

    def _call_engine(self, input, batch_sizes, hidden):
        output, state, cells = super()._call_engine(input, batch_sizes, list(hidden))
        return output, (state, cells)


class GRU(RNNBase):
    """Gated recurrent units: of `(L, N, input_size)` comes `(L, N, hidden_size)`, and the last state.

    It is `(num_layers, N, hidden_size)`; `batch_first` puts `N` before `L`.

    Parameters
    ----------
    *args : int
        `input_size`, `hidden_size`, and those of `RNNBase` that follow.
    **kwargs : Any
        The same by name: `num_layers`, `bias`, `batch_first`, `dropout`, `bidirectional`.

    Examples
    --------
    >>> layer = nn.GRU(10, 20, num_layers=2, batch_first=True)
    >>> output, h = layer(torch.zeros(8, 5, 10))
    >>> output.shape, h.shape
    (torch.Size([8, 5, 20]), torch.Size([2, 8, 20]))

    """

    def __init__(self, *args, **kwargs):
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        super().__init__("GRU", *args, **kwargs)

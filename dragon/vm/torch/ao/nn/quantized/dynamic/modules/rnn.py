"""Recurrent layers and cells of weights of 8 bits."""
from dragon.vm import torch
from dragon.vm.torch.ao.nn.quantized.dynamic.modules._products import Product, quantized_weight
from dragon.vm.torch.ao.quantization.qconfig import default_dynamic_qconfig
from dragon.vm.torch.nn.modules import rnn as floats
from dragon.vm.torch.nn.modules.module import Module
from dragon.vm.torch.nn.utils.rnn import PackedSequence

GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


def _lstm(x, h, state):
    before = state[1]
    enter, forget, new, leave = (x + h).chunk(4, 1)
    cell = torch.sigmoid(forget) * before + torch.sigmoid(enter) * torch.tanh(new)
    return torch.sigmoid(leave) * torch.tanh(cell), cell


def _gru(x, h, state):
    (reset, update, new), (of_reset, of_update, of_new) = x.chunk(3, 1), h.chunk(3, 1)
    update = torch.sigmoid(update + of_update)
    new = torch.tanh(new + torch.sigmoid(reset + of_reset) * of_new)
    return ((state[0] - new) * update + new,)


STEPS = {"LSTM": _lstm, "GRU": _gru, "RNN_TANH": lambda x, h, state: (torch.tanh(x + h),),
         "RNN_RELU": lambda x, h, state: (torch.relu(x + h),)}


class PackedParameter(Module):
    """The two products of a layer in one direction.

    Parameters
    ----------
    param : Tuple[Product, Product]
        With what comes in, and with the state.

    """

    def __init__(self, param):
        super().__init__()
        self.param = param

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "param"] = tuple((one.weight, one.bias) for one in self.param)

    def _load_from_state_dict(self, state_dict, prefix, *rest):
        self.param = tuple(Product(*one) for one in state_dict.pop(prefix + "param"))
        super()._load_from_state_dict(state_dict, prefix, *rest)


def _products(mod, suffix, who):
    chosen = mod.qconfig if mod.qconfig is not None and mod.qconfig.weight is not None else default_dynamic_qconfig
    return tuple(Product(quantized_weight(getattr(mod, f"weight_{kind}{suffix}"), chosen.weight(), who),
                         getattr(mod, f"bias_{kind}{suffix}", None)) for kind in ("ih", "hh"))


def _require_qconfig(mod, kinds, who):
    if type(mod) not in kinds:
        raise AssertionError(f"{who}.from_float: got {type(mod).__name__}, expected one of "
                             f"{[kind.__name__ for kind in kinds]}: nn.quantized.dynamic.{who}.from_float only works "
                             "for these")
    if not hasattr(mod, "qconfig"):
        raise AssertionError("Input float module must have qconfig defined")


def _random_product(count, size, dtype, bias=True):
    weight = torch.randn(count, size)
    if dtype == torch.qint8:
        weight = torch.quantize_per_tensor(weight, 0.1, 0, dtype)
    elif dtype != torch.float16:
        raise RuntimeError(f"got {dtype}, expected torch.qint8 or torch.float16: Unsupported dtype for dynamic RNN "
                           "quantization")
    return Product(weight, torch.randn(count) if bias else None)


class RNNBase(Module):
    """What LSTM and GRU have in common.

    Parameters
    ----------
    mode : {"LSTM", "GRU"}
        Which of them it is.
    input_size, hidden_size : int
        The sizes of what comes in and of the state.
    num_layers : int, optional, default=1
        How many layers lie above each other.
    bias : bool, optional, default=True
        Whether biases are added.
    batch_first : bool, optional, default=False
        Whether batches lie along the first axis, and time along the second.
    dropout : float, optional, default=0.0
        How many results between layers are dropped while training.
    bidirectional : bool, optional, default=False
        Whether layers run in both directions.
    dtype : dtype, optional, default=torch.qint8
        What the weights are: `torch.qint8` or `torch.float16`.

    """

    _FLOAT_MODULE, _version = floats.RNNBase, 2

    def __init__(self, mode, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0,
                 bidirectional=False, dtype=torch.qint8):
        super().__init__()
        if mode not in ("LSTM", "GRU"):
            raise ValueError(f"Unrecognized RNN mode: {mode}")
        if not isinstance(dropout, (int, float)) or isinstance(dropout, bool) or not 0 <= dropout <= 1:
            raise ValueError(f"{mode}: got dropout={dropout!r}: dropout should be a number in range [0, 1] "
                             "representing the probability of an element being zeroed")
        self.mode, self.input_size, self.hidden_size, self.num_layers = mode, input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.bidirectional = bias, batch_first, bidirectional
        self.dropout = float(dropout)
        self.dtype, self.version, self.training = dtype, 2, False
        ways, count = 1 + bidirectional, GATES[mode] * hidden_size
        sizes = [input_size if layer == 0 else hidden_size * ways for layer in range(num_layers) for _ in range(ways)]
        self._take([(_random_product(count, size, dtype), _random_product(count, hidden_size, dtype))
                    for size in sizes])

    def _take(self, products):
        self._all_weight_values = torch.nn.ModuleList([PackedParameter(pair) for pair in products])

    def _get_name(self):
        return f"DynamicQuantized{self.mode}"

    def extra_repr(self):
        """Return what `repr` tells of it."""
        usual = {"num_layers": 1, "bias": True, "batch_first": False, "dropout": 0, "bidirectional": False}
        told = [f"{name}={getattr(self, name)}" for name, value in usual.items() if getattr(self, name) != value]
        return ", ".join([str(self.input_size), str(self.hidden_size), *told])

    def __repr__(self):
        return f"{self._get_name()}({self.extra_repr()})"

    def _one_way(self, products, x, sizes, state, is_reverse):
        """Return one direction of a layer: its results and last states. Rows of all times lie behind each other."""
        first, second = products
        steps = list(torch.split(first(x), sizes))
        made, held = [None] * len(steps), [part[:sizes[-1 if is_reverse else 0]] for part in state]
        ended = []
        for time in reversed(range(len(steps))) if is_reverse else range(len(steps)):
            size, living = sizes[time], held[0].shape[0]
            if size < living:  # these sequences have ended
                ended.append([part[size:] for part in held])
                held = [part[:size] for part in held]
            elif size > living:  # backwards, these begin here
                held = [torch.cat([part, whole[living:size]]) for part, whole in zip(held, state)]
            held = STEPS[self.mode](steps[time], second(held[0]), held)
            made[time] = held[0]
        last = [torch.cat([part, *(one[place] for one in reversed(ended))]) for place, part in enumerate(held)]
        return torch.cat(made), last

    def _layers(self, x, sizes, states):
        ways, lasts = 1 + self.bidirectional, []
        for layer in range(self.num_layers):
            sides = []
            for way in range(ways):
                place = layer * ways + way
                side, last = self._one_way(self._all_weight_values[place].param, x, sizes,
                                           [state[place] for state in states], way == 1)
                sides.append(side)
                lasts.append(last)
            x = torch.cat(sides, 1) if ways == 2 else sides[0]
            if self.dropout and self.training and layer < self.num_layers - 1:
                x = torch.nn.functional.dropout(x, self.dropout)
        return x, tuple(torch.stack(parts) for parts in zip(*lasts))

    def forward(self, input, hx=None):
        """Return the results of all times, and the last states.

        Parameters
        ----------
        input : Union[Tensor, PackedSequence]
            (time, batch, input_size), batches first if `batch_first` says so.
        hx : Union[Tensor, Tuple[Tensor, Tensor]], optional
            The first states, (layers, batch, hidden_size); zeros without them.

        Returns
        -------
        Tuple[Union[Tensor, PackedSequence], Union[Tensor, Tuple[Tensor, Tensor]]]
            The results and the last states.

        """
        packed = input if isinstance(input, PackedSequence) else None
        x = input.data if packed is not None else input
        wanted = 3 if packed is None else 2
        if x.ndim != wanted:
            raise RuntimeError(f"{self._get_name()}: input must have {wanted} dimensions, got {x.ndim}")
        if x.shape[-1] != self.input_size:
            raise RuntimeError(f"{self._get_name()}: input.size(-1) must be equal to input_size. Expected "
                               f"{self.input_size}, got {x.shape[-1]}")
        if packed is None:
            x = x.transpose(0, 1) if self.batch_first else x
            times, batch = x.shape[:2]
            sizes, x = [batch] * times, x.reshape(times * batch, self.input_size)
        else:
            sizes = packed.batch_sizes.tolist()
            batch = sizes[0]
        states = self._states(hx, batch, x, packed)
        made, last = self._layers(x, sizes, states)
        if packed is None:
            made = made.reshape(times, batch, -1)
            made = made.transpose(0, 1) if self.batch_first else made
        else:
            made = PackedSequence(made, packed.batch_sizes, packed.sorted_indices, packed.unsorted_indices)
            if packed.unsorted_indices is not None:
                last = tuple(part.index_select(1, packed.unsorted_indices) for part in last)
        return made, last if self.mode == "LSTM" else last[0]

    def _states(self, hx, batch, x, packed):
        shape = (self.num_layers * (1 + self.bidirectional), batch, self.hidden_size)
        count = 2 if self.mode == "LSTM" else 1
        if hx is None:
            return [torch.zeros(shape, dtype=x.dtype, device=x.device) for _ in range(count)]
        given = list(hx) if count == 2 else [hx]
        for part, what in zip(given, ("hidden[0] size", "hidden[1] size") if count == 2 else ("hidden size",)):
            if tuple(part.shape) != shape:
                raise RuntimeError(f"{self._get_name()}: Expected {what} {shape}, got {list(part.shape)}")
        if packed is not None and packed.sorted_indices is not None:
            given = [part.index_select(1, packed.sorted_indices) for part in given]
        return given

    @classmethod
    def from_float(cls, mod, use_precomputed_fake_quant=False):
        """Return a layer of the weights of one of floats, which has a `qconfig`.

        Parameters
        ----------
        mod : Union[LSTM, GRU]
            The layer of floats.
        use_precomputed_fake_quant : bool, optional, default=False
            Whether the module's own scales serve, which layers of floats have none of.

        Returns
        -------
        Union[LSTM, GRU]
            The layer.

        """
        _require_qconfig(mod, (floats.LSTM, floats.GRU), "RNNBase")
        if not mod.bias:
            raise AssertionError(f"{mod.mode}.from_float: got a layer without biases, expected some: mod.bias must be "
                                 "True")
        ways = ("", "_reverse")[:1 + mod.bidirectional]
        pairs = [_products(mod, f"_l{layer}{way}", mod.mode) for layer in range(mod.num_layers) for way in ways]
        dtype = torch.qint8 if pairs[0][0].weight.is_quantized else torch.float16
        made = (LSTM if mod.mode == "LSTM" else GRU)(
            mod.input_size, mod.hidden_size, mod.num_layers, mod.bias, mod.batch_first, mod.dropout, mod.bidirectional,
            dtype=dtype)
        made._take(pairs)
        return made


class LSTM(RNNBase):
    """Long short-term memory of weights of 8 bits; its arguments are `RNNBase`'s behind the mode."""

    _FLOAT_MODULE = floats.LSTM

    def __init__(self, *args, **kwargs):
        super().__init__("LSTM", *args, **kwargs)


class GRU(RNNBase):
    """Gated recurrent units of weights of 8 bits; its arguments are `RNNBase`'s behind the mode."""

    _FLOAT_MODULE = floats.GRU

    def __init__(self, *args, **kwargs):
        super().__init__("GRU", *args, **kwargs)


class RNNCellBase(Module):
    """One step of a recurrent layer.

    Parameters
    ----------
    input_size, hidden_size : int
        The sizes of what comes in and of the state.
    bias : bool, optional, default=True
        Whether biases are added.
    dtype : dtype, optional, default=torch.qint8
        What the weights are: `torch.qint8` or `torch.float16`.

    """

    mode = "RNN_TANH"

    def __init__(self, input_size, hidden_size, bias=True, dtype=torch.qint8):
        super().__init__()
        self.input_size, self.hidden_size, self.bias, self.weight_dtype = input_size, hidden_size, bias, dtype
        count = GATES[self.mode] * hidden_size
        self._packed = PackedParameter((_random_product(count, input_size, dtype, bias),
                                        _random_product(count, hidden_size, dtype, bias)))

    def _get_name(self):
        return f"DynamicQuantized{type(self).__name__}"

    def extra_repr(self):
        """Return what `repr` tells of it."""
        more = "" if self.bias else f", bias={self.bias}"
        nonlinearity = getattr(self, "nonlinearity", "tanh")
        return f"{self.input_size}, {self.hidden_size}{more}" + (
            f", nonlinearity={nonlinearity}" if nonlinearity != "tanh" else "")

    def __repr__(self):
        return f"{self._get_name()}({self.extra_repr()})"

    def forward(self, input, hx=None):
        """Return the next state, for LSTM a pair."""
        if input.shape[1] != self.input_size:
            raise RuntimeError(f"{self._get_name()}: input has inconsistent input_size: got {input.shape[1]}, expected "
                               f"{self.input_size}")
        count = 2 if self.mode == "LSTM" else 1
        zeros = torch.zeros(input.shape[0], self.hidden_size, dtype=input.dtype, device=input.device)
        state = [zeros] * count if hx is None else list(hx) if count == 2 else [hx]
        for part in state:
            if tuple(part.shape) != tuple(zeros.shape):
                raise RuntimeError(f"{self._get_name()}: got a hidden state of shape {tuple(part.shape)}, expected "
                                   f"{tuple(zeros.shape)}: hidden has inconsistent hidden_size")
        first, second = self._packed.param
        made = tuple(STEPS[self.mode](first(input), second(state[0]), state))
        return made if count == 2 else made[0]

    @classmethod
    def from_float(cls, mod, use_precomputed_fake_quant=False):
        """Return a cell of the weights of one of floats, which has a `qconfig`."""
        kinds = {floats.LSTMCell: LSTMCell, floats.GRUCell: GRUCell, floats.RNNCell: RNNCell}
        _require_qconfig(mod, tuple(kinds), "RNNCellBase")
        pair = _products(mod, "", cls.__name__)
        dtype = torch.qint8 if pair[0].weight.is_quantized else torch.float16
        more = {"nonlinearity": mod.nonlinearity} if type(mod) is floats.RNNCell else {}
        made = kinds[type(mod)](mod.input_size, mod.hidden_size, mod.bias, dtype=dtype, **more)
        made._packed.param = pair
        return made


class LSTMCell(RNNCellBase):
    """One step of long short-term memory; its arguments are `RNNCellBase`'s."""

    mode = "LSTM"


class GRUCell(RNNCellBase):
    """One step of gated recurrent units; its arguments are `RNNCellBase`'s."""

    mode = "GRU"


class RNNCell(RNNCellBase):
    """One step of a plain recurrent layer.

    Parameters
    ----------
    nonlinearity : {"tanh", "relu"}, optional, default="tanh"
        What the sums go through.
    *args
        Those of `RNNCellBase`.

    """

    def __init__(self, input_size, hidden_size, bias=True, nonlinearity="tanh", dtype=torch.qint8):
        if nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"RNNCell: got nonlinearity={nonlinearity!r}, expected 'tanh' or 'relu': Unknown "
                               "nonlinearity")
        self.mode = f"RNN_{nonlinearity.upper()}"
        super().__init__(input_size, hidden_size, bias, dtype)
        self.nonlinearity = nonlinearity

"""What recurrent networks are made of: layers, directions and steps one after the other."""
from dragon.vm.torch.core.exporting.tracer import aten


def _parts(a, x):
    """Return the slices along the first axis, without it."""
    slices = [a.slice.Tensor(x, 0, place, place + 1) for place in range(x.shape[0])]
    return [a.squeeze.dims(one, [0]) for one in slices]


def _elman(function):
    def network(a, weights):
        _, hidden, _, *biases = weights

        def step(gates, states):
            out = function(a)(a.add.Tensor(a.linear.default(states[0], hidden, *biases[1:]), gates))
            return (out,)
        return step
    return network


def _gru_steps(a, weights):
    _, hidden, _, *biases = weights
    units = [hidden.shape[1]] * 3

    def step(gates, states):
        before, = states
        reset_x, keep_x, fresh_x = a.split_with_sizes.default(gates, units, 1)
        reset, keep, fresh = a.split_with_sizes.default(a.linear.default(before, hidden, *biases[1:]), units, 2)
        reset = a.sigmoid.default(a.add.Tensor(reset, reset_x))
        keep = a.sigmoid.default(a.add.Tensor(keep, keep_x))
        fresh = a.tanh.default(a.add.Tensor(fresh_x, a.mul.Tensor(fresh, reset)))
        return (a.add.Tensor(a.mul.Tensor(a.sub.Tensor(before, fresh), keep), fresh),)
    return step


def _lstm_steps(a, weights):
    _, hidden, projection, *biases = weights
    units = [hidden.shape[0] // 4] * 4

    def step(gates, states):
        before, cell = states
        sums = a.add.Tensor(a.linear.default(before, hidden, *biases[1:]), gates)
        enter, keep, fresh, leave = a.split_with_sizes.default(sums, units, 2)
        enter, keep = a.sigmoid.default(enter), a.sigmoid.default(keep)
        fresh, leave = a.tanh.default(fresh), a.sigmoid.default(leave)
        cell = a.add.Tensor(a.mul.Tensor(keep, cell), a.mul.Tensor(enter, fresh))
        out = a.mul.Tensor(leave, a.tanh.default(cell))
        return out if projection is None else a.linear.default(out, projection), cell
    return step


def _direction(a, network, x, states, weights, is_reverse):
    """Return what one direction of a layer gives for all steps, and its last states.

    The gates' part that follows inputs is one product for all steps. A GRU and an Elman network take their state after
    it, an LSTM before: so the programs have their calls in PyTorch's order.
    """
    into, _, _, *biases = weights
    is_lstm = len(states) == 2
    if is_lstm:
        states = [a.unsqueeze.default(state, 0) for state in states]
    gates = a.linear.default(x, into, *biases[:1])
    if is_reverse:
        gates = a.flip.default(gates, [0])
    if not is_lstm:
        states = [a.unsqueeze.default(state, 0) for state in states]
    step, outs = network(a, weights), []
    for one in _parts(a, gates):
        states = step(one, states)
        outs.append(states[0])
    out = a.cat.default(outs[::-1] if is_reverse else outs)
    return out, [a.squeeze.dims(state, [0]) for state in states]


def _weights(params, has_biases, has_projection):
    """Yield (into, hidden, projection or None, biases...) of every layer and direction."""
    count = 2 + 2 * has_biases + has_projection
    for first in range(0, len(params), count):
        into, hidden, *rest = params[first:first + count]
        yield into, hidden, rest[-1] if has_projection else None, *rest[:2 * has_biases]


def _stacked(a, network, x, states, params, has_biases, layers, dropout, train, bidirectional, batch_first):
    """Return what a whole network gives and the last states of each kind; NotImplemented for steps nobody counted."""
    if x.ndim != 3 or type(x.shape[1 if batch_first else 0]) is not int:
        return NotImplemented
    directions = 2 if bidirectional else 1
    has_projection = len(params) > layers * directions * (2 + 2 * has_biases)
    places = zip(_weights(params, has_biases, has_projection), zip(*[_parts(a, state) for state in states]))
    x, last = a.transpose.int(x, 0, 1) if batch_first else x, []
    for layer in range(layers):
        outs = []
        for is_reverse in (False, True)[:directions]:
            weights, first = next(places)
            out, ends = _direction(a, network, x, first, weights, is_reverse)
            outs.append(out)
            last.append(ends)
        x = outs[0] if len(outs) == 1 else a.cat.default(outs, outs[0].ndim - 1)
        if dropout and train and layer + 1 < layers:
            x = a.dropout.default(x, dropout, True)
    x = a.transpose.int(x, 0, 1) if batch_first else x
    joined = []
    for kind in zip(*last):
        joined.append(a.view.default(a.cat.default(list(kind)), [len(kind), *kind[0].shape]))
    return x, *joined


_NETWORKS = {"lstm": _lstm_steps, "gru": _gru_steps, "rnn_tanh": _elman(lambda a: a.tanh.default),
             "rnn_relu": _elman(lambda a: a.relu.default)}


def unrolled(kind, input, hx, params, *settings):
    """Return what a network gives, step by step, and its last states; NotImplemented for steps nobody counted."""
    return _stacked(aten(), _NETWORKS[kind], input, hx if isinstance(hx, (list, tuple)) else [hx], params, *settings)

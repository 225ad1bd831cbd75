"""What one step of an LSTM is, and its gradient, as a cell's; longer sequences stay the engine's operator."""
from dragon.vm.torch.core.exporting.engine_to_aten.table import lowering


def _is_cell(projection, mode, batch_sizes):
    return mode == "lstm" and projection is None and len(batch_sizes) == 1


@lowering("recurrent_layer")
def _recurrent_layer(t, gates_x, h0, c0, weight, bias, projection, mode, reverse, batch_sizes):
    if not _is_cell(projection, mode, batch_sizes):
        return NotImplemented
    a = t.a
    sums = a.add.Tensor(gates_x, a.linear.default(h0, weight, *([] if bias is None else [bias])))
    enter, keep, fresh, leave = a.chunk.default(sums, 4, 1)
    enter, keep, leave = map(a.sigmoid.default, (enter, keep, leave))
    fresh = a.tanh.default(fresh)
    cell = a.add.Tensor(a.mul.Tensor(keep, c0), a.mul.Tensor(enter, fresh))
    out = a.mul.Tensor(leave, a.tanh.default(cell))
    gates = a.cat.default([enter, keep, fresh, leave], 1) if t.wants(3) else None
    return out, out, cell, gates, cell


@lowering("recurrent_layer_backward")
def _recurrent_layer_backward(t, dy, dhn, dcn, y, gates, cells, h0, c0, weight, bias, projection, mode, reverse,
                              batch_sizes):
    if not _is_cell(projection, mode, batch_sizes):
        return NotImplemented
    a = t.a
    enter, keep, fresh, leave = a.chunk.default(gates, 4, 1)
    slope, shown = a.add.Tensor(dy, dhn), a.tanh.default(cells)
    dcell = a.add.Tensor(dcn, a.tanh_backward.default(a.mul.Tensor(slope, leave), shown))
    dgates = a.cat.default([
        a.sigmoid_backward.default(a.mul.Tensor(dcell, fresh), enter),
        a.sigmoid_backward.default(a.mul.Tensor(dcell, c0), keep),
        a.tanh_backward.default(a.mul.Tensor(dcell, enter), fresh),
        a.sigmoid_backward.default(a.mul.Tensor(slope, shown), leave)], 1)
    return (dgates, a.mm.default(dgates, weight), a.mul.Tensor(dcell, keep),
            a.mm.default(a.t.default(dgates), h0) if t.wants(3) else None,
            a.sum.dim_IntList(dgates, [0]) if bias is not None and t.wants(4) else None, None)

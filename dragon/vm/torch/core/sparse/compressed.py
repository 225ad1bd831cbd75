"""The compressed layouts: rows or columns one after the other, of elements or of blocks, alone or in batches."""
from dragon.vm.torch.core.dtypes import OBJECTS
from dragon.vm.torch.core.sparse.coordinates import coalesce, rows_of
from dragon.vm.torch.core.sparse.keys import count_up, keys_of, product, starts_of
from dragon.vm.torch.core.sparse.parts import (BLOCKS, ROW_MAJOR, batch_dim, block_of, is_coordinates, make,
                                               make_coordinates, name_of, parts_of, sparse_dim)
from dragon.vm.torch.core.tensor import ops

INT64 = OBJECTS["int64"]


def line_indices(starts, count):
    """Return for each value in which line it stands, of starts with any number of batches; flat."""
    lengths = ops.reshape(ops.sub(starts[..., 1:], starts[..., :-1]), (-1,)).long()
    lines = starts.shape[-1] - 1
    which = count_up(lengths.shape[0], lengths)
    return ops.repeat_interleave(ops.remainder(which, lines) if lines else which, lengths)


def block_coordinates(x):
    """Return (batch indices, block rows, block columns, values) of a compressed tensor, all batches in one row."""
    starts, places, values = parts_of(x)
    batches, per_batch = batch_dim(x), places.shape[-1]
    many = product(starts.shape[:-1])
    along, across = line_indices(starts, per_batch), ops.reshape(places, (-1,)).long()
    which = ops.repeat_interleave(count_up(many, starts), per_batch)
    rows, columns = (along, across) if name_of(x) in ROW_MAJOR else (across, along)
    return which, rows, columns, ops.reshape(values, (many * per_batch, *values.shape[batches + 1:]))


def batch_rows(which, sizes):
    """Return the indices along each axis of batches from the numbers of batches."""
    rows = []
    for size in reversed(sizes):
        rows.insert(0, ops.remainder(which, max(int(size), 1)))
        which = ops.floor_divide(which, max(int(size), 1))
    return rows


def to_coordinates(x):
    """Return a compressed tensor in coordinates; batches become axes of the indices."""
    which, rows, columns, values = block_coordinates(x)
    if name_of(x) in BLOCKS:
        height, width = block_of(x)
        blocks, inner = values.shape[0], values.shape[3:]
        down, over = count_up(height, rows), count_up(width, rows)
        box = (blocks, height, width)
        rows = ops.add(ops.reshape(ops.mul(rows, height), (-1, 1, 1)), ops.reshape(down, (1, -1, 1)))
        columns = ops.add(ops.reshape(ops.mul(columns, width), (-1, 1, 1)), ops.reshape(over, (1, 1, -1)))
        rows, columns = (ops.reshape(ops.expand(part, box), (-1,)) for part in (rows, columns))
        which = ops.repeat_interleave(which, height * width)
        values = ops.reshape(values, (blocks * height * width, *inner))
    batches = batch_rows(which, x.shape[:batch_dim(x)])
    # A list of lines that is well formed is in order, but for blocks, whose lines lie across each other.
    return make_coordinates(ops.stack([*batches, rows, columns], 0), values, x.shape, name_of(x) == "sparse_csr")


def compress(x, layout, block=None):
    """Return a tensor of coordinates in a compressed layout; axes of the indices before the last two are batches."""
    rank = sparse_dim(x)
    if rank < 2:
        raise RuntimeError(f"to_{layout}: got {rank} sparse dims, expected at least 2")
    x = coalesce(x)
    indices, values = parts_of(x)
    *batches, rows, columns = rows_of(indices)
    counts = [int(size) for size in x.shape[:rank]]
    if layout in BLOCKS:
        rows, columns, values, batches = gather_blocks(layout, x, rows, columns, values, batches, block)
        counts[-2:] = counts[-2] // block[0], counts[-1] // block[1]
    by_rows = layout in ROW_MAJOR
    lines, places = (rows, columns) if by_rows else (columns, rows)
    line_count = counts[-2] if by_rows else counts[-1]
    outer = keys_of([*batches, lines], [*counts[:-2], line_count])
    if not by_rows:  # the coordinates are in the order of the rows
        outer, order = ops.sort(outer, 0, False)
        places, values = ops.index_select(places, 0, order), ops.index_select(values, 0, order)
    return join(layout, x.shape, counts[:-2], line_count, outer, places, values)


def join(layout, shape, batches, lines, outer, places, values):
    """Return a compressed tensor from lines in order, all batches in one row; batches must hold equally many."""
    many = product(batches)
    starts = starts_of(outer, many * lines)
    if not batches:
        return make(layout, (starts, places, values), shape)
    firsts = ops.mul(count_up(many, starts), lines)
    begins = ops.index_select(starts, 0, firsts)
    held = ops.sub(ops.index_select(starts, 0, ops.add(firsts, lines)), begins)
    per_batch = int(held[0]) if many else 0
    if many and not bool(ops.all(ops.eq(held, per_batch))):
        raise RuntimeError(f"to_{layout}: got batches with {held.tolist()} values, expected the same number in each")
    window = ops.add(ops.reshape(firsts, (-1, 1)), ops.reshape(count_up(lines + 1, starts), (1, -1)))
    relative = ops.sub(ops.reshape(ops.index_select(starts, 0, ops.reshape(window, (-1,))), (many, lines + 1)),
                       ops.reshape(begins, (-1, 1)))
    return make(layout, (ops.reshape(relative, (*batches, lines + 1)), ops.reshape(places, (*batches, per_batch)),
                         ops.reshape(values, (*batches, per_batch, *values.shape[1:]))), shape)


def gather_blocks(layout, x, rows, columns, values, batches, block):
    """Return (block rows, block columns, blocks, batches): every block that holds a value, in the order of rows."""
    counts = [int(size) for size in x.shape[:sparse_dim(x)]]
    if block is None or len(block) != 2 or min(block) < 1:
        raise RuntimeError(f"to_{layout}: got blocksize {block}, expected two sizes from 1")
    height, width = (int(size) for size in block)
    if counts[-2] % height or counts[-1] % width:
        raise RuntimeError(f"to_{layout}: got blocks of {height} by {width} for a matrix of {counts[-2]} by "
                           f"{counts[-1]}, expected sizes that divide it")
    block_rows, block_columns = ops.floor_divide(rows, height), ops.floor_divide(columns, width)
    box = [*counts[:-2], counts[-2] // height, counts[-1] // width]
    keys = keys_of([*batches, block_rows, block_columns], box)
    distinct, which, _ = ops.unique(keys, return_inverse=True)
    within = ops.add(ops.mul(ops.remainder(rows, height), width), ops.remainder(columns, width))
    place = ops.add(ops.mul(which, height * width), within)
    blocks = ops.zeros((distinct.shape[0] * height * width, *values.shape[1:]), dtype=values.dtype,
                       device=values.device)
    blocks = ops.reshape(ops.index_copy(blocks, 0, place, values), (-1, height, width, *values.shape[1:]))
    first = ops.index_copy(ops.zeros_like(distinct), 0, ops.flip(which, (0,)),
                           ops.flip(count_up(which.shape[0], which), (0,)))
    pick = [ops.index_select(part, 0, first) for part in (block_rows, block_columns, *batches)]
    return pick[0], pick[1], blocks, pick[2:]


def as_coordinates(x):
    """Return any sparse tensor in coordinates."""
    return x if is_coordinates(x) else to_coordinates(x)


def transposed(x):
    """Return a compressed tensor with its two sparse axes exchanged: the same parts in the other layout."""
    starts, places, values = parts_of(x)
    axis = batch_dim(x)
    name = {"sparse_csr": "sparse_csc", "sparse_csc": "sparse_csr", "sparse_bsr": "sparse_bsc",
            "sparse_bsc": "sparse_bsr"}[name_of(x)]
    shape = list(x.shape)
    shape[axis], shape[axis + 1] = shape[axis + 1], shape[axis]
    if name in BLOCKS:
        values = ops.transpose(values, axis + 1, axis + 2)
    return make(name, (starts, places, values), shape)

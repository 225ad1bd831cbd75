"""Averages of gradients that travel as products of two thin matrices (PowerSGD, arXiv 1905.13727)."""
import logging
import math
from collections import defaultdict

from dragon.vm.torch.core.tensor import ops
from dragon.vm.torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from dragon.vm.torch.distributed.algorithms.ddp_comm_hooks._background import begin, reduce_mean
from dragon.vm.torch.distributed.algorithms.ddp_comm_hooks._power_state import PowerSGDState  # noqa: F401
from dragon.vm.torch.distributed.making import _group

logger = logging.getLogger(__name__)


def _orthogonalize(matrices, epsilon=0):
    """Make the columns of matrices orthonormal, in place."""
    if not (matrices.dim() == 3 and matrices.shape[2] <= matrices.shape[1]):
        raise AssertionError(f"_orthogonalize: got a tensor of shape {tuple(matrices.shape)}, expected a batch of "
                             "matrices with no more columns than rows")
    if matrices.shape[2] > 2 and matrices.dtype.itemsize > 2:
        matrices.copy_(ops.linalg_qr(matrices)[0])
        return
    for place in range(matrices.shape[2]):
        column = matrices[:, :, place:place + 1]
        column /= ops.linalg_vector_norm(column, dim=1, keepdim=True) + epsilon
        rest = matrices[:, :, place + 1:]
        rest -= ops.sum(column * rest, 1, keepdim=True) * column


def _should_compress(num_rows, num_cols, matrix_approximation_rank, min_compression_rate):
    """Return (whether two thin matrices are so much smaller, the numbers of a matrix, those of the two)."""
    whole, thin = num_rows * num_cols, (num_rows + num_cols) * matrix_approximation_rank
    return thin * min_compression_rate < whole, whole, thin


def _with_error(state, place, tensor):
    """Add to a bucket's gradients what the last step has left out; return a copy, by which this step's is told."""
    if not state.use_error_feedback:
        return None
    if place in state.error_dict:
        tensor.add_(state.error_dict[place])
    return tensor.clone()


def _remember(state, bucket, before, after):
    """Keep what this step has left out."""
    if before is not None:
        state.error_dict[bucket.index()] = before - after
    if not state.warm_start:
        state.p_memory_dict.clear()
        state.q_memory_dict.clear()
    state.maybe_increase_iter(bucket)


def _sort_out(state, bucket):
    """Return a bucket's matrices that are worth compressing, and its other gradients; count both."""
    thin, whole = [], []
    for gradient in bucket.gradients():
        matrix = gradient.view(gradient.shape[0], -1) if gradient.dim() else gradient.view(1, 1)
        rank = min(*matrix.shape, state.matrix_approximation_rank)
        pays, before, after = _should_compress(*matrix.shape, rank, state.min_compression_rate)
        (thin if pays else whole).append(matrix if pays else gradient)
        state.count(before, after if pays else before)
    return thin, whole


def _batches(state, matrices):
    """Return batches of matrices of one shape, each with the matrices that it was made of."""
    by_shape = defaultdict(list)
    for matrix in matrices:
        by_shape[tuple(matrix.shape)].append(matrix)
    if not state.batch_tensors_with_same_shape:
        return [(matrix.unsqueeze(0), [matrix]) for held in by_shape.values() for matrix in held]
    return [(ops.stack(held, 0) if len(held) > 1 else held[0].unsqueeze(0), held) for held in by_shape.values()]


def _factors(memory, shapes):
    """Return views of a piece of memory, of some shapes, one after the other."""
    made, at = [], 0
    for shape in shapes:
        size = math.prod(shape)
        made.append(memory[at:at + size].view(shape))
        at += size
    return made


def powerSGD_hook(state, bucket):
    """Average a bucket: small gradients as they are, and large ones as products of thin matrices, PQ^T.

    Parameters
    ----------
    state : PowerSGDState
        The rank of the products, and what is kept from step to step.
    bucket : GradBucket
        The gradients.

    Returns
    -------
    torch.futures.Future
        Of the averages.

    """
    if state.iter < state.start_powerSGD_iter:
        state.maybe_increase_iter(bucket)
        return default_hooks.allreduce_hook(state.process_group, bucket)
    core, buffer, place = _group(state.process_group)._core, bucket.buffer(), bucket.index()
    before = _with_error(state, place, buffer)
    thin, whole = _sort_out(state, bucket)
    state.report(bucket)
    batches = _batches(state, thin)
    ranks = [min(*batch.shape[1:], state.matrix_approximation_rank) for batch, _ in batches]
    p_shapes = [(len(batch), batch.shape[1], rank) for (batch, _), rank in zip(batches, ranks)]
    q_shapes = [(len(batch), batch.shape[2], rank) for (batch, _), rank in zip(batches, ranks)]
    is_new = not state.warm_start or place not in state.p_memory_dict
    if is_new:
        for memory, shapes in ((state.p_memory_dict, p_shapes), (state.q_memory_dict, q_shapes)):
            memory[place] = ops.empty((sum(map(math.prod, shapes)),), dtype=buffer.dtype, device=buffer.device)
    ps, qs = _factors(state.p_memory_dict[place], p_shapes), _factors(state.q_memory_dict[place], q_shapes)
    if is_new:
        state.draw(qs)  # here, since the generator is this thread's

    def call():
        for q in qs:
            _orthogonalize(q, state.orthogonalization_epsilon)
        if whole:
            mean = reduce_mean(ops.cat([each.reshape(-1) for each in whole], 0), core)
            for each, part in zip(whole, mean.split([each.numel() for each in whole])):
                each.copy_(part.view(each.shape))
        for (batch, _), p, q in zip(batches, ps, qs):
            p.copy_(ops.bmm(batch, q))
        _agree(state, place, batches, ps, qs, core)
        for (_, held), p, q in zip(batches, ps, qs):
            for matrix, made in zip(held, ops.bmm(p, q.transpose(1, 2))):
                matrix.copy_(made)
        _remember(state, bucket, before, buffer)
        return buffer
    return begin(state.process_group, call, like=buffer)


def _agree(state, place, batches, ps, qs, core):
    """Make the factors P of all processes one, and with them the factors Q."""
    if not batches:
        return
    p_memory, q_memory = state.p_memory_dict[place], state.q_memory_dict[place]
    ops.all_reduce(p_memory, core.number, "sum", out=p_memory)  # a factor is nothing to what is made orthonormal
    for (batch, _), p, q in zip(batches, ps, qs):
        _orthogonalize(p, state.orthogonalization_epsilon)
        q.copy_(ops.bmm(batch.transpose(1, 2), p))
    reduce_mean(q_memory, core)


def batched_powerSGD_hook(state, bucket):
    """Average a bucket as one square matrix, that is a product of thin ones: faster, and less exact.

    Parameters
    ----------
    state : PowerSGDState
        The rank of the product, and what is kept from step to step.
    bucket : GradBucket
        The gradients.

    Returns
    -------
    torch.futures.Future
        Of the averages.

    """
    if state.iter < state.start_powerSGD_iter:
        state.maybe_increase_iter(bucket)
        return default_hooks.allreduce_hook(state.process_group, bucket)
    core, buffer, place = _group(state.process_group)._core, bucket.buffer(), bucket.index()
    side, rank = math.ceil(math.sqrt(len(buffer))), state.matrix_approximation_rank
    state.count(len(buffer), side * rank * 2)
    state.report(bucket)
    square = ops.cat([buffer, ops.zeros(side * side - len(buffer), dtype=buffer.dtype, device=buffer.device)], 0)
    before = _with_error(state, place, square)
    matrix = square.view(1, side, side)
    is_new = not state.warm_start or place not in state.p_memory_dict
    if is_new:
        for memory in (state.p_memory_dict, state.q_memory_dict):
            memory[place] = ops.empty((side, rank), dtype=buffer.dtype, device=buffer.device)
        state.draw([state.q_memory_dict[place]])
    p, q = state.p_memory_dict[place].unsqueeze(0), state.q_memory_dict[place].unsqueeze(0)

    def call():
        _orthogonalize(q)
        p.copy_(ops.bmm(matrix, q))
        _agree(state, place, [(matrix, None)], [p], [q], core)
        matrix.copy_(ops.bmm(p, q.transpose(1, 2)))
        _remember(state, bucket, before, square)
        buffer.copy_(square[:len(buffer)])
        return buffer
    return begin(state.process_group, call, like=buffer)

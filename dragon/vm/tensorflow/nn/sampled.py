"""Losses that look at a few classes of many, and the samplers that choose them."""
from dragon.vm.shared.arrays.moving import take
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.tensorflow.core.numbers import samplers
from dragon.vm.tensorflow.nn.lookup import embedding_lookup
from dragon.vm.tensorflow.nn.losses import (sigmoid_cross_entropy_with_logits as _sigmoid_loss,
                                            softmax_cross_entropy_with_logits as _softmax_loss)

LOWEST = -3.4028234663852886e38  # of float32


def _logits(weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values, subtract_log_q,
            remove_accidental_hits, seed):
    """Return (logits, labels) of the true classes and of those that were drawn."""
    labels, inputs = ops.cast(take(labels), "int64"), take(inputs)
    labels = ops.reshape(labels, (-1, num_true))
    drawn = sampled_values
    if drawn is None:
        drawn = samplers.log_uniform_candidate_sampler(labels, num_true, num_sampled, True, num_classes, seed)
    candidates, true_count, drawn_count = (take(one).detach() for one in drawn)
    candidates = ops.cast(candidates, "int64")
    flat = ops.reshape(labels, (-1,))
    rows = embedding_lookup(weights, ops.cat([flat, candidates]))
    shifts = embedding_lookup(biases, ops.cat([flat, candidates]))
    count, size = flat.shape[0], inputs.shape[-1]
    true_rows = ops.reshape(ops.narrow(rows, 0, 0, count), (-1, num_true, size))
    true = ops.sum(ops.mul(ops.unsqueeze(inputs, 1), true_rows), -1)
    true = ops.add(true, ops.reshape(ops.narrow(shifts, 0, 0, count), (-1, num_true)))
    others = ops.matmul(inputs, ops.swapaxes(ops.narrow(rows, 0, count, candidates.shape[0]), 0, 1))
    others = ops.add(others, ops.narrow(shifts, 0, count, candidates.shape[0]))
    if remove_accidental_hits:
        hits = ops.any(ops.eq(ops.unsqueeze(labels, 2), ops.reshape(candidates, (1, 1, -1))), 1)
        others = ops.where(hits, ops.add(others, LOWEST), others)
    if subtract_log_q:
        true = ops.sub(true, ops.log(ops.cast(true_count, true.dtype)))
        others = ops.sub(others, ops.log(ops.cast(drawn_count, others.dtype)))
    wanted = ops.cat([ops.full_like(true, 1 / num_true), ops.zeros_like(others)], 1)
    return ops.cat([true, others], 1), wanted.detach()


def nce_loss(weights, biases, labels, inputs, num_sampled, num_classes, num_true=1, sampled_values=None,
             remove_accidental_hits=False, name="nce_loss"):
    """Return for each sample how badly its classes are told apart from some that were drawn.

    Parameters
    ----------
    weights : Union[Tensor, Sequence[Tensor]]
        (classes, size), or parts of it that take turns.
    biases : Tensor
        (classes,).
    labels : Tensor
        int64, (batch, num_true): the classes that are right.
    inputs : Tensor
        (batch, size).
    num_sampled : int
        How many classes are drawn for a batch.
    num_classes : int
        How many classes there are.
    num_true : int, optional, default=1
        How many are right for each sample.
    sampled_values : tuple, optional
        What a sampler drew; by default `tf.random.log_uniform_candidate_sampler` does.
    remove_accidental_hits : bool, optional, default=False
        Whether classes that were drawn and are right do not count as drawn.
    name : str, optional
        Accepted.

    Returns
    -------
    Tensor
        (batch,).

    """
    logits, wanted = _logits(weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values, True,
                             remove_accidental_hits, None)
    return ops.sum(_sigmoid_loss(wanted, logits), 1)


def sampled_softmax_loss(weights, biases, labels, inputs, num_sampled, num_classes, num_true=1, sampled_values=None,
                         remove_accidental_hits=True, seed=None, name="sampled_softmax_loss"):
    """Return cross entropies with the softmax over the true classes and some that were drawn; see `nce_loss`."""
    logits, wanted = _logits(weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values, True,
                             remove_accidental_hits, seed)
    return _softmax_loss(wanted, logits)


def all_candidate_sampler(true_classes, num_true, num_sampled, unique, seed=None, name=None):
    """Return all classes; see `tf.random.all_candidate_sampler`."""
    return samplers.all_candidate_sampler(true_classes, num_true, num_sampled, unique, seed)


def fixed_unigram_candidate_sampler(true_classes, num_true, num_sampled, unique, range_max, vocab_file="",
                                    distortion=1.0, num_reserved_ids=0, num_shards=1, shard=0, unigrams=(), seed=None,
                                    name=None):
    """Return classes drawn by counts; see `tf.random.fixed_unigram_candidate_sampler`."""
    return samplers.fixed_unigram_candidate_sampler(true_classes, num_true, num_sampled, unique, range_max, vocab_file,
                                                    distortion, num_reserved_ids, num_shards, shard, unigrams, seed)


def learned_unigram_candidate_sampler(true_classes, num_true, num_sampled, unique, range_max, seed=None, name=None):
    """Return classes drawn by what is right; see `tf.random.learned_unigram_candidate_sampler`."""
    return samplers.learned_unigram_candidate_sampler(true_classes, num_true, num_sampled, unique, range_max, seed)


def compute_accidental_hits(true_classes, sampled_candidates, num_true, seed=None, name=None):
    """Return (samples, places of the draw, weights) where a class that was drawn is right."""
    return samplers.compute_accidental_hits(true_classes, sampled_candidates, num_true, seed)

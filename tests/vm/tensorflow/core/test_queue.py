"""Queues, beside the genuine ones."""
import threading

import numpy as np
import pytest

from dragon.vm import tensorflow as ours
from harness import genuine


def numbers(value):
    """Return a result as lists."""
    if isinstance(value, dict):
        return {name: numbers(one) for name, one in value.items()}
    return [numbers(one) for one in value] if isinstance(value, list) else np.asarray(value.numpy()).tolist()


def use(tf):
    """Return what several queues give."""
    found = []
    q = tf.queue.FIFOQueue(3, [tf.int32, tf.float32], shapes=[[], [2]])
    q.enqueue([1, [1.0, 2.0]])
    q.enqueue_many([[2, 3], [[3.0, 4.0], [5.0, 6.0]]])
    found += [q.size(), q.dequeue(), q.dequeue_many(2), q.is_closed()]
    q = tf.queue.FIFOQueue(3, tf.string, names="word", shapes=[[]])
    q.enqueue({"word": "a"})
    found += [q.dequeue()]
    q = tf.queue.PaddingFIFOQueue(9, tf.int32, [[None]])
    for row in ([1], [2, 3], []):
        q.enqueue(tf.constant(row, tf.int32))
    found += [q.dequeue_many(3)]
    q = tf.queue.PriorityQueue(9, tf.string, shapes=[[]])
    for rank, word in ((5, "five"), (1, "one"), (3, "three")):
        q.enqueue([tf.constant(rank, tf.int64), word])
    q.close()
    found += [q.dequeue(), q.dequeue_many(2), q.is_closed()]
    q = tf.queue.RandomShuffleQueue(9, 0, tf.int32, shapes=[[]])
    q.enqueue_many([[4, 4, 4]])
    return [*found, q.dequeue_many(2)]


def test_as_genuine():
    assert [numbers(one) for one in use(ours)] == [numbers(one) for one in use(genuine.tf)]


def test_waiting_and_closing():
    q = ours.queue.FIFOQueue(1, ours.int32, shapes=[[]])
    worker = threading.Thread(target=lambda: [q.enqueue(number) for number in range(3)])
    worker.start()
    assert [int(q.dequeue()) for _ in range(3)] == [0, 1, 2]
    worker.join(10)
    q.close()
    with pytest.raises(ours.errors.OutOfRangeError, match="closed and has insufficient"):
        q.dequeue()
    with pytest.raises(ours.errors.CancelledError, match="closed"):
        q.enqueue(1)


def test_refusals():
    with pytest.raises(ValueError, match="same length as dtypes"):
        ours.queue.FIFOQueue(1, [ours.int32, ours.int32], shapes=[[]])
    with pytest.raises(ValueError, match="incompatible"):
        ours.queue.FIFOQueue(1, ours.int32, shapes=[[2]]).enqueue([[1, 2, 3]])
    with pytest.raises(ValueError, match="Cannot enqueue a dictionary"):
        ours.queue.FIFOQueue(1, ours.int32).enqueue({"a": 1})

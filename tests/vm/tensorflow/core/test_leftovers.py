"""Tables, sets, strategies of one replica, forward derivatives, messages: whole little programs on both sides."""
from harness.expressions import check
from harness.subresults import each

PROGRAMS = {
    "static table": """
t = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(['a', 'b'], [1, 2]), -1)
return [t.lookup(tf.constant([['a', 'z'], ['b', 'a']])), t.size(), t[tf.constant('b')], t.key_dtype.name]""",
    "static table of numbers": """
init = tf.lookup.KeyValueTensorInitializer(tf.constant([1, 2], tf.int64), ['x', 'y'])
return tf.lookup.StaticHashTable(init, '?').lookup(tf.constant([2, 5], tf.int64))""",
    "static table: other keys": """
t = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(['a'], [1]), -1)
return t.lookup(tf.constant([1]))""",
    "static table: contradiction": """
return tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(['a', 'a'], [1, 2]), -1)""",
    "vocabulary": """
init = tf.lookup.KeyValueTensorInitializer(['a', 'b'], tf.constant([0, 1], tf.int64))
t = tf.lookup.StaticVocabularyTable(init, 5)
return [t.lookup(tf.constant(['b', 'what', 'is', 'this', 'a'])), t.size()]""",
    "file": """
import os, tempfile
path = os.path.join(tempfile.mkdtemp(), 'words.txt')
open(path, 'w').write('red\\ngreen\\nblue\\n')
init = tf.lookup.TextFileInitializer(path, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64,
                                     tf.lookup.TextFileIndex.LINE_NUMBER)
return tf.lookup.StaticHashTable(init, -1).lookup(tf.constant(['blue', 'pink']))""",
    "mutable table": """
t = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
t.insert(tf.constant(['a', 'b']), [1, 2])
t.insert(tf.constant(['a']), [9])
t.remove(tf.constant(['b']))
return [t.lookup(tf.constant(['a', 'b'])), t.size()]""",
    "sets": """
a, b = tf.constant([[1, 2, 2], [3, 4, 5]]), tf.constant([[2, 7, 7], [5, 3, 9]])
return [tf.sparse.to_dense(f(a, b)) for f in (tf.sets.intersection, tf.sets.union, tf.sets.difference)]""",
    "sets of text": """
return tf.sets.intersection(tf.constant([['a', 'b']]), tf.constant([['b', 'c']])).values""",
    "set sizes": "return tf.sets.size(tf.sparse.from_dense([[1, 1, 2], [3, 0, 0]]))",
    "sets of vectors": "return tf.sets.union([1], [2])",
    "strategies": """
s = tf.distribute.MirroredStrategy(['/cpu:0'])
with s.scope():
    v = tf.Variable(3.)
    inside = tf.distribute.get_strategy() is s, tf.distribute.in_cross_replica_context()
def step(x):
    c = tf.distribute.get_replica_context()
    return c.all_reduce('sum', x * v), c.num_replicas_in_sync
y, count = s.run(step, args=(tf.constant([1., 2.]),))
return [inside, y, count, s.num_replicas_in_sync, s.reduce(tf.distribute.ReduceOp.SUM, y, axis=None),
        s.reduce('MEAN', y, axis=0), tf.distribute.has_strategy(),
        tf.distribute.get_strategy().num_replicas_in_sync]""",
    "forward": """
x, d = tf.constant([[2., 3.], [1., 4.]]), tf.constant([[1.], [-1.]])
with tf.autodiff.ForwardAccumulator(x, tf.constant([[1., 0.], [0., 1.]])) as acc:
    y = tf.reduce_sum(tf.tanh(x @ d) * x, axis=1)
    z = tf.constant(1.)
return [acc.jvp(y), acc.jvp(z) is None, acc.jvp(z, unconnected_gradients='zero')]""",
    "forward: two primals": """
v, x = tf.Variable(2.), tf.constant(3.)
with tf.autodiff.ForwardAccumulator([v, x], [tf.constant(1.), tf.constant(10.)]) as acc: y = v * x * x
return acc.jvp(y)""",
    "messages": """
p = tf.make_tensor_proto([[1., 2.]], shape=[2, 1])
return [tf.make_ndarray(p), tf.make_ndarray(tf.make_tensor_proto(['a'])), p.dtype]""",
    "paddings": "return list(tf.required_space_to_batch_paddings([5, 6], [2, 4]))",
}


@each("title", PROGRAMS)
def test_program(title):
    check(PROGRAMS[title], 1e-4)

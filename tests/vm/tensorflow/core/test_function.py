"""Functions as graphs, control flow, modules and arrays of tensors beside genuine ones."""
from harness.expressions import check
from harness.subresults import each

PROGRAMS = {
    "calls": """
@tf.function
def f(x, y=2): return x * y, {'a': x + 1}
return [list(f(tf.constant([1, 2]))[0].numpy()), f(tf.constant(3), 4)[1]['a'], f(2)[0]]""",
    "traces": """
log = []
@tf.function
def f(x):
    log.append(1)
    return x * 2
for x in (tf.constant([1.]), tf.constant([2.]), tf.constant([1., 2.]), tf.constant([1]), 3, 3, 4, np.float32(1)): f(x)
return [len(log), f.experimental_get_tracing_count()]""",
    "signature": """
@tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
def f(x): return x + 1.
return [f([1., 2.]), f(tf.constant([3.])), f(np.array([1], np.float32))]""",
    "signature: shape": """
@tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
def f(x): return x
return f([[1.]])""",
    "signature: dtype": """
@tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
def f(x): return x
return f(tf.constant([1]))""",
    "signature: count": """
@tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
def f(x): return x
return f([1.], [2.])""",
    "signature: no spec": "return tf.function(lambda x: x, input_signature=[3])(1)",
    "variables": """
v = tf.Variable(1.)
@tf.function
def f(x):
    v.assign_add(x)
    return v
return [f(2.), f(tf.constant(3.)), f(tf.constant(3.)), v.numpy()]""",
    "reads and writes": """
v = tf.Variable(1.)
@tf.function
def f():
    old = tf.identity(v)
    v.assign_add(1.)
    new = v.read_value()
    v.assign(v * 10.)
    return old, new, v + 0.
return [list(f()), list(f()), list(f()), v.numpy()]""",
    "made at the first call": """
class Counter:
    def __init__(self): self.v = None
    @tf.function
    def __call__(self, x):
        if self.v is None: self.v = tf.Variable(10.)
        return self.v.assign_add(x)
c = Counter()
return [c(tf.constant(1.)).numpy(), c(tf.constant(1.)).numpy(), c(tf.constant(1.)).numpy()]""",
    "gradients through": """
v = tf.Variable(3.)
@tf.function
def f(x): return x * x * v
out = []
for value in (2., 4.):
    x = tf.constant(value)
    with tf.GradientTape() as t:
        t.watch(x)
        y = f(x) * 2.
    out += t.gradient(y, [x, v])
return out""",
    "gradients within": """
w = tf.Variable([[1., 2.], [3., 4.]])
@tf.function
def step(x):
    with tf.GradientTape() as t: y = (x @ w) ** 2.
    g = t.gradient(y, w)
    w.assign_sub(0.01 * g)
    return g
return [step(tf.constant([[1., 2.]])), step(tf.constant([[1., 2.]])), step(tf.constant([[3., 4.]])), w.numpy()]""",
    "branches": """
@tf.function
def f(x):
    if x > 0.: return x
    return -x * 2.
return [f(tf.constant(1.)), f(tf.constant(-1.)), f(tf.constant(2.))]""",
    "loops": """
@tf.function
def f(x, n):
    i = tf.constant(0)
    while i < n:
        x = x * 2.
        i += 1
    return x
return [f(tf.constant(1.), tf.constant(3)), f(tf.constant(1.), tf.constant(5))]""",
    "loops over a range": """
@tf.function
def f(x):
    total = tf.constant(0.)
    for e in x: total += e
    for i in tf.range(3): total += tf.cast(i, tf.float32)
    return total
return [f(tf.constant([1., 2.])), f(tf.constant([3., 4.]))]""",
    "methods": """
class A(tf.Module):
    def __init__(self, k): self.k = tf.Variable(k)
    @tf.function
    def f(self, x): return x * self.k
a, b = A(2.), A(3.)
return [a.f(tf.constant(1.)), b.f(tf.constant(1.)), a.f(tf.constant(5.))]""",
    "concrete": """
@tf.function
def f(x, y): return x + y
c = f.get_concrete_function(tf.TensorSpec([2], tf.float32), tf.TensorSpec([], tf.float32))
return [c(tf.constant([1., 2.]), tf.constant(1.)), c.structured_outputs.shape.as_list(), c.outputs[0].dtype.name]""",
    "concrete: shapes and writes": """
v = tf.Variable([[1., 2.], [3., 4.]])
@tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32)])
def f(x):
    v.assign_add([[1., 1.], [1., 1.]])
    return x @ v, tf.reduce_sum(x, 1)
c = f.get_concrete_function()
return [[s.shape.as_list() for s in c.outputs], v.numpy().tolist(), c(tf.ones([1, 2])), v.numpy().tolist()]""",
    "eagerly": """
tf.config.run_functions_eagerly(True)
try:
    log = []
    @tf.function
    def f(x):
        log.append(1)
        return x
    for _ in range(3): f(tf.constant(1.))
    return [len(log), tf.config.functions_run_eagerly()]
finally:
    tf.config.run_functions_eagerly(False)""",
    "options": """
@tf.function(jit_compile=True, reduce_retracing=True)
def f(x): return x * 2.
return [f(tf.constant([1.])), f(tf.constant([1., 2.])), f(tf.constant([1., 2., 3.]))]""",
    "returns": """
@tf.function
def f(x): return None, 1, 2.5, True, [x, (x,)], np.float64(2)
r = f(tf.constant(1.))
return [r[0] is None, r[1], r[2], r[3], r[4][0], r[4][1][0], r[5]]""",
    "within": """
@tf.function
def f(): return tf.executing_eagerly(), tf.inside_function()
a, b = f()
return [bool(a), bool(b), tf.executing_eagerly(), tf.inside_function()]""",
    "no function": "return tf.function(3)",
    "shapes": """
@tf.function
def f(x):
    s = tf.shape(x)
    return tf.reshape(x, [s[0] * s[1], -1]), tf.zeros([s[0], 2]), s
return [list(f(tf.ones([2, 3, 4]))), list(f(tf.ones([5, 1, 2])))]""",
    "cond": """
return [tf.cond(tf.constant(True), lambda: 1, lambda: 2),
        tf.cond(False, lambda: tf.constant(1), lambda: tf.constant(2))]""",
    "cond: no function": "return tf.cond(True, 1, 2)",
    "case": """
x = tf.constant(3)
return [tf.case([(x < 2, lambda: tf.constant(1)), (x < 5, lambda: tf.constant(2))], default=lambda: tf.constant(3)),
        tf.case([(x < 2, lambda: tf.constant(1)), (x < 3, lambda: tf.constant(2))], default=lambda: tf.constant(3))]""",
    "case: exclusive": """
x = tf.constant(1)
return tf.case([(x < 2, lambda: tf.constant(1)), (x < 5, lambda: tf.constant(2))], exclusive=True)""",
    "switch": """
f = [lambda: tf.constant(10), lambda: tf.constant(20), lambda: tf.constant(30)]
return [tf.switch_case(tf.constant(1), f), tf.switch_case(tf.constant(7), f),
        tf.switch_case(tf.constant(7), dict(enumerate(f)), default=lambda: tf.constant(0))]""",
    "while": """
i, s = tf.while_loop(lambda i, s: i < 5, lambda i, s: (i + 1, s + i), (tf.constant(0), tf.constant(0)))
j = tf.while_loop(lambda i: i < 100, lambda i: [i * 2], [tf.constant(1)], maximum_iterations=3)
return [i, s, j]""",
    "map": """
x = tf.constant([[1., 2.], [3., 4.]])
return [tf.map_fn(lambda r: tf.cast(r[0], tf.int32), x, fn_output_signature=tf.int32),
        tf.map_fn(lambda p: (p[0] + p[1], p[0]), (x, x * 2)), tf.vectorized_map(lambda r: r * 2., x),
        tf.map_fn(lambda r: {'a': r}, x, fn_output_signature={'a': tf.float32})['a']]""",
    "map: dtype": "return tf.map_fn(lambda r: tf.cast(r, tf.int32), tf.constant([1., 2.]))",
    "map: scalar": "return tf.map_fn(lambda r: r, tf.constant(1.))",
    "folds": """
x = tf.constant([1, 2, 3, 4])
return [tf.scan(lambda a, e: a + e, x), tf.scan(lambda a, e: a * e, x, initializer=10), tf.foldl(lambda a, e: a - e, x),
        tf.foldr(lambda a, e: a - e, x), tf.scan(lambda a, e: a + e, x, reverse=True),
        tf.scan(lambda a, e: (a[0] + e, a[1] * e), x, initializer=(0, 1))]""",
    "tensor array": """
a = tf.TensorArray(tf.float32, size=2, dynamic_size=True)
for i in range(3): a = a.write(i, [float(i), 1.])
b = tf.TensorArray(tf.int32, 3).unstack([5, 6, 7])
return [a.stack(), a.size(), a.concat(), b.read(1), b.gather([2, 0])]""",
    "tensor array: bounds": "return tf.TensorArray(tf.float32, 1).write(3, 1.)",
    "tensor array: twice": """
a = tf.TensorArray(tf.float32, 1).write(0, 1.)
a.read(0)
return a.read(0)""",
    "tensor array: shapes": """
a = tf.TensorArray(tf.float32, 2).write(0, [1.])
return a.write(1, [1., 2.])""",
    "modules": """
class Inner(tf.Module):
    def __init__(self): super().__init__(name='inner'); self.b = tf.Variable(2., name='b')
class Outer(tf.Module):
    def __init__(self):
        super().__init__()
        self.z = tf.Variable(1., name='z')
        self.a = [Inner(), {'k': tf.Variable(3, name='k'), 'i': Inner()}]
        self.t = tf.Variable(4., trainable=False, name='t')
        self.text = 'x'
    @tf.Module.with_name_scope
    def make(self): return tf.Variable(0., name='v').name
o = Outer()
return [[v.name for v in o.variables], [v.name for v in o.trainable_variables], len(o.submodules), o.name, o.make(),
        [v.name for v in o.non_trainable_variables]]""",
    "module names": "return tf.Module(name='not one')",
    "name scopes": """
with tf.name_scope('a') as outer:
    with tf.name_scope('b'): inner, found = tf.Variable(1, name='x').name, tf.get_current_name_scope()
return [outer, inner, found]""",
    "nest": """
s = {'b': [1, (2, 3)], 'a': 4}
return [tf.nest.flatten(s), str(tf.nest.map_structure(lambda x: x * 2, s)),
        str(tf.nest.pack_sequence_as(s, [1, 2, 3, 4])), tf.nest.is_nested(s), tf.nest.is_nested('a')]""",
    "nest: unequal": "return tf.nest.map_structure(lambda a, b: a, [1, 2], [1])",
    "nest: kinds": "return tf.nest.assert_same_structure([1, 2], (1, 2))",
    "nest: count": "return tf.nest.pack_sequence_as([1, 2], [1])",
    "python functions": """
return [tf.py_function(lambda x: x * 2, [tf.constant(1.)], tf.float32),
        tf.numpy_function(lambda x, y: x + y, [tf.constant([1.]), tf.constant([2.])], tf.float32)]""",
    "slices": """
s = tf.IndexedSlices(tf.constant([[1., 2.], [3., 4.]]), tf.constant([2, 2]), tf.constant([3, 2]))
return [tf.convert_to_tensor(s), s.shape.as_list()]""",
    "specs": """
a = tf.TensorSpec([None, 2])
return [a.is_compatible_with(tf.ones([3, 2])), a.is_compatible_with(tf.ones([3, 3])), a == tf.TensorSpec([None, 2]),
        str(tf.type_spec_from_value(tf.constant([1]))), str(a.most_specific_compatible_type(tf.TensorSpec([4, 2])))]""",
    "asserts": """
tf.debugging.assert_equal([1, 2], [1, 2])
tf.debugging.assert_less([1], 2)
tf.debugging.assert_shapes([(tf.ones([2, 3]), ('a', 'b')), (tf.ones([3]), ('b',))])
tf.debugging.assert_near([1.], [1.0000001])
return tf.debugging.assert_greater([1, 2], [1, 1])""",
    "asserts: shapes": "return tf.debugging.assert_shapes([(tf.ones([2, 3]), ('a', 'a'))])",
    "asserts: rank": "return tf.debugging.assert_rank([1], 2)",
    "asserts: finite": "return tf.debugging.assert_all_finite([1., float('nan')], 'bad')",
    "ensure shape": "return tf.ensure_shape([1, 2], [3])",
    "shape arithmetic": """
a = tf.TensorShape([None, 2])
return [a.merge_with([3, None]).as_list(), a.concatenate([4]).as_list(), a.is_compatible_with([3, 3]), a.rank, a[1],
        a[:1].as_list(), a.num_elements(), tf.TensorShape([2, 3]).num_elements(), str(a), bool(tf.TensorShape(None)),
        a.most_specific_compatible_shape([3, 4]).as_list(), tf.TensorShape([2]) + [3] == [2, 3]]""",
    "shape: negative": "return tf.TensorShape([-2])",
    "dtypes": """
return [tf.as_dtype('float32').name, tf.as_dtype(np.int64).name, tf.as_dtype(float).name, tf.int32.max, tf.uint8.min,
        tf.float16.size, tf.bool.is_bool, tf.complex64.real_dtype.name, tf.bfloat16.is_floating, tf.string.size,
        tf.int8.as_numpy_dtype is np.int8, tf.as_dtype(1).name, tf.float32.as_datatype_enum, tf.uint16.is_unsigned]""",
    "a return that raises what is caught": """
def bad(x): raise ValueError('no')
@tf.function
def f(c):
    if c: return tf.constant(2)
    try:
        return bad(c)
    except ValueError:
        pass
    return tf.constant(1)
return f(tf.constant(False)), f(True), f(False)""",
    "switch_case of nothing": """
@tf.function
def f(x): return tf.switch_case(x, [])
return f(tf.constant(0))""",
    "map_fn of another dtype in the way that is not gone": """
@tf.function
def f(x, c):
    if c: x = tf.map_fn(lambda e: tf.cast(e, tf.float32), x)
    return x
return f(tf.constant([1, 2]), tf.constant(False))""",
    "map_fn of another dtype in the way that is gone": """
@tf.function
def f(x, c):
    if c: x = tf.map_fn(lambda e: tf.cast(e, tf.float32), x)
    return x
return f(tf.constant([1, 2]), tf.constant(True))""",
    "dtypes: unknown": "return tf.as_dtype('float33')",
}


@each("title", PROGRAMS)
def test_program(title):
    check(PROGRAMS[title], tolerance=1e-4)

"""Tapes, functions with their own gradients, and variables beside genuine ones: whole little programs."""
from harness.expressions import check
from harness.subresults import each

PROGRAMS = {
    "variables are watched": """
v = tf.Variable([1., 2.])
with tf.GradientTape() as t: y = v * v
return t.gradient(y, v)""",
    "constants are not": """
x = tf.constant(3.)
with tf.GradientTape() as t: y = x * x
return t.gradient(y, x) is None""",
    "watch": """
x = tf.constant(3.)
with tf.GradientTape() as t:
    t.watch(x)
    y = x * x * x
return t.gradient(y, x)""",
    "structures": """
v, w = tf.Variable(2.), tf.Variable(3.)
with tf.GradientTape() as t: y = v * v * w
g = t.gradient(y, {'v': v, 'w': [w]})
return [g['v'], g['w'][0]]""",
    "several targets are summed": """
v = tf.Variable(2.)
with tf.GradientTape() as t: y, z = v * v, v * 3.
return t.gradient([y, z], v)""",
    "output gradients": """
v = tf.Variable([1., 2.])
with tf.GradientTape() as t: y = v * v
return t.gradient(y, v, output_gradients=tf.constant([10., 100.]))""",
    "second use": """
v = tf.Variable(2.)
with tf.GradientTape() as t: y = v * v
t.gradient(y, v)
return t.gradient(y, v)""",
    "persistent": """
v = tf.Variable(2.)
with tf.GradientTape(persistent=True) as t:
    y = v * v
    z = y * y
return [t.gradient(y, v), t.gradient(z, v), t.gradient(z, y)]""",
    "reset": """
x, y = tf.Variable(2.), tf.Variable(3.)
with tf.GradientTape() as t:
    y_sq = y * y
    t.reset()
    z = x * x + y_sq
g = t.gradient(z, {'x': x, 'y': y})
return [g['x'], g['y']]""",
    "reset, and watched again": """
x, y = tf.Variable(2.), tf.constant(3.)
with tf.GradientTape(persistent=True) as t:
    t.watch(y)
    a = y * x
    t.reset()
    t.watch(y)
    z = x * x + a * y
found = [t.gradient(z, x), t.gradient(z, y), t.gradient(a, x)]
with tf.GradientTape() as t: z = x * x
return found + [t.gradient(z, x)]""",
    "nested": """
v = tf.Variable(2.)
with tf.GradientTape() as a:
    with tf.GradientTape() as b: y = v * v * v
    d = b.gradient(y, v)
return [d, a.gradient(d, v)]""",
    "inner tape watches less": """
x = tf.constant(2.)
with tf.GradientTape() as a:
    a.watch(x)
    with tf.GradientTape() as b: y = x * x
    d = b.gradient(y, x)
return [d is None, a.gradient(y, x)]""",
    "two tapes at once": """
v = tf.Variable(2.)
with tf.GradientTape() as a, tf.GradientTape() as b:
    y = v * v
    z = y * 3.
return [a.gradient(z, v), b.gradient(y, v)]""",
    "stop recording": """
v = tf.Variable(2.)
with tf.GradientTape() as t:
    y = v * v
    with t.stop_recording(): z = y * y
    u = y * 3.
return [t.gradient(u, v)]""",
    "nothing is recorded outside": """
v = tf.Variable(2.)
y = v * v
with tf.GradientTape() as t: z = y * v
return t.gradient(z, v)""",
    "a state carried over": """
v, s, found = tf.Variable(2.), tf.constant(1.), []
for _ in range(3):
    with tf.GradientTape() as t:
        s = s * 0.5 + v
        y = s * s
    found.append(t.gradient(y, v))
return found""",
    "unconnected": """
v, w = tf.Variable([2.]), tf.Variable([[1., 2.]])
with tf.GradientTape(persistent=True) as t: y = v * 2.
return [t.gradient(y, w) is None, t.gradient(y, w, unconnected_gradients='zero'),
        t.gradient(y, w, unconnected_gradients=tf.UnconnectedGradients.ZERO)]""",
    "variables left alone": """
v = tf.Variable(2.)
with tf.GradientTape(watch_accessed_variables=False) as t: y = v * v
return t.gradient(y, v) is None""",
    "variables watched by name": """
v, w = tf.Variable(2.), tf.Variable(3.)
with tf.GradientTape(watch_accessed_variables=False) as t:
    t.watch(v)
    y = v * w
return [t.gradient(y, v)]""",
    "watched variables": """
import gc
gc.collect()  # of what other programs left behind
v, w, u = tf.Variable(2.), tf.Variable(3., trainable=False), tf.Variable(4.)
with tf.GradientTape() as t: y = v * w
return [x.numpy() for x in t.watched_variables()]""",
    "untrainable": """
v = tf.Variable(2., trainable=False)
with tf.GradientTape() as t: y = v * v
return t.gradient(y, v) is None""",
    "integers": """
v = tf.Variable(2)
with tf.GradientTape() as t: y = v * v
return t.gradient(y, v) is None""",
    "assigned between": """
v = tf.Variable(2.)
with tf.GradientTape() as t: y = v * v
v.assign(10.)
return t.gradient(y, v)""",
    "assigned within": """
v = tf.Variable(2.)
with tf.GradientTape() as t:
    v.assign_add(1.)
    y = v * v
return t.gradient(y, v)""",
    "jacobian": """
v = tf.Variable([1., 2., 3.])
with tf.GradientTape() as t: y = v[:2] * v[1:]
return t.jacobian(y, v)""",
    "batch jacobian": """
x = tf.constant([[1., 2.], [3., 4.]])
with tf.GradientTape() as t:
    t.watch(x)
    y = x * x + x[:, ::-1]
return t.batch_jacobian(y, x)""",
    "hessian": """
x = tf.constant([1., 2.])
with tf.GradientTape() as a:
    a.watch(x)
    with tf.GradientTape() as b:
        b.watch(x)
        y = x[0] * x[0] * x[1]
    g = b.gradient(y, x)
return a.jacobian(g, x)""",
    "stop gradient": """
v = tf.Variable(2.)
with tf.GradientTape() as t: y = v * tf.stop_gradient(v)
return t.gradient(y, v)""",
    "through moved elements": """
v = tf.Variable([[1., 2.], [3., 4.]])
with tf.GradientTape() as t:
    y = tf.concat([tf.transpose(v)[0], tf.gather(v, [1, 1])[0]], 0) * tf.range(1., 5.)
    z = tf.stack(tf.unstack(tf.pad(tf.reshape(y, [2, 2]), [[1, 0], [0, 1]]), axis=1), 0) * 2.
return t.gradient(z, v)""",
    "through gathering": """
v = tf.Variable([[1., 2.], [3., 4.], [5., 6.]])
with tf.GradientTape() as t:
    y = tf.gather_nd(v, [[0, 1], [2, 0], [0, 1]]) * [1., 2., 3.]
    z = tf.boolean_mask(v, [True, False, True]) * 2.
    u = tf.tensor_scatter_nd_update(v, [[1]], [[9., 9.]]) * v
return t.gradient([y, z, u], v)""",
    "through where and clip": """
v = tf.Variable([-1., 0.5, 3.])
with tf.GradientTape() as t:
    y = tf.where(v > 0., v * 2., v * 3.) + tf.clip_by_value(v, 0., 1.) + tf.clip_by_norm(v, 1.)
return t.gradient(y, v)""",
    "through map_fn and while": """
v = tf.Variable([1., 2.])
with tf.GradientTape() as t:
    y = tf.map_fn(lambda e: e * e, v)
    z = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * v), (0, tf.ones([2])))[1]
return t.gradient([y, z], v)""",
    "own gradient": """
@tf.custom_gradient
def clipped(x):
    return x * x, lambda d: tf.clip_by_value(d * 2. * x, -1., 1.)
v = tf.Variable([0.1, 5.])
with tf.GradientTape() as t: y = clipped(v)
return [y, t.gradient(y, v)]""",
    "own gradient, twice": """
@tf.custom_gradient
def cube(x):
    return x ** 3., lambda d: d * 3. * x ** 2.
x = tf.constant(2.)
with tf.GradientTape() as a:
    a.watch(x)
    with tf.GradientTape() as b:
        b.watch(x)
        y = cube(x)
    d = b.gradient(y, x)
return [d, a.gradient(d, x)]""",
    "own gradient with variables": """
w = tf.Variable(3.)
@tf.custom_gradient
def f(x):
    def grad(d, variables=None): return d * w, [d * x * 10.]
    return x * w, grad
x = tf.constant(2.)
with tf.GradientTape() as t:
    t.watch(x)
    y = f(x)
return t.gradient(y, [x, w])""",
    "own gradient, two arguments": """
@tf.custom_gradient
def f(x, y):
    return [x * y, x + y], lambda a, b: (a * 2., b * 3.)
x, y = tf.Variable(2.), tf.Variable(5.)
with tf.GradientTape() as t: p, q = f(x, y)
return t.gradient([p, q], [x, y])""",
    "wrong number of gradients": """
@tf.custom_gradient
def f(x, y): return x * y, lambda d: d
x = tf.Variable(2.)
with tf.GradientTape() as t: y = f(x, x)
return t.gradient(y, x)""",
    "recomputed": """
v = tf.Variable(3.)
f = tf.recompute_grad(lambda x: x * x * v)
x = tf.constant(2.)
with tf.GradientTape() as t:
    t.watch(x)
    y = f(x)
return t.gradient(y, [x, v])""",
    "passed through": """
f = tf.grad_pass_through(lambda x: tf.cast(tf.cast(x, tf.int32), tf.float32))
x = tf.Variable([1.7, 2.2])
with tf.GradientTape() as t: y = f(x) * 3.
return [y, t.gradient(y, x)]""",
    "target is none": """
with tf.GradientTape() as t: pass
return t.gradient(None, tf.Variable(1.))""",
    "watch a number": """
with tf.GradientTape() as t: t.watch(1.)""",
    "entered twice": """
with tf.GradientTape() as t:
    with t: pass""",
    "complex": """
v = tf.Variable(tf.constant([1. + 2.j]))
with tf.GradientTape() as t: y = tf.cast(v * v, tf.float32)
return t.gradient(y, v)""",
    "identity keeps what was": """
v = tf.Variable([1., 2.])
a, b, c = tf.identity(v), v.value(), tf.convert_to_tensor(v)
v.assign([5., 6.]); v.assign_sub([1., 1.])
return [a, b, c, v.read_value(), v[0]]""",
    "parts": """
v = tf.Variable([[1., 2.], [3., 4.], [5., 6.]])
v[0].assign([9., 8.])
v[1:, 0].assign([10., 20.])
v[:, 1].assign([1., 2., 3.])
with tf.GradientTape() as t: y = v[1] * v[1]
return [v.numpy(), t.gradient(y, v), v.sparse_read([2, 0]), v.gather_nd([[0, 1]])]""",
    "rows": """
v, out = tf.Variable([[1., 2.], [3., 4.], [5., 6.]]), []
s = tf.IndexedSlices(tf.constant([[2., 3.]]), tf.constant([1]))
for name in ('update', 'add', 'sub', 'mul', 'div', 'max', 'min'):
    getattr(v, 'scatter_' + name)(s)
    out.append(v.numpy())
return out""",
    "rows added twice": """
v = tf.Variable([1., 2., 3.])
v.scatter_add(tf.IndexedSlices(tf.constant([10., 20.]), tf.constant([1, 1])))
return v.numpy()""",
    "entries": """
v, out = tf.Variable([[1., 2.], [3., 4.]]), []
for name in ('update', 'add', 'sub', 'max', 'min'):
    getattr(v, 'scatter_nd_' + name)([[0, 1], [1, 0]], [3., 5.])
    out.append(v.numpy())
return out""",
    "counting": """
v = tf.Variable(0)
return [v.count_up_to(2), v.count_up_to(2), v.numpy()]""",
    "shared": """
x = tf.constant([1., 2.])
v = tf.Variable(x)
v.assign_add(x)
w = tf.Variable(v)
v.assign([0., 0.])
return [x, v.numpy(), w.numpy()]""",
    "assign errors": """
v = tf.Variable([1., 2.])
v.assign([1., 2., 3.])""",
    "assign of another dtype": """
v = tf.Variable([1., 2.])
v.assign(tf.constant([1, 2]))""",
    "assign a wider shape": """
v = tf.Variable([1., 2.], shape=tf.TensorShape(None))
v.assign([1., 2., 3.])
return [v.numpy(), v.numpy().shape]""",
    "variable of nothing": "return tf.Variable()",
    "variable's dtype": """
return [tf.Variable(1, dtype=tf.float64).numpy(), tf.Variable(np.array([1.])).dtype.name,
        tf.Variable(lambda: tf.ones([2])).numpy()]""",
    "variable's dtype refused": "return tf.Variable(tf.constant(1), dtype=tf.float32)",
    "variable's words": """
v = tf.Variable([1., 2.], name='w', trainable=False)
return [v.name, v.trainable, v.shape.as_list(), v.dtype.name, v.is_initialized().numpy()]""",
}


@each("title", PROGRAMS)
def test_program(title):
    check(PROGRAMS[title], tolerance=1e-4)

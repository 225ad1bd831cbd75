"""Programs of branches and loops over tensors: each returns what it computed."""

RESULTS = {
    "if": """
@tf.function
def f(x):
    if tf.reduce_sum(x) > 0: y = x * 2.
    else: y = -x
    return y
return [f(tf.constant(v)) for v in ([1., 2.], [-1., -2.], [3., -1.])]""",
    "if without else": """
@tf.function
def f(x):
    if x > 3: x = x * 10
    return x
return [f(tf.constant(v)) for v in (1, 5)]""",
    "elif": """
@tf.function
def f(x):
    if x > 10: y = 1
    elif x > 5: y = 2
    elif x > 0: y = 3
    else: y = 4
    return y
return [f(tf.constant(v)) for v in (11, 6, 1, -1)]""",
    "returns": """
@tf.function
def f(x):
    if x > 10: return x
    if x > 5:
        x = x + 1
        return x * 2
    x += 100
    return x
return [f(tf.constant(v)) for v in (11, 6, 1)]""",
    "logic": """
@tf.function
def f(x):
    a = x > 0 and x < 10
    b = x < -5 or x > 5
    c = not (a or b)
    d = 0 < x < 4
    return a, b, c, d
return [list(f(tf.constant(v))) for v in (-6, -1, 2, 7, 12)]""",
    "lazy logic": """
@tf.function
def f(x, i):
    if i < 3 and x[i] > 0: return x[i]
    return tf.constant(-1.)
return [f(tf.constant([1., -2., 3.]), tf.constant(i)) for i in range(4)]""",
    "conditional expression": """
@tf.function
def f(x): return x * 2 if x > 0 else -x
return [f(tf.constant(v)) for v in (-3, 3)]""",
    "nested": """
@tf.function
def f(x, y):
    z = 0
    if x > 0:
        if y > 0:
            z = 1
        else:
            z = 2
            if y < -5: z = z * 100
        z += 10
    else:
        z = 3
    return z
return [f(tf.constant(a), tf.constant(b)) for a in (-1, 1) for b in (1, -1, -6)]""",
    "with and try": """
@tf.function
def f(x):
    try:
        with tf.name_scope('a'):
            if x > 0: y = x * 2
            else: y = x + 1
    finally:
        z = 1
    return y * z
return [f(tf.constant(v)) for v in (3, -3)]""",
    "while": """
@tf.function
def f(n):
    a, b = 0, 1
    while n > 0:
        a, b = b, a + b
        n -= 1
    return a
return [f(tf.constant(v)) for v in (0, 1, 10, 20)]""",
    "while with break": """
@tf.function
def f(n):
    i = tf.constant(0)
    while i < n:
        i += 1
        if i * i > 50: break
    return i
return [f(tf.constant(v)) for v in (3, 100)]""",
    "while with continue": """
@tf.function
def f(n):
    i, s = tf.constant(0), tf.constant(0)
    while i < n:
        i += 1
        if i % 3 == 0: continue
        s += i
        if s > 30:
            continue
        s += 100
    return s
return [f(tf.constant(v)) for v in (0, 4, 9)]""",
    "collatz": """
@tf.function
def f(n):
    steps = 0
    while n != 1:
        if n % 2 == 0: n = n // 2
        else: n = 3 * n + 1
        steps += 1
    return steps
return [f(tf.constant(v)) for v in (1, 6, 27)]""",
    "for over a tensor": """
@tf.function
def f(x):
    s, p = 0., 1.
    for e in x:
        s += e
        p *= e
    return s, p
return [list(f(tf.constant(v))) for v in ([1., 2., 3.], [4., 5., 6.])]""",
    "for over rows": """
@tf.function
def f(x):
    best = x[0]
    for row in x:
        if tf.reduce_sum(row) > tf.reduce_sum(best): best = row
    return best
return f(tf.constant([[1., 2.], [5., 6.], [3., 4.]]))""",
    "for over a range": """
@tf.function
def f(n):
    s = 0
    for i in tf.range(n): s += i
    return s
return [f(tf.constant(v)) for v in (0, 1, 5, 30)]""",
    "for over a range with steps": """
@tf.function
def f(a, b, d):
    s = tf.constant(0)
    for i in tf.range(a, b, d): s = s * 2 + i
    return s
return [f(tf.constant(a), tf.constant(b), tf.constant(d)) for a, b, d in ((0, 5, 2), (5, 0, -1), (3, 3, 1))]""",
    "for over Python's range of a tensor": """
@tf.function
def f(n):
    s = 0
    for i in range(n): s += i
    return s
return [f(tf.constant(v)) for v in (0, 5)]""",
    "for with break": """
@tf.function
def f(x, n):
    t = 0.
    for i in tf.range(n):
        if i == 3: continue
        if i > 7: break
        t += x * tf.cast(i, tf.float32)
    return t
return [f(tf.constant(1.), tf.constant(v)) for v in (0, 5, 50)]""",
    "for over a tensor with break": """
@tf.function
def f(x):
    count = 0
    for e in x:
        if e < 0: break
        count += 1
    return count
return [f(tf.constant(v)) for v in ([1, 2, -1, 3], [1, 2, 3, 4], [-1, 0, 0, 0])]""",
    "nested loops": """
@tf.function
def f(n):
    s = 0
    for i in tf.range(n):
        for j in tf.range(i):
            if j % 2 == 0: continue
            s += i * j
        if s > 40: break
    return s
return [f(tf.constant(v)) for v in (0, 3, 5, 9)]""",
    "Python's loop over tensors": """
@tf.function
def f(x):
    s = x
    for i in range(3):
        if s > 5: s = s - i
        else: s = s * 2
    return s
return [f(tf.constant(v)) for v in (1, 5, 9)]""",
    "the loop's variable afterwards": """
@tf.function
def f(n):
    i = 0
    for i in tf.range(n): pass
    return i
return [f(tf.constant(v)) for v in (1, 5)]""",
    "structures": """
@tf.function
def f(n):
    state = {'a': tf.constant(1), 'b': (tf.constant(2.), [tf.constant(3)])}
    while n > 0:
        state = {'a': state['a'] + 1, 'b': (state['b'][0] * 2., [state['b'][1][0] - 1])}
        n -= 1
    return state['a'], state['b'][0], state['b'][1][0]
return [list(f(tf.constant(v))) for v in (0, 3)]""",
    "entries and attributes": """
class Box: pass
@tf.function
def f(x):
    box, d = Box(), {'k': tf.constant(0)}
    box.value = tf.constant(1)
    if x > 0:
        box.value = x
        d['k'] = x + 1
    return box.value, d['k']
return [list(f(tf.constant(v))) for v in (5, -5)]""",
    "nested functions": """
def g(x):
    if x > 2: return x * 10
    return x
class A:
    def __init__(self): self.k = 3
    def m(self, x):
        while x < self.k: x += 1
        return x
    def __call__(self, x): return self.m(x) if x > 0 else g(-x)
@tf.function
def f(x):
    def inner(y):
        if y > 100: y = tf.constant(0)
        return y
    return inner(g(x)) + A()(x)
return [f(tf.constant(v)) for v in (1, 5, 50, -7)]""",
    "super": """
class A:
    def m(self, x):
        if x > 0: return x
        return -x
class B(A):
    def m(self, x):
        y = super().m(x)
        if y > 3: y = super().m(y) * 2
        return y
b = B()
@tf.function
def f(x): return b.m(x)
return [f(tf.constant(v)) for v in (1, -5)]""",
    "decorators": """
import functools
def twice(g):
    @functools.wraps(g)
    def wrapper(x): return g(g(x))
    return wrapper
@tf.function
@twice
def f(x):
    if x > 0: x = x - 3
    return x
return [f(tf.constant(v)) for v in (1, 10)]""",
    "closures": """
k = tf.constant(3)
def make(n):
    def f(x):
        if x > k: return x * n
        return x
    return f
return [tf.function(make(n))(tf.constant(v)) for n in (2, 5) for v in (1, 4)]""",
    "keyword arguments": """
def g(x, *args, scale=1, **more):
    if x > 0: return x * scale + sum(args) + more.get('z', 0)
    return x
@tf.function
def f(x): return g(x, *(1, 2), **{'scale': 3, 'z': 100})
return [f(tf.constant(v)) for v in (-1, 4)]""",
    "builtins": """
@tf.function
def f(x, y): return len(x), abs(y), float(y), int(y)
return list(f(tf.constant([1, 2, 3]), tf.constant(-5)))""",
    "variables": """
v = tf.Variable(0.)
@tf.function
def f(x):
    for e in x:
        if e > 0: v.assign_add(e)
        else: v.assign_sub(1.)
    return v.read_value()
return [f(tf.constant([1., -2., 3.])), f(tf.constant([1., 2., 3.])), v.numpy()]""",
    "gradients through branches and loops": """
@tf.function
def f(x):
    y = x
    for i in tf.range(3):
        if y > 2.: y = y * x
        else: y = y + x
    return y
out = []
for value in (0.5, 2., 3.):
    x = tf.constant(value)
    with tf.GradientTape() as t:
        t.watch(x)
        y = f(x)
    out += [y, t.gradient(y, x)]
return out""",
    "gradients within": """
@tf.function
def f(x):
    with tf.GradientTape() as t:
        t.watch(x)
        y = x * x if x > 1. else x * 3.
    return t.gradient(y, x)
return [f(tf.constant(v)) for v in (0.5, 2.)]""",
    "a training step": """
w = tf.Variable([1., 2.])
@tf.function
def train(xs, ys):
    loss = 0.
    for x, y in zip(tf.unstack(xs), tf.unstack(ys)):
        with tf.GradientTape() as t: l = (tf.reduce_sum(w * x) - y) ** 2
        g = t.gradient(l, w)
        w.assign_sub(0.1 * g)
        loss += l
    return loss
return [train(tf.constant([[1., 0.], [0., 1.]]), tf.constant([3., 1.])), w.numpy()]""",
    "tensor arrays in loops": """
@tf.function
def f(x):
    out = tf.TensorArray(tf.float32, size=4)
    for i in tf.range(4):
        out = out.write(i, x * tf.cast(i, tf.float32))
    return out.stack()
return [f(tf.constant([1., 2.])), f(tf.constant([3., 4.]))]""",
    "tensor arrays that grow": """
@tf.function
def f(n):
    out = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
    for i in tf.range(n): out = out.write(i, i * i)
    return out.stack()
return [f(tf.constant(3)), f(tf.constant(5))]""",
    "tensor arrays in branches": """
@tf.function
def f(x):
    out = tf.TensorArray(tf.float32, size=2)
    if x > 0.: out = out.write(0, x)
    else: out = out.write(0, -x)
    out = out.write(1, 9.)
    return out.stack()
return [f(tf.constant(2.)), f(tf.constant(-3.))]""",
    "maximum iterations": """
@tf.function
def f(n):
    x = tf.constant(1.)
    while n > 0:
        tf.autograph.experimental.set_loop_options(maximum_iterations=3)
        x = x + 1.
        n -= 1
    return x
return [f(tf.constant(10)), f(tf.constant(2))]""",
    "shape invariants": """
@tf.function
def f(n):
    v = tf.constant((0,), tf.int32)
    for i in tf.range(n):
        tf.autograph.experimental.set_loop_options(shape_invariants=[(v, tf.TensorShape([None]))])
        v = tf.concat((v, [i]), 0)
    return v
return [f(tf.constant(3)), f(tf.constant(1))]""",
    "datasets": """
@tf.function
def f(ds):
    t = tf.constant(0, tf.int64)
    for x in ds:
        if x == 1: continue
        t += x
    return t
return f(tf.data.Dataset.range(5))""",
    "datasets with break": """
@tf.function
def f(ds):
    t = tf.constant(0, tf.int64)
    for x in ds:
        if x > 3: break
        t += x
    return t
return f(tf.data.Dataset.range(10))""",
    "datasets made within": """
@tf.function
def f(n):
    t = tf.constant(0, tf.int64)
    for i, x in enumerate(tf.data.Dataset.range(4)):
        t += tf.cast(i, tf.int64) * x * n
    return t
return [f(tf.constant(v, tf.int64)) for v in (1, 2)]""",
    "side effects, once for each trace": """
log = []
@tf.function
def f(x):
    log.append('start')
    if x > 0:
        log.append('then')
        y = x
    else:
        log.append('else')
        y = -x
    for i in tf.range(3):
        log.append('round')
        y += i
    log.append('end')
    return y
out = [f(tf.constant(v)) for v in (1, -1, 2)]
return [out, [' '.join(log)], f.experimental_get_tracing_count()]""",
    "side effects of logic": """
log = []
def note(name, x):
    log.append(name)
    return x
@tf.function
def f(x):
    if note('a', x > 0) and note('b', x < 5): return 1
    return 2 if note('c', x > -3) else 3
out = [f(tf.constant(v)) for v in (1, 7, -1, -5)]
return [out, [' '.join(log)]]""",
    "checks at run time": """
@tf.function
def f(x):
    tf.debugging.assert_positive(x)
    if x > 5: tf.debugging.assert_less(x, 10)
    return x * 2
return [f(tf.constant(3)), f(tf.constant(7))]""",
    "assert": """
@tf.function(experimental_autograph_options=tf.autograph.experimental.Feature.ASSERT_STATEMENTS)
def f(x):
    assert x > 0, 'must be positive'
    return x
return f(tf.constant(3))""",
    "to_graph": """
def f(x):
    if x > 0: x = x * x
    return x
return tf.autograph.to_graph(f)(tf.constant(3))""",
    "not converted": """
@tf.autograph.experimental.do_not_convert
def g(x): return x * 2 if isinstance(x, int) else x * 3
@tf.function
def f(x):
    if x > 0: return g(x)
    return x
return [f(tf.constant(v)) for v in (3, -3)]""",
    "del": """
@tf.function
def f(x):
    y = x + 1
    if x > 0:
        t = y * 2
        y = t
        del t
    return y
return [f(tf.constant(v)) for v in (3, -3)]""",
    "generators and comprehensions": """
def g(n):
    for i in range(n): yield i
@tf.function
def f(x):
    if x > 0: y = sum([x * i for i in g(3)])
    else: y = tf.add_n([x + i for i in range(3) if i != 1])
    return y
return [f(tf.constant(v)) for v in (3, -3)]""",
    "globals": """
global counter_
counter_ = tf.constant(1)
@tf.function
def f(x):
    global counter_
    if x > 0: return x + counter_
    return x
return [f(tf.constant(v)) for v in (3, -1)]""",
    "names of one letter and flags": """
@tf.function
def f(x):
    do_return = x
    retval_ = 5
    if do_return > 0: return do_return * retval_
    break_ = 1
    return x + break_
return [f(tf.constant(v)) for v in (3, -1)]""",
}

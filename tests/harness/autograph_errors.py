"""Programs of branches and loops over tensors that TensorFlow refuses, and those that Dragon computes all the same."""

# What TensorFlow refuses, and Dragon computes as Python would.
MORE = {
    "lambda": """
f = tf.function(lambda x: tf.reduce_sum(x) if tf.reduce_max(x) > 1 else tf.reduce_max(x))
return [f(tf.constant(v)) for v in ([1, 2], [1, 1])]""",
    "while with else": """
@tf.function
def f(n):
    i = tf.constant(0)
    while i < n:
        i += 1
        if i > 5: break
    else:
        i = i + 1000
    return i
return [f(tf.constant(v)) for v in (3, 100)]""",
    "a walrus": """
@tf.function
def f(x):
    if (y := x * 2) > 4: return y
    return x
return [f(tf.constant(v)) for v in (3, 1)]""",
    "lists": """
@tf.function(experimental_autograph_options=tf.autograph.experimental.Feature.ALL)
def f(x):
    l = []
    for i in range(3): l.append(x * i)
    return tf.stack(l)
return f(tf.constant(3))""",
    "the least of tensors": """
@tf.function
def f(x, y): return min(y, 3), max(y, 3), min(x), max(x)
return list(f(tf.constant([1, 2, 3]), tf.constant(-5)))""",
}

ERRORS = {
    "a return within a branch within a branch": """
@tf.function
def f(x, y):
    z = 0
    if x > 0:
        if y > 0:
            z = 1
        else:
            z = 2
            if y < -5: return z * 100
        z += 10
    else:
        z = 3
    return z
return [f(tf.constant(a), tf.constant(b)) for a in (-1, 1) for b in (1, -1, -6)]""",
    "a return within a branch within try": """
@tf.function
def f(x):
    try:
        with tf.name_scope('a'):
            if x > 0: return x * 2
        y = x + 1
    finally:
        z = 1
    return y * z
return [f(tf.constant(v)) for v in (3, -3)]""",
    "undefined in one branch": """
@tf.function
def f(x):
    if x > 0: y = 1
    return y
return f(tf.constant(1))""",
    "undefined in the other branch": """
@tf.function
def f(x):
    if x > 0: pass
    else: y = 1
    return y
return f(tf.constant(1))""",
    "a return in one branch": """
@tf.function
def f(x):
    if x > 0: return x
f(tf.constant(1))
return 1""",
    "None in one branch": """
@tf.function
def f(x):
    y = None
    if x > 0: y = x
    return y
return f(tf.constant(1))""",
    "dtypes of branches": """
@tf.function
def f(x):
    if x > 0: y = 1
    else: y = 1.5
    return y
return f(tf.constant(1))""",
    "structures of branches": """
@tf.function
def f(x):
    if x > 0: y = (x, x)
    else: y = (x, x, x)
    return y
return f(tf.constant(1))""",
    "dtypes of rounds": """
@tf.function
def f(n):
    x = 0
    while n > 0:
        x = x + 0.5 if isinstance(x, int) else tf.cast(x, tf.float32)
        n -= 1
    return x
return f(tf.constant(1))""",
    "shapes of rounds": """
@tf.function
def f(n):
    x = tf.constant([1.])
    for i in tf.range(n): x = tf.concat([x, x], 0)
    return x
return f(tf.constant(1))""",
    "structures of rounds": """
@tf.function
def f(n):
    x = (n,)
    while n > 0:
        x = x + (n,)
        n -= 1
    return x
return f(tf.constant(1))""",
    "None before a loop": """
@tf.function
def f(n):
    x = None
    while n > 0:
        x = None
        n -= 1
    return x
return f(tf.constant(1))""",
    "undefined before a loop": """
@tf.function
def f(n):
    while n > 0:
        n -= 1 + y
        y = n
    return n
return f(tf.constant(1))""",
    "a condition that is no bool": """
@tf.function
def f(x):
    if x: return 1
    return 2
return f(tf.constant(1))""",
    "a condition of many": """
@tf.function
def f(x):
    if x > 0: return 1
    return 2
return f(tf.constant([1, 2]))""",
    "without AutoGraph, if": """
@tf.function(autograph=False)
def f(x):
    if x > 0: return x
    return -x
return f(tf.constant(1))""",
    "without AutoGraph, for": """
@tf.function(autograph=False)
def f(x):
    return [e for e in x]
return f(tf.constant([1]))""",
    "a comprehension over a tensor": """
@tf.function
def f(x): return [e * 2 for e in x]
return f(tf.constant([1, 2]))""",
    "not converted, if": """
@tf.autograph.experimental.do_not_convert
def g(x):
    if x > 0: return x
    return -x
@tf.function
def f(x): return g(x)
return f(tf.constant(1))""",
    "a break that depends on a tensor, in Python's loop": """
@tf.function
def f(x):
    for i in range(3):
        if x > i: break
        x += 1
    return x
return f(tf.constant(1))""",
    "a while that becomes a tensor's": """
@tf.function
def f(x):
    y = 0
    while y < 3: y = y + x
    return y
return f(tf.constant(1))""",
    "an error in a branch that is not taken": """
@tf.function
def f(x):
    if x > 0: raise KeyError('here')
    return x
return f(tf.constant(-1))""",
    "a check that fails": """
@tf.function
def f(x):
    tf.debugging.assert_positive(x)
    return x
f(tf.constant(1))
return f(tf.constant(-1))""",
    "an assert that fails": """
@tf.function(experimental_autograph_options=tf.autograph.experimental.Feature.ASSERT_STATEMENTS)
def f(x):
    assert x > 0
    return x
f(tf.constant(1))
return f(tf.constant(-1))""",
    "a loop without the round that it needs": """
@tf.function
def f(n):
    for i in tf.range(n): y = i
    return y
f(tf.constant(2))
return f(tf.constant(0))""",
    "variables made at every call": """
@tf.function
def f(x):
    v = tf.Variable(1.0)
    return v + x
return f(tf.constant(1.))""",
    "a range of a vector": """
@tf.function
def f(x):
    for i in tf.range(x): pass
    return x
return f(tf.constant([1, 2]))""",
    "for over a scalar": """
@tf.function
def f(x):
    for i in x: pass
    return x
return f(tf.constant(1))""",
}

"""How often `tf.function` calls the Python function, and what of it the user sees, beside genuine TensorFlow."""
import pytest
from harness.expressions import check
from harness.subresults import each

PROGRAMS = {
    "python numbers": """
@tf.function
def f(x): return x
for v in (1,2,1,True,False,1.0,2.0,'a','a',None,None): f(v) if v is not None else f(v)
return f.experimental_get_tracing_count()""",
    "sizes that a signature leaves open": """
log=[]
@tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
def f(x):
    log.append(1)
    return x*2
for n in (1,2,3,4): f(tf.ones([n]))
return [f.experimental_get_tracing_count(), len(log)]""",
    "open sizes, and a number around the function": """
c=0
@tf.function(input_signature=[tf.TensorSpec([None,None], tf.float32)])
def f(x):
    nonlocal c
    c+=1
    return tf.reduce_sum(x)*c
r=[f(tf.ones([n,m])) for n in (1,2,3,4) for m in (1,3)]
return [f.experimental_get_tracing_count(), c, r]""",
    "reduce retracing counter": """
log=[]
@tf.function(reduce_retracing=True)
def f(x):
    log.append(1)
    return x*2
for n in (1,2,3,4): f(tf.ones([n]))
return [f.experimental_get_tracing_count(), len(log)]""",
    "nested traced once": """
log=[]
@tf.function
def inner(x):
    log.append('i')
    return x+1
@tf.function
def outer(x):
    log.append('o')
    return inner(x)+inner(x)+inner(inner(x))
outer(tf.constant(1)); outer(tf.constant(2)); inner(tf.constant(3))
return [log, inner.experimental_get_tracing_count(), outer.experimental_get_tracing_count()]""",
    "nested changes its argument once": """
class Count: n = 0
count = Count()
@tf.function
def inner(x, count):
    count.n += 1
    return x*2
outer = tf.function(lambda x: inner(x, count)+inner(x, count))
return [outer(tf.ones(2)), outer(tf.ones(2)), count.n]""",
    "nested traced once per signature": """
log=[]
@tf.function
def inner(x):
    log.append('i')
    return x+1
@tf.function
def outer(x):
    log.append('o')
    return inner(x)
for n in (1,2,3): outer(tf.ones([2])*n)
outer(tf.ones([3])); inner(tf.ones([3])); inner(tf.ones([4]));outer(tf.ones([4]))
return [log, inner.experimental_get_tracing_count(), outer.experimental_get_tracing_count()]""",
    "nested in loop": """
log=[]
@tf.function
def inner(x):
    log.append('i')
    return x+1
@tf.function
def outer(x):
    log.append('o')
    for i in range(5): x=inner(x)
    for i in tf.range(3): x=inner(x)
    return x
r=[outer(tf.constant(1.)),outer(tf.constant(2.))]
return [r,log, inner.experimental_get_tracing_count(), outer.experimental_get_tracing_count()]""",
    "nested in cond": """
log=[]
@tf.function
def inner(x):
    log.append('i')
    return x+1
@tf.function
def outer(x):
    log.append('o')
    if x>0: y=inner(x)
    else: y=inner(-x)
    return y
r=[outer(tf.constant(1.)),outer(tf.constant(-2.))]
return [r,log, inner.experimental_get_tracing_count(), outer.experimental_get_tracing_count()]""",
    "nested with variables": """
log=[]
v=tf.Variable(1.)
@tf.function
def inner(x):
    log.append('i')
    v.assign_add(x)
    return v*x
@tf.function
def outer(x):
    log.append('o')
    return inner(x)+inner(x)
r=[outer(tf.constant(1.)),outer(tf.constant(-2.)),v.numpy()]
return [r,log, inner.experimental_get_tracing_count(), outer.experimental_get_tracing_count()]""",
    "nested gradient": """
log=[]
@tf.function
def inner(x):
    log.append('i')
    return x*x*x
@tf.function
def outer(x):
    log.append('o')
    with tf.GradientTape() as t:
        t.watch(x)
        y=inner(x)+inner(x)
    return t.gradient(y,x)
r=[outer(tf.constant(1.)),outer(tf.constant(-2.))]
return [r,log, inner.experimental_get_tracing_count(), outer.experimental_get_tracing_count()]""",
    "tape around": """
log=[]
@tf.function
def f(x):
    log.append('i')
    return x*x*x
x=tf.Variable(2.)
r=[]
for _ in range(3):
    with tf.GradientTape() as t: y=f(x)
    r.append(t.gradient(y,x))
return [r,log,f.experimental_get_tracing_count()]""",
    "tape around tensors": """
log=[]
@tf.function
def f(x):
    log.append('i')
    return x*x*x
r=[]
for v in range(3):
    x=tf.constant(float(v))
    f(x)
    with tf.GradientTape() as t:
        t.watch(x)
        y=f(x)
    r.append(t.gradient(y,x))
return [r,log,f.experimental_get_tracing_count()]""",
    "methods": """
class A:
    def __init__(self,k): self.k=k; self.log=[]
    @tf.function
    def f(self,x):
        self.log.append(1)
        return x*self.k
a,b=A(1.),A(2.)
r=[a.f(tf.constant(1.)),b.f(tf.constant(1.)),a.f(tf.constant(2.)),b.f(tf.constant(2.))]
a.k=5.
r.append(a.f(tf.constant(1.)))
return [r,a.log,b.log,a.f.experimental_get_tracing_count(),b.f.experimental_get_tracing_count(),
        A.f.experimental_get_tracing_count()]""",

    "arguments by name, and defaults": """
log=[]
@tf.function
def f(x,y=2,*,z=3):
    log.append(1)
    return x+y+z
t=tf.constant(1)
f(t);f(t,2);f(t,y=2);f(x=t);f(t,2,z=3);f(t,z=4);f(t,tf.constant(2));f(x=t,y=tf.constant(5),z=3); f(t,z=tf.constant(2))
return [f.experimental_get_tracing_count(),len(log)]""",
    "lists of tensors": """
log=[]
@tf.function
def f(x):
    log.append(1)
    return tf.add_n(list(x))
t=tf.constant(1)
f([t,t]);f([t,t]);f([t,t,t]);f((t,t)); f([t*2,t]);f((t,t,t))
return [f.experimental_get_tracing_count(),len(log)]""",
    "dictionaries": """
log=[]
@tf.function
def f(x):
    log.append(1)
    return x['a']
t=tf.constant(1)
f({'a':t,'b':1});f({'a':t,'b':1});f({'a':t,'b':2});f({'b':1,'a':t}); f({'a':t})
return [f.experimental_get_tracing_count(),len(log)]""",
    "variables as args": """
log=[]
@tf.function
def f(x):
    log.append(1)
    return x*2
v,w=tf.Variable(1.),tf.Variable(2.)
r=[f(v),f(v),f(w),f(v),f(tf.Variable([1.,2.])),f(tf.constant(1.))]
return [f.experimental_get_tracing_count(),len(log)]""",
    "two variables alias": """
log=[]
@tf.function
def f(x,y):
    log.append(1)
    return x*2+y
v,w=tf.Variable(1.),tf.Variable(2.)
r=[f(v,w),f(w,v),f(v,v),f(w,w)]
return [r,f.experimental_get_tracing_count(),len(log)]""",
    "numpy args": """
log=[]
@tf.function
def f(x):
    log.append(1)
    return x*2
f(np.ones(3));f(np.zeros(3));f(np.float32(1));f(np.float32(2));f(np.ones(3,np.float32));f(np.int64(3));f(3)
return [f.experimental_get_tracing_count(),len(log)]""",
    "signature python args": """
log=[]
@tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
def f(x):
    log.append(1)
    return x*2
f(1.);f(2.);f(np.float32(3));f(tf.constant(3.)); f(tf.Variable(3.))
return [f.experimental_get_tracing_count(),len(log)]""",
    "open sizes, and a branch": """
log=[]
@tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
def f(x):
    log.append(1)
    if tf.size(x)>2: return x*2
    return x
r=[f(tf.ones([n])) for n in (1,2,3,4)]
return [r,f.experimental_get_tracing_count(), len(log)]""",
    "lambda": """
log=[]
f=tf.function(lambda x: (log.append(1), x*2)[1])
f(tf.ones(2));f(tf.ones(2));f(tf.ones(3))
return [len(log),f.experimental_get_tracing_count()]""",
    "partial": """
import functools
log=[]
def g(a,x):
    log.append(1)
    return a*x
f=tf.function(functools.partial(g,2))
r=[f(tf.constant(1)),f(tf.constant(3))]
return [r,len(log),f.experimental_get_tracing_count()]""",
    "objects as args": """
log=[]
class O:
    def __init__(s,k): s.k=k
@tf.function
def f(o,x):
    log.append(1)
    return o.k*x
a,b=O(1),O(2)
r=[f(a,tf.constant(1)),f(b,tf.constant(1)),f(a,tf.constant(2))]
a.k=7
r.append(f(a,tf.constant(2)))
return [r,len(log),f.experimental_get_tracing_count()]""",
    "empty function": """
log=[]
@tf.function
def f():
    log.append(1)
    return tf.constant(1)
f();f()
return [len(log),f.experimental_get_tracing_count()]""",
    "two decorated of one": """
log=[]
def g(x):
    log.append(1)
    return x
f,h=tf.function(g),tf.function(g)
f(tf.constant(1));h(tf.constant(1));f(tf.constant(1))
return [len(log),f.experimental_get_tracing_count(),h.experimental_get_tracing_count()]""",
    "exception while tracing": """
log=[]
@tf.function
def f(x):
    log.append(1)
    if len(log)<3: raise KeyError('no')
    return x
for _ in range(4):
    try: f(tf.constant(1))
    except KeyError: pass
return [len(log),f.experimental_get_tracing_count()]""",
    "nested methods": """
log=[]
class L(tf.Module):
    def __init__(s,w): s.w=tf.Variable(w)
    @tf.function
    def __call__(s,x):
        log.append('l')
        return x*s.w
class M(tf.Module):
    def __init__(s): s.a,s.b=L(2.),L(3.)
    @tf.function
    def __call__(s,x):
        log.append('m')
        return s.b(s.a(x))+s.a(x)
m=M()
r=[m(tf.constant(1.)),m(tf.constant(2.))]
return [r,log]""",
    "dataset map": """
log=[]
@tf.function
def f(x):
    log.append(1)
    return x*2
r=list(tf.data.Dataset.range(4).map(f))
return [[int(k) for k in r],len(log)]""",
    "default tensors": """
log=[]
@tf.function
def f(x=tf.constant(1)):
    log.append(1)
    return x*2
r=[f(),f(tf.constant(3)),f(2)]
return [r,len(log),f.experimental_get_tracing_count()]""",
    "ragged args": """
log=[]
@tf.function
def f(x):
    log.append(1)
    return tf.reduce_sum(x)
r=[f(tf.ragged.constant([[1,2],[3]])),f(tf.ragged.constant([[1],[3]]))]
r+=[f(tf.ragged.constant([[1],[3],[4]]))]
return [r,len(log),f.experimental_get_tracing_count()]""",
    "a function that is asked for is traced at once": """
log = []
@tf.function
def f(x):
    log.append(str(x.shape))
    return x * 2
found = []
c = f.get_concrete_function(tf.TensorSpec([2, None], tf.float32))
found.append([len(log), f.experimental_get_tracing_count()])
c(tf.ones([2, 3])); c(tf.ones([2, 4])); f(tf.ones([2, 5])); c.structured_outputs
found.append([len(log), f.experimental_get_tracing_count()])
f(tf.ones([3])); f.get_concrete_function(tf.TensorSpec([3], tf.float32))
return found + [len(log), f.experimental_get_tracing_count()]""",
    "what is wrong is said when a function is asked for": """
@tf.function
def f(x): return tf.matmul(x, x)
f.get_concrete_function(tf.TensorSpec([2, 3], tf.float32))""",
    "variables that the first call makes": """
log = []
class M(tf.Module):
    def __init__(self): self.v = None
    @tf.function
    def __call__(self, x):
        log.append(1)
        if self.v is None: self.v = tf.Variable(1.)
        return x * self.v
m = M()
m(tf.ones(2)); m(tf.ones(2))
found = [len(log), m.__call__.experimental_get_tracing_count()]
m(tf.ones(3))
return found + [len(log), m.__call__.experimental_get_tracing_count()]""",
    "names and attributes that change afterwards": """
class A:
    k = 2
    @tf.function
    def f(self, x): return x * self.k * n[0]
n, a = [1], A()
found = [a.f(tf.constant(1))]
n[0], a.k = 5, 3
return found + [a.f(tf.constant(1)), a.f(tf.constant([1]))]""",
    "a number, and another one that equals it": """
@tf.function
def f(x): return tf.constant(x) if isinstance(x, bool) else x
return [f(1), f(True), f(1.), f(False), f(0), f.experimental_get_tracing_count()]""",
    "strings": """
log = []
@tf.function
def f(x):
    log.append(1)
    tf.py_function(lambda: log.append('run'), [], [])
    return x + x
found = [f(tf.constant(text)) for text in 'abc'] + [f(tf.constant(2)), f(tf.constant(['a']))]
return found + [log, f.experimental_get_tracing_count()]""",
    "methods of objects that are gone": """
class A:
    @tf.function
    def f(self, x): return x * 2
return [A().f.get_concrete_function(tf.constant(1))(tf.constant(2)), (lambda f: f(tf.constant(3)))(A().f)]""",
}

REFUSED = {
    "a generator": """
@tf.function
def f(x): yield x
f(tf.constant(1))""",
    "an object": """
class O: pass
@tf.function
def f(x): return O()
f(1)""",
    "a function": """
@tf.function
def f(x): return [x, lambda: x]
f(tf.constant(1))""",
    "other dtypes": """
@tf.function
def f(a): return a + tf.constant(1.)
f(tf.constant(1))""",
    "other sizes": """
@tf.function
def f(a): return tf.reshape(a, [2, 3, 5])
f(tf.constant([1, 2]))""",
    "unused calls": """
@tf.function
def f(x):
    tf.matmul(x, x)
    return x
f(tf.ones([2, 3]))""",
    "other ranks": """
@tf.function
def f(a): return tf.concat([a, a[None]], 0)
f(tf.constant([1, 2]))""",
}


@each("name", PROGRAMS)
def test_programs(name):
    check(PROGRAMS[name])


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name):
    check(REFUSED[name])


def test_a_trace_prints_once(capsys):
    from dragon.vm import tensorflow as tf

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def f(x):
        print("tracing", x.dtype.name)
        return x * 2
    for size in (1, 2, 3, 2):
        assert f(tf.ones([size])).shape == (size,)
    assert capsys.readouterr().out == "tracing float32\n"


def test_what_a_graph_prints_is_printed_while_it_is_made_again(capsys):
    from dragon.vm import tensorflow as tf
    seen = []

    @tf.function
    def f(x):
        print("tracing")
        tf.print("running", x, output_stream="file:///dev/null")
        tf.py_function(lambda: seen.append(len(seen)), [], [])
        return x * 2
    x = tf.constant(1.0)
    f(x)
    with tf.GradientTape() as tape:  # another graph of the same trace
        tape.watch(x)
        y = f(x)
    f(x)
    assert tape.gradient(y, x) == 2 and seen == [0, 1, 2] and capsys.readouterr().out == "tracing\n"

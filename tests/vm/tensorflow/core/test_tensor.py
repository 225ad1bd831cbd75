"""Tensors beside genuine ones: arithmetic, dtype rules, indexing, conversion, looks and errors."""
from harness.expressions import check
from harness.subresults import each

NAMES = "(lambda i, f, b, d, u, m, s: {})(tf.constant([1, 2]), tf.constant([1., 2.]), tf.constant([True, False]), " \
        "tf.constant([1., 2.], tf.float64), tf.constant([1, 2], tf.uint8), tf.reshape(tf.range(24), [2, 3, 4]), " \
        "tf.constant(['a', 'b']))"
OPERATORS = """
i + f
i + 1.5
f + 1
b + 1
i + True
f + True
b + True
f + d
f + np.array([1., 2.])
f + np.float64(1)
np.array([1., 2.]) + f
i + np.array([1, 2])
i + np.array([1.5, 2])
1 + i
1 - f
i / i
u / u
f / 2
2 / f
1 / i
i // 0
f // 2
7 // i
i % 2
-i % 3
-f % 3.
-i
-b
abs(-i)
~b
~i
~f
b & b
i & i
i & 1
f & f
b | True
False ^ b
i ^ i
f ** 2
i ** 2
2 ** i
i ** -1
f @ f
f[None] @ f[:, None]
f == f
f == i
f == None
f != None
f == 1
f == tf.constant([1., 2., 3.])
f != tf.constant([1., 2., 3.])
b == 1
b == True
f < 1
f >= f
f < i
b < b
f + 'a'
f + None
f + [1, 2]
[1, 2] + f
[1., 2.] * i
f + tf.constant([1., 2., 3.])
i << 1
divmod(i, 2)
s + 'x'
'x' + s
s == 'a'
s == s
s != None
s + 1
i[0] * f[0]
f * tf.Variable([2., 3.])
tf.Variable([2., 3.]) - 1
1 - tf.Variable([2., 3.])
tf.Variable([2., 3.]) * i
tf.Variable([2., 3.]) == 2
tf.Variable([2., 3.])[0]
tf.Variable([[2., 3.]])[:, ::-1]
"""
INDEXING = """
i[0]
i[-1]
i[2]
i[-3]
i[tf.newaxis]
i[..., 0]
i[::-1]
i[b]
i[i]
i[[0]]
i[0, 0]
i['a']
i[1.0]
i[True]
i[np.int64(0)]
i[tf.constant(1)]
i[tf.constant(0):tf.constant(1)]
i[0:5]
i[5:]
i[0:5:0]
m[0]
m[:, 1]
m[..., ::-2, 1]
m[1, ..., None, 0]
m[-1:, ::2, 1:3]
m[b]
m[tf.constant([[True, False, True], [False, True, False]])]
m[:, tf.newaxis, 0]
m[..., tf.newaxis].shape
s[0]
s[::-1]
s[b]
m[2:1]
m[:, -10:10]
"""
CONVERSION = """
tf.constant('a')
tf.constant(['a', b'b'])
tf.constant([['a'], ['b']])
tf.constant(3)
tf.constant(3.5)
tf.constant(True)
tf.constant(2 ** 40)
tf.constant([1, 2 ** 40])
tf.constant(300, tf.uint8)
tf.constant(1.5, tf.int32)
tf.constant([1.5], dtype='int32')
tf.constant(np.array([1.5]), tf.int32)
tf.constant(True, tf.float32)
tf.constant(1, tf.bool)
tf.constant([True], tf.float32)
tf.constant([1], tf.bool)
tf.constant([1, 2], tf.float32)
tf.constant([1, 2], tf.float64)
tf.constant([0.1, 2], tf.float64)
tf.constant([1, 2], tf.complex64)
tf.constant(i, tf.float32)
tf.convert_to_tensor(i, tf.float32)
tf.constant([1, 2.0])
tf.constant([])
tf.constant([], tf.int32)
tf.constant([[], []])
tf.constant(None)
tf.constant([None])
tf.constant([1, None])
tf.constant([[1, 2], [3]])
tf.constant(1j)
tf.constant([1 + 2j])
tf.constant(np.float16(1))
tf.constant(np.arange(3))
tf.constant(np.arange(3.)[::-1])
tf.constant(np.array(['x', 'yz']))
tf.constant(np.array([True]))
tf.constant([np.float64(1)])
tf.constant([np.array([1., 2.]), np.array([3., 4.])])
tf.constant(range(3))
tf.constant((1, 2))
tf.constant(1., tf.bfloat16)
tf.constant('a', tf.int32)
tf.constant(1, tf.string)
tf.convert_to_tensor([i, i])
tf.convert_to_tensor([f[0], 2.])
tf.convert_to_tensor(1, dtype_hint=tf.float32)
tf.convert_to_tensor('a', dtype_hint=tf.float32)
tf.convert_to_tensor({'a': 1})
tf.convert_to_tensor(tf.Variable([1., 2.]))
tf.is_tensor(i), tf.is_tensor(tf.Variable(1)), tf.is_tensor(1), tf.is_tensor(s)
isinstance(i, tf.Tensor), isinstance(tf.Variable(1), tf.Tensor), isinstance(s, tf.Tensor), isinstance(1, tf.Tensor)
"""
PROTOCOL = """
bool(i)
bool(i[0])
bool(tf.constant(0.))
bool(tf.zeros([0]))
len(i)
len(i[0])
list(i)
iter(i[0])
hash(i)
hash(tf.Variable(1))
hash(s)
float(i)
float(i[0])
int(f[0])
int(tf.constant([3]))
complex(f[0])
i.__index__()
[1, 2, 3][i[0]]
range(i[1])
np.zeros(3)[i[0]]
np.asarray(f)
np.sum(f)
np.array(i, np.float64)
i.numpy().flags.writeable
i[0].numpy()
s.numpy()
s[0].numpy()
i.shape == [2], i.shape == (2,), i.shape == tf.TensorShape([2]), i.shape == [3]
i.shape.rank, i.shape.as_list(), i.ndim, i.get_shape().as_list()
i.dtype == tf.int32, i.dtype == 'int32', i.dtype == np.int32, i.dtype.name
i.set_shape([3])
i.set_shape([None])
i.ref() == i.ref()
i.ref().deref() is i
i.name
i.graph
i.op
i.foo
i.eval()
format(f[0], '.2f')
'%s' % f[0]
f'{f[0]}'
f'{f}'
1 in i
i in [i]
tf.constant(3) == 3 and 1
i.gpu()
i.cpu()
str(i.device)
"""
LOOKS = """
tf.constant([1., 2.])
tf.constant([[1, 2], [3, 4]])
tf.constant(3)
tf.constant([1, 2], tf.int64)
tf.Variable([1, 2], dtype=tf.int64)
tf.constant([[1], [2]], tf.uint8)
tf.constant(2.5)
tf.constant(True)
tf.constant('a')
tf.constant(['a', 'b'])
tf.constant([[[1.5]]], tf.float16)
tf.constant(1.5, tf.bfloat16)
tf.constant([1 + 2j])
tf.zeros([0, 3])
tf.range(2000)
tf.constant(1e-10)
tf.constant(0.1)
tf.constant(0.1, tf.float64)
tf.Variable(0.1)
tf.TensorShape([1, None])
tf.TensorShape(None)
tf.TensorShape([])
tf.TensorShape([3])
tf.float32
tf.string
tf.bool
tf.Variable([1., 2.], name='w')
tf.Variable(1)
tf.Variable([[1, 2], [3, 4]], name='a', shape=[None, 2])
tf.TensorSpec([None, 2], tf.int32, 'x')
tf.TensorSpec(None)
tf.constant(1).ref()
"""


@each("text", [line for table in (OPERATORS, INDEXING, CONVERSION, PROTOCOL)
               for line in table.strip().split("\n")])
def test_expression(text):
    check(NAMES.format(text))


@each("text", LOOKS.strip().split("\n"))
def test_looks(text):
    check(text, show=True)

"""`tf.linalg.LinearOperator` and its classes beside genuine ones: numbers, hints, claims, gradients, parts."""
import pytest

from dragon.vm import tensorflow as ours
from harness.expressions import check
from harness.subresults import each

A = "[[4., 1., 2.], [1., 3., 0.5], [2., 0.5, 5.]]"
FULL, DIAG = "L.LinearOperatorFullMatrix", "L.LinearOperatorDiag"
OPERATORS = {
    "full": f"{FULL}({A})",
    "fulld": f"{FULL}({A}, is_self_adjoint=True, is_positive_definite=True)",
    "batch": f"{FULL}(tf.stack([tf.constant({A}), 2. * tf.constant({A})]))",
    "tril": f"L.LinearOperatorLowerTriangular({A})",
    "diag": f"{DIAG}([1., -2., 3.])",
    "diagc": f"{DIAG}(tf.constant([1+1j, -2., 3j], tf.complex64))",
    "id": "L.LinearOperatorIdentity(3)",
    "idb": "L.LinearOperatorIdentity(3, batch_shape=[2])",
    "sid": "L.LinearOperatorScaledIdentity(3, [2., 3.])",
    "zeros": "L.LinearOperatorZeros(3)",
    "toep": "L.LinearOperatorToeplitz([1., 2., 3.], [1., -1., -2.])",
    "circ": "L.LinearOperatorCirculant(tf.constant([6+0j, 4., -2.], tf.complex64))",
    "circr": "L.LinearOperatorCirculant([6., 4., 4.], input_output_dtype=tf.float32)",
    "circ2": "L.LinearOperatorCirculant2D(tf.constant([[1., 2., 3.], [4., 5., 6.]]) , "
             "input_output_dtype=tf.complex64)",
    "circ3": "L.LinearOperatorCirculant3D(tf.cast(tf.reshape(tf.range(1., 9.), [2, 2, 2]), tf.complex64))",
    "bd": f"L.LinearOperatorBlockDiag([{DIAG}([2., 3.]), {FULL}({A})])",
    "blt": f"L.LinearOperatorBlockLowerTriangular([[{DIAG}([2., 3.])], [{FULL}([[1., 2.], "
           f"[3., 4.], [5., 6.]]), {FULL}({A})]])",
    "comp": f"L.LinearOperatorComposition([{FULL}({A}), {DIAG}([1., 2., 3.])])",
    "adj": f"L.LinearOperatorAdjoint(L.LinearOperatorLowerTriangular({A}))",
    "inv": f"L.LinearOperatorInversion({FULL}({A}))",
    "kron": f"L.LinearOperatorKronecker([{FULL}([[1., 2.], [3., 4.]]), {FULL}({A})])",
    "kronr": f"L.LinearOperatorKronecker([{FULL}([[1., 2., 7.], [3., 4., 5.]]), {FULL}({A})])",
    "lru": f"L.LinearOperatorLowRankUpdate({DIAG}([1., 2., 3.], is_positive_definite=True), "
           "[[1., 2.], [-1., 3.], [0., 0.]], [11., 12.], is_diag_update_positive=True)",
    "lruv": f"L.LinearOperatorLowRankUpdate({FULL}({A}), [[1.], [-1.], [2.]], v=[[3.], [1.], [2.]])",
    "hh": "L.LinearOperatorHouseholder([1., 2., -2.])",
    "perm": "L.LinearOperatorPermutation([2, 0, 1])",
    "trid": "L.LinearOperatorTridiag([[1., 2., 9.], [4., 5., 6.], [9., 1., 2.]])",
    "trids": "L.LinearOperatorTridiag(([1., 2., 9.], [4., 5., 6.], [9., 1., 2.]), diagonals_format='sequence')",
    "tridm": "L.LinearOperatorTridiag([[4., 1., 0.], [2., 3., 5.], [0., 1., 6.]], diagonals_format='matrix')",
    "wide": f"{FULL}([[1., 2., 3.], [4., 5., 6.]])",
}
METHODS = """
o.shape.as_list()
o.matmul(X)
o.matmul(tf.transpose(X), adjoint_arg=True)
o.matmul(X, adjoint=True)
o.matvec(X[:, 0])
o.solve(X)
o.solve(X, adjoint=True)
o.solve(tf.transpose(X), adjoint_arg=True)
o.solvevec(X[:, 1])
o.determinant()
o.log_abs_determinant()
o.trace()
o.diag_part()
o.to_dense()
o.add_to_tensor(tf.ones(o.shape, o.dtype))
o.cond()
tf.sort(tf.math.real(o.eigvals()))
o.assert_non_singular()
o.assert_positive_definite()
o.assert_self_adjoint()
o.adjoint().to_dense()
o.inverse().to_dense()
o.cholesky().to_dense()
o.is_square
o.is_non_singular
o.is_self_adjoint
o.is_positive_definite
o.name
o.dtype.name
o.batch_shape_tensor()
o.shape_tensor()
o.tensor_rank
int(o.domain_dimension)
o.domain_dimension_tensor()
type(o @ o).__name__
(o @ o).to_dense()
(o @ o).is_self_adjoint
type(o.solve(o)).__name__
o.solve(o).to_dense()
type(o.inverse()).__name__
type(o.adjoint()).__name__
(o @ D).to_dense()
type(o @ D).__name__
type(D.solve(o)).__name__
o.matmul(tf.ones([5, 1, o.shape[-1], 2], o.dtype))
o.solve(tf.ones([5, 1, o.shape[-1], 2], o.dtype))
o.matmul(tf.ones([9, 2], o.dtype))
o.matmul(tf.ones([o.shape[-1], 2], tf.int32))
tf.matmul(o, X)
tf.matmul(tf.transpose(X), o)
tf.linalg.solve(o, X)
tf.linalg.trace(o)
tf.linalg.det(o)
tf.linalg.diag_part(o)
sorted(o.parameters)
"""
# Where genuine TensorFlow recurses without end, multiplies batches of other sizes than it has, or drops a dtype.
NOT_COMPARED = {("lru", "o.assert_self_adjoint()"), ("lruv", "o.assert_self_adjoint()"),
                ("kronr", "o.solvevec(X[:, 1])"),
                ("circr", "(o @ o).to_dense()"), ("circr", "o.solve(o).to_dense()"), ("sid", "(o @ D).to_dense()"),
                ("sid", "type(o @ D).__name__"), ("sid", "type(D.solve(o)).__name__"),
                ("blt", "type(o.inverse()).__name__"),
                *((name, "o.matmul(tf.ones([5, 1, o.shape[-1], 2], o.dtype))") for name in ("trid", "trids", "tridm"))}
ERRORS = f"""
{DIAG}(1.)
{DIAG}([1.], is_self_adjoint=False)
{DIAG}([1.], is_square=False)
{FULL}([1.])
{FULL}([[1]])
{FULL}({A}, is_positive_definite=True, is_non_singular=False)
{FULL}({A}, is_non_singular=True, is_square=False)
{FULL}({A}, is_square=False).is_square
{FULL}({A}).eigvals()
{FULL}({A}).cholesky()
{FULL}({A}, is_non_singular=False).solve([[1.], [2.], [3.]])
{FULL}({A}, is_non_singular=False).inverse()
{FULL}([[1., 2.]]).solve([[1.]])
{FULL}([[1., 2.]]).determinant()
{FULL}({A}) @ {DIAG}([1., 2.])
{FULL}({A}) @ {DIAG}(tf.constant([1., 2., 3.], tf.float64))
L.LinearOperatorIdentity(-1)
L.LinearOperatorIdentity(2.5)
L.LinearOperatorIdentity([2])
L.LinearOperatorIdentity(2, batch_shape=3)
L.LinearOperatorIdentity(2, is_self_adjoint=False)
L.LinearOperatorScaledIdentity(2, 1., is_square=False)
L.LinearOperatorZeros(2, 3)
L.LinearOperatorZeros(2, is_non_singular=True)
L.LinearOperatorZeros(2).assert_non_singular()
L.LinearOperatorLowerTriangular({A}, is_square=False)
L.LinearOperatorComposition([])
L.LinearOperatorComposition([{DIAG}([1.]), {DIAG}(tf.constant([1.], tf.float64))])
L.LinearOperatorInversion({FULL}({A}, is_non_singular=False))
L.LinearOperatorAdjoint({DIAG}([1.], is_non_singular=True), is_non_singular=False)
L.LinearOperatorBlockDiag([{DIAG}([1.], is_non_singular=True)], is_non_singular=False)
L.LinearOperatorBlockLowerTriangular([[{DIAG}([1.])], [{DIAG}([1.])]])
L.LinearOperatorCirculant(1.)
L.LinearOperatorCirculant([1.], is_self_adjoint=False)
L.LinearOperatorPermutation([0, 0])
L.LinearOperatorPermutation([0.])
L.LinearOperatorPermutation([0], is_non_singular=False)
L.LinearOperatorHouseholder(1.)
L.LinearOperatorHouseholder([1.], is_positive_definite=True)
L.LinearOperatorTridiag({A}, diagonals_format="what")
L.LinearOperatorToeplitz(1., [1.])
L.LinearOperatorLowRankUpdate({DIAG}([1., 2.]), [[1.]])
L.LinearOperatorLowRankUpdate({DIAG}([1., 2.]), [[1.], [2.]], is_diag_update_positive=False)
tf.linalg.logdet({FULL}({A}))
tf.matmul({FULL}({A}), {A}, transpose_a=True)
tf.linalg.solve({A}, {FULL}({A}))
"""
PARTS = (f"{FULL}(tf.ones([4, 1, 2, 2]))[1:3]", f"{DIAG}(tf.reshape(tf.range(12.), [3, 2, 2]))[1, ..., tf.newaxis]",
         f"{DIAG}(tf.reshape(tf.range(12.), [3, 2, 2]))[..., 0]",
         "L.LinearOperatorIdentity(2, batch_shape=[3, 4])[:, 1]",
         "L.LinearOperatorScaledIdentity(2, [1., 2., 3.])[::2]", "L.LinearOperatorZeros(2, batch_shape=[3])[1:]",
         f"L.LinearOperatorKronecker([{DIAG}(tf.reshape(tf.range(6.), [3, 2])), {DIAG}([1., 2.])])[1:]",
         "L.LinearOperatorToeplitz(tf.reshape(tf.range(6.), [3, 2]), [1., 2.])[1]")
GRADIENTS = ("L.LinearOperatorFullMatrix(v).solvevec([1., 2., 3.])", "L.LinearOperatorDiag(v[0]).matmul(v)",
             "L.LinearOperatorLowerTriangular(v).log_abs_determinant()",
             "L.LinearOperatorToeplitz(v[0], v[1]).matvec(v[2])",
             "tf.math.real(L.LinearOperatorCirculant(tf.complex(v[0], v[1])).matvec(tf.complex(v[2], v[2])))",
             "L.LinearOperatorKronecker([L.LinearOperatorFullMatrix(v), L.LinearOperatorDiag([1., 2.])])"
             ".matvec(tf.ones(6))",
             "L.LinearOperatorLowRankUpdate(L.LinearOperatorDiag(v[0] + 5.), v).solvevec([1., 2., 3.])",
             "L.LinearOperatorHouseholder(v[1]).matvec(v[0])", "L.LinearOperatorTridiag(v).matmul(v)",
             "L.LinearOperatorBlockDiag([L.LinearOperatorFullMatrix(v), L.LinearOperatorDiag(v[0])]).determinant()")
PROGRAMS = {
    "variables": """
d, u = tf.Variable([1., 2.]), tf.Variable([[1.], [2.]])
o = L.LinearOperatorLowRankUpdate(L.LinearOperatorDiag(d), u)
before = o.to_dense()
d.assign([5., 6.])
with tf.GradientTape() as tape: y = tf.reduce_sum(o.to_dense())
return [before, o.to_dense(), len(o.trainable_variables), tape.gradient(y, [d, u])]""",
    "functions": """
@tf.function
def f(x): return L.LinearOperatorFullMatrix(x, is_self_adjoint=True).eigvals(), L.LinearOperatorDiag(x[0]).solve(x)
return f(tf.constant([[2., 1.], [1., 2.]]))""",
    "a user's class": """
class Twice(L.LinearOperator):
    def __init__(self, n):
        super().__init__(dtype=tf.float32, is_self_adjoint=True, is_positive_definite=True, parameters=dict(n=n))
        self.n = n
    def _shape(self): return tf.TensorShape([self.n, self.n])
    def _matmul(self, x, adjoint=False, adjoint_arg=False): return 2. * (tf.linalg.adjoint(x) if adjoint_arg else x)
o = Twice(3)
return [o.to_dense(), o.determinant(), o.solvevec([1., 2., 3.]), o.cond(), o.trace(), o.name, o.is_square, o.parameters,
        (o @ L.LinearOperatorDiag([1., 2., 3.])).to_dense(), o.cholesky().to_dense(), o.inverse().to_dense()]""",
    "blocks as lists": """
o = L.LinearOperatorBlockLowerTriangular([[L.LinearOperatorDiag([2.])], [L.LinearOperatorFullMatrix([[1.], [3.]]),
                                                                        L.LinearOperatorDiag([4., 5.])]])
x = [tf.constant([[1.]]), tf.constant([[2.], [3.]])]
return [o.matmul(list(x)), o.matmul(list(x), adjoint=True), o.solve(list(x)), o.solve(list(x), adjoint=True),
        o.matvec([tf.constant([1.]), tf.constant([2., 3.])]),
        o.solvevec([tf.constant([1.]), tf.constant([2., 3.])])]""",
    "kernels": """
o = L.LinearOperatorCirculant(tf.constant([6., 4., 4.]), input_output_dtype=tf.float32)
c = L.LinearOperatorCirculant(tf.constant([6+0j, 4., 4.], tf.complex64))
return [c.convolution_kernel(), o.convolution_kernel(), o.block_shape.as_list(), o.block_shape_tensor(),
        o.block_depth]""",
    "empty": """
return [L.LinearOperatorIdentity(0).to_dense(), L.LinearOperatorDiag(tf.zeros([2, 0])).determinant(),
        L.LinearOperatorFullMatrix(tf.zeros([0, 2, 2])).matmul(tf.zeros([2, 1])), L.LinearOperatorZeros(0).trace()]""",
    "a triangle of a product": """
t = L.LinearOperatorLowerTriangular([[-1., 0.], [2., 3.]], is_non_singular=True)
o = L.LinearOperatorComposition([t, t.adjoint()])
return [o.is_self_adjoint, o.is_positive_definite, o.cholesky().to_dense(), o.name]""",
}


@each("name", OPERATORS, size=10)
def test_operator(name):
    failed = []
    for method in METHODS.strip().split("\n"):
        if (name, method) not in NOT_COMPARED:
            try:
                check(f"""
L = tf.linalg
o = {OPERATORS[name]}
X = tf.cast(tf.reshape(tf.range(o.shape[-1] * 2), [o.shape[-1], 2]) + 1, o.dtype)
D = L.LinearOperatorDiag(tf.cast(tf.range(o.shape[-1]) + 1, o.dtype))
return {method}""", 2e-4)
            except AssertionError as error:
                failed.append((method, str(error)[-300:]))
    assert not failed


@each("text", ERRORS.strip().split("\n"))
def test_what_is_refused(text):
    check(f"L = tf.linalg\nreturn {text}")


@pytest.mark.parametrize("text", PARTS)
def test_part_of_a_batch(text):
    check(f"L = tf.linalg\no = {text}\nreturn o.to_dense(), type(o).__name__")


@each("text", GRADIENTS)
def test_gradient(text):
    check(f"""
L, v = tf.linalg, tf.Variable({A})
with tf.GradientTape() as t: y = {text}
return t.gradient(y, v)""", 1e-3)


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    check(f"L = tf.linalg\n{PROGRAMS[name].strip()}", 1e-4)


@pytest.mark.parametrize("text", [
    f"L.LinearOperatorKronecker([{DIAG}(tf.zeros([0])), {FULL}([[1., 2.], [3., 4.]])]).matvec(tf.zeros([0]))",
    "L.LinearOperatorTridiag([[1.], [3.], [0.]]).to_dense()",
    "L.LinearOperatorTridiag([[1.], [3.], [0.]]).matvec([2.])",
    "L.LinearOperatorToeplitz([1.], [2.]).matvec([2.])",
    "L.LinearOperatorHouseholder([0., 0.]).to_dense()",
    f"{DIAG}(tf.zeros([0])).determinant()"])
def test_small_ones(text):
    check(f"L = tf.linalg\nreturn {text}")


def test_a_spectrum_that_makes_no_real_matrix():
    linalg = ours.linalg
    linalg.LinearOperatorCirculant(ours.constant([6 + 0j, 4, 4], ours.complex64)).assert_hermitian_spectrum()
    with pytest.raises(ours.errors.InvalidArgumentError, match="not Hermitian"):
        linalg.LinearOperatorCirculant(ours.constant([6 + 0j, 4, 5], ours.complex64)).assert_hermitian_spectrum()


@each("name", "full fulld batch tril diag diagc id sid zeros toep bd comp adj".split())
def test_they_are_made_of_tensors(name):
    check(f"L, o = tf.linalg, tf.linalg{OPERATORS[name][1:]}\n"
          "flat = tf.nest.flatten(o, expand_composites=True)\n"
          "made = tf.nest.pack_sequence_as(o, [2 * x for x in flat], expand_composites=True)\n"
          "f = tf.function(lambda x: x.to_dense())\n"
          "return [flat, made.to_dense(), f(o), f(made)]")

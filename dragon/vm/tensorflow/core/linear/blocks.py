"""Linear operators of blocks, each an operator: along the diagonal, or in a lower triangle."""
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.tensorflow.core.linear import algebra, hints
from dragon.vm.tensorflow.core.linear.composed import OfSeveral
from dragon.vm.tensorflow.core.linear.operator import LinearOperator
from dragon.vm.tensorflow.core.linear.slicing import part


class _Blocks(OfSeveral):
    """What operators of blocks share: operands that are lists, with a part for each block."""

    def _diagonal(self):
        """Return the operators along the diagonal."""
        return self._operators

    def _sizes(self, of_rows):
        return [one.range_dimension if of_rows else one.domain_dimension for one in self._diagonal()]

    def _shape(self):
        return (*self._joint_batch(), sum(self._sizes(True)), sum(self._sizes(False)))

    def _split(self, x, axis, sizes, who):
        """Return an operand's parts, and whether they came as a list: one whose items have the blocks' sizes."""
        if isinstance(x, (list, tuple)) and len(x) == len(sizes):
            parts = [item if isinstance(item, LinearOperator) else convert_to_tensor(item) for item in x]
            if all(item.shape[axis] == size for item, size in zip(parts, sizes) if len(item.shape) >= -axis) \
                    and all(len(item.shape) >= -axis for item in parts):
                for item in parts:
                    if item.dtype != self.dtype:
                        raise TypeError(f"{who}: expected blocks to have dtype {self.dtype}. Found: {item.dtype}")
                return parts, True
        x = self._checked(x, axis, sum(sizes), who)
        return list(ops.split_with_sizes(x, sizes, axis)), False

    def _joined(self, parts, whole, vectors=False):
        """Return results of blocks as they were asked for."""
        parts = [ops.squeeze(part, -1) for part in parts] if vectors else parts
        if whole:
            return parts
        if vectors:
            return ops.squeeze(ops.cat(algebra.broadcast(*(ops.unsqueeze(part, -1) for part in parts)), -2), -1)
        return ops.cat(algebra.broadcast(*parts), -2)

    def _pair(self, other, adjoint, adjoint_arg, word):
        """Return both operators of a product, whose blocks must fit where both are made of blocks."""
        left, right = self._sides(other, adjoint, adjoint_arg, word)
        if isinstance(left, LinearOperatorBlockDiag) and isinstance(right, LinearOperatorBlockDiag):
            if len(left.operators) != len(right.operators):
                raise ValueError("Can not efficiently multiply or solve two `LinearOperatorBlockDiag`s when the number "
                                 f"of blocks differ: {len(left.operators)} and {len(right.operators)}")
            for one, two in zip(left.operators, right.operators):
                if one.domain_dimension != two.range_dimension:
                    raise ValueError(f"Blocks are incompatible. Expected `{word}` to have dimension "
                                     f"{one.domain_dimension} but got {two.range_dimension}.")
        return left, right

    def matmul(self, x, adjoint=False, adjoint_arg=False, name="matmul"):
        """Return the product with matrices, with another operator, or with a list that has a part for each block."""
        if isinstance(x, LinearOperator):
            left, right = self._pair(x, adjoint, adjoint_arg, "x")
            return LinearOperator.matmul(left, right)
        parts, whole = self._split(x, -1 if adjoint_arg else -2, self._sizes(adjoint), f"{self.name}.matmul")
        return self._joined(self._products(parts, adjoint, adjoint_arg), whole)

    def matvec(self, x, adjoint=False, name="matvec"):
        """Return the product with vectors, or with a list that has a part for each block."""
        parts, whole = self._split(x, -1, self._sizes(adjoint), f"{self.name}.matvec")
        parts = [ops.unsqueeze(part, -1) for part in parts]
        return self._joined(self._products(parts, adjoint, False), whole, vectors=True)

    def solve(self, rhs, adjoint=False, adjoint_arg=False, name="solve"):
        """Return x with operator @ x = rhs, which is matrices, an operator, or a list with a part for each block."""
        self._require_solvable()
        if isinstance(rhs, LinearOperator):
            left, right = self._pair(rhs, adjoint, adjoint_arg, "rhs")
            return LinearOperator.solve(left, right)
        parts, whole = self._split(rhs, -1 if adjoint_arg else -2, self._sizes(not adjoint), f"{self.name}.solve")
        return self._joined(self._solutions(parts, adjoint, adjoint_arg), whole)

    def solvevec(self, rhs, adjoint=False, name="solve"):
        """Return x with operator @ x = rhs, of vectors, or a list that has a part for each block."""
        self._require_solvable()
        parts, whole = self._split(rhs, -1, self._sizes(not adjoint), f"{self.name}.solvevec")
        parts = [ops.unsqueeze(part, -1) for part in parts]
        return self._joined(self._solutions(parts, adjoint, False), whole, vectors=True)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return self.matmul(x, adjoint, adjoint_arg)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self.solve(rhs, adjoint, adjoint_arg)

    def _of_diagonal(self, method, axis=-1):
        """Return numbers of the diagonal's operators one after the other, of the batch of all."""
        batch = tuple(self.batch_shape)
        found = [getattr(one, method)() for one in self._diagonal()]
        return ops.cat([ops.broadcast_to(part, (*batch, part.shape[-1])) for part in found], axis)

    def _diag_part(self):
        if not all(one.is_square for one in self._diagonal()):
            return super()._diag_part()
        return self._of_diagonal("diag_part")

    def _trace(self):
        if not all(one.is_square for one in self._diagonal()):
            return super()._trace()
        return sum(one.trace() for one in self._diagonal())

    def _determinant(self):
        first, *others = [one.determinant() for one in self._diagonal()]
        for other in others:
            first = first * other
        return first

    def _log_abs_determinant(self):
        return sum(one.log_abs_determinant() for one in self._diagonal())

    def _eigvals(self):
        if not all(one.is_square for one in self._diagonal()):
            raise NotImplementedError(f"{type(self).__name__}.eigvals: got blocks that are not square")
        return self._of_diagonal("eigvals")

    def _assert_non_singular(self):
        if not all(one.is_square for one in self._diagonal()):
            return super()._assert_non_singular()
        for one in self._diagonal():
            one.assert_non_singular()


class LinearOperatorBlockDiag(_Blocks):
    """Operators one after the other along the diagonal, with zeros around them.

    Parameters
    ----------
    operators : Sequence[LinearOperator]
        The blocks, from the upper left.
    is_non_singular, is_self_adjoint, is_positive_definite : bool, optional
        What is known of the matrix.
    is_square : bool, optional, default=True
        Whether it is square.

    """

    def __init__(self, operators, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None,
                 is_square=True, name=None):
        blocks = list(operators) if hasattr(operators, "__iter__") else []
        given = dict(zip(hints.NAMES, (is_non_singular, is_self_adjoint, is_positive_definite, is_square)))
        for word in hints.NAMES[:3] if blocks else ():
            given[word] = hints.of_all(blocks, word, given[word], "The direct sum")
        self._begin(operators, given, "_ds_", name)

    def _products(self, parts, adjoint, adjoint_arg):
        return [one.matmul(part, adjoint=adjoint, adjoint_arg=adjoint_arg)
                for one, part in zip(self._operators, parts)]

    def _solutions(self, parts, adjoint, adjoint_arg):
        return [one.solve(part, adjoint=adjoint, adjoint_arg=adjoint_arg)
                for one, part in zip(self._operators, parts)]

    def _with(self, method, known):
        return LinearOperatorBlockDiag(self._each(method), **known)

    def _linop_adjoint(self):
        return self._with("adjoint", hints.of(self))

    def _linop_inverse(self):
        return self._with("inverse", hints.of(self))

    def _linop_cholesky(self):
        return self._with("cholesky", {"is_non_singular": True, "is_square": True})

    def _assert_self_adjoint(self):
        self._each("assert_self_adjoint")

    def _assert_positive_definite(self):
        self._each("assert_positive_definite")

    def _to_dense(self):
        columns, batch, rows, before = self.domain_dimension, tuple(self.batch_shape), [], 0
        for one in self._operators:
            block = ops.broadcast_to(one.to_dense(), (*batch, *one.shape[-2:]))
            rows.append(ops.pad(block, [before, columns - before - one.domain_dimension], "constant", 0))
            before += one.domain_dimension
        return ops.cat(rows, -2)


class LinearOperatorBlockLowerTriangular(_Blocks):
    """Operators on and below the diagonal, with zeros above it.

    Parameters
    ----------
    operators : Sequence[Sequence[LinearOperator]]
        Rows of blocks: the first has one, the second two, and so on.
    is_non_singular, is_self_adjoint, is_positive_definite, is_square : bool, optional
        What is known of the matrix.

    """

    def __init__(self, operators, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None,
                 is_square=None, name="LinearOperatorBlockLowerTriangular"):
        rows = [list(row) for row in operators]
        for place, row in enumerate(rows):
            if len(row) != place + 1:
                raise ValueError(f"LinearOperatorBlockLowerTriangular: got {len(row)} operators in row {place}, "
                                 f"expected {place + 1}")
            if place and any(one.range_dimension != row[-1].range_dimension for one in row):
                raise ValueError(f"LinearOperatorBlockLowerTriangular: got operators of "
                                 f"{[one.range_dimension for one in row]} rows in row {place}, expected as many of all")
            if any(one.domain_dimension != rows[column][column].domain_dimension for column, one in enumerate(row)):
                raise ValueError(f"LinearOperatorBlockLowerTriangular: got operators of "
                                 f"{[one.domain_dimension for one in row]} columns in row {place}, expected those of "
                                 "the diagonal above")
        diagonal = [row[-1] for row in rows]
        hints.require(is_self_adjoint or None, False, "LinearOperatorBlockLowerTriangular is not self-adjoint: got "
                                                      "is_self_adjoint=True") if len(rows) > 1 else None
        if rows and all(one.is_square for one in diagonal):
            is_square = hints.require(is_square, True, "A matrix of square blocks on the diagonal is square: got "
                                                       "is_square=False")
            is_non_singular = hints.of_all(diagonal, "is_non_singular", is_non_singular, "A triangle of blocks")
        given = dict(zip(hints.NAMES, (is_non_singular, is_self_adjoint, is_positive_definite, is_square)))
        self._begin([one for row in rows for one in row], given, "_", name)
        self._rows = rows

    operators = property(lambda self: self._rows, doc="List[List[LinearOperator]]: the rows of blocks.")

    def __getitem__(self, slices):
        """Return the operator of a part of the batch."""
        axes = len(self.batch_shape)
        return type(self)(**{**self._given, "operators": [part(row, 0, slices, axes) for row in self._rows]})

    def _diagonal(self):
        return [row[-1] for row in self._rows]

    def _products(self, parts, adjoint, adjoint_arg):
        rows = self._columns() if adjoint else [list(enumerate(row)) for row in self._rows]
        return [sum(one.matmul(parts[place], adjoint=adjoint, adjoint_arg=adjoint_arg) for place, one in row)
                for row in rows]

    def _columns(self):
        """Return for each column what stands in it, with the numbers of the rows."""
        count = len(self._rows)
        return [[(row, self._rows[row][column]) for row in range(column, count)] for column in range(count)]

    def _solutions(self, parts, adjoint, adjoint_arg):
        if not all(one.is_square for one in self._diagonal()):
            raise NotImplementedError("Solve not implemented for a triangle of blocks whose diagonal is not square")
        parts = [algebra.adjoint(part) for part in parts] if adjoint_arg else parts
        count, found = len(self._rows), {}
        for place in reversed(range(count)) if adjoint else range(count):
            known = [(row, one) for row, one in self._columns()[place]] if adjoint else enumerate(self._rows[place])
            left = parts[place]
            for other, one in known:
                if other != place:
                    left = left - one.matmul(found[other], adjoint=adjoint)
            found[place] = self._rows[place][place].solve(left, adjoint=adjoint)
        return [found[place] for place in range(count)]

    def _to_dense(self):
        batch, columns, rows = tuple(self.batch_shape), self.domain_dimension, []
        for row in self._rows:
            blocks = [ops.broadcast_to(one.to_dense(), (*batch, *one.shape[-2:])) for one in row]
            line = ops.cat(blocks, -1)
            rows.append(ops.pad(line, [0, columns - line.shape[-1]], "constant", 0))
        return ops.cat(rows, -2)

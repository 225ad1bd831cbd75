"""Places within a matrix, counted by Python: calls that are written down take them, since no shape says how many."""

MOST_PLACES = 1 << 22  # that are written down as numbers


def triangle(rows, columns, offset, is_lower):
    """Return the places of a triangle of a matrix.

    Parameters
    ----------
    rows : int
        How many rows the matrix has.
    columns : int
        How many columns it has.
    offset : int
        How far above the main diagonal the triangle's own lies.
    is_lower : bool
        Whether it is what lies below, with the diagonal; else what lies above.

    Returns
    -------
    Tuple[List[int], List[int]]
        The rows and the columns, row by row.

    """
    lines = []
    for row in range(rows):
        first = min(max(row + offset + is_lower, 0), columns)
        lines.append(range(first) if is_lower else range(first, columns))
    return [row for row, line in enumerate(lines) for _ in line], [column for line in lines for column in line]

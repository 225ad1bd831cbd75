"""Filters that pictures are resized with: how much a pixel counts at a distance."""


def keys(x, where):
    """Return Keys's cubic kernel (IEEE Trans. ASSP 29, 1981) with slope -1/2; `where` chooses among arrays like x."""
    near = (x * 1.5 - 2.5) * x * x + 1.0
    far = ((x * -0.5 + 2.5) * x - 4.0) * x + 2.0
    return where(x >= 2.0, 0.0, where(x >= 1.0, far, near))

"""Pictures read where projections send the places of the result."""
from dragon.onnx.places import count_places, whole
from dragon.onnx.table import maps


def reflected(w, at, size):
    """Return places that turn back at the ends, where the outermost pixel stands twice."""
    span = w.Mul(size, 2.0)
    below = w.Add(at, w.Mul(w.Floor(w.Div(w.Neg(at), span)), span))
    below = w.Where(w.Less(below, w.Neg(size)), w.Add(below, span), w.Sub(w.Neg(below), 1.0))
    above = w.Sub(at, w.Mul(w.Floor(w.Div(at, span)), span))
    above = w.Where(w.Less(above, size), above, w.Sub(w.Sub(span, above), 1.0))
    return w.Where(w.Less(at, 0.0), below, w.Where(w.Greater(at, w.Sub(size, 1.0)), above, at))


def wrapped(w, at, size):
    """Return places that go on at the other end."""
    span = w.Max(w.Sub(size, 1.0), 1.0)  # a lone pixel is where all places are clamped to
    below = w.Add(at, w.Mul(w.Add(w.Floor(w.Div(w.Neg(at), span)), 1.0), size))
    above = w.Sub(at, w.Mul(w.Floor(w.Div(at, span)), size))
    return w.Where(w.Less(at, 0.0), below, w.Where(w.Greater(at, w.Sub(size, 1.0)), above, at))


def brought_in(w, at, size, outside):
    """Return places along an axis that are brought into the picture."""
    if outside == "constant":
        return at
    if outside != "nearest":
        at = {"reflect": reflected, "wrap": wrapped}[outside](w, at, size)
    return w.Max(w.Min(at, w.Sub(size, 1.0)), 0.0)


def places(w, transforms, image, size, outside):
    """Return rows and columns (N, height, width) where pixels are read, and which of them lie at infinity."""
    numbers = [w.Unsqueeze(w.Gather(transforms, w.constant([k], "int64"), axis=1), [2]) for k in range(8)]
    down, across = (w.cast(count_places(w, length), "float32") for length in size)
    down = w.Unsqueeze(down, [1])

    def along(first, second, third):
        return w.Add(w.Add(w.Mul(first, across), w.Mul(second, down)), third)
    depth = along(*numbers[6:], 1.0)
    nowhere = w.Equal(depth, 0.0)
    depth = w.Where(nowhere, w.constant(1.0, "float32"), depth)
    height, width = (w.cast(whole(w, length), "float32") for length in image)
    columns = brought_in(w, w.Div(along(*numbers[:3]), depth), width, outside)
    rows = brought_in(w, w.Div(along(*numbers[3:6]), depth), height, outside)
    return rows, columns, nowhere


def rounded(w, at):
    """Return the nearest whole numbers, from halves away from zero."""
    return w.Mul(w.Sign(at), w.Floor(w.Add(w.Abs(at), 0.5)))


def mixed(w, first, one, second, other):
    """Return the sum of two pictures by the weights of their places."""
    first, second = (w.cast(w.Unsqueeze(weight, [3]), one.dtype) for weight in (first, second))
    return w.Add(w.Mul(first, one), w.Mul(second, other))


class Picture:
    """Pictures that are read pixel by pixel; outside, there is the fill.

    Parameters
    ----------
    w : Writer
        The graph.
    x : Value
        The pictures (N, H, W, C).
    which : Value
        The number of the picture that each result reads, of four axes.
    places : list of int
        How many results there are, their height and width, and 1.
    fill : float
        What lies outside.

    """

    def __init__(self, w, x, which, places, fill):
        self.w, self.pixels, self.which, self.places = w, x, which, places
        self.sizes, self.fill = x.shape[1:3], w.constant(fill, x.dtype)

    def read(self, rows, columns):
        """Return pixels (results, height, width, C) at whole places."""
        w, inside, index = self.w, None, [self.which]
        for at, size in zip((rows, columns), self.sizes):
            last = w.cast(w.Sub(whole(w, size), 1), "float32")
            within = w.And(w.Not(w.Less(at, 0.0)), w.Not(w.Greater(at, last)))
            inside = within if inside is None else w.And(inside, within)
            index.append(w.Unsqueeze(w.cast(w.Max(w.Min(at, last), 0.0), "int64"), [3]))
        index = w.Concat(*(w.Expand(part, self.places) for part in index), axis=3)
        return w.Where(w.Unsqueeze(inside, [3]), w.GatherND(self.pixels, index), self.fill)


@maps("project_images")
def project_images(w, x, transforms, size, mode, outside, fill):
    if 0 in x.shape:
        return w.full([*x.shape[:2], *size], fill, x.dtype)
    rows, columns, nowhere = places(w, transforms, x.shape[2:], size, outside)
    moved = w.transpose(x, [0, 2, 3, 1])
    moved.shape = [x.shape[axis] for axis in (0, 2, 3, 1)]
    which = w.Unsqueeze(count_places(w, x.shape[0]), [1, 2, 3])
    picture = Picture(w, moved, which, [x.shape[0], *size, 1], fill)
    if mode == "nearest":
        made = picture.read(rounded(w, rows), rounded(w, columns))
    else:
        top, left = w.Floor(rows), w.Floor(columns)
        bottom, right = w.Add(top, 1.0), w.Add(left, 1.0)
        lines = [mixed(w, w.Sub(right, columns), w.cast(picture.read(row, left), "float32"),
                       w.Sub(columns, left), w.cast(picture.read(row, right), "float32")) for row in (top, bottom)]
        made = w.cast(mixed(w, w.Sub(bottom, rows), lines[0], w.Sub(rows, top), lines[1]), x.dtype)
    made = w.Where(w.Unsqueeze(nowhere, [3]), picture.fill, made)
    return w.transpose(made, [0, 3, 1, 2])

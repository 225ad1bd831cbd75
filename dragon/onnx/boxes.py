"""Boxes: the choice among many, and what images show of them."""
from dragon.onnx.places import count_places, whole
from dragon.onnx.table import maps
from dragon.onnx.warping import Picture, mixed


def suppressed(w, boxes, scores, limit, overlap, least=None):
    """Return rows (batch, class, box) of what is chosen of boxes (S, N, 4) by scores (S, classes, N)."""
    if not 0 <= overlap <= 1:
        w.refuse(f"a share of {overlap}, where NonMaxSuppression takes 0 to 1")
    boxes, scores = (w.cast(value, "float32") for value in (boxes, scores))
    numbers = w.constant([limit], "int64"), w.constant([overlap], "float32")
    return w.NonMaxSuppression(boxes, scores, *numbers, None if least is None else w.constant([least], "float32"),
                               dtype="int64")


@maps("suppress_boxes")
def suppress_boxes(w, boxes, threshold):
    count = boxes.shape[0]
    # The best come first: scores that fall.
    scores = w.Unsqueeze(w.Neg(w.cast(count_places(w, count), "float32")), [0, 1])
    found = suppressed(w, w.Unsqueeze(boxes, [0]), scores, 2 ** 31 - 1, threshold)
    places = w.Gather(found, w.constant([2], "int64"), axis=1)
    return w.ScatterND(w.full([count], False, "bool"), places, w.Squeeze(w.Not(w.Less(places, 0)), [1]))


@maps("select_boxes")
def select_boxes(w, boxes, scores, limit, overlap, least, sigma):
    rows, count = scores.shape
    if sigma > 0:
        w.refuse("boxes whose scores suffer from overlaps")
    if 0 in (limit, rows, count):
        return w.full([rows, limit], 0, "int32"), w.full([rows, limit], 0, scores.dtype), w.full([rows], 0, "int32")
    classes = w.Reshape(scores, [boxes.shape[0], -1, count])
    found = suppressed(w, boxes, classes, limit, overlap, None if least == float("-inf") else least)
    batch, kind, box = (w.Gather(found, w.constant(column, "int64"), axis=1) for column in range(3))
    row = w.Add(w.Mul(batch, w.Squeeze(w.size_of(classes, 1), [0])), kind)
    # Chosen boxes come row after row: a place within one is the place among all, less what the rows before have.
    own = w.cast(w.Equal(w.Unsqueeze(row, [1]), count_places(w, rows)), "int64")
    counts = w.ReduceSum(own, [0], keepdims=0)
    before = w.CumSum(counts, w.constant(0, "int64"), exclusive=1)
    number = w.Sub(w.CumSum(w.ReduceSum(own, [1], keepdims=0), w.constant(0, "int64"), exclusive=1),
                   w.Gather(before, row))
    places = w.Concat(w.Unsqueeze(row, [1]), w.Unsqueeze(number, [1]), axis=1)
    values = w.GatherND(scores, w.Concat(w.Unsqueeze(row, [1]), w.Unsqueeze(box, [1]), axis=1))
    return (w.ScatterND(w.full([rows, limit], 0, "int32"), places, w.cast(box, "int32")),
            w.ScatterND(w.full([rows, limit], 0, scores.dtype), places, values), w.cast(counts, "int32"))


def box_places(w, begin, end, count, size):
    """Return where pixels of boxes lie along an axis (M, count): in single precision, which decides what is within."""
    last = w.cast(w.Sub(whole(w, size), 1), "float32")
    begin, end = (w.Unsqueeze(side, [1]) for side in (begin, end))
    if count == 1:
        return w.Mul(w.Mul(w.Add(begin, end), 0.5), last), last
    step = w.Div(w.Mul(w.Sub(end, begin), last), w.constant(count - 1, "float32"))
    return w.Add(w.Mul(begin, last), w.Mul(w.cast(count_places(w, count), "float32"), step)), last


@maps("crop_boxes")
def crop_boxes(w, x, boxes, which, size, mode, outside, slopes):
    if any(slopes):
        w.refuse("how pixels change along an axis")
    if 0 in x.shape or 0 in boxes.shape:
        return w.full([boxes.shape[0], *size, x.shape[3]], 0, x.dtype)
    sides = [w.Gather(w.cast(boxes, "float32"), w.constant(column, "int64"), axis=1) for column in range(4)]
    ends = [box_places(w, sides[axis], sides[axis + 2], size[axis], x.shape[axis + 1]) for axis in (0, 1)]
    within = [w.And(w.Not(w.Less(at, 0.0)), w.LessOrEqual(at, last)) for at, last in ends]
    rows, columns = w.Unsqueeze(ends[0][0], [2]), w.Unsqueeze(ends[1][0], [1])
    inside = w.Unsqueeze(w.And(w.Unsqueeze(within[0], [2]), w.Unsqueeze(within[1], [1])), [3])
    picture = Picture(w, x, w.Unsqueeze(which, [1, 2, 3]), [boxes.shape[0], *size, 1], 0)
    if mode == "nearest":
        made = picture.read(w.Floor(w.Add(rows, 0.5)), w.Floor(w.Add(columns, 0.5)))
    else:
        top, left = w.Floor(rows), w.Floor(columns)
        down, right = w.Sub(rows, top), w.Sub(columns, left)
        lines = [mixed(w, w.Sub(1.0, right), picture.read(row, left), right, picture.read(row, w.Ceil(columns)))
                 for row in (top, w.Ceil(rows))]
        made = mixed(w, w.Sub(1.0, down), lines[0], down, lines[1])
    return w.Where(inside, made, w.constant(outside, x.dtype))

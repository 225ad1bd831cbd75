"""Operators that make one number of many, and running ones."""
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.tensorflow import math, nn
from dragon.vm.tensorflow.core.saved_model.table import enter, operator, plain, rows
from dragon.vm.tensorflow.core.saved_model.values import Host, number, numbers, tensor


def _enter_reduction(name, function, hosted=None):
    def run(node, x, axis):
        keep = node.get("keep_dims", False)
        if hosted is not None and type(x) is Host and isinstance(x.numbers, list) and not keep and axis.shape != (0,):
            return Host(hosted(x.numbers), x.dtype)
        return getattr(math, function)(tensor(x), numbers(axis), keepdims=keep)
    enter(name, run)


def _product(values):
    found = 1
    for value in values:
        found = value * found
    return found


def _sum(values):
    found = 0
    for value in values:
        found = value + found
    return found


for _name, _function, _hosted in (
        ("Sum", "reduce_sum", _sum), ("Prod", "reduce_prod", _product), ("Mean", "reduce_mean", None),
        ("Max", "reduce_max", None), ("Min", "reduce_min", None), ("All", "reduce_all", None),
        ("Any", "reduce_any", None), ("EuclideanNorm", "reduce_euclidean_norm", None)):
    _enter_reduction(_name, _function, _hosted)


@operator("ArgMax ArgMin")
def _arg(node, x, axis=None):
    function = math.argmax if node.op == "ArgMax" else math.argmin
    return function(tensor(x), 0 if axis is None else number(axis), output_type=node.get("output_type", "int64"))


@operator("Cumsum Cumprod CumulativeLogsumexp")
def _cumulate(node, x, axis):
    function = {"Cumsum": math.cumsum, "Cumprod": math.cumprod,
                "CumulativeLogsumexp": math.cumulative_logsumexp}[node.op]
    return function(tensor(x), number(axis), node.get("exclusive", False), node.get("reverse", False))


@operator("TopKV2 TopK")
def _top_k(node, x, k=None):
    found = math.top_k(tensor(x), number(k) if k is not None else node.get("k"), node.get("sorted", True))
    return found[0], found[1]


@operator("InTopKV2 InTopK")
def _in_top_k(node, predictions, targets, k=None):
    return math.in_top_k(tensor(targets), tensor(predictions), number(k) if k is not None else node.get("k"))


@operator("NthElement")
def _nth_element(node, x, n):
    ordered = ops.sort(tensor(x), -1, node.get("reverse", False))[0]
    return ordered[..., number(n)]


rows(math, """
SegmentSum SegmentSumV2 segment_sum
SegmentMean segment_mean
SegmentMax SegmentMaxV2 segment_max
SegmentMin SegmentMinV2 segment_min
SegmentProd SegmentProdV2 segment_prod
""")


@operator("UnsortedSegmentSum UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd")
def _unsorted(node, data, ids, count):
    name = f"unsorted_segment_{node.op.removeprefix('UnsortedSegment').lower()}"
    return getattr(math, name)(tensor(data), tensor(ids), number(count))


@operator("SparseSegmentSum SparseSegmentMean SparseSegmentSqrtN")
def _sparse_segment(node, data, indices, ids):
    from dragon.vm.tensorflow import sparse
    name = {"SparseSegmentSum": "segment_sum", "SparseSegmentMean": "segment_mean",
            "SparseSegmentSqrtN": "segment_sqrt_n"}[node.op]
    return getattr(sparse, name)(tensor(data), tensor(indices), tensor(ids))


@operator("Bincount")
def _bincount(node, values, size, weights):
    weights = tensor(weights)
    count = number(size)
    return math.bincount(tensor(values), weights if weights.shape.num_elements() else None, minlength=count,
                         maxlength=count, dtype=node.get("T"))


@operator("DenseBincount")
def _dense_bincount(node, values, size, weights):
    values, weights, count = tensor(values), tensor(weights), number(size)
    return math.bincount(values, weights if weights.shape.num_elements() else None, minlength=count, maxlength=count,
                         dtype=node.get("T"), axis=-1 if values.ndim == 2 else None,
                         binary_output=node.get("binary_output", False))


@operator("Bucketize")
def _bucketize(node, x):
    x = tensor(x)
    edges = ops.cast(tensor_of(node.get("boundaries")), "float32")
    return ops.cast(ops.bucketize(ops.cast(x, "float32"), edges, right=True), "int32")


def tensor_of(values):
    """Return Python's floats as a tensor."""
    from dragon.vm.shared.tensors.convert import convert_to_tensor
    return convert_to_tensor(values, "float32")


@operator("L2Loss")
def _l2_loss(node, x):
    return nn.l2_loss(tensor(x))


@plain("HistogramFixedWidth")
def _histogram(values, limits, bins):
    from dragon.vm.shared.arrays.gathering import histogram_fixed_width
    return histogram_fixed_width(values, limits, int(bins))


@operator("SparseSoftmaxCrossEntropyWithLogits")
def _sparse_cross_entropy(node, features, labels):
    features, labels = tensor(features), tensor(labels)
    chances = nn.softmax(features)
    wanted = ops.one_hot(ops.cast(labels, "int64"), features.shape[-1])
    return (nn.sparse_softmax_cross_entropy_with_logits(labels, features),
            chances - ops.cast(wanted, features.dtype))


@operator("SoftmaxCrossEntropyWithLogits")
def _cross_entropy(node, features, labels):
    features, labels = tensor(features), tensor(labels)
    return nn.softmax_cross_entropy_with_logits(labels, features), nn.softmax(features) - labels

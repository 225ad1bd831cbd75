"""Right calls of `tf.raw_ops`: those that guesses would hardly find, and guesses from TensorFlow's descriptions."""
import inspect

import numpy

from hostile import pick

_random = numpy.random.RandomState(5)


def f(*shape):
    """Return floating numbers."""
    return _random.uniform(0.1, 2, shape).astype("float32")


def i(*values, dtype="int32"):
    """Return integers."""
    return numpy.array(values, dtype)


IMAGE, FILTER, OUT = f(2, 5, 6, 3), f(2, 2, 3, 4), f(2, 5, 6, 4)
VOLUME, KERNEL, VOLUME_OUT = f(1, 4, 4, 4, 2), f(2, 2, 2, 2, 3), f(1, 4, 4, 4, 3)
ONES, SAME = {"strides": [1, 1, 1, 1]}, {"padding": "SAME"}
NORM = {"x": IMAGE, "scale": f(3), "offset": f(3), "mean": f(3), "variance": f(3), "is_training": False}
TRAINED = {"x": IMAGE, "scale": f(3), "offset": f(3), "mean": f(0), "variance": f(0), "is_training": True}
BACK = {"y_backprop": IMAGE, "x": IMAGE, "scale": f(3), "reserve_space_1": f(3), "reserve_space_2": f(3)}
POOL = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}
POOL3 = {"ksize": [1, 2, 2, 2, 1], "strides": [1, 2, 2, 2, 1], "padding": "VALID"}
BOXES = numpy.array([[0, 0, 1, 1], [0.1, 0.1, 0.8, 0.9], [0, 0, 0.5, 0.5]], "float32")
SPARSE = {"indices": i([0, 1], [1, 2], dtype="int64"), "values": f(2), "shape": i(2, 3, dtype="int64")}
A = {"a_indices": SPARSE["indices"], "a_values": SPARSE["values"], "a_shape": SPARSE["shape"]}
SP = {"sp_indices": SPARSE["indices"], "sp_values": SPARSE["values"], "sp_shape": SPARSE["shape"]}
REDUCED = {"input_indices": SPARSE["indices"], "input_values": SPARSE["values"], "input_shape": SPARSE["shape"]}
SEGMENTS = {"data": f(4, 3), "segment_ids": i(0, 0, 1, 2)}
UNSORTED = {"data": f(4, 3), "segment_ids": i(0, 2, 1, 2), "num_segments": 3}
PICKED = {"data": f(4, 3), "indices": i(0, 1, 3), "segment_ids": i(0, 0, 1)}
PICKED_GRAD = {"grad": f(2, 3), "indices": i(0, 1, 3), "segment_ids": i(0, 0, 1), "output_dim0": 4}
MATRIX = numpy.eye(3, dtype="float32") * 4 + f(3, 3) * 0.1
SYMMETRIC = MATRIX + MATRIX.T
SEED = {"seed": i(1, 2)}
KEY = {"key": numpy.array([1], "uint64"), "counter": numpy.array([1, 2], "uint64"), "alg": 1}
ROW_CELL = {"cs_prev": f(2, 4), "h_prev": f(2, 4), "w": f(7, 16), "wci": f(4), "wcf": f(4), "wco": f(4), "b": f(16)}
CALLS = {
    "FusedBatchNorm": [NORM, TRAINED], "FusedBatchNormV2": [NORM, TRAINED], "FusedBatchNormV3": [NORM, TRAINED],
    "FusedBatchNormGrad": [BACK], "FusedBatchNormGradV2": [BACK],
    "FusedBatchNormGradV3": [dict(BACK, reserve_space_3=f(1))],
    "Conv2D": [{"input": IMAGE, "filter": FILTER, **ONES, **SAME},
               {"input": IMAGE, "filter": FILTER, **ONES, "padding": "EXPLICIT",
                "explicit_paddings": [0, 0, 1, 1, 0, 1, 0, 0]}],
    "Conv2DBackpropInput": [{"input_sizes": i(2, 5, 6, 3), "filter": FILTER, "out_backprop": OUT, **ONES, **SAME},
                            {"input_sizes": i(2, 5, 6, 3), "filter": FILTER, "out_backprop": f(2, 2, 3, 4),
                             "strides": [1, 2, 2, 1], "padding": "VALID"}],
    "Conv2DBackpropFilter": [{"input": IMAGE, "filter_sizes": i(2, 2, 3, 4), "out_backprop": OUT, **ONES, **SAME}],
    "Conv3D": [{"input": VOLUME, "filter": KERNEL, "strides": [1] * 5, **SAME}],
    "Conv3DBackpropInputV2": [{"input_sizes": i(1, 4, 4, 4, 2), "filter": KERNEL, "out_backprop": VOLUME_OUT,
                               "strides": [1] * 5, **SAME}],
    "Conv3DBackpropFilterV2": [{"input": VOLUME, "filter_sizes": i(2, 2, 2, 2, 3), "out_backprop": VOLUME_OUT,
                                "strides": [1] * 5, **SAME}],
    "DepthwiseConv2dNative": [{"input": IMAGE, "filter": f(2, 2, 3, 2), **ONES, **SAME}],
    "DepthwiseConv2dNativeBackpropInput": [{"input_sizes": i(2, 5, 6, 3), "filter": f(2, 2, 3, 2),
                                            "out_backprop": f(2, 5, 6, 6), **ONES, **SAME}],
    "DepthwiseConv2dNativeBackpropFilter": [{"input": IMAGE, "filter_sizes": i(2, 2, 3, 2),
                                             "out_backprop": f(2, 5, 6, 6), **ONES, **SAME}],
    "Dilation2D": [{"input": IMAGE, "filter": f(2, 2, 3), **ONES, "rates": [1, 1, 1, 1], **SAME}],
    "BiasAdd": [{"value": IMAGE, "bias": f(3)}], "BiasAddV1": [{"value": IMAGE, "bias": f(3)}],
    "BiasAddGrad": [{"out_backprop": IMAGE}],
    "AvgPool": [{"value": IMAGE, **POOL}], "MaxPool": [{"input": IMAGE, **POOL}],
    "MaxPoolV2": [{"input": IMAGE, "ksize": i(1, 2, 2, 1), "strides": i(1, 2, 2, 1), "padding": "VALID"}],
    "MaxPoolWithArgmax": [{"input": IMAGE, **POOL}],
    "AvgPool3D": [{"input": VOLUME, **POOL3}], "MaxPool3D": [{"input": VOLUME, **POOL3}],
    "AvgPoolGrad": [{"orig_input_shape": i(2, 5, 6, 3), "grad": f(2, 2, 3, 3), **POOL}],
    "MaxPoolGrad": [{"orig_input": IMAGE, "orig_output": f(2, 2, 3, 3), "grad": f(2, 2, 3, 3), **POOL}],
    "FractionalMaxPool": [{"value": IMAGE, "pooling_ratio": [1.0, 1.4, 1.3, 1.0], "deterministic": True, "seed": 1,
                           "seed2": 2}],
    "FractionalAvgPool": [{"value": IMAGE, "pooling_ratio": [1.0, 1.4, 1.3, 1.0], "deterministic": True, "seed": 1,
                           "seed2": 2}],
    "LRN": [{"input": IMAGE}], "InTopKV2": [{"predictions": f(3, 4), "targets": i(0, 1, 2), "k": 2}],
    "InTopK": [{"predictions": f(3, 4), "targets": i(0, 1, 2), "k": 2}],
    "SoftmaxCrossEntropyWithLogits": [{"features": f(3, 4), "labels": f(3, 4)}],
    "SparseSoftmaxCrossEntropyWithLogits": [{"features": f(3, 4), "labels": i(0, 3, 2)}],
    "CTCLoss": [{"inputs": f(5, 2, 4), "labels_indices": i([0, 0], [0, 1], [1, 0], dtype="int64"),
                 "labels_values": i(1, 2, 1), "sequence_length": i(5, 4)}],
    "CTCGreedyDecoder": [{"inputs": f(5, 2, 4), "sequence_length": i(5, 4)}],
    "CTCBeamSearchDecoder": [{"inputs": f(5, 2, 4), "sequence_length": i(5, 4), "beam_width": 3, "top_paths": 2}],
    "Gather": [{"params": f(4, 3), "indices": i(0, 3)}],
    "GatherV2": [{"params": f(4, 3), "indices": i(0, 2), "axis": 1},
                 {"params": f(2, 4, 3), "indices": i([0, 2], [1, 1]), "axis": 1, "batch_dims": 1}],
    "GatherNd": [{"params": f(4, 3), "indices": i([0, 1], [3, 2])}],
    "ScatterNd": [{"indices": i([0], [2]), "updates": f(2, 3), "shape": i(4, 3)}],
    **{f"TensorScatter{kind}": [{"tensor": f(4, 3), "indices": i([0], [2]), "updates": f(2, 3)}]
       for kind in ("Update", "Add", "Sub", "Min", "Max")},
    "ScatterNdNonAliasingAdd": [{"input": f(4, 3), "indices": i([0], [2]), "updates": f(2, 3)}],
    **{f"Segment{kind}": [SEGMENTS] for kind in ("Sum", "Mean", "Max", "Min", "Prod")},
    **{f"UnsortedSegment{kind}": [UNSORTED] for kind in ("Sum", "Max", "Min", "Prod")},
    **{f"SparseSegment{kind}": [PICKED] for kind in ("Sum", "Mean", "SqrtN")},
    **{f"SparseSegment{kind}WithNumSegments": [PICKED | {"num_segments": 3}] for kind in ("Sum", "Mean", "SqrtN")},
    **{f"SparseSegment{kind}Grad": [PICKED_GRAD] for kind in ("Sum", "Mean", "SqrtN")},
    "DynamicStitch": [{"indices": [i(0, 2), i(1)], "data": [f(2, 3), f(1, 3)]}],
    "ParallelDynamicStitch": [{"indices": [i(0, 2), i(1)], "data": [f(2, 3), f(1, 3)]}],
    "DynamicPartition": [{"data": f(4, 3), "partitions": i(0, 1, 1, 0), "num_partitions": 2}],
    "OneHot": [{"indices": i(0, 2), "depth": 3, "on_value": 1.0, "off_value": 0.0}],
    "Reshape": [{"tensor": f(2, 6), "shape": i(3, 4)}], "Transpose": [{"x": f(2, 3, 4), "perm": i(2, 0, 1)}],
    "ConjugateTranspose": [{"x": f(2, 3, 4), "perm": i(2, 0, 1)}],
    "Tile": [{"input": f(2, 3), "multiples": i(2, 1)}], "Pad": [{"input": f(2, 3), "paddings": i([1, 0], [0, 2])}],
    "PadV2": [{"input": f(2, 3), "paddings": i([1, 0], [0, 2]), "constant_values": 1.0}],
    "MirrorPad": [{"input": f(2, 3), "paddings": i([1, 0], [0, 2]), "mode": "REFLECT"}],
    "Slice": [{"input": f(2, 3), "begin": i(0, 1), "size": i(2, 2)}],
    "StridedSlice": [{"input": f(4, 3), "begin": i(0, 1), "end": i(3, 3), "strides": i(1, 1)}],
    "Reverse": [{"tensor": f(2, 3), "dims": [True, False]}], "ReverseV2": [{"tensor": f(2, 3), "axis": i(1)}],
    "ReverseSequence": [{"input": f(2, 4), "seq_lengths": i(2, 3), "seq_dim": 1, "batch_dim": 0}],
    "Roll": [{"input": f(2, 4), "shift": i(1, 2), "axis": i(0, 1)}],
    "Split": [{"axis": 0, "value": f(4, 3), "num_split": 2}],
    "SplitV": [{"value": f(4, 3), "size_splits": i(1, 3), "axis": 0, "num_split": 2}],
    "Concat": [{"concat_dim": 0, "values": [f(2, 3), f(1, 3)]}],
    "ConcatV2": [{"values": [f(2, 3), f(1, 3)], "axis": 0}],
    "ConcatOffset": [{"concat_dim": 0, "shape": [i(2, 3), i(1, 3)]}],
    "Pack": [{"values": [f(2), f(2)], "axis": 1}], "Unpack": [{"value": f(2, 3), "num": 2}],
    "BatchToSpaceND": [{"input": f(4, 2, 2, 1), "block_shape": i(2, 2), "crops": i([0, 0], [0, 1])}],
    "BatchToSpace": [{"input": f(4, 2, 2, 1), "crops": i([0, 0], [0, 1]), "block_size": 2}],
    "SpaceToBatchND": [{"input": f(1, 4, 4, 1), "block_shape": i(2, 2), "paddings": i([0, 0], [0, 0])}],
    "SpaceToBatch": [{"input": f(1, 4, 4, 1), "paddings": i([0, 0], [0, 0]), "block_size": 2}],
    "SpaceToDepth": [{"input": f(1, 4, 4, 1), "block_size": 2}],
    "DepthToSpace": [{"input": f(1, 2, 2, 4), "block_size": 2}],
    "Bincount": [{"arr": i(0, 1, 1), "size": 3, "weights": f(3)}],
    "DenseBincount": [{"input": i(0, 1, 1), "size": 3, "weights": f(3)}],
    "HistogramFixedWidth": [{"values": f(5), "value_range": f(2).cumsum().astype("float32"), "nbins": 4}],
    "Bucketize": [{"input": f(4), "boundaries": [0.5, 1.0]}],
    "LowerBound": [{"sorted_inputs": f(2, 3).cumsum(1), "values": f(2, 2)}],
    "UpperBound": [{"sorted_inputs": f(2, 3).cumsum(1), "values": f(2, 2)}],
    "TopKV2": [{"input": f(2, 4), "k": 2}], "NthElement": [{"input": f(2, 4), "n": 1}],
    "MatrixBandPart": [{"input": f(3, 4), "num_lower": 1, "num_upper": -1}],
    "MatrixDiagV2": [{"diagonal": f(3), "k": 1, "num_rows": 4, "num_cols": 4, "padding_value": 0.0}],
    "MatrixDiagV3": [{"diagonal": f(3), "k": 1, "num_rows": 4, "num_cols": 4, "padding_value": 0.0}],
    "MatrixDiagPartV2": [{"input": f(3, 4), "k": 1, "padding_value": 0.0}],
    "MatrixDiagPartV3": [{"input": f(3, 4), "k": i(-1, 1), "padding_value": 0.0}],
    "MatrixSetDiag": [{"input": f(3, 4), "diagonal": f(3)}],
    "MatrixSetDiagV3": [{"input": f(3, 4), "diagonal": f(3), "k": 1}],
    "MatrixInverse": [{"input": MATRIX}], "MatrixDeterminant": [{"input": MATRIX}],
    "LogMatrixDeterminant": [{"input": MATRIX}], "Cholesky": [{"input": SYMMETRIC}], "Qr": [{"input": f(3, 4)}],
    "SelfAdjointEigV2": [{"input": SYMMETRIC}], "Svd": [{"input": f(3, 4)}], "Lu": [{"input": MATRIX}],
    "MatrixSolve": [{"matrix": MATRIX, "rhs": f(3, 2)}], "MatrixTriangularSolve": [{"matrix": MATRIX, "rhs": f(3, 2)}],
    "MatrixSolveLs": [{"matrix": MATRIX, "rhs": f(3, 2), "l2_regularizer": numpy.array(0.1)}],
    "TridiagonalSolve": [{"diagonals": MATRIX, "rhs": f(3, 2)}],
    "TridiagonalMatMul": [{"superdiag": f(1, 3), "maindiag": f(1, 3), "subdiag": f(1, 3), "rhs": f(3, 2)}],
    "Einsum": [{"inputs": [f(2, 3), f(3, 4)], "equation": "ij,jk->ik"}], "Cross": [{"a": f(2, 3), "b": f(2, 3)}],
    "CropAndResize": [{"image": IMAGE, "boxes": BOXES, "box_ind": i(0, 1, 1), "crop_size": i(2, 3)}],
    "CropAndResizeGradImage": [{"grads": f(3, 2, 3, 3), "boxes": BOXES, "box_ind": i(0, 1, 1),
                                "image_size": i(2, 5, 6, 3), "T": ["dtype", "float32"]}],
    "ExtractImagePatches": [{"images": IMAGE, "ksizes": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "rates": [1, 1, 1, 1],
                             "padding": "VALID"}],
    "ExtractGlimpse": [{"input": IMAGE, "size": i(2, 3), "offsets": f(2, 2)}],
    **{f"Resize{kind}": [{"images": IMAGE, "size": i(3, 4)}]
       for kind in ("Bilinear", "NearestNeighbor", "Bicubic", "Area")},
    "ScaleAndTranslate": [{"images": IMAGE, "size": i(3, 4), "scale": f(2), "translation": f(2)}],
    "NonMaxSuppression": [{"boxes": BOXES, "scores": f(3), "max_output_size": 2}],
    "NonMaxSuppressionV3": [{"boxes": BOXES, "scores": f(3), "max_output_size": 2, "iou_threshold": 0.5,
                             "score_threshold": 0.0}],
    "NonMaxSuppressionV4": [{"boxes": BOXES, "scores": f(3), "max_output_size": 2, "iou_threshold": 0.5,
                             "score_threshold": 0.0}],
    "NonMaxSuppressionV5": [{"boxes": BOXES, "scores": f(3), "max_output_size": 2, "iou_threshold": 0.5,
                             "score_threshold": 0.0, "soft_nms_sigma": 0.1}],
    "CombinedNonMaxSuppression": [{"boxes": BOXES[None, :, None], "scores": f(1, 3, 2), "max_output_size_per_class": 2,
                                   "max_total_size": 3, "iou_threshold": 0.5, "score_threshold": 0.0}],
    "DrawBoundingBoxes": [{"images": IMAGE, "boxes": numpy.stack([BOXES, BOXES])}],
    "ImageProjectiveTransformV3": [{"images": IMAGE, "transforms": f(2, 8), "output_shape": i(3, 4), "fill_value": 0.0,
                                    "interpolation": "BILINEAR"}],
    "AdjustContrastv2": [{"images": IMAGE, "contrast_factor": 0.5}], "AdjustHue": [{"images": IMAGE, "delta": 0.5}],
    "AdjustSaturation": [{"images": IMAGE, "scale": 0.5}], "RGBToHSV": [{"images": IMAGE}],
    "HSVToRGB": [{"images": IMAGE}],
    "SparseToDense": [{"sparse_indices": SPARSE["indices"], "output_shape": SPARSE["shape"],
                       "sparse_values": SPARSE["values"], "default_value": 0.0}],
    "SparseTensorDenseMatMul": [A | {"b": f(3, 2)}], "SparseTensorDenseAdd": [A | {"b": f(2, 3)}],
    "SparseReorder": [REDUCED], "SparseReshape": [{"input_indices": SPARSE["indices"], "input_shape": SPARSE["shape"],
                                                   "new_shape": i(3, 2, dtype="int64")}],
    "SparseReduceSum": [REDUCED | {"reduction_axes": i(0)}], "SparseReduceMax": [REDUCED | {"reduction_axes": i(0)}],
    "SparseSoftmax": [SP], "SparseDenseCwiseAdd": [SP | {"dense": f(2, 3)}],
    "SparseDenseCwiseMul": [SP | {"dense": f(2, 3)}],
    "SparseAdd": [A | {key.replace("a_", "b_"): value for key, value in A.items()} | {"thresh": 0.0}],
    "SparseConcat": [{"indices": [SPARSE["indices"]] * 2, "values": [SPARSE["values"]] * 2,
                      "shapes": [SPARSE["shape"]] * 2, "concat_dim": 0}],
    "SparseSlice": [SPARSE | {"start": i(0, 1, dtype="int64"), "size": i(2, 2, dtype="int64")}],
    "SparseSplit": [SPARSE | {"split_dim": 0, "num_split": 2, }], "SparseFillEmptyRows": [
        {"indices": SPARSE["indices"], "values": SPARSE["values"], "dense_shape": SPARSE["shape"],
         "default_value": 0.0}],
    "RaggedTensorToTensor": [{"shape": i(2, 3), "values": f(4), "default_value": 0.0,
                              "row_partition_tensors": [i(0, 2, 4)], "row_partition_types": ["ROW_SPLITS"]}],
    "RaggedTensorToSparse": [{"rt_nested_splits": [i(0, 2, 4, dtype="int64")], "rt_dense_values": f(4)}],
    "RaggedGather": [{"params_nested_splits": [i(0, 2, 4, dtype="int64")], "params_dense_values": f(4),
                      "indices": i(1, 0, dtype="int64"), "OUTPUT_RAGGED_RANK": 1}],
    "RaggedRange": [{"starts": i(0, 2), "limits": i(2, 5), "deltas": i(1, 1)}],
    "StatelessRandomUniform": [{"shape": i(2, 3), **SEED}], "StatelessRandomNormal": [{"shape": i(2, 3), **SEED}],
    "StatelessTruncatedNormal": [{"shape": i(2, 3), **SEED}],
    "StatelessRandomUniformInt": [{"shape": i(2, 3), **SEED, "minval": 0, "maxval": 5}],
    "StatelessRandomUniformFullInt": [{"shape": i(2, 3), **SEED}],
    "StatelessRandomUniformV2": [{"shape": i(2, 3), **KEY}], "StatelessRandomNormalV2": [{"shape": i(2, 3), **KEY}],
    "StatelessMultinomial": [{"logits": f(2, 3), "num_samples": 4, **SEED}],
    "StatelessRandomBinomial": [{"shape": i(2), **SEED, "counts": f(2) + 3, "probs": f(2) / 3}],
    "StatelessRandomGammaV2": [{"shape": i(2), **SEED, "alpha": f(2)}],
    "StatelessRandomPoisson": [{"shape": i(2), **SEED, "lam": f(2), "dtype": ["dtype", "float32"]}],
    "StatelessParameterizedTruncatedNormal": [{"shape": i(2), **SEED, "means": 0.0, "stddevs": 1.0, "minvals": -1.0,
                                               "maxvals": 1.0}],
    "RandomUniform": [{"shape": i(2, 3), "dtype": ["dtype", "float32"]}],
    "RandomUniformInt": [{"shape": i(2, 3), "minval": 0, "maxval": 5}],
    "RandomStandardNormal": [{"shape": i(2, 3), "dtype": ["dtype", "float32"]}],
    "TruncatedNormal": [{"shape": i(2, 3), "dtype": ["dtype", "float32"]}],
    "RandomGamma": [{"shape": i(2), "alpha": f(2)}], "RandomPoissonV2": [{"shape": i(2), "rate": f(2)}],
    "RandomShuffle": [{"value": f(4, 2)}], "Multinomial": [{"logits": f(2, 3), "num_samples": 4}],
    "ParameterizedTruncatedNormal": [{"shape": i(2), "means": f(2), "stdevs": f(2), "minvals": -f(2),
                                      "maxvals": f(2) + 3}],
    "LSTMBlockCell": [{"x": f(2, 3), **ROW_CELL}],
    "GRUBlockCell": [{"x": f(2, 3), "h_prev": f(2, 4), "w_ru": f(7, 8), "w_c": f(7, 4), "b_ru": f(8), "b_c": f(4)}],
    "BlockLSTM": [{"seq_len_max": numpy.array(3, "int64"), "x": f(3, 2, 3), **ROW_CELL}],
    "BlockLSTMV2": [{"seq_len_max": numpy.array(3, "int64"), "x": f(3, 2, 3), **ROW_CELL}],
    "RFFT": [{"input": f(2, 8), "fft_length": i(8)}], "RFFT2D": [{"input": f(4, 8), "fft_length": i(4, 8)}],
    "IRFFT": [{"input": f(2, 5).astype("complex64"), "fft_length": i(8)}],
    "IRFFT2D": [{"input": f(4, 5).astype("complex64"), "fft_length": i(4, 8)}],
    "RFFT3D": [{"input": f(2, 4, 8), "fft_length": i(2, 4, 8)}],
    "Range": [{"start": 0, "limit": 5, "delta": 1}], "LinSpace": [{"start": 0.0, "stop": 1.0, "num": 4}],
    "Fill": [{"dims": i(2, 3), "value": 1.0}], "BroadcastTo": [{"input": f(3), "shape": i(2, 3)}],
    "BroadcastArgs": [{"s0": i(2, 1), "s1": i(2, 3)}], "InvertPermutation": [{"x": i(2, 0, 1)}],
    "UnravelIndex": [{"indices": i(3, 5), "dims": i(2, 3)}], "Betainc": [{"a": f(3), "b": f(3), "x": f(3) / 3}],
    "ClipByValue": [{"t": f(3), "clip_value_min": 0.5, "clip_value_max": 1.0}],
    "QuantizeV2": [{"input": f(3), "min_range": 0.0, "max_range": 2.0, "T": ["dtype", "quint8"]}],
    "FakeQuantWithMinMaxVars": [{"inputs": f(3), "min": 0.0, "max": 2.0}],
    "FakeQuantWithMinMaxVarsPerChannel": [{"inputs": f(2, 3), "min": -f(3), "max": f(3)}],
    "FakeQuantWithMinMaxArgs": [{"inputs": f(3)}], "Substr": [{"input": ["abcd", "efgh"], "pos": 1, "len": 2}],
    "StringSplitV2": [{"input": ["a b", "c"], "sep": " "}],
    "StringNGrams": [{"data": ["a", "b", "c"], "data_splits": i(0, 2, 3, dtype="int64"), "separator": " ",
                      "ngram_widths": [2], "left_pad": "", "right_pad": "", "pad_width": 0,
                      "preserve_short_sequences": False}],
    "DecodeRaw": [{"bytes": ["abcd"], "out_type": ["dtype", "int16"]}],
    "SampleDistortedBoundingBoxV2": [{"image_size": i(5, 6, 3), "bounding_boxes": BOXES[None],
                                      "min_object_covered": 0.1}],
    "Mfcc": [{"spectrogram": f(1, 3, 9), "sample_rate": 16000}],
    "AudioSpectrogram": [{"input": f(20, 1), "window_size": 8, "stride": 4}],
}
SIZES = ((), (3,), (3,), (2, 3), (2, 3), (3, 3), (2, 3, 4), (1, 4, 4, 3), (1, 2, 3, 4, 4))
SMALL_INTS = ("axis", "dim", "dimension", "index", "num", "k", "size", "depth", "axes", "n")


def known_of(guest, name):
    """Return TensorFlow's own description of an operator."""
    from tensorflow.python.framework import op_def_registry
    return op_def_registry.get(name.rpartition(".")[2])


def tensor(rng, dtype, small):
    """Return numbers of a dtype of any shape."""
    size = pick(rng, SIZES)
    if dtype == "string":
        return ["list", "a", "b", "1"]
    if dtype == "bool":
        return ["tensor", rng.integers(0, 2, size) > 0, False]
    if dtype.startswith(("int", "uint")):
        size = pick(rng, ((), (1,), (2,), (3,), size)) if small else size
        return ["tensor", numpy.asarray(rng.integers(0, 3, size)).astype(dtype), False]
    return ["tensor", numpy.asarray(rng.uniform(0.1, 2, size)).astype(dtype), False]


def guess(guest, target, name, rng):
    """Return (args, kwargs) of a call that may be right."""
    told, kwargs = known_of(guest, name), {}
    attributes = {attr.name: attr for attr in told.attr}
    types = {}

    def dtype_of(attribute):
        if attribute not in types:
            allowed = [guest.as_dtype(one).name for one in attributes[attribute].allowed_values.list.type]
            wanted = [one for one in ("float32", "int32", "complex64", "int64", "string", "bool", "float64")
                      if not allowed or one in allowed]
            types[attribute] = pick(rng, wanted[:2] or allowed or ["float32"])
        return types[attribute]
    for place in told.input_arg:
        dtype = dtype_of(place.type_attr) if place.type_attr else guest.as_dtype(place.type or 1).name
        small = place.type_attr.startswith(("Tidx", "Tdim", "Tshape", "Tperm", "Tblock", "Tpadd", "index", "Index"))
        if place.number_attr or place.type_list_attr:
            first = tensor(rng, dtype, small)
            kwargs[place.name] = ["list", first, first]
        else:
            kwargs[place.name] = tensor(rng, dtype, small)
    for key, parameter in inspect.signature(target).parameters.items():
        attribute = attributes.get(key)
        if attribute is None or key in kwargs or parameter.default is not parameter.empty and rng.integers(3):
            continue
        kwargs[key] = guess_attribute(guest, rng, attribute, types)
    return [], kwargs


def guess_attribute(guest, rng, attribute, types):
    """Return a value that an attribute may have."""
    if attribute.type == "type":
        allowed = [guest.as_dtype(one).name for one in attribute.allowed_values.list.type]
        return ["dtype", types.get(attribute.name) or pick(rng, allowed or ["float32", "int32"])]
    if attribute.type == "int":
        return pick(rng, (1, 2, 3, 0))
    if attribute.type == "float":
        return pick(rng, (0.5, 1.0))
    if attribute.type == "bool":
        return bool(rng.integers(2))
    if attribute.type == "string":
        allowed = [value.decode() for value in attribute.allowed_values.list.s]
        return pick(rng, allowed or [""])
    if attribute.type == "shape" or attribute.type == "list(int)":
        return ["list", *([int(rng.integers(1, 3))] * int(rng.integers(1, 5)))]
    if attribute.type == "list(float)":
        return ["list", 0.5, 1.0]
    return ["list"]

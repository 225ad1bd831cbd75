// Kernels that read and write elements at computed places. All index tensors are int64, and an index outside its axis
// is an IndexError. Any strides will do unless a line says otherwise.
#pragma once

#include "core/kernels/kernel.h"

namespace dragon::kernels {

/// Whose indices they are, for errors, and whether negative ones count from the end: otherwise they are outside.
struct Indexing {
  const char* op;
  bool from_end = false;
};

/// What Scatter does where several elements meet, or with the element already there.
enum class Combine : uint8_t { kAssign, kAdd, kMultiply, kMax, kMin };

/// How an embedding bag makes one row of many.
enum class BagMode : uint8_t { kSum, kMean, kMax };

/// y[..., i, ...] = x[..., index[..., i, ...], ...] along `axis`; y and index have one shape (0-strides in index
/// repeat).
inline const Kernel<void(View y, View x, View index, int axis, Indexing how)> Gather{"gather"};
/// y[..., index[..., i, ...], ...] (combine)= src[..., i, ...] along `axis`, in order of i; index has the shape of src.
inline const Kernel<void(View y, View index, View src, int axis, Combine combine, Indexing how)> Scatter{"scatter"};
/// y = x[indices]: one View per axis of x, empty where the axis is kept; all others have one shape, which takes its
/// place in y before the axis `at` of the kept ones.
inline const Kernel<void(View y, View x, const View* indices, int at, Indexing how)> IndexRead{"index"};
/// y[indices] (combine)= value; value has the shape that y[indices] would have. The last of equal places wins.
inline const Kernel<void(View y, View value, const View* indices, int at, Combine combine, Indexing how)> IndexWrite{
    "index_put"};

/// y = mask ? value : x, with one shape for all; mask is bool, value any strides of y's dtype.
inline const Kernel<void(View y, View x, View mask, View value)> MaskedFill{"masked_fill"};
/// y[j] = the j-th element of x where mask is true; y is 1-d and as long as there are such elements.
inline const Kernel<void(View y, View x, View mask)> MaskedSelect{"masked_select"};
/// y = mask ? the next element of src : x; src is contiguous, a ValueError if it is too short.
inline const Kernel<void(View y, View x, View mask, View src)> MaskedScatter{"masked_scatter"};
/// The number of elements that are not zero.
inline const Kernel<void(int64_t* count, View x)> CountMarked{"count_marked"};
/// Row j of y (int64, contiguous, count by ndim) is the place of the j-th element that is not zero.
inline const Kernel<void(View y, View x)> Nonzero{"nonzero"};

/// dweight[index[i]] += dy[i] for contiguous dy (n by width); rows of `padding` (if >= 0) are skipped; with
/// `scale_by_frequency`, each is divided by how often its index occurs. dweight is contiguous and written whole.
inline const Kernel<void(View dweight, View dy, View index, int64_t padding, bool scale_by_frequency)>
    EmbeddingBackward{"embedding_backward"};
/// Row b of y = sum, mean or max of weight[index[offsets[b]] ... index[offsets[b + 1] - 1]]; `offsets` has bags + 1
/// entries, `padding` is a row to leave out or -1, `scale` (per element of index) and `places` (argmax, int64, for
/// kMax) are optional, all contiguous.
inline const Kernel<void(View y, View places, View weight, View index, View offsets, View scale, BagMode mode,
                         int64_t padding)>
    EmbeddingBag{"embedding_bag"};
/// The gradients of the above: dweight (written whole) and dscale are each optional.
inline const Kernel<void(View dweight, View dscale, View dy, View places, View weight, View index, View offsets,
                         View scale, BagMode mode, int64_t padding, bool scale_by_frequency)>
    EmbeddingBagBackward{"embedding_bag_backward"};

}  // namespace dragon::kernels

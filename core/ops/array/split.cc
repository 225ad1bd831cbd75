// Operators that take a tensor apart along an axis: every piece is a view.
#include "core/framework/infer.h"
#include "core/framework/op.h"

namespace dragon {
namespace {

/// More pieces than anybody unpacks: such a number is a mistake that would only eat memory.
constexpr int64_t kMostPieces = 1 << 24;
/// In a graph every piece is a call, and a file of a few bytes may ask for them.
constexpr int64_t kMostPiecesOfGraphs = 1 << 16;
int64_t MostPieces() { return Door().phantom ? kMostPiecesOfGraphs : kMostPieces; }

int64_t SplitAxis(const CallReader& c, int64_t axis) {
  if (c.x(0).ndim() == 0) throw ValueError(c.name()).Got("a 0-d tensor").Expected("at least one axis");
  return NormalizeAxis(c.name(), axis, c.x(0).ndim());
}

/// Pieces of the given sizes, which sum to the axis.
Tensors SplitSizes(const Tensor& x, const Dims& sizes, int64_t axis) {
  Tensors pieces;
  int64_t start = 0;
  for (int64_t size : sizes) {
    pieces.push_back(Op<"slice">(x, axis, start, start + size, 1));
    start += size;
  }
  return pieces;
}

/// Pieces of one size, the last of which may be smaller; at least one piece.
Tensors SplitEvery(const Tensor& x, int64_t size, int64_t axis) {
  Dims sizes;
  int64_t left = x.size(axis);
  do {
    sizes.push_back(std::min(size, left));
    left -= sizes.back();
  } while (left > 0);
  return SplitSizes(x, sizes, axis);
}

Tensors Split(const CallReader& c) {
  const int64_t size = c.Int("size"), axis = SplitAxis(c, c.Int("axis"));
  if (size < 0 || (size == 0 && c.x(0).size(axis) > 0)) {
    throw ValueError(c.name()).Got("size ", size).Expected("a positive size");
  }
  if (size > 0 && c.x(0).size(axis) / size >= MostPieces()) {
    throw ValueError(c.name()).Got(c.x(0).size(axis), " places in pieces of ", size).Expected("at most ", MostPieces());
  }
  return SplitEvery(c.x(0), size, axis);
}

Tensors SplitWithSizes(const CallReader& c) {
  const int64_t axis = SplitAxis(c, c.Int("axis"));
  int64_t left = c.x(0).size(axis);
  for (int64_t size : c.Ints("sizes")) {
    if (size < 0 || size > left) left = -1;
    if (left >= 0) left -= size;
  }
  if (left != 0) {
    throw ValueError(c.name())
        .Got("sizes ", c.Ints("sizes"))
        .Expected("sizes that sum to the ", c.x(0).size(axis), " of axis ", axis);
  }
  return SplitSizes(c.x(0), c.Ints("sizes"), axis);
}

Tensors Chunk(const CallReader& c) {
  const int64_t chunks = c.Int("chunks"), axis = SplitAxis(c, c.Int("axis")), size = c.x(0).size(axis);
  if (chunks <= 0 || (size == 0 ? chunks : std::min(chunks, size)) > MostPieces()) {
    throw ValueError(c.name()).Got(chunks, " chunks").Expected("1 to ", MostPieces());
  }
  if (size > 0) return SplitEvery(c.x(0), size / chunks + (size % chunks != 0), axis);
  return SplitSizes(c.x(0), Dims::Filled(chunks, 0), axis);
}

/// NumPy's array_split: the first pieces are one longer.
Tensors SectionsOf(const CallReader& c, int64_t sections, int64_t axis, bool equal) {
  axis = SplitAxis(c, axis);
  const int64_t size = c.x(0).size(axis);
  if (sections <= 0 || sections > MostPieces()) {
    throw ValueError(c.name()).Got(sections, " sections").Expected("1 to ", MostPieces());
  }
  if (equal && size % sections != 0) {
    throw ValueError(c.name()).Got(sections, " sections for axis ", axis).Expected("a divisor of its size ", size);
  }
  Dims sizes;
  for (int64_t i = 0; i < sections; ++i) sizes.push_back(size / sections + (i < size % sections));
  return SplitSizes(c.x(0), sizes, axis);
}

/// Pieces between the given places, which are read as slices are: cut off, and possibly empty.
Tensors SplitAt(const CallReader& c, const Dims& places, int64_t axis) {
  axis = SplitAxis(c, axis);
  Tensors pieces;
  int64_t start = 0;
  for (int64_t place : places) {
    pieces.push_back(Op<"slice">(c.x(0), axis, start, place, 1));
    start = place;
  }
  pieces.push_back(Op<"slice">(c.x(0), axis, start, None, 1));
  return pieces;
}

/// The axis of hsplit is 1, or 0 for a vector.
int64_t HorizontalAxis(const CallReader& c) { return c.x(0).ndim() > 1 ? 1 : 0; }
void NeedAxes(const CallReader& c, int least) {
  if (c.x(0).ndim() < least) {
    throw ValueError(c.name()).Got("a tensor of shape ", c.x(0).shape()).Expected("at least ", least, " axes");
  }
}

[[maybe_unused]] const auto& split = DefineOp("split(Tensor x, int size, int axis=0) -> Tensor[]")
                                         .Doc("Views of pieces of one size along an axis; the last may be smaller.")
                                         .As(Split);
[[maybe_unused]] const auto& split_with_sizes =
    DefineOp("split_with_sizes(Tensor x, int[] sizes, int axis=0) -> Tensor[]")
        .Doc("Views of pieces of given sizes along an axis.")
        .As(SplitWithSizes);
[[maybe_unused]] const auto& chunk = DefineOp("chunk(Tensor x, int chunks, int axis=0) -> Tensor[]")
                                         .Doc("Views of at most a number of equal pieces along an axis.")
                                         .As(Chunk);
[[maybe_unused]] const auto& tensor_split =
    DefineOp("tensor_split(Tensor x, int sections, int axis=0) -> Tensor[]")
        .Doc("Views of a number of pieces along an axis, as equal as may be.")
        .As([](const CallReader& c) { return SectionsOf(c, c.Int("sections"), c.Int("axis"), /*equal=*/false); });
[[maybe_unused]] const auto& tensor_split_at =
    DefineOp("tensor_split_at(Tensor x, int[] indices, int axis=0) -> Tensor[]")
        .Doc("Views of the pieces between indices along an axis.")
        .As([](const CallReader& c) { return SplitAt(c, c.Ints("indices"), c.Int("axis")); });
[[maybe_unused]] const auto& hsplit =
    DefineOp("hsplit(Tensor x, int sections) -> Tensor[]")
        .Doc("Split into equal pieces along the second axis (the first of a vector).")
        .As([](const CallReader& c) { return SectionsOf(c, c.Int("sections"), HorizontalAxis(c), /*equal=*/true); });
[[maybe_unused]] const auto& hsplit_at =
    DefineOp("hsplit_at(Tensor x, int[] indices) -> Tensor[]")
        .Doc("Split at indices along the second axis (the first of a vector).")
        .As([](const CallReader& c) { return SplitAt(c, c.Ints("indices"), HorizontalAxis(c)); });
[[maybe_unused]] const auto& vsplit = DefineOp("vsplit(Tensor x, int sections) -> Tensor[]")
                                          .Doc("Split into equal pieces along the first axis.")
                                          .As([](const CallReader& c) {
                                            NeedAxes(c, 2);
                                            return SectionsOf(c, c.Int("sections"), 0, /*equal=*/true);
                                          });
[[maybe_unused]] const auto& vsplit_at = DefineOp("vsplit_at(Tensor x, int[] indices) -> Tensor[]")
                                             .Doc("Split at indices along the first axis.")
                                             .As([](const CallReader& c) {
                                               NeedAxes(c, 2);
                                               return SplitAt(c, c.Ints("indices"), 0);
                                             });
[[maybe_unused]] const auto& dsplit = DefineOp("dsplit(Tensor x, int sections) -> Tensor[]")
                                          .Doc("Split into equal pieces along the third axis.")
                                          .As([](const CallReader& c) {
                                            NeedAxes(c, 3);
                                            return SectionsOf(c, c.Int("sections"), 2, /*equal=*/true);
                                          });
[[maybe_unused]] const auto& dsplit_at = DefineOp("dsplit_at(Tensor x, int[] indices) -> Tensor[]")
                                             .Doc("Split at indices along the third axis.")
                                             .As([](const CallReader& c) {
                                               NeedAxes(c, 3);
                                               return SplitAt(c, c.Ints("indices"), 2);
                                             });
[[maybe_unused]] const auto& unbind = DefineOp("unbind(Tensor x, int axis=0) -> Tensor[]")
                                          .Doc("Views of every position of an axis.")
                                          .As([](const CallReader& c) -> Tensors {
                                            const int64_t axis = SplitAxis(c, c.Int("axis"));
                                            if (c.x(0).size(axis) > MostPieces()) {
                                              throw ValueError(c.name())
                                                  .Got(c.x(0).size(axis), " places along axis ", axis)
                                                  .Expected("at most ", MostPieces());
                                            }
                                            Tensors pieces;
                                            for (int64_t i = 0; i < c.x(0).size(axis); ++i)
                                              pieces.push_back(Op<"select">(c.x(0), axis, i));
                                            return pieces;
                                          });

}  // namespace
}  // namespace dragon

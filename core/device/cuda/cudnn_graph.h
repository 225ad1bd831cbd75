// cuDNN's graphs: operations between tensors of four axes, for all of which it finds one kernel, or a few. Everything
// is a descriptor with attributes; graphs are built by its documented interface, and refused as a whole.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/device/cuda/cudnn.h"

namespace dragon::cudnn {

// Enumerators have cuDNN's values.
enum class Pointwise : int {
  kAdd = 0,
  kMultiply = 1,
  kDivide = 6,
  kSubtract = 9,
  kExp = 13,
  kLog = 15,
  kAtLeast = 303,
  kIndex = 501,  ///< of a number along an axis
  kSelect = 601  ///< x where the third operand holds, and else the second
};
enum class Reduction : int { kSum = 0, kMax = 3 };

using Axes = std::array<int64_t, 4>;
/// A descriptor: cuDNN knows what it is of.
using Part = void*;

/// The step from each place to the next in row-major order.
inline Axes RowMajor(const Axes& sizes) { return {sizes[1] * sizes[2] * sizes[3], sizes[2] * sizes[3], sizes[3], 1}; }

/// Descriptors, destroyed with their owner.
class Parts {
 public:
  Parts() = default;
  Parts(Parts&& other) noexcept = default;
  Parts& operator=(Parts&& other) noexcept;
  ~Parts();
  void Keep(Part part) { parts_.push_back(part); }
  const std::vector<Part>& all() const { return parts_; }

 private:
  std::vector<Part> parts_;
};

/// A graph's kernels, chosen and compiled; nothing if cuDNN does not take it.
class Plan {
 public:
  explicit operator bool() const { return plan_ != nullptr; }
  /// Bytes that a run needs beside its tensors.
  int64_t workspace() const { return workspace_; }
  /// Queue it on the handle's stream. `ids` and `data` say where each tensor is; numbers are read on the host, now.
  Status Run(Handle handle, const std::vector<int64_t>& ids, const std::vector<void*>& data, void* workspace) const;

 private:
  friend class Graph;
  Parts parts_;
  Part plan_ = nullptr;
  int64_t workspace_ = 0;
};

/// A tensor of a graph.
struct Tensor {
  Part part = nullptr;
  Axes sizes = {};
};

/// Operations, in an order in which they could run. Once cuDNN has refused a part, the rest does nothing.
class Graph {
 public:
  /// A tensor in memory, which a run knows by its id (below 1000), at an address that is a multiple of sixteen bytes.
  Tensor Operand(int64_t id, DataType dtype, const Axes& sizes, const Axes& strides);
  /// One float32 that a run is given on the host.
  Tensor Number(int64_t id);
  /// A tensor between two operations, which is in no memory.
  Tensor Between(const Axes& sizes, DataType dtype = kFloat);

  // Each returns what it writes, y.
  Tensor Compute(Pointwise mode, const Tensor& y, const Tensor& x, const Tensor& b = {}, const Tensor& t = {});
  /// y = the place of each element along an axis.
  Tensor Index(const Tensor& y, const Tensor& x, int64_t axis);
  /// Over the axes in which y has size 1, or that it shares out among fewer.
  Tensor Reduce(Reduction mode, const Tensor& y, const Tensor& x);
  /// y = a @ b over the last two axes; heads of b may be shared by neighbours in a.
  Tensor MatMul(const Tensor& y, const Tensor& a, const Tensor& b);
  /// y = x with the last two axes exchanged.
  Tensor Transpose(const Tensor& y, const Tensor& x);

  /// The first way that cuDNN proposes, that gives the same numbers in every run, and for which `most` bytes of
  /// workspace are enough.
  Plan Build(Handle handle, int64_t most);

 private:
  Part Make(int kind);
  template <typename Value>
  void Set(Part part, int attribute, int type, const Value& value);
  void Set(Part part, int attribute, int type, int64_t count, const void* values);
  void Finish(Part part);
  Tensor Describe(int64_t id, DataType dtype, const Axes& sizes, const Axes& strides, bool in_memory, bool is_number);
  Tensor Operate(Part operation, const Tensor& y);
  Tensor PointwiseOf(Part mode, const Tensor& y, const Tensor& x, const Tensor& b, const Tensor& t);
  std::vector<Part> Propose(Part graph, int mode);
  bool SameInEveryRun(Part config);
  Part Compile(Handle handle, Part config, int64_t* workspace);

  Parts parts_;
  std::vector<Part> operations_;
  Status status_ = kSuccess;
  int64_t next_id_ = 1000;
};

}  // namespace dragon::cudnn

// What the operators of groups have in common.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/framework/infer.h"
#include "core/framework/op.h"
#include "core/world/groups.h"

namespace dragon {

using Elements = Communicator::Elements;

inline std::shared_ptr<Communicator> Group(const CallReader& c) { return GroupOf(c.name(), c.Int("group")); }
/// What carries x in the group, once what was begun in it before has ended.
inline std::shared_ptr<Communicator> GroupInTurn(const CallReader& c) {
  Group(c)->turns().Await();
  return GroupOf(c.name(), c.Int("group"), c.x("x").device());
}

/// The reduction that a call names, of numbers that have it in the group.
Reduction ReductionOf(const CallReader& c, const Communicator& group);
int RootOf(const CallReader& c, const Communicator& group);
/// The gradient of a reduction is that of a sum, or of an average; others are a NotImplementedError.
void CheckLinear(const char* who, const std::string& reduction);

inline const char* BytesOf(const Tensor& x) { return static_cast<const char*>(x.data()); }
inline char* MutableBytesOf(const Tensor& x) { return static_cast<char*>(x.mutable_view().data); }
inline Elements ElementsOf(const Tensor& x) { return {x.numel(), x.dtype()}; }

/// The result in row-major order: itself, or memory that `Deliver` copies into it.
class RowMajor {
 public:
  explicit RowMajor(Run& r) : result_(r.y()) {
    rows_ = result_.is_contiguous() ? result_ : Tensor::Empty(result_.shape(), result_.dtype(), result_.device());
  }
  const Tensor& rows() const { return rows_; }
  char* bytes() const { return MutableBytesOf(rows_); }
  void Deliver() {
    if (!rows_.is_same(result_)) OpInto<"copy">(result_, rows_);
  }

 private:
  Tensor result_, rows_;
};

/// Equal parts that follow each other in memory.
template <typename Byte>
std::vector<Byte*> PartsOf(Byte* first, int64_t bytes, int count) {
  std::vector<Byte*> parts(count);
  for (int i = 0; i < count; ++i) parts[i] = first + i * bytes;
  return parts;
}

/// Like x, in row-major order.
void InferRows(Infer& i);
/// The first axis as long as all ranks' together; a number counts as one row.
void InferGathered(Infer& i);
/// The first axis shared out evenly.
void InferDealt(Infer& i);

}  // namespace dragon

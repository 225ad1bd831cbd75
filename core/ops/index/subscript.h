// x[...] and x[...] = value as Python writes them, in one function each for every binding and frontend.
#pragma once

#include <span>
#include <vector>

#include "core/framework/tensor.h"

namespace dragon {

/// One item between the brackets.
struct SubscriptItem {
  enum class Kind : uint8_t { kInteger, kSlice, kNone, kEllipsis, kBool, kTensor };

  Kind kind = Kind::kEllipsis;
  bool has_start = false, has_stop = false;
  int64_t start = 0;  ///< of a slice; the number of an integer; 0 or 1 for a bool
  int64_t stop = 0, step = 1;
  Tensor tensor;  ///< integers, or a mask of bool or uint8

  static SubscriptItem Integer(int64_t index) {
    SubscriptItem item;
    item.kind = Kind::kInteger;
    item.start = index;
    return item;
  }
  static SubscriptItem None() {
    SubscriptItem item;
    item.kind = Kind::kNone;
    return item;
  }
  static SubscriptItem Ellipsis() { return {}; }
  static SubscriptItem Bool(bool value) {
    SubscriptItem item;
    item.kind = Kind::kBool;
    item.start = value;
    return item;
  }
  static SubscriptItem Slice() {
    SubscriptItem item;
    item.kind = Kind::kSlice;
    return item;
  }
  static SubscriptItem Of(Tensor index) {
    SubscriptItem item;
    item.kind = Kind::kTensor;
    item.tensor = std::move(index);
    return item;
  }
};

/// x[items]: a view if the items are integers, slices of positive step, None and ellipsis; else a copy. Integers and
/// 0-d integer tensors are taken before index tensors, as PyTorch does; slices with a negative step are NumPy's.
DRAGON_API Tensor GetItem(const Tensor& x, std::span<const SubscriptItem> items);
/// x[items] = value, where value broadcasts and is cast to x's dtype.
DRAGON_API void SetItem(const Tensor& x, std::span<const SubscriptItem> items, const Tensor& value);

/// Items as a list of integers, kSubscriptWords for each, and their tensors: the arguments of the operators `subscript`
/// and `subscript_write`, which are these functions for whoever has to write them down.
inline constexpr int kSubscriptWords = 5;  // kind, which bounds there are, start, stop, step
inline constexpr int kSubscriptStart = 2;  // where the numbers begin
DRAGON_API Dims WordsOf(std::span<const SubscriptItem> items, std::vector<Tensor>* tensors);

}  // namespace dragon

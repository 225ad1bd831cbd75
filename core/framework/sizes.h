// Numbers that follow sizes: what a program computes with the sizes of its tensors, kept as it was computed, and what
// it decided by them. Given other sizes, the same numbers come out anew, and the decisions are either the same or not.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "core/framework/expression.h"
#include "core/framework/tensor.h"

namespace dragon {

/// A number by position among those of `Sizes`.
using NumberId = int32_t;

/// How a number comes about: read off a tensor, or computed from two others.
enum class NumberKind : uint8_t {
  kConstant,
  kSymbol,   ///< asked for anew before each run: entry `a` of the symbols
  kSize,     ///< of axis `b` of tensor `a`
  kStride,   ///< the same, in elements
  kCount,    ///< of the elements of tensor `a`
  kDense,    ///< whether tensor `a` is row-major: 1 or 0
  kElement,  ///< element `b`, in row-major order, of tensor `a`: a few numbers made of sizes
  kItem,     ///< the number in tensor `a`, as the program looked at it for the `b`th time
  kAdd,
  kSub,
  kMul,
  kDiv,  ///< a real number
  kFloorDiv,
  kMod,
  kPow,
  kWhole,  ///< `a` without its fraction
};

/// Whether a number is read off a tensor, rather than computed from others.
inline bool IsRead(NumberKind kind) { return kind >= NumberKind::kSize && kind <= NumberKind::kItem; }

/// Python's arithmetic. A ValueError where the result is beyond 64 bits, and a divisor of 0 where Python raises.
DRAGON_API Value Compute(NumberKind kind, const Value& a, const Value& b);

/// Element `place` of a few numbers on the host, in row-major order.
DRAGON_API Value ElementOf(const Tensor& tensor, int64_t place);
DRAGON_API void SetElement(const Tensor& tensor, int64_t place, const Value& number);

/// Something that the program decided: that `a` relation `b` held, or that it did not.
struct Decision {
  Relation relation = Relation::kEqual;
  NumberId a = 0, b = 0;
  bool held = true;
  int32_t step = 0;   ///< how many steps of the program were over by then
  std::string place;  ///< where in the program, for people

  bool Holds(const Value& x, const Value& y) const;
  friend bool operator==(const Decision& one, const Decision& other) {
    return one.relation == other.relation && one.a == other.a && one.b == other.b && one.held == other.held;
  }
};

class DRAGON_API Sizes {
 public:
  struct Number {
    NumberKind kind = NumberKind::kConstant;
    int32_t a = -1, b = -1;
    int32_t step = 0;  ///< how many steps of the program were over when it came about
    Value hint;        ///< what it was in the program that was listened to; of a constant, what it is
  };

  /// The number, noted before or now; what was noted before a step `since` is another one.
  NumberId Note(NumberKind kind, int32_t a, int32_t b, int32_t step, const Value& hint, int32_t since = 0);
  NumberId Combine(NumberKind kind, NumberId a, NumberId b, int32_t step);
  /// Note how a comparison went; returns that.
  bool Decide(Relation relation, NumberId a, NumberId b, int32_t step, std::string place);

  const Number& operator[](NumberId id) const { return numbers_[id]; }
  int count() const { return static_cast<int>(numbers_.size()); }
  const std::vector<Decision>& decisions() const { return decisions_; }
  /// Whether what a tensor's numbers say may change the number. `loose` tells of which tensors they change the sizes.
  bool DependsOnItems(NumberId id, const std::function<bool(int32_t)>& loose) const;
  /// The numbers for the part of a program from one step up to another, without some between, and nothing decided.
  Sizes Part(int32_t begin, int32_t end, std::span<const int32_t> without) const;
  /// As people write it: "batch*2 + 1"; `name` tells sizes of tensors.
  std::string Text(NumberId id, const std::function<std::string(const Number&)>& name) const;
  std::string Text(const Decision& decision, const std::function<std::string(const Number&)>& name) const;

 private:
  std::vector<Number> numbers_;
  std::vector<Decision> decisions_;
  std::multimap<std::tuple<NumberKind, int32_t, int32_t>, NumberId> places_;
};

/// The numbers of one run.
class DRAGON_API SizesNow {
 public:
  /// `known` are the first numbers, from where the program was before.
  SizesNow(const Sizes& sizes, std::span<const Tensor> tensors, std::span<const double> symbols,
           std::span<const Value> known = {})
      : sizes_(sizes), tensors_(tensors), symbols_(symbols), found_(known.begin(), known.end()) {}
  /// So many steps are over: the numbers that came about by then are found, off the tensors that are there now.
  void Reach(int32_t step);
  const Value& operator[](NumberId id) const { return found_[id]; }
  std::span<const Value> found() const { return found_; }
  /// A number that need not have come about yet, where all that it is computed from has.
  Value Early(NumberId id) const;

 private:
  Value Find(const Sizes::Number& number) const;

  const Sizes& sizes_;
  std::span<const Tensor> tensors_;
  std::span<const double> symbols_;
  std::vector<Value> found_;
};

}  // namespace dragon

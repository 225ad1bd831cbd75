// Calling operators from C++ by name: Op<"mul">(x, y), OpN<"sort">(x, -1, true).
//
// Arguments are positional in schema order; trailing ones take their defaults. None (or std::nullopt) stands for an
// absent optional. The operator is looked up once per call site.
#pragma once

#include <algorithm>
#include <vector>

#include "core/framework/apply.h"

namespace dragon {

/// An absent optional argument.
struct NoneType {};
inline constexpr NoneType None{};

template <size_t N>
struct OpName {
  char text[N];
  constexpr OpName(const char (&name)[N]) { std::copy_n(name, N, text); }  // NOLINT: a literal is a name
};

/// Collects C++ arguments into a Call by the schema's order.
class DRAGON_API CallBuilder {
 public:
  explicit CallBuilder(const Operator& op) : op_(op) {}
  ~CallBuilder();
  void Add(const Tensor& tensor);
  void Add(std::span<const Tensor> tensors);
  void Add(const std::vector<Tensor>& tensors) { Add(std::span<const Tensor>(tensors)); }
  void Add(const Tensors& tensors) { Add(std::span<const Tensor>(tensors)); }
  void Add(NoneType);
  void Add(Value value);
  template <typename T>
    requires std::is_arithmetic_v<T>
  void Add(T value) {
    if constexpr (std::is_same_v<T, bool>) {
      AddNumber(value);
    } else if constexpr (std::is_floating_point_v<T>) {
      AddNumber(static_cast<double>(value));
    } else {
      AddNumber(static_cast<int64_t>(value));
    }
  }
  void Add(const char* text);
  void Add(const std::string& text);
  void Add(const Dims& dims);
  void Add(DType dtype);
  void Add(Device device);
  void Add(std::initializer_list<int64_t> dims);
  template <typename T>
  void Add(const std::optional<T>& value) {
    if (value) {
      Add(*value);
    } else {
      Add(None);
    }
  }
  /// Fill in defaults and go through the door.
  Tensors Apply(std::span<const Tensor> outs = {});
  /// The same, and its first result.
  Tensor ApplyForOne();

 private:
  const Argument& Next(bool tensor);
  void AddNumber(bool value);
  void AddNumber(double value);
  void AddNumber(int64_t value);

  const Operator& op_;
  size_t position_ = 0;
  InlineVector<Tensor, 4> inputs_;
  InlineVector<Value, 6> attrs_;
  InlineVector<int32_t, 2> list_sizes_;
};

template <OpName name>
const Operator& OpNamed() {
  static const Operator& op = GetOp(name.text);
  return op;
}

/// Apply an operator and return all its results.
template <OpName name, typename... Args>
Tensors OpN(const Args&... args) {
  CallBuilder builder(OpNamed<name>());
  (builder.Add(args), ...);
  return builder.Apply();
}

/// Apply an operator and return its first result.
template <OpName name, typename... Args>
Tensor Op(const Args&... args) {
  CallBuilder builder(OpNamed<name>());
  (builder.Add(args), ...);
  return builder.ApplyForOne();
}

/// Tell an operator that is another one, of the same arguments, under a further name.
template <OpName name>
Operator& DefineAlias(const char* schema_line, const char* doc) {
  return DefineOp(schema_line).Doc(doc).As([](const CallReader& c) {
    return Apply(Call{&OpNamed<name>(), c.call().inputs, c.call().attrs, c.call().list_sizes});
  });
}

/// Apply an operator and write its result into `out`.
template <OpName name, typename... Args>
void OpInto(const Tensor& out, const Args&... args) {
  CallBuilder builder(OpNamed<name>());
  (builder.Add(args), ...);
  builder.Apply(std::span<const Tensor>(&out, 1));
}

inline Tensor operator+(const Tensor& a, const Tensor& b) { return Op<"add">(a, b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return Op<"sub">(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return Op<"mul">(a, b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return Op<"div">(a, b); }
inline Tensor operator-(const Tensor& a) { return Op<"neg">(a); }
/// A number as a 0-d tensor that yields to the other operand's dtype.
DRAGON_API Tensor Number(const Value& value);
inline Tensor operator+(const Tensor& a, double b) { return Op<"add">(a, Number(b)); }
inline Tensor operator+(double a, const Tensor& b) { return Op<"add">(Number(a), b); }
inline Tensor operator-(const Tensor& a, double b) { return Op<"sub">(a, Number(b)); }
inline Tensor operator-(double a, const Tensor& b) { return Op<"sub">(Number(a), b); }
inline Tensor operator*(const Tensor& a, double b) { return Op<"mul">(a, Number(b)); }
inline Tensor operator*(double a, const Tensor& b) { return Op<"mul">(Number(a), b); }
inline Tensor operator/(const Tensor& a, double b) { return Op<"div">(a, Number(b)); }
inline Tensor operator/(double a, const Tensor& b) { return Op<"div">(Number(a), b); }

}  // namespace dragon

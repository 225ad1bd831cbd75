// An attribute of an operator call: a number, a name, a list. Numbers need no heap.
#pragma once

#include <cstring>
#include <string>
#include <variant>
#include <vector>

#include "core/base/dims.h"
#include "core/base/error.h"
#include "core/base/ref.h"
#include "core/base/types.h"
#include "core/device/device.h"

namespace dragon {

/// Something with identity that an attribute may refer to, such as a random generator.
class DRAGON_API Object : public RefCounted<Object> {
 public:
  virtual ~Object() = default;
};

class Value {
 public:
  enum class Kind : uint8_t {
    kNone,
    kBool,
    kInt,
    kDouble,
    kComplex,
    kDType,
    kDevice,
    kInts,
    kDoubles,
    kString,
    kObject
  };

  Value() = default;
  Value(bool value) : kind_(Kind::kBool) { u_.integer = value; }                            // NOLINT: values convert
  Value(int value) : kind_(Kind::kInt) { u_.integer = value; }                              // NOLINT
  Value(int64_t value) : kind_(Kind::kInt) { u_.integer = value; }                          // NOLINT
  Value(double value) : kind_(Kind::kDouble) { u_.real = value; }                           // NOLINT
  Value(complex128 value) : kind_(Kind::kComplex), imag_(value.im) { u_.real = value.re; }  // NOLINT
  Value(DType value) : kind_(Kind::kDType) { u_.integer = static_cast<int64_t>(value); }    // NOLINT
  Value(Device value) : kind_(Kind::kDevice) { u_.integer = Pack(value); }                  // NOLINT
  Value(Dims value) : Value(Kind::kInts, std::move(value)) {}                               // NOLINT
  Value(std::initializer_list<int64_t> value) : Value(Dims(value)) {}                       // NOLINT
  Value(std::vector<double> value) : Value(Kind::kDoubles, std::move(value)) {}             // NOLINT
  Value(std::string value) : Value(Kind::kString, std::move(value)) {}                      // NOLINT
  Value(const char* value) : Value(std::string(value)) {}                                   // NOLINT
  Value(Ref<Object> value) : kind_(Kind::kObject) { u_.object = value.Detach(); }           // NOLINT
  Value(const Value& other) : kind_(other.kind_), imag_(other.imag_), u_(other.u_) { Retain(); }
  Value(Value&& other) noexcept : kind_(std::exchange(other.kind_, Kind::kNone)), imag_(other.imag_), u_(other.u_) {}
  Value& operator=(Value other) noexcept {
    std::swap(kind_, other.kind_);
    std::swap(imag_, other.imag_);
    std::swap(u_, other.u_);
    return *this;
  }
  ~Value() { Release(); }

  Kind kind() const { return kind_; }
  bool is_none() const { return kind_ == Kind::kNone; }
  bool is_number() const { return kind_ >= Kind::kBool && kind_ <= Kind::kComplex; }

  /// The getters assume the kind that the schema promised; numbers convert upward.
  bool boolean() const { return kind_ == Kind::kDouble ? u_.real != 0 : u_.integer != 0; }
  int64_t integer() const { return kind_ == Kind::kDouble ? static_cast<int64_t>(u_.real) : u_.integer; }
  double real() const {
    return kind_ == Kind::kDouble || kind_ == Kind::kComplex ? u_.real : static_cast<double>(u_.integer);
  }
  complex128 complex() const { return {real(), kind_ == Kind::kComplex ? imag_ : 0.0}; }
  DType dtype() const { return static_cast<DType>(u_.integer); }
  Device device() const {
    return {static_cast<DeviceType>(u_.integer >> 16), static_cast<int16_t>(u_.integer & 0xFFFF)};
  }
  const Dims& ints() const { return std::get<Dims>(u_.heap->list); }
  const std::vector<double>& doubles() const { return std::get<std::vector<double>>(u_.heap->list); }
  const std::string& string() const { return std::get<std::string>(u_.heap->list); }
  Object* object() const { return kind_ == Kind::kObject ? u_.object : nullptr; }

  /// The dtype a bare Python number of this kind has: bool, int64, float64 or complex128.
  DType number_dtype() const {
    switch (kind_) {
      case Kind::kBool:
        return DType::kBool;
      case Kind::kInt:
        return DType::kInt64;
      case Kind::kComplex:
        return DType::kComplex128;
      default:
        return DType::kFloat64;
    }
  }
  /// As Python would print it.
  DRAGON_API std::string str() const;
  DRAGON_API friend bool operator==(const Value& a, const Value& b);

 private:
  struct Heap : RefCounted<Heap> {
    std::variant<Dims, std::vector<double>, std::string> list;
  };
  union Payload {
    int64_t integer = 0;
    double real;
    Heap* heap;
    Object* object;
  };
  template <typename T>
  Value(Kind kind, T list) : kind_(kind) {
    u_.heap = new Heap;
    u_.heap->list = std::move(list);
    u_.heap->Retain();
  }
  static int64_t Pack(Device device) {
    return (static_cast<int64_t>(device.type) << 16) | static_cast<uint16_t>(device.index);
  }
  bool on_heap() const { return kind_ >= Kind::kInts && kind_ <= Kind::kString; }
  void Retain() const {
    if (on_heap()) u_.heap->Retain();
    if (kind_ == Kind::kObject && u_.object) u_.object->Retain();
  }
  void Release() {
    if (on_heap()) u_.heap->Release();
    if (kind_ == Kind::kObject && u_.object) u_.object->Release();
  }

  Kind kind_ = Kind::kNone;
  double imag_ = 0;
  Payload u_;
};

}  // namespace dragon

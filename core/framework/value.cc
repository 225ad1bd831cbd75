// Printing and comparing attribute values.
#include "core/framework/value.h"

#include <sstream>

namespace dragon {

namespace {

std::string Float(double value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

}  // namespace

std::string Value::str() const {
  std::ostringstream out;
  switch (kind_) {
    case Kind::kNone:
      return "None";
    case Kind::kBool:
      return u_.integer ? "True" : "False";
    case Kind::kInt:
      return std::to_string(u_.integer);
    case Kind::kDouble:
      return Float(u_.real);
    case Kind::kComplex:
      return "(" + Float(u_.real) + (imag_ < 0 ? "" : "+") + Float(imag_) + "j)";
    case Kind::kDType:
      return Name(dtype());
    case Kind::kDevice:
      return device().str();
    case Kind::kInts:
      out << ints();
      return out.str();
    case Kind::kString:
      return "'" + string() + "'";
    case Kind::kObject:
      return "<object>";
    case Kind::kDoubles:
      break;
  }
  out << '[';
  for (size_t i = 0; i < doubles().size(); ++i) out << (i ? ", " : "") << doubles()[i];
  out << ']';
  return out.str();
}

bool operator==(const Value& a, const Value& b) {
  if (a.kind_ != b.kind_) return false;
  switch (a.kind_) {
    case Value::Kind::kNone:
      return true;
    case Value::Kind::kDouble:
      return a.u_.real == b.u_.real;
    case Value::Kind::kComplex:
      return a.u_.real == b.u_.real && a.imag_ == b.imag_;
    case Value::Kind::kInts:
      return a.ints() == b.ints();
    case Value::Kind::kDoubles:
      return a.doubles() == b.doubles();
    case Value::Kind::kString:
      return a.string() == b.string();
    default:
      return a.u_.integer == b.u_.integer;
  }
}

}  // namespace dragon

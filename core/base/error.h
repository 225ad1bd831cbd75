// Errors are short letters: who speaks, what came, what would do.
//
//   if (a != b) throw ValueError("concat").Got(a, " and ", b).Expected("equal sizes outside axis ", axis);
//   -> concat: got (2, 3) and (4, 3), expected equal sizes outside axis 1
#pragma once

#include <exception>
#include <initializer_list>
#include <memory>
#include <sstream>
#include <string>
#include <utility>

#include "core/base/macros.h"
#include "core/base/types.h"

namespace dragon {

inline std::ostream& operator<<(std::ostream& out, DType dtype) { return out << Name(dtype); }

/// The Python class an error becomes.
enum class ErrorKind { kValue, kType, kIndex, kNotImplemented, kRuntime, kMemory, kLinAlg };

class DRAGON_API Error : public std::exception {
 public:
  Error(ErrorKind kind, std::string message) : kind_(kind), message_(std::move(message)) {}
  ErrorKind kind() const { return kind_; }
  const char* what() const noexcept override { return message_.c_str(); }

 protected:
  /// A word of a message and how it is written. Thousands of letters differ in the types of their words: what puts them
  /// together does not know these.
  struct Word {
    const void* what;
    void (*write)(std::ostream& out, const void* what);
  };
  template <typename T>
  static void Write(std::ostream& out, const void* what) {
    out << *static_cast<const T*>(what);
  }
  static void WriteText(std::ostream& out, const void* what);
  template <typename T>
  static Word WordOf(const T& word) {
    return {std::addressof(word), &Write<T>};
  }
  template <size_t kSize>
  static Word WordOf(const char (&text)[kSize]) {
    return {text, &WriteText};
  }

  [[gnu::cold]] void Append(std::initializer_list<Word> words);
  ErrorKind kind_;
  std::string message_;
};

/// One builder per kind; each `Got`, `Expected` and `Hint` returns the error itself, ready to throw.
template <ErrorKind kKind>
class ErrorOf : public Error {
 public:
  template <typename... Words>
  explicit ErrorOf(const Words&... who) : Error(kKind, "") {
    Append({WordOf(who)...});
  }
  template <typename... Words>
  ErrorOf&& Got(const Words&... words) && {
    Append({WordOf(": got "), WordOf(words)...});
    return std::move(*this);
  }
  template <typename... Words>
  ErrorOf&& Expected(const Words&... words) && {
    Append({WordOf(", expected "), WordOf(words)...});
    return std::move(*this);
  }
  /// A whole sentence instead of got/expected: "who: sentence".
  template <typename... Words>
  ErrorOf&& Says(const Words&... words) && {
    Append({WordOf(": "), WordOf(words)...});
    return std::move(*this);
  }
  template <typename... Words>
  ErrorOf&& Hint(const Words&... words) && {
    Append({WordOf(" ("), WordOf(words)..., WordOf(")")});
    return std::move(*this);
  }
};

using ValueError = ErrorOf<ErrorKind::kValue>;
using TypeError = ErrorOf<ErrorKind::kType>;
using IndexError = ErrorOf<ErrorKind::kIndex>;
using NotImplementedError = ErrorOf<ErrorKind::kNotImplemented>;
using RuntimeError = ErrorOf<ErrorKind::kRuntime>;
using MemoryError = ErrorOf<ErrorKind::kMemory>;
/// A matrix that a decomposition or solver cannot take: singular, not positive definite, or without convergence.
using LinAlgError = ErrorOf<ErrorKind::kLinAlg>;

}  // namespace dragon

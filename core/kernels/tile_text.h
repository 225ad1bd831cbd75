// Pieces of a generated kernel's text: arguments, the names of types and functors, and places in memory.
#pragma once

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "core/kernels/tile_source.h"

namespace dragon::kernels {

/// A dtype's type, as a generated kernel has it.
const char* TypeText(DType dtype);

/// A functor's type as its own file has it, out of what the compiler calls it; empty if it has no name.
std::string FunctorText(const char* sentence);

/// The name under which a text includes the source of a loop's functor.
std::string FunctorFile(const Loop& loop);

/// The members of a kernel's argument, as text and as bytes.
class ArgumentsText {
 public:
  /// Append a member; `value` may be null.
  ArgumentPlace Add(const std::string& declaration, size_t bytes, size_t alignment, const void* value);
  std::string Text() const;
  std::vector<char> Bytes() const;

 private:
  std::ostringstream text_;
  std::vector<char> bytes_;
};

/// The functors' files and types, each under a name.
class FunctorsText {
 public:
  /// The full name of a type of `file`.
  std::string Name(const std::string& file, const std::string& type);
  std::string Text() const;
  std::vector<std::string> files() const;

 private:
  std::vector<std::pair<std::string, std::vector<std::string>>> sources_;
};

/// Where operands lie, told by the indices of axes.
class PlacesText {
 public:
  PlacesText(const TileWalk& walk, ArgumentsText* arguments);

  const char* index() const { return walk_.wide ? "int64_t" : "uint32_t"; }
  /// Lines that take the index `from` apart: of a row, or of a pack of elements.
  std::string Split(bool rows, const std::string& from) const;
  /// The bytes from an operand's first element to this row's or this pack's.
  std::string Offset(bool rows, size_t operand);

 private:
  std::string Stride(bool rows, size_t axis, size_t operand);
  std::string Index(bool rows, size_t axis) const { return (rows ? "r" : "e") + std::to_string(axis); }
  const WalkAxes& Axes(bool rows) const { return rows ? walk_.rows : walk_.elements; }

  const TileWalk& walk_;
  ArgumentsText* arguments_;
  std::map<std::string, std::string> known_;
};

}  // namespace dragon::kernels

// Memory that several processes see at once: how data loader workers hand over batches without copying them.
#pragma once

#include <cstddef>
#include <string>

#include "core/base/macros.h"

namespace dragon {

/// One mapped block, owned by this object. The bytes live until the last process that maps them lets go *and* the name
/// (or the last descriptor) is gone; letting go of the mapping never removes the name, `Unlink` does.
class DRAGON_API SharedBlock {
 public:
  /// A new block of zeros without a name; hand `descriptor()` to another process (over a socket or by fork).
  static SharedBlock Create(size_t bytes);
  /// A new block of zeros under `name`. A RuntimeError if there is one of that name.
  static SharedBlock CreateNamed(const std::string& name, size_t bytes);
  /// Map a block another process made; a ValueError if it holds fewer than `bytes`.
  static SharedBlock Open(const std::string& name, size_t bytes);
  /// The same by descriptor, which is duplicated: the caller keeps its own.
  static SharedBlock Open(int descriptor, size_t bytes);
  /// Remove a name; those who mapped the block keep it. False if there was none.
  static bool Unlink(const std::string& name);

  SharedBlock(SharedBlock&& other) noexcept;
  SharedBlock& operator=(SharedBlock&& other) noexcept;
  SharedBlock(const SharedBlock&) = delete;
  SharedBlock& operator=(const SharedBlock&) = delete;
  ~SharedBlock();

  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  int descriptor() const { return descriptor_; }
  /// Empty for a block without a name.
  const std::string& name() const { return name_; }

 private:
  SharedBlock(int descriptor, std::string name, size_t bytes);

  void* data_ = nullptr;
  size_t bytes_ = 0;
  int descriptor_ = -1;
  std::string name_;
};

}  // namespace dragon

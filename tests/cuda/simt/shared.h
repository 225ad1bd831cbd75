// A block's shared memory: what its launch asks for, and what stands in kernels as variables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

namespace simt {

/// AddressSanitizer, where it watches, is told which bytes are somebody's.
void Mark(void* memory, size_t bytes, bool usable);

class SharedMemory {
 public:
  static constexpr size_t kMost = 227 * 1024;

  static SharedMemory& Get();

  /// What the launch has of its own, from here on.
  void BeginLaunch(size_t bytes);
  void EndLaunch();
  /// All of it as if nobody had written there.
  void BeginBlock();
  /// The same for a variable of a kernel, when this block first comes to it.
  void FillVariable(void* memory, size_t bytes);

  void* dynamic() { return dynamic_; }

 private:
  SharedMemory();

  char* dynamic_;
  size_t bytes_ = 0;
  uint64_t block_ = 0;                           // all blocks of all launches, counted
  std::unordered_map<void*, uint64_t> last_of_;  // the block for which a variable was filled
};

}  // namespace simt

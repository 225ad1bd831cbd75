// A block's shared memory: what its launch asks for, and what stands in kernels as variables.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace simt {

/// AddressSanitizer, where it watches, is told which bytes are somebody's.
void Mark(void* memory, size_t bytes, bool usable);

class SharedMemory {
 public:
  static constexpr size_t kMost = 227 * 1024;

  static SharedMemory& Get();

  /// Somebody's variables, from the library that has just been loaded.
  void Enter(char* begin, char* end);

  /// What the launch has of its own, from here on.
  void BeginLaunch(size_t bytes);
  void EndLaunch();
  /// All of it as if nobody had written there.
  void BeginBlock();
  void EndBlock();

  void* dynamic() { return dynamic_; }

 private:
  struct Stretch {
    char* begin;
    size_t bytes;
  };

  SharedMemory();
  void FindWritten();

  char* dynamic_;
  size_t bytes_ = 0;
  int blocks_ = 0;
  std::vector<std::pair<char*, char*>> variables_;
  std::vector<Stretch> written_;  // where blocks of this launch have left something
};

}  // namespace simt

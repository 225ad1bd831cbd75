// What the ranks of one communicator share: a sheet for each, and a box for each two and direction.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace simt {

inline constexpr size_t kSheetBytes = 192 * 1024, kBoxBytes = 64 * 1024;
inline constexpr int kMostRanks = 16;

/// What a rank says it does in a step.
struct Saying {
  int kind, type, op, root;
  uint64_t count;
  bool operator==(const Saying&) const = default;
};

struct Seat {
  std::atomic<uint32_t> joined, posted, taken;
  Saying saying;
  char sheet[kSheetBytes];
};

/// Written when `sent` and `received` are the same, read when they are not.
struct Box {
  std::atomic<uint32_t> sent, received;
  uint64_t bytes, total;
  char data[kBoxBytes];
};

struct Segment {
  Seat seats[kMostRanks];
  Box boxes[kMostRanks][kMostRanks];  // of who sends, and to whom
};

/// Memory of all ranks under a name, which the first one makes.
Segment* MapSegment(const std::string& name);
void UnmapSegment(Segment* segment);
void ForgetSegment(const std::string& name);

}  // namespace simt

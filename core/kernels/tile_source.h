// A tile program as the text of a kernel for a GPU. The text includes the sources of the functors that the program's
// loops have: what they compute is written nowhere else.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/kernels/tile_walk.h"

namespace dragon::kernels {

/// The most that a block leaves behind for a fold.
inline constexpr int64_t kPartBytes = 16;

/// One value among a kernel's arguments, which a launch fills in.
struct ArgumentPlace {
  size_t offset, bytes;
};

/// The kernel and what it is launched with, but for addresses.
struct TileSource {
  std::string text;
  std::vector<std::string> files;      ///< that the text includes
  std::vector<char> arguments;         ///< with everything that the program knows
  std::vector<ArgumentPlace> outputs;  ///< where addresses go, those of folds last
  std::vector<ArgumentPlace> inputs;   ///< where addresses go, or the numbers themselves that the host has
  ArgumentPlace parts = {0, 0};        ///< the address of what blocks leave behind, if there are folds
  std::vector<int64_t> alignments;     ///< that the addresses of outputs and inputs must have
  int folds = 0;
  int64_t parts_bytes = 0;
  unsigned blocks = 1, threads = 1, finish_blocks = 1;
};

/// Which inputs are single numbers that the host has.
using OnHost = std::vector<bool>;

/// Null where there is no such text: a functor without a name, or a fold that the GPU's form lacks. `packs` allows
/// several elements at once, which need aligned addresses.
std::unique_ptr<TileSource> WriteTileSource(const TileProgram::State& state, const OnHost& on_host, bool packs);

}  // namespace dragon::kernels

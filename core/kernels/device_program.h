// A tile program on a device that runs kernels made of text: NVRTC's, or the stand-in of tests/cuda.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "core/kernels/kernel.h"
#include "core/kernels/tile_program.h"

namespace dragon::kernels {

struct TileSource;

/// What every GPU takes as arguments.
inline constexpr size_t kMostArgumentBytes = 4096;

/// One launch of a generated kernel, and of the one that puts parts together where there are folds.
struct GeneratedLaunch {
  const TileSource* source;
  /// What was made of the text, for whoever made it: the next launch need not look for it.
  std::atomic<const void*>* compiled;
  alignas(16) char arguments[kMostArgumentBytes];
  bool done = false;  ///< set by the kernel; where it is not, nothing was done
};

/// Run a generated kernel. The dtype is kUInt8, whatever the kernel's own are.
inline const Kernel<void(GeneratedLaunch* launch)> kGenerated{"generated"};

/// Whether the device makes kernels of text at all; and whether a text may include `file`, unless that is empty.
inline const Kernel<void(const std::string& file, bool* can)> kGenerates{"generates"};

/// Whether programs can be kernels on this device; and programs that have this loop.
DRAGON_API bool Generates(Device device);
DRAGON_API bool Generates(Device device, const Loop& loop);

class DRAGON_API DeviceProgram {
 public:
  /// `on_host` tells which inputs are single numbers that the host has.
  DeviceProgram(const TileProgram& program, std::vector<bool> on_host);
  ~DeviceProgram();
  DeviceProgram(const DeviceProgram&) = delete;
  DeviceProgram& operator=(const DeviceProgram&) = delete;

  /// Whether there is a kernel for the program.
  bool has_text() const;

  /// Run over these addresses, in the order of TileProgram::Run. False if nothing was done: the device or its compiler
  /// cannot.
  bool Run(Context& ctx, void* const* outputs, void* const* inputs) const;

 private:
  /// The kernel for aligned addresses, and the one for any.
  struct Form {
    std::unique_ptr<TileSource> source;
    mutable std::atomic<const void*> compiled{nullptr};
  };
  bool empty_;
  std::vector<bool> on_host_;
  Form packs_, single_;
};

}  // namespace dragon::kernels

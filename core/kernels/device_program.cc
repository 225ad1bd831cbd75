// Filling in a generated kernel's arguments.
#include "core/kernels/device_program.h"

#include <cstdlib>
#include <cstring>
#include <string>

#include "core/kernels/tile_source.h"
#include "core/kernels/tile_text.h"

namespace dragon::kernels {

namespace {

bool Aligned(const TileSource& source, void* const* outputs, void* const* inputs, const std::vector<bool>& on_host) {
  const size_t written = source.alignments.size() - source.inputs.size();
  for (size_t k = 0; k < source.alignments.size(); ++k) {
    if (k >= written && on_host[k - written]) continue;
    const void* address = k < written ? outputs[k] : inputs[k - written];
    if (reinterpret_cast<uintptr_t>(address) % source.alignments[k] != 0) return false;
  }
  return true;
}

/// DRAGON_FUSED=0 has operators run one by one. It is read once.
bool IsAllowed() {
  static const bool allowed = [] {
    const char* const asked = std::getenv("DRAGON_FUSED");
    return !asked || std::strcmp(asked, "0") != 0;
  }();
  return allowed;
}

bool Generates(Device device, const std::string& file) {
  if (!IsAllowed() || !kGenerates.Has(device.type, DType::kUInt8)) return false;
  Context ctx{device};
  bool can = false;
  kGenerates(ctx, DType::kUInt8, file, &can);
  return can;
}

}  // namespace

bool Generates(Device device) { return Generates(device, std::string()); }
bool Generates(Device device, const Loop& loop) {
  return !FunctorText(loop.source->text).empty() && Generates(device, FunctorFile(loop));
}

DeviceProgram::DeviceProgram(const TileProgram& program, std::vector<bool> on_host)
    : empty_(program.state().numel == 0), on_host_(std::move(on_host)) {
  if (empty_) return;
  packs_.source = WriteTileSource(program.state(), on_host_, true);
  if (packs_.source) single_.source = WriteTileSource(program.state(), on_host_, false);
}
DeviceProgram::~DeviceProgram() = default;

bool DeviceProgram::has_text() const { return empty_ || packs_.source; }

bool DeviceProgram::Run(Context& ctx, void* const* outputs, void* const* inputs) const {
  if (empty_) return true;
  if (!packs_.source || !IsAllowed() || !kGenerated.Has(ctx.device.type, DType::kUInt8)) return false;
  const bool aligned = Aligned(*packs_.source, outputs, inputs, on_host_);
  if (!aligned && !single_.source) return false;
  const Form& form = aligned ? packs_ : single_;
  const TileSource& source = *form.source;
  GeneratedLaunch launch;
  launch.source = &source, launch.compiled = &form.compiled;
  char* const bytes = launch.arguments;
  std::memcpy(bytes, source.arguments.data(), source.arguments.size());
  for (size_t k = 0; k < source.outputs.size(); ++k) {
    std::memcpy(bytes + source.outputs[k].offset, &outputs[k], sizeof(void*));
  }
  for (size_t k = 0; k < source.inputs.size(); ++k) {
    const void* from = on_host_[k] ? inputs[k] : static_cast<const void*>(&inputs[k]);
    std::memcpy(bytes + source.inputs[k].offset, from, source.inputs[k].bytes);
  }
  kGenerated(ctx, DType::kUInt8, &launch);
  return launch.done;
}

}  // namespace dragon::kernels

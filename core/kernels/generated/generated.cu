// Launches of kernels that were made of tile programs.
#include <cstring>
#include <optional>
#include <string>

#include "core/device/cuda/compiler.h"
#include "core/device/cuda/sources.h"
#include "core/kernels/device_program.h"
#include "core/kernels/tile_source.h"

namespace dragon::DRAGON_DEVICE {
namespace {

const cuda::Compiled* Find(const Context& ctx, const kernels::GeneratedLaunch& launch) {
  const auto* known = static_cast<const cuda::Compiled*>(launch.compiled->load(std::memory_order_acquire));
  if (known && cuda::IsFor(*known, ctx)) return known;
  for (const std::string& file : launch.source->files) {
    if (!generated::HasSource(file.c_str())) return nullptr;  // a body that was fused for another device
  }
  const cuda::Compiled* made = cuda::Compile(ctx, launch.source->text);
  if (made) launch.compiled->store(made, std::memory_order_release);
  return made;
}

void Generated(Context& ctx, kernels::GeneratedLaunch* launch) {
  const kernels::TileSource& source = *launch->source;
  const cuda::Compiled* compiled = Find(ctx, *launch);
  if (!compiled) return;
  char* const arguments = launch->arguments;
  const size_t bytes = source.arguments.size();
  std::optional<Scratch> parts;
  if (source.folds) {
    void* const address = parts.emplace(ctx.device, static_cast<size_t>(source.parts_bytes)).data();
    std::memcpy(arguments + source.parts.offset, &address, sizeof(address));
  }
  try {
    const cuda::Grid grid{dim3(source.blocks), dim3(source.threads)};
    cuda::LaunchCompiled("fused", ctx, *compiled, cuda::Entry::kMain, grid, arguments, bytes);
  } catch (const Error& error) {  // nothing has been written yet: the operators may still run one by one
    return cuda::TellWhyNot(error.what());
  }
  if (source.folds) {
    const cuda::Grid grid{dim3(source.finish_blocks, static_cast<unsigned>(source.folds)), dim3(cuda::kThreads)};
    cuda::LaunchCompiled("fused", ctx, *compiled, cuda::Entry::kFinish, grid, arguments, bytes);
  }
  launch->done = true;
}

void Generates(Context&, const std::string& file, bool* can) {
  *can = cuda::CanCompile() && (file.empty() || generated::HasSource(file.c_str()));
}

[[maybe_unused]] const bool entered = (kernels::kGenerated.Set(DRAGON_DEVICE_TYPE, DType::kUInt8, &Generated),
                                       kernels::kGenerates.Set(DRAGON_DEVICE_TYPE, DType::kUInt8, &Generates), true);

}  // namespace
}  // namespace dragon::DRAGON_DEVICE

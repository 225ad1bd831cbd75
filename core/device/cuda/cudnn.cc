// Whether cuDNN is there.
#include "core/device/cuda/cudnn.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace dragon::cudnn {

bool Usable() {
  static const bool usable = [] {
    const char* asked = std::getenv("DRAGON_CUDNN");
    if (asked && std::strcmp(asked, "0") == 0) return false;
    // It looks for these by name, and runs without what of it needs them if nobody has opened them.
    for (auto* library : {&cuda::CublasLt(), &cuda::Cublas(), &cuda::Nvrtc()}) (void)library->found();
    if (cuda::Cudnn().found()) return true;
    std::fprintf(stderr,
                 "dragon: cuDNN was not found, so convolutions and attention are slow: `pip install "
                 "nvidia-cudnn-cu13`\n");
    return false;
  }();
  return usable;
}

}  // namespace dragon::cudnn

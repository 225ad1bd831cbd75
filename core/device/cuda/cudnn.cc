// Whether cuDNN is there, and its handles.
#include "core/device/cuda/cudnn.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include "core/device/cuda/check.h"

namespace dragon::cudnn {

bool Usable() {
  static const bool usable = [] {
    const char* asked = std::getenv("DRAGON_CUDNN");
    if (asked && std::strcmp(asked, "0") == 0) return false;
    // It looks for these by name, and runs without what of it needs them if nobody has opened them.
    for (auto* library : {&cuda::CublasLt(), &cuda::Cublas(), &cuda::Nvrtc()}) (void)library->found();
    if (cuda::Cudnn().found()) return true;
    std::fprintf(
        stderr,
        "dragon: cuDNN was not found, so convolutions, attention and recurrent networks are slow: `pip install "
        "nvidia-cudnn-cu13`\n");
    return false;
  }();
  return usable;
}

size_t Version() { return Functions().GetVersion(); }

int Generation(int device) {
  int major = 0;
  CheckCuda(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), "cudnn");
  return major;
}

Handle HandleFor(const Context& ctx) {
  static thread_local auto* handles = new std::map<int, Handle>;
  Handle& handle = (*handles)[ctx.device.index];
  if (!handle) Check(Functions().Create(&handle), "cudnn");
  Check(Functions().SetStream(handle, static_cast<cudaStream_t>(ctx.stream)), "cudnn");
  return handle;
}

}  // namespace dragon::cudnn

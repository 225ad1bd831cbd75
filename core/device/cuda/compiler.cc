// NVRTC makes machine code of text, and the driver launches it: both are opened when the first text comes.
#include "core/device/cuda/compiler.h"

#include <array>
#include <atomic>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "core/device/cuda/backend.h"
#include "core/device/cuda/capability.h"
#include "core/device/cuda/code_cache.h"
#include "core/device/cuda/driver.h"
#include "core/device/cuda/sources.h"
#include "core/device/cuda/vendor.h"

namespace dragon::cuda {

struct Compiled {
  int architecture = 0;  ///< as 90
  std::array<CUkernel, std::size(kEntryNames)> kernels{};
};

namespace {

/// The options under which the library's own kernels are compiled, as NVRTC calls them; host code is none of its.
const std::vector<std::string>& Options() {
  static const auto* options = new std::vector<std::string>{"--std=c++20", "--device-int128", "--no-source-include",
                                                            "--device-as-default-execution-space"};
  return *options;
}

/// The functions of NVRTC that are used here.
struct NvrtcCalls {
  using Program = void*;
  int (*version)(int*, int*);
  int (*create)(Program*, const char*, const char*, int, const char* const*, const char* const*);
  int (*compile)(Program, int, const char* const*);
  int (*log_size)(Program, size_t*);
  int (*log)(Program, char*);
  int (*code_size)(Program, size_t*);
  int (*code)(Program, char*);
  int (*destroy)(Program*);

  NvrtcCalls() {
    Find("nvrtcVersion", &version), Find("nvrtcCreateProgram", &create), Find("nvrtcCompileProgram", &compile);
    Find("nvrtcGetProgramLogSize", &log_size), Find("nvrtcGetProgramLog", &log);
    Find("nvrtcGetCUBINSize", &code_size), Find("nvrtcGetCUBIN", &code), Find("nvrtcDestroyProgram", &destroy);
  }
  template <typename F>
  static void Find(const char* name, F* function) {
    *function = Nvrtc().Find<F>(name);
  }
  static const NvrtcCalls& Get() {
    static const NvrtcCalls calls;  // a failure throws, and is tried again with the next text
    return calls;
  }
};

/// The driver's, which is there where a device is.
struct DriverCalls {
  decltype(&cuLibraryLoadData) load;
  decltype(&cuLibraryGetKernel) kernel;
  decltype(&cuKernelGetFunction) function;
  decltype(&cuLaunchKernel) launch;

  DriverCalls() {
    FindInDriver("cuLibraryLoadData", &load), FindInDriver("cuLibraryGetKernel", &kernel);
    FindInDriver("cuKernelGetFunction", &function), FindInDriver("cuLaunchKernel", &launch);
  }
  static const DriverCalls& Get() {
    static const DriverCalls calls;
    return calls;
  }
};

/// All that texts may include: another version of it is other code.
const std::string& AllSources() {
  static const auto* sources = [] {
    auto* all = new std::string;
    for (int i = 0; i < generated::kSourceCount; ++i) {
      *all += CodeKey({generated::kSources[i].name, generated::kSources[i].text});
    }
    return all;
  }();
  return *sources;
}

std::string MakeCode(const NvrtcCalls& nvrtc, const std::string& text, const std::vector<std::string>& options) {
  std::vector<const char*> names, contents, words;
  for (int i = 0; i < generated::kSourceCount; ++i) {
    names.push_back(generated::kSources[i].name);
    contents.push_back(generated::kSources[i].text);
  }
  for (const std::string& option : options) words.push_back(option.c_str());
  NvrtcCalls::Program program = nullptr;
  const auto check = [](int status) {
    if (status != 0) throw RuntimeError("fused").Got("status ", status, " from NVRTC").Expected("machine code");
  };
  check(
      nvrtc.create(&program, text.c_str(), "fused.cu", static_cast<int>(names.size()), contents.data(), names.data()));
  const std::unique_ptr<NvrtcCalls::Program, void (*)(NvrtcCalls::Program*)> owner(
      &program, [](NvrtcCalls::Program* made) { (void)NvrtcCalls::Get().destroy(made); });
  size_t size = 0;
  if (nvrtc.compile(program, static_cast<int>(words.size()), words.data()) != 0) {
    std::string log;
    if (nvrtc.log_size(program, &size) == 0) log.resize(size), (void)nvrtc.log(program, log.data());
    throw RuntimeError("fused").Got("a text that NVRTC refuses: ", log.c_str()).Expected("machine code");
  }
  check(nvrtc.code_size(program, &size));
  std::string code(size, '\0');
  check(nvrtc.code(program, code.data()));
  return code;
}

Compiled Load(const std::string& code, int architecture) {
  const DriverCalls& driver = DriverCalls::Get();
  CUlibrary library = nullptr;
  CheckDriver(driver.load(&library, code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0), "fused");
  Compiled compiled{architecture, {}};
  for (size_t i = 0; i < compiled.kernels.size(); ++i) {
    if (driver.kernel(&compiled.kernels[i], library, kEntryNames[i]) != CUDA_SUCCESS) {
      compiled.kernels[i] = nullptr;
      continue;
    }
    CUfunction here;  // it is brought to the device now, not when it is first launched
    CheckDriver(driver.function(&here, compiled.kernels[i]), "fused");
  }
  return compiled;
}

/// The device as the runtime and the driver have it: a thread that has not used it yet is unknown to the driver.
void Bind(const Context& ctx) {
  Enter(ctx.device.index);
  static thread_local const cudaError_t bound = cudaSetDevice(ctx.device.index);
  CheckCuda(bound, "cuda");
}

Compiled MakeCompiled(const std::string& text, int architecture) {
  const NvrtcCalls& nvrtc = NvrtcCalls::Get();
  int major = 0, minor = 0;
  (void)nvrtc.version(&major, &minor);
  std::vector<std::string> options = Options();
  options.push_back("--gpu-architecture=sm_" + std::to_string(architecture));
  std::string said = std::to_string(major) + "." + std::to_string(minor);
  for (const std::string& option : options) said += " " + option;
  const std::string key = CodeKey({text, AllSources(), said});
  if (const std::string kept = ReadCode(key); !kept.empty()) {
    try {
      return Load(kept, architecture);
    } catch (const Error&) {  // a file of another driver's: it is made again
    }
  }
  const std::string code = MakeCode(nvrtc, text, options);
  const Compiled compiled = Load(code, architecture);
  KeepCode(key, code);
  return compiled;
}

}  // namespace

bool CanCompile() {
  static const bool can = [] {
    try {
      return static_cast<void>(NvrtcCalls::Get()), static_cast<void>(DriverCalls::Get()), true;
    } catch (const Error& error) {
      return TellWhyNot(error.what()), false;
    }
  }();
  return can;
}

const Compiled* Compile(const Context& ctx, const std::string& text) {
  static auto* mutex = new std::mutex;
  static auto* known = new std::map<std::pair<int, std::string>, std::unique_ptr<const Compiled>>;
  Bind(ctx);
  const int architecture = CapabilityOf(ctx.device.index);
  std::lock_guard<std::mutex> lock(*mutex);
  const auto [place, fresh] = known->try_emplace({architecture, text});
  if (!fresh) return place->second.get();
  const RelaxedCapture relaxed;  // a graph that is being noted down must not note this
  try {
    place->second = std::make_unique<const Compiled>(MakeCompiled(text, architecture));
  } catch (const Error& error) {
    TellWhyNot(error.what());
  }
  return place->second.get();
}

bool IsFor(const Compiled& compiled, const Context& ctx) {
  return compiled.architecture == CapabilityOf(ctx.device.index);
}

void LaunchCompiled(const char* who, const Context& ctx, const Compiled& compiled, Entry entry, const Grid& grid,
                    const void* argument, size_t /*the driver knows them*/) {
  Bind(ctx);
  const DriverCalls& driver = DriverCalls::Get();
  void* arguments[] = {const_cast<void*>(argument)};
  // The driver takes a kernel of a library where it takes a function.
  const auto function = reinterpret_cast<CUfunction>(compiled.kernels[static_cast<int>(entry)]);
  CheckDriver(driver.launch(function, grid.blocks.x, grid.blocks.y, grid.blocks.z, grid.threads.x, grid.threads.y,
                            grid.threads.z, static_cast<unsigned>(grid.shared), StreamOf(ctx), arguments, nullptr),
              who);
}

void TellWhyNot(const char* why) {
  static std::atomic<bool> told{false};
  if (!told.exchange(true)) std::fprintf(stderr, "dragon: fused operators run one by one: %s\n", why);
}

}  // namespace dragon::cuda

// The compiler of generated kernels, for the machine: the host's own compiler makes a library of the text, with the
// options that the machine's other kernels have. DRAGON_SIMT_TEXTS names a folder that gets the texts.
#include "core/device/cuda/compiler.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/device/cuda/code_cache.h"
#include "core/device/cuda/sources.h"

namespace dragon::cuda {

struct Compiled {
  void (*kernels[2])(const void*);
};

namespace {

#if defined(__SANITIZE_ADDRESS__)
#define DRAGON_SIMT_SANITIZERS " -fsanitize=address -fno-omit-frame-pointer -g1"
#else
#define DRAGON_SIMT_SANITIZERS ""
#endif

constexpr const char* kOptions =
    " -std=c++20 -O1 -fPIC -shared -w -fno-math-errno -fno-trapping-math -DDRAGON_SIMT "
    "-DSIMT_GENERATED" DRAGON_SIMT_SANITIZERS " -I" DRAGON_SIMT_ROOT "/tests/cuda/simt";

/// A folder of this process's own.
const std::filesystem::path& Folder() {
  static const auto* folder = [] {
    auto* made =
        new std::filesystem::path(std::filesystem::temp_directory_path() / ("dragon_simt." + std::to_string(getpid())));
    for (int i = 0; i < generated::kSourceCount; ++i) {
      const generated::SourceFile& source = generated::kSources[i];
      const std::filesystem::path path = *made / source.name;
      if (path.parent_path() == *made) continue;  // the host's compiler has a library
      std::filesystem::create_directories(path.parent_path());
      std::ofstream(path) << source.text;
    }
    std::atexit([] { std::filesystem::remove_all(Folder()); });
    return made;
  }();
  return *folder;
}

std::string Read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// A function of its own for each kernel: what takes a pointer can be called from here.
std::string WithEntries(const std::string& text) {
  std::string all = text + "namespace dragon::generated {\n";
  for (const char* name : kEntryNames) {
    if (text.find(std::string(" ") + name + "(const") == std::string::npos) continue;
    all += std::string("extern \"C\" void Run") + name + "(const void* a) { " + name +
           "(*static_cast<const Arguments*>(a)); }\n";
  }
  return all + "}\n";
}

std::string MakeCode(const std::string& text, const std::string& name) {
  const std::filesystem::path source = Folder() / (name + ".cc"), made = Folder() / (name + ".so");
  std::ofstream(source) << text;
  Dl_info here;
  dladdr(reinterpret_cast<void*>(&simt::Now), &here);
  const std::string log = (Folder() / (name + ".log")).string();
  const std::string command = "g++" + std::string(kOptions) + " -I" + Folder().string() +
                              " -I" DRAGON_SIMT_ROOT " -o " + made.string() + " " + source.string() + " " +
                              here.dli_fname + " 2>" + log;
  if (std::system(command.c_str()) != 0) {
    throw RuntimeError("simt").Got("a text that the host's compiler refuses: ", Read(log), text).Expected("code");
  }
  return Read(made);
}

Compiled Load(const std::string& code, const std::string& name) {
  const std::filesystem::path path = Folder() / (name + ".loaded.so");
  std::ofstream(path, std::ios::binary) << code;
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) throw RuntimeError("simt").Got(dlerror()).Expected("a library");
  Compiled compiled{};
  for (size_t i = 0; i < std::size(kEntryNames); ++i) {
    compiled.kernels[i] =
        reinterpret_cast<void (*)(const void*)>(dlsym(library, (std::string("Run") + kEntryNames[i]).c_str()));
  }
  return compiled;
}

}  // namespace

const Compiled* Compile(const Context&, const std::string& text) {
  if (const char* folder = std::getenv("DRAGON_SIMT_TEXTS")) {
    std::ofstream(std::filesystem::path(folder) / (CodeKey({text}) + ".cu")) << text;
  }
  static auto* mutex = new std::mutex;
  static auto* known = new std::map<std::string, std::unique_ptr<const Compiled>>;
  std::lock_guard<std::mutex> lock(*mutex);
  const auto [place, fresh] = known->try_emplace(text);
  if (!fresh) return place->second.get();
  std::string sources;
  for (int i = 0; i < generated::kSourceCount; ++i) sources += generated::kSources[i].text;
  const std::string key = CodeKey({text, sources, kOptions});
  std::string code = ReadCode(key);
  if (code.empty()) KeepCode(key, code = MakeCode(WithEntries(text), key));
  place->second = std::make_unique<const Compiled>(Load(code, key));
  return place->second.get();
}

bool CanCompile() { return true; }

bool IsFor(const Compiled&, const Context&) { return true; }

void LaunchCompiled(const char* who, const Context&, const Compiled& compiled, Entry entry, const Grid& grid,
                    const void* argument, size_t bytes) {
  const auto kernel = compiled.kernels[static_cast<int>(entry)];
  struct alignas(16) Part {
    char bytes[16];
  };
  std::vector<Part> copy((bytes + sizeof(Part) - 1) / sizeof(Part));
  std::memcpy(copy.data(), argument, bytes);
  simt::Run(who, {grid.blocks.x, grid.blocks.y, grid.blocks.z}, {grid.threads.x, grid.threads.y, grid.threads.z},
            grid.shared, [kernel, copy = std::move(copy)] { kernel(copy.data()); });
}

void TellWhyNot(const char* why) { throw RuntimeError("simt").Says(why); }

}  // namespace dragon::cuda

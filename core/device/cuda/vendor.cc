// Where NVIDIA's libraries are looked for, and what is said when they are not there.
#include "core/device/cuda/vendor.h"

#include <dlfcn.h>
#include <glob.h>

#include <cstdlib>
#include <mutex>
#include <sstream>

#include "core/base/error.h"
#include "core/device/library.h"

namespace dragon::cuda {

namespace {

std::mutex& Door() {
  static auto* mutex = new std::mutex;
  return *mutex;
}

using Names = std::vector<std::string>;

/// The files of a pattern, in the order of their names.
Names Matching(const std::string& pattern) {
  glob_t found;
  Names names;
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0) names.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
  return names;
}

/// Where pip's wheels would have a file: in `nvidia` beside the installed package, for which they were chosen, then
/// among the packages of the running Python, which is what a checkout has.
Names InWheels(const std::string& file) {
  Names folders = PackageFolders(), paths;
  folders.insert(folders.begin(), LibraryFolder() + "/../..");  // dragon/lib lies in site-packages/dragon
  for (const std::string& folder : folders) {
    for (std::string& path : Matching(folder + "/nvidia/*/lib/" + file)) paths.push_back(std::move(path));
  }
  return paths;
}

/// The file of a library that goes with the release of CUDA this was compiled by comes first.
Names ByRelease(const std::string& of_13, const std::string& of_12) {
  return DRAGON_CUDA_RELEASE >= 13 ? Names{of_13, of_12} : Names{of_12, of_13};
}

Names AskedFolders() {
  Names folders;
  const char* asked = std::getenv("DRAGON_CUDA_LIBRARIES");
  std::istringstream text(asked ? asked : "");
  for (std::string folder; std::getline(text, folder, ':');) {
    if (!folder.empty()) folders.push_back(folder);
  }
  return folders;
}

}  // namespace

VendorLibrary::VendorLibrary(const char* name, Names files, const char* wheel, Names parts)
    : name_(name), files_(std::move(files)), wheel_(wheel), parts_(std::move(parts)) {}

void VendorLibrary::Open() {
  std::lock_guard<std::mutex> lock(Door());
  if (opened_) return;
  const auto attempt = [this](const std::string& path) {
    // Its parts find one another by name: they are made known to what is loaded later.
    handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (handle_) path_ = path;
    return handle_ != nullptr;
  };
  const auto search = [&] {
    for (const std::string& folder : AskedFolders()) {
      for (const std::string& file : files_) {
        if (attempt(folder + "/" + file)) return;
      }
    }
    for (const std::string& file : files_) {
      for (const std::string& path : InWheels(file)) {
        if (attempt(path)) return;
      }
    }
    for (const std::string& file : files_) {
      if (attempt(file)) return;
    }
    if (const char* words = dlerror()) tried_ = words;
  };
  search();
  if (handle_) BringParts();
  opened_ = true;
}

/// A library of several files looks for the others by their names alone, and LD_LIBRARY_PATH may lead it to those of
/// another release.
void VendorLibrary::BringParts() {
  const auto slash = path_.rfind('/');
  if (slash == std::string::npos || !std::getenv("LD_LIBRARY_PATH")) return;
  for (const std::string& part : parts_)
    (void)dlopen((path_.substr(0, slash + 1) + part).c_str(), RTLD_LAZY | RTLD_GLOBAL);
}

bool VendorLibrary::found() {
  Open();
  return handle_ != nullptr;
}

const std::string& VendorLibrary::path() {
  Open();
  return path_;
}

void* VendorLibrary::FindSymbol(const char* symbol) {
  Open();
  if (!handle_) {
    throw RuntimeError("cuda")
        .Got("no ", name_, " (", tried_, ")")
        .Expected(files_.front(), ": `pip install ", wheel_, "`, or DRAGON_CUDA_LIBRARIES=folder/that/holds/it");
  }
  if (void* const found = dlsym(handle_, symbol)) return found;
  throw RuntimeError("cuda")
      .Got(path_, ", which has no ", symbol)
      .Expected("a newer ", name_, ": `pip install -U ", wheel_, "`");
}

// Never destroyed: kernels may run while static destructors do.
VendorLibrary& Cublas() {
  static auto* library = new VendorLibrary("cuBLAS", ByRelease("libcublas.so.13", "libcublas.so.12"), "nvidia-cublas");
  return *library;
}
VendorLibrary& CublasLt() {
  static auto* library =
      new VendorLibrary("cuBLASLt", ByRelease("libcublasLt.so.13", "libcublasLt.so.12"), "nvidia-cublas");
  return *library;
}
VendorLibrary& Cudnn() {
  static auto* library = new VendorLibrary(
      "cuDNN", {"libcudnn.so.9"}, "nvidia-cudnn-cu13",
      {"libcudnn_graph.so.9", "libcudnn_ops.so.9", "libcudnn_cnn.so.9", "libcudnn_adv.so.9", "libcudnn_heuristic.so.9",
       "libcudnn_engines_precompiled.so.9", "libcudnn_engines_runtime_compiled.so.9"});
  return *library;
}
VendorLibrary& Cufft() {
  static auto* library = new VendorLibrary("cuFFT", ByRelease("libcufft.so.12", "libcufft.so.11"), "nvidia-cufft");
  return *library;
}
VendorLibrary& Cusolver() {
  static auto* library =
      new VendorLibrary("cuSOLVER", ByRelease("libcusolver.so.12", "libcusolver.so.11"), "nvidia-cusolver");
  return *library;
}
VendorLibrary& Cusparse() {
  static auto* library = new VendorLibrary("cuSPARSE", {"libcusparse.so.12"}, "nvidia-cusparse");
  return *library;
}
VendorLibrary& Nccl() {
  static auto* library = new VendorLibrary("NCCL", {"libnccl.so.2"}, "nvidia-nccl-cu13");
  return *library;
}
VendorLibrary& Nvrtc() {
  static auto* library = new VendorLibrary("NVRTC", ByRelease("libnvrtc.so.13", "libnvrtc.so.12"), "nvidia-cuda-nvrtc");
  return *library;
}

}  // namespace dragon::cuda

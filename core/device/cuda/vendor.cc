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

/// The folders of pip's wheels: dragon/lib lies in site-packages/dragon, and they in site-packages/nvidia.
std::vector<std::string> WheelFolders() {
  std::vector<std::string> folders;
  glob_t found;
  const std::string pattern = LibraryFolder() + "/../../nvidia/*/lib";
  if (glob(pattern.c_str(), GLOB_ONLYDIR, nullptr, &found) == 0)
    folders.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
  return folders;
}

std::vector<std::string> AskedFolders() {
  std::vector<std::string> folders;
  const char* asked = std::getenv("DRAGON_CUDA_LIBRARIES");
  std::istringstream text(asked ? asked : "");
  for (std::string folder; std::getline(text, folder, ':');) {
    if (!folder.empty()) folders.push_back(folder);
  }
  return folders;
}

}  // namespace

VendorLibrary::VendorLibrary(const char* name, std::vector<std::string> files, const char* wheel)
    : name_(name), files_(std::move(files)), wheel_(wheel) {}

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
    for (const auto& folders : {AskedFolders(), WheelFolders()}) {
      for (const std::string& folder : folders) {
        for (const std::string& file : files_) {
          if (attempt(folder + "/" + file)) return;
        }
      }
    }
    for (const std::string& file : files_) {
      if (attempt(file)) return;
    }
    if (const char* words = dlerror()) tried_ = words;
  };
  search();
  opened_ = true;
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
  static auto* library = new VendorLibrary("cuBLAS", {"libcublas.so.13", "libcublas.so.12"}, "nvidia-cublas");
  return *library;
}
VendorLibrary& CublasLt() {
  static auto* library = new VendorLibrary("cuBLASLt", {"libcublasLt.so.13", "libcublasLt.so.12"}, "nvidia-cublas");
  return *library;
}
VendorLibrary& Cudnn() {
  static auto* library = new VendorLibrary("cuDNN", {"libcudnn.so.9"}, "nvidia-cudnn-cu13");
  return *library;
}
VendorLibrary& Cufft() {
  static auto* library = new VendorLibrary("cuFFT", {"libcufft.so.12", "libcufft.so.11"}, "nvidia-cufft");
  return *library;
}
VendorLibrary& Cusolver() {
  static auto* library = new VendorLibrary("cuSOLVER", {"libcusolver.so.12", "libcusolver.so.11"}, "nvidia-cusolver");
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
  static auto* library = new VendorLibrary("NVRTC", {"libnvrtc.so.13", "libnvrtc.so.12"}, "nvidia-cuda-nvrtc");
  return *library;
}

}  // namespace dragon::cuda

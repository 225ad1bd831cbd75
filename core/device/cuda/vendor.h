// NVIDIA's libraries, opened when the first call needs one: this library itself loads where none of them is.
#pragma once

#include <string>
#include <vector>

namespace dragon::cuda {

/// A shared library of NVIDIA's that is looked for once. Folders in DRAGON_CUDA_LIBRARIES (separated by colons) come
/// first, then pip's wheels, beside the installed package and of the running Python, then what the loader finds by
/// itself.
class VendorLibrary {
 public:
  /// `name` is the library's own, "cuBLAS"; `files` are its file names, the best first; `wheel` is what pip calls it;
  /// `parts` are the files that it opens by itself, those that others need first.
  VendorLibrary(const char* name, std::vector<std::string> files, const char* wheel,
                std::vector<std::string> parts = {});

  /// Whether it was found.
  bool found();
  /// A function of the library as `Function`; a RuntimeError that says how to install the library without it, and one
  /// that names the function if the library is too old for it.
  template <typename Function>
  Function Find(const char* symbol) {
    return reinterpret_cast<Function>(FindSymbol(symbol));
  }
  /// Where it was found.
  const std::string& path();

 private:
  void Open();
  void BringParts();
  void* FindSymbol(const char* symbol);

  const char* name_;
  std::vector<std::string> files_;
  const char* wheel_;
  std::vector<std::string> parts_;
  void* handle_ = nullptr;
  bool opened_ = false;
  std::string path_, tried_;
};

VendorLibrary& Cublas();
VendorLibrary& CublasLt();
VendorLibrary& Cudnn();
VendorLibrary& Cufft();
VendorLibrary& Cusolver();
VendorLibrary& Cusparse();
VendorLibrary& Nccl();
VendorLibrary& Nvrtc();

}  // namespace dragon::cuda

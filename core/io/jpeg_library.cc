// Finding libjpeg's functions, and which of the layouts it has.
#include "core/io/jpeg_library.h"

#include <dlfcn.h>

#include <csetjmp>

#include "core/base/error.h"

namespace dragon {

namespace {

static_assert(sizeof(void*) == 8 && sizeof(long) == 8, "offsets of fields are those of 64-bit machines");  // NOLINT

struct KnownLayout {
  int version;
  size_t size;
};
constexpr KnownLayout kKnownLayouts[] = {{62, 632}, {80, 656}};

template <typename Function>
void FindFunction(void* handle, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(handle, name));
}

/// What the library calls where it refuses; it must not come back.
void LeaveLibrary(void* structure) { std::longjmp(*ReadField<std::jmp_buf*>(structure, jpeg_field::kClientData), 1); }
void SayNothing(void*) {}

}  // namespace

JpegLibrary::JpegLibrary(const std::string& path) : path_(path) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);  // never closed: pictures may be read until the end
  if (handle == nullptr) throw RuntimeError("JpegLibrary").Says("could not be loaded: ", dlerror());
  FindFunction(handle, "jpeg_std_error", &StandardErrors);
  FindFunction(handle, "jpeg_CreateDecompress", &create_);
  FindFunction(handle, "jpeg_destroy_decompress", &Destroy);
  FindFunction(handle, "jpeg_read_header", &ReadHeader);
  FindFunction(handle, "jpeg_start_decompress", &Start);
  FindFunction(handle, "jpeg_read_scanlines", &ReadRows);
  FindFunction(handle, "jpeg_finish_decompress", &Finish);
  FindFunction(handle, "jpeg_resync_to_restart", &ResyncToRestart);
  FindFunction(handle, "jpeg_crop_scanline", &CropColumns);
  FindFunction(handle, "jpeg_skip_scanlines", &SkipRows);
  if (!StandardErrors || !create_ || !Destroy || !ReadHeader || !Start || !ReadRows || !Finish || !ResyncToRestart) {
    throw RuntimeError("JpegLibrary").Got(path).Expected("a libjpeg: functions of it are missing");
  }
  for (const KnownLayout& layout : kKnownLayouts) {
    if (TryLayout(layout.version, layout.size)) return;
  }
  throw RuntimeError("JpegLibrary").Got(path).Expected("a libjpeg whose interface is of version 6.2 or 8");
}

bool JpegLibrary::TryLayout(int version, size_t size) {
  alignas(16) char structure[kJpegStruct] = {}, errors[kJpegErrors] = {};
  std::jmp_buf back;
  StandardErrors(errors);
  WriteField(errors, jpeg_field::kErrorExit, &LeaveLibrary);
  WriteField(errors, jpeg_field::kOutputMessage, &SayNothing);
  WriteField(structure, jpeg_field::kErrors, static_cast<void*>(errors));
  WriteField(structure, jpeg_field::kClientData, &back);
  if (setjmp(back)) return false;
  create_(structure, version, size);
  Destroy(structure);
  version_ = version, size_ = size;
  return true;
}

}  // namespace dragon

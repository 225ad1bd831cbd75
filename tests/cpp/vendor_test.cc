// Where NVIDIA's libraries are looked for, with another library under their names.
#include "core/device/cuda/vendor.h"

#include <dlfcn.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "core/device/library.h"
#include "tests/cpp/check.h"

namespace dragon {

/// A folder with the mathematical library of this machine under several names; gone at the end.
class Wheels {
 public:
  Wheels() {
    std::string name = "/tmp/dragon-vendor-XXXXXX";
    CHECK(mkdtemp(name.data()) != nullptr);
    root_ = name;
    Dl_info info;
    CHECK(dladdr(reinterpret_cast<void*>(static_cast<double (*)(double)>(&std::cos)), &info) != 0);
    real_ = std::filesystem::canonical(info.dli_fname);
  }
  ~Wheels() { std::filesystem::remove_all(root_); }

  void Add(const std::string& path) const {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::filesystem::create_symlink(real_, root_ / path);
  }
  std::string operator/(const std::string& path) const { return (root_ / path).string(); }

 private:
  std::filesystem::path root_, real_;
};

TEST(AMissingLibraryIsNamedWithItsWheel) {
  cuda::VendorLibrary none("cuNothing", {"libnothing.so.13", "libnothing.so.12"}, "nvidia-nothing");
  CHECK(!none.found());
  CHECK_THROWS(none.Find<void (*)()>("nothing"), RuntimeError, "libnothing.so.13: `pip install nvidia-nothing`");
}

TEST(PackagesOfPythonAreSearchedInTheirOrder) {
  const Wheels wheels;
  wheels.Add("second/nvidia/some/lib/libone.so.13");
  wheels.Add("second/nvidia/cu13/lib/libone.so.12");
  wheels.Add("first/nvidia/cu13/lib/libone.so.12");
  SetPackageFolders({wheels / "missing", wheels / "first", wheels / "second"});
  // The better file of a later folder comes before the other one of an earlier folder.
  cuda::VendorLibrary one("cuOne", {"libone.so.13", "libone.so.12"}, "nvidia-one");
  CHECK(one.found());
  CHECK(one.path() == wheels / "second/nvidia/some/lib/libone.so.13");
  CHECK(one.Find<double (*)(double)>("cos")(0.0) == 1.0);
  CHECK_THROWS(one.Find<void (*)()>("cuOneOfTomorrow"), RuntimeError, "pip install -U nvidia-one");
  cuda::VendorLibrary older("cuOne", {"libone.so.12"}, "nvidia-one");
  CHECK(older.path() == wheels / "first/nvidia/cu13/lib/libone.so.12");
  SetPackageFolders({});
}

TEST(WhatIsAskedForComesFirst) {
  const Wheels wheels;
  wheels.Add("packages/nvidia/some/lib/libtwo.so.13");
  wheels.Add("asked/libtwo.so.12");
  SetPackageFolders({wheels / "packages"});
  setenv("DRAGON_CUDA_LIBRARIES", (":" + (wheels / "nowhere") + ":" + (wheels / "asked")).c_str(), 1);
  cuda::VendorLibrary two("cuTwo", {"libtwo.so.13", "libtwo.so.12"}, "nvidia-two");
  CHECK(two.path() == wheels / "asked/libtwo.so.12");
  unsetenv("DRAGON_CUDA_LIBRARIES");
  SetPackageFolders({});
}

}  // namespace dragon

TEST_MAIN()

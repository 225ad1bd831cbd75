// Addresses of a device to which memory is given page by page, and taken from again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

#include "core/device/accelerator.h"

namespace dragon {

class PageRange {
 public:
  /// `bytes`, whole pages of `page` bytes, without memory yet; null where the device cannot do that.
  static std::unique_ptr<PageRange> Reserve(Accelerator& accelerator, int index, size_t bytes, size_t page);
  ~PageRange();
  PageRange(const PageRange&) = delete;
  PageRange& operator=(const PageRange&) = delete;

  char* base() const { return base_; }
  size_t bytes() const { return bytes_; }
  size_t page() const { return page_; }

  /// Put memory behind whole pages that have none: behind all of them, or, where there is not enough, behind none.
  bool Map(char* from, size_t bytes);
  /// Take it away again. Nothing that the device still does may use it.
  void Unmap(char* from, size_t bytes);

 private:
  PageRange(Accelerator& accelerator, int index, char* base, size_t bytes, size_t page)
      : accelerator_(accelerator), index_(index), base_(base), bytes_(bytes), page_(page) {}

  Accelerator& accelerator_;
  int index_;
  char* base_;
  size_t bytes_, page_;
  std::map<char*, uint64_t> pages_;  // what the device calls the memory at an address
};

}  // namespace dragon

// What is mapped is remembered page by page, since it is given back so.
#include "core/device/page_range.h"

namespace dragon {

std::unique_ptr<PageRange> PageRange::Reserve(Accelerator& accelerator, int index, size_t bytes, size_t page) {
  void* const base = accelerator.ReserveAddresses(index, bytes, page);
  if (!base) return nullptr;
  return std::unique_ptr<PageRange>(new PageRange(accelerator, index, static_cast<char*>(base), bytes, page));
}

PageRange::~PageRange() {
  for (const auto& [at, name] : pages_) accelerator_.UnmapPage(index_, at, page_, name);
  accelerator_.ReleaseAddresses(index_, base_, bytes_);
}

bool PageRange::Map(char* from, size_t bytes) {
  for (size_t done = 0; done < bytes; done += page_) {
    const auto name = accelerator_.MapPage(index_, from + done, page_);
    if (!name) {
      Unmap(from, done);
      return false;
    }
    pages_[from + done] = *name;
  }
  return true;
}

void PageRange::Unmap(char* from, size_t bytes) {
  const auto first = pages_.lower_bound(from), last = pages_.lower_bound(from + bytes);
  for (auto page = first; page != last; ++page) accelerator_.UnmapPage(index_, page->first, page_, page->second);
  pages_.erase(first, last);
}

}  // namespace dragon

// The sources that generated kernels include, by name: a library of a device holds them as strings.
#pragma once

#include <cstring>

namespace dragon::generated {

struct SourceFile {
  const char* name;
  const char* text;
};
extern const SourceFile kSources[];
extern const int kSourceCount;

/// Whether a generated kernel can include this file.
inline bool HasSource(const char* name) {
  for (int i = 0; i < kSourceCount; ++i) {
    if (std::strcmp(kSources[i].name, name) == 0) return true;
  }
  return false;
}

}  // namespace dragon::generated

// Files with a line that says what they are: others, and those that were cut off, are as if they were not there.
#include "core/device/cuda/code_cache.h"

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace dragon::cuda {

namespace {

/// FNV-1a over words that are spread in two ways.
std::string Hash(const std::string& text) {
  uint64_t first = 0xCBF29CE484222325u, second = 0x9AE16A3B2F90404Fu;
  for (const unsigned char c : text) {
    first = (first ^ c) * 0x100000001B3u;
    second = (second ^ c) * 0xC6A4A7935BD1E995u;
    second ^= second >> 29;
  }
  char words[40];
  std::snprintf(words, sizeof(words), "%016llx%016llx", static_cast<unsigned long long>(first),
                static_cast<unsigned long long>(second));
  return words;
}

std::filesystem::path CacheFolder() {
  if (const char* asked = std::getenv("DRAGON_CACHE")) return asked;
  if (const char* caches = std::getenv("XDG_CACHE_HOME"); caches && *caches) {
    return std::filesystem::path(caches) / "dragon";
  }
  const char* home = std::getenv("HOME");
  return home && *home ? std::filesystem::path(home) / ".cache" / "dragon" : std::filesystem::path();
}

std::filesystem::path FileOf(const std::string& key) {
  const std::filesystem::path folder = CacheFolder();
  return folder.empty() ? folder : folder / (key + ".code");
}

std::string FirstLine(const std::string& key, const std::string& code) {
  return "dragon code 1 " + key + " " + Hash(code) + "\n";
}

}  // namespace

std::string CodeKey(std::initializer_list<std::string> parts) {
  std::string all;
  for (const std::string& part : parts) all += std::to_string(part.size()) + ":" + part;
  return Hash(all);
}

std::string ReadCode(const std::string& key) {
  const std::filesystem::path path = FileOf(key);
  if (path.empty()) return "";
  std::ifstream file(path, std::ios::binary);
  std::string first;
  if (!file || !std::getline(file, first)) return "";
  std::string code{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return first + "\n" == FirstLine(key, code) ? code : "";
}

void KeepCode(const std::string& key, const std::string& code) {
  const std::filesystem::path path = FileOf(key);
  if (path.empty()) return;
  std::error_code ignored;
  std::filesystem::create_directories(path.parent_path(), ignored);
  const std::filesystem::path fresh = path.string() + "." + std::to_string(getpid());
  std::ofstream file(fresh, std::ios::binary);
  file << FirstLine(key, code) << code;
  file.close();
  if (file) std::filesystem::rename(fresh, path, ignored);
  if (!file || ignored) std::filesystem::remove(fresh, ignored);
}

}  // namespace dragon::cuda

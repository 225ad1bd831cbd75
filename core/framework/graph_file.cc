// One file of a graph and its weights.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/framework/graph_proto.h"

namespace dragon {

namespace {

constexpr char kMagic[8] = {'\x89', 'D', 'R', 'A', 'G', 'O', 'N', '\n'};
/// Processors load whole lines of cache, and kernels like to begin at one.
constexpr int64_t kAlignment = 64;

struct Head {
  char magic[8];
  int64_t version, graph_bytes, weights_bytes;
  char reserved[32];
};
static_assert(sizeof(Head) == kAlignment);

int64_t Aligned(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

[[noreturn]] void FailSystem(const std::string& path, const char* what) {
  throw RuntimeError("graph file").Says("cannot ", what, " '", path, "': ", std::strerror(errno));
}

class File {
 public:
  File(std::string path, int flags) : path_(std::move(path)), number_(open(path_.c_str(), flags | O_CLOEXEC, 0666)) {
    if (number_ < 0) FailSystem(path_, "open");
  }
  ~File() {
    if (number_ >= 0) close(number_);  // of a file that was not written: what is wrong with it is told already
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  void Write(const void* data, int64_t bytes) {
    const char* at = static_cast<const char*>(data);
    while (bytes > 0) {
      const ssize_t wrote = write(number_, at, bytes);
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote <= 0) FailSystem(path_, "write");
      at += wrote, bytes -= wrote;
    }
  }
  void Pad(int64_t bytes) {
    static const char zeros[kAlignment] = {};
    Write(zeros, bytes);
  }
  int64_t Size() const {
    struct stat status;
    if (fstat(number_, &status) < 0) FailSystem(path_, "read");
    if (!S_ISREG(status.st_mode)) throw RuntimeError("graph file").Got("'", path_, "'").Expected("an ordinary file");
    return status.st_size;
  }
  void Read(void* data, int64_t bytes, int64_t offset) const {
    char* at = static_cast<char*>(data);
    while (bytes > 0) {
      const ssize_t got = pread(number_, at, bytes, offset);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) FailSystem(path_, "read");
      at += got, bytes -= got, offset += got;
    }
  }
  int number() const { return number_; }
  void Close() {
    if (number_ >= 0 && close(std::exchange(number_, -1)) < 0) FailSystem(path_, "write");
  }

 private:
  std::string path_;
  int number_;
};

Head ReadHead(const File& file, const std::string& path) {
  const int64_t size = file.Size();
  Head head;
  if (size < kAlignment) {
    throw ValueError("graph file").Got("'", path, "' of ", size, " bytes").Expected("at least ", kAlignment);
  }
  file.Read(&head, sizeof(head), 0);
  if (std::memcmp(head.magic, kMagic, sizeof(kMagic)) != 0) {
    throw ValueError("graph file").Got("'", path, "', which does not begin as one").Expected("a file that save() made");
  }
  if (head.version < 1 || head.version > kGraphVersion) {
    throw ValueError("graph file")
        .Got("'", path, "' of version ", head.version)
        .Expected("1 to ", kGraphVersion, head.version > kGraphVersion ? "; a newer Dragon has written it" : "");
  }
  const bool fits = head.graph_bytes >= 0 && head.graph_bytes <= size && head.weights_bytes >= 0 &&
                    head.weights_bytes <= size && kAlignment + Aligned(head.graph_bytes) + head.weights_bytes == size;
  if (!fits) {
    throw ValueError("graph file")
        .Got("'", path, "' of ", size, " bytes")
        .Expected("a head, ", head.graph_bytes, " of graph and ", head.weights_bytes,
                  " of weights: it has been cut short or changed");
  }
  return head;
}

StoredWeights MapWeights(const File& file, const std::string& path) {
  const int64_t size = file.Size();
  void* begin = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, file.number(), 0);
  if (begin == MAP_FAILED) FailSystem(path, "map");
  std::shared_ptr<void> owner(begin, [size](void* mapped) { munmap(mapped, size); });
  return {{static_cast<uint8_t*>(begin), static_cast<size_t>(size)}, std::move(owner)};
}

StoredWeights ReadWeights(const File& file, int64_t offset, int64_t bytes) {
  auto* begin = static_cast<uint8_t*>(std::aligned_alloc(kAlignment, std::max(Aligned(bytes), kAlignment)));
  if (!begin) throw MemoryError("graph file").Got(bytes, " bytes of weights").Expected("as much free memory");
  std::shared_ptr<void> owner(begin, std::free);
  file.Read(begin, bytes, offset);
  return {{begin, static_cast<size_t>(bytes)}, std::move(owner)};
}

}  // namespace

void SaveGraph(const Graph& graph, const std::string& path) {
  std::vector<std::pair<Tensor, int64_t>> weights;
  int64_t weights_bytes = 0;
  const std::string bytes = EncodeGraph(graph, [&](const Tensor& tensor, int64_t size) {
    weights.emplace_back(tensor, size);
    return std::exchange(weights_bytes, weights_bytes + Aligned(size));
  });
  Head head = {};
  std::memcpy(head.magic, kMagic, sizeof(kMagic));
  head.version = kGraphVersion;
  head.graph_bytes = static_cast<int64_t>(bytes.size());
  head.weights_bytes = weights_bytes;
  File file(path, O_WRONLY | O_CREAT | O_TRUNC);
  file.Write(&head, sizeof(head));
  file.Write(bytes.data(), head.graph_bytes);
  file.Pad(Aligned(head.graph_bytes) - head.graph_bytes);
  for (const auto& [tensor, size] : weights) {
    file.Write(tensor.data(), size);
    file.Pad(Aligned(size) - size);
  }
  file.Close();
}

Graph LoadGraph(const std::string& path, bool map) {
  const File file(path, O_RDONLY);
  const Head head = ReadHead(file, path);
  const int64_t offset = kAlignment + Aligned(head.graph_bytes);
  StoredWeights weights = map ? MapWeights(file, path) : ReadWeights(file, offset, head.weights_bytes);
  if (map) weights.bytes = weights.bytes.subspan(offset);
  std::string bytes(head.graph_bytes, '\0');
  file.Read(bytes.data(), head.graph_bytes, kAlignment);
  return DecodeGraph({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, &weights);
}

}  // namespace dragon

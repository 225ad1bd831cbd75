// Reading NumPy's `.npy` files: a head that is the text of a Python dict, then the numbers.
#include "core/tools/npy.h"

#include <cstring>
#include <fstream>
#include <map>

namespace dragon {

namespace {

const std::map<std::string, DType>& Descriptions() {
  static const std::map<std::string, DType> descriptions{
      {"|b1", DType::kBool},      {"|u1", DType::kUInt8},      {"|i1", DType::kInt8},    {"<i2", DType::kInt16},
      {"<i4", DType::kInt32},     {"<i8", DType::kInt64},      {"<f2", DType::kFloat16}, {"<f4", DType::kFloat32},
      {"<u2", DType::kUInt16},    {"<u4", DType::kUInt32},     {"<u8", DType::kUInt64},  {"<f8", DType::kFloat64},
      {"<c8", DType::kComplex64}, {"<c16", DType::kComplex128}};
  return descriptions;
}

/// What stands behind `'key':` in the head, up to `end`.
std::string Entry(const std::string& path, const std::string& head, const std::string& key, const char* end) {
  const size_t at = head.find("'" + key + "':");
  const size_t from = at == std::string::npos ? at : head.find_first_not_of(" '(", at + key.size() + 3);
  const size_t to = from == std::string::npos ? from : head.find_first_of(end, from);
  if (to == std::string::npos) throw ValueError("npy").Got("'", path, "' without '", key, "'").Expected("NumPy's head");
  return head.substr(from, to - from);
}

Dims ShapeOf(const std::string& path, const std::string& text) {
  Dims shape;
  for (size_t at = 0; at < text.size();) {
    size_t used = 0;
    try {
      shape.push_back(std::stoll(text.substr(at), &used));
    } catch (const std::exception&) {
      throw ValueError("npy").Got("'", path, "' of shape (", text, ")").Expected("numbers");
    }
    at += used;
    while (at < text.size() && (text[at] == ',' || text[at] == ' ')) ++at;
  }
  return shape;
}

}  // namespace

Tensor ReadNpy(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw RuntimeError("npy").Says("cannot open '", path, "': ", std::strerror(errno));
  file.seekg(0, std::ios::end);
  const int64_t total = file.tellg();
  file.seekg(0);
  unsigned char start[12] = {};
  file.read(reinterpret_cast<char*>(start), 10);
  const bool is_long = start[6] >= 2;  // later versions have a longer head
  if (is_long) file.read(reinterpret_cast<char*>(start + 10), 2);
  if (!file || std::memcmp(start, "\x93NUMPY", 6) != 0) {
    throw ValueError("npy").Got("'", path, "', which does not begin as one").Expected("a file of numpy.save");
  }
  const int64_t begin = is_long ? 12 : 10;
  const int64_t length = start[8] | start[9] << 8 | (is_long ? start[10] << 16 | int64_t{start[11]} << 24 : 0);
  if (length > total - begin) throw ValueError("npy").Got("'", path, "' cut short").Expected("a whole file");
  std::string head(length, '\0');
  file.read(head.data(), length);
  const std::string description = Entry(path, head, "descr", "',");
  const auto dtype = Descriptions().find(description);
  if (dtype == Descriptions().end() || Entry(path, head, "fortran_order", ",}") != "False") {
    throw ValueError("npy").Got("'", path, "' of ", description).Expected("a row-major array of numbers");
  }
  const size_t shape_at = head.find("'shape':");
  const bool scalar = shape_at != std::string::npos && head.compare(head.find('(', shape_at), 2, "()") == 0;
  const Dims shape = scalar ? Dims() : ShapeOf(path, Entry(path, head, "shape", ")"));
  const int64_t bytes = CheckedNumel("npy", shape, ItemSize(dtype->second)) * ItemSize(dtype->second);
  if (bytes != total - begin - length) {
    throw ValueError("npy").Got("'", path, "' with ", total - begin - length, " bytes of numbers").Expected(bytes);
  }
  Tensor tensor = Tensor::Empty(shape, dtype->second);
  if (bytes) file.read(static_cast<char*>(tensor.mutable_data()), bytes);
  return tensor;
}

}  // namespace dragon

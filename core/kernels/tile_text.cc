// Names, arguments and places of a generated kernel.
#include "core/kernels/tile_text.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>

#include "core/device/cuda/divide.h"

namespace dragon::kernels {

const char* TypeText(DType dtype) {
  static constexpr const char* kTexts[kDTypeCount] = {
      "bool",     "uint8_t",       "int8_t",      "int16_t",         "int32_t",         "int64_t",  "float16",
      "bfloat16", "float",         "double",      "complex64",       "complex128",      "uint16_t", "uint32_t",
      "uint64_t", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "complex32"};
  return kTexts[static_cast<int>(dtype)];
}

namespace {

void Erase(std::string* text, const std::string& word) {
  for (size_t at; (at = text->find(word)) != std::string::npos;) text->erase(at, word.size());
}

}  // namespace

std::string FunctorText(const char* sentence) {
  const std::string all(sentence);
  const size_t first = all.find("F = ");
  if (first == std::string::npos) return "";
  const size_t end = std::min(all.find(';', first), all.rfind(']'));
  std::string type = all.substr(first + 4, end - first - 4);
  Erase(&type, "{anonymous}::");
  Erase(&type, "(anonymous namespace)::");
  for (size_t at; (at = type.find("dragon::cpu")) != std::string::npos;) {
    const size_t colons = type.find("::", at + std::strlen("dragon::cpu"));
    if (colons == std::string::npos) return "";
    type.erase(at, colons + 2 - at);
  }
  const bool named = !type.empty() && type.find("lambda") == std::string::npos &&
                     std::all_of(type.begin(), type.end(), [](unsigned char c) {
                       return std::isalnum(c) || std::strchr("_<>,: ", c) != nullptr;
                     });
  return named ? type : "";
}

std::string FunctorFile(const Loop& loop) { return std::string("core/kernels/") + loop.source->file; }

ArgumentPlace ArgumentsText::Add(const std::string& declaration, size_t bytes, size_t alignment, const void* value) {
  const size_t offset = (bytes_.size() + alignment - 1) / alignment * alignment;
  bytes_.resize(offset + bytes);
  if (value) std::memcpy(bytes_.data() + offset, value, bytes);
  text_ << "  alignas(" << alignment << ") " << declaration << ";\n";
  return {offset, bytes};
}

std::string ArgumentsText::Text() const {
  std::ostringstream out;
  out << "struct alignas(16) Arguments {\n" << text_.str() << "};\n";
  out << "static_assert(sizeof(Arguments) == " << Bytes().size() << ");\n";
  return out.str();
}

std::vector<char> ArgumentsText::Bytes() const {
  std::vector<char> bytes = bytes_;
  bytes.resize((bytes.size() + 15) / 16 * 16);
  return bytes;
}

std::string FunctorsText::Name(const std::string& file, const std::string& type) {
  size_t source = 0;
  while (source < sources_.size() && sources_[source].first != file) ++source;
  if (source == sources_.size()) sources_.push_back({file, {}});
  std::vector<std::string>& types = sources_[source].second;
  const size_t place = std::find(types.begin(), types.end(), type) - types.begin();
  if (place == types.size()) types.push_back(type);
  return "source" + std::to_string(source) + "::F" + std::to_string(place);
}

/// Every file in a namespace of its own: they use the same names for different things.
std::string FunctorsText::Text() const {
  std::ostringstream out;
  for (size_t i = 0; i < sources_.size(); ++i) {
    const auto& [file, types] = sources_[i];
    out << "#define DRAGON_DEVICE source" << i << "\nnamespace dragon::source" << i
        << " {\nusing namespace ::dragon::parts;\n}\n#include \"" << file << "\"\nnamespace dragon::source" << i
        << " {\n";
    for (size_t k = 0; k < types.size(); ++k) out << "using F" << k << " = " << types[k] << ";\n";
    out << "}\n#undef DRAGON_DEVICE\n";
  }
  return out.str();
}

std::vector<std::string> FunctorsText::files() const {
  std::vector<std::string> names;
  for (const auto& source : sources_) names.push_back(source.first);
  return names;
}

PlacesText::PlacesText(const TileWalk& walk, ArgumentsText* arguments) : walk_(walk), arguments_(arguments) {
  for (const bool rows : {true, false}) {
    const WalkAxes& axes = Axes(rows);
    for (size_t axis = 1; axis < axes.shape.size(); ++axis) {
      const bool packs = !rows && axis + 1 == axes.shape.size();
      const int64_t size = axes.shape[axis] / (packs ? walk.width : 1);
      const std::string name = std::string("cuda::Divider<") + index() + "> by_" + Index(rows, axis);
      if (walk.wide) {
        const cuda::Divider<int64_t> by(size);
        arguments->Add(name, sizeof(by), alignof(decltype(by)), &by);
      } else {
        const cuda::Divider<uint32_t> by(size);
        arguments->Add(name, sizeof(by), alignof(decltype(by)), &by);
      }
    }
  }
}

std::string PlacesText::Split(bool rows, const std::string& from) const {
  const WalkAxes& axes = Axes(rows);
  if (axes.shape.empty()) return "";
  std::ostringstream out;
  std::string rest = from;
  for (size_t axis = axes.shape.size() - 1; axis > 0; --axis) {
    const std::string name = Index(rows, axis), outer = "outer_" + name, by = "a.by_" + name;
    out << "const " << index() << ' ' << outer << " = " << by << ".Divide(" << rest << "), " << name << " = " << rest
        << " - " << outer << " * " << by << ".divisor;\n";
    rest = outer;
  }
  out << "const " << index() << ' ' << Index(rows, 0) << " = " << rest << ";\n";
  return out.str();
}

std::string PlacesText::Stride(bool rows, size_t axis, size_t operand) {
  const WalkAxes& axes = Axes(rows);
  const bool packs = !rows && axis + 1 == axes.shape.size();
  const int64_t bytes = axes.strides[axis][operand] * (packs ? walk_.width : 1);
  // Short steps say how a kernel reads: they are written out. What depends on sizes is an argument.
  if (packs && std::abs(axes.strides[axis][operand]) <= 16)
    return "static_cast<" + std::string(index()) + ">(" + std::to_string(bytes) + ")";
  const std::string name = "step_" + Index(rows, axis) + "_" + std::to_string(operand);
  if (known_.emplace(name, name).second) {
    const auto narrow = static_cast<uint32_t>(bytes);
    const size_t size = walk_.wide ? sizeof(bytes) : sizeof(narrow);
    arguments_->Add(index() + (" " + name), size, size,
                    walk_.wide ? static_cast<const void*>(&bytes) : static_cast<const void*>(&narrow));
  }
  return "a." + name;
}

std::string PlacesText::Offset(bool rows, size_t operand) {
  const WalkAxes& axes = Axes(rows);
  std::string sum;
  for (size_t axis = 0; axis < axes.shape.size(); ++axis) {
    if (axes.strides[axis][operand] == 0) continue;
    if (!sum.empty()) sum += " + ";
    sum += Index(rows, axis) + " * " + Stride(rows, axis, operand);
  }
  return sum.empty() ? "0" : sum;
}

}  // namespace dragon::kernels

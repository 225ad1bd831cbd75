// Reads schema lines. A hand-written scanner: the grammar is small and its errors should be exact.
#include "core/framework/schema.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <sstream>

namespace dragon {

namespace {

const std::map<std::string, ArgumentType>& TypeNames() {
  static const auto* names = new std::map<std::string, ArgumentType>{
      {"Tensor", ArgumentType::kTensor}, {"int", ArgumentType::kInt},       {"float", ArgumentType::kFloat},
      {"bool", ArgumentType::kBool},     {"Scalar", ArgumentType::kScalar}, {"str", ArgumentType::kString},
      {"dtype", ArgumentType::kDType},   {"device", ArgumentType::kDevice}, {"Generator", ArgumentType::kGenerator},
      {"Graph", ArgumentType::kGraph}};
  return *names;
}

class Scanner {
 public:
  explicit Scanner(const std::string& line) : line_(line) {}

  [[noreturn]] void Fail(const std::string& expected) const {
    throw ValueError("schema").Got("\"", line_, "\"").Expected(expected, " at column ", at_);
  }
  void Space() {
    while (at_ < line_.size() && line_[at_] == ' ') ++at_;
  }
  bool Take(const std::string& token) {
    Space();
    if (line_.compare(at_, token.size(), token) != 0) return false;
    at_ += token.size();
    return true;
  }
  void Need(const std::string& token) {
    if (!Take(token)) Fail("'" + token + "'");
  }
  std::string Word() {
    Space();
    const size_t begin = at_;
    while (at_ < line_.size() && (std::isalnum(static_cast<unsigned char>(line_[at_])) || line_[at_] == '_')) ++at_;
    if (begin == at_) Fail("a name");
    return line_.substr(begin, at_ - begin);
  }
  /// A number, True, False, None, inf, a quoted string, a dtype's name or a list of integers.
  Value Default(const Argument& argument);
  bool AtEnd() {
    Space();
    return at_ == line_.size();
  }

 private:
  Value Number(const Argument& argument);

  const std::string& line_;
  size_t at_ = 0;
};

Value Scanner::Number(const Argument& argument) {
  Space();
  const char* begin = line_.c_str() + at_;
  char* end = nullptr;
  const double real = std::strtod(begin, &end);
  if (end == begin) Fail("a default value");
  const std::string digits(begin, static_cast<size_t>(end - begin));
  at_ += digits.size();
  const bool integral = digits.find_first_of(".enEN") == std::string::npos;
  if (argument.type == ArgumentType::kFloat || !integral) return Value(real);
  return Value(static_cast<int64_t>(std::strtoll(digits.c_str(), nullptr, 10)));
}

Value Scanner::Default(const Argument& argument) {
  if (Take("None")) return Value();
  if (Take("True")) return Value(true);
  if (Take("False")) return Value(false);
  if (Take("\"")) {
    const size_t end = line_.find('"', at_);
    if (end == std::string::npos) Fail("a closing quote");
    const std::string text = line_.substr(at_, end - at_);
    at_ = end + 1;
    return Value(text);
  }
  if (Take("[")) {
    std::vector<double> numbers;
    while (!Take("]")) {
      numbers.push_back(Number(argument).real());
      Take(",");
    }
    if (argument.type == ArgumentType::kFloats) return Value(numbers);
    Dims dims;
    for (double number : numbers) dims.push_back(static_cast<int64_t>(number));
    return Value(dims);
  }
  if (argument.type == ArgumentType::kDType) {
    const std::string word = Word();
    for (int i = 0; i < kDTypeCount; ++i) {
      if (word == kDTypeNames[i]) return Value(static_cast<DType>(i));
    }
    Fail("a dtype");
  }
  const Value number = Number(argument);
  if (argument.type == ArgumentType::kInts) return Value(Dims::Filled(std::max(1, argument.repeat), number.integer()));
  return number;
}

void ReadType(Scanner& scan, Argument* argument) {
  const std::string word = scan.Word();
  const auto found = TypeNames().find(word);
  if (found == TypeNames().end()) scan.Fail("one of the schema's types instead of '" + word + "'");
  argument->type = found->second;
  argument->optional = scan.Take("?");
  argument->mutated = scan.Take("!");
  if (scan.Take("[")) {
    if (!scan.Take("]")) {
      argument->repeat = std::atoi(scan.Word().c_str());
      scan.Need("]");
    }
    switch (argument->type) {
      case ArgumentType::kTensor:
        argument->type = ArgumentType::kTensorList;
        break;
      case ArgumentType::kInt:
        argument->type = ArgumentType::kInts;
        break;
      case ArgumentType::kFloat:
        argument->type = ArgumentType::kFloats;
        break;
      default:
        scan.Fail("a list of Tensor, int or float");
    }
    argument->mutated |= scan.Take("!");
    argument->optional |= scan.Take("?");
  }
  argument->mutated |= scan.Take("!");
}

}  // namespace

std::string Argument::type_name() const {
  static const char* kNames[] = {"Tensor", "Tensor", "int",       "float", "bool",  "Scalar", "str",
                                 "dtype",  "device", "Generator", "int",   "float", "Graph"};
  std::string name = kNames[static_cast<int>(type)];
  const bool list = type == ArgumentType::kTensorList || type == ArgumentType::kInts || type == ArgumentType::kFloats;
  if (type == ArgumentType::kTensorList && optional) return "Tensor?[]";
  if (list) name += "[" + (repeat ? std::to_string(repeat) : std::string()) + "]";
  return name + (mutated ? "!" : "") + (optional ? "?" : "");
}

Schema Schema::Parse(const std::string& line) {
  Schema schema;
  schema.line_ = line;
  Scanner scan(line);
  schema.name_ = scan.Word();
  scan.Need("(");
  bool keyword_only = false;
  while (!scan.Take(")")) {
    if (scan.Take("*")) {
      keyword_only = true;
      scan.Need(",");
      continue;
    }
    Argument argument;
    ReadType(scan, &argument);
    argument.keyword_only = keyword_only;
    argument.name = scan.Word();
    if (scan.Take("=")) {
      argument.has_default = true;
      argument.default_value = scan.Default(argument);
    }
    auto& slots = argument.is_tensor() ? schema.tensors_ : schema.attrs_;
    auto& hashes = argument.is_tensor() ? schema.tensor_hashes_ : schema.attr_hashes_;
    const uint32_t hash = ArgumentName::HashOf(argument.name);
    if (std::find(hashes.begin(), hashes.end(), hash) != hashes.end()) scan.Fail("another name for an argument");
    if (slots.size() == hashes.size()) scan.Fail("fewer arguments");
    hashes[slots.size()] = hash;
    argument.slot = static_cast<int>(slots.size());
    slots.push_back(static_cast<int>(schema.arguments_.size()));
    schema.has_lists_ |= argument.type == ArgumentType::kTensorList;
    schema.mutates_ |= argument.mutated;
    schema.arguments_.push_back(std::move(argument));
    scan.Take(",");
  }
  scan.Need("->");
  if (scan.Take("(")) {
    while (!scan.Take(")")) {
      scan.Need("Tensor");
      schema.returns_.push_back(scan.Word());
      scan.Take(",");
    }
  } else {
    scan.Need("Tensor");
    schema.returns_list_ = scan.Take("[]");
    schema.returns_.push_back(scan.AtEnd() ? "out" : scan.Word());
  }
  if (!scan.AtEnd()) scan.Fail("the end of the line");
  return schema;
}

int Schema::Find(const std::string& name) const {
  for (size_t i = 0; i < arguments_.size(); ++i) {
    if (arguments_[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

int Schema::BeginOf(int tensor_slot, std::span<const int32_t> list_sizes) const {
  int place = 0;
  for (int slot = 0, lists = 0; slot < tensor_slot; ++slot) {
    place += tensor(slot).type == ArgumentType::kTensorList ? list_sizes[lists++] : 1;
  }
  return place;
}

int Schema::LaterSlotOf(const Hashes& hashes, ArgumentName name) const {
  const auto found = std::find(hashes.begin() + 4, hashes.end(), name.hash);
  if (found == hashes.end()) Unknown(name);
  return static_cast<int>(found - hashes.begin());
}

void Schema::Unknown(ArgumentName name) const {
  throw RuntimeError(name_).Got("a read of argument '", name.text, "'").Expected("an argument of ", line_);
}

int Schema::FindSlot(const std::string& name, bool* is_output) const {
  for (int i = 0; i < tensor_count(); ++i) {
    if (tensor(i).name == name) return *is_output = false, i;
  }
  for (size_t i = 0; i < returns_.size(); ++i) {
    if (returns_[i] == name) return *is_output = true, static_cast<int>(i);
  }
  throw ValueError("schema ", name_).Got("saved name '", name, "'").Expected("a tensor argument or a result");
}

}  // namespace dragon

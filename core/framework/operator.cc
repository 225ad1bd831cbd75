// The registry of operators, and the small accessors of a call.
#include "core/framework/operator.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <sstream>

namespace dragon {

namespace {

struct Registry {
  std::shared_mutex mutex;
  std::map<std::string, std::unique_ptr<Operator>> by_name;
};

Registry& AllOps() {
  static auto* registry = new Registry;
  return *registry;
}

/// Levenshtein's distance, to suggest what was probably meant.
int EditDistance(const std::string& a, const std::string& b) {
  std::vector<int> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const int above = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace

Operator::Operator(Schema the_schema) : schema(std::move(the_schema)), kernel(&KernelTable::Named(schema.name())) {}

bool Operator::draws() const {
  const auto& arguments = schema.arguments();
  return std::any_of(arguments.begin(), arguments.end(),
                     [](const Argument& argument) { return argument.type == ArgumentType::kGenerator; });
}

Operator& Operator::Gradient(const char* saves, GradFn fn) {
  gradient = std::move(fn);
  std::istringstream words(saves);
  inputs_saved_for.fill(~uint64_t{0});
  outputs_saved_for.fill(~uint64_t{0});
  for (std::string item; std::getline(words, item, ',');) {
    std::istringstream parts(item);
    std::string word, preposition, reader;
    if (!(parts >> word)) continue;
    bool is_output = false, is_result = false;
    const int slot = schema.FindSlot(word, &is_output);
    (is_output ? saved_outputs : saved_inputs) |= uint64_t{1} << slot;
    if (!(parts >> preposition)) continue;
    if (preposition != "for" || !(parts >> reader) || slot >= static_cast<int>(inputs_saved_for.size())) {
      throw ValueError(name()).Got("'", item, "' in Gradient()").Expected("'x' or 'x for y'");
    }
    const uint64_t mask = uint64_t{1} << schema.FindSlot(reader, &is_result);
    if (is_result)
      throw ValueError(name()).Got("'", item, "' in Gradient()").Expected("the name of an argument after 'for'");
    uint64_t& readers = (is_output ? outputs_saved_for : inputs_saved_for)[slot];
    readers = readers == ~uint64_t{0} ? mask : readers | mask;  // "x for y, x for z": for either
  }
  return *this;
}

namespace {

/// The place among the attributes of one that must be there, and of one of these types.
int8_t AttributeNamed(const Schema& schema, const char* fact, const std::string& word,
                      std::initializer_list<ArgumentType> types) {
  const int found = schema.Find(word);
  const Argument* argument = found < 0 ? nullptr : &schema.arguments()[found];
  if (!argument || std::find(types.begin(), types.end(), argument->type) == types.end()) {
    throw ValueError(schema.name())
        .Got("'", word, "' in ", fact, "(), ", argument ? "of type " + argument->type_name() : "which is no argument")
        .Expected("the name of an argument of the right type");
  }
  return static_cast<int8_t>(argument->slot);
}

/// Calls `enter` for the words of a list: "weight, bias".
template <typename F>
void ForWords(const char* list, F&& enter) {
  std::istringstream words(list);
  for (std::string word; std::getline(words, word, ',');) {
    std::istringstream trimmed(word);
    if (trimmed >> word) enter(word);
  }
}

}  // namespace

Operator& Operator::Commutes(const char* factor) {
  const bool pair = schema.tensor_count() >= 2 && schema.tensor(0).type == ArgumentType::kTensor &&
                    schema.tensor(1).type == ArgumentType::kTensor;
  if (!pair) throw ValueError(name()).Got("Commutes()").Expected("an operator whose first two inputs are tensors");
  commutes = true;
  if (factor) {
    commutes_factor = AttributeNamed(schema, "Commutes", factor, {ArgumentType::kScalar, ArgumentType::kFloat});
  }
  return *this;
}

Operator& Operator::WritesWhen(const char* attribute) {
  if (!schema.mutates()) throw ValueError(name()).Got("WritesWhen()").Expected("an operator that writes an argument");
  writes_when = AttributeNamed(schema, "WritesWhen", attribute, {ArgumentType::kBool});
  return *this;
}

Operator& Operator::Batches(Batching how, const char* axes, const char* shared) {
  batching = how;
  ForWords(axes, [&](const std::string& word) {
    if (how != Batching::kRows) throw ValueError(name()).Got("axes in Batches()").Expected("Batching::kRows with them");
    batch_axes |= uint64_t{1} << AttributeNamed(schema, "Batches", word, {ArgumentType::kInt, ArgumentType::kInts});
  });
  ForWords(shared, [&](const std::string& word) {
    batch_shared |= uint64_t{1} << AttributeNamed(schema, "Batches", word, {ArgumentType::kTensor});
  });
  return *this;
}

Operator& DefineOp(const std::string& schema_line) {
  auto op = std::make_unique<Operator>(Schema::Parse(schema_line));
  Registry& registry = AllOps();
  std::unique_lock<std::shared_mutex> lock(registry.mutex);
  const std::string name = op->name();
  auto [place, fresh] = registry.by_name.try_emplace(name, std::move(op));
  if (!fresh) throw RuntimeError("DefineOp").Got("operator '", name, "' twice").Expected("one definition");
  return *place->second;
}

const Operator* FindOp(const std::string& name) {
  Registry& registry = AllOps();
  std::shared_lock<std::shared_mutex> lock(registry.mutex);
  const auto found = registry.by_name.find(name);
  return found == registry.by_name.end() ? nullptr : found->second.get();
}

const Operator& GetOp(const std::string& name) {
  if (const Operator* op = FindOp(name)) return *op;
  std::string nearest = "none";
  int best = 1 << 20;
  for (const std::string& known : OpNames()) {
    const int distance = EditDistance(name, known);
    if (distance < best) best = distance, nearest = known;
  }
  throw NotImplementedError("operator '", name, "'").Says("there is none of that name; the nearest is '", nearest, "'");
}

std::vector<std::string> OpNames() {
  Registry& registry = AllOps();
  std::shared_lock<std::shared_mutex> lock(registry.mutex);
  std::vector<std::string> names;
  for (const auto& [name, op] : registry.by_name) names.push_back(name);
  return names;
}

std::span<const Tensor> CallReader::list(int slot) const {
  const Schema& schema = op().schema;
  int lists = 0;
  for (int i = 0; i < slot; ++i) lists += schema.tensor(i).type == ArgumentType::kTensorList;
  return call_.inputs.subspan(schema.BeginOf(slot, call_.list_sizes), call_.list_sizes[lists]);
}

void Infer::y(int i, Dims shape, DType dtype) {
  if (outputs.size() <= static_cast<size_t>(i)) outputs.resize(i + 1);
  outputs[i].shape = std::move(shape);
  outputs[i].dtype = dtype;
}

void Infer::y(int i, Dims shape, DType dtype, Dims strides) {
  y(i, std::move(shape), dtype);
  outputs[i].strides = std::move(strides);
  outputs[i].free_layout = true;
}

void Run::set_y(int i, Tensor tensor) {
  if (outputs_.size() <= static_cast<size_t>(i)) outputs_.resize(i + 1);
  outputs_[i] = std::move(tensor);
}

}  // namespace dragon

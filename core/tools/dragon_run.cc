// dragon_run: load a saved graph, run and time it, tell where the time goes, compare with a reference. No Python.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "core/device/library.h"
#include "core/device/parallel.h"
#include "core/framework/generator.h"
#include "core/framework/graph_proto.h"
#include "core/framework/op.h"
#include "core/framework/profile.h"
#include "core/passes/decompose.h"
#include "core/passes/pass.h"
#include "core/runtime/plan.h"
#include "core/runtime/symbolic.h"
#include "core/tools/npy.h"

namespace dragon {
namespace {

constexpr const char* kUsage =
    "usage: dragon_run GRAPH [options]\n"
    "\n"
    "  --inputs FILE[,FILE...]     one file of constants named as the inputs, or one .npy file for each input in "
    "turn;\n"
    "                              random numbers otherwise\n"
    "  --reference FILE[,FILE...]  what the outputs should be: constants named 'output 0', ..., or .npy files\n"
    "  --tolerance T               a difference of T * (1 + |expected|) is none (default 1e-4)\n"
    "  --save FILE                 write inputs and outputs, as a file that the two above read\n"
    "  --symbol NAME=SIZE          a size that the graph leaves open, such as the batch; that of the inputs otherwise\n"
    "  --repeat N                  run N times more, and tell the times (default 0)\n"
    "  --threads N                 host threads\n"
    "  --level L                   optimisation, 0 to 3 (default 3)\n"
    "  --skip PASS[,PASS...]       passes to leave out\n"
    "  --seed S                    of random inputs and operators (default 0)\n"
    "  --profile                   a table of the operators' times\n"
    "  --print                     the graph that runs\n"
    "\n"
    "The status is 0, 1 where an output differs from the reference, or 2 where something is wrong.\n";

struct Options {
  std::string graph, save;
  std::vector<std::string> inputs, reference, skip;
  std::map<std::string, int64_t> symbols;
  double tolerance = 1e-4;
  int64_t repeat = 0, threads = 0, level = 3, seed = 0;
  bool profile = false, print = false;
};

std::vector<std::string> Pieces(const std::string& text) {
  std::vector<std::string> pieces(1);
  for (char letter : text) {
    if (letter == ',') {
      pieces.emplace_back();
    } else {
      pieces.back() += letter;
    }
  }
  return pieces;
}

double Number(const std::string& option, const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (text.empty() || *end || !(number >= 0) || number > 1e15) {
    throw ValueError(option).Got("'", text, "'").Expected("a number from 0");
  }
  return number;
}

Options Parse(int count, char** words) {
  Options options;
  const std::map<std::string, int64_t*> numbers{{"--repeat", &options.repeat},
                                                {"--threads", &options.threads},
                                                {"--level", &options.level},
                                                {"--seed", &options.seed}};
  const std::map<std::string, std::vector<std::string>*> lists{
      {"--inputs", &options.inputs}, {"--reference", &options.reference}, {"--skip", &options.skip}};
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const auto next = [&]() -> std::string {
      if (i + 1 == count) throw ValueError(word).Got("nothing").Expected("a value behind it");
      return words[++i];
    };
    if (word == "--profile") {
      options.profile = true;
    } else if (word == "--print") {
      options.print = true;
    } else if (const auto number = numbers.find(word); number != numbers.end()) {
      *number->second = static_cast<int64_t>(Number(word, next()));
    } else if (const auto list = lists.find(word); list != lists.end()) {
      *list->second = Pieces(next());
    } else if (word == "--symbol") {
      const std::string text = next();
      const size_t equals = std::min(text.find('='), text.size());
      options.symbols[text.substr(0, equals)] =
          static_cast<int64_t>(Number(word, text.substr(std::min(equals + 1, text.size()))));
    } else if (word == "--tolerance") {
      options.tolerance = Number(word, next());
    } else if (word == "--save") {
      options.save = next();
    } else if (word.rfind("--", 0) == 0 || !options.graph.empty()) {
      throw ValueError("dragon_run").Got("'", word, "'").Expected("a graph and options (--help tells them)");
    } else {
      options.graph = word;
    }
  }
  if (options.graph.empty()) throw ValueError("dragon_run").Got("no graph").Expected("a file (--help tells more)");
  return options;
}

bool IsNpy(const std::string& path) { return path.size() > 4 && path.compare(path.size() - 4, 4, ".npy") == 0; }

/// Tensors from a file of constants, found by any of their names, or from .npy files in turn.
std::vector<Tensor> ReadTensors(const std::vector<std::string>& paths,
                                const std::vector<std::vector<std::string>>& names) {
  std::vector<Tensor> tensors;
  if (paths.size() == 1 && !IsNpy(paths[0])) {
    const Graph dump = LoadGraph(paths[0]);
    for (const auto& alternatives : names) {
      Tensor found;
      for (const auto& [id, tensor] : dump.constants) {
        const std::string& name = dump.values[id].name;
        if (std::find(alternatives.begin(), alternatives.end(), name) != alternatives.end()) found = tensor;
      }
      if (!found.defined()) {
        throw ValueError("dragon_run").Got("'", paths[0], "'").Expected("a constant '", alternatives[0], "' in it");
      }
      tensors.push_back(found);
    }
    return tensors;
  }
  if (paths.size() != names.size()) {
    throw ValueError("dragon_run").Got(paths.size(), " files").Expected(names.size());
  }
  for (const std::string& path : paths) tensors.push_back(ReadNpy(path));
  return tensors;
}

std::string InputName(const Graph& graph, size_t place) {
  const std::string& name = graph.values[graph.inputs[place]].name;
  return name.empty() ? std::to_string(place) : name;
}

/// Numbers from 0 to 1 in floats, and zeros elsewhere: integers are often places in something.
Tensor RandomInput(const ValueInfo& info) {
  Tensor numbers =
      IsInexact(info.dtype) ? Op<"rand">(info.shape, None, DType::kFloat32) : Op<"zeros">(info.shape, info.dtype);
  if (numbers.dtype() != info.dtype) numbers = Op<"cast">(numbers, info.dtype);
  return numbers;
}

std::vector<Tensor> GivenInputs(const Graph& graph, const Options& options) {
  std::vector<std::vector<std::string>> names;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    names.push_back({"input " + InputName(graph, i), InputName(graph, i), "input " + std::to_string(i)});
  }
  return ReadTensors(options.inputs, names);
}

/// The graph with all sizes known: as the inputs have them, as was said, or as they were when it was captured.
Graph WithSizes(const Graph& graph, std::vector<Tensor> inputs, const Options& options) {
  for (const auto& [name, size] : options.symbols) {
    if (std::find(graph.symbols.begin(), graph.symbols.end(), name) == graph.symbols.end()) {
      throw ValueError("--symbol")
          .Got("'", name, "'")
          .Expected("a symbol of the graph, of which it has ", graph.symbols.size());
    }
  }
  if (graph.symbols.empty()) return graph;
  const bool given = !inputs.empty();
  if (!given) {
    for (ValueId id : graph.inputs) inputs.push_back(graph.Phantom(id));
  }
  std::vector<int64_t> sizes = SolveSymbols(graph, inputs);
  for (size_t i = 0; i < sizes.size(); ++i) {
    const auto said = options.symbols.find(graph.symbols[i]);
    if (said == options.symbols.end()) continue;
    if (given && said->second != sizes[i]) {
      throw ValueError("--symbol").Got(said->first, "=", said->second).Expected(sizes[i], ", as the inputs have it");
    }
    sizes[i] = said->second;
  }
  return Specialise(graph, sizes);
}

/// Bring inputs to where the graph wants them, and make those that nobody gave.
std::vector<Tensor> PlaceInputs(const Graph& graph, std::vector<Tensor> inputs) {
  const bool given = !inputs.empty();
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const ValueInfo& info = graph.values[graph.inputs[i]];
    if (!given) inputs.push_back(RandomInput(info));
    Tensor& input = inputs[i];
    if (!info.device.is_cpu()) input = Op<"to_device">(input, info.device);
    if (info.strides.empty() || input.strides() == info.strides || input.shape() != info.shape) continue;
    Tensor strided = Tensor::EmptyStrided(info.shape, info.strides, input.dtype(), input.device());
    OpInto<"copy">(strided, input);
    input = strided;
  }
  return inputs;
}

/// The largest difference, and the largest relative to what is allowed: above 1 is too much.
std::pair<double, double> Difference(const Tensor& got, const Tensor& expected, double tolerance) {
  const auto at_host = [](const Tensor& x) {
    const Tensor host = Op<"contiguous">(x.device().is_cpu() ? x : Op<"to_device">(x, Device{}));
    const Tensor parts = x.is_complex() ? Op<"view_as_real">(host) : host;
    return Op<"contiguous">(Op<"cast">(parts, DType::kFloat64));
  };
  const Tensor x = at_host(got), y = at_host(expected);
  const auto *a = static_cast<const double*>(x.data()), *b = static_cast<const double*>(y.data());
  double largest = 0, ratio = 0;
  for (int64_t i = 0; i < x.numel(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    const double difference = std::abs(a[i] - b[i]);
    const double allowed = tolerance * (1 + std::abs(b[i]));
    largest = std::isfinite(difference) ? std::max(largest, difference) : INFINITY;
    ratio = std::isfinite(difference) && allowed > 0 ? std::max(ratio, difference / allowed) : INFINITY;
  }
  return {largest, ratio};
}

bool Compare(const std::vector<Tensor>& outputs, const Options& options) {
  std::vector<std::vector<std::string>> names;
  for (size_t i = 0; i < outputs.size(); ++i) names.push_back({"output " + std::to_string(i)});
  const std::vector<Tensor> expected = ReadTensors(options.reference, names);
  bool equal = true;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].shape() != expected[i].shape() || outputs[i].dtype() != expected[i].dtype()) {
      std::ostringstream text;
      text << "output " << i << ": got " << outputs[i].dtype() << outputs[i].shape() << ", expected "
           << expected[i].dtype() << expected[i].shape();
      std::printf("%s\n", text.str().c_str());
      equal = false;
      continue;
    }
    const auto [largest, ratio] = Difference(outputs[i], expected[i], options.tolerance);
    std::printf("output %zu: max difference %.3g%s\n", i, largest, ratio > 1 ? ", too much" : "");
    equal = equal && ratio <= 1;
  }
  return equal;
}

void PrintTable(const std::vector<PlanEvent>& events) {
  struct Row {
    int64_t count = 0, time = 0, bytes = 0;
  };
  std::map<std::string, Row> rows;
  int64_t total = 0;
  for (const PlanEvent& event : events) {
    Row& row = rows[event.name];
    ++row.count, row.time += event.end - event.start, row.bytes += event.bytes;
    total += event.end - event.start;
  }
  std::vector<std::pair<std::string, Row>> sorted(rows.begin(), rows.end());
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second.time > b.second.time; });
  std::printf("%-32s %8s %12s %8s %12s\n", "operator", "calls", "ms", "%", "MB written");
  for (const auto& [name, row] : sorted) {
    std::printf("%-32s %8lld %12.3f %8.1f %12.2f\n", name.c_str(), static_cast<long long>(row.count), row.time * 1e-6,
                total ? 100.0 * row.time / total : 0.0, row.bytes * 1e-6);
  }
  std::printf("%-32s %8zu %12.3f\n", "all", events.size(), total * 1e-6);
}

void PrintTimes(std::vector<double> milliseconds) {
  std::sort(milliseconds.begin(), milliseconds.end());
  double sum = 0;
  for (double time : milliseconds) sum += time;
  std::printf("%zu runs: fastest %.3f ms, median %.3f ms, mean %.3f ms\n", milliseconds.size(), milliseconds.front(),
              milliseconds[milliseconds.size() / 2], sum / milliseconds.size());
}

void SaveResults(const Graph& graph, const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs,
                 const std::string& path) {
  Graph dump;
  dump.name = graph.name + ", results";
  for (size_t i = 0; i < inputs.size(); ++i) dump.AddConstant(inputs[i], "input " + InputName(graph, i));
  for (size_t i = 0; i < outputs.size(); ++i) dump.AddConstant(outputs[i], "output " + std::to_string(i));
  SaveGraph(dump, path);
}

int Main(const Options& options) {
  if (options.threads) SetNumThreads(static_cast<int>(std::min<int64_t>(options.threads, 1 << 16)));
  GradMode off(false);
  DefaultGenerator()->Seed(options.seed);
  const int64_t start = ProfileClock();
  const Graph loaded = LoadGraph(options.graph);
  const int64_t ready = ProfileClock();
  const std::vector<Tensor> read = options.inputs.empty() ? std::vector<Tensor>() : GivenInputs(loaded, options);
  Graph graph = Decompose(WithSizes(loaded, read, options));
  PassOptions passes;
  passes.level = static_cast<int>(options.level);
  passes.skip = {options.skip.begin(), options.skip.end()};
  Optimize(graph, passes);
  PlanOptions how;
  how.memory = options.level >= 3 ? MemoryMode::kArena : MemoryMode::kNaive;
  how.in_place = options.level >= 2;
  Plan plan(std::move(graph), how);
  std::printf("%s: %zu inputs, %zu outputs, %zu calls, %d steps at level %lld\n", loaded.name.c_str(),
              loaded.inputs.size(), loaded.outputs.size(), loaded.calls.size(), plan.step_count(),
              static_cast<long long>(options.level));
  std::printf("loaded in %.1f ms, planned in %.1f ms, %.3f MB of memory planned\n", (ready - start) * 1e-6,
              (ProfileClock() - ready) * 1e-6, plan.memory().planned * 1e-6);
  if (options.print) std::printf("%s\n", plan.graph().str().c_str());

  const std::vector<Tensor> inputs = PlaceInputs(plan.graph(), read);
  std::vector<Tensor> given = inputs;  // what the graph updates is written, so that keeps a copy
  for (const auto& [input, value] : plan.graph().updates) given[input] = Op<"clone">(inputs[input]);
  const std::vector<Tensor> outputs = plan.Run(given);
  if (!options.save.empty()) SaveResults(plan.graph(), inputs, outputs, options.save);
  const bool equal = options.reference.empty() || Compare(outputs, options);
  std::vector<double> times;
  for (int64_t i = 0; i < options.repeat; ++i) {
    const int64_t begin = ProfileClock();
    plan.Run(given);
    times.push_back((ProfileClock() - begin) * 1e-6);
  }
  if (!times.empty()) PrintTimes(std::move(times));
  if (options.profile) {
    std::vector<PlanEvent> events;
    plan.Profile(given, &events);
    PrintTable(events);
  }
  return equal ? 0 : 1;
}

}  // namespace
}  // namespace dragon

int main(int count, char** words) {
  for (int i = 1; i < count; ++i) {
    if (std::strcmp(words[i], "--help") == 0 || std::strcmp(words[i], "-h") == 0) {
      std::fputs(dragon::kUsage, stdout);
      return 0;
    }
  }
  try {
    const dragon::Options options = dragon::Parse(count, words);
    dragon::LoadCpuKernels();
    return dragon::Main(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "dragon_run: %s\n", error.what());
    return 2;
  }
}

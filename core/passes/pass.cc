// The registry of passes, and the loop that runs, times and checks them.
#include "core/passes/pass.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <utility>

#include "core/framework/apply.h"
#include "core/framework/graph_body.h"

namespace dragon {

namespace {

constexpr int kPhase = 100;

std::vector<Pass>& Registry() {
  static std::vector<Pass> passes;
  return passes;
}

/// CommonSubexpressions -> common_subexpressions
std::string SnakeCase(const char* function) {
  std::string name;
  for (const char* letter = function; *letter; ++letter) {
    if (std::isupper(*letter) && !name.empty()) name += '_';
    name += static_cast<char>(std::tolower(*letter));
  }
  return name;
}

const Pass* FindPass(const std::string& name) {
  for (const Pass& pass : Registry()) {
    if (pass.name == name) return &pass;
  }
  return nullptr;
}

void CheckOptions(const PassOptions& options) {
  if (options.level < 0 || options.level > 3) {
    throw ValueError("optimize").Got("level ", options.level).Expected("0 to 3");
  }
  for (const std::string& name : options.skip) {
    if (FindPass(name)) continue;
    std::string known;
    for (const Pass& pass : Registry()) known += (known.empty() ? "" : ", ") + pass.name;
    throw ValueError("optimize").Got("'", name, "' to skip").Expected("a pass: ", known);
  }
}

PassReport RunPass(const Pass& pass, Graph& graph, bool verify) {
  PassReport report{pass.name, 0, static_cast<int>(graph.calls.size()), 0};
  const auto begin = std::chrono::steady_clock::now();
  pass.run(graph);
  const auto end = std::chrono::steady_clock::now();
  report.nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(end - begin).count();
  report.calls_after = static_cast<int>(graph.calls.size());
  if (!verify) return report;
  try {
    graph.Verify();
  } catch (const Error& error) {
    throw RuntimeError("optimize").Says("pass '" + pass.name + "' broke the graph: " + error.what());
  }
  return report;
}

/// Passes fold constants and look at numbers, and whoever traces or records meanwhile must not hear of it.
class Aside {
 public:
  Aside() : door_(std::exchange(Door(), DoorState{})) { Door().grad_enabled = kGradOff; }
  ~Aside() { Door() = door_; }

 private:
  DoorState door_;
};

/// Graphs that are arguments are optimised as the whole is; those of pointwise calls are a pass's own work already.
void OptimizeBodies(Graph& graph, const PassOptions& options) {
  for (GraphCall& call : graph.calls) {
    if (call.op->pointwise) continue;
    for (Value& attr : call.attrs) {
      const auto* body = dynamic_cast<const GraphBody*>(attr.object());
      if (!body) continue;
      Graph inner = body->graph();
      Optimize(inner, options);
      attr = Value(Ref<Object>(MakeRef<GraphBody>(std::move(inner))));
    }
  }
}

}  // namespace

bool EnterPass(const char* function, int level, int order, const char* doc, void (*run)(Graph&)) {
  std::vector<Pass>& passes = Registry();
  passes.push_back({SnakeCase(function), level, order, doc, run});
  // By name where the order is the same: not by the order in which the linker met the files.
  std::sort(passes.begin(), passes.end(),
            [](const Pass& a, const Pass& b) { return a.order != b.order ? a.order < b.order : a.name < b.name; });
  return true;
}

const std::vector<Pass>& Passes() { return Registry(); }

std::vector<PassReport> Optimize(Graph& graph, const PassOptions& options) {
  CheckOptions(options);
  const Aside aside;
  const bool verify = options.verify || std::getenv("DRAGON_VERIFY_PASSES");
  if (verify) graph.Verify();  // what was wrong before is no pass's fault, and passes trust it
  std::vector<const Pass*> chosen;
  for (const Pass& pass : Registry()) {
    if (pass.level <= options.level && !options.skip.contains(pass.name)) chosen.push_back(&pass);
  }
  const Pass* prune = options.level >= 1 && !options.skip.contains("prune") ? FindPass("prune") : nullptr;
  std::vector<PassReport> reports;
  for (size_t i = 0; i < chosen.size(); ++i) {
    reports.push_back(RunPass(*chosen[i], graph, verify));
    const bool phase_ends = i + 1 == chosen.size() || chosen[i + 1]->order / kPhase != chosen[i]->order / kPhase;
    if (phase_ends && prune) reports.push_back(RunPass(*prune, graph, verify));
  }
  OptimizeBodies(graph, options);
  return reports;
}

}  // namespace dragon

// Plans of graphs that are arguments of operators, made when they run first.
#include "core/framework/bodies.h"

#include "core/passes/decompose.h"
#include "core/runtime/plan.h"

namespace dragon {
namespace {

struct PlanOfBody final : Preparation {
  explicit PlanOfBody(Graph graph) : plan(std::make_unique<Plan>(std::move(graph))) {}
  std::unique_ptr<Plan> plan;
};

std::vector<Tensor> RunItsPlan(const GraphBody& body, std::span<const Tensor> inputs) {
  const auto prepared =
      body.Prepared({kPlanOfBody}, [&] { return std::make_shared<PlanOfBody>(Decompose(body.graph())); });
  return static_cast<const PlanOfBody&>(*prepared).plan->Run(inputs);
}

[[maybe_unused]] const bool told = (Bodies().run = RunItsPlan, true);

}  // namespace
}  // namespace dragon

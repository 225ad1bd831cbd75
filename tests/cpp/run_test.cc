// Plans that are run from C++: what does not fit is a letter, and nothing is read.
#include "core/framework/op.h"
#include "core/runtime/plan.h"
#include "tests/cpp/check.h"

namespace dragon {

/// What gives out its two inputs, of which the first is in rows and the second in columns, turned round.
Plan MakePlan() {
  Graph graph;
  ValueInfo rows;
  rows.shape = {2, 3};
  ValueInfo columns = rows;
  columns.name = "weight";
  columns.strides = {1, 2};
  const ValueId x = graph.AddInput(rows), w = graph.AddInput(columns);
  for (ValueId value : {x, w}) graph.outputs.push_back(graph.AddCall(GetOp("neg"), {value}, {}).outputs[0]);
  return Plan(std::move(graph));
}

Tensor Columns() { return Tensor::EmptyStrided({2, 3}, {1, 2}, DType::kFloat32); }

void Refuses(const std::vector<Tensor>& inputs, const char* words) {
  Plan plan = MakePlan();
  std::vector<PlanEvent> events;
  CHECK_THROWS(plan.Run(inputs), Error, words);
  CHECK_THROWS(plan.Profile(inputs, &events), Error, words);
  CHECK_THROWS(plan.Measure(inputs), Error, words);
}

TEST(InputsThatDoNotFitAreRefused) {
  const Tensor x = Tensor::Empty({2, 3}, DType::kFloat32);
  Refuses({}, "0 inputs");
  Refuses({x}, "1 inputs");
  Refuses({x, Columns(), x}, "3 inputs");
  Refuses({Tensor(), Columns()}, "nothing for input 0");
  Refuses({Tensor::Empty({3}, DType::kFloat32), Columns()}, "input 0 of shape (3,)");
  Refuses({Tensor::Empty({2, 3}, DType::kFloat16), Columns()}, "float16");
  Refuses({x, x}, "input 'weight' with strides (3, 1)");
  Refuses({Columns(), Columns()}, "input 0 with strides (1, 2)");
}

TEST(InputsThatFitAreTaken) {
  MakePlan().CheckInputs(std::vector<Tensor>{Tensor::Empty({2, 3}, DType::kFloat32), Columns()});
}

}  // namespace dragon

TEST_MAIN()

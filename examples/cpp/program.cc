// Call operators from C++, and run a graph that Python saved: program [GRAPH]. Its inputs are ones here.
#include <cstdio>
#include <vector>

#include "core/device/library.h"
#include "core/framework/graph_proto.h"
#include "core/framework/op.h"
#include "core/passes/decompose.h"
#include "core/passes/pass.h"
#include "core/runtime/plan.h"

using dragon::Dims;
using dragon::Op;
using dragon::Tensor;

/// The sum of a tensor's elements, as a number of C++.
double Sum(const Tensor& x) {
  const Tensor sum = Op<"cast">(Op<"sum">(x), dragon::DType::kFloat64);
  return *static_cast<const double*>(sum.data());
}

int main(int count, char** words) {
  try {
    dragon::LoadCpuKernels();
    std::printf("kernels: %s\n", dragon::CpuLevel().c_str());
    const Tensor x = Op<"ones">(Dims{2, 3}, dragon::DType::kFloat32, dragon::Device{});
    std::printf("x @ x.T sums to %g\n", Sum(Op<"matmul">(x, Op<"transpose">(x, 0, 1))));
    if (count > 1) {
      dragon::Graph graph = dragon::Decompose(dragon::LoadGraph(words[1]));
      dragon::Optimize(graph, {});
      std::vector<Tensor> given;
      for (const dragon::ValueId id : graph.inputs) {
        given.push_back(Op<"ones">(graph.values[id].shape, graph.values[id].dtype, dragon::Device{}));
      }
      dragon::Plan plan(std::move(graph));
      plan.CheckInputs(given);
      std::printf("the graph's output sums to %g\n", Sum(plan.Run(given)[0]));
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "program: %s\n", error.what());
    return 1;
  }
}

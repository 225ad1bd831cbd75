// Descriptors of cuDNN's graphs, as its reference of the backend interface has them.
#include "core/device/cuda/cudnn_graph.h"

#include <algorithm>
#include <utility>

namespace dragon::cudnn {

namespace {

// Enumerators have cuDNN's values: kinds of descriptors, attributes of each, and types of attributes.
enum Kind : int {
  kPointwiseKind = 0,
  kEngine = 2,
  kEngineConfig = 3,
  kHeuristics = 4,
  kExecutionPlan = 5,
  kPointwiseOperation = 13,
  kOperationGraph = 15,
  kVariantPack = 16,
  kTensor = 17,
  kMatMul = 18,
  kMatMulOperation = 19,
  kReduction = 21,
  kReductionOperation = 22,
  kReshapeOperation = 31,
};
enum Attribute : int {
  kPointwiseMode = 0,
  kPointwisePrecision = 1,
  kPointwiseAxis = 9,
  kHeuristicsMode = 200,
  kHeuristicsGraph = 201,
  kHeuristicsResults = 202,
  kEngineConfigEngine = 300,
  kPlanHandle = 400,
  kPlanEngineConfig = 401,
  kPlanWorkspaceSize = 402,
  kPointwiseOperationMode = 750,
  kPointwiseX = 751,
  kPointwiseB = 752,
  kPointwiseY = 753,
  kPointwiseT = 758,
  kGraphHandle = 800,
  kGraphOperations = 801,
  kTensorAlignment = 900,
  kTensorDataType = 901,
  kTensorSizes = 902,
  kTensorStrides = 903,
  kTensorId = 906,
  kTensorIsVirtual = 907,
  kTensorIsByValue = 908,
  kPackIds = 1000,
  kPackPointers = 1001,
  kPackWorkspace = 1003,
  kEngineNumericalNotes = 1303,
  kMatMulPrecision = 1500,
  kMatMulA = 1520,
  kMatMulB = 1521,
  kMatMulC = 1522,
  kMatMulMode = 1523,
  kReductionMode = 1600,
  kReductionPrecision = 1601,
  kReductionX = 1610,
  kReductionY = 1611,
  kReductionOperationMode = 1612,
  kReshapeX = 2200,
  kReshapeY = 2201,
};
enum Type : int {
  kHandleType = 0,
  kDataTypeType = 1,
  kBoolType = 2,
  kInt64Type = 3,
  kPointerType = 6,
  kHeuristicsModeType = 8,
  kNumericalNoteType = 11,
  kPointwiseModeType = 14,
  kDescriptorType = 15,
  kReductionModeType = 18,
};
constexpr int kByDecisionTree = 3, kWhatElseWorks = 2;  // how engines are proposed
constexpr int kNoteNonDeterministic = 4;
constexpr int64_t kMostNotes = 32;
constexpr int64_t kAlignment = 16;

/// The functions, by cuDNN's names.
struct GraphApi {
  Status (*Create)(int kind, Part*);
  Status (*Destroy)(Part);
  Status (*Set)(Part, int attribute, int type, int64_t count, const void*);
  Status (*Get)(Part, int attribute, int type, int64_t asked, int64_t* count, void*);
  Status (*Finalize)(Part);
  Status (*Execute)(Handle, Part plan, Part pack);

  GraphApi() {
    Take(Create, "cudnnBackendCreateDescriptor");
    Take(Destroy, "cudnnBackendDestroyDescriptor");
    Take(Set, "cudnnBackendSetAttribute");
    Take(Get, "cudnnBackendGetAttribute");
    Take(Finalize, "cudnnBackendFinalize");
    Take(Execute, "cudnnBackendExecute");
  }
};

const GraphApi& Backend() {
  static const auto* api = new GraphApi;
  return *api;
}

}  // namespace

Parts& Parts::operator=(Parts&& other) noexcept {
  std::swap(parts_, other.parts_);
  return *this;
}

Parts::~Parts() {
  for (auto part = parts_.rbegin(); part != parts_.rend(); ++part) (void)Backend().Destroy(*part);
}

Status Plan::Run(Handle handle, const std::vector<int64_t>& ids, const std::vector<void*>& data,
                 void* workspace) const {
  const GraphApi& api = Backend();
  Part pack = nullptr;
  if (const Status status = api.Create(kVariantPack, &pack); status != kSuccess) return status;
  Parts owner;
  owner.Keep(pack);
  const auto count = static_cast<int64_t>(ids.size());
  Status status = api.Set(pack, kPackIds, kInt64Type, count, ids.data());
  if (status == kSuccess) status = api.Set(pack, kPackPointers, kPointerType, count, data.data());
  if (status == kSuccess) status = api.Set(pack, kPackWorkspace, kPointerType, 1, &workspace);
  if (status == kSuccess) status = api.Finalize(pack);
  return status == kSuccess ? api.Execute(handle, plan_, pack) : status;
}

Part Graph::Make(int kind) {
  Part part = nullptr;
  if (status_ == kSuccess) status_ = Backend().Create(kind, &part);
  if (status_ == kSuccess) parts_.Keep(part);
  return part;
}

void Graph::Set(Part part, int attribute, int type, int64_t count, const void* values) {
  if (status_ == kSuccess) status_ = Backend().Set(part, attribute, type, count, values);
}

template <typename Value>
void Graph::Set(Part part, int attribute, int type, const Value& value) {
  Set(part, attribute, type, 1, &value);
}

void Graph::Finish(Part part) {
  if (status_ == kSuccess) status_ = Backend().Finalize(part);
}

Tensor Graph::Describe(int64_t id, DataType dtype, const Axes& sizes, const Axes& strides, bool in_memory,
                       bool is_number) {
  const Part part = Make(kTensor);
  Set(part, kTensorId, kInt64Type, id);
  Set(part, kTensorDataType, kDataTypeType, dtype);
  Set(part, kTensorSizes, kInt64Type, sizes.size(), sizes.data());
  Set(part, kTensorStrides, kInt64Type, strides.size(), strides.data());
  Set(part, kTensorAlignment, kInt64Type, kAlignment);
  Set(part, kTensorIsVirtual, kBoolType, !in_memory);
  Set(part, kTensorIsByValue, kBoolType, is_number);
  Finish(part);
  return {part, sizes};
}

Tensor Graph::Operand(int64_t id, DataType dtype, const Axes& sizes, const Axes& strides) {
  return Describe(id, dtype, sizes, strides, true, false);
}

Tensor Graph::Number(int64_t id) { return Describe(id, kFloat, {1, 1, 1, 1}, {1, 1, 1, 1}, true, true); }

Tensor Graph::Between(const Axes& sizes, DataType dtype) {
  return Describe(next_id_++, dtype, sizes, RowMajor(sizes), false, false);
}

Tensor Graph::Operate(Part operation, const Tensor& y) {
  Finish(operation);
  operations_.push_back(operation);
  return y;
}

Tensor Graph::PointwiseOf(Part mode, const Tensor& y, const Tensor& x, const Tensor& b, const Tensor& t) {
  const Part operation = Make(kPointwiseOperation);
  Set(operation, kPointwiseOperationMode, kDescriptorType, mode);
  Set(operation, kPointwiseX, kDescriptorType, x.part);
  if (b.part) Set(operation, kPointwiseB, kDescriptorType, b.part);
  if (t.part) Set(operation, kPointwiseT, kDescriptorType, t.part);
  Set(operation, kPointwiseY, kDescriptorType, y.part);
  return Operate(operation, y);
}

Tensor Graph::Compute(Pointwise mode, const Tensor& y, const Tensor& x, const Tensor& b, const Tensor& t) {
  const Part part = Make(kPointwiseKind);
  Set(part, kPointwiseMode, kPointwiseModeType, mode);
  Set(part, kPointwisePrecision, kDataTypeType, mode == Pointwise::kAtLeast ? kBool : kFloat);
  Finish(part);
  return PointwiseOf(part, y, x, b, t);
}

Tensor Graph::Index(const Tensor& y, const Tensor& x, int64_t axis) {
  const Part part = Make(kPointwiseKind);
  Set(part, kPointwiseMode, kPointwiseModeType, Pointwise::kIndex);
  Set(part, kPointwisePrecision, kDataTypeType, kFloat);
  Set(part, kPointwiseAxis, kInt64Type, axis);
  Finish(part);
  return PointwiseOf(part, y, x, {}, {});
}

Tensor Graph::Reduce(Reduction mode, const Tensor& y, const Tensor& x) {
  const Part part = Make(kReduction);
  Set(part, kReductionMode, kReductionModeType, mode);
  Set(part, kReductionPrecision, kDataTypeType, kFloat);
  Finish(part);
  const Part operation = Make(kReductionOperation);
  Set(operation, kReductionOperationMode, kDescriptorType, part);
  Set(operation, kReductionX, kDescriptorType, x.part);
  Set(operation, kReductionY, kDescriptorType, y.part);
  return Operate(operation, y);
}

Tensor Graph::MatMul(const Tensor& y, const Tensor& a, const Tensor& b) {
  const Part part = Make(kMatMul);
  Set(part, kMatMulPrecision, kDataTypeType, kFloat);
  Finish(part);
  const Part operation = Make(kMatMulOperation);
  Set(operation, kMatMulMode, kDescriptorType, part);
  Set(operation, kMatMulA, kDescriptorType, a.part);
  Set(operation, kMatMulB, kDescriptorType, b.part);
  Set(operation, kMatMulC, kDescriptorType, y.part);
  return Operate(operation, y);
}

Tensor Graph::Transpose(const Tensor& y, const Tensor& x) {
  const Part operation = Make(kReshapeOperation);
  Set(operation, kReshapeX, kDescriptorType, x.part);
  Set(operation, kReshapeY, kDescriptorType, y.part);
  return Operate(operation, y);
}

/// Configurations of engines that could run the graph, the fastest first by cuDNN's estimate.
std::vector<Part> Graph::Propose(Part graph, int mode) {
  const Part heuristics = Make(kHeuristics);
  Set(heuristics, kHeuristicsGraph, kDescriptorType, graph);
  Set(heuristics, kHeuristicsMode, kHeuristicsModeType, mode);
  Finish(heuristics);
  int64_t count = 0;
  const GraphApi& api = Backend();
  if (status_ == kSuccess) status_ = api.Get(heuristics, kHeuristicsResults, kDescriptorType, 0, &count, nullptr);
  std::vector<Part> configs;
  for (int64_t i = 0; i < count && status_ == kSuccess; ++i) configs.push_back(Make(kEngineConfig));
  if (status_ == kSuccess && count > 0)
    status_ = api.Get(heuristics, kHeuristicsResults, kDescriptorType, count, &count, configs.data());
  if (status_ != kSuccess) return {};
  configs.resize(count);
  return configs;
}

bool Graph::SameInEveryRun(Part config) {
  Part engine = Make(kEngine);
  int notes[kMostNotes];
  int64_t count = 0;
  const GraphApi& api = Backend();
  if (status_ == kSuccess) status_ = api.Get(config, kEngineConfigEngine, kDescriptorType, 1, &count, &engine);
  if (status_ == kSuccess)
    status_ = api.Get(engine, kEngineNumericalNotes, kNumericalNoteType, kMostNotes, &count, notes);
  const int* const end = notes + std::min(count, kMostNotes);
  return status_ == kSuccess && std::find<const int*>(notes, end, kNoteNonDeterministic) == end;
}

Part Graph::Compile(Handle handle, Part config, int64_t* workspace) {
  const Part plan = Make(kExecutionPlan);
  Set(plan, kPlanHandle, kHandleType, handle);
  Set(plan, kPlanEngineConfig, kDescriptorType, config);
  Finish(plan);
  int64_t count = 0;
  if (status_ == kSuccess) status_ = Backend().Get(plan, kPlanWorkspaceSize, kInt64Type, 1, &count, workspace);
  return status_ == kSuccess ? plan : nullptr;
}

Plan Graph::Build(Handle handle, int64_t most) {
  const Part graph = Make(kOperationGraph);
  Set(graph, kGraphHandle, kHandleType, handle);
  Set(graph, kGraphOperations, kDescriptorType, operations_.size(), operations_.data());
  Finish(graph);
  Plan plan;
  if (status_ != kSuccess) return plan;
  for (const int mode : {kByDecisionTree, kWhatElseWorks}) {
    status_ = kSuccess;
    for (const Part config : Propose(graph, mode)) {
      status_ = kSuccess;  // one that is refused says nothing about the next
      if (!SameInEveryRun(config)) continue;
      const Part compiled = Compile(handle, config, &plan.workspace_);
      if (!compiled || plan.workspace_ > most) continue;
      plan.plan_ = compiled;
      plan.parts_ = std::move(parts_);
      return plan;
    }
  }
  (void)cudaGetLastError();  // what cuDNN tried in vain is not for the next launch to answer for
  return plan;
}

}  // namespace dragon::cudnn

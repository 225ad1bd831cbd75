// A graph: operators' calls in order, over values that are each written once (SSA). What tracing writes, passes
// rewrite, `core/proto` stores, and a Plan runs.
//
// A call's outputs are its results in the schema's order and then, for every argument that the operator writes
// (`Tensor!`), the value that this argument has afterwards. So nothing in a graph is ever overwritten: `updates` says
// which values the inputs' memory must hold in the end, and it is the planner that finds out what may be computed in
// place.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/framework/expression.h"
#include "core/framework/operator.h"

namespace dragon {

/// A value of a graph, by position in `Graph::values`.
using ValueId = int32_t;
inline constexpr ValueId kNoValue = -1;

/// What is known of a value before its numbers.
struct DRAGON_API ValueInfo {
  std::string name;
  Dims shape;
  Dims strides;  ///< empty: row-major
  DType dtype = DType::kFloat32;
  Device device;
  /// Sizes that follow a symbol: (axis, expression). The others are as in `shape`.
  std::vector<std::pair<int32_t, Expression>> symbolic;
};

/// What a graph says of a tensor, and of what an operator infers.
ValueInfo InfoOf(const Tensor& tensor);
ValueInfo InfoOf(const OutputSpec& spec, Device device);

/// One call of an operator.
struct DRAGON_API GraphCall {
  const Operator* op = nullptr;
  std::vector<ValueId> inputs;      ///< tensor arguments in schema order, lists flattened; kNoValue where None
  std::vector<Value> attrs;         ///< the other arguments, all present
  std::vector<int32_t> list_sizes;  ///< lengths of the tensor lists, in schema order
  std::vector<ValueId> outputs;     ///< results, then written arguments; kNoValue where nobody asks
  std::string scope;                ///< where it came from, for people: "layer1.0.conv1"
  /// Attributes that follow a symbol: number `attr`, or element `element` of a list (-1: the number itself).
  struct Symbolic {
    int32_t attr = 0, element = -1;
    Expression value;
  };
  std::vector<Symbolic> symbolic;

  const Value& attr(ArgumentName name) const { return attrs[op->schema.AttrSlot(name)]; }
  Value& attr(ArgumentName name) { return attrs[op->schema.AttrSlot(name)]; }
  ValueId input(ArgumentName name) const { return inputs[op->schema.PlaceOf(name, list_sizes)]; }
  ValueId& input(ArgumentName name) { return inputs[op->schema.PlaceOf(name, list_sizes)]; }
  /// Positions among `inputs` of the arguments that the operator writes and that were given.
  std::vector<int> Written() const;
  /// How many outputs are results; the rest are written arguments.
  int result_count() const;
  /// It draws random numbers, or a graph among its arguments does.
  bool is_random() const;
  /// May not be left out, merged or moved past its like: it draws random numbers or meets other processes.
  bool is_ordered() const;
  /// A graph among its arguments tells what it does.
  bool has_body() const;
};

class DRAGON_API Graph {
 public:
  std::string name = "graph";
  std::vector<ValueInfo> values;
  std::vector<GraphCall> calls;                      ///< in an order in which they may run
  std::vector<ValueId> inputs, outputs;              ///< an output may be listed twice, and may be an input
  std::map<ValueId, Tensor> constants;               ///< values known beforehand
  std::vector<std::pair<int32_t, ValueId>> updates;  ///< (position among inputs, the value its memory gets in the end)
  std::vector<std::string> symbols;                  ///< names of the sizes known only at run time: "batch"
  std::vector<SymbolBounds> bounds;                  ///< of the first symbols, as many as there are
  std::vector<Condition> conditions;                 ///< what sizes must be for the graph to be the program

  // --- editing; each of these leaves a graph that Verify accepts, or throws and leaves it as it was
  ValueId AddValue(ValueInfo info);
  ValueId AddInput(ValueInfo info);
  ValueId AddConstant(Tensor tensor, std::string name = "");
  /// Call an operator at `position` (-1: at the end); the results' shapes and dtypes are inferred.
  GraphCall& AddCall(const Operator& op, std::vector<ValueId> inputs, std::vector<Value> attrs,
                     std::vector<int32_t> list_sizes = {}, int position = -1);
  /// Readers of `from` (calls from `first_call` on, outputs, updates) read `to`.
  void Replace(ValueId from, ValueId to, int first_call = 0);
  /// Take out calls; a RuntimeError if somebody reads what they make.
  void Remove(const std::vector<int>& positions);

  /// Within which sizes a symbol may be chosen.
  void Bound(int32_t symbol, const SymbolBounds& bounds);

  // --- asking
  SymbolBounds BoundsOf(int32_t symbol) const;
  /// The call that makes each value (-1: an input or constant).
  std::vector<int> Producers() const;
  /// The calls that read each value, in order.
  std::vector<std::vector<int>> Consumers() const;
  int64_t Bytes(ValueId value) const;
  /// A value by name; kNoValue if there is none.
  ValueId Find(const std::string& name) const;
  /// A tensor of the value's shape, dtype and strides without memory, for Infer.
  Tensor Phantom(ValueId value) const;
  /// One call per line, for people.
  std::string str() const;

  /// Every value is made once and before it is read, every call fits its schema, and what the operators infer is what
  /// the values say. A ValueError names the first call where this fails.
  void Verify() const;
};

/// What an operator would make of these inputs: shapes, dtypes and strides of its results and written arguments.
DRAGON_API std::vector<ValueInfo> InferCall(const Graph& graph, const GraphCall& call);

}  // namespace dragon

// What is told of operators, for documentation and for those who write tables of them.
#include "core/bindings/python.h"

namespace dragon::python {

namespace {

py::dict DescribeArgument(const Argument& argument) {
  py::dict description;
  description["name"] = argument.name;
  description["type"] = argument.type_name();
  description["optional"] = argument.optional;
  description["mutated"] = argument.mutated;
  description["keyword_only"] = argument.keyword_only;
  description["has_default"] = argument.has_default;
  description["default"] = py::reinterpret_steal<py::object>(WrapValue(argument.default_value));
  return description;
}

/// What autocast, passes and vmap ask of an operator.
void DescribeFacts(const Operator& op, py::dict* description) {
  static const char* const precisions[] = {"", "lower", "float32", "plain"};
  static const char* const batchings[] = {"", "apart", "numbers", "rows", "samples", "own"};
  (*description)["autocast"] = precisions[static_cast<int>(op.autocast)];
  (*description)["commutes"] = op.commutes;
  (*description)["writes_when"] = op.writes_when < 0 ? "" : op.schema.attr(op.writes_when).name;
  (*description)["tail"] = static_cast<bool>(op.tail);
  (*description)["batches"] = batchings[static_cast<int>(op.batching)];
}

py::dict DescribeOperator(const std::string& name) {
  const Operator& op = GetOp(name);
  py::dict description;
  py::list arguments, returns;
  for (const Argument& argument : op.schema.arguments()) arguments.append(DescribeArgument(argument));
  for (const std::string& result : op.schema.returns()) returns.append(result);
  description["name"] = name;
  description["line"] = op.schema.line();
  description["doc"] = op.doc;
  description["arguments"] = arguments;
  description["returns"] = returns;
  description["returns_list"] = op.schema.returns_list();
  description["differentiable"] = op.differentiable && (op.gradient || op.compose);
  description["pointwise"] = op.pointwise;
  description["composite"] = static_cast<bool>(op.compose);
  description["dynamic"] = op.dynamic;
  description["view"] = static_cast<bool>(op.view);
  DescribeFacts(op, &description);
  return description;
}

}  // namespace

void RegisterSchema(py::module_& m) {
  m.def(
      "op_names",
      [] {
        py::list names;
        for (const std::string& name : OpNames()) names.append(name);
        return names;
      },
      "All operators' names, sorted.");
  m.def("schema", &DescribeOperator, "What is told of an operator: a dict.", py::arg("name"));
}

}  // namespace dragon::python

// Graphs seen from Python: what is in them as plain snapshots, and the edits of `Graph` by argument names.
#include <pybind11/stl.h>

#include <algorithm>
#include <optional>

#include "core/bindings/python.h"
#include "core/framework/graph.h"

namespace dragon::python {

void RegisterGraphFile(py::module_& m);

namespace {

using Symbols = std::vector<std::string>;

/// A value as it was when somebody asked: `index` is what edits speak of.
struct ValueFace {
  ValueId index;
  ValueInfo info;
  Symbols symbols;
};

/// A call as it was when somebody asked, at `position` of the graph's calls.
struct CallFace {
  int position;
  GraphCall call;
  Symbols symbols;
};

py::object Id(ValueId id) { return id == kNoValue ? py::object(py::none()) : py::object(py::int_(id)); }

py::list Ids(const std::vector<ValueId>& ids) {
  py::list list;
  for (ValueId id : ids) list.append(Id(id));
  return list;
}

py::object Shape(const Dims& dims) { return py::reinterpret_steal<py::object>(WrapShape(dims, nullptr)); }

py::object Attribute(const Value& value) {
  if (value.object()) return py::cast(Ref<Object>(value.object()));
  return py::reinterpret_steal<py::object>(WrapValue(value));
}

py::dict Attributes(const CallFace& face) {
  py::dict attrs;
  const Schema& schema = face.call.op->schema;
  for (int i = 0; i < schema.attr_count(); ++i) attrs[schema.attr(i).name.c_str()] = Attribute(face.call.attrs[i]);
  return attrs;
}

/// Argument name -> an id, None, or a list of those.
py::dict TensorArguments(const CallFace& face) {
  py::dict tensors;
  const Schema& schema = face.call.op->schema;
  size_t next = 0, list = 0;
  for (int slot = 0; slot < schema.tensor_count(); ++slot) {
    const Argument& argument = schema.tensor(slot);
    if (argument.type == ArgumentType::kTensorList) {
      const auto begin = face.call.inputs.begin() + next;
      const int size = face.call.list_sizes[list++];
      tensors[argument.name.c_str()] = Ids({begin, begin + size});
      next += size;
    } else {
      tensors[argument.name.c_str()] = Id(face.call.inputs[next++]);
    }
  }
  return tensors;
}

/// (argument, element or -1, expression as text) of the attributes that follow a symbol.
py::list SymbolicAttributes(const CallFace& face) {
  py::list found;
  for (const GraphCall::Symbolic& symbolic : face.call.symbolic) {
    found.append(py::make_tuple(face.call.op->schema.attr(symbolic.attr).name, symbolic.element,
                                symbolic.value.str(face.symbols)));
  }
  return found;
}

py::dict SymbolicSizes(const ValueFace& face) {
  py::dict sizes;
  for (const auto& [axis, expression] : face.info.symbolic) sizes[py::int_(axis)] = expression.str(face.symbols);
  return sizes;
}

int32_t SymbolNamed(Graph* graph, const std::string& name) {
  const auto found = std::find(graph->symbols.begin(), graph->symbols.end(), name);
  if (found != graph->symbols.end()) return static_cast<int32_t>(found - graph->symbols.begin());
  graph->symbols.push_back(name);
  return static_cast<int32_t>(graph->symbols.size() - 1);
}

ValueId AddInput(Graph& graph, const py::object& shape, const py::object& dtype, const std::string& name,
                 const py::object& device, const std::map<int32_t, std::string>& symbolic) {
  constexpr Place kPlace{"add_input", nullptr};
  ValueInfo info;
  info.name = name;
  info.shape = ParseDims(shape.ptr(), kPlace);
  info.dtype = ParseDType(dtype.ptr(), kPlace);
  CheckedNumel("add_input", info.shape, ItemSize(info.dtype));
  if (!device.is_none()) info.device = ParseDevice(device.ptr(), kPlace);
  for (const auto& [axis, symbol] : symbolic) {
    if (axis < 0 || axis >= info.shape.size()) {
      throw IndexError("add_input").Got("axis ", axis, " for '", symbol, "'").Expected("0 to ", info.shape.size() - 1);
    }
    info.symbolic.emplace_back(axis, Expression::Of(SymbolNamed(&graph, symbol)));
  }
  return graph.AddInput(std::move(info));
}

ValueId AddConstant(Graph& graph, const py::object& number, const std::string& name) {
  Tensor tensor = ParseTensor(number.ptr(), {"add_constant", nullptr}, nullptr);
  return graph.AddConstant(tensor.Detach(), name);
}

ValueId ParseId(const py::handle& object, const Place& place) {
  if (object.is_none()) return kNoValue;
  if (py::isinstance<ValueFace>(object)) return object.cast<const ValueFace&>().index;
  const int64_t id = ParseInt(object.ptr(), place);
  if (id < 0 || id > INT32_MAX) throw ValueError(place.op).Got("value ", id).Expected("the number of a value");
  return static_cast<ValueId>(id);
}

/// Which object was given for each of an operator's arguments, by position among the tensors or by name.
class Given {
 public:
  Given(const Schema& schema, const py::sequence& inputs, const py::kwargs& keywords)
      : schema_(schema), inputs_(inputs), keywords_(keywords) {
    if (static_cast<int>(inputs.size()) > schema.tensor_count()) {
      throw TypeError(schema.name()).Got(inputs.size(), " inputs").Expected("at most ", schema.tensor_count());
    }
    for (const auto& [name, value] : keywords) {
      if (schema.Find(py::cast<std::string>(name)) < 0) {
        throw TypeError(schema.name()).Got("argument '", py::cast<std::string>(name), "'").Expected(schema.line());
      }
    }
  }

  py::object For(const Argument& argument) const {
    if (argument.is_tensor() && argument.slot < static_cast<int>(inputs_.size())) return inputs_[argument.slot];
    if (keywords_.contains(argument.name.c_str())) return keywords_[argument.name.c_str()];
    if (!argument.has_default && !argument.optional && argument.type != ArgumentType::kTensorList) {
      throw TypeError(schema_.name()).Got("nothing for argument '", argument.name, "'").Expected(argument.type_name());
    }
    return {};
  }

 private:
  const Schema& schema_;
  const py::sequence& inputs_;
  const py::kwargs& keywords_;
};

py::list AddCall(Graph& graph, const std::string& name, const py::sequence& inputs, int position,
                 const std::string& scope, const py::kwargs& keywords) {
  const Operator& op = GetOp(name);
  const Given given(op.schema, inputs, keywords);
  std::vector<ValueId> ids;
  std::vector<Value> attrs;
  std::vector<int32_t> list_sizes;
  for (const Argument& argument : op.schema.arguments()) {
    const Place place{op.name().c_str(), &argument};
    const py::object object = given.For(argument);
    if (argument.type == ArgumentType::kTensorList) {
      const size_t before = ids.size();
      if (object && !object.is_none()) {
        for (const py::handle item : TupleOf(object, place.op)) ids.push_back(ParseId(item, place));
      }
      list_sizes.push_back(static_cast<int32_t>(ids.size() - before));
    } else if (argument.is_tensor()) {
      ids.push_back(object ? ParseId(object, place) : kNoValue);
    } else {
      attrs.push_back(object ? ParseAttribute(object.ptr(), place) : argument.default_value);
    }
  }
  GraphCall& call = graph.AddCall(op, std::move(ids), std::move(attrs), std::move(list_sizes), position);
  call.scope = scope;
  return Ids(call.outputs);
}

void CheckId(const Graph& graph, ValueId id, const char* who) {
  if (id < 0 || id >= static_cast<ValueId>(graph.values.size())) {
    throw IndexError(who).Got("value ", id).Expected("0 to ", static_cast<int64_t>(graph.values.size()) - 1);
  }
}

void CheckPosition(const Graph& graph, int position, const char* who) {
  if (position < 0 || position >= static_cast<int>(graph.calls.size())) {
    throw IndexError(who).Got("call ", position).Expected("0 to ", static_cast<int64_t>(graph.calls.size()) - 1);
  }
}

CallFace CallAt(const Graph& graph, int position) {
  CheckPosition(graph, position, "call");
  return {position, graph.calls[position], graph.symbols};
}

ValueFace ValueAt(const Graph& graph, ValueId id) {
  CheckId(graph, id, "value");
  return {id, graph.values[id], graph.symbols};
}

py::list Calls(const Graph& graph) {
  py::list calls;
  for (size_t i = 0; i < graph.calls.size(); ++i) calls.append(CallAt(graph, static_cast<int>(i)));
  return calls;
}

py::list Values(const Graph& graph) {
  py::list values;
  for (size_t i = 0; i < graph.values.size(); ++i) values.append(ValueAt(graph, static_cast<ValueId>(i)));
  return values;
}

py::dict Constants(const Graph& graph) {
  py::dict constants;
  const Frontend* frontend = FrontendOf(&TensorType);
  for (const auto& [id, tensor] : graph.constants) {
    constants[py::int_(id)] = py::reinterpret_steal<py::object>(Wrap(tensor, frontend));
  }
  return constants;
}

void RegisterFaces(py::module_& m) {
  py::class_<ValueFace>(m, "GraphValue", "A value of a graph, as it was when asked for.")
      .def_readonly("index", &ValueFace::index)
      .def_property_readonly("name", [](const ValueFace& face) { return face.info.name; })
      .def_property_readonly("shape", [](const ValueFace& face) { return Shape(face.info.shape); })
      .def_property_readonly("dtype", [](const ValueFace& face) { return Name(face.info.dtype); })
      .def_property_readonly("device", [](const ValueFace& face) { return face.info.device.str(); })
      .def_property_readonly(
          "strides",
          [](const ValueFace& face) {
            return Shape(face.info.strides.empty() ? ContiguousStrides(face.info.shape) : face.info.strides);
          })
      .def_property_readonly("symbolic", &SymbolicSizes, "axis -> the expression that its size follows")
      .def("__index__", [](const ValueFace& face) { return face.index; })
      .def("__repr__", [](const ValueFace& face) {
        std::ostringstream text;
        text << "%" << face.index << (face.info.name.empty() ? "" : ":") << face.info.name << " "
             << Name(face.info.dtype) << face.info.shape;
        return text.str();
      });
  py::class_<CallFace>(m, "GraphCall", "A call of an operator in a graph, as it was when asked for.")
      .def_readonly("position", &CallFace::position)
      .def_property_readonly("op", [](const CallFace& face) { return face.call.op->name(); })
      .def_property_readonly("inputs", [](const CallFace& face) { return Ids(face.call.inputs); })
      .def_property_readonly("outputs", [](const CallFace& face) { return Ids(face.call.outputs); })
      .def_property_readonly("attrs", &Attributes, "the arguments that are no tensors, by name")
      .def_property_readonly("tensors", &TensorArguments, "the tensor arguments by name: ids, or lists of ids")
      .def_property_readonly("list_sizes", [](const CallFace& face) { return face.call.list_sizes; })
      .def_property_readonly("scope", [](const CallFace& face) { return face.call.scope; })
      .def_property_readonly("symbolic", &SymbolicAttributes,
                             "(argument, element or -1, expression) of what follows a symbol")
      .def_property_readonly("result_count", [](const CallFace& face) { return face.call.result_count(); })
      .def_property_readonly("is_random", [](const CallFace& face) { return face.call.is_random(); })
      .def("__repr__", [](const CallFace& face) {
        return "<call " + std::to_string(face.position) + ": " + face.call.op->name() + ">";
      });
}

void DefineEdits(py::class_<Graph, std::shared_ptr<Graph>>& graph) {
  graph
      .def("add_input", &AddInput, "Add an input, and return the number of its value.", py::arg("shape"),
           py::arg("dtype") = "float32", py::arg("name") = "", py::arg("device") = py::none(),
           py::arg("symbolic") = std::map<int32_t, std::string>())
      .def("add_constant", &AddConstant, "Add a value known beforehand, and return its number.", py::arg("tensor"),
           py::arg("name") = "")
      .def("add_call", &AddCall,
           "Call an operator, and return the numbers of its outputs: results, then what written arguments become.",
           py::arg("op"), py::pos_only(), py::arg("inputs") = py::tuple(), py::arg("position") = -1,
           py::arg("scope") = "")
      .def(
          "replace",
          [](Graph& self, ValueId from, ValueId to, int first_call) {
            CheckId(self, from, "replace"), CheckId(self, to, "replace");
            self.Replace(from, to, std::max(first_call, 0));
          },
          "Let the readers of one value (calls from `first_call` on, outputs, updates) read another.", py::arg("old"),
          py::arg("new"), py::arg("first_call") = 0)
      .def(
          "remove",
          [](Graph& self, const std::vector<int>& positions) {
            for (int position : positions) CheckPosition(self, position, "remove");
            self.Remove(positions);
          },
          "Take out calls whose results nobody reads.", py::arg("positions"))
      .def(
          "set_name",
          [](Graph& self, ValueId id, const std::string& name) {
            CheckId(self, id, "set_name");
            self.values[id].name = name;
          },
          "Name a value.", py::arg("value"), py::arg("name"))
      .def(
          "assign", [](Graph& self, const Graph& other) { self = other; }, "Become a copy of another graph.",
          py::arg("other"));
}

/// The bounds of those symbols that may not be any size.
py::dict BoundsOf(const Graph& graph) {
  py::dict found;
  for (size_t i = 0; i < graph.bounds.size(); ++i) {
    const SymbolBounds& bounds = graph.bounds[i];
    if (bounds == SymbolBounds()) continue;
    const py::object high = bounds.high == INT64_MAX ? py::object(py::none()) : py::int_(bounds.high);
    found[graph.symbols[i].c_str()] = py::make_tuple(bounds.low, high, bounds.multiple);
  }
  return found;
}

std::vector<ValueId> Known(const Graph& graph, std::vector<ValueId> ids, const char* who) {
  for (ValueId id : ids) CheckId(graph, id, who);
  return ids;
}

void SetUpdates(Graph& graph, std::vector<std::pair<int32_t, ValueId>> updates) {
  for (const auto& [input, id] : updates) {
    CheckId(graph, id, "updates");
    if (input >= 0 && input < static_cast<int32_t>(graph.inputs.size())) continue;
    throw IndexError("updates").Got("input ", input).Expected("0 to ", static_cast<int64_t>(graph.inputs.size()) - 1);
  }
  graph.updates = std::move(updates);
}

/// What is in the graph speaks of symbols by their places.
void SetSymbols(Graph& graph, std::vector<std::string> names) {
  if (names.size() < graph.symbols.size()) {
    throw ValueError("symbols").Got(names.size(), " names").Expected("at least ", graph.symbols.size());
  }
  graph.symbols = std::move(names);
}

void Bound(Graph& graph, const std::string& name, int64_t low, std::optional<int64_t> high, int64_t multiple) {
  const auto found = std::find(graph.symbols.begin(), graph.symbols.end(), name);
  if (found == graph.symbols.end()) throw ValueError(graph.name).Got("'", name, "'").Expected("a symbol of the graph");
  const SymbolBounds bounds{low, high.value_or(INT64_MAX), multiple};
  graph.Bound(static_cast<int32_t>(found - graph.symbols.begin()), bounds);
}

}  // namespace

void RegisterGraph(py::module_& m) {
  RegisterFaces(m);
  py::class_<Graph, std::shared_ptr<Graph>> graph(m, "Graph", "Calls of operators over values written once.");
  graph
      .def(py::init([](const std::string& name) {
             auto made = std::make_shared<Graph>();
             made->name = name;
             return made;
           }),
           py::arg("name") = "graph")
      .def(py::init<const Graph&>(), py::arg("other"))
      .def_readwrite("name", &Graph::name)
      .def_property(
          "inputs", [](const Graph& self) { return self.inputs; },
          [](Graph& self, std::vector<ValueId> ids) { self.inputs = Known(self, std::move(ids), "inputs"); })
      .def_property(
          "outputs", [](const Graph& self) { return self.outputs; },
          [](Graph& self, std::vector<ValueId> ids) { self.outputs = Known(self, std::move(ids), "outputs"); })
      .def_property(
          "updates", [](const Graph& self) { return self.updates; }, &SetUpdates)
      .def_property(
          "symbols", [](const Graph& self) { return self.symbols; }, &SetSymbols)
      .def_property_readonly("bounds", &BoundsOf, "symbol -> (smallest, largest or None, of what it is a multiple)")
      .def("bound", &Bound, "Say which sizes a symbol may be.", py::arg("symbol"), py::arg("low") = 0,
           py::arg("high") = py::none(), py::arg("multiple") = 1)
      .def_property_readonly("values", &Values)
      .def_property_readonly("calls", &Calls)
      .def_property_readonly("constants", &Constants, "the number of a value -> its tensor")
      .def("value", &ValueAt, "Return one value.", py::arg("index"))
      .def("call", &CallAt, "Return one call.", py::arg("position"))
      .def(
          "find", [](const Graph& self, const std::string& name) { return Id(self.Find(name)); },
          "Return the number of the value of this name, or None.", py::arg("name"))
      .def("producers", &Graph::Producers, "For each value, the position of the call that makes it, or -1.")
      .def("consumers", &Graph::Consumers, "For each value, the positions of the calls that read it.")
      .def("verify", &Graph::Verify, "Raise a ValueError that names the first place where this is no proper graph.")
      .def("str", &Graph::str, "One call per line.")
      .def("__str__", &Graph::str)
      .def("__len__", [](const Graph& self) { return self.calls.size(); })
      .def("copy", [](const Graph& self) { return Graph(self); }, "Return a copy; constants share their memory.");
  DefineEdits(graph);
  RegisterGraphFile(m);
}

}  // namespace dragon::python

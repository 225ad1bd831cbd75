// Tensors that are made of others, from Python: making one, looking at its parts, and who computes with them.
#include "core/bindings/collect.h"
#include "core/bindings/python.h"
#include "core/framework/parts.h"

namespace dragon::python {

namespace {

py::object WrapOne(const Tensor& tensor, const Frontend* frontend) {
  return py::reinterpret_steal<py::object>(Wrap(tensor, frontend));
}

py::object Make(const std::string& layout, const py::sequence& parts, const py::sequence& shape, bool coalesced) {
  TensorParts made{layout, {}, coalesced};
  const Frontend* frontend = nullptr;
  for (size_t i = 0; i < parts.size(); ++i) {
    const py::object part = parts[i];
    made.tensors.push_back(TensorIn(part, "make_of_parts"));
    frontend = FrontendOf(Py_TYPE(part.ptr()));
  }
  if (made.tensors.empty()) throw ValueError("make_of_parts").Got("no parts").Expected("at least the numbers");
  Dims sizes;
  for (size_t i = 0; i < shape.size(); ++i) {
    sizes.push_back(py::cast<int64_t>(shape[i]));
    if (sizes.back() < 0) throw ValueError("make_of_parts").Got("size ", sizes.back()).Expected("none below 0");
  }
  return WrapOne(MakeOfParts(sizes, std::move(made)), frontend);
}

py::object Look(const py::object& tensor) {
  const Tensor* given = TensorIf(tensor);
  const TensorParts* parts = given ? PartsOf(*given) : nullptr;
  if (!parts) return py::none();
  const Frontend* frontend = FrontendOf(Py_TYPE(tensor.ptr()));
  py::tuple tensors(parts->tensors.size());
  for (size_t i = 0; i < parts->tensors.size(); ++i) tensors[i] = WrapOne(parts->tensors[i], frontend);
  return py::make_tuple(parts->layout, tensors, parts->coalesced);
}

/// A Python function that computes calls: (operator, tensors and lists of them, the other arguments, destinations).
class PythonHandler : public Holder {
 public:
  PythonHandler(py::object function, const Frontend* frontend) : function_(std::move(function)), frontend_(frontend) {}
  int Visit(visitproc visit, void* arg) const override { return function_.Visit(visit, arg); }

  Tensors operator()(const Call& call, std::span<const Tensor> outs) const {
    WithGil gil;
    const Schema& schema = call.op->schema;
    py::dict arguments;
    size_t place = 0, list = 0, attr = 0;
    for (const Argument& argument : schema.arguments()) {
      const py::str name(argument.name);
      if (argument.type == ArgumentType::kTensorList) {
        py::list items;
        for (int32_t k = 0; k < call.list_sizes[list]; ++k) items.append(WrapOne(call.inputs[place++], frontend_));
        ++list;
        arguments[name] = items;
      } else if (argument.is_tensor()) {
        arguments[name] = WrapOne(call.inputs[place++], frontend_);
      } else {
        arguments[name] = Attribute(call.attrs[attr++]);
      }
    }
    py::list destinations;
    for (const Tensor& out : outs) destinations.append(WrapOne(out, frontend_));
    return ResultsIn(function_.get()(call.op->name(), arguments, destinations), call, outs);
  }

 private:
  /// What came back, which programs of others make: as many results as the operator has, or none for destinations.
  static Tensors ResultsIn(const py::object& result, const Call& call, std::span<const Tensor> outs) {
    const std::string& who = call.op->name();
    const Schema& schema = call.op->schema;
    Tensors tensors;
    const bool is_nothing = schema.returns().empty() && !schema.returns_list();
    if (is_nothing && result.is_none()) return tensors;
    if (const Tensor* tensor = TensorIf(result)) {
      tensors.push_back(*tensor);
    } else {
      if (!PySequence_Check(result.ptr()) || PyUnicode_Check(result.ptr())) {
        RefuseObject(result, who, "a tensor or a sequence of them from whoever computes calls with such tensors");
      }
      for (const py::handle item : TupleOf(result, who.c_str())) {
        const Tensor* tensor = TensorIf(item);
        if (!tensor) RefuseObject(item, who, "tensors from whoever computes calls with such tensors");
        tensors.push_back(*tensor);
      }
    }
    const size_t least = schema.returns_list() ? tensors.size() : schema.returns().size();
    if (outs.empty() && tensors.size() != least) {
      throw ValueError(who)
          .Got(tensors.size(), " results from whoever computes calls with such tensors")
          .Expected(least);
    }
    return tensors;
  }
  py::object Attribute(const Value& value) const {
    if (value.kind() == Value::Kind::kDType) {
      return py::reinterpret_steal<py::object>(WrapDType(value.dtype(), frontend_));
    }
    if (value.kind() == Value::Kind::kDevice) {
      return py::reinterpret_steal<py::object>(WrapDevice(value.device(), frontend_));
    }
    return py::reinterpret_steal<py::object>(WrapValue(value));
  }

  Held function_;
  const Frontend* frontend_;
};

void SetHandler(const py::object& tensor_class, const py::object& parts_class, const py::object& handler) {
  auto* frontend = const_cast<Frontend*>(FrontendIn(tensor_class, "set_parts_handler"));
  PyTypeObject* type =
      SubclassIn(parts_class, frontend->tensor_class, "set_parts_handler", "a subclass of the frontend's tensor class");
  if (!PyCallable_Check(handler.ptr())) RefuseObject(handler, "set_parts_handler", "a function");
  Py_INCREF(type);
  frontend->parts_class = type;
  const auto held = std::make_shared<PythonHandler>(handler, frontend);
  SetPartsHandler([held](const Call& call, std::span<const Tensor> outs) { return (*held)(call, outs); });
}

}  // namespace

void RegisterTensorParts(py::module_& m) {
  m.def("make_of_parts", &Make, "A tensor of a shape that is made of others; the last of them holds its numbers.",
        py::arg("layout"), py::arg("parts"), py::arg("shape"), py::arg("coalesced") = false);
  m.def("parts_of", &Look, "(layout, parts, coalesced) of a tensor that is made of others; None for any other object.",
        py::arg("tensor"));
  m.def("set_parts_handler", &SetHandler,
        "Show tensors of parts as a class, and have calls with them computed by handler(op, arguments, destinations), "
        "which returns the result or a sequence of results.",
        py::arg("tensor_class"), py::arg("parts_class"), py::arg("handler"));
}

}  // namespace dragon::python

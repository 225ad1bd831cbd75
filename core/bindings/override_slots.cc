// Python's operators and protocols, `a - b` or `bool(x)`, as calls that classes and modes may answer: under the names
// that PyTorch hands to `__torch_function__`.
#include <algorithm>
#include <cstring>

#include "core/bindings/python.h"

namespace dragon::python {

namespace {

/// What a class is asked for, where it is not simply the method of the operator's name.
struct Spoken {
  const char* op;
  const char* left;        ///< for `tensor - other`
  const char* right;       ///< for `other - tensor`
  const char* in_place;    ///< for `tensor -= other`
  bool right_keeps_order;  ///< whether `right` is called with (other, tensor)
};

constexpr Spoken kSpoken[] = {{"sub", "sub", "__rsub__", "sub_", false},
                              {"div", "div", "__rdiv__", "div_", false},
                              {"floor_divide", "__floordiv__", "__rfloordiv__", "floor_divide_", false},
                              {"remainder", "remainder", "__rmod__", "remainder_", false},
                              {"pow", "pow", "__rpow__", "pow_", false},
                              {"matmul", "matmul", "__rmatmul__", "__imatmul__", false},
                              {"bitwise_and", "__and__", "bitwise_and", "__iand__", true},
                              {"bitwise_or", "__or__", "bitwise_or", "__ior__", true},
                              {"bitwise_xor", "__xor__", "bitwise_xor", "__ixor__", true},
                              {"bitwise_left_shift", "__lshift__", "__rlshift__", "__ilshift__", false},
                              {"bitwise_right_shift", "__rshift__", "__rrshift__", "__irshift__", false},
                              {"eq", "__eq__", "__eq__", nullptr, false},
                              {"bitwise_not", "__invert__", nullptr, nullptr, false}};

const Spoken* SpokenOf(const std::string& op) {
  const auto* found = std::find_if(std::begin(kSpoken), std::end(kSpoken), [&](const Spoken& x) { return op == x.op; });
  return found == std::end(kSpoken) ? nullptr : found;
}

/// Does an operator of tensors take it, or a class that has something to say? Otherwise Python asks elsewhere.
bool IsTaken(const Frontend* frontend, PyObject* object) {
  return IsTensor(object) || IsNumber(object) || NumberOf(object) >= 0 || ClassAnswers(frontend, object) ||
         std::strcmp(Py_TYPE(object)->tp_name, "numpy.ndarray") == 0;
}

}  // namespace

PyObject* CallSlotOverride(const Frontend* frontend, const char* name, std::initializer_list<PyObject*> args) {
  PyObject* method = PyObject_GetAttrString(Upcast(frontend->tensor_class), name);
  if (!method) return nullptr;
  PyObject* result = CallOverride(frontend, method, args.begin(), static_cast<Py_ssize_t>(args.size()), nullptr);
  Py_DECREF(method);
  return result;
}

py::object AskedSlot(PyObject* self, const char* name) {
  const Frontend* frontend = Self<PyTensor>(self)->frontend;
  if (DRAGON_LIKELY(!WantsOverride(frontend, self))) return {};
  py::object answer = py::reinterpret_steal<py::object>(CallSlotOverride(frontend, name, {self}));
  if (!answer) throw py::error_already_set();
  return answer;
}

PyObject* CallUnaryOverride(const Frontend* frontend, const std::string& op, PyObject* self) {
  const Spoken* spoken = SpokenOf(op);
  return CallSlotOverride(frontend, spoken ? spoken->left : op.c_str(), {self});
}

PyObject* CallBinaryOverride(const Frontend* frontend, const std::string& op, PyObject* a, PyObject* b) {
  if (!IsTaken(frontend, a) || !IsTaken(frontend, b)) Py_RETURN_NOTIMPLEMENTED;
  const Spoken* spoken = SpokenOf(op);
  if (IsTensor(a)) return CallSlotOverride(frontend, spoken ? spoken->left : op.c_str(), {a, b});
  if (spoken && spoken->right_keeps_order) return CallSlotOverride(frontend, spoken->right, {a, b});
  return CallSlotOverride(frontend, spoken ? spoken->right : op.c_str(), {b, a});
}

PyObject* CallInPlaceOverride(const Frontend* frontend, const std::string& op, PyObject* a, PyObject* b) {
  if (!IsTaken(frontend, b)) Py_RETURN_NOTIMPLEMENTED;
  const Spoken* spoken = SpokenOf(op);
  return CallSlotOverride(frontend, spoken && spoken->in_place ? spoken->in_place : (op + "_").c_str(), {a, b});
}

}  // namespace dragon::python

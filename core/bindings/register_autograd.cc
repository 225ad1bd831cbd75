// The tape seen from Python: backward, grad, hooks, nodes, custom functions, modes.
#include <pybind11/stl.h>

#include <atomic>

#include "core/bindings/collect.h"
#include "core/bindings/forget_error.h"
#include "core/bindings/other_memory.h"
#include "core/framework/autograd/backward.h"
#include "core/framework/autograd/meta.h"
#include "core/framework/autograd/node.h"

namespace dragon::python {

namespace {

std::vector<Tensor> TensorList(py::handle object, const char* who) {
  std::vector<Tensor> tensors;
  if (object.is_none()) return tensors;
  if (const Tensor* tensor = TensorIf(object)) return {*tensor};
  for (py::handle item : py::iter(object)) tensors.push_back(TensorOrNone(item, who));
  return tensors;
}

py::tuple Tuple(const Tensors& tensors, const Frontend* frontend) {
  py::tuple tuple(tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) tuple[i] = py::reinterpret_steal<py::object>(Wrap(tensors[i], frontend));
  return tuple;
}

/// What a hook gave in place of a gradient, which must be one of the same kind: it stands for what others computed.
void CheckReplaced(const Tensor& before, const Tensor& after) {
  if (!after.defined()) return;
  if (!before.defined()) throw RuntimeError("hook").Got("a gradient").Expected("None, since none came");
  if (after.shape() != before.shape()) {
    throw RuntimeError("hook").Got("a gradient of shape ", after.shape()).Expected("shape ", before.shape());
  }
  if (after.dtype() != before.dtype()) {
    throw RuntimeError("hook").Got("a gradient of ", after.dtype()).Expected(before.dtype());
  }
}

/// What Python code gave as the gradient of an input; it may have axes along which the input was broadcast.
void CheckReturned(const std::string& who, const Tensor& grad, const TensorMeta& like) {
  const int extra = grad.ndim() - like.shape.size();
  bool fits = extra >= 0;
  for (int i = 0; fits && i < like.shape.size(); ++i) {
    fits = like.shape[i] == grad.shape()[i + extra] || like.shape[i] == 1;
  }
  if (!fits) throw RuntimeError(who).Got("a gradient of shape ", grad.shape()).Expected("shape ", like.shape);
  if (grad.is_complex() && !IsComplex(like.dtype)) {
    throw RuntimeError(who).Got("a gradient of ", grad.dtype()).Expected("a real one for an input of ", like.dtype);
  }
}

class PythonTensorHook : public TensorHook, public Holder {
 public:
  /// `replaces`: what the callable returns, if anything, is the gradient from there on.
  PythonTensorHook(py::object callable, const Frontend* frontend, bool replaces = true)
      : callable_(std::move(callable)), frontend_(frontend), replaces_(replaces) {}
  Tensor Call(const Tensor& grad) override {
    WithGil gil;
    py::object result = callable_.get()(py::reinterpret_steal<py::object>(Wrap(grad, frontend_)));
    if (!replaces_) return Tensor();
    Tensor replaced = TensorOrNone(result, "hook");
    CheckReplaced(grad, replaced);
    return replaced;
  }
  int Visit(visitproc visit, void* arg) const override { return callable_.Visit(visit, arg); }
  py::object callable() const { return py::reinterpret_borrow<py::object>(callable_.get()); }

 private:
  Held callable_;
  const Frontend* frontend_;
  bool replaces_;
};

/// The functions that were registered with a tensor, in their order: on its gradient, or after `grad` was written.
py::list HooksOf(const py::object& object, bool accumulated) {
  const Tensor& tensor = TensorIn(object, "tensor_hooks");
  py::list functions;
  const auto add = [&](const Ref<TensorHook>& hook) {
    if (const auto* python = dynamic_cast<const PythonTensorHook*>(hook.get())) functions.append(python->callable());
  };
  const AutogradMeta* meta = tensor.impl()->autograd.get();
  const Ref<Node> node = accumulated ? Ref<Node>() : GradNode(tensor);
  if (node) {
    for (const auto& [output, hook] : node->extras().tensor_hooks) {
      if (output == meta->output) add(hook);
    }
  } else if (meta) {
    for (const Ref<TensorHook>& hook : accumulated ? meta->accumulated_hooks : meta->hooks) add(hook);
  }
  return functions;
}

class PythonNodeHook : public NodeHook, public Holder {
 public:
  PythonNodeHook(py::object callable, const Frontend* frontend, bool before)
      : callable_(std::move(callable)), frontend_(frontend), before_(before) {}
  Tensors Call(const Tensors& grads, const Tensors& incoming) override {
    WithGil gil;
    py::object result = before_ ? callable_.get()(Tuple(grads, frontend_))
                                : callable_.get()(Tuple(grads, frontend_), Tuple(incoming, frontend_));
    Tensors replaced;
    if (!result.is_none()) {
      for (const Tensor& tensor : TensorList(result, "hook")) replaced.push_back(tensor);
      if (replaced.size() != grads.size()) {
        throw RuntimeError("hook").Got(replaced.size(), " gradients").Expected(grads.size());
      }
      for (size_t i = 0; i < grads.size(); ++i) CheckReplaced(grads[i], replaced[i]);
    }
    return replaced;
  }
  int Visit(visitproc visit, void* arg) const override { return callable_.Visit(visit, arg); }

 private:
  Held callable_;
  const Frontend* frontend_;
  bool before_;
};

/// Something of Python's that the engine keeps without looking at it.
class HeldObject : public Object {
 public:
  explicit HeldObject(py::object object) : held(std::move(object)) {}
  Held held;
};

class PythonSavedTensorHooks : public SavedTensorHooks {
 public:
  PythonSavedTensorHooks(py::object pack, py::object unpack, const Frontend* frontend)
      : pack_(std::move(pack)), unpack_(std::move(unpack)), frontend_(frontend) {}
  Ref<Object> Pack(const Tensor& tensor) override {
    WithGil gil;
    return Ref<Object>(new HeldObject(pack_.get()(py::reinterpret_steal<py::object>(Wrap(tensor, frontend_)))));
  }
  Tensor Unpack(const Ref<Object>& packed) override {
    WithGil gil;
    py::object result = unpack_.get()(static_cast<HeldObject*>(packed.get())->held.get());
    if (const Tensor* tensor = TensorIf(result)) return *tensor;
    throw TypeError("saved_tensors_hooks").Got(ClassOf(result), " from the unpack hook").Expected("a tensor");
  }

 private:
  Held pack_, unpack_;
  const Frontend* frontend_;
};

/// A function whose gradient is Python code.
class PythonNode : public Node, public Holder {
 public:
  PythonNode(std::string name, py::object backward, const Frontend* frontend)
      : name_(std::move(name)), backward_(std::move(backward)), frontend_(frontend) {}
  Tensors Backward(const Tensors& grads, uint64_t /*unwanted*/) override {
    WithGil gil;
    // The function gets the node itself, to find results it has saved: were it to hold the node, both would live for
    // ever.
    py::object result = backward_.get()(Ref<Node>(this), *Tuple(grads, frontend_));
    Tensors tensors;
    for (const Tensor& tensor : TensorList(result, name_.c_str())) tensors.push_back(tensor);
    if (tensors.size() != edges.size()) {
      throw RuntimeError(name_)
          .Got(tensors.size(), " gradients from its backward")
          .Expected(edges.size(), ", one per input");
    }
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (!edges[i]) {
        tensors[i] = Tensor();
      } else if (tensors[i].defined()) {
        CheckReturned(name_, tensors[i], x_metas[i]);
        tensors[i] = FitGrad(tensors[i], x_metas[i]);
      }
    }
    return tensors;
  }
  /// A function that keeps tensors has a method to let go of them.
  void ReleaseSaved() override {
    WithGil gil;
    if (py::hasattr(backward_.get(), "release")) backward_.get().attr("release")();
  }
  std::string name() const override { return name_; }
  int Visit(visitproc visit, void* arg) const override { return backward_.Visit(visit, arg); }
  std::vector<TensorMeta> x_metas;

 private:
  std::string name_;
  Held backward_;
  const Frontend* frontend_;
};

/// Whether somebody has asked for gradients that have gradients.
std::atomic<bool> g_second_gradients = false;

BackwardOptions Options(bool retain_graph, bool create_graph, bool allow_unused) {
  if (create_graph) g_second_gradients.store(true, std::memory_order_relaxed);
  return {retain_graph || create_graph, create_graph, allow_unused};
}

/// The innermost Python frames, for anomaly mode.
std::string PythonTrace() {
  WithGil gil;
  try {
    py::object frames = py::module_::import("traceback").attr("format_stack")();
    return py::cast<std::string>(py::str("").attr("join")(frames));
  } catch (py::error_already_set& error) {
    error.restore();
    ForgetError();
    return {};
  }
}

const Frontend* FrontendOfFirst(py::handle object) {
  if (const PyTensor* face = FaceIf(object.ptr())) return face->frontend;
  if (object.is_none()) return FrontendOf(&TensorType);
  for (py::handle item : py::iter(object)) {
    if (const PyTensor* face = FaceIf(item.ptr())) return face->frontend;
  }
  return FrontendOf(&TensorType);
}

/// Stand a Python node behind `outputs`: their gradients go through `backward` to `inputs`.
void Record(const std::string& name, py::object backward, py::object inputs, py::object outputs) {
  auto node = MakeRef<PythonNode>(name, std::move(backward), FrontendOfFirst(outputs));
  for (const Tensor& x : TensorList(inputs, name.c_str())) {
    node->edges.push_back(x.defined() ? GradEdge(x) : Edge{});
    node->x_metas.push_back(TensorMeta(x));
  }
  int index = 0;
  for (const Tensor& y : TensorList(outputs, name.c_str())) {
    node->y_metas.push_back(TensorMeta(y));
    if (y.defined() && IsInexact(y.dtype())) SetHistory(y, Ref<Node>(node), index);
    ++index;
  }
}

/// `x` becomes what `y`, computed from it, is: geometry, memory and history. How an in-place `unsqueeze_` is written.
void Become(const Tensor& x, const Tensor& y) {
  if (x.requires_grad() && x.is_leaf() && Door().grad_enabled) {
    throw RuntimeError("in place")
        .Got("a leaf that requires grad")
        .Expected("no_grad() around it, or a computed tensor");
  }
  y.Settle();
  TensorImpl& mine = *x.impl();
  const TensorImpl& other = *y.impl();
  const Ref<TensorImpl> base = mine.base;  // what is written through x still belongs to it
  TakeOver(mine, other);
  mine.base = base;
  mine.view_version = mine.version_value();
  if (other.autograd && other.autograd->node) SetHistory(x, other.autograd->node, other.autograd->output);
}

/// Python's face of a node tells the collector what the node holds.
void CollectNodes(PyHeapTypeObject* heap_type) {
  PyTypeObject* type = &heap_type->ht_type;
  type->tp_flags |= Py_TPFLAGS_HAVE_GC;
  type->tp_traverse = [](PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    return VisitHeld(Behind<Node>(self), visit, arg);
  };
  type->tp_clear = [](PyObject* self) {
    Node* node = Behind<Node>(self);
    if (!node || node->refs() != 1 || ThreadsOutside() > 0 || !node->extras_if_any()) return 0;
    // What they hold may run code on its way out.
    const auto before = std::exchange(node->extras().pre_hooks, {}),
               after = std::exchange(node->extras().post_hooks, {});
    const auto tensor_hooks = std::exchange(node->extras().tensor_hooks, {});
    return 0;
  };
}

/// What Function.save_for_backward keeps.
struct Saved {
  SavedTensor saved;
  const Frontend* frontend;
};

void RegisterNode(py::module_& m) {
  py::class_<Node, Ref<Node>>(m, "Node", "A step of the backward graph.", py::custom_type_setup(&CollectNodes))
      .def("name", &Node::name)
      .def_property_readonly("next_functions",
                             [](const Node& node) {
                               py::list next;
                               for (const Edge& edge : node.edges) next.append(py::make_tuple(edge.node, edge.index));
                               return py::tuple(next);
                             })
      .def_property_readonly("variable",
                             [](const Node& node) -> py::object {
                               if (!node.is_accumulator()) throw py::attribute_error("variable");
                               const Tensor& leaf = static_cast<const AccumulateNode&>(node).leaf();
                               if (PyTensor* face = FaceOf(leaf)) {
                                 return py::reinterpret_borrow<py::object>(Upcast(face));
                               }
                               return py::reinterpret_steal<py::object>(Wrap(leaf, FrontendOf(&TensorType)));
                             })
      .def(
          "register_hook",
          [](Node& node, py::object hook) {
            node.extras().post_hooks.push_back(Ref<NodeHook>(new PythonNodeHook(hook, FrontendOf(&TensorType), false)));
          })
      .def("register_prehook",
           [](Node& node, py::object hook) {
             node.extras().pre_hooks.push_back(Ref<NodeHook>(new PythonNodeHook(hook, FrontendOf(&TensorType), true)));
           })
      .def(
          "__eq__", [](const Node& a, const Node& b) { return &a == &b; }, py::is_operator())
      .def("__hash__", [](const Node& node) { return reinterpret_cast<intptr_t>(&node); })
      .def("__repr__", [](const Node& node) { return "<" + node.name() + " node>"; });
}

/// What is kept for a backward pass, and how.
void RegisterSaved(py::module_& m) {
  py::class_<Saved>(m, "SavedTensor", "A tensor kept for a backward pass, which notices later writes.")
      .def(py::init([](py::object tensor, bool is_output) {
             const Tensor x = TensorOrNone(tensor, "save_for_backward");
             return Saved{SavedTensor(x, is_output), FrontendOfFirst(tensor)};
           }),
           py::arg("tensor"), py::arg("is_output") = false)
      .def(
          "unpack",
          [](const Saved& self, py::object node) {
            const Ref<Node> owner(node.is_none() ? nullptr : &EngineObject<Node>(node, "saved tensor", "a node"));
            return py::reinterpret_steal<py::object>(Wrap(self.saved.Unpack("saved tensor", owner), self.frontend));
          },
          py::arg("node") = py::none());
  m.def(
      "switch_saved_tensor_hooks",
      [](const std::optional<std::tuple<py::object, py::object, py::object>>& hooks) {
        if (!hooks) return PopSavedTensorHooks();
        const auto& [pack, unpack, tensor_class] = *hooks;
        const Frontend* frontend = FrontendIn(tensor_class, "switch_saved_tensor_hooks");
        PushSavedTensorHooks(Ref<SavedTensorHooks>(new PythonSavedTensorHooks(pack, unpack, frontend)));
      },
      "Of (pack, unpack, tensor class), have pack(tensor) keep what this thread saves for backward, and unpack(kept) "
      "give it back; of None, take away the hooks that came last.",
      py::arg("hooks"));
  m.def(
      "keep_saved", [](py::handle tensor) { AutogradMeta::Of(TensorIn(tensor, "keep_saved")).keeps_saved = true; },
      "Have gradients use the numbers that a leaf had when it was used, even if it takes other memory later.",
      py::arg("tensor"));
}

void RegisterBackward(py::module_& m) {
  m.def(
      "backward",
      [](py::object roots, py::object grads, bool retain_graph, bool create_graph, py::object inputs) {
        const auto root_list = TensorList(roots, "backward"), grad_list = TensorList(grads, "backward");
        const auto input_list = TensorList(inputs, "backward");
        WithoutGil outside;
        Backward(root_list, grad_list, Options(retain_graph, create_graph, true), input_list);
      },
      "Accumulate gradients into the leaves.", py::arg("roots"), py::arg("grads") = py::none(),
      py::arg("retain_graph") = false, py::arg("create_graph") = false, py::arg("inputs") = py::none());
  m.def(
      "grad",
      [](py::object roots, py::object inputs, py::object grads, bool retain_graph, bool create_graph,
         bool allow_unused) {
        const auto root_list = TensorList(roots, "grad"), grad_list = TensorList(grads, "grad");
        const auto input_list = TensorList(inputs, "grad");
        std::vector<Tensor> results;
        {
          WithoutGil outside;
          results = Gradients(root_list, grad_list, input_list, Options(retain_graph, create_graph, allow_unused));
        }
        py::tuple tuple(results.size());
        const Frontend* frontend = FrontendOfFirst(inputs);
        for (size_t i = 0; i < results.size(); ++i) {
          tuple[i] = py::reinterpret_steal<py::object>(Wrap(results[i], frontend));
        }
        return tuple;
      },
      "Return the gradients of roots with respect to inputs.", py::arg("roots"), py::arg("inputs"),
      py::arg("grads") = py::none(), py::arg("retain_graph") = false, py::arg("create_graph") = false,
      py::arg("allow_unused") = false);
  m.def(
      "second_gradients_wanted", [] { return g_second_gradients.load(std::memory_order_relaxed); },
      "Whether this process has asked for gradients that have gradients.");
  m.def(
      "set_second_gradients_wanted",
      [](bool wanted) { return g_second_gradients.exchange(wanted, std::memory_order_relaxed); },
      "Say whether gradients that have gradients were asked for; returns what was said before.", py::arg("wanted"));
  m.def("set_anomaly_mode", &SetAnomalyMode, "Have nodes remember where their forward call stood.", py::arg("enabled"),
        py::arg("check_nan") = true);
  m.def("anomaly_mode", &AnomalyMode);
  SetTraceProvider(&PythonTrace);
}

void RegisterHooks(py::module_& m) {
  py::class_<TensorHook, Ref<TensorHook>>(m, "Hook", "A registered tensor hook.");
  m.def("record", &Record, "Stand a Python function behind outputs on the tape.", py::arg("name"), py::arg("backward"),
        py::arg("inputs"), py::arg("outputs"));
  m.def(
      "register_hook",
      [](py::object tensor, py::object callable) {
        const Tensor& x = TensorIn(tensor, "register_hook");
        Ref<TensorHook> hook(new PythonTensorHook(callable, FrontendOfFirst(tensor)));
        RegisterHook(x, hook);
        return hook;
      },
      "Call a function with the tensor's gradient.", py::arg("tensor"), py::arg("hook"));
  m.def(
      "register_accumulated_hook",
      [](py::object tensor, py::object callable) {
        const Tensor& x = TensorIn(tensor, "register_post_accumulate_grad_hook");
        if (!x.is_leaf() || !x.requires_grad()) {
          throw RuntimeError("register_post_accumulate_grad_hook")
              .Got("a tensor that gathers no gradient")
              .Expected("a leaf that requires grad");
        }
        Ref<TensorHook> hook(new PythonTensorHook(callable, FrontendOfFirst(tensor), /*replaces=*/false));
        AutogradMeta::Of(x).accumulated_hooks.push_back(hook);
        return hook;
      },
      "Call a function with the tensor after its grad was written.", py::arg("tensor"), py::arg("hook"));
  m.def("tensor_hooks", &HooksOf, "The functions registered with a tensor.", py::arg("tensor"),
        py::arg("accumulated") = false);
  m.def(
      "remove_hook",
      [](py::object tensor, Ref<TensorHook> hook) {
        RemoveHook(TensorIn(tensor, "remove_hook"), Present(hook, "remove_hook", "a hook"));
      },
      py::arg("tensor"), py::arg("hook"));
}

/// What stands behind a tensor.
void RegisterHistory(py::module_& m) {
  m.def(
      "become", [](py::object x, py::object y) { Become(TensorIn(x, "become"), TensorIn(y, "become")); },
      "Give a tensor the geometry, memory and history of one computed from it.", py::arg("x"), py::arg("y"));
  m.def(
      "forget",
      [](py::object tensor) {
        TensorImpl& impl = *TensorIn(tensor, "detach_").impl();
        if (impl.autograd) {
          ReleaseGrad(impl);
          impl.autograd->node = nullptr;
          impl.autograd->requires_grad = false;
          impl.autograd->output = 0;
        }
        impl.base = nullptr;
        impl.view_version = impl.version_value();
      },
      "Cut a tensor from its history where it is.", py::arg("tensor"));
  m.def(
      "output_number",
      [](py::object tensor) {
        const Tensor& x = TensorIn(tensor, "output_number");
        return GradNode(x) ? x.impl()->autograd->output : 0;
      },
      "Which result of its node a tensor is.", py::arg("tensor"));
  m.def("next_sequence", &NextSequence, "The number that the next recorded call will have.");
  m.def(
      "exchange_history_floor",
      [](const py::object& floor) {
        const bool pair = py::isinstance<py::tuple>(floor);
        const auto unasked = (pair ? py::object(floor[py::int_(0)]) : floor).cast<uint64_t>();
        const auto asked = (pair ? py::object(floor[py::int_(1)]) : floor).cast<uint64_t>();
        const HistoryFloor before = ExchangeHistoryFloor({unasked, asked});
        return py::make_tuple(before.unasked, before.asked);
      },
      "Take what calls recorded before a number made for constants, on this thread; of two numbers the second is for "
      "calls that a tape alone recorded. Returns both former numbers.",
      py::arg("floor"));
  m.def(
      "is_recorded",
      [](py::handle leaf) {
        const AutogradMeta* meta = TensorIn(leaf, "is_recorded").impl()->autograd.get();
        return meta && meta->accumulator;
      },
      "Whether a living recorded call used a leaf.", py::arg("leaf"));
}

}  // namespace

void RegisterAutograd(py::module_& m) {
  RegisterNode(m);
  RegisterSaved(m);
  RegisterBackward(m);
  RegisterHooks(m);
  RegisterHistory(m);
}

}  // namespace dragon::python

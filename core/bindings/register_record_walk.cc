// Records of a KPLRecord file, one after the other, seen from Python.
#include <optional>
#include <utility>

#include "core/bindings/record_reading.h"

namespace dragon::python {

namespace {

/// The blocks of some records that rise, each read when the one before was given out.
class Walk {
 public:
  /// `fail`: called with what is wrong and where; it raises.
  Walk(const py::object& source, uint64_t file_size, const py::bytes& places, uint8_t kind, py::object unpack,
       py::object fail)
      : source_(SourceOf(source)),
        file_size_(file_size),
        places_(PlacesOf(places)),
        kind_(kind),
        unpack_(std::move(unpack)),
        fail_(std::move(fail)) {}

  /// A new reference; null at the end, or with an error.
  PyObject* Next() {
    if (busy_) throw ValueError("KPLRecord").Got("a walk that another thread is in").Expected("a walk for each");
    if (done_) return nullptr;
    const Busy busy(&busy_);
    try {
      if (!block_ || next_ == block_->records().size()) {
        if (!ReadBlock()) return nullptr;
      }
      return ValueOf(block_->records()[next_++], memory_, kind_, unpack_).release().ptr();
    } catch (const RecordTrouble& trouble) {
      done_ = true;
      fail_(trouble.what, trouble.offset);
      throw;
    }
  }

 private:
  struct Busy {
    explicit Busy(bool* busy) : busy_(busy) { *busy_ = true; }
    Busy(const Busy&) = delete;
    ~Busy() { *busy_ = false; }
    bool* busy_;
  };

  bool ReadBlock() {
    if (first_ == places_.size()) {
      done_ = true;
      return false;
    }
    const std::span<const RecordPlace> rest(places_.data() + first_, places_.size() - first_);
    const size_t count = RecordBlock::CountTogether(rest);
    const WithoutGil free;
    block_.reset();
    block_.emplace(*source_, file_size_, rest.first(count), &memory_);
    first_ += count, next_ = 0;
    return true;
  }

  std::unique_ptr<ByteSource> source_;
  uint64_t file_size_;
  std::vector<RecordPlace> places_;
  uint8_t kind_;
  py::object unpack_, fail_;
  RecordMemory memory_;
  std::optional<RecordBlock> block_;
  size_t first_ = 0, next_ = 0;  ///< of the places not yet read; of the records not yet given out
  bool busy_ = false, done_ = false;
};

// A raw type: the dispatch of pybind11's would take as long as a small record.
struct PyWalk {
  PyObject_HEAD Walk* walk;
};

PyObject* NextOfWalk(PyObject* self) {
  return Guarded([&] { return Self<PyWalk>(self)->walk->Next(); });
}

void FreeWalk(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  delete Self<PyWalk>(self)->walk;
  type->tp_free(self);
  Py_DECREF(type);
}

PyTypeObject* WalkType() {
  static PyType_Slot slots[] = {{Py_tp_iter, reinterpret_cast<void*>(PyObject_SelfIter)},
                                {Py_tp_iternext, reinterpret_cast<void*>(NextOfWalk)},
                                {Py_tp_dealloc, reinterpret_cast<void*>(FreeWalk)},
                                {0, nullptr}};
  static PyType_Spec spec = {"dragon._C.RecordWalk", sizeof(PyWalk), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  static PyObject* type = PyType_FromSpec(&spec);
  if (!type) throw py::error_already_set();
  return Self<PyTypeObject>(type);
}

py::object WalkRecords(py::object source, uint64_t file_size, py::bytes places, uint8_t kind, py::object unpack,
                       py::object fail) {
  auto walk = std::make_unique<Walk>(source, file_size, places, kind, std::move(unpack), std::move(fail));
  PyTypeObject* type = WalkType();
  auto* made = NewInstance<PyWalk>(type);
  if (!made) throw py::error_already_set();
  made->walk = walk.release();
  return py::reinterpret_steal<py::object>(Upcast(made));
}

}  // namespace

void RegisterRecordWalk(py::module_& m) {
  m.def("kpl_walk", WalkRecords,
        "The values of records at rising places of a file, one after the other; `fail` is called with what is wrong "
        "and where, and raises.",
        py::arg("source"), py::arg("size"), py::arg("places"), py::arg("kind"), py::arg("unpack"), py::arg("fail"));
}

}  // namespace dragon::python

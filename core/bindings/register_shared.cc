// Tensors over memory that several processes see: how workers hand over batches without copying them.
#include <memory>
#include <mutex>
#include <unordered_map>

#include "core/bindings/python.h"
#include "core/device/shared.h"

namespace dragon::python {

namespace {

using Block = std::shared_ptr<SharedBlock>;

/// The blocks under living tensors, by address.
struct Books {
  std::mutex mutex;
  std::unordered_map<void*, std::weak_ptr<SharedBlock>> blocks;
};
Books& TheBooks() {
  static auto* books = new Books;
  return *books;
}

Block Enter(SharedBlock block) {
  const auto shared = std::make_shared<SharedBlock>(std::move(block));
  Books& books = TheBooks();
  std::lock_guard<std::mutex> lock(books.mutex);
  std::erase_if(books.blocks, [](const auto& entry) { return entry.second.expired(); });
  books.blocks[shared->data()] = shared;
  return shared;
}

Block Create(size_t bytes, const py::object& name) {
  return Enter(name.is_none() ? SharedBlock::Create(bytes) : SharedBlock::CreateNamed(name.cast<std::string>(), bytes));
}

Block Open(const py::object& handle, size_t bytes) {
  if (py::isinstance<py::str>(handle)) return Enter(SharedBlock::Open(handle.cast<std::string>(), bytes));
  return Enter(SharedBlock::Open(handle.cast<int>(), bytes));
}

/// A tensor over a part of a block; the block lives as long as the tensor.
Tensor TensorOver(const Block& block, const Dims& shape, DType dtype, int64_t offset) {
  const int64_t bytes = CheckedNumel("shared_tensor", shape, ItemSize(dtype)) * ItemSize(dtype);
  if (offset < 0 || offset % ItemSize(dtype) || bytes > static_cast<int64_t>(block->bytes()) - offset) {
    throw ValueError("shared_tensor")
        .Got("shape ", shape, " of ", dtype, " at byte ", offset, " of a block of ", block->bytes())
        .Expected("a place within the block, at a multiple of the item size");
  }
  return Tensor::Borrow(static_cast<char*>(block->data()) + offset, shape, ContiguousStrides(shape), dtype, Device{},
                        [block] {});
}

PyObject* WrapAs(const Tensor& tensor, const py::object& tensor_class) {
  return Wrap(tensor, tensor_class.is_none() ? FrontendOf(&TensorType) : FrontendIn(tensor_class, "shared_tensor"));
}

}  // namespace

void RegisterShared(py::module_& m) {
  py::class_<SharedBlock, Block>(m, "SharedBlock", "Memory that several processes see; send its descriptor or name.")
      .def(py::init(&Create), py::arg("bytes"), py::arg("name") = py::none())
      .def_static("open", &Open, "Map a block that another process made, by name or descriptor.", py::arg("handle"),
                  py::arg("bytes"))
      .def_static("unlink", &SharedBlock::Unlink, "Remove a name; those who mapped the block keep it.", py::arg("name"))
      .def_property_readonly("bytes", &SharedBlock::bytes)
      .def_property_readonly("descriptor", &SharedBlock::descriptor)
      .def_property_readonly("name", &SharedBlock::name, "Empty for a block without a name.")
      .def_property_readonly("address", [](const SharedBlock& b) { return reinterpret_cast<uintptr_t>(b.data()); })
      .def(
          "tensor",
          [](const Block& block, const py::object& shape, const py::object& dtype, int64_t offset,
             const py::object& tensor_class) {
            const Place place{"shared_tensor", nullptr};
            const Tensor tensor =
                TensorOver(block, ParseDims(shape.ptr(), place), ParseDType(dtype.ptr(), place), offset);
            return py::reinterpret_steal<py::object>(WrapAs(tensor, tensor_class));
          },
          "Return a row-major tensor over the block, from a byte on.", py::arg("shape"), py::arg("dtype"),
          py::arg("offset") = 0, py::arg("tensor_class") = py::none());
  m.def(
      "shared_tensor",
      [](const py::object& shape, const py::object& dtype, const py::object& name, const py::object& tensor_class) {
        const Place place{"shared_tensor", nullptr};
        const Dims sizes = ParseDims(shape.ptr(), place);
        const DType type = ParseDType(dtype.ptr(), place);
        const Block block = Create(CheckedNumel("shared_tensor", sizes, ItemSize(type)) * ItemSize(type), name);
        return py::reinterpret_steal<py::object>(WrapAs(TensorOver(block, sizes, type, 0), tensor_class));
      },
      "Return a tensor of zeros in a new shared block.", py::arg("shape"), py::arg("dtype"),
      py::arg("name") = py::none(), py::arg("tensor_class") = py::none());
  m.def(
      "shared_block_of",
      [](const py::object& tensor) -> py::object {
        const Tensor& x = TensorIn(tensor, "shared_block_of");
        if (!x.impl()->storage || !x.device().is_cpu()) return py::none();
        const char* start = static_cast<const char*>(x.impl()->storage->Read());
        Books& books = TheBooks();
        std::lock_guard<std::mutex> lock(books.mutex);
        for (const auto& [address, entry] : books.blocks) {
          const Block block = entry.lock();
          const char* first = static_cast<const char*>(address);
          if (!block || start < first || start >= first + std::max<size_t>(block->bytes(), 1)) continue;
          return py::make_tuple(py::cast(block), start - first + x.offset() * x.item_size());
        }
        return py::none();
      },
      "Return (block, byte of the first element) for a tensor in shared memory, else None.", py::arg("tensor"));
}

}  // namespace dragon::python

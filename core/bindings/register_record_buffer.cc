// What KPLRecord files are written through, seen from Python.
#include <pybind11/numpy.h>

#include "core/bindings/python.h"
#include "core/bindings/record_bodies.h"
#include "core/io/record_buffer.h"

namespace dragon::python {

namespace {

/// A buffer, and whether somebody is in it: classes that tell themselves what they hold may ask their writer again.
struct OpenBuffer {
  explicit OpenBuffer(uint64_t at) : frames(at) {}

  RecordBuffer frames;
  bool busy = false;
};

/// One frame: it is whole, or nothing of it is there.
class Frame {
 public:
  explicit Frame(OpenBuffer& buffer) : buffer_(buffer) {
    if (buffer.busy) {
      throw RuntimeError("KPLRecordWriter").Got("a sample while another one is written").Expected("one at a time");
    }
    buffer.frames.Begin();
    buffer.busy = true;
  }
  Frame(const Frame&) = delete;
  ~Frame() {
    buffer_.busy = false;
    if (!ended_) buffer_.frames.Drop();
  }
  void End(uint8_t kind, uint8_t packing, uint64_t size) {
    const auto end = [&] { buffer_.frames.End(static_cast<RecordHead::Kind>(kind), packing, size); };
    if (buffer_.frames.body().size() >= kWorthLeavingTheLock) {
      const WithoutGil free;
      end();
    } else {
      end();
    }
    ended_ = true;
  }

 private:
  OpenBuffer& buffer_;
  bool ended_ = false;
};

std::span<const uint8_t> SpanOf(const py::bytes& bytes) {
  const std::string_view view = bytes;
  return {reinterpret_cast<const uint8_t*>(view.data()), view.size()};
}

py::bytes BytesOf(std::span<const uint8_t> bytes) {
  return py::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

/// The size of the frame.
uint64_t PutValue(OpenBuffer& buffer, uint8_t kind, py::object value) {
  Frame frame(buffer);
  PutRecordBody(value.ptr(), &buffer.frames);
  const size_t size = buffer.frames.body().size();
  frame.End(kind, 0, size);
  return RecordHead::kSize + size;
}

void PutPacked(OpenBuffer& buffer, uint8_t kind, uint8_t packing, uint64_t size, py::bytes body) {
  Frame frame(buffer);
  buffer.frames.Raw(SpanOf(body));
  frame.End(kind, packing, size);
}

void PutRaw(OpenBuffer& buffer, py::bytes bytes) {
  if (buffer.busy) throw RuntimeError("KPLRecordWriter").Got("bytes within a sample").Expected("bytes between them");
  buffer.frames.Raw(SpanOf(bytes));
}

/// A memoryview that keeps its bytes; they serve again once it is gone.
py::object Take(OpenBuffer& buffer) {
  if (buffer.busy) throw RuntimeError("KPLRecordWriter").Got("a flush within a sample").Expected("one between them");
  auto* taken = new RecordBytes(buffer.frames.Take());
  const py::capsule keeper(taken, [](void* bytes) { delete static_cast<RecordBytes*>(bytes); });
  const py::array_t<uint8_t> array(static_cast<py::ssize_t>(taken->size), taken->bytes.get(), keeper);
  return py::memoryview(array);
}

py::bytes PlacesOfSamples(OpenBuffer& buffer) {
  const auto& places = buffer.frames.samples();
  return BytesOf({reinterpret_cast<const uint8_t*>(places.data()), places.size() * sizeof(RecordPlace)});
}

py::bytes EncodeBody(py::object value) {
  OpenBuffer buffer(0);
  Frame frame(buffer);
  PutRecordBody(value.ptr(), &buffer.frames);
  return BytesOf(buffer.frames.body());
}

std::unique_ptr<OpenBuffer> MakeBuffer(uint64_t at, py::bytes places) {
  auto buffer = std::make_unique<OpenBuffer>(at);
  const auto given = SpanOf(places);
  if (given.size() % sizeof(RecordPlace))
    throw ValueError("RecordBuffer").Got(given.size(), " bytes").Expected("pairs");
  buffer->frames.samples().resize(given.size() / sizeof(RecordPlace));
  std::memcpy(buffer->frames.samples().data(), given.data(), given.size());
  return buffer;
}

}  // namespace

void RegisterRecordBuffer(py::module_& m) {
  py::class_<OpenBuffer>(m, "RecordBuffer",
                         "Frames of a KPLRecord file that wait to be written, and where samples lie.")
      .def(py::init(&MakeBuffer), "Begin at a place of a file, behind samples at some places.", py::arg("at") = 0,
           py::arg("places") = py::bytes())
      .def("put", &PutValue, "Add a value as a frame of some kind; returns its size.", py::arg("kind"),
           py::arg("value"))
      .def("put_packed", &PutPacked, "Add a body, of so many bytes once it is unpacked.", py::arg("kind"),
           py::arg("packing"), py::arg("size"), py::arg("body"))
      .def("put_raw", &PutRaw, "Add bytes as they are.", py::arg("bytes"))
      .def("take", &Take, "All bytes that wait, as a memoryview.")
      .def("places", &PlacesOfSamples, "Places and sizes of all samples: two numbers of 64 bits each.")
      .def_property_readonly(
          "at", [](const OpenBuffer& buffer) { return buffer.frames.at(); },
          "The place in the file of what comes next.")
      .def_property_readonly(
          "waiting", [](const OpenBuffer& buffer) { return buffer.frames.size(); }, "How many bytes wait.")
      .def("__len__", [](OpenBuffer& buffer) { return buffer.frames.samples().size(); });
  m.def("kpl_encode", EncodeBody, "A value as the body of a record.", py::arg("value"));
}

}  // namespace dragon::python

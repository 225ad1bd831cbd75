// Pictures on their way from files and arrays into batches, seen from Python.
#include <pybind11/stl.h>

#include <array>
#include <deque>

#include "core/bindings/python.h"
#include "core/io/picture.h"

namespace dragon::python {

namespace {

/// Bytes or an array of uint8, held while they are read or written.
class HeldPixels {
 public:
  HeldPixels(py::handle object, int flags) {
    if (PyObject_GetBuffer(object.ptr(), &view_, flags)) throw py::error_already_set();
  }
  ~HeldPixels() { PyBuffer_Release(&view_); }
  HeldPixels(const HeldPixels&) = delete;
  HeldPixels& operator=(const HeldPixels&) = delete;
  const Py_buffer& view() const { return view_; }
  std::span<uint8_t> bytes() const { return {static_cast<uint8_t*>(view_.buf), static_cast<size_t>(view_.len)}; }

 private:
  Py_buffer view_;
};

PictureRegion ParseRegion(py::handle region) {
  if (region.is_none()) return {};
  const auto sizes = region.cast<std::array<int, 4>>();
  PictureRegion parsed{sizes[0], sizes[1], sizes[2], sizes[3]};
  // An empty region is the whole picture to the engine, and a mistake to whoever names one.
  if (parsed.height < 1 || parsed.width < 1) {
    throw ValueError("picture")
        .Got("a region of ", sizes[2], " x ", sizes[3], " pixels")
        .Expected("at least one pixel");
  }
  return parsed;
}

PictureFilter ParseFilter(const std::string& name) {
  constexpr std::array<const char*, 6> kNames = {"nearest", "box", "bilinear", "hamming", "bicubic", "lanczos"};
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (name == kNames[i]) return static_cast<PictureFilter>(i);
  }
  throw ValueError("filter").Got(name).Expected("nearest, box, bilinear, hamming, bicubic or lanczos");
}

DType ParseNumbers(const std::string& name) {
  if (name == "uint8") return DType::kUInt8;
  if (name == "float16") return DType::kFloat16;
  if (name == "float32") return DType::kFloat32;
  throw ValueError("dtype").Got(name).Expected("uint8, float16 or float32");
}

PictureBatch MakeBatch(std::array<int, 2> size, int channels, bool channels_first, const std::string& dtype,
                       const std::string& filter, bool antialias, bool fast, std::array<float, 4> scale,
                       std::array<float, 4> shift, std::array<float, 4> fill, int64_t most_pixels) {
  if (size[0] < 1 || size[1] < 1) {
    throw ValueError("size").Got(size[0], " x ", size[1]).Expected("at least 1 x 1");
  }
  if (channels != 1 && channels != 3 && channels != 4) {
    throw ValueError("channels").Got(channels).Expected("1, 3 or 4");
  }
  if (int64_t{size[0]} * size[1] > INT32_MAX) {
    throw ValueError("size").Got(size[0], " x ", size[1]).Expected("at most ", INT32_MAX, " pixels");
  }
  PictureBatch batch;
  batch.height = size[0], batch.width = size[1], batch.channels = channels, batch.channels_first = channels_first;
  batch.dtype = ParseNumbers(dtype), batch.filter = ParseFilter(filter);
  batch.antialias = antialias, batch.fast = fast, batch.limits.pixels = most_pixels;
  std::copy(scale.begin(), scale.end(), batch.scale);
  std::copy(shift.begin(), shift.end(), batch.shift);
  std::copy(fill.begin(), fill.end(), batch.fill);
  return batch;
}

/// A sample is (bytes or array, region or None, 1 for mirrored plus 2 for upside down, matrix or None, box or None,
/// place or None).
struct HeldSamples {
  std::deque<HeldPixels> buffers;
  std::deque<std::array<float, 12>> matrices;
  std::vector<PictureSample> samples;

  void Add(const py::tuple& given) {
    PictureSample sample;
    const Py_buffer& view = buffers.emplace_back(given[0], PyBUF_STRIDED_RO).view();
    if (view.itemsize != 1) throw TypeError("picture").Got("items of ", view.itemsize, " bytes").Expected("uint8");
    if (view.ndim == 1 && (view.shape[0] < 2 || view.strides[0] == 1)) {
      sample.bytes = buffers.back().bytes();
    } else if (view.ndim == 2 || view.ndim == 3) {
      sample.rows = static_cast<const uint8_t*>(view.buf);
      sample.height = Checked(view.shape[0]), sample.width = Checked(view.shape[1]);
      sample.channels = view.ndim == 3 ? Checked(view.shape[2]) : 1;
      sample.row_stride = view.strides[0], sample.pixel_stride = view.strides[1];
      sample.channel_stride = view.ndim == 3 ? view.strides[2] : 1;
    } else {
      throw ValueError("picture").Got(view.ndim, " axes").Expected("the bytes of a file, or [height, width, channels]");
    }
    sample.region = ParseRegion(given[1]);
    const int flips = given[2].cast<int>();
    sample.mirror = flips & 1, sample.upside_down = flips & 2;
    if (!given[3].is_none()) sample.matrix = matrices.emplace_back(given[3].cast<std::array<float, 12>>()).data();
    if (!given[4].is_none()) {
      const auto box = given[4].cast<std::array<double, 4>>();
      sample.box = {box[0], box[1], box[2], box[3]};
    }
    sample.place = ParseRegion(given[5]);
    samples.push_back(sample);
  }
  static int Checked(Py_ssize_t size) {
    if (size > INT32_MAX) throw ValueError("picture").Got("a side of ", size, " pixels").Expected("fewer");
    return static_cast<int>(size);
  }
};

/// [(number of the sample, what is wrong with it)] of those that could not be written.
py::list WriteBatch(const PictureBatch& batch, const JpegLibrary* library, const py::object& given,
                    const py::object& out, int threads) {
  HeldSamples held;
  for (py::handle sample : TupleOf(given, "picture")) held.Add(TupleIn(sample, "picture", 6));
  const HeldPixels to(out, PyBUF_WRITABLE);
  const auto needed = static_cast<int64_t>(held.samples.size()) * batch.bytes_each();
  if (static_cast<int64_t>(to.bytes().size()) < needed) {
    throw ValueError("out").Got(to.bytes().size(), " bytes").Expected("at least ", needed);
  }
  std::vector<std::string> troubles;
  {
    WithoutGil outside;
    troubles = WritePictures(library, held.samples, batch, to.bytes().data(), threads);
  }
  py::list found;
  for (size_t b = 0; b < troubles.size(); ++b) {
    if (!troubles[b].empty()) found.append(py::make_tuple(b, troubles[b]));
  }
  return found;
}

void Decode(const JpegLibrary& library, const py::object& data, const py::object& out, int channels,
            const py::object& region, int shrink, bool fancy, bool quick, bool around, bool recover, bool cut_inks,
            double enough, int64_t most_pixels, int most_scans, int64_t most_memory) {
  const HeldPixels bytes(data, PyBUF_SIMPLE), to(out, PyBUF_WRITABLE);
  if (channels != 1 && channels != 3 && channels != 4) {
    throw ValueError("channels").Got(channels).Expected("1, 3 or 4");
  }
  if (shrink != 1 && shrink != 2 && shrink != 4 && shrink != 8) {
    throw ValueError("shrink").Got(shrink).Expected("1, 2, 4 or 8");
  }
  const JpegOptions options{channels, ParseRegion(region), shrink, fancy, quick, around, recover, cut_inks, enough};
  WithoutGil outside;
  DecodeJpeg(library, bytes.bytes(), options, {most_pixels, most_scans, most_memory}, to.bytes());
}

}  // namespace

void RegisterPictures(py::module_& m) {
  const JpegLimits limits;
  py::class_<JpegHead>(m, "JpegHead", "What a JPEG file says of itself before its pixels.")
      .def(py::init([](const py::object& data) { return ReadJpegHead(HeldPixels(data, PyBUF_SIMPLE).bytes()); }),
           py::arg("data"))
      .def_readonly("width", &JpegHead::width)
      .def_readonly("height", &JpegHead::height)
      .def_readonly("components", &JpegHead::components)
      .def_readonly("bits", &JpegHead::bits)
      .def_readonly("frame", &JpegHead::frame)
      .def_readonly("orientation", &JpegHead::orientation);
  py::class_<JpegLibrary>(m, "JpegLibrary", "A libjpeg that was found at run time.")
      .def(py::init<const std::string&>(), py::arg("path"))
      .def_property_readonly("path", &JpegLibrary::path)
      .def_property_readonly("version", &JpegLibrary::version)
      .def_property_readonly("has_regions", &JpegLibrary::has_regions)
      .def("decode", Decode, "Write the pixels of a file, or of a region of it, to `out`.", py::arg("data"),
           py::arg("out"), py::arg("channels") = 3, py::arg("region") = py::none(), py::arg("shrink") = 1,
           py::arg("fancy") = true, py::arg("quick") = false, py::arg("around") = true, py::arg("recover") = false,
           py::arg("cut_inks") = false, py::arg("enough") = 1.0, py::arg("most_pixels") = limits.pixels,
           py::arg("most_scans") = limits.scans, py::arg("most_memory") = limits.memory);
  py::class_<PictureBatch>(m, "PictureBatch", "What pictures become on their way into a batch.")
      .def(py::init(&MakeBatch), py::arg("size"), py::arg("channels") = 3, py::arg("channels_first") = true,
           py::arg("dtype") = "float32", py::arg("filter") = "bilinear", py::arg("antialias") = true,
           py::arg("fast") = false, py::arg("scale") = std::array<float, 4>{1, 1, 1, 1},
           py::arg("shift") = std::array<float, 4>{}, py::arg("fill") = std::array<float, 4>{},
           py::arg("most_pixels") = limits.pixels)
      .def_property_readonly("bytes_each", &PictureBatch::bytes_each)
      .def("write", WriteBatch, "Write samples to `out`; the numbers and troubles of those that could not be.",
           py::arg("library").none(true), py::arg("samples"), py::arg("out"), py::arg("threads") = 1);
}

}  // namespace dragon::python

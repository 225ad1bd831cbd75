// Tensors from nothing: constants, ramps, identity matrices, and the triangles of given ones.
#include <cmath>

#include "core/framework/infer.h"
#include "core/framework/number.h"
#include "core/framework/op.h"
#include "core/kernels/array.h"
#include "core/ops/fill.h"

namespace dragon {
namespace {

/// Sizes are checked against the widest dtype: nobody has memory for the difference.
constexpr int64_t kLargestItem = 16;

const std::string kOptions = "dtype? dtype=None, device? device=None) -> Tensor";

/// The dtype of what a number makes when none is asked for: floats and complex numbers follow the default.
DType DTypeOfNumber(const Value& value) {
  const DType own = value.number_dtype();
  if (own == DType::kFloat64) return DefaultDType();
  return own == DType::kComplex128 ? ComplexDType(DefaultDType()) : own;
}
void SetDevice(Infer& i) {
  if (i.Given("device")) i.device = i.attr("device").device();
}

Operator& Creation(const std::string& begin, const char* doc) {
  return DefineOp(begin + ", *, " + kOptions).Doc(doc).NotDifferentiable();
}
Operator& OfShape(const char* name, const char* doc, int value) {
  Operator& op = Creation(std::string(name) + "(int[] shape", doc).Infers([](Infer& i) {
    CheckedNumel(i.name(), i.Ints("shape"), kLargestItem);
    i.y(0, i.Ints("shape"), i.DTypeOr("dtype", DefaultDType()));
    SetDevice(i);
  });
  return op.TakesKept().Runs([value](Run& r) {
    if (value >= 0) Fill(r.ctx(), r.out(), Value(value));
  });
}
void InferLike(Infer& i) {
  InferSame(i);
  i.outputs[0].dtype = i.DTypeOr("dtype", i.x(0).dtype());
  SetDevice(i);
}
Operator& Like(const char* name, const char* doc, int value) {
  Operator& op = Creation(std::string(name) + "(Tensor x", doc).Pointwise().Infers(InferLike);
  return op.TakesKept().Runs([value](Run& r) {
    if (value >= 0) Fill(r.ctx(), r.out(), Value(value));
  });
}

void DefineConstants() {
  OfShape("empty", "Memory of a shape, with whatever is in it.", -1);
  OfShape("zeros", "All 0.", 0);
  OfShape("ones", "All 1.", 1);
  Like("empty_like", "Memory like that of x, with whatever is in it.", -1);
  Like("zeros_like", "All 0, of the shape of x.", 0);
  Like("ones_like", "All 1, of the shape of x.", 1);
  Creation("full(int[] shape, Scalar value", "One number everywhere.")
      .Infers([](Infer& i) {
        CheckedNumel(i.name(), i.Ints("shape"), kLargestItem);
        i.y(0, i.Ints("shape"), i.DTypeOr("dtype", DTypeOfNumber(i.attr("value"))));
        RequireNumber(i.name(), i.outputs[0].dtype, i.attr("value"));
        SetDevice(i);
      })
      .TakesKept()
      .Runs([](Run& r) { Fill(r.ctx(), r.out(), r.attr("value")); });
  Creation("full_like(Tensor x, Scalar value", "One number everywhere, in the shape of x.")
      .Pointwise()
      .Infers([](Infer& i) {
        InferLike(i);
        RequireNumber(i.name(), i.outputs[0].dtype, i.attr("value"));
      })
      .TakesKept()
      .Runs([](Run& r) { Fill(r.ctx(), r.out(), r.attr("value")); });
  DefineOp("fill(Tensor x, Scalar value) -> Tensor")
      .Doc("x with every number replaced by one.")
      .Pointwise()
      .Infers([](Infer& i) {
        InferSame(i);
        RequireNumber(i.name(), i.outputs[0].dtype, i.attr("value"));
      })
      .TakesKept()
      .Runs([](Run& r) { Fill(r.ctx(), r.out(), r.attr("value")); })
      .Gradient("", [](Grad& g) { g.dx(0, Op<"zeros">(g.x_shape(0), g.x_dtype(0), g.x_device(0))); });
  Creation("empty_strided(int[] shape, int[] strides", "Memory of a shape and strides, with whatever is in it.")
      .Infers([](Infer& i) {
        const Dims &shape = i.Ints("shape"), &strides = i.Ints("strides");
        CheckedNumel(i.name(), shape, kLargestItem);
        if (shape.size() != strides.size()) {
          throw ValueError(i.name()).Got("shape ", shape, " and strides ", strides).Expected("as many of both");
        }
        for (int64_t stride : strides) {
          if (stride < 0) throw ValueError(i.name()).Got("strides ", strides).Expected("strides of at least 0");
        }
        i.y(0, shape, i.DTypeOr("dtype", DefaultDType()));
        i.outputs[0].strides = strides;
        SetDevice(i);
      })
      .TakesKept()
      .Runs([](Run&) {});
}

/// start, stop and step of a range, with a lone number standing for stop.
struct Range {
  Value start, stop, step;
  bool whole;

  explicit Range(const CallReader& c) : start(c.attr("start")), stop(c.attr("stop")), step(c.attr("step")) {
    if (stop.is_none()) stop = std::exchange(start, Value(0));
    whole = true;
    for (Value* value : {&start, &stop, &step}) {
      if (value->kind() == Value::Kind::kComplex) {
        throw TypeError(c.name()).Got(value->str()).Expected("real numbers");
      }
      if (!std::isfinite(value->real())) throw ValueError(c.name()).Got(value->str()).Expected("finite numbers");
      if (IsIntegral(c.DTypeOr("dtype", DType::kFloat32))) RequireNumber(c.name(), DType::kInt64, *value);
      // PyTorch counts a range of int64 by its ends cut to integers.
      if (c.DTypeOr("dtype", DType::kFloat32) == DType::kInt64 && std::fabs(value->real()) < 0x1p63)
        *value = value->integer();
      whole &= value->kind() != Value::Kind::kDouble;
    }
    if (step.real() == 0) throw ValueError(c.name()).Got("step ", step.str()).Expected("a step that is not 0");
    if ((step.real() > 0) != (stop.real() >= start.real()) && stop.real() != start.real()) {
      throw ValueError(c.name())
          .Got("start ", start.str(), ", stop ", stop.str(), " and step ", step.str())
          .Expected("a step in the direction from start to stop");
    }
  }
  int64_t Count(const char* who) const {
    double count;
    if (whole) {
      // The difference of any two int64 fits 128 bits.
      const __int128 span = static_cast<__int128>(stop.integer()) - start.integer(), by = step.integer();
      count = static_cast<double>((span + by + (by > 0 ? -1 : 1)) / by);
      if (count < 0x1p53) return static_cast<int64_t>((span + by + (by > 0 ? -1 : 1)) / by);
    } else {
      count = std::ceil((stop.real() - start.real()) / step.real());
    }
    if (count >= 0x1p62) throw ValueError(who).Got("a range of ", count, " numbers").Expected("fewer");
    return static_cast<int64_t>(count);
  }
};
kernels::RampPoint PointOf(const Value& value) {
  const double limit = 0x1p63;
  const bool fits = std::abs(value.real()) < limit;
  return {value.real(), value.kind() == Value::Kind::kDouble && !fits ? 0 : value.integer()};
}

/// An end of evenly spaced numbers as the dtype has it: integers are cut and wrapped before they are spaced.
complex128 EndIn(DType dtype, const Value& end) {
  return IsIntegral(dtype) ? Tensor::Scalar(end, dtype).Item().complex() : end.complex();
}

int64_t CheckSteps(const CallReader& c) {
  if (c.Int("steps") < 0) throw ValueError(c.name()).Got("steps ", c.Int("steps")).Expected("at least 0");
  CheckedNumel(c.name(), {c.Int("steps")}, kLargestItem);
  return c.Int("steps");
}

void DefineRamps() {
  Creation("arange(Scalar start, Scalar? stop=None, Scalar step=1",
           "Numbers from start (0 if only one is given) to before stop, step apart.")
      .Infers([](Infer& i) {
        const Range range(i);
        i.y(0, {range.Count(i.name())}, i.DTypeOr("dtype", range.whole ? DType::kInt64 : DefaultDType()));
        SetDevice(i);
      })
      .Runs([](Run& r) {
        const Range range(r);
        kernels::Ramp(r.ctx(), r.y().dtype(), r.out(), PointOf(range.start), PointOf(range.step));
      });
  Creation("linspace(Scalar start, Scalar stop, int steps", "Evenly spaced numbers, both ends included.")
      .Infers([](Infer& i) {
        const bool complex =
            i.attr("start").kind() == Value::Kind::kComplex || i.attr("stop").kind() == Value::Kind::kComplex;
        i.y(0, {CheckSteps(i)}, i.DTypeOr("dtype", complex ? ComplexDType(DefaultDType()) : DefaultDType()));
        for (const Value& end : {i.attr("start"), i.attr("stop")}) {
          if (i.Int("steps") > 1) RequireNumber(i.name(), i.outputs[0].dtype, end);
        }
        SetDevice(i);
      })
      .Runs([](Run& r) {
        const DType dtype = r.y().dtype();
        kernels::Linspace(r.ctx(), dtype, r.out(), EndIn(dtype, r.attr("start")), EndIn(dtype, r.attr("stop")));
      });
  Creation("logspace(Scalar start, Scalar stop, int steps, float base=10.0",
           "base to the power of evenly spaced numbers.")
      .Infers([](Infer& i) {
        i.y(0, {CheckSteps(i)}, i.DTypeOr("dtype", DefaultDType()));
        SetDevice(i);
      })
      .Runs([](Run& r) {
        kernels::Logspace(r.ctx(), r.y().dtype(), r.out(), r.Real("start"), r.Real("stop"), r.Real("base"));
      });
}

Operator& Triangle(const char* name, const char* doc, bool upper) {
  return DefineOp(std::string(name) + "(Tensor x, int diagonal=0) -> Tensor")
      .Doc(doc)
      .Batches(Batching::kRows)
      .Infers([](Infer& i) {
        if (i.x(0).ndim() < 2) throw ValueError(i.name()).Got("shape ", i.x(0).shape()).Expected("at least two axes");
        i.y(0, i.x(0).shape(), i.x(0).dtype());
      })
      .Runs([upper](Run& r) {
        kernels::Copy(r.ctx(), r.dtype(), r.out(), r.in(0));
        kernels::KeepTriangle(r.ctx(), r.dtype(), r.out(), r.Int("diagonal"), upper);
      });
}

void DefineMatrices() {
  DefineOp("eye(int n, int? m=None, *, " + kOptions)
      .Doc("Ones on the diagonal of n rows and m (or n) columns.")
      .NotDifferentiable()
      .Infers([](Infer& i) {
        const Dims shape{i.Int("n"), i.Given("m") ? i.Int("m") : i.Int("n")};
        CheckedNumel(i.name(), shape, kLargestItem);
        i.y(0, shape, i.DTypeOr("dtype", DefaultDType()));
        SetDevice(i);
      })
      .Runs([](Run& r) {
        View y = r.out();
        Fill(r.ctx(), y, Value(0));
        const int64_t length = std::min(y.dim(0), y.dim(1)), stride = y.dim(1) + 1;
        Fill(r.ctx(), View{y.data, &length, &stride, length, 1, y.dtype}, Value(1));
      });
  Triangle("tril", "x with zeros above a diagonal.", /*upper=*/false).Gradient("", [](Grad& g) {
    g.dx(0, Op<"tril">(g.dy(), g.Int("diagonal")));
  });
  Triangle("triu", "x with zeros below a diagonal.", /*upper=*/true).Gradient("", [](Grad& g) {
    g.dx(0, Op<"triu">(g.dy(), g.Int("diagonal")));
  });
}

[[maybe_unused]] const bool creation_defined = (DefineConstants(), DefineRamps(), DefineMatrices(), true);

}  // namespace
}  // namespace dragon

// The pointwise plan: random shapes, strides, broadcasts and dtypes through `RunEach`, against one element at a time.
#include "core/kernels/plan.h"

#include <algorithm>
#include <cstring>
#include <random>

#include "core/kernels/array.h"
#include "tests/cpp/check.h"

namespace dragon {

namespace {

using kernels::Loop;

constexpr DType kSums[] = {DType::kFloat32, DType::kFloat32, DType::kFloat32};
void AddFloats(const void*, int64_t n, void* const* data) {
  auto* y = static_cast<float*>(data[0]);
  const auto *a = static_cast<const float*>(data[1]), *b = static_cast<const float*>(data[2]);
  for (int64_t i = 0; i < n; ++i) y[i] = a[i] + b[i];
}
constexpr Loop kAdd{&AddFloats, kSums, 3, 1, 1};

class Dice {
 public:
  int Roll(int low, int high) { return std::uniform_int_distribution<int>(low, high)(engine_); }
  template <typename T>
  void Shuffle(std::vector<T>& items) {
    std::shuffle(items.begin(), items.end(), engine_);
  }

 private:
  std::mt19937 engine_{7};
};

/// A view over memory of its own, with gaps and permuted axes, holding small whole numbers.
struct Operand {
  Dims shape, strides;
  std::vector<char> memory;
  View view;

  Operand(Dice& dice, Dims the_shape, DType dtype) : shape(std::move(the_shape)) {
    const int ndim = shape.size();
    std::vector<int> order(ndim);
    for (int i = 0; i < ndim; ++i) order[i] = i;
    if (dice.Roll(0, 1)) dice.Shuffle(order);
    strides = Dims::Filled(ndim, 0);
    int64_t extent = dice.Roll(1, 2), numel = 1;
    for (int i = ndim - 1; i >= 0; --i) {
      strides[order[i]] = extent;
      extent = extent * std::max<int64_t>(shape[order[i]], 1) + (dice.Roll(0, 4) == 0);
    }
    for (int64_t size : shape) numel *= size;
    memory.resize(extent * ItemSize(dtype));
    view = View{memory.data(), shape.data(), strides.data(), numel, ndim, dtype};
    for (int64_t i = 0; i < extent; ++i) Write(i, dice.Roll(-20, 20));
  }
  Operand(const Operand&) = delete;

  void Write(int64_t i, int value) {
    switch (view.dtype) {
      case DType::kFloat16:
        view.as<float16>()[i] = float16(static_cast<float>(value));
        return;
      case DType::kInt32:
        view.as<int32_t>()[i] = value;
        return;
      case DType::kFloat64:
        view.as<double>()[i] = value;
        return;
      default:
        view.as<float>()[i] = static_cast<float>(value);
    }
  }
  double Read(const std::vector<int64_t>& index) const {
    const int shift = static_cast<int>(index.size()) - view.ndim;
    int64_t at = 0;
    for (int axis = 0; axis < view.ndim; ++axis) at += shape[axis] == 1 ? 0 : index[axis + shift] * strides[axis];
    switch (view.dtype) {
      case DType::kFloat16:
        return view.as<float16>()[at];
      case DType::kInt32:
        return view.as<int32_t>()[at];
      case DType::kFloat64:
        return view.as<double>()[at];
      default:
        return view.as<float>()[at];
    }
  }
};

Dims RandomShape(Dice& dice, int round) {
  Dims shape;
  for (int axis = dice.Roll(0, 5); axis > 0; --axis) shape.push_back(dice.Roll(0, 25) == 0 ? 0 : dice.Roll(1, 9));
  if (round % 20 == 0) shape.push_back(dice.Roll(1000, 3000));
  if (round % 50 == 0) shape = {dice.Roll(100, 400), dice.Roll(200, 400)};
  return shape;
}
Dims Narrowed(Dice& dice, Dims shape) {
  while (shape.size() > 0 && dice.Roll(0, 5) == 0) shape.erase(0);
  for (int64_t& size : shape) size = dice.Roll(0, 4) == 0 ? 1 : size;
  return dice.Roll(0, 8) == 0 ? Dims{} : shape;
}

bool Next(std::vector<int64_t>& index, const Dims& shape) {
  for (int axis = shape.size() - 1; axis >= 0; --axis) {
    if (++index[axis] < shape[axis]) return true;
    index[axis] = 0;
  }
  return false;
}

DType RandomDType(Dice& dice) {
  constexpr DType kOthers[] = {DType::kFloat16, DType::kInt32, DType::kFloat64};
  return dice.Roll(0, 2) ? DType::kFloat32 : kOthers[dice.Roll(0, 2)];
}

}  // namespace

TEST(AnyOperandsMeetElementByElement) {
  Dice dice;
  for (int round = 0; round < 600; ++round) {
    const Dims shape = RandomShape(dice, round);
    const Operand y(dice, shape, RandomDType(dice));
    const Operand a(dice, Narrowed(dice, shape), RandomDType(dice)), b(dice, Narrowed(dice, shape), RandomDType(dice));
    const View* const views[] = {&y.view, &a.view, &b.view};
    kernels::RunEach(kAdd, nullptr, views);
    if (y.view.numel == 0) continue;
    std::vector<int64_t> index(shape.size(), 0);
    do {
      CHECK(y.Read(index) == a.Read(index) + b.Read(index));
    } while (Next(index, shape));
  }
}

TEST(TransposedCopiesMoveEveryElement) {
  Dice dice;
  for (int round = 0; round < 200; ++round) {
    Dims shape{dice.Roll(1, 90), dice.Roll(1, 90)};
    if (round % 3 == 0) shape.push_back(dice.Roll(1, 20));
    const DType dtype = RandomDType(dice);
    const Operand y(dice, shape, dtype), x(dice, shape, dtype);
    Context host;
    kernels::Copy(host, dtype, y.view, x.view);
    std::vector<int64_t> index(shape.size(), 0);
    do {
      CHECK(y.Read(index) == x.Read(index));
    } while (Next(index, shape));
  }
}

TEST(InPlaceReadsBeforeItWrites) {
  std::vector<float> numbers(5000, 3.0f);
  const int64_t size = 5000, stride = 1;
  const View x{numbers.data(), &size, &stride, size, 1, DType::kFloat32};
  const View* const views[] = {&x, &x, &x};
  kernels::RunEach(kAdd, nullptr, views);
  CHECK(std::all_of(numbers.begin(), numbers.end(), [](float number) { return number == 6.0f; }));
}

TEST(ShapesThatDoNotBroadcastAreRefused) {
  Dice dice;
  const Operand y(dice, {2, 3}, DType::kFloat32), wide(dice, {4}, DType::kFloat32),
      deep(dice, {1, 2, 3}, DType::kFloat32);
  for (const Operand* wrong : {&wide, &deep}) {
    bool refused = false;
    const View* const views[] = {&y.view, &y.view, &wrong->view};
    try {
      kernels::RunEach(kAdd, nullptr, views);
    } catch (const ValueError&) {
      refused = true;
    }
    CHECK(refused);
  }
}

}  // namespace dragon

TEST_MAIN()

// What several threads may do at the same time: run one program, read one tensor, go back through one graph. Built with
// ThreadSanitizer by `make sanitize-threads`, as all of `tests/cpp` is with the other two by `make sanitize`.
#include <atomic>
#include <thread>

#include "core/framework/autograd/backward.h"
#include "core/framework/layout.h"
#include "core/framework/op.h"
#include "core/runtime/program.h"
#include "core/runtime/tensor_form.h"
#include "tests/cpp/check.h"

namespace dragon {
namespace {

constexpr int kThreads = 6;

/// Numbers first, first + 1...
Tensor Ramp(const Dims& shape, float first) {
  const Tensor x = Tensor::Empty(shape, DType::kFloat32);
  auto* numbers = static_cast<float*>(x.mutable_data());
  for (int64_t i = 0; i < x.numel(); ++i) numbers[i] = static_cast<float>(i) + first;
  return x;
}

/// Have threads begin a body, which is given a number, at about the same time; what one throws is thrown here.
template <typename F>
void Together(F&& body) {
  std::atomic<int> ready{0};
  std::vector<std::exception_ptr> failures(kThreads);
  std::vector<std::thread> threads;
  for (int number = 0; number < kThreads; ++number) {
    threads.emplace_back([&, number] {
      ready.fetch_add(1);
      while (ready.load() < kThreads) std::this_thread::yield();
      try {
        body(number);
      } catch (...) {
        failures[number] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

float At(const Tensor& x, int64_t i) { return static_cast<const float*>(x.data())[i]; }

Capture Record(const Tensor& x, bool differentiates) {
  Trace trace;
  trace.AddInput(x);
  trace.Start();
  const std::vector<Tensor> results = {Op<"sum">((x * x + 1.0) * x, Dims{1}, false)};
  trace.Stop();
  Capture capture = trace.Finish(results);
  if (differentiates) capture.backward = trace.Differentiate(results, capture);
  return capture;
}

/// A tensor whose strides were the engine's choice: rows lie where columns would.
Tensor FreelyLaid(int64_t rows, int64_t columns) {
  const Tensor x = Tensor::EmptyStrided({rows, columns}, {1, rows}, DType::kFloat32);
  auto* numbers = static_cast<float*>(x.mutable_data());
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) numbers[i + j * rows] = static_cast<float>(i * columns + j);
  }
  x.impl()->free_layout = true;
  return x;
}

}  // namespace

TEST(OneProgramServesAllThreads) {
  const Tensor example = Ramp({3, 5}, 0);
  example.set_requires_grad(true);
  Program program(Record(example, /*differentiates=*/true), {});
  Together([&](int number) {
    for (int round = 0; round < 50; ++round) {
      const auto first = static_cast<float>(number * 100 + round);
      const Tensor x = Ramp({3, 5}, first);
      x.set_requires_grad(true);
      const Tensor y = program.Run(std::vector<Tensor>{x})[0];
      float wanted = 0;
      for (int i = 0; i < 5; ++i) wanted += (At(x, i) * At(x, i) + 1) * At(x, i);
      CHECK(std::abs(At(y, 0) - wanted) <= 1e-5f * wanted + 1e-3f);
      Backward({Op<"sum">(y, Dims{0}, false)}, {Tensor()}, {});
      CHECK(std::abs(At(x.grad(), 1) - (3 * At(x, 1) * At(x, 1) + 1)) <= 1e-5f * At(x.grad(), 1) + 1e-3f);
    }
  });
}

TEST(ATensorIsMovedWhileOthersReadIt) {
  for (int round = 0; round < 100; ++round) {
    const Tensor x = FreelyLaid(7, 9);
    Together([&](int number) {
      const Tensor y = number % 2 == 0 ? Op<"reshape">(x, Dims{63}) : x + 0.0;
      const Tensor rows = Op<"to_row_major">(y);
      for (int64_t i = 0; i < 63; ++i) CHECK(At(rows, i) == static_cast<float>(i));
      CHECK(At(Op<"to_row_major">(x.Detach()), 11) == 11);
    });
    CHECK(x.is_contiguous() && !x.impl()->free_layout && x.impl()->layout_readers == 0);
  }
}

TEST(AnInputIsMovedWhileProgramsReadIt) {
  Program program(Record(FreelyLaid(7, 9), /*differentiates=*/false), {});
  const TensorForm form(FreelyLaid(7, 9));
  for (int round = 0; round < 50; ++round) {
    const Tensor x = FreelyLaid(7, 9);
    Together([&](int number) {
      if (number % 2 == 0) return x.Settle();
      if (!form.Fits(x)) return;  // it was moved before
      Tensor y;
      try {
        y = program.Run(std::vector<Tensor>{x})[0];
      } catch (const InputMoved&) {
        return;
      }
      for (int64_t i = 0; i < 7; ++i) {
        float wanted = 0;
        for (int64_t j = i * 9; j < i * 9 + 9; ++j) wanted += static_cast<float>((j * j + 1) * j);
        CHECK(std::abs(At(y, i) - wanted) <= 1e-5f * wanted);
      }
    });
  }
}

TEST(AReaderMayMoveWhatItReads) {
  const Tensor x = FreelyLaid(4, 4);
  {
    const LayoutReaders reading(x);
    x.Settle();
    CHECK(x.is_contiguous());
  }
  CHECK(x.impl()->layout_readers == 0 && At(x, 6) == 6);
}

TEST(PassesMeetInALeaf) {
  const Tensor leaf = Ramp({40}, 0);
  leaf.set_requires_grad(true);
  Together([&](int number) {
    for (int round = 0; round < 20; ++round) {
      Backward({Op<"sum">(leaf * static_cast<double>(number + 1), Dims{0}, false)}, {Tensor()}, {});
    }
  });
  CHECK(At(leaf.grad(), 7) == 20 * kThreads * (kThreads + 1) / 2);
}

TEST(AViewsHistoryIsFoundByAll) {
  for (int round = 0; round < 50; ++round) {
    const Tensor leaf = Ramp({6}, 1);
    leaf.set_requires_grad(true);
    const Tensor base = leaf * 1.0;
    const Tensor view = Op<"select">(base, 0, 2);
    OpInto<"mul">(base, base, Ramp({6}, 1));  // the view's history is another one now
    Together([&](int) { CHECK(view.requires_grad() && !view.is_leaf()); });
  }
}

}  // namespace dragon

TEST_MAIN()

// The ground floor: numbers of 16 bits, complex numbers, short lists, error messages.
#include <cmath>
#include <limits>

#include "core/base/complex.h"
#include "core/base/dims.h"
#include "core/base/error.h"
#include "core/base/half.h"
#include "tests/cpp/check.h"

namespace dragon {

template <typename Half>
void EverySurvivesAFloat() {
  for (uint32_t word = 0; word <= 0xFFFF; ++word) {
    Half value;
    value.bits = static_cast<uint16_t>(word);
    const float wide = value;
    if (std::isnan(wide)) {
      CHECK(std::isnan(static_cast<float>(Half(wide))));
    } else {
      CHECK(Half(wide).bits == value.bits);
    }
  }
}

TEST(EveryHalfSurvivesAFloat) {
  EverySurvivesAFloat<float16>();
  EverySurvivesAFloat<bfloat16>();
}

TEST(HalvesRoundToEven) {
  CHECK(float16(1.0f + 0x1p-11f).bits == float16(1.0f).bits);  // a tie goes to the even neighbour
  CHECK(float16(1.0f + 0x1.8p-10f).bits == float16(1.0f + 0x1p-9f).bits);
  CHECK(bfloat16(1.0f + 0x1p-8f).bits == bfloat16(1.0f).bits);
  CHECK(std::isinf(static_cast<float>(float16(65520.0f))));
  CHECK(static_cast<float>(float16(65519.0f)) == 65504.0f);
  CHECK(static_cast<float>(float16(0x1p-24f)) == 0x1p-24f);
  CHECK(std::signbit(static_cast<float>(float16(-0.0f))));
}

TEST(ComplexDivisionDoesNotOverflow) {
  const double big = std::numeric_limits<double>::max() / 1e4;
  const complex128 one = complex128(big, big) / complex128(big, big);
  CHECK(std::abs(one.re - 1.0) < 1e-15 && one.im == 0.0);
}

TEST(DimsGrowPastTheirInlineRoom) {
  Dims dims;
  for (int64_t i = 0; i < 20; ++i) dims.push_back(i * i);
  const Dims copy = dims;
  dims = Dims{1, 2};
  CHECK(copy.size() == 20 && copy[19] == 361);
  CHECK(dims.size() == 2 && dims[1] == 2);
}

TEST(ErrorsSayWhoGotAndExpected) {
  const ValueError error = ValueError("concat").Got(Dims{2, 3}).Expected("equal sizes outside axis ", 1);
  CHECK(std::string(error.what()) == "concat: got (2, 3), expected equal sizes outside axis 1");
  CHECK_THROWS(throw TypeError("add").Got(DType::kBool), TypeError, "bool");
}

}  // namespace dragon

TEST_MAIN()

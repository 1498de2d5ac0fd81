// The device's normal numbers and the host's are the same, bit for bit: the kernels' own text on the simulator.

#include "verify/processes/normal_numbers.hpp"

#include <cstring>

#include "base/bfloat.hpp"
#include "base/half.hpp"
#include "base/normal.hpp"
#include "verify/testing/backend_fixture.hpp"

namespace kw {
namespace {

using namespace backend_test;  // NOLINT: a test's own vocabulary

constexpr int k_count = 1 << 17;
constexpr std::uint64_t k_key = 0xfedcba9876543210ULL;

/// Kernels with the arguments that a plan can have: the tables are a buffer, and the key is two whole numbers.
std::string text_with_kernels() {
  std::string text(normal_numbers_text());
  for (const auto& [type, element] :
       {std::pair{"f32", "Word"}, {"f16", "unsigned short"}, {"bf16", "unsigned short"}}) {
    text += fmt::format(R"(
extern "C" __global__ void k_draw_{0}(const float2* tables, {1}* out, int low, int high, int count) {{
  const Long key = (Long)(Word)high << 32 | (Word)low;
  for (Long i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {{
    out[i] = ({1})stored_{0}(number_at(tables, key, i));
  }}
}}
)",
                        type, element);
  }
  return text;
}

class NormalNumbersTest : public BackendTest {
 protected:
  static void SetUpTestSuite() {
    BackendOptions options;
    options.device_id = "sim";
    options.target = "cuda";
    auto opened = open_process_backend(options);
    if (opened) backend_ = *std::move(opened);
  }
  void SetUp() override {
    if (backend_ == nullptr) GTEST_SKIP() << "SKIP: there is no simulator here (it needs g++)";
  }

  /// The bytes that a kernel makes, after the host's tables.
  static std::vector<std::byte> drawn(const std::string& type) {
    const std::int64_t bytes = std::int64_t{k_count} * (type == "f32" ? 4 : 2);
    const DType dtype = type == "f32" ? DType::f32 : type == "f16" ? DType::f16 : DType::bf16;
    const LaunchPlan plan =
        plan_with({input("tables", sizeof(NormalTables)), {"out", BufferRole::output, dtype, bytes}},
                  {launch_of("k_draw_" + type, 8, 128,
                             {BufferArg{0}, BufferArg{1}, IntArg{static_cast<std::int32_t>(k_key)},
                              IntArg{static_cast<std::int32_t>(k_key >> 32)}, IntArg{k_count}})});
    auto process = start(text_with_kernels(), {plan});
    if (process == nullptr) return {};
    std::memcpy(process->buffer(0).data(), &normal_tables(), sizeof(NormalTables));
    EXPECT_EQ(fate(process->launch(false, k_ample)), "ran");
    const auto made = process->buffer(1);
    return {made.begin(), made.end()};
  }
  static std::vector<float> of_the_host() {
    std::vector<float> values(k_count);
    fill_normal(values, k_key);
    return values;
  }
  static void expect_halves(const std::string& type, std::uint16_t (*bits_of)(float)) {
    const auto made = drawn(type);
    ASSERT_EQ(made.size(), std::size_t{2} * k_count);
    const auto values = of_the_host();
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::uint16_t bits = 0;
      std::memcpy(&bits, made.data() + 2 * i, sizeof bits);
      ASSERT_EQ(bits, bits_of(values[i])) << type << " at " << i;
    }
  }
};

TEST_F(NormalNumbersTest, are_the_hosts_in_f32) {
  const auto made = drawn("f32");
  const auto values = of_the_host();
  ASSERT_EQ(made.size(), values.size() * sizeof(float));
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(std::memcmp(made.data() + sizeof(float) * i, &values[i], sizeof(float)), 0) << i;
  }
}

TEST_F(NormalNumbersTest, are_the_hosts_in_f16_and_bf16) {
  expect_halves("f16", half_bits);
  expect_halves("bf16", bfloat_bits);
}

}  // namespace
}  // namespace kw

// A device's random tensors and the host's are the same, bit for bit: the kernels' own text on the simulator.

#include "verify/processes/number_kernels.hpp"

#include <bit>
#include <cstring>

#include "base/bfloat.hpp"
#include "base/half.hpp"
#include "base/normal.hpp"
#include "base/random_tensor.hpp"
#include "verify/checking/storage.hpp"
#include "verify/testing/backend_fixture.hpp"

namespace kw {
namespace {

using namespace backend_test;  // NOLINT: a test's own vocabulary

using Numbers = DrawRule::Numbers;
using RowScales = DrawRule::RowScales;

constexpr int k_count = 1 << 17;
constexpr std::uint64_t k_key = 0xfedcba9876543210ULL;
const RandomTensor k_normal{{}, k_key};

/// Kernels with the arguments that a plan can have: the tables and the tensor's words are buffers.
std::string text_with_kernels() {
  std::string text(number_kernels_text());
  for (const auto& [type, element] :
       {std::pair{"f32", "Word"}, {"f16", "unsigned short"}, {"bf16", "unsigned short"}}) {
    text += fmt::format(R"(
extern "C" __global__ void k_draw_some_{0}(const float2* tables, const Long* w, const {1}* firsts, {1}* out, int count,
                                           int has_firsts) {{
  const Tensor tensor = {{w[0], w[1], w[2], w[3], w[4], w[5], w[6]}};
  for (Long i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {{
    out[i] = drawn_{0}(tables, tensor, has_firsts != 0 ? firsts : nullptr, i);
  }}
}}
extern "C" __global__ void k_count_{0}(const {1}* in, Long* counts, int pattern, int count) {{
  if (blockIdx.x == 0 && threadIdx.x < 2) counts[threadIdx.x] = 0;
  __syncthreads();
  count_useless_{0}(in, count, (Word)pattern, counts);
}}
)",
                        type, element);
  }
  return text;
}

class NumberKernelsTest : public BackendTest {
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

  /// The bytes that a kernel makes, after the host's tables; with the first elements of rows where there are any.
  static std::vector<std::byte> drawn(const std::string& type, const RandomTensor& tensor,
                                      const std::vector<std::byte>& firsts = {}) {
    const std::int64_t bytes = std::int64_t{k_count} * (type == "f32" ? 4 : 2);
    const DType dtype = type == "f32" ? DType::f32 : type == "f16" ? DType::f16 : DType::bf16;
    const LaunchPlan plan =
        plan_with({input("tables", sizeof(NormalTables)),
                   input("words", sizeof words_of(tensor)),
                   {"firsts", BufferRole::input, dtype, std::max<std::int64_t>(std::ssize(firsts), 4)},
                   {"out", BufferRole::output, dtype, bytes}},
                  {launch_of("k_draw_some_" + type, 8, 128,
                             {BufferArg{0}, BufferArg{1}, BufferArg{2}, BufferArg{3}, IntArg{k_count},
                              IntArg{firsts.empty() ? 0 : 1}})});
    auto process = start(text_with_kernels(), {plan});
    if (process == nullptr) return {};
    std::memcpy(process->buffer(0).data(), &normal_tables(), sizeof(NormalTables));
    const auto words = words_of(tensor);
    std::memcpy(process->buffer(1).data(), words.data(), sizeof words);
    std::ranges::copy(firsts, process->buffer(2).begin());
    EXPECT_EQ(fate(process->launch(false, k_ample)), "ran");
    const auto made = process->buffer(3);
    return {made.begin(), made.end()};
  }
  static std::vector<float> of_the_host(const RandomTensor& tensor) {
    std::vector<float> values(k_count);
    fill_random(values, tensor);
    return values;
  }
  template <typename Bits>
  static void expect_counts(const std::string& type, const std::vector<Bits>& output, std::uint32_t pattern,
                            std::uint64_t unwritten, std::uint64_t nans) {
    const DType dtype = type == "f32" ? DType::f32 : type == "f16" ? DType::f16 : DType::bf16;
    const auto count = static_cast<std::int32_t>(output.size());
    const LaunchPlan plan =
        plan_with({{"in", BufferRole::input, dtype, std::ssize(output) * std::int64_t{sizeof(Bits)}},
                   {"counts", BufferRole::output, DType::i32, 16}},
                  {launch_of("k_count_" + type, 1, 128,
                             {BufferArg{0}, BufferArg{1}, IntArg{static_cast<std::int32_t>(pattern)}, IntArg{count}})});
    auto process = start(text_with_kernels(), {plan});
    ASSERT_NE(process, nullptr);
    std::memcpy(process->buffer(0).data(), output.data(), output.size() * sizeof(Bits));
    ASSERT_EQ(fate(process->launch(false, k_ample)), "ran");
    std::uint64_t counts[2] = {};
    std::memcpy(counts, process->buffer(1).data(), sizeof counts);
    EXPECT_EQ(counts[0], unwritten) << type;
    EXPECT_EQ(counts[1], nans) << type;
  }
  static void expect_floats(const RandomTensor& tensor) {
    const auto made = drawn("f32", tensor);
    const auto values = of_the_host(tensor);
    ASSERT_EQ(made.size(), values.size() * sizeof(float));
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, made.data() + sizeof bits * i, sizeof bits);
      ASSERT_EQ(bits, std::bit_cast<std::uint32_t>(values[i]))
          << i << " of rule " << testing::PrintToString(words_of(tensor));
    }
  }
  static void expect_halves(const std::string& type, std::uint16_t (*bits_of)(float), const RandomTensor& tensor) {
    const auto made = drawn(type, tensor);
    ASSERT_EQ(made.size(), std::size_t{2} * k_count);
    const auto values = of_the_host(tensor);
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::uint16_t bits = 0;
      std::memcpy(&bits, made.data() + 2 * i, sizeof bits);
      ASSERT_EQ(bits, bits_of(values[i])) << type << " at " << i;
    }
  }
};

/// Some elements hold the pattern, some are NaN and some infinite, the others are numbers.
template <typename Bits>
std::vector<Bits> output_of(std::uint32_t pattern, Bits nan, Bits infinity) {
  std::vector<Bits> bits(1001, Bits{0x11});
  for (const std::size_t i : {4U, 7U, 1000U}) bits[i] = poison_at<Bits>(pattern, i);
  for (const std::size_t i : {5U, 600U}) bits[i] = nan;
  bits[9] = infinity;
  return bits;
}

TEST_F(NumberKernelsTest, draw_the_hosts_normal_numbers_in_f16_and_bf16) {
  expect_halves("f16", half_bits, k_normal);
  expect_halves("bf16", bfloat_bits, k_normal);
}

/// Rows that end within a pair of numbers, and a sequence that ends within a tensor.
TEST_F(NumberKernelsTest, draw_the_hosts_tensors_of_every_rule) {
  for (const auto numbers : {Numbers::normal, Numbers::uniform}) {
    for (const auto rows : {RowScales::alike, RowScales::spikes, RowScales::growing}) {
      for (const std::int64_t sequence : {1, 2, 977}) {
        const RandomTensor tensor{{numbers, rows, 0.7F, 0.3F, -1.1F}, k_key, 37, sequence};
        expect_floats(tensor);
      }
    }
  }
  expect_floats(k_normal);
  expect_halves("f16", half_bits, {{Numbers::normal, RowScales::growing, 3000.0F}, k_key, 37, 977});
  expect_halves("bf16", bfloat_bits, {{Numbers::uniform, RowScales::spikes}, k_key, 37, 977});
}

/// The last row ends within the tensor.
TEST_F(NumberKernelsTest, put_the_first_elements_of_rows_where_they_are_given) {
  const RandomTensor tensor{{}, k_key, 37, 977};
  const std::vector<float> firsts(k_count / 37 + 1, -0.375F);
  std::vector<float> values = of_the_host(tensor);
  for (std::size_t i = 0; i < values.size(); i += 37) values[i] = -0.375F;
  for (const auto& [type, dtype] : {std::pair{"f32", DType::f32}, {"f16", DType::f16}, {"bf16", DType::bf16}}) {
    EXPECT_EQ(drawn(type, tensor, stored(dtype, firsts)), stored(dtype, values)) << type;
  }
}

TEST_F(NumberKernelsTest, come_with_counts_of_what_is_no_answer) {
  constexpr std::uint32_t k_number_pattern = 0x3c013c02U;  // two different halves, neither of them NaN
  expect_counts("f32", output_of<std::uint32_t>(k_number_pattern, 0x7fc00001U, 0x7f800000U), k_number_pattern, 3, 2);
  expect_counts("f16", output_of<std::uint16_t>(k_number_pattern, 0xfe01U, 0x7c00U), k_number_pattern, 3, 2);
  expect_counts("bf16", output_of<std::uint16_t>(k_number_pattern, 0x7fc1U, 0xff80U), k_number_pattern, 3, 2);
  constexpr std::uint32_t k_nan_pattern = 0xffe5ffe5U;
  expect_counts("bf16", output_of<std::uint16_t>(k_nan_pattern, 0x7fc1U, 0xff80U), k_nan_pattern, 3, 5);
}

}  // namespace
}  // namespace kw

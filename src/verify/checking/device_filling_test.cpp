#include "verify/checking/device_filling.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "base/random_tensor.hpp"
#include "verify/checking/storage.hpp"
#include "verify/testing/test_problem.hpp"

namespace kw {
namespace {

constexpr std::size_t k_q = 0, k_k = 1, k_o = 3, k_scratch = 4;

Problem long_queries() {
  auto problem = parse_problem(R"(
name = "test/long_queries"
op = "attention"
description = "queries that are worth filling, keys that are not"
[axes]
B = 1
Hq = 8
Sq = 4096
Skv = 64
D = 64
[attention]
dtype = "bf16"
[[workload]]
name = "odd"
role = "edge"
Sq = 7
)",
                               "long_queries.toml");
  KW_CHECK(problem.has_value(), "{}", problem.error().to_string());
  return *std::move(problem);
}

LaunchPlan plan_of_long_queries() {
  constexpr std::int64_t k_long = std::int64_t{4} << 20;
  LaunchPlan plan;
  plan.buffers = {{"Q", BufferRole::input, DType::bf16, k_long},
                  {"K", BufferRole::input, DType::bf16, k_long / 64},
                  {"V", BufferRole::input, DType::bf16, k_long / 64},
                  {"O", BufferRole::output, DType::bf16, k_long},
                  {"sums", BufferRole::scratch, DType::f32, 2 * k_long}};
  return plan;
}

/// A process whose device has memory of its own and fills it, and whose kernel is a function of that.
class FillingProcess final : public KernelProcess {
 public:
  using Memory = std::vector<std::vector<std::byte>>;

  explicit FillingProcess(const LaunchPlan& plan) : plan_(plan) {
    for (const auto& buffer : plan.buffers) arena_.emplace_back(static_cast<std::size_t>(buffer.bytes));
  }
  Result<void> select(std::size_t) override { return {}; }
  [[nodiscard]] std::span<std::byte> buffer(std::size_t index) override { return arena_[index]; }
  [[nodiscard]] std::vector<std::span<std::byte>> guards() override { return {}; }
  [[nodiscard]] bool fills_buffers() const override { return fills; }

  std::variant<LaunchOutcome, LaunchFailure, LostWorker> launch(bool cold, Duration deadline) override {
    return launch_filled({}, cold, deadline);
  }
  std::variant<LaunchOutcome, LaunchFailure, LostWorker> launch_filled(const LaunchFilling& filling, bool,
                                                                       Duration) override {
    asked = filling;
    memory = arena_;
    for (const BufferFill& fill : filling.fills) fill_one(fill);
    const Memory before = memory;
    kernel(memory);
    LaunchOutcome outcome{1, 1};
    for (const BufferFill& fill : filling.fills) {
      const auto index = static_cast<std::size_t>(fill.buffer);
      const bool changed = fill.with == BufferFilling::random && memory[index] != before[index];
      if (changed && tells) outcome.changed.push_back(fill.buffer);
    }
    for (const std::int64_t buffer : filling.counted) {
      if (counts) outcome.useless.push_back({buffer + renumbers, unwritten_in(static_cast<std::size_t>(buffer)), nans});
    }
    bring_back(filling);
    return outcome;
  }

  bool fills = true;
  bool tells = true;  ///< of buffers that were changed
  bool counts = true;
  std::int64_t renumbers = 0;  ///< by how much it is off in what it says it has counted
  std::int64_t nans = 0;       ///< that it says are in outputs
  std::function<void(Memory&)> kernel = [](Memory&) {};
  LaunchFilling asked;
  Memory memory;

 private:
  [[nodiscard]] std::int64_t unwritten_in(std::size_t buffer) const {
    std::int64_t unwritten = 0;
    for (std::size_t i = 0; i < memory[buffer].size() / 2; ++i) {
      unwritten += is_poison(DType::bf16, memory[buffer], k_nan_poison.outputs, i) ? 1 : 0;
    }
    return unwritten;
  }
  void fill_one(const BufferFill& fill) {
    const auto index = static_cast<std::size_t>(fill.buffer);
    if (fill.with == BufferFilling::pattern) {
      return fill_poison(memory[index], static_cast<std::uint32_t>(fill.pattern));
    }
    std::vector<float> numbers(memory[index].size() / 2);
    fill_random(numbers, fill.tensor);
    if (fill.has_firsts) {
      const auto length = static_cast<std::size_t>(fill.tensor.row_length);
      const auto firsts = stored_values(DType::bf16, std::span(arena_[index]).first(numbers.size() / length * 2));
      for (std::size_t row = 0; row < firsts.size(); ++row) numbers[row * length] = static_cast<float>(firsts[row]);
    }
    round_to(DType::bf16, numbers);
    memory[index] = stored(DType::bf16, numbers);
  }
  void bring_back(const LaunchFilling& filling) {
    for (std::size_t i = 0; i < memory.size(); ++i) {
      if (!is_filled(filling, i)) arena_[i] = memory[i];
    }
    for (const BufferPart& part : filling.returned) {
      const auto index = static_cast<std::size_t>(part.buffer);
      std::copy_n(memory[index].begin() + part.offset, part.bytes, arena_[index].begin() + part.offset);
    }
  }

  LaunchPlan plan_;
  Memory arena_;
};

class DeviceFilling : public ::testing::Test {
 protected:
  DeviceFilling() {
    auto drawn = make_inputs(problem_, problem_.primary(), Distribution::normal, 7);
    KW_CHECK(drawn.has_value(), "{}", drawn.error().to_string());
    one_.inputs = std::move(drawn->values);
    one_.random = std::move(drawn->random);
    loaded_.built.plans.push_back({plan_of_long_queries(), 0});
    auto process = std::make_unique<FillingProcess>(plan_of_long_queries());
    process_ = process.get();
    loaded_.process = std::move(process);
  }

  tl::expected<CaseRun, CaseFailure> run(CaseMode mode = {}) {
    const SteadyClock time;
    StepClock clock(time);
    return run_case(problem_, loaded_, one_, mode, clock);
  }
  /// As a buffer that was copied has it.
  [[nodiscard]] std::vector<std::byte> stored_input(std::size_t input) const {
    return stored(DType::bf16, one_.inputs[input]);
  }

  Problem problem_ = long_queries();
  CheckCase one_;
  LoadedCandidate loaded_{small_candidate("k"), {}, nullptr};
  FillingProcess* process_ = nullptr;
};

TEST_F(DeviceFilling, draws_large_inputs_and_poisons_large_outputs_and_copies_the_rest) {
  const auto ran = run();
  ASSERT_TRUE(ran) << ran.error().sentence;
  const std::vector<BufferFill> wanted = {{k_q, BufferFilling::random, 0, one_.random[k_q].value().tensor},
                                          {k_o, BufferFilling::pattern, std::int64_t{k_nan_poison.outputs}},
                                          {k_scratch, BufferFilling::pattern, std::int64_t{k_nan_poison.scratch}}};
  EXPECT_EQ(process_->asked.fills, wanted);
  EXPECT_EQ(process_->memory[k_q], stored_input(k_q)) << "what the device drew is what the oracle sees";
  EXPECT_EQ(process_->memory[k_k], stored_input(k_k));
  EXPECT_EQ(ran->outputs.at(0).size(), std::size_t{4} << 20);
  EXPECT_TRUE(is_poison(DType::bf16, ran->outputs.at(0), k_nan_poison.outputs, 77)) << "outputs come back whole";
}

TEST_F(DeviceFilling, hands_over_the_first_elements_of_rows_that_the_device_does_not_draw) {
  std::vector<float> firsts(one_.inputs[k_q].size() / 64);
  for (std::size_t row = 0; row < firsts.size(); ++row) firsts[row] = static_cast<float>(row % 256);
  set_first_of_rows(one_.inputs[k_q], firsts, 64, 0);
  one_.random[k_q]->firsts = std::make_shared<const std::vector<float>>(firsts);
  for (const bool again : {false, true}) {  // parts of the input have come back to where they lie
    CaseMode mode;
    mode.inputs_are_there = again;
    const auto ran = run(mode);
    ASSERT_TRUE(ran) << ran.error().sentence;
    EXPECT_TRUE(process_->asked.fills.front().has_firsts);
    EXPECT_EQ(process_->memory[k_q], stored_input(k_q));
  }
}

TEST_F(DeviceFilling, copies_inputs_that_are_no_numbers_of_a_key) {
  one_.random[k_q].reset();
  ASSERT_TRUE(run());
  EXPECT_FALSE(is_filled(process_->asked, k_q));
  EXPECT_EQ(process_->memory[k_q], stored_input(k_q));
}

TEST_F(DeviceFilling, leaves_contents_that_were_given_as_they_are) {
  BufferContents contents(5);
  contents[k_scratch].assign(std::size_t{8} << 20, std::byte{3});
  CaseMode mode;
  mode.contents = &contents;
  ASSERT_TRUE(run(mode));
  EXPECT_FALSE(is_filled(process_->asked, k_scratch));
  EXPECT_EQ(process_->memory[k_scratch], contents[k_scratch]);
}

TEST_F(DeviceFilling, asks_nothing_of_a_process_that_fills_no_buffers) {
  process_->fills = false;
  ASSERT_TRUE(run());
  EXPECT_TRUE(process_->asked.fills.empty());
  EXPECT_EQ(process_->memory[k_q], stored_input(k_q));
}

TEST_F(DeviceFilling, an_input_that_the_device_says_was_changed_is_refused) {
  process_->kernel = [](FillingProcess::Memory& memory) { memory[k_q][12345] ^= std::byte{1}; };
  const auto ran = run();
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().reason, Reason::input_modified);
  EXPECT_EQ(ran.error().sentence, "input Q was modified");
}

TEST_F(DeviceFilling, the_host_looks_at_parts_of_an_input_whatever_the_device_says) {
  process_->tells = false;
  process_->kernel = [](FillingProcess::Memory& memory) { fill_poison(memory[k_q], 0); };
  const auto ran = run();
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().reason, Reason::input_modified);
}

TEST_F(DeviceFilling, inputs_that_are_there_are_not_copied_again_and_compared_again) {
  process_->fills = false;
  ASSERT_TRUE(run());
  const std::vector<std::byte> kept = stored_input(k_k);
  CaseMode again;
  again.inputs_are_there = true;
  ASSERT_TRUE(run(again));
  EXPECT_EQ(process_->memory[k_k], kept);
  process_->buffer(k_k).back() ^= std::byte{1};
  const auto changed = run(again);
  ASSERT_FALSE(changed) << "nobody has written it anew";
  EXPECT_EQ(changed.error().sentence, "input K was modified");
  EXPECT_TRUE(run());
}

TEST_F(DeviceFilling, a_small_input_is_compared_whole) {
  process_->kernel = [](FillingProcess::Memory& memory) { memory[k_k].back() ^= std::byte{1}; };
  const auto ran = run();
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().sentence, "input K was modified");
}

/// What the oracle answered in the first and the last row of O.
std::vector<AnswerSample> first_and_last_row() {
  constexpr std::int64_t k_elements = std::int64_t{8} * 4096 * 64;
  AnswerSample sample;
  for (std::int64_t i = 0; i < 64; ++i) sample.elements.push_back(i);
  for (std::int64_t i = k_elements - 64; i < k_elements; ++i) sample.elements.push_back(i);
  sample.values.resize(sample.elements.size());
  return {sample};
}

TEST_F(DeviceFilling, brings_back_the_elements_that_are_looked_at_and_counts_the_others) {
  const auto looked_at = first_and_last_row();
  CaseMode mode;
  mode.looked_at = looked_at;
  process_->nans = 3;
  process_->kernel = [](FillingProcess::Memory& memory) {
    std::fill_n(memory[k_o].begin(), 100 * 128, std::byte{0x3f});
    memory[k_o].back() = std::byte{0x40};
  };
  const auto ran = run(mode);
  ASSERT_TRUE(ran) << ran.error().sentence;
  EXPECT_EQ(process_->asked.counted, std::vector<std::int64_t>{k_o});
  ASSERT_TRUE(ran->counted.at(0));
  EXPECT_EQ(ran->counted[0]->unwritten, 8 * 4096 * 64 - 100 * 64 - 1);
  EXPECT_EQ(ran->counted[0]->nans, 3);
  const auto& bytes = ran->outputs.at(0);
  EXPECT_EQ(bytes[127], std::byte{0x3f});
  EXPECT_EQ(bytes[128], std::byte{0}) << "the second row stayed where it was";
  EXPECT_EQ(bytes.back(), std::byte{0x40});
}

TEST_F(DeviceFilling, a_process_that_was_to_count_and_has_not_is_not_believed) {
  const auto looked_at = first_and_last_row();
  CaseMode mode;
  mode.looked_at = looked_at;
  process_->counts = false;
  const auto ran = run(mode);
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().reason, Reason::crashed);
  process_->counts = true;
  process_->renumbers = 1;
  const auto of_another = run(mode);
  ASSERT_FALSE(of_another);
  EXPECT_EQ(of_another.error().reason, Reason::crashed);
}

}  // namespace
}  // namespace kw

// Recurrent layers through the whole verifier, on this machine's processor and on the CUDA simulator.

#include <gtest/gtest.h>

#include "tests/programs/modules_on_processor.hpp"
#include "tests/programs/modules_on_simulator.hpp"

namespace kw {
namespace {

constexpr const char* k_in_a_block = "weights[k]";
constexpr const char* k_by_steps = "STEP_WARPS";

struct LayerCase {
  ModuleCase module;
  const char* text;  ///< that the kernel for GPUs has
  friend void PrintTo(const LayerCase& one, std::ostream* out) { *out << one.module.name; }
};

/// Features and sequences that no lanes divide.
const std::vector<LayerCase> k_layers = {
    {{"lstm", "self.m(x)[0]", "self.m = nn.LSTM(5, 7, batch_first=True)", "torch.randn(3, 6, 5)"}, k_in_a_block},
    {{"lstm_both_ways", "self.m(x)[0]", "self.m = nn.LSTM(5, 9, bidirectional=True)", "torch.randn(6, 3, 5)"},
     k_in_a_block},
    {{"lstm_with_its_states", "self.m(x, (more[0], more[1]))[1][1]", "self.m = nn.LSTM(4, 6, 2, bias=False)",
      "torch.randn(5, 2, 4), torch.randn(2, 2, 6), torch.randn(2, 2, 6)"},
     k_in_a_block},
    {{"lstm_of_f16", "self.m(x)[0]", "self.m = nn.LSTM(5, 7, dtype=torch.float16)", "torch.randn(4, 3, 5).half()"},
     k_in_a_block},
    {{"lstm_too_wide_for_registers", "self.m(x)[0]", "self.m = nn.LSTM(5, 113, batch_first=True, bidirectional=True)",
      "torch.randn(3, 3, 5)"},
     k_by_steps},
    {{"gru", "self.m(x)[0]", "self.m = nn.GRU(5, 33, 2, batch_first=True)", "torch.randn(2, 4, 5)"}, k_in_a_block},
    {{"gru_with_its_state", "self.m(x, more[0])[1]", "self.m = nn.GRU(5, 6, bidirectional=True)",
      "torch.randn(4, 2, 5), torch.randn(2, 2, 6)"},
     k_in_a_block},
    {{"gru_of_one_sequence", "self.m(x)[0]", "self.m = nn.GRU(5, 18)", "torch.randn(4, 5)"}, k_in_a_block},
    {{"gru_too_wide_for_registers", "self.m(x, more[0])[0]", "self.m = nn.GRU(5, 147)",
      "torch.randn(3, 18, 5), torch.randn(1, 18, 147)"},
     k_by_steps},
    {{"rnn", "self.m(x)[0]", "self.m = nn.RNN(5, 8, batch_first=True)", "torch.randn(9, 5, 5)"}, k_in_a_block},
    {{"rnn_of_relu", "self.m(x)[1]", "self.m = nn.RNN(5, 8, nonlinearity='relu', bidirectional=True)",
      "torch.randn(3, 2, 5)"},
     k_in_a_block},
    {{"rnn_too_wide_for_registers", "self.m(x)[0]", "self.m = nn.RNN(5, 211)", "torch.randn(3, 19, 5)"}, k_by_steps},
    {{"rnn_of_bf16", "self.m(x)[0]", "self.m = nn.RNN(5, 8, batch_first=True, dtype=torch.bfloat16)",
      "torch.randn(3, 2, 5, dtype=torch.bfloat16)"},
     k_by_steps},
    {{"gru_of_a_sequence_by_axes", "torch.relu(self.m(x * 0.5)[0])", "self.m = nn.GRU(C, W, batch_first=True)",
      "torch.randn(B, H, C)"},
     k_in_a_block},
};

std::string name_of(const testing::TestParamInfo<LayerCase>& one) {
  return one.param.module.name;
}

class RecurrencesOnCpu : public ModulesOnProcessor<LayerCase> {};

TEST_P(RecurrencesOnCpu, are_accepted) {
  const Problem read = problem(GetParam().module);
  expect_accepted(read, emitted(read));
  expect_accepted(read, device_->emitted(read, "plain"));
}

INSTANTIATE_TEST_SUITE_P(Layers, RecurrencesOnCpu, testing::ValuesIn(k_layers), name_of);

class RecurrencesOnSimulator : public ModulesOnSimulator<LayerCase> {};

TEST_P(RecurrencesOnSimulator, are_accepted) {
  const Problem read = problem(GetParam().module);
  const Bundle bundle = device_->emitted(read, "fused");
  expect_accepted_with(GetParam().text, read, bundle, {});
  expect_accepted_with(GetParam().text, read, bundle,
                       {{"STEP_WARPS", 1}, {"STEP_FEATURES", 2}, {"STEP_SEQUENCES", 4}, {"BLOCK_SEQUENCES", 2}});
  expect_accepted_with("__syncthreads", read, device_->emitted(read, "plain"), {});
}

INSTANTIATE_TEST_SUITE_P(Layers, RecurrencesOnSimulator, testing::ValuesIn(k_layers), name_of);

class WrongRecurrences : public ModulesOnSimulator<> {};

TEST_P(WrongRecurrences, are_rejected) {
  const Problem read = problem(GetParam());
  const Bundle bundle = device_->emitted(read, "fused");
  const bool by_steps = bundle.source.find(k_by_steps) != std::string::npos;
  const std::vector<Broken> everywhere = {{"another_bias", "+ known_0[part]", "- known_0[part]"},
                                          {"a_state_of_now", "+ step - 1)", "+ step)"},
                                          {"another_gate", "gate_0", "gate_1"}};
  const std::vector<Broken> of_steps = {{"not_all_lanes", "k += 32", "k += 64"},
                                        {"half_of_a_sum", "reach < 32", "reach < 16"},
                                        {"the_last_feature_missing", "first_feature >= ", "first_feature + 1 >= "}};
  const std::vector<Broken> of_blocks = {{"a_quarter_missing", "(parts[2] + parts[3])", "parts[2]"},
                                         {"the_first_state_again", "states[item][feature] = state;", ""},
                                         {"without_waiting", "__syncthreads();\n    #pragma unroll", "#pragma unroll"}};
  expect_rejected(read, bundle, everywhere);
  expect_rejected(read, bundle, by_steps ? of_steps : of_blocks);
}

INSTANTIATE_TEST_SUITE_P(
    Layers, WrongRecurrences,
    testing::Values(ModuleCase{"in_a_block", "self.m(x)[0]", "self.m = nn.LSTM(5, 17)", "torch.randn(4, 3, 5)"},
                    ModuleCase{"by_steps", "self.m(x)[0]", "self.m = nn.LSTM(5, 113)", "torch.randn(4, 3, 5)"}),
    [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace kw

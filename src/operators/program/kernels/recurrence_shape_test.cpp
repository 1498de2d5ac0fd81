#include "operators/program/kernels/recurrence_shape.hpp"

#include <gmock/gmock.h>

#include "program/reader/program_reader.hpp"
#include "program/stages/fuse.hpp"
#include "program/stages/lower.hpp"
#include "program/stages/rewrite.hpp"
#include "program/testing/module_text.hpp"

namespace kw {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

StageProgram stages_of(const std::string& layer) {
  const auto program = read_program(
      program_test::module_text("return self.m(x * 2)[0]", "torch.randn(4, 3, 5)", "self.m = " + layer), "m.py");
  EXPECT_TRUE(program.has_value()) << program.error().to_string();
  auto stages = lower(program->graph, program->outputs);
  EXPECT_TRUE(stages.has_value());
  return fused(*std::move(stages)).program;
}

/// Of each recurrence how many rows of the product a feature needs; 0 where it needs others in the same step.
std::vector<std::size_t> gates_of_all(const StageProgram& program) {
  std::vector<std::size_t> gates;
  for (const auto& stages : recurrences_of(program)) {
    const auto shape = StepShape::of(program, stages);
    gates.push_back(shape ? shape->gates().size() : 0);
  }
  return gates;
}

TEST(RecurrenceShape, has_the_gates_of_each_layer) {
  EXPECT_THAT(gates_of_all(stages_of("nn.LSTM(5, 7, 2)")), ElementsAre(4, 4));
  EXPECT_THAT(gates_of_all(stages_of("nn.GRU(5, 7, bidirectional=True)")), ElementsAre(3, 3));
  EXPECT_THAT(gates_of_all(stages_of("nn.RNN(5, 7)")), ElementsAre(1));
}

TEST(RecurrenceShape, stores_states_and_no_products) {
  const auto lstm = stages_of("nn.LSTM(5, 7)");
  const auto stages = recurrences_of(lstm);
  ASSERT_THAT(stages, ElementsAre(SizeIs(3)));
  const auto shape = StepShape::of(lstm, stages[0]);
  ASSERT_TRUE(shape.has_value());
  EXPECT_THAT(shape->stored(), ElementsAre(lstm.stages[stages[0][2]].buffer, lstm.stages[stages[0][1]].buffer));
}

/// The program with what `change` makes of the load of `buffer` in a stage.
StageProgram with_loads(StageProgram program, std::size_t stage, std::size_t buffer,
                        const std::function<StageExpr(const StageNode& load)>& change) {
  rewrite_stage(program.stages[stage], [&](const StageExpr& node) {
    const bool found = node->op == StageOp::load && node->tensor.buffer == buffer;
    return found ? change(*node) : StageExpr();
  });
  return program;
}

TEST(RecurrenceShape, is_none_where_a_feature_needs_others_of_its_step) {
  const auto lstm = stages_of("nn.LSTM(5, 7)");
  const auto stages = recurrences_of(lstm).front();
  const auto cell = lstm.stages[stages[1]].buffer, hidden = lstm.stages[stages[2]].buffer;
  const auto mirrored = with_loads(lstm, stages[2], cell, [](const StageNode& one) {
    return load(one.tensor, {one.operands[0], one.operands[1], StageExpr(6) - one.operands[2]});
  });
  EXPECT_THAT(gates_of_all(mirrored), ElementsAre(0));
  const auto of_now = with_loads(lstm, stages[0], hidden, [](const StageNode& one) {
    return load(one.tensor, {one.operands[0], axis_index("step"), one.operands[2]});
  });
  EXPECT_THAT(gates_of_all(of_now), ElementsAre(0));
}

TEST(RecurrenceShape, follows_no_condition_at_a_step) {
  const auto gru = stages_of("nn.GRU(5, 7)");
  const auto& product = gru.stages[recurrences_of(gru).front()[0]];
  EXPECT_EQ(stage_text(gru, stage_at_step(product, true)).find("step =="), std::string::npos);
  EXPECT_NE(stage_text(gru, stage_at_step(product, false)).find("step - 1, k"), std::string::npos);
  EXPECT_NE(stage_text(gru, product).find("step == 0 ?"), std::string::npos);
}

}  // namespace
}  // namespace kw

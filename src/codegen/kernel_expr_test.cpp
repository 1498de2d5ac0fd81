#include "codegen/kernel_expr.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "mod/frontend/parser.hpp"

namespace kw {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Nodes by hand, so that every operation can be reached whatever Python writes it.
class Nodes {
 public:
  ExprId add(ExprOp op, ScalarType type, std::vector<ExprId> args = {}) {
    ModExpr node;
    node.op = op;
    node.type = type;
    node.args = std::move(args);
    mod_.nodes.push_back(node);
    return mod_.root = static_cast<ExprId>(mod_.nodes.size() - 1);
  }
  ExprId integer(std::int64_t value) {
    const ExprId id = add(ExprOp::constant, ScalarType::integer);
    mod_.nodes.back().integer = value;
    return id;
  }
  ExprId real(double value) {
    const ExprId id = add(ExprOp::constant, ScalarType::real);
    mod_.nodes.back().real = value;
    return id;
  }
  ExprId axis(const char* name) {
    const ExprId id = add(ExprOp::axis, ScalarType::integer);
    mod_.nodes.back().name = name;
    return id;
  }
  ExprId query() { return add(ExprOp::query, ScalarType::integer); }
  ExprId key() { return add(ExprOp::key, ScalarType::integer); }
  ExprId head() { return add(ExprOp::head, ScalarType::integer); }
  ExprId score() { return add(ExprOp::score, ScalarType::real); }
  [[nodiscard]] const ModFunction& mod() const { return mod_; }

  [[nodiscard]] std::string scalar() const {
    return KernelExpr(mod_, {{mod_.root, ExprStage::element}}, {}).text(mod_.root);
  }
  [[nodiscard]] std::string vector() const {
    return KernelExpr(mod_, {{mod_.root, ExprStage::element}}, {true, "t", false}).text(mod_.root);
  }

 private:
  ModFunction mod_;
};

struct Form {
  ExprOp op;
  ScalarType operands;
  ScalarType result;
  const char* scalar;
  const char* vector;
};

void PrintTo(const Form& form, std::ostream* out) {
  *out << form.scalar;
}

class EveryOperation : public ::testing::TestWithParam<Form> {};

/// Operands: a value of the row on the left, a value of the element on the right.
TEST_P(EveryOperation, prints_as_scalar_and_as_vector) {
  const Form& form = GetParam();
  Nodes nodes;
  ExprId left = nodes.query();
  ExprId right = nodes.key();
  if (form.operands == ScalarType::real) {
    left = nodes.real(0.5);
    right = nodes.score();
  } else if (form.operands == ScalarType::boolean) {
    left = nodes.add(ExprOp::equal, ScalarType::boolean, {left, left});
    right = nodes.add(ExprOp::equal, ScalarType::boolean, {right, right});
  }
  nodes.add(form.op, form.result, {left, right});
  EXPECT_EQ(nodes.scalar(), form.scalar);
  // In vectors the row's boolean is named, because it is computed once per row.
  EXPECT_EQ(nodes.vector(), form.vector);
}

constexpr auto k_int = ScalarType::integer;
constexpr auto k_real = ScalarType::real;
constexpr auto k_bool = ScalarType::boolean;

INSTANTIATE_TEST_SUITE_P(
    Binary, EveryOperation,
    ::testing::Values(
        Form{ExprOp::add, k_int, k_int, "(q_idx + kv_idx)", "(q_idx + kv_idx)"},
        Form{ExprOp::add, k_real, k_real, "(0.5f + score)", "(0.5f + score)"},
        Form{ExprOp::subtract, k_int, k_int, "(q_idx - kv_idx)", "(q_idx - kv_idx)"},
        Form{ExprOp::multiply, k_int, k_int, "(q_idx * kv_idx)", "(q_idx * kv_idx)"},
        Form{ExprOp::divide, k_real, k_real, "(0.5f / score)", "(0.5f / score)"},
        Form{ExprOp::floor_divide, k_int, k_int, "floor_div(q_idx, kv_idx)", "floor_div16((int16)(q_idx), kv_idx)"},
        Form{ExprOp::floor_divide, k_real, k_real, "real_floor_div(0.5f, score)",
             "real_floor_div16((float16)(0.5f), score)"},
        Form{ExprOp::modulo, k_int, k_int, "floor_mod(q_idx, kv_idx)", "floor_mod16((int16)(q_idx), kv_idx)"},
        Form{ExprOp::modulo, k_real, k_real, "real_mod(0.5f, score)", "real_mod16((float16)(0.5f), score)"},
        Form{ExprOp::power, k_real, k_real, "pow(0.5f, score)", "pow((float16)(0.5f), score)"},
        Form{ExprOp::minimum, k_int, k_int, "min(q_idx, kv_idx)", "min((int16)(q_idx), kv_idx)"},
        Form{ExprOp::maximum, k_real, k_real, "max(0.5f, score)", "max((float16)(0.5f), score)"},
        Form{ExprOp::bit_and, k_int, k_int, "(q_idx & kv_idx)", "(q_idx & kv_idx)"},
        Form{ExprOp::bit_or, k_int, k_int, "(q_idx | kv_idx)", "(q_idx | kv_idx)"},
        Form{ExprOp::bit_xor, k_int, k_int, "(q_idx ^ kv_idx)", "(q_idx ^ kv_idx)"},
        Form{ExprOp::bit_and, k_bool, k_bool, "((q_idx == q_idx) & (kv_idx == kv_idx))",
             "((int16)(-t1) & (kv_idx == kv_idx))"},
        Form{ExprOp::bit_or, k_bool, k_bool, "((q_idx == q_idx) | (kv_idx == kv_idx))",
             "((int16)(-t1) | (kv_idx == kv_idx))"},
        Form{ExprOp::bit_xor, k_bool, k_bool, "((q_idx == q_idx) ^ (kv_idx == kv_idx))",
             "((int16)(-t1) ^ (kv_idx == kv_idx))"},
        Form{ExprOp::shift_left, k_int, k_int, "shift_left(q_idx, kv_idx)", "shift_left16((int16)(q_idx), kv_idx)"},
        Form{ExprOp::shift_right, k_int, k_int, "shift_right(q_idx, kv_idx)",
             "shift_right16((int16)(q_idx), kv_idx)"}));

INSTANTIATE_TEST_SUITE_P(
    Comparison, EveryOperation,
    ::testing::Values(Form{ExprOp::less, k_int, k_bool, "(q_idx < kv_idx)", "(q_idx < kv_idx)"},
                      Form{ExprOp::less_equal, k_int, k_bool, "(q_idx <= kv_idx)", "(q_idx <= kv_idx)"},
                      Form{ExprOp::greater, k_real, k_bool, "(0.5f > score)", "(0.5f > score)"},
                      Form{ExprOp::greater_equal, k_int, k_bool, "(q_idx >= kv_idx)", "(q_idx >= kv_idx)"},
                      Form{ExprOp::equal, k_int, k_bool, "(q_idx == kv_idx)", "(q_idx == kv_idx)"},
                      Form{ExprOp::not_equal, k_real, k_bool, "(0.5f != score)", "(0.5f != score)"},
                      // A vector's true is -1, so the order of masks is reversed.
                      Form{ExprOp::less, k_bool, k_bool, "((q_idx == q_idx) < (kv_idx == kv_idx))",
                           "((int16)(-t1) > (kv_idx == kv_idx))"},
                      Form{ExprOp::greater_equal, k_bool, k_bool, "((q_idx == q_idx) >= (kv_idx == kv_idx))",
                           "((int16)(-t1) <= (kv_idx == kv_idx))"},
                      Form{ExprOp::equal, k_bool, k_bool, "((q_idx == q_idx) == (kv_idx == kv_idx))",
                           "((int16)(-t1) == (kv_idx == kv_idx))"}));

struct UnaryForm {
  ExprOp op;
  ScalarType operand;
  ScalarType result;
  const char* scalar;
  const char* vector;
};

void PrintTo(const UnaryForm& form, std::ostream* out) {
  *out << form.scalar;
}

class EveryFunction : public ::testing::TestWithParam<UnaryForm> {};

TEST_P(EveryFunction, prints_as_scalar_and_as_vector) {
  const UnaryForm& form = GetParam();
  Nodes nodes;
  ExprId operand = form.operand == k_real ? nodes.score() : nodes.key();
  if (form.operand == k_bool) operand = nodes.add(ExprOp::less, k_bool, {operand, nodes.integer(4)});
  nodes.add(form.op, form.result, {operand});
  EXPECT_EQ(nodes.scalar(), form.scalar);
  EXPECT_EQ(nodes.vector(), form.vector);
}

INSTANTIATE_TEST_SUITE_P(
    Unary, EveryFunction,
    ::testing::Values(
        UnaryForm{ExprOp::negate, k_real, k_real, "(-score)", "(-score)"},
        UnaryForm{ExprOp::absolute, k_real, k_real, "fabs(score)", "fabs(score)"},
        UnaryForm{ExprOp::absolute, k_int, k_int, "(int)(abs(kv_idx))", "convert_int16(abs(kv_idx))"},
        UnaryForm{ExprOp::bit_not, k_int, k_int, "(~kv_idx)", "(~kv_idx)"},
        UnaryForm{ExprOp::bit_not, k_bool, k_bool, "(!(kv_idx < 4))", "(~(kv_idx < 4))"},
        UnaryForm{ExprOp::exp, k_real, k_real, "exp(score)", "exp(score)"},
        UnaryForm{ExprOp::exp2, k_real, k_real, "exp2(score)", "exp2(score)"},
        UnaryForm{ExprOp::log, k_real, k_real, "log(score)", "log(score)"},
        UnaryForm{ExprOp::log2, k_real, k_real, "log2(score)", "log2(score)"},
        UnaryForm{ExprOp::tanh, k_real, k_real, "tanh(score)", "tanh(score)"},
        UnaryForm{ExprOp::sigmoid, k_real, k_real, "(1.0f / (1.0f + exp(-score)))", "(1.0f / (1.0f + exp(-score)))"},
        UnaryForm{ExprOp::sqrt, k_real, k_real, "sqrt(score)", "sqrt(score)"},
        UnaryForm{ExprOp::rsqrt, k_real, k_real, "rsqrt(score)", "rsqrt(score)"},
        UnaryForm{ExprOp::floor, k_real, k_real, "floor(score)", "floor(score)"},
        UnaryForm{ExprOp::erf, k_real, k_real, "erf(score)", "erf(score)"},
        UnaryForm{ExprOp::sin, k_real, k_real, "sin(score)", "sin(score)"},
        UnaryForm{ExprOp::cos, k_real, k_real, "cos(score)", "cos(score)"},
        UnaryForm{ExprOp::round, k_real, k_real, "rint(score)", "rint(score)"},
        UnaryForm{ExprOp::to_real, k_int, k_real, "(float)(kv_idx)", "convert_float16(kv_idx)"},
        UnaryForm{ExprOp::to_real, k_bool, k_real, "(float)(kv_idx < 4)", "convert_float16(-(kv_idx < 4))"},
        UnaryForm{ExprOp::to_integer, k_real, k_int, "convert_int_sat(score)", "convert_int16_sat(score)"},
        UnaryForm{ExprOp::to_integer, k_bool, k_int, "(kv_idx < 4)", "(-(kv_idx < 4))"},
        UnaryForm{ExprOp::to_boolean, k_int, k_bool, "(kv_idx != 0)", "(kv_idx != 0)"},
        UnaryForm{ExprOp::to_boolean, k_real, k_bool, "(score != 0.0f)", "(score != 0.0f)"}));

TEST(KernelExprLeaves, constants_and_axes_are_literals_and_names) {
  Nodes nodes;
  const ExprId sum = nodes.add(ExprOp::add, k_int, {nodes.axis("D"), nodes.integer(-3)});
  nodes.add(ExprOp::add, k_int, {sum, nodes.axis("Skv")});
  EXPECT_EQ(nodes.scalar(), "((HEAD_DIM + (-3)) + Skv)");
  const KernelExpr printed(nodes.mod(), {{nodes.mod().root, ExprStage::element}}, {});
  EXPECT_THAT(printed.axes(), ElementsAre("D", "Skv"));
}

TEST(KernelExprSelect, takes_its_form_from_the_condition) {
  Nodes nodes;
  const ExprId score = nodes.score();
  const ExprId zero = nodes.real(0.0);
  const ExprId by_key = nodes.add(ExprOp::less, k_bool, {nodes.key(), nodes.integer(4)});
  nodes.add(ExprOp::select, k_real, {by_key, score, zero});
  EXPECT_EQ(nodes.scalar(), "((kv_idx < 4) ? score : 0.0f)");
  EXPECT_EQ(nodes.vector(), "select((float16)(0.0f), score, kv_idx < 4)");
  const ExprId by_row = nodes.add(ExprOp::less, k_bool, {nodes.query(), nodes.integer(4)});
  nodes.add(ExprOp::select, k_real, {by_row, score, zero});
  EXPECT_EQ(nodes.vector(), "(t1 ? score : (float16)(0.0f))");
}

TEST(KernelExprShift, by_a_constant_within_range_needs_no_function) {
  Nodes nodes;
  nodes.add(ExprOp::shift_right, k_int, {nodes.key(), nodes.integer(3)});
  EXPECT_EQ(nodes.vector(), "(kv_idx >> (int16)(3))");
  nodes.add(ExprOp::shift_right, k_int, {nodes.key(), nodes.integer(40)});
  EXPECT_EQ(nodes.scalar(), "shift_right(kv_idx, 40)");
}

TEST(KernelExprPower, a_square_is_a_product_of_a_named_value) {
  Nodes nodes;
  const ExprId distance = nodes.add(ExprOp::add, k_real, {nodes.score(), nodes.real(1.0)});
  nodes.add(ExprOp::power, k_real, {distance, nodes.real(2.0)});
  const KernelExpr printed(nodes.mod(), {{nodes.mod().root, ExprStage::element}}, {});
  EXPECT_EQ(printed.text(nodes.mod().root), "(t1 * t1)");
  EXPECT_THAT(printed.statements(ExprStage::element), ElementsAre("const float t1 = score + 1.0f;"));
}

TEST(KernelExprTanh, of_vectors_can_be_the_rational_one) {
  Nodes nodes;
  nodes.add(ExprOp::tanh, k_real, {nodes.score()});
  const KernelExpr printed(nodes.mod(), {{nodes.mod().root, ExprStage::element}}, {true, "t", true});
  EXPECT_EQ(printed.text(nodes.mod().root), "tanh16(score)");
  EXPECT_THAT(helper_source(printed.helpers()), HasSubstr("static inline float16 tanh16(float16 x)"));
}

TEST(KernelExprStages, values_are_computed_where_their_inputs_are_first_known) {
  const auto mod = parse_mod(
      "def alibi(score, b, h, q_idx, kv_idx):\n"
      "    return score + torch.exp2(-((h + 1) * 8.0 / Hq)) * (kv_idx - q_idx * 2)\n",
      ModRole::score_mod, {{}, {"Hq"}});
  ASSERT_TRUE(mod) << mod.error().to_string();
  const KernelExpr printed(*mod, {{mod->root, ExprStage::element}}, {true, "t", false});
  EXPECT_THAT(printed.statements(ExprStage::group),
              ElementsAre("const float t1 = exp2(-(((float)(h + 1) * 8.0f) / (float)(Hq)));"));
  EXPECT_THAT(printed.statements(ExprStage::row), ElementsAre("const int t2 = q_idx * 2;"));
  ASSERT_EQ(printed.group_values().size(), 1U);
  EXPECT_EQ(printed.group_values()[0].declaration(), "const float t1");
  EXPECT_THAT(printed.inner_names(), IsEmpty()) << "h and Hq are used up in the group's stage";
  EXPECT_EQ(printed.text(mod->root), "(score + (t1 * convert_float16(kv_idx - t2)))");
}

TEST(KernelExprStages, deep_expressions_are_broken_up_by_names) {
  Nodes nodes;
  ExprId sum = nodes.score();
  for (int i = 0; i < 1000; ++i) sum = nodes.add(ExprOp::add, k_real, {sum, nodes.real(1.0)});
  const KernelExpr printed(nodes.mod(), {{nodes.mod().root, ExprStage::element}}, {});
  EXPECT_LT(printed.text(nodes.mod().root).size(), 100U);
  for (const std::string& statement : printed.statements(ExprStage::element)) EXPECT_LT(statement.size(), 200U);
}

TEST(KernelHelpers, floor_semantics_come_with_the_functions_they_call) {
  EXPECT_EQ(helper_source({}), "");
  const std::string source = helper_source({KernelHelper::real_floor_div});
  EXPECT_LT(source.find("float real_mod("), source.find("float real_floor_div("));
}

}  // namespace
}  // namespace kw

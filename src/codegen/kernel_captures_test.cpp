// How captured tensors are read: addresses, indices, and the stage at which.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "codegen/kernel_expr.hpp"
#include "mod/frontend/parser.hpp"

namespace kw {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

const ModScope k_scope = {{},
                          {"B", "Hq", "Hkv", "Sq", "Skv", "D", "Dv", "N", "M"},
                          {{"doc", DType::i32, {"Skv"}, true, 0, 100},
                           {"offset", DType::i32, {"N"}, false, -5, 100},
                           {"slopes", DType::f32, {"Hq"}, false, 0, 1},
                           {"dense", DType::f32, {"B", "Sq", "Skv"}, false, -1, 1},
                           {"cube", DType::f32, {"B", "M", "N"}, false, -1, 1},
                           {"deep", DType::f32, {"B", "Sq", "Skv", "N"}, false, -1, 1},
                           {"half_table", DType::f16, {"N", "M"}, false, -1, 1},
                           {"bfloat_table", DType::bf16, {"N", "M"}, false, -1, 1},
                           {"pad", DType::boolean, {"B", "Skv"}, false, 0, 1},
                           {"cap", DType::f32, {}, false, 1, 50}}};

ModFunction score_mod(const std::string& body) {
  auto mod = parse_mod("lambda s, b, h, q, k: " + body, ModRole::score_mod, k_scope);
  EXPECT_TRUE(mod) << body << (mod ? "" : mod.error().to_string());
  return mod ? *std::move(mod) : ModFunction{};
}
ModFunction mask_mod(const std::string& body) {
  auto mod = parse_mod("lambda b, h, q, k: " + body, ModRole::mask_mod, k_scope);
  EXPECT_TRUE(mod) << body << (mod ? "" : mod.error().to_string());
  return mod ? *std::move(mod) : ModFunction{};
}

struct Printed {
  std::string text;
  std::vector<std::string> row, column, element;
  std::vector<NamedValue> columns;
};
Printed print(const ModFunction& mod, const KernelExprOptions& options) {
  const KernelExpr printed(mod, {{mod.root, ExprStage::element}}, options);
  return {printed.text(mod.root), printed.statements(ExprStage::row), printed.statements(ExprStage::column),
          printed.statements(ExprStage::element), printed.column_values()};
}
/// The root's text with every name written out: what is named for its length is not the matter here.
std::string written_out(const Printed& printed) {
  std::string text = printed.text;
  std::vector<std::string> statements = printed.row;
  statements.insert(statements.end(), printed.element.begin(), printed.element.end());
  std::reverse(statements.begin(), statements.end());
  for (const std::string& statement : statements) {
    const std::size_t equals = statement.find(" = ");
    const std::string declared = statement.substr(0, equals);
    const std::string name = declared.substr(declared.rfind(' ') + 1);
    const std::string value = statement.substr(equals + 3, statement.size() - equals - 4);
    for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + value.size()))
      text.replace(at, name.size(), value);
  }
  return text;
}
std::string scalar(const ModFunction& mod) {
  return written_out(print(mod, {}));
}
std::string vector(const ModFunction& mod) {
  return written_out(print(mod, {true, "x_", false, false}));
}

TEST(CapturedTensors, scalar_indices_are_checked_only_where_they_may_lie_outside) {
  EXPECT_EQ(scalar(score_mod("s + slopes[h]")), "(score + slopes[h])");
  EXPECT_EQ(scalar(score_mod("s + dense[b, q, k]")), "(score + dense[((long)b * Sq + q_idx) * Skv + kv_idx])");
  EXPECT_EQ(scalar(score_mod("s + dense[b][0][k]")), "(score + dense[((long)b * Sq + 0) * Skv + kv_idx])");
  EXPECT_EQ(scalar(score_mod("s + slopes[b]")), "(score + slopes[min(b, Hq - 1)])");
  EXPECT_EQ(scalar(score_mod("s + slopes[h - 1]")), "(score + slopes[nearest_index(h - 1, Hq)])");
  EXPECT_EQ(scalar(score_mod("s + slopes[-1]")), "(score + slopes[nearest_index(-1, Hq)])");
  EXPECT_EQ(scalar(score_mod("s + slopes[0]")), "(score + slopes[0])");
  EXPECT_EQ(scalar(score_mod("s + slopes[q % Hq]")), "(score + slopes[floor_mod(q_idx, Hq)])");
  EXPECT_EQ(scalar(score_mod("s + half_table[torch.clamp(q, 0, N - 1), 0]")),
            "(score + vload_half((long)min(max(q_idx, 0), N - 1) * M + 0, half_table))");
  EXPECT_EQ(scalar(mask_mod("pad[b, k]")), "(int)pad[(long)b * Skv + kv_idx]");
}

TEST(CapturedTensors, a_boolean_can_be_an_index) {
  EXPECT_EQ(scalar(mask_mod("pad[b, pad[0, k].to(torch.int32)]")),
            "(int)pad[(long)b * Skv + min((int)pad[(long)0 * Skv + kv_idx], Skv - 1)]");
}

TEST(CapturedTensors, declared_bounds_of_a_tensor_count_for_what_it_indexes) {
  EXPECT_EQ(scalar(score_mod("s + offset[doc[q]]")), "score + (float)(offset[min(doc[min(q_idx, Skv - 1)], N - 1)])");
  EXPECT_THAT(scalar(score_mod("s + slopes[offset[0]]")), HasSubstr("slopes[nearest_index(offset[0], Hq)]"));
}

TEST(CapturedTensors, neighbouring_keys_read_neighbouring_elements) {
  EXPECT_EQ(vector(score_mod("s + dense[b, q, k]")),
            "(score + load16_f32(dense + ((long)b * Sq + q_idx) * Skv, key, Skv))");
  EXPECT_EQ(vector(mask_mod("pad[b, k]")), "load16_bool(pad + (long)b * Skv, key, Skv)");
  EXPECT_EQ(vector(score_mod("s + half_table[h, k - q]")),
            "(score + load16_f16(half_table + (long)min(h, N - 1) * M, key - q_idx, M))");
  EXPECT_EQ(vector(score_mod("s + half_table[h, q - k + 3]")),
            "(score + load16_down_f16(half_table + (long)min(h, N - 1) * M, (q_idx - key) + 3, M))");
  EXPECT_EQ(vector(score_mod("s + bfloat_table[h, q - k]")),
            "(score + load16_down_bf16(bfloat_table + (long)min(h, N - 1) * M, q_idx - key, M))");
}

TEST(CapturedTensors, other_indices_are_gathered_inside_the_tensor) {
  EXPECT_EQ(vector(score_mod("s + offset[k // 4]")),
            "(score + convert_float16(gather16_i32(offset, min(floor_div16(kv_idx, (int16)(4)), N - 1))))");
  EXPECT_EQ(vector(score_mod("s + half_table[k, h]")),
            "(score + gather16_f16(half_table, min(kv_idx, N - 1) * M + min(h, M - 1)))");
  EXPECT_EQ(vector(score_mod("s + bfloat_table[k, h]")),
            "(score + gather16_bf16(bfloat_table, min(kv_idx, N - 1) * M + min(h, M - 1)))");
  // Sums of sixteen indices are vectors of int, which a long cannot be added to.
  EXPECT_EQ(vector(score_mod("s + cube[b, k, 1]")),
            "(score + gather16_f32(cube + (long)b * M * N, min(kv_idx, M - 1) * N + min(1, N - 1)))");
  EXPECT_THAT(vector(score_mod("s + deep[b, q, k, 1]")),
              HasSubstr("gather16_f32(deep + ((long)b * Sq + q_idx) * Skv * N, min(kv_idx, Skv - 1) * N + min(1,"));
  EXPECT_THAT(vector(score_mod("s + deep[b, q, doc[k], k]")),
              HasSubstr("gather16_f32(deep + ((long)b * Sq + q_idx) * Skv * N, min(load16_i32(doc, key, Skv),"));
  EXPECT_THAT(vector(score_mod("s + offset[q - k * k]")), HasSubstr("gather16_i32(offset, nearest_index16(q_idx - "));
}

TEST(CapturedTensors, buffers_and_axes_are_asked_for_where_they_are_used) {
  const auto mod = score_mod("s * slopes[h] + dense[b, q, k]");
  const KernelExpr printed(mod, {{mod.root, ExprStage::element}}, {true, "t", false, true});
  EXPECT_THAT(printed.captures(), SizeIs(2));
  EXPECT_THAT(printed.inner_captures(), SizeIs(1)) << "slopes are read once per work-group";
  EXPECT_THAT(printed.inner_names(), ElementsAre("Skv", "Sq", "b"));
  EXPECT_EQ(printed.captures().at("dense").declaration("dense"), "__global const float* restrict dense");
  EXPECT_THAT(printed.statements(ExprStage::group), ElementsAre("const float t1 = slopes[h];"));
}

TEST(Columns, hold_what_depends_on_the_key_alone_and_is_worth_it) {
  const KernelExprOptions columns = {true, "t", false, true};
  const Printed document = print(mask_mod("doc[q] == doc[k]"), columns);
  EXPECT_THAT(document.row, ElementsAre("const int t1 = doc[min(q_idx, Skv - 1)];"));
  EXPECT_THAT(document.column, ElementsAre("const int16 t2 = load16_i32(doc, key, Skv);"));
  EXPECT_EQ(document.text, "(t1 == t2)");
  ASSERT_THAT(document.columns, SizeIs(1));
  EXPECT_EQ(document.columns[0].declaration(), "const int16 t2");

  const Printed chunks = print(mask_mod("q // 8 == k // 8"), columns);
  EXPECT_THAT(chunks.column, ElementsAre("const int16 t2 = floor_div16(kv_idx, (int16)(8));"));
  EXPECT_THAT(print(mask_mod("q >= k - 3"), columns).column, IsEmpty()) << "one subtraction is cheaper than a load";
  EXPECT_THAT(print(mask_mod("pad[b, k] & (doc[k] > 3)"), columns).columns, SizeIs(1)) << "the outermost value alone";
}

TEST(Columns, cheap_values_used_on_both_sides_stand_in_both) {
  const Printed printed = print(mask_mod("((k - 3) // 8 == q) | (k - 3 == q)"), {true, "t", false, true});
  EXPECT_THAT(printed.column, ElementsAre("const int16 t1 = floor_div16(kv_idx - 3, (int16)(8));"));
  EXPECT_EQ(printed.text, "((t1 == q_idx) | ((kv_idx - 3) == q_idx))");
}

TEST(Bounds, are_binary_searches) {
  auto mask = mask_mod("doc[k] == doc[q]");
  const auto interval = row_interval(mask);
  ASSERT_TRUE(interval);
  const KernelExpr printed(mask, {{interval->first[0], ExprStage::element}}, {});
  EXPECT_EQ(printed.text(interval->first[0]), "lower_bound_i32(doc, Skv, doc[min(q_idx, Skv - 1)])");
  const std::string source = helper_source(printed.helpers());
  EXPECT_THAT(
      source,
      HasSubstr("static inline int lower_bound_i32(__global const int* row, const int extent, const int value)"));
  EXPECT_THAT(source, Not(HasSubstr("gather16")));
}

TEST(CaptureHelpers, come_with_what_they_call) {
  const std::string source = helper_source({KernelHelper::load16_bool});
  EXPECT_LT(source.find("int16 nearest_index16("), source.find("int16 gather16_bool("));
  EXPECT_LT(source.find("int16 gather16_bool("), source.find("int16 load16_bool("));
  const std::string halves = helper_source({KernelHelper::load16_down_f16});
  EXPECT_THAT(halves, HasSubstr("vload_half(15, row + first - 15))).sfedcba9876543210;"));
  EXPECT_THAT(halves, Not(HasSubstr("vload_half16"))) << "faults on odd addresses";
  const std::string bfloats = helper_source({KernelHelper::load16_bf16});
  EXPECT_THAT(bfloats, HasSubstr("return as_float16(convert_uint16(vload16(0, row + first)) << 16);"));
  EXPECT_THAT(bfloats, HasSubstr("float16 gather16_bf16(__global const ushort* table, const int16 i) {\n"
                                 "  return (float16)(as_float((uint)table[i.s0] << 16),"));
}

TEST(OpenClNames, keep_out_of_the_kernels_own) {
  EXPECT_EQ(kernel_name("doc"), "doc");
  EXPECT_EQ(kernel_name("scale"), "scale_");
  EXPECT_EQ(kernel_name("scale_"), "scale__") << "or it would meet the renamed one";
  EXPECT_EQ(kernel_name("doc_"), "doc_");
  EXPECT_EQ(kernel_name("columns_ready"), "columns_ready_") << "scanned from a kernel file";
  EXPECT_EQ(kernel_name("table"), "table") << "no user's name comes where kernels use it";
  EXPECT_EQ(kernel_name("float16"), "float16_");
  EXPECT_EQ(kernel_name("FLT_MAX"), "FLT_MAX_") << "a macro";
  EXPECT_EQ(kernel_name("t12"), "t12_");
  EXPECT_EQ(kernel_name("to_bf16"), "to_bf16_");
  EXPECT_EQ(kernel_name("dim3"), "dim3_") << "a type of CUDA C++, which an axis of a module is called like";
  EXPECT_EQ(kernel_name("t5_table"), "t5_table_");
  EXPECT_EQ(kernel_name("__kernel"), "__kernel_");
  EXPECT_EQ(kernel_name("_table"), "_table_") << "a compiler may have it";
  EXPECT_EQ(kernel_name("unix"), "unix_") << "a macro of compilers";
  EXPECT_EQ(kernel_name("H1"), "H1");
}

}  // namespace
}  // namespace kw

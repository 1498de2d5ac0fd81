#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/file_system.hpp"
#include "codegen/calibration.hpp"
#include "codegen/codegen.hpp"
#include "codegen/testing/devices.hpp"
#include "language/language.hpp"
#include "operators/attention/attention.hpp"
#include "record/launch_plan.hpp"

namespace kw {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Problem shipped(const std::string& name) {
  return load_problem("attention/" + name, RealFileSystem{}, {"problems"}).value();
}

Bundle vector_bundle(const std::string& problem, const IntBindings& structure = {}) {
  return emit_bundle(shipped(problem), "opencl", "vector", avx512_device(), structure).value();
}

TEST(Styles, are_written_in_languages_that_there_are) {
  for (const Style& style : styles_of("attention")) EXPECT_NE(find_language(style.target), nullptr) << style.target;
}

TEST(FindStyle, names_the_styles_there_are) {
  const auto missing = find_style("attention", "opencl", "vectr");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().to_string(),
            "there is no style \"vectr\" for attention on opencl [codegen.style]\n  try: use one of: plain, vector");
  const auto no_target = find_style("attention", "metal", "vector");
  ASSERT_FALSE(no_target);
  EXPECT_EQ(no_target.error().to_string(),
            "there is no style \"vector\" for attention on metal [codegen.style]\n"
            "  try: no style writes attention for metal yet");
}

TEST(FastestStyle, is_the_last_that_writes_the_problem_for_the_device) {
  const auto fastest = [](const char* problem, const char* target, const DeviceFacts& device) {
    return fastest_style(shipped(problem), target, device);
  };
  EXPECT_EQ(fastest("causal", "opencl", avx512_device()), "vector");
  EXPECT_EQ(fastest("causal_f16", "cuda", gpu_device("sm_75")), "simt");
  EXPECT_EQ(fastest("causal_f16", "cuda", gpu_device("sm_80")), "mma");
  EXPECT_EQ(fastest("causal_f16", "cuda", h200_device()), "wgmma");
  EXPECT_EQ(fastest("causal", "cuda", h200_device()), "mma") << "wgmma has no f32";
  EXPECT_EQ(fastest("causal_f16", "hip", gpu_device("gfx942")), "simt");
  EXPECT_EQ(fastest("causal", "metal", avx512_device()), "");
}

TEST(Wgmma, says_what_it_needs) {
  const auto refused = [](const char* problem, const DeviceFacts& device) {
    return emit_bundle(shipped(problem), "cuda", "wgmma", device).error().to_string();
  };
  EXPECT_EQ(refused("causal", h200_device()),
            "style \"wgmma\" multiplies f16 and bf16, not f32; \"attention/causal\" was asked for "
            "[codegen.unsupported]\n  try: use style \"mma\"");
  const DeviceFacts ampere = gpu_device("sm_80");
  EXPECT_EQ(refused("causal_f16", ampere),
            "style \"wgmma\" needs the warpgroup instructions of sm_90a, and " + ampere.name +
                " is sm_80; \"attention/causal_f16\" was asked for [codegen.unsupported]\n  try: use style \"mma\"");
}

TEST(FindStyle, says_for_which_target_a_style_is_written_that_another_lacks) {
  const auto missing = find_style("attention", "hip", "mma");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().to_string(),
            "there is no style \"mma\" for attention on hip [codegen.style]\n"
            "  try: \"mma\" is written for cuda alone; use one of: plain, simt");
}

Bundle hip_bundle(const std::string& problem, const std::string& style, std::string_view arch) {
  return emit_bundle(shipped(problem), "hip", style, gpu_device(arch)).value();
}

TEST(HipStyles, shuffle_without_masks_and_leave_asm_and_cuda_headers_out) {
  for (const char* style : {"plain", "simt"}) {
    SCOPED_TRACE(style);
    const Bundle bundle = hip_bundle("causal_f16", style, "gfx942");
    EXPECT_EQ(bundle.target, "hip");
    EXPECT_THAT(bundle.source, HasSubstr("#include <hip/hip_runtime.h>\n#include <hip/hip_fp16.h>\n"));
    EXPECT_THAT(bundle.source, HasSubstr("__shfl_xor(next, step)"));
    for (const char* cuda : {"_sync(", "ALL_LANES", "asm(", "cuda", "    __syncwarp"})
      EXPECT_THAT(bundle.source, Not(HasSubstr(cuda))) << cuda;
  }
}

/// Else a bundle emitted for one width would give wrong answers on the other.
TEST(HipStyles, plain_takes_the_wavefront_from_the_device_it_runs_on) {
  const Bundle bundle = hip_bundle("causal", "plain", "gfx942");
  EXPECT_EQ(bundle, hip_bundle("causal", "plain", "gfx1100"));
  EXPECT_THAT(bundle.defines, ::testing::Contains(Definition{"LANES", "warp_size"}));
  for (const auto& [arch, lanes] : {std::pair{"gfx942", 64}, std::pair{"gfx1100", 32}}) {
    const auto plan = plan_launches(make_candidate(bundle).value(), shipped("causal"), shipped("causal").primary().axes,
                                    gpu_device(arch));
    ASSERT_TRUE(plan) << plan.error().to_string();
    EXPECT_EQ(plan->launches[0].block[0], lanes) << arch;
  }
}

TEST(HipStyles, tiles_fit_the_64_kib_of_a_compute_unit) {
  const Style* style = find_style("attention", "hip", "simt").value();
  for (const char* arch : {"gfx942", "gfx1100"}) {
    const DeviceFacts device = gpu_device(arch);
    const auto seeds = style->seeds(shipped("causal"), device);
    ASSERT_FALSE(seeds.empty()) << arch;
    for (const IntBindings& seed : seeds) {
      IntBindings tunables = seed;
      for (const Tunable& choice : style->structure) tunables.erase(choice.name);
      const Bundle bundle = style->emit(shipped("causal"), device, {}).value();
      const auto candidate = make_candidate(bundle, tunables);
      ASSERT_TRUE(candidate) << candidate.error().to_string();
      const auto plan = plan_launches(*candidate, shipped("causal"), shipped("causal").primary().axes, device);
      ASSERT_TRUE(plan) << plan.error().to_string();
      EXPECT_LE(plan->launches.back().shared_bytes, 65536) << arch;
      EXPECT_LT(style->estimate(shipped("causal"), device, tunables), 1e15) << "some block is resident";
    }
  }
}

TEST(EmitBundle, refuses_structure_it_does_not_know) {
  const auto unknown = emit_bundle(shipped("full"), "opencl", "vector", avx512_device(), {{"swizzle", 1}});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, errc::codegen_unsupported);
  EXPECT_EQ(unknown.error().message, "style \"vector\" has no structural choice \"swizzle\"");
  const auto wrong = emit_bundle(shipped("full"), "opencl", "vector", avx512_device(), {{"exp2_degree", 3}});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message,
            "structural choice exp2_degree of style \"vector\" cannot be 3; it is one of 5, 6, 0");
}

TEST(EmitBundle, refuses_types_it_cannot_write) {
  Problem integers = shipped("full");
  auto spec = *attention_of(integers);
  spec.dtype = DType::i32;
  set_attention(integers, std::move(spec));
  for (const char* style : {"plain", "vector"}) {
    const auto refused = emit_bundle(integers, "opencl", style, avx512_device());
    ASSERT_FALSE(refused) << style;
    EXPECT_EQ(refused.error().code, errc::codegen_unsupported) << style;
    EXPECT_EQ(refused.error().message,
              "style \"" + std::string(style) +
                  "\" writes kernels for f32, f16 and bf16, and \"attention/full\" asks for i32");
    EXPECT_EQ(refused.error().hint, "set dtype = \"f32\" in the problem");
  }
}

TEST(VectorStyle, a_mask_that_is_an_interval_becomes_loop_bounds) {
  for (const char* problem : {"causal", "sliding_window", "prefix_lm", "alibi_causal"}) {
    EXPECT_THAT(vector_bundle(problem).source, HasSubstr("static inline int last_allowed(")) << problem;
    EXPECT_THAT(vector_bundle(problem, {{"row_bounds", 0}}).source, Not(HasSubstr("last_allowed("))) << problem;
  }
}

/// What follows the comment that says which problem it is.
std::string code_of(const std::string& source) {
  return source.substr(source.find("#define"));
}

TEST(VectorStyle, a_value_that_can_only_lose_is_a_mask) {
  const Bundle causal = vector_bundle("causal");
  const Bundle finite = vector_bundle("causal_finite");
  EXPECT_EQ(code_of(finite.source), code_of(causal.source));
  EXPECT_THAT(finite.source, HasSubstr("// The score_mod holds a mask: scores that can only lose"));
}

TEST(VectorStyle, keys_that_lose_by_a_captured_mask_are_skipped_by_panels) {
  const Bundle added = vector_bundle("additive_mask_finite");
  ASSERT_EQ(added.launches.size(), 4U);
  EXPECT_EQ(added.launches[1].kernel, "row_limits");
  EXPECT_EQ(added.launches[2].kernel, "classify");
  EXPECT_THAT(added.source, HasSubstr("fabs(lost_below) <= 16777216.0f ? lost_below - 8412.0f : -INFINITY"));
  EXPECT_THAT(added.source, HasSubstr("const int16 allowed = ~(m1 <= lost_below) & (kv_idx < Skv);"));
  EXPECT_THAT(added.source, HasSubstr("// Keys that can only lose by a term of the score_mod count for nothing."));
  EXPECT_THAT(added.source, HasSubstr("select((float16)(-INFINITY), s, (kv_idx >= allowed_first)")) << "no other mask";
  const Bundle whole = vector_bundle("additive_mask_finite", {{"block_mask", 0}});
  EXPECT_EQ(whole.launches.size(), 2U);
  EXPECT_THAT(whole.source, Not(HasSubstr("row_limits")));
}

TEST(CudaStyles, skip_keys_that_lose_by_a_captured_mask) {
  for (const char* style : {"simt", "mma"}) {
    const auto emitted = [&](const IntBindings& structure) {
      return emit_bundle(shipped("additive_mask_finite"), "cuda", style, h200_device(), structure).value();
    };
    const Bundle added = emitted({});
    EXPECT_EQ(added.launches.front().kernel, "row_limits") << style;
    EXPECT_EQ(added.launches.front().grid, (std::vector<std::string>{"Sq", "1", "B"})) << style;
    EXPECT_THAT(added.source, HasSubstr("const int allowed = !(m1 <= lost_below) && key < Skv;")) << style;
    EXPECT_THAT(added.source, HasSubstr("needed_panel(codes, 0, end_panel)")) << style;
    EXPECT_THAT(emitted({{"block_mask", 0}}).source, Not(HasSubstr("row_limits"))) << style;
  }
}

TEST(VectorStyle, scores_that_may_be_large_stay_in_natural_units) {
  const std::string large = vector_bundle("additive_mask_finite").source;
  EXPECT_THAT(large, HasSubstr("const float scale = 1.0f / sqrt((float)HEAD_DIM);"));
  EXPECT_THAT(large, HasSubstr("exp2_16((scores[c] - base) * LOG2_E)"));
  EXPECT_THAT(large, HasSubstr("exp2((peak[t][r] - highest) * LOG2_E)"));
  EXPECT_THAT(large, HasSubstr("? peak[t][r] + log(total[t][r])"));
  EXPECT_THAT(vector_bundle("additive_mask_finite", {{"lazy_rescale", 1}}).source,
              HasSubstr("highest > peak[t][r] + 8.0f / LOG2_E"));
  EXPECT_THAT(vector_bundle("alibi_lse").source, HasSubstr("exp2_16(scores[c] - base)"));
}

TEST(CudaStyles, keep_scores_that_may_be_large_in_natural_units) {
  for (const char* style : {"simt", "mma"}) {
    const std::string large = emit_bundle(shipped("additive_mask_finite"), "cuda", style, h200_device()).value().source;
    EXPECT_THAT(large, HasSubstr("power_of_two((SCORE(r, c) - base) * LOG2_E)")) << style;
    EXPECT_THAT(large, HasSubstr("power_of_two((peak[r] - base) * LOG2_E)")) << style;
    EXPECT_THAT(large, HasSubstr("? peak[r] + logf(sum)")) << style;
  }
  const auto decoded = with_axes(shipped("additive_mask_finite"), {"Sq=1", "Skv=4096"}).value();
  const std::string parts = emit_bundle(decoded, "cuda", "mma", h200_device()).value().source;
  EXPECT_THAT(parts, HasSubstr("power_of_two((sum.x - base) * LOG2_E)"));
  EXPECT_THAT(parts, HasSubstr("peak + logf(total) + LSE[row]"));
}

TEST(VectorStyle, a_bias_linear_in_the_key_is_one_multiply_add) {
  EXPECT_THAT(vector_bundle("alibi").source,
              HasSubstr("const float16 bias = slope * (float)(key - anchor) + lane_bias;"));
  EXPECT_THAT(vector_bundle("relative").source, HasSubstr("const float slope = LOG2_E * "));
  EXPECT_THAT(vector_bundle("full").source, HasSubstr("float16 s = scores[c] * scale;"));
}

TEST(VectorStyle, softcap_keeps_the_score_in_its_own_units) {
  EXPECT_THAT(vector_bundle("softcap").source, HasSubstr("tanh16("));
  EXPECT_THAT(vector_bundle("softcap", {{"fast_tanh", 0}}).source, Not(HasSubstr("tanh16(")));
}

TEST(VectorStyle, every_seed_is_legal_and_the_first_is_the_default) {
  const Style* style = find_style("attention", "opencl", "vector").value();
  std::vector<Problem> problems;
  for (const char* name : {"causal", "neighborhood_2d", "decode", "document_causal_f16"})
    problems.push_back(shipped(name));
  problems.push_back(with_axes(shipped("full"), {"D=256", "Dv=255"}).value());
  for (std::size_t i = 0; i < 3 * problems.size(); ++i) {
    const DeviceFacts device = std::vector{avx512_device(), avx2_device(), sse_device()}[i % 3];
    const Problem& problem = problems[i / 3];
    const auto seeds = style->seeds(problem, device);
    ASSERT_FALSE(seeds.empty());
    for (const IntBindings& seed : seeds) {
      IntBindings structure;
      IntBindings tunables = seed;
      for (const Tunable& choice : style->structure)
        if (auto node = tunables.extract(choice.name)) structure.insert(std::move(node));
      const auto bundle = style->emit(problem, device, structure);
      ASSERT_TRUE(bundle) << bundle.error().to_string();
      const auto candidate = make_candidate(*bundle, tunables);
      ASSERT_TRUE(candidate) << candidate.error().to_string();
      if (seed == seeds.front()) {
        EXPECT_EQ(candidate->id(), make_candidate(*bundle)->id());
      }
      const auto plan = plan_launches(*candidate, problem, problem.primary().axes, device);
      EXPECT_TRUE(plan) << plan.error().to_string();
    }
  }
}

TEST(VectorStyle, masks_that_are_no_interval_are_classified_first) {
  for (const char* problem : {"dilated_window", "global_window", "neighborhood_2d", "tree"}) {
    const Bundle mapped = vector_bundle(problem);
    ASSERT_EQ(mapped.launches.size(), 3U) << problem;
    EXPECT_EQ(mapped.launches[1].kernel, "classify") << problem;
    EXPECT_EQ(mapped.scratch.back().name, "block_mask") << problem;
    EXPECT_EQ(vector_bundle(problem, {{"block_mask", 0}}).launches.size(), 2U) << problem;
  }
  EXPECT_EQ(vector_bundle("causal"), vector_bundle("causal", {{"block_mask", 0}})) << "an interval needs no map";
}

TEST(VectorStyle, the_map_has_entries_only_for_what_the_mask_knows) {
  const Bundle window = vector_bundle("dilated_window");
  EXPECT_EQ(window.scratch.back().elements, "ceil_div(Sq, ROWS) * ceil_div(Skv, 16 * PANELS)");
  EXPECT_THAT(window.launches[1].grid, ::testing::ElementsAre("ceil_div(Sq, ROWS)", "1", "1"));
}

TEST(VectorStyle, sorted_documents_are_bounds_and_no_gathers) {
  const std::string source = vector_bundle("document_causal").source;
  EXPECT_THAT(source, HasSubstr("lower_bound_i32("));
  EXPECT_THAT(source, Not(HasSubstr("load16_i32(")));
}

TEST(VectorStyle, half_precision_is_converted_once) {
  const Bundle bundle = vector_bundle("causal_f16");
  EXPECT_THAT(bundle.source, HasSubstr("float query[ROWS][HEAD_DIM];"));
  // Only where every row begins on a whole vector: elsewhere it was seen to fault.
  EXPECT_THAT(bundle.source, HasSubstr("#if VALUE_DIM % LANES == 0\n  for (int j = 0; j < VALUE_DIM / LANES; ++j) "
                                       "vstore_half16_rte(row[j] * factor, j, to);"));
  EXPECT_THAT(bundle.launches[1].args, Not(::testing::Contains("V"))) << "values are packed in f32";
}

TEST(VectorStyle, bfloats_are_widened_once_and_rounded_when_they_are_stored) {
  const Bundle bundle = vector_bundle("causal_bf16");
  EXPECT_THAT(bundle.source, HasSubstr("__global const ushort* restrict Q"));
  EXPECT_THAT(bundle.source, HasSubstr("query[r][d] = as_float((uint)row[d] << 16);"));
  EXPECT_THAT(bundle.source, HasSubstr("vstore16(to_bf16_16(row[j] * factor), j, to);"));
  EXPECT_THAT(bundle.launches[1].args, Not(::testing::Contains("V"))) << "values are packed in f32";
}

TEST(CudaStyles, name_what_the_type_has_and_include_its_header_alone) {
  for (const char* style : {"plain", "simt", "mma"}) {
    const std::string bf16 = emit_bundle(shipped("causal_bf16"), "cuda", style, h200_device()).value().source;
    EXPECT_THAT(bf16, HasSubstr("#include <cuda_bf16.h>\n")) << style;
    EXPECT_THAT(bf16, HasSubstr("const __nv_bfloat16* __restrict__ Q")) << style;
    EXPECT_THAT(bf16, Not(HasSubstr("__half"))) << style;
    EXPECT_THAT(bf16, Not(HasSubstr("fp16"))) << style;
    const std::string f16 = emit_bundle(shipped("causal_f16"), "cuda", style, h200_device()).value().source;
    EXPECT_THAT(f16, Not(HasSubstr("bf"))) << style;
  }
  EXPECT_THAT(emit_bundle(shipped("causal_bf16"), "cuda", "mma", h200_device()).value().source,
              HasSubstr("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"));
}

TEST(VectorStyle, lse_gets_back_what_scores_were_freed_of) {
  EXPECT_THAT(vector_bundle("alibi_lse").source, HasSubstr("+ dropped_term(b, h, row, anchor, Hq)"));
  EXPECT_THAT(vector_bundle("causal_lse").source, Not(HasSubstr("dropped_term")));
  EXPECT_THAT(vector_bundle("alibi").source, Not(HasSubstr("LSE")));
}

TEST(VectorStyle, register_tiles_that_spill_are_not_legal) {
  const auto spilling = make_candidate(vector_bundle("full"), {{"ROWS", 8}, {"PANELS", 4}, {"BLOCK_KV", 256}});
  ASSERT_FALSE(spilling);
  EXPECT_EQ(spilling.error().code, errc::candidate_constraint);
}

TEST(VectorStyle, estimate_prefers_what_was_measured_to_be_faster) {
  const Style* style = find_style("attention", "opencl", "vector").value();
  const auto cost = [&](std::int64_t rows, std::int64_t panels, std::int64_t value_tile) {
    return style->estimate(shipped("full"), avx512_device(),
                           {{"ROWS", rows}, {"PANELS", panels}, {"VALUE_TILE", value_tile}, {"BLOCK_KV", 256}});
  };
  EXPECT_LT(cost(6, 2, 2), cost(2, 2, 2));
  EXPECT_LT(cost(4, 4, 4), cost(1, 1, 1));
  EXPECT_LT(cost(4, 4, 4), cost(2, 4, 4));
  EXPECT_LT(cost(4, 4, 4), cost(8, 6, 4)) << "spills";
}

TEST(VectorStyle, estimate_knows_that_a_map_skips_work) {
  const Style* style = find_style("attention", "opencl", "vector").value();
  const auto cost = [&](const char* problem, std::int64_t map) {
    return style->estimate(shipped(problem), avx512_device(), {{"block_mask", map}});
  };
  EXPECT_LT(cost("dilated_window", 1), cost("dilated_window", 0));
  EXPECT_EQ(cost("causal", 1), cost("causal", 0)) << "its rows are bounded";
}

TEST(VectorStyle, plans_padding_of_values_only_where_rows_are_no_whole_vectors) {
  const auto candidate = make_candidate(vector_bundle("full")).value();
  Axes axes = shipped("full").primary().axes;
  const auto scratch_bytes = [&](std::int64_t value_dim) {
    axes["Dv"] = value_dim;
    const auto plan = plan_launches(candidate, shipped("full"), axes, avx512_device());
    EXPECT_TRUE(plan) << plan.error().to_string();
    return plan->buffers.back().bytes;
  };
  EXPECT_EQ(scratch_bytes(64), 4);
  EXPECT_EQ(scratch_bytes(40), 8 * 1024 * 48 * 4);
  EXPECT_EQ(scratch_bytes(80), 8 * 1024 * 96 * 4) << "two equal passes of three float16s";
}

TEST(Calibration, counts_what_its_kernels_do) {
  const auto arithmetic = multiply_add_calibration(avx512_device()).value();
  EXPECT_THAT(arithmetic.source, HasSubstr("#define CHAINS 12\n"));
  EXPECT_NEAR(arithmetic.flops, 2.8e9, 1e7);
  EXPECT_EQ(arithmetic.plan.launches[0].grid[0], 16);
  EXPECT_THAT(multiply_add_calibration(avx2_device())->source, HasSubstr("#define CHAINS 6\n"));
  const auto bandwidth = bandwidth_calibration(avx512_device()).value();
  EXPECT_EQ(bandwidth.plan.buffers[0].bytes, 128 << 20);
  EXPECT_DOUBLE_EQ(bandwidth.bytes, 4 * 2.0 * (128 << 20)) << "four passes, each reads and writes";
  EXPECT_EQ(bandwidth.plan.launches.size(), 4U);
  const auto copy = copy_calibration(avx512_device()).value();
  ASSERT_EQ(copy.plan.buffers.size(), 2U);
  EXPECT_EQ(copy.plan.buffers[1].bytes, 128 << 20);
  EXPECT_DOUBLE_EQ(copy.bytes, bandwidth.bytes) << "reads one buffer, writes the other";
  DeviceFacts with_large_cache = avx512_device();
  with_large_cache.last_level_cache_bytes = std::int64_t{480} << 20;
  const auto large = bandwidth_calibration(with_large_cache).value();
  EXPECT_EQ(large.plan.buffers[0].bytes, 512 << 20);
  EXPECT_EQ(large.plan.launches.size(), 1U) << "one pass takes as long as four over a quarter of it";
  EXPECT_DOUBLE_EQ(large.bytes, 2.0 * (512 << 20));
}

TEST(Calibration, refuses_targets_it_has_no_kernel_for) {
  DeviceFacts device = avx512_device();
  device.target = "cuda";
  const auto refused = bandwidth_calibration(device);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::codegen_unsupported);
  EXPECT_EQ(refused.error().message, "there is no calibration kernel for target \"cuda\"");
}

}  // namespace
}  // namespace kw

// Names that a problem gives its axes and captured tensors become parameters of our kernels, whose text has names too.
#include <algorithm>
#include <cctype>
#include <string_view>

#include "codegen/kernel_helpers.hpp"

namespace kw {
namespace {

/// Lists of words between spaces. Words of OpenCL C, functions of its library that we call, and names in those of our
/// functions that take axes or captured tensors.
constexpr std::string_view k_taken =
    " "
    "BLOCK_KV BLOCK_PANELS BLOCK_VECTORS EVERY_KEY HEAD_DIM INFINITY K LANES LANE_INDEX LOG2_E LSE NAN NO_KEY O "
    "OUT_VECTORS PANELS PANEL_KEYS Q ROWS ROW_TILES S SOME_KEYS TURNS UNROLL_D UNROLL_EXP UNROLL_KV V VALUE_DIM "
    "VALUE_PASSES VALUE_STEP VALUE_STRIDE VALUE_TILE VALUE_VECTORS abs add_values all all_allowed allowed "
    "allowed_first allowed_last anchor any any_keys as_float as_float16 as_int16 atomicMax atomicMin attend "
    "attention auto await_copies b base begin begin_panel begin_products begin_slot behind bias block block_map "
    "bool break c case char clamp classify code codes column columns_ready complex const constant continue "
    "convert_float16 convert_int16 convert_int16_sat convert_int_sat copy_next count d default do dot_product "
    "dot_products double dropped_term else end end_turn end_values endif enum erf event_t every every_keys exp "
    "exp2 exp2_16 exponentiate extern fabs factor false finish_scores first first_allowed first_head first_key "
    "first_row float float2 floor floor_div floor_div16 floor_mod floor_mod16 fma fmod for free_slot free_stage "
    "generic get_global_id get_group_id get_num_groups global goto group_first group_last group_rows h half head "
    "highest i if image1d_t image2d_t image3d_t imaginary inline int intptr_t j k kernel key key_column key_head "
    "keys keys_left kv_idx lane_bias largest last last_allowed last_values load_keys load_values local log log2 "
    "long lower_bound main make_float2 mask_mod masked max meet merge min multiply_keys multiply_last_values "
    "nearest_index nearest_index16 of_run out p pack pack_weights packed_keys packed_row packed_values padded "
    "panel panels part part_end part_first part_sums part_values parts peak pipe place pow private ptrdiff_t q "
    "q_idx quad query query_head query_row r read_only read_write real_floor_div real_floor_div16 real_mod "
    "real_mod16 register reqd_work_group_size restrict return rint row row_first row_last row_scores rsqrt run "
    "run_end run_first run_masked runs s sampler_t scale score score_mod scores second select share shift_left "
    "shift_left16 shift_right shift_right16 short shrink shrink_sums signed size_t sizeof slope slot softmax some "
    "sqrt static store_row struct sum switch t tanh tanh16 tile tile_first tile_last tile_row tiles to_bf16 "
    "to_bf16_16 top total true typedef uchar uint uintptr_t ulong uniform union unsigned upper_bound ushort value "
    "values vectors vload16 vload_half vload_half16 void volatile vstore16 vstore_half16_rte vstore_half_rte "
    "wait_products weigh_panel weighted_sum weights while write_only ";

/// Macros of the C library's headers, which both languages have.
constexpr std::string_view k_taken_macros =
    " "
    "CHAR_BIT CHAR_MAX CHAR_MIN DBL_EPSILON DBL_MAX DBL_MIN FLT_EPSILON FLT_MAX FLT_MIN HUGE_VALF INT32_MAX "
    "INT32_MIN INT64_MAX INT64_MIN INT_MAX INT_MIN LLONG_MAX LLONG_MIN LONG_MAX LONG_MIN M_1_PI M_2_SQRTPI M_E "
    "M_LN10 M_LN2 M_LOG10E M_LOG2E M_PI M_PI_2 M_SQRT1_2 M_SQRT2 SHRT_MAX SHRT_MIN UINT32_MAX UINT_MAX USHRT_MAX ";

/// The same as k_taken for CUDA C++, as far as OpenCL C has not taken them already.
constexpr std::string_view k_taken_in_cuda =
    " "
    "ALL_LANES BLOCK_WARPS BM BN CHUNK COLUMNS HEAD_PAD HEAD_STRIDE HEAD_VECTORS PANEL QUERY_TILES Q_REGISTERS "
    "ROW_LANES ROW_STEP SCORE SCORE_TILES STAGES TEAMS THREADS THREAD_KEYS THREAD_ROWS VALUE_PAD VALUE_TILES "
    "WARPS WEIGHT_STRIDE add_scaled ahead alignas alignof and and_eq any_first any_last asm bitand bitor blockDim "
    "blockIdx catch char16_t char32_t class close commit compl concept const_cast consteval constexpr constinit "
    "cp_async_16 cp_async_commit cp_async_wait decltype delete dot_four dynamic_cast end_panel entry every_first "
    "every_last exp2f expf explicit export fabsf first_panel floorf fmaf fmaxf fminf four fragment friend from "
    "gridDim group halves head_keys head_values lane load_four load_query load_rows load_tile log2f logf "
    "make_float4 memcpy mutable namespace needed_panel new next noexcept not not_eq nullptr operator or or_eq "
    "over_lanes power_of_two powf protected public publish_tiles queries query_is_held reinterpret_cast requires "
    "row_weights rsqrtf share shared_memory sqrtf stage static_assert static_cast step store_four store_pair "
    "sync_lanes tail tanh_rational tanhf template this threadIdx thread_key thread_local thread_query thread_row "
    "throw to try typeid typename unroll_head unroll_keys using virtual warp warpSize wchar_t weigh weight xor "
    "xor_eq ";

/// t1, m2, m2_column, and types such as float16: families rather than words.
bool in_family(std::string_view name) {
  constexpr std::string_view k_stems[] = {"t",    "m",    "char",  "uchar", "short", "ushort", "int",
                                          "uint", "long", "ulong", "float", "half",  "double"};
  for (const std::string_view stem : k_stems) {
    if (!name.starts_with(stem)) continue;
    const std::string_view rest = name.substr(stem.size());
    if (!rest.empty() && std::isdigit(static_cast<unsigned char>(rest.front())) != 0) return true;
  }
  constexpr std::string_view k_helpers[] = {"gather16_", "load16_", "lower_bound_", "upper_bound_", "__", "cl_"};
  return std::any_of(std::begin(k_helpers), std::end(k_helpers),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

}  // namespace

std::string kernel_name(const std::string& name) {
  const std::string word = " " + name + " ";
  const auto holds = [&](std::string_view words) { return words.find(word) != std::string_view::npos; };
  const bool taken = holds(k_taken) || holds(k_taken_macros) || holds(k_taken_in_cuda) || in_family(name);
  // A name that ends so already moves on too, or "row" and "row_" would become one.
  const std::string_view stem = std::string_view(name).substr(0, name.find_last_not_of('_') + 1);
  const bool follows = stem.size() < name.size() && kernel_name(std::string(stem)) != stem;
  return taken || follows ? name + "_" : name;
}

}  // namespace kw

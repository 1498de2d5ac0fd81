// Mods as people write them for FlexAttention, whole and unchanged, each compared with the same rule in C++.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "mod/analysis/analysis.hpp"
#include "mod/frontend/parser.hpp"

namespace kw {
namespace {

constexpr std::int64_t k_length = 24;
const Axes k_axes = {{"B", 2}, {"Hq", 4}, {"Hkv", 2}, {"Sq", k_length}, {"Skv", k_length}, {"D", 64}, {"Dv", 64}};

ModScope scope() {
  return {{},
          {"B", "Hq", "Hkv", "Sq", "Skv", "D", "Dv"},
          {{"document_id", DType::i32, {"Skv"}, true, 0, 100},
           {"offsets", DType::i32, {"Skv"}, true, 0, 100},
           {"prefix_length", DType::i32, {"B"}, false, 0, 100},
           {"ancestors", DType::boolean, {"Sq", "Skv"}, false, 0, 1},
           {"relative_attention_bias", DType::f32, {"D", "Hq"}, false, -10, 10}}};
}
std::int64_t document_of(std::int64_t i) {
  return i < 5 ? 0 : i < 16 ? 1 : 2;
}
bool is_ancestor(std::int64_t child, std::int64_t node) {
  while (child > node && child > 0) child = (child - 1) / 2;  // a binary heap
  return child == node;
}
double bucket_bias(std::int64_t bucket, std::int64_t head) {
  return static_cast<double>(bucket) + 100.0 * static_cast<double>(head);
}
CapturedTensor filled(std::vector<std::int64_t> extents, const std::function<double(std::int64_t)>& value) {
  std::int64_t count = 1;
  for (const auto extent : extents) count *= extent;
  CapturedTensor tensor{std::move(extents), {}};
  for (std::int64_t i = 0; i < count; ++i) tensor.values.push_back(static_cast<float>(value(i)));
  return tensor;
}
CaptureData data() {
  CaptureData values;
  values["document_id"] = filled({k_length}, [](std::int64_t i) { return static_cast<double>(document_of(i)); });
  values["offsets"] = filled({k_length}, [](std::int64_t i) { return i == 0 ? 0.0 : i == 1 ? 5.0 : 16.0; });
  values["prefix_length"] = filled({2}, [](std::int64_t b) { return b == 0 ? 3.0 : 11.0; });
  values["ancestors"] =
      filled({k_length, k_length}, [](std::int64_t i) { return is_ancestor(i / k_length, i % k_length) ? 1.0 : 0.0; });
  values["relative_attention_bias"] = filled({64, 4}, [](std::int64_t i) { return bucket_bias(i / 4, i % 4); });
  return values;
}

using Expected = std::function<double(const ModPoint&)>;
void expect_same(const std::string& text, ModRole role, const Expected& expected, double tolerance = 0.0) {
  const auto mod = parse_mod(text, role, scope());
  ASSERT_TRUE(mod.has_value()) << text << "\n" << mod.error().to_string();
  const auto values = data();
  for (std::int64_t b = 0; b < 2; ++b) {
    for (std::int64_t h = 0; h < 4; ++h) {
      for (std::int64_t q = 0; q < k_length; ++q) {
        for (std::int64_t k = 0; k < k_length; ++k) {
          const ModPoint point{1.25 - static_cast<double>(k % 3), b, h, q, k};
          ASSERT_NEAR(evaluate(*mod, k_axes, point, values), expected(point), tolerance)
              << text << " at " << b << ", " << h << ", " << q << ", " << k;
        }
      }
    }
  }
}
void expect_mask(const std::string& text, const std::function<bool(const ModPoint&)>& expected) {
  expect_same(text, ModRole::mask_mod, [&](const ModPoint& p) { return expected(p) ? 1.0 : 0.0; });
}

constexpr const char* k_joiners = R"(
import torch
from torch.nn.attention.flex_attention import _mask_mod_signature, _score_mod_signature

def and_masks(*mask_mods: _mask_mod_signature) -> _mask_mod_signature:
    """Returns a mask_mod that is the intersection of the given ones."""
    if not all(callable(arg) for arg in mask_mods):
        raise RuntimeError(f"all inputs should be callable mask_mods: {mask_mods}")

    def and_mask(b, h, q_idx, kv_idx):
        result = b.new_ones((), dtype=torch.bool)
        for mask in mask_mods:
            result = result & mask(b, h, q_idx, kv_idx).to(result.device)
        return result

    return and_mask

def or_masks(*mask_mods: _mask_mod_signature) -> _mask_mod_signature:
    if not all(callable(arg) for arg in mask_mods):
        raise RuntimeError("all inputs should be callable")
    def or_mask(b, h, q_idx, kv_idx):
        result = b.new_zeros((), dtype=torch.bool)
        for mask in mask_mods:
            result = result | mask(b, h, q_idx, kv_idx)
        return result
    return or_mask

def causal_mask(b, h, q_idx, kv_idx):
    return q_idx >= kv_idx
)";

TEST(ModExamples, sliding_window_joined_with_causal) {
  expect_mask(std::string(k_joiners) + R"(
def generate_sliding_window(window_size: int) -> _mask_mod_signature:
    def sliding_window(b, h, q_idx, kv_idx):
        return q_idx - kv_idx <= window_size
    sliding_window_mask = and_masks(sliding_window, causal_mask)
    sliding_window_mask.__name__ = f"sliding_window_{window_size}"
    return sliding_window_mask

mask = generate_sliding_window(7)
)",
              [](const ModPoint& p) { return p.query >= p.key && p.query - p.key <= 7; });
}

TEST(ModExamples, prefix_lm_per_batch) {
  expect_mask(std::string(k_joiners) + R"(
def generate_prefix_lm_mask(prefix_length) -> _mask_mod_signature:
    def prefix_mask(b, h, q_idx, kv_idx):
        return kv_idx < prefix_length[b]
    return or_masks(prefix_mask, causal_mask)

generate_prefix_lm_mask(prefix_length)
)",
              [](const ModPoint& p) { return p.key < (p.batch == 0 ? 3 : 11) || p.query >= p.key; });
}

TEST(ModExamples, documents_with_an_inner_mask) {
  expect_mask(std::string(k_joiners) + R"(
def generate_doc_mask_mod(mask_mod, offsets, document_id):
    def doc_mask_mod(b, h, q_idx, kv_idx):
        same_doc = document_id[q_idx] == document_id[kv_idx]
        q_logical = q_idx - offsets[document_id[q_idx]]
        kv_logical = kv_idx - offsets[document_id[kv_idx]]
        inner_mask = mask_mod(b, h, q_logical, kv_logical)
        return same_doc & inner_mask
    return doc_mask_mod

generate_doc_mask_mod(causal_mask, offsets, document_id)
)",
              [](const ModPoint& p) { return document_of(p.query) == document_of(p.key) && p.query >= p.key; });
}

TEST(ModExamples, tree_of_drafted_tokens) {
  expect_mask(R"(
PREFIX = 4
N = 12
def tree_mask(b, h, q_idx, kv_idx):
    in_prefix = kv_idx < PREFIX
    in_tree = (kv_idx >= PREFIX) & (kv_idx < PREFIX + N)
    node = torch.clamp(kv_idx - PREFIX, 0, N - 1)
    return in_prefix | (in_tree & ancestors[q_idx, node])
)",
              [](const ModPoint& p) {
                const bool in_tree = p.key >= 4 && p.key < 16;
                return p.key < 4 || (in_tree && is_ancestor(p.query, std::clamp<std::int64_t>(p.key - 4, 0, 11)));
              });
}

TEST(ModExamples, t5_buckets) {
  expect_same(R"(
import math
def relative_position_bucket(relative_position, bidirectional=True, num_buckets=32, max_distance=128):
    relative_buckets = 0
    if bidirectional:
        num_buckets //= 2
        relative_buckets += (relative_position > 0).to(torch.long) * num_buckets
        relative_position = torch.abs(relative_position)
    else:
        relative_position = -torch.min(relative_position, torch.zeros_like(relative_position))
    max_exact = num_buckets // 2
    is_small = relative_position < max_exact
    relative_position_if_large = max_exact + (
        torch.log(relative_position.float() / max_exact)
        / math.log(max_distance / max_exact)
        * (num_buckets - max_exact)
    ).to(torch.long)
    relative_position_if_large = torch.min(
        relative_position_if_large, torch.full_like(relative_position_if_large, num_buckets - 1)
    )
    relative_buckets += torch.where(is_small, relative_position, relative_position_if_large)
    return relative_buckets

def t5_bias(score, b, h, q_idx, kv_idx):
    bucket = relative_position_bucket(kv_idx - q_idx, num_buckets=16, max_distance=20)
    return score + relative_attention_bias[bucket, h]
)",
              ModRole::score_mod, [](const ModPoint& p) {
                const auto distance = std::abs(p.key - p.query);
                std::int64_t bucket = p.key > p.query ? 8 : 0;
                if (distance < 4) {
                  bucket += distance;
                } else {
                  const double steps = std::log(static_cast<double>(distance) / 4) / std::log(20.0 / 4) * 4;
                  bucket += std::min<std::int64_t>(4 + static_cast<std::int64_t>(steps), 7);
                }
                return p.score + bucket_bias(bucket, p.head);
              });
}

/// NATTEN's rule for one axis without stride and dilation.
bool natten_sees(std::int64_t length, std::int64_t kernel, bool causal, std::int64_t i, std::int64_t j) {
  if (causal) return j <= i && j >= std::max<std::int64_t>(0, i - kernel + 1);
  const auto start = std::clamp<std::int64_t>(i - kernel / 2, 0, length - kernel);
  return j >= start && j < start + kernel;
}

TEST(ModExamples, neighborhood_over_axes) {
  expect_mask(R"(
import functools, math, operator

def make_natten_mask(shape, kernel, causal):
    rank = len(shape)
    assert len(kernel) == rank and len(causal) == rank
    strides = [math.prod(shape[d + 1:]) for d in range(rank)]

    def coordinates(idx):
        return tuple((idx // stride) % extent for stride, extent in zip(strides, shape))

    def natten_mask(b, h, q_idx, kv_idx):
        masks = []
        for i, j, length, k, is_causal in zip(coordinates(q_idx), coordinates(kv_idx), shape, kernel, causal):
            if is_causal:
                mask = (j <= i) & (j >= torch.clamp(i - k + 1, min=0))
            else:
                start = (i - k // 2).clamp(0, length - k)
                mask = (j >= start) & (j < start + k)
            masks += [mask]
        return functools.reduce(operator.and_, masks)

    return natten_mask

natten = make_natten_mask(shape=(4, 6), kernel=(2, 5), causal=(True, False))
)",
              [](const ModPoint& p) {
                return natten_sees(4, 2, true, p.query / 6, p.key / 6) &&
                       natten_sees(6, 5, false, p.query % 6, p.key % 6);
              });
}

std::int64_t every_other_bit(std::int64_t value) {
  std::int64_t result = 0;
  for (int bit = 0; bit < 16; ++bit) result |= ((value >> (2 * bit)) & 1) << bit;
  return result;
}

TEST(ModExamples, morton_order) {
  expect_mask(R"(
def compact_bits(x):
    x &= 0x55555555
    x = (x ^ (x >> 1)) & 0x33333333
    x = (x ^ (x >> 2)) & 0x0F0F0F0F
    x = (x ^ (x >> 4)) & 0x00FF00FF
    x = (x ^ (x >> 8)) & 0x0000FFFF
    return x

def morton_decode(idx):
    return compact_bits(idx), compact_bits(idx >> 1)

def near(b, h, q_idx, kv_idx):
    q_x, q_y = morton_decode(q_idx)
    kv_x, kv_y = morton_decode(kv_idx)
    return ((q_x - kv_x).abs() <= 1) & ((q_y - kv_y).abs() <= 1)
)",
              [](const ModPoint& p) {
                return std::abs(every_other_bit(p.query) - every_other_bit(p.key)) <= 1 &&
                       std::abs(every_other_bit(p.query >> 1) - every_other_bit(p.key >> 1)) <= 1;
              });
}

TEST(ModExamples, alibi_factory) {
  expect_same(R"(
def generate_alibi_bias(H: int) -> _score_mod_signature:
    def alibi_mod(score, b, h, q_idx, kv_idx):
        scale = torch.exp2(-((h + 1) * 8.0 / H))
        bias = (kv_idx - q_idx) * scale
        return score + bias
    return alibi_mod

generate_alibi_bias(4)
)",
              ModRole::score_mod, [](const ModPoint& p) {
                return p.score + static_cast<double>(p.key - p.query) * std::exp2(-static_cast<double>(p.head + 1) * 2);
              });
}

TEST(ModExamples, softcap_by_partial_and_by_factory) {
  const auto expected = [](const ModPoint& p) { return 50 * std::tanh(p.score / 50); };
  expect_same(R"(
from functools import partial
def softcap(score, b, h, q_idx, kv_idx, *, soft_cap: float, approx: bool = False):
    tanh = torch.ops.approx.tanh if approx else torch.tanh
    score = score / soft_cap
    score = tanh(score)
    return score * soft_cap
mod = partial(softcap, soft_cap=50)
)",
              ModRole::score_mod, expected, 1e-12);
  expect_same(R"(
def generate_tanh_softcap(soft_cap: int, approx: bool = False) -> _score_mod_signature:
    tanh = _tanh_approx if approx else torch.tanh
    def tanh_softcap(score, b, h, q_idx, kv_idx):
        return soft_cap * tanh(score / soft_cap)
    prefix = "tanh_softcap_approx" if approx else "tanh_softcap"
    tanh_softcap.__name__ = f"{prefix}_{soft_cap}"
    return tanh_softcap
generate_tanh_softcap(50)
)",
              ModRole::score_mod, expected, 1e-12);
}

TEST(ModExamples, block_diffusion) {
  constexpr std::int64_t n = k_length / 2;
  expect_mask(R"(
n, block_size = 12, 4
def block_diff_mask(b, h, q_idx, kv_idx):
    x0_flag_q = (q_idx >= n)
    x0_flag_kv = (kv_idx >= n)
    block_q = torch.where(x0_flag_q == 1, (q_idx - n) // block_size, q_idx // block_size)
    block_kv = torch.where(x0_flag_kv == 1, (kv_idx - n) // block_size, kv_idx // block_size)
    block_diagonal = (block_q == block_kv) & (x0_flag_q == x0_flag_kv)
    offset_block_causal = (block_q > block_kv) & (x0_flag_kv == 1) & (x0_flag_q == 0)
    block_causal = (block_q >= block_kv) & (x0_flag_kv == 1) & (x0_flag_q == 1)
    return block_diagonal | offset_block_causal | block_causal
)",
              [](const ModPoint& p) {
                const bool q0 = p.query >= n;
                const bool k0 = p.key >= n;
                const auto bq = (q0 ? p.query - n : p.query) / 4;
                const auto bk = (k0 ? p.key - n : p.key) / 4;
                return (bq == bk && q0 == k0) || (bq > bk && k0 && !q0) || (bq >= bk && k0 && q0);
              });
}

TEST(ModExamples, shared_reducers_on_lists_of_captures) {
  expect_mask(R"(
from functools import reduce
def same(ids):
    return lambda b, h, q_idx, kv_idx: ids[q_idx] == ids[kv_idx]
masks = [same(ids) for ids in [document_id, offsets]] + [lambda b, h, q, k: q >= k]
def mask(b, h, q_idx, kv_idx):
    results = [m(b, h, q_idx, kv_idx) for n, m in enumerate(masks) if n != 1]
    return reduce(lambda x, y: x & y, results)
)",
              [](const ModPoint& p) { return document_of(p.query) == document_of(p.key) && p.query >= p.key; });
}

}  // namespace
}  // namespace kw

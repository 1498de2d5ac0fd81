#pragma once
// A small attention problem and bundles for it, shared by the tests of verify/ and loop/.

#include <string>

#include "problem/operator.hpp"
#include "problem/problem.hpp"
#include "record/bundle.hpp"
#include "verify/checking/accuracy.hpp"

namespace kw {

inline Problem small_problem() {
  auto problem = parse_problem(R"(
name = "test/causal"
op = "attention"
description = "small enough for tests"
[axes]
B = 1
Hq = 2
Sq = 20
Skv = 20
D = 8
[attention]
dtype = "f32"
mask_mod = "lambda b, h, q_idx, kv_idx: q_idx >= kv_idx"
[[workload]]
name = "odd"
role = "edge"
Sq = 7
Skv = 9
[[workload]]
name = "gqa"
role = "held_out"
B = 2
Hkv = 1
Sq = 5
Skv = 5
)",
                               "small.toml");
  KW_CHECK(problem.has_value(), "{}", problem.error().to_string());
  return *std::move(problem);
}

/// A bundle of one launch whose source is `source`; a fake backend decides what it does.
inline Candidate small_candidate(const std::string& source) {
  Bundle bundle;
  bundle.target = "opencl";
  bundle.problem = "test/causal";
  bundle.generator = "test";
  bundle.launches = {{"k", {"Sq", "Hq"}, {"1", "1"}, "0", {"Q", "K", "V", "O", "Sq"}}};
  bundle.source = source;
  auto candidate = make_candidate(std::move(bundle));
  KW_CHECK(candidate.has_value(), "{}", candidate.error().to_string());
  return *std::move(candidate);
}

/// An output's form as attention judges it.
inline OutputForm test_form(std::int64_t row_length, DType dtype = DType::f32, double unit = 0.0) {
  return {row_length, dtype, unit, find_operator("attention")->checks.tolerance(small_problem(), dtype, row_length)};
}
inline double least_allowed_error(DType dtype) {
  return test_form(1, dtype).tolerance.least_error;
}

}  // namespace kw

#pragma once
// Evaluates a mod for a row of consecutive keys, node by node, without allocating per element. For the oracle and for
// counting what a mask lets through. Not thread-safe: one evaluator per thread.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "mod/expression/capture_data.hpp"
#include "mod/expression/expr.hpp"
#include "tensor/tensor.hpp"

namespace kw {

class ModRowEvaluator {
 public:
  static constexpr std::int64_t k_lanes = 64;

  /// `mod` and `captures` must outlive the evaluator; `axes` binds its axis nodes, `captures` holds at least the
  /// tensors it reads.
  ModRowEvaluator(const ModFunction& mod, const Axes& axes, const CaptureData& captures = no_captures());

  struct Row {
    std::int64_t batch = 0, head = 0, query = 0;
  };
  /// values[i] is replaced by the mod's value at key first_key + i; on entry it holds the score there (masks ignore
  /// it). Booleans come out as 0 and 1.
  void run(const Row& row, std::int64_t first_key, std::span<double> values);

 private:
  using Lanes = std::array<double, k_lanes>;
  void run_lanes(const Row& row, std::int64_t first_key, std::span<double> values);
  void run_node(std::size_t index);
  void run_gather(std::size_t index);

  const ModFunction& mod_;
  const CaptureData& captures_;
  std::vector<Lanes> values_;  // one per node
  std::vector<bool> fixed_;    // constants and axes: filled once
};

}  // namespace kw

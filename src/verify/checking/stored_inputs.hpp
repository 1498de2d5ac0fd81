#pragma once
// The inputs of a case as the buffers of a plan hold them.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "problem/problem.hpp"
#include "verify/checking/check_suite.hpp"

namespace kw {

/// By the order of Problem::inputs. Those of f32 are the case's own, which has to outlive this; the others are
/// converted when somebody asks for them, and large ones are drawn then. Made once where several launches have the same
/// data. For one thread at a time.
class StoredInputs {
 public:
  StoredInputs() = default;
  /// The memory of `used` is taken where its inputs were as large.
  StoredInputs(const Problem& problem, const CheckCase& one, StoredInputs used = {});

  /// All of them must have been drawn.
  [[nodiscard]] std::span<const std::byte> bytes(std::size_t input, const ParallelFor& parallel) const;
  /// That many bytes from `offset` on, both multiples of an element's length, of a random one.
  [[nodiscard]] std::vector<std::byte> part(std::size_t input, std::size_t offset, std::size_t length) const;
  /// Nobody asks for bytes any more: lets go of inputs that were drawn for this.
  void forget_drawn() { drawn_.reset(); }
  /// What a device can draw the input as.
  [[nodiscard]] std::optional<RandomTensor> random(std::size_t input) const;
  /// Whether the first element of each row is another one than the tensor's, and these as they are stored.
  [[nodiscard]] bool has_firsts(std::size_t input) const;
  [[nodiscard]] std::vector<std::byte> firsts(std::size_t input, const ParallelFor& parallel) const;

 private:
  struct Input {
    DType dtype = DType::f32;
    std::span<const float> values;  ///< empty where they are to be drawn
    std::optional<RandomInput> random;
    mutable std::vector<std::byte> converted;  ///< memory of any content until is_converted
    mutable bool is_converted = false;
  };
  [[nodiscard]] std::span<const float> values_of(std::size_t input) const;

  std::vector<Input> inputs_;
  std::function<Result<std::shared_ptr<const DrawnInputs>>(const OperandReads* reads)> draw_;
  mutable std::shared_ptr<const DrawnInputs> drawn_;
};

}  // namespace kw

#include "verify/checking/stored_inputs.hpp"

#include <utility>

#include "base/random_tensor.hpp"
#include "base/required.hpp"
#include "verify/checking/storage.hpp"

namespace kw {

StoredInputs::StoredInputs(const Problem& problem, const CheckCase& one, StoredInputs used) : draw_(one.draw) {
  used.inputs_.resize(one.inputs.size());
  for (std::size_t i = 0; i < one.inputs.size(); ++i) {
    Input input;
    input.dtype = problem.inputs[i].dtype;
    input.values = one.inputs[i];
    if (i < one.random.size()) input.random = one.random[i];
    input.converted = std::move(used.inputs_[i].converted);
    inputs_.push_back(std::move(input));
  }
}

std::span<const float> StoredInputs::values_of(std::size_t input) const {
  if (!draw_ || !inputs_[input].values.empty()) return inputs_[input].values;
  if (!drawn_) drawn_ = draw_(nullptr).value();
  return drawn_->values[input];
}

std::span<const std::byte> StoredInputs::bytes(std::size_t input, const ParallelFor& parallel) const {
  const Input& one = inputs_[input];
  KW_CHECK(!one.random || one.random->all_drawn, "of input {} only parts were drawn", input);
  if (one.dtype == DType::f32) return std::as_bytes(values_of(input));
  if (!one.is_converted) one.converted = stored(one.dtype, values_of(input), parallel, std::move(one.converted));
  one.is_converted = true;
  return one.converted;
}

std::vector<std::byte> StoredInputs::part(std::size_t input, std::size_t offset, std::size_t length) const {
  const Input& one = inputs_[input];
  const auto width = static_cast<std::size_t>(bytes_per_element(one.dtype));
  std::vector<float> values(length / width);
  const RandomInput& random = one.random.value();
  const std::size_t first = offset / width;
  fill_random(values, random.tensor, first);
  round_to(one.dtype, values);
  if (random.firsts) {
    set_first_of_rows(values, *random.firsts, static_cast<std::size_t>(random.tensor.row_length), first);
  }
  return stored(one.dtype, values);
}

bool StoredInputs::has_firsts(std::size_t input) const {
  const auto& random = inputs_[input].random;
  return random && random->firsts != nullptr;
}

std::vector<std::byte> StoredInputs::firsts(std::size_t input, const ParallelFor& parallel) const {
  const Input& one = inputs_[input];
  KW_CHECK(has_firsts(input), "input {} is all drawn", input);
  return stored(one.dtype, *one.random->firsts, parallel);
}

std::optional<RandomTensor> StoredInputs::random(std::size_t input) const {
  const auto& random = inputs_[input].random;
  return random ? std::optional(random->tensor) : std::nullopt;
}

}  // namespace kw

// Normalisations: (x - mean) / sqrt(variance + eps), with the biased variance of a group of elements, times a weight
// and plus a bias. They differ in which elements are a group and which weight is an element's.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include "operators/program/oracle/answers.hpp"

namespace kw::program_oracle {
namespace {

/// Which elements belong together: `stay` axes name a group, all others are walked.
struct NormGroups {
  NormGroups(const Extents& extents, const std::vector<std::size_t>& stay) {
    std::vector<std::size_t> walked;
    Extents strides(extents.size(), 0);
    std::int64_t stride = 1;
    for (std::size_t i = extents.size(); i-- > 0;) {
      if (std::find(stay.begin(), stay.end(), i) == stay.end()) {
        walked.insert(walked.begin(), i);
        continue;
      }
      strides[i] = stride;
      stride *= extents[i];
    }
    count = stride;
    space = split_space(extents, walked);
    group_of = StridedMap(extents, strides);
    for (std::size_t i = stay.empty() ? 0 : stay.back() + 1; i < extents.size(); ++i) run *= extents[i];
  }

  std::int64_t count = 1;
  std::int64_t run = 1;  ///< from each multiple of it on, as many elements are of one group
  SplitSpace space;      ///< kept: by group; walked: within it
  StridedMap group_of;   ///< of an element
};

/// The mean and the biased variance of each group. By root mean square: 0 and the mean of squares.
std::shared_ptr<GroupStatistics> moments_of(const Operand& input, const NormGroups& groups, bool around_zero) {
  return std::make_shared<GroupStatistics>(groups.count,
                                           [input, space = groups.space, around_zero](std::int64_t group) {
                                             const auto start = space.kept(group);
                                             const auto count = static_cast<double>(space.walked.count());
                                             GroupStatistics::Pair pair;
                                             for (std::int64_t i = 0; !around_zero && i < space.walked.count(); ++i)
                                               pair.first += input[start + space.walked(i)];
                                             pair.first /= count;
                                             for (std::int64_t i = 0; i < space.walked.count(); ++i) {
                                               const double x = input[start + space.walked(i)] - pair.first;
                                               pair.second += x * x;
                                             }
                                             pair.second /= count;
                                             return pair;
                                           });
}

/// Weight and bias of the axes from `axis` to `end`.
struct Affine {
  Affine(const OracleCall& call, const Extents& extents, std::size_t axis, std::size_t end)
      : weight(call.optional_tensor("weight")) {
    if (call.has("bias")) bias = call.optional_tensor("bias");
    for (std::size_t i = axis; i < end; ++i) length *= extents[i];
    for (std::size_t i = end; i < extents.size(); ++i) inner *= extents[i];
  }

  [[nodiscard]] double apply(double x, std::int64_t element) const {
    const auto at = element / inner % length;
    if (weight) x *= (*weight)[at];
    return bias ? x + (*bias)[at] : x;
  }

  std::optional<Operand> weight;
  std::optional<Operand> bias;
  std::int64_t length = 1;
  std::int64_t inner = 1;
};

Answer normalised(const Operand& input, const NormGroups& groups, const Affine& affine, double eps,
                  bool around_zero = false) {
  const auto statistics = moments_of(input, groups, around_zero);
  return by_groups(each_element(
                       [input, group_of = groups.group_of, statistics, affine, eps](std::int64_t i) {
                         const auto [mean, variance] = statistics->of(group_of(i));
                         return affine.apply((input[i] - mean) / std::sqrt(variance + eps), i);
                       },
                       statistics),
                   OperandGroups{groups.space, groups.group_of, groups.run});
}

/// By statistics that the module keeps, one of each channel.
Answer by_running_statistics(const OracleCall& call, const Operand& input, std::size_t channels) {
  const Affine affine(call, input.extents(), channels, channels + 1);
  return each_element([input, affine, mean = call.tensor("running_mean"), variance = call.tensor("running_var"),
                       eps = call.number("eps")](std::int64_t i) {
    const auto channel = i / affine.inner % affine.length;
    return affine.apply((input[i] - mean[channel]) / std::sqrt(variance[channel] + eps), i);
  });
}

Result<Answer> batch_norm(const OracleCall& call) {
  const auto input = call.tensor("input");
  if (!call.truth("training")) return by_running_statistics(call, input, 1);
  return normalised(input, NormGroups(input.extents(), {1}), Affine(call, input.extents(), 1, 2), call.number("eps"));
}

/// Each channel of each image by itself; an image may stand alone, without the axis of the batch.
Result<Answer> instance_norm(const OracleCall& call) {
  const auto input = call.tensor("input");
  const auto windows = static_cast<std::size_t>(call.op()[call.op().size() - 2] - '0');
  const auto channels = input.rank() - windows - 1;
  if (!call.truth("use_input_stats") && call.given("running_mean")) return by_running_statistics(call, input, channels);
  std::vector<std::size_t> stay;
  for (std::size_t i = 0; i <= channels; ++i) stay.push_back(i);
  return normalised(input, NormGroups(input.extents(), stay), Affine(call, input.extents(), channels, channels + 1),
                    call.number("eps"));
}

/// Seen as [N, groups, rest].
Result<Answer> group_norm(const OracleCall& call) {
  const auto input = call.tensor("input");
  const auto groups = input.extent(0) * call.integer("num_groups");
  const Extents seen = {groups, groups == 0 ? 0 : input.count() / groups};
  return normalised(input, NormGroups(seen, {0}), Affine(call, input.extents(), 1, 2), call.number("eps"));
}

/// The smallest number that changes 1 in that type: what rms_norm adds where no eps is given.
double epsilon_of(ElementType type) {
  if (type == ElementType::float16) return std::ldexp(1.0, -10);
  if (type == ElementType::bfloat16) return std::ldexp(1.0, -7);
  if (type == ElementType::float64) return std::numeric_limits<double>::epsilon();
  return static_cast<double>(std::numeric_limits<float>::epsilon());
}

/// Over the last axes.
Result<Answer> layer_norm(const OracleCall& call, bool around_zero) {
  const auto input = call.tensor("input");
  const auto kept = input.rank() - call.integers("normalized_shape").size();
  std::vector<std::size_t> stay;
  for (std::size_t i = 0; i < kept; ++i) stay.push_back(i);
  return normalised(input, NormGroups(input.extents(), stay), Affine(call, input.extents(), kept, input.rank()),
                    call.number_or("eps", epsilon_of(call.output_type())), around_zero);
}

/// x / (k + alpha * mean of the squares of the channels around)^beta; of an even number of channels more lie before.
Result<Answer> local_response_norm(const OracleCall& call) {
  const auto input = call.tensor("input");
  const Lines channels(input.extents(), 1);
  const auto size = call.integer("size");
  return by_place(each_element([input, channels, size, alpha = call.number("alpha"), beta = call.number("beta"),
                                k = call.number("k")](std::int64_t i) {
    const auto place = channels.position_of(i);
    const auto first = std::max<std::int64_t>(0, place - size / 2);
    const auto last = std::min(channels.length - 1, place + (size - 1) / 2);
    double squares = 0.0;
    for (auto c = first; c <= last; ++c) {
      const double x = input[i + (c - place) * channels.stride];
      squares += x * x;
    }
    return input[i] / std::pow(k + alpha * squares / static_cast<double>(size), beta);
  }));
}

constexpr std::array k_normalisation_answers = {
    OracleRow{"batch_norm1d", batch_norm},
    OracleRow{"batch_norm2d", batch_norm},
    OracleRow{"batch_norm3d", batch_norm},
    OracleRow{"instance_norm1d", instance_norm},
    OracleRow{"instance_norm2d", instance_norm},
    OracleRow{"instance_norm3d", instance_norm},
    OracleRow{"group_norm", group_norm},
    OracleRow{"layer_norm", [](const OracleCall& call) { return layer_norm(call, false); }},
    OracleRow{"rms_norm", [](const OracleCall& call) { return layer_norm(call, true); }},
    OracleRow{"local_response_norm", local_response_norm},
};

}  // namespace

std::span<const OracleRow> normalisation_answers() {
  return k_normalisation_answers;
}

}  // namespace kw::program_oracle

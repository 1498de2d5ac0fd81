#include "verify/checking/sampled_rows.hpp"

#include <algorithm>
#include <numeric>
#include <set>

namespace kw {
namespace {

/// The first, the last, and others at random; ascending. Of no fewer than `wanted`, which is 2 at least.
std::vector<std::int64_t> some_of(std::int64_t all, std::int64_t wanted, Rng& rng) {
  std::set<std::int64_t> some = {0, all - 1};
  while (std::ssize(some) < wanted) some.insert(rng.below(all));
  return {some.begin(), some.end()};
}

}  // namespace

AnswerWork whole_answer_work(const Problem& problem, const Workload& workload, double steps) {
  AnswerWork work{steps, 0};
  for (const auto& output : problem.outputs) {
    const auto elements = element_count(output, workload.axes);
    KW_CHECK(elements.has_value(), "{} was never checked", output.name);
    work.elements += static_cast<double>(*elements);
  }
  return work;
}

std::vector<std::int64_t> sampled_rows(std::int64_t rows, const AnswerWork& all, const AnswerWork& affordable, Rng& rng,
                                       std::int64_t least) {
  const double share =
      std::min({affordable.flops / std::max(all.flops, 1.0), affordable.elements / std::max(all.elements, 1.0), 1.0});
  const std::int64_t wanted = std::max(least, static_cast<std::int64_t>(share * static_cast<double>(rows)));
  if (wanted >= rows) {
    std::vector<std::int64_t> each(static_cast<std::size_t>(rows));
    std::iota(each.begin(), each.end(), 0);
    return each;
  }
  return some_of(rows, wanted, rng);
}

std::vector<std::int64_t> rows_of_slices(std::int64_t rows, std::int64_t slices, std::int64_t most,
                                         const AnswerWork& all, const AnswerWork& affordable, Rng& rng) {
  if (slices <= most) return sampled_rows(rows, all, affordable, rng);
  const std::int64_t length = rows / slices;
  const std::vector<std::int64_t> chosen = some_of(slices, most, rng);
  const double share = static_cast<double>(most) / static_cast<double>(slices);
  auto sampled = sampled_rows(most * length, {share * all.flops, share * all.elements}, affordable, rng);
  for (std::int64_t& row : sampled) row = chosen[static_cast<std::size_t>(row / length)] * length + row % length;
  return sampled;
}

}  // namespace kw

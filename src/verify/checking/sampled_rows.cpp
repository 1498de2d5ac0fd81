#include "verify/checking/sampled_rows.hpp"

#include <algorithm>
#include <numeric>
#include <set>

namespace kw {
namespace {

/// Of what slices are asked for.
std::int64_t slices_asked_for(const AnswerRows& of, const AnswerWork& affordable) {
  const double paid = affordable.flops / std::max(of.apart.flops, 1.0) * static_cast<double>(of.slices);
  const double most = static_cast<double>(of.most_slices);
  return std::min(of.slices, std::max(of.fewest_slices, static_cast<std::int64_t>(std::min(paid, most))));
}

}  // namespace

std::vector<std::int64_t> some_of(std::int64_t all, std::int64_t wanted, Rng& rng) {
  if (wanted >= all) {
    std::vector<std::int64_t> each(static_cast<std::size_t>(all));
    std::iota(each.begin(), each.end(), 0);
    return each;
  }
  std::set<std::int64_t> some = {0, all - 1};
  while (std::ssize(some) < wanted) some.insert(rng.below(all));
  return {some.begin(), some.end()};
}

AnswerWork whole_answer_work(const Problem& problem, const Workload& workload, double steps) {
  AnswerWork work{steps, 0};
  for (const auto& output : problem.outputs) {
    const auto elements = element_count(output, workload.axes);
    KW_CHECK(elements.has_value(), "{} was never checked", output.name);
    work.elements += static_cast<double>(*elements);
  }
  return work;
}

std::int64_t rows_paid_for(const AnswerRows& of, const AnswerWork& affordable) {
  const double share = std::min(
      {affordable.flops / std::max(of.apart.flops, 1.0), affordable.elements / std::max(of.apart.elements, 1.0), 1.0});
  return static_cast<std::int64_t>(share * static_cast<double>(of.rows));
}

std::vector<std::int64_t> sampled_rows(const AnswerRows& of, const AnswerWork& affordable, Rng& rng,
                                       std::int64_t least) {
  const std::int64_t wanted = std::max(least, rows_paid_for(of, affordable));
  const std::int64_t slices = slices_asked_for(of, affordable);
  if (slices == of.slices) return some_of(of.rows, wanted, rng);
  const std::int64_t length = of.rows / of.slices;
  const std::vector<std::int64_t> chosen = some_of(of.slices, slices, rng);
  auto sampled = some_of(slices * length, wanted, rng);
  for (std::int64_t& row : sampled) {
    const std::int64_t slice = chosen[static_cast<std::size_t>(row / length)];
    row = of.row_of ? of.row_of(slice, row % length) : slice * length + row % length;
  }
  std::ranges::sort(sampled);
  return sampled;
}

}  // namespace kw

#include "verify/checking/sampled_rows.hpp"

#include <algorithm>
#include <numeric>
#include <set>

namespace kw {

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
  std::set<std::int64_t> some = {0, rows - 1};
  while (std::ssize(some) < wanted) some.insert(rng.below(rows));
  return {some.begin(), some.end()};
}

}  // namespace kw

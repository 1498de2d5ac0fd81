#include "operators/program/oracle/operand_groups.hpp"

namespace kw::program_oracle {

std::optional<Ranges> reads_of_groups(const OperandGroups& groups, const Ranges& wanted, const ParallelFor& parallel,
                                      std::int64_t most) {
  const StridedMap& kept = groups.space.kept;
  const StridedMap& walked = groups.space.walked;
  const std::int64_t runs = walked.count() / walked.run();
  ElementSet needed(kept.count());
  std::int64_t elements = 0;
  for (const auto& range : wanted) {
    elements += (range.end - range.begin) / groups.run + 1;
    if (elements > most) return std::nullopt;
    for (auto i = range.begin; i < range.end; i = (i / groups.run + 1) * groups.run) needed.add(groups.of(i));
  }
  const Ranges some = cut(needed.ranges(), 1);
  if (std::ssize(some) * runs > most) return std::nullopt;
  ElementSet reads(kept.count() * walked.count());
  parallel(std::ssize(some), [&](std::int64_t i) {
    const std::int64_t start = kept(some[static_cast<std::size_t>(i)].begin);
    for (std::int64_t run = 0; run < runs; ++run) {
      const std::int64_t first = start + walked(run * walked.run());
      reads.add({first, first + walked.run()});
    }
  });
  return reads.ranges();
}

}  // namespace kw::program_oracle

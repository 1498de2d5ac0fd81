#include "operators/program/oracle/operand_groups.hpp"

namespace kw::program_oracle {

std::optional<Ranges> reads_of_groups(const OperandGroups& groups, const Ranges& wanted, std::size_t most) {
  ElementSet needed(groups.space.kept.count());
  for (const auto& range : wanted) {
    for (auto i = range.begin; i < range.end; i = (i / groups.run + 1) * groups.run) needed.add(groups.of(i));
  }
  const auto& walked = groups.space.walked;
  Ranges reads;
  for (const auto& range : needed.ranges()) {
    for (auto group = range.begin; group < range.end; ++group) {
      const std::int64_t start = groups.space.kept(group);
      for (std::int64_t i = 0; i < walked.count(); i += walked.run()) {
        reads.push_back({start + walked(i), start + walked(i) + walked.run()});
      }
      if (reads.size() > most) return std::nullopt;
    }
  }
  return joined(std::move(reads));
}

}  // namespace kw::program_oracle

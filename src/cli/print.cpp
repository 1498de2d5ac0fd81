#include "cli/print.hpp"

#include "archive/damage.hpp"
#include "report/summary.hpp"

namespace kw {

std::string verdict_in_words(const Verdict& verdict) {
  std::string words(to_string(verdict.status));
  if (verdict.accepted() && !passed(verdict, GateId::sanitize)) words += ", but not sanitized";
  return words;
}

void warn_of_damage(const Archive& archive) {
  const std::string warning = damage_warning(archive.file(), archive.passed_over());
  if (!warning.empty()) print_text(stderr, "warning: {}\n", warning);
}

}  // namespace kw

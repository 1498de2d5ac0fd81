#include "cli/print.hpp"

#include "archive/damage.hpp"

namespace kw {

void warn_of_damage(const Archive& archive) {
  const std::string warning = damage_warning(archive.file(), archive.passed_over());
  if (!warning.empty()) print_text(stderr, "warning: {}\n", warning);
}

}  // namespace kw

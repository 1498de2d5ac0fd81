#pragma once
// What is wrong inside an archive, and how it is said. A run is damaged when any of its rows is: its own, its
// problem's, an attempt, a bundle or a turn.

#include <filesystem>
#include <string>
#include <vector>

namespace kw {

/// One damaged record.
struct ArchiveDamage {
  std::string run_id;  ///< as far as it can be read; empty: of the file itself, not of one run
  std::string what;    ///< "attempt 3 of run ...: its bytes are not those that were written"
};

/// For whoever meets damage: the commands that list it and set it aside.
[[nodiscard]] std::string damage_hint(const std::filesystem::path& file);

/// That runs were passed over, by name, and what to do; empty when there are none.
[[nodiscard]] std::string damage_warning(const std::filesystem::path& file, const std::vector<std::string>& run_ids);

}  // namespace kw

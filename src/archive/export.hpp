#pragma once
// Runs as JSON lines, for other programs: one object a line, with the keys of the stored records (docs/formats.md).

#include <functional>
#include <string>
#include <string_view>

#include "archive/archive.hpp"

namespace kw {

/// Called with each line, without its end. An error ends the export.
using LineSink = std::function<Result<void>(std::string_view line)>;

/// The run, its attempts in order, its turns in order. Attempts and turns also have "run_id". Nothing is passed on when
/// any of it is damaged (errc::archive_corrupt).
[[nodiscard]] Result<void> export_run(const Archive& archive, const RunRecord& run, const LineSink& sink);

}  // namespace kw

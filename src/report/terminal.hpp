#pragma once
// The report in a terminal: what `optimize` ends with and `show` prints. The essence only; the files hold the rest.

#include <string>

#include "report/model.hpp"

namespace kw {

/// At most 100 columns. `is_terminal`: emphasis by escape codes; without it plain text. Untrusted text never brings
/// control characters of its own.
[[nodiscard]] std::string to_terminal(const ReportModel& model, bool is_terminal);

}  // namespace kw

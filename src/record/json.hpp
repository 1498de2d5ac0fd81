#pragma once
// Records as JSON text, for the archive, worker replies and files that people exchange.
//
//   {"format": 1, "record": "attempt", "ordinal": 3, ...}
//
// Keys: record/*_fields.hpp. Reading passes over unknown keys (a newer program of the same format may add some), and is
// strict about everything else: a missing key, a wrong type, an enum value or a format this program does not know is an
// error. Numbers come back bit for bit; an infinite or undefined one is the string "inf", "-inf" or "nan", which JSON
// has no number for. Strings that are no text (base/utf8.hpp; compiler logs, model output) are {"latin1": "..."}, one
// character per byte, because JSON text cannot hold them and identities are computed over the exact bytes. Rejected: a
// binary form; an archive should be readable with nothing but a text tool in ten years.

#include <optional>
#include <string>
#include <string_view>

#include "record/attempt.hpp"
#include "record/run_record.hpp"
#include "record/turn.hpp"

namespace kw {

namespace errc {
/// Stored text is not a record of this kind and format. `where` has line and column when it is not JSON at all.
inline constexpr ErrorCode record_decode{"record.decode", ExitClass::internal};
}  // namespace errc

[[nodiscard]] std::string encode(const Attempt& attempt);
[[nodiscard]] std::string encode(const RunRecord& run);
[[nodiscard]] std::string encode(const Turn& turn);
[[nodiscard]] std::string encode(const Verdict& verdict);
[[nodiscard]] std::string encode(const Measurement& measurement);
[[nodiscard]] std::string encode(const DeviceFacts& facts);
[[nodiscard]] std::string encode(const BuildReport& report);
[[nodiscard]] std::string encode(const ProblemSource& source);

[[nodiscard]] Result<Attempt> decode_attempt(std::string_view json);
[[nodiscard]] Result<RunRecord> decode_run(std::string_view json);
[[nodiscard]] Result<Turn> decode_turn(std::string_view json);
[[nodiscard]] Result<Verdict> decode_verdict(std::string_view json);
[[nodiscard]] Result<Measurement> decode_measurement(std::string_view json);
[[nodiscard]] Result<DeviceFacts> decode_device_facts(std::string_view json);
[[nodiscard]] Result<BuildReport> decode_build_report(std::string_view json);
[[nodiscard]] Result<ProblemSource> decode_problem_source(std::string_view json);

/// An attempt and its bundle apart: hundreds of attempts share a bundle, and a store keeps it once.
struct AttemptParts {
  std::string attempt;  ///< as encode(), without candidate.bundle
  std::string bundle;   ///< equal bundles give equal text
};
[[nodiscard]] AttemptParts encode_apart(const Attempt& attempt);
[[nodiscard]] Result<Attempt> decode_apart(const AttemptParts& parts);

/// A run and what its problem was read from apart: a run is written again and again, its problem never changes and is
/// shared with other runs.
struct RunParts {
  std::string run;                            ///< as encode(), without problem_source
  std::optional<std::string> problem_source;  ///< equal sources give equal text
};
[[nodiscard]] RunParts encode_apart(const RunRecord& run);
[[nodiscard]] Result<RunRecord> decode_apart(const RunParts& parts);

}  // namespace kw

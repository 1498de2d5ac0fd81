#pragma once
// What a verifier is asked about one candidate, complete: whoever has it can read the problem, draw the same check
// suite and judge the candidate, on this machine or another. Plain data with a text form; the loop makes it, a verifier
// (verify/verifier.hpp) takes it.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/hash.hpp"
#include "base/result.hpp"
#include "problem/source.hpp"
#include "record/bundle.hpp"

namespace kw {

struct VerifyRequest {
  std::optional<ProblemSource> problem;  ///< absent for a problem made by hand, which only its own process knows
  Hash problem_id;                       ///< what read_again(*problem) has to have as id()
  Candidate candidate;
  std::uint64_t suite_seed = 0;    ///< of all input data. Secret: no proposer sees a request
  std::optional<Duration> budget;  ///< from submission on; absent: no limit
};

/// JSON of format 1, record "verify_request": source text and bundle text as they are, the budget in nanoseconds.
[[nodiscard]] std::string encode(const VerifyRequest& request);

/// Longer text is refused before it is parsed: room for the files of a problem as JSON strings, its text and a bundle.
inline constexpr std::size_t k_max_request_bytes = std::size_t{32} << 20;

/// `text` is untrusted. errc::record_decode when it is no request, is too long, or has a budget that is not above zero;
/// errors of parse_bundle and make_candidate when the candidate in it is not one.
[[nodiscard]] Result<VerifyRequest> decode_verify_request(std::string_view text);

}  // namespace kw

#include "verify/verifier.hpp"

namespace kw {

VerifyResult Verifier::verify(const Candidate& candidate, std::optional<Duration> budget) {
  KW_CHECK(in_flight() == 0, "{} candidates are in flight", in_flight());
  submit(request_for(candidate, budget));
  for (;;) {
    if (auto result = poll()) return *std::move(result);
    wait(Instant::max());
  }
}

}  // namespace kw

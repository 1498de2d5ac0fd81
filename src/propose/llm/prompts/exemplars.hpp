#pragma once
// Which earlier kernels are shown to a model. The choice carries the effect: kernels of clearly different speed show
// what made the difference, while random ones were measured to be worse than none (CUDA-L1, arXiv 2507.14111, table of
// ablations). Pure: the same attempts and the same Rng give the same choice.

#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/rng.hpp"
#include "record/attempt.hpp"

namespace kw {

namespace errc {
inline constexpr ErrorCode exemplar_choice{"exemplars.unknown"};  ///< lists the known ones
}  // namespace errc

enum class ExemplarChoice : std::uint8_t {
  none = 0,
  random = 1,  ///< uniformly, for ablation
  top = 2,     ///< the fastest
  bucket = 3,  ///< one each of distinct buckets of speed, fast buckets more often
  island = 4,  ///< as bucket, among the attempts of one chain and those that came to it from others
};
[[nodiscard]] std::string_view to_string(ExemplarChoice choice);
[[nodiscard]] Result<ExemplarChoice> parse_exemplar_choice(std::string_view text);

struct Exemplar {
  const Attempt* attempt = nullptr;  ///< not owned; the fastest of its source
  double speedup = 1;                ///< over the plain kernel
  /// All verified forms of its source, with other tunables, the fastest first and `attempt` among them; not owned.
  std::vector<const Attempt*> forms = {};
};

/// The population of one chain: its own attempts, and kernels of other chains that migrated to it. A chain that has
/// verified nothing yet shows nothing.
struct Island {
  std::int64_t chain = 0;                  ///< as Attempt::provenance has it
  std::set<const Attempt*> migrants = {};  ///< not owned
  [[nodiscard]] bool holds(const Attempt& attempt) const {
    return attempt.provenance.chain == chain || migrants.contains(&attempt);
  }
};

/// A bucket spans this factor of speed-up: wide enough that noise moves no kernel across two, narrow enough that two
/// buckets differ by something worth reading.
inline constexpr double k_bucket_factor = 1.25;
/// tau of the softmax, as a share of the mean of the buckets' means: speed-ups of 2 and of 40 then behave alike, which
/// a constant in units of speed-up would not.
inline constexpr double k_bucket_temperature = 0.5;

/// A verified kernel's bucket, ascending with speed.
[[nodiscard]] std::int64_t bucket_of(double speedup);
/// P(k) = exp((s_k - mu) / tau) / sum_j exp((s_j - mu) / tau), with s_k the mean speed-up of bucket k, mu the mean of
/// the s_k, tau = k_bucket_temperature * mu (Eq. 1 of CUDA-L1).
[[nodiscard]] std::vector<double> bucket_probabilities(const std::vector<double>& means);

/// At most `count`, slowest first, so that the text reads as an ascent; no source twice (same_source.hpp). Attempts
/// that were not accepted or have no time are passed over. Buckets are drawn without replacement, by
/// bucket_probabilities over those that are left; inside one the kernel is taken that is least like those
/// chosen before (source_distance), of equals each as likely.
[[nodiscard]] std::vector<Exemplar> choose_exemplars(ExemplarChoice choice, const std::vector<const Attempt*>& verified,
                                                     double plain_ns, int count, const Island& island, Rng& rng);

}  // namespace kw

#pragma once
// What an archive's attempts teach a model of time (predict/). Lives here because it needs the archive and the spaces
// of the styles, which the model knows nothing of.

#include <span>
#include <vector>

#include "archive/archive.hpp"
#include "base/parallel.hpp"
#include "predict/time_sample.hpp"
#include "propose/search/space_sample.hpp"

namespace kw {

/// Of one subject, the style's first guess first, then others of its space at random: none has a time. The subject's
/// device need not be here. Errors: as find_style and SearchSpace::open.
[[nodiscard]] Result<std::vector<TimeSample>> candidates_to_foretell(const Problem& problem, const TimeSubject& subject,
                                                                     std::size_t at_most, std::uint64_t seed,
                                                                     const ParallelFor& parallel = serial_for);

/// Of one run, as below: of the attempts that ended within its first `seconds` of wall clock. errc::archive_corrupt for
/// a damaged run.
[[nodiscard]] Result<std::vector<TimeSample>> samples_of_run(const Archive& archive, const RunRecord& run,
                                                             double seconds);

/// Every attempt of a style's run that was timed and not contradicted. Of runs whose problem cannot be read again,
/// whose style is gone, or whose device has no known peaks: nothing. Damaged runs are passed over
/// (Archive::passed_over).
[[nodiscard]] Result<std::vector<TimeSample>> archived_samples(const Archive& archive);

}  // namespace kw

#pragma once
// Everything one style can write for one problem on one device: structural choices, which change the source, times the
// tunables of the bundle each of them gives. Bundles are emitted when first needed and kept. Not thread safe.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/parallel.hpp"
#include "base/result.hpp"
#include "base/rng.hpp"
#include "codegen/codegen.hpp"
#include "record/bundle.hpp"

namespace kw {

/// A place in the space. `variant` names a bundle, `tunables` assigns it; structural assignments that give the same
/// bundle are one variant, so two points are equal exactly when their candidates' ids are.
struct SearchPoint {
  std::size_t variant = 0;
  IntBindings tunables;
  friend auto operator<=>(const SearchPoint&, const SearchPoint&) = default;
};

/// One step in the space: a point, and the name of the dimension that changed.
struct SearchStep {
  SearchPoint point;
  std::string dimension;
};

class SearchSpace {
 public:
  /// Fails as the style does when it cannot express the problem. `style` and `problem` must outlive the space. Where
  /// all variants are emitted, `parallel` does it: of a network of 30 kernels one takes a tenth of a second.
  [[nodiscard]] static Result<SearchSpace> open(const Style& style, const Problem& problem, DeviceFacts device,
                                                ParallelFor parallel = serial_for);

  /// Emits variants that are not known yet: those of all structural assignments, or, of more than 256, those that
  /// changes of one choice lead to from a variant that is known, the default first. False where there are no more.
  bool widen();
  /// Points, before constraints; saturates at INT64_MAX. Emits every variant.
  [[nodiscard]] std::int64_t size();
  /// Whether it has more points than that. Emits as many variants as that takes.
  [[nodiscard]] bool exceeds(std::int64_t points);
  /// The point nearest to an assignment of structure and tunables: missing names take their default, unknown ones are
  /// ignored, values that are not allowed become the nearest allowed one. Nothing when the style refuses the structure.
  [[nodiscard]] std::optional<SearchPoint> point_at(const IntBindings& assignment);
  /// The point of a candidate from an archive. Its own structure is found again when this style still writes its
  /// bundle; otherwise its tunables, as the primary workload has them, are carried over to the default structure.
  /// Nothing when it shares no tunable.
  [[nodiscard]] std::optional<SearchPoint> point_of(const Candidate& candidate);
  /// Whether the constraints that tunables and the device's facts decide hold. Cheap.
  [[nodiscard]] bool is_consistent(const SearchPoint& point) const;
  /// The candidate, when it is legal: constraints hold and the launch plan of every workload is within its bounds.
  [[nodiscard]] std::optional<Candidate> candidate_at(const SearchPoint& point) const;
  /// Structural choices and tunables of a point; point_at() of it is the point again.
  [[nodiscard]] IntBindings assignment(const SearchPoint& point) const;
  /// Structural choices, then the tunables of every variant, each once. Emits every variant.
  [[nodiscard]] std::vector<std::string> names();
  /// By those names, the values that some variant may have.
  [[nodiscard]] std::map<std::string, std::set<std::int64_t>, std::less<>> values();
  /// The style's relative cost; lower is better.
  [[nodiscard]] double estimate(const SearchPoint& point) const;
  /// All consistent points that differ in one dimension, in a fixed order.
  [[nodiscard]] std::vector<SearchStep> neighbours(const SearchPoint& point);
  /// Changes up to `count` random dimensions; `dimension` lists them. The point need not be consistent.
  [[nodiscard]] SearchStep scatter(const SearchPoint& point, int count, Rng& rng);
  /// Uniform over structural choices, of more than 256 assignments over the variants that are known, then over the
  /// tunables. Need not be consistent.
  [[nodiscard]] std::optional<SearchPoint> random_point(Rng& rng);

  /// Walks all points, variants in the order in which they were emitted; nothing at the end.
  class Walk {
   public:
    [[nodiscard]] std::optional<SearchPoint> next(SearchSpace& space);

   private:
    std::size_t next_variant_ = 0;
    std::optional<std::size_t> variant_;
    std::vector<std::size_t> digits_;  ///< of the next point in the variant, one per tunable
  };

 private:
  struct Variant {
    IntBindings structure;
    Bundle bundle;
    Hash id;
    std::vector<IntExpr> constraints;                               ///< of the bundle
    std::function<double(const IntBindings& assignment)> estimate;  ///< empty: the style's
  };

  SearchSpace(const Style& style, const Problem& problem, DeviceFacts device, ParallelFor parallel)
      : style_(&style),
        problem_(&problem),
        device_(std::move(device)),
        device_names_(device_.bindings()),
        parallel_(std::move(parallel)) {}
  void emit(const std::vector<IntBindings>& structures);
  void keep(const IntBindings& structure, Result<Bundle> bundle);
  [[nodiscard]] std::optional<std::size_t> variant_for(const IntBindings& structure);
  [[nodiscard]] std::int64_t structure_count() const;
  [[nodiscard]] IntBindings structure_at(std::int64_t rank) const;
  [[nodiscard]] IntBindings structure_at_defaults() const;
  void emit_variants();
  [[nodiscard]] std::vector<IntBindings> single_changes(const IntBindings& structure) const;
  [[nodiscard]] std::int64_t known_points() const;
  [[nodiscard]] std::optional<std::size_t> random_variant(Rng& rng);
  [[nodiscard]] SearchPoint carried_over(std::size_t variant, const IntBindings& tunables) const;

  const Style* style_;
  const Problem* problem_;
  DeviceFacts device_;
  IntBindings device_names_;  ///< of device_, as expressions know them
  ParallelFor parallel_;
  std::vector<Variant> variants_;
  std::int64_t emitted_ranks_ = 0;     ///< of structural assignments, where all of them are emitted
  std::size_t followed_variants_ = 0;  ///< whose single changes were emitted, where they are not
  std::map<IntBindings, std::optional<std::size_t>> by_structure_;  ///< nothing: the style refuses it
};

}  // namespace kw

#pragma once
// The oracle of tensor programs: a graph in double precision, an obvious loop per operator. It shares nothing with what
// it judges. Nothing is rounded to a floating type on the way; integers and booleans follow PyTorch.
//
// It refuses, with an error at the place of the call: random nodes (errc::oracle_random; who wants their results draws
// them and gives them as leaves), and what has no answer (errc::oracle_unanswered). It does not check what only
// elements show: an index outside of its axis gives NaN.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "base/result.hpp"
#include "operators/program/oracle/dense_tensor.hpp"
#include "operators/program/oracle/oracle_errors.hpp"
#include "problem/values.hpp"
#include "program/graph/graph.hpp"

namespace kw {

/// The wanted values, in their order, whole. `leaves` holds, by its number in the graph, each value that they follow
/// from and that no node makes; a value of a node may be given too, and is then not computed. Only what the wanted
/// values need is computed, and is dropped when its last reader is done. errc::oracle_leaf for a leaf that is missing
/// or has another number of elements than the graph says.
[[nodiscard]] Result<std::vector<DenseTensor>> evaluate_graph(const Graph& graph,
                                                              const std::map<std::size_t, DenseTensor>& leaves,
                                                              std::span<const std::size_t> wanted,
                                                              const ParallelFor& parallel = serial_for);

/// Some elements of a value, by their flat indices.
struct WantedElements {
  std::size_t value = 0;
  std::vector<std::int64_t> elements;
};
/// Gives an element of a leaf; called from several threads at once. A leaf stays as its owner stores or makes it.
class LeafElements {
 public:
  using Source = std::function<double(std::int64_t element)>;

  LeafElements() = default;
  template <typename Function>
  requires std::is_invocable_r_v<double, Function, std::int64_t> LeafElements(Function function)
      : source_(std::move(function)) {}
  /// `values` have to outlive it. They are read where they lie, which is many times faster than by calls.
  explicit LeafElements(const std::vector<float>& values) : floats_(values.data()) {}

  [[nodiscard]] const float* floats() const { return floats_; }  ///< null where a function gives elements
  [[nodiscard]] const Source& source() const { return source_; }
  [[nodiscard]] double operator()(std::int64_t element) const {
    return floats_ != nullptr ? static_cast<double>(floats_[element]) : source_(element);
  }

 private:
  const float* floats_ = nullptr;
  Source source_;
};

/// What evaluate_elements computes of the values on the way.
enum class OnTheWay : std::uint8_t {
  elements,  ///< those that are needed: the memory grows with the cone of the wanted elements, not with the tensors
  tensors,   ///< all of each tensor that the wanted elements follow from, side by side on all threads
};

/// The answer on demand: for each of `wanted` its elements. Where places alone say which elements of a value are
/// needed, those are computed side by side; where data do, they are asked for one by one, and kept until the end.
[[nodiscard]] Result<std::vector<std::vector<double>>> evaluate_elements(
    const Graph& graph, const std::map<std::size_t, LeafElements>& leaves, std::span<const WantedElements> wanted,
    const ParallelFor& parallel = serial_for, OnTheWay on_the_way = OnTheWay::elements);

/// The elements of two rows of what is wanted, far from each other: the second shows what a row takes after others,
/// which may have computed what it follows from.
using TwoRows = std::array<std::vector<WantedElements>, 2>;

/// What evaluate_elements takes for the second of these, with OnTheWay::elements: as many elements as it computes and
/// keeps, and shares of one for what it computes and drops or reads. `most` where it is no less, or the first is not.
/// Leaves are taken for zeros: which elements are read hardly depends on them.
[[nodiscard]] Result<double> elements_asked_for(const Graph& graph, const TwoRows& two, double most);

/// Which elements of these leaves the wanted elements may be computed from, each as ranges that ascend and do not
/// touch: all of a leaf where nobody knows. Nothing is computed.
[[nodiscard]] Result<std::vector<std::vector<ElementRange>>> leaf_reads(const Graph& graph,
                                                                        std::span<const WantedElements> wanted,
                                                                        std::span<const std::size_t> leaves);

/// How much work an obvious evaluation of a node is, in additions of two elements.
using NodeSteps = std::function<double(const Node& node)>;
/// Which of the two takes less time for `rows` rows like these. A mean over a channel or a whole tensor has all of it
/// in its cone, and so has a row of attention all keys: threads that ask for elements then compute the same ones.
[[nodiscard]] Result<OnTheWay> faster_on_the_way(const Graph& graph, const std::map<std::size_t, LeafElements>& leaves,
                                                 const TwoRows& two, std::int64_t rows, const NodeSteps& steps_of);

}  // namespace kw

#pragma once
// How the sums of a tile on a GPU come from shared memory into the output, or what is reduced of them.

#include <string>

#include "codegen/text.hpp"
#include "operators/program/kernels/contract_patch_text.hpp"
#include "operators/program/kernels/contract_statistics.hpp"
#include "operators/program/kernels/contract_tails.hpp"
#include "operators/program/kernels/contract_text.hpp"
#include "operators/program/kernels/contraction.hpp"
#include "operators/program/kernels/kernel_scope.hpp"

namespace kw {

/// Statements by which lanes hold what the elements of a row share, such as an element of a bias, of the rows that
/// their warp stores; empty where they share nothing. `batch`: what a block has one index of each. Adds the hole
/// taken_of_rows, for the loop over these rows, and gives what is held its name in the scope.
[[nodiscard]] std::string held_of_rows(KernelScope& scope, const Contraction& contraction,
                                       const PatchContraction& patch, const StageAxes& batch, Fillings& fillings);

class TileStores {
 public:
  /// `patch` and `patch_text` are null where the contraction is not multiplied by patches, `tail` where all sums are
  /// stored, `statistics` where no parts of these are left; there are patches where some are. None of them is copied.
  TileStores(const Contraction& contraction, const KernelBuffer& out, const PatchContraction* patch,
             const PatchText* patch_text, const ContractTail* tail, const ContractStatistics* statistics)
      : contraction_(contraction),
        out_(out),
        patch_(patch),
        patch_text_(patch_text),
        tail_(tail),
        statistics_(statistics) {}

  /// The stage with the axes that count windows, for the scope of the kernel.
  [[nodiscard]] Stage with_window_axes(Stage stage) const;
  /// The holes of the stores of contract.cu or tails.cu.
  void fill(KernelScope& scope, Fillings& fillings) const;
  /// The statements for a line of each thread's sums, of which `fillings` has the holes. Four neighbours at a time
  /// where they are neighbours in the output, and the kernel finds that addresses allow it. `one_by_one`: never.
  [[nodiscard]] std::string text(bool one_by_one, const Fillings& fillings) const;

  /// What is reduced of windows of a tile's finished values besides, where `statistics` have some: behind text().
  [[nodiscard]] std::string windows(KernelScope& scope, const std::vector<KernelBuffer>& buffers) const;

 private:
  /// What the place of a column's element in the output is made of.
  struct StoredPlace {
    std::optional<AffineIndex> address;
    KeptValue kept;    ///< what a column owes to it
    std::string text;  ///< empty: not known before
  };
  /// Whether warps store lines of sums, else threads columns of them.
  [[nodiscard]] bool stores_lines() const { return patch_ != nullptr && tail_ == nullptr; }
  [[nodiscard]] StoredPlace place_of(KernelScope& scope, const StageAxes& rows) const;
  [[nodiscard]] StoredColumns columns_of(KernelScope& scope, const std::set<std::string>& used,
                                         const StoredPlace& place, int at_once) const;
  void fill_sums(KernelScope& scope, Fillings& fillings) const;
  void fill_lines_of_pixels(KernelScope& scope, const StoredSum& stored, const StoredPlace& place, int at_once,
                            Fillings& fillings) const;
  [[nodiscard]] std::string leave_parts(KernelScope& scope, const StoredSum& stored) const;
  void fill_gathered(KernelScope& scope, Fillings& fillings, const std::string& result) const;
  void fill_rows(KernelScope& scope, Fillings& fillings) const;
  void fill_windows(KernelScope& scope, Fillings& fillings) const;
  void fill_pixels(KernelScope& scope, Fillings& fillings) const;
  [[nodiscard]] std::string pixel_axes(KernelScope& scope, const std::string& line, const std::string& across) const;

  const Contraction& contraction_;
  const KernelBuffer& out_;
  const PatchContraction* patch_;
  const PatchText* patch_text_;
  const ContractTail* tail_;
  const ContractStatistics* statistics_;
};

}  // namespace kw

#pragma once
// How all contractions of a program are multiplied, and what may be tuned about them. One assignment of tunables has to
// suit all of them, so each family asks for the same answers again and again: they are found once, when first asked
// for.

#include <optional>
#include <string>
#include <vector>

#include "operators/program/kernels/contract_shape.hpp"

namespace kw {

class ProgramContracts {
 public:
  /// Keeps references to the program and the device.
  ProgramContracts(const StageProgram& program, Dialect dialect, const DeviceFacts& device, ContractWays ways)
      : program_(program), dialect_(dialect), device_(device), ways_(ways) {}
  /// Of a program with contractions of these sizes.
  ProgramContracts(const StageProgram& program, Dialect dialect, const DeviceFacts& device, ContractWays ways,
                   std::vector<ContractSize> sizes)
      : ProgramContracts(program, dialect, device, ways) {
    sizes_ = std::move(sizes);
  }

  [[nodiscard]] const std::vector<ContractSize>& sizes();
  [[nodiscard]] TileProducts products();
  /// With the best guess as defaults. There must be a contraction.
  [[nodiscard]] const std::vector<Tunable>& tunables();
  [[nodiscard]] const std::vector<std::string>& constraints();

 private:
  const StageProgram& program_;
  Dialect dialect_;
  const DeviceFacts& device_;
  ContractWays ways_;
  std::optional<std::vector<ContractSize>> sizes_;
  std::optional<TileProducts> products_;
  std::optional<std::vector<Tunable>> tunables_;
  std::optional<std::vector<std::string>> constraints_;
};

}  // namespace kw

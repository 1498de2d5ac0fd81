#include "operators/program/kernels/program_contracts.hpp"

namespace kw {

std::shared_ptr<ProgramContracts> contracts_of(const StageProgram& program, Dialect dialect, const DeviceFacts& device,
                                               ContractWays ways) {
  return std::make_shared<ProgramContracts>(program, dialect, device, ways);
}

const std::vector<ContractSize>& ProgramContracts::sizes() {
  const auto columns = dialect_->has_vectors ? ColumnChoice::packed : ColumnChoice::contiguous;
  if (!sizes_) sizes_ = contract_sizes(program_, columns, ways_);
  return *sizes_;
}

TileProducts ProgramContracts::products() {
  if (!products_) products_ = tile_products(dialect_, device_, sizes(), ways_);
  return *products_;
}

const std::vector<Tunable>& ProgramContracts::tunables() {
  if (!tunables_)
    tunables_ = dialect_->has_vectors ? contract_vector_tunables(sizes(), device_)
                                      : contract_gpu_tunables(sizes(), products(), device_);
  return *tunables_;
}

const std::vector<std::string>& ProgramContracts::constraints() {
  if (!constraints_)
    constraints_ = dialect_->has_vectors ? contract_vector_constraints(device_)
                                         : contract_gpu_constraints(sizes(), products(), device_);
  return *constraints_;
}

}  // namespace kw

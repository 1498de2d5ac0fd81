#include "report/model.hpp"

namespace kw {

std::string_view to_string(Unit unit) {
  switch (unit) {
    case Unit::count:
      return "count";
    case Unit::nanoseconds:
      return "ns";
    case Unit::seconds:
      return "s";
    case Unit::flop:
      return "FLOP";
    case Unit::gflops:
      return "GFLOP/s";
    case Unit::bytes:
      return "bytes";
    case Unit::bytes_per_second:
      return "bytes/s";
    case Unit::dollars:
      return "USD";
    case Unit::times:
    case Unit::share:
    case Unit::plain:
      break;
  }
  return "1";
}

const Table* find_table(const ReportModel& model, std::string_view key) {
  for (const auto& section : model.sections) {
    for (const auto& block : section.blocks) {
      const auto* const table = std::get_if<Table>(&block);
      if (table != nullptr && table->key == key) return table;
    }
  }
  return nullptr;
}

}  // namespace kw

#include "archive/export.hpp"

#include <nlohmann/json.hpp>

#include "record/json.hpp"

namespace kw {
namespace {

/// The record with the key of its run, which it does not know itself, before all others.
std::string with_run(const std::string& record, const std::string& run_id) {
  return fmt::format("{{\"run_id\":{},{}", nlohmann::json(run_id).dump(), record.substr(1));
}

}  // namespace

Result<void> export_run(const Archive& archive, const RunRecord& run, const LineSink& sink) {
  KW_TRY(const auto attempts, archive.attempts(run.id));
  KW_TRY(const auto turns, archive.turns(run.id));
  KW_TRY_VOID(sink(encode(run)));
  for (const auto& attempt : attempts) KW_TRY_VOID(sink(with_run(encode(attempt), run.id)));
  for (const auto& turn : turns) KW_TRY_VOID(sink(with_run(encode(turn), run.id)));
  return {};
}

}  // namespace kw

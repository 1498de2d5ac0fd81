#include "predict/boosted_trees.hpp"

#include <fmt/format.h>
#include <xgboost/c_api.h>

#include <limits>
#include <string>
#include <utility>

namespace kw {
namespace {

Result<void> done(int status, const char* doing) {
  if (status == 0) return {};
  return fail(errc::trees, "cannot {}: {}", doing, XGBGetLastError());
}

/// Rows as the library holds them.
class TreeMatrix {
 public:
  TreeMatrix() = default;
  TreeMatrix(const TreeMatrix&) = delete;
  TreeMatrix& operator=(const TreeMatrix&) = delete;
  ~TreeMatrix() {
    if (handle_ != nullptr) XGDMatrixFree(handle_);
  }
  Result<void> fill(const FeatureRows& rows) {
    constexpr float k_missing = std::numeric_limits<float>::quiet_NaN();
    return done(XGDMatrixCreateFromMat(rows.values.data(), rows.count(), rows.columns, k_missing, &handle_),
                "take in rows");
  }
  Result<void> set(const char* what, std::span<const float> values) {
    return done(XGDMatrixSetFloatInfo(handle_, what, values.data(), values.size()), "take in labels");
  }
  [[nodiscard]] DMatrixHandle handle() const { return handle_; }

 private:
  DMatrixHandle handle_ = nullptr;
};

}  // namespace

struct BoostedTrees::Booster {
  BoosterHandle handle = nullptr;
  Booster() = default;
  Booster(const Booster&) = delete;
  Booster& operator=(const Booster&) = delete;
  ~Booster() {
    if (handle != nullptr) XGBoosterFree(handle);
  }
};

BoostedTrees::BoostedTrees(std::unique_ptr<Booster> booster, std::size_t columns)
    : booster_(std::move(booster)), columns_(columns) {}
BoostedTrees::BoostedTrees(BoostedTrees&&) noexcept = default;
BoostedTrees& BoostedTrees::operator=(BoostedTrees&&) noexcept = default;
BoostedTrees::~BoostedTrees() = default;

Result<BoostedTrees> BoostedTrees::train(const FeatureRows& rows, std::span<const float> labels,
                                         std::span<const float> weights, const TreeSettings& settings) {
  KW_CHECK(rows.count() > 0 && labels.size() == rows.count() && weights.size() == rows.count(),
           "{} rows, {} labels, {} weights", rows.count(), labels.size(), weights.size());
  TreeMatrix matrix;
  KW_TRY_VOID(matrix.fill(rows));
  KW_TRY_VOID(matrix.set("label", labels));
  KW_TRY_VOID(matrix.set("weight", weights));
  auto booster = std::make_unique<Booster>();
  const DMatrixHandle handles[] = {matrix.handle()};
  KW_TRY_VOID(done(XGBoosterCreate(handles, 1, &booster->handle), "make trees"));
  const std::pair<const char*, std::string> parameters[] = {
      {"objective", "reg:squarederror"},
      {"tree_method", "exact"},
      {"nthread", "1"},  // only the loop creates threads, and sums in one order are the same every time
      {"verbosity", "0"},
      {"seed", "0"},
      {"max_depth", fmt::format("{}", settings.depth)},
      {"eta", fmt::format("{}", settings.rate)},
      {"min_child_weight", fmt::format("{}", settings.least_weight)},
  };
  for (const auto& [name, value] : parameters) {
    KW_TRY_VOID(done(XGBoosterSetParam(booster->handle, name, value.c_str()), name));
  }
  for (int round = 0; round < settings.rounds; ++round) {
    KW_TRY_VOID(done(XGBoosterUpdateOneIter(booster->handle, round, matrix.handle()), "train trees"));
  }
  return BoostedTrees(std::move(booster), rows.columns);
}

Result<std::vector<float>> BoostedTrees::predict(const FeatureRows& rows) const {
  if (rows.count() == 0) return std::vector<float>();
  KW_CHECK(rows.columns == columns_, "{} columns, trained with {}", rows.columns, columns_);
  TreeMatrix matrix;
  KW_TRY_VOID(matrix.fill(rows));
  constexpr const char* k_settings =
      R"({"type": 0, "training": false, "iteration_begin": 0, "iteration_end": 0, "strict_shape": false})";
  const bst_ulong* shape = nullptr;
  bst_ulong dimensions = 0;
  const float* values = nullptr;
  KW_TRY_VOID(
      done(XGBoosterPredictFromDMatrix(booster_->handle, matrix.handle(), k_settings, &shape, &dimensions, &values),
           "ask trees"));
  KW_CHECK(dimensions == 1 && shape[0] == rows.count(), "{} dimensions of answers", dimensions);
  return std::vector<float>(values, values + rows.count());
}

}  // namespace kw

// Losses of an element and its target, and of vectors that should lie near or far.

#include <array>
#include <cmath>
#include <numbers>

#include "operators/program/oracle/answers.hpp"
#include "operators/program/oracle/distances.hpp"
#include "operators/program/oracle/loss_reduction.hpp"
#include "operators/program/oracle/special_functions.hpp"

namespace kw::program_oracle {
namespace {

/// loss(input, target), element by element of what they broadcast to.
template <typename Loss>
Answer pair_loss(const OracleCall& call, Loss loss) {
  const auto input = call.tensor("input");
  const auto target = call.tensor("target");
  const auto common = common_extents(input.extents(), target.extents());
  const auto rows = input.rank() == 0 ? 1 : input.extent(0);
  return reduced_loss(
      call, volume_of(common), rows,
      [x = Broadcast(input, common), y = Broadcast(target, common), loss](std::int64_t i) { return loss(x[i], y[i]); });
}

Result<Answer> mse_loss(const OracleCall& call) {
  return pair_loss(call, [](double x, double y) { return (x - y) * (x - y); });
}

Result<Answer> l1_loss(const OracleCall& call) {
  return pair_loss(call, [](double x, double y) { return std::fabs(x - y); });
}

Result<Answer> smooth_l1_loss(const OracleCall& call) {
  return pair_loss(call, [beta = call.number("beta")](double x, double y) {
    const double apart = std::fabs(x - y);
    return apart < beta ? 0.5 * apart * apart / beta : apart - 0.5 * beta;
  });
}

Result<Answer> huber_loss(const OracleCall& call) {
  return pair_loss(call, [delta = call.number("delta")](double x, double y) {
    const double apart = std::fabs(x - y);
    return apart <= delta ? 0.5 * apart * apart : delta * (apart - 0.5 * delta);
  });
}

/// `input` is a logarithm; the target is one too with log_target.
Result<Answer> kl_div(const OracleCall& call) {
  if (call.truth("log_target")) return pair_loss(call, [](double x, double y) { return std::exp(y) * (y - x); });
  return pair_loss(call, [](double x, double y) { return x_log_y(y, y) - y * x; });
}

Result<Answer> soft_margin_loss(const OracleCall& call) {
  return pair_loss(call, [](double x, double y) { return log_one_plus_exp(-y * x); });
}

/// `full` adds Stirling's approximation of log(y!) where the target is above 1.
Result<Answer> poisson_nll_loss(const OracleCall& call) {
  return pair_loss(call, [log_input = call.truth("log_input"), full = call.truth("full"), eps = call.number("eps")](
                             double x, double y) {
    const double loss = log_input ? std::exp(x) - y * x : x - y * std::log(x + eps);
    if (!full || y <= 1.0) return loss;
    return loss + y * std::log(y) - y + 0.5 * std::log(2.0 * std::numbers::pi * y);
  });
}

/// The target is 1 for what should be near and -1 for what should be at least the margin apart.
Result<Answer> hinge_embedding_loss(const OracleCall& call) {
  return pair_loss(call, [margin = call.number("margin")](double x, double y) {
    return (y == 1.0 ? 0.0 : larger_of(0.0, margin - x)) + (y == -1.0 ? 0.0 : x);
  });
}

/// Broadcasts a third operand as well; 'mean' divides by the number of elements.
Result<Answer> gaussian_nll_loss(const OracleCall& call) {
  const auto input = call.tensor("input");
  const auto target = call.tensor("target");
  const auto variance = call.tensor("var");
  const auto common = common_extents(common_extents(input.extents(), target.extents()), variance.extents());
  const double constant = call.truth("full") ? 0.5 * std::log(2.0 * std::numbers::pi) : 0.0;
  return reduced_loss(call, volume_of(common), 1,
                      [x = Broadcast(input, common), y = Broadcast(target, common), v = Broadcast(variance, common),
                       constant, eps = call.number("eps")](std::int64_t i) {
                        const double apart = x[i] - y[i];
                        const double spread = larger_of(v[i], eps);
                        return 0.5 * (std::log(spread) + apart * apart / spread) + constant;
                      });
}

/// Times a weight that broadcasts, where there is one; it does not change what 'mean' divides by.
Result<Answer> weighted_pair_loss(const OracleCall& call, bool logits) {
  const auto input = call.tensor("input");
  const auto extents = common_extents(input.extents(), call.tensor("target").extents());
  const auto optional = [&](const char* name) {
    const bool present = call.given(name);
    return Broadcast(present ? call.tensor(name) : Operand::number(ElementType::float32, 1.0), extents);
  };
  return reduced_loss(call, volume_of(extents), 1,
                      [x = Broadcast(input, extents), y = Broadcast(call.tensor("target"), extents),
                       weight = optional("weight"), positive = optional("pos_weight"), logits](std::int64_t i) {
                        constexpr double k_least_logarithm = -100.0;  // PyTorch's bound for a probability of 0
                        if (logits) {
                          const double rest = 1.0 + (positive[i] - 1.0) * y[i];
                          return weight[i] * ((1.0 - y[i]) * x[i] + rest * log_one_plus_exp(-x[i]));
                        }
                        const double yes = larger_of(std::log(x[i]), k_least_logarithm);
                        const double no = larger_of(std::log1p(-x[i]), k_least_logarithm);
                        return -weight[i] * (y[i] * yes + (1.0 - y[i]) * no);
                      });
}

Result<Answer> margin_ranking_loss(const OracleCall& call) {
  const auto first = call.tensor("input1");
  const auto second = call.tensor("input2");
  const auto target = call.tensor("target");
  const auto common = common_extents(common_extents(first.extents(), second.extents()), target.extents());
  return reduced_loss(
      call, volume_of(common), 1,
      [a = Broadcast(first, common), b = Broadcast(second, common), y = Broadcast(target, common),
       margin = call.number("margin")](std::int64_t i) { return larger_of(0.0, -y[i] * (a[i] - b[i]) + margin); });
}

/// Rows of vectors, or two vectors. PyTorch adds its own 1e-12 to both squares.
Result<Answer> cosine_embedding_loss(const OracleCall& call) {
  const auto first = call.tensor("input1");
  const auto second = call.tensor("input2");
  const auto common = common_extents(first.extents(), second.extents());
  const Extents rows(common.begin(), common.end() - 1);
  return reduced_loss(call, volume_of(rows), 1,
                      [pairs = VectorPairs(first, second, common, common.size() - 1),
                       y = Broadcast(call.tensor("target"), rows), margin = call.number("margin")](std::int64_t i) {
                        constexpr double k_eps = 1e-12;
                        const auto products = pairs.products(i);
                        const double cosine =
                            products.both / std::sqrt((products.first + k_eps) * (products.second + k_eps));
                        if (y[i] == 1.0) return 1.0 - cosine;
                        return y[i] == -1.0 ? larger_of(0.0, cosine - margin) : 0.0;
                      });
}

/// With swap, the nearer of anchor and positive counts against the negative.
Result<Answer> triplet_margin_loss(const OracleCall& call) {
  const auto anchor = call.tensor("anchor");
  const auto positive = call.tensor("positive");
  const auto negative = call.tensor("negative");
  const auto common = common_extents(common_extents(anchor.extents(), positive.extents()), negative.extents());
  const Extents rows(common.begin(), common.end() - 1);
  const auto last = common.size() - 1;
  return reduced_loss(
      call, volume_of(rows), 1,
      [near = VectorPairs(anchor, positive, common, last), far = VectorPairs(anchor, negative, common, last),
       other = VectorPairs(positive, negative, common, last), swap = call.truth("swap"), order = call.number("p"),
       eps = call.number("eps"), margin = call.number("margin")](std::int64_t i) {
        double apart = far.distance(i, order, eps);
        if (swap) apart = smaller_of(apart, other.distance(i, order, eps));
        return larger_of(0.0, near.distance(i, order, eps) - apart + margin);
      });
}

constexpr std::array k_pair_loss_answers = {
    OracleRow{"mse_loss", mse_loss},
    OracleRow{"l1_loss", l1_loss},
    OracleRow{"smooth_l1_loss", smooth_l1_loss},
    OracleRow{"huber_loss", huber_loss},
    OracleRow{"kl_div", kl_div},
    OracleRow{"soft_margin_loss", soft_margin_loss},
    OracleRow{"poisson_nll_loss", poisson_nll_loss},
    OracleRow{"gaussian_nll_loss", gaussian_nll_loss},
    OracleRow{"hinge_embedding_loss", hinge_embedding_loss},
    OracleRow{"binary_cross_entropy", [](const OracleCall& call) { return weighted_pair_loss(call, false); }},
    OracleRow{"binary_cross_entropy_with_logits",
              [](const OracleCall& call) { return weighted_pair_loss(call, true); }},
    OracleRow{"margin_ranking_loss", margin_ranking_loss},
    OracleRow{"cosine_embedding_loss", cosine_embedding_loss},
    OracleRow{"triplet_margin_loss", triplet_margin_loss},
};

}  // namespace

std::span<const OracleRow> pair_loss_answers() {
  return k_pair_loss_answers;
}

}  // namespace kw::program_oracle

#pragma once
// The text of a direct convolution's sums: indices of a thread's pixels, what is inside of the image as bits, the
// filter, and the loop over steps. What becomes of the sums is written by contract_direct_text.cpp.

#include <set>
#include <string>

#include "codegen/text.hpp"
#include "operators/program/kernels/contract_direct.hpp"
#include "operators/program/kernels/kernel_scope.hpp"

namespace kw {

[[nodiscard]] std::string direct_section(const char* name, const Fillings& fillings = {});

class DirectSums {
 public:
  /// All of them live as long as this.
  DirectSums(const std::string& image, const Contraction& contraction, const DirectContraction& direct,
             KernelScope& scope);
  [[nodiscard]] std::string first_pixel();
  [[nodiscard]] std::string begin_pixels() const;
  [[nodiscard]] std::string next_pixel();
  [[nodiscard]] std::string loaded_pixel(const std::set<std::string>& used);
  [[nodiscard]] std::string sums(const std::string& again, bool declares);
  [[nodiscard]] StageAxes pixel_axes() const;
  [[nodiscard]] std::string count(const StageAxes& axes);

 private:
  void fill_pixels(Fillings& fillings);
  [[nodiscard]] bool is_guarded() const;
  [[nodiscard]] std::int64_t first_load_bit() const;
  [[nodiscard]] std::string load_bit(std::size_t load) const;
  [[nodiscard]] std::string inside();
  [[nodiscard]] std::string needed() const;
  void fill_filter(Fillings& fillings);
  [[nodiscard]] std::string loops();
  void fill_steps(Fillings& fillings);
  [[nodiscard]] std::string here() const;
  [[nodiscard]] std::string products();
  [[nodiscard]] std::string load_text(std::size_t load, std::size_t place);
  [[nodiscard]] std::string product_text(const DirectUse& use, std::size_t place) const;

  const std::string& image_;
  const Contraction& contraction_;
  const DirectContraction& direct_;
  const StageAxes& columns_;
  KernelScope& scope_;
  std::vector<std::string> first_, apart_, next_;  ///< names of columns' indices
};

}  // namespace kw

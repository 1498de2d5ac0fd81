#pragma once
// Writes SVG elements; everything that is not a number is escaped here.

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "report/escape.hpp"

namespace kw {

class Svg {
 public:
  /// `id` makes the ids of title and desc unique within the page.
  Svg(double width, double height, std::string_view variant, std::string_view id, std::string_view title,
      std::string_view description) {
    text_ = fmt::format(
        "<svg class=\"chart {2}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\" aria-labelledby=\"{3}-{2}-title "
        "{3}-{2}-desc\">\n<title id=\"{3}-{2}-title\">{4}</title>\n<desc id=\"{3}-{2}-desc\">{5}</desc>\n",
        width, height, escape_html(variant), escape_html(id), escape_html(title), escape_html(description));
  }
  void line(const char* style, double x1, double y1, double x2, double y2) {
    text_ += fmt::format("<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", style, x1,
                         y1, x2, y2);
  }
  void rectangle(const char* style, double x, double y, double width, double height) {
    text_ += fmt::format("<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>\n", style,
                         x, y, width, height);
  }
  void circle(const char* style, double x, double y, double radius, std::string_view title) {
    text_ += fmt::format("<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\"><title>{}</title></circle>\n",
                         style, x, y, radius, escape_html(title));
  }
  /// A small cross.
  void cross(const char* style, double x, double y, double half, std::string_view title) {
    text_ += fmt::format(
        "<path class=\"{0}\" d=\"M{1:.1f} {2:.1f}l{3:.1f} {3:.1f}m0 -{3:.1f}l-{3:.1f} {3:.1f}\">"
        "<title>{4}</title></path>\n",
        style, x - half, y - half, 2 * half, escape_html(title));
  }
  void path(const char* style, const std::string& data) {
    text_ += fmt::format("<path class=\"{}\" d=\"{}\"/>\n", style, data);
  }
  /// anchor: start, middle or end.
  void label(const char* style, double x, double y, const char* anchor, std::string_view text) {
    text_ += fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", style, x, y,
                         anchor, escape_html(text));
  }
  [[nodiscard]] std::string finish() { return std::move(text_) + "</svg>\n"; }

 private:
  std::string text_;
};

}  // namespace kw

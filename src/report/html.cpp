#include "report/charts.hpp"
#include "report/escape.hpp"
#include "report/format.hpp"
#include "report/html_style.hpp"
#include "report/report.hpp"

namespace kw {
namespace {

/// Longer tables scroll within a frame of their own.
constexpr std::size_t k_long_table = 24;

/// Nothing is loaded and nothing runs, whatever text found its way into the page: the browser is told so as well.
constexpr std::string_view k_policy =
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

/// Shortest text that reads back as the same number; for programs that read the page.
std::string exact(double value) {
  return fmt::format("{}", value);
}

std::string html_value(const Value& value) {
  const auto* const number = std::get_if<Number>(&value);
  if (number == nullptr) return escape_html(format_value(value));
  const NumberText text = format_parts(*number);
  std::string html = fmt::format("<data value=\"{}\">{}<span class=\"unit\">{}</span></data>", exact(number->value),
                                 escape_html(text.digits), escape_html(text.unit));
  if (!text.spread.empty()) html += fmt::format(" <span class=\"spread\">{}</span>", escape_html(text.spread));
  return html;
}

class HtmlPrinter {
 public:
  std::string print(const ReportModel& model) {
    head(model);
    text_ += "<body>\n<header>\n";
    text_ += fmt::format("<p class=\"eyebrow\">kernelwright {} {}</p>\n<h1>{}</h1>\n<p class=\"headline\">{}</p>\n",
                         escape_html(model.made_by), escape_html(model.run_id), escape_html(model.title),
                         escape_html(model.headline));
    tiles(model.highlights);
    contents(model);
    text_ += "</header>\n<main>\n";
    for (const auto& section : model.sections) {
      text_ += fmt::format("<section aria-labelledby=\"{0}\">\n<h2 id=\"{0}\">{1}</h2>\n", escape_html(section.key),
                           escape_html(section.title));
      for (const auto& block : section.blocks) std::visit([&](const auto& b) { print(b); }, block);
      text_ += "</section>\n";
    }
    text_ +=
        "</main>\n<footer>Intervals are given as [low, high]. This page is complete in itself: it loads nothing "
        "and runs nothing.</footer>\n</body>\n</html>\n";
    return std::move(text_);
  }

 private:
  void head(const ReportModel& model) {
    text_ = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
    text_ += fmt::format("<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n", k_policy);
    text_ +=
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"referrer\" "
        "content=\"no-referrer\">\n";
    text_ += fmt::format("<title>{} \u2013 kernelwright</title>\n<style>{}</style>\n</head>\n",
                         escape_html(model.title), k_html_style);
  }

  void contents(const ReportModel& model) {
    text_ += "<nav aria-label=\"Sections\"><ul>";
    for (const auto& section : model.sections) {
      text_ += fmt::format("<li><a href=\"#{}\">{}</a></li>", escape_html(section.key), escape_html(section.title));
    }
    text_ += "</ul></nav>\n";
  }

  void tiles(const std::vector<Fact>& facts) {
    text_ += "<dl class=\"tiles\">\n";
    for (const auto& fact : facts) {
      text_ += fmt::format("<div><dt>{}</dt><dd class=\"value\">{}</dd><dd class=\"note\">{}</dd></div>\n",
                           escape_html(fact.name), html_value(fact.value), escape_html(fact.note));
    }
    text_ += "</dl>\n";
  }

  void print(const Paragraph& paragraph) { text_ += fmt::format("<p>{}</p>\n", escape_html(paragraph.text)); }

  void print(const Facts& block) {
    text_ += fmt::format("<h3>{}</h3>\n<dl class=\"facts\">\n", escape_html(block.caption));
    for (const auto& fact : block.facts) {
      text_ += fmt::format("<div><dt>{}</dt><dd>{}", escape_html(fact.name), html_value(fact.value));
      if (!fact.note.empty()) text_ += fmt::format(" <span class=\"note\">{}</span>", escape_html(fact.note));
      text_ += "</dd></div>\n";
    }
    text_ += "</dl>\n";
  }

  void print(const Notes& notes) {
    text_ += fmt::format("<div class=\"notes\"><h3>{}</h3>\n<ul>\n", escape_html(notes.caption));
    for (const auto& item : notes.items) text_ += fmt::format("<li>{}</li>\n", escape_html(item));
    text_ += "</ul></div>\n";
  }

  void print(const Table& table) {
    if (table.rows.empty()) {
      text_ += fmt::format("<h3>{}</h3>\n<p>{}</p>\n", escape_html(table.caption), escape_html(table.when_empty));
      return;
    }
    text_ += fmt::format("<div class=\"scroll{}\" role=\"region\" tabindex=\"0\" aria-label=\"{}\">\n",
                         table.rows.size() > k_long_table ? " long" : "", escape_html(table.caption));
    text_ += fmt::format("<table id=\"table-{}\">\n<caption>{}</caption>\n<thead><tr>", escape_html(table.key),
                         escape_html(table.caption));
    for (const auto& column : table.columns) {
      text_ += fmt::format("<th scope=\"col\"{}>{}</th>", column.numeric ? " class=\"number\"" : "",
                           escape_html(column.title));
    }
    text_ += "</tr></thead>\n<tbody>\n";
    for (std::size_t at = 0; at < table.rows.size(); ++at) {
      const auto& row = table.rows[at];
      text_ += "<tr>";
      for (std::size_t i = 0; i < row.size(); ++i) {
        std::string cell = html_value(row[i]);
        const bool leads = i == 0 && at < table.links.size() && !table.links[at].empty();
        if (leads) cell = fmt::format("<a href=\"{}\">{}</a>", escape_html(table.links[at]), cell);
        text_ += fmt::format("<td{}>{}</td>", table.columns[i].numeric ? " class=\"number\"" : "", cell);
      }
      text_ += "</tr>\n";
    }
    text_ += "</tbody>\n</table>\n</div>\n";
  }

  void print(const Bars& bars) {
    text_ += fmt::format("<figure>\n<figcaption>{}</figcaption>\n", escape_html(bars.caption));
    text_ += bars_svg(bars, k_wide_chart) + bars_svg(bars, k_narrow_chart) + "</figure>\n";
  }

  void print(const Progress& progress) {
    text_ += fmt::format("<figure>\n<figcaption>{}</figcaption>\n", escape_html(progress.caption));
    text_ += progress_svg(progress, k_wide_chart) + progress_svg(progress, k_narrow_chart);
    legend(progress);
    text_ += "</figure>\n";
  }

  void print(const Curve& curve) {
    text_ += fmt::format("<figure>\n<figcaption>{}</figcaption>\n", escape_html(curve.caption));
    text_ += curve_svg(curve, k_wide_chart) + curve_svg(curve, k_narrow_chart) + "</figure>\n";
  }

  void print(const SpeedCurve& curve) {
    text_ += fmt::format("<figure>\n<figcaption>{}</figcaption>\n", escape_html(curve.caption));
    text_ += speed_curve_svg(curve, k_wide_chart) + speed_curve_svg(curve, k_narrow_chart) + "</figure>\n";
  }

  void legend(const Progress& progress) {
    const auto entry = [&](const char* drawing, const char* words) {
      text_ += fmt::format("<li><svg viewBox=\"0 0 22 12\" aria-hidden=\"true\">{}</svg>{}</li>\n", drawing, words);
    };
    text_ += "<ul class=\"legend\">\n";
    entry("<path class=\"steps\" d=\"M0 6H22\"/><circle class=\"best\" cx=\"11\" cy=\"6\" r=\"4.5\"/>", "best so far");
    entry("<circle class=\"timed\" cx=\"11\" cy=\"6\" r=\"3\"/>", "correct and timed");
    entry("<path class=\"rejected\" d=\"M7 2l8 8m0 -8l-8 8\"/>", "rejected (why: hover)");
    const auto is_untimed = [](const Progress::Point& p) { return p.outcome == Progress::Outcome::untimed; };
    bool untimed = false;
    for (const auto& point : progress.points) untimed = untimed || is_untimed(point);
    if (untimed) entry("<circle class=\"untimed\" cx=\"11\" cy=\"6\" r=\"3\"/>", "correct, not timed");
    if (!progress.baselines.empty()) entry("<path class=\"reference\" d=\"M0 6H22\"/>", "baseline");
    text_ += "</ul>\n";
  }

  void print(const Code& code) {
    text_ += fmt::format(
        "<figure>\n<figcaption>{0}</figcaption>\n<pre tabindex=\"0\" "
        "aria-label=\"{0}\"><code>{1}</code></pre>\n</figure>\n",
        escape_html(code.caption), escape_html(code.text));
  }

  void print(const Folded& folded) {
    text_ += fmt::format("<details id=\"{}\">\n<summary>{}</summary>\n", escape_html(folded.key),
                         escape_html(folded.heading));
    for (const auto& part : folded.parts) print(part);
    text_ += "</details>\n";
  }

  std::string text_;
};

}  // namespace

std::string to_html(const ReportModel& model) {
  return HtmlPrinter().print(model);
}

}  // namespace kw

#pragma once
// The style sheet of the HTML report: light and dark by the reader's preference, one column on a phone, whole tables
// and sources on paper. System fonts only, as nothing may be loaded.

#include <string_view>

namespace kw {

inline constexpr std::string_view k_html_style = R"css(
:root {
  color-scheme: light dark;
  --page: #ffffff; --panel: #f5f6f8; --line: #d9dde3; --ink: #1b1f24; --quiet: #57606a;
  --accent: #0a58a6; --accent-soft: #b6d3f0; --bar: #aab4c0; --bad: #b3361f;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14171b; --panel: #1d2126; --line: #343b44; --ink: #e4e7eb; --quiet: #9aa5b1;
    --accent: #6db1f5; --accent-soft: #23486d; --bar: #566270; --bad: #f2866b;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0 auto; padding: 2.5rem 1.5rem 4rem; max-width: 68rem;
  background: var(--page); color: var(--ink);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif;
}
h1 { font-size: 1.75rem; line-height: 1.2; font-weight: 650; letter-spacing: -0.015em; margin: 0.25rem 0 0.75rem; overflow-wrap: anywhere; }
h2 { font-size: 1.25rem; line-height: 1.3; font-weight: 650; letter-spacing: -0.01em; margin: 3rem 0 1rem; padding-top: 1.25rem; border-top: 1px solid var(--line); }
h3, caption, figcaption { font-size: 0.9375rem; font-weight: 600; text-align: left; color: var(--ink); }
h3 { margin: 1.75rem 0 0.5rem; }
p { max-width: 42rem; margin: 0.75rem 0; }
.eyebrow { color: var(--quiet); font-size: 0.875rem; margin: 0; }
.headline { font-size: 1.125rem; margin: 0; }
nav ul { display: flex; flex-wrap: wrap; gap: 0.25rem 1.25rem; margin: 1.5rem 0 0; padding: 0; list-style: none; font-size: 0.9375rem; }
a { color: var(--accent); text-decoration-thickness: 1px; text-underline-offset: 0.2em; }
a:focus-visible, [tabindex]:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
data, td.number, .chart text { font-variant-numeric: tabular-nums; }
.spread { color: var(--quiet); font-weight: 400; white-space: nowrap; }
data { white-space: nowrap; }

.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(11.5rem, 1fr)); gap: 0; margin: 1.75rem 0 0; border: 1px solid var(--line); border-radius: 6px; overflow: hidden; }
.tiles > div { box-shadow: 1px 1px 0 0 var(--line); padding: 0.875rem 1rem 0.75rem; }
.tiles dt { color: var(--quiet); font-size: 0.8125rem; }
.tiles dd { margin: 0; }
.tiles dd.value { font-size: 1.5rem; line-height: 1.3; font-weight: 620; letter-spacing: -0.01em; }
.tiles dd.value .unit { font-size: 1.125rem; font-weight: 500; letter-spacing: 0; }
.tiles dd.value .spread { display: block; font-size: 0.875rem; letter-spacing: 0; }
.tiles dd.note { color: var(--quiet); font-size: 0.8125rem; }

.facts { display: grid; grid-template-columns: minmax(8rem, max-content) 1fr; margin: 0; }
.facts > div { display: contents; }
.facts dt, .facts dd { margin: 0; padding: 0.375rem 0; border-bottom: 1px solid var(--line); }
.facts dt { color: var(--quiet); padding-right: 1.5rem; }
.facts dd { overflow-wrap: anywhere; }
.facts .note { color: var(--quiet); font-size: 0.875rem; margin-left: 0.75rem; }

.scroll { overflow: auto; margin: 1.75rem 0; }
.scroll.long { max-height: 34rem; border: 1px solid var(--line); border-radius: 6px; }
table { border-collapse: collapse; width: 100%; font-size: 0.9375rem; line-height: 1.4; }
caption { padding: 0 0 0.5rem; }
.long caption { padding: 0.75rem 0.75rem 0.5rem; }
th { font-weight: 500; color: var(--quiet); text-align: left; vertical-align: bottom; white-space: nowrap; font-size: 0.8125rem; }
th, td { padding: 0.375rem 1.5rem 0.375rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
.long table { font-size: 0.875rem; }
.long th, .long td { padding: 0.3125rem 0.75rem; white-space: nowrap; }
.long thead th { position: sticky; top: 0; background: var(--panel); }
th.number, td.number { text-align: right; }
td.number .spread { font-size: 0.8125rem; }
td { min-width: 4.5rem; }
td:last-child:not(.number) { min-width: 14rem; }
td.number { min-width: 0; white-space: nowrap; }
/* Names of a suite's problems are long words; without a break the figures beside them would not be seen. */
#table-problems th, #table-problems td { padding-right: 0.75rem; }
#table-problems td:first-child { min-width: 12rem; overflow-wrap: anywhere; }

figure { margin: 1.75rem 0; }
details { margin: 0.5rem 0; }
details > summary { cursor: pointer; }
details pre { max-height: 28rem; overflow: auto; white-space: pre-wrap; }
figcaption { margin-bottom: 0.5rem; }
pre { margin: 0; padding: 1rem; background: var(--panel); border: 1px solid var(--line); border-radius: 6px; overflow: auto; max-height: 40rem; font: 0.8125rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; tab-size: 4; }
.chart { display: block; width: 100%; height: auto; }
.chart.narrow { display: none; }
.chart text { font: 12px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif; fill: var(--quiet); }
.chart text.bar-label, .chart text.bar-value { font-size: 14px; fill: var(--ink); }
.chart text.reference-label { fill: var(--quiet); }
.bar { fill: var(--bar); } .bar.emphasised { fill: var(--accent); }
.whisker { stroke: var(--ink); stroke-width: 1.5; }
.grid { stroke: var(--line); stroke-width: 1; }
.axis { stroke: var(--quiet); stroke-width: 1; }
.lane { stroke: var(--line); stroke-width: 1; stroke-dasharray: 1 4; }
.reference { stroke: var(--quiet); stroke-width: 1.25; stroke-dasharray: 6 4; }
.timed { fill: var(--accent-soft); stroke: var(--accent); stroke-width: 0.75; }
.untimed { fill: none; stroke: var(--quiet); }
.best { fill: var(--accent); stroke: var(--page); stroke-width: 1.25; }
.rejected { fill: none; stroke: var(--bad); stroke-width: 1.5; }
.steps { fill: none; stroke: var(--accent); stroke-width: 2; }
.legend { display: flex; flex-wrap: wrap; gap: 0.25rem 1.5rem; margin: 0.5rem 0 0; padding: 0; list-style: none; font-size: 0.875rem; color: var(--quiet); }
.legend svg { width: 1.375rem; height: 0.75rem; margin-right: 0.375rem; vertical-align: -0.0625rem; overflow: visible; }
.notes li { max-width: 42rem; margin: 0.375rem 0; }
.notes ul { padding-left: 1.125rem; margin: 0.5rem 0; }
footer { margin-top: 3rem; color: var(--quiet); font-size: 0.875rem; }

@media (max-width: 40rem) {
  body { padding: 1.5rem 1rem 3rem; }
  h1 { font-size: 1.375rem; }
  .headline { font-size: 1rem; }
  .tiles { grid-template-columns: 1fr 1fr; }
  .tiles dd.value { font-size: 1.25rem; }
  .facts { grid-template-columns: 1fr; }
  .facts dt { border-bottom: 0; padding-bottom: 0; font-size: 0.8125rem; }
  .facts dd { padding-top: 0; }
  .facts .note { display: block; margin-left: 0; }
  .chart.wide { display: none; }
  .chart.narrow { display: block; }
}
@media print {
  :root { --page: #fff; --panel: #fff; --line: #bbb; --ink: #000; --quiet: #444; --accent: #0a4a8c; --accent-soft: #cfe0f2; --bar: #aaa; --bad: #a02a12; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  nav { display: none; }
  h2, h3, caption, figcaption { break-after: avoid; }
  tr, .tiles, .chart { break-inside: avoid; }
  .scroll, .scroll.long, pre { overflow: visible; max-height: none; border: 0; }
  .long thead th { position: static; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; padding: 0; }
}
)css";

}  // namespace kw

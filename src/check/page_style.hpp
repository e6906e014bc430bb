// The style of the checker's pages: one set of colours for light and one for dark mode. Private to
// src/check.
#pragma once

#include <string_view>

namespace tessera::check {

inline constexpr std::string_view kPageStyle = R"(
:root{color-scheme:light dark;--ground:#ffffff;--card:#f5f7f9;--ink:#14202e;--dim:#54626f;--rule:#d5dce3;
--link:#1a56b0;--good:#1a7f37;--warn:#9a5b00;--bad:#b42318;--idle:#eef1f4;--wasted:#fbd9b5;--conflict:#ffb3a7;
--cell:#14202e;--cellrule:#b4bfca;--one:#1f5fbf;--two:#c2410c;--global:#3b78d8;--shared:#b7791f;--multiply:#2f9e5b;
--heat:194,65,12}
@media (prefers-color-scheme:dark){:root{--ground:#10161d;--card:#18212b;--ink:#e6edf3;--dim:#9aa8b6;--rule:#2b3743;
--link:#7fb2ff;--good:#56d17a;--warn:#f0b54a;--bad:#ff8a7d;--idle:#1d2731;--wasted:#7a4d1f;--conflict:#ff9c8c;
--cellrule:#3c4a58;--one:#7fb2ff;--two:#ff9a5c;--global:#6ea5f5;--shared:#e0a84a;--multiply:#58c786;--heat:255,140,80}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--ink);font:15px/1.5 system-ui,'DejaVu Sans',Arial,sans-serif}
main{max-width:1180px;margin:0 auto;padding:20px 20px 60px}
main.wide{max-width:1900px}
h1{font-size:26px;margin:0 0 4px}h2{font-size:19px;margin:36px 0 10px;border-bottom:1px solid var(--rule);padding-bottom:4px}
h3{font-size:15px;margin:18px 0 6px}
p{margin:6px 0;max-width:80ch}a{color:var(--link)}.dim{color:var(--dim)}.small{font-size:13px}
code,pre,.code{font-family:ui-monospace,'DejaVu Sans Mono',Menlo,monospace;font-size:13px}
.badge{display:inline-block;border-radius:12px;padding:2px 12px;font-weight:600;border:1px solid currentColor}
.good{color:var(--good)}.error,.bad{color:var(--bad)}.warning,.warn{color:var(--warn)}.note{color:var(--dim)}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px;margin:16px 0}
.card{background:var(--card);border:1px solid var(--rule);border-radius:8px;padding:10px 14px}
.card b{display:block;font-size:21px;line-height:1.3;font-variant-numeric:tabular-nums}
.finding{background:var(--card);border:1px solid var(--rule);border-left:4px solid currentColor;border-radius:6px;padding:8px 14px;margin:10px 0}
.finding>*{color:var(--ink)}.finding>h3{margin:2px 0}.finding h3 .kind{color:inherit}
.finding.error,.finding.error .kind{color:var(--bad)}.finding.warning,.finding.warning .kind{color:var(--warn)}
.scroll{overflow-x:auto;max-width:100%;width:fit-content;border:1px solid var(--rule);border-radius:6px;margin:8px 0}
.scroll.picture{padding:6px}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{padding:3px 10px;text-align:right;white-space:nowrap;border-bottom:1px solid var(--rule)}
tr:last-child>td{border-bottom:0}
th{font-weight:600;color:var(--dim);font-size:13px;vertical-align:bottom}
th:first-child,td:first-child,.text th,.text td,.counters th:last-child,.counters td:last-child{text-align:left}.text td{white-space:normal}
.source td{border:0;vertical-align:top;padding:0 8px;line-height:1.45;font-size:13px}.source th{font-size:12px;padding:3px 8px}
.source td.number{color:var(--dim);text-align:right;user-select:none}
.source td.code{text-align:left;white-space:pre;padding-left:14px}
.source th.code{text-align:left;padding-left:14px}.source td.gap{color:var(--dim);text-align:left;padding:4px 8px;background:var(--card)}
.source tr:target>td{outline:2px solid var(--link);outline-offset:-2px}
.source td.flag{padding:0 2px;text-align:center}
.pair{display:grid;grid-template-columns:1fr 1fr;gap:0 28px}.pair>*{min-width:0}.pair .which{color:var(--dim)}
.pair svg{max-width:100%;height:auto}.pair.wide .source td.code{white-space:pre-wrap;overflow-wrap:anywhere}
.pair.wide .source td,.pair.wide .source th{padding:0 4px;font-size:11.5px}.pair.wide .source td.code{padding-left:8px}
@media (max-width:1559px){.pair.wide{grid-template-columns:1fr}.pair.wide svg{max-width:none}}
svg{display:block}svg.roofline{max-width:100%;min-width:520px;height:auto}svg text{fill:var(--ink);font:12px system-ui,'DejaVu Sans',Arial,sans-serif}
svg.cells text{font:10px ui-monospace,'DejaVu Sans Mono',monospace;text-anchor:middle;fill:var(--cell)}
svg.cells .axis{fill:var(--dim)}svg.cells rect{stroke:var(--cellrule);stroke-width:.6}
svg .sector{stroke:var(--dim);stroke-width:2;fill:none}
svg .grid{stroke:var(--rule);stroke-width:1}svg .tick{fill:var(--dim);font-size:11.5px}
svg .right{text-anchor:end}svg .middle{text-anchor:middle}svg .name{font-weight:600}
svg .roof{stroke:var(--ink);stroke-width:2;fill:none}
svg .kernel0{fill:var(--one);stroke:var(--one)}svg .kernel1{fill:var(--two);stroke:var(--two)}
svg .band{opacity:.13;stroke:none}svg .lead{stroke-width:2;stroke-dasharray:5 4;fill:none}
svg .global,.key.global{fill:var(--global);background:var(--global)}svg .shared,.key.shared{fill:var(--shared);background:var(--shared)}
svg .multiply,.key.multiply{fill:var(--multiply);background:var(--multiply)}
svg .barrier{stroke:var(--dim);stroke-dasharray:2 3}
.key{display:inline-block;width:12px;height:12px;border-radius:2px;margin:0 5px 0 14px;vertical-align:-1px;border:1px solid var(--rule)}
.key.wasted{background:var(--wasted)}.key.conflict{background:var(--conflict)}.key.lane{background:#aecbee}
nav{margin:10px 0;display:flex;flex-wrap:wrap;gap:2px 16px}
@media (max-width:900px){.pair{grid-template-columns:1fr}main{padding:12px}}
@media (max-width:1299px){.source td.code{white-space:pre-wrap;overflow-wrap:anywhere;min-width:240px}}
@media (max-width:700px){.scroll:has(>.source){width:auto}.source,.source tbody{display:block}
.source tr{display:flex;flex-wrap:wrap;align-items:baseline;padding:1px 4px}.source tr:first-child,.source td:empty:not(.flag):not(.code){display:none}
.source td.flag{width:16px}.source td.number{width:34px;padding:0 4px}
.source td.code{flex:1 0 calc(100% - 54px);width:0;min-width:0;padding:0 4px}
.source td[data-label]{order:1;font-size:11.5px;padding:0 12px 2px 0}
.source td[data-label]::before{content:attr(data-label) " ";color:var(--dim)}}
)";

}  // namespace tessera::check

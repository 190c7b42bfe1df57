// The style sheet of the HTML page: light and dark colours with enough contrast, by the reader's preference. It loads nothing.

export const pageStyle = `
:root { color-scheme: light dark; --page: #fff; --text: #1c1e21; --quiet: #5a6069; --line: #d9dce1; --card: #f5f6f8;
  --link: #0b57b5; --good: #1e6b2b; --good-card: #e4f4e6; --bad: #a8201a; --bad-card: #fdeceb; --warn: #7a5500;
  --warn-card: #fdf3da; --open: #5b3a9e; --open-card: #efeafb; --focus: #0b57b5; }
@media (prefers-color-scheme: dark) { :root { --page: #15171a; --text: #e6e8eb; --quiet: #a2a9b3; --line: #33383f;
  --card: #1d2024; --link: #8ab8ff; --good: #84d694; --good-card: #16301b; --bad: #ff9c94; --bad-card: #3a1816;
  --warn: #f0c75e; --warn-card: #33290f; --open: #c3aef7; --open-card: #2a2140; --focus: #8ab8ff; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 70rem; padding: 1.5rem 1rem 3rem; background: var(--page); color: var(--text);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
code, pre, .hex, td { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; font-size: .8125rem; }
h1 { margin: 0 0 1rem; font-size: 1.75rem; line-height: 1.2; overflow-wrap: anywhere; }
h2 { margin: 2rem 0 .5rem; font-size: 1.125rem; }
h2 small { margin-left: .5rem; color: var(--quiet); font-size: .875rem; font-weight: normal; }
a { color: var(--link); }
:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; }
.verdict { border-left: .375rem solid var(--open); border-radius: .25rem; background: var(--open-card); padding: .75rem 1rem; }
.verdict p { margin: 0; overflow-wrap: anywhere; }
.verdict .what { font-size: 1.125rem; font-weight: 600; }
.verdict.conformant { border-color: var(--good); background: var(--good-card); }
.verdict.not-conformant { border-color: var(--bad); background: var(--bad-card); }
.facts { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; margin: 1rem 0; }
.facts div { min-width: 0; } .facts dt { color: var(--quiet); font-size: .8125rem; } .facts dd { margin: 0; overflow-wrap: anywhere; }
.tools { position: sticky; top: 0; z-index: 1; display: flex; flex-wrap: wrap; align-items: center; gap: .5rem .75rem;
  border-bottom: 1px solid var(--line); background: var(--page); padding: .75rem 0; }
.tools[hidden] { display: none; }
.filters { display: flex; flex-wrap: wrap; gap: .375rem; }
button, input { border: 1px solid var(--line); border-radius: .375rem; background: var(--card); padding: .25rem .625rem; color: var(--text); font: inherit; font-size: .875rem; }
button { cursor: pointer; } button:disabled { cursor: default; opacity: .5; }
.filters button[aria-pressed=false] { background: none; color: var(--quiet); text-decoration: line-through; }
.tools label { display: flex; flex: 1 1 16rem; align-items: center; gap: .5rem; font-size: .875rem; }
.tools input { flex: 1; min-width: 8rem; }
#shown { margin: 0; color: var(--quiet); font-size: .8125rem; }
.check { scroll-margin-top: 6rem; margin: .25rem 0; border: 1px solid var(--line); border-radius: .375rem; }
.check > summary { display: flex; flex-wrap: wrap; align-items: baseline; gap: .125rem .625rem; padding: .375rem .75rem; cursor: pointer; }
.check > summary::-webkit-details-marker { display: none; }
.check > summary::before { content: "\\25B8"; color: var(--quiet); } .check[open] > summary::before { content: "\\25BE"; }
.check > summary:hover { background: var(--card); }
.check:target { border-color: var(--focus); box-shadow: 0 0 0 1px var(--focus); }
.title { flex: 1 1 20rem; min-width: 0; } .meta { color: var(--quiet); font-size: .8125rem; white-space: nowrap; }
.outcome { min-width: 6.5rem; border-radius: .25rem; padding: 0 .5rem; font-size: .8125rem; font-weight: 600; text-align: center; white-space: nowrap; }
.o-pass { background: var(--good-card); color: var(--good); } .o-fail, .o-error { background: var(--bad-card); color: var(--bad); }
.o-warn { background: var(--warn-card); color: var(--warn); } .o-could-not-run, .o-not-shown, .o-blocked { background: var(--open-card); color: var(--open); }
.o-not-applicable { background: var(--card); color: var(--quiet); }
.body { border-top: 1px solid var(--line); padding: .25rem .75rem .75rem; }
.body p { margin: .5rem 0; overflow-wrap: anywhere; }
.reason { color: var(--bad); font-weight: 600; white-space: pre-wrap; unicode-bidi: plaintext; }
[data-outcome=pass] .reason, [data-outcome="not applicable"] .reason, [data-outcome="could not run"] .reason, [data-outcome="not shown"] .reason { color: inherit; font-weight: normal; }
[data-outcome=warn] .reason { color: var(--warn); }
.rules { margin: .5rem 0; padding-left: 1.125rem; } .rules .broken { font-weight: 600; } .rules ul { font-weight: normal; }
.level { border: 1px solid var(--line); border-radius: .25rem; padding: 0 .3rem; color: var(--quiet); font-size: .75rem; font-weight: normal; }
.pairs { margin: .5rem 0; } .pairs div { display: flex; gap: .75rem; } .pairs dt { flex: 0 0 5.5rem; color: var(--quiet); }
.pairs dd { flex: 1; min-width: 0; margin: 0; overflow-wrap: anywhere; white-space: pre-wrap; unicode-bidi: plaintext; }
.expected, .came { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; font-size: .8125rem; }
.came { color: var(--bad); } .warning { border-left: .25rem solid var(--warn); background: var(--warn-card); padding: .25rem .625rem; }
.note, .foot { color: var(--quiet); font-size: .875rem; }
.trace, .log { margin: .5rem 0; } .trace > summary, .log > summary { cursor: pointer; color: var(--quiet); font-size: .875rem; }
.scroll, pre { overflow: auto; max-height: 30rem; border: 1px solid var(--line); border-radius: .25rem; background: var(--card); }
pre { margin: .25rem 0; padding: .5rem; } table { border-collapse: collapse; width: 100%; }
th { position: sticky; top: 0; background: var(--card); color: var(--quiet); font-size: .75rem; font-weight: normal; text-align: left; }
th, td { padding: .125rem .5rem; vertical-align: top; } td { border-top: 1px solid var(--line); overflow-wrap: anywhere; }
.trace td:first-child, .trace th:first-child { text-align: right; white-space: nowrap; }
.trace th { width: 1%; white-space: nowrap; } .trace th:last-child { width: auto; }
.k-sent td:nth-child(3) { color: var(--link); } .k-received td:nth-child(3) { color: var(--good); } .k-undecodable td { color: var(--bad); }
.hex { color: var(--quiet); word-break: break-all; } .hex span { border-bottom: 2px solid var(--line); cursor: help; }
.legend span { cursor: default; } .k-polls td { color: var(--quiet); }
.hex .f-length, .hex .f-flags { color: var(--quiet); } .hex .f-version { color: var(--warn); border-color: var(--warn); }
.hex .f-command { color: var(--bad); border-color: var(--bad); } .hex .f-id { color: var(--link); border-color: var(--link); }
.hex .f-queue { color: var(--good); border-color: var(--good); } .hex .f-payload { color: var(--text); border-color: var(--text); }
.hex .f-headers { color: var(--open); border-color: var(--open); } .hex .f-error { color: var(--bad); border-color: var(--bad); }
.hex .f-rest { border-bottom-style: dotted; border-color: var(--quiet); }
.rule { font-weight: 600; } .rule-list { padding-left: 1.125rem; } .rule-list li { scroll-margin-top: 6rem; margin: .375rem 0; }
.rule-list li:target, li:target { outline: 2px solid var(--focus); outline-offset: 2px; } .rule-list small { color: var(--quiet); }
.not-right { margin: 1rem 0; } .not-right div { display: flex; gap: .75rem; } .not-right dt { flex: 0 0 11rem; color: var(--quiet); } .not-right dd { flex: 1; min-width: 0; margin: 0; }
.again code { display: inline-block; border-radius: .25rem; background: var(--card); padding: .125rem .375rem; user-select: all; overflow-wrap: anywhere; }
.again span { color: var(--quiet); font-size: .875rem; }
footer { margin-top: 2rem; border-top: 1px solid var(--line); color: var(--quiet); font-size: .875rem; }
.matrix { overflow-x: auto; } .matrix th, .matrix td { position: static; border-top: 1px solid var(--line); background: none; padding: .25rem .5rem; color: var(--text); font-size: .875rem; white-space: nowrap; }
.matrix thead th { position: sticky; top: 0; border-top: 0; background: var(--page); font-weight: 600; }
.matrix th[scope=row] { width: 99%; min-width: 16rem; white-space: normal; } .matrix td { text-align: center; }
.matrix td, .matrix code { font-size: .8125rem; } .matrix .outcome { display: inline-block; }
.matrix tr:target th { outline: 2px solid var(--focus); } .matrix .area th { padding-top: 1rem; font-weight: 600; text-align: center; }
.matrix .area th:first-child { text-align: left; }
@media (max-width: 45rem) { .tools { position: static; } .check { scroll-margin-top: 1rem; } }
@media print { .tools { display: none; } .scroll, pre { max-height: none; } }
`;

//! The look of every page: one small style sheet, light and dark.

/// Shared by all pages.
pub(super) const STYLE: &str = "
:root { color-scheme: light dark; --ink: #23261f; --soft: #6b6f63; --line: #d9d6c7; --paper: #fbfaf5; --card: #fff;
  --straw: #b8860b; --link: #1d5c3f; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e6dc; --soft: #a5a799; --line: #3d4038; --paper: #1b1d18;
  --card: #23261f; --straw: #e0b84c; --link: #8fd0ae; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 2.5rem 1.25rem 4rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.55 system-ui, sans-serif; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .4rem; }
h2 { font-size: 1.15rem; margin: 2.4rem 0 .7rem; padding-bottom: .3rem; border-bottom: 2px solid var(--straw); }
a { color: var(--link); text-underline-offset: .15em; }
a:focus-visible { outline: 3px solid var(--straw); outline-offset: 2px; }
code, pre { font: .92em/1.5 ui-monospace, 'DejaVu Sans Mono', monospace; }
pre { background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: .8rem 1rem; overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .4rem .8rem .4rem 0; border-bottom: 1px solid var(--line); }
th { font-weight: 600; color: var(--soft); }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td code { overflow-wrap: anywhere; }
.lead { color: var(--soft); margin: 0 0 1.6rem; }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(10rem, 1fr)); gap: .9rem; margin: 1.4rem 0; padding: 0; }
.facts div { background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: .8rem 1rem; }
.facts dt { color: var(--soft); font-size: .88rem; }
.facts dd { margin: 0; font-size: 1.25rem; font-weight: 600; font-variant-numeric: tabular-nums; white-space: nowrap; }
.scroll { overflow-x: auto; }
.button { font-weight: 600; display: inline-block; padding: .45rem 1rem; color: var(--paper); background: var(--link);
  border-radius: 6px; text-decoration: none; }
footer { margin-top: 3.5rem; color: var(--soft); font-size: .88rem; }
";

/// Shared by the pages of the explorer, behind [`STYLE`].
pub(super) const EXPLORER: &str = "
:root { --bad: #a3262a; --bad-card: #fdf1ef; --warn: #8a5a00; --good: #1d6b41; --name: #1d5c3f; --attribute: #7a4b9c;
  --value: #8a4b08; }
@media (prefers-color-scheme: dark) { :root { --bad: #ff9d94; --bad-card: #352321; --warn: #f0c35f; --good: #86d6a7;
  --name: #8fd0ae; --attribute: #cda9ec; --value: #edb97d; } }
body.explorer { max-width: 70rem; padding-top: 0; }
main:focus { outline: none; }
h3 { font-size: 1rem; margin: 1.4rem 0 .5rem; }
h1, h2, h3, p, li, dd, summary, td, th { overflow-wrap: anywhere; }
td, dd, code, q, a, span { unicode-bidi: isolate; }
:focus-visible { outline: 3px solid var(--straw); outline-offset: 2px; border-radius: 3px; }
.skip { position: absolute; left: -100rem; top: .5rem; background: var(--card); padding: .5rem 1rem; z-index: 1; }
.skip:focus { left: 1rem; }
.crumbs { border-bottom: 1px solid var(--line); margin: 0 0 2rem; padding: .9rem 0; font-size: .92rem; }
.crumbs ol { display: flex; flex-wrap: wrap; gap: .2rem .6rem; list-style: none; margin: 0; padding: 0; }
.crumbs li { max-width: 22rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; padding: .2rem 0; }
.crumbs li + li::before { content: '›'; color: var(--soft); margin-right: .6rem; }
.crumbs [aria-current] { color: var(--ink); font-weight: 600; text-decoration: none; }
.soft { color: var(--soft); font-weight: 400; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 1rem 1.2rem; }
.card > h2:first-child, .card > h3:first-child, .test h2 { margin-top: 0; }
.choices { list-style: none; padding: 0; display: grid; gap: .8rem; grid-template-columns: repeat(auto-fill, minmax(min(100%, 19rem), 1fr)); }
.choices li { display: grid; gap: .3rem; }
.choices a { font-weight: 600; font-size: 1.1rem; }
.choices code { color: var(--soft); overflow-wrap: anywhere; }
.test { display: flex; flex-wrap: wrap; gap: 1rem 2rem; align-items: center; justify-content: space-between;
  border-left: 4px solid var(--straw); margin: 1.6rem 0; }
.test div { flex: 1 1 20rem; } .test h2 { border: 0; margin: 0; padding: 0; } .test p { margin: .2rem 0 0; }
.forms { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr)); }
.forms .card { display: flex; flex-direction: column; } .forms form { flex: 1; }
.fields { display: grid; gap: .8rem 1rem; grid-template-columns: repeat(auto-fill, minmax(min(100%, 14rem), 1fr)); align-items: end; }
details .fields { padding: .3rem 0 1rem; }
.forms .fields { align-content: start; grid-template-columns: 1fr; }
.fields .about, .fields .wide, .fields > .soft { grid-column: 1 / -1; margin: 0; }
.field { display: grid; gap: .25rem; min-width: 0; }
label { font-size: .88rem; font-weight: 600; }
input, select { font: inherit; width: 100%; min-width: 0; padding: .5rem .6rem; color: inherit; background: var(--paper);
  border: 1px solid var(--soft); border-radius: 6px; height: 2.75rem; }
input.copy { font: .9rem/2 ui-monospace, 'DejaVu Sans Mono', monospace; }
button, .button { font: inherit; font-weight: 600; display: inline-block; padding: .55rem 1.1rem; min-height: 2.6rem; cursor: pointer;
  color: var(--paper); background: var(--link); border: 1px solid var(--link); border-radius: 6px; text-decoration: none; }
button:hover, .button:hover { filter: brightness(1.12); }
.fields button { justify-self: start; grid-column: 1 / -1; }
.tabs { display: flex; flex-wrap: wrap; gap: .3rem; margin: 0 0 1rem; border-bottom: 1px solid var(--line); }
.tabs a { padding: .5rem .8rem; text-decoration: none; border-radius: 6px 6px 0 0; border-bottom: 3px solid transparent; }
.tabs a:hover { background: var(--card); }
.tabs [aria-current] { color: var(--ink); font-weight: 600; border-bottom-color: var(--straw); }
.facts dd { white-space: normal; overflow-wrap: anywhere; }
.head { margin: 1rem 0; display: grid; gap: .35rem; }
.head div { display: grid; grid-template-columns: minmax(5rem, 9rem) 1fr; gap: 1rem; }
.head dt { color: var(--soft); } .head dd { margin: 0; min-width: 0; overflow-wrap: anywhere; }
.ways { display: flex; flex-wrap: wrap; gap: .3rem 1rem; align-items: center; }
.status { display: flex; flex-wrap: wrap; gap: .3rem 1.2rem; color: var(--soft); align-items: center; }
.badge { display: inline-block; font-size: .8rem; font-weight: 600; padding: .05rem .5rem; border-radius: 99px;
  border: 1px solid currentColor; color: var(--soft); }
.badge.good { color: var(--good); } .badge.error, .badge.fatal { color: var(--bad); } .badge.warn { color: var(--warn); }
.trouble { background: var(--bad-card); border-left: 4px solid var(--bad); border-radius: 6px; padding: .9rem 1.2rem; margin: 1rem 0; }
.trouble h2 { border: 0; margin: 0 0 .4rem; padding: 0; color: var(--bad); } .trouble p { margin: .3rem 0; }
.note { border-left: 4px solid var(--straw); padding-left: 1rem; }
.date { white-space: nowrap; font-variant-numeric: tabular-nums; }
.scroll td { min-width: 11rem; } .scroll td.date, .scroll td:empty { min-width: 0; }
.record th[scope=row] { font-weight: 600; color: var(--ink); white-space: nowrap; width: 1%; padding-right: 1.5rem; }
.record .d1 { padding-left: 1.2rem; } .record .d2 { padding-left: 2.4rem; } .record .d3 { padding-left: 3.6rem; }
.record .d4 { padding-left: 4.8rem; } .record .d5 { padding-left: 6rem; } .record .d6 { padding-left: 7.2rem; }
.attribute { color: var(--soft); font-size: .85rem; margin-left: .4rem; }
.records { display: grid; gap: .5rem; }
details { background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: 0 1rem; min-width: 0; }
summary { padding: .6rem 0; cursor: pointer; } summary .title { font-weight: 600; } summary .date { margin-left: .8rem; font-size: .88rem; }
.token { margin-top: 1.2rem; }
.xml { white-space: pre-wrap; overflow-wrap: anywhere; max-height: 75vh; overflow-y: auto; tab-size: 2; }
.xml .t { color: var(--name); } .xml .a { color: var(--attribute); } .xml .v { color: var(--value); }
.xml .c { color: var(--soft); } .xml .odd { color: var(--bad); border: 1px solid currentColor; border-radius: 3px; font-size: .8em; }
.running { display: flex; gap: .6rem; align-items: center; font-weight: 600; }
.running::before { content: ''; width: .9rem; height: .9rem; border-radius: 50%; border: 3px solid var(--straw);
  border-right-color: transparent; animation: turn 1s linear infinite; }
@keyframes turn { to { transform: rotate(1turn); } }
@media (prefers-reduced-motion: reduce) { .running::before { animation: none; } }
body:has(#done) .running { display: none; }
.family { border-bottom: 1px solid var(--line); padding: .35rem 0; }
.family h2 { font-size: 1rem; font-weight: 600; border: 0; margin: 0 1rem 0 0; padding: 0; color: var(--soft); display: inline-block; min-width: 16rem; }
.family:has(~ .family, ~ #done):not(:has(.finding)) h2::after { content: ' ✓'; color: var(--good); }
.family:has(.finding) h2 { color: var(--ink); }
.tick { display: inline-block; width: .5rem; height: .5rem; margin: 0 .15rem .15rem 0; background: var(--straw); border-radius: 2px; opacity: .6; }
.finding { background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: .2rem 1.1rem .4rem; margin: .5rem 0; }
.finding h3 { margin: .6rem 0; }
.clean { color: var(--good); font-weight: 600; font-size: 1.15rem; }
#done { margin: 2rem 0 1rem; }
@media (max-width: 34rem) {
  .head div { grid-template-columns: 1fr; gap: 0; }
  .facts { grid-template-columns: 1fr 1fr; } .facts dd { font-size: 1.05rem; }
  .tabs a { padding: .45rem .55rem; }
  .record th[scope=row] { white-space: normal; overflow-wrap: anywhere; }
}
";

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
footer { margin-top: 3.5rem; color: var(--soft); font-size: .88rem; }
";

// The style and the script of every page. Colours are those of Okabe and Ito, which the
// colour-blind can tell apart; on the dark ground they are lighter.
#include "reports/page.h"

namespace fencepost::reports {

std::string_view page_style() {
    return R"css(:root {
  color-scheme: light dark;
  --ground: #ffffff; --ink: #1b1f24; --soft: #57606a; --line: #d0d7de; --panel: #f3f5f7;
  --bad: #a40e26; --bad-ground: #ffebe9; --good: #116329; --good-ground: #dcf5e3;
  --doubt: #7a4b00; --doubt-ground: #fff3d1; --focus: #0550ae;
  --owner-0: #0072b2; --owner-1: #b25e00; --owner-2: #007a5a; --owner-3: #a3477f;
  --owner-4: #2a7fae; --owner-5: #c14d00;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #12161b; --ink: #e6edf3; --soft: #a0abb7; --line: #3a434d; --panel: #1c2229;
    --bad: #ff8f87; --bad-ground: #3b1518; --good: #6fd58b; --good-ground: #12351d;
    --doubt: #f0c25e; --doubt-ground: #382a08; --focus: #79b8ff;
    --owner-0: #56b4e9; --owner-1: #e69f00; --owner-2: #37c99a; --owner-3: #e39cc6;
    --owner-4: #9fd3f2; --owner-5: #ff8a3d;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 1500px; margin: 0 auto; padding: 1rem 1.5rem 4rem; }
h1 { font-size: 1.6rem; margin: .5rem 0; } h2 { font-size: 1.25rem; margin: 2rem 0 .5rem; }
h3 { font-size: 1.05rem; margin: 1.2rem 0 .3rem; } h4 { margin: .8rem 0 .2rem; }
p { margin: .3rem 0; max-width: 75rem; }
a { color: var(--focus); }
.finding { color: var(--bad); background: var(--bad-ground); padding: .4rem .6rem;
  border-left: 4px solid var(--bad); overflow-wrap: anywhere; }
.gap { color: var(--doubt); background: var(--doubt-ground); padding: .2rem .6rem; }
.lesson { border-left: 4px solid var(--focus); padding-left: .6rem; font-weight: 600; }
.command { background: var(--panel); padding: .5rem .7rem; overflow-x: auto; }
.story { list-style: none; padding: 0; margin: .3rem 0; }
.story button { all: unset; cursor: pointer; display: block; width: 100%; padding: .05rem .4rem;
  font: 13px/1.6 ui-monospace, monospace; border-left: 4px solid transparent;
  overflow-wrap: anywhere; }
.story button:hover { background: var(--panel); }
.story .when { display: inline-block; min-width: 8.5em; text-align: right; color: var(--soft); }
.story .who { display: inline-block; min-width: 7em; font-weight: 600; padding-left: .6em; }
.story .evidence button { border-color: var(--bad); color: var(--bad); }
.story .struck button { border-color: var(--doubt); color: var(--doubt); }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 1px; }
.story button:focus-visible { outline: 3px solid var(--focus); }
.matrix, .verdicts { border-collapse: collapse; margin: .8rem 0; }
.matrix th, .matrix td, .verdicts th, .verdicts td { border: 1px solid var(--line);
  padding: .25rem .6rem; text-align: left; font-weight: 400; }
.matrix thead th, .verdicts thead th { font-weight: 600; background: var(--panel); }
caption { text-align: left; color: var(--soft); }
td.pass, td.pass a { color: var(--good); background: var(--good-ground); }
td.fail, td.fail a { color: var(--bad); background: var(--bad-ground); font-weight: 700; }
td.unknown, td.unknown a { color: var(--doubt); background: var(--doubt-ground); }
td.not-applicable, td.not-applicable a { color: var(--soft); }
details { margin: .5rem 0; } summary { cursor: pointer; overflow-wrap: anywhere; }
.failure > summary { color: var(--bad); font-weight: 600; }
.failure { border-left: 4px solid var(--bad); padding-left: .8rem; }
.controls { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center;
  margin: .8rem 0 .3rem; }
.controls fieldset { border: 1px solid var(--line); display: flex; flex-wrap: wrap;
  gap: .1rem .9rem; padding: .2rem .6rem .4rem; }
.controls select { max-width: 22rem; font: inherit; }
.controls button { font: inherit; padding: .1rem .7rem; }
.count, .hint { color: var(--soft); } .hint { font-size: .85rem; }
.details { position: sticky; top: 0; z-index: 1; background: var(--panel); padding: .4rem .6rem;
  font: 13px/1.5 ui-monospace, monospace; min-height: 2.2rem; max-width: none;
  overflow-wrap: anywhere; border: 1px solid var(--line); }
.scroll { overflow: auto; max-height: 88vh; border: 1px solid var(--line); }
.heads { display: block; position: sticky; top: 0; background: var(--panel);
  border-bottom: 1px solid var(--line); }
.diagram { display: block; background: var(--ground); font: 10px ui-monospace, monospace; }
.diagram text { fill: var(--ink); }
.heads text { font: 700 14px ui-monospace, monospace; fill: var(--ink); }
.diagram .time { text-anchor: end; fill: var(--soft); }
.diagram .lane { stroke: var(--line); stroke-dasharray: 2 4; fill: none; }
.diagram .label { font-size: 11px; paint-order: stroke; stroke: var(--ground); stroke-width: 4px; }
.mark path, .mark rect, .mark circle { fill: none; stroke: var(--ink); stroke-width: 1.2; }
.mark { cursor: pointer; outline: none; }
.mark.off { opacity: .08; } .mark.gone { display: none; }
.mark.on path, .mark.on rect, .mark.on circle { stroke: var(--focus); stroke-width: 3.2; }
.mark .cross { stroke: var(--bad); stroke-width: 2.4; }
.k-life rect { fill: var(--panel); stroke: var(--soft); }
.hatch-ground { fill: var(--doubt-ground); } .hatch { stroke: var(--doubt); stroke-width: 3; }
.k-call path { stroke: var(--soft); stroke-width: .9; }
.k-call.schedulers path { opacity: .45; }
.k-call.told path { stroke: var(--ink); }
.k-call.lost path { stroke: var(--bad); } .k-call .cut { stroke-dasharray: 4 2; }
.head { fill: var(--soft); stroke: none; }
.k-transaction path { stroke: var(--good); stroke-width: 2; }
.k-transaction.broken path { stroke: var(--bad); stroke-dasharray: 4 3; }
.k-write path { fill: var(--ink); } .k-fire path { fill: var(--focus); stroke: var(--focus); }
.k-key rect, .k-node path, .k-charge circle, .k-message rect { fill: var(--panel); }
.k-charge circle { stroke-width: 2.4; }
.k-fault path { fill: var(--doubt-ground); stroke: var(--doubt); stroke-width: 2; }
.k-fault .fault-line { fill: none; stroke-dasharray: 8 4; stroke-width: 1.2; }
.k-violation circle { stroke: var(--bad); stroke-width: 2.4; }
.owner-0 rect, .owner-0 path { stroke: var(--owner-0); }
.owner-1 rect, .owner-1 path { stroke: var(--owner-1); }
.owner-2 rect, .owner-2 path { stroke: var(--owner-2); }
.owner-3 rect, .owner-3 path { stroke: var(--owner-3); }
.owner-4 rect, .owner-4 path { stroke: var(--owner-4); }
.owner-5 rect, .owner-5 path { stroke: var(--owner-5); }
pattern rect { fill: var(--ground); stroke: none !important; } pattern path { stroke-width: 2.6; fill: none; }
@media print {
  :root { --ground: #fff; --ink: #000; --soft: #333; --line: #888; --panel: #eee; }
  .controls, .hint, .details { display: none; }
  .scroll { overflow: visible; max-height: none; border: none; }
  .diagram, .heads { width: 100% !important; height: auto; }
  .story button { padding: 0; } main { max-width: none; padding: 0; }
}
)css";
}

std::string_view page_script() {
    return R"js('use strict';
for (const picture of document.querySelectorAll('.picture')) {
  const svg = picture.querySelector('.diagram');
  const heads = picture.querySelector('.heads');
  const details = picture.querySelector('.details');
  const marks = [...svg.querySelectorAll('.mark')]
    .sort((a, b) => a.dataset.r - b.dataset.r);
  const width = Number(svg.dataset.width);
  let zoom = 1;
  let current = null;

  function setZoom(to) {
    zoom = Math.min(6, Math.max(0.2, to));
    svg.style.width = heads.style.width = Math.round(width * zoom) + 'px';
    svg.dataset.zoom = zoom;
  }

  function fit() {
    setZoom((svg.parentElement.clientWidth - 4) / width || 1);
  }

  function show(mark, scroll) {
    if (current) current.classList.remove('on');
    current = mark;
    if (!mark) { details.textContent = '\u00a0'; return; }
    mark.classList.add('on');
    details.textContent = mark.querySelector('title').textContent;
    if (scroll) mark.scrollIntoView({ block: 'center', inline: 'nearest' });
  }

  function visible() {
    return marks.filter(m => !m.classList.contains('gone') && !m.classList.contains('off'));
  }

  function step(by) {
    const all = visible();
    if (!all.length) return;
    const at = all.indexOf(current);
    const next = at < 0 ? (by > 0 ? 0 : all.length - 1)
                        : Math.min(all.length - 1, Math.max(0, at + by));
    show(all[next], true);
  }

  function filter() {
    const value = name => picture.querySelector('[data-filter=' + name + ']').value;
    const task = value('task');
    const key = value('key');
    const told = picture.querySelector('[data-filter=told]').checked;
    const kinds = new Set([...picture.querySelectorAll('[data-kind]')]
      .filter(box => box.checked).map(box => 'k-' + box.dataset.kind));
    for (const mark of marks) {
      const kind = [...mark.classList].find(name => name.startsWith('k-'));
      mark.classList.toggle('gone', !kinds.has(kind));
      const always = kind === 'k-life' || kind === 'k-violation';
      const fits = (!task || mark.dataset.task === task) && (!key || mark.dataset.key === key) &&
        (!told || mark.classList.contains('told'));
      mark.classList.toggle('off', !fits && !always);
    }
    if (current && !visible().includes(current)) show(null);
  }

  function reset() {
    for (const select of picture.querySelectorAll('select')) select.value = '';
    picture.querySelector('[data-filter=told]').checked = false;
    for (const box of picture.querySelectorAll('[data-kind]')) box.checked = true;
    filter();
    show(null);
  }

  svg.addEventListener('click', event => {
    const mark = event.target.closest('.mark');
    if (mark) show(mark, false);
  });
  svg.addEventListener('pointerover', event => {
    const mark = event.target.closest('.mark');
    if (mark && !current) details.textContent = mark.querySelector('title').textContent;
  });
  svg.addEventListener('keydown', event => {
    const steps = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1,
      PageDown: 20, PageUp: -20, Home: -marks.length, End: marks.length };
    if (event.key in steps) step(steps[event.key]);
    else if (event.key === '+') setZoom(zoom * 1.25);
    else if (event.key === '-') setZoom(zoom / 1.25);
    else if (event.key === 'Escape') reset();
    else return;
    event.preventDefault();
  });
  picture.addEventListener('change', filter);
  for (const button of picture.querySelectorAll('[data-zoom]')) {
    if (button.tagName !== 'BUTTON') continue;
    button.addEventListener('click', () => {
      const how = button.dataset.zoom;
      if (how === '0') fit();
      else setZoom(how === '+' ? zoom * 1.25 : zoom / 1.25);
    });
  }
  for (const button of document.querySelectorAll('.story[data-for="' + svg.id + '"] button')) {
    button.addEventListener('click', () => {
      reset();
      const mark = marks.find(m => m.dataset.r === button.dataset.r);
      if (mark) show(mark, true);
      else details.textContent = button.textContent;
    });
  }
  const folded = picture.closest('details');
  if (folded) folded.addEventListener('toggle', () => { if (folded.open) fit(); }, { once: true });
  fit();
}
for (const link of document.querySelectorAll('.matrix a')) {
  link.addEventListener('click', () => {
    const section = document.querySelector(link.getAttribute('href'));
    const failing = link.parentElement.classList.contains('fail');
    for (const part of section.querySelectorAll(failing ? '.failure' : '.evidence > details')) {
      part.open = true;
      if (failing) break;
    }
  });
}
)js";
}

}  // namespace fencepost::reports

// The script of the HTML page: filters, search, unfolding, and links to checks. It stores nothing and loads nothing. It is a text, because
// it is copied into the page; plain JavaScript for current browsers.

export const pageScript = `
'use strict';
const tools = document.querySelector('.tools');
const search = document.getElementById('search');
const unfold = document.getElementById('unfold');
const filters = [...document.querySelectorAll('[data-filter]')];
const checks = [...document.querySelectorAll('.check')];
const sections = [...document.querySelectorAll('section[data-area]')];

function apply() {
  const outcomes = new Set(filters.filter((one) => one.getAttribute('aria-pressed') === 'true').map((one) => one.dataset.filter));
  const words = search.value.toLowerCase().split(/\\s+/).filter(Boolean);
  let count = 0;
  for (const check of checks) {
    const fits = outcomes.has(check.dataset.outcome) && words.every((word) => check.dataset.words.includes(word));
    check.hidden = !fits;
    if (fits) count += 1;
  }
  for (const section of sections) section.hidden = section.querySelector('.check:not([hidden])') === null;
  document.getElementById('nothing').hidden = count > 0;
  document.getElementById('shown').textContent = count === checks.length ? '' : count + ' of ' + checks.length + ' shown';
}

function press(filter, pressed) {
  filter.setAttribute('aria-pressed', String(pressed));
}

// A click shows this outcome alone; a second one shows all again; with Ctrl, Shift or Meta it is added or taken away.
function choose(filter, event) {
  const active = filters.filter((one) => !one.disabled && one.getAttribute('aria-pressed') === 'true');
  const alone = active.length === 1 && active[0] === filter;
  if (event.ctrlKey || event.shiftKey || event.metaKey) press(filter, !active.includes(filter));
  else for (const one of filters) press(one, alone || one === filter);
  apply();
}

function showLinked() {
  const linked = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (linked === null || !linked.classList.contains('check')) return;
  if (linked.hidden) {
    search.value = '';
    for (const one of filters) press(one, true);
    apply();
  }
  linked.open = true;
  linked.scrollIntoView();
  linked.querySelector('summary').focus({ preventScroll: true });
}

for (const filter of filters) filter.addEventListener('click', (event) => choose(filter, event));
search.addEventListener('input', apply);
tools.addEventListener('submit', (event) => event.preventDefault());
unfold.addEventListener('click', () => {
  const all = unfold.getAttribute('aria-pressed') !== 'true';
  unfold.setAttribute('aria-pressed', String(all));
  unfold.textContent = all ? 'Fold all' : 'Unfold all';
  for (const check of checks) if (!check.hidden) check.open = all;
});
document.addEventListener('keydown', (event) => {
  const typing = event.target instanceof HTMLInputElement;
  if (event.key === '/' && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    search.focus();
  }
  if (event.key === 'Escape' && event.target === search) {
    search.value = '';
    apply();
  }
});
addEventListener('hashchange', showLinked);
tools.hidden = false;
showLinked();
`;

// Finds words in the pages. The index is asked for when somebody begins to search.
'use strict';

const RESULTS_MAX = 12;
const AROUND = 70;

const form = document.querySelector('header form');
const input = document.getElementById('search');
const found = document.getElementById('found');
let index = null;

const load = () => {
  index ??= fetch('search.json').then((answer) => (answer.ok ? answer.json() : Promise.reject(new Error(String(answer.status)))));
  return index;
};

/** How well a page has all words; 0 if it lacks one. */
function score(page, words) {
  let sum = 0;
  for (const word of words) {
    const headings = page.headings.filter(([, text]) => text.toLowerCase().includes(word)).length;
    const there = page.text.toLowerCase().includes(word);
    const best = (page.title.toLowerCase().includes(word) ? 20 : 0) + Math.min(headings, 3) * 6 + (there ? 1 : 0);
    if (best === 0) return 0;
    sum += best;
  }
  return sum;
}

/** The heading that has the most of the words, and text around the first of them. */
function place(page, words) {
  const fits = (text) => words.filter((word) => text.toLowerCase().includes(word)).length;
  const heading = page.headings.filter(([, text]) => fits(text) > 0).sort((a, b) => fits(b[1]) - fits(a[1]))[0];
  const at = Math.max(0, page.text.toLowerCase().indexOf(words[0]));
  const start = Math.max(0, at - AROUND);
  return { heading, text: `${start > 0 ? '… ' : ''}${page.text.slice(start, at + AROUND).replaceAll('\n', ' ').trim()} …` };
}

function show(pages, words) {
  found.replaceChildren();
  found.hidden = words.length === 0;
  if (words.length === 0) return;
  const best = pages.map((page) => [score(page, words), page]).filter(([sum]) => sum > 0).sort((a, b) => b[0] - a[0]).slice(0, RESULTS_MAX);
  const list = document.createElement('ul');
  for (const [, page] of best) {
    const { heading, text } = place(page, words);
    const link = document.createElement('a');
    link.href = heading ? `${page.url}#${heading[0]}` : page.url;
    link.textContent = heading ? `${page.title}: ${heading[1]}` : page.title;
    const about = document.createElement('p');
    about.textContent = text;
    const item = document.createElement('li');
    item.append(link, about);
    list.append(item);
  }
  const sum = document.createElement('p');
  sum.textContent = best.length === 0 ? 'Nothing found.' : `${best.length} ${best.length === 1 ? 'page' : 'pages'}`;
  found.append(sum, list);
}

async function search() {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  try {
    show(await load(), words);
  } catch {
    index = null;
    found.hidden = false;
    found.textContent = 'The search is not available now.';
  }
}

input.addEventListener('input', search);
input.addEventListener('focus', () => void load().catch(() => { index = null; }));
form.addEventListener('submit', (event) => {
  event.preventDefault();
  found.querySelector('a')?.click();
});
document.addEventListener('keydown', (event) => {
  if (event.key === '/' && document.activeElement !== input && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    input.focus();
  } else if (event.key === 'Escape') {
    input.value = '';
    found.hidden = true;
  }
});
// Without this script there is no search, and so no field for it.
form.hidden = false;
// On a narrow screen the contents are closed until somebody opens them.
if (window.matchMedia('(max-width: 899px)').matches) document.querySelector('.contents').open = false;

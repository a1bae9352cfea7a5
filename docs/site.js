// The search of the site. The index of all sections is fetched when the field is first used, as a script, which
// browsers also read from a folder on disk.
'use strict';

globalThis.ready = Promise.resolve();
{
  const field = document.getElementById('search'), results = document.getElementById('results'), root = document.body.dataset.root;
  const FEW = 20, AROUND = 60;
  let index = null; // [page, title of the page, anchor, heading, text]

  const load = () => index ||= new Promise((done, failed) => {
    const script = Object.assign(document.createElement('script'), {src: `${root}search-index.js`, onerror: failed, onload: () => done(globalThis.searchIndex)});
    document.head.append(script);
  });

  // Returns the sections that have all words, those first that have them in their headings.
  function find(sections, words) {
    const score = ([, title, , heading, text]) => {
      let sum = 0;
      for (const word of words) {
        const inside = text.toLowerCase().split(word).length - 1, above = heading.toLowerCase().includes(word), page = title.toLowerCase().includes(word);
        if (!inside && !above && !page) return 0;
        sum += Math.min(inside, 5) + 20 * above + 10 * page;
      }
      return sum;
    };
    return sections.map((section) => [score(section), section]).filter(([sum]) => sum).sort((a, b) => b[0] - a[0]).map(([, section]) => section);
  }

  function part(text, word) {
    const at = Math.max(0, text.toLowerCase().indexOf(word) - AROUND);
    return `${at ? '… ' : ''}${text.slice(at, at + 3 * AROUND)}${at + 3 * AROUND < text.length ? ' …' : ''}`;
  }

  async function show() {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    results.hidden = !words.length;
    if (!words.length) return;
    const found = find(await load(), words), list = document.createElement('ol');
    for (const [page, title, anchor, heading, text] of found.slice(0, FEW)) {
      const item = document.createElement('li'), link = document.createElement('a'), small = document.createElement('small');
      link.href = `${root}${page}${anchor ? `#${anchor}` : ''}`;
      link.textContent = heading && heading !== title ? `${title}: ${heading}` : title;
      small.textContent = part(text, words[0]);
      item.append(link, small);
      list.append(item);
    }
    const said = document.createElement('p');
    said.textContent = found.length > FEW ? `The first ${FEW} of ${found.length} sections.` : found.length === 1 ? 'One section.' : `${found.length || 'No'} sections have these words.`;
    results.replaceChildren(said, list);
  }

  field.addEventListener('focus', load);
  field.addEventListener('input', show);
  field.form.addEventListener('submit', (event) => {
    event.preventDefault();
    results.querySelector('a')?.click();
  });
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') results.hidden = true;
    if (event.key !== '/' || event.target.closest('input')) return;
    event.preventDefault();
    field.focus();
  });
  document.addEventListener('click', (event) => { if (!event.target.closest('form')) results.hidden = true; });
}

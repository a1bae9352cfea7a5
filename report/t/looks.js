// node looks.js DIR KEPT FILE...: looks at pages and pictures in DIR at 1280 and 400 px, light and dark: no text is
// cut or lies on another, and marks can be seen. FILE is a page (.html) or a picture (.svg); with a + before it, it is
// also compared with the kept picture in KEPT, which RECLINE_KEEP=1 keeps anew: a letter for the colour of each square
// (play/t/pictures.js), where all letters of texts are blocks (play/t/blocks.js). Prints TAP.
'use strict';
const fs = require('fs'), path = require('path');
const {open, is, run} = require('../../play/t/browser.js'), {laidOut, WIDTHS, SCHEMES, scheme, size, drawn} = require('../../play/t/layout.js');
const {look, difference} = require('../../play/t/pictures.js'), {BLOCKS} = require('../../play/t/blocks.js');

// Documents change often, so only the upper part of a page made of them is compared.
const SIDE = 32, TOLERANCE = 0.1, height = (name) => /^site\/|^replication$/.test(name) ? 640 : 3200;

// Waits until the parts of a report are there that follow when its window has come to rest.
const settled = (p) => p.until(`typeof about === 'undefined' || !about.traces?.length
  || document.getElementById('status').textContent !== '' && (about.kind === 'pair' || document.querySelector('#events caption') !== null)`);

// A picture is looked at inside a page, which a picture cannot be.
function paged(dir, file) {
  if (!file.endsWith('.svg')) return file;
  const svg = fs.readFileSync(path.join(dir, file), 'utf8').replace(/^[^]*?(?=<svg)/, ''), page = `${file}.html`;
  fs.writeFileSync(path.join(dir, page), `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>${file}</title>
<style>:root { --text: #000000; --back: #ffffff; --bad: #b3261e; } body { margin: 0; background: #ffffff; } div { overflow-x: auto; }</style></head>
<body><div>${svg}</div><script>globalThis.ready = Promise.resolve();</script></body></html>`);
  return page;
}

// Looks at the page as it is, in light and dark: adds {width, value, rows} to `seen`.
async function see(p, name, width, seen) {
  await p.evaluate(BLOCKS);
  for (const value of SCHEMES) {
    await scheme(p, value);
    await drawn(p);
    seen.push({width, value, rows: await look(p, 'body', SIDE, height(name))});
  }
}

// Tests that what was seen is the kept picture, and is not after a change of the page.
async function compare(p, name, file, seen) {
  const light = seen.filter(({value}) => value === 'light');
  if (process.env.RECLINE_KEEP) fs.writeFileSync(file, `${light.map(({width, rows}) => [`${width} px`, ...rows].join('\n')).join('\n')}\n`);
  const parts = fs.existsSync(file) ? fs.readFileSync(file, 'utf8').trim().split(/^\d+ px\n/m).slice(1).map((text) => text.trimEnd().split('\n')) : [];
  for (const {width, value, rows} of seen) {
    const kept = parts[WIDTHS.indexOf(width)] || [], far = difference(kept, rows);
    is(far <= TOLERANCE, true, `${name}, ${width} px, ${value}: the kept picture (${(100 * far).toFixed(1)} % differ)`);
    if (far > TOLERANCE) rows.forEach((row, y) => { if (row !== kept[y]) console.log(`# ${row}\n# ${kept[y]}`); });
  }
  await p.evaluate("document.body.style.paddingTop = '64px'");
  is(difference(parts.at(-1) || [], await look(p, 'body', SIDE, height(name))) > TOLERANCE, true, `${name}: and not when all is further down`);
}

run(async () => {
  const [dir, pictures, ...files] = process.argv.slice(2);
  const p = await open(dir);
  await p.call('Emulation.setScrollbarsHidden', {hidden: true});
  for (const file of files.map((name) => name.replace('+', ''))) {
    const url = `file://${path.resolve(dir, paged(dir, file))}`, name = file.replace(/\.html$/, '');
    const seen = [], compared = files.includes(`+${file}`);
    await laidOut(p, url, name, {settled, more: (width) => compared && see(p, name, width, seen)});
    if (compared) await compare(p, name, `${pictures}/${name.replace(/\//g, '-')}.txt`, seen);
  }
  await p.close();
});

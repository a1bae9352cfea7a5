// node site-clicks.js SITE: uses the site in a browser as a reader would (site.t). Prints TAP.
'use strict';
const {open, is, run, names, colours} = require('../../play/t/browser.js');

run(async () => {
  const [site] = process.argv.slice(2);
  const p = await open(site);
  await p.go(`file://${site}/docs/protocols/matrix.html`);
  await p.evaluate(`(() => { const field = document.getElementById('search'); field.focus(); field.value = 'weakly fair lasso'; field.dispatchEvent(new Event('input')); })()`);
  await p.until('document.querySelector("#results li a")');
  const found = await p.evaluate('[...document.querySelectorAll("#results li a")].map((link) => link.getAttribute("href"))');
  is(found.includes('../../docs/check.html#temporal-properties'), true, 'the search finds a section by its words');
  await p.evaluate(`(() => { const field = document.getElementById('search'); field.value = 'xyzzyx'; field.dispatchEvent(new Event('input')); })()`);
  await p.until('document.getElementById("results").textContent === "No sections have these words."');
  await names(p);
  await colours(p);
  for (const page of ['index', 'docs/scenario', 'docs/protocols/matrix', 'docs/how-sure', 'docs/reality']) {
    await p.call('Emulation.setDeviceMetricsOverride', {width: 400, height: 900, deviceScaleFactor: 1, mobile: true});
    await p.go(`file://${site}/${page}.html`);
    is(await p.evaluate('[document.documentElement.scrollWidth, document.querySelector("h1").getBoundingClientRect().top < 200]'), [400, true],
      `${page}: at 400 px it fits, and begins with its heading`);
    await p.call('Emulation.clearDeviceMetricsOverride');
  }
  await p.close();
});

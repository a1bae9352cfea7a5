// node axe.js DIR AXE PAGE...: prints what axe-core (the file AXE) finds in pages of DIR, as TAP.
'use strict';
const fs = require('fs');
const {open, is, run} = require('../../play/t/browser.js');

run(async () => {
  const [dir, axe, ...pages] = process.argv.slice(2), source = fs.readFileSync(axe, 'utf8');
  const p = await open(dir);
  for (const page of pages) {
    for (const value of ['light', 'dark']) {
      await p.call('Emulation.setEmulatedMedia', {features: [{name: 'prefers-color-scheme', value}]});
      await p.go(`file://${dir}/${page}`);
      await p.evaluate(`${source};0`);
      const found = await p.evaluate('axe.run().then((r) => r.violations.map((v) => `${v.impact} ${v.id}: ${v.nodes[0].html.slice(0, 100)}`))');
      is(found, [], `${page}, ${value}: nothing is found`);
    }
  }
  await p.close();
});

// node walks.js PAGE SEED STEPS: prints a digest of a walk through each world on standard input.
'use strict';
const fs = require('fs');
const {load} = require('./host.js');

(async () => {
  const [file, seed, steps] = process.argv.slice(2);
  const engine = await (await load(file)).start();
  for (const text of fs.readFileSync(0, 'utf8').split(/(?<=^---\n)/m)) {
    engine.begin(text);
    console.log(engine.walk(Number(seed), Number(steps)));
  }
})();

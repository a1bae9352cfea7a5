// node narrate.js PAGE FILE...: prints each trace in sentences, as the page tells the steps.
'use strict';
const fs = require('fs');
const {load} = require('./host.js'), {Story} = require('../story.js');

(async () => {
  const [page, ...files] = process.argv.slice(2);
  Story.words = (await load(page)).world.words;
  for (const file of files) {
    const lines = fs.readFileSync(file, 'utf8').split('\n'), ranks = Number(/^ranks (\d+)$/m.exec(lines.join('\n'))[1]);
    const steps = lines.filter((line) => /^\d/.test(line)).map((line, i) => Story.read(line.replace(/^\S+ /, ''), i));
    const history = Story.history(steps, ranks);
    for (const step of steps) console.log(Story.tell(step, history, true));
  }
})();

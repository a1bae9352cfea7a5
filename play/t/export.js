// node export.js PAGE FILE: the run that the page was given, written as a trace of the page's engine;
// prints what it violates.
'use strict';
const fs = require('fs');
const {load} = require('./host.js'), {Engine} = require('../engine.js');

(async () => {
  const [file, out] = process.argv.slice(2);
  const {world, start} = await load(file);
  const engine = await start();
  engine.begin(world.description);
  engine.follow(world.moves);
  const steps = Engine.steps(engine.go(engine.view().count)), {judged} = engine.view();
  const cycle = world.again ? {from: steps.length - world.again, line: world.violation} : null;
  const text = Engine.trace(engine.header(), steps, cycle, judged);
  fs.writeFileSync(out, text);
  console.log((/^violation .*(?!.*^violation)/ms.exec(text) || ['no violation'])[0].trim().split('\n').pop().split(':')[0]);
})();

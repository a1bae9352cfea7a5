// node export.js PAGE FILE: the run that the page was given, written as a trace of the page's engine;
// prints what it violates, and the decoded state of each rank.
'use strict';
const fs = require('fs');
const {load} = require('./host.js'), {Engine} = require('../engine.js'), {Decode} = require('../decode.js');

(async () => {
  const [file, out] = process.argv.slice(2);
  const {world, layouts, start} = await load(file);
  const engine = await start();
  engine.begin(world.description);
  engine.follow(world.moves);
  const steps = Engine.steps(engine.go(engine.view().count)), {judged, ranks} = engine.view();
  const cycle = world.again ? {from: steps.length - world.again, line: world.violation} : null;
  const text = Engine.trace(engine.header(), steps, cycle, judged);
  fs.writeFileSync(out, text);
  console.log((/^violation .*(?!.*^violation)/ms.exec(text) || ['no violation'])[0].trim().split('\n').pop().split(':')[0]);
  const found = engine.lists();
  ranks.forEach((rank, i) => console.log(`rank ${i}: ${found ? Decode.state(rank, layouts[found.name], found.lists)
    .filter(([, text]) => !Decode.isZero(text)).map(([name, text]) => `${name}=${text}`).join('; ') : '-'}`));
})();

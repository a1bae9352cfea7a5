// node export.js PAGE FILE: the run that the page was given, written as a trace of the page's engine;
// prints what it violates.
'use strict';
const fs = require('fs');
const {load} = require('./host.js');

(async () => {
  const [file, out] = process.argv.slice(2);
  const {world, start} = await load(file);
  const engine = await start();
  engine.begin(world.description);
  engine.follow(world.moves);
  const lines = engine.go(engine.view().count);
  const view = engine.view(), wrong = view.step || view.judged;
  let step = 0;
  const numbered = lines.map((line) => line.startsWith('violation ') ? line : `${step++} ${line}`);
  if (view.judged) numbered.push(`violation ${wrong.property} rank=${wrong.rank}: ${wrong.text}`);
  fs.writeFileSync(out, engine.header() + numbered.join('\n') + '\n');
  console.log(wrong ? `violation ${wrong.property} rank=${wrong.rank}` : 'no violation');
})();

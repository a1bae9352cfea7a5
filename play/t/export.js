// node export.js PAGE FILE [MOVES]: writes the run that the page was given as a trace of the page's engine.
// Prints what the run violates, the decoded state of each rank, and what a mutant does otherwise. With MOVES, it takes the moves up to where
// the page opens, and then MOVES others.
'use strict';
const fs = require('fs');
const {load} = require('./host.js'), {Engine} = require('../engine.js'), {Decode} = require('../decode.js'), {Story} = require('../story.js');

(async () => {
  const [file, out, more] = process.argv.slice(2);
  const {world, layouts, moves, times, start} = await load(file);
  const engine = await start();
  engine.begin(world.description);
  engine.know(moves);
  const steps = Engine.steps(engine.lines(more ? world.at : engine.view().count));
  const ending = more ? null : Engine.ending(world, steps);
  for (let i = 0; i < more; i++) {
    const move = engine.draw(1, i, engine.view().moves.length);
    steps.push(...Engine.steps(engine.take(move).split('\n')));
  }
  const {judged, ranks} = engine.view();
  const text = Engine.trace(engine.header(), steps, more ? times.slice(0, world.at) : times, ending, judged);
  fs.writeFileSync(out, text);
  console.log((/^violation .*(?!.*^violation)/ms.exec(text) || ['no violation'])[0].trim().split('\n').pop().split(':')[0]);
  const {name, lists} = engine.lists() || {name: 'own', lists: []};
  const reader = Decode.reader(ranks[0].bytes, layouts[name], lists);
  Story.words = world.words;
  const told = steps.map(({line}, i) => Story.read(line, i)), history = Story.history(told, ranks.length);
  ranks.forEach((rank, i) => console.log(`rank ${i}: ${!layouts[name] ? '-' : Decode.state(rank, layouts[name], lists)
    .filter(([, text]) => !Decode.isZero(text)).map(([field, text]) => `${field}=${text}`).join('; ')}`));
  told.forEach((step, i) => {
    const otherwise = Story.otherwise(engine.difference(i), step, history, reader);
    if (otherwise) console.log(`step ${i}: ${otherwise}`);
  });
})();

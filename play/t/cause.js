// node cause.js PAGE...: prints the story of the violation of each page's run, "NAME: TEXT" for each part.
'use strict';
const {load} = require('./host.js'), {Engine} = require('../engine.js'), {Decode} = require('../decode.js'), {Story} = require('../story.js'), {Cause} = require('../cause.js');

(async () => {
  for (const file of process.argv.slice(2)) {
    const {world, layouts, moves, times, start} = await load(file), engine = await start();
    engine.begin(world.description);
    engine.know(moves);
    Story.words = world.words;
    const known = Engine.steps(engine.lines(engine.view().count)), view = engine.view(), {name, lists} = engine.lists() || {name: 'own', lists: []};
    const reader = Decode.reader(view.ranks[0].bytes, layouts[name], lists);
    const steps = known.map(({line}, i) => Story.read(line, i)), told = {steps, history: Story.history(steps, view.ranks.length)};
    view.differing = engine.differing(view.at);
    const wrong = Cause.wrong(known, view, Engine.ending(world, known), times);
    for (const [part, text] of wrong ? Cause.tell(Cause.run(world, engine, view, told, wrong, reader)) : []) console.log(`${part}: ${text}`);
  }
})();

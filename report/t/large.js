// node large.js DIR: measures how fast the page large.html is; prints TAP.
'use strict';
const {open, is, run} = require('../../play/t/browser.js');

// Returns the frames a second over `count` frames, each after a `change`.
const frames = (change, count = 90) => `new Promise((done) => {
  let made = 0;
  const begin = performance.now();
  const frame = () => {
    if (made++ === ${count}) return done(${count} * 1000 / (performance.now() - begin));
    ${change};
    return requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
})`;

run(async () => {
  const [dir] = process.argv.slice(2);
  const p = await open(dir);
  await p.go(`file://${dir}/large.html`);
  const first = await p.evaluate('performance.getEntriesByName("first-contentful-paint")[0].startTime');
  const timeline = await p.evaluate('performance.getEntriesByName("painted")[0].startTime');
  console.log(`# first paint ${first.toFixed(0)} ms, timeline ${timeline.toFixed(0)} ms, all ${(await p.evaluate('performance.now()')).toFixed(0)} ms`);
  is([first < 2000, timeline < 2000], [true, true], 'first paint, and the timeline, in less than 2 s');
  const speeds = {};
  for (const [name, change] of [['zoom in', 'view.zoom(1.1)'], ['move', 'view.pan(0.02)'], ['zoom out', 'view.zoom(1 / 1.1)']])
    speeds[name] = await p.evaluate(frames(change));
  await p.click('#few');
  speeds['move with messages'] = await p.evaluate(frames('view.pan(0.02)'));
  console.log(`# frames a second: ${Object.entries(speeds).map(([name, speed]) => `${name} ${speed.toFixed(0)}`).join(', ')}`);
  is(Object.entries(speeds).filter(([, speed]) => speed < 30), [], 'zoom and moves at 30 frames a second');
  is(await p.evaluate('spacetime.found().length > 0'), true, 'there are messages to draw');
  await p.close();
});

// node clicks.js DIR: uses the pages of `recline report` in DIR (report.t) in a browser as a reader would.
// Prints TAP.
'use strict';
const fs = require('fs');
const {open, is, run, names, colours} = require('../../play/t/browser.js'), {pictured} = require('../../play/t/pictures.js');

const window_ = (p) => p.evaluate('[view.from, view.to]');
const text = (p, id) => p.evaluate(`document.getElementById('${id}').textContent`);
const near = (a, b, most) => Math.abs(a - b) <= most;

// Returns the middle of a canvas, or of a rank's row at a time.
async function place(p, drawing, rank, time) {
  return p.evaluate(`(() => {
    ${drawing}.canvas.scrollIntoView({block: 'center'});
    const box = ${drawing}.canvas.getBoundingClientRect();
    return {x: box.x + ${drawing}.x(${time}), y: box.y + AXIS + (${rank} + 0.5) * ${drawing}.row};
  })()`);
}
async function mouse(p, type, {x, y}, more = {}) {
  await p.call('Input.dispatchMouseEvent', {type, x, y, button: 'left', clickCount: type === 'mouseMoved' ? 0 : 1, ...more});
}
// Waits for a frame that has been drawn.
const drawn = (p) => p.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');

async function windows(p) {
  const [, end] = await window_(p);
  is(await window_(p), [0, end], 'the whole run is shown first');
  await p.click('#in');
  is(await window_(p), [end / 4, 3 * end / 4], 'a button zooms in, around the middle');
  await p.press('+');
  is((await window_(p)).map((t) => t * 8 / end), [2, 6], 'a key zooms only where the timeline has the focus');
  await p.evaluate('timeline.canvas.parentElement.focus()');
  await p.press('+');
  is((await window_(p)).map((t) => t * 8 / end), [3, 5], 'and there it does');
  await p.press('ArrowRight');
  is((await window_(p)).map((t) => t * 16 / end), [7, 11], 'an arrow moves by a quarter of the window');
  await p.press('Home');
  is(await window_(p), [0, end], 'Home shows all');
  const at = await place(p, 'timeline', 2, end / 4);
  await mouse(p, 'mouseWheel', at, {deltaX: 0, deltaY: -600});
  await drawn(p);
  const [from, to] = await window_(p);
  is([near(to - from, end / 1.0015 ** 600, 1), near((end / 4 - from) / (to - from), 1 / 4, 0.01)], [true, true], 'the wheel zooms around the mouse');
  await p.press('Home');
  await drag(p, await place(p, 'timeline', 1, end / 2), await place(p, 'timeline', 1, 3 * end / 4), 8);
  const [left, right] = await window_(p);
  is([near(left, end / 2, end / 200), near(right, 3 * end / 4, end / 200)], [true, true], 'a drag with Shift selects');
  await drag(p, await place(p, 'timeline', 1, left + end / 8), await place(p, 'timeline', 1, left + end / 16), 0);
  is(near((await window_(p))[0], left + end / 16, end / 200), true, 'a drag moves');
  await p.evaluate(`(() => { const from = document.getElementById('from'); from.focus(); from.value = '0.1'; from.dispatchEvent(new Event('change')); })()`);
  is((await window_(p))[0], 1e8, 'a time is typed');
  await p.evaluate('timeline.canvas.parentElement.focus()');
  await p.press('Home');
  await drawn(p);
}

async function drag(p, from, to, modifiers) {
  await mouse(p, 'mousePressed', from, {modifiers});
  await mouse(p, 'mouseMoved', {x: (from.x + to.x) / 2, y: to.y}, {modifiers, buttons: 1});
  await mouse(p, 'mouseMoved', to, {modifiers, buttons: 1});
  await mouse(p, 'mouseReleased', to, {modifiers});
  await drawn(p);
}

// Returns the activity whose colour is painted for a rank at a time.
async function colour(p, rank, time) {
  return p.evaluate(`(() => {
    const g = timeline.canvas.getContext('2d'), box = [timeline.x(${time}), AXIS + (${rank} + 0.5) * timeline.row].map((v) => Math.round(v * timeline.scale));
    const [r, green, b] = g.getImageData(...box, 1, 1).data;
    return ACTIVITIES[timeline.palette.pixel.indexOf(Palette.pixel('#' + [r, green, b].map((v) => v.toString(16).padStart(2, '0')).join('')))];
  })()`);
}

async function events(p, lines) {
  const crash = await p.evaluate('({step: trace.crashes[0], time: trace.time[trace.crashes[0]], line: trace.number[trace.crashes[0]], all: trace.crashes.length})');
  const at = lines.findIndex((line) => / crash( |$)/.test(line));
  is([crash.all, crash.line], [1, at + 1], 'the crash is where the trace has it');
  is(await p.evaluate(`trace.of[2].between(ACTIVITIES.indexOf('lost'), ${crash.time} - 5e6, ${crash.time} - 1e6)`), 4e6, 'so much is lost in a window');
  is([await colour(p, 3, crash.time + 5e6), await colour(p, 2, crash.time - 5e6)], ['restart', 'lost'], 'its rank is down, what others did is lost');
  await mouse(p, 'mouseMoved', await place(p, 'timeline', 3, crash.time), {button: 'none'});
  await p.until('!document.getElementById("tip").hidden && document.getElementById("tip").textContent.includes("trace.txt:")');
  is((await text(p, 'tip')).includes(`crash (trace.txt:${at + 1})`), true, 'over it the mouse shows it, with its place in the trace');
  const click = await place(p, 'timeline', 3, crash.time);
  for (const type of ['mousePressed', 'mouseReleased']) await mouse(p, type, click);
  await p.until(`document.getElementById('chosen').textContent.includes('trace.txt:${at + 1}')`);
  await p.press('.');
  const next = lines.findIndex((line, i) => i > at && line.split(' ')[1] === '3');
  await p.until(`document.getElementById('chosen').textContent.includes('trace.txt:${next + 1}')`);
  is((await text(p, 'chosen')).includes(lines[next].split(' # ')[0].replace(/ content=\S*/, '').replace(/ words=[^]*/, '').split(' ').slice(2).join(' ').slice(0, 300)), true, 'a key goes to the next event of the rank, with its text');
  const asking = lines.findIndex((line) => line.includes('control peer=1 please-checkpoint words=1,1,0'));
  is((await p.evaluate(`trace.told(${lines.slice(0, asking).filter((line) => /^\d/.test(line)).length})`)).includes('control peer=1 please-checkpoint "take checkpoint 1"'), true,
    'a control message has what it says in place of its words');
  await p.press('ArrowDown');
  await p.until(`document.getElementById('chosen').textContent.includes('rank 4')`);
  is(await p.evaluate('view.cursor.rank'), 4, 'another key to the next rank');
}

// Tests that times and messages, added up from the page's columns, are those of the result.
async function sums(p, result) {
  const ns = await p.evaluate('ACTIVITIES.map((_, a) => trace.of.reduce((sum, own) => sum + own.between(a, 0, view.end), 0) / trace.ranks)');
  const names_ = await p.evaluate('ACTIVITIES');
  is(names_.filter((name, i) => !near(ns[i] / 1e9, result.time_s[name], 1e-8)), [], 'what the timeline shows adds up to the time of the result');
  const counts = await p.evaluate('Object.fromEntries(trace.classes.map((name, i) => [name, trace.class.reduce((sum, c) => sum + (c === i), 0)]))');
  is([counts.late, counts.early, await p.evaluate('trace.replays.length')], [result.messages.late, result.messages.early, result.messages.replayed],
    'late and replayed messages are as many as in the result');
  is(await p.evaluate('Math.max(...trace.writing) > 0 && trace.writing.at(-1)'), 0, 'all writes to storage end');
}

async function diagram(p) {
  await p.evaluate('view.choose(null)');
  await drawn(p);
  const told = /^([\d,]+) messages of the program and ([\d,]+) control messages are sent in this window\. The [\d,]+ around the first crash are drawn, from /.exec(await text(p, 'drawn'));
  is(told?.slice(1).map((count) => Number(count.replaceAll(',', ''))), await p.evaluate('(({program, control}) => [program, control])(trace.sentIn(view.from, view.to))'),
    'of a window with too many messages the diagram shows those around the crash, and says how many there are of each kind');
  is(await p.evaluate(`(({from, to}) => {
    const starts = trace.rollbacks.map(({rank, from}) => trace.time[trace.stepsOf[rank + 1].find((step) => step >= from && trace.kinds[trace.kind[step]] === 'start')]);
    return [from < trace.time[trace.crashes[0]], to > Math.max(...starts)];
  })(spacetime.shown)`), [true, true], 'they begin before the crash and end after the last rank starts again');
  is(await p.evaluate('(({from, to}) => trace.time[trace.crashes[0]] >= from && trace.time[trace.crashes[0]] <= to)(spacetime.shown)'), true, 'which is there');
  await p.click('#few');
  await p.until('document.getElementById("drawn").textContent.endsWith("are sent in this window.")');
  const {count, ink} = await p.evaluate(`(() => {
    const g = spacetime.canvas.getContext('2d'), row = Math.round((AXIS + 1 * spacetime.row) * spacetime.scale); // between ranks 0 and 1
    const data = g.getImageData(Math.round(GUTTER * spacetime.scale), row, Math.round(spacetime.width), 1).data, back = spacetime.palette.back;
    return {count: spacetime.found().length, ink: data.filter((v, i) => i % 4 === 0 && v < 200).length};
  })()`);
  is([count > 0 && count <= 3000, ink > 0], [true, true], 'in a part of it they are drawn');
  await p.until('/^Events 1 to/.test(document.querySelector("#events caption")?.textContent)');
  await p.click('#events th button');
  await p.until('view.cursor && document.getElementById("chosen").textContent.includes("trace.txt:")');
  is(await p.evaluate('view.cursor.step >= 0'), true, 'an event of the list is chosen');
  await p.evaluate('view.show(1e8, 1.5e8)');
  await p.evaluate('view.choose(null)');
  await drawn(p);
  const seconds = (time) => `${(time / 1e9).toFixed(9)}s`;
  const part = await p.evaluate('[spacetime.shown.from, spacetime.shown.to, trace.time[trace.crashes[0]]]');
  await p.until("document.getElementById('status').textContent.startsWith('From 100 ms to 150 ms')"); // the window has come to rest
  is(await text(p, 'elsewhere'), `recline draw run/trace.txt --from ${seconds(part[0])} --to ${seconds(part[1])} -o part.svgrecline play run/trace.txt --at ${seconds(part[2])}`,
    'the commands that draw what is drawn and play its crash');
}

// Tests that the numbers of messages are those of the result, on all parts of the page.
async function messages(p, result) {
  await p.until('document.querySelectorAll("#messages tbody tr").length > 0');
  const rows = await p.evaluate('Object.fromEntries([...document.querySelectorAll("#messages tbody tr")].map(({cells}) => [cells[0].textContent, Number(cells[1].textContent.replaceAll(",", ""))]))');
  const calls = rows['in collective calls: the trace has each call as one event'] || 0;
  is(rows['sent by the program, as in the summary'], result.messages.sent, 'the table of messages ends with what the program has sent');
  is(rows['of the program, in the trace'] + calls, result.messages.sent, 'which is that of the trace and of collective calls');
  const shown = Object.entries(rows).filter(([name]) => ['delivered', 'late', 'early', 'discarded', 'not received', 'sent again'].includes(name));
  is(shown.reduce((sum, [, count]) => sum + count, 0), rows['of the program, in the trace'], 'and the classes add up');
}

// Tests the table of failures against the lines of the trace.
async function failed(p, lines) {
  const time = (line) => Number(line.split(' ')[0]), crash = lines.find((line) => / crash( |$)/.test(line)), seconds = (line) => time(line) * 1e9;
  const detected = lines.find((line) => /^\S+ - detected /.test(line)), again = lines.filter((line) => time(line) > 0 && / start checkpoint=2/.test(line)).at(-1);
  const row = await p.evaluate('[...document.querySelector("#failures tbody tr").cells].map((cell) => cell.textContent)');
  const shown = await p.evaluate(`[${seconds(crash)}, ${seconds(detected)}, ${seconds(again)}].map((time) => trace.show(time))`);
  is([row[0], row[1], row[2], row[3], row[4], row[7]], [shown[0], '3', shown[1], '8', '2', shown[2]], 'a table tells what the crash has cost');
  const lost = (since) => p.evaluate(`trace.length(trace.of.reduce((sum, own) => sum + own.between(ACTIVITIES.indexOf('lost'), ${since}, trace.end), 0) / trace.ranks)`);
  is(row[6], `${await lost(0)}, of it ${await lost(seconds(crash))} after the crash`, 'with what is lost before the crash, and until it is noticed');
}

// Tests that marks are seen, and that the page says what they are.
async function marks(p) {
  const dots = () => p.evaluate(`(() => {
    const g = timeline.canvas.getContext('2d'), step = trace.crashes[0], at = [timeline.x(trace.time[step]), AXIS + (trace.rank[step] - 0.5) * timeline.row].map((v) => Math.round(v * timeline.scale));
    const [r, green, b] = g.getImageData(...at, 1, 1).data;
    return [Palette.pixel('#' + [r, green, b].map((v) => v.toString(16).padStart(2, '0')).join('')) === Palette.pixel(timeline.palette.text), timeline.palette.activity.includes(timeline.palette.text)];
  })()`);
  for (const value of ['dark', 'light']) {
    await p.call('Emulation.setEmulatedMedia', {features: [{name: 'prefers-color-scheme', value}]});
    await drawn(p);
    is(await dots(), [true, false], `the crash has a colour that no activity has, ${value}`);
  }
  is(await p.evaluate('trace.classes.filter((_, kind) => trace.class.includes(kind)).length - document.querySelectorAll("#legend-messages svg").length'), 0, 'each class of messages is in the legend');
  const most = () => p.evaluate('timeline.strips.map((strip) => timeline.most(strip))'), wide = await most();
  await p.call('Emulation.setDeviceMetricsOverride', {width: 400, height: 900, deviceScaleFactor: 1, mobile: true});
  await drawn(p);
  is(await most(), wide, 'the most of storage and network does not depend on the width of the page');
  await p.call('Emulation.clearDeviceMetricsOverride');
  await drawn(p);
}

// Returns the legend of the timeline, as far as it is shown.
const legend = (p) => p.evaluate('[...document.querySelectorAll("#run .legend:not(#keys) > span")].filter(({hidden}) => !hidden).map((part) => part.textContent.trim())');

// Returns whether the last step has a ring of the colour of what is bad.
const ringed = (p) => p.evaluate(`(() => {
  spacetime.draw();
  const g = spacetime.canvas.getContext('2d'), {scale, palette, width} = spacetime, last = trace.steps - 1;
  const x = Math.min(spacetime.x(trace.time[last]), GUTTER + width - 8), y = spacetime.y(Math.max(0, trace.rank[last] - 1));
  const {data} = g.getImageData(Math.round((x - 9) * scale), Math.round((y + 3) * scale), Math.round(6 * scale), Math.round(3 * scale)), bad = Palette.pixel(palette.bad);
  return new Uint32Array(data.buffer).includes(bad);
})()`);

// Tries the search for an event.
async function sought(p) {
  await p.evaluate('view.all(), view.choose(null), document.getElementById("find").value = "crash"');
  await p.click('#find-later');
  await p.until('view.cursor !== null');
  is(await p.evaluate('view.cursor.step === trace.crashes[0]'), true, 'the search finds the crash');
  await p.evaluate('document.getElementById("find").value = "no such words"');
  await p.click('#find-earlier');
  await p.until('document.getElementById("missed").textContent !== ""');
  is(await text(p, 'missed'), 'No earlier event has that.', 'and says what is not there');
}

// Tries two runs beside each other.
async function paired(p, dir) {
  const results = ['run', 'other'].map((name) => JSON.parse(fs.readFileSync(`${dir}/${name}/result.json`, 'utf8')));
  await p.go(`file://${dir}/run-other.html`);
  await drawn(p);
  is(await text(p, 'title'), 'run (A) beside other (B)', 'two runs have a page');
  const row = await p.evaluate('[...document.querySelectorAll("#facts tr")].find((row) => row.cells[0].textContent === "checkpoints committed").textContent');
  const [a, b] = results.map((result) => result.checkpoints.committed);
  is(row.startsWith(`checkpoints committed${a}${b}`), true, 'with the numbers of both');
  is(await p.evaluate('[...[...document.querySelectorAll("#facts tr")].find((row) => row.cells[0].textContent === "messages sent").cells].slice(1, 3).map((cell) => Number(cell.textContent.replaceAll(",", "")))'),
    results.map((result) => result.messages.sent), 'among them the messages that the programs have sent');
  const crashes = () => p.evaluate('Pair.drawings.map((drawing) => Math.round(drawing.x(drawing.trace.time[drawing.trace.crashes[0]])))');
  const [left, right] = await crashes();
  is(left === right, false, 'by time, the crashes are not below each other');
  const align = async (name) => {
    await p.evaluate(`(() => { const align = document.getElementById('align'); align.selectedIndex = [...align.options].findIndex((option) => option.textContent === '${name}'); align.dispatchEvent(new Event('change')); })()`);
    await drawn(p);
  };
  await align('the first crash');
  is(new Set(await crashes()).size, 1, 'by the first crash, they are');
  await align('the first capture of checkpoint 2');
  const captures = await p.evaluate('Pair.drawings.map((drawing) => Math.round(drawing.x(Math.min(...drawing.trace.lines_of_recovery.filter((cut) => cut.checkpoint === 2 && cut.committed).flatMap((cut) => cut.at).map((step) => drawing.trace.time[step])))))');
  is(new Set(captures).size, 1, 'by a checkpoint, its captures are');
  await p.evaluate('Pair.drawings[1].canvas.parentElement.focus()');
  await p.press('+');
  await drawn(p);
  is(await p.evaluate('Pair.drawings.map(({view}) => view.to - view.from).every((length, _, all) => length === all[0] && length < Pair.drawings[0].view.end)'), true, 'both show the same window');
  const spent = await p.evaluate('Pair.drawings.map((drawing) => ACTIVITIES.reduce((sum, _, a) => sum + drawing.trace.of.reduce((all, own) => all + Pair.between(own, a, {from: -1, to: 1e18}), 0), 0) / drawing.trace.ranks / 1e9)');
  is(spent.every((sum, i) => near(sum, results[i].simulated_s, 1e-6)), true, 'the times of both add up');
  await names(p);
}

// Tests that at 400 px no page scrolls sideways.
async function narrow(p, dir) {
  await p.call('Emulation.setDeviceMetricsOverride', {width: 400, height: 900, deviceScaleFactor: 1, mobile: true});
  for (const page of ['run', 'run-other', 'check', 'campaign', 'replication']) {
    await p.go(`file://${dir}/${page}.html`);
    is(await p.evaluate('document.documentElement.scrollWidth'), 400, `${page}.html fits 400 px`);
  }
  await p.call('Emulation.clearDeviceMetricsOverride');
}

run(async () => {
  const [dir] = process.argv.slice(2);
  const result = JSON.parse(fs.readFileSync(`${dir}/run/result.json`, 'utf8'));
  const lines = fs.readFileSync(`${dir}/run/trace.txt`, 'utf8').split('\n');
  const p = await open(dir);
  await p.go(`file://${dir}/run.html`);
  await windows(p);
  await sums(p, result);
  await events(p, lines);
  await messages(p, result);
  await failed(p, lines);
  await marks(p);
  await diagram(p);
  await sought(p);
  await names(p);
  await colours(p);
  is(await p.evaluate("performance.getEntriesByType('resource').length"), 0, 'nothing was fetched');
  is(await text(p, 'commands'), 'recline run run/scenario.yaml --out again', 'the command that repeats the run');
  await p.go(`file://${dir}/bare.html`);
  is([await text(p, 'verdict'), await p.evaluate('document.getElementById("run").hidden')], ['recovered', true], 'a run without a trace has no timeline');

  const violated = JSON.parse(fs.readFileSync(`${dir}/check/check.json`, 'utf8')).claims;
  await p.go(`file://${dir}/check.html`);
  is(await p.evaluate('[...document.querySelectorAll("#facts tbody tr")].map((row) => row.cells[0].textContent)'), violated.map((c) => c.id), 'the claims of a check');
  is(await p.evaluate('[...document.querySelectorAll("#judged li > span")].map((span) => span.className)'), violated.map((c) => c.verdict === 'holds' ? 'good' : 'bad'), 'a violation is not green, also if it is expected');
  for (const [i, claim] of violated.filter((c) => c.trace).entries()) {
    await p.evaluate(`open(${i})`);
    const last = fs.readFileSync(`${dir}/check/${claim.id}.trace`, 'utf8').trim().split('\n').filter((line) => /^\d/.test(line)).length;
    is(await p.evaluate('[trace.steps, trace.violations[0].property]'), [last, claim.property], `${claim.id}: all steps of the counterexample, and what it violates`);
    is(await legend(p), await p.evaluate(`(() => {
      const has = (name) => trace.of.some(({doing}) => doing.includes(ACTIVITIES.indexOf(name))), names = {compute: 'program', checkpoint: 'program held', restart: 'down or restarting', lost: 'lost: from the checkpoint to the rollback, with the wait until the crash is noticed'};
      return [...Object.keys(names).filter(has).map((name) => names[name]), ...(trace.lines_of_recovery.length ? ['black or white lines: recovery lines, dashed if not committed'] : []), ...(trace.crashes.length ? ['✕ crash'] : []), '┇ the violation'];
    })()`), `${claim.id}: the legend has what is drawn, and nothing else`);
    const numbers = [...fs.readFileSync(`${dir}/check/${claim.id}.trace`, 'utf8').split('\nviolation ')[1].matchAll(/@(\d+)/g)].map(([, number]) => Number(number));
    is(await p.evaluate('trace.named.map(({number}) => number)'), [...new Set(numbers)].sort((a, b) => a - b), `${claim.id}: the messages that the violation names are marked`);
    is(await ringed(p), true, `${claim.id}: a ring is around the step that violates`);
    is((await text(p, 'violations')).includes('@'), false, `${claim.id}: the violation has the words of its sentence`);
  }
  await names(p);
  await p.go(`file://${dir}/campaign.html`);
  const rows = fs.readFileSync(`${dir}/campaign/table.csv`, 'utf8').trim().split('\n').map((line) => line.split(','));
  const mean = (field) => rows.filter((row) => row[rows[0].indexOf('field')] === field).map((row) => Number(row[rows[0].indexOf('mean')]));
  const shown = () => p.evaluate('[...document.querySelectorAll("#cells tbody tr")].map((row) => row.cells[5].textContent)');
  const drawn_ = () => p.evaluate('[...document.querySelectorAll("#cells .mean")].map((mark) => mark.getBoundingClientRect().x)');
  is(await shown(), await p.evaluate(`${JSON.stringify(mean('simulated_s'))}.map((value) => Trace.duration(1e9 * value))`), 'the means of a campaign');
  const answer = JSON.parse(fs.readFileSync(`${dir}/campaign/answer.json`, 'utf8'));
  is(await text(p, 'verdict'), answer.answer, 'it begins with the answer');
  is(await p.evaluate('[...document.querySelectorAll("#facts table")[0].querySelectorAll("tbody tr")].map((row) => [...row.cells].map((cell) => cell.textContent)[1])'),
    answer.ranking.map(({cell}) => ['c3', 'bookmark'][cell]), 'and the ranking');
  is(await p.evaluate('[...document.querySelectorAll("#cells .best .name")].map((name) => name.textContent)'),
    answer.ranking.filter(({tied}) => tied).map(({cell}) => cell).sort().map((cell) => `★ ${['c3', 'bookmark'][cell]}`), 'the best cells are marked');
  const before = await drawn_();
  is((before[0] < before[1]) === (mean('simulated_s')[0] < mean('simulated_s')[1]), true, 'the means are drawn');
  await p.evaluate(`(() => { const select = document.querySelector('#facts select'); select.value = 'messages.sent'; select.dispatchEvent(new Event('change')); })()`);
  is((await shown()).map((value) => Number(value.replaceAll(',', ''))), mean('messages.sent').map((value) => Number(value.toPrecision(6))), 'of another field');
  is([JSON.stringify(await drawn_()) === JSON.stringify(before), await p.evaluate('document.querySelector("figure").parentElement.hidden')], [false, true],
    'which is drawn, too, in place of the figure of the first one');
  is(await text(p, 'title'), 'Campaign: 6 runs, 2 cells', 'the title says what it is');
  await p.go(`file://${dir}/interval.html`);
  is([/^Interval: \d+ runs, \d+ intervals$/.test(await text(p, 'title')), /recline interval \S+ --runs 2 --out/.test(await text(p, 'commands'))], [true, true],
    'the page of an interval has its title, and its command');
  await p.go(`file://${dir}/replication.html`);
  const page = ['replication.md', ...fs.readdirSync(`${dir}/replication/replication`).map(name => `replication/${name}`)]
    .map(name => fs.readFileSync(`${dir}/replication/${name}`, 'utf8')).join('\n');
  is(await p.evaluate('[document.querySelectorAll("#facts table").length, document.querySelectorAll("#facts td").length > 1000, document.querySelectorAll("#facts img").length]'),
    [page.match(/^\|-/gm).length, true, 1], 'tables and pictures of a replication');
  is(await p.evaluate('document.title'), 'Published values and simulated ones – recline report', 'what is in a picture is not run');
  await names(p);
  await paired(p, dir);
  await narrow(p, dir);
  await p.go(`file://${dir}/kept.html`);
  const pictures = `${__dirname}/pictures`;
  await pictured(p, `${pictures}/timeline.txt`, '#timeline', 'trace.of.reverse(), view.changed()');
  await pictured(p, `${pictures}/spacetime.txt`, '#spacetime', 'spacetime.drawMessages = () => {}, view.changed()');
  await p.close();
});

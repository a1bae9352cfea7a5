// node clicks.js DIR: uses the pages of DIR in a browser as a reader would, and compares them with the
// expectations in DIR (browser.t). Prints TAP.
'use strict';
const fs = require('fs');
const {open, is, run, names, colours} = require('./browser.js'), {pictured} = require('./pictures.js'), {size} = require('./layout.js');

// Tries the sentences, the lines behind them, and the search for a step.
async function told(p) {
  const text = (selector) => p.evaluate(`document.querySelector(${JSON.stringify(selector)})?.textContent ?? null`);
  const at = () => p.evaluate('Number(document.getElementById("step").value)');
  is(/^Rank \d .*\.$/.test(await text('#lines [aria-current] button')), true, 'a step is a sentence');
  is(await text('#lines code'), null, 'without its line of the trace');
  await p.click('#raw');
  is(/^\d \w/.test(await text('#lines [aria-current] code')), true, 'and with it, when asked for');
  await storied(p);
  await defined(p);
  const last = await at();
  await p.evaluate('document.getElementById("find").value = "lied to"');
  await p.click('#earlier');
  is([await at() < last, / is lied to: /.test(await text('#lines [aria-current] button'))], [true, true], 'what is asked for is found');
  await p.evaluate('document.getElementById("find").value = "no such words"');
  await p.click('#later');
  is(await text('#missed'), 'No later step has that.', 'what is not there is not');
}

// Tries the story of the violation: its links go to steps, and it stays where it is at each of them.
async function storied(p) {
  const top = () => p.evaluate('document.getElementById("diagram").getBoundingClientRect().top + scrollY');
  const parts = await p.evaluate('[...document.querySelectorAll("#story dt")].map((part) => part.textContent)');
  is(parts.filter((part) => ['Promise', 'Cause', 'Effect', 'Harm'].includes(part)), ['Promise', 'Cause', 'Effect', 'Harm'], 'a violation has a story');
  const before = await top(), step = await p.evaluate('Number(/step (\\d+)/.exec(document.querySelector("#story .to").textContent)[1])');
  await p.click('#story .to');
  is(await p.evaluate('Number(document.getElementById("step").value)'), step + 1, 'a link of it goes to its step');
  is([await top(), await p.evaluate('document.querySelectorAll("#story dt").length')], [before, parts.length], 'and neither the story nor the diagram moves');
  await p.press('End');
}

// Gives the window that width, and waits until the page has drawn itself for it.
async function resize(p, width) {
  await size(p, width);
  await p.evaluate(`new Promise((done) => {
    const look = () => requestAnimationFrame(innerWidth === ${width} ? () => requestAnimationFrame(done) : look);
    look();
  })`);
}

// Tries a window that is made narrower: the run is drawn for the room that there is, as it is where the page opens there.
async function resized(p, page) {
  const drawn = () => p.evaluate('document.querySelector("#diagram svg").getBoundingClientRect().width');
  await resize(p, 1400);
  const wide = await drawn();
  await resize(p, 500);
  const narrow = await drawn();
  await p.go(page);
  is([narrow < wide, narrow], [true, await drawn()], 'a window of another width draws the run anew');
  await resize(p, 1400);
}

// Tries the terms: each has the meaning that the glossary gives it, as a hint in the story and in a list.
async function defined(p) {
  const glossary = fs.readFileSync(`${__dirname}/../../docs/glossary.md`, 'utf8');
  const meaning = (term) => new RegExp(`^\\| [^|]*\\*\\*${term}\\*\\*[^|]*\\| ([^|]*) \\|`, 'm').exec(glossary)?.[1].replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/[*`]/g, '');
  const terms = await p.evaluate('[...document.querySelectorAll("#terms dt")].map((term) => [term.textContent, term.nextSibling.textContent])');
  const hints = await p.evaluate('[...document.querySelectorAll("#story dfn")].map((term) => term.title)');
  is(terms.filter(([term, text]) => text !== meaning(term)), [], 'terms have the meanings of the glossary');
  is(terms[0]?.[0], 'rank', 'the terms are those of the page');
  is([hints.length > 0, hints.filter((hint) => !terms.some(([term, text]) => hint === `${term}: ${text}`))], [true, []], 'in the story they are hints');
}

// Tries the address: it has the step and the moves, so that a link shows them.
async function linked(p) {
  const shown = () => p.evaluate('[document.getElementById("step").value, [...document.querySelectorAll("#lines li button")].map((b) => b.title)]');
  await p.press('Home');
  await p.click('#moves button');
  await p.press('1');
  await p.press('1');
  await p.press('ArrowLeft');
  await p.until('document.getElementById("link").title === "Step 2 of 3"');
  const [address, before] = [await p.evaluate('document.getElementById("link").href'), await shown()];
  is(/#at=2&from=0&moves=/.test(address), true, 'the address has the step and the moves');
  await p.go('about:blank').catch(() => {});
  await p.go(address);
  is(await shown(), before, 'a link opens the moves at their step');
  await p.go('about:blank').catch(() => {});
  await p.go(address.replace(/moves=.*/, 'moves=AAAA'));
  is([(await shown())[0], await p.evaluate('document.getElementById("found").textContent')],
    ['0', 'The address has moves that this page does not know.'], 'a spoilt one says so');
}

async function steps(p) {
  const at = () => p.evaluate('[Number(document.getElementById("step").value), document.querySelectorAll("#lines li").length]');
  is(await at(), [0, 0], 'a claim opens at its first state');
  await p.click('#moves button');
  is(await at(), [1, 1], 'a click takes a move');
  await p.press('1');
  is(await at(), [2, 2], 'and so does a key');
  is(await p.evaluate('document.querySelectorAll("svg .event").length'), 2, 'the diagram grows');
  is(await p.evaluate('document.querySelector("#states details summary").textContent'), `${await p.evaluate('document.querySelectorAll("#states td:nth-child(2) details div").length')} fields are 0`,
    'fields that are 0 are folded');
  is(await p.evaluate('/^\\d+ invariants of the protocol hold$/.test(document.getElementById("invariants-title").textContent)'), true, 'so are invariants that hold');
  is(await p.evaluate('[...document.querySelectorAll("#invariants li")].every((item) => item.textContent.startsWith("✓ "))'), true,
    'invariants hold');
  await p.press('ArrowLeft');
  is(await at(), [1, 2], 'undo');
  await p.press('ArrowRight');
  is(await at(), [2, 2], 'redo');
  await p.press('Home');
  is(await at(), [0, 2], 'to the beginning');
  await p.press('End');
  await p.click('svg [data-step="0"]');
  is(await at(), [1, 2], 'to a step of the diagram');
  await p.click('#lines li:nth-child(2) button');
  is(await at(), [2, 2], 'and of the list');
  await p.click('#walk');
  const [first] = await at();
  is(first > 2, true, 'a random walk goes on');
  await p.press('Home');
  is((await at())[1], first, 'and is known at the beginning');
}

// Tests that a wide diagram of states fits, with its title beside it.
async function fitted(p) {
  const box = await p.evaluate(`(() => {
    const ways = document.createElement('div'), name = document.createElement('p');
    ways.style.width = '600px';
    ways.innerHTML = '<svg width="700pt" height="100pt" viewBox="0 0 700 100"><g transform="translate(4 96)"><polygon fill="white" points="-4,4 -4,-96 696,-96 696,4"/><text>A title</text><text>of two lines</text><g><polygon points="0,0 690,0 690,-40 0,-40"/></g></g></svg>';
    document.body.append(ways);
    Coverage.fit(ways, name);
    const made = [name.textContent, ways.scrollWidth, Math.round(ways.firstChild.getBoundingClientRect().width), ways.querySelectorAll('text').length];
    ways.style.width = '300px';
    made.push(Math.round(ways.firstChild.getBoundingClientRect().width));
    ways.remove();
    return made;
  })()`);
  is(box.slice(0, 4), ['A title of two lines', 600, 600, 0], 'a diagram of states is as wide as its box, with the title above it');
  is(box[4], Math.round(0.6 * 698 * 4 / 3), 'and in a narrow one so wide that it can be read');
  is(await p.evaluate("[Decode.told('log.peer', 'int16_t', -1), Decode.told('since', 'uint16_t', 65535), Decode.told('log', 'uint16_t', 3)]"), ['-1 (any)', '65535 (none)', 3],
    'numbers that stand for something say so');
}

// Tries the diagram of transitions taken, and the strip with the whole run.
async function covered(p) {
  const text = (id) => p.evaluate(`document.getElementById("${id}").textContent`);
  const marked = () => p.evaluate('[...document.querySelectorAll("#ways .transition")].map((way) => way.getAttribute("class").split(" ")[2])');
  is([new Set(await marked()).size, (await text('taken')).startsWith('The present run has taken 0 of 5 transitions. No run on this page has taken RUNNING → CAPTURING, ')],
    [1, true], 'at first no transition is taken');
  await p.evaluate('document.getElementById("length").value = 120');
  await p.evaluate('document.getElementById("seed").value = 3');
  await p.click('#walk');
  const after = await marked();
  is([after[0], Number(/taken (\d|all)/.exec(await text('taken'))[1]) || 5], ['taken', after.filter((mark) => mark === 'taken').length], 'a walk takes some');
  await p.evaluate('document.querySelector("#transition-0 path").dispatchEvent(new MouseEvent("click", {bubbles: true}))');
  is(/it is to be captured/.test(await p.evaluate('document.querySelector("#lines [aria-current] button").textContent')), true, 'a click on one goes to the first step that takes it');
  await p.press('Home');
  is((await marked())[0], 'earlier', 'at the first state it is one of another run');
  is(await text('ways-legend'), ' taken by another run on this page' + ((await marked()).includes('never') ? '  not taken yet' : ''), 'the legend has the marks in use');
}

async function stripped(p) {
  const steps = await p.evaluate('Number(document.getElementById("step").value)');
  const strip = await p.evaluate('(({width, left, top, height}) => ({width, left, top, height}))(document.getElementById("minimap").getBoundingClientRect())');
  is(await p.evaluate('[document.getElementById("strip").hidden, document.querySelectorAll("#minimap .frame").length]'), [false, 1], 'a strip shows the whole run');
  await p.click('#minimap svg');
  const middle = await p.evaluate('Number(document.getElementById("step").value)');
  is(Math.abs(middle - steps / 2) <= 2, true, `a click in its middle goes to the middle (${middle} of ${steps})`);
  is([strip.width > 0, await p.evaluate('document.querySelectorAll("#strip-legend span").length === document.querySelectorAll("#minimap .strip, #minimap .frame").length')],
    [true, true], 'and each of its marks is in the legend');
}

// Tests what the diagram draws: marks of both pictures, an arc for a message of a rank to itself, and the frame.
async function drawnMarks(p) {
  const marks = await p.evaluate('[Object.keys(Diagram.MARKS), Object.keys(Story.words.marks)]');
  is(marks[0].filter((kind) => !marks[1].includes(kind)), [], 'each mark has its name in the words that recline draw has');
  is(marks[1].filter((kind) => !marks[0].includes(kind)), ['again'], 'and the page has all marks of recline draw that a step can have');
  const lines = ['0 start', '0 receive request=1 peer=0 tag=0 comm=0', '0 send peer=0 tag=0 comm=0 bytes=1 @1 | transmit words=0,0,0',
    '0 choice outcome=1 | force outcome=2', '0 send peer=0 tag=1 comm=0 bytes=1 | suppress', '0 arrived request=1 peer=0 tag=0 comm=0 bytes=1 @1 | deliver request=1 slot=1', '0 finished'];
  const made = await p.evaluate(`(() => {
    const steps = ${JSON.stringify(lines)}.map((line, i) => Story.read(line, i)), {html, shown} = Diagram.draw(steps, Story.history(steps, 1), 0, 1, {property: 'no-loss', rank: 0, messages: [1]}, 900);
    const box = Object.assign(document.createElement('div'), {innerHTML: html});
    return {arc: box.querySelector('.message.offends').getAttribute('d'), texts: [...box.querySelectorAll('.label')].map((text) => text.textContent), shown: [...shown].sort()};
  })()`);
  is(/^M\d+,70 C/.test(made.arc), true, 'a message of a rank to itself is an arc, beside the lane');
  is(made.texts.includes('choose 1 forced to 2'), true, 'a forced choice is named');
  is(made.shown, ['choice', 'finished', 'offends', 'other', 'replay', 'start', 'suppressed', 'violated'], 'each kind is in the legend');
  is(made.texts.filter((text) => /^\d+$/.test(text)).length >= 7, true, 'steps have their numbers');
  const called = ['0 start', '1 start', '0 collective call=1 flow=all comm=0 | join', '1 collective call=1 flow=all comm=0 | join',
    '0 send peer=1 tag=0 comm=0 bytes=1 @1 | keep slot=2', '1 crash', '1 start', '0 down peer=1 | resend peer=1 slot=2 @2',
    '1 arrived request=1 peer=0 tag=0 comm=0 bytes=1 @2 | deliver request=1', '1 collective call=1 flow=all comm=0 | join'];
  const joined = await p.evaluate(`(() => {
    const steps = ${JSON.stringify(called)}.map((line, i) => Story.read(line, i)), h = Story.history(steps, 2), {html} = Diagram.draw(steps, h, 0, 2, null, 900);
    const box = Object.assign(document.createElement('div'), {innerHTML: html});
    return {calls: box.querySelectorAll('.event.collective').length, links: box.querySelectorAll('line.call').length,
      texts: [...box.querySelectorAll('.label')].map((text) => text.textContent), told: Story.tell(steps[8], h, true)};
  })()`);
  is([joined.calls, joined.links], [3, 1], 'a collective call has a mark, which joins ranks, and none after a restart');
  is([joined.texts.includes('call 1'), joined.texts.includes('2 = 1 again')], [true, true], 'messages and calls have their numbers');
  is(joined.told, 'Rank 1 gets message 2 from rank 0, which is message 1 once more.', 'a message that is sent once more has its first number');
}

// Tests that the frame of the strip is around the steps that are in sight.
async function framed(p) {
  await resize(p, 400);
  await p.press('End');
  const frame = () => p.evaluate('(({x, width}) => [x.baseVal.value, width.baseVal.value])(document.querySelector("#minimap .frame"))');
  const wide = await p.evaluate('document.getElementById("minimap").clientWidth'), [x, width] = await frame();
  is([width < 0.8 * wide, x + width > wide - 6], [true, true], 'at 400 px the frame is around the last steps only');
  await p.evaluate('document.getElementById("diagram").scrollLeft = 0');
  await p.until('document.querySelector("#minimap .frame").x.baseVal.value < 10');
  is((await frame())[0] < x, true, 'and moves when the diagram scrolls');
  await resize(p, 420);
  is([await p.evaluate('document.getElementById("diagram").scrollLeft'), (await frame())[0] < x], [0, true], 'where both stay when the window changes its width');
  const top = (id) => p.evaluate(`document.getElementById("${id}").getBoundingClientRect().top + scrollY`);
  is(await top('verdict') < await top('run'), true, 'what is violated stands before the run');
  await resize(p, 1400);
}

// Tests that at 400 px nothing makes the page scroll sideways.
async function narrow(p) {
  await resize(p, 400);
  is(await p.evaluate('document.documentElement.scrollWidth'), 400, 'the page fits 400 px');
  await resize(p, 1400);
}

const searched = (p) => p.click('#search').then(() => p.until('!document.getElementById("search").disabled'));
const found = (p) => p.evaluate('document.getElementById("found").textContent');
const verdict = (p) => p.evaluate('document.getElementById("verdict").textContent');

run(async () => {
  const [dir] = process.argv.slice(2);
  const expected = JSON.parse(fs.readFileSync(`${dir}/expected.json`, 'utf8'));
  const p = await open(dir);
  await p.go(`file://${dir}/lie-c3-drop.html`);
  await p.until("!document.getElementById('search').disabled && document.getElementById('found').textContent");
  is([(await found(p)).split(' (')[0], await p.evaluate('Number(document.getElementById("step").value)')],
    [`A shortest run to a violation: ${expected.moves} more moves`, expected.moves], 'a claim that is violated opens with a run to the violation');
  await p.go('about:blank').catch(() => {});
  await p.go(`file://${dir}/lie-c3-drop.html#at=0`);
  await steps(p);
  await drawnMarks(p);
  await names(p);
  await colours(p);
  await p.go('about:blank').catch(() => {});
  await p.go(`file://${dir}/lie-c3-drop.html#at=0`);
  await fitted(p);
  await covered(p);
  await narrow(p);
  await linked(p);
  await p.go('about:blank').catch(() => {});
  await p.go(`file://${dir}/lie-c3-drop.html#at=0`);
  await searched(p);
  is((await found(p)).split(' (')[0], `A shortest run to a violation: ${expected.moves} more moves`, 'the search finds a violation');
  is(new RegExp(`^Violated: ${expected.property}(, at rank \\d+)?, by step ${expected.moves - 1}: `).test(await verdict(p)), true, 'and it is shown');
  await p.download('#export');
  is(fs.readFileSync(`${dir}/lie-c3-drop.trace`, 'utf8'), fs.readFileSync(`${dir}/native/lie-c3-drop.trace`, 'utf8'),
    'what is exported is the trace that recline check writes');
  await p.go(`file://${dir}/holds.html`);
  await searched(p);
  is((await found(p)).replace(/, [\d.]+ s\.$/, ''), `No violation can be reached from here: ${expected.states} states, ${expected.transitions} transitions`,
    'a world that holds is exhausted, with the native counts');
  await p.evaluate('document.getElementById("length").value = 200');
  await p.click('#walk');
  await stripped(p);
  await framed(p);
  if (expected.large) {
    await p.go(`file://${dir}/large.html`);
    await searched(p);
    const [, counts, seconds] = /here: (.*), ([\d.]+) s\.$/.exec(await found(p)) || [];
    is([counts, Number(seconds) < 5], [expected.large, true], `a world of so many states, in ${seconds} s`);
  }
  await p.go(`file://${dir}/counterexample.html`);
  is(await p.evaluate('[document.getElementById("step").value, document.querySelector("svg .violated").textContent]'),
    [String(expected.moves), `✗ ${expected.property}`], 'a counterexample opens at its last step');
  await told(p);
  await resized(p, `file://${dir}/counterexample.html`);
  await p.press('End');
  for (let i = 0; i < 4; i++) await p.press('ArrowLeft');
  await searched(p);
  is((await found(p)).split(' (')[0], 'A shortest run to a violation: 4 more moves', 'from the middle of a run, too');
  await p.go('about:blank').catch(() => {});
  await p.go(`file://${dir}/counterexample.html`);
  await p.evaluate("document.getElementById('diagram').scrollLeft = 0");
  await pictured(p, `${__dirname}/pictures/counterexample.txt`, '#diagram', "document.querySelectorAll('svg .message').forEach((arrow) => arrow.remove())");
  await p.close();
});

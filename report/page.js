// The page of `recline report`: it shows what DIR holds, and answers keys and the mouse.
'use strict';

const $ = (id) => document.getElementById(id);
const about = JSON.parse($('about').textContent);
let trace = null, view = null, timeline = null, spacetime = null, page = 0;
const EVENTS = 50, LEAST_NS = 20, LEAST_STEPS = 4;

function fill(id, ...content) {
  $(id).replaceChildren(...content.flat());
  $(id).closest('section').hidden = false;
}

// ---- what there is of each kind ----

const kinds = {
  run() {
    const result = JSON.parse(about.result), seed = /"seed": (\d+)/.exec(about.result)[1];
    const good = ['completed', 'recovered'].includes(result.verdict) && !result.audit.violations && !result.program_exit;
    title(`${result.scenario}: ${result.program} on ${result.ranks} ranks with ${result.protocol}`, result.verdict, good);
    fill('facts', Tables.facts([
      ['machine', result.platform], ['simulated time', Tables.seconds(result.simulated_s)], ['crashes', result.crashes],
      ['rollbacks', `${result.rollbacks.global} global, ${result.rollbacks.local} local`],
      ['checkpoints', `${result.checkpoints.committed} committed, ${result.checkpoints.aborted} aborted`
        + (result.checkpoints.abandoned ? `, ${result.checkpoints.abandoned} abandoned` : '')],
      ['messages', Object.entries(result.messages).filter(([, count]) => count).map(([name, count]) => `${count.toLocaleString('en')} ${name}`).join(', ')],
      ['largest image', `${result.image_bytes.toLocaleString('en')} bytes`], ['seed', seed], ['exit code of the program', result.program_exit],
      ['gave up', result.gave_up], ['recline', result.version]]));
    fill('judged', element('p', result.audit.violations ? `${result.audit.violations} violations; the first: ${result.audit.first}`
      : 'No property of the audit is violated.', {className: result.audit.violations ? 'bad' : 'good'}),
    result.notes.length ? element('ul', result.notes.map((note) => element('li', note))) : []);
    if (result.phases.length) fill('phases', Tables.phases(result));
    fill('times', Tables.times(result, null, null));
    reproduce(`recline run ${about.folder}/scenario.yaml --out again`);
    fill('scenario', code(about.scenario, 'Scenario'));
    if (about.output) fill('output', code(about.output, 'Output'));
    return result;
  },

  check() {
    const holds = (claim) => claim.verdict === 'holds'; // an expected violation is neither good nor bad
    const claims = JSON.parse(about.result).claims, wrong = claims.filter((claim) => claim.verdict !== claim.expected);
    title(claims.length === 1 ? `${claims[0].id}: ${claims[0].statement || ''}` : `${claims.length} claims`,
      wrong.length ? `${wrong.length} not as expected` : claims.length === 1 ? `${claims[0].verdict}, as expected` : 'as expected',
      wrong.length ? false : claims.every(holds) || null);
    fill('facts', Tables.table('Claims', ['claim', 'protocol', 'verdict', 'expected', 'states', 'transitions', 'depth', 'seconds', 'why'],
      claims.map((c) => [c.id, c.protocol, c.verdict, c.expected, c.states, c.transitions, c.depth, Number(c.seconds.toFixed(2)), Tables.numbered(c.why)])));
    fill('judged', element('ul', claims.map((c) => element('li', [element('strong', c.id), `: ${c.statement || ''} `,
      element('span', c.verdict, {className: holds(c) ? 'good' : 'bad'}), c.verdict === c.expected ? ', as expected' : `, expected: ${c.expected}`, c.source ? ` (${c.source})` : '']))));
    reproduce(`recline check ${claims.map((c) => c.id).join(' ')} --out again`);
  },

  replication() {
    title('Published values and simulated ones', '', true);
    fill('facts', Tables.markdown(about.text), Object.entries(about.pictures).map(([name, svg]) => Tables.picture(name, svg, 'Values of the tables, drawn')));
    reproduce('recline replicate --out again');
  },
};

kinds.pair = () => Pair.describe();
kinds.campaign = () => Campaign.describe();

function title(text, verdict, good) {
  document.title = `${text} – recline report`;
  $('title').textContent = text;
  $('verdict').textContent = verdict;
  $('verdict').className = good ? 'good' : good === null ? '' : 'bad';
}
const code = (text, name) => element('pre', element('code', text), {tabIndex: 0, ariaLabel: name, role: 'group'});
const reproduce = (...lines) => fill('commands', ...Tables.command(...lines));

// ---- the window ----

function showWindow() {
  if (about.kind === 'pair') ({trace, view} = Pair.drawings[0]);
  const unit = trace.timed ? 1e9 : 1;
  for (const [id, value] of [['from', view.from], ['to', view.to]])
    if (document.activeElement !== $(id)) $(id).value = Number((value / unit).toFixed(trace.timed ? 9 : 0));
}

// Costly parts follow when the window has come to rest.
let resting = 0;
function settle() {
  clearTimeout(resting);
  resting = setTimeout(() => {
    $('status').textContent = `From ${trace.show(view.from)} to ${trace.show(view.to)}, ${trace.length(view.to - view.from)}. `;
    if (about.kind === 'run') {
      fill('times', Tables.times(JSON.parse(about.result), trace, view));
      $('by-rank').replaceChildren(...($('by-rank').parentElement.open ? [Tables.ofRanks(trace, view)] : []));
    }
    if (about.kind === 'pair') return void Pair.settle();
    if (!trace.loaded) return;
    fill('messages', Tables.messages(trace, view, about.kind === 'run' ? JSON.parse(about.result).messages : null));
    page = 0;
    showEvents();
    const time = (value) => trace.timed ? `${(value / 1e9).toFixed(9)}s` : Math.min(Math.round(value), trace.steps), {from, to} = spacetime.shown;
    const crash = trace.crashes.find((step) => trace.time[step] >= from && trace.time[step] <= to), step = view.cursor?.step ?? crash;
    $('elsewhere').replaceChildren(...Tables.command(`recline draw ${about.folder}/${trace.file} --from ${time(from)} --to ${time(to)} -o part.svg`,
      `recline play ${about.folder}/${trace.file} --at ${time(step === undefined ? to : trace.time[step] + (trace.timed ? 0 : 1))}`));
  }, 150);
}

async function showEvents() {
  const first = Data.above(trace.time, view.from - 1e-9), last = Data.above(trace.time, view.to);
  const begin = Math.min(first + page * EVENTS, Math.max(first, last - 1)), end = Math.min(last, begin + EVENTS), rows = [];
  for (let i = begin; i < end; i++) {
    const text = await trace.told(i);
    rows.push([element('button', trace.show(trace.time[i]), {type: 'button', onclick: () => choose(i, true)}),
      trace.rank[i] ? trace.rank[i] - 1 : '-', trace.number[i], element('code', text.slice(0, 400))]);
  }
  $('events').replaceChildren(Tables.table(`Events ${(begin - first + 1).toLocaleString('en')} to ${(end - first).toLocaleString('en')} of ${(last - first).toLocaleString('en')} in the window`,
    ['time', 'rank', `line of ${trace.file}`, 'event and actions'], rows));
  $('before').disabled = page === 0;
  $('after').disabled = end >= last;
}

// ---- a step ----

async function describe(step) {
  const rank = trace.rank[step] - 1, text = await trace.told(step);
  const index = rank >= 0 ? trace.of[rank].at(trace.time[step]) : -1;
  const doing = index >= 0 && trace.timed ? `, in ${ACTIVITIES[trace.of[rank].doing[index]]}` : '';
  return `${trace.show(trace.time[step])}, ${rank < 0 ? 'dispatcher' : `rank ${rank}`}${doing}: ${text.slice(0, 300)} (${trace.file}:${trace.number[step]})`;
}

async function choose(step, into = false) {
  const rank = Math.max(0, trace.rank[step] - 1);
  view.choose({rank, step});
  const time = trace.time[step], length = view.to - view.from;
  if (time < view.from || time > view.to) view.show(time - length / 2, time + length / 2);
  if (into) view.listeners.forEach((draw) => draw());
  $('chosen').textContent = await describe(step);
}

async function hover(drawing, event) {
  const box = drawing.canvas.getBoundingClientRect(), x = event.clientX - box.x, rank = drawing.rankAt(event.clientY - box.y);
  const time = drawing.time(x), tip = $('tip');
  if (rank === null || x < GUTTER || x > GUTTER + drawing.width || !trace.loaded) {
    tip.hidden = true;
    return;
  }
  const periods = trace.of[rank], index = periods.at(time), parts = [`rank ${rank}, ${trace.show(time)}`];
  if (index >= 0 && trace.timed)
    parts.push(`${ACTIVITIES[periods.doing[index]]} for ${trace.length(periods.until(index) - periods.from[index])}, from ${trace.show(periods.from[index])}`);
  const step = trace.nearest(rank, time), far = step < 0 || Math.abs(drawing.x(trace.time[step]) - x) > 8;
  if (!far) parts.push(await describe(step));
  tip.replaceChildren(...parts.map((part) => element('div', part)));
  tip.hidden = false;
  tip.style.left = `${Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8)}px`;
  tip.style.top = `${Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 8)}px`;
}

// Chooses the next event, or the last one (by -1), that has the words that are asked for.
async function find(by) {
  const words = $('find').value.trim().toLowerCase();
  const start = view.cursor ? view.cursor.step + by : by > 0 ? Data.above(trace.time, view.from - 1e-9) : Data.above(trace.time, view.to) - 1;
  const step = words ? await trace.find(words, start, by) : -1;
  $('missed').textContent = step >= 0 ? '' : `No ${by < 0 ? 'earlier' : 'later'} event has that.`;
  if (step >= 0) await choose(step);
}

// ---- keys and mouse ----

const buttons = {
  in: () => view.zoom(2, at()),
  out: () => view.zoom(0.5, at()),
  earlier: () => view.pan(-0.25),
  later: () => view.pan(0.25),
  all: () => view.all(),
};
// Returns the time around which to zoom: the chosen step, if it is in the window.
function at() {
  const time = view.cursor ? trace.time[view.cursor.step] : NaN;
  return time >= view.from && time <= view.to ? time : undefined;
}

function move(by) {
  const middle = (view.from + view.to) / 2, cursor = view.cursor;
  const step = cursor ? trace.beside(cursor.step, by) : trace.nearest(0, middle);
  if (step >= 0) choose(step);
}

function changeRank(by) {
  const rank = Math.max(0, Math.min(trace.ranks - 1, view.cursor ? view.cursor.rank + by : 0));
  const step = trace.nearest(rank, view.cursor ? trace.time[view.cursor.step] : (view.from + view.to) / 2);
  if (step >= 0) choose(step);
}

const keys = {'+': buttons.in, '=': buttons.in, '-': buttons.out, ArrowLeft: buttons.earlier, ArrowRight: buttons.later, Home: buttons.all,
  ArrowUp: () => changeRank(-1), ArrowDown: () => changeRank(1), ',': () => move(-1), '.': () => move(1), PageUp: () => move(-1), PageDown: () => move(1)};

function listenTo(drawing) {
  const box = drawing.canvas.parentElement;
  let grip = null;
  // With two runs, keys and mouse act on the run in whose drawing they are used.
  for (const kind of ['keydown', 'wheel', 'pointerdown', 'pointermove', 'dblclick'])
    box.addEventListener(kind, () => { ({trace, view} = drawing); });
  box.onkeydown = (event) => {
    const act = !event.ctrlKey && !event.altKey && !event.metaKey && trace.loaded && keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  };
  box.onwheel = (event) => {
    if (!event.ctrlKey && document.activeElement !== box) return; // else the page scrolls
    event.preventDefault();
    view.zoom(1.0015 ** -event.deltaY, drawing.time(event.clientX - box.getBoundingClientRect().x));
  };
  box.onpointerdown = (event) => {
    grip = {x: event.clientX, time: drawing.time(event.clientX - box.getBoundingClientRect().x), from: view.from, to: view.to, moved: false};
    box.setPointerCapture(event.pointerId);
  };
  box.onpointermove = (event) => {
    if (!grip) return hover(drawing, event);
    const by = event.clientX - grip.x;
    grip.moved ||= Math.abs(by) > 3;
    $('tip').hidden = true;
    const shift = by / drawing.width * (grip.to - grip.from);
    if (grip.moved && !event.shiftKey) view.show(grip.from - shift, grip.to - shift);
  };
  box.onpointerup = (event) => {
    const was = grip, time = drawing.time(event.clientX - box.getBoundingClientRect().x);
    grip = null;
    if (was?.moved && event.shiftKey) return view.show(Math.min(was.time, time), Math.max(was.time, time));
    const rank = drawing.rankAt(event.clientY - drawing.canvas.getBoundingClientRect().y);
    if (was?.moved || rank === null || !trace.loaded) return undefined;
    const step = trace.nearest(rank, time);
    return step >= 0 && choose(step);
  };
  box.onpointerleave = () => { $('tip').hidden = true; };
  box.ondblclick = (event) => view.zoom(4, drawing.time(event.clientX - box.getBoundingClientRect().x));
}

// ---- a trace ----

const opened = []; // columns that have been read, once each
async function open(index) {
  const known = opened[index];
  trace = opened[index] ||= new Trace(about.traces[index]);
  view = new View(trace.end, trace.timed ? LEAST_NS : LEAST_STEPS);
  timeline = new Timeline($('timeline'), trace, view);
  spacetime = new SpaceTime($('spacetime'), trace, view, $('drawn'));
  for (const drawing of [timeline, spacetime]) listenTo(drawing);
  $('run').hidden = $('space').hidden = $('event-list').hidden = false;
  $('legend-compute').lastChild.textContent = trace.timed ? ' compute' : ' program';
  $('legend-checkpoint').lastChild.textContent = trace.timed ? ' checkpoint' : ' program held'; // a trace without times tells no more
  for (const id of ['from', 'to']) $(id).parentElement.lastChild.textContent = trace.timed ? ' s' : ' steps';
  if (!known) await trace.loadPeriods();
  timeline.draw();
  view.listen(showWindow);
  view.listen(settle);
  if (!known) await trace.loadSteps();
  if (!known) await trace.loadMessages();
  if (trace.timed) timeline.addStrips();
  $('legend-messages').replaceChildren(...spacetime.legend());
  showLegend([trace]);
  if (trace.crashes.length) fill('failures', Tables.failures(trace));
  else $('failures').closest('section').hidden = true;
  if (trace.lines_of_recovery.length) fill('recovery', Tables.lines(trace));
  else $('recovery').closest('section').hidden = true;
  fill('violations', trace.violations.length ? Tables.violations(trace) : [], trace.again < 0 ? []
    : element('p', `All steps from ${trace.again} on come again and again.`));
  view.changed();
}

// Leaves out of the legend what none of these traces has.
function showLegend(traces) {
  const some = (has) => traces.some(has), crashed = some(({crashes}) => crashes.length), wrong = some(({timed, violations}) => !timed && violations.length);
  const shown = {lines: some((one) => one.lines_of_recovery.length), crash: crashed, crossed: crashed, violation: wrong, ring: wrong,
    captured: some((one) => one.kind.includes(one.kinds.indexOf('captured')))};
  ACTIVITIES.forEach((name, activity) => { shown[name] = some((one) => one.of.some(({doing}) => doing.includes(activity))); });
  for (const [name, is] of Object.entries(shown)) $(`legend-${name}`).hidden = !is;
}

function listen() {
  for (const [id, act] of Object.entries(buttons)) $(id).onclick = act;
  for (const id of ['from', 'to'])
    $(id).onchange = () => (about.kind === 'pair' ? Pair.drawings[0].view : view).show(...['from', 'to'].map((name) => Number($(name).value) * (trace.timed ? 1e9 : 1)));
  $('few').onclick = () => { // shows the part that is drawn or, if that is all, its half
    const {from, to} = spacetime.shown;
    if (spacetime.part) return view.show(from, to);
    return view.zoom(2, at());
  };
  $('find-earlier').onclick = () => find(-1);
  $('find-later').onclick = () => find(1);
  $('find').onkeydown = (event) => { if (event.key === 'Enter') find(event.shiftKey ? -1 : 1); };
  $('before').onclick = () => { page--; showEvents(); };
  $('after').onclick = () => { page++; showEvents(); };
  $('by-rank').parentElement.ontoggle = settle;
  new ResizeObserver(() => view?.changed()).observe($('run'));
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => view?.changed());
  if (about.traces.length < 2 || about.kind === 'pair') return;
  $('which').append(...about.traces.map((t, i) => element('option', t.file, {value: i})));
  $('which').closest('p').hidden = false;
  $('which').onchange = () => open(Number($('which').value)).catch(failed);
}
function failed(error) {
  $('status').textContent = `This page cannot be shown: ${error.message}`;
  throw error;
}

kinds[about.kind]();
// The data of a page follow its scripts, so they may not all be there yet.
globalThis.ready = new Promise((done) => document.readyState === 'loading' ? document.addEventListener('DOMContentLoaded', done) : done()).then(async () => {
  if (!about.traces?.length) return;
  listen();
  await (about.kind === 'pair' ? Pair.open() : open(0));
}).catch(failed);

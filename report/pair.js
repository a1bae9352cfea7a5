// Two runs beside each other: their numbers, and their timelines, which show the same window. The second run may
// be shifted, so that a checkpoint or the first crash of both stand below each other.
'use strict';

// A view of one run: the common view, less the shift of the run.
class Shifted {
  constructor(common, shift) {
    Object.assign(this, {common, shift, cursor: null});
  }
  get from() { return this.common.from - this.shift; }
  get to() { return this.common.to - this.shift; }
  get end() { return this.common.end; }
  get least() { return this.common.least; }
  get listeners() { return this.common.listeners; }
  listen(listener) { this.common.listen(listener); }
  changed() { this.common.changed(); }
  show(from, to) { this.common.show(from + this.shift, to + this.shift); }
  zoom(factor, at) { this.common.zoom(factor, at === undefined ? undefined : at + this.shift); }
  pan(part) { this.common.pan(part); }
  all() { this.common.all(); }
  choose(cursor) {
    this.cursor = cursor;
    this.changed();
  }
}

const Pair = {
  drawings: [],
  results: [],
  NAMES: ['A', 'B'],

  describe() {
    const runs = about.runs, results = Pair.results = runs.map((run) => JSON.parse(run.result));
    const good = results.every((result) => ['completed', 'recovered'].includes(result.verdict) && !result.audit.violations && !result.program_exit);
    title(`${runs[0].folder} (A) beside ${runs[1].folder} (B)`, results.map((result, i) => `${Pair.NAMES[i]} ${result.verdict}`).join(', '), good);
    const row = (name, of, show = (value) => value.toLocaleString('en')) => {
      const [a, b] = results.map(of);
      return [name, show(a), show(b), typeof a === 'number' ? Pair.change(a, b, show) : a === b ? 'the same' : 'differs'];
    };
    fill('facts', Tables.table('The two runs', ['what', 'A', 'B', 'B less A'], [
      row('folder', (_) => '', String).map((cell, i) => i === 1 || i === 2 ? runs[i - 1].folder : i ? '' : cell),
      row('scenario', (r) => r.scenario, String), row('program', (r) => r.program, String), row('ranks', (r) => r.ranks),
      row('machine', (r) => r.platform, String), row('protocol', (r) => r.protocol, String), row('verdict', (r) => r.verdict, String),
      row('simulated time', (r) => r.simulated_s, Tables.seconds), row('crashes', (r) => r.crashes),
      row('rollbacks', (r) => r.rollbacks.global + r.rollbacks.local), row('checkpoints committed', (r) => r.checkpoints.committed),
      row('checkpoints aborted', (r) => r.checkpoints.aborted), row('messages sent', (r) => r.messages.sent),
      ...['late', 'early', 'suppressed', 'replayed', 'discarded'].filter((name) => results.some((r) => r.messages[name])).map((name) => row(`messages ${name}`, (r) => r.messages[name])),
      row('largest image, bytes', (r) => r.image_bytes)]));
    Pair.times();
    fill('judged', element('ul', results.map((result, i) => element('li', `${Pair.NAMES[i]}: ${result.audit.violations
      ? `${result.audit.violations} violations; the first: ${result.audit.first}` : 'no property of the audit is violated.'}`,
    {className: result.audit.violations ? 'bad' : 'good'}))));
    reproduce(`recline report ${runs[0].folder}`, `recline report ${runs[1].folder}`);
    fill('scenario', runs.map((run, i) => [element('h3', Pair.NAMES[i]), code(run.scenario, `Scenario of ${Pair.NAMES[i]}`)]).flat());
  },

  change(a, b, show) {
    if (a === b) return 'the same';
    const share = a ? ` (${b > a ? '+' : '−'}${Math.abs(100 * (b - a) / a).toFixed(1)} %)` : '';
    return `${b > a ? '+' : '−'}${show(Math.abs(b - a))}${share}`;
  },

  // Tells where the time of both runs went, and in the window.
  times() {
    const inside = (drawing, activity) => drawing.trace.of.reduce((sum, periods) => sum + Pair.between(periods, activity, drawing.view), 0) / drawing.trace.ranks;
    const ready = Pair.drawings.length === 2 && Pair.drawings.every(({trace}) => trace.of);
    fill('times', Tables.table('Seconds of a rank, the mean of all', ['activity', 'A', 'B', 'B less A', ...(ready ? ['A, in the window', 'B, in the window'] : [])],
      ACTIVITIES.map((name, i) => {
        const [a, b] = Pair.results.map((result) => result.time_s[name]);
        return [element('span', [Tables.swatch(name), ` ${name}`]), ...[a, b].map((time) => Tables.share(1e9 * time)), Pair.change(a, b, (time) => Tables.share(1e9 * time)),
          ...(ready ? Pair.drawings.map((drawing) => Tables.share(inside(drawing, i))) : [])];
      })));
    $('by-rank').parentElement.hidden = true;
  },

  // The window may begin before a run, and end behind it.
  between(periods, activity, {from, to}) {
    return to <= 0 || from >= periods.end ? 0 : periods.between(activity, Math.max(from, 0), Math.min(to, periods.end));
  },

  // Returns what both runs have: {name, at: [time in A, time in B]}.
  places([a, b]) {
    const places = [{name: 'time', at: [0, 0]}];
    const captured = (trace, checkpoint) => {
      const cuts = trace.lines_of_recovery.filter((cut) => cut.checkpoint === checkpoint && cut.committed);
      return Math.min(...cuts.flatMap((cut) => cut.at).filter((step) => step >= 0).map((step) => trace.time[step]));
    };
    if (a.crashes.length && b.crashes.length) places.push({name: 'the first crash', at: [a, b].map((trace) => trace.time[trace.crashes[0]])});
    for (const checkpoint of new Set(a.lines_of_recovery.map((cut) => cut.checkpoint))) {
      const at = [captured(a, checkpoint), captured(b, checkpoint)];
      if (at.every(Number.isFinite)) places.push({name: `the first capture of checkpoint ${checkpoint}`, at});
    }
    return places;
  },

  // Shows both runs with those times below each other.
  align(common, {at}) {
    const shift = at.map((time) => Math.max(...at) - time);
    Pair.drawings.forEach((drawing, i) => { drawing.view.shift = shift[i]; });
    common.end = Math.max(...Pair.drawings.map((drawing, i) => drawing.trace.end + shift[i]));
    common.all();
  },

  settle() {
    const [a, b] = Pair.drawings;
    $('status').textContent = `A from ${a.trace.show(a.view.from)} to ${a.trace.show(a.view.to)}, B from ${b.trace.show(b.view.from)} to ${b.trace.show(b.view.to)}. `;
    Pair.times();
  },

  async open() {
    const traces = about.traces.map((one, i) => new Trace({...one, file: `${about.runs[i].folder}/${one.file}`}));
    const common = new View(Math.max(...traces.map((one) => one.end)), LEAST_NS);
    Pair.drawings = traces.map((one, i) => new Timeline($(i ? 'timeline-beside' : 'timeline'), one, new Shifted(common, 0)));
    ({trace, view} = Pair.drawings[0]);
    timeline = Pair.drawings[0];
    $('run').hidden = $('beside').hidden = $('first-name').hidden = false;
    about.runs.forEach((run, i) => { $(i ? 'second-name' : 'first-name').textContent = `${Pair.NAMES[i]}: ${run.folder}`; });
    for (const drawing of Pair.drawings) {
      await drawing.trace.loadPeriods();
      await drawing.trace.loadSteps();
      await drawing.trace.loadMessages();
      listenTo(drawing);
    }
    showLegend(traces);
    const places = Pair.places(traces);
    $('align').append(...places.map(({name}, i) => element('option', name, {value: i})));
    $('align').onchange = () => Pair.align(common, places[Number($('align').value)]);
    $('align').closest('p').hidden = false;
    common.listen(showWindow);
    common.listen(settle);
    Pair.align(common, places[0]);
  },
};

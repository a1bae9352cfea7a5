// Draws the space-time diagram, with the marks of `recline draw`: time runs to the right, a column for each
// step.
'use strict';

const Diagram = {
  LEFT: 6, TOP: 64, NARROW: 14, WIDE: 40,

  // The legend, in its order: kind of thing -> its mark in a box of 26 by 12. Its name is in the words of plots/words.h,
  // which `recline draw` has, too.
  MARKS: {
    start: '<path class="start" d="M8,1 L18,6 L8,11 z"/>',
    timer: '<circle class="timer" cx="13" cy="6" r="5"/>',
    choice: '<path class="choice" d="M13,1 L18,6 L13,11 L8,6 z"/>',
    captured: '<rect class="captured" x="8" y="1" width="10" height="10"/>',
    durable: '<rect class="durable" x="9" y="2" width="8" height="8"/>',
    committed: '<path class="committed" d="M13,0 L19,6 L13,12 L7,6 z"/>',
    finished: '<rect class="finished" x="9" y="2" width="8" height="8"/>',
    crash: '<path class="crash" d="M8,1 L18,11 M18,1 L8,11"/>',
    detected: '<circle class="detected" cx="13" cy="6" r="4"/>',
    'roll-back': '<path class="back" d="M18,1 L8,6 L18,11 z"/>',
    'give-up': '<path class="give-up" d="M10,0 h6 l3,3 v6 l-3,3 h-6 l-3,-3 v-6 z"/>',
    collective: '<path class="collective" d="M10,1 h6 l3,5 l-3,5 h-6 l-3,-5 z"/>',
    other: '<circle class="other" cx="13" cy="6" r="3.5"/>',
    differs: '<circle class="differs" cx="13" cy="6" r="5"/>',
    violated: '<circle class="ring" cx="13" cy="6" r="5"/>',
    cut: '<path class="cut" d="M1,6 H25"/>',
    open: '<path class="cut open" d="M1,6 H25"/>',
    message: '<path class="message" d="M1,6 H25"/>',
    late: '<path class="message late" d="M1,6 H25"/>',
    early: '<path class="message early" d="M1,6 H25"/>',
    control: '<path class="message control" d="M1,6 H25"/>',
    flight: '<path class="message" d="M1,6 H18"/><circle class="flight" cx="21" cy="6" r="3"/>',
    'control flight': '<path class="message control" d="M1,6 H18"/><circle class="flight control" cx="21" cy="6" r="3"/>',
    discarded: '<path class="message discarded" d="M1,6 H25"/>',
    suppressed: '<path class="message" d="M1,6 H16 M16,1 V11"/>',
    replay: '<path class="message replay" d="M1,6 H25"/>',
    offends: '<path class="message offends" d="M1,6 H25"/>',
    call: '<line class="call" x1="1" y1="6" x2="25" y2="6"/>',
    rollback: '<path class="arc" d="M1,2 C8,14 18,14 25,2"/>',
    down: '<path class="down" d="M1,6 H25"/>',
    restoring: '<path class="restoring" d="M1,6 H25"/>',
    undone: '<path class="undone" d="M1,6 H25"/>',
    held: '<path class="held" d="M1,6 H25"/>',
  },
  CUTS: 5, // colours of recovery lines, in turn

  // Returns the first kind that fits the step or one of its actions, in the order of plots/spacetime.c.
  kind(step) {
    const has = (name) => step.event.name === name || step.actions.some((action) => action.name === name);
    return step.event.name === 'crash' ? 'crash'
      : ['captured', 'committed', 'durable', 'give-up', 'roll-back', 'start', 'timer', 'choice', 'finished', 'detected', 'collective'].find(has) || 'other';
  },

  // Returns what stands above a step: words for its event and its actions, as plots/spacetime_layout.c has them.
  label({event, actions}) {
    let text = '';
    for (const item of [event, ...actions]) {
      const {name, fields, word} = item, words = Story.words.labels[name];
      const said = name === 'durable' && fields.part === 'log' ? 'log durable %s' : words?.text;
      const value = words?.field ? fields[words.field] ?? word ?? '?' : '';
      if (said) text += (text ? ', ' : '') + said.replace('%s', value);
      if (name === 'start' && fields.checkpoint && fields.checkpoint !== '0') text += ` from ${fields.checkpoint}`;
      if (name === 'roll-back' && fields.checkpoint) text += ` to ${fields.checkpoint}`;
      if (name === 'force') text += ` forced to ${fields.outcome}`;
    }
    return text;
  },

  // Returns the mark for a kind of step, with its middle at (x, y).
  shape(kind, x, y) {
    const S = 6;
    if (kind === 'start') return `<path d="M${x - S},${y - S} L${x + S},${y} L${x - S},${y + S} z"/>`;
    if (kind === 'roll-back') return `<path d="M${x + S},${y - S} L${x - S},${y} L${x + S},${y + S} z"/>`;
    if (kind === 'crash') return `<path d="M${x - S},${y - S} L${x + S},${y + S} M${x + S},${y - S} L${x - S},${y + S}"/>`;
    if (kind === 'choice') return `<path d="M${x},${y - 5} L${x + 5},${y} L${x},${y + 5} L${x - 5},${y} z"/>`;
    if (kind === 'give-up') return `<path d="M${x - 3},${y - S} h6 l3,3 v6 l-3,3 h-6 l-3,-3 v-6 z"/>`;
    if (kind === 'collective') return `<path d="M${x - 3},${y - 5} h6 l3,5 l-3,5 h-6 l-3,-5 z"/>`;
    if (kind === 'captured') return `<rect x="${x - S}" y="${y - S}" width="12" height="12"/>`;
    if (kind === 'durable' || kind === 'finished') return `<rect x="${x - 4}" y="${y - 4}" width="8" height="8"/>`;
    if (kind === 'committed') return `<path d="M${x},${y - 7} L${x + 7},${y} L${x},${y + 7} L${x - 7},${y} z"/>`;
    return `<circle cx="${x}" cy="${y}" r="${kind === 'timer' ? 5 : kind === 'detected' ? 4 : 3.5}"/>`;
  },

  // Returns the last step before this one in which another rank has made the same collective call, since this rank
  // has started or made it. A rank that has the result from a log does not make the call.
  sameCall(steps, step) {
    const makes = ({event, actions}) => event.name === 'collective' && !actions.some((action) => action.name === 'deliver' && Story.number(action, 'slot', 0) > 0);
    if (!makes(step)) return undefined;
    const same = ({event, actions}) => makes({event, actions}) && ['call', 'comm'].every((key) => event.fields[key] === step.event.fields[key]);
    const found = steps.slice(0, step.step).findLast((other) => same(other) || (other.rank === step.rank && other.event.name === 'start'));
    return found && found.rank !== step.rank ? found : undefined;
  },

  // Draws the steps from `begin` on, with their history, in a box of `room` pixels if they fit. Returns {html,
  // shown, wide}, where `shown` are the marks in use and `wide` is the width of a step. `wrong` is {property, rank, messages} of a violation by the
  // last step, or null. `differing` are the steps at which a mutant does otherwise than its protocol. Things that began before `begin` come from the left edge.
  draw(steps, h, begin, ranks, wrong, room, differing = new Set()) {
    const D = Diagram, row = ranks > 12 ? 24 : 64, tall = row / 3;
    const count = steps.length - begin, column = Math.min(D.WIDE, Math.max(D.NARROW, (room - D.LEFT) / Math.max(count + 2, 12)));
    const width = D.LEFT + Math.max(count + 2, 12) * column, height = D.TOP + ranks * row + 4;
    const x = (step) => Math.round(Math.max(D.LEFT + (step - begin + 0.5) * column, 0)), y = (rank) => rank < 0 ? 20 : D.TOP + rank * row;
    const escape = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
    const shown = new Set(), out = [], taken = [];
    // Puts a text where no other text is yet; if there is no such place, nowhere.
    const put = (text, places, kind) => {
      const half = text.length * 3 + 2;
      const place = places.find(([at, line]) => !taken.some(([left, right, other]) => at - half < right && at + half > left && Math.abs(line - other) < 11));
      if (!text || !place) return;
      const line = place[1], at = Math.max(Math.min(place[0], width - half), half);
      taken.push([at - half, at + half, line]);
      out.push(`<text class="label ${kind}" text-anchor="middle" x="${at}" y="${line}">${escape(text)}</text>`);
    };
    const bar = (kind, span) => {
      shown.add(kind);
      out.push(`<line class="${kind}" x1="${x(span.from)}" y1="${y(span.rank)}" x2="${x(span.to)}" y2="${y(span.rank)}"/>`);
    };
    const own = (checkpoint) => `own-${(Math.max(checkpoint, 1) - 1) % D.CUTS}`;
    const spans = h.spans.filter(({to}) => to >= begin);

    for (const span of spans.filter(({kind}) => kind === 'undone' || kind === 'held')) bar(span.kind, span);
    for (let r = 0; r < ranks; r++)
      out.push(`<line class="rank" x1="${D.LEFT}" y1="${y(r)}" x2="${width}" y2="${y(r)}"/>`);
    const dispatched = steps.slice(begin).some((step) => step.rank < 0);
    if (dispatched) out.push(`<line class="rank dispatcher" x1="${D.LEFT}" y1="${y(-1)}" x2="${width}" y2="${y(-1)}"/>`);
    for (const span of spans.filter(({kind}) => kind === 'down' || kind === 'restoring')) {
      out.push(`<line class="gap" x1="${x(span.from)}" y1="${y(span.rank)}" x2="${x(span.to)}" y2="${y(span.rank)}"/>`);
      bar(span.kind, span);
    }
    for (const cut of h.cuts.filter(({at}) => at.some((step) => step !== null && step >= begin))) {
      const kind = cut.committed ? 'cut' : 'open';
      shown.add(kind);
      const points = cut.at.map((step, r) => step === null ? '' : `${x(step)},${y(r) - tall} ${x(step)},${y(r) + tall}`);
      out.push(`<polyline class="cut ${kind} ${own(cut.checkpoint)}" points="${points.join(' ')}"><title>recovery line ${cut.checkpoint}${cut.committed ? '' : ', not committed'}</title></polyline>`);
    }
    for (const back of h.rollbacks.filter(({to, from}) => to !== null && from >= begin)) {
      shown.add('rollback');
      const [from, to, at] = [x(back.from), x(back.to), y(back.rank)], low = at + Math.min(tall + 8, row / 2);
      out.push(`<path class="arc" marker-end="url(#tip)" d="M${from},${at + 6} C${from},${low} ${to},${low} ${to},${at + 7}"/>`);
    }
    for (const s of steps.slice(begin)) {
      const other = D.sameCall(steps, s);
      if (!other || other.step < begin) continue;
      shown.add('call');
      out.push(`<line class="call" x1="${x(other.step)}" y1="${y(other.rank)}" x2="${x(s.step)}" y2="${y(s.rank)}"><title>${Story.call(s.event)}</title></line>`);
    }
    const labels = [];
    for (const m of h.messages) {
      if ((m.received ?? m.sent) < begin) continue;
      if (m.fate === 'suppressed') {
        const [x0, y0, way] = [x(m.sent), y(m.from), Math.sign(m.to - m.from) || 1];
        shown.add('suppressed');
        out.push(`<path class="message" d="M${x0},${y0} L${x0 + 7},${y0 + way * 15} m-5,${way * 2.5} l10,${way * -5}"><title>send suppressed</title></path>`);
        continue;
      }
      const x1 = x(m.sent), y1 = y(m.from), over = m.received !== null, toward = Math.sign(m.to - m.from) || 1;
      const x2 = over ? x(m.received) : x1 + column / 2, y2 = over ? y(m.to) : y1 + toward * 22;
      const offends = wrong && wrong.messages.includes(m.number);
      const kind = m.control ? 'control' : m.fate === 'discarded' ? 'discarded' : m.crosses || (over ? 'message' : '');
      if (offends) shown.add('offends'); // it has no other colour
      else if (kind && (over || !m.control)) shown.add(kind);
      if (!over) shown.add(m.control ? 'control flight' : 'flight');
      const what = m.again !== undefined ? `message ${m.number}, which is message ${m.again} once more` : m.control ? `${m.name}, control message ${m.number}${m.says}` : `message ${m.number}${m.crosses ? `, ${m.crosses}` : ''}`;
      const way = m.from === m.to && over ? `M${x1},${y1 + 6} C${x1},${y1 + 26} ${x2},${y1 + 26} ${x2},${y1 + 7}` : `M${x1},${y1} L${x2},${y2}`;
      out.push(`<path class="message ${kind}${offends ? ' offends' : ''}"${over ? ' marker-end="url(#tip)"' : ''} d="${way}"><title>${escape(what)}</title></path>`);
      if (!over) out.push(`<circle class="flight${m.control ? ' control' : ''}" cx="${x2}" cy="${y2}" r="3"/>`);
      if (offends || m.crosses || (row > 24 && (over || !m.control)))
        labels.push([m.control ? `${m.name} ${m.number ?? ''}`.trimEnd() : `${m.number ?? ''}${m.again === undefined ? '' : ` = ${m.again} again`}${m.crosses ? `, ${m.crosses}` : ''}`,
          x1, y1, x2, y2, m.control ? 'quiet' : offends ? 'wrong' : m.crosses]);
    }
    for (const s of steps.slice(begin)) {
      const kind = D.kind(s), last = s.step === steps.length - 1, cx = x(s.step), cy = y(s.rank);
      shown.add(kind);
      const from = s.actions.find((action) => action.name === 'deliver' && Story.number(action, 'slot', 0) > 0);
      if (from) {
        shown.add('replay');
        out.push(`<path class="message replay" marker-end="url(#tip)" d="M${cx - 14},${cy + 20} L${cx - 3},${cy + 6}"><title>from the log: slot ${from.fields.slot}</title></path>`);
      }
      if (last && wrong) shown.add('violated');
      if (differing.has(s.step)) {
        shown.add('differs');
        out.push(`<circle class="differs" cx="${cx}" cy="${cy}" r="12"/>`);
      }
      const colour = kind === 'captured' ? ` ${own(Story.number(s.event, 'checkpoint', 1))}` : '';
      out.push(`<g class="event ${kind === 'roll-back' ? 'back' : kind}${colour}${last ? ' last' : ''}${last && wrong ? ' offends' : ''}" data-step="${s.step}"><circle class="room" cx="${cx}" cy="${cy}" r="9"/>` +
        `${D.shape(kind, cx, cy)}<title>${s.step} ${escape(s.line)}</title></g>`);
      if (row > 24) put(D.label(s), (s.rank < 0 ? [cy - 8] : [cy - 11, cy - 23]).map((line) => [cx, line]), ['crash', 'roll-back', 'detected', 'give-up'].includes(kind) ? 'wrong' : '');
    }
    if (wrong && count) {
      const half = wrong.property.length * 4 + 10, cx = Math.max(Math.min(x(steps.length - 1), width - half), half), line = y(steps[steps.length - 1].rank) + 24;
      taken.push([cx - half, cx + half, line]);
      out.push(`<text class="label wrong violated" text-anchor="middle" x="${cx}" y="${line}">✗ ${escape(wrong.property)}</text>`);
    }
    const along = [0.5, 0.36, 0.64, 0.24, 0.76]; // where on an arrow there may be room, besides above and below its middle
    for (const [text, x1, y1, x2, y2, kind] of labels.sort((a, b) => (a.at(-1) === 'quiet') - (b.at(-1) === 'quiet')))
      put(text, [...along.map((part) => [x1 + part * (x2 - x1), y1 + part * (y2 - y1) + 4]), ...[-8, 16].map((off) => [(x1 + x2) / 2, (y1 + y2) / 2 + off])]
        .filter(([, line]) => Math.abs((line - 4 - D.TOP + row / 2) % row - row / 2) > 7), kind); // not on the line of a rank
    const figures = Math.max(28, 7 * String(steps.length).length + 10); // of a step's number
    const every = [1, 2, 5, 10, 20, 50].find((step) => step * column >= figures) || 50;
    for (let step = Math.ceil(begin / every) * every; step < steps.length; step += every)
      out.push(`<text class="label quiet step" text-anchor="middle" x="${x(step)}" y="${height - 3}">${step}</text>`);
    const names = Array.from({length: ranks}, (_, r) => `<span style="top: ${y(r) - 9}px">rank ${r}</span>`);
    if (dispatched) names.push(`<span class="quiet" style="top: ${y(-1) - 9}px">dispatcher</span>`);
    const html = `<div class="names" aria-hidden="true">${names.join('')}</div><svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" role="img" aria-label="Space-time diagram of ${count} steps of ${ranks} ranks; the list below has the same steps as sentences">` +
      '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" markerUnits="userSpaceOnUse" orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="context-stroke"/></marker></defs>' +
      out.join('') + '</svg>';
    return {html, shown, wide: column};
  },

  // Returns the legend of what is shown. A mark of the diagram has its name in Story.words.marks, one of another
  // drawing brings it: [mark, name].
  legend: (shown, marks = Diagram.MARKS) => Object.entries(marks).filter(([kind]) => shown.has(kind))
    .map(([kind, mark]) => typeof mark === 'string' ? [mark, Story.words.marks[kind].text] : mark)
    .map(([mark, name]) => `<span><svg width="26" height="12" aria-hidden="true">${mark}</svg> ${name}</span>`).join(' '),
};

// Draws the same window as a space-time diagram, if it has few enough messages.
'use strict';

const MOST_MESSAGES = 3000, LOOK_BACK = 50000, ARROWS = 600;

class SpaceTime extends Timeline {
  constructor(canvas, trace, view, said) {
    super(canvas, trace, view);
    this.said = said; // an element, which says how many messages there are, or why none are shown
    this.row = Math.max(10, Math.min(48, Math.floor(720 / trace.ranks)));
  }
  get height() { return AXIS + this.row * this.trace.ranks + 4; }
  get bar() { return {top: this.row / 2 - 2, size: 4}; }
  y(rank) { return AXIS + (rank + 0.5) * this.row; }

  get shown() { return this.part || this.view; }

  // Returns the number of messages that are sent between two times.
  sent(from, to) { return Data.above(this.trace.sentAt, to) - Data.above(this.trace.sentAt, from - 1e-9); }

  // If the window has too many messages, returns the part of it around the chosen event, or else its first crash
  // until all have started again, or its middle, that has few enough; else null. this.around says which.
  few() {
    const {trace, view} = this, inside = (step) => trace.time[step] >= view.from && trace.time[step] <= view.to;
    this.count = this.sent(view.from, view.to);
    if (this.count <= MOST_MESSAGES) return null;
    const crash = trace.crashes.find(inside), chosen = view.cursor && inside(view.cursor.step);
    this.around = chosen ? 'the chosen event' : crash !== undefined ? 'the first crash' : 'its middle';
    const recovery = !chosen && crash !== undefined && this.recovery(crash);
    if (recovery) return recovery;
    const middle = chosen ? trace.time[view.cursor.step] : crash !== undefined ? trace.time[crash] : (view.from + view.to) / 2;
    let {from, to} = view;
    while (this.sent(from, to) > ARROWS && to - from > view.least) [from, to] = [(from + middle) / 2, (to + middle) / 2];
    return {from, to};
  }

  // Returns the part of the window from before a crash until all ranks that it sends back have started again;
  // null: this part has too many messages, or no rank goes back.
  recovery(crash) {
    const {trace, view} = this, {again} = trace.failures().find(({crashes}) => crashes.includes(crash));
    const end = again < 0 ? -1 : trace.time[again];
    if (end < 0 || end > view.to || this.sent(trace.time[crash], end) > MOST_MESSAGES) return null;
    const part = (beside) => ({from: Math.max(view.from, trace.time[crash] - beside), to: Math.min(view.to, end + beside)});
    const room = Math.max(ARROWS, 1.25 * this.sent(trace.time[crash], end)), few = ({from, to}) => this.sent(from, to) <= room;
    let beside = view.to - view.from;
    while (!few(part(beside)) && beside > view.least) beside /= 2;
    return part(beside);
  }

  // Returns the messages that are sent or under way in the part that is drawn.
  found() {
    const {trace, shown} = this;
    const first = Data.above(trace.sentAt, shown.from - 1e-9), last = Data.above(trace.sentAt, shown.to);
    const list = [];
    for (let i = Math.max(0, first - LOOK_BACK); i < last; i++) {
      const end = trace.received[i] ? trace.time[trace.sent[i] + trace.received[i] - 1] : trace.sentAt[i];
      if (end >= shown.from) list.push(i);
    }
    return list;
  }

  draw() {
    if (!this.trace.loaded) return;
    this.part = this.few();
    const g = this.begin(), list = this.found();
    g.save();
    g.beginPath();
    g.rect(GUTTER - 1, AXIS, this.width + 2, this.height);
    g.clip();
    this.drawMessages(g, list);
    this.drawCuts(g);
    this.drawSteps(g);
    this.drawCrashes(g);
    this.drawNamed(g);
    this.drawViolation(g);
    this.drawRing(g);
    g.restore();
    this.drawCursor(g);
    const {program, control} = this.trace.sentIn(this.view.from, this.view.to);
    const all = `${program.toLocaleString('en')} messages of the program and ${control.toLocaleString('en')} control messages are sent in this window.`;
    const text = this.part ? `${all} The ${list.length.toLocaleString('en')} around ${this.around} are drawn, from ${this.trace.show(this.part.from)} to ${this.trace.show(this.part.to)}.` : all;
    if (this.said.textContent !== text) this.said.textContent = text;
  }

  // Returns the legend of the messages that the trace has.
  legend() {
    const {trace} = this, palette = Object.fromEntries(['late', 'early', 'accent', 'quiet', 'bad', 'text'].map((name) => [name, `var(--${name})`]));
    const names = {delivered: 'message', 'sent again': 'message that a log sends again', suppressed: 'send suppressed', control: 'control message'};
    const named = new Set(trace.named.map(({message}) => message)); // these have a colour of their own
    const lines = trace.classes.filter((_, kind) => trace.class.some((one, i) => one === kind && !named.has(i))).map((name) => {
      const [color, width, dash] = SpaceTime.style(name, palette);
      return element('span', [Tables.line(color, width, dash), ` ${names[name] || `${name} message`}`]);
    });
    return [...lines, ...(trace.named.length ? [element('span', [Tables.line(palette.bad, 3, []), ' named by the violation'])] : [])];
  }

  style(name) { return SpaceTime.style(name, this.palette); }
  // Returns the colour, width and dashes of a class of messages.
  static style(name, palette) {
    return {late: [palette.late, 2.5, []], early: [palette.early, 2.5, []], 'sent again': [palette.accent, 2, []],
      suppressed: [palette.quiet, 1, [1, 3]], discarded: [palette.bad, 1, [6, 3]], 'not received': [palette.bad, 1, [1, 3]],
      control: [palette.quiet, 1, [4, 3]]}[name] || [palette.text, 1, []];
  }

  drawMessages(g, list) {
    const {trace} = this, arrows = list.length <= ARROWS;
    for (let kind = 0; kind < trace.classes.length; kind++) {
      const [color, width, dash] = this.style(trace.classes[kind]);
      g.strokeStyle = color;
      g.lineWidth = width;
      g.setLineDash(dash);
      g.beginPath();
      for (const i of list) {
        if (trace.class[i] !== kind) continue;
        const sent = trace.sent[i], y = this.y(trace.rank[sent] - 1), to = this.y(trace.to[i]), x = this.x(trace.time[sent]);
        const end = trace.received[i] ? this.x(trace.time[sent + trace.received[i] - 1]) : x + 14;
        const part = trace.received[i] ? 1 : 0.4;
        g.moveTo(x, y);
        g.lineTo(end, y + (to - y) * part);
        if (arrows && trace.received[i] && to !== y) this.head(g, x, y, end, to);
      }
      g.stroke();
    }
    g.setLineDash([]);
  }

  // Draws the messages that a violation names, with their numbers, as `recline draw` does.
  drawNamed(g) {
    const {trace} = this;
    g.strokeStyle = g.fillStyle = this.palette.bad;
    g.lineWidth = 3;
    for (const {message, number} of trace.named) {
      const sent = trace.sent[message], y = this.y(trace.rank[sent] - 1), over = trace.received[message], x = this.x(trace.time[sent]);
      const end = over ? this.x(trace.time[sent + over - 1]) : x + 14, low = y + (this.y(trace.to[message]) - y) * (over ? 1 : 0.4);
      g.beginPath();
      g.moveTo(x, y);
      g.lineTo(end, low);
      if (over && low !== y) this.head(g, x, y, end, low);
      g.stroke();
      const name = trace.classes[trace.class[message]];
      this.put(g, ['late', 'early'].includes(name) ? `${number}, ${name}` : String(number), (x + end) / 2, (y + low) / 2 + 4);
    }
  }

  // Writes a text so that it can be read on a line, and whole; a text beside the window is left out.
  put(g, text, x, y) {
    const half = g.measureText(text).width / 2, right = GUTTER + this.width;
    if (x < GUTTER || x > right) return;
    x = Math.max(GUTTER + half, Math.min(x, right - half));
    g.save();
    Object.assign(g, {textAlign: 'center', strokeStyle: this.palette.back, lineWidth: 4});
    g.strokeText(text, x, y);
    g.fillText(text, x, y);
    g.restore();
  }

  // Draws a ring around the step of a counterexample that violates: its last one.
  drawRing(g) {
    const {trace} = this, last = trace.steps - 1;
    if (trace.timed || !trace.violations.length || last < 0) return;
    g.strokeStyle = this.palette.bad;
    g.lineWidth = 2;
    g.beginPath();
    g.arc(Math.min(this.x(trace.time[last]), GUTTER + this.width - 8), this.y(Math.max(0, trace.rank[last] - 1)), 7, 0, 2 * Math.PI);
    g.stroke();
  }

  head(g, x, y, end, to) {
    const angle = Math.atan2(to - y, end - x);
    for (const side of [-0.4, 0.4]) {
      g.moveTo(end, to);
      g.lineTo(end - 7 * Math.cos(angle + side), to - 7 * Math.sin(angle + side));
    }
  }

  drawSteps(g) {
    const {trace, shown} = this, captured = trace.kinds.indexOf('captured');
    const first = Data.above(trace.time, shown.from - 1e-9), last = Data.above(trace.time, shown.to);
    if (last - first > 2 * MOST_MESSAGES) return;
    g.fillStyle = this.palette.text;
    for (let i = first; i < last; i++) {
      if (!trace.rank[i]) continue;
      const big = trace.kind[i] === captured ? 4 : 2;
      g.fillRect(this.x(trace.time[i]) - big, this.y(trace.rank[i] - 1) - big, 2 * big, 2 * big);
    }
  }
}

// Draws all ranks over time, a row for each. The height of a colour is its share of a pixel's time, so that no
// activity is too short to be seen. Strips below show the load of storage and network.
'use strict';

const GUTTER = 52, AXIS = 22, STRIP = 40, GAP = 22;

// The colours of the style sheet, as text and as pixels.
class Palette {
  constructor() {
    const style = getComputedStyle(document.documentElement);
    const value = (name) => style.getPropertyValue(`--${name}`).trim();
    for (const name of ['text', 'back', 'edge', 'quiet', 'accent', 'bad', 'late', 'early', 'panel']) this[name] = value(name);
    this.activity = ACTIVITIES.map(value);
    this.pixel = this.activity.map((hex) => Palette.pixel(hex));
    this.empty = Palette.pixel(this.back);
  }
  static pixel(hex) {
    const [r, g, b] = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
    return (255 << 24 | b << 16 | g << 8 | r) >>> 0;
  }
}

class Timeline {
  constructor(canvas, trace, view) {
    Object.assign(this, {canvas, trace, view});
    this.row = Math.max(2, Math.min(26, Math.floor(576 / trace.ranks)));
    this.strips = [];
    view.listen(() => this.draw());
  }

  get height() { return AXIS + this.row * this.trace.ranks + this.strips.length * (STRIP + GAP) + 4; }
  // The part of time that is drawn: {from, to}.
  get shown() { return this.view; }
  // The part of a row that is painted: all but a line between rows.
  get bar() { return {top: 0, size: this.row > 3 ? this.row - 1 : this.row}; }
  x(time) { return GUTTER + (time - this.shown.from) / (this.shown.to - this.shown.from) * this.width; }
  time(x) { return this.shown.from + (x - GUTTER) / this.width * (this.shown.to - this.shown.from); }
  // Returns the rank of a row; null: there is none.
  rankAt(y) {
    const rank = Math.floor((y - AXIS) / this.row);
    return rank >= 0 && rank < this.trace.ranks ? rank : null;
  }

  resize() {
    const scale = window.devicePixelRatio || 1, box = this.canvas.parentElement.clientWidth;
    this.width = Math.max(100, box - GUTTER - 8);
    this.canvas.style.height = `${this.height}px`;
    const [wide, high] = [Math.round(box * scale), Math.round(this.height * scale)];
    if (this.canvas.width !== wide || this.canvas.height !== high) Object.assign(this.canvas, {width: wide, height: high});
    this.scale = scale;
  }

  // Draws the background: rows, axis and names.
  begin() {
    this.resize();
    const g = this.canvas.getContext('2d'), palette = this.palette = new Palette();
    g.setTransform(1, 0, 0, 1, 0, 0);
    g.fillStyle = palette.back;
    g.fillRect(0, 0, this.canvas.width, this.canvas.height);
    this.paintRows(g);
    g.setTransform(this.scale, 0, 0, this.scale, 0, 0);
    g.font = '12px system-ui, sans-serif';
    this.drawAxis(g);
    this.drawNames(g);
    return g;
  }

  draw() {
    if (!this.trace.of) return; // the trace is not loaded yet
    const g = this.begin();
    if (this.trace.loaded) {
      this.drawCuts(g);
      this.drawCrashes(g);
      this.drawViolation(g);
      this.drawCursor(g);
    }
    this.strips.forEach((strip, i) => this.drawStrip(g, strip, AXIS + this.row * this.trace.ranks + GAP + i * (STRIP + GAP)));
    performance.mark('painted');
  }

  // ---- rows, pixel by pixel ----

  paintRows(g) {
    const {top, size} = this.bar, wide = Math.round(this.width * this.scale), high = Math.max(1, Math.round(size * this.scale));
    const image = g.createImageData(wide, high), pixels = new Uint32Array(image.data.buffer);
    for (let rank = 0; rank < this.trace.ranks; rank++) {
      pixels.fill(this.palette.empty);
      this.paintRow(this.trace.of[rank], pixels, wide, high);
      g.putImageData(image, Math.round(GUTTER * this.scale), Math.round((AXIS + rank * this.row + top) * this.scale));
    }
  }

  paintRow(periods, pixels, wide, high) {
    const {from, to} = this.shown, step = (to - from) / wide, color = this.palette.pixel;
    let index = periods.at(from);
    for (let x = 0; x < wide; x++) {
      const begin = from + x * step, end = begin + step;
      const last = index + 1 < periods.from.length && periods.from[index + 1] < end ? this.advance(periods, index + 1, end) : index;
      if (last === index) {
        if (index >= 0 && begin < periods.end) this.column(pixels, x, wide, 0, high, color[periods.doing[index]]);
      } else {
        this.paintShares(periods, index, last, begin, end, pixels, x, wide, high);
      }
      index = last;
    }
  }

  // Returns the last period that begins before `end`, given one that does. Near ones are tried first.
  advance(periods, index, end) {
    let reach = 1;
    while (index + reach < periods.from.length && periods.from[index + reach] < end) reach *= 2;
    let low = index + (reach >> 1), high = Math.min(index + reach, periods.from.length);
    while (low + 1 < high) {
      const middle = (low + high) >> 1;
      if (periods.from[middle] < end) low = middle;
      else high = middle;
    }
    return low;
  }

  // Paints shares of a pixel's time. Rare activities have at least one pixel; compute and MPI share the rest.
  paintShares(periods, first, last, begin, end, pixels, x, wide, high) {
    let top = 0;
    for (let activity = ACTIVITIES.length - 1; activity >= 0; activity--) {
      const spent = periods.spent(activity, last, end) - periods.spent(activity, first, begin);
      if (spent <= 0) continue;
      const share = Math.round(spent / (end - begin) * high);
      const size = Math.min(high - top, activity > 1 ? Math.max(1, share) : share);
      this.column(pixels, x, wide, top, top + size, this.palette.pixel[activity]);
      top += size;
      this.rest = activity;
    }
    this.column(pixels, x, wide, top, high, this.palette.pixel[this.rest]);
  }

  column(pixels, x, wide, from, to, color) {
    for (let y = from; y < to; y++) pixels[y * wide + x] = color;
  }

  // ---- over them ----

  drawAxis(g) {
    const {marks, step} = ticks(this.shown.from, this.shown.to, Math.max(2, this.width / 110));
    g.fillStyle = this.palette.text;
    g.strokeStyle = this.palette.edge;
    g.textAlign = 'center';
    g.beginPath();
    for (const mark of marks) {
      const x = Math.round(this.x(mark)) + 0.5;
      g.moveTo(x, AXIS - 5);
      g.lineTo(x, AXIS);
      g.fillText(Timeline.label(mark, step, this.trace.timed), Math.max(GUTTER + 20, Math.min(x, GUTTER + this.width - 24)), AXIS - 8);
    }
    g.stroke();
  }

  // Returns a label with just enough digits to tell marks apart.
  static label(mark, step, timed) {
    if (!timed) return String(Math.round(mark));
    const [unit, name] = mark >= 1e9 || step >= 1e9 ? [1e9, 's'] : step >= 1e5 ? [1e6, 'ms'] : [1e3, 'µs'];
    return `${(mark / unit).toFixed(Math.max(0, Math.ceil(-Math.log10(step / unit) - 1e-9)))} ${name}`;
  }

  drawNames(g) {
    const every = Math.ceil(13 / this.row);
    g.fillStyle = this.palette.text;
    g.textAlign = 'right';
    for (let rank = 0; rank < this.trace.ranks; rank += every)
      g.fillText(String(rank), GUTTER - 8, AXIS + rank * this.row + Math.max(this.row / 2, 5) + 4);
  }

  // Draws recovery lines, through the captures of the ranks.
  drawCuts(g) {
    g.lineWidth = 1.5;
    g.strokeStyle = this.palette.text;
    for (const cut of this.trace.lines_of_recovery) {
      g.setLineDash(cut.committed ? [] : [5, 4]);
      g.beginPath();
      cut.at.forEach((step, rank) => {
        if (step < 0) return;
        const x = this.x(this.trace.time[step]), y = AXIS + rank * this.row;
        if (x < GUTTER || x > GUTTER + this.width) return;
        g.moveTo(x, y);
        g.lineTo(x, y + this.row);
      });
      g.stroke();
    }
    g.setLineDash([]);
  }

  drawCrashes(g) {
    const size = Math.max(3, Math.min(6, this.row / 2));
    g.beginPath();
    for (const step of this.trace.crashes) {
      const x = this.x(this.trace.time[step]), y = AXIS + (this.trace.rank[step] - 1 + 0.5) * this.row;
      if (x < GUTTER - size || x > GUTTER + this.width + size) continue;
      for (const [dx, dy] of [[1, 1], [1, -1]]) {
        g.moveTo(x - dx * size, y - dy * size);
        g.lineTo(x + dx * size, y + dy * size);
      }
    }
    this.strokeAbove(g);
  }

  // Strokes a mark in the colour of text, with a rim of the background's: a mark has the colour of no activity, and
  // is seen on each of them.
  strokeAbove(g) {
    for (const [color, width] of [[this.palette.back, 6], [this.palette.text, 2.5]]) {
      g.strokeStyle = color;
      g.lineWidth = width;
      g.stroke();
    }
  }

  // Draws the step of a counterexample that violates: its last one.
  drawViolation(g) {
    const {trace} = this;
    if (trace.timed || !trace.violations.length || !trace.steps) return;
    const x = this.x(trace.time[trace.steps - 1]);
    if (x < GUTTER || x > GUTTER + this.width + 1) return;
    g.setLineDash([6, 4]);
    g.beginPath();
    g.moveTo(x, AXIS - 4);
    g.lineTo(x, AXIS + this.row * trace.ranks);
    this.strokeAbove(g);
    g.setLineDash([]);
  }

  drawCursor(g) {
    if (!this.view.cursor) return;
    const {rank, step} = this.view.cursor, x = this.x(this.trace.time[step]), y = AXIS + rank * this.row;
    g.strokeStyle = this.palette.accent;
    g.lineWidth = 2;
    g.strokeRect(GUTTER - 1, y - 0.5, this.width + 2, this.row);
    if (x < GUTTER || x > GUTTER + this.width) return;
    g.beginPath();
    g.moveTo(x, AXIS - 4);
    g.lineTo(x, AXIS + this.row * this.trace.ranks);
    g.stroke();
  }

  // ---- strips: {title, short, show, level(from, to), mean} ----

  // Returns the length of time over which means are taken to find the largest: a round one, about a 200th of the
  // window. So the number depends on the window, and not on the width of the page.
  get bin() { return ticks(this.shown.from, this.shown.to, 200).step; }

  // Returns the most of a strip in the window, as text.
  most(strip) {
    const {bin, shown} = this;
    let most = 0;
    for (let i = Math.floor(shown.from / bin); i * bin < shown.to; i++) most = Math.max(most, strip.level(i * bin, (i + 1) * bin));
    return `at most ${strip.show(most)}${strip.mean && this.trace.timed ? ` over ${Trace.duration(bin)}` : ''}`;
  }

  drawStrip(g, strip, top) {
    const wide = Math.round(this.width), step = (this.shown.to - this.shown.from) / wide, values = new Float64Array(wide);
    let most = 0;
    for (let x = 0; x < wide; x++) {
      values[x] = strip.level(this.shown.from + x * step, this.shown.from + (x + 1) * step);
      most = Math.max(most, values[x]);
    }
    g.fillStyle = this.palette.quiet;
    g.textAlign = 'left';
    const told = this.most(strip), text = `${strip.title}, ${told}`;
    g.fillText(g.measureText(text).width <= wide ? text : `${strip.short}, ${told}`, GUTTER, top - 4);
    g.fillStyle = this.palette.panel;
    g.fillRect(GUTTER, top, wide, STRIP);
    g.fillStyle = this.palette.accent;
    for (let x = 0; x < wide && most > 0; x++) {
      const size = values[x] / most * STRIP;
      if (size > 0) g.fillRect(GUTTER + x, top + STRIP - Math.max(size, 1), 1, Math.max(size, 1));
    }
  }

  // Adds the strips for which the trace tells something about storage and network.
  addStrips() {
    const {trace} = this;
    const perSecond = (before) => (from, to) => {
      const first = Data.above(trace.sentAt, from - 1e-9), last = Data.above(trace.sentAt, to - 1e-9);
      return (before[last] - before[first]) / (to - from) * (trace.timed ? 1e9 : 1);
    };
    const bytes = (value) => {
      const size = value >= 1e9 ? [1e9, 'GB'] : value >= 1e6 ? [1e6, 'MB'] : value >= 1e3 ? [1e3, 'kB'] : [1, 'B'];
      return `${(value / size[0]).toPrecision(3)} ${size[1]}${trace.timed ? '/s' : ' a step'}`;
    };
    const writes = (from, to) => {
      let at = Data.above(trace.writesAt, from) - 1, most = at >= 0 ? trace.writing[at] : 0;
      for (at++; at < trace.writesAt.length && trace.writesAt[at] < to; at++) most = Math.max(most, trace.writing[at]);
      return most;
    };
    this.strips = [
      {title: 'Writes to storage under way', short: 'Writes', level: writes, show: (value) => String(value)},
      {title: 'Messages of the program, sent', short: 'Messages', mean: true, level: perSecond(trace.bytesBefore), show: bytes},
      {title: 'Control messages, sent', short: 'Control', mean: true, level: perSecond(trace.controlBefore),
        show: (value) => `${Number(value.toPrecision(3)).toLocaleString('en')}${trace.timed ? ' a second' : ' a step'}`},
    ];
  }
}

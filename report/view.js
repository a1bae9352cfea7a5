// The part of the time that is shown. A change of it draws the page again, once in a frame at most.
'use strict';

class View {
  constructor(end, least) {
    this.end = Math.max(end, 1);
    this.least = least; // the least length that can be shown
    this.from = 0;
    this.to = this.end;
    this.cursor = null; // {rank, step}
    this.listeners = [];
    this.waiting = false;
    this.frames = 0;
  }
  listen(listener) { this.listeners.push(listener); }
  changed() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.frames++;
      for (const listener of this.listeners) listener();
    });
  }
  show(from, to) {
    const length = Math.min(Math.max(to - from, this.least), this.end);
    this.from = Math.max(0, Math.min(from, this.end - length));
    this.to = this.from + length;
    this.changed();
  }
  // Zooms by a factor, around a time.
  zoom(factor, at = (this.from + this.to) / 2) { this.show(at - (at - this.from) / factor, at + (this.to - at) / factor); }
  // Moves by a share of the shown length.
  pan(part) {
    const by = (this.to - this.from) * part;
    this.show(this.from + by, this.to + by);
  }
  all() { this.show(0, this.end); }
  choose(cursor) {
    this.cursor = cursor;
    this.changed();
  }
}

// Returns marks of an axis: multiples of 1, 2 or 5 times a power of ten.
function ticks(from, to, most) {
  const rough = (to - from) / most, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((size) => size >= rough);
  const marks = [];
  for (let i = Math.ceil(from / step); i * step <= to; i++) marks.push(i * step);
  return {marks, step};
}

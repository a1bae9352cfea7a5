// Turns columns of the page (report/columns.h) into typed arrays, and these into a trace (report/trace_data.h).
'use strict';

const Data = {
  // Returns the bytes of an element, which are packed in that format. An element is needed once, so its text is dropped
  // unless `keep` is set.
  async bytes(id, keep = false, format = 'deflate') {
    const element = document.getElementById(id), text = element.textContent;
    if (!keep) element.remove();
    const packed = Uint8Array.fromBase64 ? Uint8Array.fromBase64(text) : Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream(format));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  },

  // Reads numbers of 7 bits a byte into an array of that type.
  async numbers(id, Type) {
    const bytes = await Data.bytes(id);
    let count = 0;
    for (let i = 0; i < bytes.length; i++) count += bytes[i] < 128;
    const values = new Type(count);
    for (let i = 0, at = 0; i < count; i++) {
      let value = 0, weight = 1;
      for (; bytes[at] >= 128; weight *= 128) value += (bytes[at++] - 128) * weight;
      values[i] = value + bytes[at++] * weight;
    }
    return values;
  },

  // Replaces each value by the sum of all values up to it.
  sums(values) {
    for (let i = 1; i < values.length; i++) values[i] += values[i - 1];
    return values;
  },

  // Returns the first index in [from, to) whose value is greater than `limit`; `to` if there is none.
  above(values, limit, from = 0, to = values.length) {
    while (from < to) {
      const middle = (from + to) >> 1;
      if (values[middle] > limit) to = middle;
      else from = middle + 1;
    }
    return from;
  },
};

const ACTIVITIES = ['compute', 'mpi', 'protocol', 'checkpoint', 'restart', 'lost'];

// The periods of one rank: when they begin, their activities, and the time spent in each activity before.
class Periods {
  constructor(from, doing, end) {
    this.from = from;
    this.doing = doing;
    this.end = end;
    this.before = ACTIVITIES.map(() => new Float64Array(from.length));
    for (let i = 1; i < from.length; i++) {
      for (const sum of this.before) sum[i] = sum[i - 1];
      this.before[doing[i - 1]][i] += from[i] - from[i - 1];
    }
  }
  // Returns the index of the period at that time; -1 before the first.
  at(time) { return Data.above(this.from, time) - 1; }
  until(index) { return index + 1 < this.from.length ? this.from[index + 1] : this.end; }
  // Returns the time in an activity until `time`, which lies in the period `index`.
  spent(activity, index, time) {
    if (index < 0) return 0;
    return this.before[activity][index] + (this.doing[index] === activity ? Math.min(time, this.end) - this.from[index] : 0);
  }
  between(activity, from, to) { return this.spent(activity, this.at(to), to) - this.spent(activity, this.at(from), from); }
}

class Trace {
  constructor(about) {
    Object.assign(this, about);
    this.chunks = new Map();
    this.loaded = false;
  }
  id(name) { return `${this.prefix}-${name}`; }

  async loadPeriods() {
    const from = await Data.numbers(this.id('periods'), Float64Array);
    const doing = await Data.numbers(this.id('doing'), Uint8Array);
    let first = 0;
    this.of = this.periods.map((count) => {
      const own = new Periods(Data.sums(from.subarray(first, first + count)), doing.subarray(first, first + count), this.end);
      first += count;
      return own;
    });
  }

  async loadSteps() {
    this.time = Data.sums(await Data.numbers(this.id('time'), Float64Array));
    this.rank = await Data.numbers(this.id('rank'), Uint16Array); // rank + 1
    this.kind = await Data.numbers(this.id('kind'), Uint8Array);
    this.number = Data.sums(await Data.numbers(this.id('number'), Uint32Array));
    const count = new Uint32Array(this.ranks + 2);
    for (let i = 0; i < this.steps; i++) count[this.rank[i] + 1]++;
    Data.sums(count);
    const order = new Uint32Array(this.steps), next = count.slice();
    for (let i = 0; i < this.steps; i++) order[next[this.rank[i]]++] = i;
    this.stepsOf = Array.from({length: this.ranks + 1}, (_, rank) => order.subarray(count[rank], count[rank + 1]));
    const crash = this.kinds.indexOf('crash');
    this.crashes = [];
    if (crash >= 0)
      for (let i = 0; i < this.steps; i++) if (this.kind[i] === crash) this.crashes.push(i);
  }

  async loadMessages() {
    this.sent = Data.sums(await Data.numbers(this.id('sent'), Uint32Array));
    this.received = await Data.numbers(this.id('received'), Uint32Array); // number of steps later + 1; 0: never
    this.class = await Data.numbers(this.id('class'), Uint8Array);
    this.to = await Data.numbers(this.id('to'), Uint16Array);
    this.bytes = await Data.numbers(this.id('bytes'), Float64Array);
    const control = this.classes.indexOf('control'), suppressed = this.classes.indexOf('suppressed');
    this.sentAt = new Float64Array(this.sent.length);
    this.bytesBefore = new Float64Array(this.sent.length + 1);
    this.controlBefore = new Float64Array(this.sent.length + 1);
    for (let i = 0; i < this.sent.length; i++) {
      this.sentAt[i] = this.time[this.sent[i]];
      this.bytesBefore[i + 1] = this.bytesBefore[i] + (this.class[i] === suppressed ? 0 : this.bytes[i]);
      this.controlBefore[i + 1] = this.controlBefore[i] + (this.class[i] === control ? 1 : 0);
    }
    this.replays = Data.sums(await Data.numbers(this.id('replays'), Uint32Array));
    this.messagesBefore = Uint32Array.from(this.bytesBefore, () => 0); // messages of the program
    for (let i = 0; i < this.sent.length; i++)
      this.messagesBefore[i + 1] = this.messagesBefore[i] + (this.class[i] !== control && this.class[i] !== suppressed ? 1 : 0);
    const writes = await Data.numbers(this.id('writes'), Float64Array);
    this.writesAt = new Float64Array(writes.length / 2);
    this.writing = new Float64Array(writes.length / 2); // writes under way from that step on
    for (let i = 0, step = 0, open = 0; i < writes.length; i += 2) {
      step += writes[i];
      open += writes[i + 1] % 2 ? -(writes[i + 1] + 1) / 2 : writes[i + 1] / 2;
      this.writesAt[i / 2] = this.time[step];
      this.writing[i / 2] = open;
    }
    this.loaded = true;
  }

  // Returns how many messages are sent between two times: {program, control}. All views take their numbers here.
  sentIn(from, to) {
    const first = Data.above(this.sentAt, from - 1e-9), last = Data.above(this.sentAt, to);
    return {program: this.messagesBefore[last] - this.messagesBefore[first], control: this.controlBefore[last] - this.controlBefore[first]};
  }
  // Returns the number of messages of the program in collective calls: the trace has each call as one event. `counts`
  // are the messages of the run's result. A message that a log has sent again counts there as replayed.
  inCollectives(counts) {
    const {program} = this.sentIn(0, this.end), again = Math.max(0, counts.replayed - this.replays.length);
    return Math.max(0, counts.sent - (program - again));
  }

  // Lists the failures: {crashes: [step, ...] of one time, detected: step or -1, back: [rollback, ...], again: the
  // step with which the last of the ranks that went back starts again, or -1}.
  failures() {
    const list = [], [detected, start] = ['detected', 'start'].map((name) => this.kinds.indexOf(name));
    for (const step of this.crashes) {
      const last = list.at(-1);
      if (last && this.time[last.crashes[0]] === this.time[step]) last.crashes.push(step);
      else list.push({crashes: [step], detected: -1, back: [], again: -1});
    }
    list.forEach((failure, i) => {
      const first = failure.crashes[0], next = list[i + 1]?.crashes[0] ?? this.steps;
      for (let step = first; step < next && failure.detected < 0; step++) if (this.kind[step] === detected) failure.detected = step;
      failure.back = this.rollbacks.filter(({from}) => from > first && from < next);
      const started = failure.back.map(({rank, from}) => this.stepsOf[rank + 1].find((step) => step >= from && this.kind[step] === start) ?? -1);
      failure.again = started.includes(-1) ? -1 : Math.max(-1, ...started);
    });
    return list;
  }

  // Returns the text of a step as it is in the trace, without digests and contents.
  async text(step) {
    const chunk = Math.floor(step / this.text_lines);
    if (!this.chunks.has(chunk)) {
      if (this.chunks.size > 15) this.chunks.delete(this.chunks.keys().next().value);
      this.chunks.set(chunk, Data.bytes(this.id(`text-${chunk}`), true).then((bytes) => new TextDecoder().decode(bytes).split('\n')));
    }
    return (await this.chunks.get(chunk))[step % this.text_lines];
  }

  // Returns the event and actions of a step. A control message has what it says in place of its words.
  async told(step) {
    const said = (words, name) => Says.control(this.controls, name, words.slice('words='.length));
    return (await this.text(step)).split(' ').slice(2).join(' ').replace(/\bcontrol peer=\d+ (\S+) (words=\S+)/g,
      (all, name, words) => said(words, name) ? all.replace(words, `"${said(words, name)}"`) : all);
  }

  // Returns the next step from `step` on, or back from it (by -1), whose text has these words; -1: none has.
  async find(words, step, by) {
    for (let i = step; i >= 0 && i < this.steps;) {
      await this.text(i); // the chunk is read
      const chunk = Math.floor(i / this.text_lines), lines = await this.chunks.get(chunk);
      for (; Math.floor(i / this.text_lines) === chunk && i >= 0 && i < this.steps; i += by)
        if (lines[i % this.text_lines].toLowerCase().includes(words)) return i;
    }
    return -1;
  }

  // Returns the step of a rank that is nearest to a time; -1: the rank has none.
  nearest(rank, time) {
    const own = this.stepsOf[rank + 1];
    if (!own.length) return -1;
    let low = 0, high = own.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.time[own[middle]] < time) low = middle + 1;
      else high = middle;
    }
    const after = own[Math.min(low, own.length - 1)], before = own[Math.max(low - 1, 0)];
    return time - this.time[before] < this.time[after] - time ? before : after;
  }

  // Returns the next (by 1) or last (by -1) step of the same rank.
  beside(step, by) {
    const own = this.stepsOf[this.rank[step]];
    let at = Data.above(own, step) - 1 + by;
    at = Math.max(0, Math.min(own.length - 1, at));
    return own[at];
  }

  // Returns "12.5 ms" or "step 12".
  show(time) { return this.timed ? Trace.duration(time) : `step ${Math.round(time)}`; }
  static duration(ns, digits = 6) {
    const size = Math.abs(ns);
    const [unit, name] = size >= 1e9 ? [1e9, 's'] : size >= 1e6 ? [1e6, 'ms'] : size >= 1e3 ? [1e3, 'µs'] : [1, 'ns'];
    return `${Number((ns / unit).toPrecision(digits))} ${name}`;
  }
  length(time) { return this.timed ? Trace.duration(time, 4) : `${Math.round(time)} steps`; }
}

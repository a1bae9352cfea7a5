// The wasm module as functions on texts: Engine.start(module, onProgress) -> an engine. The page, its worker
// and node use it alike.
'use strict';

class Trap extends Error {}

const Engine = {
  // Returns the bytes of a part of the page, which is packed and in base64.
  async unpack(text, format) {
    const packed = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream(format))).arrayBuffer();
  },

  // The functions that the C library asks of its system: the clock, and standard error for a breach.
  system(memory, said) {
    const view = () => new DataView(memory().buffer);
    const calls = {
      environ_sizes_get(count, size) {
        view().setUint32(count, 0, true);
        view().setUint32(size, 0, true);
        return 0;
      },
      environ_get: () => 0,
      clock_time_get(id, precision, at) {
        view().setBigUint64(at, BigInt(Math.round(performance.now() * 1e6)), true);
        return 0;
      },
      fd_write(file, list, count, written) {
        let sum = 0;
        for (let i = 0; i < count; i++) {
          const from = view().getUint32(list + 8 * i, true), size = view().getUint32(list + 8 * i + 4, true);
          said.push(new TextDecoder().decode(new Uint8Array(memory().buffer, from, size)));
          sum += size;
        }
        view().setUint32(written, sum, true);
        return 0;
      },
      proc_exit(code) { throw new Trap(said.join('').trim() || `it ended with code ${code}`); },
    };
    const NO_FILE = 8;
    return new Proxy({}, {get: (_, name) => calls[name] || (() => NO_FILE)});
  },

  // Turns lines of a run into steps {line, violation}; a step that shows no violation has ''.
  steps(lines) {
    const steps = [];
    for (const line of lines)
      if (line.startsWith('violation ')) steps[steps.length - 1].violation = line;
      else steps.push({line, violation: ''});
    return steps;
  },

  // Returns what only the end of a known run shows, as {from, count, line}. The steps from `from` on repeat for
  // ever; `from` is null if none repeat. Returns null if the steps show all.
  ending(world, steps) {
    const again = world.again > 0;
    if (!world.violation || (!again && (!world.real || steps.some((step) => step.violation)))) return null;
    return {from: again ? steps.length - world.again : null, count: steps.length, line: world.violation};
  },

  // Returns the text of a trace. `times` are those of the first steps, and later steps have the last of them;
  // without `times`, steps have numbers. `ending` comes from the function above; `judged` is what the last
  // state violates, or null.
  trace(header, steps, times, ending, judged) {
    const out = [header];
    steps.forEach((step, i) => {
      out.push(`${times.length ? times[Math.min(i, times.length - 1)] : i} ${step.line}\n`);
      if (step.violation) out.push(`${step.violation}\n`);
    });
    if (ending && ending.from !== null) out.push(`again from=${ending.from}\n`);
    if (ending) out.push(`${ending.line}\n`);
    if (judged && !ending) out.push(`violation ${judged.property} rank=${judged.rank}: ${judged.text}\n`);
    return out.join('');
  },

  async start(module, onProgress) {
    const said = [];
    let e = null;
    const instance = await WebAssembly.instantiate(module, {
      wasi_snapshot_preview1: Engine.system(() => e.memory, said),
      page: {progress: onProgress || (() => {})},
    });
    e = instance.exports;
    e._initialize();
    const text = (at) => {
      const bytes = new Uint8Array(e.memory.buffer, at);
      return new TextDecoder().decode(bytes.subarray(0, bytes.indexOf(0)));
    };
    const give = (bytes) => {
      const room = e.play_room(bytes.length) >>> 0;
      new Uint8Array(e.memory.buffer, room, bytes.length).set(bytes); // the buffer is asked for again, as memory may have grown
    };
    const size = e.play_move_bytes();
    const call = (name, ...values) => text(e[name](...values) >>> 0);
    const refuse = (wrong) => { if (wrong) throw new Trap(wrong); };
    return {
      moveBytes: size,
      begin(description) { give(new TextEncoder().encode(description + '\0')); refuse(call('play_begin')); },
      know(moves) { give(moves); e.play_know(moves.length / size); },
      header: () => call('play_header'),
      view: () => JSON.parse(call('play_view')),
      take: (move) => call('play_take', move),
      go: (at) => { call('play_go', at, 0); },
      lines: (at) => call('play_go', at, 1).split('\n').slice(0, -1),
      lists: () => JSON.parse(call('play_lists') || 'null'),
      moves: (count) => new Uint8Array(e.memory.buffer, e.play_moves() >>> 0, count * size).slice(),
      // Returns the first word of the state at the rank of each of the first `count` moves, before and after it.
      phases: (count) => new Uint32Array(e.memory.buffer.slice(e.play_phases() >>> 0, (e.play_phases() >>> 0) + 8 * count)),
      // Returns the steps, of the first `count`, at which a mutant does otherwise than the protocol with the rule.
      differing: (count) => e.play_compares() ? [...Array(count).keys()].filter((step) => call('play_difference', step)) : [],
      // Returns how the protocol without a mutant's flaw would have taken a step that has been taken: lines "+ACTION" and
      // "-ACTION", or "state" and two states (session.h); '' if it would have done the same.
      difference: (step) => call('play_difference', step),
      draw: (seed, before, count) => e.play_draw(seed, before, count),
      walk: (seed, steps) => call('play_walk', seed, steps),
      explore: (most) => JSON.parse(call('play_explore', most)),
    };
  },
};
if (typeof module === 'object') module.exports = {Engine, Trap};

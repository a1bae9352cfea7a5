// The space-time diagram: lines of a trace to SVG. Time runs to the right, a column for each step.
'use strict';

const Diagram = {
  COLUMN: 34, LEFT: 6, TOP: 34,

  // {step, rank, event, words, sends, takes, actions} of a line "RANK EVENT... | ACTION... # DIGEST"
  read(line, step) {
    const [move, ...actions] = line.split(' # ')[0].split(' | ');
    const words = move.split(' ');
    const number = (text) => (/ @(\d+)/.exec(text) || [])[1];
    const event = words[1], own = number(move);
    const sends = actions.map((text) => ({number: number(text), control: text.startsWith('control')}))
      .filter((sent) => sent.number);
    if (event === 'send' && own) sends.push({number: own, control: false});
    const takes = (event === 'arrived' || event === 'control' || event === 'lie') ? own : undefined;
    const value = (key) => (new RegExp(` ${key}=(-?\\d+)`).exec(move) || [])[1];
    return {step, rank: words[0] === '-' ? -1 : Number(words[0]), event, sends, takes, actions, value, line};
  },

  // What spans more than one step: messages, recovery lines, times in which a rank is down.
  relate(steps, ranks) {
    const sent = new Map(), messages = [], cuts = new Map(), downs = [];
    const down = new Array(ranks).fill(null), captures = Array.from({length: ranks}, () => []);
    for (const s of steps) {
      for (const m of s.sends) sent.set(m.number, {from: s, control: m.control, taken: false});
      const m = s.takes && sent.get(s.takes);
      if (m && s.event !== 'lie') { m.taken = true; messages.push({from: m.from, to: s, control: s.event === 'control'}); }
      if (s.event === 'captured') {
        const n = s.value('checkpoint');
        captures[s.rank].push(s.step);
        if (!cuts.has(n)) cuts.set(n, {checkpoint: n, at: new Array(ranks), committed: false});
        cuts.get(n).at[s.rank] = s.step;
      }
      if (s.event === 'committed' && cuts.has(s.value('checkpoint'))) cuts.get(s.value('checkpoint')).committed = true;
      if (s.event === 'crash' && s.rank >= 0) down[s.rank] = s.step;
      if (s.actions.some((a) => a.startsWith('roll-back')) && down[s.rank] === null) down[s.rank] = s.step;
      if (s.event === 'start' && down[s.rank] !== null) {
        downs.push({rank: s.rank, from: down[s.rank], to: s.step});
        down[s.rank] = null;
      }
    }
    down.forEach((from, rank) => { if (from !== null) downs.push({rank, from, to: steps.length}); });
    for (const m of sent.values()) if (!m.taken) messages.push({from: m.from, to: null, control: m.control});
    const before = (rank, step) => captures[rank].filter((at) => at < step).length;
    for (const m of messages) {
      if (!m.to || m.control) continue;
      const sender = before(m.from.rank, m.from.step), receiver = before(m.to.rank, m.to.step);
      m.crosses = sender < receiver ? 'late' : sender > receiver ? 'early' : '';
    }
    return {messages, cuts: [...cuts.values()], downs};
  },

  // The picture of what was read, from that step on; `wrong`: a text for the last step, or ''. What
  // began before comes from the left edge.
  draw(steps, begin, ranks, wrong) {
    const D = Diagram, {messages, cuts, downs} = D.relate(steps, ranks), row = ranks > 12 ? 24 : 64, tall = row / 3;
    const x = (step) => Math.max(D.LEFT + (step - begin + 0.5) * D.COLUMN, 0), y = (rank) => D.TOP + rank * row;
    const count = steps.length - begin, width = D.LEFT + Math.max(count + 2, 12) * D.COLUMN, height = D.TOP + ranks * row;
    const escape = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
    const out = [];
    for (let r = 0; r < ranks; r++)
      out.push(`<line class="rank" x1="${D.LEFT}" y1="${y(r)}" x2="${width}" y2="${y(r)}"/>`);
    for (const d of downs.filter(({to}) => to >= begin))
      out.push(`<line stroke="var(--back)" stroke-width="4" x1="${x(d.from)}" y1="${y(d.rank)}" x2="${x(d.to)}" y2="${y(d.rank)}"/>`,
        `<line class="down" x1="${x(d.from)}" y1="${y(d.rank)}" x2="${x(d.to)}" y2="${y(d.rank)}"/>`);
    for (const c of cuts.filter(({at}) => at.some((step) => step >= begin))) {
      const points = c.at.map((step, r) => step === undefined ? '' : `${x(step)},${y(r) - tall} ${x(step)},${y(r) + tall}`);
      out.push(`<polyline class="cut${c.committed ? '' : ' open'}" points="${points.join(' ')}"><title>recovery line ${c.checkpoint}${c.committed ? '' : ', not committed'}</title></polyline>`);
    }
    for (const m of messages.filter(({from, to}) => (to || from).step >= begin)) {
      const x1 = x(m.from.step), y1 = y(m.from.rank);
      const peer = m.to ? m.to.rank : Number(/peer=(\d+)/.exec(m.from.line)?.[1] ?? m.from.rank);
      const x2 = m.to ? x(m.to.step) : x1 + D.COLUMN / 2, y2 = m.to ? y(peer) : y1 + Math.sign(peer - m.from.rank) * 18;
      const kinds = ['message', m.control ? 'control' : '', m.crosses || '', m.to ? '' : 'flight'].filter(Boolean).join(' ');
      out.push(`<path class="${kinds}" marker-end="url(#tip)" d="M${x1},${y1} L${x2},${y2}"/>`);
    }
    for (const s of steps.slice(begin)) {
      const cx = x(s.step), cy = s.rank < 0 ? y(0) - 22 : y(s.rank), last = s.step === steps.length - 1;
      const kind = s.event === 'crash' ? 'crash' : s.event === 'captured' ? 'capture' : '';
      const shape = kind === 'crash' ? `<path d="M${cx - 6},${cy - 6} L${cx + 6},${cy + 6} M${cx + 6},${cy - 6} L${cx - 6},${cy + 6}"/>`
        : kind === 'capture' ? `<rect x="${cx - 6}" y="${cy - 6}" width="12" height="12"/>`
          : `<circle cx="${cx}" cy="${cy}" r="5"/>`;
      out.push(`<g class="event ${kind}${last ? ' last' : ''}" data-step="${s.step}">${shape}<title>${s.step} ${escape(s.line)}</title></g>`);
    }
    if (wrong) out.push(`<text class="wrong" text-anchor="middle" x="${Math.max(x(steps.length - 1), 80)}" y="16">✗ ${escape(wrong)}</text>`);
    const names = Array.from({length: ranks}, (_, r) => `<span style="top: ${y(r) - 9}px">rank ${r}</span>`);
    return `<div class="names" aria-hidden="true">${names.join('')}</div><svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" role="img" aria-label="Space-time diagram of ${count} steps of ${ranks} ranks; the list below has the same steps as text">` +
      '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="context-stroke"/></marker></defs>' +
      out.join('') + '</svg>';
  },
};

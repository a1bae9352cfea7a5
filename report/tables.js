// Makes tables and texts of the page, from the object that describes the folder.
'use strict';

function element(name, content, properties = {}) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...[content].flat().filter((part) => part !== null && part !== undefined));
  return made;
}

const Tables = {
  // Lets a long table end with a whole row where it begins to scroll.
  whole: new ResizeObserver((entries) => entries.forEach(({target}) => {
    const most = 24 * parseFloat(getComputedStyle(document.documentElement).fontSize), top = target.getBoundingClientRect().top - target.scrollTop;
    const ends = [...target.querySelectorAll('tr')].map((row) => row.getBoundingClientRect().bottom - top), bar = target.offsetHeight - target.clientHeight;
    const fits = ends.filter((end) => end + bar <= most).at(-1);
    target.style.maxHeight = ends.at(-1) + bar > most && fits ? `${fits + bar}px` : '';
  })),

  // Makes a table of rows of cells. The first cell of a row is its head; columns of numbers stand to the right.
  table(caption, heads, rows) {
    const isNumber = (content) => typeof content === 'number' || /^[-+]?[\d.,]+( ?(%|s|ms|µs|ns))?$/.test(content);
    const side = heads.map((_, i) => i && rows.every((row) => row[i] === '' || row[i] === null || isNumber(row[i])) ? 'number' : '');
    const cell = (content, i) => element(i ? 'td' : 'th', content instanceof Node ? content : String(content ?? ''),
      {className: side[i], ...(i ? {} : {scope: 'row'})});
    const head = element('thead', element('tr', heads.map((text, i) => element('th', text, {scope: 'col', className: side[i]}))));
    const body = element('tbody', rows.map((row) => element('tr', row.map(cell))));
    const made = element('table', [element('caption', element('span', caption)), head, body]);
    const box = element('div', made, {className: 'table', tabIndex: 0, role: 'group', ariaLabel: caption});
    Tables.whole.observe(box);
    return box;
  },

  // Makes a line of a legend.
  line(color, width, dash) {
    const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg'), line = document.createElementNS('http://www.w3.org/2000/svg', 'path');
    for (const [key, value] of Object.entries({width: 26, height: 10, 'aria-hidden': 'true'})) svg.setAttribute(key, value);
    line.setAttribute('d', 'M1,5 H25');
    line.setAttribute('style', `stroke: ${color}; stroke-width: ${width}; stroke-dasharray: ${dash.join(' ') || 'none'}`);
    svg.append(line);
    return svg;
  },

  swatch(name) { return element('span', '', {className: 'swatch', style: `background: var(--${name})`, ariaHidden: 'true'}); },
  seconds(value) { return Trace.duration(value * 1e9, 4); },
  // Shows a share of the time. It is a sum of rounded nanoseconds, so its last digits mean nothing.
  share(ns) { return Trace.duration(ns, 4); },
  percent(value) { return `${(100 * value).toFixed(1)} %`; },

  // Returns the text of a violation with the words of its sentence in a narration.
  numbered: (text) => (text || '').replace(/@(?=\d)/g, 'message ').replace(/ \(histories .*/, ''),

  // Makes a list of [name, value] pairs.
  facts(pairs) {
    return element('dl', pairs.filter(([, value]) => value !== null && value !== undefined && value !== '')
      .map(([name, value]) => element('div', [element('dt', name), element('dd', value instanceof Node ? value : String(value))])));
  },

  command(...lines) {
    return lines.map((line) => element('pre', element('code', line), {tabIndex: 0, ariaLabel: 'Command'}));
  },

  // Tells where the time went, in the whole run and in the window.
  times(result, trace, view) {
    const bar = (name, share) => element('span', '', {className: 'bar', style: `width: ${(100 * share).toFixed(2)}%; background: var(--${name})`, ariaHidden: 'true'});
    const all = result.simulated_s || 1;
    const inside = ACTIVITIES.map((_, activity) => trace ? trace.of.reduce((sum, periods) =>
      sum + periods.between(activity, view.from, view.to), 0) / trace.ranks : 0);
    const length = trace ? inside.reduce((sum, part) => sum + part, 0) || 1 : 1;
    return Tables.table('Seconds of a rank, the mean of all', ['activity', 'in the run', 'share', 'drawn', ...(trace ? ['in the window', 'share'] : [])],
      ACTIVITIES.map((name, i) => [element('span', [Tables.swatch(name), ` ${name}`]), Tables.share(1e9 * result.time_s[name]),
        Tables.percent(result.time_s[name] / all), bar(name, result.time_s[name] / all),
        ...(trace ? [Tables.share(inside[i]), Tables.percent(inside[i] / length)] : [])]));
  },

  ofRanks(trace, view) {
    return Tables.table('In the window, by rank', ['rank', ...ACTIVITIES], trace.of.map((periods, rank) =>
      [rank, ...ACTIVITIES.map((_, activity) => Trace.duration(periods.between(activity, view.from, view.to), 4))]));
  },

  phases(result) {
    return Tables.table('Phases of each checkpoint, over the ranks that were in them', ['checkpoint', 'phase', 'ranks', 'least', 'mean', 'most'],
      result.phases.map((p) => [p.checkpoint, p.phase, p.ranks, Tables.seconds(p.min_s), Tables.seconds(p.mean_s), Tables.seconds(p.max_s)]));
  },

  lines(trace) {
    return Tables.table('Captures of each recovery line', ['checkpoint', 'ranks', 'first capture', 'last capture', 'committed'],
      trace.lines_of_recovery.map((cut) => {
        const times = cut.at.filter((step) => step >= 0).map((step) => trace.time[step]);
        const ends = times.reduce(([low, high], time) => [Math.min(low, time), Math.max(high, time)], [Infinity, -Infinity]);
        return [cut.checkpoint, times.length, trace.show(ends[0]), trace.show(ends[1]), cut.committed ? 'yes' : 'no'];
      }));
  },

  violations(trace) {
    return Tables.table('Violations in the trace', ['property', 'rank', 'text'],
      trace.violations.slice(0, 100).map((v) => [v.property, v.rank < 0 ? '-' : v.rank, Tables.numbered(v.text)]));
  },

  // Makes a table of the failures, with what each has cost.
  failures(trace) {
    const show = (step) => step < 0 ? 'never' : trace.show(trace.time[step]), range = (values, text) => {
      const [least, most] = [Math.min(...values), Math.max(...values)];
      return !values.length ? '-' : least === most ? text(least) : `${text(least)} to ${text(most)}`;
    };
    // Tells what the ranks that go back lose, on average, and how much of it they do after the crash.
    const lost = (back, crash) => {
      const since = (begin) => back.reduce((sum, {rank, from, to}) => sum + (to < 0 ? 0
        : trace.of[rank].between(ACTIVITIES.indexOf('lost'), Math.max(begin, trace.time[to]), trace.time[from])), 0) / back.length;
      return `${trace.length(since(0))}, of it ${trace.length(since(trace.time[crash]))} after the crash`;
    };
    return Tables.table('Failures', ['crash', 'ranks', 'detected', 'ranks that go back', 'to checkpoint', 'captured', 'lost, the mean of these ranks', 'the last starts again'],
      trace.failures().slice(0, 100).map(({crashes, detected, back, again}) => {
        const captured = back.filter(({to, checkpoint}) => to >= 0 && checkpoint).map(({to}) => trace.time[to]);
        return [show(crashes[0]), crashes.map((step) => trace.rank[step] - 1).join(', '), show(detected), String(new Set(back.map(({rank}) => rank)).size),
          back.length ? range(back.map(({checkpoint}) => checkpoint), (number) => number ? String(number) : 'the beginning') : '-',
          captured.length ? trace.show(Math.max(...captured)) : '-',
          back.length ? lost(back, crashes[0]) : '-', back.length ? show(again) : '-'];
      }));
  },

  // Makes a table of the messages. `counts` are those of the run's result, or null.
  messages(trace, view, counts) {
    const first = Data.above(trace.sentAt, view.from - 1e-9), last = Data.above(trace.sentAt, view.to);
    const rows = trace.classes.map((name) => [name, 0, 0, 0]);
    for (let i = 0; i < trace.sent.length; i++) {
      const row = rows[trace.class[i]];
      row[1]++;
      row[2] += trace.bytes[i];
      row[3] += i >= first && i < last;
    }
    const replays = trace.replays.reduce((sum, step) => sum + (trace.time[step] >= view.from && trace.time[step] <= view.to), 0);
    const all = trace.sentIn(0, trace.end).program, calls = counts ? trace.inCollectives(counts) : 0;
    const sums = [['of the program, in the trace', all, '', trace.sentIn(view.from, view.to).program],
      ...(calls ? [['in collective calls: the trace has each call as one event', calls, '', '']] : []),
      ...(counts ? [['sent by the program, as in the summary', counts.sent, '', '']] : [])];
    return Tables.table('Messages, as the trace has them', ['class', 'messages', 'bytes', 'sent in the window'],
      [...rows.filter((row) => row[1]), ['given from a log', trace.replays.length, '', replays], ...sums].map((row) =>
        row.map((value) => typeof value === 'number' ? value.toLocaleString('en') : value)));
  },

  // Makes a table of a text with commas, which has quotes only around cells.
  csv(text) {
    return text.trim().split('\n').map((line) => [...line.matchAll(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g)].map((found) => found[1])
      .slice(0, -1).map((cell) => cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell));
  },

  // Turns the Markdown that replication.md uses into HTML: headings, tables, lists, code, links.
  markdown(text) {
    const inline = (line) => line.split(/(`[^`]*`|\[[^\]]*\]\([^)]*\))/).map((part) => {
      if (part.startsWith('`')) return element('code', part.slice(1, -1));
      const link = /^\[([^\]]*)\]/.exec(part);
      return link ? link[1] : part;
    });
    const cells = (line) => line.split('|').slice(1, -1).map((cell) => cell.trim());
    const lines = text.split('\n'), made = [];
    let heading = '';
    for (let i = 0; i < lines.length; i++) {
      const title = /^(#+) (.*)/.exec(lines[i]);
      if (title) {
        heading = title[2];
        if (title[1].length > 1) made.push(element(title[1].length > 2 ? 'h4' : 'h3', inline(heading)));
      } else if (lines[i].startsWith('|')) {
        const heads = cells(lines[i]).map((head) => head || 'verdict'), rows = [];
        for (i += 2; (lines[i] || '').startsWith('|'); i++) rows.push(cells(lines[i]).map((cell, at) => at ? cell : element('span', inline(cell))));
        made.push(Tables.table(heading, heads, rows));
      } else if (lines[i].startsWith('- ')) {
        made.push(element('ul', element('li', inline(lines[i].slice(2)))));
      } else if (lines[i].trim()) {
        made.push(element('p', inline(lines[i])));
      }
    }
    return made;
  },

  // Shows a picture of DIR as an image, so that no script in it runs.
  picture(name, svg, about) {
    return element('figure', [element('img', [], {src: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`, alt: about}), element('figcaption', name)]);
  },
};

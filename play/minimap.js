// Draws the whole run in a strip: its captures, commits, crashes and rollbacks, and a frame around the steps
// that the diagram shows. A click goes to a step.
'use strict';

const Minimap = {
  ROW: 4, TOP: 3,
  KINDS: ['captured', 'committed', 'roll-back', 'detected', 'crash'], // later ones are painted over earlier ones

  // Returns the ends of the frame around the steps from `begin` until before `end`.
  frame(count, begin, end, width) {
    const x = (step) => Math.round((step + 0.5) / count * (width - 2)) + 1, left = x(begin) - 1;
    return {left, right: Math.max(x(Math.max(end - 1, begin)) + 1, left + 3)};
  },

  // Returns {html, shown}: `shown` are the marks in use. `begin` and `end` bound the steps of the diagram; `wrong`
  // is the step that violates, or null. If marks of a kind fall on one pixel of a rank, only one is painted.
  draw(steps, ranks, begin, end, wrong, width) {
    const {left, right} = Minimap.frame(steps.length, begin, end, width);
    const {ROW, TOP} = Minimap, rows = Math.min(ranks, 16), height = 2 * TOP + (rows + 1) * ROW;
    const x = (step) => Math.round((step + 0.5) / steps.length * (width - 2)) + 1;
    const y = (rank) => rank < 0 ? TOP : TOP + ROW * (1 + Math.floor(rank * rows / ranks));
    const marks = new Map(Minimap.KINDS.map((kind) => [kind, new Set()])), shown = new Set(['frame']);
    for (const step of steps) marks.get(Diagram.kind(step))?.add(`M${x(step.step)},${y(step.rank)}v${ROW}`);
    const paths = [...marks].filter(([, places]) => places.size).map(([kind, places]) => {
      shown.add(`strip-${kind}`);
      return `<path class="strip ${kind === 'roll-back' ? 'back' : kind}" d="${[...places].join('')}"/>`;
    });
    if (wrong !== null) {
      shown.add('strip-wrong');
      paths.push(`<path class="strip wrong" d="M${x(wrong)},0V${height}"/>`);
    }
    return {shown, html: `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" role="img" aria-label="The whole run, ${steps.length} steps; the frame is around steps ${begin} to ${Math.max(end - 1, begin)}">` +
      `${paths.join('')}<rect class="frame" x="${left}" y="0.5" width="${right - left}" height="${height - 1}"/></svg>`};
  },

  MARKS: {
    frame: ['<rect class="frame" x="6" y="1" width="14" height="10"/>', 'what the diagram shows'],
    'strip-captured': ['<path class="strip captured" d="M13,1V11"/>', 'captured'],
    'strip-committed': ['<path class="strip committed" d="M13,1V11"/>', 'committed'],
    'strip-roll-back': ['<path class="strip back" d="M13,1V11"/>', 'rolls back'],
    'strip-detected': ['<path class="strip detected" d="M13,1V11"/>', 'crash detected'],
    'strip-crash': ['<path class="strip crash" d="M13,1V11"/>', 'crash'],
    'strip-wrong': ['<path class="strip wrong" d="M13,0V12"/>', 'the violation'],
  },
};

// Shows which transitions of the protocol's state diagram the runs on this page have taken.
'use strict';

const Coverage = {
  transitions: [], // {from, to, event} by number: plots/states.h; none if the source of the protocol tells none
  names: [],     // of the phases, by number
  ever: new Set(), // transitions that some run on this page has taken

  MARKS: {
    taken: ['<path class="way taken" d="M1,6 H25"/>', 'taken by the present run'],
    earlier: ['<path class="way earlier" d="M1,6 H25"/>', 'taken by another run on this page'],
    never: ['<path class="way" d="M1,6 H25"/>', 'not taken yet'],
  },

  LEAST: 0.6, // a diagram that is smaller than this share of its size cannot be read

  // Takes the title out of the diagram, which does not wrap there, and makes the diagram as wide as its box.
  fit(box, name) {
    const svg = box.querySelector('svg'), graph = svg.querySelector('g');
    const titles = [...graph.children].filter((part) => part.tagName === 'text');
    name.textContent = titles.map((part) => part.textContent.trim()).join(' ').trim();
    titles.forEach((part) => part.remove());
    graph.querySelector(':scope > polygon')?.remove(); // the background
    const {x, y, width, height} = graph.getBBox(), at = graph.transform.baseVal.consolidate()?.matrix;
    svg.setAttribute('viewBox', `${x + (at?.e || 0) - 4} ${y + (at?.f || 0) - 4} ${width + 8} ${height + 8}`);
    for (const side of ['width', 'height']) svg.removeAttribute(side);
    const size = (width + 8) * 4 / 3;
    svg.style.cssText = `display: block; width: 100%; min-width: ${Math.round(Coverage.LEAST * size)}px; max-width: ${Math.round(size)}px`;
  },

  // Returns the transitions of a shortest way between two phases: one step may pass several. Among transitions
  // between the same two phases those count that name the event of the step, if there are any.
  way(from, to, event) {
    const {transitions} = Coverage, came = new Map([[from, null]]), queue = [from];
    while (queue.length && !came.has(to)) {
      const at = queue.shift();
      for (const next of transitions)
        if (next.from.toLowerCase() === at && !came.has(next.to.toLowerCase())) {
          came.set(next.to.toLowerCase(), at);
          queue.push(next.to.toLowerCase());
        }
    }
    const out = [];
    for (let at = to; came.get(at); at = came.get(at)) {
      const between = transitions.map((next, i) => ({next, i})).filter(({next}) => next.from.toLowerCase() === came.get(at) && next.to.toLowerCase() === at);
      const named = between.filter(({next}) => next.event.split(/[ ,]+/).includes(event));
      out.push(...(named.length ? named : between).map(({i}) => i));
    }
    return out;
  },

  // Returns, for each transition that the steps take, the first step that does. `phases` has two words for each
  // step; a start or a crash is no transition.
  taken(steps, phases) {
    const {names} = Coverage, out = new Map();
    steps.forEach((step, i) => {
      const from = names[phases[2 * i]], to = names[phases[2 * i + 1]];
      if (step.rank < 0 || from === to || !from || !to || step.event.name === 'crash') return;
      for (const transition of Coverage.way(from, to, step.event.name)) if (!out.has(transition)) out.set(transition, step.step);
    });
    for (const transition of out.keys()) Coverage.ever.add(transition);
    return out;
  },

  // Returns how each transition is marked, and the sentence below the diagram.
  marks(taken) {
    const {transitions} = Coverage;
    const marks = transitions.map((_, i) => taken.has(i) ? 'taken' : Coverage.ever.has(i) ? 'earlier' : 'never');
    const name = (i) => `${transitions[i].from} → ${transitions[i].to}`;
    const never = marks.map((mark, i) => mark === 'never' ? name(i) : '').filter(Boolean);
    const now = marks.filter((mark) => mark === 'taken').length, all = transitions.length;
    const text = now === all ? `The present run has taken all ${all} transitions.`
      : `The present run has taken ${now} of ${all} transitions. ` + (never.length ? `No run on this page has taken ${never.join(', ')}.` : 'Other runs on this page have taken the others.');
    return {marks, text};
  },
};
if (typeof module === 'object') module.exports = {Coverage};

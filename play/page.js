// The page of `recline play`: all that it shows follows from the engine's view after each click.
'use strict';

globalThis.ready = (async () => {
  const $ = (id) => document.getElementById(id);
  const world = JSON.parse($('world').textContent);
  const text = async (id, format) => new TextDecoder().decode(await Engine.unpack($(id).textContent, format));
  const layouts = {...JSON.parse(await text('layouts', 'gzip')), ...JSON.parse($('own').textContent || '{}')};
  const properties = [...new Set([...world.description.matchAll(/^property (.*)$/gm)].map((match) => match[1]))];
  const BEHIND = 300, AHEAD = 50; // number of steps shown before and behind the present one
  const NAMES = 4.6; // in rem, as .names in page.css
  const WHOLE = 60;  // most steps of a list that is shown whole
  const module = await WebAssembly.compile(await Engine.unpack($('module').textContent, 'gzip'));
  const given = new Uint8Array(await Engine.unpack($('moves-known').textContent, 'deflate'));
  const times = (await text('times', 'deflate')).split('\n').slice(0, -1);
  const engine = await Engine.start(module);
  Story.words = world.words;
  Terms.take(JSON.parse(await text('glossary', 'gzip')));
  let steps = [];    // {line, violation} of all known moves
  let view = null;
  let ending = null; // the ending that only the end of a run shows (Engine.ending)
  let told = null;   // {steps, history} of all known steps (Story); null: the steps have changed
  let kept = 0;      // number of the given moves with which the run still begins
  let draws = 0;
  let unfolded = false; // whether fields that are 0 are shown
  let column = 1;    // width of a step in the diagram

  // ---- texts ----

  const word = (text, key) => (new RegExp(`(?:^| )${key}=(\\S+)`).exec(text) || [])[1];

  function explain(move) {
    const rank = `rank ${move.rank}`, text = move.text, name = text.split(' ')[0];
    const peer = move.peer === -1 ? 'any rank' : `rank ${move.peer}`;
    const message = move.message ? ` @${move.message}` : '';
    const checkpoint = word(text, 'checkpoint') ? ` ${word(text, 'checkpoint')}` : '';
    const event = {
      start: () => `Start ${rank}${checkpoint ? ` from checkpoint${checkpoint}` : ''}`,
      down: () => `Tell ${rank} that ${peer} has failed`,
      timer: () => `Time for a checkpoint: ${rank}`,
      send: () => `${rank} sends to ${peer}`,
      receive: () => `${rank} posts a receive from ${peer}`,
      choice: () => `The choice of ${rank} comes out as ${word(text, 'outcome') || 0}`,
      'safe-point': () => `${rank} is at a safe point`,
      member: () => `${rank} joins communicator ${word(text, 'comm')}`,
      collective: () => `${rank} makes a collective call`,
      collected: () => `The collective call of ${rank} completes`,
      arrived: () => `Deliver message${message} of ${peer} to ${rank}`,
      control: () => `Deliver control message${message} ${text.split(' ').slice(1).find((w) => !w.includes('=')) || ''} of ${peer} to ${rank}`,
      captured: () => `The image of checkpoint${checkpoint} of ${rank} is in memory`,
      durable: () => `The ${word(text, 'part') || 'image'} of checkpoint${checkpoint} of ${rank} is durable`,
      committed: () => `Checkpoint${checkpoint} is committed`,
    };
    const kind = {
      crash: () => `Crash ${rank}${move.writes ? ` (writes end as ${move.writes})` : ''}`,
      detect: () => text.startsWith('ended') ? `The process of ${rank} is ended` : `Notice the crash${move.rank < 0 ? '' : ` of ${rank}`}${text.endsWith('falsely') ? ', which is none' : ''}`,
      fault: () => `Fault: ${text}${message}`,
      sent: () => `The synchronous send of ${rank} ends`,
      finish: () => `${rank} finishes`,
    };
    const said = (kind[move.kind] || event[name] || (() => text))();
    const cut = move.cut >= 0 ? `, and crash after ${move.cut} of its effects` : '';
    const early = text.endsWith(' early') ? ', told too early' : '';
    return said[0].toUpperCase() + said.slice(1) + cut + early;
  }

  // ---- taking ----

  const isFault = (move) => move.kind === 'crash' || move.kind === 'fault' || move.fault !== 0;

  function add(number) {
    steps.length = view.at;
    steps.push(...Engine.steps(engine.take(number).split('\n')));
    if (times.length > view.at) times.length = Math.max(view.at, 1);
    ending = told = null;
    kept = Math.min(kept, view.at);
  }

  function take(number) {
    add(number);
    show();
  }

  function go(at) {
    engine.go(Math.max(0, Math.min(at, steps.length)));
    show();
  }

  function walk(count) {
    const seed = Number($('seed').value) >>> 0;
    for (let i = 0; i < count; i++) {
      const open = view.moves.map((move, index) => ({move, index})).filter((m) => !m.move.idle);
      if (!open.length) break;
      const chosen = open[engine.draw(seed, draws++, open.length)];
      add(chosen.index);
      view = engine.view();
      if (steps[view.at - 1].violation || view.judged) break;
    }
    show();
  }

  // ---- searching, in a worker ----

  let worker = null;

  function stop(text) {
    if (worker) worker.terminate();
    worker = null;
    $('stop').hidden = true;
    $('search').disabled = false;
    $('found').textContent = text;
  }

  const WORK = `
    onmessage = async ({data}) => {
      try {
        const engine = await Engine.start(data.module, (states, depth) => postMessage({states, depth}));
        engine.begin(data.description);
        engine.know(data.moves);
        engine.go(data.at);
        const result = engine.explore(0);
        postMessage({result, moves: engine.moves(result.from + result.moves)});
      } catch (error) {
        postMessage({error: String(error.message || error)});
      }
    };`;

  function found({result, moves}) {
    const counts = `${result.states.toLocaleString('en')} states, ${result.transitions.toLocaleString('en')} transitions, ${result.seconds.toFixed(1)} s`;
    if (result.verdict === 'inconclusive') return stop(`The bound on memory was reached: ${counts}.`);
    if (result.verdict === 'holds') return stop(`No violation can be reached from here: ${counts}.`);
    engine.begin(world.description);
    engine.know(moves);
    steps = Engine.steps(engine.lines(result.from + result.moves));
    ending = Engine.ending(result, steps);
    told = null;
    kept = Math.min(kept, result.from);
    stop(`A shortest run to a violation: ${result.moves} more moves (${counts}).`);
    show();
  }

  function search() {
    const source = new Blob([$('engine').textContent, WORK], {type: 'text/javascript'});
    worker = new Worker(URL.createObjectURL(source));
    $('search').disabled = true;
    $('stop').hidden = false;
    $('found').textContent = 'Searching …';
    worker.onmessage = ({data}) => {
      if (data.error) stop(`The search failed: ${data.error}`);
      else if (data.result) found(data);
      else $('found').textContent = `Searching … ${data.states.toLocaleString('en')} states, depth ${data.depth}`;
    };
    worker.onerror = (error) => stop(`The search failed: ${error.message}`);
    worker.postMessage({module, description: world.description, moves: engine.moves(view.at), at: view.at});
  }

  // ---- the trace ----

  const trace = () => Engine.trace(engine.header(), steps.slice(0, view.at), times,
    ending && view.at === ending.count ? ending : null, view.judged);

  function save() {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([trace()], {type: 'text/plain'}));
    link.download = `${world.name}.trace`;
    link.click();
  }

  // ---- the address: the present step, and the moves that the page was not given ----

  const MOST = 5000; // most moves in an address
  const base64 = (bytes) => btoa(String.fromCharCode(...bytes)).replace(/\+/g, '-').replace(/\//g, '_');

  async function address() {
    const at = view.at, known = steps.length, more = engine.moves(known).slice(kept * engine.moveBytes);
    let text = `#at=${at}`;
    if (more.length && known - kept <= MOST) {
      const packed = new Response(new Blob([more]).stream().pipeThrough(new CompressionStream('deflate')));
      text += `&from=${kept}&moves=${base64(new Uint8Array(await packed.arrayBuffer()))}`;
    }
    if (view.at !== at || steps.length !== known) return;
    history.replaceState(null, '', text);
    Object.assign($('link'), {href: text, title: `Step ${at} of ${known}`});
  }

  // Opens the state that the address names, or else the one that the page was given.
  async function begin() {
    const asked = new URLSearchParams(location.hash.slice(1)), count = given.length / engine.moveBytes;
    let moves = given, at = asked.has('at') ? Number(asked.get('at')) : world.at;
    kept = count;
    if (asked.has('moves')) {
      const packed = asked.get('moves').replace(/-/g, '+').replace(/_/g, '/');
      const more = new Uint8Array(await Engine.unpack(packed, 'deflate').catch(() => new ArrayBuffer(1)));
      if (more.length % engine.moveBytes) {
        $('found').textContent = 'The address has moves that this page does not know.';
        at = world.at;
      } else {
        kept = Math.min(Number(asked.get('from')), count);
        moves = new Uint8Array([...given.slice(0, kept * engine.moveBytes), ...more]);
      }
    }
    engine.begin(world.description);
    await beginCoverage();
    engine.know(moves);
    steps = Engine.steps(engine.lines(engine.view().count));
    if (kept === count && moves === given) ending = Engine.ending(world, steps);
    look();
    remember();
    go(Number.isInteger(at) ? at : world.at);
    if (world.searches && !asked.has('at')) search();
  }

  // ---- finding ----

  function find(direction) {
    const wanted = $('find').value.trim().toLowerCase(), {steps: all, history: h} = tell();
    const has = (step) => `${Story.tell(step, h, true)} ${step.line}`.toLowerCase().includes(wanted);
    let i = view.at - 1 + direction;
    while (i >= 0 && i < all.length && !has(all[i])) i += direction;
    const found = i >= 0 && i < all.length;
    $('missed').textContent = found ? '' : `No ${direction < 0 ? 'earlier' : 'later'} step has that.`;
    if (found) go(i + 1);
  }

  // ---- showing ----

  function element(tag, text, attributes) {
    const made = Object.assign(document.createElement(tag), attributes);
    if (text !== undefined) made.textContent = text;
    return made;
  }

  function showMoves() {
    const groups = new Map();
    view.moves.forEach((move, index) => {
      const name = move.idle ? 'Changes nothing' : move.rank < 0 ? 'Machine' : `Rank ${move.rank}`;
      if (!groups.has(name)) groups.set(name, []);
      groups.get(name).push({move, index});
    });
    const names = [...groups.keys()].sort((a, b) => (a[0] === 'C') - (b[0] === 'C'));
    let key = 0;
    $('moves').replaceChildren(...names.map((name) => {
      const box = element('fieldset');
      box.append(element('legend', name));
      for (const {move, index} of groups.get(name)) {
        const button = element('button', explain(move), {title: move.text, className: isFault(move) ? 'fault' : ''});
        button.dataset.move = index;
        button.onclick = () => take(index);
        if (++key <= 9) button.append(element('kbd', String(key), {ariaHidden: 'true'}));
        box.append(button);
      }
      return box;
    }));
    if (!view.moves.length) $('moves').textContent = 'None: the run is over.';
  }

  function tell() {
    if (!told) {
      const all = steps.map((step, i) => step.read ||= Story.read(step.line, i));
      told = {steps: all, history: Story.history(all, view.ranks.length)};
    }
    return told;
  }

  function showLines(wrong, differing) {
    const from = Math.max(0, view.at - BEHIND), {steps: all, history: h} = tell();
    const over = !view.moves.length || wrong !== null;
    $('lines').start = from;
    $('lines').classList.toggle('long', steps.length > WHOLE);
    $('lines').replaceChildren(...steps.slice(from, view.at + AHEAD).map((step, k) => {
      const i = from + k, item = element('li', undefined, {className: i < view.at ? '' : 'ahead'});
      const button = element('button', Story.tell(all[i], h, over), {title: step.line});
      button.onclick = () => go(i + 1);
      item.append(button);
      if ($('raw').checked) item.append(element('code', step.line));
      if (wrong && [all[i].event, ...all[i].actions].some(({number}) => wrong.messages.includes(number))) item.classList.add('offends');
      const otherwise = differing.has(i) ? Story.otherwise(engine.difference(i), all[i], h, reader()) : '';
      if (otherwise) item.append(element('div', otherwise, {className: 'otherwise'}));
      if (step.violation) item.append(element('div', Story.violated(Cause.violation(step.violation, i, times)), {className: 'violation'}));
      else if (wrong && i === view.at - 1) item.append(element('div', Story.violated(wrong), {className: 'violation'}));
      if (i === view.at - 1) item.setAttribute('aria-current', 'step');
      return item;
    }));
    const list = $('lines'), current = list.querySelector('[aria-current]');
    const middle = current ? current.offsetTop - list.clientHeight / 2 : 0; // the list begins with a whole step
    list.scrollTop = ([...list.children].find((item) => item.offsetTop >= middle)?.offsetTop ?? 0) - list.offsetTop;
  }

  const violated = () => Cause.wrong(steps, view, ending, times);

  // Returns a text as nodes, in which each "step 3" is a button that goes there, and a term that `seen` lacks has its
  // meaning as a hint.
  function withSteps(text, seen) {
    return text.split(/(step \d+)/).flatMap((part) => {
      const at = /^step (\d+)$/.exec(part);
      if (at) return [element('button', part, {className: 'to', onclick: () => go(Number(at[1]) + 1)})];
      return Terms.split(part, seen).map((piece) => piece.term ? element('dfn', piece.text, {title: `${piece.term}: ${piece.meaning}`}) : piece);
    });
  }

  // Shows what the terms mean that stand in the story, the steps and the legend.
  function showTerms() {
    const found = Terms.in(['story', 'statement', 'differences', 'lines', 'legend'].map((id) => $(id).textContent).join(' '));
    $('terms').replaceChildren(...found.flatMap(({term, meaning}) => [element('dt', term), element('dd', meaning)]));
    $('terms-box').hidden = !found.length;
  }

  // Keeps the story of the known run, if the state that is shown has a violation.
  function remember() {
    const wrong = violated();
    if (wrong) tell().story = {wrong, parts: Cause.tell(Cause.run(world, engine, view, tell(), wrong, reader()))};
    return wrong;
  }

  // Shows the story of the known run, or else where the missing rule of a mutant shows.
  function showStory() {
    const {story} = tell(), seen = new Set();
    $('story').replaceChildren(...(story ? story.parts : []).flatMap(([name, text]) => {
      const part = element('dd');
      part.append(...withSteps(text, seen));
      return [element('dt', name), part];
    }));
    $('statement').textContent = [story && Cause.isMutant(world) ? '' : world.statement, world.source && `Source: ${world.source}`].filter(Boolean).join(' · ');
    $('differences').replaceChildren(...withSteps(story ? '' : Cause.shows(Cause.run(world, engine, view, tell(), null, reader())), seen));
  }

  function showProperties(wrong) {
    const meaning = (property) => world.words.rules[property]?.text || '';
    const {story} = tell();
    $('verdict').textContent = wrong ? Story.violated(wrong) : `No property is violated so far${story ? `; ${story.wrong.property} is violated by step ${story.wrong.step}` : ''}.`;
    $('verdict').className = wrong ? 'bad' : 'good';
    $('properties').replaceChildren(...properties.map((name) => {
      const bad = wrong && wrong.property === name;
      return element('li', `${bad ? '✗' : '✓'} ${name}`, {className: bad ? 'bad' : 'good', title: meaning(name)});
    }));
  }

  // Returns how to read the protocol's states (Decode.reader).
  function reader() {
    const {name, lists} = engine.lists() || {name: 'own', lists: []};
    return Decode.reader(view.ranks[0].bytes, layouts[name], lists);
  }

  // Adds to the entries of lists, "sent 1, received 2", the fields that are 0 here, and not at every rank or not in
  // the protocol that has the rule which a mutant lacks.
  function withZeros(ranks, read) {
    const compared = view.differing.slice(0, Cause.MOST).map((step) => engine.difference(step).split('\n')).filter(([kind]) => kind === 'state').map(([, right]) => read(right));
    const entry = ([name, text]) => /\[\d+\]$/.test(name) && / /.test(text), list = (name) => name.replace(/\[.*/, '');
    const fields = new Map(), parts = (text) => new Map(text.split(', ').map((field) => [field.replace(/ .*/, ''), field]));
    for (const held of [...ranks, ...compared])
      for (const [name, text] of held.filter(entry)) fields.set(list(name), new Set([...fields.get(list(name)) || [], ...parts(text).keys()]));
    return ranks.map((held) => held.map(([name, text]) => !entry([name, text]) ? [name, text]
      : [name, [...fields.get(list(name))].map((field) => parts(text).get(field) ?? `${field} 0`).join(', ')]));
  }

  // Shows the protocol's state at each rank; values that the last step has changed stand out, and those that are 0 at
  // every rank are folded.
  let known = [];
  function protocolRow() {
    const row = element('tr'), now = [], {state, meaning} = reader(), all = withZeros(view.ranks.map((r) => state(r.state)), state);
    const told = new Set(all.flatMap((held) => held.filter(([, text]) => !Decode.isZero(text)).map(([name]) => name)));
    row.append(element('th', 'protocol', {scope: 'row'}));
    all.forEach((held, rank) => {
      const cell = element('td'), folded = element('details', undefined, {ariaLabel: `Fields that are 0 at rank ${rank}`}), changes = ([name, text]) => known[rank] && known[rank].get(name) !== text;
      for (const [name, text] of held) {
        const line = element('div', `${name}: ${text}`, {title: meaning(name), className: changes([name, text]) ? 'changed' : Decode.isZero(text) ? 'quiet' : ''});
        (told.has(name) || changes([name, text]) ? cell : folded).append(line);
      }
      if (folded.childElementCount) {
        folded.prepend(element('summary', `${folded.childElementCount} fields are 0`));
        folded.open = unfolded;
        folded.ontoggle = () => { unfolded = folded.open; };
        cell.append(folded);
      }
      now.push(new Map(held));
      row.append(cell);
    });
    known = now;
    return row;
  }

  // Shows the invariants, each with what it guards against. The protocol tells only the first one that a rank breaks,
  // so later ones are not known.
  function showInvariants() {
    const broken = view.ranks.map((r) => r.broken), first = Math.min(...broken.filter(Boolean), Infinity);
    $('invariants').replaceChildren(...view.invariants.map(({text, otherwise}, i) => {
      const ranks = broken.map((number, rank) => number === i + 1 ? rank : -1).filter((rank) => rank >= 0);
      const mark = ranks.length ? `✗ (${Cause.ranks(ranks)}) ` : i + 1 < first ? '✓ ' : '? ';
      return element('li', mark + text, {className: ranks.length ? 'bad' : i + 1 < first ? 'good' : '', title: otherwise && `Otherwise ${otherwise}.`});
    }));
    $('invariants-title').textContent = first === Infinity ? `${view.invariants.length} invariants of the protocol hold` : 'Invariants of the protocol';
    $('invariants-box').open ||= first < Infinity;
    $('unknown').hidden = first >= view.invariants.length;
  }

  function showState() {
    const rows = [
      ['process', (r) => r.phase + (r.held ? ', held' : '') + (r.finished ? ', finished' : '') + (r.gave_up ? ', gave up' : '')],
      ...(world.real ? [] : [['next operation', (r) => r.next || '-']]),
      ['receives posted', (r) => r.posted.map((p) => `request ${p.request} from ${p.peer === -1 ? 'anybody' : `rank ${p.peer}`}`).join(', ') || '-'],
      ['incarnation', (r) => r.incarnation],
      ['last checkpoint', (r) => r.line || '-'],
      ['stored', (r) => r.stored.map((s) => `${s.part} ${s.checkpoint}${s.durable ? '' : ' (being written)'}`).join(', ') || '-'],
      ['payloads kept', (r) => r.slots],
      ['invariants', (r) => r.broken ? `number ${r.broken} is broken` : '-'],
    ];
    const table = element('table'), head = element('tr');
    head.append(element('td'), ...view.ranks.map((_, i) => element('th', `rank ${i}`, {scope: 'col'})));
    table.append(head);
    for (const [name, value] of rows) {
      if (view.ranks.every((r) => ['-', 0].includes(value(r)))) continue;
      const row = element('tr');
      row.append(element('th', name, {scope: 'row'}), ...view.ranks.map((r) => element('td', String(value(r)))));
      table.append(row);
    }
    table.append(protocolRow());
    const box = element('div', undefined, {className: 'table', tabIndex: 0, role: 'group', ariaLabel: 'State of each rank'});
    box.append(table);
    const all = `Committed checkpoint: ${view.committed || 'none'}. Incarnation ${view.incarnation}.` +
      (world.real ? '' : ` ${view.crashes} more crashes and ${view.timers} more checkpoints are possible.`);
    $('state').replaceChildren(element('p', all), box);
  }

  // Marks the transitions of the protocol's diagram that the runs on this page have taken.
  function showCoverage() {
    if (!Coverage.transitions.length) return;
    const taken = Coverage.taken(tell().steps.slice(0, view.at), engine.phases(view.at)), {marks, text} = Coverage.marks(taken);
    marks.forEach((mark, i) => {
      const way = document.getElementById(`transition-${i}`);
      way.setAttribute('class', `edge transition ${mark}`);
      if (taken.has(i)) way.dataset.step = taken.get(i);
      else delete way.dataset.step;
    });
    $('taken').textContent = text;
    $('ways-legend').innerHTML = Diagram.legend(new Set(marks), Coverage.MARKS);
  }

  const names = () => parseFloat(getComputedStyle(document.documentElement).fontSize) * NAMES;

  // Returns the steps of the diagram that are in sight, as the diagram scrolls.
  function visible() {
    const begin = Math.max(0, view.at - BEHIND), box = $('diagram'), step = (x) => begin + (x - Diagram.LEFT) / column;
    const from = Math.max(begin, Math.min(view.at - 1, Math.round(step(box.scrollLeft))));
    return {from: Math.max(from, 0), to: Math.max(from, Math.min(view.at, Math.round(step(box.scrollLeft + box.clientWidth - names()))))};
  }

  function moveFrame() {
    const frame = $('minimap').querySelector('.frame'), {from, to} = visible();
    if (!frame) return;
    const {left, right} = Minimap.frame(tell().steps.length, from, to, $('minimap').clientWidth);
    frame.setAttribute('x', left);
    frame.setAttribute('width', right - left);
  }

  function showStrip(wrong) {
    const {steps: all} = tell();
    $('strip').hidden = all.length < 20; // the diagram shows a shorter run at once, on narrow screens, too
    if ($('strip').hidden) return;
    const {from, to} = visible();
    const {html, shown} = Minimap.draw(all, view.ranks.length, from, to, wrong && wrong.step, $('minimap').clientWidth);
    $('minimap').innerHTML = html;
    $('strip-legend').innerHTML = Diagram.legend(shown, Minimap.MARKS);
  }

  // Takes the diagram of the protocol from the page, if it has one and names for its phases.
  async function beginCoverage() {
    const {name} = engine.lists() || {name: 'own'}, phases = layouts[name]?.phases || [];
    const known = (state) => phases.includes(state.toLowerCase());
    if (!world.transitions.length || !world.transitions.every(({from, to}) => known(from) && known(to))) return;
    Coverage.transitions = world.transitions;
    Coverage.names = phases;
    $('ways').innerHTML = await text('states-drawn', 'deflate');
    $('ways').querySelectorAll('title').forEach((title) => title.remove());
    $('coverage').hidden = false;
    Coverage.fit($('ways'), $('ways-name'));
  }

  // Takes the state in which the engine is, and the steps up to it that the protocol without a flaw takes otherwise.
  function look() {
    view = engine.view();
    view.differing = engine.differing(view.at);
  }

  function show() {
    look();
    const wrong = remember(), differing = new Set(view.differing);
    showMoves();
    showLines(wrong, differing);
    showProperties(wrong);
    showStory();
    showInvariants();
    showState();
    const room = $('diagram').clientWidth - names();
    const all = tell(), taken = all.steps.slice(0, view.at);
    const past = view.at === all.steps.length ? all.history : Story.history(taken, view.ranks.length);
    const {html, shown, wide} = Diagram.draw(taken, past, Math.max(0, view.at - BEHIND), view.ranks.length, wrong, room, differing);
    column = wide;
    $('diagram').innerHTML = html;
    $('diagram').scrollLeft = $('diagram').scrollWidth;
    $('legend').innerHTML = Diagram.legend(shown);
    showStrip(wrong);
    showCoverage();
    showTerms();
    $('step').value = view.at;
    $('step').max = steps.length;
    $('when').textContent = `of ${steps.length.toLocaleString('en')}${view.at ? `, the last is step ${view.at - 1}` : ''}${view.at && times.length ? `, at ${times[Math.min(view.at, times.length) - 1]} s` : ''}`;
    for (const [id, able] of [['first', view.at > 0], ['undo', view.at > 0], ['redo', view.at < steps.length], ['last', view.at < steps.length]])
      $(id).disabled = !able;
    address();
  }

  // A window of another width has room for another part of the run. A reader who has scrolled stays there.
  let width = window.innerWidth;
  window.onresize = () => {
    if (window.innerWidth === width || !view) return;
    width = window.innerWidth;
    const box = $('diagram'), left = box.scrollLeft, last = left + box.clientWidth > box.scrollWidth - 2;
    show();
    if (last) return;
    box.scrollLeft = left;
    moveFrame();
  };

  // ---- beginning ----

  $('title').textContent = world.title;
  $('statement').textContent = [world.statement, world.source && `Source: ${world.source}`].filter(Boolean).join(' · ');
  document.title = `${world.name} - recline play`;
  const actions = {
    first: () => go(0), undo: () => go(view.at - 1), redo: () => go(view.at + 1), last: () => go(steps.length),
    export: save, search, stop: () => stop('Stopped.'), walk: () => walk(Number($('length').value)),
  };
  for (const [id, action] of Object.entries(actions)) $(id).onclick = action;
  $('step').onchange = () => go(Number($('step').value));
  $('raw').onchange = () => show();
  $('earlier').onclick = () => find(-1);
  $('later').onclick = () => find(1);
  $('find').onkeydown = (event) => { if (event.key === 'Enter') find(event.shiftKey ? -1 : 1); };
  onhashchange = () => location.reload();
  for (const id of ['diagram', 'ways'])
    $(id).onclick = (event) => {
      const at = event.target.closest('[data-step]');
      if (at) go(Number(at.dataset.step) + 1);
    };
  $('diagram').onscroll = moveFrame;
  $('minimap').onclick = (event) => {
    const box = $('minimap').getBoundingClientRect();
    go(Math.ceil((event.clientX - box.left) / box.width * steps.length));
  };
  document.addEventListener('keydown', (event) => {
    if (event.target.closest('input') || event.ctrlKey || event.altKey || event.metaKey) return;
    const key = {ArrowLeft: 'undo', ArrowRight: 'redo', Home: 'first', End: 'last'}[event.key];
    const chosen = /^[1-9]$/.test(event.key) && document.querySelectorAll('#moves button')[Number(event.key) - 1];
    if (key && !$(key).disabled) actions[key]();
    else if (chosen) chosen.click();
    else return;
    event.preventDefault();
  });
  $('real').hidden = !world.real;
  $('search').hidden = world.real;
  await begin();

})();

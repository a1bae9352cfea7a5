// Reads the lines of a trace as plots/history.c does, and tells them in the words of plots/narration.c:
// messages, recovery lines, times in which a rank is down, held or undone.
'use strict';
if (typeof require === 'function') globalThis.Says = require('./says.js').Says;

const Story = {
  words: null, // {events, actions, rules, controls}: plots/words.h, by name; controls: protocols/protocol.h

  // Returns {name, word, number, fields} of an event or an action: `control peer=1 ready words=1,1,0 @1`
  item(text) {
    const item = {name: '', word: null, number: null, fields: {}};
    for (const part of text.split(' ')) {
      const equals = part.indexOf('=');
      if (!item.name) item.name = part;
      else if (/^@\d+$/.test(part)) item.number = Number(part.slice(1));
      else if (equals > 0) item.fields[part.slice(0, equals)] = part.slice(equals + 1);
      else item.word ??= part;
    }
    return item;
  },

  // Returns {step, rank, event, actions, line} of a line "RANK EVENT... | ACTION... # DIGEST"; rank -1: the
  // dispatcher
  read(line, step) {
    const [move, ...actions] = line.split(' # ')[0].split(' | ');
    const space = move.indexOf(' '), rank = move.slice(0, space);
    return {step, rank: rank === '-' ? -1 : Number(rank), event: Story.item(move.slice(space + 1)),
      actions: actions.map(Story.item), line};
  },

  number: (item, key, otherwise) => item.fields[key] === undefined ? otherwise : parseInt(item.fields[key], 10),

  // Returns the things that span more than one step.
  history(steps, ranks) {
    const h = {messages: [], cuts: [], spans: [], rollbacks: [], starts: new Map(), stored: new Map(), kept: new Map()};
    const sent = new Map(), newest = new Map(), capture = new Map(), life = [];
    const lives = Array.from({length: ranks}, () => ({number: 0, first: null, started: null, crashed: null, rolled: null, held: null}));
    const span = (kind, rank, from, to) => h.spans.push({kind, rank, from, to});

    const send = (s, item, suppressed) => {
      const control = item.name === 'control';
      const message = {control, name: control ? item.word || '' : '', says: control ? Story.says(item) : '', from: s.rank, to: Story.number(item, 'peer', 0), sent: s.step,
        received: null, fate: suppressed ? 'suppressed' : 'flight', crosses: '', number: item.number, slot: item.name === 'resend' ? item.fields.slot : null};
      if (item.number !== null && !suppressed) sent.set(item.number, message);
      h.messages.push(message);
    };
    const receive = (s) => {
      let message = sent.get(s.event.number);
      if (!message) return;
      if (message.received !== null) h.messages.push(message = {...message}); // the network has doubled the message
      Object.assign(message, {received: s.step, to: s.rank, fate: s.actions.some((a) => a.name === 'discard') ? 'discarded' : 'received'});
    };
    // A rank that captures a second time begins a new attempt. Ranks that did not roll back keep their part in
    // it.
    const captured = (s) => {
      const checkpoint = Story.number(s.event, 'checkpoint', 0), old = newest.get(checkpoint);
      let cut = old;
      if (!old || old.at[s.rank] !== null) {
        const stands = (rank) => old && old.at[rank] !== null && rank !== s.rank && life[old.at[rank]] === lives[rank].number;
        cut = {checkpoint, committed: false, at: Array.from({length: ranks}, (_, rank) => stands(rank) ? old.at[rank] : null)};
        h.cuts.push(cut);
        newest.set(checkpoint, cut);
      }
      cut.at[s.rank] = s.step;
      capture.set(`${s.rank} ${checkpoint}`, s.step);
    };
    const endHold = (rank, at) => {
      if (lives[rank].held !== null) span('held', rank, lives[rank].held, at);
      lives[rank].held = null;
    };
    const rollBack = (rank, from, undone, checkpoint) => {
      const to = checkpoint === 0 ? lives[rank].first : capture.get(`${rank} ${checkpoint}`) ?? null;
      h.rollbacks.push({rank, from, to, checkpoint});
      if (to !== null) span('undone', rank, Math.max(to, lives[rank].started), undone);
    };
    const start = (s) => {
      const own = lives[s.rank];
      endHold(s.rank, s.step);
      if (own.rolled !== null) span('restoring', s.rank, own.rolled, s.step);
      if (own.crashed !== null) {
        span('down', s.rank, own.crashed, s.step);
        rollBack(s.rank, s.step, own.crashed, Story.number(s.event, 'checkpoint', 0));
      }
      own.first ??= s.step;
      Object.assign(own, {started: s.step, rolled: null, crashed: null});
      own.number++;
    };
    const crash = (s) => {
      const own = lives[s.rank];
      endHold(s.rank, s.step);
      if (own.rolled !== null) span('restoring', s.rank, own.rolled, s.step);
      Object.assign(own, {rolled: null, crashed: s.step});
    };
    const act = (s, action) => {
      if (action.name === 'control' || action.name === 'resend') send(s, action, false);
      else if (action.name === 'hold') lives[s.rank].held ??= s.step;
      else if (action.name === 'release') endHold(s.rank, s.step);
      else if (action.name === 'roll-back') {
        rollBack(s.rank, s.step, s.step, Story.number(action, 'checkpoint', 0));
        endHold(s.rank, s.step);
        lives[s.rank].rolled = s.step;
      }
    };
    const events = {start, crash, captured, arrived: receive, control: receive,
      committed: (s) => { const cut = newest.get(Story.number(s.event, 'checkpoint', 0)); if (cut) cut.committed = true; },
      send: (s) => send(s, s.event, s.actions.some((a) => a.name === 'suppress'))};
    const begun = new Set();
    for (const s of steps) {
      if (s.rank < 0) continue;
      if (s.event.name === 'start') h.starts.set(s.step, begun.has(s.rank));
      begun.add(s.rank);
      if (s.event.name === 'start') start(s);
      life[s.step] = lives[s.rank].number;
      if (s.event.name !== 'start') events[s.event.name]?.(s);
      for (const action of s.actions) act(s, action);
      if (s.event.name === 'durable' && !h.stored.has(s.rank)) h.stored.set(s.rank, s.step);
      const keep = s.actions.find(({name}) => name === 'keep'), place = keep && `${s.rank} ${Story.number(keep, 'slot', 0)}`;
      if (keep && s.event.number !== null) h.kept.set(place, [...h.kept.get(place) || [], {step: s.step, number: s.event.number}]);
    }
    lives.forEach((own, rank) => {
      endHold(rank, steps.length);
      if (own.crashed !== null) span('down', rank, own.crashed, steps.length);
      if (own.rolled !== null) span('restoring', rank, own.rolled, steps.length);
    });
    for (const message of h.messages.filter(({slot}) => slot)) message.again = h.kept.get(`${message.from} ${message.slot}`)?.findLast(({step}) => step < message.sent)?.number;
    for (const message of h.messages) Story.cross(message, h.cuts, life);
    h.sent = new Map(h.messages.filter((m) => !m.control).map((m) => [m.sent, m]).reverse());
    h.lost = new Set(h.messages.filter((m) => m.control && m.received === null && m.number !== null).map((m) => m.number));
    h.received = new Map(h.messages.filter((m) => m.received !== null).map((m) => [m.received, m]).reverse());
    return h;
  },

  // Tells how a message crosses recovery lines. A capture in another life of the rank belongs to another
  // history, so the message does not cross it.
  cross(message, cuts, life) {
    if (message.received === null || message.from === message.to) return;
    for (const {checkpoint, at} of cuts) {
      const out = at[message.from], into = at[message.to];
      if (out === null || into === null || life[out] !== life[message.sent] || life[into] !== life[message.received]) continue;
      const crosses = message.sent < out && message.received > into ? 'late' : message.sent > out && message.received < into ? 'early' : '';
      if (crosses) return void Object.assign(message, {crosses, checkpoint});
    }
  },

  // ---- sentences ----

  peer: (item, otherwise = -1) => { const rank = Story.number(item, 'peer', otherwise); return rank >= 0 ? `rank ${rank}` : '?'; },
  numbered: (item) => item.number === null ? '' : ` ${item.number}`,
  // The name of a control message with its number: messages of the program and control messages are numbered together.
  control: (item) => (item.word || 'something') + (item.number === null ? '' : ` (message ${item.number})`),
  says: (item) => { const said = Says.control(Story.words.controls, item.word, item.fields.words); return said && `: "${said}"`; },
  envelope: (item) => item.fields.tag && item.fields.tag !== '0' ? `, tag ${item.fields.tag}` : '',
  worded(words, item) {
    const value = words.field ? item.fields[words.field] ?? '0' : ''; // a trace leaves out fields that are 0
    return words.text.replace('%s', Story.words.reasons[value]?.text ?? value);
  },

  call: (event) => `collective call ${Story.number(event, 'call', 0)}${event.fields.flow ? ` (${Story.words.flows[event.fields.flow]?.text ?? event.fields.flow})` : ''}`,

  // Tells the fate of a message. `flight` is said of a message that no known step receives.
  fate(message, flight) {
    const from = `rank ${message.from}`, to = `rank ${message.to}`;
    if (message.fate === 'flight') return flight && `. ${flight}`;
    if (message.crosses === 'late')
      return `. It is late: sent before ${from} is captured for checkpoint ${message.checkpoint}, received after ${to} is. After a rollback nobody sends it again`;
    if (message.crosses === 'early')
      return `. It is early: sent after ${from} is captured for checkpoint ${message.checkpoint}, received before ${to} is. After a rollback ${to} has it, and it is sent again`;
    return '';
  },

  // Sentences by the name of the event; the other events have words in `words.events`.
  events: {
    send(s, h, flight) {
      const message = h.sent.get(s.step), to = Story.peer(s.event), envelope = Story.envelope(s.event);
      return message?.fate === 'suppressed' ? `would send a message to ${to}${envelope}, and does not: ${to} has it already`
        : `sends message${Story.numbered(s.event)} to ${to}${envelope}${message ? Story.fate(message, flight) : ''}`;
    },
    receive: ({event}) => `asks to receive from ${event.fields.peer === 'any' ? 'anybody' : Story.peer(event, 0)}${Story.envelope(event)}`,
    arrived({event, step}, h) {
      const crosses = h.received.get(step)?.crosses;
      const again = h.received.get(step)?.again;
      return `gets message${Story.numbered(event)} from ${Story.peer(event)}${Story.envelope(event)}${again === undefined ? '' : `, which is message ${again} once more`}` +
        (crosses === 'late' ? ', late' : crosses === 'early' ? ', early: an orphan if all go back to that checkpoint' : '');
    },
    control: ({event}) => `receives ${Story.control(event)} from ${Story.peer(event)}${Story.says(event)}`,
    start({event, step, rank}, h) {
      const checkpoint = Story.number(event, 'checkpoint', 0), again = h.starts.get(step);
      return (again ? 'starts again' : 'starts') + (checkpoint ? ` from checkpoint ${checkpoint}` : again ? ', from the beginning' : '') +
        (again && !checkpoint && !(h.stored.get(rank) < step) ? ': no image of it is stored' : '');
    },
    choice({event}) {
      const outcome = Story.number(event, 'outcome', 0);
      if (Story.number(event, 'request', 0) > 0) return outcome ? 'cancels a receive' : 'fails to cancel a receive';
      return `makes a choice, which comes out as ${outcome}`;
    },
    'safe-point': ({event}) => Story.number(event, 'iteration', 0) ? `begins iteration ${Story.number(event, 'iteration', 0)}` : 'is at a safe point',
    durable: ({event}) => `${event.word === 'early' ? 'is told, too soon,' : 'learns'} that its ${event.fields.part || 'part'} of checkpoint ${Story.number(event, 'checkpoint', 0)} is on stable storage`,
    lie: ({event}) => `is lied to: the network ${event.word === 'drop' ? 'loses' : 'doubles'} message${Story.numbered(event)} from ${Story.peer(event)}`,
    collective: ({event}) => `comes to ${Story.call(event)}`,
    collected: ({event}) => `has all that flows to it in ${Story.call(event)}`,
    down: ({event}) => `learns that ${Story.peer(event)} has crashed`,
  },

  // Tells what a slot holds: the message with which the rank has last filled it.
  slot(s, h, slot) {
    const kept = h.kept.get(`${s.rank} ${slot}`)?.findLast(({step}) => step < s.step);
    return kept ? `message ${kept.number} from slot ${slot}` : `what slot ${slot} holds`;
  },

  act(action, s, h, over) {
    const words = Story.words.actions[action.name];
    const slot = Story.number(action, 'slot', 0);
    return (action.name === 'deliver' && slot > 0 ? `; it gives its program ${Story.slot(s, h, slot)}`
      : action.name === 'control' ? `; it sends ${Story.control(action)} to ${Story.peer(action)}${over && h.lost.has(action.number) ? ', which is not received in this run' : ''}${Story.says(action)}`
        : action.name === 'resend' ? `; it sends ${Story.peer(action)} once more ${Story.slot(s, h, slot)}${action.number === null ? '' : `, as message ${action.number}`}`
          : action.name === 'store' ? `; it has its ${action.fields.part} of checkpoint ${Story.number(action, 'checkpoint', 0)} written` : '') +
      (words ? `; it ${Story.worded(words, action)}` : '');
  },

  detected({event}) {
    const rank = `rank ${event.fields.rank}`, checkpoint = Story.number(event, 'checkpoint', 0);
    return (event.word ? `${rank}, which lives, is declared dead` : `The crash of ${rank} is detected`) + (checkpoint ? `: back to checkpoint ${checkpoint}` : '');
  },

  // Tells how the protocol without a mutant's flaw would have taken step `s` (Engine.difference): '' if alike. `reader`
  // reads states (Decode.reader).
  otherwise(text, s, h, reader) {
    const items = (sign) => text.split('\n').filter((line) => line[0] === sign).map((line) => Story.item(line.slice(1)));
    const say = (action) => Story.act(action, s, h).replace(/^; it /, '').replace(/; it /g, ', ') || (Story.words.quiet[action.name] ? Story.worded(Story.words.quiet[action.name], action) : action.name);
    const others = {'+': items('-').map(say), '-': items('+').map(say)};
    const of = (sign) => items(sign).map((action) => say(action) + (others[sign].includes(say(action)) ? ` (${Object.entries(action.fields).map((field) => field.join(' ')).join(', ')})` : ''));
    const also = of('+').join(', '), not = of('-').join(', '), who = s.rank < 0 ? 'the protocol' : `rank ${s.rank}`;
    return !text ? '' : text.startsWith('state\n') ? `With the rule, ${who} remembers ${Story.remembered(reader, ...text.split('\n').slice(1).map(reader.state))}.`
      : also ? `With the rule, ${who} ${also}${not ? `; here in place of that it ${not}` : '; here it does not'}.` : `Here ${who} ${not}; with the rule it does not.`;
  },

  // Tells the fields that differ in two states. An entry of a list has fields of its own, "sent 1, received 2"; those
  // that are not told are 0.
  remembered(reader, right, wrong) {
    const fields = (state) => new Map(state.flatMap(([name, text]) => / /.test(text) && /\[\d+\]$/.test(name)
      ? text.split(', ').map((field) => [`${name} ${field.replace(/ .*/, '')}`, field.replace(/^\S+ /, '')]) : [[name, text]]));
    const [has, here] = [fields(right), fields(wrong)], said = (name) => reader.meaning(name) && `, "${reader.meaning(name)}"`;
    return [...new Set([...has.keys(), ...here.keys()])].filter((name) => has.get(name) !== here.get(name))
      .map((name) => `${name}: ${has.get(name) ?? 0} (here: ${here.get(name) ?? 0})${said(name)}`).join('; ') || 'something else';
  },

  // Returns the sentence of plots/narration.c for a violation {property, rank, text, step, time}; `time` is null
  // where steps have no times. The text of an outcome names the ranks, that of an invariant its number.
  violated(wrong) {
    const [, numbered, rest] = /^(invariant \d+): ([^]*)/.exec(Story.plain(wrong)) || [];
    const where = wrong.rank === null || wrong.property === 'outcome' ? '' : `, at rank ${wrong.rank}`;
    return `Violated: ${numbered ?? wrong.property}${where}, by ${wrong.time === null ? `step ${wrong.step}` : `time ${wrong.time} s`}: ${rest ?? Story.plain(wrong)}.`;
  },

  // Returns the text of a violation as words_violation() of plots/words.h does.
  plain: ({text}) => text.replace(/@(?=\d)/g, 'message ').replace(/ \(histories .*/, ''),

  // Tells the event of a step. `flight` is said of a message that no known step receives.
  event(s, h, flight = '') {
    const words = Story.words.events[s.event.name], who = s.rank < 0 ? '?' : `rank ${s.rank}`;
    return s.event.name === 'detected' ? Story.detected(s)
      : `${who} ${Story.events[s.event.name]?.(s, h, flight) ?? (words ? Story.worded(words, s.event) : s.event.name)}`;
  },

  // Returns the sentence for a step. `over`: no step follows the known ones.
  tell(s, h, over) {
    const all = Story.event(s, h, over ? 'It is not received in this run' : 'It is still under way') + s.actions.map((action) => Story.act(action, s, h, over)).join('') + (s.event.fields.cut !== undefined ? '; it crashes within this step' : '');
    return `${all[0].toUpperCase()}${all.slice(1)}.`;
  },
};
if (typeof module === 'object') module.exports = {Story};

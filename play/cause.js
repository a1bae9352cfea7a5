// Tells the story of a violation in sentences: what was promised, which rule is missing, where that shows, what
// follows, what is violated, and what a program suffers. All of it is read from the run and the protocol's texts.
'use strict';
if (typeof require === 'function') globalThis.Story = require('./story.js').Story;

const Cause = {
  MOST: 6, // most things of one kind that a sentence names

  list: (words) => words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`,
  ranks: (list) => list.length < 2 ? list.map((rank) => `rank ${rank}`).join('') : `ranks ${Cause.list(list)}`,
  steps: (found) => found.map((step) => `step ${step}`).join(', '),
  capital: (text) => text && text[0].toUpperCase() + text.slice(1),
  sentence: (text) => text && `${Cause.capital(text)}${/[.?!]$/.test(text) ? '' : '.'}`,

  // Returns whether a rollback has undone what the rank did at that step.
  undone: ({h}, rank, step) => h.spans.some((span) => span.kind === 'undone' && span.rank === rank && step > span.from && step < span.to),

  // Reads the line of a violation, by that step; `more` is added to its text.
  violation(line, step, times, more = '') {
    const [, property, rank, text] = /^violation (\S+) rank=(-?\d+): (.*)$/.exec(line) || /^violation (\S+)(): (.*)$/.exec(line) || /^violation (\S+)() (.*)$/.exec(line);
    const messages = [...text.matchAll(/@(\d+)/g)].map(([, number]) => Number(number));
    const time = times.length ? times[Math.min(step, times.length - 1)] : null;
    return {property, text: text + more, rank: rank === '' || Number(rank) < 0 ? null : Number(rank), messages, step, time};
  },

  // Returns what the steps up to the engine's view violate, {property, text, rank, messages, step, time}, or null.
  wrong(steps, {at, judged}, ending, times) {
    const found = steps.slice(0, at).findIndex((step) => step.violation);
    if (found >= 0) return Cause.violation(steps[found].violation, found, times);
    if (judged) return Cause.violation(`violation ${judged.property} rank=${judged.rank}: ${judged.text}`, at - 1, times);
    if (ending && at === ending.count)
      return Cause.violation(ending.line, at - 1, times, ending.from === null ? '' : ` (the steps from ${ending.from} on come again for ever)`);
    return null;
  },

  isMutant: (world) => / *protocol .*~/m.test(world.description),

  // Returns the run up to the engine's view, for tell(). `view.differing` are the steps at which a mutant does otherwise.
  // `told` has the known steps as Story.read() makes them, and their history; `reader` reads states of the protocol (Decode.reader).
  run(world, engine, view, told, wrong, reader) {
    const steps = told.steps.slice(0, view.at), h = steps.length === told.steps.length ? told.history : Story.history(steps, view.ranks.length);
    const phase = (rank) => reader.state(view.ranks[rank].state).find(([name]) => name === 'phase')?.[1];
    return {wrong, steps, h, ranks: view.ranks, found: view.differing, difference: engine.difference, reader, phase,
      invariants: view.invariants, mutant: Cause.isMutant(world), statement: world.statement, real: world.real};
  },

  // ---- what has happened ----

  // Returns the step that has made step `s` happen: in which a message was sent or a thing was asked for; undefined if it
  // is unknown. A completion names the checkpoint and the part that were asked for.
  trigger({steps, h}, s) {
    const asked = {durable: 'store', captured: 'capture', committed: 'commit', timer: 'set-timer', start: 'roll-back'}[s.event.name];
    const alike = (action) => action.name === asked && ['checkpoint', 'part'].every((key) => action.fields[key] === s.event.fields[key]);
    return h.received.has(s.step) ? steps[h.received.get(s.step).sent]
      : asked && steps.findLast((other) => other.step < s.step && (other.rank === s.rank || asked === 'commit') && other.actions.some(alike));
  },

  // Returns the steps, latest first, each of which has made the one before it happen, from step `to` back to the first
  // at the rank of step `from` or earlier; [] if step `from` is not among what led there.
  chain(run, from, to) {
    const out = [];
    for (let s = run.steps[to]; s && s.step >= from; s = Cause.trigger(run, s)) out.push(s);
    return out.slice(0, out.findLastIndex((s) => s.rank === run.steps[from].rank) + 1);
  },

  // Returns {step, text} of the messages by which step `from` leads to step `to`.
  led(run, from, to) {
    const said = (m) => `rank ${m.from} ${m.control && m.says ? `tells rank ${m.to}${m.says.slice(1)}` : `sends ${m.control ? m.name : `message ${m.number}`} to rank ${m.to}`} (step ${m.sent})`;
    return Cause.chain(run, from, to).map((s) => run.h.received.get(s.step)).filter((m) => m && m.sent > from)
      .map((m) => ({step: m.sent, text: said(m)})).reverse();
  },

  // Returns {step, text} of what cannot be made good later: a copy is freed or an image is erased that is needed, or a
  // checkpoint is committed without an image; null if there is no such step.
  loss(run) {
    const lost = run.wrong.property === 'invariant' && Cause.undoneMessages(run).find(({freed}) => freed);
    const {erased, checkpoint} = run.wrong.property === 'restorable' ? Cause.image(run) : {};
    const committed = checkpoint && run.steps.findLast((s) => s.actions.some(({name, fields}) => name === 'commit' && fields.checkpoint === checkpoint));
    return lost ? {step: lost.freed.step, text: `rank ${lost.message.from} frees its copy of message ${lost.message.number} (step ${lost.freed.step})`}
      : erased ? {step: erased.step, text: `rank ${erased.rank} erases checkpoint ${checkpoint} (step ${erased.step})`}
        : committed ? {step: committed.step, text: `rank ${committed.rank} commits checkpoint ${checkpoint} (step ${committed.step})`} : null;
  },

  // Returns {step, text} of the crashes, of the last commit before each, and of what ranks go back to.
  events({steps, h, ranks}) {
    const out = [], committed = [];
    let back = null;
    const said = () => {
      if (!back) return;
      for (const [to, who] of back.to) {
        who.sort((a, b) => a.rank - b.rank);
        out.push({step: Math.min(...who.map(({step}) => step)), text: `${Cause.ranks(who.map(({rank}) => rank))} ${who.length > 1 ? 'go' : 'goes'} back to ${to} (${Cause.steps(who.map(({step}) => step))})`});
      }
      const stay = ranks.map((_, rank) => rank).filter((rank) => back.told.has(rank) && ![...back.to.values()].flat().some((other) => other.rank === rank));
      if (back.to.size && stay.length) out.push({step: out.at(-1).step, text: `${Cause.ranks(stay)} ${stay.length > 1 ? 'go' : 'goes'} on`});
      back = null;
    };
    for (const s of steps) {
      const checkpoint = Story.number(s.event, 'checkpoint', 0);
      if (s.event.name === 'committed') committed.push({step: s.step, text: `checkpoint ${checkpoint} is committed (step ${s.step})`});
      if (s.event.name === 'crash' || s.event.fields.cut !== undefined) {
        said();
        if (committed.length) out.push(committed.at(-1));
        committed.length = 0;
        back = {to: new Map(), told: new Set()};
        out.push({step: s.step, text: `rank ${s.rank} crashes (step ${s.step})`});
      }
      if (s.event.name === 'detected' && s.event.word) out.push({step: s.step, text: `rank ${s.event.fields.rank}, which lives, is declared dead (step ${s.step})`});
      if (s.event.name === 'start' && h.starts.get(s.step) && back) {
        const to = checkpoint ? `checkpoint ${checkpoint}` : `the beginning${h.stored.get(s.rank) < s.step ? '' : ', as no image is stored'}`;
        const asked = h.rollbacks.findLast(({rank, from}) => rank === s.rank && from <= s.step);
        back.to.set(to, [...back.to.get(to) || [], {rank: s.rank, step: asked?.from ?? s.step}]);
      }
      if (s.event.name === 'down' && !s.actions.some(({name}) => name === 'roll-back')) back?.told.add(s.rank);
    }
    said();
    return out;
  },

  // Returns the messages of the program, from rank `from` to rank `to` (null: any), whose reception was undone and
  // whose sending was not; with `orphans`, those whose sending was undone and whose reception was not.
  torn(run, orphans, from = null, to = null) {
    return run.h.messages.filter((m) => !m.control && m.received !== null && m.number !== null && m.fate === 'received' &&
      (from === null || m.from === from) && (to === null || m.to === to) &&
      Cause.undone(run, m.from, m.sent) === orphans && Cause.undone(run, m.to, m.received) !== orphans);
  },

  // ---- what is violated ----

  // Says what a rank waits for at the end; null: its program has ended.
  wait(run, rank) {
    const {steps, ranks, h} = run, r = ranks[rank], who = `rank ${rank}`, own = steps.filter((s) => s.rank === rank);
    if (r.finished || !r.next) return null;
    if (r.gave_up) return `${who} has given up`;
    if (r.held) {
      const held = own.findLast((s) => s.actions.some(({name}) => name === 'hold')), phase = run.phase?.(rank);
      return `the protocol holds ${who} before ${r.next} since step ${held?.step}${phase ? `, in its phase ${phase},` : ''} and never lets it go on`;
    }
    const call = own.findLast((s) => s.event.name === 'collective');
    if (call && !own.some((s) => s.step > call.step && s.event.name === 'collected') && !/^(recv|wait|send)/.test(r.next)) return Cause.waitInCall(run, call);
    const posted = r.posted[0];
    if (!posted) return `${who} stands at ${r.next}`;
    const asked = own.findLast((s) => s.event.name === 'receive' && Story.number(s.event, 'request', 0) === posted.request), from = posted.peer < 0 ? null : posted.peer;
    return `${who} waits for a message from ${from === null ? 'anybody' : `rank ${from}`}${asked ? ` since step ${asked.step}` : ''}, and none comes any more${Cause.gone(run, from, rank)}`;
  },

  // Says where a message is, from rank `from` (null: any) to rank `to`, that has not come: the one of that number, or the
  // last one (null).
  gone(run, from, to, number = null) {
    const {h} = run, of = h.messages.filter((m) => !m.control && m.to === to && (from === null || m.from === from) && (number === null || m.number === number) && !Cause.undone(run, m.from, m.sent));
    const again = (rank) => Cause.again(run, rank)?.step ?? -1;
    const held = of.findLast(({fate}) => fate === 'suppressed'), undone = Cause.torn(run, false, from, to).findLast((m) => number === null || m.number === number);
    const lost = of.findLast((m) => m.number !== null && (m.received === null || m.fate === 'discarded') && m.sent < Math.max(again(m.from), again(to)));
    return held ? `: rank ${held.from} suppresses it at step ${held.sent}, as if rank ${to} had it`
      : undone ? `: message ${undone.number} was received at step ${undone.received}, which the rollback has undone, and nobody sends it again`
        : lost ? `: message ${lost.number}, sent at step ${lost.sent}, was under way at the rollback, and nobody sends it again` : '';
  },

  // Says for whom a rank waits that has made a collective call.
  waitInCall(run, call) {
    const others = run.ranks.map((_, rank) => rank).filter((rank) => rank !== call.rank);
    return [`rank ${call.rank} waits in ${Story.call(call.event)} since step ${call.step}`, ...others.map((rank) => Cause.absent(run, call, rank))].filter(Boolean).join('; ');
  },

  // Returns the last step before step `before` at which a rank has started again; undefined if there is none.
  again: ({steps, h}, rank, before = steps.length) => steps.findLast((s) => s.step < before && s.rank === rank && h.starts.get(s.step)),

  // Returns the last step before step `before` at which a rank has made the collective call of that number; undefined if
  // there is none.
  made: ({steps}, rank, number, before = steps.length) => steps.findLast((s) => s.step < before && s.rank === rank && s.event.name === 'collective' && Story.number(s.event, 'call', 0) === number),

  // Says why a rank does not take part in the collective call of another one; '' if it does.
  absent(run, call, rank) {
    const {ranks} = run, made = Cause.made(run, rank, Story.number(call.event, 'call', 0)), again = Cause.again(run, rank);
    const ended = ranks[rank].finished || !ranks[rank].next ? ', and its program has ended' : '';
    const given = made?.actions.some((action) => action.name === 'deliver' && Story.number(action, 'slot', 0) > 0);
    return given ? `rank ${rank} has that call from its log at step ${made.step}` : !made ? `rank ${rank} never makes that call${ended}`
      : made.step < again?.step ? `rank ${rank} made that call at step ${made.step}, ${Cause.captured(run, rank, made.step, again.step) || 'before it went back'} (step ${again.step}), and does not make it again${ended}` : '';
  },

  // Says whether a rank has taken a step before or after its capture for the checkpoint to which it goes back at step
  // `back`; '' if it goes back to the beginning.
  captured({steps}, rank, step, back) {
    const checkpoint = Story.number(steps[back].event, 'checkpoint', 0);
    const at = checkpoint && steps.findLast((s) => s.step < back && s.rank === rank && s.event.name === 'captured' && Story.number(s.event, 'checkpoint', 0) === checkpoint);
    return at ? `${step < at.step ? 'before' : 'after'} it was captured for checkpoint ${checkpoint} (step ${at.step}), to which it went back` : '';
  },

  // Says that a rank makes a call, and that the call was undone before.
  repeats(run, call) {
    const again = Cause.again(run, call.rank, call.step), made = again && Cause.made(run, call.rank, Story.number(call.event, 'call', 0), again.step);
    return made ? `rank ${call.rank} made ${Story.call(call.event)} at step ${made.step}, ${Cause.captured(run, call.rank, made.step, again.step) || 'before it went back'} (step ${again.step}), and makes it again at step ${call.step}`
      : `rank ${call.rank} makes ${Story.call(call.event)} at step ${call.step}`;
  },

  // Says which rank is alone in its collective call.
  alone(run) {
    const [, rank, number, other] = /^rank (\d+) .* call (\d+) of rank (\d+)/.exec(run.wrong.text) || [];
    const call = Cause.made(run, Number(other), Number(number));
    return call ? [Cause.repeats(run, call), Cause.absent(run, call, Number(rank))].filter(Boolean).join('; ') : '';
  },

  // Says how the last life of a rank differs from what was undone before: in a choice, or in who was received from.
  otherwise(run, rank) {
    const own = run.steps.filter((s) => s.rank === rank), last = own.findLast((s) => s.event.name === 'start');
    const kinds = {choice: (s) => Story.number(s.event, 'outcome', 0), arrived: (s) => s.event.fields.peer};
    for (const [kind, value] of Object.entries(kinds)) {
      const of = (part) => part.filter((s) => s.event.name === kind && !(kind === 'choice' && Story.number(s.event, 'request', 0)));
      const before = of(own.filter((s) => Cause.undone(run, rank, s.step))), now = of(own.filter((s) => last && s.step > last.step));
      const at = now.findIndex((s, i) => before[i] && value(before[i]) !== value(s));
      if (at < 0) continue;
      const [was, is] = [before[at], now[at]];
      return kind === 'choice' ? `rank ${rank} chose ${value(was)} at step ${was.step}, which a rollback has undone, and chooses ${value(is)} at step ${is.step}`
        : `rank ${rank} received from rank ${value(was)} at step ${was.step}, which a rollback has undone, and receives from rank ${value(is)} in its place at step ${is.step}`;
    }
    return '';
  },

  orphans: (run) => Cause.torn(run, true).slice(0, 2).map((m) => `message ${m.number}, sent at step ${m.sent}, was undone at rank ${m.from} and stays with rank ${m.to}, which has had it since step ${m.received} and does not go back`),

  tale(run, number) {
    const all = run.h.messages.filter((m) => m.number === number), {from, to, sent} = all[0] || {};
    const got = all.filter(({received}) => received !== null).map(({received}) => `at step ${received}${Cause.undone(run, to, received) ? ' (undone by a rollback)' : ''}`);
    const sending = !all.length ? '' : `at step ${sent}${Cause.undone(run, from, sent) ? ' (undone by a rollback)' : ''} rank ${from} sends ${all[0].again === undefined ? `message ${number}` : `message ${all[0].again} once more, as message ${number},`} to rank ${to}`;
    return sending && sending + (got.length ? `, which has it ${Cause.list(got)}` : `, and it has not come${Cause.gone(run, from, to, number)}`) +
      (all[0].crosses ? `; it is ${all[0].crosses} to checkpoint ${all[0].checkpoint}` : '');
  },

  // The text of a violation, by its property; other properties have the text of the trace.
  violated: {
    deadlock: (run) => run.ranks.map((_, rank) => Cause.wait(run, rank)).filter(Boolean),
    progress: (run) => Cause.violated.deadlock(run),
    outcome: (run) => [...run.ranks.map((_, rank) => Cause.otherwise(run, rank)), ...Cause.orphans(run), `no run without failures has ${run.ranks.length > 1 ? 'these together' : 'this'}`].filter(Boolean),
    agreement: (run) => [Story.plain(run.wrong), ...Cause.orphans(run)],
    restorable: (run) => [Story.plain(run.wrong), Cause.missing(run)].filter(Boolean),
    commits: (run) => [Story.plain(run.wrong), ...Cause.phases(run)],
    invariant: (run) => Cause.broken(run),
    'no-orphan': (run) => [Story.plain(run.wrong), Cause.alone(run)].filter(Boolean),
    'no-loss': (run) => Cause.messages(run),
    'no-duplicate': (run) => Cause.messages(run),
  },

  // Returns the invariant that is violated, {number, text, otherwise}; null: the violation is of another property.
  invariant({wrong, invariants}) {
    const number = wrong.property === 'invariant' ? Number(/^invariant (\d+)/.exec(wrong.text)?.[1]) : 0;
    return number ? {number, ...invariants[number - 1]} : null;
  },

  // Returns {message, freed} of messages whose reception is undone and that have not come again; `freed` is the step at
  // which the sender has freed its copy, or undefined.
  undoneMessages(run) {
    const kept = (s, slot) => run.h.kept.get(`${s.rank} ${slot}`)?.findLast(({step}) => step < s.step)?.number;
    const has = (m, rank, ...names) => run.steps.find((s) => s.rank === rank && s.step > m.sent && s.actions.some((a) => names.includes(a.name) && Story.number(a, 'slot', 0) > 0 && kept(s, Story.number(a, 'slot', 0)) === m.number));
    return Cause.torn(run, false).filter((m) => !has(m, m.from, 'resend') && !has(m, m.to, 'deliver')).slice(0, 2)
      .map((m) => ({message: m, freed: has(m, m.from, 'forget')}));
  },

  // Says which step breaks an invariant.
  broken: (run) => [`${Story.event(run.steps[run.wrong.step], run.h)} (step ${run.wrong.step}): after that the invariant is broken${run.wrong.rank === null ? '' : ` at rank ${run.wrong.rank}`}`,
    ...Cause.undoneMessages(run).map(({message: m, freed}) => `message ${m.number}, which rank ${m.to} received at step ${m.received}, is undone there, and rank ${m.from} has not sent it again` +
      (freed ? `: it has freed its copy at step ${freed.step}` : ''))],

  // Says what a program suffers. An invariant is broken before anything is seen of that.
  harm(run) {
    const invariant = Cause.invariant(run), known = Story.words.harms[run.wrong.property]?.text || '';
    return !invariant ? known : `None is seen yet: the run was stopped at step ${run.wrong.step}, when the invariant was broken. What would follow is what the invariant guards against.`;
  },

  // Returns {checkpoint, begun, unwritten, erased} of an image that a restart needs and that is not there: the step at
  // which its writing began; {part, step} of a part whose writing had not ended; the step at which the image was erased.
  // Each is undefined if there is none.
  image({wrong, steps}) {
    const checkpoint = /checkpoint (\d+)/.exec(wrong.text)?.[1], own = steps.filter((s) => s.rank === wrong.rank);
    const has = (item, name, part = item.fields.part) => item.name === name && item.fields.checkpoint === checkpoint && item.fields.part === part;
    const writes = own.flatMap((s) => s.actions.filter((action) => has(action, 'store')).map(({fields: {part}}) => ({part, step: s.step})));
    return {checkpoint, begun: writes[0], unwritten: writes.find(({part, step}) => !own.some((s) => s.step > step && has(s.event, 'durable', part))),
      erased: steps.findLast((s) => s.actions.some((action) => has(action, 'erase')))};
  },

  // Says why that image is not there; '' if the run does not show it.
  missing(run) {
    const {checkpoint, begun, unwritten, erased} = Cause.image(run), of = `checkpoint ${checkpoint} of rank ${run.wrong.rank}`;
    return erased ? `rank ${erased.rank} erases ${of} at step ${erased.step}` : !begun ? `the writing of ${of} never began`
      : unwritten ? `the writing of the ${unwritten.part} of ${of} began at step ${unwritten.step} and had not ended when the rank crashed` : '';
  },

  phases: (run) => run.ranks.map((r, rank) => r.finished || !run.phase(rank) ? '' : `rank ${rank} is in its phase ${run.phase(rank)}`).filter(Boolean),

  messages: (run) => [Story.plain(run.wrong), ...[...run.wrong.messages].sort((a, b) => a - b).map((number) => Cause.tale(run, number))].filter(Boolean),

  effect(run) {
    const {wrong} = run, real = run.real && ['deadlock', 'progress'].includes(wrong.property);
    const told = Cause.violated[wrong.property] && !real ? Cause.violated[wrong.property](run) : [], plain = Story.plain(wrong);
    const more = told.filter((text) => text !== plain); // the headline has the text of the violation
    return (more.length ? more : [plain]).slice(0, Cause.MOST).map(Cause.sentence).join(' ');
  },

  // ---- the story ----

  // Returns the step from which the story follows what happens. Of the steps at which a mutant does otherwise this is the
  // last one that leads to the loss, at the rank of the violation if possible, or else the first one. Without a mutant it
  // is an injected fault; undefined if there is none.
  begins(run, loss) {
    const leading = loss ? run.found.filter((step) => Cause.chain(run, step, loss.step).length) : [];
    return leading.findLast((step) => run.steps[step].rank === run.wrong.rank) ?? leading.at(-1) ?? run.found[0] ?? run.steps.find((s) => s.event.name === 'lie')?.step;
  },

  // Says where the cause shows.
  shows(run, begins = Cause.begins(run, null)) {
    const {steps, h, found, difference, reader} = run;
    if (begins === undefined) return '';
    const told = `At step ${begins}: ${Story.event(steps[begins], h)}.`, others = found.filter((step) => step !== begins);
    const more = others.length >= Cause.MOST ? ` and ${others.length - Cause.MOST + 1} more` : '';
    return told + (!found.length ? '' : ` ${Story.otherwise(difference(begins), steps[begins], h, reader)}` +
      (others.length ? ` (The rule is missing at ${Cause.steps(others.slice(0, Cause.MOST - 1))}${more}, too.)` : ''));
  },

  // Returns what follows from step `begins`: messages by which it leads to the loss, crashes and rollbacks.
  follows(run, events, begins, loss) {
    const led = loss && loss.step > begins ? [...Cause.led(run, begins, loss.step).slice(-Cause.MOST), loss] : [];
    return [...led, ...events.slice(-Cause.MOST)].sort((a, b) => a.step - b.step);
  },

  // Returns [name, text] of each part of the story of a run. In a text, "step 3" stands for a link.
  tell(run) {
    const {wrong} = run, words = Story.words, invariant = Cause.invariant(run), loss = Cause.loss(run), begins = Cause.begins(run, loss);
    const events = Cause.events(run), said = (list) => Cause.sentence(list.map(({text}) => text).join('; '));
    return [
      ['Promise', invariant ? `Invariant ${invariant.number} of the protocol: ${invariant.text}${invariant.otherwise && `; otherwise ${invariant.otherwise}`}.` : words.rules[wrong.property]?.text || ''],
      ['Flaw', run.mutant ? run.statement : ''],
      ['Before', said(events.filter(({step}) => step < begins).slice(-Cause.MOST))],
      ['Cause', Cause.shows(run, begins)],
      ['Then', said(Cause.follows(run, events.filter(({step}) => !(step < begins)), begins ?? 0, loss))],
      ['Effect', Cause.effect(run)],
      ['Harm', Cause.harm(run)],
    ].filter(([, text]) => text);
  },
};
if (typeof module === 'object') module.exports = {Cause};

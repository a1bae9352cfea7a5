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

  // Returns the run up to the engine's view, for tell(). `view.differing` are the steps at which a mutant does otherwise. `told` has the known steps as Story.read() makes them, and
  // their history; `decode` makes fields [name, text] of a state of the protocol.
  run(world, engine, view, told, wrong, decode) {
    const steps = told.steps.slice(0, view.at), h = steps.length === told.steps.length ? told.history : Story.history(steps, view.ranks.length);
    const phase = (rank) => decode(view.ranks[rank].state).find(([name]) => name === 'phase')?.[1];
    return {wrong, steps, h, ranks: view.ranks, found: view.differing, difference: engine.difference, decode, phase,
      invariants: view.invariants, mutant: Cause.isMutant(world), statement: world.statement, real: world.real};
  },

  // ---- what has happened ----

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
        const to = checkpoint ? `checkpoint ${checkpoint}` : 'the beginning';
        back.to.set(to, [...back.to.get(to) || [], s]);
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

  // Says where a message is, from rank `from` (null: any) to rank `to`, which that rank waits for in vain.
  gone(run, from, to) {
    const {h, steps} = run, of = h.messages.filter((m) => !m.control && m.to === to && (from === null || m.from === from) && !Cause.undone(run, m.from, m.sent));
    const again = (rank) => steps.findLast((s) => s.rank === rank && h.starts.get(s.step))?.step ?? -1;
    const held = of.findLast(({fate}) => fate === 'suppressed'), [undone] = Cause.torn(run, false, from, to).slice(-1);
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

  // Says why a rank does not take part in the collective call of another one; '' if it does.
  absent({steps, ranks, h}, call, rank) {
    const number = Story.number(call.event, 'call', 0), own = steps.filter((s) => s.rank === rank);
    const made = own.findLast((s) => s.event.name === 'collective' && Story.number(s.event, 'call', 0) === number), again = own.findLast((s) => h.starts.get(s.step));
    const ended = ranks[rank].finished || !ranks[rank].next ? ', and its program has ended' : '';
    const given = made?.actions.some((action) => action.name === 'deliver' && Story.number(action, 'slot', 0) > 0);
    return given ? `rank ${rank} has that call from its log at step ${made.step}` : !made ? `rank ${rank} never makes that call${ended}`
      : made.step < again?.step ? `rank ${rank} made that call at step ${made.step}, before it went back at step ${again.step}, and does not make it again${ended}` : '';
  },

  // Says which rank is alone in its collective call.
  alone(run) {
    const [, rank, number, other] = /^rank (\d+) .* call (\d+) of rank (\d+)/.exec(run.wrong.text) || [];
    const call = run.steps.findLast((s) => s.rank === Number(other) && s.event.name === 'collective' && Story.number(s.event, 'call', 0) === Number(number));
    return call ? [`rank ${other} makes ${Story.call(call.event)} at step ${call.step}`, Cause.absent(run, call, Number(rank))].filter(Boolean).join('; ') : '';
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

  orphans: (run) => Cause.torn(run, true).slice(0, 2).map((m) => `message ${m.number}, sent at step ${m.sent}, was undone at rank ${m.from} and stays with rank ${m.to}, which has had it since step ${m.received}`),

  tale(run, number) {
    const all = run.h.messages.filter((m) => m.number === number), {from, to, sent} = all[0] || {};
    const got = all.filter(({received}) => received !== null).map(({received}) => `at step ${received}${Cause.undone(run, to, received) ? ' (undone by a rollback)' : ''}`);
    const sending = !all.length ? '' : `rank ${from} sends ${all[0].again === undefined ? `message ${number}` : `message ${all[0].again} once more, as message ${number},`} to rank ${to} at step ${sent}${Cause.undone(run, from, sent) ? ' (undone by a rollback)' : ''}`;
    return sending && sending + (got.length ? `, which has it ${Cause.list(got)}` : ', and it has not come') +
      (all[0].crosses ? `; it is ${all[0].crosses} to checkpoint ${all[0].checkpoint}` : '');
  },

  // The text of a violation, by its property; other properties have the text of the trace.
  violated: {
    deadlock: (run) => run.ranks.map((_, rank) => Cause.wait(run, rank)).filter(Boolean),
    progress: (run) => Cause.violated.deadlock(run),
    outcome: (run) => [...run.ranks.map((_, rank) => Cause.otherwise(run, rank)), ...Cause.orphans(run), `no run without failures has ${run.ranks.length > 1 ? 'these together' : 'this'}`].filter(Boolean),
    agreement: (run) => [Story.plain(run.wrong), ...Cause.orphans(run)],
    restorable: (run) => [Story.plain(run.wrong), Cause.missing(run)],
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

  // Tells what has come to messages whose reception is undone and which have not come again.
  undoneMessages(run) {
    const kept = (s, slot) => run.h.kept.get(`${s.rank} ${slot}`)?.findLast(({step}) => step < s.step)?.number;
    const has = (m, rank, ...names) => run.steps.find((s) => s.rank === rank && s.step > m.sent && s.actions.some((a) => names.includes(a.name) && Story.number(a, 'slot', 0) > 0 && kept(s, Story.number(a, 'slot', 0)) === m.number));
    return Cause.torn(run, false).filter((m) => !has(m, m.from, 'resend') && !has(m, m.to, 'deliver')).slice(0, 2).map((m) => {
      const freed = has(m, m.from, 'forget');
      return `message ${m.number}, which rank ${m.to} received at step ${m.received}, is undone there, and rank ${m.from} has not sent it again` + (freed ? `: it has freed its copy at step ${freed.step}` : '');
    });
  },

  // Says which step breaks an invariant.
  broken: (run) => [`${Story.event(run.steps[run.wrong.step], run.h)} (step ${run.wrong.step}): after that the invariant is broken${run.wrong.rank === null ? '' : ` at rank ${run.wrong.rank}`}`, ...Cause.undoneMessages(run)],

  // Says what a program suffers. An invariant is broken before anything is seen of that.
  harm(run) {
    const invariant = Cause.invariant(run), known = Story.words.harms[run.wrong.property]?.text || '';
    return !invariant ? known : `None is seen yet: the run was stopped at step ${run.wrong.step}, when the invariant was broken.` + (invariant.otherwise ? ` The invariant guards against this: ${invariant.otherwise}.` : '');
  },

  // Says why an image that a restart needs is not there.
  missing({wrong, steps}) {
    const checkpoint = /checkpoint (\d+)/.exec(wrong.text)?.[1], own = steps.filter((s) => s.rank === wrong.rank);
    const has = (item, name) => item.name === name && item.fields.checkpoint === checkpoint;
    const stored = own.findLast((s) => s.actions.some((action) => has(action, 'store'))), durable = own.findLast((s) => has(s.event, 'durable'));
    const erased = steps.findLast((s) => s.actions.some((action) => has(action, 'erase')));
    return erased ? `rank ${erased.rank} erases it at step ${erased.step}` : !stored ? 'its writing never began' : durable ? `it was written by step ${durable.step}` : `its writing began at step ${stored.step} and had not ended when the rank crashed`;
  },

  phases: (run) => run.ranks.map((r, rank) => r.finished || !run.phase(rank) ? '' : `rank ${rank} is in its phase ${run.phase(rank)}`).filter(Boolean),

  messages: (run) => [Story.plain(run.wrong), ...[...run.wrong.messages].sort((a, b) => a - b).map((number) => Cause.tale(run, number))].filter(Boolean),

  effect(run) {
    const {wrong} = run, real = run.real && ['deadlock', 'progress'].includes(wrong.property);
    const told = Cause.violated[wrong.property] && !real ? Cause.violated[wrong.property](run) : [Story.plain(wrong)];
    return told.slice(0, Cause.MOST).map(Cause.sentence).join(' ');
  },

  // ---- the story ----

  // Says where the cause shows: where a mutant first does otherwise than its protocol, or an injected fault.
  shows({steps, h, found, difference, decode}) {
    const lie = steps.find((s) => s.event.name === 'lie');
    const others = found.slice(1, Cause.MOST), more = found.length > Cause.MOST ? ` and ${found.length - Cause.MOST} more` : '';
    if (found.length)
      return `At step ${found[0]}: ${Story.event(steps[found[0]], h)}. ${Story.otherwise(difference(found[0]), steps[found[0]], h, decode)}` +
        (others.length ? ` The rule is missing again at ${Cause.steps(others)}${more}.` : '');
    return lie ? `At step ${lie.step}: ${Story.event(lie, h)}.` : '';
  },

  // Returns [name, text] of each part of the story of a run. In a text, "step 3" stands for a link.
  tell(run) {
    const {wrong, steps, found} = run, words = Story.words, invariant = Cause.invariant(run), begins = found[0] ?? steps.find((s) => s.event.name === 'lie')?.step ?? 0;
    const events = Cause.events(run), said = (list) => Cause.sentence(list.slice(-Cause.MOST).map(({text}) => text).join('; '));
    const before = events.filter(({step}) => step < begins), after = events.filter(({step}) => step >= begins);
    return [
      ['Promise', invariant ? `Invariant ${invariant.number} of the protocol: ${invariant.text}.` : words.rules[wrong.property]?.text || ''],
      ['Flaw', run.mutant ? run.statement : ''],
      ['Before', said(before)],
      ['Cause', Cause.shows(run)],
      ['Then', said(after)],
      ['Effect', Cause.effect(run)],
      ['Harm', Cause.harm(run)],
    ].filter(([, text]) => text);
  },
};
if (typeof module === 'object') module.exports = {Cause};

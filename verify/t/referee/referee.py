"""A second referee: enumerates small worlds by brute force.

The rules are those of docs/explorer.md, docs/scenario.md and protocols/protocol.h, written down a
second time: MPI's matching with wildcards, tags, requests and messages to oneself, choices, stable
storage whose writes end in any order, crashes at any point, detection, restart. States are plain
tuples in a set; nothing is interned, cached or reduced. verify/t/referee.t compares what comes out
with `recline check`.
"""
import collections

import protocols

ANY = -1
FRESH = 0  # the checkpoint from which a rank starts that has none
NEW, RUNNING, CAPTURING, RESTORING, DEAD, RESTARTING = range(6)

MACHINE = dict(phase=NEW, timer=False, gave_up=False, held=False, drains=False, began=0, noticed=0,
               image=None, origin=FRESH, disk=(), kept=(), unexpected=())
PROGRAM = dict(at=0, finished=False, waits=None, sending=0, receives=0, history=0, names=(),
               posted=(), sent=(), given=())
GLOBAL = dict(committed=FRESH, committing=0, target=FRESH, incarnation=0, crashes=0, timers=0,
              requested=False, down=-1)

Message = collections.namedtuple('Message', 'incarnation tag number content')
Receive = collections.namedtuple('Receive', 'request source tag announced')
Kept = collections.namedtuple('Kept', 'slot peer message')
Record = collections.namedtuple('Record', 'checkpoint part durable image state')


class Case:
    """A world to judge. Scripts are lists of operations: a word of world/script/script.h, then what
    follows it."""

    def __init__(self, scripts, protocol='none', order='any', anywhere=True, crashes=0,
                 checkpoints=0):
        self.scripts, self.name, self.order, self.anywhere = scripts, protocol, order, anywhere
        self.crashes, self.checkpoints, self.count = crashes, checkpoints, len(scripts)
        self.protocol = protocols.protocol(protocol, len(scripts))
        self.rank = {**MACHINE, **PROGRAM, **self.protocol.FIELDS}
        self.outcomes = None  # histories with which the programs can end; None: not judged


class Fields:
    """Named values, made from a tuple and back."""

    def __init__(self, names, values):
        self.__dict__ = dict(zip(names, values))

    def copy(self):
        other = Fields.__new__(Fields)
        other.__dict__ = self.__dict__.copy()
        return other

    def frozen(self):
        return tuple(self.__dict__.values())

    def set(self, fields):
        self.__dict__.update(fields)

    def some(self, names):
        return tuple(getattr(self, name) for name in names)


class Folds(dict):
    """Numbers histories, so that equal ones are equal numbers."""

    def __missing__(self, key):
        self[key] = len(self) + 1
        return self[key]


FOLDS = Folds()


def matches(source, tag, peer, sent_tag):
    return source in (ANY, peer) and tag in (ANY, sent_tag)


class World:
    """One state, to look at; or its copy, to change by one move."""

    def __init__(self, case, state):
        self.case, self.protocol, self.state = case, case.protocol, state
        self.ranks = [Fields(case.rank, rank) for rank in state[0]]
        self.messages, self.controls = map(list, state[1:3])
        self.globals = Fields(GLOBAL, state[3])
        self.moved = self.wrong = None  # the rank that moves, the property that this violates

    def copy(self, rank):
        """For a move of that rank; None: of all."""
        other = World.__new__(World)
        other.__dict__ = self.__dict__.copy()
        other.moved, other.stores = rank, []
        other.ranks = [me.copy() for me in self.ranks] if rank is None else list(self.ranks)
        if rank is not None:
            other.ranks[rank] = self.ranks[rank].copy()
        other.globals = self.globals.copy()
        other.messages, other.controls = list(self.messages), list(self.controls)
        return other

    def frozen(self):
        if self.moved is None:
            ranks = [me.frozen() for me in self.ranks]
        else:
            ranks = list(self.state[0])
            ranks[self.moved] = self.ranks[self.moved].frozen()
        return tuple(ranks), tuple(self.messages), tuple(self.controls), self.globals.frozen()

    def violate(self, name):
        self.wrong = self.wrong or name

    # ---- channels ----

    def pair(self, source, to):
        return source * self.case.count + to

    def put(self, channels, source, to, message):
        other = self.ranks[to]
        restarts = other.phase in (RESTARTING, RESTORING)
        if other.phase == DEAD or message[0] < (self.globals.incarnation if restarts else other.began):
            return
        pair = self.pair(source, to)
        channels[pair] += (message,)
        if channels is self.messages and self.case.order == 'none':
            channels[pair] = tuple(sorted(channels[pair]))

    def pull(self, channels, source, to, place):
        pair = self.pair(source, to)
        channel = channels[pair]
        channels[pair] = channel[:place] + channel[place + 1:]
        return channel[place]

    def tell(self, rank, to, *words):
        self.put(self.controls, rank, to, (self.ranks[rank].noticed, *words))

    def tell_all(self, rank, *words):
        for to in range(self.case.count):
            if to != rank:
                self.tell(rank, to, *words)

    def exists(self, to, message):
        return self.ranks[to].began <= message[0] <= self.ranks[to].noticed

    def receive_for(self, rank, peer, message):
        for receive in self.ranks[rank].posted:
            if receive.announced and matches(receive.source, receive.tag, peer, message.tag):
                return receive
        return None

    def arrivals(self, peer, rank):
        """Places of messages that may come now, with their receives (None: it is drained)."""
        me, earlier = self.ranks[rank], []
        for place, message in enumerate(self.messages[self.pair(peer, rank)]):
            if not self.exists(rank, message):
                continue
            receive = self.receive_for(rank, peer, message)
            if self.case.order != 'any' or self.protocol.BELOW:
                behind = bool(earlier) and self.case.order != 'none'
            elif receive:
                behind = any(matches(receive.source, receive.tag, peer, m.tag) for m in earlier)
            else:
                behind = any(not self.receive_for(rank, peer, m) for m in earlier)
            earlier.append(message)
            if not behind and (receive or self.protocol.BELOW or (me.held and me.drains)):
                yield place, receive

    # ---- programs ----

    def begin_program(self, rank):
        self.ranks[rank].history = FOLDS[0, ('rank', rank)]
        self.advance(rank)

    def operation(self, rank):
        ops, at = self.case.scripts[rank], self.ranks[rank].at
        return ops[at] if at < len(ops) else ('end',)

    def request(self, rank, name):
        """Number and content of the receive of that name; None: none is outstanding."""
        return dict(self.ranks[rank].names).get(name)

    def has_come(self, rank, name):
        request = self.request(rank, name)
        return bool(request) and request[1] is not None

    def set_request(self, rank, name, value):
        names = {**dict(self.ranks[rank].names), name: value}
        self.ranks[rank].names = tuple(sorted((n, v) for n, v in names.items() if v))

    def advance(self, rank):
        """Passes what needs no event."""
        me = self.ranks[rank]
        while not me.sending and not me.finished:
            kind, *args = self.operation(rank)
            completes = kind in ('wait', 'test', 'waitany')
            if me.waits is not None:
                if not self.has_come(rank, me.waits):
                    return
                me.history = FOLDS[me.history, self.request(rank, me.waits)[1]]
                self.set_request(rank, me.waits, None)
                me.waits = None
                me.at += 1
            elif kind == 'wait' and self.request(rank, args[0]):
                me.waits = args[0]
            elif completes and not any(self.request(rank, name) for name in args):
                me.at += 1
            elif kind == 'checkpoint' and self.case.anywhere:
                me.at += 1
            elif kind == 'end':
                me.finished = True
            else:
                return

    def give(self, rank, request, peer, message):
        me = self.ranks[rank]
        me.posted = tuple(r for r in me.posted if r.request != request)
        given = dict(me.given)
        before = given.get((peer, message.tag), ())
        if message.number != len(before) + 1:
            self.violate('no-loss' if message.number > len(before) + 1 else 'no-duplicate')
        given[peer, message.tag] = before + (message.content,)
        me.given = tuple(sorted(given.items()))
        for name, (number, _) in me.names:
            if number == request:
                self.set_request(rank, name, (number, message.content))

    # ---- which moves there are: what happens, the rank, with what ----

    def moves(self):
        if any(me.gave_up for me in self.ranks):
            return
        for rank, me in enumerate(self.ranks):
            yield from self.moves_of(rank, me)
        if self.all_finished():
            return
        for rank, me in enumerate(self.ranks):
            if self.globals.crashes and me.phase in (RUNNING, CAPTURING, RESTORING):
                yield World.crash, rank
        if any(me.phase == DEAD for me in self.ranks):
            yield World.detect, None

    def moves_of(self, rank, me):
        late = me.noticed != self.globals.incarnation
        if me.phase in (NEW, RESTARTING) or (me.phase == RESTORING and not late):
            yield World.start, rank
        if me.phase in (RUNNING, CAPTURING, RESTORING) and late:
            yield World.down, rank
        if me.phase == CAPTURING:
            yield World.end_capture, rank
        if me.phase != RUNNING:
            return
        if me.timer and self.globals.timers:
            yield World.ring, rank
        if not me.held:
            yield from self.moves_of_program(rank, me)
        for record in me.disk:
            if not record.durable:
                yield World.end_write, rank, record
        if rank == 0 and self.globals.committing:
            yield World.end_commit, rank
        for peer in range(self.case.count):
            for place, receive in self.arrivals(peer, rank):
                yield World.take, rank, peer, place, receive
            for place, control in enumerate(self.controls[self.pair(peer, rank)]):
                if self.exists(rank, control):
                    yield World.take_control, rank, peer, place
                    break

    def moves_of_program(self, rank, me):
        pending = next((receive for receive in me.posted if not receive.announced), None)
        kind, *args = self.operation(rank)
        busy = pending or me.finished or me.sending or me.waits is not None
        place = self.case.anywhere or me.finished or (kind == 'checkpoint' and not busy)
        if place and not self.protocol.BELOW:
            yield World.pass_place, rank
        if me.sending and not self.is_under_way(rank, me):
            yield World.end_send, rank
        if pending:
            yield World.announce, rank, pending
        elif busy:
            return
        elif kind in ('send', 'ssend'):
            yield World.send, rank, kind, *args
        elif kind in ('recv', 'irecv'):
            yield World.post, rank, kind, *args
        elif kind == 'choose':
            for outcome in range(args[0]):
                yield World.choose, rank, outcome, None
        elif kind == 'test':
            yield World.choose, rank, 0, None
            if self.has_come(rank, args[0]):
                yield World.choose, rank, 1, args[0]
        elif kind == 'waitany':
            for outcome, name in enumerate(args):
                if self.has_come(rank, name):
                    yield World.choose, rank, outcome, name

    def is_under_way(self, rank, me):
        """The message of the synchronous send that the program is in, or it is unexpected."""
        _, to, tag = self.case.scripts[rank][me.at - 1]
        return any(m.tag == tag and m.incarnation + 1 == me.sending
                   for m in self.messages[self.pair(rank, to)]) or any(
                       (peer, m.tag) == (rank, tag) for peer, m in self.ranks[to].unexpected)

    def take_move(self, move, rank, *args):
        if rank is None:
            move(self, *args)
            return
        me = self.ranks[rank]
        move(self, rank, me, *args)
        for part in self.stores:
            self.write(me, part)
        if me.phase == RUNNING:
            self.advance(rank)

    # ---- moves of the program ----

    def send(self, rank, me, kind, to, tag):
        content = FOLDS[me.history, ('place', me.at)]
        number = 1 + sum((peer, t) == (to, tag) for peer, t, _ in me.sent)
        me.sent += ((to, tag, content),)
        me.at += 1
        self.protocol.send(self, rank, me, to)
        self.put(self.messages, rank, to, Message(me.noticed, tag, number, content))
        if kind == 'ssend':
            me.sending = me.noticed + 1

    def end_send(self, rank, me):
        me.sending = 0

    def post(self, rank, me, kind, *args):
        name, source, tag = args if kind == 'irecv' else ('', *args)
        me.receives += 1
        receive = Receive(me.receives, source, tag, False)
        me.posted += (receive,)
        self.set_request(rank, name, (me.receives, None))
        if kind == 'irecv':
            me.at += 1
        else:
            me.waits = name
        self.announce(rank, me, receive)

    def announce(self, rank, me, receive):
        """Gives it the first message that it matches: unexpected, or kept by the protocol."""
        for peer, message in me.unexpected:
            if matches(receive.source, receive.tag, peer, message.tag):
                me.unexpected = tuple(u for u in me.unexpected if u[1] is not message)
                self.give(rank, receive.request, peer, message)
                return
        for kept in me.kept:
            if matches(receive.source, receive.tag, kept.peer, kept.message.tag):
                me.kept = tuple(k for k in me.kept if k is not kept)
                self.give(rank, receive.request, kept.peer, kept.message)
                return
        self.mark_announced(me, receive, True)

    def mark_announced(self, me, receive, announced):
        me.posted = tuple(r._replace(announced=announced) if r is receive else r for r in me.posted)

    def choose(self, rank, me, outcome, completed):
        me.history = FOLDS[me.history, ('outcome', outcome)]
        if completed is None:
            me.at += 1
        else:
            me.waits = completed

    def pass_place(self, rank, me):
        self.protocol.safe_point(self, rank, me)
        if not self.case.anywhere and not me.finished:
            me.at += 1

    # ---- moves of the network ----

    def take(self, rank, me, peer, place, receive):
        message = self.pull(self.messages, peer, rank, place)
        if self.protocol.BELOW and not receive:
            me.unexpected += ((peer, message._replace(incarnation=0)),)
        elif not self.protocol.arrived(self, rank, me, peer, receive):
            self.give(rank, receive.request, peer, message)
        else:
            slot = next(s for s in range(1, 99) if all(k.slot != s for k in me.kept))
            me.kept += (Kept(slot, peer, message._replace(incarnation=0)),)
            if receive:
                self.mark_announced(me, receive, False)
        self.protocol.taken(self, rank, me)

    def take_control(self, rank, me, peer, place):
        _, *words = self.pull(self.controls, peer, rank, place)
        self.protocol.control(self, rank, me, peer, *words)

    # ---- checkpoints ----

    def is_fenced(self, me):
        return me.began < self.globals.incarnation

    def ring(self, rank, me):
        me.timer = False
        if not self.is_fenced(me):
            self.globals.timers -= 1
            self.globals.requested = True
        self.protocol.timer(self, rank, me)

    def capture(self, me):
        me.phase = CAPTURING

    def end_capture(self, rank, me):
        me.image = me.some(PROGRAM)
        me.phase = RUNNING
        self.protocol.captured(self, rank, me)

    def store(self, me, part):
        self.stores.append(part)

    def write(self, me, part):
        """A part of a checkpoint, with the state behind the step."""
        if self.is_fenced(me):
            return
        image = None
        if part == protocols.IMAGE:
            image, me.image = me.image, None
        me.disk = tuple(r for r in me.disk if (r.checkpoint, r.part) != (me.captured, part))
        me.disk += (Record(me.captured, part, False, image, me.some(self.protocol.STORED)),)

    def erase(self, me, checkpoint):
        if not self.is_fenced(me):
            me.disk = tuple(r for r in me.disk if r.checkpoint != checkpoint)

    def end_write(self, rank, me, record):
        me.disk = tuple(r._replace(durable=True) if r is record else r for r in me.disk)
        self.protocol.durable(self, rank, me, record.part)

    def commit(self, me, checkpoint):
        if not self.is_fenced(me):
            self.globals.committing = checkpoint

    def end_commit(self, rank, me):
        self.globals.set(dict(committed=self.globals.committing, committing=0, requested=False))
        self.protocol.committed(self, rank, me)

    # ---- crashes ----

    def wipe(self, rank, phase, least):
        """The rank's memory is lost, and messages to it from incarnations before `least`."""
        me = self.ranks[rank]
        noticed, disk = me.noticed, me.disk
        me.set(self.case.rank)
        me.phase, me.noticed, me.disk = phase, noticed, disk
        for channels in self.messages, self.controls:
            for peer in range(self.case.count):
                pair = self.pair(peer, rank)
                channels[pair] = tuple(m for m in channels[pair] if m[0] >= least)

    def crash(self, rank, me):
        finished = me.finished
        self.wipe(rank, DEAD, float('inf'))
        me.finished, me.noticed = finished, 0
        me.disk = tuple(r for r in me.disk if r.durable)
        self.globals.crashes -= 1
        if rank == 0:
            self.globals.committing, self.globals.requested = 0, False

    def detect(self):
        shared = self.globals
        dead = [rank for rank, me in enumerate(self.ranks) if me.phase == DEAD]
        shared.set(dict(committing=0, requested=False, target=shared.committed, down=dead[0],
                        incarnation=shared.incarnation + 1))
        for rank, me in enumerate(self.ranks):
            me.disk = tuple(r for r in me.disk if r.durable)
            if rank in dead:
                me.phase, me.finished = RESTARTING, False

    def down(self, rank, me):
        me.phase, me.noticed = RUNNING, self.globals.incarnation
        if self.protocol.down(self, rank, me):
            self.wipe(rank, RESTORING, self.globals.incarnation)
        else:
            me.gave_up = True
            self.violate('recovers')

    def start(self, rank, me):
        shared = self.globals
        checkpoint = FRESH if me.phase == NEW else shared.target
        self.wipe(rank, RUNNING, shared.incarnation)
        me.began = me.noticed = shared.incarnation
        me.origin = checkpoint
        me.disk = tuple(r for r in me.disk if r.checkpoint == checkpoint)
        if checkpoint == FRESH:
            self.begin_program(rank)
        elif not self.restore(me):
            self.violate('restorable')
            return
        self.protocol.start(self, rank, me)
        if shared.incarnation and all(
                other.phase == NEW or (other.phase in (RUNNING, CAPTURING) and
                                       other.noticed == shared.incarnation) for other in self.ranks):
            shared.target, shared.down = FRESH, -1

    def restore(self, me):
        parts = {r.part: r for r in me.disk if r.durable}
        image = parts.get(protocols.IMAGE)
        if not image:
            return False
        me.set(zip(PROGRAM, image.image))
        me.set(zip(self.protocol.STORED, parts.get(protocols.LOG, image).state))
        me.sending = 0
        me.posted = tuple(r._replace(announced=False) for r in me.posted)
        return True

    # ---- verdicts on states ----

    def is_finished(self, me):
        return (me.phase in (RUNNING, CAPTURING) and me.finished and not me.held and
                me.noticed == self.globals.incarnation)

    def all_finished(self):
        return all(self.is_finished(me) for me in self.ranks)

    def histories(self):
        return tuple(me.history for me in self.ranks)

    def judge_end(self):
        """Properties that a state violates in which all programs have ended."""
        if self.case.outcomes and self.histories() not in self.case.outcomes:
            yield 'outcome'
        for rank, me in enumerate(self.ranks):
            given = dict(me.given)
            for (peer, tag), contents in me.given:
                sent = tuple(c for to, t, c in self.ranks[peer].sent if (to, t) == (rank, tag))
                if sent[:len(contents)] != contents:
                    yield 'agreement'
            left = list(me.unexpected)
            for peer in range(self.case.count if not me.drains and not self.protocol.BELOW else 0):
                left += [(peer, m) for m in self.messages[self.pair(peer, rank)]
                         if self.exists(rank, m)]
            if any(m.number <= len(given.get((peer, m.tag), ())) for peer, m in left):
                yield 'no-duplicate'

    def judge_rest(self):
        """Properties that a state violates which nothing but a crash leaves."""
        if not self.all_finished():
            yield 'deadlock'
        if self.globals.requested:
            yield 'commits'
        elif self.protocol.CHECKPOINTS and not self.ranks[0].timer:
            yield 'requests'

    def settled(self):
        """The state without stored contents, once no rank will start from them."""
        shared = self.globals
        recovered = not self.case.crashes or shared.incarnation
        if (shared.crashes or shared.down >= 0 or not recovered or
                any(me.phase == DEAD for me in self.ranks)):
            return self.state
        other = self.copy(None)
        for me in other.ranks:
            me.image = None if me.image is None else ()
            me.disk = tuple(r._replace(image=r.image and (), state=()) for r in me.disk)
        return other.frozen()


# `states`, `transitions` and `depths` are pairs: with all stored contents, and settled. Of depths
# there are two where a move and a state are violations of the same level.
Result = collections.namedtuple('Result', 'properties states transitions depths outcomes')


def first_state(case):
    shared = {**GLOBAL, 'crashes': case.crashes, 'timers': case.checkpoints}
    empty = ((),) * case.count ** 2
    ranks = (tuple(case.rank.values()),) * case.count
    world = World(case, (ranks, empty, empty, tuple(shared.values()))).copy(None)
    for rank in range(case.count):
        world.begin_program(rank)
    return world.frozen()


class Search:
    def __init__(self, case):
        self.case, self.level, self.following = case, [first_state(case)], []
        self.seen, self.settled, self.outcomes = set(self.level), set(), set()
        self.transitions, self.depth, self.deepest = [0, 0], 0, 0
        self.wrong, self.lengths = set(), set()  # properties, and moves that lead to a violation

    def expand(self, state):
        world, still = World(self.case, state), True
        moves = list(world.moves())
        for move in moves:
            after = world.copy(move[1])
            after.take_move(*move)
            if after.wrong:
                self.wrong.add(after.wrong)
                self.lengths.add(self.depth + 1)
            then = after.frozen()
            still &= move[0] is World.crash or then == state
            known = len(self.seen)
            self.seen.add(then)  # to look first would hash it twice
            if len(self.seen) > known:
                self.following.append(then)
        if not any(me.gave_up for me in world.ranks):
            self.judge(world, still)
        self.transitions[0] += len(moves)
        known = len(self.settled)
        self.settled.add(world.settled())
        if len(self.settled) > known:
            self.transitions[1] += len(moves)
            self.deepest = self.depth

    def judge(self, world, still):
        wrong = set(world.judge_rest()) if still else set()
        if world.all_finished():
            self.outcomes.add(world.histories())
            wrong.update(world.judge_end())
        self.wrong |= wrong
        self.lengths |= {self.depth} if wrong else set()


def explore(case, most):
    """Level by level, to the first that has a violation; None: there are more states."""
    search = Search(case)
    while True:
        states = len(search.seen)
        for state in search.level:
            search.expand(state)
        if search.wrong or not search.following:
            depths = search.lengths or {search.depth}, search.lengths or {search.deepest}
            return Result(search.wrong, (states, len(search.settled)), search.transitions, depths,
                          search.outcomes)
        if len(search.seen) > most:
            return None
        search.level, search.following = search.following, []
        search.depth += 1

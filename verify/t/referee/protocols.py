"""The protocols of protocols.c, and `none`, as the referee knows them: what a rank does at an event.

`me` is the rank that the event happens at, `world` what it can ask of the machine. FIELDS is what a
protocol remembers of a rank, STORED what of it is written with a checkpoint and not forgotten by a
start; BELOW, whether it sits below MPI's matching.
"""
IMAGE, LOG = range(2)
IDLE, CAPTURING, COUNTING, WRITING = range(4)  # stages of a checkpoint under `pause`


class Nothing:
    """No fault tolerance: gives up at the first crash."""
    FIELDS, STORED, CHECKPOINTS, BELOW = {}, (), False, False

    def down(self, world, rank, me):
        return False

    def start(self, world, rank, me):
        pass

    def send(self, world, rank, me, to):
        pass

    def arrived(self, world, rank, me, peer, receive):
        """Whether the message is kept; else the program gets it."""
        return False

    def taken(self, world, rank, me):
        pass

    def safe_point(self, world, rank, me):
        pass


class Again(Nothing):
    """Below MPI's matching: after a crash all begin again."""
    BELOW = True

    def down(self, world, rank, me):
        return True


class Local(Nothing):
    """Each rank for itself, where its program allows a checkpoint; nothing in transit is kept."""
    FIELDS = dict(captured=0, wanted=False, doing=0, done=0)
    STORED, CHECKPOINTS = ('captured',), True

    def down(self, world, rank, me):
        return True

    def start(self, world, rank, me):
        me.timer = rank == 0

    def timer(self, world, rank, me):
        me.doing = me.captured + 1
        world.tell_all(rank, 'request', me.doing)
        self.request(world, rank, me)

    def request(self, world, rank, me):
        me.wanted = True

    def safe_point(self, world, rank, me):
        if me.wanted:
            me.wanted = False
            me.captured += 1
            world.capture(me)

    def control(self, world, rank, me, peer, kind, value):
        if kind == 'request':
            self.request(world, rank, me)
        elif kind == 'done':
            self.count(world, me)

    def captured(self, world, rank, me):
        world.store(me, IMAGE)

    def durable(self, world, rank, me, part):
        self.finish(world, rank, me)

    def finish(self, world, rank, me):
        if rank == 0:
            self.count(world, me)
        else:
            world.tell(rank, 0, 'done', me.captured)

    def count(self, world, me):
        me.done += 1
        if me.done == len(world.ranks):
            world.commit(me, me.doing)

    def committed(self, world, rank, me):
        me.doing, me.done, me.timer = 0, 0, True


class Pause(Local):
    """Holds programs, captures, keeps what is under way until the marks of all peers are reached."""

    def __init__(self, ranks, without):
        none = (0,) * ranks
        self.without, self.no_marks = without, (None,) * ranks
        self.FIELDS = dict(captured=0, stage=IDLE, parts=0, doing=0, done=0, marks=self.no_marks,
                           out=none, into=none)
        self.STORED = ('captured', 'out', 'into', 'kept')

    def request(self, world, rank, me):
        if self.without == 'patience' and me.captured:
            world.erase(me, me.captured)
        me.captured += 1
        me.stage, me.held, me.drains = CAPTURING, True, True
        world.capture(me)
        if self.without != 'count':
            me.marks = put(me.marks, rank, me.out[rank])
            for to, sent in enumerate(me.out):
                if to != rank:
                    world.tell(rank, to, 'mark', sent)

    def send(self, world, rank, me, to):
        me.out = put(me.out, to, me.out[to] + 1)

    def arrived(self, world, rank, me, peer, receive):
        me.into = put(me.into, peer, me.into[peer] + 1)
        return not receive or me.stage == COUNTING

    def taken(self, world, rank, me):
        """Writes the log, if all messages from before the checkpoint are here."""
        if me.stage != COUNTING:
            return
        if self.without != 'count' and any(
                mark is None or came < mark for came, mark in zip(me.into, me.marks)):
            return
        me.marks, me.stage = self.no_marks, WRITING
        world.store(me, LOG)

    def safe_point(self, world, rank, me):
        pass

    def control(self, world, rank, me, peer, kind, value):
        if kind == 'mark':
            me.marks = put(me.marks, peer, value)
            self.taken(world, rank, me)
        elif kind == 'released':
            self.release(me)
        else:
            super().control(world, rank, me, peer, kind, value)

    def captured(self, world, rank, me):
        me.stage = COUNTING
        world.store(me, IMAGE)
        if self.without == 'hold':
            me.held = me.drains = False
        self.taken(world, rank, me)

    def durable(self, world, rank, me, part):
        me.parts |= 1 << part
        if part == IMAGE if self.without == 'log' else me.parts == 3:
            me.parts = 0
            self.finish(world, rank, me)

    def committed(self, world, rank, me):
        super().committed(world, rank, me)
        world.tell_all(rank, 'released', 0)
        self.release(me)

    def release(self, me):
        me.stage, me.held, me.drains = IDLE, False, False


def put(values, index, value):
    return values[:index] + (value,) + values[index + 1:]


PAUSES = ['pause', 'pause-without-count', 'pause-without-log', 'pause-without-hold',
          'pause-without-patience']


def protocol(name, ranks):
    if name in PAUSES:
        return Pause(ranks, name[len('pause-without-'):])
    return {'none': Nothing, 'again': Again, 'local': Local}[name]()

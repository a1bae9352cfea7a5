#!/usr/bin/python3
"""A second referee (verify/t/referee) judges random worlds, and so does `recline check`: the same
verdicts, and in searches of all states the same numbers of states and of transitions and depth.

    referee.t                  RECLINE_RANDOM worlds (200; with RECLINE_LONG=1 500) from RECLINE_SEED (1) on
    referee.t SEED             prints the claim of this world

Each world is a script of 2 or 3 ranks under `none` or a protocol of verify/t/referee/protocols.c.
Where several properties are violated at one depth, recline's must be among them.
"""
import collections, json, os, random, subprocess, sys, tempfile

here = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(here, 'referee'))
import protocols, referee  # noqa: E402

build = os.environ.get('RECLINE_BUILD', os.path.join(here, '../../build'))
recline = os.path.join(build, 'bin/recline')
MOST = 6000  # states of a world, with all contents

# Options of recline check, and which numbers of the referee they must come to; None: a reduction
# counts fewer states than a full search.
MODES = [(['--whole'], 0), ([], 1), (['--reduce=por'], None), (['--reduce=all'], None)]

KINDS = {'holds', 'no-loss', 'no-duplicate', 'deadlock', 'restorable', 'recovers', 'commits'}


def random_scripts(draw, ranks, operations):
    """Programs that can end, in some order; of one in eight an operation is lost."""
    scripts, under_way = [[] for _ in range(ranks)], []
    wild = [draw(4) for _ in range(ranks)]  # receives of a rank: any source, any tag
    pending = [[] for _ in range(ranks)]

    def complete(rank):
        names, kind = pending[rank], draw(4)
        if kind == 0 and len(names) > 1:
            scripts[rank].append(('waitany', *names[:2]))
        elif kind == 1:
            scripts[rank].append(('test', names[draw(len(names))]))
        else:
            scripts[rank].append(('wait', names.pop(draw(len(names)))))

    def receive():
        source, to, tag = under_way.pop(draw(2) % len(under_way))
        envelope = (referee.ANY if wild[to] & 1 else source, referee.ANY if wild[to] & 2 else tag)
        if draw(2):
            scripts[to].append(('recv', *envelope))
            return
        name = 'abcdefgh'[sum(op[0] == 'irecv' for op in scripts[to])]
        scripts[to].append(('irecv', name, *envelope))
        pending[to].append(name)

    for operation in range(operations):
        rank, kind = draw(ranks), draw(10) if operation else 0
        if kind < 4:
            to = rank if not draw(7) else (rank + 1 + draw(ranks - 1)) % ranks
            scripts[rank].append(('send' if draw(8) else 'ssend', to, draw(2)))
            under_way.append((rank, to, scripts[rank][-1][2]))
        elif kind < 6 and under_way:
            receive()
        elif kind == 6 and pending[rank]:
            complete(rank)
        elif kind == 7:
            scripts[rank].append(('choose', 2))
        elif kind > 7:
            scripts[rank].append(('checkpoint',))
    while under_way:
        receive()
    for rank in range(ranks):
        while pending[rank]:
            complete(rank)
    lost = [(ops, op) for ops in scripts for op in ops if op[0] in ('send', 'recv')]
    if lost and not draw(8):
        ops, op = lost[draw(len(lost))]
        ops.remove(op)
    return [ops or [('checkpoint',)] for ops in scripts]


def random_case(seed):
    generator = random.Random(seed)  # random() is the same in every version

    def draw(below):
        return int(generator.random() * below)

    names = ['none'] * 6 + ['again'] * 5 + ['local'] * 4 + protocols.PAUSES
    name = names[draw(len(names))]
    plain = name in ('none', 'again')  # without checkpoints
    crashes = draw(2) if plain else int(draw(5) > 0)
    ranks = 3 if (plain or name == 'local') and not crashes and not draw(3) else 2
    operations = 3 + draw(5 if name == 'again' and crashes else 8) if plain else 1 + draw(
        1 if name in ('pause-without-patience', 'pause-without-hold') else 2)
    return referee.Case(random_scripts(draw, ranks, operations), name,
                        ['any', 'any', 'fifo', 'none'][draw(4)],
                        bool(draw(2)) or name == 'again', crashes,
                        0 if plain else 1 + (name == 'pause-without-patience'))


def text_of(op):
    kind, *args = op
    args = ['any' if arg == referee.ANY else str(arg) for arg in args]
    tag = ['tag', args.pop()] if kind in ('send', 'ssend', 'recv', 'irecv') else []
    return ' '.join([kind, *args, *tag])


def claim_of(case, name, plugin):
    judged = ['no-loss', 'no-duplicate', 'legal', 'deadlock', 'recovers', 'agreement']
    judged += ['restorable', 'commits', 'requests'] if case.checkpoints else []
    judged += ['outcome'] if case.outcomes else []
    scripts = ''.join(f'    rank {rank}: {", ".join(map(text_of, ops))}\n'
                      for rank, ops in enumerate(case.scripts))
    file = '' if case.name == 'none' else f', file: {plugin}'
    return (f'id: {name}\nstatement: a random world\nprogram:\n  ranks: {case.count}\n'
            f'  script: |\n{scripts}protocol: {{name: {case.name}{file}, capacity: 12}}\n'
            f'checkpoint: {{places: {"anywhere" if case.anywhere else "program"}}}\n'
            f'check: {{checkpoints: {case.checkpoints}, crashes: {case.crashes}, '
            f'order: {case.order}, properties: [{", ".join(judged)}], '
            'reach: [ends 0, commits 0, recoveries 0, commits-after-recovery 0]}\n'
            'expect: {verdict: holds}\n')


def judge(seed):
    """The world and what the referee says of it; None where it has too many states. A program that
    does not always end has no outcomes."""
    case = random_case(seed)
    free = referee.explore(referee.Case(case.scripts, order=case.order), MOST)
    if not free:
        return None
    case.outcomes = free.outcomes if not free.properties else None
    result = referee.explore(case, MOST)
    return result and (case, result)


def check(files, options):
    """What recline says of each claim, by its id."""
    run = subprocess.run([recline, 'check', '--json', '--workers=1', *options, *files],
                         stdout=subprocess.PIPE, check=False)
    if run.returncode not in (0, 1):
        sys.exit(f'Bail out! recline check {" ".join(options)} ends with {run.returncode}')
    return {claim['id']: claim for claim in json.loads(run.stdout)['claims']}


def difference(result, said, which):
    """In what recline differs; empty: in nothing. Whether it is vacuous is not compared."""
    violated = said['verdict'] == 'violated'
    # A reduction may leave out the runs in which there was an occasion to judge.
    silent = which is None and said['verdict'] == 'inconclusive' and said['not_judged']
    known = said['verdict'] in ('holds', 'vacuous', 'violated') or silent
    if not known or violated != bool(result.properties):
        return f'{said["verdict"]} {said["property"]}, expected {result.properties or "holds"}'
    if which is None:
        return ''
    if violated and said['property'] not in result.properties:
        return f'{said["property"]} is violated, expected {result.properties}'
    for key, expected in (('states', {result.states[which]}),
                          ('transitions', {result.transitions[which]}),
                          ('depth', result.depths[which])):
        if said[key] not in expected:
            return f'{said[key]} {key}, expected {expected}'
    return ''


def compile_protocols(folder):
    plugin, source = os.path.join(folder, 'protocols.so'), os.path.join(here, 'referee/protocols.c')
    subprocess.run([os.environ.get('CC', 'cc'), '-std=c11', '-O2', '-Wall', '-Wextra', '-Werror',
                    '-shared', '-fPIC', '-I', os.path.join(build, 'include'), '-o', plugin, source],
                   check=True)
    return plugin


def main():
    if len(sys.argv) > 1:
        print(claim_of(random_case(int(sys.argv[1])), f'world-{sys.argv[1]}', 'protocols.so'), end='')
        return 0
    usual = 500 if os.environ.get('RECLINE_LONG') else 200
    first, worlds = int(os.environ.get('RECLINE_SEED', 1)), int(os.environ.get('RECLINE_RANDOM', usual))
    judged, seed, failed = {}, first, 0
    while len(judged) < worlds:
        one = judge(seed)
        judged.update({f'world-{seed}': one} if one else {})
        seed += 1
    print(f'# seeds {first} to {seed - 1}, {seed - first - worlds} with more than {MOST} states left out')
    seen = collections.Counter(name for _, result in judged.values()
                               for name in result.properties or ['holds'])
    print('# ' + ', '.join(f'{name} {count}' for name, count in seen.most_common()))
    with tempfile.TemporaryDirectory() as folder:
        plugin, files = compile_protocols(folder), []
        for name, (case, _) in judged.items():
            files.append(os.path.join(folder, name + '.yaml'))
            with open(files[-1], 'w', encoding='ascii') as out:
                out.write(claim_of(case, name, plugin))
        for number, (options, which) in enumerate(MODES, 1):
            said = check(files, options)
            wrong = [f'{name}: {text}' for name, (_, result) in judged.items()
                     for text in [difference(result, said[name], which)] if text]
            failed += bool(wrong)
            print(f'{"not ok" if wrong else "ok"} {number} - {len(said)} worlds, '
                  f'{" ".join(options) or "as is"}: the two judges agree')
            print(''.join(f'#   {line}\n' for line in wrong[:10]), end='', flush=True)
    missing = KINDS - set(seen) if worlds >= 200 else set()
    failed += bool(missing)
    print(f'{"not ok" if missing else "ok"} {len(MODES) + 1} - each kind of verdict occurs')
    print(''.join(f'#   no world for {kind}\n' for kind in sorted(missing)) + f'1..{len(MODES) + 1}')
    return int(failed > 0)


sys.exit(main())

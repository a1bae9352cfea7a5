#!/usr/bin/python3
# Tests the JSON Schemas of docs/schema. What recline writes now keeps to them, and has no member
# that they do not name. Every scenario of the tree keeps to the schema of scenarios, whose keys and
# choices are recline's.
import copy, glob, json, os, subprocess, sys, tempfile

try:
    import jsonschema, yaml
except ImportError:
    print('1..0 # SKIP python3-jsonschema and python3-yaml are not installed')
    sys.exit(0)

root = os.path.realpath(os.path.join(os.path.dirname(__file__), '..', '..'))
build = os.path.realpath(os.environ.get('RECLINE_BUILD', root + '/build'))
if 'SANITIZE:BOOL=ON' in open(build + '/CMakeCache.txt').read():
    print('1..0 # SKIP the MPI layer is not built with the sanitizers: it copies stacks')
    sys.exit(0)
schemas = {os.path.basename(f)[:-5]: json.load(open(f)) for f in glob.glob(root + '/docs/schema/*.json')}
store = {s['$id']: s for s in schemas.values()}
said = wrong = 0


def ok(good, name, *more):
    global said, wrong
    said += 1
    wrong += not good
    print('ok' if good else 'not ok', said, '-', name, flush=True)
    if not good:
        print('\n'.join('# ' + str(line) for line in more), flush=True)


def strict(schema):
    """The same, without members that are not named."""
    if isinstance(schema, list):
        return [strict(s) for s in schema]
    if not isinstance(schema, dict):
        return schema
    schema = {k: strict(v) for k, v in schema.items()}
    if 'properties' in schema and schema.get('type') == 'object':
        schema.setdefault('unevaluatedProperties', False)
    return schema


def errors(name, value, loosely=False):
    schema = schemas[name] if loosely else strict(schemas[name])
    if '$ref' in schema:  # a row has the members of a result, and its own
        base = copy.deepcopy(store[schema['$ref']])
        base['properties'].update(schema['properties'])
        base['required'] += schema['required']
        schema = strict(base)
    found = jsonschema.Draft202012Validator(schema).iter_errors(value)
    return [f"{'.'.join(map(str, e.absolute_path))}: {e.message[:200]}" for e in found]


def recline(*words):
    done = subprocess.run([build + '/bin/recline', *words], capture_output=True, text=True)
    return done.stdout


def refuses_less(name, value):
    """Each member that is needed is missed, and a text is no number."""
    for member in schemas[name]['required']:
        less = {k: v for k, v in value.items() if k != member}
        if not errors(name, less):
            return [member]
        if isinstance(value[member], (int, float)) and not errors(name, {**value, member: 'text'}):
            return [member]
    return []


def writes(name, value, what):
    found = errors(name, value)
    ok(not found, f'{what} keeps to {name}.json', *found)
    found = refuses_less(name, value)
    ok(not found, 'without a member it would not', *found)


os.chdir(tempfile.mkdtemp())
writes('result', json.loads(recline('run', 'demo', '--json')), 'recline run --json')
recline('run', 'domino', '--out', 'run')
writes('result', json.load(open('run/result.json')), 'result.json')
found = errors('scenario', yaml.safe_load(open('run/scenario.yaml')))
ok(not found, 'scenario.yaml of a run keeps to scenario.json', *found)
recline('check', 'none-lost', 'c3-no-suppress', '--out', 'check')
writes('check', json.load(open('check/check.json')), 'check.json')
found = errors('check', json.loads(recline('check', 'c3-recovers', '--reduce', 'por', '--max-states', '99', '--json')))
ok(not found, 'recline check --json keeps to check.json', *found)
writes('campaign', json.loads(recline('campaign', 'demo', '--runs', '2', '--sweep', 'detection=1ms,2ms',
                                      '--out', 'campaign', '--json')), 'recline campaign --json')
jacobi = build + '/t/jacobi-mpi'
if os.access(jacobi, os.X_OK):  # what processes on real MPI have left
    version = subprocess.run(['mpirun', '--version'], capture_output=True, text=True).stdout
    words = ['--allow-run-as-root', '--oversubscribe'] if 'Open MPI' in version else []
    subprocess.run(['mpirun', *words, '-n', '2', jacobi, '4', '10'], capture_output=True, timeout=120, check=True,
                   env={**os.environ, 'RECLINE_CHECKPOINTS': 'checkpoints', 'RECLINE_TRACE': '1'})
    recline('join', 'checkpoints', '--out', 'measured')
    writes('result', json.load(open('measured/result.json')), 'result.json of recline join')
recline('run', 'demo', '--out', 'demo-run')
writes('compare', json.loads(recline('compare', 'demo-run', 'run', '--json')), 'recline compare --json')
open('every.yaml', 'w').write("""program: {ranks: 1, script: 'rank 0: repeat 50 (compute 60s, checkpoint)'}
platform: {nodes: 1, mtbf: 1h, memory: 1GBps}
protocol: {name: bookmark}
checkpoint: {storage: local, writes: foreground, places: program, bytes: 10GB}
failures: [{law: exponential}]
""")
if os.access(build + '/bin/recline-prove', os.X_OK):
    writes('prove', json.loads(recline('prove', 'blocking~wants-alone', '--json')), 'recline prove --json')
    verdicts = [(p['protocol'], p['verdict']) for p in
                json.loads(recline('prove', 'blocking~wants-alone', 'none', '--json'))['proofs']]
    ok(verdicts == [('blocking~wants-alone', 'fails'), ('none', 'undecided')], 'of each protocol in order', verdicts)
writes('interval', json.loads(recline('interval', 'every.yaml', '--runs', '2', '--json')), 'recline interval --json')
writes('interval', json.loads(recline('interval', 'every.yaml', '--theory', '--sweep', 'checkpoint.storage=local,tape',
                                     '--json')), 'recline interval --theory --json')
rows = [json.loads(line) for line in open('campaign/runs.jsonl')]
writes('campaign-row', rows[0], 'a line of runs.jsonl')
ok(len(rows) == 4 and not any(errors('campaign-row', row) for row in rows), 'so do the others')
open('demo.yaml', 'w').write(open(root + '/scenarios/demo.yaml').read())
open('plan.ini', 'w').write('[run r]\nscenario = demo.yaml\n[row a]\nvalue = [r crashes]\n')
open('published.csv', 'w').write('id,source,where,quantity,condition,value,unit\na,A,T,crashes,x,1,s\nb,A,T,crashes,x,2,s\n')
writes('replication', json.loads(recline('replicate', '--plan', 'plan.ini', '--published', 'published.csv', '--json')),
       'recline replicate --json')

# ---- scenarios ----


def paths(schema, prefix=''):
    """Every key as --set names it, with the choices that it has."""
    for name, below in schema['properties'].items():
        if 'properties' in below:
            yield from paths(below, prefix + name + '.')
        elif 'properties' in below.get('items', {}):
            yield from paths(below['items'], prefix + name + '.0.')
        else:
            yield prefix + name, set(below.get('enum', []))


known = {key.rstrip('=') for key in recline('--complete', 'run', 'x', '--set', '').split() if key != '/'}
told = dict(paths(schemas['scenario']))
ok(len(known) > 70 and set(told) == known, 'scenario.json has the keys of scenarios', set(told) ^ known)
for key, choices in told.items():
    if choices:
        offered = recline('--complete', 'run', 'x', '--set', key + '=').split()
        ok({o.split('=')[1] for o in offered} == choices, 'and the choices of ' + key, offered, choices)
bad = []
count = 0
for file in sorted(glob.glob(root + '/scenarios/*.yaml') + glob.glob(root + '/verify/claims/**/*.yaml', recursive=True) +
                   glob.glob(root + '/verify/mutants/*/*.yaml') + glob.glob(root + '/verify/matrix/*.yaml') +
                   glob.glob(root + '/examples/*.yaml')):
    count += 1
    bad += [file + ': ' + e for e in errors('scenario', yaml.load(open(file), yaml.CSafeLoader))]
ok(count > 500 and not bad, 'every scenario and claim keeps to it', count, *bad[:9])
good = yaml.safe_load(open(root + '/scenarios/demo.yaml'))
for key, value in ('sede', 1), ('detection', '5 parsecs'), ('checkpoint', {'places': 'nowhere'}), ('program', {}):
    ok(errors('scenario', {**good, key: value}, loosely=True), f'but not with {key}: {value}')
print(f'1..{said}')
sys.exit(wrong > 0)

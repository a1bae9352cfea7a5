// Drives Chromium by its debugging protocol, over a pipe: no port, no library. `open(downloads)` gives a page
// as functions; close() fails if something in the page has failed. Tests of pages share the functions below.
'use strict';
const {spawn} = require('child_process'), fs = require('fs'), os = require('os'), path = require('path');

async function open(downloads) {
  const profile = fs.mkdtempSync(path.join(os.tmpdir(), 'recline-browser-'));
  const child = spawn('chromium', ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage',
    '--remote-debugging-pipe', '--window-size=1400,1000', `--user-data-dir=${profile}`, 'about:blank'],
  {stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe']});
  const waiting = new Map(), listening = [], problems = [];
  let count = 0, rest = '';
  child.stdio[4].on('data', (bytes) => {
    const parts = (rest + bytes).split('\0');
    rest = parts.pop();
    for (const part of parts) {
      const message = JSON.parse(part);
      if (message.method === 'Runtime.exceptionThrown')
        problems.push(message.params.exceptionDetails.exception?.description || message.params.exceptionDetails.text);
      for (const hear of [...listening]) hear(message);
      const [done, failed] = waiting.get(message.id) || [];
      waiting.delete(message.id);
      if (message.error) failed(new Error(message.error.message));
      else if (done) done(message.result);
    }
  });
  const send = (method, params = {}, sessionId) => new Promise((done, failed) => {
    waiting.set(++count, [done, failed]);
    child.stdio[3].write(JSON.stringify({id: count, method, params, sessionId}) + '\0');
  });
  const heard = (is) => new Promise((done) => {
    const hear = (message) => {
      if (!is(message)) return;
      listening.splice(listening.indexOf(hear), 1);
      done(message);
    };
    listening.push(hear);
  });
  const {targetId} = await send('Target.createTarget', {url: 'about:blank'});
  const {sessionId} = await send('Target.attachToTarget', {targetId, flatten: true});
  const call = (method, params) => send(method, params, sessionId);
  await call('Runtime.enable');
  await call('Page.enable');
  await send('Browser.setDownloadBehavior', {behavior: 'allow', downloadPath: downloads, eventsEnabled: true});

  const evaluate = async (expression) => {
    const {result, exceptionDetails} = await call('Runtime.evaluate', {expression, awaitPromise: true, returnByValue: true});
    if (exceptionDetails) throw new Error(`${expression}: ${exceptionDetails.exception?.description || exceptionDetails.text}`);
    return result.value;
  };
  const go = async (url) => {
    const loaded = heard((message) => message.method === 'Page.loadEventFired');
    await call('Page.navigate', {url});
    await loaded;
    await evaluate('ready');
  };
  // Waits until `expression` holds, which is tried whenever the page changes; fails after a minute.
  const until = (expression) => evaluate(`new Promise((done, failed) => {
    setTimeout(() => failed(new Error('it did not come to this')), 60000);
    const look = () => { if (${expression}) { seen.disconnect(); done(); } };
    const seen = new MutationObserver(look);
    seen.observe(document.body, {subtree: true, childList: true, characterData: true, attributes: true});
    look();
  })`);
  const click = async (selector) => {
    const {x, y} = await evaluate(`(() => {
      const at = document.querySelector(${JSON.stringify(selector)});
      at.scrollIntoView({block: 'center', inline: 'center'});
      const box = at.getBoundingClientRect();
      return {x: box.x + box.width / 2, y: box.y + box.height / 2};
    })()`);
    for (const type of ['mousePressed', 'mouseReleased'])
      await call('Input.dispatchMouseEvent', {type, x, y, button: 'left', clickCount: 1});
  };
  const press = async (key) => {
    for (const type of ['keyDown', 'keyUp'])
      await call('Input.dispatchKeyEvent', {type, key, code: key, text: key.length === 1 && type === 'keyDown' ? key : undefined});
  };
  const download = async (selector) => {
    const over = heard((m) => m.method === 'Browser.downloadProgress' && m.params.state === 'completed');
    await click(selector);
    await over;
  };
  const picture = async (file) => {
    const {data} = await call('Page.captureScreenshot', {format: 'png', captureBeyondViewport: true});
    fs.writeFileSync(file, Buffer.from(data, 'base64'));
  };
  const close = async () => {
    const ended = new Promise((done) => child.on('exit', done));
    send('Browser.close').catch(() => {});
    await ended;
    fs.rmSync(profile, {recursive: true, force: true});
    if (problems.length) throw new Error(problems.join('\n'));
  };
  return {call, go, evaluate, until, click, press, download, picture, close};
}

// Prints tests in TAP.
let count = 0;
function is(got, expected, name) {
  const fine = JSON.stringify(got) === JSON.stringify(expected);
  console.log(`${fine ? 'ok' : 'not ok'} ${++count} - ${name}`);
  if (!fine) console.log(`#      got: ${JSON.stringify(got)}\n# expected: ${JSON.stringify(expected)}`);
}

function run(tests) {
  tests().then(() => console.log(`1..${count}`)).catch((error) => {
    const [first, ...more] = error.message.split('\n');
    console.log([`not ok ${++count} - ${first}`, ...more.map((line) => `# ${line}`)].join('\n'));
    process.exit(1);
  });
}

// Tests the names that a page gives to assistive technology.
async function names(p) {
  const {nodes} = await p.call('Accessibility.getFullAXTree', {});
  const roles = ['button', 'spinbutton', 'image', 'heading', 'region', 'group', 'application', 'combobox'];
  const nameless = nodes.filter((node) => !node.ignored && roles.includes(node.role?.value) && !node.name?.value);
  is(nameless.map((node) => node.role.value), [], 'each control, heading and picture has a name for a screen reader');
}

async function colours(p) {
  const colour = async (value) => {
    await p.call('Emulation.setEmulatedMedia', {features: [{name: 'prefers-color-scheme', value}]});
    return p.evaluate('getComputedStyle(document.body).backgroundColor');
  };
  const [light, dark] = [await colour('light'), await colour('dark')];
  is([light, dark], ['rgb(255, 255, 255)', 'rgb(18, 22, 27)'], 'light and dark');
}

module.exports = {open, is, run, names, colours};

// Runs a page's engine in node. `load(file)` -> {world, layouts, moves, times, start}: what the page was given,
// and a function that starts its module.
'use strict';
const fs = require('fs'), path = require('path'), zlib = require('zlib');
const {Engine} = require(path.join(__dirname, '..', 'engine.js'));

const part = (page, id) => new RegExp(`<script [^>]*id="${id}">([^<]*)</script>`).exec(page)[1];

async function load(file) {
  const page = fs.readFileSync(file, 'utf8');
  const bytes = zlib.gunzipSync(Buffer.from(part(page, 'module'), 'base64'));
  const module = await WebAssembly.compile(bytes);
  const [moves, times] = ['moves-known', 'times'].map((id) => zlib.inflateSync(Buffer.from(part(page, id), 'base64')));
  const layouts = {...JSON.parse(zlib.gunzipSync(Buffer.from(part(page, 'layouts'), 'base64'))), ...JSON.parse(part(page, 'own') || '{}')};
  return {world: JSON.parse(part(page, 'world')), layouts, moves,
    times: times.toString().split('\n').slice(0, -1), start: () => Engine.start(module)};
}

module.exports = {load};

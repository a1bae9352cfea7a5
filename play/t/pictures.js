// Compares screenshots of drawings with kept pictures. A kept picture is text: each square of SIDE pixels has a
// letter for the colour of the page's palette that most of its pixels have, besides the background. So it fits
// the light page and the dark one, and does not depend on fonts. RECLINE_KEEP=1 keeps the pictures that are
// seen.
'use strict';
const fs = require('fs');
const {is} = require('./browser.js');

const SIDE = 8, TOLERANCE = 0.05;
const LETTERS = {text: '#', edge: '#', quiet: '#', accent: 'a', bad: 'x', good: 'g', late: 'l', early: 'e',
  compute: 'c', mpi: 'm', protocol: 'p', checkpoint: 'k', restart: 'r', lost: 'u'};

// Runs in the page: returns the rows of letters for a screenshot.
const READ = async (url, letters, side) => {
  const image = new Image();
  image.src = url;
  await image.decode();
  const canvas = Object.assign(document.createElement('canvas'), {width: image.width, height: image.height});
  const g = canvas.getContext('2d', {willReadFrequently: true});
  g.drawImage(image, 0, 0);
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(`--${name}`).trim().match(/[0-9a-f]{2}/gi)?.map((hex) => parseInt(hex, 16));
  const palette = Object.entries(letters).map(([name, letter]) => ({letter, rgb: colour(name)})).filter(({rgb}) => rgb);
  palette.push({letter: '.', rgb: colour('back')});
  const known = new Map();
  const nearest = (data, at) => {
    const key = data[at] << 16 | data[at + 1] << 8 | data[at + 2];
    if (!known.has(key)) known.set(key, find(data, at));
    return known.get(key);
  };
  const find = (data, at) => {
    const far = ({rgb}) => rgb.reduce((sum, v, i) => sum + (v - data[at + i]) ** 2, 0);
    const best = palette.reduce((a, b) => far(b) < far(a) ? b : a);
    return far(best) < 40 ** 2 ? best.letter : '.'; // else the pixel is a mixture, at an edge
  };
  const rows = [];
  for (let y = 0; y + side <= image.height; y += side) {
    let row = '';
    for (let x = 0; x + side <= image.width; x += side) {
      const {data} = g.getImageData(x, y, side, side), count = {};
      for (let at = 0; at < data.length; at += 4) {
        const letter = nearest(data, at);
        count[letter] = (count[letter] || 0) + 1;
      }
      delete count['.'];
      const [most] = Object.entries(count).sort((a, b) => b[1] - a[1]);
      row += most && most[1] >= 3 ? most[0] : '.';
    }
    rows.push(row);
  }
  return rows;
};

// Returns the letters of an element, or of its upper `most` pixels.
async function look(p, selector, side = SIDE, most = 1e9) {
  const clip = await p.evaluate(`(() => {
    const box = document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect();
    return {x: Math.round(box.x + scrollX), y: Math.round(box.y + scrollY), width: Math.round(box.width), height: Math.min(Math.round(box.height), ${most}), scale: 1};
  })()`);
  const {data} = await p.call('Page.captureScreenshot', {format: 'png', clip, captureBeyondViewport: true});
  return p.evaluate(`(${READ})('data:image/png;base64,${data}', ${JSON.stringify(LETTERS)}, ${side})`);
}

// Returns the share of squares that differ, among those that are not empty in both.
function difference(kept, seen) {
  let all = 0, other = Math.abs(kept.length - seen.length) * (kept[0] || '').length;
  kept.forEach((row, y) => [...row].forEach((letter, x) => {
    const now = (seen[y] || '')[x] || '.';
    all += letter !== '.' || now !== '.';
    other += letter !== now;
  }));
  return other / Math.max(all, 1);
}

// Tests that the picture is the kept one, in light and dark, and that it is not after `breaks` has run in the
// page.
async function pictured(p, file, selector, breaks) {
  await p.call('Emulation.setDeviceMetricsOverride', {width: 1200, height: 900, deviceScaleFactor: 1, mobile: false});
  await p.call('Emulation.setScrollbarsHidden', {hidden: true});
  await p.evaluate(`(() => { // without texts
    document.head.append(Object.assign(document.createElement('style'), {textContent: 'svg text, .names { visibility: hidden; }'}));
    CanvasRenderingContext2D.prototype.fillText = CanvasRenderingContext2D.prototype.strokeText = () => {};
    document.activeElement.blur();
  })()`);
  const scheme = (value) => p.call('Emulation.setEmulatedMedia', {features: [{name: 'prefers-color-scheme', value}]});
  const frame = () => p.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  const name = file.replace(/.*\//, '');
  for (const value of ['dark', 'light']) {
    await scheme(value);
    await frame(); // canvases are drawn once more
  }
  if (process.env.RECLINE_KEEP) fs.writeFileSync(file, (await look(p, selector)).join('\n') + '\n');
  const kept = fs.readFileSync(file, 'utf8').trim().split('\n');
  for (const value of ['light', 'dark']) {
    await scheme(value);
    await frame();
    const seen = await look(p, selector), far = difference(kept, seen);
    is(far <= TOLERANCE, true, `${name}: the kept picture, ${value}`);
    if (far > TOLERANCE) console.log(`# ${(100 * far).toFixed(1)} % differ: ${seen.filter((row, y) => row !== kept[y]).slice(0, 5).join('\n# ')}`);
  }
  await p.evaluate(breaks);
  await frame();
  is(difference(kept, await look(p, selector)) > TOLERANCE, true, `${name}: and not after ${breaks}`);
  await scheme('light');
}

module.exports = {pictured, look, difference};

// Tests how a page is laid out: no text lies on another, none is cut, none is too pale, and a legend has the
// marks that are drawn. The browser measures the boxes of all texts, also of those on a canvas.
'use strict';
const {is} = require('./browser.js');

const WIDTHS = [1280, 400], SCHEMES = ['light', 'dark'];

// Runs in each page before its scripts: keeps the texts that stand on each canvas.
const KEEP = `(() => {
  const texts = globalThis.canvasTexts = new Map(), of = CanvasRenderingContext2D.prototype, {fillText, fillRect} = of;
  of.fillText = function (text, x, y, ...more) {
    const {width, actualBoundingBoxAscent: above, actualBoundingBoxDescent: below} = this.measureText(text), {a, d, e, f} = this.getTransform();
    const left = x - (this.textAlign === 'center' ? width / 2 : this.textAlign === 'right' ? width : 0);
    if (!texts.has(this.canvas)) texts.set(this.canvas, []);
    texts.get(this.canvas).push({text, color: this.fillStyle, left: e + a * left, right: e + a * (left + width), top: f + d * (y - above), bottom: f + d * (y + below)});
    return fillText.call(this, text, x, y, ...more);
  };
  of.fillRect = function (x, y, width, height) {
    if (width >= this.canvas.width && height >= this.canvas.height) texts.set(this.canvas, []);
    return fillRect.call(this, x, y, width, height);
  };
})()`;

// Runs in the page: returns what is wrong with its texts.
const LOOK = () => {
  const wrong = new Set(), short = (text) => JSON.stringify(text.trim().replace(/\s+/g, ' ').slice(0, 40));
  const wide = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > wide) wrong.add(`the page is ${document.documentElement.scrollWidth} px wide`);
  const scrolls = (style) => /auto|scroll/.test(style.overflowX + style.overflowY);
  for (const box of document.querySelectorAll('*')) if (scrolls(getComputedStyle(box))) [box.scrollLeft, box.scrollTop] = [0, 0];

  // The rectangles of a text: one for each of its lines. A line is a little lower than its box.
  const boxes = [], lower = ({left, right, top, bottom}) => ({left: left + 1, right: right - 1, top: top + 0.2 * (bottom - top), bottom: bottom - 0.2 * (bottom - top)});
  // Returns the part of a box that is in sight, null if all of it is scrolled away; says so if it is cut for good.
  const inSight = (rect, element, text) => {
    let part = rect;
    for (let box = element; box && box !== document.body; box = box.parentElement) {
      const style = getComputedStyle(box), clips = box.tagName === 'svg' ? style.overflow !== 'visible' : !/visible/.test(style.overflowX);
      if (!clips || getComputedStyle(box).display === 'inline') continue;
      const edge = box.getBoundingClientRect();
      if (part.right > edge.right + 1 || part.left < edge.left - 1 || part.bottom > edge.bottom + 1 || part.top < edge.top - 1) {
        if (!scrolls(style)) wrong.add(`${text} is cut by ${box.id || box.tagName}`);
        part = {left: Math.max(part.left, edge.left), right: Math.min(part.right, edge.right), top: Math.max(part.top, edge.top), bottom: Math.min(part.bottom, edge.bottom)};
        if (part.left >= part.right || part.top >= part.bottom) return null;
      }
    }
    return part;
  };
  const add = (rect, element, text) => {
    const part = inSight(lower(rect), element, text);
    if (part) boxes.push({...part, text, element});
  };
  const seen = (element) => element.checkVisibility({visibilityProperty: true, opacityProperty: true}) && !element.closest('script, style, title, option, datalist');
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), range = document.createRange();
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    if (!node.data.trim() || !seen(node.parentElement)) continue;
    range.selectNodeContents(node);
    for (const rect of range.getClientRects()) if (rect.width > 1) add(rect, node.parentElement, short(node.data));
  }
  for (const [canvas, texts] of globalThis.canvasTexts || []) {
    if (!canvas.isConnected || !seen(canvas)) continue;
    const at = canvas.getBoundingClientRect(), scale = canvas.width / at.width;
    for (const {text, left, right, top, bottom} of texts) {
      const rect = {left: at.left + left / scale, right: at.left + right / scale, top: at.top + top / scale, bottom: at.top + bottom / scale};
      if (rect.left < at.left - 1 || rect.right > at.right + 1 || rect.top < at.top - 1 || rect.bottom > at.bottom + 1) wrong.add(`${short(text)} is cut by the canvas ${canvas.id}`);
      boxes.push({...rect, text: short(text), element: canvas});
    }
  }
  boxes.sort((a, b) => a.top - b.top);
  boxes.forEach((a, i) => {
    for (let k = i + 1; k < boxes.length && boxes[k].top < a.bottom - 1; k++) {
      const b = boxes[k];
      if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - b.top > 1) wrong.add(`${a.text} lies on ${b.text}`);
    }
  });

  // What stands in a field before somebody types.
  const g = document.createElement('canvas').getContext('2d');
  for (const field of document.querySelectorAll('input:not([type=checkbox])')) {
    if (!seen(field)) continue;
    const style = getComputedStyle(field), text = field.value || field.placeholder;
    g.font = style.font;
    if (g.measureText(text).width > field.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight) + 1) wrong.add(`${short(text)} is cut by its field`);
  }
  return [...wrong];
};

// Runs in the page: returns the colours of SVG's texts and of legends' marks that are too near to their background.
const PALE = () => {
  const parse = (color) => color.match(/[\d.]+/g)?.map(Number) || [0, 0, 0];
  const light = (rgb) => rgb.slice(0, 3).map((v) => v / 255).map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((sum, v, i) => sum + [0.2126, 0.7152, 0.0722][i] * v, 0);
  const contrast = (a, b) => { const [low, high] = [light(a), light(b)].sort((x, y) => x - y); return (high + 0.05) / (low + 0.05); };
  const behind = (element) => {
    for (let box = element; box; box = box.parentElement) {
      const color = parse(getComputedStyle(box).backgroundColor);
      if (color.length === 3 || color[3] > 0) return color;
    }
    return [255, 255, 255];
  };
  const wrong = new Set();
  for (const text of document.querySelectorAll('svg text')) {
    const found = contrast(parse(getComputedStyle(text).fill), behind(text));
    if (found < 4.5 && text.checkVisibility()) wrong.add(`${text.textContent.slice(0, 30)}: contrast ${found.toFixed(1)}`);
  }
  for (const mark of document.querySelectorAll('.legend svg > *:not(.undone):not(.held), .legend .swatch')) {
    const style = getComputedStyle(mark), colors = mark.closest('svg') ? [style.stroke, style.fill] : [style.backgroundColor];
    const found = Math.max(...colors.filter((color) => color !== 'none').map((color) => contrast(parse(color), behind(mark.parentElement))));
    if (found < 3 && mark.checkVisibility()) wrong.add(`${mark.closest('span:not(.swatch)').textContent.trim()} in the legend: contrast ${found.toFixed(1)}`);
  }
  return [...wrong];
};

// Runs in the page of recline play: returns lines of the diagram that its legend lacks, and marks of the legend that
// are not drawn. Lines are told apart by colour, dashes and width, events by their class.
const MARKS = () => {
  const wrong = [], line = (element) => { const {stroke, strokeDasharray, strokeWidth} = getComputedStyle(element); return `${element.matches('.cut') ? 'cut' : stroke} ${strokeDasharray} ${strokeWidth}`; };
  for (const [drawing, legend] of [['#diagram', '#legend'], ['#minimap', '#strip-legend']]) {
    const lines = (selector, all) => new Map([...document.querySelectorAll(selector)].flatMap((box) => [...box.querySelectorAll(all)]).map((element) => [line(element), element.getAttribute('class')]));
    const kinds = 'path.message, line.down, line.restoring, line.undone, line.held, line.call, path.arc, .cut, .strip, .frame';
    const drawn = lines(drawing, kinds), told = lines(legend, `${kinds}, path.undone, path.held, path.down, path.restoring`);
    for (const [key, name] of drawn) if (!told.has(key)) wrong.push(`${name} is not in ${legend}`);
    for (const [key, name] of told) if (!drawn.has(key)) wrong.push(`${name} of ${legend} is not drawn`);
  }
  const events = new Set([...document.querySelectorAll('#diagram .event')].map((event) => event.classList[1]));
  const shapes = new Set([...document.querySelectorAll('#legend svg > *')].map((mark) => mark.classList[0]).filter((name) => !/^(message|flight|ring|differs|cut|arc|call|down|restoring|undone|held)$/.test(name)));
  for (const name of events) if (!shapes.has(name)) wrong.push(`${name} is not in the legend`);
  for (const name of shapes) if (!events.has(name)) wrong.push(`${name} of the legend is not drawn`);
  const has = (box) => document.querySelector(`${box} .differs`) !== null;
  if (has('#diagram') !== has('#legend')) wrong.push('the ring of the missing rule is in the diagram or in the legend only');
  return wrong;
};

async function size(p, width, height = 900) {
  await p.call('Emulation.setDeviceMetricsOverride', {width, height, deviceScaleFactor: 1, mobile: width < 500});
}
const scheme = (p, value) => p.call('Emulation.setEmulatedMedia', {features: [{name: 'prefers-color-scheme', value}]});
const drawn = (p) => p.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');

// Tests the page at `url` at both widths, in light and dark. `settled` waits until
// all of it is there; `more` tests more at a width.
async function laidOut(p, url, name, {settled, more}) {
  const {identifier} = await p.call('Page.addScriptToEvaluateOnNewDocument', {source: KEEP});
  for (const width of WIDTHS) {
    await size(p, width);
    await scheme(p, 'light');
    await p.go(url);
    await settled(p);
    is(await p.evaluate(`(${LOOK})()`), [], `${name}, ${width} px: no text is cut or lies on another`);
    is(await p.evaluate('[...document.querySelectorAll("[hidden]")].filter((part) => getComputedStyle(part).display !== "none").map((part) => part.id || part.textContent)'), [],
      `${name}, ${width} px: what is hidden cannot be seen`);
    if (await p.evaluate('Boolean(document.getElementById("diagram"))'))
      is(await p.evaluate(`(${MARKS})()`), [], `${name}, ${width} px: the legend has what is drawn, and nothing else`);
    for (const value of SCHEMES) {
      await scheme(p, value);
      await drawn(p);
      is(await p.evaluate(`(${PALE})()`), [], `${name}, ${width} px, ${value}: texts and marks can be seen`);
    }
    await more(width);
  }
  await p.call('Page.removeScriptToEvaluateOnNewDocument', {identifier});
}

module.exports = {laidOut, WIDTHS, SCHEMES, size, scheme, drawn};

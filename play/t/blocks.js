// Makes a font (OpenType) whose letters are all the same block. With it a page is laid out alike on every machine,
// whatever fonts the machine has.
'use strict';

const UNITS = 1000, WIDE = 550;
const u16 = (...values) => Buffer.concat(values.map((value) => { const b = Buffer.alloc(2); b.writeUInt16BE(value & 0xffff); return b; }));
const u32 = (...values) => Buffer.concat(values.map((value) => { const b = Buffer.alloc(4); b.writeUInt32BE(value >>> 0); return b; }));

// Glyphs: 0 and 1 are a block, 2 is empty.
function tables() {
  const block = Buffer.concat([u16(1, 50, 0, 500, 500, 3, 0), Buffer.from([1, 1, 1, 1]), u16(50, 450, 0, -450), u16(0, 0, 500, 0), Buffer.alloc(2)]);
  const groups = [[0x20, 0x20, 2], [0x21, 0x9f, 1], [0xa0, 0xa0, 2], [0xa1, 0x10ffff, 1]];
  const name = Buffer.from('Blocks', 'utf16le').swap16(), ids = [1, 2, 4, 6];
  return {
    'OS/2': Buffer.concat([u16(4, WIDE, 400, 5, 0, 650, 600, 0, 75, 650, 600, 0, 350, 50, 300, 0), Buffer.alloc(10), u32(1, 0, 0, 0), Buffer.from('NONE'),
      u16(0x40, 0x20, 0xffff, 800, -200, 0, 800, 200), u32(1, 0), u16(500, 700, 0, 0x20, 1)]),
    cmap: Buffer.concat([u16(0, 1, 3, 10), u32(12), u16(13, 0), u32(16 + 12 * groups.length, 0, groups.length), ...groups.map((group) => u32(...group))]),
    glyf: Buffer.concat([block, block]),
    head: Buffer.concat([u32(0x10000, 0x10000, 0, 0x5f0f3cf5), u16(3, UNITS), Buffer.alloc(16), u16(50, 0, 500, 500, 0, 8, 2, 1, 0)]),
    hhea: Buffer.concat([u32(0x10000), u16(800, -200, 0, WIDE, 50, 50, 500, 1, 0, 0, 0, 0, 0, 0, 0, 3)]),
    hmtx: u16(WIDE, 50, WIDE, 50, WIDE, 50),
    loca: u32(0, block.length, 2 * block.length, 2 * block.length),
    maxp: Buffer.concat([u32(0x10000), u16(3, 4, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0)]),
    name: Buffer.concat([u16(0, ids.length, 6 + 12 * ids.length), ...ids.map((id) => u16(3, 1, 0x409, id, name.length, 0)), name]),
    post: Buffer.concat([u32(0x30000, 0), u16(-100, 50), u32(0, 0, 0, 0, 0)]),
  };
}

function sum(bytes) {
  const whole = Buffer.concat([bytes, Buffer.alloc(-bytes.length & 3)]);
  let all = 0;
  for (let at = 0; at < whole.length; at += 4) all = (all + whole.readUInt32BE(at)) >>> 0;
  return all;
}

// Returns the font's bytes.
function font() {
  const parts = Object.entries(tables()), head = [u32(0x10000), u16(parts.length, 128, 3, parts.length * 16 - 128)], body = [];
  let at = 12 + 16 * parts.length;
  for (const [tag, bytes] of parts) {
    head.push(Buffer.from(tag), u32(sum(bytes), at, bytes.length));
    body.push(bytes, Buffer.alloc(-bytes.length & 3));
    at += bytes.length + (-bytes.length & 3);
  }
  return Buffer.concat([...head, ...body]);
}

// Runs in the page: shows all texts of the page in blocks, and draws no texts on canvases.
const BLOCKS = `(async () => {
  const blocks = new FontFace('Blocks', Uint8Array.from(atob('${font().toString('base64')}'), (c) => c.charCodeAt(0)));
  document.fonts.add(await blocks.load());
  document.head.append(Object.assign(document.createElement('style'), {textContent: '* { font-family: Blocks !important; letter-spacing: 0; } button:disabled { opacity: 1; }'}));
  CanvasRenderingContext2D.prototype.fillText = CanvasRenderingContext2D.prototype.strokeText = () => {};
  document.activeElement.blur();
})()`;

module.exports = {font, BLOCKS};

// Turns the bytes of a protocol's state into names and values. `layout` is the text that layout.pl wrote for
// the protocol, `lists` says where the lists are, and `rank` is the engine's view of the rank.
'use strict';

const Decode = {
  // Returns the value of a field of that type; arrays as [a,b].
  value(view, offset, type) {
    const array = /^(.*)\[(\d+)\]$/.exec(type);
    if (array) {
      const size = Decode.size(array[1]);
      return `[${Array.from({length: Number(array[2])}, (_, i) => Decode.value(view, offset + i * size, array[1]))}]`;
    }
    switch (type) {
    case 'int8_t': return view.getInt8(offset);
    case 'int16_t': return view.getInt16(offset, true);
    case 'int32_t': return view.getInt32(offset, true);
    case 'uint64_t': return view.getBigUint64(offset, true);
    default: return [, (at) => view.getUint8(at), (at) => view.getUint16(at, true), , (at) => view.getUint32(at, true)][Decode.size(type)](offset);
    }
  },

  size: (type) => Number(/(\d+)_t$/.exec(type)?.[1] ?? (type === '_Bool' ? 8 : 32)) / 8,

  // Returns a value with its meaning where protocols have the same one (protocols/protocol.h): the greatest number
  // of 16 or 32 bits stands for none.
  told(name, type, value) {
    const meaning = /(^|\.)peer$/.test(name) ? {'-1': 'any', '-2': 'nobody'}[value] : {uint16_t: value === 65535, uint32_t: value === 4294967295 || value === 65535}[type] ? 'none' : '';
    return meaning ? `${value} (${meaning})` : value;
  },

  isZero: (value) => /^\[?[0,]*\]?$/.test(String(value)),

  fields(view, base, fields) {
    return fields.filter(([name, , offset]) => !/(^|\.)pad/.test(name) && base + offset < view.byteLength)
      .map(([name, type, offset]) => [name, Decode.told(name, type, Decode.value(view, base + offset, type))]);
  },

  // Returns what a field holds that state() has named, "passed" or "peers[0] received": the comment in the protocol's
  // source; '' if there is none.
  meaning(layout, lists, name) {
    const [, list, field] = /^(\w+)\[\d+\] (\S+)$/.exec(name) || [];
    const type = list ? lists.find((one) => one.name.replace(/_of$/, '') === list)?.type : 'struct state';
    return layout.types[type]?.find(([known]) => known === (field ?? name))?.[3] ?? '';
  },

  // Returns how to read states of `bytes` bytes: {state, meaning}; without a layout a state is one text of bytes.
  reader: (bytes, layout, lists) => layout?.types['struct state']
    ? {state: (state) => Decode.state({bytes, state}, layout, lists), meaning: (name) => Decode.meaning(layout, lists, name)}
    : {state: (state) => [['bytes', state]], meaning: () => ''},

  // Returns [name, text] of each field, and of each entry of a list that is not all zero.
  state(rank, layout, lists) {
    const bytes = new Uint8Array(rank.bytes), words = [];
    for (const [, offset, word] of rank.state.matchAll(/(\d+):(\w+)/g)) {
      words.push(Number(offset));
      bytes.set(word.match(/../g).map((two) => parseInt(two, 16)), Number(offset));
    }
    const view = new DataView(bytes.buffer), out = [];
    for (const [name, value] of Decode.fields(view, 0, layout.types['struct state'] || []))
      out.push([name, name === 'phase' && layout.phases[value] ? layout.phases[value] : String(value)]);
    for (const list of lists) {
      const entry = (offset) => Math.floor((offset - list.offset) / list.size);
      const held = new Set(words.flatMap((word) => [entry(word), entry(word + 7)]).filter((i) => i >= 0 && i < list.count));
      for (const i of [...held].sort((a, b) => a - b)) { // in runs the lists are long and mostly empty
        const base = list.offset + i * list.size;
        if (base + list.size > bytes.length || bytes.subarray(base, base + list.size).every((byte) => !byte)) continue;
        const fields = layout.types[list.type];
        const text = fields ? Decode.fields(view, base, fields).filter(([, value]) => !Decode.isZero(value)).map(([name, value]) => `${name} ${value}`).join(', ')
          : String(Decode.value(view, base, list.type));
        out.push([`${list.name.replace(/_of$/, '')}[${i}]`, text]);
      }
    }
    return out;
  },
};
if (typeof module === 'object') module.exports = {Decode};

// Says what a control message says, as words_control() of plots/words.h does, for the pages of `recline play` and
// `recline report`.
'use strict';

const Says = {
  // Returns the number that "about" or "value.low" stands for; undefined if it stands for none.
  word(place, [, about, value]) {
    const [, name, half] = /^(about|value)(?:\.(high|low))?$/.exec(place) || [];
    const word = name === 'about' ? about : value;
    return name && (!half ? word | 0 : half === 'high' ? word >>> 16 : word & 0xffff);
  },

  // Returns what stands in place of {place}.
  place(all, place, words) {
    const [name, choices = '%'] = place.split(/\?([^]*)/), number = Says.word(name, words), texts = choices.split('|'), last = texts.pop();
    if (number === undefined) return all;
    const chosen = texts.find((text) => text.startsWith(`${number}:`));
    return (chosen === undefined ? last : chosen.slice(`${number}:`.length)).replace('%', number);
  },

  // Returns what the message of that name with the words "6,65535,3" says, in the words of its sender; '' if
  // `controls`, texts by name, lacks it.
  control(controls, name, words = '') {
    const numbers = [0, 1, 2].map((i) => Number(words.split(',')[i]) >>> 0);
    return (controls?.[name] || '').replace(/\{([^}]*)\}/g, (all, place) => Says.place(all, place, numbers));
  },
};
if (typeof module === 'object') module.exports = {Says};

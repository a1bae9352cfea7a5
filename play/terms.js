// Finds the terms of docs/glossary.md in texts of the page: [{term, meaning}] of glossary.pl.
'use strict';

const Terms = {
  all: [],

  // Takes the terms; of two that begin alike the longer one counts.
  take(terms) {
    Terms.all = terms.map((term) => ({...term, form: `${term.term}(?:s|es|d|ed|ing|[a-z](?:ed|ing))?`})).sort((a, b) => b.term.length - a.term.length);
    Terms.pattern = new RegExp(`\\b(?:${Terms.all.map(({form}) => `(${form})`).join('|')})\\b`, 'gi');
  },

  // Returns the parts of a text: strings, and {text, term, meaning} where a term stands that `seen` lacks; adds these
  // to `seen`.
  split(text, seen) {
    const out = [];
    let from = 0;
    for (const match of text.matchAll(Terms.pattern)) {
      const found = Terms.all[match.slice(1).findIndex((group) => group !== undefined)];
      if (seen.has(found.term)) continue;
      seen.add(found.term);
      out.push(text.slice(from, match.index), {...found, text: match[0]});
      from = match.index + match[0].length;
    }
    return [...out, text.slice(from)];
  },

  // Returns the terms that stand in a text, in the order of the alphabet.
  in: (text) => Terms.split(text, new Set()).filter((part) => part.term).sort((a, b) => a.term < b.term ? -1 : 1),
};
if (typeof module === 'object') module.exports = {Terms};

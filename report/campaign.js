// The page of a campaign or of an interval: the answer, the ranking, the means of the chosen field as a table and
// as a drawing.
'use strict';

const Campaign = {
  // Returns a value of a field as a person reads it.
  show(field, text, digits = 6) {
    if (text === '' || text === undefined) return '';
    if (Number(text) === 0) return '0';
    return /_s$/.test(field) ? Trace.duration(1e9 * Number(text), digits) : Number(Number(text).toPrecision(digits)).toLocaleString('en', {maximumFractionDigits: 20});
  },

  // Makes a table of the cells by rank, and a list of what their protocols assume. Cells that cannot be told apart
  // from the first share its rank.
  ranking(places, names, means, protocols) {
    const assumed = new Map(places.filter(({assumes}) => assumes).map(({cell, assumes}) => [protocols[cell], assumes]));
    return [Tables.table('Ranked: cells of rank 1 are not measurably worse than the first', ['rank', 'cell', 'mean', 'overhead', 'more runs to tell'],
      places.map(({cell, tied, cost, further_runs: more}, i) => [tied ? 1 : i + 1, names[cell], means[cell] || 'no run ended as expected',
        cost === null || !means[cell] ? '' : Tables.percent(cost), more ? more.toLocaleString('en') : ''])),
    element('ul', [...assumed].map(([name, assumes]) => element('li', `${name} assumes ${assumes}`)))];
  },

  // Draws the mean of each cell with its interval, over a common axis. `best` are the cells to mark.
  drawing(field, cells, best) {
    const ends = cells.flatMap(({mean, half}) => [mean - half, mean + half]).filter(Number.isFinite);
    const [low, high] = [Math.min(...ends), Math.max(...ends)], span = high - low || 1, place = (value) => `${(100 * (value - low) / span).toFixed(2)}%`;
    if (!ends.length) return element('p', 'No cell has a mean.');
    const rows = cells.map(({name, mean, half, cell}) => element('div', [element('span', `${best.has(cell) ? '★ ' : ''}${name}`, {className: 'name'}),
      element('span', Number.isFinite(mean) ? [
        element('i', '', {className: 'interval', style: `left: ${place(mean - half)}; width: ${(200 * half / span).toFixed(2)}%`}),
        element('i', '', {className: 'mean', style: `left: ${place(mean)}`})] : 'no run ended', {className: 'track'})], {className: best.has(cell) ? 'cell best' : 'cell'}));
    const axis = element('div', [element('span', field, {className: 'name'}),
      element('span', [low, high].map((value) => element('span', Campaign.show(field, value, 4))), {className: 'track axis'})], {className: 'cell'});
    const legend = element('p', [element('span', '● mean'), element('span', '▬ its 95 % interval'), best.size ? element('span', '★ the best cell, and those that are not measurably worse') : null], {className: 'legend'});
    return element('div', [element('div', [...rows, axis], {className: 'cells', role: 'img', ariaLabel: `${field} of each cell; the table above has the same numbers`}), legend]);
  },

  // Counts runs by verdict.
  verdicts(heads, runs) {
    const counts = new Map();
    for (const row of runs) {
      const verdict = row[heads.indexOf('verdict')] || `exit ${row[heads.indexOf('exit')]}`;
      const said = row[heads.indexOf('exit')] === '0' ? verdict : `${verdict}, not as expected`;
      counts.set(said, (counts.get(said) || 0) + 1);
    }
    return Tables.table('Runs by verdict', ['verdict', 'runs'], [...counts]);
  },

  describe() {
    const [heads, ...rows] = Tables.csv(about.table), [runHeads, ...runs] = Tables.csv(about.runs), answer = about.answer ? JSON.parse(about.answer) : {};
    const at = (name) => heads.indexOf(name), field = at('field'), keys = heads.slice(1, field), asked = answer.field || 'simulated_s';
    const names = {}, means = {}, protocols = {};
    for (const row of rows) names[row[0]] = row.slice(1, field).join(' ') || 'all runs';
    for (const row of rows) protocols[row[0]] = row[at('protocol.name')];
    for (const row of rows) if (row[field] === asked && row[at('unexpected')] !== row[at('runs')]) means[row[0]] = Campaign.show(asked, row[at('mean')], 5);
    const count = Object.keys(names).length, places = answer.ranking || [], interval = answer.every_s !== undefined;
    title(`${interval ? 'Interval' : 'Campaign'}: ${runs.length} runs, ${count} ${interval ? 'intervals' : 'cells'}`, answer.answer || '', null);
    const select = element('select', [...new Set(rows.map((row) => row[field]))].map((name) => element('option', name)));
    const pictures = element('div', Object.entries(about.pictures).map(([name, svg]) => Tables.picture(name, svg, 'The means of the cells, which the table above has')));
    const best = new Set(places.filter(({tied}) => tied).map(({cell}) => String(cell)).filter((cell) => means[cell]));
    const show = () => {
      const of = rows.filter((row) => row[field] === select.value), cell = (row, name) => Campaign.show(select.value, row[at(name)]);
      $('cells').replaceChildren(Tables.table(`${select.value}: mean of each cell with its 95 % confidence interval`,
        ['cell', ...keys, 'runs', 'ended', 'not as expected', 'mean', '±', 'least', 'most', 'from cell 0', '±'],
        of.map((row) => [row[0], ...row.slice(1, field), ...['runs', 'ended', 'unexpected'].map((name) => Number(row[at(name)])),
          ...['mean', 'half_width_95', 'least', 'most', 'difference', 'difference_half_width_95'].map((name) => cell(row, name))])),
      Campaign.drawing(select.value, of.map((row) => ({cell: row[0], name: names[row[0]], mean: row[at('mean')] === '' ? NaN : Number(row[at('mean')]), half: Number(row[at('half_width_95')]) || 0})),
        select.value === asked ? best : new Set()));
      pictures.hidden = select.value !== asked; // they show that field
    };
    fill('facts', places.length > 1 && best.size ? Campaign.ranking(places, names, means, protocols) : [], element('p', element('label', ['Field ', select])), element('div', '', {id: 'cells'}), pictures);
    select.value = rows.some((row) => row[field] === asked) ? asked : select.value;
    select.addEventListener('change', show);
    show();
    fill('judged', Campaign.verdicts(runHeads, runs));
    const sweeps = about.campaign.split('\n').filter((line) => line.startsWith('sweep ')).map((line) => ` --sweep ${line.slice(6)}`).join('');
    reproduce(`recline ${interval ? 'interval' : 'campaign'} ${about.folder}/cells/0.yaml${interval ? '' : sweeps} --runs ${Math.round(runs.length / count)} --out again`,
      `recline run ${about.folder}/cells/0.yaml --set seed=${runs[0]?.[runHeads.indexOf('seed')] ?? 1}`);
    fill('scenario', code(about.scenario, 'Scenario of cell 0'));
  },
};

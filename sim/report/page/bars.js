// Bars that lie: one value per point, shares of an iteration, a waterfall, and what a change would gain.

// Rows of text and a bar, from the top; gives the rows' group. The rows are `chart.row` high, and row i has its middle at chart.middle(i).
function barRows(chart, names, height, right, below = 30) {
  const narrow = chart.width < 520;
  const left = Math.min(widest(names) + 12, (narrow ? 0.42 : 0.34) * chart.width);
  const lines = names.map(name => linesOf(name, left - 12));
  chart.row = Math.max(height, 4 + lineHeight * d3.max(lines, each => each.length));
  chart.middle = i => (i + 0.5) * chart.row;
  const g = chart.open(names.length * chart.row + 4 + below, { top: 4, right, bottom: below, left });
  lines.forEach((each, i) => addLines(g.append('text').attr('y', chart.middle(i)).attr('text-anchor', 'end').attr('fill', 'var(--ink)'), each, -10, left - 12));
  return g;
}

const bar = (g, x, y, width, height, fill) => g.append('rect').attr('x', Math.min(x, x + width)).attr('y', y)
  .attr('width', Math.max(1, Math.abs(width))).attr('height', height).attr('fill', fill);

charts.bars = chart => {
  const rows = chart.data.rows.slice(0, 60);
  const shown = value => chart.data.share ? percent(value) : value < 100 ? String(+value.toPrecision(3)) : grouped(value);
  const g = barRows(chart, rows.map(row => row.series), 28, widest(rows.map(row => shown(row.y))) + 16);
  const end = row => row.high === undefined ? row.y : row.high;
  const x = d3.scaleLinear().domain([0, d3.max(rows, end)]).range([0, chart.inner.width]);
  rows.forEach((row, i) => {
    const drawn = bar(g, 0, chart.middle(i) - 9, x(row.y), 18, row.series === chart.data.accent ? 'var(--accent)' : 'var(--mid)');
    if (row.low !== undefined) {
      g.append('rect').attr('class', 'band').attr('x', x(row.low)).attr('y', chart.middle(i) - 3).attr('width', Math.max(1, x(row.high) - x(row.low)))
        .attr('height', 6).attr('fill', 'var(--ink)').attr('fill-opacity', 0.35);
    }
    g.append('text').attr('x', x(end(row)) + 8).attr('y', chart.middle(i)).attr('dy', '0.35em').attr('fill', 'var(--ink)').text(shown(row.y));
    const ends = row.low === undefined ? '' : `\nbetween ${shown(row.low)} and ${shown(row.high)}`;
    chart.stop(drawn.node(), `${row.series}\n${shown(row.y)} ${chart.data.unit}${ends}`);
  });
  chart.close();
};

const partColours = {
  compute: 'var(--line)', exposed_communication: 'var(--accent)', negotiation: 'var(--ink)', straggler: 'var(--mid)',
  input: 'var(--calm)', checkpoint: 'var(--soft)', other: 'var(--calm)',
};

// Where each entry of a legend stands: on as many lines as it takes.
function legendLines(names, width) {
  let x = 0;
  let line = 0;
  return names.map(name => {
    const wide = widthOf(name) + 34;
    if (x > 0 && x + wide - 14 > width) [x, line] = [0, line + 1];
    const place = { x, line };
    x += wide;
    return place;
  });
}

charts.shares = chart => {
  const rows = chart.data.rows;
  const parts = Object.keys(rows[0].seconds).filter(part => rows.some(row => row.seconds[part] > 0.0005 * d3.sum(Object.values(row.seconds))));
  const key = legendLines(parts.map(words), chart.width - 12);
  const g = barRows(chart, rows.map(row => row.label), 22, 12, 12 + 18 * (1 + d3.max(key, place => place.line)));
  const { width, height } = chart.inner;
  const x = d3.scaleLinear().domain([0, 1]).range([0, width]);
  rows.forEach((row, i) => {
    const whole = d3.sum(Object.values(row.seconds));
    const time = timesWithin(whole);
    let from = 0;
    parts.forEach(part => {
      const share = row.seconds[part] / whole;
      if (share <= 0) return;
      const drawn = bar(g, x(from), chart.middle(i) - 8, x(share), 16, partColours[part]);
      chart.stop(drawn.node(), `${row.label}\n${words(part)}: ${percent(share)}, ${time(row.seconds[part])}`);
      from += share;
    });
  });
  const legend = g.append('g').attr('class', 'legend').attr('transform', `translate(${-chart.margin.left},${height + 18})`);
  parts.forEach((part, i) => {
    const { x: at, line } = key[i];
    legend.append('rect').attr('x', at).attr('y', 18 * line - 9).attr('width', 10).attr('height', 10).attr('fill', partColours[part]);
    legend.append('text').attr('class', 'note').attr('x', at + 15).attr('y', 18 * line).text(words(part));
  });
  chart.close();
};

charts.waterfall = chart => {
  const rows = chart.data.rows.filter(row => Math.abs(row.seconds) > 0.0005 * chart.data.total);
  const names = rows.map(row => words(row.name)).concat('iteration');
  const time = timesWithin(chart.data.total);
  const g = barRows(chart, names, 28, widest(rows.map(row => row.seconds).concat(chart.data.total).map(time)) + 18);
  let before = 0;
  const spans = rows.map(row => ({ row, from: before, to: before += row.seconds }));
  const x = d3.scaleLinear().domain([Math.min(0, d3.min(spans, s => s.to)), Math.max(chart.data.total, d3.max(spans, s => s.to))])
    .range([0, chart.inner.width]);
  const largest = d3.max(rows.filter(row => row.name !== 'device'), row => row.seconds);
  spans.forEach(({ row, from, to }, i) => {
    const fill = row.name === 'device' ? 'var(--line)' : row.seconds === largest ? 'var(--accent)' : 'var(--mid)';
    const drawn = bar(g, x(from), chart.middle(i) - 9, x(to) - x(from), 18, fill);
    if (i) g.append('line').attr('x1', x(from)).attr('x2', x(from)).attr('y1', chart.middle(i - 1) + 9).attr('y2', chart.middle(i) - 9).attr('stroke', 'var(--calm)');
    const value = time(row.seconds);
    g.append('text').attr('class', 'note').attr('x', x(Math.max(from, to)) + 8).attr('y', chart.middle(i)).attr('dy', '0.35em').text(value);
    chart.stop(drawn.node(), `${words(row.name)}\n${value}, ${percent(row.seconds / chart.data.total)} of the iteration`);
  });
  const y = chart.middle(rows.length);
  const all = bar(g, x(0), y - 9, x(chart.data.total) - x(0), 18, 'var(--ink)');
  g.append('text').attr('x', x(chart.data.total) + 8).attr('y', y).attr('dy', '0.35em').attr('fill', 'var(--ink)').text(time(chart.data.total));
  chart.stop(all.node(), `iteration\n${time(chart.data.total)}`);
  chart.close();
};

charts.what_if = chart => {
  const rows = chart.data.rows;
  const g = barRows(chart, rows.map(row => row.change), 28, 64);
  const least = Math.min(0, d3.min(rows, row => row.points));
  const x = d3.scaleLinear().domain([least, Math.max(1, d3.max(rows, row => row.points))]).range([least < 0 ? 44 : 0, chart.inner.width]);
  g.append('line').attr('x1', x(0)).attr('x2', x(0)).attr('y1', 0).attr('y2', rows.length * chart.row).attr('stroke', 'var(--calm)');
  rows.forEach((row, i) => {
    const gains = row.points >= 0;
    const drawn = bar(g, x(0), chart.middle(i) - 9, x(row.points) - x(0), 18, gains ? 'var(--accent)' : 'var(--calm)');
    g.append('text').attr('x', x(row.points) + (gains ? 8 : -8)).attr('y', chart.middle(i)).attr('dy', '0.35em')
      .attr('text-anchor', gains ? 'start' : 'end').attr('fill', 'var(--ink)').text(d3.format('+.1f')(row.points));
    chart.stop(drawn.node(), `${row.change} (${row.kind})\n${d3.format('+.1f')(row.points)} percentage points, ${grouped(row.samples_per_second)} samples/s`);
  });
  g.append('text').attr('class', 'note').attr('x', chart.inner.width).attr('y', rows.length * chart.row + 18).attr('text-anchor', 'end').text('percentage points of scaling efficiency');
  chart.close();
};

// Beside each bar the ends of the input's range; on a phone, where they have no room, above it with the input's name.
charts.tornado = chart => {
  const { base, unit } = chart.data;
  const readable = text => text.replace(/(?<![.0-9])[0-9]{4,}\b/g, grouped);  // "150,000 USD"
  const rows = chart.data.rows.map(row => ({ ...row, low: readable(row.low), high: readable(row.high) }));
  const narrow = chart.width < 520;
  const names = rows.map(row => words(row.input.replace(/\//g, ' ')));
  const g = narrow ? chart.open(rows.length * 50 + 34, { top: 4, right: 8, bottom: 30, left: 8 }) : barRows(chart, names, 28, 8);
  const at = i => (narrow ? 50 * i + 33 : chart.middle(i));
  const room = narrow ? 0 : widest(rows.flatMap(row => [row.low, row.high])) + 10;
  const ends = d3.extent(rows.flatMap(row => [row.at_low, row.at_high]).concat(base));
  const x = d3.scaleLinear().domain(ends).range([room, Math.max(2 * room, chart.inner.width - room)]);
  const below = at(rows.length - 1) + (narrow ? 17 : 14);
  rows.forEach((row, i) => {
    if (narrow) {
      g.append('text').attr('y', at(i) - 16).attr('fill', 'var(--ink)').text(names[i]);
      g.append('text').attr('class', 'note').attr('x', chart.inner.width).attr('y', at(i) - 16).attr('text-anchor', 'end').text(`${row.low} .. ${row.high}`);
    }
    const shown = (name, value) => `${words(row.input)} ${name}: ${d3.format(',.2f')(value)} ${unit}`;
    [[row.low, row.at_low, 'var(--mid)'], [row.high, row.at_high, 'var(--accent)']].forEach(([name, value, fill]) => {
      const drawn = bar(g, x(base), at(i) - 9, x(value) - x(base), 18, fill);
      const right = value > base;
      if (!narrow) {
        g.append('text').attr('class', 'note').attr('x', x(value) + (right ? 6 : -6)).attr('y', at(i)).attr('dy', '0.35em')
          .attr('text-anchor', right ? 'start' : 'end').text(name);
      }
      chart.stop(drawn.node(), shown(name, value));
    });
  });
  const baseLine = (from, to) => g.append('line').attr('x1', x(base)).attr('x2', x(base)).attr('y1', from).attr('y2', to).attr('stroke', 'var(--ink)');
  if (narrow) rows.forEach((row, i) => baseLine(at(i) - 9, at(i) + 9));
  baseLine(narrow ? at(rows.length - 1) : 0, below);
  const sum = `${d3.format(',.2f')(base)} ${unit}`;
  const half = widthOf(sum) / 2;
  g.append('text').attr('class', 'note').attr('x', Math.max(half, Math.min(chart.inner.width - half, x(base)))).attr('y', below + 18)
    .attr('text-anchor', 'middle').text(sum);
  chart.close();
};

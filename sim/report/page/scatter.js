// Predictions against measurements, and their errors over size.

charts.scatter = chart => {
  const { rows, unit } = chart.data;
  const narrow = chart.width < 520;
  const g = chart.open(narrow ? 300 : 420, { top: 14, right: 30, bottom: 44, left: 64 });
  const { width, height } = chart.inner;
  const all = d3.extent(rows.flatMap(row => [row.predicted, row.measured]));
  const x = d3.scaleLog().domain([all[0] / 1.2, all[1] * 1.2]).range([0, width]);
  const y = x.copy().range([height, 0]);
  const shown = value => short(value, unit);
  axis(g, 'bottom', x, logTicks(x, 54), shown).attr('transform', `translate(0,${height})`);
  axis(g, 'left', y, logTicks(y, 18), shown);
  const low = x.domain()[0], high = x.domain()[1];
  g.append('line').attr('x1', x(low)).attr('y1', y(low)).attr('x2', x(high)).attr('y2', y(high)).attr('stroke', 'var(--calm)');
  g.append('text').attr('class', 'note').attr('x', width).attr('y', height + 38).attr('text-anchor', 'end').text('measured');
  g.append('text').attr('class', 'note').attr('x', 4).attr('y', 2).text('predicted');
  rows.forEach(row => {
    const dot = g.append('circle').attr('cx', x(row.measured)).attr('cy', y(row.predicted)).attr('r', 4)
      .attr('fill', Math.abs(row.error) > 0.1 ? 'var(--accent)' : 'var(--mid)').attr('fill-opacity', 0.75);
    chart.stop(dot.node(), `${row.family}: ${row.row}\npredicted ${shown(row.predicted)}, measured ${shown(row.measured)}: ${d3.format('+.1%')(row.error)}`);
  });
  chart.close();
};

charts.errors = chart => {
  const rows = chart.data.rows;
  const g = chart.open(chart.width < 520 ? 260 : 320, { top: 14, right: 16, bottom: 44, left: 56 });
  const { width, height } = chart.inner;
  const x = d3.scaleLog().domain(d3.extent(rows, row => row.bytes)).range([8, width - 8]);
  // Linear to 10 %, logarithmic beyond: every error has its own place, however large it is.
  const lowest = Math.min(-0.1, d3.min(rows, row => row.error)), highest = Math.max(0.1, d3.max(rows, row => row.error));
  const y = d3.scaleSymlog().constant(0.1).domain([lowest - 0.1 * (0.1 - lowest), highest + 0.1 * (0.1 + highest)]).range([height, 0]);
  const marks = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100].filter(v => v <= y.domain()[1]).concat(0, [-0.1, -0.2, -0.5, -1].filter(v => v >= y.domain()[0]));
  const powers = sizeTicks(x.domain(), width);
  axis(g, 'bottom', x, powers, sizeName).attr('transform', `translate(0,${height})`);
  axis(g, 'left', y, marks, value => (value > 0 ? '+' : '') + percent(value)).call(a => a.selectAll('.tick line').attr('x2', width).attr('opacity', 0.7));
  g.append('line').attr('x2', width).attr('y1', y(0)).attr('y2', y(0)).attr('stroke', 'var(--calm)');
  g.append('text').attr('class', 'note').attr('x', width).attr('y', height + 38).attr('text-anchor', 'end').text('size');
  rows.forEach(row => {
    const dot = g.append('circle').attr('cx', x(row.bytes)).attr('cy', y(row.error)).attr('r', 4)
      .attr('fill', Math.abs(row.error) > 0.1 ? 'var(--accent)' : 'var(--mid)').attr('fill-opacity', 0.75);
    chart.stop(dot.node(), `${row.family}: ${row.row}\n${sizeName(row.bytes)}: ${d3.format('+.1%')(row.error)}`);
  });
  chart.close();
};

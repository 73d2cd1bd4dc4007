// One iteration: a row for each activity, a bar for each time something did it.

charts.timeline = chart => {
  const rows = chart.data.rows;
  const activities = [...new Set(rows.slice().sort((a, b) => a.from - b.from).map(row => row.activity))];
  const names = activities.map(name => words(name.toLowerCase()));
  const g = barRows(chart, names, 26, 14);
  const { width } = chart.inner;
  const x = d3.scaleLinear().domain([0, chart.data.total]).range([0, width]);
  const time = timesWithin(chart.data.total);
  const communicates = name => /ALLREDUCE|ALLGATHER|BROADCAST|PUSH|PULL/.test(name) && !/NEGOTIATE/.test(name);
  rows.forEach(row => {
    const place = activities.indexOf(row.activity);
    const fill = row.activity === 'FORWARD_BACKWARD' || row.activity === 'ITERATION' || row.activity === 'UPDATE' ? 'var(--calm)' :
      communicates(row.activity) ? 'var(--accent)' : 'var(--mid)';
    const drawn = bar(g, x(row.from), place * 26 + 5, x(row.to) - x(row.from), 16, fill).attr('fill-opacity', communicates(row.activity) ? 0.85 : 0.55);
    const what = row.lanes > 1 ? `${row.lanes} tensors, the first ${row.lane}` : row.lane;
    chart.stop(drawn.node(), `${words(row.activity.toLowerCase())}: ${what}\n${time(row.from)} to ${time(row.to)}`);
  });
  axis(g, 'bottom', x, x.ticks(width < 400 ? 4 : 8), value => d3.format(',.4~r')(value / (chart.data.total < 1e-4 ? 1e-6 : 1e-3))).attr('transform', `translate(0,${activities.length * 26 + 4})`);
  chart.close();
};

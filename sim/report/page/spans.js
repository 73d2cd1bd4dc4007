// One iteration: a row for each activity, a bar for each time something did it; played by player.js.

// "NCCL_ALLREDUCE" as "nccl allreduce", "ALLGATHER 436 MB" as "allgather 436 MB".
const activityName = name => words(name.replace(/[A-Z_]{3,}/g, part => part.toLowerCase()));

// The row of an activity: "allgather 436 MB" and "allgather 2.1 GB" are in one.
const rowName = name => activityName(name).replace(/ [0-9.]+ [kMGT]?B$/, '');

// One name of several that begin or run: "allreduce of fc6", "allreduce of 17 tensors".
function activityWords(rows) {
  const name = activityName(rows[0].activity);
  const lanes = d3.sum(rows, row => row.lanes || 1);
  return name === words(rows[0].lane.toLowerCase()) || rows[0].lane === 'compute' ? name : `${name} of ${lanes > 1 ? `${lanes} tensors` : rows[0].lane}`;
}

const activitiesOf = rows => groupsOf(rows, row => row.activity).map(entry => activityWords(entry.values)).join(', ');

// A sentence for each time at which something begins, at most so many, and for the end.
function moments(rows, total, time) {
  const tick = total / 400;
  const begins = groupsOf(rows, row => Math.floor(row.from / tick)).map(entry => ({ at: d3.min(entry.values, row => row.from), rows: entry.values }))
    .sort((a, b) => a.at - b.at);
  const texts = begins.map(({ at, rows: these }) => {
    const going = rows.filter(row => row.from < at && row.to > at + tick && !these.includes(row));
    return { at, text: `${time(at)}: ${activitiesOf(these)} ${these.length > 1 ? 'begin' : 'begins'}${going.length ? `, beside ${activitiesOf(going)}` : ''}.` };
  });
  return texts.concat({ at: total, text: `${time(total)}: the iteration ends.` });
}

function playTimeline(chart, g, x, height, time) {
  const steps = moments(chart.data.rows, chart.data.total, time);
  const player = Player.of(chart.figure, 'Moment of the iteration');
  const cursor = g.append('line').attr('y1', 0).attr('y2', height).attr('stroke', 'var(--ink)').attr('stroke-width', 1.5).attr('aria-hidden', 'true');
  const pace = at => Math.max(120, Math.min(1500, 12000 * (steps[at].at - steps[at - 1].at) / chart.data.total));
  player.steps = steps.map(step => step.text);
  player.pause = pace;
  player.show = (at, isMoving) => {
    const place = x(steps[at].at);
    cursor.interrupt();
    (isMoving && at ? cursor.transition().duration(pace(at)).ease(d3.easeLinear) : cursor).attr('x1', place).attr('x2', place);
  };
  player.ready();
}

charts.timeline = chart => {
  const rows = chart.data.rows;
  const names = [...new Set(rows.slice().sort((a, b) => a.from - b.from).map(row => rowName(row.activity)))];
  const g = barRows(chart, names, 26, 14);
  const { width } = chart.inner;
  const x = d3.scaleLinear().domain([0, chart.data.total]).range([0, width]);
  const time = timesWithin(chart.data.total);
  const communicates = name => /all ?reduce|all ?gather|reduce scatter|all ?to ?all|broadcast|push|pull|send|receive/.test(name) && !/negotiate/.test(name);
  const computes = name => /^(forward|backward|forward backward|compute|iteration|update)$/.test(name);
  rows.forEach(row => {
    const name = rowName(row.activity);
    const fill = computes(name) ? 'var(--calm)' : communicates(name) ? 'var(--accent)' : 'var(--mid)';
    const drawn = bar(g, x(row.from), chart.middle(names.indexOf(name)) - 8, x(row.to) - x(row.from), 16, fill).attr('fill-opacity', communicates(name) ? 0.85 : 0.55);
    const what = row.lanes > 1 ? `${row.lanes} tensors, the first ${row.lane}` : row.lane;
    chart.stop(drawn.node(), `${activityName(row.activity)}: ${what}\n${time(row.from)} to ${time(row.to)}`);
  });
  axis(g, 'bottom', x, x.ticks(width < 400 ? 4 : 8), value => d3.format(',.4~r')(value / (chart.data.total < 1e-4 ? 1e-6 : 1e-3))).attr('transform', `translate(0,${names.length * chart.row + 4})`);
  if (chart.figure.dataset.chart) playTimeline(chart, g, x, names.length * chart.row + 4, time);
  chart.close();
};

// Curves over ranks, sizes or a swept value, with published results as rings, named where they end.

const ranksText = count => `${grouped(count)} ${count === 1 ? 'rank' : 'ranks'}`;
const logarithmicAxes = { ranks: { base: 2, read: grouped }, size: { base: 10, read: sizeName } };

function curveScales(chart, rows) {
  const spec = chart.data;
  const numeric = typeof rows[0].x === 'number';
  const places = [...new Set(rows.map(row => row.x))];
  const spread = numeric && d3.min(places) > 0 && d3.max(places) > 20 * d3.min(places);
  const logarithmic = numeric && (logarithmicAxes[spec.axis] || spec.axis === 'seconds' && spread && { base: 10 });
  const x = !numeric ? d3.scalePoint().domain(places) :
    (logarithmic ? d3.scaleLog().base(logarithmic.base) : d3.scaleLinear()).domain(d3.extent(places));
  const inside = mark => mark.x >= x.domain()[0] && mark.x <= x.domain()[1];
  const values = rows.concat((spec.marks || []).filter(inside)).map(row => row.y).concat(rows.flatMap(row => row.low === undefined ? [] : [row.low, row.high]));
  // Over ranks that double, throughput that doubles is a straight line.
  const doubles = spec.axis === 'ranks' && spec.unit === 'samples/s';
  const wide = !spec.share && d3.min(values) > 0 && (doubles || d3.max(values) > 20 * d3.min(values));
  const y = wide ? d3.scaleLog().domain(d3.extent(values)).nice() :
    d3.scaleLinear().domain([0, spec.share ? Math.max(1, d3.max(values)) : d3.max(values)]).nice();
  return { x, y, numeric, places, wide, timed: spec.axis === 'seconds' && spread };
}

function curveTicks(places, width) {
  const apart = Math.max(1, Math.ceil(places.length * 52 / width));
  return places.slice().sort((a, b) => a - b).filter((place, i, all) => (all.length - 1 - i) % apart === 0);
}

// What every rank as fast as the first would give, of the curve that the answer is about.
function linearScaling(g, spec, rows, x, y) {
  if (spec.axis !== 'ranks' || !(spec.share || spec.unit === 'samples/s')) return;
  const first = rows.filter(row => spec.share || row.series === spec.accent).reduce((a, b) => (a.x <= b.x ? a : b));
  const at = ranks => spec.share ? 1 : first.y * ranks / first.x;
  const most = Math.min(x.domain()[1], spec.share ? Infinity : first.x * y.domain()[1] / first.y);
  g.append('line').attr('class', 'linear').attr('x1', x(first.x)).attr('y1', y(at(first.x))).attr('x2', x(most)).attr('y2', y(at(most)))
    .attr('stroke', 'var(--soft)').attr('stroke-dasharray', '5 4');
}

// Each published source by name, once, below the last of its rings; the pointer names them where they have no room.
function namePublished(chart, g, spec, x, y) {
  const { width, height } = chart.inner;
  const inside = (spec.marks || []).filter(mark => mark.x >= x.domain()[0] && mark.x <= x.domain()[1]);
  const last = groupsOf(inside, mark => mark.source).map(entry => entry.values.reduce((a, b) => (a.x >= b.x ? a : b)));
  const labels = last.map(mark => ({ y: y(mark.y) + 22, x: x(mark.x), name: mark.source }));
  if (labels.length > 4 || labels.some(label => widthOf(label.name) + 12 > Math.max(label.x, width - label.x))) return;
  movedApart(labels, height - 6, 15).forEach(label => {
    const left = label.x > width / 2;
    g.append('text').attr('class', 'note').attr('x', label.x + (left ? 4 : -4)).attr('y', label.at).attr('text-anchor', left ? 'end' : 'start')
      .attr('paint-order', 'stroke').attr('stroke', 'var(--paper)').attr('stroke-width', 4).attr('stroke-linejoin', 'round').text(label.name);
  });
}

charts.curves = chart => {
  const spec = chart.data;
  const rows = spec.rows;
  const series = groupsOf(rows, row => row.series);
  const narrow = chart.width < 520;
  const labelWidth = Math.min(widest(series.map(s => s.key), 600) + 14, 0.34 * chart.width);
  const labelLines = name => linesOf(name, labelWidth - 12, 600);
  const gap = Math.max(12, lineHeight * d3.max(series, s => labelLines(s.key).length));  // between the labels of curves
  const tall = Math.min(700, Math.max(narrow ? 260 : 340, gap * series.length + 60));
  const named = gap * series.length + 54 <= tall;
  const { x, y, numeric, places, wide, timed } = curveScales(chart, rows);
  const large = spec.unit === 'samples/s' || /^[A-Z]{3}$/.test(spec.unit);  // counts and money
  const upwards = wide ? y.ticks().filter(v => Number.isInteger(Math.log10(v))) : y.ticks(5);
  const plain = spec.unit === '';  // a loss: no prefix without a unit
  const readUpwards = spec.share ? percent : value => plain ? String(+value.toPrecision(3)) : short(value, large ? '' : spec.unit);
  const left = Math.max(36, widest(upwards.map(readUpwards)) + 14);
  const tilted = !numeric && (widest(places) + 8) * (places.length - 1) > chart.width - left - labelWidth;
  const g = chart.open(tall, { top: 14, right: labelWidth, bottom: tilted ? 74 : 40, left });
  const { width, height } = chart.inner;
  x.range([0, width]);
  y.range([height, 0]);
  const shown = value => spec.share ? `${percent(value)} ${spec.unit}` : large ? `${grouped(value)} ${spec.unit}` : plain ? readUpwards(value) : short(value, spec.unit);
  const ends = row => row.low === undefined ? '' : `\nbetween ${shown(row.low)} and ${shown(row.high)}`;
  const readAlong = logarithmicAxes[spec.axis]?.read;
  const whole = numeric && places.length <= 12 && places.every(Number.isInteger);
  const ticks = timed ? logTicks(x, 54) : spec.axis === 'size' ? sizeTicks(d3.extent(places), width) : readAlong ? curveTicks(places, width) : numeric && !whole ? x.ticks(Math.max(2, Math.floor(width / 60))) : places;
  const bottom = axis(g, 'bottom', x, ticks, timed ? value => short(value, 's') : readAlong || (whole ? grouped : null)).attr('transform', `translate(0,${height})`);
  if (tilted) bottom.selectAll('text').attr('transform', 'rotate(-35)').attr('text-anchor', 'end').attr('dx', '-0.4em');
  axis(g, 'left', y, upwards, readUpwards)
    .call(a => a.select('.domain').remove())
    .call(a => a.selectAll('.tick line').attr('x2', width).attr('opacity', 0.7));
  g.append('text').attr('class', 'note').attr('x', width).attr('y', height + chart.margin.bottom - 4).attr('text-anchor', 'end').text(spec.axis);

  const colour = seriesColours(series.map(s => s.key), spec.accent);
  linearScaling(g, spec, rows, x, y);
  const line = d3.line().x(row => x(row.x)).y(row => y(row.y));
  const shade = d3.area().defined(row => row.low !== undefined).x(row => x(row.x)).y0(row => y(row.low)).y1(row => y(row.high));
  series.forEach(s => {
    const ordered = numeric ? s.values.slice().sort((a, b) => a.x - b.x) : s.values;
    if (ordered.some(row => row.low !== undefined)) {
      g.append('path').attr('class', 'band').attr('d', shade(ordered)).attr('fill', colour(s.key)).attr('fill-opacity', 0.15);
    }
    g.append('path').attr('d', line(ordered)).attr('fill', 'none').attr('stroke', colour(s.key))
      .attr('stroke-width', s.key === spec.accent ? 2.5 : 1.75).attr('stroke-opacity', named ? 1 : 0.4);
    s.last = ordered[ordered.length - 1];
    if (ordered.length > 60) return;
    ordered.forEach(row => {
      const dot = g.append('circle').attr('cx', x(row.x)).attr('cy', y(row.y)).attr('r', 3.5).attr('fill', colour(s.key));
      const where = spec.axis === 'ranks' ? ranksText(row.x) : timed ? short(row.x, 's') : `${spec.axis} ${readAlong ? readAlong(row.x) : row.x}`;
      chart.stop(dot.node(), `${s.key}, ${where}${row.picked ? ` (${row.picked})` : ''}\n${shown(row.y)}${ends(row)}`);
    });
  });
  (spec.marks || []).forEach(mark => {
    if (mark.x < x.domain()[0] || mark.x > x.domain()[1]) return;
    const ring = g.append('circle').attr('class', 'published').attr('cx', x(mark.x)).attr('cy', y(mark.y)).attr('r', 6.5)
      .attr('fill', 'var(--paper)').attr('fill-opacity', 0.01).attr('stroke', 'var(--ink)').attr('stroke-width', 1.5);
    chart.stop(ring.node(), `Published: ${mark.series}, ${ranksText(mark.x)}\n${shown(mark.y)}\n${mark.source}`);
  });
  namePublished(chart, g, spec, x, y);
  // Where there are too many curves for a label each: the accent, the highest and the lowest; the pointer names the others.
  const byHeight = series.slice().sort((a, b) => b.last.y - a.last.y);
  const labelled = named ? series : [...new Set([series.find(s => s.key === spec.accent), byHeight[0], byHeight[byHeight.length - 1]])].filter(Boolean);
  const labels = labelled.map(s => ({ y: y(s.last.y), x: x(s.last.x), name: s.key }));
  movedApart(labels, height, named ? Math.min(gap + 2, height / labels.length) : gap + 2).forEach(label => {
    const text = g.append('text').attr('class', 'label').attr('y', label.at)
      .attr('fill', colour(label.name))
      .attr('font-weight', label.name === spec.accent ? 600 : 400);
    addLines(text, labelLines(label.name), Math.max(label.x, width) + 10, labelWidth - 12, label.name === spec.accent ? 600 : 400);
  });
  chart.close();
};

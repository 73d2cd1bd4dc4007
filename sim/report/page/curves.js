// Curves over ranks, sizes or a swept value, with published results as rings, named where they end.

const logarithmicAxes = { ranks: { base: 2, read: grouped }, size: { base: 10, read: sizeName } };

function curveScales(chart, rows) {
  const spec = chart.data;
  const numeric = typeof rows[0].x === 'number';
  const places = [...new Set(rows.map(row => row.x))];
  const logarithmic = numeric && logarithmicAxes[spec.axis];
  const x = !numeric ? d3.scalePoint().domain(places) :
    (logarithmic ? d3.scaleLog().base(logarithmic.base) : d3.scaleLinear()).domain(d3.extent(places));
  const inside = mark => mark.x >= x.domain()[0] && mark.x <= x.domain()[1];
  const values = rows.concat((spec.marks || []).filter(inside)).map(row => row.y).concat(rows.flatMap(row => row.low === undefined ? [] : [row.low, row.high]));
  // Over ranks that double, throughput that doubles is a straight line.
  const doubles = spec.axis === 'ranks' && spec.unit === 'samples/s';
  const wide = !spec.share && d3.min(values) > 0 && (doubles || d3.max(values) > 20 * d3.min(values));
  const y = wide ? d3.scaleLog().domain(d3.extent(values)).nice() :
    d3.scaleLinear().domain([0, spec.share ? Math.max(1, d3.max(values)) : d3.max(values)]).nice();
  return { x, y, numeric, places, wide };
}

function curveTicks(places, width) {
  const apart = Math.max(1, Math.ceil(places.length * 52 / width));
  return places.slice().sort((a, b) => a - b).filter((place, i, all) => (all.length - 1 - i) % apart === 0);
}

charts.curves = chart => {
  const spec = chart.data;
  const rows = spec.rows;
  const series = d3.nest().key(row => row.series).entries(rows);
  const narrow = chart.width < 520;
  const labelWidth = Math.min(widest(series.map(s => s.key), 600) + 14, 0.34 * chart.width);
  const labelLines = name => linesOf(name, labelWidth - 12, 600);
  const gap = Math.max(12, lineHeight * d3.max(series, s => labelLines(s.key).length));  // between the labels of curves
  const tall = Math.min(700, Math.max(narrow ? 260 : 340, gap * series.length + 60));
  const named = gap * series.length + 54 <= tall;
  const { x, y, numeric, places, wide } = curveScales(chart, rows);
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
  const ticks = spec.axis === 'size' ? sizeTicks(d3.extent(places), width) : readAlong ? curveTicks(places, width) : numeric && !whole ? x.ticks(Math.max(2, Math.floor(width / 60))) : places;
  const bottom = axis(g, 'bottom', x, ticks, readAlong || (whole ? grouped : null)).attr('transform', `translate(0,${height})`);
  if (tilted) bottom.selectAll('text').attr('transform', 'rotate(-35)').attr('text-anchor', 'end').attr('dx', '-0.4em');
  axis(g, 'left', y, upwards, readUpwards)
    .call(a => a.select('.domain').remove())
    .call(a => a.selectAll('.tick line').attr('x2', width).attr('opacity', 0.7));
  g.append('text').attr('class', 'note').attr('x', width).attr('y', height + chart.margin.bottom - 4).attr('text-anchor', 'end').text(spec.axis);

  const colour = name => name === spec.accent ? 'var(--accent)' : 'var(--mid)';
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
      const where = spec.axis === 'ranks' ? `${grouped(row.x)} ranks` : `${spec.axis} ${readAlong ? readAlong(row.x) : row.x}`;
      chart.stop(dot.node(), `${s.key}, ${where}\n${shown(row.y)}${ends(row)}`);
    });
  });
  (spec.marks || []).forEach(mark => {
    if (mark.x < x.domain()[0] || mark.x > x.domain()[1]) return;
    const ring = g.append('circle').attr('class', 'published').attr('cx', x(mark.x)).attr('cy', y(mark.y)).attr('r', 6.5)
      .attr('fill', 'var(--paper)').attr('fill-opacity', 0.01).attr('stroke', 'var(--ink)').attr('stroke-width', 1.5);
    chart.stop(ring.node(), `Published: ${mark.series}, ${grouped(mark.x)} ranks\n${shown(mark.y)}\n${mark.source}`);
  });
  // Where there are too many curves for a label each: the accent, the highest and the lowest; the pointer names the others.
  const byHeight = series.slice().sort((a, b) => b.last.y - a.last.y);
  const labelled = named ? series : [...new Set([series.find(s => s.key === spec.accent), byHeight[0], byHeight[byHeight.length - 1]])].filter(Boolean);
  const labels = labelled.map(s => ({ y: y(s.last.y), x: x(s.last.x), name: s.key }));
  movedApart(labels, height, named ? Math.min(gap + 2, height / labels.length) : gap + 2).forEach(label => {
    const text = g.append('text').attr('class', 'label').attr('y', label.at)
      .attr('fill', label.name === spec.accent ? 'var(--accent)' : 'var(--ink)')
      .attr('font-weight', label.name === spec.accent ? 600 : 400);
    addLines(text, labelLines(label.name), Math.max(label.x, width) + 10, labelWidth - 12, label.name === spec.accent ? 600 : 400);
  });
  chart.close();
};

// A collective, round by round: ranks as columns, segments as cells, an arrow for what is sent; played by player.js.

// Of a step: [element, path] of what travels, to be moved along it.
function drawStep(g, spec, at, size) {
  const { column, cell, line } = size;
  const step = spec.steps[at];
  const before = at ? spec.steps[at - 1].held : step.held;
  const x = rank => rank * column;
  const changed = new Set(step.sends.flatMap(send => send.chunks.map(chunk => `${send.to} ${chunk}`)));
  step.held.forEach((cells, rank) => cells.forEach(([text, count], chunk) => {
    const isNew = changed.has(`${rank} ${chunk}`) || before[rank][chunk][0] !== text;
    g.append('rect').attr('x', x(rank)).attr('y', chunk * line).attr('width', cell).attr('height', line - 4).attr('rx', 2)
      .attr('fill', count ? 'var(--accent)' : 'none').attr('fill-opacity', count ? 0.1 + 0.4 * count / spec.ranks : 0)
      .attr('stroke', isNew ? 'var(--ink)' : 'var(--line)').attr('stroke-width', isNew ? 2 : 1);
    const shown = [text, `${count} of ${spec.ranks}`, `${count}/${spec.ranks}`].find(words => widthOf(words) <= cell - 6) ?? '';
    g.append('text').attr('x', x(rank) + cell / 2).attr('y', chunk * line + line / 2 - 2).attr('dy', '0.35em').attr('text-anchor', 'middle')
      .attr('fill', 'var(--ink)').text(count ? shown : '');
  }));
  return step.sends.flatMap(send => send.chunks.map(chunk => {
    const right = send.to > send.from;
    const [from, to] = [x(send.from) + (right ? cell : 0), x(send.to) + (right ? -2 : cell + 2)];
    const apart = Math.abs(send.to - send.from), y = chunk * line + line / 2 - 2;
    const bow = apart === 1 ? 0 : Math.min(line, 8 + 3 * apart);
    const path = g.append('path').attr('d', `M${from} ${y}Q${(from + to) / 2} ${y - 2 * bow} ${to} ${y}`).attr('fill', 'none')
      .attr('stroke', send.action === 'copy' ? 'var(--mid)' : 'var(--ink)').attr('stroke-width', 1.75)
      .attr('stroke-dasharray', send.action === 'copy' ? '5 3' : null);
    const angle = Math.atan2(2 * bow, (to - from) / 2) * 180 / Math.PI;
    g.append('path').attr('d', 'M0 0L-7 -3.5L-7 3.5z').attr('transform', `translate(${to},${y}) rotate(${angle})`)
      .attr('fill', send.action === 'copy' ? 'var(--mid)' : 'var(--ink)');
    return path.node();
  }));
}

// What is sent moves from its cell to the other.
function travel(g, paths) {
  paths.forEach(path => {
    const length = path.getTotalLength();
    g.append('circle').attr('r', 5).attr('fill', 'var(--accent)').attr('stroke', 'var(--paper)')
      .transition().duration(900).attrTween('transform', () => t => { const p = path.getPointAtLength(t * length); return `translate(${p.x},${p.y})`; }).remove();
  });
}

charts.steps = chart => {
  const spec = chart.data;
  const names = d3.range(spec.chunks).map(chunk => `segment ${chunk}`);
  const narrow = chart.width < 520;
  const left = (narrow ? widest(d3.range(spec.chunks).map(String)) : widest(names)) + 12;
  const column = Math.max(narrow ? 40 : 56, Math.min(150, (chart.width - left) / spec.ranks));
  const size = { column, cell: column * (column > 90 ? 0.62 : 0.68), line: 32 };
  const width = left + column * (spec.ranks - 1) + size.cell + 2;
  chart.width = Math.max(chart.width, width);
  const legend = [['adds', 'var(--ink)', null], ['keeps', 'var(--mid)', '5 3']];
  const g = chart.open(spec.chunks * size.line + 76, { top: 44, right: 2, bottom: 32, left });
  if (chart.width > chart.place.clientWidth) chart.svg.style('width', chart.width + 'px');
  d3.range(spec.ranks).forEach(rank => {
    const text = widthOf(`rank ${rank}`) <= column - 10 ? `rank ${rank}` : `${rank}`;
    g.append('text').attr('class', 'note').attr('x', rank * column + size.cell / 2).attr('y', -26).attr('text-anchor', 'middle').text(text);
  });
  names.forEach((name, chunk) => {
    g.append('text').attr('class', 'note').attr('x', -8).attr('y', chunk * size.line + size.line / 2 - 2).attr('dy', '0.35em').attr('text-anchor', 'end')
      .text(narrow ? chunk : name);
  });
  let x = -left;
  legend.forEach(([words, stroke, dashes]) => {
    const y = spec.chunks * size.line + 18;
    g.append('line').attr('x1', x).attr('x2', x + 26).attr('y1', y - 4).attr('y2', y - 4).attr('stroke', stroke).attr('stroke-width', 1.75).attr('stroke-dasharray', dashes);
    const text = `the receiver ${words} it`;
    g.append('text').attr('class', 'note').attr('x', x + 32).attr('y', y).text(narrow ? `it is ${words === 'adds' ? 'added' : 'kept'}` : text);
    x += 52 + widthOf(text);
  });
  const cells = g.append('g');
  const player = Player.of(chart.figure, 'Round');
  player.steps = spec.steps.map((step, i) => (i ? `Round ${i} of ${spec.steps.length - 1}, ${words(step.phase)}. ` : '') + step.text);
  player.pause = () => 2200;
  player.show = (at, isMoving) => {
    cells.selectAll('*').interrupt().remove();
    const paths = drawStep(cells, spec, at, size);
    if (isMoving) travel(cells, paths);
  };
  player.ready();
  chart.close();
};

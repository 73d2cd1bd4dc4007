// What all charts share: where they are drawn, how wide, what is said of them, and how they are saved.
'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const charts = {};  // kind to function(chart): each file adds its own
const percent = value => (100 * value).toFixed(value !== 0 && Math.abs(value) < 0.1 ? 1 : 0) + '\u00a0%';
const grouped = d3.format(',.0f');
const prefixes = [[1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k'], [1, ''], [1e-3, 'm'], [1e-6, 'µ'], [1e-9, 'n']];
const short = (value, unit = '') => {
  const [size, prefix] = value === 0 ? [1, ''] : prefixes.find(([least]) => Math.abs(value) >= 0.9999 * least) || [1, ''];
  return `${+(value / size).toPrecision(3)}\u00a0${prefix}${unit}`.trim();
};
const sizeName = bytes => short(bytes, 'B');
// Powers of ten, as many as have room; both ends where there are not two of them.
const sizeTicks = ([least, most], width) => {
  const powers = d3.range(Math.ceil(Math.log10(least)), Math.log10(most) + 1e-9);
  const apart = Math.max(1, Math.ceil(powers.length * 60 / width));
  if (powers.length < 2) return [...new Set([least, most])];
  return powers.filter((power, i) => (powers.length - 1 - i) % apart === 0).map(power => 10 ** power);
};
// [{ key, values }] in the order in which keys come; D3 5 has it as nest, 6 and newer as group.
const groupsOf = (rows, keyOf) => {
  const groups = new Map();
  rows.forEach(row => {
    const key = String(keyOf(row));
    groups.set(key, groups.get(key) ?? []).get(key).push(row);
  });
  return [...groups].map(([key, values]) => ({ key, values }));
};
const words = name => name.replace(/_/g, ' ');
// Parts of a whole that takes so long, all in one unit: milliseconds, or microseconds where the whole is short.
const timesWithin = whole => {
  const [size, unit] = whole < 1e-4 ? [1e-6, 'µs'] : [1e-3, 'ms'];
  const number = value => d3.format(value !== 0 && Math.abs(value) < 0.1 ? '.2~g' : ',.1f')(value);
  return seconds => `${number(seconds / size)} ${unit}`;
};

// Text is measured as it will be drawn.
const ruler = document.createElement('canvas').getContext('2d');
const family = getComputedStyle(document.body).fontFamily;
const widthOf = (text, weight = 400) => {
  ruler.font = `${weight} 12px ${family}`;
  return ruler.measureText(text).width;
};
const widest = (texts, weight = 400) => d3.max(texts, text => widthOf(text, weight)) || 0;

// A name on as many lines as its place is wide.
function linesOf(text, width, weight = 400) {
  const lines = [];
  String(text).split(' ').forEach(word => {
    const longer = lines.length ? `${lines[lines.length - 1]} ${word}` : word;
    if (lines.length && widthOf(longer, weight) <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  });
  return lines;
}

const lineHeight = 13;

// Lines about a middle; a word that is wider than its place is drawn narrower.
function addLines(text, lines, x, width, weight = 400) {
  lines.forEach((line, i) => {
    text.append('tspan').attr('x', x).attr('dy', i ? lineHeight : `${4 - (lines.length - 1) * lineHeight / 2}px`)
      .attr('textLength', widthOf(line, weight) > width ? width : null).attr('lengthAdjust', 'spacingAndGlyphs').text(line);
  });
}

// The finest ticks of a logarithmic axis that leave `room` pixels each.
function logTicks(scale, room) {
  const [low, high] = scale.domain();
  const powers = d3.range(Math.floor(Math.log10(low)), Math.ceil(Math.log10(high)) + 1);
  const choices = [[1, 2, 5], [1, 3], [1]].map(digits => powers.flatMap(power => digits.map(digit => digit * 10 ** power)))
    .concat([2, 3, 4, 6].map(apart => powers.filter(power => power % apart === 0).map(power => 10 ** power)));
  const within = choices.map(ticks => ticks.filter(value => value >= low && value <= high));
  const fits = ticks => ticks.every((value, i) => !i || Math.abs(scale(value) - scale(ticks[i - 1])) >= room);
  const found = within.find(fits) ?? [];
  // Less than a decade has too few powers of ten to be read by.
  return found.length >= 3 ? found : [8, 6, 4, 3, 2].map(count => d3.ticks(low, high, count)).find(fits) ?? found;
}

const tip = document.getElementById('tip');
function showTip(text, element) {
  const box = element.getBoundingClientRect();
  tip.textContent = text;
  tip.classList.add('shown');
  const left = Math.min(box.left + box.width / 2 + 10, document.documentElement.clientWidth - tip.offsetWidth - 8);
  tip.style.left = Math.max(8, left) + window.scrollX + 'px';
  tip.style.top = Math.max(8, box.top - tip.offsetHeight - 10) + window.scrollY + 'px';
}
function hideTip() {
  tip.classList.remove('shown');
  tip.textContent = '';
}

// One chart: an empty SVG as wide as its place, with margins. `stops` are the elements that hover and arrow keys visit.
class Chart {
  constructor(figure) {
    this.figure = figure;
    this.place = figure.querySelector('.plot');
    this.data = data[figure.dataset.key];
    this.title = figure.querySelector('figcaption').firstChild.textContent;
    this.width = Math.max(280, this.place.clientWidth);
    this.stops = [];
    d3.select(this.place).selectAll('*').remove();
  }

  open(height, margin) {
    this.margin = margin;
    this.inner = { width: this.width - margin.left - margin.right, height: height - margin.top - margin.bottom };
    this.svg = d3.select(this.place).append('svg')
      .attr('viewBox', `0 0 ${this.width} ${height}`).attr('xmlns', 'http://www.w3.org/2000/svg')
      .attr('role', 'application').attr('aria-roledescription', 'chart').attr('tabindex', 0)
      .attr('aria-label', `${this.title}. Arrow keys step through the values${data.explore ? '' : '; a table below has all of them'}.`);
    return this.svg.append('g').attr('transform', `translate(${margin.left},${margin.top})`);
  }

  // `element` tells `text` when the pointer or an arrow key is on it.
  stop(element, text) {
    const place = this.stops.push({ element, text }) - 1;
    element.classList.add('stop');
    element.addEventListener('pointerenter', () => showTip(text, element));
    element.addEventListener('pointerleave', hideTip);
    element.addEventListener('click', () => { this.at = place; showTip(text, element); });
  }

  close() {
    const node = this.svg.node();
    this.at = -1;
    node.addEventListener('keydown', event => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (event.key === 'Escape') return hideTip();
      if (!step || !this.stops.length) return;
      event.preventDefault();
      this.at = this.at < 0 && step < 0 ? this.stops.length - 1 : (this.at + step + this.stops.length) % this.stops.length;
      showTip(this.stops[this.at].text, this.stops[this.at].element);
    });
    node.addEventListener('blur', hideTip);
    this.figure.classList.add('drawn');
  }
}

// A colour for each series: the accent for the one that the answer is about, greys for none. The seventh takes the first's again.
const seriesColours = (names, accent) => {
  const others = [...new Set(names)].filter(name => name !== accent);
  const hues = ['blue', 'teal', 'plum', 'ochre', 'rose', 'moss'];
  return d3.scaleOrdinal().domain([accent, ...others]).range(['var(--accent)', ...others.map((name, i) => `var(--${hues[i % hues.length]})`)]);
};

function axis(group, side, scale, ticks, format) {
  const make = side === 'left' ? d3.axisLeft(scale) : d3.axisBottom(scale);
  if (ticks) make.tickValues(ticks);
  if (format) make.tickFormat(format);
  const drawn = group.append('g').attr('class', 'axis').attr('aria-hidden', 'true').call(make.tickSizeOuter(0));
  return drawn.attr('font-family', null).attr('font-size', null);
}

// Labels beside each other would cover one another: they are moved apart, as little as needed, within [0, height].
function movedApart(labels, height, gap) {
  const sorted = labels.slice().sort((a, b) => a.y - b.y);
  sorted.forEach((label, i) => { label.at = i ? Math.max(label.y, sorted[i - 1].at + gap) : label.y; });
  for (let i = sorted.length - 1, limit = height; i >= 0; --i, limit = sorted[i + 1] && sorted[i + 1].at - gap) {
    sorted[i].at = Math.min(sorted[i].at, limit);
  }
  return labels;
}

// The caption above a picture by itself, on as many lines as it takes; gives their height.
function addCaption(copy, caption, width) {
  if (!caption) return 0;
  const lines = linesOf(caption, width - 8);
  const height = 17 * lines.length + 10;
  lines.forEach((line, i) => {
    const text = copy.appendChild(document.createElementNS('http://www.w3.org/2000/svg', 'text'));
    text.setAttribute('class', 'note');
    text.setAttribute('x', 4);
    text.setAttribute('y', 17 * (i + 1) - 3 - height);
    text.textContent = line;
  });
  return height;
}

// A picture by itself, for a paper: with its caption, and with the colours that the page's style gives.
function standalone(svg) {
  const copy = svg.cloneNode(true);
  const style = getComputedStyle(document.documentElement);
  const [, , width, height] = (svg.getAttribute('viewBox') || '0 0 800 600').split(/\s+/).map(Number);
  const above = addCaption(copy, svg.closest('figure')?.querySelector('figcaption')?.firstChild?.data, width);
  if (above) copy.setAttribute('viewBox', `0 ${-above} ${width} ${height + above}`);
  copy.setAttribute('width', width);
  copy.setAttribute('height', height + above);
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  ['tabindex', 'role', 'aria-roledescription', 'aria-label'].forEach(name => copy.removeAttribute(name));
  copy.setAttribute('font-family', 'Helvetica, Arial, sans-serif');
  copy.setAttribute('font-size', 12);
  const rules = '.axis path,.axis line{stroke:var(--line)}.axis text,.note{fill:var(--soft)}text:not([fill]):not(.note){fill:var(--ink)}';
  copy.insertAdjacentHTML('afterbegin', `<style>${rules}</style><rect y="${-above}" width="100%" height="100%" fill="var(--paper)"/>`);
  return new XMLSerializer().serializeToString(copy).replace(/var\((--[a-z]+)\)/g, (all, name) => style.getPropertyValue(name).trim());
}

function download(name, href) {
  const link = document.createElement('a');
  link.href = href;
  link.download = name;
  link.click();
}

function saveSvg(svg, name) {
  download(name + '.svg', 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(standalone(svg)));
}

// Twice the size, as print wants it.
function savePng(svg, name) {
  const image = new Image();
  image.onload = () => {
    const canvas = document.createElement('canvas');
    canvas.width = 2 * image.width;
    canvas.height = 2 * image.height;
    canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
    download(name + '.png', canvas.toDataURL('image/png'));
  };
  image.src = 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(standalone(svg));
}

// Draws everything, and again where the page changes its width.

function draw(figure) {
  charts[figure.dataset.chart](new Chart(figure));
}

function offerPictures(figure) {
  const caption = figure.querySelector('figcaption') || figure.appendChild(document.createElement('figcaption'));
  const save = caption.appendChild(document.createElement('span'));
  save.className = 'save';
  [['SVG', saveSvg], ['PNG', savePng]].forEach(([kind, action]) => {
    const button = save.appendChild(document.createElement('button'));
    button.type = 'button';
    button.textContent = kind;
    button.setAttribute('aria-label', `Save this picture as ${kind}`);
    button.addEventListener('click', () => action(figure.querySelector('svg'), figure.id));
  });
}

const unfold = (root, most) => root.querySelectorAll('details').forEach(details => {
  if (!details.open && [...details.querySelectorAll(':scope > .grid tr')].length <= most) details.open = true;
});

// By name, as files of their own; tools/pictures.mjs asks for them.
window.farandolePictures = () => unfold(document, Infinity) || figures.forEach(draw) || [...document.querySelectorAll('figure')].map(figure =>
  ({ name: figure.id, svg: standalone(figure.querySelector('svg')) }));

// Pictures of topologies are not shrunk until their labels cannot be read: they scroll.
document.querySelectorAll('.drawing svg').forEach(svg => {
  svg.style.setProperty('--least', `${0.76 * svg.viewBox.baseVal.width * 4 / 3}px`);
  svg.parentElement.tabIndex = 0;
});

const figures = [...document.querySelectorAll('figure[data-chart]')];
figures.forEach(draw);
document.querySelectorAll('figure').forEach(offerPictures);
document.querySelectorAll('table.sortable').forEach(makeSearchable);
document.querySelectorAll('table.sortable').forEach(makeSortable);
offerCsv();
let width = document.documentElement.clientWidth;
window.addEventListener('resize', () => {
  if (document.documentElement.clientWidth === width) return;
  width = document.documentElement.clientWidth;
  hideTip();
  figures.forEach(draw);
});
// What was folded had no width when it was drawn.
document.querySelectorAll('details').forEach(details => details.addEventListener('toggle', () => figures.filter(figure => details.contains(figure)).forEach(draw)));
// A link to a folded section opens it.
const openTarget = () => document.getElementById(location.hash.slice(1))?.querySelector(':scope > details')?.setAttribute('open', '');
window.addEventListener('hashchange', openTarget);
openTarget();
window.addEventListener('beforeprint', () => { unfold(document, 60); figures.forEach(draw); });

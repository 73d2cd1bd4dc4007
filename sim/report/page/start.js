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

// By name, as files of their own; tools/pictures.mjs asks for them.
window.farandolePictures = () => [...document.querySelectorAll('figure')].map(figure =>
  ({ name: figure.id, svg: standalone(figure.querySelector('svg')) }));

const figures = [...document.querySelectorAll('figure[data-chart]')];
figures.forEach(draw);
document.querySelectorAll('figure').forEach(offerPictures);
document.querySelectorAll('table.sortable').forEach(makeSortable);
offerCsv();
let width = document.documentElement.clientWidth;
window.addEventListener('resize', () => {
  if (document.documentElement.clientWidth === width) return;
  width = document.documentElement.clientWidth;
  hideTip();
  figures.forEach(draw);
});
window.addEventListener('beforeprint', () => document.querySelectorAll('details').forEach(details => { details.open = true; }));

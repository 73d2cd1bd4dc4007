// Tables: sorted by a click on a heading, downloaded as CSV.

function sortBy(table, column, button) {
  const heading = table.tHead.rows[0].cells[column];
  const falling = heading.getAttribute('aria-sort') === 'ascending';
  [...table.tHead.rows[0].cells].forEach(cell => cell.setAttribute('aria-sort', 'none'));
  heading.setAttribute('aria-sort', falling ? 'descending' : 'ascending');
  const value = row => row.cells[column].dataset.value;
  const text = row => row.cells[column].textContent;
  const compare = (a, b) => value(a) !== undefined && value(b) !== undefined ? value(a) - value(b) :
    text(a).localeCompare(text(b), 'en', { numeric: true });
  const rows = [...table.tBodies[0].rows].sort((a, b) => falling ? compare(b, a) : compare(a, b));
  table.tBodies[0].append(...rows);
  button.focus();
}

function makeSortable(table) {
  [...table.tHead.rows[0].cells].forEach((cell, column) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = cell.textContent;
    button.addEventListener('click', () => sortBy(table, column, button));
    cell.replaceChildren(button);
    cell.setAttribute('aria-sort', 'none');
  });
}

function offerCsv() {
  const csv = document.getElementById('csv');
  const section = document.getElementById('table');
  if (!csv || !section) return;
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'download';
  button.textContent = 'Download as CSV, with every number';
  button.addEventListener('click', () => {
    const text = new Blob([JSON.parse(csv.textContent)], { type: 'text/csv' });
    download('farandole.csv', URL.createObjectURL(text));
  });
  section.append(button);
}

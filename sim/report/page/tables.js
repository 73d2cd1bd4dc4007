// Tables: sorted by a click on a heading, searched where they are long, downloaded as CSV.

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

const manyRows = 12;
const farOff = 0.1;  // of an error, as the charts colour it

// A long table shows the rows that contain a text; one of errors also those alone that are far off.
function makeSearchable(table) {
  const rows = [...table.tBodies[0].rows];
  if (rows.length <= manyRows) return;
  const place = document.createElement('div');
  place.className = 'find';
  const label = text => {
    const made = place.appendChild(document.createElement('label'));
    made.append(text);
    return made;
  };
  const search = label('Show rows with ').appendChild(document.createElement('input'));
  search.type = 'search';
  const column = [...table.tHead.rows[0].cells].findIndex(cell => cell.textContent === 'error');
  const only = document.createElement('input');
  only.type = 'checkbox';
  if (column >= 0) label(' only more than 10 % off').prepend(only);
  const count = place.appendChild(document.createElement('output'));
  const show = () => {
    const wanted = search.value.trim().toLowerCase();
    rows.forEach(row => {
      row.hidden = !row.textContent.toLowerCase().includes(wanted) || only.checked && !(Math.abs(row.cells[column].dataset.value) > farOff);
    });
    count.textContent = `${rows.filter(row => !row.hidden).length} of ${rows.length} rows`;
  };
  [search, only].forEach(input => input.addEventListener('input', show));
  show();
  table.parentElement.before(place);
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
  (section.querySelector(':scope > details') ?? section).append(button);
}

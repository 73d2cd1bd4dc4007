// What is wrong with the texts of a page as it stands in a browser: by their boxes, so that it holds for every chart and table.
//
// A text that lies over another, reaches past its picture or the screen, is squeezed to less than four fifths of its width, or is
// smaller than 8 pixels. `await page.evaluate(faults)` gives one line for each.

function findFaults() {
  const found = [];
  const screen = document.documentElement.clientWidth;
  const ruler = document.createElement('canvas').getContext('2d');
  const onPaper = window.matchMedia('print').matches;  // where nothing scrolls
  const isShown = element => element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true });
  const short = text => `"${text.trim().replace(/\s+/g, ' ').slice(0, 40)}"`;

  // A text of a picture as four corners, which may be tilted: its line, without the room that a font leaves above and below.
  function pictured(text) {
    const box = text.getBBox(), matrix = text.getScreenCTM();
    const size = parseFloat(getComputedStyle(text).fontSize);
    const trim = Math.max(0, (box.height - 0.9 * size) / 2);
    const corners = [[box.x + 0.5, box.y + trim], [box.x + box.width - 0.5, box.y + trim],
      [box.x + box.width - 0.5, box.y + box.height - trim], [box.x + 0.5, box.y + box.height - trim]]
      .map(([x, y]) => { const p = new DOMPoint(x, y).matrixTransform(matrix); return [p.x, p.y]; });
    return { text: text.textContent, corners, size: size * Math.hypot(matrix.b, matrix.a), svg: text.ownerSVGElement, element: text };
  }

  function naturalWidth(text) {
    const style = getComputedStyle(text);
    ruler.font = `${style.fontStyle} ${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
    return ruler.measureText(text.textContent).width;
  }

  // Where an element that scrolls or hides lets its content be seen; `hides` where there is no way to scroll to the rest.
  function windowOf(element) {
    const seen = { left: -Infinity, right: Infinity, hides: false };
    for (let at = element; at && at !== document.body; at = at.parentElement) {
      const overflow = getComputedStyle(at).overflowX;
      if (overflow === 'visible' || at instanceof SVGElement) continue;
      const box = at.getBoundingClientRect();
      [seen.left, seen.right] = [Math.max(seen.left, box.left), Math.min(seen.right, box.right)];
      seen.hides ||= onPaper || overflow !== 'auto' && overflow !== 'scroll';
    }
    return seen;
  }

  function written(node) {
    const range = document.createRange();
    range.selectNodeContents(node);
    const element = node.parentElement;
    const size = parseFloat(getComputedStyle(element).fontSize);
    return [...range.getClientRects()].filter(box => box.width > 1 && box.height > 1).map(box => {
      const trim = Math.max(0, (box.height - 0.9 * size) / 2);
      const [top, bottom] = [box.top + trim, box.bottom - trim];
      return { text: node.textContent, size, element, corners: [[box.left, top], [box.right, top], [box.right, bottom], [box.left, bottom]] };
    });
  }

  const pictures = [...document.querySelectorAll('svg text')].filter(text => text.textContent.trim() && isShown(text)).map(pictured);
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const texts = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.textContent.trim() || element.closest('svg, script, noscript, textarea, select, #tip') || !isShown(element)) continue;
    texts.push(...written(node));
  }

  const ends = (corners, along) => [Math.min(...corners.map(c => c[along])), Math.max(...corners.map(c => c[along]))];
  for (const text of pictures) {
    const frame = text.svg.getBoundingClientRect();
    const [left, right] = ends(text.corners, 0), [top, bottom] = ends(text.corners, 1);
    if (left < frame.left - 2 || right > frame.right + 2 || top < frame.top - 2 || bottom > frame.bottom + 2) {
      found.push(`${short(text.text)} reaches past its picture`);
    }
    const wanted = naturalWidth(text.element);
    if (text.element.hasAttribute('textLength') && text.element.getBBox().width < 0.8 * wanted) {
      found.push(`${short(text.text)} is squeezed to ${Math.round(100 * text.element.getBBox().width / wanted)} %`);
    }
  }
  for (const text of [...pictures, ...texts]) {
    const seen = windowOf(text.element);
    const [left, right] = ends(text.corners, 0);
    if (seen.hides && (left < seen.left - 2 || right > seen.right + 2)) found.push(`${short(text.text)} is cut off`);
    const scrolls = seen.right < Infinity && !seen.hides;
    if (!scrolls && (left < -1 || right > screen + 1)) found.push(`${short(text.text)} reaches past the screen`);
    if (text.size < 8) found.push(`${short(text.text)} is ${text.size.toFixed(1)} pixels high`);
    text.seen = seen;
  }

  // Two tilted boxes meet unless a side of one of them parts them (separating axes).
  function meet(one, other) {
    return ![one, other].some(corners => [0, 1].some(side => {
      const [a, b] = [corners[side], corners[side + 1]];
      const axis = [b[1] - a[1], a[0] - b[0]];
      const span = box => ends(box.map(([x, y]) => [x * axis[0] + y * axis[1]]), 0);
      const [first, second] = [span(one), span(other)];
      return first[1] <= second[0] || second[1] <= first[0];
    }));
  }
  const inSight = text => ends(text.corners, 0)[1] > text.seen.left && ends(text.corners, 0)[0] < text.seen.right;
  const all = [...pictures, ...texts].filter(inSight).map(text => ({ ...text, rows: ends(text.corners, 1) })).sort((a, b) => a.rows[0] - b.rows[0]);
  all.forEach((text, i) => {
    for (let k = i + 1; k < all.length && all[k].rows[0] < text.rows[1]; ++k) {
      if (all[k].element !== text.element && meet(text.corners, all[k].corners)) found.push(`${short(text.text)} lies over ${short(all[k].text)}`);
    }
  });
  if (document.documentElement.scrollWidth > screen) found.push(`the page is ${document.documentElement.scrollWidth} pixels wide on a screen of ${screen}`);
  return [...new Set(found)];
}

export const faults = `(${findFaults})()`;

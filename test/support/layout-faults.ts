import type { Page } from 'playwright-core';

/**
 * Looks at every line of text that a page shows: whether it stands on another one, and whether it is cut where nothing says so, no
 * ellipsis and no way to scroll. A figure that is cut is another figure, so an ellipsis does not do for it. What floats over a page may cover it.
 */
const LOOK = `(() => {
  const FLOATS = '.floats, .tip, .newer, dialog, .top, .tabs, .foot, .failure';
  const faults = [];
  if (document.documentElement.scrollWidth > innerWidth + 1) faults.push('the page is ' + document.documentElement.scrollWidth + ' px wide');
  const seenOf = (element) => {
    let [left, top, right, bottom] = [0, 0, innerWidth, innerHeight];
    let [told, ends] = [false, false];
    for (let at = element; at !== null && at !== document.documentElement; at = at.parentElement) {
      const { overflowX, overflowY, textOverflow, position } = getComputedStyle(at);
      const scrolls = overflowX === 'auto' || overflowX === 'scroll';
      ends ||= !told && textOverflow === 'ellipsis' && overflowX === 'hidden';
      told ||= scrolls || textOverflow === 'ellipsis';
      if (overflowX !== 'visible' || overflowY !== 'visible') {
        const box = at.getBoundingClientRect();
        [left, top] = [Math.max(left, box.left), Math.max(top, box.top)];
        [right, bottom] = [Math.min(right, box.right), Math.min(bottom, box.bottom)];
      }
      if (position === 'fixed') break;
    }
    return { left, top, right, bottom, told, ends };
  };
  const lines = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const text = node.data.trim();
    const element = node.parentElement;
    if (text === '' || !element.checkVisibility({ contentVisibilityAuto: true, visibilityProperty: true })) continue;
    if (element.closest('.sr, .skip, option, svg') !== null) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const seen = seenOf(element);
    for (const box of range.getClientRects()) {
      if (box.width < 1 || box.height < 1) continue;
      const line = {
        ...{ text, element, floats: element.closest(FLOATS) },
        ...{ left: Math.max(box.left, seen.left), right: Math.min(box.right, seen.right) },
        ...{ top: Math.max(box.top, seen.top), bottom: Math.min(box.bottom, seen.bottom) },
      };
      if (line.bottom - line.top < 4) continue;
      const missing = box.width - Math.max(0, line.right - line.left);
      const isFigure = /^(< )?[$]?[0-9][0-9.,:]*( ?(ms|s|k|M|%|kB|B))?$/.test(text) || text === 'no price';
      if (missing > 3 && (!seen.told || (isFigure && seen.ends && line.right - line.left > 2))) faults.push('"' + text.slice(0, 40) + '" is cut by ' + Math.round(missing) + ' px');
      if (line.right - line.left > 2) lines.push(line);
    }
  }
  lines.forEach((one, index) => {
    for (const other of lines.slice(index + 1)) {
      if (one.element === other.element || one.floats !== other.floats) continue;
      const wide = Math.min(one.right, other.right) - Math.max(one.left, other.left);
      const high = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
      if (wide > 2 && high > 5) faults.push('"' + one.text.slice(0, 30) + '" stands on "' + other.text.slice(0, 30) + '"');
    }
  });
  return [...new Set(faults)];
})()`;

export async function layoutFaults(page: Page): Promise<string[]> {
  return await page.evaluate(LOOK);
}

// Small ways to make and change elements. Text is set as text: nothing that comes over the wire is ever markup.

/** An element with a class, and children or text. */
export function make(tag, className, ...children) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...children);
  return element;
}

/** Sets the text, unless it is there already. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Has the element exactly so many children like make(); returns them. */
export function repeat(parent, n, make) {
  while (parent.children.length > n) parent.lastElementChild.remove();
  while (parent.children.length < n) parent.append(make(parent.children.length));
  return parent.children;
}

/** Has the element one child a key, in their order. A key keeps its child, and the child the focus; make() makes one. */
export function keyed(parent, keys, make) {
  const there = new Map(Array.from(parent.children, (child) => [child.dataset.key, child]));
  const wanted = new Set(keys);
  for (const [key, child] of there) if (!wanted.has(key)) child.remove();
  keys.forEach((key, i) => {
    const child = there.get(key) ?? make();
    child.dataset.key = key;
    if (parent.children[i] !== child) parent.insertBefore(child, parent.children[i] ?? null);
  });
  return parent.children;
}

export const find = (selector) => document.querySelector(selector);

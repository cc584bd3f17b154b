// What this browser keeps of a person's choices, from one visit to the next.

/** What was kept under a key; null where nothing was. */
export function kept(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null; // a browser that keeps nothing
  }
}

export function keep(key, value) {
  try {
    localStorage.setItem(key, value);
  } catch {
    // then it lasts as long as the page
  }
}

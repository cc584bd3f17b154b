// The keyboard: one key an action, none while something is being typed.

export function startKeys(actions) {
  document.addEventListener("keydown", (event) => {
    const typing = event.target instanceof Element && event.target.closest("input, textarea, select, dialog");
    if (typing || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    const action = actions[event.key] ?? (/^[1-9]$/.test(event.key) ? () => actions.stream?.(Number(event.key) - 1) : null);
    if (!action) return;
    event.preventDefault();
    action();
  });
}

// Explains what the pointer or the keyboard is on: whatever has a data-tip.

const EDGE = 8;

export function startTips(bubble) {
  const show = (target) => {
    bubble.textContent = target.dataset.tip;
    bubble.hidden = false;
    const at = target.getBoundingClientRect();
    const size = bubble.getBoundingClientRect();
    const left = Math.min(Math.max(at.left + at.width / 2 - size.width / 2, EDGE), innerWidth - size.width - EDGE);
    const above = at.top - size.height - EDGE;
    bubble.style.left = `${left}px`;
    bubble.style.top = `${above > EDGE ? above : at.bottom + EDGE}px`;
    target.setAttribute("aria-describedby", bubble.id);
  };
  const hide = () => {
    bubble.hidden = true;
  };
  const of = (event) => (event.target instanceof Element ? event.target.closest("[data-tip]") : null);
  for (const kind of ["pointerover", "focusin"]) {
    document.addEventListener(kind, (event) => {
      const target = of(event);
      if (target) show(target);
      else hide();
    });
  }
  document.addEventListener("focusout", hide);
  document.addEventListener("scroll", hide, true);
  document.addEventListener("keydown", (event) => event.key === "Escape" && hide());
}

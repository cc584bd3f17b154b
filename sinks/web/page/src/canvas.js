// A canvas as sharp as the screen.

/** Gives {ctx, width, height} in CSS pixels, cleared; null while the canvas is not shown. */
export function sheet(canvas) {
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
  if (!width || !height) return null;
  const ratio = Math.min(window.devicePixelRatio || 1, 3);
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const ctx = canvas.getContext("2d");
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.clearRect(0, 0, width, height);
  ctx.lineJoin = ctx.lineCap = "round";
  return { ctx, width, height };
}

/** The type of labels on canvases, that of the page. */
export const LABEL = '11px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';

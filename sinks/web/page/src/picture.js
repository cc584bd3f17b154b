// JPEGs as messages carry them, and canvases that show them.

const MOST_BYTES = 8 << 20; // of base64
const MOST_PIXELS = 4096; // a side

/** The picture of a view: a JPEG's, or that of a film that is open. */
export const pictureOf = (view) => view.picture?.() ?? picture(view.preview_jpeg);

/** The picture in a JPEG; null where there is none that can be read. */
export async function picture(base64) {
  if (!base64 || base64.length > MOST_BYTES) return null;
  try {
    const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
    return await createImageBitmap(new Blob([bytes], { type: "image/jpeg" }));
  } catch {
    return null;
  }
}

/** Takes away what a canvas shows: the picture is another stream's. */
export const clear = (canvas) => canvas.getContext("2d").clearRect(0, 0, canvas.width, canvas.height);

/** Without a picture, the one before it stays. */
export function paint(canvas, picture) {
  if (!picture) return;
  if (Math.max(picture.width, picture.height) <= MOST_PIXELS) {
    if (canvas.width !== picture.width || canvas.height !== picture.height) {
      canvas.width = picture.width;
      canvas.height = picture.height;
    }
    canvas.getContext("2d").drawImage(picture, 0, 0);
  }
  picture.close();
}

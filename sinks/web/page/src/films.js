// Films that a person opens from the own disk, a picture of a frame at a time: TIFF without compression, pictures, MP4 and MOV.

const MOST_BYTES = 1 << 30;
const MOST_FRAMES = 1e6;
const MOST_PIXELS = 1 << 26; // of a picture
const SIDE = 2048; // px that a picture has at most on the page
const PATIENCE = 10_000; // ms for the browser to find a frame
const SIZES = { 1: 1, 2: 1, 3: 2, 4: 4, 16: 8 }; // bytes of a TIFF's types
const OTHERS = "driftscope view TABLE --film FILM shows other films";

/** {length, width, height, picture(i)} of the files, which are one film or its frames; throws what is wrong with them. */
export async function film(files) {
  const [file] = files;
  if (file.size > MOST_BYTES) throw new Error(`${file.name} has more than ${MOST_BYTES >> 20} MiB: ${OTHERS}`);
  if (/\.tiff?$/i.test(file.name) && files.length === 1) return new Tiff(await file.arrayBuffer());
  if (/\.(mp4|m4v|mov)$/i.test(file.name) && files.length === 1) return new Video(file).opened();
  if (files.every(({ name }) => /\.(png|jpe?g|webp|bmp)$/i.test(name))) return new Pictures(files).opened();
  throw new Error(`${file.name}: this page reads tables as csv or jsonl, and films as one TIFF, MP4 or MOV, or as pictures: ${OTHERS}`);
}

const small = (image, width, height) => createImageBitmap(image, { resizeWidth: Math.max(1, Math.round(width * Math.min(1, SIDE / Math.max(width, height)))) });

/** Pictures in the order of their names. */
class Pictures {
  constructor(files) {
    this.files = Array.from(files).sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }));
    this.length = files.length;
  }

  async opened() {
    const first = await createImageBitmap(this.files[0]);
    [this.width, this.height] = [first.width, first.height];
    first.close();
    return this;
  }

  picture(i) {
    return small(this.files[i], this.width, this.height);
  }
}

/** Grey pictures of 8 or 16 bits, one a directory. */
export class Tiff {
  constructor(buffer) {
    this.view = new DataView(buffer);
    this.little = this.view.byteLength > 8 && this.view.getUint16(0) === 0x4949;
    this.big = this.view.byteLength > 16 && this.view.getUint16(2, this.little) === 43;
    this.pages = [];
    try {
      this.directories();
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      if (!this.pages.length) throw new Error("this is no TIFF"); // one that is cut off has the pages before
    }
    if (!this.pages.length) throw new Error("this TIFF has no picture");
    Object.assign(this, { length: this.pages.length, width: this.pages[0].width, height: this.pages[0].height });
  }

  directories() {
    const seen = new Set();
    for (let at = this.big ? this.long(8) : this.view.getUint32(4, this.little); at; at = this.page(at)) {
      if (seen.has(at) || seen.size >= MOST_FRAMES) throw new Error("the directories of this TIFF lead back to one another");
      seen.add(at);
    }
  }

  long(at) {
    return Number(this.view.getBigUint64(at, this.little));
  }

  /** Reads a directory; returns where the next one is. */
  page(at) {
    const { view, little, big } = this;
    const [n, from, size] = big ? [this.long(at), at + 8, 20] : [view.getUint16(at, little), at + 2, 12];
    const tags = {};
    for (let i = 0; i < Math.min(n, 1000); i++) tags[view.getUint16(from + i * size, little)] = from + i * size;
    const one = (tag, otherwise) => (tags[tag] ? this.values(tags[tag])[0] : otherwise);
    const page = { width: one(256, 0), height: one(257, 0), bits: one(258, 1), strips: tags[273] ? this.values(tags[273]) : [], lengths: tags[279] ? this.values(tags[279]) : [], dark: one(262, 1) === 0 };
    if (one(259, 1) !== 1 || one(277, 1) !== 1 || ![8, 16].includes(page.bits) || !page.strips.length) throw new Error(`this page reads grey TIFF of 8 or 16 bits without compression: ${OTHERS}`);
    if (!(page.width * page.height <= MOST_PIXELS)) throw new Error(`a picture of ${page.width} × ${page.height} px: ${OTHERS}`);
    this.pages.push(page);
    return big ? this.long(from + n * size) : view.getUint32(from + n * size, little);
  }

  /** The numbers of an entry. */
  values(entry) {
    const { view, little, big } = this;
    const size = SIZES[view.getUint16(entry + 2, little)] ?? 1;
    const n = big ? this.long(entry + 4) : view.getUint32(entry + 4, little);
    const inside = entry + (big ? 12 : 8);
    const from = n * size <= (big ? 8 : 4) ? inside : big ? this.long(inside) : view.getUint32(inside, little);
    if (n * size > view.byteLength) throw new RangeError("cut off");
    const at = { 1: (i) => view.getUint8(i), 2: (i) => view.getUint16(i, little), 4: (i) => view.getUint32(i, little), 8: (i) => this.long(i) }[size];
    return Array.from({ length: n }, (_, i) => at(from + i * size));
  }

  /** The grey values of a page, as stored. */
  grey({ width, height, bits, strips, lengths }) {
    const values = new Uint16Array(width * height);
    let k = 0;
    strips.forEach((from, s) => {
      const n = Math.min(Math.floor((8 * (lengths[s] ?? Infinity)) / bits), values.length - k, Math.floor((8 * (this.view.byteLength - from)) / bits));
      for (let i = 0; i < n; i++) values[k++] = bits === 8 ? this.view.getUint8(from + i) : this.view.getUint16(from + 2 * i, this.little);
    });
    return values;
  }

  picture(i) {
    const page = this.pages[i];
    const values = this.grey(page);
    const [low, high] = (this.range ??= spread(values)); // that of the first one that is shown: a film does not flicker
    const image = new ImageData(page.width, page.height);
    new Uint32Array(image.data.buffer).fill(0xff000000);
    values.forEach((v, k) => {
      const grey = (255 * (v - low)) / (high - low);
      image.data[4 * k] = image.data[4 * k + 1] = image.data[4 * k + 2] = page.dark ? 255 - grey : grey;
    });
    return small(image, page.width, page.height);
  }
}

/** The grey values between which all but a few in a thousand lie. */
function spread(values) {
  const some = values.filter((_, i) => i % Math.ceil(values.length / 1e5) === 0).sort();
  const [low, high] = [some[Math.floor(0.002 * some.length)], some[Math.floor(0.998 * (some.length - 1))]];
  return [low, Math.max(high, low + 1)];
}

/** A film that the browser decodes. Its own tables say when each frame is shown, so that every one is the one that is asked for. */
class Video {
  constructor(file) {
    this.file = file;
    this.video = document.createElement("video");
    this.video.muted = true;
    this.video.preload = "auto";
  }

  async opened() {
    this.times = frameTimes(await this.file.arrayBuffer());
    const ready = new Promise((resolve, reject) => {
      this.video.onloadeddata = resolve;
      this.video.onerror = () => reject(new Error(`this browser cannot decode ${this.file.name}: ${OTHERS}`));
    });
    this.video.src = URL.createObjectURL(this.file);
    await ready;
    Object.assign(this, { length: this.times.length, width: this.video.videoWidth, height: this.video.videoHeight });
    return this;
  }

  async picture(i) {
    const next = this.times[i + 1] ?? this.video.duration;
    const middle = (this.times[i] + Math.max(next, this.times[i])) / 2;
    if (Math.abs(this.video.currentTime - middle) > 1e-6) {
      await this.seek(middle, i);
    }
    return small(this.video, this.width, this.height);
  }

  /** Waits for the frame itself: when a browser says that it has sought, it may still have the one before. */
  seek(to, i) {
    return new Promise((resolve, reject) => {
      setTimeout(() => reject(new Error(`frame ${i} does not come`)), PATIENCE);
      if (this.video.requestVideoFrameCallback) this.video.requestVideoFrameCallback(resolve);
      else this.video.onseeked = resolve;
      this.video.currentTime = to;
    });
  }

  close() {
    URL.revokeObjectURL(this.video.src);
  }
}

/** When each frame of an MP4 or MOV is shown, s, in that order: decoding times and offsets of its first track of pictures. */
export function frameTimes(buffer) {
  const view = new DataView(buffer);
  try {
    for (const trak of boxes(view, find(view, 0, buffer.byteLength, "moov"), "trak")) {
      const media = find(view, ...trak, "mdia");
      const [handler] = find(view, ...media, "hdlr");
      if (view.getUint32(handler + 8) !== 0x76696465) continue; // "vide"
      const [header] = find(view, ...media, "mdhd");
      const scale = view.getUint32(header + (view.getUint8(header) === 1 ? 20 : 12));
      const table = find(view, ...find(view, ...media, "minf"), "stbl");
      const decoded = runs(view, find(view, ...table, "stts")[0], false);
      const offsets = boxes(view, table, "ctts").map(([at]) => runs(view, at, true))[0] ?? [];
      let at = 0;
      const times = decoded.map((step, i) => (at += step) - step + (offsets[i] ?? 0)).sort((a, b) => a - b);
      return times.map((t) => (t - times[0]) / scale);
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  throw new Error(`no pictures in this film, or it is cut off: ${OTHERS}`);
}

/** The boxes of a type inside another, each [from, to] of its content. */
function boxes(view, [from, to], type) {
  const found = [];
  for (let at = from; at + 8 <= to; ) {
    const [short, name] = [view.getUint32(at), String.fromCharCode(...[4, 5, 6, 7].map((i) => view.getUint8(at + i)))];
    const [size, head] = short === 1 ? [Number(view.getBigUint64(at + 8)), 16] : [short || to - at, 8];
    if (size < head) break;
    if (name === type) found.push([at + head, Math.min(at + size, to)]);
    at += size;
  }
  return found;
}

function find(view, from, to, type) {
  const [first] = boxes(view, [from, to], type);
  if (!first) throw new RangeError(type);
  return first;
}

/** Counted values one by one: a table of pairs (count, value). */
function runs(view, at, signed) {
  const list = [];
  for (let i = 0; i < view.getUint32(at + 4); i++) {
    const [count, value] = [view.getUint32(at + 8 + 8 * i), signed ? view.getInt32(at + 12 + 8 * i) : view.getUint32(at + 12 + 8 * i)];
    if (list.length + count > MOST_FRAMES) throw new RangeError("too many frames");
    for (let k = 0; k < count; k++) list.push(value);
  }
  return list;
}

// Writes the stores of v3.zip with zarrita 0.7.5: npm install zarrita @zarrita/storage && node make_v3.mjs v3
// The shards are put together here, for zarrita does not write them, and those with their index at the end are read again by it.
import * as zarr from "zarrita";
import FileSystemStore from "@zarrita/storage/fs";
import fs from "node:fs";
import path from "node:path";
import zlib from "node:zlib";

const [T, C, Z, H, W] = [3, 2, 1, 20, 24];
const shape = [T, C, Z, H, W];
const folder = process.argv[2];

function value(t, c, z, y, x, dtype) {
  let v = 1000 * t + 300 * c + 100 * z + 16 * y + x;
  if (dtype === "uint8") v %= 251;
  if (dtype.startsWith("int") || dtype.startsWith("float")) v -= 2000;
  return v;
}

function picture(dtype, from, sides) {
  const kinds = { uint8: Uint8Array, uint16: Uint16Array, int16: Int16Array, float32: Float32Array };
  const out = new kinds[dtype](sides.reduce((a, b) => a * b));
  let i = 0;
  for (let t = 0; t < sides[0]; t++) for (let c = 0; c < sides[1]; c++) for (let z = 0; z < sides[2]; z++)
    for (let y = 0; y < sides[3]; y++) for (let x = 0; x < sides[4]; x++)
      out[i++] = y + from[3] < H && x + from[4] < W ? value(t + from[0], c + from[1], z + from[2], y + from[3], x + from[4], dtype) : 0;
  return out;
}

const ome = {
  version: "0.5",
  multiscales: [{
    axes: [{ name: "t", type: "time", unit: "second" }, { name: "c", type: "channel" }, { name: "z", type: "space", unit: "micrometer" },
      { name: "y", type: "space", unit: "micrometer" }, { name: "x", type: "space", unit: "micrometer" }],
    datasets: [{ path: "0", coordinateTransformations: [{ type: "scale", scale: [0.5, 1, 1, 0.2, 0.1] }] }],
    coordinateTransformations: [{ type: "scale", scale: [0.1, 1, 1, 1, 1] }],
  }],
};

async function group(name) {
  const root = zarr.root(new FileSystemStore(path.resolve(folder, name)));
  await zarr.create(root, { attributes: { ome } });
  return root;
}

async function store(name, dtype, codecs, chunk_shape, more = {}) {
  const root = await group(name);
  const array = await zarr.create(root.resolve("0"), { shape, chunkShape: chunk_shape, dtype, codecs, fillValue: 0, ...more });
  const data = picture(dtype, [0, 0, 0, 0, 0], shape);
  const stride = shape.map((_, i) => shape.slice(i + 1).reduce((a, b) => a * b, 1));
  await zarr.set(array, null, { data, shape, stride });
}

const little = { name: "bytes", configuration: { endian: "little" } };
await store("raw", "uint16", [little], [1, 1, 1, 12, 24]);
await store("zstd", "float32", [little, { name: "zstd", configuration: { level: 1, checksum: false } }], [1, 1, 1, 12, 16]);
await store("blosc", "uint16", [little, { name: "blosc", configuration: { cname: "lz4", clevel: 5, shuffle: "shuffle", typesize: 2, blocksize: 0 } }], [1, 1, 1, 12, 24]);
await store("transposed", "uint16", [{ name: "transpose", configuration: { order: [4, 3, 2, 1, 0] } }, little], [1, 2, 1, 12, 24]);

// CRC-32C, bit by bit.
function crc32c(bytes) {
  let crc = ~0;
  for (const b of bytes) {
    crc ^= b;
    for (let k = 0; k < 8; k++) crc = (crc >>> 1) ^ (0x82f63b78 & -(crc & 1));
  }
  return ~crc >>> 0;
}

// sharded writes shards of three times and two channels, in chunks of one picture's tile.
async function sharded(name, where) {
  await group(name);
  const inner = [1, 1, 1, 12, 24], shard = [3, 2, 1, 24, 24];
  const pack = (raw) => zlib.gzipSync(Buffer.from(raw.buffer));
  fs.mkdirSync(path.join(folder, name, "0"), { recursive: true });
  fs.writeFileSync(path.join(folder, name, "0", "zarr.json"), JSON.stringify({
    zarr_format: 3, node_type: "array", shape, data_type: "uint16", fill_value: 0, attributes: {}, dimension_names: ["t", "c", "z", "y", "x"],
    chunk_grid: { name: "regular", configuration: { chunk_shape: shard } },
    chunk_key_encoding: { name: "default", configuration: { separator: "/" } },
    codecs: [{ name: "sharding_indexed", configuration: {
      chunk_shape: inner, codecs: [little, { name: "gzip", configuration: { level: 5 } }],
      index_codecs: [little, { name: "crc32c" }], index_location: where } }],
  }));
  const size = 3 * 2 * 2 * 16, chunks = [];
  const index = Buffer.alloc(size);
  let at = where === "start" ? size + 4 : 0, i = 0;
  for (let t = 0; t < 3; t++) for (let c = 0; c < 2; c++) for (let y = 0; y < 2; y++) {
    const packed = pack(picture("uint16", [t, c, 0, 12 * y, 0], inner));
    index.writeBigUInt64LE(BigInt(at), 16 * i);
    index.writeBigUInt64LE(BigInt(packed.length), 16 * i++ + 8);
    chunks.push(packed);
    at += packed.length;
  }
  const crc = Buffer.alloc(4);
  crc.writeUInt32LE(crc32c(index));
  const all = where === "start" ? [index, crc, ...chunks] : [...chunks, index, crc];
  fs.mkdirSync(path.join(folder, name, "0", "c", "0", "0", "0", "0"), { recursive: true });
  fs.writeFileSync(path.join(folder, name, "0", "c", "0", "0", "0", "0", "0"), Buffer.concat(all));
  if (where === "start") return; // zarrita looks for the index at the end
  const array = await zarr.open(zarr.root(new FileSystemStore(path.resolve(folder, name))).resolve("0"), { kind: "array" });
  const read = await zarr.get(array, null);
  const want = picture("uint16", [0, 0, 0, 0, 0], shape);
  if (Buffer.compare(Buffer.from(read.data.buffer, read.data.byteOffset, read.data.byteLength), Buffer.from(want.buffer)) !== 0) throw new Error(name + ": zarrita reads something else");
}
await sharded("sharded", "end");
await sharded("sharded-start", "start");

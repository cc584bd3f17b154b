# Writes the stores of v2.zip with Debian's python3-zarr and python3-numcodecs: python3 make_v2.py v2.zip
import os, shutil, sys, tempfile
import numcodecs, numpy as np, zarr

T, C, Z, H, W = 3, 2, 1, 20, 24

def picture(shape, dtype):
    at = np.indices(shape)
    v = np.zeros(shape, dtype=np.int64)
    for k, axis in zip((1000, 300, 100, 16, 1)[-len(shape):], at):
        v += k * axis
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return v % 3 == 0
    if dtype.itemsize == 1 and dtype.kind == "u":
        v %= 251
    elif dtype.itemsize == 1:
        v = v % 251 - 125
    elif dtype.kind in "if":
        v -= 2000
    return v.astype(dtype)

def store(folder, name, dtype, compressor, chunks=(1, 1, 1, 12, 24), shape=(T, C, Z, H, W), separator="/", order="C", ngff="0.4"):
    path = os.path.join(folder, name)
    kind = zarr.NestedDirectoryStore if separator == "/" else zarr.DirectoryStore
    root = zarr.group(store=kind(path, dimension_separator=separator) if separator == "/" else kind(path), overwrite=True)
    data = root.zeros("0", shape=shape, chunks=chunks, dtype=dtype, compressor=compressor, order=order, dimension_separator=separator)
    data[...] = picture(shape, dtype)
    units = {"t": ("time", "millisecond"), "c": ("channel", None), "z": ("space", "micrometer"), "y": ("space", "micrometer"), "x": ("space", "micrometer")}
    axes = []
    for n in "tczyx"[-len(shape):] if len(shape) != 3 else "tyx":
        axis = {"name": n, "type": units[n][0]}
        if units[n][1]:
            axis["unit"] = units[n][1]
        axes.append(axis)
    scale = {"t": 20.0, "c": 1.0, "z": 0.5, "y": 0.108, "x": 0.108}
    root.attrs["multiscales"] = [{
        "version": ngff, "axes": axes,
        "datasets": [{"path": "0", "coordinateTransformations": [{"type": "scale", "scale": [scale[a["name"]] for a in axes]}]}],
    }]
    if "c" in [a["name"] for a in axes]:
        root.attrs["omero"] = {"channels": [{"label": "DAPI"}, {"label": "FITC"}]}

def main(out):
    B = numcodecs.Blosc
    with tempfile.TemporaryDirectory() as folder:
        store(folder, "blosc-lz4", "<u2", B("lz4", 5, B.SHUFFLE))
        store(folder, "blosc-lz4hc-bits", "<u2", B("lz4hc", 9, B.BITSHUFFLE), separator=".")
        store(folder, "blosc-zstd-bits", "<f4", B("zstd", 3, B.BITSHUFFLE))
        store(folder, "blosc-zstd-8", "|u1", B("zstd", 3, B.SHUFFLE))
        store(folder, "blosc-zlib", "<f8", B("zlib", 3, B.SHUFFLE))
        store(folder, "blosc-lz4-plain", "<i4", B("lz4", 5, B.NOSHUFFLE))
        store(folder, "blosc-blocks", "<u2", B("lz4", 5, B.SHUFFLE, blocksize=2048), chunks=(1, 70, 66), shape=(2, 70, 66))
        store(folder, "blosc-blocks-bits", "<u4", B("zstd", 1, B.BITSHUFFLE, blocksize=2048), chunks=(1, 70, 66), shape=(2, 70, 66))
        store(folder, "zstd", "|b1", numcodecs.Zstd(3))
        store(folder, "gzip", "<i2", numcodecs.GZip(5))
        store(folder, "zlib-f", ">u2", numcodecs.Zlib(5), order="F")
        store(folder, "raw", "|i1", None, separator=".")
        store(folder, "together", "<u2", B("lz4", 5, B.SHUFFLE), chunks=(2, 2, 1, 20, 24))
        shutil.make_archive(out.removesuffix(".zip"), "zip", folder)

main(sys.argv[1])

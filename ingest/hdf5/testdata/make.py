# Writes the files that others_test.go reads: python3 make.py FOLDER
import sys
import h5py
import numpy as np

folder = sys.argv[1]


def numbers(dtype, shape, axes="tcyx"):
    """v = 1000 t + 300 c + 100 z + 16 y + x, as others_test.go has it; bytes modulo 251, signed ones and floats less 2000."""
    grids = np.indices(shape)
    weight = {"t": 1000, "c": 300, "z": 100, "y": 16, "x": 1}
    v = sum(weight[a] * g for a, g in zip(axes, grids))
    kind = np.dtype(dtype)
    if kind.kind == "u" and kind.itemsize == 1:
        v = v % 251
    elif kind.kind == "i" and kind.itemsize == 1:
        v = v % 251 - 125
    elif kind.kind in "if":
        v = v - 2000
    return v.astype(dtype)


film = (5, 11, 13)
for libver in ["earliest", "latest"]:
    with h5py.File(f"{folder}/{libver}.h5", "w", libver=libver) as f:
        count = 0

        def place(name):
            """Groups of eight: the newest format keeps the names of more in a heap."""
            global count
            count += 1
            return f"g{(count - 1) // 8}/{name}"

        def put(name, dtype="<u2", shape=film, axes="tyx", **how):
            f.create_dataset(place(name), data=numbers(dtype, shape, axes), **how)

        put("plain")
        put("bytes", "u1")
        put("big", ">u2")
        put("float", "<f4")
        put("bigfloat", ">f4")
        put("double", "<f8")
        put("signed", "<i2")
        put("signedbytes", "i1")
        put("long", "<u4")
        put("singly", chunks=film)
        put("singlyzip", chunks=film, compression="gzip")
        put("chunks", chunks=(1, 4, 5))
        put("together", chunks=(2, 11, 13))
        put("gzip", chunks=(1, 11, 13), compression="gzip")
        put("shuffle", chunks=(2, 6, 13), compression="gzip", shuffle=True)
        put("shufflefloat", "<f4", chunks=(1, 11, 13), compression="gzip", shuffle=True)
        put("fletcher", chunks=(1, 11, 13), compression="gzip", fletcher32=True)
        put("fletcherodd", "u1", chunks=(1, 11, 13), fletcher32=True)
        put("lzf", chunks=(5, 11, 13), compression="lzf")
        put("group/within/deep", "<u2", (2, 3, 2, 5, 7), "tczyx")
        put("channels", "<u2", (3, 2, 5, 7), "tcyx", chunks=(1, 1, 5, 7), compression="gzip")
        put("colours", "u1", (3, 5, 7, 2), "tyxc")
        put("matlab", "<u2", (3, 7, 5), "txy", chunks=(1, 4, 5))
        put("last", "<u2", (5, 7, 3), "yxt", chunks=(5, 7, 3))
        put("picture", "<u2", (5, 7), "yx")
        f[place("name")] = "a text, not a film"
        f.create_dataset(place("many"), data=numbers("<u2", (1500, 2, 3), "tyx"), chunks=(1, 2, 3))  # an array in pages
        f.create_dataset(place("manyzip"), data=numbers("<u2", (1500, 2, 3), "tyx"), chunks=(1, 2, 3), compression="gzip")
        d = f.create_dataset(place("room"), (6, 11, 13), "<u2", chunks=(1, 11, 13), fillvalue=7)
        d[:2] = numbers("<u2", (2, 11, 13), "tyx")
        d[3:4, :5] = numbers("<u2", (4, 11, 13), "tyx")[3:4, :5]
        d = f.create_dataset(place("halves"), (3, 11, 13), "<u2", chunks=(1, 6, 13), fillvalue=7)
        d[:, :6] = numbers("<u2", film, "tyx")[:3, :6]
        f.create_dataset(place("empty"), (6, 11, 13), "<u2", chunks=(1, 11, 13))
        f.create_dataset(place("bounded"), data=numbers("<u2", film, "tyx"), chunks=(1, 4, 5), maxshape=(9, 30, 20))
        f.create_dataset(place("grows"), data=numbers("<u2", film, "tyx"), chunks=(1, 11, 13), maxshape=(None, 11, 13))
        how = dict(chunks=(1, 2, 3), maxshape=(None, 2, 3))
        f.create_dataset(place("growslong"), data=numbers("<u2", (3000, 2, 3), "tyx"), **how)  # super blocks
        f.create_dataset(place("growszip"), data=numbers("<u2", (3000, 2, 3), "tyx"), compression="gzip", **how)
        d = f.create_dataset(place("growswide"), (5, 11, 13), "<u2", chunks=(1, 4, 5), maxshape=(None, 22, 26))
        d[...] = numbers("<u2", film, "tyx")
        d = f.create_dataset(place("growsgaps"), (3000, 2, 3), "<u2", **how)
        d[2999] = 1
        f.create_dataset(place("growsall"), data=numbers("<u2", film, "tyx"), chunks=(1, 4, 5), maxshape=(None, None, 13))
        f.create_dataset(place("growslast"), data=numbers("<u2", film, "tyx"), chunks=(1, 4, 5), maxshape=(5, 11, None))
        f.create_dataset(place("half"), data=numbers("<f2", film, "tyx"))
        f.create_dataset(place("truth"), data=numbers("<u2", film, "tyx") % 2 == 0)
        f.create_dataset(place("scaled"), data=numbers("<u2", film, "tyx"), chunks=(1, 11, 13), scaleoffset=0)

# compact, in the header
with h5py.File(f"{folder}/compact.h5", "w") as f:
    space = h5py.h5s.create_simple((2, 3, 4))
    how = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    how.set_layout(h5py.h5d.COMPACT)
    d = h5py.h5d.create(f.id, b"data", h5py.h5t.STD_U16LE, space, how)
    d.write(h5py.h5s.ALL, h5py.h5s.ALL, numbers("<u2", (2, 3, 4), "tyx"))

# implicit: chunks that follow each other, allocated early
with h5py.File(f"{folder}/implicit.h5", "w", libver="latest") as f:
    space = h5py.h5s.create_simple(film)
    how = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    how.set_chunk((1, 4, 5))
    how.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    d = h5py.h5d.create(f.id, b"data", h5py.h5t.STD_U16LE, space, how)
    d.write(h5py.h5s.ALL, h5py.h5s.ALL, numbers("<u2", film, "tyx"))

# behind a block of its user, as MATLAB has one
with h5py.File(f"{folder}/user.h5", "w", userblock_size=512) as f:
    f.create_dataset("data", data=numbers("<u2", film, "tyx"), chunks=(1, 11, 13), compression="gzip")

# many links, whose form is another then
with h5py.File(f"{folder}/dense.h5", "w", libver="latest") as f:
    for n in range(20):
        f.create_dataset(f"data{n}", data=numbers("<u2", (2, 3, 4), "tyx"))

with h5py.File(f"{folder}/densest.h5", "w", libver="latest") as f:
    for n in range(700):
        f.create_dataset(f"data{n}", data=np.uint8(n % 200))

# many links of the old form, several nodes
with h5py.File(f"{folder}/names.h5", "w") as f:
    for n in range(300):
        f.create_dataset(f"data{n}", data=np.uint8(n % 200))
    f.create_dataset("film", data=numbers("<u2", film, "tyx"))
    f["film2"] = h5py.SoftLink("/film")

# an extensible array whose data blocks are in pages: more than 2^17 elements
with h5py.File(f"{folder}/long.h5", "w", libver="latest") as f:
    v = np.zeros((140000, 1, 1), "<u1")
    v[:, 0, 0] = np.arange(140000) % 251
    f.create_dataset("data", data=v, chunks=(1, 1, 1), maxshape=(None, 1, 1))

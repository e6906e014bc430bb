"""Reads what the kernels of a cubin need, without CUDA's toolkit: registers and stack bytes of a thread, bytes of code, bytes of static
shared memory of a block. The format is ELF of 64 bits with attributes in sections .nv.info; cuobjdump -res-usage prints the same.
"""
import struct

NAMED = 4  # the format of an attribute whose value follows it: of a symbol and a number here
FRAME_SIZE, REGISTERS = 0x11, 0x2F


def sections(data):
    """{name: (contents, link)} of an ELF file."""
    offset, = struct.unpack_from("<Q", data, 0x28)
    size, count, names = struct.unpack_from("<HHH", data, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, offset + i * size) for i in range(count)]
    text = headers[names][4]

    def name(start):
        return data[text + start:data.index(b"\0", text + start)].decode()
    empty = 8  # the type of a section that takes no room in the file
    return {name(h[0]): b"\0" * h[5] if h[1] == empty else data[h[4]:h[4] + h[5]] for h in headers}


def symbols(found):
    table, strings = found[".symtab"], found[".strtab"]
    starts = [struct.unpack_from("<I", table, at)[0] for at in range(0, len(table), 24)]
    return [strings[start:strings.index(b"\0", start)].decode() for start in starts]


def attributes(info):
    """(kind, symbol, number) of each that has them."""
    at = 0
    while at + 4 <= len(info):
        form, kind, size = struct.unpack_from("<BBH", info, at)
        at += 4
        if form == NAMED:
            if size == 8:
                yield (kind, *struct.unpack_from("<II", info, at))
            at += size


def kernels(path):
    """{mangled name: {"registers": .., "stack": .., "shared": .., "code": ..}} of a cubin file."""
    found = sections(path.read_bytes())
    names = symbols(found)
    out = {name.removeprefix(".text."): {"registers": None, "stack": None, "shared": 0} for name in found if name.startswith(".text.")}
    for kind, symbol, number in attributes(found.get(".nv.info", b"")):
        if names[symbol] in out and kind in (FRAME_SIZE, REGISTERS):
            out[names[symbol]]["stack" if kind == FRAME_SIZE else "registers"] = number
    for name in out:
        out[name]["code"] = len(found[f".text.{name}"])
        out[name]["shared"] = len(found.get(f".nv.shared.{name}", b""))
    return out

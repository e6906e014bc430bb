#!/usr/bin/env python3
"""The demo's part in NumPy: prepares the digits, checks a product that Tessera wrote, and draws it.

    similarity.py prepare DATA_FOLDER OUT_FOLDER     digits.npy -> rows.npy: each image minus the mean image, of length one, f32
    similarity.py check ROWS.npy S.npy               S against NumPy's own product in f64, element by element
    similarity.py exact DIGITS.npy C.npy             C is exactly D * D^T of whole numbers
    similarity.py draw DATA_FOLDER S.npy OUT.svg     the similarities as a picture, sorted by digit

Element (i, j) of S = R * R^T then says how alike the images i and j are, from -1 to 1.
"""
import base64
import pathlib
import struct
import sys
import zlib

import numpy as np

# White if two images have nothing in common, red if they agree, blue if one is the other's negative.
STOPS = [(-1.0, (5, 48, 97)), (-0.5, (67, 147, 195)), (0.0, (247, 247, 247)), (0.5, (214, 96, 77)), (1.0, (103, 0, 31))]


def colours(values):
    """(h,w) in [-1, 1] -> (h,w,3) bytes."""
    x = [stop for stop, _ in STOPS]
    return np.stack([np.interp(values, x, [rgb[c] for _, rgb in STOPS]) for c in range(3)], axis=-1).round().astype(np.uint8)


def png(pixels):
    """(h,w,3) bytes as a data address, ready for an <image>."""
    height, width, _ = pixels.shape
    raw = b"".join(b"\0" + row.tobytes() for row in pixels)

    def chunk(name, body):
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    data = (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(raw, 9)) + chunk(b"IEND", b""))
    return "data:image/png;base64," + base64.b64encode(data).decode()


def prepare(data, out):
    digits = np.load(data / "digits.npy").astype(np.float64)  # (1797,64)
    digits -= digits.mean(axis=0)  # the common part of all images does not distinguish them
    digits /= np.linalg.norm(digits, axis=1, keepdims=True)
    np.save(out / "rows.npy", digits.astype(np.float32))


def check(rows, product):
    R = np.load(rows)     # (1797,64)
    S = np.load(product)  # (1797,1797)
    assert S.dtype == np.float32 and S.shape == (len(R), len(R)), f"{product}: {S.dtype} {S.shape}"
    exact = R.astype(np.float64) @ R.T.astype(np.float64)
    # |error| <= gamma_K * |R| |R|^T for any order of the additions; gamma_K = K u / (1 - K u), u = 2^-24.
    K, u = R.shape[1], 2.0 ** -24
    bound = K * u / (1 - K * u) * (np.abs(R).astype(np.float64) @ np.abs(R.T).astype(np.float64))
    ratio = float((np.abs(S - exact) / bound).max())
    print(f"NumPy {np.__version__} reads {product.name}: {S.shape[0]} x {S.shape[1]} {S.dtype}; "
          f"largest |error| / bound against its own f64 product: {ratio:.3f}")
    return 0 if ratio <= 1 else 1  # NaN is not <= 1


def exact(digits, product):
    D, C = np.load(digits).astype(np.int64), np.load(product)
    different = int((C != D @ D.T).sum())
    print(f"NumPy {np.__version__} multiplies the same whole numbers: {different} of {C.size} elements differ")
    return 1 if different else 0


def draw(data, product, picture):
    S, digits, labels = np.load(product), np.load(data / "digits.npy"), np.load(data / "digits_labels.npy")
    order = np.argsort(labels, kind="stable")
    S = S[order][:, order]
    side = len(S) // 3  # 1797 = 3 * 599: each pixel is the mean of 3 x 3 elements
    pixels = colours(S[:3 * side, :3 * side].reshape(side, 3, side, 3).mean(axis=(1, 3)))
    ends = np.cumsum(np.bincount(labels, minlength=10)) / 3
    starts = np.concatenate([[0], ends[:-1]])
    left, top = 92, 104
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + side + 110} {top + side + 40}" '
           'font-family="system-ui, sans-serif" font-size="13" fill="#222">',
           '<rect width="100%" height="100%" fill="#fff"/>',
           f'<text x="{left}" y="26" font-size="18" font-weight="600">1797 handwritten digits, each compared with each</text>',
           f'<text x="{left}" y="44" fill="#666">S = R · Rᵀ, R is (1797,64): how alike two images are, sorted by digit</text>',
           f'<image x="{left}" y="{top}" width="{side}" height="{side}" href="{png(pixels)}"/>']
    for digit in range(10):
        # the average shape of the digit
        mean = digits[labels == digit].mean(axis=0).reshape(8, 8) / 16
        grey = png(np.repeat((255 - 225 * mean)[..., None], 3, axis=2).round().astype(np.uint8))
        middle = (starts[digit] + ends[digit]) / 2
        for x, y in ((left + middle - 20, top - 46), (left - 46, top + middle - 20)):
            out.append(f'<image x="{x:.1f}" y="{y:.1f}" width="40" height="40" href="{grey}" style="image-rendering:pixelated">'
                       f'<title>the mean of all images of the digit {digit}</title></image>')
        out.append(f'<text x="{left - 62}" y="{top + middle + 5:.1f}" text-anchor="middle">{digit}</text>')
        if digit:
            line = starts[digit]
            out.append(f'<path d="M{left} {top + line:.1f}h{side}M{left + line:.1f} {top}v{side}" stroke="#222" '
                       'stroke-width=".6" stroke-opacity=".45"/>')
    scale = png(colours(np.linspace(1, -1, 201)[:, None]))
    x, y = left + side + 24, top
    out.append(f'<image x="{x}" y="{y}" width="16" height="{side}" preserveAspectRatio="none" href="{scale}"/>')
    for value in (1, 0.5, 0, -0.5, -1):
        out.append(f'<text x="{x + 22}" y="{y + (1 - value) / 2 * side + (12 if value == 1 else 0 if value == -1 else 5):.1f}">'
                   f'{value:+g}</text>'.replace('>-', '>−') if value else f'<text x="{x + 22}" y="{y + side / 2 + 5:.1f}">0</text>')
    out.append(f'<text x="{left}" y="{top + side + 24}" fill="#666">red squares on the diagonal: images of the same digit; '
               'data: UCI, E. Alpaydin and C. Kaynak, CC BY 4.0</text></svg>')
    picture.write_text("\n".join(out), encoding="utf-8")


def main():
    command, *paths = sys.argv[1:] or [""]
    actions = {"prepare": (prepare, 2), "check": (check, 2), "exact": (exact, 2), "draw": (draw, 3)}
    if command not in actions or len(paths) != actions[command][1]:
        print(__doc__, file=sys.stderr)
        return 2
    return actions[command][0](*map(pathlib.Path, paths)) or 0


if __name__ == "__main__":
    sys.exit(main())

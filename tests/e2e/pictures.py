#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""pictures.py PROGRAM [--write]: pictures by URL, from a daemon of its own.

Each line of tests/data/plots.sha256 is a picture that somebody has looked at: the SHA-256 of its SVG
(without the description), that of the pixels of its PNG, and its target without a suffix. Besides the
digests, an XML parser reads every SVG: it has a title, a description and nothing that runs; no caption
leaves the picture or meets another one, by the widths that the font file itself states; curves and cells
are read back and compared with the numbers of the endpoint behind. --write writes the digests anew.
"""

import contextlib
import hashlib
import http.client
import json
import os
import re
import signal
import struct
import subprocess
import sys
import urllib.parse
import xml.etree.ElementTree as xml
import zlib

LIST = "tests/data/plots.sha256"
FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"
SVG = "{http://www.w3.org/2000/svg}"
ALLOWED = {"svg", "title", "desc", "style", "g", "path", "circle", "text"}
ASCENT, DESCENT = 0.74, 0.22  # of what captions consist of, in their size
TOUCH = 0.5  # pixels by which boxes may meet
HOSTILE = """</title><script>alert(1)</script><a href="x" onload='y'>&amp;]]><!--"""

failures = []


def expect(holds, *message):
    if not holds:
        failures.append(" ".join(str(part) for part in message))


@contextlib.contextmanager
def daemon(program):
    """The address of a daemon of its own."""
    read, write = os.pipe()
    process = subprocess.Popen([program, "--listen", "127.0.0.1:0", "--ready-fd", str(write),
                                "--log-format", "off"], pass_fds=[write])
    os.close(write)
    with os.fdopen(read) as ready:
        url = urllib.parse.urlsplit(json.loads(ready.readline())["url"])
    try:
        yield url.netloc
    finally:
        process.send_signal(signal.SIGTERM)
        expect(process.wait(20) == 0, "the daemon's exit status is", process.returncode)


def get(service, target, status=200, **fields):
    connection = http.client.HTTPConnection(service, timeout=60)
    connection.request("GET", target, headers=fields)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    expect(answer.status == status, target, "is", answer.status, body[:200])
    return answer, body


def with_suffix(target, suffix):
    path, _, query = target.partition("?")
    return f"{path}.{suffix}?{query}"


# ---- The font, as its file states it --------------------------------------------------------------


class Font:
    """Advance widths of a TrueType file, in ems: tables head, hhea, hmtx and cmap (format 4)."""

    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        tables = {}
        for i in range(struct.unpack(">H", data[4:6])[0]):
            tag, _, at, _ = struct.unpack(">4sIII", data[12 + 16 * i:28 + 16 * i])
            tables[tag] = at
        self.em = struct.unpack(">H", data[tables[b"head"] + 18:tables[b"head"] + 20])[0]
        metrics = struct.unpack(">H", data[tables[b"hhea"] + 34:tables[b"hhea"] + 36])[0]
        hmtx = tables[b"hmtx"]
        self.advances = [struct.unpack(">H", data[hmtx + 4 * i:hmtx + 4 * i + 2])[0] for i in range(metrics)]
        self.glyphs = self.read_cmap(data, tables[b"cmap"])

    @staticmethod
    def read_cmap(data, at):
        for i in range(struct.unpack(">H", data[at + 2:at + 4])[0]):
            offset = at + struct.unpack(">HHI", data[at + 4 + 8 * i:at + 12 + 8 * i])[2]
            if struct.unpack(">H", data[offset:offset + 2])[0] == 4:
                break
        n = struct.unpack(">H", data[offset + 6:offset + 8])[0] // 2
        column = lambda k: struct.unpack(f">{n}H", data[offset + k:offset + k + 2 * n])
        ends, starts = column(14), column(16 + 2 * n)
        deltas, ranges = column(16 + 4 * n), column(16 + 6 * n)
        glyphs = {}
        for i in range(n):
            for code in range(starts[i], ends[i] + 1):
                index = code
                if ranges[i]:
                    place = offset + 16 + 6 * n + 2 * i + ranges[i] + 2 * (code - starts[i])
                    index = struct.unpack(">H", data[place:place + 2])[0]
                glyphs[code] = (index + deltas[i]) & 0xFFFF
        return glyphs

    def width(self, text):
        indices = [self.glyphs.get(ord(c), 0) for c in text]
        return sum(self.advances[min(i, len(self.advances) - 1)] for i in indices) / self.em


# ---- SVG ------------------------------------------------------------------------------------------


def check_structure(target, root):
    expect(root.tag == SVG + "svg" and root.get("role") == "img", target, "is no image")
    expect(root[0].tag == SVG + "title" and root[0].text, target, "has no title")
    expect(root[1].tag == SVG + "desc" and root[1].text, target, "has no description")
    for element in root.iter():
        expect(element.tag[len(SVG):] in ALLOWED, target, "has a", element.tag)
        for name in element.attrib:
            expect(not re.match(r"on|.*href", name), target, "has an attribute", name)


def extent(font, text):
    """left, top, right, bottom"""
    size, x, y = (float(text.get(name)) for name in ("font-size", "x", "y"))
    width = font.width(text.text or "") * size
    left = x - {None: 0, "middle": width / 2, "end": width}[text.get("text-anchor")]
    return left, y - ASCENT * size, left + width, y + DESCENT * size


def check_captions(target, root, font):
    width, height = float(root.get("width")), float(root.get("height"))
    boxes = [(text.text, extent(font, text)) for text in root.iter(SVG + "text")]
    expect(len(boxes) >= 2, target, "has few captions")
    for i, (text, a) in enumerate(boxes):
        expect(a[0] >= -TOUCH and a[1] >= -TOUCH and a[2] <= width + TOUCH and a[3] <= height + TOUCH,
               target, repr(text), "leaves the picture:", a)
        for other, b in boxes[:i]:
            apart = a[0] > b[2] - TOUCH or b[0] > a[2] - TOUCH or a[1] > b[3] - TOUCH or b[1] > a[3] - TOUCH
            expect(apart, target, repr(text), "meets", repr(other))


# ---- PNG ------------------------------------------------------------------------------------------


def pixels(target, data):
    """Width, height and the bytes of all rows; this reader knows what the daemon writes."""
    expect(data[:8] == b"\x89PNG\r\n\x1a\n", target, "is no PNG")
    at, packed, head = 8, b"", None
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        expect(zlib.crc32(kind + body) == struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0],
               target, kind, "has another checksum")
        head = struct.unpack(">IIBBBBB", body) if kind == b"IHDR" else head
        packed += body if kind == b"IDAT" else b""
        at += 12 + size
    width, height = head[:2]
    expect(head[2:] == (8, 2, 0, 0, 0), target, "is no RGB of 8 bits")
    raw, step = zlib.decompress(packed), 3 * width + 1
    expect(len(raw) == step * height, target, "has", len(raw), "bytes")
    rows = [raw[i * step:(i + 1) * step] for i in range(height)]
    expect(all(row[0] == 0 for row in rows), target, "has filtered rows")
    return width, height, b"".join(row[1:] for row in rows)


# ---- Numbers read back ----------------------------------------------------------------------------


def number(text):
    return float(text.replace("\u2212", "-"))


def line_through(ticks):
    """From places to values."""
    (a, b), (c, d) = ticks[0], ticks[-1]
    return lambda place: b + (place - a) * (d - b) / (c - a)


def curves(root):
    """(name, [(x, y), ...]) of each named path, by the ticks of its panel."""
    found, across, upright, drawn = [], [], [], False
    for element in root:
        if element.tag == SVG + "text" and element.get("class") == "muted":
            anchor, size = element.get("text-anchor"), float(element.get("font-size"))
            if drawn:
                across, upright, drawn = [], [], False
            if anchor == "middle" and re.fullmatch("[\u22120-9.]+", element.text):
                across.append((float(element.get("x")), number(element.text)))
            elif anchor == "end":
                upright.append((float(element.get("y")) - 0.35 * size, number(element.text)))
        if element.tag == SVG + "path" and len(element):
            x, y, drawn = line_through(across), line_through(upright), True
            points = re.findall(r"(-?[\d.]+) (-?[\d.]+)", element.get("d"))
            found.append((element[0].text, [(x(float(a)), y(float(b))) for a, b in points]))
    return found


def check_scores(service):
    query = "spec=sinusoidal:dim=32&spec=rope:dim=32&anchors=0,5&offsets=-4:20"
    root = xml.fromstring(get(service, f"/v1/plots/scores.svg?{query}")[1])
    blocks = json.loads(get(service, f"/v1/scores?{query}")[1])["blocks"]
    rows = [row for block in blocks for row in block["tensors"]["scores"]["data"]]
    drawn = curves(root)
    expect([name for name, _ in drawn] == ["anchor 0", "anchor 5"] * 2, "scores: curves of", drawn)
    span = max(map(max, rows)) - min(map(min, rows))
    for row, (name, points) in zip(rows, drawn):
        expect(len(points) == len(row), "scores:", name, "has", len(points), "points")
        for offset, score, (x, y) in zip(range(-4, 20), row, points):
            expect(abs(x - offset) < 0.05 and abs(y - score) < 0.004 * span,
                   "scores:", name, "at", offset, "is", score, "but drawn as", (x, y))


def check_cells(service, name, query, tensor):
    """The colours of all cells are those of their values on the scale beside them."""
    root = xml.fromstring(get(service, f"/v1/plots/{name}.svg?{query}")[1])
    rows = json.loads(get(service, f"/v1/{name}?{query}")[1])["tensors"][tensor]["data"]
    groups = [g for g in root.iter(SVG + "g") if g.get("transform")]
    cells, bar = ({}, {})
    for group, places in zip((groups[0], groups[-1]), (cells, bar)):
        for path in group:
            for x, y, n in re.findall(r"M(\d+) (\d+)h(\d+)v1", path.get("d")):
                for i in range(int(n)):
                    places[int(y), int(x) + i] = path.get("fill")
    levels = {}
    for (y, _), fill in bar.items():
        levels.setdefault(fill, []).append(len(bar) - 1 - y)
    low, high = min(map(min, rows)), max(map(max, rows))
    if low < 0 < high:
        low, high = -max(-low, high), max(-low, high)
    expect(len(bar) == 256 and len(cells) == len(rows) * len(rows[0]), name, "has", len(cells), "cells")
    for (y, x), fill in cells.items():
        level = (rows[y][x] - low) / (high - low) * 255
        expect(min(abs(level - known) for known in levels[fill]) <= 0.5 + 1e-9,
               name, "cell", (y, x), "is", rows[y][x], "but drawn as", fill)


# ---- What must not come of a title, and problems --------------------------------------------------


def check_title(service):
    title = urllib.parse.quote(HOSTILE)
    answer, body = get(service, f"/v1/plots/scores.svg?kind=rope&title={title}")
    root = xml.fromstring(body)
    check_structure("hostile title", root)
    expect(root[0].text == HOSTILE + ": rope:dim=64", "the title became", root[0].text)
    shown = next(root.iter(SVG + "text")).text
    expect(shown.rstrip("\u2026") == HOSTILE[:len(shown.rstrip("\u2026"))], "the title is shown as", shown)
    policy = answer.getheader("Content-Security-Policy")
    expect(policy and "default-src 'none'" in policy and "script" not in policy, "the policy is", policy)
    expect(answer.getheader("X-Content-Type-Options") == "nosniff", "types are guessed")
    _, again = get(service, f"/v1/plots/scores.png?kind=rope&title={title}")
    pixels("hostile title", again)


def check_problems(service, font):
    accept = "image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8"
    for target in ("/v1/plots/scores.svg?kind=rpoe&dims=4&layuot=half", "/v1/plots/table.svg?kind=rope&width=1",
                   "/v1/plots/table.svg?kind=%3Cscript%3E&width=360&height=240&theme=dark"):
        answer, body = get(service, target, 400, Accept=accept)
        expect(answer.getheader("Content-Type") == "image/svg+xml", target, "has type", answer.getheader("Content-Type"))
        root = xml.fromstring(body)
        check_structure(target, root)
        check_captions(target, root, font)
        answer, body = get(service, target.replace(".svg", ".png"), 400, Accept=accept)
        check_structure(target, xml.fromstring(body))  # an SVG too, which an <img> takes by its type
        answer, body = get(service, target, 400)
        expect(json.loads(body)["status"] == 400, target, "is no problem document without Accept")


# ---- All ------------------------------------------------------------------------------------------


def check_picture(service, target, font):
    """The two digests."""
    _, svg = get(service, with_suffix(target, "svg"))
    root = xml.fromstring(svg)
    check_structure(target, root)
    check_captions(target, root, font)
    _, png = get(service, with_suffix(target, "png"))
    width, height, data = pixels(target, png)
    expect((str(width), str(height)) == (root.get("width"), root.get("height")), target, "has two sizes")
    expect(len(set(data[i:i + 3] for i in range(0, len(data), 3))) > 4, target, "is blank")
    told = re.sub(b"<desc>.*?</desc>", b"", svg, flags=re.DOTALL)  # words of readouts have tests of theirs
    return hashlib.sha256(told).hexdigest(), hashlib.sha256(data).hexdigest()


def main():
    program, write = sys.argv[1], sys.argv[2:] == ["--write"]
    font = Font(FONT)
    with open(LIST, encoding="utf-8") as file:
        lines = [line.split() for line in file]
    with daemon(program) as service:
        made = [[*check_picture(service, target, font), target] for *_, target in lines]
        check_scores(service)
        check_cells(service, "table", "kind=sinusoidal&dim=24&positions=0:20", "table")
        check_cells(service, "similarity", "kind=rope&dim=24&positions=0:20", "similarity")
        check_title(service)
        check_problems(service, font)
    if write:
        with open(LIST, "w", encoding="utf-8") as file:
            file.writelines(" ".join(line) + "\n" for line in made)
    for line, now in zip(lines, made):
        for kind, old, new in zip(("SVG", "pixels"), line, now):
            expect(write or old == new, line[-1], f"has another {kind}: look at it, then make plots")
    for failure in failures[:40]:
        print("pictures:", failure)
    print(f"pictures: {len(made)} looked at, {len(failures)} failures")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())

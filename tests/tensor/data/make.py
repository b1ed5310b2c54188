#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the .npy files of this folder: what numpy writes (numpy 1.24.2, Debian 12). Every file holds
the same six elements, given as bits below, in another dtype, order of bytes or order of axes."""
import os
import numpy
from numpy.lib.format import write_array

BITS = {
    # 1, -0, smallest subnormal, NaN with a payload, infinity, -infinity
    "f8": [0x3FF0000000000000, 0x8000000000000000, 1, 0x7FF8000000000123, 0x7FF0000000000000, 0xFFF0000000000000],
    "f4": [0x3F800000, 0x80000000, 1, 0x7FC00123, 0x7F800000, 0xFF800000],
    "f2": [0x3C00, 0x8000, 1, 0x7E23, 0x7C00, 0xFC00],
    # the same in bf16, whose bits numpy can only hold as u2
    "u2": [0x3F80, 0x8000, 1, 0x7FC3, 0x7F80, 0xFF80],
    "i8": [1, 0xFFFFFFFFFFFFFFFF, 0x20000000000001, 0x8000000000000000, 0x7FFFFFFFFFFFFFFF, 0],
}
FOLDER = os.path.dirname(os.path.abspath(__file__))


def write(name, array, version=(1, 0)):
    with open(os.path.join(FOLDER, name + ".npy"), "wb") as file:
        write_array(file, array, version)


def elements(dtype, order="<"):
    """The six elements, the bits swapped but never looked at as numbers."""
    bits = numpy.array(BITS[dtype], "<u" + dtype[1]).astype(order + "u" + dtype[1])
    return bits.view(order + dtype)


for dtype in BITS:
    for order, word in ("<", "little"), (">", "big"):
        grid = elements(dtype, order).reshape(2, 3)
        write(f"{dtype}-{word}-c", grid)
        write(f"{dtype}-{word}-fortran", numpy.asfortranarray(grid))
grid = elements("f4").reshape(2, 3)
write("version-2", grid, (2, 0))
write("version-3", grid, (3, 0))
write("rank-0", elements("f4")[0].reshape(()))
write("rank-1", elements("f4"))
write("rank-8", numpy.asfortranarray(elements("f4").reshape(1, 2, 1, 1, 3, 1, 1, 1)))
write("empty", elements("f4")[:0].reshape(0, 3))

"""Color maps computed from the color stops in assets/theme/tokens.json, by the definition of Oklab.

Ottosson 2020, "A perceptual color space for image processing". Nothing here shares code with the program.
"""
import json
import math
import pathlib

import numpy

LMS_FROM_RGB = numpy.array([[0.4122214708, 0.5363325363, 0.0514459929],
                            [0.2119034982, 0.6806995451, 0.1073969566],
                            [0.0883024619, 0.2817188376, 0.6299787005]])  # fmt: skip
LAB_FROM_LMS = numpy.array([[0.2104542553, 0.7936177850, -0.0040720468],
                            [1.9779984951, -2.4285922050, 0.4505937099],
                            [0.0259040371, 0.7827717662, -0.8086757660]])  # fmt: skip


def oklab(hexadecimal):
    srgb = numpy.array([int(hexadecimal[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = numpy.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    return LAB_FROM_LMS @ numpy.cbrt(LMS_FROM_RGB @ linear)


def srgb_bytes(lab):
    linear = numpy.linalg.inv(LMS_FROM_RGB) @ (numpy.linalg.inv(LAB_FROM_LMS) @ lab) ** 3
    linear = numpy.clip(linear, 0, 1)
    srgb = numpy.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    return numpy.floor(255 * numpy.clip(srgb, 0, 1) + 0.5).astype(int)


class Tokens:
    def __init__(self, path):
        self.tokens = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))

    def stops(self, name, head, dark):
        """Returns the color stops of a map of the report: "head", "neutral", "diverging", "viridis", ..."""
        theme = "dark" if dark else "light"
        if name == "head":
            return self.tokens["head"][theme][head]["ramp"]
        if name == "neutral":
            return self.tokens["ramp"]["neutral"][theme]
        if name == "diverging":
            return self.tokens["ramp"]["diverging"][theme]["stops"]
        return self.tokens["map"][name]

    def color(self, name, head, dark, value, low, high):
        """Returns red, green and blue of a value between the ends of the map: one of 256 steps."""
        t = numpy.float32(numpy.float32(value) - numpy.float32(low)) / numpy.float32(high - low)
        step = math.floor(float(numpy.clip(t, 0, 1)) * 255 + 0.5)
        stops = self.stops(name, head, dark)
        place = step / 255 * (len(stops) - 1)
        lower = min(int(place), len(stops) - 2)
        share = place - lower
        return srgb_bytes((1 - share) * oklab(stops[lower]) + share * oklab(stops[lower + 1]))

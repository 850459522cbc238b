"""Make the small math font of the pages from STIX Two Math.

    pip install fonttools brotli
    python docs/math_font.py STIXTwoMath-Regular.ttf

writes docs/_static/math.woff2, which holds CHARACTERS and the shapes that stretch with a formula. It has to be run
again only if CHARACTERS changes. The font is that of https://github.com/stipub/stixfonts (2.11, SIL Open Font Licence).
"""

import sys
from pathlib import Path

RANGES = """
    20-7E A0 A8 AC AF B0 B1 B4 B7 D7 F7 131 237 2C6 2C7 2D9 2DC 302-304 307 308 338 20D7 391-3A9 3B1-3C9 3D1 3D5 3F5
    2009 200A 2010-2016 2018-201D 2022 2026 2032-2034 203E 2044 2061-2064 2102 210B 210E 2112 2113 2115 211A 211D 2124
    2130 2131 2190-2194 21A6 21D0-21D4 2200 2202 2203 2205 2207-2209 220F 2211-2213 2216-2218 221A 221D 221E 2223 2225
    2227-222B 223C 2245 2248 2254 2260-2265 226A 226B 2282 2283 2286 2287 2295 2297 2299 22A4 22A5 22C5 22EE-22F1
    2308-230B 23B4 23B5 23DC-23DF 27E8 27E9 1D400-1D467 1D49C-1D4B5 1D538-1D550 1D5A0-1D5D3 1D6E2-1D71B
"""
CHARACTERS = {chr(c) for r in RANGES.split() for c in range(int(r.split("-")[0], 16), int(r.split("-")[-1], 16) + 1)}


def make(source, target):
    """Write the characters of the font file `source` that the pages need to `target`, as WOFF2."""
    from fontTools import subset

    options = subset.Options(flavor="woff2", hinting=False, layout_features=["ssty"])
    options.drop_tables += ["DSIG", "GPOS"]
    font = subset.load_font(source, options, dontLoadGlyphNames=False)

    primes = {font.getBestCmap()[ord(c)] for c in "′″‴"}  # of the extra shapes for indices, only these are needed
    for table in (t for lookup in font["GSUB"].table.LookupList.Lookup for t in lookup.SubTable):
        if hasattr(table, "alternates"):
            table.alternates = {name: shapes for name, shapes in table.alternates.items() if name in primes}

    root = font.getBestCmap()[ord("√")]  # Chromium keeps free the width of the widest root sign: make all as wide as √
    for name in [n for n in font.getGlyphOrder() if n.startswith(f"{root}.")]:
        shape, width = font["glyf"][name], font["hmtx"][name][0]
        shape.coordinates.scale((font["hmtx"][root][0] / width, 1))
        shape.coordinates.toInt()
        shape.recalcBounds(font["glyf"])
        font["hmtx"][name] = (font["hmtx"][root][0], shape.xMin)

    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=map(ord, CHARACTERS))
    subsetter.subset(font)
    subset.save_font(font, target, options)


if __name__ == "__main__":
    make(sys.argv[1], Path(__file__).parent / "_static" / "math.woff2")

"""The colours that a browser draws text with, as the reader sees them."""

import re

from drawing import contrast

INKS = """root => [...root.querySelectorAll("*")].filter(element => element.checkVisibility()
        && [...element.childNodes].some(child => child.nodeType === Node.TEXT_NODE && child.data.trim()))
    .map(element => {
        let ground = element;
        const bare = () => getComputedStyle(ground).backgroundColor === "rgba(0, 0, 0, 0)";
        while (bare() && ground.parentElement) ground = ground.parentElement;
        const {fill, color} = getComputedStyle(element);
        const ink = element.closest("svg") ? fill : color;
        return [ink, getComputedStyle(ground).backgroundColor, element.textContent.trim().slice(0, 40)];
    })"""


def rgb(colour):
    """Return a computed colour as three shares from 0 to 1, or None if it is transparent."""
    numbers = [float(x) for x in re.findall(r"[\d.]+(?:e-?\d+)?", colour)]
    if colour.startswith("rgba") and numbers[3] == 0:
        return None
    return tuple(numbers[:3]) if colour.startswith("color(") else tuple(x / 255 for x in numbers[:3])


def faint_texts(places):
    """Return what is hard to read in the elements of a locator: visible text with a contrast below 4.5."""
    pairs = {(ink, ground): text for root in places.all() for ink, ground, text in root.evaluate(INKS)}
    levels = [(contrast(rgb(ink), rgb(ground)), text) for (ink, ground), text in pairs.items()]
    return [f"contrast {level:.1f}: {text}" for level, text in levels if level < 4.5]

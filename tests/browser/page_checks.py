"""What is looked at in a rendered page. Each check takes a Visit and returns a list of faults, empty if all is well."""

from axe_playwright_python.sync_playwright import Axe
from colours import faint_texts

WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
AXE_OPTIONS = {"runOnly": {"type": "tag", "values": WCAG}, "resultTypes": ["violations"], "preload": False}

PICTURES = """async () => {
    const faults = [];
    for (const img of document.images) {
        img.loading = "eager";
        await img.decode().catch(() => 0);
        const described = /\\w \\w/.test(img.alt) && !/[.](png|svg)$/.test(img.alt);
        if (!described) faults.push(`${img.src} has the alt text “${img.alt}”`);
        if (!img.naturalWidth || !img.getBoundingClientRect().width) faults.push(`${img.src} is not seen`);
    }
    return faults;
}"""

TEX = """() => {
    const faults = [], text = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const tex = /\\$\\$|\\$[^$\\n]{1,60}\\$|\\\\([([]|[a-zA-Z]{3,})/;
    while (text.nextNode()) {
        const node = text.currentNode;
        if (tex.test(node.data) && !node.parentElement.closest("pre, code, script, style, math"))
            faults.push(`not typeset: ${node.data.trim().slice(0, 80)}`);
    }
    for (const math of document.querySelectorAll("math")) {
        const {width, height} = math.getBoundingClientRect();
        if (math.checkVisibility() && !(width && height)) faults.push(`empty: ${math.outerHTML.slice(0, 80)}`);
    }
    for (const font of document.fonts) if (font.status === "error") faults.push(`the font ${font.family} is missing`);
    return faults;
}"""

# A box that scrolls in itself may hold something wide, but not the box that holds the whole text; what stands in a
# closed drawer is not on the page.
SIDEWAYS = """() => {
    const width = document.documentElement.clientWidth, faults = [];
    const scrolls = element => /auto|scroll/.test(getComputedStyle(element).overflowX);
    const fits = element => element.getBoundingClientRect().right <= width + 1;
    const own = element => scrolls(element) && fits(element) && !element.querySelector("article, h1");
    const held = element => element && (own(element) || held(element.parentElement));
    if (document.documentElement.scrollWidth > width) faults.push(`the page scrolls sideways at ${width} px`);
    for (const element of document.querySelectorAll("body *")) {
        const right = element.getBoundingClientRect().right, seen = element.checkVisibility();
        if (right > width + 1 && seen && !element.closest("svg, .toc-drawer") && !held(element.parentElement))
            faults.push(`${element.tagName} ${element.className} reaches ${Math.round(right)} of ${width} px`);
    }
    return faults;
}"""

# Chromium and Firefox let the keyboard reach such a box anyway, Safari does not, and axe asks for it there alone. Where
# the keyboard reaches something in the box, the arrow keys scroll the box from there.
UNREACHABLE = """() => {
    const inside = "a[href], button, input, select, textarea, summary, [tabindex]";
    const reached = box => [box, ...box.querySelectorAll(inside)].some(one => one.tabIndex >= 0 && !one.disabled);
    const scrolls = box => box.scrollWidth > box.clientWidth && /auto|scroll/.test(getComputedStyle(box).overflowX);
    return [...document.querySelectorAll("body *")]
        .filter(box => scrolls(box) && box.checkVisibility() && !reached(box))
        .map(box => `${box.tagName} ${box.className} scrolls and cannot be reached: ${box.innerText.slice(0, 60)}`);
}"""

BACKGROUND = """() => {
    const [red, green, blue] = getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number);
    return (red + green + blue) / 3;
}"""


def other_hosts(visit):
    """Nothing is asked for outside the site."""
    return visit.elsewhere


def errors(visit):
    """The console holds no error: no script fails, no file is missing."""
    return visit.errors


def pictures(visit):
    """Every picture is seen and says in words what it shows."""
    return visit.page.evaluate(PICTURES)


def formulas(visit):
    """Every formula is typeset."""
    return visit.page.evaluate(TEX)


def closed_boxes(visit):
    """What hides a hint, a solution or code is closed at first."""
    return [f"open: {text[:80]}" for text in visit.page.locator("details[open]").all_inner_texts()]


def sideways(visit):
    """Nothing is wider than the window."""
    return visit.page.evaluate(SIDEWAYS)


def scrolling_boxes(visit):
    """What scrolls sideways in its own box can be scrolled with the keyboard."""
    return visit.page.evaluate(UNREACHABLE)


def asked_scheme(visit):
    """The page is dark where the reader asks for dark, and light where not."""
    dark = visit.page.evaluate("() => matchMedia('(prefers-color-scheme: dark)').matches")
    level = visit.page.evaluate(BACKGROUND)
    return (
        [] if (level < 64 and dark) or (level > 191 and not dark) else [f"the background has level {level:.0f} of 255"]
    )


def accessibility(visit):
    """The axe engine finds no violation of WCAG A or AA; contrast included, but for code and on a phone.

    For these the check `colours` is enough, and several times as fast.
    """
    phone = visit.page.viewport_size["width"] < 500
    options = AXE_OPTIONS | {"rules": {"color-contrast": {"enabled": not phone}}}
    found = Axe().run(visit.page, {"exclude": ["pre"]}, options).response["violations"]
    return [f"{v['id']} ×{len(v['nodes'])}: {v['nodes'][0]['html'][:120]}" for v in found]


def colours(visit):
    """Every text can be read, that of code and on a phone too."""
    return faint_texts(visit.page.locator("body"))


def failing(checks, visit):
    """Return what the checks find, each fault with the name of its check."""
    return [f"{check.__name__}: {fault}" for check in checks for fault in check(visit)]

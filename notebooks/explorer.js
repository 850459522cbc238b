// What moves the figures of utils/explorer.py.
(() => {
if (window.attentionExplorer) return; // asked for already
window.attentionExplorer = true;

const STYLE = `.attention-explorer {
  color-scheme: light;
  form, label { align-items: center; display: flex; flex-wrap: wrap; gap: 4px 6px }
  form { column-gap: 24px }
  figcaption::before { content: "At first: " }
  button, input, label { font: inherit; margin: 0; min-height: 24px; min-width: 24px }
  button { background: #fff; border: 1px solid; color: #000 }
  [aria-pressed=true] { background: #000; color: #fff }
  tr:has([aria-pressed=true]) { outline: 2px solid; outline-offset: -2px }
  :focus-visible { outline: 3px solid #b35806 }
  td, th { padding: 4px 6px }
  td { white-space: nowrap }
  path { fill: none; stroke: #2171b5 }
}`;
const CONTROLS = `
${["scores Ω", "scaled Ω/divisor", "weights"].map((stage, i) =>
  `<label><input type="radio" name="stage" value="${i}" checked>${stage}</label>`).join("")}
<label>divisor<input type="range" name="power" min="-20" max="40"></label>
<span role="group" aria-label="divisor">${["1", "√c", "c"].map((stop, i) => `<button type="button" value="${10 * i}">${stop}</button>`).join(" ")}</span>
<label><input type="checkbox" name="causal" checked>hide later words</label>`;
const BLUES = ["#f7fbff", "#c6dbef", "#6baed6", "#2171b5", "#08306b"];

const read = text => text.split(" ").map(Number);
const sum = numbers => numbers.reduce((total, x) => total + x, 0);
const vector = numbers => `(${numbers.map(x => shown(x)).join(", ")})`;

// Two decimals, as Python rounds: a tie, an odd number of eighths, goes to the even digit.
function shown(x, score = x) {
  if (score === -Infinity) return "masked";
  const text = (Math.abs(x * 8) % 2 === 1 ? Math.round(x * 50) / 50 : x).toFixed(2);
  return text === "-0.00" ? "0.00" : text.replace("-", "−");
}

function softmax(scores) {
  const powers = scores.map(x => Math.exp(x - Math.max(...scores)));
  return powers.map(x => x / sum(powers));
}

function mix(colours, share) {
  const at = Math.min(share, 0.999) * (colours.length - 1), i = Math.floor(at);
  return `color-mix(in srgb, ${colours[i + 1]} ${100 * (at - i)}%, ${colours[i]})`;
}

// The sentence, with arcs from word m: the thicker, the larger the weight below.
function arcs(words, m, scores, weights) {
  const wide = Math.max(76, ...words.map(word => 9 * word.length)), all = wide * words.length, floor = all / 5 + 9;
  return `<svg width="${all}" height="${floor + 40}" text-anchor="middle" fill="currentColor" aria-hidden="true">` +
    words.map((word, p) => {
      const x = wide * (p + 0.5), ends = [x, wide * (m + 0.5)], loop = p === m ? 9 : 0;
      const path = `M${Math.min(...ends) - loop} ${floor}A5 2 0 0 1 ${Math.max(...ends) + loop} ${floor}`;
      return `<path d="${scores[p] === -Infinity ? "" : path}" stroke-width="${0.5 + 9 * weights[p]}"/>
        <text x="${x}" y="${floor + 16}"${p === m ? ' font-weight="bold"' : ""}>${word}</text>
        <text x="${x}" y="${floor + 34}">${shown(weights[p], scores[p])}</text>`;
    }).join("") + "</svg>";
}

// The row of word m, down to its sum and row of C.
function ledger(words, m, scores, divisor, weights, V) {
  const row = (cell, head, ...texts) => `<tr style="background:#fff">
    <th scope="${cell === "td" ? "row" : "col"}">${head}` + texts.map(text => `<${cell}>${text}`).join("");
  const rows = words.map((word, p) => row("td", word, shown(scores[p]), shown(scores[p] / divisor),
    shown(weights[p], scores[p]), ...V.slice(p, p + 1).map(v =>
    scores[p] > -Infinity ? vector(v.map(x => x * weights[p])) : "masked")));
  const C = V.slice(0, 1).map(v => vector(v.map((_, i) => sum(weights.map((w, p) => w * V[p][i])))));
  return `<table style="background:#fff;color:#000;text-align:right"><caption>The row of ${words[m]}</caption>
    ${row("th", "word", "ω", "ω/" + shown(divisor), "weight", ...C.map(() => "weight · v"))}
    ${rows.join("")}${row("td", "in all", "", "", "sum " + shown(sum(weights)), ...C.map(c => "C: " + c))}</table>`;
}

function enhance(figure) {
  figure.live = true; // a copy of it is not
  const box = figure.querySelector("div"), rows = [...box.querySelectorAll("[data-omega]")];
  const names = rows.map(row => row.cells[0].textContent), Omega = rows.map(row => read(row.dataset.omega));
  const V = rows.filter(row => row.dataset.v).map(row => read(row.dataset.v));
  const largest = Math.max(0.01, ...Omega.flat().map(Math.abs));
  figure.querySelectorAll(".live").forEach(part => part.remove());
  box.insertAdjacentHTML("beforebegin", `<form class="live">${CONTROLS}</form><p class="live" role="status">`);
  box.insertAdjacentHTML("beforeend", '<div class="live">');
  const [form, status, picture] = figure.querySelectorAll(".live");
  if (!("causal" in figure.dataset)) form.lastElementChild.remove();

  const buttons = rows.map((row, m) => {
    row.cells[0].replaceChildren(document.createElement("button"));
    return Object.assign(row.cells[0].firstChild, { textContent: names[m], onfocus: () => redraw(m) });
  });
  const words = buttons.map(button => button.innerHTML); // safe inside HTML
  let chosen = Number(figure.dataset.row);

  function redraw(m = chosen) {
    chosen = m;
    const divisor = figure.dataset.c ** (form.power.value / 20), stage = form.stage.value;
    const paint = x => stage > 1 ? mix(BLUES, x) : mix(["#fff", x < 0 ? "#e08214" : "#8073ac"], Math.abs(x) / largest);
    rows.forEach((row, m) => {
      const scores = Omega[m].map((x, p) => form.causal?.checked && p > m ? -Infinity : x);
      const scaled = scores.map(x => x / divisor), weights = softmax(scaled);
      [scores, scaled, weights][stage].forEach((x, p) => {
        const cell = row.cells[p + 1], masked = scores[p] === -Infinity;
        cell.textContent = shown(x, scores[p]);
        cell.style.background = masked ? "" : paint(x);
        cell.style.color = masked ? "#595959" : stage > 1 && x > 0.715 ? "#fff" : "#000";
      });
      const most = scores.indexOf(Math.max(...scores));
      row.title = `${names[m]} looks most at ${names[most]}: ${shown(weights[most])}`;
      row.lastChild.textContent = stage < 2 ? "" : shown(sum(weights));
      buttons[m].ariaPressed = m === chosen;
      buttons[m].tabIndex = m === chosen ? 0 : -1;
      if (m === chosen) report(scores, divisor, weights);
    });
  }

  function report(scores, divisor, weights) {
    const n = scores.filter(x => x > -Infinity).length, bits = -sum(weights.map(w => w && w * Math.log2(w)));
    form.power.ariaValueText = shown(divisor);
    status.textContent = `${rows[chosen].title}, divisor ${shown(divisor)}. ` +
      `Entropy ${shown(bits)} of log₂ ${n} = ${shown(Math.log2(n))} bits.`;
    picture.innerHTML = arcs(words, chosen, scores, weights) + ledger(words, chosen, scores, divisor, weights, V);
  }

  form.onsubmit = () => false; // Enter sends it nowhere
  form.oninput = () => redraw();
  form.onclick = ({ target }) => {
    if (target.type === "button") form.power.value = target.value;
    redraw();
  };
  box.onclick = event => buttons[rows.indexOf(event.target.closest("[data-omega]"))]?.focus();
  figure.dataset.lmSuppressShortcuts = ""; // or JupyterLab takes "b" for a command
  figure.onkeydown = event => {
    event.stopPropagation();
    const next = buttons.includes(event.target) && buttons[chosen + { ArrowUp: -1, ArrowDown: 1 }[event.key]];
    if (!next) return;
    event.preventDefault();
    next.focus();
  };
  redraw();
}

const enhanceNew = () =>
  document.querySelectorAll(".attention-explorer[data-c]").forEach(figure => figure.live || enhance(figure));
document.head.insertAdjacentHTML("beforeend", `<style>${STYLE}</style>`);
new MutationObserver(enhanceNew).observe(document, { childList: true, subtree: true });
enhanceNew();
})();

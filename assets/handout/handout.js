"use strict";
const data = JSON.parse(document.getElementById("data").textContent), words = data.words;
const byId = id => document.getElementById(id);
const figure = byId("figure"), places = byId("maps"), card = byId("arithmetic"), said = byId("said");

function make(name, attributes = {}, ...inside) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...inside);
  return made;
}
// $n stands for values.n.
const fill = (text, values) => text.replace(/\$([a-z])/g, (_, name) => values[name]);

// ---- numbers ----

/// The float32 values of a tensor.
function floats(text) {
  const bytes = Uint8Array.from(atob(text), c => c.charCodeAt(0)), view = new DataView(bytes.buffer);
  return Float32Array.from({ length: bytes.length / 4 }, (_, i) => view.getFloat32(4 * i, true));
}
/// A number times 10^decimals as an integer; ties become even, as in the program.
function rounded(number, decimals) {
  const scaled = number * 10 ** decimals, below = Math.floor(scaled), rest = scaled - below;
  return rest > 0.5 || (rest === 0.5 && below % 2 !== 0) ? below + 1 : below;
}
function fixed(number, decimals = 2) {
  if (number === Infinity || number === -Infinity) return number < 0 ? "−∞" : "∞";
  const whole = rounded(number, decimals);
  return (whole < 0 ? "−" : "") + (Math.abs(whole) / 10 ** decimals).toFixed(decimals);
}

const maps = data.maps.map(map => {
  const tensors = {};
  return { ...map, of(name) {
    if (!tensors[name])
      tensors[name] = floats(map[name] ?? map[{ masked: map.scaled ? "scaled" : "scores", scaled: "scores" }[name]]);
    return tensors[name];
  } };
});
const cellOf = (map, h, i, j) => (h * map.queries.length + i) * map.keys.length + j;

/// The products of one score, each with its factors.
function products(map, h, i, j) {
  const kv = Math.floor(h * map.Hkv / map.H), q = map.of("q"), k = map.of("k");
  return Array.from({ length: map.dk }, (_, c) => {
    const a = q[(h * map.queries.length + i) * map.dk + c], b = k[(kv * map.keys.length + j) * map.dk + c];
    return { a, b, product: a * b };
  });
}
/// The fewest decimals, 2 to 4, with which the printed terms add up to the printed sum; 0 if there are none.
function decimalsOf(terms, sum) {
  for (const decimals of [2, 3, 4])
    if (terms.reduce((all, term) => all + rounded(term, decimals), 0) === rounded(sum, decimals)) return decimals;
  return 0;
}

// ---- questions of the steps: which numbers they hide ----

const asked = [...document.querySelectorAll(".asked")].map(home => ({
  home, key: data.questions[Number(home.dataset.asked)], step: Number(home.closest(".step").id.slice(5)) - 1,
  told: home.querySelector(".told"), tries: 0, done: false }));
const filled = [...document.querySelectorAll(".fill")].map(home => ({
  home, hides: data.hides[Number(home.dataset.table)], begun: false, done: false,
  step: home.closest(".step") ? Number(home.closest(".step").id.slice(5)) - 1 : -1 }));
const stages = ["x", "q k v", "split", "scores", "scaled", "masked"];

/// True if the map shows the numbers of a stage: the questions and tables of a step may ask for those after a stage.
function isSeen(stage) {
  const open = (last, step, done) => done || step !== shown.step || stages.indexOf(last) < 0 ||
    (stages.indexOf(stage) >= 0 && stages.indexOf(stage) <= stages.indexOf(last));
  return asked.every(({ key, step, done }) => open(key.stage, step, done)) &&
         filled.every(({ hides, step, done }) => open(hides.stage, step, done));
}
/// True if a row of weights is being computed by hand.
function isByHand(h, i) {
  return filled.some(({ hides, begun, done }) =>
    begun && !done && hides.map === shown.map && hides.head === h && hides.row === i);
}

// ---- what is shown ----

let shown = { map: 0, head: 0, row: -1, outlined: [], step: -1 };
let pointed = null, pinned = null; // [head, query, key]

const colorOf = (map, h) => map.H > 8 ? "hn" : "h" + h;
function headName(map, h) {
  return map.layer === undefined ? fill(words.head, { n: h }) : fill(words.layer, { l: map.layer, n: h });
}
const isOutlined = (h, i, j) => shown.outlined.some(([h0, hn, i0, iN, j0, jN]) =>
  h >= h0 && h < h0 + hn && i >= i0 && i < i0 + iN && j >= j0 && j < j0 + jN);

/// Cell sizes for the room that there is, in pixels.
function sizes(map, single) {
  const room = places.clientWidth - 8, gap = 40, narrow = room < 480;
  const longest = Math.max(...map.queries.map(word => word.length));
  const label = Math.min(Math.max(8 * longest + 16, 40), narrow ? 64 : 96);
  const T = map.keys.length, all = { label, gap };
  const least = T > 12 ? 15 : 22;
  all.weight = Math.min(82, Math.max(least, Math.floor((room - label) / T) - 1), single ? 82 : 44);
  all.query = 0;
  if (single) {
    const leftFor = weight => (room - label - gap - T * (weight + 1)) / map.dk - 1;
    for (let weight = 82; weight >= least && all.query === 0; weight -= 2)
      if (leftFor(weight) >= (weight > 44 ? 44 : map.dk <= 8 ? 22 : 5)) {
        all.weight = weight;
        all.query = Math.floor(Math.min(44, leftFor(weight)));
      }
  }
  all.key = map.dk <= 8 ? 33 : map.dk <= 32 ? 7 : 4;
  // Wide pages keep the figure in view next to the text.
  const upright = all.weight < 8 * Math.max(...map.keys.map(word => word.length));
  const above = (upright ? 372 : 316) + (all.query ? map.dk * (all.key + 1) : 0), high = innerWidth > 900 ? innerHeight - above : Infinity;
  all.height = Math.max(Math.min(Math.round(all.weight * 0.78), Math.floor(high / map.queries.length)), 16);
  return all;
}
const sized = (cell, width, height) => {
  cell.style.width = cell.style.minWidth = width + "px";
  cell.style.height = height + "px";
  return cell;
};

/// Without a width, long words would widen their columns, and Kᵀ would not be in line with the weights.
function setWidth(table, label, cell, columns) {
  table.style.width = label + columns * cell + columns + 2 + "px";
}

/// A factor, Q or Kᵀ: `at(r, c)` is the value at row r and column c.
function factor(className, caption, rows, columns, at, width, height, rowLabels, columnLabels, labelWidth) {
  let largest = 0;
  for (let r = 0; r < rows; ++r) for (let c = 0; c < columns; ++c) largest = Math.max(largest, Math.abs(at(r, c)));
  const digits = largest >= 100 ? 54 : largest >= 10 ? 46 : 38;
  const printed = width >= digits && height >= 22;
  const table = make("table", { class: className, "aria-label": caption }), seen = isSeen("q k v");
  const labels = columnLabels.length ? make("tr", {}, make("td", { style: `width:${labelWidth}px;background:none` }),
    ...columnLabels.map(text => sized(make("th", { scope: "col", class: "axis" }, text), width, 20))) : "";
  if (labels) table.append(make("thead", {}, labels));
  const body = make("tbody");
  for (let r = 0; r < rows; ++r) {
    const row = make("tr", {}, sized(make("th", { scope: "row", class: rowLabels.axis ? "axis" : "" }, rowLabels[r]), labelWidth, height));
    for (let c = 0; c < columns; ++c) {
      const value = at(r, c), part = largest === 0 ? 0 : Math.abs(value) / largest;
      const cell = sized(make("td", { class: printed ? "" : "small", "data-r": r, "data-c": c }, seen ? fixed(value) : "?"), width, height);
      if (!seen) { /* only its place is shown */ }
      else if (printed || (width >= 18 && height >= 22)) {
        const bar = make("i");
        bar.style.width = 44 * part + "%";
        bar.style[value < 0 ? "right" : "left"] = "50%";
        if (printed === false) bar.style.height = "5px";
        cell.append(bar);
      } else {
        cell.style.background = `color-mix(in srgb, var(--head) ${Math.round(100 * part)}%, var(--tint))`;
      }
      row.append(cell);
    }
    body.append(row);
  }
  table.append(body);
  setWidth(table, labelWidth, width, columns);
  return table;
}

function mapTable(map, h, size, single, hasQ) {
  const weights = map.of("weights"), masked = map.of("masked"), printed = size.weight >= 36 && size.height >= 20;
  const seen = isSeen("weights"), open = isSeen("masked");
  const table = make("table", { class: "w", role: "grid",
    "aria-label": fill(words.map, { h: headName(map, h) }) });
  const labelWidth = hasQ ? size.gap : size.label;
  const longest = Math.max(...map.keys.map(word => word.length)), upright = size.weight < 8 * longest;
  const head = make("tr", { role: "row" }, make("td", { style: `width:${labelWidth}px;background:none` }));
  map.keys.forEach((word, j) => head.append(sized(make("th", { scope: "col", role: "columnheader", "data-j": j, title: word,
    class: upright ? "upright" : "" }, make("span", {}, word)), size.weight, upright ? Math.min(8 * longest + 8, 84) : 22)));
  table.append(make("thead", {}, head));
  const body = make("tbody");
  map.queries.forEach((word, i) => {
    const row = make("tr", { role: "row" }, sized(make("th", { scope: "row", role: "rowheader", "data-i": i },
      hasQ ? make("span", { class: "unseen" }, word) : word), labelWidth, size.height));
    map.keys.forEach((_, j) => {
      const at = cellOf(map, h, i, j), value = weights[at];
      const told = seen && !isByHand(h, i);
      const level = told ? Math.min(20, Math.max(0, Math.round(20 * value))) : 0;
      const kind = open && masked[at] === -Infinity ? " masked" : "";
      const cell = sized(make("td", { role: "gridcell", tabindex: "-1", class: "w" + level + (printed ? "" : " small") + kind,
        "data-h": h, "data-i": i, "data-j": j }, told ? fixed(value) : "?"), size.weight, size.height);
      if (isOutlined(h, i, j)) cell.classList.add("told-of");
      row.append(cell);
    });
    body.append(row);
  });
  table.append(body);
  setWidth(table, labelWidth, size.weight, map.keys.length);
  return table;
}

function figureOf(map, h, single) {
  const size = sizes(map, single), hasQ = single && size.query > 0, kv = Math.floor(h * map.Hkv / map.H);
  const out = make("div", { class: "product " + colorOf(map, h), "data-head": h });
  out.style.setProperty("--label", (hasQ ? size.label : 0) + "px");
  out.style.setProperty("--gap", (hasQ ? size.gap : size.label) + 1 + "px");
  const role = map.roles[h], name = single ? "Kᵀ" : headName(map, h) + (role ? ": " + role : "");
  const root = "√" + map.dk + (map.temperature === 1 ? "" : " · " + map.temperature);
  const formula = `softmax(Q Kᵀ ÷ ${map.temperature === 1 ? root : "(" + root + ")"})`;
  const wide = map.keys.length * size.weight;
  const T = map.queries.length, q = map.of("q"), k = map.of("k");
  if (hasQ) {
    out.append(make("div", { class: "name" }, make("b", {}, "Kᵀ"), wide > 240 ? make("span", {}, formula) : ""));
    const dims = Array.from({ length: map.dk }, (_, c) => "d " + c);
    const kLabels = size.key >= 22 ? dims : dims.map(() => "");
    kLabels.axis = true;
    out.append(factor("k", "Kᵀ", map.dk, map.keys.length, (r, c) => k[(kv * map.keys.length + c) * map.dk + r],
                      size.weight, size.key, kLabels, [], size.gap));
    out.append(make("div", { class: "q-name" }, "Q"));
    out.append(factor("q", "Q", T, map.dk, (r, c) => q[(h * T + r) * map.dk + c], size.query, size.height,
                      map.queries, size.query >= 26 ? dims : dims.map(() => ""), size.label));
  } else {
    out.append(make("div", { class: "name" }, make("b", {}, single ? "" : name), single && wide > 240 ? make("span", {}, formula) : ""));
  }
  out.append(mapTable(map, h, size, single, hasQ));
  return out;
}

function draw() {
  const map = maps[shown.map], all = shown.head === "all";
  const heads = all ? Array.from({ length: map.H }, (_, h) => h) : [shown.head];
  pointed = pinned = null;
  card.hidden = true;
  places.replaceChildren(...heads.map(h => figureOf(map, h, !all)));
  places.append(card);
  mark(null);
  const first = places.querySelector(`.w td[data-i="${Math.max(shown.row, 0)}"]`);
  if (first) first.tabIndex = 0;
  byId("veiled").hidden = isSeen("weights");
  chips();
}

// ---- the arithmetic of a cell ----

function explain(h, i, j) {
  const map = maps[shown.map], at = cellOf(map, h, i, j), most = 8;
  let terms = products(map, h, i, j);
  const score = map.of("scores")[at], scaled = map.of("scaled")[at], masked = map.of("masked")[at], weight = map.of("weights")[at];
  let others = null;
  if (terms.length > most) {
    const sorted = [...terms].sort((x, y) => Math.abs(y.product) - Math.abs(x.product));
    const kept = Math.min(most - 1, Math.max(1, sorted.filter(term => term.product !== 0).length));
    terms = sorted.slice(0, kept);
    others = sorted.slice(kept);
  }
  const rest = others === null ? 0 : others.reduce((sum, term) => sum + term.product, 0);
  const summands = terms.map(term => term.product).concat(others === null ? [] : [rest]);
  const decimals = decimalsOf(summands, score), d = decimals || 4;
  const largest = Math.max(...summands.map(Math.abs)), negative = summands.some(term => term < 0);
  const table = make("table");
  const line = (name, value, className = "", part = null) => {
    const middle = make("td");
    if (part !== null) {
      const bar = make("i"), room = negative ? 30 : 62;
      bar.style.width = part === 0 ? 0 : Math.max(1, room * Math.abs(part) / largest) + "px";
      bar.style[part < 0 ? "right" : "left"] = negative ? "34px" : "4px";
      middle.append(bar);
    }
    table.append(make("tr", { class: className }, make("th", { scope: "row" }, name), middle, make("td", {}, value)));
  };
  const seen = isSeen("weights") && !isByHand(h, i), looks = fill(words.looks, { q: map.queries[i], k: map.keys[j] });
  const finish = said => {
    card.className = colorOf(map, h);
    if (!seen) table.append(make("caption", {}, words.after_answer));
    card.replaceChildren(make("h3", {}, make("span", {}, looks), make("span", { class: "num" }, seen ? fixed(weight) : "?")), table);
    return said.join(" ");
  };
  const text = [seen ? looks + ": " + fixed(weight) + "." : fill(words.unseen, { q: map.queries[i], k: map.keys[j] }) + "."];
  if (!isSeen("scores")) return finish(text);
  for (const { a, b, product } of terms) line(`${fixed(a)} × ${fixed(b)}`, fixed(product, d), "", product);
  if (others !== null) line(fill(words.other, { n: others.length }), fixed(rest, d), "", rest);
  line(words.score, (decimals ? "" : "≈ ") + fixed(score, d), "sum");
  text.push(words.score + " " + fixed(score, d) + ".");
  if (!isSeen("scaled")) return finish(text);
  const divisor = map.temperature === 1 ? `√${map.dk}` : `(√${map.dk} · ${map.temperature})`;
  line("÷ " + divisor + (map.capped ? ", " + words.capped : ""), fixed(scaled));
  text.push("÷ " + divisor + " = " + fixed(scaled) + ".");
  if (!isSeen("masked")) return finish(text);
  if (masked === -Infinity) {
    table.append(make("tr", { class: "sum" }, make("th", { scope: "row", colspan: 3, style: "white-space:normal" }, words.masked)));
    text.push(words.masked + ".");
  } else {
    if (masked !== scaled) line(words.bias, fixed(masked));
    if (!seen) return finish(text);
    // Softmax, spelled out from the numbers of the row; the weight itself is the engine's.
    const row = Array.from(map.keys, (_, key) => map.of("masked")[cellOf(map, h, i, key)]), top = Math.max(...row);
    const sum = row.reduce((all, x) => all + Math.exp(x - top), 0), power = Math.exp(masked - top);
    line(`exp(${fixed(masked)} − ${top < 0 ? "(" + fixed(top) + ")" : fixed(top)})`, fixed(power, 3), "sum");
    line(words.row, fixed(sum, 3));
    line(`${fixed(power, 3)} ÷ ${fixed(sum, 3)}`, fixed(weight, 3));
    text.push(`exp: ${fixed(power, 3)} ÷ ${fixed(sum, 3)} = ${fixed(weight, 3)}.`);
  }
  return finish(text);
}

/// One outline around cells of a product, the first and the last of which are given.
function ring(product, cells) {
  if (cells.length === 0) return;
  const home = product.getBoundingClientRect(), first = cells[0].getBoundingClientRect(), last = cells[cells.length - 1].getBoundingClientRect();
  const out = make("div", { class: "ring" });
  out.style.left = first.left - home.left + product.scrollLeft - 1 + "px";
  out.style.top = first.top - home.top - 1 + "px";
  out.style.width = last.right - first.left + 2 + "px";
  out.style.height = last.bottom - first.top + 2 + "px";
  product.append(out);
}

function mark(cell) {
  for (const one of places.querySelectorAll(".here, .on")) one.classList.remove("here", "on");
  places.querySelectorAll(".ring").forEach(one => one.remove());
  if (!cell) {
    // The row that the step speaks of.
    if (shown.outlined.length === 0)
      for (const product of places.querySelectorAll(".product"))
        ring(product, product.querySelectorAll(`.w td[data-i="${shown.row}"]`));
    return;
  }
  const { i, j } = cell.dataset, product = cell.closest(".product");
  cell.classList.add("here");
  ring(product, product.querySelectorAll(`.w td[data-i="${i}"]`));
  ring(product, product.querySelectorAll(`.q td[data-r="${i}"]`));
  ring(product, product.querySelectorAll(`.k td[data-c="${j}"]`));
  product.querySelectorAll(`.w thead th[data-j="${j}"], .w tbody th[data-i="${i}"]`).forEach(one => one.classList.add("on"));
  product.querySelectorAll(".q tbody th")[i]?.classList.add("on");
}

/// Puts the card below the cell, above it if there is no room, or next to it.
function place(cell) {
  const box = cell.getBoundingClientRect(), home = places.getBoundingClientRect();
  const width = card.offsetWidth, height = card.offsetHeight;
  if (getComputedStyle(card).position === "fixed") {
    const covered = box.bottom + 12 - (innerHeight - height);
    if (covered > 0) scrollBy(0, covered);
    return;
  }
  let left = box.left + box.width * 0.7, top = box.bottom + 8;
  if (top + height > innerHeight) top = box.top - height - 8;
  if (top < 0) {
    top = Math.max(0, Math.min(innerHeight - height - 8, box.top));
    left = box.right + 12;
    if (left + width > innerWidth) left = box.left - width - 12;
  } else {
    left = Math.min(left, innerWidth - width - 8);
  }
  card.style.left = left - home.left + "px";
  card.style.top = top - home.top + "px";
}

function point(cell, aloud) {
  if (!cell) {
    mark(null);
    card.hidden = true;
    pointed = null;
    return;
  }
  pointed = cell;
  const text = explain(Number(cell.dataset.h), Number(cell.dataset.i), Number(cell.dataset.j));
  card.hidden = false;
  mark(cell);
  place(cell);
  if (aloud) said.textContent = text;
}

places.addEventListener("pointerover", event => {
  const cell = event.target.closest(".w td[data-i]");
  if (cell && cell !== pointed) point(cell, false);
});
places.addEventListener("pointerleave", () => point(pinned, false));
places.addEventListener("focusin", event => {
  const cell = event.target.closest(".w td[data-i]");
  if (!cell) return;
  for (const other of places.querySelectorAll('.w td[tabindex="0"]')) other.tabIndex = -1;
  cell.tabIndex = 0;
  pinned = cell;
  point(cell, true);
});
places.addEventListener("focusout", event => {
  if (places.contains(event.relatedTarget)) return;
  pinned = null;
  point(null, false);
});
places.addEventListener("keydown", event => {
  const cell = event.target.closest(".w td[data-i]");
  if (!cell || event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.key === "Escape") {
    card.hidden = true;
    pointed = null;
    return;
  }
  const map = maps[shown.map], lastI = map.queries.length - 1, lastJ = map.keys.length - 1;
  const h = Number(cell.dataset.h), i = Number(cell.dataset.i), j = Number(cell.dataset.j);
  const to = { ArrowRight: [i, j + 1], ArrowLeft: [i, j - 1], ArrowDown: [i + 1, j], ArrowUp: [i - 1, j],
    Home: [i, 0], End: [i, lastJ] }[event.key];
  if (!to) return;
  event.preventDefault();
  const [a, b] = [Math.max(0, Math.min(lastI, to[0])), Math.max(0, Math.min(lastJ, to[1]))];
  const next = places.querySelector(`.w td[data-h="${h}"][data-i="${a}"][data-j="${b}"]`);
  next.focus();
});

// ---- steps, sentences, heads ----

function chip(text, pressed, act, more = {}) {
  const button = make("button", { type: "button", class: "chip", "aria-pressed": pressed, ...more }, text);
  button.addEventListener("click", () => {
    const group = button.parentElement.id, index = [...button.parentElement.children].indexOf(button);
    act();
    byId(group).children[index]?.focus();
  });
  return button;
}
function chips() {
  const map = maps[shown.map];
  const steps = data.steps.map((scene, s) => chip(String(s + 1), shown.step === s, () => showScene(scene, s),
    { "aria-label": fill(words.step, { n: s + 1 }) }));
  byId("step-chips").replaceChildren(...steps);
  const known = data.sentences.map(scene => data.scenes[scene].map);
  const sentences = data.sentences.map((scene, s) =>
    chip(maps[known[s]].sentence, known[s] === shown.map, () => showScene(scene, -1, shown.head)));
  // A step may have a problem of its own, which is not in the list.
  if (!known.includes(shown.map)) sentences.push(chip(fill(words.of_step, { s: map.sentence }), true, () => {}));
  byId("sentence-chips").replaceChildren(...sentences);
  const heads = Array.from({ length: map.H }, (_, h) => {
    const short = map.H > 2, role = map.roles[h];
    const button = chip("", shown.head === h, () => { shown.head = h; draw(); },
      { "data-head": h, "aria-label": headName(map, h) + (role ? ": " + role : "") });
    button.classList.add(colorOf(map, h));
    if (map.H <= 8) button.append(make("i"));
    button.append(String(h) + (role && (!short || shown.head === h) ? " " + role : ""));
    return button;
  });
  if (map.H > 1)
    heads.push(chip(map.H === 2 ? words.both : words.all, shown.head === "all", () => { shown.head = "all"; draw(); }));
  if (map.layer !== undefined) heads.push(make("span", { class: "hint" }, fill(words.of_layer, { l: map.layer })));
  byId("head-chips").replaceChildren(...heads);
}

function showScene(index, step, keep) {
  const scene = data.scenes[index], map = maps[scene.map];
  const head = keep !== undefined && (keep === "all" || keep < map.H) ? keep : Math.min(scene.head, map.H - 1);
  shown = { map: scene.map, head, row: scene.row, outlined: scene.outlined, step };
  draw();
}

document.addEventListener("click", event => {
  const button = event.target.closest("button[data-scene]");
  if (!button) return;
  showScene(Number(button.dataset.scene), button.dataset.step === undefined ? -1 : Number(button.dataset.step));
  figure.scrollIntoView({ block: "nearest", behavior: "instant" });
  (places.querySelector(".told-of") ?? places.querySelector('.w td[tabindex="0"]')).focus({ preventScroll: true });
});

// ---- questions ----

const questions = [...document.querySelectorAll(".question")];
let question = 0;
const tries = questions.map(() => 0);
function showQuestion(index, focus) {
  question = index;
  questions.forEach((one, q) => one.hidden = q !== index);
  if (focus) questions[index].querySelector("h3").focus();
}
questions.forEach((one, q) => {
  const told = one.querySelector(".told");
  for (const button of one.querySelectorAll(".choice"))
    button.addEventListener("click", () => {
      const item = button.parentElement, right = button.hasAttribute("data-right");
      if (!item.classList.contains("wrong") && !item.classList.contains("right")) ++tries[q];
      item.classList.add(right ? "right" : "wrong");
      item.querySelector(".why").hidden = false;
      const count = tries[q] === 1 ? words.one_try : fill(words.tries, { n: tries[q] });
      // The reason is next to the choice; a screen reader says it too.
      told.replaceChildren(`${right ? words.right : words.wrong} ${count}.`,
                           make("span", { class: "unseen" }, " " + item.querySelector(".why").textContent));
    });
  one.querySelector(".next")?.addEventListener("click", () => showQuestion(q + 1, true));
  one.querySelector(".again")?.addEventListener("click", () => {
    for (const item of document.querySelectorAll(".choices li")) {
      item.classList.remove("right", "wrong");
      item.querySelector(".why").hidden = true;
    }
    document.querySelectorAll(".question .told").forEach(line => line.textContent = "");
    tries.fill(0);
    showQuestion(0, true);
  });
});

// ---- questions of the steps: answers ----

const finite = text => /^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? [Number(text)] : [];
/// The values that a typed number can mean, as in the program: "1,024" is 1024 or 1.024.
function numbersMeant(typed) {
  let text = typed.replaceAll("−", "-").replaceAll(" ", "");
  const percent = text.endsWith("%"), slash = text.indexOf("/");
  if (percent) text = text.slice(0, -1);
  if (slash < 0)
    return [text.replaceAll(",", "."), text.replaceAll(",", "")].flatMap(finite).map(number => percent ? number / 100 : number);
  const [above] = finite(text.slice(0, slash)), [below] = finite(text.slice(slash + 1));
  return above === undefined || !below ? [] : [above / below / (percent ? 100 : 1)];
}
/// The sizes of a typed shape; empty if it is malformed.
function sizesIn(typed) {
  const parts = typed.replace(/[×xX*]/g, ",").replace(/[()[\]]/g, "").split(",").map(part => part.trim());
  return parts.every(part => /^-?\d+$/.test(part)) ? parts.map(Number) : [];
}
/// True if both have the same elements, each as often.
const samePermuted = (a, b) => a.length === b.length && String([...a].sort()) === String([...b].sort());

const judges = {
  number(key, typed) {
    const meant = numbersMeant(typed), near = value => meant.some(number => Math.abs(number - value) <= key.within * (1 + 1e-6));
    if (meant.length === 0) return { hint: key.hints.unreadable };
    if (near(key.value)) return { right: true };
    return { wrong: true, hint: meant[0] > key.value ? key.hints.large : key.hints.small,
             why: key.mistakes.findLast(mistake => near(mistake.value))?.why };
  },
  shape(key, typed) {
    const sizes = sizesIn(typed);
    if (sizes.length === 0) return { hint: key.hints.unreadable };
    if (String(sizes) === String(key.sizes)) return { right: true };
    const name = sizes.length !== key.sizes.length ? "axes" : samePermuted(sizes, key.sizes) ? "order" : "sizes";
    return { wrong: true, hint: key.hints[name], why: key.whys[sizes.join(" × ")] };
  },
  many(key, chosen) {
    const extra = chosen.filter(word => !key.words.includes(word)).length;
    if (chosen.length === 0) return { hint: key.hints.unreadable };
    if (extra === 0 && chosen.length === key.words.length) return { right: true };
    return { wrong: true, hint: extra === 0 ? key.hints.missing : key.hints["extra " + extra], why: key.whys[chosen.join(", ")] };
  },
  one(key, answer) {
    if (key.right.includes(answer)) return { right: true, why: key.whys[answer] };
    return answer in key.verdicts ? { wrong: true, hint: key.hints[key.verdicts[answer]], why: key.whys[answer] }
                                  : { hint: key.hints.unreadable };
  },
  order: (key, answer) => judges.one(key, answer)
};

/// An element with HTML that the program wrote.
function written(name, attributes, html) {
  const made = make(name, attributes);
  made.innerHTML = html;
  return made;
}

/// Shows the asides that wait for a question or a table.
function finished(id) {
  if (id !== "")
    for (const aside of document.querySelectorAll("[data-when-done]"))
      if (aside.dataset.whenDone === id) aside.hidden = false;
}

/// Shows the right answer and the text after it. given: it was not the learner's.
function settle(question, answer, given) {
  const { home, key, told, step } = question, choices = home.querySelector(".choice[data-answer]") !== null;
  question.done = true;
  home.classList.add("done");
  home.classList.toggle("earned", !given);
  home.querySelector(".kind").textContent = given ? words.given : words.answered;
  home.querySelector(".give").parentElement.hidden = true;
  if (choices) for (const button of home.querySelectorAll(".choice")) button.disabled = true;
  else home.querySelector(".fields").hidden = true;
  const parts = choices && !given ? [] : [make("p", { class: "verdict" }, fill(given ? words.the_answer : words.your_answer, { a: answer }))];
  if (key.after !== "") parts.push(written("p", {}, key.after));
  if (key.scene !== undefined)
    parts.push(make("p", {}, make("button", { type: "button", class: "quiet", "data-scene": key.scene }, words.show_in_map)));
  told.replaceChildren(...parts);
  told.tabIndex = -1;
  told.focus({ preventScroll: true });
  finished(key.id);
  if (key.scene !== undefined) showScene(key.scene, step);
  else if (shown.step === step) draw();
}

/// Judges an answer. `button`: with which it was given, if it was one of several.
function answer(question, given, button) {
  const { key, told } = question, verdict = judges[key.kind](key, given), item = button?.closest(".choices li");
  if (verdict.wrong) ++question.tries;
  if (button && !verdict.right) button.classList.add("wrong");
  if (item) {
    item.classList.add(verdict.right ? "right" : "wrong");
    const why = item.querySelector(".why");
    why.innerHTML = verdict.why ?? "";
    why.hidden = !verdict.why;
  }
  if (verdict.right)
    return settle(question, key.kind === "number" ? given.trim().replaceAll("-", "−") : key.right?.length > 1 ? button?.textContent ?? key.answer : key.answer, false);
  const lines = [];
  const hint = verdict.hint || (verdict.wrong ? words.wrong : "");
  if (hint) lines.push(make("p", { class: verdict.wrong ? "verdict wrong" : "verdict" }, hint));
  // The reason of a choice is next to it; a screen reader says it here.
  if (verdict.why) lines.push(written("p", item ? { class: "unseen" } : {}, verdict.why));
  told.replaceChildren(...lines);
}

for (const question of asked) {
  const { home, key } = question, form = home.querySelector("form"), input = home.querySelector("input");
  const buttons = [...home.querySelectorAll("[data-answer], [data-item]")];
  let order = [];
  const drawOrder = () => {
    for (const button of buttons) {
      const place = order.indexOf(button.dataset.item);
      button.setAttribute("aria-pressed", String(place >= 0));
      button.querySelector(".mark").textContent = place < 0 ? "" : place + 1;
    }
  };
  // The map belongs to the question from the first key or click on.
  home.addEventListener("focusin", () => {
    if (!question.done && shown.step !== question.step) showScene(data.steps[question.step], question.step);
  });
  for (const button of buttons)
    button.addEventListener("click", () => {
      if (key.kind === "order") {
        const item = button.dataset.item;
        order = order.includes(item) ? order.filter(one => one !== item) : [...order, item];
        drawOrder();
      } else if (key.kind === "many") {
        button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true"));
      } else {
        answer(question, button.dataset.answer, button);
      }
    });
  form?.addEventListener("submit", event => {
    event.preventDefault();
    if (input) input.setAttribute("aria-invalid", "false");
    const pressed = () => buttons.filter(button => button.getAttribute("aria-pressed") === "true").map(button => Number(button.dataset.answer));
    answer(question, input ? input.value : key.kind === "order" ? order.join(", ") : pressed());
    if (input && !question.done) input.setAttribute("aria-invalid", "true");
  });
  home.querySelector(".give").addEventListener("click", () => {
    for (const button of buttons)
      if (key.right?.includes(button.dataset.answer)) button.closest(".choices li")?.classList.add("right");
    order = [];
    settle(question, key.answer, true);
  });
}

// ---- tables ----

/// True if the text is the number at the table's decimals.
function isRight(typed, { value, decimals }) {
  const text = typed.trim().replace("−", "-").replace(",", ".");
  return text !== "" && Math.abs(Number(text) - value) <= 0.5 * 10 ** -decimals * (1 + 1e-6);
}
for (const table of filled) {
  const form = table.home;
  const cells = data.tables[Number(form.dataset.table)], inputs = [...form.querySelectorAll("input")];
  const told = form.querySelector(".told");
  form.addEventListener("submit", event => {
    event.preventDefault();
    let right = 0;
    for (const input of inputs) {
      const correct = isRight(input.value, cells[Number(input.dataset.cell)]);
      right += correct;
      input.classList.toggle("right", correct);
      input.classList.toggle("wrong", !correct && input.value !== "");
      input.setAttribute("aria-invalid", String(!correct && input.value !== ""));
    }
    told.textContent = right === inputs.length ? fill(words.all_right, { n: right })
                                               : fill(words.some_right, { r: right, n: inputs.length });
    if (right === inputs.length) complete();
  });
  const redraw = () => { if (!places.contains(document.activeElement)) draw(); };
  const complete = () => {
    table.done = true;
    form.querySelector(".give").hidden = true;
    finished(form.dataset.id);
    redraw();
  };
  form.querySelector(".give").addEventListener("click", () => {
    for (const input of inputs) {
      const { value, decimals } = cells[Number(input.dataset.cell)];
      input.value = fixed(value, decimals);
      input.classList.remove("wrong");
      input.removeAttribute("aria-invalid");
    }
    told.textContent = words.given;
    complete();
  });
  // The map belongs to a row that is computed by hand from the first key or click on, and hides its weights.
  form.addEventListener("focusin", () => {
    if (table.hides.row === undefined || table.begun) return;
    table.begun = true;
    if (shown.map !== table.hides.map || shown.head !== table.hides.head)
      shown = { map: table.hides.map, head: table.hides.head, row: table.hides.row, outlined: [], step: -1 };
    redraw();
  });
  for (const input of inputs)
    input.addEventListener("input", () => {
      input.classList.remove("right", "wrong");
      input.removeAttribute("aria-invalid");
    });
}

byId("controls").hidden = byId("keys-hint").hidden = false;
// Where the map is next to the text, it follows the step that is read.
const following = new IntersectionObserver(entries => {
  const read = entries.find(entry => entry.isIntersecting);
  if (!read || innerWidth <= 900) return;
  const step = Number(read.target.id.slice(5)) - 1;
  if (step !== shown.step) showScene(data.steps[step], step);
}, { rootMargin: "-25% 0px -70% 0px" });
for (const step of document.querySelectorAll(".step")) following.observe(step);

if (questions.length) showQuestion(0, false);
showScene(data.steps[0] ?? data.sentences[0], 0);
let width = places.clientWidth;
addEventListener("resize", () => {
  if (places.clientWidth === width) return;
  width = places.clientWidth;
  draw();
});

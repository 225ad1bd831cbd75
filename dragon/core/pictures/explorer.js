// A graph in layers from top to bottom. Calls of a module that is folded are one box; layout happens here, since every
// click changes what is to be laid out.
const { boxes, edges, open: atFirst } = JSON.parse(document.getElementById("data").textContent);
const stage = document.getElementById("stage"), tell = document.querySelector(".tell");
const around = document.getElementById("around"), found = document.getElementById("found");
const NS = "http://www.w3.org/2000/svg", LETTER = 6.7, LINE = 15, PAD = 8, ACROSS = 18, DOWN = 34, SWEEPS = 6;
const HUES = { input: 210, output: 210, view: 60, pointwise: 115, random: 32, other: 265, module: 185 };
const trail = (path) => path.split(".").filter(Boolean).map((_, i, parts) => parts.slice(0, i + 1).join("."));
const trails = boxes.map(([, , , path]) => trail(path));
const open = new Set(atFirst);
let items = new Map(), layers = [], view = null, whole = [0, 0, 1, 1], words = "";

const make = (tag, attributes, parent) => {
  const element = document.createElementNS(NS, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (parent) parent.appendChild(element);
  return element;
};

function gather() {
  // Which boxes are seen, in the order of the program, and what joins them.
  items = new Map();
  const owners = boxes.map(([kind, lines, hint], place) => {
    const group = trails[place].find((path) => !open.has(path));
    const key = group === undefined ? place : group;
    if (!items.has(key)) {
      const name = group === undefined ? lines : [(group.match(/[^.]*\.\d+$/) || [group.split(".").pop()])[0], ""];
      items.set(key, { key, group, kind: group === undefined ? kind : "module", lines: name, hint, calls: 0, order: Infinity,
        path: group === undefined ? trails[place] : trail(group).slice(0, -1), above: [], below: [], layer: 0 });
    }
    const item = items.get(key);
    if (kind !== "input" && kind !== "output") {
      item.calls += 1;
      item.order = Math.min(item.order, place);
      item.only = lines;
    }
    return key;
  });
  for (const item of items.values()) {
    if (item.group === undefined) continue;
    item.lines = item.calls === 1 ? [item.lines[0], ...item.only] : [item.lines[0], `${item.calls} calls`];
    item.hint = `module ${item.group}: ${item.calls === 1 ? item.hint : `${item.calls} calls`}`;
  }
  const seen = new Set(), joins = [];
  for (const [a, b] of edges) {
    const [source, target] = [owners[a], owners[b]], key = `${source}\n${target}`;
    if (source !== target && !seen.has(key)) { seen.add(key); joins.push([items.get(source), items.get(target)]); }
  }
  return joins;
}

function assign(joins) {
  // Layers by the longest way; a line that goes back in the program (a module that is called twice) decides nothing.
  const order = [...items.values()].filter((item) => item.kind !== "input").sort((a, b) => a.order === b.order ? 0 : a.order - b.order);
  const inputs = [...items.values()].filter((item) => item.kind === "input");
  const rank = new Map([...inputs, ...order].map((item, place) => [item, place]));
  const into = new Map();
  for (const join of joins) {
    join.back = rank.get(join[0]) > rank.get(join[1]);
    if (!join.back) (into.get(join[1]) || into.set(join[1], []).get(join[1])).push(join[0]);
  }
  for (const item of [...inputs, ...order]) for (const source of into.get(item) || []) {
    item.layer = Math.max(item.layer, source.layer + 1);
  }
  for (const item of inputs) {
    const readers = joins.filter(([source]) => source === item).map(([, target]) => target.layer);
    if (readers.length) item.layer = Math.max(0, Math.min(...readers) - 1);
  }
  layers = [];
  for (const item of rank.keys()) (layers[item.layer] = layers[item.layer] || []).push(item);
  layers = Array.from(layers, (layer) => layer || []);
  layers.forEach((layer, place) => layer.forEach((item) => { item.layer = place; }));
}

function bend(joins) {
  for (const join of joins) {
    if (join.back) continue;
    let [source, target] = join;
    join.way = [source];
    for (let layer = source.layer + 1; layer < target.layer; layer += 1) {
      const item = { kind: "bend", layer, above: [source], below: [], width: 4, height: 0 };
      layers[layer].push(item);
      source.below.push(item);
      join.way.push(item);
      source = item;
    }
    source.below.push(target);
    target.above.push(source);
    join.way.push(target);
  }
}

const mean = (list, otherwise) => (list.length ? list.reduce((sum, item) => sum + item.x, 0) / list.length : otherwise);

function place() {
  for (const item of items.values()) {
    item.width = 2 * PAD + LETTER * Math.max(...item.lines.map((line) => line.length));
    item.height = 2 * PAD + LINE * item.lines.length - 4;
  }
  layers.forEach((layer) => layer.forEach((item, i) => { item.x = i; }));
  const walk = (sweep, change) => (sweep % 2 ? [...layers].reverse() : layers).forEach((layer) => change(layer, sweep % 2 === 0));
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) walk(sweep, (layer, down) => {
    const wish = new Map(layer.map((item, i) => [item, mean(down ? item.above : item.below, i)]));
    layer.sort((a, b) => wish.get(a) - wish.get(b)).forEach((item, i) => { item.x = i; });
  });
  for (const layer of layers) {
    let edge = 0;
    for (const item of layer) { item.x = edge + item.width / 2; edge += item.width + ACROSS; }
  }
  for (let sweep = 0; sweep < 2 * SWEEPS; sweep += 1) walk(sweep, (layer, down) => {
    const wish = layer.map((item) => mean(down ? item.above : item.below, item.x));
    const left = [], right = [];
    layer.reduce((edge, item, i) => (left[i] = Math.max(wish[i], edge + item.width / 2)) + item.width / 2 + ACROSS, -Infinity);
    layer.reduceRight((edge, item, i) => (right[i] = Math.min(wish[i], edge - item.width / 2)) - item.width / 2 - ACROSS, Infinity);
    layer.forEach((item, i) => { item.x = (left[i] + right[i]) / 2; });
  });
  let bottom = 16;
  for (const layer of layers) {
    const tallest = Math.max(0, ...layer.map((item) => item.height));
    for (const item of layer) { item.y = bottom; if (item.kind === "bend") item.height = tallest; }
    bottom += tallest + DOWN;
  }
  let [left, right] = [Infinity, -Infinity];
  for (const layer of layers) for (const item of layer) {
    left = Math.min(left, item.x - item.width / 2);
    right = Math.max(right, item.x + item.width / 2);
  }
  if (left > right) [left, right] = [0, 100];
  whole = [left - 16, 0, right - left + 32, Math.max(bottom, 60)];
}

function line(join) {
  if (join.back) {
    const [a, b] = join, side = Math.max(a.x + a.width / 2, b.x + b.width / 2) + 40;
    return `M${a.x} ${a.y + a.height}C${side} ${a.y + a.height + 40} ${side} ${b.y - 40} ${b.x} ${b.y}`;
  }
  return join.way.slice(1).map((to, i) => {
    const from = join.way[i], start = from.y + from.height, middle = (start + to.y) / 2;
    return `${i ? `V${start}` : `M${from.x} ${start}`}C${from.x} ${middle} ${to.x} ${middle} ${to.x} ${to.y}`;
  }).join("");
}

function about(item) {
  tell.textContent = item.hint || item.lines.join("\n");
  around.replaceChildren(...item.path.filter((path) => open.has(path)).map((path) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = `Fold ${path}`;
    button.addEventListener("click", () => toggle(path));
    return button;
  }));
}

function toggle(path) {
  if (open.has(path)) for (const other of [...open]) { if (other === path || other.startsWith(`${path}.`)) open.delete(other); }
  else open.add(path);
  draw(true);
}

function draw(refit) {
  const joins = gather();
  assign(joins);
  bend(joins);
  place();
  const svg = make("svg", { width: "100%", height: "60vh", "font-family": "monospace", "font-size": 11, role: "img",
    "aria-label": "The graph" });
  const drawn = make("g", { fill: "none", stroke: "var(--faint)", "stroke-width": 1.2 }, svg);
  for (const join of joins) make("path", { d: line(join), "stroke-dasharray": join.back ? "4 3" : "none" }, drawn);
  const few = items.size <= 300;
  for (const item of items.values()) {
    const group = make("g", { class: "box", tabindex: few ? 0 : -1, style: "cursor:pointer" }, svg);
    const marked = words && `${item.lines.join(" ")} ${item.hint} ${item.group || ""}`.toLowerCase().includes(words);
    make("rect", { x: item.x - item.width / 2, y: item.y, width: item.width, height: item.height,
      rx: item.kind === "input" || item.kind === "output" ? item.height / 2 : 4,
      style: `fill:hsl(${HUES[item.kind] ?? HUES.other} var(--vivid) var(--shade));stroke:var(${marked ? "--mark" : "--faint"});`
        + `stroke-width:${marked ? 3 : item.group ? 2 : 1}` }, group);
    item.lines.forEach((text, i) => {
      make("text", { x: item.x, y: item.y + PAD + LINE * (i + 1) - 5, "text-anchor": "middle",
        "font-weight": i ? "normal" : "bold" }, group).textContent = text;
    });
    group.addEventListener("pointerenter", () => about(item));
    group.addEventListener("focus", () => about(item));
    const act = () => { if (item.group !== undefined && !moved) toggle(item.group); };
    group.addEventListener("click", act);
    group.addEventListener("keydown", (event) => { if (event.key === "Enter") act(); });
  }
  stage.replaceChildren(svg);
  if (refit || !view) fit(); else look();
}

// --- looking: `view` is the part of the picture that is seen
const look = () => stage.firstChild.setAttribute("viewBox", view.join(" "));
const size = () => [stage.clientWidth || 800, stage.clientHeight || 500];
function fit() {
  const [width, height] = size(), scale = Math.max(whole[2] / width, 0.55, Math.min(whole[3] / height, 1.15));
  view = [whole[0] + whole[2] / 2 - width * scale / 2, whole[3] < height * scale ? (whole[3] - height * scale) / 2 : 0,
    width * scale, height * scale];
  look();
}
function zoom(factor, x = view[0] + view[2] / 2, y = view[1] + view[3] / 2) {
  const by = Math.min(Math.max(view[2] * factor, 80), 40 * whole[2] + 4000) / view[2];
  view = [x - (x - view[0]) * by, y - (y - view[1]) * by, view[2] * by, view[3] * by];
  look();
}
let held = null, moved = false;
stage.addEventListener("wheel", (event) => {
  event.preventDefault();
  const box = stage.getBoundingClientRect();
  zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 400))), view[0] + (event.clientX - box.left) / box.width * view[2],
    view[1] + (event.clientY - box.top) / box.height * view[3]);
}, { passive: false });
stage.addEventListener("pointerdown", (event) => { held = [event.clientX, event.clientY, ...view]; moved = false; });
window.addEventListener("pointermove", (event) => {
  if (!held) return;
  const [dx, dy] = [event.clientX - held[0], event.clientY - held[1]];
  moved = moved || Math.abs(dx) + Math.abs(dy) > 4;
  if (!moved) return;
  const [width, height] = size();
  view[0] = held[2] - dx * view[2] / width;
  view[1] = held[3] - dy * view[3] / height;
  look();
});
window.addEventListener("pointerup", () => { held = null; });
stage.style.touchAction = "none";
document.getElementById("in").addEventListener("click", () => zoom(0.75));
document.getElementById("out").addEventListener("click", () => zoom(1 / 0.75));
document.getElementById("fit").addEventListener("click", fit);
document.getElementById("unfold").addEventListener("click", () => { trails.flat().forEach((path) => open.add(path)); draw(true); });
document.getElementById("fold").addEventListener("click", () => { open.clear(); draw(true); });
document.getElementById("search").addEventListener("input", (event) => {
  words = event.target.value.trim().toLowerCase();
  const hits = boxes.flatMap(([, lines, hint, path], i) =>
    (words && `${lines.join(" ")} ${hint} ${path}`.toLowerCase().includes(words) ? [i] : []));
  if (hits.length && hits.length <= 40) hits.forEach((i) => trails[i].forEach((path) => open.add(path)));
  found.textContent = words ? `${hits.length} calls` : "";
  draw(hits.length > 0 && hits.length <= 40);
  const hit = hits.length && hits.length <= 40 ? items.get(hits[0]) : undefined;
  if (hit) { view[0] = hit.x - view[2] / 2; view[1] = hit.y - view[3] / 2; look(); }
});
draw(true);

"use strict";

// Texts of passages and questions reach the page as text nodes only, never as markup.

const $ = (id) => document.getElementById(id);
const storedKey = "georag-api-key";
let about = null;
let waiting = null; // the request under way

// make returns an element with attributes and children; strings become text nodes.
function make(name, attributes, ...children) {
  const svg = ["svg", "circle", "rect", "path", "text", "line", "title", "g"].includes(name);
  const element = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) element.setAttribute(key, value);
  element.append(...children.filter((c) => c !== null && c !== undefined));
  return element;
}

function show(id, visible) { $(id).hidden = !visible; }
const percent = (share) => (100 * share).toFixed(share < 0.0995 ? 1 : 0) + "%";
const plural = (n, word) => n + " " + word + (n === 1 ? "" : "s");

// --- talking to the service

class Refusal extends Error {
  constructor(status, code, words, wait) { super(words); this.status = status; this.code = code; this.wait = wait; }
}

async function ask(path, body, signal) {
  const headers = {};
  const key = sessionStorage.getItem(storedKey);
  if (key) headers["Authorization"] = "Bearer " + key;
  const request = { headers, signal, cache: "no-store", credentials: "omit" };
  if (body) {
    headers["Content-Type"] = "application/json";
    request.method = "POST";
    request.body = JSON.stringify(body);
  }
  let response;
  try {
    response = await fetch(path, request);
  } catch (cause) {
    if (cause.name === "AbortError") throw cause;
    throw new Refusal(0, "unreachable", "The service cannot be reached. Is it still running?");
  }
  const answer = await response.json().catch(() => ({}));
  if (response.ok) return answer;
  const told = answer.error || {};
  throw new Refusal(response.status, told.code || "error", told.message || "The service answered " + response.status + ".", response.headers.get("Retry-After"));
}

function explain(refusal) {
  switch (refusal.code) {
    case "overloaded": return "The service is busy. Try again" + (refusal.wait ? " in " + plural(Number(refusal.wait), "second") : " shortly") + ".";
    case "deadline_exceeded": return "There was no answer in time. The setting server.timeouts.request says how long a request may take.";
    case "unavailable": return "The store or a model cannot be reached. Try again shortly.";
    case "tenant_required": return "This store has tenants: name one under Options.";
  }
  return refusal.message;
}

function fail(refusal) {
  $("busy").hidden = true;
  $("status").textContent = "";
  if (refusal.status === 401) {
    const tried = sessionStorage.getItem(storedKey) !== null;
    sessionStorage.removeItem(storedKey);
    show("access", true);
    show("ask", false);
    show("result", false);
    show("forget", false);
    $("error").textContent = "The server did not accept this key.";
    show("error", tried);
    $("key").focus();
    return;
  }
  show("result", false); // it would answer an earlier question
  $("error").textContent = explain(refusal) + (refusal.code ? " (" + refusal.code + ")" : "");
  show("error", true);
}

// --- before a question is asked

async function begin() {
  show("error", false);
  try {
    about = await ask("ui/api/about");
  } catch (refusal) {
    fail(refusal);
    return;
  }
  show("access", false);
  show("ask", true);
  show("forget", sessionStorage.getItem(storedKey) !== null);
  $("sample").replaceChildren($("sample").options[0]);
  for (const s of about.samples) $("sample").append(make("option", { value: s.id }, s.question));
  show("sample-field", about.samples.length > 0);
  $("collection").replaceChildren(...about.collections.map((c) => make("option", { value: c.name }, c.name)));
  show("collection-field", about.collections.length > 1);
  $("k").max = about.most.k;
  describeCollection();
  show("empty", $("result").hidden);
}

const collection = () => about.collections.find((c) => c.name === $("collection").value) || about.collections[0];

// describeCollection says what cannot be asked of the chosen collection.
function describeCollection() {
  const c = collection();
  const typed = c.embedder !== "";
  $("k").placeholder = c.k;
  $("question").readOnly = !typed;
  $("question").required = typed;
  let missing = "";
  if (!typed) {
    missing = "The collection " + c.name + " has no embedder, so a typed question cannot be turned into a vector: set embedder in the server's configuration.";
    if (about.samples.length > 0) missing += " The demonstration's questions bring their vectors: choose one.";
  } else if (c.writer === "") {
    missing = "The collection " + c.name + " has no writer of sub-queries: type some under Options, or only the question itself is covered.";
  }
  $("missing").textContent = missing;
  show("missing", missing !== "");
  $("empty").textContent = "Nothing asked yet. " + (typed && about.samples.length > 0 ? "Choose a question or type one" : typed ? "Type a question" : "Choose a question") + ", then press Enter.";
  $("sample").options[0].textContent = typed ? "Choose one, or type your own below" : "Choose one";
}

function body() {
  const request = {};
  const k = $("k").valueAsNumber;
  if (Number.isInteger(k)) request.k = k;
  if ($("sample").value) return { ...request, sample: $("sample").value };
  request.question = $("question").value.trim();
  if (about.collections.length > 1) request.collection = $("collection").value;
  for (const name of ["filter", "tenant"]) if ($(name).value.trim()) request[name] = $(name).value.trim();
  const lines = $("subqueries").value.split("\n").map((l) => l.trim()).filter((l) => l);
  if (lines.length > 0) request.subqueries = lines;
  return request;
}

async function compare(event) {
  event.preventDefault();
  if (!about) return begin();
  if (!$("sample").value && !$("question").value.trim()) {
    fail(new Refusal(400, "", collection().embedder ? "Type a question first." : "Choose a question first."));
    return;
  }
  if (waiting) waiting.abort();
  const mine = new AbortController();
  waiting = mine;
  show("error", false);
  show("empty", false);
  $("busy").hidden = false;
  $("result").setAttribute("aria-busy", "true");
  $("status").textContent = "Asking…";
  try {
    const answer = await ask("ui/api/compare", body(), mine.signal);
    if (waiting === mine) present(answer);
  } catch (refusal) {
    if (waiting === mine && refusal.name !== "AbortError") fail(refusal);
  } finally {
    if (waiting === mine) {
      $("busy").hidden = true;
      $("result").removeAttribute("aria-busy");
      waiting = null;
    }
  }
}

// --- the answer

function present(c) {
  const kept = c.subqueries.filter((q) => q.kept);
  const covered = (list) => kept.filter((q) => q[list].length > 0).length;
  const name = c.selector;
  $("asked").textContent = c.question;
  $("facts").textContent = facts(c);
  $("selected-title").textContent = "Selected by " + name;
  for (const list of ["nearest", "selected"]) {
    $(list + "-score").replaceChildren(make("b", null, covered(list) + " of " + kept.length), " sub-queries covered");
    $(list).replaceChildren(...c[list].map((p, i) => passage(p, i, list)));
  }
  degraded(c.degraded);
  parts(c.subqueries);
  demand(c.demand);
  draw(c.plane);
  steps(c.steps);
  show("result", true);
  $("status").textContent = plural(c.selected.length, "passage") + " selected by " + name + ", covering " + covered("selected") + " of " +
    plural(kept.length, "sub-query").replace("querys", "queries") + "; the nearest cover " + covered("nearest") + "." +
    (c.degraded.length > 0 ? " The result is degraded: see below." : "");
}

function facts(c) {
  const milliseconds = (ns) => (ns / 1e6).toFixed(1) + " ms";
  const own = c.timings.total_ns - c.timings.store_ns - c.timings.plan_ns;
  const models = [["embedder", c.models.embedder], ["sub-queries by", c.models.writer], ["reranker", c.models.reranker]]
    .filter(([, model]) => model).map(([role, model]) => role + " " + model);
  return ["preset " + c.preset + ", " + c.mode, c.candidates + " candidates of " + c.collection + (c.outside ? ", " + c.outside + " of them found by sub-queries" : ""),
    ...models, "store " + milliseconds(c.timings.store_ns) + ", selection " + milliseconds(own)].join(" · ");
}

function degraded(reasons) {
  $("degraded").replaceChildren(make("b", null, "Degraded: the result is less than what was asked for."),
    make("ul", null, ...reasons.map((r) => make("li", null, make("code", null, r.code), " ", r.detail))));
  show("degraded", reasons.length > 0);
}

const shownText = 150;

// folded is a text that shows its beginning, up to the end of a word where there is one, until it is opened.
function folded(text) {
  const letters = Array.from(text);
  if (letters.length <= shownText) return make("p", { class: "text" }, text);
  const beginning = letters.slice(0, shownText).join("").replace(/\s+\S*$/u, "");
  return make("details", { class: "text" }, make("summary", null, beginning + " …"), text.slice(beginning.length).trimStart());
}

function passage(p, i, list) {
  const other = list === "nearest" ? "also selected" : "also among the nearest";
  const chips = make("p", { class: "chips" }, p.covers.length > 0 ? "covers" : "covers no sub-query",
    ...p.covers.map((j) => make("span", { class: "chip" }, String(j + 1))));
  return make("li", null, make("span", { class: "number", "aria-hidden": "true" }, String(i + 1)),
    make("p", { class: "name" }, p.title || p.id),
    make("p", { class: "figures" }, "cosine " + p.cosine.toFixed(3) + " · demand " + percent(p.demand) + (p.both ? " · " + other : "")),
    chips, folded(p.text + (p.cut ? " …" : "")));
}

function table(id, columns, rows) {
  const head = make("tr", null, ...columns.map(([title, kind]) => make("th", { scope: "col", class: kind }, title)));
  const lines = rows.map((cells) => make("tr", null, ...cells.map((cell, i) => make("td", { class: columns[i][1] }, cell))));
  $(id).replaceChildren(make("thead", null, head), make("tbody", null, ...lines));
}

function marks(places, list) {
  if (places.length === 0) return make("span", { class: "none" }, "–");
  return make("span", { class: list }, ...places.map((n) => make("span", { class: "mark" }, String(n))));
}

const partName = (q, j) => q.text || "sub-query " + (j + 1);

function parts(subqueries) {
  const rows = [], out = [];
  subqueries.forEach((q, j) => {
    if (!q.kept) {
      out.push(make("li", null, partName(q, j) + (q.error ? " (" + q.error + ")" : "")));
      return;
    }
    const name = partName(q, j) + (q.drifted ? " (drifted)" : "");
    rows.push([String(j + 1), name, marks(q.nearest, "nearest"), marks(q.selected, "selected"), percent(q.weight)]);
  });
  table("parts", [["#", "count"], ["Sub-query", "words"], ["Nearest", ""], ["Selected", ""], ["Weight", "count"]], rows);
  if (rows.length === 0) $("parts").replaceChildren(make("tbody", null, make("tr", null, make("td", null, "No sub-queries: the demand is the question alone."))));
  $("left-out").querySelector("summary").textContent = plural(out.length, "sub-query").replace("querys", "queries") + " left out by max-min, as too close to the others";
  $("left-out").querySelector("ul").replaceChildren(...out);
  show("left-out", out.length > 0);
}

function demand(shares) {
  const most = Math.max(1e-9, ...shares.map((s) => s.share));
  const rows = shares.flatMap((s) => [
    make("span", { class: "name" }, s.place ? make("span", { class: "mark" }, String(s.place)) : null, s.title || s.id),
    make("svg", { viewBox: "0 0 100 9", preserveAspectRatio: "none", "aria-hidden": "true" },
      make("rect", { class: s.place ? "bar picked" : "bar", width: Math.max(0.3, 100 * s.share / most).toFixed(2), height: "9" })),
    make("span", { class: "share" }, percent(s.share)),
  ]);
  $("demand").replaceChildren(...rows);
}

function steps(list) {
  const number = (x) => Math.abs(x) < 1e-12 ? "0" : x.toPrecision(3);
  table("steps", [["#", "count"], ["Passage", "words"], ["Rule", ""], ["Gate", "count"], ["Fall of W", "count"], ["Gain", "count"], ["Runner-up", "words"], ["Its gain", "count"], ["Newly covers", ""]],
    list.map((s, i) => [String(i + 1), s.title, s.rule, s.gate.toFixed(3), number(s.delta_w), number(s.gain), s.runner_up_title || "–",
      s.runner_up_title ? number(s.runner_up_gain) : "", s.newly_covers.length ? s.newly_covers.map((j) => j + 1).join(" ") : "–"]));
}

// --- the picture

const height = 400, margin = 18, legendHeight = 62;
const narrow = matchMedia("(max-width: 460px)");
let drawn = null; // the plane shown now

function draw(picture) {
  drawn = picture;
  $("plane").replaceChildren(picture ? plane(picture) : make("p", { class: "hint" }, "Too few points span no plane."));
}

narrow.addEventListener("change", () => { if (drawn) draw(drawn); });

function plane(picture) {
  const width = narrow.matches ? 360 : 520; // letters stay readable on a phone
  const points = picture.points;
  const scale = (key, low, high) => {
    const values = points.map((p) => p[key]), least = Math.min(...values), most = Math.max(...values);
    return (v) => low + (v - least) / (most - least || 1) * (high - low);
  };
  const x = scale("x", margin, width - margin), y = scale("y", height - margin - 20, legendHeight + margin);
  const most = Math.max(1e-9, ...points.map((p) => p.demand || 0));
  const at = points.map((p) => [x(p.x), y(p.y)]);
  moveApart(points, at);
  const image = make("svg", { viewBox: "0 0 " + width + " " + height, role: "img",
    "aria-label": "Candidates, sub-queries and selected passages in the plane of two principal components" });
  image.append(...legend(), make("line", { class: "axis", x1: margin, y1: height - 22, x2: width - margin, y2: height - 22 }),
    make("text", { x: width / 2, y: height - 7, "text-anchor": "middle" }, "two principal components, " + percent(picture.explained[0]) + " and " + percent(picture.explained[1]) + " of the variance"));
  // What matters more is drawn later, on top.
  const ranks = [(p) => p.kind === "candidate" && !p.place && !p.near, (p) => p.kind === "candidate" && !p.place && p.near,
    (p) => p.kind === "sub-query", (p) => p.place, (p) => p.kind === "question"];
  for (const rank of ranks) points.forEach((p, i) => { if (rank(p)) image.append(marker(p, at[i][0], at[i][1], most)); });
  return image;
}

// moveApart keeps selected passages from hiding each other, the later one away from the earlier.
function moveApart(points, at) {
  const apart = 18;
  const chosen = points.map((_, i) => i).filter((i) => points[i].place).sort((a, b) => points[a].place - points[b].place);
  chosen.forEach((i, n) => chosen.slice(0, n).forEach((j) => {
    let dx = at[i][0] - at[j][0], dy = at[i][1] - at[j][1], distance = Math.hypot(dx, dy);
    if (distance >= apart) return;
    if (distance < 1e-9) [dx, dy, distance] = [0, 1, 1];
    at[i] = [at[j][0] + dx / distance * apart, at[j][1] + dy / distance * apart];
  }));
}

// marker draws a point; the area of a candidate's disc grows with its share of the demand.
function marker(p, x, y, most) {
  const name = make("title", null, p.kind === "candidate" ? p.name + ": demand " + percent(p.demand || 0) : p.name);
  const radius = 2.4 + 6 * Math.sqrt((p.demand || 0) / most);
  const group = make("g", null, name);
  if (p.kind === "question") {
    group.append(make("path", { class: "question", d: star(x, y, 10) }));
  } else if (p.kind === "sub-query") {
    group.append(make("path", { class: "part", d: "M" + x + " " + (y - 6) + "l5.5 10h-11z" }));
  } else if (p.place) {
    group.append(make("circle", { class: "picked", cx: x, cy: y, r: 8.5 }), make("text", { class: "picked-number", x, y: y + 4, "text-anchor": "middle" }, String(p.place)));
    if (p.near) group.append(square(x, y, 22));
  } else {
    group.append(make("circle", { class: "candidate", cx: x, cy: y, r: radius }));
    if (p.near) group.append(square(x, y, 16));
  }
  return group;
}

const square = (x, y, side) => make("rect", { class: "near", x: x - side / 2, y: y - side / 2, width: side, height: side });

function star(x, y, radius) {
  let path = "";
  for (let i = 0; i < 10; i++) {
    const r = i % 2 ? 0.45 * radius : radius, angle = Math.PI * (i / 5 - 0.5);
    path += (i ? "L" : "M") + (x + r * Math.cos(angle)).toFixed(1) + " " + (y + r * Math.sin(angle)).toFixed(1);
  }
  return path + "Z";
}

function legend() {
  return [
    [{ kind: "question" }, "question"], [{ kind: "sub-query" }, "sub-query"],
    [{ kind: "candidate", place: 1 }, "selected, in this order"], [{ kind: "candidate", near: 1 }, "among the nearest"],
    [{ kind: "candidate", demand: 0.3 }, "candidate, larger where the demand is"],
  ].flatMap(([point, words], i) => {
    const x = 14 + (i % 2) * 168, y = 12 + Math.floor(i / 2) * 22;
    return [marker({ ...point, name: words }, x, y, 1), make("text", { x: x + 16, y: y + 4 }, words)];
  });
}

// --- what people do

$("ask").addEventListener("submit", compare);
$("access").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem(storedKey, $("key").value.trim());
  $("key").value = "";
  begin().then(() => { if (about) $("question").focus(); });
});
$("forget").addEventListener("click", () => {
  sessionStorage.removeItem(storedKey);
  location.reload();
});
$("sample").addEventListener("change", () => {
  const chosen = about.samples.find((s) => s.id === $("sample").value);
  $("question").value = chosen ? chosen.question : "";
});
// A demonstration's question goes with k only: what else is typed makes it a typed question.
for (const name of ["question", "filter", "tenant", "subqueries"]) {
  $(name).addEventListener("input", () => { if (collection().embedder) $("sample").value = ""; });
}
$("collection").addEventListener("change", describeCollection);
begin();

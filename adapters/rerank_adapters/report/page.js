const table = document.getElementById("segments"), bodies = table.tBodies; // a body for each segment
const search = document.getElementById("search"), shown = document.getElementById("shown");
const order = document.getElementById("order");
const number = (body, name) => parseFloat(body.dataset[name]);
const byChange = new Map([...bodies].map((body, place) => [body, place])); // the order in which the page comes
const ORDERS = {
  changed: (a, b) => byChange.get(a) - byChange.get(b),
  better: (a, b) => number(b, "gain") - number(a, "gain"),
  worse: (a, b) => number(a, "gain") - number(b, "gain"),
  place: () => 0,
};

function filter() {
  const wanted = search.value.toLowerCase();
  let count = 0;
  for (const body of bodies) {
    body.hidden = !body.textContent.toLowerCase().includes(wanted);
    count += body.hidden ? 0 : 1;
  }
  shown.textContent = count + " of " + bodies.length;
}
search.addEventListener("input", filter);
filter();
order.addEventListener("change", () => {
  table.append(...[...bodies].sort((a, b) => ORDERS[order.value](a, b) || number(a, "place") - number(b, "place")));
});

// Keys: j and k go through the segments, arrows too once a segment has the focus.
document.addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT)$/.test(event.target.tagName)) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const current = document.activeElement.closest("#segments tbody");
  const arrow = current && { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const step = { j: 1, k: -1 }[event.key] || arrow;
  if (step) {
    const visible = [...bodies].filter(body => !body.hidden);
    const next = visible[current ? visible.indexOf(current) + step : 0];
    if (next) {
      next.focus({ preventScroll: true });
      next.scrollIntoView({ block: "center" });
    }
  } else if (event.key === "/") {
    search.focus();
  } else if (event.key === "Enter" && current === document.activeElement && current) {
    const why = current.querySelector(".why");
    if (why) why.open = !why.open;
  } else {
    return;
  }
  event.preventDefault();
});

// Details of a segment, drawn when they are first opened; the data are compressed in the page.
let unpacked;
function explanations() {
  unpacked ||= (async () => {
    const bytes = Uint8Array.from(atob(document.getElementById("explanations").textContent), c => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  })();
  return unpacked;
}
for (const why of document.querySelectorAll(".why")) {
  why.addEventListener("toggle", async () => {
    if (!why.open || why.dataset.drawn) return;
    why.dataset.drawn = "yes";
    const holder = document.createElement("div");
    try {
      holder.innerHTML = explanation((await explanations())[why.dataset.segment]);
    } catch (error) {
      holder.textContent = "This browser cannot unpack the details: " + error;
    }
    why.append(holder);
  });
}

const escaped = text => String(text).replace(/[&<>"]/g, c => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
const signed = value => (value === null ? "" : (value < 0 ? "−" : "+") + Math.abs(value).toPrecision(3));

function explanation(data) {
  const sides = ["a", "b"];
  const place = side => `rank ${data[side].rank}, after reranking ${data[side].new_rank}`;
  const parts = [`<p class="kind">A: ${escaped(data.a.name)} (${place("a")}); B: ${escaped(data.b.name)} (${place("b")})</p>`];
  parts.push("<h4>Contribution of each feature to the lead of A over B</h4>", bars(data.contributions, data.decision));
  if (data.words.length) {
    parts.push("<h4>Scores of words (natural logs; the colours of each model end at its lowest score)</h4>");
    for (const row of data.words) {
      const values = sides.flatMap(side => row[side].map(word => word.score)).filter(value => value !== null);
      const lowest = Math.min(-1, ...values), highest = Math.max(1, ...values);
      const ramp = `0 <span class="ramp"></span> ${lowest.toFixed(1).replace("-", "−")}`;
      parts.push(`<p class="legend">${escaped(row.models.join(", "))}: ${ramp}</p>`);
      for (const side of sides) parts.push(words(side, row[side], lowest, highest));
    }
  }
  for (const parses of data.parses) {
    const drawn = sides.map(side => [side, trees(parses[side])]).filter(pair => pair[1]);
    if (!drawn.length) continue;
    parts.push(`<h4>Trees (${escaped(parses.features)})</h4><div class="sides">`);
    for (const [side, svg] of drawn) parts.push(`<div><p class="kind">${side.toUpperCase()}</p>${svg}</div>`);
    parts.push("</div>");
  }
  return parts.join("");
}

function bars(rows, decision) {
  const biggest = Math.max(...rows.map(row => Math.abs(row.lead)), 1e-12), kept = rows.slice(0, 12);
  const rest = rows.slice(12).reduce((sum, row) => sum + row.lead, 0);
  const cells = kept.map(row => {
    const width = 50 * Math.abs(row.lead) / biggest, left = row.lead < 0 ? 50 - width : 50;
    const title = `weight ${row.weight} × (${row.first} − ${row.second})`;
    return `<span title="${escaped(title)}">${escaped(row.feature)}</span>` +
      `<span class="${row.lead < 0 ? "bad" : "good"}"><i style="margin-left:${left}%;width:${width}%"></i></span>` +
      `<span title="${escaped(title)}">${signed(row.lead)}</span>`;
  });
  if (rows.length > 12) cells.push(`<span>${rows.length - 12} others</span><span></span><span>${signed(rest)}</span>`);
  const total = rows.reduce((sum, row) => sum + row.lead, 0);
  cells.push(`<b>all</b><span></span><b>${signed(total)}</b>`);
  const note = decision === "mbr" ? '<p class="kind">Of the model score; MBR chooses by the expected metric.</p>' : "";
  return `<div class="bars">${cells.join("")}</div>${note}`;
}

function words(side, scores, lowest, highest) {
  const spans = scores.map(({ word, score }) => {
    const heat = score === null ? 1 : score / (score > 0 ? highest : lowest);
    const written = score === null ? "−∞" : score.toFixed(1).replace("-", "−");
    return `<span${score > 0 ? ' class="up"' : ""} style="--h:${heat.toFixed(3)}">${escaped(word)}<sub>${written}</sub></span>`;
  });
  return `<p class="words"><b>${side.toUpperCase()}</b> ${spans.join(" ")}</p>`;
}

// Trees: words at the bottom, arcs of dependencies above them, or phrases from the root down.
const pen = document.createElement("canvas").getContext("2d");
pen.font = "12px system-ui, sans-serif";
const widthOf = text => pen.measureText(text).width;

function trees(parse) {
  const drawn = [];
  if (parse.dependencies) drawn.push(arcs(parse.dependencies));
  if (parse.constituents) drawn.push(phrases(parse.constituents));
  return drawn.map(svg => `<div class="scroll">${svg}</div>`).join("");
}

const svg = (width, height, label, drawn) =>
  `<svg width="${Math.ceil(width)}" height="${Math.ceil(height)}" role="img" aria-label="${label}">${drawn}</svg>`;
const label = (x, y, text, kind = "") => `<text class="${kind}" x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="middle">${escaped(text)}</text>`;

function arcs(nodes) {
  const places = [];
  let x = 8;
  for (const node of nodes) {
    const width = Math.max(widthOf(node.word), widthOf(node.relation) * 0.92) + 14;
    places.push(x + width / 2);
    x += width;
  }
  // An arc lies above all arcs within its span.
  const spans = nodes.map((node, i) => ({ i, head: node.head - 1, low: Math.min(i, node.head - 1), high: Math.max(i, node.head - 1) }))
    .filter(span => span.head >= 0).sort((a, b) => a.high - a.low - (b.high - b.low));
  for (const span of spans) {
    const under = spans.filter(other => other !== span && other.level && other.low >= span.low && other.high <= span.high);
    span.level = 1 + Math.max(0, ...under.map(other => other.level));
  }
  const rise = 26, tall = rise * Math.max(1, ...spans.map(span => span.level)) + 32, bottom = tall + 4;
  const drawn = spans.map(({ i, head, level }) => {
    const from = places[head] + (i < head ? -4 : 4), to = places[i], y = tall - rise * level, bend = Math.min(12, Math.abs(from - to) / 2);
    const way = to < from ? -1 : 1;
    const path = `M${from},${tall} V${y + bend} Q${from},${y} ${from + way * bend},${y} H${to - way * bend} Q${to},${y} ${to},${y + bend} V${tall - 2}`;
    return `<g class="s0"><path class="stroke" style="stroke-width:1.3" d="${path}"/>` +
      `<path class="fill" d="M${to - 3.5},${tall - 6} h7 l-3.5,6 z"/></g>` + label((from + to) / 2, y - 3, nodes[i].relation, "tick");
  });
  nodes.forEach((node, i) => {
    if (node.head === 0) {
      const x = places[i];
      drawn.unshift(`<g class="s5"><path class="stroke" style="stroke-width:1.3" d="M${x},14 V${tall - 2}"/>` +
        `<path class="fill" d="M${x - 3.5},${tall - 6} h7 l-3.5,6 z"/></g>` + label(x, 10, "root", "tick"));
    }
    drawn.push(label(places[i], bottom + 12, node.word));
  });
  return svg(x + 8, bottom + 20, "dependencies", drawn.join(""));
}

function phrases(text) {
  const tokens = text.match(/[()]|[^\s()]+/g);
  let at = 0, x = 8;
  const leaves = [];
  function read() {
    at += 1; // the opening bracket
    const node = { name: tokens[at++], children: [] };
    while (tokens[at] !== ")") {
      if (tokens[at] === "(") node.children.push(read());
      else leaves.push(node.children[node.children.push({ word: tokens[at++] }) - 1]);
    }
    at += 1;
    return node;
  }
  const root = read(), step = 34;
  let deepest = 0;
  (function measure(node, depth) {
    node.depth = depth;
    if (node.word !== undefined) return;
    if (node.children[0].word !== undefined) {
      const width = Math.max(widthOf(node.children[0].word), widthOf(node.name)) + 12;
      node.x = node.children[0].x = x + width / 2;
      x += width;
      deepest = Math.max(deepest, depth);
      return;
    }
    node.children.forEach(child => measure(child, depth + 1));
    node.x = (node.children[0].x + node.children[node.children.length - 1].x) / 2;
  })(root, 0);
  const drawn = [], wordsAt = (deepest + 1) * step + 14;
  (function draw(node) {
    const y = node.depth * step + 14;
    for (const child of node.children) {
      const leaf = child.word !== undefined, below = leaf ? wordsAt : child.depth * step + 14;
      drawn.push(`<line class="${leaf ? "grid" : "axis"}" x1="${node.x}" y1="${y + 4}" x2="${child.x}" y2="${below - 12}"/>`);
      if (leaf) drawn.push(label(child.x, wordsAt, child.word));
      else draw(child);
    }
    drawn.push(label(node.x, y, node.name, node.children[0].word !== undefined ? "tick" : ""));
  })(root);
  return svg(x + 8, wordsAt + 8, "constituents", drawn.join(""));
}

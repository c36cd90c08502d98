"use strict";
const data = JSON.parse(document.getElementById("data").textContent);

// ---- sorting ----

// A row and, if it is open, its details move together.
const rowsOf = (body) => [...body.rows].filter((row) => !row.classList.contains("more"));
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") !== "descending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const body = table.tBodies[0];
      const value = (row) => {
        const cell = row.cells[column];
        const number = cell.dataset.v ?? cell.textContent;
        return number !== "" && !Number.isNaN(Number(number)) ? Number(number) : number;
      };
      const order = (a, b) => (typeof a === typeof b ? (a > b) - (a < b) : typeof a === "number" ? 1 : -1);
      const sorted = rowsOf(body).map((row) => [row, row.nextElementSibling]);
      sorted.sort((a, b) => (down ? -1 : 1) * order(value(a[0]), value(b[0])));
      for (const [row, next] of sorted) body.append(row, ...(next?.classList.contains("more") ? [next] : []));
    });
  });
}

// ---- details of an instruction ----

const element = (name, attributes = {}, ...children) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
};
const SVG = Object.assign(document.createElement("template"), { innerHTML: "<svg></svg>" }).content.firstChild.namespaceURI;
const svg = (name, attributes, text) => {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
};
const SIZE = 10; // of a cell, pixels
const drawing = (height, what) => svg("svg", { viewBox: `0 0 700 ${height}`, width: 700, role: "img", "aria-label": what });
const cell = (into, x, y, colour, title, marked) => {
  const made = svg("rect", { x, y, width: SIZE - 1, height: SIZE - 1, rx: 1 });
  if (colour === null) made.setAttribute("class", "empty");
  else made.setAttribute("fill", `hsl(${(colour * 137) % 360} 65% 55%)`);
  if (marked) made.setAttribute("class", "hit");
  if (title) made.append(svg("title", {}, title));
  into.append(made);
};
const label = (into, x, y, text) => into.append(svg("text", { x, y }, text));

// The address of each lane, or null: BigInt, because addresses have up to 57 bits.
const addressesOf = (wave) => {
  const lanes = BigInt("0x" + wave.lanes), result = [];
  let address = null, next = 0;
  for (let lane = 0n; lane < 64n; lane++) {
    if (!((lanes >> lane) & 1n)) { result.push(null); continue; }
    address = address === null ? BigInt("0x" + wave.base) : address + BigInt(wave.apart[next++]);
    result.push(address);
  }
  return result;
};
const hex = (number) => "0x" + number.toString(16);

// Which lanes access each dword: address of the dword -> lanes.
const dwordsOf = (addresses, bytes) => {
  const who = new Map();
  addresses.forEach((address, lane) => {
    if (address === null) return;
    for (let dword = address / 4n; dword <= (address + BigInt(bytes) - 1n) / 4n; dword++)
      who.set(dword, [...(who.get(dword) ?? []), lane]);
  });
  return who;
};

const drawLanes = (into, addresses, colourOf) => {
  const count = addresses.slice(32).some((one) => one !== null) ? 64 : 32;
  label(into, 0, 10, `lanes 0 to ${count - 1}`);
  for (let lane = 0; lane < count; lane++) {
    const address = addresses[lane];
    if (address === null) cell(into, lane * SIZE, 16, null);
    else cell(into, lane * SIZE, 16, colourOf(address), `lane ${lane}: ${hex(address)}`);
  }
};

const drawLines = (row) => {
  const addresses = addressesOf(row.wave), size = BigInt(row.line), dwords = row.line / 4, perRow = 64 / dwords;
  const who = dwordsOf(addresses, row.wave.bytes);
  const lines = [...new Set([...who.keys()].map((dword) => (dword * 4n) / size))].sort((a, b) => (a > b) - (a < b));
  const into = drawing(44 + Math.ceil(lines.length / perRow) * 28, "lanes of one wave on cache lines");
  drawLanes(into, addresses, (address) => lines.indexOf(address / size));
  lines.forEach((line, i) => {
    const x = (i % perRow) * (dwords + 1) * SIZE, y = 44 + Math.floor(i / perRow) * 28;
    label(into, x, y + 8, hex(line * size));
    for (let k = 0; k < dwords; k++) {
      const dword = line * BigInt(dwords) + BigInt(k), lanes = who.get(dword);
      cell(into, x + k * SIZE, y + 12, lanes ? i : null, lanes && `${hex(dword * 4n)}: lanes ${lanes.join(" ")}`);
    }
  });
  return into;
};

// Banks from left to right, each with the distinct dwords that the wave accesses in it.
const drawBanks = (row) => {
  const addresses = addressesOf(row.wave), banks = Array.from({ length: 32 }, () => []);
  for (const [dword, lanes] of dwordsOf(addresses, row.wave.bytes)) banks[Number(dword % 32n)].push([dword, lanes]);
  const into = drawing(60 + Math.max(...banks.map((bank) => bank.length)) * SIZE, "lanes of one wave on LDS banks");
  drawLanes(into, addresses, (address) => Number((address / 4n) % 32n));
  label(into, 0, 44, "banks 0 to 31: the distinct dwords that the wave accesses in each");
  banks.forEach((bank, number) => {
    if (!bank.length) cell(into, number * 2 * SIZE, 50, null);
    bank.forEach(([dword, lanes], i) => cell(into, number * 2 * SIZE, 50 + i * SIZE, number,
      `${hex(dword * 4n)}: lanes ${lanes.join(" ")}`, number === row.bank));
  });
  return into;
};

const drawHistogram = (row) => {
  const into = drawing(88, "requests by lines"), most = Math.max(...row.lines.map((pair) => pair[1]));
  label(into, 0, 10, "requests by the number of lines that they access, 0 to 64 and more");
  for (let lines = 0; lines <= 64; lines++) {
    const requests = row.lines.find((pair) => pair[0] === lines)?.[1] ?? 0, height = Math.max(1, (60 * requests) / most);
    const bar = svg("rect", { x: lines * SIZE, y: 74 - height, width: SIZE - 1, height, class: requests ? "bar" : "empty" });
    bar.append(svg("title", {}, `${lines} lines: ${requests} requests`));
    into.append(bar);
    if (lines % 8 === 0) label(into, lines * SIZE, 86, lines);
  }
  return into;
};

const detailsOf = (row) => {
  const lines = data.figures.map(([title, meaning], i) => row.values[i] !== 0 &&
    element("tr", {}, element("th", { scope: "row", class: "l" }, title), element("td", {}, row.values[i]),
      element("td", { class: "l" }, meaning))).filter(Boolean);
  const half = Math.ceil(lines.length / 2);
  const table = (part) => element("table", { class: "figures" }, element("tbody", {}, ...part));
  const parts = row.said.length ? [element("p", {}, row.said.join(" "))] : [];
  if (row.wave) parts.push(row.wave.lds ? drawBanks(row) : drawLines(row));
  if (row.lines.length) parts.push(drawHistogram(row));
  return [...parts, element("div", { class: "two" }, table(lines.slice(0, half)), table(lines.slice(half)))];
};

// Opens the details below the row of the instruction; again: closes them.
const toggle = (row, open) => {
  const next = row.nextElementSibling;
  if (next?.classList.contains("more")) {
    if (!open) next.remove();
    return;
  }
  const wide = element("td", { colspan: row.cells.length }, ...detailsOf(data.rows[Number(row.id.slice(1))]));
  row.after(element("tr", { class: "more" }, wide));
};
for (const link of document.querySelectorAll("table.sortable a"))
  link.addEventListener("click", (event) => {
    event.preventDefault();
    toggle(link.closest("tr"), false);
  });
const openTarget = () => {
  const target = location.hash && document.getElementById(location.hash.slice(1));
  if (target && target.tagName === "TR") {
    toggle(target, true);
    target.scrollIntoView({ block: "start" });
  }
};
addEventListener("hashchange", openTarget);
openTarget();

// ---- source and listing ----

// Pointing at a line of either marks it and its counterparts.
for (const pair of document.querySelectorAll(".two")) {
  const light = (place) => {
    for (const row of pair.querySelectorAll("tr.lit")) row.classList.remove("lit");
    for (const row of place ? pair.querySelectorAll(`tr[data-s="${place}"]`) : []) row.classList.add("lit");
  };
  pair.addEventListener("mouseover", (event) => light(event.target.closest("tr")?.dataset.s));
  pair.addEventListener("focusin", (event) => light(event.target.closest("tr")?.dataset.s));
}

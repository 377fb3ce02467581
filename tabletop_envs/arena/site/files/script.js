"use strict";
document.documentElement.classList.add("scripted");
const at = id => document.getElementById(id);
const read = id => at(id) && JSON.parse(at(id).textContent);

function element(tag, text, name) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (name) made.className = name;
  return made;
}

// --- sorting

function value(row, column) {
  const cell = row.cells[column];
  const text = cell.dataset.value ?? cell.textContent.trim();
  return text !== "" && !isNaN(text) ? Number(text) : text;
}

function order(table, column, descending) {
  const rows = [...table.tBodies[0].rows];
  const sign = descending ? -1 : 1;
  rows.sort((a, b) => {
    const x = value(a, column), y = value(b, column);
    return sign * (typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y), "en"));
  });
  table.tBodies[0].append(...rows);
  [...table.tHead.rows[0].cells].forEach((head, index) => {
    if (index === column) head.setAttribute("aria-sort", descending ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
  });
}

for (const table of document.querySelectorAll("table.sortable")) {
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    if (head.tagName !== "TH") return;
    const button = element("button", head.textContent);
    button.type = "button";
    button.addEventListener("click", () => {
      const sorted = head.getAttribute("aria-sort");
      order(table, column, sorted ? sorted === "ascending" : head.dataset.first === "descending");
    });
    head.replaceChildren(button);
  });
}

// --- divisions

const divisions = read("divisions");
if (divisions) {
  const table = at("table"), choice = at("division");
  const show = () => {
    const ranks = divisions[choice.value];
    for (const row of table.tBodies[0].rows) {
      const found = ranks[row.dataset.name];
      row.hidden = found === undefined;
      if (found === undefined) continue;
      const [rank, low, high, first] = found;
      const cell = row.querySelector(".rank");
      cell.dataset.value = rank;
      cell.replaceChildren(element("b", rank), " ", element("small", low === high ? low : low + "\u2013" + high));
      const chance = row.querySelector(".first");
      chance.dataset.value = first;
      chance.textContent = Math.round(100 * first) + "%";
    }
    order(table, 0, false);
  };
  choice.addEventListener("change", show);
  if (choice.value !== "open") show();  // a browser may remember the choice
}

// --- recorded games

const list = read("list");
if (list) {
  const BATCH = 50;
  const body = at("games").tBodies[0];
  let found = [], shown = 0;
  for (const name of ["agent", "against"]) {
    const choice = at(name);
    choice.append(new Option("any", ""), ...list.agents.map((agent, index) => new Option(agent, index)));
    choice.addEventListener("change", filter);
  }
  at("watchable").addEventListener("change", filter);
  at("more").addEventListener("click", () => more());

  function row([file, number, place, agents, points, places, decisions, end, page]) {
    const made = element("tr"), name = list.files[file] + "-" + number;
    const watch = element("td");
    if (page) {
      const link = element("a", "watch");
      link.href = "games/" + encodeURIComponent(name) + ".html";
      watch.append(link);
    }
    const seats = element("td", undefined, "seats");
    agents.forEach((agent, seat) => {
      seats.append(element("span", list.agents[agent] + " " + points[seat], places[seat] === 1 ? "best" : ""), " ");
    });
    if (end) seats.append(element("small", end));
    made.append(watch, seats, element("td", decisions, "number"), element("td", place),
      element("td", list.files[file] + " " + number));
    return made;
  }

  function more() {
    const next = found.slice(shown, shown + BATCH);
    body.append(...next.map(row));
    shown += next.length;
    at("more").hidden = shown === found.length;
  }

  function filter() {
    const agent = at("agent").value, against = at("against").value, watchable = at("watchable").checked;
    found = list.games.filter(([, , , agents, , , , , page]) => {
      if (watchable && !page) return false;
      const first = agent === "" ? -1 : agents.indexOf(Number(agent));
      if (agent !== "" && first < 0) return false;
      return against === "" || agents.some((other, seat) => seat !== first && other === Number(against));
    });
    at("found").textContent = found.length.toLocaleString("en") + (found.length === 1 ? " game" : " games");
    body.replaceChildren();
    shown = 0;
    more();
  }
  at("watchable").checked = list.games.some(game => !game[8]);
  filter();
}

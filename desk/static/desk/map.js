// The map's page: fetches the map, and leads what a person does to the picture (map-view.js) and back into words.
import { read } from "./map-graph.js";
import { View } from "./map-view.js";

const root = document.querySelector("[data-map]");
const part = (name) => root.querySelector(`[data-${name}]`);
const canvas = part("canvas");
const field = part("search");
const list = part("found");
const card = part("card");
const spoken = part("spoken");
const MATCHES = 8; // names below the search field
const SOME = 6; // neighbours named on the card
const AGAIN = 4_000; // ms between two looks whether the map has been brought up to date
const LOOKS = 30;

let graph = null;
let view = null;
let groups = null; // { of: group of each page, groups: [{ name, color, pages }] }
let chosen = new Set(); // groups that are shown; none: all
let loose = true; // whether pages without ties are shown
let pinned = -1; // the page that the card stays with
let matches = [];
let active = -1;
let tag = "";

const address = (page) => root.dataset.read + graph.paths[page].split("/").map(encodeURIComponent).join("/");
const open = (page, beside) => (beside ? window.open(address(page), "_blank", "noopener") : location.assign(address(page)));
const make = (name, given = {}, ...inside) => {
  const element = Object.assign(document.createElement(name), given);
  element.append(...inside);
  return element;
};
const count = (number, one, many = `${one}s`) => `${number.toLocaleString("en-GB")} ${number === 1 ? one : many}`;

// --- colours, groups, what is shown ---

const ink = () => {
  const style = getComputedStyle(root);
  const value = (name) => style.getPropertyValue(`--${name}`).trim();
  return { value, paper: value("map-paper"), text: value("ink"), font: value("sans") };
};

// Halfway between two colours, "#rrggbb" each.
const mixed = (one, other) => {
  const part = (color, from) => parseInt(color.slice(from, from + 2), 16);
  const half = (from) => Math.round(0.55 * part(one, from) + 0.45 * part(other, from)).toString(16).padStart(2, "0");
  return `#${half(1)}${half(3)}${half(5)}`;
};

const dress = () => {
  const found = ink();
  const colors = groups.groups.map(({ color }) => found.value(color) || found.value("rest"));
  const shown = Uint8Array.from(groups.of, (group, page) =>
    (chosen.size && !chosen.has(group)) || (!loose && !graph.degree[page]) ? 0 : 1,
  );
  const pale = new Map();
  const color = (page) => {
    const name = groups.pale(page);
    if (!name) return colors[groups.of[page]];
    if (!pale.has(name)) pale.set(name, mixed(found.value(name.replace("pale", "group")), found.paper));
    return pale.get(name);
  };
  view.dress(Array.from(groups.of, (_, page) => color(page)), shown, found);
  if (pinned >= 0 && !shown[pinned]) pin(-1);
  const seen = shown.reduce((sum, one) => sum + one, 0);
  part("seen").textContent = seen === graph.count ? "" : `${seen.toLocaleString("en-GB")} of ${count(graph.count, "page")} shown`;
};

const legend = () => {
  const by = part("by").value;
  groups = graph.group(by);
  chosen = new Set();
  const entries = groups.groups.map((group, at) => {
    if (!group.pages.length) return null;
    const swatch = make("span", { className: `swatch ${group.color}` });
    swatch.ariaHidden = "true";
    const name = make("span", { className: "name", textContent: group.name, title: group.name });
    const number = make("span", { className: "number", textContent: group.pages.length.toLocaleString("en-GB") });
    const button = make("button", { type: "button" }, swatch, name, number);
    button.ariaPressed = "false";
    button.addEventListener("click", () => {
      if (!chosen.delete(at)) chosen.add(at);
      button.ariaPressed = String(chosen.has(at));
      dress();
    });
    return make("li", {}, button);
  });
  part("legend").replaceChildren(...entries.filter(Boolean));
  view.beside(part("side"));
  dress();
};

// --- the card: of what is pointed at ---

const describe = (page) => {
  if (page < 0) {
    card.hidden = true;
    return;
  }
  const type = graph.type(page);
  const link = make("a", { href: address(page), textContent: graph.titles[page], className: "title" });
  const facts = make("p", { className: "soft small" }, [type, count(graph.degree[page], "tie")].filter(Boolean).join(" · "));
  const others = [...graph.others(page)].sort((one, other) => graph.degree[other] - graph.degree[one]);
  const names = others.slice(0, SOME).map((other) => make("li", {}, make("a", { href: address(other), textContent: graph.titles[other] })));
  if (others.length > SOME) names.push(make("li", { className: "soft", textContent: `and ${others.length - SOME} more` }));
  card.replaceChildren(link, facts, make("ul", {}, ...names));
  card.hidden = false;
};

const point = (page) => {
  if (view.pointed === page) return;
  view.point(page);
  describe(page);
  canvas.classList.toggle("on-page", page >= 0);
};

const pin = (page) => {
  pinned = page;
  point(page);
  spoken.textContent = page < 0 ? "" : `${graph.titles[page]}, ${count(graph.degree[page], "tie")}`;
};

// --- search ---

const fold = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

const search = () => {
  const words = fold(field.value).split(/\s+/).filter(Boolean);
  graph.folded ??= graph.titles.map(fold);
  const begins = (page) => (graph.folded[page].startsWith(words[0]) ? 1 : 0);
  const all = words.length ? [...graph.byTies].filter((page) => view.shown[page] && words.every((word) => graph.folded[page].includes(word))) : [];
  matches = all.sort((one, other) => begins(other) - begins(one)).slice(0, MATCHES);
  active = -1;
  list.replaceChildren(
    ...matches.map((page, at) => {
      const type = graph.type(page);
      const option = make("li", { id: `match-${at}`, role: "option" }, graph.titles[page], make("span", { className: "soft small", textContent: type }));
      option.ariaSelected = "false";
      option.addEventListener("pointerdown", (event) => {
        event.preventDefault();
        take(page);
      });
      return option;
    }),
  );
  if (words.length) list.append(make("li", { className: "soft small told", role: "presentation", textContent: all.length ? count(all.length, "page") : "No title has these words." }));
  listed(words.length > 0);
  pin(-1);
  view.find(words.length ? new Set(all) : null);
};

const listed = (is) => {
  list.hidden = !is;
  field.ariaExpanded = String(is);
};

const choose = (at) => {
  if (!matches.length) return;
  active = (at + matches.length) % matches.length;
  [...list.children].forEach((option, number) => (option.ariaSelected = String(number === active)));
  field.setAttribute("aria-activedescendant", `match-${active}`);
  point(matches[active]);
};

const take = (page) => {
  listed(false);
  view.find(null);
  view.to(page);
  pin(page);
  canvas.focus({ preventScroll: true });
};

field.addEventListener("input", search);
field.addEventListener("blur", () => listed(false));
field.addEventListener("keydown", (event) => {
  const keys = {
    ArrowDown: () => choose(active + 1),
    ArrowUp: () => choose(active - 1),
    Enter: () => matches.length && take(matches[Math.max(active, 0)]),
    Escape: () => {
      field.value = "";
      search();
      canvas.focus({ preventScroll: true });
    },
  };
  if (!keys[event.key] || event.isComposing) return;
  event.preventDefault();
  keys[event.key]();
});

// --- pointer and keys ---

let touch = false;
const over = (event) => view.near(event.offsetX, event.offsetY, touch ? 22 : 14);

canvas.addEventListener("pointerdown", (event) => (touch = event.pointerType === "touch"));
canvas.addEventListener("pointermove", (event) => {
  if (event.pointerType === "touch" || event.buttons) return;
  const page = over(event);
  if (page >= 0) pinned = -1;
  point(page >= 0 ? page : pinned);
});
canvas.addEventListener("pointerleave", () => point(pinned));
canvas.addEventListener("click", (event) => {
  const page = over(event);
  if (page < 0 || touch) pin(page);
  else open(page, event.ctrlKey || event.metaKey);
});
canvas.addEventListener("auxclick", (event) => {
  const page = over(event);
  if (event.button === 1 && page >= 0) open(page, true);
});

// By keyboard the page in the middle of the picture is the one that is meant.
const aim = () => pin(view.near(...view.middle, Math.max(view.width, view.height) / 3));
const panned = (right, down) => (event) => {
  const step = event.shiftKey ? 240 : 70;
  view.pan(right * step, down * step);
  aim();
};
const KEYS = {
  ArrowLeft: panned(-1, 0),
  ArrowRight: panned(1, 0),
  ArrowUp: panned(0, -1),
  ArrowDown: panned(0, 1),
  "+": () => (view.by(1.5), aim()),
  "=": () => (view.by(1.5), aim()),
  "-": () => (view.by(1 / 1.5), aim()),
  0: () => (pin(-1), view.fit()),
  Enter: (event) => pinned >= 0 && open(pinned, event.ctrlKey || event.metaKey),
  Escape: () => pin(-1),
};
canvas.addEventListener("keydown", (event) => {
  if (!KEYS[event.key] || event.altKey || ((event.ctrlKey || event.metaKey) && event.key !== "Enter")) return;
  event.preventDefault();
  KEYS[event.key](event);
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "f" || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
  event.preventDefault();
  field.focus();
});

// --- beginning ---

const show = (data) => {
  graph = read(data);
  view.show(graph);
  const orphans = graph.degree.reduce((sum, ties) => sum + (ties ? 0 : 1), 0);
  part("loose").closest("label").hidden = !orphans || orphans === graph.count;
  part("count").textContent = `${count(graph.count, "page")}, ${count(graph.a.length, "tie")}`;
  legend();
};

const fetched = async () => {
  const answer = await fetch(root.dataset.map, { credentials: "same-origin" });
  if (!answer.ok || answer.redirected) throw new Error(`The map was answered with ${answer.status}.`);
  tag = answer.headers.get("ETag");
  return answer.json();
};

// The index has changed since the map was made: a job is at it. The picture follows where it stands.
const awaitNewer = async (left) => {
  const answer = await fetch(root.dataset.map, { method: "HEAD", credentials: "same-origin" }).catch(() => null);
  if (answer?.ok && answer.headers.get("ETag") !== tag) {
    const data = await fetched();
    pin(-1);
    show(data);
    part("stale").hidden = true;
  } else if (left) setTimeout(awaitNewer, AGAIN, left - 1);
};

const begin = async () => {
  root.hidden = false;
  view = new View(canvas, root.dataset.worker, () => listed(false));
  const data = await fetched().catch(() => null);
  part("failed").hidden = data !== null;
  part("stage").hidden = data === null;
  if (!data) return;
  show(data);
  const wanted = graph.paths.indexOf(new URLSearchParams(location.search).get("at"));
  if (wanted >= 0) take(wanted);
  part("by").addEventListener("change", () => legend());
  part("loose").addEventListener("change", (event) => {
    loose = event.target.checked;
    dress();
  });
  part("closer").addEventListener("click", () => view.by(1.6));
  part("further").addEventListener("click", () => view.by(1 / 1.6));
  part("whole").addEventListener("click", () => (pin(-1), view.fit()));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", dress);
  if (part("stale")) setTimeout(awaitNewer, AGAIN, LOOKS);
};

begin();

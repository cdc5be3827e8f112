// The map's pages and ties as the server sends them, made ready to be drawn and asked.
const GROUPS = 10; // communities with a colour and an entry of their own; the smaller ones share the colours, paler

const ends = (flat) => {
  const a = new Uint32Array(flat.length / 2);
  const b = new Uint32Array(flat.length / 2);
  let before = 0;
  for (let tie = 0; tie < a.length; tie += 1) {
    before += flat[2 * tie];
    a[tie] = before;
    b[tie] = flat[2 * tie + 1];
  }
  return { a, b };
};

// Who is tied to whom: the others of page p are `others[from[p]]` … `others[from[p + 1] - 1]`.
const neighbours = (count, a, b) => {
  const from = new Uint32Array(count + 1);
  for (const at of a) from[at + 1] += 1;
  for (const at of b) from[at + 1] += 1;
  for (let at = 0; at < count; at += 1) from[at + 1] += from[at];
  const next = from.slice(0, count);
  const others = new Uint32Array(2 * a.length);
  for (let tie = 0; tie < a.length; tie += 1) {
    others[next[a[tie]]++] = b[tie];
    others[next[b[tie]]++] = a[tie];
  }
  return { from, others };
};

// Places as -1 … 1 of the longer side, with the middle in the middle.
const fitted = (xs, ys) => {
  const x = Float32Array.from(xs);
  const y = Float32Array.from(ys);
  const bounds = (all) => all.reduce(([low, high], one) => [Math.min(low, one), Math.max(high, one)], [Infinity, -Infinity]);
  const [left, right] = bounds(x);
  const [top, bottom] = bounds(y);
  const half = Math.max(right - left, bottom - top) / 2 || 1;
  for (let at = 0; at < x.length; at += 1) {
    x[at] = (x[at] - (left + right) / 2) / half;
    y[at] = (y[at] - (top + bottom) / 2) / half;
  }
  return { x, y, wide: (right - left) / 2 / half || 1, high: (bottom - top) / 2 / half || 1 };
};

const groupsByType = (data) =>
  data.types.map((type, at) => ({ name: type || "no type", color: type ? `type-${type}` : "rest", pages: [], at }));

const groupsByCommunity = (data, byTies) => {
  const best = new Map();
  for (const page of byTies) {
    const community = data.community[page];
    if (community >= 0 && community < GROUPS && !best.has(community)) best.set(community, data.titles[page]);
  }
  const named = [...best].sort(([one], [other]) => one - other);
  const groups = named.map(([, name], at) => ({ name, color: `group-${at}`, pages: [] }));
  return { groups, at: new Map(named.map(([community], at) => [community, at])) };
};

export const read = (data) => {
  const count = data.titles.length;
  const { a, b } = ends(data.ties);
  const near = neighbours(count, a, b);
  const degree = Uint32Array.from({ length: count }, (_, page) => near.from[page + 1] - near.from[page]);
  const pages = Array.from({ length: count }, (_, page) => page);
  const byTies = Uint32Array.from(pages.sort((one, other) => degree[other] - degree[one] || one - other));
  const mean = Math.max(1, (2 * a.length) / (count || 1));
  const weight = Float32Array.from(degree, (ties) => Math.min(5, 0.75 + 0.6 * Math.sqrt(ties / mean)));

  const group = (by) => {
    const of = new Int32Array(count);
    let groups;
    if (by === "type") {
      groups = groupsByType(data);
      of.set(data.type);
    } else {
      const found = groupsByCommunity(data, byTies);
      groups = found.groups;
      const small = { name: "smaller ones", color: "small", pages: [] };
      const loose = { name: "without ties", color: "rest", pages: [] };
      groups.push(small, loose);
      for (let page = 0; page < count; page += 1) {
        const community = data.community[page];
        of[page] = community < 0 ? groups.length - 1 : (found.at.get(community) ?? groups.length - 2);
      }
    }
    for (let page = 0; page < count; page += 1) groups[of[page]].pages.push(page);
    return { of, groups, pale: (page) => (groups[of[page]].color === "small" ? `pale-${data.community[page] % GROUPS}` : null) };
  };

  return {
    ...fitted(data.x, data.y),
    count,
    titles: data.titles,
    paths: data.paths,
    type: (page) => data.types[data.type[page]],
    degree,
    weight,
    a,
    b,
    byTies,
    group,
    others: (page) => near.others.subarray(near.from[page], near.from[page + 1]),
  };
};

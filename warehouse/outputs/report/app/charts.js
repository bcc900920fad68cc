"use strict";
// Charts, drawn by Observable Plot as SVG in the colours of the page. Every mark with a meaning takes the focus, and shows the
// same text to users of a mouse, a finger, a keyboard and a screen reader.
const COLOURS = ["var(--one)", "var(--two)", "var(--three)", "var(--four)"];
const widthOf = () => Math.min(1100, Math.max(320, document.getElementById("main").clientWidth));
const style = { background: "none", color: "var(--soft)", fontSize: "12px", fontFamily: "inherit", overflow: "visible" };

/** A figure with its legend, its tip and its downloads: SVG, PNG and the figures as CSV. */
const figure = (name, title, plot, legend, table, reading = null) => {
  const tip = h("div", { class: "tip", hidden: true, role: "status" });
  const box = h("div", { class: "plot" }, plot, tip);
  const svg = plot.matches?.("svg") ? plot : plot.querySelector("svg");
  svg.setAttribute("role", "group");
  svg.setAttribute("aria-label", title);
  // Plot labels its groups for programmers. A label such as "line" says nothing to users of a screen reader.
  for (const one of svg.querySelectorAll("g[aria-label]")) { one.dataset.mark = one.getAttribute("aria-label"); one.removeAttribute("aria-label"); }
  const dots = [...svg.querySelectorAll(":is(circle, rect)[aria-label]:not([role])")];
  dots.forEach((dot, n) => dot.setAttribute("tabindex", n ? -1 : 0));
  const show = (dot) => {
    tip.textContent = dot.getAttribute("aria-label");
    tip.hidden = false;
    const [at, all] = [dot.getBoundingClientRect(), box.getBoundingClientRect()];
    tip.style.left = `${Math.max(0, Math.min(at.left - all.left + 10, all.width - tip.offsetWidth))}px`;
    tip.style.top = `${at.top - all.top - tip.offsetHeight - 8}px`;
  };
  const hide = () => { tip.hidden = true; };
  for (const dot of dots) {
    dot.setAttribute("role", dot.dataset.place ? "link" : "img");
    dot.addEventListener("pointerenter", () => show(dot));
    dot.addEventListener("pointerleave", hide);
    dot.addEventListener("focus", () => show(dot));
    dot.addEventListener("blur", hide);
    dot.addEventListener("click", (event) => {
      if (event.pointerType === "mouse" && dot.dataset.place) location.hash = dot.dataset.place; else { dot.focus(); show(dot); }
    });
    dot.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (event.key === "Enter" && dot.dataset.place) location.hash = dot.dataset.place;
      if (event.key === "Escape") hide();
      if (!step) return;
      event.preventDefault();
      const next = dots[(dots.indexOf(dot) + step + dots.length) % dots.length];
      dots.forEach((one) => one.setAttribute("tabindex", one === next ? 0 : -1));
      next.focus();
    });
  }
  return h("figure", null, h("figcaption", null, title), legend ? h("div", { class: "legend" }, legend) : null, box, reading,
    h("div", { class: "tools" },
      h("button", { type: "button", onclick: () => download(`${name}.csv`, "text/csv", csv(table())) }, "CSV"),
      h("button", { type: "button", onclick: () => download(`${name}.svg`, "image/svg+xml", standing(svg)) }, "SVG"),
      h("button", { type: "button", onclick: () => picture(svg, name) }, "PNG")));
};
const mark = (colour, text) => h("span", null, h("i", { style: `color:${colour}` }), text);

/** The picture as a file of its own. Its colours are written into it, as the file does not have the page's style. */
const standing = (svg) => {
  const copy = svg.cloneNode(true);
  const [from, to] = [[svg, ...svg.querySelectorAll("*")], [copy, ...copy.querySelectorAll("*")]];
  from.forEach((one, n) => {
    const is = getComputedStyle(one);
    for (const name of ["fill", "stroke", "color"]) if (/var\(|currentColor/.test(one.getAttribute(name) || "") || one === svg) to[n].setAttribute(name, name === "color" || one !== svg ? is[name] : "none");
    to[n].removeAttribute("tabindex");
  });
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("font-family", getComputedStyle(document.body).fontFamily);
  copy.setAttribute("style", `background:${getComputedStyle(document.body).backgroundColor}`);
  return new XMLSerializer().serializeToString(copy);
};
const picture = (svg, name) => {
  const [width, height] = [svg.clientWidth || svg.width.baseVal.value, svg.clientHeight || svg.height.baseVal.value];
  const image = new Image();
  image.onload = () => {
    const canvas = Object.assign(document.createElement("canvas"), { width: width * 2, height: height * 2 });
    const pen = canvas.getContext("2d");
    pen.scale(2, 2);
    pen.fillStyle = getComputedStyle(document.body).backgroundColor;
    pen.fillRect(0, 0, width, height);
    pen.drawImage(image, 0, 0, width, height);
    canvas.toBlob((blob) => download(`${name}.png`, "image/png", blob));
  };
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(standing(svg))}`;
};

/** Places labels beside their dots, never over a dot, a line or another label. A dot without room for a label has only its tip. */
const labelled = (svg, points, lines, edge) => {
  const occupied = points.map(({ x, y }) => [x - 6, y - 6, x + 6, y + 6]);
  for (const [x1, y1, x2, y2] of lines) occupied.push([Math.min(x1, x2) - 2, Math.min(y1, y2) - 2, Math.max(x1, x2) + 2, Math.max(y1, y2) + 2]);
  for (const point of [...points].sort((a, b) => b.front - a.front || a.x - b.x)) {
    const width = [...point.label].length * 6.6;
    for (const [dx, dy, anchor] of [[-9, -5, "end"], [9, 13, "start"], [9, -5, "start"], [-9, 13, "end"], [0, -10, "middle"], [0, 20, "middle"]]) {
      const left = point.x + dx - (anchor === "end" ? width : anchor === "middle" ? width / 2 : 0);
      const box = [left, point.y + dy - 11, left + width, point.y + dy + 3];
      const inside = box[0] >= edge[0] && box[1] >= edge[1] && box[2] <= edge[2] && box[3] <= edge[3];
      if (!inside || occupied.some((one) => box[0] < one[2] && one[0] < box[2] && box[1] < one[3] && one[1] < box[3])) continue;
      occupied.push(box);
      const text = document.createElementNS("http://www.w3.org/2000/svg", "text");
      for (const [key, one] of Object.entries({ x: point.x + dx, y: point.y + dy, "text-anchor": anchor, class: "label", fill: "var(--ink)", "font-size": 11 })) text.setAttribute(key, one);
      text.textContent = point.label;
      svg.append(text);
      break;
    }
  }
};

/** Score against price, with the Pareto front: { gpu_id, price_usd, score, is_front }, and `name` if it is not the card's. */
const scatter = (name, title, unit, list, paid = _("price")) => {
  const rate = rates().get(currency());
  const points = list.map((row) => ({ ...row, price: row.price_usd / rate, name: row.name ?? cards().get(row.gpu_id).gpu, label: short_name(row.name ?? cards().get(row.gpu_id).gpu) }));
  const front = points.filter((row) => row.is_front).sort((a, b) => a.price - b.price);
  const wide = Math.max(...points.map((row) => row.price)) / Math.min(...points.map((row) => row.price)) > 12;
  const tip_text = (row) => `${row.name}\n${money(row.price_usd)} · ${short(row.score)} ${unit}${row.is_front ? `\n${_("nobody else is at least as fast for no more money")}` : ""}`;
  const plot = Plot.plot({
    width: widthOf(), height: Math.min(420, Math.max(300, widthOf() * 0.55)), marginLeft: 52, marginBottom: 40, marginTop: 24, marginRight: 40, style,
    x: { label: `${paid}, ${currency()} →`, type: wide ? "log" : "linear", grid: true, nice: true, zero: !wide, ticks: Math.round(widthOf() / (Math.max(...points.map((row) => row.price)) > 1e5 ? 170 : 110)), tickFormat: (tick) => number(tick, 0) },
    y: { label: `↑ ${unit}`, grid: true, nice: true, zero: true, tickFormat: (tick) => number(tick, 3) },
    marks: [
      front.length > 1 ? Plot.line(front, { x: "price", y: "score", curve: "step-after", stroke: "var(--accent)", strokeWidth: 1.5 }) : null,
      Plot.dot(points, { x: "price", y: "score", r: 5, sort: null, fill: (row) => (row.is_front ? "var(--accent)" : "var(--paper)"), stroke: (row) => (row.is_front ? "var(--accent)" : "var(--soft)"), strokeWidth: 1.5, ariaLabel: tip_text }),
    ],
  });
  const [x, y] = [plot.scale("x"), plot.scale("y")];
  const placed = points.map((row) => ({ x: x.apply(row.price), y: y.apply(row.score), label: row.label, front: row.is_front ? 1 : 0 }));
  const steps = front.slice(1).flatMap((row, n) => {
    const [ax, ay, bx, by] = [x.apply(front[n].price), y.apply(front[n].score), x.apply(row.price), y.apply(row.score)];
    return [[ax, ay, bx, ay], [bx, ay, bx, by]];
  });
  plot.querySelectorAll("circle").forEach((dot, n) => { if (cards().has(points[n].gpu_id)) dot.dataset.place = address(["card", points[n].gpu_id]); dot.dataset.front = points[n].is_front; });
  labelled(plot.matches("svg") ? plot : plot.querySelector("svg"), placed, steps, [x.range[0], 4, x.range[1] + 20, y.range[0]]);
  return figure(name, title, plot, [mark("var(--accent)", _("Pareto front: nobody else is at least as fast for no more money"))],
    () => [["gpu", `price_${currency().toLowerCase()}`, `score_${unit}`, "on_front"], ...points.map((row) => [row.name, row.price.toFixed(2), row.score, row.is_front])]);
};

/** What owning and renting cost a month by the hours of use: two straight lines, and where they cross. All from the question's row. */
const rent_lines = (name, title, [rental, idle, owned, rented, below], own) => {
  const rate = rates().get(currency());
  const all = 24 * 365 / 12;
  const cross = below !== null && below > 0 && below < all ? below : null;
  // Where they cross stands in the first third, also where that is after a few hours.
  const shown = cross === null ? all : Math.min(all, 4 * cross);
  const at = (from, to, hours) => (from + (to - from) * (hours / all)) / rate;
  const line = (what, colour, from, to) => ({ what, colour, ends: [[0, at(from, to, 0)], [shown, at(from, to, shown)]] });
  const lines = [line(own, "var(--accent)", idle, owned), line(rental, "var(--amber)", 0, rented)];
  const plot = Plot.plot({
    width: widthOf(), height: Math.min(320, Math.max(240, widthOf() * 0.4)), marginLeft: 64, marginBottom: 40, marginTop: 24, marginRight: 24, style,
    x: { label: `${_("hours of use a month")} →`, grid: true, tickFormat: (tick) => number(tick, 0) },
    y: { label: `↑ ${currency()} ${_("a month")}`, grid: true, nice: true, zero: true, tickFormat: (tick) => number(tick, 0) },
    marks: [
      lines.map((one) => Plot.line(one.ends, { stroke: one.colour, strokeWidth: 2 })),
      // A dot at each quarter says what is paid there.
      lines.map(({ what, colour, ends: [from, to] }) => Plot.dot([0, 0.25, 0.5, 0.75, 1].map((part) => [part * shown, from[1] + part * (to[1] - from[1])]),
        { r: 3, fill: colour, ariaLabel: ([hours, paid]) => `${what}\n${_("{hours} h: {price} a month", { hours: number(hours, 0), price: money(paid * rate) })}` })),
      cross === null ? null : Plot.dot([[cross, at(0, rented, cross)]], { r: 5, fill: "var(--accent)", ariaLabel: () => _("{hours} hours a month cost the same", { hours: number(cross, 0) }) }),
    ],
  });
  return figure(name, title, plot, lines.map((one) => mark(one.colour, one.what)),
    () => [["what", "hours_a_month", `a_month_${currency().toLowerCase()}`], ...lines.flatMap((one) => one.ends.map(([hours, paid]) => [one.what, hours, paid.toFixed(2)]))]);
};

/** The days of a card's history: { date, low, median, high } in dollars; they are null if no price is known from that day on. */
const history_of = (gpu_id) => {
  const packed = DATA.history[gpu_id];
  if (!packed) return [];
  let [time, low, median, high] = [Date.parse(packed.start), 0, 0, 0];
  return packed.days.map((days, n) => {
    time += days * 864e5;
    if (packed.low[n] === null) return { date: new Date(time), low: null, median: null, high: null };
    low += packed.low[n]; median += packed.median[n]; high += packed.high[n];
    return { date: new Date(time), low: low / 100, median: Math.min(Math.max(median, low / 100), high), high };
  });
};

/** The prices of one card with their range, or the lowest prices of several cards. A slider shows them day by day. */
const prices_over_time = (name, title, gpu_ids, { msrp = null, since = null } = {}) => {
  const rate = rates().get(currency());
  const series = gpu_ids.map((gpu_id, n) => ({ gpu_id, colour: COLOURS[n], days: history_of(gpu_id).filter((one) => !since || one.date >= since) })).filter((one) => one.days.length > 1);
  if (!series.length) return null;
  // A step lasts until the day from which no price is known any more.
  for (const one of series) one.steps = one.days.flatMap((now, n) => (now.low === null && n ? [{ ...one.days[n - 1], date: now.date }, now] : [now]));
  const alone = series.length === 1 && gpu_ids.length === 1;
  const days_all = Math.max(...series.map((one) => (one.days.at(-1).date - one.days[0].date) / 864e5));
  const scaled = (one) => (one === null ? NaN : one / rate);
  const suspects = alone ? new Set(DATA.history[gpu_ids[0]].suspect) : new Set();
  const marked = alone ? series[0].days.filter((one) => one.low !== null && suspects.has(one.date.toISOString().slice(0, 10))) : [];
  const plot = Plot.plot({
    width: widthOf(), height: Math.min(360, Math.max(260, widthOf() * 0.4)), marginLeft: 64, marginRight: 32, marginTop: 20, style,
    x: { type: "utc", label: null, tickFormat: (tick) => new Intl.DateTimeFormat(language(), { ...(days_all < 120 ? { day: "numeric" } : { year: "numeric" }), month: "short", timeZone: "UTC" }).format(tick), ticks: Math.max(2, Math.min(days_all, Math.round(widthOf() / 110))) },
    y: { label: `↑ ${currency()}`, grid: true, nice: true, tickFormat: (tick) => number(tick, 0) },
    marks: [
      alone ? Plot.areaY(series[0].steps, { x: "date", y1: (one) => scaled(one.low), y2: (one) => scaled(one.high), curve: "step-after", fill: "var(--bar)", fillOpacity: 0.55 }) : null,
      alone ? Plot.line(series[0].steps, { x: "date", y: (one) => scaled(one.median), curve: "step-after", stroke: "var(--soft)", strokeWidth: 1 }) : null,
      series.map((one) => Plot.line(one.steps, { x: "date", y: (day) => scaled(day.low), curve: "step-after", stroke: one.colour, strokeWidth: 1.8 })),
      msrp ? Plot.ruleY([msrp / rate], { stroke: "var(--amber)", strokeDasharray: "5 4", strokeWidth: 1.4 }) : null,
      marked.length ? Plot.dot(marked, { x: "date", y: (one) => scaled(one.low), r: 4, symbol: "times", stroke: "var(--red)", strokeWidth: 1.6, ariaLabel: (one) => `${day(one.date)}: ${money(one.low)}, ${_("suspect")}` }) : null,
    ],
  });
  const svg = plot.matches("svg") ? plot : plot.querySelector("svg");
  const [x, y] = [plot.scale("x"), plot.scale("y")];
  const all = [...new Set(series.flatMap((one) => one.days.map((day) => +day.date)))].sort((a, b) => a - b);
  const reading = h("p", { class: "reading", "aria-live": "polite" });
  const rule = Plot.plot({ marks: [] }).ownerDocument.createElementNS("http://www.w3.org/2000/svg", "line");
  for (const [key, one] of Object.entries({ y1: y.range[1], y2: y.range[0], stroke: "var(--ink)", "stroke-width": 1, visibility: "hidden" })) rule.setAttribute(key, one);
  svg.append(rule);
  const known = (one, time) => one.days.findLast((day) => +day.date <= time);
  const put = (time, drawn = true) => {
    const readings = series.map((one) => {
      const known_day = known(one, time);
      const name = series.length > 1 ? `${short_name(cards().get(one.gpu_id).gpu)}: ` : "";
      if (!known_day || known_day.low === null) return name + _("no price");
      return name + (alone ? _("lowest {low}, middle {median}, highest {high}", { low: money(known_day.low), median: money(known_day.median), high: money(known_day.high) }) : money(known_day.low));
    });
    reading.textContent = `${day(time)} · ${readings.join(" · ")}`;
    slider.setAttribute("aria-valuenow", Math.round(time / 864e5));
    slider.setAttribute("aria-valuetext", reading.textContent);
    if (drawn) { rule.setAttribute("visibility", "visible"); rule.setAttribute("x1", x.apply(time)); rule.setAttribute("x2", x.apply(time)); }
  };
  const slider = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [key, one] of Object.entries({ x: x.range[0], y: y.range[1], width: x.range[1] - x.range[0], height: y.range[0] - y.range[1], fill: "transparent", tabindex: 0, role: "slider", "aria-label": _("Day"), "aria-valuemin": Math.round(all[0] / 864e5), "aria-valuemax": Math.round(all.at(-1) / 864e5) })) slider.setAttribute(key, one);
  const last = all.at(-1) - 864e5;
  let at = last;
  const pointed = (event) => {
    const box = slider.getBoundingClientRect();
    at = Math.min(last, Math.max(all[0], all[0] + ((event.clientX - box.left) / box.width) * (all.at(-1) - all[0])));
    at = Math.floor(at / 864e5) * 864e5;
    put(at);
  };
  slider.addEventListener("pointermove", pointed);
  slider.addEventListener("pointerdown", pointed);
  slider.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowDown: -1, ArrowUp: 1, PageDown: -30, PageUp: 30, Home: -1e6, End: 1e6 }[event.key];
    if (!step) return;
    event.preventDefault();
    at = Math.min(last, Math.max(all[0], at + step * 864e5));
    put(at);
  });
  const dots = svg.querySelector("g[aria-label='dot']");
  if (dots) svg.insertBefore(slider, dots); else svg.append(slider);
  put(last, false);
  const legend = alone
    ? [mark("var(--one)", _("lowest price")), mark("var(--soft)", _("middle of all offers")), mark("var(--bar)", _("from lowest to highest")), msrp ? mark("var(--amber)", `${_("launch price")} ${money(msrp)}`) : null, marked.length ? mark("var(--red)", _("× suspect: counts in no lowest price")) : null]
    : series.map((one) => mark(one.colour, short_name(cards().get(one.gpu_id).gpu)));
  return figure(name, currency() === "USD" ? title : `${title} · ${rate_words()}`, plot, legend,
    () => [["gpu", "from_day", ...["low", "median", "high"].map((one) => `${one}_${currency().toLowerCase()}`)], ...series.flatMap((one) => one.days.map((day) => [cards().get(one.gpu_id).gpu, day.date.toISOString().slice(0, 10), ...["low", "median", "high"].map((key) => (day[key] === null ? "" : (day[key] / rate).toFixed(2)))]))], reading);
};

/** The course of a price over the last year as a small line. */
const sparkline = (gpu_id) => {
  const all = history_of(gpu_id);
  const days = all.filter((one) => one.date >= new Date(Date.parse(DATA.run.as_of) - 365 * 864e5));
  if (days.filter((one) => one.low !== null).length < 3) return null;
  const lows = days.filter((one) => one.low !== null).map((one) => one.low);
  const [least, most, from, to] = [Math.min(...lows), Math.max(...lows), +days[0].date, +days.at(-1).date];
  const x = (one) => (((one - from) / (to - from || 1)) * 98 + 1).toFixed(1);
  const y = (one) => (most > least ? 22 - ((one - least) / (most - least)) * 18 : 13).toFixed(1);
  let [line, pen] = ["", false];
  for (const one of days) {
    if (one.low === null) { if (pen) line += `H${x(+one.date)}`; pen = false; continue; }
    line += pen ? `H${x(+one.date)}V${y(one.low)}` : `M${x(+one.date)} ${y(one.low)}`;
    pen = true;
  }
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  for (const [key, one] of Object.entries({ viewBox: "0 0 100 26", width: 100, height: 26, class: "spark", role: "img", "aria-label": _("lowest price over a year: from {low} to {high}", { low: money(least), high: money(most) }) })) svg.setAttribute(key, one);
  const drawn = document.createElementNS("http://www.w3.org/2000/svg", "path");
  for (const [key, one] of Object.entries({ d: line, fill: "none", stroke: "var(--one)", "stroke-width": 1.5 })) drawn.setAttribute(key, one);
  svg.append(drawn);
  return svg;
};

/** Figures beside each other, as bars: { group, key, value, text }. `names` says of each key what it is. */
const bars = (name, title, list, names) => {
  const keys = [...names.keys()];
  const groups = [...new Set(list.map((row) => row.group))];
  const plot = Plot.plot({
    width: widthOf(), marginLeft: 8, marginRight: 110, marginTop: 22, style, axis: null, height: groups.length * (keys.length * 16 + 34) + 40,
    x: { zero: true, nice: true }, y: { domain: keys }, fy: { domain: groups, padding: 0.28 }, color: { domain: keys, range: COLOURS },
    marks: [
      Plot.barX(list, { x: "value", y: "key", fy: "group", fill: "key", insetTop: 1, insetBottom: 1, ariaLabel: (row) => [row.group, names.get(row.key), row.text].filter(Boolean).join("\n") }),
      Plot.text(list, { x: (row) => Math.max(0, row.value), y: "key", fy: "group", text: "text", textAnchor: "start", dx: 5, fill: "var(--ink)" }),
      Plot.text(list, Plot.selectFirst({ z: "group", fy: "group", frameAnchor: "top-left", dy: -15, text: "group", lineWidth: (widthOf() - 16) / 15, textOverflow: "ellipsis", fill: "var(--ink)", textAnchor: "start", fontWeight: 600 })),
    ],
  });
  return figure(name, title, plot, keys.length > 1 ? keys.map((key, n) => mark(COLOURS[n], names.get(key))) : null, () => [["group", "what", "value"], ...list.map((row) => [row.group, names.get(row.key), row.value])]);
};

"use strict";
/**
 * A table that sorts, filters and searches. Its choices are parameters in the address, under its name.
 * A column: { key, head, value(row) to sort and to write, cell(row) to show, kind: "r" | "wide" | "tight" | "spare" (not on a
 * narrow screen; also "wide spare") | "wide message" (the text of an error), filter: true }. A column is left out if no row has
 * a value in it. With `picture` it is not written to files.
 */
const grid = (name, list, all, { sort = null, most = 50, search = true, first = null, mark = null } = {}) => {
  const key = (what) => `${name}.${what}`;
  const valueOf = (column, row) => (column.value ? column.value(row) : row[column.key]);
  const has = (column) => list.some((row) => ![null, undefined, ""].includes(valueOf(column, row)));
  const columns = all.filter((column, n) => n === (first ?? 0) || has(column));
  const head = all[first ?? 0];
  const body = h("tbody");
  const count = h("span", { class: "count", "aria-live": "polite" });
  const heads = columns.map((column) =>
    h("th", { scope: "col", class: (column.kind ?? "").split(" ").filter((one) => ["r", "spare"].includes(one)).join(" ") || null },
      h("button", { type: "button", class: "sorter", onclick: () => turn(column) }, column.head, " ", h("span", { class: "mark", "aria-hidden": "true" }))));
  const sorting = () => parameters.get(key("sort")) ?? sort ?? "";
  const turn = (column) => {
    const is = sorting();
    const next = is === column.key ? `-${column.key}` : is === `-${column.key}` ? column.key : column.kind === "r" ? `-${column.key}` : column.key;
    ask({ [key("sort")]: next }, true);
    draw();
  };
  const seen = () => {
    const words = (parameters.get(key("q")) || "").toLowerCase().split(/\s+/).filter(Boolean);
    let matching = list.filter((row) => {
      const text = columns.map((column) => valueOf(column, row) ?? "").join(" ").toLowerCase();
      return words.every((one) => text.includes(one));
    });
    for (const column of columns.filter((one) => one.filter)) {
      const choice = parameters.get(key(column.key));
      if (choice) matching = matching.filter((row) => String(valueOf(column, row) ?? "") === choice);
    }
    const by = sorting().replace(/^-/, "");
    const column = columns.find((one) => one.key === by);
    if (column) {
      const sign = sorting().startsWith("-") ? -1 : 1;
      matching = [...matching].sort((a, b) => {
        const [x, y] = [valueOf(column, a), valueOf(column, b)];
        const [no_x, no_y] = [x === null || x === undefined || x === "", y === null || y === undefined || y === ""];
        if (no_x || no_y) return no_x - no_y;
        return sign * (typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y), language(), { numeric: true }));
      });
    }
    return matching;
  };
  const more = h("button", { type: "button", onclick: () => { ask({ [key("all")]: "1" }, true); draw(); } });
  const draw = () => {
    const matching = seen();
    const visible = parameters.get(key("all")) ? matching : matching.slice(0, most);
    body.replaceChildren(...visible.map((row) =>
      h("tr", { class: mark && mark(row) ? "front" : null }, columns.map((column) => {
        const cell = column.cell ? column.cell(row) : valueOf(column, row);
        const inside = cell instanceof Node || Array.isArray(cell) ? cell : cell === null || cell === undefined ? null : String(cell);
        return column === head ? h("th", { scope: "row" }, inside) : h("td", { class: column.kind || null }, inside);
      }))));
    const by = sorting();
    columns.forEach((column, n) => {
      const way = by === column.key ? "ascending" : by === `-${column.key}` ? "descending" : null;
      if (way) heads[n].setAttribute("aria-sort", way); else heads[n].removeAttribute("aria-sort");
      heads[n].querySelector(".mark").textContent = way === "ascending" ? "▲" : way === "descending" ? "▼" : "";
    });
    count.textContent = matching.length === list.length ? _("{count} rows", { count: number(list.length) })
      : _("{count} of {all} rows", { count: number(matching.length), all: number(list.length) });
    more.hidden = visible.length === matching.length;
    more.textContent = _("Show all {count}", { count: number(matching.length) });
  };
  const written = columns.filter((column) => !column.picture);
  const save = () => download(`${name}.csv`, "text/csv", csv([written.map((column) => column.head), ...seen().map((row) => written.map((column) => valueOf(column, row)))]));
  const filters = columns.filter((column) => column.filter).map((column) => {
    const values = [...new Set(list.map((row) => valueOf(column, row)).filter((one) => one !== null && one !== undefined && one !== ""))].map(String).sort();
    if (values.length < 2) return null;
    const chosen = parameters.get(key(column.key)) || "";
    return h("label", null, column.head, " ",
      h("select", { onchange: (event) => { ask({ [key(column.key)]: event.target.value }, true); draw(); } },
        option("", _("all"), chosen), values.map((one) => option(one, column.words ? column.words(one) : one, chosen))));
  });
  draw();
  return h("div", { class: "grid" },
    h("div", { class: "tools" },
      search && list.length > 8 ? h("input", {
        type: "search", placeholder: _("Search"), "aria-label": _("Search in this table"), value: parameters.get(key("q")) || "",
        oninput: (event) => { ask({ [key("q")]: event.target.value }, true); draw(); } }) : null,
      filters, count, h("button", { type: "button", onclick: save }, "CSV")),
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `${_("Table")}: ${columns.slice(0, 4).map((column) => column.head).join(", ")}` },
      h("table", { class: list.length > 25 ? "long-table" : null }, h("thead", null, h("tr", null, heads)), body)),
    more);
};

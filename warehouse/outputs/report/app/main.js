"use strict";
const PAGES = [
  ["", () => _("What to buy"), home_page], ["cards", () => _("Cards"), cards_page], ["workloads", () => _("Workloads"), workloads_page],
  ["models", () => _("Models"), models_page], ["compare", () => _("Compare"), compare_page], ["rent", () => _("Renting"), rent_page],
  ["changes", () => _("Changes"), changes_page], ["sources", () => _("Sources"), sources_page], ["claims", () => _("Claims"), claims_page],
  ["dictionary", () => _("Dictionary"), dictionary_page],
];
// Pages that few readers ask for: links at the foot lead to them.
const AT_THE_FOOT = ["models", "claims", "dictionary"];
const ONE = { card: [card_page, "cards"], workload: [workload_page, "workloads"], model: [model_page, "models"] };

const health = () => {
  const old = sources().filter((row) => row.is_old);
  const few = sources().filter((row) => row.status === "degraded");
  const freshness = old.length ? _("{count} of {all} sources are stale", { count: number(old.length), all: number(sources().length) }) : _("All {all} sources are fresh", { all: number(sources().length) });
  return h("p", { class: "health" }, _("prices as of {time}", { time: minute(DATA.run.as_of) }), " · ", h("a", { href: address(["sources"]) }, freshness),
    few.length ? h("span", { class: "bad" }, " · ", _("Far fewer rows than usual came from {names}", { names: few.map((row) => title(row.source)).join(", ") })) : null,
    currency() === "USD" ? null : ` · ${rate_words()}`,
    DATA.run.is_sample ? h("span", null, " · ", _("sample: its prices are invented")) : null);
};
const head = () => {
  const at = ONE[path[0]]?.[1] ?? path[0] ?? "";
  const set = (name) => (event) => ask({ [name]: event.target.value });
  return [
    h("div", { class: "bar" }, h("a", { class: "brand", href: address([]), translate: "no" }, "gpuledger"),
      h("div", { class: "switches" },
        markets().length > 1 && !kept_asked() ? h("label", null, _("Market"), h("select", { name: "market", onchange: set("market") }, markets().map((row) => option(row.market, row.market === "all" ? _("all markets, net of tax") : row.market, market())))) : null,
        h("label", null, _("Currency"), h("select", { name: "cur", onchange: set("cur") }, [...rates().keys()].map((code) => option(code, code, currency())))),
        h("label", null, _("Language"), h("select", { name: "lang", onchange: set("lang") }, WORDS.languages.map((code) => option(code, new Intl.DisplayNames([code], { type: "language" }).of(code), language())))),
        h("label", null, _("Colours"), h("select", { name: "theme", onchange: set("theme") }, [["", _("as the system")], ["light", _("light")], ["dark", _("dark")]].map(([key, text]) => option(key, text, parameters.get("theme") || "")))))),
    h("nav", { "aria-label": _("Pages") }, PAGES.filter(([name]) => !AT_THE_FOOT.includes(name)).map(([name, text]) => h("a", { href: address(name ? [name] : []), "aria-current": name === at ? "page" : null }, text()))),
    health(),
  ];
};
const foot = () => [h("p", null, PAGES.filter(([name]) => AT_THE_FOOT.includes(name)).map(([name, text]) => [page(text(), [name]), " · "]), _("Every figure leads to the page that it was read from: ※ opens it. This page asks nothing of anybody: all that it shows is in it."), " ",
  h("button", { type: "button", class: "only-screen", onclick: () => print() }, _("Print")))];

let drawn = null;
const draw = () => {
  readAddress();
  document.documentElement.lang = language();
  const theme = parameters.get("theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme; else delete document.documentElement.dataset.theme;
  document.body.classList.toggle("embedded", parameters.get("embed") === "1");
  const main = document.getElementById("main");
  const focused = document.activeElement?.name;
  const make = ONE[path[0]] ? () => ONE[path[0]][0](path[1]) : (PAGES.find(([name]) => name === (path[0] ?? "")) || [null, null, missing])[2];
  document.getElementById("top").replaceChildren(...head());
  main.replaceChildren(h("div", null, make()));
  const skip = document.getElementById("skip");
  skip.textContent = _("To the contents");
  skip.onclick = (event) => { event.preventDefault(); main.focus(); };
  document.getElementById("foot").replaceChildren(...foot());
  document.title = `${main.querySelector("h1")?.textContent ?? ""} · gpuledger`;
  const place = path.join("/");
  if (drawn !== null && drawn !== place) { scrollTo(0, 0); main.querySelector("h1")?.focus(); }
  else if (focused) document.getElementsByName(focused)[0]?.focus();
  drawn = place;
};
addEventListener("hashchange", draw);
let waiting = 0;
let width = innerWidth;
addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; clearTimeout(waiting); waiting = setTimeout(draw, 150); } });
draw();

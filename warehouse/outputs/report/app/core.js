"use strict";
// What all pages share: the data, the address, texts, numbers and elements. Nothing here writes HTML from text: the text of a
// shop becomes a text node, so people can read it and it cannot run.
const read = (id) => JSON.parse(document.getElementById(id).textContent);
const DATA = read("contents");
const WORDS = read("words");

/** The rows of a table, as objects. */
const rows = (name) => {
  const { columns, rows: list } = DATA[name];
  return list.map((row) => Object.fromEntries(columns.map((column, n) => [column, row[n]])));
};
/** Rows by one of their columns. */
const group = (list, key) => {
  const groups = new Map();
  for (const row of list) {
    const name = typeof key === "function" ? key(row) : row[key];
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(row);
  }
  return groups;
};
/** A value that is computed once, when it is first needed. */
const once = (make) => { let made; return () => (made ??= { value: make() }).value; };

const cards = once(() => new Map(rows("cards").map((row) => [row.gpu_id, row])));
const prices = once(() => new Map(rows("prices").map((row) => [`${row.market} ${row.gpu_id}`, row])));
/** The workloads, in the language that is in use when they are read. */
const workloads = once(() => new Map(rows("workloads").map((row) => [row.workload_id, { ...row, get workload() { return _(row.workload); }, get description() { return row.description && _(row.description); } }])));
const models = once(() => new Map(rows("models").map((row) => [row.model_id, row])));
const scores = once(() => new Map(rows("scores").map((row) => [`${row.workload_id} ${row.gpu_id}`, row])));
const sellers = once(() => rows("sellers"));
const numbered = once(() => rows("questions").map((row, number) => ({ ...row, number })));
const questions = once(() => group(numbered().filter((row) => row.name === null), "model_id"));
/** The questions that a person keeps, by their names, each with its `answer` if it has one. */
const kept = once(() => new Map(rows("kept").map((row) => [row.name, { ...row, answer: numbered().find((one) => one.name === row.name) }])));
/** The kept question that the address asks; without a question in it, the first one. */
const kept_asked = () => {
  if (path.length) return undefined;
  const asked = parameters.get("for");
  return asked ? (asked.startsWith("k:") ? kept().get(asked.slice(2)) : undefined) : [...kept().values()][0];
};
const ways = once(() => group(rows("ways"), "question"));
/** The picks of a question, by the least speed and the budget from which they hold. */
const steps = once(() => group(rows("steps"), "question"));
const value = once(() => group(rows("value"), (row) => `${row.market} ${row.workload_id} ${row.price_basis}`));
const sources = once(() => rows("sources"));
const markets = once(() => rows("markets"));
const stale = once(() => new Set(sources().filter((row) => row.is_old).map((row) => row.source)));

// The address holds the whole view: #/card/nvidia-geforce-rtx-4090?market=kr&lang=ko
let path = [];
let parameters = new URLSearchParams();
const KEPT = ["lang", "cur", "market", "theme", "embed"];
const readAddress = () => {
  const [place, query] = location.hash.replace(/^#\/?/, "").split("?");
  path = place.split("/").filter(Boolean).map(decodeURIComponent);
  parameters = new URLSearchParams(query || "");
};
/** The address of another page with the same switches, and with the parameters `more`. */
const address = (place, more = {}) => {
  const query = new URLSearchParams();
  for (const name of KEPT) if (parameters.has(name)) query.set(name, parameters.get(name));
  for (const [name, one] of Object.entries(more)) if (one !== null && one !== undefined && one !== "") query.set(name, one);
  const text = query.toString();
  return `#/${place.map(encodeURIComponent).join("/")}${text ? `?${text}` : ""}`;
};
/** Change the parameters of this page. `quietly` is for typing: no entry in the browser's history, and no new drawing. */
const ask = (more, quietly = false) => {
  for (const [name, one] of Object.entries(more)) {
    if (one === null || one === undefined || one === "") parameters.delete(name); else parameters.set(name, one);
  }
  const text = parameters.toString();
  const next = `#/${path.map(encodeURIComponent).join("/")}${text ? `?${text}` : ""}`;
  if (quietly) history.replaceState(null, "", next);
  else if (next !== location.hash) location.hash = next;
};

const language = () => (WORDS.languages.includes(parameters.get("lang")) ? parameters.get("lang") : WORDS.language);
const currency = () => [parameters.get("cur"), DATA.opens.cur, kept_asked()?.currency].find((code) => rates().has(code)) ?? "USD";
const market = () => (markets().some((row) => row.market === parameters.get("market")) ? parameters.get("market") : DATA.opens.market ?? DATA.run.home);
const rates = once(() => new Map([["USD", 1], ...rows("rates").map((row) => [row.currency, row.usd_rate])]));

/** The worth of a unit of the currency in use, and the day of that rate. All amounts are converted with it, old ones too. */
const rate_words = () => {
  const row = rows("rates").find((row) => row.currency === currency());
  if (row.usd_rate < 0.01) return `1 USD = ${number(1 / row.usd_rate, 0)} ${currency()}, ${day(row.fx_day)}`;
  return _("1 {currency} = {rate} USD, {day}", { currency: currency(), rate: short(row.usd_rate), day: day(row.fx_day) });
};

/** `text` in the language in use, with its gaps in braces filled in. */
const _ = (text, filled = {}) =>
  ((WORDS.translations[language()] || {})[text] || text).replace(/\{(\w+)\}/g, (whole, name) => filled[name] ?? whole);
/** Korean particles, after a consonant and after a vowel, and the currencies whose Korean names end in a consonant. */
const PARTICLES = [["을", "를"], ["은", "는"], ["과", "와"], ["으로", "로"]];
const ON_A_CONSONANT = ["KRW", "JPY", "CNY"];
/** The sentence of a message, by its number. Its sums are dollars between marks, and a particle behind one, or behind what
 * stands in brackets after it, is that of the currency in use. */
const say = (number) => (typeof number === "string" ? number : WORDS.said[language()][number])
  .replace(/⟦(-?[\d.]+)⟧((?:\([^()⟦]*\))?)(을|를|은|는|과|와|으로|로)?/g, (whole, usd, aside, particle) =>
    `${money(Number(usd))}${aside}${particle ? PARTICLES.find((pair) => pair.includes(particle))[ON_A_CONSONANT.includes(currency()) ? 0 : 1] : ""}`);
/** A code of the warehouse in words. */
const word = (kind, code) => {
  if (code === null || code === undefined) return "";
  if (!WORDS.values[kind]?.[code]) console.warn(`codes.toml has no word of ${kind} for ${code}`);
  return _(WORDS.values[kind]?.[code] ?? String(code));
};

const number = (amount, places = 2) =>
  amount === null || amount === undefined ? "" : new Intl.NumberFormat(language(), { maximumFractionDigits: places }).format(amount);
/** Ratios, with two decimals, so that digits line up in a column. */
const ratio = (amount) =>
  amount === null || amount === undefined ? "" : new Intl.NumberFormat(language(), { minimumFractionDigits: 2, maximumFractionDigits: 2 }).format(amount);
/** Figures that span powers of ten, to three digits. */
const short = (amount) =>
  amount === null || amount === undefined ? "" : new Intl.NumberFormat(language(), { maximumSignificantDigits: 3 }).format(amount);
const percent = (share) =>
  share === null || share === undefined ? ""
    : new Intl.NumberFormat(language(), { style: "percent", minimumFractionDigits: 1, maximumFractionDigits: 1, signDisplay: "exceptZero" }).format(share);
const day = (time) =>
  time ? new Intl.DateTimeFormat(language(), { dateStyle: "medium", timeZone: "UTC" }).format(new Date(time)) : "";
const minute = (time) =>
  time ? `${new Intl.DateTimeFormat(language(), { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" }).format(new Date(time))} UTC` : "";

/** Dollars in the currency in use. `own` is the price as the shop prints it. It is shown exactly if it is the same sum, which
 * it is not if `usd` is net of tax or the price is for several cards. */
const money = (usd, own = null) => {
  if (usd === null || usd === undefined) return "";
  const code = currency();
  const format = new Intl.NumberFormat(language(), { style: "currency", currency: code, currencyDisplay: "narrowSymbol" });
  let amount = usd / rates().get(code);
  if (own && own.currency === code && own.price !== null && Math.abs(own.price / amount - 1) < 0.005) return format.format(own.price);
  // Dollars are kept to the cent, and a cent is 13 won: digits beyond that would be made up. Two stay: an hour for 170 won.
  if (!format.resolvedOptions().maximumFractionDigits) {
    const digits = Math.floor(Math.log10(Math.abs(amount))) - 1;
    const step = 10 ** Math.max(0, Math.min(digits, Math.ceil(Math.log10(0.01 / rates().get(code)))));
    amount = Math.round(amount / step) * step;
  }
  return format.format(amount);
};
/** A round sum, as a measure: `$1,000`. */
const sum = (amount) =>
  new Intl.NumberFormat(language(), { style: "currency", currency: currency(), currencyDisplay: "narrowSymbol", maximumFractionDigits: 0 }).format(amount);
/** A price in the currency that it was printed in. */
const printed = (amount, code) =>
  amount === null || amount === undefined ? ""
    : new Intl.NumberFormat(language(), { style: "currency", currency: code, currencyDisplay: "narrowSymbol" }).format(amount);
/** The amount to which a score for money refers: a thousand, or a million if a unit is worth little. */
const perMoney = () => (rates().get(currency()) < 0.05 ? 1e6 : 1e3);

/** An element with attributes, handlers (`onclick`) and children. Texts become text nodes, and null is left out. */
const h = (name, attributes, ...children) => {
  const element = document.createElement(name);
  for (const [key, one] of Object.entries(attributes || {})) {
    if (one === null || one === undefined || one === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), one);
    else element.setAttribute(key, one === true ? "" : one);
  }
  element.append(...children.flat(9).filter((child) => child !== null && child !== undefined && child !== false && child !== ""));
  return element;
};
/** A text of the data, which is not translated. */
const raw = (text) => (text === null || text === undefined ? null : h("span", { translate: "no" }, String(text)));
const link = (text, url) => (url && /^https?:/.test(url) ? h("a", { href: url, rel: "noreferrer noopener", translate: "no" }, text) : raw(text));
const page = (text, place, more) => h("a", { href: address(place, more), translate: "no" }, text);
const short_name = (gpu) => gpu.replace(/(?:NVIDIA|AMD|Intel) (?:GeForce |Radeon )?/, "");
const card = (gpu_id, whole = true) => {
  const row = cards().get(gpu_id);
  return row ? page(whole ? row.gpu : short_name(row.gpu), ["card", gpu_id]) : raw(gpu_id);
};
const option = (value, text, chosen) => h("option", { value, selected: value === chosen }, text);

/** The button behind a figure that opens the page from which the figure was read. */
const evidence = (number, url = null, title = null) =>
  number === null || number === undefined ? null
    : h("button", { class: "ev", type: "button", "aria-label": _("Evidence"), onclick: () => openEvidence(number, url, title) }, "※");
const openEvidence = (number, url, title) => {
  const archived = DATA.pages[number];
  const command = `gpuledger evidence ${archived.sha256}`;
  const box = document.getElementById("evidence");
  const code = h("code", { tabindex: 0, translate: "no" }, command);
  const copy = async (event) => {
    getSelection().selectAllChildren(code);
    try { await navigator.clipboard.writeText(command); event.target.textContent = _("copied"); } catch { /* it is selected */ }
  };
  box.replaceChildren(
    h("h2", { id: "evidence-title", style: "margin-top:0" }, _("Where this was read")),
    ...(title ? [h("p", null, raw(title))] : []),
    h("dl", { class: "facts", style: "grid-template-columns:1fr" },
      h("div", null, h("dt", null, _("Page of the shop, as it is now")), h("dd", null, url ? link(url, url) : link(archived.url || "–", archived.url))),
      h("div", null, h("dt", null, _("Archived copy, first read")), h("dd", null, archived.fetched_at ? minute(archived.fetched_at) : _("not in this archive"))),
      h("div", null, h("dt", null, _("It opens with")), h("dd", null, code))),
    h("form", { method: "dialog", class: "tools" },
      h("button", { type: "button", onclick: copy }, _("Copy the command")),
      h("button", null, _("Close"))));
  box.showModal();
};
/** The name that people know a source by. */
const title = (name) => _(titles().get(name) ?? name);
const titles = once(() => new Map(rows("titles").map((row) => [row.source, row.title])));
const of_many = once(() => new Set(rows("titles").filter((row) => row.is_of_many_shops).map((row) => row.source)));
/** Who sells: the shop, the vendor that it names, or the host of a page where the source reads many shops. */
const sold_by = ({ shop, url, vendor }) => (!shop ? "" : of_many().has(shop) && url ? new URL(url).hostname : !vendor ? title(shop) : shop === "quotes" ? vendor : `${vendor} (${title(shop)})`);
/** The same, with `stale` in red behind it if its data are older than they may be. */
const shop = (row) => (stale().has(row.shop) ? h("span", null, raw(sold_by(row)), " ", h("span", { class: "bad" }, _("stale"))) : raw(sold_by(row)));
/** When a price was last confirmed, relative to the time of the report. */
const confirmed = (time, source) => {
  if (!time) return "";
  const days = Math.floor((new Date(DATA.run.as_of.slice(0, 10)) - new Date(time.slice(0, 10))) / 864e5);
  const text = days <= 0 ? _("confirmed today") : days === 1 ? _("confirmed yesterday") : _("confirmed {day}", { day: day(time) });
  return h("span", { class: stale().has(source) || days > 7 ? "old nowrap" : "fresh nowrap" }, text);
};
const advice = (code) => h("span", { class: `${{ buy: "good", wait: "wait", unjudged: "fair" }[code] || "soft"}` }, word("advice", code));

/** Offer a file as a download. It is made here and sent nowhere. */
const download = (name, type, content) => {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
};
const csv = (table) =>
  "\ufeff" + table.map((row) => row.map((cell) => {
    const text = cell === null || cell === undefined ? "" : String(cell);
    // A spreadsheet would compute a text that begins like a formula.
    const safe = /^[=+\-@\t\r]/.test(text) && !/^-?[\d.,]+$/.test(text) ? `'${text}` : text;
    return /[",\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  }).join(",")).join("\r\n") + "\r\n";

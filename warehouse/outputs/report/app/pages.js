"use strict";
const heading = (text, ...more) => h("h1", { tabindex: -1 }, text, ...more);
const facts = (...list) => h("dl", { class: "facts" }, list.filter(([, one]) => one !== null && one !== undefined && one !== "").map(([name, one]) => h("div", null, h("dt", null, name), h("dd", null, one))));
const none = (text) => h("p", { class: "notice" }, text);
const market_words = (code = market()) => {
  const row = markets().find((one) => one.market === code);
  if (code === "all" || row?.market === "all") return _("all markets, net of tax");
  const name = _("market {market}", { market: code });
  if (!row) return name;
  if (row.prices_include_tax && row.tax_rate) return `${name}, ${_("with {rate} {tax}", { rate: `${number(row.tax_rate * 100)} %`, tax: _(row.tax_name) })}`;
  return row.tax_name ? `${name}, ${_("before {tax}", { tax: _(row.tax_name) })}` : name;
};
const price_of = (gpu_id) => prices().get(`${market()} ${gpu_id}`);
const value_of = (workload, basis = "street") =>
  value().get(`${basis === "msrp" ? DATA.run.home : market()} ${workload} ${basis}`) || [];
/** A price with its shop, its page and its evidence. */
const priced = (row, usd = row?.price_usd) =>
  usd === null || usd === undefined ? h("span", { class: "soft" }, _("no price")) : h("span", { class: "nowrap" }, link(money(usd, row), row.url), evidence(row.evidence, row.url, row.title));
/** `1 marketplace seller, 2 out of stock` in words. */
const reasons = (text) => text.split(", ").map((one) => one.replace(/^(\d+) (.*)$/, (whole, count, why) => `${count} × ${word("left_out", why)}`)).join(", ");
const why_not = (row) => (row && row.excluded ? h("small", null, _("no offer of it counts: {excluded}", { excluded: reasons(row.excluded) })) : null);

// ---- The answer -------------------------------------------------------------------------------------------------------------

const TASKS = () => [...workloads().values()].map((row) => ["w", row.workload_id, row.workload]);
const task_of = () => {
  const choice = parameters.get("for") || "";
  if (/^[kmw]:/.test(choice)) return [choice.slice(0, 1), choice.slice(2)];
  if (kept_asked()) return ["k", kept_asked().name];
  return DATA.grid.models.length ? ["m", DATA.grid.models[0]] : ["w", TASKS()[0]?.[1]];
};
const budget = () => { const amount = parseFloat(parameters.get("budget")); return amount > 0 ? amount * rates().get(currency()) : Infinity; };
const least_speed = () => Number(asked("speed"));

/** An argument of the question: what the address says, else what the report shows first. */
const asked = (name) => parameters.get(name === "people" ? "users" : name) || (name === "market" ? market() : String(DATA.grid[name][0]));
/** The arguments that the address asks and this report does not hold. It then answers nothing instead of something else. */
const not_held = (kind, id) => {
  const held = { cur: [...rates().keys()], market: kind === "m" ? DATA.grid.market : markets().map((row) => row.market) };
  const known = { k: kept, m: questions, w: workloads }[kind]();
  if (kind === "m") for (const name of ["people", "context", "condition", "speed"]) held[name === "people" ? "users" : name] = DATA.grid[name].map(String);
  const odd = Object.entries(held).filter(([name, values]) => parameters.get(name) && !values.includes(parameters.get(name))).map(([name]) => `${name}=${parameters.get(name)}`);
  if (!known.has(id)) odd.unshift(id);
  return odd.length ? none([_("This report does not hold {asked}. This command answers it:", { asked: odd.join(", ") }), " ", h("code", { translate: "no" }, { k: `gpuledger buy --save ${quoted(id)} …`, m: command(id), w: `gpuledger value ${id}` }[kind])]) : null;
};
const quoted = (text) => (/^[\w.,:=/+-]+$/.test(text) ? text : `"${text}"`);
/** The command that asks a kept question. */
const kept_command = ({ asked, market, currency }) => `gpuledger buy ${Object.entries({ ...asked, market, currency }).filter(([, one]) => one !== null).flatMap(([name, one]) =>
  [typeof one === "object" && !Array.isArray(one) ? Object.entries(one).map((pair) => pair.join("=")) : one].flat().map((each) => `--${name.replaceAll("_", "-")}${each === true ? "" : ` ${quoted(String(each))}`}`)).join(" ")}`;
/** The command that asks what the address asks about a model. */
const command = (id) => ["gpuledger buy --model", id, ...Object.entries({ users: "--users", context: "--context", condition: "--condition", market: "--market", cur: "--currency", budget: "--budget", speed: "--min-tokens-per-s" })
  .map(([name, option]) => [option, parameters.get(name) ?? DATA.opens[name]]).filter(([, one]) => one && one !== "0").map((pair) => pair.join(" "))].join(" ");
const choice = (name, text, values, words = (one) => one) =>
  values.length > 1 ? h("label", null, text, h("select", { name, onchange: (event) => ask({ [name]: event.target.value }) }, values.map((one) => option(String(one), words(one), asked(name === "users" ? "people" : name))))) : null;

const home_page = () => {
  const [kind, id] = task_of();
  const chosen = `${kind}:${id}`;
  const set = (name) => (event) => ask({ [name]: event.target.value });
  return [
    heading(_("What to buy or rent")),
    h("form", { class: "asking", onsubmit: (event) => event.preventDefault() },
      h("label", null, _("To run"), h("select", { onchange: set("for"), name: "for" },
        kept().size ? h("optgroup", { label: _("Kept questions") }, [...kept().keys()].map((one) => option(`k:${one}`, one, chosen))) : null,
        h("optgroup", { label: _("Models") }, DATA.grid.models.map((one) => option(`m:${one}`, one, chosen))),
        workloads().size ? h("optgroup", { label: _("Measured workloads") }, TASKS().map(([task, one, text]) => option(`${task}:${one}`, text, chosen))) : null)),
      kind === "k" ? null : h("label", null, _("Budget, {currency}", { currency: currency() }), h("input", { type: "number", min: 0, step: "any", name: "budget", value: parameters.get("budget"), placeholder: _("any"), onchange: set("budget") })),
      kind === "m" ? [
        (questions().get(id) || []).some((row) => row.context) ? [
          choice("users", _("People at once"), DATA.grid.people, number),
          choice("context", _("Tokens of context"), DATA.grid.context, number),
          choice("speed", _("Tokens/s for each, at least"), DATA.grid.speed, (one) => (one ? number(one) : _("any"))),
        ] : null,
        choice("condition", _("Condition"), DATA.grid.condition, (one) => (one === "any" ? _("new or used") : word("condition", one))),
      ] : null),
    not_held(kind, id) ?? { k: for_kept, m: for_model, w: for_workload }[kind](id),
    h("h2", null, _("What changed in seven days"), " ", h("small", null, page(_("all changes"), ["changes"]))),
    changes_grid(rows("changes").slice(0, 5), false),
  ];
};

const answer = (kind, name, ...lines) => h("section", { class: "answer" }, h("div", { class: "kind" }, kind), h("span", { class: "name" }, name), lines);
/** Why there is no judgement on whether a price is low. */
const unjudged = (known) => (market() === DATA.run.home && known.hint_reason ? _(known.hint_reason) : _("no judgement on whether it is low: only prices of the home market are followed"));
/** Why this card, in a sentence. Each sentence is a fact of its row. */
const because = (row, price) => {
  const known = cards().get(row.gpu_id);
  if (price?.advice === "wait") return h("p", null, h("span", { class: "wait" }, _("wait")), ` – ${_(known.hint_reason)}`);
  if (row.is_front) return [h("p", null, _("No other card is at least as fast for no more money.")), price?.advice === "unjudged" ? h("p", null, h("small", null, unjudged(known))) : null];
  return null;
};
const for_workload = (id) => {
  const workload = workloads().get(id);
  const all = value_of(id);
  const within = all.filter((row) => row.price_usd <= budget());
  if (!all.length) return [none(_("No card that was measured in this has a price in this market. Ask for another market, or look at launch prices below.")), ranking(id)];
  if (!within.length) {
    const cheapest = all.reduce((a, b) => (b.price_usd < a.price_usd ? b : a));
    return [none([_("Nothing costs so little. The cheapest card that was measured is the {card} at {price}.", { card: cards().get(cheapest.gpu_id).gpu, price: money(cheapest.price_usd) })]), scatter_of(id, all)];
  }
  const best = within[0];
  const fastest = within.reduce((a, b) => (b.score > a.score || (b.score === a.score && b.price_usd < a.price_usd) ? b : a));
  const cheapest = within.reduce((a, b) => (b.price_usd < a.price_usd ? b : a));
  const answer_of = (kind, row) => {
    const price = price_of(row.gpu_id);
    const score = scores().get(`${id} ${row.gpu_id}`);
    return answer(kind, card(row.gpu_id),
      h("p", { class: "price" }, priced(price, row.price_usd)),
      h("p", null, shop(price), " · ", confirmed(price.confirmed_at, price.shop)),
      h("p", null, `${short(row.score)} ${workload.unit}`, evidence(score?.evidence, score?.url), ` · ${_("{figure} per {money}", { figure: short((row.per_1000_usd / 1000) * rates().get(currency()) * perMoney()), money: sum(perMoney()) })}`),
      because(row, price), renting(row.gpu_id));
  };
  const answers = [[_("Most for the money"), best]];
  if (fastest !== best) answers.push([_("Fastest within the budget"), fastest]);
  if (cheapest !== best && cheapest !== fastest) answers.push([_("Cheapest that was measured"), cheapest]);
  return [
    h("div", { class: "answers" }, answers.map(([kind, row]) => answer_of(kind, row))),
    scatter_of(id, within),
    h("h2", null, _("All that was measured"), " ", h("small", null, page(_("more about this workload"), ["workload", id]))),
    ranking(id, within, 15),
    how(),
  ];
};
const renting = (gpu_id) => {
  const rental = rentals().get(gpu_id)?.find((row) => row.comparability === "same card") || rentals().get(gpu_id)?.[0];
  if (!rental || market() !== DATA.run.home) return null;
  return h("p", null, h("small", null, rental.break_even_hours === null
    ? _("Rented at {price} an hour ({provider}) it is cheaper at any number of hours.", { price: money(rental.instance_hour_usd), provider: rental.provider })
    : _("Rented at {price} an hour ({provider}), owning is cheaper after {hours} hours of use.", { price: money(rental.instance_hour_usd), provider: rental.provider, hours: number(rental.break_even_hours, 0) })));
};
const rentals = once(() => group(rows("rentals"), "gpu_id"));
const how = () => h("p", { class: "soft" }, `${market_words()} · ${_("street price: the lowest of a new card that a shop has in stock, confirmed in time and held by no check")} · `, page(_("what the words mean"), ["dictionary"]));
const scatter_of = (id, list) => (list.length > 1 ? scatter(`${id}-${market()}`, _("Speed against price, {market}", { market: market_words() }), workloads().get(id).unit, list) : null);

// Whose figure it is. There is no column if all figures were published by others. It comes after price and value, which a phone
// shows first.
const claimed = (list) => ({ key: "claim", head: _("whose figure"), kind: "tight", filter: true, value: (row) => (list.every((one) => one.claim === "published") ? null : word("claim", row.claim)) });

const ranking = (id, list = null, most = 50) => {
  const workload = workloads().get(id);
  const street = new Map(value_of(id).map((row) => [row.gpu_id, row]));
  const launch = new Map(value_of(id, "msrp").map((row) => [row.gpu_id, row]));
  const gpu_ids = list && new Set(list.map((row) => row.gpu_id));
  const measured = [...scores().values()].filter((row) => row.workload_id === id && (!gpu_ids || gpu_ids.has(row.gpu_id)))
    .map((row) => ({ ...row, value: street.get(row.gpu_id), launch: launch.get(row.gpu_id), price: price_of(row.gpu_id) }));
  const scale = (rates().get(currency()) * perMoney()) / 1000;
  const best = Math.max(...measured.map((row) => row.value?.per_1000_usd ?? 0));
  return grid("ranking", measured, [
    { key: "gpu", head: "GPU", value: (row) => cards().get(row.gpu_id)?.gpu, cell: (row) => [card(row.gpu_id, false), row.value?.is_front ? h("span", { class: "good", title: _("Pareto front") }, " ●") : null] },
    { key: "rank", head: _("by speed"), kind: "r" },
    { key: "score", head: `${_("score")}, ${workload.unit}`, kind: "r", cell: (row) => h("span", { class: "nowrap" }, link(short(row.score), row.url), evidence(row.evidence, row.url)) },
    { key: "price", head: `${_("price")}, ${currency()}`, kind: "r", value: (row) => row.value?.price_usd ?? null, cell: (row) => (row.value ? priced(row.price, row.value.price_usd) : "") },
    { key: "per", head: _("score per {money}", { money: sum(perMoney()) }), kind: "r", value: (row) => (row.value ? row.value.per_1000_usd * scale : null), cell: (row) => (row.value ? h("div", { class: "meter", style: `--share:${((100 * row.value.per_1000_usd) / best).toFixed(1)}%` }, short(row.value.per_1000_usd * scale)) : "") },
    claimed(measured),
    { key: "xscore", head: _("× score"), kind: "r", value: (row) => row.value?.score_ratio ?? null, cell: (row) => ratio(row.value?.score_ratio) },
    { key: "xprice", head: _("× price"), kind: "r", value: (row) => row.value?.price_ratio ?? null, cell: (row) => ratio(row.value?.price_ratio) },
    { key: "msrp", head: _("launch price"), kind: "r", value: (row) => row.launch?.price_usd ?? null, cell: (row) => money(row.launch?.price_usd) },
    { key: "shop", head: _("shop"), value: (row) => (row.value ? sold_by(row.price) : null), filter: true, cell: (row) => (row.value ? [shop(row.price), " ", confirmed(row.price.confirmed_at, row.price.shop)] : null) },
  ], { sort: list ? "-per" : "rank", most, mark: (row) => row.value?.is_front });
};

// ---- Models -----------------------------------------------------------------------------------------------------------------

/** The question that the address asks about a model, undefined if the report does not hold it. */
const question_of = (id, people = asked("people")) => (questions().get(id) || []).find((row) =>
  String(row.people) === people && (row.context === null || String(row.context) === asked("context")) && row.condition === asked("condition") && row.market === asked("market"));
/** The answers to it in their order: those with a fresh price first, of these the cheapest over the whole time. */
const ways_of = (question) => (question && ways().get(question.number)) || [];
const bought = (list) => list.find((row) => row.way === "buy");
const rented = (list) => list.find((row) => row.way !== "buy");
/** The name of a way; a whole machine is `computer: its title`, of which the kind is said in the language in use. */
const name_of = (row) => row.what.replace(/^(server|workstation|computer|laptop): /, (whole, kind) => `${word("machine", kind)}: `);
const at_bits = (row, text) => (row.precision ? _("{model} at {precision}", { model: text, precision: row.precision }) : text);
const what = (row, text = name_of(row)) => [row.way === "buy" && cards().has(row.gpu_id) ? page(at_bits(row, text), ["card", row.gpu_id]) : raw(at_bits(row, text)), row.condition && row.condition !== "new" ? ` (${word("condition", row.condition)})` : ""];
const mark_of = (row) => (row.price_mark ? h("small", { class: "wait" }, " ", row.price_mark.split(", ").map((one) => word("mark", one)).join(", ")) : null);
/** What a chart shows as speed: pictures a minute or tokens/s for each. */
const rate_of = (row) => (row.images_per_s ? row.images_per_s * 60 : row.each_tokens_per_s ?? null);
/** How long a picture takes: each GPU makes its own. */
const picture_time = (row) => { const seconds = row.gpu_count / row.images_per_s; return seconds < 900 ? _("{seconds} s", { seconds: short(seconds) }) : _("{minutes} min", { minutes: number(seconds / 60, 0) }); };
const speed_of = (row) => (row.images_per_s ? _("{time} a picture", { time: picture_time(row) }) : row.tokens_per_s === null ? _("speed not known") : _("{rate} tokens/s", { rate: short(row.each_tokens_per_s) }));
const range_of = (row) => (row.speed_is === "measured" ? _("measured") : row.low_tokens_per_s !== null ? _("{low} to {high}", { low: short((row.low_tokens_per_s * row.each_tokens_per_s) / row.tokens_per_s), high: short((row.high_tokens_per_s * row.each_tokens_per_s) / row.tokens_per_s) }) : "");
const hour = (row) => (row.way === "buy" ? money(row.price_usd) : _("{price} an hour", { price: money(row.price_usd) }));
const assumed = (known = DATA.assumptions) => _("{hours} hours a day for {years} years, in use {share} % of them, electricity at {price} a kWh", {
  hours: number(known.hours_per_day), years: number(known.horizon_years), share: number(known.utilisation * 100), price: printed(known.electricity_usd_per_kwh / rates().get(currency()), currency()) });
const asked_words = (question) => `${_("{model} at {precision}", { model: question.model_id, precision: question.at_precision })}${question.context ? `, ${_("{count} tokens of context", { count: number(question.context) })}` : ""}, ${_("people at once")}: ${number(question.people)} · ${assumed(question.assumed)} · ${market_words(question.market)}`;

const for_model = (id) => {
  const question = question_of(id);
  if (!question) return none([_("This report does not hold {asked}. This command answers it:", { asked: id }), " ", h("code", { translate: "no" }, command(id))]);
  const all = ways_of(question);
  const said = question.said.map(say);
  if (!all.length) return said.map(none);
  const within = all.filter((row) => row.outlay_usd <= budget() && (!least_speed() || (row.each_tokens_per_s ?? 0) >= least_speed()));
  const step = step_of(question);
  if (!step) {
    const cheapest = all.reduce((a, b) => (b.outlay_usd < a.outlay_usd ? b : a));
    const fastest = all.reduce((a, b) => ((rate_of(b) ?? 0) > (rate_of(a) ?? 0) ? b : a));
    return [none(_("Nothing does as asked. The cheapest costs {price}, the fastest does {rate}. The command below says what fewer bits or a machine that is there would do.", { price: money(cheapest.outlay_usd), rate: speed_of(fastest) })), ways_grid(id, all, 10), as_command(question, command(id))];
  }
  const is_whole = budget() === Infinity && !least_speed();
  return [
    picks_of(step, all, question),
    is_whole ? h("details", null, h("summary", null, _("The same in sentences")), h("p", { class: "sentence" }, said.join(" "))) : null,
    ways_chart(id, within),
    is_whole && question.rent_curve ? rent_lines(`${id}-rent`, _("Owning or renting, by the hours of use"), question.rent_curve, all[step.first].what) : null,
    h("h2", null, _("Ways to run it"), " ", h("small", null, page(_("more about this model"), ["model", id]))),
    ways_grid(id, within, 12),
    as_command(question, command(id)),
  ];
};
/** The answer to a question that a person keeps, whatever it asks. */
const for_kept = (name) => {
  const { said, answer: question, ...asked } = kept().get(name);
  const all = ways_of(question);
  const [step] = (question && steps().get(question.number)) || [];
  return [
    h("p", { class: "sentence" }, said.map(say).join(" ")),
    step ? picks_of(step, all, question) : null,
    all.length ? [ways_chart(question.model_id, all), h("h2", null, _("Ways to run it")), ways_grid(question.model_id, all, 12)] : null,
    question ? as_command(question, kept_command(asked)) : h("p", { class: "soft" }, h("code", { translate: "no" }, kept_command(asked))),
  ];
};
/** What is picked as boxes side by side, and what is cheaper and runs. */
const picks_of = (step, all, question) => {
  const [first, for_less, other, cheaper] = [step.first, step.for_less, step.other, step.cheaper].map((place) => all[place] ?? null);
  const picks = [[first, first.way === "buy" ? _("The one to buy") : _("The one to rent")], [for_less, _("For less")], [other, other?.condition === "new" ? _("New instead") : _("Used instead")]].filter(([row]) => row);
  return [
    h("div", { class: "answers" }, picks.map(([row, kind]) => pick_of(row, kind, first, question.needed_gb))),
    cheaper ? h("p", null, _("Cheaper, and it runs:"), " ", what(cheaper), ` · ${_("{price} on day one", { price: money(cheaper.outlay_usd) })} · ${cheaper.speed ? cheaper.speed.map(say).join(" ") : speed_of(cheaper)}`, mark_of(cheaper), cheaper.behind ? h("small", null, ` – ${cheaper.behind.map(say).join("; ")}`) : null) : null,
  ];
};
const ways_chart = (id, within) => {
  const shown = within.filter((one) => rate_of(one) && one.outlay_usd);
  return shown.length > 1 ? scatter(`${id}-ways`, _("What it does against what is paid on day one, or as rent: {model}", { model: id }), shown[0].images_per_s ? _("pictures a minute") : _("tokens/s for each"),
    shown.map((one) => ({ gpu_id: one.gpu_id, name: name_of(one), price_usd: one.outlay_usd, score: rate_of(one), is_front: one.is_front })), _("day one or rent")) : null;
};
/** What was asked, and the command that shows all its answers. */
const as_command = (question, typed) => h("p", { class: "soft" }, asked_words(question), " · ", _("{count} answers in all; the command shows them:", { count: number(question.answers) }), " ", h("code", { translate: "no" }, typed));
/** The picks within the budget and from the least speed on, undefined if nothing is so cheap and so fast. */
const step_of = (question) => (steps().get(question.number) || []).filter((row) => row.speed === least_speed() && (budget() === Infinity ? row.budget_usd === null : row.budget_usd !== null && row.budget_usd <= budget())).at(-1);
/** A pick as a box: what it costs where, since when, how fast it is, and what it gives up or gains beside the first. */
const pick_of = (row, kind, first, needed_gb) => {
  const seller = sellers()[row.seller];
  const [rate, best] = [rate_of(row), rate_of(first)];
  const saved = first.outlay_usd - row.outlay_usd;
  return answer(kind, what(row),
    h("p", { class: "price" }, link(hour(row), seller.url), evidence(seller.evidence, seller.url), mark_of(row)),
    seller.shop && h("p", null, shop(seller), " · ", row.price_mark?.includes("price") ? day(seller.price_since) : confirmed(seller.confirmed_at, seller.shop)),
    row.speed ? h("p", null, row.speed.map(say).join(" ")) : h("p", null, speed_of(row), range_of(row) ? h("small", null, ` (${range_of(row)})`) : null),
    h("p", null, _("needs {needed} of {memory} GB", { needed: number(row.needed_gb ?? needed_gb, 1), memory: number(row.available_gb, 1) })),
    row.way === "buy" ? h("p", null, row.host === "the machine itself" ? _("{price} on day one for a whole computer; shipping is not in it", { price: money(row.outlay_usd) }) : _("{price} on day one, with the machine; shipping is not in it", { price: money(row.outlay_usd) })) : null,
    h("p", null, _("{price} in all over the years", { price: money(row.total_usd) })),
    row !== first ? h("p", null, saved > 0 ? _("{price} less on day one", { price: money(saved) }) : _("{price} more on day one", { price: money(-saved) }), rate && best ? ` · ${Math.abs(rate / best - 1) < 0.03 ? _("as fast") : _("{times} times as fast", { times: number(rate / best) })}` : null) : null,
    row.behind ? h("p", null, h("small", null, row.behind.map(say).join("; "))) : null,
    row.notes ? h("p", null, h("small", null, row.notes.map(say).join("; "))) : null);
};
const per_heading = (id) => `${["diffusion", "video"].includes(models().get(id).model_kind) ? _("per 1000 images") : _("per million tokens")}, ${currency()}`;
const ways_grid = (id, list, most = 50) =>
  grid("ways", list, [
    { key: "what", head: _("what"), value: (row) => row.what, cell: (row) => h("span", { class: "clip", title: name_of(row) }, what(row, short_name(name_of(row)))) },
    { key: "way", head: _("how"), value: (row) => (row.way === "buy" ? _("owning") : word("pricing", row.way)), filter: true },
    { key: "outlay", head: `${_("day one")}, ${currency()}`, kind: "r", value: (row) => row.outlay_usd, cell: (row) => money(row.outlay_usd) },
    { key: "total", head: _("total over the years"), kind: "r", value: (row) => row.total_usd, cell: (row) => money(row.total_usd) },
    { key: "mark", head: _("mark"), kind: "tight", value: (row) => row.price_mark, cell: mark_of },
    { key: "price", head: `${_("price")}, ${currency()}`, kind: "r", value: (row) => row.price_usd, cell: (row) => { const seller = sellers()[row.seller]; return h("span", { class: "nowrap" }, link(hour(row), seller.url), evidence(seller.evidence, seller.url)); } },
    { key: "speed", head: _("speed for each"), kind: "r", value: rate_of, cell: (row) => [speed_of(row), range_of(row) ? h("small", null, ` ${range_of(row)}`) : null] },
    { key: "per", head: per_heading(id), kind: "r", value: (row) => row.usd_per_million_tokens ?? row.usd_per_thousand_images, cell: (row) => money(row.usd_per_million_tokens ?? row.usd_per_thousand_images) },
    { key: "memory", head: _("memory it has, GB"), kind: "r", value: (row) => row.available_gb, cell: (row) => number(row.available_gb, 1) },
    { key: "shop", head: _("shop"), kind: "tight", value: (row) => sold_by(sellers()[row.seller]), filter: true, cell: (row) => raw(sold_by(sellers()[row.seller])) },
  ], { search: false, most });
const need_of = (row, question) => facts(
  [_("parameters"), `${number(row.parameters / 1e9, 2)} B`],
  [_("of them at work for a token"), row.active_parameters !== row.parameters ? `${number(row.active_parameters / 1e9, 2)} B` : null],
  [_("longest context"), row.max_context_tokens ? _("{count} tokens", { count: number(row.max_context_tokens) }) : null],
  [_("weights at 16 bits"), row.weights_fp16_gb === null ? null : `${number(row.weights_fp16_gb, 1)} GB`],
  [_("weights at 8 bits"), row.weights_int8_gb === null ? null : `${number(row.weights_int8_gb, 1)} GB`],
  [_("weights at 4 bits"), row.weights_int4_gb === null ? null : `${number(row.weights_int4_gb, 1)} GB`],
  [_("needed on one card at {precision}", { precision: question?.at_precision ?? "" }), question ? `${number(question.needed_gb, 1)} GB` : null]);

const models_page = () => [
  heading(_("Models")),
  h("p", { class: "soft" }, _("The report answers for {count} of them; for any other ask `gpuledger buy --model`.", { count: number(DATA.grid.models.length) })),
  grid("models", [...models().values()].map((row) => {
    const list = ways_of(question_of(row.model_id));
    return { ...row, bought: bought(list), rented: rented(list) };
  }), [
    { key: "model_id", head: _("model"), cell: (row) => page(row.model_id, ["model", row.model_id]) },
    { key: "model_kind", head: _("kind"), filter: true, value: (row) => word("model_kind", row.model_kind) },
    { key: "parameters", head: _("parameters"), kind: "r", cell: (row) => `${number(row.parameters / 1e9, 2)} B` },
    { key: "weights_int4_gb", head: `${_("weights at 4 bits")}, GB`, kind: "r", cell: (row) => short(row.weights_int4_gb) },
    { key: "card", head: _("cheapest to own"), kind: "wide", value: (row) => row.bought?.what ?? null, cell: (row) => (row.bought ? what(row.bought) : null) },
    { key: "outlay", head: `${_("day one")}, ${currency()}`, kind: "r", value: (row) => row.bought?.outlay_usd ?? null, cell: (row) => money(row.bought?.outlay_usd) },
    { key: "speed", head: _("speed"), kind: "r", value: (row) => (row.bought ? rate_of(row.bought) : null), cell: (row) => (row.bought ? speed_of(row.bought) : null) },
    { key: "rent", head: _("cheapest hour"), kind: "r", value: (row) => row.rented?.price_usd ?? null, cell: (row) => (row.rented ? money(row.rented.price_usd) : null) },
  ], { sort: "outlay", most: 150 }),
];
const model_page = (id) => {
  const row = models().get(id);
  if (!row) return [...missing(), not_held("m", id)];
  return [
    heading(id), h("p", { class: "soft" }, word("model_kind", row.model_kind), row.repository ? [" · ", link(row.repository, `https://huggingface.co/${row.repository}`)] : null),
    h("h2", null, _("What it needs")), need_of(row, question_of(id)),
    h("h2", null, _("Cheapest that fits")), for_model(id),
  ];
};

// ---- Cards ------------------------------------------------------------------------------------------------------------------

const cards_page = () => {
  const named = [...workloads().values()].filter((row) => row.output);
  const places = new Map();
  for (const row of named) for (const one of value_of(row.workload_id)) if (!(places.get(one.gpu_id)?.value_rank <= one.value_rank)) places.set(one.gpu_id, one);
  return [
    heading(_("Cards")), h("p", { class: "soft" }, market_words()),
    grid("cards", [...cards().values()].map((row) => ({ ...row, price: price_of(row.gpu_id) })), [
      { key: "gpu", head: "GPU", cell: (row) => card(row.gpu_id, false) },
      { key: "vendor", head: _("maker"), kind: "spare", filter: true, cell: (row) => raw(row.vendor) },
      { key: "advice", head: _("advice"), kind: "tight", filter: true, value: (row) => word("advice", row.price?.advice ?? "no_price"), cell: (row) => advice(row.price?.advice ?? "no_price") },
      { key: "price", head: `${_("price")}, ${currency()}`, kind: "r", value: (row) => row.price?.price_usd ?? null, cell: (row) => (row.price?.price_usd ? priced(row.price) : null) },
      { key: "memory_gb", head: _("memory, GB"), kind: "r", cell: (row) => number(row.memory_gb, 1) },
      { key: "shop", head: _("shop"), filter: true, kind: "tight", value: (row) => (row.price?.price_usd ? sold_by(row.price) : null), cell: (row) => (row.price?.price_usd ? shop(row.price) : null) },
      { key: "msrp", head: _("over launch price"), kind: "r", value: (row) => row.price?.premium_over_msrp ?? null, cell: (row) => percent(row.price?.premium_over_msrp) },
      { key: "used", head: _("used, from"), kind: "r", value: (row) => row.price?.used_usd ?? null, cell: (row) => money(row.price?.used_usd) },
      { key: "change_30d", head: _("30 days"), kind: "r", value: (row) => (market() === DATA.run.home ? row.change_30d : null), cell: (row) => (market() === DATA.run.home ? percent(row.change_30d) : "") },
      { key: "year", head: _("a year"), picture: true, value: (row) => (DATA.history[row.gpu_id] && market() === DATA.run.home ? row.change_30d : null), cell: (row) => (market() === DATA.run.home ? sparkline(row.gpu_id) : null) },
      { key: "place", head: _("best place by value"), value: (row) => places.get(row.gpu_id)?.value_rank ?? null, cell: (row) => { const one = places.get(row.gpu_id); if (!one) return null; const { workload } = workloads().get(one.workload_id); return h("span", { class: "clip", title: workload }, number(one.value_rank), " ", h("small", null, page(workload, ["workload", one.workload_id]))); } },
      { key: "confirmed", head: _("confirmed"), kind: "tight", value: (row) => row.price?.confirmed_at ?? null, cell: (row) => (row.price?.price_usd ? confirmed(row.price.confirmed_at, row.price.shop) : null) },
    ], { sort: places.size ? "place" : "price", most: 200 }),
  ];
};

const offers = once(() => group(rows("offers"), "gpu_id"));
const left_out = once(() => group(rows("left_out"), (row) => `${row.market} ${row.gpu_id}`));
const SPANS = { "1": 365, "0.25": 92 };
const card_page = (id) => {
  const row = cards().get(id);
  if (!row) return missing();
  const price = price_of(id);
  const span = parameters.get("span") || "all";
  const since = SPANS[span] ? new Date(Date.parse(DATA.run.as_of) - SPANS[span] * 864e5) : null;
  const spans = [["all", _("all")], ["1", _("a year")], ["0.25", _("three months")]];
  const own = [...scores().values()].filter((one) => one.gpu_id === id).map((one) => ({ ...one, workload: workloads().get(one.workload_id), value: value_of(one.workload_id).find((two) => two.gpu_id === id) }));
  const offered = (offers().get(id) || []).filter((one) => market() === "all" || one.market === market());
  // The lowest price of each condition, also of those that do not count as a new card.
  const each = [...group(offered.filter((one) => one.price_usd !== null && !one.exclusion), "condition")].map(([condition, [one]]) =>
    ({ group: word("condition", condition), key: "lowest", value: one.price_usd / rates().get(currency()), text: `${money(one.price_usd)}, ${sold_by(one)}` }));
  const left = left_out().get(`${market()} ${id}`);
  const held = rows("held").filter((one) => one.gpu_id === id);
  const suspects = DATA.history[id]?.suspect ?? [];
  const drawn = prices_over_time(`${id}-prices`, _("Price over time, market {market}", { market: DATA.run.home }), [id], { msrp: row.msrp_usd, since });
  const runs = rows("runs").filter((one) => one.gpu_id === id).map((one) => ({ ...one, parameters: models().get(one.model_id)?.parameters }));
  const rents = rentals().get(id) || [];
  const cloud = rows("cloud").filter((one) => one.gpu_id === id);
  return [
    heading(row.gpu),
    h("div", { class: "answers" },
      answer(market_words(), h("span", { class: "price" }, price ? priced(price) : _("no price")),
        price?.price_usd ? h("p", null, shop(price), " · ", confirmed(price.confirmed_at, price.shop), h("br"), h("small", null, _("stands since {day}", { day: day(price.price_since) }))) : h("p", null, why_not(price)),
        h("p", null, page(_("compare with others"), ["compare"], { cards: id }))),
      price ? answer(_("advice"), advice(price.advice),
        price.beaten_by ? h("p", null, card(price.beaten_by), ` ${_("is at least as fast for no more money")} (${workloads().get(price.beaten_in)?.workload ?? ""})`) : null,
        price.advice === "unjudged" ? h("p", null, h("small", null, unjudged(row))) : market() === DATA.run.home && row.hint_reason ? h("p", null, h("small", null, _(row.hint_reason), row.hint_given ? ` (${_("such a hint was right {right} of {given} times in the last year; {share} of all weeks", { right: row.hint_was_right, given: row.hint_given, share: percent(row.hint_right_on_any).replace("+", "") })})` : "")) : null,
        price.own_total_usd ? h("p", null, h("small", null, `${_("{price} in all over the years", { price: money(price.own_total_usd) })}: ${assumed()}`)) : null) : null,
      price?.used_usd ? answer(_("used"), h("span", { class: "price" }, link(money(price.used_usd), price.used_url), evidence(price.used_evidence, price.used_url)), h("p", null, shop({ shop: price.used_shop, url: price.used_url }), ` · ${word("left_out", price.used_condition)}`)) : null),
    facts([_("launch price"), money(row.msrp_usd)], [_("over launch price"), percent(price?.premium_over_msrp)],
      [_("30 days"), market() === DATA.run.home ? percent(row.change_30d) : ""], [_("lowest ever"), row.all_time_low_usd === null ? null : `${money(row.all_time_low_usd)}, ${day(row.all_time_low_on)}`],
      [_("memory"), row.memory_gb === null ? null : `${number(row.memory_gb, 1)} GB ${row.memory_type ?? ""}`], [_("bandwidth"), row.memory_bandwidth_gb_s === null ? null : `${number(row.memory_bandwidth_gb_s, 0)} GB/s`],
      [_("power"), row.tdp_w === null ? null : `${number(row.tdp_w, 0)} W`], [_("tensor, 16 bits"), row.tensor_fp16_tflops === null ? null : `${number(row.tensor_fp16_tflops, 1)} TFLOPS`],
      [_("architecture"), raw(row.architecture)], [_("released"), day(row.released_on)]),
    h("h2", null, _("Prices")),
    drawn ? [h("div", { class: "tools" }, spans.map(([key, text]) => h("button", { type: "button", "aria-pressed": String(span === key), onclick: () => ask({ span: key === "all" ? "" : key }) }, text))), drawn] : none(_("No day of this card's price is known.")),
    suspects.length ? h("p", null, _("Suspect days, whose lowest price is not believed: {days}", { days: suspects.slice(-12).map(day).join(", ") })) : null,
    held.length ? [h("h3", null, _("Held prices")), held_grid(held)] : null,
    h("h2", null, _("Offers")), each.length > 1 ? bars(`${id}-conditions`, _("The lowest offer, new beside used"), each, new Map([["lowest", ""]])) : null,
    offered.length ? grid("offers", offered, offer_columns(), { most: 30, first: 5 }) : none(_("No shop of this market offers it.")),
    left ? h("p", { class: "soft" }, `${_("Not counted as a new card's price:")} ${left.map((one) => `${number(one.count)} × ${word("left_out", one.why)}`).join(", ")}`) : null,
    own.length ? [h("h2", null, _("Scores")), grid("scores", own, [
      { key: "workload", head: _("workload"), value: (one) => one.workload.workload, cell: (one) => page(one.workload.workload, ["workload", one.workload_id]) },
      { key: "score", head: _("score"), kind: "r", cell: (one) => h("span", { class: "nowrap" }, link(`${short(one.score)} ${one.workload.unit}`, one.url), evidence(one.evidence, one.url)) },
      { key: "rank", head: _("by speed"), kind: "r" },
      { key: "value", head: _("by value"), kind: "r", value: (one) => one.value?.value_rank ?? null },
      { key: "base", head: _("× baseline"), kind: "r", value: (one) => one.relative_to_baseline, cell: (one) => ratio(one.relative_to_baseline) },
      claimed(own),
      { key: "source", head: _("source"), kind: "tight", value: (one) => title(one.source) },
    ], { search: false })] : null,
    runs.length ? [h("h2", null, _("What runs on it")), h("p", { class: "soft" }, runs_on()), grid("runs", runs, [
      { key: "model", head: _("model"), value: (one) => one.model_id, cell: (one) => page(one.model_id, ["model", one.model_id]) },
      { key: "parameters", head: _("parameters"), kind: "r", cell: (one) => (one.parameters ? `${number(one.parameters / 1e9, 2)} B` : "") },
      { key: "speed", head: _("tokens/s"), kind: "r", value: (one) => one.expected_tokens_per_s, cell: (one) => short(one.expected_tokens_per_s) },
      { key: "range", head: _("range"), kind: "r", value: (one) => one.low_tokens_per_s, cell: (one) => _("{low} to {high}", { low: short(one.low_tokens_per_s), high: short(one.high_tokens_per_s) }) },
      { key: "basis", head: _("speed is"), value: (one) => word("basis_of_speed", one.speed_basis), filter: true },
      { key: "fit", head: _("fit"), value: (one) => word("fit", one.fit), filter: true },
    ], { sort: "-parameters", most: 12 })] : null,
    h("h2", null, _("Rent or buy")),
    rents.length ? [hours_of(`${id}-hours`, rents) ?? h("p", { class: "soft" }, assumed()), grid("rents", rents, [
      { key: "provider", head: _("provider"), cell: (one) => raw([one.provider, one.instance, one.region].filter(Boolean).join(" ")) },
      { key: "gpu", head: "GPU", value: (one) => `${one.gpu_count} × ${one.gpu_name}`, cell: (one) => raw(`${one.gpu_count} × ${one.gpu_name}`) },
      { key: "pricing", head: _("how"), value: (one) => word("pricing", one.pricing_model), filter: true },
      { key: "hour", head: _("an hour"), kind: "r", value: (one) => one.instance_hour_usd, cell: (one) => money(one.instance_hour_usd) },
      { key: "rent", head: _("renting in all"), kind: "r", value: (one) => one.rent_total_usd, cell: (one) => money(one.rent_total_usd) },
      { key: "own", head: _("owning in all"), kind: "r", value: (one) => one.own_total_usd, cell: (one) => money(one.own_total_usd) },
      { key: "even", head: _("owning pays after, hours"), kind: "r", value: (one) => one.break_even_hours, cell: (one) => number(one.break_even_hours, 0) },
      { key: "cheaper", head: _("cheaper"), value: (one) => word("cheaper", one.cheaper) },
    ], { search: false })] : cloud.length ? cloud_grid(cloud) : none(_("No cloud that is read rents it or its like out.")),
  ];
};
/** What the speeds of single cards are for. */
const runs_on = () => _("one card, {precision}, {context} tokens of context, one user; expected speed with its range", { precision: DATA.asked.precision, context: number(DATA.asked.context) });
const offer_columns = () => [
  { key: "price", head: `${_("price")}, ${currency()}`, kind: "r", value: (one) => one.price_usd, cell: (one) => [link(one.price_usd !== null ? money(one.price_usd, one) : printed(one.price, one.currency) || _("no price"), one.url), evidence(one.evidence, one.url, one.title)] },
  { key: "shop", head: _("shop"), filter: true, value: sold_by, cell: shop },
  { key: "market", head: _("market"), filter: true, cell: (one) => raw(one.market) },
  { key: "availability", head: _("stock"), kind: "tight", filter: true, value: (one) => word("availability", one.availability) },
  { key: "condition", head: _("condition"), kind: "tight", filter: true, value: (one) => word("condition", one.condition) },
  { key: "title", head: _("title"), kind: "wide", cell: (one) => raw(one.title) },
  { key: "why", head: _("left out because"), value: (one) => (one.exclusion ? word("left_out", one.exclusion) : ""), filter: true },
  { key: "confirmed", head: _("confirmed"), kind: "tight", value: (one) => one.confirmed_at, cell: (one) => confirmed(one.confirmed_at, one.shop) },
];
const held_grid = (list) => grid("held", list, [
  { key: "title", head: _("title"), kind: "wide", cell: (one) => [link(one.title, one.url), evidence(one.evidence, one.url, one.title)] },
  { key: "price", head: _("held price"), kind: "r", cell: (one) => printed(one.price, one.currency) },
  { key: "was", head: _("before"), kind: "r", value: (one) => one.reference_price, cell: (one) => printed(one.reference_price, one.reference_currency || one.currency) },
  { key: "reason", head: _("reason"), kind: "wide", cell: (one) => raw(one.reason) },
  { key: "held_at", head: _("held since"), kind: "tight", cell: (one) => day(one.held_at) },
  { key: "shop", head: _("shop"), value: sold_by, cell: shop },
]);

// ---- Workloads, comparing, renting ------------------------------------------------------------------------------------------

const workloads_page = () => [
  heading(_("Workloads")),
  grid("workloads", [...workloads().values()].map((row) => ({ ...row, workload: row.workload, best: value_of(row.workload_id)[0], list: [...scores().values()].filter((one) => one.workload_id === row.workload_id) })), [
    { key: "workload", head: _("workload"), cell: (row) => page(row.workload, ["workload", row.workload_id]) },
    { key: "unit", head: _("unit"), cell: (row) => raw(row.unit) },
    { key: "cards", head: _("cards measured"), kind: "r", value: (row) => row.list.length },
    { key: "best", head: _("most for the money"), value: (row) => (row.best ? cards().get(row.best.gpu_id).gpu : null), cell: (row) => (row.best ? card(row.best.gpu_id, false) : null) },
    { key: "fastest", head: _("fastest"), value: (row) => cards().get(row.list[0]?.gpu_id)?.gpu, cell: (row) => (row.list[0] ? card(row.list[0].gpu_id, false) : null) },
  ]),
];
const workload_page = (id) => {
  const row = workloads().get(id);
  if (!row) return missing();
  return [heading(row.workload), h("p", { class: "soft" }, row.description), scatter_of(id, value_of(id)), value_of(id).length ? null : none(_("No card that was measured in this has a price in this market. Ask for another market, or look at launch prices below.")), h("h2", null, _("Ranking")), ranking(id), how()];
};

const compare_page = () => {
  // Without a choice it starts with three cards, so that a reader sees what a comparison is.
  const first = () => ([...workloads().keys()].map((id) => value_of(id)).find((list) => list.length > 2) ?? [...cards().values()].filter((row) => price_of(row.gpu_id)?.price_usd)).slice(0, 3).map((row) => row.gpu_id);
  const ids = (parameters.has("cards") ? parameters.get("cards").split(",") : first()).filter((id) => cards().has(id)).slice(0, 4);
  const put = (list) => ask({ cards: list.join(",") });
  const runs = rows("runs").filter((one) => ids.includes(one.gpu_id));
  const ordered = [...cards().values()].filter((row) => !ids.includes(row.gpu_id));
  const line = (name, make) => { const cells = ids.map((id) => make(cards().get(id), price_of(id))); return cells.some((one) => one !== null && one !== undefined && one !== "") ? h("tr", null, h("th", { scope: "row" }, name), cells.map((one) => h("td", null, one))) : null; };
  const measured = [...workloads().values()].flatMap((workload) => {
    const cards_measured = ids.map((id) => scores().get(`${workload.workload_id} ${id}`)).filter(Boolean);
    const most = Math.max(...cards_measured.map((one) => one.score));
    return cards_measured.length > 1 ? cards_measured.map((one) => ({ group: `${workload.workload}, ${workload.unit}`, key: one.gpu_id, value: one.score / most, text: short(one.score) })) : [];
  });
  return [
    heading(_("Compare up to four cards")),
    h("div", { class: "asking" },
      ids.length < 4 ? h("label", null, _("Add a card"), h("select", { onchange: (event) => put([...ids, event.target.value]) }, option("", "–", ""), ordered.map((row) => option(row.gpu_id, row.gpu, "")))) : null),
    !ids.length ? none(_("Choose the first card above; the address then holds the comparison.")) : [
      h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": _("Table") }, h("table", null,
        h("thead", null, h("tr", null, h("td", null), ids.map((id) => h("th", { scope: "col" }, card(id), " ", h("button", { type: "button", onclick: () => put(ids.filter((one) => one !== id)) }, _("remove")))))),
        h("tbody", null,
          line(_("price"), (row, price) => (price?.price_usd ? [priced(price), h("br"), shop(price), " ", confirmed(price.confirmed_at, price.shop)] : null)),
          line(_("advice"), (row, price) => (price ? advice(price.advice) : null)),
          line(_("launch price"), (row) => money(row.msrp_usd)), line(_("over launch price"), (row, price) => percent(price?.premium_over_msrp)),
          line(_("used, from"), (row, price) => money(price?.used_usd)),
          line(_("total over the years"), (row, price) => money(price?.own_total_usd)),
          line(_("memory"), (row) => (row.memory_gb === null ? "" : `${number(row.memory_gb, 1)} GB ${row.memory_type ?? ""}`)),
          line(_("bandwidth"), (row) => (row.memory_bandwidth_gb_s === null ? "" : `${number(row.memory_bandwidth_gb_s, 0)} GB/s`)),
          line(_("tensor, 16 bits"), (row) => (row.tensor_fp16_tflops === null ? "" : `${number(row.tensor_fp16_tflops, 1)} TFLOPS`)),
          line(_("power"), (row) => (row.tdp_w === null ? "" : `${number(row.tdp_w, 0)} W`)),
          line(_("released"), (row) => day(row.released_on)),
          [...workloads().values()].map((workload) => line(workload.workload, (row) => { const one = scores().get(`${workload.workload_id} ${row.gpu_id}`); return one ? [`${short(one.score)} ${workload.unit}`, evidence(one.evidence, one.url)] : null; })),
          DATA.grid.models.map((model) => line(page(model, ["model", model]), (row) => { const one = runs.find((run) => run.gpu_id === row.gpu_id && run.model_id === model); return one ? _("{rate} tokens/s", { rate: short(one.expected_tokens_per_s) }) : null; })),
          line(_("models that run on one"), (row) => number(runs.filter((one) => one.gpu_id === row.gpu_id).length || null))))),
      h("p", { class: "soft" }, runs_on()),
      measured.length ? bars("compare-scores", _("Scores, each beside the best of these"), measured, new Map(ids.map((id) => [id, short_name(cards().get(id).gpu)]))) : null,
      prices_over_time("compare-prices", _("Lowest price over time, market {market}", { market: DATA.run.home }), ids),
    ],
  ];
};
const cloud_grid = (list) => grid("cloud", list, [
  { key: "gpu", head: "GPU", cell: (row) => (row.gpu_id ? card(row.gpu_id, false) : h("span", null, raw(row.gpu), " ", h("small", null, word("match", row.match_status)))) },
  { key: "gpu_count", head: _("GPUs"), kind: "r", cell: (row) => number(row.gpu_count) },
  { key: "hour", head: _("a GPU an hour, {currency}", { currency: currency() }), kind: "r", value: (row) => row.gpu_hour_usd, cell: (row) => [money(row.gpu_hour_usd), evidence(row.evidence)] },
  { key: "pricing_model", head: _("how"), filter: true, value: (row) => word("pricing", row.pricing_model) },
  { key: "provider", head: _("provider"), filter: true, cell: (row) => raw(row.provider) },
  { key: "instance", head: _("instance"), value: (row) => [row.instance, row.region].filter(Boolean).join(" "), cell: (row) => raw([row.instance, row.region].filter(Boolean).join(" ")) },
  { key: "confirmed", head: _("confirmed"), kind: "tight", value: (row) => row.confirmed_at, cell: (row) => confirmed(row.confirmed_at, row.shop) },
]);
/** An hour of a card of one's own beside an hour of one that is rented and does as much, and when owning costs less. */
const hours_of = (name, list) => {
  const shown = list.filter((row) => row.own_total_usd !== null).slice(0, 12);
  if (!shown.length) return null;
  const owning = (row) => { const price = money(row.own_total_usd / row.hours_of_use); return row.break_even_hours === null ? price : _("{price}, from {hours} h on", { price, hours: number(row.break_even_hours, 0) }); };
  return [bars(name, _("An hour of one's own card beside an hour of one that is rented and does as much"), shown.flatMap((row) => {
    const group = [`${short_name(cards().get(row.gpu_id)?.gpu ?? row.gpu_id)} / ${row.gpu_name}`, row.provider, word("pricing", row.pricing_model)].join(", ");
    const [rent, own] = [row.rent_total_usd / row.hours_of_use, row.own_total_usd / row.hours_of_use];
    return [{ group, key: "rent", value: rent, text: money(rent) }, { group, key: "own", value: own, text: owning(row) }];
  }), new Map([["rent", _("renting")], ["own", _("owning, and the hours of use from which on it costs less")]])), h("p", { class: "soft" }, assumed())];
};
const rent_page = () => [heading(_("Renting")), hours_of("rent-hours", [...rentals().values()].map((list) => list.find((row) => row.comparability === "same card") ?? list[0])), DATA.cloud.rows.length ? cloud_grid(rows("cloud")) : none(_("No cloud's prices were read."))];

// ---- What changed, sources, claims, dictionary ------------------------------------------------------------------------------

const changes_grid = (list, whole = true) => (list.length ? grid("changes", list, [
      { key: "gpu", head: "GPU", value: (row) => cards().get(row.gpu_id)?.gpu ?? "", cell: (row) => [row.gpu_id ? card(row.gpu_id, false) : "", h("span", { class: "narrow soft" }, shop(row))] },
      { key: "new", head: _("now"), kind: "r", value: (row) => row.new_price, cell: (row) => [row.new_price == null ? h("span", { class: "soft" }, word("change", row.change)) : printed(row.new_price, row.currency), evidence(row.evidence, row.url, row.title)] },
      { key: "ratio", head: "%", kind: "r", value: (row) => row.change_ratio, cell: (row) => percent(row.change_ratio) },
      { key: "old", head: _("before"), kind: "r", value: (row) => row.old_price, cell: (row) => printed(row.old_price, row.currency) },
      { key: "change", head: _("change"), filter: true, value: (row) => word("change", row.change) },
      { key: "shop", head: _("shop"), filter: true, value: sold_by, cell: shop },
      { key: "changed_at", head: _("when"), kind: "tight", cell: (row) => day(row.changed_at) },
      { key: "stock", head: _("stock"), value: (row) => (row.old_availability === row.new_availability ? "" : word("availability", row.new_availability)) },
      { key: "title", head: _("title"), kind: "wide spare", cell: (row) => link(row.title, row.url) },
    ], { most: 60, search: whole }) : none(_("Nothing changed.")));
const changes_page = () => {
  const list = rows("changes");
  const moved = list.filter((row) => row.gpu_id && row.change_ratio).sort((a, b) => Math.abs(b.change_ratio) - Math.abs(a.change_ratio)).slice(0, 12)
    .map((row) => ({ group: `${short_name(cards().get(row.gpu_id)?.gpu ?? row.gpu_id)}, ${sold_by(row)}, ${printed(row.old_price, row.currency)} → ${printed(row.new_price, row.currency)}`, key: "moved", value: row.change_ratio, text: percent(row.change_ratio) }));
  const total = list[0]?.total ?? 0;
  return [
    heading(_("What changed in seven days")),
    moved.length ? bars("changes-moved", _("How far prices moved"), [...new Map(moved.map((row) => [row.group, row])).values()], new Map([["moved", ""]])) : null,
    changes_grid(list),
    total > list.length ? h("p", { class: "soft" }, _("The newest {count} of {all}; `gpuledger changes` has the rest.", { count: number(list.length), all: number(total) })) : null,
  ];
};
const sources_page = () => {
  const [held, unmatched, quarantine] = [rows("held"), rows("unmatched"), rows("quarantine")];
  return [
    heading(_("Sources and what they left open")),
    grid("sources", sources(), [
      { key: "source", head: _("source"), value: (row) => title(row.source), cell: (row) => [raw(title(row.source)), " ", h("small", { translate: "no" }, row.source)] },
      { key: "status", head: _("status"), filter: true, value: (row) => word("status", row.status), cell: (row) => h("span", { class: row.is_old ? "bad" : "good" }, row.is_old ? `${word("status", row.status)}, ${_("stale")}` : word("status", row.status)) },
      { key: "rows", head: _("rows"), kind: "r", cell: (row) => number(row.rows) },
      { key: "last_success_at", head: _("last read"), kind: "tight", cell: (row) => minute(row.last_success_at) },
      { key: "freshness_hours", head: _("may be old, hours"), kind: "r", cell: (row) => number(row.freshness_hours) },
      { key: "reason", head: _("reason"), kind: "wide message", cell: (row) => raw(row.reason) },
    ], { search: false }),
    h("h2", null, _("Held prices")), held.length ? held_grid(held) : h("p", null, _("None: no price moved too far to be believed at once.")),
    h("h2", null, _("Titles that match no card, or several")), unmatched.length ? grid("unmatched", unmatched, [
      { key: "title", head: _("title"), kind: "wide", cell: (row) => link(row.title, row.url) },
      { key: "kind", head: _("kind"), filter: true, value: (row) => word("kind", row.kind) },
      { key: "shop", head: _("source"), filter: true, value: sold_by },
      { key: "match_status", head: _("status"), filter: true, value: (row) => word("match", row.match_status) },
      { key: "match_candidates", head: _("may be"), kind: "wide", value: (row) => row.match_candidates?.split(" ").map((one) => cards().get(one)?.gpu ?? one).join(", ") },
    ], { most: 25 }) : h("p", null, _("None.")),
    h("h2", null, _("Rows in quarantine")), quarantine.length ? grid("quarantine", quarantine, [
      { key: "reason", head: _("reason"), kind: "wide message", cell: (row) => [raw(row.reason), evidence(row.evidence)] },
      { key: "shop", head: _("source"), filter: true, value: sold_by },
      { key: "count", head: _("rows"), kind: "r" },
    ]) : h("p", null, _("None.")),
  ];
};
const claims_page = () => [
  heading(_("Claims of the source documents, recomputed")),
  grid("claims", rows("claims"), [
    { key: "statement", head: _("statement"), kind: "wide", cell: (row) => raw(row.statement) },
    { key: "document", head: _("document"), filter: true, cell: (row) => h("span", { class: "nowrap" }, raw(row.document)) },
    { key: "published", head: _("printed"), kind: "r", cell: (row) => number(row.published, row.decimals ?? 2) },
    { key: "recomputed", head: _("recomputed"), kind: "r", cell: (row) => number(row.recomputed, (row.decimals ?? 2) + 1) },
    { key: "unit", head: _("unit"), cell: (row) => raw(row.unit) },
    { key: "verdict", head: _("verdict"), filter: true, value: (row) => word("verdict", row.verdict), cell: (row) => h("span", { class: row.verdict === "agrees" ? "good" : row.verdict === "differs" ? "bad" : "soft" }, word("verdict", row.verdict)) },
    { key: "erratum", head: _("what is wrong"), kind: "wide", cell: (row) => raw(row.erratum) },
  ], { most: 250 }),
];
const dictionary_page = () => [
  heading(_("Dictionary")),
  facts([_("street price"), _("the lowest price of a new card that a shop itself has in stock, seen in time and not held")], [_("launch price"), _("what the maker asked when it was announced")],
    [_("× score, × price"), _("against {card}", { card: DATA.run.baseline ?? "–" })], [_("Pareto front"), _("nobody else is at least as fast for no more money")],
    [_("held"), _("a price that moved too far to be believed at once, until it is seen again")], [_("suspect"), _("a day whose lowest price the days around it do not bear out")]),
  h("p", null, _("Each table with what it is, and what each of its columns means.")),
  [...group(rows("tables"), "table")].map(([table, list]) => h("details", { id: `table-${table}` }, h("summary", null, raw(table)), h("p", null, raw(list[0].description)),
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": table }, h("table", null, h("thead", null, h("tr", null, [_("column"), _("type"), _("meaning")].map((one) => h("th", { scope: "col" }, one)))), h("tbody", null, list.map((row) => h("tr", null, h("th", { scope: "row" }, raw(row.column)), h("td", null, raw(row.type)), h("td", { class: "wide" }, raw(row.meaning))))))))),
];
const missing = () => [heading(_("There is no such page")), h("p", null, page(_("What to buy or rent"), []))];

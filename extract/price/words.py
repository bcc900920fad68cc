"""Words with which shops say what an amount is: a monthly rate, an old price, a saving, a cost of delivery, a price from.

`before` patterns are tried on the text between the previous number and the amount, `after` patterns on the text right behind
the amount. The words are from the languages of the pages that are read. If a word is missing here, its amount has no label.
So if an amount stands beside another one, the reader refuses both and does not trust the list to be complete.
"""

from __future__ import annotations

import re
from typing import Literal

from gpuledger.extract import words
from gpuledger.extract.items import PriceKind
from gpuledger.extract.words import at_word_start

#: What an amount may be. `now` is the label if no word says otherwise. `net` is a price before tax, if a word names the tax.
#: `bid` is the current bid of an auction. `member` is a price that only some buyers
#: pay, and `noise` is no price of the goods (saving, delivery, fee).
Label = Literal["now", "list", "from", "monthly", "bundle", "unit", "net", "bid", "member", "noise"]
#: The kind of price for each label. An amount with a label that is missing here is no price.
KINDS: dict[Label, PriceKind] = {
    "now": "now",
    "net": "now",
    "list": "list",
    "from": "from",
    # The winner of an auction pays at least this much.
    "bid": "from",
    "monthly": "monthly",
    "bundle": "bundle",
}


_MONTHLY_BEFORE = at_word_start(
    r"""
    monthly(?: (?:payment|rate|instal?lment|price|cost)s?)?
    months? (?:at|of|for) | payments? of | instal?lments? of | monatlich | monatsrate | rate von
    fois (?:sans frais )?(?:dès|à partir de|de|pour)\W*$ | raten (?:à|zu|ab|von)\W*$ | plazos de | termijnen van | vezes de
    mensualit[ée]s? de | cuotas? de | parcelas? de | rate? da | rat[ay] od | rata | měsíčně | в месяц | 월\s*$ | 月々
    每期 | 分期
    [x×]\s*(?:de|of|à|da|по)?\s*(?:[^\w\s]|R\$|US\$)?\s*$ | pay in \d
    """
)
_MONTHLY_AFTER = re.compile(
    r"""\W{0,3}(?:
        /\s?(?:mo|mth|mths|month|monat|mtl|mois|mes|mese|mês|mnd|maand|mies|m-c|měs|mes|мес|міс|월|月|mån|md|mnd|kk|hó|lună|kuu|mēn|mėn)\b
        |(?:per|a|each|every|pro|par|por|al|ao|au|p)\s?[./]?\s?(?:month|mo\b|monat|mois|mes\b|mês|mese|maand|måned|månad|m\b)
        |p\s?/\s?m\b|monthly|monatlich|mtl\b|mensue|mensua|mensil|mensais|miesięcznie|mies\b|měsíčně|mesačne|kuukaudessa|havonta|lunar\b
        |в\s?мес|на\s?месяц|на\s?місяць|월(?!드)|개월|ヶ月|か月
        |x\s?\d|×\s?\d|(?:sem|sin|s/)\s?(?:juros|inter[ée]s)|for\s+\d+\s+mo|for\s+\d+\s+payments
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_LIST_BEFORE = at_word_start(
    r"""
    was\b | were\b | list(?: price)?\b | m\.?s\.?r\.?p | r\.?r\.?p\b | srp\b | reg(?:ular)?(?:\.| price)
    old price | before\b | original(?:ly)?\b | previous(?:ly)?\b | instead of | typical price | compare at
    retail price | lowest price | statt\b | uvp\b | u\.v\.p | vorher\b | früher | bisher | alter preis
    ursprünglich | streichpreis | prix conseillé | au lieu de | avant\b | ancien prix | prix (?:de )?base
    prix barré | prix initial | antes\b | precio anterior | precio (?:de )?lista | precio normal | pvpr\b | pvp recomendado
    prima\b | invece di | prezzo di listino | prezzo consigliato | preço (?:original|anterior|antigo)
    adviesprijs | van voor | oude prijs | zamiast | cena (?:regularna|katalogowa|przed) | stara cena
    nejnižší cena | najnižšia cena | niedrigster preis | prix le plus bas | prezzo più basso | precio (?:más bajo|mínimo)
    preço mais baixo | laagste prijs | lägsta pris | laveste pris | alin hinta | legalacsonyabb ár | cel mai mic pre[tț]
    най-ниска цена | najnižja cena | mažiausia kaina | žemiausia kaina | zemākā cena | madalaim hind | χαμηλότερη
    najniższa cena | poprzednia cena | przed obniżką | před slevou | původní | běžn[áě] | doporučená cena
    pred zľavou | pôvodn | redna cena | stara cijena | najniža cijena | ord(?:inarie|inær|\.)? ?pris | ord\.(?!\w) | tidigare
    førpris | før\b | veil\.? | vejl\.? | ovh\b | norm(?:aali)?hinta | tavahind | régi ár | eredeti ár
    pre[tț] (?:vechi|inițial|recomandat) | prp\b | parastā cena | sena kaina | vecā cena | стара(?:я|та|) цена
    стара ціна | было\b | рекоменд | 正価 | 定価 | 参考価格 | 通常価格 | 原價 | 原价 | 定價 | 市價 | 市场价 | 정가
    소비자가 | 기존가 | 판매가격? 이전
    eski fiyat | ^\W*de\s*: | normal\s*:
    m\.?r\.?p\b | reg\s*$ | orig\. | full price | market price | usual(?:ly)?(?: price)?\s*$ | comp(?:arable)?\.? value
    listenpreis | normalpreis | ehem\. | unverb\. | prix (?:normal|public|habituel|catalogue)
    precio (?:habitual|original|regular) | listino | anziché | prezzo (?:originale|iniziale|pieno|intero|precedente)
    preço de tabela | winkelprijs | normale? prijs
    cena (?:rynkowa|sugerowana|detaliczna) | sugerowana cena | dříve | rek(?:\.|ommenderat)? ?(?:ca)?-?pris | förpris
    (?:veiledende|vejledende) | normal ?pris | norm\.(?!\w) | ovh-hinta | piyasa | liste fiyat | etiket fiyat | önceki fiyat
    (?:メーカー)?希望小売価格 | 元値 | 할인 ?전 | 정상가 | 시중가 | 原售價 | 原售价 | 建議售價 | 建议零售价 | 划线价
    門市價 | 门市价 | 吊牌
    """
)
_NOISE_BEFORE = at_word_start(
    r"""
    save\b | saving | you save | discount | off\b | coupon | rebate | cash ?back | gift card | credit\b | voucher
    spar(?:en|st|e)?\b | ersparnis | rabatt? | nachlass | économi | remise | réduction | ahorr | descuento | dto\b
    risparmi | sconto | economi | desconto | bespaar | korting | oszczę | taniej | ušetř | ušetr | slev[ay] | zľav
    ustedite | prihran | popust | kedvezmény | megtakar | reducere | скидк | эконом | выгод | знижк | отстъпк
    카드 ?(?:즉시 ?)?할인가 | 쿠폰 ?(?:적용|할인)가
    할인(?!가| ?(?:된|후|적용|전)) | 절약 | 쿠폰 | 적립 | 割引 | ポイント | 省\b | 優惠券 | indirim | säästä | alennus
    soodus(?!hind)
    (?<!free )shipping | delivery | postage | p&p | versand | lieferung | porto\b | livraison | frais de port | port\s*:?\s*$
    env[íi]o | gastos de | spedizione | frete | portes | verzend | wysyłk | dostaw | doprav | poštovn | dostav
    доставк | 배송 | 送料 | 運費 | 运费 | 快递 | frakt | fragt | toimitus | szállítás | livrare | dont | éco-?part | zzgl\.?
    plus\b
    (?:\w+ )?plans?\W*$ | (?:extended )?warranty\W*$ | insurance\W*$ | protection\W*$ | garantieverlängerung
    versicherung\W*$ | geräteschutz | garanti[ea]?\W*$ | garantía\W*$ | garanzia\W*$ | gwarancj\w*\W*$
    záruk\w*\W*$ | 보증\W*$
    extension de garantie | assurance\W*$ | garantía extendida | (?:ampliación|extensión) de (?:la )?garantía
    (?:przedłużon|rozszerzon)\w+ gwarancj | prodloužen\w+ záru | verlengde garantie | (?:förlängd|utökad) garanti
    (?:forlænget|udvidet) garanti | jatkettu takuu | lisätakuu | (?:расширенн|дополнительн)\w+ гаранти | 延長保固
    (?:extensão de garantia|garantia estendida) | uzatılmış garanti | seguro\W*$ | estensione (?:di )?garanzia
    assicurazione\W*$ | 延長保証 | 연장\s?보증 | 보험\W*$ | 延保
    (?:starting|opening|next|minimum|your|max(?:imum)?) (?:minimum )?bid\b | bid increment
    (?:mindest|start|eröffnungs)gebot | gebot\b | nächstes gebot
    gebotsschritt | mise à prix | prochaine enchère | enchère | puja (?:mínima|inicial)
    próxima puja | offerta minima | prossima offerta | rilancio | minimumbod | startbod | volgend bod | utropspris
    開始価格 | 最低入札 | 次の入札 | 起標價 | 시작가 | 다음 입찰
    ^\W*derniers jours
    ^\W*(?:days?|tagen?|jours|días|dias|giorni|dagen|dagar|dag[ae]r?|dn[íi]|dní|nap|zile|дн(?:и|ей|ів)|dan[ai]|päivää|pv|päeva|dien[uų]|ημέρ\w+|日間?|일)\b
    in-?store price | цена в магазин
    last (?:sale|sold) | sell (?:yours )?for | trade (?:in )?for
    approx | deposit | pfand | up to | bis zu\b | over\b | orders?\b | minimum | mindest | trade-?in | points?\b
    """
)
#: The price of those who are in a club.
_MEMBER_BEFORE = at_word_start(
    r"""
    (?<!non-)(?<!non )(?:prime |plus |pro )?members?(?:['’]s?)?(?: only)? (?:price|deal|pays?)
    club(?: price|card)\b | with prime\W*$
    prime (?:member|price) | mitgliederpreis | clubpreis | prix (?:membre|adhérent|club) | precio (?:de )?socio
    prezzo (?:soci|club) | preço (?:de )?sócio | ledenprijs | cena klubowa | clubová cena | medlemspris | jäsenhinta
    (?:für|nur) mitglieder | mitglieder zahlen | pour les (?:membres|adhérents) | para soci[oa]s | para membros | per i soci
    voor leden | (?:för|for) medlem\w+ | cena (?:dla|pro) (?:klubow\w+|członk\w+|člen\w+) | dla (?:klubowicz\w*|członków)
    pro členy | для (?:членов|участников) клуба | 会員(?:様|限定|特価)
    цена (?:по|с) карт\w+ | (?:회원|멤버[십쉽]|와우)\s?(?:회원|전용|특별)?\s?(?:할인)?가(?!입) | 会員価格
    會員價 | 会员价
    """
)
# Words before a colon or another amount describe what follows: `$549.99 Shipping: $9.99`.
_NOISE_AFTER = re.compile(
    r"""\W{0,3}(?:折(?!後|后|扣價|扣价|抵)|off\b|discount|shipping|delivery|postage|p&p|versand|rabatt?|gespart|ersparnis|livraison|frais|envío|de\sdescuento|con\s(?:la\s|tu\s)?tarjeta
        |de\sréduction|d['’]éco|éco-?part|spedizione|frete|verzend|dostaw|doprav|доставк|배송|할인(?!가)|적립|割引|送料|cash\s?back|gift|credit
        |(?:for\s|when\syou\s)?(?:mix(?:ing)?\s(?:six|any|\d+)|when\syou\s(?:buy|mix|subscribe|spend))|each\swhen|(?:for|with|as)\s(?:an?\s)?(?:\w+\s){0,3}(?:members?|rewards?|pros|subscribers|cardholders?)\b|(?:plus)?\s?会员价|會員價|会員価格|회원가|members?(?:['’]s?)?\sprice|club\sprice
        |相当|상당|deposit|down\s?payment|anzahlung|acompte|zaliczk|rebate|coupon|savings?\b|saved\b|and\sunder|&\sunder|or\sless|trade-?in|points?\b)
        (?!\w*\s*(?::|[$€£¥]?\s?\d|disponib|available|possible|möglich|tomorrow|today|by\s|on\s|within|in\s|demain|aujourd|sous|mañana|hoy|en\s|domani|oggi|entro|amanhã|hoje|em\s
            |morgen|heute|am\s|bis\s|innerhalb|jutro|dzi[sś]|w\s|zítra|dnes|завтра|сегодня|за\s|через|내일|오늘|明日|翌日|free|gratuit|offert|inclus|kostenlos|gratis|included|za\sdarmo|zdarma|zadarmo|бесплатн|무료|無料))""",
    re.IGNORECASE | re.VERBOSE,
)
#: `+ 49.00 €` is added to a price.
_ON_TOP = re.compile(r"\+\s*$")
_FROM_BEFORE = re.compile(
    r"""(?:(?<![^\W\d_])(?:from|starting(?:\sat|\sfrom)?|starts(?:\sat|\sfrom)?|as\slow\sas|ab|da|a\spartire\sda|à\spartir\sde|a\spartir\sde|dès
        |desde|od|już\sod|již\sod|už\sod|от|від|från|fra|alkaen|vanaf|v\.?a\.?|de\sla|începând\sde\sla|alates|nuo|sākot\sno|από|最低|최저가?))
        [\s:.]*$""",
    re.IGNORECASE | re.VERBOSE,
)
_FROM_AFTER = re.compile(r"\W{0,2}(?:부터|から|より|起|alkaen|-?t[óő]l\b|and\sup|or\smore)|[~～〜+]\s*$", re.IGNORECASE)
_UNIT_AFTER = re.compile(
    r"""\W{0,2}(?:/|per|pro|par|por|je|za|за|v\b)\s?(?:\d+\s?)?
        (?:kg|kilo\w*|g\b|gr\b|l\b|lit\w*|ml\b|cl\b|m\b|m²|m2|m³|sq\.?\s?\w+|lb|oz\b|ft\b|gb\b|tb\b
        |hour|hr\b|h\b|stunde|week|year|yr\b|day|night|jahr|an\b|tag\b|woche
        |년|연\b|年|일\b|日|주\b|週|周|시간|時間|小时)""",
    re.IGNORECASE | re.VERBOSE,
)
_NET = words.net_source()
_NET_BEFORE = re.compile(rf"(?:{_NET}|{words.source('tax', 'net_before')})[\s:.：）]*$", re.IGNORECASE)
# `40.00 € excl. VAT: 36.53 €`: the words before a colon describe what follows, as those in brackets before an amount do:
# `54,780円（税抜49,800円）`, but not `100 € (ohne 19 % MwSt.)`.
_NET_AFTER = re.compile(
    rf"(?!\W{{0,2}}[(（]\s?{_NET}[^\w)）]{{0,4}}\d(?![\d.,]*\s?%))\W{{0,3}}{_NET}(?!\s*:)", re.IGNORECASE
)
_BUNDLE_BEFORE = re.compile(
    r"""\bbundle\b|\bcombo\b|\btogether\b|\bset\sof\b|\bzestaw\b|\bpacks?\sfor\b
        |^\s*(?!buy\s)(?:\w+\s)?(?:for|für|pour|za|за)\b(?:\s(?:nur|only|just|seulement))?\W*$""",
    re.IGNORECASE | re.VERBOSE,
)
_NOW_BEFORE = at_word_start(
    r"""
    deal(?: of the day| price)?\b | daily deal | today['’]s deal | tagesangebot | tagespreis | deal des tages
    oferta del día | offerta del giorno | offre du jour | prix du jour | okazja dnia | タイムセール | 本日限り
    오늘의? ?특가 | 공동\s?구매가
    group (?:buy )?price | 團購價 | 团购价 | 拼团价 | 秒杀价
    now\b | sale(?: price)?\b | our price | special price | today | jetzt | nur noch | angebotspreis | aktuell
    maintenant | ahora | precio especial | oferta | adesso | ora\b | agora | por\b | nu\b | voor\b | teraz | nyní
    nyn[ií] | teď | po slev[ěe] | сейчас | цена со скидкой | теперь | 할인가 | 판매가 | 즉시할인가 | 特価 | 特價
    網路價 | 優惠價 | 优惠价
    nüüd | tagad
    dabar | 할인 ?(?:된|후|적용) ?(?:가격?|금액|판매가)
    """
)

_BID_BEFORE = at_word_start(
    r"""
    (?:current|highest|winning|leading|high) (?:bid|offer)s?\b | (?:aktuelles|höchstes) gebot | höchstgebot | aktuelle gebote
    enchère (?:actuelle|en cours) | meilleure enchère | puja (?:actual|más alta) | offerta (?:attuale|più alta)
    (?:huidig|hoogste) bod | aktualna oferta | najwyższa oferta | lance atual | (?:nuvarande|ledande) bud
    (?:nåværende|høyeste) bud | (?:nuværende|højeste) bud | korkein tarjous | текущая ставка | 現在価格 | 現在の価格
    現在入札 | 目前出價 | 目前標價 | 当前价 | 현재\s?(?:입찰)?가
    """
)

#: Words beside which a number without a currency is still a price.
_NEUTRAL = re.compile(
    r"""(?<![^\W\d_])(?:(?:vat|부가세)\s?(?:포함|별도)|price|prices|our|your|now|only|just|sale|final|net|gross|total|unit|each|ea|retail|special|current|buy|order|cost
        |costs|inc|incl|including|inkl|excl?|ex|exclusive|inclusive|vat|tax|taxes|gst|mwst|ust|ttc|ht|tva|iva|btw|moms|mva|dph|ddv|pdv
        |ндс|пдв|ддс|kdv|preis|preise|nur|jetzt|netto|brutto|prix|precio|precios|prezzo|preço|prijs|pris|priset|hinta|cena|ceny|cijena
        |ár|ára|bruttó|nettó|pre[tț]|kaina|hind|цена|ціна|цени|fiyat|fiyatı|giá|가격|판매가|최저가|공급가|価格|税込|税抜|税|售價|售价|价格|價格|特價|특가
        |ab|from|was|list|msrp|rrp|uvp|statt|undefined|naše|naša|běžná|od|от|da|desde|à|partir|de|vente|s|bez|z|in|der|die|le|la|los
        |por|onze|unser|unsere?r?|notre|nuestro|nostro|nosso|nasza|vår|vores|meie|para|und|and|with|card|approx|ca|circa)(?![^\W\d_])""",
    re.IGNORECASE | re.VERBOSE,
)


#: Labels that stand only before the price of the goods, in a table or on a line alone: `Price:`, `Unser Preis`, `판매가`.
PRICE_LABEL = re.compile(
    r"""[\W_]*(?:(?:our|your|sale|sales|unit|net|retail|current|special|now|unser|ihr|notre|votre|nuestro|tu|nostro|nosso|onze
        |nasza|naše|vår|prezzo|precio|preço|prix|cena|online|web|internet)[\s-]*)?
        (?:price|preis|prix|precio|prezzo|preço|prijs|pris|cena|cijena|hinta|hind|fiyat|fiyatı|ár|ára|bruttó\sár|pre[tț]|kaina
        |цена|ціна|τιμή|價格|价格|售價|售价|特價|網路價|優惠價|优惠价|促销价|価格|販売価格|税込価格|가격|판매가|판매가격|giá(?:\sbán)?|harga|ราคา
        |מחיר|السعر)[\s:：.\-–=>¦|]*""",
    re.IGNORECASE | re.VERBOSE,
)
_PRICE_WORD = re.compile(
    r"price|pricing|preis|prix|precio|prezzo|preço|prijs|(?<!\w)pris|cen(?:a|ę|y|ie|u)(?!\w)|cijena|hinta|fiyat|pre[tț](?!\w)|цена|ціна|價|价|価格|가격|판매가",
    re.IGNORECASE,
)


def is_of_price(text: str) -> bool:
    """Whether a text has a word for `price` in it."""
    return _PRICE_WORD.search(text) is not None


_USUAL = at_word_start(
    r"""
    reg(?:ular)?(?:\.| price) | retail price | precio normal | normal\s*: | prix (?:de )?base
    m\.?r\.?p\b | prix normal | normalpreis | normal ?pris\b | 정상가
    redna cena | norm(?:aali)?hinta | tavahind | parastā cena | ord(?:inarie|inær|\.)? ?pris | 通常価格
    """
)


def is_usual(text: str) -> bool:
    """Whether the words call an amount the usual price: the old one beside a sale price, the asked one if it is alone."""
    return _USUAL.search(text) is not None


def without_net_words(text: str) -> str:
    """The text without `excluding tax` or similar words at its beginning, which describe the amount before the text."""
    return _NET_AFTER.sub(" ", text, count=1) if _NET_AFTER.match(text) else text


def only_neutral(text: str) -> bool:
    """Whether every word of the text may stand beside a bare number that is a price."""
    return not re.search(r"[^\W\d_]", _NEUTRAL.sub(" ", text))


def explains(text: str) -> bool:
    """Whether the text holds only words that stand before prices, so that it cannot end with a product's name."""
    for pattern in (_LIST_BEFORE, _NOW_BEFORE, _FROM_BEFORE):
        text = pattern.sub(" ", text)
    return only_neutral(text)


#: If two patterns match up to the same place, the first of them counts.
_NEAREST: tuple[tuple[Label, re.Pattern[str]], ...] = (
    ("bid", _BID_BEFORE), ("member", _MEMBER_BEFORE), ("noise", _NOISE_BEFORE), ("list", _LIST_BEFORE), ("now", _NOW_BEFORE)
)  # fmt: skip


_WORDS_OF_LABELS = tuple(
    re.compile(rf"(?:{pattern.pattern})[^\W\d_\u3040-\uffff]*", pattern.flags)
    for pattern in (
        _MONTHLY_BEFORE,
        _LIST_BEFORE,
        _NOISE_BEFORE,
        _MEMBER_BEFORE,
        _NOW_BEFORE,
        _FROM_BEFORE,
        _BID_BEFORE,
        _NET_BEFORE,
    )
)


#: The term of a plan: `2 Year Replacement Plan`.
_TERM = re.compile(
    r"""\d+[\s-]?(?:years?|yrs?|jahre?n?|ans?|années?|años?|anni|anos|jaar|lata?|let|rok[yů]?|år|vuo\w+|лет|года?|yıl|年|년
        |months?|monate?n?|mois|meses|mesi|maanden|miesi\w+|měsíc\w*|månad\w*|måneder|мес\w*|ヶ月|개월)(?![^\W\d_])""",
    re.IGNORECASE | re.VERBOSE,
)


def is_label(text: str) -> bool:
    """Whether a text labels the amount behind it: it ends with a colon, or has no words but those of labels and no number.

    `Shipping` is a label, `Free shipping`, `10% off` and `Coupon available` are not.
    """
    if text.rstrip().endswith((":", "：")):
        return True
    text = _TERM.sub(" ", text)
    if any(map(str.isdigit, text)):
        return False
    for pattern in _WORDS_OF_LABELS:
        text = pattern.sub(" ", text)
    return only_neutral(text)


def label(before: str, after: str) -> Label:
    """The label that the words around an amount give it. `before` starts at the previous number, `after` is the rest."""
    if _MONTHLY_AFTER.match(after) or _MONTHLY_BEFORE.search(before):
        return "monthly"
    if _NOISE_AFTER.match(after) or _ON_TOP.search(before):
        return "noise"
    if _UNIT_AFTER.match(after):
        return "unit"
    if _NET_AFTER.match(after) or _NET_BEFORE.search(before):
        return "net"
    # The nearest word decides: the amount behind 'was 10 % off, now' is labelled `now`.
    places: dict[Label, int] = {name: last.end() for name, pattern in _NEAREST if (last := _last(pattern, before))}
    if places:
        nearest = max(places, key=lambda name: places[name])
        if nearest != "now":
            return nearest
    if _FROM_AFTER.match(after) or _FROM_BEFORE.search(before):
        return "from"
    return "bundle" if _BUNDLE_BEFORE.search(before) else "now"


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    match = None
    for match in pattern.finditer(text):  # noqa: B007
        pass
    return match

"""Words by which shops of many countries say that goods are in stock, gone, or still to come. One language group a line."""

from __future__ import annotations

import re

from gpuledger.extract.items import Availability
from gpuledger.extract.word_table import at_word_start

_OUT = at_word_start(
    r"""
    out[ -]of[ -]stock | sold[ -]?out | unavailable | not (?:currently )?available | no longer | discontinued
    notify me\s*$ | temporarily out | (?:e-?mail|notify|alert|tell) me (?:when|if|as soon) | let me know when | back in stock
    benachrichtig | prévenez-moi | m['’]alerter | alertez-moi | av[íi]same | avvisami | powiadom | hlídat | hlídací
    avisem-me | houd me op de hoogte | bevaka | 入荷(?:の?お知らせ|通知|待ち) | 到貨通知 | 到货通知 | 貨到通知 | 재입고
    ausverkauft | nicht (?:mehr )?(?:verfügbar|lieferbar|auf lager|vorrätig) | derzeit nicht | vergriffen
    épuisé | rupture | indisponible | (?:non|plus) disponible | en réappro
    agotado | sin (?:stock|existencias) | no disponible | esaurito | non disponibile | non è disponibile
    esgotado | indispon[íi]vel | sem (?:estoque|stock) | fora de estoque | avise-me
    uitverkocht | niet (?:op voorraad|beschikbaar|leverbaar) | wyprzedan | wycofan | niedostępn | brak (?:w|na|towaru)
    vyprodáno | není skladem | nedostupn | vypredan | nie je (?:skladom|na sklade) | momentálne nie
    razprodan | ni na zalogi | ni zaloge | rasprodan | nije (?:na|dostupn) | nema na | nedostupan
    elfogyott | nincs (?:készleten|raktáron) | nem (?:rendelhető|kapható|elérhető) | stoc epuizat | indisponibil
    nu este (?:în|in|disponibil)
    нет (?:в наличии|на складе) | распродан | закончил | недоступ | отсутству | немає | нема в | відсутн | изчерпан
    няма
    slutsåld | slut i lager | ej i lager | ikke (?:på lager|tilgjengelig) | utsolgt | udsolgt | loppu
    ei (?:varastossa|saatavilla)
    läbi müüdud | pole (?:laos|saadaval) | nav (?:pieejam|noliktav) | izpārdot | išparduot | nėra | tükendi
    stokta yok | εξαντλ
    売り切れ | 在庫(?:切れ|なし) | 品切れ | 完売
    (?:販売|取扱い?)(?:を)?終了 | 缺貨 | 缺货 | 售完 | 无货 | 無庫存 | 已售 | 補貨 | 품절 | hết hàng
    habis | غير متوفر | אזל
    """
)
_PREORDER = at_word_start(
    r"""
    pre-?order | coming soon | (?<!can be )back-?order | vorbestell | précommand | reserva anticipada | preventa | prevendita
    pré-venda | preordina
    przedsprzedaż | předobjedn | predobjedn | prednaroč | предзаказ | передзамовл | förhand | forhånd | ennakkotil
    eeltelli | előrendel | precomand
    予約 | 預購 | 预售 | 예약
    """
)
_IN = at_word_start(
    r"""
    in[ -]stock | available | only \d+ left | ships (?:today|in|within) | ready to ship | auf lager
    (?:sofort )?lieferbar | verfügbar | vorrätig
    en stock | disponible | disponibile | disponibilità immediata | em (?:estoque|stock) | dispon[íi]vel | op voorraad
    leverbaar
    dostępn | (?:w|na) magazynie | na stanie | skladem | skladom | na sklade | na zalogi | na lageru | dostupno
    na skladištu | raktáron | készleten | elérhető
    (?:în|in) stoc | в наличии | есть на складе | в наявності | є в | наличен | i lager | på lager | varastossa
    saatavilla | laos | saadaval | pieejam | ir noliktavā
    yra sandėlyje | turime | stokta var | διαθέσιμ | 在庫あり | 有貨 | 有货 | 现货 | 現貨 | còn hàng | tersedia
    متوفر | במלאי | 재고 있음
    """
)


#: How a line begins on the page of a single item that is sold, or whose sale is over.
_ENDED = at_word_start(
    r"""
    (?:(?:this|the) )?(?:listing|auction|item|ad|advert|sale|bidding|lot) (?:has |was )?(?:been )?(?:ended|sold|expired)\b
    (?:(?:this|the) )?(?:listing|auction|ad|advert|sale|bidding|lot) (?:has |was |is )?(?:been )?(?:closed|removed)\b
    sold\W*$ | winning bid\b | sold (?:for|on|price)\b | ended\s*:
    (?:diese[sr]? )?(?:angebot|auktion|anzeige|artikel)[\w ]{0,20} (?:beendet|verkauft|deaktiviert|abgelaufen|gelöscht)
    (?:cette )?(?:annonce|enchère|vente|offre)[\w' ]{0,20} (?:terminée|expirée|désactivée|vendue?)
    (?:este |esta )?(?:anuncio|subasta|artículo|publicación)[\w ]{0,20} (?:finaliz|vendid|terminad|caducad)
    (?:questa |questo |l['’])?(?:asta|inserzione|annuncio|oggetto)[\w' ]{0,20} (?:scadut|conclus|terminat|chius|vendut)
    (?:deze )?(?:veiling|advertentie)[\w ]{0,20} (?:gesloten|verlopen|beëindigd|verwijderd)
    (?:ta )?(?:aukcja|oferta|ogłoszenie)[\w ]{0,20} (?:zakończon|nieaktualn|archiwaln|nieaktywn)
    объявление снято | товар продан | (?:このオークションは)?終了(?:しました|しています) | 판매\s?(?:완료|종료) | 거래\s?완료
    """
)


def has_ended(text: str) -> bool:
    """Whether a line says that a listing, an auction or an advertisement is over."""
    return _ENDED.match(text) is not None


def begins_gone(text: str) -> bool:
    """Whether a line begins with words for goods that are gone, perhaps behind a word for the goods."""
    status = _GOODS.sub("", text)
    return _OUT.match(status) is not None and _OF_SERVICE.match(status) is None


#: A shop says `no longer` about what it does, too, and not only about goods.
_OF_SERVICE = re.compile(
    r"no longer (?!available|in stock|sold|made|for sale|produced|offered|stocked|in production)", re.I
)
#: What may stand before the words of a status.
_GOODS = re.compile(
    r"^\W*(?:(?:sorry|leider|désolé)\W+)?(?:(?:this|the|dieser?|dieses|ce|cet|questo|este|ten|il|el|le|o)\s+|l['’])?"
    r"(?:item|product|artikel|produkt|article|produit|prodotto|articolo|producto|artículo|produto|availability|stock"
    r"|ad|listing|event|offer|anzeige|angebot|annonce|offre|anuncio|oferta|annuncio|inserzione|advertentie"
    r"|home delivery|verfügbarkeit|disponibilit\w+|dostępność)?(?:\s+(?:is|ist|est|è|está|jest)\b)?"
    r"(?:\s+(?:currently|derzeit|momentan|zurzeit)\b)?\W*",
    re.IGNORECASE,
)


def availability(text: str) -> Availability | None:
    """What the words say; None if they say nothing. 'Not available' holds 'available', so _OUT comes first."""
    if _OUT.search(text):
        return "out_of_stock"
    if _PREORDER.search(text):
        return "preorder"
    return "in_stock" if _IN.search(text) else None

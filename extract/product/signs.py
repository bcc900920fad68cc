"""Words in class names, ids and button texts with which a shop's templates name the parts of a product page.

Templates are written in English, or in the language of the country; both are searched for. Names are compared in small
letters, and words are found in them even if camel case or underscores join them (`productPrice__value-3f`).
"""

from __future__ import annotations

from gpuledger.extract.words import anywhere, at_word_start

# PRICE, STATUS and BUY_NAME are searched for in all names of a page. Each of their words begins with a plain letter, so that
# the regular expression skips other text quickly; a condition on what stands before a word is written behind its letters.
#: A name that speaks of a price.
PRICE = anywhere(
    r"""
    price | preis(?!wert) | prix(?!-de) | precio | prezz | pre[cç]o | prijs | cena | cijen | hinta | fiyat | kaina
    pris(?<![a-z]pris)(?=[-_ ]|$) | hind(?<![a-z]hind)(?=[-_ ]|$) | pret(?=[-_ ]|$) | amount(?!-?select) | kwota
    tsena | prc(?<![a-z]prc)(?=[-_ ]|$)
    stoimost | pr(?<![a-z]pr)(?=[-_ ]|$) | 가격
    """
)

#: A name that speaks of stock.
STATUS = anywhere(
    r"""
    avail | stock(?!ings?) | dispo | lager | verf(?:ue|u|ü)g | sklad | dostup | dostep | nalich | zalog | zaliha
    stoc(?:[-_ ]|$) | saatav
    sold-?out | inventory | lieferbar | leverbaar | voorraad | raktar | keszlet | varasto | epuise
    """
)

#: A name that speaks of the price that is asked now, if others stand beside it.
CURRENT = anywhere(
    r"""
    current | (?:^|[-_ ])now | final | actual(?!ly) | ourprice | our[-_]price | sale(?!s-?tax) | special
    offer[-_]?price | newprice | new[-_]price | price[-_]?new | discount(?:ed)?[-_]?price | price[-_]?discount
    promo(?:tional)? | main[-_]?price | buybox | priceblock | selling | dealprice | deal[-_]price
    prices?__big
    prod(?:uct)?[-_]?price | price[-_]to[-_]?pay | prc[-_](?:dsc|slg|box) | primary[-_]?price | price[-_]?primary
    preis[-_]?neu | neue?r?[-_]?preis | angebots?[-_]?preis | aktuell | prix[-_]?(?:actuel|nouveau|promo|remise)
    nouveau[-_]?prix | precio[-_]?(?:oferta|nuevo|venta|ahora) | prezzo[-_]?(?:attuale|scontato|nuovo|offerta)
    pre[cç]o[-_]?(?:por|atual|promocional|venda) | prijs[-_]?(?:nu|nieuw) | nieuwe[-_]?prijs | prisrea | rea[-_]?pris
    cena[-_]?(?:nowa|promo|akt|po[-_]?slev|po[-_]?zlav) | (?:nowa|nova)[-_]?cena | indirimli | yeni[-_]?fiyat | tilbud
    """
)

#: A name that speaks of a price that is no longer asked, or never was.
OLD = anywhere(
    r"""
    (?:^|[-_ ])old | oldprice | price[-_]?old | (?:^|[-_ ])was(?:[-_ ]|$) | wasprice | price[-_]?was | before
    (?:^|[-_ ])prev(?=[-_ ]|$)
    original | strike | strikethrough | line-through | linethrough | crossed | through
    (?:^|[-_ ])(?:rrp|msrp|uvp|srp|pvp|ovh)(?:[-_ ]|$) | listprice | list[-_]price
    secondary[-_]?price | price[-_]?secondary | preis[-_]?alt | alte?r?[-_]?preis | statt[-_]?preis | streich[-_]?preis
    ancien | anterior | riscado | barrato | prezzo[-_]?(?:vecchio|pieno) | vecchio | oude?[-_]?prijs | prijs[-_]?oud
    van[-_]?prijs | skreslon | przekresl | cena[-_]?(?:przed|pred) | eredeti | foer(?:pris|[-_ ]|$) | gammel | tidigare
    prices?__small | prisord(?![a-z]) | ord[-_]?pris | price[-_]?deleted | zacherk | staraya
    prc[-_]org | origin[-_]?price | price[-_]?origin
    compare[-_]?(?:at|price) | previous | former | reference | past[-_]?price
    barre | tachado | antes | stara | (?:^|[-_ ])eski | poprzedni | puvodni | lowest(?![-_]?sale) | omnibus | historical
    """
)

#: A name of the shop's usual price: the old price if a sale's price stands beside it, otherwise the asked one.
USUAL = anywhere(
    r"""
    regular | retail[-_]?price | price[-_]?standard | standard[-_]price | price[-_]?normal | normal[-_]price
    full[-_]?price | price[-_]?full | base[-_]price | price[-_]?base
    """
)

#: A name that speaks of money that is not a price of the goods.
NO_PRICE = anywhere(
    r"""
    (?:cart|basket)[-_]?(?:sub)?(?:total|sum(?![a-z]))
    month | instal | finance | financ(?!e-?free) | credit | klarna | afterpay | affirm | leasing
    (?:^|[-_ ])rates?(?:[-_ ]|$) | raty | parcel | cuota | saving | save[-_d] | (?:^|[-_ ])save | saved
    you[-_]?save | shipping | delivery | versand | livraison | freight | postage | dostaw | doprav | envio
    coupon | voucher | cashback | points | bonus | loyal | reward | per[-_]?unit | unit[-_]?price | price[-_]?unit
    price[-_]?per(?![-_]?(?:sellable|item|piece)) | base[-_]?unit
    grundpreis | warranty | insurance | protection | guarantee | garant | service
    deposit | rebate | tax[-_]?(?:amount|value) | trade[-_]?in | threshold | minimum | range[-_]?filter | slider
    price[-_]?range[-_]?(?:min|max) | price[-_]?match | price[-_]?alert | price[-_]?drop | price[-_]?history
    members?[-_]?price | club[-_]?price | (?:^|[-_ ])cmr(?:[-_ ]|$)
    net[-_]?price | price[-_]?net | excl | without[-_]?(?:vat|tax) | ex[-_]?vat | vat[-_]?price | no[-_]?vat
    priceht | price[-_]ht | payment[-_]?(?:discount|price) | swatch | discount[-_]?(?:badge|label|percent|value|amount)
    """
)

#: A name of a part of the page that shows other goods, or nothing about these goods.
ELSEWHERE = anywhere(
    r"""
    related | recommend | recom(?:[-_ ]|$) | similar | upsell | up-sell | crosssell | cross-?_?sell
    also[-_]?(?:bought|view|like|buy) | alsobought | carousel | slider | swiper | owl- | slick | recent | viewed
    last[-_]?seen | sponsor | accessor | zubehor | zubehoer | akcesor | bundle | together
    combos?-?(?:deal|offer|list|box) | sets?-offer
    mini-?cart | minicart | cart-(?:summary|total|content|item|drawer|popup|preview|dropdown)
    basket-(?:summary|total|content|item) | shopping-?cart | shoppingcart | checkout-(?:summary|cart|page|step)
    header | footer(?<!buy-footer)(?<!price-footer)(?<!product-footer)
    (?:^|[-_ ])nav(?:bar|igation|[-_]?(?:menu|bar|links?|items?|list|tabs?))?(?![a-z_-]) | menu
    newsletter | review(?<!preview) | comment | compar(?!e-?at|e-?price) | wishlist | filter | facet
    search | suggest | autocomplete | banner | promo-?(?:tile|teaser|list) | teaser
    product[-_]?(?:list|grid|tile|card|item|box|thumb)s? | item[-_]?(?:list|grid|card|tile)
    products(?:list|grid|slider|carousel|block|box|row|wrap\w*|container|section)?(?![a-z])
    listing(?!-?detail) | tile | showcase | reco- | -reco(?:[-_ ]|$) | (?:^|[-_ ])reco(?:[-_ ]|$|box|list|area) | mfe-
    personali | cookie | faq | blog | delivery(?<!price-delivery)
    shipping(?<!price-shipping)(?<!price-and-shipping) | payment | finance | instal
    other-?(?:seller|offer|product) | offers-list | sellers | marketplace-list | alternativ | popup | overlay
    tooltip | ads?- | outfit | complete-the
    """
)

#: The beginning of a heading that stands above other goods.
RELATED = at_word_start(
    r"""
    related | similar | you (?:may|might|could) | customers? | recommended | alternatives? | people also | frequently bought
    bids?(?: history)?\s*$ | biedingen | gebote\s*$ | pujas\s*$ | 入札履歴
    accessories | recently | best ?sell | compare | more (?:from|like) | others?\b | pairs? well | top picks
    ähnliche | alternativ | zubehör | kunden | das könnte | passende? | weitere | wird oft
    produits? (?:similaires?|associés?|complémentaires?) | vous aimer | accessoires | nos suggestions
    productos? (?:relacionad|similar|recomend) | también | te puede | accesorios | prodotti (?:correlati|simili)
    potrebbe | accessori | produtos (?:relacionad|similar) | quem viu | aproveite | gerelateerd | vergelijkbare | anderen
    podobn | polecan | akcesoria | inni klienci | zobacz też | souvisej | příslušenství | súvisiac | liknande | relatera
    tillbehör | andra (?:köpte|kunder) | lignende | relaterte? | tilbehør | andre (?:købte|kjøpte|kunder) | samankaltais
    hasonló | kapcsolódó | produse (?:similare|recomandate) | похожи | рекоменд | аналог | с этим товаром | сопутств | схожі
    관련 ?상품 | 추천 | 함께 | 비슷한 | 다른 고객 | 인기 ?상품 | 관심 ?상품 | 関連 | おすすめ | この商品を | 売れ筋
    ランキング | よく一緒に
    相關商品 | 推薦 | 看了又看 | 猜你喜欢 | 相关 | 推荐 | 热销 | 热门
    """
)

#: A class, id, name or address of a button that puts the goods into the cart, or of its form.
BUY_NAME = anywhere(
    r"""
    add[-_]?to[-_]?(?:cart|basket|bag|trolley) | add[-_]product(?!s|[-_]to) | add[-_]cart | cart[-_/]?add
    buy[-_]?(?:now|button|btn|box) | btn[-_]?buy | button[-_]?(?:add[-_]?)?(?:cart|basket)
    btn[-_]?(?:add[-_]?)?(?:cart|basket)
    cart[-_]?button | cart[-_]?btn(?!-?icon) | single_add_to_cart | product-form__submit | in-den-warenkorb
    to[-_]?cart(?<![a-z]tocart)(?<![a-z]to[-_]cart) | to[-_]?basket | buyproduct | product[-_]?buy | purchase
    reply-button | contact-seller
    """
)

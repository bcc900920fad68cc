"""The shop systems whose public themes are known: the marks of their pages, and where they print the price.

A shop that changes a theme keeps most of its names. If a selector finds nothing, or elements with different amounts, the
system does not count, and the page is read like any other.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from lxml.cssselect import CSSSelector
from lxml.html import HtmlElement


@dataclass(frozen=True, slots=True)
class System:
    """One shop system. `marks` are names that its themes give to parts of a product page, in small letters.

    `asked` and `old` are CSS selectors of the asked and the old price. The first selector that finds something counts.
    """

    name: str
    marks: tuple[str, ...]
    asked: tuple[str, ...]
    old: tuple[str, ...] = ()


#: From the themes that the systems ship: Dawn, Storefront, Luma, Shopware's Storefront and Responsive, Classic, Wave,
#: Cornerstone, Cafe24's basic design, SAP's yacceleratorstorefront, VTEX's controls and its store components.
SYSTEMS = (
    System(
        "shopify",
        ("price-item--regular", "product-form__submit"),
        (".price--on-sale .price-item--sale", ".price__regular .price-item--regular", "[data-product-price]"),
        (".price--on-sale s.price-item--regular", "[data-compare-price]"),
    ),
    System(
        "woocommerce",
        ("woocommerce-price-amount", "single_add_to_cart_button"),
        (".summary .price ins .amount", ".summary p.price > .amount", ".summary .price > .amount"),
        (".summary .price del .amount",),
    ),
    System(
        "magento",
        ("price-final_price", "product-essential"),
        (
            ".product-info-main [data-price-type=finalPrice] .price",
            ".product-shop .special-price .price",
            ".product-shop .regular-price .price",
        ),
        (".product-info-main [data-price-type=oldPrice] .price", ".product-shop .old-price .price"),
    ),
    System(
        "shopware",
        ("product-detail-price", "product--buybox"),
        (".product-detail-price", ".product--buybox .price--content"),
        (".list-price-price", ".price--discount .price--line-through"),
    ),
    System(
        "prestashop",
        ("current-price-value", "our_price_display", "product-prices"),
        (".current-price-value", ".current-price [itemprop=price]", "#our_price_display"),
        (".product-discount .regular-price", "#old_price_display"),
    ),
    System(
        "oxid",
        ("productprice", "js-oxproductform"),
        ("#productPrice .price", "#productPrice"),
        (".old-price del", ".oldPrice del"),
    ),
    System(
        "cafe24",
        ("span_product_price", "xans-product"),
        ("#span_product_price_sale", "#span_product_price_text"),
        ("#span_product_price_custom",),
    ),
    System(
        "bigcommerce",
        ("productview-price", "productview-details"),
        ("[data-product-price-with-tax]", "[data-product-price-without-tax]"),
        ("[data-product-non-sale-price-with-tax]", ".price--non-sale"),
    ),
    System(
        "sap-commerce",
        ("product-main-info", "productdetailspanel", "add_to_cart_form"),
        (".product-details > .price", ".product-details .price", ".productDetailsPanel .big-price"),
        (".product-details .was-price",),
    ),
    System(
        "vtex",
        ("plugin-preco", "descricao-preco", "vtex-product-price-"),
        (".skuBestPrice", "[class*=sellingPriceValue]", "[class*=sellingPrice]"),
        (".skuListPrice", "[class*=listPriceValue]"),
    ),
)


def of_names(names: str) -> list[System]:
    """The systems with a mark in `names`, which holds the names of a page's elements in small letters.

    The page of one system may carry a name that is also a mark of another.
    """
    return [system for system in SYSTEMS if any(mark in names for mark in system.marks)]


def elements_by(selectors: tuple[str, ...], part: HtmlElement) -> list[HtmlElement]:
    """The elements of a part of a page that the first selector finds, of those that find any."""
    return next((elements for css in selectors if (elements := _compiled(css)(part))), [])


@cache
def _compiled(css: str) -> CSSSelector:
    return CSSSelector(css, translator="html")

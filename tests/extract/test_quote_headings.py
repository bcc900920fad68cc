"""Headings of quotes in sixteen languages, as somebody wrote them who had not seen the reader's words."""

from __future__ import annotations

from decimal import Decimal

import pytest

from gpuledger.extract.items import Offer
from tests.extract.pages import quoted

HEADINGS = """
Artículo;Precio unitario;Divisa;Unidades
Descripción;Precio por unidad;Moneda;Cant.
Producto;P. unitario;Moneda;Cantidad
Nombre del producto;Precio unit.;Moneda;Uds.
Désignation;Prix unitaire;Devise;Quantité
Article;PU HT;Devise;Qté
Libellé;Prix à l'unité;Monnaie;Qté.
Descrizione;Prezzo unitario;Valuta;Quantità
Articolo;Prezzo cad.;Valuta;Q.tà
Prodotto;Prezzo per pezzo;Valuta;Pezzi
Nome prodotto;Prezzo;Valuta;Qtà
Descrição;Preço unitário;Moeda;Quantidade
Artigo;Preço unit.;Moeda;Qtd.
Item;Valor unitário;Moeda;Qtde
Produto;Preço por unidade;Moeda;Unidades
Nazwa towaru;Cena jednostkowa;Waluta;Ilość
Produkt;Cena za sztukę;Waluta;Liczba sztuk
Opis;Cena netto;Waluta;Ilość
Nazwa produktu;Cena jedn.;Waluta;Szt.
Artikel;Prijs per stuk;Valuta;Aantal
Omschrijving;Stukprijs;Valuta;Aantal
Product;Eenheidsprijs;Munt;Hoeveelheid
Productnaam;Prijs;Valuta;Aantal stuks
Název zboží;Cena za kus;Měna;Množství
Produkt;Jednotková cena;Měna;Počet kusů
Popis;Cena/ks;Měna;Ks
Položka;Cena bez DPH;Měna;Počet
Наименование;Цена за единицу;Валюта;Количество
Товар;Цена за шт.;Валюта;Кол-во
Название товара;Цена;Валюта;Кол-во, шт.
Наименование товара;Цена за ед.;Валюта;Штук
Ürün adı;Birim fiyat;Para birimi;Adet
Ürün;Birim Fiyatı;Döviz;Miktar
Açıklama;Fiyat;Para birimi;Adet
Malzeme;Adet fiyatı;Para Birimi;Miktar
产品名称;单价;币种;数量
品名;單價;幣別;數量
商品名称;单价（元）;货币;数量
名称;含税单价;币种;台数
Benämning;Pris per styck;Valuta;Antal
Artikel;À-pris;Valuta;Antal
Varenavn;Stykpris;Valuta;Antal
Beskrivelse;Enhedspris;Valuta;Antal
Tuote;Yksikköhinta;Valuutta;Määrä
Nimike;Kappalehinta;Valuutta;Kpl
品名;単価;通貨;数量
商品名;単価（税抜）;通貨;個数
품명;단가;통화;수량
제품명;개당 가격;통화;수량
Bezeichnung;Einzelpreis;Währung;Menge
Artikel;Stückpreis;Währung;Anzahl
"""


@pytest.mark.parametrize("heading", HEADINGS.strip().split("\n"))
def test_a_quote_with_these_headings(heading: str) -> None:
    (offer,) = quoted(f"{heading}\nNorvik GeForce RTX 5080 16GB;999.00;EUR;2\n")
    assert isinstance(offer, Offer)
    facts = (offer.title, offer.price, offer.currency, offer.quantity, offer.price_kind)
    assert facts == ("Norvik GeForce RTX 5080 16GB", Decimal("999.00"), "EUR", 2, "now")

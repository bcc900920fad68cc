"""Secrets in free text: their names in many languages, options of commands, and the shapes of known keys."""

from __future__ import annotations

import pytest

from gpuledger.extract.redaction import redact_text

SECRET = "q7Kd-zX9_neverShown"
NAMES = [
    "dsn",
    "SENTRY_DSN",
    "passkey",
    "privkey",
    "ssh_privkey",
    "sessid",
    "PHPSESSID",
    "sess_sessid",
    "connection_string",
    "ConnectionString",
    "connstr",
    "conn_str_password",
    "db.connection-string",
    "recovery_code",
    "recoveryCode",
    "recovery-key",
    "backup_code",
    "security_code",
    "cvv",
    "cvc",
    "seed_phrase",
    "mnemonic",
    "auth_code",
    "accessCode",
    "令牌",
    "访问令牌",
    "口令",
    "登录口令",
    "密码",
    "密钥",
    "私钥",
    "秘钥",
    "암호",
    "비밀번호",
    "패스워드",
    "인증키",
    "비밀키",
    "토큰",
    "액세스토큰",
    "시크릿",
    "복구코드",
    "パスワード",
    "暗証番号",
    "秘密鍵",
    "トークン",
    "senha",
    "senha_admin",
    "segredo",
    "codigoDeRecuperacao",
    "chave_secreta",
    "contraseña",
    "clave_secreta",
    "clave_api",
    "jeton",
    "clé_secrète",
    "mot_de_passe",
    "motdepasse",
    "passwort",
    "kennwort",
    "geheimnis",
    "geheim",
    "wachtwoord",
    "adgangskode",
    "passord",
    "salasana",
    "lösenord",
    "losenord",
    "hasło",
    "haslo",
    "heslo",
    "jelszó",
    "jelszo",
    "lozinka",
    "parola",
    "şifre",
    "sifre",
    "пароль",
    "секрет",
    "токен",
    "парола",
    "סיסמה",
    "كلمة_المرور",
    "db_password",
    "admin.pwd",
    "smtp-pass",
    "api_token",
    "x-auth-token",
]
OPTIONS = [
    "--token {s}", "--token '{s}'", '--token "{s} and more"', "--api-key {s}", "--password\t{s}",
    "--client-secret {s} --page 2",
    "run --auth-token {s}, then", "(--passphrase {s})", "--access-token  {s}", "--db-password={s}",
    "docker login --password {s} host",
]  # fmt: skip
LETTERS = "AbCdEfGhIjKlMnOpQrStUvWxYz0123456789"
SHAPES = [
    f"AIza{LETTERS[:35]}", f"GOCSPX-{LETTERS[:28]}", f"1//0{LETTERS}-x_y", f"ya29.{LETTERS}", f"AQ.Ab8{LETTERS}",
    f"123456789:AA{LETTERS[:33]}", f"bot9876543210:AA{LETTERS[:33]}", f"dckr_pat_{LETTERS[:27]}", f"dckr_oat_{LETTERS[:32]}",
    "dapi" + "0123456789abcdef" * 2, "dapi" + "0123456789abcdef" * 2 + "-2", f"xoxb-1234567890-{LETTERS}",
    f"xoxp-1234567890-{LETTERS}", f"xoxe.xoxp-1-{LETTERS}", f"xapp-1-A0123-{LETTERS}", f"pnu_{LETTERS}", f"pnb_{LETTERS}",
    f"hooks.slack.com/services/T0123/B0123/{LETTERS}", f"https://discord.com/api/webhooks/123456/{LETTERS}",
]  # fmt: skip
EVERYDAY = """
GeForce RTX 4090 24GB GDDR6X, 2x 8-pin, dual fan
Passmark: 38,412 points; passive cooling, pass-through 12VHPWR
PNY GeForce RTX 4070: 12GB | Dual Slot --- in stock
Secretlab chair: 499 EUR
The-slot: 2.5 wide; dsnow edition
암호화폐 채굴용 그래픽카드: 중고
토큰화 속도: 35 tok/s
Parolan lighting: no
Item 123456789:ABC in the list
Senhance cooler: 2 fans
48 GB ECC, TDP: 300 W --- see --format csv
run it with --context 8192 --precision int4
use --data-dir D, or the setting data_dir
Geheimtipp: RTX 3060 für 289 €
색상: 블랙, 배송: 무료, 가격: 1,599,000원
容量: 24GB, 价格: 12999元, 显存: GDDR6X
価格: 298,000円 送料: 無料
cena: 8 499,00 zł, dostawa: 0 zł, gwarancja: 36 miesięcy
Preis: 1.599,00 €, Lieferung: 3-5 Tage, Zustand: neu
prix : 1 599,00 €, livraison : gratuite
SKU: 14-932-611, MPN: ROG-STRIX-RTX4090-O24G, GTIN: 4711081957829
1// 0 and 12345678:A
""".strip().splitlines()


@pytest.mark.parametrize("name", NAMES)
def test_the_value_of_a_secrets_name_is_hidden(name: str) -> None:
    for text in ("{n}={s}", "{n}: {s}", '"{n}": "{s}"', "--{n}={s}"):
        assert SECRET not in redact_text(f"failed with {text.format(n=name, s=SECRET)} (403)"), text


@pytest.mark.parametrize("option", OPTIONS)
def test_the_value_of_a_secret_option_is_hidden(option: str) -> None:
    shown = redact_text(f"gpuledger pull {option.format(s=SECRET)}")
    assert (SECRET in shown, "***" in shown, "and more" in shown) == (False, True, False)


@pytest.mark.parametrize("secret", SHAPES)
def test_a_key_of_a_known_shape_is_hidden(secret: str) -> None:
    shown = redact_text(f"the server said: no such key {secret}, sorry")
    assert (LETTERS[:20] in shown, "0123456789abcdef" in shown, "***" in shown) == (False, False, True)


def test_ordinary_text_stays() -> None:
    assert [redact_text(line) for line in EVERYDAY] == EVERYDAY
    assert redact_text("give --token --page 2") == "give --token --page 2"


def test_there_are_enough_cases() -> None:
    assert len(NAMES) + len(OPTIONS) + len(SHAPES) > 110

# ruff: noqa: E501  tables of cases
"""What is hidden, and taken for a price: texts that were thought of after the code was done."""

from __future__ import annotations

from collections.abc import Callable

from gpuledger.extract.price.money import Money, read_price
from gpuledger.extract.redaction import redact, redact_text
from gpuledger.extract.sources.quotes.cells import Unreadable, read_amount
from tests.walls.cases import failing

# ── secrets ───────────────────────────────────────────────────────────────────────────────────────────────────────────

SECRET = "h7Qp-2xZ_thewholesecret"
#: As services and their documentation name them.
NAMES = [
    "AWS_SECRET_ACCESS_KEY", "aws_session_token", "AZURE_CLIENT_SECRET", "GITHUB_TOKEN", "GH_TOKEN", "NPM_TOKEN", "HF_TOKEN", "OPENAI_API_KEY",
    "STRIPE_SECRET_KEY", "TWILIO_AUTH_TOKEN", "SLACK_BOT_TOKEN", "DISCORD_WEBHOOK", "SENTRY_AUTH_TOKEN", "PGPASSWORD", "MYSQL_PWD", "REDIS_PASSWORD",
    "DB_PASS", "SMTP_PASSWORD", "ldap_bind_password", "bindpw", "X-Vault-Token", "X-Shopify-Access-Token", "PRIVATE-TOKEN", "JOB-TOKEN",
    "Ocp-Apim-Subscription-Key", "X-Api-Secret", "X-CSRFToken", "X-XSRF-TOKEN", "X-Hub-Signature-256", "X-Goog-Api-Key", "x-functions-key",
    "X-RapidAPI-Key", "X-Naver-Client-Secret", "X-Amz-Credential", "Proxy-Authorization", "client_assertion", "oauth_token_secret",
    "oauth_signature", "oauth_verifier", "SharedAccessKey", "SharedAccessSignature", "AccountKey", "accessKeySecret", "consumer_secret",
    "consumerKey", "appSecret", "app_key", "passKey", "pass_phrase", "user_password", "newPassword", "userPwd", "api.token", "apitoken",
    "bot_token", "botToken", "authenticity_token", "__RequestVerificationToken", "csrfmiddlewaretoken", "_xsrf", "sessionKey", "session.id",
    "ASP.NET_SessionId", "connect.sid", "JSESSIONIDSSO", "wordpress_logged_in_cookie", "refreshToken", "idToken", "jwtToken", "bearerToken",
    "deploy_key", "signing_key", "encryption_key", "encryptionKey", "hmac_key", "master_key", "ssh_key", "secretAccessKey", "kennwort", "passwort",
    "mot_de_passe", "contraseña", "비밀번호", "パスワード", "密码", "пароль",
]  # fmt: skip
#: What some program says when it fails; {n} is a name, {s} its value.
SAYINGS = (
    "{n}={s}",
    "{n}: {s}",
    '{{"{n}": "{s}"}}',
    "'{n}' => '{s}'",
    "export {n}='{s}'",
    "--{n}={s} --port=80",
    '{n} = "{s}"',
    "<{n}>{s}</{n}>",
    "{n}:{s}, next",
)
#: Keys that are known by their looks, in pieces: nobody's scanner shall take them for real ones.
SHAPED = [
    "SG." + "a1B2c3D4e5F6g7H8i9J0k1" + "." + "Z" * 20 + "a1B2c3D4e5F6g7H8i9J0k1L", "npm_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8", "shpat_" + "0123456789abcdef" * 2,
    "dop_v1_" + "0123456789abcdef" * 4, "hvs." + "CAESIJa1B2c3D4e5F6g7H8i9J0", "whsec_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6", "sk-ant-" + "api03-a1B2c3D4e5F6g7H8i9J0k1",
    "gsk_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4", "r8_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8S", "lin_api_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6", "sq0atp-" + "a1B2c3D4e5F6g7H8i9J0k1",
    "xapp-1-" + "A0123456789-0123456789012-a1b2c3d4e5f6", "glptt-" + "0123456789abcdef" * 2, "ATATT3x" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6", "AGE-SECRET-KEY-1" + "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
    "-----BEGIN PGP PRIVATE KEY BLOCK-----\nlQOYBF\n-----END PGP PRIVATE KEY BLOCK-----", "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIFHD\n-----END ENCRYPTED PRIVATE KEY-----",
]  # fmt: skip


def test_no_name_of_a_secret_shows_its_value() -> None:
    def hidden(name: str) -> None:
        for saying in SAYINGS:
            text = "it failed with " + saying.format(n=name, s=SECRET) + " and status 403"
            assert SECRET not in redact_text(text), text
        for url in (f"https://shop.example/p?{name}={SECRET}&page=2", f"https://shop.example/p?page=2#{name}={SECRET}",
                    f"https://shop.example/p?page=2&u=https://x.example/?{name}={SECRET}"):  # fmt: skip
            assert SECRET not in redact(url), url
            assert SECRET not in redact_text(f"GET {url} failed"), url

    cases: dict[str, Callable[[], None]] = {name: lambda n=name: hidden(n) for name in NAMES}  # type: ignore[misc]

    def no_shape(secret: str) -> None:
        shown = redact_text(f"the answer was {secret} and no page")
        assert not any(piece in shown for piece in secret.split()[-1:] if len(piece) > 12), shown
        assert "***" in shown

    cases |= {secret[:24]: lambda s=secret: no_shape(s) for secret in SHAPED}  # type: ignore[misc]
    assert failing(cases) == {}


# ── prices ────────────────────────────────────────────────────────────────────────────────────────────────────────────

#: In an element of a price, and none, or none that is exact, of one piece and known.
NO_PRICE = [
    "ca. $1,599", "approx. $1,599", "about $1,599", "around 1599 USD", "circa 1.599 €", "etwa 1.599,00 €", "약 1,599,000원", "約159,900円", "environ 1 599 €", "up to $1,599",
    "starting at $1,599?", "$1,599 - $1,899", "$1,599–$1,899", "1.599 bis 1.899 €", "1,599,000 ~ 1,899,000원", "1599/1899", "$1,599 or $1,899", "under $1,600", "over $1,600", "less than $1,600",
    "$1,5xx", "$1,***", "$x,xxx.xx", "$—", "$-1,599.00", "-1599", "+$1,599", "$0.00", "0원", "$1.599.00.00", "$1,59,9", "1,599.000,00", "1'5'99",
    "$1 599 99", "1e3", "1.599e3", "0x63F", "$1599%", "15% off", "Save $100", "$100 off", "-20 %", "$59.99/mo", "$59.99 per month", "$59.99 x 24", "24 x $59.99", "ab 1.599 €",
    "TBA", "TBD $1,599", "N/A", "Call for price", "Price on request 1599", "sold out 1599", "가격문의", "품절 1,599,000원", "ask", "RTX 4090", "24GB", "24 GB GDDR6X", "450W", "4.8 (1,599)", "1,599 reviews",
    "#1599", "SKU 1599", "2023-11-16", "16.11.2023", "11/16/2023", "16:59", "+1 599 1599", "1599-1599-1599", "NaN", "Infinity", "∞", "①⑤⑨⑨", "Ⅿ", "½", "$½", "$1,599½",
    "9" * 40, "$" + "9" * 30, "$1," + "000," * 30 + "000", "", " ", "$", "€ ", "USD",
]  # fmt: skip


#: Below zero to whoever made the sheet; in a shop the brackets may be just brackets.
OF_A_QUOTE = ("($1,599.00)", "(1599)")


def test_texts_that_are_no_price_of_one_piece() -> None:
    def none(text: str) -> None:
        if text not in OF_A_QUOTE:
            found = read_price(text, currency="USD", country="US")
            assert not isinstance(found, Money) or found.kind != "now", found
        try:
            money = read_amount(text, "USD")
        except Unreadable:
            return
        raise AssertionError(f"a quote of {money}")

    assert failing({ascii(text)[:60]: lambda t=text: none(t) for text in (*NO_PRICE, *OF_A_QUOTE)}) == {}  # type: ignore[misc]
